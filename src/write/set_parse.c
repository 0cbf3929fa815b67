/* set_parse.c: the text of an assignment to an unbound tree. Depth is bounded by the ctx. */
#include "model/expr_lex.h"
#include "write/set_expr.h"

typedef struct parser {
  bl_lexer lex;
  bl_token cur, next;
  int depth, max_depth;
} parser;

static bl_status parse_value(parser *p, bl_set_node **out, bl_error *err);

/* ---- tokens ---- */

static bl_status advance(parser *p, bl_error *err) {
  p->cur = p->next;
  return p->next.kind == BL_TK_END ? BL_OK : bl_lex(&p->lex, &p->next, err);
}

static bool is_word(const bl_token *t, const char *word) {
  return t->kind == BL_TK_WORD && bl_str_is_nocase(t->text, word);
}

static bl_status expected(const parser *p, const char *what, bl_error *err) {
  const char *end = p->cur.kind == BL_TK_END ? ", but the expression ends" : "";
  return bl_expr_fail(err, p->lex.text, p->cur.at, "%s expected%s", what, end);
}

static bl_status take(parser *p, bl_token_kind kind, const char *what, bl_error *err) {
  return p->cur.kind == kind ? advance(p, err) : expected(p, what, err);
}

static bl_status take_word(parser *p, const char *word, bl_error *err) {
  return is_word(&p->cur, word) ? advance(p, err) : expected(p, word, err);
}

/* ---- nodes ---- */

static bl_status new_node(parser *p, bl_set_op op, size_t at, bl_set_node **out, bl_error *err) {
  bl_set_node *n = *out = bl_arena_calloc(p->lex.arena, 1, sizeof *n);
  if (!n) return bl_nomem(err);
  n->op = op;
  n->at = at;
  return BL_OK;
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

static bl_status add_arg(parser *p, bl_set_node *n, bl_set_node *arg, bl_error *err) {
  if (!grow(p, (void **)&n->args, n->n_args, sizeof *n->args)) return bl_nomem(err);
  n->args[n->n_args++] = arg;
  return BL_OK;
}

/* ---- columns and literals ---- */

static bl_status parse_name(parser *p, bl_str *out, bl_error *err) {
  bl_buf path;
  bl_status st;
  bl_buf_init(&path, bl_arena_ctx(p->lex.arena), p->lex.text.n + 1);
  for (;;) {
    if (p->cur.kind != BL_TK_WORD && p->cur.kind != BL_TK_QUOTED) BL_GO(expected(p, "a column", err));
    bl_buf_str(&path, p->cur.text);
    BL_GO(advance(p, err));
    if (p->cur.kind != BL_TK_DOT) break;
    bl_buf_byte(&path, '.');
    BL_GO(advance(p, err));
  }
  BL_GO(bl_buf_ok(&path, err));
  *out = bl_arena_str(p->lex.arena, (bl_str){path.n ? (const char *)path.p : "", path.n});
  if (!out->p) st = bl_nomem(err);
done:
  bl_buf_free(&path);
  return st;
}

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

static bool literal_kind(const parser *p, bl_literal_kind *out) {
  const bl_token *t = &p->cur;
  if (is_word(t, "true") || is_word(t, "false")) *out = BL_L_BOOL;
  else if (is_word(t, "null")) *out = BL_L_NULL;
  else if (t->kind == BL_TK_STRING) *out = BL_L_STRING;
  else if (t->kind == BL_TK_BYTES) *out = BL_L_BYTES;
  else if (t->kind == BL_TK_NUMBER) *out = BL_L_NUMBER;
  else return false;
  return true;
}

static bl_status parse_literal(parser *p, bl_set_node **out, bool *found, bl_error *err) {
  bl_literal l = {.at = p->cur.at};
  *found = true;
  if (typed_literal(p, &l.kind)) BL_TRY(advance(p, err));
  else if (!literal_kind(p, &l.kind)) {
    *found = false;
    return BL_OK;
  }
  l.text = p->cur.text;
  BL_TRY(new_node(p, BL_S_LITERAL, l.at, out, err));
  (*out)->literal = l;
  return advance(p, err);
}

/* ---- functions ---- */

static bl_status parse_coalesce(parser *p, bl_set_node **out, bl_error *err) {
  BL_TRY(new_node(p, BL_S_COALESCE, p->cur.at, out, err));
  BL_TRY(advance(p, err));
  do {
    bl_set_node *arg;
    BL_TRY(advance(p, err)); /* '(' or ',' */
    BL_TRY(parse_value(p, &arg, err));
    BL_TRY(add_arg(p, *out, arg, err));
  } while (p->cur.kind == BL_TK_COMMA);
  return take(p, BL_TK_CLOSE, ", or )", err);
}

/* The text up to the ')' that closes what is open, which becomes the current token. */
static bl_status text_until_close(parser *p, bl_str *out, bl_error *err) {
  size_t from = p->cur.at;
  for (int open = 0; p->cur.kind != BL_TK_CLOSE || open > 0;) {
    if (p->cur.kind == BL_TK_END) return expected(p, ")", err);
    open += (p->cur.kind == BL_TK_OPEN) - (p->cur.kind == BL_TK_CLOSE);
    BL_TRY(advance(p, err));
  }
  size_t end = p->cur.at;
  while (end > from && strchr(" \t\r\n", p->lex.text.p[end - 1])) end--;
  *out = (bl_str){p->lex.text.p + from, end - from};
  return BL_OK;
}

static bl_status parse_cast(parser *p, bl_set_node **out, bl_error *err) {
  bl_set_node *arg;
  bl_str type;
  BL_TRY(new_node(p, BL_S_CAST, p->cur.at, out, err));
  BL_TRY(advance(p, err));
  BL_TRY(advance(p, err));
  BL_TRY(parse_value(p, &arg, err));
  BL_TRY(add_arg(p, *out, arg, err));
  BL_TRY(take_word(p, "as", err));
  size_t at = p->cur.at;
  BL_TRY(text_until_close(p, &type, err));
  bl_str own = bl_arena_str(p->lex.arena, type);
  if (!own.p) return bl_nomem(err);
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_type_parse_primitive(p->lex.arena, own, &(*out)->type, &why);
  if (st == BL_NOMEM) return bl_nomem(err);
  if (st != BL_OK) return bl_expr_fail(err, p->lex.text, at, "\"%s\" is no type", own.p);
  (*out)->explicit_cast = true;
  return take(p, BL_TK_CLOSE, ")", err);
}

/* The predicate between when and then. */
static bl_status parse_when(parser *p, bl_set_node *n, bl_error *err) {
  size_t from = p->cur.at;
  bl_expr *e;
  for (int open = 0; !is_word(&p->cur, "then") || open > 0;) {
    if (p->cur.kind == BL_TK_END) return expected(p, "then", err);
    open += (p->cur.kind == BL_TK_OPEN) - (p->cur.kind == BL_TK_CLOSE);
    BL_TRY(advance(p, err));
  }
  bl_str text = {p->lex.text.p + from, p->cur.at - from};
  bl_status st = bl_expr_parse(p->lex.arena, text, &e, err);
  if (st != BL_OK && err && err->position >= 0) err->position += (int64_t)from;
  BL_TRY(st);
  if (!grow(p, (void **)&n->when, n->n_when, sizeof *n->when) ||
      !grow(p, (void **)&n->when_at, n->n_when, sizeof *n->when_at))
    return bl_nomem(err);
  n->when_at[n->n_when] = from;
  n->when[n->n_when++] = e;
  return advance(p, err);
}

static bl_status parse_case(parser *p, bl_set_node **out, bl_error *err) {
  bl_set_node *value;
  BL_TRY(new_node(p, BL_S_CASE, p->cur.at, out, err));
  BL_TRY(advance(p, err));
  if (!is_word(&p->cur, "when")) return expected(p, "when", err);
  while (is_word(&p->cur, "when")) {
    BL_TRY(advance(p, err));
    BL_TRY(parse_when(p, *out, err));
    BL_TRY(parse_value(p, &value, err));
    BL_TRY(add_arg(p, *out, value, err));
  }
  if (is_word(&p->cur, "else")) {
    BL_TRY(advance(p, err));
    BL_TRY(parse_value(p, &value, err));
    BL_TRY(add_arg(p, *out, value, err));
  }
  return take_word(p, "end", err);
}

/* ---- operators ---- */

static bl_status parse_primary(parser *p, bl_set_node **out, bl_error *err) {
  bool found, call = p->next.kind == BL_TK_OPEN;
  if (p->cur.kind == BL_TK_OPEN) {
    BL_TRY(advance(p, err));
    BL_TRY(parse_value(p, out, err));
    return take(p, BL_TK_CLOSE, "an operator or )", err);
  }
  BL_TRY(parse_literal(p, out, &found, err));
  if (found) return BL_OK;
  if (call && is_word(&p->cur, "coalesce")) return parse_coalesce(p, out, err);
  if (call && is_word(&p->cur, "cast")) return parse_cast(p, out, err);
  if (is_word(&p->cur, "case")) return parse_case(p, out, err);
  if (call && p->cur.kind == BL_TK_WORD)
    return bl_expr_fail(err, p->lex.text, p->cur.at, "no such function; there are coalesce, cast and case");
  if (p->cur.kind != BL_TK_WORD && p->cur.kind != BL_TK_QUOTED) return expected(p, "a value", err);
  BL_TRY(new_node(p, BL_S_COLUMN, p->cur.at, out, err));
  return parse_name(p, &(*out)->column, err);
}

/* A number keeps its sign, so that the least of a type can be written. */
static bl_status negate(parser *p, size_t at, bl_set_node *arg, bl_set_node **out, bl_error *err) {
  if (arg->op == BL_S_LITERAL && arg->literal.kind == BL_L_NUMBER && arg->literal.text.p[0] != '-') {
    arg->literal.text = bl_arena_printf(p->lex.arena, "-%.*s", BL_STR_ARG(arg->literal.text));
    *out = arg;
    return arg->literal.text.p ? BL_OK : bl_nomem(err);
  }
  BL_TRY(new_node(p, BL_S_NEGATE, at, out, err));
  return add_arg(p, *out, arg, err);
}

static bl_status parse_unary(parser *p, bl_set_node **out, bl_error *err) {
  size_t at = p->cur.at;
  bool minus = p->cur.kind == BL_TK_MINUS;
  bl_set_node *arg;
  if (!minus && p->cur.kind != BL_TK_PLUS) return parse_primary(p, out, err);
  if (++p->depth > p->max_depth) return bl_expr_fail(err, p->lex.text, at, "nested more than %d deep", p->max_depth);
  BL_TRY(advance(p, err));
  BL_TRY(parse_unary(p, &arg, err));
  p->depth--;
  if (minus) return negate(p, at, arg, out, err);
  *out = arg;
  return BL_OK;
}

static bool operator_of(bl_token_kind kind, int level, bl_set_op *out) {
  static const struct {
    bl_token_kind kind;
    int level;
    bl_set_op op;
  } all[] = {{BL_TK_CONCAT, 0, BL_S_CONCAT}, {BL_TK_PLUS, 1, BL_S_ADD},     {BL_TK_MINUS, 1, BL_S_SUBTRACT},
             {BL_TK_STAR, 2, BL_S_MULTIPLY}, {BL_TK_SLASH, 2, BL_S_DIVIDE}, {BL_TK_PERCENT, 2, BL_S_REMAINDER}};
  for (size_t i = 0; i < BL_LEN(all); i++) {
    if (all[i].kind != kind || all[i].level != level) continue;
    *out = all[i].op;
    return true;
  }
  return false;
}

/* Operators of one level, from the left. A chain is as deep as it is long: it counts as nesting. */
static bl_status parse_level(parser *p, int level, bl_set_node **out, bl_error *err) {
  bl_set_op op;
  int links = 0;
  if (level == 3) return parse_unary(p, out, err);
  BL_TRY(parse_level(p, level + 1, out, err));
  while (operator_of(p->cur.kind, level, &op)) {
    bl_set_node *left = *out, *right;
    size_t at = p->cur.at;
    if (p->depth + ++links > p->max_depth)
      return bl_expr_fail(err, p->lex.text, at, "nested more than %d deep", p->max_depth);
    BL_TRY(advance(p, err));
    BL_TRY(parse_level(p, level + 1, &right, err));
    BL_TRY(new_node(p, op, at, out, err));
    BL_TRY(add_arg(p, *out, left, err));
    BL_TRY(add_arg(p, *out, right, err));
  }
  return BL_OK;
}

static bl_status parse_value(parser *p, bl_set_node **out, bl_error *err) {
  if (++p->depth > p->max_depth)
    return bl_expr_fail(err, p->lex.text, p->cur.at, "nested more than %d deep", p->max_depth);
  BL_TRY(parse_level(p, 0, out, err));
  p->depth--;
  return BL_OK;
}

bl_status bl_set_parse(bl_arena *a, bl_str text, bl_str *target, bl_set_node **out, bl_error *err) {
  parser p = {.lex = {.arena = a, .arithmetic = true}, .max_depth = bl_arena_ctx(a)->o.max_nesting};
  *out = NULL;
  p.lex.text = bl_arena_str(a, text.p ? text : BL_STR(""));
  if (!p.lex.text.p) return bl_nomem(err);
  if (!bl_utf8_valid(p.lex.text.p, p.lex.text.n)) return bl_expr_fail(err, BL_STR(""), 0, "it is not UTF-8");
  BL_TRY(bl_lex(&p.lex, &p.next, err));
  BL_TRY(advance(&p, err));
  BL_TRY(parse_name(&p, target, err));
  BL_TRY(take(&p, BL_TK_EQ, "=", err));
  BL_TRY(parse_value(&p, out, err));
  return p.cur.kind == BL_TK_END ? BL_OK : expected(&p, "an operator or the end", err);
}
