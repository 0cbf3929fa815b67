/* arrow_share.c: see arrow_share.h. */
#include "rows/arrow_share.h"

#include <stdatomic.h>

struct bl_shared {
  bl_ctx *ctx;
  atomic_long refs;
  struct ArrowArray array;
};

bl_status bl_shared_new(bl_ctx *ctx, struct ArrowArray *in, bl_shared **out, bl_error *err) {
  bl_shared *s = bl_alloc(ctx, 1, sizeof *s);
  *out = s;
  if (!s) {
    bl_array_release(in);
    return bl_nomem(err);
  }
  s->ctx = ctx;
  atomic_init(&s->refs, 1);
  bl_array_move(in, &s->array);
  return BL_OK;
}

bl_shared *bl_shared_ref(bl_shared *s) {
  atomic_fetch_add(&s->refs, 1);
  return s;
}

void bl_shared_unref(bl_shared *s) {
  if (!s || atomic_fetch_sub(&s->refs, 1) > 1) return;
  bl_array_release(&s->array);
  bl_free(s->ctx, s);
}

const struct ArrowArray *bl_shared_array(const bl_shared *s) {
  return &s->array;
}

/* ---- parts ---- */

static void release_part(struct ArrowArray *a) {
  bl_shared *s = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++) bl_array_release(a->children[i]);
  bl_array_release(a->dictionary);
  bl_free(s->ctx, a->children);
  a->release = NULL;
  bl_shared_unref(s);
}

/* Pointers and the structs that they point to in one block. */
static struct ArrowArray **make_children(bl_ctx *ctx, int64_t n) {
  struct ArrowArray **list = bl_calloc(ctx, (size_t)n, sizeof *list + sizeof **list);
  struct ArrowArray *items = (struct ArrowArray *)(void *)(list + n);
  for (int64_t i = 0; list && i < n; i++) list[i] = &items[i];
  return list;
}

/* cut: this array's own rows are [begin, begin + n); its children are whole. */
static bl_status copy_node(bl_shared *s, const struct ArrowArray *in, const bl_pick *pick, struct ArrowArray *out,
                           bl_error *err) {
  int64_t n = pick && pick->n >= 0 ? pick->n : in->n_children;
  struct ArrowArray **children = make_children(s->ctx, n + 1); /* the last: the dictionary */
  if (!children) return bl_nomem(err);
  bl_shared_ref(s);
  *out = *in;
  out->n_children = n;
  out->children = children;
  out->dictionary = in->dictionary ? children[n] : NULL;
  out->private_data = s;
  out->release = release_part;
  bl_status st = in->dictionary ? copy_node(s, in->dictionary, NULL, out->dictionary, err) : BL_OK;
  for (int64_t i = 0; st == BL_OK && i < n; i++) {
    int64_t from = pick && pick->n >= 0 ? pick->children[i] : i;
    st = copy_node(s, in->children[from], pick && pick->below ? pick->below[i] : NULL, children[i], err);
  }
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static void cut(struct ArrowArray *a, int64_t begin, int64_t n) {
  a->offset += begin;
  if (a->null_count != 0 && a->length != n) a->null_count = -1;
  a->length = n;
}

bl_status bl_shared_part(bl_shared *s, int64_t begin, int64_t n, const bl_pick *pick, struct ArrowArray *out,
                         bl_error *err) {
  out->release = NULL;
  BL_TRY(copy_node(s, &s->array, pick, out, err));
  for (int64_t i = 0; i < out->n_children; i++) cut(out->children[i], out->offset + begin, n);
  out->offset = 0;
  out->length = n;
  return BL_OK;
}
