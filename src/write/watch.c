/* watch.c: see watch.h. */
#include "write/watch.h"

#include "rows/arrow_own.h"

enum { LONG_VALUE = 4000 /* a footer holds bounds of up to 4096 bytes */ };

static bool watched_kind(bl_data_kind k) {
  return k == BL_D_FLOAT || k == BL_D_DOUBLE || k == BL_D_STRING || k == BL_D_BINARY;
}

static size_t count_leaves(const bl_view *v) {
  size_t n = watched_kind(v->kind) && v->field_id >= 0;
  for (size_t i = 0; i < v->n_children; i++) n += count_leaves(&v->children[i]);
  return n;
}

static void list_leaves(bl_watch *w, bl_view *v, bool repeated) {
  if (watched_kind(v->kind) && v->field_id >= 0) {
    bl_watched *leaf = &w->leaves[w->n++];
    *leaf = (bl_watched){.field_id = v->field_id, .view = v, .repeated = repeated};
    bl_buf_init(&leaf->lower, w->ctx, BL_BUF_MAX);
    bl_buf_init(&leaf->upper, w->ctx, BL_BUF_MAX);
  }
  bool below = repeated || v->kind == BL_D_LIST || v->kind == BL_D_MAP;
  for (size_t i = 0; i < v->n_children; i++) list_leaves(w, &v->children[i], below);
}

bl_status bl_watch_init(bl_watch *w, bl_ctx *ctx, const struct ArrowSchema *schema, bl_error *err) {
  *w = (bl_watch){.ctx = ctx};
  BL_TRY(bl_view_new(ctx, schema, &w->root, err));
  w->leaves = bl_alloc(ctx, count_leaves(w->root), sizeof *w->leaves);
  if (!w->leaves) {
    bl_watch_dispose(w);
    return bl_nomem(err);
  }
  list_leaves(w, w->root, false);
  return BL_OK;
}

void bl_watch_dispose(bl_watch *w) {
  for (size_t i = 0; i < w->n; i++) {
    bl_buf_free(&w->leaves[i].lower);
    bl_buf_free(&w->leaves[i].upper);
  }
  if (w->ctx) bl_free(w->ctx, w->leaves);
  bl_view_free(w->root);
  *w = (bl_watch){0};
}

const bl_watched *bl_watch_of(const bl_watch *w, int32_t field_id) {
  for (size_t i = 0; i < w->n; i++)
    if (w->leaves[i].field_id == field_id) return &w->leaves[i];
  return NULL;
}

/* ---- rows [begin, end) of a column, none of which has a null above ---- */

static int64_t count_nans(const bl_view *v, int64_t begin, int64_t end) {
  int64_t n = 0;
  if (v->kind == BL_D_FLOAT) {
    const float *p = (const float *)v->data + v->base;
    for (int64_t i = begin; i < end; i++) n += p[i] != p[i];
  } else {
    const double *p = (const double *)v->data + v->base;
    for (int64_t i = begin; i < end; i++) n += p[i] != p[i];
  }
  if (n == 0 || !v->validity) return n;
  for (int64_t i = begin; i < end; i++) { /* what lies below a null does not count */
    if (!bl_view_null(v, i)) continue;
    n -= v->kind == BL_D_FLOAT ? bl_view_float(v, i) != bl_view_float(v, i)
                               : bl_view_double(v, i) != bl_view_double(v, i);
  }
  return n;
}

static bool any_long(const bl_view *v, int64_t begin, int64_t end) {
  const int32_t *off = v->offsets + v->base;
  int32_t most = 0;
  for (int64_t i = begin; i < end; i++) {
    int32_t n = off[i + 1] - off[i];
    most = n > most ? n : most;
  }
  return most > LONG_VALUE;
}

static bl_str bytes_of(const bl_buf *b) {
  return (bl_str){(const char *)b->p, b->n};
}

static void set(bl_buf *b, bl_str s) {
  bl_buf_clear(b);
  bl_buf_str(b, s);
}

static bl_status widen(bl_watched *w, const bl_view *v, int64_t begin, int64_t end, bl_error *err) {
  for (int64_t i = begin; i < end; i++) {
    if (bl_view_null(v, i)) continue;
    bl_str s = bl_view_bytes(v, i);
    if (!w->has_bounds || bl_str_cmp(s, bytes_of(&w->lower)) < 0) set(&w->lower, s);
    if (!w->has_bounds || bl_str_cmp(s, bytes_of(&w->upper)) > 0) set(&w->upper, s);
    w->has_bounds = true;
  }
  BL_TRY(bl_buf_ok(&w->lower, err));
  return bl_buf_ok(&w->upper, err);
}

static bl_status visit(const bl_view *v, int64_t begin, int64_t end, bl_watched *first, bl_error *err);

static bl_status visit_leaf(const bl_view *v, int64_t begin, int64_t end, bl_watched *w, bl_error *err) {
  if (v->kind == BL_D_FLOAT || v->kind == BL_D_DOUBLE) {
    w->nans += count_nans(v, begin, end);
    return BL_OK;
  }
  if (w->repeated || !any_long(v, begin, end)) return BL_OK;
  return widen(w, v, begin, end, err);
}

static bl_status visit_children(const bl_view *v, int64_t begin, int64_t end, bl_watched *first, bl_error *err) {
  for (size_t i = 0; i < v->n_children; i++) {
    size_t n = count_leaves(&v->children[i]);
    if (n) BL_TRY(visit(&v->children[i], begin, end, first, err));
    first += n;
  }
  return BL_OK;
}

/* first: the first watched leaf at or below v. */
static bl_status visit(const bl_view *v, int64_t begin, int64_t end, bl_watched *first, bl_error *err) {
  if (begin >= end) return BL_OK;
  if (v->n_children == 0) return visit_leaf(v, begin, end, first, err);
  while (begin < end) { /* each stretch of rows that are not null */
    while (begin < end && bl_view_null(v, begin)) begin++;
    int64_t stop = v->validity ? begin : end;
    while (stop < end && !bl_view_null(v, stop)) stop++;
    if (begin == stop) break;
    int64_t a = begin, b = stop;
    if (v->kind != BL_D_STRUCT) {
      int64_t skip;
      bl_view_range(v, begin, &a, &skip);
      bl_view_range(v, stop - 1, &skip, &b);
    }
    BL_TRY(visit_children(v, a, b, first, err));
    begin = stop;
  }
  return BL_OK;
}

bl_status bl_watch_batch(bl_watch *w, const struct ArrowArray *batch, bl_error *err) {
  if (w->n == 0) return BL_OK;
  BL_TRY(bl_view_set(w->root, batch, err));
  return visit_children(w->root, 0, batch->length, w->leaves, err);
}
