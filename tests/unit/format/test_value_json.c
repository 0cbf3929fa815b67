/* test_value_json.c: single values to and from JSON. */
#include <math.h>

#include "arena_fixture.h"
#include "format/metadata_json.h"

static bl_type type_of(fixture *f, const char *name) {
  bl_type t;
  test_ok(bl_type_parse_primitive(f->a, bl_str_of(name), &t, &f->err), &f->err);
  return t;
}

static bl_status read(fixture *f, const char *type, const char *json, bl_value *out) {
  bl_json *v;
  bl_type t = type_of(f, type);
  test_ok(bl_json_parse(f->a, json, strlen(json), &v, &f->err), &f->err);
  return bl_value_from_json(f->a, &t, v, out, &f->err);
}

static bl_value value(fixture *f, const char *type, const char *json) {
  bl_value v;
  test_ok(read(f, type, json, &v), &f->err);
  return v;
}

static const char *print(fixture *f, const char *type, const bl_value *v) {
  bl_type t = type_of(f, type);
  bl_buf b;
  bl_json *j = bl_value_to_json(f->a, &t, v);
  assert_non_null(j);
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_print(&b, j, false);
  const char *text = buf_text(f->a, &b);
  bl_buf_free(&b);
  return text;
}

static void test_value_json__every_type_comes_back_the_same(void **state) {
  (void)state;
  static const struct {
    const char *type, *json;
  } cases[] = {
      {"boolean", "true"},
      {"boolean", "false"},
      {"int", "-2147483648"},
      {"int", "2147483647"},
      {"long", "-9223372036854775808"},
      {"long", "9223372036854775807"},
      {"float", "1.5"},
      {"float", "-0.0"},
      {"float", "\"NaN\""},
      {"double", "0.1"},
      {"double", "\"Infinity\""},
      {"double", "\"-Infinity\""},
      {"decimal(9, 2)", "\"14.20\""},
      {"decimal(9, 2)", "\"-0.05\""},
      {"decimal(38, 0)", "\"99999999999999999999999999999999999999\""},
      {"date", "\"2017-11-16\""},
      {"date", "\"1969-12-31\""},
      {"time", "\"22:31:08.123456\""},
      {"timestamp", "\"2017-11-16T22:31:08.123456\""},
      {"timestamptz", "\"2017-11-16T22:31:08.123456+00:00\""},
      {"timestamp_ns", "\"2017-11-16T22:31:08.123456789\""},
      {"timestamptz_ns", "\"2017-11-16T22:31:08.123456789+00:00\""},
      {"string", "\"iceberg\""},
      {"string", "\"\""},
      {"string", "\"NaN\""},
      {"uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""},
      {"fixed[4]", "\"000102ff\""},
      {"binary", "\"000102ff\""},
      {"binary", "\"\""},
      {"int", "null"},
      {"variant", "null"},
      {"unknown", "null"},
      {"geometry", "null"},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_value v = value(&f, cases[i].type, cases[i].json);
    assert_string_equal(print(&f, cases[i].type, &v), cases[i].json);
  }
  fixture_close(&f);
}

static void test_value_json__values_are_what_the_text_says(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  assert_true(value(&f, "boolean", "true").u.b);
  assert_int_equal(value(&f, "date", "\"1969-12-31\"").u.i, -1);
  assert_int_equal(value(&f, "time", "\"00:00:01\"").u.i, 1000000);
  assert_int_equal(value(&f, "timestamp", "\"1969-12-31T23:59:59.999999\"").u.i, -1);
  assert_int_equal(value(&f, "timestamptz_ns", "\"1970-01-01T00:00:00.000000001Z\"").u.i, 1);
  assert_true(value(&f, "decimal(9, 2)", "\"14.2\"").u.dec == 1420);
  assert_true(value(&f, "decimal(20, 10)", "\"1E-10\"").u.dec == 1);
  assert_true(value(&f, "float", "3").u.f == 3.0f);
  assert_true(isnan(value(&f, "double", "\"NaN\"").u.d));
  assert_true(signbit(value(&f, "double", "-0.0").u.d));
  bl_value u = value(&f, "uuid", "\"F79C3E09-677C-4BBD-A479-3F349CB785E7\"");
  assert_int_equal(u.u.s.n, 16);
  assert_int_equal((uint8_t)u.u.s.p[0], 0xf7);
  assert_true(value(&f, "int", "null").null);
  fixture_close(&f);
}

static void test_value_json__what_does_not_fit_the_type_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *type, *json;
  } cases[] = {
      {"boolean", "1"},
      {"boolean", "\"true\""},
      {"int", "2147483648"},
      {"int", "1.0"},
      {"int", "1e3"},
      {"int", "\"1\""},
      {"long", "9223372036854775808"},
      {"float", "\"1.5\""},
      {"float", "\"inf\""},
      {"double", "true"},
      {"double", "1e400"},
      {"float", "1e39"},
      {"decimal(9, 2)", "14.20"},
      {"decimal(9, 2)", "\"14.201\""},
      {"decimal(9, 2)", "\"12345678.00\""},
      {"decimal(9, 2)", "\"x\""},
      {"date", "17486"},
      {"date", "\"2017-02-30\""},
      {"date", "\"2017-11-16T00:00:00\""},
      {"time", "\"24:00:00\""},
      {"time", "\"00:00:00.1234567\""},
      {"timestamp", "\"2017-11-16T22:31:08+00:00\""},
      {"timestamptz", "\"2017-11-16T22:31:08\""},
      {"timestamp", "\"2017-11-16T22:31:08.123456789\""},
      {"timestamp_ns", "\"2500-01-01T00:00:00\""},
      {"string", "1"},
      {"uuid", "\"f79c3e09677c4bbda4793f349cb785e7\""},
      {"fixed[4]", "\"0001\""},
      {"fixed[4]", "\"000102fff\""},
      {"binary", "\"0\""},
      {"binary", "\"0g\""},
      {"binary", "5"},
      {"unknown", "1"},
      {"variant", "{}"},
      {"geometry", "\"POINT (30 10)\""},
      {"geography", "\"POINT (30 10)\""},
  };
  fixture f;
  bl_value v;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_status st = read(&f, cases[i].type, cases[i].json, &v);
    if (st == BL_OK) fail_msg("%s took %s", cases[i].type, cases[i].json);
    assert_refused(&f.err, st, BL_DAMAGED, "JSON: $ (byte 0)");
  }
  fixture_close(&f);
}

static void test_value_json__a_struct_is_null_or_empty(void **state) {
  (void)state;
  fixture f;
  bl_json *v;
  bl_value x;
  const bl_type t = {.kind = BL_STRUCT}, list = {.kind = BL_LIST};
  fixture_open(&f);
  test_ok(bl_json_parse(f.a, "[{},null,{\"1\":1},[],7]", 22, &v, &f.err), &f.err);
  test_ok(bl_value_from_json(f.a, &t, bl_json_at(v, 0), &x, &f.err), &f.err);
  assert_false(x.null);
  assert_int_equal(bl_value_to_json(f.a, &t, &x)->kind, BL_J_OBJECT);
  test_ok(bl_value_from_json(f.a, &t, bl_json_at(v, 1), &x, &f.err), &f.err);
  assert_true(x.null);
  assert_refused(&f.err, bl_value_from_json(f.a, &t, bl_json_at(v, 2), &x, &f.err), BL_DAMAGED, "$[2]");
  assert_refused(&f.err, bl_value_from_json(f.a, &t, bl_json_at(v, 4), &x, &f.err), BL_DAMAGED, "{}");
  assert_refused(&f.err, bl_value_from_json(f.a, &list, bl_json_at(v, 3), &x, &f.err), BL_UNSUPPORTED, "list");
  assert_null(bl_value_to_json(f.a, &list, &(bl_value){.kind = BL_LIST}));
  fixture_close(&f);
}

static bl_status bytes_both_ways(bl_ctx *ctx, void *user, bl_error *err) {
  const bl_type *t = user;
  bl_arena *a;
  bl_json *v;
  bl_value x;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_json_parse(a, "\"00ff\"", 6, &v, err);
  if (st == BL_OK) st = bl_value_from_json(a, t, v, &x, err);
  if (st == BL_OK && !bl_value_to_json(a, t, &x)) st = bl_nomem(err);
  bl_arena_free(a);
  return st;
}

static void test_value_json__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  bl_type t = {.kind = BL_BINARY};
  test_fail_each(bytes_both_ways, &t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_value_json__every_type_comes_back_the_same),
      cmocka_unit_test(test_value_json__values_are_what_the_text_says),
      cmocka_unit_test(test_value_json__what_does_not_fit_the_type_is_refused),
      cmocka_unit_test(test_value_json__a_struct_is_null_or_empty),
      cmocka_unit_test(test_value_json__every_failing_allocation_gives_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
