/* chunk.c: see chunk.h. */
#include "changes/chunk.h"

#include "base/pool.h"
#include "edge/arrow/arrow_edge.h"

#include <stdlib.h>

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
  const void *next;
  *any = true;
  if (back->n > 0) {
    *e = back->items[--back->n];
    return BL_OK;
  }
  BL_TRY(bl_sorter_next(f->events, &next, err));
  *any = next != NULL;
  if (next) memcpy(e, next, sizeof *e);
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
  const bl_files *files;
  request *requests;   /* by place of the file, then position */
  size_t *place_begin; /* n_places + 1 */
} chunk_fetch;

static int by_pos(const void *a, const void *b) {
  const request *x = a, *y = b;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->image > y->image) - (x->image < y->image);
}

static bl_status sort_place(void *user, size_t place, bl_error *err) {
  chunk_fetch *f = user;
  request *r = f->requests + f->place_begin[place];
  size_t n = f->place_begin[place + 1] - f->place_begin[place];
  bool ascending = true;
  (void)err;
  for (size_t i = 1; ascending && i < n; i++) ascending = r[i - 1].pos <= r[i].pos;
  if (!ascending) bl_sort(r, n, sizeof *r, by_pos);
  return BL_OK;
}

/* Call put for each image in output order; pos -1: it needs no values. */
static void each_image(const bl_chunk *c, void (*put)(void *user, uint32_t file, int64_t pos, int64_t image),
                       void *user) {
  int64_t image = 0;
  for (size_t i = 0; i < c->n_events; i++) {
    const bl_event *e = &c->events[i];
    bool before = e->before_file != BL_NO_FILE && !(c->skip_before && e->type == BL_UPDATE);
    bool blank = c->skip_deleted && e->type == BL_DELETE;
    for (uint32_t k = 0; k < e->len; k++) {
      if (before) put(user, e->before_file, blank ? -1 : e->before_pos + k, image++);
      if (e->after_file != BL_NO_FILE) put(user, e->after_file, e->after_pos + k, image++);
    }
  }
}

static void count_file(void *user, uint32_t file, int64_t pos, int64_t image) {
  chunk_fetch *f = user;
  (void)image;
  if (pos >= 0) f->place_begin[f->files->items[file].place + 1]++;
}

static void place_request(void *user, uint32_t file, int64_t pos, int64_t image) {
  chunk_fetch *f = user;
  if (pos >= 0) f->requests[f->place_begin[f->files->items[file].place]++] = (request){pos, image};
}

/* Counting sort by place of the file, then by position within each. */
static bl_status sort_requests(const bl_chunk *c, chunk_fetch *f, bl_error *err) {
  size_t n = f->files->n_places;
  f->requests = bl_alloc(f->ctx, (size_t)c->images + 1, sizeof *f->requests);
  f->place_begin = bl_calloc(f->ctx, n + 2, sizeof *f->place_begin);
  if (!f->requests || !f->place_begin) return bl_nomem(err);
  each_image(c, count_file, f);
  for (size_t i = 0; i < n; i++) f->place_begin[i + 1] += f->place_begin[i];
  each_image(c, place_request, f);
  for (size_t i = n; i > 0; i--) f->place_begin[i] = f->place_begin[i - 1];
  f->place_begin[0] = 0;
  return bl_parallel(f->ctx, n, sort_place, f, err);
}

/* Distinct places, and of each image the row of its place. */
static size_t distinct(bl_chunk *c, const chunk_fetch *f, bl_place *places) {
  size_t n = 0;
  for (size_t place = 0; place < f->files->n_places; place++)
    for (size_t i = f->place_begin[place]; i < f->place_begin[place + 1]; i++) {
      if (i == f->place_begin[place] || f->requests[i].pos != f->requests[i - 1].pos)
        places[n++] = (bl_place){f->files->places[place].version, f->requests[i].pos};
      c->row[f->requests[i].image] = (int64_t)n - 1;
    }
  return n;
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
  chunk_fetch f = {.ctx = c->ctx, .files = &feed->files};
  bl_place *places = NULL;
  bl_status st;
  c->row = bl_calloc(c->ctx, (size_t)c->images + 1, sizeof *c->row); /* 0 where no values are needed */
  BL_GO(c->row ? sort_requests(c, &f, err) : bl_nomem(err));
  places = bl_alloc(c->ctx, (size_t)c->images + 1, sizeof *places);
  BL_GO(places ? BL_OK : bl_nomem(err));
  size_t n = distinct(c, &f, places);
  bl_free(c->ctx, f.requests);
  f.requests = NULL;
  *over = false;
  BL_GO(n ? bl_fetch(&feed->reading, &feed->files, wanted, schema, places, n, max_bytes, &c->values, over, err)
          : add_blank_row(&c->values, wanted, err));
done:
  bl_free(c->ctx, f.requests);
  bl_free(c->ctx, f.place_begin);
  bl_free(c->ctx, places);
  return st;
}
