/* spool_private.h: unlinked temporary files. BL_IO names the folder. */
#ifndef BL_CHANGES_SPOOL_PRIVATE_H
#define BL_CHANGES_SPOOL_PRIVATE_H

#include "changes/events.h"

bl_status bl_temp_open(bl_ctx *ctx, int *fd, bl_error *err) BL_CHECKED;
bl_status bl_temp_write(bl_ctx *ctx, int fd, int64_t at, const void *p, size_t n, bl_error *err) BL_CHECKED;
bl_status bl_temp_read(bl_ctx *ctx, int fd, int64_t at, void *p, size_t n, bl_error *err) BL_CHECKED;

#endif
