/* identity.c: see identity.h. A touched file is worked through row group by row group, or by parts of one, with a byte
 * a row for each side: 1 = live. Removed rows are live in the older snapshot and not in the newer; added ones the
 * reverse. */
#include "changes/identity.h"

#include "base/pool.h"
#include "changes/join.h"
#include "scan/deletes.h"

#include <pthread.h>

enum { BUFFERED_RUNS = 512 };

/* One side of the output; shared by the workers. */
typedef struct run_sink {
  pthread_mutex_t *lock;
  bl_sorter *with_id;
  bl_spool *without_id;
  bl_probe *probe; /* instead of both */
  bool removed;
} run_sink;

/* A worker's runs on their way: neighbours are joined, then handed over in lots. */
typedef struct run_buffer {
  run_sink *sink;
  bl_run runs[BUFFERED_RUNS];
  size_t n;
} run_buffer;

/* One part of a touched file: rows [R * k / n, R * (k + 1) / n). */
typedef struct part {
  uint32_t item, k, n;
} part;

/* Rows of a row group; n 0: none. */
typedef struct stretch {
  size_t group;
  int64_t first, n; /* first: in the file */
} stretch;

/* Versions of a touched file, numbered before the workers start. */
typedef struct numbers {
  uint32_t old, old_equality, fresh;
} numbers;

typedef struct collector {
  const bl_identity *x;
  const bl_diff *d;
  bl_ctx *ctx;
  bl_deletes *deletes;
  numbers *numbers;
  part *parts;
  size_t n_parts;
  run_sink removed, added;
  bl_expr only; /* _row_id in (…), for row group statistics */
  bool has_only;
  bl_type lineage; /* struct of the two columns */
  bl_field lineage_fields[2];
} collector;

/* ---- runs ---- */

static bl_status flush(run_buffer *b, bl_error *err) {
  bl_status st = BL_OK;
  size_t n = b->n;
  if (b->sink->probe) {
    b->n = 0;
    return b->sink->removed ? bl_probe_removed(b->sink->probe, b->runs, n, err)
                            : bl_probe_added(b->sink->probe, b->runs, n, err);
  }
  pthread_mutex_lock(b->sink->lock);
  for (size_t i = 0; st == BL_OK && i < b->n; i++)
    st = b->runs[i].id == BL_NONE ? bl_spool_add(b->sink->without_id, &b->runs[i], err)
                                  : bl_sorter_add(b->sink->with_id, &b->runs[i], err);
  pthread_mutex_unlock(b->sink->lock);
  b->n = 0;
  return st;
}

static bl_status add_row(run_buffer *b, uint32_t file, int64_t id, int64_t seq, int64_t pos, bl_error *err) {
  bl_run row = {.id = id, .seq = seq, .pos = pos, .file = file, .len = 1};
  if (b->n > 0 && bl_run_continues(&b->runs[b->n - 1], &row)) {
    b->runs[b->n - 1].len++;
    return BL_OK;
  }
  if (b->n == BUFFERED_RUNS) BL_TRY(flush(b, err));
  b->runs[b->n++] = row;
  return BL_OK;
}

/* Rows [begin, end) of a file without stored lineage. */
static bl_status add_rows(run_buffer *b, const bl_manifest_entry *e, uint32_t file, int64_t begin, int64_t end,
                          bl_error *err) {
  bool none = e->file.first_row_id == BL_NONE;
  if (!none && (end > BL_MOST_ROW_ID || e->file.first_row_id > BL_MOST_ROW_ID - end))
    return bl_fail(err, BL_DAMAGED, "data file: %s: its row ids pass the last one there can be", e->file.path.p);
  while (begin < end) {
    int64_t n = end - begin > UINT32_MAX ? UINT32_MAX : end - begin;
    if (b->n == BUFFERED_RUNS) BL_TRY(flush(b, err));
    b->runs[b->n++] = (bl_run){.id = none ? BL_NONE : e->file.first_row_id + begin,
                               .seq = none ? BL_NONE : e->sequence_number,
                               .pos = begin,
                               .file = file,
                               .len = (uint32_t)n};
    begin += n;
  }
  return BL_OK;
}

/* The same, of those rows only that have a wanted id. */
static bl_status add_only(const collector *c, run_buffer *b, const bl_manifest_entry *e, uint32_t file, int64_t begin,
                          int64_t end, bl_error *err) {
  if (!c->x->only) return add_rows(b, e, file, begin, end, err);
  if (e->file.first_row_id == BL_NONE) return c->x->nulls ? add_rows(b, e, file, begin, end, err) : BL_OK;
  int64_t id = e->file.first_row_id + begin, last = e->file.first_row_id + end - 1;
  for (size_t i = bl_idset_lower(c->x->only, id); i < bl_idset_count(c->x->only) && bl_idset_at(c->x->only, i) <= last;
       i++) {
    int64_t pos = bl_idset_at(c->x->only, i) - e->file.first_row_id;
    BL_TRY(add_row(b, file, bl_idset_at(c->x->only, i), e->sequence_number, pos, err));
  }
  return BL_OK;
}

/* ---- one side of one file ---- */

/* Version numbers by row: the one of equality deletes where its flag is set. */
typedef struct side {
  const collector *c;
  run_buffer *b;
  const bl_manifest_entry *entry;
  bl_open_file *open; /* NULL until stored lineage has to be looked for */
  bl_projection *lineage;
  uint32_t file, file_equality;
  bl_run_recorder *recorder; /* NULL: the rows are not kept */
  /* of the stretch at hand */
  const uint8_t *rows, *by_equality; /* may be NULL: all of them; none */
  int64_t first;
} side;

static uint32_t version_of(const side *s, int64_t i) {
  return s->by_equality && s->by_equality[i] ? s->file_equality : s->file;
}

static bl_status no_lineage(const side *s, int64_t pos, int64_t id, int64_t seq, bl_error *err) {
  return bl_fail(err, BL_DAMAGED,
                 "data file: %s: the row at position %lld has _row_id %lld and _last_updated_sequence_number %lld, "
                 "which no row can have",
                 s->open->name, (long long)pos, (long long)id, (long long)seq);
}

static bool are_lineage(const bl_id_rows *r) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < r->n; i++) wrong |= r->ids[i] | (BL_MOST_ROW_ID - r->ids[i]) | r->seqs[i];
  return wrong >= 0;
}

static bl_status give_rows(side *s, const bl_id_rows *rows, bl_error *err) {
  if (s->b->sink->removed) return bl_probe_removed_rows(s->c->x->probe, rows, err);
  if (s->recorder) BL_TRY(bl_run_recorder_add(s->recorder, s->c->ctx, rows, err));
  return bl_probe_added_rows(s->c->x->probe, rows, err);
}

static bl_status visit_stored(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                              bl_error *err) {
  side *s = user;
  bl_status st = BL_OK;
  const bl_identity *x = s->c->x;
  const int64_t *ids = (const int64_t *)batch->children[0]->buffers[1] + batch->children[0]->offset;
  const struct ArrowArray *stored = x->ids_only ? NULL : batch->children[1];
  const int64_t *seqs = stored ? (const int64_t *)stored->buffers[1] + stored->offset : NULL;
  bl_id_rows rows = {ids, seqs, batch->length, first, s->file};
  if (!s->rows && seqs && x->probe && !x->only && are_lineage(&rows)) {
    st = give_rows(s, &rows, err);
    bl_array_release(batch);
    return st;
  }
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    int64_t pos = positions ? positions[i] : first + i, seq = seqs ? seqs[i] : 0;
    if (s->rows && !s->rows[pos - s->first]) continue;
    if (ids[i] < 0 || ids[i] > BL_MOST_ROW_ID || seq < 0) st = no_lineage(s, pos, ids[i], seq, err);
    if (st != BL_OK || (x->only && !bl_idset_has(x->only, ids[i]))) continue;
    st = add_row(s->b, version_of(s, pos - s->first), ids[i], seq, pos, err);
  }
  bl_array_release(batch);
  return st;
}

static bl_status open_side(side *s, bl_error *err) {
  if (s->open) return BL_OK;
  BL_TRY(bl_open_file_new(s->c->x->env, s->entry, &s->open, err));
  if (s->open->no_lineage_columns || s->entry->file.first_row_id == BL_NONE) return BL_OK;
  return bl_open_file_project(s->open, &s->c->lineage, &s->lineage, err);
}

static void close_side(side *s) {
  bl_projection_free(s->lineage);
  bl_open_file_free(s->open);
}

static bl_status add_stored(side *s, const stretch *x, bl_error *err) {
  const bl_data_group *g = &s->open->meta->groups[x->group];
  int64_t picked = 0, skipped = x->first - g->first_row;
  if (s->c->has_only && !bl_open_file_may_match(s->open, s->lineage, &s->c->only, x->group)) return BL_OK;
  for (int64_t i = 0; s->rows && i < x->n; i++) picked += s->rows[i];
  if (!s->rows) picked = x->n;
  if (picked == 0) return BL_OK;
  if (picked > x->n / 4) {
    bl_row_range rows = {skipped, skipped + x->n};
    bool all = x->n == g->rows;
    return bl_open_file_read(s->open, s->lineage, x->group, all ? NULL : &rows, !all, visit_stored, s, err);
  }
  bl_row_range *ranges;
  size_t n;
  BL_TRY(bl_ranges_of(s->c->ctx, s->rows, x->n, &ranges, &n, err));
  for (size_t i = 0; i < n; i++) ranges[i] = (bl_row_range){ranges[i].begin + skipped, ranges[i].end + skipped};
  bl_status st = bl_open_file_read(s->open, s->lineage, x->group, ranges, n, visit_stored, s, err);
  bl_free(s->c->ctx, ranges);
  return st;
}

/* Rows of a stretch whose byte is 1; rows NULL: all. */
static bl_status add_stretch(side *s, const stretch *x, const uint8_t *rows, const uint8_t *by_equality,
                             bl_error *err) {
  int64_t first = x->first, n = x->n;
  s->rows = rows;
  s->by_equality = by_equality;
  s->first = first;
  if (rows && !memchr(rows, 1, (size_t)n)) return BL_OK;
  BL_TRY(open_side(s, err));
  if (s->lineage) return add_stored(s, x, err);
  if (!rows) return add_only(s->c, s->b, s->entry, s->file, first, first + n, err);
  for (int64_t i = 0; i < n;) {
    if (!rows[i]) {
      i++;
      continue;
    }
    int64_t begin = i;
    uint32_t file = version_of(s, i);
    while (i < n && rows[i] && version_of(s, i) == file) i++;
    BL_TRY(add_only(s->c, s->b, s->entry, file, first + begin, first + i, err));
  }
  return BL_OK;
}

/* ---- one touched file ---- */

typedef struct touched_work {
  const collector *c;
  const bl_touched *t;
  const part *part;
  bl_posset *deleted[2]; /* by position: older, newer */
  side removed, added;
  bl_open_file *open; /* whose groups are walked: one of the sides' */
  uint8_t *live[2], *by_position, *out;
  int64_t rows; /* of the arrays */
  bl_run_recorder recorder;
} touched_work;

static bl_status grow_arrays(touched_work *w, int64_t n, bl_error *err) {
  if (n <= w->rows) return BL_OK;
  uint8_t *p = bl_resize(w->c->ctx, w->live[0], (size_t)n * 4, 1);
  if (!p) return bl_nomem(err);
  w->live[0] = p;
  w->live[1] = p + n;
  w->by_position = p + 2 * n;
  w->out = p + 3 * n;
  w->rows = n;
  return BL_OK;
}

/* live[] of both sides for a stretch; by_position = not deleted by position in the newer one. */
static bl_status fill_live(touched_work *w, const stretch *x, bl_error *err) {
  int64_t first = x->first, n = x->n;
  const bl_file_deletes *fd[2] = {&w->t->old_deletes, &w->t->new_deletes};
  bool there[2] = {w->t->old_entry != NULL, w->t->new_entry != NULL};
  BL_TRY(grow_arrays(w, n, err));
  for (int s = 0; s < 2; s++) {
    memset(w->live[s], there[s], (size_t)n);
    if (there[s] && w->deleted[s]) bl_posset_clear_bytes(w->deleted[s], first, first + n, w->live[s]);
    if (!there[s]) fd[s] = NULL;
  }
  memcpy(w->by_position, w->live[1], (size_t)n);
  bool equality = (fd[0] && fd[0]->n_equality) || (fd[1] && fd[1]->n_equality);
  return equality ? bl_deletes_equality(w->c->deletes, w->open, fd, w->live, 2, x->group, err) : BL_OK;
}

static bool wants(const touched_work *w, bl_sides which) {
  return w->c->x->sides == BL_BOTH_SIDES || w->c->x->sides == which;
}

static bl_status do_stretch(touched_work *w, const stretch *x, bl_error *err) {
  int64_t n = x->n;
  BL_TRY(fill_live(w, x, err));
  for (int64_t i = 0; i < n; i++) w->out[i] = w->live[0][i] & (uint8_t)!w->live[1][i];
  if (w->t->old_entry && wants(w, BL_REMOVED_SIDE))
    BL_TRY(add_stretch(&w->removed, x, w->out, w->t->new_entry ? w->by_position : NULL, err));
  for (int64_t i = 0; i < n; i++) w->out[i] = w->live[1][i] & (uint8_t)!w->live[0][i];
  return w->t->new_entry && wants(w, BL_ADDED_SIDE) ? add_stretch(&w->added, x, w->out, NULL, err) : BL_OK;
}

static bool has_equality(const bl_touched *t) {
  return t->old_deletes.n_equality + t->new_deletes.n_equality > 0;
}

/* The rows of a group that are of the work's part. Equality deletes are applied to whole groups, and only Parquet can
 * read a part of one without the rest: others belong to the part in which they begin. */
static stretch stretch_of(const touched_work *w, size_t group) {
  const bl_data_group *g = &w->open->meta->groups[group];
  int64_t rows = w->open->meta->rows, n = w->part->n;
  int64_t begin = rows / n * w->part->k, end = w->part->k + 1 == n ? rows : begin + rows / n;
  int64_t a = g->first_row > begin ? g->first_row : begin;
  int64_t b = g->first_row + g->rows < end ? g->first_row + g->rows : end;
  if (has_equality(w->t) || w->open->entry->file.format != BL_FORMAT_PARQUET) {
    bool mine = g->first_row >= begin && g->first_row < end;
    return (stretch){group, g->first_row, mine ? g->rows : 0};
  }
  return (stretch){group, a, b > a ? b - a : 0};
}

/* Which stretch may hold a difference of a kept file without equality deletes? */
static bool stretch_differs(const touched_work *w, int64_t first, int64_t n) {
  if (!w->t->old_entry || !w->t->new_entry || has_equality(w->t)) return true;
  int64_t a = w->deleted[0] ? bl_posset_count_range(w->deleted[0], first, first + n) : 0;
  int64_t b = w->deleted[1] ? bl_posset_count_range(w->deleted[1], first, first + n) : 0;
  return a != 0 || b != 0;
}

/* ---- rows that are kept from an earlier step, or for a later one ---- */

static bl_part_name name_of(const touched_work *w, const side *s) {
  return (bl_part_name){.place = w->c->x->files->items[s->file].place,
                        .k = w->part->k,
                        .n = w->part->n,
                        .first_row_id = s->entry->file.first_row_id,
                        .sequence_number = s->entry->sequence_number};
}

/* All rows of the part of a file that goes, if they are kept. */
static bl_status take_kept(const touched_work *w, const side *s, bool *taken, bl_error *err) {
  bl_part_name name = name_of(w, s);
  size_t n;
  bl_run *runs = bl_kept_runs_take(w->c->x->kept, &name, &n);
  bl_status st = BL_OK;
  *taken = runs != NULL;
  for (size_t i = 0; i < n; i++) runs[i].file = s->file;
  for (size_t i = 0; st == BL_OK && i < n; i += BUFFERED_RUNS)
    st = bl_probe_removed(w->c->x->probe, runs + i, n - i < BUFFERED_RUNS ? n - i : BUFFERED_RUNS, err);
  bl_free(w->c->ctx, runs);
  return st;
}

static bl_status keep_recorded(touched_work *w, const side *s, bl_error *err) {
  bl_part_name name = name_of(w, s);
  bl_run_recorder *r = &w->recorder;
  int64_t rows = w->open->meta->rows, n = w->part->n, last = w->part->k + 1 == n ? rows % n : 0;
  if (r->off || r->rows != rows / n + last) return BL_OK;
  bl_run *runs = r->runs;
  r->runs = NULL;
  return bl_kept_runs_put(w->c->x->kept, &name, runs, r->n, err);
}

/* ---- one touched file, all of it ---- */

static bl_status do_stretches(touched_work *w, side *s, bool whole, bl_error *err) {
  for (size_t g = 0; g < w->open->meta->n_groups; g++) {
    stretch x = stretch_of(w, g);
    if (x.n == 0 || !stretch_differs(w, x.first, x.n)) continue;
    BL_TRY(whole ? add_stretch(s, &x, NULL, NULL, err) : do_stretch(w, &x, err));
  }
  return BL_OK;
}

/* Rows of a file that stores no lineage, by their positions. */
static bl_status add_positions(const touched_work *w, const side *s, const bl_posset *which, bl_error *err) {
  int64_t at[512], begin = 0, end = 0;
  size_t n;
  for (int64_t from = 0; (n = bl_posset_next(which, from, at, BL_LEN(at))) > 0; from = at[n - 1] + 1)
    for (size_t i = 0; i < n && at[i] < w->open->meta->rows; i++) {
      if (at[i] != end) {
        BL_TRY(add_only(w->c, s->b, s->entry, s->file, begin, end, err));
        begin = at[i];
      }
      end = at[i] + 1;
    }
  return add_only(w->c, s->b, s->entry, s->file, begin, end, err);
}

/* Those of `of` that are not in `but`; both may be NULL. */
static bl_status add_difference(const touched_work *w, const side *s, const bl_posset *of, const bl_posset *but,
                                bl_error *err) {
  bl_posset *rest = NULL;
  if (!of) return BL_OK;
  if (!but) return add_positions(w, s, of, err);
  bl_status st = bl_posset_copy(w->c->ctx, of, &rest, err);
  if (st == BL_OK) st = bl_posset_andnot(rest, but, err);
  if (st == BL_OK) st = add_positions(w, s, rest, err);
  bl_posset_free(rest);
  return st;
}

/* A kept file of which positions alone tell what went and what came back. */
static bl_status do_positions(const touched_work *w, bl_error *err) {
  const bl_posset *was = w->deleted[0], *is = w->deleted[1];
  if (wants(w, BL_REMOVED_SIDE)) BL_TRY(add_difference(w, &w->removed, is, was, err));
  return wants(w, BL_ADDED_SIDE) ? add_difference(w, &w->added, was, is, err) : BL_OK;
}

bool bl_may_hold_ids(const bl_idset *ids, const bl_manifest_entry *e) {
  static const bl_field id = {.id = BL_ID_ROW_ID, .name = BL_STR("_row_id"), .type = {.kind = BL_LONG}};
  bl_stats s;
  if (!bl_meta_stats((void *)(uintptr_t)e, &id, &s)) return true;
  if (!s.has_lower) return s.nulls != s.rows;
  size_t i = bl_idset_lower(ids, s.lower.u.i);
  return i < ids->n && ids->ids[i] <= s.upper.u.i;
}

/* No footer is opened for ids that metadata rules out. */
static bool is_wanted(const touched_work *w) {
  const bl_idset *only = w->c->x->only;
  const bl_touched *t = w->t;
  return !only || (t->old_entry && bl_may_hold_ids(only, t->old_entry)) ||
         (t->new_entry && bl_may_hold_ids(only, t->new_entry));
}

static bl_status do_touched(touched_work *w, bl_error *err) {
  const bl_touched *t = w->t;
  bool taken = false;
  if (!(wants(w, BL_REMOVED_SIDE) && t->old_entry) && !(wants(w, BL_ADDED_SIDE) && t->new_entry)) return BL_OK;
  if (!is_wanted(w)) return BL_OK;
  if (t->old_entry)
    BL_TRY(bl_deletes_positions(w->c->deletes, &t->old_entry->file, &t->old_deletes, &w->deleted[0], err));
  if (t->new_entry)
    BL_TRY(bl_deletes_positions(w->c->deletes, &t->new_entry->file, &t->new_deletes, &w->deleted[1], err));
  bool kept = t->old_entry && t->new_entry;
  if (kept && !has_equality(t) && w->deleted[0] && w->deleted[1] && bl_posset_equal(w->deleted[0], w->deleted[1]))
    return BL_OK;
  side *s = t->old_entry ? &w->removed : &w->added;
  bool whole = !w->deleted[0] && !w->deleted[1] && !kept && !has_equality(t), keeps = whole && w->c->x->kept;
  if (keeps && s == &w->removed && w->c->x->probe) BL_TRY(take_kept(w, s, &taken, err));
  if (taken) return BL_OK;
  BL_TRY(open_side(s, err));
  w->open = s->open;
  if (w->part->k == 0) bl_open_file_check_rows(w->open, &w->c->x->files->warned_rows); /* once a feed */
  if (whole && !s->lineage)
    return w->part->k == 0 ? add_only(w->c, s->b, s->entry, s->file, 0, w->open->meta->rows, err) : BL_OK;
  if (kept && !has_equality(t) && s->open->no_lineage_columns) return do_positions(w, err);
  keeps = keeps && w->c->x->keep && s == &w->added;
  if (keeps) s->recorder = &w->recorder;
  BL_TRY(do_stretches(w, s, whole, err));
  return keeps ? keep_recorded(w, s, err) : BL_OK;
}

/* by_position of an equality-deleted row is 1: it was taken by equality alone. */
static bl_status collect_part(void *user, size_t at, bl_error *err) {
  collector *c = user;
  size_t i = c->parts[at].item;
  if (c->x->probe && bl_probe_failed(c->x->probe)) return BL_OK;
  touched_work w = {.c = c, .part = &c->parts[at], .t = &c->d->items[i]};
  run_buffer *buffers = bl_alloc(c->ctx, 2, sizeof *buffers);
  if (!buffers) return bl_nomem(err);
  buffers[0].sink = &c->removed;
  buffers[1].sink = &c->added;
  buffers[0].n = buffers[1].n = 0;
  w.removed = (side){.c = c,
                     .b = &buffers[0],
                     .entry = w.t->old_entry,
                     .file = c->numbers[i].old,
                     .file_equality = c->numbers[i].old_equality};
  w.added = (side){.c = c, .b = &buffers[1], .entry = w.t->new_entry, .file = c->numbers[i].fresh};
  bl_status st = do_touched(&w, err);
  for (int k = 0; st == BL_OK && k < 2; k++) st = flush(&buffers[k], err);
  close_side(&w.removed);
  close_side(&w.added);
  bl_posset_free(w.deleted[0]);
  bl_posset_free(w.deleted[1]);
  bl_free(c->ctx, w.live[0]);
  bl_free(c->ctx, w.recorder.runs);
  bl_free(c->ctx, buffers);
  return st;
}

/* ---- all of a diff ---- */

enum { MOST_PARTS = 16 };

/* Big files that go or come are worked on by several threads. A kept file is one part: its groups are mostly passed
 * over. */
static bl_status make_parts(collector *c, bl_error *err) {
  int64_t part_rows = c->x->part_rows ? c->x->part_rows : BL_PART_ROWS;
  size_t cap = 0;
  for (size_t i = 0; i < c->d->n; i++) {
    const bl_touched *t = &c->d->items[i];
    const bl_data_file *f = t->old_entry ? &t->old_entry->file : &t->new_entry->file;
    int64_t n = t->old_entry && t->new_entry ? 1 : f->record_count / part_rows;
    n = n < 1 ? 1 : n > MOST_PARTS ? MOST_PARTS : n;
    for (int64_t k = 0; k < n; k++) {
      BL_TRY(bl_grow(c->ctx, &c->parts, &cap, c->n_parts, sizeof *c->parts, err));
      c->parts[c->n_parts++] = (part){(uint32_t)i, (uint32_t)k, (uint32_t)n};
    }
  }
  return BL_OK;
}

static bl_status number_files(collector *c, bl_error *err) {
  c->numbers = bl_calloc(c->ctx, c->d->n + 1, sizeof *c->numbers);
  if (!c->numbers) return bl_nomem(err);
  for (size_t i = 0; i < c->d->n; i++) {
    const bl_touched *t = &c->d->items[i];
    numbers *n = &c->numbers[i];
    if (t->old_entry) BL_TRY(bl_files_add(c->x->files, t->old_entry, BL_BASIS_ROW_ID, &n->old, err));
    if (t->old_entry && t->new_entry && t->new_deletes.n_equality)
      BL_TRY(bl_files_add(c->x->files, t->old_entry, BL_BASIS_EQUALITY_DELETE, &n->old_equality, err));
    if (t->new_entry) BL_TRY(bl_files_add(c->x->files, t->new_entry, BL_BASIS_ROW_ID, &n->fresh, err));
    BL_TRY(bl_deletes_need(c->deletes, &t->old_deletes, err));
    BL_TRY(bl_deletes_need(c->deletes, &t->new_deletes, err));
  }
  BL_TRY(bl_files_rank(c->x->files, c->x->first_file, err));
  return bl_deletes_load(c->deletes, err);
}

static bl_status make_lineage_type(collector *c, bl_error *err) {
  const bl_schema *meta = bl_meta_schema();
  for (size_t i = 0; i < meta->root.n_fields; i++) {
    if (meta->root.fields[i].id == BL_ID_ROW_ID) c->lineage_fields[0] = meta->root.fields[i];
    if (meta->root.fields[i].id == BL_ID_LAST_UPDATED) c->lineage_fields[1] = meta->root.fields[i];
  }
  c->lineage = (bl_type){.kind = BL_STRUCT, .fields = c->lineage_fields, .n_fields = c->x->ids_only ? 1 : 2};
  if (!c->x->only) return BL_OK;
  size_t n = bl_idset_count(c->x->only);
  c->only = (bl_expr){.op = BL_E_IN, .field = &c->lineage_fields[0], .n_literals = n};
  c->only.values = bl_calloc(c->ctx, n + 1, sizeof *c->only.values);
  if (!c->only.values) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) c->only.values[i] = (bl_value){.kind = BL_LONG, .u.i = bl_idset_at(c->x->only, i)};
  c->has_only = true;
  return BL_OK;
}

/* The ranks of user, a bl_files, move when files are added: a sorter that spilled goes on comparing after that. */
static int compare_runs(const void *a, const void *b, void *user) {
  const bl_files *files = user;
  return bl_run_cmp(a, b, files->rank);
}

static bl_status make_sets(bl_ctx *ctx, bl_files *files, bl_row_sets *s, bl_error *err) {
  int64_t share = ctx->o.memory_budget / 4;
  BL_TRY(bl_sorter_new(ctx, sizeof(bl_run), share, compare_runs, files, &s->removed, err));
  BL_TRY(bl_sorter_new(ctx, sizeof(bl_run), share, compare_runs, files, &s->added, err));
  BL_TRY(bl_spool_new(ctx, sizeof(bl_run), share, &s->removed_null, err));
  return bl_spool_new(ctx, sizeof(bl_run), share, &s->added_null, err);
}

void bl_row_sets_dispose(bl_row_sets *s) {
  bl_sorter_free(s->removed);
  bl_sorter_free(s->added);
  bl_spool_free(s->removed_null);
  bl_spool_free(s->added_null);
  *s = (bl_row_sets){0};
}

bl_status bl_identity_collect(const bl_identity *x, const bl_diff *d, bl_row_sets *out, bl_error *err) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  collector c = {.x = x, .d = d, .ctx = x->env->t->ctx};
  bl_status st;
  *out = (bl_row_sets){0};
  BL_GO(bl_deletes_new(x->env, &c.deletes, err));
  BL_GO(number_files(&c, err));
  BL_GO(make_lineage_type(&c, err));
  BL_GO(make_sets(c.ctx, x->files, out, err));
  c.removed = (run_sink){&lock, out->removed, out->removed_null, x->probe, true};
  c.added = (run_sink){&lock, out->added, out->added_null, x->probe, false};
  BL_GO(make_parts(&c, err));
  BL_GO(bl_parallel(c.ctx, c.n_parts, collect_part, &c, err));
  BL_GO(bl_sorter_finish(out->removed, err));
  BL_GO(bl_sorter_finish(out->added, err));
done:
  if (st != BL_OK) bl_row_sets_dispose(out);
  bl_free(c.ctx, c.only.values);
  bl_free(c.ctx, c.numbers);
  bl_free(c.ctx, c.parts);
  bl_deletes_free(c.deletes);
  pthread_mutex_destroy(&lock);
  return st;
}
