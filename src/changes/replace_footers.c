/* replace_footers.c: C8 from footers, where the manifests' metrics do not tell. */
#include "changes/identity.h"

typedef struct bounds {
  int64_t lo[2], hi[2]; /* _row_id, _last_updated_sequence_number */
  bool any, ids;        /* ids: every file had them */
} bounds;

static const int32_t lineage_ids[2] = {BL_ID_ROW_ID, BL_ID_LAST_UPDATED};

static void widen(bounds *b, int k, int64_t lo, int64_t hi) {
  if (!b->any || lo < b->lo[k]) b->lo[k] = lo;
  if (!b->any || hi > b->hi[k]) b->hi[k] = hi;
}

/* Bounds of one lineage column of a group; false where they are not known. nulls: how many rows inherit. */
static bool group_bounds(const bl_open_file *f, size_t g, int k, int64_t *lo, int64_t *hi, int64_t *nulls) {
  const bl_data_group *group = &f->meta->groups[g];
  int32_t leaf = bl_projection_stored_leaf(f->meta, lineage_ids[k]);
  int64_t first = k == 0 ? f->facts.file->first_row_id + group->first_row : f->facts.data_sequence_number;
  *lo = first;
  *hi = k == 0 ? first + group->rows - 1 : first;
  *nulls = group->rows;
  if (leaf < 0) return true;
  bl_data_stats s;
  bl_value a, b;
  static const bl_type type = {.kind = BL_LONG};
  if (!f->reader->stats || !f->reader->stats(f->reader, g, leaf, &s) || s.nulls < 0) return false;
  *nulls = s.nulls;
  if (s.nulls == group->rows) return true;
  if (!s.lower || !s.upper || !bl_value_from_bytes(&type, (bl_str){s.lower, s.lower_size}, &a) ||
      !bl_value_from_bytes(&type, (bl_str){s.upper, s.upper_size}, &b))
    return false;
  if (s.nulls == 0 || a.u.i < *lo) *lo = a.u.i;
  if (s.nulls == 0 || b.u.i > *hi) *hi = b.u.i;
  return true;
}

/* Take one file's bounds in; stored: both columns must be stored without nulls. *ok false: cannot tell. */
static bl_status add_file(const bl_identity *x, const bl_manifest_entry *e, bool stored, bounds *b, bool *ok,
                          bl_error *err) {
  bl_open_file *f;
  if (e->file.first_row_id == BL_NONE) {
    b->ids = false;
    *ok = !stored;
    return BL_OK;
  }
  BL_TRY(bl_open_file_new(x->env, e, &f, err));
  for (size_t g = 0; *ok && g < f->meta->n_groups; g++) {
    if (f->meta->groups[g].rows == 0) continue;
    for (int k = 0; *ok && k < 2; k++) {
      int64_t lo, hi, nulls;
      *ok = group_bounds(f, g, k, &lo, &hi, &nulls) && !(stored && nulls > 0);
      if (*ok) widen(b, k, lo, hi);
    }
    b->any = true;
  }
  bl_open_file_free(f);
  return BL_OK;
}

bl_status bl_identity_proves_replace(const bl_identity *x, const bl_diff *d, bool *proven, bl_error *err) {
  bounds was = {.ids = true}, is = {.ids = true};
  bool ok = true;
  *proven = false;
  for (size_t i = 0; ok && i < d->n; i++)
    if (d->items[i].old_entry) BL_TRY(add_file(x, d->items[i].old_entry, false, &was, &ok, err));
  if (!ok || !was.ids) return BL_OK; /* rows without ids: nothing that the new files could have kept */
  for (size_t i = 0; ok && i < d->n; i++)
    if (d->items[i].new_entry) BL_TRY(add_file(x, d->items[i].new_entry, true, &is, &ok, err));
  if (!ok) return BL_OK;
  *proven = !is.any || (was.any && is.lo[0] >= was.lo[0] && is.hi[0] <= was.hi[0] && is.lo[1] >= was.lo[1] &&
                        is.hi[1] <= was.hi[1]);
  return BL_OK;
}
