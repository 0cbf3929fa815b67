/* emit_text.h: batches as text: NDJSON (a line of JSON a row), CSV (RFC 4180 with a header; null is empty, the empty
 * string ""; nested values and variants as JSON; lines end in \n), or an aligned table. */
#ifndef BL_ROWS_EMIT_TEXT_H
#define BL_ROWS_EMIT_TEXT_H

#include "base/alloc.h"
#include "bergline/arrow_c.h"
#include "bergline/sys/io.h"

typedef enum bl_emit_kind { BL_EMIT_NDJSON, BL_EMIT_CSV, BL_EMIT_TEXT } bl_emit_kind;

typedef struct bl_emit bl_emit;
/* The schema (a struct of the columns) is not needed afterwards; the sink is copied. CSV's header is written with the
 * first bytes, also where no row follows. BL_UNSUPPORTED: a column whose Arrow type is not canonical. */
bl_status bl_emit_open(bl_ctx *ctx, bl_emit_kind kind, const bl_sink *sink, const struct ArrowSchema *schema,
                       bl_emit **out, bl_error *err) BL_CHECKED;
/* All rows of a batch, which stays the caller's. BL_DAMAGED: a variant that cannot be read. Errors of the sink. */
bl_status bl_emit_batch(bl_emit *e, const struct ArrowArray *batch, bl_error *err) BL_CHECKED;
/* The rest of the bytes to the sink. */
bl_status bl_emit_finish(bl_emit *e, bl_error *err) BL_CHECKED;
/* NULL allowed; bytes that were not finished are dropped. */
void bl_emit_free(bl_emit *e);

#endif
