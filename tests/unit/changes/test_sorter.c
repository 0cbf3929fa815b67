/* test_sorter.c: sorting with bounded memory against qsort, stable, from memory and from files. */
#include "changes/events.h"

#include "random.h"

typedef struct record {
  int32_t key;
  uint32_t number; /* as added: for stability */
} record;

static int by_key(const void *a, const void *b, void *user) {
  const record *x = a, *y = b;
  assert_int_equal(*(int *)user, 4711);
  return (x->key > y->key) - (x->key < y->key);
}

static int by_key_and_number(const void *a, const void *b) {
  const record *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static int magic = 4711;

static void check_order(bl_sorter *s, const record *want, size_t n) {
  bl_error err = BL_ERROR_INIT;
  const void *got;
  for (size_t i = 0; i < n; i++) {
    test_ok(bl_sorter_next(s, &got, &err), &err);
    assert_non_null(got);
    assert_int_equal(((const record *)got)->key, want[i].key);
    assert_int_equal(((const record *)got)->number, want[i].number);
  }
  for (int i = 0; i < 3; i++) { /* the end stays the end */
    test_ok(bl_sorter_next(s, &got, &err), &err);
    assert_null(got);
  }
}

/* keys: as they are added */
static void sorts(const int32_t *keys, size_t n, int64_t budget) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  record *all = malloc((n + 1) * sizeof *all);
  assert_non_null(all);
  test_ok(bl_sorter_new(ctx, sizeof(record), budget, by_key, &magic, &s, &err), &err);
  for (size_t i = 0; i < n; i++) {
    all[i] = (record){keys[i], (uint32_t)i};
    test_ok(bl_sorter_add(s, &all[i], &err), &err);
  }
  assert_int_equal(bl_sorter_count(s), n);
  test_ok(bl_sorter_finish(s, &err), &err);
  qsort(all, n, sizeof *all, by_key_and_number);
  check_order(s, all, n);
  test_ok(bl_sorter_rewind(s, &err), &err);
  check_order(s, all, n);
  test_ok(bl_sorter_rewind(s, &err), &err); /* and from the middle */
  const void *got;
  for (size_t i = 0; i < n / 2; i++) test_ok(bl_sorter_next(s, &got, &err), &err);
  test_ok(bl_sorter_rewind(s, &err), &err);
  check_order(s, all, n);
  free(all);
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static void test_sorter__sorts_random_keys_at_any_budget(void **state) {
  (void)state;
  rng r = {11};
  int32_t keys[3000];
  for (int round = 0; round < 60; round++) {
    size_t n = (size_t)rng_between(&r, 0, round < 30 ? 100 : 3000);
    int64_t spread = rng_between(&r, 0, 3) ? rng_between(&r, 0, 50) : INT32_MAX;
    for (size_t i = 0; i < n; i++) keys[i] = (int32_t)rng_between(&r, -spread, spread);
    sorts(keys, n, round % 3 ? rng_between(&r, 0, 4000) : 1 << 20);
  }
}

static void sorts_on_threads(int threads, size_t n, int32_t spread) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = threads;
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, &o);
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  rng r = {(uint64_t)threads};
  record *all = malloc((n + 1) * sizeof *all);
  assert_non_null(all);
  test_ok(bl_sorter_new(ctx, sizeof(record), 64 << 20, by_key, &magic, &s, &err), &err);
  for (size_t i = 0; i < n; i++) {
    all[i] = (record){(int32_t)rng_between(&r, -spread, spread), (uint32_t)i};
    test_ok(bl_sorter_add(s, &all[i], &err), &err);
  }
  test_ok(bl_sorter_finish(s, &err), &err);
  qsort(all, n, sizeof *all, by_key_and_number);
  check_order(s, all, n);
  free(all);
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static void test_sorter__many_records_are_sorted_by_several_threads_and_equal_ones_stay_in_order(void **state) {
  (void)state;
  for (int threads = 1; threads <= 5; threads += 2) {
    sorts_on_threads(threads, 150000, INT32_MAX);
    sorts_on_threads(threads, 100001, 3);
  }
}

static void test_sorter__takes_sorted_and_reversed_input(void **state) {
  (void)state;
  int32_t up[1000], down[1000], saw[1000];
  for (int i = 0; i < 1000; i++) {
    up[i] = i / 3;
    down[i] = -i / 3;
    saw[i] = i % 100;
  }
  const int64_t budgets[] = {0, 1000, 1 << 20};
  for (size_t b = 0; b < BL_LEN(budgets); b++) {
    sorts(up, 1000, budgets[b]);
    sorts(down, 1000, budgets[b]);
    sorts(saw, 1000, budgets[b]);
  }
}

static void test_sorter__keeps_to_its_budget(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, NULL);
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  rng r = {5};
  int64_t before = h.bytes, budget = 256 * 1024;
  h.peak_bytes = 0;
  test_ok(bl_sorter_new(ctx, sizeof(record), budget, by_key, &magic, &s, &err), &err);
  for (int i = 0; i < 300000; i++) {
    record x = {(int32_t)rng_next(&r), 0};
    test_ok(bl_sorter_add(s, &x, &err), &err);
  }
  test_ok(bl_sorter_finish(s, &err), &err);
  int64_t n = 0;
  int32_t last = INT32_MIN;
  for (const void *x;; n++) {
    test_ok(bl_sorter_next(s, &x, &err), &err);
    if (!x) break;
    assert_true(((const record *)x)->key >= last);
    last = ((const record *)x)->key;
  }
  assert_int_equal(n, 300000);
  /* sorting takes twice the chunk; the test's heap moves a block at every growth: both sizes are there for a moment */
  assert_true(h.peak_bytes - before < 3 * budget);
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static void test_sorter__makes_room_at_once_but_no_more_than_its_budget(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, NULL);
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  test_ok(bl_sorter_new(ctx, sizeof(record), 64 * 1024, by_key, &magic, &s, &err), &err);
  int64_t before = h.bytes;
  test_ok(bl_sorter_reserve(s, 1000, &err), &err);
  int64_t reserved = h.bytes;
  assert_true(reserved - before >= 1000 * (int64_t)sizeof(record));
  test_ok(bl_sorter_reserve(s, 10, &err), &err);
  for (int i = 0; i < 1000; i++) {
    record x = {i, 0};
    test_ok(bl_sorter_add(s, &x, &err), &err);
  }
  assert_int_equal(h.bytes, reserved);
  test_ok(bl_sorter_reserve(s, INT64_MAX, &err), &err);
  assert_true(h.bytes - before <= 64 * 1024 + 4096);
  test_ok(bl_sorter_finish(s, &err), &err);
  assert_int_equal(bl_sorter_count(s), 1000);
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static void test_sorter__names_a_temporary_folder_that_is_not_there(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = ctx_without_temp(&h);
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  bl_status st = BL_OK;
  test_ok(bl_sorter_new(ctx, sizeof(record), 0, by_key, &magic, &s, &err), &err);
  for (int i = 0; st == BL_OK && i < 1000; i++) {
    record x = {-i, 0};
    st = bl_sorter_add(s, &x, &err);
  }
  test_status(BL_IO, st, &err);
  test_says(&err, "/nonexistent/folder/of/bergline");
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static void test_sorter__may_be_freed_at_any_time(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  record x = {1, 2};
  bl_sorter_free(NULL);
  test_ok(bl_sorter_new(ctx, sizeof(record), 0, by_key, &magic, &s, &err), &err);
  bl_sorter_free(s);
  test_ok(bl_sorter_new(ctx, sizeof(record), 0, by_key, &magic, &s, &err), &err);
  for (int i = 0; i < 100; i++) test_ok(bl_sorter_add(s, &x, &err), &err);
  bl_sorter_free(s);
  test_ctx_free(ctx);
}

static bl_status sort_some(bl_ctx *ctx, void *user, bl_error *err) {
  const int64_t *budget = user;
  bl_sorter *s;
  BL_TRY(bl_sorter_new(ctx, sizeof(record), *budget, by_key, &magic, &s, err));
  bl_status st = BL_OK;
  rng r = {1};
  for (int i = 0; st == BL_OK && i < 100; i++) {
    record x = {(int32_t)rng_between(&r, 0, 50), 0};
    st = bl_sorter_add(s, &x, err);
  }
  if (st == BL_OK) st = bl_sorter_finish(s, err);
  if (st == BL_OK) st = bl_sorter_rewind(s, err);
  const void *got = s;
  while (st == BL_OK && got) st = bl_sorter_next(s, &got, err);
  bl_sorter_free(s);
  return st;
}

static void test_sorter__says_when_memory_runs_out(void **state) {
  (void)state;
  int64_t budgets[] = {0, 1 << 20};
  for (size_t i = 0; i < BL_LEN(budgets); i++) test_fail_each(sort_some, &budgets[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sorter__sorts_random_keys_at_any_budget),
      cmocka_unit_test(test_sorter__many_records_are_sorted_by_several_threads_and_equal_ones_stay_in_order),
      cmocka_unit_test(test_sorter__takes_sorted_and_reversed_input),
      cmocka_unit_test(test_sorter__keeps_to_its_budget),
      cmocka_unit_test(test_sorter__makes_room_at_once_but_no_more_than_its_budget),
      cmocka_unit_test(test_sorter__names_a_temporary_folder_that_is_not_there),
      cmocka_unit_test(test_sorter__may_be_freed_at_any_time),
      cmocka_unit_test(test_sorter__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("sorter", tests, NULL, NULL);
}
