/* row_values.c: see row_values.h. */
#include "write/row_values.h"

static bool find(const bl_view *v, const bl_type *t, int32_t id, bl_row_source *out) {
  if (out->n == BL_LEN(out->path)) return false;
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    out->path[out->n++] = &v->children[i];
    if (f->id == id) {
      out->type = &f->type;
      return true;
    }
    if (f->type.kind == BL_STRUCT && find(&v->children[i], &f->type, id, out)) return true;
    out->n--;
  }
  return false;
}

bool bl_row_source_find(const bl_view *root, const bl_schema *schema, int32_t id, bl_row_source *out) {
  *out = (bl_row_source){0};
  return find(root, &schema->root, id, out);
}

void bl_row_value(const bl_row_source *s, int64_t i, bl_value *out) {
  *out = (bl_value){.kind = s->type->kind};
  for (size_t k = 0; k < s->n && !out->null; k++) out->null = bl_view_null(s->path[k], i);
  if (out->null) return;
  const bl_view *v = s->path[s->n - 1];
  switch (v->kind) {
  case BL_D_BOOL: out->u.b = bl_view_bool(v, i); break;
  case BL_D_INT32:
  case BL_D_DATE32: out->u.i = bl_view_i32(v, i); break;
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: out->u.i = bl_view_i64(v, i); break;
  case BL_D_FLOAT: out->u.f = bl_view_float(v, i); break;
  case BL_D_DOUBLE: out->u.d = bl_view_double(v, i); break;
  case BL_D_DECIMAL: out->u.dec = bl_view_decimal(v, i); break;
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: out->u.s = bl_view_bytes(v, i); break;
  default: out->null = true; /* nested: nothing that a transform takes */
  }
}
