/* test_probe.c: what differs between removed and added rows, in whatever order they come; few long runs and many short
 * ones are kept in two ways and must give the same. */
#include "changes/probe.h"

#include "probe_world.h"

static bl_probe *probe_of(probe_world *w, int64_t removed_rows) {
  bl_probe *p;
  test_ok(bl_probe_new(w->ctx, &w->files, 0, removed_rows, &p, &w->err), &w->err);
  return p;
}

static void add_runs(probe_world *w, bl_probe *p, int side) {
  for (size_t i = 0; i < w->n_runs[side]; i += 512) {
    size_t n = w->n_runs[side] - i < 512 ? w->n_runs[side] - i : 512;
    if (side == 0) test_ok(bl_probe_removed(p, w->runs[0] + i, n, &w->err), &w->err);
    else test_ok(bl_probe_added(p, w->runs[1] + i, n, &w->err), &w->err);
  }
}

enum { LOT = 700 };

/* Rows of one file, a lot at a time. */
static void add_rows(probe_world *w, bl_probe *p, int side, uint32_t file) {
  int64_t n = 0, *ids = calloc((size_t)w->n + 1, sizeof *ids), *seqs = calloc((size_t)w->n + 1, sizeof *seqs);
  assert_non_null(ids);
  assert_non_null(seqs);
  for (size_t i = 0; i < w->n_runs[side]; i++) {
    const bl_run *r = &w->runs[side][i];
    for (uint32_t k = 0; r->file == file && k < r->len; k++, n++) {
      ids[n] = r->id + k;
      seqs[n] = r->seq;
      assert_int_equal(r->pos + k, n);
    }
  }
  for (int64_t i = 0; i < n; i += LOT) {
    bl_id_rows r = {ids + i, seqs + i, n - i < LOT ? n - i : LOT, i, file};
    if (side == 0) test_ok(bl_probe_removed_rows(p, &r, &w->err), &w->err);
    else test_ok(bl_probe_added_rows(p, &r, &w->err), &w->err);
  }
  free(ids);
  free(seqs);
}

static void add_all(probe_world *w, bl_probe *p, int side, bool by_rows) {
  if (!by_rows) add_runs(w, p, side);
  for (uint32_t f = 0; by_rows && f < 4; f++) add_rows(w, p, side, (uint32_t)side * 4 + f);
}

static bl_probe *run_by(probe_world *w, int64_t removed_rows, bool removed_by_rows, bool added_by_rows) {
  bl_probe *p = probe_of(w, removed_rows);
  add_all(w, p, 0, removed_by_rows);
  test_ok(bl_probe_turn(p, &w->err), &w->err);
  add_all(w, p, 1, added_by_rows);
  test_ok(bl_probe_finish(p, &w->err), &w->err);
  return p;
}

static bl_probe *run(probe_world *w, int64_t removed_rows) {
  return run_by(w, removed_rows, false, false);
}

static int64_t number_of(const probe_world *w, int64_t id) {
  int64_t lo = 0, hi = w->n;
  while (hi - lo > 1) {
    int64_t mid = lo + (hi - lo) / 2;
    if (w->ids[mid] <= id) lo = mid;
    else hi = mid;
  }
  assert_int_equal(w->ids[lo], id);
  return lo;
}

static void assert_image(const world_row *x, int64_t id, int64_t seq, uint32_t file, int64_t pos) {
  assert_true(x->there);
  assert_int_equal(x->id, id);
  assert_int_equal(x->seq, seq);
  assert_int_equal(x->file, file);
  assert_int_equal(x->pos, pos);
}

/* One row of an event against both sides. */
static void assert_event(const probe_world *w, const bl_event *e, uint32_t i, uint8_t *seen) {
  bool before = e->type != BL_INSERT, after = e->type != BL_DELETE;
  int64_t row = number_of(w, (before ? e->before_id : e->after_id) + i);
  const world_row *a = &w->side[0][row], *b = &w->side[1][row];
  assert_int_equal(seen[row]++, 0);
  if (before) assert_image(a, e->before_id + i, e->before_seq, e->before_file, e->before_pos + i);
  else assert_false(a->there);
  if (after) assert_image(b, e->after_id + i, e->after_seq, e->after_file, e->after_pos + i);
  else assert_false(b->there);
  if (before && after) assert_int_not_equal(a->seq, b->seq);
}

static void assert_events(const probe_world *w, bl_probe *p) {
  uint8_t *seen = calloc((size_t)w->n + 1, 1);
  bl_error err = BL_ERROR_INIT;
  bl_event e;
  size_t n;
  assert_non_null(seen);
  for (int64_t at = 0;; at++) {
    test_ok(bl_spool_read(bl_probe_events(p), at, &e, 1, &n, &err), &err);
    if (n == 0) break;
    for (uint32_t i = 0; i < e.len; i++) assert_event(w, &e, i, seen);
  }
  for (int64_t i = 0; i < w->n; i++) {
    const world_row *a = &w->side[0][i], *b = &w->side[1][i];
    assert_int_equal(seen[i], a->there != b->there || (a->there && a->seq != b->seq));
  }
  free(seen);
}

static void assert_probe(int64_t n, int64_t gap, bool shuffled, uint64_t seed) {
  probe_world w;
  bl_ctx *ctx = test_ctx();
  probe_world_make(&w, ctx, n, gap, shuffled, seed);
  for (int k = 0; k < 8; k++) {
    bl_probe *p = run_by(&w, k & 1 ? n : INT64_MAX, k & 2, k & 4);
    assert_false(bl_probe_failed(p));
    assert_events(&w, p);
    bl_probe_free(p);
  }
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_probe__finds_what_differs_between_runs_in_order(void **state) {
  (void)state;
  assert_probe(1, 1, false, 1);
  assert_probe(400, 1, false, 2);
  assert_probe(900, 3, false, 3);
}

static void test_probe__finds_what_differs_between_shuffled_rows(void **state) {
  (void)state;
  assert_probe(900, 1, true, 4);
  assert_probe(6000, 1, true, 5);
  assert_probe(6000, 50, true, 6);
}

static void assert_void(probe_world *w, bl_probe *p) {
  assert_true(bl_probe_failed(p));
  bl_probe_free(p);
  probe_world_dispose(w);
  test_ctx_free(w->ctx);
}

static void probe_with(int64_t n, int side, bl_run more) {
  probe_world w;
  probe_world_make(&w, test_ctx(), n, 1, true, 7);
  if (more.id == 0) more.id = w.runs[side][n / 2].id;
  w.runs[side][w.n_runs[side]++] = more;
  assert_void(&w, run(&w, n));
}

/* The same, all rows one by one: the last one of the last file has the id of the one before. */
static void probe_rows_with_twice(int64_t n, int side) {
  probe_world w;
  probe_world_make(&w, test_ctx(), n, 1, true, 7);
  bl_run *last = &w.runs[side][w.n_runs[side] - 1];
  assert_int_equal(last->len, 1);
  last->id = last[-1].id;
  assert_void(&w, run_by(&w, n, true, true));
}

static void test_probe__is_void_where_an_id_is_removed_twice(void **state) {
  (void)state;
  probe_with(100, 0, (bl_run){.seq = 1, .file = 0, .len = 1});
  probe_with(3000, 0, (bl_run){.seq = 1, .file = 0, .len = 1});
  probe_rows_with_twice(100, 0);
  probe_rows_with_twice(3000, 0);
}

static void test_probe__is_void_where_an_id_is_added_twice(void **state) {
  (void)state;
  probe_with(100, 1, (bl_run){.seq = 1, .file = 4, .len = 1});
  probe_with(3000, 1, (bl_run){.seq = 1, .file = 4, .len = 1});
  probe_rows_with_twice(100, 1);
  probe_rows_with_twice(3000, 1);
}

static void test_probe__is_void_where_an_id_is_inserted_twice(void **state) {
  (void)state;
  probe_world w;
  probe_world_make(&w, test_ctx(), 50, 1, false, 8);
  bl_probe *p = run(&w, 50);
  bl_probe_free(p);
  p = probe_of(&w, 50);
  add_runs(&w, p, 0);
  test_ok(bl_probe_turn(p, &w.err), &w.err);
  bl_run fresh = {.id = 10000, .seq = 9, .file = 4, .len = 3};
  test_ok(bl_probe_added(p, &fresh, 1, &w.err), &w.err);
  fresh.id = 10002;
  test_ok(bl_probe_added(p, &fresh, 1, &w.err), &w.err);
  assert_false(bl_probe_failed(p));
  test_ok(bl_probe_finish(p, &w.err), &w.err);
  assert_void(&w, p);
}

static void test_probe__is_void_where_a_row_has_no_id(void **state) {
  (void)state;
  probe_with(100, 0, (bl_run){.id = INT64_MIN, .seq = INT64_MIN, .file = 0, .len = 1});
  probe_with(100, 1, (bl_run){.id = INT64_MIN, .seq = INT64_MIN, .file = 4, .len = 1});
}

/* Too many removed runs for their number, and no room for a table. */
static void test_probe__is_void_where_the_removed_rows_take_too_much(void **state) {
  (void)state;
  probe_world w;
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.memory_budget = 1 << 20;
  test_heap h = {0};
  probe_world_make(&w, test_ctx_on(&h, &o), 3000, 400, true, 9);
  assert_void(&w, run(&w, 3000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_probe__finds_what_differs_between_runs_in_order),
      cmocka_unit_test(test_probe__finds_what_differs_between_shuffled_rows),
      cmocka_unit_test(test_probe__is_void_where_an_id_is_removed_twice),
      cmocka_unit_test(test_probe__is_void_where_an_id_is_added_twice),
      cmocka_unit_test(test_probe__is_void_where_an_id_is_inserted_twice),
      cmocka_unit_test(test_probe__is_void_where_a_row_has_no_id),
      cmocka_unit_test(test_probe__is_void_where_the_removed_rows_take_too_much),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
