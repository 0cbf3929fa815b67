/* test_verbs.c: delete, update and overwrite: ids, vectors, files that go whole, conflicts, refusals. */
#include <dirent.h>

#include "verbs_world.h"

#include "edge/io_local.h"
#include "support/fault_io.h"
#include "write/commit.h"

static const bl_write_mode modes[] = {BL_MERGE_ON_READ, BL_COPY_ON_WRITE};

#define FIVE "{\"k\":0}\n{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n{\"k\":4}\n"

/* ---- update ---- */

static void test_update__keeps_the_row_id_and_takes_the_new_sequence_number(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":1,\"s\":\"b\"}\n{\"k\":2,\"s\":\"c\"}\n{\"k\":3,\"s\":\"d\"}\n");
    world_update(&w, "s = s || '!'", "k = 1", modes[i]);
    counts_are(&w, 0, 1, 0, 0);
    assert_string_equal(world_summary(&w, "operation"), "overwrite");
    world_shows(&w, "{\"k\":0,\"s\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                    "{\"k\":1,\"s\":\"b!\",\"_row_id\":1,\"_last_updated_sequence_number\":2}\n"
                    "{\"k\":2,\"s\":\"c\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n"
                    "{\"k\":3,\"s\":\"d\",\"_row_id\":3,\"_last_updated_sequence_number\":1}\n");
    world_update(&w, "s = s || '?'", "k = 1", modes[1 - i]);
    row_is(&w, 1, 1, 3);
    row_is(&w, 0, 0, 1);
    world_end(&w);
  }
}

static void test_update__is_one_update_in_the_changelog(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long", NULL);
    world_append(&w, FIVE);
    world_update(&w, "k = k + 100", "k = 3", modes[i]);
    struct ArrowArrayStream s;
    test_rows got;
    bl_changes_options o = {.from = "seq:1"};
    test_ok(bl_changes(w.t, &o, &s, &err), &err);
    test_rows_stream(w.ctx, &s, &got);
    assert_int_equal(got.n, 2);
    for (size_t k = 0; k < 2; k++) assert_int_equal(test_rows_int(&got, k, "_row_id"), 3);
    assert_non_null(strstr(got.lines[0], "UPDATE_BEFORE"));
    assert_non_null(strstr(got.lines[1], "UPDATE_AFTER"));
    test_rows_free(&got);
    world_end(&w);
  }
}

static void test_update__of_all_rows_removes_the_files(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long", NULL);
    world_append(&w, FIVE);
    world_update(&w, "k = k * 2", NULL, modes[i]);
    assert_int_equal(w.r.data_files_removed, 1);
    assert_int_equal(w.r.delete_files_added, 0);
    row_is(&w, 8, 4, 2);
    world_end(&w);
  }
}

static void test_update__moves_rows_between_partitions(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, p int", "p");
    world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n");
    world_update(&w, "p = 2", "k = 1", modes[i]);
    row_is(&w, 1, 1, 2);
    world_delete(&w, "p = 2", BL_COPY_ON_WRITE);
    counts_are(&w, 0, 0, 2, 0);
    world_shows(&w, "{\"k\":0,\"p\":1,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n");
    world_end(&w);
  }
}

static void test_update__sets_nested_fields_and_copies_nested_values(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, a struct<x int, y string>, b struct<x int, y string>", NULL);
    world_append(&w,
                 "{\"k\":0,\"a\":{\"x\":1,\"y\":\"p\"},\"b\":null}\n{\"k\":1,\"a\":{\"x\":2,\"y\":null},\"b\":null}\n"
                 "{\"k\":2,\"a\":null,\"b\":{\"x\":9,\"y\":\"q\"}}\n");
    world_update(&w, "a.x = a.x + 10", "k < 2 and a.x = 1", modes[i]);
    world_update(&w, "b = a", "k = 1", modes[i]);
    world_update(&w, "b = null", "k = 2", modes[i]);
    world_holds(&w,
                "{\"k\":0,\"a\":{\"x\":11,\"y\":\"p\"},\"b\":null}\n"
                "{\"k\":1,\"a\":{\"x\":2,\"y\":null},\"b\":{\"x\":2,\"y\":null}}\n{\"k\":2,\"a\":null,\"b\":null}\n");
    world_end(&w);
  }
}

static void update_both(world *w, const char *first, const char *second, const char *where, bl_write_mode mode) {
  bl_error err = BL_ERROR_INIT;
  const char *set[] = {first, second};
  bl_write_options o = {.mode = mode};
  test_ok(bl_update_rows(w->t, set, 2, where, &o, &w->r, &err), &err);
  world_reopen(w);
}

static void update_fails(world *w, const char *set, const char *where, const char *says) {
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    bl_write_options o = {.mode = modes[i]};
    size_t before = world_count_files(w), snapshots = w->t->metadata->n_snapshots;
    test_status(BL_USAGE, bl_update_rows(w->t, &set, 1, where, &o, &w->r, &err), &err);
    test_says(&err, says);
    world_reopen(w);
    assert_int_equal(world_count_files(w), before);
    assert_int_equal(w->t->metadata->n_snapshots, snapshots);
  }
}

/* As Spark does it: UPDATE … SET st.b.c = 'x' makes struct(null, …, struct(…, 'x')). */
static void test_update__of_a_field_makes_the_null_structs_around_it(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long, st struct<a list<int>, b struct<c string, d int>, e string>", NULL);
    world_append(&w, "{\"k\":0,\"st\":null}\n{\"k\":1,\"st\":{\"a\":[1],\"b\":null,\"e\":\"e\"}}\n"
                     "{\"k\":2,\"st\":{\"a\":[2,3],\"b\":{\"c\":\"c\",\"d\":4},\"e\":\"f\"}}\n{\"k\":3,\"st\":null}\n");
    world_update(&w, "st.b.c = 'x'", "k < 3", modes[i]);
    world_shows(&w, "{\"k\":0,\"st\":{\"a\":null,\"b\":{\"c\":\"x\",\"d\":null},\"e\":null},\"_row_id\":0,"
                    "\"_last_updated_sequence_number\":2}\n"
                    "{\"k\":1,\"st\":{\"a\":[1],\"b\":{\"c\":\"x\",\"d\":null},\"e\":\"e\"},\"_row_id\":1,"
                    "\"_last_updated_sequence_number\":2}\n"
                    "{\"k\":2,\"st\":{\"a\":[2,3],\"b\":{\"c\":\"x\",\"d\":4},\"e\":\"f\"},\"_row_id\":2,"
                    "\"_last_updated_sequence_number\":2}\n"
                    "{\"k\":3,\"st\":null,\"_row_id\":3,\"_last_updated_sequence_number\":1}\n");
    update_both(&w, "st.e = 'z'", "st.b.d = 7", "k = 3", modes[i]);
    update_both(&w, "st.b.d = 8", "st.a = null", "k = 2", modes[i]);
    world_holds(&w, "{\"k\":0,\"st\":{\"a\":null,\"b\":{\"c\":\"x\",\"d\":null},\"e\":null}}\n"
                    "{\"k\":1,\"st\":{\"a\":[1],\"b\":{\"c\":\"x\",\"d\":null},\"e\":\"e\"}}\n"
                    "{\"k\":2,\"st\":{\"a\":null,\"b\":{\"c\":\"x\",\"d\":8},\"e\":\"f\"}}\n"
                    "{\"k\":3,\"st\":{\"a\":null,\"b\":{\"c\":null,\"d\":7},\"e\":\"z\"}}\n");
    world_end(&w);
  }
}

static bl_status plan_to_fill(bl_ctx *ctx, void *user, bl_error *err) {
  const char *set = "st.b.c = 'x'";
  bl_table *t;
  BL_TRY(bl_table_open(ctx, user, NULL, &t, err));
  bl_status st = bl_update_rows(t, &set, 1, NULL, &(bl_write_options){.dry_run = true}, NULL, err);
  bl_table_free(t);
  return st;
}

static void test_update__of_a_field_fails_cleanly_when_memory_runs_out(void **state) {
  (void)state;
  world w = world_new(3, "k long, st struct<a int, b struct<c string, d int>>", NULL);
  world_append(&w, "{\"k\":0,\"st\":{\"a\":1,\"b\":{\"c\":\"c\",\"d\":4}}}\n{\"k\":1,\"st\":null}\n");
  test_fail_each(plan_to_fill, w.table);
  world_end(&w);
}

static void test_update__of_a_field_refuses_null_structs_whose_other_fields_must_have_values(void **state) {
  (void)state;
  world w = world_new(3, "k long, st struct<a int, b struct<c string, d int not null>>", NULL);
  world_append(&w, "{\"k\":0,\"st\":{\"a\":1,\"b\":{\"c\":\"c\",\"d\":4}}}\n{\"k\":1,\"st\":null}\n");
  update_fails(&w, "st.b.c = 'x'", NULL, "column st.b.c: row 1 of ");
  update_fails(&w, "st.b.c = 'x'", "k = 1",
               ", _row_id 1: the struct around it is null, and its field d must have a value");
  update_fails(&w, "st.b.d = null", "k = 0", "column st.b.d: row 0 of ");
  update_both(&w, "st.b.c = 'x'", "st.b.d = 5", NULL, BL_COPY_ON_WRITE);
  world_holds(&w, "{\"k\":0,\"st\":{\"a\":1,\"b\":{\"c\":\"x\",\"d\":5}}}\n"
                  "{\"k\":1,\"st\":{\"a\":null,\"b\":{\"c\":\"x\",\"d\":5}}}\n");
  world_end(&w);
}

static void test_update__that_fails_at_a_row_names_it_and_leaves_nothing(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, v int", NULL);
  world_append(&w, "{\"k\":0,\"v\":1}\n{\"k\":1,\"v\":0}\n{\"k\":2,\"v\":2}\n");
  update_fails(&w, "v = 10 / v", NULL, "column v: row 1 of ");
  update_fails(&w, "v = 10 / v", NULL, ", _row_id 1: division by zero");
  update_fails(&w, "v = v + 2147483647", "k = 2", "2147483649 does not fit the type int");
  update_fails(&w, "k = null", "k = 2", "null, but the column is required");
  update_fails(&w, "k = v - cast(null as int)", "k = 2", "null, but the column is required");
  update_fails(&w, "nope = 1", NULL, "set 1: expression \"nope = 1\": byte 0: column \"nope\"");
  update_fails(&w, "_row_id = 1", NULL, "there is none of this name");
  update_fails(&w, "v = 1", "nope = 1", "there is none of this name");
  bl_error err = BL_ERROR_INIT;
  const char *twice[] = {"v = 1", "v = 2"};
  test_status(BL_USAGE, bl_update_rows(w.t, twice, 2, NULL, NULL, &w.r, &err), &err);
  test_says(&err, "set 2: ");
  test_says(&err, "it is set twice");
  world_end(&w);
}

static void test_update__sees_lineage_columns(void **state) {
  (void)state;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  world_update(&w, "k = _row_id * 10 + _last_updated_sequence_number", "_row_id >= 3", BL_MERGE_ON_READ);
  counts_are(&w, 0, 2, 0, 0);
  row_is(&w, 41, 4, 2);
  world_end(&w);
}

/* ---- delete ---- */

static void test_delete__keeps_what_the_other_rows_had(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long", NULL);
    for (int n = 0; n < 2; n++) world_append(&w, FIVE);
    world_append(&w, "{\"k\":10}\n{\"k\":11}\n{\"k\":12}\n{\"k\":13}\n{\"k\":14}\n");
    world_delete(&w, "k = 11", modes[i]);
    counts_are(&w, 0, 0, 1, 0);
    assert_string_equal(world_summary(&w, "operation"), i == 0 ? "delete" : "overwrite");
    row_is(&w, 10, 10, 3);
    row_is(&w, 12, 12, 3);
    row_is(&w, 14, 14, 3);
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DATA, NULL), 3);
    world_end(&w);
  }
}

static void test_delete__that_matches_nothing_makes_no_file_and_no_snapshot(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    world w = world_new(3, "k long", NULL);
    world_append(&w, FIVE);
    size_t before = world_count_files(&w);
    world_delete(&w, "k > 100", modes[i]);
    assert_false(w.r.committed);
    world_delete(&w, "k in (0, 4) and k = 2", modes[i]);
    assert_false(w.r.committed);
    counts_are(&w, 0, 0, 0, 0);
    assert_int_equal(world_count_files(&w), before);
    assert_int_equal(w.t->metadata->n_snapshots, 1);
    world_end(&w);
  }
}

static void test_delete__of_an_empty_table_does_nothing(void **state) {
  (void)state;
  world w = world_new(3, "k long", NULL);
  world_delete(&w, NULL, BL_MERGE_ON_READ);
  assert_false(w.r.committed);
  world_end(&w);
}

static void test_delete__unites_vectors_of_one_file(void **state) {
  (void)state;
  world w = world_new(3, "k long", NULL);
  int64_t rows;
  world_append(&w, FIVE);
  world_delete(&w, "k = 1", BL_MERGE_ON_READ);
  world_delete(&w, "k = 3", BL_MERGE_ON_READ);
  assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, &rows), 1);
  assert_int_equal(rows, 2);
  world_holds(&w, "{\"k\":0}\n{\"k\":2}\n{\"k\":4}\n");
  world_shows_at(&w, "seq:1", false, FIVE);
  world_shows_at(&w, "seq:2", false, "{\"k\":0}\n{\"k\":2}\n{\"k\":3}\n{\"k\":4}\n");
  world_end(&w);
}

static void test_delete__of_the_last_rows_of_a_file_removes_it_with_its_vector(void **state) {
  (void)state;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  world_append(&w, "{\"k\":10}\n{\"k\":11}\n");
  world_delete(&w, "k in (1, 10)", BL_MERGE_ON_READ);
  assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, NULL), 2);
  world_delete(&w, "k < 10", BL_MERGE_ON_READ);
  counts_are(&w, 0, 0, 4, 0);
  assert_int_equal(world_count_live(&w, BL_MANIFEST_DATA, NULL), 1);
  assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, NULL), 1);
  world_holds(&w, "{\"k\":11}\n");
  world_end(&w);
}

/* Data files must not be opened. */
static bl_status no_data(void *user, long call, const char *operation, const char *path, bl_error *err) {
  (void)call;
  bool *forbidden = user;
  if (!*forbidden || strcmp(operation, "open") != 0 || !strstr(path, ".parquet")) return BL_OK;
  return bl_fail(err, BL_IO, "opened: %s", path);
}

static void test_delete__of_whole_partitions_opens_no_data_file(void **state) {
  (void)state;
  for (size_t n = 0; n < 2 * BL_LEN(modes); n++) {
    size_t i = n / 2;
    bl_error err = BL_ERROR_INIT;
    fault_io fault;
    bl_io *local = NULL;
    bool forbidden = false;
    world w = world_new(3, "k long, p int", "p");
    bl_drivers drivers = {0};
    test_ok(bl_drivers_default(w.ctx, &drivers, &err), &err);
    test_ok(bl_io_local_new(w.ctx, &local, &err), &err);
    bl_drivers own = drivers;
    own.io = fault_io_new(&fault, local);
    fault.hook = no_data;
    fault.user = &forbidden;
    w.to.drivers = &own;
    world_reopen(&w);
    world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n{\"k\":3,\"p\":2}\n{\"k\":4,\"p\":3}\n");
    world_delete(&w, "k in (0, 2)", BL_MERGE_ON_READ);
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, NULL), 2);
    forbidden = true;
    world_delete(&w, n % 2 ? "_partition.p = 1" : "p = 1", modes[i]); /* by partition */
    counts_are(&w, 0, 0, 1, 0);
    assert_string_equal(world_summary(&w, "operation"), "delete");
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, NULL), 1); /* its neighbour in the Puffin file stays */
    world_delete(&w, "k >= 4", modes[i]);                                 /* by metrics */
    counts_are(&w, 0, 0, 1, 0);
    forbidden = false;
    world_holds(&w, "{\"k\":3,\"p\":2}\n");
    world_delete(&w, "p = 2", modes[i]);
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, NULL), 0);
    bl_table_free(w.t);
    w.t = NULL;
    own.io->free(own.io);
    bl_drivers_dispose(&drivers);
    world_end(&w);
  }
}

static void test_delete__counts_and_writes_nothing_in_a_dry_run(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  size_t before = world_count_files(&w);
  bl_write_options o = {.dry_run = true};
  const char *set = "k = 1";
  test_ok(bl_delete_rows(w.t, "k < 2", &o, &w.r, &err), &err);
  counts_are(&w, 0, 0, 2, 0);
  assert_false(w.r.committed);
  test_ok(bl_update_rows(w.t, &set, 1, "k < 3", &o, &w.r, &err), &err);
  counts_are(&w, 0, 3, 0, 0);
  assert_int_equal(world_count_files(&w), before);
  world_end(&w);
}

static void test_delete__is_not_done_twice_for_one_batch(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  bl_write_options o = {.batch_id = "b1"};
  test_ok(bl_delete_rows(w.t, "k = 1", &o, &w.r, &err), &err);
  assert_true(w.r.committed);
  world_reopen(&w);
  test_ok(bl_delete_rows(w.t, "k = 2", &o, &w.r, &err), &err);
  assert_true(w.r.already_applied);
  assert_false(w.r.committed);
  world_end(&w);
}

/* ---- files that are rewritten ---- */

/* Data files whose first column begins with a dictionary, and those where it does not: a page header (Thrift, compact)
 * begins with its type, 2 for a dictionary. */
static void count_dictionaries(const world *w, int *with, int *without) {
  char *folder = test_join(w->table, "data");
  DIR *d = opendir(folder);
  assert_non_null(d);
  *with = *without = 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    char *path = test_join(folder, e->d_name);
    size_t n;
    uint8_t *bytes = test_read(path, &n);
    assert_true(n > 6 && bytes[4] == 0x15);
    ++*(bytes[5] == 2 << 1 ? with : without);
    free(bytes);
    free(path);
  }
  closedir(d);
  free(folder);
}

static void test_rewriting__tries_no_dictionary_that_was_too_small_before(void **state) {
  (void)state;
  int with, without;
  for (int few = 0; few < 2; few++) {
    world w = world_new(3, "k long, s string", NULL);
    bl_buf lines;
    bl_buf_init(&lines, w.ctx, BL_BUF_MAX);
    world_set(&w, "write.parquet.dict-size-bytes=8000");
    world_set(&w, "write.parquet.page-row-limit=500");
    for (int i = 0; i < 6000; i++) bl_buf_printf(&lines, "{\"k\":%d,\"s\":\"a\"}\n", few ? i % 10 : i);
    bl_buf_byte(&lines, 0);
    world_append(&w, (const char *)lines.p);
    count_dictionaries(&w, &with, &without);
    assert_int_equal(with, 1);
    assert_int_equal(without, 0);
    world_update(&w, "s = 'b'", "k = 5", BL_COPY_ON_WRITE);
    count_dictionaries(&w, &with, &without);
    assert_int_equal(with, few ? 2 : 1);
    assert_int_equal(without, few ? 0 : 1);
    world_delete(&w, "k = 6", BL_COPY_ON_WRITE);
    count_dictionaries(&w, &with, &without);
    assert_int_equal(without, few ? 0 : 2);
    bl_buf_free(&lines);
    world_end(&w);
  }
}

static void count_warning(void *user, bl_log_level level, const char *message) {
  if (level == BL_LOG_WARNING && strstr(message, "write.metadata.metrics.column.k")) ++*(int *)user;
}

/* As programs do that do not look at it. */
static bl_status set_nonsense(void *user, bl_edit *e, bl_error *err) {
  (void)user;
  return bl_edit_property(e, BL_STR("write.metadata.metrics.column.k"), BL_STR("much"), err);
}

static void test_rewriting__tells_once_what_is_wrong_with_a_property(void **state) {
  (void)state;
  int warnings = 0;
  test_heap heap = {0};
  bl_ctx_options co;
  bl_ctx_options_init(&co);
  co.threads = 4;
  co.log = count_warning;
  co.user = &warnings;
  world w = world_new_with(test_ctx_on(&heap, &co), 3, "k long, p int", "p");
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_commit_metadata(w.t, "test", set_nonsense, NULL, NULL, &err), &err);
  world_reopen(&w);
  for (int i = 0; i < 8; i++) world_append(&w, "{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n");
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    warnings = 0;
    world_update(&w, "p = p + 2", "k = 1", modes[i]);
    assert_int_equal(w.r.rows_updated, 8);
    assert_int_equal(warnings, 1);
  }
  world_end(&w);
}

/* ---- the table's sort order ---- */

static world sorted_world(int version) {
  bl_error err = BL_ERROR_INIT;
  world w = {.ctx = test_ctx(), .dir = test_temp_dir()};
  bl_create_options o = {.schema = "k long, d long", .sort = "d desc", .format_version = version};
  w.table = test_join(w.dir, "t");
  test_ok(bl_table_create(w.ctx, w.table, NULL, &o, &err), &err);
  world_reopen(&w);
  return w;
}

static void append_range(world *w, int begin, int end) {
  bl_buf lines;
  bl_buf_init(&lines, w->ctx, BL_BUF_MAX);
  for (int k = begin; k < end; k++) bl_buf_printf(&lines, "{\"k\":%d,\"d\":%d}\n", k, k);
  bl_buf_byte(&lines, 0);
  world_append(w, (const char *)lines.p);
  bl_buf_free(&lines);
}

/* Each live data file says that it is in the order, and is; there are n. */
static void files_are_sorted(world *w, size_t n) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n_manifests, n_entries, live = 0, steps_up = 0; /* only from one file to the next */
  test_rows rows = world_scan(w, NULL, false);
  test_ok(bl_arena_new(w->ctx, &a, &err), &err);
  test_ok(bl_table_manifests(w->t, world_head(w), a, &ms, &n_manifests, &err), &err);
  for (size_t i = 0; i < n_manifests; i++) {
    bl_manifest_entry *es;
    if (ms[i].content != BL_MANIFEST_DATA) continue;
    test_ok(bl_table_manifest_entries(w->t, &ms[i], true, a, &es, &n_entries, &err), &err);
    for (size_t k = 0; k < n_entries; k++) {
      if (es[k].status == BL_DELETED) continue;
      assert_int_equal(es[k].file.sort_order_id, 1);
      live++;
    }
  }
  assert_int_equal(live, n);
  for (size_t row = 1; row < rows.n; row++)
    steps_up += test_rows_int(&rows, row, "d") > test_rows_int(&rows, row - 1, "d");
  assert_true(steps_up < n);
  test_rows_free(&rows);
  bl_arena_free(a);
}

static void test_update__writes_files_in_the_order_of_the_table(void **state) {
  (void)state;
  for (int mode = BL_COPY_ON_WRITE; mode <= BL_MERGE_ON_READ; mode++) {
    world w = sorted_world(3);
    append_range(&w, 0, 50);
    files_are_sorted(&w, 1);
    world_update(&w, "d = 100 - d", "k > 40", (bl_write_mode)mode);
    counts_are(&w, 0, 9, 0, 0);
    files_are_sorted(&w, mode == BL_MERGE_ON_READ ? 2 : 1);
    row_is(&w, 45, 4, 2);
    row_is(&w, 3, 46, 1);
    world_end(&w);
  }
}

/* Sorted again the rows of two small files would come into one, by one thread. */
static void test_update__of_columns_that_do_not_order_leaves_rows_where_they_are(void **state) {
  (void)state;
  world w = sorted_world(3);
  w.ctx->o.threads = 1;
  append_range(&w, 0, 50);
  append_range(&w, 50, 100);
  world_update(&w, "k = k + 1000", "d in (3, 60)", BL_COPY_ON_WRITE);
  counts_are(&w, 0, 2, 0, 0);
  files_are_sorted(&w, 2);
  row_is(&w, 1003, 46, 3);
  row_is(&w, 1060, 89, 3);
  row_is(&w, 61, 88, 2);
  world_update(&w, "d = d + 1", "d in (3, 60)", BL_COPY_ON_WRITE);
  files_are_sorted(&w, 1);
  world_end(&w);
}

static void test_update__sorts_files_that_are_in_another_order(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, d long", NULL);
  const char *words[] = {"sort", "d desc"};
  w.ctx->o.threads = 1;
  append_range(&w, 0, 50);
  test_ok(bl_alter(w.t, words, 2, NULL, &err), &err);
  world_reopen(&w);
  append_range(&w, 50, 100);
  world_update(&w, "k = k + 1000", "d in (3, 60)", BL_COPY_ON_WRITE);
  counts_are(&w, 0, 2, 0, 0);
  files_are_sorted(&w, 1);
  world_end(&w);
}

static void test_update__of_a_struct_changes_the_columns_in_it(void **state) {
  (void)state;
  static const struct {
    const char *set;
    size_t files;
  } cases[] = {{"s.b = 7", 2}, {"s.a = 7", 1}, {"s = null", 1}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, s struct<a: long, b: long>", NULL);
    const char *words[] = {"sort", "s.a"};
    w.ctx->o.threads = 1;
    test_ok(bl_alter(w.t, words, 2, NULL, &err), &err);
    world_reopen(&w);
    for (int n = 0; n < 2; n++)
      world_append(&w, "{\"k\":1,\"s\":{\"a\":2,\"b\":2}}\n{\"k\":2,\"s\":{\"a\":1,\"b\":2}}\n");
    world_update(&w, cases[i].set, "k = 2", BL_COPY_ON_WRITE);
    counts_are(&w, 0, 2, 0, 0);
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DATA, NULL), cases[i].files);
    world_end(&w);
  }
}

static void test_update__sorts_files_of_version_2_too(void **state) {
  (void)state;
  world w = sorted_world(2);
  append_range(&w, 0, 50);
  world_update(&w, "d = 100 - d", "k > 40", BL_COPY_ON_WRITE);
  files_are_sorted(&w, 1);
  world_end(&w);
}

static void test_delete__a_copy_says_the_order_of_its_file(void **state) {
  (void)state;
  world w = sorted_world(3);
  append_range(&w, 0, 50);
  append_range(&w, 10, 60);
  append_range(&w, 20, 70);
  world_delete(&w, "k = 30", BL_COPY_ON_WRITE);
  counts_are(&w, 0, 0, 3, 0);
  files_are_sorted(&w, 3);
  world_end(&w);
}

/* ---- modes ---- */

static void test_mode__comes_from_the_property_where_no_option_tells(void **state) {
  (void)state;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  world_set(&w, "write.delete.mode=copy-on-write");
  world_delete(&w, "k = 1", BL_MODE_DEFAULT);
  assert_int_equal(w.r.delete_files_added, 0);
  world_set(&w, "write.delete.mode=merge-on-read");
  world_delete(&w, "k = 2", BL_MODE_DEFAULT);
  assert_int_equal(w.r.delete_files_added, 1);
  bl_error err = BL_ERROR_INIT;
  bl_pairs *p = &w.t->metadata->properties; /* as another engine may have left them */
  for (size_t i = 0; i < p->n; i++)
    if (bl_str_is(p->items[i].key, "write.delete.mode")) p->items[i].value = BL_STR("nonsense");
  test_status(BL_USAGE, bl_delete_rows(w.t, "k = 3", NULL, &w.r, &err), &err);
  test_says(&err, "write.delete.mode");
  world_end(&w);
}

static void test_mode__merge_on_read_needs_format_version_3(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(2, "k long", NULL);
  world_append(&w, FIVE);
  bl_write_options o = {.mode = BL_MERGE_ON_READ};
  test_status(BL_UNSUPPORTED, bl_delete_rows(w.t, "k = 1", &o, &w.r, &err), &err);
  test_says(&err, "format version 2");
  world_delete(&w, "k = 1", BL_MODE_DEFAULT);
  world_update(&w, "k = k + 10", "k = 2", BL_COPY_ON_WRITE);
  world_holds(&w, "{\"k\":0}\n{\"k\":12}\n{\"k\":3}\n{\"k\":4}\n");
  world_set(&w, "write.delete.mode=merge-on-read"); /* as Spark's users have it: the change is made all the same */
  world_delete(&w, "k = 3", BL_MODE_DEFAULT);
  assert_int_equal(w.r.delete_files_added, 0);
  world_holds(&w, "{\"k\":0}\n{\"k\":12}\n{\"k\":4}\n");
  world_end(&w);
}

/* ---- others commit meanwhile ---- */

/* A second handle on the version before the first one's change. */
static bl_table *earlier(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_ok(bl_table_open(w->ctx, w->table, NULL, &t, &err), &err);
  return t;
}

static void test_race__two_deletes_of_one_file_are_united(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long", NULL);
  int64_t rows;
  world_append(&w, FIVE);
  bl_table *other = earlier(&w);
  bl_write_options o = {.mode = BL_MERGE_ON_READ};
  world_delete(&w, "k = 1", BL_MERGE_ON_READ);
  test_ok(bl_delete_rows(other, "k = 3", &o, &w.r, &err), &err);
  world_reopen(&w);
  assert_int_equal(world_count_live(&w, BL_MANIFEST_DELETES, &rows), 1);
  assert_int_equal(rows, 2);
  world_holds(&w, "{\"k\":0}\n{\"k\":2}\n{\"k\":4}\n");
  bl_table_free(other);
  world_end(&w);
}

static void test_race__an_update_finds_its_row_deleted_and_does_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long", NULL);
    world_append(&w, FIVE);
    bl_table *other = earlier(&w);
    bl_write_options o = {.mode = modes[i]};
    const char *set = "k = 100";
    world_delete(&w, "k = 1", BL_MERGE_ON_READ);
    test_ok(bl_update_rows(other, &set, 1, "k = 1", &o, &w.r, &err), &err);
    assert_false(w.r.committed);
    world_reopen(&w);
    world_holds(&w, "{\"k\":0}\n{\"k\":2}\n{\"k\":3}\n{\"k\":4}\n");
    bl_table_free(other);
    world_end(&w);
  }
}

static void test_race__updates_of_one_row_follow_each_other(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, v int", NULL);
    world_append(&w, "{\"k\":0,\"v\":0}\n{\"k\":1,\"v\":0}\n");
    bl_table *other = earlier(&w);
    bl_write_options o = {.mode = modes[i]};
    const char *set = "v = v + 1";
    world_update(&w, set, "k = 1", modes[i]);
    test_ok(bl_update_rows(other, &set, 1, "k = 1", &o, &w.r, &err), &err);
    assert_true(w.r.committed);
    world_reopen(&w);
    world_shows(&w, "{\"k\":0,\"v\":0,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                    "{\"k\":1,\"v\":2,\"_row_id\":1,\"_last_updated_sequence_number\":3}\n");
    bl_table_free(other);
    world_end(&w);
  }
}

static void test_race__without_retries_a_lost_update_is_a_conflict(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, v int", NULL);
    world_append(&w, "{\"k\":0,\"v\":0}\n{\"k\":1,\"v\":0}\n");
    world_set(&w, "commit.retry.num-retries=0");
    bl_table *other = earlier(&w);
    bl_write_options o = {.mode = modes[i]};
    const char *set = "v = v + 1";
    world_update(&w, set, "k = 1", modes[i]);
    size_t before = world_count_files(&w);
    test_status(BL_CONFLICT, bl_update_rows(other, &set, 1, "k = 1", &o, &w.r, &err), &err);
    test_says(&err, "conflict");
    assert_int_equal(world_count_files(&w), before);
    row_is(&w, 1, 1, 2);
    bl_table_free(other);
    world_end(&w);
  }
}

static void test_race__a_serializable_update_sees_rows_that_were_added(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, v int", NULL);
  world_append(&w, "{\"k\":0,\"v\":0}\n{\"k\":1,\"v\":0}\n");
  bl_table *other = earlier(&w);
  world_append(&w, "{\"k\":1,\"v\":5}\n");
  const char *set = "v = v + 1";
  test_ok(bl_update_rows(other, &set, 1, "k = 1", NULL, &w.r, &err), &err);
  counts_are(&w, 0, 2, 0, 0);
  bl_table_free(other);
  other = earlier(&w);
  world_reopen(&w);
  world_set(&w, "write.update.isolation-level=snapshot");
  bl_table_free(other);
  other = earlier(&w);
  world_append(&w, "{\"k\":1,\"v\":50}\n");
  test_ok(bl_update_rows(other, &set, 1, "k = 1", NULL, &w.r, &err), &err);
  counts_are(&w, 0, 2, 0, 0); /* not the row that it did not see */
  bl_table_free(other);
  world_reopen(&w);
  world_holds(&w, "{\"k\":0,\"v\":0}\n{\"k\":1,\"v\":2}\n{\"k\":1,\"v\":7}\n{\"k\":1,\"v\":50}\n");
  world_end(&w);
}

static void test_race__an_upsert_does_not_insert_a_key_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    static const char *const key[] = {"k"};
    bl_upsert_options u = {.key = key, .n_key = 1};
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, v int", NULL);
    world_append(&w, "{\"k\":0,\"v\":0}\n");
    bl_table *other = earlier(&w);
    world_upsert(&w, "{\"k\":7,\"v\":1}\n", &u, modes[i]);
    text_input in = bytes_of("{\"k\":7,\"v\":2}\n{\"k\":8,\"v\":2}\n");
    struct ArrowArrayStream s;
    rows_of(&w, &in, &s);
    bl_write_options o = {.mode = modes[i]};
    test_ok(bl_upsert(other, &s, &u, &o, &w.r, &err), &err);
    counts_are(&w, 1, 1, 0, 0);
    world_reopen(&w);
    world_holds(&w, "{\"k\":0,\"v\":0}\n{\"k\":7,\"v\":2}\n{\"k\":8,\"v\":2}\n");
    row_is(&w, 7, 1, 3);
    bl_table_free(other);
    world_end(&w);
  }
}

static void test_race__an_overwrite_reads_its_rows_once(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long", NULL);
  world_append(&w, FIVE);
  bl_table *other = earlier(&w);
  world_append(&w, "{\"k\":3}\n{\"k\":9}\n");
  text_input in = bytes_of("{\"k\":30}\n");
  struct ArrowArrayStream s;
  rows_of(&w, &in, &s);
  test_ok(bl_overwrite(other, &s, BL_OVERWRITE_WHERE, "k = 3", NULL, &w.r, &err), &err);
  counts_are(&w, 1, 0, 2, 0);
  world_reopen(&w);
  world_holds(&w, "{\"k\":0}\n{\"k\":1}\n{\"k\":2}\n{\"k\":4}\n{\"k\":9}\n{\"k\":30}\n");
  bl_table_free(other);
  world_end(&w);
}

/* ---- overwrite ---- */

static void test_overwrite__gives_new_ids(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, p int", "p");
  world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":2}\n{\"k\":2,\"p\":2}\n");
  test_ok(world_try_overwrite(&w, "{\"k\":10,\"p\":2}\n", BL_OVERWRITE_PARTITIONS, NULL, &err), &err);
  counts_are(&w, 1, 0, 2, 0);
  assert_string_equal(world_summary(&w, "operation"), "overwrite");
  row_is(&w, 0, 0, 1);
  row_is(&w, 10, 3, 2);
  test_ok(world_try_overwrite(&w, "{\"k\":20,\"p\":7}\n", BL_OVERWRITE_WHERE, "k < 10", &err), &err);
  counts_are(&w, 1, 0, 1, 0);
  world_holds(&w, "{\"k\":10,\"p\":2}\n{\"k\":20,\"p\":7}\n");
  test_ok(world_try_overwrite(&w, "{\"k\":30,\"p\":7}\n", BL_OVERWRITE_ALL, NULL, &err), &err);
  counts_are(&w, 1, 0, 2, 0);
  world_holds(&w, "{\"k\":30,\"p\":7}\n");
  world_end(&w);
}

static void test_overwrite__with_bad_rows_leaves_nothing(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, p int", "p");
  world_append(&w, "{\"k\":0,\"p\":1}\n");
  size_t before = world_count_files(&w);
  test_status(BL_USAGE, world_try_overwrite(&w, "k,p\n1,1\nx,2\n", BL_OVERWRITE_ALL, NULL, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, world_try_overwrite(&w, "{\"k\":1,\"p\":1}\n", BL_OVERWRITE_WHERE, "nope = 1", &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, world_try_overwrite(&w, "{\"k\":1,\"p\":1}\n", BL_OVERWRITE_WHERE, NULL, &err), &err);
  assert_int_equal(world_count_files(&w), before);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_update__keeps_the_row_id_and_takes_the_new_sequence_number),
      cmocka_unit_test(test_update__is_one_update_in_the_changelog),
      cmocka_unit_test(test_update__of_all_rows_removes_the_files),
      cmocka_unit_test(test_update__moves_rows_between_partitions),
      cmocka_unit_test(test_update__sets_nested_fields_and_copies_nested_values),
      cmocka_unit_test(test_update__of_a_field_makes_the_null_structs_around_it),
      cmocka_unit_test(test_update__of_a_field_fails_cleanly_when_memory_runs_out),
      cmocka_unit_test(test_update__of_a_field_refuses_null_structs_whose_other_fields_must_have_values),
      cmocka_unit_test(test_update__that_fails_at_a_row_names_it_and_leaves_nothing),
      cmocka_unit_test(test_update__sees_lineage_columns),
      cmocka_unit_test(test_delete__keeps_what_the_other_rows_had),
      cmocka_unit_test(test_delete__that_matches_nothing_makes_no_file_and_no_snapshot),
      cmocka_unit_test(test_delete__of_an_empty_table_does_nothing),
      cmocka_unit_test(test_delete__unites_vectors_of_one_file),
      cmocka_unit_test(test_delete__of_the_last_rows_of_a_file_removes_it_with_its_vector),
      cmocka_unit_test(test_delete__of_whole_partitions_opens_no_data_file),
      cmocka_unit_test(test_delete__counts_and_writes_nothing_in_a_dry_run),
      cmocka_unit_test(test_delete__is_not_done_twice_for_one_batch),
      cmocka_unit_test(test_rewriting__tries_no_dictionary_that_was_too_small_before),
      cmocka_unit_test(test_rewriting__tells_once_what_is_wrong_with_a_property),
      cmocka_unit_test(test_update__writes_files_in_the_order_of_the_table),
      cmocka_unit_test(test_update__of_columns_that_do_not_order_leaves_rows_where_they_are),
      cmocka_unit_test(test_update__sorts_files_that_are_in_another_order),
      cmocka_unit_test(test_update__of_a_struct_changes_the_columns_in_it),
      cmocka_unit_test(test_update__sorts_files_of_version_2_too),
      cmocka_unit_test(test_delete__a_copy_says_the_order_of_its_file),
      cmocka_unit_test(test_mode__comes_from_the_property_where_no_option_tells),
      cmocka_unit_test(test_mode__merge_on_read_needs_format_version_3),
      cmocka_unit_test(test_race__two_deletes_of_one_file_are_united),
      cmocka_unit_test(test_race__an_update_finds_its_row_deleted_and_does_nothing),
      cmocka_unit_test(test_race__updates_of_one_row_follow_each_other),
      cmocka_unit_test(test_race__without_retries_a_lost_update_is_a_conflict),
      cmocka_unit_test(test_race__a_serializable_update_sees_rows_that_were_added),
      cmocka_unit_test(test_race__an_upsert_does_not_insert_a_key_twice),
      cmocka_unit_test(test_race__an_overwrite_reads_its_rows_once),
      cmocka_unit_test(test_overwrite__gives_new_ids),
      cmocka_unit_test(test_overwrite__with_bad_rows_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
