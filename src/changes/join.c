/* join.c: see join.h. Both sides are read as streams of runs cut to single ids only where they must be:
 *   - stretches where one side has no id: DELETE or INSERT of the whole stretch;
 *   - stretches where each side has one run: moved or updated as a whole;
 *   - an id that is there twice on a side: all its rows are gathered and matched by C2. */
#include "changes/join.h"

#include <stdlib.h>

int bl_run_cmp(const void *a, const void *b, void *user) {
  const bl_run *x = a, *y = b;
  const uint32_t *rank = user;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
  uint32_t r = rank[x->file], s = rank[y->file];
  if (r != s) return r < s ? -1 : 1;
  return (x->pos > y->pos) - (x->pos < y->pos);
}

/* Runs of one side that all start at the id at hand or at one later id, usually one run; and the next one of the
 * stream. */
typedef struct cursor {
  bl_sorter *in;
  bl_run *open;
  size_t n, cap;
  bl_run ahead; /* the next run of the stream */
  bool has_ahead;
} cursor;

typedef struct joiner {
  bl_ctx *ctx;
  cursor side[2]; /* removed, added */
  const uint32_t *rank;
  const bl_join_sink *sink;
  uint8_t *used;
  size_t cap_used;
} joiner;

static bl_status look_ahead(cursor *c, bl_error *err) {
  const void *r;
  BL_TRY(bl_sorter_next(c->in, &r, err));
  c->has_ahead = r != NULL;
  if (r) memcpy(&c->ahead, r, sizeof c->ahead);
  return BL_OK;
}

/* Lowest id that is still to come on a side; false at its end. */
static bool next_id(const cursor *c, int64_t *id) {
  if (c->n > 0) {
    *id = c->open[0].id; /* open runs all start at the id at hand */
    return true;
  }
  *id = c->ahead.id;
  return c->has_ahead;
}

/* Take in all runs that start at id. */
static bl_status open_runs(joiner *j, cursor *c, int64_t id, bl_error *err) {
  while (c->has_ahead && c->ahead.id == id) {
    BL_TRY(bl_grow(j->ctx, &c->open, &c->cap, c->n, sizeof *c->open, err));
    c->open[c->n++] = c->ahead;
    BL_TRY(look_ahead(c, err));
  }
  return BL_OK;
}

/* How many ids from `id` on the side stays as it is: to the end of its runs, or to where another begins. */
static int64_t stretch_of(const cursor *c, int64_t id) {
  int64_t n = INT64_MAX;
  if (c->n > 0 && c->open[0].id > id) return c->open[0].id - id;
  for (size_t i = 0; i < c->n; i++)
    if (c->open[i].len < n) n = c->open[i].len;
  if (c->has_ahead && c->ahead.id - id < n) n = c->ahead.id - id;
  return n;
}

/* Drop the first n rows of every open run. */
static void advance(cursor *c, int64_t n) {
  size_t k = 0;
  for (size_t i = 0; i < c->n; i++) {
    bl_run *r = &c->open[i];
    r->id += n;
    r->pos += n;
    r->len -= (uint32_t)n;
    if (r->len > 0) c->open[k++] = *r;
  }
  c->n = k;
}

static bl_event event_of(const bl_run *before, const bl_run *after, int64_t n) {
  bl_event e = {.before_id = INT64_MIN,
                .after_id = INT64_MIN,
                .before_seq = INT64_MIN,
                .after_seq = INT64_MIN,
                .before_file = BL_NO_FILE,
                .after_file = BL_NO_FILE,
                .len = (uint32_t)n};
  if (before)
    e.before_id = before->id, e.before_seq = before->seq, e.before_pos = before->pos, e.before_file = before->file;
  if (after) e.after_id = after->id, e.after_seq = after->seq, e.after_pos = after->pos, e.after_file = after->file;
  e.type = before && after ? BL_UPDATE : before ? BL_DELETE : BL_INSERT;
  return e;
}

static bl_status put(joiner *j, const bl_run *before, const bl_run *after, int64_t n, bl_error *err) {
  if (before && after && before->seq == after->seq)
    return j->sink->moved ? j->sink->moved(j->sink->user, before, after, n, err) : BL_OK;
  bl_event e = event_of(before, after, n);
  return j->sink->event(j->sink->user, &e, err);
}

/* ---- C2: an id that is there twice ---- */

typedef struct pair_list {
  bl_event *items;
  size_t n, cap;
} pair_list;

static bl_status match_one(joiner *j, size_t i, uint8_t *used_old, uint8_t *used_new, bool values, bl_error *err) {
  const bl_run *o = &j->side[0].open[i];
  for (size_t k = 0; k < j->side[1].n && !used_old[i]; k++) {
    const bl_run *n = &j->side[1].open[k];
    bool same = true;
    if (used_new[k] || n->seq != o->seq) continue;
    if (values) BL_TRY(j->sink->same_values(j->sink->user, o->file, o->pos, n->file, n->pos, &same, err));
    if (!same) continue;
    used_old[i] = used_new[k] = 1;
    BL_TRY(put(j, o, n, 1, err));
  }
  return BL_OK;
}

static uint32_t rank_of(const joiner *j, const bl_event *e) {
  return j->rank[e->after_file != BL_NO_FILE ? e->after_file : e->before_file];
}

/* Events of one id by rank and position of the row, few of them. */
static void sort_events(const joiner *j, bl_event *e, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0; k--) {
      uint32_t r = rank_of(j, &e[k - 1]), s = rank_of(j, &e[k]);
      int64_t p = e[k - 1].after_file != BL_NO_FILE ? e[k - 1].after_pos : e[k - 1].before_pos;
      int64_t q = e[k].after_file != BL_NO_FILE ? e[k].after_pos : e[k].before_pos;
      if (r < s || (r == s && p <= q)) break;
      bl_event t = e[k];
      e[k] = e[k - 1];
      e[k - 1] = t;
    }
}

/* Open runs of a side by (seq, rank, pos): the order in which what is left is paired. */
static void sort_open(const joiner *j, cursor *c) {
  for (size_t i = 1; i < c->n; i++)
    for (size_t k = i; k > 0 && bl_run_cmp(&c->open[k - 1], &c->open[k], (void *)(uintptr_t)j->rank) > 0; k--) {
      bl_run t = c->open[k];
      c->open[k] = c->open[k - 1];
      c->open[k - 1] = t;
    }
}

static bl_status pair_rest(joiner *j, const uint8_t *used_old, const uint8_t *used_new, pair_list *out, bl_error *err) {
  size_t i = 0, k = 0;
  for (;;) {
    while (i < j->side[0].n && used_old[i]) i++;
    while (k < j->side[1].n && used_new[k]) k++;
    const bl_run *o = i < j->side[0].n ? &j->side[0].open[i++] : NULL;
    const bl_run *n = k < j->side[1].n ? &j->side[1].open[k++] : NULL;
    if (!o && !n) return BL_OK;
    BL_TRY(bl_grow(j->ctx, &out->items, &out->cap, out->n, sizeof *out->items, err));
    out->items[out->n++] = event_of(o, n, 1);
  }
}

static bl_status twice(joiner *j, int64_t id, bl_error *err) {
  size_t n_old = j->side[0].n, n_new = j->side[1].n;
  pair_list rest = {0};
  if (j->sink->duplicate) j->sink->duplicate(j->sink->user, id);
  uint8_t *used = bl_resize(j->ctx, j->used, n_old + n_new + 1, 1);
  if (!used) return bl_nomem(err);
  j->used = used;
  memset(used, 0, n_old + n_new);
  sort_open(j, &j->side[0]);
  sort_open(j, &j->side[1]);
  for (int values = 1; values >= 0; values--)
    for (size_t i = 0; i < n_old; i++) BL_TRY(match_one(j, i, used, used + n_old, values, err));
  bl_status st = pair_rest(j, used, used + n_old, &rest, err);
  sort_events(j, rest.items, rest.n);
  for (size_t i = 0; st == BL_OK && i < rest.n; i++) st = j->sink->event(j->sink->user, &rest.items[i], err);
  bl_free(j->ctx, rest.items);
  return st;
}

/* ---- the sweep ---- */

static bool is_here(const cursor *c, int64_t id) {
  return c->n > 0 && c->open[0].id == id;
}

static bl_status join_at(joiner *j, int64_t id, bl_error *err) {
  cursor *o = &j->side[0], *n = &j->side[1];
  BL_TRY(open_runs(j, o, id, err));
  BL_TRY(open_runs(j, n, id, err));
  bool old = is_here(o, id), fresh = is_here(n, id);
  int64_t len = stretch_of(o, id), m = stretch_of(n, id);
  if (m < len) len = m;
  if (len > UINT32_MAX) len = UINT32_MAX;
  if ((old && o->n > 1) || (fresh && n->n > 1)) {
    len = 1;
    size_t away = !old ? o->n : !fresh ? n->n : 0; /* runs of a side that begins later do not take part */
    cursor *later = !old ? o : n;
    later->n -= away;
    bl_status st = twice(j, id, err);
    later->n += away;
    if (st != BL_OK) return st;
  } else {
    bl_run before, after;
    if (old) before = o->open[0];
    if (fresh) after = n->open[0];
    BL_TRY(put(j, old ? &before : NULL, fresh ? &after : NULL, len, err));
  }
  if (old) advance(o, len);
  if (fresh) advance(n, len);
  return BL_OK;
}

static bl_status sweep(joiner *j, bl_error *err) {
  for (int k = 0; k < 2; k++) BL_TRY(look_ahead(&j->side[k], err));
  for (;;) {
    int64_t a, b;
    bool has_a = next_id(&j->side[0], &a), has_b = next_id(&j->side[1], &b);
    if (!has_a && !has_b) return BL_OK;
    BL_TRY(join_at(j, !has_b || (has_a && a < b) ? a : b, err));
  }
}

bl_status bl_join_runs(bl_ctx *ctx, bl_sorter *removed, bl_sorter *added, const uint32_t *rank,
                       const bl_join_sink *sink, bl_error *err) {
  joiner j = {.ctx = ctx, .rank = rank, .sink = sink};
  j.side[0].in = removed;
  j.side[1].in = added;
  bl_status st = sweep(&j, err);
  for (int k = 0; k < 2; k++) bl_free(ctx, j.side[k].open);
  bl_free(ctx, j.used);
  return st;
}
