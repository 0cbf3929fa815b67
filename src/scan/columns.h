/* columns.h: from column names to a wanted struct type: table columns by dotted path (a nested one gives a pruned
 * struct), and metadata columns. */
#ifndef BL_SCAN_COLUMNS_H
#define BL_SCAN_COLUMNS_H

#include "model/expr.h"

typedef struct bl_columns {
  bl_arena *a;
  const bl_metadata *md;
  const bl_schema *schema;
  bl_type wanted;     /* BL_STRUCT */
  bl_field partition; /* id 0: not made yet */
} bl_columns;

/* Starts with no columns. */
void bl_columns_init(bl_columns *c, bl_arena *a, const bl_metadata *md, const bl_schema *schema);
/* All columns of the schema. */
bl_status bl_columns_add_all(bl_columns *c, bl_error *err) BL_CHECKED;
/* "b.c" adds column b pruned to c (merged where b is there already); _row_id, _file … the metadata column unless a user
 * column has the name; meta._row_id always the metadata column. BL_USAGE: no such column (names it). */
bl_status bl_columns_add_name(bl_columns *c, bl_str name, bl_error *err) BL_CHECKED;
/* A field by id, at any depth of structs, or a metadata column by its reserved id, or a part of _partition by its
 * partition field id negated; once. BL_DAMAGED: unknown. */
bl_status bl_columns_add_id(bl_columns *c, int32_t id, bl_error *err) BL_CHECKED;
/* A field as it is, pruned or not, unless its id is there already. */
bl_status bl_columns_add_field(bl_columns *c, const bl_field *f, bl_error *err) BL_CHECKED;
bool bl_columns_has_id(const bl_columns *c, int32_t id);
/* _partition as a table has it: all partition fields ever, by their field ids. */
bl_status bl_partition_column(bl_arena *a, const bl_metadata *md, bl_field *out, bl_error *err) BL_CHECKED;
/* What a filter can name beside the table's columns: bl_meta_schema and _partition. Partition field ids may be those of
 * columns too, so a part of _partition has its own negated here, and for bl_columns_add_id and bl_columns_path. */
bl_status bl_filter_meta_schema(bl_arena *a, const bl_metadata *md, const bl_schema **out, bl_error *err) BL_CHECKED;
/* The same with these parts of _partition, a struct of partition fields by their field ids. */
bl_status bl_filter_meta_of_parts(bl_arena *a, const bl_type *parts, const bl_schema **out, bl_error *err) BL_CHECKED;
/* A metadata column of a filter's schema by its name, or by meta.NAME; NULL: there is none. */
const bl_field *bl_filter_meta_find(const bl_schema *meta, bl_str name);
/* Child indexes from the wanted struct down to a field id: how many (at most max), 0 = not there. */
size_t bl_columns_path(const bl_type *wanted, int32_t id, int32_t *path, size_t max);

#endif
