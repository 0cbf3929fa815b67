/* memory_fixture.h: a context and files in memory, for tests that need no more. */
#ifndef BL_TESTS_SUPPORT_MEMORY_FIXTURE_H
#define BL_TESTS_SUPPORT_MEMORY_FIXTURE_H

#include "edge/io_memory.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_io *io;
  bl_error err;
} fixture;

static inline void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_io_memory_new(f->ctx, &f->io, &f->err), &f->err);
}

static inline void teardown(fixture *f) {
  f->io->free(f->io);
  test_ctx_free(f->ctx);
}

#endif
