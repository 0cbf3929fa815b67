/* fetch.c: see fetch.h. A job is a stretch of the places of one file; inside it, row group by row group: rows are
 * picked by ranges, or, where they are many and scattered, all are decoded and filtered. */
#include "changes/fetch.h"

#include "base/pool.h"
#include "edge/arrow/arrow_edge.h"

#include <pthread.h>
#include <stdlib.h>

/* Big files are shared by the threads: a job spans no more than its share of the rows, of which there are some a
 * thread, but no fewer than LEAST_SPAN, as the page in which it ends is unpacked by the next one too. */
enum { PLACES_A_JOB = 1 << 18, JOBS_A_THREAD = 8, LEAST_SPAN = 1 << 18 };

typedef struct job {
  size_t begin, end; /* places */
  int64_t span;      /* rows from the first to the last */
} job;

typedef struct fetcher {
  const bl_reading *env;
  const bl_files *files;
  const bl_type *wanted;
  struct ArrowSchema schema; /* of wanted */
  const bl_place *places;
  job *jobs;
  size_t n_jobs, cap_jobs;
  bl_fetch_visit visit;
  void *user;
} fetcher;

typedef struct cursor {
  fetcher *f;
  size_t next;         /* place of the next row */
  const uint8_t *keep; /* rows of the group in hand; NULL: all that come */
  int64_t group_first;
} cursor;

static bl_status pass_on(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first, bl_error *err) {
  cursor *c = user;
  struct ArrowArray kept;
  (void)positions;
  if (c->keep) {
    BL_TRY(bl_arrow_filter(batch, &c->f->schema, c->keep + (first - c->group_first), &kept, err));
    batch = &kept;
  }
  size_t at = c->next;
  c->next += (size_t)batch->length;
  if (batch->length > 0) return c->f->visit(c->f->user, batch, at, err);
  bl_array_release(batch);
  return BL_OK;
}

/* Ranges of places p[0..n), all inside one group, counted from its first row. */
static bl_status group_ranges(bl_ctx *ctx, const bl_place *p, size_t n, int64_t first, bl_row_range **out,
                              size_t *n_out, bl_error *err) {
  size_t cap = 0;
  *out = NULL;
  *n_out = 0;
  for (size_t i = 0; i < n; i++) {
    int64_t at = p[i].pos - first;
    if (*n_out > 0 && (*out)[*n_out - 1].end == at) {
      (*out)[*n_out - 1].end++;
      continue;
    }
    BL_TRY(bl_grow(ctx, out, &cap, *n_out, sizeof **out, err));
    (*out)[(*n_out)++] = (bl_row_range){at, at + 1};
  }
  return BL_OK;
}

static int64_t stretches_of(const bl_place *p, size_t n) {
  int64_t k = n > 0;
  for (size_t i = 1; i < n; i++) k += p[i].pos != p[i - 1].pos + 1;
  return k;
}

static bl_status pick_rows(cursor *c, const bl_open_file *open, const bl_projection *p, size_t g,
                           const bl_place *places, size_t n, bl_error *err) {
  bl_ctx *ctx = c->f->env->t->ctx;
  bl_row_range *ranges;
  size_t n_ranges;
  bl_status st = group_ranges(ctx, places, n, open->meta->groups[g].first_row, &ranges, &n_ranges, err);
  if (st == BL_OK) st = bl_open_file_read(open, p, g, ranges, n_ranges, pass_on, c, err);
  bl_free(ctx, ranges);
  return st;
}

static bl_status filter_rows(cursor *c, const bl_open_file *open, const bl_projection *p, size_t g,
                             const bl_place *places, size_t n, bl_error *err) {
  bl_ctx *ctx = c->f->env->t->ctx;
  const bl_data_group *group = &open->meta->groups[g];
  uint8_t *keep = bl_calloc(ctx, (size_t)group->rows + 1, 1);
  if (!keep) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) keep[places[i].pos - group->first_row] = 1;
  c->keep = keep;
  c->group_first = group->first_row;
  bl_status st = bl_open_file_read(open, p, g, NULL, 0, pass_on, c, err);
  c->keep = NULL;
  bl_free(ctx, keep);
  return st;
}

static bl_status fetch_group(cursor *c, const bl_open_file *open, const bl_projection *p, size_t g,
                             const bl_place *places, size_t n, bl_error *err) {
  int64_t rows = open->meta->groups[g].rows;
  if ((int64_t)n == rows) return bl_open_file_read(open, p, g, NULL, 0, pass_on, c, err);
  bool picked = bl_open_file_picks(open, p, g, (int64_t)n, stretches_of(places, n));
  return picked ? pick_rows(c, open, p, g, places, n, err) : filter_rows(c, open, p, g, places, n, err);
}

static bl_status fetch_groups(fetcher *f, const job *j, const bl_open_file *open, const bl_projection *p,
                              bl_error *err) {
  cursor c = {.f = f, .next = j->begin};
  size_t at = j->begin;
  for (size_t g = 0; g < open->meta->n_groups && at < j->end; g++) {
    const bl_data_group *group = &open->meta->groups[g];
    size_t end = at;
    if (f->places[at].pos < group->first_row) break; /* in no group */
    while (end < j->end && f->places[end].pos < group->first_row + group->rows) end++;
    if (end == at) continue;
    BL_TRY(fetch_group(&c, open, p, g, f->places + at, end - at, err));
    at = end;
    if (c.next != at)
      return bl_fail(err, BL_DAMAGED, "data file: %s: the reader gave another number of rows than asked for",
                     open->name);
  }
  if (at == j->end) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "data file: %s: it has no row at position %lld (record_count in its manifest: %lld)",
                 open->name, (long long)f->places[at].pos, (long long)open->entry->file.record_count);
}

static bl_status run_job(void *user, size_t i, bl_error *err) {
  fetcher *f = user;
  const job *j = &f->jobs[i];
  bl_open_file *open;
  bl_projection *p = NULL;
  BL_TRY(bl_open_file_new(f->env, f->files->items[f->places[j->begin].file].entry, &open, err));
  bl_status st = bl_open_file_project(open, f->wanted, &p, err);
  if (st == BL_OK) st = fetch_groups(f, j, open, p, err);
  bl_projection_free(p);
  bl_open_file_free(open);
  return st;
}

/* Where the places from `begin` on that are of one file, and span at most so many rows, end. */
static size_t end_of_job(const bl_place *p, size_t begin, size_t n, int64_t span) {
  size_t end = begin + 1;
  while (end < n && p[end].file == p[begin].file && p[end].pos - p[begin].pos < span && end - begin < PLACES_A_JOB)
    end++;
  return end;
}

static int64_t span_of(const bl_place *p, size_t begin, size_t end) {
  return p[end - 1].pos - p[begin].pos + 1;
}

static int64_t share_of_job(const bl_ctx *ctx, const bl_place *p, size_t n) {
  int64_t rows = 0, jobs = (int64_t)ctx->o.threads * JOBS_A_THREAD;
  for (size_t i = 0, end; i < n; i = end) {
    end = end_of_job(p, i, n, INT64_MAX);
    if (!bl_add64(rows, span_of(p, i, end), &rows)) return INT64_MAX;
  }
  return rows / jobs < LEAST_SPAN ? LEAST_SPAN : rows / jobs;
}

/* The longest first, so that the threads end together. */
static int by_span(const void *a, const void *b) {
  const job *x = a, *y = b;
  if (x->span != y->span) return x->span > y->span ? -1 : 1;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static bl_status make_jobs(fetcher *f, size_t n, bl_error *err) {
  bl_ctx *ctx = f->env->t->ctx;
  int64_t span = share_of_job(ctx, f->places, n);
  for (size_t i = 0, end; i < n; i = end) {
    end = end_of_job(f->places, i, n, span);
    BL_TRY(bl_grow(ctx, &f->jobs, &f->cap_jobs, f->n_jobs, sizeof *f->jobs, err));
    f->jobs[f->n_jobs++] = (job){i, end, span_of(f->places, i, end)};
  }
  bl_sort(f->jobs, f->n_jobs, sizeof *f->jobs, by_span);
  return BL_OK;
}

bl_status bl_fetch_each(const bl_reading *env, const bl_files *files, const bl_type *wanted, const bl_place *places,
                        size_t n, bl_fetch_visit visit, void *user, bl_error *err) {
  bl_ctx *ctx = env->t->ctx;
  fetcher f = {.env = env, .files = files, .wanted = wanted, .places = places, .visit = visit, .user = user};
  bl_status st = bl_aschema_of_struct(ctx, wanted, &f.schema, err);
  if (st == BL_OK) st = make_jobs(&f, n, err);
  if (st == BL_OK) st = bl_parallel(ctx, f.n_jobs, run_job, &f, err);
  bl_aschema_release(&f.schema);
  bl_free(ctx, f.jobs);
  return st;
}

/* ---- keeping the batches ---- */

typedef struct piece {
  struct ArrowArray batch;
  size_t first;
} piece;

typedef struct keeper {
  bl_ctx *ctx;
  const struct ArrowSchema *schema;
  pthread_mutex_t lock;
  piece *pieces;
  size_t n, cap;
  int64_t bytes, max_bytes;
  bool over;
} keeper;

static bl_status keep_piece(keeper *k, struct ArrowArray *batch, size_t first, bl_error *err) {
  k->bytes += bl_array_bytes(k->schema, batch);
  k->over = k->over || k->bytes > k->max_bytes;
  if (k->over) return bl_fail(err, BL_CANCELLED, "too many bytes at once");
  BL_TRY(bl_grow(k->ctx, &k->pieces, &k->cap, k->n, sizeof *k->pieces, err));
  bl_array_move(batch, &k->pieces[k->n].batch);
  k->pieces[k->n++].first = first;
  return BL_OK;
}

static bl_status keep_batch(void *user, struct ArrowArray *batch, size_t first, bl_error *err) {
  keeper *k = user;
  pthread_mutex_lock(&k->lock);
  bl_status st = keep_piece(k, batch, first, err);
  pthread_mutex_unlock(&k->lock);
  bl_array_release(batch);
  return st;
}

static int by_first(const void *a, const void *b) {
  const piece *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

static bl_status take_over(keeper *k, bl_fetched *out, bl_error *err) {
  bl_sort(k->pieces, k->n, sizeof *k->pieces, by_first);
  out->batches = bl_calloc(k->ctx, k->n + 1, sizeof *out->batches);
  if (!out->batches) return bl_nomem(err);
  for (size_t i = 0; i < k->n; i++) bl_array_move(&k->pieces[i].batch, &out->batches[i]);
  out->n = k->n;
  out->bytes = k->bytes;
  k->n = 0;
  return BL_OK;
}

bl_status bl_fetch(const bl_reading *env, const bl_files *files, const bl_type *wanted,
                   const struct ArrowSchema *schema, const bl_place *places, size_t n, int64_t max_bytes,
                   bl_fetched *out, bool *over, bl_error *err) {
  keeper k = {.ctx = env->t->ctx, .schema = schema, .lock = PTHREAD_MUTEX_INITIALIZER, .max_bytes = max_bytes};
  bl_error why = BL_ERROR_INIT;
  *out = (bl_fetched){.ctx = k.ctx};
  bl_status st = bl_fetch_each(env, files, wanted, places, n, keep_batch, &k, &why);
  *over = st == BL_CANCELLED && k.over;
  if (*over) st = BL_OK;
  else if (st != BL_OK) st = bl_fail_at(err, st, why.position, "%s", why.message);
  if (st == BL_OK && !*over) st = take_over(&k, out, err);
  for (size_t i = 0; i < k.n; i++) bl_array_release(&k.pieces[i].batch);
  bl_free(k.ctx, k.pieces);
  pthread_mutex_destroy(&k.lock);
  if (st != BL_OK) bl_fetched_dispose(out);
  return st;
}

void bl_fetched_dispose(bl_fetched *f) {
  for (size_t i = 0; i < f->n; i++) bl_array_release(&f->batches[i]);
  bl_free(f->ctx, f->batches);
  *f = (bl_fetched){.ctx = f->ctx};
}
