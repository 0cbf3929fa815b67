/* test_inspect.c: the reports over tables of other engines. What they say is in tests/golden/inspect_*. */
#include "base/buf.h"
#include "bergline/inspect.h"
#include "format/json.h"
#include "support/support.h"
#include "table/table.h"

typedef struct output {
  bl_buf b;
  size_t most; /* refuse beyond; 0: never */
} output;

static bl_status gather(void *user, const void *p, size_t n, bl_error *err) {
  output *o = user;
  if (o->most && o->b.n + n > o->most) return bl_fail(err, BL_CANCELLED, "nobody reads");
  bl_buf_add(&o->b, p, n);
  return bl_buf_ok(&o->b, err);
}

static bl_table *open_table(bl_ctx *ctx, const char *name) {
  char relative[300];
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  snprintf(relative, sizeof relative, "tests/fixtures/tables/%s", name);
  char *path = test_path(relative);
  test_ok(bl_table_open(ctx, path, NULL, &t, &err), &err);
  free(path);
  return t;
}

static bl_status inspect(bl_table *t, const char *what, const bl_inspect_options *o, output *out, bl_error *err) {
  bl_sink sink = {gather, out};
  return bl_inspect(t, what, o, &sink, err);
}

/* The kinds of documents: an array of rows, or an object. */
static bool is_object(const char *what) {
  return strcmp(what, "info") == 0 || strcmp(what, "schema") == 0 || strcmp(what, "spec") == 0 ||
         strcmp(what, "properties") == 0;
}

static void assert_document(bl_ctx *ctx, bl_table *t, const char *what) {
  bl_error err = BL_ERROR_INIT;
  output out = {0};
  bl_arena *a;
  bl_json *v;
  bl_buf_init(&out.b, ctx, BL_BUF_MAX);
  test_ok(inspect(t, what, NULL, &out, &err), &err);
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, out.b.p, out.b.n, &v, &err), &err);
  assert_int_equal(v->kind, is_object(what) ? BL_J_OBJECT : BL_J_ARRAY);
  /* Every row has the same columns. */
  for (const bl_json *r = v->kind == BL_J_ARRAY ? v->first : NULL; r && r->next; r = r->next) {
    assert_int_equal(r->n, r->next->n);
    for (const bl_json *c = r->first, *d = r->next->first; c; c = c->next, d = d->next)
      assert_true(bl_str_eq(c->key, d->key));
  }
  bl_arena_free(a);
  bl_buf_free(&out.b);
}

static void test_inspect__every_report_of_every_table_is_one_json_document(void **state) {
  (void)state;
  static const char *const tables[] = {"branches/table",
                                       "partitioned/table",
                                       "metadata_zoo/partition_names/table",
                                       "mixed_deletes_v2_to_v3/table",
                                       "upgraded_v2/table",
                                       "types/table",
                                       "metadata_zoo/v1_embedded_manifests/table",
                                       "metadata_zoo/empty_absent/table",
                                       "metadata_zoo/schemes/table",
                                       "metadata_zoo/json_forms/table"};
  size_t n;
  const bl_inspect_kind *kinds = bl_inspect_kinds(&n);
  bl_ctx *ctx = test_ctx();
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    bl_table *t = open_table(ctx, tables[i]);
    /* position_deletes and row_ids open files that not every table here has: see the next test. */
    for (size_t k = 0; k < n; k++)
      if (strcmp(kinds[k].name, "position_deletes") != 0 && strcmp(kinds[k].name, "row_ids") != 0)
        assert_document(ctx, t, kinds[k].name);
    bl_table_free(t);
  }
  test_ctx_free(ctx);
}

static void test_inspect__reports_that_open_files_are_documents_too(void **state) {
  (void)state;
  static const char *const tables[] = {"metadata_zoo/partition_names/table",
                                       "metadata_zoo/referenced_path_other_form/table", "avro_data/table",
                                       "orc_data/table"};
  bl_ctx *ctx = test_ctx();
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    bl_table *t = open_table(ctx, tables[i]);
    assert_document(ctx, t, "row_ids");
    assert_document(ctx, t, "position_deletes");
    bl_table_free(t);
  }
  test_ctx_free(ctx);
}

static void refuse(bl_table *t, const char *what, const bl_inspect_options *o, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  output out = {0};
  bl_buf_init(&out.b, t->ctx, BL_BUF_MAX);
  test_status(want, inspect(t, what, o, &out, &err), &err);
  test_says(&err, says);
  bl_buf_free(&out.b);
}

static void test_inspect__wrong_questions_are_usage_errors(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_table *t = open_table(ctx, "branches/table");
  refuse(t, "nonsense", NULL, BL_USAGE, "nonsense");
  refuse(t, "refs", &(bl_inspect_options){.at = "main"}, BL_USAGE, "whole table");
  refuse(t, "history", &(bl_inspect_options){.ref = "main"}, BL_USAGE, "whole table");
  refuse(t, "files", &(bl_inspect_options){.at = "nosuch"}, BL_NOT_FOUND, "nosuch");
  refuse(t, "schema", &(bl_inspect_options){.ref = "nosuch"}, BL_NOT_FOUND, "nosuch");
  bl_table_free(t);
  test_ctx_free(ctx);
}

static void test_inspect__a_reader_that_goes_away_ends_the_report(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_table *t = open_table(ctx, "branches/table");
  bl_error err = BL_ERROR_INIT;
  output out = {.most = 100};
  bl_buf_init(&out.b, ctx, BL_BUF_MAX);
  test_status(BL_CANCELLED, inspect(t, "snapshots", NULL, &out, &err), &err);
  bl_buf_free(&out.b);
  bl_table_free(t);
  test_ctx_free(ctx);
}

static void test_inspect__a_snapshot_shows_its_own_files(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_table *t = open_table(ctx, "metadata_zoo/schemes/table");
  for (int i = 0; i < 2; i++) {
    bl_error err = BL_ERROR_INIT;
    output out = {0};
    bl_arena *a;
    bl_json *v;
    bl_inspect_options o = {.at = i ? "seq:1" : NULL};
    bl_buf_init(&out.b, ctx, BL_BUF_MAX);
    test_ok(inspect(t, "files", &o, &out, &err), &err);
    test_ok(bl_arena_new(ctx, &a, &err), &err);
    test_ok(bl_json_parse(a, out.b.p, out.b.n, &v, &err), &err);
    assert_int_equal(v->n, i ? 3 : 6);
    bl_arena_free(a);
    bl_buf_free(&out.b);
  }
  bl_table_free(t);
  test_ctx_free(ctx);
}

/* ---- faults ---- */

typedef struct question {
  const char *table, *what;
  bool text;
} question;

static bl_status ask(bl_ctx *ctx, void *user, bl_error *err) {
  const question *q = user;
  bl_table *t = NULL;
  output out = {0};
  bl_inspect_options o = {.text = q->text};
  bl_buf_init(&out.b, ctx, BL_BUF_MAX);
  bl_status st = bl_table_open(ctx, q->table, NULL, &t, err);
  if (st == BL_OK) st = inspect(t, q->what, &o, &out, err);
  bl_table_free(t);
  bl_buf_free(&out.b);
  return st;
}

static void test_inspect__survives_each_failing_allocation(void **state) {
  (void)state;
  static const char *const whats[] = {"info",    "schema",    "spec",       "properties", "snapshots",       "files",
                                      "entries", "manifests", "partitions", "row_ids",    "position_deletes"};
  char *path = test_path("tests/fixtures/tables/metadata_zoo/partition_names/table");
  for (size_t i = 0; i < BL_LEN(whats); i++) {
    question q = {path, whats[i], i % 2};
    test_fail_each(ask, &q);
  }
  free(path);
  path = test_path("tests/fixtures/tables/avro_data/table"); /* columns are read */
  test_fail_each(ask, &(question){path, "row_ids", false});
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inspect__every_report_of_every_table_is_one_json_document),
      cmocka_unit_test(test_inspect__reports_that_open_files_are_documents_too),
      cmocka_unit_test(test_inspect__wrong_questions_are_usage_errors),
      cmocka_unit_test(test_inspect__a_reader_that_goes_away_ends_the_report),
      cmocka_unit_test(test_inspect__a_snapshot_shows_its_own_files),
      cmocka_unit_test(test_inspect__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
