/* test_append.c: rows become data files of a commit. */
#include <dirent.h>

#include "rows_world.h"

static size_t files_in(const rows_world *w, const char *folder) {
  char *path = test_join(w->table, folder);
  DIR *d = opendir(path);
  size_t n = 0;
  for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
  if (d) closedir(d);
  free(path);
  return n;
}

static void test_append__gives_every_row_an_id_of_its_own(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, s string"});
  rows_world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2}\n");
  assert_true(w.result.committed);
  assert_int_equal(w.result.rows_inserted, 2);
  assert_int_equal(w.result.first_row_id, 0);
  assert_int_equal(w.result.rows_assigned, 2);
  assert_int_equal(w.result.data_files_added, 1);
  rows_world_append(&w, "{\"k\":3}\n");
  assert_int_equal(w.result.first_row_id, 2);
  rows_world_shows(&w, "{\"k\":1,\"s\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":2,\"s\":null,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":3,\"s\":null,\"_row_id\":2,\"_last_updated_sequence_number\":2}\n");
  rows_world_end(&w);
}

static void test_append__writes_tables_of_every_version(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    rows_world w;
    rows_world_begin(&w, &(bl_create_options){.schema = "k long, d date",
                                              .partition = version == 2 ? NULL : "month(d), bucket(2, k)",
                                              .format_version = version});
    rows_world_append(&w, "{\"k\":1,\"d\":\"1969-12-31\"}\n{\"k\":2,\"d\":\"1970-01-01\"}\n{\"k\":3}\n");
    rows_world_append(&w, "{\"k\":4,\"d\":\"1970-01-31\"}\n");
    test_rows got;
    rows_world_read(&w, "d < date '1970-01-01'", &got);
    assert_int_equal(got.n, 1);
    assert_int_equal(test_rows_int(&got, 0, "k"), 1);
    test_rows_free(&got);
    rows_world_read(&w, NULL, &got);
    assert_int_equal(got.n, 4);
    test_rows_free(&got);
    rows_world_end(&w);
  }
}

/* B106: nothing to add is no snapshot. */
static void test_append__makes_no_snapshot_of_no_rows(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  rows_world_append(&w, "");
  assert_false(w.result.committed);
  assert_int_equal(w.t->metadata->n_snapshots, 0);
  assert_int_equal(files_in(&w, "data"), 0);
  rows_world_end(&w);
}

static void test_append__leaves_no_file_behind_where_a_row_is_refused(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, s string", .partition = "s"});
  enum { ROWS = 70000 }; /* the first batch is written when the second is refused */
  char *text = malloc((size_t)ROWS * 40), *p = text;
  assert_non_null(text);
  for (int i = 0; i < ROWS; i++) p += sprintf(p, "{\"k\":%d,\"s\":\"%c\"}\n", i, 'a' + i % 3);
  sprintf(p, "{\"k\":\"x\"}\n");
  bl_status st = rows_world_try_text(&w, text, BL_INPUT_NDJSON, NULL);
  test_status(BL_USAGE, st, &w.err);
  test_says(&w.err, "row 70001 ");
  test_says(&w.err, "column k");
  rows_world_reopen(&w);
  assert_int_equal(w.t->metadata->n_snapshots, 0);
  for (char c = 'a'; c < 'd'; c++) {
    char folder[20];
    snprintf(folder, sizeof folder, "data/s=%c", c);
    assert_int_equal(files_in(&w, folder), 0);
  }
  free(text);
  rows_world_end(&w);
}

static void test_append__writes_a_batch_once(void **state) {
  (void)state;
  rows_world w;
  bl_write_options o = {.batch_id = "2026-01-31"};
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  test_ok(rows_world_try_text(&w, "{\"k\":1}\n", BL_INPUT_NDJSON, &o), &w.err);
  assert_true(w.result.committed);
  rows_world_reopen(&w);
  test_ok(rows_world_try_text(&w, "{\"k\":1}\n", BL_INPUT_NDJSON, &o), &w.err);
  assert_true(w.result.already_applied);
  assert_false(w.result.committed);
  assert_int_equal(w.result.rows_inserted, 0);
  assert_int_equal(files_in(&w, "data"), 1);
  rows_world_end(&w);
}

static void test_append__writes_nothing_in_a_dry_run(void **state) {
  (void)state;
  rows_world w;
  bl_write_options o = {.dry_run = true};
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  test_ok(rows_world_try_text(&w, "{\"k\":1}\n{\"k\":2}\n", BL_INPUT_NDJSON, &o), &w.err);
  assert_false(w.result.committed);
  assert_int_equal(w.result.rows_inserted, 2);
  assert_int_equal(files_in(&w, "data"), 0);
  bl_status st = rows_world_try_text(&w, "{\"k\":\"x\"}\n", BL_INPUT_NDJSON, &o);
  test_status(BL_USAGE, st, &w.err);
  rows_world_end(&w);
}

/* What the options alone say wrong is told before a row is read, also in a dry run. */
static void test_append__refuses_wrong_options_before_a_row_is_written(void **state) {
  (void)state;
  static const char *const own[] = {"operation=x"}, *const twice[] = {"a=1", "a=2"};
  static const struct {
    bl_status st;
    bl_write_options o;
    const char *says;
  } cases[] = {{BL_NOT_FOUND, {.ref = "nope"}, "no such branch"},
               {BL_USAGE, {.summary = own, .n_summary = 1}, "sets operation itself"},
               {BL_USAGE, {.summary = twice, .n_summary = 2}, "a is given twice"}};
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  for (size_t i = 0; i < 2 * BL_LEN(cases); i++) {
    bl_write_options o = cases[i / 2].o;
    o.dry_run = i % 2;
    bl_status st = rows_world_try_text(&w, "{\"k\":\"no number\"}\n", BL_INPUT_NDJSON, &o);
    test_status(cases[i / 2].st, st, &w.err);
    test_says(&w.err, cases[i / 2].says);
    assert_int_equal(files_in(&w, "."), 1); /* metadata */
  }
  rows_world_end(&w);
}

static bl_str summary_of(const rows_world *w, const char *key) {
  const bl_metadata *md = w->t->metadata;
  const bl_ref *head = bl_metadata_ref(md, BL_STR("main"));
  return bl_pairs_get(&bl_metadata_snapshot(md, head->snapshot_id)->summary, key);
}

/* write.summary.partition-limit; a partition is its path, so specs that name it alike are one. */
static void test_append__tells_what_changed_in_few_partitions_where_asked_to(void **state) {
  (void)state;
  static const char *const limit[] = {"write.summary.partition-limit=2"};
  static const char b0[] = "partitions.s=a%2Fb/k_bucket=0";
  rows_world w;
  rows_world_begin(
      &w, &(bl_create_options){
              .schema = "k long, s string", .partition = "s, bucket(1, k)", .properties = limit, .n_properties = 1});
  rows_world_append(&w, "{\"k\":1,\"s\":\"a/b\"}\n{\"k\":2}\n{\"k\":3,\"s\":\"a/b\"}\n");
  assert_true(bl_str_is(summary_of(&w, "changed-partition-count"), "2"));
  assert_true(bl_str_is(summary_of(&w, "partition-summaries-included"), "true"));
  assert_true(bl_str_starts(summary_of(&w, b0), BL_STR("added-data-files=1,added-records=2,added-files-size=")));
  assert_true(
      bl_str_starts(summary_of(&w, "partitions.s=null/k_bucket=0"), BL_STR("added-data-files=1,added-records=1,")));
  test_ok(bl_delete_rows(w.t, "k = 1", &(bl_write_options){.mode = BL_MERGE_ON_READ}, &w.result, &w.err), &w.err);
  rows_world_reopen(&w);
  assert_true(bl_str_starts(summary_of(&w, b0), BL_STR("added-delete-files=1,added-dvs=1,")));
  rows_world_append(&w, "{\"k\":1,\"s\":\"c\"}\n{\"k\":2,\"s\":\"d\"}\n{\"k\":3,\"s\":\"e\"}\n");
  assert_true(bl_str_is(summary_of(&w, "changed-partition-count"), "3"));
  assert_null(summary_of(&w, "partition-summaries-included").p);
  assert_null(summary_of(&w, "partitions.s=c/k_bucket=0").p);
  rows_world_end(&w);
}

static void test_append__tells_no_partition_of_a_table_that_has_none(void **state) {
  (void)state;
  static const char *const limit[] = {"write.summary.partition-limit=2"};
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long", .properties = limit, .n_properties = 1});
  rows_world_append(&w, "{\"k\":1}\n");
  assert_true(bl_str_is(summary_of(&w, "partition-summaries-included"), "true")); /* as Java says it */
  assert_null(summary_of(&w, "partitions.").p);
  rows_world_end(&w);
}

/* What asks for encryption gets no file in plain text, by no verb. */
static void test_append__refuses_a_table_that_asks_for_encryption(void **state) {
  (void)state;
  static const char *const key[] = {"encryption.key-id=k1"};
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long", .properties = key, .n_properties = 1});
  test_status(BL_UNSUPPORTED, rows_world_try_text(&w, "{\"k\":1}\n", BL_INPUT_NDJSON, NULL), &w.err);
  test_says(&w.err, "encryption.key-id");
  test_status(BL_UNSUPPORTED, bl_delete_rows(w.t, "true", NULL, &w.result, &w.err), &w.err);
  assert_int_equal(files_in(&w, "."), 1);
  rows_world_end(&w);
}

/* Java cannot write such a tuple, so it could not rewrite the manifest either. */
static void test_append__refuses_a_decimal_that_is_truncated_out_of_its_type(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "d decimal(4,2)", .partition = "truncate(50, d)"});
  test_status(BL_USAGE, rows_world_try_text(&w, "{\"d\":\"-99.99\"}\n", BL_INPUT_NDJSON, NULL), &w.err);
  test_says(&w.err, "partition field d_trunc");
  rows_world_append(&w, "{\"d\":\"99.99\"}\n{\"d\":\"-99.50\"}\n{\"d\":null}\n");
  assert_int_equal(w.result.rows_inserted, 3);
  rows_world_end(&w);
}

static void test_append__refuses_a_table_opened_by_its_metadata_file(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  char *path = test_join(w.table, "metadata/v1.metadata.json");
  bl_table_free(w.t);
  test_ok(bl_table_open(w.ctx, path, NULL, &w.t, &w.err), &w.err);
  bl_status st = rows_world_try_text(&w, "{\"k\":1}\n", BL_INPUT_NDJSON, NULL);
  test_status(BL_USAGE, st, &w.err);
  assert_int_equal(files_in(&w, "data"), 0);
  free(path);
  rows_world_end(&w);
}

/* ---- files ---- */

static void test_append__takes_several_files_as_one_commit(void **state) {
  (void)state;
  rows_world w;
  struct ArrowArrayStream rows;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, s string default 'x'"});
  char *a = test_join(w.dir, "a.csv"), *b = test_join(w.dir, "b.ndjson");
  test_write(a, "s,k\np,1\n", 8);
  test_write(b, "{\"k\":2}\n", 8);
  const char *paths[] = {a, b, a};
  test_ok(bl_read_files(w.t, NULL, paths, 3, NULL, &rows, &w.err), &w.err);
  test_ok(bl_append(w.t, &rows, NULL, &w.result, &w.err), &w.err);
  assert_null(rows.release);
  rows_world_reopen(&w);
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  rows_world_shows(&w, "{\"k\":1,\"s\":\"p\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":2,\"s\":\"x\",\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":1,\"s\":\"p\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n");
  test_write(b, "{\"k\":\"q\"}\n", 10);
  test_ok(bl_read_files(w.t, NULL, paths, 2, NULL, &rows, &w.err), &w.err);
  bl_status st = bl_append(w.t, &rows, NULL, &w.result, &w.err);
  test_status(BL_USAGE, st, &w.err);
  test_says(&w.err, "b.ndjson: row 1");
  w.err = (bl_error)BL_ERROR_INIT;
  const char *missing[] = {"/nowhere/x.csv"};
  st = bl_read_files(w.t, NULL, missing, 1, NULL, &rows, &w.err);
  test_status(BL_NOT_FOUND, st, &w.err);
  free(a);
  free(b);
  rows_world_end(&w);
}

/* Parquet and Arrow files of another table, with their ids and shredded variants. */
static void test_append__takes_back_what_a_scan_wrote(void **state) {
  (void)state;
  static const char schema[] =
      "k long, v variant, st struct<a: int, b: string>, li list<decimal(5,2)>, tz timestamptz, u uuid";
  static const char row[] =
      "{\"k\":1,\"v\":{\"a\":[1,\"x\"]},\"st\":{\"a\":null,\"b\":\"q\"},\"li\":[\"1.50\",null],"
      "\"tz\":\"1969-12-31T23:59:59.999999+00:00\",\"u\":\"b6a3cd6e-6d23-4f0b-8f5c-0a4e0e7a1f00\"}\n";
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = schema, .format_version = 3});
  rows_world_append(&w, row);
  bl_plan *p = rows_world_files(&w);
  const char *paths[] = {p->files[0].data->file.path.p};
  struct ArrowArrayStream rows;
  test_ok(bl_read_files(w.t, NULL, paths, 1, NULL, &rows, &w.err), &w.err);
  test_ok(bl_append(w.t, &rows, NULL, &w.result, &w.err), &w.err);
  bl_plan_free(p);
  rows_world_reopen(&w);
  test_rows got, want;
  bl_scan_options o = {0};
  test_ok(bl_scan(w.t, &o, &rows, &w.err), &w.err);
  test_rows_stream(w.ctx, &rows, &got);
  char *twice = malloc(2 * sizeof row);
  assert_non_null(twice);
  snprintf(twice, 2 * sizeof row, "%s%s", row, row);
  test_rows_parse(twice, strlen(twice), &want);
  test_rows_same_order(&want, &got, "twice");
  free(twice);
  test_rows_free(&want);
  test_rows_free(&got);
  rows_world_end(&w);
}

/* ---- failures ---- */

static bl_status append_some(bl_ctx *ctx, void *user, bl_error *err) {
  const char *dir = user;
  static int number;
  char name[40];
  bl_table *t = NULL;
  snprintf(name, sizeof name, "t%d", number++);
  char *table = test_join(dir, name);
  static const char text[] = "{\"k\":1,\"s\":\"b\",\"li\":[1,2]}\n{\"k\":2,\"s\":\"a\"}\n";
  text_input in = text_input_of(text, sizeof text - 1);
  bl_read_options ro = {.format = BL_INPUT_NDJSON};
  struct ArrowArrayStream rows = {0};
  bl_write_result r = {0};
  bl_create_options co = {.schema = "k long, s string, li list<int>", .partition = "s"};
  bl_status st = bl_table_create(ctx, table, NULL, &co, err);
  if (st == BL_OK) st = bl_table_open(ctx, table, NULL, &t, err);
  if (st == BL_OK) st = bl_read_rows(t, &in.in, "rows", &ro, &rows, err);
  if (st == BL_OK) st = bl_append(t, &rows, NULL, &r, err);
  if (st == BL_OK) assert_int_equal(r.data_files_added, 2);
  bl_table_free(t);
  free(table);
  return st;
}

static void test_append__fails_cleanly_without_memory(void **state) {
  (void)state;
  char *dir = test_temp_dir();
  test_fail_each(append_some, dir);
  test_remove_dir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_append__gives_every_row_an_id_of_its_own),
      cmocka_unit_test(test_append__writes_tables_of_every_version),
      cmocka_unit_test(test_append__makes_no_snapshot_of_no_rows),
      cmocka_unit_test(test_append__leaves_no_file_behind_where_a_row_is_refused),
      cmocka_unit_test(test_append__writes_a_batch_once),
      cmocka_unit_test(test_append__writes_nothing_in_a_dry_run),
      cmocka_unit_test(test_append__refuses_wrong_options_before_a_row_is_written),
      cmocka_unit_test(test_append__tells_what_changed_in_few_partitions_where_asked_to),
      cmocka_unit_test(test_append__tells_no_partition_of_a_table_that_has_none),
      cmocka_unit_test(test_append__refuses_a_table_that_asks_for_encryption),
      cmocka_unit_test(test_append__refuses_a_decimal_that_is_truncated_out_of_its_type),
      cmocka_unit_test(test_append__refuses_a_table_opened_by_its_metadata_file),
      cmocka_unit_test(test_append__takes_several_files_as_one_commit),
      cmocka_unit_test(test_append__takes_back_what_a_scan_wrote),
      cmocka_unit_test(test_append__fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
