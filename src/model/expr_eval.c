/* expr_eval.c: a bound expression on one row, in three-valued logic: 1 true, 0 false, -1 unknown. */
#include "model/expr_leaf.h"

typedef struct row {
  void (*get)(void *user, const bl_field *f, bl_value *out);
  void *user;
} row;

static bool in_list(const bl_expr *e, const bl_value *v) {
  size_t low = 0, high = e->n_literals;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int order = bl_expr_order(&e->values[mid], v);
    if (order == 0) return true;
    if (order == 2) return false; /* the row is NaN */
    if (order < 0) low = mid + 1;
    else high = mid;
  }
  return false;
}

static int eval_in(const bl_expr *e, const bl_value *v) {
  bool found = in_list(e, v);
  if (!found && e->has_null_literal) return -1;
  return found == (e->op == BL_E_IN);
}

static int eval_columns(const bl_expr *e, const row *r, const bl_value *left) {
  bl_value right;
  r->get(r->user, e->field2, &right);
  return right.null ? -1 : bl_order_satisfies(bl_expr_order(left, &right), e->cmp);
}

static int eval_leaf(const bl_expr *e, const row *r) {
  bl_value v;
  r->get(r->user, e->field, &v);
  if (e->op == BL_E_IS_NULL) return v.null;
  if (e->op == BL_E_NOT_NULL) return !v.null;
  if (v.null) return -1;
  switch (e->op) {
  case BL_E_IS_NAN: return bl_value_is_nan(&v);
  case BL_E_NOT_NAN: return !bl_value_is_nan(&v);
  case BL_E_IN:
  case BL_E_NOT_IN: return eval_in(e, &v);
  case BL_E_STARTS_WITH: return bl_str_starts(v.u.s, e->values[0].u.s);
  case BL_E_NOT_STARTS_WITH: return !bl_str_starts(v.u.s, e->values[0].u.s);
  case BL_E_COLUMN_CMP: return eval_columns(e, r, &v);
  default: return bl_order_satisfies(bl_expr_order(&v, e->values), e->op);
  }
}

static int eval(const bl_expr *e, const row *r) {
  switch (e->op) {
  case BL_E_TRUE: return 1;
  case BL_E_FALSE: return 0;
  case BL_E_NULL: return -1;
  case BL_E_NOT: {
    int v = eval(e->args[0], r);
    return v < 0 ? v : !v;
  }
  case BL_E_AND:
  case BL_E_OR: {
    int deciding = e->op == BL_E_OR, result = !deciding;
    for (size_t i = 0; i < e->n_args; i++) {
      int v = eval(e->args[i], r);
      if (v == deciding) return v;
      if (v < 0) result = v;
    }
    return result;
  }
  default: return eval_leaf(e, r);
  }
}

int bl_expr_eval(const bl_expr *bound, void (*get)(void *user, const bl_field *f, bl_value *out), void *user) {
  row r = {get, user};
  return eval(bound, &r);
}
