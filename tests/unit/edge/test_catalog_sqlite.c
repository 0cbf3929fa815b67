/* test_catalog_sqlite.c: catalogs in SQLite files as Java and PyIceberg keep them. */
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "edge/catalog_sqlite.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  char *dir, *db;
  bl_catalog *c;
  char seen[1000];
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  f->db = test_join(f->dir, "c.db");
}

static void teardown(fixture *f) {
  if (f->c) f->c->free(f->c);
  test_remove_dir(f->dir);
  free(f->db);
  test_ctx_free(f->ctx);
}

static void run_sql(fixture *f, const char *sql) {
  sqlite3 *db;
  char *message = NULL;
  assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
  sqlite3_close(db);
}

static const char v0[] =
    "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT "
    "NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) "
    "NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000));";

static bl_status open_it(fixture *f, const char *uri, const char *name, bl_error *err) {
  bl_catalog_options o = {.name = name, .uri = uri};
  if (f->c) f->c->free(f->c);
  assert_true(bl_catalog_driver_sqlite.takes(&o));
  return bl_catalog_driver_sqlite.open(f->ctx, &o, &f->c, err);
}

static void open_ok(fixture *f, const char *name) {
  char uri[500];
  snprintf(uri, sizeof uri, "sqlite:///%s", f->db);
  test_ok(open_it(f, uri, name, &f->err), &f->err);
}

static void refuse_uri(fixture *f, const char *uri, const char *name, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  test_status(want, open_it(f, uri, name, &err), &err);
  assert_null(f->c);
  test_says(&err, says);
}

static void refuse(fixture *f, const char *name, bl_status want, const char *says) {
  char uri[500];
  snprintf(uri, sizeof uri, "sqlite:///%s", f->db);
  refuse_uri(f, uri, name, want, says);
}

static bl_status note(void *user, const bl_catalog_entry *e, bl_error *err) {
  fixture *f = user;
  (void)err;
  size_t n = strlen(f->seen);
  snprintf(f->seen + n, sizeof f->seen - n, "%s/%s/%s;", e->name_space, e->name ? e->name : "-",
           e->metadata_location ? e->metadata_location : "-");
  return BL_OK;
}

static bl_status load(fixture *f, const char *ns, const char *name, bl_error *err) {
  bl_table_name t = {&ns, 1, name};
  f->seen[0] = 0;
  return f->c->load(f->c, &t, note, f, err);
}

static void test_catalog_sqlite__loads_tables_without_the_type_column(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a.b', 't', '/m.json', NULL), ('c', 'a', 'u', NULL, NULL)");
  open_ok(&f, NULL);
  test_ok(load(&f, "a.b", "t", &f.err), &f.err);
  assert_string_equal(f.seen, "a.b/t//m.json;");
  assert_string_equal(f.c->name, "c");
  test_status(BL_DAMAGED, load(&f, "a", "u", &f.err), &f.err);
  test_says(&f.err, "metadata_location");
  teardown(&f);
}

static void test_catalog_sqlite__knows_views_and_null_types(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(
      &f,
      "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5);"
      "INSERT INTO iceberg_tables VALUES ('c', 'a', 'old', '/m', NULL, NULL), ('c', 'a', 't', '/m', NULL, 'TABLE'), "
      "('c', 'a', 'v', '/m', NULL, 'VIEW')");
  open_ok(&f, NULL);
  test_ok(load(&f, "a", "old", &f.err), &f.err);
  test_ok(load(&f, "a", "t", &f.err), &f.err);
  test_status(BL_UNSUPPORTED, load(&f, "a", "v", &f.err), &f.err);
  test_says(&f.err, "a.v");
  f.seen[0] = 0;
  f.err = (bl_error)BL_ERROR_INIT;
  test_ok(f.c->list_tables(f.c, NULL, 0, note, &f, &f.err), &f.err);
  assert_string_equal(f.seen, "a/old//m;a/t//m;");
  teardown(&f);
}

static void test_catalog_sqlite__lists_tables_and_namespaces_in_order(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'b', 't', '/1', NULL), ('c', 'a.x', 't', '/2', NULL), ('d', "
              "'z', 't', '/', NULL);"
              "INSERT INTO iceberg_namespace_properties VALUES ('c', 'empty', 'exists', 'true'), ('c', 'b', 'k', 'v')");
  open_ok(&f, "c");
  test_ok(f.c->list_tables(f.c, NULL, 0, note, &f, &f.err), &f.err);
  assert_string_equal(f.seen, "a.x/t//2;b/t//1;");
  f.seen[0] = 0;
  test_ok(f.c->list_tables(f.c, (const char *[]){"a", "x"}, 2, note, &f, &f.err), &f.err);
  assert_string_equal(f.seen, "a.x/t//2;");
  f.seen[0] = 0;
  test_ok(f.c->list_namespaces(f.c, note, &f, &f.err), &f.err);
  assert_string_equal(f.seen, "a.x/-/-;b/-/-;empty/-/-;");
  teardown(&f);
}

static void test_catalog_sqlite__several_catalogs_need_a_name(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('one', 'a', 't', '/1', NULL), ('two', 'a', 't', '/2', NULL)");
  refuse(&f, NULL, BL_USAGE, "one, two");
  refuse(&f, "three", BL_NOT_FOUND, "one, two");
  open_ok(&f, "two");
  test_ok(load(&f, "a", "t", &f.err), &f.err);
  assert_string_equal(f.seen, "a/t//2;");
  teardown(&f);
}

static void test_catalog_sqlite__odd_names_are_data_not_sql(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't''; --', '/1', NULL)");
  open_ok(&f, NULL);
  test_ok(load(&f, "a", "t'; --", &f.err), &f.err);
  test_status(BL_NOT_FOUND, load(&f, "a", "%", &f.err), &f.err);
  teardown(&f);
}

static void test_catalog_sqlite__what_is_no_catalog_is_told_apart(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  refuse(&f, NULL, BL_NOT_FOUND, "c.db");
  test_write(f.db,
             "this is no database at all, but long enough to have a header of one hundred bytes ....................",
             100);
  refuse(&f, NULL, BL_DAMAGED, "c.db");
  unlink(f.db);
  run_sql(&f, "CREATE TABLE other(x)");
  refuse(&f, NULL, BL_DAMAGED, "iceberg_tables");
  run_sql(&f, v0);
  refuse_uri(&f, "sqlite://", NULL, BL_USAGE, "sqlite:///PATH");
  refuse_uri(&f, "sqlite://host/x", NULL, BL_USAGE, "sqlite:///PATH");
  open_ok(&f, NULL); /* tables without rows: an empty catalog */
  teardown(&f);
}

static void open_as(fixture *f, const char *uri) {
  test_ok(open_it(f, uri, NULL, &f->err), &f->err);
}

static void test_catalog_sqlite__every_form_of_uri_finds_the_file(void **state) {
  (void)state;
  fixture f;
  char uri[500], *was = getcwd(NULL, 0);
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL)");
  snprintf(uri, sizeof uri, "sqlite:///%s", f.db); /* four slashes */
  open_as(&f, uri);
  snprintf(uri, sizeof uri, "sqlite://%s", f.db);
  open_as(&f, uri);
  snprintf(uri, sizeof uri, "jdbc:sqlite:%s", f.db);
  open_as(&f, uri);
  snprintf(uri, sizeof uri, "jdbc:sqlite:file:%s?busy_timeout=5", f.db);
  open_as(&f, uri);
  assert_int_equal(chdir(f.dir), 0);
  open_as(&f, "sqlite:///c.db");
  assert_int_equal(chdir(was), 0);
  free(was);
  teardown(&f);
}

static void test_catalog_sqlite__three_slashes_are_relative_unless_only_the_root_has_the_folder(void **state) {
  (void)state;
  fixture f;
  char uri[500], *was = getcwd(NULL, 0);
  setup(&f);
  assert_int_equal(chdir(f.dir), 0);
  refuse_uri(&f, "sqlite:///nosuch.db", NULL, BL_NOT_FOUND, "catalog: nosuch.db");
  refuse_uri(&f, "sqlite:///no/such.db", NULL, BL_NOT_FOUND, "catalog: /no/such.db");
  assert_int_equal(mkdir("sub", 0700), 0);
  refuse_uri(&f, "sqlite:///sub/nosuch.db", NULL, BL_NOT_FOUND, "catalog: sub/nosuch.db");
  snprintf(uri, sizeof uri, "sqlite://%s/sub/nosuch.db", f.dir);
  refuse_uri(&f, uri, NULL, BL_NOT_FOUND, f.dir);
  assert_int_equal(rmdir("sub"), 0);
  assert_int_equal(chdir(was), 0);
  free(was);
  teardown(&f);
}

/* ---- others who use the file ---- */

static const bl_table_name at = {(const char *const[]){"a"}, 1, "t"};

/* A table a.t at /1, and another connection to the file; the catalog waits for it at most so long. */
static sqlite3 *beside(fixture *f, const char *wait) {
  sqlite3 *other;
  char uri[500];
  setup(f);
  run_sql(f, v0);
  run_sql(f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL), ('c', 'a', 'u', '/1', NULL)");
  snprintf(uri, sizeof uri, "jdbc:sqlite:file:%s%s", f->db, wait);
  open_as(f, uri);
  assert_int_equal(sqlite3_open(f->db, &other), SQLITE_OK);
  return other;
}

static void exec(sqlite3 *db, const char *sql) {
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *begin_reading(sqlite3 *db) {
  sqlite3_stmt *q;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM iceberg_tables", -1, &q, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(q), SQLITE_ROW);
  return q;
}

static void is_at(fixture *f, const char *location) {
  char want[100];
  snprintf(want, sizeof want, "a/t/%s;", location);
  test_ok(load(f, "a", "t", &f->err), &f->err);
  assert_string_equal(f->seen, want);
}

static void finds_it_locked(fixture *f, bl_status want, bl_status st, bl_error *err) {
  (void)f;
  test_status(want, st, err);
  test_says(err, "the catalog is locked");
  *err = (bl_error)BL_ERROR_INIT;
}

static void test_catalog_sqlite__a_lock_of_another_is_told_and_changes_nothing(void **state) {
  (void)state;
  fixture f;
  bl_error err = BL_ERROR_INIT;
  sqlite3 *other = beside(&f, "?busy_timeout=1");
  exec(other, "BEGIN EXCLUSIVE"); /* nothing can be read, nor was anything to be changed */
  finds_it_locked(&f, BL_IO, load(&f, "a", "t", &err), &err);
  exec(other, "COMMIT");
  sqlite3_stmt *reading = begin_reading(other); /* the commit cannot end */
  finds_it_locked(&f, BL_CONFLICT, f.c->commit(f.c, &at, "/1", "/2", &err), &err);
  is_at(&f, "/1");
  sqlite3_finalize(reading);
  exec(other, "BEGIN IMMEDIATE"); /* it cannot begin */
  finds_it_locked(&f, BL_CONFLICT, f.c->commit(f.c, &at, "/1", "/2", &err), &err);
  is_at(&f, "/1");
  exec(other, "COMMIT; BEGIN EXCLUSIVE");                           /* nothing can be read */
  finds_it_locked(&f, BL_CONFLICT, load(&f, "a", "t", &err), &err); /* for the next attempt */
  exec(other, "COMMIT");
  test_ok(f.c->commit(f.c, &at, "/1", "/2", &f.err), &f.err);
  is_at(&f, "/2");
  sqlite3_close(other);
  teardown(&f);
}

typedef struct reader {
  sqlite3_stmt *reading;
  const char *db;
} reader;

/* Goes on reading until new readers are kept out: somebody waits to end a commit. */
static void *read_until_asked(void *p) {
  const reader *r = p;
  sqlite3 *third;
  if (sqlite3_open(r->db, &third) != SQLITE_OK) return NULL;
  while (sqlite3_exec(third, "SELECT * FROM iceberg_tables", NULL, NULL, NULL) == SQLITE_OK) sched_yield();
  sqlite3_finalize(r->reading);
  sqlite3_close(third);
  return NULL;
}

static void test_catalog_sqlite__a_commit_waits_for_readers(void **state) {
  (void)state;
  fixture f;
  pthread_t thread;
  sqlite3 *other = beside(&f, "");
  reader r = {begin_reading(other), f.db};
  assert_int_equal(pthread_create(&thread, NULL, read_until_asked, &r), 0);
  test_ok(f.c->commit(f.c, &at, "/1", "/2", &f.err), &f.err);
  assert_int_equal(pthread_join(thread, NULL), 0);
  is_at(&f, "/2");
  sqlite3_close(other);
  teardown(&f);
}

/* Who lists may change what is listed, by the same connection or another. */
static bl_status move_on(void *user, const bl_catalog_entry *e, bl_error *err) {
  fixture *f = user;
  bool by_other = strcmp(e->metadata_location, "/1") == 0;
  bl_catalog *c = f->c;
  if (strcmp(e->name, "t") != 0) return BL_OK;
  if (by_other) {
    char uri[500];
    snprintf(uri, sizeof uri, "jdbc:sqlite:file:%s?busy_timeout=1", f->db);
    bl_catalog_options o = {.uri = uri};
    test_ok(bl_catalog_driver_sqlite.open(f->ctx, &o, &c, err), err);
  }
  bl_status st = c->commit(c, &at, e->metadata_location, by_other ? "/2" : "/3", err);
  if (by_other) c->free(c);
  return st;
}

static void test_catalog_sqlite__a_listing_holds_nothing(void **state) {
  (void)state;
  fixture f;
  sqlite3_close(beside(&f, ""));
  test_ok(f.c->list_tables(f.c, NULL, 0, move_on, &f, &f.err), &f.err);
  is_at(&f, "/2");
  test_ok(f.c->list_tables(f.c, NULL, 0, move_on, &f, &f.err), &f.err);
  is_at(&f, "/3");
  teardown(&f);
}

static void test_catalog_sqlite__takes_only_its_own(void **state) {
  (void)state;
  static const bl_catalog_options no[] = {{.uri = NULL, .type = "sql"},
                                          {.uri = "http://x"},
                                          {.uri = "postgresql://x", .type = "sql"},
                                          {.uri = "sqlite:///x", .type = "rest"}};
  for (size_t i = 0; i < BL_LEN(no); i++) assert_false(bl_catalog_driver_sqlite.takes(&no[i]));
}

static bl_status use_all(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  bl_catalog_options o = {.uri = f->seen};
  bl_catalog *c = NULL;
  fixture notes = {0};
  const char *ns = "a";
  bl_table_name t = {&ns, 1, "t"};
  bl_status st;
  BL_GO(bl_catalog_driver_sqlite.open(ctx, &o, &c, err));
  BL_GO(c->load(c, &t, note, &notes, err));
  BL_GO(c->list_tables(c, &ns, 1, note, &notes, err));
  BL_GO(c->list_namespaces(c, note, &notes, err));
done:
  if (c) c->free(c);
  return st;
}

static void fail_each_on_one_table(bl_status (*run)(bl_ctx *ctx, void *user, bl_error *err)) {
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL)");
  snprintf(f.seen, sizeof f.seen, "sqlite:///%s", f.db);
  test_fail_each(run, &f);
  teardown(&f);
}

static void test_catalog_sqlite__survives_each_failing_allocation(void **state) {
  (void)state;
  fail_each_on_one_table(use_all);
}

/* ---- the journal ---- */

static bl_status move(fixture *f, const char *base, const char *location) {
  const char *ns = "a";
  bl_table_name t = {&ns, 1, "t"};
  return f->c->commit(f->c, &t, base, location, &f->err);
}

static void move_ok(fixture *f, const char *base, const char *location) {
  test_ok(move(f, base, location), &f->err);
}

/* Bytes of the journal; -1: there is none. */
static long journal_of(const fixture *f) {
  char path[600];
  struct stat info;
  snprintf(path, sizeof path, "%s-journal", f->db);
  return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static void open_with_a_table(fixture *f) {
  setup(f);
  run_sql(f, v0);
  run_sql(f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL)");
  open_ok(f, NULL);
}

static void test_catalog_sqlite__the_second_commit_of_a_connection_keeps_its_journal_until_it_ends(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  move_ok(&f, "/1", "/2");
  assert_int_equal(journal_of(&f), -1);
  move_ok(&f, "/2", "/3");
  assert_true(journal_of(&f) > 0);
  move_ok(&f, "/3", "/4");
  assert_true(journal_of(&f) > 0);
  f.c->free(f.c);
  f.c = NULL;
  assert_int_equal(journal_of(&f), -1);
  open_ok(&f, NULL);
  test_ok(load(&f, "a", "t", &f.err), &f.err);
  assert_string_equal(f.seen, "a/t//4;");
  teardown(&f);
}

static void test_catalog_sqlite__a_kept_journal_is_none_to_others(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  move_ok(&f, "/1", "/2");
  move_ok(&f, "/2", "/3");
  run_sql(&f, "UPDATE iceberg_tables SET metadata_location = '/theirs' WHERE metadata_location = '/3'");
  assert_int_equal(journal_of(&f), -1); /* who does not keep it removes it */
  test_ok(load(&f, "a", "t", &f.err), &f.err);
  assert_string_equal(f.seen, "a/t//theirs;");
  test_status(BL_CONFLICT, move(&f, "/3", "/4"), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  move_ok(&f, "/theirs", "/5");
  assert_true(journal_of(&f) > 0);
  teardown(&f);
}

static void test_catalog_sqlite__a_journal_that_others_may_not_open_is_not_kept(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  move_ok(&f, "/1", "/2");
  move_ok(&f, "/2", "/3");
  assert_true(journal_of(&f) > 0);
  assert_int_equal(chmod(f.db, 0666), 0);
  move_ok(&f, "/3", "/4");
  assert_int_equal(journal_of(&f), -1);
  move_ok(&f, "/4", "/5");
  assert_int_equal(journal_of(&f), -1);
  teardown(&f);
}

static bl_status commit_thrice(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  bl_catalog_options o = {.uri = f->seen};
  const char *ns = "a";
  bl_table_name t = {&ns, 1, "t"};
  bl_catalog *c = NULL;
  bl_status st;
  BL_GO(bl_catalog_driver_sqlite.open(ctx, &o, &c, err));
  for (int i = 0; i < 3; i++) BL_GO(c->commit(c, &t, "/1", "/1", err));
done:
  if (c) c->free(c);
  return st;
}

static void test_catalog_sqlite__commits_survive_each_failing_allocation(void **state) {
  (void)state;
  fail_each_on_one_table(commit_thrice);
}

static void test_catalog_sqlite__a_file_in_another_journal_mode_stays_in_it(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL); PRAGMA journal_mode=WAL");
  open_ok(&f, NULL);
  move_ok(&f, "/1", "/2");
  move_ok(&f, "/2", "/3");
  move_ok(&f, "/3", "/4");
  assert_int_equal(journal_of(&f), -1);
  f.c->free(f.c);
  f.c = NULL;
  size_t n;
  char *bytes = test_read(f.db, &n);
  assert_int_equal(bytes[18], 2); /* WAL, by the file's own word */
  free(bytes);
  teardown(&f);
}

/* ---- files that a commit waits for ---- */

typedef struct waiting {
  const fixture *f;
  int calls;
  bl_status answer;
  const char *not_yet; /* what is not in the catalog's file when it is asked */
} waiting;

static bool holds(const char *path, const char *text) {
  size_t n;
  char *bytes = test_read(path, &n);
  bool yes = memmem(bytes, n, text, strlen(text)) != NULL;
  free(bytes);
  return yes;
}

static bl_status when_asked(void *user, bl_error *err) {
  waiting *w = user;
  w->calls++;
  assert_false(holds(w->f->db, w->not_yet));
  return w->answer == BL_OK ? BL_OK : bl_fail(err, w->answer, "the disk is gone");
}

static bl_status move_when(waiting *w, const char *base, const char *location, bl_error *err) {
  const char *ns = "a";
  bl_table_name t = {&ns, 1, "t"};
  w->calls = 0;
  w->not_yet = location;
  return w->f->c->commit_when(w->f->c, &t, base, location, when_asked, w, err);
}

static void test_catalog_sqlite__nothing_is_written_before_the_files_are_ready(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  waiting w = {.f = &f};
  static const char *const at_each[] = {"/one", "/two", "/three", "/four"};
  move_ok(&f, "/1", at_each[0]);
  for (int i = 1; i < 4; i++) {
    test_ok(move_when(&w, at_each[i - 1], at_each[i], &f.err), &f.err);
    assert_int_equal(w.calls, 1);
    assert_true(holds(f.db, at_each[i]));
  }
  teardown(&f);
}

static void test_catalog_sqlite__files_that_do_not_last_are_not_committed(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  const char *now = "/1";
  for (int i = 0; i < 3; i++) { /* without a journal that is kept, and with one */
    static const char *const next[] = {"/a", "/b", "/c"};
    waiting w = {.f = &f, .answer = BL_IO};
    bl_error err = BL_ERROR_INIT;
    test_status(BL_IO, move_when(&w, now, "/lost", &err), &err);
    assert_string_equal(err.message, "the disk is gone");
    assert_int_equal(w.calls, 1);
    assert_false(holds(f.db, "/lost"));
    char want[40];
    snprintf(want, sizeof want, "a/t/%s;", now);
    test_ok(load(&f, "a", "t", &f.err), &f.err);
    assert_string_equal(f.seen, want);
    run_sql(&f, "SELECT * FROM iceberg_tables"); /* nobody is kept out */
    move_ok(&f, now, next[i]);
    now = next[i];
  }
  teardown(&f);
}

static void test_catalog_sqlite__nothing_is_waited_for_where_another_was_faster(void **state) {
  (void)state;
  fixture f;
  open_with_a_table(&f);
  waiting w = {.f = &f};
  bl_error err = BL_ERROR_INIT;
  test_status(BL_CONFLICT, move_when(&w, "/0", "/2", &err), &err);
  assert_int_equal(w.calls, 0);
  move_ok(&f, "/1", "/2"); /* it is not asked later */
  assert_int_equal(w.calls, 0);
  teardown(&f);
}

static void test_catalog_sqlite__files_are_ready_before_a_transaction_in_wal_mode(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  run_sql(&f, v0);
  run_sql(&f, "INSERT INTO iceberg_tables VALUES ('c', 'a', 't', '/1', NULL); PRAGMA journal_mode=WAL");
  open_ok(&f, NULL);
  waiting w = {.f = &f, .answer = BL_IO};
  bl_error err = BL_ERROR_INIT;
  test_status(BL_IO, move_when(&w, "/1", "/2", &err), &err);
  assert_int_equal(w.calls, 1);
  w.answer = BL_OK;
  test_ok(move_when(&w, "/1", "/2", &f.err), &f.err);
  assert_int_equal(w.calls, 1);
  test_ok(load(&f, "a", "t", &f.err), &f.err);
  assert_string_equal(f.seen, "a/t//2;");
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalog_sqlite__loads_tables_without_the_type_column),
      cmocka_unit_test(test_catalog_sqlite__knows_views_and_null_types),
      cmocka_unit_test(test_catalog_sqlite__lists_tables_and_namespaces_in_order),
      cmocka_unit_test(test_catalog_sqlite__several_catalogs_need_a_name),
      cmocka_unit_test(test_catalog_sqlite__odd_names_are_data_not_sql),
      cmocka_unit_test(test_catalog_sqlite__what_is_no_catalog_is_told_apart),
      cmocka_unit_test(test_catalog_sqlite__every_form_of_uri_finds_the_file),
      cmocka_unit_test(test_catalog_sqlite__three_slashes_are_relative_unless_only_the_root_has_the_folder),
      cmocka_unit_test(test_catalog_sqlite__a_lock_of_another_is_told_and_changes_nothing),
      cmocka_unit_test(test_catalog_sqlite__a_commit_waits_for_readers),
      cmocka_unit_test(test_catalog_sqlite__a_listing_holds_nothing),
      cmocka_unit_test(test_catalog_sqlite__takes_only_its_own),
      cmocka_unit_test(test_catalog_sqlite__survives_each_failing_allocation),
      cmocka_unit_test(test_catalog_sqlite__the_second_commit_of_a_connection_keeps_its_journal_until_it_ends),
      cmocka_unit_test(test_catalog_sqlite__a_kept_journal_is_none_to_others),
      cmocka_unit_test(test_catalog_sqlite__a_journal_that_others_may_not_open_is_not_kept),
      cmocka_unit_test(test_catalog_sqlite__commits_survive_each_failing_allocation),
      cmocka_unit_test(test_catalog_sqlite__a_file_in_another_journal_mode_stays_in_it),
      cmocka_unit_test(test_catalog_sqlite__nothing_is_written_before_the_files_are_ready),
      cmocka_unit_test(test_catalog_sqlite__files_that_do_not_last_are_not_committed),
      cmocka_unit_test(test_catalog_sqlite__nothing_is_waited_for_where_another_was_faster),
      cmocka_unit_test(test_catalog_sqlite__files_are_ready_before_a_transaction_in_wal_mode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
