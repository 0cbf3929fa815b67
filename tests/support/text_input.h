/* text_input.h: bytes in memory as a bl_input; closing it does nothing. */
#ifndef BL_TESTS_SUPPORT_TEXT_INPUT_H
#define BL_TESTS_SUPPORT_TEXT_INPUT_H

#include <string.h>

#include "base/alloc.h"
#include "bergline/sys/io.h"

typedef struct text_input {
  bl_input in;
  const char *p;
} text_input;

static inline bl_status text_input_read(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  const text_input *t = (const text_input *)in;
  if (offset < 0 || offset + (int64_t)n > in->size) return bl_fail(err, BL_IO, "a short read");
  memcpy(out, t->p + offset, n);
  return BL_OK;
}

static inline void text_input_close(bl_input *in) {
  (void)in;
}

/* p is borrowed; NULL where n is 0. */
static inline text_input text_input_of(const void *p, size_t n) {
  return (text_input){.in = {.size = (int64_t)n, .read_at = text_input_read, .close = text_input_close},
                      .p = n ? p : ""};
}

#endif
