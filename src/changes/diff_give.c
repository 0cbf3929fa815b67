/* diff_give.c: the entries of a diff outlive the manifests that they were read from: where much of a manifest is given
 * out it is kept whole, else the entries are copied. */
#include "changes/diff_run.h"

enum { PIN_SHARE = 4 /* a manifest of which one entry in so many was given out is kept */ };

bl_status bl_each_delete(bl_file_deletes *d, bl_visit_entry visit, void *user, bl_error *err) {
  if (d->vector) BL_TRY(visit(user, &d->vector, err));
  for (size_t i = 0; i < d->n_position; i++) BL_TRY(visit(user, &d->position[i], err));
  for (size_t i = 0; i < d->n_equality; i++) BL_TRY(visit(user, &d->equality[i], err));
  return BL_OK;
}

static bl_status each_entry(bl_diff_run *r, bl_visit_entry visit, void *user, bl_error *err) {
  for (size_t i = 0; i < r->n; i++)
    for (int s = 0; s < 2; s++) {
      bl_candidate *c = &r->items[i];
      if (c->entry[s]) BL_TRY(visit(user, &c->entry[s], err));
      BL_TRY(bl_each_delete(&c->deletes[s], visit, user, err));
    }
  return BL_OK;
}

typedef struct giving {
  bl_differ *d;
  bl_opened_index index;
} giving;

static bl_status mark_used(void *user, const bl_manifest_entry **e, bl_error *err) {
  giving *g = user;
  bl_opened *o = bl_opened_of(&g->index, *e);
  BL_TRY(bl_manifest_cache_marks(g->d->cache, o, err));
  const bl_manifest_entry **at = &o->given[*e - o->entries];
  if (!*at) {
    *at = *e;
    o->n_used++;
  }
  return BL_OK;
}

static bl_status give_marked(giving *g, bl_opened *o, bl_error *err) {
  o->pinned |= o->n_used * PIN_SHARE >= o->n;
  for (size_t i = 0; i < o->n; i++)
    if (o->given[i]) BL_TRY(bl_given_take(g->d->given, &o->entries[i], o->pinned, &o->given[i], err));
  return BL_OK;
}

static bl_status put_given(void *user, const bl_manifest_entry **e, bl_error *err) {
  giving *g = user;
  const bl_opened *o = bl_opened_of(&g->index, *e);
  (void)err;
  *e = o->given[*e - o->entries];
  return BL_OK;
}

bl_status bl_diff_give(bl_diff_run *r, bl_error *err) {
  giving g = {.d = r->d};
  bl_status st;
  BL_GO(bl_manifest_cache_index(r->d->cache, &g.index, err));
  BL_GO(each_entry(r, mark_used, &g, err));
  for (size_t i = 0; i < g.index.n; i++)
    if (g.index.items[i]->given) BL_GO(give_marked(&g, g.index.items[i], err));
  BL_GO(each_entry(r, put_given, &g, err));
done:
  bl_free(r->ctx, g.index.items);
  return st;
}
