/* test_purge.c: tables of a catalog that go with their files: in which order, cut short and again, in little memory. */
#include <unistd.h>

#include "bergline/catalog.h"
#include "edge/io_local.h"
#include "support/fault_io.h"
#include "support/support.h"
#include "support/tree.h"
#include "table/io.h"
#include "write/commit.h"

enum { MOST_NAMES = 400 };

typedef struct world {
  bl_ctx *ctx;
  char *dir, *warehouse, uri[600];
  fault_io io;
  bl_drivers drivers;
  bl_table_options o;
  bl_error err;
  char *removed[MOST_NAMES];
  size_t n_removed;
  long dies_at;        /* removals fail from this one on, counted from 1; 0: none does */
  const char *keeps;   /* files whose path holds this cannot be removed */
  char warnings[4000]; /* all of them */
} world;

static bl_status note_removal(void *user, long call, const char *operation, const char *path, bl_error *err) {
  world *w = user;
  (void)call;
  if (strcmp(operation, "remove") != 0) return BL_OK;
  if (w->dies_at && (long)w->n_removed + 1 >= w->dies_at) return bl_fail(err, BL_IO, "%s: no more", path);
  if (w->keeps && strstr(path, w->keeps)) return bl_fail(err, BL_IO, "%s: it is held", path);
  if (w->n_removed < MOST_NAMES) w->removed[w->n_removed++] = strdup(path);
  return BL_OK;
}

static void forget_removals(world *w) {
  for (size_t i = 0; i < w->n_removed; i++) free(w->removed[i]);
  w->n_removed = 0;
  w->warnings[0] = 0;
}

static void note_warning(void *user, bl_log_level level, const char *message) {
  world *w = user;
  size_t n = strlen(w->warnings);
  if (level == BL_LOG_WARNING) snprintf(w->warnings + n, sizeof w->warnings - n, "%s\n", message);
}

static void begin_on(world *w, test_heap *h) {
  bl_ctx_options co;
  bl_catalog *c;
  bl_io *local;
  *w = (world){.dir = test_temp_dir(), .err = BL_ERROR_INIT};
  bl_ctx_options_init(&co);
  co.threads = 1;
  co.log = note_warning;
  co.user = w;
  w->ctx = test_ctx_on(h, &co);
  w->warehouse = test_join(w->dir, "wh");
  snprintf(w->uri, sizeof w->uri, "sqlite:///%s/c.db", w->dir);
  test_ok(bl_drivers_default(w->ctx, &w->drivers, &w->err), &w->err);
  test_ok(bl_io_local_new(w->ctx, &local, &w->err), &w->err);
  w->drivers.io->free(w->drivers.io);
  w->drivers.io = fault_io_new(&w->io, local);
  w->o = (bl_table_options){.uri = w->uri, .warehouse = w->warehouse, .drivers = &w->drivers};
  const bl_create_options o = {.schema = "id long"};
  test_ok(bl_catalog_open(w->ctx, &w->o, true, &c, &w->err), &w->err);
  test_ok(bl_catalog_create_namespace(c, "db", NULL, 0, &w->err), &w->err);
  bl_catalog_free(c);
  test_ok(bl_table_create(w->ctx, "db.t", &w->o, &o, &w->err), &w->err);
  w->io.hook = note_removal;
  w->io.user = w;
}

static void end(world *w) {
  forget_removals(w);
  bl_drivers_dispose(&w->drivers);
  test_remove_dir(w->dir);
  free(w->warehouse);
  test_ctx_free(w->ctx);
}

static bl_table *open_table(world *w) {
  bl_table *t = NULL;
  test_ok(bl_table_open(w->ctx, "db.t", &w->o, &t, &w->err), &w->err);
  return t;
}

static bl_data_file file_at(const char *path) {
  return (bl_data_file){.path = bl_str_of(path),
                        .record_count = 5,
                        .file_size = 100,
                        .sort_order_id = -1,
                        .first_row_id = BL_NONE,
                        .content_offset = BL_NONE,
                        .content_size = BL_NONE};
}

/* An append of n files, which are there or only named, each in a folder of its own. */
static void append(world *w, const char *name, int n, bool there) {
  bl_table *t = open_table(w);
  bl_staged *s;
  bl_write_result r = {0};
  char path[700];
  test_ok(bl_staged_new(w->ctx, &s, &w->err), &w->err);
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/data/p=%d/%s.parquet", t->metadata->location.p, i, name);
    bl_data_file f = file_at(path);
    test_ok(bl_staged_add_data(s, &f, &w->err), &w->err);
    if (there) test_ok(bl_io_write_all(t->io, path, "rows", 4, true, &w->err), &w->err);
  }
  test_ok(bl_commit_change(t, s, NULL, &r, &w->err), &w->err);
  bl_staged_free(s);
  bl_table_free(t);
}

static bl_status purge(world *w) {
  w->err = (bl_error)BL_ERROR_INIT;
  return bl_catalog_drop(w->ctx, &w->o, "db.t", true, false, NULL, &w->err);
}

static char *metadata_file(world *w) {
  bl_table *t = open_table(w);
  char *path = strdup(t->metadata_path);
  bl_table_free(t);
  return path;
}

static void nothing_is_left(world *w) {
  char *folder = test_join(w->warehouse, "db/t");
  assert_int_not_equal(access(folder, F_OK), 0);
  free(folder);
}

/* ---- order ---- */

/* 0: data, 1: a manifest, 2: a list, 3: metadata; folders have no part. */
static int rank(const char *path) {
  const char *name = strrchr(path, '/') + 1;
  if (strstr(name, ".parquet")) return 0;
  if (strncmp(name, "snap-", 5) == 0) return 2;
  if (strstr(name, ".avro")) return 1;
  return strstr(name, ".metadata.json") ? 3 : -1;
}

static void test_purge__removes_data_first_and_the_metadata_last(void **state) {
  (void)state;
  world w;
  test_heap h = {0};
  begin_on(&w, &h);
  append(&w, "a", 3, true);
  append(&w, "b", 3, true);
  char *last = metadata_file(&w), *final = NULL;
  forget_removals(&w);
  test_ok(purge(&w), &w.err);
  int now = 0, counts[4] = {0};
  for (size_t i = 0; i < w.n_removed; i++) {
    int r = rank(w.removed[i]);
    if (r < 0) continue;
    assert_true(r >= now);
    now = r;
    counts[r]++;
    final = w.removed[i];
  }
  const int want[] = {6, 2, 2, 3};
  assert_memory_equal(counts, want, sizeof want);
  assert_string_equal(final, last);
  assert_string_equal(w.warnings, "");
  nothing_is_left(&w);
  free(last);
  end(&w);
}

/* ---- cut short ---- */

static bool purge_dies(long at) {
  world w;
  test_heap h = {0};
  begin_on(&w, &h);
  append(&w, "a", 2, true);
  append(&w, "b", 1, true);
  char *metadata = metadata_file(&w);
  forget_removals(&w);
  w.dies_at = at;
  test_ok(purge(&w), &w.err);
  bool died = access(metadata, F_OK) == 0; /* the last file */
  w.dies_at = 0;
  if (died) {
    assert_non_null(strstr(w.warnings, metadata));
    test_status(BL_NOT_FOUND, purge(&w), &w.err); /* again: it says what is left */
    test_says(&w.err, metadata);
    test_ok(bl_catalog_register(w.ctx, &w.o, "db.t", metadata, false, &w.err), &w.err);
    test_ok(purge(&w), &w.err);
    nothing_is_left(&w);
  }
  test_status(BL_NOT_FOUND, purge(&w), &w.err);
  assert_null(strstr(w.err.message, "registered"));
  free(metadata);
  end(&w);
  return died;
}

static void test_purge__that_is_cut_short_is_told_and_done_again(void **state) {
  (void)state;
  long at = 1;
  while (purge_dies(at)) at += 2;
  assert_true(at > 9);
}

static void test_purge__keeps_what_names_a_file_that_stays(void **state) {
  (void)state;
  world w;
  test_heap h = {0};
  begin_on(&w, &h);
  append(&w, "a", 2, true);
  append(&w, "held", 1, true);
  char *metadata = metadata_file(&w);
  w.keeps = "held";
  forget_removals(&w);
  test_ok(purge(&w), &w.err);
  assert_non_null(strstr(w.warnings, "it is held"));
  for (size_t i = 0; i < w.n_removed; i++) assert_true(rank(w.removed[i]) <= 0);
  w.keeps = NULL;
  test_ok(bl_catalog_register(w.ctx, &w.o, "db.t", metadata, false, &w.err), &w.err);
  test_ok(purge(&w), &w.err);
  nothing_is_left(&w);
  free(metadata);
  end(&w);
}

/* ---- others ---- */

typedef struct rival {
  world *w;
  bool done;
} rival;

/* Another commits while the names are written down. */
static bl_status commit_meanwhile(void *user, long call, const char *operation, const char *path, bl_error *err) {
  rival *r = user;
  if (!r->done && strcmp(operation, "open") == 0 && strstr(path, "snap-")) {
    r->done = true;
    append(r->w, "late", 1, true);
  }
  return note_removal(r->w, call, operation, path, err);
}

static void test_purge__takes_what_others_add_meanwhile(void **state) {
  (void)state;
  world w;
  test_heap h = {0};
  begin_on(&w, &h);
  append(&w, "a", 2, true);
  rival r = {&w, false};
  w.io.hook = commit_meanwhile;
  w.io.user = &r;
  test_ok(purge(&w), &w.err);
  assert_true(r.done);
  nothing_is_left(&w);
  end(&w);
}

/* A folder beside the table's, whose name begins alike. */
static void test_purge__leaves_folders_of_others(void **state) {
  (void)state;
  world w;
  test_heap h = {0};
  begin_on(&w, &h);
  bl_table *t = open_table(&w);
  char path[700];
  bl_staged *s;
  bl_write_result r = {0};
  snprintf(path, sizeof path, "%s2/only.parquet", t->metadata->location.p);
  bl_data_file f = file_at(path);
  test_ok(bl_io_write_all(t->io, path, "rows", 4, true, &w.err), &w.err);
  test_ok(bl_staged_new(w.ctx, &s, &w.err), &w.err);
  test_ok(bl_staged_add_data(s, &f, &w.err), &w.err);
  test_ok(bl_commit_change(t, s, NULL, &r, &w.err), &w.err);
  bl_staged_free(s);
  bl_table_free(t);
  test_ok(purge(&w), &w.err);
  assert_int_not_equal(access(path, F_OK), 0);
  char *folder = test_join(w.warehouse, "db/t2");
  assert_int_equal(access(folder, F_OK), 0);
  free(folder);
  nothing_is_left(&w);
  end(&w);
}

/* ---- memory ---- */

static int64_t peak_of(int appends) {
  world w;
  test_heap h = {0};
  char name[100];
  begin_on(&w, &h);
  for (int i = 0; i < appends; i++) {
    snprintf(name, sizeof name, "%05d-with-a-name-that-is-as-long-as-those-of-other-writers-are-%05d", i, i);
    append(&w, name, 6000, false);
  }
  int64_t before = h.bytes;
  h.peak_bytes = 0;
  test_ok(purge(&w), &w.err);
  int64_t peak = h.peak_bytes - before;
  end(&w);
  return peak;
}

static void test_purge__holds_no_more_of_a_large_table(void **state) {
  (void)state;
  assert_true(peak_of(16) < 12 * 1024 * 1024); /* the names seen last, and a manifest */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_purge__removes_data_first_and_the_metadata_last),
      cmocka_unit_test(test_purge__that_is_cut_short_is_told_and_done_again),
      cmocka_unit_test(test_purge__keeps_what_names_a_file_that_stays),
      cmocka_unit_test(test_purge__takes_what_others_add_meanwhile),
      cmocka_unit_test(test_purge__leaves_folders_of_others),
      cmocka_unit_test(test_purge__holds_no_more_of_a_large_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
