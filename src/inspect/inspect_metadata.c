/* inspect_metadata.c: info, schema, spec and properties of a table. */
#include "inspect/inspect.h"
#include "inspect/value_text.h"

/* ---- info ---- */

/* The oldest snapshot of main from which on every one has a first-row-id, so that its rows have ids; NULL: none. */
static const bl_snapshot *identity_since(const bl_metadata *m) {
  const bl_snapshot *best = NULL;
  const bl_snapshot *s = m->has_current ? bl_metadata_snapshot(m, m->current_snapshot_id) : NULL;
  for (size_t steps = 0; s && s->has_first_row_id && steps < m->n_snapshots; steps++) {
    best = s;
    s = bl_metadata_parent(m, s);
  }
  return best;
}

static void print_identity(bl_buf *b, const bl_snapshot *s) {
  bool first = true;
  if (!s) {
    bl_buf_cstr(b, "null");
    return;
  }
  bl_buf_byte(b, '{');
  bl_text_key(b, &first, BL_STR("snapshot_id"));
  bl_print_i64(b, s->id);
  bl_text_key(b, &first, BL_STR("sequence_number"));
  bl_print_i64(b, s->sequence_number);
  bl_text_key(b, &first, BL_STR("timestamp"));
  bl_buf_byte(b, '"');
  bl_print_timestamp(b, s->timestamp_ms * 1000, 1000000, true);
  bl_buf_cstr(b, "\"}");
}

static void count_refs(const bl_metadata *m, int64_t *branches, int64_t *tags) {
  *branches = *tags = 0;
  for (size_t i = 0; i < m->n_refs; i++) ++*(m->refs[i].is_branch ? branches : tags);
}

static const char *form_name(const bl_table *t) {
  if (t->form == BL_FORM_CATALOG) return "catalog";
  return t->form == BL_FORM_HADOOP ? "hadoop" : "catalog files";
}

/* Their names only: what they hold is encrypted. */
static void print_keys(bl_buf *b, const bl_metadata *m) {
  bl_buf_byte(b, '[');
  for (size_t i = 0; i < m->n_keys; i++) {
    bool first = true;
    bl_buf_cstr(b, i ? ",{" : "{");
    bl_text_key(b, &first, BL_STR("key_id"));
    bl_print_json_str(b, m->keys[i].key_id);
    bl_text_key(b, &first, BL_STR("encrypted_by_id"));
    if (m->keys[i].encrypted_by.p) bl_print_json_str(b, m->keys[i].encrypted_by);
    else bl_buf_cstr(b, "null");
    bl_buf_byte(b, '}');
  }
  bl_buf_byte(b, ']');
}

static void info_cells(const bl_inspection *w, bl_report *r) {
  const bl_metadata *m = w->m;
  int64_t branches, tags;
  count_refs(m, &branches, &tags);
  bl_report_i64(r, m->format_version);
  bl_report_str(r, m->uuid);
  bl_report_str(r, m->location);
  bl_report_str(r, bl_str_of(w->t->metadata_path));
  bl_report_str(r, bl_str_of(form_name(w->t)));
  bl_report_bool(r, w->t->read_only);
  bl_report_ms(r, m->last_updated_ms);
  bl_report_i64_if(r, m->has_current, m->current_snapshot_id);
  bl_report_i64(r, m->last_sequence_number);
  bl_report_i64_if(r, m->format_version >= 3, m->next_row_id);
  bl_report_i64(r, m->current_schema_id);
  bl_report_i64(r, m->default_spec_id);
  bl_report_i64(r, m->default_order_id);
  print_identity(bl_report_json(r), identity_since(m));
  bl_report_i64(r, m->last_column_id);
  bl_report_i64(r, (int64_t)m->n_schemas);
  bl_report_i64(r, (int64_t)m->n_specs);
  bl_report_i64(r, (int64_t)m->n_snapshots);
  bl_report_i64(r, branches);
  bl_report_i64(r, tags);
  bl_report_i64(r, (int64_t)m->n_statistics);
  bl_report_i64(r, (int64_t)m->n_partition_statistics);
  print_keys(bl_report_json(r), m);
}

bl_status bl_inspect_info(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"format_version",
                                        "table_uuid",
                                        "location",
                                        "metadata_location",
                                        "form",
                                        "read_only",
                                        "last_updated_at",
                                        "current_snapshot_id",
                                        "last_sequence_number",
                                        "next_row_id",
                                        "current_schema_id",
                                        "default_spec_id",
                                        "default_sort_order_id",
                                        "identity_since",
                                        "last_column_id",
                                        "schemas",
                                        "specs",
                                        "snapshots",
                                        "branches",
                                        "tags",
                                        "statistics_files",
                                        "partition_statistics_files",
                                        "encryption_keys"};
  bl_report *r;
  BL_TRY(bl_inspect_object(w, columns, BL_LEN(columns), &r, err));
  info_cells(w, r);
  return bl_inspect_end(r, bl_report_end_row(r, err), err);
}

/* ---- documents of Iceberg's own JSON ---- */

static bl_status write_json(const bl_inspection *w, const bl_json *v, bl_error *err) {
  bl_buf b;
  if (!v) return bl_nomem(err);
  bl_buf_init(&b, w->t->ctx, BL_BUF_MAX);
  bl_json_print(&b, v, true);
  bl_buf_byte(&b, '\n');
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = w->sink->write(w->sink->user, b.p, b.n, err);
  bl_buf_free(&b);
  return st;
}

/* ---- schema ---- */

static bool is_identifier(const bl_schema *s, int32_t id) {
  for (size_t i = 0; i < s->n_identifier_ids; i++)
    if (s->identifier_ids[i] == id) return true;
  return false;
}

static void print_default(bl_report *r, const bl_field *f, const bl_value *v) {
  if (v) bl_text_value(bl_report_json(r), &f->type, v);
  else bl_report_null(r);
}

/* One row a field, depth first; names are dotted. */
static bl_status schema_rows(bl_report *r, const bl_schema *s, const bl_type *t, bl_buf *name, bl_error *err) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    size_t length = name->n;
    if (length) bl_buf_byte(name, '.');
    bl_buf_str(name, f->name);
    BL_TRY(bl_buf_ok(name, err));
    bl_report_i64(r, f->id);
    bl_report_str(r, (bl_str){(const char *)name->p, name->n});
    bl_buf *type = bl_report_json(r);
    if (bl_kind_is_nested(f->type.kind)) bl_buf_cstr(type, bl_kind_name(f->type.kind));
    else bl_type_print(type, &f->type);
    bl_report_bool(r, f->required);
    bl_report_bool(r, is_identifier(s, f->id));
    print_default(r, f, f->initial_default);
    print_default(r, f, f->write_default);
    bl_report_str(r, f->doc);
    BL_TRY(bl_report_end_row(r, err));
    BL_TRY(schema_rows(r, s, &f->type, name, err));
    name->n = length;
  }
  return BL_OK;
}

static bl_status schema_as_text(const bl_inspection *w, const bl_schema *s, bl_error *err) {
  static const char *const columns[] = {
      "id", "name", "type", "required", "identifier", "initial_default", "write_default", "doc"};
  bl_report *r;
  bl_buf name;
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  bl_buf_init(&name, w->t->ctx, BL_BUF_MAX);
  bl_status st = schema_rows(r, s, &s->root, &name, err);
  bl_buf_free(&name);
  return bl_inspect_end(r, st, err);
}

bl_status bl_inspect_schema(const bl_inspection *w, bl_error *err) {
  if (w->text) return schema_as_text(w, w->at.schema, err);
  return write_json(w, bl_schema_to_json(w->arena, w->at.schema), err);
}

/* ---- spec ---- */

static bl_status spec_as_text(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"spec_id",   "is_default", "field_id", "name",
                                        "transform", "source_id",  "source"};
  bl_report *r;
  bl_status st = BL_OK;
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < w->m->n_specs && st == BL_OK; i++)
    for (size_t k = 0; k < w->m->specs[i].n_fields && st == BL_OK; k++) {
      const bl_partition_field *f = &w->m->specs[i].fields[k];
      int32_t source = f->n_source_ids ? f->source_ids[0] : -1;
      bl_report_i64(r, w->m->specs[i].id);
      bl_report_bool(r, w->m->specs[i].id == w->m->default_spec_id);
      bl_report_i64(r, f->field_id);
      bl_report_str(r, f->name);
      bl_report_str(r, f->transform.text);
      bl_report_i64(r, source);
      bl_buf *b = bl_report_json(r);
      if (!bl_schema_full_name(bl_metadata_current_schema(w->m), source, b)) bl_buf_cstr(b, "null");
      st = bl_report_end_row(r, err);
    }
  return bl_inspect_end(r, st, err);
}

bl_status bl_inspect_spec(const bl_inspection *w, bl_error *err) {
  if (w->text) return spec_as_text(w, err);
  bl_arena *a = w->arena;
  bl_json *doc = bl_json_new(a, BL_J_OBJECT), *specs = bl_json_new(a, BL_J_ARRAY);
  bool ok = doc && specs && bl_json_set(a, doc, "default-spec-id", bl_json_new_i64(a, w->m->default_spec_id)) &&
            bl_json_set(a, doc, "specs", specs);
  for (size_t i = 0; i < w->m->n_specs && ok; i++) ok = bl_json_push(specs, bl_spec_to_json(a, &w->m->specs[i]));
  return ok ? write_json(w, doc, err) : bl_nomem(err);
}

/* ---- properties ---- */

bl_status bl_inspect_properties(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"key", "value"};
  const bl_pairs *p = &w->m->properties;
  if (!w->text) {
    bl_json *doc = bl_json_new(w->arena, BL_J_OBJECT);
    for (size_t i = 0; i < p->n && doc; i++)
      if (!bl_json_set(w->arena, doc, p->items[i].key.p, bl_json_new_str(w->arena, p->items[i].value))) doc = NULL;
    return write_json(w, doc, err);
  }
  bl_report *r;
  bl_status st = BL_OK;
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < p->n && st == BL_OK; i++) {
    bl_report_str(r, p->items[i].key);
    bl_report_str(r, p->items[i].value);
    st = bl_report_end_row(r, err);
  }
  return bl_inspect_end(r, st, err);
}
