/* sorter.c: bl_sorter of events.h. Records fill a chunk; a full chunk is sorted and written as one sorted stretch of a
 * temporary file; reading merges the stretches through a heap. A chunk in which only ascending stretches were added is
 * merged, not sorted. */
#include "changes/events.h"

#include <unistd.h>

#include "base/pool.h"
#include "base/temp.h"

typedef struct stretch {
  int64_t at, end; /* records in the file */
  uint8_t *buf;    /* read ahead */
  size_t n, next;
} stretch;

struct bl_sorter {
  bl_ctx *ctx;
  size_t record, max;
  bl_record_cmp cmp;
  void *user;
  uint8_t *chunk, *scratch;
  size_t n, cap, cap_scratch;
  bool ascending; /* the chunk is sorted as it is */
  int fd;
  int64_t written, count;
  stretch *stretches;
  size_t n_stretches, cap_stretches;
  size_t *heap, n_heap;
  size_t next; /* of the chunk, where nothing was written */
  bool finished;
};

bl_status bl_sorter_new(bl_ctx *ctx, size_t record, int64_t budget, bl_record_cmp cmp, void *user, bl_sorter **out,
                        bl_error *err) {
  bl_sorter *s = bl_calloc(ctx, 1, sizeof *s);
  *out = s;
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  s->record = record;
  s->max =
      budget > (int64_t)(32 * record) ? (size_t)budget / record : 16; /* while a chunk is sorted it takes twice that */
  s->cmp = cmp;
  s->user = user;
  s->ascending = true;
  s->fd = -1;
  return BL_OK;
}

static void drop_readers(bl_sorter *s) {
  for (size_t i = 0; i < s->n_stretches; i++) {
    bl_free(s->ctx, s->stretches[i].buf);
    s->stretches[i].buf = NULL;
  }
  bl_free(s->ctx, s->heap);
  s->heap = NULL;
  s->n_heap = 0;
}

void bl_sorter_free(bl_sorter *s) {
  if (!s) return;
  drop_readers(s);
  if (s->fd >= 0) close(s->fd);
  bl_free(s->ctx, s->stretches);
  bl_free(s->ctx, s->chunk);
  bl_free(s->ctx, s->scratch);
  bl_free(s->ctx, s);
}

int64_t bl_sorter_count(const bl_sorter *s) {
  return s->count;
}

/* ---- natural merge sort, stable ---- */

static uint8_t *rec(const bl_sorter *s, uint8_t *base, size_t i) {
  return base + i * s->record;
}

static size_t ascending_end(const bl_sorter *s, uint8_t *p, size_t from, size_t n) {
  size_t i = from + 1;
  while (i < n && s->cmp(rec(s, p, i - 1), rec(s, p, i), s->user) <= 0) i++;
  return i;
}

static void merge_two(const bl_sorter *s, uint8_t *from, uint8_t *to, size_t a, size_t mid, size_t end) {
  size_t i = a, j = mid, k = a;
  while (i < mid && j < end) {
    size_t *take = s->cmp(rec(s, from, i), rec(s, from, j), s->user) <= 0 ? &i : &j;
    memcpy(rec(s, to, k++), rec(s, from, (*take)++), s->record);
  }
  if (i < mid) memcpy(rec(s, to, k), rec(s, from, i), (mid - i) * s->record);
  if (j < end) memcpy(rec(s, to, k + (mid - i)), rec(s, from, j), (end - j) * s->record);
}

/* Insertion sort of short stretches, so that the passes begin with runs of at least 16. */
static void presort(const bl_sorter *s, uint8_t *p, size_t n) {
  enum { SHORT = 16, BIGGEST = 256 };
  uint8_t hold[BIGGEST];
  if (s->record > BIGGEST) return;
  for (size_t a = 0; a < n;) {
    size_t end = ascending_end(s, p, a, n);
    if (end - a < SHORT) {
      size_t stop = a + SHORT < n ? a + SHORT : n;
      for (size_t i = end; i < stop; i++) {
        size_t j = i;
        memcpy(hold, rec(s, p, i), s->record);
        for (; j > a && s->cmp(rec(s, p, j - 1), hold, s->user) > 0; j--)
          memcpy(rec(s, p, j), rec(s, p, j - 1), s->record);
        memcpy(rec(s, p, j), hold, s->record);
      }
      end = stop;
    }
    a = end;
  }
}

/* Sorts n records at p with room for as many at q; they end at one of the two: which is returned. */
static uint8_t *sort_records(const bl_sorter *s, uint8_t *p, uint8_t *q, size_t n) {
  for (size_t merged = 0; merged < n;) { /* until one merge gave everything */
    for (size_t a = 0, end; a < n; merged = end - a, a = end) {
      size_t mid = ascending_end(s, p, a, n);
      end = mid < n ? ascending_end(s, p, mid, n) : mid;
      merge_two(s, p, q, a, mid, end);
    }
    uint8_t *t = p;
    p = q;
    q = t;
  }
  return p;
}

/* Part i of n_parts of a chunk, sorted in its place. */
typedef struct parts {
  const bl_sorter *s;
  size_t n;
} parts;

static bl_status sort_part(void *user, size_t i, bl_error *err) {
  const parts *x = user;
  const bl_sorter *s = x->s;
  size_t begin = s->n * i / x->n, n = s->n * (i + 1) / x->n - begin;
  uint8_t *p = rec(s, s->chunk, begin);
  (void)err;
  presort(s, p, n);
  uint8_t *sorted = sort_records(s, p, rec(s, s->scratch, begin), n);
  if (sorted != p) memcpy(p, sorted, n * s->record);
  return BL_OK;
}

enum { SHARED_RECORDS = 1 << 15 }; /* fewer are not worth a thread */

/* With `shared` on the ctx's threads: each sorts a part, and the parts are merged as what is ascending already. */
static bl_status sort_chunk(bl_sorter *s, bool shared, bl_error *err) {
  if (s->ascending || s->n < 2) return BL_OK;
  if (s->cap_scratch < s->cap) { /* as large as the chunk: they change places */
    bl_free(s->ctx, s->scratch);
    s->cap_scratch = 0;
    s->scratch = bl_alloc(s->ctx, s->cap, s->record);
    if (!s->scratch) return bl_nomem(err);
    s->cap_scratch = s->cap;
  }
  size_t most = s->n / SHARED_RECORDS + 1, threads = s->ctx->o.threads > 1 ? (size_t)s->ctx->o.threads : 1;
  parts x = {.s = s, .n = !shared ? 1 : most < threads ? most : threads};
  if (x.n > 1) BL_TRY(bl_parallel(s->ctx, x.n, sort_part, &x, err));
  else presort(s, s->chunk, s->n);
  uint8_t *sorted = sort_records(s, s->chunk, s->scratch, s->n);
  if (sorted != s->chunk) {
    s->scratch = s->chunk;
    s->chunk = sorted;
  }
  s->ascending = true;
  return BL_OK;
}

static bl_status write_chunk(bl_sorter *s, bl_error *err) {
  if (s->n == 0) return BL_OK;
  BL_TRY(sort_chunk(s, false, err));
  if (s->fd < 0) BL_TRY(bl_temp_open(s->ctx, &s->fd, err));
  BL_TRY(bl_grow(s->ctx, &s->stretches, &s->cap_stretches, s->n_stretches, sizeof *s->stretches, err));
  BL_TRY(bl_temp_write(s->ctx, s->fd, s->written * (int64_t)s->record, s->chunk, s->n * s->record, err));
  s->stretches[s->n_stretches++] = (stretch){.at = s->written, .end = s->written + (int64_t)s->n};
  s->written += (int64_t)s->n;
  s->n = 0;
  s->ascending = true;
  return BL_OK;
}

/* Never beyond max: the budget is kept. */
static bl_status make_room(bl_sorter *s, size_t cap, bl_error *err) {
  if (cap > s->max) cap = s->max;
  if (cap <= s->cap) return BL_OK;
  uint8_t *p = bl_resize(s->ctx, s->chunk, cap, s->record);
  if (!p) return bl_nomem(err);
  s->chunk = p;
  s->cap = cap;
  return BL_OK;
}

bl_status bl_sorter_reserve(bl_sorter *s, int64_t n, bl_error *err) {
  return make_room(s, n > (int64_t)s->max ? s->max : (size_t)n, err);
}

bl_status bl_sorter_add(bl_sorter *s, const void *record, bl_error *err) {
  if (s->n == s->max) BL_TRY(write_chunk(s, err));
  if (s->n == s->cap) BL_TRY(make_room(s, s->cap < 16 ? 16 : s->cap + s->cap / 2, err));
  memcpy(rec(s, s->chunk, s->n), record, s->record);
  if (s->ascending && s->n > 0 && s->cmp(rec(s, s->chunk, s->n - 1), record, s->user) > 0) s->ascending = false;
  s->n++;
  s->count++;
  return BL_OK;
}

/* ---- merging the stretches ---- */

static bl_status refill(bl_sorter *s, stretch *t, bl_error *err) {
  size_t room = s->max / (s->n_stretches + 1) + 1;
  if (room > 8192) room = 8192;
  if (!t->buf && !(t->buf = bl_alloc(s->ctx, room, s->record))) return bl_nomem(err);
  int64_t left = t->end - t->at;
  t->n = left < (int64_t)room ? (size_t)left : room;
  t->next = 0;
  if (t->n == 0) return BL_OK;
  BL_TRY(bl_temp_read(s->ctx, s->fd, t->at * (int64_t)s->record, t->buf, t->n * s->record, err));
  t->at += (int64_t)t->n;
  return BL_OK;
}

/* Is the head of stretch a before that of b? Equal ones in the order of the stretches: stable. */
static bool before(const bl_sorter *s, size_t a, size_t b) {
  const stretch *x = &s->stretches[a], *y = &s->stretches[b];
  int c = s->cmp(rec(s, x->buf, x->next), rec(s, y->buf, y->next), s->user);
  return c ? c < 0 : a < b;
}

static void sift_down(bl_sorter *s, size_t i) {
  for (;;) {
    size_t least = i, l = 2 * i + 1, r = l + 1;
    if (l < s->n_heap && before(s, s->heap[l], s->heap[least])) least = l;
    if (r < s->n_heap && before(s, s->heap[r], s->heap[least])) least = r;
    if (least == i) return;
    size_t t = s->heap[i];
    s->heap[i] = s->heap[least];
    s->heap[least] = t;
    i = least;
  }
}

bl_status bl_sorter_rewind(bl_sorter *s, bl_error *err) {
  s->next = 0;
  if (s->n_stretches == 0) return BL_OK;
  drop_readers(s);
  int64_t begin = 0;
  s->heap = bl_calloc(s->ctx, s->n_stretches, sizeof *s->heap);
  if (!s->heap) return bl_nomem(err);
  for (size_t i = 0; i < s->n_stretches; i++) {
    stretch *t = &s->stretches[i];
    t->at = begin;
    begin = t->end;
    BL_TRY(refill(s, t, err));
    s->heap[s->n_heap++] = i;
  }
  for (size_t i = s->n_heap; i-- > 0;) sift_down(s, i);
  return BL_OK;
}

bl_status bl_sorter_finish(bl_sorter *s, bl_error *err) {
  s->finished = true;
  if (s->n_stretches == 0) {
    bl_status st = sort_chunk(s, true, err);
    bl_free(s->ctx, s->scratch);
    s->scratch = NULL;
    s->cap_scratch = 0;
    return st;
  }
  BL_TRY(write_chunk(s, err));
  bl_free(s->ctx, s->chunk);
  bl_free(s->ctx, s->scratch);
  s->chunk = s->scratch = NULL;
  s->cap = s->cap_scratch = 0;
  return bl_sorter_rewind(s, err);
}

/* The heap's first record was given out last time: only now may its buffer move on. */
bl_status bl_sorter_next(bl_sorter *s, const void **record, bl_error *err) {
  *record = NULL;
  if (s->n_stretches == 0) {
    if (s->next < s->n) *record = rec(s, s->chunk, s->next++);
    return BL_OK;
  }
  if (s->next && s->n_heap > 0) {
    stretch *t = &s->stretches[s->heap[0]];
    if (++t->next == t->n) BL_TRY(refill(s, t, err));
    if (t->n == 0) s->heap[0] = s->heap[--s->n_heap];
    sift_down(s, 0);
  }
  if (s->n_heap == 0) return BL_OK;
  s->next = 1;
  stretch *t = &s->stretches[s->heap[0]];
  *record = rec(s, t->buf, t->next);
  return BL_OK;
}
