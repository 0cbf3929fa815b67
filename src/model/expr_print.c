/* expr_print.c: a bound expression as text that parses and binds to the same one. Column names are printed as they were
 * bound, so that they resolve again; values as literals of their column's type. */
#include "model/expr_leaf.h"

static bool plain_part(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_';
    if (!letter && (i == 0 || p[i] < '0' || p[i] > '9')) return false;
  }
  return n > 0;
}

static bool is_keyword(bl_str s) {
  static const char *const words[] = {"and",  "or",    "not",  "in",        "between",     "is",   "null",
                                      "true", "false", "date", "timestamp", "timestamptz", "uuid", "starts_with"};
  for (size_t i = 0; i < BL_LEN(words); i++)
    if (bl_str_is_nocase(s, words[i])) return true;
  return false;
}

static bool plain_path(bl_str path) {
  size_t from = 0;
  for (size_t i = 0; i <= path.n; i++) {
    if (i < path.n && path.p[i] != '.') continue;
    if (!plain_part(path.p + from, i - from)) return false;
    from = i + 1;
  }
  return !is_keyword(path) && path.n > 0;
}

static void print_quoted(bl_buf *b, bl_str s, char quote) {
  bl_buf_byte(b, (uint8_t)quote);
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == quote) bl_buf_byte(b, (uint8_t)quote);
    bl_buf_byte(b, (uint8_t)s.p[i]);
  }
  bl_buf_byte(b, (uint8_t)quote);
}

/* Dots in a quoted name are read as a path again. */
static void print_column(bl_buf *b, bl_str name) {
  const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
  bl_str first = {name.p, dot ? (size_t)(dot - name.p) : name.n};
  if (plain_path(name) && !is_keyword(first)) bl_buf_str(b, name);
  else print_quoted(b, name, '"');
}

static void print_in_quotes(bl_buf *b, const char *word, const bl_type *t, const bl_value *v) {
  bl_buf_cstr(b, word);
  bl_buf_cstr(b, "'");
  bl_value_print(b, t, v);
  bl_buf_byte(b, '\'');
}

static void print_bytes(bl_buf *b, bl_str s) {
  bl_buf_cstr(b, "x'");
  bl_print_hex(b, s.p, s.n);
  bl_buf_byte(b, '\'');
}

static void print_value(bl_buf *b, const bl_type *t, const bl_value *v) {
  switch (t->kind) {
  case BL_DATE: print_in_quotes(b, "date ", t, v); break;
  case BL_TIMESTAMP:
  case BL_TIMESTAMP_NS: print_in_quotes(b, "timestamp ", t, v); break;
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMPTZ_NS: print_in_quotes(b, "timestamptz ", t, v); break;
  case BL_UUID: print_in_quotes(b, "uuid ", t, v); break;
  case BL_FLOAT:
  case BL_DOUBLE: /* a string, for the infinities */
  case BL_TIME: print_in_quotes(b, "", t, v); break;
  case BL_STRING: print_quoted(b, v->u.s, '\''); break;
  case BL_FIXED:
  case BL_BINARY: print_bytes(b, v->u.s); break;
  default: bl_value_print(b, t, v);
  }
}

static void print_list(bl_buf *b, const bl_expr *e) {
  for (size_t i = 0; i < e->n_literals; i++) {
    if (i) bl_buf_cstr(b, ", ");
    print_value(b, &e->field->type, &e->values[i]);
  }
  if (e->has_null_literal) bl_buf_cstr(b, ", null");
}

static const char *symbol(bl_expr_op op) {
  switch (op) {
  case BL_E_EQ: return " = ";
  case BL_E_NE: return " != ";
  case BL_E_LT: return " < ";
  case BL_E_LE: return " <= ";
  case BL_E_GT: return " > ";
  default: return " >= ";
  }
}

static void print_leaf(bl_buf *b, const bl_expr *e) {
  bool prefix = e->op == BL_E_STARTS_WITH || e->op == BL_E_NOT_STARTS_WITH;
  if (e->op == BL_E_NOT_STARTS_WITH) bl_buf_cstr(b, "not ");
  if (prefix) bl_buf_cstr(b, "starts_with(");
  print_column(b, e->column);
  switch (e->op) {
  case BL_E_IS_NULL: bl_buf_cstr(b, " is null"); break;
  case BL_E_NOT_NULL: bl_buf_cstr(b, " is not null"); break;
  case BL_E_IS_NAN: bl_buf_cstr(b, " is nan"); break;
  case BL_E_NOT_NAN: bl_buf_cstr(b, " is not nan"); break;
  case BL_E_COLUMN_CMP:
    bl_buf_cstr(b, symbol(e->cmp));
    print_column(b, e->column2);
    break;
  case BL_E_IN:
  case BL_E_NOT_IN:
    bl_buf_cstr(b, e->op == BL_E_IN ? " in (" : " not in (");
    print_list(b, e);
    bl_buf_byte(b, ')');
    break;
  default:
    bl_buf_cstr(b, prefix ? ", " : symbol(e->op));
    print_value(b, &e->field->type, &e->values[0]);
    if (prefix) bl_buf_byte(b, ')');
  }
}

void bl_expr_print(bl_buf *b, const bl_expr *e) {
  switch (e->op) {
  case BL_E_TRUE: bl_buf_cstr(b, "true"); break;
  case BL_E_FALSE: bl_buf_cstr(b, "false"); break;
  case BL_E_NULL: bl_buf_cstr(b, "null"); break;
  case BL_E_NOT:
    bl_buf_cstr(b, "not (");
    bl_expr_print(b, e->args[0]);
    bl_buf_byte(b, ')');
    break;
  case BL_E_AND:
  case BL_E_OR:
    for (size_t i = 0; i < e->n_args; i++) {
      bool group = e->args[i]->op == BL_E_AND || e->args[i]->op == BL_E_OR;
      if (i) bl_buf_cstr(b, e->op == BL_E_AND ? " and " : " or ");
      if (group) bl_buf_byte(b, '(');
      bl_expr_print(b, e->args[i]);
      if (group) bl_buf_byte(b, ')');
    }
    break;
  default: print_leaf(b, e);
  }
}
