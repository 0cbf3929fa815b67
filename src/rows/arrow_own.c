/* arrow_own.c: arrays of arrow_own.h. */
#include "rows/arrow_own.h"

typedef struct kept {
  struct kept *next;
  struct ArrowArray array;
} kept;

typedef struct owner {
  bl_ctx *ctx;
  kept *keeps;
  void *owned[3]; /* buffers that bl_array_buffer made; others are borrowed from what is kept */
} owner;

void bl_array_release(struct ArrowArray *a) {
  if (a && a->release) a->release(a);
}

void bl_array_move(struct ArrowArray *from, struct ArrowArray *to) {
  *to = *from;
  from->release = NULL;
}

void bl_array_cut_columns(struct ArrowArray *batch) {
  for (int64_t i = 0; batch->offset && i < batch->n_children; i++) {
    batch->children[i]->offset += batch->offset;
    batch->children[i]->length = batch->length;
    if (batch->children[i]->null_count != 0) batch->children[i]->null_count = -1;
  }
  batch->offset = 0;
}

static void release_owned(struct ArrowArray *a) {
  owner *o = a->private_data;
  bl_ctx *ctx = o->ctx;
  for (int64_t i = 0; i < a->n_children; i++) {
    bl_array_release(a->children[i]);
    bl_free(ctx, a->children[i]);
  }
  bl_free(ctx, a->children);
  for (int64_t i = 0; i < a->n_buffers && i < 3; i++) bl_free(ctx, o->owned[i]);
  bl_free(ctx, a->buffers);
  while (o->keeps) {
    kept *k = o->keeps;
    o->keeps = k->next;
    bl_array_release(&k->array);
    bl_free(ctx, k);
  }
  bl_free(ctx, o);
  a->release = NULL;
}

bl_status bl_array_new(bl_ctx *ctx, int64_t length, int64_t n_buffers, int64_t n_children, struct ArrowArray *out,
                       bl_error *err) {
  memset(out, 0, sizeof *out);
  owner *o = bl_calloc(ctx, 1, sizeof *o);
  const void **buffers = bl_calloc(ctx, (size_t)n_buffers + 1, sizeof *buffers);
  struct ArrowArray **children = bl_calloc(ctx, (size_t)n_children + 1, sizeof *children);
  bool ok = o && buffers && children;
  for (int64_t i = 0; ok && i < n_children; i++) ok = (children[i] = bl_calloc(ctx, 1, sizeof **children)) != NULL;
  if (!ok) {
    for (int64_t i = 0; children && i < n_children; i++) bl_free(ctx, children[i]);
    bl_free(ctx, children);
    bl_free(ctx, buffers);
    bl_free(ctx, o);
    return bl_nomem(err);
  }
  o->ctx = ctx;
  *out = (struct ArrowArray){.length = length,
                             .n_buffers = n_buffers,
                             .n_children = n_children,
                             .buffers = buffers,
                             .children = children,
                             .release = release_owned,
                             .private_data = o};
  return BL_OK;
}

void *bl_array_buffer(struct ArrowArray *a, int64_t i, size_t bytes) {
  owner *o = a->private_data;
  void *p = bytes > SIZE_MAX - 64 ? NULL : bl_alloc(o->ctx, (bytes + 63) / 64 * 64 + 64, 1);
  o->owned[i] = p;
  a->buffers[i] = p;
  return p;
}

void bl_array_give(struct ArrowArray *a, int64_t i, void *p) {
  owner *o = a->private_data;
  o->owned[i] = p;
  a->buffers[i] = p;
}

bl_status bl_array_keep(struct ArrowArray *a, struct ArrowArray *other, bl_error *err) {
  owner *o = a->private_data;
  kept *k = bl_calloc(o->ctx, 1, sizeof *k);
  if (!k) return bl_nomem(err);
  bl_array_move(other, &k->array);
  k->next = o->keeps;
  o->keeps = k;
  return BL_OK;
}

static int64_t digits(const char *p) {
  int64_t n = 0;
  for (; *p >= '0' && *p <= '9' && n < INT32_MAX; p++) n = n * 10 + (*p - '0');
  return n;
}

static int64_t value_width(const char *format) {
  switch (format[0]) {
  case 'i':
  case 'f': return 4;
  case 'd': return 16;
  case 'w': return format[1] ? digits(format + 2) : 0;
  case 't': return strcmp(format, "tdD") == 0 ? 4 : 8;
  default: return 8;
  }
}

int64_t bl_array_part_bytes(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t begin, int64_t n) {
  char f = s->format[0];
  int64_t bytes = 0, first = a->offset + begin;
  bool is_struct = f == '+' && s->format[1] == 's', has_offsets = f == 'u' || f == 'z' || (f == '+' && !is_struct);
  if (f == 'n') return 0;
  if (f == 'b') return n / 8;
  if (f != '+' && !has_offsets) return n * value_width(s->format);
  if (has_offsets) {
    const int32_t *off = a->buffers[1];
    bytes = 4 * n;
    n = off ? (int64_t)off[first + n] - off[first] : 0;
    first = off ? off[first] : 0;
  }
  if (f != '+') return bytes + n;
  for (int64_t i = 0; i < a->n_children && i < s->n_children; i++)
    bytes += bl_array_part_bytes(s->children[i], a->children[i], first, n);
  return bytes;
}

int64_t bl_array_bytes(const struct ArrowSchema *s, const struct ArrowArray *a) {
  return bl_array_part_bytes(s, a, 0, a->length);
}

/* Bytes a value takes in the fixed-width buffer; 0 = variable or nested; -1 = bits. */
static int fixed_width(const bl_type *t) {
  switch (t->kind) {
  case BL_BOOLEAN: return -1;
  case BL_INT:
  case BL_FLOAT:
  case BL_DATE: return 4;
  case BL_LONG:
  case BL_DOUBLE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return 8;
  case BL_DECIMAL:
  case BL_UUID: return 16;
  case BL_FIXED: return t->length > INT32_MAX ? 0 : (int)t->length;
  default: return 0;
  }
}

static int64_t buffer_count(const bl_type *t) {
  switch (t->kind) {
  case BL_KIND_UNKNOWN: return 0;
  case BL_STRUCT:
  case BL_VARIANT: return 1;
  case BL_STRING:
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return 3;
  default: return 2;
  }
}

static void *zero_buffer(struct ArrowArray *a, int64_t i, size_t bytes) {
  void *p = bl_array_buffer(a, i, bytes);
  if (p) memset(p, 0, bytes);
  return p;
}

static bl_status all_null_children(bl_ctx *ctx, const bl_type *t, int64_t n, struct ArrowArray *out, bl_error *err) {
  static const bl_type binary = {.kind = BL_BINARY};
  if (t->kind == BL_VARIANT) {
    BL_TRY(bl_array_nulls(ctx, &binary, n, out->children[0], err));
    return bl_array_nulls(ctx, &binary, n, out->children[1], err);
  }
  if (t->kind == BL_STRUCT) {
    for (size_t i = 0; i < t->n_fields; i++) BL_TRY(bl_array_nulls(ctx, &t->fields[i].type, n, out->children[i], err));
    return BL_OK;
  }
  if (t->kind == BL_LIST) return bl_array_nulls(ctx, &t->fields[0].type, 0, out->children[0], err);
  if (t->kind == BL_MAP) {
    struct ArrowArray *entries = out->children[0];
    BL_TRY(bl_array_new(ctx, 0, 1, 2, entries, err));
    BL_TRY(bl_array_nulls(ctx, &t->fields[0].type, 0, entries->children[0], err));
    return bl_array_nulls(ctx, &t->fields[1].type, 0, entries->children[1], err);
  }
  return BL_OK;
}

bl_status bl_array_nulls(bl_ctx *ctx, const bl_type *t, int64_t n, struct ArrowArray *out, bl_error *err) {
  int64_t children = t->kind == BL_STRUCT    ? (int64_t)t->n_fields
                     : t->kind == BL_VARIANT ? 2
                                             : t->kind == BL_LIST || t->kind == BL_MAP;
  BL_TRY(bl_array_new(ctx, n, buffer_count(t), children, out, err));
  out->null_count = n;
  bl_status st = all_null_children(ctx, t, n, out, err);
  size_t bits = ((size_t)n + 7) / 8, width = fixed_width(t) > 0 ? (size_t)fixed_width(t) : 0;
  if (st == BL_OK && out->n_buffers > 0 && !zero_buffer(out, 0, bits)) st = bl_nomem(err);
  if (st == BL_OK && out->n_buffers == 2) {
    size_t bytes = fixed_width(t) < 0 ? bits : width ? (size_t)n * width : ((size_t)n + 1) * 4;
    if (!zero_buffer(out, 1, bytes)) st = bl_nomem(err);
  }
  if (st == BL_OK && out->n_buffers == 3 && (!zero_buffer(out, 1, ((size_t)n + 1) * 4) || !zero_buffer(out, 2, 0)))
    st = bl_nomem(err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static void fill_fixed(const bl_type *t, const bl_value *v, int64_t n, uint8_t *p) {
  uint8_t one[16];
  int w = fixed_width(t);
  switch (t->kind) {
  case BL_FLOAT: memcpy(one, &v->u.f, 4); break;
  case BL_DOUBLE: memcpy(one, &v->u.d, 8); break;
  case BL_DECIMAL: memcpy(one, &v->u.dec, 16); break;
  case BL_INT:
  case BL_DATE: {
    int32_t i = (int32_t)v->u.i;
    memcpy(one, &i, 4);
    break;
  }
  default: memcpy(one, &v->u.i, 8);
  }
  bool bytes = t->kind == BL_UUID || t->kind == BL_FIXED;
  for (int64_t i = 0; i < n; i++) memcpy(p + i * w, bytes ? (const void *)v->u.s.p : one, (size_t)w);
}

static bl_status fill_bytes(const bl_value *v, int64_t n, struct ArrowArray *out, bl_error *err) {
  size_t len = v->u.s.n;
  int64_t total;
  if (!bl_mul64((int64_t)len, n, &total) || total > INT32_MAX)
    return bl_fail(err, BL_UNSUPPORTED, "constant column: %lld rows of %zu bytes do not fit one batch", (long long)n,
                   len);
  int32_t *off = bl_array_buffer(out, 1, ((size_t)n + 1) * 4);
  char *p = bl_array_buffer(out, 2, (size_t)total);
  if (!off || !p) return bl_nomem(err);
  for (int64_t i = 0; i <= n; i++) off[i] = (int32_t)(i * (int64_t)len);
  for (int64_t i = 0; len && i < n; i++) memcpy(p + (size_t)i * len, v->u.s.p, len);
  return BL_OK;
}

bl_status bl_array_constant(bl_ctx *ctx, const bl_type *t, const bl_value *v, int64_t n, struct ArrowArray *out,
                            bl_error *err) {
  if (!v || v->null || t->kind == BL_KIND_UNKNOWN || t->kind == BL_LIST || t->kind == BL_MAP || t->kind == BL_VARIANT)
    return bl_array_nulls(ctx, t, n, out, err);
  BL_TRY(bl_array_new(ctx, n, buffer_count(t), t->kind == BL_STRUCT ? (int64_t)t->n_fields : 0, out, err));
  bl_status st = BL_OK;
  if (t->kind == BL_STRUCT) {
    for (size_t i = 0; st == BL_OK && i < t->n_fields; i++)
      st = bl_array_constant(ctx, &t->fields[i].type, t->fields[i].initial_default, n, out->children[i], err);
  } else if (t->kind == BL_BOOLEAN) {
    uint8_t *p = bl_array_buffer(out, 1, ((size_t)n + 7) / 8);
    if (p) memset(p, v->u.b ? 0xff : 0, ((size_t)n + 7) / 8);
    else st = bl_nomem(err);
  } else if (out->n_buffers == 3) {
    st = fill_bytes(v, n, out, err);
  } else {
    uint8_t *p = bl_array_buffer(out, 1, (size_t)n * (size_t)fixed_width(t));
    if (p) fill_fixed(t, v, n, p);
    else st = bl_nomem(err);
  }
  if (st != BL_OK) bl_array_release(out);
  return st;
}

bl_status bl_array_longs(bl_ctx *ctx, const int64_t *v, const uint8_t *valid, int64_t n, struct ArrowArray *out,
                         bl_error *err) {
  BL_TRY(bl_array_new(ctx, n, 2, 0, out, err));
  void *p = bl_array_buffer(out, 1, (size_t)n * 8);
  uint8_t *bits = valid && p ? zero_buffer(out, 0, ((size_t)n + 7) / 8) : NULL;
  if (!p || (valid && !bits)) {
    bl_array_release(out);
    return bl_nomem(err);
  }
  if (n) memcpy(p, v, (size_t)n * 8);
  for (int64_t i = 0; bits && i < n; i++) {
    if (valid[i]) bl_bit_set(bits, i);
    else out->null_count++;
  }
  return BL_OK;
}
