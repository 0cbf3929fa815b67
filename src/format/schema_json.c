/* schema_json.c: schemas, partition specs and sort orders as JSON (spec: "Appendix C"). See metadata_json.h.
 *
 * Checked here: what a schema promises by itself (unique ids, unique names in a struct, defaults of the right type).
 * What other parts of the metadata promise about it is checked in metadata_check.c. */
#include "base/map.h"
#include "format/metadata_json.h"

/* ---- schemas: reading ---- */

typedef struct schema_reader {
  bl_arena *a;
  bl_imap *ids; /* of the fields so far */
  int32_t highest;
  bl_error *err;
} schema_reader;

static bl_status read_type(schema_reader *r, const bl_json *v, bl_type *out);

static bl_status read_id(schema_reader *r, const bl_json *obj, const char *key, int32_t *out) {
  bool added;
  BL_TRY(bl_json_get_i32(obj, key, out, r->err));
  if (*out < 0) return bl_json_fail(r->err, BL_DAMAGED, obj, "the field id %d is negative", (int)*out);
  if (!bl_imap_put(r->ids, *out, 0, &added)) return bl_nomem(r->err);
  if (!added) return bl_json_fail(r->err, BL_DAMAGED, obj, "the field id %d is used twice in the schema", (int)*out);
  if (*out > r->highest) r->highest = *out;
  return BL_OK;
}

static bl_status read_member_type(schema_reader *r, const bl_json *obj, const char *key, bl_type *out) {
  const bl_json *v = bl_json_get(obj, key);
  if (!v) return bl_json_fail(r->err, BL_DAMAGED, obj, "%s is missing", key);
  return read_type(r, v, out);
}

static bl_status read_default(schema_reader *r, const bl_json *field, const char *key, const bl_type *t,
                              const bl_value **out) {
  const bl_json *v = bl_json_get(field, key);
  if (!v || v->kind == BL_J_NULL) return BL_OK;
  bl_value *value = bl_arena_calloc(r->a, 1, sizeof *value);
  if (!value) return bl_nomem(r->err);
  BL_TRY(bl_value_from_json(r->a, t, v, value, r->err));
  *out = value;
  return BL_OK;
}

static bl_status read_field(schema_reader *r, const bl_json *v, bl_field *out) {
  BL_TRY(read_id(r, v, "id", &out->id));
  BL_TRY(bl_json_get_str(v, "name", &out->name, r->err));
  BL_TRY(bl_json_get_bool(v, "required", &out->required, r->err));
  BL_TRY(read_member_type(r, v, "type", &out->type));
  if (out->required && out->type.kind == BL_KIND_UNKNOWN)
    return bl_json_fail(r->err, BL_DAMAGED, v, "a column of type unknown cannot be required");
  BL_TRY(bl_json_opt_str(v, "doc", &out->doc, r->err));
  BL_TRY(read_default(r, v, "initial-default", &out->type, &out->initial_default));
  return read_default(r, v, "write-default", &out->type, &out->write_default);
}

static bl_status check_names(schema_reader *r, const bl_json *fields, const bl_type *t) {
  bl_map *names;
  bl_status st = bl_map_new(bl_arena_ctx(r->a), &names, r->err);
  const bl_json *v = fields->first;
  for (size_t i = 0; st == BL_OK && i < t->n_fields; i++, v = v->next) {
    bool added;
    if (!bl_map_put(names, t->fields[i].name, i, &added)) st = bl_nomem(r->err);
    else if (!added)
      st = bl_json_fail(r->err, BL_DAMAGED, v, "the name \"%.*s\" is used twice in one struct",
                        BL_STR_ARG(t->fields[i].name));
  }
  bl_map_free(names);
  return st;
}

static bl_status new_fields(schema_reader *r, bl_type *out, size_t n) {
  out->fields = bl_arena_calloc(r->a, n, sizeof *out->fields);
  out->n_fields = n;
  return out->fields ? BL_OK : bl_nomem(r->err);
}

static bl_status read_struct(schema_reader *r, const bl_json *v, bl_type *out) {
  const bl_json *fields;
  out->kind = BL_STRUCT;
  BL_TRY(bl_json_member(v, "fields", BL_J_ARRAY, &fields, r->err));
  BL_TRY(new_fields(r, out, fields->n));
  size_t i = 0;
  for (const bl_json *f = fields->first; f; f = f->next) BL_TRY(read_field(r, f, &out->fields[i++]));
  return check_names(r, fields, out);
}

static bl_status read_list(schema_reader *r, const bl_json *v, bl_type *out) {
  out->kind = BL_LIST;
  BL_TRY(new_fields(r, out, 1));
  out->fields[0].name = BL_STR("element");
  BL_TRY(read_id(r, v, "element-id", &out->fields[0].id));
  BL_TRY(bl_json_get_bool(v, "element-required", &out->fields[0].required, r->err));
  return read_member_type(r, v, "element", &out->fields[0].type);
}

static bl_status read_map(schema_reader *r, const bl_json *v, bl_type *out) {
  out->kind = BL_MAP;
  BL_TRY(new_fields(r, out, 2));
  bl_field *key = &out->fields[0], *value = &out->fields[1];
  key->name = BL_STR("key");
  key->required = true;
  value->name = BL_STR("value");
  BL_TRY(read_id(r, v, "key-id", &key->id));
  BL_TRY(read_member_type(r, v, "key", &key->type));
  BL_TRY(read_id(r, v, "value-id", &value->id));
  BL_TRY(bl_json_get_bool(v, "value-required", &value->required, r->err));
  return read_member_type(r, v, "value", &value->type);
}

/* As deep as the document is, which the context bounds. */
static bl_status read_type(schema_reader *r, const bl_json *v, bl_type *out) {
  bl_str name;
  if (v->kind == BL_J_STRING) {
    bl_status st = bl_type_parse_primitive(r->a, v->text, out, r->err);
    return st == BL_OK ? BL_OK : bl_json_fail_in(r->err, st, v);
  }
  *out = (bl_type){0};
  BL_TRY(bl_json_get_str(v, "type", &name, r->err));
  if (bl_str_is(name, "struct")) return read_struct(r, v, out);
  if (bl_str_is(name, "list")) return read_list(r, v, out);
  if (bl_str_is(name, "map")) return read_map(r, v, out);
  return bl_json_fail(r->err, BL_UNSUPPORTED, v, "the nested type \"%.*s\" is not known", BL_STR_ARG(name));
}

static bl_status read_ids(bl_arena *a, const bl_json *array, int32_t **out, size_t *n, bl_error *err) {
  *out = bl_arena_alloc(a, array->n, sizeof **out);
  if (!*out) return bl_nomem(err);
  *n = 0;
  for (const bl_json *v = array->first; v; v = v->next) BL_TRY(bl_json_i32(v, &(*out)[(*n)++], err));
  return BL_OK;
}

static bl_status read_schema(schema_reader *r, const bl_json *v, bl_schema *out) {
  const bl_json *ids;
  bl_str type;
  bool found;
  BL_TRY(bl_json_get_str(v, "type", &type, r->err));
  if (!bl_str_is(type, "struct")) return bl_json_fail(r->err, BL_DAMAGED, v, "the type of a schema must be \"struct\"");
  BL_TRY(bl_json_opt_i32(v, "schema-id", &found, &out->id, r->err));
  BL_TRY(read_struct(r, v, &out->root));
  out->highest_id = r->highest;
  BL_TRY(bl_json_member_opt(v, "identifier-field-ids", BL_J_ARRAY, &ids, r->err));
  return ids ? read_ids(r->a, ids, &out->identifier_ids, &out->n_identifier_ids, r->err) : BL_OK;
}

bl_status bl_schema_from_json(bl_arena *a, const bl_json *v, bl_schema *out, bl_error *err) {
  schema_reader r = {.a = a, .err = err};
  *out = (bl_schema){0};
  BL_TRY(bl_imap_new(bl_arena_ctx(a), &r.ids, err));
  bl_status st = read_schema(&r, v, out);
  bl_imap_free(r.ids);
  return st;
}

/* ---- schemas: writing ---- */

static bool set_str(bl_arena *a, bl_json *o, const char *key, bl_str s) {
  return bl_json_set(a, o, key, bl_json_new_str(a, s));
}

static bool set_i64(bl_arena *a, bl_json *o, const char *key, int64_t v) {
  return bl_json_set(a, o, key, bl_json_new_i64(a, v));
}

static bool set_bool(bl_arena *a, bl_json *o, const char *key, bool b) {
  return bl_json_set(a, o, key, bl_json_new_bool(a, b));
}

static bl_json *type_to_json(bl_arena *a, const bl_type *t);

static bool set_default(bl_arena *a, bl_json *o, const char *key, const bl_type *t, const bl_value *v) {
  return !v || bl_json_set(a, o, key, bl_value_to_json(a, t, v));
}

static bl_json *field_to_json(bl_arena *a, const bl_field *f) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && set_i64(a, o, "id", f->id) && set_str(a, o, "name", f->name) &&
            set_bool(a, o, "required", f->required) && bl_json_set(a, o, "type", type_to_json(a, &f->type)) &&
            (!f->doc.p || set_str(a, o, "doc", f->doc)) &&
            set_default(a, o, "initial-default", &f->type, f->initial_default) &&
            set_default(a, o, "write-default", &f->type, f->write_default);
  return ok ? o : NULL;
}

static bool set_fields(bl_arena *a, bl_json *o, const bl_type *t) {
  bl_json *fields = bl_json_new(a, BL_J_ARRAY);
  for (size_t i = 0; fields && i < t->n_fields; i++)
    if (!bl_json_push(fields, field_to_json(a, &t->fields[i]))) return false;
  return bl_json_set(a, o, "fields", fields);
}

static bool set_list(bl_arena *a, bl_json *o, const bl_field *element) {
  return set_i64(a, o, "element-id", element->id) && bl_json_set(a, o, "element", type_to_json(a, &element->type)) &&
         set_bool(a, o, "element-required", element->required);
}

static bool set_map(bl_arena *a, bl_json *o, const bl_field *key, const bl_field *value) {
  return set_i64(a, o, "key-id", key->id) && bl_json_set(a, o, "key", type_to_json(a, &key->type)) &&
         set_i64(a, o, "value-id", value->id) && bl_json_set(a, o, "value", type_to_json(a, &value->type)) &&
         set_bool(a, o, "value-required", value->required);
}

static bl_json *primitive_to_json(bl_arena *a, const bl_type *t) {
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_type_print(&b, t);
  bl_json *v = b.failed ? NULL : bl_json_new_str(a, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  return v;
}

static bl_json *type_to_json(bl_arena *a, const bl_type *t) {
  if (!bl_kind_is_nested(t->kind)) return primitive_to_json(a, t);
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  if (!o || !set_str(a, o, "type", bl_str_of(bl_kind_name(t->kind)))) return NULL;
  bool ok = t->kind == BL_STRUCT ? set_fields(a, o, t)
            : t->kind == BL_LIST ? set_list(a, o, &t->fields[0])
                                 : set_map(a, o, &t->fields[0], &t->fields[1]);
  return ok ? o : NULL;
}

static bool set_ids(bl_arena *a, bl_json *o, const char *key, const int32_t *ids, size_t n) {
  bl_json *list = bl_json_new(a, BL_J_ARRAY);
  for (size_t i = 0; list && i < n; i++)
    if (!bl_json_push(list, bl_json_new_i64(a, ids[i]))) return false;
  return bl_json_set(a, o, key, list);
}

bl_json *bl_schema_to_json(bl_arena *a, const bl_schema *s) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && set_str(a, o, "type", BL_STR("struct")) && set_i64(a, o, "schema-id", s->id) &&
            (!s->n_identifier_ids || set_ids(a, o, "identifier-field-ids", s->identifier_ids, s->n_identifier_ids)) &&
            set_fields(a, o, &s->root);
  return ok ? o : NULL;
}

/* ---- partition specs and sort orders ---- */

enum { MOST_PARTITION_FIELDS = 1000000 };

/* "source-id", or "source-ids" of a transform with several arguments; both only where they say the same. */
static bl_status read_sources(bl_arena *a, const bl_json *v, int32_t **out, size_t *n, bl_error *err) {
  const bl_json *many;
  int32_t one;
  bool found;
  BL_TRY(bl_json_opt_i32(v, "source-id", &found, &one, err));
  BL_TRY(bl_json_member_opt(v, "source-ids", BL_J_ARRAY, &many, err));
  if (many && many->n) {
    BL_TRY(read_ids(a, many, out, n, err));
    if (found && one != (*out)[0])
      return bl_json_fail(err, BL_DAMAGED, v, "source-id %d and source-ids disagree", (int)one);
    return BL_OK;
  }
  if (!found) return bl_json_fail(err, BL_DAMAGED, v, "source-id is missing");
  *out = bl_arena_alloc(a, 1, sizeof **out);
  if (!*out) return bl_nomem(err);
  **out = one;
  *n = 1;
  return BL_OK;
}

static bl_status read_transform(bl_arena *a, const bl_json *v, bl_transform *out, bl_error *err) {
  const bl_json *text;
  BL_TRY(bl_json_member(v, "transform", BL_J_STRING, &text, err));
  bl_status st = bl_transform_parse(a, text->text, out, err);
  return st == BL_OK ? BL_OK : bl_json_fail_in(err, st, text);
}

/* Format version 1 may leave the field ids out: they count from 1000. */
static bl_status read_partition_field(bl_arena *a, const bl_json *v, int32_t position, bl_partition_field *out,
                                      bl_error *err) {
  bool found;
  BL_TRY(read_sources(a, v, &out->source_ids, &out->n_source_ids, err));
  BL_TRY(bl_json_get_str(v, "name", &out->name, err));
  BL_TRY(read_transform(a, v, &out->transform, err));
  out->field_id = BL_FIRST_PARTITION_ID + position;
  BL_TRY(bl_json_opt_i32(v, "field-id", &found, &out->field_id, err));
  return BL_OK;
}

static bl_status check_partition_ids(bl_arena *a, const bl_json *array, const bl_partition_spec *s, bl_error *err) {
  bl_imap *ids;
  bl_status st = bl_imap_new(bl_arena_ctx(a), &ids, err);
  const bl_json *v = array->first;
  for (size_t i = 0; st == BL_OK && i < s->n_fields; i++, v = v->next) {
    bool added;
    if (!bl_imap_put(ids, s->fields[i].field_id, i, &added)) st = bl_nomem(err);
    else if (!added)
      st = bl_json_fail(err, BL_DAMAGED, v, "the partition field id %d is used twice", (int)s->fields[i].field_id);
  }
  bl_imap_free(ids);
  return st;
}

bl_status bl_spec_fields_from_json(bl_arena *a, const bl_json *array, bl_partition_spec *out, bl_error *err) {
  if (array->kind != BL_J_ARRAY)
    return bl_json_fail(err, BL_DAMAGED, array, "the fields of a partition spec must be an array");
  if (array->n > MOST_PARTITION_FIELDS)
    return bl_json_fail(err, BL_DAMAGED, array, "%zu partition fields are too many", array->n);
  out->fields = bl_arena_calloc(a, array->n, sizeof *out->fields);
  out->n_fields = array->n;
  if (!out->fields) return bl_nomem(err);
  int32_t i = 0;
  for (const bl_json *v = array->first; v; v = v->next, i++)
    BL_TRY(read_partition_field(a, v, i, &out->fields[i], err));
  return check_partition_ids(a, array, out, err);
}

static bool set_sources(bl_arena *a, bl_json *o, const int32_t *ids, size_t n) {
  return n == 1 ? set_i64(a, o, "source-id", ids[0]) : set_ids(a, o, "source-ids", ids, n);
}

static bl_json *partition_field_to_json(bl_arena *a, const bl_partition_field *f) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && set_sources(a, o, f->source_ids, f->n_source_ids) && set_i64(a, o, "field-id", f->field_id) &&
            set_str(a, o, "name", f->name) && set_str(a, o, "transform", f->transform.text);
  return ok ? o : NULL;
}

bl_json *bl_spec_to_json(bl_arena *a, const bl_partition_spec *s) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT), *fields = bl_json_new(a, BL_J_ARRAY);
  for (size_t i = 0; fields && i < s->n_fields; i++)
    if (!bl_json_push(fields, partition_field_to_json(a, &s->fields[i]))) return NULL;
  return o && set_i64(a, o, "spec-id", s->id) && bl_json_set(a, o, "fields", fields) ? o : NULL;
}

/* One of two words. */
static bl_status read_choice(const bl_json *v, const char *key, const char *no, const char *yes, bool *out,
                             bl_error *err) {
  const bl_json *text;
  BL_TRY(bl_json_member(v, key, BL_J_STRING, &text, err));
  *out = bl_str_is(text->text, yes);
  if (*out || bl_str_is(text->text, no)) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, text, "\"%.*s\" is neither \"%s\" nor \"%s\"", BL_STR_ARG(text->text), no, yes);
}

static bl_status read_sort_field(bl_arena *a, const bl_json *v, bl_sort_field *out, bl_error *err) {
  BL_TRY(read_sources(a, v, &out->source_ids, &out->n_source_ids, err));
  BL_TRY(read_transform(a, v, &out->transform, err));
  BL_TRY(read_choice(v, "direction", "asc", "desc", &out->descending, err));
  return read_choice(v, "null-order", "nulls-first", "nulls-last", &out->nulls_last, err);
}

bl_status bl_sort_order_from_json(bl_arena *a, const bl_json *v, bl_sort_order *out, bl_error *err) {
  const bl_json *fields;
  *out = (bl_sort_order){0};
  BL_TRY(bl_json_get_i32(v, "order-id", &out->id, err));
  BL_TRY(bl_json_member(v, "fields", BL_J_ARRAY, &fields, err));
  out->fields = bl_arena_calloc(a, fields->n, sizeof *out->fields);
  out->n_fields = fields->n;
  if (!out->fields) return bl_nomem(err);
  size_t i = 0;
  for (const bl_json *f = fields->first; f; f = f->next) BL_TRY(read_sort_field(a, f, &out->fields[i++], err));
  return BL_OK;
}

static bl_json *sort_field_to_json(bl_arena *a, const bl_sort_field *f) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && set_str(a, o, "transform", f->transform.text) && set_sources(a, o, f->source_ids, f->n_source_ids) &&
            set_str(a, o, "direction", bl_str_of(f->descending ? "desc" : "asc")) &&
            set_str(a, o, "null-order", bl_str_of(f->nulls_last ? "nulls-last" : "nulls-first"));
  return ok ? o : NULL;
}

bl_json *bl_sort_order_to_json(bl_arena *a, const bl_sort_order *order) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT), *fields = bl_json_new(a, BL_J_ARRAY);
  for (size_t i = 0; fields && i < order->n_fields; i++)
    if (!bl_json_push(fields, sort_field_to_json(a, &order->fields[i]))) return NULL;
  return o && set_i64(a, o, "order-id", order->id) && bl_json_set(a, o, "fields", fields) ? o : NULL;
}
