/* test_report.c: rows of named cells as JSON and as text. */
#include "inspect/report.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_report *r;
  char text[4000];
  size_t n;
  bl_error err;
} fixture;

static bl_status gather(void *user, const void *p, size_t n, bl_error *err) {
  fixture *f = user;
  (void)err;
  assert_true(f->n + n < sizeof f->text);
  memcpy(f->text + f->n, p, n);
  f->n += n;
  f->text[f->n] = 0;
  return BL_OK;
}

static const char *const three[] = {"name", "size", "more"};

static void setup(fixture *f, bool text, bool object) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  bl_sink sink = {gather, f};
  test_ok(bl_report_new(f->ctx, &sink, three, 3, text, object, &f->r, &f->err), &f->err);
}

static void finish(fixture *f, const char *want) {
  test_ok(bl_report_finish(f->r, &f->err), &f->err);
  assert_string_equal(f->text, want);
  test_ctx_free(f->ctx);
}

static void row(fixture *f, const char *name, int64_t size, const char *more) {
  bl_report_str(f->r, bl_str_of(name));
  bl_report_i64_if(f->r, size >= 0, size);
  bl_buf_cstr(bl_report_bulk(f->r), more);
  test_ok(bl_report_end_row(f->r, &f->err), &f->err);
}

static void test_report__json_is_one_array_with_an_object_a_line(void **state) {
  (void)state;
  fixture f;
  setup(&f, false, false);
  row(&f, "a\"b", 1, "{\"x\":[1]}");
  row(&f, NULL, -1, "null");
  finish(&f,
         "[\n{\"name\":\"a\\\"b\",\"size\":1,\"more\":{\"x\":[1]}},\n{\"name\":null,\"size\":null,\"more\":null}\n]\n");
}

static void test_report__json_without_rows_is_an_empty_array(void **state) {
  (void)state;
  fixture f;
  setup(&f, false, false);
  finish(&f, "[]\n");
}

static void test_report__an_object_has_a_member_a_line(void **state) {
  (void)state;
  fixture f;
  setup(&f, false, true);
  row(&f, "x", 7, "[]");
  finish(&f, "{\n  \"name\": \"x\",\n  \"size\": 7,\n  \"more\": []\n}\n");
}

static void test_report__text_aligns_numbers_to_the_right(void **state) {
  (void)state;
  fixture f;
  setup(&f, true, false);
  row(&f, "a", 1, "{}");
  row(&f, "caf\xc3\xa9", 1000, "[1]");
  row(&f, "b", -1, "null");
  finish(&f, "name  size  more\n----  ----  ----\na        1  {}\ncaf\xc3\xa9  1000  [1]\nb     null  null\n");
}

static void test_report__text_without_rows_has_a_header(void **state) {
  (void)state;
  fixture f;
  setup(&f, true, false);
  finish(&f, "name  size  more\n----  ----  ----\n");
}

static void test_report__text_of_an_object_is_keys_and_values(void **state) {
  (void)state;
  fixture f;
  setup(&f, true, true);
  row(&f, "x\ny", 7, "[]");
  finish(&f, "name: x\\ny\nsize: 7\nmore: []\n");
}

static void test_report__text_makes_controls_visible(void **state) {
  (void)state;
  fixture f;
  setup(&f, true, false);
  row(&f, "a\x1b[2J\xc2\x9b", 1, "1");
  test_ok(bl_report_finish(f.r, &f.err), &f.err);
  for (size_t i = 0; i < f.n; i++)
    assert_true(f.text[i] == '\n' || ((unsigned char)f.text[i] >= 0x20 && (unsigned char)f.text[i] < 0x7f));
  assert_non_null(strstr(f.text, "\\u001b[2J"));
  test_ctx_free(f.ctx);
}

static void test_report__text_cuts_bulk_between_characters(void **state) {
  (void)state;
  fixture f;
  char bulk[200] = "";
  for (int i = 0; i < 40; i++) strcat(bulk, "\xc3\xa9z");
  setup(&f, true, false);
  row(&f, "a", 1, bulk);
  test_ok(bl_report_finish(f.r, &f.err), &f.err);
  const char *cut = strstr(f.text, "\xc3\xa9z");
  assert_int_equal(strlen(cut), 30 * 3 + 3 + 1);
  assert_string_equal(cut + 90, "\xe2\x80\xa6\n");
  test_ctx_free(f.ctx);
}

static void test_report__times_are_iso_8601_in_utc(void **state) {
  (void)state;
  fixture f;
  setup(&f, false, true);
  bl_report_ms(f.r, 1767225601500);
  bl_report_bool(f.r, true);
  bl_report_ms(f.r, -1);
  test_ok(bl_report_end_row(f.r, &f.err), &f.err);
  finish(&f, "{\n  \"name\": \"2026-01-01T00:00:01.500000+00:00\",\n  \"size\": true,\n  \"more\": "
             "\"1969-12-31T23:59:59.999000+00:00\"\n}\n");
}

static bl_status refuse(void *user, const void *p, size_t n, bl_error *err) {
  (void)user, (void)p, (void)n;
  return bl_fail(err, BL_CANCELLED, "nobody reads");
}

static void test_report__the_failure_of_the_sink_is_passed_on(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  bl_sink sink = {refuse, NULL};
  test_ok(bl_report_new(f.ctx, &sink, three, 3, false, false, &f.r, &f.err), &f.err);
  row(&f, "a", 1, "1");
  test_status(BL_CANCELLED, bl_report_finish(f.r, &f.err), &f.err);
  test_ctx_free(f.ctx);
}

static bl_status discard(void *user, const void *p, size_t n, bl_error *err) {
  (void)p, (void)err;
  *(size_t *)user += n;
  return BL_OK;
}

static bl_status many_rows(bl_ctx *ctx, void *user, bl_error *err) {
  size_t bytes = 0;
  bl_sink sink = {discard, &bytes};
  bl_report *r;
  bl_status st = BL_OK;
  bool text = *(bool *)user;
  BL_TRY(bl_report_new(ctx, &sink, three, 3, text, false, &r, err));
  for (int i = 0; i < 3000 && st == BL_OK; i++) {
    bl_report_str(r, BL_STR("a name"));
    bl_report_i64(r, i);
    bl_report_null(r);
    st = bl_report_end_row(r, err);
  }
  if (st != BL_OK) {
    bl_report_abort(r);
    return st;
  }
  BL_TRY(bl_report_finish(r, err));
  assert_true(bytes > 3000 * 10);
  return BL_OK;
}

static void test_report__survives_each_failing_allocation(void **state) {
  (void)state;
  bool text = false;
  test_fail_each(many_rows, &text);
  text = true;
  test_fail_each(many_rows, &text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_report__json_is_one_array_with_an_object_a_line),
      cmocka_unit_test(test_report__json_without_rows_is_an_empty_array),
      cmocka_unit_test(test_report__an_object_has_a_member_a_line),
      cmocka_unit_test(test_report__text_aligns_numbers_to_the_right),
      cmocka_unit_test(test_report__text_without_rows_has_a_header),
      cmocka_unit_test(test_report__text_of_an_object_is_keys_and_values),
      cmocka_unit_test(test_report__text_makes_controls_visible),
      cmocka_unit_test(test_report__text_cuts_bulk_between_characters),
      cmocka_unit_test(test_report__times_are_iso_8601_in_utc),
      cmocka_unit_test(test_report__the_failure_of_the_sink_is_passed_on),
      cmocka_unit_test(test_report__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
