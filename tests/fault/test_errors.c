/* test_errors.c: a system call fails, in every verb: each kind of call once; all from one on; the disk is full from one
 * on (a write that does a half comes first). What was reported is true, the table is before or after, and what comes
 * next works. */
#include <errno.h>

#include "base/alloc.h"
#include "fault_world.h"

typedef struct how {
  const char *name;
  fault_plan plan;
  long some; /* places to try where not all are */
} how;

static const how ways[] = {
    {"EIO at call", {.code = EIO}, 9},
    {"EIO from call", {.code = EIO, .onwards = true}, 3},
    {"no room from call", {.code = ENOSPC, .full = true, .torn = true, .changes = true}, 5},
};

/* SQLite takes pages that cannot be read for damaged ones. */
static bool may_say(const trial *x, bl_status st) {
  if (st == BL_DAMAGED) return x->g->sqlite;
  return st == BL_OK || st == BL_IO || st == BL_UNKNOWN || st == BL_CONFLICT;
}

/* false: it made fewer calls. */
static bool try_error(const trial *x, const how *h, long n) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  fault_plan plan = h->plan;
  plan.at = n;
  ground_restore(x->g);
  test_ok(place_open(&p, x->g, ctx, &err), &err);
  fault_sys_begin(&plan);
  bl_status st = x->verb->run(&p, &err);
  bool reached = fault_sys_end() >= n;
  place_close(&p);
  test_ctx_free(ctx);
  if (!may_say(x, st))
    fail_msg("%s, %s %ld %s: status %d (%s)", x->verb->name, h->name, n, fault_sys_what(), st, err.message);
  judge(x, h->name, n, st, &err);
  return reached;
}

static void test_errors__are_told_and_change_nothing(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  for (size_t i = 0; i < n_verbs; i++) {
    trial x;
    if (!trial_begin(&x, &g, &verbs[i])) continue;
    for (size_t h = 0; h < BL_LEN(ways); h++) {
      long all = trial_calls(&x, ways[h].plan.changes);
      for (long n = 1 + (long)(i % 5); n <= all; n = next_number(n, all, ways[h].some)) try_error(&x, &ways[h], n);
    }
    trial_end(&x);
  }
  ground_end(&g);
}

/* ---- reading ---- */

static bl_status run_read(const ground *g, const verb *v, const fault_plan *plan, long *calls, bl_error *err) {
  bl_error own = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  test_ok(place_open(&p, g, ctx, &own), &own);
  fault_sys_begin(plan);
  bl_status st = v->run(&p, err);
  *calls = fault_sys_end();
  place_close(&p);
  test_ctx_free(ctx);
  return st;
}

static void test_errors__are_told_by_readers(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  for (size_t i = 0; i < n_reads; i++) {
    bl_error err = BL_ERROR_INIT;
    long all, none;
    test_ok(run_read(&g, &reads[i], &(fault_plan){0}, &all, &err), &err);
    for (int onwards = 0; onwards < 2; onwards++)
      for (long n = 1 + (long)(i % 3); n <= all; n = next_number(n, all, 60)) {
        bl_error why = BL_ERROR_INIT;
        bl_status st = run_read(&g, &reads[i], &(fault_plan){.at = n, .code = EIO, .onwards = onwards}, &none, &why);
        if (st != BL_OK && ((st != BL_IO && !(g.sqlite && st == BL_DAMAGED)) || !*why.message))
          fail_msg("%s, call %ld %s: status %d (%s)", reads[i].name, n, fault_sys_what(), st, why.message);
        if (st == BL_OK && onwards && !g.sqlite) /* SQLite looks once more when all is done */
          fail_msg("%s, from call %ld %s on: done", reads[i].name, n, fault_sys_what());
      }
  }
  ground_end(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_errors__are_told_and_change_nothing (folder)", test_errors__are_told_and_change_nothing, NULL, NULL,
       &folder},
      {"test_errors__are_told_and_change_nothing (catalog)", test_errors__are_told_and_change_nothing, NULL, NULL,
       &sqlite},
      {"test_errors__are_told_by_readers (folder)", test_errors__are_told_by_readers, NULL, NULL, &folder},
      {"test_errors__are_told_by_readers (catalog)", test_errors__are_told_by_readers, NULL, NULL, &sqlite},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
