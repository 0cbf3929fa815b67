/* inspect_row_ids.c: per live data file, where its rows' ids come from and what storing them costs (docs/lineage.md R1,
 * W5). The range of ids is a bound: ids that are stored by the statistics of their column, ids that are inherited as
 * first_row_id + position.
 * 1. Statistics are those of the footer; where it has none (Avro, ORC), those of the manifest; else the stored columns
 *    are read, both at once, batch by batch. */
#include "inspect/inspect.h"
#include "rows/stream.h"
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
  int32_t id, leaf;      /* leaf -1: it is not stored */
  int64_t bytes, values; /* compressed bytes; values that are not null; BL_NONE: not known */
  bool all;              /* every row has a value */
  id_range range;
  bool has_rows_without; /* where the column was read: first to last row that has no value */
  int64_t first_without, last_without;
} stored_column;

static bool is_known(const stored_column *c) {
  return c->leaf < 0 || (c->values != BL_NONE && c->range.known);
}

static void begin_column(stored_column *c) {
  c->bytes = c->values = 0;
  c->all = true;
  c->range = (id_range){.known = true, .empty = true};
}

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

static void ask_footer(const bl_open_file *f, stored_column *c) {
  begin_column(c);
  for (size_t g = 0; c->leaf >= 0 && g < f->meta->n_groups; g++) {
    bl_data_stats s;
    if (!f->reader->stats || !f->reader->stats(f->reader, g, c->leaf, &s))
      s = (bl_data_stats){.values = -1, .nulls = -1, .compressed_bytes = -1};
    add_group(c, &s);
  }
}

static void ask_manifest(const bl_data_file *f, stored_column *c) {
  const bl_column_metrics *m = is_known(c) ? NULL : bl_data_file_metrics(f, c->id);
  if (!m) return;
  int64_t bytes = c->bytes != BL_NONE ? c->bytes : m->size;
  begin_column(c);
  add_group(c, &(bl_data_stats){.values = m->values == BL_NONE ? -1 : m->values,
                                .nulls = m->nulls == BL_NONE ? -1 : m->nulls,
                                .lower = m->lower.p,
                                .lower_size = m->lower.n,
                                .upper = m->upper.p,
                                .upper_size = m->upper.n});
  c->bytes = bytes;
}

/* ---- reading them ---- */

static void add_row(stored_column *c, const struct ArrowArray *values, int64_t i, int64_t position) {
  const int64_t *v = values->buffers[1];
  if (bl_array_valid(values, i)) {
    c->values++;
    widen(&c->range, v[values->offset + i], v[values->offset + i]);
    return;
  }
  if (!c->has_rows_without) c->first_without = position;
  c->has_rows_without = true;
  c->last_without = position;
  c->all = false;
}

/* columns: those of the batch, in its order. */
static bl_status read_group(row_ids *k, const bl_open_file *f, size_t group, stored_column *const *columns, size_t n,
                            bl_error *err) {
  struct ArrowArrayStream s;
  int32_t leaves[2];
  int64_t position = f->meta->groups[group].first_row;
  bl_status st;
  for (size_t i = 0; i < n; i++) leaves[i] = columns[i]->leaf;
  BL_TRY(f->reader->read(f->reader, group, leaves, n, NULL, 0, k->env.batch_rows, &s, err));
  for (;;) {
    struct ArrowArray batch;
    st = bl_stream_next(&s, &batch, err);
    if (st != BL_OK || !batch.release) break;
    for (size_t c = 0; c < n; c++)
      for (int64_t i = 0; i < batch.length; i++) add_row(columns[c], batch.children[c], batch.offset + i, position + i);
    position += batch.length;
    bl_array_release(&batch);
  }
  bl_stream_release(&s);
  return st;
}

/* Those of which nothing else tells. */
static bl_status read_columns(row_ids *k, const bl_open_file *f, stored_column *a, stored_column *b, bl_error *err) {
  stored_column *columns[2], *first = a->leaf < b->leaf ? a : b, *second = first == a ? b : a;
  size_t n = 0;
  if (!is_known(first)) columns[n++] = first;
  if (!is_known(second)) columns[n++] = second;
  for (size_t i = 0; i < n; i++) {
    int64_t bytes = columns[i]->bytes;
    begin_column(columns[i]);
    columns[i]->bytes = bytes;
  }
  for (size_t g = 0; n && g < f->meta->n_groups; g++) BL_TRY(read_group(k, f, g, columns, n, err));
  return BL_OK;
}

static bl_status find_columns(row_ids *k, const bl_manifest_entry *e, stored_column *ids, stored_column *numbers,
                              bl_error *err) {
  bl_open_file *f;
  BL_TRY(bl_open_file_new(&k->env, e, &f, err));
  stored_column *both[] = {ids, numbers};
  for (size_t i = 0; i < BL_LEN(both); i++) {
    both[i]->leaf = bl_projection_stored_leaf(f->meta, both[i]->id);
    ask_footer(f, both[i]);
    ask_manifest(&e->file, both[i]);
  }
  bl_status st = read_columns(k, f, ids, numbers, err);
  bl_open_file_free(f);
  return st;
}

/* All ids of the file's rows: the stored ones, and the inherited ones where a row may have none stored. */
static id_range ids_of(const bl_data_file *f, const stored_column *stored) {
  id_range r = stored->range;
  int64_t first = 0, last = f->record_count - 1;
  if (f->first_row_id == BL_NONE || f->record_count == 0) return (id_range){.known = false};
  if (stored->leaf >= 0 && stored->all) return r;
  if (stored->has_rows_without) first = stored->first_without, last = stored->last_without;
  if (!bl_add64(f->first_row_id, last, &last)) return (id_range){.known = false};
  widen(&r, f->first_row_id + first, last);
  return r;
}

/* ---- rows ---- */

static void column_cells(bl_report *r, const stored_column *c) {
  bl_report_bool(r, c->leaf >= 0);
  bl_report_i64_if(r, c->values != BL_NONE, c->values);
  bl_report_i64_if(r, c->bytes != BL_NONE, c->bytes);
}

static bl_status file_row(row_ids *k, const bl_manifest_entry *e, bl_error *err) {
  stored_column ids = {.id = BL_ID_ROW_ID}, numbers = {.id = BL_ID_LAST_UPDATED};
  BL_TRY(find_columns(k, e, &ids, &numbers, err));
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
  BL_GO(bl_table_manifest_entries(k->w->t, m, true, a, &entries, &n, err));
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
