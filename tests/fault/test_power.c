/* test_power.c: the power is cut after each step of each verb: what was not synced is gone, or only names are there.
 * The table is then before or after; once the verb has said that it is done, it is after. */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "disk.h"
#include "fault_world.h"
#include "table/table.h"

typedef struct cuts {
  const trial *x;
  disk disk;
  long changes, all, next; /* so far; in the whole verb; the next to be kept */
  long n;                  /* kept: dir/cut-0, dir/cut-1, … */
  char calls[400][12];
} cuts;

static void cut_path(const cuts *c, long i, char *out, size_t cap) {
  snprintf(out, cap, "%s/cut-%ld", c->x->g->dir, i);
}

static void keep_cut(cuts *c, const char *call) {
  char path[600];
  for (int now = 0; now < 2; now++) {
    assert_true(c->n < 400);
    snprintf(c->calls[c->n], sizeof c->calls[0], "%s", call);
    cut_path(c, c->n++, path, sizeof path);
    disk_leave(&c->disk, now, path);
  }
}

static void on_change(void *user, const char *call) {
  cuts *c = user;
  if (++c->changes != c->next) return;
  keep_cut(c, call);
  c->next = next_number(c->next, c->all, 6);
}

/* A connection that has committed twice keeps its journal: nothing that readers see has changed. */
static bl_table *open_and_commit_twice(const place *p) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t = NULL;
  const char *ns = "db";
  const bl_table_name name = {&ns, 1, "t"};
  test_ok(bl_table_open(p->ctx, "db.t", &p->o, &t, &err), &err);
  test_ok(t->catalog->commit(t->catalog, &name, t->metadata_path, "elsewhere", &err), &err);
  test_ok(t->catalog->commit(t->catalog, &name, "elsewhere", t->metadata_path, &err), &err);
  return t;
}

static bl_status append_again(const place *p, const bl_table *first, bl_error *err) {
  bl_table *t;
  BL_TRY(bl_table_reopen(first, &t, err));
  bl_status st = place_append(p, t, err);
  bl_table_free(t);
  return st;
}

/* again: by a connection that has committed before. */
static void run_watched(cuts *c, long next, bool again) {
  bl_error err = BL_ERROR_INIT;
  test_heap heap = {0};
  bl_ctx_options o;
  place p;
  bl_ctx_options_init(&o);
  o.threads = 1;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  ground_restore(c->x->g);
  test_ok(place_open(&p, c->x->g, ctx, &err), &err);
  bl_table *first = again ? open_and_commit_twice(&p) : NULL;
  disk_begin(&c->disk, c->x->g->work);
  c->disk.on_change = on_change, c->disk.user = c;
  c->changes = 0, c->next = next;
  fault_sys_watch(disk_seen, &c->disk);
  bl_status st = again ? append_again(&p, first, &err) : c->x->verb->run(&p, &err);
  fault_sys_watch(NULL, NULL);
  test_ok(st, &err);
  c->all = c->changes;
  if (next) keep_cut(c, "the end");
  disk_end(&c->disk);
  bl_table_free(first);
  place_close(&p);
  test_ctx_free(ctx);
}

static void judge_cut(const cuts *c, long i, bool done) {
  char path[600], what[60];
  const ground *g = c->x->g;
  cut_path(c, i, path, sizeof path);
  test_empty_tree(g->work);
  assert_int_equal(rmdir(g->work), 0);
  assert_int_equal(rename(path, g->work), 0);
  snprintf(what, sizeof what, "power cut %s after %s,", i % 2 ? "with names" : "with nothing", c->calls[i]);
  judge(c->x, what, i / 2, done ? BL_OK : -1, NULL);
}

static void begin_in_memory(ground *g, bool sqlite) {
  struct statfs fs;
  ground_begin(g, sqlite);
  assert_int_equal(statfs(g->dir, &fs), 0);
  if (fs.f_type == TMPFS_MAGIC) return;
  ground_end(g); /* elsewhere numbers of inodes come back */
  skip();
}

static void cut_and_judge(const ground *g, const verb *v, long first_cut, bool again) {
  trial x;
  if (!trial_begin(&x, g, v)) return;
  cuts c = {.x = &x};
  run_watched(&c, 0, again);
  run_watched(&c, first_cut, again);
  for (long k = 0; k < c.n; k++) judge_cut(&c, k, k >= c.n - 2);
  trial_end(&x);
}

static void test_power__cut_leaves_the_table_before_or_after(void **state) {
  ground g;
  begin_in_memory(&g, *(bool *)*state);
  for (size_t i = 0; i < n_verbs; i++) {
    /* From one folder to another: one step for the journal of a file system, two for what is synced one by one. */
    if (strcmp(verbs[i].name, "rename, to another namespace") == 0 && !g.sqlite) continue;
    cut_and_judge(&g, &verbs[i], 1 + (long)(i % 3), false);
  }
  ground_end(&g);
}

static void test_power__cut_while_a_connection_commits_again_leaves_the_table_before_or_after(void **state) {
  ground g;
  (void)state;
  begin_in_memory(&g, true);
  for (long first_cut = 1; first_cut <= 3; first_cut++) cut_and_judge(&g, &verbs[0], first_cut, true);
  ground_end(&g);
}

/* ---- the folder of the catalog's journal ---- */

typedef struct syncs {
  struct stat folder;
  int n;
} syncs;

static void count_sync(void *user, const char *call, int fd, const char *path) {
  syncs *s = user;
  struct stat info;
  (void)path;
  if (strcmp(call, "fsync") != 0 && strcmp(call, "fdatasync") != 0) return;
  if (fstat(fd, &info) == 0 && info.st_ino == s->folder.st_ino && info.st_dev == s->folder.st_dev) s->n++;
}

static int syncs_of_append(const place *p, const bl_table *first) {
  bl_error err = BL_ERROR_INIT;
  syncs s = {0};
  assert_int_equal(stat(p->g->work, &s.folder), 0);
  fault_sys_watch(count_sync, &s);
  bl_status st = append_again(p, first, &err);
  fault_sys_watch(NULL, NULL);
  test_ok(st, &err);
  return s.n;
}

static void test_power__folder_of_a_kept_journal_is_synced_when_it_is_created(void **state) {
  ground g;
  place p, other;
  bl_error err = BL_ERROR_INIT;
  (void)state;
  begin_in_memory(&g, true);
  bl_ctx *ctx = test_ctx();
  test_ok(place_open(&p, &g, ctx, &err), &err);
  bl_table *first = open_and_commit_twice(&p);
  for (int i = 0; i < 2; i++) assert_int_equal(syncs_of_append(&p, first), 0);
  test_ok(place_open(&other, &g, ctx, &err), &err); /* it removes the journal */
  test_ok(verbs[0].run(&other, &err), &err);
  place_close(&other);
  assert_int_equal(syncs_of_append(&p, first), 1);
  assert_int_equal(syncs_of_append(&p, first), 0);
  bl_table_free(first);
  place_close(&p);
  test_ctx_free(ctx);
  ground_end(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_power__cut_leaves_the_table_before_or_after (folder)", test_power__cut_leaves_the_table_before_or_after,
       NULL, NULL, &folder},
      {"test_power__cut_leaves_the_table_before_or_after (catalog)", test_power__cut_leaves_the_table_before_or_after,
       NULL, NULL, &sqlite},
      cmocka_unit_test(test_power__cut_while_a_connection_commits_again_leaves_the_table_before_or_after),
      cmocka_unit_test(test_power__folder_of_a_kept_journal_is_synced_when_it_is_created),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
