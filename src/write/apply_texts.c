/* apply_texts.c: events as JSON, one a row of the stream, and the rows of the table that they become. */
#include "rows/emit_text.h"
#include "write/apply.h"
#include "write/debezium_value.h"
#include "write/telling.h"

enum { SCRATCH_BYTES = 1 << 20, PROGRESS_EVENTS = 4096 };

bl_status bl_applying_flush(bl_applying *a, bl_error *err) {
  struct ArrowArray batch;
  if (a->n == 0) return BL_OK;
  a->n = 0;
  BL_TRY(bl_builder_finish(a->columns.rows, &batch, err));
  return bl_source_add(a->source, &batch, a->deletes, a->ranks, err);
}

/* ---- rows ---- */

static bl_status find_members(bl_applying *a, const bl_json *image, bool deletes, bl_error *err) {
  memset(a->members, 0, a->schema->root.n_fields * sizeof *a->members);
  for (const bl_json *m = image->first; m; m = m->next) {
    const size_t *at = bl_map_get(a->places, m->key);
    if (at) a->members[*at] = m, a->named[*at] |= !deletes;
    else if (!deletes && !(a->flat && m->key.n > 2 && memcmp(m->key.p, "__", 2) == 0))
      return bl_fail(err, BL_USAGE, "column %.*s: the table has no such column", BL_STR_ARG(m->key));
  }
  return BL_OK;
}

static bl_status put_column(bl_applying *a, size_t i, const bl_json *types, bool deletes, bl_event_value value,
                            bl_error *err) {
  const bl_json *v = a->members[i];
  const bl_field *f = &a->columns.fields[i];
  bl_builder *b = bl_builder_child(a->columns.rows, (int64_t)i);
  bool key = bl_applying_is_key(a, f->name), null = v && v->kind == BL_J_NULL;
  if (key && (!v || null)) return bl_fail(err, BL_USAGE, "key column %s: it has no value", f->name.p);
  if (deletes && !key) return bl_put_null(&a->putter, b, f, err);
  bool required = a->schema->root.fields[i].required;
  if (required && (null || (!v && a->changelog && !f->write_default)))
    return bl_fail(err, BL_USAGE, "column %s: it is required, and has no value", f->name.p);
  if (!v && !a->changelog) a->lacks[i] = BL_LACK_ABSENT;
  if (!v) return bl_put_missing(&a->putter, b, f, err);
  if (null) return bl_put_null(&a->putter, b, f, err);
  a->left_out = false;
  BL_TRY(value(a, b, f, v, bl_connect_field(types, f->name), err));
  if (key && a->left_out) return bl_fail(err, BL_USAGE, "key column %s: it has no value", f->name.p);
  if (a->left_out) a->lacks[i] = BL_LACK_LEFT_OUT;
  return BL_OK;
}

static bl_status put_lacks(bl_applying *a, size_t n, bl_error *err) {
  bl_builder *b = bl_builder_child(a->columns.rows, (int64_t)n);
  bool any = false;
  for (size_t i = 0; i < n; i++) any = any || a->lacks[i] != BL_LACK_NONE;
  return any ? bl_builder_bytes(b, a->lacks, n, err) : bl_builder_null(b, err);
}

bl_status bl_applying_put(bl_applying *a, const bl_json *image, const bl_json *types, bool deletes, int64_t rank,
                          bl_event_value value, bl_error *err) {
  size_t n = a->schema->root.n_fields;
  BL_TRY(find_members(a, image, deletes, err));
  memset(a->lacks, BL_LACK_NONE, n);
  for (size_t i = 0; i < n; i++) BL_TRY(put_column(a, i, types, deletes, value, err));
  BL_TRY(put_lacks(a, n, err));
  BL_TRY(bl_builder_close(a->columns.rows, err));
  a->deletes[a->n] = deletes;
  a->ranks[a->n++] = rank;
  bool full = a->n % 64 == 0 && bl_builder_size(a->columns.rows) >= BL_TEXT_BATCH_BYTES;
  return full || a->n == BL_TEXT_BATCH_ROWS ? bl_applying_flush(a, err) : BL_OK;
}

/* ---- events ---- */

bl_status bl_applying_renew(bl_applying *a, bl_error *err) {
  if (bl_arena_bytes(a->scratch) < SCRATCH_BYTES) return BL_OK;
  bl_arena_free(a->scratch);
  a->scratch = NULL;
  return bl_arena_new(a->ctx, &a->scratch, err);
}

static bl_status apply_text(bl_applying *a, bl_str text, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  bl_json *v;
  BL_TRY(bl_applying_renew(a, err));
  if (a->line % PROGRESS_EVENTS == 0) BL_TRY(bl_progress(a->ctx, "apply", a->line, 0, err));
  bl_status st = bl_json_parse(a->scratch, text.p, text.n, &v, &e);
  if (st == BL_OK && v->kind == BL_J_NULL) return BL_OK;
  if (st == BL_OK && v->kind != BL_J_OBJECT) st = bl_fail(&e, BL_USAGE, "an event must be a JSON object");
  if (st == BL_OK) st = a->changelog ? bl_apply_change(a, v, &e) : bl_apply_debezium(a, v, &e);
  return st == BL_OK ? BL_OK : bl_applying_refuse(a, st, &e, err);
}

bl_status bl_apply_texts(bl_applying *a, const bl_events *e, const struct ArrowArray *batch, bl_error *err) {
  for (int64_t i = 0; i < batch->length; i++) {
    a->line++;
    a->at = e->byte && !bl_view_null(e->byte, i) ? bl_view_i64(e->byte, i) : -1;
    if (!bl_view_null(e->text, i)) BL_TRY(apply_text(a, bl_view_bytes(e->text, i), err));
  }
  return BL_OK;
}

/* ---- envelopes ---- */

static bl_status print_rows(bl_applying *a, const bl_events *e, const struct ArrowArray *batch, bl_buf *out,
                            bl_error *err) {
  bl_emit *emit = NULL;
  bl_sink sink = {.write = bl_buf_sink, .user = out};
  bl_status st = bl_emit_open(a->ctx, BL_EMIT_NDJSON, &sink, &e->schema, &emit, err);
  if (st == BL_OK) st = bl_emit_batch(emit, batch, err);
  if (st == BL_OK) st = bl_emit_finish(emit, err);
  bl_emit_free(emit);
  return st;
}

bl_status bl_apply_envelopes(bl_applying *a, const bl_events *e, const struct ArrowArray *batch, bl_error *err) {
  bl_buf lines;
  bl_buf_init(&lines, a->ctx, SIZE_MAX);
  bl_status st = print_rows(a, e, batch, &lines, err);
  for (size_t at = 0; st == BL_OK && at < lines.n;) {
    const char *p = (const char *)lines.p + at, *end = memchr(p, '\n', lines.n - at);
    size_t n = end ? (size_t)(end - p) : lines.n - at;
    a->line++;
    st = apply_text(a, (bl_str){p, n}, err);
    at += n + 1;
  }
  bl_buf_free(&lines);
  return st;
}
