/* set_bind.c: names to columns, and a type to every node (set_expr.h V1-V4). Conversions become BL_S_CAST nodes. */
#include "model/expr_lex.h"
#include "model/expr_literal.h"
#include "model/near.h"
#include "scan/columns.h"
#include "write/set_expr.h"

enum { MAX_PATH = 64 };

typedef struct binder {
  bl_arena *a;
  bl_str text;
  const bl_schema *schema, *meta;
  const bl_type *wanted;
} binder;

static bl_status bind(binder *b, const bl_set_node *n, const bl_type *want, bl_set_node **out, bl_error *err);

static bool is_integer(const bl_type *t) {
  return t->kind == BL_INT || t->kind == BL_LONG;
}

static bool is_numeric(const bl_type *t) {
  return is_integer(t) || t->kind == BL_DECIMAL || t->kind == BL_FLOAT || t->kind == BL_DOUBLE;
}

static bool is_time(const bl_type *t) {
  return t->kind == BL_DATE || (t->kind >= BL_TIMESTAMP && t->kind <= BL_TIMESTAMPTZ_NS);
}

static bl_str type_name(binder *b, const bl_type *t) {
  bl_buf text;
  bl_buf_init(&text, bl_arena_ctx(b->a), 1000);
  if (t->kind == BL_STRUCT) bl_buf_cstr(&text, bl_kind_name(t->kind)); /* ids of fields say nothing here */
  else bl_type_print(&text, t);
  bl_str s = text.failed ? BL_STR("?") : bl_arena_str(b->a, (bl_str){(const char *)text.p, text.n});
  bl_buf_free(&text);
  return s.p ? s : BL_STR("?");
}

static bl_status copy_node(binder *b, const bl_set_node *n, bl_set_node **out, bl_error *err) {
  bl_set_node *own = *out = bl_arena_alloc(b->a, 1, sizeof *own);
  if (!own) return bl_nomem(err);
  *own = *n;
  if (n->n_args == 0) return BL_OK;
  own->args = bl_arena_calloc(b->a, n->n_args, sizeof *own->args);
  return own->args ? BL_OK : bl_nomem(err);
}

/* ---- conversions ---- */

/* The same struct, list or map, whatever the ids. */
static bool same_shape(const bl_type *from, const bl_type *to) {
  if (from->kind != to->kind || from->n_fields != to->n_fields) return false;
  for (size_t i = 0; i < from->n_fields; i++) {
    const bl_field *x = &from->fields[i], *y = &to->fields[i];
    if (!bl_str_eq(x->name, y->name) || (y->required && !x->required) || !same_shape(&x->type, &y->type)) return false;
  }
  return from->precision == to->precision && from->scale == to->scale && from->length == to->length;
}

/* Nothing is to be done to a value. */
static bool same_values(const bl_type *from, const bl_type *to) {
  if (bl_kind_is_nested(from->kind) || from->kind == BL_VARIANT) return same_shape(from, to);
  if (from->kind != to->kind) return false;
  if (from->kind == BL_DECIMAL) return from->scale == to->scale && from->precision <= to->precision;
  return from->length == to->length;
}

/* *n as a value of type `to`. */
static bl_status coerce(binder *b, bl_set_node **n, const bl_type *to, bool written, bl_error *err) {
  bl_set_node *from = *n, *cast;
  if (from->op == BL_S_LITERAL && from->value.null) {
    from->type = *to;
    from->value.kind = to->kind;
    return BL_OK;
  }
  if (same_values(&from->type, to)) return BL_OK;
  if (!bl_set_converts(&from->type, to, written))
    return bl_expr_fail(err, b->text, from->at, "a value of type %s is no %s%s", type_name(b, &from->type).p,
                        type_name(b, to).p,
                        !written && bl_set_converts(&from->type, to, true) ? "; cast(… as …) converts it" : "");
  cast = bl_arena_calloc(b->a, 1, sizeof *cast);
  bl_set_node **args = bl_arena_alloc(b->a, 1, sizeof *args);
  if (!cast || !args) return bl_nomem(err);
  args[0] = from;
  *cast = (bl_set_node){.op = BL_S_CAST, .at = from->at, .args = args, .n_args = 1, .type = *to};
  *n = cast;
  return BL_OK;
}

/* ---- literals ---- */

/* Does a literal of that kind take the type straight from its text? */
static bool takes(bl_literal_kind kind, const bl_type *t) {
  switch (kind) {
  case BL_L_NUMBER: return is_numeric(t);
  case BL_L_BOOL: return t->kind == BL_BOOLEAN;
  case BL_L_DATE:
  case BL_L_TIMESTAMP:
  case BL_L_TIMESTAMPTZ: return is_time(t);
  case BL_L_UUID: return t->kind == BL_UUID;
  case BL_L_BYTES: return t->kind == BL_BINARY || t->kind == BL_FIXED || t->kind == BL_UUID;
  case BL_L_STRING: return !bl_kind_is_nested(t->kind) && t->kind < BL_KIND_UNKNOWN;
  default: return false;
  }
}

static bool fits(bl_fit fit, const bl_type *t) {
  bool floating = t->kind == BL_FLOAT || t->kind == BL_DOUBLE;
  return fit == BL_FIT_EXACT || (floating && fit != BL_FIT_ALL_LESS && fit != BL_FIT_ALL_GREATER);
}

static bl_status literal_as(binder *b, bl_set_node *n, const bl_type *t, bl_error *err) {
  bl_fit fit;
  n->type = *t;
  BL_TRY(bl_literal_fit(b->a, &n->literal, t, &n->value, &fit, err));
  if (t->kind == BL_FLOAT || t->kind == BL_DOUBLE) {
    double d = t->kind == BL_FLOAT ? (double)n->value.u.f : n->value.u.d;
    if (fit != BL_FIT_EXACT && d - d != 0 && d == d) fit = BL_FIT_ALL_LESS; /* too great, not the word Infinity */
  }
  if (fits(fit, t)) return BL_OK;
  return bl_expr_fail(err, b->text, n->at, "%.*s does not fit the type %s", BL_STR_ARG(n->literal.text),
                      type_name(b, t).p);
}

/* digits[.digits]: a decimal that holds all of them. */
static bool decimal_type(bl_str s, bl_type *out) {
  int digits = 0, scale = 0;
  bool point = false;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '.') point = true;
    else if (s.p[i] != '-') {
      digits++;
      scale += point;
    }
  }
  *out = (bl_type){.kind = BL_DECIMAL, .precision = digits, .scale = scale};
  return digits <= 38;
}

static bl_status natural_number(binder *b, bl_set_node *n, bl_error *err) {
  bl_type t = {.kind = BL_DOUBLE};
  bl_str s = n->literal.text;
  int64_t v;
  bool exponent = memchr(s.p, 'e', s.n) || memchr(s.p, 'E', s.n), point = memchr(s.p, '.', s.n) != NULL;
  if (!exponent && !point && bl_parse_i64(s, &v)) t.kind = v >= INT32_MIN && v <= INT32_MAX ? BL_INT : BL_LONG;
  else if (!exponent && !decimal_type(s, &t)) t = (bl_type){.kind = BL_DOUBLE};
  return literal_as(b, n, &t, err);
}

static bl_status natural_instant(binder *b, bl_set_node *n, bl_kind us, bl_kind ns, bl_error *err) {
  bl_fit fit;
  n->type.kind = us;
  BL_TRY(bl_literal_fit(b->a, &n->literal, &n->type, &n->value, &fit, err));
  bl_type fine = {.kind = ns};
  return fit == BL_FIT_EXACT ? BL_OK : literal_as(b, n, &fine, err);
}

static bl_status natural(binder *b, bl_set_node *n, bl_error *err) {
  switch (n->literal.kind) {
  case BL_L_NUMBER: return natural_number(b, n, err);
  case BL_L_NULL:
    n->type = (bl_type){.kind = BL_KIND_UNKNOWN};
    n->value = (bl_value){.kind = BL_KIND_UNKNOWN, .null = true};
    return BL_OK;
  case BL_L_STRING: return literal_as(b, n, &(bl_type){.kind = BL_STRING}, err);
  case BL_L_BOOL: return literal_as(b, n, &(bl_type){.kind = BL_BOOLEAN}, err);
  case BL_L_DATE: return literal_as(b, n, &(bl_type){.kind = BL_DATE}, err);
  case BL_L_TIMESTAMP: return natural_instant(b, n, BL_TIMESTAMP, BL_TIMESTAMP_NS, err);
  case BL_L_TIMESTAMPTZ: return natural_instant(b, n, BL_TIMESTAMPTZ, BL_TIMESTAMPTZ_NS, err);
  case BL_L_UUID: return literal_as(b, n, &(bl_type){.kind = BL_UUID}, err);
  default: return literal_as(b, n, &(bl_type){.kind = BL_BINARY}, err);
  }
}

static bl_status bind_literal(binder *b, bl_set_node *n, const bl_type *want, bl_error *err) {
  if (want && takes(n->literal.kind, want)) return literal_as(b, n, want, err);
  return natural(b, n, err);
}

/* ---- columns ---- */

static bl_status bind_column(binder *b, bl_set_node *n, bl_error *err) {
  const bl_field *f = bl_schema_find_name(b->schema, n->column);
  int32_t path[MAX_PATH];
  if (!f) f = bl_filter_meta_find(b->meta, n->column);
  if (!f)
    return bl_expr_fail(err, b->text, n->at, "column \"%s\": there is none of this name and case%s", n->column.p,
                        bl_near_field(&b->schema->root, &b->meta->root, n->column).hint);
  n->n_path = bl_columns_path(b->wanted, f->id, path, MAX_PATH);
  if (n->n_path == 0)
    return bl_expr_fail(err, b->text, n->at, "column \"%s\": it is %s", n->column.p,
                        f->id < 0 || f->id > BL_ID_FIRST_RESERVED ? "not available here" : "inside a list or map");
  n->path = bl_arena_alloc(b->a, n->n_path, sizeof *n->path);
  if (!n->path) return bl_nomem(err);
  memcpy(n->path, path, n->n_path * sizeof *path);
  n->field = f;
  n->type = f->type;
  return BL_OK;
}

/* ---- arithmetic ---- */

/* Integers as decimals hold every value of their type. */
static bl_type as_decimal(const bl_type *t) {
  if (t->kind == BL_DECIMAL) return *t;
  return (bl_type){.kind = BL_DECIMAL, .precision = t->kind == BL_INT ? 10 : 19};
}

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static bl_type decimal_result(bl_set_op op, const bl_type *l, const bl_type *r) {
  bl_type t = {.kind = BL_DECIMAL, .precision = 38, .scale = most(l->scale, r->scale)};
  if (op == BL_S_MULTIPLY) t.scale = least(l->scale + r->scale, 38);
  if (op == BL_S_DIVIDE) {
    int32_t whole = l->precision - l->scale + r->scale, wish = most(6, l->scale + r->precision + 1);
    t.scale = wish + whole > 38 ? most(38 - whole, least(wish, 6)) : wish;
  }
  return t;
}

static bl_type arithmetic_type(bl_set_op op, const bl_type *l, const bl_type *r, const bl_type *want) {
  bool floating = l->kind == BL_FLOAT || l->kind == BL_DOUBLE || r->kind == BL_FLOAT || r->kind == BL_DOUBLE;
  bool integers = is_integer(l) && is_integer(r), divided = integers && op == BL_S_DIVIDE;
  if (floating) return (bl_type){.kind = BL_DOUBLE};
  if (divided && want && is_integer(want)) return (bl_type){.kind = BL_LONG};
  if (divided && !(want && want->kind == BL_DECIMAL)) return (bl_type){.kind = BL_DOUBLE};
  if (integers && !divided) return (bl_type){.kind = BL_LONG};
  bl_type dl = as_decimal(l), dr = as_decimal(r);
  return decimal_result(op, &dl, &dr);
}

static bl_status bind_operand(binder *b, const bl_set_node *n, bl_set_node **out, bl_error *err) {
  BL_TRY(bind(b, n, NULL, out, err));
  if ((*out)->type.kind == BL_KIND_UNKNOWN) return coerce(b, out, &(bl_type){.kind = BL_INT}, false, err);
  if (is_numeric(&(*out)->type)) return BL_OK;
  return bl_expr_fail(err, b->text, n->at, "arithmetic takes numbers, not a value of type %s",
                      type_name(b, &(*out)->type).p);
}

static bl_status bind_arithmetic(binder *b, const bl_set_node *from, bl_set_node *n, const bl_type *want,
                                 bl_error *err) {
  bl_set_node **l = &n->args[0], **r = &n->args[1];
  BL_TRY(bind_operand(b, from->args[0], l, err));
  BL_TRY(bind_operand(b, from->args[1], r, err));
  n->type = arithmetic_type(n->op, &(*l)->type, &(*r)->type, want);
  bl_type side = n->type; /* decimals keep their own scales */
  for (bl_set_node **arg = l;; arg = r) {
    if (n->type.kind == BL_DECIMAL) side = as_decimal(&(*arg)->type);
    BL_TRY(coerce(b, arg, &side, false, err));
    if (arg == r) return BL_OK;
  }
}

static bl_status bind_negate(binder *b, const bl_set_node *from, bl_set_node *n, bl_error *err) {
  BL_TRY(bind_operand(b, from->args[0], &n->args[0], err));
  n->type = n->args[0]->type;
  if (n->type.kind != BL_INT) return BL_OK;
  n->type.kind = BL_LONG;
  return coerce(b, &n->args[0], &n->type, false, err);
}

static bl_status bind_concat(binder *b, const bl_set_node *from, bl_set_node *n, bl_error *err) {
  n->type = (bl_type){.kind = BL_STRING};
  for (size_t i = 0; i < n->n_args; i++) {
    BL_TRY(bind(b, from->args[i], NULL, &n->args[i], err));
    BL_TRY(coerce(b, &n->args[i], &n->type, false, err));
  }
  return BL_OK;
}

/* ---- alternatives ---- */

/* The type that holds values of both; false where there is none. */
static bool common_type(const bl_type *a, const bl_type *b, bl_type *out) {
  *out = *a;
  if (a->kind == BL_KIND_UNKNOWN) *out = *b;
  else if (b->kind == BL_KIND_UNKNOWN || same_values(b, a)) return true;
  else if (same_values(a, b)) *out = *b;
  else if (is_numeric(a) && is_numeric(b)) *out = arithmetic_type(BL_S_ADD, a, b, NULL);
  else if (bl_set_converts(a, b, false)) *out = *b;
  else return bl_set_converts(b, a, false);
  return true;
}

/* coalesce, and the values of a case. */
static bl_status bind_alternatives(binder *b, const bl_set_node *from, bl_set_node *n, const bl_type *want,
                                   bl_error *err) {
  bl_type t = {.kind = BL_KIND_UNKNOWN};
  for (size_t i = 0; i < n->n_args; i++) {
    BL_TRY(bind(b, from->args[i], want, &n->args[i], err));
    if (!want && !common_type(&t, &n->args[i]->type, &t))
      return bl_expr_fail(err, b->text, from->args[i]->at, "a value of type %s does not go with one of type %s",
                          type_name(b, &n->args[i]->type).p, type_name(b, &t).p);
  }
  n->type = want ? *want : t;
  for (size_t i = 0; i < n->n_args; i++) BL_TRY(coerce(b, &n->args[i], &n->type, false, err));
  return BL_OK;
}

static bl_status bind_when(binder *b, const bl_set_node *from, bl_set_node *n, bl_error *err) {
  int32_t ids[256], path[MAX_PATH];
  n->when = bl_arena_alloc(b->a, n->n_when + 1, sizeof *n->when);
  if (!n->when) return bl_nomem(err);
  for (size_t i = 0; i < n->n_when; i++) {
    bl_status st = bl_expr_bind(b->a, from->when[i], b->schema, b->meta, &n->when[i], err);
    if (st != BL_OK && err && err->position >= 0) err->position += (int64_t)from->when_at[i];
    BL_TRY(st);
    size_t k = bl_expr_fields(n->when[i], ids, BL_LEN(ids));
    if (k > BL_LEN(ids)) return bl_expr_fail(err, b->text, from->when_at[i], "it has too many columns");
    while (k-- > 0)
      if (bl_columns_path(b->wanted, ids[k], path, MAX_PATH) == 0)
        return bl_expr_fail(err, b->text, from->when_at[i], "it asks for a column that is not available here");
  }
  return BL_OK;
}

/* ---- metadata columns ---- */

static bl_status add_meta(bl_columns *c, bl_str name, const bl_schema *meta, bl_error *err) {
  if (!name.p || bl_schema_find_name(c->schema, name)) return BL_OK;
  const bl_field *f = bl_filter_meta_find(meta, name);
  return f ? bl_columns_add_id(c, f->id, err) : BL_OK; /* binding names it */
}

static bl_status add_of_predicate(bl_columns *c, const bl_expr *e, const bl_schema *meta, bl_error *err) {
  for (size_t i = 0; i < e->n_args; i++) BL_TRY(add_of_predicate(c, e->args[i], meta, err));
  BL_TRY(add_meta(c, e->column, meta, err));
  return add_meta(c, e->column2, meta, err);
}

bl_status bl_set_columns(bl_columns *c, const bl_set_node *n, const bl_schema *meta, bl_error *err) {
  for (size_t i = 0; i < n->n_args; i++) BL_TRY(bl_set_columns(c, n->args[i], meta, err));
  for (size_t i = 0; i < n->n_when; i++) BL_TRY(add_of_predicate(c, n->when[i], meta, err));
  return add_meta(c, n->column, meta, err);
}

/* ---- the tree ---- */

static bl_status bind_cast(binder *b, const bl_set_node *from, bl_set_node *n, bl_error *err) {
  const bl_type *inner = from->args[0]->op == BL_S_LITERAL && from->args[0]->literal.kind == BL_L_NUMBER &&
                                 n->type.kind != BL_DOUBLE && n->type.kind != BL_FLOAT
                             ? NULL /* cast(1.5 as int) cuts */
                             : &n->type;
  BL_TRY(bind(b, from->args[0], inner, &n->args[0], err));
  bl_set_node *arg = n->args[0];
  BL_TRY(coerce(b, &arg, &n->type, true, err));
  *n = *arg;
  return BL_OK;
}

static bl_status bind(binder *b, const bl_set_node *from, const bl_type *want, bl_set_node **out, bl_error *err) {
  bl_set_node *n;
  if (want && (bl_kind_is_nested(want->kind) || want->kind >= BL_KIND_UNKNOWN)) want = NULL;
  BL_TRY(copy_node(b, from, out, err));
  n = *out;
  switch (n->op) {
  case BL_S_LITERAL: return bind_literal(b, n, want, err);
  case BL_S_COLUMN: return bind_column(b, n, err);
  case BL_S_NEGATE: return bind_negate(b, from, n, err);
  case BL_S_CONCAT: return bind_concat(b, from, n, err);
  case BL_S_CASE: BL_TRY(bind_when(b, from, n, err)); return bind_alternatives(b, from, n, want, err);
  case BL_S_COALESCE: return bind_alternatives(b, from, n, want, err);
  case BL_S_CAST: return bind_cast(b, from, n, err);
  default: return bind_arithmetic(b, from, n, want, err);
  }
}

bl_status bl_set_bind(bl_arena *a, bl_str text, const bl_set_node *n, const bl_set_names *names, const bl_type *to,
                      bl_set_node **out, bl_error *err) {
  binder b = {.a = a, .text = text, .schema = names->schema, .meta = names->meta, .wanted = names->wanted};
  *out = NULL;
  BL_TRY(bind(&b, n, to, out, err));
  bool nested = bl_kind_is_nested((*out)->type.kind) || (*out)->type.kind == BL_VARIANT;
  if (nested && (*out)->op != BL_S_COLUMN)
    return bl_expr_fail(err, text, n->at, "a value of type %s can only be copied as it is",
                        bl_kind_name((*out)->type.kind));
  return coerce(&b, out, to, false, err);
}
