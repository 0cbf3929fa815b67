/* view_value.h: single values of the model out of attached arrays. */
#ifndef BL_ROWS_VIEW_VALUE_H
#define BL_ROWS_VIEW_VALUE_H

#include "model/type.h"
#include "rows/arrow_view.h"

/* Row i of a column of a primitive type (also geometry and geography); bytes are the array's. */
static inline void bl_view_value(const bl_view *v, int64_t i, const bl_type *t, bl_value *out) {
  *out = (bl_value){.kind = t->kind, .null = bl_view_null(v, i)};
  if (out->null) return;
  switch (v->kind) {
  case BL_D_BOOL: out->u.b = bl_view_bool(v, i); break;
  case BL_D_INT32:
  case BL_D_DATE32: out->u.i = bl_view_i32(v, i); break;
  case BL_D_FLOAT: out->u.f = bl_view_float(v, i); break;
  case BL_D_DOUBLE: out->u.d = bl_view_double(v, i); break;
  case BL_D_DECIMAL: out->u.dec = bl_view_decimal(v, i); break;
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: out->u.s = bl_view_bytes(v, i); break;
  default: out->u.i = bl_view_i64(v, i); break;
  }
}

#endif
