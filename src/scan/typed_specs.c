/* typed_specs.c: see typed_specs.h. */
#include "scan/typed_specs.h"

bl_status bl_typed_specs_make(bl_arena *a, const bl_metadata *md, bl_typed_specs *out, bl_error *err) {
  const bl_schema **others = bl_arena_alloc(a, md->n_schemas, sizeof *others);
  out->items = bl_arena_calloc(a, md->n_specs, sizeof *out->items);
  out->n = md->n_specs;
  if (!out->items || !others) return bl_nomem(err);
  for (size_t i = 0; i < md->n_schemas; i++) others[i] = &md->schemas[md->n_schemas - 1 - i];
  for (size_t i = 0; i < md->n_specs; i++) {
    const bl_partition_spec *s = &md->specs[i];
    out->items[i].spec = s;
    out->items[i].types = bl_arena_calloc(a, s->n_fields, sizeof *out->items[i].types);
    if (!out->items[i].types) return bl_nomem(err);
    bl_spec_types(s, bl_metadata_current_schema(md), others, md->n_schemas, out->items[i].types);
  }
  return BL_OK;
}

const bl_typed_spec *bl_typed_specs_get(const bl_typed_specs *s, int32_t spec_id) {
  for (size_t i = 0; i < s->n; i++)
    if (s->items[i].spec->id == spec_id) return &s->items[i];
  return NULL;
}

bool bl_manifest_may_live(const bl_manifest_file *m) {
  return m->added_files != 0 || m->existing_files != 0;
}

/* Can the two be compared? A source may have been promoted since the tuple was written. */
static bool comparable(bl_kind a, bl_kind b) {
  if (a == b) return true;
  bool whole = (a == BL_INT || a == BL_LONG) && (b == BL_INT || b == BL_LONG);
  return whole || ((a == BL_FLOAT || a == BL_DOUBLE) && (b == BL_FLOAT || b == BL_DOUBLE));
}

static bool bound_of(const bl_type *t, bl_str bytes, const bl_value *v, bl_value *out) {
  return bytes.p && bl_value_from_bytes(t, bytes, out) && comparable(out->kind, v->kind) && !bl_value_is_nan(out);
}

/* Missing, unreadable and inverted bounds say nothing. */
static bool may_hold_value(const bl_field_summary *s, const bl_type *t, const bl_value *v) {
  bl_value low, high;
  if (v->null) return s->contains_null;
  if (bl_value_is_nan(v)) return !s->has_nan || s->contains_nan;
  if (t->kind == BL_KIND_UNKNOWN || bl_kind_is_nested(t->kind)) return true;
  if (!bound_of(t, s->lower, v, &low) || !bound_of(t, s->upper, v, &high) || bl_value_cmp(&low, &high) > 0) return true;
  return bl_value_cmp(&low, v) <= 0 && bl_value_cmp(v, &high) <= 0;
}

bool bl_manifest_may_hold(const bl_manifest_file *m, const bl_typed_spec *s, const bl_value *tuple, size_t n) {
  if (!s || !m->has_partitions || m->n_partitions != n || s->spec->n_fields != n) return true;
  for (size_t i = 0; i < n; i++)
    if (!may_hold_value(&m->partitions[i], &s->types[i], &tuple[i])) return false;
  return true;
}
