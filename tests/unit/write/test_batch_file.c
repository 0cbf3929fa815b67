/* test_batch_file.c: batches in a temporary file. */
#include "write/batch_file.h"

#include "rows/arrow_own.h"
#include "support/support.h"

static bl_status one_column(bl_ctx *ctx, struct ArrowSchema *out, bl_error *err) {
  BL_TRY(bl_aschema_new(ctx, "+s", BL_STR(""), false, 1, out, err));
  bl_status st = bl_aschema_new(ctx, "l", BL_STR("k"), true, 0, out->children[0], err);
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

static bl_status add(bl_ctx *ctx, bl_batch_file *f, int64_t first, int64_t n, bl_error *err) {
  struct ArrowArray batch;
  int64_t values[10];
  for (int64_t i = 0; i < n; i++) values[i] = first + i;
  BL_TRY(bl_array_new(ctx, n, 1, 1, &batch, err));
  bl_status st = bl_array_longs(ctx, values, NULL, n, batch.children[0], err);
  if (st == BL_OK) return bl_batch_file_add(f, &batch, err);
  bl_array_release(&batch);
  return st;
}

/* Rows 0, 1, … from the next batch on. */
static bl_status take(bl_batch_file *f, int64_t rows, bl_error *err) {
  struct ArrowArray batch;
  int64_t n = 0;
  for (;;) {
    BL_TRY(bl_batch_file_next(f, &batch, err));
    if (!batch.release) break;
    const struct ArrowArray *k = batch.children[0];
    for (int64_t i = 0; i < batch.length; i++) assert_int_equal(((const int64_t *)k->buffers[1])[k->offset + i], n++);
    bl_array_release(&batch);
  }
  assert_int_equal(n, rows);
  return BL_OK;
}

/* Twice all, once a part. */
static bl_status put_and_take(bl_ctx *ctx, void *user, bl_error *err) {
  struct ArrowSchema schema = {0};
  struct ArrowArray batch;
  bl_batch_file *f = NULL;
  bl_status st;
  (void)user;
  BL_GO(one_column(ctx, &schema, err));
  BL_GO(bl_batch_file_new(ctx, &schema, &f, err));
  BL_GO(add(ctx, f, 0, 7, err));
  BL_GO(add(ctx, f, 7, 3, err));
  BL_GO(bl_batch_file_end(f, err));
  BL_GO(take(f, 10, err));
  BL_GO(bl_batch_file_rewind(f, err));
  BL_GO(bl_batch_file_next(f, &batch, err));
  assert_int_equal(batch.length, 7);
  bl_array_release(&batch);
  BL_GO(bl_batch_file_rewind(f, err));
  BL_GO(take(f, 10, err));
done:
  bl_batch_file_free(f);
  bl_aschema_release(&schema);
  return st;
}

static void test_batch_file__gives_batches_in_their_order_as_often_as_wanted(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  test_ok(put_and_take(ctx, NULL, &err), &err);
  test_ctx_free(ctx);
}

static void test_batch_file__may_end_before_it_is_read(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  struct ArrowSchema schema;
  bl_batch_file *f;
  test_ok(one_column(ctx, &schema, &err), &err);
  for (int ended = 0; ended < 2; ended++) {
    test_ok(bl_batch_file_new(ctx, &schema, &f, &err), &err);
    test_ok(add(ctx, f, 0, 2, &err), &err);
    if (ended) test_ok(bl_batch_file_end(f, &err), &err);
    bl_batch_file_free(f);
  }
  bl_batch_file_free(NULL);
  bl_aschema_release(&schema);
  test_ctx_free(ctx);
}

static void test_batch_file__fails_cleanly_without_memory(void **state) {
  (void)state;
  test_fail_each(put_and_take, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_batch_file__gives_batches_in_their_order_as_often_as_wanted),
      cmocka_unit_test(test_batch_file__may_end_before_it_is_read),
      cmocka_unit_test(test_batch_file__fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
