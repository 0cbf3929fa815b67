/* variant_case.h: for the tests of variants: bytes in, JSON out. */
#ifndef BL_TESTS_UNIT_FORMAT_VARIANT_CASE_H
#define BL_TESTS_UNIT_FORMAT_VARIANT_CASE_H

#include "../support.h"

#include "format/variant.h"

/* A literal with NUL bytes inside. */
#define BYTES(lit) ((bl_str){(lit), sizeof(lit) - 1})
#define RAW(lit)                                                                                                       \
  { (lit), sizeof(lit) - 1 } /* the same in a static table */
#define NO_KEYS BYTES("\x01\x00\x00")

/* The bytes are copied to blocks of their size, so that the sanitizer sees a read behind them. */
static inline bl_status variant_json(bl_ctx *ctx, bl_str metadata, bl_str value, bl_buf *out, bl_error *err) {
  char *m = malloc(metadata.n + 1), *v = malloc(value.n + 1);
  m = realloc(m, metadata.n ? metadata.n : 1), v = realloc(v, value.n ? value.n : 1);
  if (metadata.n) memcpy(m, metadata.p, metadata.n);
  if (value.n) memcpy(v, value.p, value.n);
  bl_buf_clear(out);
  bl_status st = bl_variant_print(ctx, (bl_str){m, metadata.n}, (bl_str){v, value.n}, out, err);
  free(m), free(v);
  return st;
}

static inline void variant_prints(bl_ctx *ctx, bl_str metadata, bl_str value, const char *want) {
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_error err = BL_ERROR_INIT;
  if (variant_json(ctx, metadata, value, &out, &err) != BL_OK) fail_msg("%s (expected %s)", err.message, want);
  bl_buf_byte(&out, 0);
  assert_string_equal((const char *)out.p, want);
  bl_buf_free(&out);
}

static inline void variant_refused(bl_ctx *ctx, bl_str metadata, bl_str value, bl_status want, const char *says) {
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(variant_json(ctx, metadata, value, &out, &err), want);
  support_says(err.message, "variant");
  support_says(err.message, says);
  bl_buf_free(&out);
}

static inline bl_str variant_bytes(const bl_buf *b) {
  return (bl_str){(const char *)b->p, b->n};
}

#endif
