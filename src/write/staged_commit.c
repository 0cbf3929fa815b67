/* staged_commit.c: changes that were staged by several processes, committed as one. */
#include "write/commit.h"

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
  if (st == BL_OK && n) st = bl_commit_change(t, all[0], o, r, err);
  for (size_t i = 0; all && i < n; i++) bl_staged_free(all[i]);
  bl_free(t->ctx, all);
  return st;
}
