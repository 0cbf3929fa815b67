/* test_scan.c: scans of tables that other engines wrote: every snapshot gives the rows that expect/ holds, lineage
 * included. One test a table. */
#include "bergline/scan.h"

#include "support/rows.h"

#include <dirent.h>

static const char *const tables[] = {
    "avro_data",
    "compacted",
    "cow_basic",
    "eq_partitioned_v3",
    "eq_readd_v3",
    "eq_upsert_v3",
    "mixed_deletes_v2_to_v3",
    "mor_basic",
    "multi_rowgroup",
    "orc_data",
    "partitioned",
    "posdel_with_row_v2",
    "schema_evolved",
    "types",
    "types_java",
    "types_unknown",
    "upgraded_v2",
};
static const char edges[] = "tests/fixtures/tables/lineage_edges";

typedef struct fixture {
  bl_ctx *ctx;
  bl_table *t;
  char *expect;
  const char *name;
} fixture;

static void open_fixture(fixture *f, const char *folder) {
  bl_error err = BL_ERROR_INIT;
  char *root = test_path(folder), *table = test_join(root, "table");
  f->ctx = test_ctx();
  f->name = folder;
  f->expect = test_join(root, "expect");
  test_ok(bl_table_open(f->ctx, table, NULL, &f->t, &err), &err);
  free(table);
  free(root);
}

static void close_fixture(fixture *f) {
  bl_table_free(f->t);
  test_ctx_free(f->ctx);
  free(f->expect);
}

static void scan(fixture *f, const bl_scan_options *o, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_ok(bl_scan(f->t, o, &s, &err), &err);
  test_rows_stream(f->ctx, &s, out);
}

/* expect/scan.<id>.ndjson */
static void check_snapshot(fixture *f, const char *file) {
  char at[64], what[300];
  size_t n = strcspn(file + 5, ".");
  snprintf(at, sizeof at, "id:%.*s", (int)n, file + 5);
  snprintf(what, sizeof what, "%s at %s", f->name, at);
  char *path = test_join(f->expect, file);
  test_rows want, got;
  test_rows_read(path, &want);
  bl_scan_options o = {.at = at, .lineage = true};
  for (int unordered = 0; unordered < 2; unordered++) {
    o.unordered = unordered;
    scan(f, &o, &got);
    test_rows_same(&want, &got, what);
    test_rows_free(&got);
  }
  test_rows_free(&want);
  free(path);
}

static void test_scan__gives_the_rows_of_every_snapshot(void **state) {
  fixture f;
  open_fixture(&f, *state);
  DIR *d = opendir(f.expect);
  assert_non_null(d);
  int checked = 0;
  for (struct dirent *e; (e = readdir(d));) {
    size_t n = strlen(e->d_name);
    if (strncmp(e->d_name, "scan.", 5) != 0 || n < 12 || strcmp(e->d_name + n - 7, ".ndjson") != 0) continue;
    check_snapshot(&f, e->d_name);
    checked++;
  }
  closedir(d);
  assert_true(checked > 0);
  close_fixture(&f);
}

static void add_test(struct CMUnitTest *tests, size_t *n, const char *group, const char *name) {
  char *folder = test_join(group, name), label[300];
  snprintf(label, sizeof label, "test_scan__gives_the_rows_of_every_snapshot_of_%s", name);
  tests[(*n)++] = (struct CMUnitTest){
      .name = strdup(label), .test_func = test_scan__gives_the_rows_of_every_snapshot, .initial_state = folder};
}

int main(void) {
  struct CMUnitTest tests[100];
  size_t n = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) add_test(tests, &n, "tests/fixtures/tables", tables[i]);
  char *path = test_path(edges);
  struct dirent **found;
  int n_found = scandir(path, &found, NULL, alphasort);
  for (int i = 0; i < n_found; i++) {
    if (found[i]->d_name[0] != '.' && !strchr(found[i]->d_name, '.') && n < 99)
      add_test(tests, &n, edges, found[i]->d_name);
    free(found[i]);
  }
  free(found);
  free(path);
  int failed = _cmocka_run_group_tests("scan", tests, n, NULL, NULL);
  for (size_t i = 0; i < n; i++) {
    free((void *)(uintptr_t)tests[i].name);
    free(tests[i].initial_state);
  }
  return failed;
}
