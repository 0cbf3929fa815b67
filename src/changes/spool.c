/* spool.c: bl_spool of events.h. */
#include "changes/events.h"

#include <unistd.h>

#include "base/temp.h"

/* Records 0 … n_file are in the file, the rest in memory. */
struct bl_spool {
  bl_ctx *ctx;
  size_t record;
  size_t max; /* records in memory */
  uint8_t *mem;
  size_t n_mem, cap_mem;
  int fd;
  int64_t n_file;
};

bl_status bl_spool_new(bl_ctx *ctx, size_t record, int64_t budget, bl_spool **out, bl_error *err) {
  bl_spool *s = bl_calloc(ctx, 1, sizeof *s);
  *out = s;
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  s->record = record;
  s->max = budget > (int64_t)(16 * record) ? (size_t)budget / record : 16;
  s->fd = -1;
  return BL_OK;
}

void bl_spool_free(bl_spool *s) {
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  bl_free(s->ctx, s->mem);
  bl_free(s->ctx, s);
}

int64_t bl_spool_count(const bl_spool *s) {
  return s->n_file + (int64_t)s->n_mem;
}

/* Never beyond max: the budget is kept. */
static bl_status grow(bl_spool *s, bl_error *err) {
  size_t cap = s->cap_mem < 16 ? 16 : s->cap_mem + s->cap_mem / 2;
  if (cap > s->max) cap = s->max;
  uint8_t *p = bl_resize(s->ctx, s->mem, cap, s->record);
  if (!p) return bl_nomem(err);
  s->mem = p;
  s->cap_mem = cap;
  return BL_OK;
}

bl_status bl_spool_add(bl_spool *s, const void *record, bl_error *err) {
  if (s->n_mem == s->max) {
    if (s->fd < 0) BL_TRY(bl_temp_open(s->ctx, &s->fd, err));
    BL_TRY(bl_temp_write(s->ctx, s->fd, s->n_file * (int64_t)s->record, s->mem, s->n_mem * s->record, err));
    s->n_file += (int64_t)s->n_mem;
    s->n_mem = 0;
  }
  if (s->n_mem == s->cap_mem) BL_TRY(grow(s, err));
  memcpy(s->mem + s->n_mem++ * s->record, record, s->record);
  return BL_OK;
}

bl_status bl_spool_read(bl_spool *s, int64_t from, void *out, size_t max, size_t *n, bl_error *err) {
  *n = 0;
  if (from < s->n_file) {
    size_t k = (int64_t)max < s->n_file - from ? max : (size_t)(s->n_file - from);
    BL_TRY(bl_temp_read(s->ctx, s->fd, from * (int64_t)s->record, out, k * s->record, err));
    *n = k;
    return BL_OK;
  }
  size_t at = (size_t)(from - s->n_file);
  if (at >= s->n_mem) return BL_OK;
  *n = s->n_mem - at < max ? s->n_mem - at : max;
  memcpy(out, s->mem + at * s->record, *n * s->record);
  return BL_OK;
}
