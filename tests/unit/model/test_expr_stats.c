/* Predicates on statistics: by hand, and against brute force over random rows. */
#include "expr_random.h"

/* ---- by hand ---- */

static bool give(void *stats, const bl_field *f, bl_stats *out) {
  (void)f;
  if (!stats) return false;
  *out = *(bl_stats *)stats;
  return true;
}

static void judges(const char *text, const bl_stats *s, bool may, bool must) {
  world w;
  world_new(&w, 1);
  bl_expr *e = bound(&w, text);
  if (bl_expr_may_match(e, give, (void *)s) != may) fail_msg("%s: may", text);
  if (bl_expr_must_match(e, give, (void *)s) != must) fail_msg("%s: must", text);
  fixture_free(&w.f);
}

static bl_stats between(bl_value low, bl_value high, int64_t nulls) {
  return (bl_stats){
      .rows = 10, .nulls = nulls, .nans = 0, .has_lower = true, .has_upper = true, .lower = low, .upper = high};
}

static void test_expr_stats__bounds_decide_comparisons(void **state) {
  (void)state;
  bl_stats s = between(v_i(BL_INT, 5), v_i(BL_INT, 8), 0);
  judges("i = 4", &s, false, false);
  judges("i = 5", &s, true, false);
  judges("i != 4", &s, true, true);
  judges("i != 5", &s, true, false);
  judges("i < 5", &s, false, false);
  judges("i < 6", &s, true, false);
  judges("i < 9", &s, true, true);
  judges("i <= 8", &s, true, true);
  judges("i > 8", &s, false, false);
  judges("i >= 5", &s, true, true);
  judges("i in (1, 4, 9)", &s, false, false);
  judges("i in (1, 7, 9)", &s, true, false);
  judges("i not in (1, 4, 9)", &s, true, true);
  judges("i not in (1, 7, 9)", &s, true, false);
  judges("i is null", &s, false, false);
  judges("i is not null", &s, true, true);
  judges("i < 6 and i > 7", &s, true, false);
  judges("i < 5 or i > 8", &s, false, false);
  judges("true", &s, true, true);
  judges("null", &s, false, false);
}

static void test_expr_stats__equal_bounds_are_one_value(void **state) {
  (void)state;
  bl_stats s = between(v_i(BL_INT, 5), v_i(BL_INT, 5), 0);
  judges("i = 5", &s, true, true);
  judges("i != 5", &s, false, false);
  judges("i in (4, 5)", &s, true, true);
  judges("i not in (4, 5)", &s, false, false);
  s.nulls = 3;
  judges("i = 5", &s, true, false);
  judges("i != 5", &s, false, false);
  s.nulls = BL_NONE;
  judges("i = 5", &s, true, false);
  judges("i is null", &s, true, false);
}

/* B74: what is missing is unknown. */
static void test_expr_stats__unknown_stays_unknown(void **state) {
  (void)state;
  static const char *const texts[] = {
      "i = 5",         "i != 5",   "i < 5",        "i in (1, 2)",         "i not in (1, 2)",         "i is null",
      "i is not null", "d is nan", "d is not nan", "starts_with(s, 'x')", "not starts_with(s, 'x')", "i < l",
      "d != d2"};
  bl_stats nothing = {.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE}, rows = nothing,
           odd = {.rows = 5, .nulls = 9, .nans = 12};
  rows.rows = 5;
  for (size_t i = 0; i < BL_LEN(texts); i++) {
    judges(texts[i], NULL, true, false);
    judges(texts[i], &nothing, true, false);
    judges(texts[i], &rows, true, false);
    judges(texts[i], &odd, true, false); /* more nulls than rows: not to be believed */
  }
  bl_stats one_side = nothing;
  one_side.has_upper = true;
  one_side.upper = v_i(BL_INT, 8);
  judges("i > 8", &one_side, false, false);
  judges("i > 7", &one_side, true, false);
  judges("i < 1", &one_side, true, false);
  judges("i = 9", &one_side, false, false);
}

/* B123 */
static void test_expr_stats__inverted_nan_and_foreign_bounds_are_ignored(void **state) {
  (void)state;
  bl_stats s = between(v_i(BL_INT, 8), v_i(BL_INT, 5), 0);
  judges("i = 4", &s, true, false);
  judges("i > 100", &s, true, false);
  s = between(v_double(NAN), v_double(5), 0);
  judges("d = 4", &s, true, false);
  judges("d > 5", &s, false, false);
  s = between(v_double(1), v_double(NAN), 0);
  judges("d > 100", &s, true, false);
  judges("d < 1", &s, false, false);
  s = between(v_str("a"), v_str("b"), 0);
  judges("i = 4", &s, true, false);
  s = between(v_null(BL_INT), v_null(BL_INT), 0);
  judges("i = 4", &s, true, false);
}

static void test_expr_stats__columns_of_nulls_match_only_is_null(void **state) {
  (void)state;
  bl_stats s = {.rows = 4, .nulls = 4, .nans = 0};
  judges("i is null", &s, true, true);
  judges("i is not null", &s, false, false);
  judges("i != 5", &s, false, false);
  judges("i not in (5, 6)", &s, false, false);
  judges("i < l", &s, false, false);
  judges("not starts_with(s, 'x')", &s, false, false);
  s = (bl_stats){.rows = BL_NONE, .nulls = BL_NONE, .nans = BL_NONE, .all_same = true};
  judges("i is null", &s, true, true);
  judges("i = 5", &s, false, false);
}

static void test_expr_stats__no_rows_match_nothing(void **state) {
  (void)state;
  bl_stats s = {.rows = 0, .nulls = 0, .nans = 0};
  judges("i is null", &s, false, true);
  judges("i = 5", &s, false, true);
  judges("i < l", &s, false, true);
}

static void test_expr_stats__nan_rows_match_only_unequal(void **state) {
  (void)state;
  bl_stats s = between(v_double(1), v_double(1), 0);
  s.nans = 2;
  judges("d != 1", &s, true, false);
  judges("d = 1", &s, true, false);
  judges("d >= 1", &s, true, false);
  judges("not d < 1", &s, true, false); /* true of each row, but of no one side of its or */
  judges("not d = 1", &s, true, false);
  judges("d not in (1, 2)", &s, true, false);
  judges("d > 1", &s, false, false);
  judges("d is nan", &s, true, false);
  s.nans = BL_NONE;
  judges("d != 1", &s, true, false);
  judges("d <= 1", &s, true, false);
  judges("d is not nan", &s, true, false);
  s = (bl_stats){.rows = 3, .nulls = 0, .nans = 3};
  judges("d is nan", &s, true, true);
  judges("d < 1", &s, false, false);
  judges("d != 1", &s, true, true);
  judges("d is not nan", &s, false, false);
  judges("d < d2", &s, false, false);
  judges("d != d2", &s, true, true);
  s = (bl_stats){.all_same = true, .has_lower = true, .lower = v_double(NAN)};
  judges("d is nan", &s, false, true); /* rows 0 */
  s.rows = 1;
  judges("d is nan", &s, true, true);
  judges("d = 1", &s, false, false);
}

static void test_expr_stats__both_zeros_are_equal(void **state) {
  (void)state;
  bl_stats s = between(v_double(-0.0), v_double(0.0), 0);
  judges("d = 0", &s, true, true);
  judges("d != 0", &s, false, false);
  judges("d < 0", &s, false, false);
  judges("d in (0, 5)", &s, true, true);
  s = between(v_double(0.0), v_double(-0.0), 0); /* not inverted */
  judges("d = 1", &s, false, false);
  judges("d >= 0", &s, true, true);
}

static void test_expr_stats__prefixes_look_at_both_bounds(void **state) {
  (void)state;
  bl_stats s = between(v_str("abc"), v_str("abx"), 0);
  judges("starts_with(s, 'ab')", &s, true, true);
  judges("not starts_with(s, 'ab')", &s, false, false);
  judges("starts_with(s, 'abd')", &s, true, false);
  judges("not starts_with(s, 'abd')", &s, true, false);
  judges("starts_with(s, 'abcdef')", &s, true, false);
  judges("starts_with(s, 'b')", &s, false, false);
  judges("not starts_with(s, 'b')", &s, true, true);
  judges("starts_with(s, 'aa')", &s, false, false);
  judges("starts_with(s, 'abxy')", &s, false, false);
  judges("not starts_with(s, 'abxy')", &s, true, true);
  s = between(v_str("ab"), v_str("b"), 0);
  judges("starts_with(s, 'ab')", &s, true, false);
  judges("starts_with(s, 'aa')", &s, false, false);
  judges("not starts_with(s, 'ab')", &s, true, false);
}

/* ---- against brute force ---- */

typedef struct made_stats {
  bl_stats column[R_COLUMNS];
} made_stats;

static bool give_column(void *user, const bl_field *f, bl_stats *out) {
  *out = ((made_stats *)user)->column[f->id - 1];
  return true;
}

static void make_stats(world *w, const world_row *rows, size_t n, made_stats *m) {
  for (size_t c = 0; c < R_COLUMNS; c++) {
    bl_stats *s = &m->column[c];
    const bl_value *low = extreme(rows, n, c, -1), *high = extreme(rows, n, c, 1);
    *s = (bl_stats){.rows = (int64_t)n, .nulls = count_of(rows, n, c, false), .nans = count_of(rows, n, c, true)};
    if (chance(w, 10)) s->rows = BL_NONE;
    if (chance(w, 10)) s->nulls = BL_NONE;
    if (chance(w, 10)) s->nans = BL_NONE;
    if (low && chance(w, 90)) {
      s->has_lower = true;
      s->lower = chance(w, 30) ? cut_bound(w, low, false) : *low;
    }
    if (high && chance(w, 90)) {
      s->has_upper = true;
      s->upper = chance(w, 30) ? cut_bound(w, high, true) : *high;
    }
  }
}

static void test_expr_stats__random_predicates_agree_with_brute_force(void **state) {
  (void)state;
  world w;
  world_new(&w, 4711);
  int pruned = 0, none = 0, proven = 0, all = 0;
  for (int round = 0; round < 40000; round++) {
    world_row rows[5];
    made_stats stats;
    size_t n = 1 + rnd(&w) % 5;
    int nulls = chance(&w, 50) ? 0 : 30;
    for (size_t i = 0; i < n; i++) rnd_row(&w, &rows[i], nulls);
    make_stats(&w, rows, n, &stats);
    const char *text = rnd_text(&w, -1, 2);
    bl_expr *e = bound(&w, text);
    size_t k = matching(e, rows, n);
    bool may = bl_expr_may_match(e, give_column, &stats), must = bl_expr_must_match(e, give_column, &stats);
    if (k > 0 && !may) fail_msg("round %d: %s: pruned a matching row", round, text);
    if (k < n && must) fail_msg("round %d: %s: not all rows match", round, text);
    pruned += !may;
    none += k == 0;
    proven += must;
    all += k == n;
    if (round % 100 == 99) world_reset(&w);
  }
  assert_true(pruned * 10 > none * 6); /* and it is of use */
  assert_true(proven * 10 > all * 5);
  fixture_free(&w.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr_stats__bounds_decide_comparisons),
      cmocka_unit_test(test_expr_stats__equal_bounds_are_one_value),
      cmocka_unit_test(test_expr_stats__unknown_stays_unknown),
      cmocka_unit_test(test_expr_stats__inverted_nan_and_foreign_bounds_are_ignored),
      cmocka_unit_test(test_expr_stats__columns_of_nulls_match_only_is_null),
      cmocka_unit_test(test_expr_stats__no_rows_match_nothing),
      cmocka_unit_test(test_expr_stats__nan_rows_match_only_unequal),
      cmocka_unit_test(test_expr_stats__both_zeros_are_equal),
      cmocka_unit_test(test_expr_stats__prefixes_look_at_both_bounds),
      cmocka_unit_test(test_expr_stats__random_predicates_agree_with_brute_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
