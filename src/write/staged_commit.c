/* staged_commit.c: changes that were staged by several processes, committed as one.
 *
 * The ids of their documents are kept in the snapshot (bergline.staged-ids). What a branch holds is not committed to it
 * again; of several that are committed together it may hold all or none. */
#include "write/attempt.h"
#include "write/commit.h"

/* ---- once ---- */

/* Count those of `wanted` (id -> 1 where it was found before) that the snapshot holds. */
static size_t find_ids(const bl_snapshot *s, bl_map *wanted) {
  size_t held = 0;
  for (bl_str ids = bl_pairs_get(&s->summary, BL_STAGED_IDS); ids.n;) {
    size_t *found = bl_map_get(wanted, bl_staged_next_id(&ids));
    if (!found || *found) continue;
    *found = 1;
    held++;
  }
  return held;
}

static size_t find_held(const bl_attempt *at, const char *wap_id, bl_map *wanted) {
  const bl_metadata *md = at->base->metadata;
  const bl_snapshot *s = at->parent;
  size_t held = 0;
  for (size_t steps = 0; s && steps < md->n_snapshots; steps++, s = bl_metadata_parent(md, s))
    held += find_ids(s, wanted);
  for (size_t i = 0; wap_id && i < md->n_snapshots; i++)
    if (bl_pairs_is(&md->snapshots[i].summary, "wap.id", bl_str_of(wap_id)))
      held += find_ids(&md->snapshots[i], wanted);
  return held;
}

bl_status bl_staged_is_held(const bl_attempt *at, const char *wap_id, bool *yes, bl_error *err) {
  const bl_staged *s = at->c->s;
  bl_map *wanted = NULL;
  bl_status st;
  *yes = false;
  if (!s->n_ids) return BL_OK;
  BL_GO(bl_map_new(s->ctx, &wanted, err));
  for (size_t i = 0; i < s->n_ids; i++)
    if (!bl_map_put(wanted, s->ids[i], 0, NULL)) BL_GO(bl_nomem(err));
  size_t held = find_held(at, wap_id, wanted);
  *yes = held == s->n_ids;
  if (held && !*yes)
    st = bl_fail(err, BL_CONFLICT,
                 "staged changes: %zu of %zu are in %.*s of %s already: the others are committed alone", held, s->n_ids,
                 BL_STR_ARG(at->c->ref), at->base->name);
done:
  bl_map_free(wanted);
  return st;
}

static bl_status note_ids(bl_staged *s, bl_error *err) {
  bl_buf b;
  bl_status st = BL_OK;
  bl_buf_init(&b, s->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < s->n_ids && st == BL_OK; i++) {
    for (size_t k = 0; k < i && st == BL_OK; k++)
      if (bl_str_eq(s->ids[i], s->ids[k]))
        st = bl_fail(err, BL_USAGE, "staged changes: one is given twice: %.*s", BL_STR_ARG(s->ids[i]));
    bl_buf_printf(&b, "%s%.*s", i ? "," : "", BL_STR_ARG(s->ids[i]));
  }
  if (st == BL_OK) st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = bl_staged_note(s, BL_STAGED_IDS, (bl_str){(const char *)b.p, b.n}, err);
  bl_buf_free(&b);
  return st;
}

/* ---- as one ---- */

/* Vectors move over; everything else is copied. */
static bl_status absorb_files(bl_staged *into, bl_staged *from, bl_error *err) {
  for (size_t i = 0; i < from->n_data; i++) BL_TRY(bl_staged_add_data(into, &from->data[i], err));
  for (size_t i = 0; i < from->n_removed; i++) BL_TRY(bl_staged_remove(into, from->removed[i], err));
  for (size_t i = 0; i < from->n_vectors; i++) {
    bl_staged_vector *v = &from->vectors[i];
    bl_posset *added = v->added, *moved = v->moved;
    v->added = v->moved = NULL;
    BL_TRY(bl_staged_vector_add(into, v->data, added, moved, err));
  }
  for (size_t i = 0; i < from->n_files; i++) BL_TRY(bl_staged_file_written(into, from->files[i], err));
  return BL_OK;
}

/* A key that both have keeps its first value. */
static bl_status absorb_summary(bl_staged *into, const bl_staged *from, bl_error *err) {
  for (size_t i = 0; i < from->summary.n; i++)
    if (!bl_pairs_get(&into->summary, from->summary.items[i].key.p).p)
      BL_TRY(bl_staged_note(into, from->summary.items[i].key.p, from->summary.items[i].value, err));
  return BL_OK;
}

static bool rests_on_rows(const bl_staged *s) {
  return s->reads_rows || s->n_removed || s->n_vectors;
}

static bl_status absorb(bl_staged *into, bl_staged *from, bl_error *err) {
  bool both = rests_on_rows(into) && rests_on_rows(from);
  if (into->data_sequence || from->data_sequence)
    return bl_fail(err, BL_UNSUPPORTED, "staged changes that keep sequence numbers are committed one by one");
  if (into->replaces_partitions != from->replaces_partitions)
    return bl_fail(err, BL_USAGE, "staged changes: some replace partitions, and some do not");
  if (both && into->base_snapshot_id != from->base_snapshot_id)
    return bl_fail(err, BL_USAGE, "staged changes rest on different snapshots: %lld and %lld",
                   (long long)into->base_snapshot_id, (long long)from->base_snapshot_id);
  if (rests_on_rows(from)) {
    into->base_snapshot_id = from->base_snapshot_id;
    into->conflict_filter = both ? NULL : from->conflict_filter; /* either's rows: all */
    into->conflict_schema = both ? NULL : from->conflict_schema;
    if (from->isolation == BL_SERIALIZABLE) into->isolation = BL_SERIALIZABLE;
    into->reads_rows = into->reads_rows || from->reads_rows;
  }
  if (!bl_str_eq(into->operation, from->operation)) into->operation = BL_STR("overwrite");
  BL_TRY(absorb_files(into, from, err));
  for (size_t i = 0; i < from->n_ids; i++) BL_TRY(bl_staged_add_ids(into, from->ids[i], err));
  return absorb_summary(into, from, err);
}

bl_status bl_commit_staged(bl_table *t, const char *const *descriptors, size_t n, const bl_write_options *o,
                           bl_write_result *r, bl_error *err) {
  bl_write_result unused;
  bl_staged **all = bl_calloc(t->ctx, n + 1, sizeof *all);
  bl_status st = all ? BL_OK : bl_nomem(err);
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  for (size_t i = 0; i < n && st == BL_OK; i++)
    st = bl_staged_from_json(t, descriptors[i], strlen(descriptors[i]), &all[i], err);
  for (size_t i = 1; i < n && st == BL_OK; i++) st = absorb(all[0], all[i], err);
  if (st == BL_OK && n) st = note_ids(all[0], err);
  if (st == BL_OK && n) st = bl_commit_change(t, all[0], o, r, err);
  for (size_t i = 0; all && i < n; i++) bl_staged_free(all[i]);
  bl_free(t->ctx, all);
  return st;
}
