/* variant.h: the Parquet variant encoding (VariantEncoding.md, VariantShredding.md): decode to JSON, validate, encode
 * from JSON, and put shredded columns together again. */
#ifndef BL_FORMAT_VARIANT_H
#define BL_FORMAT_VARIANT_H

#include "base/buf.h"
#include "format/json.h"

/* (metadata, value) -> JSON text appended to b; decimals as numbers, dates and timestamps as ISO strings, binary
 * base64, uuid text. BL_DAMAGED where bytes break the format; depth bounded. */
bl_status bl_variant_print(bl_ctx *ctx, bl_str metadata, bl_str value, bl_buf *b, bl_error *err) BL_CHECKED;

/* Builds a value for a shredded row from parts (typed values and leftover values). All calls append to an internal
 * tree. */
typedef struct bl_variant_builder bl_variant_builder;
bl_status bl_variant_builder_new(bl_ctx *ctx, bl_variant_builder **out, bl_error *err) BL_CHECKED;
void bl_variant_builder_free(bl_variant_builder *v);
void bl_variant_builder_reset(bl_variant_builder *v);
bl_status bl_variant_put_null(bl_variant_builder *v, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_bool(bl_variant_builder *v, bool b, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_int(bl_variant_builder *v, int64_t i, int bytes /* 1 2 4 8 */, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_double(bl_variant_builder *v, double d, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_float(bl_variant_builder *v, float f, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_decimal(bl_variant_builder *v, const uint8_t le[16], int scale, int bytes /* 4 8 16 */,
                                 bl_error *err) BL_CHECKED;
bl_status bl_variant_put_date(bl_variant_builder *v, int32_t days, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_time(bl_variant_builder *v, int64_t us, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_timestamp(bl_variant_builder *v, int64_t t, bool nanos, bool zone, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_string(bl_variant_builder *v, bl_str s, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_binary(bl_variant_builder *v, bl_str s, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_uuid(bl_variant_builder *v, const uint8_t u[16], bl_error *err) BL_CHECKED;
/* A value already encoded with dictionary `metadata` (copied, re-keyed). */
bl_status bl_variant_put_encoded(bl_variant_builder *v, bl_str metadata, bl_str value, bl_error *err) BL_CHECKED;
bl_status bl_variant_begin_object(bl_variant_builder *v, bl_error *err) BL_CHECKED;
bl_status bl_variant_put_key(bl_variant_builder *v, bl_str key, bl_error *err) BL_CHECKED; /* then one value */
/* All members of an encoded object (the leftover `value` of a partly shredded object); BL_DAMAGED if it is no object.
 */
bl_status bl_variant_put_members(bl_variant_builder *v, bl_str metadata, bl_str object, bl_error *err) BL_CHECKED;
bl_status bl_variant_end_object(bl_variant_builder *v, bl_error *err) BL_CHECKED;
bl_status bl_variant_begin_array(bl_variant_builder *v, bl_error *err) BL_CHECKED;
bl_status bl_variant_end_array(bl_variant_builder *v, bl_error *err) BL_CHECKED;
/* Encoded bytes; keys sorted. */
bl_status bl_variant_finish(bl_variant_builder *v, bl_buf *metadata, bl_buf *value, bl_error *err) BL_CHECKED;
bl_status bl_variant_from_json(bl_ctx *ctx, const bl_json *j, bl_buf *metadata, bl_buf *value,
                               bl_error *err) BL_CHECKED;

#endif
