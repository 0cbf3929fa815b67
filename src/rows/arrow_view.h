/* arrow_view.h: read-only views on Arrow C Data Interface arrays in the canonical layouts of sys/data.h (and the null
 * type "n"): a schema is parsed once into a tree of views, then arrays are attached to it, batch after batch.
 *
 * 1. Row i of an attached array is row i of its view; the offsets of sliced arrays are inside `base` at every level.
 * 2. A field of a struct is asked for the struct's own row i. It may hold a value where the struct is null: ask the
 *    struct first.
 * 3. Elements of lists and maps are rows [begin, end) of bl_view_range in the child: the element of a list is
 *    children[0]; of a map children[0] are the keys and children[1] the values.
 * 4. Nothing is copied but the schema: an attached array must live as long as it is asked for. Buffers are trusted
 *    beyond their number (lists' offsets are not compared with the length of the child). */
#ifndef BL_ROWS_ARROW_VIEW_H
#define BL_ROWS_ARROW_VIEW_H

#include "base/text.h"
#include "bergline/sys/data.h"

typedef struct bl_view bl_view;
struct bl_view {
  bl_data_kind kind; /* BL_D_OTHER: the null type */
  bl_data_hint hint; /* by ARROW:extension:name: UUID, VARIANT, GEOMETRY (also for geography) */
  bl_str name;
  bl_str key;       /* the name as a key of JSON: quoted, with the colon */
  int32_t field_id; /* PARQUET:field_id, -1 where absent */
  bool nullable;
  int32_t precision, scale; /* decimal */
  int32_t length;           /* fixed: bytes of a value */
  bool utc;                 /* timestamps */
  bl_view *children;        /* of a map: key and value, without the entries between */
  size_t n_children;

  /* of the attached array */
  int64_t n;
  int64_t base;            /* add to a row for its place in the buffers */
  const uint8_t *validity; /* NULL: no nulls */
  const void *data;        /* values, or the bytes of strings */
  const int32_t *offsets;  /* strings, lists, maps */
  bl_arena *arena;         /* of the root only */
};

/* A tree for a schema, which is not needed afterwards. BL_UNSUPPORTED names a format that is not canonical. */
bl_status bl_view_new(bl_ctx *ctx, const struct ArrowSchema *schema, bl_view **out, bl_error *err) BL_CHECKED;
void bl_view_free(bl_view *root); /* NULL allowed */
/* Attach an array of the tree's schema. BL_USAGE where numbers of buffers or children or lengths do not fit. */
bl_status bl_view_set(bl_view *root, const struct ArrowArray *a, bl_error *err) BL_CHECKED;
/* About how many bytes the values of rows [begin, end) take. */
int64_t bl_view_volume(const bl_view *v, int64_t begin, int64_t end);
/* Child by name; NULL. */
const bl_view *bl_view_child(const bl_view *v, const char *name);

static inline bool bl_view_null(const bl_view *v, int64_t i) {
  if (v->kind == BL_D_OTHER) return true;
  if (!v->validity) return false;
  i += v->base;
  return !(v->validity[i >> 3] >> (i & 7) & 1);
}
/* Typed values; the row must not be null and the kind must be the function's. */
static inline bool bl_view_bool(const bl_view *v, int64_t i) {
  i += v->base;
  return ((const uint8_t *)v->data)[i >> 3] >> (i & 7) & 1;
}
static inline int32_t bl_view_i32(const bl_view *v, int64_t i) { /* INT32, DATE32 */
  return ((const int32_t *)v->data)[v->base + i];
}
static inline int64_t bl_view_i64(const bl_view *v, int64_t i) { /* INT64, TIME, TIMESTAMP */
  return ((const int64_t *)v->data)[v->base + i];
}
static inline float bl_view_float(const bl_view *v, int64_t i) {
  return ((const float *)v->data)[v->base + i];
}
static inline double bl_view_double(const bl_view *v, int64_t i) {
  return ((const double *)v->data)[v->base + i];
}
static inline bl_i128 bl_view_decimal(const bl_view *v, int64_t i) {
  bl_i128 d;
  memcpy(&d, (const uint8_t *)v->data + (v->base + i) * 16, sizeof d);
  return d;
}
/* Bytes of STRING, BINARY and FIXED (not NUL-terminated; p is never NULL). */
static inline bl_str bl_view_bytes(const bl_view *v, int64_t i) {
  i += v->base;
  if (v->kind == BL_D_FIXED) return (bl_str){(const char *)v->data + i * v->length, (size_t)v->length};
  int32_t at = v->offsets[i];
  return (bl_str){(const char *)v->data + at, (size_t)(v->offsets[i + 1] - at)};
}
/* Elements of LIST and MAP. */
static inline void bl_view_range(const bl_view *v, int64_t i, int64_t *begin, int64_t *end) {
  i += v->base;
  *begin = v->offsets[i];
  *end = v->offsets[i + 1];
}

#endif
