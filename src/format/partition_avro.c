/* partition_avro.c: see partition_avro.h.
 *
 * A manifest keeps the types that its partition had when it was written. Since then a source column may have been
 * promoted, so each field is decoded in the file's type and given in the table's (spec: "Schema Evolution"). Where the
 * table's type is not known (a transform or a dropped column nobody knows) the file's own type is kept. */
#include "format/partition_avro.h"

/* ---- types ---- */

static bool logical_is(const bl_avro_schema *s, const char *name) {
  return s->logical.p && bl_str_is(s->logical, name);
}

/* The Iceberg type that an Avro type stands for (spec: Appendix A, "Avro"); false for nested ones. */
static bool type_of(const bl_avro_schema *s, bl_type *out) {
  *out = (bl_type){0};
  switch (s->kind) {
  case BL_A_BOOLEAN: out->kind = BL_BOOLEAN; return true;
  case BL_A_INT: out->kind = logical_is(s, "date") ? BL_DATE : BL_INT; return true;
  case BL_A_LONG:
    out->kind = BL_LONG;
    if (logical_is(s, "time-micros")) out->kind = BL_TIME;
    if (logical_is(s, "timestamp-micros")) out->kind = s->adjust_to_utc ? BL_TIMESTAMPTZ : BL_TIMESTAMP;
    if (logical_is(s, "timestamp-nanos")) out->kind = s->adjust_to_utc ? BL_TIMESTAMPTZ_NS : BL_TIMESTAMP_NS;
    return true;
  case BL_A_FLOAT: out->kind = BL_FLOAT; return true;
  case BL_A_DOUBLE: out->kind = BL_DOUBLE; return true;
  case BL_A_STRING: out->kind = logical_is(s, "uuid") ? BL_UUID : BL_STRING; return true;
  case BL_A_BYTES:
  case BL_A_FIXED:
    out->kind = s->kind == BL_A_BYTES ? BL_BINARY : BL_FIXED;
    out->length = s->size;
    if (s->kind == BL_A_FIXED && logical_is(s, "uuid") && s->size == 16) out->kind = BL_UUID;
    if (!logical_is(s, "decimal")) return true;
    *out = (bl_type){.kind = BL_DECIMAL, .precision = s->precision, .scale = s->scale};
    return true;
  default: return false;
  }
}

static bool is_int(bl_kind k) {
  return k == BL_INT || k == BL_DATE;
}

static bool is_long(bl_kind k) {
  return k == BL_LONG || (k >= BL_TIME && k <= BL_TIMESTAMPTZ_NS);
}

static bool is_bytes(bl_kind k) {
  return k == BL_STRING || k == BL_BINARY || k == BL_FIXED || k == BL_UUID;
}

/* How values of step->from become step->to; false where they cannot. */
static bool form_of(bl_partition_step *step, const bl_avro_schema *s) {
  bl_kind from = step->from.kind, to = step->to.kind;
  if (is_int(from) && (to == BL_TIMESTAMP || to == BL_TIMESTAMP_NS)) {
    step->form = BL_PF_DAYS_AS_TIME;
    step->from.kind = BL_DATE;
    return true;
  }
  if ((is_int(from) || is_long(from)) && (is_int(to) || is_long(to))) {
    step->form = BL_PF_INTEGER;
    step->narrow = is_int(to);
    return !is_int(from) || is_int(to) || to == BL_LONG;
  }
  if (from == BL_FLOAT && to == BL_DOUBLE) {
    step->form = BL_PF_FLOAT_AS_DOUBLE;
    return true;
  }
  if (to == BL_DECIMAL) {
    step->form = BL_PF_DECIMAL;
    return from == BL_DECIMAL ? step->from.scale == step->to.scale : from == BL_BINARY || from == BL_FIXED;
  }
  if (to == BL_UUID && s->kind == BL_A_STRING) {
    step->form = BL_PF_UUID_TEXT;
    return true;
  }
  if (is_bytes(from) && is_bytes(to)) {
    step->form = BL_PF_BYTES;
    return to != BL_UUID || (s->kind == BL_A_FIXED && s->size == 16);
  }
  step->form = from == BL_BOOLEAN ? BL_PF_BOOLEAN : from == BL_FLOAT ? BL_PF_FLOAT : BL_PF_DOUBLE;
  return from == to && (from == BL_BOOLEAN || from == BL_FLOAT || from == BL_DOUBLE);
}

static bl_status misfit(const bl_partition_field *f, const bl_avro_schema *s, const bl_type *to, bl_error *err) {
  return bl_fail(err, BL_DAMAGED, "Avro schema: partition field %d %.*s: Avro type %s where the table has %s",
                 f->field_id, BL_STR_ARG(f->name), bl_avro_kind_name(s->kind), bl_kind_name(to->kind));
}

static bl_status plan_field(const bl_avro_schema *field, const bl_partition_field *f, const bl_type *type,
                            bl_partition_step *step, bl_error *err) {
  bool optional;
  const bl_avro_schema *s = bl_avro_unwrap(field, &optional);
  if (!s && bl_avro_only_null(field)) return BL_OK; /* always null: skipped */
  if (!s || !type_of(s, &step->from)) return misfit(f, s ? s : field, type, err);
  step->to = type->kind == BL_KIND_UNKNOWN || f->transform.kind == BL_T_VOID ? step->from : *type;
  return form_of(step, s) ? BL_OK : misfit(f, s, type, err);
}

/* ---- plan ---- */

static bool names_match(const bl_avro_schema *field, bl_str name) {
  return bl_str_eq(field->field_name, name) || (field->original.p && bl_str_eq(field->original, name));
}

static const bl_partition_field *spec_field(const bl_partition_spec *spec, const bl_avro_schema *field) {
  for (size_t i = 0; i < spec->n_fields; i++)
    if (field->field_id >= 0 ? spec->fields[i].field_id == field->field_id : names_match(field, spec->fields[i].name))
      return &spec->fields[i];
  return NULL;
}

bl_status bl_partition_plan_make(bl_arena *a, const bl_avro_schema *record, const bl_partition_spec *spec,
                                 const bl_type *types, bl_partition_plan *out, bl_error *err) {
  if (record->kind != BL_A_RECORD)
    return bl_fail(err, BL_DAMAGED, "Avro schema: field 102 partition: type %s", bl_avro_kind_name(record->kind));
  out->n = record->n_children;
  out->n_fields = spec->n_fields;
  out->steps = bl_arena_calloc(a, out->n, sizeof *out->steps);
  out->kinds = bl_arena_calloc(a, out->n_fields, sizeof *out->kinds);
  if (!out->steps || !out->kinds) return bl_nomem(err);
  for (size_t i = 0; i < spec->n_fields; i++) out->kinds[i] = types[i].kind;
  for (size_t i = 0; i < out->n; i++) {
    const bl_partition_field *f = spec_field(spec, record->children[i]);
    out->steps[i] = (bl_partition_step){.schema = record->children[i], .form = BL_PF_SKIP};
    if (!f) continue;
    out->steps[i].index = (size_t)(f - spec->fields);
    BL_TRY(plan_field(record->children[i], f, &types[out->steps[i].index], &out->steps[i], err));
    if (out->steps[i].form != BL_PF_SKIP) out->kinds[out->steps[i].index] = out->steps[i].to.kind;
  }
  return BL_OK;
}

/* ---- values ---- */

static bl_status read_integer(const bl_partition_step *step, const bl_avro_schema *s, bl_avro_cursor *c, bl_value *v,
                              bl_error *err) {
  bl_value days;
  const uint8_t *from = c->p;
  BL_TRY(bl_avro_long(c, &v->u.i, err));
  bool fits = (s->kind != BL_A_INT && !step->narrow) || v->u.i == (int32_t)v->u.i;
  if (fits && step->form == BL_PF_DAYS_AS_TIME) {
    days = *v;
    days.kind = BL_DATE;
    fits = bl_value_promote(&step->from, &days, &step->to, v);
  }
  if (fits) return BL_OK;
  c->p = from;
  return bl_avro_fail(c, err, "a partition value out of the range of %s", bl_kind_name(step->to.kind));
}

static bl_status read_bytes(bl_arena *a, const bl_partition_step *step, const bl_avro_schema *s, bl_avro_cursor *c,
                            bl_value *v, bl_error *err) {
  bl_str text;
  uint8_t uuid[16];
  if (s->kind == BL_A_FIXED) BL_TRY(bl_avro_fixed(c, s->size, &text, err));
  else BL_TRY(bl_avro_bytes(c, &text, err));
  if (step->form == BL_PF_DECIMAL)
    return bl_avro_decimal(text, &v->u.dec) ? BL_OK : bl_avro_fail(c, err, "a decimal of more than 128 bits");
  if (step->form == BL_PF_UUID_TEXT) {
    if (!bl_parse_uuid(text, uuid)) return bl_avro_fail(c, err, "no UUID: %.*s", BL_STR_ARG(text));
    text = (bl_str){(const char *)uuid, sizeof uuid};
  }
  v->u.s = bl_arena_str(a, text);
  return v->u.s.p ? BL_OK : bl_nomem(err);
}

static bl_status read_value(bl_arena *a, const bl_partition_step *step, const bl_avro_schema *s, bl_avro_cursor *c,
                            bl_value *v, bl_error *err) {
  switch (step->form) {
  case BL_PF_BOOLEAN: return bl_avro_boolean(c, &v->u.b, err);
  case BL_PF_FLOAT: return bl_avro_float(c, &v->u.f, err);
  case BL_PF_FLOAT_AS_DOUBLE: {
    float f;
    BL_TRY(bl_avro_float(c, &f, err));
    v->u.d = (double)f;
    return BL_OK;
  }
  case BL_PF_DOUBLE: return bl_avro_double(c, &v->u.d, err);
  case BL_PF_INTEGER:
  case BL_PF_DAYS_AS_TIME: return read_integer(step, s, c, v, err);
  default: return read_bytes(a, step, s, c, v, err);
  }
}

bl_status bl_partition_read(bl_arena *a, const bl_partition_plan *plan, bl_avro_cursor *c, bl_value *out,
                            bl_error *err) {
  for (size_t i = 0; i < plan->n_fields; i++) out[i] = (bl_value){.kind = plan->kinds[i], .null = true};
  for (size_t i = 0; i < plan->n; i++) {
    const bl_partition_step *step = &plan->steps[i];
    const bl_avro_schema *s = step->schema;
    if (step->form == BL_PF_SKIP) {
      BL_TRY(bl_avro_skip(c, s, err));
      continue;
    }
    if (s->kind == BL_A_UNION) BL_TRY(bl_avro_branch(c, s, &s, err));
    if (s->kind == BL_A_NULL) continue;
    bl_value *v = &out[step->index];
    v->null = false;
    bl_status st = read_value(a, step, s, c, v, err);
    if (st != BL_OK) return bl_fail_in(err, st, "partition field %.*s", BL_STR_ARG(step->schema->field_name));
  }
  return BL_OK;
}
