/* diff_open.c: the first steps of a diff: which manifests differ, what is live in them, which deletes changed. */
#include "base/map.h"
#include "changes/diff_run.h"

static bool different_ids(int64_t a, int64_t b) {
  return a != BL_NONE && b != BL_NONE && a != b;
}

bl_status bl_diff_add_candidate(bl_diff_run *r, const bl_candidate *c, bl_error *err) {
  BL_TRY(bl_grow(r->ctx, &r->items, &r->cap, r->n, sizeof *r->items, err));
  r->items[r->n++] = *c;
  return BL_OK;
}

/* ---- pair ---- */

/* Would the entries of both be the same, ids aside? */
static bool is_common(const bl_manifest_file *a, const bl_manifest_file *b) {
  return a->content == b->content && a->spec_id == b->spec_id && a->sequence_number == b->sequence_number &&
         bl_str_eq(a->path, b->path);
}

static bl_status pair_manifests(bl_diff_run *r, bl_error *err) {
  bl_diff_half *old = &r->s[BL_OLDER], *new = &r->s[BL_NEWER];
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
    r->ids_differ |=
        bl_manifest_may_live(&old->list[i]) && different_ids(old->list[i].first_row_id, new->list[*at].first_row_id);
  }
done:
  bl_map_free(by_path);
  return st;
}

bl_status bl_diff_pair(bl_diff_run *r, const bl_snapshot *from, const bl_snapshot *to, bl_error *err) {
  const bl_snapshot *of[2] = {from, to};
  for (int s = 0; s < 2; s++) {
    bl_diff_half *x = &r->s[s];
    BL_TRY(bl_manifest_cache_list(r->d->cache, of[s], &x->list, &x->n, err));
    x->slots = bl_calloc(r->ctx, x->n, sizeof *x->slots);
    if (!x->slots) return bl_nomem(err);
  }
  return pair_manifests(r, err);
}

/* ---- open ---- */

bl_status bl_diff_requests_init(bl_diff_run *r, bl_diff_requests *q, bl_error *err) {
  size_t most = r->s[0].n + r->s[1].n;
  *q = (bl_diff_requests){.items = bl_alloc(r->ctx, most, sizeof *q->items),
                          .at = bl_alloc(r->ctx, most, sizeof *q->at),
                          .side = bl_alloc(r->ctx, most, sizeof *q->side)};
  return q->items && q->at && q->side ? BL_OK : bl_nomem(err);
}

void bl_diff_requests_dispose(bl_diff_run *r, bl_diff_requests *q) {
  bl_free(r->ctx, q->items);
  bl_free(r->ctx, q->at);
  bl_free(r->ctx, q->side);
}

void bl_diff_request(bl_diff_run *r, bl_diff_requests *q, int side, size_t at) {
  q->items[q->n] = (bl_open_request){.m = &r->s[side].list[at]};
  q->at[q->n] = at;
  q->side[q->n++] = side;
}

bl_status bl_diff_open_requests(bl_diff_run *r, bl_diff_requests *q, size_t from, size_t n, bool metrics,
                                bl_error *err) {
  BL_TRY(bl_manifest_cache_open(r->d->cache, q->items + from, n, metrics, err));
  for (size_t i = from; i < from + n; i++) {
    bl_diff_slot *x = &r->s[q->side[i]].slots[q->at[i]];
    x->open = q->items[i].out;
    x->opened = true;
  }
  return BL_OK;
}

static bl_status take_live(bl_diff_run *r, int s, size_t at, bl_error *err) {
  bl_diff_half *x = &r->s[s];
  bl_live_set *set = x->list[at].content == BL_MANIFEST_DATA ? &x->data : &x->deletes;
  return bl_live_set_add(set, x->slots[at].open->entries, x->slots[at].open->n, at, err);
}

bl_status bl_diff_open(bl_diff_run *r, bl_error *err) {
  bl_diff_requests q;
  bl_status st;
  BL_GO(bl_diff_requests_init(r, &q, err));
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < r->s[s].n; i++)
      if (!r->s[s].slots[i].common && bl_manifest_may_live(&r->s[s].list[i])) bl_diff_request(r, &q, s, i);
  BL_GO(bl_diff_open_requests(r, &q, 0, q.n, true, err));
  for (size_t i = 0; i < q.n; i++) BL_GO(take_live(r, q.side[i], q.at[i], err));
  BL_GO(bl_live_set_match(&r->s[0].data, &r->s[1].data, err));
  BL_GO(bl_live_set_match(&r->s[0].deletes, &r->s[1].deletes, err));
done:
  bl_diff_requests_dispose(r, &q);
  return st;
}

/* ---- changed ---- */

bl_status bl_diff_index_delete(bl_diff_run *r, int s, const bl_manifest_entry *e, bl_error *err) {
  r->equality |= e->file.content == BL_FILE_EQUALITY_DELETES;
  return bl_delete_index_add(r->s[s].all, e, err);
}

bl_status bl_diff_changed(bl_diff_run *r, bl_error *err) {
  for (int s = 0; s < 2; s++) {
    bl_diff_half *x = &r->s[s];
    for (size_t i = 0; i < x->deletes.n; i++) {
      const bl_live *l = &x->deletes.items[i];
      BL_TRY(bl_diff_index_delete(r, s, l->entry, err));
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

bool bl_diff_any_changed(const bl_diff_run *r) {
  return bl_delete_index_count(r->s[0].changed) || bl_delete_index_count(r->s[1].changed);
}

static bool has_deletes(const bl_file_deletes *d) {
  return d->vector || d->n_position || d->n_equality;
}

/* Does a changed delete apply to a kept file, on the side where it is live? */
bl_status bl_diff_is_reached(const bl_diff_run *r, bl_arena *scratch, const bl_manifest_entry *e, bool *out,
                             bl_error *err) {
  *out = false;
  for (int s = 0; s < 2 && !*out; s++) {
    bl_file_deletes d;
    BL_TRY(bl_delete_index_for(r->s[s].changed, scratch, e, &d, err));
    *out = has_deletes(&d);
  }
  return BL_OK;
}

/* Removed and added files, and kept ones of the opened manifests that a changed delete reaches. */
bl_status bl_diff_compare(bl_diff_run *r, bl_error *err) {
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
    if (now && bl_diff_any_changed(r)) BL_GO(bl_diff_is_reached(r, scratch, l->entry, &reached, err));
    if (reached)
      BL_GO(bl_diff_add_candidate(r, &(bl_candidate){.entry = {l->entry, now}, .manifest = l->manifest, .at = l->at},
                                  err));
  }
  for (size_t i = 0; i < new->n; i++) {
    const bl_live *l = &new->items[i];
    if (l->twin) continue;
    BL_GO(bl_diff_add_candidate(r, &(bl_candidate){.entry = {NULL, l->entry}, .manifest = l->manifest, .at = l->at},
                                err));
    r->n_live++;
  }
done:
  bl_arena_free(scratch);
  return st;
}
