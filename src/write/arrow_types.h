/* arrow_types.h: Iceberg types of Arrow columns. */
#ifndef BL_WRITE_ARROW_TYPES_H
#define BL_WRITE_ARROW_TYPES_H

#include "bergline/arrow_c.h"
#include "model/type.h"

/* The columns of a struct schema ("+s"), by name and type, in arena a; ids are given by position (schema_text.h).
 * Columns that allow null are optional. BL_UNSUPPORTED names a column that Iceberg has no type for. */
bl_status bl_schema_of_arrow(bl_arena *a, const struct ArrowSchema *s, bl_schema *out, bl_error *err) BL_CHECKED;

#endif
