/* test_relocate.c: tables of other engines whose metadata is written for another place: every snapshot reads as before,
 * without any path being mapped. */
#include <dirent.h>

#include "bergline/scan.h"
#include "bergline/write.h"
#include "format/metadata_json.h"
#include "support/rows.h"
#include "support/tree.h"
#include "table/table.h"

static const char *const tables[] = {
    "branches",    "compacted",      "cow_basic",   "eq_partitioned_v3",  "mixed_deletes_v2_to_v3",  "mor_basic",
    "partitioned", "schema_evolved", "upgraded_v2", "posdel_with_row_v2", "metadata_zoo/statistics",
};

static void check_scans(bl_ctx *ctx, bl_table *t, const char *expect) {
  DIR *d = opendir(expect);
  int checked = 0;
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    size_t n = strlen(e->d_name);
    char at[64];
    if (strncmp(e->d_name, "scan.", 5) != 0 || n < 12 || strcmp(e->d_name + n - 7, ".ndjson") != 0) continue;
    snprintf(at, sizeof at, "id:%.*s", (int)strcspn(e->d_name + 5, "."), e->d_name + 5);
    bl_error err = BL_ERROR_INIT;
    struct ArrowArrayStream s;
    bl_scan_options o = {.at = at, .lineage = true};
    test_rows want, got;
    char *path = test_join(expect, e->d_name);
    test_rows_read(path, &want);
    test_ok(bl_scan(t, &o, &s, &err), &err);
    test_rows_stream(ctx, &s, &got);
    test_rows_same(&want, &got, at);
    test_rows_free(&want);
    test_rows_free(&got);
    free(path);
    checked++;
  }
  closedir(d);
  assert_true(checked > 0);
}

static void test_relocate__every_snapshot_reads_as_before(void **state) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  char *fixture = test_path(*state), *from = test_join(fixture, "table"), *expect = test_join(fixture, "expect");
  char *dir = test_temp_dir(), *to = test_join(dir, "t");
  bl_table *t;
  test_copy_tree(from, to);
  test_ok(bl_table_open(ctx, to, NULL, &t, &err), &err);
  assert_non_null(t->root); /* mapped */
  int64_t next = t->metadata->next_row_id;
  size_t snapshots = t->metadata->n_snapshots;
  test_ok(bl_relocate(t, to, NULL, &err), &err);
  bl_table_free(t);
  test_ok(bl_table_open(ctx, to, NULL, &t, &err), &err);
  assert_null(t->root);
  assert_string_equal(t->metadata->location.p, to);
  assert_int_equal(t->metadata->next_row_id, next);
  assert_int_equal(t->metadata->n_snapshots, snapshots);
  check_scans(ctx, t, expect);
  bl_buf doc;
  bl_buf_init(&doc, ctx, BL_BUF_MAX);
  bl_json_print(&doc, t->metadata->json, false);
  bl_buf_byte(&doc, 0);
  assert_null(strstr((const char *)doc.p, "\"/warehouse")); /* where the fixtures come from */
  bl_buf_free(&doc);
  int64_t version = t->version;
  test_ok(bl_relocate(t, to, NULL, &err), &err); /* once more: nothing to do */
  bl_table_free(t);
  test_ok(bl_table_open(ctx, to, NULL, &t, &err), &err);
  assert_int_equal(t->version, version);
  bl_table_free(t);
  test_remove_dir(dir);
  free(to);
  free(expect);
  free(from);
  free(fixture);
  test_ctx_free(ctx);
}

static void test_relocate__needs_an_absolute_place_and_may_be_rehearsed(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  char *from = test_path("tests/fixtures/tables/mor_basic/table"), *dir = test_temp_dir(), *to = test_join(dir, "t");
  bl_table *t;
  test_copy_tree(from, to);
  test_ok(bl_table_open(ctx, to, NULL, &t, &err), &err);
  test_status(BL_USAGE, bl_relocate(t, "elsewhere", NULL, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, bl_relocate(t, "", NULL, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_ok(bl_relocate(t, "/else/where/", &(bl_write_options){.dry_run = true}, &err), &err);
  test_ok(bl_relocate(t, "/else/where/", NULL, &err), &err);
  bl_table_free(t);
  test_ok(bl_table_open(ctx, to, NULL, &t, &err), &err);
  assert_string_equal(t->metadata->location.p, "/else/where");
  assert_string_equal(t->metadata->metadata_log[t->metadata->n_metadata_log - 1].file.p,
                      "/else/where/metadata/v10.metadata.json");
  bl_table_free(t);
  test_remove_dir(dir);
  free(to);
  free(from);
  test_ctx_free(ctx);
}

int main(void) {
  struct CMUnitTest tests[40];
  size_t n = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    char path[200], label[200];
    snprintf(path, sizeof path, "tests/fixtures/tables/%s", tables[i]);
    snprintf(label, sizeof label, "test_relocate__every_snapshot_reads_as_before_%s", tables[i]);
    tests[n++] = (struct CMUnitTest){.name = strdup(label),
                                     .test_func = test_relocate__every_snapshot_reads_as_before,
                                     .initial_state = strdup(path)};
  }
  size_t made = n;
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_relocate__needs_an_absolute_place_and_may_be_rehearsed);
  int failed = _cmocka_run_group_tests("relocate", tests, n, NULL, NULL);
  for (size_t i = 0; i < made; i++) {
    free((void *)(uintptr_t)tests[i].name);
    free(tests[i].initial_state);
  }
  return failed;
}
