/* paths.h: names of the files that a commit writes, as the metadata holds them. */
#ifndef BL_WRITE_PATHS_H
#define BL_WRITE_PATHS_H

#include "model/metadata.h"

typedef struct bl_uuid_text {
  char s[37];
} bl_uuid_text;
bl_uuid_text bl_new_uuid(bl_ctx *ctx); /* version 4 */
int64_t bl_new_snapshot_id(bl_ctx *ctx, const bl_metadata *md /* NULL: none is taken */);

/* Without a slash at the end; p NULL = no memory. in_folder: tables in the Hadoop form keep their metadata
 * below their location, whatever write.metadata.path says. */
bl_str bl_metadata_folder(bl_arena *a, const bl_metadata *md, bool in_folder);

#endif
