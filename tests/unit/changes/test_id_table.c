/* test_id_table.c: removed rows are found by id, once each; what is not met comes out as runs. */
#include "changes/id_table.h"

#include <pthread.h>

#include "probe_world.h"

enum { ROOM = 64 << 20 };

static bl_id_table *table_of(probe_world *w, int64_t budget, bool *fits) {
  bl_id_table *t;
  test_ok(bl_id_table_new(w->ctx, &w->files, 0, budget, &t, &w->err), &w->err);
  assert_non_null(t);
  *fits = true;
  for (size_t i = 0; *fits && i < w->n_runs[0]; i += 100) {
    size_t n = w->n_runs[0] - i < 100 ? w->n_runs[0] - i : 100;
    test_ok(bl_id_table_add(t, w->runs[0] + i, n, fits, &w->err), &w->err);
  }
  return t;
}

static void assert_row(const world_row *x, const bl_run *r) {
  assert_int_equal(r->id, x->id);
  assert_int_equal(r->seq, x->seq);
  assert_int_equal(r->pos, x->pos);
  assert_int_equal(r->file, x->file);
  assert_int_equal(r->len, 1);
}

static void assert_every_row_is_met_once(int64_t n, int64_t gap, bool shuffled, uint64_t seed) {
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  bl_run r;
  probe_world_make(&w, ctx, n, gap, shuffled, seed);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  assert_true(fits);
  for (int64_t i = 0; i < n; i++) {
    const world_row *x = &w.side[0][i];
    bl_meeting m = bl_id_table_meet(t, x->id, &r);
    assert_int_equal(m, x->there ? BL_ID_MET : BL_ID_UNKNOWN);
    if (m == BL_ID_MET) assert_row(x, &r);
    if (m == BL_ID_MET) assert_int_equal(bl_id_table_meet(t, x->id, &r), BL_ID_MET_AGAIN);
  }
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__each_row_is_met_once_with_its_place_and_number(void **state) {
  (void)state;
  assert_every_row_is_met_once(1, 5, false, 1);
  assert_every_row_is_met_once(3000, 3, false, 2);
  assert_every_row_is_met_once(3000, 3, true, 3);
  assert_every_row_is_met_once(500, 10000, true, 4);
}

static void test_id_table__ids_that_were_not_added_are_unknown(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  bl_run r;
  probe_world_make(&w, ctx, 10, 1, false, 5);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  int64_t far[] = {w.ids[9] + 1, w.ids[9] + (1 << 16), INT64_MAX};
  for (size_t i = 0; i < BL_LEN(far); i++) assert_int_equal(bl_id_table_meet(t, far[i], &r), BL_ID_UNKNOWN);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

typedef struct rest {
  const probe_world *w;
  int64_t at, rows, runs; /* rows before `at` were seen */
} rest;

static bl_status take(void *user, const bl_run *r, bl_error *err) {
  rest *x = user;
  (void)err;
  for (uint32_t i = 0; i < r->len; i++) {
    const probe_world *w = x->w;
    while (!w->side[0][x->at].there || w->side[1][x->at].there) x->at++;
    bl_run one = {r->id + i, r->seq, r->pos + i, r->file, 1};
    assert_row(&w->side[0][x->at], &one);
    x->at++;
    x->rows++;
  }
  x->runs++;
  return BL_OK;
}

static void test_id_table__rows_that_were_not_met_come_in_the_order_of_their_ids(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  bl_run r;
  int64_t gone = 0;
  probe_world_make(&w, ctx, 5000, 60, true, 6);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  for (int64_t i = 0; i < w.n; i++) {
    if (w.side[1][i].there) (void)bl_id_table_meet(t, w.ids[i], &r);
    gone += w.side[0][i].there && !w.side[1][i].there;
  }
  rest x = {.w = &w};
  test_ok(bl_id_table_rest(t, take, &x, &fits, &w.err), &w.err);
  assert_true(fits);
  assert_int_equal(x.rows, gone);
  assert_true(gone > 0);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static bl_status count(void *user, const bl_run *r, bl_error *err) {
  rest *x = user;
  (void)err;
  x->runs++;
  x->rows += r->len;
  return BL_OK;
}

static void test_id_table__neighbours_that_were_not_met_are_one_run_across_pages(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_files files;
  bl_files_init(&files, ctx);
  uint32_t file;
  bool fits;
  bl_manifest_entry e = {.file = {.path = BL_STR("f"), .record_count = 300000}};
  test_ok(bl_files_add(&files, &e, BL_BASIS_ROW_ID, &file, &err), &err);
  bl_id_table *t;
  test_ok(bl_id_table_new(ctx, &files, 0, ROOM, &t, &err), &err);
  bl_run run = {.id = 1000, .seq = 4, .pos = 0, .file = file, .len = 200000};
  test_ok(bl_id_table_add(t, &run, 1, &fits, &err), &err);
  assert_true(fits);
  rest x = {0};
  test_ok(bl_id_table_rest(t, count, &x, &fits, &err), &err);
  assert_true(fits);
  assert_int_equal(x.runs, 1);
  assert_int_equal(x.rows, 200000);
  bl_run row;
  assert_int_equal(bl_id_table_meet(t, 70000, &row), BL_ID_MET);
  assert_int_equal(row.pos, 69000);
  x = (rest){0};
  test_ok(bl_id_table_rest(t, count, &x, &fits, &err), &err);
  assert_true(fits);
  assert_int_equal(x.runs, 2);
  assert_int_equal(x.rows, 199999);
  bl_id_table_free(t);
  bl_files_dispose(&files);
  test_ctx_free(ctx);
}

/* Rows of removed file 0, as many as there are. */
static bl_id_rows rows_of(const probe_world *w, int64_t *ids, int64_t *seqs) {
  bl_id_rows r = {.ids = ids, .seqs = seqs};
  for (int64_t i = 0; i < w->n; i++) {
    const world_row *x = &w->side[0][i];
    if (!x->there || x->file != 0) continue;
    ids[x->pos] = x->id;
    seqs[x->pos] = x->seq;
    r.n++;
  }
  return r;
}

static void test_id_table__rows_one_by_one_are_as_good_as_runs(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  int64_t ids[3000], seqs[3000];
  bool fits;
  bl_run r;
  probe_world_make(&w, ctx, 3000, 90, true, 12);
  bl_id_rows rows = rows_of(&w, ids, seqs);
  bl_id_table *t;
  test_ok(bl_id_table_new(ctx, &w.files, 0, ROOM, &t, &w.err), &w.err);
  test_ok(bl_id_table_add_rows(t, &rows, &fits, &w.err), &w.err);
  assert_true(fits);
  for (int64_t i = 0; i < w.n; i++) {
    const world_row *x = &w.side[0][i];
    bl_meeting m = bl_id_table_meet(t, x->id, &r);
    assert_int_equal(m, x->there && x->file == 0 ? BL_ID_MET : BL_ID_UNKNOWN);
    if (m == BL_ID_MET) assert_row(x, &r);
  }
  test_ok(bl_id_table_add_rows(t, &(bl_id_rows){ids + 7, seqs + 7, 1, 7, 0}, &fits, &w.err), &w.err);
  assert_false(fits);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__passes_over_rows_that_only_moved(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  int64_t ids[3000], seqs[3000];
  bool fits;
  bl_run r;
  probe_world_make(&w, ctx, 3000, 3, true, 13);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  bl_id_rows rows = rows_of(&w, ids, seqs);
  seqs[5] += 10;               /* another number */
  ids[9] = w.ids[w.n - 1] + 1; /* no such row */
  ids[20] = ids[19];           /* met just now */
  assert_int_equal(bl_id_table_pass(t, &rows, 0), 5);
  assert_int_equal(bl_id_table_meet(t, ids[5], &r), BL_ID_MET);
  assert_int_equal(bl_id_table_pass(t, &rows, 6), 3);
  assert_int_equal(bl_id_table_pass(t, &rows, 9), 0);
  assert_int_equal(bl_id_table_pass(t, &rows, 10), 10);
  assert_int_equal(bl_id_table_meet(t, ids[20], &r), BL_ID_MET_AGAIN);
  assert_int_equal(bl_id_table_pass(t, &rows, 21), rows.n - 21);
  assert_int_equal(bl_id_table_pass(t, &rows, rows.n), 0);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

typedef struct racer {
  bl_id_table *t;
  const bl_id_rows *rows;
  bool meets, noticed;
} racer;

static void *race(void *user) {
  racer *x = user;
  bl_error err = BL_ERROR_INIT;
  bool fits = true;
  if (x->meets) x->noticed = bl_id_table_pass(x->t, x->rows, 0) < x->rows->n;
  else x->noticed = bl_id_table_add_rows(x->t, x->rows, &fits, &err) != BL_OK || !fits;
  return NULL;
}

/* Whether a thread notices, or the count in the end does. */
static void assert_two_at_once_do_not_go_unseen(bool meets) {
  probe_world w;
  bl_ctx *ctx = test_ctx();
  int64_t ids[3000], seqs[3000];
  bool fits;
  rest x = {0};
  pthread_t other;
  probe_world_make(&w, ctx, 3000, 1, false, 14);
  bl_id_rows rows = rows_of(&w, ids, seqs);
  bl_id_table *t = NULL;
  if (meets) t = table_of(&w, ROOM, &fits);
  else test_ok(bl_id_table_new(ctx, &w.files, 0, ROOM, &t, &w.err), &w.err);
  racer both[2] = {{t, &rows, meets, false}, {t, &rows, meets, false}};
  assert_int_equal(pthread_create(&other, NULL, race, &both[1]), 0);
  race(&both[0]);
  assert_int_equal(pthread_join(other, NULL), 0);
  test_ok(bl_id_table_rest(t, count, &x, &fits, &w.err), &w.err);
  assert_true(!fits || both[0].noticed || both[1].noticed);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__an_id_that_two_threads_add_or_meet_at_once_does_not_go_unseen(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    assert_two_at_once_do_not_go_unseen(false);
    assert_two_at_once_do_not_go_unseen(true);
  }
}

static void test_id_table__says_when_an_id_is_there_twice(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  probe_world_make(&w, ctx, 100, 2, true, 7);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  assert_true(fits);
  test_ok(bl_id_table_add(t, &w.runs[0][50], 1, &fits, &w.err), &w.err);
  assert_false(fits);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__says_when_its_budget_is_used_up(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  probe_world_make(&w, ctx, 2000, 1 << 16, true, 8); /* a page for nearly each row */
  bl_id_table_free(table_of(&w, 4 << 20, &fits));
  assert_false(fits);
  bl_id_table_free(table_of(&w, 0, &fits));
  assert_false(fits);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

/* A file with more rows than its record_count: their places would be those of the next file. */
static void test_id_table__says_when_a_position_is_none_of_its_file(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits;
  probe_world_make(&w, ctx, 100, 2, false, 9);
  bl_id_table *t = table_of(&w, ROOM, &fits);
  bl_run beyond = {.id = 90000, .seq = 1, .pos = w.entries[1].file.record_count, .file = 1, .len = 1};
  test_ok(bl_id_table_add(t, &beyond, 1, &fits, &w.err), &w.err);
  assert_false(fits);
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__says_when_there_are_more_rows_than_it_can_count(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  probe_world_make(&w, ctx, 10, 2, false, 10);
  w.entries[6].file.record_count = INT64_MAX;
  bl_id_table *t;
  test_ok(bl_id_table_new(ctx, &w.files, 0, ROOM, &t, &w.err), &w.err);
  assert_null(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

static void test_id_table__sequence_numbers_may_be_many(void **state) {
  (void)state;
  probe_world w;
  bl_ctx *ctx = test_ctx();
  bool fits = true;
  probe_world_make(&w, ctx, 1, 1, false, 11);
  w.entries[0].file.record_count = 70000;
  bl_id_table *t;
  test_ok(bl_id_table_new(ctx, &w.files, 0, ROOM, &t, &w.err), &w.err);
  for (int64_t i = 0; i < 300; i++) {
    bl_run r = {.id = i, .seq = i * 7, .pos = i, .file = 0, .len = 1}, row;
    test_ok(bl_id_table_add(t, &r, 1, &fits, &w.err), &w.err);
    assert_true(fits);
    assert_int_equal(bl_id_table_meet(t, i, &row), BL_ID_MET);
    assert_int_equal(row.seq, i * 7);
  }
  bl_id_table_free(t);
  probe_world_dispose(&w);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_id_table__each_row_is_met_once_with_its_place_and_number),
      cmocka_unit_test(test_id_table__ids_that_were_not_added_are_unknown),
      cmocka_unit_test(test_id_table__rows_one_by_one_are_as_good_as_runs),
      cmocka_unit_test(test_id_table__passes_over_rows_that_only_moved),
      cmocka_unit_test(test_id_table__an_id_that_two_threads_add_or_meet_at_once_does_not_go_unseen),
      cmocka_unit_test(test_id_table__rows_that_were_not_met_come_in_the_order_of_their_ids),
      cmocka_unit_test(test_id_table__neighbours_that_were_not_met_are_one_run_across_pages),
      cmocka_unit_test(test_id_table__says_when_an_id_is_there_twice),
      cmocka_unit_test(test_id_table__says_when_its_budget_is_used_up),
      cmocka_unit_test(test_id_table__says_when_a_position_is_none_of_its_file),
      cmocka_unit_test(test_id_table__says_when_there_are_more_rows_than_it_can_count),
      cmocka_unit_test(test_id_table__sequence_numbers_may_be_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
