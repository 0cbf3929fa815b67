/* fault_reads.c: everything that reads, see fault_world.h. */
#include "base/alloc.h"
#include "bergline/inspect.h"
#include "fault_world.h"
#include "format/json.h"
#include "table/table.h"

static bl_status drain(const place *p, struct ArrowArrayStream *s, bl_error *err) {
  test_rows rows;
  bl_status st = test_rows_try_stream(p->ctx, s, &rows, err);
  if (st == BL_OK) test_rows_free(&rows);
  return st;
}

typedef bl_status read_table(const place *p, bl_table *t, bl_error *err);

static bl_status opened(const place *p, read_table *what, bl_error *err) {
  bl_table *t;
  BL_TRY(bl_table_open(p->ctx, "db.t", &p->o, &t, err));
  bl_status st = what(p, t, err);
  bl_table_free(t);
  return st;
}

static bl_status scan_with(const place *p, bl_table *t, const bl_scan_options *o, bl_error *err) {
  struct ArrowArrayStream s;
  BL_TRY(bl_scan(t, o, &s, err));
  return drain(p, &s, err);
}
static bl_status changes_with(const place *p, bl_table *t, const bl_changes_options *o, bl_error *err) {
  struct ArrowArrayStream s;
  BL_TRY(bl_changes(t, o, &s, err));
  return drain(p, &s, err);
}
static bl_status history_with(const place *p, bl_table *t, const bl_history_options *o, bl_error *err) {
  struct ArrowArrayStream s;
  BL_TRY(bl_history(t, o, &s, err));
  return drain(p, &s, err);
}

typedef struct taken {
  bl_ctx *ctx;
  bl_buf b;
} taken;

static bl_status take(void *user, const void *p, size_t n, bl_error *err) {
  taken *x = user;
  bl_buf_add(&x->b, p, n);
  return bl_buf_ok(&x->b, err);
}

/* All reports. */
static bl_status inspect_all(bl_table *t, bool text, bl_error *err) {
  size_t n;
  const bl_inspect_kind *kinds = bl_inspect_kinds(&n);
  bl_status st = BL_OK;
  for (size_t i = 0; i < n && st == BL_OK; i++) {
    taken x = {.ctx = t->ctx};
    const bl_inspect_options o = {.text = text};
    bl_buf_init(&x.b, t->ctx, BL_BUF_MAX);
    st = bl_inspect(t, kinds[i].name, &o, &(bl_sink){take, &x}, err);
    bl_buf_free(&x.b);
  }
  return st;
}

/* The first task of a plan is run. */
static bl_status run_first(const place *p, const bl_buf *plan, bl_error *err) {
  bl_arena *a;
  bl_json *doc;
  bl_buf task;
  struct ArrowArrayStream s;
  BL_TRY(bl_arena_new(p->ctx, &a, err));
  bl_buf_init(&task, p->ctx, BL_BUF_MAX);
  bl_status st = bl_json_parse(a, (const char *)plan->p, plan->n, &doc, err);
  if (st == BL_OK) {
    bl_json_print(&task, bl_json_get(doc, "tasks")->first, false);
    st = bl_buf_ok(&task, err);
  }
  if (st == BL_OK) st = bl_run_task(p->ctx, (const char *)task.p, task.n, &p->o, &s, err);
  if (st == BL_OK) st = drain(p, &s, err);
  bl_buf_free(&task);
  bl_arena_free(a);
  return st;
}

static bl_status plan(const place *p, bl_table *t, bool changes, bl_error *err) {
  taken x = {.ctx = t->ctx};
  const bl_plan_request q = {.format = BL_PLAN_JSON, .footers = true};
  const bl_sink sink = {take, &x};
  bl_buf_init(&x.b, t->ctx, BL_BUF_MAX);
  bl_status st = changes ? bl_changes_plan(t, &(bl_changes_options){.from = "first"}, &q, &sink, err)
                         : bl_scan_plan(t, &(bl_scan_options){.lineage = true}, &q, &sink, err);
  if (st == BL_OK) st = run_first(p, &x.b, err);
  bl_buf_free(&x.b);
  return st;
}

#define READS(fn, expr)                                                                                                \
  static bl_status do_##fn(const place *p, bl_table *t, bl_error *err) {                                               \
    (void)p;                                                                                                           \
    return expr;                                                                                                       \
  }                                                                                                                    \
  static bl_status read_##fn(const place *p, bl_error *err) {                                                          \
    return opened(p, do_##fn, err);                                                                                    \
  }
static const char *const key[] = {"k"}, *const columns[] = {"v", "_row_id", "_file", "_pos", "_partition"},
                         *const more[] = {"k", "v", "_changed_columns", "_change_basis", "_commit_timestamp"};
static const int64_t ids[] = {0, 3};
READS(scan, scan_with(p, t, &(bl_scan_options){.lineage = true}, err))
READS(scan_where,
      scan_with(p, t, &(bl_scan_options){.columns = columns, .n_columns = 5, .where = "p = 1 and v > 15"}, err))
READS(log, changes_with(p, t, &(bl_changes_options){.columns = more, .n_columns = 5}, err))
READS(net, changes_with(p, t, &(bl_changes_options){.from = "first", .net = true}, err))
READS(keyed,
      changes_with(p, t, &(bl_changes_options){.key = key, .n_key = 1, .where = "k > 1", .after_images = true}, err))
READS(history, history_with(p, t, &(bl_history_options){.where = "k = 5"}, err))
READS(history_ids, history_with(p, t, &(bl_history_options){.row_ids = ids, .n_row_ids = 2}, err))
READS(inspect, inspect_all(t, false, err))
READS(inspect_text, inspect_all(t, true, err))
READS(scan_plan, plan(p, t, false, err))
READS(changes_plan, plan(p, t, true, err))

const verb reads[] = {{"scan", read_scan},
                      {"scan where", read_scan_where},
                      {"log", read_log},
                      {"net", read_net},
                      {"by key", read_keyed},
                      {"history", read_history},
                      {"ids", read_history_ids},
                      {"inspect", read_inspect},
                      {"text", read_inspect_text},
                      {"plan", read_scan_plan},
                      {"plan of changes", read_changes_plan}};
const size_t n_reads = BL_LEN(reads);
