/* idset.h: a small set of row ids, sorted, for reading the history of given rows. */
#ifndef BL_CHANGES_IDSET_H
#define BL_CHANGES_IDSET_H

#include "base/alloc.h"

typedef struct bl_idset {
  bl_ctx *ctx;
  int64_t *ids; /* ascending, each once */
  size_t n;
  uint64_t *filter; /* a bit for each id, by its lowest bits: says no fast */
  uint64_t mask;    /* of those */
} bl_idset;

/* Copies, sorts, drops repetitions. */
bl_status bl_idset_init(bl_idset *s, bl_ctx *ctx, const int64_t *ids, size_t n, bl_error *err) BL_CHECKED;
void bl_idset_dispose(bl_idset *s);
static inline size_t bl_idset_count(const bl_idset *s) {
  return s->n;
}
static inline int64_t bl_idset_at(const bl_idset *s, size_t i) {
  return s->ids[i];
}
/* Index of the first id >= x; n where there is none. */
size_t bl_idset_lower(const bl_idset *s, int64_t x);
static inline bool bl_idset_has(const bl_idset *s, int64_t x) {
  uint64_t bit = (uint64_t)x & s->mask;
  if (!s->filter || !(s->filter[bit / 64] >> (bit % 64) & 1)) return false;
  size_t i = bl_idset_lower(s, x);
  return i < s->n && s->ids[i] == x;
}

#endif
