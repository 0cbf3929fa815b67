/* test_row_ids.c: where the ids of files come from whose footers have no statistics (Avro): the manifest, else the
 * columns themselves. */
#include "bergline/inspect.h"
#include "format/avro.h"
#include "format/json.h"
#include "support/table_maker.h"

#define SCHEMA "[{\"id\":1,\"name\":\"k\",\"required\":true,\"type\":\"long\"}]"

static const char avro_schema[] =
    "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"k\",\"type\":\"long\",\"field-id\":1},"
    "{\"name\":\"_row_id\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":2147483540},"
    "{\"name\":\"_last_updated_sequence_number\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":2147483539}"
    "]"
    "}";

enum { NONE = -1 };

static void put_optional(bl_buf *b, int64_t v) {
  bl_avro_put_long(b, v != NONE);
  if (v != NONE) bl_avro_put_long(b, v);
}

/* ids: NONE for null; every row has the number 1. */
static bl_data_file *avro_file(maker *m, bl_ctx *ctx, const char *name, const int64_t *ids, size_t n) {
  bl_error err = BL_ERROR_INIT;
  bl_avro_writer *w;
  bl_buf file;
  bl_buf_init(&file, ctx, BL_BUF_MAX);
  test_ok(bl_avro_writer_new(ctx, bl_str_of(avro_schema), "deflate", NULL, NULL, 0, &w, &err), &err);
  for (size_t i = 0; i < n; i++) {
    bl_buf *b = bl_avro_writer_record(w);
    bl_avro_put_long(b, (int64_t)i);
    put_optional(b, ids[i]);
    put_optional(b, 1);
    test_ok(bl_avro_writer_end_record(w, &err), &err);
  }
  test_ok(bl_avro_writer_finish(w, &file, &err), &err);
  bl_avro_writer_free(w);
  bl_data_file *f = maker_foreign(m, name, file.p, file.n, (int64_t)n);
  f->format = BL_FORMAT_AVRO;
  bl_buf_free(&file);
  return f;
}

static bl_status gather(void *user, const void *p, size_t n, bl_error *err) {
  bl_buf_add(user, p, n);
  return bl_buf_ok(user, err);
}

static bl_status report(maker *m, bl_data_file *f, int64_t first, bl_buf *out, bl_error *err) {
  maker_entry e = maker_added(f);
  maker_manifest ms = maker_data_manifest(&e, 1);
  ms.has_first_row_id = true;
  ms.first_row_id = first;
  maker_commit(m, 1, "append", &ms, 1);
  bl_table *t = maker_open(m);
  bl_sink sink = {gather, out};
  bl_status st = bl_inspect(t, "row_ids", NULL, &sink, err);
  bl_table_free(t);
  return st;
}

/* The one file's min, max and number of stored ids; NONE: null. */
static void tells(maker *m, bl_ctx *ctx, bl_data_file *f, int64_t first, int64_t min, int64_t max, int64_t stored) {
  static const char *const keys[] = {"min_row_id", "max_row_id", "row_ids_stored_count"};
  const int64_t want[] = {min, max, stored};
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_json *doc;
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  test_ok(report(m, f, first, &out, &err), &err);
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, out.p, out.n, &doc, &err), &err);
  for (size_t i = 0; i < 3; i++) {
    const bl_json *v = bl_json_get(doc->first, keys[i]);
    int64_t got = NONE;
    if (v->kind != BL_J_NULL) test_ok(bl_json_get_i64(doc->first, keys[i], &got, &err), &err);
    if (got != want[i]) fail_msg("%s is %lld, not %lld", keys[i], (long long)got, (long long)want[i]);
  }
  bl_arena_free(a);
  bl_buf_free(&out);
}

static void check(const int64_t *ids, size_t n, int64_t first, int64_t min, int64_t max, int64_t stored) {
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, SCHEMA);
  tells(m, ctx, avro_file(m, ctx, "a.avro", ids, n), first, min, max, stored);
  maker_free(m);
  test_ctx_free(ctx);
}

static void test_row_ids__of_avro_are_read_from_the_column(void **state) {
  (void)state;
  check((int64_t[]){7, 3, 9}, 3, 1000, 3, 9, 3);
  check((int64_t[]){4}, 1, 1000, 4, 4, 1);
}

static void test_row_ids__are_inherited_where_none_is_stored(void **state) {
  (void)state;
  check((int64_t[]){5, NONE, NONE, 50, 60}, 5, 1000, 5, 1002, 3); /* only by rows that have none */
  check((int64_t[]){NONE, 2000, NONE, 1500}, 4, 1000, 1000, 2000, 2);
  check((int64_t[]){NONE, NONE, NONE}, 3, 1000, 1000, 1002, 0);
}

static void test_row_ids__are_not_known_without_a_first_one(void **state) {
  (void)state;
  check((int64_t[]){7, NONE}, 2, BL_NONE, NONE, NONE, 1); /* R2: null, whatever is stored */
}

static void test_row_ids__are_counted_over_blocks_and_batches(void **state) {
  (void)state;
  enum { MANY = 200000 };
  int64_t *ids = malloc(MANY * sizeof *ids);
  for (int64_t i = 0; i < MANY; i++) ids[i] = i % 3 == 0 ? NONE : 1000000 - i;
  check(ids, MANY, 5000000, 1000000 - 199999, 5000000 + 199998, 133333);
  free(ids);
}

/* What the manifest tells costs no reading. */
static void test_row_ids__of_the_manifest_come_first(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, SCHEMA);
  bl_data_file *f = avro_file(m, ctx, "a.avro", (int64_t[]){7, 3, 9}, 3);
  maker_metrics(m, f, 2147483540, 3, 0, "2", "10");
  tells(m, ctx, f, 1000, 2, 10, 3);
  maker_free(m);
  m = maker_new(ctx, 3, SCHEMA);
  f = avro_file(m, ctx, "a.avro", (int64_t[]){7, 3, NONE}, 3);
  maker_metrics(m, f, 2147483540, 3, 1, NULL, NULL); /* not enough */
  tells(m, ctx, f, 1000, 3, 1002, 2);
  maker_free(m);
  test_ctx_free(ctx);
}

static void test_row_ids__of_a_damaged_file_are_an_error(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_buf out;
  maker *m = maker_new(ctx, 3, SCHEMA);
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_data_file *f = avro_file(m, ctx, "a.avro", (int64_t[]){7, 3, 9}, 3), *g;
  size_t n = (size_t)f->file_size;
  bl_input *in;
  uint8_t bytes[2000];
  assert_true(n < sizeof bytes);
  test_ok(maker_io(m)->open_input(maker_io(m), f->path.p, &in, &err), &err);
  test_ok(in->read_at(in, 0, bytes, n, &err), &err);
  in->close(in);
  memset(bytes + n - 24, 0xff, 6); /* in the only block */
  g = maker_foreign(m, "b.avro", bytes, n, 3);
  g->format = BL_FORMAT_AVRO;
  test_status(BL_DAMAGED, report(m, g, 1000, &out, &err), &err);
  test_says(&err, "b.avro");
  bl_buf_free(&out);
  maker_free(m);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_row_ids__of_avro_are_read_from_the_column),
      cmocka_unit_test(test_row_ids__are_inherited_where_none_is_stored),
      cmocka_unit_test(test_row_ids__are_not_known_without_a_first_one),
      cmocka_unit_test(test_row_ids__are_counted_over_blocks_and_batches),
      cmocka_unit_test(test_row_ids__of_the_manifest_come_first),
      cmocka_unit_test(test_row_ids__of_a_damaged_file_are_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
