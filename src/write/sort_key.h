/* sort_key.h: sort orders of tables as bytes: rows come in the order in which memcmp puts their keys (spec: "Sorting").
 * Floats: -NaN < -Infinity < … < -0.0 < 0.0 < … < NaN; strings, binary and uuid unsigned bytewise. */
#ifndef BL_WRITE_SORT_KEY_H
#define BL_WRITE_SORT_KEY_H

#include "model/partition.h"
#include "write/row_values.h"

typedef struct bl_sort_column {
  bl_row_source row;
  const bl_sort_field *field;
} bl_sort_column;
typedef struct bl_sort_columns {
  bl_sort_column *items;
  size_t n;
} bl_sort_columns;
/* In arena a; root: the view that batches are attached to. BL_UNSUPPORTED: an unknown transform; BL_USAGE: a column
 * that is gone. */
bl_status bl_sort_columns_new(bl_arena *a, const bl_sort_order *o, const bl_schema *schema, const bl_view *root,
                              bl_sort_columns *out, bl_error *err) BL_CHECKED;
/* Append the key of row i. */
void bl_sort_key_add(const bl_sort_columns *c, int64_t i, bl_buf *out);

#endif
