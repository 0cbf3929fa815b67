/* inspect_manifests.c: the manifests of one snapshot or of all. */
#include "inspect/inspect.h"
#include "inspect/partition_view.h"
#include "inspect/value_text.h"

typedef struct manifest_report {
  const bl_inspection *w;
  bl_report *r;
  bl_partition_view view;
  bool all; /* all_manifests: the reference column */
} manifest_report;

static void optional_i64(bl_report *r, int64_t v) {
  bl_report_i64_if(r, v != BL_NONE, v);
}

static void count_if(bl_report *r, bool of_this_content, int64_t v) {
  optional_i64(r, of_this_content ? v : 0);
}

/* As Iceberg shows the values of a transform to people: months 1965-05, hours 1970-01-01-05. */
static void print_human(bl_buf *b, const bl_transform *t, const bl_type *type, const bl_value *v) {
  int64_t days, y;
  int month, day;
  switch (t->kind) {
  case BL_T_YEAR: bl_buf_printf(b, "%04lld", (long long)(1970 + v->u.i)); break;
  case BL_T_MONTH:
    bl_buf_printf(b, "%04lld-%02d", (long long)(1970 + bl_floor_div(v->u.i, 12)), (int)bl_floor_mod(v->u.i, 12) + 1);
    break;
  case BL_T_HOUR:
    days = bl_floor_div(v->u.i, 24);
    bl_civil_from_days(days, &y, &month, &day);
    bl_buf_printf(b, "%04lld-%02d-%02d-%02d", (long long)y, month, day, (int)bl_floor_mod(v->u.i, 24));
    break;
  default: bl_value_print(b, type, v);
  }
}

/* A bound as text, as Spark's table has it. */
static void print_bound(bl_buf *b, const bl_transform *t, const bl_type *type, bl_str bytes) {
  bl_value v;
  bl_buf text;
  if (!type || !bytes.p || !bl_value_from_bytes(type, bytes, &v)) {
    bl_buf_cstr(b, "null");
    return;
  }
  bl_buf_init(&text, b->ctx, BL_BUF_MAX);
  print_human(&text, t, type, &v);
  bl_print_json_str(b, (bl_str){text.p ? (const char *)text.p : "", text.n});
  b->failed = b->failed || text.failed;
  bl_buf_free(&text);
}

static void print_summaries(bl_buf *b, const bl_manifest_file *m, const bl_view_spec *spec) {
  bl_buf_byte(b, '[');
  for (size_t i = 0; i < m->n_partitions; i++) {
    const bl_field_summary *s = &m->partitions[i];
    bool known = spec && i < spec->spec->n_fields;
    const bl_type *type = known ? &spec->types[i] : NULL;
    const bl_transform *t = known ? &spec->spec->fields[i].transform : NULL;
    bl_buf_printf(b, "%s{\"contains_null\":%s,\"contains_nan\":%s,\"lower_bound\":", i ? "," : "",
                  s->contains_null ? "true" : "false", s->has_nan ? (s->contains_nan ? "true" : "false") : "null");
    print_bound(b, t, type, s->lower);
    bl_buf_cstr(b, ",\"upper_bound\":");
    print_bound(b, t, type, s->upper);
    bl_buf_byte(b, '}');
  }
  bl_buf_byte(b, ']');
}

static bl_status manifest_row(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err) {
  manifest_report *k = user;
  bl_report *r = k->r;
  bool data = m->content == BL_MANIFEST_DATA;
  bl_report_i64(r, m->content);
  bl_report_str(r, m->path);
  bl_report_i64(r, m->length);
  bl_report_i64(r, m->spec_id);
  optional_i64(r, m->added_snapshot_id);
  count_if(r, data, m->added_files);
  count_if(r, data, m->existing_files);
  count_if(r, data, m->deleted_files);
  count_if(r, !data, m->added_files);
  count_if(r, !data, m->existing_files);
  count_if(r, !data, m->deleted_files);
  if (m->has_partitions) print_summaries(bl_report_bulk(r), m, bl_partition_view_spec(&k->view, m->spec_id));
  else bl_report_null(r);
  if (k->all) {
    bl_report_i64(r, reference->id);
    bl_text_base64(bl_report_json(r), m->key_metadata);
  }
  bl_report_i64(r, m->sequence_number);
  bl_report_i64(r, m->min_sequence_number);
  optional_i64(r, m->added_rows);
  optional_i64(r, m->existing_rows);
  optional_i64(r, m->deleted_rows);
  optional_i64(r, m->first_row_id);
  return bl_report_end_row(r, err);
}

#define SPARK_COLUMNS                                                                                                  \
  "content", "path", "length", "partition_spec_id", "added_snapshot_id", "added_data_files_count",                     \
      "existing_data_files_count", "deleted_data_files_count", "added_delete_files_count",                             \
      "existing_delete_files_count", "deleted_delete_files_count", "partition_summaries"
#define OUR_COLUMNS                                                                                                    \
  "sequence_number", "min_sequence_number", "added_rows_count", "existing_rows_count", "deleted_rows_count",           \
      "first_row_id"

static bl_status report(const bl_inspection *w, bool all, const char *const *columns, size_t n, bl_error *err) {
  manifest_report k = {.w = w, .all = all};
  BL_TRY(bl_partition_view_init(w->arena, w->m, &k.view, err));
  BL_TRY(bl_inspect_rows(w, columns, n, &k.r, err));
  return bl_inspect_end(k.r, bl_inspect_each_manifest(w, all, true, manifest_row, &k, err), err);
}

bl_status bl_inspect_manifests(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {SPARK_COLUMNS, OUR_COLUMNS};
  return report(w, false, columns, BL_LEN(columns), err);
}

bl_status bl_inspect_all_manifests(const bl_inspection *w, bl_error *err) {
  static const char *const columns[] = {SPARK_COLUMNS, "reference_snapshot_id", "key_metadata", OUR_COLUMNS};
  return report(w, true, columns, BL_LEN(columns), err);
}
