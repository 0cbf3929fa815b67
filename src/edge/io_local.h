/* io_local.h: files of this machine. Takes plain paths, file:/p, file:///p and file://localhost/p; nothing is decoded.
 * 1. A file being written has no name where the file system can do that, so that nothing is left of it when the program
 *    is ended, else a temporary one (".tmp-…") in the same folder. It gets its name by link or rename, which replaces
 *    nothing where it was opened exclusive, after its bytes are on disk; then the folder is synced. With BL_OUT_LATER
 *    both wait for sync_all.
 * 2. What abort or a failure leaves behind is nothing; one exception: where the last step, the sync of the folder,
 * fails after an exclusive file was published, finish gives BL_UNKNOWN. Parent folders are created. */
#ifndef BL_EDGE_IO_LOCAL_H
#define BL_EDGE_IO_LOCAL_H

#include "bergline/sys/io.h"

bl_status bl_io_local_new(bl_ctx *ctx, bl_io **out, bl_error *err) BL_CHECKED;

#endif
