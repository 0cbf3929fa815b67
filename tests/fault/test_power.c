/* test_power.c: the power is cut after each step of each verb: what was not synced is gone, or only names are there.
 * The table is then before or after; once the verb has said that it is done, it is after. */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "disk.h"
#include "fault_world.h"

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

static void run_watched(cuts *c, long next) {
  bl_error err = BL_ERROR_INIT;
  test_heap heap = {0};
  bl_ctx_options o;
  place p;
  bl_ctx_options_init(&o);
  o.threads = 1;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  ground_restore(c->x->g);
  test_ok(place_open(&p, c->x->g, ctx, &err), &err);
  disk_begin(&c->disk, c->x->g->work);
  c->disk.on_change = on_change, c->disk.user = c;
  c->changes = 0, c->next = next;
  fault_sys_watch(disk_seen, &c->disk);
  bl_status st = c->x->verb->run(&p, &err);
  fault_sys_watch(NULL, NULL);
  test_ok(st, &err);
  c->all = c->changes;
  if (next) keep_cut(c, "the end");
  disk_end(&c->disk);
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

static void test_power__cut_leaves_the_table_before_or_after(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  struct statfs fs;
  assert_int_equal(statfs(g.dir, &fs), 0);
  if (fs.f_type != TMPFS_MAGIC) { /* elsewhere numbers of inodes come back */
    ground_end(&g);
    skip();
  }
  for (size_t i = 0; i < n_verbs; i++) {
    trial x;
    if (!trial_begin(&x, &g, &verbs[i])) continue;
    cuts c = {.x = &x};
    run_watched(&c, 0);
    run_watched(&c, 1 + (long)(i % 3));
    for (long k = 0; k < c.n; k++) judge_cut(&c, k, k >= c.n - 2);
    trial_end(&x);
  }
  ground_end(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_power__cut_leaves_the_table_before_or_after (folder)", test_power__cut_leaves_the_table_before_or_after,
       NULL, NULL, &folder},
      {"test_power__cut_leaves_the_table_before_or_after (catalog)", test_power__cut_leaves_the_table_before_or_after,
       NULL, NULL, &sqlite},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
