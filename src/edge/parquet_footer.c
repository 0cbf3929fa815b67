/* parquet_footer.c: see parquet_footer.h. */
#include "edge/parquet_footer.h"

#include <stdbool.h>
#include <string.h>

enum {
  T_STOP = 0,
  T_TRUE = 1,
  T_FALSE = 2,
  T_BYTE = 3,
  T_I16 = 4,
  T_I32 = 5,
  T_I64 = 6,
  T_DOUBLE = 7,
  T_BINARY = 8,
  T_LIST = 9,
  T_SET = 10,
  T_MAP = 11,
  T_STRUCT = 12,
  T_UUID = 13,
  MAX_STRUCTS = 48,        /* structs inside structs: the format needs about ten */
  MAX_SCHEMA_DEPTH = 2000, /* what the stack of a recursive decoder surely takes */
  FIELD_SCHEMA = 2,        /* FileMetaData.schema */
  FIELD_NUM_CHILDREN = 5   /* SchemaElement.num_children */
};

typedef struct walk {
  const uint8_t *p;
  size_t at, n;
  bl_error *err;
} walk;

static bl_status bad(walk *w, const char *what) {
  return bl_fail_at(w->err, BL_DAMAGED, (int64_t)w->at, "footer: byte %zu: %s", w->at, what);
}

static bl_status byte(walk *w, uint8_t *out) {
  if (w->at >= w->n) return bad(w, "ends too early");
  *out = w->p[w->at++];
  return BL_OK;
}

static bl_status varint(walk *w, uint64_t *out) {
  uint64_t v = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t b = 0;
    bl_status st = byte(w, &b);
    if (st != BL_OK) return st;
    if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
    if (!(b & 0x80)) {
      *out = v;
      return BL_OK;
    }
  }
  return bad(w, "number of more than ten bytes");
}

static int64_t unzigzag(uint64_t v) {
  return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static bl_status skip_bytes(walk *w, uint64_t n) {
  if (n > w->n - w->at) return bad(w, "a length points beyond the footer");
  w->at += (size_t)n;
  return BL_OK;
}

/* Header of a list or set. Each element takes at least one byte. */
static bl_status list_begin(walk *w, uint64_t *count, uint8_t *type) {
  uint8_t head = 0;
  bl_status st = byte(w, &head);
  if (st != BL_OK) return st;
  *count = head >> 4;
  *type = head & 15;
  if (*count == 15 && (st = varint(w, count)) != BL_OK) return st;
  if (*count > w->n - w->at) return bad(w, "a list claims more elements than there are bytes");
  return BL_OK;
}

/* Header of the next field of a struct; *type T_STOP at its end. */
static bl_status field_begin(walk *w, int64_t *id, uint8_t *type) {
  uint8_t head = 0;
  bl_status st = byte(w, &head);
  if (st != BL_OK) return st;
  *type = head & 15;
  if (head == T_STOP) return BL_OK;
  if (*type == T_STOP) return bad(w, "field of an unknown type");
  if (head >> 4) {
    *id += head >> 4;
    return BL_OK;
  }
  uint64_t v = 0;
  st = varint(w, &v);
  if (st == BL_OK) *id = unzigzag(v);
  return st;
}

static bl_status skip(walk *w, uint8_t type, bool in_list, int depth);

static bl_status skip_struct(walk *w, int depth) {
  int64_t id = 0;
  for (;;) {
    uint8_t type = T_STOP;
    bl_status st = field_begin(w, &id, &type);
    if (st != BL_OK || type == T_STOP) return st;
    st = skip(w, type, false, depth + 1);
    if (st != BL_OK) return st;
  }
}

static bl_status skip_list(walk *w, int depth) {
  uint64_t count = 0;
  uint8_t type = T_STOP;
  bl_status st = list_begin(w, &count, &type);
  for (uint64_t i = 0; st == BL_OK && i < count; i++) st = skip(w, type, true, depth + 1);
  return st;
}

static bl_status skip_map(walk *w, int depth) {
  uint64_t count = 0;
  uint8_t types = 0;
  bl_status st = varint(w, &count);
  if (st == BL_OK && count > w->n - w->at) st = bad(w, "a map claims more entries than there are bytes");
  if (st == BL_OK && count) st = byte(w, &types);
  for (uint64_t i = 0; st == BL_OK && i < count; i++) {
    st = skip(w, types >> 4, true, depth + 1);
    if (st == BL_OK) st = skip(w, types & 15, true, depth + 1);
  }
  return st;
}

static bl_status skip(walk *w, uint8_t type, bool in_list, int depth) {
  uint64_t v = 0;
  bl_status st;
  if (depth > MAX_STRUCTS) return bad(w, "nested too deep");
  switch (type) {
  case T_TRUE:
  case T_FALSE: return in_list ? skip_bytes(w, 1) : BL_OK; /* a field's value is its type */
  case T_BYTE: return skip_bytes(w, 1);
  case T_I16:
  case T_I32:
  case T_I64: return varint(w, &v);
  case T_DOUBLE: return skip_bytes(w, 8);
  case T_UUID: return skip_bytes(w, 16);
  case T_BINARY: st = varint(w, &v); return st == BL_OK ? skip_bytes(w, v) : st;
  case T_LIST:
  case T_SET: return skip_list(w, depth);
  case T_MAP: return skip_map(w, depth);
  case T_STRUCT: return skip_struct(w, depth);
  default: return bad(w, "field of an unknown type");
  }
}

/* One SchemaElement: its number of children (0 where absent). */
static bl_status schema_element(walk *w, int64_t *children) {
  int64_t id = 0;
  *children = 0;
  for (;;) {
    uint8_t type = T_STOP;
    bl_status st = field_begin(w, &id, &type);
    if (st != BL_OK || type == T_STOP) return st;
    if (id == FIELD_NUM_CHILDREN && type == T_I32) {
      uint64_t v = 0;
      st = varint(w, &v);
      if (st == BL_OK) *children = unzigzag(v);
    } else {
      st = skip(w, type, false, 2);
    }
    if (st != BL_OK) return st;
  }
}

/* Preorder: left[d] is the number of elements still to come at depth d. */
static bl_status schema(walk *w, int max_depth) {
  uint64_t count = 0;
  uint8_t type = T_STOP;
  int64_t left[MAX_SCHEMA_DEPTH + 1];
  int depth = 0;
  bl_status st = list_begin(w, &count, &type);
  if (st != BL_OK) return st;
  if (type != T_STRUCT) return bad(w, "the schema is not a list of elements");
  left[0] = 1;
  for (uint64_t i = 0; i < count; i++) {
    int64_t children = 0;
    st = schema_element(w, &children);
    if (st != BL_OK) return st;
    while (depth > 0 && left[depth] == 0) depth--;
    if (left[depth]-- == 0) return bad(w, "the schema has elements that belong to no group");
    if (children < 0 || (uint64_t)children > count)
      return bad(w, "a schema element has an impossible number of fields");
    if (children == 0) continue;
    if (depth >= max_depth)
      return bl_fail(w->err, BL_UNSUPPORTED, "the schema is nested more than %d levels deep", max_depth);
    left[++depth] = children;
  }
  return BL_OK;
}

bl_status bl_parquet_footer_check(const uint8_t *p, size_t n, int max_depth, bl_error *err) {
  walk w = {p, 0, n, err};
  int64_t id = 0;
  if (max_depth > MAX_SCHEMA_DEPTH) max_depth = MAX_SCHEMA_DEPTH;
  for (;;) {
    uint8_t type = T_STOP;
    bl_status st = field_begin(&w, &id, &type);
    if (st != BL_OK || type == T_STOP) return st;
    st = id == FIELD_SCHEMA && type == T_LIST ? schema(&w, max_depth) : skip(&w, type, false, 1);
    if (st != BL_OK) return st;
  }
}
