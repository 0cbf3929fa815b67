/* test_kept_runs.c: rows as they come become runs, few of them or none; what is put is handed over once. */
#include "changes/kept_runs.h"

#include <pthread.h>
#include <stdlib.h>

#include "random.h"
#include "support/support.h"

enum { ROOM = 1 << 20 };

static const bl_part_name first_part = {.place = 3, .k = 0, .n = 2, .first_row_id = 100, .sequence_number = 4};

static bl_run *some_runs(bl_ctx *ctx, size_t n, int64_t id) {
  bl_run *runs = bl_calloc(ctx, n + 1, sizeof *runs);
  assert_non_null(runs);
  for (size_t i = 0; i < n; i++) runs[i] = (bl_run){.id = id + (int64_t)i * 10, .seq = 1, .pos = (int64_t)i, .len = 1};
  return runs;
}

static bl_kept_runs *kept_of(bl_ctx *ctx, int64_t budget) {
  bl_error err = BL_ERROR_INIT;
  bl_kept_runs *k;
  test_ok(bl_kept_runs_new(ctx, budget, &k, &err), &err);
  return k;
}

static void put(bl_ctx *ctx, bl_kept_runs *k, const bl_part_name *part, size_t n, int64_t id) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_kept_runs_put(k, part, some_runs(ctx, n, id), n, &err), &err);
}

/* id < 0: nothing is there. */
static void expect(bl_ctx *ctx, bl_kept_runs *k, const bl_part_name *part, size_t n, int64_t id) {
  size_t got;
  bl_run *runs = bl_kept_runs_take(k, part, &got);
  if (id < 0) {
    assert_null(runs);
    assert_int_equal(got, 0);
    return;
  }
  assert_non_null(runs);
  assert_int_equal(got, n);
  assert_int_equal(runs[0].id, id);
  bl_free(ctx, runs);
}

static void test_kept_runs__are_handed_over_once(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_kept_runs *k = kept_of(ctx, ROOM);
  bl_part_name second = first_part;
  second.k = 1;
  expect(ctx, k, &first_part, 0, -1);
  put(ctx, k, &first_part, 5, 700);
  put(ctx, k, &second, 6, 800);
  expect(ctx, k, &second, 6, 800);
  expect(ctx, k, &first_part, 5, 700);
  expect(ctx, k, &first_part, 0, -1);
  put(ctx, k, &first_part, 2, 900);
  expect(ctx, k, &first_part, 2, 900);
  bl_kept_runs_free(k);
  test_ctx_free(ctx);
}

static void test_kept_runs__are_of_one_part_of_one_version(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_kept_runs *k = kept_of(ctx, ROOM);
  bl_part_name other[5];
  for (size_t i = 0; i < BL_LEN(other); i++) other[i] = first_part;
  other[0].place++;
  other[1].k++;
  other[2].n++;                    /* cut otherwise */
  other[3].first_row_id = BL_NONE; /* before an upgrade */
  other[4].sequence_number++;
  put(ctx, k, &first_part, 5, 700);
  for (size_t i = 0; i < BL_LEN(other); i++) expect(ctx, k, &other[i], 0, -1);
  expect(ctx, k, &first_part, 5, 700);
  bl_kept_runs_free(k);
  test_ctx_free(ctx);
}

static void test_kept_runs__the_last_ones_of_a_part_count(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_kept_runs *k = kept_of(ctx, 20 * (int64_t)sizeof(bl_run));
  for (int64_t i = 0; i < 10; i++) put(ctx, k, &first_part, 9, i); /* and those before are room again */
  expect(ctx, k, &first_part, 9, 9);
  bl_kept_runs_free(k);
  test_ctx_free(ctx);
}

static void test_kept_runs__beyond_the_budget_are_dropped(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_kept_runs *k = kept_of(ctx, 10 * (int64_t)sizeof(bl_run));
  bl_part_name second = first_part;
  second.k = 1;
  put(ctx, k, &first_part, 8, 100);
  put(ctx, k, &second, 3, 200);
  expect(ctx, k, &second, 0, -1);
  expect(ctx, k, &first_part, 8, 100);
  put(ctx, k, &second, 3, 200);
  expect(ctx, k, &second, 3, 200);
  put(ctx, k, &second, 11, 300);
  expect(ctx, k, &second, 0, -1);
  bl_kept_runs_free(k);
  test_ctx_free(ctx);
}

/* ---- recording ---- */

static void assert_runs_are_rows(const bl_run_recorder *r, const int64_t *ids, const int64_t *seqs, int64_t n) {
  int64_t at = 0;
  for (size_t i = 0; i < r->n; i++)
    for (uint32_t j = 0; j < r->runs[i].len; j++, at++) {
      assert_true(at < n);
      assert_int_equal(r->runs[i].id + j, ids[at]);
      assert_int_equal(r->runs[i].seq, seqs[at]);
      assert_int_equal(r->runs[i].pos + j, at);
      assert_int_equal(r->runs[i].file, 7);
    }
  assert_int_equal(at, n);
  assert_int_equal(r->rows, n);
}

/* Rows with gaps and other numbers now and then, in lots. */
static void test_run_recorder__makes_runs_of_rows_that_come_in_lots(void **state) {
  (void)state;
  enum { N = 20000 };
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  int64_t *ids = calloc(N, sizeof *ids), *seqs = calloc(N, sizeof *seqs);
  rng r = {5};
  size_t breaks = 1;
  assert_non_null(ids);
  assert_non_null(seqs);
  for (int64_t i = 0; i < N; i++) {
    bool gap = rng_between(&r, 0, 99) == 0, number = rng_between(&r, 0, 99) == 0;
    ids[i] = i == 0 ? 50 : ids[i - 1] + 1 + gap;
    seqs[i] = i == 0 ? 1 : number ? seqs[i - 1] + 1 : seqs[i - 1];
    breaks += i > 0 && (gap || number);
  }
  bl_run_recorder x = {0};
  for (int64_t at = 0, n; at < N; at += n) {
    n = rng_between(&r, 1, 900);
    if (n > N - at) n = N - at;
    bl_id_rows rows = {ids + at, seqs + at, n, at, 7};
    test_ok(bl_run_recorder_add(&x, ctx, &rows, &err), &err);
  }
  assert_false(x.off);
  assert_int_equal(x.n, breaks);
  assert_runs_are_rows(&x, ids, seqs, N);
  bl_free(ctx, x.runs);
  free(ids);
  free(seqs);
  test_ctx_free(ctx);
}

static void test_run_recorder__gives_up_on_rows_in_another_order(void **state) {
  (void)state;
  enum { N = 4000 };
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  int64_t ids[N], seqs[N];
  bl_run_recorder x = {0};
  for (int64_t i = 0; i < N; i++) ids[i] = N - i, seqs[i] = 1;
  bl_id_rows rows = {ids, seqs, N, 0, 7};
  test_ok(bl_run_recorder_add(&x, ctx, &rows, &err), &err);
  assert_true(x.off);
  assert_null(x.runs);
  test_ok(bl_run_recorder_add(&x, ctx, &rows, &err), &err);
  assert_null(x.runs);
  test_ctx_free(ctx);
}

/* ---- several threads ---- */

typedef struct worker {
  bl_ctx *ctx;
  bl_kept_runs *k;
  uint32_t place;
  bool wrong;
} worker;

static void *work(void *user) {
  worker *w = user;
  bl_error err = BL_ERROR_INIT;
  for (uint32_t round = 0; round < 200; round++) {
    bl_part_name part = {.place = w->place, .k = round % 16, .n = 16};
    size_t n;
    bl_run *in = bl_calloc(w->ctx, 4, sizeof *in);
    if (!in) return NULL;
    in[0].id = round;
    w->wrong = w->wrong || bl_kept_runs_put(w->k, &part, in, 4, &err) != BL_OK;
    bl_run *out = bl_kept_runs_take(w->k, &part, &n);
    w->wrong = w->wrong || !out || n != 4 || out[0].id != round;
    bl_free(w->ctx, out);
  }
  return NULL;
}

static void test_kept_runs__several_threads_do_not_meet(void **state) {
  (void)state;
  enum { THREADS = 4 };
  bl_ctx *ctx = test_ctx();
  bl_kept_runs *k = kept_of(ctx, ROOM);
  pthread_t id[THREADS];
  worker w[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    w[i] = (worker){ctx, k, i, false};
    assert_int_equal(pthread_create(&id[i], NULL, work, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(id[i], NULL), 0);
    assert_false(w[i].wrong);
  }
  bl_kept_runs_free(k);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kept_runs__are_handed_over_once),
      cmocka_unit_test(test_kept_runs__are_of_one_part_of_one_version),
      cmocka_unit_test(test_kept_runs__the_last_ones_of_a_part_count),
      cmocka_unit_test(test_kept_runs__beyond_the_budget_are_dropped),
      cmocka_unit_test(test_run_recorder__makes_runs_of_rows_that_come_in_lots),
      cmocka_unit_test(test_run_recorder__gives_up_on_rows_in_another_order),
      cmocka_unit_test(test_kept_runs__several_threads_do_not_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
