/* test_json.c: the JSON reader and the nodes that it makes. */
#include "arena_fixture.h"
#include "base/text.h"
#include "format/json.h"

static bl_json *parse_bytes(fixture *f, const char *text, size_t n) {
  bl_json *v = NULL;
  test_ok(bl_json_parse(f->a, text, n, &v, &f->err), &f->err);
  assert_non_null(v);
  return v;
}

static bl_json *parse(fixture *f, const char *text) {
  return parse_bytes(f, text, strlen(text));
}

static void refuse_bytes(fixture *f, const char *text, size_t n, const char *words, int64_t position) {
  bl_json *v = NULL;
  bl_status st = bl_json_parse(f->a, text, n, &v, &f->err);
  if (st == BL_OK) fail_msg("accepted: %.*s", (int)n, text);
  assert_null(v);
  if (position >= 0 && f->err.position != position)
    fail_msg("position %lld, not %lld: %s", (long long)f->err.position, (long long)position, f->err.message);
  assert_refused(&f->err, st, BL_DAMAGED, words);
}

static void refuse(fixture *f, const char *text, const char *words, int64_t position) {
  refuse_bytes(f, text, strlen(text), words, position);
}

static void assert_str(bl_str s, const char *want) {
  assert_non_null(s.p);
  assert_int_equal(s.n, strlen(want));
  assert_string_equal(s.p, want);
}

/* ---- what is read ---- */

static void test_json__reads_every_kind(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v =
      parse(&f, " { \"n\" : null, \"t\":true,\"f\":false,\"i\":-12,\"s\":\"x\",\"a\":[1,[2]],\"o\":{\"k\":{}} } \r\n");
  assert_int_equal(v->kind, BL_J_OBJECT);
  assert_int_equal(v->n, 7);
  assert_int_equal(bl_json_get(v, "n")->kind, BL_J_NULL);
  assert_true(bl_json_get(v, "t")->b);
  assert_false(bl_json_get(v, "f")->b);
  assert_int_equal(bl_json_get(v, "f")->kind, BL_J_BOOL);
  assert_str(bl_json_get(v, "i")->text, "-12");
  assert_str(bl_json_get(v, "s")->text, "x");
  const bl_json *a = bl_json_get(v, "a");
  assert_int_equal(a->n, 2);
  assert_str(bl_json_at(bl_json_at(a, 1), 0)->text, "2");
  assert_int_equal(bl_json_get(bl_json_get(v, "o"), "k")->n, 0);
  assert_null(bl_json_get(v, "absent"));
  assert_null(bl_json_get(a, "n"));
  assert_null(bl_json_at(a, 2));
  assert_null(bl_json_at(v, 0));
  fixture_close(&f);
}

static void test_json__any_kind_may_stand_at_the_top(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  assert_int_equal(parse(&f, "null")->kind, BL_J_NULL);
  assert_str(parse(&f, " 7\n")->text, "7");
  assert_str(parse(&f, "\"\"")->text, "");
  assert_int_equal(parse(&f, "[ ]")->n, 0);
  assert_int_equal(parse(&f, "\xEF\xBB\xBF{}")->kind, BL_J_OBJECT);
  fixture_close(&f);
}

static void test_json__number_text_is_kept_as_written(void **state) {
  (void)state;
  static const char *const numbers[] = {
      "0", "-0", "1.10", "1E400", "-1.5e-07", "12345678901234567890123456789", "1e+2", "0.0000", "10e0000"};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(numbers); i++) {
    bl_json *v = parse(&f, numbers[i]);
    assert_int_equal(v->kind, BL_J_NUMBER);
    assert_str(v->text, numbers[i]);
  }
  fixture_close(&f);
}

static void test_json__escapes_are_decoded(void **state) {
  (void)state;
  static const struct {
    const char *text, *value;
    size_t n;
  } cases[] = {
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
      {"\"a\\u0041\\u00e9\\u20AC z\"", "aA\xC3\xA9\xE2\x82\xAC z", 9},
      {"\"\\ud83e\\uDDCA!\"", "\xF0\x9F\xA7\x8A!", 5},
      {"\"x\\u0000y\"", "x\0y", 3},
      {"\"\\uFFFF\\u007f\"", "\xEF\xBF\xBF\x7f", 4},
      {"\"plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA7\x8A \\n end\"",
       "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA7\x8A \n end", 23},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_json *v = parse(&f, cases[i].text);
    assert_int_equal(v->text.n, cases[i].n);
    assert_memory_equal(v->text.p, cases[i].value, cases[i].n + 1);
  }
  fixture_close(&f);
}

static void test_json__keys_are_decoded_too(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"\\u006b\\n\":1,\"\":2}");
  assert_str(bl_json_get(v, "k\n")->text, "1");
  assert_str(bl_json_get(v, "")->text, "2");
  fixture_close(&f);
}

static void test_json__positions_point_at_values_and_names(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "  {\"a\": [10, 20]}");
  assert_int_equal(v->at, 2);
  assert_int_equal(bl_json_get(v, "a")->at, 3);
  assert_int_equal(bl_json_at(bl_json_get(v, "a"), 1)->at, 13);
  fixture_close(&f);
}

/* ---- what is refused ---- */

static void test_json__malformed_text_is_refused_with_its_position(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
    int position;
  } cases[] = {
      {"", "empty", 0},
      {" \n", "empty", 2},
      {"{", "the text ends", 1},
      {"[1,", "the text ends", 3},
      {"{\"a\"", "the text ends", 4},
      {"{\"a\":", "the text ends", 5},
      {"{\"a\":1", "the text ends", 6},
      {"[1,]", "a value", 3},
      {"[,1]", "a value", 1},
      {"{\"a\":1,}", "name of a member", 7},
      {"{a:1}", "name of a member", 1},
      {"{'a':1}", "name of a member", 1},
      {"{\"a\" 1}", "':'", 5},
      {"[1 2]", "','", 3},
      {"[1}", "','", 2},
      {"{\"a\":1]", "','", 6},
      {"{} {}", "the end", 3},
      {"1 x", "the end", 2},
      {"nul", "a value", 0},
      {"True", "a value", 0},
      {"NaN", "a value", 0},
      {"-Infinity", "a digit", 1},
      {"// x\n1", "a value", 0},
      {"01", "leading zero", 0},
      {"-01", "leading zero", 0},
      {"+1", "a value", 0},
      {".5", "a value", 0},
      {"1.", "fraction", 2},
      {"1.e3", "fraction", 2},
      {"1e", "exponent", 2},
      {"1e+", "exponent", 3},
      {"-", "a digit", 1},
      {"\"", "inside a string", 1},
      {"\"abc", "inside a string", 4},
      {"\"abc\\\"", "inside a string", 6},
      {"\"\\x41\"", "escape", 1},
      {"\"\\", "escape", 1},
      {"\"\\u12G4\"", "hexadecimal", 1},
      {"\"\\u12", "hexadecimal", 1},
      {"\"\\uD800\"", "surrogate", 1},
      {"\"\\uDC00\"", "surrogate", 1},
      {"\"\\uD800\\u0041\"", "surrogate", 1},
      {"\"\\uD800x\"", "surrogate", 1},
      {"\"a\nb\"", "control character 0x0A", 2},
      {"\"a\tb\"", "control character 0x09", 2},
      {"\"\x1F\"", "control character 0x1F", 1},
      {"[1]\x01", "0x01", 3},
      {"\xC3\xA9", "0xC3", 0},
      {"\f1", "0x0C", 0},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) refuse(&f, cases[i].text, cases[i].words, cases[i].position);
  fixture_close(&f);
}

static void test_json__strings_that_are_not_utf8_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"\"\xFF\"",
                                    "\"\x80\"",
                                    "\"\xC0\xAF\"",
                                    "\"\xC3\"",
                                    "\"\xE2\x82\"",
                                    "\"\xED\xA0\x80\"",
                                    "\"\xF4\x90\x80\x80\"",
                                    "\"\xF8\x88\x80\x80\x80\"",
                                    "\"\xE0\x80\xAF\"",
                                    "\"\xF0\x9F\xA7",
                                    "\"\xC3"};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(bad); i++) refuse(&f, bad[i], "UTF-8", 1);
  refuse(&f, "{\"a\":{\"\xFF\":1}}", "$.a", 7);
  fixture_close(&f);
}

static void test_json__a_nul_byte_is_no_end_of_the_text(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  refuse_bytes(&f, "1\0", 2, "0x00", 1);
  refuse_bytes(&f, "[1,\0 2]", 7, "0x00", 3);
  refuse_bytes(&f, "\"a\0b\"", 5, "control character 0x00", 2);
  refuse_bytes(&f, "\"a\\\0\"", 5, "escape", 2);
  fixture_close(&f);
}

static void test_json__duplicate_keys_are_refused_in_small_and_big_objects(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  refuse(&f, "{\"a\":1,\"b\":2,\"\\u0061\":3}", "duplicate", 13);
  refuse(&f, "[{\"x\":{\"k\":{},\"k\":{}}}]", "$[0].x.k", 14);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_byte(&b, '{');
  for (int i = 0; i < 1000; i++) bl_buf_printf(&b, "\"k%d\":%d,", i, i);
  size_t at = b.n;
  bl_buf_cstr(&b, "\"k617\":0}");
  refuse_bytes(&f, (const char *)b.p, b.n, "k617", (int64_t)at);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void nest(bl_buf *b, const char *open, const char *close, int n) {
  for (int i = 0; i < n; i++) bl_buf_cstr(b, open);
  bl_buf_byte(b, '0');
  for (int i = 0; i < n; i++) bl_buf_cstr(b, close);
}

static void test_json__nesting_is_bounded_by_the_context(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  nest(&b, "[", "]", 200);
  parse_bytes(&f, (const char *)b.p, b.n);
  bl_buf_clear(&b);
  nest(&b, "{\"a\":", "}", 201);
  refuse_bytes(&f, (const char *)b.p, b.n, "nested deeper than 200", 5 * 200);
  bl_buf_clear(&b);
  nest(&b, "[", "]", 1000000);
  refuse_bytes(&f, (const char *)b.p, b.n, "nested deeper", 200);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_json__a_great_depth_needs_no_stack_where_the_context_allows_it(void **state) {
  (void)state;
  bl_ctx_options o;
  bl_arena *a = NULL;
  bl_json *v = NULL;
  bl_buf b, again;
  test_heap heap = {0};
  bl_ctx_options_init(&o);
  o.max_nesting = 2000000;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  assert_int_equal(bl_arena_new(ctx, &a, NULL), BL_OK);
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_buf_init(&again, ctx, BL_BUF_MAX);
  nest(&b, "[", "]", 1000000);
  assert_int_equal(bl_json_parse(a, b.p, b.n, &v, NULL), BL_OK);
  bl_json_print(&again, v, false);
  assert_int_equal(again.n, b.n);
  assert_memory_equal(again.p, b.p, b.n);
  bl_buf_free(&b);
  bl_buf_free(&again);
  bl_arena_free(a);
  test_ctx_free(ctx);
}

/* ---- paths and typed access ---- */

static void assert_path(fixture *f, const bl_json *v, const char *want) {
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_path(v, &b);
  assert_string_equal(buf_text(f->a, &b), want);
  bl_buf_free(&b);
}

static void test_json__a_path_names_the_way_from_the_top(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"snapshots\":[0,{\"summary\":{\"a b\":1,\"x-y_1\":[[7]]}}]}");
  const bl_json *summary = bl_json_get(bl_json_at(bl_json_get(v, "snapshots"), 1), "summary");
  assert_path(&f, v, "$");
  assert_path(&f, summary, "$.snapshots[1].summary");
  assert_path(&f, bl_json_get(summary, "a b"), "$.snapshots[1].summary[\"a b\"]");
  assert_path(&f, bl_json_at(bl_json_at(bl_json_get(summary, "x-y_1"), 0), 0), "$.snapshots[1].summary.x-y_1[0][0]");
  fixture_close(&f);
}

static void test_json__long_names_and_paths_are_shortened(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  for (int i = 0; i < 100; i++) {
    bl_buf_cstr(&b, "{\"");
    for (int j = 0; j < 70; j++) bl_buf_cstr(&b, "\xC3\xA9\xE2\x82\xAC");
    bl_buf_cstr(&b, "\":");
  }
  bl_buf_byte(&b, '?');
  bl_json *v;
  bl_status st = bl_json_parse(f.a, b.p, b.n, &v, &f.err);
  assert_true(strlen(f.err.message) < 600);
  assert_true(bl_utf8_valid(f.err.message, strlen(f.err.message)));
  assert_refused(&f.err, st, BL_DAMAGED, "\xE2\x80\xA6");
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_json__whole_numbers_are_exact(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t v;
    bool fits_32;
  } good[] = {{"0", 0, true},
              {"-0", 0, true},
              {"2147483647", INT32_MAX, true},
              {"-2147483648", INT32_MIN, true},
              {"2147483648", 2147483648, false},
              {"9223372036854775807", INT64_MAX, false},
              {"-9223372036854775808", INT64_MIN, false}};
  static const char *const bad[] = {"1.0",   "1e3",  "1E400", "6.5", "9223372036854775808", "-9223372036854775809",
                                    "\"1\"", "null", "true",  "[1]"};
  fixture f;
  fixture_open(&f);
  int64_t x;
  int32_t y;
  for (size_t i = 0; i < BL_LEN(good); i++) {
    bl_json *v = parse(&f, good[i].text);
    test_ok(bl_json_i64(v, &x, &f.err), &f.err);
    assert_int_equal(x, good[i].v);
    bl_status st = bl_json_i32(v, &y, &f.err);
    if (good[i].fits_32) {
      test_ok(st, &f.err);
      assert_int_equal(y, good[i].v);
    } else {
      assert_refused(&f.err, st, BL_DAMAGED, "32 bits");
    }
  }
  for (size_t i = 0; i < BL_LEN(bad); i++)
    assert_refused(&f.err, bl_json_i64(parse(&f, bad[i]), &x, &f.err), BL_DAMAGED, "JSON: $ (byte 0)");
  fixture_close(&f);
}

static void test_json__a_wrong_kind_is_named_with_path_and_position(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *v = parse(&f, "{\"a\":{\"b\":3,\"z\":null}}");
  const bl_json *a, *out = v;
  bl_str s;
  bool yes;
  test_ok(bl_json_member(v, "a", BL_J_OBJECT, &a, &f.err), &f.err);
  assert_refused(&f.err, bl_json_string(bl_json_get(a, "b"), &s, &f.err), BL_DAMAGED,
                 "JSON: $.a.b (byte 6): a number, where a string should be");
  assert_refused(&f.err, bl_json_bool(bl_json_get(a, "b"), &yes, &f.err), BL_DAMAGED, "a boolean should be");
  assert_refused(&f.err, bl_json_member(a, "c", BL_J_STRING, &out, &f.err), BL_DAMAGED, "$.a (byte 1): c is missing");
  assert_refused(&f.err, bl_json_member(a, "b", BL_J_STRING, &out, &f.err), BL_DAMAGED, "$.a.b");
  assert_refused(&f.err, bl_json_member(a, "z", BL_J_STRING, &out, &f.err), BL_DAMAGED, "$.a.z");
  assert_refused(&f.err, bl_json_member_opt(a, "b", BL_J_ARRAY, &out, &f.err), BL_DAMAGED, "$.a.b");
  assert_refused(&f.err, bl_json_member(bl_json_get(a, "b"), "x", BL_J_ARRAY, &out, &f.err), BL_DAMAGED, "an object");
  test_ok(bl_json_member_opt(a, "z", BL_J_STRING, &out, &f.err), &f.err);
  assert_null(out);
  test_ok(bl_json_member_opt(a, "c", BL_J_STRING, &out, &f.err), &f.err);
  assert_null(out);
  test_ok(bl_json_member_opt(a, "b", BL_J_NUMBER, &out, &f.err), &f.err);
  assert_non_null(out);
  fixture_close(&f);
}

static void test_json__a_node_that_was_built_has_no_position(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_json *o = bl_json_new(f.a, BL_J_OBJECT);
  assert_true(bl_json_set(f.a, o, "k", bl_json_new_i64(f.a, 5)));
  bl_str s;
  bl_status st = bl_json_string(bl_json_get(o, "k"), &s, &f.err);
  assert_int_equal(f.err.position, -1);
  assert_refused(&f.err, st, BL_DAMAGED, "JSON: $.k: a number");
  fixture_close(&f);
}

/* ---- limits ---- */

static void test_json__members_of_big_objects_are_found_through_an_index(void **state) {
  (void)state;
  enum { N = 100000 };
  fixture f;
  bl_buf b;
  char key[32];
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_byte(&b, '{');
  for (int i = 0; i < N; i++) bl_buf_printf(&b, "%s\"key-%d\":[%d]", i ? "," : "", i, i);
  bl_buf_byte(&b, '}');
  bl_json *v = parse_bytes(&f, (const char *)b.p, b.n);
  for (int i = 0; i < N; i++) {
    int64_t x;
    snprintf(key, sizeof key, "key-%d", i);
    test_ok(bl_json_i64(bl_json_at(bl_json_get(v, key), 0), &x, &f.err), &f.err);
    assert_int_equal(x, i);
  }
  assert_null(bl_json_get(v, "key-100000"));
  bl_buf_free(&b);
  fixture_close(&f);
}

/* The NUL behind a number takes the place of what follows it. */
static void test_json__numbers_end_where_they_end_whatever_follows(void **state) {
  (void)state;
  static const char *const texts[] = {"[12,3]",        "[12 ,3]",      "[ 12\n, 3 ]",    "[12,3,{\"k\":4}]",
                                      "[12,3,[5],[]]", "[12,3.5e1,0]", "[12,3,\"x\",7]", "[12,3,null]"};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(texts); i++) {
    bl_json *v = parse(&f, texts[i]);
    assert_str(bl_json_at(v, 0)->text, "12");
    assert_int_equal(strlen(bl_json_at(v, 1)->text.p), bl_json_at(v, 1)->text.n);
  }
  assert_str(parse(&f, "12")->text, "12");
  assert_str(parse(&f, "-12 ")->text, "-12");
  assert_str(bl_json_get(parse(&f, "{\"a\":{\"b\":12}}"), "a")->first->text, "12");
  assert_str(bl_json_get(parse(&f, "{\"a\":12,\"b\":1}"), "a")->text, "12");
  refuse(&f, "[12:3]", "found ':'", 3);
  refuse(&f, "{\"a\":12]", "found ']'", 7);
  refuse(&f, "12 3", "the end", 3);
  fixture_close(&f);
}

/* Plain stretches are read eight bytes at a time: each byte at each place of one must be seen. */
static void test_json__every_byte_is_seen_at_every_place_of_a_string(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  for (int c = 0; c < 256; c++)
    for (int at = 0; at < 24; at++) {
      char text[27];
      memset(text, 'x', sizeof text);
      text[0] = text[25] = '"';
      text[26] = ' ';
      text[1 + at] = (char)c;
      if (c == '"') refuse_bytes(&f, text, sizeof text, "the end", at + 2);
      else if (c == '\\') refuse_bytes(&f, text, sizeof text, at == 23 ? "ends inside" : "an escape", -1);
      else if (c < 0x20) refuse_bytes(&f, text, sizeof text, "control character", at + 1);
      else if (c >= 0x80) refuse_bytes(&f, text, sizeof text, "not UTF-8", at + 1);
      else {
        bl_json *v = parse_bytes(&f, text, sizeof text);
        assert_int_equal(v->text.n, 24);
        assert_memory_equal(v->text.p, text + 1, 24);
      }
      f.err = (bl_error)BL_ERROR_INIT;
    }
  fixture_close(&f);
}

static bl_status parse_and_drop(bl_ctx *ctx, void *text, bl_error *err) {
  bl_arena *a;
  bl_json *v;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_json_parse(a, text, strlen(text), &v, err);
  if (st == BL_OK) assert_int_equal(bl_json_get(v, "a")->n, 10);
  bl_arena_free(a);
  return st;
}

static void test_json__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  char text[4000];
  size_t n = 0;
  n += (size_t)snprintf(text, sizeof text, "{\"a\":[1,2,3,4,5,6,7,8,9,10],\"o\":{\"k\":[{}]},\"s\":\"");
  memset(text + n, 'x', 2000);
  n += 2000;
  snprintf(text + n, sizeof text - n, "\",\"b\":1.5,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":null}");
  test_fail_each(parse_and_drop, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json__reads_every_kind),
      cmocka_unit_test(test_json__any_kind_may_stand_at_the_top),
      cmocka_unit_test(test_json__number_text_is_kept_as_written),
      cmocka_unit_test(test_json__escapes_are_decoded),
      cmocka_unit_test(test_json__keys_are_decoded_too),
      cmocka_unit_test(test_json__positions_point_at_values_and_names),
      cmocka_unit_test(test_json__malformed_text_is_refused_with_its_position),
      cmocka_unit_test(test_json__strings_that_are_not_utf8_are_refused),
      cmocka_unit_test(test_json__a_nul_byte_is_no_end_of_the_text),
      cmocka_unit_test(test_json__duplicate_keys_are_refused_in_small_and_big_objects),
      cmocka_unit_test(test_json__nesting_is_bounded_by_the_context),
      cmocka_unit_test(test_json__a_great_depth_needs_no_stack_where_the_context_allows_it),
      cmocka_unit_test(test_json__a_path_names_the_way_from_the_top),
      cmocka_unit_test(test_json__long_names_and_paths_are_shortened),
      cmocka_unit_test(test_json__whole_numbers_are_exact),
      cmocka_unit_test(test_json__a_wrong_kind_is_named_with_path_and_position),
      cmocka_unit_test(test_json__a_node_that_was_built_has_no_position),
      cmocka_unit_test(test_json__members_of_big_objects_are_found_through_an_index),
      cmocka_unit_test(test_json__numbers_end_where_they_end_whatever_follows),
      cmocka_unit_test(test_json__every_byte_is_seen_at_every_place_of_a_string),
      cmocka_unit_test(test_json__every_failing_allocation_gives_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
