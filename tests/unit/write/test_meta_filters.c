/* test_meta_filters.c: verbs whose rows are picked by metadata columns: where a row lies, what id it has, when it
 * changed. What a scan finds by a predicate is what a verb changes by it. */
#include "verbs_world.h"

static const bl_write_mode modes[] = {BL_COPY_ON_WRITE, BL_MERGE_ON_READ};

static void alter(world *w, const char *const *words, size_t n) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_alter(w->t, words, n, NULL, &err), &err);
  world_reopen(w);
}

/* Three specs, rows that were updated and deleted, ids stored in one file and not in others. */
static world begin(int version) {
  world w = world_new(version, "k long, p int, v string", "p");
  const char *more[] = {"partition", "add", "bucket(2,k)"}, *less[] = {"partition", "drop", "p"};
  world_append(&w,
               "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n{\"k\":3,\"p\":null}\n{\"k\":4,\"p\":1}\n");
  alter(&w, more, 3);
  world_append(&w, "{\"k\":5,\"p\":1}\n{\"k\":6,\"p\":2}\n{\"k\":7,\"p\":1}\n{\"k\":8,\"p\":3}\n");
  alter(&w, less, 3);
  world_append(&w, "{\"k\":9,\"p\":1}\n{\"k\":10,\"p\":2}\n{\"k\":11,\"p\":5}\n");
  world_update(&w, "v = 'first'", "k in (0, 6)", version == 3 ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE);
  world_delete(&w, "k = 1", version == 3 ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE);
  return w;
}

/* What was done is as if it had not been: the next filter finds the same rows. */
static void back_to(world *w, int64_t snapshot_id) {
  char text[32];
  bl_error err = BL_ERROR_INIT;
  snprintf(text, sizeof text, "%lld", (long long)snapshot_id);
  test_ok(bl_rollback(w->t, text, NULL, NULL, &err), &err);
  world_reopen(w);
}

static const char *const filters[] = {
    "_row_id in (2, 6, 9)",
    "_row_id < 4 and k <> 2",
    "_row_id is null",
    "_last_updated_sequence_number >= 2",
    "_last_updated_sequence_number = 4 or k = 3",
    "_pos = 0",
    "_pos > 0",
    "_spec_id = 0",
    "_spec_id in (1, 2)",
    "_file is not null and p = 1",
    "_file = 'elsewhere'",
    "_last_updated_at > timestamptz '1970-01-02T00:00:00+00:00'",
    "_last_updated_at < timestamptz '1970-01-02T00:00:00+00:00'",
    "_partition.p = 1",
    "not (_partition.p = 1)",
    "_partition.p is null",
    "_partition.p in (2, null)",
    "_partition.k_bucket = 1",
    "_partition.k_bucket is null and k > 0",
    "_partition.p = p",
    "_partition.p = 2 and _partition.k_bucket >= 0 and _pos = 0",
    "_spec_id = 2 or _partition.p = 3 or _row_id = 2",
    "meta._partition.p = 1 and meta._spec_id = 1",
};

/* The keys of the rows that match, or all. */
static void keys(world *w, const char *where, bool out[200]) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows rows;
  const char *const columns[] = {"k"};
  bl_scan_options o = {.where = where, .columns = columns, .n_columns = 1};
  memset(out, 0, 200);
  test_ok(bl_scan(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, &rows);
  for (size_t i = 0; i < rows.n; i++) out[test_rows_int(&rows, i, "k")] = true;
  test_rows_free(&rows);
}

static int64_t count(const bool k[200]) {
  int64_t n = 0;
  for (size_t i = 0; i < 200; i++) n += k[i];
  return n;
}

static void all_but(const bool all[200], const bool some[200], bool out[200]) {
  for (size_t i = 0; i < 200; i++) out[i] = all[i] && !some[i];
}

static void test_meta_filters__pick_what_a_scan_finds(void **state) {
  (void)state;
  world w = begin(3);
  bool found[200];
  int64_t want[] = {3, 2, 0, 8, 3, -1, -1, 3, 8, 5, 0, 11, 0};
  for (size_t i = 0; i < BL_LEN(want); i++) {
    keys(&w, filters[i], found);
    if (want[i] >= 0 && count(found) != want[i]) fail_msg("%s: %d rows", filters[i], (int)count(found));
  }
  keys(&w, "_partition.p = 1", found);
  assert_true(found[4] && found[5] && found[7]); /* not what was updated, and lies in a spec without p since */
  assert_int_equal(count(found), 3);
  world_end(&w);
}

static void test_meta_filters__delete_takes_what_a_scan_finds(void **state) {
  (void)state;
  static const struct {
    int version;
    bl_write_mode mode;
  } how[] = {{3, BL_COPY_ON_WRITE}, {3, BL_MERGE_ON_READ}, {2, BL_COPY_ON_WRITE}};
  for (size_t k = 0; k < BL_LEN(how); k++) {
    bool all[200], found[200], left[200], want[200];
    world w = begin(how[k].version);
    int64_t head = w.t->metadata->current_snapshot_id;
    keys(&w, NULL, all);
    for (size_t i = 0; i < BL_LEN(filters); i++) {
      keys(&w, filters[i], found);
      world_delete(&w, filters[i], how[k].mode);
      counts_are(&w, 0, 0, count(found), 0);
      keys(&w, NULL, left);
      all_but(all, found, want);
      assert_memory_equal(want, left, sizeof want);
      back_to(&w, head);
    }
    world_end(&w);
  }
}

static void test_meta_filters__update_changes_what_a_scan_finds(void **state) {
  (void)state;
  bool all[200], found[200], changed[200], left[200];
  world w = begin(3);
  int64_t head = w.t->metadata->current_snapshot_id;
  keys(&w, NULL, all);
  for (size_t i = 0; i < 2 * BL_LEN(filters); i++) {
    keys(&w, filters[i / 2], found);
    world_update(&w, "v = 'new'", filters[i / 2], modes[i % 2]);
    counts_are(&w, 0, count(found), 0, 0);
    keys(&w, "v = 'new'", changed);
    keys(&w, NULL, left);
    assert_memory_equal(found, changed, sizeof found);
    assert_memory_equal(all, left, sizeof all);
    back_to(&w, head);
  }
  world_end(&w);
}

static void test_meta_filters__overwrite_replaces_what_a_scan_finds(void **state) {
  (void)state;
  for (size_t k = 0; k < BL_LEN(modes); k++) {
    bl_error err = BL_ERROR_INIT;
    bool all[200], found[200], left[200], want[200];
    world w = begin(3);
    int64_t head = w.t->metadata->current_snapshot_id;
    world_set(&w, k ? "write.delete.mode=copy-on-write" : "write.delete.mode=merge-on-read");
    keys(&w, NULL, all);
    for (size_t i = 0; i < BL_LEN(filters); i++) {
      keys(&w, filters[i], found);
      test_ok(world_try_overwrite(&w, "{\"k\":100,\"p\":1}\n", BL_OVERWRITE_WHERE, filters[i], &err), &err);
      counts_are(&w, 1, 0, count(found), 0);
      keys(&w, NULL, left);
      all_but(all, found, want);
      want[100] = true;
      assert_memory_equal(want, left, sizeof want);
      back_to(&w, head);
    }
    world_end(&w);
  }
}

/* ---- a table's column of the same name ---- */

/* bergline makes no such names, but others do: x… becomes _…. */
static void name_like_metadata(world *w) {
  size_t n;
  char *text = test_read(w->t->metadata_path, &n);
  for (size_t i = 0; i + 9 < n; i++)
    if (memcmp(text + i, "\"xfile\"", 7) == 0 || memcmp(text + i, "\"xpartiti", 9) == 0) text[i + 1] = '_';
  test_write(w->t->metadata_path, text, n);
  free(text);
  world_reopen(w);
}

static void test_meta_filters__a_column_of_the_table_wins_the_name(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, p int, xfile string, xpartition struct<p: int>", "p");
    world_append(&w, "{\"k\":0,\"p\":1,\"xfile\":\"x\",\"xpartition\":{\"p\":7}}\n"
                     "{\"k\":1,\"p\":2,\"xfile\":\"y\",\"xpartition\":{\"p\":1}}\n");
    name_like_metadata(&w);
    world_update(&w, "p = 9", "_partition.p = 1", modes[i]);
    counts_are(&w, 0, 1, 0, 0);
    world_delete(&w, "meta._partition.p = 9", modes[i]);
    counts_are(&w, 0, 0, 1, 0);
    world_delete(&w, "_file = 'y'", modes[i]);
    counts_are(&w, 0, 0, 0, 0);
    world_delete(&w, "_file = 'x' and meta._file <> 'x'", modes[i]);
    counts_are(&w, 0, 0, 1, 0);
    world_end(&w);
  }
}

static void test_meta_filters__names_that_are_not_there_are_told(void **state) {
  (void)state;
  static const char *const wrong[][2] = {{"_partition.q = 1", "column \"_partition.q\""},
                                         {"_deleted = true", "column \"_deleted\""},
                                         {"_partition = 1", "a column of type struct"}};
  world w = begin(3);
  size_t before = w.t->metadata->n_snapshots;
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_delete_rows(w.t, wrong[i][0], NULL, &w.r, &err), &err);
    test_says(&err, wrong[i][1]);
    assert_true(err.position >= 0);
  }
  world_reopen(&w);
  assert_int_equal(w.t->metadata->n_snapshots, before);
  world_end(&w);
}

/* ---- others commit meanwhile ---- */

typedef struct meeting {
  const char *where, *added;
  bool conflicts;
} meeting;

static const meeting meetings[] = {
    {"_partition.p = 1", "{\"k\":50,\"p\":2}\n", false},
    {"_partition.p = 1", "{\"k\":50,\"p\":1}\n", true},
    {"_partition.p = 1 and k < 40", "{\"k\":50,\"p\":1}\n", false},
    {"_partition.p is null", "{\"k\":50,\"p\":1}\n", false},
    {"_partition.p is null", "{\"k\":50,\"p\":null}\n", true},
    {"_partition.p is not null and k = 0", "{\"k\":0,\"p\":null}\n", false},
    {"_spec_id = 1", "{\"k\":50,\"p\":1}\n", false},
    {"_spec_id = 0", "{\"k\":50,\"p\":1}\n", true},
    {"_file = 'x' or k = 0", "{\"k\":50,\"p\":1}\n", false},
    {"_file <> 'x'", "{\"k\":50,\"p\":1}\n", true},
    {"_pos > 0", "{\"k\":50,\"p\":1}\n", false},
    {"_pos < 1", "{\"k\":50,\"p\":1}\n", true},
    {"_last_updated_at < timestamptz '2020-01-01T00:00:00+00:00' or k = 0", "{\"k\":50,\"p\":1}\n", true},
};

static world pair(void) {
  world w = world_new(3, "k long, p int", "p");
  world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n{\"k\":3,\"p\":null}\n");
  world_set(&w, "commit.retry.num-retries=0");
  return w;
}

static void test_meta_filters__only_what_could_have_been_read_conflicts(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * BL_LEN(meetings); i++) {
    const meeting *m = &meetings[i / 2];
    bl_error err = BL_ERROR_INIT;
    world w = pair();
    bl_table *other;
    bl_write_options o = {.mode = modes[i % 2], .batch_id = "b"}; /* it is committed even where nothing is found */
    test_ok(bl_table_open(w.ctx, w.table, NULL, &other, &err), &err);
    world_append(&w, m->added);
    bl_status st = bl_delete_rows(other, m->where, &o, &w.r, &err);
    if (st != (m->conflicts ? BL_CONFLICT : BL_OK)) fail_msg("%s and %s: %d", m->where, m->added, (int)st);
    if (m->conflicts) test_says(&err, "may hold rows that the change would have read");
    bl_table_free(other);
    world_end(&w);
  }
}

/* The same, staged by one process and committed by another. */
static void test_meta_filters__go_along_with_staged_work(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * BL_LEN(meetings); i++) {
    const meeting *m = &meetings[i / 2];
    bl_error err = BL_ERROR_INIT;
    world w = pair();
    char *text = NULL;
    bl_write_options o = {.mode = modes[i % 2], .batch_id = "b", .stage = &text};
    test_ok(bl_delete_rows(w.t, m->where, &o, &w.r, &err), &err);
    assert_non_null(strstr(text, "\"where\""));
    world_append(&w, m->added);
    bl_status st = bl_commit_staged(w.t, (const char *const *)&text, 1, NULL, &w.r, &err);
    if (st != (m->conflicts ? BL_CONFLICT : BL_OK)) fail_msg("%s and %s: %d", m->where, m->added, (int)st);
    bl_text_free(w.ctx, text);
    world_end(&w);
  }
}

/* Each filter as text, and back. */
static void test_meta_filters__come_through_as_text(void **state) {
  (void)state;
  bool all[200], found[200], left[200], want[200];
  world w = begin(3);
  int64_t head = w.t->metadata->current_snapshot_id;
  keys(&w, NULL, all);
  for (size_t i = 0; i < BL_LEN(filters); i++) {
    bl_error err = BL_ERROR_INIT;
    char *text = NULL;
    bl_write_options o = {.mode = BL_MERGE_ON_READ, .batch_id = "b", .stage = &text};
    keys(&w, filters[i], found);
    test_ok(bl_delete_rows(w.t, filters[i], &o, &w.r, &err), &err);
    test_ok(bl_commit_staged(w.t, (const char *const *)&text, 1, NULL, &w.r, &err), &err);
    world_reopen(&w);
    keys(&w, NULL, left);
    all_but(all, found, want);
    assert_memory_equal(want, left, sizeof want);
    bl_text_free(w.ctx, text);
    back_to(&w, head);
  }
  world_end(&w);
}

static void test_meta_filters__a_row_that_moved_is_found_by_its_id(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, v int", NULL);
    bl_table *other;
    bl_write_options o = {.mode = modes[i]};
    const char *set = "v = v + 1";
    world_append(&w, "{\"k\":0,\"v\":0}\n{\"k\":1,\"v\":0}\n");
    test_ok(bl_table_open(w.ctx, w.table, NULL, &other, &err), &err);
    world_update(&w, set, "_row_id = 1", modes[i]);
    test_ok(bl_update_rows(other, &set, 1, "_row_id = 1", &o, &w.r, &err), &err);
    world_reopen(&w);
    world_shows(&w, "{\"k\":0,\"v\":0,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                    "{\"k\":1,\"v\":2,\"_row_id\":1,\"_last_updated_sequence_number\":3}\n");
    bl_table_free(other);
    world_end(&w);
  }
}

/* ---- in the new values ---- */

static void test_meta_filters__values_are_made_of_metadata_columns(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, p int, s string, n long", "p");
    bl_error err = BL_ERROR_INIT;
    const char *set[] = {"s = case when _partition.p = 1 then 'one' when _partition.p is null then 'none' else "
                         "'of ' || _partition.p end",
                         "n = _pos * 100 + _spec_id + coalesce(_row_id, 0)"};
    bl_write_options o = {.mode = modes[i]};
    world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n{\"k\":3,\"p\":null}\n");
    test_ok(bl_update_rows(w.t, set, 2, "k > 0", &o, &w.r, &err), &err);
    world_reopen(&w);
    counts_are(&w, 0, 3, 0, 0);
    world_holds(&w, "{\"k\":0,\"p\":1,\"s\":null,\"n\":null}\n{\"k\":1,\"p\":1,\"s\":\"one\",\"n\":101}\n"
                    "{\"k\":2,\"p\":2,\"s\":\"of 2\",\"n\":2}\n{\"k\":3,\"p\":null,\"s\":\"none\",\"n\":3}\n");
    world_update(&w, "s = _file", "k = 2", modes[i]);
    world_update(&w, "n = k", "starts_with(s, '/') and s <> _file", modes[i]);
    counts_are(&w, 0, 1, 0, 0);
    const char *wrong = "s = _partition";
    test_status(BL_USAGE, bl_update_rows(w.t, &wrong, 1, NULL, &o, &w.r, &err), &err);
    test_says(&err, "a value of type struct is no string");
    world_end(&w);
  }
}

/* Version 2 has no ids: they are null. */
static void test_meta_filters__values_of_tables_without_ids(void **state) {
  (void)state;
  world w = world_new(2, "k long, p int, n long", "p");
  world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":2}\n");
  world_update(&w, "n = coalesce(_row_id, _partition.p * 10)", "_row_id is null", BL_COPY_ON_WRITE);
  counts_are(&w, 0, 2, 0, 0);
  world_holds(&w, "{\"k\":0,\"p\":1,\"n\":10}\n{\"k\":1,\"p\":2,\"n\":20}\n");
  world_end(&w);
}

/* ---- rows that come in have none ---- */

static void test_meta_filters__are_none_of_rows_that_come_in(void **state) {
  (void)state;
  static const char *const key[] = {"k"};
  static const char *const wrong[] = {"_row_id = 1", "p = 1 and _partition.p = 1", "k = _pos", "meta._file = 'x'"};
  world w = pair();
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    bl_error err = BL_ERROR_INIT;
    bl_upsert_options u = {.key = key, .n_key = 1, .delete_when = wrong[i]};
    test_status(BL_USAGE, world_try_upsert(&w, "{\"k\":0,\"p\":1}\n", &u, BL_MERGE_ON_READ, &err), &err);
    test_says(&err, "the table's rows have it, but those that come in do not");
  }
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meta_filters__pick_what_a_scan_finds),
      cmocka_unit_test(test_meta_filters__delete_takes_what_a_scan_finds),
      cmocka_unit_test(test_meta_filters__update_changes_what_a_scan_finds),
      cmocka_unit_test(test_meta_filters__overwrite_replaces_what_a_scan_finds),
      cmocka_unit_test(test_meta_filters__a_column_of_the_table_wins_the_name),
      cmocka_unit_test(test_meta_filters__names_that_are_not_there_are_told),
      cmocka_unit_test(test_meta_filters__only_what_could_have_been_read_conflicts),
      cmocka_unit_test(test_meta_filters__go_along_with_staged_work),
      cmocka_unit_test(test_meta_filters__come_through_as_text),
      cmocka_unit_test(test_meta_filters__a_row_that_moved_is_found_by_its_id),
      cmocka_unit_test(test_meta_filters__values_are_made_of_metadata_columns),
      cmocka_unit_test(test_meta_filters__values_of_tables_without_ids),
      cmocka_unit_test(test_meta_filters__are_none_of_rows_that_come_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
