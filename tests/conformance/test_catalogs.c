/* test_catalogs.c: one suite for every catalog: what each must do, through the calls that users have. */
#include <sched.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bergline/catalog.h"
#include "bergline/input.h"
#include "bergline/scan.h"
#include "bergline/write.h"
#include "edge/catalog_sqlite.h"
#include "support/support.h"
#include "support/text_input.h"
#include "table/manifests.h"
#include "write/commit.h"

typedef struct kind {
  const char *name;
  bool sqlite;
} kind;

static const kind kinds[] = {
    {"sqlite", true},
    {"folders", false},
};

typedef struct suite {
  const kind *k;
  bl_ctx *ctx;
  char *dir, *warehouse, uri[600];
  bl_drivers drivers;
  bl_table_options o;
  bl_catalog *c;
  char seen[2000];
  bl_error err;
} suite;

static void open_catalog(suite *s, bool create) {
  bl_catalog_free(s->c);
  test_ok(bl_catalog_open(s->ctx, &s->o, create, &s->c, &s->err), &s->err);
}

static void set_up(suite *s, const kind *k) {
  *s = (suite){.k = k, .ctx = test_ctx(), .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  s->warehouse = test_join(s->dir, "wh");
  test_ok(bl_drivers_default(s->ctx, &s->drivers, &s->err), &s->err);
  snprintf(s->uri, sizeof s->uri, "sqlite:///%s/c.db", s->dir);
  s->o = (bl_table_options){.uri = k->sqlite ? s->uri : NULL, .warehouse = s->warehouse, .drivers = &s->drivers};
  open_catalog(s, true);
  test_ok(bl_catalog_create_namespace(s->c, "db", NULL, 0, &s->err), &s->err);
}

static void tear_down(suite *s) {
  bl_catalog_free(s->c);
  bl_drivers_dispose(&s->drivers);
  test_remove_dir(s->dir);
  free(s->warehouse);
  test_ctx_free(s->ctx);
}

static bl_status try_create(suite *s, const char *name, bl_error *err) {
  static const char *const quick[] = {"commit.retry.min-wait-ms=1", "commit.retry.max-wait-ms=20",
                                      "commit.retry.num-retries=10000"};
  bl_create_options o = {.schema = "id long", .properties = quick, .n_properties = 3};
  return bl_table_create(s->ctx, name, &s->o, &o, err);
}

static void create(suite *s, const char *name) {
  test_ok(try_create(s, name, &s->err), &s->err);
}

static bl_table *open_table(suite *s, const char *name) {
  bl_table *t = NULL;
  test_ok(bl_table_open(s->ctx, name, &s->o, &t, &s->err), &s->err);
  return t;
}

static void refuse(suite *s, bl_status want, bl_status st, const char *says, bl_error *err) {
  (void)s;
  test_status(want, st, err);
  if (says) test_says(err, says);
  *err = (bl_error)BL_ERROR_INIT;
}

static bl_status note_entry(void *user, const bl_catalog_entry *e, bl_error *err) {
  suite *s = user;
  (void)err;
  size_t n = strlen(s->seen);
  snprintf(s->seen + n, sizeof s->seen - n, "%s%s%s ", e->name_space, e->name ? "." : "", e->name ? e->name : "");
  return BL_OK;
}

static bl_status note_pair(void *user, const bl_catalog_pair *p, bl_error *err) {
  suite *s = user;
  (void)err;
  size_t n = strlen(s->seen);
  snprintf(s->seen + n, sizeof s->seen - n, "%s=%s ", p->key, p->value);
  return BL_OK;
}

static void lists_tables(suite *s, const char *ns, const char *want) {
  s->seen[0] = 0;
  test_ok(bl_catalog_tables(s->c, ns, note_entry, s, &s->err), &s->err);
  assert_string_equal(s->seen, want);
}

static void lists_namespaces(suite *s, const char *want) {
  s->seen[0] = 0;
  test_ok(bl_catalog_namespaces(s->c, note_entry, s, &s->err), &s->err);
  assert_string_equal(s->seen, want);
}

/* An append of one file that is only named. */
static bl_status append(suite *s, bl_table *t, const char *name, int64_t rows, bl_write_result *r, bl_error *err) {
  char path[900];
  bl_staged *staged;
  snprintf(path, sizeof path, "%s/data/%s.parquet", t->metadata->location.p, name);
  bl_data_file f = {.path = bl_str_of(path),
                    .record_count = rows,
                    .file_size = 100,
                    .sort_order_id = -1,
                    .first_row_id = BL_NONE,
                    .content_offset = BL_NONE,
                    .content_size = BL_NONE};
  BL_TRY(bl_staged_new(s->ctx, &staged, err));
  bl_status st = bl_staged_add_data(staged, &f, err);
  if (st == BL_OK) st = bl_commit_change(t, staged, NULL, r, err);
  bl_staged_free(staged);
  return st;
}

static void append_ok(suite *s, const char *table, const char *name) {
  bl_table *t = open_table(s, table);
  bl_write_result r = {0};
  test_ok(append(s, t, name, 10, &r, &s->err), &s->err);
  assert_true(r.committed);
  bl_table_free(t);
}

/* ---- the suite ---- */

static void makes_and_finds_tables(suite *s) {
  create(s, "db.t");
  bl_table *t = open_table(s, "db.t");
  bl_table_info info;
  bl_table_get_info(t, &info);
  assert_int_equal(info.format_version, 3);
  assert_false(info.read_only);
  assert_non_null(strstr(info.location, "/wh/db/t"));
  bl_table_free(t);
  bl_error err = BL_ERROR_INIT;
  refuse(s, BL_CONFLICT, try_create(s, "db.t", &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, try_create(s, "nowhere.t", &err), "nowhere", &err);
  refuse(s, BL_USAGE, try_create(s, "t", &err), "NAMESPACE", &err);
  refuse(s, BL_NOT_FOUND, bl_table_open(s->ctx, "db.u", &s->o, &t, &err), NULL, &err);
}

static void what_is_not_there_is_told_by_its_whole_name(suite *s) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_ok(bl_catalog_create_namespace(s->c, "a.b", NULL, 0, &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, bl_table_open(s->ctx, "a.b.t", &s->o, &t, &err), "no such table: a.b.t: ", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "a.b.t", false, false, NULL, &err),
         "no such table: a.b.t: ", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "a.b.t", true, false, NULL, &err),
         "no such table: a.b.t: ", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_rename(s->ctx, &s->o, "db.t", "db.u", false, &err), "no such table: db.t: ", &err);
  refuse(s, BL_NOT_FOUND, try_create(s, "a.c.t", &err), "no such namespace: a.c: ", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop_namespace(s->c, "a.c", &err), "no such namespace: a.c: ", &err);
}

static void lists_in_order(suite *s) {
  static const char *const namespaces[] = {"a.b", "a-b", "empty"};
  bl_error err = BL_ERROR_INIT;
  for (size_t i = 0; i < BL_LEN(namespaces); i++)
    test_ok(bl_catalog_create_namespace(s->c, namespaces[i], NULL, 0, &s->err), &s->err);
  create(s, "db.z");
  create(s, "db.a");
  create(s, "a.b.t");
  create(s, "a-b.t");
  lists_tables(s, NULL, "a-b.t a.b.t db.a db.z ");
  lists_tables(s, "db", "db.a db.z ");
  lists_tables(s, "empty", "");
  refuse(s, BL_NOT_FOUND, bl_catalog_tables(s->c, "none", note_entry, s, &err), "no such namespace: none", &err);
  lists_namespaces(s, s->k->sqlite ? "a-b a.b db empty " : "a a-b a.b db empty ");
}

static void commits_move_the_pointer(suite *s) {
  create(s, "db.t");
  append_ok(s, "db.t", "one");
  append_ok(s, "db.t", "two");
  bl_table *t = open_table(s, "db.t");
  assert_int_equal(t->metadata->n_snapshots, 2);
  assert_int_equal(t->metadata->next_row_id, 20);
  assert_int_equal(t->metadata->n_metadata_log, 2);
  bl_table_free(t);
}

static void handles_that_are_old_commit_on_top(suite *s) {
  create(s, "db.t");
  bl_table *old = open_table(s, "db.t");
  append_ok(s, "db.t", "one");
  bl_write_result r = {0};
  test_ok(append(s, old, "two", 5, &r, &s->err), &s->err);
  assert_int_equal(r.first_row_id, 10);
  bl_table_free(old);
}

static void tables_that_are_dropped_stay_so(suite *s) {
  create(s, "db.t");
  bl_table *old = open_table(s, "db.t");
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &err), NULL, &err);
  bl_write_result r = {0};
  refuse(s, BL_NOT_FOUND, append(s, old, "one", 5, &r, &err), NULL, &err);
  lists_tables(s, "db", "");
  create(s, "db.t");
  refuse(s, BL_CONFLICT, append(s, old, "one", 5, &r, &err), "replaced", &err);
  bl_table_free(old);
}

static void purge_leaves_no_files(suite *s) {
  create(s, "db.t");
  append_ok(s, "db.t", "one");
  bl_table *t = open_table(s, "db.t");
  bl_error err = BL_ERROR_INIT;
  const char *off = "gc.enabled=false";
  test_ok(bl_set_properties(t, &off, 1, NULL, 0, NULL, &s->err), &s->err);
  refuse(s, BL_USAGE, bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &err), "gc.enabled", &err);
  const char *key = "gc.enabled";
  test_ok(bl_set_properties(t, NULL, 0, &key, 1, NULL, &s->err), &s->err);
  bl_table_free(t);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  char *folder = test_join(s->warehouse, "db/t");
  assert_int_not_equal(access(folder, F_OK), 0);
  free(folder);
}

static int64_t rows_of(suite *s, const char *name) {
  bl_table *t = open_table(s, name);
  int64_t n = t->metadata->next_row_id;
  bl_table_free(t);
  return n;
}

static char *drop_and_keep(suite *s, const char *name) {
  char *left = NULL;
  test_ok(bl_catalog_drop(s->ctx, &s->o, name, false, false, &left, &s->err), &s->err);
  assert_non_null(left);
  assert_int_equal(access(left, F_OK), 0);
  return left;
}

static void drop_keeps_the_files(suite *s) {
  create(s, "db.t");
  append_ok(s, "db.t", "one");
  append_ok(s, "db.t", "two");
  bl_error err = BL_ERROR_INIT;
  bl_table *old = open_table(s, "db.t"), *t;
  bl_write_result r = {0};
  char *left = drop_and_keep(s, "db.t");
  lists_tables(s, "db", "");
  lists_namespaces(s, "db ");
  refuse(s, BL_NOT_FOUND, bl_table_open(s->ctx, "db.t", &s->o, &t, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, append(s, old, "three", 5, &r, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "db.t", false, false, NULL, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &err), left, &err);
  test_ok(bl_catalog_register(s->ctx, &s->o, "db.again", left, false, &s->err), &s->err);
  assert_int_equal(rows_of(s, "db.again"), 20);
  append_ok(s, "db.again", "four");
  assert_int_equal(rows_of(s, "db.again"), 30);
  lists_tables(s, NULL, "db.again ");
  bl_table_free(old);
  bl_text_free(s->ctx, left);
}

static void a_dropped_table_comes_back_under_its_name(suite *s) {
  create(s, "db.t");
  for (int i = 0; i < 3; i++) {
    append_ok(s, "db.t", "one");
    char *left = drop_and_keep(s, "db.t");
    test_ok(bl_catalog_register(s->ctx, &s->o, "db.t", left, false, &s->err), &s->err);
    assert_int_equal(rows_of(s, "db.t"), 10 * (i + 1));
    bl_error err = BL_ERROR_INIT;
    refuse(s, BL_CONFLICT, bl_catalog_register(s->ctx, &s->o, "db.t", left, false, &err), NULL, &err);
    bl_text_free(s->ctx, left);
  }
  lists_tables(s, NULL, "db.t ");
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  char *folder = test_join(s->warehouse, "db/t");
  assert_int_not_equal(access(folder, F_OK), 0);
  free(folder);
}

/* The names of the files, and the metadata, are what another catalog needs. */
static void what_is_dropped_goes_to_another_catalog(suite *s) {
  suite other;
  for (size_t i = 0; i < BL_LEN(kinds); i++) {
    char name[20];
    snprintf(name, sizeof name, "db.t%zu", i);
    create(s, name);
    append_ok(s, name, "one");
    char *left = drop_and_keep(s, name);
    set_up(&other, &kinds[i]);
    test_ok(bl_catalog_register(other.ctx, &other.o, "db.moved", left, false, &s->err), &s->err);
    append_ok(&other, "db.moved", "two");
    assert_int_equal(rows_of(&other, "db.moved"), 20);
    char *again = drop_and_keep(&other, "db.moved");
    test_ok(bl_catalog_register(s->ctx, &s->o, "db.back", again, false, &s->err), &s->err);
    append_ok(s, "db.back", "three");
    assert_int_equal(rows_of(s, "db.back"), 30);
    test_ok(bl_catalog_drop(s->ctx, &s->o, "db.back", true, false, NULL, &s->err), &s->err);
    lists_tables(s, NULL, "");
    bl_text_free(s->ctx, left);
    bl_text_free(other.ctx, again);
    tear_down(&other);
  }
}

static void renames(suite *s) {
  create(s, "db.t");
  create(s, "db.u");
  append_ok(s, "db.t", "one");
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_catalog_create_namespace(s->c, "other", NULL, 0, &s->err), &s->err);
  for (int dry = 1; dry >= 0; dry--) {
    const struct {
      bl_status st;
      const char *from, *to, *says;
    } wrong[] = {{BL_CONFLICT, "db.t", "db.u", "db.u"},      {BL_CONFLICT, "db.t", "db.t", "db.t"},
                 {BL_NOT_FOUND, "db.x", "db.y", "x"},        {BL_NOT_FOUND, "db.t", "nowhere.t", "nowhere"},
                 {BL_USAGE, "t", "db.y", "NAMESPACE.TABLE"}, {BL_USAGE, "db.t", "y", "NAMESPACE.TABLE"}};
    for (size_t i = 0; i < BL_LEN(wrong); i++)
      refuse(s, wrong[i].st, bl_catalog_rename(s->ctx, &s->o, wrong[i].from, wrong[i].to, dry, &err), wrong[i].says,
             &err);
  }
  test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "other.v", true, &s->err), &s->err);
  lists_tables(s, NULL, "db.t db.u ");
  test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "other.v", false, &s->err), &s->err);
  lists_tables(s, NULL, "db.u other.v ");
  append_ok(s, "other.v", "two");
  assert_int_equal(rows_of(s, "other.v"), 20);
}

static bl_status append_rows(bl_table *t, bl_error *err) {
  static const char rows[] = "{\"id\":1}\n{\"id\":2}\n";
  const bl_read_options r = {.format = BL_INPUT_NDJSON};
  text_input in = text_input_of(rows, strlen(rows));
  struct ArrowArrayStream stream;
  BL_TRY(bl_read_rows(t, &in.in, "rows", &r, &stream, err));
  return bl_append(t, &stream, NULL, NULL, err);
}

static void files_written_for_a_table_that_is_gone_leave_no_folder(suite *s) {
  bl_error err = BL_ERROR_INIT;
  for (int renames = 0; renames < 2; renames++) {
    create(s, "db.t");
    bl_table *old = open_table(s, "db.t");
    test_ok(append_rows(old, &s->err), &s->err);
    if (renames) test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "db.u", false, &s->err), &s->err);
    else test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
    refuse(s, BL_NOT_FOUND, append_rows(old, &err), NULL, &err);
    bl_table_free(old);
    lists_namespaces(s, "db ");
    lists_tables(s, NULL, renames ? "db.u " : "");
  }
  assert_int_equal(rows_of(s, "db.u"), 2);
  if (s->k->sqlite) return; /* where the files stay where they were */
  char *folder = test_join(s->warehouse, "db/t");
  assert_int_not_equal(access(folder, F_OK), 0);
  free(folder);
}

/* Nothing of the old name comes to life again, whatever stands there now. */
static void handles_of_an_old_name_write_nothing(suite *s) {
  create(s, "db.t");
  append_ok(s, "db.t", "one");
  bl_error err = BL_ERROR_INIT;
  bl_write_result r = {0};
  const char *set = "a=b";
  bl_table *old = open_table(s, "db.t");
  test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "db.u", false, &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, append(s, old, "two", 5, &r, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_set_properties(old, &set, 1, NULL, 0, NULL, &err), NULL, &err);
  lists_tables(s, NULL, "db.u ");
  lists_namespaces(s, "db ");
  create(s, "db.t");
  append_ok(s, "db.t", "another's");
  refuse(s, BL_CONFLICT, append(s, old, "three", 5, &r, &err), "replaced", &err);
  assert_int_equal(rows_of(s, "db.t"), 10);
  assert_int_equal(rows_of(s, "db.u"), 10);
  test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "db.v", false, &s->err), &s->err);
  test_ok(bl_catalog_rename(s->ctx, &s->o, "db.u", "db.t", false, &s->err), &s->err);
  append_ok(s, "db.t", "four");
  assert_int_equal(rows_of(s, "db.t"), 20);
  bl_table_free(old);
}

static void registers(suite *s) {
  create(s, "db.t");
  bl_error err = BL_ERROR_INIT;
  bl_table *t = open_table(s, "db.t");
  char *junk = test_join(s->dir, "junk.metadata.json");
  test_write(junk, "{}", 2);
  for (int dry = 1; dry >= 0; dry--) {
    const struct {
      bl_status st;
      const char *name, *file, *says;
    } wrong[] = {{BL_CONFLICT, "db.t", t->metadata_path, NULL},
                 {BL_NOT_FOUND, "db.u", "/no/such.metadata.json", "/no/such.metadata.json"},
                 {BL_DAMAGED, "db.u", junk, junk},
                 {BL_NOT_FOUND, "none.u", t->metadata_path, "none"}};
    for (size_t i = 0; i < BL_LEN(wrong); i++)
      refuse(s, wrong[i].st, bl_catalog_register(s->ctx, &s->o, wrong[i].name, wrong[i].file, dry, &err), wrong[i].says,
             &err);
  }
  test_ok(bl_catalog_register(s->ctx, &s->o, "db.u", t->metadata_path, true, &s->err), &s->err);
  lists_tables(s, NULL, "db.t ");
  test_ok(bl_catalog_register(s->ctx, &s->o, "db.u", t->metadata_path, false, &s->err), &s->err);
  lists_tables(s, NULL, "db.t db.u ");
  append_ok(s, "db.u", "one");
  assert_int_equal(rows_of(s, "db.u"), 10);
  assert_int_equal(rows_of(s, "db.t"), 0);
  free(junk);
  bl_table_free(t);
}

static void dry_runs_drop_nothing(suite *s) {
  bl_error err = BL_ERROR_INIT;
  char *left = NULL;
  create(s, "db.t");
  for (int purge = 0; purge < 2; purge++) {
    test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", purge, true, &left, &s->err), &s->err);
    assert_null(left);
    refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "db.u", purge, true, &left, &err), NULL, &err);
  }
  append_ok(s, "db.t", "one");
}

static void namespaces_come_and_go(suite *s) {
  bl_error err = BL_ERROR_INIT;
  refuse(s, BL_CONFLICT, bl_catalog_create_namespace(s->c, "db", NULL, 0, &err), NULL, &err);
  refuse(s, BL_USAGE, bl_catalog_create_namespace(s->c, "a..b", NULL, 0, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop_namespace(s->c, "nowhere", &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_check_empty(s->c, "nowhere", &err), NULL, &err);
  test_ok(bl_catalog_check_empty(s->c, "db", &s->err), &s->err);
  create(s, "db.t");
  refuse(s, BL_CONFLICT, bl_catalog_check_empty(s->c, "db", &err), "empty", &err);
  refuse(s, BL_CONFLICT, bl_catalog_drop_namespace(s->c, "db", &err), "empty", &err);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  test_ok(bl_catalog_drop_namespace(s->c, "db", &s->err), &s->err);
  lists_namespaces(s, "");
}

static void has_properties(suite *s, const char *ns, const char *want) {
  s->seen[0] = 0;
  test_ok(bl_catalog_namespace_properties(s->c, ns, note_pair, s, &s->err), &s->err);
  assert_string_equal(s->seen, want);
}

static void namespaces_have_properties(suite *s) {
  bl_error err = BL_ERROR_INIT;
  const char *set[] = {"owner=me", "note=a=b"}, *unset[] = {"owner", "nothing"}, *more[] = {"k=v", "note=\"\xc3\xa9\n"};
  const char *wrong[] = {"k"};
  has_properties(s, "db", "");
  test_ok(bl_catalog_create_namespace(s->c, "p", set, 2, &s->err), &s->err);
  has_properties(s, "p", "note=a=b owner=me ");
  test_ok(bl_catalog_set_namespace(s->c, "p", more, 1, unset, 2, &s->err), &s->err);
  has_properties(s, "p", "k=v note=a=b ");
  test_ok(bl_catalog_set_namespace(s->c, "p", more, 2, NULL, 0, &s->err), &s->err);
  has_properties(s, "p", "k=v note=\"\xc3\xa9\n ");
  refuse(s, BL_USAGE, bl_catalog_set_namespace(s->c, "p", wrong, 1, NULL, 0, &err), "KEY=VALUE", &err);
  refuse(s, BL_USAGE, bl_catalog_create_namespace(s->c, "r", wrong, 1, &err), "KEY=VALUE", &err);
  refuse(s, BL_CONFLICT, bl_catalog_create_namespace(s->c, "p", set, 2, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_set_namespace(s->c, "q", more, 1, NULL, 0, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_namespace_properties(s->c, "q", note_pair, s, &err), NULL, &err);
  lists_namespaces(s, "db p ");
}

static void namespaces_go_with_their_properties(suite *s) {
  const char *set[] = {"owner=me"}, *unset[] = {"owner"};
  test_ok(bl_catalog_create_namespace(s->c, "p.inner", set, 1, &s->err), &s->err);
  has_properties(s, "p.inner", "owner=me ");
  bl_error err = BL_ERROR_INIT;
  create(s, "p.inner.t");
  refuse(s, BL_CONFLICT, bl_catalog_drop_namespace(s->c, "p.inner", &err), "empty", &err);
  has_properties(s, "p.inner", "owner=me ");
  test_ok(bl_catalog_drop(s->ctx, &s->o, "p.inner.t", true, false, NULL, &s->err), &s->err);
  test_ok(bl_catalog_drop_namespace(s->c, "p.inner", &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, bl_catalog_namespace_properties(s->c, "p.inner", note_pair, s, &err), NULL, &err);
  test_ok(bl_catalog_create_namespace(s->c, "p.inner", NULL, 0, &s->err), &s->err);
  has_properties(s, "p.inner", "");
  test_ok(bl_catalog_set_namespace(s->c, "p.inner", set, 1, NULL, 0, &s->err), &s->err);
  test_ok(bl_catalog_set_namespace(s->c, "p.inner", NULL, 0, unset, 1, &s->err), &s->err);
  has_properties(s, "p.inner", "");
  test_ok(bl_catalog_drop_namespace(s->c, "p.inner", &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop_namespace(s->c, "p.inner", &err), NULL, &err);
}

/* ---- views ---- */

static const char view_text[] =
    "{\"view-uuid\":\"fa6506c3-7681-40c8-86dc-e36561f83385\",\"format-version\":1,\"location\":\"%s\",\"schemas\":[{"
    "\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":0,\"name\":\"id\",\"required\":false,\"type\":\"long\"}]}]"
    ","
    "\"current-version-id\":1,\"versions\":[{\"version-id\":1,\"timestamp-ms\":1573518431292,\"schema-id\":0,"
    "\"default-namespace\":[\"db\"],\"summary\":{},\"representations\":[{\"type\":\"sql\",\"sql\":\"SELECT 1\","
    "\"dialect\":\"spark\"}]}],\"version-log\":[{\"version-id\":1,\"timestamp-ms\":1573518431292}]}";

/* As another program leaves it. */
static char *make_view(suite *s, const char *name) {
  char folder[500], text[2000], path[700], sql[1200];
  snprintf(folder, sizeof folder, "%s/db/%s", s->warehouse, name);
  snprintf(text, sizeof text, view_text, folder);
  snprintf(path, sizeof path, "%s/metadata", folder);
  for (char *p = path + 1; *p; p++)
    if (*p == '/') {
      *p = 0;
      (void)!mkdir(path, 0777);
      *p = '/';
    }
  (void)!mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/metadata/00000-2bb4d1c1-2d9e-4a3b-9b52-4bb0ed5a3e30.metadata.json", folder);
  test_write(path, text, strlen(text));
  if (!s->k->sqlite) return strdup(path);
  sqlite3 *db;
  snprintf(sql, sizeof sql,
           "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
           "SELECT catalog_name, 'db', '%s', '%s', 'VIEW' FROM iceberg_namespace_properties LIMIT 1",
           name, path);
  assert_int_equal(sqlite3_open(s->uri + strlen("sqlite:///"), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  return strdup(path);
}

static void views_are_left_alone(suite *s) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  create(s, "db.t");
  char *view = make_view(s, "v");
  lists_tables(s, NULL, "db.t ");
  lists_namespaces(s, "db ");
  refuse(s, BL_UNSUPPORTED, bl_table_open(s->ctx, "db.v", &s->o, &t, &err), "view", &err);
  refuse(s, BL_CONFLICT, try_create(s, "db.v", &err), NULL, &err);
  for (int dry = 1; dry >= 0; dry--) {
    for (int purge = 0; purge < 2; purge++)
      refuse(s, BL_UNSUPPORTED, bl_catalog_drop(s->ctx, &s->o, "db.v", purge, dry, NULL, &err), "view", &err);
    refuse(s, BL_UNSUPPORTED, bl_catalog_rename(s->ctx, &s->o, "db.v", "db.w", dry, &err), "view", &err);
    refuse(s, BL_CONFLICT, bl_catalog_rename(s->ctx, &s->o, "db.t", "db.v", dry, &err), NULL, &err);
    refuse(s, BL_UNSUPPORTED, bl_catalog_register(s->ctx, &s->o, "db.w", view, dry, &err), "view", &err);
    t = open_table(s, "db.t");
    refuse(s, BL_CONFLICT, bl_catalog_register(s->ctx, &s->o, "db.v", t->metadata_path, dry, &err), NULL, &err);
    bl_table_free(t);
  }
  refuse(s, BL_NOT_FOUND, try_create(s, "db.v.t", &err), NULL, &err);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  refuse(s, BL_CONFLICT, bl_catalog_check_empty(s->c, "db", &err), "empty", &err);
  refuse(s, BL_CONFLICT, bl_catalog_drop_namespace(s->c, "db", &err), "empty", &err);
  assert_int_equal(access(view, F_OK), 0);
  free(view);
}

/* ---- races ---- */

enum { RACERS = 4, EACH = 6 };

static int race(const kind *k, const char *dir, int me) {
  suite s = {.k = k, .ctx = test_ctx(), .dir = (char *)dir, .err = BL_ERROR_INIT};
  char warehouse[500], name[40];
  snprintf(warehouse, sizeof warehouse, "%s/wh", dir);
  snprintf(s.uri, sizeof s.uri, "sqlite:///%s/c.db", dir);
  if (bl_drivers_default(s.ctx, &s.drivers, &s.err) != BL_OK) return 2;
  s.o = (bl_table_options){.uri = k->sqlite ? s.uri : NULL, .warehouse = warehouse, .drivers = &s.drivers};
  bl_table *first = me % 2 ? open_table(&s, "db.t") : NULL; /* one connection for all, or one for each */
  for (int i = 0; i < EACH; i++) {
    bl_table *t = NULL;
    bl_write_result r = {0};
    bl_error err = BL_ERROR_INIT;
    snprintf(name, sizeof name, "f%d-%d", me, i);
    bl_status st = first ? bl_table_reopen(first, &t, &err) : bl_table_open(s.ctx, "db.t", &s.o, &t, &err);
    if (st != BL_OK || append(&s, t, name, 3, &r, &err) != BL_OK) {
      fprintf(stderr, "racer %d: %s\n", me, err.message);
      return 1;
    }
    bl_table_free(t);
  }
  bl_table_free(first);
  bl_drivers_dispose(&s.drivers);
  bl_ctx_free(s.ctx);
  return 0;
}

static void every_racer_lands(suite *s) {
  pid_t racers[RACERS];
  create(s, "db.t");
  for (int i = 0; i < RACERS; i++) {
    racers[i] = fork();
    if (racers[i] == 0) _exit(race(s->k, s->dir, i));
  }
  for (int i = 0; i < RACERS; i++) {
    int status;
    assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  bl_table *t = open_table(s, "db.t");
  const bl_metadata *md = t->metadata;
  const int64_t rows = (int64_t)RACERS * EACH * 3;
  assert_int_equal(md->n_snapshots, RACERS * EACH);
  assert_int_equal(md->last_sequence_number, RACERS * EACH);
  const bl_snapshot *head = bl_metadata_snapshot(md, md->current_snapshot_id);
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n, files = 0;
  bool *seen = calloc((size_t)md->next_row_id, 1);
  test_ok(bl_arena_new(s->ctx, &a, &s->err), &s->err);
  test_ok(bl_table_manifests(t, head, a, &ms, &n, &s->err), &s->err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    test_ok(bl_table_manifest_entries(t, &ms[i], false, a, &es, &k, &s->err), &s->err);
    for (size_t j = 0; j < k; j++, files++)
      for (int64_t r = 0; r < 3; r++) {
        int64_t id = es[j].file.first_row_id + r;
        assert_true(id >= 0 && id < md->next_row_id && !seen[id]);
        seen[id] = true;
      }
  }
  assert_int_equal(files, RACERS * EACH);
  assert_true(md->next_row_id >= rows);
  for (const bl_snapshot *x = head; x->has_parent; x = bl_metadata_parent(md, x))
    assert_non_null(bl_metadata_parent(md, x));
  free(seen);
  bl_arena_free(a);
  bl_table_free(t);
}

/* Commits until its table is gone; each that is said to be done counts, and no other. */
static int commit_until_gone(suite *s, int *done, int me) {
  for (int i = 0; i < 400; i++) {
    bl_table *t = NULL;
    bl_write_result r = {0};
    bl_error err = BL_ERROR_INIT;
    char name[40];
    snprintf(name, sizeof name, "f%d-%d", me, i);
    bl_status st = bl_table_open(s->ctx, "db.t", &s->o, &t, &err);
    if (st == BL_OK) st = append(s, t, name, 1, &r, &err);
    bl_table_free(t);
    if (st == BL_OK) __atomic_add_fetch(done, 1, __ATOMIC_SEQ_CST);
    else if (st == BL_NOT_FOUND) return 0;
    else {
      fprintf(stderr, "racer %d: %d %s\n", me, (int)st, err.message);
      return 1;
    }
  }
  fprintf(stderr, "racer %d: the table never went\n", me);
  return 1;
}

static int race_until_gone(const suite *s, int *done, int me) {
  suite own = *s;
  own.ctx = test_ctx();
  if (bl_drivers_default(own.ctx, &own.drivers, &own.err) != BL_OK) return 2;
  own.o.drivers = &own.drivers;
  return commit_until_gone(&own, done, me);
}

static void a_table_that_is_renamed_or_dropped_loses_no_commit(suite *s) {
  int *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(done != MAP_FAILED);
  for (int renames = 1; renames >= 0; renames--) {
    pid_t racers[RACERS];
    create(s, "db.t");
    *done = 0;
    for (int i = 0; i < RACERS; i++) {
      racers[i] = fork();
      if (racers[i] == 0) _exit(race_until_gone(s, done, i));
    }
    while (__atomic_load_n(done, __ATOMIC_SEQ_CST) < 2 * RACERS) sched_yield();
    if (renames) test_ok(bl_catalog_rename(s->ctx, &s->o, "db.t", "db.moved", false, &s->err), &s->err);
    else {
      char *left = drop_and_keep(s, "db.t");
      test_ok(bl_catalog_register(s->ctx, &s->o, "db.kept", left, false, &s->err), &s->err);
      bl_text_free(s->ctx, left);
    }
    for (int i = 0, status; i < RACERS; i++) {
      assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    lists_tables(s, NULL, renames ? "db.moved " : "db.kept db.moved ");
    assert_int_equal(rows_of(s, renames ? "db.moved" : "db.kept"), *done);
  }
  munmap(done, sizeof *done);
}

static void one_of_many_creates(suite *s) {
  pid_t racers[RACERS];
  int made = 0;
  for (int i = 0; i < RACERS; i++) {
    racers[i] = fork();
    if (racers[i] == 0) {
      suite own = *s;
      bl_error err = BL_ERROR_INIT;
      own.ctx = test_ctx();
      bl_status st = try_create(&own, "db.t", &err);
      _exit(st == BL_OK ? 0 : st == BL_CONFLICT ? 1 : 2);
    }
  }
  for (int i = 0; i < RACERS; i++) {
    int status;
    assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    made += WEXITSTATUS(status) == 0;
  }
  assert_int_equal(made, 1);
  append_ok(s, "db.t", "one");
}

static void handles_know_whether_they_are_current(suite *s) {
  create(s, "db.t");
  bl_table *old = open_table(s, "db.t"), *newer;
  bool known = old->form == BL_FORM_CATALOG; /* names of files in folders are used again */
  assert_int_equal(bl_table_is_current(old), known);
  append_ok(s, "db.t", "one");
  assert_false(bl_table_is_current(old));
  test_ok(bl_table_reopen(old, &newer, &s->err), &s->err);
  assert_int_equal(bl_table_is_current(newer), known);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", false, false, NULL, &s->err), &s->err);
  assert_false(bl_table_is_current(newer));
  bl_table_free(newer);
  bl_table_free(old);
}

static void check_reopened(suite *s, const bl_table *from, size_t snapshots) {
  bl_table *t = NULL;
  test_ok(bl_table_reopen(from, &t, &s->err), &s->err);
  assert_int_equal(t->metadata->n_snapshots, snapshots);
  bl_table_free(t);
}

static void handles_are_opened_from_each_other(suite *s) {
  create(s, "db.t");
  bl_table *first = open_table(s, "db.t"), *last = NULL;
  for (int i = 0; i < 4; i++) {
    bl_write_result r = {0};
    char name[20];
    bl_table *t = NULL;
    snprintf(name, sizeof name, "f%d", i);
    if (i == 2) append_ok(s, "db.t", "another's"); /* by a connection of its own */
    test_ok(bl_table_reopen(first, &t, &s->err), &s->err);
    assert_int_equal(t->metadata->n_snapshots, (size_t)i + (i >= 2));
    test_ok(append(s, t, name, 10, &r, &s->err), &s->err);
    assert_int_equal(r.attempts, 1);
    bl_table_free(t);
  }
  test_ok(bl_table_reopen(first, &last, &s->err), &s->err);
  bl_table_free(first);
  assert_int_equal(last->metadata->n_snapshots, 5);
  assert_int_equal(last->metadata->next_row_id, 50);
  check_reopened(s, last, 5); /* what was kept is given once */
  append_ok(s, "db.t", "more");
  check_reopened(s, last, 6);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  bl_error err = BL_ERROR_INIT;
  refuse(s, BL_NOT_FOUND, bl_table_reopen(last, &first, &err), NULL, &err);
  bl_table_free(last);
}

/* ---- answers that are wrong ---- */

/* SQLite's catalog, whose commits are made, and then reported as failed. */
static bl_status lie; /* BL_OK: the truth is told */
static bl_status (*honest)(bl_catalog *c, const bl_table_name *t, const char *base, const char *location,
                           bl_error *err);

static bl_status commit_and_lie(bl_catalog *c, const bl_table_name *t, const char *base, const char *location,
                                bl_error *err) {
  bl_status st = honest(c, t, base, location, err);
  return st == BL_OK && lie != BL_OK ? bl_fail(err, lie, "the line went dead") : st;
}

static bl_status open_liar(bl_ctx *ctx, const bl_catalog_options *o, bl_catalog **out, bl_error *err) {
  bl_status st = bl_catalog_driver_sqlite.open(ctx, o, out, err);
  if (st != BL_OK) return st;
  honest = (*out)->commit;
  (*out)->commit = commit_and_lie;
  return BL_OK;
}

static void is_there_with(suite *s, const char *property) {
  bl_table *t = open_table(s, "db.t");
  assert_non_null(bl_table_property(t, property));
  bl_table_free(t);
}

static void moves_that_are_reported_as_failed_but_made_are_done(suite *s) {
  static const bl_status lies[] = {BL_CONFLICT, BL_UNKNOWN, BL_IO, BL_NOT_FOUND};
  static const char *const set[] = {"a=1", "b=1", "c=1", "d=1"}, *const names[] = {"a", "b", "c", "d"};
  if (!s->k->sqlite) return;
  bl_catalog_driver liar = bl_catalog_driver_sqlite;
  const bl_catalog_driver *drivers[] = {&liar};
  liar.open = open_liar;
  s->drivers.catalogs = drivers;
  s->drivers.n_catalogs = 1;
  for (size_t i = 0; i < BL_LEN(lies); i++) {
    lie = lies[i];
    create(s, "db.t");
    bl_table *t = open_table(s, "db.t");
    test_ok(bl_set_properties(t, &set[i], 1, NULL, 0, NULL, &s->err), &s->err);
    is_there_with(s, names[i]);
    append_ok(s, "db.t", "one");
    bl_table_free(t);
    t = open_table(s, "db.t");
    assert_int_equal(t->metadata->n_snapshots, 1);
    bl_table_free(t);
    lie = BL_OK;
    append_ok(s, "db.t", "two");
    test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, false, NULL, &s->err), &s->err);
  }
}

/* Every call that takes options. */
static void options_without_drivers_mean_the_built_in_ones(suite *s) {
  bl_table_options bare = s->o;
  char *left = NULL;
  bare.drivers = NULL;
  bl_catalog_free(s->c);
  test_ok(bl_catalog_open(s->ctx, &bare, false, &s->c, &s->err), &s->err);
  test_ok(bl_table_create(s->ctx, "db.t", &bare, &(bl_create_options){.schema = "id long"}, &s->err), &s->err);
  test_ok(bl_catalog_rename(s->ctx, &bare, "db.t", "db.u", false, &s->err), &s->err);
  test_ok(bl_catalog_drop(s->ctx, &bare, "db.u", false, false, &left, &s->err), &s->err);
  test_ok(bl_catalog_register(s->ctx, &bare, "db.u", left, false, &s->err), &s->err);
  test_ok(bl_catalog_drop(s->ctx, &bare, "db.u", true, false, NULL, &s->err), &s->err);
  bl_text_free(s->ctx, left);
}

/* ---- running ---- */

static void on_every_catalog(void (*test)(suite *s)) {
  for (size_t i = 0; i < BL_LEN(kinds); i++) {
    suite s;
    set_up(&s, &kinds[i]);
    test(&s);
    tear_down(&s);
  }
}

#define CASES(X)                                                                                                       \
  X(makes_and_finds_tables)                                                                                            \
  X(what_is_not_there_is_told_by_its_whole_name)                                                                       \
  X(lists_in_order)                                                                                                    \
  X(commits_move_the_pointer)                                                                                          \
  X(handles_that_are_old_commit_on_top)                                                                                \
  X(handles_are_opened_from_each_other)                                                                                \
  X(handles_know_whether_they_are_current)                                                                             \
  X(tables_that_are_dropped_stay_so)                                                                                   \
  X(purge_leaves_no_files)                                                                                             \
  X(drop_keeps_the_files)                                                                                              \
  X(a_dropped_table_comes_back_under_its_name)                                                                         \
  X(what_is_dropped_goes_to_another_catalog)                                                                           \
  X(dry_runs_drop_nothing)                                                                                             \
  X(renames)                                                                                                           \
  X(files_written_for_a_table_that_is_gone_leave_no_folder)                                                            \
  X(handles_of_an_old_name_write_nothing)                                                                              \
  X(registers)                                                                                                         \
  X(options_without_drivers_mean_the_built_in_ones)                                                                    \
  X(namespaces_come_and_go)                                                                                            \
  X(namespaces_have_properties)                                                                                        \
  X(namespaces_go_with_their_properties)                                                                               \
  X(views_are_left_alone)                                                                                              \
  X(a_table_that_is_renamed_or_dropped_loses_no_commit)                                                                \
  X(moves_that_are_reported_as_failed_but_made_are_done)                                                               \
  X(one_of_many_creates)                                                                                               \
  X(every_racer_lands)
#define TEST(name)                                                                                                     \
  static void test_catalogs__##name(void **state) {                                                                    \
    (void)state;                                                                                                       \
    on_every_catalog(name);                                                                                            \
  }
CASES(TEST)

int main(void) {
#define ROW(name) cmocka_unit_test(test_catalogs__##name),
  const struct CMUnitTest tests[] = {CASES(ROW)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
