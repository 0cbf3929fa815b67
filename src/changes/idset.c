/* idset.c: see idset.h. */
#include "changes/idset.h"

#include <stdlib.h>

enum { FILTER_BITS = 1 << 20 };

static size_t filter_bit(int64_t id) {
  return (size_t)((uint64_t)id & (FILTER_BITS - 1));
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

bl_status bl_idset_init(bl_idset *s, bl_ctx *ctx, const int64_t *ids, size_t n, bl_error *err) {
  *s = (bl_idset){.ctx = ctx};
  s->ids = bl_alloc(ctx, n + 1, sizeof *s->ids);
  s->filter = bl_calloc(ctx, FILTER_BITS / 64, sizeof *s->filter);
  if (!s->ids || !s->filter) {
    bl_idset_dispose(s);
    return bl_nomem(err);
  }
  if (n) memcpy(s->ids, ids, n * sizeof *ids);
  bl_sort(s->ids, n, sizeof *s->ids, by_value);
  for (size_t i = 0; i < n; i++)
    if (s->n == 0 || s->ids[s->n - 1] != s->ids[i]) s->ids[s->n++] = s->ids[i];
  for (size_t i = 0; i < s->n; i++) s->filter[filter_bit(s->ids[i]) / 64] |= 1ull << (filter_bit(s->ids[i]) % 64);
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

bool bl_idset_has(const bl_idset *s, int64_t x) {
  if (!s->filter || !(s->filter[filter_bit(x) / 64] >> (filter_bit(x) % 64) & 1)) return false;
  size_t i = bl_idset_lower(s, x);
  return i < s->n && s->ids[i] == x;
}
