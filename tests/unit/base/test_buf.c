/* Growing buffers. */
#include "base/buf.h"
#include "support/support.h"

static void test_buf__bytes_come_out_as_they_went_in(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "ab");
  bl_buf_byte(&b, 0);
  bl_buf_str(&b, BL_STR("cd"));
  bl_buf_str(&b, BL_STR_NONE);
  bl_buf_printf(&b, "%d", 42);
  assert_int_equal(b.n, 7);
  assert_memory_equal(b.p, "ab\0cd42", 7);
  for (int i = 0; i < 10000; i++) bl_buf_byte(&b, (uint8_t)i);
  for (int i = 0; i < 10000; i++) assert_int_equal(b.p[7 + i], (uint8_t)i);
  test_ok(bl_buf_ok(&b, NULL), NULL);
  bl_buf_free(&b);
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

static void test_buf__printed_text_may_be_longer_than_any_room(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_buf b;
  bl_buf_init(&b, ctx, 5000);
  for (int n = 250; n < 260; n++) {
    bl_buf_clear(&b);
    bl_buf_printf(&b, "%0*d", n, 5);
    assert_int_equal(b.n, n);
    assert_int_equal(b.p[n - 1], '5');
  }
  bl_buf_clear(&b);
  bl_buf_printf(&b, "%05000d", 5);
  assert_int_equal(b.n, 5000);
  test_ok(bl_buf_ok(&b, NULL), NULL);
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

static void test_buf__more_than_the_maximum_is_refused_and_stays_refused(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_buf b;
  bl_error err = BL_ERROR_INIT;
  bl_buf_init(&b, ctx, 10);
  bl_buf_cstr(&b, "12345");
  bl_buf_cstr(&b, "123456");
  bl_buf_byte(&b, 'x'); /* would fit, but then the text had a hole */
  assert_int_equal(b.n, 5);
  test_status(BL_DAMAGED, bl_buf_ok(&b, &err), &err);
  test_says(&err, "10 bytes");
  bl_buf_clear(&b);
  bl_buf_cstr(&b, "1234567890");
  test_ok(bl_buf_ok(&b, NULL), NULL);
  assert_null(bl_buf_reserve(&b, 1));
  assert_null(bl_buf_reserve(&b, SIZE_MAX));
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

static void test_buf__room_can_be_written_in_place(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  assert_non_null(bl_buf_reserve(&b, 0));
  for (int i = 0; i < 20; i++) {
    uint8_t *p = bl_buf_reserve(&b, 100);
    memset(p, i, 100);
    b.n += 50;
  }
  assert_int_equal(b.n, 1000);
  for (int i = 0; i < 1000; i++) assert_int_equal(b.p[i], i / 50);
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

static bl_status fill(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  for (int i = 0; i < 40; i++) bl_buf_printf(&b, "%0*d\n", 30 * i, i);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) assert_memory_equal(b.p + b.n - 3, "39\n", 3);
  bl_buf_free(&b);
  return st;
}

static void test_buf__a_failing_allocation_is_reported_at_the_end(void **state) {
  (void)state;
  test_fail_each(fill, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buf__bytes_come_out_as_they_went_in),
      cmocka_unit_test(test_buf__printed_text_may_be_longer_than_any_room),
      cmocka_unit_test(test_buf__more_than_the_maximum_is_refused_and_stays_refused),
      cmocka_unit_test(test_buf__room_can_be_written_in_place),
      cmocka_unit_test(test_buf__a_failing_allocation_is_reported_at_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
