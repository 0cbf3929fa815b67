/* arrow_build.h: Arrow arrays built value by value, for any schema of the canonical forms (bergline/sys/data.h) and the
 * narrower integers, fractions of a second and `n` besides.
 *
 *   bl_builder_new(ctx, &schema, &b, err)         a column; a batch is a column of format "+s"
 *   a value:    bl_builder_int(b, 7, err), bl_builder_bytes(b, p, n, err), bl_builder_null(b, err), …
 *   a struct:   one value into each bl_builder_child(b, i), then bl_builder_close(b, err)
 *   a list:     any number of values into bl_builder_child(b, 0), then bl_builder_close(b, err); none: an empty list
 *   a map:      e = bl_builder_child(b, 0); for each entry the key into child 0 of e, the value into child 1 of e,
 *               bl_builder_close(e, err); then bl_builder_close(b, err)
 *   bl_builder_finish(b, &array, err)             hands the array out; the builder is empty and can go on
 *
 * Every function: BL_NOMEM; BL_UNSUPPORTED where an array would pass 2^31 - 1 bytes or items (end the batch before:
 * bl_builder_size). A failed append leaves the row unfinished: only bl_builder_free or bl_builder_reset may follow. */
#ifndef BL_ROWS_ARROW_BUILD_H
#define BL_ROWS_ARROW_BUILD_H

#include "base/text.h"
#include "bergline/arrow_c.h"
#include "model/type.h"

typedef struct bl_builder bl_builder;

/* type is only read during the call (flags say what may be null). BL_UNSUPPORTED names a format that is none of the
 * above. */
bl_status bl_builder_new(bl_ctx *ctx, const struct ArrowSchema *type, bl_builder **out, bl_error *err) BL_CHECKED;
void bl_builder_free(bl_builder *b);

bl_builder *bl_builder_child(bl_builder *b, int64_t i); /* owned by b; i in range */
int64_t bl_builder_children(const bl_builder *b);
int64_t bl_builder_length(const bl_builder *b); /* rows so far */
size_t bl_builder_size(const bl_builder *b);    /* bytes of values so far, children included */
bool bl_builder_nullable(const bl_builder *b);  /* as the schema says */
const char *bl_builder_format(const bl_builder *b);

/* One null. Below a null struct nullable children become null, others empty values. BL_USAGE where the column may not
 * be null, naming it. */
bl_status bl_builder_null(bl_builder *b, bl_error *err) BL_CHECKED;
/* One zero, empty string, empty list, struct of such: a place holder. */
bl_status bl_builder_empty(bl_builder *b, bl_error *err) BL_CHECKED;
bl_status bl_builder_bool(bl_builder *b, bool v, bl_error *err) BL_CHECKED;
/* Integers, dates, times, timestamps (in the column's unit), decimals (unscaled). Must fit the width: BL_USAGE. */
bl_status bl_builder_int(bl_builder *b, int64_t v, bl_error *err) BL_CHECKED;
bl_status bl_builder_decimal(bl_builder *b, bl_i128 unscaled, bl_error *err) BL_CHECKED;
bl_status bl_builder_double(bl_builder *b, double v, bl_error *err) BL_CHECKED; /* float and double */
bl_status bl_builder_float(bl_builder *b, float v, bl_error *err) BL_CHECKED;   /* float (bits kept) and double */
/* Strings, binary, fixed (n must be the column's length: BL_USAGE); the bytes are copied. */
bl_status bl_builder_bytes(bl_builder *b, const void *p, size_t n, bl_error *err) BL_CHECKED;
/* End a struct, list, map or map entry. */
bl_status bl_builder_close(bl_builder *b, bl_error *err) BL_CHECKED;
/* A single value of the model, null allowed, n times; uuids are fixed of 16 bytes. BL_USAGE where kind and column do
 * not go together. */
bl_status bl_builder_value(bl_builder *b, const bl_value *v, int64_t n, bl_error *err) BL_CHECKED;
/* start, start + 1, … n of them: a long column. */
bl_status bl_builder_sequence(bl_builder *b, int64_t start, int64_t n, bl_error *err) BL_CHECKED;

/* The array of all rows so far (release it); the builder is empty again. On failure *out is released. */
bl_status bl_builder_finish(bl_builder *b, struct ArrowArray *out, bl_error *err) BL_CHECKED;
void bl_builder_reset(bl_builder *b); /* forget all rows */

#endif
