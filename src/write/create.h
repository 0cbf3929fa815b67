/* create.h: the first metadata document of a table. */
#ifndef BL_WRITE_CREATE_H
#define BL_WRITE_CREATE_H

#include "bergline/write.h"
#include "format/json.h"

/* BL_USAGE: the schema, partition, sort or property texts. */
bl_status bl_new_document(bl_arena *a, const bl_create_options *o, const char *location, bl_json **out,
                          bl_error *err) BL_CHECKED;

/* A path or URI as metadata and catalogs hold it: absolute, without a slash at the end. BL_IO: no working folder. */
bl_status bl_absolute_path(bl_arena *a, const char *path, bl_str *out, bl_error *err) BL_CHECKED;

#endif
