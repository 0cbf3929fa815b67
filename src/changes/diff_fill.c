/* diff_fill.c: the deletes of touched files, and which files are touched after all. */
#include <stdlib.h>

#include "base/pool.h"
#include "changes/diff_run.h"

enum { FILL_LOT = 512 /* files filled by one work item */ };

typedef struct filling {
  bl_diff_run *r;
  bl_arena **arenas; /* one a lot */
} filling;

static bl_status fill_lot(void *user, size_t lot, bl_error *err) {
  filling *f = user;
  size_t end = (lot + 1) * FILL_LOT < f->r->n ? (lot + 1) * FILL_LOT : f->r->n;
  for (size_t i = lot * FILL_LOT; i < end; i++) {
    bl_candidate *c = &f->r->items[i];
    for (int s = 0; s < 2; s++)
      if (c->entry[s]) BL_TRY(bl_delete_index_for(f->r->s[s].all, f->arenas[lot], c->entry[s], &c->deletes[s], err));
  }
  return BL_OK;
}

static bl_status fill(bl_diff_run *r, bl_error *err) {
  bl_diff_memory *m = r->memory;
  size_t n_lots = (r->n + FILL_LOT - 1) / FILL_LOT;
  for (int s = 0; s < 2; s++) BL_TRY(bl_delete_index_seal(r->s[s].all, err));
  if (!bl_delete_index_count(r->s[0].all) && !bl_delete_index_count(r->s[1].all)) return BL_OK;
  while (m->n < n_lots) {
    BL_TRY(bl_grow(r->ctx, &m->arenas, &m->cap, m->n, sizeof(bl_arena *), err));
    BL_TRY(bl_arena_new(r->ctx, &m->arenas[m->n], err));
    m->n++;
  }
  filling f = {.r = r, .arenas = m->arenas};
  return bl_parallel(r->ctx, n_lots, fill_lot, &f, err);
}

static bool same_delete(const bl_manifest_entry *a, const bl_manifest_entry *b) {
  return a == b || (a && b && bl_same_place(a, b));
}

static bool same_list(const bl_manifest_entry **a, size_t na, const bl_manifest_entry **b, size_t nb) {
  if (na != nb) return false;
  for (size_t i = 0; i < na; i++)
    if (!same_delete(a[i], b[i])) return false;
  return true;
}

static bool same_deletes(const bl_file_deletes *a, const bl_file_deletes *b) {
  return same_delete(a->vector, b->vector) && same_list(a->position, a->n_position, b->position, b->n_position) &&
         same_list(a->equality, a->n_equality, b->equality, b->n_equality);
}

static int by_order(const void *a, const void *b) {
  const bl_candidate *x = a, *y = b;
  bool xa = !x->entry[BL_OLDER], ya = !y->entry[BL_OLDER];
  if (xa != ya) return xa ? 1 : -1;
  if (x->manifest != y->manifest) return x->manifest < y->manifest ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Leaves the touched ones, in order. */
static void keep_touched(bl_diff_run *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n; i++) {
    const bl_candidate *c = &r->items[i];
    if (c->entry[0] && c->entry[1] && same_deletes(&c->deletes[0], &c->deletes[1])) continue;
    r->items[n++] = *c;
  }
  r->n = n;
  bl_sort(r->items, n, sizeof *r->items, by_order);
}

bl_status bl_diff_fill(bl_diff_run *r, bl_error *err) {
  BL_TRY(fill(r, err));
  keep_touched(r);
  return BL_OK;
}
