/* mapping_make.c: a name mapping of a schema's own names (spec: "Name Mapping Serialization"). */
#include "write/foreign_file.h"

static bl_json *fields_of(bl_arena *a, const bl_type *t);

bl_json *bl_name_mapping_of(bl_arena *a, const bl_field *f) {
  bl_json *v = bl_json_new(a, BL_J_OBJECT), *names = bl_json_new(a, BL_J_ARRAY);
  bool ok = v && names && bl_json_set(a, v, "field-id", bl_json_new_i64(a, f->id)) &&
            bl_json_push(names, bl_json_new_str(a, f->name)) && bl_json_set(a, v, "names", names);
  if (ok && f->type.n_fields > 0) ok = bl_json_set(a, v, "fields", fields_of(a, &f->type));
  return ok ? v : NULL;
}

static bl_json *fields_of(bl_arena *a, const bl_type *t) {
  bl_json *v = bl_json_new(a, BL_J_ARRAY);
  for (size_t i = 0; v && i < t->n_fields; i++)
    if (!bl_json_push(v, bl_name_mapping_of(a, &t->fields[i]))) v = NULL;
  return v;
}

bl_status bl_name_mapping_make(bl_arena *a, const bl_schema *s, bl_str *json, bl_error *err) {
  *json = bl_json_text(a, fields_of(a, &s->root));
  return json->p ? BL_OK : bl_nomem(err);
}
