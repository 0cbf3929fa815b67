/* set_expr.h: expressions that give a column its new value (`update --set 'a = EXPR'`).
 *
 *   assignment := column '=' expr
 *   expr       := sum { '||' sum }
 *   sum        := product { ('+' | '-') product }
 *   product    := unary { ('*' | '/' | '%') unary }
 *   unary      := ('-' | '+') unary | primary
 *   primary    := literal | column | '(' expr ')' | coalesce '(' expr { ',' expr } ')' | cast '(' expr as type ')'
 *               | case { when PREDICATE then expr } [ else expr ] end
 *
 * Columns are the row's old values, also of metadata columns; PREDICATE is one of model/expr.h, literals are those of
 * predicates.
 *
 *  V1 + - * % of integers are computed as longs, with a decimal as decimals of at most 38 digits, with a float or
 *     double as doubles. What does not fit is an error, as is a division by zero of any type; null makes everything
 *     null.
 *
 *  V2 a / b of integers is a double, unless an integer is wanted (then it is cut towards zero) or a decimal.
 *
 *  V3 A literal takes the type that is wanted at its place and must fit it. Other values are converted to it where
 *     numbers become numbers (fractions are cut for integers, rounded half away from zero for decimals), dates become
 *     timestamps of their midnight, and anything becomes a string; else a cast is needed.
 *
 *  V4 The whole value of a nested column can be null or another column of the same type. */
#ifndef BL_WRITE_SET_EXPR_H
#define BL_WRITE_SET_EXPR_H

#include "model/expr.h"
#include "rows/arrow_view.h"
#include "scan/columns.h"

typedef enum bl_set_op {
  BL_S_LITERAL,
  BL_S_COLUMN,
  BL_S_NEGATE,
  BL_S_ADD,
  BL_S_SUBTRACT,
  BL_S_MULTIPLY,
  BL_S_DIVIDE,
  BL_S_REMAINDER,
  BL_S_CONCAT,
  BL_S_COALESCE,
  BL_S_CASE, /* args: a value for each predicate, then the one of else */
  BL_S_CAST
} bl_set_op;

typedef struct bl_set_node bl_set_node;
struct bl_set_node {
  bl_set_op op;
  size_t at; /* byte of the text */
  bl_set_node **args;
  size_t n_args;
  bl_literal literal;
  bl_str column;
  bl_expr **when;  /* CASE; unbound, then bound */
  size_t *when_at; /* where each stands in the text */
  size_t n_when;
  bool explicit_cast; /* CAST: written by the user; its type is below */
  bl_type type;       /* bound: of the value */
  bl_value value;     /* bound LITERAL */
  const bl_field *field;
  int32_t *path; /* bound COLUMN: child indexes into the batches */
  size_t n_path;
};

/* "a.b = EXPR": *target is the column's name. BL_USAGE with position. */
bl_status bl_set_parse(bl_arena *a, bl_str text, bl_str *target, bl_set_node **out, bl_error *err) BL_CHECKED;
/* What names mean: columns of `schema`, metadata columns of `meta` (bl_filter_meta_schema). */
typedef struct bl_set_names {
  const bl_schema *schema, *meta;
  const bl_type *wanted; /* the struct type of the batches: the schema's columns, and metadata columns */
} bl_set_names;
/* The metadata columns that a tree as parsed names: added to the columns of its batches. */
bl_status bl_set_columns(bl_columns *c, const bl_set_node *n, const bl_schema *meta, bl_error *err) BL_CHECKED;
/* Names to columns; the result is of the type `to`. BL_USAGE with position: unknown columns, types that do not go
 * together. */
bl_status bl_set_bind(bl_arena *a, bl_str text, const bl_set_node *n, const bl_set_names *names, const bl_type *to,
                      bl_set_node **out, bl_error *err) BL_CHECKED;
/* The value at row i of the batch that `root` is attached to. Bytes live in the batch, in the tree or in `scratch`.
 * BL_USAGE: overflow, division by zero, a cast that fails (the message says only why). Not for nested columns. */
bl_status bl_set_eval(const bl_set_node *n, const bl_view *root, int64_t i, bl_arena *scratch, bl_value *out,
                      bl_error *err) BL_CHECKED;

/* May values of type `from` become `to` (written: by a cast in the text)? */
bool bl_set_converts(const bl_type *from, const bl_type *to, bool written);
/* v of type `from` as type `to`, where bl_set_converts; BL_USAGE where this value does not fit. */
bl_status bl_set_convert(const bl_type *from, const bl_value *v, const bl_type *to, bl_arena *scratch, bl_value *out,
                         bl_error *err) BL_CHECKED;

#endif
