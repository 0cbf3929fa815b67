/* alloc.h: all memory comes through here. Sizes are multiplied with checks.
 * bl_ctx's definition is private to base. */
#ifndef BL_BASE_ALLOC_H
#define BL_BASE_ALLOC_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "bergline/ctx.h"

struct bl_ctx {
  bl_ctx_options o;
  void *log_lock; /* pthread_mutex_t */
};

/* NULL where memory runs out or n * size overflows. n * size == 0 gives a valid pointer.
 * Every block carries its size in a header, so free needs only the pointer. */
void *bl_alloc(bl_ctx *ctx, size_t n, size_t size);           /* not cleared */
void *bl_calloc(bl_ctx *ctx, size_t n, size_t size);          /* cleared */
void *bl_resize(bl_ctx *ctx, void *p, size_t n, size_t size); /* p stays valid on NULL */
void bl_free(bl_ctx *ctx, void *p);                           /* NULL allowed */
char *bl_strdup(bl_ctx *ctx, const char *s);
/* printf into a fresh block. */
char *bl_asprintf(bl_ctx *ctx, const char *fmt, ...) BL_PRINTF(2, 3);

/* Grow an array for one more element: *items of *cap elements (each `size` bytes) holding n.
 * BL_NOMEM. Usage: BL_TRY(bl_grow(ctx, &v->items, &v->cap, v->n, sizeof *v->items, err)). */
bl_status bl_grow_(bl_ctx *ctx, void **items, size_t *cap, size_t n, size_t size, bl_error *err);
#define bl_grow(ctx, items, cap, n, size, err) bl_grow_(ctx, (void **)(items), cap, n, size, err)

/* An arena: blocks that are freed together. Not thread-safe. */
typedef struct bl_arena bl_arena;
bl_status bl_arena_new(bl_ctx *ctx, bl_arena **out, bl_error *err) BL_CHECKED;
void bl_arena_free(bl_arena *a);
bl_ctx *bl_arena_ctx(bl_arena *a);
void *bl_arena_alloc(bl_arena *a, size_t n, size_t size);  /* not cleared, 16-byte aligned; NULL */
void *bl_arena_calloc(bl_arena *a, size_t n, size_t size); /* cleared */
/* A NUL-terminated copy. p NULL on failure (an empty string has p != NULL). */
bl_str bl_arena_str(bl_arena *a, bl_str s);
bl_str bl_arena_printf(bl_arena *a, const char *fmt, ...) BL_PRINTF(2, 3);
size_t bl_arena_bytes(const bl_arena *a);

/* Log helpers: one line, level WARNING = "bergline: warning: …" for the program. */
void bl_warn(bl_ctx *ctx, const char *fmt, ...) BL_PRINTF(2, 3);
void bl_log(bl_ctx *ctx, bl_log_level level, const char *fmt, ...) BL_PRINTF(3, 4);
/* BL_CANCELLED where the callback asks for it. Thread-safe. */
bl_status bl_progress(bl_ctx *ctx, const char *what, int64_t done, int64_t total, bl_error *err);
int64_t bl_now_ms(bl_ctx *ctx);
void bl_sleep_ms(bl_ctx *ctx, int64_t ms);
void bl_random(bl_ctx *ctx, void *out, size_t n);

/* Checked sums: false on overflow. */
static inline bool bl_add64(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
static inline bool bl_mul64(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

#define BL_TRY(x)                                                                                                      \
  do {                                                                                                                 \
    bl_status bl_try_ = (x);                                                                                           \
    if (bl_try_ != BL_OK) return bl_try_;                                                                              \
  } while (0)
/* With a local `bl_status st` and a label `done`. */
#define BL_GO(x)                                                                                                       \
  do {                                                                                                                 \
    st = (x);                                                                                                          \
    if (st != BL_OK) goto done;                                                                                        \
  } while (0)

/* qsort that takes an empty array without an address. */
static inline void bl_sort(void *items, size_t n, size_t size, int (*compare)(const void *a, const void *b)) {
  if (n > 1) qsort(items, n, size, compare);
}
static inline void bl_sort_r(void *items, size_t n, size_t size,
                             int (*compare)(const void *a, const void *b, void *user), void *user) {
  if (n > 1) qsort_r(items, n, size, compare, user);
}

#define BL_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
