/* chunk.c: see chunk.h. */
#include "changes/chunk.h"

#include "base/pool.h"
#include "edge/arrow/arrow_edge.h"

static int64_t images_of(const bl_chunk *c, const bl_event *e) {
  return (int64_t)e->len * (e->type == BL_UPDATE && !c->skip_before ? 2 : 1);
}

/* The first n rows of e; the rest stays in e. */
static bl_event cut_front(bl_event *e, uint32_t n) {
  bl_event front = *e;
  front.len = n;
  e->len -= n;
  if (e->len == 0) return front;
  e->before_pos += n;
  e->after_pos += n;
  if (e->before_id != BL_NONE) e->before_id += n;
  if (e->after_id != BL_NONE) e->after_id += n;
  return front;
}

static bl_status add_event(bl_chunk *c, const bl_event *e, bl_error *err) {
  BL_TRY(bl_grow(c->ctx, &c->events, &c->cap_events, c->n_events, sizeof *c->events, err));
  c->events[c->n_events++] = *e;
  c->images += images_of(c, e);
  return BL_OK;
}

static bl_status put_back(bl_ctx *ctx, bl_backlog *back, const bl_event *e, bl_error *err) {
  BL_TRY(bl_grow(ctx, &back->items, &back->cap, back->n, sizeof *back->items, err));
  back->items[back->n++] = *e;
  return BL_OK;
}

static bl_status next_event(bl_feed *f, bl_backlog *back, bl_event *e, bool *any, bl_error *err) {
  const bl_event *next;
  *any = true;
  if (back->n > 0) {
    *e = back->items[--back->n];
    return BL_OK;
  }
  BL_TRY(bl_event_order_next(f->events, &next, err));
  *any = next != NULL;
  if (next) *e = *next;
  return BL_OK;
}

/* Bytes beside the values: events, and of each image its row, its request and its place. */
static int64_t bookkeeping(const bl_chunk *c) {
  enum { OF_IMAGE = sizeof(int64_t) + 2 * sizeof(bl_place) };
  return (int64_t)c->n_events * (int64_t)sizeof *c->events + c->images * OF_IMAGE;
}

bl_status bl_chunk_take(bl_feed *f, bl_backlog *back, const bl_chunk_wants *w, int64_t max_images, int64_t max_bytes,
                        bl_chunk *out, bl_error *err) {
  *out =
      (bl_chunk){.ctx = f->ctx, .values.ctx = f->ctx, .skip_before = w->skip_before, .skip_deleted = w->skip_deleted};
  while (out->images == 0 || (out->images < max_images && bookkeeping(out) < max_bytes)) {
    bl_event e;
    bool any;
    BL_TRY(next_event(f, back, &e, &any, err));
    if (!any) break;
    int64_t room = (max_images - out->images) / (e.type == BL_UPDATE ? 2 : 1);
    if (room < 1) room = 1;
    bl_event front = cut_front(&e, e.len < room ? e.len : (uint32_t)room);
    BL_TRY(add_event(out, &front, err));
    if (e.len) BL_TRY(put_back(f->ctx, back, &e, err));
  }
  return BL_OK;
}

bl_status bl_chunk_untake(bl_chunk *c, bl_backlog *back, bl_error *err) {
  bl_status st = BL_OK;
  for (size_t i = c->n_events; st == BL_OK && i-- > 0;) st = put_back(c->ctx, back, &c->events[i], err);
  bl_chunk_dispose(c);
  return st;
}

void bl_chunk_dispose(bl_chunk *c) {
  if (c->ctx) {
    bl_fetched_dispose(&c->values);
    bl_free(c->ctx, c->events);
    bl_free(c->ctx, c->row);
  }
  *c = (bl_chunk){0};
}

/* ---- fetching: images by place, each place once, a file once whatever steps its rows are of ---- */

typedef struct request {
  int64_t pos;
  int64_t image;
} request;

typedef struct chunk_fetch {
  bl_ctx *ctx;
  bl_chunk *chunk;
  const bl_files *files;
  request *requests;      /* by place of the file, then position */
  size_t *place_begin;    /* n_places + 1 */
  size_t *distinct_begin; /* the same of distinct positions */
  bl_place *places;
} chunk_fetch;

/* ---- requests of a file: a few ascending stretches, one for each ordinal and image, which are merged ---- */

static size_t end_of_ascent(const request *r, size_t from, size_t n) {
  size_t i = from + 1;
  while (i < n && r[i].pos >= r[i - 1].pos) i++;
  return i;
}

static void merge_ascents(const request *from, request *to, size_t a, size_t mid, size_t end) {
  size_t i = a, j = mid, k = a;
  while (i < mid && j < end) to[k++] = from[j].pos < from[i].pos ? from[j++] : from[i++];
  if (i < mid) memcpy(&to[k], &from[i], (mid - i) * sizeof *to);
  if (j < end) memcpy(&to[k], &from[j], (end - j) * sizeof *to);
}

/* n requests at r, with room for as many at scratch; where they end. */
static request *sort_ascents(request *r, request *scratch, size_t n) {
  for (size_t merged = 0; merged < n;) { /* until one merge gave everything */
    for (size_t a = 0, end; a < n; merged = end - a, a = end) {
      size_t mid = end_of_ascent(r, a, n);
      end = mid < n ? end_of_ascent(r, mid, n) : mid;
      merge_ascents(r, scratch, a, mid, end);
    }
    request *t = r;
    r = scratch;
    scratch = t;
  }
  return r;
}

static bl_status sort_place(void *user, size_t place, bl_error *err) {
  chunk_fetch *f = user;
  size_t begin = f->place_begin[place], n = f->place_begin[place + 1] - begin;
  request *r = f->requests + begin;
  if (n > 0 && end_of_ascent(r, 0, n) < n) {
    request *scratch = bl_alloc(f->ctx, n, sizeof *scratch);
    if (!scratch) return bl_nomem(err);
    request *sorted = sort_ascents(r, scratch, n);
    if (sorted != r) memcpy(r, sorted, n * sizeof *r);
    bl_free(f->ctx, scratch);
  }
  for (size_t i = 0; i < n; i++) f->distinct_begin[place + 1] += i == 0 || r[i].pos != r[i - 1].pos;
  return BL_OK;
}

/* The distinct places of a file, and of each image the row of its place. */
static bl_status number_place(void *user, size_t place, bl_error *err) {
  chunk_fetch *f = user;
  size_t begin = f->place_begin[place], end = f->place_begin[place + 1], n = f->distinct_begin[place];
  uint32_t version = f->files->places[place].version;
  (void)err;
  for (size_t i = begin; i < end; i++) {
    const request *r = &f->requests[i];
    if (i == begin || r->pos != r[-1].pos) f->places[n++] = (bl_place){version, r->pos};
    f->chunk->row[r->image] = (int64_t)n - 1;
  }
  return BL_OK;
}

/* Images of an event that need values: `len` places of a file, of every step-th image. */
typedef struct image_run {
  uint32_t file, len;
  int64_t pos, image, step;
} image_run;

/* The runs of event e, whose first image is *image; that of the next event then. How many: at most 2. */
static int runs_of(const bl_chunk *c, const bl_event *e, int64_t *image, image_run *out) {
  bool before = e->before_file != BL_NO_FILE && !(c->skip_before && e->type == BL_UPDATE);
  bool after = e->after_file != BL_NO_FILE, blank = c->skip_deleted && e->type == BL_DELETE;
  int64_t first = *image, step = before + after;
  int n = 0;
  *image += step * e->len;
  if (before && !blank) out[n++] = (image_run){e->before_file, e->len, e->before_pos, first, step};
  if (after) out[n++] = (image_run){e->after_file, e->len, e->after_pos, first + before, step};
  return n;
}

/* Counting sort by place of the file. */
static void place_requests(chunk_fetch *f) {
  const bl_chunk *c = f->chunk;
  const bl_version *files = f->files->items;
  size_t n = f->files->n_places;
  image_run runs[2];
  int64_t image = 0;
  for (size_t i = 0; i < c->n_events; i++)
    for (int k = runs_of(c, &c->events[i], &image, runs); k-- > 0;)
      f->place_begin[files[runs[k].file].place + 1] += runs[k].len;
  for (size_t i = 0; i < n; i++) f->place_begin[i + 1] += f->place_begin[i];
  image = 0;
  for (size_t i = 0; i < c->n_events; i++)
    for (int k = runs_of(c, &c->events[i], &image, runs); k-- > 0;) {
      const image_run *r = &runs[k];
      request *to = f->requests + f->place_begin[files[r->file].place];
      for (uint32_t j = 0; j < r->len; j++) to[j] = (request){r->pos + j, r->image + r->step * j};
      f->place_begin[files[r->file].place] += r->len;
    }
  for (size_t i = n; i > 0; i--) f->place_begin[i] = f->place_begin[i - 1];
  f->place_begin[0] = 0;
}

static bl_status sort_requests(chunk_fetch *f, bl_error *err) {
  size_t n = f->files->n_places, images = (size_t)f->chunk->images + 1;
  f->requests = bl_alloc(f->ctx, images, sizeof *f->requests);
  f->place_begin = bl_calloc(f->ctx, n + 2, sizeof *f->place_begin);
  f->distinct_begin = bl_calloc(f->ctx, n + 2, sizeof *f->distinct_begin);
  if (!f->requests || !f->place_begin || !f->distinct_begin) return bl_nomem(err);
  place_requests(f);
  BL_TRY(bl_parallel(f->ctx, n, sort_place, f, err));
  for (size_t i = 0; i < n; i++) f->distinct_begin[i + 1] += f->distinct_begin[i];
  return BL_OK;
}

/* The distinct places, and c->row. */
static bl_status number_places(chunk_fetch *f, bl_error *err) {
  size_t n = f->files->n_places;
  f->places = bl_alloc(f->ctx, f->distinct_begin[n] + 1, sizeof *f->places);
  size_t images = (size_t)f->chunk->images + 1;
  f->chunk->row = f->chunk->skip_deleted ? bl_calloc(f->ctx, images, sizeof *f->chunk->row) /* 0: needs no values */
                                         : bl_alloc(f->ctx, images, sizeof *f->chunk->row);
  if (!f->places || !f->chunk->row) return bl_nomem(err);
  BL_TRY(bl_parallel(f->ctx, n, number_place, f, err));
  bl_free(f->ctx, f->requests);
  f->requests = NULL;
  return BL_OK;
}

/* What blank images take their values from: a row of a batch, which is itself never null, of null columns. */
static bl_status add_blank_row(bl_fetched *f, const bl_type *wanted, bl_error *err) {
  f->batches = bl_calloc(f->ctx, 1, sizeof *f->batches);
  if (!f->batches) return bl_nomem(err);
  BL_TRY(bl_array_nulls(f->ctx, wanted, 1, &f->batches[0], err));
  f->batches[0].null_count = 0;
  f->batches[0].buffers[0] = NULL; /* the array still owns it */
  f->n = 1;
  return BL_OK;
}

bl_status bl_chunk_fetch(bl_feed *feed, bl_chunk *c, const bl_type *wanted, const struct ArrowSchema *schema,
                         int64_t max_bytes, bool *over, bl_error *err) {
  chunk_fetch f = {.ctx = c->ctx, .chunk = c, .files = &feed->files};
  bl_status st = sort_requests(&f, err);
  *over = false;
  BL_GO(st);
  BL_GO(number_places(&f, err));
  size_t n = f.distinct_begin[f.files->n_places];
  BL_GO(n ? bl_fetch(&feed->reading, &feed->files, wanted, schema, f.places, n, max_bytes, &c->values, over, err)
          : add_blank_row(&c->values, wanted, err));
done:
  bl_free(c->ctx, f.requests);
  bl_free(c->ctx, f.place_begin);
  bl_free(c->ctx, f.distinct_begin);
  bl_free(c->ctx, f.places);
  return st;
}
