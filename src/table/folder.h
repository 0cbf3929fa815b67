/* folder.h: from one version of a table in a folder to the next (spec: "File System Tables"; the Hadoop form:
 * metadata/vN.metadata.json and metadata/version-hint.text).
 *
 * 1. Whoever moves a table holds its lock file meanwhile; a process that dies lets go.
 * 2. A version appears whole, under a name that nobody had: a finished file is given it.
 * 3. Version N is only written while N - 1 is the newest, under whichever of its names.
 * 4. The hint follows; where it lags, readers go on from it to the newest version.
 * 5. A table whose name was dropped while its files stay has a marker, metadata/.dropped, which says the version that
 *    was the last: it is a table no more (write/folder_drop.c), as long as no later version is there, and no other
 *    table, which writers that do not know the marker may make. */
#ifndef BL_TABLE_FOLDER_H
#define BL_TABLE_FOLDER_H

#include "base/alloc.h"
#include "bergline/sys/io.h"
#include "table/locate.h"

/* What is to be the newest version of the table in `folder` (as io takes it). */
typedef struct bl_folder_next {
  int64_t version; /* 1: a new table */
  const void *p;
  size_t n;
  bool gzip;
  bl_str uuid;  /* of the table that must be there; p NULL: any */
  bool revives; /* a table that was dropped, or whose files are in a catalog's form: version - 1 may be its last one */
} bl_folder_next;

/* Write it. What a write that is reported as failed has done is looked for: where the version is there, byte for byte,
 * it is synced once more and done (with a warning). BL_CONFLICT: the newest version is not version - 1, another table
 * is there, a new one would lie where the files of a dropped one are, or the lock was held too long; BL_NOT_FOUND: the
 * table is gone, or was dropped: nothing changed. BL_UNKNOWN: nobody knows whether the file is there, or will be after
 * a power cut. Others: nothing changed. */
bl_status bl_folder_commit(bl_ctx *ctx, bl_io *io, const char *folder, const bl_folder_next *next,
                           bl_error *err) BL_CHECKED;
/* What it would refuse. */
bl_status bl_folder_check(bl_ctx *ctx, bl_io *io, const char *folder, const bl_folder_next *next,
                          bl_error *err) BL_CHECKED;

/* The lock of the folder's commits. It makes the folder where there is none: bl_folder_sweep. *out NULL: the I/O has no
 * locks. BL_NOT_FOUND: not a new table, and the folder went while it was waited for. */
bl_status bl_folder_lock(bl_ctx *ctx, bl_io *io, const char *folder, bool is_new, bl_io_lock **out,
                         bl_error *err) BL_CHECKED;
/* Empty folders where a table is to be, or was. */
void bl_folder_sweep(bl_ctx *ctx, bl_io *io, const char *folder);
/* The hint, synced or not. */
bl_status bl_folder_hint(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, bool synced,
                         bl_error *err) BL_CHECKED;

/* A table that was dropped. */
typedef struct bl_dropped {
  bool yes;
  int64_t version; /* the last one that it had in the Hadoop form; -1: none */
  char *last;      /* bl_free: the metadata file by which it can be registered, in the folder */
  char *uuid;      /* bl_free */
} bl_dropped;
/* newest: the newest metadata file there. BL_DAMAGED: the marker. */
bl_status bl_folder_dropped(bl_ctx *ctx, bl_io *io, const char *folder, const bl_located *newest, bl_dropped *out,
                            bl_error *err) BL_CHECKED;
void bl_dropped_dispose(bl_ctx *ctx, bl_dropped *d);
/* BL_NOT_FOUND: the table was dropped, and by which file it can be registered. */
bl_status bl_dropped_fail(bl_error *err, const char *table, const char *last);
/* From now on the table is dropped; d->last lies in metadata/. BL_UNKNOWN as bl_io_replace. */
bl_status bl_folder_mark(bl_ctx *ctx, bl_io *io, const char *folder, const bl_dropped *d, bl_error *err) BL_CHECKED;
/* A marker that is not valid any more goes. */
void bl_folder_unmark(bl_ctx *ctx, bl_io *io, const char *folder);

#endif
