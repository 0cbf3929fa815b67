/* expr_lex.h: the words of an expression. */
#ifndef BL_MODEL_EXPR_LEX_H
#define BL_MODEL_EXPR_LEX_H

#include "base/alloc.h"

typedef enum bl_token_kind {
  BL_TK_END,
  BL_TK_WORD,   /* a name or keyword, as written */
  BL_TK_QUOTED, /* "name", unquoted */
  BL_TK_STRING, /* 'text', unquoted */
  BL_TK_BYTES,  /* x'0aff', decoded */
  BL_TK_NUMBER, /* as written */
  BL_TK_EQ,
  BL_TK_NE,
  BL_TK_LT,
  BL_TK_LE,
  BL_TK_GT,
  BL_TK_GE,
  BL_TK_OPEN,
  BL_TK_CLOSE,
  BL_TK_COMMA,
  BL_TK_DOT,
  BL_TK_PLUS, /* from here on only where the lexer's `arithmetic` is set */
  BL_TK_MINUS,
  BL_TK_STAR,
  BL_TK_SLASH,
  BL_TK_PERCENT,
  BL_TK_CONCAT /* || */
} bl_token_kind;

typedef struct bl_token {
  bl_token_kind kind;
  bl_str text;
  size_t at; /* byte offset of its beginning */
} bl_token;

typedef struct bl_lexer {
  bl_arena *arena;
  bl_str text;
  size_t pos;
  bool arithmetic; /* + - * / % || are tokens; a number then has no sign of its own */
} bl_lexer;

/* The next token; texts live in the arena or in the expression's text. BL_USAGE with position; BL_NOMEM. */
bl_status bl_lex(bl_lexer *l, bl_token *out, bl_error *err) BL_CHECKED;
/* BL_USAGE at a byte of the expression; the message holds the text (cut where it is long), the place and why. */
bl_status bl_expr_fail(bl_error *err, bl_str text, size_t at, const char *fmt, ...) BL_PRINTF(4, 5);

#endif
