/* emit.c: see emit.h. A chunk of events is given out in slices of at most 65,536 images:
 *   take the slice's rows out of the chunk's values -> which events stay (where, changed) -> special columns -> output
 * columns. */
#include "changes/emit.h"

#include "changes/chunk.h"
#include "changes/emit_private.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/stream.h"

enum { SLICE = 65536, LEAST_SLICE = 64 };

/* ---- set-up ---- */

static bool in_ids(const int32_t *ids, size_t n, int32_t id) {
  for (size_t i = 0; i < n; i++)
    if (ids[i] == id) return true;
  return false;
}

static bool wants(const bl_emit_options *o, bl_special s) {
  for (size_t i = 0; i < o->n_specials; i++)
    if (o->specials[i] == s) return true;
  return false;
}

/* Columns to fetch: all of the schema where images are compared, else those of the output, with the filter's. Pruned
 * structs of the output are cut out afterwards. */
static bl_status choose_columns(bl_emitter *e, bl_error *err) {
  const bl_emit_options *o = &e->o;
  const bl_schema *schema = e->feed->range.schema;
  bl_columns_init(&e->fetch, e->arena, e->feed->t->metadata, schema);
  e->compare = o->n_changed || o->skip_unchanged || wants(o, BL_S_CHANGED_COLUMNS);
  if (e->compare) BL_TRY(bl_columns_add_all(&e->fetch, err));
  for (size_t i = 0; i < o->columns->n_fields; i++) {
    const bl_field *f = &o->columns->fields[i];
    if (e->compare && bl_columns_has_id(&e->fetch, f->id)) continue;
    BL_TRY(bl_columns_add_field(&e->fetch, f, err));
  }
  if (!o->where) return BL_OK;
  int32_t ids[256];
  size_t n = bl_expr_fields(o->where, ids, BL_LEN(ids));
  if (n > BL_LEN(ids)) return bl_fail(err, BL_UNSUPPORTED, "predicate: more than %zu columns", BL_LEN(ids));
  bl_columns_init(&e->filter, e->arena, e->feed->t->metadata, schema);
  for (size_t i = 0; i < n; i++) {
    const bl_field *meta = ids[i] > BL_ID_FIRST_RESERVED ? bl_schema_find(bl_changes_meta_schema(), ids[i]) : NULL;
    BL_TRY(meta ? bl_columns_add_field(&e->filter, meta, err) : bl_columns_add_id(&e->filter, ids[i], err));
    if (!meta) BL_TRY(bl_columns_add_id(&e->fetch, ids[i], err));
  }
  return bl_predicate_new(e->ctx, o->where, &e->filter.wanted, &e->predicate, err);
}

/* C16: columns of a DELETE that stay; all others of the output may be null then. */
static bool is_key(const bl_emitter *e, const bl_field *f) {
  for (size_t i = 0; i < e->o.n_key; i++) {
    const bl_field *path[1];
    if (bl_schema_path(e->feed->range.schema, e->o.key_ids[i], path, 1) && path[0]->id == f->id) return true;
  }
  return false;
}

static int64_t row_width(const bl_type *t) {
  int64_t w = 0;
  switch (t->kind) {
  case BL_BOOLEAN: return 1;
  case BL_INT:
  case BL_FLOAT:
  case BL_DATE: return 4;
  case BL_DECIMAL:
  case BL_UUID: return 16;
  case BL_FIXED: return t->length;
  case BL_STRING:
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return 20;
  case BL_VARIANT: return 64;
  case BL_STRUCT:
  case BL_LIST:
  case BL_MAP:
    for (size_t i = 0; i < t->n_fields; i++) w += row_width(&t->fields[i].type);
    return t->kind == BL_STRUCT ? w : 4 + 4 * w;
  default: return 8;
  }
}

static int64_t value_budget(const bl_emitter *e) {
  return e->ctx->o.memory_budget / 2;
}

/* Images of the first chunk, so that its values fit their budget; compressed bytes of the files set the floor. */
static int64_t images_of_chunk(const bl_emitter *e) {
  int64_t rows = 0, bytes = 0, width = row_width(&e->fetch.wanted) + 16;
  for (size_t i = 0; i < e->feed->files.n; i++) {
    const bl_data_file *f = &e->feed->files.items[i].entry->file;
    if (!bl_add64(rows, f->record_count, &rows) || !bl_add64(bytes, f->file_size, &bytes)) return SLICE;
  }
  if (rows > 0 && bytes / rows > width / 2) width = bytes / rows > INT64_MAX / 2 ? INT64_MAX : bytes / rows * 2;
  int64_t n = value_budget(e) / width;
  return n < LEAST_SLICE ? LEAST_SLICE : n;
}

bl_status bl_emitter_new(bl_feed *feed, const bl_emit_options *o, bl_emitter **out, bl_error *err) {
  bl_emitter *e = bl_calloc(feed->ctx, 1, sizeof *e);
  *out = NULL;
  if (!e) return bl_nomem(err);
  e->ctx = feed->ctx;
  e->feed = feed;
  e->o = *o;
  bl_status st;
  BL_GO(bl_arena_new(feed->ctx, &e->arena, err));
  BL_GO(choose_columns(e, err));
  BL_GO(bl_aschema_of_struct(e->ctx, &e->fetch.wanted, &e->fetch_schema, err));
  BL_GO(bl_special_prepare(e, err));
  BL_GO(bl_emitter_schema(e, &e->schema, err));
  e->most_images = images_of_chunk(e);
  bool asks = e->compare || (o->where && !o->where_nulls);
  e->wants.skip_before = (o->after_images || o->no_before) && !asks;
  e->wants.skip_deleted = o->after_images && !o->where && o->n_key == 0;
  *out = e;
done:
  if (st != BL_OK) bl_emitter_free(e);
  return st;
}

void bl_emitter_free(bl_emitter *e) {
  if (!e) return;
  bl_ordered_free(e->batches); /* its workers read the chunk */
  bl_free(e->ctx, e->slices);
  bl_chunk_dispose(&e->chunk);
  bl_predicate_free(e->predicate);
  bl_aschema_release(&e->fetch_schema);
  bl_aschema_release(&e->schema);
  for (size_t i = 0; i < BL_N_SPECIALS; i++) bl_aschema_release(&e->special_schema[i]);
  bl_free(e->ctx, e->backlog.items);
  bl_arena_free(e->arena);
  bl_free(e->ctx, e);
}

/* Where table column i, and special column i, stand in the output. */
static size_t place_of_column(const bl_emitter *e, size_t i) {
  size_t k = 0;
  while (k < e->o.n_specials && e->o.special_at[k] <= i) k++;
  return i + k;
}
static size_t place_of_special(const bl_emitter *e, size_t i) {
  return e->o.special_at[i] + i;
}

bl_status bl_emitter_schema(bl_emitter *e, struct ArrowSchema *out, bl_error *err) {
  size_t n = e->o.columns->n_fields;
  BL_TRY(bl_aschema_new(e->ctx, "+s", BL_STR(""), false, (int64_t)(n + e->o.n_specials), out, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < n; i++) {
    bl_field f = e->o.columns->fields[i];
    if (e->o.after_images && !is_key(e, &f)) f.required = false;
    st = bl_aschema_of_field(e->ctx, &f, out->children[place_of_column(e, i)], err);
  }
  for (size_t i = 0; st == BL_OK && i < e->o.n_specials; i++) {
    const struct ArrowSchema *s;
    st = bl_special_schema(e, e->o.specials[i], &s, err);
    if (st == BL_OK) st = bl_aschema_copy(e->ctx, s, out->children[place_of_special(e, i)], err);
  }
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

/* ---- a slice ---- */

static void slice_free(bl_emitter *e, bl_slice *s) {
  bl_array_release(&s->values);
  bl_free(e->ctx, s->images);
  bl_free(e->ctx, s->keep);
  bl_free(e->ctx, s->differs);
}

/* Rows [begin, begin + n) of the images, out of the chunk's values, which stay. */
static bl_status take_values(bl_emitter *e, int64_t begin, int64_t n, struct ArrowArray *out, bl_error *err) {
  if (e->fetch.wanted.n_fields == 0) return bl_array_new(e->ctx, n, 1, 0, out, err);
  const bl_fetched *v = &e->chunk.values;
  return bl_arrow_gather(v->batches, v->n, &e->fetch_schema, e->chunk.row + begin, n, out, err);
}

/* The images of one event step: how many. */
static int64_t images_at(const bl_emitter *e, size_t event) {
  return e->chunk.events[event].type == BL_UPDATE && !e->wants.skip_before ? 2 : 1;
}

/* Cut the chunk into slices of whole steps. */
static bl_status cut_slices(bl_emitter *e, bl_error *err) {
  size_t cap = 0;
  bl_slice_start at = {0};
  bl_free(e->ctx, e->slices);
  e->slices = NULL;
  e->n_slices = 0;
  while (at.event < e->chunk.n_events) {
    bl_slice_start s = at;
    while (at.event < e->chunk.n_events && s.n + 1 < e->slice_images) {
      int64_t per = images_at(e, at.event), left = e->chunk.events[at.event].len - at.step,
              room = (e->slice_images - s.n) / per;
      int64_t k = left < room ? left : room;
      s.n += k * per;
      at.step += (uint32_t)k;
      if (at.step == e->chunk.events[at.event].len) at.step = 0, at.event++;
    }
    at.image += s.n;
    BL_TRY(bl_grow(e->ctx, &e->slices, &cap, e->n_slices, sizeof *e->slices, err));
    e->slices[e->n_slices++] = s;
  }
  return BL_OK;
}

static bl_status list_images(bl_emitter *e, const bl_slice_start *start, bl_slice *s, bl_error *err) {
  s->images = bl_alloc(e->ctx, (size_t)start->n + 2, sizeof *s->images);
  if (!s->images) return bl_nomem(err);
  s->begin = start->image;
  bl_image im = {.event = (uint32_t)start->event, .step = start->step};
  while (s->n < start->n) {
    const bl_event *ev = &e->chunk.events[im.event];
    im.after = false;
    if (ev->before_file != BL_NO_FILE && !(e->wants.skip_before && ev->type == BL_UPDATE)) s->images[s->n++] = im;
    im.after = true;
    if (ev->after_file != BL_NO_FILE) s->images[s->n++] = im;
    if (++im.step == ev->len) im.step = 0, im.event++;
  }
  return BL_OK;
}

static bool is_pair_start(const bl_emitter *e, const bl_slice *s, int64_t i) {
  return e->chunk.events[s->images[i].event].type == BL_UPDATE && !s->images[i].after;
}

/* C14: which top-level columns differ between the images of pairs, a bit a column of the schema. */
static bl_status compare_pairs(bl_emitter *e, bl_slice *s, bl_view *view, bl_error *err) {
  size_t n = e->feed->range.schema->root.n_fields;
  s->differs = bl_calloc(e->ctx, (size_t)s->n + 1, n);
  if (!s->differs) return bl_nomem(err);
  BL_TRY(bl_view_set(view, &s->values, err));
  for (int64_t i = 0; i < s->n; i++) {
    if (!is_pair_start(e, s, i)) continue;
    uint8_t *d = s->differs + (size_t)i * n;
    bool any = false, asked = e->o.n_changed == 0;
    for (size_t c = 0; c < n; c++) { /* the schema's columns come first in what is fetched */
      d[c] = !bl_key_same(&view->children[c], i, &view->children[c], i + 1);
      any = any || d[c];
      if (d[c] && in_ids(e->o.changed_ids, e->o.n_changed, e->feed->range.schema->root.fields[c].id)) asked = true;
    }
    memcpy(d + n, d, n); /* of the other image too */
    if (!asked || (e->o.skip_unchanged && !any)) s->keep[i] = s->keep[i + 1] = 0;
  }
  return BL_OK;
}

static bl_status compare_slice(bl_emitter *e, bl_slice *s, bl_error *err) {
  bl_view *view;
  BL_TRY(bl_view_new(e->ctx, &e->fetch_schema, &view, err));
  bl_status st = compare_pairs(e, s, view, err);
  bl_view_free(view);
  return st;
}

/* A filter column of the slice: borrowed from the values, or made for lineage and file columns. */
static bl_status filter_column(bl_emitter *e, const bl_slice *s, const bl_field *f, struct ArrowArray *out,
                               bl_error *err) {
  int special = bl_special_of_field(f);
  if (special >= 0) return bl_special_column(e, s, (bl_special)special, out, err);
  for (size_t i = 0; i < e->fetch.wanted.n_fields; i++)
    if (e->fetch.wanted.fields[i].id == f->id)
      return bl_reshape(e->ctx, &e->fetch.wanted.fields[i].type, &f->type, s->values.children[i], true, out, err);
  return bl_fail(err, BL_USAGE, "predicate: column %s was not read", f->name.p);
}

/* An event stays whole when either image matches. */
static bl_status apply_where(bl_emitter *e, bl_slice *s, bl_error *err) {
  const bl_type *t = &e->filter.wanted;
  struct ArrowArray batch;
  BL_TRY(bl_array_new(e->ctx, s->n, 1, (int64_t)t->n_fields, &batch, err));
  uint8_t *truth = bl_alloc(e->ctx, (size_t)s->n + 1, 1);
  bl_status st = truth ? BL_OK : bl_nomem(err);
  for (size_t i = 0; st == BL_OK && i < t->n_fields; i++)
    st = filter_column(e, s, &t->fields[i], batch.children[i], err);
  if (st == BL_OK) st = bl_predicate_run(e->predicate, &batch, truth, err);
  for (int64_t i = 0; st == BL_OK && i < s->n; i++) {
    bool pair = is_pair_start(e, s, i), match = truth[pair ? i + 1 : i];
    if (pair && !e->o.no_before) match = match || truth[i];
    if (e->o.where_nulls && bl_event_id(&e->chunk.events[s->images[i].event]) != BL_NONE) match = true;
    if (!match) s->keep[i] = 0;
    if (!match && pair) s->keep[i + 1] = 0;
    i += pair;
  }
  bl_free(e->ctx, truth);
  bl_array_release(&batch);
  return st;
}

static bl_status decide(bl_emitter *e, bl_slice *s, bl_error *err) {
  s->keep = bl_alloc(e->ctx, (size_t)s->n + 1, 1);
  if (!s->keep) return bl_nomem(err);
  memset(s->keep, 1, (size_t)s->n);
  if (e->compare) BL_TRY(compare_slice(e, s, err));
  if (e->o.where) BL_TRY(apply_where(e, s, err));
  if (e->o.after_images || e->o.no_before)
    for (int64_t i = 0; i < s->n; i++)
      if (is_pair_start(e, s, i)) s->keep[i] = 0;
  return BL_OK;
}

/* Only the images that stay, in values, images and differs. */
static bl_status drop_images(bl_emitter *e, bl_slice *s, bl_error *err) {
  size_t n_cols = e->feed->range.schema->root.n_fields;
  int64_t n = 0;
  if (s->n <= 0 || !memchr(s->keep, 0, (size_t)s->n)) return BL_OK;
  struct ArrowArray kept;
  for (int64_t i = 0; i < s->n; i++) n += s->keep[i];
  if (e->fetch.wanted.n_fields == 0) {
    BL_TRY(bl_array_new(e->ctx, n, 1, 0, &kept, err));
    bl_array_release(&s->values);
  } else {
    BL_TRY(bl_arrow_filter(&s->values, &e->fetch_schema, s->keep, &kept, err));
  }
  bl_array_move(&kept, &s->values);
  n = 0;
  for (int64_t i = 0; i < s->n; i++) {
    if (!s->keep[i]) continue;
    s->images[n] = s->images[i];
    if (s->differs) memmove(s->differs + (size_t)n * n_cols, s->differs + (size_t)i * n_cols, n_cols);
    n++;
  }
  s->n = n;
  return BL_OK;
}

/* ---- output ---- */

/* C16: nulls in the rows of DELETE images. */
static bl_status blank_deletes(bl_emitter *e, const bl_slice *s, struct ArrowArray *column, bl_error *err) {
  struct ArrowArray out;
  if (column->n_buffers == 0) return BL_OK;
  BL_TRY(bl_array_new(e->ctx, column->length, column->n_buffers, column->n_children, &out, err));
  out.offset = column->offset;
  for (int64_t i = 0; i < column->n_buffers; i++) out.buffers[i] = column->buffers[i];
  size_t bytes = ((size_t)(column->offset + column->length) + 7) / 8;
  uint8_t *bits = bl_array_buffer(&out, 0, bytes);
  bl_status st = bits ? BL_OK : bl_nomem(err);
  if (st == BL_OK) {
    if (column->buffers[0] && column->null_count != 0) memcpy(bits, column->buffers[0], bytes);
    else memset(bits, 0xff, bytes);
    for (int64_t i = 0; i < s->n; i++)
      if (e->chunk.events[s->images[i].event].type == BL_DELETE)
        bits[(column->offset + i) >> 3] &= (uint8_t) ~(1u << ((column->offset + i) & 7));
    for (int64_t i = 0; i < s->n; i++) out.null_count += !bl_bit_get(bits, column->offset + i);
    for (int64_t i = 0; i < column->n_children; i++) bl_array_move(column->children[i], out.children[i]);
    st = bl_array_keep(&out, column, err);
  }
  if (st != BL_OK) {
    bl_array_release(&out);
    return st;
  }
  bl_array_move(&out, column);
  return BL_OK;
}

static bl_status table_column(bl_emitter *e, bl_slice *s, const bl_field *f, struct ArrowArray *out, bl_error *err) {
  for (size_t i = 0; i < e->fetch.wanted.n_fields; i++) {
    if (e->fetch.wanted.fields[i].id != f->id) continue;
    BL_TRY(bl_reshape(e->ctx, &e->fetch.wanted.fields[i].type, &f->type, s->values.children[i], false, out, err));
    return e->o.after_images && !is_key(e, f) ? blank_deletes(e, s, out, err) : BL_OK;
  }
  return bl_fail(err, BL_USAGE, "changes: column %s was not read", f->name.p);
}

static bl_status put_together(bl_emitter *e, bl_slice *s, struct ArrowArray *out, bl_error *err) {
  size_t n = e->o.columns->n_fields;
  BL_TRY(bl_array_new(e->ctx, s->n, 1, (int64_t)(n + e->o.n_specials), out, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < e->o.n_specials; i++)
    st = bl_special_column(e, s, e->o.specials[i], out->children[place_of_special(e, i)], err);
  for (size_t i = 0; st == BL_OK && i < n; i++)
    st = table_column(e, s, &e->o.columns->fields[i], out->children[place_of_column(e, i)], err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

/* By what the chunk's values took: how many images the next one, and a slice of this one, may have. */
static void learn_width(bl_emitter *e) {
  int64_t width = e->chunk.images ? e->chunk.values.bytes / e->chunk.images + 1 : 1;
  int64_t chunk = value_budget(e) / width * 3 / 4, slice = value_budget(e) / 8 / width;
  if (e->chunk.values.bytes && chunk < e->most_images) e->most_images = chunk < 1 ? 1 : chunk;
  e->slice_images = slice > SLICE ? SLICE : slice < LEAST_SLICE ? LEAST_SLICE : slice;
}

/* Fetches the values of ever fewer images until they fit; those of one event are taken as they are. */
static bl_status fetch_chunk(bl_emitter *e, bl_error *err) {
  bool over = true;
  for (int64_t n = e->most_images; over; n = e->chunk.images / 2) {
    if (e->chunk.n_events) BL_TRY(bl_chunk_untake(&e->chunk, &e->backlog, err));
    BL_TRY(bl_chunk_take(e->feed, &e->backlog, &e->wants, n, e->ctx->o.memory_budget / 2, &e->chunk, err));
    if (e->chunk.n_events == 0 || e->fetch.wanted.n_fields == 0) return BL_OK;
    bool last = e->chunk.images <= 2;
    BL_TRY(bl_chunk_fetch(e->feed, &e->chunk, &e->fetch.wanted, &e->fetch_schema, last ? INT64_MAX : value_budget(e),
                          &over, err));
  }
  return BL_OK;
}

static bl_status next_chunk(bl_emitter *e, bl_error *err) {
  bl_chunk_dispose(&e->chunk);
  BL_TRY(fetch_chunk(e, err));
  learn_width(e);
  e->images_done += e->chunk.images;
  return e->chunk.n_events ? bl_progress(e->ctx, "reading rows", e->images_done, e->feed->rows, err) : BL_OK;
}

static bl_status do_slice(bl_emitter *e, const bl_slice_start *start, bl_slice *s, struct ArrowArray *out,
                          bl_error *err) {
  BL_TRY(list_images(e, start, s, err));
  BL_TRY(take_values(e, s->begin, s->n, &s->values, err));
  BL_TRY(decide(e, s, err));
  BL_TRY(drop_images(e, s, err));
  return s->n ? put_together(e, s, out, err) : BL_OK;
}

static void drop_batch(void *user, void *batch) {
  bl_emitter *e = user;
  bl_array_release(batch);
  bl_free(e->ctx, batch);
}

static bl_status run_slice(void *user, size_t i, bl_ordered_slot *slot, bl_error *err) {
  bl_emitter *e = user;
  bl_slice s = {0};
  struct ArrowArray *out = bl_calloc(e->ctx, 1, sizeof *out);
  if (!out) return bl_nomem(err);
  bl_status st = do_slice(e, &e->slices[i], &s, out, err);
  slice_free(e, &s);
  if (st == BL_OK && out->release) st = bl_ordered_emit(slot, out);
  else if (st == BL_OK) {
    bl_free(e->ctx, out);
    return BL_OK;
  }
  if (st != BL_OK) drop_batch(e, out);
  return st;
}

/* Fetch the next chunk and set the workers on its slices. */
static bl_status start_chunk(bl_emitter *e, bl_error *err) {
  BL_TRY(next_chunk(e, err));
  if (e->chunk.n_events == 0) return BL_OK;
  BL_TRY(cut_slices(e, err));
  return bl_ordered_new(e->ctx, e->n_slices, 0, (size_t)e->ctx->o.threads + 1, 1, false, run_slice, drop_batch, e,
                        &e->batches, err);
}

bl_status bl_emitter_next(bl_emitter *e, struct ArrowArray *out, bl_error *err) {
  out->release = NULL;
  for (;;) {
    void *batch;
    if (!e->batches) BL_TRY(start_chunk(e, err));
    if (!e->batches) return BL_OK;
    BL_TRY(bl_ordered_next(e->batches, &batch, err));
    if (batch) {
      bl_array_move(batch, out);
      bl_free(e->ctx, batch);
      return BL_OK;
    }
    bl_ordered_free(e->batches);
    e->batches = NULL;
  }
}
