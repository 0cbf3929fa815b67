/* metadata_file.h: whole metadata files, and what one is without reading all of it. */
#ifndef BL_TABLE_METADATA_FILE_H
#define BL_TABLE_METADATA_FILE_H

#include "base/alloc.h"
#include "bergline/sys/io.h"
#include "format/metadata_json.h"

/* BL_UNSUPPORTED: a view's; BL_DAMAGED; BL_NOT_FOUND. Errors name the file. */
bl_status bl_metadata_read(bl_ctx *ctx, bl_io *io, const char *path, bl_metadata **out, bl_error *err) BL_CHECKED;

/* Is it the metadata of a view? false for what is no metadata at all, and where the file is gone. */
bl_status bl_metadata_is_view(bl_ctx *ctx, bl_io *io, const char *path, bool *yes, bl_error *err) BL_CHECKED;
/* Is it metadata of the table with this uuid? true where the file has none. */
bl_status bl_metadata_is_of(bl_ctx *ctx, bl_io *io, const char *path, bl_str uuid, bool *yes, bl_error *err) BL_CHECKED;

#endif
