/* metadata_file.c: see metadata_file.h. Writers put the uuid at the beginning: that much is read first, and all of it
 * only where that does not tell. */
#include "table/metadata_file.h"

#include <stdio.h>

#include "format/json.h"
#include "table/io.h"

enum { BEGINNING = 4096 };

static bl_status read_beginning(bl_io *io, const char *path, bl_buf *out, bl_error *err) {
  bl_input *in;
  BL_TRY(io->open_input(io, path, &in, err));
  size_t n = in->size < BEGINNING ? (size_t)in->size : BEGINNING;
  uint8_t *p = bl_buf_reserve(out, BEGINNING);
  bl_status st = p ? in->read_at(in, 0, p, n, err) : bl_nomem(err);
  if (st == BL_OK) out->n += n;
  in->close(in);
  return st;
}

static bool holds(const bl_buf *b, bl_str text) {
  return text.n && text.n <= b->n && memmem(b->p, b->n, text.p, text.n);
}

/* As a text of its own. */
static bool holds_text(const bl_buf *b, bl_str text) {
  char quoted[80];
  int n = snprintf(quoted, sizeof quoted, "\"%.*s\"", BL_STR_ARG(text));
  return n > 2 && (size_t)n < sizeof quoted && holds(b, (bl_str){quoted, (size_t)n});
}

/* The top-level text `key` of a document, in arena a; p NULL: there is none, or it is no document. */
static bl_status text_of(bl_arena *a, const bl_buf *raw, const char *key, bl_str *out, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(a);
  bl_error why = BL_ERROR_INIT;
  bl_buf text;
  bl_json *doc;
  *out = BL_STR_NONE;
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  bl_status st = bl_gunzip(ctx, raw->p, raw->n, (size_t)ctx->o.max_metadata_bytes, &text, &why);
  if (st == BL_OK) st = bl_json_parse(a, text.p, text.n, &doc, &why);
  if (st == BL_OK && doc->kind == BL_J_OBJECT) {
    const bl_json *v = bl_json_get(doc, key);
    if (v && v->kind == BL_J_STRING) *out = v->text;
  }
  bl_buf_free(&text);
  return st == BL_NOMEM ? bl_nomem(err) : BL_OK;
}

/* The same of a whole file: is it there, and is it `want`? */
static bl_status compare_text(bl_ctx *ctx, bl_io *io, const char *path, const char *key, bl_str want, bool *there,
                              bool *same, bl_error *err) {
  bl_arena *a = NULL;
  bl_buf raw;
  bl_str is = BL_STR_NONE;
  bl_status st;
  bl_buf_init(&raw, ctx, BL_BUF_MAX);
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &raw, err));
  st = text_of(a, &raw, key, &is, err);
done:
  *there = is.p != NULL;
  *same = is.p && bl_str_eq(is, want);
  bl_arena_free(a);
  bl_buf_free(&raw);
  return st;
}

/* What is gone, and what is too large to be one, has no such text. */
static bl_status look_for_view(bl_ctx *ctx, bl_io *io, const char *path, bool *yes, bl_error *err) {
  bl_buf head;
  bool same;
  bl_buf_init(&head, ctx, BL_BUF_MAX);
  bl_status st = read_beginning(io, path, &head, err);
  bool table = holds(&head, BL_STR("\"table-uuid\"")) && !holds(&head, BL_STR("\"view-uuid\""));
  bl_buf_free(&head);
  if (st != BL_OK || table) return st;
  return compare_text(ctx, io, path, "view-uuid", BL_STR_NONE, yes, &same, err);
}

bl_status bl_metadata_is_view(bl_ctx *ctx, bl_io *io, const char *path, bool *yes, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  *yes = false;
  bl_status st = look_for_view(ctx, io, path, yes, &why);
  if (st == BL_OK || st == BL_NOT_FOUND || st == BL_DAMAGED) return BL_OK;
  return bl_fail(err, st, "%s", why.message);
}

bl_status bl_metadata_is_of(bl_ctx *ctx, bl_io *io, const char *path, bl_str uuid, bool *yes, bl_error *err) {
  bl_buf head;
  bool there, same;
  bl_buf_init(&head, ctx, BL_BUF_MAX);
  bl_status st = read_beginning(io, path, &head, err);
  *yes = st == BL_OK && holds_text(&head, uuid);
  bl_buf_free(&head);
  if (st != BL_OK || *yes) return st;
  BL_TRY(compare_text(ctx, io, path, "table-uuid", uuid, &there, &same, err));
  *yes = !there || same;
  return BL_OK;
}

bl_status bl_metadata_read(bl_ctx *ctx, bl_io *io, const char *path, bl_metadata **out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_buf bytes;
  bl_arena *a = NULL;
  bl_str view = BL_STR_NONE;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &bytes, err));
  st = bl_metadata_parse(ctx, bytes.p, bytes.n, out, &why);
  if (st == BL_OK) goto done;
  bl_status look = bl_arena_new(ctx, &a, err);
  if (look == BL_OK) look = text_of(a, &bytes, "view-uuid", &view, err);
  if (look != BL_OK) st = look;
  else if (view.p) st = bl_fail(err, BL_UNSUPPORTED, "not a table: %s: it is a view", path);
  else st = bl_fail_at(err, st, why.position, "%s: %s", path, why.message);
done:
  bl_arena_free(a);
  bl_buf_free(&bytes);
  return st;
}
