/* set_eval.c: the value of a bound expression for one row. */
#include <math.h>

#include "rows/view_value.h"
#include "scan/columns.h"
#include "write/set_expr.h"

typedef struct row {
  const bl_view *root;
  int64_t i;
  bl_arena *scratch;
} row;

static bl_status eval(const row *r, const bl_set_node *n, bl_value *out, bl_error *err);

/* ---- columns ---- */

static void column_value(const row *r, const int32_t *path, size_t n_path, const bl_type *t, bl_value *out) {
  const bl_view *v = r->root;
  for (size_t k = 0; k < n_path; k++) {
    v = &v->children[path[k]];
    if (k + 1 == n_path || !bl_view_null(v, r->i)) continue;
    *out = (bl_value){.kind = t->kind, .null = true};
    return;
  }
  bl_view_value(v, r->i, t, out);
}

/* A predicate's field, by its id; parts of _partition have theirs negated, as bl_columns_path has it. */
static bool path_of(const bl_view *v, int32_t id, int32_t *path, size_t max, size_t *n) {
  for (size_t k = 0; *n < max && k < v->n_children; k++) {
    path[(*n)++] = (int32_t)k;
    if (v->children[k].field_id == id) return true;
    bool partition = v->children[k].field_id == BL_ID_PARTITION, inside = partition == (id < 0);
    if (v->children[k].kind == BL_D_STRUCT && inside && path_of(&v->children[k], partition ? -id : id, path, max, n))
      return true;
    (*n)--;
  }
  return false;
}

static void predicate_value(void *user, const bl_field *f, bl_value *out) {
  const row *r = user;
  int32_t path[64];
  size_t n = 0;
  *out = (bl_value){.kind = f->type.kind, .null = true};
  if (path_of(r->root, f->id, path, 64, &n)) column_value(r, path, n, &f->type, out);
}

/* ---- arithmetic ---- */

static bl_status overflow(bl_error *err) {
  return bl_fail(err, BL_USAGE, "overflow");
}

static bl_status by_zero(bl_error *err) {
  return bl_fail(err, BL_USAGE, "division by zero");
}

static bl_status of_longs(bl_set_op op, int64_t a, int64_t b, int64_t *out, bl_error *err) {
  bool ok = true;
  if ((op == BL_S_DIVIDE || op == BL_S_REMAINDER) && b == 0) return by_zero(err);
  switch (op) {
  case BL_S_ADD: ok = bl_add64(a, b, out); break;
  case BL_S_SUBTRACT: ok = !__builtin_sub_overflow(a, b, out); break;
  case BL_S_MULTIPLY: ok = bl_mul64(a, b, out); break;
  case BL_S_DIVIDE:
    if (b == -1) ok = !__builtin_sub_overflow((int64_t)0, a, out);
    else *out = a / b;
    break;
  default: *out = b == -1 ? 0 : a % b; break;
  }
  return ok ? BL_OK : overflow(err);
}

static bl_status of_doubles(bl_set_op op, double a, double b, double *out, bl_error *err) {
  if ((op == BL_S_DIVIDE || op == BL_S_REMAINDER) && b == 0) return by_zero(err);
  switch (op) {
  case BL_S_ADD: *out = a + b; break;
  case BL_S_SUBTRACT: *out = a - b; break;
  case BL_S_MULTIPLY: *out = a * b; break;
  case BL_S_DIVIDE: *out = a / b; break;
  default: *out = fmod(a, b); break;
  }
  return isinf(*out) && !isinf(a) && !isinf(b) ? overflow(err) : BL_OK;
}

static bool times_ten(bl_i128 v, int n, bl_i128 *out) {
  for (*out = v; n > 0 && *out != 0; n--)
    if (__builtin_mul_overflow(*out, (bl_i128)10, out)) return false;
  return true;
}

static bl_i128 divide_rounded(bl_i128 a, bl_i128 b) {
  bl_i128 q = a / b, rest = a % b;
  bl_i128 twice_rest = rest < 0 ? -rest : rest, size = b < 0 ? -b : b;
  return twice_rest >= size - twice_rest ? q + ((a < 0) == (b < 0) ? 1 : -1) : q;
}

static bl_status of_decimals(const bl_set_node *n, bl_i128 a, bl_i128 b, bl_i128 *out, bl_error *err) {
  int sa = n->args[0]->type.scale, sb = n->args[1]->type.scale, s = n->type.scale;
  bl_i128 max;
  bool ok;
  if ((n->op == BL_S_DIVIDE || n->op == BL_S_REMAINDER) && b == 0) return by_zero(err);
  if (n->op == BL_S_MULTIPLY) {
    ok = !__builtin_mul_overflow(a, b, out);
    bl_i128 unit = 1;
    for (int i = sa + sb; ok && i > s; i--) unit *= 10;
    if (ok && unit > 1) *out = divide_rounded(*out, unit);
  } else if (n->op == BL_S_DIVIDE) {
    ok = times_ten(a, s - sa + sb, &a);
    if (ok) *out = divide_rounded(a, b);
  } else {
    ok = times_ten(a, s - sa, &a) && times_ten(b, s - sb, &b);
    if (ok && n->op == BL_S_ADD) ok = !__builtin_add_overflow(a, b, out);
    else if (ok && n->op == BL_S_SUBTRACT) ok = !__builtin_sub_overflow(a, b, out);
    else if (ok) *out = a % b;
  }
  if (!ok || !times_ten(1, 38, &max)) return overflow(err);
  return *out<max && * out> - max ? BL_OK : overflow(err);
}

static bl_status eval_arithmetic(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  bl_value a, b;
  BL_TRY(eval(r, n->args[0], &a, err));
  BL_TRY(eval(r, n->args[1], &b, err));
  *out = (bl_value){.kind = n->type.kind, .null = a.null || b.null};
  if (out->null) return BL_OK;
  switch (n->type.kind) {
  case BL_LONG: return of_longs(n->op, a.u.i, b.u.i, &out->u.i, err);
  case BL_DECIMAL: return of_decimals(n, a.u.dec, b.u.dec, &out->u.dec, err);
  default: return of_doubles(n->op, a.u.d, b.u.d, &out->u.d, err);
  }
}

static bl_status eval_negate(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  BL_TRY(eval(r, n->args[0], out, err));
  if (out->null) return BL_OK;
  switch (n->type.kind) {
  case BL_LONG: return of_longs(BL_S_SUBTRACT, 0, out->u.i, &out->u.i, err);
  case BL_DECIMAL: out->u.dec = -out->u.dec; return BL_OK;
  case BL_FLOAT: out->u.f = -out->u.f; return BL_OK;
  default: out->u.d = -out->u.d; return BL_OK;
  }
}

/* ---- the rest ---- */

static bl_status eval_concat(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  bl_value a, b;
  BL_TRY(eval(r, n->args[0], &a, err));
  BL_TRY(eval(r, n->args[1], &b, err));
  *out = (bl_value){.kind = BL_STRING, .null = a.null || b.null};
  if (out->null) return BL_OK;
  size_t na = a.u.s.n, nb = b.u.s.n;
  if (na + nb > INT32_MAX) return bl_fail(err, BL_USAGE, "a string of more than 2 GB");
  char *p = bl_arena_alloc(r->scratch, na + nb + 1, 1);
  if (!p) return bl_nomem(err);
  if (na) memcpy(p, a.u.s.p, na);
  if (nb) memcpy(p + na, b.u.s.p, nb);
  p[na + nb] = 0;
  out->u.s = (bl_str){p, na + nb};
  return BL_OK;
}

static bl_status eval_coalesce(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  for (size_t i = 0; i < n->n_args; i++) {
    BL_TRY(eval(r, n->args[i], out, err));
    if (!out->null) break;
  }
  return BL_OK;
}

static bl_status eval_case(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  size_t i = 0;
  while (i < n->n_when && bl_expr_eval(n->when[i], predicate_value, (void *)r) != 1) i++;
  *out = (bl_value){.kind = n->type.kind, .null = true};
  return i < n->n_args ? eval(r, n->args[i], out, err) : BL_OK;
}

static bl_status eval(const row *r, const bl_set_node *n, bl_value *out, bl_error *err) {
  bl_value v;
  switch (n->op) {
  case BL_S_LITERAL: *out = n->value; return BL_OK;
  case BL_S_COLUMN: column_value(r, n->path, n->n_path, &n->type, out); return BL_OK;
  case BL_S_NEGATE: return eval_negate(r, n, out, err);
  case BL_S_CONCAT: return eval_concat(r, n, out, err);
  case BL_S_COALESCE: return eval_coalesce(r, n, out, err);
  case BL_S_CASE: return eval_case(r, n, out, err);
  case BL_S_CAST:
    BL_TRY(eval(r, n->args[0], &v, err));
    return bl_set_convert(&n->args[0]->type, &v, &n->type, r->scratch, out, err);
  default: return eval_arithmetic(r, n, out, err);
  }
}

bl_status bl_set_eval(const bl_set_node *n, const bl_view *root, int64_t i, bl_arena *scratch, bl_value *out,
                      bl_error *err) {
  row r = {root, i, scratch};
  return eval(&r, n, out, err);
}
