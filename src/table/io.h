/* io.h: whole files through a bl_io, with a limit. */
#ifndef BL_TABLE_IO_H
#define BL_TABLE_IO_H

#include "base/buf.h"
#include "base/map.h"
#include "bergline/sys/io.h"

/* Appends the whole file to out. BL_NOT_FOUND; BL_DAMAGED where it is larger than max ("file too large"). Errors name
 * the path. */
bl_status bl_io_read_all(bl_io *io, const char *path, int64_t max, bl_buf *out, bl_error *err) BL_CHECKED;
/* Write a whole file and publish it. BL_CONFLICT: exclusive and it exists. */
bl_status bl_io_write_all(bl_io *io, const char *path, const void *p, size_t n, bool exclusive,
                          bl_error *err) BL_CHECKED;

/* The same with BL_OUT_… flags, as far as the I/O knows them. */
bl_status bl_io_write_with(bl_io *io, const char *path, const void *p, size_t n, unsigned flags,
                           bl_error *err) BL_CHECKED;
bl_status bl_io_open_output(bl_io *io, const char *path, unsigned flags, bl_output **out, bl_error *err) BL_CHECKED;

/* Files that were written with BL_OUT_LATER and are not synced yet. Zeroed but for ctx: none. */
typedef struct bl_unsynced {
  bl_ctx *ctx;
  char **paths; /* with their folders, each once */
  size_t n, cap;
  bl_map *folders;
} bl_unsynced;
bl_status bl_unsynced_add(bl_unsynced *u, bl_str path, bl_error *err) BL_CHECKED;
/* They last from now on, and are forgotten. */
bl_status bl_unsynced_sync(bl_unsynced *u, bl_io *io, bl_error *err) BL_CHECKED;
void bl_unsynced_dispose(bl_unsynced *u); /* none are left */

#endif
