/* Single values: order, equality, the binary form, promotion, text. */
#include <math.h>

#include "model_fixture.h"

static bl_str bytes_of(const char *p, size_t n) {
  return (bl_str){p, n};
}
#define BYTES(lit) bytes_of(lit, sizeof(lit) - 1)

static void test_value__floats_order_as_the_spec_says(void **state) {
  (void)state;
  double order[] = {-NAN, -INFINITY, -1e300, -1.5, -1e-310, -0.0, 0.0, 1e-310, 1.5, 1e300, INFINITY, NAN};
  for (size_t i = 0; i < BL_LEN(order); i++)
    for (size_t k = 0; k < BL_LEN(order); k++) {
      bl_value a = v_double(order[i]), b = v_double(order[k]);
      int c = bl_value_cmp(&a, &b);
      assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
    }
  bl_value f = v_float(1.5f), d = v_double(1.25), null = v_null(BL_DOUBLE);
  assert_true(bl_value_cmp(&f, &d) > 0);
  assert_true(bl_value_cmp(&null, &d) < 0);
  assert_true(bl_value_cmp(&null, &null) == 0);
}

static void test_value__bytes_order_unsigned_and_decimals_by_value(void **state) {
  (void)state;
  bl_value low = v_bytes(BL_BINARY, "\x7f", 1), high = v_bytes(BL_BINARY, "\x80", 1),
           longer = v_bytes(BL_BINARY, "\x7f\0", 2);
  assert_true(bl_value_cmp(&low, &high) < 0);
  assert_true(bl_value_cmp(&low, &longer) < 0);
  bl_value minus = v_decimal(-5), big = v_decimal((bl_i128)1 << 100);
  assert_true(bl_value_cmp(&minus, &big) < 0);
  bl_value no = v_bool(false), yes = v_bool(true);
  assert_true(bl_value_cmp(&no, &yes) < 0);
  bl_value i = v_i(BL_INT, -3), l = v_i(BL_LONG, INT64_MIN);
  assert_true(bl_value_cmp(&i, &l) > 0);
}

/* B141: equality by bits with one NaN. */
static void test_value__same_has_one_nan_and_two_zeros(void **state) {
  (void)state;
  uint64_t odd_bits = UINT64_C(0xfff8000000000123);
  double odd;
  memcpy(&odd, &odd_bits, sizeof odd);
  bl_value nan = v_double(NAN), other = v_double(odd), nanf_ = v_float(NAN), zero = v_double(0.0),
           minus = v_double(-0.0);
  assert_true(bl_value_same(&nan, &other));
  assert_true(bl_value_same(&nan, &nanf_));
  assert_int_equal(bl_value_hash(&nan), bl_value_hash(&other));
  assert_false(bl_value_same(&zero, &minus));
  assert_true(bl_value_hash(&zero) != bl_value_hash(&minus));
  assert_true(bl_value_is_nan(&nan) && bl_value_is_nan(&nanf_) && !bl_value_is_nan(&zero));
  bl_value null = v_null(BL_DOUBLE), null_int = v_null(BL_INT);
  assert_true(bl_value_same(&null, &null_int));
  assert_false(bl_value_same(&null, &zero));
  bl_value one_float = v_float(1.0f), one = v_double(1.0), i = v_i(BL_INT, 7), l = v_i(BL_LONG, 7);
  assert_true(bl_value_same(&one_float, &one));
  assert_int_equal(bl_value_hash(&one_float), bl_value_hash(&one));
  assert_true(bl_value_same(&i, &l));
  assert_int_equal(bl_value_hash(&i), bl_value_hash(&l));
  bl_value s = v_str("7");
  assert_false(bl_value_same(&i, &s));
}

static void round_trip(fixture *f, const char *type, bl_value v, bl_str bytes) {
  bl_type t = type_of(f, type);
  bl_buf b;
  bl_value back;
  bl_error err = BL_ERROR_INIT;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  test_ok(bl_value_to_bytes(&t, &v, &b, &err), &err);
  assert_int_equal(b.n, bytes.n);
  if (bytes.n) assert_memory_equal(b.p, bytes.p, bytes.n);
  assert_true(bl_value_from_bytes(&t, bytes, &back));
  assert_int_equal(back.kind, t.kind);
  assert_true(bl_value_same(&v, &back));
  bl_buf_free(&b);
}

static void test_value__the_binary_form_is_that_of_appendix_d(void **state) {
  (void)state;
  fixture f = fixture_new();
  round_trip(&f, "boolean", v_bool(true), BYTES("\x01"));
  round_trip(&f, "boolean", v_bool(false), BYTES("\x00"));
  round_trip(&f, "int", v_i(BL_INT, -2), BYTES("\xfe\xff\xff\xff"));
  round_trip(&f, "long", v_i(BL_LONG, 258), BYTES("\x02\x01\x00\x00\x00\x00\x00\x00"));
  round_trip(&f, "date", v_i(BL_DATE, -1), BYTES("\xff\xff\xff\xff"));
  round_trip(&f, "time", v_i(BL_TIME, 1), BYTES("\x01\x00\x00\x00\x00\x00\x00\x00"));
  round_trip(&f, "timestamptz_ns", v_i(BL_TIMESTAMPTZ_NS, -1), BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"));
  round_trip(&f, "float", v_float(1.0f), BYTES("\x00\x00\x80\x3f"));
  round_trip(&f, "double", v_double(-0.0), BYTES("\x00\x00\x00\x00\x00\x00\x00\x80"));
  round_trip(&f, "double", v_double(NAN), BYTES("\x00\x00\x00\x00\x00\x00\xf8\x7f"));
  round_trip(&f, "decimal(9,2)", v_decimal(0), BYTES("\x00"));
  round_trip(&f, "decimal(9,2)", v_decimal(127), BYTES("\x7f"));
  round_trip(&f, "decimal(9,2)", v_decimal(128), BYTES("\x00\x80"));
  round_trip(&f, "decimal(9,2)", v_decimal(-128), BYTES("\x80"));
  round_trip(&f, "decimal(9,2)", v_decimal(-129), BYTES("\xff\x7f"));
  round_trip(&f, "decimal(38,0)", v_decimal(((bl_i128)1 << 126) - 1 + ((bl_i128)1 << 126)),
             BYTES("\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
  round_trip(&f, "string", v_str("h\xc3\xa9"), BYTES("h\xc3\xa9"));
  round_trip(&f, "string", v_str(""), BYTES(""));
  round_trip(&f, "uuid", v_bytes(BL_UUID, "0123456789abcdef", 16), BYTES("0123456789abcdef"));
  round_trip(&f, "fixed[3]", v_bytes(BL_FIXED, "a\0b", 3), BYTES("a\0b"));
  round_trip(&f, "binary", v_bytes(BL_BINARY, "\xff", 1), BYTES("\xff"));
  fixture_free(&f);
}

static void decodes(fixture *f, const char *type, bl_str bytes, bl_value expected) {
  bl_type t = type_of(f, type);
  bl_value v;
  if (!bl_value_from_bytes(&t, bytes, &v)) fail_msg("%s", type);
  assert_int_equal(v.kind, t.kind);
  assert_true(bl_value_same(&v, &expected));
}

static void test_value__bounds_of_promoted_columns_decode_by_their_length(void **state) {
  (void)state;
  fixture f = fixture_new();
  decodes(&f, "long", BYTES("\xfe\xff\xff\xff"), v_i(BL_LONG, -2));
  decodes(&f, "double", BYTES("\x00\x00\x80\x3f"), v_double(1.0));
  decodes(&f, "timestamp", BYTES("\xff\xff\xff\xff"), v_i(BL_TIMESTAMP, INT64_C(-86400000000)));
  decodes(&f, "timestamp_ns", BYTES("\x01\x00\x00\x00"), v_i(BL_TIMESTAMP_NS, INT64_C(86400000000000)));
  decodes(&f, "decimal(20,2)", BYTES("\xff\xff\xff\x85"), v_decimal(-123)); /* not minimal */
  decodes(&f, "decimal(38,2)", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x85"),
          v_decimal(-123));
  decodes(&f, "fixed[8]", BYTES("abc"), v_bytes(BL_FIXED, "abc", 3)); /* a bound cut short */
  fixture_free(&f);
}

static void test_value__bytes_that_fit_no_type_are_not_decoded(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const struct {
    const char *type;
    size_t n;
  } cases[] = {{"boolean", 0},      {"boolean", 2},  {"int", 8},     {"int", 3},         {"long", 5},
               {"date", 8},         {"time", 4},     {"float", 8},   {"timestamptz", 4}, {"uuid", 15},
               {"decimal(9,2)", 0}, {"fixed[4]", 5}, {"unknown", 4}, {"double", 0}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_type t = type_of(&f, cases[i].type);
    bl_value v;
    if (bl_value_from_bytes(&t, bytes_of("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", cases[i].n), &v))
      fail_msg("%s", cases[i].type);
  }
  bl_type t = type_of(&f, "string"), d = type_of(&f, "decimal(38,0)"), ns = type_of(&f, "timestamp_ns");
  bl_value v;
  assert_false(bl_value_from_bytes(&t, BYTES("a\xc3"), &v)); /* cut inside a character */
  assert_false(bl_value_from_bytes(&t, BL_STR_NONE, &v));
  assert_false(
      bl_value_from_bytes(&d, BYTES("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), &v));
  assert_false(
      bl_value_from_bytes(&d, BYTES("\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), &v));
  assert_false(bl_value_from_bytes(&ns, BYTES("\xff\xff\xff\x7f"), &v)); /* a date beyond 2262 */
  fixture_free(&f);
}

static void test_value__null_and_nested_values_have_no_binary_form(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_buf b;
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_error err = BL_ERROR_INIT;
  bl_type t = type_of(&f, "int"), variant = type_of(&f, "variant");
  bl_value null = v_null(BL_INT), v = v_bytes(BL_VARIANT, "", 0);
  test_status(BL_UNSUPPORTED, bl_value_to_bytes(&t, &null, &b, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_UNSUPPORTED, bl_value_to_bytes(&variant, &v, &b, &err), &err);
  test_says(&err, "variant");
  bl_buf_free(&b);
  fixture_free(&f);
}

static void test_value__promotion_keeps_the_value(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_type i = type_of(&f, "int"), l = type_of(&f, "long"), fl = type_of(&f, "float"), d = type_of(&f, "double");
  bl_type date = type_of(&f, "date"), ts = type_of(&f, "timestamp"), ns = type_of(&f, "timestamp_ns");
  bl_type small = type_of(&f, "decimal(5,2)"), wide = type_of(&f, "decimal(9,2)"), unknown = type_of(&f, "unknown");
  bl_value v, in = v_i(BL_INT, -7), x = v_float(0.1f), day = v_i(BL_DATE, -1), dec = v_decimal(5),
              null = v_null(BL_KIND_UNKNOWN);
  assert_true(bl_value_promote(&i, &in, &l, &v) && v.kind == BL_LONG && v.u.i == -7);
  assert_true(bl_value_promote(&fl, &x, &d, &v) && v.kind == BL_DOUBLE && v.u.d == (double)0.1f);
  assert_true(bl_value_promote(&date, &day, &ts, &v) && v.u.i == INT64_C(-86400000000));
  assert_true(bl_value_promote(&date, &day, &ns, &v) && v.u.i == INT64_C(-86400000000000));
  assert_true(bl_value_promote(&small, &dec, &wide, &v) && v.u.dec == 5);
  assert_true(bl_value_promote(&unknown, &null, &ts, &v) && v.null && v.kind == BL_TIMESTAMP);
  assert_false(bl_value_promote(&l, &in, &i, &v));
  bl_value late = v_i(BL_DATE, INT32_MAX);
  assert_false(bl_value_promote(&date, &late, &ns, &v));
  fixture_free(&f);
}

static const char *printed(fixture *f, const char *type, bl_value v) {
  bl_type t = type_of(f, type);
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_value_print(&b, &t, &v);
  return fixture_text(f, &b);
}

static void test_value__text_is_that_of_ndjson(void **state) {
  (void)state;
  fixture f = fixture_new();
  assert_string_equal(printed(&f, "int", v_null(BL_INT)), "null");
  assert_string_equal(printed(&f, "boolean", v_bool(true)), "true");
  assert_string_equal(printed(&f, "long", v_i(BL_LONG, INT64_MIN)), "-9223372036854775808");
  assert_string_equal(printed(&f, "double", v_double(NAN)), "NaN");
  assert_string_equal(printed(&f, "float", v_float(0.1f)), "0.1");
  assert_string_equal(printed(&f, "decimal(9,2)", v_decimal(-5)), "-0.05");
  assert_string_equal(printed(&f, "date", v_i(BL_DATE, -1)), "1969-12-31");
  assert_string_equal(printed(&f, "time", v_i(BL_TIME, 1)), "00:00:00.000001");
  assert_string_equal(printed(&f, "timestamp", v_i(BL_TIMESTAMP, -1)), "1969-12-31T23:59:59.999999");
  assert_string_equal(printed(&f, "timestamptz", v_i(BL_TIMESTAMPTZ, 0)), "1970-01-01T00:00:00.000000+00:00");
  assert_string_equal(printed(&f, "timestamp_ns", v_i(BL_TIMESTAMP_NS, 1)), "1970-01-01T00:00:00.000000001");
  assert_string_equal(printed(&f, "timestamptz_ns", v_i(BL_TIMESTAMPTZ_NS, 1)), "1970-01-01T00:00:00.000000001+00:00");
  assert_string_equal(printed(&f, "string", v_str("x\"y")), "x\"y");
  assert_string_equal(printed(&f, "binary", v_bytes(BL_BINARY, "\xff\x00", 2)), "/wA=");
  assert_string_equal(printed(&f, "fixed[1]", v_bytes(BL_FIXED, "a", 1)), "YQ==");
  assert_string_equal(
      printed(&f, "uuid", v_bytes(BL_UUID, "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16)),
      "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  fixture_free(&f);
}

static bl_status copy_value(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_arena *arena;
  bl_value v = v_str("longer than nothing"), copy, number = v_i(BL_INT, 3);
  BL_TRY(bl_arena_new(ctx, &arena, err));
  bl_status st = bl_value_copy(arena, &v, &copy, err);
  if (st == BL_OK) {
    assert_true(bl_value_same(&v, &copy));
    assert_ptr_not_equal(v.u.s.p, copy.u.s.p);
    st = bl_value_copy(arena, &number, &copy, err);
    assert_true(bl_value_same(&number, &copy));
  }
  bl_arena_free(arena);
  return st;
}

static void test_value__a_copy_owns_its_bytes(void **state) {
  (void)state;
  test_fail_each(copy_value, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_value__floats_order_as_the_spec_says),
      cmocka_unit_test(test_value__bytes_order_unsigned_and_decimals_by_value),
      cmocka_unit_test(test_value__same_has_one_nan_and_two_zeros),
      cmocka_unit_test(test_value__the_binary_form_is_that_of_appendix_d),
      cmocka_unit_test(test_value__bounds_of_promoted_columns_decode_by_their_length),
      cmocka_unit_test(test_value__bytes_that_fit_no_type_are_not_decoded),
      cmocka_unit_test(test_value__null_and_nested_values_have_no_binary_form),
      cmocka_unit_test(test_value__promotion_keeps_the_value),
      cmocka_unit_test(test_value__text_is_that_of_ndjson),
      cmocka_unit_test(test_value__a_copy_owns_its_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
