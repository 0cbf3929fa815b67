/* predicate.c: see predicate.h. Arrow's kernels give SQL's three-valued logic; NOT IN with a null in the list is never
 * true. */
#include "scan/predicate.h"

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "scan/columns.h"

enum { MAX_DEPTH = 64 };

struct bl_predicate {
  bl_ctx *ctx;
  bl_arena *arena;
  const bl_type *wanted;
  struct ArrowSchema schema; /* of the batches */
  bl_pred_step *steps;
  size_t n, cap;
  struct ArrowArray *arrays; /* literals, one a step at most */
  struct ArrowSchema *types;
  size_t n_literals, cap_literals;
};

static bl_status add(bl_predicate *p, bl_pred_step s, bl_error *err) {
  BL_TRY(bl_grow(p->ctx, &p->steps, &p->cap, p->n, sizeof *p->steps, err));
  p->steps[p->n++] = s;
  return BL_OK;
}

static bl_status add_op(bl_predicate *p, bl_pred_op op, bl_error *err) {
  return add(p, (bl_pred_step){.op = op}, err);
}

static bl_status add_column(bl_predicate *p, const bl_field *f, bl_error *err) {
  int32_t *path = bl_arena_alloc(p->arena, MAX_DEPTH, sizeof *path);
  if (!path) return bl_nomem(err);
  size_t n = bl_columns_path(p->wanted, f->id, path, MAX_DEPTH);
  if (n == 0) return bl_fail(err, BL_USAGE, "column: %s: a predicate cannot look inside lists and maps", f->name.p);
  return add(p, (bl_pred_step){.op = BL_P_COLUMN, .path = path, .n_path = n}, err);
}

/* One array of all literals of a node: constants put together value by value (fixed and variable widths alike). */
static bl_status literal_array(bl_predicate *p, const bl_field *f, const bl_value *v, size_t n, struct ArrowArray *out,
                               bl_error *err) {
  if (n == 1) return bl_array_constant(p->ctx, &f->type, v, 1, out, err);
  struct ArrowSchema s = {0};
  bl_field root_field = *f;
  bl_type root = {.kind = BL_STRUCT, .fields = &root_field, .n_fields = 1};
  struct ArrowArray *parts = bl_calloc(p->ctx, n + 1, sizeof *parts), whole = {0};
  if (!parts) return bl_nomem(err);
  bl_status st = bl_aschema_of_struct(p->ctx, &root, &s, err);
  size_t made = 0;
  for (; st == BL_OK && made < n; made++) {
    st = bl_array_new(p->ctx, 1, 1, 1, &parts[made], err);
    if (st != BL_OK) break;
    st = bl_array_constant(p->ctx, &f->type, &v[made], 1, parts[made].children[0], err);
  }
  if (st == BL_OK && n > 0) {
    st = bl_arrow_concat(parts, n, &s, &whole, err);
    made = 0;
    if (st == BL_OK) bl_array_move(whole.children[0], out);
    bl_array_release(&whole);
  } else if (st == BL_OK) st = bl_array_nulls(p->ctx, &f->type, 0, out, err);
  for (size_t i = 0; i < made; i++) bl_array_release(&parts[i]);
  bl_free(p->ctx, parts);
  bl_aschema_release(&s);
  return st;
}

/* Steps point at literals by index + 1 until all are made, since the arrays move while they grow. */
static bl_status add_literals(bl_predicate *p, bl_pred_op op, const bl_field *f, const bl_value *v, size_t n,
                              bl_error *err) {
  size_t cap = p->cap_literals;
  BL_TRY(bl_grow(p->ctx, &p->arrays, &cap, p->n_literals, sizeof *p->arrays, err));
  BL_TRY(bl_grow(p->ctx, &p->types, &p->cap_literals, p->n_literals, sizeof *p->types, err));
  memset(&p->arrays[p->n_literals], 0, sizeof *p->arrays);
  memset(&p->types[p->n_literals], 0, sizeof *p->types);
  size_t at = p->n_literals++;
  BL_TRY(literal_array(p, f, v, n, &p->arrays[at], err));
  BL_TRY(bl_aschema_of_field(p->ctx, f, &p->types[at], err));
  return add(p, (bl_pred_step){.op = op, .n_prefix = at + 1}, err);
}

static void bind_literals(bl_predicate *p) {
  for (size_t i = 0; i < p->n; i++) {
    bl_pred_step *s = &p->steps[i];
    if ((s->op != BL_P_LITERAL && s->op != BL_P_IN) || !s->n_prefix) continue;
    s->literal = &p->arrays[s->n_prefix - 1];
    s->literal_type = &p->types[s->n_prefix - 1];
    s->n_prefix = 0;
  }
}

static bl_pred_op compare_op(bl_expr_op op) {
  switch (op) {
  case BL_E_EQ: return BL_P_EQ;
  case BL_E_NE: return BL_P_NE;
  case BL_E_LT: return BL_P_LT;
  case BL_E_LE: return BL_P_LE;
  case BL_E_GT: return BL_P_GT;
  default: return BL_P_GE;
  }
}

static bl_status compile(bl_predicate *p, const bl_expr *e, bl_error *err);

static bl_status compile_list(bl_predicate *p, const bl_expr *e, bl_error *err) {
  bl_pred_op op = e->op == BL_E_AND ? BL_P_AND : BL_P_OR;
  if (e->n_args == 0) return add_op(p, e->op == BL_E_AND ? BL_P_TRUE : BL_P_FALSE, err);
  for (size_t i = 0; i < e->n_args; i++) {
    BL_TRY(compile(p, e->args[i], err));
    if (i > 0) BL_TRY(add_op(p, op, err));
  }
  return BL_OK;
}

/* x in (…): null where x is null; with a null in the list, false becomes null. */
static bl_status compile_in(bl_predicate *p, const bl_expr *e, bl_error *err) {
  BL_TRY(add_column(p, e->field, err));
  BL_TRY(add_literals(p, BL_P_IN, e->field, e->values, e->n_literals, err));
  if (e->has_null_literal) {
    BL_TRY(add_op(p, BL_P_NULL, err));
    BL_TRY(add_op(p, BL_P_OR, err));
  }
  return e->op == BL_E_NOT_IN ? add_op(p, BL_P_NOT, err) : BL_OK;
}

static bl_status compile_unary(bl_predicate *p, const bl_expr *e, bl_pred_op op, bool negate, bl_error *err) {
  BL_TRY(add_column(p, e->field, err));
  BL_TRY(add_op(p, op, err));
  return negate ? add_op(p, BL_P_NOT, err) : BL_OK;
}

static bl_status compile_prefix(bl_predicate *p, const bl_expr *e, bl_error *err) {
  BL_TRY(add_column(p, e->field, err));
  bl_str s = e->values[0].u.s;
  BL_TRY(add(p, (bl_pred_step){.op = BL_P_STARTS_WITH, .prefix = s.p, .n_prefix = s.n}, err));
  return e->op == BL_E_NOT_STARTS_WITH ? add_op(p, BL_P_NOT, err) : BL_OK;
}

static bl_status compile_compare(bl_predicate *p, const bl_expr *e, bl_error *err) {
  BL_TRY(add_column(p, e->field, err));
  if (e->op == BL_E_COLUMN_CMP) {
    BL_TRY(add_column(p, e->field2, err));
    return add_op(p, compare_op(e->cmp), err);
  }
  BL_TRY(add_literals(p, BL_P_LITERAL, e->field, e->values, 1, err));
  return add_op(p, compare_op(e->op), err);
}

static bl_status compile(bl_predicate *p, const bl_expr *e, bl_error *err) {
  switch (e->op) {
  case BL_E_TRUE: return add_op(p, BL_P_TRUE, err);
  case BL_E_FALSE: return add_op(p, BL_P_FALSE, err);
  case BL_E_NULL: return add_op(p, BL_P_NULL, err);
  case BL_E_AND:
  case BL_E_OR: return compile_list(p, e, err);
  case BL_E_NOT: BL_TRY(compile(p, e->args[0], err)); return add_op(p, BL_P_NOT, err);
  case BL_E_IN:
  case BL_E_NOT_IN: return compile_in(p, e, err);
  case BL_E_IS_NULL: return compile_unary(p, e, BL_P_IS_NULL, false, err);
  case BL_E_NOT_NULL: return compile_unary(p, e, BL_P_IS_NULL, true, err);
  case BL_E_IS_NAN: return compile_unary(p, e, BL_P_IS_NAN, false, err);
  case BL_E_NOT_NAN: return compile_unary(p, e, BL_P_IS_NAN, true, err);
  case BL_E_STARTS_WITH:
  case BL_E_NOT_STARTS_WITH: return compile_prefix(p, e, err);
  default: return compile_compare(p, e, err);
  }
}

bl_status bl_predicate_new(bl_ctx *ctx, const bl_expr *bound, const bl_type *wanted, bl_predicate **out,
                           bl_error *err) {
  *out = NULL;
  bl_predicate *p = bl_calloc(ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  p->ctx = ctx;
  p->wanted = wanted;
  bl_status st;
  BL_GO(bl_arena_new(ctx, &p->arena, err));
  BL_GO(bl_aschema_of_struct(ctx, wanted, &p->schema, err));
  BL_GO(compile(p, bound, err));
  bind_literals(p);
  *out = p;
done:
  if (st != BL_OK) bl_predicate_free(p);
  return st;
}

void bl_predicate_free(bl_predicate *p) {
  if (!p) return;
  for (size_t i = 0; i < p->n_literals; i++) {
    bl_array_release(&p->arrays[i]);
    bl_aschema_release(&p->types[i]);
  }
  bl_free(p->ctx, p->arrays);
  bl_free(p->ctx, p->types);
  bl_free(p->ctx, p->steps);
  bl_aschema_release(&p->schema);
  bl_arena_free(p->arena);
  bl_free(p->ctx, p);
}

bl_status bl_predicate_run(const bl_predicate *p, const struct ArrowArray *batch, uint8_t *keep, bl_error *err) {
  return bl_arrow_predicate(batch, &p->schema, p->steps, p->n, keep, err);
}
