/* text_rows.c: see text_rows.h. */
#include "write/text_rows.h"

enum { PIECE = 1 << 18 };

void bl_text_file_init(bl_text_file *f, bl_ctx *ctx, bl_input *in) {
  *f = (bl_text_file){.in = in};
  bl_buf_init(&f->held, ctx, (size_t)ctx->o.max_metadata_bytes + PIECE);
}

void bl_text_file_dispose(bl_text_file *f) {
  bl_buf_free(&f->held);
}

bl_status bl_text_file_more(bl_text_file *f, bool *more, bl_error *err) {
  if (f->at > 0) {
    memmove(f->held.p, f->held.p + f->at, f->held.n - f->at);
    f->held.n -= f->at;
    f->at = 0;
  }
  /* As much again as is held: a long record is not searched over and over. */
  int64_t left = f->in->size - f->read, n = f->held.n > PIECE ? (int64_t)f->held.n : PIECE;
  if (n > left) n = left;
  *more = n > 0;
  if (n == 0) return BL_OK;
  uint8_t *p = bl_buf_reserve(&f->held, (size_t)n);
  if (!p && f->held.full) return bl_fail(err, BL_DAMAGED, "a record is larger than %zu bytes", f->held.max);
  if (!p) return bl_nomem(err);
  BL_TRY(f->in->read_at(f->in, f->read, p, (size_t)n, err));
  f->held.n += (size_t)n;
  f->read += n;
  return BL_OK;
}

static bool is_blank(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r') return false;
  return true;
}

bl_status bl_text_file_line(bl_text_file *f, bl_str *line, int64_t *at, bool *found, bl_error *err) {
  size_t searched = 0;
  for (;;) {
    size_t from = f->at + searched;
    const uint8_t *nl = from < f->held.n ? memchr(f->held.p + from, '\n', f->held.n - from) : NULL;
    bool more = !nl;
    searched = f->held.n - f->at;
    if (!nl) BL_TRY(bl_text_file_more(f, &more, err));
    if (!nl && more) continue;
    size_t end = nl ? (size_t)(nl - f->held.p) : f->held.n;
    *found = f->at < f->held.n;
    if (!*found) return BL_OK;
    *line = (bl_str){(const char *)f->held.p + f->at, end - f->at};
    *at = bl_text_file_byte(f, f->at);
    f->at = nl ? end + 1 : end;
    searched = 0;
    if (!is_blank((const uint8_t *)line->p, line->n)) return BL_OK;
  }
}

bl_status bl_text_columns_build(bl_ctx *ctx, bl_text_columns *c, bl_error *err) {
  bl_type root = {.kind = BL_STRUCT, .fields = c->fields, .n_fields = c->n};
  BL_TRY(bl_aschema_of_struct(ctx, &root, &c->schema, err));
  return bl_builder_new(ctx, &c->schema, &c->rows, err);
}

void bl_text_columns_dispose(bl_text_columns *c) {
  bl_builder_free(c->rows);
  bl_aschema_release(&c->schema);
}
