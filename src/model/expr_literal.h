/* expr_literal.h: a literal as a value of a column's type, exactly. */
#ifndef BL_MODEL_EXPR_LITERAL_H
#define BL_MODEL_EXPR_LITERAL_H

#include "model/expr.h"

/* Where a literal stands among the values of a type. */
typedef enum bl_fit {
  BL_FIT_EXACT,       /* it is `value` */
  BL_FIT_BELOW,       /* `value` is the greatest value below it; none is equal */
  BL_FIT_ABOVE,       /* `value` is the least value above it; none is equal */
  BL_FIT_ALL_LESS,    /* every value is below it */
  BL_FIT_ALL_GREATER, /* every value is above it */
  BL_FIT_UNORDERED    /* NaN: compares with nothing */
} bl_fit;

/* BL_USAGE with the literal's position where the two do not compare or a string does not parse. Not for BL_L_NULL. */
bl_status bl_literal_fit(bl_arena *a, const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit,
                         bl_error *err) BL_CHECKED;

#endif
