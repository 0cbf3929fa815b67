/* io.h: whole files through a bl_io, with a limit. */
#ifndef BL_TABLE_IO_H
#define BL_TABLE_IO_H

#include "base/buf.h"
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
/* What was written with BL_OUT_FOLDER_LATER in this folder lasts from now on. */
bl_status bl_io_sync_folder(bl_io *io, const char *folder, bl_error *err) BL_CHECKED;

#endif
