/* test_catalog_fs.c: what a warehouse of folders makes of folders that are no tables. What every catalog must do is in
 * tests/conformance. */
#include <sys/stat.h>
#include <unistd.h>

#include "bergline/catalog.h"
#include "bergline/write.h"
#include "support/support.h"

typedef struct world {
  bl_ctx *ctx;
  char *dir;
  bl_drivers drivers;
  bl_table_options o;
  bl_catalog *c;
  char seen[500];
  bl_error err;
} world;

static void begin(world *w) {
  *w = (world){.ctx = test_ctx(), .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  test_ok(bl_drivers_default(w->ctx, &w->drivers, &w->err), &w->err);
  w->o = (bl_table_options){.warehouse = w->dir, .drivers = &w->drivers};
  test_ok(bl_catalog_open(w->ctx, &w->o, true, &w->c, &w->err), &w->err);
  test_ok(bl_catalog_create_namespace(w->c, "db", NULL, 0, &w->err), &w->err);
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
  test_ok(bl_catalog_drop(w.ctx, &w.o, "db.t", true, &w.err), &w.err);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalog_fs__a_table_that_was_not_finished_is_nothing),
      cmocka_unit_test(test_catalog_fs__what_is_left_of_tables_goes_with_the_namespace),
      cmocka_unit_test(test_catalog_fs__files_of_others_keep_a_namespace),
      cmocka_unit_test(test_catalog_fs__a_dropped_table_leaves_nothing),
      cmocka_unit_test(test_catalog_fs__a_damaged_file_of_properties_is_named),
      cmocka_unit_test(test_catalog_fs__a_namespace_that_was_not_finished_is_nothing),
      cmocka_unit_test(test_catalog_fs__hidden_files_of_others_keep_a_namespace_and_its_properties),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
