/* foreign_partition.c: the partition of a file that somebody else wrote. A partition field's value is known where the
 * file's statistics leave only one: its column is null all over, or has no null and bounds that the transform takes to
 * one value. What the file lacks its folders may tell (foreign_path.c). */
#include "write/foreign_file.h"

typedef struct range {
  int64_t values, nulls; /* BL_NONE: not known */
  bool bounded, begun;
  bl_value lower, upper;
} range;

static void widen(range *r, const bl_type *t, const bl_data_stats *s) {
  bl_value lo, hi;
  bool known = s->lower && s->upper && bl_value_from_bytes(t, (bl_str){s->lower, s->lower_size}, &lo) &&
               bl_value_from_bytes(t, (bl_str){s->upper, s->upper_size}, &hi);
  if (!known) {
    r->bounded = false;
    return;
  }
  if (!r->begun || bl_value_cmp(&lo, &r->lower) < 0) r->lower = lo;
  if (!r->begun || bl_value_cmp(&hi, &r->upper) > 0) r->upper = hi;
  r->begun = true;
}

/* Bounds are borrowed from the reader. */
static void range_of(const bl_foreign_file *f, int32_t leaf, const bl_type *t, range *out) {
  *out = (range){.bounded = true};
  for (size_t g = 0; g < f->reader->meta->n_groups; g++) {
    bl_data_stats s;
    if (!f->reader->stats || !f->reader->stats(f->reader, g, leaf, &s) || s.values < 0 || s.nulls < 0) {
      *out = (range){.values = BL_NONE, .nulls = BL_NONE};
      return;
    }
    out->values += s.values;
    out->nulls += s.nulls;
    if (s.values > s.nulls && out->bounded) widen(out, t, &s);
  }
}

static bl_status refuse(const bl_foreign_file *f, const bl_partition_field *pf, const char *why, bl_error *err) {
  return bl_fail(err, BL_USAGE, "cannot add: %s: partition field %.*s: %s", f->path.p, BL_STR_ARG(pf->name), why);
}

/* Does the transform keep the order of values, so that what lies between two equal results is equal too? */
static bool keeps_order(const bl_transform *t) {
  return t->kind == BL_T_IDENTITY || t->kind == BL_T_TRUNCATE || (t->kind >= BL_T_YEAR && t->kind <= BL_T_HOUR);
}

static bl_status apply(const bl_foreign_file *f, const bl_partition_field *pf, const bl_type *t, const bl_value *v,
                       bl_value *out, bl_error *err) {
  if (bl_transform_apply(&pf->transform, t, v, out) && bl_partition_value_fits(t, out)) return BL_OK;
  return refuse(f, pf, "its transform does not take the column's values", err);
}

/* One value for all rows, or a refusal. */
static bl_status one_value(const bl_foreign_file *f, const bl_partition_field *pf, const bl_type *t, const range *r,
                           bl_value *out, bl_error *err) {
  bl_value lo, hi, null = {.kind = t->kind, .null = true};
  if (r->values == BL_NONE) return refuse(f, pf, "the file has no statistics that tell its value", err);
  if (r->values == r->nulls) return apply(f, pf, t, &null, out, err);
  if (r->nulls > 0) return refuse(f, pf, "the file has rows with and without a value: it lies in two partitions", err);
  if (t->kind == BL_FLOAT || t->kind == BL_DOUBLE)
    return refuse(f, pf, "statistics do not tell whether the file has NaN in it", err);
  if (!r->bounded) return refuse(f, pf, "the file has no statistics that tell its value", err);
  BL_TRY(apply(f, pf, t, &r->lower, &lo, err));
  BL_TRY(apply(f, pf, t, &r->upper, &hi, err));
  bool same = keeps_order(&pf->transform) ? bl_value_same(&lo, &hi) : bl_value_same(&r->lower, &r->upper);
  if (!same) return refuse(f, pf, "the file's rows lie in several partitions", err);
  *out = lo;
  return BL_OK;
}

/* The leaf of a column that is no part of a list or map, -1. */
static int32_t leaf_of(const bl_foreign_file *f, int32_t id) {
  const bl_data_meta *m = f->reader->meta;
  for (size_t i = 1; i < m->n_nodes; i++)
    if (f->ids[i] == id && m->nodes[i].leaf >= 0) return m->nodes[i].leaf;
  return -1;
}

/* What every row reads of a column that the file lacks; told: the values of f->told. NULL: null. */
static const bl_value *absent_value(const bl_foreign_file *f, const bl_field *column, const bl_value *told) {
  for (size_t i = 0; i < f->told.n_fields; i++)
    if (f->told.fields[i].source_ids[0] == column->id) return &told[i];
  return column->initial_default;
}

static bl_status field_value(const bl_foreign_env *env, const bl_foreign_file *f, const bl_value *told, size_t i,
                             bl_value *out, bl_error *err) {
  const bl_partition_field *pf = &env->spec->fields[i];
  range r;
  if (pf->transform.kind == BL_T_VOID) {
    *out = (bl_value){.kind = env->spec_types[i].kind, .null = true};
    return BL_OK;
  }
  const bl_field *column = pf->n_source_ids == 1 ? bl_schema_find(env->schema, pf->source_ids[0]) : NULL;
  if (!column || pf->transform.kind == BL_T_OTHER)
    return bl_fail(err, BL_UNSUPPORTED, "partition field %.*s: transform %.*s cannot be written", BL_STR_ARG(pf->name),
                   BL_STR_ARG(pf->transform.text));
  int32_t leaf = leaf_of(f, column->id);
  if (leaf < 0) {
    const bl_value null = {.kind = column->type.kind, .null = true}, *v = absent_value(f, column, told);
    return apply(f, pf, &column->type, v ? v : &null, out, err);
  }
  range_of(f, leaf, &column->type, &r);
  return one_value(f, pf, &column->type, &r, out, err);
}

bl_status bl_foreign_partition(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) {
  size_t n = env->spec->n_fields;
  const bl_value *told = f->entry.partition;
  f->entry.partition = bl_arena_calloc(f->arena, n, sizeof *f->entry.partition);
  if (!f->entry.partition) return bl_nomem(err);
  f->entry.n_partition = n;
  for (size_t i = 0; i < n; i++) {
    bl_value v;
    BL_TRY(field_value(env, f, told, i, &v, err));
    BL_TRY(bl_value_copy(f->arena, &v, &f->entry.partition[i], err));
  }
  return BL_OK;
}
