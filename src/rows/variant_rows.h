/* variant_rows.h: a variant column of a data file (plain or shredded) as canonical (metadata, value) rows
 * (Parquet VariantShredding.md). */
#ifndef BL_ROWS_VARIANT_ROWS_H
#define BL_ROWS_VARIANT_ROWS_H

#include "bergline/sys/data.h"
#include "rows/arrow_own.h"

/* in (consumed on success and failure): the struct array of node `node` (children as in the file: metadata, value,
 * typed_value …); out: struct<metadata: binary, value: binary> of the same length. BL_DAMAGED. */
bl_status bl_variant_rows(bl_ctx *ctx, const bl_data_meta *file, int32_t node, struct ArrowArray *in,
                          struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
