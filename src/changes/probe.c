/* probe.c: see probe.h.
 *
 * 1. Few runs: sorted by id, with a bit a row that says whether it was met. More of them than are found quickly go to
 *    an id table, as long as the removed rows fit in it.
 * 2. Who finds that the probe does not suit sets `failed`; everybody else then passes over what comes. */
#include "changes/probe.h"

#include "changes/id_table.h"

#include <pthread.h>

enum { FEW_RUNS = 1024, MOST_RUNS = 65536, BYTES_OF_ROW = 6 };
#define NO_ID INT64_MIN

struct bl_probe {
  bl_ctx *ctx;
  const bl_files *files;
  size_t first;
  bl_run *runs; /* by id, disjoint, after the turn */
  size_t n, cap, most;
  bl_id_table *table; /* instead of runs */
  int64_t table_budget;
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

static void fail(bl_probe *p) {
  __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
}

bool bl_probe_failed(const bl_probe *p) {
  return __atomic_load_n(&p->failed, __ATOMIC_RELAXED);
}

bl_spool *bl_probe_events(bl_probe *p) {
  return p->events;
}

bl_status bl_probe_new(bl_ctx *ctx, const bl_files *files, size_t first, int64_t removed_rows, bl_probe **out,
                       bl_error *err) {
  *out = NULL;
  bl_probe *p = bl_calloc(ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  p->ctx = ctx;
  p->files = files;
  p->first = first;
  p->table_budget = ctx->o.memory_budget / 3 * 2;
  p->most = removed_rows <= p->table_budget / BYTES_OF_ROW ? FEW_RUNS : MOST_RUNS;
  pthread_mutex_init(&p->lock, NULL);
  bl_status st = bl_sorter_new(ctx, sizeof(ids), ctx->o.memory_budget / 16, by_first, NULL, &p->fresh, err);
  if (st == BL_OK) st = bl_spool_new(ctx, sizeof(bl_event), ctx->o.memory_budget / 8, &p->events, err);
  if (st == BL_OK) *out = p;
  else bl_probe_free(p);
  return st;
}

void bl_probe_free(bl_probe *p) {
  if (!p) return;
  bl_id_table_free(p->table);
  bl_spool_free(p->events);
  bl_sorter_free(p->fresh);
  bl_free(p->ctx, p->runs);
  bl_free(p->ctx, p->bit_from);
  bl_free(p->ctx, p->met);
  pthread_mutex_destroy(&p->lock);
  bl_free(p->ctx, p);
}

/* ---- the removed side ---- */

static bl_status add_to_table(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) {
  bool fits;
  BL_TRY(bl_id_table_add(p->table, runs, n, &fits, err));
  if (!fits) fail(p);
  return BL_OK;
}

/* Invariant 1, when there are too many runs. */
static bl_status change_over(bl_probe *p, bl_error *err) {
  if (p->most == FEW_RUNS) BL_TRY(bl_id_table_new(p->ctx, p->files, p->first, p->table_budget, &p->table, err));
  if (!p->table) {
    fail(p);
    return BL_OK;
  }
  BL_TRY(add_to_table(p, p->runs, p->n, err));
  p->n = 0;
  return BL_OK;
}

/* *kept: they stay among the runs. */
static bl_status keep_runs(bl_probe *p, const bl_run *runs, size_t n, bool *kept, bl_error *err) {
  *kept = !p->table && p->n + n <= p->most;
  if (p->table) return BL_OK;
  if (!*kept) return change_over(p, err);
  for (size_t i = 0; i < n; i++) {
    BL_TRY(bl_grow(p->ctx, &p->runs, &p->cap, p->n, sizeof *p->runs, err));
    p->runs[p->n++] = runs[i];
  }
  return BL_OK;
}

bl_status bl_probe_removed(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) {
  bool kept = false;
  for (size_t i = 0; i < n; i++)
    if (runs[i].id == NO_ID) fail(p);
  if (bl_probe_failed(p)) return BL_OK;
  pthread_mutex_lock(&p->lock);
  bl_status st = keep_runs(p, runs, n, &kept, err);
  pthread_mutex_unlock(&p->lock);
  return st == BL_OK && !kept && !bl_probe_failed(p) ? add_to_table(p, runs, n, err) : st;
}

/* Runs of the first rows of r; *rows: of how many. */
static size_t runs_of(const bl_id_rows *r, bl_run *runs, size_t most, int64_t *rows) {
  size_t n = 0;
  for (*rows = 0; n < most && *rows < r->n; *rows += runs[n++].len) runs[n] = bl_id_rows_run(r, *rows);
  return n;
}

static bl_id_rows rows_from(const bl_id_rows *r, int64_t at) {
  return (bl_id_rows){r->ids + at, r->seqs + at, r->n - at, r->pos + at, r->file};
}

static bl_id_table *table_of(bl_probe *p) {
  pthread_mutex_lock(&p->lock);
  bl_id_table *t = p->table;
  pthread_mutex_unlock(&p->lock);
  return t;
}

bl_status bl_probe_removed_rows(bl_probe *p, const bl_id_rows *r, bl_error *err) {
  bl_run runs[256];
  bool fits = true;
  int64_t at = 0, n;
  while (at < r->n && !table_of(p) && !bl_probe_failed(p)) {
    bl_id_rows rest = rows_from(r, at);
    BL_TRY(bl_probe_removed(p, runs, runs_of(&rest, runs, BL_LEN(runs), &n), err));
    at += n;
  }
  if (at == r->n || bl_probe_failed(p)) return BL_OK;
  bl_id_rows rest = rows_from(r, at);
  BL_TRY(bl_id_table_add_rows(p->table, &rest, &fits, err));
  if (!fits) fail(p);
  return BL_OK;
}

static int by_id(const void *a, const void *b) {
  const bl_run *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

bl_status bl_probe_turn(bl_probe *p, bl_error *err) {
  int64_t rows = 0;
  if (p->table || bl_probe_failed(p)) return BL_OK;
  bl_sort(p->runs, p->n, sizeof *p->runs, by_id);
  p->bit_from = bl_alloc(p->ctx, p->n + 1, sizeof *p->bit_from);
  if (!p->bit_from) return bl_nomem(err);
  for (size_t i = 0; i < p->n; i++) {
    if (i > 0 && p->runs[i].id - p->runs[i - 1].id < p->runs[i - 1].len) fail(p); /* there twice */
    p->bit_from[i] = rows;
    rows += p->runs[i].len;
  }
  if (rows / 8 >= p->table_budget) fail(p);
  if (bl_probe_failed(p)) return BL_OK;
  p->met = bl_calloc(p->ctx, (size_t)rows / 64 + 1, sizeof *p->met);
  return p->met ? BL_OK : bl_nomem(err);
}

/* ---- the added side ---- */

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
  bl_event e;
  int64_t gone = r ? added->id - r->id : 0;
  *n = added->len;
  if (!r || gone >= r->len) { /* between runs: inserted */
    size_t next = at + 1;
    if (next < p->n && p->runs[next].id - added->id < *n) *n = p->runs[next].id - added->id;
    e = bl_event_of(NULL, added, (uint32_t)*n);
    return put(p, &e, err);
  }
  if (r->len - gone < *n) *n = r->len - gone;
  if (!meet(p, p->bit_from[at] + gone, *n)) fail(p);
  if (r->seq == added->seq) return BL_OK; /* only moved */
  bl_run before = {added->id, r->seq, r->pos + gone, r->file, (uint32_t)*n};
  e = bl_event_of(&before, added, before.len);
  return put(p, &e, err);
}

static bl_status added_run(bl_probe *p, bl_run r, bl_error *err) {
  while (r.len > 0) {
    int64_t k;
    BL_TRY(probe_front(p, &r, &k, err));
    r.id += k;
    r.pos += k;
    r.len -= (uint32_t)k;
  }
  return BL_OK;
}

/* Events of neighbouring rows are put together again in *e; len 0: none is there. */
static bl_status add_next(bl_probe *p, bl_event *e, const bl_event *next, bl_error *err) {
  bool update = next->type == BL_UPDATE;
  if (e->len > 0 && e->len < UINT32_MAX && e->type == next->type && e->after_seq == next->after_seq &&
      e->before_seq == next->before_seq && e->before_file == next->before_file &&
      e->after_id + e->len == next->after_id && (!update || e->before_pos + e->len == next->before_pos)) {
    e->len++;
    return BL_OK;
  }
  if (e->len > 0) BL_TRY(put(p, e, err));
  *e = *next;
  return BL_OK;
}

static bl_status meet_in_table(bl_probe *p, const bl_run *row, bl_event *e, bl_error *err) {
  bl_run before;
  bl_meeting m = bl_id_table_meet(p->table, row->id, &before);
  if (m == BL_ID_MET_AGAIN) fail(p);
  if (m == BL_ID_MET_AGAIN || (m == BL_ID_MET && before.seq == row->seq)) return BL_OK;
  bl_event next = bl_event_of(m == BL_ID_MET ? &before : NULL, row, 1);
  return add_next(p, e, &next, err);
}

static bl_status added_to_table(bl_probe *p, const bl_run *r, bl_error *err) {
  bl_event e = {0};
  for (uint32_t i = 0; i < r->len; i++) {
    bl_run row = {r->id + i, r->seq, r->pos + i, r->file, 1};
    BL_TRY(meet_in_table(p, &row, &e, err));
  }
  return e.len > 0 ? put(p, &e, err) : BL_OK;
}

/* Bits to set, of one word. */
typedef struct bits {
  int64_t word;
  uint64_t mask; /* 0: none */
} bits;

static void set_bits(bl_probe *p, const bits *b) {
  if (b->mask && __atomic_fetch_or(&p->met[b->word], b->mask, __ATOMIC_RELAXED) & b->mask) fail(p); /* met again */
}

static void meet_row(bl_probe *p, bits *b, int64_t bit) {
  uint64_t mask = 1ull << (bit & 63);
  if (b->word != bit >> 6 || b->mask & mask) {
    set_bits(p, b);
    *b = (bits){.word = bit >> 6};
  }
  b->mask |= mask;
}

static bool holds(const bl_run *r, int64_t id) {
  return r && id >= r->id && id - r->id < r->len;
}

static bl_status added_rows_to_runs(bl_probe *p, const bl_id_rows *r, bl_error *err) {
  const bl_run *run = NULL; /* the one met last */
  bl_event e = {0};
  bits b = {0};
  for (int64_t i = 0; i < r->n; i++) {
    bl_run row = {r->ids[i], r->seqs[i], r->pos + i, r->file, 1}, before;
    if (!holds(run, row.id)) {
      size_t at = run_before(p, row.id);
      run = at != SIZE_MAX && holds(&p->runs[at], row.id) ? &p->runs[at] : NULL;
    }
    if (run) meet_row(p, &b, p->bit_from[run - p->runs] + (row.id - run->id));
    if (run && run->seq == row.seq) continue; /* only moved */
    if (run) before = (bl_run){row.id, run->seq, run->pos + (row.id - run->id), run->file, 1};
    bl_event next = bl_event_of(run ? &before : NULL, &row, 1);
    BL_TRY(add_next(p, &e, &next, err));
  }
  set_bits(p, &b);
  return e.len > 0 ? put(p, &e, err) : BL_OK;
}

static bl_status added_rows_to_table(bl_probe *p, const bl_id_rows *r, bl_error *err) {
  bl_event e = {0};
  for (int64_t i = 0; i < r->n; i++) {
    i += bl_id_table_pass(p->table, r, i);
    if (i == r->n) break;
    bl_run row = {r->ids[i], r->seqs[i], r->pos + i, r->file, 1};
    BL_TRY(meet_in_table(p, &row, &e, err));
  }
  return e.len > 0 ? put(p, &e, err) : BL_OK;
}

bl_status bl_probe_added_rows(bl_probe *p, const bl_id_rows *r, bl_error *err) {
  if (bl_probe_failed(p)) return BL_OK;
  return p->table ? added_rows_to_table(p, r, err) : added_rows_to_runs(p, r, err);
}

bl_status bl_probe_added(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) {
  for (size_t i = 0; i < n; i++) {
    if (runs[i].id == NO_ID) fail(p);
    if (bl_probe_failed(p)) return BL_OK;
    BL_TRY(p->table ? added_to_table(p, &runs[i], err) : added_run(p, runs[i], err));
  }
  return BL_OK;
}

/* ---- what was not met ---- */

/* The first bit from `bit` on, before `end`, that is set (or clear); end where there is none. */
static int64_t next_bit(const bl_probe *p, int64_t bit, int64_t end, bool set) {
  while (bit < end) {
    uint64_t word = (set ? p->met[bit >> 6] : ~p->met[bit >> 6]) >> (bit & 63);
    if (word) return bit + __builtin_ctzll(word) < end ? bit + __builtin_ctzll(word) : end;
    bit = (bit | 63) + 1;
  }
  return end;
}

static bl_status put_delete(void *user, const bl_run *r, bl_error *err) {
  bl_event e = bl_event_of(r, NULL, r->len);
  return put(user, &e, err);
}

static bl_status put_deletes(bl_probe *p, size_t at, bl_error *err) {
  const bl_run *r = &p->runs[at];
  int64_t first = p->bit_from[at], end = first + r->len, stop;
  for (int64_t bit = next_bit(p, first, end, false); bit < end; bit = next_bit(p, stop, end, false)) {
    stop = next_bit(p, bit, end, true);
    bl_run left = {r->id + (bit - first), r->seq, r->pos + (bit - first), r->file, (uint32_t)(stop - bit)};
    BL_TRY(put_delete(p, &left, err));
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
  if (p->failed) return BL_OK;
  if (p->table) {
    bool fits = true;
    bl_status st = bl_id_table_rest(p->table, put_delete, p, &fits, err);
    if (!fits) fail(p);
    return st;
  }
  for (size_t i = 0; i < p->n; i++) BL_TRY(put_deletes(p, i, err));
  return BL_OK;
}
