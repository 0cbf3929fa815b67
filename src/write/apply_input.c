/* apply_input.c: a changelog that is no NDJSON (CSV, Arrow, Parquet, Avro, ORC), as lines of it: the columns of the
 * table go by its types, and values are written as `changes` writes them. */
#include "bergline/input.h"
#include "rows/emit_text.h"
#include "rows/stream.h"
#include "write/apply.h"

/* ---- rows to lines ---- */

typedef struct converting {
  struct ArrowArrayStream rows;
  bl_emit *emit;
  bl_buf text; /* bytes [at, n) are still to be given */
  size_t at;
  bool ended;
} converting;

static bl_status take_text(void *user, const void *p, size_t n, bl_error *err) {
  converting *c = user;
  bl_buf_add(&c->text, p, n);
  return bl_buf_ok(&c->text, err);
}

static bl_status convert_batch(converting *c, bl_error *err) {
  struct ArrowArray batch;
  BL_TRY(bl_stream_next(&c->rows, &batch, err));
  c->ended = batch.release == NULL;
  if (c->ended) return bl_emit_finish(c->emit, err);
  bl_status st = bl_emit_batch(c->emit, &batch, err);
  batch.release(&batch);
  return st;
}

static bl_status read_text(void *user, void *p, size_t n, size_t *got, bl_error *err) {
  converting *c = user;
  while (c->at == c->text.n && !c->ended) {
    bl_buf_clear(&c->text);
    c->at = 0;
    BL_TRY(convert_batch(c, err));
  }
  *got = c->text.n - c->at < n ? c->text.n - c->at : n;
  if (*got) memcpy(p, c->text.p + c->at, *got);
  c->at += *got;
  return BL_OK;
}

/* ---- the input ---- */

/* Lines of JSON begin with an object, a tombstone (null) or, wrongly, another value. */
static bl_status is_json(bl_input *in, bool *yes, bl_error *err) {
  char p[64] = {0};
  size_t n = in->size < (int64_t)sizeof p ? (size_t)in->size : sizeof p, i = 0;
  BL_TRY(in->read_at(in, 0, p, n, err));
  while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) i++;
  *yes = i == n || p[i] == '{' || p[i] == '[' || memcmp(p + i, "null", n - i < 4 ? n - i : 4) == 0;
  return BL_OK;
}

static bl_status check_columns(const struct ArrowSchema *schema, bl_error *err) {
  for (int64_t i = 0; i < schema->n_children; i++)
    if (schema->children[i]->name && strcmp(schema->children[i]->name, "_change_type") == 0) return BL_OK;
  return bl_fail(
      err, BL_USAGE,
      "apply: it is no changelog: there is no column _change_type; a changelog is read as NDJSON, CSV, Arrow, "
      "Parquet, Avro or ORC");
}

static bl_status open_rows(bl_table *t, bl_input *in, converting *c, bl_error *err) {
  bl_read_options o = {.extra_columns = true};
  struct ArrowSchema schema = {0};
  bl_sink sink = {.write = take_text, .user = c};
  BL_TRY(bl_read_rows(t, in, NULL, &o, &c->rows, err));
  int code = c->rows.get_schema(&c->rows, &schema);
  if (code) {
    const char *says = c->rows.get_last_error(&c->rows);
    return bl_fail(err, bl_stream_status(code), "apply: %s", says ? says : "the columns cannot be read");
  }
  bl_status st = check_columns(&schema, err);
  if (st == BL_OK) st = bl_emit_open(t->ctx, BL_EMIT_NDJSON, &sink, &schema, &c->emit, err);
  schema.release(&schema);
  return st;
}

bl_status bl_apply_lines(bl_table *t, bl_input *in, bl_input **out, bl_error *err) {
  converting c = {0};
  bool json;
  bl_status st;
  *out = NULL;
  BL_TRY(is_json(in, &json, err));
  if (json) return BL_OK;
  bl_buf_init(&c.text, t->ctx, SIZE_MAX);
  BL_GO(open_rows(t, in, &c, err));
  BL_GO(bl_input_spool(t->ctx, read_text, &c, out, err));
done:
  bl_emit_free(c.emit);
  bl_stream_release(&c.rows);
  bl_buf_free(&c.text);
  return st;
}
