/* test_lineage_columns.c: what _row_id and _last_updated_sequence_number are for each row, and what predicates see
 * (docs/lineage.md, "Reading"). */
#include "edge/io_memory.h"
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";
static const char stored[] = "[" FIELD_K "," FIELD_S "," FIELD_ROW_ID "," FIELD_SEQ "]";

/* B02: the counter runs over the entries that are not deleted and have no id of their own. */
static void test_lineage__counter_skips_deleted_entries_and_explicit_ids(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 0), *b = numbered_file(w.m, "b", 100, 5, 0),
               *c = numbered_file(w.m, "c", 200, 25, 0), *d = numbered_file(w.m, "d", 300, 7, 0);
  maker_entry es[] = {maker_existing(a, 1, BL_NONE), maker_deleted(b, 1, BL_NONE), maker_added(c), maker_added(d)};
  es[2].first_row_id = 800;
  maker_manifest ms[] = {maker_data_manifest(es, 4)};
  ms[0].has_first_row_id = true;
  ms[0].first_row_id = 100;
  commit(&w, 1, ms, 1);
  expect_column(w.ctx, w.t, "k in (0, 9, 100, 200, 224, 300, 306)", "_row_id",
                (int64_t[]){100, 109, 800, 824, 110, 116}, 6);
  close_world(&w);
}

/* B04: predicates see resolved values. */
static void test_lineage__predicates_see_inherited_numbers(void **state) {
  (void)state;
  world w = new_world(3, fields);
  for (int64_t i = 1; i < 5; i++) commit(&w, i, NULL, 0); /* the next number is 5 */
  bl_data_file *f =
      maker_data(w.m, "a", stored, "[[0,\"\",7,null],[1,\"\",8,null],[2,\"\",9,null],[3,\"\",10,null]]", 2);
  maker_metrics(w.m, f, BL_ID_LAST_UPDATED, 4, 4, NULL, NULL);
  commit_files(&w, 5, &f, 1, NULL, 0);
  expect_k(&w, "_last_updated_sequence_number = 5", 0, 1, 2, 3);
  expect_rows(&w, "k", "_last_updated_sequence_number = 1", "");
  expect_rows(&w, "k", "_last_updated_sequence_number is null", "");
  expect_k(&w, "_row_id > 8", 2, 3);
  close_world(&w);
}

static void test_lineage__predicates_see_both_stored_and_inherited_numbers(void **state) {
  (void)state;
  for (int with_metrics = 0; with_metrics < 2; with_metrics++) {
    world w = new_world(3, fields);
    for (int64_t i = 1; i < 5; i++) commit(&w, i, NULL, 0);
    bl_data_file *f = maker_data(
        w.m, "a", stored, "[[0,\"\",7,null],[1,\"\",null,2],[2,\"\",9,null],[3,\"\",10,2],[4,\"\",null,null]]", 2);
    if (with_metrics) {
      maker_metrics(w.m, f, BL_ID_LAST_UPDATED, 5, 3, "2", "2");
      maker_metrics(w.m, f, BL_ID_ROW_ID, 5, 2, "7", "10");
    }
    maker_entry es[] = {maker_added(f)};
    maker_manifest ms[] = {maker_data_manifest(es, 1)};
    ms[0].has_first_row_id = true;
    ms[0].first_row_id = 1000;
    commit(&w, 5, ms, 1);
    expect_k(&w, "_last_updated_sequence_number = 5", 0, 2, 4);
    expect_k(&w, "_last_updated_sequence_number = 2", 1, 3);
    expect_k(&w, "_last_updated_sequence_number < 5", 1, 3);
    expect_k(&w, "_row_id >= 1000", 1, 4);
    expect_k(&w, "_row_id = 1004", 4);
    expect_k(&w, "_row_id in (7, 1001)", 0, 1);
    expect_rows(&w, "k,_row_id,_last_updated_sequence_number", "k > 2",
                "{\"k\":3,\"_row_id\":10,\"_last_updated_sequence_number\":2}\n"
                "{\"k\":4,\"_row_id\":1004,\"_last_updated_sequence_number\":5}\n");
    close_world(&w);
  }
}

/* B15: the data sequence number, not the file's. */
static void test_lineage__last_updated_is_the_data_sequence_number(void **state) {
  (void)state;
  world w = new_world(3, fields);
  commit(&w, 1, NULL, 0);
  bl_data_file *f = numbered_file(w.m, "a", 0, 2, 0);
  maker_entry es[] = {maker_added(f)};
  es[0].sequence_number = 1;
  es[0].file_sequence_number = 2;
  maker_manifest ms[] = {maker_data_manifest(es, 1)};
  commit(&w, 2, ms, 1);
  expect_rows(&w, "k,_last_updated_sequence_number", NULL,
              "{\"k\":0,\"_last_updated_sequence_number\":1}\n{\"k\":1,\"_last_updated_sequence_number\":1}\n");
  close_world(&w);
}

/* B16: no first_row_id, no lineage: also where values are stored. */
static void test_lineage__a_file_without_first_row_id_has_none(void **state) {
  (void)state;
  static const char want[] =
      "{\"k\":0,\"_row_id\":null,\"_last_updated_sequence_number\":null,\"_last_updated_at\":null}\n";
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    bl_data_file *f = maker_data(w.m, "a", stored, "[[0,\"\",7,3]]", 0);
    maker_entry es[] = {maker_added(f)};
    maker_manifest ms[] = {maker_data_manifest(es, 1)};
    ms[0].has_first_row_id = true;
    ms[0].first_row_id = BL_NONE;
    commit(&w, 1, ms, 1);
    expect_rows(&w, "k,_row_id,_last_updated_sequence_number,_last_updated_at", NULL, want);
    expect_rows(&w, "k,_row_id,_last_updated_sequence_number,_last_updated_at", "_row_id is null", want);
    expect_rows(&w, "k", "_last_updated_sequence_number is not null", "");
    expect_rows(&w, "k", "_row_id = 7", "");
    expect_status(&w, &(bl_scan_options){.require_lineage = true}, BL_FOUND, "first_row_id");
    close_world(&w);
  }
}

static void test_lineage__a_snapshot_before_the_upgrade_has_none(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 2, 0);
  maker_entry es[] = {maker_added(f)};
  maker_manifest ms[] = {maker_data_manifest(es, 1)};
  const bl_manifest_file *list = maker_commit(w.m, 1, "append", ms, 1);
  maker_upgrade(w.m, 3);
  maker_manifest kept[] = {maker_kept(&list[0])};
  commit(&w, 2, kept, 1);
  bl_scan_options o = {.at = "id:1", .lineage = true};
  test_rows r = scan_rows(w.ctx, w.t, &o, NULL, NULL);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(test_rows_int(&r, i, "_row_id"), INT64_MIN);
    assert_int_equal(test_rows_int(&r, i, "_last_updated_sequence_number"), INT64_MIN);
  }
  test_rows_free(&r);
  expect_rows(&w, "k,_row_id,_last_updated_sequence_number", NULL,
              "{\"k\":0,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
              "{\"k\":1,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n");
  expect_status(&w, &(bl_scan_options){.require_lineage = true}, BL_OK, NULL);
  close_world(&w);
}

/* B111: ids above the reserved line that nobody knows are ignored. */
static void test_lineage__unknown_reserved_columns_are_ignored(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *f = maker_data(w.m, "a",
                               "[" FIELD_ROW_ID
                               ",{\"id\":2147483500,\"name\":\"odd\",\"required\":false,\"type\":\"string\"}," FIELD_S
                               "," FIELD_SEQ "," FIELD_K "]",
                               "[[5,\"x\",\"s\",1,9]]", 0);
  commit_files(&w, 1, &f, 1, NULL, 0);
  expect_rows(&w, NULL, NULL, "{\"k\":9,\"s\":\"s\"}\n");
  expect_rows(&w, "_row_id", NULL, "{\"_row_id\":5}\n");
  close_world(&w);
}

/* Columns are found by id: a stored column of the right name is not lineage. */
static void test_lineage__a_stored_column_of_that_name_is_no_lineage(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *f = maker_data(
      w.m, "a", "[" FIELD_K ",{\"id\":77,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"}]", "[[1,555]]", 0);
  commit_files(&w, 1, &f, 1, NULL, 0);
  expect_rows(&w, "k,_row_id", NULL, "{\"k\":1,\"_row_id\":0}\n");
  close_world(&w);
}

static void test_lineage__a_user_column_wins_the_name(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K ",{\"id\":2,\"name\":\"_row_id\",\"required\":false,\"type\":\"string\"}]");
  bl_data_file *f = maker_data(w.m, "a", NULL, "[[1,\"mine\"]]", 0);
  commit_files(&w, 1, &f, 1, NULL, 0);
  expect_rows(&w, "_row_id,meta._row_id", NULL, "{\"_row_id\":\"mine\",\"meta._row_id\":0}\n");
  expect_rows(&w, "k", "_row_id = 'mine' and meta._row_id = 0", "{\"k\":1}\n");
  bl_scan_options o = {.lineage = true};
  test_rows r = scan_rows(w.ctx, w.t, &o, NULL, NULL);
  assert_string_equal(r.columns, "k,_row_id,meta._row_id,_last_updated_sequence_number");
  test_rows_free(&r);
  close_world(&w);
}

static void test_lineage__last_updated_at_is_the_time_of_that_commit(void **state) {
  (void)state;
  world w = new_world(3, fields);
  commit(&w, 1, NULL, 0);
  bl_data_file *f = maker_data(w.m, "a", stored, "[[0,\"\",7,null],[1,\"\",8,1],[2,\"\",9,77]]", 0);
  commit_files(&w, 2, &f, 1, NULL, 0);
  expect_rows(&w, "k,_last_updated_at", NULL,
              "{\"k\":0,\"_last_updated_at\":\"2023-11-14T22:13:21.000000+00:00\"}\n"
              "{\"k\":1,\"_last_updated_at\":\"2023-11-14T22:13:20.000000+00:00\"}\n"
              "{\"k\":2,\"_last_updated_at\":null}\n"); /* no snapshot of that number is left */
  close_world(&w);
}

static void test_lineage__file_spec_and_partition_are_columns(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_spec(w.m, 0, "[{\"source-id\":1,\"field-id\":1000,\"name\":\"k_bucket\",\"transform\":\"bucket[4]\"}]");
  maker_spec(w.m, 3, "[{\"source-id\":2,\"field-id\":1001,\"name\":\"s\",\"transform\":\"identity\"}]");
  bl_data_file *a = maker_data(w.m, "a", NULL, "[[1,\"x\"]]", 0), *b = maker_data(w.m, "b", NULL, "[[2,\"y\"]]", 0);
  maker_partition(w.m, a, 0, "[2]");
  maker_partition(w.m, b, 3, "[\"y\"]");
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, NULL, 0);
  expect_rows(&w, "k,_file,_spec_id,_partition", NULL,
              "{\"k\":1,\"_file\":\"/t/a\",\"_spec_id\":0,\"_partition\":{\"s\":null,\"k_bucket\":2}}\n"
              "{\"k\":2,\"_file\":\"/t/b\",\"_spec_id\":3,\"_partition\":{\"s\":\"y\",\"k_bucket\":null}}\n");
  expect_k(&w, "_file = '/t/b'", 2);
  expect_k(&w, "_spec_id < 3", 1);
  close_world(&w);
}

/* ---- cost ---- */

static bl_status count_reads(void *user, int64_t call, const char *operation, const char *path, bl_error *err) {
  (void)call, (void)err;
  if (strcmp(operation, "read") == 0 && strstr(path, "a.parquet")) ++*(int *)user;
  return BL_OK;
}

static int reads_of(world *w, const char *const *columns, size_t n, size_t rows) {
  int reads = 0;
  bl_io_memory_set_hook(maker_io(w->m), count_reads, &reads);
  test_rows r = scan_rows(w->ctx, w->t, &(bl_scan_options){.columns = columns, .n_columns = n}, NULL, NULL);
  bl_io_memory_set_hook(maker_io(w->m), NULL, NULL);
  assert_int_equal(r.n, rows);
  test_rows_free(&r);
  return reads;
}

/* B109: ids that are not stored are arithmetic; stored ones cost their own column alone (apache/iceberg-rust#2995). */
static void test_lineage__ids_are_read_without_the_table_s_columns(void **state) {
  (void)state;
  static const char *const id[] = {"_row_id"}, *const nothing[] = {"_pos"}, *const all[] = {"_row_id", "k", "s"};
  world w = new_world(3, fields);
  bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 300, 100);
  commit_files(&w, 1, &f, 1, NULL, 0);
  int footer = reads_of(&w, nothing, 1, 300);
  assert_int_equal(reads_of(&w, id, 1, 300), footer);
  assert_true(reads_of(&w, all, 3, 300) > footer);
  close_world(&w);
  w = new_world(3, fields);
  f = maker_data(w.m, "a.parquet", "[" FIELD_K "," FIELD_S "," FIELD_ROW_ID "]", "[[1,\"a\",500],[2,\"b\",null]]", 1);
  commit_files(&w, 1, &f, 1, NULL, 0);
  footer = reads_of(&w, nothing, 1, 2);
  int with_ids = reads_of(&w, id, 1, 2);
  assert_true(with_ids > footer);
  assert_true(reads_of(&w, all, 3, 2) > with_ids);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lineage__counter_skips_deleted_entries_and_explicit_ids),
      cmocka_unit_test(test_lineage__predicates_see_inherited_numbers),
      cmocka_unit_test(test_lineage__predicates_see_both_stored_and_inherited_numbers),
      cmocka_unit_test(test_lineage__last_updated_is_the_data_sequence_number),
      cmocka_unit_test(test_lineage__a_file_without_first_row_id_has_none),
      cmocka_unit_test(test_lineage__a_snapshot_before_the_upgrade_has_none),
      cmocka_unit_test(test_lineage__unknown_reserved_columns_are_ignored),
      cmocka_unit_test(test_lineage__a_stored_column_of_that_name_is_no_lineage),
      cmocka_unit_test(test_lineage__a_user_column_wins_the_name),
      cmocka_unit_test(test_lineage__last_updated_at_is_the_time_of_that_commit),
      cmocka_unit_test(test_lineage__file_spec_and_partition_are_columns),
      cmocka_unit_test(test_lineage__ids_are_read_without_the_table_s_columns),
  };
  return cmocka_run_group_tests_name("lineage_columns", tests, NULL, NULL);
}
