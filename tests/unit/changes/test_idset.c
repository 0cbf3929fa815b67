/* test_idset.c: sets of row ids against a plain list. */
#include "changes/idset.h"

#include "random.h"

static void test_idset__holds_each_id_once_in_ascending_order(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  const int64_t ids[] = {5, INT64_MAX, -3, 5, 0, INT64_MIN, 5, INT64_MAX};
  const int64_t want[] = {INT64_MIN, -3, 0, 5, INT64_MAX};
  bl_idset s;
  test_ok(bl_idset_init(&s, ctx, ids, BL_LEN(ids), &err), &err);
  assert_int_equal(bl_idset_count(&s), BL_LEN(want));
  for (size_t i = 0; i < BL_LEN(want); i++) assert_int_equal(bl_idset_at(&s, i), want[i]);
  bl_idset_dispose(&s);
  test_ctx_free(ctx);
}

static void test_idset__may_be_empty(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_idset s;
  test_ok(bl_idset_init(&s, ctx, NULL, 0, &err), &err);
  assert_int_equal(bl_idset_count(&s), 0);
  assert_int_equal(bl_idset_lower(&s, 7), 0);
  assert_false(bl_idset_has(&s, 7));
  bl_idset_dispose(&s);
  bl_idset_dispose(&s); /* a disposed set is an empty one */
  test_ctx_free(ctx);
}

static void test_idset__finds_what_a_list_holds(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  rng r = {7};
  for (int round = 0; round < 200; round++) {
    int64_t ids[64];
    size_t n = (size_t)rng_between(&r, 0, 64);
    for (size_t i = 0; i < n; i++) ids[i] = rng_between(&r, -40, 40);
    bl_idset s;
    test_ok(bl_idset_init(&s, ctx, ids, n, &err), &err);
    for (int64_t x = -42; x <= 42; x++) {
      bool has = false;
      size_t below = 0;
      for (size_t i = 0; i < n; i++) has = has || ids[i] == x;
      for (size_t i = 0; i < bl_idset_count(&s); i++) below += bl_idset_at(&s, i) < x;
      assert_int_equal(bl_idset_has(&s, x), has);
      assert_int_equal(bl_idset_lower(&s, x), below);
    }
    bl_idset_dispose(&s);
  }
  test_ctx_free(ctx);
}

static bl_status make_one(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  const int64_t ids[] = {3, 1, 2};
  bl_idset s;
  BL_TRY(bl_idset_init(&s, ctx, ids, 3, err));
  bl_idset_dispose(&s);
  return BL_OK;
}

static void test_idset__says_when_memory_runs_out(void **state) {
  (void)state;
  test_fail_each(make_one, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_idset__holds_each_id_once_in_ascending_order),
      cmocka_unit_test(test_idset__may_be_empty),
      cmocka_unit_test(test_idset__finds_what_a_list_holds),
      cmocka_unit_test(test_idset__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("idset", tests, NULL, NULL);
}
