/* test_puffin.c: footers of other writers, damaged in every way, and files that we write. */
#include "../support.h"

#include <lz4frame.h>

#include "format/puffin.h"

static bl_ctx *ctx;
static bl_arena *arena;

static int setup(void **state) {
  (void)state;
  ctx = support_ctx(NULL, NULL);
  return bl_arena_new(ctx, &arena, NULL);
}
static int teardown(void **state) {
  (void)state;
  bl_arena_free(arena);
  bl_ctx_free(ctx);
  return 0;
}

/* The footer of a whole file, read as a reader does: from a tail that grows on demand. */
static bl_status footer_of(const void *p, size_t n, bl_puffin *out, bl_error *err) {
  size_t have, need = 0;
  bl_status st;
  do {
    have = need;
    uint8_t *tail = malloc(have ? have : 1); /* its exact size, for the sanitizer */
    memcpy(tail, (const uint8_t *)p + (n - have), have);
    st = bl_puffin_footer(ctx, arena, tail, have, (int64_t)n, &need, out, err);
    free(tail);
  } while (st == BL_OK && need > have);
  return st;
}

static void footer_ok(const bl_buf *b, bl_puffin *out) {
  bl_error err = BL_ERROR_INIT;
  bl_status st = footer_of(b->p, b->n, out, &err);
  if (st != BL_OK) fail_msg("%s", err.message);
}

static void footer_refused(const void *p, size_t n, bl_status want, const char *says) {
  bl_puffin f;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(footer_of(p, n, &f, &err), want);
  support_says(err.message, says);
  support_says(err.message, "puffin");
}

/* A file of `blobs` and a footer with this payload. */
static bl_buf make_file(const char *blobs, const void *payload, size_t n_payload, uint32_t flags) {
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "PFA1");
  bl_buf_cstr(&b, blobs);
  bl_buf_cstr(&b, "PFA1");
  bl_buf_add(&b, payload, n_payload);
  for (int i = 0; i < 4; i++) bl_buf_byte(&b, (uint8_t)(n_payload >> 8 * i));
  for (int i = 0; i < 4; i++) bl_buf_byte(&b, (uint8_t)(flags >> 8 * i));
  bl_buf_cstr(&b, "PFA1");
  return b;
}

static void test_puffin__reads_the_footer_that_java_wrote(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/spark.puffin");
  bl_puffin f;
  footer_ok(&b, &f);
  assert_int_equal(f.n_blobs, 1);
  const bl_puffin_blob *v = &f.blobs[0];
  assert_true(bl_str_is(v->type, "deletion-vector-v1"));
  assert_int_equal(v->n_fields, 1);
  assert_int_equal(v->fields[0], 2147483645);
  assert_int_equal(v->snapshot_id, -1);
  assert_int_equal(v->sequence_number, -1);
  assert_int_equal(v->offset, 4);
  assert_int_equal(v->length, 44);
  assert_null(v->codec.p);
  assert_int_equal(v->properties.n, 2);
  assert_true(bl_str_is(v->properties.items[1].key, "cardinality"));
  assert_true(bl_str_is(v->properties.items[1].value, "2"));
  assert_int_equal(f.properties.n, 1);
  assert_true(bl_str_is(f.properties.items[0].key, "created-by"));
  bl_buf_free(&b);
}

static void test_puffin__vectors_between_foreign_blobs_are_found_by_their_offsets(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/many_dvs_one_puffin.puffin");
  bl_puffin f;
  footer_ok(&b, &f);
  assert_int_equal(f.n_blobs, 5);
  static const int64_t first[] = {-1, 0, 3, -1, 1};
  for (size_t i = 0; i < f.n_blobs; i++) {
    const bl_puffin_blob *v = &f.blobs[i];
    if (first[i] < 0) {
      assert_false(bl_str_is(v->type, "deletion-vector-v1"));
      continue;
    }
    int64_t cardinality, got;
    assert_true(bl_parse_i64(v->properties.items[1].value, &cardinality));
    bl_posset *s;
    assert_int_equal(bl_dv_decode(ctx, b.p + v->offset, (size_t)v->length, cardinality, &s, NULL), BL_OK);
    assert_int_equal(bl_posset_next(s, 0, &got, 1), 1);
    assert_int_equal(got, first[i]);
    bl_posset_free(s);
  }
  assert_int_equal(f.blobs[3].n_fields, 2);
  bl_buf_free(&b);
}

static void test_puffin__properties_may_be_absent(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/dv_no_properties.puffin");
  bl_puffin f;
  footer_ok(&b, &f);
  assert_int_equal(f.n_blobs, 1);
  assert_int_equal(f.properties.n, 0);
  assert_int_equal(f.blobs[0].properties.n, 0);
  bl_buf_free(&b);
}

static void test_puffin__a_bare_vector_is_not_a_puffin_file(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/dv_bare_blob.puffin");
  footer_refused(b.p, b.n, BL_DAMAGED, "magic at the end");
  bl_buf_free(&b);
}

static void test_puffin__a_file_cut_anywhere_is_refused(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/spark.puffin");
  for (size_t n = 0; n < b.n; n++)
    footer_refused(b.p, n, BL_DAMAGED, n < 20 ? "truncated" : n == 52 ? "payload size" : "magic");
  bl_buf_free(&b);
}

static void test_puffin__each_magic_is_checked(void **state) {
  (void)state;
  bl_buf b = make_file("blob", "{\"blobs\":[]}", 12, 0);
  bl_puffin f;
  footer_ok(&b, &f);
  assert_int_equal(f.n_blobs, 0);
  static const struct {
    size_t from_end;
    const char *says;
  } places[] = {{1, "at the end"}, {28, "of the footer"}};
  for (size_t i = 0; i < BL_LEN(places); i++) {
    b.p[b.n - places[i].from_end] ^= 1;
    footer_refused(b.p, b.n, BL_DAMAGED, places[i].says);
    b.p[b.n - places[i].from_end] ^= 1;
  }
  b.p[0] ^= 1;
  footer_refused(b.p, b.n, BL_DAMAGED, "at the start");
  bl_buf_free(&b);
}

static void test_puffin__payload_sizes_beyond_the_file_are_refused(void **state) {
  (void)state;
  static const uint32_t sizes[] = {13 + 5, 4096, 0x7fffffff, 0x80000000u, 3221225472u, 0xffffffffu};
  for (size_t i = 0; i < BL_LEN(sizes); i++) {
    bl_buf b = make_file("blob", "{\"blobs\":[]} ", 13, 0);
    for (int k = 0; k < 4; k++) b.p[b.n - 12 + (size_t)k] = (uint8_t)(sizes[i] >> 8 * k);
    footer_refused(b.p, b.n, BL_DAMAGED, "payload size");
    bl_buf_free(&b);
  }
}

static void test_puffin__unknown_flags_are_unsupported(void **state) {
  (void)state;
  bl_buf b = make_file("", "{\"blobs\":[]}", 12, 2);
  footer_refused(b.p, b.n, BL_UNSUPPORTED, "flags");
  bl_buf_free(&b);
}

#define BLOB(offset, length)                                                                                           \
  "{\"blobs\":[{\"type\":\"t\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,\"offset\":" offset               \
  ",\"length\":" length "}]}"

static void test_puffin__payloads_that_break_the_format_are_refused_by_path(void **state) {
  (void)state;
  static const struct {
    const char *payload, *says;
  } cases[] = {
      {"", "JSON"},
      {"[]", "object"},
      {"{}", "blobs"},
      {"{\"blobs\":{}}", "blobs"},
      {"{\"blobs\":[1]}", "blobs[0]"},
      {"{\"blobs\":[{}]}", "type"},
      {"{\"blobs\":[{\"type\":\"t\"}]}", "fields"},
      {"{\"blobs\":[{\"type\":\"t\",\"fields\":[\"1\"]}]}", "fields[0]"},
      {"{\"blobs\":[{\"type\":\"t\",\"fields\":[1]}]}", "snapshot-id"},
      {"{\"blobs\":[],\"properties\":{\"a\":1}}", "properties.a"},
      {BLOB("4", "-1"), "length -1"},
      {BLOB("-1", "1"), "offset -1"},
      {BLOB("3", "1"), "offset 3"},
      {BLOB("4", "5"), "length 5"},
      {BLOB("9", "0"), "offset 9"},
      {BLOB("9223372036854775807", "9223372036854775807"), "offset"},
      {BLOB("4", "9223372036854775807"), "length"},
      {BLOB("9223372036854775808", "1"), "offset"},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_buf b = make_file("blob", cases[i].payload, strlen(cases[i].payload), 0);
    footer_refused(b.p, b.n, BL_DAMAGED, cases[i].says);
    bl_buf_free(&b);
  }
  bl_buf b = make_file("blob", BLOB("4", "4"), sizeof BLOB("4", "4") - 1, 0);
  bl_puffin f;
  footer_ok(&b, &f);
  bl_buf_free(&b);
}

/* An LZ4 frame of text with its content size. */
static size_t pack(const char *text, size_t n, uint8_t *out, size_t max) {
  LZ4F_preferences_t how = {.frameInfo = {.contentSize = n}};
  size_t got = LZ4F_compressFrame(out, max, text, n, &how);
  assert_false(LZ4F_isError(got));
  return got;
}

static void test_puffin__a_compressed_footer_is_unpacked(void **state) {
  (void)state;
  static char text[300000];
  static uint8_t packed[310000];
  const char *json = "{\"blobs\":[],\"properties\":{\"a\":\"b\"}}";
  memset(text, ' ', sizeof text);
  memcpy(text + 100000, json, strlen(json));
  size_t n = pack(text, sizeof text, packed, sizeof packed);
  assert_true(n < 10000);
  bl_buf b = make_file("blob", packed, n, 1);
  bl_puffin f;
  footer_ok(&b, &f);
  assert_int_equal(f.properties.n, 1);
  bl_buf_free(&b);
}

static void test_puffin__a_damaged_compressed_footer_is_refused(void **state) {
  (void)state;
  static uint8_t packed[1000];
  const char *json = "{\"blobs\":[],\"properties\":{\"a\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}}";
  size_t n = pack(json, strlen(json), packed, sizeof packed - 1);
  for (size_t cut = 0; cut < n; cut++) {
    bl_buf b = make_file("", packed, cut, 1);
    footer_refused(b.p, b.n, BL_DAMAGED, "LZ4");
    bl_buf_free(&b);
  }
  bl_buf b = make_file("", packed, n + 1, 1);
  footer_refused(b.p, b.n, BL_DAMAGED, "left behind");
  bl_buf_free(&b);
  b = make_file("", json, strlen(json), 1);
  footer_refused(b.p, b.n, BL_DAMAGED, "LZ4");
  bl_buf_free(&b);
}

static void small_limit(bl_ctx_options *o) {
  o->max_metadata_bytes = 200;
}

static void test_puffin__limits_hold_for_the_payload_packed_or_not(void **state) {
  (void)state;
  static char text[400000];
  static uint8_t packed[410000];
  memset(text, ' ', sizeof text);
  bl_ctx *small = support_ctx(NULL, small_limit);
  bl_puffin f;
  size_t need, n;
  for (int lz4 = 0; lz4 < 2; lz4++) {
    n = pack(text, lz4 ? 40000 : sizeof text, packed, sizeof packed);
    bl_buf b = lz4 ? make_file("", packed, n, 1) : make_file("", text, 201, 0);
    bl_error err = BL_ERROR_INIT;
    /* Packed, the payload of 40000 bytes needs less than 200. */
    if (lz4) assert_true(n <= 200);
    assert_int_equal(bl_puffin_footer(small, arena, b.p, b.n, (int64_t)b.n, &need, &f, &err), BL_DAMAGED);
    support_says(err.message, "limit of 200");
    bl_buf_free(&b);
  }
  bl_ctx_free(small);
}

/* ---- writing ---- */

static bl_posset *set_of(bl_ctx *c, int64_t first, int64_t step, int n) {
  bl_posset *s;
  assert_int_equal(bl_posset_new(c, &s, NULL), BL_OK);
  for (int i = 0; i < n; i++) assert_int_equal(bl_posset_add(s, first + i * step, NULL), BL_OK);
  return s;
}

static void test_puffin__what_is_written_reads_back(void **state) {
  (void)state;
  bl_puffin_writer *w;
  assert_int_equal(bl_puffin_writer_new(ctx, &w, NULL), BL_OK);
  bl_posset *sets[3] = {set_of(ctx, 0, 3, 10), set_of(ctx, (int64_t)1 << 33, 1, 70000), set_of(ctx, 5, 1, 1)};
  static const char *const names[3] = {"s3://b/\"quoted\".parquet", "/wh/gr\xc3\xbc\xc3\x9f.parquet", "c"};
  int64_t offset[3], length[3];
  for (int i = 0; i < 3; i++)
    assert_int_equal(bl_puffin_writer_add_dv(w, sets[i], bl_str_of(names[i]), &offset[i], &length[i], NULL), BL_OK);
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  assert_int_equal(bl_puffin_writer_finish(w, &out, NULL), BL_OK);
  bl_puffin_writer_free(w);
  bl_puffin f;
  footer_ok(&out, &f);
  assert_int_equal(f.n_blobs, 3);
  assert_int_equal(offset[0], 4);
  for (size_t i = 0; i < 3; i++) {
    const bl_puffin_blob *v = &f.blobs[i];
    assert_int_equal(v->offset, offset[i]);
    assert_int_equal(v->length, length[i]);
    assert_true(bl_str_is(v->type, "deletion-vector-v1"));
    assert_int_equal(v->fields[0], BL_ID_POS);
    assert_int_equal(v->snapshot_id, -1);
    assert_int_equal(v->sequence_number, -1);
    assert_null(v->codec.p);
    assert_true(bl_str_is(v->properties.items[0].key, "referenced-data-file"));
    assert_true(bl_str_is(v->properties.items[0].value, names[i]));
    bl_posset *s;
    assert_int_equal(bl_dv_decode(ctx, out.p + v->offset, (size_t)v->length, bl_posset_count(sets[i]), &s, NULL),
                     BL_OK);
    assert_true(bl_posset_equal(s, sets[i]));
    bl_posset_free(s);
    bl_posset_free(sets[i]);
  }
  bl_buf_free(&out);
}

static void test_puffin__a_writer_without_vectors_writes_a_file_without_blobs(void **state) {
  (void)state;
  bl_puffin_writer *w;
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  assert_int_equal(bl_puffin_writer_new(ctx, &w, NULL), BL_OK);
  assert_int_equal(bl_puffin_writer_finish(w, &out, NULL), BL_OK);
  bl_puffin f;
  footer_ok(&out, &f);
  assert_int_equal(f.n_blobs, 0);
  bl_puffin_writer_free(w);
  bl_puffin_writer_free(NULL);
  bl_buf_free(&out);
}

static bl_status write_and_read(bl_ctx *c, void *user, bl_error *err) {
  (void)user;
  bl_puffin_writer *w = NULL;
  bl_posset *s = NULL;
  bl_arena *a = NULL;
  bl_buf out;
  bl_buf_init(&out, c, BL_BUF_MAX);
  bl_status st;
  int64_t offset, length;
  size_t need;
  bl_puffin f;
  BL_GO(bl_posset_new(c, &s, err));
  BL_GO(bl_posset_add(s, 7, err));
  BL_GO(bl_puffin_writer_new(c, &w, err));
  for (int i = 0; i < 10; i++) BL_GO(bl_puffin_writer_add_dv(w, s, BL_STR("file"), &offset, &length, err));
  BL_GO(bl_puffin_writer_finish(w, &out, err));
  BL_GO(bl_arena_new(c, &a, err));
  BL_GO(bl_puffin_footer(c, a, out.p, out.n, (int64_t)out.n, &need, &f, err));
done:
  bl_posset_free(s);
  bl_puffin_writer_free(w);
  bl_arena_free(a);
  bl_buf_free(&out);
  return st;
}

static void test_puffin__reports_every_failed_allocation(void **state) {
  (void)state;
  support_fail_each_allocation(write_and_read, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_puffin__reads_the_footer_that_java_wrote),
      cmocka_unit_test(test_puffin__vectors_between_foreign_blobs_are_found_by_their_offsets),
      cmocka_unit_test(test_puffin__properties_may_be_absent),
      cmocka_unit_test(test_puffin__a_bare_vector_is_not_a_puffin_file),
      cmocka_unit_test(test_puffin__a_file_cut_anywhere_is_refused),
      cmocka_unit_test(test_puffin__each_magic_is_checked),
      cmocka_unit_test(test_puffin__payload_sizes_beyond_the_file_are_refused),
      cmocka_unit_test(test_puffin__unknown_flags_are_unsupported),
      cmocka_unit_test(test_puffin__payloads_that_break_the_format_are_refused_by_path),
      cmocka_unit_test(test_puffin__a_compressed_footer_is_unpacked),
      cmocka_unit_test(test_puffin__a_damaged_compressed_footer_is_refused),
      cmocka_unit_test(test_puffin__limits_hold_for_the_payload_packed_or_not),
      cmocka_unit_test(test_puffin__what_is_written_reads_back),
      cmocka_unit_test(test_puffin__a_writer_without_vectors_writes_a_file_without_blobs),
      cmocka_unit_test(test_puffin__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
