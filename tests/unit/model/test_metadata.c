/* Looking things up in table metadata. */
#include "model_fixture.h"

/* n snapshots with scattered ids, each the child of the one before. */
static bl_metadata chain(fixture *f, size_t n) {
  bl_metadata m = {.arena = f->arena, .n_snapshots = n};
  bl_error err = BL_ERROR_INIT;
  m.snapshots = bl_arena_calloc(f->arena, n + 1, sizeof *m.snapshots);
  for (size_t i = 0; i < n; i++) {
    m.snapshots[i].id = (int64_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    if (i) {
      m.snapshots[i].has_parent = true;
      m.snapshots[i].parent_id = m.snapshots[i - 1].id;
    }
  }
  test_ok(bl_metadata_index(&m, &err), &err);
  return m;
}

static void test_metadata__each_of_ten_thousand_snapshots_is_found(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_metadata m = chain(&f, 10000);
  for (size_t i = 1; i < m.n_snapshots; i++)
    assert_true(m.snapshots[m.snapshot_index[i - 1]].id < m.snapshots[m.snapshot_index[i]].id);
  for (size_t i = 0; i < m.n_snapshots; i++)
    assert_ptr_equal(bl_metadata_snapshot(&m, m.snapshots[i].id), &m.snapshots[i]);
  assert_null(bl_metadata_snapshot(&m, 0));
  assert_null(bl_metadata_snapshot(&m, INT64_MIN));
  assert_null(bl_metadata_snapshot(&m, INT64_MAX));
  fixture_free(&f);
}

static void test_metadata__ancestry_follows_parents_that_are_left(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_metadata m = chain(&f, 1000);
  int64_t first = m.snapshots[0].id, last = m.snapshots[999].id;
  assert_true(bl_metadata_is_ancestor(&m, first, last));
  assert_true(bl_metadata_is_ancestor(&m, last, last));
  assert_false(bl_metadata_is_ancestor(&m, last, first));
  assert_false(bl_metadata_is_ancestor(&m, 0, last));
  assert_false(bl_metadata_is_ancestor(&m, first, 0));
  m.snapshots[500].parent_id = 12345; /* expired */
  assert_null(bl_metadata_parent(&m, &m.snapshots[500]));
  assert_false(bl_metadata_is_ancestor(&m, first, last));
  assert_null(bl_metadata_parent(&m, &m.snapshots[0]));
  assert_ptr_equal(bl_metadata_parent(&m, &m.snapshots[1]), &m.snapshots[0]);
  fixture_free(&f);
}

static void test_metadata__a_cycle_of_parents_ends(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_metadata m = chain(&f, 3);
  m.snapshots[0].has_parent = true;
  m.snapshots[0].parent_id = m.snapshots[2].id;
  assert_false(bl_metadata_is_ancestor(&m, 4711, m.snapshots[2].id));
  assert_true(bl_metadata_is_ancestor(&m, m.snapshots[2].id, m.snapshots[0].id));
  fixture_free(&f);
}

static void test_metadata__without_snapshots_nothing_is_found(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_metadata m = chain(&f, 0);
  assert_null(bl_metadata_snapshot(&m, 1));
  assert_false(bl_metadata_is_ancestor(&m, 1, 1));
  fixture_free(&f);
}

static void test_metadata__schemas_specs_refs_and_properties_are_found(void **state) {
  (void)state;
  bl_schema schemas[] = {{.id = 3}, {.id = 0}};
  bl_partition_spec specs[] = {{.id = 1}, {.id = 7}};
  bl_ref refs[] = {{.name = BL_STR("main")}, {.name = BL_STR("dev")}};
  bl_pair pairs[] = {{BL_STR("operation"), BL_STR("append")}, {BL_STR("k"), BL_STR("")}};
  bl_metadata m = {.schemas = schemas, .n_schemas = 2, .specs = specs, .n_specs = 2, .refs = refs, .n_refs = 2};
  assert_ptr_equal(bl_metadata_current_schema(&m), &schemas[1]);
  assert_ptr_equal(bl_metadata_schema(&m, 3), &schemas[0]);
  assert_null(bl_metadata_schema(&m, 4));
  assert_ptr_equal(bl_metadata_spec(&m, 7), &specs[1]);
  assert_null(bl_metadata_spec(&m, 0));
  assert_ptr_equal(bl_metadata_ref(&m, BL_STR("dev")), &refs[1]);
  assert_null(bl_metadata_ref(&m, BL_STR("Dev")));
  bl_snapshot s = {.summary = {pairs, 2}}, bare = {0};
  assert_true(bl_str_is(bl_snapshot_operation(&s), "append"));
  assert_true(bl_snapshot_operation(&bare).p && bl_snapshot_operation(&bare).n == 0);
  assert_non_null(bl_pairs_get(&s.summary, "k").p);
  assert_null(bl_pairs_get(&s.summary, "nothing").p);
}

static bl_status index_few(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_snapshot s[] = {{.id = 5}, {.id = 2}, {.id = 9}};
  bl_metadata m = {.snapshots = s, .n_snapshots = 3};
  BL_TRY(bl_arena_new(ctx, &m.arena, err));
  bl_status st = bl_metadata_index(&m, err);
  if (st == BL_OK) assert_ptr_equal(bl_metadata_snapshot(&m, 2), &s[1]);
  else assert_null(bl_metadata_snapshot(&m, 2));
  bl_arena_free(m.arena);
  return st;
}

static void test_metadata__the_index_survives_failing_allocations(void **state) {
  (void)state;
  test_fail_each(index_few, NULL);
}

static void test_manifest__column_metrics_are_found_by_id(void **state) {
  (void)state;
  bl_column_metrics metrics[] = {{.id = 1}, {.id = 4}, {.id = 2147483540}};
  bl_data_file file = {.metrics = metrics, .n_metrics = 3}, none = {0};
  for (size_t i = 0; i < 3; i++) assert_ptr_equal(bl_data_file_metrics(&file, metrics[i].id), &metrics[i]);
  assert_null(bl_data_file_metrics(&file, 0));
  assert_null(bl_data_file_metrics(&file, 3));
  assert_null(bl_data_file_metrics(&file, INT32_MAX));
  assert_null(bl_data_file_metrics(&none, 1));
  assert_string_equal(bl_file_format_name(BL_FORMAT_PUFFIN), "PUFFIN");
  assert_string_equal(bl_file_format_name(BL_FORMAT_PARQUET), "PARQUET");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metadata__each_of_ten_thousand_snapshots_is_found),
      cmocka_unit_test(test_metadata__ancestry_follows_parents_that_are_left),
      cmocka_unit_test(test_metadata__a_cycle_of_parents_ends),
      cmocka_unit_test(test_metadata__without_snapshots_nothing_is_found),
      cmocka_unit_test(test_metadata__schemas_specs_refs_and_properties_are_found),
      cmocka_unit_test(test_metadata__the_index_survives_failing_allocations),
      cmocka_unit_test(test_manifest__column_metrics_are_found_by_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
