/* test_check_replace.c: a replace whose rows keep id and sequence number, and whether their values did too (C8). */
#include "bergline/changes.h"
#include "support/rows.h"
#include "support/table_maker.h"

#define FIELDS                                                                                                         \
  "{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"                                                    \
  "{\"id\":2,\"name\":\"v\",\"required\":false,\"type\":\"double\"}"
#define LINEAGE                                                                                                        \
  ",{\"id\":2147483540,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"}"                                     \
  ",{\"id\":2147483539,\"name\":\"_last_updated_sequence_number\",\"required\":false,\"type\":\"long\"}"

typedef struct world {
  bl_ctx *ctx;
  maker *m;
  bl_table *t;
} world;

/* Two files of two rows, then a replace that puts these rows into one. */
static world replaced_by(const char *rows) {
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 3, "[" FIELDS "]");
  bl_data_file *a = maker_data(w.m, "a.parquet", NULL, "[[1,0.5],[2,null]]", 0);
  bl_data_file *b = maker_data(w.m, "b.parquet", NULL, "[[3,\"NaN\"],[4,0.0]]", 0);
  maker_entry added[] = {maker_added(a), maker_added(b)};
  maker_manifest first = maker_data_manifest(added, 2);
  maker_commit(w.m, 101, "append", &first, 1);
  bl_data_file *c = maker_data(w.m, "c.parquet", "[" FIELDS LINEAGE "]", rows, 0);
  maker_entry then[] = {maker_deleted(a, 1, 0), maker_deleted(b, 1, 2), maker_added(c)};
  maker_manifest second = maker_data_manifest(then, 3);
  maker_commit(w.m, 102, "replace", &second, 1);
  w.t = maker_open(w.m);
  return w;
}

static void dispose(world *w) {
  bl_table_free(w->t);
  maker_free(w->m);
  test_ctx_free(w->ctx);
}

/* How many rows there are, and whether something was found. */
static size_t changes(const world *w, bool net, bool check, bool *found) {
  const bl_changes_options o = {.from = "id:101", .to = "id:102", .net = net, .check_replace = check};
  struct ArrowArrayStream s;
  bl_error err = BL_ERROR_INIT;
  size_t n = 0;
  test_ok(bl_changes(w->t, &o, &s, &err), &err);
  *found = bl_changes_found(&s) == BL_FOUND;
  for (;;) {
    struct ArrowArray batch;
    assert_int_equal(s.get_next(&s, &batch), 0);
    if (!batch.release) break;
    n += (size_t)batch.length;
    batch.release(&batch);
  }
  s.release(&s);
  return n;
}

static void assert_found(const char *rows, bool want) {
  world w = replaced_by(rows);
  for (int net = 0; net < 2; net++) {
    bool found;
    assert_int_equal(changes(&w, net, true, &found), 0);
    assert_int_equal(found, want);
    assert_int_equal(changes(&w, net, false, &found), 0);
    assert_false(found);
  }
  dispose(&w);
}

static void test_check_replace__rows_with_the_same_values_are_right_in_any_order(void **state) {
  (void)state;
  assert_found("[[1,0.5,0,1],[2,null,1,1],[3,\"NaN\",2,1],[4,0.0,3,1]]", false);
  assert_found("[[4,0.0,3,1],[2,null,1,1],[1,0.5,0,1],[3,\"NaN\",2,1]]", false);
}

static void test_check_replace__one_other_value_is_found(void **state) {
  (void)state;
  assert_found("[[1,0.5,0,1],[2,null,1,1],[3,\"NaN\",2,1],[5,0.0,3,1]]", true);
  assert_found("[[1,0.5,0,1],[2,0.0,1,1],[3,\"NaN\",2,1],[4,0.0,3,1]]", true); /* for a null */
  assert_found("[[1,0.5,0,1],[2,null,1,1],[3,null,2,1],[4,0.0,3,1]]", true);
  assert_found("[[1,0.5,0,1],[2,null,1,1],[3,\"NaN\",2,1],[4,-0.0,3,1]]", true); /* bit by bit */
}

static void test_check_replace__values_that_changed_their_rows_are_found(void **state) {
  (void)state;
  assert_found("[[2,null,0,1],[1,0.5,1,1],[3,\"NaN\",2,1],[4,0.0,3,1]]", true);
}

/* A row that is gone or has another id is an event anyway. */
static void test_check_replace__a_row_that_is_gone_is_found_with_its_event(void **state) {
  (void)state;
  world w = replaced_by("[[1,0.5,0,1],[2,null,1,1],[3,\"NaN\",2,1]]");
  bool found;
  assert_int_equal(changes(&w, false, true, &found), 1);
  assert_true(found);
  assert_int_equal(changes(&w, true, true, &found), 1);
  assert_true(found);
  dispose(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check_replace__rows_with_the_same_values_are_right_in_any_order),
      cmocka_unit_test(test_check_replace__one_other_value_is_found),
      cmocka_unit_test(test_check_replace__values_that_changed_their_rows_are_found),
      cmocka_unit_test(test_check_replace__a_row_that_is_gone_is_found_with_its_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
