/* test_memory.c: an allocation fails, in every verb and in everything that reads: once, and all from one on. Nothing
 * leaks; what was reported is true; the table is before or after, and what comes next works. */
#include "base/alloc.h"
#include "fault_world.h"

static bl_ctx *ctx_on(test_heap *heap) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = 1;
  return test_ctx_on(heap, &o);
}

/* ---- verbs ---- */

static bl_status run_failing(const ground *g, bl_status (*run)(const place *p, bl_error *err), long n, bool onwards,
                             long *all, bl_error *err) {
  bl_error own = BL_ERROR_INIT;
  test_heap heap = {0};
  bl_ctx *ctx = ctx_on(&heap);
  place p;
  test_ok(place_open(&p, g, ctx, &own), &own);
  long first = heap.allocations;
  heap.fail_at = n ? first + n : 0;
  heap.fail_onwards = onwards;
  bl_status st = run(&p, err);
  heap.fail_at = 0;
  *all = heap.allocations - first;
  place_close(&p);
  test_ctx_free(ctx);
  return st;
}

static void try_verb(const trial *x, long n, bool onwards) {
  bl_error err = BL_ERROR_INIT;
  long all;
  ground_restore(x->g);
  bl_status st = run_failing(x->g, x->verb->run, n, onwards, &all, &err);
  if (st != BL_OK && st != BL_NOMEM && st != BL_UNKNOWN)
    fail_msg("%s, allocation %ld: status %d (%s)", x->verb->name, n, st, err.message);
  judge(x, onwards ? "memory from" : "memory", n, st, &err);
}

static void test_memory__that_fails_changes_nothing(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  for (size_t i = 0; i < n_verbs; i++) {
    trial x;
    bl_error err = BL_ERROR_INIT;
    long all;
    if (!trial_begin(&x, &g, &verbs[i])) continue;
    ground_restore(&g);
    test_ok(run_failing(&g, x.verb->run, 0, false, &all, &err), &err);
    for (int onwards = 0; onwards < 2; onwards++)
      for (long n = 1 + (long)(i % 7); n <= all; n = next_number(n, all, onwards ? 2 : 8)) try_verb(&x, n, onwards);
    trial_end(&x);
  }
  ground_end(&g);
}

/* ---- reading ---- */

static void test_memory__that_fails_is_told_by_readers(void **state) {
  ground g;
  ground_begin(&g, *(bool *)*state);
  for (size_t i = 0; i < n_reads; i++) {
    bl_error err = BL_ERROR_INIT;
    long all, none;
    test_ok(run_failing(&g, reads[i].run, 0, false, &all, &err), &err);
    for (int onwards = 0; onwards < 2; onwards++)
      for (long n = 1; n <= all; n = next_number(n, all, 300)) {
        bl_error why = BL_ERROR_INIT;
        bl_status st = run_failing(&g, reads[i].run, n, onwards, &none, &why);
        if (st != BL_OK && (st != BL_NOMEM || !*why.message))
          fail_msg("%s, allocation %ld of %ld: status %d (%s)", reads[i].name, n, all, st, why.message);
      }
  }
  ground_end(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_memory__that_fails_changes_nothing (folder)", test_memory__that_fails_changes_nothing, NULL, NULL,
       &folder},
      {"test_memory__that_fails_changes_nothing (catalog)", test_memory__that_fails_changes_nothing, NULL, NULL,
       &sqlite},
      {"test_memory__that_fails_is_told_by_readers", test_memory__that_fails_is_told_by_readers, NULL, NULL, &sqlite},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
