/* test_apply.c: change events of Debezium and of our own changelog: which event of a key counts, what values mean,
 * batches that are repeated. */
#include "apply_world.h"

/* Positions without what they say of events. */
static const char *places_of(const char *positions) {
  static char text[2000];
  const char *mark = ",\"events\":\"";
  snprintf(text, sizeof text, "%s", positions);
  for (char *at; (at = strstr(text, mark));) {
    const char *end = strchr(at + strlen(mark), '"') + 1;
    memmove(at, end, strlen(end) + 1);
  }
  return text;
}

static const char *position_told(world *w) {
  return places_of(world_summary(w, "bergline.source-position"));
}

/* ---- events of Debezium ---- */

static void test_debezium__the_last_event_of_a_key_counts(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":\"c\"}\n");
  apply(&w,
        "{\"op\":\"u\",\"before\":{\"k\":1,\"s\":\"a\"},\"after\":{\"k\":1,\"s\":\"x\"}}\n"
        "{\"op\":\"u\",\"before\":null,\"after\":{\"k\":1,\"s\":\"y\"}}\n"
        "{\"op\":\"d\",\"before\":{\"k\":2,\"s\":\"b\"},\"after\":null}\n"
        "null\n"
        "\n"
        "{\"op\":\"c\",\"before\":null,\"after\":{\"k\":4,\"s\":\"d\"}}\n"
        "{\"op\":\"d\",\"before\":{\"k\":4},\"after\":null}\n"
        "{\"op\":\"r\",\"before\":null,\"after\":{\"k\":3,\"s\":\"c\"}}\n"
        "{\"op\":\"d\",\"before\":{\"k\":9},\"after\":null}\n"
        "{\"op\":\"c\",\"before\":null,\"after\":{\"k\":5,\"s\":\"e\"}}\n"
        "{\"payload\":null,\"schema\":null}\n"
        "{\"op\":\"m\",\"message\":{\"prefix\":\"p\"}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 1, 1);
  row_is(&w, 1, 0, 2);
  row_is(&w, 3, 2, 1);
  world_holds(&w, "{\"k\":1,\"s\":\"y\"}\n{\"k\":3,\"s\":\"c\"}\n{\"k\":5,\"s\":\"e\"}\n");
  world_end(&w);
}

/* As an upsert has it: what the source does not tell of stays what it is. */
static void test_debezium__columns_that_no_event_has_keep_their_values(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, own int, d int not null default 7", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"own\":5,\"d\":1}\n{\"k\":2,\"s\":\"b\",\"own\":6,\"d\":2}\n");
  apply(&w,
        "{\"op\":\"u\",\"before\":{\"k\":1,\"own\":0},\"after\":{\"k\":1,\"s\":\"x\"}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":2,\"s\":\"b\"}}\n"
        "{\"op\":\"c\",\"after\":{\"k\":3,\"s\":\"c\"}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 0, 1);
  world_holds(&w, "{\"k\":1,\"s\":\"x\",\"own\":5,\"d\":1}\n{\"k\":2,\"s\":\"b\",\"own\":6,\"d\":2}\n"
                  "{\"k\":3,\"s\":\"c\",\"own\":null,\"d\":7}\n");
  world_end(&w);
}

static void test_debezium__a_deleted_key_that_comes_back_is_the_same_row(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n");
  apply(&w,
        "{\"op\":\"d\",\"before\":{\"k\":1},\"after\":null}\n"
        "{\"op\":\"c\",\"before\":null,\"after\":{\"k\":1,\"s\":\"b\"}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  row_is(&w, 1, 0, 2);
  world_end(&w);
}

static void test_debezium__an_update_of_the_key_leaves_the_old_key_free(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n");
  apply(&w, "{\"op\":\"u\",\"before\":{\"k\":1},\"after\":{\"k\":7,\"s\":\"a\"}}\n", BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 1, 0);
  world_holds(&w, "{\"k\":7,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n");
  world_end(&w);
}

static void test_debezium__a_schema_tells_what_values_mean(void **state) {
  (void)state;
  world w = world_new(3,
                      "k long, d date, ms timestamp, us timestamptz, t time, m decimal(9,2), v decimal(9,2), x double, "
                      "b boolean, j struct<a int>, z timestamptz",
                      NULL);
  apply(&w,
        TYPED("{\"field\":\"d\",\"type\":\"int32\",\"name\":\"io.debezium.time.Date\"},"
              "{\"field\":\"ms\",\"type\":\"int64\",\"name\":\"io.debezium.time.Timestamp\"},"
              "{\"field\":\"us\",\"type\":\"int64\",\"name\":\"io.debezium.time.MicroTimestamp\"},"
              "{\"field\":\"t\",\"type\":\"int32\",\"name\":\"io.debezium.time.Time\"},"
              "{\"field\":\"m\",\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\","
              "\"parameters\":{\"scale\":\"2\"}},"
              "{\"field\":\"v\",\"type\":\"struct\",\"name\":\"io.debezium.data.VariableScaleDecimal\"},"
              "{\"field\":\"x\",\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\","
              "\"parameters\":{\"scale\":\"1\"}},"
              "{\"field\":\"j\",\"type\":\"string\",\"name\":\"io.debezium.data.Json\"},"
              "{\"field\":\"z\",\"type\":\"string\",\"name\":\"io.debezium.time.ZonedTimestamp\"}",
              "{\"k\":1,\"d\":19000,\"ms\":1700000000123,\"us\":1700000000123456,\"t\":3600000,\"m\":\"/w==\","
              "\"v\":{\"scale\":1,\"value\":\"Cw==\"},\"x\":\"Dw==\",\"b\":1,\"j\":\"{\\\"a\\\": 5}\","
              "\"z\":\"2024-01-01T00:00:00Z\"}"),
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":1,\"d\":\"2022-01-08\",\"ms\":\"2023-11-14T22:13:20.123000\","
                  "\"us\":\"2023-11-14T22:13:20.123456+00:00\",\"t\":\"01:00:00.000000\",\"m\":\"-0.01\","
                  "\"v\":\"1.10\",\"x\":1.5,\"b\":true,\"j\":{\"a\":5},\"z\":\"2024-01-01T00:00:00.000000+00:00\"}\n");
  world_end(&w);
}

static void test_debezium__without_a_schema_numbers_are_in_the_columns_unit(void **state) {
  (void)state;
  world w = world_new(3, "k long, d date, us timestamp, ns timestamp_ns, m decimal(9,2)", NULL);
  apply(&w,
        "{\"op\":\"c\",\"after\":{\"k\":1,\"d\":1,\"us\":1000000,\"ns\":1000000001,\"m\":\"1.5\"}}\n"
        "{\"op\":\"c\",\"after\":{\"k\":2,\"d\":\"2026-01-31\",\"us\":\"2026-01-31T00:00:00\",\"ns\":null,\"m\":2}}\n",
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":1,\"d\":\"1970-01-02\",\"us\":\"1970-01-01T00:00:01.000000\","
                  "\"ns\":\"1970-01-01T00:00:01.000000001\",\"m\":\"1.50\"}\n"
                  "{\"k\":2,\"d\":\"2026-01-31\",\"us\":\"2026-01-31T00:00:00.000000\",\"ns\":null,\"m\":\"2.00\"}\n");
  world_end(&w);
}

static void test_debezium__names_what_does_not_go_with_the_table(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, r int not null, us timestamp", NULL);
#define AFTER(members) "{\"op\":\"c\",\"after\":{\"k\":1,\"r\":1}}\n{\"op\":\"c\",\"after\":{" members "}}\n"
  apply_fails(&w, AFTER("\"k\":2,\"r\":1,\"more\":1"), BL_APPLY_DEBEZIUM, BL_USAGE, "line 2");
  apply_fails(&w, AFTER("\"k\":2,\"r\":1,\"more\":1"), BL_APPLY_DEBEZIUM, BL_USAGE,
              "column more: the table has no such");
  apply_fails(&w, AFTER("\"k\":\"x\",\"r\":1"), BL_APPLY_DEBEZIUM, BL_USAGE, "column k");
  apply_fails(&w, AFTER("\"k\":2"), BL_APPLY_DEBEZIUM, BL_USAGE, "column r: it is required");
  apply_fails(&w, AFTER("\"k\":2,\"r\":null"), BL_APPLY_DEBEZIUM, BL_USAGE, "column r: it is required");
  apply_fails(&w, AFTER("\"r\":2"), BL_APPLY_DEBEZIUM, BL_USAGE, "key column k: it has no value");
  apply_fails(&w, AFTER("\"k\":2,\"r\":3000000000"), BL_APPLY_DEBEZIUM, BL_USAGE, "column r");
  apply_fails(&w,
              TYPED("{\"field\":\"r\",\"type\":\"struct\",\"name\":\"io.debezium.data.VariableScaleDecimal\"}",
                    "{\"k\":2,\"r\":{\"scale\":60,\"value\":\"Cw==\"}}"),
              BL_APPLY_DEBEZIUM, BL_USAGE, "column r");
  apply_fails(&w, "{\"op\":\"d\",\"before\":null,\"after\":null}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "\"before\"");
  apply_fails(&w, "{\"op\":\"c\",\"after\":null}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "\"after\"");
  apply_fails(&w, "{\"op\":\"t\"}\n", BL_APPLY_DEBEZIUM, BL_UNSUPPORTED, "truncated");
  apply_fails(&w, "{\"k\":1}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  apply_fails(&w, "[1]\n", BL_APPLY_DEBEZIUM, BL_USAGE, "JSON object");
  apply_fails(&w, "{\"op\":\n", BL_APPLY_DEBEZIUM, BL_DAMAGED, "line 1");
  world_end(&w);
}

static void test_debezium__events_of_no_table_are_passed_over(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w,
        "{\"status\":\"BEGIN\",\"id\":\"571:53195829\",\"ts_ms\":1,\"event_count\":null,\"data_collections\":null}\n"
        "{\"schema\":{},\"payload\":{\"status\":\"END\",\"id\":\"571:53195832\",\"event_count\":2}}\n"
        "{\"ts_ms\":1700000000123}\n"
        "{\"schema\":{\"type\":\"struct\"},\"payload\":{\"ts_ms\":1700000000123}}\n"
        "{\"op\":\"c\",\"after\":{\"k\":1,\"s\":\"a\"}}\n"
        "{\"source\":{\"file\":\"f\"},\"databaseName\":\"d\",\"ddl\":\"ALTER TABLE t ADD c INT\",\"tableChanges\":[]}\n"
        "{\"payload\":{\"databaseName\":\"d\",\"schemaName\":\"s\",\"ddl\":null,\"tableChanges\":[{}]}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  apply_fails(&w, "{\"status\":\"DONE\",\"id\":\"1\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  apply_fails(&w, "{\"status\":\"BEGIN\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  apply_fails(&w, "{\"ts_ms\":1,\"k\":1}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  apply_fails(&w, "{\"databaseName\":\"d\",\"k\":1}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  apply_fails(&w, "{}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "no change event");
  world_end(&w);
}

#define LEFT_OUT "__debezium_unavailable_value"

/* As ExtractNewRecordState makes them. */
static void test_debezium__rows_without_envelopes_say_what_they_are(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, d date", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":\"c\"}\n");
  apply(&w,
        "{\"k\":1,\"s\":\"x\",\"__op\":\"u\",\"__source_lsn\":5,\"__deleted\":\"false\"}\n"
        "{\"k\":2,\"s\":null,\"__deleted\":\"true\"}\n"
        "{\"k\":3,\"__op\":\"d\",\"__table\":\"t\"}\n"
        "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"field\":\"d\",\"type\":\"int64\",\"name\":"
        "\"io.debezium.time.Timestamp\"}]},\"payload\":{\"k\":4,\"s\":\"d\",\"d\":86400000,\"__op\":\"c\"}}\n"
        "{\"k\":5,\"s\":\"" LEFT_OUT "\",\"d\":null,\"__deleted\":true}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 2, 0);
  row_is(&w, 1, 0, 2);
  world_holds(&w, "{\"k\":1,\"s\":\"x\",\"d\":null}\n{\"k\":4,\"s\":\"d\",\"d\":\"1970-01-02\"}\n");
  apply_fails(&w, "{\"k\":1,\"s\":\"a\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "a row without its envelope needs \"__op\"");
  apply_fails(&w, "{\"k\":1,\"__op\":\"x\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "\"__op\" must be one of c, r, u, d");
  apply_fails(&w, "{\"k\":1,\"__deleted\":\"no\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "\"__deleted\" true or false");
  apply_fails(&w, "{\"k\":1,\"more\":1,\"__op\":\"u\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "column more");
  apply_fails(&w, "{\"s\":\"a\",\"__op\":\"d\"}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "key column k: it has no value");
  world_end(&w);
}

/* Columns of these names are the table's. */
static void test_debezium__rows_without_envelopes_fill_columns_of_what_was_added(void **state) {
  (void)state;
  world w = world_new(3, "k long, __op string, __source_ts_ms timestamp", NULL);
  apply(&w, "{\"k\":1,\"__op\":\"c\",\"__source_ts_ms\":1000,\"__db\":\"x\"}\n", BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":1,\"__op\":\"c\",\"__source_ts_ms\":\"1970-01-01T00:00:00.001000\"}\n");
  apply_fails(&w, "{\"op\":\"c\",\"after\":{\"k\":1,\"__db\":\"x\"}}\n", BL_APPLY_DEBEZIUM, BL_USAGE, "column __db");
  world_end(&w);
}

/* ---- what an event does not tell ---- */

static void test_partial__what_an_event_lacks_the_row_keeps(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, n int, r int not null", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"n\":1,\"r\":1}\n{\"k\":2,\"s\":\"b\",\"n\":2,\"r\":2}\n"
                   "{\"k\":3,\"s\":\"c\",\"n\":3,\"r\":3}\n");
  apply(&w,
        "{\"op\":\"u\",\"after\":{\"k\":1,\"s\":\"x\"}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":2,\"n\":7}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":3,\"r\":3}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 2, 0, 1);
  world_holds(&w, "{\"k\":1,\"s\":\"x\",\"n\":1,\"r\":1}\n{\"k\":2,\"s\":\"b\",\"n\":7,\"r\":2}\n"
                  "{\"k\":3,\"s\":\"c\",\"n\":3,\"r\":3}\n");
  world_end(&w);
}

static void test_partial__events_of_a_key_tell_together(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, n int, m int", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"n\":1,\"m\":1}\n");
  apply(&w,
        "{\"op\":\"u\",\"before\":{\"k\":1},\"after\":{\"k\":1,\"s\":\"x\"}}\n"
        "{\"op\":\"c\",\"after\":{\"k\":2,\"s\":\"y\",\"n\":2}}\n"
        "{\"op\":\"u\",\"before\":{\"k\":1},\"after\":{\"k\":1,\"n\":5}}\n"
        "{\"op\":\"u\",\"before\":{\"k\":2},\"after\":{\"k\":2,\"s\":\"" LEFT_OUT "\",\"n\":3}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":1,\"n\":6}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 0, 0);
  row_is(&w, 1, 0, 2);
  world_holds(&w, "{\"k\":1,\"s\":\"x\",\"n\":6,\"m\":1}\n{\"k\":2,\"s\":\"y\",\"n\":3,\"m\":null}\n");
  world_end(&w);
}

static void test_partial__a_deletion_ends_what_was_told(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, n int default 9", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"n\":1}\n");
  apply(&w,
        "{\"op\":\"u\",\"after\":{\"k\":1,\"s\":\"x\",\"n\":2}}\n"
        "{\"op\":\"d\",\"before\":{\"k\":1},\"after\":null}\n"
        "{\"op\":\"c\",\"after\":{\"k\":1}}\n",
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":1,\"s\":null,\"n\":9}\n");
  apply_fails(&w,
              "{\"op\":\"d\",\"before\":{\"k\":1},\"after\":null}\n"
              "{\"op\":\"c\",\"after\":{\"k\":1,\"s\":\"" LEFT_OUT "\",\"n\":2}}\n",
              BL_APPLY_DEBEZIUM, BL_USAGE, "key k = 1: column s: the source left out a value that did not change");
  world_end(&w);
}

static void test_partial__a_value_that_was_left_out_is_kept_in_every_form(void **state) {
  (void)state;
  world w = world_new(3,
                      "k long, s string, b binary, t list<string>, u list<uuid>, i list<int>, d list<double>, "
                      "h map<string,string>, j variant, n int",
                      NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"b\":\"AQI=\",\"t\":[\"p\"],"
                   "\"u\":[\"00000000-0000-0000-0000-000000000001\"],\"i\":[1,2],\"d\":[0.5],"
                   "\"h\":{\"p\":\"q\"},\"j\":{\"a\":1},\"n\":1}\n");
  test_rows before = world_scan(&w, NULL, false);
#define BYTES "95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101"
#define BYTES_AS_REALS                                                                                                 \
  "95.0,95.0,100.0,101.0,98.0,101.0,122.0,105.0,117.0,109.0,95.0,117.0,110.0,97.0,118.0,97.0,105.0,108.0,97.0,98.0,"   \
  "108.0,101.0,95.0,118.0,97.0,108.0,117.0,101.0"
  apply(&w,
        "{\"op\":\"u\",\"after\":{\"k\":1,\"s\":\"" LEFT_OUT "\",\"b\":\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\","
        "\"t\":[\"" LEFT_OUT "\"],\"u\":[\"b68a35a7-17ad-35b3-af2a-ae46edb4545a\"],\"i\":[" BYTES "],"
        "\"d\":[" BYTES_AS_REALS "],\"h\":{\"" LEFT_OUT "\":\"" LEFT_OUT "\"},\"j\":\"" LEFT_OUT "\",\"n\":1}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 0, 0, 1);
  apply(&w,
        "{\"op\":\"u\",\"after\":{\"k\":1,\"s\":\"b\",\"b\":\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\","
        "\"t\":[\"" LEFT_OUT "\"],\"u\":[\"b68a35a7-17ad-35b3-af2a-ae46edb4545a\"],\"i\":[" BYTES "],"
        "\"d\":[" BYTES_AS_REALS "],\"h\":{\"" LEFT_OUT "\":\"" LEFT_OUT "\"},\"j\":\"" LEFT_OUT "\",\"n\":1}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":1,\"s\":\"a\",\"t\":[\"" LEFT_OUT "\"],\"n\":1}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 0, 0, 1);
  test_rows after = world_scan(&w, NULL, false);
  test_rows_same(&before, &after, "after what was left out");
  test_rows_free(&before);
  test_rows_free(&after);
  world_end(&w);
}

static void test_partial__arrays_that_are_like_what_was_left_out_are_values(void **state) {
  (void)state;
  world w = world_new(3, "k long, t list<string>, i list<int>", NULL);
  apply(&w,
        "{\"op\":\"c\",\"after\":{\"k\":1,\"t\":[\"" LEFT_OUT "\",\"b\"],\"i\":[95,95,100]}}\n"
        "{\"op\":\"c\",\"after\":{\"k\":2,\"t\":[],\"i\":[" BYTES ",1]}}\n",
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 2, 0, 0, 0);
  world_end(&w);
}

/* Names may hold any character: a key is found by all of them. */
static void test_partial__a_name_that_only_begins_like_the_key_is_another(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w,
        "{\"op\":\"u\",\"before\":{\"k\\u0000xxxxxxxxxxxxxxxx\":{\"k\":1}},\"after\":{\"k\":2,\"s\":\"a\"}}\n"
        "{\"op\":\"u\",\"before\":{\"\":{\"k\":1}},\"after\":{\"k\":3,\"s\":\"b\"}}\n",
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":2,\"s\":\"a\"}\n{\"k\":3,\"s\":\"b\"}\n");
  world_end(&w);
}

static void test_partial__the_image_before_tells_what_was_left_out(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string, n int", NULL);
  apply(&w,
        "{\"op\":\"u\",\"before\":{\"k\":1,\"s\":\"a\",\"n\":1},\"after\":{\"k\":2,\"s\":\"" LEFT_OUT "\",\"n\":1}}\n",
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":2,\"s\":\"a\",\"n\":1}\n");
  apply_fails(
      &w, "{\"op\":\"u\",\"before\":{\"k\":2,\"s\":null,\"n\":1},\"after\":{\"k\":3,\"s\":\"" LEFT_OUT "\",\"n\":1}}\n",
      BL_APPLY_DEBEZIUM, BL_USAGE, "REPLICA IDENTITY FULL");
  world_end(&w);
}

static void test_partial__a_new_row_needs_what_it_cannot_do_without(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, r int not null, d int not null default 7", NULL);
  apply_fails(&w, "{\"op\":\"u\",\"after\":{\"k\":5,\"s\":\"" LEFT_OUT "\",\"r\":1}}\n", BL_APPLY_DEBEZIUM, BL_USAGE,
              "key k = 5, which is new: column s: the source left out");
  apply_fails(&w, "{\"op\":\"u\",\"after\":{\"k\":5,\"s\":\"x\"}}\n", BL_APPLY_DEBEZIUM, BL_USAGE,
              "key k = 5, which is new: column r: it is required, and has no value");
  apply_fails(&w, "{\"op\":\"u\",\"after\":{\"k\":\"" LEFT_OUT "\",\"s\":\"x\",\"r\":1}}\n", BL_APPLY_DEBEZIUM,
              BL_USAGE, "key column k: it has no value");
  apply(&w,
        "{\"op\":\"c\",\"after\":{\"k\":5,\"r\":1}}\n"
        "{\"op\":\"u\",\"after\":{\"k\":5,\"s\":\"x\"}}\n",
        BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":5,\"s\":\"x\",\"r\":1,\"d\":7}\n");
  world_end(&w);
}

/* Through temporary files: every row of the batch lacks something that the one before it tells. */
static void test_partial__more_events_than_memory_holds_tell_together(void **state) {
  (void)state;
  enum { N = 20000 };
  world w = world_new(3, "k long not null, s string, n int", NULL);
  bl_buf text;
  w.ctx->o.memory_budget = 1 << 20;
  bl_buf_init(&text, w.ctx, SIZE_MAX);
  for (int i = 0; i < N; i++) bl_buf_printf(&text, "{\"op\":\"c\",\"after\":{\"k\":%d,\"s\":\"s%d\"}}\n", i, i);
  for (int i = 0; i < N; i++)
    bl_buf_printf(&text, "{\"op\":\"u\",\"after\":{\"k\":%d,\"s\":\"" LEFT_OUT "\",\"n\":%d}}\n", i, i);
  bl_buf_add(&text, "", 1);
  apply(&w, (const char *)text.p, BL_APPLY_DEBEZIUM);
  counts_are(&w, N, 0, 0, 0);
  bl_buf_clear(&text);
  for (int i = 0; i < N; i++) bl_buf_printf(&text, "{\"k\":%d,\"s\":\"s%d\",\"n\":%d}\n", i, i, i);
  bl_buf_add(&text, "", 1);
  world_holds(&w, (const char *)text.p);
  bl_buf_free(&text);
  world_end(&w);
}

/* ---- positions ---- */

#define EVENT(k, s, source) "{\"op\":\"u\",\"after\":{\"k\":" #k ",\"s\":\"" s "\"},\"source\":{" source "}}\n"
/* Of a server of SQL Server, as that is the plainest. */
#define AT(lsn, k, s) EVENT(k, s, "\"change_lsn\":" #lsn)

static void test_positions__an_older_batch_is_not_applied_again(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, AT(10, 1, "a") AT(11, 2, "b"), BL_APPLY_DEBEZIUM);
  assert_string_equal(position_told(&w), "{\"change_lsn\":11}");
  apply(&w, AT(10, 1, "a") AT(11, 2, "b"), BL_APPLY_DEBEZIUM); /* the same */
  assert_false(w.r.committed);
  apply(&w, AT(12, 1, "A"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.committed);
  apply(&w, AT(10, 1, "a") AT(11, 2, "b"), BL_APPLY_DEBEZIUM); /* older */
  assert_false(w.r.committed);
  assert_true(w.r.already_applied);
  apply(&w, AT(11, 2, "x") AT(12, 1, "A") AT(13, 3, "c"), BL_APPLY_DEBEZIUM); /* in part */
  counts_are(&w, 1, 0, 0, 0);
  world_holds(&w, "{\"k\":1,\"s\":\"A\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":\"c\"}\n");
  assert_string_equal(position_told(&w), "{\"change_lsn\":13}");
  world_append(&w, "{\"k\":9,\"s\":\"z\"}\n"); /* a commit without position does not hide it */
  apply(&w, AT(12, 1, "old"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  world_end(&w);
}

#define BINLOG(file, pos, k, s)                                                                                        \
  "{\"op\":\"u\",\"after\":{\"k\":" #k ",\"s\":\"" s "\"},\"source\":{\"file\":\"" file "\",\"pos\":" #pos             \
  ",\"row\":0}}\n"

static void test_positions__of_a_binary_log_go_by_file_and_place(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, BINLOG("bin.000009", 900, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, BINLOG("bin.000010", 4, 1, "b"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.committed);
  apply(&w, BINLOG("bin.000009", 1000, 1, "c"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  apply(&w, BINLOG("bin.1000000", 4, 1, "d"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.committed);
  assert_string_equal(position_told(&w), "{\"file\":\"bin.1000000\",\"pos\":4,\"row\":0}");
  world_holds(&w, "{\"k\":1,\"s\":\"d\"}\n");
  world_end(&w);
}

static void test_positions__new_events_at_the_same_one_are_applied(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL); /* a snapshot read has one position in several batches */
  apply(&w, AT(10, 1, "a") AT(10, 2, "b"), BL_APPLY_DEBEZIUM);
  apply(&w, AT(10, 3, "c") AT(10, 4, "d"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 2, 0, 0, 0);
  world_end(&w);
}

/* A table that was changed otherwise since stays as it is. */
static void test_positions__the_last_events_of_a_batch_are_known_when_they_come_again(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  const char *batch = AT(10, 1, "a") AT(11, 2, "b") AT(11, 3, "c");
  apply(&w, batch, BL_APPLY_DEBEZIUM);
  world_update(&w, "s = 'mine'", "k = 3", BL_MERGE_ON_READ);
  apply(&w, batch, BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  assert_int_equal(w.r.events_passed_over, 3);
  /* one that goes on at the same place has all the same something new */
  apply(&w, AT(11, 3, "c") AT(11, 4, "d") AT(12, 1, "e"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 0, 0);
  apply(&w, AT(12, 1, "e"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  world_holds(&w, "{\"k\":1,\"s\":\"e\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":\"mine\"}\n{\"k\":4,\"s\":\"d\"}\n");
  world_end(&w);
}

static void test_positions__know_an_event_that_their_source_sends_at_another_time(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
#define SENT(time, s)                                                                                                  \
  "{\"op\":\"c\",\"ts_ms\":" #time ",\"after\":{\"k\":1,\"s\":\"" s                                                    \
  "\"},\"source\":{\"change_lsn\":5,\"ts_ms\":" #time "}}\n"
  apply(&w, SENT(1, "a"), BL_APPLY_DEBEZIUM);
  world_delete(&w, "k = 1", BL_MERGE_ON_READ);
  apply(&w, SENT(2, "a"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  apply(&w, SENT(2, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  world_end(&w);
}

static void test_positions__tell_events_apart_by_what_is_inside_what(void **state) {
  (void)state;
  world w = world_new(3, "k long, l list<list<int>>", NULL);
#define LISTS(l) "{\"op\":\"u\",\"after\":{\"k\":1,\"l\":" l "},\"source\":{\"change_lsn\":5}}\n"
  apply(&w, LISTS("[[1],[2,3]]"), BL_APPLY_DEBEZIUM);
  apply(&w, LISTS("[[1,2],[3]]"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  apply(&w, LISTS("[[],[1,2,3]]"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  world_end(&w);
}

/* Several changes of a transaction may share a place in a redo log, so one that is alike may be another. */
static void test_positions__of_oracle_and_of_snapshots_do_not_tell_events_apart(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  const char *alike[] = {
      EVENT(1, "a", "\"scn\":5,\"commit_scn\":9"),
      "{\"op\":\"r\",\"after\":{\"k\":1,\"s\":\"a\"},\"source\":{\"file\":\"b.1\",\"pos\":3,\"row\":0}}\n"};
  for (size_t i = 0; i < BL_LEN(alike); i++) {
    apply(&w, alike[i], BL_APPLY_DEBEZIUM);
    world_update(&w, "s = 'other'", NULL, BL_MERGE_ON_READ);
    apply(&w, alike[i], BL_APPLY_DEBEZIUM);
    counts_are(&w, 0, 1, 0, 0);
  }
  world_end(&w);
}

static void test_positions__are_kept_where_no_row_changes(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, AT(10, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, AT(11, 1, "b") AT(12, 1, "a"), BL_APPLY_DEBEZIUM); /* as it was */
  assert_true(w.r.committed);
  counts_are(&w, 0, 0, 0, 1);
  assert_string_equal(position_told(&w), "{\"change_lsn\":12}");
  apply(&w, AT(12, 1, "a"), BL_APPLY_DEBEZIUM); /* nothing new in it */
  assert_false(w.r.committed);
  apply(&w, AT(11, 1, "b"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  world_holds(&w, "{\"k\":1,\"s\":\"a\"}\n");
  assert_int_equal(w.t->metadata->n_snapshots, 2);
  world_end(&w);
}

static void test_positions__that_were_applied_do_not_hide_a_batch(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, AT(10, 1, "a"), BL_APPLY_DEBEZIUM);
  for (int i = 0; i < 2; i++) {
    bl_error err = BL_ERROR_INIT;
    const bl_write_options o = {.batch_id = "b"};
    test_ok(world_try_apply_with(&w, AT(9, 1, "old"), BL_APPLY_DEBEZIUM, &o, &err), &err);
    assert_int_equal(w.r.committed, i == 0);
    assert_int_equal(w.r.already_applied, i == 1);
  }
  assert_string_equal(world_summary(&w, "bergline.batch-id"), "b");
  apply(&w, AT(9, 1, "old"), BL_APPLY_DEBEZIUM); /* the position before it still counts */
  assert_true(w.r.already_applied);
  world_holds(&w, "{\"k\":1,\"s\":\"a\"}\n");
  world_end(&w);
}

/* One event, staged under a WAP id. */
static void stage_event(world *w, const char *line, const char *wap, const char *batch) {
  bl_error err = BL_ERROR_INIT;
  const bl_write_options o = {.wap_id = wap, .batch_id = batch};
  test_ok(world_try_apply_with(w, line, BL_APPLY_DEBEZIUM, &o, &err), &err);
  assert_true(w->r.committed);
}

static bl_status pick(world *w, const char *at, const char *ref, bl_error *err) {
  bl_status st = bl_cherry_pick(w->t, at, &(bl_write_options){.ref = ref}, &w->r, err);
  world_reopen(w);
  return st;
}

static const char *position_of(const world *w, const char *ref) {
  const bl_ref *r = bl_metadata_ref(w->t->metadata, bl_str_of(ref));
  bl_str v = bl_pairs_get(&bl_metadata_snapshot(w->t->metadata, r->snapshot_id)->summary, "bergline.source-position");
  return v.p ? places_of(v.p) : "";
}

static void test_positions__go_along_with_a_snapshot_that_is_picked(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":8,\"s\":\"y\"}\n");
  apply(&w, AT(10, 1, "a"), BL_APPLY_DEBEZIUM);
  stage_event(&w, AT(11, 2, "b"), "w", "batch");
  world_append(&w, "{\"k\":9,\"s\":\"z\"}\n"); /* the pick is no fast-forward */
  test_status(BL_USAGE, bl_cherry_pick(w.t, "wap:w", &(bl_write_options){.batch_id = "other"}, &w.r, &err), &err);
  test_says(&err, "it is batch batch");
  err = (bl_error)BL_ERROR_INIT;
  test_ok(pick(&w, "wap:w", NULL, &err), &err);
  assert_true(w.r.committed);
  assert_string_equal(position_of(&w, "main"), "{\"change_lsn\":11}");
  assert_string_equal(world_summary(&w, "bergline.batch-id"), "batch");
  apply(&w, AT(10, 1, "old"), BL_APPLY_DEBEZIUM);
  assert_true(w.r.already_applied);
  apply(&w, AT(12, 2, "c"), BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":8,\"s\":\"y\"}\n{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"c\"}\n{\"k\":9,\"s\":\"z\"}\n");
  world_end(&w);
}

static void test_positions__a_pick_neither_leaves_events_out_nor_takes_them_twice(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":8,\"s\":\"y\"}\n");
  test_ok(bl_ref_create(w.t, "behind", true, NULL, NULL, &err), &err);
  world_reopen(&w);
  apply(&w, AT(10, 1, "a"), BL_APPLY_DEBEZIUM);
  stage_event(&w, AT(11, 2, "b"), "w", NULL);
  test_ok(pick(&w, "wap:w", "behind", &err), &err); /* without the event before */
  assert_true(w.r.committed);
  assert_string_equal(position_of(&w, "behind"), "");
  apply(&w, AT(11, 2, "b") AT(12, 3, "c"), BL_APPLY_DEBEZIUM);
  test_status(BL_CONFLICT, pick(&w, "wap:w", NULL, &err), &err);
  test_says(&err, "rows would exist twice");
  assert_string_equal(position_of(&w, "main"), "{\"change_lsn\":12}");
  world_end(&w);
}

/* ---- order of transactions ---- */

#define PG(commit, lsn, k, s)                                                                                          \
  EVENT(k, s,                                                                                                          \
        "\"connector\":\"postgresql\",\"name\":\"p\",\"sequence\":\"[" commit ",\\\"" #lsn "\\\"]\",\"lsn\":" #lsn)
#define AFTER_COMMIT(commit) "\\\"" #commit "\\\""
#define PG_BARE(lsn, k, s) EVENT(k, s, "\"connector\":\"postgresql\",\"name\":\"p\",\"lsn\":" #lsn)

static void passed_over(const world *w, int64_t n) {
  assert_int_equal(w->r.events_passed_over, n);
  assert_int_equal(w->r.already_applied, n > 0 && !w->r.committed);
}

static void test_transactions__of_postgres_come_in_the_order_of_commits(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, PG(AFTER_COMMIT(90), 150, 1, "short"), BL_APPLY_DEBEZIUM);
  apply(&w, PG(AFTER_COMMIT(160), 100, 2, "long"), BL_APPLY_DEBEZIUM); /* began earlier, was committed later */
  counts_are(&w, 1, 0, 0, 0);
  passed_over(&w, 0);
  assert_string_equal(position_told(&w), "{\"sources\":{\"postgresql/p\":{\"lsn\":100,\"last_commit_lsn\":160}}}");
  apply(&w, PG(AFTER_COMMIT(90), 150, 1, "old"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  apply(&w, PG(AFTER_COMMIT(90), 150, 1, "old") PG(AFTER_COMMIT(160), 99, 2, "old") PG(AFTER_COMMIT(160), 101, 3, "c"),
        BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  passed_over(&w, 2);
  world_holds(&w, "{\"k\":1,\"s\":\"short\"}\n{\"k\":2,\"s\":\"long\"}\n{\"k\":3,\"s\":\"c\"}\n");
  world_end(&w);
}

static void test_transactions__without_their_commits_are_applied_as_they_come(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, PG_BARE(150, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, PG_BARE(100, 2, "b") PG_BARE(90, 1, "c"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 1, 0, 0);
  passed_over(&w, 0);
  apply(&w, PG(AFTER_COMMIT(20), 30, 2, "d"), BL_APPLY_DEBEZIUM); /* beside one of which the commit is not known */
  counts_are(&w, 0, 1, 0, 0);
  world_holds(&w, "{\"k\":1,\"s\":\"c\"}\n{\"k\":2,\"s\":\"d\"}\n");
  world_end(&w);
}

static void test_transactions__a_snapshot_read_lies_where_it_was_made(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, PG("null", 50, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, PG("null", 50, 2, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  apply(&w, PG(AFTER_COMMIT(60), 55, 1, "A"), BL_APPLY_DEBEZIUM);
  apply(&w, PG("null", 50, 1, "a"), BL_APPLY_DEBEZIUM); /* again */
  passed_over(&w, 1);
  apply(&w, PG("null", 70, 1, "anew"), BL_APPLY_DEBEZIUM); /* another */
  counts_are(&w, 0, 1, 0, 0);
  world_end(&w);
}

#define ORACLE(commit, scn, k, s)                                                                                      \
  EVENT(k, s, "\"connector\":\"oracle\",\"name\":\"o\",\"scn\":\"" #scn "\",\"commit_scn\":" commit)

static void test_transactions__of_oracle_come_in_the_order_of_commits(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, ORACLE("\"90\"", 150, 1, "short"), BL_APPLY_DEBEZIUM);
  apply(&w, ORACLE("\"160:1:0a,70:2:0b\"", 100, 2, "long"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  apply(&w, ORACLE("\"90:1:\"", 150, 1, "old"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  apply(&w, ORACLE("null", 40, 1, "of the snapshot"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  world_end(&w);
}

#define THREAD(n, commit, scn, k, s) ORACLE("\"" #commit "\",\"redo_thread\":" #n, scn, k, s)

static void test_transactions__of_redo_threads_are_held_against_those_of_their_own(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, ORACLE("null", 30, 1, "z"), BL_APPLY_DEBEZIUM);
  apply(&w, THREAD(1, 100, 120, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, THREAD(2, 50, 90, 2, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  apply(&w, THREAD(1, 90, 95, 1, "old") THREAD(2, 50, 80, 2, "old"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 2);
  apply(&w, ORACLE("null", 30, 1, "z"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  world_end(&w);
}

/* ---- sources side by side ---- */

#define OF(connector, name, k, lsn, s)                                                                                 \
  EVENT(k, s, "\"connector\":\"" connector "\",\"name\":\"" name "\",\"change_lsn\":" #lsn)

static void test_sources__have_a_position_each(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, OF("sqlserver", "a", 1, 100, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, OF("sqlserver", "b", 2, 50, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  assert_string_equal(position_told(&w),
                      "{\"sources\":{\"sqlserver/a\":{\"change_lsn\":100},\"sqlserver/b\":{\"change_lsn\":50}}}");
  apply(&w, OF("sqlserver", "a", 1, 90, "old") OF("sqlserver", "b", 2, 60, "B"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  passed_over(&w, 1);
  world_holds(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"B\"}\n");
  world_end(&w);
}

static void test_sources__take_over_a_position_that_names_none(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, AT(10, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, OF("sqlserver", "a", 1, 9, "old"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  apply(&w, OF("sqlserver", "a", 1, 11, "b"), BL_APPLY_DEBEZIUM);
  assert_string_equal(position_told(&w), "{\"sources\":{\"sqlserver/a\":{\"change_lsn\":11}}}");
  apply(&w, OF("sqlserver", "b", 2, 5, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 1, 0, 0, 0);
  world_end(&w);
}

#define SERVER(id, gtid, file, pos, k, s)                                                                              \
  EVENT(k, s,                                                                                                          \
        "\"connector\":\"mysql\",\"name\":\"m\",\"server_id\":" #id ",\"gtid\":" gtid ",\"file\":\"" file              \
        "\",\"pos\":" #pos ",\"row\":0")

static void test_sources__another_server_has_a_log_of_its_own(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, SERVER(0, "null", "bin.000008", 4, 1, "z"), BL_APPLY_DEBEZIUM); /* a snapshot read */
  apply(&w, SERVER(1, "\"aa:17\"", "bin.000009", 900, 1, "a"), BL_APPLY_DEBEZIUM);
  apply(&w, SERVER(1, "\"aa:16\"", "bin.000009", 800, 1, "old"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  apply(&w, SERVER(0, "null", "bin.000008", 4, 1, "z"), BL_APPLY_DEBEZIUM);
  passed_over(&w, 1);
  apply(&w, SERVER(2, "\"bb:1\"", "bin.000003", 4, 1, "b"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  apply(&w, SERVER(2, "\"cc:1\"", "bin.000001", 4, 1, "c"), BL_APPLY_DEBEZIUM); /* the same, made anew */
  counts_are(&w, 0, 1, 0, 0);
  apply(&w, SERVER(2, "null", "log.000001", 2, 1, "d"), BL_APPLY_DEBEZIUM);
  counts_are(&w, 0, 1, 0, 0);
  world_end(&w);
}

static void test_sources__go_along_with_a_pick_each_by_itself(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, OF("sqlserver", "a", 1, 10, "a"), BL_APPLY_DEBEZIUM);
  stage_event(&w, OF("sqlserver", "a", 2, 11, "b"), "w", NULL);
  apply(&w, OF("sqlserver", "b", 3, 5, "c"), BL_APPLY_DEBEZIUM); /* of another source */
  test_ok(pick(&w, "wap:w", NULL, &err), &err);
  assert_string_equal(position_of(&w, "main"), "{\"sources\":{\"sqlserver/a\":{\"change_lsn\":11},"
                                               "\"sqlserver/b\":{\"change_lsn\":5}}}");
  stage_event(&w, OF("sqlserver", "a", 4, 12, "d"), "v", NULL);
  apply(&w, OF("sqlserver", "a", 4, 12, "d"), BL_APPLY_DEBEZIUM);
  test_status(BL_CONFLICT, pick(&w, "wap:v", NULL, &err), &err);
  world_end(&w);
}

/* ---- our own changelog ---- */

static char *changelog(world *w, const char *from) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows rows;
  bl_changes_options o = {.from = from};
  test_ok(bl_changes(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, &rows);
  size_t n = 1;
  for (size_t i = 0; i < rows.n; i++) n += strlen(rows.lines[i]) + 1;
  char *text = calloc(1, n);
  for (size_t i = 0; i < rows.n; i++) strcat(strcat(text, rows.lines[i]), "\n");
  test_rows_free(&rows);
  return text;
}

static void test_changes__make_a_copy_and_keep_it_up(void **state) {
  (void)state;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":null}\n");
  world_update(&from, "s = s || '!'", "k < 3", BL_MERGE_ON_READ);
  char *first = changelog(&from, NULL);
  apply(&to, first, BL_APPLY_CHANGES);
  counts_are(&to, 3, 0, 0, 0);
  world_holds(&to, "{\"k\":1,\"s\":\"a!\"}\n{\"k\":2,\"s\":\"b!\"}\n{\"k\":3,\"s\":null}\n");
  world_delete(&from, "k = 3", BL_MERGE_ON_READ);
  world_update(&from, "s = 'x'", "k = 2", BL_COPY_ON_WRITE);
  char *all = changelog(&from, NULL), *later = changelog(&from, "seq:2");
  apply(&to, all, BL_APPLY_CHANGES); /* the first commits are known */
  counts_are(&to, 0, 1, 1, 0);
  row_is(&to, 2, 2, 2); /* the third that was put */
  apply(&to, later, BL_APPLY_CHANGES);
  assert_true(to.r.already_applied);
  apply(&to, first, BL_APPLY_CHANGES);
  assert_true(to.r.already_applied);
  world_holds(&to, "{\"k\":1,\"s\":\"a!\"}\n{\"k\":2,\"s\":\"x\"}\n");
  free(first);
  free(all);
  free(later);
  world_end(&from);
  world_end(&to);
}

static void test_changes__keys_that_change_places_in_one_commit_are_all_there(void **state) {
  (void)state;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n");
  world_update(&from, "k = 3 - k", NULL, BL_MERGE_ON_READ);
  char *log = changelog(&from, NULL);
  apply(&to, log, BL_APPLY_CHANGES);
  world_holds(&to, "{\"k\":2,\"s\":\"a\"}\n{\"k\":1,\"s\":\"b\"}\n");
  free(log);
  world_end(&from);
  world_end(&to);
}

static void test_changes__columns_that_the_log_lacks_keep_their_values(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, s string, own int", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\",\"own\":5}\n");
  apply(&w, "{\"k\":1,\"s\":\"x\",\"_change_type\":\"UPDATE_AFTER\",\"_commit_snapshot_id\":7}\n", BL_APPLY_CHANGES);
  counts_are(&w, 0, 1, 0, 0);
  world_holds(&w, "{\"k\":1,\"s\":\"x\",\"own\":5}\n");
  apply(&w, "k,s,_change_type,_commit_snapshot_id\n1,y,UPDATE_AFTER,8\n2,z,INSERT,8\n", BL_APPLY_CHANGES);
  counts_are(&w, 1, 1, 0, 0);
  world_holds(&w, "{\"k\":1,\"s\":\"y\",\"own\":5}\n{\"k\":2,\"s\":\"z\",\"own\":null}\n");
  world_end(&w);
}

#define COMMITTED(id, s) "{\"k\":1,\"s\":\"" s "\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":" #id "}\n"
#define NUMBERED(id, n, k, s)                                                                                          \
  "{\"k\":" #k ",\"s\":\"" s "\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":" #id                             \
  ",\"_commit_sequence_number\":" #n "}\n"
#define IMAGE(id, n, k, s)                                                                                             \
  "{\"k\":" #k ",\"s\":\"" s "\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":" #id                             \
  ",\"_last_updated_sequence_number\":" #n "}\n"

static void test_changes__that_were_applied_are_known_by_their_commits(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, COMMITTED(20, "a"), BL_APPLY_CHANGES);
  apply(&w, COMMITTED(10, "a"), BL_APPLY_CHANGES); /* changes nothing, and is kept */
  assert_true(w.r.committed);
  assert_string_equal(position_told(&w), "{\"commit_snapshot_id\":10,\"commits\":\"20,10\"}");
  apply(&w, COMMITTED(10, "b"), BL_APPLY_CHANGES);
  passed_over(&w, 1);
  apply(&w, COMMITTED(20, "c"), BL_APPLY_CHANGES);
  passed_over(&w, 1);
  world_holds(&w, "{\"k\":1,\"s\":\"a\"}\n");
  world_end(&w);
}

static void test_changes__an_older_part_of_a_batch_is_not_applied_again(void **state) {
  (void)state;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n");
  char *first = changelog(&from, NULL);
  world_append(&from, "{\"k\":2,\"s\":\"b\"}\n");
  world_delete(&from, "k = 1", BL_MERGE_ON_READ);
  world_update(&from, "s = 'x'", "k = 2", BL_MERGE_ON_READ);
  char *all = changelog(&from, NULL);
  apply(&to, all, BL_APPLY_CHANGES);
  apply(&to, first, BL_APPLY_CHANGES);
  passed_over(&to, 1);
  assert_int_equal(to.t->metadata->n_snapshots, 1);
  world_holds(&to, "{\"k\":2,\"s\":\"x\"}\n");
  world_append(&from, "{\"k\":3,\"s\":\"c\"}\n");
  char *more = changelog(&from, "seq:2");
  apply(&to, more, BL_APPLY_CHANGES);
  passed_over(&to, 3);
  counts_are(&to, 1, 0, 0, 0);
  world_holds(&to, "{\"k\":2,\"s\":\"x\"}\n{\"k\":3,\"s\":\"c\"}\n");
  free(first);
  free(all);
  free(more);
  world_end(&from);
  world_end(&to);
}

static bl_status apply_batch(world *w, const char *lines, const char *batch, bl_error *err) {
  return world_try_apply_with(w, lines, BL_APPLY_CHANGES, &(bl_write_options){.batch_id = batch}, err);
}

static void test_changes__commits_of_another_table_are_not_taken_for_older_ones(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, NUMBERED(20, 5, 1, "a"), BL_APPLY_CHANGES);
  assert_string_equal(position_told(&w), "{\"commit_snapshot_id\":20,\"commit_sequence_number\":5,\"commits\":\"20\"}");
  apply_fails(&w, NUMBERED(30, 4, 2, "b"), BL_APPLY_CHANGES, BL_USAGE, "commit 30 cannot be ordered");
  apply_fails(&w, IMAGE(30, 4, 2, "b"), BL_APPLY_CHANGES, BL_USAGE, "--batch-id");
  test_ok(apply_batch(&w, NUMBERED(30, 4, 2, "b"), "b", &err), &err);
  counts_are(&w, 1, 0, 0, 0);
  apply(&w, IMAGE(40, 6, 2, "c"), BL_APPLY_CHANGES);
  counts_are(&w, 0, 1, 0, 0);
  apply(&w, NUMBERED(20, 5, 1, "old") NUMBERED(30, 4, 2, "old"), BL_APPLY_CHANGES);
  passed_over(&w, 2);
  world_end(&w);
}

/* Commits from..to, of a row each. */
static char *many(int from, int to, bool numbered) {
  char number[64] = "";
  char *text = calloc((size_t)(to - from + 1), 200);
  for (int i = from; i <= to; i++) {
    if (numbered) snprintf(number, sizeof number, ",\"_commit_sequence_number\":%d", i);
    snprintf(text + strlen(text), 200,
             "{\"k\":%d,\"s\":\"a\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":%d%s}\n", i, i, number);
  }
  return text;
}

static void test_changes__of_which_too_many_were_applied_need_numbers(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  char *plain = many(1, 300, false), *exact = many(301, 310, true), *start = many(1, 2, false);
  char *numbered = many(1, 2, true), *next = many(311, 312, true), *overlap = many(309, 313, false);
  apply(&w, plain, BL_APPLY_CHANGES);
  counts_are(&w, 300, 0, 0, 0);
  apply_fails(&w, start, BL_APPLY_CHANGES, BL_USAGE, "line 1: commit 1 cannot be ordered");
  test_ok(apply_batch(&w, exact, "b", &err), &err);
  apply(&w, next, BL_APPLY_CHANGES);
  counts_are(&w, 2, 0, 0, 0);
  apply(&w, numbered, BL_APPLY_CHANGES);
  passed_over(&w, 2);
  apply_fails(&w, start, BL_APPLY_CHANGES, BL_USAGE, "_commit_sequence_number");
  apply(&w, overlap, BL_APPLY_CHANGES); /* it begins with what is known */
  counts_are(&w, 1, 0, 0, 0);
  passed_over(&w, 4);
  free(plain);
  free(exact);
  free(start);
  free(numbered);
  free(next);
  free(overlap);
  world_end(&w);
}

/* As older versions have kept it. */
static void test_changes__a_position_without_a_list_is_understood(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply(&w, COMMITTED(20, "a"), BL_APPLY_CHANGES);
  bl_snapshot *head = (bl_snapshot *)world_head(&w);
  for (size_t i = 0; i < head->summary.n; i++)
    if (strcmp(head->summary.items[i].key.p, "bergline.source-position") == 0)
      head->summary.items[i].value = BL_STR("{\"commit_snapshot_id\":20}");
  bl_error err = BL_ERROR_INIT;
  test_ok(test_apply(w.t, COMMITTED(10, "z") COMMITTED(20, "z") COMMITTED(30, "b"), BL_APPLY_CHANGES,
                     &(bl_write_options){.dry_run = true}, &w.r, &err),
          &err);
  assert_int_equal(w.r.events_passed_over, 2);
  counts_are(&w, 0, 1, 0, 0);
  world_end(&w);
}

/* CSV, as `changes -o FILE.csv` writes it: numbers of commits come as text. */
static void test_changes__may_be_rows_of_another_format(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string, d decimal(9,2), u uuid", NULL);
#define HEADER "k,s,d,u,_row_id,_last_updated_sequence_number,_change_type,_change_ordinal,_commit_snapshot_id\n"
  apply(&w,
        HEADER "1,\"a\nb\",1.50,00000000-0000-0000-0000-00000000000a,0,1,INSERT,0,11\n2,\"\",,,1,1,INSERT,0,11\n"
               "2,\"\",,,1,1,DELETE,1,12\n",
        BL_APPLY_CHANGES);
  counts_are(&w, 1, 0, 0, 0);
  assert_string_equal(position_told(&w),
                      "{\"commit_snapshot_id\":12,\"commit_sequence_number\":2,\"commits\":\"11,12\"}");
  world_holds(&w, "{\"k\":1,\"s\":\"a\\nb\",\"d\":\"1.50\",\"u\":\"00000000-0000-0000-0000-00000000000a\"}\n");
  apply(&w, HEADER "1,,,,0,1,INSERT,0,11\n", BL_APPLY_CHANGES);
  passed_over(&w, 1);
  apply_fails(&w, HEADER "1,,,,0,3,INSERT,0,13\n1,,,,0,3,MOVE,0,13\n", BL_APPLY_CHANGES, BL_USAGE,
              "row 2: _change_type");
  apply_fails(&w, "k,s\n1,a\n", BL_APPLY_CHANGES, BL_USAGE, "no column _change_type");
  apply_fails(&w, "k  s  _change_type\n1  a  INSERT\n", BL_APPLY_CHANGES, BL_USAGE, "is read as NDJSON, CSV");
  apply_fails(&w, "PAR1 and no more", BL_APPLY_CHANGES, BL_DAMAGED, "");
  world_end(&w);
}

static void test_changes__names_what_is_no_changelog(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  apply_fails(&w, "{\"k\":1,\"_commit_snapshot_id\":1}\n", BL_APPLY_CHANGES, BL_DAMAGED, "_change_type");
  apply_fails(&w, "{\"k\":1,\"_change_type\":\"INSERT\"}\n", BL_APPLY_CHANGES, BL_USAGE, "_commit_snapshot_id");
  apply_fails(&w, "{\"k\":1,\"_change_type\":\"MOVE\",\"_commit_snapshot_id\":1}\n", BL_APPLY_CHANGES, BL_USAGE,
              "MOVE");
  apply_fails(&w, "{\"k\":1,\"more\":2,\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":1}\n", BL_APPLY_CHANGES,
              BL_USAGE, "column more");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_debezium__the_last_event_of_a_key_counts),
      cmocka_unit_test(test_debezium__columns_that_no_event_has_keep_their_values),
      cmocka_unit_test(test_changes__columns_that_the_log_lacks_keep_their_values),
      cmocka_unit_test(test_debezium__a_deleted_key_that_comes_back_is_the_same_row),
      cmocka_unit_test(test_debezium__an_update_of_the_key_leaves_the_old_key_free),
      cmocka_unit_test(test_debezium__a_schema_tells_what_values_mean),
      cmocka_unit_test(test_debezium__without_a_schema_numbers_are_in_the_columns_unit),
      cmocka_unit_test(test_debezium__names_what_does_not_go_with_the_table),
      cmocka_unit_test(test_debezium__events_of_no_table_are_passed_over),
      cmocka_unit_test(test_debezium__rows_without_envelopes_say_what_they_are),
      cmocka_unit_test(test_debezium__rows_without_envelopes_fill_columns_of_what_was_added),
      cmocka_unit_test(test_partial__what_an_event_lacks_the_row_keeps),
      cmocka_unit_test(test_partial__events_of_a_key_tell_together),
      cmocka_unit_test(test_partial__a_deletion_ends_what_was_told),
      cmocka_unit_test(test_partial__a_value_that_was_left_out_is_kept_in_every_form),
      cmocka_unit_test(test_partial__arrays_that_are_like_what_was_left_out_are_values),
      cmocka_unit_test(test_partial__a_name_that_only_begins_like_the_key_is_another),
      cmocka_unit_test(test_partial__the_image_before_tells_what_was_left_out),
      cmocka_unit_test(test_partial__a_new_row_needs_what_it_cannot_do_without),
      cmocka_unit_test(test_partial__more_events_than_memory_holds_tell_together),
      cmocka_unit_test(test_positions__an_older_batch_is_not_applied_again),
      cmocka_unit_test(test_positions__of_a_binary_log_go_by_file_and_place),
      cmocka_unit_test(test_positions__new_events_at_the_same_one_are_applied),
      cmocka_unit_test(test_positions__the_last_events_of_a_batch_are_known_when_they_come_again),
      cmocka_unit_test(test_positions__know_an_event_that_their_source_sends_at_another_time),
      cmocka_unit_test(test_positions__tell_events_apart_by_what_is_inside_what),
      cmocka_unit_test(test_positions__of_oracle_and_of_snapshots_do_not_tell_events_apart),
      cmocka_unit_test(test_positions__are_kept_where_no_row_changes),
      cmocka_unit_test(test_positions__that_were_applied_do_not_hide_a_batch),
      cmocka_unit_test(test_positions__go_along_with_a_snapshot_that_is_picked),
      cmocka_unit_test(test_positions__a_pick_neither_leaves_events_out_nor_takes_them_twice),
      cmocka_unit_test(test_transactions__of_postgres_come_in_the_order_of_commits),
      cmocka_unit_test(test_transactions__without_their_commits_are_applied_as_they_come),
      cmocka_unit_test(test_transactions__a_snapshot_read_lies_where_it_was_made),
      cmocka_unit_test(test_transactions__of_oracle_come_in_the_order_of_commits),
      cmocka_unit_test(test_transactions__of_redo_threads_are_held_against_those_of_their_own),
      cmocka_unit_test(test_sources__have_a_position_each),
      cmocka_unit_test(test_sources__take_over_a_position_that_names_none),
      cmocka_unit_test(test_sources__another_server_has_a_log_of_its_own),
      cmocka_unit_test(test_sources__go_along_with_a_pick_each_by_itself),
      cmocka_unit_test(test_changes__make_a_copy_and_keep_it_up),
      cmocka_unit_test(test_changes__keys_that_change_places_in_one_commit_are_all_there),
      cmocka_unit_test(test_changes__that_were_applied_are_known_by_their_commits),
      cmocka_unit_test(test_changes__an_older_part_of_a_batch_is_not_applied_again),
      cmocka_unit_test(test_changes__commits_of_another_table_are_not_taken_for_older_ones),
      cmocka_unit_test(test_changes__of_which_too_many_were_applied_need_numbers),
      cmocka_unit_test(test_changes__a_position_without_a_list_is_understood),
      cmocka_unit_test(test_changes__may_be_rows_of_another_format),
      cmocka_unit_test(test_changes__names_what_is_no_changelog),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
