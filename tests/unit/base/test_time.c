/* Dates and times as text. */
#include "base/text.h"
#include "support/support.h"

enum { MS = 1000, US = 1000000, NS = 1000000000 };

static int begin(void **state) {
  bl_buf *b = calloc(1, sizeof *b);
  bl_buf_init(b, test_ctx(), BL_BUF_MAX);
  *state = b;
  return 0;
}

static int end(void **state) {
  bl_buf *b = *state;
  bl_ctx *ctx = b->ctx;
  bl_buf_free(b);
  test_ctx_free(ctx);
  free(b);
  return 0;
}

static const char *text_of(bl_buf *b) {
  bl_buf_byte(b, 0);
  b->n = 0;
  return (const char *)b->p;
}

static void test_time__division_goes_down(void **state) {
  (void)state;
  for (int64_t a = -20; a <= 20; a++)
    for (int64_t b = 1; b < 8; b++) {
      assert_int_equal(bl_floor_div(a, b) * b + bl_floor_mod(a, b), a);
      assert_in_range(bl_floor_mod(a, b), 0, b - 1);
    }
  assert_int_equal(bl_floor_div(-1, 86400), -1);
  assert_true(bl_floor_div(INT64_MIN, 1) == INT64_MIN);
}

static void test_time__days_and_calendar_agree_one_by_one(void **state) {
  (void)state;
  static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t day = bl_days_from_civil(-804, 1, 1), y;
  int m, d;
  for (int64_t year = -804; year < 2810; year++) {
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    for (int month = 1; month <= 12; month++)
      for (int dom = 1; dom <= lengths[month - 1] + (leap && month == 2); dom++, day++) {
        bl_civil_from_days(day, &y, &m, &d);
        if (y != year || m != month || d != dom) fail_msg("%lld-%d-%d", (long long)year, month, dom);
        assert_true(bl_days_from_civil(year, month, dom) == day);
      }
  }
  assert_int_equal(bl_days_from_civil(1970, 1, 1), 0);
  assert_int_equal(bl_days_from_civil(2000, 3, 1), 11017);
}

static void test_time__no_day_is_too_far(void **state) {
  (void)state;
  static const int64_t far[] = {INT64_MAX, INT64_MIN, INT64_MAX - 719468, INT32_MAX, INT32_MIN};
  int64_t y;
  int m, d;
  for (size_t i = 0; i < BL_LEN(far); i++) {
    bl_civil_from_days(far[i], &y, &m, &d);
    assert_in_range(m, 1, 12);
    assert_in_range(d, 1, 31);
    assert_true((y > 0) == (far[i] > 0));
  }
}

static void test_time__dates_are_printed_and_read_back(void **state) {
  bl_buf *b = *state;
  static const struct {
    int32_t days;
    const char *text;
  } cases[] = {{0, "1970-01-01"},
               {-1, "1969-12-31"},
               {19782, "2024-02-29"},
               {-719528, "0000-01-01"},
               {-719529, "-0001-12-31"},
               {2932896, "9999-12-31"},
               {2932897, "+10000-01-01"},
               {INT32_MAX, "+5881580-07-11"},
               {INT32_MIN, "-5877641-06-23"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    int32_t days = 5;
    bl_print_date(b, cases[i].days);
    assert_string_equal(text_of(b), cases[i].text);
    assert_true(bl_parse_date(bl_str_of(cases[i].text), &days));
    assert_int_equal(days, cases[i].days);
  }
}

static void test_time__dates_that_are_none_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "2024",
                                    "2024-1-01",
                                    "2024-01-1",
                                    "2024-00-01",
                                    "2024-13-01",
                                    "2024-02-30",
                                    "2023-02-29",
                                    "1900-02-29",
                                    "2024-04-31",
                                    "2024-01-00",
                                    "20240101",
                                    "2024-01-01 ",
                                    " 2024-01-01",
                                    "24-01-01",
                                    "12024-01-01",
                                    "+5881580-07-12",
                                    "-5877641-06-22",
                                    "+24-01-01",
                                    "2024-01-01T00:00",
                                    "2024/01/01",
                                    "+9999999999-01-01",
                                    "--2024-01-01"};
  int32_t v;
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_parse_date(bl_str_of(bad[i]), &v)) fail_msg("%s was read", bad[i]);
  assert_false(bl_parse_date(BL_STR_NONE, &v));
}

static void test_time__times_are_printed_and_read_back(void **state) {
  bl_buf *b = *state;
  static const struct {
    int64_t v, unit;
    const char *text;
  } cases[] = {{0, MS, "00:00:00.000"},
               {0, NS, "00:00:00.000000000"},
               {INT64_C(86399999999), US, "23:59:59.999999"},
               {INT64_C(45296000007), US, "12:34:56.000007"},
               {1, NS, "00:00:00.000000001"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    int64_t v = 5;
    bl_print_time(b, cases[i].v, cases[i].unit);
    assert_string_equal(text_of(b), cases[i].text);
    assert_true(bl_parse_time(bl_str_of(cases[i].text), cases[i].unit, &v));
    assert_true(v == cases[i].v);
  }
  bl_print_time(b, -1500, MS); /* not a time of day, and not made to look like one */
  assert_string_equal(text_of(b), "-00:00:01.500");
  bl_print_time(b, INT64_MIN, US);
  assert_string_equal(text_of(b), "-2562047788:00:54.775808");
}

static void test_time__a_time_needs_hours_and_minutes_only(void **state) {
  (void)state;
  int64_t v;
  assert_true(bl_parse_time(BL_STR("12:34"), US, &v) && v == INT64_C(45240) * US);
  assert_true(bl_parse_time(BL_STR("12:34:56"), MS, &v) && v == 45296 * MS);
  assert_true(bl_parse_time(BL_STR("00:00:00.5"), US, &v) && v == 500000);
  assert_true(bl_parse_time(BL_STR("00:00:00.1230000000000"), MS, &v) && v == 123);
  static const char *const bad[] = {"",         "12",          "12:3",     "1:34",         "12:34:5", "12:34:56.",
                                    "24:00:00", "12:60",       "12:34:60", "12:34Z",       "-12:34",  "12:34:56,5",
                                    "12.34",    "12:34:56.5x", "12:34:",   "12:34:56.0001"};
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_parse_time(bl_str_of(bad[i]), MS, &v)) fail_msg("%s was read", bad[i]);
  assert_false(bl_parse_time(BL_STR_NONE, MS, &v));
  assert_true(bl_parse_time(BL_STR("12:34:56.0001"), US, &v));
}

static void test_time__timestamps_are_printed_and_read_back(void **state) {
  bl_buf *b = *state;
  static const struct {
    int64_t v, unit;
    bool zone;
    const char *text;
  } cases[] = {{0, MS, true, "1970-01-01T00:00:00.000+00:00"},
               {-1, US, false, "1969-12-31T23:59:59.999999"},
               {INT64_C(1709251199123456), US, true, "2024-02-29T23:59:59.123456+00:00"},
               {INT64_MAX, NS, true, "2262-04-11T23:47:16.854775807+00:00"},
               {INT64_MIN, NS, false, "1677-09-21T00:12:43.145224192"},
               {INT64_MAX, US, false, "+294247-01-10T04:00:54.775807"},
               {INT64_MIN, US, false, "-290308-12-21T19:59:05.224192"},
               {INT64_MAX, MS, true, "+292278994-08-17T07:12:55.807+00:00"},
               {INT64_MIN, MS, true, "-292275055-05-16T16:47:04.192+00:00"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    int64_t v = 5;
    bool zone = !cases[i].zone;
    bl_print_timestamp(b, cases[i].v, cases[i].unit, cases[i].zone);
    assert_string_equal(text_of(b), cases[i].text);
    assert_true(bl_parse_timestamp(bl_str_of(cases[i].text), cases[i].unit, &v, &zone));
    assert_true(v == cases[i].v);
    assert_true(zone == cases[i].zone);
  }
}

static void test_time__a_zone_moves_the_timestamp_to_utc(void **state) {
  (void)state;
  int64_t v;
  bool zone;
  assert_true(bl_parse_timestamp(BL_STR("1970-01-01T01:30:00+01:30"), US, &v, &zone) && v == 0 && zone);
  assert_true(bl_parse_timestamp(BL_STR("1969-12-31 16:00-08:00"), MS, &v, &zone) && v == 0 && zone);
  assert_true(bl_parse_timestamp(BL_STR("1970-01-01T00:00:00Z"), MS, &v, &zone) && v == 0 && zone);
  assert_true(bl_parse_timestamp(BL_STR("1970-01-01T00:00:00"), MS, &v, &zone) && v == 0 && !zone);
  assert_true(bl_parse_timestamp(BL_STR("1970-01-01T18:00:00+18:00"), MS, &v, &zone) && v == 0 && zone);
}

static void test_time__timestamps_that_are_none_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "1970-01-01",
                                    "1970-01-01T",
                                    "1970-01-01t00:00",
                                    "1970-01-01  00:00",
                                    "1970-01-01T00:00z",
                                    "1970-01-01T00:00+1:00",
                                    "1970-01-01T00:00+01",
                                    "1970-01-01T00:00+0100",
                                    "1970-01-01T00:00+01:60",
                                    "1970-01-01T00:00+18:01",
                                    "1970-01-01T00:00+19:00",
                                    "1970-01-01T00:00Z ",
                                    "1970-01-01T00:00[UTC]",
                                    "1970-01-01T25:00",
                                    "2262-04-11T23:47:16.854775808",
                                    "1677-09-21T00:12:43.145224191",
                                    "9999-01-01T00:00"};
  int64_t v;
  bool zone;
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_parse_timestamp(bl_str_of(bad[i]), NS, &v, &zone)) fail_msg("%s was read", bad[i]);
  assert_false(bl_parse_timestamp(BL_STR_NONE, NS, &v, &zone));
}

static void test_time__timestamps_of_other_programs_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t v;
    bool zone;
  } cases[] = {{"1970-01-01T00:00:00", 0, false},         {"1970-01-02", 86400, false},
               {"1969-12-31", -86400, false},      {"1970-01-02Z", 86400, true},
               {"1970-01-01+01:00", -3600, true},         {"1970-01-01-01:00", 3600, true},
               {"1970-01-01 00:00:01+00", 1, true}, /* PostgreSQL */
               {"1970-01-01 00:00:01.5-05", 18001, true}, {"1970-01-01T01:00:00+0130", -1800, true},
               {"1970-01-01t00:00:00z", 0, true},         {"1970-01-01 00:00:00 Z", 0, true},
               {"1970-01-01 00:00:00 UTC", 0, true},                                                   /* BigQuery */
               {"1970-01-01 00:00:00UTC", 0, true},       {"1970-01-01 00:00:00 +0100", -3600, true}}; /* git, Ruby */
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    int64_t v;
    bool zone;
    if (!bl_read_timestamp(bl_str_of(cases[i].text), US, &v, &zone)) fail_msg("%s was refused", cases[i].text);
    assert_int_equal(bl_floor_div(v, US), cases[i].v);
    assert_true(zone == cases[i].zone);
  }
}

static void test_time__what_could_mean_two_times_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "1970-01-01T",
                                    "1970-01-01 ",
                                    "1970-01-01-05", /* a zone, or a part of something else? */
                                    "1970-01-01-0500",
                                    "1970-01-01+01",
                                    "1970-01-01 Z",
                                    "1970-01-01UTC",
                                    "01/02/1970",
                                    "1970-1-2",
                                    "19700102",
                                    "0",
                                    "1970-01-01 00:00:00 ",
                                    "1970-01-01 00:00:00  UTC",
                                    "1970-01-01 00:00:00 utc",
                                    "1970-01-01 00:00:00 CET", /* names of zones are not looked up */
                                    "1970-01-01 00:00:00 Europe/Berlin",
                                    "1970-01-01 00:00:00+1",
                                    "1970-01-01 00:00:00+100",
                                    "1970-01-01 00:00:00+01:",
                                    "1970-01-01 00:00:00+0160",
                                    "1970-01-01 00:00:00+19",
                                    "1970-01-01 00:00:00+01:00:00",
                                    "1970-01-01 00:00:00 + 01:00",
                                    "1970-01-01 12:00:00 PM"};
  int64_t v;
  bool zone;
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_read_timestamp(bl_str_of(bad[i]), US, &v, &zone)) fail_msg("%s was read", bad[i]);
  assert_false(bl_read_timestamp(BL_STR_NONE, US, &v, &zone));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_time__division_goes_down, begin, end),
      cmocka_unit_test_setup_teardown(test_time__days_and_calendar_agree_one_by_one, begin, end),
      cmocka_unit_test_setup_teardown(test_time__no_day_is_too_far, begin, end),
      cmocka_unit_test_setup_teardown(test_time__dates_are_printed_and_read_back, begin, end),
      cmocka_unit_test_setup_teardown(test_time__dates_that_are_none_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_time__times_are_printed_and_read_back, begin, end),
      cmocka_unit_test_setup_teardown(test_time__a_time_needs_hours_and_minutes_only, begin, end),
      cmocka_unit_test_setup_teardown(test_time__timestamps_are_printed_and_read_back, begin, end),
      cmocka_unit_test_setup_teardown(test_time__a_zone_moves_the_timestamp_to_utc, begin, end),
      cmocka_unit_test_setup_teardown(test_time__timestamps_that_are_none_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_time__timestamps_of_other_programs_are_read, begin, end),
      cmocka_unit_test_setup_teardown(test_time__what_could_mean_two_times_is_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
