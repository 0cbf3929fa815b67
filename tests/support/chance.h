/* chance.h: repeatable random numbers (splitmix64): a seed gives the same ones everywhere. */
#ifndef BL_TESTS_SUPPORT_CHANCE_H
#define BL_TESTS_SUPPORT_CHANCE_H

#include <stdint.h>

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

#endif
