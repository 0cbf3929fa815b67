/* Binding: names, exact literals, negations; seen through the printed form of what was bound. */
#include "model_fixture.h"

typedef struct table {
  fixture f;
  bl_field s[2], element[1], top[24];
  bl_schema schema;
} table;

static void table_new(table *t) {
  t->f = fixture_new();
  static const char *const types[] = {"int",  "long",      "float",       "double",       "decimal(5,2)",   "date",
                                      "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string",
                                      "uuid", "fixed[2]",  "binary",      "boolean",      "unknown",        "variant"};
  static const char *const names[] = {"i",  "l",    "f", "d", "dec", "dt",  "t", "ts", "tz",
                                      "ns", "tzns", "s", "u", "fx",  "bin", "b", "n",  "v"};
  size_t n = 0;
  for (; n < BL_LEN(types); n++) t->top[n] = field_of(&t->f, (int32_t)n + 1, names[n], types[n]);
  t->s[0] = field_of(&t->f, 30, "x", "int");
  t->s[1] = field_of(&t->f, 31, "order", "string");
  t->element[0] = field_of(&t->f, 41, "element", "int");
  t->top[n++] = struct_field(32, "st", BL_STRUCT, t->s, 2);
  t->top[n++] = struct_field(40, "li", BL_LIST, t->element, 1);
  t->top[n++] = field_of(&t->f, 50, "_row_id", "string");
  t->top[n++] = field_of(&t->f, 51, "we ird", "int");
  t->top[n++] = field_of(&t->f, 52, "i2", "int");
  t->schema = schema_of(t->top, n);
}

static bl_status bind_text(table *t, const char *text, bl_expr **out, bl_error *err) {
  bl_expr *e;
  BL_TRY(bl_expr_parse(t->f.arena, bl_str_of(text), &e, err));
  return bl_expr_bind(t->f.arena, e, &t->schema, bl_meta_schema(), out, err);
}

static void binds(table *t, const char *text, const char *expected) {
  bl_expr *e;
  bl_buf b;
  bl_error err = BL_ERROR_INIT;
  test_ok(bind_text(t, text, &e, &err), &err);
  bl_buf_init(&b, t->f.ctx, BL_BUF_MAX);
  bl_expr_print(&b, e);
  const char *got = fixture_text(&t->f, &b);
  if (strcmp(got, expected)) fail_msg("%s\n   bound: %s\nexpected: %s", text, got, expected);
}

static void refuses(table *t, const char *text, int64_t position, const char *why) {
  bl_expr *e;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bind_text(t, text, &e, &err), &err);
  if (err.position != position) fail_msg("%s: position %lld: %s", text, (long long)err.position, err.message);
  test_says(&err, why);
}

static void test_expr_bind__whole_numbers_are_compared_exactly(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "i = 5", "i = 5");
  binds(&t, "i = 5.0", "i = 5");
  binds(&t, "i = 0.5e1", "i = 5");
  binds(&t, "i = '5'", "i = 5");
  binds(&t, "i = 5.5", "false");
  binds(&t, "i != 5.5", "i is not null");
  binds(&t, "i < 5.5", "i <= 5");
  binds(&t, "i <= 5.5", "i <= 5");
  binds(&t, "i > 5.5", "i > 5");
  binds(&t, "i >= 5.5", "i > 5");
  binds(&t, "i < -5.5", "i <= -6");
  binds(&t, "i > -0.5", "i > -1");
  binds(&t, "i >= 1e-400000000000", "i > 0");
  binds(&t, "i < 3000000000", "i is not null");
  binds(&t, "i > 3000000000", "false");
  binds(&t, "i = 3000000000", "false");
  binds(&t, "i != -3000000000", "i is not null");
  binds(&t, "i < -3000000000", "false");
  binds(&t, "i >= -1e99999999999", "i is not null");
  binds(&t, "i <= 2147483647", "i <= 2147483647");
  binds(&t, "i < 2147483647.5", "i <= 2147483647");
  binds(&t, "i > -2147483648.5", "i is not null");
  binds(&t, "l = 9223372036854775807", "l = 9223372036854775807");
  binds(&t, "l = 9223372036854775808", "false");
  binds(&t, "l >= -9223372036854775808", "l >= -9223372036854775808");
  binds(&t, "l = 170141183460469231731687303715884105728", "false");
  binds(&t, "l < 000000000000000000000000000000000000000000000000000000000007", "l < 7");
  binds(&t, "dec = 1.5", "dec = 1.50");
  binds(&t, "dec = -1", "dec = -1.00");
  binds(&t, "dec = 1.505", "false");
  binds(&t, "dec > 1.505", "dec > 1.50");
  binds(&t, "dec < -1.505", "dec <= -1.51");
  binds(&t, "dec < 999.999", "dec <= 999.99");
  binds(&t, "dec < 1000", "dec is not null");
  binds(&t, "dec > 1000", "false");
  fixture_free(&t.f);
}

static void test_expr_bind__floats_take_the_nearest_value_but_whole_numbers_exactly(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "d = 0.1", "d = '0.1'");
  binds(&t, "f = 0.1", "f = '0.1'");
  binds(&t, "d = 1", "d = '1.0'");
  binds(&t, "d = -0.0", "d = '0.0'");
  binds(&t, "d = 9007199254740993", "false");
  binds(&t, "d < 9007199254740993", "d <= '9007199254740992.0'");
  binds(&t, "d > 9007199254740993", "d > '9007199254740992.0'");
  binds(&t, "d <= 9007199254740995", "d < '9007199254740996.0'");
  binds(&t, "f >= 16777219", "f >= '16777220.0'");
  binds(&t, "f = 16777216", "f = '16777216.0'");
  binds(&t, "f < 1e39", "f < 'Infinity'");
  binds(&t, "f <= 1e39", "f < 'Infinity'");
  binds(&t, "f > 1e39", "f >= 'Infinity'");
  binds(&t, "f = 1e39", "false");
  binds(&t, "d > -1e400", "d > '-Infinity'");
  binds(&t, "d = 1e-400", "false");
  binds(&t, "d > 1e-400", "d > '0.0'");
  binds(&t, "d >= -1e-400", "d >= '0.0'");
  binds(&t, "d = 'Infinity'", "d = 'Infinity'");
  binds(&t, "d = 'NaN'", "false");
  binds(&t, "d < 'NaN'", "false");
  binds(&t, "d != 'NaN'", "d is not null");
  fixture_free(&t.f);
}

static void test_expr_bind__times_are_compared_exactly_in_utc(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "dt = '2026-01-31'", "dt = date '2026-01-31'");
  binds(&t, "dt = date '2026-01-31'", "dt = date '2026-01-31'");
  binds(&t, "dt < timestamp '2026-01-31 10:00:00'", "dt <= date '2026-01-31'");
  binds(&t, "dt = timestamp '2026-01-31 10:00:00'", "false");
  binds(&t, "dt >= timestamp '2026-01-31 00:00:00'", "dt >= date '2026-01-31'");
  binds(&t, "dt < timestamp '1969-12-31 23:59:59.999999999'", "dt <= date '1969-12-31'");
  binds(&t, "ts >= date '2026-01-31'", "ts >= timestamp '2026-01-31T00:00:00.000000'");
  binds(&t, "ts = '2026-01-31 10:00:00.5'", "ts = timestamp '2026-01-31T10:00:00.500000'");
  binds(&t, "ts = '2026-01-31'", "ts = timestamp '2026-01-31T00:00:00.000000'");
  binds(&t, "ts < timestamp '2026-01-31 10:00:00.000000001'", "ts <= timestamp '2026-01-31T10:00:00.000000'");
  binds(&t, "ts > timestamp '1969-12-31 23:59:59.999999999'", "ts > timestamp '1969-12-31T23:59:59.999999'");
  binds(&t, "tz = timestamptz '2026-01-31T10:00:00+02:00'", "tz = timestamptz '2026-01-31T08:00:00.000000+00:00'");
  binds(&t, "tz = '2026-01-31T10:00:00'", "tz = timestamptz '2026-01-31T10:00:00.000000+00:00'");
  binds(&t, "ns = timestamp '2026-01-31 10:00:00.000000001'", "ns = timestamp '2026-01-31T10:00:00.000000001'");
  binds(&t, "ns < timestamp '3000-01-01 00:00:00'", "ns is not null");
  binds(&t, "ns < date '1000-01-01'", "false");
  binds(&t, "tzns >= date '2026-01-31'", "tzns >= timestamptz '2026-01-31T00:00:00.000000000+00:00'");
  binds(&t, "t = '10:00:00'", "t = '10:00:00.000000'");
  binds(&t, "t < '10:00:00.0000005'", "t <= '10:00:00.000000'");
  refuses(&t, "dt = 'yesterday'", 5, "a date or timestamp");
  refuses(&t, "dt = date '2026-02-30'", 5, "a date");
  refuses(&t, "dt = date '2026-01-31 10:00:00'", 5, "a date");
  refuses(&t, "t = date '2026-01-31'", 4, "does not compare");
  refuses(&t, "t = '25:00'", 4, "a time");
  refuses(&t, "ts = 5", 5, "a number does not compare with a column of type timestamp");
  fixture_free(&t.f);
}

static void test_expr_bind__bytes_strings_and_truth_values_keep_to_their_types(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "s = 'it''s'", "s = 'it''s'");
  binds(&t, "bin = x'00ff'", "bin = x'00ff'");
  binds(&t, "bin >= 'ab'", "bin >= x'6162'");
  binds(&t, "fx = x'0001'", "fx = x'0001'");
  binds(&t, "fx = x'00'", "false");
  binds(&t, "fx < x'01'", "fx < x'0100'");
  binds(&t, "fx <= x'01'", "fx < x'0100'");
  binds(&t, "fx > x'010203'", "fx > x'0102'");
  binds(&t, "fx >= x'010203'", "fx > x'0102'");
  binds(&t, "u = 'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "u = uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'");
  binds(&t, "u < uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "u < uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'");
  binds(&t, "b", "b = true");
  binds(&t, "not b", "b != true");
  binds(&t, "b = 'FALSE'", "b = false");
  refuses(&t, "s = 5", 4, "a number does not compare");
  refuses(&t, "s = x'00'", 4, "bytes");
  refuses(&t, "u = 'x'", 4, "a uuid");
  refuses(&t, "i = 'x'", 4, "a number");
  refuses(&t, "i = 'NaN'", 4, "a number");
  refuses(&t, "i = true", 4, "a truth value");
  refuses(&t, "b = 1", 4, "a number");
  refuses(&t, "b = 'maybe'", 4, "true or false");
  refuses(&t, "i", 0, "a truth value does not compare with a column of type int");
  refuses(&t, "v = 1", 4, "variant");
  refuses(&t, "st = 1", 5, "struct");
  fixture_free(&t.f);
}

static void test_expr_bind__names_are_found_user_columns_first(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "st.x = 1", "st.x = 1");
  binds(&t, "st.\"order\" = 'x'", "st.order = 'x'");
  binds(&t, "\"we ird\" = 1", "\"we ird\" = 1");
  binds(&t, "_row_id = '5'", "_row_id = '5'");
  binds(&t, "meta._row_id = 5", "meta._row_id = 5");
  binds(&t, "_last_updated_sequence_number = 5", "_last_updated_sequence_number = 5");
  binds(&t, "_file = 'a' and _pos < 3 and _spec_id = 0", "_file = 'a' and _pos < 3 and _spec_id = 0");
  binds(&t, "_last_updated_at > '2026-01-01'", "_last_updated_at > timestamptz '2026-01-01T00:00:00.000000+00:00'");
  refuses(&t, "i = 1 and I = 1", 10, "none of this name");
  refuses(&t, "i = 1 or (st.y = 1)", 10, "st.y");
  refuses(&t, "li.element = 1", 0, "inside a list");
  refuses(&t, "i = 1 and i < nothing", 14, "nothing");
  bl_expr *e;
  bl_error err = BL_ERROR_INIT;
  test_ok(bind_text(&t, "meta._row_id = 5", &e, &err), &err);
  assert_int_equal(e->field->id, BL_ID_ROW_ID);
  test_ok(bind_text(&t, "_row_id = '5'", &e, &err), &err);
  assert_int_equal(e->field->id, 50);
  test_ok(bl_expr_parse(t.f.arena, BL_STR("_pos = 5"), &e, &err), &err);
  test_status(BL_USAGE, bl_expr_bind(t.f.arena, e, &t.schema, NULL, &e, &err), &err);
  fixture_free(&t.f);
}

static void test_expr_bind__null_tests_work_on_any_type_and_nan_tests_on_floats(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "st is null or li is not null or v is null", "st is null or li is not null or v is null");
  binds(&t, "n is null", "true");
  binds(&t, "n is not null", "false");
  binds(&t, "n = 5 or n in (1) or n < i or starts_with(n, 'x') or n is nan", "null or null or null or null or null");
  binds(&t, "f is nan and d is not nan", "f is nan and d is not nan");
  refuses(&t, "i is nan", 0, "is nan does not take");
  fixture_free(&t.f);
}

static void test_expr_bind__null_literals_make_the_answer_unknown(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "i = null", "null");
  binds(&t, "not i <> null", "null");
  binds(&t, "i in (null)", "null");
  binds(&t, "i in (1, null)", "i in (1, null)");
  binds(&t, "i in (1, 2, null)", "i in (1, 2, null)");
  binds(&t, "i not in (1, null)", "false");
  binds(&t, "starts_with(s, null)", "null");
  fixture_free(&t.f);
}

static void test_expr_bind__lists_are_sorted_unique_and_hold_what_can_be_equal(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "i in (3, 1, 2.0, 1, 2.5, 3e9)", "i in (1, 2, 3)");
  binds(&t, "i not in (3, 1)", "i not in (1, 3)");
  binds(&t, "i in (7, 7.0)", "i = 7");
  binds(&t, "i not in (7)", "i != 7");
  binds(&t, "i in (0.5, 1e20)", "false");
  binds(&t, "i not in (0.5)", "i is not null");
  binds(&t, "d in (0, 1)", "d in ('-0.0', '0.0', '1.0')");
  binds(&t, "d in (0)", "d = '0.0'");
  binds(&t, "d not in (-0.0)", "d != '0.0'");
  binds(&t, "d in ('NaN', 1)", "d = '1.0'");
  binds(&t, "s in ('b', 'a', 'b', '')", "s in ('', 'a', 'b')");
  refuses(&t, "i in (1, 'x')", 9, "a number");
  fixture_free(&t.f);
}

static void test_expr_bind__negations_reach_the_leaves(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "not (i = 1 and i2 > 2 or i is null)", "(i != 1 or i2 <= 2) and i is not null");
  binds(&t, "not not i < 1", "i < 1");
  binds(&t, "not (i >= 1)", "i < 1");
  binds(&t, "not (i <= 1)", "i > 1");
  binds(&t, "not i in (1, 2)", "i not in (1, 2)");
  binds(&t, "i not in (1, 2)", "i not in (1, 2)");
  binds(&t, "not (i not in (1, 2))", "i in (1, 2)");
  binds(&t, "not starts_with(s, 'a')", "not starts_with(s, 'a')");
  binds(&t, "not not starts_with(s, 'a')", "starts_with(s, 'a')");
  binds(&t, "not d is nan", "d is not nan");
  binds(&t, "not i < 3000000000", "false");
  binds(&t, "not i > 3000000000", "i is not null");
  binds(&t, "i not between 1 and 2", "i < 1 or i > 2");
  binds(&t, "not i < i2", "i >= i2");
  fixture_free(&t.f);
}

static void test_expr_bind__negated_comparisons_of_floats_keep_nan_rows(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "not d < 1", "d >= '1.0' or d is nan");
  binds(&t, "not d = 1", "d != '1.0'");
  binds(&t, "not d != 1", "d = '1.0'");
  binds(&t, "not f > 1e39", "f < 'Infinity' or f is nan");
  binds(&t, "not d < 'NaN'", "d is not null");
  binds(&t, "d not between 1 and 2", "(d < '1.0' or d is nan) or (d > '2.0' or d is nan)");
  binds(&t, "not d <= f", "(d > f or d is nan) or f is nan");
  binds(&t, "not d = f", "d != f");
  fixture_free(&t.f);
}

static void test_expr_bind__constants_are_folded(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "i = 1 and true", "i = 1");
  binds(&t, "i = 1 or false", "i = 1");
  binds(&t, "i = 1 or true", "true");
  binds(&t, "i = 1 and (false or false)", "false");
  binds(&t, "true and true", "true");
  binds(&t, "not (true and i = 1)", "i != 1");
  binds(&t, "null and i = 1", "null and i = 1");
  binds(&t, "starts_with(s, '')", "s is not null");
  binds(&t, "not starts_with(s, '')", "false");
  refuses(&t, "false and nothing = 1", 10, "nothing"); /* checked all the same */
  fixture_free(&t.f);
}

static void test_expr_bind__only_columns_of_like_types_compare(void **state) {
  (void)state;
  table t;
  table_new(&t);
  binds(&t, "i < l", "i < l");
  binds(&t, "f >= d", "f >= d");
  binds(&t, "dec = dec", "dec = dec");
  refuses(&t, "i = s", 4, "string does not compare with type int");
  refuses(&t, "i = d", 4, "does not compare");
  refuses(&t, "ts = tz", 5, "does not compare");
  refuses(&t, "v = v", 4, "does not compare");
  refuses(&t, "st = st", 5, "does not compare");
  refuses(&t, "starts_with(i, 'x')", 12, "starts_with does not take");
  fixture_free(&t.f);
}

static void test_expr_bind__the_fields_of_an_expression_come_once_each(void **state) {
  (void)state;
  table t;
  table_new(&t);
  bl_expr *e;
  bl_error err = BL_ERROR_INIT;
  int32_t ids[8] = {0};
  test_ok(bind_text(&t, "i = 1 and (l > 2 or i < i2) and meta._row_id = 1", &e, &err), &err);
  assert_int_equal(bl_expr_fields(e, ids, 8), 4);
  int32_t expected[] = {1, 2, 52, BL_ID_ROW_ID};
  assert_memory_equal(ids, expected, sizeof expected);
  ids[1] = -1;
  assert_true(bl_expr_fields(e, ids, 1) >= 4);
  assert_int_equal(ids[1], -1);
  test_ok(bind_text(&t, "true", &e, &err), &err);
  assert_int_equal(bl_expr_fields(e, ids, 8), 0);
  fixture_free(&t.f);
}

static bl_status bind_once(bl_ctx *ctx, void *user, bl_error *err) {
  table *t = user;
  bl_arena *a;
  bl_expr *e, *bound;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_expr_parse(a,
                               BL_STR("not (d < 1 or fx <= x'01') and i in (1, 2, 3) and i < i2 and starts_with(s, "
                                      "'x') and u = x'00112233445566778899aabbccddeeff'"),
                               &e, err);
  if (st == BL_OK) st = bl_expr_bind(a, e, &t->schema, NULL, &bound, err);
  bl_arena_free(a);
  return st;
}

static void test_expr_bind__failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  table t;
  table_new(&t);
  test_fail_each(bind_once, &t);
  fixture_free(&t.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr_bind__whole_numbers_are_compared_exactly),
      cmocka_unit_test(test_expr_bind__floats_take_the_nearest_value_but_whole_numbers_exactly),
      cmocka_unit_test(test_expr_bind__times_are_compared_exactly_in_utc),
      cmocka_unit_test(test_expr_bind__bytes_strings_and_truth_values_keep_to_their_types),
      cmocka_unit_test(test_expr_bind__names_are_found_user_columns_first),
      cmocka_unit_test(test_expr_bind__null_tests_work_on_any_type_and_nan_tests_on_floats),
      cmocka_unit_test(test_expr_bind__null_literals_make_the_answer_unknown),
      cmocka_unit_test(test_expr_bind__lists_are_sorted_unique_and_hold_what_can_be_equal),
      cmocka_unit_test(test_expr_bind__negations_reach_the_leaves),
      cmocka_unit_test(test_expr_bind__negated_comparisons_of_floats_keep_nan_rows),
      cmocka_unit_test(test_expr_bind__constants_are_folded),
      cmocka_unit_test(test_expr_bind__only_columns_of_like_types_compare),
      cmocka_unit_test(test_expr_bind__the_fields_of_an_expression_come_once_each),
      cmocka_unit_test(test_expr_bind__failing_allocations_leave_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
