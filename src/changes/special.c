/* special.c: the columns of a change feed that no data file holds. */
#include "changes/emit_private.h"
#include "rows/arrow_build.h"

typedef struct special_info {
  const char *name, *format;
  int32_t field_id; /* -1 = none */
  bool nullable;
} special_info;

static const special_info infos[] = {
    [BL_S_ROW_ID] = {"_row_id", "l", BL_ID_ROW_ID, true},
    [BL_S_LAST_UPDATED] = {"_last_updated_sequence_number", "l", BL_ID_LAST_UPDATED, true},
    [BL_S_CHANGE_TYPE] = {"_change_type", "u", BL_ID_CHANGE_TYPE, false},
    [BL_S_ORDINAL] = {"_change_ordinal", "i", BL_ID_CHANGE_ORDINAL, false},
    [BL_S_COMMIT] = {"_commit_snapshot_id", "l", BL_ID_COMMIT_SNAPSHOT, false},
    [BL_S_COMMIT_TIMESTAMP] = {"_commit_timestamp", "tsu:UTC", -1, false},
    [BL_S_COMMIT_SEQUENCE] = {"_commit_sequence_number", "l", -1, false},
    [BL_S_CHANGED_COLUMNS] = {"_changed_columns", "+l", -1, true},
    [BL_S_BASIS] = {"_change_basis", "u", -1, false},
    [BL_S_FILE] = {"_file", "u", BL_ID_FILE, false},
    [BL_S_POS] = {"_pos", "l", BL_ID_POS, false},
    [BL_S_OPERATION] = {"_operation", "u", -1, true},
    [BL_S_ENGINE] = {"_engine", "u", -1, true},
};

const char *bl_special_name(bl_special s) {
  return infos[s].name;
}

int bl_special_find(bl_str name) {
  for (size_t i = 0; i < BL_LEN(infos); i++)
    if (bl_str_is(name, infos[i].name)) return (int)i;
  return -1;
}

/* The columns that a predicate of changes may name besides the table's; _changed_columns is a list and not among them.
 */
const bl_schema *bl_changes_meta_schema(void) {
  static const bl_field fields[] = {
      {.id = BL_ID_ROW_ID, .name = BL_STR("_row_id"), .type = {.kind = BL_LONG}},
      {.id = BL_ID_LAST_UPDATED, .name = BL_STR("_last_updated_sequence_number"), .type = {.kind = BL_LONG}},
      {.id = BL_ID_CHANGE_TYPE, .name = BL_STR("_change_type"), .type = {.kind = BL_STRING}},
      {.id = BL_ID_CHANGE_ORDINAL, .name = BL_STR("_change_ordinal"), .type = {.kind = BL_INT}},
      {.id = BL_ID_COMMIT_SNAPSHOT, .name = BL_STR("_commit_snapshot_id"), .type = {.kind = BL_LONG}},
      {.id = BL_ID_COMMIT_TIMESTAMP, .name = BL_STR("_commit_timestamp"), .type = {.kind = BL_TIMESTAMPTZ}},
      {.id = BL_ID_COMMIT_SEQUENCE, .name = BL_STR("_commit_sequence_number"), .type = {.kind = BL_LONG}},
      {.id = BL_ID_CHANGE_BASIS, .name = BL_STR("_change_basis"), .type = {.kind = BL_STRING}},
      {.id = BL_ID_FILE, .name = BL_STR("_file"), .type = {.kind = BL_STRING}},
      {.id = BL_ID_POS, .name = BL_STR("_pos"), .type = {.kind = BL_LONG}},
      {.id = BL_ID_COMMIT_OPERATION, .name = BL_STR("_operation"), .type = {.kind = BL_STRING}},
      {.id = BL_ID_COMMIT_ENGINE, .name = BL_STR("_engine"), .type = {.kind = BL_STRING}},
  };
  static const bl_schema schema = {
      .id = -1, .root = {.kind = BL_STRUCT, .fields = (bl_field *)(uintptr_t)fields, .n_fields = BL_LEN(fields)}};
  return &schema;
}

int bl_special_of_field(const bl_field *f) {
  return f->id > BL_ID_FIRST_RESERVED ? bl_special_find(f->name) : -1;
}

static bl_status make_schema(bl_emitter *e, bl_special s, struct ArrowSchema *out, bl_error *err) {
  const special_info *in = &infos[s];
  bl_str name = bl_str_of(in->name);
  if (bl_schema_find_name(e->feed->range.schema, name)) name = bl_arena_printf(e->arena, "meta.%s", in->name);
  if (!name.p) return bl_nomem(err);
  BL_TRY(bl_aschema_new(e->ctx, in->format, name, in->nullable, s == BL_S_CHANGED_COLUMNS, out, err));
  bl_status st = BL_OK;
  if (s == BL_S_CHANGED_COLUMNS) st = bl_aschema_new(e->ctx, "u", BL_STR("element"), false, 0, out->children[0], err);
  if (st == BL_OK && in->field_id >= 0) {
    bl_str key = BL_STR("PARQUET:field_id"), value = bl_arena_printf(e->arena, "%d", in->field_id);
    st = value.p ? bl_aschema_metadata(e->ctx, out, &key, &value, 1, err) : bl_nomem(err);
  }
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

/* A user column wins the name, whether it is asked for or not. */
bl_status bl_special_schema(bl_emitter *e, bl_special s, const struct ArrowSchema **out, bl_error *err) {
  *out = &e->special_schema[s];
  return (*out)->release ? BL_OK : make_schema(e, s, &e->special_schema[s], err);
}

/* engine-name and engine-version of the summary. */
static bl_str join_engine(bl_arena *a, const bl_snapshot *s) {
  bl_str name = bl_pairs_get(&s->summary, "engine-name"), version = bl_pairs_get(&s->summary, "engine-version");
  if (!name.p || !version.p) return name;
  return bl_arena_printf(a, "%.*s %.*s", BL_STR_ARG(name), BL_STR_ARG(version));
}

static bl_status read_commit(bl_emitter *e, const bl_snapshot *s, bl_commit *out, bl_error *err) {
  if (!s) return BL_OK;
  bl_str operation = bl_snapshot_operation(s);
  *out = (bl_commit){.snapshot = s, .operation = operation.n ? operation : BL_STR_NONE};
  if (!bl_pairs_get(&s->summary, "engine-name").p) return BL_OK;
  out->engine = join_engine(e->arena, s);
  return out->engine.p ? BL_OK : bl_nomem(err);
}

bl_status bl_special_prepare(bl_emitter *e, bl_error *err) {
  const struct ArrowSchema *schema;
  size_t n = e->feed->range.n_steps;
  for (size_t s = 0; s < BL_N_SPECIALS; s++) BL_TRY(bl_special_schema(e, (bl_special)s, &schema, err));
  e->commits = bl_arena_calloc(e->arena, n + 1, sizeof *e->commits);
  if (!e->commits) return bl_nomem(err);
  for (size_t i = 0; i <= n; i++) BL_TRY(read_commit(e, bl_feed_commit(e->feed, (uint32_t)i), &e->commits[i], err));
  return BL_OK;
}

static const bl_commit *commit_of(const bl_emitter *e, const bl_event *ev) {
  size_t n = e->feed->range.n_steps;
  return &e->commits[ev->ordinal < n ? ev->ordinal : n];
}

/* ---- values of one image ---- */

static bl_str type_name(const bl_event *ev, bool after) {
  if (ev->type == BL_INSERT) return BL_STR("INSERT");
  if (ev->type == BL_DELETE) return BL_STR("DELETE");
  return after ? BL_STR("UPDATE_AFTER") : BL_STR("UPDATE_BEFORE");
}

static bl_str basis_name(uint8_t basis) {
  static const bl_str names[] = {BL_STR("row_id"), BL_STR("value"), BL_STR("equality_delete"), BL_STR("gap"),
                                 BL_STR("key")};
  return names[basis];
}

/* Of the columns of whole numbers; BL_NONE: null, where the column has any. */
static int64_t number_of(const bl_emitter *e, const bl_image *im, bl_special what) {
  const bl_event *ev = &e->chunk.events[im->event];
  switch (what) {
  case BL_S_ROW_ID: {
    int64_t id = im->after ? ev->after_id : ev->before_id;
    return id == BL_NONE ? BL_NONE : id + im->step;
  }
  case BL_S_LAST_UPDATED: return im->after ? ev->after_seq : ev->before_seq;
  case BL_S_ORDINAL: return ev->ordinal;
  case BL_S_COMMIT: return commit_of(e, ev)->snapshot->id;
  case BL_S_COMMIT_TIMESTAMP: return commit_of(e, ev)->snapshot->timestamp_ms * 1000;
  case BL_S_COMMIT_SEQUENCE: return commit_of(e, ev)->snapshot->sequence_number;
  default: return (im->after ? ev->after_pos : ev->before_pos) + im->step; /* BL_S_POS */
  }
}

/* Of the columns of text; p NULL: null. */
static bl_str text_of(const bl_emitter *e, const bl_image *im, bl_special what) {
  const bl_event *ev = &e->chunk.events[im->event];
  switch (what) {
  case BL_S_CHANGE_TYPE: return type_name(ev, im->after);
  case BL_S_BASIS: return basis_name(ev->basis);
  case BL_S_FILE: return e->feed->files.items[im->after ? ev->after_file : ev->before_file].entry->file.path;
  case BL_S_OPERATION: return commit_of(e, ev)->operation;
  default: return commit_of(e, ev)->engine; /* BL_S_ENGINE */
  }
}

/* ---- columns ---- */

/* Room for the validity of n rows, all set so far. */
static uint8_t *all_valid(struct ArrowArray *a, int64_t n) {
  size_t bytes = ((size_t)n + 7) / 8;
  uint8_t *bits = bl_array_buffer(a, 0, bytes);
  if (!bits) return NULL;
  memset(bits, 0xff, bytes);
  if (n % 8) bits[bytes - 1] = (uint8_t)((1 << n % 8) - 1);
  return bits;
}

/* Row i is null. */
static bl_status set_null(struct ArrowArray *a, int64_t i, uint8_t **bits, bl_error *err) {
  if (!*bits && !(*bits = all_valid(a, a->length))) return bl_nomem(err);
  (*bits)[i >> 3] &= (uint8_t) ~(1 << (i & 7));
  a->null_count++;
  return BL_OK;
}

static bl_status fill_longs(const bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out,
                            bl_error *err) {
  uint8_t *bits = NULL;
  int64_t *to = bl_array_buffer(out, 1, (size_t)s->n * sizeof *to);
  if (!to) return bl_nomem(err);
  for (int64_t i = 0; i < s->n; i++) {
    to[i] = number_of(e, &s->images[i], what);
    if (to[i] != BL_NONE || !infos[what].nullable) continue;
    to[i] = 0;
    BL_TRY(set_null(out, i, &bits, err));
  }
  return BL_OK;
}

static bl_status fill_ints(const bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out,
                           bl_error *err) {
  int32_t *to = bl_array_buffer(out, 1, (size_t)s->n * sizeof *to);
  if (!to) return bl_nomem(err);
  for (int64_t i = 0; i < s->n; i++) to[i] = (int32_t)number_of(e, &s->images[i], what);
  return BL_OK;
}

static bl_status fill_offsets(const bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out,
                              bl_error *err) {
  uint8_t *bits = NULL;
  size_t end = 0;
  int32_t *to = bl_array_buffer(out, 1, ((size_t)s->n + 1) * sizeof *to);
  if (!to) return bl_nomem(err);
  to[0] = 0;
  for (int64_t i = 0; i < s->n; i++) {
    bl_str text = text_of(e, &s->images[i], what);
    if (!text.p) BL_TRY(set_null(out, i, &bits, err));
    end += text.n;
    if (end > INT32_MAX)
      return bl_fail(err, BL_UNSUPPORTED, "column %s: more than 2 GiB in one batch", infos[what].name);
    to[i + 1] = (int32_t)end;
  }
  return BL_OK;
}

static bl_status fill_texts(const bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out,
                            bl_error *err) {
  BL_TRY(fill_offsets(e, s, what, out, err));
  const int32_t *offsets = out->buffers[1];
  char *to = bl_array_buffer(out, 2, (size_t)offsets[s->n]);
  if (!to) return bl_nomem(err);
  for (int64_t i = 0; i < s->n; i++) {
    bl_str text = text_of(e, &s->images[i], what);
    if (text.n) memcpy(to + offsets[i], text.p, text.n);
  }
  return BL_OK;
}

static bl_status put_changed(bl_emitter *e, const bl_slice *s, int64_t i, bl_builder *b, bl_error *err) {
  const bl_event *ev = &e->chunk.events[s->images[i].event];
  const bl_type *root = &e->feed->range.schema->root;
  if (ev->type != BL_UPDATE) return bl_builder_null(b, err);
  const uint8_t *d = s->differs + (size_t)i * root->n_fields;
  for (size_t c = 0; c < root->n_fields; c++)
    if (d[c]) BL_TRY(bl_builder_bytes(bl_builder_child(b, 0), root->fields[c].name.p, root->fields[c].name.n, err));
  return bl_builder_close(b, err);
}

static bl_status changed_columns(bl_emitter *e, const bl_slice *s, struct ArrowArray *out, bl_error *err) {
  const struct ArrowSchema *schema;
  bl_builder *b = NULL;
  BL_TRY(bl_special_schema(e, BL_S_CHANGED_COLUMNS, &schema, err));
  bl_status st = bl_builder_new(e->ctx, schema, &b, err);
  for (int64_t i = 0; st == BL_OK && i < s->n; i++) st = put_changed(e, s, i, b, err);
  if (st == BL_OK) st = bl_builder_finish(b, out, err);
  bl_builder_free(b);
  return st;
}

bl_status bl_special_column(bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out, bl_error *err) {
  if (what == BL_S_CHANGED_COLUMNS) return changed_columns(e, s, out, err);
  bool text = infos[what].format[0] == 'u';
  BL_TRY(bl_array_new(e->ctx, s->n, text ? 3 : 2, 0, out, err));
  bl_status st = text                           ? fill_texts(e, s, what, out, err)
                 : infos[what].format[0] == 'i' ? fill_ints(e, s, what, out, err)
                                                : fill_longs(e, s, what, out, err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}
