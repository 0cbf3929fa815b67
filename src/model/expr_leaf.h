/* expr_leaf.h: what is known of one column over a set of rows, and what a bound leaf makes of it. */
#ifndef BL_MODEL_EXPR_LEAF_H
#define BL_MODEL_EXPR_LEAF_H

#include "model/expr.h"

/* Everything false: nothing is known. */
typedef struct bl_range {
  bool no_rows;
  bool all_null, no_null;
  bool no_number;            /* every row is null or NaN */
  bool no_nan;               /* no row is NaN */
  bool has_lower, has_upper; /* of the rows that are neither null nor NaN; usable: right kind, not NaN, not inverted */
  bl_value lower, upper;
  bool prefix; /* upper stands for every string that begins with it */
  /* Every value falls into one of these buckets (NULL: not known). */
  const bl_transform *bucket;
  int64_t first_bucket, last_bucket;
} bl_range;

/* Order as IEEE 754 has it: -1, 0, 1, or 2 where one is NaN; -0.0 equals 0.0. Neither may be null. */
int bl_expr_order(const bl_value *a, const bl_value *b);
/* Is `order` (of left and right, as above) one that op (EQ … GE) is true for? */
bool bl_order_satisfies(int order, bl_expr_op op);

/* Set the bounds (NULL: none), dropping those that are of no use; *lower == *upper may be the same value. */
void bl_range_bounds(bl_range *r, const bl_field *f, const bl_value *lower, const bl_value *upper);
void bl_range_of_stats(bl_range *r, const bl_field *f, const bl_stats *s);

/* May a row match, must every row match? For leaves of one column. */
bool bl_leaf_may(const bl_expr *leaf, const bl_range *r);
bool bl_leaf_must(const bl_expr *leaf, const bl_range *r);
/* The same for BL_E_COLUMN_CMP. */
bool bl_pair_may(const bl_expr *leaf, const bl_range *left, const bl_range *right);
bool bl_pair_must(const bl_expr *leaf, const bl_range *left, const bl_range *right);

/* The tree above: what the leaves say, joined. */
typedef bool (*bl_leaf_fn)(void *user, const bl_expr *leaf);
bool bl_tree_may(const bl_expr *e, bl_leaf_fn leaf, void *user);
bool bl_tree_must(const bl_expr *e, bl_leaf_fn leaf, void *user);

#endif
