/* inspect_files.c: files and manifest entries of one snapshot or of all. */
#include "inspect/inspect.h"

#include <stdlib.h>

#include "inspect/partition_view.h"
#include "inspect/value_text.h"
#include "table/manifests.h"

typedef struct readable_column {
  const bl_field *field;
  bl_str name; /* dotted */
} readable_column;

typedef struct file_report {
  const bl_inspection *w;
  bl_report *r;
  bl_partition_view view;
  readable_column *readable; /* by name */
  size_t n_readable;
  bool data, deletes; /* which contents */
  bool entries;       /* rows are entries, deleted ones too; else live files */
} file_report;

/* ---- one file, as the members of an object ---- */

static void print_metric_map(bl_buf *b, const bl_data_file *f, size_t member) {
  bool any = false;
  for (size_t i = 0; i < f->n_metrics; i++) {
    int64_t v;
    memcpy(&v, (const char *)&f->metrics[i] + member, sizeof v);
    if (v == BL_NONE) continue;
    bl_buf_printf(b, "%s{\"key\":%d,\"value\":%lld}", any ? "," : "[", f->metrics[i].id, (long long)v);
    any = true;
  }
  bl_buf_cstr(b, any ? "]" : "null");
}

static void print_bound_map(bl_buf *b, const bl_data_file *f, bool upper) {
  bool any = false;
  for (size_t i = 0; i < f->n_metrics; i++) {
    bl_str v = upper ? f->metrics[i].upper : f->metrics[i].lower;
    if (!v.p) continue;
    bl_buf_printf(b, "%s{\"key\":%d,\"value\":", any ? "," : "[", f->metrics[i].id);
    bl_text_base64(b, v);
    bl_buf_byte(b, '}');
    any = true;
  }
  bl_buf_cstr(b, any ? "]" : "null");
}

static void print_longs(bl_buf *b, const int64_t *v, size_t n) {
  for (size_t i = 0; i < n; i++) bl_buf_printf(b, "%s%lld", i ? "," : "[", (long long)v[i]);
  bl_buf_cstr(b, n ? "]" : "null");
}

static void print_ints(bl_buf *b, const int32_t *v, size_t n) {
  for (size_t i = 0; i < n; i++) bl_buf_printf(b, "%s%d", i ? "," : "[", v[i]);
  bl_buf_cstr(b, n ? "]" : "null");
}

typedef enum file_column {
  C_CONTENT,
  C_PATH,
  C_FORMAT,
  C_SPEC,
  C_PARTITION,
  C_RECORDS,
  C_SIZE,
  C_COLUMN_SIZES,
  C_VALUES,
  C_NULLS,
  C_NANS,
  C_LOWER,
  C_UPPER,
  C_KEY,
  C_SPLITS,
  C_EQUALITY,
  C_SORT,
  C_FIRST_ROW,
  C_REFERENCED,
  C_OFFSET,
  C_CONTENT_SIZE,
  FILE_COLUMNS
} file_column;

static const char *const file_names[] = {"content",
                                         "file_path",
                                         "file_format",
                                         "spec_id",
                                         "partition",
                                         "record_count",
                                         "file_size_in_bytes",
                                         "column_sizes",
                                         "value_counts",
                                         "null_value_counts",
                                         "nan_value_counts",
                                         "lower_bounds",
                                         "upper_bounds",
                                         "key_metadata",
                                         "split_offsets",
                                         "equality_ids",
                                         "sort_order_id",
                                         "first_row_id",
                                         "referenced_data_file",
                                         "content_offset",
                                         "content_size_in_bytes"};

static void print_str(bl_buf *b, bl_str s) {
  if (s.p) bl_print_json_str(b, s);
  else bl_buf_cstr(b, "null");
}

/* The file's cell as JSON. */
static void print_column(const file_report *k, const bl_data_file *f, file_column c, bl_buf *b) {
  switch (c) {
  case C_CONTENT: bl_print_i64(b, f->content); break;
  case C_PATH: print_str(b, f->path); break;
  case C_FORMAT: print_str(b, bl_str_of(bl_file_format_name(f->format))); break;
  case C_SPEC: bl_print_i64(b, f->spec_id); break;
  case C_PARTITION: bl_partition_view_file(b, &k->view, f); break;
  case C_RECORDS: bl_print_i64(b, f->record_count); break;
  case C_SIZE: bl_print_i64(b, f->file_size); break;
  case C_COLUMN_SIZES: print_metric_map(b, f, offsetof(bl_column_metrics, size)); break;
  case C_VALUES: print_metric_map(b, f, offsetof(bl_column_metrics, values)); break;
  case C_NULLS: print_metric_map(b, f, offsetof(bl_column_metrics, nulls)); break;
  case C_NANS: print_metric_map(b, f, offsetof(bl_column_metrics, nans)); break;
  case C_LOWER: print_bound_map(b, f, false); break;
  case C_UPPER: print_bound_map(b, f, true); break;
  case C_KEY: bl_text_base64(b, f->key_metadata); break;
  case C_SPLITS: print_longs(b, f->split_offsets, f->n_split_offsets); break;
  case C_EQUALITY: print_ints(b, f->equality_ids, f->n_equality_ids); break;
  case C_SORT: bl_text_i64(b, f->sort_order_id < 0 ? BL_NONE : f->sort_order_id); break;
  case C_FIRST_ROW: bl_text_i64(b, f->first_row_id); break;
  case C_REFERENCED: print_str(b, f->referenced_data_file); break;
  case C_OFFSET: bl_text_i64(b, f->content_offset); break;
  case C_CONTENT_SIZE: bl_text_i64(b, f->content_size); break;
  default: bl_buf_cstr(b, "null");
  }
}

/* Strings go to their cell bare, so that text shows them so. */
static void file_cell(const file_report *k, const bl_data_file *f, file_column c) {
  switch (c) {
  case C_PATH: bl_report_str(k->r, f->path); break;
  case C_FORMAT: bl_report_str(k->r, bl_str_of(bl_file_format_name(f->format))); break;
  case C_REFERENCED: bl_report_str(k->r, f->referenced_data_file); break;
  case C_RECORDS: bl_report_i64(k->r, f->record_count); break;
  case C_SIZE: bl_report_i64(k->r, f->file_size); break;
  case C_FIRST_ROW: bl_report_i64_if(k->r, f->first_row_id != BL_NONE, f->first_row_id); break;
  case C_OFFSET: bl_report_i64_if(k->r, f->content_offset != BL_NONE, f->content_offset); break;
  case C_CONTENT_SIZE: bl_report_i64_if(k->r, f->content_size != BL_NONE, f->content_size); break;
  case C_PARTITION: bl_partition_view_file(bl_report_json(k->r), &k->view, f); break;
  default: print_column(k, f, c, bl_report_bulk(k->r));
  }
}

/* ---- readable metrics ---- */

static int by_name(const void *a, const void *b) {
  return bl_str_cmp(((const readable_column *)a)->name, ((const readable_column *)b)->name);
}

static size_t count_leaves(const bl_type *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->n_fields; i++)
    n += bl_kind_is_nested(t->fields[i].type.kind) ? count_leaves(&t->fields[i].type) : 1;
  return n;
}

static bl_status add_leaves(file_report *k, const bl_type *t, bl_str prefix, bl_error *err) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    bl_str name = prefix.p ? bl_arena_printf(k->w->arena, "%s.%s", prefix.p, f->name.p) : f->name;
    if (!name.p) return bl_nomem(err);
    if (bl_kind_is_nested(f->type.kind)) BL_TRY(add_leaves(k, &f->type, name, err));
    else k->readable[k->n_readable++] = (readable_column){f, name};
  }
  return BL_OK;
}

static bl_status collect_readable(file_report *k, bl_error *err) {
  const bl_schema *s = bl_metadata_current_schema(k->w->m);
  if (!s) return BL_OK;
  k->readable = bl_arena_calloc(k->w->arena, count_leaves(&s->root) + 1, sizeof *k->readable);
  if (!k->readable) return bl_nomem(err);
  BL_TRY(add_leaves(k, &s->root, BL_STR_NONE, err));
  bl_sort(k->readable, k->n_readable, sizeof *k->readable, by_name);
  return BL_OK;
}

static void print_readable(const file_report *k, const bl_data_file *f, bl_buf *b) {
  static const bl_column_metrics none = {.size = BL_NONE, .values = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE};
  bool first = true;
  bl_buf_byte(b, '{');
  for (size_t i = 0; i < k->n_readable; i++) {
    const bl_field *c = k->readable[i].field;
    const bl_column_metrics *m = bl_data_file_metrics(f, c->id);
    if (!m) m = &none;
    bl_text_key(b, &first, k->readable[i].name);
    bl_buf_cstr(b, "{\"column_size\":");
    bl_text_i64(b, m->size);
    bl_buf_cstr(b, ",\"value_count\":");
    bl_text_i64(b, m->values);
    bl_buf_cstr(b, ",\"null_value_count\":");
    bl_text_i64(b, m->nulls);
    bl_buf_cstr(b, ",\"nan_value_count\":");
    bl_text_i64(b, m->nans);
    bl_buf_cstr(b, ",\"lower_bound\":");
    bl_text_bound(b, &c->type, m->lower);
    bl_buf_cstr(b, ",\"upper_bound\":");
    bl_text_bound(b, &c->type, m->upper);
    bl_buf_byte(b, '}');
  }
  bl_buf_byte(b, '}');
}

/* ---- rows ---- */

static bool shows(const file_report *k, file_column c) {
  return c != C_PARTITION || k->view.n > 0;
}

static bl_status file_row(const file_report *k, const bl_manifest_entry *e, bl_error *err) {
  for (file_column c = 0; c < FILE_COLUMNS; c++)
    if (shows(k, c)) file_cell(k, &e->file, c);
  print_readable(k, &e->file, bl_report_bulk(k->r));
  bl_report_i64(k->r, e->sequence_number);
  bl_report_i64(k->r, e->file_sequence_number);
  return bl_report_end_row(k->r, err);
}

static bl_status entry_row(const file_report *k, const bl_manifest_entry *e, bl_error *err) {
  bool first = true;
  bl_report_i64(k->r, e->status);
  bl_report_i64_if(k->r, e->snapshot_id != BL_NONE, e->snapshot_id);
  bl_report_i64_if(k->r, e->sequence_number != BL_NONE, e->sequence_number);
  bl_report_i64_if(k->r, e->file_sequence_number != BL_NONE, e->file_sequence_number);
  bl_buf *b = bl_report_bulk(k->r);
  bl_buf_byte(b, '{');
  for (file_column c = 0; c < FILE_COLUMNS; c++) {
    if (!shows(k, c)) continue;
    bl_text_key(b, &first, bl_str_of(file_names[c]));
    print_column(k, &e->file, c, b);
  }
  bl_buf_byte(b, '}');
  print_readable(k, &e->file, bl_report_bulk(k->r));
  return bl_report_end_row(k->r, err);
}

static bl_status manifest_rows(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err) {
  const file_report *k = user;
  bl_arena *a = NULL;
  bl_manifest_entry *entries;
  size_t n;
  bl_status st;
  (void)reference;
  if (m->content == BL_MANIFEST_DATA ? !k->data : !k->deletes) return BL_OK;
  BL_GO(bl_arena_new(k->w->t->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(k->w->t, m, true, a, &entries, &n, err));
  for (size_t i = 0; i < n; i++) {
    if (k->entries) BL_GO(entry_row(k, &entries[i], err));
    else if (entries[i].status != BL_DELETED) BL_GO(file_row(k, &entries[i], err));
  }
done:
  bl_arena_free(a);
  return st;
}

/* ---- the reports ---- */

static bl_status file_columns(const file_report *k, const char *const **out, size_t *n, bl_error *err) {
  const char **columns = bl_arena_calloc(k->w->arena, FILE_COLUMNS + 3, sizeof *columns);
  if (!columns) return bl_nomem(err);
  *n = 0;
  for (file_column c = 0; c < FILE_COLUMNS; c++)
    if (shows(k, c)) columns[(*n)++] = file_names[c];
  columns[(*n)++] = "readable_metrics";
  columns[(*n)++] = "data_sequence_number";
  columns[(*n)++] = "file_sequence_number";
  *out = columns;
  return BL_OK;
}

static bl_status report(file_report k, bool all, bl_error *err) {
  static const char *const entry_columns[] = {"status",    "snapshot_id",     "sequence_number", "file_sequence_number",
                                              "data_file", "readable_metrics"};
  const char *const *columns = entry_columns;
  size_t n = BL_LEN(entry_columns);
  BL_TRY(bl_partition_view_init(k.w->arena, k.w->m, &k.view, err));
  BL_TRY(collect_readable(&k, err));
  if (!k.entries) BL_TRY(file_columns(&k, &columns, &n, err));
  BL_TRY(bl_inspect_rows(k.w, columns, n, &k.r, err));
  return bl_inspect_end(k.r, bl_inspect_each_manifest(k.w, all, false, manifest_rows, &k, err), err);
}

bl_status bl_inspect_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true, .deletes = true}, false, err);
}

bl_status bl_inspect_data_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true}, false, err);
}

bl_status bl_inspect_delete_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .deletes = true}, false, err);
}

bl_status bl_inspect_all_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true, .deletes = true}, true, err);
}

bl_status bl_inspect_all_data_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true}, true, err);
}

bl_status bl_inspect_all_delete_files(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .deletes = true}, true, err);
}

bl_status bl_inspect_entries(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true, .deletes = true, .entries = true}, false, err);
}

bl_status bl_inspect_all_entries(const bl_inspection *w, bl_error *err) {
  return report((file_report){.w = w, .data = true, .deletes = true, .entries = true}, true, err);
}
