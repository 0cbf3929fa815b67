/* test_exec.c: the stream of a scan: order, ends, stops. */
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

/* 8 files of 50 rows in 5 row groups, k from 100 * file. */
static world many_files(void) {
  world w = new_world(3, fields);
  bl_data_file *f[8];
  for (int i = 0; i < 8; i++) {
    char name[20];
    snprintf(name, sizeof name, "f%d.parquet", i);
    f[i] = numbered_file(w.m, name, 100 * i, 50, 10);
  }
  commit_files(&w, 1, f, 8, NULL, 0);
  return w;
}

static void test_exec__rows_come_in_list_order_whatever_the_threads_do(void **state) {
  (void)state;
  world w = many_files();
  for (int round = 0; round < 20; round++) {
    test_rows r = scan_rows(w.ctx, w.t, &(bl_scan_options){.lineage = true}, NULL, NULL);
    assert_int_equal(r.n, 400);
    for (size_t i = 0; i < r.n; i++) assert_int_equal(test_rows_int(&r, i, "_row_id"), i);
    test_rows_free(&r);
  }
  close_world(&w);
}

static void test_exec__unordered_rows_are_the_same_rows(void **state) {
  (void)state;
  world w = many_files();
  test_rows a = scan_rows(w.ctx, w.t, &(bl_scan_options){.lineage = true}, NULL, NULL),
            b = scan_rows(w.ctx, w.t, &(bl_scan_options){.lineage = true, .unordered = true}, NULL, NULL);
  test_rows_same(&a, &b, "unordered");
  test_rows_free(&a);
  test_rows_free(&b);
  close_world(&w);
}

static void test_exec__a_stream_may_be_released_at_any_time(void **state) {
  (void)state;
  for (int taken = 0; taken < 6; taken++) {
    world w = many_files();
    bl_error err = BL_ERROR_INIT;
    struct ArrowArrayStream s;
    test_ok(bl_scan(w.t, &(bl_scan_options){.where = "k >= 0"}, &s, &err), &err);
    for (int i = 0; i < taken; i++) {
      struct ArrowArray a;
      assert_int_equal(s.get_next(&s, &a), 0);
      assert_non_null(a.release);
      a.release(&a);
    }
    s.release(&s);
    close_world(&w);
  }
}

static void test_exec__batches_outlive_their_stream(void **state) {
  (void)state;
  world w = many_files();
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  struct ArrowArray a, b;
  test_ok(bl_scan(w.t, &(bl_scan_options){.lineage = true}, &s, &err), &err);
  assert_int_equal(s.get_next(&s, &a), 0);
  assert_int_equal(s.get_next(&s, &b), 0);
  s.release(&s);
  assert_int_equal(((const int64_t *)a.children[0]->buffers[1])[a.children[0]->offset], 0);
  assert_int_equal(((const int64_t *)b.children[2]->buffers[1])[b.children[2]->offset], a.length);
  a.release(&a);
  b.release(&b);
  close_world(&w);
}

static void test_exec__a_file_that_breaks_off_fails_behind_the_rows_before_it(void **state) {
  (void)state;
  world w = many_files();
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  struct ArrowArray a;
  int64_t rows = 0;
  int code;
  maker_put(w.m, "f5.parquet", "PAR1 this is none", 17);
  test_ok(bl_scan(w.t, NULL, &s, &err), &err);
  while ((code = s.get_next(&s, &a)) == 0) {
    assert_non_null(a.release);
    rows += a.length;
    a.release(&a);
  }
  assert_int_equal(rows, 250); /* ordered: all of the files before */
  assert_int_equal(bl_status_of_errno(code), BL_DAMAGED);
  assert_non_null(strstr(s.get_last_error(&s), "f5.parquet"));
  assert_int_equal(s.get_next(&s, &a), code);
  s.release(&s);
  close_world(&w);
}

static void test_exec__limits_stop_early(void **state) {
  (void)state;
  world w = many_files();
  maker_put(w.m, "f7.parquet", "PAR1 this is none", 17); /* is never reached */
  for (int64_t limit = 0; limit <= 100; limit += 25) {
    test_rows r = scan_rows(w.ctx, w.t, &(bl_scan_options){.has_limit = true, .limit = limit}, NULL, NULL);
    assert_int_equal(r.n, limit);
    test_rows_free(&r);
  }
  test_rows r = scan_rows(w.ctx, w.t, &(bl_scan_options){.has_limit = true, .limit = -5}, NULL, NULL);
  assert_int_equal(r.n, 0);
  test_rows_free(&r);
  close_world(&w);
}

static int stop_at_once(void *user, const char *what, int64_t done, int64_t total) {
  (void)what, (void)total;
  return done >= *(int64_t *)user;
}

static void test_exec__progress_can_stop_a_scan(void **state) {
  (void)state;
  world w = many_files();
  int64_t at = 3;
  w.ctx->o.progress = stop_at_once;
  w.ctx->o.user = &at;
  bl_error err = BL_ERROR_INIT;
  bl_status st;
  test_rows r = scan_rows(w.ctx, w.t, NULL, &st, &err);
  test_status(BL_CANCELLED, st, &err);
  test_rows_free(&r);
  w.ctx->o.progress = NULL;
  close_world(&w);
}

static void test_exec__require_lineage_names_the_first_file_without(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a.parquet", 0, 3, 0), *b = numbered_file(w.m, "b.parquet", 5, 3, 0);
  maker_entry ea[] = {maker_added(a)}, eb[] = {maker_added(b)};
  maker_manifest ms[] = {maker_data_manifest(ea, 1), maker_data_manifest(eb, 1)};
  ms[1].has_first_row_id = true;
  ms[1].first_row_id = BL_NONE;
  commit(&w, 1, ms, 2);
  expect_status(&w, &(bl_scan_options){.require_lineage = true}, BL_FOUND, "b.parquet");
  expect_status(&w, &(bl_scan_options){.require_lineage = true, .where = "k < 3"}, BL_OK, NULL); /* none of its rows */
  close_world(&w);
}

static void test_exec__the_schema_is_there_before_the_first_batch(void **state) {
  (void)state;
  world w = many_files();
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  struct ArrowSchema schema;
  const char *columns[] = {"s", "_row_id", "k"};
  test_ok(bl_scan(w.t, &(bl_scan_options){.columns = columns, .n_columns = 3}, &s, &err), &err);
  assert_int_equal(s.get_schema(&s, &schema), 0);
  assert_int_equal(schema.n_children, 3);
  assert_string_equal(schema.children[0]->name, "s");
  assert_string_equal(schema.children[1]->format, "l");
  schema.release(&schema);
  s.release(&s);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exec__rows_come_in_list_order_whatever_the_threads_do),
      cmocka_unit_test(test_exec__unordered_rows_are_the_same_rows),
      cmocka_unit_test(test_exec__a_stream_may_be_released_at_any_time),
      cmocka_unit_test(test_exec__batches_outlive_their_stream),
      cmocka_unit_test(test_exec__a_file_that_breaks_off_fails_behind_the_rows_before_it),
      cmocka_unit_test(test_exec__limits_stop_early),
      cmocka_unit_test(test_exec__progress_can_stop_a_scan),
      cmocka_unit_test(test_exec__require_lineage_names_the_first_file_without),
      cmocka_unit_test(test_exec__the_schema_is_there_before_the_first_batch),
  };
  return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
