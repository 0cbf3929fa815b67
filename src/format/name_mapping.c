/* name_mapping.c: the name mapping of a table (property schema.name-mapping.default; spec: "Name Mapping
 * Serialization"). See metadata_json.h. */
#include "base/map.h"
#include "format/metadata_json.h"

static bl_status read_names(bl_arena *a, const bl_json *array, bl_mapped_field *out, bl_error *err) {
  out->names = bl_arena_alloc(a, array->n, sizeof *out->names);
  if (!out->names) return bl_nomem(err);
  for (const bl_json *v = array->first; v; v = v->next) BL_TRY(bl_json_string(v, &out->names[out->n_names++], err));
  return BL_OK;
}

static bl_status read_fields(bl_arena *a, const bl_json *array, bl_mapped_field **out, size_t *n, bl_error *err);

static bl_status read_field(bl_arena *a, const bl_json *v, bl_mapped_field *out, bl_error *err) {
  const bl_json *names, *fields;
  bool found;
  BL_TRY(bl_json_opt_i32(v, "field-id", &found, &out->id, err));
  if (!found) out->id = -1;
  if (found && out->id < 0) return bl_json_fail(err, BL_DAMAGED, v, "the field-id %d is negative", (int)out->id);
  BL_TRY(bl_json_member_opt(v, "names", BL_J_ARRAY, &names, err));
  if (names) BL_TRY(read_names(a, names, out, err));
  BL_TRY(bl_json_member_opt(v, "fields", BL_J_ARRAY, &fields, err));
  return fields ? read_fields(a, fields, &out->fields, &out->n_fields, err) : BL_OK;
}

static bl_status add_names(bl_map *seen, const bl_json *v, const bl_mapped_field *f, bl_error *err) {
  for (size_t i = 0; i < f->n_names; i++) {
    bool added;
    if (!bl_map_put(seen, f->names[i], 0, &added)) return bl_nomem(err);
    if (!added) return bl_json_fail(err, BL_DAMAGED, v, "the name \"%.*s\" is mapped twice", BL_STR_ARG(f->names[i]));
  }
  return BL_OK;
}

/* A name on one level may lead to one field only. */
static bl_status check_names(bl_arena *a, const bl_json *array, const bl_mapped_field *fields, bl_error *err) {
  bl_map *seen;
  size_t i = 0;
  bl_status st = bl_map_new(bl_arena_ctx(a), &seen, err);
  for (const bl_json *v = array->first; v && st == BL_OK; v = v->next) st = add_names(seen, v, &fields[i++], err);
  bl_map_free(seen);
  return st;
}

/* As deep as the document is, which the context bounds. */
static bl_status read_fields(bl_arena *a, const bl_json *array, bl_mapped_field **out, size_t *n, bl_error *err) {
  *out = bl_arena_calloc(a, array->n, sizeof **out);
  *n = array->n;
  if (!*out) return bl_nomem(err);
  size_t i = 0;
  for (const bl_json *v = array->first; v; v = v->next) BL_TRY(read_field(a, v, &(*out)[i++], err));
  return check_names(a, array, *out, err);
}

bl_status bl_name_mapping_parse(bl_arena *a, bl_str json, bl_name_mapping *out, bl_error *err) {
  bl_json *v;
  *out = (bl_name_mapping){0};
  bl_status st = bl_json_parse(a, json.p, json.n, &v, err);
  if (st == BL_OK && v->kind != BL_J_ARRAY) st = bl_json_fail(err, BL_DAMAGED, v, "a name mapping must be an array");
  if (st == BL_OK) st = read_fields(a, v, &out->fields, &out->n_fields, err);
  return st == BL_OK ? BL_OK : bl_fail_in(err, st, "name mapping");
}

const bl_mapped_field *bl_name_mapping_find(const bl_mapped_field *fields, size_t n, bl_str name) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < fields[i].n_names; j++)
      if (bl_str_eq(fields[i].names[j], name)) return &fields[i];
  return NULL;
}
