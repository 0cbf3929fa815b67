/* test_stream.c: Arrow streams that carry a bl_status. */
#include "rows/stream.h"

#include <errno.h>

#include "rows/arrow_own.h"
#include "support/support.h"

typedef struct source {
  bl_ctx *ctx;
  int left;         /* batches to give */
  bl_status at_end; /* how it ends */
  int disposed;
  int calls;
} source;

static bl_status next(void *user, struct ArrowArray *out, bl_error *err) {
  source *s = user;
  s->calls++;
  if (s->left-- > 0) return bl_array_new(s->ctx, 5, 1, 0, out, err);
  out->release = NULL;
  return s->at_end == BL_OK ? BL_OK : bl_fail(err, s->at_end, "it broke in %s", "file.parquet");
}

static void dispose(void *user) {
  ((source *)user)->disposed++;
}

static void make(source *s, struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  test_ok(bl_aschema_new(s->ctx, "+s", BL_STR("rows"), false, 0, &schema, &err), &err);
  test_ok(bl_stream_make(s->ctx, &(bl_stream_source){next, dispose, s}, &schema, out, &err), &err);
  assert_null(schema.release); /* taken over */
}

static void test_stream__gives_its_batches_and_then_the_end(void **state) {
  (void)state;
  source s = {.ctx = test_ctx(), .left = 3};
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream st;
  struct ArrowArray a;
  make(&s, &st);
  for (int i = 0; i < 3; i++) {
    test_ok(bl_stream_next(&st, &a, &err), &err);
    assert_int_equal(a.length, 5);
    bl_array_release(&a);
  }
  for (int i = 0; i < 2; i++) {
    test_ok(bl_stream_next(&st, &a, &err), &err);
    assert_null(a.release);
  }
  bl_stream_release(&st);
  assert_int_equal(s.disposed, 1);
  bl_stream_release(&st); /* released ones are allowed */
  assert_int_equal(s.disposed, 1);
  test_ctx_free(s.ctx);
}

static void test_stream__that_was_released_is_told(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArrayStream st = {0};
  test_status(BL_USAGE, bl_stream_schema(&st, &schema, &err), &err);
  test_says(&err, "released before");
  assert_null(schema.release);
}

static void test_stream__hands_out_copies_of_its_schema(void **state) {
  (void)state;
  source s = {.ctx = test_ctx()};
  struct ArrowArrayStream st;
  struct ArrowSchema one, two;
  make(&s, &st);
  assert_int_equal(st.get_schema(&st, &one), 0);
  assert_int_equal(st.get_schema(&st, &two), 0);
  bl_stream_release(&st);
  assert_string_equal(one.name, "rows");
  assert_string_equal(two.format, "+s");
  one.release(&one);
  two.release(&two);
  test_ctx_free(s.ctx);
}

static void test_stream__passes_statuses_and_messages_through_errnos(void **state) {
  (void)state;
  for (int st = BL_OK; st <= BL_CANCELLED; st++) {
    assert_int_equal(bl_stream_status(bl_stream_errno((bl_status)st)), st);
    for (int other = BL_OK; other < st; other++)
      assert_int_not_equal(bl_stream_errno((bl_status)st), bl_stream_errno((bl_status)other));
  }
  assert_int_equal(bl_stream_errno(BL_OK), 0);
  assert_int_equal(bl_stream_status(99999), BL_IO);
  assert_int_equal(bl_stream_status(ENOSYS), BL_UNSUPPORTED);
  for (int want = BL_FOUND; want <= BL_CANCELLED; want++) {
    source s = {.ctx = test_ctx(), .left = 1, .at_end = (bl_status)want};
    bl_error err = BL_ERROR_INIT;
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    make(&s, &stream);
    assert_null(stream.get_last_error(&stream));
    test_ok(bl_stream_next(&stream, &a, &err), &err);
    bl_array_release(&a);
    test_status((bl_status)want, bl_stream_next(&stream, &a, &err), &err);
    test_says(&err, "it broke in file.parquet");
    assert_null(a.release);
    int calls = s.calls;
    err = (bl_error)BL_ERROR_INIT;
    test_status((bl_status)want, bl_stream_next(&stream, &a, &err), &err); /* a stream that failed stays so */
    assert_int_equal(s.calls, calls);
    bl_stream_release(&stream);
    test_ctx_free(s.ctx);
  }
}

/* A foreign stream need not say anything. */
static int fails(struct ArrowArrayStream *s, struct ArrowArray *out) {
  (void)s, (void)out;
  return 5; /* EIO */
}
static const char *says_nothing(struct ArrowArrayStream *s) {
  (void)s;
  return NULL;
}

static void test_stream__a_foreign_stream_without_message_still_fails_with_one(void **state) {
  (void)state;
  struct ArrowArrayStream s = {.get_next = fails, .get_last_error = says_nothing};
  struct ArrowArray a;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_IO, bl_stream_next(&s, &a, &err), &err);
}

static bl_status make_one(bl_ctx *ctx, void *user, bl_error *err) {
  source *s = user;
  struct ArrowSchema schema;
  struct ArrowArrayStream st;
  s->ctx = ctx;
  s->disposed = 0;
  BL_TRY(bl_aschema_new(ctx, "+s", BL_STR("rows"), false, 0, &schema, err));
  bl_status status = bl_stream_make(ctx, &(bl_stream_source){next, dispose, s}, &schema, &st, err);
  if (status == BL_OK) bl_stream_release(&st);
  assert_int_equal(s->disposed, 1);
  return status;
}

static void test_stream__disposes_of_its_source_when_memory_runs_out(void **state) {
  (void)state;
  source s = {0};
  test_fail_each(make_one, &s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream__gives_its_batches_and_then_the_end),
      cmocka_unit_test(test_stream__that_was_released_is_told),
      cmocka_unit_test(test_stream__hands_out_copies_of_its_schema),
      cmocka_unit_test(test_stream__passes_statuses_and_messages_through_errnos),
      cmocka_unit_test(test_stream__a_foreign_stream_without_message_still_fails_with_one),
      cmocka_unit_test(test_stream__disposes_of_its_source_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
