/* test_positions.c: positions are those of the file, whatever is filtered, deleted or pruned (docs/lineage.md R4): and
 * with them row ids. */
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

typedef struct world {
  bl_ctx *ctx;
  maker *m;
  bl_table *t;
} world;

static void close_world(world *w) {
  bl_table_free(w->t);
  maker_free(w->m);
  test_ctx_free(w->ctx);
}

/* One file of 3 row groups of 100 rows (k = 0 … 299), ids from 1000; a vector takes 5 and 150. */
static world three_groups(void) {
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 3, fields);
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
    world w = {.ctx = test_ctx()};
    w.m = maker_new(w.ctx, version, fields);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_positions__ids_survive_deletes_and_pruned_row_groups),
      cmocka_unit_test(test_positions__are_a_column_of_their_own),
      cmocka_unit_test(test_positions__position_deletes_hit_their_rows_when_groups_are_pruned),
  };
  return cmocka_run_group_tests_name("positions", tests, NULL, NULL);
}
