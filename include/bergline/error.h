/* bergline/error.h: status codes and the caller-owned error.
 *
 * Every function that can fail returns a bl_status (0 = BL_OK) and takes a bl_error
 * as its last parameter. NULL is allowed. The first error wins: a bl_error that holds
 * a failure is not overwritten, so a lower error is never masked by a higher one.
 * The values 0 to 8 are also the exit statuses of the program.
 */
#ifndef BERGLINE_ERROR_H
#define BERGLINE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BL_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define BL_CHECKED __attribute__((warn_unused_result))
#else
#define BL_PRINTF(a, b)
#define BL_CHECKED
#endif

#if defined(BL_BUILDING) && defined(__GNUC__)
#define BL_API __attribute__((visibility("default")))
#else
#define BL_API
#endif

typedef enum bl_status {
  BL_OK = 0,          /* done */
  BL_FOUND = 1,       /* a check found something */
  BL_USAGE = 2,       /* wrong argument; not an ancestor; ambiguous address */
  BL_DAMAGED = 3,     /* a file breaks its format, or a limit of a decoder was passed */
  BL_IO = 4,          /* the operating system or the store said no */
  BL_CONFLICT = 5,    /* a commit lost its race; nothing changed */
  BL_UNKNOWN = 6,     /* the outcome of a commit is unknown; nothing was cleaned up */
  BL_UNSUPPORTED = 7, /* a feature that is not there, named in the message */
  BL_NOT_FOUND = 8,   /* table, snapshot, ref or a file that the table needs */
  BL_NOMEM = 9,       /* the allocator returned NULL (exit status 4) */
  BL_CANCELLED = 10   /* the progress callback or the reader of the output asked to stop */
} bl_status;

typedef struct bl_error {
  bl_status status;
  int64_t position;   /* byte position in the input, -1 where there is none */
  char message[1000]; /* "WHAT: WHERE: WHY", one line, NUL-terminated, UTF-8 */
} bl_error;

#define BL_ERROR_INIT                                                                                                  \
  {                                                                                                                    \
    BL_OK, -1, {                                                                                                       \
      0                                                                                                                \
    }                                                                                                                  \
  }

/* Set *err (may be NULL) unless it holds a failure already; returns st. */
BL_API bl_status bl_fail(bl_error *err, bl_status st, const char *fmt, ...) BL_PRINTF(3, 4);
/* The same with a byte position. */
BL_API bl_status bl_fail_at(bl_error *err, bl_status st, int64_t position, const char *fmt, ...) BL_PRINTF(4, 5);
/* Put "<text>: " in front of a message that is set (to name the file of a decoder's error);
 * returns err's status (st where err is NULL). Does nothing to an empty error. */
BL_API bl_status bl_fail_in(bl_error *err, bl_status st, const char *fmt, ...) BL_PRINTF(3, 4);
/* Out of memory: BL_NOMEM with a fixed message. */
BL_API bl_status bl_nomem(bl_error *err);
/* A short English word for a status, static. */
BL_API const char *bl_status_name(bl_status st);

#ifdef __cplusplus
}
#endif
#endif
