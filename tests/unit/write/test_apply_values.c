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

/* ---- times that are texts ---- */

#define TEXT(name) "\"type\":\"string\",\"name\":\"" name "\""
#define ISO_DATE TEXT("io.debezium.time.IsoDate")
#define ISO_TIME TEXT("io.debezium.time.IsoTime")
#define ISO_TIMESTAMP TEXT("io.debezium.time.IsoTimestamp")
#define ZONED_TIME TEXT("io.debezium.time.ZonedTime")
#define ZONED_TIMESTAMP TEXT("io.debezium.time.ZonedTimestamp")

static void test_values__iso_texts_are_times_of_utc(void **state) {
  (void)state;
  becomes("date", ISO_DATE, "\"2022-01-08Z\"", "\"2022-01-08\"");
  becomes("timestamp", ISO_DATE, "\"2022-01-08Z\"", "\"2022-01-08T00:00:00.000000\"");
  becomes("string", ISO_DATE, "\"2022-01-08Z\"", "\"2022-01-08Z\"");
  becomes("time", ISO_TIME, "\"20:05:35.123456Z\"", "\"20:05:35.123456\"");
  becomes("time", ZONED_TIME, "\"20:05:35Z\"", "\"20:05:35.000000\"");
  becomes("timestamp", ISO_TIMESTAMP, "\"2022-01-08T20:05:35.5Z\"", "\"2022-01-08T20:05:35.500000\"");
  becomes("timestamp", ISO_TIMESTAMP, "\"9999-12-31T23:59:59Z\"", "\"9999-12-31T23:59:59.000000\"");
  becomes("timestamp_ns", ISO_TIMESTAMP, "\"2022-01-08T20:05:35.123456789Z\"", "\"2022-01-08T20:05:35.123456789\"");
  becomes("timestamptz", ISO_TIMESTAMP, "\"2022-01-08T20:05:35Z\"", "\"2022-01-08T20:05:35.000000+00:00\"");
  becomes("date", ISO_TIMESTAMP, "\"2022-01-08T00:00:00Z\"", "\"2022-01-08\"");
  becomes("timestamptz", ZONED_TIMESTAMP, "\"2022-01-08T20:05:35+02:00\"", "\"2022-01-08T18:05:35.000000+00:00\"");
  refused("timestamp", ZONED_TIMESTAMP, "\"2022-01-08T20:05:35Z\"", "a zone, but the column has none");
  refused("date", ISO_TIMESTAMP, "\"2022-01-08T20:05:35Z\"",
          "io.debezium.time.IsoTimestamp goes into date at midnight alone");
  refused("date", ISO_DATE, "\"2022-13-08Z\"", "column v: 2022-13-08Z: it is no date");
  refused("timestamp", ISO_TIMESTAMP, "\"soon\"", "column v: soon: it is no timestamp");
  refused("time", ISO_TIME, "\"25:00:00Z\"", "it is no time of a day (io.debezium.time.IsoTime)");
  refused("time", ZONED_TIME, "\"20:05:35+02:00\"", "column v: 20:05:35+02:00");
  refused("time", ISO_DATE, "\"2022-01-08Z\"", "io.debezium.time.IsoDate does not go into time");
  refused("long", ISO_TIMESTAMP, "\"2022-01-08T00:00:00Z\"", "io.debezium.time.IsoTimestamp does not go into long");
  becomes("date", ISO_DATE, "19000", "\"2022-01-08\""); /* a number is none of these texts */
}

/* ---- decimals ---- */

#define DECIMAL(scale)                                                                                                 \
  "\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"" scale "\"}"
#define SCALED "\"type\":\"struct\",\"name\":\"io.debezium.data.VariableScaleDecimal\""

static void test_values__decimals_go_into_strings_as_plain_text(void **state) {
  (void)state;
  becomes("string", DECIMAL("2"), "\"MDk=\"", "\"123.45\"");
  becomes("string", DECIMAL("0"), "\"/w==\"", "\"-1\"");
  becomes("string", DECIMAL("-2"), "\"DA==\"", "\"1200\"");
  becomes("string", DECIMAL("-2"), "\"AA==\"", "\"0\"");
  becomes("string", SCALED, "{\"scale\":3,\"value\":\"AQ==\"}", "\"0.001\"");
  becomes("decimal(9,2)", NULL, "{\"scale\":1,\"value\":\"Cw==\"}", "\"1.10\"");
  becomes("decimal(20,0)", DECIMAL("0"), "\"AP//////////\"", "\"18446744073709551615\""); /* BIGINT UNSIGNED */
  becomes("long", "\"type\":\"int64\"", "4294967295", "4294967295");                      /* INT UNSIGNED */
  refused("long", DECIMAL("0"), "\"AP//////////\"", "column v: 18446744073709551615: does not fit long");
  refused("int", "\"type\":\"int64\"", "4294967295", "column v: 4294967295: does not fit int");
  refused("string", DECIMAL("2"), "\"AAAAAAAAAAAAAAAAAAAAAAAA\"", "it is no decimal of 16 bytes at most");
}

static void test_values__bytes_in_a_decimal_ask_for_the_schema(void **state) {
  (void)state;
  becomes("decimal(9,2)", NULL, "\"123.45\"", "\"123.45\"");
  refused("decimal(9,2)", NULL, "\"MDk=\"",
          "column v: MDk=: does not fit decimal(9, 2): bytes in base64 need the event's schema");
  refused("decimal(9,2)", NULL, "\"MDk=\"", "decimal.handling.mode=string");
  refused("decimal(9,2)", NULL, "\"1.234\"", "column v: 1.234: does not fit decimal(9, 2)");
  refused("decimal(9,2)", NULL, "\"much?\"", "column v: much?: does not fit decimal(9, 2)");
}

/* ---- inside of others ---- */

#define ARRAY(items) "\"type\":\"array\",\"items\":{" items "}"
#define STRUCT(fields) "\"type\":\"struct\",\"fields\":[" fields "]"
#define FIELD(name, said) "{\"field\":\"" name "\"," said "}"
#define MAP(keys, values) "\"type\":\"map\",\"keys\":{" keys "},\"values\":{" values "}"

static void test_values__a_schema_tells_of_elements_fields_and_entries(void **state) {
  (void)state;
  becomes("list<decimal(9,2)>", ARRAY(DECIMAL("2")), "[\"MDk=\",null]", "[\"123.45\",null]");
  becomes("list<date>", ARRAY(DATE), "[19000]", "[\"2022-01-08\"]");
  becomes("list<timestamp>", ARRAY(DATE), "[19000]", "[\"2022-01-08T00:00:00.000000\"]");
  becomes("list<timestamp>", ARRAY(TIMESTAMP), "[1700000000123]", "[\"2023-11-14T22:13:20.123000\"]");
  becomes("list<timestamp>", NULL, "[1700000000123456]", "[\"2023-11-14T22:13:20.123456\"]");
  becomes("list<list<time>>", ARRAY(ARRAY(MICRO_TIME)), "[[1],[]]", "[[\"00:00:00.000001\"],[]]");
  becomes("struct<t timestamp, d decimal(4,1)>", STRUCT(FIELD("d", SCALED) "," FIELD("t", TIMESTAMP)),
          "{\"t\":1000,\"d\":{\"scale\":1,\"value\":\"Cw==\"}}",
          "{\"t\":\"1970-01-01T00:00:01.000000\",\"d\":\"1.1\"}");
  becomes("map<string,date>", MAP("\"type\":\"string\"", DATE), "{\"a\":1}", "{\"a\":\"1970-01-02\"}");
  becomes("map<date,time>", MAP(DATE, TIME), "[[1,1000],[2,null]]",
          "[{\"key\":\"1970-01-02\",\"value\":\"00:00:01.000000\"},{\"key\":\"1970-01-03\",\"value\":null}]");
  refused("list<time>", ARRAY(DATE), "[1]", "io.debezium.time.Date does not go into time");
  refused("struct<t time>", STRUCT(FIELD("t", MICRO_TIME)), "{\"t\":-1}", "column v.t: -1: it is no time of a day");
  refused("map<date,time>", MAP(DATE, TIME), "[[1]]", "column v");
  becomes("list<date>", ARRAY("\"type\":\"int32\",\"name\":5"), "[1]", "[\"1970-01-02\"]");
  becomes("list<date>", "\"type\":\"array\",\"items\":7", "[1]", "[\"1970-01-02\"]");
}

/* ---- other types of its own ---- */

static void test_values__names_documents_and_bits_go_where_they_fit(void **state) {
  (void)state;
  const char *set = TEXT("io.debezium.data.EnumSet"), *json = TEXT("io.debezium.data.Json");
  const char *bits = "\"type\":\"bytes\",\"name\":\"io.debezium.data.Bits\",\"parameters\":{\"length\":\"12\"}";
  becomes("string", TEXT("io.debezium.data.Enum"), "\"red\"", "\"red\"");
  becomes("string", set, "\"a,b\"", "\"a,b\"");
  becomes("list<string>", set, "\"a,b\"", "[\"a\",\"b\"]");
  becomes("list<string>", set, "\"\"", "[]");
  becomes("string", json, "\"{\\\"a\\\": 1}\"", "\"{\\\"a\\\": 1}\"");
  becomes("struct<a int>", json, "\"{\\\"a\\\": 1}\"", "{\"a\":1}");
  becomes("string", TEXT("io.debezium.data.Xml"), "\"<a/>\"", "\"<a/>\"");
  becomes("uuid", TEXT("io.debezium.data.Uuid"), "\"F79C3E09-677C-4BBD-A479-3F349CB785E7\"",
          "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"");
  becomes("string", TEXT("io.debezium.time.Interval"), "\"P1Y2M3DT4H5M6.78S\"", "\"P1Y2M3DT4H5M6.78S\"");
  becomes("binary", bits, "\"AQI=\"", "\"AQI=\"");
  becomes("int", bits, "\"AQI=\"", "513");
  becomes("decimal(20,0)", bits, "\"//////////8=\"", "\"18446744073709551615\"");
  becomes("boolean", bits, "\"AQ==\"", "true");
  refused("boolean", bits, "\"Ag==\"", "column v: Ag==: these bits do not fit boolean");
  refused("long", bits, "\"//////////8=\"", "column v: 18446744073709551615: does not fit long");
  refused("long", bits, "\"AAAAAAAAAAAB\"", "these bits do not fit long");
  refused("list<int>", set, "\"a,b\"", "column v");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values__a_date_is_a_date_or_the_midnight_that_it_begins_with),
      cmocka_unit_test(test_values__a_time_is_a_time_of_a_day),
      cmocka_unit_test(test_values__a_time_outside_of_a_day_is_refused),
      cmocka_unit_test(test_values__a_timestamp_is_a_timestamp_or_a_date_at_midnight),
      cmocka_unit_test(test_values__a_year_and_a_duration_are_numbers),
      cmocka_unit_test(test_values__columns_of_integers_and_strings_take_the_number_of_a_time),
      cmocka_unit_test(test_values__iso_texts_are_times_of_utc),
      cmocka_unit_test(test_values__decimals_go_into_strings_as_plain_text),
      cmocka_unit_test(test_values__bytes_in_a_decimal_ask_for_the_schema),
      cmocka_unit_test(test_values__a_schema_tells_of_elements_fields_and_entries),
      cmocka_unit_test(test_values__names_documents_and_bits_go_where_they_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
