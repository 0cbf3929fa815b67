/* folder.h: from one version of a table in a folder to the next (spec: "File System Tables"; the Hadoop form:
 * metadata/vN.metadata.json and metadata/version-hint.text).
 *
 * 1. Whoever moves a table holds its lock file meanwhile; a process that dies lets go.
 * 2. A version appears whole, under a name that nobody had: a finished file is given it.
 * 3. Version N is only written while N - 1 is the newest, under whichever of its names.
 * 4. The hint follows; where it lags, readers go on from it to the newest version. */
#ifndef BL_TABLE_FOLDER_H
#define BL_TABLE_FOLDER_H

#include "base/alloc.h"
#include "bergline/sys/io.h"

/* Write version `version` (1: a new table) of the table in `folder` (as io takes it). What a write that is reported as
 * failed has done is looked for: where the version is there, byte for byte, it is synced once more and done (with a
 * warning). BL_CONFLICT: the newest version is not version - 1, or the lock was held too long: nothing changed.
 * BL_UNKNOWN: nobody knows whether the file is there, or will be after a power cut. Others: nothing changed. */
bl_status bl_folder_publish(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                            bool gzip, bl_error *err) BL_CHECKED;
/* What bl_folder_publish would refuse: is the newest version version - 1? BL_CONFLICT. */
bl_status bl_folder_check(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, bl_error *err) BL_CHECKED;

#endif
