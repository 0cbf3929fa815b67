/* key.h: values of columns as bytes that are equal exactly where the values are (docs/changelog.md C4): null equals
 * null, all NaN are one, -0.0 differs from 0.0, nested values by their parts in order. Used for equality deletes, rows
 * without ids, and --key. */
#ifndef BL_ROWS_KEY_H
#define BL_ROWS_KEY_H

#include "base/buf.h"
#include "rows/arrow_view.h"

/* Append row i of v. */
void bl_key_add(bl_buf *b, const bl_view *v, int64_t i);
/* Are rows i of a and j of b (views of one type) equal in this sense? */
bool bl_key_same(const bl_view *a, int64_t i, const bl_view *b, int64_t j);

typedef struct bl_hash128 {
  uint64_t lo, hi;
} bl_hash128;
bl_hash128 bl_key_hash(const void *p, size_t n, uint64_t seed);
static inline bool bl_hash128_eq(bl_hash128 a, bl_hash128 b) {
  return a.lo == b.lo && a.hi == b.hi;
}
static inline int bl_hash128_cmp(bl_hash128 a, bl_hash128 b) {
  return a.hi != b.hi ? (a.hi < b.hi ? -1 : 1) : a.lo != b.lo ? (a.lo < b.lo ? -1 : 1) : 0;
}

#endif
