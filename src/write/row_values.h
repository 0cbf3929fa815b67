/* row_values.h: single values of rows of Arrow batches, for transforms and sort keys. */
#ifndef BL_WRITE_ROW_VALUES_H
#define BL_WRITE_ROW_VALUES_H

#include "model/type.h"
#include "rows/arrow_view.h"

/* A column of a batch by field id: the views from the top down to it. */
typedef struct bl_row_source {
  const bl_view *path[16];
  size_t n;
  const bl_type *type; /* of the last */
} bl_row_source;
/* root: a view of a batch with the columns of `schema` in order. false: not there, below a list or map, or nested
 * deeper than 16. */
bool bl_row_source_find(const bl_view *root, const bl_schema *schema, int32_t id, bl_row_source *out);
/* The value in row i; null where it or a struct around it is. Bytes are borrowed from the batch. */
void bl_row_value(const bl_row_source *s, int64_t i, bl_value *out);

#endif
