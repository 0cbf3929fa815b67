/* fault_sys.h: system calls of this process that fail, fall short, or end it: those of every library in it, SQLite and
 * Arrow among them. For one test program: its functions take the place of the C library's.
 *
 *   fault_sys_begin(&(fault_plan){.at = 3, .code = EIO});    the third call fails
 *   …
 *   long calls = fault_sys_end();                            as many were counted
 *
 * Counted are calls on files and folders (not pipes, not terminals); with .changes only those that change something:
 * files opened for writing, write, truncate, rename, link, unlink, mkdir, rmdir, and sync and close of a file being
 * written. */
#ifndef BL_TEST_FAULT_SYS_H
#define BL_TEST_FAULT_SYS_H

#include <stdbool.h>

typedef struct fault_plan {
  long at;      /* this call, counted from 1; 0: none */
  bool onwards; /* and every one after it */
  bool changes; /* only calls that change something are counted */
  bool full;    /* from the call on, what takes room on the disk fails, and nothing else; the first write does a half */
  int code;     /* errno; 0: SIGKILL before the call is made */
  bool torn;    /* a write does a half of it first */
} fault_plan;

void fault_sys_begin(const fault_plan *plan);
long fault_sys_end(void);
/* The call that was the first to fail ("write"), "" if none did. */
const char *fault_sys_what(void);

/* Called after each call that changed something and did not fail: its name, and the file (fd, or path). NULL: no more.
 * What it does itself is not seen. */
void fault_sys_watch(void (*seen)(void *user, const char *call, int fd, const char *path), void *user);

#endif
