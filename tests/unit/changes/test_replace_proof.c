/* test_replace_proof.c: what metadata tells about a replace (docs/changelog.md C8). */
#include "changes/replace_proof.h"
#include "support/support.h"

enum { MOST = 4 };

typedef struct fixture {
  bl_manifest_entry entries[MOST], vectors[MOST];
  bl_column_metrics metrics[MOST][2];
  int64_t bounds[MOST][4];
  bl_touched items[MOST];
  size_t n;
} fixture;

/* A data file of 10 rows with ids from `first` on (BL_NONE: none) and data sequence number 5. */
static bl_touched *add(fixture *f, bool removed, int64_t rows, int64_t first) {
  size_t i = f->n++;
  f->entries[i] = (bl_manifest_entry){
      .sequence_number = 5,
      .file = {.path = BL_STR("/f"), .record_count = rows, .first_row_id = first, .content_offset = BL_NONE}};
  f->items[i] = removed ? (bl_touched){.old_entry = &f->entries[i]} : (bl_touched){.new_entry = &f->entries[i]};
  return &f->items[i];
}

/* Both lineage columns are stored, `nulls` of them null; bounds of ids and numbers. */
static void stored(fixture *f, int64_t nulls, int64_t id_low, int64_t id_high, int64_t seq_low, int64_t seq_high) {
  size_t i = f->n - 1;
  int64_t b[4] = {seq_low, seq_high, id_low, id_high};
  memcpy(f->bounds[i], b, sizeof b);
  for (int c = 0; c < 2; c++) /* sorted by field id */
    f->metrics[i][c] = (bl_column_metrics){.id = c ? BL_ID_ROW_ID : BL_ID_LAST_UPDATED,
                                           .size = BL_NONE,
                                           .values = f->entries[i].file.record_count,
                                           .nulls = nulls,
                                           .nans = BL_NONE,
                                           .lower = {(char *)&f->bounds[i][2 * c], 8},
                                           .upper = {(char *)&f->bounds[i][2 * c + 1], 8}};
  f->entries[i].file.metrics = f->metrics[i];
  f->entries[i].file.n_metrics = 2;
}

static void vector(fixture *f, int64_t cardinality) {
  size_t i = f->n - 1;
  f->vectors[i].file.record_count = cardinality;
  (f->items[i].old_entry ? &f->items[i].old_deletes : &f->items[i].new_deletes)->vector = &f->vectors[i];
}

static void expect(const fixture *f, bl_proof want) {
  assert_int_equal(bl_replace_proof(f->items, f->n), want);
}

/* Two files with ids 100 to 119 become one that stores them. */
static void compaction(fixture *f) {
  memset(f, 0, sizeof *f);
  add(f, true, 10, 100);
  add(f, true, 10, 110);
  add(f, false, 20, 500);
  stored(f, 0, 100, 119, 5, 5);
}

static void test_replace_proof__a_compaction_that_keeps_ids_is_proven(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  expect(&f, BL_PROOF_YES);
}

static void test_replace_proof__nothing_touched_is_proven(void **state) {
  (void)state;
  assert_int_equal(bl_replace_proof(NULL, 0), BL_PROOF_YES);
}

static void test_replace_proof__another_number_of_rows_is_not(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.entries[1].file.record_count = 9;
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__rows_in_a_vector_do_not_count(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 25, 100);
  vector(&f, 5);
  add(&f, false, 20, 500);
  stored(&f, 0, 100, 124, 5, 5);
  expect(&f, BL_PROOF_YES);
  f.vectors[0].file.record_count = 4;
  expect(&f, BL_PROOF_NO);
  f.vectors[0].file.record_count = 26;
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__other_deletes_leave_the_number_open(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.items[0].old_deletes.n_position = 1;
  expect(&f, BL_PROOF_NO);
  compaction(&f);
  f.items[2].new_deletes.n_equality = 1;
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__a_kept_file_that_is_touched_disproves(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.items[0].new_entry = &f.entries[0];
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__a_null_id_where_rows_had_ids_disproves(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.metrics[2][1].nulls = 1;
  expect(&f, BL_PROOF_NO);
  compaction(&f);
  f.metrics[2][0].nulls = 20; /* numbers are lineage too */
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__bounds_beyond_the_removed_rows_disprove(void **state) {
  (void)state;
  static const int64_t wrong[][4] = {{99, 119, 5, 5}, {100, 120, 5, 5}, {100, 119, 4, 5}, {100, 119, 5, 6}};
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    fixture f;
    compaction(&f);
    stored(&f, 0, wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3]);
    expect(&f, BL_PROOF_NO);
  }
}

static void test_replace_proof__a_file_without_ids_disproves_where_rows_had_them(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.entries[2].file.first_row_id = BL_NONE;
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__missing_metrics_leave_it_to_footers(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.entries[2].file.n_metrics = 0;
  expect(&f, BL_PROOF_FOOTERS);
  compaction(&f);
  f.metrics[2][1].nulls = BL_NONE;
  expect(&f, BL_PROOF_FOOTERS);
  compaction(&f);
  f.metrics[2][1].lower = BL_STR_NONE;
  expect(&f, BL_PROOF_FOOTERS);
  f.entries[0].file.record_count = 9; /* still, numbers must agree */
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__metrics_that_do_not_add_up_disprove(void **state) {
  (void)state;
  fixture f;
  compaction(&f);
  f.metrics[2][1].values = 19;
  expect(&f, BL_PROOF_NO);
  compaction(&f);
  f.metrics[2][1].nulls = 21;
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__removed_files_may_store_ids_themselves(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 10, 500);
  stored(&f, 0, 3, 40, 1, 4);
  add(&f, false, 10, 600);
  stored(&f, 0, 3, 40, 1, 4);
  expect(&f, BL_PROOF_YES);
  stored(&f, 0, 500, 509, 1, 4); /* the arithmetic ids of the old file are not what its rows have */
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__stored_and_inherited_ids_make_one_range(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 10, 500);
  stored(&f, 5, 3, 40, 1, 4);
  add(&f, false, 10, 600);
  stored(&f, 0, 3, 509, 1, 5);
  expect(&f, BL_PROOF_YES);
}

static void test_replace_proof__rows_without_ids_need_none(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 10, BL_NONE);
  add(&f, false, 10, BL_NONE);
  expect(&f, BL_PROOF_YES);
  f.entries[1].file.first_row_id = 700; /* over an upgrade: they get new ones */
  expect(&f, BL_PROOF_YES);
  stored(&f, 0, 1, 9, 5, 5); /* ids out of nowhere */
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__rows_with_and_without_ids_are_counted_apart(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 10, 100);
  add(&f, true, 4, BL_NONE);
  add(&f, false, 14, 700);
  stored(&f, 4, 100, 109, 5, 5);
  expect(&f, BL_PROOF_YES);
  stored(&f, 5, 100, 109, 5, 5);
  expect(&f, BL_PROOF_NO);
  stored(&f, 3, 100, 109, 5, 5);
  expect(&f, BL_PROOF_NO);
  f.entries[2].file.n_metrics = 0;
  expect(&f, BL_PROOF_FOOTERS);
}

static void test_replace_proof__an_added_file_may_have_a_vector(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, 10, 100);
  add(&f, false, 12, 700);
  stored(&f, 0, 100, 109, 5, 5);
  vector(&f, 2);
  expect(&f, BL_PROOF_YES);
  f.metrics[1][1].nulls = 2; /* whether those are the dead ones is not known */
  expect(&f, BL_PROOF_NO);
}

static void test_replace_proof__sums_beyond_a_long_are_no_proof(void **state) {
  (void)state;
  fixture f;
  memset(&f, 0, sizeof f);
  add(&f, true, INT64_MAX - 5, 0);
  add(&f, true, INT64_MAX - 5, 0);
  expect(&f, BL_PROOF_NO);
}

/* ---- no row went ---- */

static void expect_gone(const fixture *f, int64_t want) {
  assert_int_equal(bl_ids_gone(f->items, f->n), want);
}

/* Two files with ids 100 to 119; of what comes, 20 rows have these ids (some with a new number), 3 are new. */
static void merge(fixture *f) {
  memset(f, 0, sizeof *f);
  add(f, true, 10, 100);
  add(f, true, 10, 110);
  add(f, false, 23, 500);
  stored(f, 3, 100, 119, 5, 5);
}

static void test_ids_gone__none_where_as_many_come_back_as_went(void **state) {
  (void)state;
  fixture f;
  merge(&f);
  expect_gone(&f, 0);
  f.metrics[2][0].nulls = 20; /* numbers do not matter: those rows were updated */
  expect_gone(&f, 0);
  expect(&f, BL_PROOF_NO);
  assert_int_equal(bl_ids_gone(NULL, 0), 0);
}

static void test_ids_gone__as_many_as_are_missing(void **state) {
  (void)state;
  fixture f;
  merge(&f);
  f.metrics[2][1].nulls = 7;
  expect_gone(&f, 4);
  merge(&f);
  f.n = 2;
  expect_gone(&f, 20);
  vector(&f, 4);
  expect_gone(&f, 16);
}

static void test_ids_gone__not_known_where_an_id_is_none_of_theirs(void **state) {
  (void)state;
  fixture f;
  merge(&f);
  stored(&f, 3, 100, 120, 5, 5);
  expect_gone(&f, BL_NONE);
  merge(&f);
  f.metrics[2][1].nulls = 2; /* more than there were */
  expect_gone(&f, BL_NONE);
}

static void test_ids_gone__not_known_without_metrics_or_with_other_deletes(void **state) {
  (void)state;
  fixture f;
  merge(&f);
  f.entries[2].file.n_metrics = 0;
  expect_gone(&f, BL_NONE);
  merge(&f);
  f.items[1].old_deletes.n_position = 1;
  expect_gone(&f, BL_NONE);
  merge(&f);
  f.items[0].new_entry = &f.entries[0];
  expect_gone(&f, BL_NONE);
}

static void test_ids_gone__not_known_of_rows_without_ids(void **state) {
  (void)state;
  fixture f;
  merge(&f);
  f.entries[0].file.first_row_id = BL_NONE;
  expect_gone(&f, BL_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_replace_proof__a_compaction_that_keeps_ids_is_proven),
      cmocka_unit_test(test_replace_proof__nothing_touched_is_proven),
      cmocka_unit_test(test_replace_proof__another_number_of_rows_is_not),
      cmocka_unit_test(test_replace_proof__rows_in_a_vector_do_not_count),
      cmocka_unit_test(test_replace_proof__other_deletes_leave_the_number_open),
      cmocka_unit_test(test_replace_proof__a_kept_file_that_is_touched_disproves),
      cmocka_unit_test(test_replace_proof__a_null_id_where_rows_had_ids_disproves),
      cmocka_unit_test(test_replace_proof__bounds_beyond_the_removed_rows_disprove),
      cmocka_unit_test(test_replace_proof__a_file_without_ids_disproves_where_rows_had_them),
      cmocka_unit_test(test_replace_proof__missing_metrics_leave_it_to_footers),
      cmocka_unit_test(test_replace_proof__metrics_that_do_not_add_up_disprove),
      cmocka_unit_test(test_replace_proof__removed_files_may_store_ids_themselves),
      cmocka_unit_test(test_replace_proof__stored_and_inherited_ids_make_one_range),
      cmocka_unit_test(test_replace_proof__rows_without_ids_need_none),
      cmocka_unit_test(test_replace_proof__rows_with_and_without_ids_are_counted_apart),
      cmocka_unit_test(test_replace_proof__an_added_file_may_have_a_vector),
      cmocka_unit_test(test_replace_proof__sums_beyond_a_long_are_no_proof),
      cmocka_unit_test(test_ids_gone__none_where_as_many_come_back_as_went),
      cmocka_unit_test(test_ids_gone__as_many_as_are_missing),
      cmocka_unit_test(test_ids_gone__not_known_where_an_id_is_none_of_theirs),
      cmocka_unit_test(test_ids_gone__not_known_without_metrics_or_with_other_deletes),
      cmocka_unit_test(test_ids_gone__not_known_of_rows_without_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
