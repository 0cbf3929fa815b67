/* Errands: whoever does them, each is done once, and what it says is kept. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/background.h"
#include "support/support.h"

enum { MOST = 100 };

typedef struct work {
  bl_errand errand;
  int done;
  bool fails;
  pthread_t by;
} work;

static bl_status do_it(void *user) {
  work *w = user;
  __atomic_add_fetch(&w->done, 1, __ATOMIC_SEQ_CST);
  w->by = pthread_self();
  return w->fails ? BL_DAMAGED : BL_OK;
}

typedef struct fixture {
  bl_ctx *ctx;
  bl_background *b;
  work w[MOST];
  test_heap heap;
} fixture;

static void setup(fixture *f, int threads, size_t most) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options o;
  memset(f, 0, sizeof *f);
  bl_ctx_options_init(&o);
  o.threads = threads;
  f->ctx = test_ctx_on(&f->heap, &o);
  test_ok(bl_background_new(f->ctx, most, &f->b, &err), &err);
  for (int i = 0; i < MOST; i++) f->w[i].errand = (bl_errand){.run = do_it, .user = &f->w[i]};
}

static void teardown(fixture *f) {
  bl_background_free(f->b);
  test_ctx_free(f->ctx);
}

static void begin(fixture *f, int n) {
  for (int i = 0; i < n; i++) bl_background_begin(f->b, &f->w[i].errand);
}

static void end_ok(fixture *f, int n) {
  for (int i = 0; i < n; i++) assert_int_equal(bl_background_end(f->b, &f->w[i].errand), BL_OK);
}

static void test_background__every_errand_is_done_once(void **state) {
  (void)state;
  for (size_t most = 0; most < 9; most++)
    for (int n = 0; n <= MOST; n = n * 3 + 1) {
      fixture f;
      setup(&f, 4, most);
      begin(&f, n);
      end_ok(&f, n);
      for (int i = 0; i < MOST; i++) assert_int_equal(f.w[i].done, i < n);
      teardown(&f);
    }
}

static void test_background__threads_serve_again(void **state) {
  (void)state;
  fixture f;
  setup(&f, 4, 2);
  for (int k = 0; k < 300; k++) {
    begin(&f, 3);
    end_ok(&f, 3);
    for (int i = 0; i < 3; i++) f.w[i].errand = (bl_errand){.run = do_it, .user = &f.w[i]};
  }
  for (int i = 0; i < 3; i++) assert_int_equal(f.w[i].done, 300);
  teardown(&f);
}

static void test_background__without_threads_who_waits_does_it(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1, 5);
  begin(&f, 3);
  for (int i = 0; i < 3; i++) {
    bl_background_wait(f.b, &f.w[i].errand); /* nobody is at it: nothing to wait for */
    assert_int_equal(f.w[i].done, 0);
  }
  end_ok(&f, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(f.w[i].done, 1);
    assert_true(pthread_equal(f.w[i].by, pthread_self()));
  }
  teardown(&f);
}

static void test_background__what_was_not_begun_is_done_by_who_ends_it(void **state) {
  (void)state;
  fixture f;
  setup(&f, 4, 4);
  end_ok(&f, 2);
  assert_int_equal(f.w[1].done, 1);
  teardown(&f);
}

static void test_background__a_failure_stays(void **state) {
  (void)state;
  for (int threads = 1; threads < 3; threads++) {
    fixture f;
    setup(&f, threads, 2);
    f.w[1].fails = true;
    begin(&f, 3);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(bl_background_end(f.b, &f.w[0].errand), BL_OK);
      assert_int_equal(bl_background_end(f.b, &f.w[1].errand), BL_DAMAGED);
    }
    bl_background_wait(f.b, &f.w[2].errand);
    assert_int_equal(f.w[1].done, 1);
    teardown(&f);
  }
}

static void test_background__a_fork_leaves_threads_behind_and_goes_on(void **state) {
  (void)state;
  fixture f;
  int status;
  setup(&f, 4, 3);
  begin(&f, 3);
  end_ok(&f, 3);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    for (int i = 3; i < 8; i++) bl_background_begin(f.b, &f.w[i].errand);
    int done = 0;
    for (int i = 3; i < 8; i++) done += bl_background_end(f.b, &f.w[i].errand) == BL_OK && f.w[i].done == 1;
    bl_background_free(f.b);
    _exit(done == 5 ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  teardown(&f);
}

static bl_status one_errand(bl_ctx *ctx, void *user, bl_error *err) {
  bl_background *b;
  work w = {.errand = {.run = do_it, .user = &w}};
  (void)user;
  BL_TRY(bl_background_new(ctx, 3, &b, err));
  bl_background_begin(b, &w.errand);
  bl_status st = bl_background_end(b, &w.errand);
  bl_background_free(b);
  return st;
}

static void test_background__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(one_errand, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_background__every_errand_is_done_once),
      cmocka_unit_test(test_background__threads_serve_again),
      cmocka_unit_test(test_background__without_threads_who_waits_does_it),
      cmocka_unit_test(test_background__what_was_not_begun_is_done_by_who_ends_it),
      cmocka_unit_test(test_background__a_failure_stays),
      cmocka_unit_test(test_background__a_fork_leaves_threads_behind_and_goes_on),
      cmocka_unit_test(test_background__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
