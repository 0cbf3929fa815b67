/* test_posset.c: position sets against a naive twin: an array of flags for a few windows of positions. */
#include "../support.h"

#include "format/puffin.h"

enum { WINDOWS = 4, WINDOW = 200000 };
/* Windows within the first part, across the border of two parts, in a far part, and up to the last position. */
static const int64_t window_at[WINDOWS] = {0, ((int64_t)1 << 32) - WINDOW / 2, ((int64_t)77 << 32) + 5,
                                           INT64_MAX - WINDOW};

typedef struct twin {
  uint8_t *has[WINDOWS];
} twin;

static void twin_init(twin *t) {
  for (int w = 0; w < WINDOWS; w++) t->has[w] = calloc(WINDOW, 1);
}
static void twin_free(twin *t) {
  for (int w = 0; w < WINDOWS; w++) free(t->has[w]);
}
static int64_t twin_count(const twin *t, int w, int begin, int end) {
  int64_t n = 0;
  for (int i = begin; i < end; i++) n += t->has[w][i];
  return n;
}

typedef struct fixture {
  bl_ctx *ctx;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->ctx = support_ctx(NULL, NULL);
  *state = f;
  return 0;
}
static int teardown(void **state) {
  fixture *f = *state;
  bl_ctx_free(f->ctx);
  free(f);
  return 0;
}

static bl_posset *new_set(bl_ctx *ctx) {
  bl_posset *s;
  assert_int_equal(bl_posset_new(ctx, &s, NULL), BL_OK);
  return s;
}

static void add_range(bl_posset *s, twin *t, int w, int begin, int end) {
  assert_int_equal(bl_posset_add_range(s, window_at[w] + begin, window_at[w] + end, NULL), BL_OK);
  memset(t->has[w] + begin, 1, (size_t)(end - begin));
}
static void add_one(bl_posset *s, twin *t, int w, int i) {
  assert_int_equal(bl_posset_add(s, window_at[w] + i, NULL), BL_OK);
  t->has[w][i] = 1;
}

/* Fill with a mix that makes array, bitset and run containers. */
static void fill(bl_posset *s, twin *t, uint64_t *rnd) {
  for (int w = 0; w < WINDOWS; w++) {
    for (int k = (int)(support_random(rnd) % 4); k > 0; k--) {
      int a = (int)(support_random(rnd) % WINDOW), b = a + (int)(support_random(rnd) % 70000);
      add_range(s, t, w, a, b < WINDOW ? b : WINDOW);
    }
    int dense = (int)(support_random(rnd) % 3) == 0 ? 30000 : (int)(support_random(rnd) % 300);
    for (int k = 0; k < dense; k++) add_one(s, t, w, (int)(support_random(rnd) % WINDOW));
  }
}

static void check_bytes(const bl_posset *s, const twin *t, int w, int begin, int end) {
  uint8_t *keep = malloc((size_t)(end - begin) + 2);
  memset(keep, 1, (size_t)(end - begin) + 2);
  bl_posset_clear_bytes(s, window_at[w] + begin, window_at[w] + end, keep + 1);
  assert_int_equal(keep[0], 1);
  assert_int_equal(keep[end - begin + 1], 1);
  for (int i = begin; i < end; i++)
    if (keep[1 + i - begin] != !t->has[w][i]) fail_msg("window %d, position %d", w, i);
  free(keep);
}

static void check_next(const bl_posset *s, const twin *t, int w, int begin) {
  int64_t got[1000];
  size_t n = bl_posset_next(s, window_at[w] + begin, got, 1000);
  size_t k = 0;
  for (int i = begin; i < WINDOW && k < n; i++)
    if (t->has[w][i]) assert_int_equal(got[k++], window_at[w] + i);
  if (k < n) assert_true(w + 1 < WINDOWS && got[k] >= window_at[w + 1]);
}

static void check_all(const bl_posset *s, const twin *t, uint64_t *rnd) {
  int64_t total = 0, max = -1;
  for (int w = 0; w < WINDOWS; w++) {
    total += twin_count(t, w, 0, WINDOW);
    for (int i = 0; i < WINDOW; i++)
      if (t->has[w][i]) max = window_at[w] + i;
    for (int k = 0; k < 20; k++) {
      int a = (int)(support_random(rnd) % WINDOW), b = a + (int)(support_random(rnd) % (size_t)(WINDOW - a));
      assert_int_equal(bl_posset_has(s, window_at[w] + a), t->has[w][a]);
      assert_int_equal(bl_posset_count_range(s, window_at[w] + a, window_at[w] + b), twin_count(t, w, a, b));
      check_bytes(s, t, w, a, b);
      check_next(s, t, w, a);
    }
    check_bytes(s, t, w, 0, WINDOW);
  }
  assert_int_equal(bl_posset_count(s), total);
  assert_int_equal(bl_posset_max(s), max);
}

static void test_posset__agrees_with_a_naive_twin_in_every_question(void **state) {
  fixture *f = *state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    uint64_t rnd = seed;
    twin t;
    twin_init(&t);
    bl_posset *s = new_set(f->ctx);
    fill(s, &t, &rnd);
    check_all(s, &t, &rnd);
    bl_posset_free(s);
    twin_free(&t);
  }
}

static void test_posset__union_and_difference_agree_with_a_naive_twin(void **state) {
  fixture *f = *state;
  for (uint64_t seed = 100; seed < 112; seed++) {
    uint64_t rnd = seed;
    twin ta, tb;
    twin_init(&ta), twin_init(&tb);
    bl_posset *a = new_set(f->ctx), *b = new_set(f->ctx), *c;
    fill(a, &ta, &rnd), fill(b, &tb, &rnd);
    assert_int_equal(bl_posset_copy(f->ctx, a, &c, NULL), BL_OK);
    assert_true(bl_posset_equal(a, c));
    assert_int_equal(bl_posset_or(a, b, NULL), BL_OK);
    assert_int_equal(bl_posset_andnot(c, b, NULL), BL_OK);
    for (int w = 0; w < WINDOWS; w++)
      for (int i = 0; i < WINDOW; i++) {
        uint8_t either = ta.has[w][i] | tb.has[w][i];
        ta.has[w][i] &= !tb.has[w][i];
        tb.has[w][i] = either;
      }
    check_all(a, &tb, &rnd);
    check_all(c, &ta, &rnd);
    bl_posset_free(a), bl_posset_free(b), bl_posset_free(c);
    twin_free(&ta), twin_free(&tb);
  }
}

static void test_posset__an_encoded_set_decodes_to_an_equal_one(void **state) {
  fixture *f = *state;
  for (uint64_t seed = 200; seed < 212; seed++) {
    uint64_t rnd = seed;
    twin t;
    twin_init(&t);
    bl_posset *s = new_set(f->ctx), *back;
    fill(s, &t, &rnd);
    bl_buf b;
    bl_buf_init(&b, f->ctx, BL_BUF_MAX);
    bl_error err = BL_ERROR_INIT;
    assert_int_equal(bl_dv_encode(s, &b, &err), BL_OK);
    bl_status st = bl_dv_decode(f->ctx, b.p, b.n, bl_posset_count(s), &back, &err);
    if (st != BL_OK) fail_msg("%s", err.message);
    assert_true(bl_posset_equal(s, back));
    check_all(back, &t, &rnd);
    bl_posset_free(s), bl_posset_free(back);
    bl_buf_free(&b);
    twin_free(&t);
  }
}

static void test_posset__an_empty_set_has_nothing(void **state) {
  fixture *f = *state;
  bl_posset *s = new_set(f->ctx), *other = new_set(f->ctx);
  int64_t out[1];
  uint8_t keep[3] = {1, 1, 1};
  assert_int_equal(bl_posset_count(s), 0);
  assert_int_equal(bl_posset_max(s), -1);
  assert_false(bl_posset_has(s, 0));
  assert_int_equal(bl_posset_next(s, 0, out, 1), 0);
  assert_int_equal(bl_posset_count_range(s, 0, INT64_MAX), 0);
  bl_posset_clear_bytes(s, 0, 3, keep);
  assert_memory_equal(keep, "\1\1\1", 3);
  assert_true(bl_posset_equal(s, other));
  bl_posset_free(s), bl_posset_free(other);
  bl_posset_free(NULL);
}

static void test_posset__nothing_is_left_of_a_set_without_itself(void **state) {
  fixture *f = *state;
  bl_posset *s = new_set(f->ctx), *empty = new_set(f->ctx), *same;
  assert_int_equal(bl_posset_add_range(s, 5, 100000, NULL), BL_OK);
  assert_int_equal(bl_posset_add(s, (int64_t)3 << 32, NULL), BL_OK);
  assert_int_equal(bl_posset_copy(f->ctx, s, &same, NULL), BL_OK);
  assert_int_equal(bl_posset_andnot(s, same, NULL), BL_OK);
  assert_true(bl_posset_equal(s, empty));
  assert_int_equal(bl_posset_or(same, same, NULL), BL_OK);
  assert_int_equal(bl_posset_count(same), 100000 - 5 + 1);
  assert_int_equal(bl_posset_andnot(same, same, NULL), BL_OK);
  assert_true(bl_posset_equal(same, empty));
  bl_posset_free(s), bl_posset_free(empty), bl_posset_free(same);
}

static void test_posset__refuses_negative_positions(void **state) {
  fixture *f = *state;
  bl_posset *s = new_set(f->ctx);
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_posset_add(s, -1, &err), BL_DAMAGED);
  support_says(err.message, "negative");
  assert_int_equal(bl_posset_add_range(s, -2, 5, NULL), BL_DAMAGED);
  assert_int_equal(bl_posset_count(s), 0);
  assert_false(bl_posset_has(s, -1));
  bl_posset_free(s);
}

static void test_posset__refuses_a_range_that_no_vector_could_hold(void **state) {
  fixture *f = *state;
  bl_posset *s = new_set(f->ctx);
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_posset_add_range(s, 0, INT64_MAX, &err), BL_UNSUPPORTED);
  support_says(err.message, "deletion vector");
  assert_int_equal(bl_posset_count(s), 0);
  bl_posset_free(s);
}

static void test_posset__next_goes_on_over_part_borders(void **state) {
  fixture *f = *state;
  bl_posset *s = new_set(f->ctx);
  const int64_t border = (int64_t)1 << 32;
  assert_int_equal(bl_posset_add_range(s, border - 2, border + 2, NULL), BL_OK);
  int64_t got[4];
  assert_int_equal(bl_posset_next(s, 0, got, 4), 4);
  for (int i = 0; i < 4; i++) assert_int_equal(got[i], border - 2 + i);
  assert_int_equal(bl_posset_next(s, border - 1, got, 2), 2);
  assert_int_equal(got[1], border);
  assert_int_equal(bl_posset_next(s, border + 2, got, 4), 0);
  bl_posset_free(s);
}

static bl_status make_some(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_posset *s = NULL, *c = NULL;
  bl_status st;
  BL_GO(bl_posset_new(ctx, &s, err));
  for (int64_t i = 0; i < 40; i++) BL_GO(bl_posset_add(s, i << 32, err));
  BL_GO(bl_posset_copy(ctx, s, &c, err));
  BL_GO(bl_posset_andnot(c, s, err));
done:
  bl_posset_free(s);
  bl_posset_free(c);
  return st;
}

static void test_posset__reports_every_failed_allocation(void **state) {
  (void)state;
  support_fail_each_allocation(make_some, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_posset__agrees_with_a_naive_twin_in_every_question),
      cmocka_unit_test(test_posset__union_and_difference_agree_with_a_naive_twin),
      cmocka_unit_test(test_posset__an_encoded_set_decodes_to_an_equal_one),
      cmocka_unit_test(test_posset__an_empty_set_has_nothing),
      cmocka_unit_test(test_posset__nothing_is_left_of_a_set_without_itself),
      cmocka_unit_test(test_posset__refuses_negative_positions),
      cmocka_unit_test(test_posset__refuses_a_range_that_no_vector_could_hold),
      cmocka_unit_test(test_posset__next_goes_on_over_part_borders),
      cmocka_unit_test(test_posset__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
