/* test_join.c: removed against added runs, against a twin that looks at single rows and follows docs/changelog.md C2
 * word by word. */
#include "changes/join.h"

#include "random.h"

enum { FILES = 6, MOST_ROWS = 4000 };

/* ---- the twin ---- */

typedef struct row {
  int64_t id, seq, pos;
  uint32_t file;
  bool used;
} row;

typedef struct pair {
  int64_t id;
  bool has[2];
  row r[2]; /* before, after */
} pair;

typedef struct pairs {
  pair *items;
  size_t n, cap;
} pairs;

typedef struct world {
  uint32_t rank[FILES];
  uint64_t values; /* seed of the values; few different ones */
  int64_t n_values;
  row *rows[2];
  size_t n[2];
  bl_run *runs[2];
  size_t n_runs[2];
  pairs want_events, want_moved, got_events, got_moved;
  bool want_moves;
  int64_t rows_hashed, hash_calls;
} world;

static int64_t value_of(const world *w, uint32_t file, int64_t pos) {
  rng r = {w->values ^ (uint64_t)pos * 31 ^ (uint64_t)file << 40};
  return (int64_t)(rng_next(&r) % (uint64_t)w->n_values);
}

static void add_pair(pairs *p, const row *before, const row *after) {
  if (p->n == p->cap) {
    p->cap = p->cap ? p->cap * 2 : 64;
    p->items = realloc(p->items, p->cap * sizeof *p->items);
    assert_non_null(p->items);
  }
  pair *x = &p->items[p->n++];
  memset(x, 0, sizeof *x);
  if (before) x->has[0] = true, x->r[0] = *before;
  if (after) x->has[1] = true, x->r[1] = *after;
  x->id = before ? before->id : after->id;
}

static int cmp_rows(const world *w, const row *a, const row *b) {
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->seq != b->seq) return a->seq < b->seq ? -1 : 1;
  if (w->rank[a->file] != w->rank[b->file]) return w->rank[a->file] < w->rank[b->file] ? -1 : 1;
  if (a->pos != b->pos) return a->pos < b->pos ? -1 : 1;
  return (a->file > b->file) - (a->file < b->file);
}

static void sort_rows(const world *w, row *r, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0 && cmp_rows(w, &r[k - 1], &r[k]) > 0; k--) {
      row t = r[k];
      r[k] = r[k - 1];
      r[k - 1] = t;
    }
}

/* What orders events of one id: the after image's place, else the before image's. */
static const row *image(const pair *p) {
  return &p->r[p->has[1] ? 1 : 0];
}

static int cmp_pairs(const world *w, const pair *p, const pair *q) {
  const row *a = image(p), *b = image(q);
  int kind_p = p->has[0] && p->has[1] ? 2 : p->has[0], kind_q = q->has[0] && q->has[1] ? 2 : q->has[0];
  if (w->rank[a->file] != w->rank[b->file]) return w->rank[a->file] < w->rank[b->file] ? -1 : 1;
  if (a->pos != b->pos) return a->pos < b->pos ? -1 : 1;
  if (kind_p != kind_q) return kind_p < kind_q ? -1 : 1;
  return (a->file > b->file) - (a->file < b->file);
}

static void sort_pairs(const world *w, pair *p, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0 && cmp_pairs(w, &p[k - 1], &p[k]) > 0; k--) {
      pair t = p[k];
      p[k] = p[k - 1];
      p[k - 1] = t;
    }
}

static void match_twin(world *w, row *o, size_t n_old, row *n, size_t n_new, bool values) {
  for (size_t i = 0; i < n_old; i++)
    for (size_t k = 0; k < n_new && !o[i].used; k++) {
      if (n[k].used || n[k].seq != o[i].seq) continue;
      if (values && value_of(w, o[i].file, o[i].pos) != value_of(w, n[k].file, n[k].pos)) continue;
      o[i].used = n[k].used = true;
      add_pair(&w->want_moved, &o[i], &n[k]);
    }
}

static void one_id(world *w, row *o, size_t n_old, row *n, size_t n_new) {
  size_t first = w->want_events.n, i = 0, k = 0;
  match_twin(w, o, n_old, n, n_new, true);
  match_twin(w, o, n_old, n, n_new, false);
  for (;;) {
    while (i < n_old && o[i].used) i++;
    while (k < n_new && n[k].used) k++;
    if (i == n_old && k == n_new) break;
    add_pair(&w->want_events, i < n_old ? &o[i] : NULL, k < n_new ? &n[k] : NULL);
    i += i < n_old;
    k += k < n_new;
  }
  sort_pairs(w, w->want_events.items + first, w->want_events.n - first);
}

static void run_twin(world *w) {
  size_t at[2] = {0, 0};
  for (int k = 0; k < 2; k++) sort_rows(w, w->rows[k], w->n[k]);
  while (at[0] < w->n[0] || at[1] < w->n[1]) {
    int64_t id = INT64_MAX;
    size_t n[2] = {0, 0};
    for (int k = 0; k < 2; k++)
      if (at[k] < w->n[k] && w->rows[k][at[k]].id < id) id = w->rows[k][at[k]].id;
    for (int k = 0; k < 2; k++)
      while (at[k] + n[k] < w->n[k] && w->rows[k][at[k] + n[k]].id == id) n[k]++;
    one_id(w, w->rows[0] + at[0], n[0], w->rows[1] + at[1], n[1]);
    at[0] += n[0];
    at[1] += n[1];
  }
}

/* ---- the join's side ---- */

static row row_at(int64_t id, int64_t seq, uint32_t file, int64_t pos) {
  return (row){.id = id, .seq = seq, .pos = pos, .file = file};
}

static bl_status on_event(void *user, const bl_event *e, bl_error *err) {
  world *w = user;
  (void)err;
  assert_true(e->len > 0);
  bool before = e->before_file != BL_NO_FILE, after = e->after_file != BL_NO_FILE;
  assert_int_equal(e->type, before && after ? BL_UPDATE : before ? BL_DELETE : BL_INSERT);
  assert_int_equal(e->basis, BL_BASIS_ROW_ID);
  if (!before) assert_true(e->before_id == INT64_MIN && e->before_seq == INT64_MIN);
  if (!after) assert_true(e->after_id == INT64_MIN && e->after_seq == INT64_MIN);
  if (before && after) assert_int_equal(e->before_id, e->after_id);
  for (uint32_t i = 0; i < e->len; i++) {
    row o = row_at(e->before_id + (before ? i : 0), e->before_seq, e->before_file, e->before_pos + i);
    row n = row_at(e->after_id + (after ? i : 0), e->after_seq, e->after_file, e->after_pos + i);
    add_pair(&w->got_events, before ? &o : NULL, after ? &n : NULL);
  }
  return BL_OK;
}

static bl_status on_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  world *w = user;
  (void)err;
  for (int64_t i = 0; i < len; i++) {
    row o = row_at(before->id + i, before->seq, before->file, before->pos + i);
    row n = row_at(after->id + i, after->seq, after->file, after->pos + i);
    add_pair(&w->got_moved, &o, &n);
  }
  return BL_OK;
}

static int by_place(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return (x->pos > y->pos) - (x->pos < y->pos);
}

static bl_status on_hash_values(void *user, bl_hashed_row *rows, size_t n, bl_error *err) {
  world *w = user;
  (void)err;
  bl_sort(rows, n, sizeof *rows, by_place);
  for (size_t i = 0; i < n; i++) {
    if (i) assert_true(by_place(&rows[i - 1], &rows[i]) < 0); /* no place is asked for twice */
    rows[i].hash = (bl_hash128){.lo = (uint64_t)value_of(w, rows[i].file, rows[i].pos) * 77, .hi = 5};
  }
  w->rows_hashed += (int64_t)n;
  w->hash_calls++;
  return BL_OK;
}

static bl_status join_world(bl_ctx *ctx, world *w, int64_t budget, bl_error *err) {
  bl_sorter *s[2] = {NULL, NULL};
  bl_status st = BL_OK;
  for (int k = 0; st == BL_OK && k < 2; k++) {
    st = bl_sorter_new(ctx, sizeof(bl_run), budget, bl_run_cmp, w->rank, &s[k], err);
    for (size_t i = 0; st == BL_OK && i < w->n_runs[k]; i++) st = bl_sorter_add(s[k], &w->runs[k][i], err);
    if (st == BL_OK) st = bl_sorter_finish(s[k], err);
  }
  bl_join_sink sink = {
      .event = on_event, .moved = w->want_moves ? on_moved : NULL, .hash_values = on_hash_values, .user = w};
  if (st == BL_OK) st = bl_join_runs(ctx, s[0], s[1], w->rank, &sink, err);
  bl_sorter_free(s[0]);
  bl_sorter_free(s[1]);
  return st;
}

/* ---- worlds ---- */

static void add_run(world *w, int side, bl_run r) {
  w->runs[side] = realloc(w->runs[side], (w->n_runs[side] + 1) * sizeof *w->runs[side]);
  assert_non_null(w->runs[side]);
  w->runs[side][w->n_runs[side]++] = r;
  w->rows[side] = realloc(w->rows[side], (w->n[side] + r.len) * sizeof *w->rows[side]);
  assert_non_null(w->rows[side]);
  for (uint32_t i = 0; i < r.len; i++) w->rows[side][w->n[side]++] = row_at(r.id + i, r.seq, r.file, r.pos + i);
}

static void free_world(world *w) {
  for (int k = 0; k < 2; k++) {
    free(w->rows[k]);
    free(w->runs[k]);
  }
  free(w->want_events.items);
  free(w->want_moved.items);
  free(w->got_events.items);
  free(w->got_moved.items);
}

static world new_world(rng *r) {
  world w = {.values = rng_next(r), .n_values = rng_between(r, 1, 4), .want_moves = rng_between(r, 0, 1)};
  for (uint32_t i = 0; i < FILES; i++) w.rank[i] = (uint32_t)rng_between(r, 0, FILES - 1);
  return w;
}

/* Runs of one side. overlap: they may hold an id several times. */
static void random_side(world *w, int side, rng *r, int64_t lowest, int64_t most_len, int64_t n, bool overlap) {
  int64_t id = lowest, pos[FILES] = {0};
  for (int64_t i = 0; i < n; i++) {
    int64_t len = rng_between(r, 1, most_len);
    int64_t from = overlap ? lowest : id, step = rng_between(r, 0, overlap ? 4 * n : 3);
    id = from > INT64_MAX - step ? INT64_MAX : from + step;
    if (id > INT64_MAX - len + 1) id = INT64_MAX - len + 1;
    uint32_t file = (uint32_t)rng_between(r, 0, FILES / 2 - 1) * 2 + (uint32_t)side; /* a version belongs to a side */
    add_run(w, side,
            (bl_run){.id = id, .seq = rng_between(r, 1, 3), .pos = pos[file], .file = file, .len = (uint32_t)len});
    pos[file] += len + rng_between(r, 0, 2);
    if (!overlap && (id < 0 || len - 1 < INT64_MAX - id)) id += len;
    if (!overlap && id > INT64_MAX - most_len - 4) break;
  }
}

static bool same_pair(const pair *a, const pair *b) {
  if (a->id != b->id || a->has[0] != b->has[0] || a->has[1] != b->has[1]) return false;
  for (int k = 0; k < 2; k++)
    if (a->has[k] && (a->r[k].id != b->r[k].id || a->r[k].seq != b->r[k].seq || a->r[k].file != b->r[k].file ||
                      a->r[k].pos != b->r[k].pos))
      return false;
  return true;
}

static int by_before(const void *a, const void *b) {
  const pair *x = a, *y = b;
  if (x->r[0].file != y->r[0].file) return x->r[0].file < y->r[0].file ? -1 : 1;
  return (x->r[0].pos > y->r[0].pos) - (x->r[0].pos < y->r[0].pos);
}

static void same_pairs(const char *what, const pairs *want, const pairs *got) {
  for (size_t i = 0; i < want->n && i < got->n; i++)
    if (!same_pair(&want->items[i], &got->items[i]))
      fail_msg("%s %zu: id %lld wanted, %lld there", what, i, (long long)want->items[i].id,
               (long long)got->items[i].id);
  assert_int_equal(want->n, got->n);
}

static void compare(bl_ctx *ctx, world *w, int64_t budget) {
  bl_error err = BL_ERROR_INIT;
  test_ok(join_world(ctx, w, budget, &err), &err);
  run_twin(w);
  same_pairs("event", &w->want_events, &w->got_events);
  if (!w->want_moves) return;
  bl_sort(w->want_moved.items, w->want_moved.n, sizeof(pair), by_before);
  bl_sort(w->got_moved.items, w->got_moved.n, sizeof(pair), by_before);
  same_pairs("moved", &w->want_moved, &w->got_moved);
}

static void random_worlds(uint64_t seed, int rounds, bool overlap, int64_t lowest) {
  bl_ctx *ctx = test_ctx();
  rng r = {seed};
  for (int i = 0; i < rounds; i++) {
    world w = new_world(&r);
    int64_t n = rng_between(&r, 0, 25), len = rng_between(&r, 1, 20);
    random_side(&w, 0, &r, lowest, len, n, overlap && rng_between(&r, 0, 2));
    random_side(&w, 1, &r, lowest, rng_between(&r, 1, 20), rng_between(&r, 0, 25), overlap && rng_between(&r, 0, 2));
    compare(ctx, &w, rng_between(&r, 0, 1) ? 0 : 1 << 16);
    free_world(&w);
  }
  test_ctx_free(ctx);
}

static void test_join__pairs_rows_by_id(void **state) {
  (void)state;
  random_worlds(1, 500, false, 0);
}

static void test_join__matches_ids_that_are_there_twice_by_number_values_and_place(void **state) {
  (void)state;
  random_worlds(2, 1500, true, 0);
}

static void test_join__knows_the_highest_and_the_lowest_id(void **state) {
  (void)state;
  random_worlds(3, 300, true, INT64_MAX - 60);
  random_worlds(4, 300, true, INT64_MIN + 1);
  bl_ctx *ctx = test_ctx();
  rng r = {1};
  world w = new_world(&r);
  w.want_moves = true;
  add_run(&w, 0, (bl_run){.id = INT64_MIN + 1, .seq = 1, .file = 0, .len = 2});
  add_run(&w, 0, (bl_run){.id = INT64_MAX, .seq = 1, .pos = 5, .file = 0, .len = 1});
  add_run(&w, 1, (bl_run){.id = INT64_MAX - 1, .seq = 2, .file = 1, .len = 2});
  compare(ctx, &w, 1 << 16);
  assert_int_equal(w.got_events.n, 4);
  free_world(&w);
  test_ctx_free(ctx);
}

static void test_join__of_two_empty_sides_gives_nothing(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  rng r = {1};
  world w = new_world(&r);
  compare(ctx, &w, 0);
  assert_int_equal(w.got_events.n, 0);
  free_world(&w);
  test_ctx_free(ctx);
}

/* A long run against many short ones: events only where rows differ, and as long as they can be. */
static bl_status count_event(void *user, const bl_event *e, bl_error *err) {
  int64_t *n = user;
  (void)err;
  n[0]++;
  n[1] += e->len;
  return BL_OK;
}

static bl_sorter *sorted_runs(bl_ctx *ctx, const uint32_t *rank, int64_t n, uint32_t len, int64_t step, int64_t seq) {
  bl_error err = BL_ERROR_INIT;
  bl_sorter *s;
  test_ok(bl_sorter_new(ctx, sizeof(bl_run), 64 << 20, bl_run_cmp, (void *)(uintptr_t)rank, &s, &err), &err);
  for (int64_t i = 0; i < n; i++) {
    bl_run r = {.id = i * step, .seq = seq, .pos = i * step, .len = len};
    test_ok(bl_sorter_add(s, &r, &err), &err);
  }
  test_ok(bl_sorter_finish(s, &err), &err);
  return s;
}

static void test_join__takes_long_runs_as_runs(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  const uint32_t rank[1] = {0};
  int64_t counts[2] = {0, 0};
  bl_sorter *o = sorted_runs(ctx, rank, 5, 500000, 500000, 1), *n = sorted_runs(ctx, rank, 200000, 2, 12, 1);
  bl_join_sink sink = {.event = count_event, .user = counts};
  test_ok(bl_join_runs(ctx, o, n, rank, &sink, &err), &err);
  assert_int_equal(counts[1], 2500000 - 2 * 200000 + 0 + 2 * 0);
  assert_true(counts[0] <= 200000 + 5 + 1);
  bl_sorter_free(o);
  bl_sorter_free(n);
  test_ctx_free(ctx);
}

static void test_join__reads_values_of_many_ids_at_once(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  rng r = {9};
  world w = new_world(&r);
  w.want_moves = false;
  for (uint32_t k = 0; k < 3; k++) /* three copies removed, two added: values say which one stays behind */
    add_run(&w, k == 2 ? 0 : (int)k, (bl_run){.id = 100, .seq = 1, .pos = 1000 * k, .file = k == 1, .len = 900});
  add_run(&w, 0, (bl_run){.id = 50, .seq = 1, .pos = 5000, .file = 2, .len = 1});
  add_run(&w, 1, (bl_run){.id = 2000, .seq = 1, .pos = 5000, .file = 3, .len = 1});
  compare(ctx, &w, 1 << 16);
  assert_int_equal(w.rows_hashed, 3 * 900);
  assert_int_equal(w.hash_calls, 1);
  free_world(&w);
  test_ctx_free(ctx);
}

static void test_join__does_not_read_values_that_decide_nothing(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  rng r = {9};
  world w = new_world(&r);
  w.want_moves = false;
  for (uint32_t k = 0; k < 4; k++) /* as many copies on both sides: all have moved */
    add_run(&w, (int)k % 2, (bl_run){.id = 100, .seq = 1, .pos = 1000 * k, .file = k, .len = 900});
  compare(ctx, &w, 1 << 16);
  assert_int_equal(w.rows_hashed, 0);
  assert_int_equal(w.got_events.n, 0);
  free_world(&w);
  test_ctx_free(ctx);
}

static void test_join__takes_an_id_that_thousands_of_rows_have(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  world w = {.n_values = 3, .values = 5};
  const int64_t n[2] = {20000, 15000};
  for (int k = 0; k < 2; k++)
    for (int64_t i = 0; i < n[k]; i++) {
      w.runs[k] = w.runs[k] ? w.runs[k] : malloc((size_t)n[k] * sizeof(bl_run));
      assert_non_null(w.runs[k]);
      w.runs[k][w.n_runs[k]++] = (bl_run){.id = 0, .seq = 1, .pos = i, .file = (uint32_t)k, .len = 1};
    }
  test_ok(join_world(ctx, &w, 1 << 20, &err), &err);
  assert_int_equal(w.got_events.n, 5000);
  for (size_t i = 0; i < w.got_events.n; i++) assert_false(w.got_events.items[i].has[1]);
  free_world(&w);
  test_ctx_free(ctx);
}

static void on_duplicate(void *user, int64_t id) {
  int64_t *seen = user;
  seen[0]++;
  seen[1] += id;
}

static bl_status no_event(void *user, const bl_event *e, bl_error *err) {
  (void)user, (void)e, (void)err;
  return BL_OK;
}

static void test_join__tells_each_id_that_is_there_twice(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  const uint32_t rank[1] = {0};
  int64_t seen[2] = {0, 0};
  bl_sorter *o = sorted_runs(ctx, rank, 10, 12, 10, 1), *n = sorted_runs(ctx, rank, 0, 1, 1, 1);
  bl_join_sink sink = {.event = no_event, .duplicate = on_duplicate, .user = seen};
  test_ok(bl_join_runs(ctx, o, n, rank, &sink, &err), &err);
  assert_int_equal(seen[0], 18); /* 10, 11, 20, 21 … 90, 91 */
  assert_int_equal(seen[1], 450 + 459);
  bl_sorter_free(o);
  bl_sorter_free(n);
  test_ctx_free(ctx);
}

static bl_status refuse_event(void *user, const bl_event *e, bl_error *err) {
  (void)user, (void)e;
  return bl_fail(err, BL_CANCELLED, "enough");
}

static void test_join__passes_on_what_the_sink_says(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  const uint32_t rank[1] = {0};
  for (uint32_t len = 5; len <= 15; len += 10) { /* without and with duplicates */
    bl_error err = BL_ERROR_INIT;
    bl_sorter *o = sorted_runs(ctx, rank, 3, len, 10, 1), *n = sorted_runs(ctx, rank, 0, 1, 1, 1);
    bl_join_sink sink = {.event = refuse_event};
    test_status(BL_CANCELLED, bl_join_runs(ctx, o, n, rank, &sink, &err), &err);
    bl_sorter_free(o);
    bl_sorter_free(n);
  }
  test_ctx_free(ctx);
}

static bl_status join_again(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  w->got_events.n = w->got_moved.n = 0;
  return join_world(ctx, w, 0, err);
}

static void test_join__says_when_memory_runs_out(void **state) {
  (void)state;
  rng r = {21};
  world w = new_world(&r);
  w.want_moves = true;
  random_side(&w, 0, &r, 0, 5, 12, true);
  random_side(&w, 1, &r, 0, 5, 12, true);
  test_fail_each(join_again, &w);
  free_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_join__pairs_rows_by_id),
      cmocka_unit_test(test_join__matches_ids_that_are_there_twice_by_number_values_and_place),
      cmocka_unit_test(test_join__knows_the_highest_and_the_lowest_id),
      cmocka_unit_test(test_join__of_two_empty_sides_gives_nothing),
      cmocka_unit_test(test_join__takes_long_runs_as_runs),
      cmocka_unit_test(test_join__reads_values_of_many_ids_at_once),
      cmocka_unit_test(test_join__does_not_read_values_that_decide_nothing),
      cmocka_unit_test(test_join__takes_an_id_that_thousands_of_rows_have),
      cmocka_unit_test(test_join__tells_each_id_that_is_there_twice),
      cmocka_unit_test(test_join__passes_on_what_the_sink_says),
      cmocka_unit_test(test_join__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
