/* test_plan.c: which files of a snapshot a filter leaves, and what becomes of statistics that are missing or wrong. */
#include "scan/plan.h"
#include "table/refs.h"
#include "table/table.h"
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

/* Files left and skipped by a filter, in the world's newest snapshot. */
static bl_plan_counts counts_of(world *w, const char *where) {
  bl_error err = BL_ERROR_INIT;
  bl_expr *e = NULL;
  bl_snap snap;
  bl_plan *p;
  bl_arena *a = maker_arena(w->m);
  const bl_schema *schema = bl_metadata_current_schema(w->t->metadata);
  if (where) {
    test_ok(bl_expr_parse(a, bl_arena_str(a, bl_str_of(where)), &e, &err), &err);
    test_ok(bl_expr_bind(a, e, schema, bl_meta_schema(), &e, &err), &err);
  }
  test_ok(bl_snap_resolve(w->t->metadata, BL_STR_NONE, &(bl_snap_options){0}, &snap, &err), &err);
  test_ok(bl_plan_new(w->t, snap.snapshot, &(bl_plan_options){.filter = e, .schema = schema}, &p, &err), &err);
  bl_plan_counts c = p->counts;
  assert_int_equal(p->n_files, c.files);
  bl_plan_free(p);
  return c;
}

static void expect_files(world *w, const char *where, size_t files) {
  bl_plan_counts c = counts_of(w, where);
  if (c.files != files) fail_msg("where %s: %zu files, not %zu", where ? where : "true", c.files, files);
}

/* ---- statistics (B74, B123) ---- */

static void one_with_metrics(world *w, int64_t nulls, const char *lower, const char *upper) {
  *w = new_world(2, fields);
  bl_data_file *f = maker_data(w->m, "a", NULL, "[[1,\"x\"],[null,\"y\"],[5,\"z\"]]", 0);
  maker_metrics(w->m, f, 1, 3, nulls, lower, upper);
  commit_files(w, 1, &f, 1, NULL, 0);
}

static void test_plan__missing_null_counts_are_not_zero(void **state) {
  (void)state;
  world w;
  one_with_metrics(&w, BL_NONE, "1", "5");
  expect_k(&w, "k is null", NULL_K);
  expect_k(&w, "k is not null", 1, 5);
  expect_k(&w, "s is not null", 1, NULL_K, 5); /* a column without any statistics */
  close_world(&w);
}

static void test_plan__missing_bounds_keep_the_file(void **state) {
  (void)state;
  static const char *const bounds[][2] = {{NULL, "5"}, {"1", NULL}, {NULL, NULL}};
  for (size_t i = 0; i < BL_LEN(bounds); i++) {
    world w;
    one_with_metrics(&w, 1, bounds[i][0], bounds[i][1]);
    expect_k(&w, "k < 2", 1);
    expect_k(&w, "k > 4", 5);
    expect_k(&w, "k = 1 or k = 5", 1, 5);
    close_world(&w);
  }
}

static void test_plan__inverted_bounds_are_ignored(void **state) {
  (void)state;
  world w;
  one_with_metrics(&w, 1, "5", "1");
  expect_k(&w, "k < 3", 1);
  expect_k(&w, "k = 5", 5);
  close_world(&w);
}

static void test_plan__good_bounds_leave_files_out(void **state) {
  (void)state;
  world w;
  one_with_metrics(&w, 1, "1", "5");
  expect_files(&w, "k > 5", 0);
  expect_files(&w, "k < 1", 0);
  expect_files(&w, "k = 3", 1);
  expect_files(&w, "k is null", 1);
  expect_files(&w, "k > 5 or s = 'x'", 1);
  expect_files(&w, "false", 0);
  expect_files(&w, NULL, 1);
  close_world(&w);
  one_with_metrics(&w, 0, "1", "5");
  expect_files(&w, "k is null", 0);
  close_world(&w);
  one_with_metrics(&w, 3, NULL, NULL);
  expect_files(&w, "k is not null", 0);
  close_world(&w);
}

/* ---- partitions ---- */

static void test_plan__partitions_leave_files_and_manifests_out(void **state) {
  (void)state;
  world w = new_world(2, fields);
  maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
  maker_spec(w.m, 4, "[{\"source-id\":1,\"field-id\":1001,\"name\":\"kb\",\"transform\":\"truncate[10]\"}]");
  bl_data_file *a = maker_data(w.m, "a", NULL, "[[1,\"x\"],[25,\"x\"]]", 0),
               *b = maker_data(w.m, "b", NULL, "[[2,\"y\"]]", 0),
               *c = maker_data(w.m, "c", NULL, "[[23,\"x\"],[29,\"y\"]]", 0),
               *n = maker_data(w.m, "n", NULL, "[[3,null]]", 0);
  maker_partition(w.m, a, 0, "[\"x\"]");
  maker_partition(w.m, b, 0, "[\"y\"]");
  maker_partition(w.m, n, 0, "[null]");
  maker_partition(w.m, c, 4, "[20]");
  commit_files(&w, 1, (bl_data_file *[]){a, b, c, n}, 4, NULL, 0);
  expect_files(&w, "s = 'x'", 2); /* a, and c, whose spec says nothing of s */
  expect_k(&w, "s = 'x'", 1, 25, 23);
  expect_files(&w, "s is null", 2);
  expect_k(&w, "s is null", 3);
  expect_files(&w, "k = 25", 4);
  expect_files(&w, "k = 5 and s = 'y'", 1);
  expect_files(&w, "k > 29", 3);
  expect_files(&w, "s = 'z' and k = 1", 0);
  expect_files(&w, "_spec_id = 4", 1);
  close_world(&w);
}

/* ---- lineage (R5) ---- */

static void test_plan__row_ids_prune_only_where_it_is_known_what_is_stored(void **state) {
  (void)state;
  for (int known = 0; known < 2; known++) {
    world w = new_world(3, fields);
    bl_data_file *a = numbered_file(w.m, "a", 0, 10, 0);
    if (known) {
      maker_metrics(w.m, a, BL_ID_ROW_ID, 10, 4, "100", "105");
      maker_metrics(w.m, a, BL_ID_LAST_UPDATED, 10, 10, NULL, NULL);
    }
    commit_files(&w, 1, &a, 1, NULL, 0);
    expect_files(&w, "_row_id > 105", known ? 0 : 1);
    expect_files(&w, "_row_id = 50", 1);
    expect_files(&w, "_row_id < 0", known ? 0 : 1);
    expect_files(&w, "_last_updated_sequence_number = 2", known ? 0 : 1);
    expect_files(&w, "_last_updated_sequence_number = 1", 1);
    expect_files(&w, "_pos > 9", 0);
    expect_files(&w, "_file = '/t/b'", 0);
    close_world(&w);
  }
}

static void test_plan__meta_stats_of_files_without_ids_are_null(void **state) {
  (void)state;
  bl_manifest_entry e = {.sequence_number = 3, .file = {.record_count = 10, .first_row_id = BL_NONE}};
  const bl_schema *meta = bl_meta_schema();
  bl_stats s;
  assert_true(bl_meta_stats(&e, bl_schema_find(meta, BL_ID_ROW_ID), &s));
  assert_true(s.all_same && s.nulls == 10);
  assert_false(bl_meta_stats(&e, bl_schema_find(meta, BL_ID_LAST_UPDATED_AT), &s));
}

/* ---- counts, failures ---- */

static void test_plan__counts_rows_and_bytes_at_most(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 0), *b = numbered_file(w.m, "b", 10, 5, 0),
               *d = maker_vector(w.m, "d", "a", (int64_t[]){1}, 1);
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, &d, 1);
  bl_plan_counts c = counts_of(&w, NULL);
  assert_int_equal(c.manifests_opened, 2);
  assert_int_equal(c.delete_manifests_opened, 1);
  assert_int_equal(c.files, 2);
  assert_int_equal(c.delete_files, 1);
  assert_int_equal(c.rows, 15);
  assert_int_equal(c.bytes, a->file_size + b->file_size);
  close_world(&w);
}

static void test_plan__of_no_snapshot_is_empty(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_metadata(w.m);
  w.t = maker_open(w.m);
  expect_rows(&w, NULL, "k > 1", "");
  close_world(&w);
}

static void test_plan__a_missing_manifest_is_not_found(void **state) {
  (void)state;
  for (int list = 0; list < 2; list++) {
    world w = new_world(3, fields);
    bl_error err = BL_ERROR_INIT;
    bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0), *d = maker_vector(w.m, "d", "a", (int64_t[]){1}, 1);
    commit_files(&w, 1, &f, 1, &d, 1);
    const char *path = maker_path(w.m, list ? "metadata/snap-1.avro" : "metadata/1-m1.avro");
    test_ok(maker_io(w.m)->remove(maker_io(w.m), path, &err), &err);
    expect_status(&w, NULL, BL_NOT_FOUND, path);
    close_world(&w);
  }
}

static void test_plan__a_missing_or_broken_data_file_is_named(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_error err = BL_ERROR_INIT;
  bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 3, 0);
  commit_files(&w, 1, &f, 1, NULL, 0);
  maker_put(w.m, "a.parquet", "PAR1 this is none", 17);
  expect_status(&w, NULL, BL_DAMAGED, "a.parquet");
  test_ok(maker_io(w.m)->remove(maker_io(w.m), maker_path(w.m, "a.parquet"), &err), &err);
  expect_status(&w, NULL, BL_NOT_FOUND, "a.parquet");
  close_world(&w);
}

static void test_plan__encrypted_files_are_not_supported(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 3, 0);
  f->key_metadata = BL_STR("key");
  commit_files(&w, 1, &f, 1, NULL, 0);
  expect_status(&w, NULL, BL_UNSUPPORTED, "encrypted");
  close_world(&w);
}

/* Everything that a scan allocates: vectors, both kinds of delete files, filters, casts, lineage. */
static bl_status scan_all(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  bl_table_options o = {.drivers = maker_drivers(w->m)};
  bl_table *t;
  struct ArrowArrayStream s;
  BL_TRY(bl_table_open(ctx, w->text, &o, &t, err));
  bl_status st = bl_scan(t, &(bl_scan_options){.where = "k > 1 and _row_id < 100", .lineage = true}, &s, err);
  while (st == BL_OK) {
    struct ArrowArray a;
    int code = s.get_next(&s, &a);
    if (code) st = bl_fail(err, bl_status_of_errno(code), "%s", s.get_last_error(&s));
    else if (!a.release) break;
    else a.release(&a);
  }
  if (s.release) s.release(&s);
  bl_table_free(t);
  return st;
}

static void test_plan__a_scan_says_when_memory_runs_out(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 5),
               *b = maker_data(w.m, "b",
                               "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"int\"}," FIELD_ROW_ID "]",
                               "[[11,50],[12,null]]", 0);
  maker_entry es[] = {maker_existing(a, 1, 0), maker_existing(b, 1, 10)};
  commit(&w, 1, NULL, 0);
  bl_data_file *d = maker_vector(w.m, "d", "a", (int64_t[]){1}, 1),
               *p = maker_positions(w.m, "p", &(maker_position){"b", 1}, 1),
               *e = maker_equality(w.m, "e", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[4]]");
  maker_entry ds[] = {maker_added(d), maker_added(p), maker_added(e)};
  maker_manifest ms[] = {maker_data_manifest(es, 2), maker_delete_manifest(ds, 3)};
  commit(&w, 2, ms, 2);
  w.text = maker_path(w.m, "metadata/v2.metadata.json");
  expect_k(&w, "k > 1 and _row_id < 100", 2, 3, 5, 6, 7, 8, 9, 11);
  test_fail_each(scan_all, &w);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan__missing_null_counts_are_not_zero),
      cmocka_unit_test(test_plan__missing_bounds_keep_the_file),
      cmocka_unit_test(test_plan__inverted_bounds_are_ignored),
      cmocka_unit_test(test_plan__good_bounds_leave_files_out),
      cmocka_unit_test(test_plan__partitions_leave_files_and_manifests_out),
      cmocka_unit_test(test_plan__row_ids_prune_only_where_it_is_known_what_is_stored),
      cmocka_unit_test(test_plan__meta_stats_of_files_without_ids_are_null),
      cmocka_unit_test(test_plan__counts_rows_and_bytes_at_most),
      cmocka_unit_test(test_plan__of_no_snapshot_is_empty),
      cmocka_unit_test(test_plan__a_missing_manifest_is_not_found),
      cmocka_unit_test(test_plan__a_missing_or_broken_data_file_is_named),
      cmocka_unit_test(test_plan__encrypted_files_are_not_supported),
      cmocka_unit_test(test_plan__a_scan_says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
