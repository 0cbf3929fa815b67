/* inspect_row_ids.c: per live data file, where its rows' ids come from and what storing them costs (docs/lineage.md R1,
 * W5). Only footers are read. The range of ids is a bound: ids that are stored by the statistics of their column, ids
 * that are inherited as first_row_id + position. */
#include "inspect/inspect.h"
#include "scan/open_file.h"
#include "table/manifests.h"

typedef struct row_ids {
  const bl_inspection *w;
  bl_report *r;
  bl_reading env;
} row_ids;

/* ---- ranges ---- */

typedef struct id_range {
  bool known; /* lower and upper hold for all ids so far; false for good once something is not known */
  bool empty;
  int64_t lower, upper;
} id_range;

static void widen(id_range *r, int64_t lower, int64_t upper) {
  if (r->empty || lower < r->lower) r->lower = lower;
  if (r->empty || upper > r->upper) r->upper = upper;
  r->empty = false;
}

/* Bounds are in single-value form: a little-endian long. */
static bool read_long(const void *p, size_t n, int64_t *out) {
  const uint8_t *b = p;
  uint64_t v = 0;
  if (!b || n != 8) return false;
  for (int i = 7; i >= 0; i--) v = v << 8 | b[i];
  *out = (int64_t)v;
  return true;
}

/* ---- a stored column ---- */

typedef struct stored_column {
  bool stored;
  int64_t bytes, values; /* compressed bytes; values that are not null; BL_NONE: not known */
  bool all;              /* every row has a value */
  id_range range;
} stored_column;

static void add_group(stored_column *c, const bl_data_stats *s) {
  int64_t lower, upper;
  bool counted = s->nulls >= 0 && s->values >= 0;
  if (c->bytes != BL_NONE) c->bytes = s->compressed_bytes < 0 ? BL_NONE : c->bytes + s->compressed_bytes;
  if (c->values != BL_NONE) c->values = counted ? c->values + s->values - s->nulls : BL_NONE;
  c->all = c->all && counted && s->nulls == 0;
  if (counted && s->nulls == s->values) return;
  if (read_long(s->lower, s->lower_size, &lower) && read_long(s->upper, s->upper_size, &upper))
    widen(&c->range, lower, upper);
  else c->range.known = false;
}

static stored_column read_column(const bl_open_file *f, int32_t id) {
  stored_column c = {.all = true, .range = {.known = true, .empty = true}};
  int32_t leaf = bl_projection_stored_leaf(f->meta, id);
  c.stored = leaf >= 0;
  for (size_t g = 0; c.stored && g < f->meta->n_groups; g++) {
    bl_data_stats s;
    if (!f->reader->stats || !f->reader->stats(f->reader, g, leaf, &s))
      s = (bl_data_stats){.values = -1, .nulls = -1, .compressed_bytes = -1};
    add_group(&c, &s);
  }
  return c;
}

/* All ids of the file's rows: the stored ones, and the inherited ones where a row may have none stored. */
static id_range ids_of(const bl_data_file *f, const stored_column *stored) {
  id_range r = stored->range;
  int64_t last;
  if (f->first_row_id == BL_NONE || f->record_count == 0) return (id_range){.known = false};
  if (stored->stored && stored->all) return r;
  if (!bl_add64(f->first_row_id, f->record_count - 1, &last)) return (id_range){.known = false};
  widen(&r, f->first_row_id, last);
  return r;
}

/* ---- rows ---- */

static void column_cells(bl_report *r, const stored_column *c) {
  bl_report_bool(r, c->stored);
  bl_report_i64_if(r, c->values != BL_NONE, c->values);
  bl_report_i64_if(r, c->bytes != BL_NONE, c->bytes);
}

static bl_status file_row(row_ids *k, const bl_manifest_entry *e, bl_error *err) {
  bl_open_file *f;
  BL_TRY(bl_open_file_new(&k->env, e, &f, err));
  stored_column ids = read_column(f, BL_ID_ROW_ID), numbers = read_column(f, BL_ID_LAST_UPDATED);
  bl_open_file_free(f);
  id_range range = ids_of(&e->file, &ids);
  bool known = range.known && !range.empty;
  bl_report_str(k->r, e->file.path);
  bl_report_str(k->r, bl_str_of(bl_file_format_name(e->file.format)));
  bl_report_i64(k->r, e->file.record_count);
  bl_report_i64(k->r, e->sequence_number);
  bl_report_i64_if(k->r, e->file.first_row_id != BL_NONE, e->file.first_row_id);
  bl_report_i64_if(k->r, known, range.lower);
  bl_report_i64_if(k->r, known, range.upper);
  column_cells(k->r, &ids);
  column_cells(k->r, &numbers);
  return bl_report_end_row(k->r, err);
}

static bl_status manifest_rows(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err) {
  row_ids *k = user;
  bl_arena *a = NULL;
  bl_manifest_entry *entries;
  size_t n;
  bl_status st;
  (void)reference;
  if (m->content != BL_MANIFEST_DATA) return BL_OK;
  BL_GO(bl_arena_new(k->w->t->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(k->w->t, m, false, a, &entries, &n, err));
  for (size_t i = 0; i < n; i++)
    if (entries[i].status != BL_DELETED) BL_GO(file_row(k, &entries[i], err));
done:
  bl_arena_free(a);
  return st;
}

bl_status bl_inspect_row_ids(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {"file_path",
                                        "file_format",
                                        "record_count",
                                        "data_sequence_number",
                                        "first_row_id",
                                        "min_row_id",
                                        "max_row_id",
                                        "row_ids_stored",
                                        "row_ids_stored_count",
                                        "row_ids_bytes",
                                        "sequence_numbers_stored",
                                        "sequence_numbers_stored_count",
                                        "sequence_numbers_bytes"};
  row_ids k = {.w = w};
  BL_TRY(bl_reading_init(&k.env, w->t, err));
  bl_status st = bl_inspect_rows(w, columns, BL_LEN(columns), &k.r, err);
  if (st == BL_OK) st = bl_inspect_end(k.r, bl_inspect_each_manifest(w, false, true, manifest_rows, &k, err), err);
  bl_reading_dispose(&k.env);
  return st;
}
