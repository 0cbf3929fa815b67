/* scan.c: the public scan: options -> snapshot, columns, filter, plan -> exec.h. */
#include "bergline/scan.h"

#include "rows/stream.h"
#include "scan/exec.h"
#include "scan/scan_private.h"
#include "table/refs.h"

enum { MAX_FILTER_COLUMNS = 4096 };

void bl_scan_job_free(void *job) {
  bl_scan_job *j = job;
  if (!j) return;
  bl_plan_free(j->plan);
  bl_arena *a = j->arena;
  bl_arena_free(a); /* the job lives in it */
}

static bl_status choose_columns(bl_scan_job *j, const bl_scan_options *o, bl_error *err) {
  bl_columns_init(&j->columns, j->arena, j->t->metadata, j->schema);
  if (!o->columns) BL_TRY(bl_columns_add_all(&j->columns, err));
  for (size_t i = 0; o->columns && i < o->n_columns; i++)
    BL_TRY(bl_columns_add_name(&j->columns, bl_str_of(o->columns[i]), err));
  if (!o->lineage) return BL_OK;
  BL_TRY(bl_columns_add_id(&j->columns, BL_ID_ROW_ID, err));
  return bl_columns_add_id(&j->columns, BL_ID_LAST_UPDATED, err);
}

bl_status bl_filter_columns(bl_columns *c, const bl_expr *filter, bl_error *err) {
  int32_t ids[MAX_FILTER_COLUMNS];
  size_t n = bl_expr_fields(filter, ids, MAX_FILTER_COLUMNS);
  if (n > MAX_FILTER_COLUMNS)
    return bl_fail(err, BL_UNSUPPORTED, "predicate: more than %d columns", MAX_FILTER_COLUMNS);
  for (size_t i = 0; i < n; i++) BL_TRY(bl_columns_add_id(c, ids[i], err));
  return BL_OK;
}

static bl_status bind_filter(bl_scan_job *j, const char *where, bl_error *err) {
  bl_expr *parsed;
  const bl_schema *meta;
  if (!where) return BL_OK;
  bl_str text = bl_arena_str(j->arena, bl_str_of(where)); /* the tree points into it */
  if (!text.p) return bl_nomem(err);
  BL_TRY(bl_expr_parse(j->arena, text, &parsed, err));
  BL_TRY(bl_filter_meta_schema(j->arena, j->t->metadata, &meta, err));
  BL_TRY(bl_expr_bind(j->arena, parsed, j->schema, meta, &j->filter, err));
  bl_columns_init(&j->filter_columns, j->arena, j->t->metadata, j->schema);
  return bl_filter_columns(&j->filter_columns, j->filter, err);
}

bl_status bl_scan_job_new(bl_table *t, const bl_scan_options *o, bl_scan_job **out, bl_error *err) {
  static const bl_scan_options none = {0};
  bl_arena *a;
  if (!o) o = &none;
  *out = NULL;
  BL_TRY(bl_arena_new(t->ctx, &a, err));
  bl_scan_job *j = bl_arena_calloc(a, 1, sizeof *j);
  bl_status st = j ? BL_OK : bl_nomem(err);
  if (st != BL_OK) {
    bl_arena_free(a);
    return st;
  }
  j->arena = a;
  j->t = t;
  bl_snap_options so = {.ref = bl_str_of(o->ref), .time = BL_TIME_BY_LOG};
  bl_snap snap;
  BL_GO(bl_snap_resolve(t->metadata, bl_str_of(o->at), &so, &snap, err));
  j->snapshot = snap.snapshot;
  j->schema = snap.schema;
  BL_GO(choose_columns(j, o, err));
  BL_GO(bind_filter(j, o->where, err));
  bl_plan_options po = {.filter = j->filter, .schema = j->schema, .share_deletes = true};
  BL_GO(bl_plan_new(t, j->snapshot, &po, &j->plan, err));
  *out = j;
done:
  if (st != BL_OK) bl_scan_job_free(j);
  return st;
}

bl_status bl_scan(bl_table *t, const bl_scan_options *o, struct ArrowArrayStream *out, bl_error *err) {
  bl_scan_job *j;
  bl_exec_item *items;
  size_t n;
  memset(out, 0, sizeof *out);
  BL_TRY(bl_scan_job_new(t, o, &j, err));
  bl_status st = bl_exec_split(j->arena, j->plan->files, j->plan->n_files, &items, &n, err);
  if (st != BL_OK) {
    bl_scan_job_free(j);
    return st;
  }
  bl_exec_options eo = {
      .wanted = &j->columns.wanted, .filter = j->filter, .filter_wanted = &j->filter_columns.wanted, .limit = -1};
  if (o) {
    eo.unordered = o->unordered;
    eo.require_lineage = o->require_lineage;
    if (o->has_limit) eo.limit = o->limit < 0 ? 0 : o->limit;
  }
  return bl_exec_stream(t, items, n, &eo, j, bl_scan_job_free, out, err);
}

void bl_text_free(bl_ctx *ctx, char *text) {
  bl_free(ctx, text);
}
bl_status bl_status_of_errno(int code) {
  return bl_stream_status(code);
}
