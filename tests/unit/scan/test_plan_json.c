/* test_plan_json.c: plans as JSON, and tasks run by themselves: together they give the rows of the scan (B94). */
#include "format/json.h"
#include "table/table.h"
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

typedef struct plan {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_json *doc;
  const bl_json *tasks;
} plan;

static bl_status append(void *user, const void *p, size_t n, bl_error *err) {
  (void)err;
  bl_buf_add(user, p, n);
  return BL_OK;
}

static plan plan_of(bl_ctx *ctx, bl_table *t, const bl_scan_options *o, bool footers) {
  bl_error err = BL_ERROR_INIT;
  plan p = {.ctx = ctx};
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  test_ok(bl_scan_plan(t, o, &(bl_plan_request){.footers = footers}, &(bl_sink){append, &b}, &err), &err);
  test_ok(bl_arena_new(ctx, &p.arena, &err), &err);
  bl_str text = bl_arena_str(p.arena, (bl_str){(const char *)b.p, b.n});
  test_ok(bl_json_parse(p.arena, text.p, text.n, &p.doc, &err), &err);
  test_ok(bl_json_member(p.doc, "tasks", BL_J_ARRAY, &p.tasks, &err), &err);
  bl_buf_free(&b);
  return p;
}

static void free_plan(plan *p) {
  bl_arena_free(p->arena);
}

static bl_status run_text(bl_ctx *ctx, const char *json, size_t n, const bl_drivers *drivers, test_rows *out,
                          bl_error *err) {
  struct ArrowArrayStream s;
  bl_table_options o = {.drivers = drivers};
  BL_TRY(bl_run_task(ctx, json, n, &o, &s, err));
  return test_rows_try_stream(ctx, &s, out, err);
}

static void append_rows(test_rows *to, test_rows *from) {
  to->lines = realloc(to->lines, (to->n + from->n + 1) * sizeof *to->lines);
  assert_non_null(to->lines);
  for (size_t i = 0; i < from->n; i++) to->lines[to->n++] = from->lines[i];
  if (!to->columns) to->columns = from->columns;
  else free(from->columns);
  free(from->lines);
}

/* Each task in a context of its own, as another process would. */
static test_rows run_tasks(const plan *p, const bl_drivers *drivers) {
  test_rows all = {0};
  for (const bl_json *v = p->tasks->first; v; v = v->next) {
    bl_error err = BL_ERROR_INIT;
    bl_ctx *ctx = test_ctx();
    bl_buf b;
    test_rows rows = {0};
    bl_buf_init(&b, p->ctx, BL_BUF_MAX);
    bl_json_print(&b, v, false);
    test_ok(run_text(ctx, (const char *)b.p, b.n, drivers, &rows, &err), &err);
    bl_buf_free(&b);
    append_rows(&all, &rows);
    test_ctx_free(ctx);
  }
  return all;
}

static void check(bl_ctx *ctx, bl_table *t, const bl_scan_options *o, const bl_drivers *drivers, const char *what) {
  for (int footers = 0; footers < 2; footers++) {
    plan p = plan_of(ctx, t, o, footers);
    test_rows want = scan_rows(ctx, t, o, NULL, NULL), got = run_tasks(&p, drivers);
    test_rows_same_order(&want, &got, what);
    test_rows_free(&want);
    test_rows_free(&got);
    free_plan(&p);
  }
}

/* ---- tables of other engines ---- */

static void check_fixture(const char *name, const char *where) {
  char relative[200];
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_table *t;
  snprintf(relative, sizeof relative, "tests/fixtures/tables/%s/table", name);
  char *path = test_path(relative);
  test_ok(bl_table_open(ctx, path, NULL, &t, &err), &err);
  for (size_t i = 0; i < t->metadata->n_snapshots; i++) {
    char at[40];
    snprintf(at, sizeof at, "id:%lld", (long long)t->metadata->snapshots[i].id);
    bl_scan_options o = {.at = at, .lineage = true};
    check(ctx, t, &o, NULL, name);
    o.where = where;
    check(ctx, t, &o, NULL, name);
  }
  const char *meta[] = {
      "_row_id", "_file", "_pos", "_spec_id", "_partition", "_last_updated_at", "_last_updated_sequence_number"};
  bl_scan_options o = {.columns = meta, .n_columns = BL_LEN(meta)};
  check(ctx, t, &o, NULL, name);
  bl_table_free(t);
  free(path);
  test_ctx_free(ctx);
}

static void test_plan_json__tasks_of_vectors_and_position_deletes_give_the_rows(void **state) {
  (void)state;
  check_fixture("mor_basic", "id > 5");
  check_fixture("mixed_deletes_v2_to_v3", "_row_id < 6 or _row_id is null");
  check_fixture("posdel_with_row_v2", "_row_id is null");
  check_fixture("lineage_edges/many_dvs_one_puffin", "_row_id > 3");
}

static void test_plan_json__tasks_of_equality_deletes_give_the_rows(void **state) {
  (void)state;
  check_fixture("eq_upsert_v3", "_row_id > 1");
  check_fixture("eq_partitioned_v3", "_row_id > 1");
  check_fixture("lineage_edges/eq_struct_key", "_row_id > 1");
  check_fixture("lineage_edges/eq_added_column_default", "_row_id > 1");
}

static void test_plan_json__tasks_of_evolved_schemas_and_partitions_give_the_rows(void **state) {
  (void)state;
  check_fixture("schema_evolved", "_row_id > 2");
  check_fixture("partitioned", "_row_id > 2");
  check_fixture("partitioned", "_partition.id_bucket = 3 or _partition.region is null");
  check_fixture("types", "id in (1, 3)");
  check_fixture("upgraded_v2", "_last_updated_sequence_number is not null");
  check_fixture("compacted", "_last_updated_sequence_number < 3");
  check_fixture("avro_data", "_row_id > 2");
  check_fixture("lineage_edges/null_partition_tuples", "_row_id > 2");
}

static void test_plan_json__tasks_of_parts_of_the_partition_give_them(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_table *t;
  char *path = test_path("tests/fixtures/tables/partitioned/table");
  const char *columns[] = {"id", "_partition.region", "_partition.id_bucket"};
  bl_scan_options o = {.columns = columns, .n_columns = 3, .where = "_partition.ts_month is not null"};
  test_ok(bl_table_open(ctx, path, NULL, &t, &err), &err);
  check(ctx, t, &o, NULL, "parts");
  bl_table_free(t);
  free(path);
  test_ctx_free(ctx);
}

/* ---- made tables ---- */

static void test_plan_json__columns_and_filters_go_with_the_task(void **state) {
  (void)state;
  world w = new_world(
      3, "[{\"id\":1,\"name\":\"a.b\",\"required\":false,\"type\":\"long\"},"
         "{\"id\":2,\"name\":\"_row_id\",\"required\":false,\"type\":\"string\"},"
         "{\"id\":3,\"name\":\"t\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
         "{\"id\":4,\"name\":\"u\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
         "{\"id\":5,\"name\":\"x.y\",\"required\":false,\"type\":\"long\"},{\"id\":6,\"name\":\"z\",\"required\":false,"
         "\"type\":\"long\"}]}}]}}]");
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,\"p\",[[2,3]]],[4,\"q\",[null]],[5,null,null]]", 2);
  commit_files(&w, 1, &f, 1, NULL, 0);
  const char *const columns[][3] = {{"t.u.z", "a.b", "_row_id"},
                                    {"meta._row_id", "t", "a.b"},
                                    {"t.u", "_row_id", "meta._row_id"},
                                    {"_pos", "_file", "_last_updated_at"}};
  const char *const filters[] = {NULL,    "\"a.b\" > 1",      "_row_id = 'p' or meta._row_id = 2", "t.u.z is null",
                                 "false", "_row_id = 'it''s'"};
  for (size_t c = 0; c < BL_LEN(columns); c++)
    for (size_t i = 0; i < BL_LEN(filters); i++) {
      bl_scan_options o = {.columns = columns[c], .n_columns = 3, .where = filters[i]};
      check(w.ctx, w.t, &o, maker_drivers(w.m), filters[i] ? filters[i] : "true");
    }
  bl_scan_options all = {.lineage = true};
  check(w.ctx, w.t, &all, maker_drivers(w.m), "*");
  close_world(&w);
}

static void test_plan_json__says_what_is_read_and_why(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
  bl_error err = BL_ERROR_INIT;
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 5), *b = numbered_file(w.m, "b", 10, 7, 0),
               *d = maker_vector(w.m, "d", "a", (int64_t[]){3}, 1);
  maker_partition(w.m, a, 0, "[\"r3\"]");
  maker_partition(w.m, b, 0, "[\"y\"]");
  maker_partition(w.m, d, 0, "[\"r3\"]");
  commit_files(&w, 77, (bl_data_file *[]){a, b}, 2, &d, 1);
  plan p = plan_of(w.ctx, w.t, &(bl_scan_options){.where = "s = 'r3'"}, true);
  int64_t n;
  test_ok(bl_json_get_i64(p.doc, "snapshot-id", &n, &err), &err);
  assert_int_equal(n, 77);
  const bl_json *counts = bl_json_get(p.doc, "counts");
  static const struct {
    const char *key;
    int64_t n;
  } want[] = {{"manifests-opened", 1},
              {"manifests-skipped", 1},
              {"delete-manifests-opened", 1},
              {"files", 1},
              {"files-skipped", 0},
              {"delete-files", 1},
              {"rows", 10},
              {"bytes", -1}};
  for (size_t i = 0; i < BL_LEN(want); i++) {
    test_ok(bl_json_get_i64(counts, want[i].key, &n, &err), &err);
    assert_int_equal(n, want[i].n < 0 ? a->file_size : want[i].n);
  }
  assert_int_equal(bl_json_get(p.doc, "manifests")->n, 3);
  assert_int_equal(p.tasks->n, 1);
  const bl_json *task = p.tasks->first, *range = bl_json_get(task, "id-range");
  assert_true(bl_str_is(bl_json_get(task, "why")->text, "live data file"));
  assert_true(bl_str_is(range->first->text, "0") && bl_str_is(range->last->text, "9"));
  assert_int_equal(bl_json_get(task, "deletes")->n, 1);
  assert_int_equal(bl_json_get(task, "row-groups")->n, 2);
  assert_non_null(bl_json_get(bl_json_get(p.doc, "schema"), "fields"));
  free_plan(&p);
  for (int footers = 0; footers < 2; footers++) { /* what the footer tells is known by it alone */
    p = plan_of(w.ctx, w.t, &(bl_scan_options){.where = "s = 'r3' and k = 77"}, footers);
    assert_int_equal(p.tasks->n, footers ? 0 : 1);
    test_ok(bl_json_get_i64(bl_json_get(p.doc, "counts"), "files-skipped", &n, &err), &err);
    assert_int_equal(n, footers);
    free_plan(&p);
  }
  close_world(&w);
}

static void test_plan_json__of_an_empty_table_has_no_tasks(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_metadata(w.m);
  w.t = maker_open(w.m);
  plan p = plan_of(w.ctx, w.t, NULL, true);
  assert_int_equal(p.tasks->n, 0);
  assert_int_equal(bl_json_get(p.doc, "snapshot-id")->kind, BL_J_NULL);
  free_plan(&p);
  close_world(&w);
}

/* Manifests are named with what decided. */
static void test_plan_json__names_skipped_manifests(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 3, 0), *b = numbered_file(w.m, "b", 5, 3, 0);
  maker_entry gone[] = {maker_deleted(a, 1, 0)}, live[] = {maker_added(b)};
  maker_manifest ms[] = {maker_data_manifest(gone, 1), maker_data_manifest(live, 1)};
  commit(&w, 1, ms, 2);
  plan p = plan_of(w.ctx, w.t, NULL, false);
  const bl_json *m = bl_json_get(p.doc, "manifests");
  assert_false(bl_json_get(m->first, "opened")->b);
  assert_true(bl_str_is(bl_json_get(m->first, "why")->text, "nothing in it is live"));
  assert_true(bl_json_get(m->last, "opened")->b);
  free_plan(&p);
  close_world(&w);
}

static void test_plan_json__hundreds_of_files_keep_their_order(void **state) {
  (void)state;
  enum { N = 600 };
  world w = new_world(3, "[" FIELD_K "]");
  maker_entry *es = calloc(N, sizeof *es);
  assert_non_null(es);
  for (int i = 0; i < N; i++) {
    char name[20], row[20];
    snprintf(name, sizeof name, "f%d", i % 3);
    snprintf(row, sizeof row, "[[%d]]", i % 3);
    es[i] = i < 3 ? maker_added(maker_data(w.m, name, NULL, row, 0)) : es[i % 3];
  }
  maker_manifest ms[] = {maker_data_manifest(es, N)};
  commit(&w, 1, ms, 1);
  plan p = plan_of(w.ctx, w.t, NULL, false);
  int i = 0;
  for (const bl_json *v = p.tasks->first; v; v = v->next, i++) {
    int64_t first;
    bl_error err = BL_ERROR_INIT;
    test_ok(bl_json_get_i64(bl_json_get(v, "file"), "first-row-id", &first, &err), &err);
    assert_int_equal(first, i);
  }
  assert_int_equal(i, N);
  free_plan(&p);
  free(es);
  close_world(&w);
}

/* ---- broken tasks ---- */

static world task_world(char **text) {
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 5), *d = maker_vector(w.m, "d", "a", (int64_t[]){3}, 1);
  commit_files(&w, 1, &a, 1, &d, 1);
  plan p = plan_of(w.ctx, w.t, &(bl_scan_options){.where = "k > 1", .lineage = true}, false);
  bl_buf b;
  bl_buf_init(&b, w.ctx, BL_BUF_MAX);
  bl_json_print(&b, p.tasks->first, false);
  bl_buf_byte(&b, 0);
  *text = strdup((const char *)b.p);
  bl_buf_free(&b);
  free_plan(&p);
  return w;
}

static void test_plan_json__a_task_cut_anywhere_is_refused(void **state) {
  (void)state;
  char *text;
  world w = task_world(&text);
  for (size_t n = 0; n < strlen(text); n += 7) {
    bl_error err = BL_ERROR_INIT;
    test_rows r;
    bl_status st = run_text(w.ctx, text, n, maker_drivers(w.m), &r, &err);
    assert_true(st == BL_DAMAGED || st == BL_USAGE);
    test_says(&err, "task");
  }
  free(text);
  close_world(&w);
}

/* Every member, also of members, left out or of another kind: rows or a clean refusal. */
static void spoil(world *w, bl_arena *a, bl_json *root, bl_json *in, size_t depth) {
  static const char *const optional[] = {"why",        "rows", "id-range",   "where",
                                         "column-ids", "next", "properties", "sort-orders"};
  for (bl_json *m = in->first; m; m = m->next) {
    bl_json_kind kind = m->kind;
    if (depth < 2 && kind == BL_J_OBJECT) spoil(w, a, root, m, depth + 1);
    m->kind = BL_J_NULL;
    bl_json *first = m->first, *last = m->last;
    m->first = m->last = NULL;
    bl_buf b;
    bl_buf_init(&b, w->ctx, BL_BUF_MAX);
    bl_json_print(&b, root, false);
    bl_error err = BL_ERROR_INIT;
    test_rows r = {0};
    bl_status st = run_text(w->ctx, (const char *)b.p, b.n, maker_drivers(w->m), &r, &err);
    bool may_miss = depth > 0;
    for (size_t i = 0; i < BL_LEN(optional); i++) may_miss = may_miss || bl_str_is(m->key, optional[i]);
    if (st == BL_OK && !may_miss) fail_msg("%s is not missed", m->key.p);
    if (st != BL_OK && st != BL_USAGE && st != BL_DAMAGED && st != BL_NOT_FOUND && st != BL_UNSUPPORTED)
      fail_msg("%s: %s", m->key.p, err.message);
    test_rows_free(&r);
    bl_buf_free(&b);
    m->kind = kind;
    m->first = first;
    m->last = last;
  }
}

static void test_plan_json__a_task_with_missing_members_is_refused(void **state) {
  (void)state;
  char *text;
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_json *doc;
  world w = task_world(&text);
  test_ok(bl_arena_new(w.ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, text, strlen(text), &doc, &err), &err);
  spoil(&w, a, doc, doc, 0);
  bl_arena_free(a);
  free(text);
  close_world(&w);
}

static void test_plan_json__another_version_is_refused(void **state) {
  (void)state;
  char *text;
  world w = task_world(&text);
  bl_error err = BL_ERROR_INIT;
  test_rows r;
  char *at = strstr(text, "\"bergline-task\":1");
  assert_non_null(at);
  at[strlen("\"bergline-task\":")] = '2';
  test_status(BL_USAGE, run_text(w.ctx, text, strlen(text), maker_drivers(w.m), &r, &err), &err);
  test_says(&err, "version");
  free(text);
  close_world(&w);
}

static bl_status drop(void *user, const void *p, size_t n, bl_error *err) {
  (void)user, (void)p, (void)n, (void)err;
  return BL_OK;
}

static bl_status plan_once(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  bl_table_options o = {.drivers = maker_drivers(w->m)};
  bl_table *t;
  BL_TRY(bl_table_open(ctx, maker_path(w->m, "metadata/v1.metadata.json"), &o, &t, err));
  bl_status st = bl_scan_plan(t, &(bl_scan_options){.where = "k > 1"}, &(bl_plan_request){.footers = true},
                              &(bl_sink){drop, NULL}, err);
  bl_table_free(t);
  return st;
}

static bl_status run_once(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  struct ArrowArrayStream s;
  bl_table_options o = {.drivers = maker_drivers(w->m)};
  BL_TRY(bl_run_task(ctx, w->text, strlen(w->text), &o, &s, err));
  s.release(&s);
  return BL_OK;
}

static void test_plan_json__says_when_memory_runs_out(void **state) {
  (void)state;
  char *text;
  world w = task_world(&text);
  w.text = text;
  test_fail_each(plan_once, &w);
  test_fail_each(run_once, &w);
  free(text);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan_json__tasks_of_vectors_and_position_deletes_give_the_rows),
      cmocka_unit_test(test_plan_json__tasks_of_equality_deletes_give_the_rows),
      cmocka_unit_test(test_plan_json__tasks_of_evolved_schemas_and_partitions_give_the_rows),
      cmocka_unit_test(test_plan_json__tasks_of_parts_of_the_partition_give_them),
      cmocka_unit_test(test_plan_json__columns_and_filters_go_with_the_task),
      cmocka_unit_test(test_plan_json__says_what_is_read_and_why),
      cmocka_unit_test(test_plan_json__of_an_empty_table_has_no_tasks),
      cmocka_unit_test(test_plan_json__names_skipped_manifests),
      cmocka_unit_test(test_plan_json__hundreds_of_files_keep_their_order),
      cmocka_unit_test(test_plan_json__a_task_cut_anywhere_is_refused),
      cmocka_unit_test(test_plan_json__a_task_with_missing_members_is_refused),
      cmocka_unit_test(test_plan_json__another_version_is_refused),
      cmocka_unit_test(test_plan_json__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("plan_json", tests, NULL, NULL);
}
