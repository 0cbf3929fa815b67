/* variant_rows.c: see variant_rows.h. A group of (value, typed_value) is put together by the table of
 * VariantShredding.md: typed_value null -> value as encoded; both null -> missing; an object's typed fields
 * and the members left in value together. */
#include "rows/variant_rows.h"

#include "format/variant.h"

typedef struct assembler {
  bl_ctx *ctx;
  const bl_data_meta *file;
  bl_variant_builder *builder;
  bl_str metadata; /* of the row */
  int depth;
} assembler;

/* A group: its children value and typed_value, either may be absent (node -1). */
typedef struct group {
  int32_t value_node, typed_node;
  const struct ArrowArray *value, *typed;
} group;

static group group_of(const assembler *a, int32_t node, const struct ArrowArray *array) {
  group g = {-1, -1, NULL, NULL};
  int32_t k = 0;
  for (size_t i = (size_t)node + 1; i < a->file->n_nodes; i++) {
    if (a->file->nodes[i].parent != node) continue;
    const char *name = a->file->nodes[i].name;
    const struct ArrowArray *child = k < array->n_children ? array->children[k] : NULL;
    k++;
    if (child && strcmp(name, "value") == 0) g.value_node = (int32_t)i, g.value = child;
    else if (child && strcmp(name, "typed_value") == 0) g.typed_node = (int32_t)i, g.typed = child;
  }
  return g;
}

static bl_str bytes_at(const struct ArrowArray *a, int64_t i) {
  const int32_t *off = (const int32_t *)a->buffers[1] + a->offset + i;
  return (bl_str){(const char *)a->buffers[2] + off[0], (size_t)(off[1] - off[0])};
}

static bool has(const struct ArrowArray *a, int64_t i) {
  return a && bl_array_valid(a, i);
}

static bl_status put_group(assembler *a, const group *g, int64_t i, bl_error *err);

static bl_status put_int(assembler *a, const bl_data_node *n, const struct ArrowArray *v, int64_t i, bl_error *err) {
  if (n->kind == BL_D_INT32)
    return bl_variant_put_int(a->builder, ((const int32_t *)v->buffers[1])[v->offset + i], 4, err);
  return bl_variant_put_int(a->builder, ((const int64_t *)v->buffers[1])[v->offset + i], 8, err);
}

static bl_status put_primitive(assembler *a, const bl_data_node *n, const struct ArrowArray *v, int64_t i,
                               bl_error *err) {
  int64_t at = v->offset + i;
  bl_variant_builder *b = a->builder;
  switch (n->kind) {
  case BL_D_BOOL: return bl_variant_put_bool(b, bl_bit_get(v->buffers[1], at), err);
  case BL_D_INT32:
  case BL_D_INT64: return put_int(a, n, v, i, err);
  case BL_D_FLOAT: return bl_variant_put_float(b, ((const float *)v->buffers[1])[at], err);
  case BL_D_DOUBLE: return bl_variant_put_double(b, ((const double *)v->buffers[1])[at], err);
  case BL_D_DECIMAL:
    return bl_variant_put_decimal(b, (const uint8_t *)v->buffers[1] + at * 16, n->scale,
                                  n->precision <= 9    ? 4
                                  : n->precision <= 18 ? 8
                                                       : 16,
                                  err);
  case BL_D_DATE32: return bl_variant_put_date(b, ((const int32_t *)v->buffers[1])[at], err);
  case BL_D_TIME_US: return bl_variant_put_time(b, ((const int64_t *)v->buffers[1])[at], err);
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS:
    return bl_variant_put_timestamp(b, ((const int64_t *)v->buffers[1])[at], n->kind == BL_D_TIMESTAMP_NS, n->utc, err);
  case BL_D_STRING: return bl_variant_put_string(b, bytes_at(v, i), err);
  case BL_D_BINARY: return bl_variant_put_binary(b, bytes_at(v, i), err);
  case BL_D_FIXED: {
    const char *p = (const char *)v->buffers[1] + at * n->length;
    if (n->length == 16 && n->hint == BL_H_UUID) return bl_variant_put_uuid(b, (const uint8_t *)p, err);
    return bl_variant_put_binary(b, (bl_str){p, (size_t)n->length}, err);
  }
  default: return bl_fail(err, BL_UNSUPPORTED, "variant: a typed_value of type %s", n->note ? n->note : "?");
  }
}

static bl_status put_object(assembler *a, const group *g, int64_t i, bl_error *err) {
  const struct ArrowArray *obj = g->typed;
  int32_t k = 0;
  BL_TRY(bl_variant_begin_object(a->builder, err));
  for (size_t c = (size_t)g->typed_node + 1; c < a->file->n_nodes; c++) {
    if (a->file->nodes[c].parent != g->typed_node) continue;
    if (k >= obj->n_children) break;
    const struct ArrowArray *field = obj->children[k++];
    int64_t at = obj->offset + i;
    group fg = group_of(a, (int32_t)c, field);
    int64_t in = field->offset + at;
    if (!has(field, at) || (!has(fg.value, in) && !has(fg.typed, in))) continue; /* missing */
    BL_TRY(bl_variant_put_key(a->builder, bl_str_of(a->file->nodes[c].name), err));
    BL_TRY(put_group(a, &fg, in, err));
  }
  if (has(g->value, i)) BL_TRY(bl_variant_put_members(a->builder, a->metadata, bytes_at(g->value, i), err));
  return bl_variant_end_object(a->builder, err);
}

static bl_status put_list(assembler *a, const group *g, int64_t i, bl_error *err) {
  const struct ArrowArray *list = g->typed, *element = list->children[0];
  const int32_t *off = (const int32_t *)list->buffers[1] + list->offset + i;
  group eg = group_of(a, g->typed_node + 1, element);
  BL_TRY(bl_variant_begin_array(a->builder, err));
  for (int32_t k = off[0]; k < off[1]; k++) {
    int64_t at = element->offset + k;
    if (!has(eg.value, at) && !has(eg.typed, at)) BL_TRY(bl_variant_put_null(a->builder, err));
    else BL_TRY(put_group(a, &eg, at, err));
  }
  return bl_variant_end_array(a->builder, err);
}

/* i indexes the children arrays of the group (their own offsets still apply). */
static bl_status put_group(assembler *a, const group *g, int64_t i, bl_error *err) {
  if (a->depth >= 100) return bl_fail(err, BL_DAMAGED, "variant: nested more than 100 deep");
  if (!has(g->typed, i)) {
    if (has(g->value, i)) return bl_variant_put_encoded(a->builder, a->metadata, bytes_at(g->value, i), err);
    return bl_variant_put_null(a->builder, err);
  }
  const bl_data_node *n = &a->file->nodes[g->typed_node];
  a->depth++;
  bl_status st = n->kind == BL_D_STRUCT ? put_object(a, g, i, err)
                 : n->kind == BL_D_LIST ? put_list(a, g, i, err)
                                        : put_primitive(a, n, g->typed, i, err);
  a->depth--;
  return st;
}

/* The columns of the output while they grow. */
typedef struct columns {
  bl_buf metadata, value;
  int32_t *metadata_ends, *value_ends; /* n + 1 offsets */
} columns;

static bl_status assemble_row(assembler *a, const group *g, const struct ArrowArray *metadata, int64_t i, columns *c,
                              bl_error *err) {
  if (!has(metadata, i)) return bl_fail(err, BL_DAMAGED, "variant: a row without metadata");
  a->metadata = bytes_at(metadata, i);
  bl_variant_builder_reset(a->builder);
  BL_TRY(put_group(a, g, i, err));
  return bl_variant_finish(a->builder, &c->metadata, &c->value, err);
}

static bl_status to_array(bl_buf *b, const int32_t *ends, int64_t n, struct ArrowArray *out, bl_error *err,
                          bl_ctx *ctx) {
  BL_TRY(bl_buf_ok(b, err));
  BL_TRY(bl_array_new(ctx, n, 3, 0, out, err));
  void *off = bl_array_buffer(out, 1, ((size_t)n + 1) * 4), *p = bl_array_buffer(out, 2, b->n);
  if (!off || !p) return bl_nomem(err);
  memcpy(off, ends, ((size_t)n + 1) * 4);
  if (b->n) memcpy(p, b->p, b->n);
  return BL_OK;
}

static bl_status assemble(assembler *a, const group *g, const struct ArrowArray *metadata, const struct ArrowArray *in,
                          columns *c, struct ArrowArray *out, bl_error *err) {
  int64_t n = in->length;
  uint8_t *bits = NULL;
  BL_TRY(bl_array_new(a->ctx, n, 1, 2, out, err));
  if (in->null_count != 0 && in->buffers[0]) {
    bits = bl_array_buffer(out, 0, ((size_t)n + 7) / 8);
    if (!bits) return bl_nomem(err);
    memset(bits, 0, ((size_t)n + 7) / 8);
  }
  for (int64_t i = 0; i < n; i++) {
    if (bl_array_valid(in, i)) {
      if (bits) bl_bit_set(bits, i);
      BL_TRY(assemble_row(a, g, metadata, in->offset + i, c, err));
    } else out->null_count++;
    if (c->metadata.n > INT32_MAX || c->value.n > INT32_MAX)
      return bl_fail(err, BL_UNSUPPORTED, "variant: a batch passes 2 GiB");
    c->metadata_ends[i + 1] = (int32_t)c->metadata.n;
    c->value_ends[i + 1] = (int32_t)c->value.n;
  }
  BL_TRY(to_array(&c->metadata, c->metadata_ends, n, out->children[0], err, a->ctx));
  return to_array(&c->value, c->value_ends, n, out->children[1], err, a->ctx);
}

static const struct ArrowArray *child_named(const bl_data_meta *file, int32_t node, const struct ArrowArray *in,
                                            const char *name) {
  int32_t k = 0;
  for (size_t i = (size_t)node + 1; i < file->n_nodes; i++) {
    if (file->nodes[i].parent != node) continue;
    if (k < in->n_children && strcmp(file->nodes[i].name, name) == 0) return in->children[k];
    k++;
  }
  return NULL;
}

bl_status bl_variant_rows(bl_ctx *ctx, const bl_data_meta *file, int32_t node, struct ArrowArray *in,
                          struct ArrowArray *out, bl_error *err) {
  assembler a = {.ctx = ctx, .file = file};
  columns c = {0};
  bl_status st;
  memset(out, 0, sizeof *out);
  bl_buf_init(&c.metadata, ctx, BL_BUF_MAX);
  bl_buf_init(&c.value, ctx, BL_BUF_MAX);
  group g = group_of(&a, node, in);
  const struct ArrowArray *metadata = child_named(file, node, in, "metadata");
  if (!metadata || (!g.value && !g.typed)) {
    st = bl_fail(err, BL_DAMAGED, "variant: a column without metadata or value");
    goto done;
  }
  c.metadata_ends = bl_calloc(ctx, (size_t)in->length + 1, 4);
  c.value_ends = bl_calloc(ctx, (size_t)in->length + 1, 4);
  if (!c.metadata_ends || !c.value_ends) {
    st = bl_nomem(err);
    goto done;
  }
  BL_GO(bl_variant_builder_new(ctx, &a.builder, err));
  BL_GO(assemble(&a, &g, metadata, in, &c, out, err));
done:
  if (st != BL_OK) bl_array_release(out);
  bl_variant_builder_free(a.builder);
  bl_free(ctx, c.metadata_ends);
  bl_free(ctx, c.value_ends);
  bl_buf_free(&c.metadata);
  bl_buf_free(&c.value);
  bl_array_release(in);
  return st;
}
