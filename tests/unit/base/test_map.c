/* Hash maps against arrays. */
#include "base/map.h"
#include "support/support.h"

enum { MANY = 20000 };

static void test_map__holds_what_was_put(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_arena *a;
  bl_map *m;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  test_ok(bl_map_new(ctx, &m, &err), &err);
  assert_null(bl_map_get(m, BL_STR("key 0")));
  for (size_t i = 0; i < MANY; i++) {
    bool added = false;
    size_t *v = bl_map_put(m, bl_arena_printf(a, "key %zu", i), i, &added);
    assert_true(added);
    assert_int_equal(*v, i);
    assert_int_equal(bl_map_count(m), i + 1);
  }
  for (size_t i = 0; i < MANY; i++) {
    bl_str key = bl_arena_printf(a, "key %zu", i);
    bool added = true;
    assert_int_equal(*bl_map_get(m, key), i);
    *bl_map_put(m, key, 0, &added) += 1;
    assert_false(added);
    assert_int_equal(*bl_map_get(m, key), i + 1);
    assert_null(bl_map_get(m, bl_arena_printf(a, "yek %zu", i)));
  }
  assert_int_equal(bl_map_count(m), MANY);
  bl_map_free(m);
  bl_map_free(NULL);
  bl_arena_free(a);
  test_ctx_free(ctx);
}

static void test_map__keys_are_bytes(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_map *m;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_map_new(ctx, &m, &err), &err);
  const bl_str keys[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"a\0c", 3}};
  for (size_t i = 0; i < BL_LEN(keys); i++) assert_non_null(bl_map_put(m, keys[i], i, NULL));
  for (size_t i = 0; i < BL_LEN(keys); i++) assert_int_equal(*bl_map_get(m, keys[i]), i);
  assert_int_equal(*bl_map_get(m, BL_STR_NONE), 0); /* absent and empty are the same key */
  assert_int_equal(bl_map_count(m), BL_LEN(keys));
  bl_map_free(m);
  test_ctx_free(ctx);
}

static int64_t nth_key(size_t i) {
  switch (i % 4) {
  case 0: return (int64_t)i;
  case 1: return -(int64_t)i;
  case 2: return INT64_MAX - (int64_t)i;
  default: return (int64_t)((uint64_t)i << 40);
  }
}

static void test_imap__holds_what_was_put(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_imap *m;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_imap_new(ctx, &m, &err), &err);
  assert_null(bl_imap_get(m, 0));
  for (size_t i = 0; i < MANY; i++) {
    bool added = false;
    assert_int_equal(*bl_imap_put(m, nth_key(i), i, &added), i);
    assert_true(added);
  }
  for (size_t i = 0; i < MANY; i++) {
    bool added = true;
    assert_int_equal(*bl_imap_get(m, nth_key(i)), i);
    assert_int_equal(*bl_imap_put(m, nth_key(i), 7, &added), i);
    assert_false(added);
  }
  assert_null(bl_imap_get(m, INT64_MIN));
  assert_int_equal(bl_imap_count(m), MANY);
  bl_imap_free(m);
  bl_imap_free(NULL);
  test_ctx_free(ctx);
}

static bl_status fill_maps(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  static const char text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
  bl_map *m = NULL;
  bl_imap *im = NULL;
  bl_status st = BL_OK;
  BL_GO(bl_map_new(ctx, &m, err));
  BL_GO(bl_imap_new(ctx, &im, err));
  for (size_t i = 0; i < 50; i++) {
    if (!bl_map_put(m, (bl_str){text, i}, i, NULL)) BL_GO(bl_nomem(err));
    if (!bl_imap_put(im, (int64_t)i, i, NULL)) BL_GO(bl_nomem(err));
  }
  for (size_t i = 0; i < 50; i++) {
    assert_int_equal(*bl_map_get(m, (bl_str){text, i}), i);
    assert_int_equal(*bl_imap_get(im, (int64_t)i), i);
  }
done:
  /* What went in before memory ran out is still there. */
  for (size_t i = 0; m && i < bl_map_count(m); i++) assert_int_equal(*bl_map_get(m, (bl_str){text, i}), i);
  for (size_t i = 0; im && i < bl_imap_count(im); i++) assert_int_equal(*bl_imap_get(im, (int64_t)i), i);
  bl_map_free(m);
  bl_imap_free(im);
  return st;
}

static void test_map__a_put_that_finds_no_memory_changes_nothing(void **state) {
  (void)state;
  test_fail_each(fill_maps, NULL);
}

static void test_hash__is_xxh3(void **state) {
  (void)state;
  assert_true(bl_hash("", 0) == UINT64_C(0x2d06800538d394c2));
  assert_true(bl_hash("a", 1) == UINT64_C(0xe6c632b61e964e1f));
  assert_true(bl_hash("abc", 3) == UINT64_C(0x78af5f94892f3950));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_map__holds_what_was_put),
      cmocka_unit_test(test_map__keys_are_bytes),
      cmocka_unit_test(test_imap__holds_what_was_put),
      cmocka_unit_test(test_map__a_put_that_finds_no_memory_changes_nothing),
      cmocka_unit_test(test_hash__is_xxh3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
