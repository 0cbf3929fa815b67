/* The context: defaults, checks, and the seams. */
#include "base/alloc.h"
#include "support/support.h"

static void test_ctx__defaults_are_those_of_the_header(void **state) {
  (void)state;
  bl_ctx_options o;
  setenv("TMPDIR", "/somewhere", 1);
  bl_ctx_options_init(&o);
  assert_string_equal(o.temp_dir, "/somewhere");
  unsetenv("TMPDIR");
  bl_ctx_options_init(&o);
  assert_string_equal(o.temp_dir, "/tmp");
  assert_in_range(o.threads, 1, 8);
  assert_int_equal(o.memory_budget, 192 << 20);
  assert_int_equal(o.max_metadata_bytes, 1 << 30);
  assert_int_equal(o.max_nesting, 200);
  assert_int_equal(o.max_deletion_vector_bytes, 256 << 20);
  assert_null(o.log);
  assert_null(o.progress);
}

static void test_ctx__no_options_are_the_defaults(void **state) {
  (void)state;
  bl_ctx *ctx;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ctx_new(NULL, &ctx, &err), &err);
  void *p = bl_alloc(ctx, 10, 10);
  assert_non_null(p);
  bl_free(ctx, p);
  bl_ctx_free(ctx);
  bl_ctx_free(NULL);
}

static void test_ctx__callbacks_that_are_left_out_are_the_defaults(void **state) {
  (void)state;
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.allocator.resize = NULL;
  o.now_ms = NULL;
  o.random = NULL;
  o.temp_dir = NULL;
  bl_ctx *ctx;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ctx_new(&o, &ctx, &err), &err);
  assert_true(bl_now_ms(ctx) > INT64_C(1600000000000));
  unsigned char a[64] = {0}, b[64] = {0};
  bl_random(ctx, a, sizeof a);
  bl_random(ctx, b, sizeof b);
  bl_random(ctx, NULL, 0);
  assert_memory_not_equal(a, b, sizeof a);
  bl_ctx_free(ctx);
}

static void test_ctx__options_that_make_no_sense_are_named(void **state) {
  (void)state;
  static const char *const names[] = {
      "threads", "threads", "memory_budget", "max_metadata_bytes", "max_nesting", "max_deletion_vector_bytes"};
  for (size_t i = 0; i < BL_LEN(names); i++) {
    bl_ctx_options o;
    bl_ctx_options_init(&o);
    if (i == 0) o.threads = 0;
    if (i == 1) o.threads = 1000000;
    if (i == 2) o.memory_budget = 0;
    if (i == 3) o.max_metadata_bytes = -1;
    if (i == 4) o.max_nesting = 0;
    if (i == 5) o.max_deletion_vector_bytes = 0;
    bl_error err = BL_ERROR_INIT;
    bl_ctx *ctx = (bl_ctx *)&o;
    test_status(BL_USAGE, bl_ctx_new(&o, &ctx, &err), &err);
    test_says(&err, names[i]);
    assert_null(ctx);
  }
}

static void test_ctx__the_temp_folder_is_a_copy(void **state) {
  (void)state;
  char folder[] = "/my/temp";
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.temp_dir = folder;
  test_heap heap = {0};
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  memset(folder, 'x', 8);
  assert_string_equal(ctx->o.temp_dir, "/my/temp");
  test_ctx_free(ctx);
}

static void test_ctx__a_failing_allocator_leaves_nothing_behind(void **state) {
  (void)state;
  for (long nth = 1; nth <= 4; nth++) {
    test_heap heap = {.fail_at = nth};
    bl_ctx_options o;
    bl_ctx_options_init(&o);
    o.allocator = test_heap_allocator(&heap);
    bl_ctx *ctx;
    bl_error err = BL_ERROR_INIT;
    bl_status st = bl_ctx_new(&o, &ctx, &err);
    test_status(nth < 4 ? BL_NOMEM : BL_OK, st, &err);
    bl_ctx_free(ctx);
    assert_int_equal(heap.blocks, 0);
  }
}

typedef struct seen {
  bl_ctx *ctx;
  int lines;
  bl_log_level level;
  char text[3000];
  int64_t done, total;
  bool stop;
} seen;

static void take_line(void *user, bl_log_level level, const char *text) {
  seen *s = user;
  s->lines++;
  s->level = level;
  snprintf(s->text, sizeof s->text, "%s", text);
  if (s->lines == 1) bl_warn(s->ctx, "from inside a callback");
}

static int take_progress(void *user, const char *what, int64_t done, int64_t total) {
  seen *s = user;
  snprintf(s->text, sizeof s->text, "%s", what);
  s->done = done;
  s->total = total;
  return s->stop;
}

static void test_ctx__a_log_line_is_one_line_and_may_log_again(void **state) {
  (void)state;
  seen s = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.log = take_line;
  o.user = &s;
  test_heap heap = {0};
  bl_ctx *ctx = s.ctx = test_ctx_on(&heap, &o);
  bl_log(ctx, BL_LOG_DEBUG, "a\nb %d", 1);
  assert_int_equal(s.lines, 2);
  assert_string_equal(s.text, "from inside a callback");
  assert_int_equal(s.level, BL_LOG_WARNING);
  bl_log(ctx, BL_LOG_INFO, "c\nd %05000d", 1);
  assert_memory_equal(s.text, "c d 000", 7);
  assert_int_equal(s.level, BL_LOG_INFO);
  test_ctx_free(ctx);
  ctx = test_ctx();
  bl_warn(ctx, "nobody listens");
  test_ctx_free(ctx);
}

static void test_ctx__progress_is_passed_on_and_can_cancel(void **state) {
  (void)state;
  seen s = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.progress = take_progress;
  o.user = &s;
  test_heap heap = {0};
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_progress(ctx, "reading", 3, 10, &err), &err);
  assert_string_equal(s.text, "reading");
  assert_int_equal(s.done, 3);
  assert_int_equal(s.total, 10);
  s.stop = true;
  test_status(BL_CANCELLED, bl_progress(ctx, "reading", 4, 10, &err), &err);
  test_ctx_free(ctx);
  ctx = test_ctx();
  err.status = BL_OK;
  test_ok(bl_progress(ctx, "nobody looks", 0, 0, &err), &err);
  test_ctx_free(ctx);
}

static int64_t a_fixed_time(void *user) {
  (void)user;
  return 1234567;
}

static void fixed_bytes(void *user, void *out, size_t n) {
  (void)user;
  memset(out, 7, n);
}

static void test_ctx__clock_and_random_are_seams(void **state) {
  (void)state;
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.now_ms = a_fixed_time;
  o.random = fixed_bytes;
  test_heap heap = {0};
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  assert_int_equal(bl_now_ms(ctx), 1234567);
  unsigned char b[3];
  bl_random(ctx, b, sizeof b);
  assert_memory_equal(b, "\7\7\7", 3);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ctx__defaults_are_those_of_the_header),
      cmocka_unit_test(test_ctx__no_options_are_the_defaults),
      cmocka_unit_test(test_ctx__callbacks_that_are_left_out_are_the_defaults),
      cmocka_unit_test(test_ctx__options_that_make_no_sense_are_named),
      cmocka_unit_test(test_ctx__the_temp_folder_is_a_copy),
      cmocka_unit_test(test_ctx__a_failing_allocator_leaves_nothing_behind),
      cmocka_unit_test(test_ctx__a_log_line_is_one_line_and_may_log_again),
      cmocka_unit_test(test_ctx__progress_is_passed_on_and_can_cancel),
      cmocka_unit_test(test_ctx__clock_and_random_are_seams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
