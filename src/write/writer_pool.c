/* writer_pool.c: see writer_pool.h. */
#include "write/writer_pool.h"

#include <pthread.h>

#include "base/pool.h"
#include "write/settings.h"

enum { ROWS_A_WRITER = 1 << 19 };            /* before one more is begun for single batches */
static const int64_t ENOUGH_BYTES = 8 << 20; /* of rewritten parts, before a lane ends its files */

struct bl_writer_lane {
  bl_writer_pool *pool;
  bl_staged *staged;
  bl_data_writer *writer; /* NULL: the next row begins one */
  int32_t *plain;         /* of its writer's files */
  size_t n_plain;
  const bl_data_file *from; /* its rows came last */
  int64_t bytes;
  bool busy;
};

struct bl_writer_pool {
  bl_table *t;
  bl_data_writer_options o;
  bl_staged *into;
  pthread_mutex_t lock;
  pthread_cond_t free_one;
  bl_writer_lane *lanes;
  size_t n, max;
  int64_t rows;
  bl_arena *arena; /* of the settings; NULL: no writer was needed yet */
  bl_write_settings settings;
};

bl_status bl_writer_pool_new(bl_table *t, const bl_data_writer_options *o, bl_staged *into, bl_writer_pool **out,
                             bl_error *err) {
  *out = NULL;
  bl_writer_pool *p = bl_calloc(t->ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  *p = (bl_writer_pool){.t = t, .o = *o, .into = into, .max = t->ctx->o.threads > 1 ? (size_t)t->ctx->o.threads : 1};
  p->o.beside = p->max;
  p->lanes = bl_calloc(t->ctx, p->max, sizeof *p->lanes);
  if (!p->lanes) {
    bl_free(t->ctx, p);
    return bl_nomem(err);
  }
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->free_one, NULL);
  *out = p;
  return BL_OK;
}

/* ---- lanes ---- */

static bl_writer_lane *idle_lane(bl_writer_pool *p) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->lanes[i].busy) return &p->lanes[i];
  return NULL;
}

/* One that is idle, a new one where there may be more, else the first that comes back. */
static bl_status take_lane(bl_writer_pool *p, size_t allowed, bl_writer_lane **out, bl_error *err) {
  bl_status st = BL_OK;
  pthread_mutex_lock(&p->lock);
  while (!(*out = idle_lane(p)) && p->n >= allowed) pthread_cond_wait(&p->free_one, &p->lock);
  if (!*out) {
    bl_writer_lane *l = &p->lanes[p->n];
    st = bl_staged_new(p->t->ctx, &l->staged, err);
    if (st == BL_OK) {
      l->pool = p;
      p->n++;
      *out = l;
    }
  }
  if (st == BL_OK) (*out)->busy = true;
  pthread_mutex_unlock(&p->lock);
  return st;
}

static void give_lane(bl_writer_pool *p, bl_writer_lane *l, int64_t rows) {
  pthread_mutex_lock(&p->lock);
  l->busy = false;
  p->rows += rows;
  pthread_cond_signal(&p->free_one);
  pthread_mutex_unlock(&p->lock);
}

/* Made once, so that what is wrong with the table's properties is told once. */
static bl_status make_settings(bl_writer_pool *p, bl_error *err) {
  const bl_schema *schema = p->o.schema ? p->o.schema : bl_metadata_current_schema(p->t->metadata);
  bl_status st = BL_OK;
  pthread_mutex_lock(&p->lock);
  if (!p->o.settings) {
    if (!p->arena) st = bl_arena_new(p->t->ctx, &p->arena, err);
    if (st == BL_OK) st = bl_write_settings_new(p->t, schema, p->arena, &p->settings, err);
    if (st == BL_OK) p->o.settings = &p->settings;
  }
  pthread_mutex_unlock(&p->lock);
  return st;
}

static bl_status begin_writer(bl_writer_lane *l, bl_error *err) {
  BL_TRY(make_settings(l->pool, err));
  bl_data_writer_options o = l->pool->o;
  o.plain = l->plain;
  o.n_plain = l->n_plain;
  o.kept_order = l->from ? l->from->sort_order_id : 0;
  return bl_data_writer_new(l->pool->t, &o, l->staged, &l->writer, err);
}

bl_status bl_writer_lane_write(bl_writer_lane *l, struct ArrowArray *batch, bl_error *err) {
  bl_status st = l->writer ? BL_OK : begin_writer(l, err);
  if (st == BL_OK) return bl_data_writer_write(l->writer, batch, err);
  batch->release(batch);
  return st;
}

static bl_status end_files(bl_writer_lane *l, bl_error *err) {
  bl_data_writer *w = l->writer;
  l->writer = NULL;
  l->bytes = 0;
  return w ? bl_data_writer_finish(w, err) : BL_OK;
}

bl_status bl_writer_pool_write(bl_writer_pool *p, struct ArrowArray *batch, bl_error *err) {
  bl_writer_lane *l = NULL;
  int64_t rows = batch->length;
  pthread_mutex_lock(&p->lock);
  size_t allowed = 1 + (size_t)(p->rows / ROWS_A_WRITER);
  pthread_mutex_unlock(&p->lock);
  bl_status st = take_lane(p, allowed < p->max ? allowed : p->max, &l, err);
  if (st != BL_OK) {
    batch->release(batch);
    return st;
  }
  st = bl_writer_lane_write(l, batch, err);
  give_lane(p, l, rows);
  return st;
}

static bl_status set_plain(bl_writer_lane *l, const int32_t *plain, size_t n, bl_error *err) {
  bl_ctx *ctx = l->pool->t->ctx;
  if (l->writer) return BL_OK; /* it goes on */
  bl_free(ctx, l->plain);
  l->n_plain = 0;
  l->plain = bl_alloc(ctx, n, sizeof *l->plain);
  if (!l->plain) return bl_nomem(err);
  if (n) memcpy(l->plain, plain, n * sizeof *plain);
  l->n_plain = n;
  return BL_OK;
}

/* Rows of two files are in no order together. */
static bl_status set_from(bl_writer_lane *l, const bl_data_file *from, bl_error *err) {
  bool ordered = from->sort_order_id > 0 || (l->from && l->from->sort_order_id > 0);
  bl_status st = ordered && l->from != from && l->pool->o.keep_order ? end_files(l, err) : BL_OK;
  l->from = from;
  return st;
}

bl_status bl_writer_pool_take(bl_writer_pool *p, const int32_t *plain, size_t n, const bl_data_file *from,
                              bl_writer_lane **out, bl_error *err) {
  BL_TRY(take_lane(p, p->max, out, err));
  bl_status st = set_from(*out, from, err);
  if (st == BL_OK) st = set_plain(*out, plain, n, err);
  if (st != BL_OK) give_lane(p, *out, 0);
  return st;
}

bl_status bl_writer_pool_give(bl_writer_pool *p, bl_writer_lane *l, int64_t bytes, bl_error *err) {
  bl_status st = BL_OK;
  l->bytes += bytes;
  if (l->bytes >= ENOUGH_BYTES) st = end_files(l, err);
  give_lane(p, l, 0);
  return st;
}

/* ---- the end ---- */

static bl_status hand_over(bl_staged *from, bl_staged *into, bl_error *err) {
  for (size_t i = 0; i < from->n_files; i++) BL_TRY(bl_staged_file_written(into, from->files[i], err));
  for (size_t i = 0; i < from->n_data; i++) BL_TRY(bl_staged_add_data(into, &from->data[i], err));
  return BL_OK;
}

static void free_pool(bl_writer_pool *p) {
  bl_ctx *ctx = p->t->ctx;
  for (size_t i = 0; i < p->n; i++) {
    bl_staged_free(p->lanes[i].staged);
    bl_free(ctx, p->lanes[i].plain);
  }
  pthread_cond_destroy(&p->free_one);
  pthread_mutex_destroy(&p->lock);
  bl_arena_free(p->arena);
  bl_free(ctx, p->lanes);
  bl_free(ctx, p);
}

static bl_status end_lane(void *user, size_t i, bl_error *err) {
  bl_writer_pool *p = user;
  return end_files(&p->lanes[i], err);
}

bl_status bl_writer_pool_finish(bl_writer_pool *p, bl_error *err) {
  bl_status st = bl_parallel(p->t->ctx, p->n, end_lane, p, err);
  for (size_t i = 0; st == BL_OK && i < p->n; i++) st = hand_over(p->lanes[i].staged, p->into, err);
  if (st != BL_OK) {
    bl_writer_pool_abort(p);
    return st;
  }
  free_pool(p);
  return BL_OK;
}

void bl_writer_pool_abort(bl_writer_pool *p) {
  if (!p) return;
  for (size_t i = 0; i < p->n; i++) {
    bl_writer_lane *l = &p->lanes[i];
    if (l->writer) bl_data_writer_abort(l->writer);
    bl_staged_discard(l->staged, p->t);
  }
  free_pool(p);
}
