/* properties.h: table properties as numbers and switches. A value that makes no sense counts
 * as not set. */
#ifndef BL_WRITE_PROPERTIES_H
#define BL_WRITE_PROPERTIES_H

#include "model/metadata.h"

int64_t bl_property_i64(const bl_pairs *p, const char *key, int64_t otherwise);
bool bl_property_bool(const bl_pairs *p, const char *key, bool otherwise);
/* serializable where it is not set. prefix: "write.delete" … */
bool bl_property_is_snapshot_isolation(const bl_pairs *p, const char *prefix);
/* "KEY=VALUE" split at the first '='; BL_USAGE where there is none or the key is empty. Borrowed. */
bl_status bl_key_value(const char *text, bl_pair *out, bl_error *err) BL_CHECKED;

/* Where the property says which metrics a column has: is there such a column? BL_USAGE. Only when it is set: those that
 * are there may be older than the schema. */
bl_status bl_property_names_column(const bl_schema *schema, bl_str key, bl_error *err) BL_CHECKED;

/* A table in a folder keeps its metadata there: is the property one that says where? BL_USAGE. */
bl_status bl_property_of_folders(bl_str key, bl_error *err) BL_CHECKED;

/* May a property be set by hand, to this value (p NULL: unset)? BL_USAGE: format-version and the like are fields of the
 * metadata; or the property is one that bergline goes by, and the value makes no sense. */
bl_status bl_property_allowed(bl_str key, bl_str value, bl_error *err) BL_CHECKED;

#endif
