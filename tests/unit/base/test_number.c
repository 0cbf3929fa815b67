/* Numbers as text. */
#include <locale.h>
#include <math.h>

#include "base/text.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_buf b;
} fixture;

static int begin(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->ctx = test_ctx();
  bl_buf_init(&f->b, f->ctx, BL_BUF_MAX);
  *state = f;
  return 0;
}

static int end(void **state) {
  fixture *f = *state;
  bl_buf_free(&f->b);
  test_ctx_free(f->ctx);
  free(f);
  return 0;
}

static const char *text_of(bl_buf *b) {
  bl_buf_byte(b, 0);
  b->n = 0;
  return (const char *)b->p;
}

static bl_str s(const char *text) {
  return bl_str_of(text);
}

static void test_number__integers_are_read_whole_or_not_at_all(void **state) {
  (void)state;
  int64_t v = 5;
  assert_true(bl_parse_i64(s("0"), &v) && v == 0);
  assert_true(bl_parse_i64(s("-0"), &v) && v == 0);
  assert_true(bl_parse_i64(s("0012"), &v) && v == 12);
  assert_true(bl_parse_i64(s("9223372036854775807"), &v) && v == INT64_MAX);
  assert_true(bl_parse_i64(s("-9223372036854775808"), &v) && v == INT64_MIN);
  static const char *const bad[] = {"",
                                    "-",
                                    "+1",
                                    " 1",
                                    "1 ",
                                    "1.0",
                                    "1e3",
                                    "0x1",
                                    "--1",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999999"};
  for (size_t i = 0; i < BL_LEN(bad); i++) assert_false(bl_parse_i64(s(bad[i]), &v));
  assert_false(bl_parse_i64(BL_STR_NONE, &v));
  assert_false(bl_parse_i64((bl_str){"1\0", 2}, &v));
  assert_true(bl_parse_i64((bl_str){"123", 2}, &v) && v == 12); /* not beyond the counted length */
}

static void test_number__integers_are_printed(void **state) {
  fixture *f = *state;
  static const struct {
    int64_t v;
    const char *text;
  } cases[] = {{0, "0"}, {-1, "-1"}, {INT64_MAX, "9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_print_i64(&f->b, cases[i].v);
    assert_string_equal(text_of(&f->b), cases[i].text);
  }
}

static void test_number__doubles_are_read_exactly(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double v;
  } cases[] = {
      {"0", 0},
      {"1", 1},
      {"-1.5", -1.5},
      {".5", .5},
      {"5.", 5},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"1e-3", 1e-3},
      {"0.1", 0.1},
      {"123456789012345678", 123456789012345678.0},
      {"9007199254740993", 9007199254740992.0},
      {"9007199254740993.0000000000000000000000000000000000000000001", 9007199254740994.0},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"4.9e-324", 5e-324},
      {"2.4703282292062327e-324", 0},
      {"2.4703282292062328e-324", 5e-324},
      {"1e-400", 0},
      {"0e999999999999999999999", 0},
      {"0.000000000000000000000000000000000000001e39", 1},
      {"inf", INFINITY},
      {"-inf", -INFINITY},
      {"Infinity", INFINITY},
      {"-Infinity", -INFINITY},
  };
  double v;
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    if (!bl_parse_double(s(cases[i].text), &v) || v != cases[i].v) fail_msg("%s: %a", cases[i].text, v);
  }
  assert_true(bl_parse_double(s("-0.0"), &v) && v == 0 && signbit(v));
  assert_true(bl_parse_double(s("NaN"), &v) && isnan(v));
  assert_true(bl_parse_double(s("nan"), &v) && isnan(v));
  static const char *const bad[] = {"",   "-",     ".",      "e5",    "1e",    "1e+",   "1,5", "1.5 ",         "0x10",
                                    "+1", "1e309", "-1e999", "1.2.3", "infin", "--inf", "NAN", "1e99999999999"};
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_parse_double(s(bad[i]), &v)) fail_msg("%s was read", bad[i]);
  assert_false(bl_parse_double(BL_STR_NONE, &v));
}

static void test_number__thousands_of_digits_still_round_right(void **state) {
  (void)state;
  /* 1 + 2^-53 is half-way between two doubles; a digit far behind it decides. */
  static const char half[] = "1.00000000000000011102230246251565404236316680908203125";
  char text[3000];
  double v;
  size_t n = sizeof half - 1;
  memcpy(text, half, n);
  memset(text + n, '0', sizeof text - n);
  assert_true(bl_parse_double((bl_str){text, sizeof text}, &v) && v == 1);
  text[sizeof text - 1] = '1';
  assert_true(bl_parse_double((bl_str){text, sizeof text}, &v) && v == 0x1.0000000000001p0);
  memset(text, '9', sizeof text);
  memcpy(text + sizeof text - 6, "e-2900", 6);
  assert_true(bl_parse_double((bl_str){text, sizeof text}, &v) && v == 1e94);
}

static void test_number__floats_are_rounded_once(void **state) {
  (void)state;
  float v;
  /* Rounded to double first this would be half-way, and then go to even: 16777216. */
  assert_true(bl_parse_float(s("16777217.000000001"), &v) && v == 16777218.0f);
  assert_true(bl_parse_float(s("3.4028235e38"), &v) && v == 3.4028235e38f);
  assert_false(bl_parse_float(s("3.5e38"), &v));
  assert_true(bl_parse_float(s("1e-46"), &v) && v == 0);
  assert_true(bl_parse_float(s("-inf"), &v) && v == -INFINITY);
  assert_true(bl_parse_float(s("NaN"), &v) && isnan(v));
  assert_false(bl_parse_float(s("x"), &v));
}

static void test_number__doubles_print_shortest_and_stay_doubles(void **state) {
  fixture *f = *state;
  static const struct {
    double v;
    const char *text;
  } cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1, "1.0"},
      {-1.5, "-1.5"},
      {100, "100.0"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {2.0 / 3, "0.6666666666666666"},
      {123456.789, "123456.789"},
      {1e15, "1000000000000000.0"},
      {1234567890123456, "1234567890123456.0"},
      {1e16, "1e16"},
      {1.5e300, "1.5e300"},
      {1e-4, "0.0001"},
      {1.25e-4, "0.000125"},
      {1e-5, "1e-5"},
      {1.5e-7, "1.5e-7"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e308"},
      {NAN, "NaN"},
      {INFINITY, "Infinity"},
      {-INFINITY, "-Infinity"},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_print_double(&f->b, cases[i].v);
    assert_string_equal(text_of(&f->b), cases[i].text);
  }
}

static void test_number__floats_print_shortest(void **state) {
  fixture *f = *state;
  static const struct {
    float v;
    const char *text;
  } cases[] = {{0.1f, "0.1"},
               {1, "1.0"},
               {16777216, "16777216.0"},
               {3.4028235e38f, "3.4028235e38"},
               {1e-45f, "1e-45"},
               {1.1754944e-38f, "1.1754944e-38"},
               {-0.0f, "-0.0"},
               {NAN, "NaN"},
               {-INFINITY, "-Infinity"},
               {0.3333333433f, "0.33333334"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_print_float(&f->b, cases[i].v);
    assert_string_equal(text_of(&f->b), cases[i].text);
  }
}

static uint64_t next_random(uint64_t *x) {
  *x += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *x;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void test_number__numbers_of_few_digits_print_exactly_these(void **state) {
  fixture *f = *state;
  uint64_t random = 7;
  for (int i = 0; i < 20000; i++) {
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    char want[48];
    random = random * 6364136223846793005u + 1442695040888963407u;
    int k = 1 + (int)(random >> 61) % 6;
    int64_t m =
        (int64_t)((random >> 16) % (i % 2 ? 1000000u : 100000000000u)) / 10 * 10 + 1 + (int64_t)(random >> 60) % 9;
    snprintf(want, sizeof want, "%lld.%0*lld", (long long)m / (long long)tens[k], k, (long long)m % (long long)tens[k]);
    if ((double)m / tens[k] < 1e-4) continue;
    bl_print_double(&f->b, (double)m / tens[k]);
    assert_string_equal(text_of(&f->b), want);
    if (m >= 1000000) continue;
    bl_print_float(&f->b, (float)m / (float)tens[k]);
    assert_string_equal(text_of(&f->b), want);
  }
}

static void test_number__any_double_or_float_reads_back_the_same(void **state) {
  fixture *f = *state;
  uint64_t seed = 1;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next_random(&seed);
    uint32_t low = (uint32_t)bits;
    double d, d2 = 0;
    float g, g2 = 0;
    memcpy(&d, &bits, 8);
    memcpy(&g, &low, 4);
    bl_print_double(&f->b, d);
    assert_true(bl_parse_double(s(text_of(&f->b)), &d2) && (isnan(d) ? isnan(d2) : !memcmp(&d, &d2, 8)));
    bl_print_float(&f->b, g);
    assert_true(bl_parse_float(s(text_of(&f->b)), &g2) && (isnan(g) ? isnan(g2) : !memcmp(&g, &g2, 4)));
  }
}

static void test_number__a_locale_with_a_comma_changes_nothing(void **state) {
  fixture *f = *state;
  /* Where no such locale is installed, the test says nothing. */
  const char *found = NULL;
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  for (size_t i = 0; i < BL_LEN(names) && !found; i++) found = setlocale(LC_ALL, names[i]);
  double v;
  assert_true(bl_parse_double(s("1.5"), &v) && v == 1.5);
  bl_print_double(&f->b, 1.5);
  assert_string_equal(text_of(&f->b), "1.5");
  setlocale(LC_ALL, "C");
}

static void check_decimal(const char *text, int scale, bl_i128 expected) {
  bl_i128 v = 0;
  if (!bl_parse_decimal(s(text), scale, &v) || v != expected) fail_msg("%s at scale %d", text, scale);
}

static bl_i128 ten_to(int n) {
  bl_i128 v = 1;
  while (n--) v *= 10;
  return v;
}

static void test_number__decimals_are_read_at_their_scale(void **state) {
  (void)state;
  check_decimal("0", 0, 0);
  check_decimal("-12.34", 2, -1234);
  check_decimal("-12.340", 2, -1234);
  check_decimal("12", 2, 1200);
  check_decimal(".5", 1, 5);
  check_decimal("12.", 0, 12);
  check_decimal("1.5E3", 0, 1500);
  check_decimal("1.5e-3", 4, 15);
  check_decimal("2E+20", -20, 2);
  check_decimal("300", -2, 3);
  check_decimal("0000000000000000000000000000000000000000000000000001.0", 1, 10);
  check_decimal("0.0000000000000000000000000000000000000000000000000000", 3, 0);
  check_decimal("0e999999999", 3, 0);
  check_decimal("99999999999999999999999999999999999999", 0, ten_to(38) - 1);
  check_decimal("-99999999999999999999999999999999999999", 0, 1 - ten_to(38));
  check_decimal("9999999999999999999.9999999999999999999", 19, ten_to(38) - 1);
}

static void test_number__decimals_lose_no_digit(void **state) {
  (void)state;
  bl_i128 v;
  static const struct {
    const char *text;
    int scale;
  } bad[] = {{"12.345", 2}, {"1", -1},   {"0.1", 0},       {"100000000000000000000000000000000000000", 0},
             {"1", 38},     {"1e38", 0}, {"1e-999999", 5}, {"1e999999999", 0},
             {"", 0},       {"-", 0},    {"1,5", 1},       {"NaN", 0},
             {"1.5.", 1},   {" 1", 0}};
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_parse_decimal(s(bad[i].text), bad[i].scale, &v)) fail_msg("%s was read", bad[i].text);
}

static void test_number__decimals_are_printed_plain(void **state) {
  fixture *f = *state;
  static const struct {
    int64_t v;
    int scale;
    const char *text;
  } cases[] = {{0, 0, "0"},          {0, 2, "0.00"},      {5, 3, "0.005"},   {-5, 1, "-0.5"},
               {12340, 3, "12.340"}, {-1234, 0, "-1234"}, {2, -20, "2E+20"}, {-12, -1, "-12E+1"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_print_decimal(&f->b, cases[i].v, cases[i].scale);
    assert_string_equal(text_of(&f->b), cases[i].text);
  }
  bl_print_decimal(&f->b, 1 - ten_to(38), 38);
  assert_string_equal(text_of(&f->b), "-0.99999999999999999999999999999999999999");
  bl_print_decimal(&f->b, (bl_i128)((bl_u128)1 << 127), 0);
  assert_string_equal(text_of(&f->b), "-170141183460469231731687303715884105728");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_number__integers_are_read_whole_or_not_at_all, begin, end),
      cmocka_unit_test_setup_teardown(test_number__integers_are_printed, begin, end),
      cmocka_unit_test_setup_teardown(test_number__doubles_are_read_exactly, begin, end),
      cmocka_unit_test_setup_teardown(test_number__thousands_of_digits_still_round_right, begin, end),
      cmocka_unit_test_setup_teardown(test_number__floats_are_rounded_once, begin, end),
      cmocka_unit_test_setup_teardown(test_number__doubles_print_shortest_and_stay_doubles, begin, end),
      cmocka_unit_test_setup_teardown(test_number__floats_print_shortest, begin, end),
      cmocka_unit_test_setup_teardown(test_number__numbers_of_few_digits_print_exactly_these, begin, end),
      cmocka_unit_test_setup_teardown(test_number__any_double_or_float_reads_back_the_same, begin, end),
      cmocka_unit_test_setup_teardown(test_number__a_locale_with_a_comma_changes_nothing, begin, end),
      cmocka_unit_test_setup_teardown(test_number__decimals_are_read_at_their_scale, begin, end),
      cmocka_unit_test_setup_teardown(test_number__decimals_lose_no_digit, begin, end),
      cmocka_unit_test_setup_teardown(test_number__decimals_are_printed_plain, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
