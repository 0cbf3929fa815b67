/* input.h: foreign rows -> batches of the table's columns: by name, with safe casts, missing optional columns null or
 * write-default. */
#ifndef BL_WRITE_INPUT_H
#define BL_WRITE_INPUT_H

#include "bergline/arrow_c.h"
#include "table/table.h"

/* in is taken over. Duplicate, unknown or reserved columns: BL_USAGE. A value that does not fit: BL_USAGE naming row
 * and column. Output: canonical layout of `schema`, at most 65,536 rows a batch. */
bl_status bl_conform(bl_ctx *ctx, const bl_schema *schema, struct ArrowArrayStream *in, struct ArrowArrayStream *out,
                     bl_error *err) BL_CHECKED;

#endif
