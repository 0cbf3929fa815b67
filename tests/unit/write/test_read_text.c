/* test_read_text.c: CSV and NDJSON as rows of the table's columns. */
#include "rows_world.h"
#include "write/input.h"

/* A table of these columns; text is read as the format says, and comes out as NDJSON. */
typedef struct reading {
  rows_world w;
  test_rows got;
} reading;

static void begin(reading *r, const char *schema) {
  rows_world_begin(&r->w, &(bl_create_options){.schema = schema});
}

static void end(reading *r) {
  rows_world_end(&r->w);
}

static bl_status read_text(reading *r, bl_input_format format, const char *text, size_t n, bool extra) {
  text_input in = text_input_of(text, n);
  bl_read_options o = {.format = format, .extra_columns = extra};
  struct ArrowArrayStream s;
  r->w.err = (bl_error)BL_ERROR_INIT;
  r->got = (test_rows){0};
  bl_status st = bl_read_rows(r->w.t, &in.in, "rows", &o, &s, &r->w.err);
  return st == BL_OK ? test_rows_try_stream(r->w.ctx, &s, &r->got, &r->w.err) : st;
}

static void gives(reading *r, bl_input_format format, const char *text, const char *ndjson) {
  test_rows want;
  test_ok(read_text(r, format, text, strlen(text), false), &r->w.err);
  test_rows_parse(ndjson, strlen(ndjson), &want);
  test_rows_same_order(&want, &r->got, text);
  test_rows_free(&want);
  test_rows_free(&r->got);
}

static void refuses(reading *r, bl_input_format format, const char *text, bl_status want, const char *says) {
  bl_status st = read_text(r, format, text, strlen(text), false);
  test_rows_free(&r->got);
  test_status(want, st, &r->w.err);
  test_says(&r->w.err, says);
}

/* ---- CSV ---- */

static void test_read_csv__tells_null_from_the_empty_string(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long, s string");
  gives(&r, BL_INPUT_CSV, "k,s\n1,a\n2,\n3,\"\"\n,\"\"\n",
        "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":null}\n{\"k\":3,\"s\":\"\"}\n{\"k\":null,\"s\":\"\"}\n");
  end(&r);
}

static void test_read_csv__takes_quotes_and_line_ends_as_rfc_4180_has_them(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long, s string");
  gives(&r, BL_INPUT_CSV, "\xef\xbb\xbf\"s\",k\r\n\"a,\"\"b\"\"\r\nc\",1\r\n\n  x ,2",
        "{\"s\":\"a,\\\"b\\\"\\r\\nc\",\"k\":1}\n{\"s\":\"  x \",\"k\":2}\n");
  gives(&r, BL_INPUT_CSV, "s\n\na\n", "{\"s\":null}\n{\"s\":\"a\"}\n"); /* one column: an empty line is a null */
  gives(&r, BL_INPUT_CSV, "k,s\n", "");
  end(&r);
}

static void test_read_csv__takes_its_types_from_the_table(void **state) {
  (void)state;
  reading r;
  begin(&r, "b boolean, i int, f float, d decimal(9,2), dt date, tz timestamptz, u uuid, y binary, st struct<a: int>, "
            "li list<string>, v variant");
  gives(&r, BL_INPUT_CSV,
        "b,i,f,d,dt,tz,u,y,st,li,v\n"
        "TRUE,-5,NaN,1.5,2026-01-31,2026-01-31T12:00:00+02:00,B6A3CD6E-6d23-4f0b-8f5c-0a4e0e7a1f00,AAE=,\"{\"\"a\"\":1}"
        "\","
        "\"[\"\"x\"\",null]\",\"[1,{\"\"z\"\":null}]\"\n",
        "{\"b\":true,\"i\":-5,\"f\":\"NaN\",\"d\":\"1.50\",\"dt\":\"2026-01-31\",\"tz\":\"2026-01-31T10:00:00.000000+"
        "00:00\","
        "\"u\":\"b6a3cd6e-6d23-4f0b-8f5c-0a4e0e7a1f00\",\"y\":\"AAE=\",\"st\":{\"a\":1},\"li\":[\"x\",null],"
        "\"v\":[1,{\"z\":null}]}\n");
  end(&r);
}

static void test_read_csv__takes_times_and_booleans_as_other_programs_dump_them(void **state) {
  (void)state;
  reading r;
  begin(&r, "k int, b boolean, ts timestamp, tz timestamptz");
  gives(&r, BL_INPUT_CSV,
        "k,b,ts,tz\n"
        "1,t,2026-01-31 12:00:00,2026-01-31 12:00:00+00\n"
        "2,F,2026-01-31,2026-01-31 12:00:00.5-0530\n"
        "3,YES,2026-01-31T12:00,2026-01-31t12:00:00z\n"
        "4,no,,2026-01-31 12:00:00 UTC\n"
        "5,1,,2026-01-31+01:00\n"
        "6,0,,\n",
        "{\"k\":1,\"b\":true,\"ts\":\"2026-01-31T12:00:00.000000\",\"tz\":\"2026-01-31T12:00:00.000000+00:00\"}\n"
        "{\"k\":2,\"b\":false,\"ts\":\"2026-01-31T00:00:00.000000\",\"tz\":\"2026-01-31T17:30:00.500000+00:00\"}\n"
        "{\"k\":3,\"b\":true,\"ts\":\"2026-01-31T12:00:00.000000\",\"tz\":\"2026-01-31T12:00:00.000000+00:00\"}\n"
        "{\"k\":4,\"b\":false,\"ts\":null,\"tz\":\"2026-01-31T12:00:00.000000+00:00\"}\n"
        "{\"k\":5,\"b\":true,\"ts\":null,\"tz\":\"2026-01-30T23:00:00.000000+00:00\"}\n"
        "{\"k\":6,\"b\":false,\"ts\":null,\"tz\":null}\n");
  end(&r);
}

static void test_read_csv__says_which_form_is_expected(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"b", "2", "2: does not fit boolean: true or false (t, f, yes, no, y, n, 1, 0) is expected"},
      {"i", "1.5", "1.5: does not fit int: a whole number of 32 bits is expected"},
      {"f", "1:5", "1:5: does not fit double: a number, NaN"},
      {"dt", "31.01.2026", "31.01.2026: does not fit date: a form like 2026-01-31 is expected"},
      {"tm", "noon", "noon: does not fit time: a form like 12:00:00.000000 is expected"},
      {"ts", "31.01.2026", "does not fit timestamp: a form like 2026-01-31T12:00:00.000000 is expected"},
      {"ts", "2026-01-31Z", "2026-01-31Z: a zone, but the column has none"},
      {"tz", "now", "does not fit timestamptz: a form like 2026-01-31T12:00:00.000000+01:00 is expected"},
      {"tz", "2026-01-31", "2026-01-31: the zone is missing"}, /* whose midnight is not said */
      {"tz", "2026-01-31 12:00:00", "the zone is missing (as in 2026-01-31T12:00:00Z or +01:00)"},
      {"tn", "now", "a form like 2026-01-31T12:00:00.000000000 is expected"},
      {"u", "1", "1: does not fit uuid: a form like f79c3e09-677c-4bbd-a479-3f349cb785e7 is expected"},
      {"li", "{}", "does not fit list<string>: a JSON array is expected"},
      {"st", "[]", ": a JSON object is expected"}};
  reading r;
  begin(&r, "b boolean, i int, f double, dt date, tm time, ts timestamp, tz timestamptz, tn timestamp_ns, u uuid, "
            "li list<string>, st struct<a: int>");
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    char text[200];
    snprintf(text, sizeof text, "%s\n%s\n", cases[i][0], cases[i][1]);
    refuses(&r, BL_INPUT_CSV, text, BL_USAGE, cases[i][2]);
  }
  end(&r);
}

static void test_read_ndjson__takes_times_as_other_programs_dump_them_but_booleans_as_json_has_them(void **state) {
  (void)state;
  reading r;
  begin(&r, "k int, b boolean, ts timestamp, tz timestamptz");
  gives(&r, BL_INPUT_NDJSON, "{\"k\":1,\"ts\":\"2026-01-31\",\"tz\":\"2026-01-31 12:00:00+00\"}\n",
        "{\"k\":1,\"b\":null,\"ts\":\"2026-01-31T00:00:00.000000\",\"tz\":\"2026-01-31T12:00:00.000000+00:00\"}\n");
  static const char *const wrong[] = {"1", "\"t\"", "\"true\"", "\"yes\""};
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    char text[100];
    snprintf(text, sizeof text, "{\"b\":%s}\n", wrong[i]);
    refuses(&r, BL_INPUT_NDJSON, text, BL_USAGE, "does not fit boolean: true or false is expected");
  }
  end(&r);
}

static void test_read_csv__names_the_place_of_what_is_wrong(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long, s string, d decimal(4,2)");
  refuses(&r, BL_INPUT_CSV, "", BL_DAMAGED, "empty");
  refuses(&r, BL_INPUT_CSV, "k,k\n1,1\n", BL_USAGE, "column k: the header has it twice");
  refuses(&r, BL_INPUT_CSV, "k,zz\n1,1\n", BL_USAGE, "column zz: the table has no such column");
  refuses(&r, BL_INPUT_CSV, "k,_row_id\n1,1\n", BL_USAGE, "column _row_id: it is no input");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,a\n2\n", BL_DAMAGED, "line 3: 1 fields, the header has 2");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,\"a\nb\"\n2,a,b\n", BL_DAMAGED, "line 4: 3 fields");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,\"a", BL_DAMAGED, "line 2: a quoted field does not end");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,\"a\"b\n", BL_DAMAGED, "line 2: something follows a closing quote");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,a\"b\n", BL_DAMAGED, "line 2: a quote inside");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,a\nx,b\n", BL_USAGE, "row 2 (byte 8): column k: x: does not fit long");
  refuses(&r, BL_INPUT_CSV, "k,d\n1,123.45\n", BL_USAGE, "column d: 123.45: does not fit decimal(4, 2)");
  refuses(&r, BL_INPUT_CSV, "k,s\n1,\xff\n", BL_USAGE, "column s: not UTF-8");
  end(&r);
}

static void test_read_csv__gives_columns_that_the_table_lacks_where_asked_to(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long");
  static const char text[] = "op,k,_row_id\nD,1,7\n";
  test_ok(read_text(&r, BL_INPUT_CSV, text, sizeof text - 1, true), &r.w.err);
  assert_string_equal(r.got.lines[0], "{\"_row_id\":\"7\",\"k\":1,\"op\":\"D\"}");
  test_rows_free(&r.got);
  end(&r);
}

/* Records across pieces of the file, and batches across 65,536 rows. */
static void test_read_csv__reads_files_of_any_length(void **state) {
  (void)state;
  enum { ROWS = 70000 };
  reading r;
  begin(&r, "k long, s string");
  char *text = malloc((size_t)ROWS * 40 + 600000), *p = text;
  assert_non_null(text);
  p += sprintf(p, "k,s\n");
  for (int i = 0; i < ROWS; i++) {
    p += sprintf(p, "%d,\"line\n%d\"\n", i, i);
    if (i != 35000) continue;
    p += sprintf(p, "-1,");
    memset(p, 'x', 500000); /* longer than a piece */
    p += 500000;
    *p++ = '\n';
  }
  test_ok(read_text(&r, BL_INPUT_CSV, text, (size_t)(p - text), false), &r.w.err);
  assert_int_equal(r.got.n, ROWS + 1);
  assert_int_equal(test_rows_int(&r.got, 35001, "k"), -1);
  for (size_t i = 35002; i < r.got.n; i += 777) assert_int_equal(test_rows_int(&r.got, i, "k"), (int64_t)i - 1);
  test_rows_free(&r.got);
  free(text);
  end(&r);
}

/* ---- NDJSON ---- */

static const char every_type[] =
    "b boolean, i int, l long, f float, d double, de decimal(9,2), dt date, t time, ts timestamp, tz timestamptz, tn "
    "timestamp_ns, s string, u uuid, x fixed[2], y binary, v variant, g geometry, un unknown, st struct<a: int, b: "
    "string>, "
    "li list<int>, m map<string, int>, ml map<int, struct<z: double>>";

static void test_read_ndjson__takes_back_what_ndjson_output_prints(void **state) {
  (void)state;
  static const char row[] =
      "{\"b\":true,\"i\":-1,\"l\":9223372036854775807,\"f\":1.5,\"d\":\"-Infinity\",\"de\":\"1.50\",\"dt\":\"0001-01-"
      "01\","
      "\"t\":\"23:59:59.999999\",\"ts\":\"1969-12-31T23:59:59.999999\",\"tz\":\"9999-12-31T23:59:59.999999+00:00\","
      "\"tn\":\"2026-01-31T00:00:00.000000001\",\"s\":\"\\u0000\\\"\xc3\xa9\",\"u\":\"b6a3cd6e-6d23-4f0b-8f5c-"
      "0a4e0e7a1f00\","
      "\"x\":\"AAE=\",\"y\":\"\",\"v\":{\"a\":[1,1.25,\"x\",null,true]},\"g\":\"AQEAAAAAAAAAAADwPwAAAAAAAABA\",\"un\":"
      "null,"
      "\"st\":{\"a\":null,\"b\":\"q\"},\"li\":[1,null],\"m\":{\"b\":1,\"a\":null},"
      "\"ml\":[{\"key\":2,\"value\":{\"z\":\"NaN\"}},{\"key\":1,\"value\":null}]}\n";
  reading r;
  begin(&r, every_type);
  gives(&r, BL_INPUT_NDJSON, row, row);
  end(&r);
}

static void test_read_ndjson__fills_missing_members_with_defaults(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long not null default 5, s string default 'x', st struct<a: int, b: string>");
  gives(&r, BL_INPUT_NDJSON, "{}\n\n  \n{\"k\":1,\"s\":null,\"st\":{}}",
        "{\"k\":5,\"s\":\"x\",\"st\":null}\n{\"k\":1,\"s\":null,\"st\":{\"a\":null,\"b\":null}}\n");
  end(&r);
}

static void test_read_ndjson__takes_whole_numbers_however_they_are_written(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long, d decimal(5,1), f double");
  gives(&r, BL_INPUT_NDJSON, "{\"k\":1.0,\"d\":12,\"f\":7}\n{\"d\":1.50,\"f\":1e3}\n",
        "{\"k\":1,\"d\":\"12.0\",\"f\":7.0}\n{\"k\":null,\"d\":\"1.5\",\"f\":1000.0}\n");
  end(&r);
}

static void test_read_ndjson__names_row_and_column_of_what_does_not_fit(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bl_status st;
    const char *says;
  } wrong[] = {
      {"{\"l\":1}\n{\"l\":\"1\"}\n", BL_USAGE, "row 2 (byte 8): column l: \"1\": does not fit long"},
      {"{\"i\":2147483648}\n", BL_USAGE, "column i: 2147483648: does not fit int"},
      {"{\"l\":9223372036854775808}\n", BL_USAGE, "column l"},
      {"{\"l\":1.5}\n", BL_USAGE, "column l: 1.5"},
      {"{\"b\":1}\n", BL_USAGE, "column b: 1: does not fit boolean"},
      {"{\"f\":\"nan\"}\n", BL_USAGE, "column f"},
      {"{\"de\":\"1.505\"}\n", BL_USAGE, "column de: 1.505: does not fit decimal(9, 2)"},
      {"{\"de\":\"12345678.00\"}\n", BL_USAGE, "column de"},
      {"{\"dt\":\"2026-02-30\"}\n", BL_USAGE, "column dt"},
      {"{\"dt\":20000}\n", BL_USAGE, "column dt"},
      {"{\"ts\":\"2026-01-01T00:00:00Z\"}\n", BL_USAGE,
       "column ts: 2026-01-01T00:00:00Z: a zone, but the column has none"},
      {"{\"tz\":\"2026-01-01T00:00:00\"}\n", BL_USAGE, "column tz: 2026-01-01T00:00:00: the zone is missing"},
      {"{\"ts\":\"2026-01-01T00:00:00.0000001\"}\n", BL_USAGE, "column ts"},
      {"{\"u\":\"x\"}\n", BL_USAGE, "column u: x: does not fit uuid"},
      {"{\"x\":\"AAEC\"}\n", BL_USAGE, "column x: AAEC: does not fit fixed[2]"},
      {"{\"y\":\"!\"}\n", BL_USAGE, "column y: !: not base64"},
      {"{\"un\":1}\n", BL_USAGE, "column un"},
      {"{\"st\":{\"a\":\"x\"}}\n", BL_USAGE, "column st.a: \"x\": does not fit int"},
      {"{\"st\":{\"q\":1}}\n", BL_USAGE, "column st.q: the table has no such column"},
      {"{\"st\":[]}\n", BL_USAGE, "column st"},
      {"{\"li\":[1,\"x\"]}\n", BL_USAGE, "column li.element"},
      {"{\"m\":[{\"key\":\"a\"},{\"val\":1}]}\n", BL_USAGE, "column m"},
      {"{\"ml\":{\"1\":null}}\n", BL_USAGE, "column ml"},
      {"{\"ml\":[{\"key\":null}]}\n", BL_USAGE, "column ml.key: null in a required column"},
      {"{\"zz\":1}\n", BL_USAGE, "row 1 (byte 0): column zz: the table has no such column"},
      {"{\"_row_id\":1}\n", BL_USAGE, "column _row_id: it is no input"},
      {"{\"l\":1,\"l\":2}\n", BL_DAMAGED, "row 1"},
      {"{\"l\":1}\n[1]\n", BL_DAMAGED, "row 2 (byte 8): a row must be a JSON object"},
      {"{\"l\":1}\n{\"l\":\n", BL_DAMAGED, "row 2"},
  };
  reading r;
  begin(&r, every_type);
  for (size_t i = 0; i < BL_LEN(wrong); i++) refuses(&r, BL_INPUT_NDJSON, wrong[i].text, wrong[i].st, wrong[i].says);
  end(&r);
  begin(&r, "k long not null");
  refuses(&r, BL_INPUT_NDJSON, "{\"k\":1}\n{\"k\":null}\n", BL_USAGE,
          "row 2 (byte 8): column k: null in a required column");
  refuses(&r, BL_INPUT_NDJSON, "{}\n", BL_USAGE, "column k: a required column without value");
  end(&r);
}

static void test_read_ndjson__infers_extra_columns_from_the_first_rows(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long");
  static const char text[] = "{\"k\":1,\"op\":null,\"n\":1,\"x\":true,\"j\":[1]}\n"
                             "{\"k\":2,\"op\":\"D\",\"n\":1.5,\"x\":false,\"j\":{\"a\":1}}\n{\"k\":3}\n";
  test_ok(read_text(&r, BL_INPUT_NDJSON, text, sizeof text - 1, true), &r.w.err);
  assert_int_equal(r.got.n, 3);
  assert_string_equal(r.got.columns, "k,op,n,x,j");
  assert_string_equal(r.got.lines[0], "{\"j\":\"[1]\",\"k\":1,\"n\":1.0,\"op\":null,\"x\":true}");
  assert_string_equal(r.got.lines[1], "{\"j\":\"{\\\"a\\\":1}\",\"k\":2,\"n\":1.5,\"op\":\"D\",\"x\":false}");
  assert_string_equal(r.got.lines[2], "{\"j\":null,\"k\":3,\"n\":null,\"op\":null,\"x\":null}");
  test_rows_free(&r.got);
  end(&r);
}

static void test_read_ndjson__leaves_out_columns_that_the_first_rows_do_not_name(void **state) {
  (void)state;
  reading r;
  begin(&r, "k long, s string, v int default 7");
  static const char text[] = "{\"k\":1,\"op\":\"U\"}\n{\"k\":2,\"v\":null}\n";
  test_ok(read_text(&r, BL_INPUT_NDJSON, text, sizeof text - 1, true), &r.w.err);
  assert_string_equal(r.got.columns, "k,v,op");
  assert_string_equal(r.got.lines[0], "{\"k\":1,\"op\":\"U\",\"v\":7}");
  assert_string_equal(r.got.lines[1], "{\"k\":2,\"op\":null,\"v\":null}");
  test_rows_free(&r.got);
  end(&r);
}

static void test_read_ndjson__refuses_a_column_that_comes_after_the_first_rows(void **state) {
  (void)state;
  enum { BLANK = 1 << 20 };
  reading r;
  begin(&r, "k long, s string");
  char *text = malloc(BLANK + 64);
  assert_non_null(text);
  int n = snprintf(text, BLANK + 64, "{\"k\":1}%*s\n{\"k\":2,\"s\":\"x\"}\n", BLANK, "");
  bl_status st = read_text(&r, BL_INPUT_NDJSON, text, (size_t)n, true);
  test_status(BL_USAGE, st, &r.w.err);
  test_says(&r.w.err, "column s: the first rows do not have it, not even as null");
  test_rows_free(&r.got);
  free(text);
  end(&r);
}

/* ---- which format ---- */

static void test_read_rows__knows_a_format_by_name_or_bytes(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    size_t rows;
  } files[] = {{"a.csv", "k\n1\n", 1},    {"A.NDJSON", "{\"k\":1}", 1}, {"b.json", "", 0},
               {NULL, " {\"k\":1}\n", 1}, {NULL, "k\n1\n2\n", 2},       {"x.y/rows", "k\n1\n", 1},
               {"a.csv.gz", "k\n1\n", 1}, {".gz", "k\n1\n", 1}};
  reading r;
  begin(&r, "k long");
  for (size_t i = 0; i < BL_LEN(files); i++) {
    text_input in = text_input_of(files[i].text, strlen(files[i].text));
    struct ArrowArrayStream s;
    test_ok(bl_read_rows(r.w.t, &in.in, files[i].name, NULL, &s, &r.w.err), &r.w.err);
    test_rows_stream(r.w.ctx, &s, &r.got);
    assert_int_equal(r.got.n, files[i].rows);
    test_rows_free(&r.got);
  }
  bl_input_format f;
  assert_true(bl_input_format_of("arrow", &f) && f == BL_INPUT_ARROW);
  assert_false(bl_input_format_of("xml", &f));
  end(&r);
}

/* ---- pipes ---- */

typedef struct pipe_text {
  const char *text;
  size_t at;
} pipe_text;

static bl_status read_pipe(void *user, void *p, size_t n, size_t *got, bl_error *err) {
  pipe_text *x = user;
  size_t left = strlen(x->text) - x->at;
  (void)err;
  *got = left < 3 ? left : 3;
  if (*got > n) *got = n;
  memcpy(p, x->text + x->at, *got);
  x->at += *got;
  return BL_OK;
}

/* ---- gzip ---- */

static void pack_member(bl_ctx *ctx, const char *text, size_t n, bl_buf *out) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_gzip(ctx, text, n, out, &err), &err);
}

/* What is wrapped is the text again, or nothing is (status). */
static bl_status unpacked_is(bl_ctx *ctx, const void *p, size_t n, const char *want, size_t n_want, bl_error *err) {
  text_input packed = text_input_of(p, n);
  bl_input *in = &packed.in;
  *err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_input_unpack(ctx, "rows.csv.gz", &in, err);
  if (st == BL_OK) {
    char *got = malloc(n_want + 1);
    assert_int_equal(in->size, n_want);
    test_ok(in->read_at(in, 0, got, n_want, err), err);
    assert_memory_equal(got, want, n_want);
    free(got);
  } else assert_ptr_equal(in, &packed.in);
  in->close(in);
  return st;
}

static void test_input_unpack__gives_what_members_of_gzip_hold(void **state) {
  (void)state;
  enum { LONG = 300000 };
  bl_ctx *ctx = test_ctx();
  bl_error err;
  bl_buf b;
  char *text = malloc(LONG);
  for (size_t i = 0; i < LONG; i++) text[i] = (char)('a' + (i * i + i / 7) % 26);
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  pack_member(ctx, text, LONG, &b);
  test_ok(unpacked_is(ctx, b.p, b.n, text, LONG, &err), &err);
  bl_buf_clear(&b);
  pack_member(ctx, text, LONG / 2, &b);
  pack_member(ctx, "", 0, &b);
  pack_member(ctx, text + LONG / 2, LONG / 2, &b);
  test_ok(unpacked_is(ctx, b.p, b.n, text, LONG, &err), &err);
  test_ok(unpacked_is(ctx, text, 5, text, 5, &err), &err); /* no gzip: as it is */
  test_ok(unpacked_is(ctx, "", 0, "", 0, &err), &err);
  bl_buf_free(&b);
  free(text);
  test_ctx_free(ctx);
}

static void test_input_unpack__refuses_what_is_cut_or_damaged(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  pack_member(ctx, "id,v\n1,a\n", 9, &b);
  for (size_t n = 2; n < b.n; n++) {
    test_status(BL_DAMAGED, unpacked_is(ctx, b.p, n, "", 0, &err), &err);
    test_says(&err, "rows.csv.gz: gzip: byte ");
  }
  b.p[b.n - 5] ^= 1; /* the checksum */
  test_status(BL_DAMAGED, unpacked_is(ctx, b.p, b.n, "", 0, &err), &err);
  b.p[b.n - 5] ^= 1;
  bl_buf_str(&b, BL_STR("more"));
  test_status(BL_DAMAGED, unpacked_is(ctx, b.p, b.n, "", 0, &err), &err);
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

/* ---- Arrow ---- */

static bl_status append_file(rows_world *w, const char *name) {
  char *path = test_path(name);
  const char *const paths[] = {path};
  struct ArrowArrayStream rows;
  w->err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_read_files(w->t, NULL, paths, 1, NULL, &rows, &w->err);
  if (st == BL_OK) st = bl_append(w->t, &rows, NULL, &w->result, &w->err);
  free(path);
  return st;
}

/* Arrow's own cast of a list view leaves the end of its last list out. */
static void test_read_arrow__takes_views_of_lists_and_runs_at_every_level(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "views list<int>, large list<long>, runs string, "
                                                      "deep struct<r: string, l: list<list<int>>>",
                                            .format_version = 2});
  test_ok(append_file(&w, "tests/fixtures/parquet/views.arrows"), &w.err);
  rows_world_reopen(&w);
#define SECOND "{\"views\":[1,2],\"large\":[1],\"runs\":\"a\",\"deep\":{\"r\":\"a\",\"l\":[]}}\n"
#define THIRD "{\"views\":null,\"large\":[2],\"runs\":null,\"deep\":{\"r\":null,\"l\":[[1,2],null]}}\n"
#define FOURTH "{\"views\":[2,3,null,5],\"large\":[],\"runs\":\"c\",\"deep\":{\"r\":\"c\",\"l\":[[2,3,null,5]]}}\n"
  rows_world_shows(&w, "{\"views\":[null,5],\"large\":[5],\"runs\":\"a\",\"deep\":{\"r\":\"a\",\"l\":[[null,5]]}}\n" //
                   SECOND THIRD FOURTH
                       "{\"views\":[],\"large\":[1,2,3,null,5],\"runs\":\"c\",\"deep\":{\"r\":\"c\",\"l\":[[]]}}\n" //
                   SECOND THIRD FOURTH);
  rows_world_end(&w);
}

static void test_read_arrow__names_file_row_and_column_of_what_does_not_fit(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "t time"});
  test_status(BL_USAGE, append_file(&w, "tests/fixtures/parquet/nanoseconds.arrows"), &w.err);
  test_says(&w.err, "nanoseconds.arrows: Arrow IPC: row 4: column t: ");
  rows_world_end(&w);
}

static void test_input_spool__keeps_the_bytes_of_a_pipe(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  pipe_text x = {.text = "hello, world"};
  bl_input *in;
  char back[13] = "";
  test_ok(bl_input_spool(ctx, read_pipe, &x, &in, &err), &err);
  assert_int_equal(in->size, 12);
  test_ok(in->read_at(in, 0, back, 12, &err), &err);
  assert_string_equal(back, "hello, world");
  test_ok(in->read_at(in, 7, back, 5, &err), &err);
  assert_memory_equal(back, "world", 5);
  in->close(in);
  test_ctx_free(ctx);
}

/* ---- files ---- */

static bl_status open_and_read(bl_ctx *ctx, void *user, bl_error *err) {
  bl_input *in;
  char got[3] = {0};
  BL_TRY(bl_input_open(ctx, user, &in, err));
  assert_int_equal(in->size, 5);
  bl_status st = in->read_at(in, 2, got, 2, err);
  if (st == BL_OK) assert_string_equal(got, "cd");
  bl_input_close(in);
  return st;
}

static void test_input__is_a_local_file(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_input *in;
  char *dir = test_temp_dir(), *path = test_join(dir, "f"), *other = test_join(dir, "g");
  test_write(path, "abcde", 5);
  test_ok(open_and_read(ctx, path, &err), &err);
  test_status(BL_NOT_FOUND, bl_input_open(ctx, other, &in, &err), &err);
  assert_null(in);
  bl_input_close(NULL);
  test_fail_each(open_and_read, path);
  free(path);
  free(other);
  test_remove_dir(dir);
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_input__is_a_local_file),
      cmocka_unit_test(test_read_csv__tells_null_from_the_empty_string),
      cmocka_unit_test(test_read_csv__takes_quotes_and_line_ends_as_rfc_4180_has_them),
      cmocka_unit_test(test_read_csv__takes_its_types_from_the_table),
      cmocka_unit_test(test_read_csv__names_the_place_of_what_is_wrong),
      cmocka_unit_test(test_read_csv__takes_times_and_booleans_as_other_programs_dump_them),
      cmocka_unit_test(test_read_csv__says_which_form_is_expected),
      cmocka_unit_test(test_read_ndjson__takes_times_as_other_programs_dump_them_but_booleans_as_json_has_them),
      cmocka_unit_test(test_read_csv__gives_columns_that_the_table_lacks_where_asked_to),
      cmocka_unit_test(test_read_csv__reads_files_of_any_length),
      cmocka_unit_test(test_read_ndjson__takes_back_what_ndjson_output_prints),
      cmocka_unit_test(test_read_ndjson__fills_missing_members_with_defaults),
      cmocka_unit_test(test_read_ndjson__takes_whole_numbers_however_they_are_written),
      cmocka_unit_test(test_read_ndjson__names_row_and_column_of_what_does_not_fit),
      cmocka_unit_test(test_read_ndjson__infers_extra_columns_from_the_first_rows),
      cmocka_unit_test(test_read_ndjson__leaves_out_columns_that_the_first_rows_do_not_name),
      cmocka_unit_test(test_read_ndjson__refuses_a_column_that_comes_after_the_first_rows),
      cmocka_unit_test(test_read_rows__knows_a_format_by_name_or_bytes),
      cmocka_unit_test(test_input_unpack__gives_what_members_of_gzip_hold),
      cmocka_unit_test(test_input_unpack__refuses_what_is_cut_or_damaged),
      cmocka_unit_test(test_read_arrow__takes_views_of_lists_and_runs_at_every_level),
      cmocka_unit_test(test_read_arrow__names_file_row_and_column_of_what_does_not_fit),
      cmocka_unit_test(test_input_spool__keeps_the_bytes_of_a_pipe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
