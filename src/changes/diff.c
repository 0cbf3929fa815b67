/* diff.c: see diff.h. The steps of bl_differ_run, in order:
 *
 *   pair      manifests of one path in both lists are common; they are not opened yet
 *   open      all others; their live data files and deletes are matched by place
 *   changed   deletes that are live on one side only
 *   compare   removed and added files, and kept ones of opened manifests that a changed delete reaches
 *   search    common data manifests for further kept files that a changed delete may reach
 *   cover     common delete manifests that can reach a touched file
 *   fill      the deletes of every touched file on both sides; kept files where they agree are dropped
 *   give      the entries of what is left, so that they outlive the manifests
 *
 * A manifest that common lists show with another first_row_id stays common: its places are the same (C5). */
#include "changes/diff.h"

#include "base/map.h"
#include "changes/diff_run.h"
#include "changes/replace_proof.h"

/* ---- life ---- */

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

void bl_differ_note(bl_differ *d, bl_manifest_note note, void *user) {
  d->note = note;
  d->note_user = user;
}

static void memory_free(bl_ctx *ctx, bl_diff_memory *m) {
  if (!m) return;
  for (size_t i = 0; i < m->n; i++) bl_arena_free(m->arenas[i]);
  bl_free(ctx, m->arenas);
  bl_free(ctx, m);
}

void bl_differ_free(bl_differ *d) {
  if (!d) return;
  for (size_t i = 0; i < d->n_diffs; i++) memory_free(d->ctx, d->diffs[i]);
  bl_free(d->ctx, d->diffs);
  bl_given_free(d->given);
  bl_manifest_cache_free(d->cache);
  bl_arena_free(d->arena);
  bl_free(d->ctx, d);
}

static bl_status memory_new(bl_differ *d, bl_diff_memory **out, bl_error *err) {
  BL_TRY(bl_grow(d->ctx, &d->diffs, &d->cap_diffs, d->n_diffs, sizeof(bl_diff_memory *), err));
  bl_diff_memory *m = bl_calloc(d->ctx, 1, sizeof *m);
  if (!m) return bl_nomem(err);
  bl_status st = bl_grow(d->ctx, &m->arenas, &m->cap, 0, sizeof(bl_arena *), err);
  if (st == BL_OK) st = bl_arena_new(d->ctx, &m->arenas[0], err);
  if (st != BL_OK) {
    memory_free(d->ctx, m);
    return st;
  }
  m->n = 1;
  d->diffs[d->n_diffs++] = *out = m;
  return BL_OK;
}

static void memory_release(bl_differ *d, bl_diff_memory *m) {
  for (size_t i = d->n_diffs; m && i-- > 0;) {
    if (d->diffs[i] != m) continue;
    d->diffs[i] = d->diffs[--d->n_diffs];
    memory_free(d->ctx, m);
    return;
  }
}

void bl_diff_release(bl_differ *d, bl_diff *diff) {
  memory_release(d, diff->memory);
  *diff = (bl_diff){0};
}

/* ---- the result ---- */

static const char *why_manifest(const bl_diff_slot *x, int s, bool data) {
  if (!x->opened) return x->common ? "in the lists of both snapshots" : "nothing in it is live";
  if (x->common) return data ? "may hold files that changed deletes reach" : "may hold deletes of touched files";
  return s == BL_OLDER ? "in the list of the older snapshot only" : "in the list of the newer snapshot only";
}

static bl_status count_manifests(const bl_diff_run *r, bl_plan_counts *c, bl_error *err) {
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < r->s[s].n; i++) {
      const bl_diff_slot *x = &r->s[s].slots[i];
      if (s == BL_OLDER && x->common) continue;
      const bl_manifest_file *m = &r->s[s].list[i];
      bool data = m->content == BL_MANIFEST_DATA;
      size_t *opened = data ? &c->manifests_opened : &c->delete_manifests_opened;
      size_t *skipped = data ? &c->manifests_skipped : &c->delete_manifests_skipped;
      ++*(x->opened ? opened : skipped);
      if (r->d->note) BL_TRY(r->d->note(r->d->note_user, m, x->opened, why_manifest(x, s, data), err));
    }
  return BL_OK;
}

static bl_status count_delete(void *user, const bl_manifest_entry **e, bl_error *err) {
  bl_imap *seen = user;
  return bl_imap_put(seen, (int64_t)(intptr_t)*e, 0, NULL) ? BL_OK : bl_nomem(err);
}

static bl_status count_deletes(bl_diff_run *r, bl_plan_counts *c, bl_error *err) {
  bl_imap *seen;
  bl_status st = BL_OK;
  BL_TRY(bl_imap_new(r->ctx, &seen, err));
  for (size_t i = 0; i < r->n; i++)
    for (int s = 0; s < 2; s++) BL_GO(bl_each_delete(&r->items[i].deletes[s], count_delete, seen, err));
  c->delete_files = bl_imap_count(seen);
done:
  bl_imap_free(seen);
  return st;
}

static bl_status make_result(bl_diff_run *r, bl_diff *out, bl_error *err) {
  bl_touched *items = bl_arena_alloc(r->memory->arenas[0], r->n, sizeof *items);
  if (!items) return bl_nomem(err);
  for (size_t i = 0; i < r->n; i++) {
    const bl_candidate *c = &r->items[i];
    const bl_data_file *f = &(c->entry[0] ? c->entry[0] : c->entry[1])->file;
    items[i] = (bl_touched){c->entry[0], c->entry[1], c->deletes[0], c->deletes[1]};
    out->counts.rows += f->record_count;
    out->counts.bytes += f->file_size;
  }
  out->memory = r->memory;
  out->items = items;
  out->n = out->counts.files = r->n;
  out->counts.files_skipped = r->n_live - r->n;
  out->ids_differ = r->ids_differ;
  BL_TRY(count_manifests(r, &out->counts, err));
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

/* ---- a run ---- */

static bl_status run_init(bl_diff_run *r, bl_error *err) {
  BL_TRY(memory_new(r->d, &r->memory, err));
  for (int s = 0; s < 2; s++) {
    r->s[s].data.ctx = r->s[s].deletes.ctx = r->ctx;
    BL_TRY(bl_delete_index_new(r->ctx, r->d->t->metadata, &r->s[s].changed, err));
    BL_TRY(bl_delete_index_new(r->ctx, r->d->t->metadata, &r->s[s].all, err));
  }
  return bl_reach_new(r->ctx, r->d->t->metadata, &r->d->specs, &r->reach, err);
}

static void run_dispose(bl_diff_run *r) {
  for (int s = 0; s < 2; s++) {
    bl_free(r->ctx, r->s[s].slots);
    bl_live_set_dispose(&r->s[s].data);
    bl_live_set_dispose(&r->s[s].deletes);
    bl_delete_index_free(r->s[s].changed);
    bl_delete_index_free(r->s[s].all);
  }
  bl_reach_free(r->reach);
  bl_free(r->ctx, r->items);
  bl_manifest_cache_rest(r->d->cache);
}

static bl_status find_touched(bl_diff_run *r, const bl_snapshot *from, const bl_snapshot *to, bl_error *err) {
  BL_TRY(bl_diff_pair(r, from, to, err));
  BL_TRY(bl_diff_open(r, err));
  BL_TRY(bl_diff_changed(r, err));
  BL_TRY(bl_diff_compare(r, err));
  BL_TRY(bl_diff_search(r, err));
  BL_TRY(bl_diff_cover(r, err));
  BL_TRY(bl_diff_fill(r, err));
  return bl_diff_give(r, err);
}

bl_status bl_differ_run(bl_differ *d, const bl_snapshot *from, const bl_snapshot *to, bl_diff *out, bl_error *err) {
  bl_diff_run r = {.d = d, .ctx = d->ctx};
  bl_status st;
  *out = (bl_diff){0};
  BL_GO(run_init(&r, err));
  BL_GO(find_touched(&r, from, to, err));
  BL_GO(make_result(&r, out, err));
  prove_replace(from, to, out);
done:
  if (st != BL_OK) {
    memory_release(d, r.memory);
    *out = (bl_diff){0};
  }
  run_dispose(&r);
  return st;
}
