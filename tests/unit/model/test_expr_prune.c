/* Predicates on partition tuples, field summaries and file metrics: by hand, and against brute force. */
#include "expr_random.h"

/* ---- a spec of a few fields ---- */

typedef struct spec_maker {
  bl_partition_field fields[4];
  int32_t sources[4][2];
  bl_type types[4];
  bl_partition_spec spec;
} spec_maker;

static void add_field(world *w, spec_maker *s, const char *column, const char *transform) {
  size_t i = s->spec.n_fields++;
  const bl_field *f = bl_schema_find_name(&w->schema, bl_str_of(column));
  bl_error err = BL_ERROR_INIT;
  s->sources[i][0] = f->id;
  s->fields[i] = (bl_partition_field){.source_ids = s->sources[i], .n_source_ids = 1};
  test_ok(bl_transform_parse(w->f.arena, bl_str_of(transform), &s->fields[i].transform, &err), &err);
  s->spec.fields = s->fields;
  bl_spec_types(&s->spec, &w->schema, NULL, 0, s->types);
}

static bool may(world *w, const spec_maker *s, const char *text, bl_value tuple) {
  return bl_partition_may_match(bound(w, text), &s->spec, s->types, &w->schema, &tuple, 1);
}

static bool must(world *w, const spec_maker *s, const char *text, bl_value tuple) {
  return bl_partition_must_match(bound(w, text), &s->spec, s->types, &w->schema, &tuple, 1);
}

static void test_expr_prune__identity_knows_the_value(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "l", "identity");
  assert_true(may(&w, &s, "l = 5", v_i(BL_LONG, 5)));
  assert_true(must(&w, &s, "l = 5", v_i(BL_LONG, 5)));
  assert_false(may(&w, &s, "l = 5", v_i(BL_LONG, 6)));
  assert_false(may(&w, &s, "l != 6", v_i(BL_LONG, 6)));
  assert_false(may(&w, &s, "l is null", v_i(BL_LONG, 6)));
  assert_true(may(&w, &s, "i = 6", v_i(BL_LONG, 5)));
  assert_false(must(&w, &s, "i = 6", v_i(BL_LONG, 6)));
  /* written as int, promoted since */
  assert_true(must(&w, &s, "l = 5", v_i(BL_INT, 5)));
  assert_false(may(&w, &s, "l = 5", v_i(BL_INT, 6)));
  /* null */
  assert_true(must(&w, &s, "l is null", v_null(BL_LONG)));
  assert_false(may(&w, &s, "l != 5", v_null(BL_LONG)));
  fixture_free(&w.f);
}

static void test_expr_prune__identity_of_a_date_that_became_a_timestamp_is_promoted(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "ts", "identity");
  assert_true(must(&w, &s, "ts = '1970-01-02 00:00:00'", v_i(BL_DATE, 1)));
  assert_false(may(&w, &s, "ts = '1970-01-02 00:00:01'", v_i(BL_DATE, 1)));
  assert_true(may(&w, &s, "ts = '1970-01-02 00:00:01'", v_i(BL_STRING, 1))); /* of no use */
  fixture_free(&w.f);
}

static void test_expr_prune__identity_tells_nan_from_numbers_and_joins_zeros(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "d", "identity");
  assert_true(must(&w, &s, "d is nan and d != 1", v_double(NAN)));
  assert_false(may(&w, &s, "d = 1 or d < 5 or d is not nan", v_double(NAN)));
  assert_false(may(&w, &s, "d is nan", v_double(1)));
  assert_true(must(&w, &s, "d = 0", v_double(-0.0)));
  assert_true(must(&w, &s, "d = 1", v_float(1.0f)));
  fixture_free(&w.f);
}

static void test_expr_prune__buckets_serve_equality_only(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "l", "bucket[16]");
  int64_t bucket = 2017239379 % 16; /* of 34 */
  assert_true(may(&w, &s, "l = 34", v_i(BL_INT, bucket)));
  assert_false(must(&w, &s, "l = 34", v_i(BL_INT, bucket)));
  assert_false(may(&w, &s, "l = 34", v_i(BL_INT, bucket + 1)));
  assert_true(must(&w, &s, "l != 34", v_i(BL_INT, bucket + 1)));
  assert_true(may(&w, &s, "l != 34", v_i(BL_INT, bucket)));
  assert_true(may(&w, &s, "l < 34", v_i(BL_INT, bucket + 1)));
  assert_false(may(&w, &s, "l in (34)", v_i(BL_INT, bucket + 1)));
  assert_true(may(&w, &s, "l in (34, 35, 36, 37, 38, 39, 40, 41)", v_i(BL_INT, bucket)));
  assert_false(may(&w, &s, "l is null", v_i(BL_INT, bucket)));
  assert_false(may(&w, &s, "l = 34", v_null(BL_INT)));
  fixture_free(&w.f);
}

/* A date hashes as days, a timestamp as microseconds: rows older than the promotion lie in the date's bucket. */
static void test_expr_prune__buckets_of_dates_that_became_timestamps_are_kept(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "ts", "bucket[1000]");
  bl_type date = type_of(&w.f, "date"), ts = type_of(&w.f, "timestamp");
  bl_value day = v_i(BL_DATE, 17486), instant = v_i(BL_TIMESTAMP, INT64_C(17486) * 86400000000), as_date, as_ts;
  assert_true(bl_transform_apply(&s.fields[0].transform, &date, &day, &as_date));
  assert_true(bl_transform_apply(&s.fields[0].transform, &ts, &instant, &as_ts));
  assert_true(as_date.u.i != as_ts.u.i);
  assert_true(may(&w, &s, "ts = '2017-11-16 00:00:00'", as_date));
  assert_true(may(&w, &s, "ts = '2017-11-16 00:00:00'", as_ts));
  assert_false(may(&w, &s, "ts = '2017-11-16 00:00:00'", v_i(BL_INT, as_ts.u.i == 1 || as_date.u.i == 1 ? 2 : 1)));
  assert_false(may(&w, &s, "ts = '2017-11-16 00:00:01'", as_ts));
  fixture_free(&w.f);
}

static void test_expr_prune__truncated_numbers_are_ranges(void **state) {
  (void)state;
  world w;
  spec_maker s = {0}, d = {0};
  world_new(&w, 1);
  add_field(&w, &s, "i", "truncate[10]");
  assert_true(may(&w, &s, "i = -1", v_i(BL_INT, -10)));
  assert_false(may(&w, &s, "i = 0", v_i(BL_INT, -10)));
  assert_false(may(&w, &s, "i < 10", v_i(BL_INT, 10)));
  assert_true(may(&w, &s, "i <= 10", v_i(BL_INT, 10)));
  assert_false(may(&w, &s, "i > 19", v_i(BL_INT, 10)));
  assert_true(must(&w, &s, "i between 10 and 19", v_i(BL_INT, 10)));
  /* the least values wrap to the top of the type, as Java writes them */
  assert_true(may(&w, &s, "i = -2147483648", v_i(BL_INT, 2147483646)));
  assert_false(must(&w, &s, "i > 0", v_i(BL_INT, 2147483646)));
  add_field(&w, &d, "dec", "truncate[50]");
  assert_true(must(&w, &d, "dec >= 10.50 and dec < 11", v_decimal(1050)));
  assert_false(may(&w, &d, "dec = 11", v_decimal(1050)));
  fixture_free(&w.f);
}

static void test_expr_prune__truncated_strings_are_prefixes(void **state) {
  (void)state;
  world w;
  spec_maker s = {0};
  world_new(&w, 1);
  add_field(&w, &s, "s", "truncate[2]");
  assert_true(may(&w, &s, "s = 'abc'", v_str("ab")));
  assert_true(may(&w, &s, "s > 'abz'", v_str("ab")));
  assert_true(may(&w, &s, "s <= 'ab'", v_str("ab")));
  assert_false(may(&w, &s, "s < 'ab'", v_str("ab")));
  assert_true(may(&w, &s, "s != 'ab'", v_str("ab")));
  assert_false(may(&w, &s, "s = 'acb'", v_str("ab")));
  assert_false(may(&w, &s, "s >= 'ac'", v_str("ab")));
  assert_true(must(&w, &s, "starts_with(s, 'a') and starts_with(s, 'ab')", v_str("ab")));
  assert_true(may(&w, &s, "starts_with(s, 'abc')", v_str("ab")));
  assert_false(must(&w, &s, "starts_with(s, 'abc')", v_str("ab")));
  assert_true(may(&w, &s, "not starts_with(s, 'abc')", v_str("ab")));
  assert_false(may(&w, &s, "not starts_with(s, 'ab')", v_str("ab")));
  assert_false(may(&w, &s, "starts_with(s, 'b')", v_str("ab")));
  /* shorter than the width: the whole value */
  assert_true(must(&w, &s, "s = 'a'", v_str("a")));
  assert_false(may(&w, &s, "s = 'ab'", v_str("a")));
  assert_true(may(&w, &s, "s = '\xc3\xa9\xc3\xa9x'", v_str("\xc3\xa9\xc3\xa9")));
  assert_true(must(&w, &s, "s = '\xc3\xa9'", v_str("\xc3\xa9"))); /* one code point of two bytes */
  fixture_free(&w.f);
}

static void test_expr_prune__time_units_are_ranges(void **state) {
  (void)state;
  world w;
  spec_maker year = {0}, month = {0}, day = {0}, hour = {0}, days = {0};
  world_new(&w, 1);
  add_field(&w, &year, "ts", "year");
  add_field(&w, &month, "dt", "month");
  add_field(&w, &day, "tz", "day");
  add_field(&w, &hour, "ns", "hour");
  add_field(&w, &days, "dt", "day");
  assert_true(must(&w, &year, "ts >= '2017-01-01' and ts < '2018-01-01'", v_i(BL_INT, 47)));
  assert_false(may(&w, &year, "ts < '2017-01-01 00:00:00' or ts >= '2018-01-01'", v_i(BL_INT, 47)));
  assert_true(must(&w, &month, "dt >= '2017-11-01' and dt <= '2017-11-30'", v_i(BL_INT, 574)));
  assert_false(may(&w, &month, "dt = '2017-12-01'", v_i(BL_INT, 574)));
  assert_false(may(&w, &day, "tz >= '1970-01-03'", v_i(BL_DATE, 1)));
  assert_true(may(&w, &day, "tz > '1970-01-02T23:59:59.999998Z'", v_i(BL_DATE, 1)));
  assert_false(
      may(&w, &day, "tz > '1970-01-02T23:59:59.999999Z'", v_i(BL_INT, 1))); /* day as int, as old writers did */
  assert_true(must(&w, &hour, "ns >= '1970-01-01 01:00' and ns < '1970-01-01 02:00'", v_i(BL_INT, 1)));
  assert_true(must(&w, &days, "dt = '1970-01-02'", v_i(BL_DATE, 1)));
  fixture_free(&w.f);
}

/* Writers up to 0.10 divided times before 1970 towards zero. */
static void test_expr_prune__units_at_or_below_zero_also_hold_the_unit_before(void **state) {
  (void)state;
  world w;
  spec_maker day = {0};
  world_new(&w, 1);
  add_field(&w, &day, "ts", "day");
  assert_true(may(&w, &day, "ts = '1969-12-31 10:00:00'", v_i(BL_DATE, -1)));
  assert_true(may(&w, &day, "ts = '1969-12-31 10:00:00'", v_i(BL_DATE, 0)));
  assert_false(may(&w, &day, "ts = '1969-12-31 10:00:00'", v_i(BL_DATE, 1)));
  assert_true(may(&w, &day, "ts < '1970-01-01'", v_i(BL_DATE, 0)));
  assert_true(may(&w, &day, "ts = '1969-12-30 10:00:00'", v_i(BL_DATE, -1)));
  assert_false(may(&w, &day, "ts = '1969-12-29 10:00:00'", v_i(BL_DATE, -1)));
  assert_false(may(&w, &day, "ts >= '1970-01-01'", v_i(BL_DATE, -1)));
  assert_false(must(&w, &day, "ts >= '1970-01-01'", v_i(BL_DATE, 0)));
  fixture_free(&w.f);
}

static void test_expr_prune__years_at_the_ends_of_time_do_not_overflow(void **state) {
  (void)state;
  world w;
  spec_maker year = {0}, hour = {0};
  world_new(&w, 1);
  add_field(&w, &year, "ns", "year");
  add_field(&w, &hour, "ts", "hour");
  static const int64_t extremes[] = {INT32_MIN, INT32_MAX, INT64_MAX, INT64_MIN, 292, -293};
  for (size_t i = 0; i < BL_LEN(extremes); i++) {
    (void)may(&w, &year, "ns = '1970-01-01' or ns < '1971-01-01'", v_i(BL_INT, extremes[i]));
    (void)may(&w, &hour, "ts = '1970-01-01'", v_i(BL_INT, extremes[i]));
  }
  assert_true(may(&w, &year, "ns > '2262-04-01'", v_i(BL_INT, 292)));
  fixture_free(&w.f);
}

static void test_expr_prune__what_is_not_understood_prunes_nothing(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  static const char *const transforms[] = {"void", "zorder", "bucket[x]"};
  for (size_t i = 0; i < BL_LEN(transforms); i++) {
    spec_maker s = {0};
    add_field(&w, &s, "i", transforms[i]);
    assert_true(may(&w, &s, "i = 5", v_i(BL_INT, 4)));
    assert_true(may(&w, &s, "i = 5", v_null(BL_INT)));
    assert_false(must(&w, &s, "i is null", v_null(BL_INT)));
  }
  spec_maker s = {0};
  add_field(&w, &s, "i", "identity");
  s.sources[0][1] = 2;
  s.fields[0].n_source_ids = 2; /* a transform of two columns */
  assert_true(may(&w, &s, "i = 5 and i2 = 5", v_i(BL_INT, 4)));
  s.fields[0].n_source_ids = 1;
  assert_true(bl_partition_may_match(bound(&w, "i = 5"), &s.spec, s.types, &w.schema, NULL, 0)); /* tuple missing */
  assert_false(may(&w, &s, "i = 5", v_i(BL_INT, 4)));
  fixture_free(&w.f);
}

/* ---- against brute force ---- */

static const char *const columns_and_transforms[][2] = {{"i", "identity"},
                                                        {"i", "bucket[3]"},
                                                        {"i", "truncate[3]"},
                                                        {"l", "identity"},
                                                        {"l", "bucket[3]"},
                                                        {"l", "truncate[5]"},
                                                        {"f", "identity"},
                                                        {"d", "identity"},
                                                        {"dec", "identity"},
                                                        {"dec", "bucket[3]"},
                                                        {"dec", "truncate[100]"},
                                                        {"dt", "identity"},
                                                        {"dt", "bucket[3]"},
                                                        {"dt", "year"},
                                                        {"dt", "month"},
                                                        {"dt", "day"},
                                                        {"t", "identity"},
                                                        {"t", "bucket[2]"},
                                                        {"ts", "identity"},
                                                        {"ts", "bucket[3]"},
                                                        {"ts", "year"},
                                                        {"ts", "month"},
                                                        {"ts", "day"},
                                                        {"ts", "hour"},
                                                        {"tz", "day"},
                                                        {"tz", "hour"},
                                                        {"ns", "year"},
                                                        {"ns", "month"},
                                                        {"ns", "day"},
                                                        {"ns", "hour"},
                                                        {"ns", "bucket[3]"},
                                                        {"s", "identity"},
                                                        {"s", "bucket[3]"},
                                                        {"s", "truncate[1]"},
                                                        {"s", "truncate[2]"},
                                                        {"u", "identity"},
                                                        {"u", "bucket[3]"},
                                                        {"fx", "identity"},
                                                        {"fx", "bucket[3]"},
                                                        {"bin", "identity"},
                                                        {"bin", "bucket[3]"},
                                                        {"bin", "truncate[1]"},
                                                        {"b", "identity"},
                                                        {"i", "void"},
                                                        {"s", "unheard_of"}};

static int random_spec(world *w, spec_maker *s) {
  *s = (spec_maker){0};
  const char *const *c = columns_and_transforms[rnd(w) % BL_LEN(columns_and_transforms)];
  add_field(w, s, c[0], c[1]);
  int column = s->sources[0][0] - 1;
  if (chance(w, 30)) {
    c = columns_and_transforms[rnd(w) % BL_LEN(columns_and_transforms)];
    add_field(w, s, c[0], c[1]);
  }
  return column;
}

/* The partition value of a row; `old`: as writers that divide towards zero had it. */
static bl_value partition_value(const world *w, const spec_maker *s, size_t i, const world_row *r, bool old) {
  const bl_transform *t = &s->fields[i].transform;
  int32_t column = s->sources[i][0] - 1;
  bl_value out = v_null(BL_INT);
  if (!bl_transform_apply(t, &w->fields[column].type, &r->v[column], &out)) return v_null(BL_INT);
  bool time = t->kind == BL_T_YEAR || t->kind == BL_T_MONTH || t->kind == BL_T_DAY || t->kind == BL_T_HOUR;
  if (old && time && !out.null && out.u.i < 0) out.u.i++;
  return out;
}

static void random_tuple_round(world *w, int round, int *pruned, int *none) {
  spec_maker s;
  world_row rows[40];
  bl_value tuple[4], other[4];
  size_t n = 0;
  int column = random_spec(w, &s), nulls = chance(w, 60) ? 0 : 30;
  bool old = chance(w, 30);
  for (int tries = 0; tries < 40; tries++) {
    rnd_row(w, &rows[n], nulls);
    bl_value *to = n == 0 ? tuple : other;
    for (size_t i = 0; i < s.spec.n_fields; i++) to[i] = partition_value(w, &s, i, &rows[n], old);
    n += n == 0 || bl_tuple_same(tuple, s.spec.n_fields, other, s.spec.n_fields);
  }
  const char *text = rnd_text(w, chance(w, 80) ? column : -1, 1);
  bl_expr *e = bound(w, text);
  size_t k = matching(e, rows, n);
  bool may_be = bl_partition_may_match(e, &s.spec, s.types, &w->schema, tuple, s.spec.n_fields);
  bool must_be = bl_partition_must_match(e, &s.spec, s.types, &w->schema, tuple, s.spec.n_fields);
  const char *transform = s.fields[0].transform.text.p;
  if (k > 0 && !may_be) fail_msg("round %d: %s by %s: pruned a matching row", round, text, transform);
  if (k < n && must_be) fail_msg("round %d: %s by %s: not all rows match", round, text, transform);
  *pruned += !may_be;
  *none += k == 0;
}

static void test_expr_prune__tuples_agree_with_brute_force(void **state) {
  (void)state;
  world w;
  int pruned = 0, none = 0;
  world_new(&w, 815);
  for (int round = 0; round < 20000; round++) {
    random_tuple_round(&w, round, &pruned, &none);
    if (round % 50 == 49) world_reset(&w);
  }
  assert_true(pruned * 10 > none * 4);
  fixture_free(&w.f);
}

static bl_str encoded(world *w, const bl_type *t, const bl_value *v) {
  bl_buf b;
  bl_error err = BL_ERROR_INIT;
  bl_buf_init(&b, w->f.ctx, BL_BUF_MAX);
  test_ok(bl_value_to_bytes(t, v, &b, &err), &err);
  bl_str s = bl_arena_str(w->f.arena, (bl_str){b.p ? (const char *)b.p : "", b.n});
  bl_buf_free(&b);
  return s;
}

static bl_field_summary summary_of(world *w, const bl_type *t, const bl_value *values, size_t n) {
  bl_field_summary s = {.has_nan = chance(w, 80)};
  const bl_value *low = NULL, *high = NULL;
  for (size_t i = 0; i < n; i++) {
    const bl_value *v = &values[i];
    s.contains_null = s.contains_null || v->null;
    s.contains_nan = s.contains_nan || bl_value_is_nan(v);
    if (!is_number(v)) continue;
    if (!low || bl_value_cmp(v, low) < 0) low = v;
    if (!high || bl_value_cmp(v, high) > 0) high = v;
  }
  if (low) s.lower = encoded(w, t, low);
  if (high) s.upper = encoded(w, t, high);
  return s;
}

static void random_summary_round(world *w, int round, int *pruned, int *none) {
  spec_maker s;
  world_row rows[4];
  bl_value values[4];
  bl_field_summary sums[4] = {0};
  size_t n = 1 + rnd(w) % 4;
  int column = random_spec(w, &s), nulls = chance(w, 60) ? 0 : 30;
  bool old = chance(w, 30);
  for (size_t i = 0; i < n; i++) rnd_row(w, &rows[i], nulls);
  for (size_t i = 0; i < s.spec.n_fields; i++) {
    if (s.types[i].kind == BL_KIND_UNKNOWN) continue;
    for (size_t k = 0; k < n; k++) values[k] = partition_value(w, &s, i, &rows[k], old);
    sums[i] = summary_of(w, &s.types[i], values, n);
  }
  const char *text = rnd_text(w, chance(w, 80) ? column : -1, 1);
  bl_expr *e = bound(w, text);
  size_t k = matching(e, rows, n);
  bool may_be = bl_summaries_may_match(e, &s.spec, s.types, &w->schema, sums, s.spec.n_fields);
  if (k > 0 && !may_be)
    fail_msg("round %d: %s by %s: pruned a matching row", round, text, s.fields[0].transform.text.p);
  *pruned += !may_be;
  *none += k == 0;
}

static void test_expr_prune__summaries_agree_with_brute_force(void **state) {
  (void)state;
  world w;
  int pruned = 0, none = 0;
  world_new(&w, 333);
  for (int round = 0; round < 30000; round++) {
    random_summary_round(&w, round, &pruned, &none);
    if (round % 50 == 49) world_reset(&w);
  }
  assert_true(pruned * 10 > none * 3);
  fixture_free(&w.f);
}

static void test_expr_prune__summaries_with_missing_parts_prune_little(void **state) {
  (void)state;
  world w;
  spec_maker s = {0}, d = {0};
  world_new(&w, 1);
  add_field(&w, &s, "i", "identity");
  add_field(&w, &d, "d", "identity");
  bl_field_summary none = {0}, nulls = {.contains_null = true},
                   short_ = {.lower = BL_STR("\1\0"), .upper = BL_STR("\1\0")};
  bl_expr *eq = bound(&w, "i = 5"), *null = bound(&w, "i is null"), *deq = bound(&w, "d = 5");
  assert_true(bl_summaries_may_match(eq, &s.spec, s.types, &w.schema, &none, 1));
  assert_false(bl_summaries_may_match(null, &s.spec, s.types, &w.schema, &none, 1));
  assert_false(bl_summaries_may_match(eq, &s.spec, s.types, &w.schema, &nulls, 1)); /* all null */
  assert_true(bl_summaries_may_match(null, &s.spec, s.types, &w.schema, &nulls, 1));
  assert_true(bl_summaries_may_match(deq, &d.spec, d.types, &w.schema, &nulls, 1)); /* or NaN: then = is false, … */
  assert_true(bl_summaries_may_match(bound(&w, "d != 5"), &d.spec, d.types, &w.schema, &nulls, 1));
  assert_true(bl_summaries_may_match(eq, &s.spec, s.types, &w.schema, &short_, 1));
  assert_true(bl_summaries_may_match(eq, &s.spec, s.types, &w.schema, NULL, 0));
  assert_true(bl_summaries_may_match(eq, &s.spec, s.types, &w.schema, &none, 0));
  fixture_free(&w.f);
}

/* ---- file metrics ---- */

static void make_metrics(world *w, const world_row *rows, size_t n, bl_column_metrics *m, bl_data_file *f) {
  *f = (bl_data_file){.record_count = (int64_t)n, .metrics = m};
  for (size_t c = 0; c < R_COLUMNS; c++) {
    if (chance(w, 5)) continue;
    const bl_value *low = extreme(rows, n, c, -1), *high = extreme(rows, n, c, 1);
    bl_column_metrics *x = &m[f->n_metrics++];
    *x = (bl_column_metrics){.id = (int32_t)c + 1,
                             .values = (int64_t)n,
                             .nulls = count_of(rows, n, c, false),
                             .nans = count_of(rows, n, c, true)};
    if (chance(w, 10)) x->values = BL_NONE;
    if (chance(w, 10)) x->nulls = BL_NONE;
    if (chance(w, 10)) x->nans = BL_NONE;
    bl_value bound_;
    if (low && chance(w, 90)) {
      bound_ = chance(w, 30) ? cut_bound(w, low, false) : *low;
      x->lower = encoded(w, &w->fields[c].type, &bound_);
    }
    if (high && chance(w, 90)) {
      bound_ = chance(w, 30) ? cut_bound(w, high, true) : *high;
      x->upper = encoded(w, &w->fields[c].type, &bound_);
    }
  }
}

static void test_expr_prune__file_metrics_agree_with_brute_force(void **state) {
  (void)state;
  world w;
  int pruned = 0, none = 0;
  world_new(&w, 99);
  for (int round = 0; round < 20000; round++) {
    world_row rows[5];
    bl_column_metrics metrics[R_COLUMNS];
    bl_data_file file;
    size_t n = 1 + rnd(&w) % 5;
    for (size_t i = 0; i < n; i++) rnd_row(&w, &rows[i], 15);
    make_metrics(&w, rows, n, metrics, &file);
    const char *text = rnd_text(&w, -1, 2);
    bl_expr *e = bound(&w, text);
    size_t k = matching(e, rows, n);
    bool may_be = bl_metrics_may_match(e, &file, &w.schema, NULL, NULL);
    if (k > 0 && !may_be) fail_msg("round %d: %s: pruned a matching row", round, text);
    if (k < n && bl_metrics_must_match(e, &file, &w.schema, NULL, NULL)) fail_msg("round %d: %s: not all", round, text);
    pruned += !may_be;
    none += k == 0;
    if (round % 100 == 99) world_reset(&w);
  }
  assert_true(pruned * 10 > none * 5);
  fixture_free(&w.f);
}

static bool metrics_may(world *w, const bl_data_file *f, const char *text) {
  return bl_metrics_may_match(bound(w, text), f, &w->schema, NULL, NULL);
}

/* B124: bounds that were cut inside a character prune nothing; B123: inverted ones neither; B74: nor missing ones. */
static void test_expr_prune__broken_bounds_of_files_are_ignored(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  bl_column_metrics m[] = {
      {.id = 1, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("\7\0\0\0"), .upper = BL_STR("\5\0\0\0")},
      {.id = 2, .values = 3, .nulls = BL_NONE, .nans = BL_NONE, .lower = BL_STR("\7\0"), .upper = BL_STR_NONE},
      {.id = 13, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("h\xc3"), .upper = BL_STR("h\xc4")},
      {.id = 14, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("h\xc3\xa9"), .upper = BL_STR("h\xc3\xaa")}};
  bl_data_file f = {.record_count = 3, .metrics = m, .n_metrics = BL_LEN(m)};
  assert_true(metrics_may(&w, &f, "i = 100"));
  assert_false(metrics_may(&w, &f, "i is null"));
  assert_true(metrics_may(&w, &f, "i2 = 100"));
  assert_true(metrics_may(&w, &f, "i2 is null"));
  assert_true(metrics_may(&w, &f, "s = 'a'"));
  assert_true(metrics_may(&w, &f, "s = 'z'"));
  assert_true(metrics_may(&w, &f, "s2 = 'h\xc3\xa9llo'"));
  assert_false(metrics_may(&w, &f, "s2 = 'hello'"));
  assert_true(metrics_may(&w, &f, "l = 1")); /* no metrics at all */
  fixture_free(&w.f);
}

static void test_expr_prune__bounds_from_before_a_promotion_still_serve(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  bl_column_metrics m[] = {
      {.id = 3, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("\x05\0\0\0"), .upper = BL_STR("\x08\0\0\0")},
      {.id = 5, .values = 3, .nulls = 0, .nans = 0, .lower = BL_STR("\0\0\x80\x3f"), .upper = BL_STR("\0\0\0\x40")},
      {.id = 10, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("\1\0\0\0"), .upper = BL_STR("\2\0\0\0")}};
  bl_data_file f = {.record_count = 3, .metrics = m, .n_metrics = BL_LEN(m)};
  assert_true(metrics_may(&w, &f, "l = 5"));
  assert_false(metrics_may(&w, &f, "l = 9"));
  assert_true(metrics_may(&w, &f, "d = 1.5"));
  assert_false(metrics_may(&w, &f, "d = 2.5"));
  assert_true(metrics_may(&w, &f, "ts = '1970-01-03'"));
  assert_false(metrics_may(&w, &f, "ts > '1970-01-03'"));
  fixture_free(&w.f);
}

/* Writers of ORC leave rows with a null struct out of the counts of its fields. */
static void test_expr_prune__counts_that_do_not_add_up_to_the_rows_are_unknown(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_field child[] = {field_of(&f, 2, "x", "int")}, top[] = {struct_field(1, "st", BL_STRUCT, child, 1)};
  bl_schema schema = schema_of(top, 1);
  bl_column_metrics m[] = {
      {.id = 2, .values = 3, .nulls = 0, .nans = BL_NONE, .lower = BL_STR("\5\0\0\0"), .upper = BL_STR("\5\0\0\0")}};
  bl_data_file file = {.record_count = 4, .metrics = m, .n_metrics = 1};
  bl_expr *null, *five, *other;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_expr_parse(f.arena, BL_STR("st.x is null"), &null, &err), &err);
  test_ok(bl_expr_bind(f.arena, null, &schema, NULL, &null, &err), &err);
  test_ok(bl_expr_parse(f.arena, BL_STR("st.x = 5"), &five, &err), &err);
  test_ok(bl_expr_bind(f.arena, five, &schema, NULL, &five, &err), &err);
  test_ok(bl_expr_parse(f.arena, BL_STR("st.x = 6"), &other, &err), &err);
  test_ok(bl_expr_bind(f.arena, other, &schema, NULL, &other, &err), &err);
  assert_true(bl_metrics_may_match(null, &file, &schema, NULL, NULL));
  assert_false(bl_metrics_must_match(five, &file, &schema, NULL, NULL));
  assert_false(bl_metrics_may_match(other, &file, &schema, NULL, NULL));
  m[0].values = BL_NONE; /* and without a count of values it is not known whether they add up */
  assert_true(bl_metrics_may_match(null, &file, &schema, NULL, NULL));
  m[0].values = 4;
  assert_false(bl_metrics_may_match(null, &file, &schema, NULL, NULL));
  assert_true(bl_metrics_must_match(five, &file, &schema, NULL, NULL));
  /* Outside Parquet, whose levels count the nulls of the struct, sums that fit prove nothing. */
  for (int format = 0; format < 3; format++) {
    file.format = (bl_file_format)format;
    assert_int_equal(bl_metrics_may_match(null, &file, &schema, NULL, NULL), format != BL_FORMAT_PARQUET);
    assert_int_equal(bl_metrics_must_match(five, &file, &schema, NULL, NULL), format == BL_FORMAT_PARQUET);
    assert_false(bl_metrics_may_match(other, &file, &schema, NULL, NULL));
    bl_field flat[] = {child[0]};
    bl_schema of_one = schema_of(flat, 1);
    bl_expr *missing;
    test_ok(bl_expr_parse(f.arena, BL_STR("x is null"), &missing, &err), &err);
    test_ok(bl_expr_bind(f.arena, missing, &of_one, NULL, &missing, &err), &err);
    assert_false(bl_metrics_may_match(missing, &file, &of_one, NULL, NULL)); /* no struct: no doubt */
  }
  file.record_count = 0;
  assert_false(bl_metrics_may_match(null, &file, &schema, NULL, NULL));
  fixture_free(&f);
}

static bool ids_from_100(void *user, const bl_field *f, bl_stats *out) {
  (*(int *)user)++;
  if (f->id != BL_ID_ROW_ID) return false;
  *out = (bl_stats){.rows = 3,
                    .nulls = 0,
                    .has_lower = true,
                    .has_upper = true,
                    .lower = v_i(BL_LONG, 100),
                    .upper = v_i(BL_LONG, 102)};
  return true;
}

static void test_expr_prune__lineage_columns_are_asked_for_never_taken_from_the_file(void **state) {
  (void)state;
  world w;
  world_new(&w, 1);
  bl_column_metrics m[] = {{.id = BL_ID_LAST_UPDATED,
                            .values = 3,
                            .nulls = 0,
                            .nans = BL_NONE,
                            .lower = BL_STR("\5\0\0\0\0\0\0\0"),
                            .upper = BL_STR("\5\0\0\0\0\0\0\0")}};
  bl_data_file f = {.record_count = 3, .metrics = m, .n_metrics = 1};
  bl_expr *id, *seq;
  bl_error err = BL_ERROR_INIT;
  int asked = 0;
  test_ok(bl_expr_parse(w.f.arena, BL_STR("_row_id = 5"), &id, &err), &err);
  test_ok(bl_expr_bind(w.f.arena, id, &w.schema, bl_meta_schema(), &id, &err), &err);
  test_ok(bl_expr_parse(w.f.arena, BL_STR("_last_updated_sequence_number = 6"), &seq, &err), &err);
  test_ok(bl_expr_bind(w.f.arena, seq, &w.schema, bl_meta_schema(), &seq, &err), &err);
  assert_true(bl_metrics_may_match(id, &f, &w.schema, NULL, NULL));
  assert_false(bl_metrics_may_match(id, &f, &w.schema, ids_from_100, &asked));
  assert_true(bl_metrics_may_match(seq, &f, &w.schema, ids_from_100, &asked));
  assert_true(bl_metrics_may_match(seq, &f, &w.schema, NULL, NULL));
  assert_int_equal(asked, 2);
  fixture_free(&w.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expr_prune__identity_knows_the_value),
      cmocka_unit_test(test_expr_prune__identity_of_a_date_that_became_a_timestamp_is_promoted),
      cmocka_unit_test(test_expr_prune__identity_tells_nan_from_numbers_and_joins_zeros),
      cmocka_unit_test(test_expr_prune__buckets_serve_equality_only),
      cmocka_unit_test(test_expr_prune__buckets_of_dates_that_became_timestamps_are_kept),
      cmocka_unit_test(test_expr_prune__truncated_numbers_are_ranges),
      cmocka_unit_test(test_expr_prune__truncated_strings_are_prefixes),
      cmocka_unit_test(test_expr_prune__time_units_are_ranges),
      cmocka_unit_test(test_expr_prune__units_at_or_below_zero_also_hold_the_unit_before),
      cmocka_unit_test(test_expr_prune__years_at_the_ends_of_time_do_not_overflow),
      cmocka_unit_test(test_expr_prune__what_is_not_understood_prunes_nothing),
      cmocka_unit_test(test_expr_prune__tuples_agree_with_brute_force),
      cmocka_unit_test(test_expr_prune__summaries_agree_with_brute_force),
      cmocka_unit_test(test_expr_prune__summaries_with_missing_parts_prune_little),
      cmocka_unit_test(test_expr_prune__file_metrics_agree_with_brute_force),
      cmocka_unit_test(test_expr_prune__broken_bounds_of_files_are_ignored),
      cmocka_unit_test(test_expr_prune__bounds_from_before_a_promotion_still_serve),
      cmocka_unit_test(test_expr_prune__counts_that_do_not_add_up_to_the_rows_are_unknown),
      cmocka_unit_test(test_expr_prune__lineage_columns_are_asked_for_never_taken_from_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
