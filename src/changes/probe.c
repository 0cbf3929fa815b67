/* probe.c: see probe.h. */
#include "changes/probe.h"

#include <pthread.h>

enum { MAX_RUNS = 65536 };
#define NO_ID INT64_MIN

struct bl_probe {
  bl_ctx *ctx;
  bl_run *runs; /* by id, disjoint */
  size_t n, cap;
  uint64_t *met;     /* a bit a removed row, in the order of the runs */
  int64_t *bit_from; /* of each run: its first bit */
  pthread_mutex_t lock;
  bl_spool *events;
  bl_sorter *fresh; /* inserted ids, stretches of them: is one there twice? */
  bool failed;
};

typedef struct ids {
  int64_t first, n;
} ids;

static int by_first(const void *a, const void *b, void *user) {
  const ids *x = a, *y = b;
  (void)user;
  return (x->first > y->first) - (x->first < y->first);
}

static bl_status take_runs(bl_probe *p, bl_sorter *removed, bool *suits, bl_error *err) {
  *suits = false;
  for (;;) {
    const void *next;
    BL_TRY(bl_sorter_next(removed, &next, err));
    if (!next) break;
    const bl_run *r = next;
    if (p->n == MAX_RUNS) return BL_OK;
    if (p->n > 0 && r->id - p->runs[p->n - 1].id < p->runs[p->n - 1].len) return BL_OK; /* there twice */
    BL_TRY(bl_grow(p->ctx, &p->runs, &p->cap, p->n, sizeof *p->runs, err));
    p->runs[p->n++] = *r;
  }
  *suits = true;
  return BL_OK;
}

static bl_status make_bits(bl_probe *p, bool *suits, bl_error *err) {
  int64_t rows = 0;
  p->bit_from = bl_alloc(p->ctx, p->n + 1, sizeof *p->bit_from);
  if (!p->bit_from) return bl_nomem(err);
  for (size_t i = 0; i < p->n; i++) {
    p->bit_from[i] = rows;
    rows += p->runs[i].len;
  }
  *suits = rows / 8 < p->ctx->o.memory_budget / 4;
  if (!*suits) return BL_OK;
  p->met = bl_calloc(p->ctx, (size_t)rows / 64 + 1, sizeof *p->met);
  if (!p->met) return bl_nomem(err);
  BL_TRY(bl_sorter_new(p->ctx, sizeof(ids), p->ctx->o.memory_budget / 16, by_first, NULL, &p->fresh, err));
  return bl_spool_new(p->ctx, sizeof(bl_event), p->ctx->o.memory_budget / 8, &p->events, err);
}

bl_status bl_probe_new(bl_ctx *ctx, bl_sorter *removed, bl_probe **out, bl_error *err) {
  bool suits = false;
  *out = NULL;
  bl_probe *p = bl_calloc(ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  p->ctx = ctx;
  pthread_mutex_init(&p->lock, NULL);
  bl_status st = take_runs(p, removed, &suits, err);
  if (st == BL_OK && suits) st = make_bits(p, &suits, err);
  if (st == BL_OK && suits) *out = p;
  else bl_probe_free(p);
  return st;
}

void bl_probe_free(bl_probe *p) {
  if (!p) return;
  bl_spool_free(p->events);
  bl_sorter_free(p->fresh);
  bl_free(p->ctx, p->runs);
  bl_free(p->ctx, p->bit_from);
  bl_free(p->ctx, p->met);
  pthread_mutex_destroy(&p->lock);
  bl_free(p->ctx, p);
}

bool bl_probe_failed(const bl_probe *p) {
  return __atomic_load_n(&p->failed, __ATOMIC_RELAXED);
}

bl_spool *bl_probe_events(bl_probe *p) {
  return p->events;
}

/* Index of the last removed run that begins at or before id; SIZE_MAX where there is none. */
static size_t run_before(const bl_probe *p, int64_t id) {
  size_t lo = 0, hi = p->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (p->runs[mid].id <= id) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

/* Set n bits from `from`; false where one was set already. */
static bool meet(bl_probe *p, int64_t from, int64_t n) {
  bool fresh = true;
  for (int64_t i = from; i < from + n;) {
    int64_t in_word = 64 - (i & 63), k = from + n - i < in_word ? from + n - i : in_word;
    uint64_t mask = (k == 64 ? ~0ull : ((1ull << k) - 1)) << (i & 63);
    if (__atomic_fetch_or(&p->met[i >> 6], mask, __ATOMIC_RELAXED) & mask) fresh = false;
    i += k;
  }
  return fresh;
}

static bl_status put(bl_probe *p, const bl_event *e, bl_error *err) {
  ids fresh = {e->after_id, e->len};
  pthread_mutex_lock(&p->lock);
  bl_status st = bl_spool_add(p->events, e, err);
  if (st == BL_OK && e->type == BL_INSERT) st = bl_sorter_add(p->fresh, &fresh, err);
  pthread_mutex_unlock(&p->lock);
  return st;
}

/* The first rows of `added`, which lie wholly in one removed run or wholly between two: how many in *n. */
static bl_status probe_front(bl_probe *p, const bl_run *added, int64_t *n, bl_error *err) {
  size_t at = run_before(p, added->id);
  const bl_run *r = at != SIZE_MAX ? &p->runs[at] : NULL;
  bl_event e = {.before_id = NO_ID,
                .after_id = added->id,
                .before_seq = NO_ID,
                .after_seq = added->seq,
                .after_pos = added->pos,
                .before_file = BL_NO_FILE,
                .after_file = added->file,
                .type = BL_INSERT};
  int64_t gone = r ? added->id - r->id : 0;
  *n = added->len;
  if (!r || gone >= r->len) { /* between runs: inserted */
    size_t next = at + 1;
    if (next < p->n && p->runs[next].id - added->id < *n) *n = p->runs[next].id - added->id;
    e.len = (uint32_t)*n;
    return put(p, &e, err);
  }
  if (r->len - gone < *n) *n = r->len - gone;
  if (!meet(p, p->bit_from[at] + gone, *n)) __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
  if (r->seq == added->seq) return BL_OK; /* only moved */
  e.type = BL_UPDATE;
  e.len = (uint32_t)*n;
  e.before_id = added->id;
  e.before_seq = r->seq;
  e.before_pos = r->pos + gone;
  e.before_file = r->file;
  return put(p, &e, err);
}

bl_status bl_probe_added(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) {
  for (size_t i = 0; i < n; i++) {
    bl_run r = runs[i];
    if (r.id == NO_ID) {
      __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
      continue;
    }
    while (r.len > 0) {
      int64_t k;
      BL_TRY(probe_front(p, &r, &k, err));
      r.id += k;
      r.pos += k;
      r.len -= (uint32_t)k;
    }
  }
  return BL_OK;
}

static bool is_met(const bl_probe *p, int64_t bit) {
  return (p->met[bit >> 6] >> (bit & 63)) & 1;
}

static bl_status put_deletes(bl_probe *p, size_t at, bl_error *err) {
  const bl_run *r = &p->runs[at];
  for (int64_t i = 0; i < r->len;) {
    if (is_met(p, p->bit_from[at] + i)) {
      i++;
      continue;
    }
    int64_t begin = i;
    while (i < r->len && !is_met(p, p->bit_from[at] + i)) i++;
    bl_event e = {.before_id = r->id + begin,
                  .after_id = NO_ID,
                  .before_seq = r->seq,
                  .after_seq = NO_ID,
                  .before_pos = r->pos + begin,
                  .before_file = r->file,
                  .after_file = BL_NO_FILE,
                  .len = (uint32_t)(i - begin),
                  .type = BL_DELETE};
    BL_TRY(put(p, &e, err));
  }
  return BL_OK;
}

static bl_status find_twice_inserted(bl_probe *p, bl_error *err) {
  ids last = {NO_ID, 0};
  BL_TRY(bl_sorter_finish(p->fresh, err));
  for (;;) {
    const void *next;
    BL_TRY(bl_sorter_next(p->fresh, &next, err));
    if (!next) return BL_OK;
    const ids *x = next;
    if (last.n && x->first - last.first < last.n) p->failed = true;
    last = *x;
  }
}

bl_status bl_probe_finish(bl_probe *p, bl_error *err) {
  BL_TRY(find_twice_inserted(p, err));
  for (size_t i = 0; i < p->n; i++) BL_TRY(put_deletes(p, i, err));
  return BL_OK;
}
