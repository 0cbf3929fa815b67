/* bergline/ctx.h: the context that every handle is made with: allocator, limits, threads,
 * memory budget, temporary folder, log and progress. There are no globals. A context may be
 * used by several threads at once and must outlive every handle made with it. */
#ifndef BERGLINE_CTX_H
#define BERGLINE_CTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bergline/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bl_ctx bl_ctx;

/* realloc with sizes: p NULL allocates, n 0 frees (and returns NULL). Must be thread-safe.
 * Memory is aligned as by malloc. May return NULL: the library then fails with BL_NOMEM. */
typedef struct bl_allocator {
  void *(*resize)(void *user, void *p, size_t old_size, size_t n);
  void *user;
} bl_allocator;

typedef enum bl_log_level { BL_LOG_WARNING = 0, BL_LOG_INFO = 1, BL_LOG_DEBUG = 2 } bl_log_level;

/* Options; bl_ctx_options_init sets the defaults named here. */
typedef struct bl_ctx_options {
  bl_allocator allocator;            /* default: realloc/free */
  int threads;                       /* worker threads; default: cores, at most 8 */
  int64_t memory_budget;             /* bytes of work kept in memory before it spills; default 192 MiB */
  const char *temp_dir;              /* default: $TMPDIR or /tmp */
  int64_t max_metadata_bytes;        /* largest metadata JSON or manifest, unpacked; default 1 GiB */
  int max_nesting;                   /* JSON and schema depth; default 200 */
  int64_t max_deletion_vector_bytes; /* default 256 MiB */
  /* A warning or note; text is one line without "bergline: warning: ". May be called from any
   * thread, never twice at once. NULL: dropped. */
  void (*log)(void *user, bl_log_level level, const char *text);
  /* Progress of long work, done of total (bytes or rows; total 0 = not known). Return non-zero
   * to cancel (BL_CANCELLED). NULL: none. */
  int (*progress)(void *user, const char *what, int64_t done, int64_t total);
  void *user;
  /* Seams for tests: the time in ms since 1970-01-01 UTC, and random bytes. */
  int64_t (*now_ms)(void *user);
  void (*random)(void *user, void *out, size_t n);
} bl_ctx_options;

BL_API void bl_ctx_options_init(bl_ctx_options *o);
/* o NULL = defaults. BL_NOMEM; BL_USAGE for options that make no sense. */
BL_API bl_status bl_ctx_new(const bl_ctx_options *o, bl_ctx **out, bl_error *err) BL_CHECKED;
BL_API void bl_ctx_free(bl_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
