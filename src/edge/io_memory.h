/* io_memory.h: files in memory, for tests: the same behaviour as io_local without folders that are empty, and a hook
 * that makes the Nth call fail. Paths are compared byte for byte. */
#ifndef BL_EDGE_IO_MEMORY_H
#define BL_EDGE_IO_MEMORY_H

#include "base/str.h"
#include "bergline/sys/io.h"

bl_status bl_io_memory_new(bl_ctx *ctx, bl_io **out, bl_error *err) BL_CHECKED;
/* Put a file there at once (no hook). */
bl_status bl_io_memory_put(bl_io *io, const char *path, const void *p, size_t n, bl_error *err) BL_CHECKED;
/* Its bytes until it is replaced or removed; p NULL where there is none. */
bl_str bl_io_memory_get(bl_io *io, const char *path);
size_t bl_io_memory_count(bl_io *io);

/* Called before every operation ("open", "read", "exists", "list", "create", "write", "finish", "remove") with the
 * number of the call, from 1: what it returns (and sets in err) is the operation's failure; BL_OK lets it happen. */
typedef bl_status (*bl_io_hook)(void *user, int64_t call, const char *operation, const char *path, bl_error *err);
void bl_io_memory_set_hook(bl_io *io, bl_io_hook hook, void *user); /* also sets the count of calls to 0 */
int64_t bl_io_memory_calls(bl_io *io);

#endif
