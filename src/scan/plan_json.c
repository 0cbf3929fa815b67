/* plan_json.c: bl_scan_plan, and running its tasks. */
#include "scan/exec.h"
#include "scan/task_json.h"

static bool reads_commit_times(const bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->fields[i].id == BL_ID_LAST_UPDATED_AT) return true;
  return false;
}

/* Row ids are [first_row_id, first_row_id + record_count) unless the file stores them. */
static bl_json *id_range(bl_arena *a, const bl_data_file *f) {
  if (f->first_row_id == BL_NONE || f->record_count == 0) return bl_json_new(a, BL_J_NULL);
  bl_json *r = bl_json_new(a, BL_J_ARRAY), *lo = bl_json_new_i64(a, f->first_row_id),
          *hi = bl_json_new_i64(a, f->first_row_id + f->record_count - 1);
  return r && lo && hi && bl_json_push(r, lo) && bl_json_push(r, hi) ? r : NULL;
}

static bl_status add_task(bl_scan_job *j, bl_arena *a, const bl_scan_file *f, const bl_reading *env, bool footers,
                          bl_plan_writer *w, bl_error *err) {
  const bl_metadata *md = j->t->metadata;
  bl_plan_line line = {.why = BL_STR("live data file"),
                       .path = f->data->file.path,
                       .rows = f->data->file.record_count,
                       .ordinal = -1,
                       .first_row_id = f->data->file.first_row_id,
                       .deletes = (f->deletes.vector != NULL) + f->deletes.n_position + f->deletes.n_equality};
  bl_json *own = bl_json_new(a, BL_J_OBJECT);
  bool ok = own && bl_json_set(a, own, "why", bl_json_new_str(a, line.why));
  ok = ok && bl_json_set(a, own, "id-range", id_range(a, &f->data->file));
  ok = ok && bl_json_set(a, own, "file", bl_entry_to_json(a, md, f->data));
  ok = ok && bl_json_set(a, own, "deletes", bl_deletes_to_json(a, md, &f->deletes));
  if (!ok) return bl_nomem(err);
  if (footers) BL_TRY(bl_footer_to_json(a, env, f->data, own, err));
  return bl_plan_task(w, own, &line, err);
}

/* Each task in an arena of its own. */
static bl_status add_tasks(bl_scan_job *j, const bl_plan_request *q, bl_plan_writer *w, bl_error *err) {
  bl_reading env;
  BL_TRY(bl_reading_init(&env, j->t, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < j->plan->n_files; i++) {
    bl_arena *a;
    st = bl_arena_new(j->t->ctx, &a, err);
    if (st != BL_OK) break;
    st = add_task(j, a, &j->plan->files[i], &env, q->footers, w, err);
    bl_arena_free(a);
  }
  bl_reading_dispose(&env);
  return st;
}

static bl_status write_plan(bl_scan_job *j, const bl_plan_request *q, const bl_sink *sink, bl_plan_writer *w,
                            bl_error *err) {
  bl_arena *a = j->arena;
  bl_task_head head = {"scan", j->schema, &j->columns.wanted, j->filter, reads_commit_times(&j->columns.wanted)};
  bl_json *doc = bl_json_new(a, BL_J_OBJECT), *task = bl_task_new(a, j->t, &head);
  bool ok = doc && task;
  ok = ok && bl_json_set(a, doc, "snapshot-id",
                         j->snapshot ? bl_json_new_i64(a, j->snapshot->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, doc, "counts", bl_counts_to_json(a, &j->plan->counts));
  if (!ok) return bl_nomem(err);
  BL_TRY(bl_plan_begin(w, j->t->ctx, sink, q->format, doc, task, err));
  BL_TRY(add_tasks(j, q, w, err));
  return bl_plan_end(w, err);
}

bl_status bl_scan_plan(bl_table *t, const bl_scan_options *o, const bl_plan_request *q, const bl_sink *sink,
                       bl_error *err) {
  bl_scan_job *j;
  bl_plan_writer w = {0};
  BL_TRY(bl_scan_job_new(t, o, &j, err));
  bl_status st = write_plan(j, q, sink, &w, err);
  bl_plan_dispose(&w);
  bl_scan_job_free(j);
  return st;
}

/* ---- running a task ---- */

typedef struct task_job {
  bl_task task;
  bl_columns columns, filter_columns;
  bl_expr *filter;
  bl_manifest_entry entry;
  bl_scan_file file;
} task_job;

static void task_job_free(void *user) {
  task_job *j = user;
  bl_ctx *ctx = j->task.table->ctx;
  bl_task_dispose(&j->task);
  bl_free(ctx, j);
}

static bl_status prepare(task_job *j, bl_error *err) {
  bl_task *t = &j->task;
  const bl_metadata *md = t->table->metadata;
  const bl_json *file, *deletes;
  bl_expr *parsed;
  bl_columns_init(&j->columns, t->arena, md, t->schema);
  for (size_t i = 0; i < t->n_columns; i++) BL_TRY(bl_columns_add_name(&j->columns, bl_str_of(t->columns[i]), err));
  if (t->where) {
    BL_TRY(bl_expr_parse(t->arena, bl_str_of(t->where), &parsed, err));
    BL_TRY(bl_expr_bind(t->arena, parsed, t->schema, bl_meta_schema(), &j->filter, err));
    bl_columns_init(&j->filter_columns, t->arena, md, t->schema);
    BL_TRY(bl_filter_columns(&j->filter_columns, j->filter, err));
  }
  BL_TRY(bl_json_member(t->json, "file", BL_J_OBJECT, &file, err));
  BL_TRY(bl_json_member(t->json, "deletes", BL_J_ARRAY, &deletes, err));
  BL_TRY(bl_entry_from_json(t->arena, md, file, &j->entry, err));
  j->file.data = &j->entry;
  return bl_deletes_from_json(t->arena, md, deletes, &j->file.deletes, err);
}

bl_status bl_run_scan_task(bl_ctx *ctx, bl_task *task, struct ArrowArrayStream *out, bl_error *err) {
  bl_exec_item *items;
  size_t n;
  task_job *j = bl_calloc(ctx, 1, sizeof *j);
  if (!j) {
    bl_task_dispose(task);
    return bl_nomem(err);
  }
  j->task = *task;
  bl_status st = prepare(j, err);
  if (st == BL_OK) st = bl_exec_split(j->task.arena, &j->file, 1, &items, &n, err);
  if (st != BL_OK) {
    task_job_free(j);
    return st;
  }
  bl_exec_options eo = {
      .wanted = &j->columns.wanted, .filter = j->filter, .filter_wanted = &j->filter_columns.wanted, .limit = -1};
  return bl_exec_stream(j->task.table, items, n, &eo, j, task_job_free, out, err);
}
