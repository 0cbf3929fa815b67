/* io.h: whole files through a bl_io, with a limit. */
#ifndef BL_TABLE_IO_H
#define BL_TABLE_IO_H

#include "base/background.h"
#include "base/buf.h"
#include "base/map.h"
#include "bergline/sys/io.h"

/* Appends the whole file to out. BL_NOT_FOUND; BL_DAMAGED where it is larger than max ("file too large"). Errors name
 * the path. */
bl_status bl_io_read_all(bl_io *io, const char *path, int64_t max, bl_buf *out, bl_error *err) BL_CHECKED;
/* Write a whole file and publish it. BL_CONFLICT: exclusive and it exists. */
bl_status bl_io_write_all(bl_io *io, const char *path, const void *p, size_t n, bool exclusive,
                          bl_error *err) BL_CHECKED;

/* The same in place of what has the name. BL_UNKNOWN: it may have been done, but nobody knows whether it lasts; after
 * every other failure nothing has changed. */
bl_status bl_io_replace(bl_ctx *ctx, bl_io *io, const char *path, const void *p, size_t n, bl_error *err) BL_CHECKED;

/* The same with BL_OUT_… flags, as far as the I/O knows them. */
bl_status bl_io_write_with(bl_io *io, const char *path, const void *p, size_t n, unsigned flags,
                           bl_error *err) BL_CHECKED;
bl_status bl_io_open_output(bl_io *io, const char *path, unsigned flags, bl_output **out, bl_error *err) BL_CHECKED;

/* Files that were written with BL_OUT_LATER and are not synced yet, and their folders, each once. Zeroed but for ctx
 * (and background): none. An I/O that syncs at once is asked for nothing. */
typedef struct bl_unsynced_path bl_unsynced_path;
typedef struct bl_unsynced {
  bl_ctx *ctx;
  bl_background *background; /* NULL: nothing is synced before bl_unsynced_sync asks for it */
  bl_unsynced_path **paths;
  size_t n, cap;
  int64_t bytes;   /* of the files */
  bl_map *folders; /* those that were not begun */
} bl_unsynced;
/* A file of so many bytes. */
bl_status bl_unsynced_add(bl_unsynced *u, bl_str path, int64_t bytes, bl_error *err) BL_CHECKED;
/* Begin to sync the files that were added (folders: and their folders) in the background. io has to live until they are
 * waited for. */
void bl_unsynced_begin(bl_unsynced *u, bl_io *io, bool folders);
/* Wait for what was begun. What failed will be told by bl_unsynced_sync. */
void bl_unsynced_wait(bl_unsynced *u);
/* They last from now on, and are forgotten; after a failure they are still to be synced. */
bl_status bl_unsynced_sync(bl_unsynced *u, bl_io *io, bl_error *err) BL_CHECKED;
void bl_unsynced_dispose(bl_unsynced *u); /* none are left */

#endif
