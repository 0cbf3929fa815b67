/* expr_lex.c: see expr_lex.h. Quotes are doubled inside quotes; there are no other escapes. */
#include "model/expr_lex.h"

#include <stdio.h>

#include "base/text.h"

enum { MOST_TEXT = 300 };

bl_status bl_expr_fail(bl_error *err, bl_str text, size_t at, const char *fmt, ...) {
  char why[500];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  size_t n = text.n;
  bool cut = n > MOST_TEXT;
  if (cut) n = MOST_TEXT;
  while (cut && n && ((unsigned char)text.p[n] & 0xc0) == 0x80) n--;
  return bl_fail_at(err, BL_USAGE, (int64_t)at, "expression \"%.*s%s\": byte %zu: %s", (int)n, text.p ? text.p : "",
                    cut ? "…" : "", at, why);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool continues_name(char c) {
  return begins_name(c) || is_digit(c);
}

/* The byte at an offset from the current one, 0 beyond the end. */
static char peek(const bl_lexer *l, size_t ahead) {
  return l->pos + ahead < l->text.n ? l->text.p[l->pos + ahead] : 0;
}

static void skip_space(bl_lexer *l) {
  while (l->pos < l->text.n && strchr(" \t\r\n", l->text.p[l->pos]) && l->text.p[l->pos]) l->pos++;
}

/* Text between quotes, doubled ones made single. */
static bl_status lex_quoted(bl_lexer *l, char quote, bl_str *out, bl_error *err) {
  size_t at = l->pos, from = at + 1, end = from, n = 0;
  while (end < l->text.n && (l->text.p[end] != quote || (end + 1 < l->text.n && l->text.p[end + 1] == quote)))
    end += l->text.p[end] == quote ? 2 : 1;
  if (end >= l->text.n) return bl_expr_fail(err, l->text, at, "the quote is not closed");
  char *p = bl_arena_alloc(l->arena, end - from + 1, 1);
  if (!p) return bl_nomem(err);
  for (size_t i = from; i < end; i += l->text.p[i] == quote ? 2 : 1) p[n++] = l->text.p[i];
  p[n] = 0;
  *out = (bl_str){p, n};
  l->pos = end + 1;
  return BL_OK;
}

static bl_status lex_bytes(bl_lexer *l, bl_token *t, bl_error *err) {
  bl_buf bytes;
  l->pos++;
  BL_TRY(lex_quoted(l, '\'', &t->text, err));
  bl_buf_init(&bytes, bl_arena_ctx(l->arena), t->text.n + 1);
  bool hex = bl_parse_hex(t->text, &bytes);
  bl_status st = bl_buf_ok(&bytes, NULL);
  if (st == BL_OK && hex) t->text = bl_arena_str(l->arena, (bl_str){bytes.p ? (char *)bytes.p : "", bytes.n});
  bl_buf_free(&bytes);
  if (st != BL_OK || !t->text.p) return bl_nomem(err);
  return hex ? BL_OK : bl_expr_fail(err, l->text, t->at, "x'…' takes pairs of hexadecimal digits");
}

static void skip_digits(bl_lexer *l) {
  while (is_digit(peek(l, 0))) l->pos++;
}

static bl_status lex_number(bl_lexer *l, bl_token *t, bl_error *err) {
  if (peek(l, 0) == '-') l->pos++;
  skip_digits(l);
  if (peek(l, 0) == '.' && is_digit(peek(l, 1))) {
    l->pos++;
    skip_digits(l);
  }
  size_t sign = peek(l, 1) == '-' || peek(l, 1) == '+';
  if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && is_digit(peek(l, 1 + sign))) {
    l->pos += 1 + sign;
    skip_digits(l);
  }
  if (continues_name(peek(l, 0)))
    return bl_expr_fail(err, l->text, l->pos, "a number ends here; names that begin with a digit need \"…\"");
  t->kind = BL_TK_NUMBER;
  t->text = (bl_str){l->text.p + t->at, l->pos - t->at};
  return BL_OK;
}

static bl_status lex_symbol(bl_lexer *l, bl_token *t, bl_error *err) {
  static const struct {
    const char *text;
    bl_token_kind kind;
  } symbols[] = {
      {"<=", BL_TK_LE},   {">=", BL_TK_GE},     {"<>", BL_TK_NE},  {"!=", BL_TK_NE},   {"=", BL_TK_EQ},
      {"<", BL_TK_LT},    {">", BL_TK_GT},      {"(", BL_TK_OPEN}, {")", BL_TK_CLOSE}, {",", BL_TK_COMMA},
      {".", BL_TK_DOT},   {"||", BL_TK_CONCAT}, {"+", BL_TK_PLUS}, {"-", BL_TK_MINUS}, {"*", BL_TK_STAR},
      {"/", BL_TK_SLASH}, {"%", BL_TK_PERCENT},
  };
  bl_str rest = {l->text.p + l->pos, l->text.n - l->pos};
  for (size_t i = 0; i < BL_LEN(symbols); i++) {
    bl_str s = bl_str_of(symbols[i].text);
    if (!bl_str_starts(rest, s) || (symbols[i].kind >= BL_TK_PLUS && !l->arithmetic)) continue;
    t->kind = symbols[i].kind;
    t->text = (bl_str){rest.p, s.n};
    l->pos += s.n;
    return BL_OK;
  }
  return bl_expr_fail(err, l->text, l->pos, "'%c' has no meaning here", rest.p[0] >= ' ' ? rest.p[0] : '?');
}

bl_status bl_lex(bl_lexer *l, bl_token *out, bl_error *err) {
  skip_space(l);
  *out = (bl_token){.kind = BL_TK_END, .at = l->pos, .text = {l->text.p + l->pos, 0}};
  if (l->pos == l->text.n) return BL_OK;
  char c = peek(l, 0);
  if ((c == 'x' || c == 'X') && peek(l, 1) == '\'') {
    out->kind = BL_TK_BYTES;
    return lex_bytes(l, out, err);
  }
  if (begins_name(c)) {
    while (continues_name(peek(l, 0))) l->pos++;
    out->kind = BL_TK_WORD;
    out->text.n = l->pos - out->at;
    return BL_OK;
  }
  if (c == '"' || c == '\'') {
    out->kind = c == '"' ? BL_TK_QUOTED : BL_TK_STRING;
    return lex_quoted(l, c, &out->text, err);
  }
  if (is_digit(c) || (c == '-' && is_digit(peek(l, 1)) && !l->arithmetic)) return lex_number(l, out, err);
  return lex_symbol(l, out, err);
}
