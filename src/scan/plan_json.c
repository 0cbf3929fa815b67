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

static bl_status add_task(bl_scan_job *j, const bl_scan_file *f, const bl_task_head *head, const bl_reading *env,
                          bool footers, bl_json *tasks, bl_error *err) {
  bl_arena *a = j->arena;
  const bl_metadata *md = j->t->metadata;
  bl_json *task = bl_task_new(a, j->t, head);
  bool ok = task != NULL;
  ok = ok && bl_json_set(a, task, "why", bl_json_new_str(a, BL_STR("live data file")));
  ok = ok && bl_json_set(a, task, "id-range", id_range(a, &f->data->file));
  ok = ok && bl_json_set(a, task, "file", bl_entry_to_json(a, md, f->data));
  ok = ok && bl_json_set(a, task, "deletes", bl_deletes_to_json(a, md, &f->deletes));
  if (!ok) return bl_nomem(err);
  if (footers) BL_TRY(bl_footer_to_json(a, env, f->data, task, err));
  return bl_json_push(tasks, task) ? BL_OK : bl_nomem(err);
}

static bl_status write_plan(bl_scan_job *j, bool footers, char **json, bl_error *err) {
  bl_arena *a = j->arena;
  bl_reading env;
  bl_json *doc = bl_json_new(a, BL_J_OBJECT), *tasks = bl_json_new(a, BL_J_ARRAY);
  bl_task_head head = {"scan", j->schema, &j->columns.wanted, j->filter, reads_commit_times(&j->columns.wanted)};
  bool ok = doc && tasks;
  ok = ok && bl_json_set(a, doc, "snapshot-id",
                         j->snapshot ? bl_json_new_i64(a, j->snapshot->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, doc, "counts", bl_counts_to_json(a, &j->plan->counts));
  if (!ok) return bl_nomem(err);
  BL_TRY(bl_reading_init(&env, j->t, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < j->plan->n_files; i++)
    st = add_task(j, &j->plan->files[i], &head, &env, footers, tasks, err);
  bl_reading_dispose(&env);
  BL_TRY(st);
  return bl_json_set(a, doc, "tasks", tasks) ? bl_json_text(j->t->ctx, doc, json, err) : bl_nomem(err);
}

bl_status bl_scan_plan(bl_table *t, const bl_scan_options *o, bool footers, char **json, bl_error *err) {
  bl_scan_job *j;
  *json = NULL;
  BL_TRY(bl_scan_job_new(t, o, &j, err));
  bl_status st = write_plan(j, footers, json, err);
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
