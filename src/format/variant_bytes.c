/* variant_bytes.c: see variant_bytes.h; VariantEncoding.md has the layouts. */
#include "format/variant_bytes.h"

#include "base/map.h"
#include "base/text.h"

enum { VERSION = 1 };

#define DAMAGED(err, ...) bl_fail(err, BL_DAMAGED, "variant: " __VA_ARGS__)

/* Little-endian number of width bytes. */
static uint32_t number(const uint8_t *p, int width) {
  uint32_t v = 0;
  for (int i = 0; i < width; i++) v |= (uint32_t)p[i] << 8 * i;
  return v;
}

static uint32_t entry(const uint8_t *list, uint32_t i, int width) {
  return number(list + (size_t)i * (size_t)width, width);
}

/* ---- metadata ---- */

bl_status bl_variant_dict_read(bl_str metadata, bl_variant_dict *out, bl_error *err) {
  const uint8_t *p = (const uint8_t *)metadata.p;
  *out = (bl_variant_dict){0};
  if (metadata.n == 0) return BL_OK; /* Spark has none beside a null */
  int version = p[0] & 15;
  if (version > VERSION) return bl_fail(err, BL_UNSUPPORTED, "variant: metadata: version %d", version);
  if (version < VERSION) return DAMAGED(err, "metadata: version %d", version);
  out->width = (p[0] >> 6) + 1;
  if (metadata.n < 1 + (size_t)out->width) return DAMAGED(err, "metadata: truncated after %zu bytes", metadata.n);
  out->n = number(p + 1, out->width);
  if (out->n == 0) return BL_OK; /* some writers leave out the one offset */
  size_t left = metadata.n - 1 - (size_t)out->width, list = ((size_t)out->n + 1) * (size_t)out->width;
  if (left < list) return DAMAGED(err, "metadata: %u keys cannot be in %zu bytes", out->n, left);
  out->offsets = p + 1 + out->width;
  out->bytes = out->offsets + list;
  out->n_bytes = left - list;
  return BL_OK;
}

bl_status bl_variant_dict_key(const bl_variant_dict *d, uint32_t id, bl_str *out, bl_error *err) {
  if (id >= d->n) return DAMAGED(err, "key %u of %u", id, d->n);
  uint32_t at = entry(d->offsets, id, d->width), end = entry(d->offsets, id + 1, d->width);
  if (at > end || end > d->n_bytes)
    return DAMAGED(err, "metadata: key %u from byte %u to %u of %zu", id, at, end, d->n_bytes);
  *out = (bl_str){(const char *)d->bytes + at, end - at};
  if (!bl_utf8_valid(out->p, out->n)) return DAMAGED(err, "metadata: key %u is not UTF-8", id);
  return BL_OK;
}

/* ---- values ---- */

/* Bytes after the header; -1: a length of 4 bytes and then as many. */
static int primitive_size(bl_variant_type t) {
  static const int8_t sizes[BL_VT_COUNT] = {
      [BL_VT_INT8] = 1,         [BL_VT_INT16] = 2,       [BL_VT_INT32] = 4,     [BL_VT_INT64] = 8,
      [BL_VT_DOUBLE] = 8,       [BL_VT_DECIMAL4] = 5,    [BL_VT_DECIMAL8] = 9,  [BL_VT_DECIMAL16] = 17,
      [BL_VT_DATE] = 4,         [BL_VT_TIMESTAMPTZ] = 8, [BL_VT_TIMESTAMP] = 8, [BL_VT_FLOAT] = 4,
      [BL_VT_BINARY] = -1,      [BL_VT_STRING] = -1,     [BL_VT_TIME] = 8,      [BL_VT_TIMESTAMPTZ_NS] = 8,
      [BL_VT_TIMESTAMP_NS] = 8, [BL_VT_UUID] = 16};
  return sizes[t];
}

/* data of `n` bytes that starts `at` bytes behind the value's first. */
static bl_status set_data(bl_str bytes, size_t at, size_t n, bl_variant_node *out, bl_error *err) {
  if (bytes.n - at < n) return DAMAGED(err, "value truncated: %zu bytes wanted, %zu left", n, bytes.n - at);
  out->data = (bl_str){bytes.p + at, n};
  out->whole = (bl_str){bytes.p, at + n};
  return BL_OK;
}

static bl_status check_text(const bl_variant_node *v, bl_error *err) {
  if (v->type == BL_VT_STRING && !bl_utf8_valid(v->data.p, v->data.n)) return DAMAGED(err, "string is not UTF-8");
  bool decimal = v->type >= BL_VT_DECIMAL4 && v->type <= BL_VT_DECIMAL16;
  if (decimal && (uint8_t)v->data.p[0] > 38) return DAMAGED(err, "decimal scale %d", (uint8_t)v->data.p[0]);
  return BL_OK;
}

static bl_status read_primitive(bl_str bytes, int id, bl_variant_node *out, bl_error *err) {
  if (id >= BL_VT_COUNT) return bl_fail(err, BL_UNSUPPORTED, "variant: primitive type %d", id);
  out->type = (bl_variant_type)id;
  int size = primitive_size(out->type);
  if (size >= 0) {
    BL_TRY(set_data(bytes, 1, (size_t)size, out, err));
  } else {
    if (bytes.n < 5) return DAMAGED(err, "value truncated: length of a string or binary is missing");
    BL_TRY(set_data(bytes, 5, number((const uint8_t *)bytes.p + 1, 4), out, err));
  }
  return check_text(out, err);
}

/* Number of elements, ids of an object, offsets, and where the values are. */
static bl_status read_container(bl_str bytes, bool large, bl_variant_node *out, bl_error *err) {
  const uint8_t *p = (const uint8_t *)bytes.p;
  size_t count_width = large ? 4 : 1, left = bytes.n - 1;
  if (left < count_width) return DAMAGED(err, "value truncated: number of elements is missing");
  out->n = number(p + 1, (int)count_width);
  left -= count_width;
  size_t ids = (size_t)out->n * (size_t)out->id_width, offsets = ((size_t)out->n + 1) * (size_t)out->offset_width;
  if (left < ids + offsets) return DAMAGED(err, "%u elements cannot be in %zu bytes", out->n, left);
  out->ids = p + 1 + count_width;
  out->offsets = out->ids + ids;
  left -= ids + offsets;
  uint32_t size = entry(out->offsets, out->n, out->offset_width);
  if (left < size) return DAMAGED(err, "value truncated: elements of %u bytes, %zu left", size, left);
  out->values = (bl_str){(const char *)out->offsets + offsets, size};
  out->whole = (bl_str){bytes.p, (size_t)(out->values.p - bytes.p) + size};
  return BL_OK;
}

bl_status bl_variant_read(bl_str bytes, bl_variant_node *out, bl_error *err) {
  *out = (bl_variant_node){0};
  if (bytes.n == 0) return DAMAGED(err, "value is empty");
  uint8_t head = (uint8_t)bytes.p[0];
  out->basic = (bl_variant_basic)(head & 3);
  head >>= 2;
  switch (out->basic) {
  case BL_VB_PRIMITIVE: return read_primitive(bytes, head, out, err);
  case BL_VB_SHORT_STRING:
    out->type = BL_VT_STRING;
    BL_TRY(set_data(bytes, 1, head, out, err));
    return check_text(out, err);
  case BL_VB_OBJECT:
    out->offset_width = (head & 3) + 1;
    out->id_width = (head >> 2 & 3) + 1;
    return read_container(bytes, head >> 4 & 1, out, err);
  case BL_VB_ARRAY: break;
  }
  out->offset_width = (head & 3) + 1;
  return read_container(bytes, head >> 2 & 1, out, err);
}

bl_status bl_variant_child(bl_variant_node *v, uint32_t i, bl_variant_node *out, bl_error *err) {
  uint32_t at = entry(v->offsets, i, v->offset_width);
  if (at > v->values.n) return DAMAGED(err, "element %u at byte %u of %zu", i, at, v->values.n);
  BL_TRY(bl_variant_read((bl_str){v->values.p + at, v->values.n - at}, out, err));
  if (out->whole.n > v->values.n - v->used) return DAMAGED(err, "element %u overlaps another one", i);
  v->used += out->whole.n;
  return BL_OK;
}

bl_status bl_variant_key(const bl_variant_dict *d, const bl_variant_node *v, uint32_t i, bl_str *out, bl_error *err) {
  return bl_variant_dict_key(d, entry(v->ids, i, v->id_width), out, err);
}

static bl_status same_key(bl_str key, bl_error *err) {
  return DAMAGED(err, "an object has the key \"%.*s\" twice", BL_STR_ARG(key));
}

/* Any order: by a map. */
static bl_status check_unordered(bl_ctx *ctx, const bl_variant_dict *d, const bl_variant_node *v, bl_error *err) {
  bl_map *m;
  BL_TRY(bl_map_new(ctx, &m, err));
  bl_status st = BL_OK;
  for (uint32_t i = 0; i < v->n; i++) {
    bl_str key;
    bool added;
    BL_GO(bl_variant_key(d, v, i, &key, err));
    if (!bl_map_put(m, key, 0, &added)) BL_GO(bl_nomem(err));
    if (!added) BL_GO(same_key(key, err));
  }
done:
  bl_map_free(m);
  return st;
}

/* Keys should ascend, but not every writer orders them bytewise (Spark: by UTF-16). */
bl_status bl_variant_check_keys(bl_ctx *ctx, const bl_variant_dict *d, const bl_variant_node *v, bl_error *err) {
  bl_str last = BL_STR_NONE;
  for (uint32_t i = 0; i < v->n; i++) {
    bl_str key;
    BL_TRY(bl_variant_key(d, v, i, &key, err));
    int c = i > 0 ? bl_str_cmp(last, key) : -1;
    if (c == 0) return same_key(key, err);
    if (c > 0) return check_unordered(ctx, d, v, err);
    last = key;
  }
  return BL_OK;
}

bl_status bl_variant_check_depth(bl_ctx *ctx, int depth, bl_error *err) {
  if (depth > ctx->o.max_nesting) return DAMAGED(err, "nested deeper than %d", ctx->o.max_nesting);
  return BL_OK;
}
