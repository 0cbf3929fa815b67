/* test_spool.c: stores of records against an array, in memory and in a file. */
#include "changes/events.h"

#include "random.h"

#include <dirent.h>

enum { MOST = 5000 };

typedef struct record {
  int64_t n;
  uint32_t check;
} record;

static record record_of(int64_t n) {
  return (record){.n = n, .check = (uint32_t)(n * 2654435761u)};
}

static bl_status fill(bl_spool *s, int64_t from, int64_t to, bl_error *err) {
  for (int64_t i = from; i < to; i++) {
    record r = record_of(i);
    BL_TRY(bl_spool_add(s, &r, err));
  }
  return BL_OK;
}

/* Read from anywhere in blocks of any size. */
static void check_all(bl_spool *s, int64_t count, rng *r) {
  bl_error err = BL_ERROR_INIT;
  record *out = malloc(MOST * sizeof *out);
  assert_non_null(out);
  assert_int_equal(bl_spool_count(s), count);
  for (int round = 0; round < 20; round++) {
    int64_t at = round ? rng_between(r, 0, count) : 0;
    for (;;) {
      size_t n, max = (size_t)rng_between(r, 1, MOST);
      test_ok(bl_spool_read(s, at, out, max, &n, &err), &err);
      if (n == 0) break;
      assert_true(n <= max);
      for (size_t i = 0; i < n; i++) {
        assert_int_equal(out[i].n, at + (int64_t)i);
        assert_int_equal(out[i].check, record_of(out[i].n).check);
      }
      at += (int64_t)n;
    }
    assert_int_equal(at, count);
  }
  free(out);
}

static void keeps_records(int64_t budget, int64_t count) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  rng r = {(uint64_t)(budget + count)};
  test_ok(bl_spool_new(ctx, sizeof(record), budget, &s, &err), &err);
  for (int64_t done = 0, step; done < count; done += step) { /* adding goes on after reading */
    step = rng_between(&r, 1, count - done);
    test_ok(fill(s, done, done + step, &err), &err);
    check_all(s, done + step, &r);
  }
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static void test_spool__gives_back_what_was_added_from_memory(void **state) {
  (void)state;
  keeps_records(1 << 20, 3000);
}

static void test_spool__gives_back_what_was_added_from_a_file(void **state) {
  (void)state;
  for (int64_t budget = 0; budget < 4000; budget += 777) keeps_records(budget, 3000);
}

static void views_records(int64_t budget, int64_t count) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  const void *some;
  size_t n = 1;
  test_ok(bl_spool_new(ctx, sizeof(record), budget, &s, &err), &err);
  test_ok(fill(s, 0, count, &err), &err);
  assert_int_equal(bl_spool_in_memory(s), count * (int64_t)sizeof(record) <= budget);
  for (int64_t from = 0; from < 3; from++) {
    int64_t at = from * count / 3;
    for (; n > 0; at += (int64_t)n) {
      test_ok(bl_spool_view(s, at, &some, &n, &err), &err);
      for (size_t i = 0; i < n; i++) assert_int_equal(((const record *)some)[i].n, at + (int64_t)i);
    }
    assert_int_equal(at, count);
    n = 1;
  }
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static void test_spool__shows_records_where_they_are(void **state) {
  (void)state;
  views_records(8 << 20, 100000); /* some blocks of memory */
  views_records(100000, 4000);
  views_records(100000, 40000);
  views_records(0, 1000);
}

static void test_spool__keeps_records_where_they_are_as_more_come(void **state) {
  (void)state;
  enum { A_BLOCK = 1 << 14 };
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  const void *before, *after;
  size_t n;
  test_ok(bl_spool_new(ctx, sizeof(record), 8 << 20, &s, &err), &err);
  test_ok(fill(s, 0, A_BLOCK, &err), &err);
  test_ok(bl_spool_view(s, 0, &before, &n, &err), &err);
  assert_int_equal(n, A_BLOCK);
  test_ok(fill(s, A_BLOCK, 10 * A_BLOCK, &err), &err);
  test_ok(bl_spool_view(s, 0, &after, &n, &err), &err);
  assert_ptr_equal(before, after);
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static void test_spool__is_empty_at_first(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  record r;
  size_t n = 7;
  test_ok(bl_spool_new(ctx, sizeof r, 100, &s, &err), &err);
  assert_int_equal(bl_spool_count(s), 0);
  test_ok(bl_spool_read(s, 0, &r, 1, &n, &err), &err);
  assert_int_equal(n, 0);
  bl_spool_free(s);
  bl_spool_free(NULL);
  test_ctx_free(ctx);
}

static void test_spool__keeps_to_its_budget(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, NULL);
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  int64_t before = h.bytes, budget = 64 * 1024;
  test_ok(bl_spool_new(ctx, sizeof(record), budget, &s, &err), &err);
  h.peak_bytes = 0;
  test_ok(fill(s, 0, 100000, &err), &err);
  assert_true(h.bytes - before < budget + 4096);
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static void test_spool__leaves_no_file_behind(void **state) {
  (void)state;
  char *dir = test_temp_dir();
  test_heap h = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.temp_dir = dir;
  bl_ctx *ctx = test_ctx_on(&h, &o);
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  test_ok(bl_spool_new(ctx, sizeof(record), 0, &s, &err), &err);
  test_ok(fill(s, 0, 1000, &err), &err);
  DIR *d = opendir(dir);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) assert_int_equal(e->d_name[0], '.');
  closedir(d);
  bl_spool_free(s);
  test_ctx_free(ctx);
  test_remove_dir(dir);
}

static void test_spool__names_a_temporary_folder_that_is_not_there(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = ctx_without_temp(&h);
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  test_ok(bl_spool_new(ctx, sizeof(record), 0, &s, &err), &err);
  test_status(BL_IO, fill(s, 0, 1000, &err), &err);
  test_says(&err, "/nonexistent/folder/of/bergline");
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static void test_spool__needs_no_folder_within_its_budget(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = ctx_without_temp(&h);
  bl_error err = BL_ERROR_INIT;
  bl_spool *s;
  test_ok(bl_spool_new(ctx, sizeof(record), 1000 * (int64_t)sizeof(record), &s, &err), &err);
  test_ok(fill(s, 0, 1000, &err), &err);
  bl_spool_free(s);
  test_ctx_free(ctx);
}

static bl_status fill_and_read(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_spool *s;
  record out[7];
  size_t n = 1;
  BL_TRY(bl_spool_new(ctx, sizeof(record), 0, &s, err));
  bl_status st = fill(s, 0, 60, err);
  for (int64_t at = 0; st == BL_OK && n > 0; at += (int64_t)n) st = bl_spool_read(s, at, out, 7, &n, err);
  const void *some;
  if (st == BL_OK) st = bl_spool_view(s, 0, &some, &n, err);
  bl_spool_free(s);
  return st;
}

static void test_spool__says_when_memory_runs_out(void **state) {
  (void)state;
  test_fail_each(fill_and_read, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spool__gives_back_what_was_added_from_memory),
      cmocka_unit_test(test_spool__gives_back_what_was_added_from_a_file),
      cmocka_unit_test(test_spool__shows_records_where_they_are),
      cmocka_unit_test(test_spool__keeps_records_where_they_are_as_more_come),
      cmocka_unit_test(test_spool__is_empty_at_first),
      cmocka_unit_test(test_spool__keeps_to_its_budget),
      cmocka_unit_test(test_spool__leaves_no_file_behind),
      cmocka_unit_test(test_spool__names_a_temporary_folder_that_is_not_there),
      cmocka_unit_test(test_spool__needs_no_folder_within_its_budget),
      cmocka_unit_test(test_spool__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
