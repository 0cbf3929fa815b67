/* test_foreign_tables.c: deletes and updates of tables that other engines wrote: Parquet, Avro and ORC files, stored
 * and inherited lineage, vectors, position and equality deletes, evolved schemas. All other rows must come out as they
 * were, lineage included. */
#include "verbs_world.h"

static const bl_write_mode modes[] = {BL_MERGE_ON_READ, BL_COPY_ON_WRITE};

static const char *const tables[] = {
    "avro_data",      "compacted",
    "cow_basic",      "eq_partitioned_v3",
    "eq_readd_v3",    "eq_upsert_v3",
    "mor_basic",      "multi_rowgroup",
    "orc_data",       "partitioned",
    "schema_evolved", "types",
    "types_java",     "mixed_deletes_v2_to_v3",
    "upgraded_v2",
};

static world open_copy(const char *name) {
  char path[200];
  snprintf(path, sizeof path, "tests/fixtures/tables/%s", name);
  world w = world_copy(path);
  world_set(&w, "write.format.default=parquet"); /* whatever was written before */
  return w;
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Every third id. */
static size_t some_ids(const test_rows *rows, int64_t *out, size_t max) {
  size_t n = 0, k = 0;
  int64_t *all = calloc(rows->n + 1, sizeof *all);
  for (size_t i = 0; i < rows->n; i++) {
    int64_t id = test_rows_int(rows, i, "_row_id");
    if (id != INT64_MIN) all[n++] = id;
  }
  qsort(all, n, sizeof *all, by_number);
  for (size_t i = 0; i < n && k < max; i += 3) out[k++] = all[i];
  free(all);
  return k;
}

static bool is_among(int64_t id, const int64_t *ids, size_t n) {
  return bsearch(&id, ids, n, sizeof *ids, by_number) != NULL;
}

static char *list_of(const int64_t *ids, size_t n) {
  size_t cap = n * 22 + 40, at = 0;
  char *p = malloc(cap);
  at += (size_t)snprintf(p, cap, "_row_id in (");
  for (size_t i = 0; i < n; i++) at += (size_t)snprintf(p + at, cap - at, "%s%lld", i ? ", " : "", (long long)ids[i]);
  snprintf(p + at, cap - at, ")");
  return p;
}

/* The lines of rows whose id is (not) among these. */
static test_rows pick(const test_rows *rows, const int64_t *ids, size_t n, bool among) {
  size_t bytes = 1;
  for (size_t i = 0; i < rows->n; i++) bytes += strlen(rows->lines[i]) + 1;
  char *text = calloc(1, bytes), *at = text;
  for (size_t i = 0; i < rows->n; i++)
    if (is_among(test_rows_int(rows, i, "_row_id"), ids, n) == among) at += sprintf(at, "%s\n", rows->lines[i]);
  test_rows out;
  test_rows_parse(text, strlen(text), &out);
  free(text);
  return out;
}

static void same(test_rows *want, const test_rows *got, const char *name, const char *what) {
  char text[200];
  free(want->columns); /* their order went with the canonical form */
  want->columns = NULL;
  snprintf(text, sizeof text, "%s: %s", name, what);
  test_rows_same(want, got, text);
}

static void delete_from(const char *name, bl_write_mode mode) {
  int64_t ids[200];
  world w = open_copy(name);
  test_rows before = world_scan(&w, NULL, true);
  size_t n = some_ids(&before, ids, BL_LEN(ids));
  char *where = list_of(ids, n);
  assert_true(n > 0);
  world_delete(&w, where, mode);
  assert_true(w.r.rows_deleted >= (int64_t)n); /* a broken table may hold an id twice */
  test_rows after = world_scan(&w, NULL, true), want = pick(&before, ids, n, false);
  same(&want, &after, name,
       mode == BL_MERGE_ON_READ ? "after a delete, merge-on-read" : "after a delete, copy-on-write");
  test_rows_free(&want);
  test_rows_free(&before);
  test_rows_free(&after);
  free(where);
  world_end(&w);
}

static void test_foreign__a_delete_leaves_all_other_rows_as_they_were(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(tables); i++)
    for (size_t m = 0; m < BL_LEN(modes); m++) delete_from(tables[i], modes[m]);
}

/* A line without its sequence number. */
static void cut_number(char *line) {
  char *at = strstr(line, "\"_last_updated_sequence_number\":");
  assert_non_null(at);
  char *end = strchr(at, ',');
  assert_non_null(end);
  memmove(at, end + 1, strlen(end + 1) + 1);
}

static void update_of(const char *name, bl_write_mode mode) {
  int64_t ids[200];
  char set[200];
  world w = open_copy(name);
  test_rows before = world_scan(&w, NULL, true);
  size_t n = some_ids(&before, ids, BL_LEN(ids));
  char *where = list_of(ids, n);
  const bl_field *f = &bl_metadata_current_schema(w.t->metadata)->root.fields[0];
  snprintf(set, sizeof set, "\"%s\" = \"%s\"", f->name.p, f->name.p);
  world_update(&w, set, where, mode);
  test_rows after = world_scan(&w, NULL, true);
  test_rows want = pick(&before, ids, n, false), got = pick(&after, ids, n, false);
  same(&want, &got, name, "other rows after an update");
  test_rows_free(&want);
  test_rows_free(&got);
  want = pick(&before, ids, n, true);
  got = pick(&after, ids, n, true);
  for (size_t i = 0; i < got.n; i++) {
    assert_int_equal(test_rows_int(&got, i, "_last_updated_sequence_number"), w.r.sequence_number);
    cut_number(got.lines[i]);
  }
  for (size_t i = 0; i < want.n; i++) cut_number(want.lines[i]);
  same(&want, &got, name, "rows after an update");
  test_rows_free(&want);
  test_rows_free(&got);
  test_rows_free(&before);
  test_rows_free(&after);
  free(where);
  world_end(&w);
}

static void test_foreign__an_update_keeps_ids_and_values(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(tables); i++)
    for (size_t m = 0; m < BL_LEN(modes); m++) update_of(tables[i], modes[m]);
}

static void test_foreign__a_delete_of_everything_leaves_no_file(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    world w = open_copy(tables[i]);
    test_rows before = world_scan(&w, NULL, false);
    world_delete(&w, NULL, BL_MERGE_ON_READ);
    assert_int_equal(w.r.rows_deleted, before.n);
    world_holds(&w, "");
    test_rows_free(&before);
    world_end(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_foreign__a_delete_leaves_all_other_rows_as_they_were),
      cmocka_unit_test(test_foreign__an_update_keeps_ids_and_values),
      cmocka_unit_test(test_foreign__a_delete_of_everything_leaves_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
