/* emit_text.c: see emit_text.h. Bytes gather in one buffer and go to the sink FLUSH_AT at a time. */
#include "rows/emit_text.h"

#include "rows/print_value.h"
#include "rows/text_table.h"

enum { FLUSH_AT = 1 << 17 };

struct bl_emit {
  bl_ctx *ctx;
  bl_emit_kind kind;
  bl_sink sink;
  bl_view *root;
  bl_text_table *table; /* BL_EMIT_TEXT only */
  bl_buf out, cell;
};

static bl_status flush(bl_emit *e, bl_error *err) {
  BL_TRY(bl_buf_ok(&e->out, err));
  if (e->out.n == 0) return BL_OK;
  bl_status st = e->sink.write(e->sink.user, e->out.p, e->out.n, err);
  bl_buf_clear(&e->out);
  return st;
}

/* ---- CSV ---- */

/* Text that RFC 4180 wants quoted; the empty string too, for null is empty. */
static bool wants_quotes(const uint8_t *p, size_t n) {
  if (n == 0) return true;
  for (size_t i = 0; i < n; i++)
    if (p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r') return true;
  return false;
}

static void csv_text(bl_buf *out, const uint8_t *p, size_t n) {
  if (!wants_quotes(p, n)) {
    bl_buf_add(out, p, n);
    return;
  }
  bl_buf_byte(out, '"');
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '"') bl_buf_byte(out, '"');
    bl_buf_byte(out, p[i]);
  }
  bl_buf_byte(out, '"');
}

/* Kinds whose text never needs quotes. */
static bool is_plain(bl_data_kind k) {
  return k <= BL_D_TIMESTAMP_NS;
}

static bl_status csv_value(bl_emit *e, const bl_view *v, int64_t i, bl_error *err) {
  if (bl_view_null(v, i)) return BL_OK;
  if (is_plain(v->kind)) return bl_print_bare(&e->out, v, i, err);
  bl_buf_clear(&e->cell);
  BL_TRY(bl_print_bare(&e->cell, v, i, err));
  BL_TRY(bl_buf_ok(&e->cell, err));
  csv_text(&e->out, e->cell.p, e->cell.n);
  return BL_OK;
}

static bl_status csv_row(bl_emit *e, int64_t i, bl_error *err) {
  for (size_t k = 0; k < e->root->n_children; k++) {
    if (k > 0) bl_buf_byte(&e->out, ',');
    BL_TRY(csv_value(e, &e->root->children[k], i, err));
  }
  bl_buf_byte(&e->out, '\n');
  return BL_OK;
}

static void csv_header(bl_emit *e) {
  for (size_t k = 0; k < e->root->n_children; k++) {
    bl_str name = e->root->children[k].name;
    if (k > 0) bl_buf_byte(&e->out, ',');
    csv_text(&e->out, (const uint8_t *)name.p, name.n);
  }
  bl_buf_byte(&e->out, '\n');
}

/* ---- all kinds ---- */

static bl_status row(bl_emit *e, int64_t i, bl_error *err) {
  switch (e->kind) {
  case BL_EMIT_CSV: return csv_row(e, i, err);
  case BL_EMIT_TEXT: return bl_text_table_row(e->table, i, &e->out, err);
  case BL_EMIT_NDJSON: break;
  }
  BL_TRY(bl_print_value(&e->out, e->root, i, err));
  bl_buf_byte(&e->out, '\n');
  return BL_OK;
}

bl_status bl_emit_open(bl_ctx *ctx, bl_emit_kind kind, const bl_sink *sink, const struct ArrowSchema *schema,
                       bl_emit **out, bl_error *err) {
  *out = NULL;
  bl_status st;
  bl_emit *e = bl_calloc(ctx, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  e->ctx = ctx;
  e->kind = kind;
  e->sink = *sink;
  bl_buf_init(&e->out, ctx, BL_BUF_MAX);
  bl_buf_init(&e->cell, ctx, BL_BUF_MAX);
  BL_GO(bl_view_new(ctx, schema, &e->root, err));
  if (e->root->kind != BL_D_STRUCT) BL_GO(bl_fail(err, BL_USAGE, "rows to print: the schema is not a struct"));
  if (kind == BL_EMIT_TEXT) BL_GO(bl_text_table_new(ctx, e->root, &e->table, err));
  if (kind == BL_EMIT_CSV) csv_header(e);
done:
  if (st == BL_OK) *out = e;
  else bl_emit_free(e);
  return st;
}

bl_status bl_emit_batch(bl_emit *e, const struct ArrowArray *batch, bl_error *err) {
  BL_TRY(bl_view_set(e->root, batch, err));
  for (int64_t i = 0; i < e->root->n; i++) {
    BL_TRY(row(e, i, err));
    if (e->out.n >= FLUSH_AT) BL_TRY(flush(e, err));
  }
  return BL_OK;
}

bl_status bl_emit_finish(bl_emit *e, bl_error *err) {
  if (e->kind == BL_EMIT_TEXT) BL_TRY(bl_text_table_end(e->table, &e->out, err));
  return flush(e, err);
}

void bl_emit_free(bl_emit *e) {
  if (!e) return;
  bl_text_table_free(e->table);
  bl_view_free(e->root);
  bl_buf_free(&e->out);
  bl_buf_free(&e->cell);
  bl_free(e->ctx, e);
}
