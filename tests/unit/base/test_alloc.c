/* Blocks and arenas. */
#include "base/alloc.h"
#include "support/support.h"

static void test_alloc__a_new_block_takes_writes_and_is_aligned(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  for (size_t n = 0; n < 200; n++) {
    char *p = bl_alloc(ctx, n, 3);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    memset(p, 'x', n * 3);
    bl_free(ctx, p);
  }
  test_ctx_free(ctx);
}

static void test_alloc__a_cleared_block_is_zero(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  unsigned char *p = bl_calloc(ctx, 100, 7);
  for (int i = 0; i < 700; i++) assert_int_equal(p[i], 0);
  bl_free(ctx, p);
  test_ctx_free(ctx);
}

static void test_alloc__sizes_that_overflow_give_null(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  char *kept = bl_alloc(ctx, 4, 1);
  memcpy(kept, "abc", 4);
  assert_null(bl_alloc(ctx, SIZE_MAX, 2));
  assert_null(bl_alloc(ctx, SIZE_MAX, 1));
  assert_null(bl_alloc(ctx, SIZE_MAX - 8, 1));
  assert_null(bl_alloc(ctx, (size_t)PTRDIFF_MAX, 1));
  assert_null(bl_calloc(ctx, (size_t)1 << 33, (size_t)1 << 33));
  assert_null(bl_resize(ctx, kept, SIZE_MAX / 2 + 1, 2));
  assert_string_equal(kept, "abc");
  bl_free(ctx, kept);
  test_ctx_free(ctx);
}

static void test_alloc__resizing_keeps_the_content(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  int *p = bl_resize(ctx, NULL, 1, sizeof *p);
  p[0] = 0;
  for (int n = 1; n < 100; n++) {
    p = bl_resize(ctx, p, (size_t)n + 1, sizeof *p);
    p[n] = n;
  }
  p = bl_resize(ctx, p, 50, sizeof *p);
  for (int i = 0; i < 50; i++) assert_int_equal(p[i], i);
  bl_free(ctx, p);
  bl_free(ctx, NULL);
  test_ctx_free(ctx);
}

static void test_alloc__printing_makes_a_block_of_any_length(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  char *s = bl_asprintf(ctx, "%d-%s-%0500d", 7, "x", 1);
  assert_int_equal(strlen(s), 504);
  assert_memory_equal(s, "7-x-000", 7);
  char *copy = bl_strdup(ctx, s), *empty = bl_strdup(ctx, "");
  assert_string_equal(copy, s);
  assert_string_equal(empty, "");
  bl_free(ctx, empty);
  bl_free(ctx, copy);
  bl_free(ctx, s);
  test_ctx_free(ctx);
}

static bl_status grow_an_array(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  struct {
    int *items;
    size_t n, cap;
  } v = {0};
  bl_status st = BL_OK;
  for (int i = 0; i < 300; i++) {
    BL_GO(bl_grow(ctx, &v.items, &v.cap, v.n, sizeof *v.items, err));
    v.items[v.n++] = i;
  }
  for (int i = 0; i < 300; i++) assert_int_equal(v.items[i], i);
done:
  bl_free(ctx, v.items);
  return st;
}

static void test_alloc__an_array_grows_or_fails_cleanly(void **state) {
  (void)state;
  test_fail_each(grow_an_array, NULL);
}

static void test_alloc__an_array_refuses_to_grow_past_what_can_be_addressed(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  void *items = NULL;
  size_t cap = SIZE_MAX / 2 + 2;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_NOMEM, bl_grow(ctx, &items, &cap, cap, 16, &err), &err);
  cap = SIZE_MAX - 1;
  err.status = BL_OK;
  test_status(BL_NOMEM, bl_grow(ctx, &items, &cap, cap, 1, &err), &err);
  assert_null(items);
  test_ctx_free(ctx);
}

static void test_alloc__the_allocator_is_told_the_old_size(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx *ctx = test_ctx_on(&heap, NULL);
  int64_t before = heap.bytes;
  void *p = bl_alloc(ctx, 1000, 1);
  assert_true(heap.bytes >= before + 1000);
  p = bl_resize(ctx, p, 10, 1); /* the heap aborts where the sizes do not fit */
  bl_free(ctx, p);
  assert_int_equal(heap.bytes, before);
  test_ctx_free(ctx);
}

static void test_arena__blocks_are_aligned_apart_and_freed_together(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_arena *a;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  assert_ptr_equal(bl_arena_ctx(a), ctx);
  unsigned char *blocks[500];
  for (size_t i = 0; i < BL_LEN(blocks); i++) {
    blocks[i] = bl_arena_alloc(a, i, i % 7);
    assert_int_equal((uintptr_t)blocks[i] % 16, 0);
    memset(blocks[i], (int)i, i * (i % 7));
  }
  for (size_t i = 0; i < BL_LEN(blocks); i++) {
    for (size_t k = 0; k < i * (i % 7); k++) assert_int_equal(blocks[i][k], (unsigned char)i);
    if (i) assert_ptr_not_equal(blocks[i], blocks[i - 1]);
  }
  bl_arena_free(a);
  bl_arena_free(NULL);
  test_ctx_free(ctx);
}

static void test_arena__big_and_impossible_blocks(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_arena *a;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  char *small = bl_arena_alloc(a, 1, 10), *big = bl_arena_alloc(a, 5, 1 << 20), *next = bl_arena_alloc(a, 1, 10);
  memset(big, 1, 5 << 20);
  assert_ptr_equal(next, small + 16); /* the big one did not end the chunk of the small ones */
  assert_true(bl_arena_bytes(a) >= (size_t)5 << 20);
  assert_null(bl_arena_alloc(a, SIZE_MAX, 1));
  assert_null(bl_arena_alloc(a, SIZE_MAX - 15, 1));
  assert_null(bl_arena_alloc(a, SIZE_MAX / 2, 3));
  assert_null(bl_arena_calloc(a, (size_t)PTRDIFF_MAX, 1));
  bl_arena_free(a);
  test_ctx_free(ctx);
}

static void test_arena__strings_are_copied_and_terminated(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_arena *a;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  bl_str s = bl_arena_str(a, (bl_str){"ab\0cd", 5});
  assert_int_equal(s.n, 5);
  assert_memory_equal(s.p, "ab\0cd", 6);
  bl_str none = bl_arena_str(a, BL_STR_NONE);
  assert_non_null(none.p);
  assert_int_equal(none.n, 0);
  assert_null(bl_arena_str(a, (bl_str){"x", SIZE_MAX}).p);
  bl_str t = bl_arena_printf(a, "%s/%d", "x", 12);
  assert_true(bl_str_is(t, "x/12"));
  unsigned char *zero = bl_arena_calloc(a, 10, 10);
  for (int i = 0; i < 100; i++) assert_int_equal(zero[i], 0);
  bl_arena_free(a);
  test_ctx_free(ctx);
}

static bl_status fill_an_arena(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_arena *a = NULL;
  bl_status st = BL_OK;
  BL_GO(bl_arena_new(ctx, &a, err));
  for (int i = 0; i < 2000; i++) {
    bl_str s = i % 2 ? bl_arena_str(a, BL_STR("a short text of some bytes")) : bl_arena_printf(a, "number %d", i);
    if (!s.p || !bl_arena_calloc(a, 10, (size_t)i)) BL_GO(bl_nomem(err));
  }
done:
  bl_arena_free(a);
  return st;
}

static void test_arena__a_failing_allocation_leaves_nothing_behind(void **state) {
  (void)state;
  test_fail_each(fill_an_arena, NULL);
}

static void test_checked_sums__say_when_they_overflow(void **state) {
  (void)state;
  int64_t v;
  assert_true(bl_add64(INT64_MAX - 1, 1, &v));
  assert_true(v == INT64_MAX);
  assert_false(bl_add64(INT64_MAX, 1, &v));
  assert_false(bl_add64(INT64_MIN, -1, &v));
  assert_true(bl_mul64(-(INT64_C(1) << 31), INT64_C(1) << 32, &v));
  assert_true(v == INT64_MIN);
  assert_false(bl_mul64(INT64_C(1) << 31, INT64_C(1) << 32, &v));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alloc__a_new_block_takes_writes_and_is_aligned),
      cmocka_unit_test(test_alloc__a_cleared_block_is_zero),
      cmocka_unit_test(test_alloc__sizes_that_overflow_give_null),
      cmocka_unit_test(test_alloc__resizing_keeps_the_content),
      cmocka_unit_test(test_alloc__printing_makes_a_block_of_any_length),
      cmocka_unit_test(test_alloc__an_array_grows_or_fails_cleanly),
      cmocka_unit_test(test_alloc__an_array_refuses_to_grow_past_what_can_be_addressed),
      cmocka_unit_test(test_alloc__the_allocator_is_told_the_old_size),
      cmocka_unit_test(test_arena__blocks_are_aligned_apart_and_freed_together),
      cmocka_unit_test(test_arena__big_and_impossible_blocks),
      cmocka_unit_test(test_arena__strings_are_copied_and_terminated),
      cmocka_unit_test(test_arena__a_failing_allocation_leaves_nothing_behind),
      cmocka_unit_test(test_checked_sums__say_when_they_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
