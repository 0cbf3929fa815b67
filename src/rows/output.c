/* output.c: see bergline/output.h. */
#include "bergline/output.h"

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "rows/emit_text.h"
#include "rows/stream.h"

bool bl_row_format_of(const char *name, bl_row_format *out) {
  static const char *const names[] = {"text", "ndjson", "csv", "arrow", "parquet", "arrow-file"};
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

/* The columns that a Parquet file can hold: a struct without fields, as _partition of an unpartitioned table is, is
 * left out. */
typedef struct kept_columns {
  bl_ctx *ctx;
  struct ArrowSchema schema; /* borrows the stream's */
  struct ArrowSchema **children;
  int64_t *at; /* in the stream's batches */
} kept_columns;

static bl_status keep_columns(kept_columns *k, bl_ctx *ctx, const struct ArrowSchema *schema, bool all, bl_error *err) {
  int64_t n = 0;
  *k = (kept_columns){.ctx = ctx, .schema = *schema};
  k->children = bl_calloc(ctx, (size_t)schema->n_children + 1, sizeof *k->children);
  k->at = bl_calloc(ctx, (size_t)schema->n_children + 1, sizeof *k->at);
  if (!k->children || !k->at) return bl_nomem(err);
  for (int64_t i = 0; i < schema->n_children; i++) {
    struct ArrowSchema *c = schema->children[i];
    if (!all && strcmp(c->format, "+s") == 0 && c->n_children == 0) {
      bl_warn(ctx, "column %s: left out: Parquet has no struct without fields", c->name ? c->name : "");
      continue;
    }
    k->children[n] = c;
    k->at[n++] = i;
  }
  if (n == 0 && schema->n_children > 0)
    return bl_fail(err, BL_UNSUPPORTED, "Parquet: no column is left to write: it has no struct without fields");
  k->schema.children = k->children;
  k->schema.n_children = n;
  return BL_OK;
}

static void keep_dispose(kept_columns *k) {
  bl_free(k->ctx, k->children);
  bl_free(k->ctx, k->at);
}

static bl_status keep_of(const kept_columns *k, struct ArrowArray *batch, bl_error *err) {
  struct ArrowArray own;
  if (k->schema.n_children == batch->n_children) return BL_OK;
  bl_status st = bl_array_new(k->ctx, batch->length, 1, k->schema.n_children, &own, err);
  for (int64_t i = 0; st == BL_OK && i < own.n_children; i++) bl_array_move(batch->children[k->at[i]], own.children[i]);
  if (st == BL_OK) own.offset = batch->offset;
  bl_array_release(batch);
  if (st == BL_OK) *batch = own;
  return st;
}

static bl_status write_binary(bl_arrow_writer *w, const kept_columns *k, struct ArrowArrayStream *in, int64_t *rows,
                              bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(in, &batch, err));
    if (!batch.release) return BL_OK;
    *rows += batch.length;
    BL_TRY(keep_of(k, &batch, err));
    BL_TRY(bl_arrow_writer_write(w, &batch, err));
  }
}

static bl_status write_arrow(bl_ctx *ctx, bl_row_format format, struct ArrowArrayStream *in,
                             const struct ArrowSchema *schema, const bl_sink *sink, int64_t *rows, bl_error *err) {
  bl_arrow_writer *w = NULL;
  kept_columns k;
  bl_status st = keep_columns(&k, ctx, schema, format != BL_ROWS_PARQUET, err);
  if (st == BL_OK)
    st = (format == BL_ROWS_ARROW        ? bl_arrow_ipc_writer
          : format == BL_ROWS_ARROW_FILE ? bl_arrow_ipc_file_writer
                                         : bl_arrow_parquet_writer)(ctx, sink, &k.schema, &w, err);
  if (st == BL_OK) {
    st = write_binary(w, &k, in, rows, err);
    if (st == BL_OK) st = bl_arrow_writer_finish(w, err);
    else bl_arrow_writer_abort(w);
  }
  keep_dispose(&k);
  return st;
}

bl_status bl_write_rows(bl_ctx *ctx, bl_row_format format, struct ArrowArrayStream *in, const bl_sink *sink,
                        int64_t *rows, bl_error *err) {
  struct ArrowSchema schema = {0};
  int64_t n = 0;
  BL_TRY(bl_stream_schema(in, &schema, err));
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
