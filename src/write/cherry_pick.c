/* cherry_pick.c: the change of one snapshot, made again on a branch (W12).
 *
 * 1. Where the snapshot is a child of the branch's head, the branch moves to it: row ids stay.
 * 2. Else its added files are added again, and their rows get new ids (a warning says so). Only appends and dynamic
 *    overwrites are taken: of anything else rows would exist without the deletes that belong to them.
 * 3. A snapshot is picked once: one that is in the branch's history, by its own id, as source-snapshot-id or by its
 *    WAP or batch id (published, or moved to), has been applied already. Every attempt looks.
 * 4. The position of a source goes along where the branch stands where the snapshot stood. Where the branch is behind,
 *    it does not (a warning): apply gives it what lies between. Where it is ahead, events would be there twice. */
#include <stdio.h>

#include "table/manifests.h"
#include "table/refs.h"
#include "write/apply.h"

#define VERB "cherry-pick"

typedef struct picking {
  bl_table *t;
  const bl_write_options *o;
  bl_str ref;
  const bl_snapshot *pick, *head;
  bl_staged *staged;
  bool added_deletes;
} picking;

/* ---- which ---- */

static bl_status find(picking *p, const char *text, bl_error *err) {
  const bl_metadata *md = p->t->metadata;
  const bl_snap_options o = {.ref = p->ref, .time = BL_TIME_BY_ANCESTRY};
  bl_snap snap;
  BL_TRY(bl_branch_head(p->t, p->ref, &p->head, err));
  BL_TRY(bl_snap_resolve(md, bl_str_of(text), &o, &snap, err));
  p->pick = snap.snapshot;
  return p->pick ? BL_OK : bl_fail(err, BL_NOT_FOUND, "the table has no snapshot yet");
}

/* 3. */
bool bl_pick_is_applied(const bl_metadata *md, bl_str ref, const bl_snapshot *pick) {
  char id[32];
  bl_str wap = bl_pairs_get(&pick->summary, "wap.id"), batch = bl_pairs_get(&pick->summary, "bergline.batch-id");
  const bl_ref *r = bl_metadata_ref(md, ref);
  const bl_snapshot *s = r ? bl_metadata_snapshot(md, r->snapshot_id) : NULL;
  snprintf(id, sizeof id, "%lld", (long long)pick->id);
  for (size_t steps = 0; s && steps < md->n_snapshots; steps++) {
    if (s->id == pick->id || bl_pairs_is(&s->summary, "source-snapshot-id", bl_str_of(id))) return true;
    if (bl_pairs_is(&s->summary, "published-wap-id", wap) || bl_pairs_is(&s->summary, "wap.id", wap)) return true;
    if (bl_pairs_is(&s->summary, "bergline.batch-id", batch)) return true;
    s = bl_metadata_parent(md, s);
  }
  return false;
}

/* 1. */
static bool is_next(const picking *p) {
  return p->head ? p->pick->has_parent && p->pick->parent_id == p->head->id : !p->pick->has_parent;
}

/* ---- moving ---- */

static bl_status move_branch(void *user, bl_edit *e, bl_error *err) {
  const picking *p = user;
  const bl_ref *r = bl_metadata_ref(e->base, p->ref);
  int64_t was = p->head ? p->head->id : BL_NONE, is = r ? r->snapshot_id : BL_NONE;
  if (was != is)
    return bl_fail(err, BL_CONFLICT, "another has committed to %.*s: its head is no longer snapshot %lld",
                   BL_STR_ARG(p->ref), (long long)was);
  bl_ref ref = {.name = p->ref, .snapshot_id = p->pick->id, .is_branch = true};
  return bl_edit_set_ref(e, &ref, err);
}

static bl_status move(picking *p, bl_write_result *r, bl_error *err) {
  bl_write_options own = *p->o;
  own.already_applied = &r->already_applied;
  BL_TRY(bl_commit_metadata(p->t, VERB, move_branch, p, &own, err));
  if (r->already_applied) return BL_OK;
  r->committed = !p->o->dry_run;
  r->snapshot_id = p->pick->id;
  r->sequence_number = p->pick->sequence_number;
  return BL_OK;
}

/* ---- adding again ---- */

static bl_status take_entry(picking *p, const bl_manifest_entry *e, bl_error *err) {
  if (e->status == BL_EXISTING || e->snapshot_id != p->pick->id) return BL_OK;
  if (e->file.content != BL_FILE_DATA) {
    p->added_deletes = p->added_deletes || e->status == BL_ADDED;
    return BL_OK;
  }
  return e->status == BL_ADDED ? bl_staged_add_data(p->staged, &e->file, err) : bl_staged_remove(p->staged, e, err);
}

static bl_status take_files(picking *p, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_file *ms;
  size_t n, k;
  bl_manifest_entry *es;
  bl_status st;
  BL_GO(bl_arena_new(p->t->ctx, &a, err));
  BL_GO(bl_table_manifests(p->t, p->pick, a, &ms, &n, err));
  for (size_t i = 0; i < n; i++) {
    if (ms[i].added_snapshot_id != BL_NONE && ms[i].added_snapshot_id != p->pick->id) continue;
    BL_GO(bl_table_manifest_entries(p->t, &ms[i], true, a, &es, &k, err));
    for (size_t j = 0; j < k; j++) BL_GO(take_entry(p, &es[j], err));
  }
done:
  bl_arena_free(a);
  return st;
}

static bl_status refuse(const picking *p, bl_error *err) {
  return bl_fail(
      err, BL_USAGE,
      "cannot cherry-pick snapshot %lld: it is neither an append, a dynamic overwrite, nor the next of %.*s: "
      "rows without their deletes would exist twice",
      (long long)p->pick->id, BL_STR_ARG(p->ref));
}

/* 4. */
static bl_status note_position(picking *p, bl_error *err) {
  const bl_metadata *md = p->t->metadata;
  bl_str picked = bl_pairs_get(&p->pick->summary, BL_SOURCE_POSITION);
  bl_str before = bl_recorded_position(md, bl_metadata_parent(md, p->pick)), now = bl_recorded_position(md, p->head);
  bl_str moved;
  bl_order branch;
  if (!picked.p) return BL_OK;
  BL_TRY(bl_staged_on_position(p->staged, now, err));
  if (bl_str_eq(before, now)) return bl_staged_note(p->staged, BL_SOURCE_POSITION, picked, err);
  BL_TRY(bl_positions_rebase(p->staged->arena, before, picked, now, &branch, &moved, err));
  if (branch == BL_SAME) return bl_staged_note(p->staged, BL_SOURCE_POSITION, moved, err);
  if (branch == BL_AFTER)
    return bl_fail(err, BL_CONFLICT,
                   "cannot cherry-pick snapshot %lld: events of its source have been applied to %.*s since it was "
                   "made: rows would exist twice",
                   (long long)p->pick->id, BL_STR_ARG(p->ref));
  bl_warn(p->t->ctx, "snapshot %lld rests on events that were not applied to %.*s: their position is not taken over",
          (long long)p->pick->id, BL_STR_ARG(p->ref));
  return BL_OK;
}

static bl_status note_source(picking *p, bl_error *err) {
  char id[32];
  const bl_pairs *summary = &p->pick->summary;
  bl_str wap = bl_pairs_get(summary, "wap.id"), batch = bl_pairs_get(summary, "bergline.batch-id");
  bl_str staged = bl_pairs_get(summary, BL_STAGED_IDS);
  if (batch.p && p->o->batch_id && !bl_str_is(batch, p->o->batch_id))
    return bl_fail(err, BL_USAGE, "cannot cherry-pick snapshot %lld as batch %s: it is batch %.*s",
                   (long long)p->pick->id, p->o->batch_id, BL_STR_ARG(batch));
  snprintf(id, sizeof id, "%lld", (long long)p->pick->id);
  p->staged->picked = p->pick->id;
  p->staged->even_if_empty = true; /* it keeps the ids */
  BL_TRY(bl_staged_note(p->staged, "source-snapshot-id", bl_str_of(id), err));
  if (staged.p) BL_TRY(bl_staged_note(p->staged, BL_STAGED_IDS, staged, err));
  if (staged.p) BL_TRY(bl_staged_add_ids(p->staged, staged, err));
  BL_TRY(note_position(p, err));
  if (batch.p && !p->o->batch_id) BL_TRY(bl_staged_note(p->staged, "bergline.batch-id", batch, err));
  return wap.p ? bl_staged_note(p->staged, "published-wap-id", wap, err) : BL_OK;
}

/* 2. */
static bl_status stage(picking *p, bl_error *err) {
  bl_str replaces = bl_pairs_get(&p->pick->summary, "replace-partitions");
  bool dynamic = replaces.p && bl_str_is_nocase(replaces, "true");
  bl_staged *s = p->staged;
  if (!dynamic && !bl_str_is(bl_snapshot_operation(p->pick), "append")) return refuse(p, err);
  BL_TRY(take_files(p, err));
  if (p->added_deletes || (!dynamic && s->n_removed)) return refuse(p, err);
  s->operation = dynamic ? BL_STR("overwrite") : BL_STR("append");
  if (dynamic) { /* what was replaced must be what is there */
    s->base_snapshot_id = p->pick->has_parent ? p->pick->parent_id : BL_NONE;
    s->reads_rows = s->replaces_partitions = true;
    s->isolation = BL_SERIALIZABLE;
  }
  return note_source(p, err);
}

static bl_status pick_again(picking *p, bl_write_result *r, bl_error *err) {
  BL_TRY(bl_staged_new(p->t->ctx, &p->staged, err));
  bl_status st = stage(p, err);
  if (st == BL_OK) st = bl_commit_change(p->t, p->staged, p->o, r, err);
  if (st == BL_OK && r->committed && p->t->metadata->format_version > 2)
    bl_warn(p->t->ctx, "the rows of snapshot %lld get new row ids on %.*s", (long long)p->pick->id, BL_STR_ARG(p->ref));
  bl_staged_free(p->staged); /* its files are the table's: they stay */
  return st;
}

static bl_status pick(picking *p, const char *snapshot, bl_write_result *r, bl_error *err) {
  BL_TRY(find(p, snapshot, err));
  r->already_applied = bl_pick_is_applied(p->t->metadata, p->ref, p->pick);
  if (r->already_applied) return BL_OK;
  return is_next(p) ? move(p, r, err) : pick_again(p, r, err);
}

bl_status bl_cherry_pick(bl_table *t, const char *snapshot, const bl_write_options *o, bl_write_result *r,
                         bl_error *err) {
  static const bl_write_options defaults = {0};
  bl_write_result unused;
  picking p = {.o = o ? o : &defaults};
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  p.ref = bl_branch_of(p.o);
  BL_TRY(bl_not_staged_check(VERB, p.o, err));
  BL_TRY(bl_branch_base(t, p.o, &p.t, err));
  bl_status st = pick(&p, snapshot, r, err);
  bl_write_base_free(p.t, t);
  return st;
}
