/* buf.h: a growing byte buffer with a maximum; bytes in, bytes out. */
#ifndef BL_BASE_BUF_H
#define BL_BASE_BUF_H

#include "base/alloc.h"

typedef struct bl_buf {
  bl_ctx *ctx;
  uint8_t *p;
  size_t n, cap, max;
  bool failed; /* an append did not fit or memory ran out; sticky until bl_buf_clear */
  bool full;   /* failed because max would have been passed */
} bl_buf;

#define BL_BUF_MAX ((size_t)1 << 40)

void bl_buf_init(bl_buf *b, bl_ctx *ctx, size_t max);
void bl_buf_free(bl_buf *b);
void bl_buf_clear(bl_buf *b); /* n = 0, not failed, memory kept */
/* Appends never report: check bl_buf_ok once at the end (BL_NOMEM, or BL_DAMAGED where max was passed). */
void bl_buf_add(bl_buf *b, const void *p, size_t n);
void bl_buf_byte_grow(bl_buf *b, uint8_t c); /* bl_buf_byte where there is no room yet */
static inline void bl_buf_byte(bl_buf *b, uint8_t c) {
  if (!b->failed && b->n < b->cap) b->p[b->n++] = c;
  else bl_buf_byte_grow(b, c);
}
void bl_buf_str(bl_buf *b, bl_str s);
void bl_buf_cstr(bl_buf *b, const char *s);
void bl_buf_printf(bl_buf *b, const char *fmt, ...) BL_PRINTF(2, 3);
/* Room for n more bytes: pointer to write to, then add to b->n; NULL on failure. */
uint8_t *bl_buf_reserve(bl_buf *b, size_t n);
bl_status bl_buf_ok(const bl_buf *b, bl_error *err) BL_CHECKED;
/* What a bl_sink writes, into a bl_buf (its user). */
bl_status bl_buf_sink(void *buf, const void *p, size_t n, bl_error *err) BL_CHECKED;

#endif
