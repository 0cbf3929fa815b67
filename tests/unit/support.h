/* support.h: what unit tests share: contexts (also with an allocator that fails), random numbers, fixture files. */
#ifndef BL_TESTS_UNIT_SUPPORT_H
#define BL_TESTS_UNIT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "support/chance.h"

/* An allocator that returns NULL from call number `fail_at` (counted from 0) on; -1: never. */
typedef struct support_allocator {
  long calls, fail_at;
} support_allocator;

static inline void *support_resize(void *user, void *p, size_t old_size, size_t n) {
  (void)old_size;
  support_allocator *a = user;
  if (n == 0) {
    free(p);
    return NULL;
  }
  long call = a->calls++;
  if (a->fail_at >= 0 && call >= a->fail_at) return NULL;
  return realloc(p, n);
}

static inline bl_ctx *support_ctx(support_allocator *a, void (*change)(bl_ctx_options *o)) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  if (a) o.allocator = (bl_allocator){.resize = support_resize, .user = a};
  if (change) change(&o);
  bl_ctx *ctx;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_ctx_new(&o, &ctx, &err), BL_OK);
  return ctx;
}

/* Run `work` with the first, second … allocation failing until it succeeds; each failure must be BL_NOMEM. work frees
 * all it makes. */
static inline void support_fail_each_allocation(bl_status (*work)(bl_ctx *ctx, void *user, bl_error *err), void *user) {
  support_allocator a = {.fail_at = -1};
  bl_ctx *ctx = support_ctx(&a, NULL);
  for (long i = 0;; i++) {
    a.calls = 0;
    a.fail_at = i;
    bl_error err = BL_ERROR_INIT;
    bl_status st = work(ctx, user, &err);
    if (st == BL_OK) break;
    assert_int_equal(st, BL_NOMEM);
    assert_int_equal(err.status, BL_NOMEM);
    assert_true(i < 100000);
  }
  a.fail_at = -1;
  bl_ctx_free(ctx);
}

static inline uint64_t support_random(uint64_t *state) {
  rng r = {*state};
  uint64_t v = rng_next(&r);
  *state = r.s;
  return v;
}

/* The bytes of tests/fixtures/<name>; free with bl_buf_free. */
static inline bl_buf support_fixture(bl_ctx *ctx, const char *name) {
  char path[4096];
  const char *root = getenv("BL_SOURCE_ROOT");
  snprintf(path, sizeof path, "%s/tests/fixtures/%s", root ? root : ".", name);
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("cannot open %s", path);
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  uint8_t block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) bl_buf_add(&b, block, n);
  fclose(f);
  assert_int_equal(bl_buf_ok(&b, NULL), BL_OK);
  return b;
}

/* For messages that should name something, upper or lower case. */
static inline void support_says(const char *message, const char *word) {
  size_t n = strlen(word);
  for (const char *p = message; *p; p++)
    if (strncasecmp(p, word, n) == 0) return;
  fail_msg("\"%s\" does not say \"%s\"", message, word);
}

#endif
