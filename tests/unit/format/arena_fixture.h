/* arena_fixture.h: what the tests of JSON and metadata share: an arena in a context whose heap counts and fails, and
 * errors as assertions. */
#ifndef BL_TESTS_UNIT_ARENA_FIXTURE_H
#define BL_TESTS_UNIT_ARENA_FIXTURE_H

#include "base/buf.h"
#include "support/support.h"

typedef struct fixture {
  test_heap heap;
  bl_ctx *ctx;
  bl_arena *a;
  bl_error err;
} fixture;

static inline void fixture_open(fixture *f) {
  *f = (fixture){.err = BL_ERROR_INIT};
  f->ctx = test_ctx_on(&f->heap, NULL);
  assert_int_equal(bl_arena_new(f->ctx, &f->a, NULL), BL_OK);
}

static inline void fixture_close(fixture *f) {
  bl_arena_free(f->a);
  test_ctx_free(f->ctx);
}

/* The failure must hold the words, upper or lower case; the error is fresh again afterwards. */
static inline void assert_refused(bl_error *err, bl_status st, bl_status want, const char *words) {
  if (st != want || err->status != want)
    fail_msg("status %s (%s), not %s: %s", bl_status_name(st), bl_status_name(err->status), bl_status_name(want),
             err->message);
  if (!strcasestr(err->message, words)) fail_msg("\"%s\" is not in: %s", words, err->message);
  *err = (bl_error)BL_ERROR_INIT;
}

/* A printed document as a string that lives in the arena. */
static inline const char *buf_text(bl_arena *a, bl_buf *b) {
  assert_int_equal(bl_buf_ok(b, NULL), BL_OK);
  bl_str s = bl_arena_str(a, (bl_str){(const char *)b->p, b->n});
  assert_non_null(s.p);
  return s.p;
}

#endif
