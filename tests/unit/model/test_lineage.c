/* first_row_id by inheritance and assignment (R3, R7, W3). */
#include "model/lineage.h"
#include "model_fixture.h"

static bl_manifest_entry entry(bl_entry_status status, int64_t stored, int64_t rows) {
  return (bl_manifest_entry){.status = status,
                             .stored_first_row_id = stored,
                             .file = {.path = BL_STR("data/f.parquet"), .record_count = rows, .first_row_id = 99}};
}

static bl_manifest_file manifest(bl_manifest_content content, int64_t first_row_id) {
  return (bl_manifest_file){.path = BL_STR("m.avro"), .content = content, .first_row_id = first_row_id};
}

/* B02: the counter passes over deleted entries and those with an id of their own. */
static void test_lineage__only_live_entries_without_an_id_take_and_advance(void **state) {
  (void)state;
  bl_manifest_file m = manifest(BL_MANIFEST_DATA, 100);
  bl_manifest_entry e[] = {entry(BL_EXISTING, BL_NONE, 10), entry(BL_DELETED, BL_NONE, 5), entry(BL_ADDED, 800, 25),
                           entry(BL_ADDED, BL_NONE, 7), entry(BL_DELETED, 55, 3)};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_lineage_inherit(&m, e, 5, &err), &err);
  int64_t expected[] = {100, BL_NONE, 800, 110, 55};
  for (size_t i = 0; i < 5; i++) assert_int_equal(e[i].file.first_row_id, expected[i]);
}

static void test_lineage__a_manifest_without_an_id_gives_none_to_any_entry(void **state) {
  (void)state;
  bl_manifest_file m = manifest(BL_MANIFEST_DATA, BL_NONE);
  bl_manifest_entry e[] = {entry(BL_ADDED, BL_NONE, 10), entry(BL_EXISTING, 800, 25)};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_lineage_inherit(&m, e, 2, &err), &err);
  assert_int_equal(e[0].file.first_row_id, BL_NONE);
  assert_int_equal(e[1].file.first_row_id, BL_NONE);
}

/* R7 */
static void test_lineage__delete_manifests_never_give_ids(void **state) {
  (void)state;
  bl_manifest_file m = manifest(BL_MANIFEST_DELETES, 100);
  bl_manifest_entry e[] = {entry(BL_ADDED, 7, 10)};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_lineage_inherit(&m, e, 1, &err), &err);
  assert_int_equal(e[0].file.first_row_id, BL_NONE);
}

/* The example of the specification. */
static void test_lineage__the_example_of_the_spec_comes_out(void **state) {
  (void)state;
  bl_manifest_file list[] = {manifest(BL_MANIFEST_DATA, 925), manifest(BL_MANIFEST_DATA, BL_NONE),
                             manifest(BL_MANIFEST_DATA, BL_NONE), manifest(BL_MANIFEST_DATA, BL_NONE)};
  int64_t rows[] = {75, 125, 100, 150}, next = 0;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_lineage_assign(list, rows, 4, 1000, &next, &err), &err);
  int64_t expected[] = {925, 1000, 1125, 1225};
  for (size_t i = 0; i < 4; i++) assert_int_equal(list[i].first_row_id, expected[i]);
  assert_int_equal(next, 1375);
  bl_manifest_entry e[] = {entry(BL_EXISTING, 800, 25), entry(BL_ADDED, BL_NONE, 50), entry(BL_ADDED, BL_NONE, 50)};
  test_ok(bl_lineage_inherit(&list[1], e, 3, &err), &err);
  assert_int_equal(e[0].file.first_row_id, 800);
  assert_int_equal(e[1].file.first_row_id, 1000);
  assert_int_equal(e[2].file.first_row_id, 1050);
}

/* B05: the first commit after an upgrade, also one that adds nothing, gives ids to all old manifests. B98: each has its
 * own copy of the counter. */
static void test_lineage__the_first_commit_after_an_upgrade_assigns_every_data_manifest(void **state) {
  (void)state;
  bl_manifest_file list[] = {manifest(BL_MANIFEST_DATA, BL_NONE), manifest(BL_MANIFEST_DELETES, BL_NONE),
                             manifest(BL_MANIFEST_DATA, BL_NONE), manifest(BL_MANIFEST_DATA, BL_NONE)};
  int64_t rows[] = {10, 4, 0, 5}, next = -1; /* the third holds deleted entries only */
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_lineage_assign(list, rows, 4, 0, &next, &err), &err);
  int64_t expected[] = {0, BL_NONE, 10, 10};
  for (size_t i = 0; i < 4; i++) assert_int_equal(list[i].first_row_id, expected[i]);
  assert_int_equal(next, 15);
  test_ok(bl_lineage_assign(list, rows, 4, 15, &next, &err), &err); /* nothing left to assign */
  assert_int_equal(next, 15);
  test_ok(bl_lineage_assign(NULL, NULL, 0, 15, &next, &err), &err);
  assert_int_equal(next, 15);
}

static void refuses(bl_manifest_file m, bl_manifest_entry *e, size_t n, const char *word) {
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_lineage_inherit(&m, e, n, &err), &err);
  test_says(&err, word);
  test_says(&err, "m.avro");
}

static void test_lineage__ids_beyond_a_long_and_negative_numbers_are_refused(void **state) {
  (void)state;
  bl_manifest_entry many[] = {entry(BL_ADDED, BL_NONE, 1), entry(BL_ADDED, BL_NONE, 10)};
  refuses(manifest(BL_MANIFEST_DATA, INT64_MAX - 3), many, 2, "first_row_id");
  bl_manifest_entry stored[] = {entry(BL_ADDED, INT64_MAX - 3, 10)};
  refuses(manifest(BL_MANIFEST_DATA, 0), stored, 1, "first_row_id");
  bl_manifest_entry minus[] = {entry(BL_ADDED, -1, 10)};
  refuses(manifest(BL_MANIFEST_DATA, 0), minus, 1, "first_row_id is negative");
  bl_manifest_entry rows[] = {entry(BL_ADDED, BL_NONE, -10)};
  refuses(manifest(BL_MANIFEST_DATA, 0), rows, 1, "record_count");
  refuses(manifest(BL_MANIFEST_DATA, BL_NONE), rows, 1, "record_count");
  refuses(manifest(BL_MANIFEST_DATA, -5), many, 2, "first_row_id is negative");
}

static void test_lineage__assignment_refuses_overflow_and_negative_rows(void **state) {
  (void)state;
  bl_manifest_file m = manifest(BL_MANIFEST_DATA, BL_NONE);
  int64_t rows = 10, next = 3;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_lineage_assign(&m, &rows, 1, INT64_MAX - 9, &next, &err), &err);
  assert_int_equal(next, 3);
  err = (bl_error)BL_ERROR_INIT;
  m.first_row_id = BL_NONE;
  rows = -1;
  test_status(BL_DAMAGED, bl_lineage_assign(&m, &rows, 1, 0, &next, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_lineage_assign(&m, &rows, 0, -1, &next, &err), &err);
  test_says(&err, "next-row-id");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lineage__only_live_entries_without_an_id_take_and_advance),
      cmocka_unit_test(test_lineage__a_manifest_without_an_id_gives_none_to_any_entry),
      cmocka_unit_test(test_lineage__delete_manifests_never_give_ids),
      cmocka_unit_test(test_lineage__the_example_of_the_spec_comes_out),
      cmocka_unit_test(test_lineage__the_first_commit_after_an_upgrade_assigns_every_data_manifest),
      cmocka_unit_test(test_lineage__ids_beyond_a_long_and_negative_numbers_are_refused),
      cmocka_unit_test(test_lineage__assignment_refuses_overflow_and_negative_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
