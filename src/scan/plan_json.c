/* plan_json.c: bl_scan_plan, and running its tasks. */
#include "base/pool.h"
#include "scan/exec.h"
#include "scan/task_json.h"

enum { TASKS_A_LOT = 64, FOOTERS_A_LOT = 4 };

static bool reads_commit_times(const bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->fields[i].id == BL_ID_LAST_UPDATED_AT) return true;
  return false;
}

/* Tasks are made into text on all threads, some in a lot, and written in order. */
typedef struct task_maker {
  bl_scan_job *j;
  bl_reading env;
  const bl_plan_writer *w;
  bool footers;
  size_t lot; /* tasks in it */
} task_maker;

/* The exact deletes: the plan's own lists may hold some that bounds rule out. */
static bl_status make_task(const task_maker *x, bl_arena *a, const bl_manifest_entry *e, bl_buf *out, bl_error *err) {
  const bl_metadata *md = x->j->t->metadata;
  bl_file_deletes deletes;
  BL_TRY(bl_delete_index_for(x->j->plan->deletes, a, e, &deletes, err));
  bl_plan_line line = {.why = BL_STR("live data file"), .file = &e->file, .ordinal = -1, .deletes = &deletes};
  bl_json *own = bl_json_new(a, BL_J_OBJECT);
  bool ok = own != NULL;
  if (bl_plan_wants_json(x->w)) {
    ok = ok && bl_json_set(a, own, "why", bl_json_new_str(a, line.why));
    ok = ok && bl_json_set(a, own, "id-range", bl_id_range_to_json(a, &e->file));
    ok = ok && bl_json_set(a, own, "file", bl_entry_to_json(a, md, e));
    ok = ok && bl_json_set(a, own, "deletes", bl_deletes_to_json(a, md, &deletes));
  }
  if (!ok) return bl_nomem(err);
  if (x->footers) BL_TRY(bl_footer_to_json(a, &x->env, e, own, err));
  line.splits = bl_plan_splits(&e->file, own);
  bl_plan_render(x->w, own, &line, out);
  return bl_buf_ok(out, err);
}

static bl_status make_lot(const task_maker *x, size_t lot, bl_buf *out, bl_error *err) {
  size_t n = x->j->plan->n_files, end = (lot + 1) * x->lot < n ? (lot + 1) * x->lot : n;
  bl_status st = BL_OK;
  for (size_t i = lot * x->lot; st == BL_OK && i < end; i++) {
    bl_arena *a;
    BL_TRY(bl_arena_new(x->j->t->ctx, &a, err));
    st = make_task(x, a, x->j->plan->files[i].data, out, err);
    bl_arena_free(a);
  }
  return st;
}

static void drop_lot(void *user, void *text) {
  bl_buf_free(text);
  bl_free(((task_maker *)user)->j->t->ctx, text);
}

static bl_status run_lot(void *user, size_t lot, bl_ordered_slot *slot, bl_error *err) {
  task_maker *x = user;
  bl_buf *text = bl_calloc(x->j->t->ctx, 1, sizeof *text);
  if (!text) return bl_nomem(err);
  bl_buf_init(text, x->j->t->ctx, BL_BUF_MAX);
  bl_status st = make_lot(x, lot, text, err);
  if (st == BL_OK) st = bl_ordered_emit(slot, text);
  if (st != BL_OK) drop_lot(x, text);
  return st;
}

static bl_status put_lots(task_maker *x, bl_ordered *lots, bl_plan_writer *w, bl_error *err) {
  for (;;) {
    void *text;
    BL_TRY(bl_ordered_next(lots, &text, err));
    if (!text) return BL_OK;
    bl_status st = bl_plan_rendered(w, text, err);
    drop_lot(x, text);
    BL_TRY(st);
  }
}

/* ---- by footers ---- */

typedef struct footer_pruner {
  bl_scan_job *j;
  bl_reading env;
  uint8_t *keep;
} footer_pruner;

static bl_status footer_keeps(void *user, size_t i, bl_error *err) {
  footer_pruner *x = user;
  bool may = false;
  BL_TRY(
      bl_footer_may_match(&x->env, x->j->plan->files[i].data, x->j->filter, &x->j->filter_columns.wanted, &may, err));
  x->keep[i] = may;
  return BL_OK;
}

static void drop_files(bl_plan *p, const uint8_t *keep) {
  size_t n = 0;
  for (size_t i = 0; i < p->n_files; i++) {
    const bl_data_file *f = &p->files[i].data->file;
    if (keep[i]) {
      p->files[n++] = p->files[i];
      continue;
    }
    p->counts.files--;
    p->counts.files_skipped++;
    p->counts.rows -= f->record_count;
    p->counts.bytes -= f->file_size;
  }
  p->n_files = n;
}

/* Counts stand before the tasks, so footers are asked before. */
static bl_status prune_by_footers(bl_scan_job *j, bl_error *err) {
  footer_pruner x = {.j = j};
  if (!j->filter || j->plan->n_files == 0) return BL_OK;
  x.keep = bl_arena_calloc(j->arena, j->plan->n_files, 1);
  if (!x.keep) return bl_nomem(err);
  BL_TRY(bl_reading_init(&x.env, j->t, err));
  bl_status st = bl_parallel(j->t->ctx, j->plan->n_files, footer_keeps, &x, err);
  bl_reading_dispose(&x.env);
  if (st == BL_OK) drop_files(j->plan, x.keep);
  return st;
}

static bl_status add_tasks(bl_scan_job *j, const bl_plan_request *q, bl_plan_writer *w, bl_error *err) {
  task_maker x = {.j = j, .w = w, .footers = q->footers, .lot = q->footers ? FOOTERS_A_LOT : TASKS_A_LOT};
  size_t n = (j->plan->n_files + x.lot - 1) / x.lot, window = (size_t)j->t->ctx->o.threads * 2;
  bl_ordered *lots;
  if (n == 0) return BL_OK;
  BL_TRY(bl_reading_init(&x.env, j->t, err));
  bl_status st = bl_ordered_new(j->t->ctx, n, 0, window, 1, false, run_lot, drop_lot, &x, &lots, err);
  if (st == BL_OK) {
    st = put_lots(&x, lots, w, err);
    bl_ordered_free(lots);
  }
  bl_reading_dispose(&x.env);
  return st;
}

static bool push_manifest(bl_arena *a, bl_json *array, const bl_plan_manifest *m) {
  return bl_push_plan_manifest(a, array, m->manifest->path, m->manifest->content, !m->skipped,
                               m->skipped ? m->skipped : "may hold what is read");
}

static bl_json *plan_head(const bl_scan_job *j, bl_plan_format format) {
  bl_arena *a = j->arena;
  bl_json *doc = bl_json_new(a, BL_J_OBJECT), *manifests = bl_json_new(a, BL_J_ARRAY);
  bool ok = doc && manifests;
  ok = ok && bl_json_set(a, doc, "snapshot-id",
                         j->snapshot ? bl_json_new_i64(a, j->snapshot->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, doc, "counts", bl_counts_to_json(a, &j->plan->counts));
  if (format == BL_PLAN_JSON) ok = ok && bl_json_set(a, doc, "schema", bl_schema_to_json(a, j->schema));
  for (size_t i = 0; ok && i < j->plan->n_manifests; i++) ok = push_manifest(a, manifests, &j->plan->manifests[i]);
  return ok && bl_json_set(a, doc, "manifests", manifests) ? doc : NULL;
}

static bl_status write_plan(bl_scan_job *j, const bl_plan_request *q, const bl_sink *sink, bl_plan_writer *w,
                            bl_error *err) {
  if (q->footers) BL_TRY(prune_by_footers(j, err));
  bl_task_head head = {"scan", j->schema, &j->columns.wanted, j->filter, reads_commit_times(&j->columns.wanted)};
  const bl_json *doc = plan_head(j, q->format), *task = bl_task_new(j->arena, j->t, &head);
  if (!doc || !task) return bl_nomem(err);
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
  const bl_schema *meta;
  bl_expr *parsed;
  BL_TRY(bl_task_columns(t, &j->columns, err));
  if (t->where) {
    BL_TRY(bl_expr_parse(t->arena, bl_str_of(t->where), &parsed, err));
    BL_TRY(bl_filter_meta_schema(t->arena, md, &meta, err));
    BL_TRY(bl_expr_bind(t->arena, parsed, t->schema, meta, &j->filter, err));
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
