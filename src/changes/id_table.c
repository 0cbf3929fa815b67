/* id_table.c: see id_table.h.
 *
 * 1. A slot's mark is 0 while no removed row has its id, then the number of the row's sequence number, then MET.
 * 2. A row's place is one number: where its version's rows begin, all versions counted through, plus its position.
 * 3. Pages are found by hashing; a page once made stays, so that finding needs no lock.
 * 4. Rows are counted as they are added and met. Two threads that add or meet one id at the same time may not notice;
 *    but then fewer marks are set in the end than rows were counted. */
#include "changes/id_table.h"

#include <pthread.h>

enum {
  PAGE_BITS = 16,
  PAGE_IDS = 1 << PAGE_BITS,
  MET = UINT16_MAX,
  MOST_NUMBERS = MET - 1,
  MARKS_A_WORD = sizeof(uint64_t) / sizeof(uint16_t)
};

typedef struct page {
  int64_t number; /* id >> PAGE_BITS */
  uint16_t mark[PAGE_IDS];
  uint32_t place[PAGE_IDS];
} page;

struct bl_id_table {
  bl_ctx *ctx;
  const bl_files *files;
  size_t first;   /* version of base[0] */
  uint32_t *base; /* of each version, and behind the last one */
  size_t n_base;
  page **slots; /* a power of two of them, at most half of them taken */
  size_t n_slots, n_pages, most_pages;
  int64_t *seqs; /* by mark; BL_NONE, which no row has, for 0 and MET */
  uint32_t n_seqs;
  int64_t n_added, n_met; /* rows */
  pthread_mutex_t lock;   /* of making pages and numbers */
};

/* Invariant 2; false: there are too many rows for it. */
static bool set_bases(bl_id_table *t) {
  int64_t rows = 0;
  for (size_t i = 0; i < t->n_base; i++) {
    t->base[i] = (uint32_t)rows;
    if (!bl_add64(rows, t->files->items[t->first + i].entry->file.record_count, &rows) || rows > UINT32_MAX)
      return false;
  }
  t->base[t->n_base] = (uint32_t)rows;
  return true;
}

bl_status bl_id_table_new(bl_ctx *ctx, const bl_files *files, size_t first, int64_t budget, bl_id_table **out,
                          bl_error *err) {
  *out = NULL;
  bl_id_table *t = bl_calloc(ctx, 1, sizeof *t);
  if (!t) return bl_nomem(err);
  t->ctx = ctx;
  t->files = files;
  t->first = first;
  t->n_base = files->n - first;
  t->most_pages = (size_t)(budget / (int64_t)sizeof(page));
  for (t->n_slots = 2; t->n_slots < t->most_pages * 2;) t->n_slots *= 2;
  pthread_mutex_init(&t->lock, NULL);
  t->base = bl_alloc(ctx, t->n_base + 1, sizeof *t->base);
  t->slots = bl_calloc(ctx, t->n_slots, sizeof *t->slots);
  t->seqs = bl_alloc(ctx, MET + 1, sizeof *t->seqs);
  bool room = t->base && t->slots && t->seqs;
  if (room) t->seqs[0] = t->seqs[MET] = BL_NONE;
  if (room && set_bases(t)) *out = t;
  else bl_id_table_free(t);
  return room ? BL_OK : bl_nomem(err);
}

void bl_id_table_free(bl_id_table *t) {
  if (!t) return;
  for (size_t i = 0; t->slots && i < t->n_slots; i++) bl_free(t->ctx, t->slots[i]);
  bl_free(t->ctx, t->slots);
  bl_free(t->ctx, t->base);
  bl_free(t->ctx, t->seqs);
  pthread_mutex_destroy(&t->lock);
  bl_free(t->ctx, t);
}

/* ---- pages ---- */

/* The slot of a page: its own, or the free one where it belongs. */
static page **slot_of(const bl_id_table *t, int64_t number, page **found) {
  size_t i = (size_t)((uint64_t)number * 0x9e3779b97f4a7c15u >> 32);
  for (;; i++) {
    page **slot = &t->slots[i & (t->n_slots - 1)];
    *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!*found || (*found)->number == number) return slot;
  }
}

static page *find_page(const bl_id_table *t, int64_t id) {
  page *p;
  slot_of(t, id >> PAGE_BITS, &p);
  return p;
}

/* NULL in *out: there is room for no more. */
static bl_status need_page(bl_id_table *t, int64_t id, page **out, bl_error *err) {
  *out = find_page(t, id);
  if (*out) return BL_OK;
  bl_status st = BL_OK;
  pthread_mutex_lock(&t->lock);
  page **slot = slot_of(t, id >> PAGE_BITS, out);
  if (!*out && t->n_pages < t->most_pages) {
    page *p = bl_calloc(t->ctx, 1, sizeof *p);
    if (p) {
      p->number = id >> PAGE_BITS;
      t->n_pages++;
      __atomic_store_n(slot, p, __ATOMIC_RELEASE);
    } else st = bl_nomem(err);
    *out = p;
  }
  pthread_mutex_unlock(&t->lock);
  return st;
}

/* ---- adding ---- */

/* The mark of a sequence number; 0 where there are too many of them. */
static uint16_t mark_of(bl_id_table *t, int64_t seq) {
  uint32_t mark = 0;
  pthread_mutex_lock(&t->lock);
  for (uint32_t i = t->n_seqs; i > 0 && !mark; i--)
    if (t->seqs[i] == seq) mark = i;
  if (!mark && t->n_seqs < MOST_NUMBERS) {
    mark = ++t->n_seqs;
    t->seqs[mark] = seq;
  }
  pthread_mutex_unlock(&t->lock);
  return (uint16_t)mark;
}

/* Set a mark; false where there is one already. */
static bool mark(uint16_t *slot, uint16_t value) {
  uint16_t was = __atomic_load_n(slot, __ATOMIC_RELAXED);
  __atomic_store_n(slot, value, __ATOMIC_RELAXED);
  return was == 0;
}

static void count(int64_t *counter, int64_t n) {
  __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* The number of a version's row; *fits false: there is none for all n of them. */
static int64_t place_of(const bl_id_table *t, uint32_t file, int64_t pos, int64_t n, bool *fits) {
  size_t version = file - t->first;
  int64_t place = t->base[version] + pos;
  *fits = pos <= UINT32_MAX && place + n <= t->base[version + 1];
  return place;
}

static bl_status add_run(bl_id_table *t, const bl_run *r, uint16_t number, bool *fits, bl_error *err) {
  int64_t place = place_of(t, r->file, r->pos, r->len, fits);
  for (uint32_t i = 0; *fits && i < r->len;) {
    page *p;
    BL_TRY(need_page(t, r->id + i, &p, err));
    if (!p) *fits = false;
    for (size_t at = (size_t)(r->id + i) & (PAGE_IDS - 1); *fits && i < r->len && at < PAGE_IDS; i++, at++) {
      p->place[at] = (uint32_t)(place + i);
      *fits = mark(&p->mark[at], number);
    }
  }
  count(&t->n_added, r->len);
  return BL_OK;
}

bl_status bl_id_table_add(bl_id_table *t, const bl_run *runs, size_t n, bool *fits, bl_error *err) {
  uint16_t number = 0;
  *fits = true;
  for (size_t i = 0; *fits && i < n; i++) {
    if (i == 0 || runs[i].seq != runs[i - 1].seq) number = mark_of(t, runs[i].seq);
    *fits = number != 0;
    if (*fits) BL_TRY(add_run(t, &runs[i], number, fits, err));
  }
  return BL_OK;
}

/* Numbers that were looked up lately, by their last bits. */
typedef struct recent {
  int64_t seq[16];
  uint16_t mark[16]; /* 0: none */
} recent;

static uint16_t recent_mark(bl_id_table *t, recent *r, int64_t seq) {
  size_t at = (size_t)seq % BL_LEN(r->seq);
  if (!r->mark[at] || r->seq[at] != seq) {
    r->seq[at] = seq;
    r->mark[at] = mark_of(t, seq);
  }
  return r->mark[at];
}

bl_status bl_id_table_add_rows(bl_id_table *t, const bl_id_rows *r, bool *fits, bl_error *err) {
  int64_t place = place_of(t, r->file, r->pos, r->n, fits), seq = BL_NONE;
  recent known = {0};
  uint16_t number = 0;
  page *p = NULL;
  for (int64_t i = 0; *fits && i < r->n; i++) {
    int64_t id = r->ids[i];
    size_t at = (size_t)id & (PAGE_IDS - 1);
    if (!p || p->number != id >> PAGE_BITS) BL_TRY(need_page(t, id, &p, err));
    if (r->seqs[i] != seq) number = recent_mark(t, &known, seq = r->seqs[i]);
    *fits = p && number && mark(&p->mark[at], number);
    if (*fits) p->place[at] = (uint32_t)(place + i);
  }
  count(&t->n_added, r->n);
  return BL_OK;
}

/* ---- meeting ---- */

static bl_run row_at(const bl_id_table *t, int64_t id, uint16_t mark, uint32_t place) {
  size_t lo = 0, hi = t->n_base; /* the last version that begins at or before place and has rows */
  while (hi - lo > 1) {
    size_t mid = lo + (hi - lo) / 2;
    if (t->base[mid] <= place) lo = mid;
    else hi = mid;
  }
  return (bl_run){
      .id = id, .seq = t->seqs[mark], .pos = place - t->base[lo], .file = (uint32_t)(t->first + lo), .len = 1};
}

bl_meeting bl_id_table_meet(bl_id_table *t, int64_t id, bl_run *row) {
  page *p = find_page(t, id);
  size_t at = (size_t)id & (PAGE_IDS - 1);
  uint16_t number = p ? __atomic_load_n(&p->mark[at], __ATOMIC_RELAXED) : 0;
  if (number == 0) return BL_ID_UNKNOWN;
  if (number == MET) return BL_ID_MET_AGAIN;
  __atomic_store_n(&p->mark[at], MET, __ATOMIC_RELAXED);
  count(&t->n_met, 1);
  *row = row_at(t, id, number, p->place[at]);
  return BL_ID_MET;
}

int64_t bl_id_table_pass(bl_id_table *t, const bl_id_rows *r, int64_t at) {
  page *p = NULL;
  int64_t i = at;
  for (; i < r->n; i++) {
    int64_t id = r->ids[i];
    if (!p || p->number != id >> PAGE_BITS) p = find_page(t, id);
    if (!p) break;
    uint16_t *slot = &p->mark[(size_t)id & (PAGE_IDS - 1)];
    if (t->seqs[__atomic_load_n(slot, __ATOMIC_RELAXED)] != r->seqs[i]) break;
    __atomic_store_n(slot, MET, __ATOMIC_RELAXED);
  }
  count(&t->n_met, i - at);
  return i - at;
}

/* ---- the rest ---- */

static int by_number(const void *a, const void *b) {
  const page *x = *(page *const *)a, *y = *(page *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

typedef bl_status (*run_taker)(void *user, const bl_run *r, bl_error *err);

/* What is left of the table. */
typedef struct rest {
  const bl_id_table *t;
  bl_run run; /* len 0: none yet */
  int64_t added, met;
  run_taker take;
  void *user;
} rest;

static bl_status rest_of_row(rest *x, int64_t id, uint16_t number, uint32_t place, bl_error *err) {
  bl_run row = row_at(x->t, id, number, place);
  if (x->run.len > 0 && bl_run_continues(&x->run, &row)) {
    x->run.len++;
    return BL_OK;
  }
  if (x->run.len > 0) BL_TRY(x->take(x->user, &x->run, err));
  x->run = row;
  return BL_OK;
}

/* Marks from `at` on that are alike in a whole word: all of no row, or all met; none else. */
static int alike(const page *p, size_t at, uint16_t *which) {
  uint64_t word;
  if (at % MARKS_A_WORD) return 0;
  memcpy(&word, &p->mark[at], sizeof word);
  *which = (uint16_t)word;
  return word == 0 || word == UINT64_MAX ? MARKS_A_WORD : 0;
}

static bl_status rest_of_page(rest *x, const page *p, bl_error *err) {
  for (size_t at = 0; at < PAGE_IDS;) {
    uint16_t number = 0;
    int n = alike(p, at, &number);
    if (n == 0) {
      n = 1;
      number = p->mark[at];
    }
    if (number != 0) x->added += n;
    if (number == MET) x->met += n;
    if (number != 0 && number != MET)
      BL_TRY(rest_of_row(x, p->number << PAGE_BITS | (int64_t)at, number, p->place[at], err));
    at += (size_t)n;
  }
  return BL_OK;
}

bl_status bl_id_table_rest(bl_id_table *t, run_taker take, void *user, bool *fits, bl_error *err) {
  page **pages = bl_alloc(t->ctx, t->n_pages + 1, sizeof(page *));
  if (!pages) return bl_nomem(err);
  size_t n = 0;
  for (size_t i = 0; i < t->n_slots; i++)
    if (t->slots[i]) pages[n++] = t->slots[i];
  bl_sort(pages, n, sizeof *pages, by_number);
  rest x = {.t = t, .take = take, .user = user};
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < n; i++) st = rest_of_page(&x, pages[i], err);
  if (st == BL_OK && x.run.len > 0) st = take(user, &x.run, err);
  *fits = x.added == t->n_added && x.met == t->n_met;
  bl_free(t->ctx, pages);
  return st;
}
