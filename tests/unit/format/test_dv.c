/* test_dv.c: the bytes of deletion vectors: what other writers made, what is broken in every way, what we write. */
#include "../support.h"

#include <zlib.h>

#include "format/puffin.h"

static bl_ctx *ctx;

static int setup(void **state) {
  (void)state;
  ctx = support_ctx(NULL, NULL);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  bl_ctx_free(ctx);
  return 0;
}

/* ---- blobs by other writers ---- */

typedef struct file_case {
  const char *file;
  size_t offset, length;
  int64_t cardinality;  /* as the manifest entry has it */
  const char *says;     /* NULL: decodes */
  int64_t positions[4]; /* ended by -1 */
} file_case;

static const file_case files[] = {
    {"dv_bad_crc", 4, 44, 2, "crc", {-1}},
    {"dv_flipped_bitmap", 4, 44, 2, "crc", {-1}},
    {"dv_bad_length", 4, 44, 2, "length", {-1}},
    {"dv_bad_magic", 4, 44, 2, "magic", {-1}},
    {"dv_cardinality", 4, 44, 5, "cardinality", {-1}},
    {"dv_cardinality", 4, 44, 0, "cardinality", {-1}}, /* 0 is a number, not "unknown" */
    {"dv_cardinality", 4, 44, 2, NULL, {1, 4, -1}},
    {"dv_cardinality_property", 4, 44, 2, NULL, {1, 4, -1}},
    {"dv_container_overrun", 4, 44, 2, "bitmap", {-1}},
    {"dv_huge_bitmap_count", 4, 20, 2, "bitmaps", {-1}},
    {"dv_truncated_puffin", 4, 38, 2, "length", {-1}},
    {"dv_beyond_rows", 4, 56, 4, NULL, {1, 4, 6, 1000000}},
    {"dv_no_properties", 4, 44, 2, NULL, {1, 4, -1}},
    {"dv_bare_blob", 0, 44, 2, NULL, {0, 5, -1}},
    {"spark", 4, 44, 2, NULL, {8, 15, -1}},
    {"many_dvs_one_puffin", 40, 44, 2, NULL, {0, 9, -1}},
    {"many_dvs_one_puffin", 84, 42, 1, NULL, {3, -1}},
    {"many_dvs_one_puffin", 176, 48, 4, NULL, {1, 2, 3, 7}},
    {"many_dvs_one_puffin", 4, 36, 2, "length", {-1}}, /* a vendor's blob */
    {"many_dvs_one_puffin", 0, 44, 2, "length", {-1}}, /* counted from the wrong place */
};

static void check_positions(const bl_posset *s, const int64_t *positions) {
  int64_t got[5];
  size_t n = bl_posset_next(s, 0, got, 5), i = 0;
  for (; i < 4 && positions[i] >= 0; i++) assert_int_equal(got[i], positions[i]);
  assert_int_equal(n, i);
}

static void test_dv__files_of_other_writers_decode_or_are_refused_by_name(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(files); i++) {
    const file_case *c = &files[i];
    char name[100];
    snprintf(name, sizeof name, "puffin/%s.puffin", c->file);
    bl_buf b = support_fixture(ctx, name);
    assert_true(c->offset + c->length <= b.n);
    /* A copy of the exact size, so that a read behind its end is seen by the sanitizer. */
    uint8_t *blob = malloc(c->length);
    memcpy(blob, b.p + c->offset, c->length);
    bl_posset *s = (bl_posset *)&b;
    bl_error err = BL_ERROR_INIT;
    bl_status st = bl_dv_decode(ctx, blob, c->length, c->cardinality, &s, &err);
    if (c->says) {
      assert_int_equal(st, BL_DAMAGED);
      assert_null(s);
      support_says(err.message, c->says);
      support_says(err.message, "deletion vector");
    } else {
      if (st != BL_OK) fail_msg("%s: %s", c->file, err.message);
      check_positions(s, c->positions);
      bl_posset_free(s);
    }
    free(blob);
    bl_buf_free(&b);
  }
}

/* ---- blobs made here ---- */

typedef struct maker {
  uint8_t p[70000];
  size_t n;
} maker;

static void put(maker *m, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) m->p[m->n++] = (uint8_t)(v >> 8 * i);
}
static void begin(maker *m, uint64_t bitmaps) {
  m->n = 4;
  memcpy(m->p + 4, "\xd1\xd3\x39\x64", 4);
  m->n = 8;
  put(m, bitmaps, 8);
}
static void big(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}
static void end(maker *m) {
  big(m->p, (uint32_t)m->n - 4);
  uint32_t crc = (uint32_t)crc32(0, m->p + 4, (uInt)m->n - 4);
  big(m->p + m->n, crc);
  m->n += 4;
}

static void refused(maker *m, const char *says) {
  end(m);
  uint8_t *blob = malloc(m->n);
  memcpy(blob, m->p, m->n);
  bl_posset *s;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_dv_decode(ctx, blob, m->n, -1, &s, &err), BL_DAMAGED);
  assert_null(s);
  support_says(err.message, says);
  assert_true(err.position >= 8 && err.position < (int64_t)m->n);
  free(blob);
}

static bl_posset *accepted(maker *m, int64_t count) {
  end(m);
  uint8_t *blob = malloc(m->n);
  memcpy(blob, m->p, m->n);
  bl_posset *s;
  bl_error err = BL_ERROR_INIT;
  bl_status st = bl_dv_decode(ctx, blob, m->n, count, &s, &err);
  if (st != BL_OK) fail_msg("%s", err.message);
  free(blob);
  return s;
}

/* A bitmap of plain containers: keys and cardinalities, without their bytes. */
static void plain(maker *m, uint32_t key, uint32_t n, const uint16_t *heads) {
  put(m, key, 4);
  put(m, 12346, 4);
  put(m, n, 4);
  for (uint32_t i = 0; i < n; i++) put(m, heads[2 * i], 2), put(m, heads[2 * i + 1] - 1u, 2);
  for (uint32_t i = 0; i < n; i++) put(m, 0, 4); /* offsets: not looked at */
}
/* One container of runs. */
static void runs(maker *m, uint32_t cardinality, uint32_t n, const uint16_t *start_length) {
  put(m, 0, 4);
  put(m, 12347, 4);
  put(m, 1, 1);
  put(m, 0, 2), put(m, cardinality - 1, 2);
  put(m, n, 2);
  for (uint32_t i = 0; i < 2 * n; i++) put(m, start_length[i], 2);
}

static void test_dv__bitmap_keys_must_ascend_and_be_positive(void **state) {
  (void)state;
  maker m;
  const uint16_t one[] = {0, 1};
  begin(&m, 2), plain(&m, 7, 1, one), put(&m, 3, 2), plain(&m, 7, 1, one), put(&m, 3, 2);
  refused(&m, "keys are not ascending");
  begin(&m, 2), plain(&m, 7, 1, one), put(&m, 3, 2), plain(&m, 6, 1, one), put(&m, 3, 2);
  refused(&m, "keys are not ascending");
  begin(&m, 1), plain(&m, 0x80000000u, 1, one), put(&m, 3, 2);
  refused(&m, "negative");
  begin(&m, 1), plain(&m, 0x7fffffffu, 1, one), put(&m, 3, 2);
  bl_posset *s = accepted(&m, 1);
  assert_int_equal(bl_posset_max(s), ((int64_t)0x7fffffff << 32) + 3);
  bl_posset_free(s);
}

static void test_dv__container_keys_must_ascend(void **state) {
  (void)state;
  maker m;
  const uint16_t equal[] = {5, 1, 5, 1}, falling[] = {5, 1, 4, 1};
  begin(&m, 1), plain(&m, 0, 2, equal), put(&m, 3, 2), put(&m, 3, 2);
  refused(&m, "container keys");
  begin(&m, 1), plain(&m, 0, 2, falling), put(&m, 3, 2), put(&m, 3, 2);
  refused(&m, "container keys");
}

static void test_dv__values_of_an_array_must_ascend(void **state) {
  (void)state;
  maker m;
  const uint16_t two[] = {0, 2};
  begin(&m, 1), plain(&m, 0, 1, two), put(&m, 3, 2), put(&m, 3, 2);
  refused(&m, "array");
  begin(&m, 1), plain(&m, 0, 1, two), put(&m, 4, 2), put(&m, 3, 2);
  refused(&m, "array");
}

static void test_dv__a_bitset_must_hold_as_many_bits_as_its_header_says(void **state) {
  (void)state;
  maker m;
  const uint16_t dense[] = {0, 5000};
  for (uint32_t bits = 4992; bits <= 5008; bits += 8) {
    begin(&m, 1), plain(&m, 0, 1, dense);
    for (uint32_t i = 0; i < 8192; i++) put(&m, i < bits / 8 ? 0xff : 0, 1);
    if (bits != 5000) {
      refused(&m, "bitset");
      continue;
    }
    bl_posset *s = accepted(&m, 5000);
    assert_int_equal(bl_posset_max(s), 4999);
    bl_posset_free(s);
  }
}

static void test_dv__runs_must_ascend_stay_inside_and_fit_their_cardinality(void **state) {
  (void)state;
  maker m;
  const uint16_t overlap[] = {10, 5, 15, 1}, falling[] = {10, 0, 9, 0}, beyond[] = {65530, 6}, good[] = {10, 4, 20, 0},
                 touching[] = {10, 4, 15, 2}, full[] = {0, 65535};
  begin(&m, 1), runs(&m, 8, 2, overlap), refused(&m, "run");
  begin(&m, 1), runs(&m, 2, 2, falling), refused(&m, "run");
  begin(&m, 1), runs(&m, 7, 1, beyond), refused(&m, "run");
  begin(&m, 1), runs(&m, 7, 2, good), refused(&m, "runs holds 6");
  begin(&m, 1), runs(&m, 1, 0, good), refused(&m, "runs holds 0");
  begin(&m, 1), runs(&m, 6, 2, good), bl_posset_free(accepted(&m, 6));
  begin(&m, 1), runs(&m, 8, 2, touching), bl_posset_free(accepted(&m, 8));
  begin(&m, 1), runs(&m, 65536, 1, full), bl_posset_free(accepted(&m, 65536));
}

static void test_dv__counts_are_bounded_by_the_bytes_that_are_left(void **state) {
  (void)state;
  maker m;
  begin(&m, UINT64_MAX), refused(&m, "bitmaps");
  begin(&m, (uint64_t)1 << 31), refused(&m, "bitmaps");
  begin(&m, 1), put(&m, 0, 4), put(&m, 12346, 4), put(&m, 65537, 4), refused(&m, "65537 containers");
  begin(&m, 1), put(&m, 0, 4), put(&m, 12346, 4), put(&m, 65536, 4), refused(&m, "truncated");
  begin(&m, 1), put(&m, 0, 4), put(&m, 0xffff0000u | 12347, 4), put(&m, 0, 4), refused(&m, "truncated");
  begin(&m, 1), put(&m, 0, 4), put(&m, 12345, 4), put(&m, 0, 4), refused(&m, "cookie");
}

static void test_dv__bytes_behind_the_last_bitmap_are_refused(void **state) {
  (void)state;
  maker m;
  const uint16_t one[] = {0, 1};
  begin(&m, 1), plain(&m, 0, 1, one), put(&m, 3, 2), put(&m, 0, 1);
  refused(&m, "left after");
  begin(&m, 0), put(&m, 0, 4);
  refused(&m, "left after");
}

static void test_dv__empty_vectors_and_empty_bitmaps_are_no_fault(void **state) {
  (void)state;
  maker m;
  begin(&m, 0), bl_posset_free(accepted(&m, 0));
  begin(&m, 1), plain(&m, 5, 0, NULL);
  bl_posset *s = accepted(&m, 0), *empty;
  assert_int_equal(bl_posset_new(ctx, &empty, NULL), BL_OK);
  assert_true(bl_posset_equal(s, empty));
  bl_posset_free(s), bl_posset_free(empty);
}

static void test_dv__a_blob_cut_anywhere_is_refused(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/dv_bare_blob.puffin");
  for (size_t n = 0; n < b.n; n++) {
    uint8_t *blob = malloc(n ? n : 1);
    memcpy(blob, b.p, n);
    bl_posset *s;
    bl_error err = BL_ERROR_INIT;
    assert_int_equal(bl_dv_decode(ctx, blob, n, -1, &s, &err), BL_DAMAGED);
    free(blob);
  }
  bl_buf_free(&b);
}

static void test_dv__a_vector_cut_anywhere_inside_a_right_frame_is_refused(void **state) {
  (void)state;
  maker m, cut;
  const uint16_t heads[] = {0, 2, 3, 5000, 4, 1, 9, 2};
  begin(&m, 1);
  plain(&m, 0, 4, heads);
  put(&m, 3, 2), put(&m, 9, 2);
  for (uint32_t i = 0; i < 8192; i++) put(&m, i < 625 ? 0xff : 0, 1);
  put(&m, 1, 2), put(&m, 8, 2), put(&m, 9, 2);
  size_t whole = m.n;
  for (size_t n = 16; n < whole; n += n < 100 || n > whole - 20 ? 1 : 97) {
    memcpy(cut.p, m.p, n);
    cut.n = n;
    refused(&cut, "bitmap");
  }
  bl_posset_free(accepted(&m, 5005));
}

static void small_limit(bl_ctx_options *o) {
  o->max_deletion_vector_bytes = 43;
}

static void test_dv__the_limit_of_the_context_holds_for_reading_and_writing(void **state) {
  (void)state;
  bl_ctx *small = support_ctx(NULL, small_limit);
  bl_buf b = support_fixture(ctx, "puffin/dv_bare_blob.puffin"), out;
  bl_posset *s;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_dv_decode(small, b.p, b.n, -1, &s, &err), BL_DAMAGED);
  support_says(err.message, "size");
  assert_int_equal(bl_posset_new(small, &s, NULL), BL_OK);
  for (int64_t i = 0; i < 20; i++) assert_int_equal(bl_posset_add(s, i * 7, NULL), BL_OK);
  bl_buf_init(&out, small, BL_BUF_MAX);
  err = (bl_error)BL_ERROR_INIT;
  assert_int_equal(bl_dv_encode(s, &out, &err), BL_UNSUPPORTED);
  bl_posset_free(s);
  bl_buf_free(&out), bl_buf_free(&b);
  bl_ctx_free(small);
}

static void test_dv__writes_the_very_bytes_that_java_writes(void **state) {
  (void)state;
  bl_buf java = support_fixture(ctx, "puffin/spark.puffin"), ours;
  bl_posset *s;
  bl_buf_init(&ours, ctx, BL_BUF_MAX);
  assert_int_equal(bl_posset_new(ctx, &s, NULL), BL_OK);
  assert_int_equal(bl_posset_add(s, 15, NULL), BL_OK);
  assert_int_equal(bl_posset_add(s, 8, NULL), BL_OK);
  assert_int_equal(bl_dv_encode(s, &ours, NULL), BL_OK);
  assert_int_equal(ours.n, 44);
  assert_memory_equal(ours.p, java.p + 4, 44);
  bl_posset_free(s);
  bl_buf_free(&ours), bl_buf_free(&java);
}

static bl_status decode_and_encode(bl_ctx *c, void *user, bl_error *err) {
  const bl_buf *b = user;
  bl_posset *s = NULL;
  bl_buf out;
  bl_buf_init(&out, c, BL_BUF_MAX);
  bl_status st;
  BL_GO(bl_dv_decode(c, b->p, b->n, -1, &s, err));
  BL_GO(bl_dv_encode(s, &out, err));
done:
  bl_posset_free(s);
  bl_buf_free(&out);
  return st;
}

static void test_dv__reports_every_failed_allocation(void **state) {
  (void)state;
  bl_buf b = support_fixture(ctx, "puffin/dv_bare_blob.puffin");
  support_fail_each_allocation(decode_and_encode, &b);
  bl_buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dv__files_of_other_writers_decode_or_are_refused_by_name),
      cmocka_unit_test(test_dv__bitmap_keys_must_ascend_and_be_positive),
      cmocka_unit_test(test_dv__container_keys_must_ascend),
      cmocka_unit_test(test_dv__values_of_an_array_must_ascend),
      cmocka_unit_test(test_dv__a_bitset_must_hold_as_many_bits_as_its_header_says),
      cmocka_unit_test(test_dv__runs_must_ascend_stay_inside_and_fit_their_cardinality),
      cmocka_unit_test(test_dv__counts_are_bounded_by_the_bytes_that_are_left),
      cmocka_unit_test(test_dv__bytes_behind_the_last_bitmap_are_refused),
      cmocka_unit_test(test_dv__empty_vectors_and_empty_bitmaps_are_no_fault),
      cmocka_unit_test(test_dv__a_blob_cut_anywhere_is_refused),
      cmocka_unit_test(test_dv__a_vector_cut_anywhere_inside_a_right_frame_is_refused),
      cmocka_unit_test(test_dv__the_limit_of_the_context_holds_for_reading_and_writing),
      cmocka_unit_test(test_dv__writes_the_very_bytes_that_java_writes),
      cmocka_unit_test(test_dv__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
