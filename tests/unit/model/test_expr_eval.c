/* Rows by a bound predicate: three-valued logic, and a naive twin that works on the unbound tree. */
#include "expr_random.h"

static world_row only(bl_field *f, bl_value v) {
  world_row r;
  for (size_t i = 0; i < R_COLUMNS; i++) r.v[i] = v_null(BL_INT);
  r.v[f->id - 1] = v;
  return r;
}

static void test_expr_eval__null_makes_comparisons_unknown(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  world_row null = only(&w.fields[0], v_null(BL_INT)), five = only(&w.fields[0], v_i(BL_INT, 5));
  static const struct {
    const char *text;
    int null, five;
  } cases[] = {{"i = 5", -1, 1},
               {"i != 5", -1, 0},
               {"i < 5", -1, 0},
               {"i <= 5", -1, 1},
               {"i in (4, 5)", -1, 1},
               {"i in (4, 6)", -1, 0},
               {"i in (4, 6, null)", -1, -1},
               {"i in (4, 5, null)", -1, 1},
               {"i not in (4, 6)", -1, 1},
               {"i is null", 1, 0},
               {"i is not null", 0, 1},
               {"i = 5 or true", 1, 1},
               {"i = 5 and false", 0, 0},
               {"i = 5 or null", -1, 1},
               {"i = 5 and null", -1, -1},
               {"i = i2", -1, -1},
               {"i = i", -1, 1},
               {"not (i = 5 and i2 = 1)", -1, -1},
               {"not (i = 5 or i2 = 1)", -1, 0}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_expr *e = bound(&w, cases[i].text);
    if (bl_expr_eval(e, get_from_row, &null) != cases[i].null) fail_msg("%s of null", cases[i].text);
    if (bl_expr_eval(e, get_from_row, &five) != cases[i].five) fail_msg("%s of 5", cases[i].text);
  }
  fixture_free(&w.f);
}

static void test_expr_eval__nan_answers_as_ieee_does(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  bl_field *d = &w.fields[4];
  world_row nan = only(d, v_double(NAN)), zero = only(d, v_double(-0.0)), null = only(d, v_null(BL_DOUBLE));
  static const struct {
    const char *text;
    int nan, zero, null;
  } cases[] = {{"d = 0", 0, 1, -1},
               {"d != 0", 1, 0, -1},
               {"d < 1", 0, 1, -1},
               {"d >= 1", 0, 0, -1},
               {"not d < 1", 1, 0, -1},
               {"not d >= 1", 1, 1, -1},
               {"d is nan", 1, 0, -1},
               {"d is not nan", 0, 1, -1},
               {"d in (0, 1)", 0, 1, -1},
               {"d not in (0, 1)", 1, 0, -1},
               {"d = 'NaN'", 0, 0, 0},
               {"d != 'NaN'", 1, 1, 0},
               {"d between 0 and 1", 0, 1, -1},
               {"d not between 0 and 1", 1, 0, -1},
               {"d = d", 0, 1, -1},
               {"d != d", 1, 0, -1}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_expr *e = bound(&w, cases[i].text);
    if (bl_expr_eval(e, get_from_row, &nan) != cases[i].nan) fail_msg("%s of NaN", cases[i].text);
    if (bl_expr_eval(e, get_from_row, &zero) != cases[i].zero) fail_msg("%s of zero", cases[i].text);
    if (bl_expr_eval(e, get_from_row, &null) != cases[i].null) fail_msg("%s of null", cases[i].text);
  }
  fixture_free(&w.f);
}

/* ---- the twin: numbers as long double, NOT where it stands ---- */

static bool number_of(const bl_value *v, long double *out) {
  if (v->null) return false;
  switch (v->kind) {
  case BL_FLOAT: *out = v->u.f; return true;
  case BL_DOUBLE: *out = v->u.d; return true;
  case BL_DECIMAL: *out = (long double)v->u.dec / 100; return true;
  default: *out = v->u.i; return true;
  }
}

static int naive_compare(bl_expr_op op, long double a, long double b) {
  switch (op) {
  case BL_E_EQ: return a == b;
  case BL_E_NE: return !(a == b);
  case BL_E_LT: return a < b;
  case BL_E_LE: return a <= b;
  case BL_E_GT: return a > b;
  default: return a >= b;
  }
}

static int naive_leaf(const world *w, const bl_expr *e, const world_row *r) {
  long double a, b;
  const bl_field *f = bl_schema_find_name(&w->schema, e->column);
  bool known = number_of(&r->v[f->id - 1], &a), unknown = !known;
  if (e->op == BL_E_IS_NULL || e->op == BL_E_NOT_NULL) return known == (e->op == BL_E_NOT_NULL);
  if (!known) return -1;
  if (e->op == BL_E_IS_NAN || e->op == BL_E_NOT_NAN) return (a != a) == (e->op == BL_E_IS_NAN);
  if (e->op == BL_E_COLUMN_CMP) {
    f = bl_schema_find_name(&w->schema, e->column2);
    return number_of(&r->v[f->id - 1], &b) ? naive_compare(e->cmp, a, b) : -1;
  }
  for (size_t i = 0; i < e->n_literals; i++) {
    if (e->literals[i].kind == BL_L_NULL) {
      unknown = true;
      continue;
    }
    b = strtold(e->literals[i].text.p, NULL);
    if (e->op != BL_E_IN) return naive_compare(e->op, a, b);
    if (a == b) return 1;
  }
  return unknown ? -1 : 0;
}

static int naive(const world *w, const bl_expr *e, const world_row *r) {
  bool any = e->op == BL_E_OR;
  int result = !any;
  switch (e->op) {
  case BL_E_NOT: result = naive(w, e->args[0], r); return result < 0 ? -1 : !result;
  case BL_E_AND:
  case BL_E_OR:
    for (size_t i = 0; i < e->n_args; i++) {
      int v = naive(w, e->args[i], r);
      if (v == any) return any;
      if (v < 0) result = -1;
    }
    return result;
  default: return naive_leaf(w, e, r);
  }
}

static void test_expr_eval__bound_numbers_agree_with_a_naive_twin(void **state) {
  (void)state;
  static const int columns[] = {0, 2, 4, 6}; /* int, long, double, decimal */
  world w;
  world_new(&w, 20260131);
  for (int round = 0; round < 40000; round++) {
    world_row row;
    const char *text = rnd_text(&w, columns[rnd(&w) % BL_LEN(columns)], 2);
    if (strstr(text, "e-50") == NULL) { /* a long double has no smaller neighbour there */
      bl_expr *e, *b = bound(&w, text);
      bl_error err = BL_ERROR_INIT;
      test_ok(bl_expr_parse(w.f.arena, bl_str_of(text), &e, &err), &err);
      for (int i = 0; i < 5; i++) {
        rnd_row(&w, &row, 15);
        bool expected = naive(&w, e, &row) == 1;
        if ((bl_expr_eval(b, get_from_row, &row) == 1) != expected) fail_msg("round %d: %s", round, text);
      }
    }
    if (round % 100 == 99) world_reset(&w);
  }
  fixture_free(&w.f);
}

static void test_expr_eval__what_is_printed_parses_and_binds_to_the_same(void **state) {
  (void)state;
  world w;
  world_new(&w, 555);
  for (int round = 0; round < 20000; round++) {
    const char *text = rnd_text(&w, -1, 2), *printed[2];
    bl_expr *e[2];
    for (int i = 0; i < 2; i++) {
      bl_buf b;
      bl_buf_init(&b, w.f.ctx, BL_BUF_MAX);
      e[i] = bound(&w, i ? printed[0] : text);
      bl_expr_print(&b, e[i]);
      printed[i] = fixture_text(&w.f, &b);
    }
    if (strcmp(printed[0], printed[1])) fail_msg("%s\nonce:  %s\ntwice: %s", text, printed[0], printed[1]);
    world_row row;
    rnd_row(&w, &row, 15);
    if (bl_expr_eval(e[0], get_from_row, &row) != bl_expr_eval(e[1], get_from_row, &row)) fail_msg("%s", text);
    if (round % 100 == 99) world_reset(&w);
  }
  fixture_free(&w.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr_eval__null_makes_comparisons_unknown),
      cmocka_unit_test(test_expr_eval__nan_answers_as_ieee_does),
      cmocka_unit_test(test_expr_eval__bound_numbers_agree_with_a_naive_twin),
      cmocka_unit_test(test_expr_eval__what_is_printed_parses_and_binds_to_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
