/* lineage.c: first_row_id by inheritance and assignment (spec: "First Row ID Inheritance", "First Row ID Assignment").
 *  L1 Every id that is given out, and the id after a file's last row, fits int64.
 *  L2 Values are copied at the moment of assignment: no entry shares the counter. */
#include "model/lineage.h"

static bl_status not_negative(const bl_manifest_file *m, const bl_manifest_entry *e, const char *what, int64_t v,
                              bl_error *err) {
  if (v >= 0) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "manifest %.*s: %.*s: %s is negative (%lld)", BL_STR_ARG(m->path),
                 BL_STR_ARG(e->file.path), what, (long long)v);
}

static bl_status overflow(const bl_manifest_file *m, bl_str file, bl_error *err) {
  return bl_fail(err, BL_DAMAGED, "manifest %.*s: %.*s: first_row_id plus rows is too large for a long",
                 BL_STR_ARG(m->path), BL_STR_ARG(file));
}

/* An id that the entry states itself: checked, not counted. */
static bl_status keep_stored(const bl_manifest_file *m, bl_manifest_entry *e, bl_error *err) {
  int64_t end;
  BL_TRY(not_negative(m, e, "first_row_id", e->stored_first_row_id, err));
  if (!bl_add64(e->stored_first_row_id, e->file.record_count, &end)) return overflow(m, e->file.path, err);
  e->file.first_row_id = e->stored_first_row_id;
  return BL_OK;
}

bl_status bl_lineage_inherit(const bl_manifest_file *m, bl_manifest_entry *entries, size_t n, bl_error *err) {
  bool assigned = m->content == BL_MANIFEST_DATA && m->first_row_id != BL_NONE;
  int64_t next = assigned ? m->first_row_id : 0;
  if (next < 0)
    return bl_fail(err, BL_DAMAGED, "manifest %.*s: first_row_id is negative (%lld)", BL_STR_ARG(m->path),
                   (long long)next);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *e = &entries[i];
    e->file.first_row_id = BL_NONE;
    BL_TRY(not_negative(m, e, "record_count", e->file.record_count, err));
    if (!assigned) continue;
    if (e->stored_first_row_id != BL_NONE) {
      BL_TRY(keep_stored(m, e, err));
    } else if (e->status != BL_DELETED) {
      e->file.first_row_id = next;
      if (!bl_add64(next, e->file.record_count, &next)) return overflow(m, e->file.path, err);
    }
  }
  return BL_OK;
}

bl_status bl_lineage_assign(bl_manifest_file *list, const int64_t *rows, size_t n, int64_t next_row_id,
                            int64_t *next_out, bl_error *err) {
  int64_t next = next_row_id;
  if (next < 0) return bl_fail(err, BL_DAMAGED, "next-row-id is negative (%lld)", (long long)next);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_file *m = &list[i];
    if (m->content != BL_MANIFEST_DATA || m->first_row_id != BL_NONE) continue;
    if (rows[i] < 0)
      return bl_fail(err, BL_DAMAGED, "manifest %.*s: the number of rows is negative (%lld)", BL_STR_ARG(m->path),
                     (long long)rows[i]);
    m->first_row_id = next;
    if (!bl_add64(next, rows[i], &next))
      return bl_fail(err, BL_DAMAGED, "manifest %.*s: first_row_id plus rows is too large for a long",
                     BL_STR_ARG(m->path));
  }
  *next_out = next;
  return BL_OK;
}
