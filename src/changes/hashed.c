/* hashed.c: see hashed.h. */
#include "changes/hashed.h"

#include "rows/arrow_view.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

typedef struct hashing {
  bl_ctx *ctx;
  const bl_hashing *what;
  struct ArrowSchema schema;
  bl_place *places;
  size_t *first_row; /* of each place: its first row; n_places + 1 */
  size_t n_places;
  bl_hashed_row *rows;
  uint8_t *nulls;
} hashing;

static bool any_null(const bl_view *v, int64_t i) {
  if (bl_view_null(v, i)) return true;
  for (size_t c = 0; v->kind == BL_D_STRUCT && c < v->n_children; c++)
    if (any_null(&v->children[c], i)) return true;
  return false;
}

static bl_status hash_row(const hashing *h, const bl_view *view, int64_t i, size_t place, bl_buf *b, bl_error *err) {
  bool null = false;
  bl_buf_clear(b);
  for (size_t c = 0; c < view->n_children; c++) {
    null = null || (h->nulls && any_null(&view->children[c], i));
    bl_key_add(b, &view->children[c], i);
  }
  BL_TRY(bl_buf_ok(b, err));
  bl_hash128 hash = bl_key_hash(b->p, b->n, h->what->seed);
  for (size_t r = h->first_row[place]; r < h->first_row[place + 1]; r++) {
    h->rows[r].hash = hash;
    if (h->nulls) h->nulls[r] = null;
  }
  return BL_OK;
}

static bl_status hash_batch(void *user, struct ArrowArray *batch, size_t first, bl_error *err) {
  const hashing *h = user;
  bl_view *view = NULL;
  bl_buf b;
  bl_buf_init(&b, h->ctx, BL_BUF_MAX);
  bl_status st = bl_view_new(h->ctx, &h->schema, &view, err);
  if (st == BL_OK) st = bl_view_set(view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) st = hash_row(h, view, i, first + (size_t)i, &b, err);
  bl_view_free(view);
  bl_buf_free(&b);
  bl_array_release(batch);
  return st;
}

static bl_status make_places(hashing *h, size_t n, bl_error *err) {
  h->places = bl_alloc(h->ctx, n, sizeof *h->places);
  h->first_row = bl_alloc(h->ctx, n + 1, sizeof *h->first_row);
  if (!h->places || !h->first_row) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    bl_place p = {h->rows[i].file, h->rows[i].pos}, *last = h->n_places ? &h->places[h->n_places - 1] : NULL;
    if (last && last->file == p.file && last->pos == p.pos) continue;
    h->first_row[h->n_places] = i;
    h->places[h->n_places++] = p;
  }
  h->first_row[h->n_places] = n;
  return BL_OK;
}

bl_status bl_hash_rows(const bl_hashing *what, bl_hashed_row *rows, size_t n, uint8_t *nulls, bl_error *err) {
  hashing h = {.ctx = what->env->t->ctx, .what = what, .rows = rows, .nulls = nulls};
  if (n == 0) return BL_OK;
  bl_sort(rows, n, sizeof *rows, by_place);
  bl_status st = make_places(&h, n, err);
  if (st == BL_OK) st = bl_aschema_of_struct(h.ctx, what->wanted, &h.schema, err);
  if (st == BL_OK) st = bl_fetch_each(what->env, what->files, what->wanted, h.places, h.n_places, hash_batch, &h, err);
  bl_aschema_release(&h.schema);
  bl_free(h.ctx, h.places);
  bl_free(h.ctx, h.first_row);
  return st;
}

/* ---- many rows ---- */

/* With what hashing them takes, an eighth of the budget. */
size_t bl_hash_lot(const bl_ctx *ctx) {
  enum { BYTES = sizeof(bl_hashed_row) + sizeof(bl_place) + sizeof(size_t) + 1, LEAST = 1024, MOST = 1 << 20 };
  int64_t n = ctx->o.memory_budget / 8 / BYTES;
  return n < LEAST ? LEAST : n > MOST ? MOST : (size_t)n;
}

static bl_status hand_over(bl_hasher *h, bl_error *err) {
  bl_ctx *ctx = h->what.env->t->ctx;
  uint8_t *nulls = NULL;
  if (h->with_null && !(nulls = bl_calloc(ctx, h->n, 1))) return bl_nomem(err);
  bl_status st = bl_hash_rows(&h->what, h->rows, h->n, nulls, err);
  for (size_t i = 0; st == BL_OK && i < h->n; i++)
    st = nulls && nulls[i] ? h->with_null(h->user, &h->rows[i], err) : bl_sorter_add(h->out, &h->rows[i], err);
  h->n = 0;
  bl_free(ctx, nulls);
  return st;
}

bl_status bl_hasher_add(bl_hasher *h, const bl_hashed_row *row, bl_error *err) {
  bl_ctx *ctx = h->what.env->t->ctx;
  if (h->n >= bl_hash_lot(ctx)) BL_TRY(hand_over(h, err));
  BL_TRY(bl_grow(ctx, &h->rows, &h->cap, h->n, sizeof *h->rows, err));
  h->rows[h->n++] = *row;
  return BL_OK;
}

bl_status bl_hasher_finish(bl_hasher *h, bl_error *err) {
  BL_TRY(hand_over(h, err));
  return bl_sorter_finish(h->out, err);
}

void bl_hasher_dispose(bl_hasher *h) {
  bl_free(h->what.env->t->ctx, h->rows);
  h->rows = NULL;
  h->n = h->cap = 0;
}

/* ---- twins ---- */

static int by_ordinal(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

bl_status bl_twins_finish(bl_twins *t, bl_error *err) {
  for (size_t i = 0; i < t->n; i++) t->rows[i].ordinal = (uint32_t)i;
  BL_TRY(bl_hash_rows(&t->what, t->rows, t->n, NULL, err));
  bl_sort(t->rows, t->n, sizeof *t->rows, by_ordinal);
  for (size_t i = 0; i + 1 < t->n; i += 2) {
    if (memcmp(&t->rows[i].hash, &t->rows[i + 1].hash, sizeof t->rows[i].hash) == 0) continue;
    if (t->different++ == 0) t->first_id = t->rows[i].id;
  }
  t->n = 0;
  return BL_OK;
}

static bl_status add_twin(bl_twins *t, const bl_run *r, int64_t i, bl_error *err) {
  BL_TRY(bl_grow(t->what.env->t->ctx, &t->rows, &t->cap, t->n, sizeof *t->rows, err));
  t->rows[t->n++] = (bl_hashed_row){.id = r->id + i, .seq = r->seq, .pos = r->pos + i, .file = r->file};
  return BL_OK;
}

bl_status bl_twins_add(bl_twins *t, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  for (int64_t i = 0; i < len; i++) {
    if (t->n >= bl_hash_lot(t->what.env->t->ctx)) BL_TRY(bl_twins_finish(t, err));
    BL_TRY(add_twin(t, before, i, err));
    BL_TRY(add_twin(t, after, i, err));
  }
  return BL_OK;
}

void bl_twins_dispose(bl_twins *t) {
  bl_free(t->what.env->t->ctx, t->rows);
  t->rows = NULL;
  t->n = t->cap = 0;
}
