/* test_table.c: tables opened by folder, by metadata file, by catalog; their manifests and entries. */
#include <sys/stat.h>
#include <unistd.h>

#include "edge/io_local.h"
#include "edge/io_memory.h"
#include "support/fault_io.h"
#include "support/support.h"
#include "support/tree.h"
#include "table/manifests.h"
#include "table/refs.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_table *t;
  bl_arena *a;
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(f->ctx, &f->a, &f->err), &f->err);
}

static void teardown(fixture *f) {
  bl_table_free(f->t);
  bl_arena_free(f->a);
  test_ctx_free(f->ctx);
}

static char *table_path(const char *name) {
  char relative[300];
  snprintf(relative, sizeof relative, "tests/fixtures/tables/%s", name);
  return test_path(relative);
}

static void open_table(fixture *f, const char *name) {
  char *path = table_path(name);
  bl_table_free(f->t);
  test_ok(bl_table_open(f->ctx, path, NULL, &f->t, &f->err), &f->err);
  free(path);
}

static void refuse(fixture *f, const char *address, const bl_table_options *o, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_status(want, bl_table_open(f->ctx, address, o, &t, &err), &err);
  assert_null(t);
  test_says(&err, says);
}

static void assert_current(const fixture *f, int64_t id, const char *file) {
  bl_table_info info;
  bl_table_get_info(f->t, &info);
  assert_true(info.has_current_snapshot);
  assert_int_equal(info.current_snapshot_id, id);
  const char *slash = strrchr(info.metadata_location, '/');
  if (file) assert_string_equal(slash + 1, file);
}

/* ---- folders ---- */

static void test_table__the_newest_metadata_of_a_folder_is_opened(void **state) {
  (void)state;
  static const char *const tables[][2] = {
      {"metadata_zoo/gz_mixed_names/table", "v3.metadata.json"},
      {"metadata_zoo/gz_new_names/table", "v3.gz.metadata.json"},
      {"metadata_zoo/gz_old_names/table", "00002-0a1b2c3d-0000-4000-8000-000000000002.metadata.json.gz"},
      {"metadata_zoo/no_hint_v10/table", "v10.metadata.json"},
      {"metadata_zoo/same_number/table", NULL},
      {"metadata_zoo/stale_hint/table", "v3.metadata.json"},
      {"metadata_zoo/json_forms/table", "v1.metadata.json"}};
  fixture f;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    open_table(&f, tables[i][0]);
    assert_current(&f, 7310000000000000002, tables[i][1]);
    assert_false(f.t->read_only);
  }
  teardown(&f);
}

static void test_table__its_form_tells_who_may_write(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  open_table(&f, "metadata_zoo/stale_hint/table");
  assert_int_equal(f.t->form, BL_FORM_HADOOP);
  assert_int_equal(f.t->version, 3);
  open_table(&f, "metadata_zoo/same_number/table");
  assert_int_equal(f.t->form, BL_FORM_NAMED);
  assert_int_equal(f.t->version, 10);
  open_table(&f, "metadata_zoo/same_number/table/metadata/00009-ffffffff-0000-4000-8000-000000000000.metadata.json");
  assert_int_equal(f.t->form, BL_FORM_NAMED);
  assert_true(f.t->read_only);
  teardown(&f);
}

/* Another commits, and the version that was just found goes. */
typedef struct moving {
  char *folder;
  int version, until;
} moving;

static bl_status move_on(void *user, long call, const char *operation, const char *path, bl_error *err) {
  moving *m = user;
  char name[40], from[500], to[500];
  (void)call, (void)err;
  snprintf(name, sizeof name, "/v%d.metadata.json", m->version);
  if (strcmp(operation, "open") != 0 || !strstr(path, name) || m->version >= m->until) return BL_OK;
  snprintf(from, sizeof from, "%s/metadata/v%d.metadata.json", m->folder, m->version++);
  snprintf(to, sizeof to, "%s/metadata/v%d.metadata.json", m->folder, m->version);
  assert_int_equal(rename(from, to), 0);
  return BL_OK;
}

static void remove_version(const char *folder, int version) {
  char path[500];
  snprintf(path, sizeof path, "%s/metadata/v%d.metadata.json", folder, version);
  assert_int_equal(unlink(path), 0);
}

static bl_status open_moving(fixture *f, int until, bl_error *err) {
  char *from = table_path("metadata_zoo/stale_hint/table"), *dir = test_temp_dir();
  moving m = {.folder = test_join(dir, "t"), .version = 3, .until = until};
  fault_io io;
  bl_io *local;
  bl_drivers d;
  test_copy_tree(from, m.folder);
  remove_version(m.folder, 1);
  remove_version(m.folder, 2);
  test_ok(bl_drivers_default(f->ctx, &d, err), err);
  test_ok(bl_io_local_new(f->ctx, &local, err), err);
  d.io->free(d.io);
  d.io = fault_io_new(&io, local);
  io.hook = move_on;
  io.user = &m;
  const bl_table_options o = {.drivers = &d};
  bl_status st = bl_table_open(f->ctx, m.folder, &o, &f->t, err);
  if (st == BL_OK) assert_int_equal(f->t->version, until);
  bl_table_free(f->t);
  f->t = NULL;
  bl_drivers_dispose(&d);
  free(m.folder);
  test_remove_dir(dir);
  free(from);
  return st;
}

static void test_table__a_version_that_goes_meanwhile_is_followed_by_the_next(void **state) {
  (void)state;
  fixture f;
  bl_error err = BL_ERROR_INIT;
  setup(&f);
  test_ok(open_moving(&f, 4, &err), &err);
  test_ok(open_moving(&f, 9, &err), &err);
  test_status(BL_NOT_FOUND, open_moving(&f, 100000, &err), &err); /* for ever */
  teardown(&f);
}

static void test_table__a_metadata_file_is_that_version(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  open_table(&f, "metadata_zoo/stale_hint/table/metadata/v2.metadata.json");
  assert_current(&f, 7310000000000000001, "v2.metadata.json");
  assert_true(f.t->read_only);
  assert_int_equal(f.t->version, 2);
  teardown(&f);
}

static void test_table__without_snapshots_there_is_no_current_one(void **state) {
  (void)state;
  static const char *const tables[] = {"metadata_zoo/empty_absent/table", "metadata_zoo/empty_minus_one/table",
                                       "metadata_zoo/empty_null/table"};
  fixture f;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    bl_table_info info;
    bl_snap s;
    open_table(&f, tables[i]);
    bl_table_get_info(f.t, &info);
    assert_false(info.has_current_snapshot);
    test_ok(bl_snap_resolve(f.t->metadata, BL_STR_NONE, NULL, &s, &f.err), &f.err);
    assert_null(s.snapshot);
  }
  teardown(&f);
}

static void test_table__properties_are_decoded(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  open_table(&f, "metadata_zoo/json_forms/table");
  assert_string_equal(bl_table_property(f.t, "k\xc3\xa9y"), "v\xe2\x82\xac");
  assert_string_equal(bl_table_property(f.t, "empty"), "");
  assert_null(bl_table_property(f.t, "nosuch"));
  teardown(&f);
}

/* ---- moved tables ---- */

static size_t count_entries(fixture *f, const char *snap) {
  bl_snap s;
  bl_manifest_file *manifests;
  bl_manifest_entry *entries;
  size_t n, k, total = 0;
  test_ok(bl_snap_resolve(f->t->metadata, snap ? bl_str_of(snap) : BL_STR_NONE, NULL, &s, &f->err), &f->err);
  test_ok(bl_table_manifests(f->t, s.snapshot, f->a, &manifests, &n, &f->err), &f->err);
  for (size_t i = 0; i < n; i++) {
    test_ok(bl_table_manifest_entries(f->t, &manifests[i], true, f->a, &entries, &k, &f->err), &f->err);
    total += k;
  }
  return total;
}

static void test_table__a_moved_table_is_read_where_it_is_in_all_forms_of_its_paths(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  open_table(&f, "metadata_zoo/schemes/table");
  assert_non_null(f.t->root);
  assert_int_equal(count_entries(&f, NULL), 6);
  assert_int_equal(count_entries(&f, "id:7310000000000000001"), 3);
  open_table(&f, "metadata_zoo/schemes/table/metadata/v1.metadata.json");
  assert_int_equal(count_entries(&f, NULL), 6);
  teardown(&f);
}

static void test_table__inline_manifests_are_read(void **state) {
  (void)state;
  fixture f;
  bl_manifest_file *manifests;
  size_t n;
  setup(&f);
  open_table(&f, "metadata_zoo/v1_embedded_manifests/table");
  const bl_snapshot *s = bl_metadata_snapshot(f.t->metadata, 7310000000000000002);
  test_ok(bl_table_manifests(f.t, s, f.a, &manifests, &n, &f.err), &f.err);
  assert_int_equal(n, 2);
  assert_true(manifests[0].length > 0);
  assert_int_equal(count_entries(&f, NULL), 2);
  teardown(&f);
}

/* The table put to `folder` in memory; tells what is below it without the folder's own place. */
static bl_io *memory_table(fixture *f, const char *name, const char *folder, const char *file) {
  bl_io *io;
  size_t n;
  char *root = table_path(name), path[500];
  snprintf(path, sizeof path, "%s/metadata/%s", root, file);
  void *p = test_read(path, &n);
  test_ok(bl_io_memory_new(f->ctx, &io, &f->err), &f->err);
  snprintf(path, sizeof path, "%s/metadata/%s", folder, file);
  test_ok(bl_io_memory_put(io, path, p, n, &f->err), &f->err);
  free(p);
  free(root);
  return io;
}

static void test_table__a_copy_below_its_own_location_opens(void **state) {
  (void)state;
  fixture f;
  bool there;
  setup(&f);
  bl_io *io = memory_table(&f, "metadata_zoo/stale_hint/table", "/warehouse/db/stale_hint/backup", "v2.metadata.json");
  test_ok(bl_io_memory_put(io, "/warehouse/db/stale_hint/backup/data/x", "1", 1, &f.err), &f.err);
  bl_drivers d = {.version = BL_DRIVERS_VERSION, .io = io};
  bl_table_options o = {.drivers = &d};
  test_ok(bl_table_open(f.ctx, "/warehouse/db/stale_hint/backup/", &o, &f.t, &f.err), &f.err);
  test_ok(f.t->io->exists(f.t->io, "/warehouse/db/stale_hint/data/x", &there, &f.err), &f.err);
  assert_true(there);
  bl_table_free(f.t);
  f.t = NULL;
  io->free(io);
  teardown(&f);
}

static void test_table__path_maps_find_the_table_and_its_files(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *root = table_path("metadata_zoo/schemes/table"), map[600];
  snprintf(map, sizeof map, "/warehouse/db/schemes=%s", root);
  const char *maps[] = {map};
  bl_table_options o = {.path_maps = maps, .n_path_maps = 1};
  test_ok(bl_table_open(f.ctx, "file:/warehouse/db/schemes", &o, &f.t, &f.err), &f.err);
  assert_null(f.t->root);
  assert_int_equal(count_entries(&f, NULL), 6);
  maps[0] = "nonsense";
  refuse(&f, "/warehouse/db/schemes", &o, BL_USAGE, "FROM=TO");
  free(root);
  teardown(&f);
}

/* ---- what is refused ---- */

static void test_table__what_is_no_table_is_not_found(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *metadata = table_path("metadata_zoo/stale_hint/table/metadata"),
       *gone = table_path("metadata_zoo/stale_hint/table/metadata/v7.metadata.json");
  refuse(&f, "/no/such/folder", NULL, BL_NOT_FOUND, "metadata");
  refuse(&f, metadata, NULL, BL_NOT_FOUND, "not a table");
  refuse(&f, gone, NULL, BL_NOT_FOUND, "v7.metadata.json");
  setenv("HOME", "/nonexistent", 1);
  unsetenv("BERGLINE_CONFIG");
  refuse(&f, "sales.orders", NULL, BL_NOT_FOUND, "no catalog");
  refuse(&f, "", NULL, BL_USAGE, "TABLE");
  free(metadata);
  free(gone);
  teardown(&f);
}

static void test_table__damage_names_the_file(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = table_path("refuse/json_truncated/table");
  refuse(&f, path, NULL, BL_DAMAGED, "v1.metadata.json");
  free(path);
  teardown(&f);
}

static void refuse_manifests(const char *table, bl_status want, const char *file, const char *says) {
  fixture f;
  bl_manifest_file *manifests;
  bl_manifest_entry *entries;
  size_t n, k;
  bl_snap s;
  setup(&f);
  open_table(&f, table);
  test_ok(bl_snap_resolve(f.t->metadata, BL_STR_NONE, NULL, &s, &f.err), &f.err);
  bl_status st = bl_table_manifests(f.t, s.snapshot, f.a, &manifests, &n, &f.err);
  for (size_t i = 0; i < n && st == BL_OK; i++)
    st = bl_table_manifest_entries(f.t, &manifests[i], false, f.a, &entries, &k, &f.err);
  test_status(want, st, &f.err);
  test_says(&f.err, file);
  test_says(&f.err, says);
  teardown(&f);
}

static void test_table__manifests_that_cannot_be_read_are_named(void **state) {
  (void)state;
  refuse_manifests("refuse/manifest_list_missing/table", BL_NOT_FOUND, "snap-", "No such file");
  refuse_manifests("refuse/manifest_missing/table", BL_NOT_FOUND, "m00004.avro", "No such file");
  refuse_manifests("refuse/manifest_truncated/table", BL_DAMAGED, ".avro", "");
  refuse_manifests("refuse/encrypted/table", BL_UNSUPPORTED, "snap-", "encrypt");
}

static void test_table__a_format_without_driver_is_unsupported(void **state) {
  (void)state;
  fixture f;
  const bl_data_format *format;
  setup(&f);
  open_table(&f, "metadata_zoo/stale_hint/table");
  bl_drivers none = *f.t->drivers;
  none.n_formats = 0;
  f.t->drivers = &none;
  test_status(BL_UNSUPPORTED, bl_table_data_format(f.t, BL_FORMAT_ORC, &format, &f.err), &f.err);
  test_says(&f.err, "ORC");
  f.t->drivers = f.t->common->drivers;
  teardown(&f);
}

/* ---- catalogs ---- */

typedef struct catalog {
  char uri[600], map[600];
  const char *maps[1];
  bl_table_options o;
} catalog;

static void use_catalog(catalog *c, const char *db) {
  char *root = table_path("jdbc_catalog/table");
  snprintf(c->uri, sizeof c->uri, "sqlite:///%s/%s", root, db);
  snprintf(c->map, sizeof c->map, "/warehouse/db/jdbc_catalog=%s", root);
  c->maps[0] = c->map;
  c->o = (bl_table_options){.uri = c->uri, .path_maps = c->maps, .n_path_maps = 1};
  free(root);
}

static void test_table__tables_of_sqlite_catalogs_open_by_name(void **state) {
  (void)state;
  static const char *const tables[][2] = {{"java.db", "sales.orders"},
                                          {"java.db", "ops.eu.hosts"},
                                          {"java_v0.db", "sales.orders"},
                                          {"py.db", "sales.orders"},
                                          {"py.db", "ops.orders_v3"}};
  fixture f;
  catalog c;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(tables); i++) {
    use_catalog(&c, tables[i][0]);
    bl_table_free(f.t);
    test_ok(bl_table_open(f.ctx, tables[i][1], &c.o, &f.t, &f.err), &f.err);
    assert_int_equal(f.t->form, BL_FORM_CATALOG);
    assert_string_equal(f.t->catalog_table, tables[i][1]);
    assert_false(f.t->read_only);
    assert_true(count_entries(&f, NULL) > 0);
  }
  teardown(&f);
}

static void test_table__views_and_missing_names_of_a_catalog_are_told_apart(void **state) {
  (void)state;
  fixture f;
  catalog c;
  setup(&f);
  use_catalog(&c, "java.db");
  refuse(&f, "sales.big", &c.o, BL_UNSUPPORTED, "view");
  refuse(&f, "sales.nosuch", &c.o, BL_NOT_FOUND, "sales.nosuch");
  refuse(&f, "orders", &c.o, BL_USAGE, "NAMESPACE.TABLE");
  refuse(&f, "sales.", &c.o, BL_USAGE, "NAMESPACE.TABLE");
  refuse(&f, "sales..orders", &c.o, BL_USAGE, "NAMESPACE.TABLE");
  c.o.catalog = "other";
  refuse(&f, "sales.orders", &c.o, BL_NOT_FOUND, "jdbc");
  teardown(&f);
}

static void test_table__the_configuration_names_catalogs(void **state) {
  (void)state;
  fixture f;
  catalog c;
  setup(&f);
  char *dir = test_temp_dir(), *file = test_join(dir, "c.yaml"), text[2000];
  use_catalog(&c, "py.db");
  snprintf(text, sizeof text,
           "catalog:\n  py:\n    type: sql\n    uri: %s\n  rest:\n    uri: https://user:secret@host/\n", c.uri);
  test_write(file, text, strlen(text));
  setenv("BERGLINE_CONFIG", file, 1);
  c.o.uri = NULL, c.o.catalog = "py";
  test_ok(bl_table_open(f.ctx, "sales.orders", &c.o, &f.t, &f.err), &f.err);
  c.o.catalog = "nosuch";
  refuse(&f, "sales.orders", &c.o, BL_NOT_FOUND, "nosuch");
  c.o.catalog = "rest";
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_status(BL_UNSUPPORTED, bl_table_open(f.ctx, "sales.orders", &c.o, &t, &err), &err);
  assert_null(strstr(err.message, "secret"));
  unsetenv("BERGLINE_CONFIG");
  free(file);
  test_remove_dir(dir);
  teardown(&f);
}

static void test_table__a_warehouse_alone_is_a_folder_of_tables(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *root = table_path("metadata_zoo");
  bl_table_options o = {.warehouse = root};
  test_ok(bl_table_open(f.ctx, "stale_hint.table", &o, &f.t, &f.err), &f.err);
  assert_current(&f, 7310000000000000002, "v3.metadata.json");
  refuse(&f, "stale_hint.nosuch", &o, BL_NOT_FOUND, "nosuch");
  free(root);
  teardown(&f);
}

/* ---- faults ---- */

static bl_status open_and_read(bl_ctx *ctx, void *user, bl_error *err) {
  bl_table *t = NULL;
  bl_arena *a = NULL;
  bl_manifest_file *manifests;
  bl_manifest_entry *entries;
  size_t n, k;
  bl_status st;
  catalog *c = user;
  BL_GO(bl_table_open(ctx, "sales.orders", &c->o, &t, err));
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_table_manifests(t, bl_metadata_snapshot(t->metadata, t->metadata->current_snapshot_id), a, &manifests, &n,
                           err));
  for (size_t i = 0; i < n; i++) BL_GO(bl_table_manifest_entries(t, &manifests[i], false, a, &entries, &k, err));
done:
  bl_arena_free(a);
  bl_table_free(t);
  return st;
}

static void test_table__survives_each_failing_allocation(void **state) {
  (void)state;
  catalog c;
  use_catalog(&c, "java.db");
  test_fail_each(open_and_read, &c);
}

static bl_status open_folder_quietly(bl_ctx *ctx, void *user, bl_error *err) {
  bl_table *t = NULL;
  bl_status st = bl_table_open(ctx, user, NULL, &t, err);
  bl_table_free(t);
  return st;
}

static void test_table__a_folder_survives_each_failing_allocation(void **state) {
  (void)state;
  char *path = table_path("metadata_zoo/no_hint_v10/table");
  test_fail_each(open_folder_quietly, path);
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table__the_newest_metadata_of_a_folder_is_opened),
      cmocka_unit_test(test_table__its_form_tells_who_may_write),
      cmocka_unit_test(test_table__a_version_that_goes_meanwhile_is_followed_by_the_next),
      cmocka_unit_test(test_table__a_metadata_file_is_that_version),
      cmocka_unit_test(test_table__without_snapshots_there_is_no_current_one),
      cmocka_unit_test(test_table__properties_are_decoded),
      cmocka_unit_test(test_table__a_moved_table_is_read_where_it_is_in_all_forms_of_its_paths),
      cmocka_unit_test(test_table__inline_manifests_are_read),
      cmocka_unit_test(test_table__a_copy_below_its_own_location_opens),
      cmocka_unit_test(test_table__path_maps_find_the_table_and_its_files),
      cmocka_unit_test(test_table__what_is_no_table_is_not_found),
      cmocka_unit_test(test_table__damage_names_the_file),
      cmocka_unit_test(test_table__manifests_that_cannot_be_read_are_named),
      cmocka_unit_test(test_table__a_format_without_driver_is_unsupported),
      cmocka_unit_test(test_table__tables_of_sqlite_catalogs_open_by_name),
      cmocka_unit_test(test_table__views_and_missing_names_of_a_catalog_are_told_apart),
      cmocka_unit_test(test_table__the_configuration_names_catalogs),
      cmocka_unit_test(test_table__a_warehouse_alone_is_a_folder_of_tables),
      cmocka_unit_test(test_table__survives_each_failing_allocation),
      cmocka_unit_test(test_table__a_folder_survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
