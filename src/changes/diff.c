/* diff.c: see diff.h. The steps of bl_differ_run, in order:
 *
 *   pair      manifests of one path in both lists are common; they are not opened yet
 *   open      all others; their live data files and deletes are matched by place
 *   changed   deletes that are live on one side only
 *   search    common data manifests for kept files that a changed delete may reach
 *   cover     common delete manifests that can reach a touched file
 *   fill      the deletes of every touched file on both sides; kept files where they agree are dropped
 *   give      the entries of what is left, so that they outlive the manifests
 *
 * A manifest that common lists show with another first_row_id stays common: its places are the same (C5). */
#include "changes/diff.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/pool.h"
#include "changes/given.h"
#include "changes/live_files.h"
#include "changes/manifest_cache.h"
#include "changes/reach.h"
#include "changes/replace_proof.h"

enum {
  CHUNK_FIRST = 16, /* manifests searched at once; each further lot is twice as large */
  CHUNK_MOST = 256,
  FILL_LOT = 512,  /* touched files filled by one work item */
  PIN_SHARE = 4    /* a manifest of which one entry in so many is given out is kept whole */
};

struct bl_differ {
  bl_table *t;
  bl_ctx *ctx;
  bl_arena *arena; /* of results and specs */
  bl_arena **lots; /* of results that several threads made */
  size_t n_lots, cap_lots;
  bl_typed_specs specs;
  bl_manifest_cache *cache;
  bl_given *given;
};

bl_status bl_differ_new(bl_table *t, bl_differ **out, bl_error *err) {
  *out = NULL;
  bl_differ *d = bl_calloc(t->ctx, 1, sizeof *d);
  if (!d) return bl_nomem(err);
  *d = (bl_differ){.t = t, .ctx = t->ctx};
  bl_status st;
  BL_GO(bl_arena_new(t->ctx, &d->arena, err));
  BL_GO(bl_typed_specs_make(d->arena, t->metadata, &d->specs, err));
  BL_GO(bl_manifest_cache_new(t, t->ctx->o.memory_budget / 8, &d->cache, err));
  BL_GO(bl_given_new(t->ctx, &d->given, err));
done:
  if (st != BL_OK) bl_differ_free(d);
  else *out = d;
  return st;
}

void bl_differ_free(bl_differ *d) {
  if (!d) return;
  bl_given_free(d->given);
  bl_manifest_cache_free(d->cache);
  for (size_t i = 0; i < d->n_lots; i++) bl_arena_free(d->lots[i]);
  bl_free(d->ctx, d->lots);
  bl_arena_free(d->arena);
  bl_free(d->ctx, d);
}

/* ---- one run ---- */

/* A manifest of one side's list. */
typedef struct slot {
  size_t common;   /* index + 1 in the other list, 0 = this side only */
  bl_opened *open; /* NULL: not opened, or searched in vain */
  bool opened;     /* for the counts; of a common one on the newer side */
} slot;

typedef struct half {
  const bl_manifest_file *list;
  size_t n;
  slot *slots;
  bl_live_set data, deletes;  /* of the manifests that are this side's only */
  bl_delete_index *changed;   /* deletes that are live on this side only */
  bl_delete_index *all;       /* whatever can apply to touched files */
} half;

/* A file that is touched, or may be. */
typedef struct candidate {
  const bl_manifest_entry *entry[2];
  size_t manifest, at; /* where it stands: on the older side, or of an added file on the newer */
  bool common;         /* of a common manifest */
  bl_file_deletes deletes[2];
} candidate;

typedef struct run {
  bl_differ *d;
  bl_ctx *ctx;
  half s[2];
  bl_reach *reach;
  bl_cover *cover;
  candidate *items;
  size_t n, cap;
  bool ids_differ;
  bool equality; /* an equality delete may apply: then metrics matter */
  size_t n_live; /* data files seen, those on both sides once */
} run;

static bl_status add_candidate(run *r, const bl_manifest_entry *old, const bl_manifest_entry *new, size_t manifest,
                               size_t at, bl_error *err) {
  BL_TRY(bl_grow(r->ctx, &r->items, &r->cap, r->n, sizeof *r->items, err));
  r->items[r->n++] = (candidate){.entry = {old, new}, .manifest = manifest, .at = at};
  return BL_OK;
}

static bool different_ids(int64_t a, int64_t b) {
  return a != BL_NONE && b != BL_NONE && a != b;
}

/* ---- pair ---- */

/* Would the entries of both be the same, ids aside? */
static bool is_common(const bl_manifest_file *a, const bl_manifest_file *b) {
  return a->content == b->content && a->spec_id == b->spec_id && a->sequence_number == b->sequence_number &&
         bl_str_eq(a->path, b->path);
}

static bl_status pair_manifests(run *r, bl_error *err) {
  half *old = &r->s[BL_OLDER], *new = &r->s[BL_NEWER];
  bl_map *by_path;
  bl_status st = BL_OK;
  BL_TRY(bl_map_new(r->ctx, &by_path, err));
  for (size_t i = 0; i < new->n; i++)
    if (!bl_map_put(by_path, new->list[i].path, i, NULL)) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < old->n; i++) {
    const size_t *at = bl_map_get(by_path, old->list[i].path);
    if (!at || new->slots[*at].common || !is_common(&old->list[i], &new->list[*at])) continue;
    old->slots[i].common = *at + 1;
    new->slots[*at].common = i + 1;
    r->ids_differ |= bl_manifest_may_live(&old->list[i]) &&
                     different_ids(old->list[i].first_row_id, new->list[*at].first_row_id);
  }
done:
  bl_map_free(by_path);
  return st;
}

static bl_status read_lists(run *r, const bl_snapshot *from, const bl_snapshot *to, bl_error *err) {
  const bl_snapshot *of[2] = {from, to};
  for (int s = 0; s < 2; s++) {
    half *x = &r->s[s];
    x->data.ctx = x->deletes.ctx = r->ctx;
    BL_TRY(bl_manifest_cache_list(r->d->cache, of[s], &x->list, &x->n, err));
    x->slots = bl_calloc(r->ctx, x->n, sizeof *x->slots);
    if (!x->slots) return bl_nomem(err);
    BL_TRY(bl_delete_index_new(r->ctx, r->d->t->metadata, &x->changed, err));
    BL_TRY(bl_delete_index_new(r->ctx, r->d->t->metadata, &x->all, err));
  }
  return pair_manifests(r, err);
}

/* ---- open ---- */

/* Manifests to be opened, with their places in a list. */
typedef struct request_list {
  bl_open_request *items;
  size_t *at;
  int *side;
  size_t n;
} request_list;

static bl_status requests_init(run *r, request_list *q, bl_error *err) {
  size_t most = r->s[0].n + r->s[1].n;
  *q = (request_list){.items = bl_alloc(r->ctx, most, sizeof *q->items),
                      .at = bl_alloc(r->ctx, most, sizeof *q->at),
                      .side = bl_alloc(r->ctx, most, sizeof *q->side)};
  return q->items && q->at && q->side ? BL_OK : bl_nomem(err);
}

static void requests_dispose(run *r, request_list *q) {
  bl_free(r->ctx, q->items);
  bl_free(r->ctx, q->at);
  bl_free(r->ctx, q->side);
}

static void request(run *r, request_list *q, int side, size_t at) {
  q->items[q->n] = (bl_open_request){.m = &r->s[side].list[at]};
  q->at[q->n] = at;
  q->side[q->n++] = side;
}

static bl_status open_requested(run *r, request_list *q, size_t from, size_t n, bool metrics, bl_error *err) {
  BL_TRY(bl_manifest_cache_open(r->d->cache, q->items + from, n, metrics, err));
  for (size_t i = from; i < from + n; i++) {
    slot *x = &r->s[q->side[i]].slots[q->at[i]];
    x->open = q->items[i].out;
    x->opened = true;
  }
  return BL_OK;
}

static bl_status take_live(run *r, int s, size_t at, bl_error *err) {
  half *x = &r->s[s];
  bl_live_set *set = x->list[at].content == BL_MANIFEST_DATA ? &x->data : &x->deletes;
  return bl_live_set_add(set, x->slots[at].open->entries, x->slots[at].open->n, at, err);
}

static bl_status open_differing(run *r, bl_error *err) {
  request_list q;
  bl_status st;
  BL_GO(requests_init(r, &q, err));
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < r->s[s].n; i++)
      if (!r->s[s].slots[i].common && bl_manifest_may_live(&r->s[s].list[i])) request(r, &q, s, i);
  BL_GO(open_requested(r, &q, 0, q.n, true, err));
  for (size_t i = 0; i < q.n; i++) BL_GO(take_live(r, q.side[i], q.at[i], err));
  BL_GO(bl_live_set_match(&r->s[0].data, &r->s[1].data, err));
  BL_GO(bl_live_set_match(&r->s[0].deletes, &r->s[1].deletes, err));
done:
  requests_dispose(r, &q);
  return st;
}

/* ---- changed ---- */

static bl_status index_delete(run *r, int s, const bl_manifest_entry *e, bl_error *err) {
  r->equality |= e->file.content == BL_FILE_EQUALITY_DELETES;
  return bl_delete_index_add(r->s[s].all, e, err);
}

static bl_status collect_changed(run *r, bl_error *err) {
  for (int s = 0; s < 2; s++) {
    half *x = &r->s[s];
    for (size_t i = 0; i < x->deletes.n; i++) {
      const bl_live *l = &x->deletes.items[i];
      BL_TRY(index_delete(r, s, l->entry, err));
      if (l->twin) continue;
      BL_TRY(bl_delete_index_add(x->changed, l->entry, err));
      BL_TRY(bl_reach_add(r->reach, l->entry, s, err));
    }
    BL_TRY(bl_delete_index_seal(x->changed, err));
  }
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < r->s[s].data.n; i++) bl_reach_found(r->reach, r->s[s].data.items[i].entry->file.path, s);
  return BL_OK;
}

static bool any_changed(const run *r) {
  return bl_delete_index_count(r->s[0].changed) || bl_delete_index_count(r->s[1].changed);
}

static bool has_deletes(const bl_file_deletes *d) {
  return d->vector || d->n_position || d->n_equality;
}

/* Does a changed delete apply to a kept file, on the side where it is live? */
static bl_status is_reached(const run *r, bl_arena *scratch, const bl_manifest_entry *e, bool *out, bl_error *err) {
  *out = false;
  for (int s = 0; s < 2 && !*out; s++) {
    bl_file_deletes d;
    BL_TRY(bl_delete_index_for(r->s[s].changed, scratch, e, &d, err));
    *out = has_deletes(&d);
  }
  return BL_OK;
}

/* Removed and added files, and kept ones of the opened manifests that a changed delete reaches. */
static bl_status compare_opened(run *r, bl_error *err) {
  const bl_live_set *old = &r->s[BL_OLDER].data, *new = &r->s[BL_NEWER].data;
  bl_arena *scratch;
  bl_status st = BL_OK;
  bool reached;
  BL_TRY(bl_arena_new(r->ctx, &scratch, err));
  r->n_live = old->n;
  for (size_t i = 0; i < old->n; i++) {
    const bl_live *l = &old->items[i];
    const bl_manifest_entry *now = l->twin ? new->items[l->twin - 1].entry : NULL;
    if (now) r->ids_differ |= different_ids(l->entry->file.first_row_id, now->file.first_row_id);
    reached = !now;
    if (now && any_changed(r)) BL_GO(is_reached(r, scratch, l->entry, &reached, err));
    if (reached) BL_GO(add_candidate(r, l->entry, now, l->manifest, l->at, err));
  }
  for (size_t i = 0; i < new->n; i++) {
    const bl_live *l = &new->items[i];
    if (l->twin) continue;
    BL_GO(add_candidate(r, NULL, l->entry, l->manifest, l->at, err));
    r->n_live++;
  }
done:
  bl_arena_free(scratch);
  return st;
}

/* ---- search ---- */

/* One searched manifest: the entries that a changed delete reaches. */
typedef struct found {
  const run *r;
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
    BL_GO(is_reached(f->r, scratch, &f->open->entries[k], &reached, err));
    if (!reached) continue;
    BL_GO(bl_grow(ctx, &f->hits, &f->cap, f->n, sizeof *f->hits, err));
    f->hits[f->n++] = k;
  }
done:
  bl_arena_free(scratch);
  return st;
}

/* at: of the manifest in the newer list. */
static bl_status take_found(run *r, found *f, size_t at, bl_error *err) {
  slot *x = &r->s[BL_NEWER].slots[at];
  r->n_live += f->n_live;
  for (size_t k = 0; k < f->n; k++) {
    BL_TRY(add_candidate(r, NULL, NULL, x->common - 1, f->hits[k], err));
    r->items[r->n - 1].common = true;
    for (int s = 0; s < 2; s++) bl_reach_found(r->reach, f->open->entries[f->hits[k]].file.path, s);
  }
  if (f->n) return BL_OK;
  x->open->busy = false;
  x->open = NULL;
  return BL_OK;
}

static bl_status search_lot(run *r, request_list *q, size_t from, size_t n, bl_error *err) {
  bl_status st;
  found *lot = bl_calloc(r->ctx, n, sizeof *lot);
  if (!lot) return bl_nomem(err);
  BL_GO(open_requested(r, q, from, n, bl_reach_has_equality(r->reach), err));
  for (size_t i = 0; i < n; i++) lot[i] = (found){.r = r, .open = q->items[from + i].out};
  BL_GO(bl_parallel(r->ctx, n, search_one, lot, err));
  for (size_t i = 0; i < n; i++) BL_GO(take_found(r, &lot[i], q->at[from + i], err));
  bl_manifest_cache_trim(r->d->cache);
done:
  for (size_t i = 0; i < n; i++) bl_free(r->ctx, lot[i].hits);
  bl_free(r->ctx, lot);
  return st;
}

static bool is_common_data(const run *r, size_t i) {
  const half *x = &r->s[BL_NEWER];
  return x->slots[i].common && x->list[i].content == BL_MANIFEST_DATA && bl_manifest_may_live(&x->list[i]);
}

/* Every manifest that a delete without name may reach; then lots of those that may hold a named file, until all are
 * found. The lots do not hang on the number of threads: two runs open the same. */
static bl_status search_common(run *r, bl_error *err) {
  const half *x = &r->s[BL_NEWER];
  request_list q;
  bl_status st = BL_OK;
  size_t most = CHUNK_FIRST, from = 0;
  if (!any_changed(r)) return BL_OK;
  BL_GO(requests_init(r, &q, err));
  for (size_t i = 0; i < x->n; i++)
    if (is_common_data(r, i) && bl_reach_wide(r->reach, &x->list[i])) request(r, &q, BL_NEWER, i);
  for (; from < q.n; from += CHUNK_MOST) BL_GO(search_lot(r, &q, from, from + CHUNK_MOST < q.n ? CHUNK_MOST : q.n - from, err));
  for (size_t i = 0; i < x->n && bl_reach_missing(r->reach);) {
    from = q.n;
    for (; i < x->n && q.n - from < most; i++)
      if (is_common_data(r, i) && !x->slots[i].opened && bl_reach_named(r->reach, &x->list[i])) request(r, &q, BL_NEWER, i);
    BL_GO(search_lot(r, &q, from, q.n - from, err));
    if (most < CHUNK_MOST) most *= 2;
  }
done:
  requests_dispose(r, &q);
  return st;
}

/* The entries of kept files of common manifests, as both sides see them. */
static bl_status resolve_common(run *r, bool metrics, bl_error *err) {
  request_list q;
  bl_status st;
  size_t *at = NULL; /* of a manifest's request for the older side, + 1; that for the newer follows */
  BL_GO(requests_init(r, &q, err));
  at = bl_calloc(r->ctx, r->s[BL_OLDER].n, sizeof *at);
  if (!at) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < r->n; i++) {
    size_t m = r->items[i].manifest;
    if (!r->items[i].common || at[m]) continue;
    request(r, &q, BL_OLDER, m);
    at[m] = q.n;
    request(r, &q, BL_NEWER, r->s[BL_OLDER].slots[m].common - 1);
  }
  BL_GO(bl_manifest_cache_open(r->d->cache, q.items, q.n, metrics, err));
  for (size_t i = 0; i < r->n; i++) {
    candidate *c = &r->items[i];
    if (!c->common) continue;
    for (int s = 0; s < 2; s++) c->entry[s] = &q.items[at[c->manifest] - 1 + (size_t)s].out->entries[c->at];
  }
done:
  requests_dispose(r, &q);
  bl_free(r->ctx, at);
  return st;
}

/* ---- cover ---- */

static bl_status open_common_deletes(run *r, bl_error *err) {
  const half *x = &r->s[BL_NEWER];
  request_list q;
  bl_status st;
  BL_GO(requests_init(r, &q, err));
  for (size_t i = 0; i < r->n; i++)
    BL_GO(bl_cover_add(r->cover, r->items[i].entry[r->items[i].entry[BL_OLDER] ? BL_OLDER : BL_NEWER], err));
  for (size_t i = 0; i < x->n; i++)
    if (x->slots[i].common && x->list[i].content == BL_MANIFEST_DELETES && bl_manifest_may_live(&x->list[i]) &&
        bl_cover_may_meet(r->cover, &x->list[i]))
      request(r, &q, BL_NEWER, i);
  BL_GO(open_requested(r, &q, 0, q.n, true, err));
  for (size_t i = 0; i < q.n; i++) {
    const bl_opened *o = q.items[i].out;
    for (size_t k = 0; k < o->n; k++)
      for (int s = 0; s < 2 && o->entries[k].status != BL_DELETED; s++) BL_GO(index_delete(r, s, &o->entries[k], err));
  }
done:
  requests_dispose(r, &q);
  return st;
}

/* ---- fill ---- */

typedef struct filling {
  run *r;
  bl_arena **arenas; /* one a lot */
} filling;

static bl_status fill_lot(void *user, size_t lot, bl_error *err) {
  filling *f = user;
  size_t end = (lot + 1) * FILL_LOT < f->r->n ? (lot + 1) * FILL_LOT : f->r->n;
  for (size_t i = lot * FILL_LOT; i < end; i++) {
    candidate *c = &f->r->items[i];
    for (int s = 0; s < 2; s++)
      if (c->entry[s])
        BL_TRY(bl_delete_index_for(f->r->s[s].all, f->arenas[lot], c->entry[s], &c->deletes[s], err));
  }
  return BL_OK;
}

/* A single lot goes to the differ's own arena, so that many small diffs stay small. */
static bl_status fill_deletes(run *r, bl_error *err) {
  bl_differ *d = r->d;
  size_t n_lots = (r->n + FILL_LOT - 1) / FILL_LOT, first = d->n_lots;
  filling f = {.r = r, .arenas = &d->arena};
  for (int s = 0; s < 2; s++) BL_TRY(bl_delete_index_seal(r->s[s].all, err));
  if (!bl_delete_index_count(r->s[0].all) && !bl_delete_index_count(r->s[1].all)) return BL_OK;
  for (size_t i = 0; n_lots > 1 && i < n_lots; i++) {
    BL_TRY(bl_grow(d->ctx, &d->lots, &d->cap_lots, d->n_lots, sizeof(bl_arena *), err));
    BL_TRY(bl_arena_new(d->ctx, &d->lots[d->n_lots], err));
    d->n_lots++;
  }
  if (n_lots > 1) f.arenas = d->lots + first;
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
  const candidate *x = a, *y = b;
  bool xa = !x->entry[BL_OLDER], ya = !y->entry[BL_OLDER];
  if (xa != ya) return xa ? 1 : -1;
  if (x->manifest != y->manifest) return x->manifest < y->manifest ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Leaves the touched ones, in order. */
static void keep_touched(run *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n; i++) {
    const candidate *c = &r->items[i];
    if (c->entry[0] && c->entry[1] && same_deletes(&c->deletes[0], &c->deletes[1])) continue;
    r->items[n++] = *c;
  }
  r->n = n;
  if (n > 1) qsort(r->items, n, sizeof *r->items, by_order);
}

/* ---- give ---- */

typedef bl_status (*visit_entry)(void *user, const bl_manifest_entry **e, bl_error *err);

static bl_status each_delete(bl_file_deletes *d, visit_entry visit, void *user, bl_error *err) {
  if (d->vector) BL_TRY(visit(user, &d->vector, err));
  for (size_t i = 0; i < d->n_position; i++) BL_TRY(visit(user, &d->position[i], err));
  for (size_t i = 0; i < d->n_equality; i++) BL_TRY(visit(user, &d->equality[i], err));
  return BL_OK;
}

static bl_status each_entry(run *r, visit_entry visit, void *user, bl_error *err) {
  for (size_t i = 0; i < r->n; i++)
    for (int s = 0; s < 2; s++) {
      candidate *c = &r->items[i];
      if (c->entry[s]) BL_TRY(visit(user, &c->entry[s], err));
      BL_TRY(each_delete(&c->deletes[s], visit, user, err));
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

static bl_status give_entries(run *r, bl_error *err) {
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

/* ---- the result ---- */

static void count_manifests(const run *r, bl_plan_counts *c) {
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < r->s[s].n; i++) {
      const slot *x = &r->s[s].slots[i];
      if (s == BL_OLDER && x->common) continue;
      bool data = r->s[s].list[i].content == BL_MANIFEST_DATA;
      size_t *opened = data ? &c->manifests_opened : &c->delete_manifests_opened;
      size_t *skipped = data ? &c->manifests_skipped : &c->delete_manifests_skipped;
      ++*(x->opened ? opened : skipped);
    }
}

static bl_status count_delete(void *user, const bl_manifest_entry **e, bl_error *err) {
  bl_imap *seen = user;
  return bl_imap_put(seen, (int64_t)(intptr_t)*e, 0, NULL) ? BL_OK : bl_nomem(err);
}

static bl_status count_deletes(run *r, bl_plan_counts *c, bl_error *err) {
  bl_imap *seen;
  bl_status st = BL_OK;
  BL_TRY(bl_imap_new(r->ctx, &seen, err));
  for (size_t i = 0; i < r->n; i++)
    for (int s = 0; s < 2; s++) BL_GO(each_delete(&r->items[i].deletes[s], count_delete, seen, err));
  c->delete_files = bl_imap_count(seen);
done:
  bl_imap_free(seen);
  return st;
}

static bl_status make_result(run *r, bl_diff *out, bl_error *err) {
  bl_touched *items = bl_arena_alloc(r->d->arena, r->n, sizeof *items);
  if (!items) return bl_nomem(err);
  for (size_t i = 0; i < r->n; i++) {
    const candidate *c = &r->items[i];
    const bl_data_file *f = &(c->entry[0] ? c->entry[0] : c->entry[1])->file;
    items[i] = (bl_touched){c->entry[0], c->entry[1], c->deletes[0], c->deletes[1]};
    out->counts.rows += f->record_count;
    out->counts.bytes += f->file_size;
  }
  out->items = items;
  out->n = out->counts.files = r->n;
  out->counts.files_skipped = r->n_live - r->n;
  out->ids_differ = r->ids_differ;
  count_manifests(r, &out->counts);
  return count_deletes(r, &out->counts, err);
}

/* C8: only a `replace` that follows `from` at once promises anything about it. */
static void prove_replace(const bl_snapshot *from, const bl_snapshot *to, bl_diff *out) {
  if (!from || !to->has_parent || to->parent_id != from->id) return;
  if (!bl_str_is(bl_snapshot_operation(to), "replace")) return;
  bl_proof proof = bl_replace_proof(out->items, out->n);
  out->metadata_proves_replace = proof == BL_PROOF_YES;
  out->may_prove_replace = proof == BL_PROOF_FOOTERS;
}

static void run_dispose(run *r) {
  for (int s = 0; s < 2; s++) {
    bl_free(r->ctx, r->s[s].slots);
    bl_live_set_dispose(&r->s[s].data);
    bl_live_set_dispose(&r->s[s].deletes);
    bl_delete_index_free(r->s[s].changed);
    bl_delete_index_free(r->s[s].all);
  }
  bl_reach_free(r->reach);
  bl_cover_free(r->cover);
  bl_free(r->ctx, r->items);
  bl_manifest_cache_rest(r->d->cache);
}

static bl_status find_touched(run *r, bl_error *err) {
  BL_TRY(open_differing(r, err));
  BL_TRY(collect_changed(r, err));
  BL_TRY(compare_opened(r, err));
  BL_TRY(search_common(r, err));
  BL_TRY(resolve_common(r, bl_reach_has_equality(r->reach), err));
  BL_TRY(open_common_deletes(r, err));
  if (r->equality && !bl_reach_has_equality(r->reach)) BL_TRY(resolve_common(r, true, err));
  BL_TRY(fill_deletes(r, err));
  keep_touched(r);
  return give_entries(r, err);
}

bl_status bl_differ_run(bl_differ *d, const bl_snapshot *from, const bl_snapshot *to, bl_diff *out, bl_error *err) {
  run r = {.d = d, .ctx = d->ctx};
  bl_status st;
  *out = (bl_diff){0};
  BL_GO(bl_reach_new(d->ctx, d->t->metadata, &d->specs, &r.reach, err));
  BL_GO(bl_cover_new(d->ctx, &d->specs, &r.cover, err));
  BL_GO(read_lists(&r, from, to, err));
  BL_GO(find_touched(&r, err));
  BL_GO(make_result(&r, out, err));
  prove_replace(from, to, out);
done:
  run_dispose(&r);
  return st;
}
