/* test_set_expr.c: expressions of update --set: what they parse to, what types go together, and the values. */
#include "write/set_expr.h"

#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "support/support.h"
#include "support/text_input.h"
#include "write/input.h"

/* One row of many types. */
#define ROW                                                                                                            \
  "{\"i\":7,\"l\":9000000000,\"f\":1.5,\"d\":2.25,\"x\":\"12.34\",\"s\":\"abc\",\"b\":true,\"dt\":\"2026-01-31\","     \
  "\"ts\":\"2026-01-31T10:00:00.000001\",\"tz\":\"2026-01-31T10:00:00.000000+00:00\","                                 \
  "\"u\":\"f79c3e09-677c-4bbd-a479-3f349cb785e7\",\"st\":{\"a\":5},\"n\":null,\"z\":0}\n"

typedef struct fixture {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_schema schema;
  struct ArrowSchema aschema;
  struct ArrowArray batch;
  bl_view *view;
} fixture;

static bl_type type_named(fixture *f, const char *text) {
  bl_type t;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_type_parse_primitive(f->arena, bl_str_of(text), &t, &err), &err);
  return t;
}

static void make_schema(fixture *f) {
  static const char *const columns[][2] = {
      {"i", "int"},    {"l", "long"},    {"f", "float"}, {"d", "double"},     {"x", "decimal(9,2)"},
      {"s", "string"}, {"b", "boolean"}, {"dt", "date"}, {"ts", "timestamp"}, {"tz", "timestamptz"},
      {"u", "uuid"},   {"st", "struct"}, {"n", "int"},   {"z", "int"},
  };
  size_t n = BL_LEN(columns);
  bl_field *fields = bl_arena_calloc(f->arena, n, sizeof *fields), *inner = bl_arena_calloc(f->arena, 1, sizeof *inner);
  *inner = (bl_field){.id = 100, .name = BL_STR("a"), .type = type_named(f, "int")};
  for (size_t i = 0; i < n; i++) {
    fields[i] = (bl_field){.id = (int32_t)i + 1, .name = bl_str_of(columns[i][0])};
    if (strcmp(columns[i][1], "struct") == 0)
      fields[i].type = (bl_type){.kind = BL_STRUCT, .fields = inner, .n_fields = 1};
    else fields[i].type = type_named(f, columns[i][1]);
  }
  f->schema = (bl_schema){.root = {.kind = BL_STRUCT, .fields = fields, .n_fields = n}};
}

static fixture begin(void) {
  fixture f = {.ctx = test_ctx()};
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  text_input in = text_input_of(ROW, sizeof ROW - 1);
  test_ok(bl_arena_new(f.ctx, &f.arena, &err), &err);
  make_schema(&f);
  test_ok(bl_read_ndjson(f.ctx, &f.schema, &in.in, "row", false, &s, &err), &err);
  test_ok(bl_stream_next(&s, &f.batch, &err), &err);
  bl_stream_release(&s);
  test_ok(bl_aschema_of_struct(f.ctx, &f.schema.root, &f.aschema, &err), &err);
  test_ok(bl_view_new(f.ctx, &f.aschema, &f.view, &err), &err);
  test_ok(bl_view_set(f.view, &f.batch, &err), &err);
  return f;
}

static void end(fixture *f) {
  bl_view_free(f->view);
  bl_array_release(&f->batch);
  bl_aschema_release(&f->aschema);
  bl_arena_free(f->arena);
  test_ctx_free(f->ctx);
}

static bl_status evaluate(fixture *f, const char *expr, const char *type, char *out, size_t cap, bl_error *err) {
  char text[400];
  bl_str target;
  bl_set_node *parsed, *bound;
  bl_value v;
  bl_type to = type_named(f, type);
  snprintf(text, sizeof text, "t = %s", expr);
  BL_TRY(bl_set_parse(f->arena, bl_str_of(text), &target, &parsed, err));
  BL_TRY(bl_set_bind(f->arena, bl_str_of(text), parsed, &(bl_set_names){&f->schema, bl_meta_schema(), &f->schema.root},
                     &to, &bound, err));
  BL_TRY(bl_set_eval(bound, f->view, 0, f->arena, &v, err));
  bl_buf b;
  bl_buf_init(&b, f->ctx, 1000);
  bl_value_print(&b, &to, &v);
  snprintf(out, cap, "%.*s", (int)b.n, b.p ? (const char *)b.p : "");
  bl_buf_free(&b);
  return BL_OK;
}

typedef struct a_case {
  const char *expr, *type, *want; /* of a failure: part of its message */
} a_case;

static void values(const a_case *cases, size_t n) {
  fixture f = begin();
  char got[500];
  for (size_t i = 0; i < n; i++) {
    bl_error err = BL_ERROR_INIT;
    bl_status st = evaluate(&f, cases[i].expr, cases[i].type, got, sizeof got, &err);
    if (st != BL_OK) fail_msg("%s as %s: %s", cases[i].expr, cases[i].type, err.message);
    if (strcmp(got, cases[i].want) != 0)
      fail_msg("%s as %s is %s, not %s", cases[i].expr, cases[i].type, got, cases[i].want);
  }
  end(&f);
}

static void failures(const a_case *cases, size_t n) {
  fixture f = begin();
  char got[500];
  for (size_t i = 0; i < n; i++) {
    bl_error err = BL_ERROR_INIT;
    bl_status st = evaluate(&f, cases[i].expr, cases[i].type, got, sizeof got, &err);
    if (st != BL_USAGE) fail_msg("%s as %s: status %d, %s", cases[i].expr, cases[i].type, (int)st, err.message);
    if (!strstr(err.message, cases[i].want))
      fail_msg("%s: \"%s\" does not say %s", cases[i].expr, err.message, cases[i].want);
  }
  end(&f);
}

static void test_set_expr__computes_integers_as_longs(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"i + 1", "int", "8"},
      {"i - 10", "int", "-3"},
      {"i*2+1", "int", "15"},
      {"1+i*2", "int", "15"},
      {"(1+i)*2", "int", "16"},
      {"i-1", "int", "6"},
      {"i -1", "int", "6"},
      {"-i", "int", "-7"},
      {"- -i", "int", "7"},
      {"+i", "int", "7"},
      {"-7 % 3", "int", "-1"},
      {"i % 4", "int", "3"},
      {"l * 1000", "long", "9000000000000"},
      {"i + 2147483647", "long", "2147483654"},
      {"-9223372036854775808", "long", "-9223372036854775808"},
      {"n + 1", "int", "null"},
      {"n / z", "int", "null"},
      {"null", "int", "null"},
      {"null + 1", "int", "null"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__divides_integers_by_what_is_wanted(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"i / 2", "int", "3"},
      {"-i / 2", "int", "-3"},
      {"i / 2", "double", "3.5"},
      {"i / 2", "decimal(9,2)", "3.50"},
      {"i / 3", "decimal(9,2)", "2.33"},
      {"i / 2 * 2", "int", "7"},
      {"cast(i / 2 as int) * 2", "int", "6"},
      {"l / l", "long", "1"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__keeps_decimals_exact(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"x + 0.01", "decimal(9,2)", "12.35"},
      {"x * 1.1", "decimal(9,2)", "13.57"},
      {"x * 1.1", "decimal(9,3)", "13.574"},
      {"x / 4", "decimal(9,2)", "3.09"},
      {"x / 4", "decimal(9,3)", "3.085"},
      {"-x / 4", "decimal(9,2)", "-3.09"},
      {"x % 5", "decimal(9,2)", "2.34"},
      {"x - i", "decimal(9,2)", "5.34"},
      {"x", "int", "12"},
      {"x * i", "double", "86.38"},
      {"d", "decimal(9,1)", "2.3"},
      {"0.1 + 0.2", "decimal(9,2)", "0.30"},
      {"1.5e3", "decimal(9,2)", "1500.00"},
      {"l", "decimal(12,2)", "9000000000.00"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__computes_floats_as_doubles(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"f + d", "double", "3.75"}, {"f * 2", "float", "3.0"}, {"d * 1.5", "double", "3.375"},
      {"d", "int", "2"},           {"-d", "int", "-2"},       {"d % 2", "double", "0.25"},
      {"i", "double", "7.0"},      {"0.1", "float", "0.1"},   {"'NaN'", "double", "NaN"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__joins_strings(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"s || 'x'", "string", "abcx"},
      {"s || i", "string", "abc7"},
      {"s || '-' || x", "string", "abc-12.34"},
      {"s || n", "string", "null"},
      {"'it''s'", "string", "it's"},
      {"i", "string", "7"},
      {"dt", "string", "2026-01-31"},
      {"b || ''", "string", "true"},
      {"1 + 2 || 'a'", "string", "3a"},
      {"u", "string", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__chooses(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"coalesce(n, i)", "int", "7"},
      {"coalesce(n, null, 3)", "int", "3"},
      {"coalesce(n, n)", "int", "null"},
      {"case when i > 5 then 'big' else 'small' end", "string", "big"},
      {"case when i > 50 then 'big' when s = 'abc' then s end", "string", "abc"},
      {"case when n > 0 then 1 end", "int", "null"},
      {"case when n is null and (i = 1 or i = 7) then x else 0 end", "decimal(9,2)", "12.34"},
      {"case when i in (1, 7) then case when b then 1 else 2 end else 3 end + 1", "int", "2"},
      {"coalesce(n, 1.5) + 1", "double", "2.5"},
      {"case when st.a = 5 then st.a + 1 end", "int", "6"},
      {"CASE WHEN starts_with(s, 'a') THEN 1 END", "int", "1"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__casts(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"cast('12' as int) + 1", "int", "13"},
      {"cast(1.9 as int)", "int", "1"},
      {"cast(i as string)", "string", "7"},
      {"cast(x as decimal(9, 1))", "decimal(9,2)", "12.30"},
      {"cast(ts as date)", "date", "2026-01-31"},
      {"dt", "timestamp", "2026-01-31T00:00:00.000000"},
      {"'2026-02-01'", "date", "2026-02-01"},
      {"date '2026-02-01'", "timestamp", "2026-02-01T00:00:00.000000"},
      {"cast(tz as timestamp)", "timestamp", "2026-01-31T10:00:00.000000"},
      {"ts", "timestamp_ns", "2026-01-31T10:00:00.000001000"},
      {"cast(b as int) + 1", "int", "2"},
      {"cast(i as boolean)", "boolean", "true"},
      {"cast('abc' as binary)", "binary", "YWJj"},
      {"x'616263'", "binary", "YWJj"},
      {"cast('2026-02-01' as date)", "date", "2026-02-01"},
      {"cast(s || '' as string)", "string", "abc"},
  };
  values(cases, BL_LEN(cases));
}

static void test_set_expr__says_what_does_not_fit_at_a_row(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"i / z", "int", "division by zero"},
      {"i / z", "double", "division by zero"},
      {"i % z", "int", "division by zero"},
      {"x / z", "decimal(9,2)", "division by zero"},
      {"d / z", "double", "division by zero"},
      {"l * l", "long", "overflow"},
      {"l", "int", "9000000000 does not fit the type int"},
      {"i + 2147483647", "int", "2147483654 does not fit the type int"},
      {"x * 1000000", "decimal(9,2)", "does not fit the type decimal(9, 2)"},
      {"cast(s as int)", "int", "abc does not fit the type int"},
      {"d * 1e308 * 10", "double", "overflow"},
      {"d * 1e300", "float", "does not fit the type float"},
      {"cast(s as date)", "date", "abc does not fit the type date"},
  };
  failures(cases, BL_LEN(cases));
}

static void test_set_expr__refuses_types_that_do_not_go_together(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"s", "int", "a value of type string is no int; cast"},
      {"s + 1", "int", "arithmetic takes numbers"},
      {"b", "int", "a value of type boolean is no int; cast"},
      {"dt + 1", "date", "arithmetic takes numbers"},
      {"ts", "date", "cast"},
      {"'abc'", "int", "it is not a number"},
      {"5.5", "int", "5.5 does not fit the type int"},
      {"3000000000", "int", "does not fit the type int"},
      {"st", "int", "is no int"},
      {"coalesce(st, st)", "int", "is no int"},
      {"coalesce(b, 1) || ''", "string", "does not go with"},
      {"nope", "int", "there is none of this name and case"},
      {"_row_id", "long", "not available here"},
      {"case when nope = 1 then 1 end", "int", "there is none of this name and case"},
  };
  failures(cases, BL_LEN(cases));
}

static void test_set_expr__says_where_the_text_ends(void **state) {
  (void)state;
  static const a_case cases[] = {
      {"", "int", "a value expected, but the expression ends"},
      {"i +", "int", "a value expected, but the expression ends"},
      {"(i", "int", "an operator or ) expected"},
      {"i i", "int", "an operator or the end expected"},
      {"i)", "int", "an operator or the end expected"},
      {"case i", "int", "when expected"},
      {"case when i > 1", "int", "then expected"},
      {"case when i > then 1 end", "int", "a column or value"},
      {"case when i = 1 then 2", "int", "end expected"},
      {"cast(i int)", "int", "as expected"},
      {"cast(i as nonsense)", "int", "\"nonsense\" is no type"},
      {"upper(s)", "string", "no such function"},
      {"coalesce(", "int", "a value expected"},
      {"1 ; 2", "int", "has no meaning here"},
  };
  failures(cases, BL_LEN(cases));
}

static void test_set_expr__gives_positions_in_the_whole_text(void **state) {
  (void)state;
  fixture f = begin();
  bl_error err = BL_ERROR_INIT;
  char got[100];
  assert_int_equal(evaluate(&f, "case when i = 1 and nope = 2 then 1 end", "int", got, sizeof got, &err), BL_USAGE);
  assert_int_equal(err.position, 24);
  err = (bl_error)BL_ERROR_INIT;
  assert_int_equal(evaluate(&f, "1 + nope", "int", got, sizeof got, &err), BL_USAGE);
  assert_int_equal(err.position, 8);
  end(&f);
}

static void test_set_expr__bounds_its_depth(void **state) {
  (void)state;
  fixture f = begin();
  bl_error err = BL_ERROR_INIT;
  char text[2000] = "";
  bl_str target;
  bl_set_node *n;
  strcpy(text, "t = ");
  for (int i = 0; i < 500; i++) strcat(text, "(");
  assert_int_equal(bl_set_parse(f.arena, bl_str_of(text), &target, &n, &err), BL_USAGE);
  test_says(&err, "deep");
  err = (bl_error)BL_ERROR_INIT;
  strcpy(text, "t = 1");
  for (int i = 0; i < 500; i++) strcat(text, "+1");
  assert_int_equal(bl_set_parse(f.arena, bl_str_of(text), &target, &n, &err), BL_USAGE);
  test_says(&err, "deep");
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_set_expr__computes_integers_as_longs),
      cmocka_unit_test(test_set_expr__divides_integers_by_what_is_wanted),
      cmocka_unit_test(test_set_expr__keeps_decimals_exact),
      cmocka_unit_test(test_set_expr__computes_floats_as_doubles),
      cmocka_unit_test(test_set_expr__joins_strings),
      cmocka_unit_test(test_set_expr__chooses),
      cmocka_unit_test(test_set_expr__casts),
      cmocka_unit_test(test_set_expr__says_what_does_not_fit_at_a_row),
      cmocka_unit_test(test_set_expr__refuses_types_that_do_not_go_together),
      cmocka_unit_test(test_set_expr__says_where_the_text_ends),
      cmocka_unit_test(test_set_expr__gives_positions_in_the_whole_text),
      cmocka_unit_test(test_set_expr__bounds_its_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
