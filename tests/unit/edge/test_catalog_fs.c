/* test_catalog_fs.c: what a warehouse of folders makes of folders that are no tables. What every catalog must do is in
 * tests/conformance. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bergline/catalog.h"
#include "bergline/scan.h"
#include "bergline/write.h"
#include "support/support.h"
#include "support/tree.h"

typedef struct world {
  bl_ctx *ctx;
  char *dir;
  bl_drivers drivers;
  bl_table_options o;
  bl_catalog *c;
  char seen[500];
  bl_error err;
} world;

static void begin_with(world *w, bl_ctx *ctx) {
  *w = (world){.ctx = ctx, .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  test_ok(bl_drivers_default(w->ctx, &w->drivers, &w->err), &w->err);
  w->o = (bl_table_options){.warehouse = w->dir, .drivers = &w->drivers};
  test_ok(bl_catalog_open(w->ctx, &w->o, true, &w->c, &w->err), &w->err);
  test_ok(bl_catalog_create_namespace(w->c, "db", NULL, 0, &w->err), &w->err);
}

static void begin(world *w) {
  begin_with(w, test_ctx());
}

static void end(world *w) {
  bl_catalog_free(w->c);
  bl_drivers_dispose(&w->drivers);
  test_remove_dir(w->dir);
  test_ctx_free(w->ctx);
}

static void make_folder(world *w, const char *name) {
  char *path = test_join(w->dir, name);
  assert_int_equal(mkdir(path, 0777), 0);
  free(path);
}

static void make_file(world *w, const char *name) {
  char *path = test_join(w->dir, name);
  test_write(path, "x", 1);
  free(path);
}

static bool is_there(world *w, const char *name) {
  char *path = test_join(w->dir, name);
  bool yes = access(path, F_OK) == 0;
  free(path);
  return yes;
}

static bl_status note(void *user, const bl_catalog_entry *e, bl_error *err) {
  world *w = user;
  (void)err;
  size_t n = strlen(w->seen);
  snprintf(w->seen + n, sizeof w->seen - n, "%s%s%s ", e->name_space, e->name ? "." : "", e->name ? e->name : "");
  return BL_OK;
}

static void lists(world *w, const char *namespaces, const char *tables) {
  w->seen[0] = 0;
  test_ok(bl_catalog_namespaces(w->c, note, w, &w->err), &w->err);
  assert_string_equal(w->seen, namespaces);
  w->seen[0] = 0;
  test_ok(bl_catalog_tables(w->c, NULL, note, w, &w->err), &w->err);
  assert_string_equal(w->seen, tables);
}

/* As a process leaves it that died while it made db.t. */
static void leave_unfinished(world *w) {
  make_folder(w, "db/t");
  make_folder(w, "db/t/metadata");
  make_file(w, "db/t/metadata/.tmp-1");
  make_file(w, "db/t/metadata/.commit-lock");
}

static void test_catalog_fs__a_table_that_was_not_finished_is_nothing(void **state) {
  (void)state;
  world w;
  begin(&w);
  leave_unfinished(&w);
  lists(&w, "db ", "");
  const bl_create_options o = {.schema = "id long"};
  test_ok(bl_table_create(w.ctx, "db.t", &w.o, &o, &w.err), &w.err);
  lists(&w, "db ", "db.t ");
  end(&w);
}

static void test_catalog_fs__what_is_left_of_tables_goes_with_the_namespace(void **state) {
  (void)state;
  world w;
  begin(&w);
  leave_unfinished(&w);
  make_folder(&w, "db/.dropped-0123456789abcdef");
  make_file(&w, "db/.dropped-0123456789abcdef/rows.parquet");
  lists(&w, "db ", "");
  test_ok(bl_catalog_check_empty(w.c, "db", &w.err), &w.err);
  assert_true(is_there(&w, "db/.dropped-0123456789abcdef/rows.parquet"));
  test_ok(bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  assert_false(is_there(&w, "db"));
  end(&w);
}

static void test_catalog_fs__files_of_others_keep_a_namespace(void **state) {
  (void)state;
  world w;
  begin(&w);
  make_folder(&w, "db/metadata"); /* a namespace of that name */
  make_folder(&w, "db/metadata/inner");
  make_file(&w, "db/note.txt");
  lists(&w, "db db.metadata db.metadata.inner ", "");
  test_status(BL_CONFLICT, bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  assert_true(is_there(&w, "db/note.txt"));
  end(&w);
}

static void test_catalog_fs__a_dropped_table_leaves_nothing(void **state) {
  (void)state;
  world w;
  begin(&w);
  const bl_create_options o = {.schema = "id long"};
  test_ok(bl_table_create(w.ctx, "db.t", &w.o, &o, &w.err), &w.err);
  test_ok(bl_catalog_drop(w.ctx, &w.o, "db.t", true, false, NULL, &w.err), &w.err);
  assert_false(is_there(&w, "db/t"));
  char *path = test_join(w.dir, "db");
  assert_int_equal(rmdir(path), 0); /* not even a hidden one */
  free(path);
  end(&w);
}

static bl_status note_pair(void *user, const bl_catalog_pair *p, bl_error *err) {
  world *w = user;
  (void)err;
  size_t n = strlen(w->seen);
  snprintf(w->seen + n, sizeof w->seen - n, "%s=%s ", p->key, p->value);
  return BL_OK;
}

static void write_properties(world *w, const char *text) {
  char *path = test_join(w->dir, "db/.namespace.json");
  test_write(path, text, strlen(text));
  free(path);
}

static void test_catalog_fs__a_damaged_file_of_properties_is_named(void **state) {
  static const char *const texts[] = {"", "{", "[]", "{\"a\":1}", "{\"a\":\"\\u0000\"}", "{\"a\":\"b\"} x"};
  const char *set[] = {"a=b"};
  (void)state;
  world w;
  begin(&w);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    bl_error err = BL_ERROR_INIT;
    write_properties(&w, texts[i]);
    test_status(BL_DAMAGED, bl_catalog_namespace_properties(w.c, "db", note_pair, &w, &err), &err);
    test_says(&err, "db/.namespace.json");
    err = (bl_error)BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_catalog_set_namespace(w.c, "db", set, 1, NULL, 0, &err), &err);
  }
  lists(&w, "db ", "");
  write_properties(&w, "{\"z\":\"1\",\"a\":\"2\"}");
  w.seen[0] = 0;
  test_ok(bl_catalog_namespace_properties(w.c, "db", note_pair, &w, &w.err), &w.err);
  assert_string_equal(w.seen, "a=2 z=1 ");
  write_properties(&w, "{");
  test_ok(bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  assert_false(is_there(&w, "db"));
  end(&w);
}

static void test_catalog_fs__a_namespace_that_was_not_finished_is_nothing(void **state) {
  const char *set[] = {"a=b"};
  (void)state;
  world w;
  begin(&w);
  make_folder(&w, "db/.new-0123456789abcdef");
  make_file(&w, "db/.new-0123456789abcdef/.namespace.json");
  make_file(&w, "db/.tmp-1"); /* a change of properties that came to nothing */
  lists(&w, "db ", "");
  test_ok(bl_catalog_create_namespace(w.c, "db.n", set, 1, &w.err), &w.err);
  lists(&w, "db db.n ", "");
  assert_true(is_there(&w, "db/n/.namespace.json"));
  test_ok(bl_catalog_drop_namespace(w.c, "db.n", &w.err), &w.err);
  test_ok(bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  assert_false(is_there(&w, "db"));
  end(&w);
}

static void test_catalog_fs__hidden_files_of_others_keep_a_namespace_and_its_properties(void **state) {
  const char *set[] = {"a=b"};
  (void)state;
  world w;
  begin(&w);
  test_ok(bl_catalog_set_namespace(w.c, "db", set, 1, NULL, 0, &w.err), &w.err);
  make_file(&w, "db/.theirs");
  test_status(BL_CONFLICT, bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  assert_true(is_there(&w, "db/.namespace.json"));
  end(&w);
}

/* ---- dropped, with their files left ---- */

static void make_table(world *w, const char *name) {
  const bl_create_options o = {.schema = "id long"};
  test_ok(bl_table_create(w->ctx, name, &w->o, &o, &w->err), &w->err);
}

/* A new table that was dropped; its last metadata file, to be freed by free. */
static char *make_dropped(world *w, const char *name) {
  char *left = NULL;
  make_table(w, name);
  test_ok(bl_catalog_drop(w->ctx, &w->o, name, false, false, &left, &w->err), &w->err);
  char *copy = strdup(left);
  bl_text_free(w->ctx, left);
  return copy;
}

static void give(world *w, const char *from, const char *to) {
  char *a = from[0] == '/' ? strdup(from) : test_join(w->dir, from), *b = test_join(w->dir, to);
  test_copy_file(a, b);
  free(a);
  free(b);
}

/* The path of the file in metadata/ whose name begins so; free. */
static char *find(world *w, const char *beginning) {
  char *folder = test_join(w->dir, "db/t/metadata"), *found = NULL;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (strncmp(e->d_name, beginning, strlen(beginning)) == 0) {
      free(found);
      found = test_join(folder, e->d_name);
    }
  if (dir) closedir(dir);
  free(folder);
  return found;
}

static bool has(world *w, const char *beginning) {
  char *path = find(w, beginning);
  free(path);
  return path != NULL;
}

/* As a drop leaves it that died before it gave the files their new names. */
static char *leave_half_dropped(world *w) {
  char *last = make_dropped(w, "db.t"), *first = find(w, "00001-");
  give(w, first, "db/t/metadata/v1.metadata.json");
  assert_int_equal(unlink(first), 0);
  char *hint = test_join(w->dir, "db/t/metadata/version-hint.text");
  test_write(hint, "1", 1);
  free(hint);
  free(first);
  return last;
}

static void opens(world *w, bl_status want, const char *name) {
  bl_table *t = NULL;
  bl_error err = BL_ERROR_INIT;
  test_status(want, bl_table_open(w->ctx, name, &w->o, &t, &err), &err);
  bl_table_free(t);
}

static void test_catalog_fs__a_drop_that_was_cut_short_is_one(void **state) {
  (void)state;
  world w;
  begin(&w);
  bl_error err = BL_ERROR_INIT;
  char *last = leave_half_dropped(&w);
  lists(&w, "db ", "");
  opens(&w, BL_NOT_FOUND, "db.t");
  const bl_create_options o = {.schema = "id long"};
  test_status(BL_CONFLICT, bl_table_create(w.ctx, "db.t", &w.o, &o, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_CONFLICT, bl_catalog_drop_namespace(w.c, "db", &err), &err);
  assert_true(has(&w, "v1."));
  free(last);
  end(&w);
}

static void test_catalog_fs__a_second_drop_ends_the_first(void **state) {
  (void)state;
  world w;
  begin(&w);
  bl_error err = BL_ERROR_INIT;
  char *last = leave_half_dropped(&w);
  test_status(BL_NOT_FOUND, bl_catalog_drop(w.ctx, &w.o, "db.t", false, true, NULL, &err), &err);
  assert_true(has(&w, "v1.") && has(&w, "version-hint"));
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_catalog_drop(w.ctx, &w.o, "db.t", false, false, NULL, &err), &err);
  test_says(&err, last);
  assert_false(has(&w, "v1.") || has(&w, "version-hint"));
  assert_true(has(&w, "00001-"));
  free(last);
  end(&w);
}

static void test_catalog_fs__a_drop_that_was_cut_short_is_registered_by_either_file(void **state) {
  (void)state;
  for (int by_last = 0; by_last < 2; by_last++) {
    world w;
    begin(&w);
    char *last = leave_half_dropped(&w), *old = find(&w, "v1.");
    test_ok(bl_catalog_register(w.ctx, &w.o, "db.t", by_last ? last : old, false, &w.err), &w.err);
    lists(&w, "db ", "db.t ");
    opens(&w, BL_OK, "db.t");
    assert_true(has(&w, "v3.") && has(&w, "00001-"));
    assert_false(has(&w, "v1.") || has(&w, ".dropped"));
    free(old);
    free(last);
    end(&w);
  }
}

static void test_catalog_fs__a_version_that_others_commit_to_a_dropped_table_counts(void **state) {
  (void)state;
  world w;
  begin(&w);
  char *last = leave_half_dropped(&w);
  give(&w, last, "db/t/metadata/v2.metadata.json");
  lists(&w, "db ", "db.t ");
  opens(&w, BL_OK, "db.t");
  bl_error err = BL_ERROR_INIT;
  test_status(BL_CONFLICT, bl_catalog_register(w.ctx, &w.o, "db.t", last, false, &err), &err);
  char *left = NULL;
  test_ok(bl_catalog_drop(w.ctx, &w.o, "db.t", false, false, &left, &w.err), &w.err);
  lists(&w, "db ", "");
  assert_false(has(&w, "v2.") || has(&w, "v1."));
  bl_text_free(w.ctx, left);
  free(last);
  end(&w);
}

static void test_catalog_fs__a_table_that_others_make_of_a_dropped_one_is_there(void **state) {
  (void)state;
  world w;
  begin(&w);
  free(make_dropped(&w, "db.t"));
  make_table(&w, "db.other");
  give(&w, "db/other/metadata/v1.metadata.json", "db/t/metadata/v1.metadata.json");
  char *hint = test_join(w.dir, "db/t/metadata/version-hint.text");
  test_write(hint, "1", 1);
  free(hint);
  lists(&w, "db ", "db.other db.t ");
  opens(&w, BL_OK, "db.t");
  end(&w);
}

static void test_catalog_fs__what_a_purge_elsewhere_has_emptied_is_nothing(void **state) {
  (void)state;
  world w;
  begin(&w);
  char *last = make_dropped(&w, "db.t");
  make_folder(&w, "db/t/data");
  make_file(&w, "db/t/data/.rows.parquet.crc");
  test_ok(bl_catalog_register(w.ctx, &w.o, "db.u", last, false, &w.err), &w.err);
  test_ok(bl_catalog_drop(w.ctx, &w.o, "db.u", true, false, NULL, &w.err), &w.err);
  char *first = find(&w, "00001-"); /* its log names this one as well */
  assert_null(first);
  lists(&w, "db ", "");
  make_table(&w, "db.t");
  lists(&w, "db ", "db.t ");
  opens(&w, BL_OK, "db.t");
  test_ok(bl_catalog_drop(w.ctx, &w.o, "db.t", true, false, NULL, &w.err), &w.err);
  test_ok(bl_catalog_drop_namespace(w.c, "db", &w.err), &w.err);
  free(last);
  end(&w);
}

static void test_catalog_fs__a_damaged_marker_is_named(void **state) {
  (void)state;
  world w;
  begin(&w);
  free(make_dropped(&w, "db.t"));
  bl_error err = BL_ERROR_INIT;
  make_file(&w, "db/t/metadata/.dropped");
  test_status(BL_DAMAGED, bl_catalog_tables(w.c, NULL, note, &w, &err), &err);
  test_says(&err, "/.dropped");
  opens(&w, BL_DAMAGED, "db.t");
  end(&w);
}

static void test_catalog_fs__files_in_the_form_of_a_catalog_become_the_folders_own(void **state) {
  (void)state;
  world w;
  begin(&w);
  char *last = make_dropped(&w, "db.t");
  char *marker = test_join(w.dir, "db/t/metadata/.dropped");
  assert_int_equal(unlink(marker), 0);
  lists(&w, "db ", "db.t "); /* as it is, by whatever catalog */
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_catalog_rename(w.ctx, &w.o, "db.t", "db.u", false, &err), &err);
  test_ok(bl_catalog_register(w.ctx, &w.o, "db.t", last, false, &w.err), &w.err);
  test_ok(bl_catalog_rename(w.ctx, &w.o, "db.t", "db.u", false, &w.err), &w.err);
  lists(&w, "db ", "db.u ");
  free(marker);
  free(last);
  end(&w);
}

/* ---- renamed ---- */

static void test_catalog_fs__what_was_not_finished_gives_way_to_a_name(void **state) {
  (void)state;
  world w;
  begin(&w);
  leave_unfinished(&w);
  make_table(&w, "db.u");
  test_ok(bl_catalog_rename(w.ctx, &w.o, "db.u", "db.t", false, &w.err), &w.err);
  lists(&w, "db ", "db.t ");
  assert_false(is_there(&w, "db/u"));
  end(&w);
}

static void test_catalog_fs__a_folder_of_others_keeps_its_name(void **state) {
  static const char *const folders[] = {"db/empty", "db/full"};
  static const char *const names[] = {"db.empty", "db.full"};
  (void)state;
  world w;
  begin(&w);
  make_table(&w, "db.u");
  for (size_t i = 0; i < 2; i++) {
    bl_error err = BL_ERROR_INIT;
    make_folder(&w, folders[i]);
    if (i == 1) make_file(&w, "db/full/note.txt");
    for (int dry = 0; dry < 2; dry++) {
      test_status(BL_CONFLICT, bl_catalog_rename(w.ctx, &w.o, "db.u", names[i], dry, &err), &err);
      err = (bl_error)BL_ERROR_INIT;
    }
    assert_true(is_there(&w, folders[i]));
  }
  opens(&w, BL_OK, "db.u");
  end(&w);
}

/* As a process leaves it that died behind the new name. */
static void test_catalog_fs__a_rename_that_was_cut_short_is_ended_by_relocate(void **state) {
  (void)state;
  world w;
  begin(&w);
  make_table(&w, "db.t");
  char *from = test_join(w.dir, "db/t"), *to = test_join(w.dir, "db/u");
  assert_int_equal(rename(from, to), 0);
  bl_table *t = NULL;
  bl_table_info info;
  test_ok(bl_table_open(w.ctx, "db.u", &w.o, &t, &w.err), &w.err);
  test_ok(bl_relocate(t, to, NULL, &w.err), &w.err);
  bl_table_free(t);
  test_ok(bl_table_open(w.ctx, "db.u", &w.o, &t, &w.err), &w.err);
  bl_table_get_info(t, &info);
  assert_string_equal(info.location, to);
  bl_table_free(t);
  free(from);
  free(to);
  end(&w);
}

static void test_catalog_fs__without_memory_no_namespace_counts_as_empty(void **state) {
  (void)state;
  world w;
  test_heap heap = {0};
  begin_with(&w, test_ctx_on(&heap, NULL));
  make_table(&w, "db.t");
  bl_status st = BL_NOMEM;
  for (long at = 1; st == BL_NOMEM; at++) {
    bl_error err = BL_ERROR_INIT;
    heap.fail_at = heap.allocations + at;
    st = bl_catalog_check_empty(w.c, "db", &err);
    heap.fail_at = 0;
    if (st != BL_NOMEM) test_status(BL_CONFLICT, st, &err);
  }
  end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalog_fs__a_table_that_was_not_finished_is_nothing),
      cmocka_unit_test(test_catalog_fs__what_is_left_of_tables_goes_with_the_namespace),
      cmocka_unit_test(test_catalog_fs__files_of_others_keep_a_namespace),
      cmocka_unit_test(test_catalog_fs__a_dropped_table_leaves_nothing),
      cmocka_unit_test(test_catalog_fs__a_damaged_file_of_properties_is_named),
      cmocka_unit_test(test_catalog_fs__a_namespace_that_was_not_finished_is_nothing),
      cmocka_unit_test(test_catalog_fs__hidden_files_of_others_keep_a_namespace_and_its_properties),
      cmocka_unit_test(test_catalog_fs__a_drop_that_was_cut_short_is_one),
      cmocka_unit_test(test_catalog_fs__a_second_drop_ends_the_first),
      cmocka_unit_test(test_catalog_fs__a_drop_that_was_cut_short_is_registered_by_either_file),
      cmocka_unit_test(test_catalog_fs__a_version_that_others_commit_to_a_dropped_table_counts),
      cmocka_unit_test(test_catalog_fs__a_table_that_others_make_of_a_dropped_one_is_there),
      cmocka_unit_test(test_catalog_fs__what_a_purge_elsewhere_has_emptied_is_nothing),
      cmocka_unit_test(test_catalog_fs__a_damaged_marker_is_named),
      cmocka_unit_test(test_catalog_fs__files_in_the_form_of_a_catalog_become_the_folders_own),
      cmocka_unit_test(test_catalog_fs__what_was_not_finished_gives_way_to_a_name),
      cmocka_unit_test(test_catalog_fs__a_folder_of_others_keeps_its_name),
      cmocka_unit_test(test_catalog_fs__a_rename_that_was_cut_short_is_ended_by_relocate),
      cmocka_unit_test(test_catalog_fs__without_memory_no_namespace_counts_as_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
