/* test_arrow_share.c: parts of shared arrays. */
#include "rows/arrow_share.h"

#include "rows/arrow_build.h"
#include "rows/arrow_view.h"
#include "support/support.h"

/* A struct of k (long) and st (struct of a and b); row i has k = i, a = 10 i, b null in odd rows. */
static void make(bl_ctx *ctx, int64_t rows, struct ArrowSchema *schema, struct ArrowArray *out) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *b;
  test_ok(bl_aschema_new(ctx, "+s", BL_STR(""), false, 2, schema, &err), &err);
  test_ok(bl_aschema_new(ctx, "l", BL_STR("k"), true, 0, schema->children[0], &err), &err);
  test_ok(bl_aschema_new(ctx, "+s", BL_STR("st"), true, 2, schema->children[1], &err), &err);
  test_ok(bl_aschema_new(ctx, "l", BL_STR("a"), true, 0, schema->children[1]->children[0], &err), &err);
  test_ok(bl_aschema_new(ctx, "l", BL_STR("b"), true, 0, schema->children[1]->children[1], &err), &err);
  test_ok(bl_builder_new(ctx, schema, &b, &err), &err);
  for (int64_t i = 0; i < rows; i++) {
    bl_builder *st = bl_builder_child(b, 1);
    test_ok(bl_builder_int(bl_builder_child(b, 0), i, &err), &err);
    test_ok(bl_builder_int(bl_builder_child(st, 0), 10 * i, &err), &err);
    if (i % 2) test_ok(bl_builder_null(bl_builder_child(st, 1), &err), &err);
    else test_ok(bl_builder_int(bl_builder_child(st, 1), i, &err), &err);
    test_ok(bl_builder_close(st, &err), &err);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, out, &err), &err);
  bl_builder_free(b);
}

static void test_arrow_share__a_part_has_its_rows_and_outlives_the_whole(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray whole, part, again;
  bl_shared *s, *t;
  bl_view *v;
  make(ctx, 10, &schema, &whole);
  test_ok(bl_shared_new(ctx, &whole, &s, &err), &err);
  assert_null(whole.release);
  test_ok(bl_shared_part(s, 3, 4, NULL, &part, &err), &err);
  bl_shared_unref(s);
  assert_int_equal(part.length, 4);
  assert_int_equal(part.offset, 0);
  test_ok(bl_view_new(ctx, &schema, &v, &err), &err);
  test_ok(bl_view_set(v, &part, &err), &err);
  for (int64_t i = 0; i < 4; i++) {
    assert_int_equal(bl_view_i64(&v->children[0], i), 3 + i);
    assert_int_equal(bl_view_i64(&v->children[1].children[0], i), 10 * (3 + i));
    assert_int_equal(bl_view_null(&v->children[1].children[1], i), (3 + i) % 2);
  }
  /* a part of a part, and a child that moves out */
  test_ok(bl_shared_new(ctx, &part, &t, &err), &err);
  test_ok(bl_shared_part(bl_shared_ref(t), 1, 2, NULL, &again, &err), &err);
  bl_shared_unref(t);
  bl_shared_unref(t);
  struct ArrowArray child;
  bl_array_move(again.children[0], &child);
  bl_array_release(&again);
  assert_int_equal(((const int64_t *)child.buffers[1])[child.offset], 4);
  assert_int_equal(child.length, 2);
  bl_array_release(&child);
  bl_view_free(v);
  bl_aschema_release(&schema);
  test_ctx_free(ctx);
}

static void test_arrow_share__a_part_has_the_columns_that_were_picked(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray whole, part;
  bl_shared *s;
  static const int64_t b_only[] = {1}, reversed[] = {1, 0};
  static const bl_pick inner = {.children = b_only, .n = 1};
  const bl_pick *below[] = {&inner, NULL};
  bl_pick pick = {.children = reversed, .n = 2, .below = below};
  make(ctx, 5, &schema, &whole);
  test_ok(bl_shared_new(ctx, &whole, &s, &err), &err);
  test_ok(bl_shared_part(s, 2, 3, &pick, &part, &err), &err);
  bl_shared_unref(s);
  assert_int_equal(part.n_children, 2);
  assert_int_equal(part.children[0]->n_children, 1); /* st, with b alone */
  const struct ArrowArray *b = part.children[0]->children[0], *k = part.children[1];
  assert_int_equal(((const int64_t *)b->buffers[1])[part.children[0]->offset + b->offset], 2);
  assert_int_equal(((const int64_t *)k->buffers[1])[k->offset], 2);
  bl_array_release(&part);
  bl_aschema_release(&schema);
  test_ctx_free(ctx);
}

static void test_arrow_share__a_part_has_the_whole_dictionary(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray whole, part, words, child;
  bl_shared *s;
  make(ctx, 5, &schema, &whole);
  test_ok(bl_array_longs(ctx, (const int64_t[]){70, 71, 72}, NULL, 3, &words, &err), &err);
  whole.children[0]->dictionary = &words;
  test_ok(bl_shared_new(ctx, &whole, &s, &err), &err);
  test_ok(bl_shared_part(s, 1, 2, NULL, &part, &err), &err);
  bl_shared_unref(s);
  bl_array_move(part.children[0], &child);
  bl_array_release(&part);
  assert_non_null(child.dictionary);
  assert_int_equal(child.dictionary->length, 3);
  assert_int_equal(((const int64_t *)child.dictionary->buffers[1])[2], 72);
  bl_array_release(&child);
  bl_array_release(&words); /* the test's own */
  bl_aschema_release(&schema);
  test_ctx_free(ctx);
}

static bl_status part_of(bl_ctx *ctx, void *user, bl_error *err) {
  struct ArrowArray whole, part;
  bl_shared *s;
  (void)user;
  BL_TRY(bl_array_longs(ctx, (const int64_t[]){1, 2}, NULL, 2, &whole, err));
  BL_TRY(bl_shared_new(ctx, &whole, &s, err));
  bl_status st = bl_shared_part(s, 0, 1, NULL, &part, err);
  bl_shared_unref(s);
  if (st == BL_OK) bl_array_release(&part);
  return st;
}

static void test_arrow_share__fails_cleanly_without_memory(void **state) {
  (void)state;
  test_fail_each(part_of, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_share__a_part_has_its_rows_and_outlives_the_whole),
      cmocka_unit_test(test_arrow_share__a_part_has_the_columns_that_were_picked),
      cmocka_unit_test(test_arrow_share__a_part_has_the_whole_dictionary),
      cmocka_unit_test(test_arrow_share__fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
