/* arrow_own.h: Arrow C Data Interface structs that own their memory (the ctx's), and moving them about. */
#ifndef BL_ROWS_ARROW_OWN_H
#define BL_ROWS_ARROW_OWN_H

#include "base/alloc.h"
#include "bergline/arrow_c.h"
#include "model/type.h"

/* ---- arrays ---- */
/* An array without nulls and offset: n_buffers NULL buffers, n_children released children to be filled in. */
bl_status bl_array_new(bl_ctx *ctx, int64_t length, int64_t n_buffers, int64_t n_children, struct ArrowArray *out,
                       bl_error *err) BL_CHECKED;
/* Allocate buffer i of an array made by bl_array_new (not cleared, padded to 64 bytes); NULL without memory. */
void *bl_array_buffer(struct ArrowArray *a, int64_t i, size_t bytes);
/* The same from a block of the ctx (bl_alloc), which the array takes over. */
void bl_array_give(struct ArrowArray *a, int64_t i, void *p);
/* Let a (made by bl_array_new) keep `other` alive until it is released; other is moved from. BL_NOMEM leaves it. */
bl_status bl_array_keep(struct ArrowArray *a, struct ArrowArray *other, bl_error *err) BL_CHECKED;
void bl_array_release(struct ArrowArray *a); /* released ones allowed */
/* *to takes over; from is left released. */
void bl_array_move(struct ArrowArray *from, struct ArrowArray *to);
/* A sliced batch: its columns are cut to its rows, so that each can be moved out. */
void bl_array_cut_columns(struct ArrowArray *batch);
/* n nulls of any type. */
bl_status bl_array_nulls(bl_ctx *ctx, const bl_type *t, int64_t n, struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* A column of n times one value (v NULL or null: all null). Struct values: fields' initial defaults. */
bl_status bl_array_constant(bl_ctx *ctx, const bl_type *t, const bl_value *v, int64_t n, struct ArrowArray *out,
                            bl_error *err) BL_CHECKED;
/* A long column from values that are copied; valid NULL = no nulls, else a byte a row. */
bl_status bl_array_longs(bl_ctx *ctx, const int64_t *v, const uint8_t *valid, int64_t n, struct ArrowArray *out,
                         bl_error *err) BL_CHECKED;

/* Bytes of the values of an array in the canonical layout: what it would take alone, without validity. */
int64_t bl_array_bytes(const struct ArrowSchema *s, const struct ArrowArray *a);
/* The same of its rows [begin, begin + n). */
int64_t bl_array_part_bytes(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t begin, int64_t n);

static inline bool bl_bit_get(const uint8_t *bits, int64_t i) {
  return (bits[i >> 3] >> (i & 7)) & 1;
}
static inline void bl_bit_set(uint8_t *bits, int64_t i) {
  bits[i >> 3] |= (uint8_t)(1u << (i & 7));
}
/* Is row i (before the array's offset) not null? */
static inline bool bl_array_valid(const struct ArrowArray *a, int64_t i) {
  return a->null_count == 0 || a->n_buffers == 0 || !a->buffers[0] || bl_bit_get(a->buffers[0], a->offset + i);
}

/* ---- schemas ---- */
bl_status bl_aschema_new(bl_ctx *ctx, const char *format, bl_str name, bool nullable, int64_t n_children,
                         struct ArrowSchema *out, bl_error *err) BL_CHECKED;
/* Replaces the metadata of a schema made by bl_aschema_new. */
bl_status bl_aschema_metadata(bl_ctx *ctx, struct ArrowSchema *s, const bl_str *keys, const bl_str *values, size_t n,
                              bl_error *err) BL_CHECKED;
/* The value of a metadata key, p NULL where absent; borrowed. */
bl_str bl_aschema_get(const struct ArrowSchema *s, const char *key);
void bl_aschema_release(struct ArrowSchema *s);
bl_status bl_aschema_copy(bl_ctx *ctx, const struct ArrowSchema *s, struct ArrowSchema *out, bl_error *err) BL_CHECKED;

/* The canonical Arrow form of Iceberg types (sys/data.h), PARQUET:field_id at every level (no id for ids < 0),
 * extension names arrow.uuid, arrow.parquet.variant, geoarrow.wkb. */
bl_status bl_aschema_of_field(bl_ctx *ctx, const bl_field *f, struct ArrowSchema *out, bl_error *err) BL_CHECKED;
bl_status bl_aschema_of_struct(bl_ctx *ctx, const bl_type *root, struct ArrowSchema *out, bl_error *err) BL_CHECKED;

/* The type of a column as messages have it, in Iceberg's words where it has one: "double", "timestamptz", "struct",
 * "uint16", "decimal(9,2)". What is in a dictionary or run-end encoded is told by its values. Returns out. */
enum { BL_TYPE_NAME_BYTES = 40 };
const char *bl_aschema_type_name(const struct ArrowSchema *s, char out[BL_TYPE_NAME_BYTES]);
const char *bl_aformat_name(const char *format, char out[BL_TYPE_NAME_BYTES]);

#endif
