/* arena_fixture.h: what the tests of JSON and metadata share: a context whose allocations are counted and can fail, an
 * arena in it, and errors as assertions. */
#ifndef BL_TESTS_UNIT_ARENA_FIXTURE_H
#define BL_TESTS_UNIT_ARENA_FIXTURE_H

#include "support.h"

/* Allocations are counted; the fail_at-th (from 1; 0 = none) fails, and all after it where `from_there_on`. */
typedef struct allocations {
  size_t calls, fail_at;
  bool from_there_on;
  long live;
} allocations;

static inline void *counted_resize(void *user, void *p, size_t old_size, size_t n) {
  allocations *c = user;
  (void)old_size;
  if (n == 0) {
    c->live -= p != NULL;
    free(p);
    return NULL;
  }
  c->calls++;
  if (c->fail_at && (c->calls == c->fail_at || (c->from_there_on && c->calls > c->fail_at))) return NULL;
  void *q = realloc(p, n);
  c->live += q && !p;
  return q;
}

static inline bl_ctx *new_counted_ctx(allocations *c) {
  bl_ctx_options o;
  bl_ctx *ctx = NULL;
  bl_ctx_options_init(&o);
  o.allocator = (bl_allocator){counted_resize, c};
  o.threads = 1;
  assert_int_equal(bl_ctx_new(&o, &ctx, NULL), BL_OK);
  return ctx;
}

/* A fresh context and arena for one test, and proof at the end that nothing of them is left. */
typedef struct fixture {
  allocations c;
  bl_ctx *ctx;
  bl_arena *a;
  bl_error err;
} fixture;

static inline void fixture_open(fixture *f) {
  *f = (fixture){.err = BL_ERROR_INIT};
  f->ctx = new_counted_ctx(&f->c);
  assert_int_equal(bl_arena_new(f->ctx, &f->a, NULL), BL_OK);
}

static inline void fixture_close(fixture *f) {
  bl_arena_free(f->a);
  bl_ctx_free(f->ctx);
  assert_int_equal(f->c.live, 0);
}

static inline void assert_ok(bl_status st, const bl_error *err) {
  if (st != BL_OK) fail_msg("status %s: %s", bl_status_name(st), err->message);
}

/* A fresh error of this status that holds the words. */
static inline void assert_refused(bl_error *err, bl_status st, bl_status want, const char *words) {
  if (st != want || err->status != want)
    fail_msg("status %s (%s), not %s: %s", bl_status_name(st), bl_status_name(err->status), bl_status_name(want),
             err->message);
  support_says(err->message, words);
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
