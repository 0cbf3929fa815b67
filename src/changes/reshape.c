/* reshape.c: bl_reshape of emit_private.h. */
#include "changes/emit_private.h"

static void release_nothing(struct ArrowArray *a) {
  a->release = NULL;
}

static void lend_array(const struct ArrowArray *in, struct ArrowArray *out) {
  *out = *in;
  out->release = release_nothing;
}

static bool same_shape(const bl_type *a, const bl_type *b) {
  if (a->kind != BL_STRUCT || b->kind != BL_STRUCT) return true;
  if (a->n_fields != b->n_fields) return false;
  for (size_t i = 0; i < a->n_fields; i++)
    if (a->fields[i].id != b->fields[i].id || !same_shape(&a->fields[i].type, &b->fields[i].type)) return false;
  return true;
}

static bl_status prune(bl_ctx *ctx, const bl_type *from, const bl_type *to, struct ArrowArray *in, bool lend,
                       struct ArrowArray *out, bl_error *err) {
  BL_TRY(bl_array_new(ctx, in->length, 1, (int64_t)to->n_fields, out, err));
  out->offset = in->offset;
  out->null_count = in->null_count;
  out->buffers[0] = in->buffers[0];
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < to->n_fields; i++) {
    size_t k = 0;
    while (k < from->n_fields && from->fields[k].id != to->fields[i].id) k++;
    if (k == from->n_fields) st = bl_fail(err, BL_USAGE, "column: %s was not read", to->fields[i].name.p);
    else st = bl_reshape(ctx, &from->fields[k].type, &to->fields[i].type, in->children[k], lend, out->children[i], err);
  }
  if (st == BL_OK && !lend) st = bl_array_keep(out, in, err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

bl_status bl_reshape(bl_ctx *ctx, const bl_type *from, const bl_type *to, struct ArrowArray *in, bool lend,
                     struct ArrowArray *out, bl_error *err) {
  if (!same_shape(from, to)) return prune(ctx, from, to, in, lend, out, err);
  if (lend) lend_array(in, out);
  else bl_array_move(in, out);
  return BL_OK;
}
