/* test_variant_build.c: variants from parts, from JSON, and put together again from shredded columns. */
#include "variant_case.h"

#include "base/text.h"

static bl_ctx *ctx;
static bl_arena *arena;

static int setup(void **state) {
  (void)state;
  ctx = support_ctx(NULL, NULL);
  return bl_arena_new(ctx, &arena, NULL);
}
static int teardown(void **state) {
  (void)state;
  bl_arena_free(arena);
  bl_ctx_free(ctx);
  return 0;
}

typedef struct encoded {
  bl_buf metadata, value;
} encoded;

static void encoded_init(encoded *e) {
  bl_buf_init(&e->metadata, ctx, BL_BUF_MAX);
  bl_buf_init(&e->value, ctx, BL_BUF_MAX);
}
static void encoded_free(encoded *e) {
  bl_buf_free(&e->metadata);
  bl_buf_free(&e->value);
}
static bl_str md(const encoded *e) {
  return variant_bytes(&e->metadata);
}
static bl_str val(const encoded *e) {
  return variant_bytes(&e->value);
}
static void same(const encoded *a, const encoded *b) {
  assert_true(bl_str_eq(md(a), md(b)));
  assert_true(bl_str_eq(val(a), val(b)));
}

static bl_variant_builder *builder(void) {
  bl_variant_builder *v;
  assert_int_equal(bl_variant_builder_new(ctx, &v, NULL), BL_OK);
  return v;
}

#define OK(x) assert_int_equal(x, BL_OK)

/* Ends and frees the builder. */
static encoded finish(bl_variant_builder *v) {
  encoded e;
  encoded_init(&e);
  bl_error err = BL_ERROR_INIT;
  if (bl_variant_finish(v, &e.metadata, &e.value, &err) != BL_OK) fail_msg("%s", err.message);
  bl_variant_builder_free(v);
  return e;
}

/* Ends and frees the builder; what it built prints so. */
static void built(bl_variant_builder *v, const char *json) {
  encoded e = finish(v);
  variant_prints(ctx, md(&e), val(&e), json);
  encoded_free(&e);
}

static encoded from_json(const char *text) {
  bl_json *j;
  bl_error err = BL_ERROR_INIT;
  encoded e;
  encoded_init(&e);
  if (bl_json_parse(arena, text, strlen(text), &j, &err) != BL_OK) fail_msg("%s", err.message);
  if (bl_variant_from_json(ctx, j, &e.metadata, &e.value, &err) != BL_OK) fail_msg("%s", err.message);
  return e;
}

/* ---- single values ---- */

static void test_variant_build__every_primitive_prints_as_it_was_put(void **state) {
  (void)state;
  static const uint8_t uuid[16] = {0xf2, 0x4f, 0x9b, 0x64},
                       minus_one[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  bl_variant_builder *v = builder();
  OK(bl_variant_begin_array(v, NULL));
  OK(bl_variant_put_null(v, NULL));
  OK(bl_variant_put_bool(v, true, NULL));
  OK(bl_variant_put_bool(v, false, NULL));
  OK(bl_variant_put_int(v, -1, 1, NULL));
  OK(bl_variant_put_int(v, -300, 2, NULL));
  OK(bl_variant_put_int(v, 70000, 4, NULL));
  OK(bl_variant_put_int(v, INT64_MIN, 8, NULL));
  OK(bl_variant_put_double(v, 0.1, NULL));
  OK(bl_variant_put_float(v, 1.5f, NULL));
  OK(bl_variant_put_decimal(v, minus_one, 0, 4, NULL));
  OK(bl_variant_put_decimal(v, minus_one, 2, 8, NULL));
  OK(bl_variant_put_decimal(v, minus_one, 38, 16, NULL));
  OK(bl_variant_put_date(v, -1, NULL));
  OK(bl_variant_put_time(v, 1, NULL));
  OK(bl_variant_put_timestamp(v, -1, false, true, NULL));
  OK(bl_variant_put_timestamp(v, 0, false, false, NULL));
  OK(bl_variant_put_timestamp(v, -1, true, true, NULL));
  OK(bl_variant_put_timestamp(v, 0, true, false, NULL));
  OK(bl_variant_put_string(v, BL_STR("hi"), NULL));
  OK(bl_variant_put_binary(v, BL_STR("hi!"), NULL));
  OK(bl_variant_put_uuid(v, uuid, NULL));
  OK(bl_variant_end_array(v, NULL));
  built(
      v,
      "[null,true,false,-1,-300,70000,-9223372036854775808,0.1,1.5,-1,-0.01,-0.00000000000000000000000000000000000001,"
      "\"1969-12-31\",\"00:00:00.000001\",\"1969-12-31T23:59:59.999999+00:00\",\"1970-01-01T00:00:00.000000\","
      "\"1969-12-31T23:59:59.999999999+00:00\",\"1970-01-01T00:00:00.000000000\",\"hi\",\"aGkh\","
      "\"f24f9b64-0000-0000-0000-000000000000\"]");
}

static void test_variant_build__strings_are_short_up_to_63_bytes(void **state) {
  (void)state;
  static const struct { size_t n, size; } cases[] = {{0, 1}, {63, 64}, {64, 69}, {1000, 1005}};
  static char text[1000];
  memset(text, 'x', sizeof text);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_variant_builder *v = builder();
    OK(bl_variant_put_string(v, (bl_str){text, cases[i].n}, NULL));
    encoded e = finish(v);
    assert_int_equal(e.value.n, cases[i].size);
    assert_memory_equal(e.value.p + (e.value.n - cases[i].n), text, cases[i].n);
    encoded_free(&e);
  }
}

/* The example of VariantShredding.md: 34, null, "n/a", 100. */
static void test_variant_build__the_bytes_are_those_of_the_specification(void **state) {
  (void)state;
  encoded e = from_json("\"n/a\"");
  assert_memory_equal(e.metadata.p, "\x11\x00\x00", 3);
  assert_int_equal(e.metadata.n, 3);
  assert_int_equal(e.value.n, 4);
  assert_memory_equal(e.value.p, "\x0d\x6e\x2f\x61", 4);
  encoded_free(&e);
  e = from_json("null");
  assert_int_equal(e.value.n, 1);
  assert_int_equal(e.value.p[0], 0);
  encoded_free(&e);
  e = from_json("{\"c\":3,\"b\":2,\"a\":1}");
  assert_int_equal(e.metadata.n, 9);
  assert_memory_equal(e.metadata.p,
                      "\x11\x03\x00\x01\x02\x03"
                      "abc",
                      9);
  assert_int_equal(e.value.n, 15);
  assert_memory_equal(e.value.p, "\x02\x03\x00\x01\x02\x00\x02\x04\x06\x0c\x01\x0c\x02\x0c\x03", 15);
  encoded_free(&e);
}

/* ---- containers ---- */

static void test_variant_build__the_order_of_calls_does_not_show_in_the_bytes(void **state) {
  (void)state;
  encoded a = from_json("{\"z\":{\"q\":1,\"b\":[{\"z\":1,\"a\":2}]},\"a\":\"x\"}");
  encoded b = from_json("{\"a\":\"x\",\"z\":{\"b\":[{\"a\":2,\"z\":1}],\"q\":1}}");
  same(&a, &b);
  variant_prints(ctx, md(&a), val(&a), "{\"a\":\"x\",\"z\":{\"b\":[{\"a\":2,\"z\":1}],\"q\":1}}");
  encoded_free(&a), encoded_free(&b);
}

static void test_variant_build__keys_are_sorted_by_their_bytes(void **state) {
  (void)state;
  encoded e = from_json("{\"\xf0\x9f\x8e\x89\":1,\"\xef\xbf\xbd\":2,\"ab\":3,\"a\":4,\"\":5,\"B\":6}");
  variant_prints(ctx, md(&e), val(&e), "{\"\":5,\"B\":6,\"a\":4,\"ab\":3,\"\xef\xbf\xbd\":2,\"\xf0\x9f\x8e\x89\":1}");
  encoded_free(&e);
}

static void test_variant_build__an_object_with_a_key_twice_is_refused(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  OK(bl_variant_begin_object(v, NULL));
  for (int i = 0; i < 2; i++) {
    OK(bl_variant_put_key(v, BL_STR("k"), NULL));
    OK(bl_variant_put_null(v, NULL));
  }
  OK(bl_variant_end_object(v, NULL));
  encoded e;
  encoded_init(&e);
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_variant_finish(v, &e.metadata, &e.value, &err), BL_DAMAGED);
  support_says(err.message, "\"k\" twice");
  encoded_free(&e);
  bl_variant_builder_free(v);
}

/* Every width of numbers, ids and offsets: with and without "large". */
static void test_variant_build__containers_of_any_size_read_back(void **state) {
  (void)state;
  static const struct {
    int members, length;
  } cases[] = {{0, 0}, {1, 0}, {255, 1}, {256, 1}, {257, 60}, {300, 300}, {3, 70000}, {70000, 1}, {2, 9000000}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_variant_builder *v = builder();
    bl_buf want, out;
    bl_buf_init(&want, ctx, BL_BUF_MAX), bl_buf_init(&out, ctx, BL_BUF_MAX);
    char *text = malloc((size_t)cases[i].length + 1);
    memset(text, 'y', (size_t)cases[i].length);
    bl_str s = {text, (size_t)cases[i].length};
    OK(bl_variant_begin_array(v, NULL));
    for (int as_object = 1; as_object >= 0; as_object--) {
      OK(as_object ? bl_variant_begin_object(v, NULL) : bl_variant_begin_array(v, NULL));
      bl_buf_cstr(&want, as_object ? "[{" : ",[");
      for (int k = 0; k < cases[i].members; k++) {
        char key[16];
        snprintf(key, sizeof key, "%06d", k);
        if (k) bl_buf_byte(&want, ',');
        if (as_object) {
          OK(bl_variant_put_key(v, bl_str_of(key), NULL));
          bl_buf_printf(&want, "\"%s\":", key);
        }
        OK(bl_variant_put_string(v, s, NULL));
        bl_buf_byte(&want, '"'), bl_buf_str(&want, s), bl_buf_byte(&want, '"');
      }
      OK(as_object ? bl_variant_end_object(v, NULL) : bl_variant_end_array(v, NULL));
      bl_buf_byte(&want, as_object ? '}' : ']');
    }
    OK(bl_variant_end_array(v, NULL));
    bl_buf_byte(&want, ']');
    encoded e = finish(v);
    OK(bl_variant_print(ctx, md(&e), val(&e), &out, NULL));
    assert_true(bl_str_eq(variant_bytes(&out), variant_bytes(&want)));
    encoded_free(&e), bl_buf_free(&want), bl_buf_free(&out), free(text);
  }
}

static void test_variant_build__a_builder_is_used_again_after_reset(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  encoded alone = from_json("{\"b\":1}");
  for (int i = 0; i < 3; i++) {
    encoded e;
    encoded_init(&e);
    bl_variant_builder_reset(v);
    OK(bl_variant_begin_object(v, NULL));
    OK(bl_variant_put_key(v, i == 1 ? BL_STR("other") : BL_STR("b"), NULL));
    OK(bl_variant_put_int(v, 1, 1, NULL));
    if (i == 1) continue; /* left in the middle */
    OK(bl_variant_end_object(v, NULL));
    OK(bl_variant_finish(v, &e.metadata, &e.value, NULL));
    same(&e, &alone);
    encoded_free(&e);
  }
  encoded_free(&alone);
  bl_variant_builder_free(v);
  bl_variant_builder_free(NULL);
}

static void test_variant_build__finish_appends_to_what_is_there(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  encoded e;
  encoded_init(&e);
  for (int i = 0; i < 2; i++) {
    bl_variant_builder_reset(v);
    OK(bl_variant_put_int(v, i, 1, NULL));
    OK(bl_variant_finish(v, &e.metadata, &e.value, NULL));
  }
  assert_int_equal(e.metadata.n, 6);
  assert_int_equal(e.value.n, 4);
  assert_memory_equal(e.value.p, "\x0c\x00\x0c\x01", 4);
  encoded_free(&e);
  bl_variant_builder_free(v);
}

static void test_variant_build__calls_that_make_no_value_are_refused(void **state) {
  (void)state;
  encoded e;
  encoded_init(&e);
  bl_variant_builder *v = builder();
  assert_int_equal(bl_variant_finish(v, &e.metadata, &e.value, NULL), BL_USAGE);
  assert_int_equal(bl_variant_end_array(v, NULL), BL_USAGE);
  OK(bl_variant_begin_array(v, NULL));
  assert_int_equal(bl_variant_finish(v, &e.metadata, &e.value, NULL), BL_USAGE);
  assert_int_equal(bl_variant_end_object(v, NULL), BL_USAGE);
  OK(bl_variant_end_array(v, NULL));
  OK(bl_variant_put_null(v, NULL));
  assert_int_equal(bl_variant_finish(v, &e.metadata, &e.value, NULL), BL_USAGE);
  bl_variant_builder_free(v);
  encoded_free(&e);
}

static void test_variant_build__depth_is_bounded_by_the_context(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  for (int i = 0; i < 200; i++) OK(bl_variant_begin_array(v, NULL));
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_variant_begin_array(v, &err), BL_DAMAGED);
  support_says(err.message, "nested");
  bl_variant_builder_free(v);
}

/* ---- encoded parts ---- */

static void test_variant_build__an_encoded_value_is_copied_with_new_keys(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{\"a\":{\"c\":[1,{\"b\":null}]},\"z\":\"text\"}", "[]", "{}", "17", "\"x\"", "[[[1.5]]]"};
  for (size_t i = 0; i < BL_LEN(texts); i++) {
    encoded one = from_json(texts[i]);
    bl_variant_builder *v = builder();
    OK(bl_variant_put_encoded(v, md(&one), val(&one), NULL));
    encoded copy = finish(v);
    same(&one, &copy);
    v = builder(); /* beside keys that shift every id */
    OK(bl_variant_begin_object(v, NULL));
    OK(bl_variant_put_key(v, BL_STR("Q"), NULL));
    OK(bl_variant_put_encoded(v, md(&one), val(&one), NULL));
    OK(bl_variant_put_key(v, BL_STR("A"), NULL));
    OK(bl_variant_put_null(v, NULL));
    OK(bl_variant_end_object(v, NULL));
    char want[200];
    snprintf(want, sizeof want, "{\"A\":null,\"Q\":%s}", texts[i]);
    built(v, want);
    encoded_free(&one), encoded_free(&copy);
  }
}

static void test_variant_build__long_strings_that_could_be_short_become_short(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  OK(bl_variant_put_encoded(v, NO_KEYS, BYTES("\x40\x02\x00\x00\x00hi"), NULL));
  encoded e = finish(v);
  assert_int_equal(e.value.n, 3);
  encoded_free(&e);
}

static void test_variant_build__broken_encoded_values_are_refused(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  assert_int_equal(bl_variant_put_encoded(v, NO_KEYS, BYTES(""), NULL), BL_DAMAGED);
  assert_int_equal(bl_variant_put_encoded(v, BYTES("\x02\x00\x00"), BYTES("\x00"), NULL), BL_UNSUPPORTED);
  assert_int_equal(bl_variant_put_encoded(v, NO_KEYS, BYTES("\x03\x02\x00\x00\x01\x00"), NULL), BL_DAMAGED);
  assert_int_equal(bl_variant_put_encoded(v, NO_KEYS, BYTES("\x02\x01\x00\x00\x01\x00"), NULL), BL_DAMAGED);
  bl_variant_builder_free(v);
}

/* ---- shredded columns (VariantShredding.md, the series of events) ---- */

typedef struct event {
  const char *value;      /* JSON of the leftover column, NULL = null */
  bool typed;             /* is typed_value there? */
  const char *type;       /* typed_value of event_type, NULL = null */
  const char *type_value; /* its value column as JSON */
  int64_t ts;             /* typed_value of event_ts, -1 = null */
  const char *ts_value;
  const char *json; /* what must come out */
} event;

static const event events[] = {
    {NULL, true, "noop", NULL, 1729794114937, NULL,
     "{\"event_ts\":\"1970-01-21T00:29:54.114937+00:00\",\"event_type\":\"noop\"}"},
    {"{\"email\":\"user@example.com\"}", true, "login", NULL, 1729794146402, NULL,
     "{\"email\":\"user@example.com\",\"event_ts\":\"1970-01-21T00:29:54.146402+00:00\",\"event_type\":\"login\"}"},
    {"{\"error_msg\":\"malformed: ...\"}", true, NULL, NULL, -1, NULL, "{\"error_msg\":\"malformed: ...\"}"},
    {"\"malformed: not an object\"", false, NULL, NULL, -1, NULL, "\"malformed: not an object\""},
    {"{\"click\":\"_button\"}", true, NULL, NULL, 1729794240241, NULL,
     "{\"click\":\"_button\",\"event_ts\":\"1970-01-21T00:29:54.240241+00:00\"}"},
    {NULL, true, NULL, "null", 1729794954163, NULL,
     "{\"event_ts\":\"1970-01-21T00:29:54.954163+00:00\",\"event_type\":null}"},
    {NULL, true, "noop", NULL, -1, "\"2024-10-24\"", "{\"event_ts\":\"2024-10-24\",\"event_type\":\"noop\"}"},
    {NULL, true, NULL, NULL, -1, NULL, "{}"},
    {"null", false, NULL, NULL, -1, NULL, "null"},
    {NULL, false, NULL, NULL, -1, NULL, "null"},
    /* invalid: a shredded field is in `value` too; the shredded one counts */
    {"{\"event_type\":\"login\",\"x\":1}", true, "typed", NULL, -1, NULL, "{\"event_type\":\"typed\",\"x\":1}"},
};

static void put_text(bl_variant_builder *v, const char *json) {
  encoded e = from_json(json);
  OK(bl_variant_put_encoded(v, md(&e), val(&e), NULL));
  encoded_free(&e);
}

static void put_field(bl_variant_builder *v, const char *name, const char *typed, int64_t ts, const char *value) {
  if (!typed && ts < 0 && !value) return; /* missing */
  OK(bl_variant_put_key(v, bl_str_of(name), NULL));
  if (typed) OK(bl_variant_put_string(v, bl_str_of(typed), NULL));
  else if (ts >= 0) OK(bl_variant_put_timestamp(v, ts, false, true, NULL));
  else put_text(v, value);
}

static void test_variant_build__shredded_events_come_together(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(events); i++) {
    const event *e = &events[i];
    bl_variant_builder *v = builder();
    if (!e->typed) {
      if (e->value) put_text(v, e->value);
      else OK(bl_variant_put_null(v, NULL));
      built(v, e->json);
      continue;
    }
    OK(bl_variant_begin_object(v, NULL));
    put_field(v, "event_type", e->type, -1, e->type_value);
    put_field(v, "event_ts", NULL, e->ts, e->ts_value);
    if (e->value) {
      encoded rest = from_json(e->value);
      OK(bl_variant_put_members(v, md(&rest), val(&rest), NULL));
      encoded_free(&rest);
    }
    OK(bl_variant_end_object(v, NULL));
    built(v, e->json);
  }
}

static void test_variant_build__the_rest_of_an_object_must_be_an_object(void **state) {
  (void)state;
  bl_variant_builder *v = builder();
  OK(bl_variant_begin_object(v, NULL));
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_variant_put_members(v, NO_KEYS, BYTES("\x0dn/a"), &err), BL_DAMAGED);
  support_says(err.message, "no object");
  bl_variant_builder_free(v);
}

/* ---- JSON ---- */

static void test_variant_build__json_numbers_keep_their_value(void **state) {
  (void)state;
  static const struct {
    const char *json;
    int type; /* of the header byte */
    const char *printed;
  } cases[] = {
      {"0", 3, "0"},
      {"-128", 3, "-128"},
      {"128", 4, "128"},
      {"-32769", 5, "-32769"},
      {"2147483648", 6, "2147483648"},
      {"9223372036854775807", 6, "9223372036854775807"},
      {"9223372036854775808", 10, "9223372036854775808"},
      {"99999999999999999999999999999999999999", 10, "99999999999999999999999999999999999999"},
      {"100000000000000000000000000000000000000", 7, "1e38"},
      {"1.50", 8, "1.50"},
      {"-0.5", 8, "-0.5"},
      {"12345678.90", 9, "12345678.90"},
      {"1234567890123456789.5", 10, "1234567890123456789.5"},
      {"0.00000000000000000000000000000000000001", 8, "0.00000000000000000000000000000000000001"},
      {"0.000000000000000000000000000000000000001", 7, "1e-39"},
      {"1e2", 7, "100.0"},
      {"1.5E-3", 7, "0.0015"},
      {"-0", 7, "-0.0"},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    encoded e = from_json(cases[i].json);
    assert_int_equal(e.value.p[0], cases[i].type << 2);
    variant_prints(ctx, md(&e), val(&e), cases[i].printed);
    encoded_free(&e);
  }
}

/* Random JSON with sorted keys, as the printer gives it. */
static void random_json(bl_buf *b, uint64_t *rnd, int depth) {
  uint64_t pick = support_random(rnd) % (depth > 0 ? 9 : 6);
  int n = (int)(support_random(rnd) % 6);
  switch (pick) {
  case 0: bl_buf_cstr(b, "null"); break;
  case 1: bl_buf_cstr(b, n % 2 ? "true" : "false"); break;
  case 2: bl_print_i64(b, (int64_t)support_random(rnd) >> support_random(rnd) % 64); break;
  case 3: bl_buf_printf(b, "%d.%d", (int)(support_random(rnd) % 1000), n); break;
  case 4: bl_print_double(b, (double)(support_random(rnd) % 1000) * 1e20); break;
  case 5:
    bl_buf_printf(b, "\"%.*s\"", n * 20,
                  "The quick brown fox jumps over the lazy dog, and then again and "
                  "again until the string is a long one.");
    break;
  case 6:
    bl_buf_byte(b, '[');
    for (int i = 0; i < n; i++) {
      if (i) bl_buf_byte(b, ',');
      random_json(b, rnd, depth - 1);
    }
    bl_buf_byte(b, ']');
    break;
  default:
    bl_buf_byte(b, '{');
    for (int i = 0; i < n; i++) {
      bl_buf_printf(b, "%s\"%c%d\":", i ? "," : "", 'a' + i, (int)(support_random(rnd) % 40));
      random_json(b, rnd, depth - 1);
    }
    bl_buf_byte(b, '}');
  }
}

static void test_variant_build__random_json_reads_back(void **state) {
  (void)state;
  bl_buf text, out;
  bl_buf_init(&text, ctx, BL_BUF_MAX), bl_buf_init(&out, ctx, BL_BUF_MAX);
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    uint64_t rnd = seed;
    bl_buf_clear(&text);
    random_json(&text, &rnd, 5);
    bl_buf_byte(&text, 0);
    encoded e = from_json((const char *)text.p), copy;
    OK(variant_json(ctx, md(&e), val(&e), &out, NULL));
    bl_buf_byte(&out, 0);
    assert_string_equal((const char *)out.p, (const char *)text.p);
    bl_variant_builder *v = builder();
    OK(bl_variant_put_encoded(v, md(&e), val(&e), NULL));
    copy = finish(v);
    same(&e, &copy);
    encoded_free(&e), encoded_free(&copy);
  }
  bl_buf_free(&text), bl_buf_free(&out);
}

static bl_status build_one(bl_ctx *c, void *user, bl_error *err) {
  (void)user;
  bl_arena *a = NULL;
  bl_json *j;
  bl_buf m, v;
  bl_buf_init(&m, c, BL_BUF_MAX), bl_buf_init(&v, c, BL_BUF_MAX);
  static const char text[] =
      "{\"b\":[1,2,{\"c\":null}],\"a\":\"a text that is long enough to make a buffer grow, or not\"}";
  bl_status st;
  BL_GO(bl_arena_new(c, &a, err));
  BL_GO(bl_json_parse(a, text, sizeof text - 1, &j, err));
  BL_GO(bl_variant_from_json(c, j, &m, &v, err));
done:
  bl_arena_free(a);
  bl_buf_free(&m), bl_buf_free(&v);
  return st;
}

static void test_variant_build__reports_every_failed_allocation(void **state) {
  (void)state;
  support_fail_each_allocation(build_one, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant_build__every_primitive_prints_as_it_was_put),
      cmocka_unit_test(test_variant_build__strings_are_short_up_to_63_bytes),
      cmocka_unit_test(test_variant_build__the_bytes_are_those_of_the_specification),
      cmocka_unit_test(test_variant_build__the_order_of_calls_does_not_show_in_the_bytes),
      cmocka_unit_test(test_variant_build__keys_are_sorted_by_their_bytes),
      cmocka_unit_test(test_variant_build__an_object_with_a_key_twice_is_refused),
      cmocka_unit_test(test_variant_build__containers_of_any_size_read_back),
      cmocka_unit_test(test_variant_build__a_builder_is_used_again_after_reset),
      cmocka_unit_test(test_variant_build__finish_appends_to_what_is_there),
      cmocka_unit_test(test_variant_build__calls_that_make_no_value_are_refused),
      cmocka_unit_test(test_variant_build__depth_is_bounded_by_the_context),
      cmocka_unit_test(test_variant_build__an_encoded_value_is_copied_with_new_keys),
      cmocka_unit_test(test_variant_build__long_strings_that_could_be_short_become_short),
      cmocka_unit_test(test_variant_build__broken_encoded_values_are_refused),
      cmocka_unit_test(test_variant_build__shredded_events_come_together),
      cmocka_unit_test(test_variant_build__the_rest_of_an_object_must_be_an_object),
      cmocka_unit_test(test_variant_build__json_numbers_keep_their_value),
      cmocka_unit_test(test_variant_build__random_json_reads_back),
      cmocka_unit_test(test_variant_build__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
