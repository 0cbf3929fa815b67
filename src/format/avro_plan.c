/* avro_plan.c: see avro_plan.h (Iceberg spec, "Column Projection": fields by id, in any order, extra ones skipped). */
#include "format/avro_plan.h"

static bool takes(bl_avro_want want, bl_avro_kind k) {
  switch (want) {
  case BL_WANT_LONG: return k == BL_A_INT || k == BL_A_LONG;
  case BL_WANT_BOOL: return k == BL_A_BOOLEAN;
  case BL_WANT_BYTES: return k == BL_A_STRING || k == BL_A_BYTES || k == BL_A_FIXED;
  case BL_WANT_SPECIAL: return true;
  }
  return false;
}

static bl_status check_type(const bl_avro_rule *rule, const bl_avro_schema *s, bl_error *err) {
  for (size_t i = 0; s->kind == BL_A_UNION && i < s->n_children; i++) BL_TRY(check_type(rule, s->children[i], err));
  if (s->kind == BL_A_UNION || s->kind == BL_A_NULL || takes(rule->want, s->kind)) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "Avro schema: field %d %s: type %s does not fit", rule->field_id, rule->name,
                 bl_avro_kind_name(s->kind));
}

static const bl_avro_rule *rule_of(const bl_avro_rule *rules, size_t n, int32_t field_id) {
  for (size_t i = 0; i < n; i++)
    if (rules[i].field_id == field_id) return &rules[i];
  return NULL;
}

const bl_avro_schema *bl_avro_find(const bl_avro_schema *record, int32_t field_id) {
  for (size_t i = 0; i < record->n_children; i++)
    if (record->children[i]->field_id == field_id) return record->children[i];
  return NULL;
}

bl_status bl_avro_plan_make(bl_arena *a, const bl_avro_schema *record, const bl_avro_rule *rules, size_t n_rules,
                            bl_avro_plan *out, bl_error *err) {
  if (record->kind != BL_A_RECORD)
    return bl_fail(err, BL_DAMAGED, "Avro schema: type %s where a record is due", bl_avro_kind_name(record->kind));
  out->n = record->n_children;
  if (!(out->steps = bl_arena_calloc(a, out->n, sizeof *out->steps))) return bl_nomem(err);
  for (size_t i = 0; i < n_rules; i++)
    if (rules[i].required && !bl_avro_find(record, rules[i].field_id))
      return bl_fail(err, BL_DAMAGED, "Avro schema: field %d %s is missing", rules[i].field_id, rules[i].name);
  for (size_t i = 0; i < out->n; i++) {
    const bl_avro_schema *f = record->children[i];
    out->steps[i] = (bl_avro_step){f, rule_of(rules, n_rules, f->field_id)};
    if (!out->steps[i].rule) continue;
    BL_TRY(check_type(out->steps[i].rule, f, err));
    if (bl_avro_find(record, f->field_id) != f)
      return bl_fail(err, BL_DAMAGED, "Avro schema: field id %d occurs twice", f->field_id);
  }
  return BL_OK;
}

static bl_status read_long(bl_avro_cursor *c, const bl_avro_schema *s, int64_t *out, bl_error *err) {
  const uint8_t *from = c->p;
  BL_TRY(bl_avro_long(c, out, err));
  if (*out != BL_NONE && (s->kind == BL_A_LONG || *out == (int32_t)*out)) return BL_OK;
  c->p = from;
  return bl_avro_fail(c, err, "a number out of range");
}

static bl_status run_step(const bl_avro_rule *rule, const bl_avro_schema *s, bl_avro_cursor *c, const bl_avro_row *row,
                          bl_error *err) {
  bool b;
  switch (rule->want) {
  case BL_WANT_LONG: return read_long(c, s, &row->longs[rule->slot], err);
  case BL_WANT_BOOL:
    BL_TRY(bl_avro_boolean(c, &b, err));
    row->longs[rule->slot] = b;
    return BL_OK;
  case BL_WANT_BYTES:
    if (s->kind == BL_A_FIXED) return bl_avro_fixed(c, s->size, &row->bytes[rule->slot], err);
    return bl_avro_bytes(c, &row->bytes[rule->slot], err);
  case BL_WANT_SPECIAL: return row->special(row->user, rule, s, c, err);
  }
  return BL_OK;
}

bl_status bl_avro_plan_run(const bl_avro_plan *plan, bl_avro_cursor *c, const bl_avro_row *row, bl_error *err) {
  for (size_t i = 0; i < plan->n; i++) {
    const bl_avro_rule *rule = plan->steps[i].rule;
    const bl_avro_schema *s = plan->steps[i].schema;
    if (!rule) {
      BL_TRY(bl_avro_skip(c, s, err));
      continue;
    }
    if (s->kind == BL_A_UNION) BL_TRY(bl_avro_branch(c, s, &s, err));
    bl_status st;
    if (s->kind != BL_A_NULL) st = run_step(rule, s, c, row, err);
    else st = rule->required ? bl_avro_fail(c, err, "null in a required field") : BL_OK;
    if (st != BL_OK) return bl_fail_in(err, st, "field %d %s", rule->field_id, rule->name);
  }
  return BL_OK;
}
