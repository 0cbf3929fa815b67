/* test_conform.c: columns of any Arrow layout as the table's columns. */
#include "column_stream.h"
#include "rows_world.h"
#include "write/input.h"

typedef struct conforming {
  rows_world w;
  test_rows got;
} conforming;

static void begin(conforming *c, const char *schema) {
  rows_world_begin(&c->w, &(bl_create_options){.schema = schema});
}

static bl_status conform(conforming *c, const input_column *cols, size_t n, size_t rows) {
  struct ArrowArrayStream in, out;
  c->w.err = (bl_error)BL_ERROR_INIT;
  c->got = (test_rows){0};
  make_stream(c->w.ctx, cols, n, rows, &in);
  bl_status st = bl_conform(c->w.ctx, bl_metadata_current_schema(c->w.t->metadata), &in, &out, &c->w.err);
  assert_null(in.release);
  return st == BL_OK ? test_rows_try_stream(c->w.ctx, &out, &c->got, &c->w.err) : st;
}

static void gives(conforming *c, const input_column *cols, size_t n, size_t rows, const char *ndjson) {
  test_rows want;
  test_ok(conform(c, cols, n, rows), &c->w.err);
  test_rows_parse(ndjson, strlen(ndjson), &want);
  test_rows_same_order(&want, &c->got, ndjson);
  test_rows_free(&want);
  test_rows_free(&c->got);
}

static void refuses(conforming *c, const input_column *cols, size_t n, size_t rows, bl_status want, const char *says) {
  bl_status st = conform(c, cols, n, rows);
  test_rows_free(&c->got);
  test_status(want, st, &c->w.err);
  test_says(&c->w.err, says);
}

static void test_conform__goes_by_name_and_fills_what_is_missing(void **state) {
  (void)state;
  conforming c;
  begin(&c, "a int, b string default 'x', st struct<p: int>, d long not null default 4");
  gives(&c, COLUMNS({"a", "i", {"1", "-"}}), 2,
        "{\"a\":1,\"b\":\"x\",\"st\":null,\"d\":4}\n{\"a\":null,\"b\":\"x\",\"st\":null,\"d\":4}\n");
  gives(&c, COLUMNS({"d", "l", {"9"}}, {"b", "u", {"-"}}), 1, "{\"a\":null,\"b\":null,\"st\":null,\"d\":9}\n");
  rows_world_end(&c.w);
}

static void test_conform__refuses_columns_that_cannot_be(void **state) {
  (void)state;
  conforming c;
  begin(&c, "a int, r long not null");
  refuses(&c, COLUMNS({"a", "i", {"1"}}), 1, BL_USAGE, "column r: a required column is missing");
  refuses(&c, COLUMNS({"r", "l", {"1"}}, {"zz", "i", {"1"}}), 1, BL_USAGE, "column zz: the table has no such column");
  refuses(&c, COLUMNS({"r", "l", {"1"}}, {"_row_id", "l", {"1"}}), 1, BL_USAGE, "column _row_id: it is no input");
  refuses(&c, COLUMNS({"r", "l", {"1"}}, {"a", "i", {"1"}}, {"a", "i", {"1"}}), 1, BL_USAGE,
          "column a: the input has it twice");
  refuses(&c, COLUMNS({"r", "l", {"1"}}, {"_row_id", "l", {"1"}}, {"_row_id", "u", {"1"}}), 1, BL_USAGE, "_row_id");
  refuses(&c, COLUMNS({"r", "l", {"1"}}, {"a", "tdD", {"1"}}), 1, BL_USAGE,
          "column a: a column of type date: does not fit int");
  refuses(&c, COLUMNS({"r", "l", {"1", "2", "-"}}), 3, BL_USAGE, "row 3: column r: null in a required column");
  rows_world_end(&c.w);
}

static void test_conform__casts_where_no_value_changes(void **state) {
  (void)state;
  conforming c;
  begin(&c, "i int, l long, f float, d double, e decimal(6,2)");
  gives(
      &c,
      COLUMNS({"i", "l", {"5", "-"}}, {"l", "i", {"-7", "0"}}, {"f", "g", {"1.5", "-"}}, {"d", "i", {"3", "4"}},
              {"e", "l", {"12", "-"}}),
      2,
      "{\"i\":5,\"l\":-7,\"f\":1.5,\"d\":3.0,\"e\":\"12.00\"}\n{\"i\":null,\"l\":0,\"f\":null,\"d\":4.0,\"e\":null}\n");
  gives(
      &c,
      COLUMNS({"i", "c", {"-5"}}, {"l", "I", {"7"}}, {"f", "s", {"9"}}, {"d", "f", {"0.25"}}, {"e", "d:9,3", {"1500"}}),
      1, "{\"i\":-5,\"l\":7,\"f\":9.0,\"d\":0.25,\"e\":\"1.50\"}\n");
  gives(&c, COLUMNS({"i", "g", {"5"}}, {"l", "u", {"12"}}, {"e", "u", {"1.5"}}, {"d", "n", {"-"}}), 1,
        "{\"i\":5,\"l\":12,\"f\":null,\"d\":null,\"e\":\"1.50\"}\n");
  refuses(&c, COLUMNS({"i", "l", {"1", "3000000000"}}), 2, BL_USAGE, "row 2: column i: 3000000000: does not fit int");
  refuses(&c, COLUMNS({"i", "g", {"1", "2", "2.5"}}), 3, BL_USAGE, "row 3: column i: 2.5: does not fit int");
  refuses(&c, COLUMNS({"f", "g", {"0.1"}}), 1, BL_USAGE, "row 1: column f: 0.1");
  refuses(&c, COLUMNS({"d", "l", {"9007199254740993"}}), 1, BL_USAGE,
          "column d: 9007199254740993: does not fit double");
  refuses(&c, COLUMNS({"e", "d:9,3", {"1501"}}), 1, BL_USAGE, "column e: 1.501: does not fit decimal(6, 2)");
  refuses(&c, COLUMNS({"e", "l", {"10000"}}), 1, BL_USAGE, "column e: 10000");
  refuses(&c, COLUMNS({"l", "u", {"x"}}), 1, BL_USAGE, "row 1: column l: x: does not fit long");
  rows_world_end(&c.w);
}

static void test_conform__keeps_times_with_and_without_zone_apart(void **state) {
  (void)state;
  conforming c;
  begin(&c, "ts timestamp, tz timestamptz, tn timestamp_ns, dt date, t time");
  gives(&c,
        COLUMNS({"ts", "tsn:", {"1000"}}, {"tz", "tsu:Europe/Berlin", {"5"}}, {"tn", "tdD", {"1"}},
                {"dt", "tdD", {"-1"}}),
        1,
        "{\"ts\":\"1970-01-01T00:00:00.000001\",\"tz\":\"1970-01-01T00:00:00.000005+00:00\","
        "\"tn\":\"1970-01-02T00:00:00.000000000\",\"dt\":\"1969-12-31\",\"t\":null}\n");
  gives(&c, COLUMNS({"ts", "tss:", {"-1"}}, {"tn", "tsm:", {"7"}}, {"t", "tts", {"61"}}), 1,
        "{\"ts\":\"1969-12-31T23:59:59.000000\",\"tz\":null,\"tn\":\"1970-01-01T00:00:00.007000000\",\"dt\":null,"
        "\"t\":\"00:01:01.000000\"}\n");
  refuses(&c, COLUMNS({"ts", "tsn:", {"1001"}}), 1, BL_USAGE, "row 1: column ts: 1001: does not fit timestamp");
  refuses(&c, COLUMNS({"tn", "tsu:", {"9223372036854775807"}}), 1, BL_USAGE, "column tn");
  refuses(&c, COLUMNS({"ts", "tsu:UTC", {"1"}}), 1, BL_USAGE,
          "column ts: a column of type timestamptz: does not fit timestamp");
  refuses(&c, COLUMNS({"tz", "tsu:", {"1"}}), 1, BL_USAGE,
          "column tz: a column of type timestamp: does not fit timestamptz");
  rows_world_end(&c.w);
}

static void test_conform__refuses_times_outside_of_a_day(void **state) {
  (void)state;
  conforming c;
  begin(&c, "t time");
  gives(&c, COLUMNS({"t", "ttu", {"86399999999", "0", "-"}}), 3,
        "{\"t\":\"23:59:59.999999\"}\n{\"t\":\"00:00:00.000000\"}\n{\"t\":null}\n");
  refuses(&c, COLUMNS({"t", "ttu", {"0", "-", "86400000000"}}), 3, BL_USAGE,
          "row 3: column t: 86400000000 us: it is no time of a day");
  refuses(&c, COLUMNS({"t", "ttu", {"-1"}}), 1, BL_USAGE, "row 1: column t: -1 us: it is no time of a day");
  refuses(&c, COLUMNS({"t", "ttn", {"108000000000000"}}), 1, BL_USAGE, "it is no time of a day");
  refuses(&c, COLUMNS({"t", "tts", {"1", "86400"}}), 2, BL_USAGE, "row 2: column t");
  refuses(&c, COLUMNS({"t", "ttm", {"-5"}}), 1, BL_USAGE, "row 1: column t");
  rows_world_end(&c.w);
}

static void test_conform__takes_bytes_of_the_right_length(void **state) {
  (void)state;
  conforming c;
  begin(&c, "u uuid, x fixed[4], y binary, s string, v variant");
  gives(&c,
        COLUMNS({"u", "z", {"0123456789abcdef"}}, {"x", "w:4", {"abcd"}}, {"y", "w:2", {"hi"}},
                {"s", "u", {"\xc3\xa9"}}, {"v", "u", {"{\"a\":1}"}}),
        1,
        "{\"u\":\"30313233-3435-3637-3839-616263646566\",\"x\":\"YWJjZA==\",\"y\":\"aGk=\",\"s\":\"\xc3\xa9\",\"v\":{"
        "\"a\":1}}\n");
  refuses(&c, COLUMNS({"x", "z", {"abc"}}), 1, BL_USAGE, "column x: a wrong number of bytes");
  refuses(&c, COLUMNS({"x", "w:3", {"abc"}}), 1, BL_USAGE,
          "column x: a column of type fixed[3]: does not fit fixed[4]");
  refuses(&c, COLUMNS({"s", "u", {"fine", "\xff"}}), 2, BL_USAGE, "row 2: column s: not UTF-8");
  refuses(&c, COLUMNS({"y", "u", {"AA=="}}), 1, BL_USAGE, "column y");
  refuses(&c, COLUMNS({"v", "u", {"{"}}), 1, BL_USAGE, "column v");
  rows_world_end(&c.w);
}

/* ---- nested columns: an input table's rows, by IPC-like streams of another schema ---- */

/* Rows of a table of `from` columns into a table of `to` columns. */
static bl_status between(const char *from, const char *rows, const char *to, test_rows *got, bl_error *err) {
  rows_world a, b;
  struct ArrowArrayStream in, out;
  bl_scan_options o = {0};
  rows_world_begin(&a, &(bl_create_options){.schema = from});
  rows_world_append(&a, rows);
  rows_world_begin(&b, &(bl_create_options){.schema = to});
  test_ok(bl_scan(a.t, &o, &in, &a.err), &a.err);
  *got = (test_rows){0};
  bl_status st = bl_conform(b.ctx, bl_metadata_current_schema(b.t->metadata), &in, &out, err);
  if (st == BL_OK) st = test_rows_try_stream(b.ctx, &out, got, err);
  rows_world_end(&b);
  rows_world_end(&a);
  return st;
}

static void test_conform__puts_nested_columns_together_again(void **state) {
  (void)state;
  test_rows got, want;
  bl_error err = BL_ERROR_INIT;
  test_ok(
      between(
          "st struct<b: int, a: string>, li list<int>, m map<string, struct<x: int>>, ll list<list<int>>",
          "{\"st\":{\"a\":\"q\",\"b\":1},\"li\":[1,null],\"m\":{\"k\":{\"x\":1},\"z\":null},\"ll\":[[1],null,[]]}\n"
          "{\"st\":null,\"li\":null,\"m\":{},\"ll\":null}\n{\"st\":{\"b\":7},\"li\":[],\"m\":null,\"ll\":[]}\n",
          "ll list<list<long>>, st struct<a: string, c: int, b: long>, li list<long>, m map<string, struct<y: int, x: "
          "double>>",
          &got, &err),
      &err);
  static const char expected[] = "{\"ll\":[[1],null,[]],\"st\":{\"a\":\"q\",\"c\":null,\"b\":1},\"li\":[1,null],\"m\":{"
                                 "\"k\":{\"y\":null,\"x\":1.0},\"z\":"
                                 "null}}\n{\"ll\":null,\"st\":null,\"li\":null,\"m\":{}}\n{\"ll\":[],\"st\":{\"a\":"
                                 "null,\"c\":null,\"b\":7},\"li\":[],"
                                 "\"m\":null}\n";
  test_rows_parse(expected, sizeof expected - 1, &want);
  test_rows_same_order(&want, &got, "nested");
  test_rows_free(&want);
  test_rows_free(&got);
}

static void test_conform__names_the_row_of_a_nested_value(void **state) {
  (void)state;
  test_rows got;
  bl_error err = BL_ERROR_INIT;
  bl_status st =
      between("li list<long>", "{\"li\":[1,2]}\n{\"li\":[]}\n{\"li\":[3,3000000000]}\n", "li list<int>", &got, &err);
  test_status(BL_USAGE, st, &err);
  test_says(&err, "row 3: column li.element: 3000000000");
  err = (bl_error)BL_ERROR_INIT;
  test_rows_free(&got);
  st = between("st struct<a: int>", "{\"st\":{\"a\":1}}\n{\"st\":null}\n{\"st\":{}}\n", "st struct<a: int not null>",
               &got, &err);
  test_status(BL_USAGE, st, &err);
  test_says(&err, "row 3: column st.a: null in a required column");
  test_rows_free(&got);
  err = (bl_error)BL_ERROR_INIT;
  st = between("st struct<a: int, z: int>", "{}\n", "st struct<a: int>", &got, &err);
  test_status(BL_USAGE, st, &err);
  test_says(&err, "column st.z: the table has no such column");
  test_rows_free(&got);
}

static void test_conform__cuts_large_batches(void **state) {
  (void)state;
  enum { ROWS = 150000 };
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch, part;
  struct ArrowArrayStream in, out;
  bl_builder *b;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, n int"});
  test_ok(bl_aschema_new(ctx, "+s", BL_STR(""), false, 2, &schema, &err), &err);
  test_ok(bl_aschema_new(ctx, "l", BL_STR("k"), true, 0, schema.children[0], &err), &err);
  test_ok(bl_aschema_new(ctx, "l", BL_STR("n"), true, 0, schema.children[1], &err), &err);
  test_ok(bl_builder_new(ctx, &schema, &b, &err), &err);
  for (int i = 0; i < ROWS; i++) {
    test_ok(bl_builder_int(bl_builder_child(b, 0), 5 + i, &err), &err);
    test_ok(bl_builder_int(bl_builder_child(b, 1), 5 + i, &err), &err);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &batch, &err), &err);
  bl_builder_free(b);
  stream_of(ctx, &schema, &batch, &in);
  test_ok(bl_conform(ctx, bl_metadata_current_schema(w.t->metadata), &in, &out, &err), &err);
  int64_t seen = 0;
  for (;;) {
    test_ok(bl_stream_next(&out, &part, &err), &err);
    if (!part.release) break;
    assert_true(part.length <= 65536);
    const struct ArrowArray *k = part.children[0], *n = part.children[1];
    assert_int_equal(((const int64_t *)k->buffers[1])[k->offset], 5 + seen);
    assert_int_equal(((const int32_t *)n->buffers[1])[n->offset + n->length - 1], 5 + seen + part.length - 1);
    seen += part.length;
    bl_array_release(&part);
  }
  assert_int_equal(seen, ROWS);
  bl_stream_release(&out);
  rows_world_end(&w);
  test_ctx_free(ctx);
}

static void test_conform__keeps_unknown_columns_behind_where_asked_to(void **state) {
  (void)state;
  conforming c;
  struct ArrowArrayStream in, out;
  static const input_column cols[] = {{"op", "u", {"D"}}, {"a", "i", {"1"}}, {"n", "s", {"3"}}};
  begin(&c, "a long, b int");
  make_stream(c.w.ctx, cols, 3, 1, &in);
  bl_conform_options o = {.keep_unknown = true};
  test_ok(bl_conform_with(c.w.ctx, bl_metadata_current_schema(c.w.t->metadata), &o, &in, &out, &c.w.err), &c.w.err);
  test_rows_stream(c.w.ctx, &out, &c.got);
  assert_string_equal(c.got.columns, "a,b,op,n");
  assert_string_equal(c.got.lines[0], "{\"a\":1,\"b\":null,\"n\":3,\"op\":\"D\"}");
  test_rows_free(&c.got);
  rows_world_end(&c.w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conform__goes_by_name_and_fills_what_is_missing),
      cmocka_unit_test(test_conform__refuses_columns_that_cannot_be),
      cmocka_unit_test(test_conform__casts_where_no_value_changes),
      cmocka_unit_test(test_conform__keeps_times_with_and_without_zone_apart),
      cmocka_unit_test(test_conform__refuses_times_outside_of_a_day),
      cmocka_unit_test(test_conform__takes_bytes_of_the_right_length),
      cmocka_unit_test(test_conform__puts_nested_columns_together_again),
      cmocka_unit_test(test_conform__names_the_row_of_a_nested_value),
      cmocka_unit_test(test_conform__cuts_large_batches),
      cmocka_unit_test(test_conform__keeps_unknown_columns_behind_where_asked_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
