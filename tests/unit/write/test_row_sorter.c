/* test_row_sorter.c: rows in the order of their keys, within a budget. */
#include "rows/arrow_build.h"
#include "rows/arrow_view.h"
#include "support/support.h"
#include "write/row_sorter.h"

/* Rows are (group, key, number): the number tells the order in which they came. */
typedef struct sorting {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  bl_view *view;
  bl_row_sorter *sorter;
  int64_t n;
  uint64_t random;
} sorting;

static bl_status keys(void *user, const struct ArrowArray *batch, bl_buf *out, uint32_t *ends, bl_error *err) {
  sorting *s = user;
  bl_status st = bl_view_set(s->view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    uint32_t group = (uint32_t)bl_view_i64(&s->view->children[0], i);
    uint32_t key = (uint32_t)bl_view_i64(&s->view->children[1], i);
    for (int b = 24; b >= 0; b -= 8) bl_buf_byte(out, (uint8_t)(group >> b));
    for (int b = 24; b >= 0; b -= 8) bl_buf_byte(out, (uint8_t)(key >> b));
    if (key % 3 == 0) bl_buf_byte(out, 1); /* keys of several lengths */
    ends[i] = (uint32_t)out->n;
  }
  return st;
}

static bl_status begin(sorting *s, bl_ctx *ctx, int64_t budget, bl_error *err) {
  static const char *const names[] = {"group", "key", "number", "text"};
  *s = (sorting){.ctx = ctx, .random = 1};
  BL_TRY(bl_aschema_new(ctx, "+s", BL_STR(""), false, 4, &s->schema, err));
  for (int i = 0; i < 4; i++)
    BL_TRY(bl_aschema_new(ctx, i == 3 ? "u" : "l", bl_str_of(names[i]), true, 0, s->schema.children[i], err));
  BL_TRY(bl_view_new(ctx, &s->schema, &s->view, err));
  return bl_row_sorter_new(ctx, &s->schema, budget, keys, s, &s->sorter, err);
}

static void end(sorting *s) {
  bl_row_sorter_free(s->sorter);
  bl_view_free(s->view);
  bl_aschema_release(&s->schema);
}

static uint32_t next_random(sorting *s) {
  s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(s->random >> 33);
}

static bl_status add(sorting *s, int rows, uint32_t groups, uint32_t range, bl_error *err) {
  bl_builder *b = NULL;
  struct ArrowArray batch;
  bl_status st;
  char text[32];
  BL_GO(bl_builder_new(s->ctx, &s->schema, &b, err));
  for (int i = 0; i < rows; i++) {
    uint32_t g = next_random(s) % groups, k = next_random(s) % range;
    int n = snprintf(text, sizeof text, "%u/%u/%lld", g, k, (long long)s->n);
    BL_GO(bl_builder_int(bl_builder_child(b, 0), g, err));
    BL_GO(bl_builder_int(bl_builder_child(b, 1), k, err));
    BL_GO(bl_builder_int(bl_builder_child(b, 2), s->n++, err));
    BL_GO(bl_builder_bytes(bl_builder_child(b, 3), text, (size_t)n, err));
    BL_GO(bl_builder_close(b, err));
  }
  BL_GO(bl_builder_finish(b, &batch, err));
  st = bl_row_sorter_add(s->sorter, &batch, err);
done:
  bl_builder_free(b);
  return st;
}

/* All rows, in order; equal keys in the order they came; a batch is of one group. */
static bl_status take_all(sorting *s, bl_error *err) {
  int64_t rows = 0, last[3] = {-1, -1, -1};
  for (;;) {
    struct ArrowArray batch;
    uint32_t group = 0;
    BL_TRY(bl_row_sorter_next(s->sorter, &batch, &group, err));
    if (!batch.release) break;
    bl_status st = bl_view_set(s->view, &batch, err);
    assert_true(batch.length > 0 && batch.length <= 65536);
    for (int64_t i = 0; st == BL_OK && i < batch.length; i++) {
      int64_t now[3];
      char text[64];
      for (int c = 0; c < 3; c++) now[c] = bl_view_i64(&s->view->children[c], i);
      assert_int_equal(now[0], group);
      int c = 0;
      while (c < 2 && now[c] == last[c]) c++;
      assert_true(now[c] > last[c]);
      memcpy(last, now, sizeof last);
      bl_str got = bl_view_bytes(&s->view->children[3], i);
      int n = snprintf(text, sizeof text, "%lld/%lld/%lld", (long long)now[0], (long long)now[1], (long long)now[2]);
      assert_int_equal(got.n, n);
      assert_memory_equal(got.p, text, n);
    }
    rows += batch.length;
    bl_array_release(&batch);
    if (st != BL_OK) return st;
  }
  assert_int_equal(rows, s->n);
  return BL_OK;
}

static bl_status finish_and_take(sorting *s, bl_error *err) {
  BL_TRY(bl_row_sorter_finish(s->sorter, false, err));
  return take_all(s, err);
}

/* The first batch, then all, then all again. */
static bl_status take_again(sorting *s, bl_error *err) {
  struct ArrowArray batch;
  uint32_t group;
  BL_TRY(bl_row_sorter_finish(s->sorter, true, err));
  BL_TRY(bl_row_sorter_next(s->sorter, &batch, &group, err));
  bl_array_release(&batch);
  for (int i = 0; i < 2; i++) {
    BL_TRY(bl_row_sorter_rewind(s->sorter, err));
    BL_TRY(take_all(s, err));
  }
  return BL_OK;
}

static void sorts(int batches, int rows, uint32_t groups, uint32_t range, int64_t budget) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  for (int again = 0; again < 2; again++) {
    sorting s;
    test_ok(begin(&s, ctx, budget, &err), &err);
    for (int i = 0; i < batches; i++) test_ok(add(&s, rows, groups, range, &err), &err);
    test_ok(again ? take_again(&s, &err) : finish_and_take(&s, &err), &err);
    end(&s);
  }
  test_ctx_free(ctx);
}

static void test_row_sorter__sorts_in_memory(void **state) {
  (void)state;
  sorts(0, 0, 1, 1, 1 << 20);
  sorts(1, 1, 1, 1, 1 << 20);
  sorts(7, 100, 3, 50, 1 << 24);
  sorts(3, 70000, 1, 1000, 1 << 28); /* output batches of 65,536 rows */
}

static void test_row_sorter__goes_to_disk_beyond_its_budget(void **state) {
  (void)state;
  sorts(40, 500, 5, 100000, 100000);
  sorts(40, 500, 1000, 3, 60000);
}

/* More runs than are merged at once: levels of merged runs. */
static void test_row_sorter__merges_runs_of_runs(void **state) {
  (void)state;
  sorts(600, 20, 4, 1000, 1);
}

static void test_row_sorter__keeps_to_its_budget(void **state) {
  (void)state;
  enum { BUDGET = 4 << 20 };
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, NULL);
  bl_error err = BL_ERROR_INIT;
  sorting s;
  test_ok(begin(&s, ctx, BUDGET, &err), &err);
  for (int i = 0; i < 60; i++) test_ok(add(&s, 10000, 5, 1000000, &err), &err); /* about 30 MB */
  test_ok(take_again(&s, &err), &err);
  assert_true(h.peak_bytes < 4 * BUDGET);
  end(&s);
  test_ctx_free(ctx);
}

static bl_status sort_some(bl_ctx *ctx, void *user, bl_error *err) {
  int64_t budget = *(int64_t *)user;
  sorting s;
  bl_status st = begin(&s, ctx, budget, err);
  for (int i = 0; st == BL_OK && i < 3; i++) st = add(&s, 20, 2, 10, err);
  if (st == BL_OK) st = take_again(&s, err);
  end(&s);
  return st;
}

static void test_row_sorter__fails_cleanly_without_memory(void **state) {
  (void)state;
  int64_t budget = 1 << 20;
  test_fail_each(sort_some, &budget);
  budget = 1;
  test_fail_each(sort_some, &budget);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_row_sorter__sorts_in_memory),
      cmocka_unit_test(test_row_sorter__goes_to_disk_beyond_its_budget),
      cmocka_unit_test(test_row_sorter__merges_runs_of_runs),
      cmocka_unit_test(test_row_sorter__keeps_to_its_budget),
      cmocka_unit_test(test_row_sorter__fails_cleanly_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
