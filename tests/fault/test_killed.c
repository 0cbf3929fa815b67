/* test_killed.c: the process is killed before each of its steps, and in the midst of each write, in every verb. What it
 * leaves is the table before or after, and what comes next works. */
#include <ftw.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_world.h"

static int run_to_death(const trial *x, long n, bool torn) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options o;
  bl_ctx *ctx;
  place p;
  bl_ctx_options_init(&o);
  o.threads = 1;
  if (bl_ctx_new(&o, &ctx, &err) != BL_OK || place_open(&p, x->g, ctx, &err) != BL_OK) return 2;
  fault_sys_begin(&(fault_plan){.at = n, .changes = true, .torn = torn});
  bl_status st = x->verb->run(&p, &err);
  fault_sys_end();
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return st == BL_OK ? 0 : 1;
}

static char remains[600];

static int note_remains(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)kind;
  if (strncmp(path + at->base, ".tmp-", 5) != 0 || !strstr(path, "/data/")) return 0;
  snprintf(remains, sizeof remains, "%s", path);
  return 1;
}

/* Data files have no name until they are complete, where the file system can do that. */
static void no_remains(const trial *x, long n) {
  struct statfs fs;
  assert_int_equal(statfs(x->g->work, &fs), 0);
  if ((uint32_t)fs.f_type != EXT4_SUPER_MAGIC && (uint32_t)fs.f_type != TMPFS_MAGIC) return;
  if (nftw(x->g->work, note_remains, 16, FTW_PHYS) != 0)
    fail_msg("%s, death at call %ld: it leaves %s", x->verb->name, n, remains);
}

/* false: it lived. */
static bool try_death(const trial *x, long n, bool torn) {
  int status;
  ground_restore(x->g);
  pid_t child = fork();
  if (child == 0) _exit(run_to_death(x, n, torn));
  assert_int_equal(waitpid(child, &status, 0), child);
  bool lived = WIFEXITED(status);
  if (lived) assert_int_equal(WEXITSTATUS(status), 0);
  else assert_int_equal(WTERMSIG(status), SIGKILL);
  no_remains(x, n);
  judge(x, torn ? "death within call" : "death at call", n, lived ? BL_OK : -1, NULL);
  return !lived;
}

static void test_killed__leaves_the_table_before_or_after(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  for (size_t i = 0; i < n_verbs; i++) {
    trial x;
    if (!trial_begin(&x, &g, &verbs[i])) continue;
    long all = trial_calls(&x, true);
    for (int torn = 0; torn < 2; torn++)
      for (long n = 1 + (long)(i % 3); n <= all; n = next_number(n, all, 4)) try_death(&x, n, torn);
    trial_end(&x);
  }
  ground_end(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_killed__leaves_the_table_before_or_after (folder)", test_killed__leaves_the_table_before_or_after, NULL,
       NULL, &folder},
      {"test_killed__leaves_the_table_before_or_after (catalog)", test_killed__leaves_the_table_before_or_after, NULL,
       NULL, &sqlite},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
