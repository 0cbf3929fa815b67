/* expr.h: predicates (bergline(1), EXPRESSIONS): parsing, binding, evaluation on statistics.
 * SQL three-valued logic. */
#ifndef BL_MODEL_EXPR_H
#define BL_MODEL_EXPR_H

#include "model/manifest.h"

typedef enum bl_expr_op {
  BL_E_TRUE,
  BL_E_FALSE,
  BL_E_NULL, /* the unknown truth value, e.g. a = null */
  BL_E_AND,
  BL_E_OR,
  BL_E_NOT,
  BL_E_EQ,
  BL_E_NE,
  BL_E_LT,
  BL_E_LE,
  BL_E_GT,
  BL_E_GE,
  BL_E_IN,
  BL_E_NOT_IN,
  BL_E_IS_NULL,
  BL_E_NOT_NULL,
  BL_E_IS_NAN,
  BL_E_NOT_NAN,
  BL_E_STARTS_WITH,
  BL_E_NOT_STARTS_WITH,
  BL_E_COLUMN_CMP /* column op column: cmp says which of EQ…GE; left in field, right in field2 */
} bl_expr_op;

/* A literal as written, before binding. */
typedef enum bl_literal_kind {
  BL_L_NUMBER,
  BL_L_STRING,
  BL_L_BOOL,
  BL_L_NULL,
  BL_L_DATE,
  BL_L_TIMESTAMP,
  BL_L_TIMESTAMPTZ,
  BL_L_UUID,
  BL_L_BYTES
} bl_literal_kind;
typedef struct bl_literal {
  bl_literal_kind kind;
  bl_str text;
  size_t at;
} bl_literal;

typedef struct bl_expr bl_expr;
struct bl_expr {
  bl_expr_op op;
  bl_expr **args;
  size_t n_args; /* AND OR NOT */
  bl_str column;
  size_t at; /* unbound: the dotted name and its place in the text */
  bl_str column2;
  size_t at2;
  bl_expr_op cmp;
  bl_literal *literals;
  size_t n_literals;
  /* bound: */
  const bl_field *field, *field2; /* leaf fields; metadata columns too (reserved ids) */
  bl_value *values;               /* n_literals of them, in the field's type; IN sorted, unique, without null */
  bool has_null_literal;          /* IN list had a null: NOT IN can then never be true */
};

/* BL_USAGE: message holds the text and, in a second part after ": ", the place with a caret given by err->position
 * (byte offset); the program prints the caret line itself. */
bl_status bl_expr_parse(bl_arena *a, bl_str text, bl_expr **out, bl_error *err) BL_CHECKED;

/* Resolve names against `schema` (metadata columns in `meta`, NULL = none; a user column wins, then meta._row_id
 * reaches the other) and convert literals to the columns' types. Comparisons are exact: a literal that the column's
 * type cannot hold makes the predicate constant (x_int < 3000000000 is "x is not null"; = is never true), a decimal or
 * double literal against an integer column is compared by value. A fraction against a float or double column
 * means the column's nearest value. The result holds no NOT: negations are pushed down, with `or x is nan` where a
 * float comparison is negated (NaN rows answer as IEEE 754 does; whether null is NaN is unknown). Fields are borrowed
 * from the schemas. BL_USAGE with position: unknown column, type that does not compare. */
bl_status bl_expr_bind(bl_arena *a, const bl_expr *e, const bl_schema *schema, const bl_schema *meta, bl_expr **out,
                       bl_error *err) BL_CHECKED;
/* The metadata columns' schema: _row_id, _last_updated_sequence_number, _file, _pos, _spec_id, _last_updated_at. */
const bl_schema *bl_meta_schema(void);

/* The field ids that a bound expression reads, each once; returns how many (at most max are stored). */
size_t bl_expr_fields(const bl_expr *e, int32_t *out, size_t max);

/* Statistics of one column over a set of rows (a file, a row group, a page). Bounds that are NaN, inverted or of
 * another kind than the column are ignored. */
typedef struct bl_stats {
  int64_t rows;        /* BL_NONE: not known */
  int64_t nulls, nans; /* BL_NONE: not known */
  bool has_lower, has_upper;
  bl_value lower, upper; /* bounds, may be truncated (inclusive bounds, not values) */
  bool all_same;         /* the column is the constant `lower` (has_lower, or nulls == rows) */
} bl_stats;

/* May any row match? Asks `stats` for each field; it returns false where nothing is known. Unknown stays unknown
 * (true); inverted bounds are ignored; NaN bounds are ignored. Never false where a row could match. */
bool bl_expr_may_match(const bl_expr *bound, bool (*stats)(void *user, const bl_field *f, bl_stats *out), void *user);
/* Must every row match (used to drop residuals; false where not proven)? */
bool bl_expr_must_match(const bl_expr *bound, bool (*stats)(void *user, const bl_field *f, bl_stats *out), void *user);

/* Evaluate on one row; NULL-logic result: 1 true, 0 false, -1 unknown. get returns the value of a field. */
int bl_expr_eval(const bl_expr *bound, void (*get)(void *user, const bl_field *f, bl_value *out), void *user);

/* Inclusive projection of a bound row predicate on a partition spec, and its evaluation on one tuple or on a manifest's
 * field summaries; both false only where no row of the partition can match. Source columns promoted since the tuple was
 * written, unknown transforms and void prune nothing unless that is safe. `types` = bl_spec_types. */
bool bl_partition_may_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                            const bl_schema *schema, const bl_value *tuple, size_t n);
bool bl_summaries_may_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                            const bl_schema *schema, const bl_field_summary *sums, size_t n);
/* File metrics: may any row of the file match (bounds by field id, promotion by length, NaN and null counts)? Lineage
 * columns are resolved through `lineage` (NULL: unknown): see scan/plan. */
bool bl_metrics_may_match(const bl_expr *bound, const bl_data_file *f, const bl_schema *schema,
                          bool (*lineage)(void *user, const bl_field *f, bl_stats *out), void *user);

/* Must every row of the partition, or of the file, match? False where not proven. */
bool bl_partition_must_match(const bl_expr *bound, const bl_partition_spec *spec, const bl_type *types,
                             const bl_schema *schema, const bl_value *tuple, size_t n);
bool bl_metrics_must_match(const bl_expr *bound, const bl_data_file *f, const bl_schema *schema,
                           bool (*lineage)(void *user, const bl_field *f, bl_stats *out), void *user);
/* A file's metrics of one column of `schema` as statistics; what does not add up counts as unknown. */
void bl_metrics_stats(const bl_data_file *f, const bl_schema *schema, const bl_field *field, bl_stats *out);

/* A bound expression as text that parses and binds back the same (for task JSON). */
void bl_expr_print(bl_buf *b, const bl_expr *e);

#endif
