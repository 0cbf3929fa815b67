/* expr_stats.c: bound expressions on statistics.
 *  S1 Unknown stays unknown: a missing count or bound never makes a row impossible, nor a match certain.
 *  S2 Bounds include every value that is neither null nor NaN, and need not be values themselves (they may be cut off).
 *     Equal bounds mean that there is just one such value.
 *  S3 Bounds that are NaN, of another kind than the column, or inverted are ignored.
 *  S4 NaN rows satisfy only !=, NOT IN and IS NAN; null rows only IS NULL. */
#include "model/expr_leaf.h"

/* ---- what is known ---- */

static bool is_floating(bl_kind k) {
  return k == BL_FLOAT || k == BL_DOUBLE;
}

static bool usable(const bl_field *f, const bl_value *v) {
  bl_kind a = f->type.kind, b = v->kind;
  if (v->null || bl_value_is_nan(v)) return false;
  return a == b || (a == BL_LONG && b == BL_INT) || (is_floating(a) && is_floating(b));
}

void bl_range_bounds(bl_range *r, const bl_field *f, const bl_value *lower, const bl_value *upper) {
  r->has_lower = lower && usable(f, lower);
  r->has_upper = upper && usable(f, upper);
  if (r->has_lower) r->lower = *lower;
  if (r->has_upper) r->upper = *upper;
  if (r->has_lower && r->has_upper && bl_expr_order(&r->lower, &r->upper) > 0) r->has_lower = r->has_upper = false;
}

/* One value for all rows: null, NaN or a number. */
static void constant_range(bl_range *r, const bl_field *f, const bl_value *v) {
  bool nan = bl_value_is_nan(v);
  r->all_null = v->null;
  r->no_null = !v->null;
  r->no_number = v->null || nan;
  r->no_nan = !nan;
  bl_range_bounds(r, f, v, v);
}

void bl_range_of_stats(bl_range *r, const bl_field *f, const bl_stats *s) {
  *r = (bl_range){.no_rows = s->rows == 0, .no_nan = !is_floating(f->type.kind)};
  if (s->all_same && s->has_lower) {
    constant_range(r, f, &s->lower);
    return;
  }
  if (s->all_same) {
    constant_range(r, f, &(bl_value){.kind = f->type.kind, .null = true});
    return;
  }
  bool rows = s->rows > 0, nulls = s->nulls >= 0, nans = s->nans >= 0 && is_floating(f->type.kind);
  if (rows && ((nulls && s->nulls > s->rows) || (nans && s->nans > s->rows))) rows = nulls = nans = false;
  r->no_null = nulls && s->nulls == 0;
  r->no_nan = r->no_nan || (nans && s->nans == 0);
  r->all_null = rows && nulls && s->nulls == s->rows;
  r->no_number = r->all_null || (rows && nans && s->nans - s->rows + (nulls ? s->nulls : 0) >= 0);
  bl_range_bounds(r, f, s->has_lower ? &s->lower : NULL, s->has_upper ? &s->upper : NULL);
}

/* ---- order ---- */

int bl_expr_order(const bl_value *a, const bl_value *b) {
  if (!is_floating(a->kind)) {
    int c = bl_value_cmp(a, b);
    return (c > 0) - (c < 0);
  }
  double x = a->kind == BL_FLOAT ? (double)a->u.f : a->u.d, y = b->kind == BL_FLOAT ? (double)b->u.f : b->u.d;
  if (x != x || y != y) return 2;
  return (x > y) - (x < y);
}

bool bl_order_satisfies(int order, bl_expr_op op) {
  switch (op) {
  case BL_E_EQ: return order == 0;
  case BL_E_NE: return order != 0;
  case BL_E_LT: return order == -1;
  case BL_E_LE: return order == -1 || order == 0;
  case BL_E_GT: return order == 1;
  case BL_E_GE: return order == 1 || order == 0;
  default: return false;
  }
}

/* ---- a range and a value: each answer is certain when true ---- */

static bool starts(const bl_value *v, const bl_value *prefix) {
  return bl_str_starts(v->u.s, prefix->u.s);
}

static bool all_below(const bl_range *r, const bl_value *v) {
  return r->has_upper && bl_expr_order(&r->upper, v) < 0 && !(r->prefix && starts(v, &r->upper));
}

static bool all_at_most(const bl_range *r, const bl_value *v) {
  return all_below(r, v) || (r->has_upper && !r->prefix && bl_expr_order(&r->upper, v) == 0);
}

static bool all_above(const bl_range *r, const bl_value *v) {
  return r->has_lower && bl_expr_order(&r->lower, v) == 1;
}

static bool all_at_least(const bl_range *r, const bl_value *v) {
  return r->has_lower && bl_expr_order(&r->lower, v) >= 0;
}

static bool one_value(const bl_range *r) {
  return r->has_lower && r->has_upper && !r->prefix && bl_expr_order(&r->lower, &r->upper) == 0;
}

static bool all_equal(const bl_range *r, const bl_value *v) {
  return one_value(r) && bl_expr_order(&r->lower, v) == 0;
}

static bool in_bucket(const bl_range *r, const bl_type *t, const bl_value *v) {
  bl_value bucket;
  return !bl_transform_apply(r->bucket, t, v, &bucket) ||
         (bucket.u.i >= r->first_bucket && bucket.u.i <= r->last_bucket);
}

/* A timestamp that was a date when the row was written lies at midnight and hashed as days. */
static bool in_bucket_as_date(const bl_range *r, const bl_type *t, const bl_value *v) {
  if (t->kind != BL_TIMESTAMP && t->kind != BL_TIMESTAMP_NS) return false;
  int64_t day = INT64_C(86400000000) * (t->kind == BL_TIMESTAMP_NS ? 1000 : 1);
  if (v->u.i % day) return false;
  return in_bucket(r, &(bl_type){.kind = BL_DATE}, &(bl_value){.kind = BL_DATE, .u.i = v->u.i / day});
}

static bool may_equal(const bl_range *r, const bl_field *f, const bl_value *v) {
  if (all_below(r, v) || all_above(r, v)) return false;
  return !r->bucket || in_bucket(r, &f->type, v) || in_bucket_as_date(r, &f->type, v);
}

/* The first of the sorted values that is not below the range. */
static size_t first_in_range(const bl_expr *e, const bl_range *r) {
  size_t low = 0, high = r->has_lower ? e->n_literals : 0;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (all_above(r, &e->values[mid])) low = mid + 1;
    else high = mid;
  }
  return low;
}

static bool may_equal_any(const bl_expr *e, const bl_range *r) {
  for (size_t i = first_in_range(e, r); i < e->n_literals && !all_below(r, &e->values[i]); i++)
    if (may_equal(r, e->field, &e->values[i])) return true;
  return false;
}

static bool all_equal_one(const bl_expr *e, const bl_range *r) {
  size_t i = one_value(r) ? first_in_range(e, r) : e->n_literals;
  return i < e->n_literals && all_equal(r, &e->values[i]);
}

static bool all_start(const bl_range *r, const bl_value *prefix) {
  return r->has_lower && r->has_upper && starts(&r->lower, prefix) && starts(&r->upper, prefix);
}

static bool none_starts(const bl_range *r, const bl_value *prefix) {
  return all_below(r, prefix) || (all_above(r, prefix) && !starts(&r->lower, prefix));
}

/* ---- leaves ---- */

/* May a row that is neither null nor NaN match? */
static bool number_may(const bl_expr *e, const bl_range *r) {
  const bl_value *v = e->values;
  switch (e->op) {
  case BL_E_EQ: return may_equal(r, e->field, v);
  case BL_E_NE: return !all_equal(r, v);
  case BL_E_LT: return !all_at_least(r, v);
  case BL_E_LE: return !all_above(r, v);
  case BL_E_GT: return !all_at_most(r, v);
  case BL_E_GE: return !all_below(r, v);
  case BL_E_IN: return may_equal_any(e, r);
  case BL_E_NOT_IN: return !e->has_null_literal && !all_equal_one(e, r);
  case BL_E_STARTS_WITH: return !none_starts(r, v);
  case BL_E_NOT_STARTS_WITH: return !all_start(r, v);
  default: return e->op == BL_E_NOT_NULL || e->op == BL_E_NOT_NAN;
  }
}

static bool nan_matches(const bl_expr *e) {
  return e->op == BL_E_NE || e->op == BL_E_IS_NAN || e->op == BL_E_NOT_NULL ||
         (e->op == BL_E_NOT_IN && !e->has_null_literal);
}

bool bl_leaf_may(const bl_expr *e, const bl_range *r) {
  if (r->no_rows) return false;
  if (e->op == BL_E_IS_NULL) return !r->no_null;
  if (r->all_null) return false;
  if (nan_matches(e) && !r->no_nan) return true;
  return !r->no_number && number_may(e, r);
}

/* Does every row that is neither null nor NaN match? */
static bool number_must(const bl_expr *e, const bl_range *r) {
  const bl_value *v = e->values;
  switch (e->op) {
  case BL_E_EQ: return all_equal(r, v);
  case BL_E_NE: return !may_equal(r, e->field, v);
  case BL_E_LT: return all_below(r, v);
  case BL_E_LE: return all_at_most(r, v);
  case BL_E_GT: return all_above(r, v);
  case BL_E_GE: return all_at_least(r, v);
  case BL_E_IN: return all_equal_one(e, r);
  case BL_E_NOT_IN: return !e->has_null_literal && !may_equal_any(e, r);
  case BL_E_STARTS_WITH: return all_start(r, v);
  case BL_E_NOT_STARTS_WITH: return none_starts(r, v);
  default: return e->op == BL_E_NOT_NULL || e->op == BL_E_NOT_NAN;
  }
}

bool bl_leaf_must(const bl_expr *e, const bl_range *r) {
  if (r->no_rows) return true;
  if (e->op == BL_E_IS_NULL) return r->all_null;
  if (!r->no_null) return false;
  if (!nan_matches(e) && !r->no_nan) return false;
  return r->no_number || number_must(e, r);
}

/* ---- column op column ---- */

/* Left and right values of a row may be in this order, as far as the bounds say. */
static bool order_possible(const bl_range *l, const bl_range *r, int order) {
  bool upper = r->has_upper && !r->prefix;
  switch (order) {
  case -1: return !(upper && all_at_least(l, &r->upper));
  case 1: return !(r->has_lower && all_at_most(l, &r->lower));
  default: return !(upper && all_above(l, &r->upper)) && !(r->has_lower && all_below(l, &r->lower));
  }
}

static bool pair_possible(const bl_expr *e, const bl_range *l, const bl_range *r, bool satisfying) {
  for (int order = -1; order <= 1; order++)
    if (bl_order_satisfies(order, e->cmp) == satisfying && order_possible(l, r, order)) return true;
  return false;
}

bool bl_pair_may(const bl_expr *e, const bl_range *l, const bl_range *r) {
  if (l->no_rows || r->no_rows || l->all_null || r->all_null) return false;
  if (e->cmp == BL_E_NE && !(l->no_nan && r->no_nan)) return true;
  return !l->no_number && !r->no_number && pair_possible(e, l, r, true);
}

bool bl_pair_must(const bl_expr *e, const bl_range *l, const bl_range *r) {
  if (l->no_rows || r->no_rows) return true;
  if (!l->no_null || !r->no_null) return false;
  if (e->cmp != BL_E_NE && !(l->no_nan && r->no_nan)) return false;
  return l->no_number || r->no_number || !pair_possible(e, l, r, false);
}

/* ---- the tree ---- */

bool bl_tree_may(const bl_expr *e, bl_leaf_fn leaf, void *user) {
  switch (e->op) {
  case BL_E_TRUE:
  case BL_E_NOT: return true; /* a bound expression has no NOT */
  case BL_E_FALSE:
  case BL_E_NULL: return false;
  case BL_E_AND:
    for (size_t i = 0; i < e->n_args; i++)
      if (!bl_tree_may(e->args[i], leaf, user)) return false;
    return true;
  case BL_E_OR:
    for (size_t i = 0; i < e->n_args; i++)
      if (bl_tree_may(e->args[i], leaf, user)) return true;
    return false;
  default: return leaf(user, e);
  }
}

bool bl_tree_must(const bl_expr *e, bl_leaf_fn leaf, void *user) {
  switch (e->op) {
  case BL_E_TRUE: return true;
  case BL_E_FALSE:
  case BL_E_NULL:
  case BL_E_NOT: return false;
  case BL_E_AND:
    for (size_t i = 0; i < e->n_args; i++)
      if (!bl_tree_must(e->args[i], leaf, user)) return false;
    return true;
  case BL_E_OR:
    for (size_t i = 0; i < e->n_args; i++)
      if (bl_tree_must(e->args[i], leaf, user)) return true;
    return false;
  default: return leaf(user, e);
  }
}

/* ---- statistics from a callback ---- */

typedef struct asker {
  bool (*stats)(void *user, const bl_field *f, bl_stats *out);
  void *user;
} asker;

static void ask(const asker *a, const bl_field *f, bl_range *r) {
  bl_stats s = {.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  if (!a->stats || !a->stats(a->user, f, &s)) s = (bl_stats){.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  bl_range_of_stats(r, f, &s);
}

static bool may_by_stats(void *user, const bl_expr *e) {
  bl_range r, right;
  ask(user, e->field, &r);
  if (e->op != BL_E_COLUMN_CMP) return bl_leaf_may(e, &r);
  ask(user, e->field2, &right);
  return bl_pair_may(e, &r, &right);
}

static bool must_by_stats(void *user, const bl_expr *e) {
  bl_range r, right;
  ask(user, e->field, &r);
  if (e->op != BL_E_COLUMN_CMP) return bl_leaf_must(e, &r);
  ask(user, e->field2, &right);
  return bl_pair_must(e, &r, &right);
}

bool bl_expr_may_match(const bl_expr *bound, bool (*stats)(void *user, const bl_field *f, bl_stats *out), void *user) {
  asker a = {stats, user};
  return bl_tree_may(bound, may_by_stats, &a);
}

bool bl_expr_must_match(const bl_expr *bound, bool (*stats)(void *user, const bl_field *f, bl_stats *out), void *user) {
  asker a = {stats, user};
  return bl_tree_must(bound, must_by_stats, &a);
}
