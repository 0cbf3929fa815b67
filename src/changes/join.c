/* join.c: see join.h. Both sides are read as streams of runs, cut to single ids only where they must be:
 *   - stretches where one side has no id: DELETE or INSERT of the whole stretch;
 *   - stretches where each side has one run: moved or updated as a whole;
 *   - an id that is there twice on a side: all its rows are a group, matched by C2.
 *
 * 1. Open runs of a side all start at one id: the id at hand or a later one.
 * 2. Groups whose matching needs values wait in a queue until enough rows have come together to be read at once;
 *    whatever comes behind a group that waits, waits too: the order of what goes out is that of the ids. */
#include "changes/join.h"

#include <stdlib.h>

int bl_run_cmp(const void *a, const void *b, void *user) {
  const bl_run *x = a, *y = b;
  const uint32_t *rank = user;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
  uint32_t r = rank[x->file], s = rank[y->file];
  if (r != s) return r < s ? -1 : 1;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->file > y->file) - (x->file < y->file); /* a path that was added again: two versions of one rank */
}

/* One side: its open runs, and the next run of the stream. */
typedef struct cursor {
  bl_sorter *in;
  bl_run *open;
  size_t n, cap;
  bl_run ahead;
  bool has_ahead;
} cursor;

/* The rows of one id: runs[first …), n[0] removed ones, then n[1] added ones, each side by (seq, rank, pos). */
typedef struct group {
  size_t first;
  uint32_t n[2];
  bool values; /* values decide something: who of one (id, seq) stays alone, or who moved where */
} group;

typedef enum item_kind { ITEM_EVENT, ITEM_MOVED, ITEM_GROUP } item_kind;
typedef struct item {
  item_kind kind;
  bl_event event;
  bl_run before, after; /* MOVED */
  group group;
} item;

/* A row of a group while it is matched. */
typedef struct mate {
  bl_hash128 hash;
  uint32_t at;   /* index in the group */
  uint32_t with; /* index of its partner, NO_MATE */
} mate;
enum { NO_MATE = UINT32_MAX, ROWS_AT_ONCE = 16384, ITEMS_AT_ONCE = 65536 };

typedef struct joiner {
  bl_ctx *ctx;
  cursor side[2]; /* removed, added */
  const uint32_t *rank;
  const bl_join_sink *sink;
  item *queue;
  size_t n_queue, cap_queue;
  bl_run *runs; /* of the groups in the queue, one row each */
  size_t n_runs, cap_runs;
  bl_hash128 *hashes; /* parallel to runs while the queue is emptied */
  mate *mates;
  size_t cap_mates;
  bl_event *rest;
  size_t n_rest, cap_rest;
} joiner;

/* ---- one side ---- */

static bl_status look_ahead(cursor *c, bl_error *err) {
  const void *r;
  BL_TRY(bl_sorter_next(c->in, &r, err));
  c->has_ahead = r != NULL;
  if (r) memcpy(&c->ahead, r, sizeof c->ahead);
  return BL_OK;
}

/* Lowest id that is still to come on a side; false at its end. */
static bool next_id(const cursor *c, int64_t *id) {
  *id = c->n > 0 ? c->open[0].id : c->ahead.id;
  return c->n > 0 || c->has_ahead;
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

static int64_t ids_between(int64_t from, int64_t to) {
  uint64_t n = (uint64_t)to - (uint64_t)from;
  return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* How many ids from `id` on the side stays as it is: to the end of its runs, or to where another begins. */
static int64_t stretch_of(const cursor *c, int64_t id) {
  int64_t n = INT64_MAX;
  if (c->n > 0 && c->open[0].id > id) return ids_between(id, c->open[0].id);
  for (size_t i = 0; i < c->n; i++)
    if (c->open[i].len < n) n = c->open[i].len;
  if (c->has_ahead && ids_between(id, c->ahead.id) < n) n = ids_between(id, c->ahead.id);
  return n;
}

/* Drop the first n rows of every open run. */
static void advance(cursor *c, int64_t n) {
  size_t k = 0;
  for (size_t i = 0; i < c->n; i++) {
    bl_run r = c->open[i];
    if (r.len <= n) continue; /* its id + n may be past the last id there is */
    r.id += n;
    r.pos += n;
    r.len -= (uint32_t)n;
    c->open[k++] = r;
  }
  c->n = k;
}

/* ---- what goes out ---- */

static bl_status push(joiner *j, const item *it, bl_error *err) {
  BL_TRY(bl_grow(j->ctx, &j->queue, &j->cap_queue, j->n_queue, sizeof *j->queue, err));
  j->queue[j->n_queue++] = *it;
  return BL_OK;
}

/* A stretch of n rows without any duplicate. */
static bl_status put(joiner *j, const bl_run *before, const bl_run *after, int64_t n, bl_error *err) {
  item it = {.kind = ITEM_EVENT};
  if (before && after && before->seq == after->seq) {
    if (!j->sink->moved) return BL_OK;
    if (j->n_queue == 0) return j->sink->moved(j->sink->user, before, after, n, err);
    it = (item){.kind = ITEM_MOVED, .before = *before, .after = *after};
    it.before.len = (uint32_t)n;
    return push(j, &it, err);
  }
  it.event = bl_event_of(before, after, (uint32_t)n);
  return j->n_queue == 0 ? j->sink->event(j->sink->user, &it.event, err) : push(j, &it, err);
}

/* ---- C2: an id that is there twice ---- */

static int by_hash(const void *a, const void *b) {
  const mate *x = a, *y = b;
  int c = bl_hash128_cmp(x->hash, y->hash);
  return c ? c : (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b) {
  const mate *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void marry(mate *a, mate *b) {
  a->with = b->at;
  b->with = a->at;
}

/* Rows of one (id, seq): equal values first, then by place. */
static void match_numbers(mate *o, size_t n_old, mate *n, size_t n_new, bool values) {
  if (values) {
    bl_sort(o, n_old, sizeof *o, by_hash);
    bl_sort(n, n_new, sizeof *n, by_hash);
    for (size_t i = 0, k = 0; i < n_old && k < n_new;) {
      int c = bl_hash128_cmp(o[i].hash, n[k].hash);
      if (c == 0) marry(&o[i++], &n[k++]);
      else if (c < 0) i++;
      else k++;
    }
    bl_sort(o, n_old, sizeof *o, by_place);
    bl_sort(n, n_new, sizeof *n, by_place);
  }
  for (size_t i = 0, k = 0;; i++, k++) {
    while (i < n_old && o[i].with != NO_MATE) i++;
    while (k < n_new && n[k].with != NO_MATE) k++;
    if (i >= n_old || k >= n_new) return;
    marry(&o[i], &n[k]);
  }
}

/* Rows of the group from i on that have the number of row i; end = where its side ends. */
static size_t same_number(const bl_run *r, size_t i, size_t end) {
  size_t n = i;
  while (n < end && r[n].seq == r[i].seq) n++;
  return n - i;
}

static void match_group(joiner *j, const group *g) {
  const bl_run *r = j->runs + g->first;
  size_t n_old = g->n[0], n = n_old + g->n[1];
  for (size_t i = 0; i < n; i++) {
    j->mates[i] = (mate){.at = (uint32_t)i, .with = NO_MATE};
    if (g->values) j->mates[i].hash = j->hashes[g->first + i];
  }
  for (size_t i = 0, k = n_old; i < n_old && k < n;) {
    size_t a = same_number(r, i, n_old), b = same_number(r, k, n);
    if (r[i].seq == r[k].seq) match_numbers(&j->mates[i], a, &j->mates[k], b, g->values);
    if (r[i].seq <= r[k].seq) {
      bool both = r[i].seq == r[k].seq;
      i += a;
      if (both) k += b;
    } else k += b;
  }
}

static int by_image(const void *a, const void *b, void *user) {
  const bl_event *x = a, *y = b;
  const uint32_t *rank = user;
  bool xa = x->after_file != BL_NO_FILE, ya = y->after_file != BL_NO_FILE;
  uint32_t f = xa ? x->after_file : x->before_file, g = ya ? y->after_file : y->before_file;
  uint32_t r = rank[f], s = rank[g];
  int64_t p = xa ? x->after_pos : x->before_pos, q = ya ? y->after_pos : y->before_pos;
  if (r != s) return r < s ? -1 : 1;
  if (p != q) return p < q ? -1 : 1;
  if (x->type != y->type) return x->type < y->type ? -1 : 1;
  return (f > g) - (f < g);
}

/* The rows without a partner, paired in ascending order of their numbers; what is left over stays alone. */
static bl_status pair_rest(joiner *j, const group *g, bl_error *err) {
  const bl_run *r = j->runs + g->first;
  size_t i = 0, n_old = g->n[0], k = n_old, n = n_old + g->n[1];
  j->n_rest = 0;
  for (;;) {
    while (i < n_old && j->mates[i].with != NO_MATE) i++;
    while (k < n && j->mates[k].with != NO_MATE) k++;
    const bl_run *before = i < n_old ? &r[i++] : NULL, *after = k < n ? &r[k++] : NULL;
    if (!before && !after) break;
    BL_TRY(bl_grow(j->ctx, &j->rest, &j->cap_rest, j->n_rest, sizeof *j->rest, err));
    j->rest[j->n_rest++] = bl_event_of(before, after, 1);
  }
  bl_sort_r(j->rest, j->n_rest, sizeof *j->rest, by_image, (void *)(uintptr_t)j->rank);
  return BL_OK;
}

static bl_status put_group(joiner *j, const group *g, bl_error *err) {
  const bl_run *r = j->runs + g->first;
  size_t n = (size_t)g->n[0] + g->n[1];
  while (j->cap_mates < n) BL_TRY(bl_grow(j->ctx, &j->mates, &j->cap_mates, j->cap_mates, sizeof *j->mates, err));
  match_group(j, g);
  for (size_t i = 0; j->sink->moved && i < g->n[0]; i++)
    if (j->mates[i].with != NO_MATE) BL_TRY(j->sink->moved(j->sink->user, &r[i], &r[j->mates[i].with], 1, err));
  BL_TRY(pair_rest(j, g, err));
  for (size_t i = 0; i < j->n_rest; i++) BL_TRY(j->sink->event(j->sink->user, &j->rest[i], err));
  return BL_OK;
}

static bool needs_values(const joiner *j, const group *g) {
  if (!j->sink->hash_values) return false;
  const bl_run *r = j->runs + g->first;
  size_t n_old = g->n[0], n = n_old + g->n[1];
  for (size_t i = 0, k = n_old; i < n_old && k < n;) {
    size_t a = same_number(r, i, n_old), b = same_number(r, k, n);
    if (r[i].seq == r[k].seq && a + b > 2 && (a != b || j->sink->moved)) return true;
    bool first = r[i].seq <= r[k].seq, second = r[k].seq <= r[i].seq;
    i += first ? a : 0;
    k += second ? b : 0;
  }
  return false;
}

/* ---- the queue ---- */

/* Rows of the groups in which values matter -> rows; returns how many. */
static size_t rows_to_hash(const joiner *j, bl_hashed_row *rows) {
  size_t n = 0;
  for (size_t i = 0; i < j->n_queue; i++) {
    const group *g = &j->queue[i].group;
    if (j->queue[i].kind != ITEM_GROUP || !g->values) continue;
    for (size_t k = g->first; k < g->first + g->n[0] + g->n[1]; k++) {
      const bl_run *r = &j->runs[k];
      rows[n++] = (bl_hashed_row){.id = r->id, .seq = r->seq, .pos = r->pos, .file = r->file, .ordinal = (uint32_t)k};
    }
  }
  return n;
}

static bl_status hash_runs(joiner *j, bl_error *err) {
  bl_hashed_row *rows = bl_alloc(j->ctx, j->n_runs + 1, sizeof *rows);
  j->hashes = bl_calloc(j->ctx, j->n_runs + 1, sizeof *j->hashes);
  bl_status st = rows && j->hashes ? BL_OK : bl_nomem(err);
  size_t n = st == BL_OK ? rows_to_hash(j, rows) : 0;
  if (n) st = j->sink->hash_values(j->sink->user, rows, n, err);
  for (size_t i = 0; st == BL_OK && i < n; i++) j->hashes[rows[i].ordinal] = rows[i].hash;
  bl_free(j->ctx, rows);
  return st;
}

static bl_status put_item(joiner *j, const item *it, bl_error *err) {
  switch (it->kind) {
  case ITEM_EVENT: return j->sink->event(j->sink->user, &it->event, err);
  case ITEM_MOVED: return j->sink->moved(j->sink->user, &it->before, &it->after, it->before.len, err);
  case ITEM_GROUP: break;
  }
  return put_group(j, &it->group, err);
}

static bl_status empty_queue(joiner *j, bl_error *err) {
  bl_status st = j->n_queue ? hash_runs(j, err) : BL_OK;
  for (size_t i = 0; st == BL_OK && i < j->n_queue; i++) st = put_item(j, &j->queue[i], err);
  bl_free(j->ctx, j->hashes);
  j->hashes = NULL;
  j->n_queue = j->n_runs = 0;
  return st;
}

/* The row of each open run that is `skip` rows behind its start. */
static bl_status take_rows(joiner *j, const cursor *c, int64_t skip, uint32_t *n, bl_error *err) {
  size_t first = j->n_runs;
  for (size_t i = 0; i < c->n; i++) {
    BL_TRY(bl_grow(j->ctx, &j->runs, &j->cap_runs, j->n_runs, sizeof *j->runs, err));
    bl_run r = c->open[i];
    r.id += skip;
    r.pos += skip;
    r.len = 1;
    j->runs[j->n_runs++] = r;
  }
  *n = (uint32_t)c->n;
  bl_sort_r(j->runs + first, c->n, sizeof *j->runs, bl_run_cmp, (void *)(uintptr_t)j->rank);
  return BL_OK;
}

/* The group of id + skip: out at once where nothing waits and nothing must be read. */
static bl_status add_group(joiner *j, int64_t id, int64_t skip, const cursor *o, const cursor *n, bl_error *err) {
  item it = {.kind = ITEM_GROUP, .group = {.first = j->n_runs}};
  if (j->sink->duplicate) j->sink->duplicate(j->sink->user, id + skip);
  if (o) BL_TRY(take_rows(j, o, skip, &it.group.n[0], err));
  if (n) BL_TRY(take_rows(j, n, skip, &it.group.n[1], err));
  it.group.values = needs_values(j, &it.group);
  if (j->n_queue == 0 && !it.group.values) {
    BL_TRY(put_group(j, &it.group, err));
    j->n_runs = 0;
    return BL_OK;
  }
  BL_TRY(push(j, &it, err));
  return j->n_runs >= ROWS_AT_ONCE ? empty_queue(j, err) : BL_OK;
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
  if ((old && o->n > 1) || (fresh && n->n > 1)) {
    for (int64_t i = 0; i < len; i++) BL_TRY(add_group(j, id, i, old ? o : NULL, fresh ? n : NULL, err));
  } else BL_TRY(put(j, old ? &o->open[0] : NULL, fresh ? &n->open[0] : NULL, len, err));
  if (old) advance(o, len);
  if (fresh) advance(n, len);
  return j->n_queue >= ITEMS_AT_ONCE ? empty_queue(j, err) : BL_OK;
}

static bl_status sweep(joiner *j, bl_error *err) {
  for (int k = 0; k < 2; k++) BL_TRY(look_ahead(&j->side[k], err));
  for (;;) {
    int64_t a, b;
    bool has_a = next_id(&j->side[0], &a), has_b = next_id(&j->side[1], &b);
    if (!has_a && !has_b) return empty_queue(j, err);
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
  bl_free(ctx, j.queue);
  bl_free(ctx, j.runs);
  bl_free(ctx, j.hashes);
  bl_free(ctx, j.mates);
  bl_free(ctx, j.rest);
  return st;
}
