/* test_positions.c: positions are those of the file, whatever is filtered, deleted or pruned (docs/lineage.md R4): and
 * with them row ids. */
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

/* One file of 3 row groups of 100 rows (k = 0 … 299), ids from 1000; a vector takes 5 and 150. */
static world three_groups(void) {
  world w = new_world(3, fields);
  bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 300, 100);
  bl_data_file *d = maker_vector(w.m, "d.puffin", "a.parquet", (int64_t[]){5, 150}, 2);
  maker_entry data[] = {maker_added(f)}, deletes[] = {maker_added(d)};
  maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(deletes, 1)};
  ms[0].has_first_row_id = true;
  ms[0].first_row_id = 1000;
  maker_commit(w.m, 1, "append", ms, 2);
  w.t = maker_open(w.m);
  return w;
}

static void test_positions__ids_survive_deletes_and_pruned_row_groups(void **state) {
  (void)state;
  world w = three_groups();
  int64_t want[300];
  size_t n = 0;
  for (int64_t i = 100; i < 300; i++)
    if (i != 150) want[n++] = 1000 + i;
  expect_column(w.ctx, w.t, "k >= 100", "_row_id", want, n);
  n = 0;
  for (int64_t i = 0; i < 300; i++)
    if (i != 150 && i != 5) want[n++] = 1000 + i;
  expect_column(w.ctx, w.t, NULL, "_row_id", want, n);
  expect_column(w.ctx, w.t, "k = 151", "_row_id", (int64_t[]){1151}, 1);
  expect_column(w.ctx, w.t, "k in (4, 5, 6, 149, 150, 151, 299)", "_row_id", (int64_t[]){1004, 1006, 1149, 1151, 1299},
                5);
  close_world(&w);
}

static void test_positions__are_a_column_of_their_own(void **state) {
  (void)state;
  world w = three_groups();
  expect_column(w.ctx, w.t, "k in (4, 5, 6, 299)", "_pos", (int64_t[]){4, 6, 299}, 3);
  expect_column(w.ctx, w.t, "_pos > 297", "_pos", (int64_t[]){298, 299}, 2);
  expect_column(w.ctx, w.t, "_row_id between 1149 and 1151", "_pos", (int64_t[]){149, 151}, 2);
  close_world(&w);
}

/* B20: 3 groups of 3 rows, deletes 1, 4, 8. */
static void test_positions__position_deletes_hit_their_rows_when_groups_are_pruned(void **state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 9, 3);
    bl_data_file *d =
        version == 3
            ? maker_vector(w.m, "d", "a.parquet", (int64_t[]){1, 4, 8}, 3)
            : maker_positions(w.m, "d", (maker_position[]){{"a.parquet", 1}, {"a.parquet", 4}, {"a.parquet", 8}}, 3);
    maker_entry data[] = {maker_added(f)}, deletes[] = {maker_added(d)};
    maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(deletes, 1)};
    maker_commit(w.m, 1, "append", ms, 2);
    w.t = maker_open(w.m);
    expect_column(w.ctx, w.t, "k < 3 or k > 5", "k", (int64_t[]){0, 2, 6, 7}, 4);
    expect_column(w.ctx, w.t, "k >= 3", "k", (int64_t[]){3, 5, 6, 7}, 4);
    expect_column(w.ctx, w.t, "k >= 6", "k", (int64_t[]){6, 7}, 2);
    close_world(&w);
  }
}

/* B49: many row groups; the file's first id is added once. */
static void test_positions__ids_go_on_through_all_row_groups(void **state) {
  (void)state;
  for (int64_t base = 0; base <= 7; base += 7) {
    world w = new_world(3, fields);
    bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 1500, 100);
    maker_entry data[] = {maker_added(f)};
    maker_manifest ms[] = {maker_data_manifest(data, 1)};
    ms[0].has_first_row_id = true;
    ms[0].first_row_id = base;
    commit(&w, 1, ms, 1);
    int64_t want[1500];
    for (int64_t i = 0; i < 1500; i++) want[i] = base + i;
    expect_column(w.ctx, w.t, NULL, "_row_id", want, 1500);
    expect_column(w.ctx, w.t, "k in (99, 100, 1499)", "_row_id", (int64_t[]){base + 99, base + 100, base + 1499}, 3);
    close_world(&w);
  }
}

/* Split offsets say how a big file is read by several threads: the order stays. */
static void test_positions__split_files_come_in_order(void **state) {
  (void)state;
  world w = new_world(3, fields);
  for (int64_t n_splits = 1; n_splits <= 9; n_splits += 4) { /* also more splits than row groups */
    char name[20];
    snprintf(name, sizeof name, "%lld.parquet", (long long)n_splits);
    bl_data_file *f = numbered_file(w.m, name, 0, 60, 10);
    f->split_offsets = bl_arena_calloc(maker_arena(w.m), 9, sizeof *f->split_offsets);
    f->n_split_offsets = (size_t)n_splits;
    for (int64_t i = 0; i < n_splits; i++) f->split_offsets[i] = 4 + i;
    commit_files(&w, n_splits, &f, 1, NULL, 0);
    int64_t want[60];
    for (int64_t i = 0; i < 60; i++) want[i] = i;
    expect_column(w.ctx, w.t, NULL, "_pos", want, 60);
  }
  close_world(&w);
}

static void test_positions__a_limit_cuts_the_last_batch(void **state) {
  (void)state;
  world w = three_groups();
  for (int64_t limit = 0; limit <= 320; limit += 37) {
    bl_scan_options o = {.has_limit = true, .limit = limit, .lineage = true};
    test_rows r = scan_rows(w.ctx, w.t, &o, NULL, NULL);
    assert_int_equal(r.n, limit < 298 ? limit : 298);
    for (size_t i = 0; i < r.n && i < 5; i++) assert_int_equal(test_rows_int(&r, i, "_row_id"), 1000 + (int64_t)i);
    test_rows_free(&r);
  }
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_positions__ids_survive_deletes_and_pruned_row_groups),
      cmocka_unit_test(test_positions__are_a_column_of_their_own),
      cmocka_unit_test(test_positions__position_deletes_hit_their_rows_when_groups_are_pruned),
      cmocka_unit_test(test_positions__ids_go_on_through_all_row_groups),
      cmocka_unit_test(test_positions__split_files_come_in_order),
      cmocka_unit_test(test_positions__a_limit_cuts_the_last_batch),
  };
  return cmocka_run_group_tests_name("positions", tests, NULL, NULL);
}
