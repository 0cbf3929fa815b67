/* inspect_snapshots.c: snapshots, history, refs and the metadata log of a table. */
#include "inspect/inspect.h"
#include "inspect/value_text.h"

/* The ids of the ancestry of main's head, as flags by snapshot number. A cycle ends it: damage is not this report's
 * matter. */
static bl_status mark_current(const bl_inspection *w, bool **out, bl_error *err) {
  const bl_metadata *m = w->m;
  bool *flags = *out = bl_arena_calloc(w->arena, m->n_snapshots + 1, sizeof *flags);
  if (!flags) return bl_nomem(err);
  const bl_snapshot *s = m->has_current ? bl_metadata_snapshot(m, m->current_snapshot_id) : NULL;
  for (; s && !flags[s - m->snapshots]; s = bl_metadata_parent(m, s)) flags[s - m->snapshots] = true;
  return BL_OK;
}

/* ---- snapshots ---- */

static void print_summary(bl_report *r, const bl_snapshot *s) {
  bool first = true;
  bl_buf *b = bl_report_bulk(r);
  bl_buf_byte(b, '{');
  for (size_t i = 0; i < s->summary.n; i++) {
    if (bl_str_is(s->summary.items[i].key, "operation")) continue;
    bl_text_key(b, &first, s->summary.items[i].key);
    bl_print_json_str(b, s->summary.items[i].value);
  }
  bl_buf_byte(b, '}');
}

static void print_refs_of(bl_report *r, const bl_metadata *m, int64_t id) {
  bool first = true;
  bl_buf *b = bl_report_json(r);
  bl_buf_byte(b, '[');
  for (size_t i = 0; i < m->n_refs; i++) {
    if (m->refs[i].snapshot_id != id) continue;
    if (!first) bl_buf_byte(b, ',');
    first = false;
    bl_print_json_str(b, m->refs[i].name);
  }
  bl_buf_byte(b, ']');
}

static void snapshot_cells(bl_report *r, const bl_metadata *m, const bl_snapshot *s, bool current) {
  bl_report_ms(r, s->timestamp_ms);
  bl_report_i64(r, s->id);
  bl_report_i64_if(r, s->has_parent, s->parent_id);
  bl_report_str(r, bl_pairs_get(&s->summary, "operation"));
  bl_report_str(r, s->manifest_list);
  print_summary(r, s);
  bl_report_i64(r, s->sequence_number);
  bl_report_i64_if(r, s->has_first_row_id, s->first_row_id);
  bl_report_i64_if(r, s->has_added_rows, s->added_rows);
  bl_report_i64_if(r, s->has_schema_id, s->schema_id);
  bl_report_bool(r, current);
  print_refs_of(r, m, s->id);
}

bl_status bl_inspect_snapshots(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"committed_at",  "snapshot_id", "parent_id",           "operation",
                                        "manifest_list", "summary",     "sequence_number",     "first_row_id",
                                        "added_rows",    "schema_id",   "is_current_ancestor", "refs"};
  bl_report *r;
  bool *current;
  bl_status st = BL_OK;
  BL_TRY(mark_current(w, &current, err));
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < w->m->n_snapshots && st == BL_OK; i++) {
    snapshot_cells(r, w->m, &w->m->snapshots[i], current[i]);
    st = bl_report_end_row(r, err);
  }
  return bl_inspect_end(r, st, err);
}

/* ---- history ---- */

bl_status bl_inspect_history(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"made_current_at", "snapshot_id", "parent_id", "is_current_ancestor"};
  const bl_metadata *m = w->m;
  bl_report *r;
  bool *current;
  bl_status st = BL_OK;
  BL_TRY(mark_current(w, &current, err));
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < m->n_snapshot_log && st == BL_OK; i++) {
    const bl_snapshot *s = bl_metadata_snapshot(m, m->snapshot_log[i].snapshot_id);
    bl_report_ms(r, m->snapshot_log[i].timestamp_ms);
    bl_report_i64(r, m->snapshot_log[i].snapshot_id);
    bl_report_i64_if(r, s && s->has_parent, s ? s->parent_id : 0);
    bl_report_bool(r, s && current[s - m->snapshots]);
    st = bl_report_end_row(r, err);
  }
  return bl_inspect_end(r, st, err);
}

/* ---- refs ---- */

bl_status bl_inspect_refs(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {
      "name", "type", "snapshot_id", "max_reference_age_in_ms", "min_snapshots_to_keep", "max_snapshot_age_in_ms"};
  bl_report *r;
  bl_status st = BL_OK;
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < w->m->n_refs && st == BL_OK; i++) {
    const bl_ref *ref = &w->m->refs[i];
    bl_report_str(r, ref->name);
    bl_report_str(r, ref->is_branch ? BL_STR("BRANCH") : BL_STR("TAG"));
    bl_report_i64(r, ref->snapshot_id);
    bl_report_i64_if(r, ref->has_max_ref_age, ref->max_ref_age_ms);
    bl_report_i64_if(r, ref->has_min_snapshots, ref->min_snapshots_to_keep);
    bl_report_i64_if(r, ref->has_max_snapshot_age, ref->max_snapshot_age_ms);
    st = bl_report_end_row(r, err);
  }
  return bl_inspect_end(r, st, err);
}

/* ---- the metadata log ---- */

/* One metadata file, and the snapshot that was current by then. */
static bl_status log_row(const bl_inspection *w, bl_report *r, int64_t ms, bl_str file, bl_error *err) {
  const bl_metadata *m = w->m;
  const bl_log_entry *best = NULL;
  for (size_t i = 0; i < m->n_snapshot_log; i++) {
    const bl_log_entry *e = &m->snapshot_log[i];
    if (e->timestamp_ms <= ms && (!best || e->timestamp_ms >= best->timestamp_ms)) best = e;
  }
  const bl_snapshot *s = best ? bl_metadata_snapshot(m, best->snapshot_id) : NULL;
  bl_report_ms(r, ms);
  bl_report_str(r, file);
  bl_report_i64_if(r, best != NULL, best ? best->snapshot_id : 0);
  bl_report_i64_if(r, s && s->has_schema_id, s ? s->schema_id : 0);
  bl_report_i64_if(r, s != NULL, s ? s->sequence_number : 0);
  return bl_report_end_row(r, err);
}

bl_status bl_inspect_metadata_log(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"timestamp", "file", "latest_snapshot_id", "latest_schema_id",
                                        "latest_sequence_number"};
  bl_report *r;
  bl_status st = BL_OK;
  BL_TRY(bl_inspect_rows(w, columns, BL_LEN(columns), &r, err));
  for (size_t i = 0; i < w->m->n_metadata_log && st == BL_OK; i++)
    st = log_row(w, r, w->m->metadata_log[i].timestamp_ms, w->m->metadata_log[i].file, err);
  if (st == BL_OK) st = log_row(w, r, w->m->last_updated_ms, bl_str_of(w->t->metadata_path), err);
  return bl_inspect_end(r, st, err);
}
