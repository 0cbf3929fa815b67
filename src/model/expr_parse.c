/* expr_parse.c: text to an unbound expression, by recursive descent:
 *
 *   or        := and { OR and }
 *   and       := not { AND not }
 *   not       := NOT not | '(' or ')' | starts_with '(' column ',' 'text' ')' | predicate
 *   predicate := operand [ cmp operand | IS [NOT] (NULL | NAN) | [NOT] IN '(' literal {, literal} ')'
 *                        | [NOT] BETWEEN operand AND operand ]
 *   operand   := column | literal
 *
 *  E1 The depth of NOT and '(' is bounded by the ctx; chains of AND and OR are one node.
 *  E2 Keywords are known whatever their case, names only as written; a keyword is a name when it is quoted or follows
 *     a dot. date, timestamp, timestamptz, uuid are keywords only before a string, starts_with only before '('. */
#include "model/expr.h"
#include "model/expr_lex.h"

typedef struct parser {
  bl_lexer lex;
  bl_token cur, next;
  int depth, max_depth;
} parser;

typedef struct operand {
  bool is_column;
  bl_str column;
  bl_literal literal;
  size_t at;
} operand;

static bl_status parse_or(parser *p, bl_expr **out, bl_error *err);
static bl_status parse_not(parser *p, bl_expr **out, bl_error *err);

/* ---- tokens ---- */

static bl_status advance(parser *p, bl_error *err) {
  p->cur = p->next;
  if (p->next.kind == BL_TK_END) return BL_OK;
  return bl_lex(&p->lex, &p->next, err);
}

static bool is_word(const bl_token *t, const char *word) {
  return t->kind == BL_TK_WORD && bl_str_is_nocase(t->text, word);
}

static bl_status expected(const parser *p, const char *what, bl_error *err) {
  const bl_token *t = &p->cur;
  if (t->kind == BL_TK_END) return bl_expr_fail(err, p->lex.text, t->at, "%s expected, but the expression ends", what);
  return bl_expr_fail(err, p->lex.text, t->at, "%s expected", what);
}

static bl_status take(parser *p, bl_token_kind kind, const char *what, bl_error *err) {
  return p->cur.kind == kind ? advance(p, err) : expected(p, what, err);
}

static bl_status take_word(parser *p, const char *word, const char *what, bl_error *err) {
  return is_word(&p->cur, word) ? advance(p, err) : expected(p, what, err);
}

/* ---- nodes ---- */

static bl_expr *new_node(parser *p, bl_expr_op op, size_t at) {
  bl_expr *e = bl_arena_calloc(p->lex.arena, 1, sizeof *e);
  if (!e) return NULL;
  e->op = op;
  e->at = at;
  return e;
}

/* Room for one more of n items, n a power of two where it is full. */
static bool grow(parser *p, void **items, size_t n, size_t size) {
  if (n != 0 && (n & (n - 1)) != 0) return true;
  void *more = bl_arena_alloc(p->lex.arena, n ? 2 * n : 1, size);
  if (!more) return false;
  if (n) memcpy(more, *items, n * size);
  *items = more;
  return true;
}

static bl_status add_arg(parser *p, bl_expr *e, bl_expr *arg, bl_error *err) {
  if (!arg || !grow(p, (void **)&e->args, e->n_args, sizeof *e->args)) return bl_nomem(err);
  e->args[e->n_args++] = arg;
  return BL_OK;
}

static bl_status add_literal(parser *p, bl_expr *e, const bl_literal *l, bl_error *err) {
  if (!grow(p, (void **)&e->literals, e->n_literals, sizeof *e->literals)) return bl_nomem(err);
  e->literals[e->n_literals++] = *l;
  return BL_OK;
}

static bl_status negated(parser *p, bl_expr *e, bl_expr **out, bl_error *err) {
  bl_expr *not = new_node(p, BL_E_NOT, e->at);
  if (!not ) return bl_nomem(err);
  BL_TRY(add_arg(p, not, e, err));
  *out = not ;
  return BL_OK;
}

static bl_expr_op flipped(bl_expr_op op) {
  switch (op) {
  case BL_E_LT: return BL_E_GT;
  case BL_E_LE: return BL_E_GE;
  case BL_E_GT: return BL_E_LT;
  case BL_E_GE: return BL_E_LE;
  default: return op;
  }
}

static bl_status compare(parser *p, bl_expr_op op, const operand *l, const operand *r, bl_expr **out, bl_error *err) {
  if (!l->is_column && !r->is_column)
    return bl_expr_fail(err, p->lex.text, l->at, "one side of a comparison must be a column");
  if (!l->is_column) return compare(p, flipped(op), r, l, out, err);
  bl_expr *e = new_node(p, r->is_column ? BL_E_COLUMN_CMP : op, l->at);
  if (!e) return bl_nomem(err);
  *out = e;
  e->column = l->column;
  if (!r->is_column) return add_literal(p, e, &r->literal, err);
  e->cmp = op;
  e->column2 = r->column;
  e->at2 = r->at;
  return BL_OK;
}

/* ---- operands ---- */

static bool reserved(const bl_token *t) {
  static const char *const words[] = {"and", "or", "not", "in", "between", "is", "null", "true", "false"};
  for (size_t i = 0; i < BL_LEN(words); i++)
    if (is_word(t, words[i])) return true;
  return false;
}

static bl_status name_part(parser *p, const char *what, bl_buf *path, bl_error *err) {
  if (p->cur.kind != BL_TK_WORD && p->cur.kind != BL_TK_QUOTED) return expected(p, what, err);
  bl_buf_str(path, p->cur.text);
  return advance(p, err);
}

static bl_status parse_path(parser *p, bl_buf *path, bl_error *err) {
  BL_TRY(name_part(p, "a column or value", path, err));
  while (p->cur.kind == BL_TK_DOT) {
    bl_buf_byte(path, '.');
    BL_TRY(advance(p, err));
    BL_TRY(name_part(p, "a name", path, err));
  }
  return bl_buf_ok(path, err);
}

static bl_status parse_column(parser *p, bl_str *out, bl_error *err) {
  if (reserved(&p->cur))
    return bl_expr_fail(err, p->lex.text, p->cur.at,
                        "a column or value expected; a column named like a keyword needs \"…\"");
  bl_buf path;
  bl_buf_init(&path, bl_arena_ctx(p->lex.arena), p->lex.text.n + 1);
  bl_status st = parse_path(p, &path, err);
  if (st == BL_OK) {
    *out = bl_arena_str(p->lex.arena, (bl_str){path.n ? (const char *)path.p : "", path.n});
    if (!out->p) st = bl_nomem(err);
  }
  bl_buf_free(&path);
  return st;
}

/* Is the current word the type of the string after it, as in date '2026-01-31'? */
static bool typed_literal(const parser *p, bl_literal_kind *out) {
  static const struct {
    const char *word;
    bl_literal_kind kind;
  } types[] = {
      {"date", BL_L_DATE}, {"timestamp", BL_L_TIMESTAMP}, {"timestamptz", BL_L_TIMESTAMPTZ}, {"uuid", BL_L_UUID}};
  if (p->next.kind != BL_TK_STRING) return false;
  for (size_t i = 0; i < BL_LEN(types); i++) {
    if (!is_word(&p->cur, types[i].word)) continue;
    *out = types[i].kind;
    return true;
  }
  return false;
}

static bl_status parse_literal(parser *p, bl_literal *out, bool *found, bl_error *err) {
  const bl_token *t = &p->cur;
  *out = (bl_literal){.at = t->at, .text = t->text};
  *found = true;
  if (typed_literal(p, &out->kind)) {
    out->text = p->next.text;
    BL_TRY(advance(p, err));
  } else if (is_word(t, "true") || is_word(t, "false")) {
    out->kind = BL_L_BOOL;
  } else if (is_word(t, "null")) {
    out->kind = BL_L_NULL;
  } else if (t->kind == BL_TK_STRING) {
    out->kind = BL_L_STRING;
  } else if (t->kind == BL_TK_BYTES) {
    out->kind = BL_L_BYTES;
  } else if (t->kind == BL_TK_NUMBER) {
    out->kind = BL_L_NUMBER;
  } else {
    *found = false;
  }
  return *found ? advance(p, err) : BL_OK;
}

static bl_status parse_operand(parser *p, operand *out, bl_error *err) {
  bool found;
  *out = (operand){.at = p->cur.at};
  BL_TRY(parse_literal(p, &out->literal, &found, err));
  out->is_column = !found;
  return found ? BL_OK : parse_column(p, &out->column, err);
}

/* ---- predicates ---- */

static bool comparison(bl_token_kind kind, bl_expr_op *out) {
  switch (kind) {
  case BL_TK_EQ: *out = BL_E_EQ; return true;
  case BL_TK_NE: *out = BL_E_NE; return true;
  case BL_TK_LT: *out = BL_E_LT; return true;
  case BL_TK_LE: *out = BL_E_LE; return true;
  case BL_TK_GT: *out = BL_E_GT; return true;
  case BL_TK_GE: *out = BL_E_GE; return true;
  default: return false;
  }
}

static bl_status needs_column(const parser *p, const operand *o, const char *what, bl_error *err) {
  return o->is_column ? BL_OK : bl_expr_fail(err, p->lex.text, o->at, "%s takes a column on its left", what);
}

static bl_status parse_is(parser *p, const operand *o, bl_expr **out, bl_error *err) {
  BL_TRY(needs_column(p, o, "is", err));
  BL_TRY(advance(p, err));
  bool not = is_word(&p->cur, "not");
  if (not ) BL_TRY(advance(p, err));
  bool null = is_word(&p->cur, "null");
  if (!null && !is_word(&p->cur, "nan")) return expected(p, not ? "null or nan" : "null, nan or not", err);
  *out = new_node(p, null ? (not ? BL_E_NOT_NULL : BL_E_IS_NULL) : (not ? BL_E_NOT_NAN : BL_E_IS_NAN), o->at);
  if (!*out) return bl_nomem(err);
  (*out)->column = o->column;
  return advance(p, err);
}

static bl_status parse_in(parser *p, const operand *o, bl_expr **out, bl_error *err) {
  BL_TRY(needs_column(p, o, "in", err));
  BL_TRY(advance(p, err));
  bl_expr *e = *out = new_node(p, BL_E_IN, o->at);
  if (!e) return bl_nomem(err);
  e->column = o->column;
  BL_TRY(take(p, BL_TK_OPEN, "(", err));
  for (;;) {
    bl_literal l;
    bool found;
    BL_TRY(parse_literal(p, &l, &found, err));
    if (!found) return expected(p, "a value", err);
    BL_TRY(add_literal(p, e, &l, err));
    if (p->cur.kind != BL_TK_COMMA) break;
    BL_TRY(advance(p, err));
  }
  return take(p, BL_TK_CLOSE, ", or )", err);
}

static bl_status parse_between(parser *p, const operand *o, bl_expr **out, bl_error *err) {
  operand low, high;
  bl_expr *from, *to, *e;
  BL_TRY(advance(p, err));
  BL_TRY(parse_operand(p, &low, err));
  BL_TRY(take_word(p, "and", "and", err));
  BL_TRY(parse_operand(p, &high, err));
  BL_TRY(compare(p, BL_E_GE, o, &low, &from, err));
  BL_TRY(compare(p, BL_E_LE, o, &high, &to, err));
  if (!(e = new_node(p, BL_E_AND, o->at))) return bl_nomem(err);
  BL_TRY(add_arg(p, e, from, err));
  BL_TRY(add_arg(p, e, to, err));
  *out = e;
  return BL_OK;
}

/* A truth value or boolean column that stands alone. */
static bl_status bare(parser *p, const operand *o, bl_expr **out, bl_error *err) {
  if (o->is_column) {
    operand yes = {.literal = {.kind = BL_L_BOOL, .text = BL_STR("true"), .at = o->at}};
    return compare(p, BL_E_EQ, o, &yes, out, err);
  }
  if (o->literal.kind != BL_L_BOOL && o->literal.kind != BL_L_NULL) return expected(p, "a comparison", err);
  bool yes = bl_str_is_nocase(o->literal.text, "true");
  *out = new_node(p, o->literal.kind == BL_L_NULL ? BL_E_NULL : yes ? BL_E_TRUE : BL_E_FALSE, o->at);
  return *out ? BL_OK : bl_nomem(err);
}

static bl_status parse_predicate(parser *p, bl_expr **out, bl_error *err) {
  operand left, right;
  bl_expr_op op;
  BL_TRY(parse_operand(p, &left, err));
  if (comparison(p->cur.kind, &op)) {
    BL_TRY(advance(p, err));
    BL_TRY(parse_operand(p, &right, err));
    return compare(p, op, &left, &right, out, err);
  }
  if (is_word(&p->cur, "is")) return parse_is(p, &left, out, err);
  bool not = is_word(&p->cur, "not");
  if (not ) BL_TRY(advance(p, err));
  if (is_word(&p->cur, "in")) BL_TRY(parse_in(p, &left, out, err));
  else if (is_word(&p->cur, "between")) BL_TRY(parse_between(p, &left, out, err));
  else return not ? expected(p, "in or between", err) : bare(p, &left, out, err);
  return not ? negated(p, *out, out, err) : BL_OK;
}

static bl_status parse_starts_with(parser *p, bl_expr **out, bl_error *err) {
  bl_expr *e = *out = new_node(p, BL_E_STARTS_WITH, p->cur.at);
  if (!e) return bl_nomem(err);
  BL_TRY(advance(p, err));
  BL_TRY(advance(p, err));
  e->at = p->cur.at;
  BL_TRY(parse_column(p, &e->column, err));
  BL_TRY(take(p, BL_TK_COMMA, ",", err));
  bl_literal l;
  bool found;
  size_t at = p->cur.at;
  BL_TRY(parse_literal(p, &l, &found, err));
  if (!found || (l.kind != BL_L_STRING && l.kind != BL_L_NULL))
    return bl_expr_fail(err, p->lex.text, at, "a string expected");
  BL_TRY(add_literal(p, e, &l, err));
  return take(p, BL_TK_CLOSE, ")", err);
}

static bl_status parse_nested(parser *p, bl_expr **out, bl_error *err) {
  bool group = p->cur.kind == BL_TK_OPEN;
  if (++p->depth > p->max_depth)
    return bl_expr_fail(err, p->lex.text, p->cur.at, "nested more than %d deep", p->max_depth);
  bl_expr *inner;
  BL_TRY(advance(p, err));
  if (group) {
    BL_TRY(parse_or(p, &inner, err));
    BL_TRY(take(p, BL_TK_CLOSE, "and, or or )", err));
    *out = inner;
  } else {
    BL_TRY(parse_not(p, &inner, err));
    BL_TRY(negated(p, inner, out, err));
  }
  p->depth--;
  return BL_OK;
}

static bl_status parse_not(parser *p, bl_expr **out, bl_error *err) {
  if (is_word(&p->cur, "not") || p->cur.kind == BL_TK_OPEN) return parse_nested(p, out, err);
  if (is_word(&p->cur, "starts_with") && p->next.kind == BL_TK_OPEN) return parse_starts_with(p, out, err);
  return parse_predicate(p, out, err);
}

/* first, and whatever follows it joined by `word`, as one node. */
static bl_status parse_chain(parser *p, const char *word, bl_expr_op op,
                             bl_status (*part)(parser *, bl_expr **, bl_error *), bl_expr **out, bl_error *err) {
  bl_expr *first, *chain;
  BL_TRY(part(p, &first, err));
  *out = first;
  if (!is_word(&p->cur, word)) return BL_OK;
  if (!(chain = new_node(p, op, first->at))) return bl_nomem(err);
  BL_TRY(add_arg(p, chain, first, err));
  while (is_word(&p->cur, word)) {
    bl_expr *more;
    BL_TRY(advance(p, err));
    BL_TRY(part(p, &more, err));
    BL_TRY(add_arg(p, chain, more, err));
  }
  *out = chain;
  return BL_OK;
}

static bl_status parse_and(parser *p, bl_expr **out, bl_error *err) {
  return parse_chain(p, "and", BL_E_AND, parse_not, out, err);
}

static bl_status parse_or(parser *p, bl_expr **out, bl_error *err) {
  return parse_chain(p, "or", BL_E_OR, parse_and, out, err);
}

bl_status bl_expr_parse(bl_arena *a, bl_str text, bl_expr **out, bl_error *err) {
  parser p = {.lex = {.arena = a}, .max_depth = bl_arena_ctx(a)->o.max_nesting};
  *out = NULL;
  p.lex.text = bl_arena_str(a, text.p ? text : BL_STR(""));
  if (!p.lex.text.p) return bl_nomem(err);
  if (!bl_utf8_valid(p.lex.text.p, p.lex.text.n)) return bl_expr_fail(err, BL_STR(""), 0, "it is not UTF-8");
  BL_TRY(bl_lex(&p.lex, &p.next, err));
  BL_TRY(advance(&p, err));
  bl_expr *e;
  BL_TRY(parse_or(&p, &e, err));
  if (p.cur.kind != BL_TK_END) return expected(&p, "and, or or the end", err);
  *out = e;
  return BL_OK;
}
