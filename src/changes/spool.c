/* spool.c: bl_spool of events.h. */
#include "changes/events.h"

#include <unistd.h>

#include "base/temp.h"

/* Records 0 … n_file are in the file, the rest in memory: in blocks, which stay where they are as more come. */
struct bl_spool {
  bl_ctx *ctx;
  size_t record;
  size_t max; /* records in memory */
  uint8_t **blocks;
  size_t n_blocks, cap_blocks;
  unsigned shift;    /* a block holds 1 << shift records, the first one fewer at first */
  size_t n_mem, cap; /* records in memory, and those that blocks have room for */
  int fd;
  int64_t n_file;
  uint8_t *page; /* of the file, for bl_spool_view */
};

enum { BLOCK_BYTES = 1 << 18, PAGE_RECORDS = 128 };

bl_status bl_spool_new(bl_ctx *ctx, size_t record, int64_t budget, bl_spool **out, bl_error *err) {
  bl_spool *s = bl_calloc(ctx, 1, sizeof *s);
  *out = s;
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  s->record = record;
  s->max = budget > (int64_t)(16 * record) ? (size_t)budget / record : 16;
  size_t most = s->max < BLOCK_BYTES / record ? s->max : BLOCK_BYTES / record;
  while ((size_t)2 << s->shift <= most) s->shift++;
  s->fd = -1;
  return BL_OK;
}

void bl_spool_free(bl_spool *s) {
  if (!s) return;
  if (s->fd >= 0) close(s->fd);
  for (size_t i = 0; i < s->n_blocks; i++) bl_free(s->ctx, s->blocks[i]);
  bl_free(s->ctx, s->blocks);
  bl_free(s->ctx, s->page);
  bl_free(s->ctx, s);
}

int64_t bl_spool_count(const bl_spool *s) {
  return s->n_file + (int64_t)s->n_mem;
}

static size_t block_size(const bl_spool *s) {
  return (size_t)1 << s->shift;
}

/* Where record i of those in memory is or goes. */
static uint8_t *place(const bl_spool *s, size_t i) {
  return s->blocks[i >> s->shift] + (i & (block_size(s) - 1)) * s->record;
}

/* Of those in memory from i on, n at most: how many lie behind each other. */
static size_t together(const bl_spool *s, size_t i, size_t n) {
  size_t left = block_size(s) - (i & (block_size(s) - 1));
  if (n > s->n_mem - i) n = s->n_mem - i;
  return n < left ? n : left;
}

static bl_status grow_first(bl_spool *s, bl_error *err) {
  size_t cap = s->cap < 16 ? 16 : s->cap * 2;
  if (cap > block_size(s)) cap = block_size(s);
  uint8_t *p = bl_resize(s->ctx, s->blocks[0], cap, s->record);
  if (!p) return bl_nomem(err);
  s->blocks[0] = p;
  s->cap = cap;
  return BL_OK;
}

/* Never beyond max: the budget is kept. */
static bl_status grow(bl_spool *s, bl_error *err) {
  if (s->n_blocks == 1 && s->cap < block_size(s)) return grow_first(s, err);
  size_t n = s->max - s->cap < block_size(s) ? s->max - s->cap : block_size(s);
  BL_TRY(bl_grow(s->ctx, &s->blocks, &s->cap_blocks, s->n_blocks, sizeof *s->blocks, err));
  s->blocks[s->n_blocks] = NULL;
  if (s->n_blocks == 0) {
    s->n_blocks = 1;
    return grow_first(s, err);
  }
  if (!(s->blocks[s->n_blocks] = bl_alloc(s->ctx, n, s->record))) return bl_nomem(err);
  s->n_blocks++;
  s->cap += n;
  return BL_OK;
}

static bl_status write_out(bl_spool *s, bl_error *err) {
  if (s->fd < 0) BL_TRY(bl_temp_open(s->ctx, &s->fd, err));
  for (size_t i = 0, n; i < s->n_mem; i += n) {
    n = together(s, i, s->n_mem);
    BL_TRY(
        bl_temp_write(s->ctx, s->fd, (s->n_file + (int64_t)i) * (int64_t)s->record, place(s, i), n * s->record, err));
  }
  s->n_file += (int64_t)s->n_mem;
  s->n_mem = 0;
  return BL_OK;
}

bl_status bl_spool_add(bl_spool *s, const void *record, bl_error *err) {
  if (s->n_mem == s->max) BL_TRY(write_out(s, err));
  if (s->n_mem == s->cap) BL_TRY(grow(s, err));
  memcpy(place(s, s->n_mem++), record, s->record);
  return BL_OK;
}

static bl_status read_file(bl_spool *s, int64_t from, void *out, size_t max, size_t *n, bl_error *err) {
  size_t k = (int64_t)max < s->n_file - from ? max : (size_t)(s->n_file - from);
  BL_TRY(bl_temp_read(s->ctx, s->fd, from * (int64_t)s->record, out, k * s->record, err));
  *n = k;
  return BL_OK;
}

bl_status bl_spool_read(bl_spool *s, int64_t from, void *out, size_t max, size_t *n, bl_error *err) {
  *n = 0;
  if (from < s->n_file) return read_file(s, from, out, max, n, err);
  size_t at = (size_t)(from - s->n_file);
  if (at >= s->n_mem) return BL_OK;
  *n = together(s, at, max);
  memcpy(out, place(s, at), *n * s->record);
  return BL_OK;
}

bl_status bl_spool_view(bl_spool *s, int64_t from, const void **records, size_t *n, bl_error *err) {
  *n = 0;
  if (from < s->n_file) {
    if (!s->page && !(s->page = bl_alloc(s->ctx, PAGE_RECORDS, s->record))) return bl_nomem(err);
    *records = s->page;
    return read_file(s, from, s->page, PAGE_RECORDS, n, err);
  }
  size_t at = (size_t)(from - s->n_file);
  if (at >= s->n_mem) return BL_OK;
  *n = together(s, at, s->n_mem);
  *records = place(s, at);
  return BL_OK;
}

bool bl_spool_in_memory(const bl_spool *s) {
  return s->n_file == 0;
}
