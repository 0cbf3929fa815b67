/* apply_events.c: the stream that events come in: which form they have, and batches that are looked at before they are
 * applied. */
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "write/apply.h"
#include "write/batch_file.h"

/* ---- forms ---- */

static bool is_bytes(const bl_view *v) {
  return v->kind == BL_D_STRING || v->kind == BL_D_BINARY;
}

/* The column of texts: that called value, or, of Debezium, the only one. */
static const bl_view *find_text(const bl_applying *a, const bl_view *root) {
  const bl_view *v = bl_view_child(root, "value");
  bool only = root->n_children == 1 && a->o->source == BL_APPLY_DEBEZIUM;
  if (!v && only) v = &root->children[0];
  return v && is_bytes(v) ? v : NULL;
}

/* A metadata column; the table may have one of that name itself. */
static const bl_view *find_meta(const bl_view *root, const char *qualified) {
  const bl_view *v = bl_view_child(root, qualified);
  return v ? v : bl_view_child(root, strchr(qualified, '.') + 1);
}

static void find_says(bl_events *e) {
  static const char *const names[BL_SAYS] = {"meta._change_type", "meta._commit_snapshot_id",
                                             "meta._commit_sequence_number", "meta._last_updated_sequence_number"};
  for (size_t i = 0; i < BL_SAYS; i++) e->says[i] = find_meta(e->view, names[i]);
}

static bl_status choose_images(const bl_applying *a, bl_events *e, bl_error *err) {
  const bl_view *type = e->says[BL_SAYS_TYPE];
  if (!type)
    return bl_fail(err, BL_USAGE,
                   "%s: it is no changelog: there is no column _change_type; a changelog is read as NDJSON, CSV, "
                   "Arrow, Parquet, Avro or ORC",
                   a->front);
  if (type->kind != BL_D_STRING)
    return bl_fail(err, BL_USAGE, "%s: it is no changelog: the column _change_type is no text", a->front);
  e->form = BL_EVENTS_IMAGES;
  return BL_OK;
}

static bl_status choose_form(const bl_applying *a, bl_events *e, bl_error *err) {
  const bl_view *op = bl_view_child(e->view, "op");
  find_says(e);
  e->text = find_text(a, e->view);
  bool own = a->o->source == BL_APPLY_CHANGES;
  if (e->text && !(own ? e->says[BL_SAYS_TYPE] : op)) {
    e->form = BL_EVENTS_TEXTS;
    e->byte = bl_view_child(e->view, "_byte");
    if (e->byte && e->byte->kind != BL_D_INT64) e->byte = NULL;
    return BL_OK;
  }
  if (own) return choose_images(a, e, err);
  e->form = BL_EVENTS_ENVELOPES;
  if (op && op->kind == BL_D_STRING) return BL_OK;
  return bl_fail(err, BL_USAGE,
                 "%s: they are no events of Debezium: a column of texts is expected, the only one or called value, or "
                 "the columns op, before, after and source",
                 a->front);
}

/* ---- batches ---- */

bl_status bl_events_open(bl_applying *a, struct ArrowArrayStream *in, bl_events *e, bl_error *err) {
  static const bl_schema nothing = {.root = {.kind = BL_STRUCT}};
  const bl_conform_options o = {.keep_unknown = true, .name = a->front};
  *e = (bl_events){.ctx = a->ctx};
  BL_TRY(bl_conform_with(a->ctx, &nothing, &o, in, &e->rows, err));
  BL_TRY(bl_stream_schema(&e->rows, &e->schema, err));
  BL_TRY(bl_view_new(a->ctx, &e->schema, &e->view, err));
  return choose_form(a, e, err);
}

void bl_events_dispose(bl_events *e) {
  for (size_t i = e->next_held; i < e->n_held; i++) bl_array_release(&e->held[i]);
  if (e->ctx) bl_free(e->ctx, e->held);
  bl_batch_file_free(e->kept);
  bl_view_free(e->view);
  bl_aschema_release(&e->schema);
  bl_stream_release(&e->rows);
  *e = (bl_events){0};
}

static bl_status next_kept(bl_events *e, struct ArrowArray *out, bl_error *err) {
  if (e->next_held < e->n_held) bl_array_move(&e->held[e->next_held++], out);
  else if (e->kept) return bl_batch_file_next(e->kept, out, err);
  return BL_OK;
}

bl_status bl_events_next(bl_events *e, struct ArrowArray *out, bl_error *err) {
  out->release = NULL;
  BL_TRY(e->again ? next_kept(e, out, err) : bl_stream_next(&e->rows, out, err));
  bl_status st = out->release ? bl_view_set(e->view, out, err) : BL_OK;
  if (st != BL_OK) bl_array_release(out);
  return st;
}

bl_status bl_events_keep(bl_events *e, struct ArrowArray *batch, bl_error *err) {
  bl_status st = BL_OK;
  if (!e->kept) {
    e->bytes += bl_view_volume(e->view, 0, batch->length);
    if (e->bytes > e->ctx->o.memory_budget / 4) st = bl_batch_file_new(e->ctx, &e->schema, &e->kept, err);
    else st = bl_grow(e->ctx, &e->held, &e->cap_held, e->n_held, sizeof *e->held, err);
  }
  if (st == BL_OK && e->kept) return bl_batch_file_add(e->kept, batch, err);
  if (st == BL_OK) bl_array_move(batch, &e->held[e->n_held++]);
  bl_array_release(batch);
  return st;
}

bl_status bl_events_rewind(bl_events *e, bl_error *err) {
  e->again = true;
  return e->kept ? bl_batch_file_end(e->kept, err) : BL_OK;
}
