/* test_apply_values.c: what the values of Debezium's events mean, by the schema beside them and by the column. */
#include "apply_world.h"

/* ---- one value ---- */

/* A table with the column v of `column`, and an event whose value of it is `value`, said to be `said` (the members of
 * a field of Connect's schemas; NULL: there is no schema). */
static bl_status put(world *w, const char *column, const char *said, const char *value, bl_error *err) {
  char schema[200], text[4000], field[2000];
  snprintf(schema, sizeof schema, "k long, v %s", column);
  *w = world_new(3, schema, NULL);
  snprintf(field, sizeof field,
           "\"schema\":{\"type\":\"struct\",\"fields\":[{\"field\":\"after\",\"type\":\"struct\",\"fields\":["
           "{\"field\":\"v\",%s}]}]},",
           said ? said : "");
  snprintf(text, sizeof text, "{%s\"payload\":{\"op\":\"c\",\"before\":null,\"after\":{\"k\":1,\"v\":%s}}}\n",
           said ? field : "", value);
  return world_try_apply(w, text, BL_APPLY_DEBEZIUM, err);
}

static void becomes(const char *column, const char *said, const char *value, const char *want) {
  bl_error err = BL_ERROR_INIT;
  world w;
  char row[1000];
  test_ok(put(&w, column, said, value, &err), &err);
  snprintf(row, sizeof row, "{\"k\":1,\"v\":%s}\n", want);
  world_holds(&w, row);
  world_end(&w);
}

static void refused(const char *column, const char *said, const char *value, const char *says) {
  bl_error err = BL_ERROR_INIT;
  world w;
  test_status(BL_USAGE, put(&w, column, said, value, &err), &err);
  test_says(&err, says);
  world_end(&w);
}

#define INT32(name) "\"type\":\"int32\",\"name\":\"" name "\""
#define INT64(name) "\"type\":\"int64\",\"name\":\"" name "\""
#define DATE INT32("io.debezium.time.Date")
#define TIMESTAMP INT64("io.debezium.time.Timestamp")
#define MICRO_TIMESTAMP INT64("io.debezium.time.MicroTimestamp")
#define NANO_TIMESTAMP INT64("io.debezium.time.NanoTimestamp")
#define TIME INT32("io.debezium.time.Time")
#define MICRO_TIME INT64("io.debezium.time.MicroTime")
#define NANO_TIME INT64("io.debezium.time.NanoTime")
#define YEAR INT32("io.debezium.time.Year")
#define CONNECT_DATE INT32("org.apache.kafka.connect.data.Date")
#define CONNECT_TIME INT32("org.apache.kafka.connect.data.Time")
#define CONNECT_TIMESTAMP INT64("org.apache.kafka.connect.data.Timestamp")

/* ---- times that are numbers ---- */

static void test_values__a_date_is_a_date_or_the_midnight_that_it_begins_with(void **state) {
  (void)state;
  const char *both[] = {DATE, CONNECT_DATE};
  for (size_t i = 0; i < BL_LEN(both); i++) {
    becomes("date", both[i], "19000", "\"2022-01-08\"");
    becomes("timestamp", both[i], "19000", "\"2022-01-08T00:00:00.000000\"");
    becomes("timestamptz", both[i], "19000", "\"2022-01-08T00:00:00.000000+00:00\"");
    becomes("timestamp_ns", both[i], "-1", "\"1969-12-31T00:00:00.000000000\"");
    becomes("timestamptz_ns", both[i], "0", "\"1970-01-01T00:00:00.000000000+00:00\"");
  }
  refused("time", DATE, "19000", "column v: 19000: io.debezium.time.Date does not go into time");
  refused("time", CONNECT_DATE, "0", "org.apache.kafka.connect.data.Date does not go into time");
  refused("date", DATE, "3000000000", "column v: 3000000000");
  refused("timestamp_ns", DATE, "2000000", "column v: 2000000: it is out of the range of timestamp_ns");
}

static void test_values__a_time_is_a_time_of_a_day(void **state) {
  (void)state;
  becomes("time", TIME, "3600001", "\"01:00:00.001000\"");
  becomes("time", CONNECT_TIME, "0", "\"00:00:00.000000\"");
  becomes("time", MICRO_TIME, "86399999999", "\"23:59:59.999999\"");
  becomes("time", NANO_TIME, "1000", "\"00:00:00.000001\"");
  refused("time", NANO_TIME, "1001", "column v: 1001: it has parts of a second that time does not hold");
  refused("date", TIME, "4750", "column v: 4750: io.debezium.time.Time does not go into date");
  refused("timestamp", MICRO_TIME, "1000000", "io.debezium.time.MicroTime does not go into timestamp");
  refused("timestamptz_ns", NANO_TIME, "1", "io.debezium.time.NanoTime does not go into timestamptz_ns");
  refused("boolean", TIME, "1", "io.debezium.time.Time does not go into boolean");
  refused("list<time>", TIME, "1", "io.debezium.time.Time does not go into list");
}

/* MySQL's reach from -838:59:59 to 838:59:59. */
static void test_values__a_time_outside_of_a_day_is_refused(void **state) {
  (void)state;
  refused("time", MICRO_TIME, "108000000000",
          "column v: 108000000000: it is no time of a day (io.debezium.time.MicroTime)");
  refused("time", MICRO_TIME, "86400000000", "it is no time of a day");
  refused("time", MICRO_TIME, "-1", "column v: -1: it is no time of a day");
  refused("time", TIME, "86400000", "it is no time of a day");
  refused("time", CONNECT_TIME, "-3600000", "it is no time of a day");
  refused("time", NULL, "86400000000", "column v: 86400000000: it is no time of a day");
  refused("time", NULL, "-1", "it is no time of a day");
  refused("time", NULL, "\"25:00:00\"", "column v: 25:00:00: does not fit time");
}

static void test_values__a_timestamp_is_a_timestamp_or_a_date_at_midnight(void **state) {
  (void)state;
  becomes("timestamp", TIMESTAMP, "1700000000123", "\"2023-11-14T22:13:20.123000\"");
  becomes("timestamp_ns", CONNECT_TIMESTAMP, "1700000000123", "\"2023-11-14T22:13:20.123000000\"");
  becomes("timestamptz", MICRO_TIMESTAMP, "-1", "\"1969-12-31T23:59:59.999999+00:00\"");
  becomes("timestamp", NANO_TIMESTAMP, "-1000", "\"1969-12-31T23:59:59.999999\"");
  becomes("date", TIMESTAMP, "1641600000000", "\"2022-01-08\"");
  becomes("date", NANO_TIMESTAMP, "-86400000000000", "\"1969-12-31\"");
  refused("date", TIMESTAMP, "1641600000001",
          "column v: 1641600000001: io.debezium.time.Timestamp goes into date at midnight alone");
  refused("timestamp", NANO_TIMESTAMP, "1001", "it has parts of a second that timestamp does not hold");
  refused("timestamp_ns", MICRO_TIMESTAMP, "9223372036825200000", "it is out of the range of timestamp_ns");
  refused("time", TIMESTAMP, "1700000000123", "io.debezium.time.Timestamp does not go into time");
  refused("timestamp", TIMESTAMP, "1.5", "column v: 1.5: it is no whole number");
}

static void test_values__a_year_and_a_duration_are_numbers(void **state) {
  (void)state;
  const char *duration = INT64("io.debezium.time.MicroDuration");
  becomes("int", YEAR, "1975", "1975");
  becomes("decimal(4,0)", YEAR, "1975", "\"1975\"");
  becomes("long", duration, "2629800000000", "2629800000000");
  becomes("double", "\"type\":\"float64\",\"name\":\"io.debezium.time.MicroDuration\"", "1.5", "1.5");
  becomes("string", duration, "-5", "\"-5\"");
  refused("date", YEAR, "1975", "column v: 1975: io.debezium.time.Year does not go into date");
  refused("timestamp", YEAR, "1975", "io.debezium.time.Year does not go into timestamp");
  refused("time", duration, "5", "io.debezium.time.MicroDuration does not go into time");
  refused("timestamp", INT64("io.debezium.time.NanoDuration"), "5", "NanoDuration does not go into timestamp");
}

static void test_values__columns_of_integers_and_strings_take_the_number_of_a_time(void **state) {
  (void)state;
  becomes("int", DATE, "19000", "19000");
  becomes("long", MICRO_TIMESTAMP, "1700000000123456", "1700000000123456");
  becomes("long", MICRO_TIME, "108000000000", "108000000000");
  becomes("string", TIMESTAMP, "1700000000123", "\"1700000000123\"");
  refused("int", TIMESTAMP, "1700000000123", "column v: 1700000000123: does not fit int");
  refused("decimal(9,2)", DATE, "19000", "io.debezium.time.Date does not go into decimal(9, 2)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values__a_date_is_a_date_or_the_midnight_that_it_begins_with),
      cmocka_unit_test(test_values__a_time_is_a_time_of_a_day),
      cmocka_unit_test(test_values__a_time_outside_of_a_day_is_refused),
      cmocka_unit_test(test_values__a_timestamp_is_a_timestamp_or_a_date_at_midnight),
      cmocka_unit_test(test_values__a_year_and_a_duration_are_numbers),
      cmocka_unit_test(test_values__columns_of_integers_and_strings_take_the_number_of_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
