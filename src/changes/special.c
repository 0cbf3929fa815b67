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

static const char *type_name(const bl_event *ev, bool after) {
  if (ev->type == BL_INSERT) return "INSERT";
  if (ev->type == BL_DELETE) return "DELETE";
  return after ? "UPDATE_AFTER" : "UPDATE_BEFORE";
}

static const char *basis_name(uint8_t basis) {
  static const char *const names[] = {"row_id", "value", "equality_delete", "gap", "key"};
  return names[basis];
}

static bl_status put_text(bl_builder *b, bl_str s, bl_error *err) {
  return s.p ? bl_builder_bytes(b, s.p, s.n, err) : bl_builder_null(b, err);
}

static bl_str join_engine(bl_arena *a, const bl_snapshot *s) {
  bl_str name = bl_pairs_get(&s->summary, "engine-name"), version = bl_pairs_get(&s->summary, "engine-version");
  if (!name.p || !version.p) return name;
  return bl_arena_printf(a, "%.*s %.*s", BL_STR_ARG(name), BL_STR_ARG(version));
}

/* engine-name and engine-version of the summary. */
static bl_status put_engine(bl_emitter *e, uint32_t ordinal, bl_builder *b, bl_error *err) {
  size_t n = e->feed->range.n_steps;
  return put_text(b, e->engines[ordinal < n ? ordinal : n], err);
}

bl_status bl_special_prepare(bl_emitter *e, bl_error *err) {
  const struct ArrowSchema *schema;
  size_t n = e->feed->range.n_steps;
  for (size_t s = 0; s < BL_N_SPECIALS; s++) BL_TRY(bl_special_schema(e, (bl_special)s, &schema, err));
  e->engines = bl_arena_calloc(e->arena, n + 1, sizeof *e->engines);
  if (!e->engines) return bl_nomem(err);
  for (size_t i = 0; i <= n; i++) {
    const bl_snapshot *s = bl_feed_commit(e->feed, (uint32_t)i);
    if (!s || !bl_pairs_get(&s->summary, "engine-name").p) continue;
    e->engines[i] = join_engine(e->arena, s);
    if (!e->engines[i].p) return bl_nomem(err);
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

static bl_status put_long(bl_builder *b, int64_t v, bl_error *err) {
  return v == BL_NONE ? bl_builder_null(b, err) : bl_builder_int(b, v, err);
}

static bl_status put_special(bl_emitter *e, const bl_slice *s, int64_t i, bl_special what, bl_builder *b,
                             bl_error *err) {
  const bl_image *im = &s->images[i];
  const bl_event *ev = &e->chunk.events[im->event];
  const bl_snapshot *commit = bl_feed_commit(e->feed, ev->ordinal);
  int64_t id = im->after ? ev->after_id : ev->before_id;
  uint32_t file = im->after ? ev->after_file : ev->before_file;
  switch (what) {
  case BL_S_ROW_ID: return put_long(b, id == BL_NONE ? BL_NONE : id + im->step, err);
  case BL_S_LAST_UPDATED: return put_long(b, im->after ? ev->after_seq : ev->before_seq, err);
  case BL_S_CHANGE_TYPE: return put_text(b, bl_str_of(type_name(ev, im->after)), err);
  case BL_S_ORDINAL: return bl_builder_int(b, ev->ordinal, err);
  case BL_S_COMMIT: return bl_builder_int(b, commit->id, err);
  case BL_S_COMMIT_TIMESTAMP: return bl_builder_int(b, commit->timestamp_ms * 1000, err);
  case BL_S_COMMIT_SEQUENCE: return bl_builder_int(b, commit->sequence_number, err);
  case BL_S_CHANGED_COLUMNS: return put_changed(e, s, i, b, err);
  case BL_S_BASIS: return put_text(b, bl_str_of(basis_name(ev->basis)), err);
  case BL_S_FILE: return put_text(b, e->feed->files.items[file].entry->file.path, err);
  case BL_S_POS: return bl_builder_int(b, (im->after ? ev->after_pos : ev->before_pos) + im->step, err);
  case BL_S_OPERATION: {
    bl_str op = bl_snapshot_operation(commit);
    return put_text(b, op.n ? op : BL_STR_NONE, err);
  }
  case BL_S_ENGINE: return put_engine(e, ev->ordinal, b, err);
  case BL_N_SPECIALS: break;
  }
  return BL_OK;
}

bl_status bl_special_column(bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out, bl_error *err) {
  const struct ArrowSchema *schema;
  bl_builder *b = NULL;
  BL_TRY(bl_special_schema(e, what, &schema, err));
  bl_status st = bl_builder_new(e->ctx, schema, &b, err);
  for (int64_t i = 0; st == BL_OK && i < s->n; i++) st = put_special(e, s, i, what, b, err);
  if (st == BL_OK) st = bl_builder_finish(b, out, err);
  bl_builder_free(b);
  return st;
}
