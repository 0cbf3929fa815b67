/* locate.h: which metadata file of a table folder is the current one (bergline(1), ADDRESSES; the Hadoop table protocol
 * of the Iceberg spec, "File System Tables"). */
#ifndef BL_TABLE_LOCATE_H
#define BL_TABLE_LOCATE_H

#include "base/alloc.h"
#include "bergline/sys/io.h"

/* What the name of a metadata file says. */
typedef struct bl_metadata_name {
  int64_t version; /* N of vN…, or of NNNNN-… */
  bool hadoop;     /* vN */
  bool gzip_name;  /* the name promises gzip; content decides */
} bl_metadata_name;
/* false: not a metadata file's name. `name` is the last path component. */
bool bl_metadata_name_parse(bl_str name, bl_metadata_name *out);

typedef struct bl_located {
  char *path; /* bl_free */
  bl_metadata_name name;
} bl_located;

/* BL_NOT_FOUND: the folder has no metadata. A hint that is missing, junk, or names a version that is gone is passed
 * over (the folder is listed). */
bl_status bl_locate_metadata(bl_ctx *ctx, bl_io *io, const char *folder, bl_located *out, bl_error *err) BL_CHECKED;

#endif
