/* test_key.c: values as bytes and hashes that are equal exactly where the values are (docs/changelog.md C4). */
#include "../edge/table_fixture.h"
#include "rows/key.h"

#include <math.h>

static const column of_struct[] = {{.format = "l", .name = "x", .nullable = true, .id = -1},
                                   {.format = "u", .name = "y", .nullable = true, .id = -1}};
static const column of_list[] = {{.format = "u", .name = "element", .nullable = true, .id = -1}};
static const column of_entry[] = {{.format = "u", .name = "key", .id = -1},
                                  {.format = "i", .name = "value", .nullable = true, .id = -1}};
static const column of_map[] = {{.format = "+s", .name = "key_value", .id = -1, .kids = of_entry, .n = 2}};
static const column columns[] = {
    {.format = "b", .name = "b", .nullable = true, .id = -1},
    {.format = "i", .name = "i", .nullable = true, .id = -1},
    {.format = "l", .name = "l", .nullable = true, .id = -1},
    {.format = "f", .name = "f", .nullable = true, .id = -1},
    {.format = "g", .name = "g", .nullable = true, .id = -1},
    {.format = "d:10,2", .name = "d", .nullable = true, .id = -1},
    {.format = "tdD", .name = "dt", .nullable = true, .id = -1},
    {.format = "ttu", .name = "t", .nullable = true, .id = -1},
    {.format = "tsu:UTC", .name = "ts", .nullable = true, .id = -1},
    {.format = "tsn:", .name = "tn", .nullable = true, .id = -1},
    {.format = "u", .name = "u", .nullable = true, .id = -1},
    {.format = "z", .name = "z", .nullable = true, .id = -1},
    {.format = "w:3", .name = "w", .nullable = true, .id = -1},
    {.format = "+s", .name = "s", .nullable = true, .id = -1, .kids = of_struct, .n = 2},
    {.format = "+l", .name = "li", .nullable = true, .id = -1, .kids = of_list, .n = 1},
    {.format = "+m", .name = "m", .nullable = true, .id = -1, .kids = of_map, .n = 1},
};

typedef struct views {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  struct ArrowArray a, b;
  bl_view *va, *vb;
  bl_buf ka, kb;
} views;

static views two_views(uint64_t seed_a, uint64_t seed_b, int64_t rows) {
  views v = {.ctx = test_ctx()};
  bl_error err = BL_ERROR_INIT;
  table_schema(v.ctx, columns, BL_LEN(columns), &v.schema);
  random_batch(v.ctx, &v.schema, rows, seed_a, &v.a);
  random_batch(v.ctx, &v.schema, rows, seed_b, &v.b);
  test_ok(bl_view_new(v.ctx, &v.schema, &v.va, &err), &err);
  test_ok(bl_view_new(v.ctx, &v.schema, &v.vb, &err), &err);
  test_ok(bl_view_set(v.va, &v.a, &err), &err);
  test_ok(bl_view_set(v.vb, &v.b, &err), &err);
  bl_buf_init(&v.ka, v.ctx, BL_BUF_MAX);
  bl_buf_init(&v.kb, v.ctx, BL_BUF_MAX);
  return v;
}

static void free_views(views *v) {
  bl_buf_free(&v->ka);
  bl_buf_free(&v->kb);
  bl_view_free(v->va);
  bl_view_free(v->vb);
  bl_array_release(&v->a);
  bl_array_release(&v->b);
  bl_aschema_release(&v->schema);
  test_ctx_free(v->ctx);
}

static void same_keys(views *v, const bl_view *a, int64_t i, const bl_view *b, int64_t j) {
  bl_buf_clear(&v->ka);
  bl_buf_clear(&v->kb);
  bl_key_add(&v->ka, a, i);
  bl_key_add(&v->kb, b, j);
  bool bytes = v->ka.n == v->kb.n && memcmp(v->ka.p, v->kb.p, v->ka.n) == 0;
  bool hashes = bl_hash128_eq(bl_key_hash(v->ka.p, v->ka.n, 9), bl_key_hash(v->kb.p, v->kb.n, 9));
  assert_int_equal(bl_key_same(a, i, b, j), bytes);
  assert_int_equal(hashes, bytes);
}

static void test_key__bytes_hashes_and_comparison_agree(void **state) {
  (void)state;
  views v = two_views(1, 2, 60);
  for (size_t c = 0; c < BL_LEN(columns); c++)
    for (int64_t i = 0; i < 60; i++)
      for (int64_t j = 0; j < 60; j++) same_keys(&v, &v.va->children[c], i, &v.vb->children[c], j);
  free_views(&v);
  v = two_views(7, 7, 40); /* the same values in other buffers */
  for (size_t c = 0; c < BL_LEN(columns); c++)
    for (int64_t i = 0; i < 40; i++) assert_true(bl_key_same(&v.va->children[c], i, &v.vb->children[c], i));
  free_views(&v);
}

/* Keys of several columns put together are told apart: no value can look like the end of another. */
static void test_key__parts_do_not_run_into_each_other(void **state) {
  (void)state;
  views v = two_views(3, 4, 80);
  for (int64_t i = 0; i < 80; i++)
    for (int64_t j = 0; j < 80; j++) {
      bool same = true;
      bl_buf_clear(&v.ka);
      bl_buf_clear(&v.kb);
      for (size_t c = 10; c < BL_LEN(columns); c++) {
        bl_key_add(&v.ka, &v.va->children[c], i);
        bl_key_add(&v.kb, &v.vb->children[c], j);
        same = same && bl_key_same(&v.va->children[c], i, &v.vb->children[c], j);
      }
      assert_int_equal(v.ka.n == v.kb.n && memcmp(v.ka.p, v.kb.p, v.ka.n) == 0, same);
    }
  free_views(&v);
}

/* ---- floats ---- */

static double nan_of(uint64_t bits) {
  double d;
  memcpy(&d, &bits, 8);
  return d;
}

static void test_key__all_nan_are_one_and_zeros_are_two(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  const column c[] = {{.format = "g", .name = "g", .nullable = true, .id = -1},
                      {.format = "f", .name = "f", .nullable = true, .id = -1}};
  const double values[] = {nan_of(0x7ff8000000000000u),
                           nan_of(0xfff8000000000001u),
                           nan_of(0x7ff0000000000abcu),
                           0.0,
                           -0.0,
                           INFINITY,
                           -INFINITY,
                           1.5};
  const int group[] = {0, 0, 0, 1, 2, 3, 4, 5};
  struct ArrowSchema s;
  struct ArrowArray a;
  bl_builder *b;
  bl_view *v;
  table_schema(ctx, c, 2, &s);
  test_ok(bl_builder_new(ctx, &s, &b, &err), &err);
  for (size_t i = 0; i < BL_LEN(values); i++) {
    float f = (float)values[i];
    if (group[i] == 0 && i == 1) f = -f;
    test_ok(bl_builder_double(bl_builder_child(b, 0), values[i], &err), &err);
    test_ok(bl_builder_float(bl_builder_child(b, 1), f, &err), &err);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &a, &err), &err);
  test_ok(bl_view_new(ctx, &s, &v, &err), &err);
  test_ok(bl_view_set(v, &a, &err), &err);
  views x = {.ctx = ctx};
  bl_buf_init(&x.ka, ctx, BL_BUF_MAX);
  bl_buf_init(&x.kb, ctx, BL_BUF_MAX);
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < BL_LEN(values); i++)
      for (size_t j = 0; j < BL_LEN(values); j++) {
        assert_int_equal(bl_key_same(&v->children[k], (int64_t)i, &v->children[k], (int64_t)j), group[i] == group[j]);
        same_keys(&x, &v->children[k], (int64_t)i, &v->children[k], (int64_t)j);
      }
  bl_buf_free(&x.ka);
  bl_buf_free(&x.kb);
  bl_view_free(v);
  bl_builder_free(b);
  bl_array_release(&a);
  bl_aschema_release(&s);
  test_ctx_free(ctx);
}

static void test_key__hashes_depend_on_the_seed_and_have_an_order(void **state) {
  (void)state;
  bl_hash128 a = bl_key_hash("abc", 3, 1), b = bl_key_hash("abc", 3, 2), c = bl_key_hash("abd", 3, 1);
  assert_false(bl_hash128_eq(a, b));
  assert_false(bl_hash128_eq(a, c));
  assert_true(bl_hash128_eq(a, bl_key_hash("abc", 3, 1)));
  assert_int_equal(bl_hash128_cmp(a, a), 0);
  assert_int_equal(bl_hash128_cmp(a, c), -bl_hash128_cmp(c, a));
  assert_int_equal(bl_hash128_cmp((bl_hash128){.lo = 9, .hi = 1}, (bl_hash128){.lo = 1, .hi = 2}), -1);
  assert_int_equal(bl_hash128_cmp((bl_hash128){.lo = 9, .hi = 1}, (bl_hash128){.lo = 1, .hi = 1}), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_key__bytes_hashes_and_comparison_agree),
      cmocka_unit_test(test_key__parts_do_not_run_into_each_other),
      cmocka_unit_test(test_key__all_nan_are_one_and_zeros_are_two),
      cmocka_unit_test(test_key__hashes_depend_on_the_seed_and_have_an_order),
  };
  return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
