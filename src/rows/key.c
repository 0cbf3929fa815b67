/* key.c: see key.h. */
#include "rows/key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void add_float(bl_buf *b, float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  if (f != f) u = 0x7fc00000u;
  bl_buf_add(b, &u, 4);
}

static void add_double(bl_buf *b, double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  if (d != d) u = 0x7ff8000000000000u;
  bl_buf_add(b, &u, 8);
}

static void add_bytes(bl_buf *b, bl_str s) {
  uint64_t n = s.n;
  bl_buf_add(b, &n, 8);
  bl_buf_add(b, s.p, s.n);
}

static void add_elements(bl_buf *b, const bl_view *v, int64_t i) {
  int64_t begin, end;
  bl_view_range(v, i, &begin, &end);
  uint64_t n = (uint64_t)(end - begin);
  bl_buf_add(b, &n, 8);
  for (int64_t k = begin; k < end; k++)
    for (size_t c = 0; c < v->n_children; c++) bl_key_add(b, &v->children[c], k);
}

void bl_key_add(bl_buf *b, const bl_view *v, int64_t i) {
  if (bl_view_null(v, i)) {
    bl_buf_byte(b, 0);
    return;
  }
  bl_buf_byte(b, 1);
  switch (v->kind) {
  case BL_D_BOOL: bl_buf_byte(b, bl_view_bool(v, i)); break;
  case BL_D_INT32:
  case BL_D_DATE32: {
    int32_t x = bl_view_i32(v, i);
    bl_buf_add(b, &x, 4);
    break;
  }
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: {
    int64_t x = bl_view_i64(v, i);
    bl_buf_add(b, &x, 8);
    break;
  }
  case BL_D_FLOAT: add_float(b, bl_view_float(v, i)); break;
  case BL_D_DOUBLE: add_double(b, bl_view_double(v, i)); break;
  case BL_D_DECIMAL: {
    bl_i128 d = bl_view_decimal(v, i);
    bl_buf_add(b, &d, 16);
    break;
  }
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: add_bytes(b, bl_view_bytes(v, i)); break;
  case BL_D_STRUCT:
    for (size_t c = 0; c < v->n_children; c++) bl_key_add(b, &v->children[c], i);
    break;
  case BL_D_LIST:
  case BL_D_MAP: add_elements(b, v, i); break;
  case BL_D_OTHER: break;
  }
}

static bool same_elements(const bl_view *a, int64_t i, const bl_view *b, int64_t j) {
  int64_t ab, ae, bb, be;
  bl_view_range(a, i, &ab, &ae);
  bl_view_range(b, j, &bb, &be);
  if (ae - ab != be - bb) return false;
  for (int64_t k = 0; k < ae - ab; k++)
    for (size_t c = 0; c < a->n_children; c++)
      if (!bl_key_same(&a->children[c], ab + k, &b->children[c], bb + k)) return false;
  return true;
}

bool bl_key_same(const bl_view *a, int64_t i, const bl_view *b, int64_t j) {
  bool an = bl_view_null(a, i), bn = bl_view_null(b, j);
  if (an || bn) return an && bn;
  switch (a->kind) {
  case BL_D_BOOL: return bl_view_bool(a, i) == bl_view_bool(b, j);
  case BL_D_INT32:
  case BL_D_DATE32: return bl_view_i32(a, i) == bl_view_i32(b, j);
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: return bl_view_i64(a, i) == bl_view_i64(b, j);
  case BL_D_FLOAT: {
    float x = bl_view_float(a, i), y = bl_view_float(b, j);
    return memcmp(&x, &y, 4) == 0 || (x != x && y != y);
  }
  case BL_D_DOUBLE: {
    double x = bl_view_double(a, i), y = bl_view_double(b, j);
    return memcmp(&x, &y, 8) == 0 || (x != x && y != y);
  }
  case BL_D_DECIMAL: return bl_view_decimal(a, i) == bl_view_decimal(b, j);
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: return bl_str_eq(bl_view_bytes(a, i), bl_view_bytes(b, j));
  case BL_D_STRUCT:
    for (size_t c = 0; c < a->n_children; c++)
      if (!bl_key_same(&a->children[c], i, &b->children[c], j)) return false;
    return true;
  case BL_D_LIST:
  case BL_D_MAP: return same_elements(a, i, b, j);
  case BL_D_OTHER: return true;
  }
  return false;
}

bl_hash128 bl_key_hash(const void *p, size_t n, uint64_t seed) {
  XXH128_hash_t h = XXH3_128bits_withSeed(p, n, seed);
  return (bl_hash128){h.low64, h.high64};
}
