/* replace_proof.c: see replace_proof.h.
 *
 *  1. Rows are counted where metadata knows how many are live: record_count less the vector's cardinality. Position
 *     delete files may name a row twice, equality deletes name none: with either nothing can be told.
 *  2. As many ids are stored in the added files as there were removed rows with an id; as many sequence numbers too.
 *  3. The bounds of what is stored lie inside those of the removed rows, which are arithmetic or stored ones.
 * An id is there once, and one that is above every id of before is new: so equal numbers of ids are the same ids. */
#include "changes/replace_proof.h"

enum { LINEAGE = 2 };
static const int32_t lineage_ids[LINEAGE] = {BL_ID_ROW_ID, BL_ID_LAST_UPDATED};

typedef struct bounds {
  bool any;
  int64_t low, high;
} bounds;

/* One side of the exchange. */
typedef struct side {
  int64_t live, with_id[LINEAGE];
  bounds bounds[LINEAGE];
  bool unknown; /* metrics are missing: with_id and bounds are too low */
} side;

static void widen(bounds *b, int64_t low, int64_t high) {
  if (!b->any || low < b->low) b->low = low;
  if (!b->any || high > b->high) b->high = high;
  b->any = true;
}

static bool inside(const bounds *a, const bounds *b) {
  return !a->any || (b->any && a->low >= b->low && a->high <= b->high);
}

/* Invariant 1. */
static bool count_live(const bl_manifest_entry *e, const bl_file_deletes *d, int64_t *out) {
  *out = e->file.record_count;
  if (d->n_position || d->n_equality) return false;
  if (d->vector) *out -= d->vector->file.record_count;
  return *out >= 0;
}

/* The bounds of what a removed file's rows have: stored where metrics tell, else arithmetic. */
static void removed_bounds(bl_manifest_entry *e, int column, bounds *b) {
  const bl_field field = {.id = lineage_ids[column], .type = {.kind = BL_LONG}};
  bl_stats s;
  if (bl_meta_stats(e, &field, &s) && s.has_lower && s.has_upper) widen(b, s.lower.u.i, s.upper.u.i);
  else if (column == 0) widen(b, e->file.first_row_id, e->file.first_row_id + e->file.record_count - 1);
  else widen(b, e->sequence_number, e->sequence_number);
}

static bool add_removed(side *s, const bl_touched *t) {
  int64_t live;
  if (!count_live(t->old_entry, &t->old_deletes, &live) || !bl_add64(s->live, live, &s->live)) return false;
  if (live == 0 || t->old_entry->file.first_row_id == BL_NONE) return true;
  bl_manifest_entry e = *t->old_entry;
  for (int c = 0; c < LINEAGE; c++) {
    s->with_id[c] += live;
    removed_bounds(&e, c, &s->bounds[c]);
  }
  return true;
}

/* One lineage column of an added file, by its metrics. */
static bool add_stored(side *s, const bl_data_file *f, int column, int64_t live) {
  const bl_column_metrics *m = bl_data_file_metrics(f, lineage_ids[column]);
  const bl_type type = {.kind = BL_LONG};
  bl_value low, high;
  if (!m || m->nulls == BL_NONE) {
    s->unknown = true;
    return true;
  }
  if (m->nulls < 0 || m->nulls > f->record_count) return false;
  if (m->values != BL_NONE && m->values != f->record_count) return false;
  if (live != f->record_count && m->nulls != 0 && m->nulls != f->record_count) return false; /* which ones live? */
  if (m->nulls == f->record_count) return true;
  s->with_id[column] += live < f->record_count ? live : f->record_count - m->nulls;
  if (!m->lower.p || !m->upper.p || !bl_value_from_bytes(&type, m->lower, &low) ||
      !bl_value_from_bytes(&type, m->upper, &high))
    s->unknown = true;
  else widen(&s->bounds[column], low.u.i, high.u.i);
  return true;
}

static bool add_added(side *s, const bl_touched *t) {
  const bl_data_file *f = &t->new_entry->file;
  int64_t live;
  if (!count_live(t->new_entry, &t->new_deletes, &live) || !bl_add64(s->live, live, &s->live)) return false;
  if (f->first_row_id == BL_NONE) return true; /* whatever it stores, its rows have no id */
  for (int c = 0; live > 0 && c < LINEAGE; c++)
    if (!add_stored(s, f, c, live)) return false;
  return true;
}

/* Invariants 2 and 3. What is unknown may only be missing, never be too much. */
static bl_proof weigh(const side *removed, const side *added) {
  if (removed->live != added->live) return BL_PROOF_NO;
  for (int c = 0; c < LINEAGE; c++) {
    if (added->with_id[c] > removed->with_id[c]) return BL_PROOF_NO;
    if (added->with_id[c] < removed->with_id[c] && !added->unknown) return BL_PROOF_NO;
    if (!inside(&added->bounds[c], &removed->bounds[c])) return BL_PROOF_NO;
  }
  return added->unknown && removed->with_id[0] > 0 ? BL_PROOF_FOOTERS : BL_PROOF_YES;
}

/* Both sides added up; false where metadata cannot tell. */
static bool add_up(const bl_touched *items, size_t n, side *removed, side *added) {
  for (size_t i = 0; i < n; i++) {
    const bl_touched *t = &items[i];
    if (t->old_entry && t->new_entry) return false;
    if (t->old_entry ? !add_removed(removed, t) : !add_added(added, t)) return false;
  }
  return true;
}

bl_proof bl_replace_proof(const bl_touched *items, size_t n) {
  side removed = {0}, added = {0};
  return add_up(items, n, &removed, &added) ? weigh(&removed, &added) : BL_PROOF_NO;
}

int64_t bl_ids_gone(const bl_touched *items, size_t n) {
  side removed = {0}, added = {0};
  if (!add_up(items, n, &removed, &added) || added.unknown || removed.with_id[0] != removed.live) return BL_NONE;
  if (added.with_id[0] > removed.with_id[0] || !inside(&added.bounds[0], &removed.bounds[0])) return BL_NONE;
  return removed.with_id[0] - added.with_id[0];
}
