#include "write/data_writer.h"

#include "bergline/scan.h"
#include "rows/arrow_own.h"
#include "support/rows.h"
#include "support/table_maker.h"

#define ID_AND_NAME                                                                                                    \
  "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"                                                   \
  "{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"}"

static const char plain_fields[] = ID_AND_NAME "]";
static const char lineage_fields[] =
    ID_AND_NAME ",{\"id\":2147483540,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"},"
                "{\"id\":2147483539,\"name\":\"_last_updated_sequence_number\",\"required\":false,\"type\":\"long\"}]";

/* Writes batches of JSON rows and gives the staged change. */
typedef struct writing {
  maker *m;
  bl_table *t;
  bl_staged *staged;
  bl_data_writer *w;
} writing;

static void begin(writing *x, maker *m, const bl_data_writer_options *o) {
  bl_error err = BL_ERROR_INIT;
  x->m = m;
  x->t = maker_open(m);
  test_ok(bl_staged_new(x->t->ctx, &x->staged, &err), &err);
  test_ok(bl_data_writer_new(x->t, o, x->staged, &x->w, &err), &err);
}

static void put(writing *x, const char *fields, const char *rows) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArray batch;
  maker_batch(x->m, fields, rows, &batch);
  test_ok(bl_data_writer_write(x->w, &batch, &err), &err);
}

static void end(writing *x) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_data_writer_finish(x->w, &err), &err);
}

/* Commits what was staged and reads the table. */
static void read_back(writing *x, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  maker_entry *e = calloc(x->staged->n_data + 1, sizeof *e);
  for (size_t i = 0; i < x->staged->n_data; i++) e[i] = maker_added(&x->staged->data[i]);
  maker_manifest ms[] = {maker_data_manifest(e, x->staged->n_data)};
  ms[0].spec_id = x->t->metadata->default_spec_id;
  maker_commit(x->m, 1, "append", ms, 1);
  free(e);
  bl_table *t = maker_open(x->m);
  struct ArrowArrayStream s;
  bl_scan_options o = {.lineage = x->t->metadata->format_version > 2};
  test_ok(bl_scan(t, &o, &s, &err), &err);
  test_rows_stream(t->ctx, &s, out);
  bl_table_free(t);
}

static void drop(writing *x) {
  bl_staged_free(x->staged);
  bl_table_free(x->t);
  maker_free(x->m);
}

static void test_data_writer__gives_a_file_whose_rows_come_back(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, plain_fields), &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[[1,\"a\"],[2,null]]");
  put(&x, NULL, "[[3,\"c\"]]");
  end(&x);
  assert_int_equal(x.staged->n_data, 1);
  const bl_data_file *f = &x.staged->data[0];
  assert_int_equal(f->record_count, 3);
  assert_true(f->file_size > 100);
  assert_int_equal(f->spec_id, 0);
  assert_int_equal(f->n_split_offsets, 1);
  assert_int_equal(f->split_offsets[0], 4);
  assert_int_equal(f->n_metrics, 2);
  assert_int_equal(f->metrics[1].values, 3);
  assert_int_equal(f->metrics[1].nulls, 1);
  assert_true(bl_str_is(f->metrics[1].lower, "a"));
  assert_true(bl_str_is(f->metrics[1].upper, "c"));
  assert_int_equal(x.staged->n_files, 1);
  assert_true(bl_str_eq(x.staged->files[0], f->path));
  assert_true(bl_str_starts(f->path, BL_STR("/t/data/00000-0-")));
  test_rows got, want;
  read_back(&x, &got);
  const char expected[] = "{\"k\":1,\"s\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":2,\"s\":null,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":3,\"s\":\"c\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n";
  test_rows_parse(expected, sizeof expected - 1, &want);
  test_rows_same_order(&want, &got, "rows");
  test_rows_free(&want);
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__writes_nothing_where_no_row_comes(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, plain_fields), &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[]");
  end(&x);
  assert_int_equal(x.staged->n_data, 0);
  assert_int_equal(x.staged->n_files, 0);
  drop(&x);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_writer__gives_a_file_whose_rows_come_back),
      cmocka_unit_test(test_data_writer__writes_nothing_where_no_row_comes),
  };
  (void)lineage_fields;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
