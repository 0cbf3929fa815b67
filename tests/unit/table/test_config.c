/* test_config.c: catalogs from configuration files. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"
#include "table/config.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_arena *a;
  bl_catalog_options c;
  bool found;
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(f->ctx, &f->a, &f->err), &f->err);
}

static void teardown(fixture *f) {
  bl_arena_free(f->a);
  test_ctx_free(f->ctx);
}

static void parse(fixture *f, const char *yaml, const char *name) {
  test_ok(bl_config_parse(f->a, "x.yaml", yaml, strlen(yaml), name, &f->c, &f->found, &f->err), &f->err);
}

static const char *property(const fixture *f, const char *key) {
  for (size_t i = 0; i < f->c.n_properties; i++)
    if (strcmp(f->c.keys[i], key) == 0) return f->c.values[i];
  return NULL;
}

static const char two[] = "default-catalog: prod\n"
                          "catalog:\n"
                          "  default:\n"
                          "    uri: http://rest\n"
                          "  prod:\n"
                          "    type: sql\n"
                          "    uri: sqlite:////data/c.db\n"
                          "    warehouse: \"/data/wh\"\n"
                          "    py-io-impl: x\n"
                          "    s3:\n"
                          "      region: eu\n";

static void test_config__a_catalog_is_found_by_name(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  parse(&f, two, "prod");
  assert_true(f.found);
  assert_string_equal(f.c.name, "prod");
  assert_string_equal(f.c.type, "sql");
  assert_string_equal(f.c.uri, "sqlite:////data/c.db");
  assert_string_equal(f.c.warehouse, "/data/wh");
  assert_string_equal(property(&f, "py-io-impl"), "x");
  assert_string_equal(property(&f, "s3.region"), "eu");
  teardown(&f);
}

static void test_config__without_a_name_the_default_is_meant(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  parse(&f, two, NULL);
  assert_string_equal(f.c.name, "prod");
  parse(&f, "catalog: {default: {uri: a}}", NULL);
  assert_string_equal(f.c.uri, "a");
  parse(&f, "catalog: {other: {uri: a}}", NULL);
  assert_false(f.found);
  teardown(&f);
}

static void test_config__a_file_without_the_catalog_is_no_error(void **state) {
  (void)state;
  static const char *const files[] = {"", "a: 1", "catalog:", "catalog: {}", "# nothing", "catalog: {x: {uri: y}}"};
  fixture f;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(files); i++) {
    parse(&f, files[i], "prod");
    assert_false(f.found);
  }
  teardown(&f);
}

static void test_config__a_wrong_shape_names_file_and_line_but_no_value(void **state) {
  (void)state;
  static const char *const files[] = {"catalog: [secret]",
                                      "- secret",
                                      "catalog: secret",
                                      "\ncatalog:\n  prod: secret",
                                      "catalog:\n  prod:\n    token: [secret]",
                                      "catalog: {prod: {uri: 'secret}}",
                                      "catalog: {prod: {? [secret] : 1}}"};
  fixture f;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(files); i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_config_parse(f.a, "x.yaml", files[i], strlen(files[i]), "prod", &f.c, &f.found, &err),
                &err);
    test_says(&err, "x.yaml: line ");
    assert_null(strstr(err.message, "secret"));
  }
  teardown(&f);
}

static void test_config__a_cycle_of_aliases_ends(void **state) {
  (void)state;
  static const char yaml[] = "catalog: {prod: &a {x: *a}}";
  fixture f;
  setup(&f);
  test_status(BL_USAGE, bl_config_parse(f.a, "x", yaml, strlen(yaml), "prod", &f.c, &f.found, &f.err), &f.err);
  teardown(&f);
}

/* ---- files ---- */

typedef struct places {
  char *dir, *home, *pyiceberg, *cwd, *was;
} places;

static void put(const char *dir, const char *name, const char *uri) {
  char *path = test_join(dir, name), text[200];
  snprintf(text, sizeof text, "catalog: {prod: {uri: \"%s\"}}", uri);
  test_write(path, text, strlen(text));
  free(path);
}

static char *folder(const char *dir, const char *name) {
  char *path = test_join(dir, name);
  assert_int_equal(mkdir(path, 0700), 0);
  return path;
}

static void setup_places(places *p) {
  p->was = getcwd(NULL, 0);
  p->dir = test_temp_dir();
  p->home = folder(p->dir, "home"), p->pyiceberg = folder(p->dir, "py"), p->cwd = folder(p->dir, "cwd");
  setenv("HOME", p->home, 1);
  setenv("PYICEBERG_HOME", p->pyiceberg, 1);
  unsetenv("BERGLINE_CONFIG");
  assert_int_equal(chdir(p->cwd), 0);
}

static void teardown_places(places *p) {
  assert_int_equal(chdir(p->was), 0);
  test_remove_dir(p->dir);
  free(p->home);
  free(p->pyiceberg);
  free(p->cwd);
  free(p->was);
  unsetenv("PYICEBERG_HOME");
  unsetenv("BERGLINE_CONFIG");
}

static void assert_uri(fixture *f, const char *uri) {
  test_ok(bl_config_catalog(f->a, "prod", &f->c, &f->found, &f->err), &f->err);
  assert_int_equal(f->found, uri != NULL);
  if (uri) assert_string_equal(f->c.uri, uri);
}

static void test_config__files_are_tried_in_their_order(void **state) {
  (void)state;
  fixture f;
  places p;
  setup(&f);
  setup_places(&p);
  assert_uri(&f, NULL);
  put(p.cwd, ".pyiceberg.yaml", "5");
  assert_uri(&f, "5");
  put(p.home, ".pyiceberg.yaml", "4");
  assert_uri(&f, "4");
  put(p.pyiceberg, ".pyiceberg.yaml", "3");
  assert_uri(&f, "3");
  put(p.home, ".bergline.yaml", "2");
  assert_uri(&f, "2");
  put(p.cwd, ".bergline.yaml", "1");
  assert_uri(&f, "1");
  put(p.dir, "mine.yaml", "0");
  char *mine = test_join(p.dir, "mine.yaml");
  setenv("BERGLINE_CONFIG", mine, 1);
  assert_uri(&f, "0");
  free(mine);
  teardown_places(&p);
  teardown(&f);
}

static void test_config__a_named_file_must_be_there(void **state) {
  (void)state;
  fixture f;
  places p;
  setup(&f);
  setup_places(&p);
  setenv("BERGLINE_CONFIG", "/nonexistent/x.yaml", 1);
  test_status(BL_NOT_FOUND, bl_config_catalog(f.a, "prod", &f.c, &f.found, &f.err), &f.err);
  test_says(&f.err, "/nonexistent/x.yaml");
  teardown_places(&p);
  teardown(&f);
}

static bl_status read_it(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_arena *a = NULL;
  bl_catalog_options c;
  bool found;
  bl_status st = bl_arena_new(ctx, &a, err);
  if (st == BL_OK) st = bl_config_catalog(a, "prod", &c, &found, err);
  bl_arena_free(a);
  return st;
}

static void test_config__survives_each_failing_allocation(void **state) {
  (void)state;
  places p;
  setup_places(&p);
  put(p.cwd, ".pyiceberg.yaml", "5");
  test_fail_each(read_it, NULL);
  teardown_places(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_config__a_catalog_is_found_by_name),
      cmocka_unit_test(test_config__without_a_name_the_default_is_meant),
      cmocka_unit_test(test_config__a_file_without_the_catalog_is_no_error),
      cmocka_unit_test(test_config__a_wrong_shape_names_file_and_line_but_no_value),
      cmocka_unit_test(test_config__a_cycle_of_aliases_ends),
      cmocka_unit_test(test_config__files_are_tried_in_their_order),
      cmocka_unit_test(test_config__a_named_file_must_be_there),
      cmocka_unit_test(test_config__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
