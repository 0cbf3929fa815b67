/* fault_io.h: an I/O that calls back before every operation of the one below, which may fail it, do something else
 * first, or end the process.
 *
 *   fault_io f;
 *   bl_io *io = fault_io_new(&f, below);           below (local files) is freed with it
 *   f.hook = my_hook; f.user = …;                   NULL: everything passes
 *
 * Operations: "open" "read" "exists" "list" "create" "write" "finish" "remove" "rename" "lock" "sync". Calls are
 * counted from 1 since the last fault_io_reset. A hook's failure is the operation's: finish then removes what was
 * written. */
#ifndef BL_TEST_FAULT_IO_H
#define BL_TEST_FAULT_IO_H

#include "bergline/sys/io.h"

typedef struct fault_io fault_io;
struct fault_io {
  bl_io io;
  bl_io *below;
  long calls;
  bl_status (*hook)(void *user, long call, const char *operation, const char *path, bl_error *err);
  void *user;
  /* after finish of a file whose path ends so: what the caller is told though it is done; BL_OK: the truth */
  const char *lie_about;
  bl_status lie;
};

bl_io *fault_io_new(fault_io *f, bl_io *below);
void fault_io_reset(fault_io *f);

#endif
