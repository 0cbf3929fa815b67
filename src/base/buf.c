/* buf.c: see buf.h. A buffer that failed takes nothing more, so that its content never has a hole. */
#include "base/buf.h"

#include <stdio.h>

void bl_buf_init(bl_buf *b, bl_ctx *ctx, size_t max) {
  *b = (bl_buf){.ctx = ctx, .max = max < BL_BUF_MAX ? max : BL_BUF_MAX};
}

void bl_buf_free(bl_buf *b) {
  if (!b->ctx) return;
  bl_free(b->ctx, b->p);
  b->p = NULL;
  b->n = b->cap = 0;
}

void bl_buf_clear(bl_buf *b) {
  b->n = 0;
  b->failed = b->full = false;
}

static bool grow(bl_buf *b, size_t need) {
  size_t cap = b->cap < 64 ? 64 : b->cap + b->cap / 2;
  if (cap < need) cap = need;
  if (cap > b->max) cap = b->max;
  void *p = bl_resize(b->ctx, b->p, cap, 1);
  if (!p) return false;
  b->p = p;
  b->cap = cap;
  return true;
}

uint8_t *bl_buf_reserve(bl_buf *b, size_t n) {
  if (b->failed) return NULL;
  if (n > b->max - b->n) {
    b->failed = b->full = true;
    return NULL;
  }
  if ((n > b->cap - b->n || !b->p) && !grow(b, b->n + n)) {
    b->failed = true;
    return NULL;
  }
  return b->p + b->n;
}

void bl_buf_add(bl_buf *b, const void *p, size_t n) {
  uint8_t *to = bl_buf_reserve(b, n);
  if (!to || !n) return;
  memcpy(to, p, n);
  b->n += n;
}

void bl_buf_byte_grow(bl_buf *b, uint8_t c) {
  bl_buf_add(b, &c, 1);
}

void bl_buf_str(bl_buf *b, bl_str s) {
  bl_buf_add(b, s.p, s.n);
}

void bl_buf_cstr(bl_buf *b, const char *s) {
  bl_buf_add(b, s, strlen(s));
}

void bl_buf_printf(bl_buf *b, const char *fmt, ...) {
  char small[256];
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  if (n < 0) {
    b->failed = true;
  } else if ((size_t)n < sizeof small) {
    bl_buf_add(b, small, (size_t)n);
  } else {
    char *text = bl_alloc(b->ctx, (size_t)n + 1, 1);
    if (text) {
      vsnprintf(text, (size_t)n + 1, fmt, again);
      bl_buf_add(b, text, (size_t)n);
    } else {
      b->failed = true;
    }
    bl_free(b->ctx, text);
  }
  va_end(again);
  va_end(ap);
}

bl_status bl_buf_ok(const bl_buf *b, bl_error *err) {
  if (!b->failed) return BL_OK;
  if (b->full) return bl_fail(err, BL_DAMAGED, "buffer: more than its limit of %zu bytes", b->max);
  return bl_nomem(err);
}

bl_status bl_buf_sink(void *buf, const void *p, size_t n, bl_error *err) {
  bl_buf_add(buf, p, n);
  return bl_buf_ok(buf, err);
}
