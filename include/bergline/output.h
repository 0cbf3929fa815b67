/* bergline/output.h: streams of rows as bytes. */
#ifndef BERGLINE_OUTPUT_H
#define BERGLINE_OUTPUT_H

#include "bergline/arrow_c.h"
#include "bergline/sys/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bl_row_format {
  BL_ROWS_TEXT,      /* an aligned table */
  BL_ROWS_NDJSON,    /* a line of JSON a row */
  BL_ROWS_CSV,       /* RFC 4180 with a header; null is empty, the empty string "" */
  BL_ROWS_ARROW,     /* the Arrow IPC stream */
  BL_ROWS_PARQUET,   /* one Parquet file, zstd, with field ids */
  BL_ROWS_ARROW_FILE /* the Arrow IPC file, which can be read from any place; also known as Feather 2 */
} bl_row_format;

/* false: no such name ("text", "ndjson", "csv", "arrow", "parquet", "arrow-file"). */
BL_API bool bl_row_format_of(const char *name, bl_row_format *out);
/* Read `in` to its end and write it; the stream is not released, so that it can be asked for its outcome. rows (may be
 * NULL): how many. Errors of the stream, with its status, and of the sink; BL_UNSUPPORTED: a column that the format
 * cannot hold. */
BL_API bl_status bl_write_rows(bl_ctx *ctx, bl_row_format format, struct ArrowArrayStream *in, const bl_sink *sink,
                               int64_t *rows, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
