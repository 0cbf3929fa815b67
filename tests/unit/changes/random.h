/* random.h: repeatable random numbers for the tests of runs, and contexts with a small budget. */
#ifndef BL_TESTS_CHANGES_RANDOM_H
#define BL_TESTS_CHANGES_RANDOM_H

#include "changes/events.h"
#include "support/chance.h"
#include "support/support.h"

/* A context whose temporary folder is not there. */
static inline bl_ctx *ctx_without_temp(test_heap *h) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.temp_dir = "/nonexistent/folder/of/bergline";
  return test_ctx_on(h, &o);
}

#endif
