/* Threads: whatever the schedule, the results and the failures are the same. */
#include <pthread.h>

#include "base/pool.h"
#include "support/support.h"

static bl_ctx *ctx_with(test_heap *h, int threads) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = threads;
  return test_ctx_on(h, &o);
}

/* ---- bl_parallel ---- */

typedef struct sums {
  int64_t sum;
  size_t calls, fail_from; /* items from here on fail */
} sums;

static bl_status add_item(void *user, size_t i, bl_error *err) {
  sums *s = user;
  __atomic_add_fetch(&s->sum, (int64_t)i, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&s->calls, 1, __ATOMIC_SEQ_CST);
  return i >= s->fail_from ? bl_fail_at(err, BL_DAMAGED, (int64_t)i, "item %zu", i) : BL_OK;
}

static void test_parallel__every_item_runs_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= 8; threads++)
    for (size_t n = 0; n < 2000; n = n * 3 + 1) {
      test_heap heap = {0};
      bl_ctx *ctx = ctx_with(&heap, threads);
      sums s = {.fail_from = SIZE_MAX};
      bl_error err = BL_ERROR_INIT;
      test_ok(bl_parallel(ctx, n, add_item, &s, &err), &err);
      assert_int_equal(s.calls, n);
      assert_int_equal(s.sum, n ? n * (n - 1) / 2 : 0);
      test_ctx_free(ctx);
    }
}

static void test_parallel__the_lowest_failing_item_is_reported(void **state) {
  (void)state;
  for (int threads = 1; threads <= 8; threads++) {
    test_heap heap = {0};
    bl_ctx *ctx = ctx_with(&heap, threads);
    sums s = {.fail_from = 37};
    bl_error err = BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_parallel(ctx, 100000, add_item, &s, &err), &err);
    assert_string_equal(err.message, "item 37");
    assert_int_equal(err.position, 37);
    assert_in_range(s.calls, 38, 38 + 8); /* the others were not begun */
    test_status(BL_DAMAGED, bl_parallel(ctx, 100, add_item, &s, NULL), NULL);
    test_ctx_free(ctx);
  }
}

static bl_status fail_silently(void *user, size_t i, bl_error *err) {
  (void)user;
  (void)err;
  return i == 3 ? BL_IO : BL_OK;
}

static void test_parallel__a_failure_without_words_gets_some(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  test_status(BL_IO, bl_parallel(ctx, 10, fail_silently, NULL, &err), &err);
  test_ctx_free(ctx);
}

static bl_status parallel_op(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  sums s = {.fail_from = SIZE_MAX};
  bl_status st = bl_parallel(ctx, 10, add_item, &s, err);
  assert_int_equal(s.calls, st == BL_OK ? 10 : 0);
  return st;
}

static void test_parallel__a_failing_allocation_is_reported(void **state) {
  (void)state;
  test_fail_each(parallel_op, NULL);
}

/* ---- bl_ordered ---- */

typedef struct job {
  size_t fail_item; /* fails after its results */
  long made, dropped, taken, running, most_running;
  size_t highest_begun;
} job;

static size_t results_of(size_t item) {
  return item * 7 % 5; /* 0 to 4 */
}

static void begun(job *j, size_t item) {
  long now = __atomic_add_fetch(&j->running, 1, __ATOMIC_SEQ_CST);
  long most = __atomic_load_n(&j->most_running, __ATOMIC_SEQ_CST);
  while (now > most &&
         !__atomic_compare_exchange_n(&j->most_running, &most, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  size_t highest = __atomic_load_n(&j->highest_begun, __ATOMIC_SEQ_CST);
  while (item > highest &&
         !__atomic_compare_exchange_n(&j->highest_begun, &highest, item, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
}

static bl_status emit_items(void *user, size_t item, bl_ordered_slot *slot, bl_error *err) {
  job *j = user;
  begun(j, item);
  bl_status st = BL_OK;
  for (size_t k = 0; st == BL_OK && k < results_of(item); k++) {
    size_t *result = malloc(sizeof *result);
    *result = item * 10 + k;
    __atomic_add_fetch(&j->made, 1, __ATOMIC_SEQ_CST);
    st = bl_ordered_emit(slot, result);
    if (st != BL_OK) {
      assert_int_equal(st, BL_CANCELLED);
      free(result);
      __atomic_add_fetch(&j->dropped, 1, __ATOMIC_SEQ_CST);
    }
  }
  __atomic_sub_fetch(&j->running, 1, __ATOMIC_SEQ_CST);
  if (st == BL_OK && item >= j->fail_item) return bl_fail(err, BL_DAMAGED, "item %zu", item);
  return st;
}

static void drop_result(void *user, void *result) {
  __atomic_add_fetch(&((job *)user)->dropped, 1, __ATOMIC_SEQ_CST);
  free(result);
}

/* Takes everything; in order where `ordered`. Returns the last status. */
static bl_status take_all(bl_ordered *o, job *j, bool ordered, bl_error *err) {
  size_t item = 0, k = 0;
  for (;;) {
    void *r;
    bl_status st = bl_ordered_next(o, &r, err);
    if (st != BL_OK || !r) return st;
    if (ordered) {
      while (k == results_of(item)) {
        item++;
        k = 0;
      }
      assert_int_equal(*(size_t *)r, item * 10 + k++);
    }
    j->taken++;
    free(r);
  }
}

static void test_ordered__results_come_in_the_order_of_items(void **state) {
  (void)state;
  for (int threads = 1; threads <= 8; threads += 3)
    for (size_t window = 1; window < 12; window += 5)
      for (size_t depth = 1; depth < 4; depth++) {
        test_heap heap = {0};
        bl_ctx *ctx = ctx_with(&heap, threads);
        job j = {.fail_item = SIZE_MAX};
        bl_ordered *o;
        bl_error err = BL_ERROR_INIT;
        test_ok(bl_ordered_new(ctx, 300, 0, window, depth, false, emit_items, drop_result, &j, &o, &err), &err);
        test_ok(take_all(o, &j, true, &err), &err);
        test_ok(take_all(o, &j, true, &err), &err); /* the end is the end */
        assert_int_equal(j.taken, 600);
        assert_true(j.most_running <= (long)window && j.most_running <= threads);
        bl_ordered_free(o);
        assert_int_equal(j.dropped, 0);
        test_ctx_free(ctx);
      }
}

static void test_ordered__unordered_gives_the_same_results(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx *ctx = ctx_with(&heap, 4);
  job j = {.fail_item = SIZE_MAX};
  bl_ordered *o;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ordered_new(ctx, 300, 3, 7, 2, true, emit_items, drop_result, &j, &o, &err), &err);
  test_ok(take_all(o, &j, false, &err), &err);
  assert_int_equal(j.taken, 600);
  bl_ordered_free(o);
  test_ctx_free(ctx);
}

static void test_ordered__no_item_and_a_window_of_nothing(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  job j = {.fail_item = SIZE_MAX};
  bl_ordered *o;
  void *r = &j;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ordered_new(ctx, 0, 0, 0, 0, false, emit_items, drop_result, &j, &o, &err), &err);
  test_ok(bl_ordered_next(o, &r, &err), &err);
  assert_null(r);
  bl_ordered_free(o);
  test_ok(bl_ordered_new(ctx, 20, 0, 0, 0, false, emit_items, drop_result, &j, &o, &err), &err);
  test_ok(take_all(o, &j, true, &err), &err);
  assert_int_equal(j.taken, 40);
  bl_ordered_free(o);
  bl_ordered_free(NULL);
  test_ctx_free(ctx);
}

static void test_ordered__a_failure_comes_after_all_results_before_it(void **state) {
  (void)state;
  long expected = 0;
  for (size_t i = 0; i <= 41; i++) expected += (long)results_of(i);
  for (int threads = 1; threads <= 8; threads++) {
    test_heap heap = {0};
    bl_ctx *ctx = ctx_with(&heap, threads);
    job j = {.fail_item = 41};
    bl_ordered *o;
    bl_error err = BL_ERROR_INIT;
    test_ok(bl_ordered_new(ctx, 100000, 0, 10, 2, false, emit_items, drop_result, &j, &o, &err), &err);
    test_status(BL_DAMAGED, take_all(o, &j, true, &err), &err);
    assert_string_equal(err.message, "item 41");
    assert_int_equal(j.taken, expected);
    bl_error again = BL_ERROR_INIT;
    void *r;
    test_status(BL_DAMAGED, bl_ordered_next(o, &r, &again), &again);
    assert_string_equal(again.message, "item 41");
    assert_null(r);
    bl_ordered_free(o);
    assert_in_range(j.highest_begun, 41, 41 + 10);
    assert_int_equal(j.made, j.taken + j.dropped);
    test_ctx_free(ctx);
  }
}

static void test_ordered__unordered_fails_and_drops_the_rest(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx *ctx = ctx_with(&heap, 4);
  job j = {.fail_item = 41};
  bl_ordered *o;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ordered_new(ctx, 100000, 0, 10, 2, true, emit_items, drop_result, &j, &o, &err), &err);
  test_status(BL_DAMAGED, take_all(o, &j, false, &err), &err);
  bl_ordered_free(o);
  assert_int_equal(j.made, j.taken + j.dropped);
  test_ctx_free(ctx);
}

static void test_ordered__a_consumer_that_leaves_stops_the_workers(void **state) {
  (void)state;
  for (int take = 0; take < 12; take++) {
    test_heap heap = {0};
    bl_ctx *ctx = ctx_with(&heap, 1 + take % 5);
    job j = {.fail_item = SIZE_MAX};
    bl_ordered *o;
    bl_error err = BL_ERROR_INIT;
    test_ok(bl_ordered_new(ctx, 100000, 0, 6, 2, take % 2, emit_items, drop_result, &j, &o, &err), &err);
    for (int i = 0; i < take; i++) {
      void *r;
      test_ok(bl_ordered_next(o, &r, &err), &err);
      free(r);
      j.taken++;
    }
    bl_ordered_free(o);
    assert_int_equal(j.made, j.taken + j.dropped);
    assert_true(j.highest_begun < 40);
    test_ctx_free(ctx);
  }
}

static void test_ordered__results_in_flight_are_bounded(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx *ctx = ctx_with(&heap, 8);
  job j = {.fail_item = SIZE_MAX};
  bl_ordered *o;
  bl_error err = BL_ERROR_INIT;
  enum { WINDOW = 5, DEPTH = 2 };
  test_ok(bl_ordered_new(ctx, 2000, 0, WINDOW, DEPTH, false, emit_items, drop_result, &j, &o, &err), &err);
  for (;;) {
    void *r;
    test_ok(bl_ordered_next(o, &r, &err), &err);
    if (!r) break;
    free(r);
    j.taken++;
    /* What waits in the rings, and one more in the hand of each worker. */
    assert_true(__atomic_load_n(&j.made, __ATOMIC_SEQ_CST) - j.taken <= WINDOW * (DEPTH + 1));
  }
  bl_ordered_free(o);
  test_ctx_free(ctx);
}

static bl_status ordered_op(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  job j = {.fail_item = SIZE_MAX};
  bl_ordered *o = NULL;
  bl_status st = bl_ordered_new(ctx, 20, 0, 4, 2, false, emit_items, drop_result, &j, &o, err);
  if (st == BL_OK) {
    st = take_all(o, &j, true, err);
    assert_int_equal(j.taken, 40);
  }
  bl_ordered_free(o);
  return st;
}

static void test_ordered__a_failing_allocation_is_reported(void **state) {
  (void)state;
  test_fail_each(ordered_op, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parallel__every_item_runs_once),
      cmocka_unit_test(test_parallel__the_lowest_failing_item_is_reported),
      cmocka_unit_test(test_parallel__a_failure_without_words_gets_some),
      cmocka_unit_test(test_parallel__a_failing_allocation_is_reported),
      cmocka_unit_test(test_ordered__results_come_in_the_order_of_items),
      cmocka_unit_test(test_ordered__unordered_gives_the_same_results),
      cmocka_unit_test(test_ordered__no_item_and_a_window_of_nothing),
      cmocka_unit_test(test_ordered__a_failure_comes_after_all_results_before_it),
      cmocka_unit_test(test_ordered__unordered_fails_and_drops_the_rest),
      cmocka_unit_test(test_ordered__a_consumer_that_leaves_stops_the_workers),
      cmocka_unit_test(test_ordered__results_in_flight_are_bounded),
      cmocka_unit_test(test_ordered__a_failing_allocation_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
