/* partition_view.h: the partition column of Spark's metadata tables: the fields of all specs as one struct, by field
 * id; a tuple of any spec is shown in it. Names are those of the newest spec that has the field; fields whose source
 * column was dropped are left out. */
#ifndef BL_INSPECT_PARTITION_VIEW_H
#define BL_INSPECT_PARTITION_VIEW_H

#include "model/manifest.h"

typedef struct bl_view_field {
  int32_t id;
  bl_str name;
} bl_view_field;

typedef struct bl_view_spec {
  const bl_partition_spec *spec;
  bl_type *types;  /* of its fields */
  int32_t *places; /* in the view, by the spec's field; -1: left out */
} bl_view_spec;

typedef struct bl_partition_view {
  bl_view_field *fields; /* by id */
  size_t n;              /* 0: the table is not partitioned, the column is left out */
  bl_view_spec *specs;
  size_t n_specs;
} bl_partition_view;

bl_status bl_partition_view_init(bl_arena *a, const bl_metadata *m, bl_partition_view *out, bl_error *err) BL_CHECKED;
const bl_view_spec *bl_partition_view_spec(const bl_partition_view *v, int32_t spec_id); /* NULL */
/* The tuple of a file as n values in the view's order (null where its spec has no such field); value i has the type
 * types[i], which may be NULL for nulls. */
void bl_partition_view_tuple(const bl_partition_view *v, const bl_data_file *f, bl_value *values,
                             const bl_type **types);
void bl_partition_view_print(bl_buf *b, const bl_partition_view *v, const bl_value *values,
                             const bl_type *const *types);
/* The same for a file at once. */
void bl_partition_view_file(bl_buf *b, const bl_partition_view *v, const bl_data_file *f);

#endif
