/* The grammar of expressions, and where its errors point. */
#include "model_fixture.h"

/* ---- an unbound expression as an S-expression ---- */

static void show(bl_buf *b, const bl_expr *e);

static void show_str(bl_buf *b, bl_str s) {
  bl_buf_byte(b, '[');
  bl_buf_str(b, s);
  bl_buf_byte(b, ']');
}

static void show_leaf(bl_buf *b, const bl_expr *e) {
  static const char *const kinds[] = {"", "'", "bool ", "", "date ", "ts ", "tz ", "uuid ", "bytes "};
  show_str(b, e->column);
  for (size_t i = 0; i < e->n_literals; i++) {
    bl_buf_byte(b, ' ');
    bl_buf_cstr(b, kinds[e->literals[i].kind]);
    bl_buf_str(b, e->literals[i].text);
  }
  if (e->op == BL_E_COLUMN_CMP) {
    bl_buf_byte(b, ' ');
    show_str(b, e->column2);
  }
}

static void show(bl_buf *b, const bl_expr *e) {
  static const char *const names[] = {"true",   "false",   "null",  "and",    "or",     "not",       "=",
                                      "!=",     "<",       "<=",    ">",      ">=",     "in",        "notin",
                                      "isnull", "notnull", "isnan", "notnan", "starts", "notstarts", "col"};
  bl_buf_byte(b, '(');
  bl_buf_cstr(b, e->op == BL_E_COLUMN_CMP ? names[e->cmp] : names[e->op]);
  if (e->column.p) {
    bl_buf_byte(b, ' ');
    show_leaf(b, e);
  }
  for (size_t i = 0; i < e->n_args; i++) {
    bl_buf_byte(b, ' ');
    show(b, e->args[i]);
  }
  bl_buf_byte(b, ')');
}

static void parses(const char *text, const char *expected) {
  fixture f = fixture_new();
  bl_error err = BL_ERROR_INIT;
  bl_expr *e;
  bl_buf b;
  test_ok(bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  show(&b, e);
  assert_string_equal(fixture_text(&f, &b), expected);
  fixture_free(&f);
}

static void refuses(const char *text, int64_t position, const char *why) {
  fixture f = fixture_new();
  bl_error err = BL_ERROR_INIT;
  bl_expr *e;
  test_status(BL_USAGE, bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  if (err.position != position) fail_msg("%s: position %lld: %s", text, (long long)err.position, err.message);
  test_says(&err, why);
  assert_null(e);
  fixture_free(&f);
}

static void test_expr_parse__every_comparison_is_known(void **state) {
  (void)state;
  parses("a = 1", "(= [a] 1)");
  parses("a != 1", "(!= [a] 1)");
  parses("a<>1", "(!= [a] 1)");
  parses("a < -1.5e-3", "(< [a] -1.5e-3)");
  parses("a<=1", "(<= [a] 1)");
  parses("a>1", "(> [a] 1)");
  parses("a >= 1E+9", "(>= [a] 1E+9)");
}

static void test_expr_parse__a_literal_on_the_left_turns_the_comparison_round(void **state) {
  (void)state;
  parses("1 = a", "(= [a] 1)");
  parses("1 < a", "(> [a] 1)");
  parses("1 >= a", "(<= [a] 1)");
  parses("null <> a", "(!= [a] null)");
}

static void test_expr_parse__columns_compare_with_columns(void **state) {
  (void)state;
  parses("a <= b.c", "(<= [a] [b.c])");
  parses("a between b and c", "(and (>= [a] [b]) (<= [a] [c]))");
}

static void test_expr_parse__all_literals_are_known(void **state) {
  (void)state;
  parses("a = 'it''s'", "(= [a] 'it's)");
  parses("a = ''", "(= [a] ')");
  parses("a = ''''", "(= [a] '')");
  parses("a = TRUE", "(= [a] bool TRUE)");
  parses("a = false", "(= [a] bool false)");
  parses("a = Null", "(= [a] Null)");
  parses("a = date '2026-01-31'", "(= [a] date 2026-01-31)");
  parses("a = timestamp'2026-01-31 10:00:00'", "(= [a] ts 2026-01-31 10:00:00)");
  parses("a = TIMESTAMPTZ '2026-01-31T10:00:00Z'", "(= [a] tz 2026-01-31T10:00:00Z)");
  parses("a = uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "(= [a] uuid f79c3e09-677c-4bbd-a479-3f349cb785e7)");
  parses("a = x'4142'", "(= [a] bytes AB)");
  parses("a = X''", "(= [a] bytes )");
}

static void test_expr_parse__names_may_be_nested_and_quoted(void **state) {
  (void)state;
  parses("a . b = 1", "(= [a.b] 1)");
  parses("\"order\".\"sa\"\"id\" is null", "(isnull [order.sa\"id])");
  parses("\"a.b\" is null", "(isnull [a.b])");
  parses("a.in is null", "(isnull [a.in])");
  parses("_row_id >= 0", "(>= [_row_id] 0)");
  parses("h\xc3\xb6he = 1", "(= [h\xc3\xb6he] 1)");
  parses("\"null\" = 1", "(= [null] 1)");
  parses("\"\" = 1", "(= [] 1)");
}

static void test_expr_parse__type_words_are_names_unless_a_string_follows(void **state) {
  (void)state;
  parses("date = 1", "(= [date] 1)");
  parses("uuid is null", "(isnull [uuid])");
  parses("date = date '2026-01-31'", "(= [date] date 2026-01-31)");
  parses("starts_with = 1", "(= [starts_with] 1)");
  parses("x = 1", "(= [x] 1)");
  parses("nan is nan", "(isnan [nan])");
}

static void test_expr_parse__and_binds_closer_than_or_and_not_closest(void **state) {
  (void)state;
  parses("a or b and not c", "(or (= [a] bool true) (and (= [b] bool true) (not (= [c] bool true))))");
  parses("(a or b) and c", "(and (or (= [a] bool true) (= [b] bool true)) (= [c] bool true))");
  parses("not a = 1 and b", "(and (not (= [a] 1)) (= [b] bool true))");
  parses("NOT NOT (a)", "(not (not (= [a] bool true)))");
  parses("a and b and c", "(and (= [a] bool true) (= [b] bool true) (= [c] bool true))");
}

static void test_expr_parse__the_word_operators_are_known(void **state) {
  (void)state;
  parses("a is null", "(isnull [a])");
  parses("a IS NOT NULL", "(notnull [a])");
  parses("a is nan", "(isnan [a])");
  parses("a is not nan", "(notnan [a])");
  parses("a in (1, 2,null)", "(in [a] 1 2 null)");
  parses("a not in ('x')", "(not (in [a] 'x))");
  parses("a between 1 and 2 and b", "(and (and (>= [a] 1) (<= [a] 2)) (= [b] bool true))");
  parses("a not between 1 and 2", "(not (and (>= [a] 1) (<= [a] 2)))");
  parses("5 between a and b", "(and (<= [a] 5) (>= [b] 5))");
  parses("starts_with(a.b, 'x')", "(starts [a.b] 'x)");
  parses("not STARTS_WITH ( a , 'x' )", "(not (starts [a] 'x))");
  parses("true", "(true)");
  parses("false or null", "(or (false) (null))");
}

static void test_expr_parse__errors_point_at_the_byte(void **state) {
  (void)state;
  refuses("", 0, "the expression ends");
  refuses("   ", 3, "the expression ends");
  refuses("a =", 3, "the expression ends");
  refuses("a = = 1", 4, "expected");
  refuses("a == 1", 3, "expected");
  refuses("a = 1 b", 6, "and, or or the end");
  refuses("a = 1)", 5, "expected");
  refuses("(a = 1", 6, "expected");
  refuses("a & b", 2, "no meaning");
  refuses("a = 'x", 4, "not closed");
  refuses("a = 'x''", 4, "not closed");
  refuses("\"a = 1", 0, "not closed");
  refuses("a = x'0'", 4, "hexadecimal");
  refuses("a = x'zz'", 4, "hexadecimal");
  refuses("a = 1abc", 5, "number");
  refuses("a = 1.", 5, "expected");
  refuses("a. = 1", 3, "a name");
  refuses("and = 1", 0, "keyword");
  refuses("a is 1", 5, "null, nan or not");
  refuses("a is not 1", 9, "null or nan");
  refuses("a in 1", 5, "( expected");
  refuses("a in ()", 6, "a value");
  refuses("a in (1 2)", 8, ", or )");
  refuses("a in (b)", 6, "a value");
  refuses("a not = 1", 6, "in or between");
  refuses("a between 1 or 2", 12, "and expected");
  refuses("1 = 1", 0, "must be a column");
  refuses("1 in (1)", 0, "a column on its left");
  refuses("1 is null", 0, "a column on its left");
  refuses("1 between 0 and 2", 0, "must be a column");
  refuses("1", 1, "comparison");
  refuses("'x' or true", 4, "comparison");
  refuses("starts_with(a, 1)", 15, "a string");
  refuses("starts_with(a 'x')", 14, ", expected");
  refuses("starts_with('x', a)", 12, "a column");
  refuses("not", 3, "the expression ends");
}

static void test_expr_parse__text_that_is_not_utf8_is_refused(void **state) {
  (void)state;
  refuses("a = '\xff'", 0, "UTF-8");
}

static void repeat(char *out, const char *what, size_t n) {
  size_t k = strlen(what);
  for (size_t i = 0; i < n; i++) memcpy(out + i * k, what, k);
  out[n * k] = 0;
}

static void test_expr_parse__depth_is_bounded_but_not_the_length(void **state) {
  (void)state;
  fixture f = fixture_new();
  static char text[800000];
  bl_error err = BL_ERROR_INIT;
  bl_expr *e;
  repeat(text, "(", 100000);
  test_status(BL_USAGE, bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  test_says(&err, "nested");
  assert_int_equal(err.position, 200);
  err = (bl_error)BL_ERROR_INIT;
  repeat(text, "not ", 100000);
  test_status(BL_USAGE, bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  test_says(&err, "nested");
  err = (bl_error)BL_ERROR_INIT;
  repeat(text, "a=1 or ", 100000);
  memcpy(text + 700000, "b", 2);
  test_ok(bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  assert_int_equal(e->n_args, 100001);
  repeat(text, "((a)) and ", 10000); /* depth counts what is open, not what was */
  memcpy(text + 100000, "b", 2);
  test_ok(bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  assert_int_equal(e->n_args, 10001);
  fixture_free(&f);
}

static void test_expr_parse__long_lists_and_names_take_memory_in_proportion(void **state) {
  (void)state;
  fixture f = fixture_new();
  static char text[900000];
  bl_error err = BL_ERROR_INIT;
  bl_expr *e;
  memcpy(text, "a in (", 6);
  repeat(text + 6, "'abcdef',", 90000);
  memcpy(text + 6 + 810000, "'')", 4);
  test_ok(bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  assert_int_equal(e->n_literals, 90001);
  assert_true(bl_arena_bytes(f.arena) < 40 * 1000 * 1000);
  repeat(text, "a.", 200000);
  memcpy(text + 400000, "a=1", 4);
  test_ok(bl_expr_parse(f.arena, bl_str_of(text), &e, &err), &err);
  assert_int_equal(e->column.n, 400001);
  assert_true(bl_arena_bytes(f.arena) < 50 * 1000 * 1000);
  fixture_free(&f);
}

static bl_status parse_once(bl_ctx *ctx, void *user, bl_error *err) {
  bl_arena *a;
  bl_expr *e;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_expr_parse(a, bl_str_of(user), &e, err);
  bl_arena_free(a);
  return st;
}

static void test_expr_parse__failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  test_fail_each(parse_once, "not (a.b in (1, 'x''y', x'00') or starts_with(c, 'p')) and d between e and 3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr_parse__every_comparison_is_known),
      cmocka_unit_test(test_expr_parse__a_literal_on_the_left_turns_the_comparison_round),
      cmocka_unit_test(test_expr_parse__columns_compare_with_columns),
      cmocka_unit_test(test_expr_parse__all_literals_are_known),
      cmocka_unit_test(test_expr_parse__names_may_be_nested_and_quoted),
      cmocka_unit_test(test_expr_parse__type_words_are_names_unless_a_string_follows),
      cmocka_unit_test(test_expr_parse__and_binds_closer_than_or_and_not_closest),
      cmocka_unit_test(test_expr_parse__the_word_operators_are_known),
      cmocka_unit_test(test_expr_parse__errors_point_at_the_byte),
      cmocka_unit_test(test_expr_parse__text_that_is_not_utf8_is_refused),
      cmocka_unit_test(test_expr_parse__depth_is_bounded_but_not_the_length),
      cmocka_unit_test(test_expr_parse__long_lists_and_names_take_memory_in_proportion),
      cmocka_unit_test(test_expr_parse__failing_allocations_leave_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
