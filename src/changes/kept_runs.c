/* kept_runs.c: see kept_runs.h. Parts are found by (place, k); what is put for one that is there takes its stead. */
#include "changes/kept_runs.h"

#include <pthread.h>

enum { PART_BITS = 8, FEW_RUNS = 1024, LEAST_ROWS_A_RUN = 8 };

typedef struct kept {
  bl_part_name part;
  bl_run *runs; /* NULL: taken */
  size_t n;
} kept;

struct bl_kept_runs {
  bl_ctx *ctx;
  int64_t budget, used; /* bytes */
  kept *items;
  size_t n, cap;
  bl_imap *at; /* key_of(part) -> index */
  pthread_mutex_t lock;
};

bl_status bl_kept_runs_new(bl_ctx *ctx, int64_t budget, bl_kept_runs **out, bl_error *err) {
  *out = NULL;
  bl_kept_runs *k = bl_calloc(ctx, 1, sizeof *k);
  if (!k) return bl_nomem(err);
  k->ctx = ctx;
  k->budget = budget;
  pthread_mutex_init(&k->lock, NULL);
  bl_status st = bl_imap_new(ctx, &k->at, err);
  if (st == BL_OK) *out = k;
  else bl_kept_runs_free(k);
  return st;
}

void bl_kept_runs_free(bl_kept_runs *k) {
  if (!k) return;
  for (size_t i = 0; i < k->n; i++) bl_free(k->ctx, k->items[i].runs);
  bl_free(k->ctx, k->items);
  bl_imap_free(k->at);
  pthread_mutex_destroy(&k->lock);
  bl_free(k->ctx, k);
}

static int64_t key_of(const bl_part_name *p) {
  return (int64_t)p->place << PART_BITS | (int64_t)p->k;
}

static bl_run *let_go(bl_kept_runs *k, kept *x) {
  bl_run *runs = x->runs;
  k->used -= (int64_t)(x->n * sizeof *runs);
  x->runs = NULL;
  x->n = 0;
  return runs;
}

static bl_status put(bl_kept_runs *k, const bl_part_name *part, bl_run **runs, size_t n, bl_error *err) {
  int64_t bytes = (int64_t)(n * sizeof **runs);
  if (part->k >> PART_BITS || bytes > k->budget - k->used) return BL_OK;
  BL_TRY(bl_grow(k->ctx, &k->items, &k->cap, k->n, sizeof *k->items, err));
  bool added;
  size_t *i = bl_imap_put(k->at, key_of(part), k->n, &added);
  if (!i) return bl_nomem(err);
  if (added) k->items[k->n++] = (kept){0};
  else bl_free(k->ctx, let_go(k, &k->items[*i]));
  k->items[*i] = (kept){*part, *runs, n};
  k->used += bytes;
  *runs = NULL;
  return BL_OK;
}

bl_status bl_kept_runs_put(bl_kept_runs *k, const bl_part_name *part, bl_run *runs, size_t n, bl_error *err) {
  pthread_mutex_lock(&k->lock);
  bl_status st = put(k, part, &runs, n, err);
  pthread_mutex_unlock(&k->lock);
  bl_free(k->ctx, runs);
  return st;
}

static bool is_part(const bl_part_name *a, const bl_part_name *b) {
  return a->n == b->n && a->first_row_id == b->first_row_id && a->sequence_number == b->sequence_number;
}

bl_run *bl_kept_runs_take(bl_kept_runs *k, const bl_part_name *part, size_t *n) {
  bl_run *runs = NULL;
  *n = 0;
  pthread_mutex_lock(&k->lock);
  const size_t *i = bl_imap_get(k->at, key_of(part));
  kept *x = i ? &k->items[*i] : NULL;
  if (x && x->runs && is_part(&x->part, part)) {
    *n = x->n;
    runs = let_go(k, x);
  }
  pthread_mutex_unlock(&k->lock);
  return runs;
}

/* ---- recording ---- */

static void stop(bl_run_recorder *r, bl_ctx *ctx) {
  bl_free(ctx, r->runs);
  *r = (bl_run_recorder){.off = true};
}

bl_status bl_run_recorder_add(bl_run_recorder *r, bl_ctx *ctx, const bl_id_rows *x, bl_error *err) {
  for (int64_t at = 0; !r->off && at < x->n;) {
    bl_run run = bl_id_rows_run(x, at);
    at += run.len;
    r->rows += run.len;
    bl_run *last = r->n ? &r->runs[r->n - 1] : NULL;
    if (last && bl_run_continues(last, &run) && run.len <= UINT32_MAX - last->len) {
      last->len += run.len;
      continue;
    }
    BL_TRY(bl_grow(ctx, &r->runs, &r->cap, r->n, sizeof *r->runs, err));
    r->runs[r->n++] = run;
    if (r->n > FEW_RUNS && r->rows / LEAST_ROWS_A_RUN < (int64_t)r->n) stop(r, ctx);
  }
  return BL_OK;
}
