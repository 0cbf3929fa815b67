/* random.h: repeatable random numbers for the tests of runs, and contexts with a small budget. */
#ifndef BL_TESTS_CHANGES_RANDOM_H
#define BL_TESTS_CHANGES_RANDOM_H

#include "changes/events.h"
#include "support/support.h"

typedef struct rng {
  uint64_t s;
} rng;

static inline uint64_t rng_next(rng *r) {
  uint64_t z = (r->s += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* lo … hi, both included */
static inline int64_t rng_between(rng *r, int64_t lo, int64_t hi) {
  return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}

/* A context whose temporary folder is not there. */
static inline bl_ctx *ctx_without_temp(test_heap *h) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.temp_dir = "/nonexistent/folder/of/bergline";
  return test_ctx_on(h, &o);
}

#endif
