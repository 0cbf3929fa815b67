/* expr_bind.c: names to fields, literals to values, NOT pushed down to the leaves.
 *  N1 The result holds no NOT: only AND and OR stand above a leaf. So a leaf that can never be true may be FALSE even
 *     where a null row would make it unknown: no row's answer changes between true and not true.
 *  N2 A row with NaN answers as IEEE 754 does: every comparison is false but !=, which is true. `not x < 1` is
 * therefore `x >= 1 or x is nan`. Whether null is NaN is unknown. N3 A literal that the type cannot hold is replaced by
 * its neighbour or makes the leaf constant (expr_literal.h). */
#include <stdlib.h>

#include "model/expr_leaf.h"
#include "model/expr_literal.h"
#include "model/near.h"

typedef struct binder {
  bl_arena *arena;
  const bl_schema *schema, *meta;
} binder;

static bl_expr_op negation(bl_expr_op op) {
  switch (op) {
  case BL_E_TRUE: return BL_E_FALSE;
  case BL_E_FALSE: return BL_E_TRUE;
  case BL_E_AND: return BL_E_OR;
  case BL_E_OR: return BL_E_AND;
  case BL_E_EQ: return BL_E_NE;
  case BL_E_NE: return BL_E_EQ;
  case BL_E_LT: return BL_E_GE;
  case BL_E_LE: return BL_E_GT;
  case BL_E_GT: return BL_E_LE;
  case BL_E_GE: return BL_E_LT;
  case BL_E_IN: return BL_E_NOT_IN;
  case BL_E_NOT_IN: return BL_E_IN;
  case BL_E_IS_NULL: return BL_E_NOT_NULL;
  case BL_E_NOT_NULL: return BL_E_IS_NULL;
  case BL_E_IS_NAN: return BL_E_NOT_NAN;
  case BL_E_NOT_NAN: return BL_E_IS_NAN;
  case BL_E_STARTS_WITH: return BL_E_NOT_STARTS_WITH;
  case BL_E_NOT_STARTS_WITH: return BL_E_STARTS_WITH;
  default: return op;
  }
}

/* ---- names ---- */

/* Is the field reached from t through structs only? */
static bool reachable(const bl_type *t, const bl_field *f) {
  for (size_t i = 0; t->kind == BL_STRUCT && i < t->n_fields; i++)
    if (&t->fields[i] == f || reachable(&t->fields[i].type, f)) return true;
  return false;
}

static const bl_field *find(const binder *b, bl_str name) {
  const bl_field *f = b->schema ? bl_schema_find_name(b->schema, name) : NULL;
  if (!f && b->meta) f = bl_schema_find_name(b->meta, name);
  if (!f && b->meta && bl_str_starts(name, BL_STR("meta.")))
    f = bl_schema_find_name(b->meta, (bl_str){name.p + 5, name.n - 5});
  return f;
}

static bl_status resolve(const binder *b, bl_str name, size_t at, const bl_field **out, bl_error *err) {
  const bl_field *f = *out = find(b, name);
  if (!f)
    return bl_fail_at(err, BL_USAGE, (int64_t)at, "expression: column \"%.*s\": there is none of this name and case%s",
                      BL_STR_ARG(name),
                      bl_near_field(b->schema ? &b->schema->root : NULL, b->meta ? &b->meta->root : NULL, name).hint);
  if ((b->schema && reachable(&b->schema->root, f)) || (b->meta && reachable(&b->meta->root, f))) return BL_OK;
  return bl_fail_at(err, BL_USAGE, (int64_t)at, "expression: column \"%.*s\": it is inside a list or map",
                    BL_STR_ARG(name));
}

static bl_status does_not(const bl_expr *e, const bl_field *f, const char *what, bl_error *err) {
  return bl_fail_at(err, BL_USAGE, (int64_t)e->at, "expression: column \"%.*s\": %s does not take a column of type %s",
                    BL_STR_ARG(e->column), what, bl_kind_name(f->type.kind));
}

/* ---- nodes ---- */

static bl_status new_node(const binder *b, bl_expr_op op, const bl_expr *from, bl_expr **out, bl_error *err) {
  bl_expr *e = *out = bl_arena_calloc(b->arena, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  e->op = op;
  e->at = from->at;
  return BL_OK;
}

static bl_status new_leaf(const binder *b, bl_expr_op op, const bl_expr *from, const bl_field *f, bl_expr **out,
                          bl_error *err) {
  BL_TRY(new_node(b, op, from, out, err));
  bl_expr *e = *out;
  e->field = f;
  e->column = bl_arena_str(b->arena, from->column);
  return e->column.p ? BL_OK : bl_nomem(err);
}

static bl_status new_value_leaf(const binder *b, bl_expr_op op, const bl_expr *from, const bl_field *f,
                                const bl_value *v, bl_expr **out, bl_error *err) {
  BL_TRY(new_leaf(b, op, from, f, out, err));
  bl_value *copy = bl_arena_alloc(b->arena, 1, sizeof *copy);
  if (!copy) return bl_nomem(err);
  BL_TRY(bl_value_copy(b->arena, v, copy, err));
  (*out)->values = copy;
  (*out)->n_literals = 1;
  return BL_OK;
}

/* args joined by op (AND, OR) with constants folded; args is the node's from then on. */
static bl_status join(const binder *b, bl_expr_op op, const bl_expr *from, bl_expr **args, size_t n, bl_expr **out,
                      bl_error *err) {
  bl_expr_op zero = op == BL_E_AND ? BL_E_FALSE : BL_E_TRUE, one = negation(zero);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (args[i]->op == zero) {
      *out = args[i];
      return BL_OK;
    }
    if (args[i]->op != one) args[kept++] = args[i];
  }
  if (kept == 0) return new_node(b, one, from, out, err);
  if (kept == 1) {
    *out = args[0];
    return BL_OK;
  }
  BL_TRY(new_node(b, op, from, out, err));
  (*out)->args = args;
  (*out)->n_args = kept;
  return BL_OK;
}

/* e, or the column is NaN (N2). */
static bl_status or_nan(const binder *b, const bl_expr *from, bl_str column, const bl_field *f, bl_expr *e,
                        bl_expr **out, bl_error *err) {
  bl_expr **args = bl_arena_alloc(b->arena, 2, sizeof *args);
  bl_expr named = *from;
  if (!args) return bl_nomem(err);
  named.column = column;
  args[0] = e;
  BL_TRY(new_leaf(b, BL_E_IS_NAN, &named, f, &args[1], err));
  return join(b, BL_E_OR, from, args, 2, out, err);
}

static bool is_floating(const bl_field *f) {
  return f->type.kind == BL_FLOAT || f->type.kind == BL_DOUBLE;
}

static bool is_ordering(bl_expr_op op) {
  return op == BL_E_LT || op == BL_E_LE || op == BL_E_GT || op == BL_E_GE;
}

/* ---- leaves ---- */

static bl_status bind_null_test(const binder *b, const bl_expr *e, const bl_field *f, bool is_null, bl_expr **out,
                                bl_error *err) {
  if (f->type.kind == BL_KIND_UNKNOWN) return new_node(b, is_null ? BL_E_TRUE : BL_E_FALSE, e, out, err);
  return new_leaf(b, is_null ? BL_E_IS_NULL : BL_E_NOT_NULL, e, f, out, err);
}

static bl_status bind_nan_test(const binder *b, const bl_expr *e, const bl_field *f, bl_expr_op op, bl_expr **out,
                               bl_error *err) {
  if (f->type.kind == BL_KIND_UNKNOWN) return new_node(b, BL_E_NULL, e, out, err);
  if (!is_floating(f)) return does_not(e, f, "is nan", err);
  return new_leaf(b, op, e, f, out, err);
}

static bl_status bind_prefix(const binder *b, const bl_expr *e, const bl_field *f, bl_expr_op op, bl_expr **out,
                             bl_error *err) {
  const bl_literal *l = &e->literals[0];
  if (f->type.kind == BL_KIND_UNKNOWN || l->kind == BL_L_NULL) return new_node(b, BL_E_NULL, e, out, err);
  if (f->type.kind != BL_STRING) return does_not(e, f, "starts_with", err);
  if (l->text.n == 0 && op == BL_E_STARTS_WITH) return bind_null_test(b, e, f, false, out, err);
  if (l->text.n == 0) return new_node(b, BL_E_FALSE, e, out, err);
  return new_value_leaf(b, op, e, f, &(bl_value){.kind = BL_STRING, .u.s = l->text}, out, err);
}

/* What `column op literal` is where the literal stands at `fit` of the values: an op on the value, or constant (TRUE
 * stands for "not null"). */
static bl_expr_op placed_op(bl_expr_op op, bl_fit fit) {
  bool less = op == BL_E_LT || op == BL_E_LE, ordering = is_ordering(op);
  if (fit == BL_FIT_EXACT) return op;
  if (!ordering || fit == BL_FIT_UNORDERED) return op == BL_E_NE ? BL_E_TRUE : BL_E_FALSE;
  switch (fit) {
  case BL_FIT_BELOW: return less ? BL_E_LE : BL_E_GT;
  case BL_FIT_ABOVE: return less ? BL_E_LT : BL_E_GE;
  case BL_FIT_ALL_LESS: return less ? BL_E_TRUE : BL_E_FALSE;
  default: return less ? BL_E_FALSE : BL_E_TRUE;
  }
}

static bl_status bind_placed(const binder *b, const bl_expr *e, const bl_field *f, bl_expr_op op, const bl_value *v,
                             bl_fit fit, bl_expr **out, bl_error *err) {
  bl_expr_op placed = placed_op(op, fit);
  if (placed == BL_E_FALSE) return new_node(b, BL_E_FALSE, e, out, err);
  if (placed == BL_E_TRUE) return bind_null_test(b, e, f, false, out, err);
  return new_value_leaf(b, placed, e, f, v, out, err);
}

static bl_status bind_compare(const binder *b, const bl_expr *e, const bl_field *f, bool negate, bl_expr **out,
                              bl_error *err) {
  bl_expr_op op = negate ? negation(e->op) : e->op;
  bl_value v;
  bl_fit fit;
  if (f->type.kind == BL_KIND_UNKNOWN || e->literals[0].kind == BL_L_NULL) return new_node(b, BL_E_NULL, e, out, err);
  BL_TRY(bl_literal_fit(b->arena, &e->literals[0], &f->type, &v, &fit, err));
  if (negate && is_ordering(op) && fit == BL_FIT_UNORDERED) return bind_null_test(b, e, f, false, out, err);
  BL_TRY(bind_placed(b, e, f, op, &v, fit, out, err));
  if (negate && is_ordering(op) && is_floating(f)) return or_nan(b, e, e->column, f, *out, out, err);
  return BL_OK;
}

/* ---- IN ---- */

static int by_value(const void *a, const void *b) {
  return bl_value_cmp(a, b);
}

static size_t sort_unique(bl_value *v, size_t n) {
  size_t kept = 0;
  bl_sort(v, n, sizeof *v, by_value);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || bl_value_cmp(&v[kept - 1], &v[i]) != 0) v[kept++] = v[i];
  return kept;
}

/* The literals that some value of the column can equal; zero stands in both its signs. */
static bl_status in_values(const binder *b, const bl_expr *e, const bl_field *f, bl_value **values, size_t *n,
                           bool *has_null, bl_error *err) {
  bl_value *v = *values = bl_arena_alloc(b->arena, e->n_literals + 1, sizeof *v);
  size_t kept = 0;
  bool zero = false;
  if (!v) return bl_nomem(err);
  *has_null = false;
  for (size_t i = 0; i < e->n_literals; i++) {
    bl_fit fit;
    if (e->literals[i].kind == BL_L_NULL) {
      *has_null = true;
      continue;
    }
    BL_TRY(bl_literal_fit(b->arena, &e->literals[i], &f->type, &v[kept], &fit, err));
    if (fit != BL_FIT_EXACT) continue;
    BL_TRY(bl_value_copy(b->arena, &v[kept], &v[kept], err));
    zero = zero || (is_floating(f) && (f->type.kind == BL_FLOAT ? v[kept].u.f == 0 : v[kept].u.d == 0));
    kept++;
  }
  if (zero && f->type.kind == BL_FLOAT) v[kept++] = (bl_value){.kind = BL_FLOAT, .u.f = -0.0f};
  if (zero && f->type.kind == BL_DOUBLE) v[kept++] = (bl_value){.kind = BL_DOUBLE, .u.d = -0.0};
  *n = sort_unique(v, kept);
  return BL_OK;
}

static bl_status bind_in(const binder *b, const bl_expr *e, const bl_field *f, bl_expr_op op, bl_expr **out,
                         bl_error *err) {
  bl_value *values = NULL;
  size_t n = 0;
  bool has_null = false, in = op == BL_E_IN;
  if (f->type.kind == BL_KIND_UNKNOWN) return new_node(b, BL_E_NULL, e, out, err);
  BL_TRY(in_values(b, e, f, &values, &n, &has_null, err));
  if (n == 0 && in) return new_node(b, has_null ? BL_E_NULL : BL_E_FALSE, e, out, err);
  if (!in && has_null) return new_node(b, BL_E_FALSE, e, out, err);
  if (n == 0) return bind_null_test(b, e, f, false, out, err);
  bool same = n == 2 && is_floating(f) && !has_null && bl_expr_order(&values[0], &values[1]) == 0;
  if ((n == 1 && !has_null) || same) return new_value_leaf(b, in ? BL_E_EQ : BL_E_NE, e, f, &values[n - 1], out, err);
  BL_TRY(new_leaf(b, op, e, f, out, err));
  (*out)->values = values;
  (*out)->n_literals = n;
  (*out)->has_null_literal = has_null;
  return BL_OK;
}

/* ---- column op column ---- */

static bool comparable(const bl_type *a, const bl_type *b) {
  bl_kind x = a->kind, y = b->kind;
  if ((x == BL_INT || x == BL_LONG) && (y == BL_INT || y == BL_LONG)) return true;
  if ((x == BL_FLOAT || x == BL_DOUBLE) && (y == BL_FLOAT || y == BL_DOUBLE)) return true;
  if (x != y || bl_kind_is_nested(x) || x == BL_VARIANT || x == BL_GEOMETRY || x == BL_GEOGRAPHY) return false;
  if (x == BL_DECIMAL) return a->scale == b->scale;
  return x != BL_FIXED || a->length == b->length;
}

static bl_status bind_columns(const binder *b, const bl_expr *e, const bl_field *f, bool negate, bl_expr **out,
                              bl_error *err) {
  const bl_field *g;
  BL_TRY(resolve(b, e->column2, e->at2, &g, err));
  if (f->type.kind == BL_KIND_UNKNOWN || g->type.kind == BL_KIND_UNKNOWN) return new_node(b, BL_E_NULL, e, out, err);
  if (!comparable(&f->type, &g->type))
    return bl_fail_at(err, BL_USAGE, (int64_t)e->at2,
                      "expression: column \"%.*s\": its type %s does not compare with type %s of \"%.*s\"",
                      BL_STR_ARG(e->column2), bl_kind_name(g->type.kind), bl_kind_name(f->type.kind),
                      BL_STR_ARG(e->column));
  BL_TRY(new_leaf(b, BL_E_COLUMN_CMP, e, f, out, err));
  (*out)->field2 = g;
  (*out)->cmp = negate ? negation(e->cmp) : e->cmp;
  (*out)->column2 = bl_arena_str(b->arena, e->column2);
  (*out)->at2 = e->at2;
  if (!(*out)->column2.p) return bl_nomem(err);
  if (!negate || !is_ordering(e->cmp) || !is_floating(f)) return BL_OK;
  BL_TRY(or_nan(b, e, e->column, f, *out, out, err));
  return or_nan(b, e, e->column2, g, *out, out, err);
}

/* ---- the tree ---- */

static bl_status bind_leaf(const binder *b, const bl_expr *e, bool negate, bl_expr **out, bl_error *err) {
  const bl_field *f;
  bl_expr_op op = negate ? negation(e->op) : e->op;
  BL_TRY(resolve(b, e->column, e->at, &f, err));
  switch (op) {
  case BL_E_IN:
  case BL_E_NOT_IN: return bind_in(b, e, f, op, out, err);
  case BL_E_IS_NULL:
  case BL_E_NOT_NULL: return bind_null_test(b, e, f, op == BL_E_IS_NULL, out, err);
  case BL_E_IS_NAN:
  case BL_E_NOT_NAN: return bind_nan_test(b, e, f, op, out, err);
  case BL_E_STARTS_WITH:
  case BL_E_NOT_STARTS_WITH: return bind_prefix(b, e, f, op, out, err);
  case BL_E_COLUMN_CMP: return bind_columns(b, e, f, negate, out, err);
  default: return bind_compare(b, e, f, negate, out, err);
  }
}

static bl_status bind(const binder *b, const bl_expr *e, bool negate, bl_expr **out, bl_error *err) {
  bl_expr_op op = negate ? negation(e->op) : e->op;
  switch (e->op) {
  case BL_E_TRUE:
  case BL_E_FALSE:
  case BL_E_NULL: return new_node(b, op, e, out, err);
  case BL_E_NOT: return bind(b, e->args[0], !negate, out, err);
  case BL_E_AND:
  case BL_E_OR: {
    bl_expr **args = bl_arena_alloc(b->arena, e->n_args, sizeof *args);
    if (!args) return bl_nomem(err);
    for (size_t i = 0; i < e->n_args; i++) BL_TRY(bind(b, e->args[i], negate, &args[i], err));
    return join(b, op, e, args, e->n_args, out, err);
  }
  default: return bind_leaf(b, e, negate, out, err);
  }
}

bl_status bl_expr_bind(bl_arena *a, const bl_expr *e, const bl_schema *schema, const bl_schema *meta, bl_expr **out,
                       bl_error *err) {
  binder b = {.arena = a, .schema = schema, .meta = meta};
  *out = NULL;
  return bind(&b, e, false, out, err);
}

/* ---- metadata columns ---- */

#define META(i, text, optional, k)                                                                                     \
  { .id = (i), .name = {text, sizeof(text) - 1}, .required = !(optional), .type = {.kind = (k)}, }

static const bl_field meta_fields[] = {
    META(BL_ID_ROW_ID, "_row_id", true, BL_LONG),
    META(BL_ID_LAST_UPDATED, "_last_updated_sequence_number", true, BL_LONG),
    META(BL_ID_FILE, "_file", false, BL_STRING),
    META(BL_ID_POS, "_pos", false, BL_LONG),
    META(BL_ID_SPEC_ID, "_spec_id", false, BL_INT),
    META(BL_ID_LAST_UPDATED_AT, "_last_updated_at", true, BL_TIMESTAMPTZ),
};
static const bl_schema meta_schema = {
    .id = -1,
    .root = {.kind = BL_STRUCT, .fields = (bl_field *)meta_fields, .n_fields = BL_LEN(meta_fields)},
    .highest_id = BL_ID_FILE,
};

const bl_schema *bl_meta_schema(void) {
  return &meta_schema;
}

/* ---- which fields ---- */

static size_t add_field(const bl_field *f, int32_t *out, size_t max, size_t n) {
  for (size_t i = 0; f && i < n && i < max; i++)
    if (out[i] == f->id) return n;
  if (!f) return n;
  if (n < max) out[n] = f->id;
  return n + 1;
}

static size_t fields(const bl_expr *e, int32_t *out, size_t max, size_t n) {
  for (size_t i = 0; i < e->n_args; i++) n = fields(e->args[i], out, max, n);
  n = add_field(e->field, out, max, n);
  return add_field(e->field2, out, max, n);
}

size_t bl_expr_fields(const bl_expr *e, int32_t *out, size_t max) {
  return fields(e, out, max, 0);
}
