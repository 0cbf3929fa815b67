/* model_twin.h: what a changelog must say of a model's table, by the letter of docs/changelog.md and with nothing in
 * mind but the live rows of each snapshot. */
#ifndef BL_TESTS_CHANGES_MODEL_TWIN_H
#define BL_TESTS_CHANGES_MODEL_TWIN_H

#include "model.h"
#include "support/rows.h"

typedef struct twin_event {
  const model_row *before, *after; /* NULL: no such image */
  const char *basis;
  int ordinal;
  int64_t commit;
} twin_event;

typedef struct twin_log {
  const model *x;
  twin_event e[2 * MODEL_LIVE * MODEL_SNAPSHOTS];
  size_t n;
} twin_log;

/* Rows that only moved in a step. */
typedef struct twin_moves {
  const model_row *from[MODEL_LIVE], *to[MODEL_LIVE];
  size_t n;
} twin_moves;

typedef struct twin_options {
  int from, to; /* indexes of snapshots; from -1: the beginning */
  bool net, key, skip_unchanged, after_images, unordered;
} twin_options;

/* ---- rows ---- */

static inline bool twin_same_values(const model_row *a, const model_row *b) {
  return a->k == b->k && a->v == b->v;
}

/* By path and position; a path that was added again: the older file first. */
static inline int twin_by_place(const model *x, const model_row *a, const model_row *b) {
  int c = strcmp(x->files[a->file].name, x->files[b->file].name);
  if (c) return c;
  if (a->pos != b->pos) return a->pos < b->pos ? -1 : 1;
  return (a->file > b->file) - (a->file < b->file);
}

static inline const model_row *twin_at(const model_snapshot *s, int file, int64_t pos) {
  for (size_t i = 0; s && i < s->n; i++)
    if (s->rows[i].file == file && s->rows[i].pos == pos) return &s->rows[i];
  return NULL;
}

/* ---- C1 to C6 ---- */

typedef struct twin_sides {
  const model *x;
  const model_row *r[2][MODEL_LIVE]; /* removed, added */
  bool done[2][MODEL_LIVE];
  size_t n[2];
  const model_snapshot *to;
  twin_log *log;
  twin_moves *moves;
} twin_sides;

static inline void twin_sort(const model *x, const model_row **r, size_t n,
                             int (*cmp)(const model *x, const model_row *a, const model_row *b)) {
  for (size_t i = 1; i < n; i++) {
    const model_row *one = r[i];
    size_t k = i;
    for (; k > 0 && cmp(x, r[k - 1], one) > 0; k--) r[k] = r[k - 1];
    r[k] = one;
  }
}

static inline void twin_put(twin_sides *s, const model_row *before, const model_row *after) {
  const model_row *r = after ? after : before;
  const char *basis = r->id == BL_NONE ? "value" : "row_id";
  /* deleted, the file is still there, and not by its position */
  if (!after && s->to->live[r->file] && !s->to->dead[r->file][r->pos]) basis = "equality_delete";
  s->log->e[s->log->n++] = (twin_event){before, after, basis, 0, 0};
}

static inline void twin_move(twin_sides *s, size_t i, size_t k) {
  s->done[0][i] = s->done[1][k] = true;
  s->moves->from[s->moves->n] = s->r[0][i];
  s->moves->to[s->moves->n++] = s->r[1][k];
}

/* Pairs of rows with an id, with equal numbers: with equal values, or all. */
static inline void twin_match_numbers(twin_sides *s, bool values) {
  for (size_t i = 0; i < s->n[0]; i++)
    for (size_t k = 0; k < s->n[1] && !s->done[0][i]; k++) {
      const model_row *a = s->r[0][i], *b = s->r[1][k];
      if (s->done[1][k] || a->id == BL_NONE || a->id != b->id || a->seq != b->seq) continue;
      if (!values || twin_same_values(a, b)) twin_move(s, i, k);
    }
}

static inline int twin_by_seq(const model *x, const model_row *a, const model_row *b) {
  if (a->seq != b->seq) return a->seq < b->seq ? -1 : 1;
  return twin_by_place(x, a, b);
}

/* What is left of one id, in ascending order of the numbers. */
static inline void twin_match_ids(twin_sides *s) {
  for (int side = 0; side < 2; side++) {
    assert_true(s->n[side] <= MODEL_LIVE);
    twin_sort(s->x, s->r[side], s->n[side], twin_by_seq); /* nothing is done yet but moves: see twin_diff */
  }
}

static inline void twin_updates(twin_sides *s) {
  for (size_t i = 0; i < s->n[0]; i++)
    for (size_t k = 0; k < s->n[1] && !s->done[0][i]; k++) {
      if (s->done[1][k] || s->r[0][i]->id == BL_NONE || s->r[0][i]->id != s->r[1][k]->id) continue;
      s->done[0][i] = s->done[1][k] = true;
      twin_put(s, s->r[0][i], s->r[1][k]);
    }
}

static inline int twin_by_id(const model *x, const model_row *a, const model_row *b) {
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return twin_by_place(x, a, b);
}

/* C4: null with null first, then the lowest ids. */
static inline void twin_match_values(twin_sides *s, bool null_before, bool null_after) {
  for (size_t i = 0; i < s->n[0]; i++)
    for (size_t k = 0; k < s->n[1] && !s->done[0][i]; k++) {
      const model_row *a = s->r[0][i], *b = s->r[1][k];
      if (s->done[1][k] || (a->id == BL_NONE) != null_before || (b->id == BL_NONE) != null_after) continue;
      if (twin_same_values(a, b)) twin_move(s, i, k);
    }
}

/* Only what is not done, so that it can be sorted. */
static inline void twin_compact(twin_sides *s) {
  for (int side = 0; side < 2; side++) {
    size_t n = 0;
    for (size_t i = 0; i < s->n[side]; i++)
      if (!s->done[side][i]) s->r[side][n++] = s->r[side][i];
    s->n[side] = n;
  }
  memset(s->done, 0, sizeof s->done);
}

static inline void twin_diff(const model *x, const model_snapshot *from, const model_snapshot *to, twin_log *log,
                             twin_moves *moves) {
  twin_sides *s = calloc(1, sizeof *s);
  assert_non_null(s);
  *s = (twin_sides){.x = x, .to = to, .log = log, .moves = moves};
  moves->n = 0;
  for (size_t i = 0; from && i < from->n; i++)
    if (!twin_at(to, from->rows[i].file, from->rows[i].pos)) s->r[0][s->n[0]++] = &from->rows[i];
  for (size_t i = 0; i < to->n; i++)
    if (!twin_at(from, to->rows[i].file, to->rows[i].pos)) s->r[1][s->n[1]++] = &to->rows[i];
  for (int side = 0; side < 2; side++) twin_sort(x, s->r[side], s->n[side], twin_by_place);
  twin_match_numbers(s, true);
  twin_match_numbers(s, false);
  twin_compact(s);
  twin_match_ids(s);
  twin_updates(s);
  twin_compact(s);
  for (int side = 0; side < 2; side++) twin_sort(x, s->r[side], s->n[side], twin_by_id);
  twin_match_values(s, true, true);
  twin_match_values(s, true, false);
  twin_match_values(s, false, true);
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < s->n[side]; i++)
      if (!s->done[side][i]) twin_put(s, side ? NULL : s->r[0][i], side ? s->r[1][i] : NULL);
  free(s);
}

/* ---- C7 ---- */

static inline const model_snapshot *twin_snapshot(const model *x, int i) {
  return i < 0 ? NULL : &x->snapshots[i];
}

static inline void twin_whole_log(const model *x, const twin_options *o, twin_log *log) {
  twin_moves *moves = calloc(1, sizeof *moves);
  assert_non_null(moves);
  for (int i = o->from; i < o->to; i++) {
    size_t first = log->n;
    twin_diff(x, twin_snapshot(x, i), &x->snapshots[i + 1], log, moves);
    for (; first < log->n; first++) {
      log->e[first].ordinal = i - o->from;
      log->e[first].commit = x->snapshots[i + 1].id;
    }
  }
  free(moves);
}

static inline int twin_count_id(const model_snapshot *s, int64_t id) {
  int n = 0;
  for (size_t i = 0; s && i < s->n; i++) n += s->rows[i].id == id;
  return n;
}

/* A row that is followed. */
typedef struct twin_walk {
  const model_row *row; /* NULL: it is away */
  int64_t gone;
  int found, updated; /* steps, -1 */
} twin_walk;

static inline void twin_follow(const model *x, int i, twin_walk *w, twin_log *log, twin_moves *moves) {
  const model_snapshot *to = &x->snapshots[i + 1];
  const model_row *same = w->row ? twin_at(to, w->row->file, w->row->pos) : NULL;
  if (same) {
    w->row = same;
    return;
  }
  log->n = 0;
  twin_diff(x, twin_snapshot(x, i), to, log, moves);
  if (!w->row) { /* it may come back */
    for (size_t k = 0; k < log->n && !w->row && w->gone != BL_NONE; k++)
      if (!log->e[k].before && log->e[k].after->id == w->gone) w->row = log->e[k].after;
    return;
  }
  for (size_t k = 0; k < moves->n; k++)
    if (moves->from[k]->file == w->row->file && moves->from[k]->pos == w->row->pos) {
      w->row = moves->to[k];
      return;
    }
  for (size_t k = 0; k < log->n; k++) {
    const twin_event *e = &log->e[k];
    if (!e->before || e->before->file != w->row->file || e->before->pos != w->row->pos) continue;
    if (e->after) w->updated = i;
    else w->found = i, w->gone = w->row->id;
    w->row = e->after;
    return;
  }
  fail_msg("a row was lost on the way");
}

/* The step that removed a row. */
static inline int twin_removed_by(const model *x, const twin_options *o, const model_row *r) {
  twin_log *log = calloc(1, sizeof *log);
  twin_moves *moves = calloc(1, sizeof *moves);
  assert_true(log && moves);
  twin_walk w = {.row = r, .gone = BL_NONE, .found = -1, .updated = -1};
  for (int i = o->from; i < o->to; i++) twin_follow(x, i, &w, log, moves);
  free(log);
  free(moves);
  if (!w.row) return w.found - o->from;
  if (r->id == BL_NONE && w.updated >= 0) return w.updated - o->from;
  int last = o->to - 1 - o->from;
  for (int i = o->from; r->id != BL_NONE && i < o->to; i++) /* an id that is there twice */
    if (twin_count_id(&x->snapshots[i + 1], r->id) < twin_count_id(twin_snapshot(x, i), r->id)) last = i - o->from;
  return last;
}

static inline void twin_net(const model *x, const twin_options *o, twin_log *log) {
  twin_moves *moves = calloc(1, sizeof *moves);
  assert_non_null(moves);
  bool related = o->from < o->to;
  if (o->from != o->to) twin_diff(x, twin_snapshot(x, o->from), &x->snapshots[o->to], log, moves);
  for (size_t i = 0; i < log->n; i++) {
    twin_event *e = &log->e[i];
    e->ordinal = related ? o->to - 1 - o->from : 0;
    for (int k = o->from; related && e->after && k < o->to; k++)
      if (x->snapshots[k + 1].seq == e->after->seq) e->ordinal = k - o->from;
    if (related && !e->after) e->ordinal = twin_removed_by(x, o, e->before);
    e->commit = related ? x->snapshots[o->from + 1 + e->ordinal].id : x->snapshots[o->to].id;
  }
  free(moves);
}

/* ---- C14 ---- */

static inline bool twin_keyed(const twin_event *e, bool added, int64_t k, int ordinal, bool net) {
  const model_row *r = added ? e->after : e->before;
  return r && !(added ? e->before : e->after) && r->k == k && (net || e->ordinal == ordinal);
}

static inline void twin_pair_keys(twin_log *log, bool net) {
  bool *drop = calloc(log->n + 1, 1);
  size_t n = log->n, kept = 0;
  twin_event *paired = calloc(n + 1, sizeof *paired);
  size_t n_paired = 0;
  assert_true(drop && paired);
  for (size_t i = 0; i < n; i++) {
    const twin_event *d = &log->e[i];
    size_t same = 0, with = 0, at = 0;
    if (d->after || d->before->k == BL_NONE) continue;
    for (size_t k = 0; k < n; k++) {
      same += twin_keyed(&log->e[k], false, d->before->k, d->ordinal, net);
      if (!twin_keyed(&log->e[k], true, d->before->k, d->ordinal, net)) continue;
      with++;
      at = k;
    }
    if (same != 1 || with != 1) continue;
    const twin_event *a = &log->e[at];
    drop[i] = drop[at] = true;
    paired[n_paired++] = (twin_event){d->before, a->after, "key", a->ordinal, a->commit};
  }
  for (size_t i = 0; i < n; i++)
    if (!drop[i]) log->e[kept++] = log->e[i];
  for (size_t i = 0; i < n_paired; i++) log->e[kept++] = paired[i];
  log->n = kept;
  free(drop);
  free(paired);
}

/* ---- C12 and text ---- */

static const model *twin_model; /* of the comparison at hand: qsort has no third argument */

static inline int twin_order(const void *p, const void *q) {
  const twin_event *a = p, *b = q;
  const model_row *x = a->after ? a->after : a->before, *y = b->after ? b->after : b->before;
  if (a->ordinal != b->ordinal) return a->ordinal < b->ordinal ? -1 : 1;
  if ((x->id == BL_NONE) != (y->id == BL_NONE)) return x->id == BL_NONE ? 1 : -1;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  int c = strcmp(twin_model->files[x->file].name, twin_model->files[y->file].name);
  if (c) return c;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  int t = !a->after ? 0 : !a->before ? 2 : 1, u = !b->after ? 0 : !b->before ? 2 : 1;
  return t != u ? t - u : (x->file > y->file) - (x->file < y->file);
}

static inline void twin_number(char *out, size_t cap, int64_t v) {
  if (v == BL_NONE) snprintf(out, cap, "null");
  else snprintf(out, cap, "%lld", (long long)v);
}

static inline void twin_print(const model *x, const twin_event *e, bool after, const twin_options *o, char **at) {
  const model_row *r = after ? e->after : e->before;
  const char *type = !e->before ? "INSERT" : !e->after ? "DELETE" : after ? "UPDATE_AFTER" : "UPDATE_BEFORE";
  char k[30], id[30], seq[30], v[10] = "null", changed[20] = "null";
  bool blank = o->after_images && !e->after;
  twin_number(k, sizeof k, blank && !o->key ? BL_NONE : r->k);
  twin_number(id, sizeof id, r->id);
  twin_number(seq, sizeof seq, r->seq);
  if (r->v && !blank) snprintf(v, sizeof v, "\"%c\"", r->v);
  if (e->before && e->after) {
    bool a = e->before->k != e->after->k, b = e->before->v != e->after->v;
    snprintf(changed, sizeof changed, "[%s%s%s]", a ? "\"k\"" : "", a && b ? "," : "", b ? "\"v\"" : "");
  }
  *at += sprintf(*at,
                 "{\"k\":%s,\"v\":%s,\"_changed_columns\":%s,\"_change_basis\":\"%s\",\"_file\":\"%s\",\"_pos\":%lld,"
                 "\"_row_id\":%s,\"_last_updated_sequence_number\":%s,\"_change_type\":\"%s\",\"_change_ordinal\":%d,"
                 "\"_commit_snapshot_id\":%lld}\n",
                 k, v, changed, e->basis, maker_path(x->m, x->files[r->file].name), (long long)r->pos, id, seq, type,
                 e->ordinal, (long long)e->commit);
}

static inline test_rows twin_rows(const model *x, const twin_options *o) {
  test_rows out;
  twin_log *log = calloc(1, sizeof *log);
  assert_non_null(log);
  log->x = x;
  if (o->net) twin_net(x, o, log);
  else twin_whole_log(x, o, log);
  if (o->key) twin_pair_keys(log, o->net);
  twin_model = x;
  qsort(log->e, log->n, sizeof *log->e, twin_order);
  char *text = malloc(log->n * 2 * 600 + 1), *at = text;
  assert_non_null(text);
  *at = 0;
  for (size_t i = 0; i < log->n; i++) {
    const twin_event *e = &log->e[i];
    if (o->skip_unchanged && e->before && e->after && twin_same_values(e->before, e->after)) continue;
    if (e->before && !(o->after_images && e->after)) twin_print(x, e, false, o, &at);
    if (e->after) twin_print(x, e, true, o, &at);
  }
  test_rows_parse(text, (size_t)(at - text), &out);
  free(text);
  free(log);
  return out;
}

#endif
