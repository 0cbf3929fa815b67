/* output.c: see bergline/output.h. */
#include "bergline/output.h"

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "rows/emit_text.h"
#include "rows/stream.h"

bool bl_row_format_of(const char *name, bl_row_format *out) {
  static const char *const names[] = {"text", "ndjson", "csv", "arrow", "parquet"};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (strcmp(name, names[i]) == 0) {
      *out = (bl_row_format)i;
      return true;
    }
  return false;
}

static bl_status write_text(bl_ctx *ctx, bl_emit_kind kind, struct ArrowArrayStream *in,
                            const struct ArrowSchema *schema, const bl_sink *sink, int64_t *rows, bl_error *err) {
  bl_emit *e;
  BL_TRY(bl_emit_open(ctx, kind, sink, schema, &e, err));
  bl_status st = BL_OK;
  for (;;) {
    struct ArrowArray batch;
    st = bl_stream_next(in, &batch, err);
    if (st != BL_OK || !batch.release) break;
    *rows += batch.length;
    st = bl_emit_batch(e, &batch, err);
    bl_array_release(&batch);
    if (st != BL_OK) break;
  }
  if (st == BL_OK) st = bl_emit_finish(e, err);
  bl_emit_free(e);
  return st;
}

static bl_status write_binary(bl_arrow_writer *w, struct ArrowArrayStream *in, int64_t *rows, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(in, &batch, err));
    if (!batch.release) return BL_OK;
    *rows += batch.length;
    BL_TRY(bl_arrow_writer_write(w, &batch, err));
  }
}

static bl_status write_arrow(bl_ctx *ctx, bl_row_format format, struct ArrowArrayStream *in,
                             const struct ArrowSchema *schema, const bl_sink *sink, int64_t *rows, bl_error *err) {
  bl_arrow_writer *w;
  BL_TRY(format == BL_ROWS_ARROW ? bl_arrow_ipc_writer(ctx, sink, schema, &w, err)
                                 : bl_arrow_parquet_writer(ctx, sink, schema, &w, err));
  bl_status st = write_binary(w, in, rows, err);
  if (st == BL_OK) return bl_arrow_writer_finish(w, err);
  bl_arrow_writer_abort(w);
  return st;
}

bl_status bl_write_rows(bl_ctx *ctx, bl_row_format format, struct ArrowArrayStream *in, const bl_sink *sink,
                        int64_t *rows, bl_error *err) {
  struct ArrowSchema schema = {0};
  int64_t n = 0;
  int code = in->get_schema(in, &schema);
  if (code)
    return bl_fail(err, bl_stream_status(code), "%s", in->get_last_error(in) ? in->get_last_error(in) : "no schema");
  bl_status st = format <= BL_ROWS_CSV ? write_text(ctx,
                                                    format == BL_ROWS_TEXT  ? BL_EMIT_TEXT
                                                    : format == BL_ROWS_CSV ? BL_EMIT_CSV
                                                                            : BL_EMIT_NDJSON,
                                                    in, &schema, sink, &n, err)
                                       : write_arrow(ctx, format, in, &schema, sink, &n, err);
  bl_aschema_release(&schema);
  if (rows) *rows = n;
  return st;
}
