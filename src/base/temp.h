/* temp.h: unlinked temporary files in the ctx's temporary folder. BL_IO names the folder. Close the descriptor to be
 * rid of the file. */
#ifndef BL_BASE_TEMP_H
#define BL_BASE_TEMP_H

#include "base/alloc.h"

bl_status bl_temp_open(bl_ctx *ctx, int *fd, bl_error *err) BL_CHECKED;
bl_status bl_temp_write(bl_ctx *ctx, int fd, int64_t at, const void *p, size_t n, bl_error *err) BL_CHECKED;
bl_status bl_temp_read(bl_ctx *ctx, int fd, int64_t at, void *p, size_t n, bl_error *err) BL_CHECKED;

#endif
