/* touch.c: see touch.h. */
#include "write/touch.h"

#include <pthread.h>

#include "base/pool.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "scan/predicate.h"
#include "scan/scan_private.h"
#include "scan/typed_specs.h"

/* What the parts of one file share while it is read. */
struct bl_touch_private {
  pthread_mutex_t lock;
  uint32_t left; /* parts not finished */
  bool opened;
  bl_open_file *open;
  bl_projection *columns, *filter;
  bl_posset *deleted;
  int64_t seen_live; /* live rows of the groups looked at */
  bool unseen;       /* a group was left out */
};

typedef struct part {
  bl_touched *file;
  uint32_t k, n;
} part;

/* One pass over files: find or read. */
typedef struct pass {
  bl_touch *x;
  const bl_type *columns;
  struct ArrowSchema schema; /* of `columns` */
  part *parts;
  size_t n_parts;
  int64_t done;
  bl_touch_probe probe; /* find */
  void *user;
  const bl_touch_reader *reader; /* read */
} pass;

/* ---- the files of the head ---- */

void bl_touch_free(bl_touch *x) {
  if (!x) return;
  for (size_t i = 0; i < x->n_files; i++) {
    bl_touched *f = &x->files[i];
    bl_posset_free(f->found);
    bl_posset_free(f->moved);
    bl_posset_free(f->others);
    if (f->p) pthread_mutex_destroy(&f->p->lock);
  }
  bl_deletes_free(x->deletes);
  bl_reading_dispose(&x->reading);
  bl_plan_free(x->plan);
  bl_arena *a = x->arena;
  bl_arena_free(a); /* x lives in it */
}

static bl_status list_files(bl_touch *x, bl_error *err) {
  x->files = bl_arena_calloc(x->arena, x->plan->n_files + 1, sizeof *x->files);
  bl_touch_private *ps = bl_arena_calloc(x->arena, x->plan->n_files + 1, sizeof *ps);
  if (!x->files || !ps) return bl_nomem(err);
  for (size_t i = 0; i < x->plan->n_files; i++) {
    x->files[i] = (bl_touched){.file = &x->plan->files[i], .live = -1, .p = &ps[i]};
    pthread_mutex_init(&ps[i].lock, NULL);
    x->n_files++;
    if (x->plan->files[i].deletes.n_equality) BL_TRY(bl_deletes_need(x->deletes, &x->plan->files[i].deletes, err));
  }
  return bl_deletes_load(x->deletes, err);
}

static bl_status choose_columns(bl_touch *x, bl_error *err) {
  const bl_metadata *md = x->t->metadata;
  bl_columns_init(&x->all, x->arena, md, x->schema);
  BL_TRY(bl_columns_add_all(&x->all, err));
  if (md->format_version >= 3) {
    BL_TRY(bl_columns_add_id(&x->all, BL_ID_ROW_ID, err));
    BL_TRY(bl_columns_add_id(&x->all, BL_ID_LAST_UPDATED, err));
  }
  bl_columns_init(&x->filter_columns, x->arena, md, x->schema);
  return x->filter ? bl_filter_columns(&x->filter_columns, x->filter, err) : BL_OK;
}

bl_status bl_touch_new(bl_table *t, const bl_snapshot *head, const bl_expr *filter, bl_touch **out, bl_error *err) {
  bl_arena *a;
  *out = NULL;
  BL_TRY(bl_arena_new(t->ctx, &a, err));
  bl_touch *x = bl_arena_calloc(a, 1, sizeof *x);
  if (!x) {
    bl_arena_free(a);
    return bl_nomem(err);
  }
  x->t = t;
  x->arena = a;
  x->head = head;
  x->schema = bl_metadata_current_schema(t->metadata);
  x->filter = filter;
  bl_plan_options po = {.filter = filter, .schema = x->schema};
  bl_status st;
  BL_GO(choose_columns(x, err));
  BL_GO(bl_plan_new(t, head, &po, &x->plan, err));
  BL_GO(bl_reading_init(&x->reading, t, err));
  BL_GO(bl_deletes_new(&x->reading, &x->deletes, err));
  BL_GO(list_files(x, err));
  *out = x;
done:
  if (st != BL_OK) bl_touch_free(x);
  return st;
}

/* ---- parts of files, each file opened by its first part and closed by its last ---- */

static void close_file(bl_touch_private *p) {
  bl_projection_free(p->columns);
  bl_projection_free(p->filter);
  bl_open_file_free(p->open);
  bl_posset_free(p->deleted);
  p->columns = p->filter = NULL;
  p->open = NULL;
  p->deleted = NULL;
  p->opened = false;
}

static bl_status open_file(const pass *w, bl_touched *f, bl_error *err) {
  bl_touch *x = w->x;
  BL_TRY(bl_open_file_new(&x->reading, f->file->data, &f->p->open, err));
  BL_TRY(bl_open_file_project(f->p->open, w->columns, &f->p->columns, err));
  if (w->probe && x->filter) BL_TRY(bl_open_file_project(f->p->open, &x->filter_columns.wanted, &f->p->filter, err));
  return bl_deletes_positions(x->deletes, &f->file->data->file, &f->file->deletes, &f->p->deleted, err);
}

static bl_status acquire(const pass *w, bl_touched *f, bl_error *err) {
  bl_status st = BL_OK;
  pthread_mutex_lock(&f->p->lock);
  if (!f->p->opened) {
    st = open_file(w, f, err);
    if (st == BL_OK) f->p->opened = true;
    else close_file(f->p);
  }
  pthread_mutex_unlock(&f->p->lock);
  return st;
}

/* After all groups of a file: how many of its rows are live, and how many were found. */
static void count_rows(bl_touched *f) {
  int64_t rows = f->p->open->meta->rows;
  f->n_found = f->found ? bl_posset_count(f->found) : 0;
  if (!f->file->deletes.n_equality)
    f->live = rows - (f->p->deleted ? bl_posset_count_range(f->p->deleted, 0, rows) : 0);
  else f->live = f->p->unseen ? -1 : f->p->seen_live;
}

static void finish_part(bl_touched *f, bool count) {
  pthread_mutex_lock(&f->p->lock);
  if (--f->p->left == 0) {
    if (count && f->p->open) count_rows(f);
    close_file(f->p);
  }
  pthread_mutex_unlock(&f->p->lock);
}

static uint32_t parts_of(const bl_touched *f) {
  size_t n = f->file->data->file.n_split_offsets;
  return n > 1 && n < UINT32_MAX ? (uint32_t)n : 1;
}

static bl_status make_parts(pass *w, bool (*wanted)(const bl_touched *f), bl_error *err) {
  size_t n = 0;
  for (size_t i = 0; i < w->x->n_files; i++)
    if (wanted(&w->x->files[i])) n += parts_of(&w->x->files[i]);
  w->parts = bl_alloc(w->x->t->ctx, n + 1, sizeof *w->parts);
  if (!w->parts) return bl_nomem(err);
  for (size_t i = 0; i < w->x->n_files; i++) {
    bl_touched *f = &w->x->files[i];
    if (!wanted(f)) continue;
    f->p->left = parts_of(f);
    for (uint32_t k = 0; k < f->p->left; k++) w->parts[w->n_parts++] = (part){f, k, f->p->left};
  }
  return BL_OK;
}

/* A pass that failed leaves parts that were never begun. */
static void end_pass(pass *w) {
  for (size_t i = 0; i < w->n_parts; i++) close_file(w->parts[i].file->p);
  bl_free(w->x->t->ctx, w->parts);
  bl_aschema_release(&w->schema);
}

/* keep[i] = 1 for the live rows of a group. */
static bl_status live_rows(const pass *w, bl_touched *f, size_t group, uint8_t *keep, bl_error *err) {
  const bl_data_group *g = &f->p->open->meta->groups[group];
  const bl_file_deletes *sides[1] = {&f->file->deletes};
  memset(keep, 1, (size_t)g->rows);
  if (f->p->deleted) bl_posset_clear_bytes(f->p->deleted, g->first_row, g->first_row + g->rows, keep);
  if (!f->file->deletes.n_equality) return BL_OK;
  return bl_deletes_equality(w->x->deletes, f->p->open, sides, &keep, 1, group, err);
}

static int64_t count_ones(const uint8_t *keep, int64_t n) {
  int64_t c = 0;
  for (int64_t i = 0; i < n; i++) c += keep[i];
  return c;
}

static bl_status run_parts(pass *w, bl_status (*run)(void *user, size_t i, bl_error *err), bl_error *err) {
  return bl_parallel(w->x->t->ctx, w->n_parts, run, w, err);
}

static bl_status note_progress(pass *w, const char *what, bl_error *err) {
  int64_t done = __atomic_add_fetch(&w->done, 1, __ATOMIC_RELAXED);
  return bl_progress(w->x->t->ctx, what, done, (int64_t)w->n_parts, err);
}

/* ---- find ---- */

typedef struct find_group {
  const pass *w;
  bl_touched *file;
  int64_t first; /* row of the group */
  uint8_t *mark;
} find_group;

static bl_status visit_probe(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                             bl_error *err) {
  find_group *g = user;
  bl_status st = BL_OK;
  if (!positions) st = g->w->probe(g->w->user, batch, g->mark + (first - g->first), err);
  else {
    uint8_t *own = bl_calloc(g->w->x->t->ctx, (size_t)batch->length + 1, 1);
    st = own ? g->w->probe(g->w->user, batch, own, err) : bl_nomem(err);
    for (int64_t i = 0; st == BL_OK && i < batch->length; i++) g->mark[positions[i] - g->first] = own[i];
    bl_free(g->w->x->t->ctx, own);
  }
  bl_array_release(batch);
  return st;
}

/* Runs of rows with one mark become ranges of a set. */
static bl_status add_runs(bl_ctx *ctx, bl_posset **set, int64_t first, const uint8_t *mark, int64_t n, uint8_t value,
                          bl_error *err) {
  for (int64_t i = 0; i < n;) {
    const uint8_t *one = memchr(mark + i, value, (size_t)(n - i));
    if (!one) break;
    int64_t begin = one - mark;
    for (i = begin + 1; i < n && mark[i] == value;) i++;
    if (!*set) BL_TRY(bl_posset_new(ctx, set, err));
    if (i - begin == 1) BL_TRY(bl_posset_add(*set, first + begin, err));
    else BL_TRY(bl_posset_add_range(*set, first + begin, first + i, err));
  }
  return BL_OK;
}

static bl_status keep_marked(bl_touched *f, bl_ctx *ctx, int64_t first, const uint8_t *mark, int64_t n, bl_error *err) {
  pthread_mutex_lock(&f->p->lock);
  bl_status st = add_runs(ctx, &f->found, first, mark, n, 1, err);
  if (st == BL_OK) st = add_runs(ctx, &f->others, first, mark, n, 2, err);
  pthread_mutex_unlock(&f->p->lock);
  return st;
}

/* *n = SIZE_MAX: all rows of the group; 0: none. */
static bl_status choose_pages(const pass *w, bl_touched *f, size_t group, bl_row_range **pages, size_t *n,
                              bl_error *err) {
  const bl_expr *filter = w->x->filter;
  *pages = NULL;
  *n = SIZE_MAX;
  if (!filter) return BL_OK;
  if (bl_open_file_may_match(f->p->open, f->p->filter, filter, group))
    return bl_open_file_pages(f->p->open, f->p->filter, filter, group, pages, n, err);
  *n = 0;
  return BL_OK;
}

static void note_live(bl_touched *f, int64_t live, bool seen) {
  pthread_mutex_lock(&f->p->lock);
  f->p->seen_live += live;
  if (!seen) f->p->unseen = true;
  pthread_mutex_unlock(&f->p->lock);
}

static bl_status find_in_group(const pass *w, bl_touched *f, size_t group, bl_error *err) {
  const bl_data_group *g = &f->p->open->meta->groups[group];
  bl_ctx *ctx = w->x->t->ctx;
  bl_row_range *pages = NULL;
  uint8_t *mark = NULL, *live = NULL;
  size_t n_pages;
  bl_status st;
  if (g->rows == 0) return BL_OK;
  BL_GO(choose_pages(w, f, group, &pages, &n_pages, err));
  if (n_pages == 0) {
    note_live(f, 0, false);
    goto done;
  }
  mark = bl_calloc(ctx, (size_t)g->rows + 1, 1);
  live = bl_alloc(ctx, (size_t)g->rows + 1, 1);
  if (!mark || !live) BL_GO(bl_nomem(err));
  find_group fg = {w, f, g->first_row, mark};
  bool all = n_pages == SIZE_MAX;
  BL_GO(bl_open_file_read(f->p->open, f->p->columns, group, all ? NULL : pages, all ? 0 : n_pages, visit_probe, &fg,
                          err));
  if (!memchr(mark, 1, (size_t)g->rows) && !memchr(mark, 2, (size_t)g->rows)) {
    note_live(f, 0, false);
    goto done;
  }
  BL_GO(live_rows(w, f, group, live, err));
  note_live(f, count_ones(live, g->rows), true);
  for (int64_t i = 0; i < g->rows; i++) mark[i] = live[i] ? mark[i] : 0;
  BL_GO(keep_marked(f, ctx, g->first_row, mark, g->rows, err));
done:
  bl_free(ctx, pages);
  bl_free(ctx, mark);
  bl_free(ctx, live);
  return st;
}

static bl_status find_part(void *user, size_t i, bl_error *err) {
  pass *w = user;
  const part *it = &w->parts[i];
  bl_status st = acquire(w, it->file, err);
  if (st == BL_OK) {
    size_t n = it->file->p->open->meta->n_groups;
    for (size_t g = n * it->k / it->n; st == BL_OK && g < n * (it->k + 1) / it->n; g++)
      st = find_in_group(w, it->file, g, err);
  }
  finish_part(it->file, true);
  return st == BL_OK ? note_progress(w, "looking for rows", err) : st;
}

static bool to_search(const bl_touched *f) {
  return !f->whole && !f->skip;
}

bl_status bl_touch_find(bl_touch *x, const bl_type *columns, bl_touch_probe probe, void *user, bl_error *err) {
  pass w = {.x = x, .columns = columns, .probe = probe, .user = user};
  bl_status st;
  for (size_t i = 0; i < x->n_files; i++) {
    x->files[i].p->seen_live = 0;
    x->files[i].p->unseen = false;
  }
  BL_GO(make_parts(&w, to_search, err));
  BL_GO(run_parts(&w, find_part, err));
done:
  end_pass(&w);
  return st;
}

/* ---- find by the filter ---- */

static bl_status run_predicate(void *user, const struct ArrowArray *batch, uint8_t *mark, bl_error *err) {
  return bl_predicate_run(user, batch, mark, err);
}

static bl_status mark_all(void *user, const struct ArrowArray *batch, uint8_t *mark, bl_error *err) {
  (void)user, (void)err;
  memset(mark, 1, (size_t)batch->length);
  return BL_OK;
}

/* Files of which every row must match, by partition or metrics. */
static bl_status find_whole(bl_touch *x, bl_error *err) {
  bl_typed_specs specs;
  BL_TRY(bl_typed_specs_make(x->arena, x->t->metadata, &specs, err));
  for (size_t i = 0; i < x->n_files; i++) {
    bl_touched *f = &x->files[i];
    const bl_data_file *d = &f->file->data->file;
    const bl_typed_spec *s = bl_typed_specs_get(&specs, d->spec_id);
    if (f->file->deletes.n_equality || f->skip) continue;
    f->whole = !x->filter ||
               (s && bl_partition_must_match(x->filter, s->spec, s->types, x->schema, d->partition, d->n_partition)) ||
               bl_metrics_must_match(x->filter, d, x->schema, bl_entry_stats, &(bl_entry_told){f->file->data, &specs});
    if (!f->whole) continue;
    bl_posset *deleted = NULL;
    BL_TRY(bl_deletes_positions(x->deletes, d, &f->file->deletes, &deleted, err));
    f->n_found = f->live = d->record_count - (deleted ? bl_posset_count_range(deleted, 0, d->record_count) : 0);
    bl_posset_free(deleted);
  }
  return BL_OK;
}

bl_status bl_touch_find_filter(bl_touch *x, bool by_metadata, bl_error *err) {
  bl_predicate *p = NULL;
  if (by_metadata) BL_TRY(find_whole(x, err));
  if (x->filter) BL_TRY(bl_predicate_new(x->t->ctx, x->filter, &x->filter_columns.wanted, &p, err));
  bl_status st = bl_touch_find(x, &x->filter_columns.wanted, p ? run_predicate : mark_all, p, err);
  bl_predicate_free(p);
  return st;
}

/* ---- read ---- */

typedef struct read_group {
  const pass *w;
  bl_touched *file;
  void *lane;
  int64_t first;
  uint8_t *keep;  /* rows wanted */
  uint8_t *found; /* LIVE */
} read_group;

/* Scratch of one batch: positions, and which of the rows are found. */
typedef struct row_facts {
  int64_t *positions;
  uint8_t *found;
} row_facts;

/* Of the batch's rows those that are kept. */
static bl_status facts_of(const read_group *g, const int64_t *positions, int64_t first, int64_t n, bool filtered,
                          row_facts *out, bl_error *err) {
  bl_ctx *ctx = g->w->x->t->ctx;
  int64_t k = 0;
  out->positions = bl_alloc(ctx, (size_t)n + 1, sizeof *out->positions);
  out->found = g->found ? bl_alloc(ctx, (size_t)n + 1, 1) : NULL;
  if (!out->positions || (g->found && !out->found)) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = positions ? positions[i] : first + i;
    if (filtered && !g->keep[at - g->first]) continue;
    if (g->found) out->found[k] = g->found[at - g->first];
    out->positions[k++] = at;
  }
  return BL_OK;
}

static bl_status visit_rows(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                            bl_error *err) {
  read_group *g = user;
  bl_ctx *ctx = g->w->x->t->ctx;
  row_facts facts = {0};
  bl_touch_rows rows = {.file = g->file};
  const uint8_t *keep = g->keep + (first - g->first);
  bool filtered = !positions && memchr(keep, 0, (size_t)batch->length);
  bl_status st = facts_of(g, positions, first, batch->length, filtered, &facts, err);
  if (st != BL_OK) bl_array_release(batch);
  else if (filtered) st = bl_arrow_filter(batch, &g->w->schema, keep, &rows.batch, err);
  else bl_array_move(batch, &rows.batch);
  if (st == BL_OK && rows.batch.length > 0) {
    rows.positions = facts.positions;
    rows.found = facts.found;
    st = g->w->reader->visit(g->w->reader->user, g->lane, &rows, err);
  }
  bl_array_release(&rows.batch);
  bl_free(ctx, facts.positions);
  bl_free(ctx, facts.found);
  return st;
}

/* Bytes for the rows of [first, first + n): 1 where the set has the position. */
static void set_bytes(const bl_posset *s, int64_t first, int64_t n, uint8_t *out) {
  memset(out, 1, (size_t)n);
  if (s) bl_posset_clear_bytes(s, first, first + n, out);
  for (int64_t i = 0; i < n; i++) out[i] ^= 1;
}

static bl_status choose_rows(read_group *g, size_t group, int64_t n, bl_error *err) {
  bl_touch_which which = g->w->reader->which;
  const bl_touched *f = g->file;
  if (which == BL_TOUCH_FOUND && !f->whole) {
    set_bytes(f->found, g->first, n, g->keep);
    return BL_OK;
  }
  BL_TRY(live_rows(g->w, g->file, group, g->keep, err));
  if (which == BL_TOUCH_REST && f->found) bl_posset_clear_bytes(f->found, g->first, g->first + n, g->keep);
  if (which == BL_TOUCH_REST && f->whole) memset(g->keep, 0, (size_t)n);
  if (which != BL_TOUCH_LIVE) return BL_OK;
  set_bytes(f->found, g->first, n, g->found);
  if (f->whole) memset(g->found, 1, (size_t)n);
  return BL_OK;
}

static bl_status read_chosen(read_group *g, size_t group, int64_t n, bl_error *err) {
  int64_t kept = count_ones(g->keep, n);
  bl_row_range *ranges;
  size_t n_ranges;
  const bl_touch_private *p = g->file->p;
  if (kept == 0) return BL_OK;
  if (kept > n / 2) return bl_open_file_read(p->open, p->columns, group, NULL, 0, visit_rows, g, err);
  BL_TRY(bl_ranges_of(g->w->x->t->ctx, g->keep, n, &ranges, &n_ranges, err));
  bl_status st = bl_open_file_read(p->open, p->columns, group, ranges, n_ranges, visit_rows, g, err);
  bl_free(g->w->x->t->ctx, ranges);
  return st;
}

static bl_status read_in_group(const pass *w, bl_touched *f, size_t group, void *lane, bl_error *err) {
  const bl_data_group *dg = &f->p->open->meta->groups[group];
  bl_ctx *ctx = w->x->t->ctx;
  read_group g = {.w = w, .file = f, .lane = lane, .first = dg->first_row};
  if (dg->rows == 0) return BL_OK;
  if (w->reader->which == BL_TOUCH_FOUND && f->found &&
      bl_posset_count_range(f->found, dg->first_row, dg->first_row + dg->rows) == 0)
    return BL_OK;
  bool live = w->reader->which == BL_TOUCH_LIVE;
  g.keep = bl_alloc(ctx, (size_t)dg->rows + 1, 1);
  g.found = live ? bl_alloc(ctx, (size_t)dg->rows + 1, 1) : NULL;
  bl_status st = g.keep && (g.found || !live) ? choose_rows(&g, group, dg->rows, err) : bl_nomem(err);
  if (st == BL_OK) st = read_chosen(&g, group, dg->rows, err);
  bl_free(ctx, g.keep);
  bl_free(ctx, g.found);
  return st;
}

static bl_status read_groups(const pass *w, const part *it, bl_error *err) {
  const bl_touch_reader *r = w->reader;
  void *lane = NULL;
  bl_status st = BL_OK;
  if (r->begin) BL_TRY(r->begin(r->user, it->file, &lane, err));
  size_t n = it->file->p->open->meta->n_groups;
  for (size_t g = n * it->k / it->n; st == BL_OK && g < n * (it->k + 1) / it->n; g++)
    st = read_in_group(w, it->file, g, lane, err);
  return r->end ? r->end(r->user, it->file, lane, st, err) : st;
}

static bl_status read_part(void *user, size_t i, bl_error *err) {
  pass *w = user;
  const part *it = &w->parts[i];
  bl_status st = acquire(w, it->file, err);
  if (st == BL_OK) st = read_groups(w, it, err);
  finish_part(it->file, false);
  return st == BL_OK ? note_progress(w, "rewriting rows", err) : st;
}

size_t bl_touched_plain(const bl_touched *f, int32_t *out, size_t most) {
  bl_data_reader *r = f->p->open->reader;
  const bl_data_meta *m = r->meta;
  size_t n = 0;
  bl_data_stats s;
  for (size_t i = 0; i < m->n_nodes && n < most && m->n_groups > 0 && r->stats; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].field_id >= 0 && r->stats(r, 0, m->nodes[i].leaf, &s) && s.plain)
      out[n++] = m->nodes[i].field_id;
  return n;
}

static bool has_rows(const bl_touched *f) {
  return f->n_found > 0 && !f->skip;
}

bl_status bl_touch_read(bl_touch *x, const bl_touch_reader *r, bl_error *err) {
  pass w = {.x = x, .columns = r->wanted, .reader = r};
  bl_status st;
  BL_GO(bl_aschema_of_struct(x->t->ctx, r->wanted, &w.schema, err));
  BL_GO(make_parts(&w, has_rows, err));
  BL_GO(run_parts(&w, read_part, err));
done:
  end_pass(&w);
  return st;
}
