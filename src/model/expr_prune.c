/* expr_prune.c: bound expressions on partition tuples, manifests' field summaries and files' metrics.
 *  U1 A partition value is turned back into what it says of its source column: identity one value, truncate and the
 *     times a range, bucket the buckets of equal values. One way of asking then serves tuples and summaries.
 *  U2 A time value of 0 or below stands for its own unit and the one before: old writers divided towards zero.
 *  U3 Fields with several sources, unknown transforms and void say nothing; nor does a value that cannot be promoted to
 *     the column's type. */
#include "model/expr_leaf.h"

/* One partition field's values: a tuple's (lower = upper) or a manifest's. */
typedef struct partition_range {
  bool all_null, no_null, no_number, no_nan;
  const bl_value *lower, *upper; /* NULL where not known */
} partition_range;

typedef struct partition_asker {
  const bl_partition_spec *spec;
  const bl_type *types;
  const bl_value *tuple;        /* either */
  const bl_field_summary *sums; /* or */
  size_t n;
} partition_asker;

/* ---- transforms turned back ---- */

static bool identity_value(const bl_type *type, const bl_field *f, const bl_value *v, bl_value *out) {
  *out = *v;
  if (v->kind == f->type.kind) return true;
  bl_type from = *type;
  from.kind = v->kind;
  return bl_value_promote(&from, v, &f->type, out);
}

static void invert_identity(const bl_type *type, const bl_field *f, const partition_range *p, bl_range *r) {
  bl_value lower, upper;
  bool low = p->lower && identity_value(type, f, p->lower, &lower);
  bool high = p->upper && identity_value(type, f, p->upper, &upper);
  bl_range_bounds(r, f, low ? &lower : NULL, high ? &upper : NULL);
}

/* The last value of the truncated range that begins at v; false where it is not sure: near the type's greatest value
 * lie also the values that wrapped from its least. */
static bool last_truncated(int32_t width, const bl_value *v, bl_value *out) {
  *out = *v;
  if (v->kind == BL_DECIMAL) {
    out->u.dec = v->u.dec + (width - 1);
    return true;
  }
  if (!bl_add64(v->u.i, width - 1, &out->u.i)) return false;
  return v->u.i > INT32_MAX || out->u.i <= INT32_MAX;
}

static bool is_full(const bl_value *v, int32_t width) {
  size_t n = 0;
  for (size_t i = 0; i < v->u.s.n; i++) n += v->kind != BL_STRING || ((uint8_t)v->u.s.p[i] & 0xc0) != 0x80;
  return n >= (size_t)width;
}

static void invert_truncate(int32_t width, const bl_field *f, const partition_range *p, bl_range *r) {
  bool text = f->type.kind == BL_STRING || f->type.kind == BL_BINARY;
  bool number = f->type.kind == BL_INT || f->type.kind == BL_LONG || f->type.kind == BL_DECIMAL;
  const bl_value *lower = p->lower, *upper = p->upper;
  bl_value last;
  if ((!text && !number) || !lower || !upper || lower->null || upper->null) return;
  if ((lower->kind == BL_DECIMAL) != (f->type.kind == BL_DECIMAL)) return;
  if (number && !last_truncated(width, upper, &last)) return;
  bl_range_bounds(r, f, lower, number ? &last : upper);
  r->prefix = text && r->has_upper && is_full(upper, width);
}

/* The first day of unit number p (years, months, days; hours: the hour itself). */
static bl_i128 unit_start(bl_transform_kind kind, int64_t p) {
  switch (kind) {
  case BL_T_YEAR: return bl_days_from_civil(1970 + p, 1, 1);
  case BL_T_MONTH: return bl_days_from_civil(1970 + bl_floor_div(p, 12), (int)bl_floor_mod(p, 12) + 1, 1);
  default: return p;
  }
}

/* How many of the column's parts a day or hour has; 0 where the column is no such time. */
static int64_t parts_per_unit(bl_transform_kind kind, bl_kind column) {
  int64_t seconds = kind == BL_T_HOUR ? 3600 : 86400;
  switch (column) {
  case BL_DATE: return kind == BL_T_HOUR ? 0 : 1;
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ: return seconds * 1000000;
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return seconds * 1000000000;
  default: return 0;
  }
}

static bool fits(bl_i128 v, bl_value *out) {
  out->u.i = (int64_t)v;
  return v == out->u.i;
}

static bool is_int32(const bl_value *v) {
  return !v->null && v->u.i >= INT32_MIN && v->u.i <= INT32_MAX;
}

static void invert_time(bl_transform_kind kind, const bl_field *f, const partition_range *p, bl_range *r) {
  int64_t parts = parts_per_unit(kind, f->type.kind);
  bl_value lower = {.kind = f->type.kind}, upper = lower;
  bool low = p->lower && is_int32(p->lower), high = p->upper && is_int32(p->upper);
  if (!parts) return;
  if (low) {
    int64_t first = p->lower->u.i;
    if (first <= 0) first--; /* U2 */
    low = fits(unit_start(kind, first) * parts, &lower);
  }
  if (high) high = fits(unit_start(kind, p->upper->u.i + 1) * parts - 1, &upper);
  bl_range_bounds(r, f, low ? &lower : NULL, high ? &upper : NULL);
}

static void invert_bucket(const bl_transform *t, const partition_range *p, bl_range *r) {
  if (!p->lower || !p->upper || p->lower->null || p->upper->null || p->lower->u.i > p->upper->u.i) return;
  r->bucket = t;
  r->first_bucket = p->lower->u.i;
  r->last_bucket = p->upper->u.i;
}

static void invert(const bl_transform *t, const bl_type *type, const bl_field *f, const partition_range *p,
                   bl_range *r) {
  *r = (bl_range){.all_null = p->all_null, .no_null = p->no_null};
  r->no_nan = f->type.kind != BL_FLOAT && f->type.kind != BL_DOUBLE;
  r->no_number = p->all_null;
  switch (t->kind) {
  case BL_T_IDENTITY:
    r->no_nan = r->no_nan || p->no_nan;
    r->no_number = r->no_number || p->no_number;
    invert_identity(type, f, p, r);
    return;
  case BL_T_TRUNCATE: invert_truncate(t->arg, f, p, r); return;
  case BL_T_BUCKET: invert_bucket(t, p, r); return;
  default: invert_time(t->kind, f, p, r);
  }
}

/* ---- tuples and summaries ---- */

static void tuple_range(const bl_value *v, partition_range *p) {
  bool nan = bl_value_is_nan(v);
  *p = (partition_range){.all_null = v->null, .no_null = !v->null, .no_number = v->null || nan, .no_nan = !nan};
  p->lower = p->upper = v->null ? NULL : v;
}

static void summary_range(const bl_field_summary *s, const bl_type *type, bl_value bounds[2], partition_range *p) {
  bool floating = type->kind == BL_FLOAT || type->kind == BL_DOUBLE;
  bool nan_free = !floating || (s->has_nan && !s->contains_nan);
  *p = (partition_range){.no_null = !s->contains_null, .no_nan = nan_free};
  if (!s->lower.p && !s->upper.p) {
    p->all_null = s->contains_null && nan_free;
    p->no_number = p->all_null || (floating && s->has_nan && s->contains_nan);
  }
  if (bl_value_from_bytes(type, s->lower, &bounds[0])) p->lower = &bounds[0];
  if (bl_value_from_bytes(type, s->upper, &bounds[1])) p->upper = &bounds[1];
}

static bool says_something(const bl_partition_field *pf, const bl_field *f) {
  return pf->n_source_ids == 1 && pf->source_ids[0] == f->id && pf->transform.kind != BL_T_VOID &&
         pf->transform.kind != BL_T_OTHER;
}

/* What partition field i says of column f; false where it says nothing. */
static bool partition_says(const partition_asker *a, size_t i, const bl_field *f, bl_range *r) {
  partition_range p;
  bl_value bounds[2];
  const bl_partition_field *pf = &a->spec->fields[i];
  if (!says_something(pf, f)) return false;
  if (a->tuple) tuple_range(&a->tuple[i], &p);
  else summary_range(&a->sums[i], &a->types[i], bounds, &p);
  invert(&pf->transform, &a->types[i], f, &p, r);
  return true;
}

static size_t partition_fields(const partition_asker *a) {
  return a->n < a->spec->n_fields ? a->n : a->spec->n_fields;
}

static bool pair_may_by_partition(const partition_asker *a, const bl_expr *e) {
  bl_range l, r;
  for (size_t i = 0; i < partition_fields(a); i++)
    for (size_t k = 0; k < partition_fields(a); k++)
      if (partition_says(a, i, e->field, &l) && partition_says(a, k, e->field2, &r) && !bl_pair_may(e, &l, &r))
        return false;
  return true;
}

static bool may_by_partition(void *user, const bl_expr *e) {
  const partition_asker *a = user;
  bl_range r;
  if (e->op == BL_E_COLUMN_CMP) return pair_may_by_partition(a, e);
  for (size_t i = 0; i < partition_fields(a); i++)
    if (partition_says(a, i, e->field, &r) && !bl_leaf_may(e, &r)) return false;
  return true;
}

static bool must_by_partition(void *user, const bl_expr *e) {
  const partition_asker *a = user;
  bl_range r, right;
  for (size_t i = 0; i < partition_fields(a); i++) {
    if (!partition_says(a, i, e->field, &r)) continue;
    if (e->op != BL_E_COLUMN_CMP && bl_leaf_must(e, &r)) return true;
    for (size_t k = 0; e->op == BL_E_COLUMN_CMP && k < partition_fields(a); k++)
      if (partition_says(a, k, e->field2, &right) && bl_pair_must(e, &r, &right)) return true;
  }
  return false;
}

bool bl_partition_may_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                            const bl_schema *schema, const bl_value *tuple, size_t n) {
  partition_asker a = {.spec = spec, .types = types, .tuple = tuple, .n = tuple ? n : 0};
  (void)schema; /* the bound fields carry their types */
  return bl_tree_may(bound, may_by_partition, &a);
}

bool bl_partition_must_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                             const bl_schema *schema, const bl_value *tuple, size_t n) {
  partition_asker a = {.spec = spec, .types = types, .tuple = tuple, .n = tuple ? n : 0};
  (void)schema;
  return bl_tree_must(bound, must_by_partition, &a);
}

bool bl_summaries_may_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                            const bl_schema *schema, const bl_field_summary *sums, size_t n) {
  partition_asker a = {.spec = spec, .types = types, .sums = sums, .n = sums ? n : 0};
  (void)schema;
  return bl_tree_may(bound, may_by_partition, &a);
}

/* ---- file metrics ---- */

typedef struct metrics_asker {
  const bl_data_file *file;
  const bl_schema *schema;
  bool (*lineage)(void *user, const bl_field *f, bl_stats *out);
  void *user;
} metrics_asker;

static bool is_top_level(const bl_schema *schema, const bl_field *f) {
  for (size_t i = 0; schema && i < schema->root.n_fields; i++)
    if (schema->root.fields[i].id == f->id) return true;
  return false;
}

/* A column inside a struct has as many values as the file has rows only where null structs were counted (ORC's writer
 * leaves them out): counts that do not add up to the rows are worth nothing. Where they do, the nulls may still be
 * those of the column alone; only Parquet's levels count the structs'. */
static bool counts_all_rows(const bl_data_file *file, const bl_column_metrics *m, const bl_schema *schema,
                            const bl_field *f) {
  if (file->record_count < 0 || (m->values != BL_NONE && m->values != file->record_count)) return false;
  return is_top_level(schema, f) || (m->values != BL_NONE && file->format == BL_FORMAT_PARQUET);
}

void bl_metrics_stats(const bl_data_file *f, const bl_schema *schema, const bl_field *field, bl_stats *out) {
  *out = (bl_stats){.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  const bl_column_metrics *m = bl_data_file_metrics(f, field->id);
  if (f->record_count == 0) out->rows = 0;
  if (!m) return;
  if (counts_all_rows(f, m, schema, field)) {
    out->rows = f->record_count;
    out->nulls = m->nulls;
    out->nans = m->nans;
  }
  out->has_lower = bl_value_from_bytes(&field->type, m->lower, &out->lower);
  out->has_upper = bl_value_from_bytes(&field->type, m->upper, &out->upper);
}

/* Metadata columns have reserved or negative ids. Lineage columns are never taken from the file's own metrics: what is
 * stored is not what is read. */
static void metrics_say(const metrics_asker *a, const bl_field *f, bl_range *r) {
  bl_stats s = {.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  if (f->id >= 0 && f->id <= BL_ID_FIRST_RESERVED) {
    bl_metrics_stats(a->file, a->schema, f, &s);
  } else if (!a->lineage || !a->lineage(a->user, f, &s)) {
    s = (bl_stats){.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  }
  bl_range_of_stats(r, f, &s);
}

static bool may_by_metrics(void *user, const bl_expr *e) {
  bl_range r, right;
  metrics_say(user, e->field, &r);
  if (e->op != BL_E_COLUMN_CMP) return bl_leaf_may(e, &r);
  metrics_say(user, e->field2, &right);
  return bl_pair_may(e, &r, &right);
}

static bool must_by_metrics(void *user, const bl_expr *e) {
  bl_range r, right;
  metrics_say(user, e->field, &r);
  if (e->op != BL_E_COLUMN_CMP) return bl_leaf_must(e, &r);
  metrics_say(user, e->field2, &right);
  return bl_pair_must(e, &r, &right);
}

bool bl_metrics_may_match(const bl_expr *bound, const bl_data_file *f, const bl_schema *schema,
                          bool (*lineage)(void *user, const bl_field *f, bl_stats *out), void *user) {
  metrics_asker a = {f, schema, lineage, user};
  return bl_tree_may(bound, may_by_metrics, &a);
}

bool bl_metrics_must_match(const bl_expr *bound, const bl_data_file *f, const bl_schema *schema,
                           bool (*lineage)(void *user, const bl_field *f, bl_stats *out), void *user) {
  metrics_asker a = {f, schema, lineage, user};
  return bl_tree_must(bound, must_by_metrics, &a);
}
