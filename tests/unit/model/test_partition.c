/* Transforms, by the spec's own test values, and partition tuples. */
#include <math.h>

#include "model_fixture.h"

static bl_transform transform(fixture *f, const char *text) {
  bl_transform t;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_transform_parse(f->arena, bl_str_of(text), &t, &err), &err);
  return t;
}

static void test_partition__murmur3_gives_the_values_of_the_reference(void **state) {
  (void)state;
  assert_int_equal(bl_murmur3("", 0), 0);
  assert_int_equal(bl_murmur3("iceberg", 7), 1210000089);
  assert_int_equal(bl_murmur3("\0\1\2\3", 4), -188683207);
  assert_int_equal((uint32_t)bl_murmur3("hello", 5), 0x248bfa47u);
  assert_int_equal((uint32_t)bl_murmur3("hello, world", 12), 0x149bbb7fu);
}

/* bucket[N] of the spec's value, with the hash it names. */
static void hashes(fixture *f, const char *type, bl_value v, int32_t hash) {
  bl_type t = type_of(f, type);
  const char *names[] = {"bucket[1]", "bucket[16]", "bucket[1000]", "bucket[2147483647]"};
  for (size_t i = 0; i < BL_LEN(names); i++) {
    bl_transform b = transform(f, names[i]);
    bl_value out;
    assert_true(bl_transform_apply(&b, &t, &v, &out));
    assert_int_equal(out.kind, BL_INT);
    if (out.u.i != (hash & INT32_MAX) % b.arg) fail_msg("%s of %s: %lld", names[i], type, (long long)out.u.i);
  }
}

static void test_partition__buckets_hash_as_appendix_b_says(void **state) {
  (void)state;
  fixture f = fixture_new();
  int64_t us = INT64_C(1510871468000000); /* 2017-11-16T22:31:08 */
  hashes(&f, "int", v_i(BL_INT, 34), 2017239379);
  hashes(&f, "long", v_i(BL_LONG, 34), 2017239379);
  hashes(&f, "decimal(9,2)", v_decimal(1420), -500754589);
  hashes(&f, "date", v_i(BL_DATE, 17486), -653330422);
  hashes(&f, "time", v_i(BL_TIME, INT64_C(81068000000)), -662762989);
  hashes(&f, "timestamp", v_i(BL_TIMESTAMP, us), -2047944441);
  hashes(&f, "timestamp", v_i(BL_TIMESTAMP, us + 1), -1207196810);
  hashes(&f, "timestamptz", v_i(BL_TIMESTAMPTZ, us), -2047944441);
  hashes(&f, "timestamp_ns", v_i(BL_TIMESTAMP_NS, us * 1000), -2047944441);
  hashes(&f, "timestamp_ns", v_i(BL_TIMESTAMP_NS, us * 1000 + 1001), -1207196810);
  hashes(&f, "timestamptz_ns", v_i(BL_TIMESTAMPTZ_NS, us * 1000 + 1001), -1207196810);
  hashes(&f, "string", v_str("iceberg"), 1210000089);
  hashes(&f, "uuid", v_bytes(BL_UUID, "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16),
         1488055340);
  hashes(&f, "fixed[4]", v_bytes(BL_FIXED, "\0\1\2\3", 4), -188683207);
  hashes(&f, "binary", v_bytes(BL_BINARY, "\0\1\2\3", 4), -188683207);
  fixture_free(&f);
}

static void test_partition__nanoseconds_before_1970_hash_as_their_floor(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_transform b = transform(&f, "bucket[1000]");
  bl_type us = type_of(&f, "timestamp"), ns = type_of(&f, "timestamp_ns");
  bl_value x = v_i(BL_TIMESTAMP, -1), y = v_i(BL_TIMESTAMP_NS, -1), bx, by;
  assert_true(bl_transform_apply(&b, &us, &x, &bx) && bl_transform_apply(&b, &ns, &y, &by));
  assert_int_equal(bx.u.i, by.u.i);
  fixture_free(&f);
}

static void test_partition__decimals_hash_their_fewest_bytes(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_transform b = transform(&f, "bucket[2147483647]");
  bl_type t = type_of(&f, "decimal(38,0)");
  static const struct {
    bl_i128 v;
    const char *bytes;
    size_t n;
  } cases[] = {{0, "\x00", 1},    {-1, "\xff", 1},       {127, "\x7f", 1},          {128, "\x00\x80", 2},
               {-128, "\x80", 1}, {-129, "\xff\x7f", 2}, {65536, "\x01\x00\x00", 3}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_value v = v_decimal(cases[i].v), out;
    assert_true(bl_transform_apply(&b, &t, &v, &out));
    assert_int_equal(out.u.i, (bl_murmur3(cases[i].bytes, cases[i].n) & INT32_MAX) % INT32_MAX);
  }
  fixture_free(&f);
}

static int64_t time_unit(fixture *f, const char *name, const char *type, int64_t v) {
  bl_transform t = transform(f, name);
  bl_type s = type_of(f, type);
  bl_value in = v_i(s.kind, v), out;
  if (!bl_transform_apply(&t, &s, &in, &out)) fail_msg("%s of %s", name, type);
  assert_int_equal(out.kind, t.kind == BL_T_DAY ? BL_DATE : BL_INT);
  return out.u.i;
}

/* B136: floor division, in UTC, signed. */
static void test_partition__times_before_1970_belong_to_the_unit_below(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const char *const units[] = {"year", "month", "day", "hour"};
  for (size_t i = 0; i < BL_LEN(units); i++) {
    assert_int_equal(time_unit(&f, units[i], "timestamp", -1), -1);
    assert_int_equal(time_unit(&f, units[i], "timestamptz", -1), -1);
    assert_int_equal(time_unit(&f, units[i], "timestamp_ns", -1), -1);
    assert_int_equal(time_unit(&f, units[i], "timestamptz_ns", -1), -1);
    assert_int_equal(time_unit(&f, units[i], "timestamp", 0), 0);
  }
  assert_int_equal(time_unit(&f, "year", "date", -1), -1);
  assert_int_equal(time_unit(&f, "month", "date", -1), -1);
  assert_int_equal(time_unit(&f, "day", "date", -1), -1);
  assert_int_equal(time_unit(&f, "hour", "timestamp", INT64_C(-3600000000)), -1);
  assert_int_equal(time_unit(&f, "hour", "timestamp", INT64_C(-3600000001)), -2);
  fixture_free(&f);
}

static void test_partition__times_count_from_1970(void **state) {
  (void)state;
  fixture f = fixture_new();
  int64_t us = INT64_C(1510871468000001); /* 2017-11-16T22:31:08.000001 */
  assert_int_equal(time_unit(&f, "year", "timestamp", us), 47);
  assert_int_equal(time_unit(&f, "month", "timestamp", us), 574);
  assert_int_equal(time_unit(&f, "day", "timestamp", us), 17486);
  assert_int_equal(time_unit(&f, "hour", "timestamp", us), 419686);
  assert_int_equal(time_unit(&f, "hour", "timestamptz_ns", us * 1000), 419686);
  assert_int_equal(time_unit(&f, "year", "date", 17486), 47);
  assert_int_equal(time_unit(&f, "month", "date", 17486), 574);
  assert_int_equal(time_unit(&f, "month", "date", -719162), -1969 * 12); /* 0001-01-01 */
  assert_int_equal(time_unit(&f, "year", "date", -719529), -1971);       /* the last day of year -1 */
  fixture_free(&f);
}

static bl_value truncated(fixture *f, const char *name, const char *type, bl_value v) {
  bl_transform t = transform(f, name);
  bl_type s = type_of(f, type);
  bl_value out;
  if (!bl_transform_apply(&t, &s, &v, &out)) fail_msg("%s of %s", name, type);
  assert_int_equal(out.kind, s.kind);
  return out;
}

static void test_partition__numbers_are_truncated_downwards(void **state) {
  (void)state;
  fixture f = fixture_new();
  assert_int_equal(truncated(&f, "truncate[10]", "int", v_i(BL_INT, 1)).u.i, 0);
  assert_int_equal(truncated(&f, "truncate[10]", "int", v_i(BL_INT, -1)).u.i, -10);
  assert_int_equal(truncated(&f, "truncate[10]", "long", v_i(BL_LONG, -10)).u.i, -10);
  assert_int_equal(truncated(&f, "truncate[10]", "long", v_i(BL_LONG, INT64_MAX)).u.i, INT64_MAX - 7);
  assert_true(truncated(&f, "truncate[50]", "decimal(9,2)", v_decimal(1065)).u.dec == 1050);
  assert_true(truncated(&f, "truncate[10]", "decimal(9,2)", v_decimal(-5)).u.dec == -10);
  /* below the least value of the type the result wraps, as in Java */
  assert_int_equal(truncated(&f, "truncate[10]", "int", v_i(BL_INT, INT32_MIN)).u.i, INT64_C(2147483646));
  assert_int_equal(truncated(&f, "truncate[10]", "long", v_i(BL_LONG, INT64_MIN)).u.i, INT64_MAX - 1);
  fixture_free(&f);
}

static void test_partition__strings_are_truncated_by_code_points_and_binary_by_bytes(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const struct {
    const char *in, *width, *out;
  } cases[] = {{"iceberg", "truncate[3]", "ice"},
               {"ic", "truncate[3]", "ic"},
               {"", "truncate[3]", ""},
               {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "truncate[3]", "\xc3\xa9\xc3\xa9\xc3\xa9"},
               {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80x", "truncate[2]", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"}};
  for (size_t i = 0; i < BL_LEN(cases); i++)
    assert_true(bl_str_is(truncated(&f, cases[i].width, "string", v_str(cases[i].in)).u.s, cases[i].out));
  bl_value v = truncated(&f, "truncate[3]", "binary", v_bytes(BL_BINARY, "\1\2\3\4\5", 5));
  assert_int_equal(v.u.s.n, 3);
  fixture_free(&f);
}

static void test_partition__null_stays_null_and_void_is_always_null(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const char *const names[] = {"identity", "bucket[4]", "truncate[4]", "void"};
  bl_type t = type_of(&f, "int");
  bl_value null = v_null(BL_INT), five = v_i(BL_INT, 5), out;
  for (size_t i = 0; i < BL_LEN(names); i++) {
    bl_transform x = transform(&f, names[i]);
    assert_true(bl_transform_apply(&x, &t, &null, &out) && out.null);
  }
  bl_transform x = transform(&f, "void");
  assert_true(bl_transform_apply(&x, &t, &five, &out) && out.null);
  x = transform(&f, "identity");
  assert_true(bl_transform_apply(&x, &t, &five, &out) && out.u.i == 5);
  fixture_free(&f);
}

static void test_partition__transforms_refuse_types_that_they_do_not_take(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const struct {
    const char *transform, *type, *result; /* NULL: refused */
  } cases[] = {{"identity", "double", "double"},
               {"identity", "geometry", NULL},
               {"identity", "variant", NULL},
               {"bucket[4]", "uuid", "int"},
               {"bucket[4]", "double", NULL},
               {"bucket[4]", "boolean", NULL},
               {"truncate[4]", "binary", "binary"},
               {"truncate[4]", "date", NULL},
               {"truncate[4]", "fixed[4]", NULL},
               {"truncate[4]", "decimal(5,1)", "decimal(5, 1)"},
               {"year", "date", "int"},
               {"year", "long", NULL},
               {"day", "timestamp_ns", "date"},
               {"hour", "date", NULL},
               {"hour", "timestamptz", "int"},
               {"void", "string", "string"},
               {"zorder", "int", NULL}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_transform t = transform(&f, cases[i].transform);
    bl_type s = type_of(&f, cases[i].type), out;
    bool taken = bl_transform_result(&t, &s, &out);
    if (taken != (cases[i].result != NULL)) fail_msg("%s of %s", cases[i].transform, cases[i].type);
    if (!taken) continue;
    bl_type expected = type_of(&f, cases[i].result);
    assert_true(bl_type_equal(&out, &expected));
  }
  fixture_free(&f);
}

static void test_partition__transform_names_parse_and_unknown_ones_are_kept(void **state) {
  (void)state;
  fixture f = fixture_new();
  assert_int_equal(transform(&f, "identity").kind, BL_T_IDENTITY);
  assert_int_equal(transform(&f, "bucket[16]").kind, BL_T_BUCKET);
  assert_int_equal(transform(&f, "bucket[16]").arg, 16);
  assert_int_equal(transform(&f, "Truncate[20]").arg, 20);
  assert_int_equal(transform(&f, "void").kind, BL_T_VOID);
  static const char *const others[] = {"zorder",     "bucket",  "bucket[]", "bucket[x]", "bucket[4",
                                       "bucket[4]x", "year[4]", "",         "years"};
  for (size_t i = 0; i < BL_LEN(others); i++) {
    bl_transform t = transform(&f, others[i]);
    assert_int_equal(t.kind, BL_T_OTHER);
    assert_true(bl_str_is(t.text, others[i]));
  }
  static const char *const bad[] = {"bucket[0]", "truncate[0]", "bucket[2147483648]", "truncate[99999999999999999999]"};
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    bl_transform t;
    bl_error err = BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_transform_parse(f.arena, bl_str_of(bad[i]), &t, &err), &err);
    test_says(&err, bad[i]);
  }
  fixture_free(&f);
}

static void test_partition__types_of_a_spec_find_dropped_sources_in_older_schemas(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_field now[] = {field_of(&f, 1, "a", "long")},
           before[] = {field_of(&f, 1, "a", "int"), field_of(&f, 2, "b", "string")};
  bl_schema current = schema_of(now, 1), older = schema_of(before, 2);
  const bl_schema *others[] = {&older};
  int32_t one[] = {1}, two[] = {2}, nine[] = {9}, both[] = {1, 2};
  bl_partition_field pf[] = {
      {.source_ids = one, .n_source_ids = 1, .transform = transform(&f, "identity")},
      {.source_ids = two, .n_source_ids = 1, .transform = transform(&f, "truncate[2]")},
      {.source_ids = nine, .n_source_ids = 1, .transform = transform(&f, "bucket[2]")},
      {.source_ids = both, .n_source_ids = 2, .transform = transform(&f, "bucket[2]")},
      {.source_ids = one, .n_source_ids = 1, .transform = transform(&f, "year")},
      {.source_ids = one, .n_source_ids = 1, .transform = transform(&f, "void")},
      {.n_source_ids = 0, .transform = transform(&f, "identity")},
  };
  bl_partition_spec s = {.fields = pf, .n_fields = BL_LEN(pf)};
  bl_type types[BL_LEN(pf)];
  bl_spec_types(&s, &current, others, 1, types);
  bl_kind expected[] = {BL_LONG, BL_STRING, BL_KIND_UNKNOWN, BL_INT, BL_KIND_UNKNOWN, BL_LONG, BL_KIND_UNKNOWN};
  for (size_t i = 0; i < BL_LEN(pf); i++) assert_int_equal(types[i].kind, expected[i]);
  assert_false(bl_spec_is_unpartitioned(&s));
  s = (bl_partition_spec){.fields = &pf[5], .n_fields = 1};
  assert_true(bl_spec_is_unpartitioned(&s));
  s.n_fields = 0;
  assert_true(bl_spec_is_unpartitioned(&s));
  fixture_free(&f);
}

/* B141 */
static void test_partition__tuples_are_the_same_by_bits_with_one_nan(void **state) {
  (void)state;
  bl_value a[] = {v_double(NAN), v_null(BL_INT), v_str("x")}, b[] = {v_double(-NAN), v_null(BL_INT), v_str("x")};
  assert_true(bl_tuple_same(a, 3, b, 3));
  assert_int_equal(bl_tuple_hash(a, 3), bl_tuple_hash(b, 3));
  assert_false(bl_tuple_same(a, 3, b, 2));
  a[0] = v_double(0.0);
  b[0] = v_double(-0.0);
  assert_false(bl_tuple_same(a, 3, b, 3));
  assert_true(bl_tuple_hash(a, 3) != bl_tuple_hash(b, 3));
  assert_true(bl_tuple_same(NULL, 0, NULL, 0));
  bl_value null_first[] = {v_null(BL_INT), v_i(BL_INT, 1)}, null_last[] = {v_i(BL_INT, 1), v_null(BL_INT)};
  assert_false(bl_tuple_same(null_first, 2, null_last, 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_partition__murmur3_gives_the_values_of_the_reference),
      cmocka_unit_test(test_partition__buckets_hash_as_appendix_b_says),
      cmocka_unit_test(test_partition__nanoseconds_before_1970_hash_as_their_floor),
      cmocka_unit_test(test_partition__decimals_hash_their_fewest_bytes),
      cmocka_unit_test(test_partition__times_before_1970_belong_to_the_unit_below),
      cmocka_unit_test(test_partition__times_count_from_1970),
      cmocka_unit_test(test_partition__numbers_are_truncated_downwards),
      cmocka_unit_test(test_partition__strings_are_truncated_by_code_points_and_binary_by_bytes),
      cmocka_unit_test(test_partition__null_stays_null_and_void_is_always_null),
      cmocka_unit_test(test_partition__transforms_refuse_types_that_they_do_not_take),
      cmocka_unit_test(test_partition__transform_names_parse_and_unknown_ones_are_kept),
      cmocka_unit_test(test_partition__types_of_a_spec_find_dropped_sources_in_older_schemas),
      cmocka_unit_test(test_partition__tuples_are_the_same_by_bits_with_one_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
