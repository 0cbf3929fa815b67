/* diff_search.c: the steps of a diff that go into common manifests: kept files that a changed delete reaches, and the
 * deletes that reach a touched file. */
#include "base/pool.h"
#include "changes/diff_run.h"

enum {
  LOT_FIRST = 16, /* manifests searched at once; each further lot is twice as large */
  LOT_MOST = 256
};

/* ---- search ---- */

/* One searched manifest: the entries that a changed delete reaches. */
typedef struct found {
  const bl_diff_run *r;
  const bl_opened *open;
  size_t *hits;
  size_t n, cap, n_live;
} found;

static bl_status search_one(void *user, size_t i, bl_error *err) {
  found *f = &((found *)user)[i];
  bl_ctx *ctx = f->r->ctx;
  bl_arena *scratch;
  bl_status st = BL_OK;
  bool reached;
  BL_TRY(bl_arena_new(ctx, &scratch, err));
  for (size_t k = 0; k < f->open->n; k++) {
    if (f->open->entries[k].status == BL_DELETED) continue;
    f->n_live++;
    BL_GO(bl_diff_is_reached(f->r, scratch, &f->open->entries[k], &reached, err));
    if (!reached) continue;
    BL_GO(bl_grow(ctx, &f->hits, &f->cap, f->n, sizeof *f->hits, err));
    f->hits[f->n++] = k;
  }
done:
  bl_arena_free(scratch);
  return st;
}

/* at: of the manifest in the newer list. */
static bl_status take_found(bl_diff_run *r, found *f, size_t at, bl_error *err) {
  bl_diff_slot *x = &r->s[BL_NEWER].slots[at];
  r->n_live += f->n_live;
  for (size_t k = 0; k < f->n; k++) {
    BL_TRY(bl_diff_add_candidate(r, &(bl_candidate){.manifest = x->common - 1, .at = f->hits[k], .common = true}, err));
    for (int s = 0; s < 2; s++) bl_reach_found(r->reach, f->open->entries[f->hits[k]].file.path, s);
  }
  if (f->n) return BL_OK;
  x->open->busy = false;
  x->open = NULL;
  return BL_OK;
}

static bl_status search_lot(bl_diff_run *r, bl_diff_requests *q, size_t from, size_t n, bl_error *err) {
  bl_status st;
  found *lot = bl_calloc(r->ctx, n, sizeof *lot);
  if (!lot) return bl_nomem(err);
  BL_GO(bl_diff_open_requests(r, q, from, n, bl_reach_has_equality(r->reach), err));
  for (size_t i = 0; i < n; i++) lot[i] = (found){.r = r, .open = q->items[from + i].out};
  BL_GO(bl_parallel(r->ctx, n, search_one, lot, err));
  for (size_t i = 0; i < n; i++) BL_GO(take_found(r, &lot[i], q->at[from + i], err));
  bl_manifest_cache_trim(r->d->cache);
done:
  for (size_t i = 0; i < n; i++) bl_free(r->ctx, lot[i].hits);
  bl_free(r->ctx, lot);
  return st;
}

static bool is_common_data(const bl_diff_run *r, size_t i) {
  const bl_diff_half *x = &r->s[BL_NEWER];
  return x->slots[i].common && x->list[i].content == BL_MANIFEST_DATA && bl_manifest_may_live(&x->list[i]);
}

/* Lots of manifests that may hold a named file, until all are found. The lots do not hang on the number of threads: two
 * runs open the same. */
static bl_status search_named(bl_diff_run *r, bl_diff_requests *q,
                              bool (*may_hold)(const bl_reach *, const bl_manifest_file *), bl_error *err) {
  const bl_diff_half *x = &r->s[BL_NEWER];
  size_t most = LOT_FIRST;
  for (size_t i = 0; i < x->n && bl_reach_missing(r->reach);) {
    size_t from = q->n;
    for (; i < x->n && q->n - from < most; i++)
      if (is_common_data(r, i) && !x->slots[i].opened && may_hold(r->reach, &x->list[i]))
        bl_diff_request(r, q, BL_NEWER, i);
    BL_TRY(search_lot(r, q, from, q->n - from, err));
    if (most < LOT_MOST) most *= 2;
  }
  return BL_OK;
}

/* Every manifest that a delete without name may reach; then those for named files: of the delete's partition, and where
 * that is not the file's, of any. */
static bl_status search(bl_diff_run *r, bl_error *err) {
  const bl_diff_half *x = &r->s[BL_NEWER];
  bl_diff_requests q;
  bl_status st = BL_OK;
  size_t from = 0;
  BL_GO(bl_diff_requests_init(r, &q, err));
  for (size_t i = 0; i < x->n; i++)
    if (is_common_data(r, i) && bl_reach_wide(r->reach, &x->list[i])) bl_diff_request(r, &q, BL_NEWER, i);
  for (; from < q.n; from += LOT_MOST)
    BL_GO(search_lot(r, &q, from, from + LOT_MOST < q.n ? LOT_MOST : q.n - from, err));
  BL_GO(search_named(r, &q, bl_reach_named, err));
  BL_GO(search_named(r, &q, bl_reach_stray, err));
done:
  bl_diff_requests_dispose(r, &q);
  return st;
}

/* The entries of kept files of common manifests, as both sides see them. */
static bl_status resolve(bl_diff_run *r, bool metrics, bl_error *err) {
  bl_diff_requests q;
  bl_status st;
  size_t *at = NULL; /* of a manifest's request for the older side, + 1; that for the newer follows */
  BL_GO(bl_diff_requests_init(r, &q, err));
  at = bl_calloc(r->ctx, r->s[BL_OLDER].n, sizeof *at);
  if (!at) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < r->n; i++) {
    size_t m = r->items[i].manifest;
    if (!r->items[i].common || at[m]) continue;
    bl_diff_request(r, &q, BL_OLDER, m);
    at[m] = q.n;
    bl_diff_request(r, &q, BL_NEWER, r->s[BL_OLDER].slots[m].common - 1);
  }
  BL_GO(bl_manifest_cache_open(r->d->cache, q.items, q.n, metrics, err));
  for (size_t i = 0; i < r->n; i++) {
    bl_candidate *c = &r->items[i];
    if (!c->common) continue;
    for (int s = 0; s < 2; s++) c->entry[s] = &q.items[at[c->manifest] - 1 + (size_t)s].out->entries[c->at];
  }
done:
  bl_diff_requests_dispose(r, &q);
  bl_free(r->ctx, at);
  return st;
}

bl_status bl_diff_search(bl_diff_run *r, bl_error *err) {
  if (!bl_diff_any_changed(r)) return BL_OK;
  BL_TRY(search(r, err));
  return resolve(r, bl_reach_has_equality(r->reach), err);
}

/* ---- cover ---- */

/* Common manifests of deletes that may reach a candidate. */
static bl_status request_cover(bl_diff_run *r, bl_diff_requests *q, bl_error *err) {
  const bl_diff_half *x = &r->s[BL_NEWER];
  bl_cover *cover;
  bl_status st = BL_OK;
  BL_TRY(bl_cover_new(r->ctx, &r->d->specs, &cover, err));
  for (size_t i = 0; i < r->n; i++) {
    const bl_candidate *c = &r->items[i];
    BL_GO(bl_cover_add(cover, c->entry[BL_OLDER] ? c->entry[BL_OLDER] : c->entry[BL_NEWER], err));
  }
  for (size_t i = 0; i < x->n; i++) {
    const bl_manifest_file *m = &x->list[i];
    if (x->slots[i].common && m->content == BL_MANIFEST_DELETES && bl_manifest_may_live(m) &&
        bl_cover_may_meet(cover, m))
      bl_diff_request(r, q, BL_NEWER, i);
  }
done:
  bl_cover_free(cover);
  return st;
}

/* A common manifest has the same deletes on both sides. */
static bl_status index_common(bl_diff_run *r, const bl_opened *o, bl_error *err) {
  for (size_t i = 0; i < o->n; i++)
    for (int s = 0; s < 2 && o->entries[i].status != BL_DELETED; s++)
      BL_TRY(bl_diff_index_delete(r, s, &o->entries[i], err));
  return BL_OK;
}

bl_status bl_diff_cover(bl_diff_run *r, bl_error *err) {
  bl_diff_requests q;
  bl_status st;
  BL_GO(bl_diff_requests_init(r, &q, err));
  BL_GO(request_cover(r, &q, err));
  BL_GO(bl_diff_open_requests(r, &q, 0, q.n, true, err));
  for (size_t i = 0; i < q.n; i++) BL_GO(index_common(r, q.items[i].out, err));
  /* only now it shows whether metrics matter */
  if (r->equality && !bl_reach_has_equality(r->reach)) BL_GO(resolve(r, true, err));
done:
  bl_diff_requests_dispose(r, &q);
  return st;
}
