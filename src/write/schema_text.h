/* schema_text.h: schemas, partitions and sort orders as people write them:
 *
 *   schema     a long not null, b string default 'x' comment 'why', s struct<x: int, y: list<string>>, m map<string,
 * long> partition  day(ts), bucket(16, a) as shard, b sort       a desc nulls last, bucket(4, b)
 *
 * Columns that are primary key, also inside structs, are required, and the identifier fields. Names beside letters,
 * digits and _ need "…". Every failure of the text is BL_USAGE with its byte. */
#ifndef BL_WRITE_SCHEMA_TEXT_H
#define BL_WRITE_SCHEMA_TEXT_H

#include "model/metadata.h"

/* Ids are given by position: those of a struct's fields before those inside them (as Iceberg gives them to a new
 * table).
 */
bl_status bl_schema_text(bl_arena *a, bl_str text, bl_schema *out, bl_error *err) BL_CHECKED;
/* One type; ids from *last_id + 1 on, which is the last one given afterwards. */
bl_status bl_type_text(bl_arena *a, bl_str text, int32_t *last_id, bl_type *out, bl_error *err) BL_CHECKED;
/* A literal as a value of a type (a default); *out NULL for null. BL_USAGE: it does not fit exactly. */
bl_status bl_default_text(bl_arena *a, bl_str text, const bl_type *t, bl_value **out, bl_error *err) BL_CHECKED;
/* Field ids are left 0; a field without `as` has the name that Iceberg gives it. */
bl_status bl_partition_text(bl_arena *a, bl_str text, const bl_schema *schema, bl_partition_spec *out,
                            bl_error *err) BL_CHECKED;
bl_status bl_sort_text(bl_arena *a, bl_str text, const bl_schema *schema, bl_sort_order *out, bl_error *err) BL_CHECKED;

/* Give ids to a type's fields anew (see above); *last_id as above. */
bl_status bl_type_fresh_ids(bl_arena *a, const bl_type *t, int32_t *last_id, bl_type *out, bl_error *err) BL_CHECKED;
/* Can a table of this format version have the column? BL_USAGE: a type, a default, or a name that it has not. `top`: a
 * column, not a field inside one. */
bl_status bl_field_allowed(const bl_field *f, bool top, int format_version, bl_error *err) BL_CHECKED;

/* Why no value is of the type, or, with a type that is nested, of one inside it; NULL: some are. */
const char *bl_type_flaw(const bl_type *t);

/* Can it be an identifier field: required, primitive, no float or double, in no list or map, in no optional struct?
 * BL_USAGE. */
bl_status bl_identifier_allowed(const bl_schema *s, const bl_field *f, bl_error *err) BL_CHECKED;

#endif
