/* bergline/sys/io.h: the file system that a table is read through (plug-in interface; a weaker
 * promise than the rest of include/bergline: check `version`).
 *
 * Paths are opaque strings as Iceberg metadata holds them: nothing is decoded or normalised by
 * callers. An implementation decides which forms it takes (io_local: plain paths, file:/p,
 * file:///p). All functions are thread-safe. Errors name the path. */
#ifndef BERGLINE_SYS_IO_H
#define BERGLINE_SYS_IO_H

#include "bergline/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BL_IO_VERSION 1

/* An open file for reading at any place, from any thread. */
typedef struct bl_input bl_input;
struct bl_input {
  int64_t size; /* bytes */
  /* Read exactly n bytes at offset; BL_IO on a short read (the message names path and byte). */
  bl_status (*read_at)(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err);
  void (*close)(bl_input *in); /* frees in */
};

/* A file being written; it appears under its path only by finish. */
typedef struct bl_output bl_output;
struct bl_output {
  bl_status (*write)(bl_output *out, const void *p, size_t n, bl_error *err);
  /* Flush, fsync, close and publish; then out is freed, also on failure. BL_CONFLICT where the
   * file was opened exclusive and exists. */
  bl_status (*finish)(bl_output *out, bl_error *err);
  void (*abort)(bl_output *out); /* nothing remains; frees out */
};

/* Where bytes go one after the other: a file being written, or stdout. write may refuse with BL_CANCELLED where nobody
 * reads any more. */
typedef struct bl_sink {
  bl_status (*write)(void *user, const void *p, size_t n, bl_error *err);
  void *user;
} bl_sink;

typedef struct bl_file_info {
  const char *path; /* as the caller of list would pass it to open_input */
  int64_t size;
  int64_t modified_ms;
  bool is_folder;
} bl_file_info;

/* Held until unlock, which frees it; a holder that dies lets go. */
typedef struct bl_io_lock bl_io_lock;
struct bl_io_lock {
  void (*unlock)(bl_io_lock *l);
};

/* Of open_output_with. */
enum {
  BL_OUT_EXCLUSIVE = 1, /* as open_output's exclusive */
  BL_OUT_LATER = 2,     /* finish does not wait for the disk: sync_all has to follow before the file is relied on */
  BL_OUT_UNSYNCED = 4   /* may be gone, or hold anything, after a power cut */
};

typedef struct bl_io bl_io;
struct bl_io {
  int version; /* BL_IO_VERSION */
  const char *name;
  /* must provide */
  bl_status (*open_input)(bl_io *io, const char *path, bl_input **out, bl_error *err); /* BL_NOT_FOUND */
  bl_status (*exists)(bl_io *io, const char *path, bool *out, bl_error *err);
  /* Direct children of a folder in any order; a folder that does not exist has none. visit
   * returns non-BL_OK to stop (passed on). */
  bl_status (*list)(bl_io *io, const char *folder, bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err),
                    void *user, bl_error *err);
  /* may provide (NULL = read-only) */
  bl_status (*open_output)(bl_io *io, const char *path, bool exclusive, bl_output **out, bl_error *err);
  bl_status (*remove)(bl_io *io, const char *path, bl_error *err); /* a file, or an empty folder; BL_NOT_FOUND */
  /* NULL: none. Keep every other thread and process that locks the same path waiting, at most wait_ms; BL_CONFLICT: it
   * was held all the time. The path is a file of the lock's own, which is gone when nobody holds it. */
  bl_status (*lock)(bl_io *io, const char *path, int64_t wait_ms, bl_io_lock **out, bl_error *err);
  /* NULL: open_output is used, which syncs at once */
  bl_status (*open_output_with)(bl_io *io, const char *path, unsigned flags, bl_output **out, bl_error *err);
  /* Files that were written with BL_OUT_LATER, and the folders that they appeared in: they last from now on. All in one
   * call, so that they wait for the disk together. */
  bl_status (*sync_all)(bl_io *io, const char *const *paths, size_t n, bl_error *err);
  /* As open_output, not exclusive, but finish does not wait until the bytes are on the disk, no folder is made, a link
   * is followed, and what is no regular file (a device, a pipe, /dev/fd/N) is written straight: for results that can be
   * made again. NULL: open_output serves. */
  bl_status (*open_result)(bl_io *io, const char *path, bl_output **out, bl_error *err);
  void (*free)(bl_io *io);
  /* NULL: none. A file or folder gets another name in the same store, in one step, and never that of something else;
   * sync_all of the folders above both names has to follow. BL_CONFLICT: the name is taken; BL_NOT_FOUND: there is no
   * such file, or no folder for it. After a failure nothing has changed. */
  bl_status (*rename)(bl_io *io, const char *from, const char *to, bl_error *err);
  /* NULL: no limit is known. How many more files may be opened than are open now (counted up to `most`). It holds until
   * anything in the process opens another. */
  int64_t (*room)(bl_io *io, int64_t most);
};

#ifdef __cplusplus
}
#endif
#endif
