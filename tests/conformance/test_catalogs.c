/* test_catalogs.c: one suite for every catalog: what each must do, through the calls that users have. What a catalog
 * does not offer is declared in its row of `kinds`, and must then be refused as unsupported. */
#include <sys/wait.h>
#include <unistd.h>

#include "bergline/catalog.h"
#include "edge/catalog_sqlite.h"
#include "support/support.h"
#include "table/manifests.h"
#include "write/commit.h"

typedef struct kind {
  const char *name;
  bool sqlite;
  bool renames, registers, keeps_files;
} kind;

static const kind kinds[] = {
    {"sqlite", true, true, true, true},
    {"folders", false, false, false, false},
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
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, &s->err), &s->err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop(s->ctx, &s->o, "db.t", true, &err), NULL, &err);
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
  refuse(s, BL_USAGE, bl_catalog_drop(s->ctx, &s->o, "db.t", true, &err), "gc.enabled", &err);
  const char *key = "gc.enabled";
  test_ok(bl_set_properties(t, NULL, 0, &key, 1, NULL, &s->err), &s->err);
  bl_table_free(t);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, &s->err), &s->err);
  char *folder = test_join(s->warehouse, "db/t");
  assert_int_not_equal(access(folder, F_OK), 0);
  free(folder);
}

static void drop_keeps_files_where_it_can(suite *s) {
  create(s, "db.t");
  bl_error err = BL_ERROR_INIT;
  bl_table *t = open_table(s, "db.t");
  bl_status st = bl_catalog_drop(s->ctx, &s->o, "db.t", false, &err);
  if (!s->k->keeps_files) refuse(s, BL_UNSUPPORTED, st, "purge", &err);
  else {
    test_ok(st, &err);
    assert_int_equal(access(t->metadata_path, F_OK), 0);
    test_ok(bl_catalog_register(s->ctx, &s->o, "db.again", t->metadata_path, &s->err), &s->err);
    append_ok(s, "db.again", "one");
  }
  bl_table_free(t);
}

static void renames(suite *s) {
  create(s, "db.t");
  create(s, "db.u");
  bl_error err = BL_ERROR_INIT;
  if (!s->k->renames) {
    refuse(s, BL_UNSUPPORTED, bl_catalog_rename(s->c, "db.t", "db.v", &err), NULL, &err);
    return;
  }
  test_ok(bl_catalog_create_namespace(s->c, "other", NULL, 0, &s->err), &s->err);
  refuse(s, BL_CONFLICT, bl_catalog_rename(s->c, "db.t", "db.u", &err), "db.u", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_rename(s->c, "db.x", "db.y", &err), "db.x", &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_rename(s->c, "db.t", "nowhere.t", &err), "nowhere", &err);
  test_ok(bl_catalog_rename(s->c, "db.t", "other.v", &s->err), &s->err);
  lists_tables(s, NULL, "db.u other.v ");
  append_ok(s, "other.v", "one");
}

static void registers(suite *s) {
  create(s, "db.t");
  bl_error err = BL_ERROR_INIT;
  bl_table *t = open_table(s, "db.t");
  if (!s->k->registers)
    refuse(s, BL_UNSUPPORTED, bl_catalog_register(s->ctx, &s->o, "db.u", t->metadata_path, &err), NULL, &err);
  else {
    refuse(s, BL_CONFLICT, bl_catalog_register(s->ctx, &s->o, "db.t", t->metadata_path, &err), NULL, &err);
    refuse(s, BL_NOT_FOUND, bl_catalog_register(s->ctx, &s->o, "db.u", "/no/such.metadata.json", &err), NULL, &err);
    refuse(s, BL_DAMAGED, bl_catalog_register(s->ctx, &s->o, "db.u", s->uri + strlen("sqlite:///"), &err), NULL, &err);
  }
  bl_table_free(t);
}

static void namespaces_come_and_go(suite *s) {
  bl_error err = BL_ERROR_INIT;
  refuse(s, BL_CONFLICT, bl_catalog_create_namespace(s->c, "db", NULL, 0, &err), NULL, &err);
  refuse(s, BL_USAGE, bl_catalog_create_namespace(s->c, "a..b", NULL, 0, &err), NULL, &err);
  refuse(s, BL_NOT_FOUND, bl_catalog_drop_namespace(s->c, "nowhere", &err), NULL, &err);
  create(s, "db.t");
  refuse(s, BL_CONFLICT, bl_catalog_drop_namespace(s->c, "db", &err), "empty", &err);
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, &s->err), &s->err);
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
  test_ok(bl_catalog_drop(s->ctx, &s->o, "p.inner.t", true, &s->err), &s->err);
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
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", !known, &s->err), &s->err);
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
  test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, &s->err), &s->err);
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
    test_ok(bl_catalog_drop(s->ctx, &s->o, "db.t", true, &s->err), &s->err);
  }
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
  X(lists_in_order)                                                                                                    \
  X(commits_move_the_pointer)                                                                                          \
  X(handles_that_are_old_commit_on_top)                                                                                \
  X(handles_are_opened_from_each_other)                                                                                \
  X(handles_know_whether_they_are_current)                                                                             \
  X(tables_that_are_dropped_stay_so)                                                                                   \
  X(purge_leaves_no_files)                                                                                             \
  X(drop_keeps_files_where_it_can)                                                                                     \
  X(renames)                                                                                                           \
  X(registers)                                                                                                         \
  X(namespaces_come_and_go)                                                                                            \
  X(namespaces_have_properties)                                                                                        \
  X(namespaces_go_with_their_properties)                                                                               \
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
