/* idset.c: see idset.h. */
#include "changes/idset.h"

#include <stdlib.h>

enum { BITS_AN_ID = 64, LEAST_BITS = 1 << 12, MOST_BITS = 1 << 26 };

static size_t filter_bits(size_t n) {
  size_t bits = LEAST_BITS;
  while (bits < MOST_BITS && bits / BITS_AN_ID < n) bits *= 2;
  return bits;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

bl_status bl_idset_init(bl_idset *s, bl_ctx *ctx, const int64_t *ids, size_t n, bl_error *err) {
  *s = (bl_idset){.ctx = ctx, .mask = filter_bits(n) - 1};
  s->ids = bl_alloc(ctx, n + 1, sizeof *s->ids);
  s->filter = bl_calloc(ctx, (s->mask + 1) / 64, sizeof *s->filter);
  if (!s->ids || !s->filter) {
    bl_idset_dispose(s);
    return bl_nomem(err);
  }
  if (n) memcpy(s->ids, ids, n * sizeof *ids);
  bl_sort(s->ids, n, sizeof *s->ids, by_value);
  for (size_t i = 0; i < n; i++)
    if (s->n == 0 || s->ids[s->n - 1] != s->ids[i]) s->ids[s->n++] = s->ids[i];
  for (size_t i = 0; i < s->n; i++) {
    uint64_t bit = (uint64_t)s->ids[i] & s->mask;
    s->filter[bit / 64] |= 1ull << (bit % 64);
  }
  return BL_OK;
}

void bl_idset_dispose(bl_idset *s) {
  if (s->ctx) {
    bl_free(s->ctx, s->ids);
    bl_free(s->ctx, s->filter);
  }
  *s = (bl_idset){0};
}

size_t bl_idset_lower(const bl_idset *s, int64_t x) {
  size_t lo = 0, hi = s->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->ids[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
