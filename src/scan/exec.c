/* exec.c: see exec.h. A worker runs an item group by group:
 *   prune by statistics -> keep bytes (deletes, then the filter's own columns) -> read the output columns of what is
 * left. */
#include "scan/exec.h"

#include "base/pool.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/stream.h"
#include "scan/predicate.h"

#include <pthread.h>

/* A file that several items share: opened by the first, closed by the last. */
typedef struct shared_file {
  const bl_scan_file *file;
  pthread_mutex_t lock;
  uint32_t left; /* items not finished */
  bool opened;
  bl_open_file *open;
  bl_projection *wanted, *filter;
  bl_posset *deleted;
} shared_file;

typedef struct exec_item {
  shared_file *file;
  uint32_t k, n;
} exec_item;

typedef struct exec {
  bl_ctx *ctx;
  bl_table *t;
  bl_exec_options o;
  bl_reading reading;
  bl_deletes *deletes;
  bl_predicate *predicate;
  struct ArrowSchema schema;
  shared_file *files;
  size_t n_files;
  exec_item *items;
  size_t n_items;
  bl_ordered *ordered;
  int64_t rows_left; /* of the limit */
  int64_t items_done;
  bool warned_rows;
  void *keep;
  void (*free_keep)(void *);
} exec;

bl_status bl_exec_split(bl_arena *a, const bl_scan_file *files, size_t n, bl_exec_item **out, size_t *n_out,
                        bl_error *err) {
  size_t total = 0, at = 0;
  for (size_t i = 0; i < n; i++)
    total += files[i].data->file.n_split_offsets > 1 ? files[i].data->file.n_split_offsets : 1;
  bl_exec_item *items = bl_arena_alloc(a, total + 1, sizeof *items);
  if (!items) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    size_t parts = files[i].data->file.n_split_offsets > 1 ? files[i].data->file.n_split_offsets : 1;
    for (size_t k = 0; k < parts; k++) items[at++] = (bl_exec_item){&files[i], (uint32_t)k, (uint32_t)parts};
  }
  *out = items;
  *n_out = total;
  return BL_OK;
}

/* ---- one file ---- */

static void close_file(shared_file *s) {
  bl_projection_free(s->wanted);
  bl_projection_free(s->filter);
  bl_open_file_free(s->open);
  bl_posset_free(s->deleted);
  s->wanted = s->filter = NULL;
  s->open = NULL;
  s->deleted = NULL;
}

static bl_status open_file(exec *x, shared_file *s, bl_error *err) {
  BL_TRY(bl_open_file_new(&x->reading, s->file->data, &s->open, err));
  BL_TRY(bl_open_file_project(s->open, x->o.wanted, &s->wanted, err));
  if (x->o.filter) BL_TRY(bl_open_file_project(s->open, x->o.filter_wanted, &s->filter, err));
  return bl_deletes_positions(x->deletes, &s->file->data->file, &s->file->deletes, &s->deleted, err);
}

static bl_status acquire(exec *x, shared_file *s, bl_error *err) {
  bl_status st = BL_OK;
  pthread_mutex_lock(&s->lock);
  if (!s->opened) {
    st = open_file(x, s, err);
    if (st == BL_OK) s->opened = true;
    else close_file(s);
    if (st == BL_OK) bl_open_file_check_rows(s->open, &x->warned_rows);
  }
  pthread_mutex_unlock(&s->lock);
  return st;
}

static void finish_item(shared_file *s) {
  pthread_mutex_lock(&s->lock);
  if (--s->left == 0) close_file(s);
  pthread_mutex_unlock(&s->lock);
}

/* ---- one row group ---- */

typedef struct group_work {
  exec *x;
  shared_file *s;
  size_t group;
  int64_t first, rows;
  uint8_t *keep;       /* NULL = all */
  bl_row_range *pages; /* the only rows that can match the filter, by the column index; NULL = all */
  size_t n_pages;
  bl_ordered_slot *slot;
} group_work;

static bl_status emit(group_work *w, struct ArrowArray *batch, bl_error *err) {
  if (batch->length == 0) {
    bl_array_release(batch);
    return BL_OK;
  }
  if (w->x->o.require_lineage && w->s->file->data->file.first_row_id == BL_NONE) {
    bl_array_release(batch);
    return bl_fail(err, BL_FOUND, "row without an id: %s: the data file has no first_row_id",
                   w->s->file->data->file.path.p);
  }
  struct ArrowArray *own = bl_alloc(w->x->ctx, 1, sizeof *own);
  if (!own) {
    bl_array_release(batch);
    return bl_nomem(err);
  }
  bl_array_move(batch, own);
  bl_status st = bl_ordered_emit(w->slot, own);
  if (st != BL_OK) {
    bl_array_release(own);
    bl_free(w->x->ctx, own);
  }
  return st;
}

static bl_status visit_output(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                              bl_error *err) {
  group_work *w = user;
  if (!w->keep || positions) return emit(w, batch, err); /* all rows, or only those asked for */
  struct ArrowArray kept;
  const uint8_t *keep = w->keep + (first - w->first);
  if (!memchr(keep, 0, (size_t)batch->length)) return emit(w, batch, err);
  BL_TRY(bl_arrow_filter(batch, &w->x->schema, keep, &kept, err));
  return emit(w, &kept, err);
}

static bl_status visit_filter(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                              bl_error *err) {
  group_work *w = user;
  uint8_t *truth = bl_alloc(w->x->ctx, (size_t)batch->length + 1, 1);
  bl_status st = truth ? bl_predicate_run(w->x->predicate, batch, truth, err) : bl_nomem(err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++)
    w->keep[(positions ? positions[i] : first + i) - w->first] &= truth[i];
  bl_free(w->x->ctx, truth);
  bl_array_release(batch);
  return st;
}

static bl_status fill_keep(group_work *w, bl_error *err) {
  shared_file *s = w->s;
  const bl_file_deletes *sides[1] = {&s->file->deletes};
  w->keep = bl_alloc(w->x->ctx, (size_t)w->rows + 1, 1);
  if (!w->keep) return bl_nomem(err);
  memset(w->keep, w->pages ? 0 : 1, (size_t)w->rows);
  for (size_t i = 0; i < w->n_pages; i++)
    memset(w->keep + w->pages[i].begin, 1, (size_t)(w->pages[i].end - w->pages[i].begin));
  if (s->deleted) bl_posset_clear_bytes(s->deleted, w->first, w->first + w->rows, w->keep);
  if (s->file->deletes.n_equality)
    BL_TRY(bl_deletes_equality(w->x->deletes, s->open, sides, &w->keep, 1, w->group, err));
  if (!w->x->o.filter) return BL_OK;
  return bl_open_file_read(s->open, s->filter, w->group, w->pages, w->n_pages, visit_filter, w, err);
}

/* Rows kept, and the stretches that they stand in. */
static int64_t count_kept(const uint8_t *keep, int64_t n, int64_t *stretches) {
  int64_t c = 0, starts = n > 0 ? keep[0] : 0;
  for (int64_t i = 0; i < n; i++) c += keep[i];
  for (int64_t i = 1; i < n; i++) starts += keep[i] & !keep[i - 1];
  *stretches = starts;
  return c;
}

static bl_status read_kept(group_work *w, bl_error *err) {
  shared_file *s = w->s;
  int64_t stretches = 1, kept = w->keep ? count_kept(w->keep, w->rows, &stretches) : w->rows;
  if (kept == 0) return BL_OK;
  if (!bl_open_file_picks(s->open, s->wanted, w->group, kept, stretches))
    return bl_open_file_read(s->open, s->wanted, w->group, NULL, 0, visit_output, w, err);
  bl_row_range *ranges;
  size_t n;
  BL_TRY(bl_ranges_of(w->x->ctx, w->keep, w->rows, &ranges, &n, err));
  bl_status st = bl_open_file_read(s->open, s->wanted, w->group, ranges, n, visit_output, w, err);
  bl_free(w->x->ctx, ranges);
  return st;
}

/* *any = false: no row of the group can match. */
static bl_status choose_pages(group_work *w, bool *any, bl_error *err) {
  shared_file *s = w->s;
  const bl_expr *filter = w->x->o.filter;
  *any = !filter || bl_open_file_may_match(s->open, s->filter, filter, w->group);
  if (!filter || !*any) return BL_OK;
  size_t n;
  BL_TRY(bl_open_file_pages(s->open, s->filter, filter, w->group, &w->pages, &n, err));
  w->n_pages = n == SIZE_MAX ? 0 : n;
  *any = n > 0;
  return BL_OK;
}

static bl_status run_group(exec *x, shared_file *s, size_t group, bl_ordered_slot *slot, bl_error *err) {
  const bl_data_group *g = &s->open->meta->groups[group];
  group_work w = {.x = x, .s = s, .group = group, .first = g->first_row, .rows = g->rows, .slot = slot};
  bool any = false;
  if (g->rows == 0) return BL_OK;
  bool deleted = s->deleted && bl_posset_count_range(s->deleted, w.first, w.first + w.rows) > 0;
  bl_status st = choose_pages(&w, &any, err);
  if (st == BL_OK && any && (deleted || s->file->deletes.n_equality || x->o.filter)) st = fill_keep(&w, err);
  if (st == BL_OK && any) st = read_kept(&w, err);
  bl_free(x->ctx, w.keep);
  bl_free(x->ctx, w.pages);
  return st;
}

static bl_status run_item(void *user, size_t i, bl_ordered_slot *slot, bl_error *err) {
  exec *x = user;
  exec_item *it = &x->items[i];
  bl_status st = acquire(x, it->file, err);
  if (st == BL_OK) {
    size_t n = it->file->open->meta->n_groups;
    for (size_t g = n * it->k / it->n; st == BL_OK && g < n * (it->k + 1) / it->n; g++)
      st = run_group(x, it->file, g, slot, err);
  }
  finish_item(it->file);
  int64_t done = __atomic_add_fetch(&x->items_done, 1, __ATOMIC_RELAXED);
  if (st == BL_OK) st = bl_progress(x->ctx, "reading", done, (int64_t)x->n_items, err);
  return st;
}

static void drop_result(void *user, void *result) {
  exec *x = user;
  bl_array_release(result);
  bl_free(x->ctx, result);
}

/* ---- the stream ---- */

/* The first n rows of a batch. */
static void cut(struct ArrowArray *a, int64_t n) {
  a->length = n;
  for (int64_t i = 0; i < a->n_children; i++) {
    a->children[i]->length = n;
    if (a->children[i]->null_count != 0) a->children[i]->null_count = -1;
  }
}

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  exec *x = user;
  void *result;
  out->release = NULL;
  if (x->o.limit >= 0 && x->rows_left <= 0) return BL_OK;
  BL_TRY(bl_ordered_next(x->ordered, &result, err));
  if (!result) return BL_OK;
  bl_array_move(result, out);
  bl_free(x->ctx, result);
  if (x->o.limit >= 0) {
    if (out->length > x->rows_left) cut(out, x->rows_left);
    x->rows_left -= out->length;
  }
  return BL_OK;
}

static void dispose(void *user) {
  exec *x = user;
  bl_ctx *ctx = x->ctx;
  bl_ordered_free(x->ordered);
  for (size_t i = 0; i < x->n_files; i++) {
    close_file(&x->files[i]);
    pthread_mutex_destroy(&x->files[i].lock);
  }
  bl_free(ctx, x->files);
  bl_free(ctx, x->items);
  bl_predicate_free(x->predicate);
  bl_deletes_free(x->deletes);
  bl_aschema_release(&x->schema);
  bl_reading_dispose(&x->reading);
  if (x->free_keep) x->free_keep(x->keep);
  bl_free(ctx, x);
}

/* Name the file's equality deletes for loading. Many files share one list: a part of the last one needs no second look.
 */
static bl_status need_deletes(exec *x, const bl_file_deletes *fd, const bl_file_deletes **last, bl_error *err) {
  const bl_file_deletes *l = *last;
  if (l && fd->equality >= l->equality && fd->equality + fd->n_equality <= l->equality + l->n_equality) return BL_OK;
  if (fd->n_equality) *last = fd;
  return bl_deletes_need(x->deletes, fd, err);
}

/* Items of one file stand together. */
static bl_status take_items(exec *x, const bl_exec_item *items, size_t n, bl_error *err) {
  const bl_file_deletes *last = NULL;
  x->files = bl_calloc(x->ctx, n + 1, sizeof *x->files);
  x->items = bl_calloc(x->ctx, n + 1, sizeof *x->items);
  if (!x->files || !x->items) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    if (x->n_files == 0 || x->files[x->n_files - 1].file != items[i].file) {
      shared_file *s = &x->files[x->n_files++];
      s->file = items[i].file;
      pthread_mutex_init(&s->lock, NULL);
      BL_TRY(need_deletes(x, &s->file->deletes, &last, err));
    }
    shared_file *s = &x->files[x->n_files - 1];
    s->left++;
    x->items[x->n_items++] = (exec_item){s, items[i].k, items[i].n};
  }
  return bl_deletes_load(x->deletes, err);
}

static bl_status start(exec *x, const bl_exec_item *items, size_t n, bl_error *err) {
  size_t window = (size_t)x->ctx->o.threads + 1;
  BL_TRY(bl_reading_init(&x->reading, x->t, err));
  BL_TRY(bl_deletes_new(&x->reading, &x->deletes, err));
  BL_TRY(bl_aschema_of_struct(x->ctx, x->o.wanted, &x->schema, err));
  if (x->o.filter) BL_TRY(bl_predicate_new(x->ctx, x->o.filter, x->o.filter_wanted, &x->predicate, err));
  BL_TRY(take_items(x, items, n, err));
  return bl_ordered_new(x->ctx, x->n_items, 0, window, 4, x->o.unordered, run_item, drop_result, x, &x->ordered, err);
}

bl_status bl_exec_stream(bl_table *t, const bl_exec_item *items, size_t n_items, const bl_exec_options *o, void *keep,
                         void (*free_keep)(void *), struct ArrowArrayStream *out, bl_error *err) {
  exec *x = bl_calloc(t->ctx, 1, sizeof *x);
  struct ArrowSchema schema = {0};
  memset(out, 0, sizeof *out);
  if (!x) {
    if (free_keep) free_keep(keep);
    return bl_nomem(err);
  }
  x->ctx = t->ctx;
  x->t = t;
  x->o = *o;
  x->rows_left = o->limit;
  x->keep = keep;
  x->free_keep = free_keep;
  bl_status st = start(x, items, n_items, err);
  if (st == BL_OK) st = bl_aschema_copy(t->ctx, &x->schema, &schema, err);
  if (st != BL_OK) {
    dispose(x);
    return st;
  }
  bl_stream_source src = {next_batch, dispose, x};
  return bl_stream_make(t->ctx, &src, &schema, out, err);
}
