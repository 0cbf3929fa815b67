/* test_print_value.c: values of every kind as text, then random nested arrays against text that was made beside them.
 */
#include "made.h"

#include <math.h>

#include "base/buf.h"
#include "rows/print_value.h"

static bl_ctx *ctx;

static int setup(void **state) {
  (void)state;
  ctx = support_ctx(NULL, NULL);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  bl_ctx_free(ctx);
  return 0;
}

typedef bl_status (*printer)(bl_buf *b, const bl_view *v, int64_t i, bl_error *err);

/* Row i of a finished column is printed so. */
static void prints(const bl_view *v, int64_t i, printer print, const char *want) {
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_error err = BL_ERROR_INIT;
  if (print(&b, v, i, &err) != BL_OK) fail_msg("%s", err.message);
  bl_buf_byte(&b, 0);
  assert_int_equal(bl_buf_ok(&b, NULL), BL_OK);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

/* Finishes and frees the column; row i as JSON and bare. */
static void column_prints(made *m, const char *const *json, const char *const *bare) {
  made_finish(m);
  bl_view *v;
  bl_error err = BL_ERROR_INIT;
  if (bl_view_new(ctx, &m->schema, &v, &err) != BL_OK) fail_msg("%s", err.message);
  if (bl_view_set(v, &m->array, &err) != BL_OK) fail_msg("%s", err.message);
  for (int64_t i = 0; i < m->array.length; i++) {
    prints(v, i, bl_print_value, json[i]);
    prints(v, i, bl_print_bare, bare ? bare[i] : json[i]);
  }
  bl_view_free(v);
  made_free(m);
}

#define TEXTS(...)                                                                                                     \
  (const char *const[]) {                                                                                              \
    __VA_ARGS__                                                                                                        \
  }

static void test_print_value__integers_and_booleans_are_bare(void **state) {
  (void)state;
  made *m = made_new("i", "x", 0, NULL);
  made_i32(m, INT32_MIN), made_i32(m, 0), made_null(m);
  column_prints(m, TEXTS("-2147483648", "0", "null"), NULL);
  m = made_new("l", "x", 0, NULL);
  made_i64(m, INT64_MIN), made_i64(m, INT64_MAX);
  column_prints(m, TEXTS("-9223372036854775808", "9223372036854775807"), NULL);
  m = made_new("b", "x", 0, NULL);
  made_bool(m, true), made_bool(m, false), made_null(m);
  column_prints(m, TEXTS("true", "false", "null"), NULL);
  m = made_new("n", "x", 0, NULL);
  made_null(m);
  column_prints(m, TEXTS("null"), NULL);
}

static void test_print_value__floats_are_shortest_and_their_specials_strings(void **state) {
  (void)state;
  made *m = made_new("f", "x", 0, NULL);
  made_float(m, 1.5f), made_float(m, 0.1f), made_float(m, -0.0f), made_float(m, NAN), made_float(m, INFINITY),
      made_float(m, -INFINITY);
  column_prints(m, TEXTS("1.5", "0.1", "-0.0", "\"NaN\"", "\"Infinity\"", "\"-Infinity\""),
                TEXTS("1.5", "0.1", "-0.0", "NaN", "Infinity", "-Infinity"));
  m = made_new("g", "x", 0, NULL);
  made_double(m, 0.1), made_double(m, 100), made_double(m, NAN);
  column_prints(m, TEXTS("0.1", "100.0", "\"NaN\""), TEXTS("0.1", "100.0", "NaN"));
}

static void test_print_value__decimals_are_strings_with_their_scale(void **state) {
  (void)state;
  made *m = made_new("d:9,2", "x", 0, NULL);
  made_decimal(m, 12340), made_decimal(m, -5), made_decimal(m, 0);
  column_prints(m, TEXTS("\"123.40\"", "\"-0.05\"", "\"0.00\""), TEXTS("123.40", "-0.05", "0.00"));
  m = made_new("d:18,0", "x", 0, NULL);
  made_decimal(m, -7);
  column_prints(m, TEXTS("\"-7\""), TEXTS("-7"));
}

static void test_print_value__times_are_iso_with_six_or_nine_digits(void **state) {
  (void)state;
  made *m = made_new("tdD", "x", 0, NULL);
  made_i32(m, -1), made_i32(m, 20454);
  column_prints(m, TEXTS("\"1969-12-31\"", "\"2026-01-01\""), TEXTS("1969-12-31", "2026-01-01"));
  m = made_new("ttu", "x", 0, NULL);
  made_i64(m, 86399999999), made_i64(m, 0);
  column_prints(m, TEXTS("\"23:59:59.999999\"", "\"00:00:00.000000\""), TEXTS("23:59:59.999999", "00:00:00.000000"));
  m = made_new("tsu:", "x", 0, NULL);
  made_i64(m, -1);
  column_prints(m, TEXTS("\"1969-12-31T23:59:59.999999\""), TEXTS("1969-12-31T23:59:59.999999"));
  m = made_new("tsu:UTC", "x", 0, NULL);
  made_i64(m, 1500000);
  column_prints(m, TEXTS("\"1970-01-01T00:00:01.500000+00:00\""), TEXTS("1970-01-01T00:00:01.500000+00:00"));
  m = made_new("tsn:", "x", 0, NULL);
  made_i64(m, 1);
  column_prints(m, TEXTS("\"1970-01-01T00:00:00.000000001\""), TEXTS("1970-01-01T00:00:00.000000001"));
  m = made_new("tsn:UTC", "x", 0, NULL);
  made_i64(m, -1);
  column_prints(m, TEXTS("\"1969-12-31T23:59:59.999999999+00:00\""), TEXTS("1969-12-31T23:59:59.999999999+00:00"));
}

static void test_print_value__strings_are_escaped_only_within_quotes(void **state) {
  (void)state;
  made *m = made_new("u", "x", 0, NULL);
  made_str(m, ""), made_str(m, "a\"b\\c\n\x01"), made_str(m, "gr\xc3\xbc\xc3\x9f"), made_null(m);
  column_prints(m, TEXTS("\"\"", "\"a\\\"b\\\\c\\n\\u0001\"", "\"gr\xc3\xbc\xc3\x9f\"", "null"),
                TEXTS("", "a\"b\\c\n\x01", "gr\xc3\xbc\xc3\x9f", "null"));
}

static void test_print_value__bytes_are_base64_and_uuids_text(void **state) {
  (void)state;
  made *m = made_new("z", "x", 0, NULL);
  made_bytes_value(m, "\x00\xff\x10", 3), made_str(m, "");
  column_prints(m, TEXTS("\"AP8Q\"", "\"\""), TEXTS("AP8Q", ""));
  m = made_new("w:2", "x", 0, NULL);
  made_value(m, "\x00\x01", 2);
  column_prints(m, TEXTS("\"AAE=\""), TEXTS("AAE="));
  m = made_meta(made_new("w:16", "x", 0, NULL), "ARROW:extension:name", "arrow.uuid");
  made_value(m, "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16);
  column_prints(m, TEXTS("\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""), TEXTS("f79c3e09-677c-4bbd-a479-3f349cb785e7"));
  m = made_meta(made_new("z", "x", 0, NULL), "ARROW:extension:name", "geoarrow.wkb");
  made_bytes_value(m, "\x01\x01", 2);
  column_prints(m, TEXTS("\"AQE=\""), TEXTS("AQE="));
}

static void test_print_value__structs_lists_and_maps_are_json_everywhere(void **state) {
  (void)state;
  made *kids[] = {made_new("i", "a", 0, NULL), made_new("u", "b \"c\"", 0, NULL)};
  made *s = made_new("+s", "s", 2, kids);
  made_i32(kids[0], 1), made_str(kids[1], "x"), made_row(s, true);
  made_null(kids[0]), made_null(kids[1]), made_row(s, true);
  made_null(kids[0]), made_str(kids[1], "hidden"), made_row(s, false);
  column_prints(s, TEXTS("{\"a\":1,\"b \\\"c\\\"\":\"x\"}", "{\"a\":null,\"b \\\"c\\\"\":null}", "null"), NULL);

  made *none = made_new("+s", "s", 0, NULL);
  made_row(none, true);
  column_prints(none, TEXTS("{}"), NULL);

  made *e = made_new("i", "element", 0, NULL), *l = made_new("+l", "l", 1, &e);
  made_i32(e, 1), made_null(e), made_close(l, true);
  made_close(l, true), made_close(l, false);
  column_prints(l, TEXTS("[1,null]", "[]", "null"), NULL);

  made *kv[] = {made_new("u", "key", 0, NULL), made_new("i", "value", 0, NULL)};
  made *entries = made_new("+s", "key_value", 2, kv), *m = made_new("+m", "m", 1, &entries);
  made_str(kv[0], "z"), made_i32(kv[1], 1), made_row(entries, true);
  made_str(kv[0], "a\""), made_null(kv[1]), made_row(entries, true);
  made_close(m, true), made_close(m, true), made_close(m, false);
  column_prints(m, TEXTS("{\"z\":1,\"a\\\"\":null}", "{}", "null"), NULL);

  made *kv2[] = {made_new("tdD", "key", 0, NULL), made_new("u", "value", 0, NULL)};
  entries = made_new("+s", "key_value", 2, kv2), m = made_new("+m", "m", 1, &entries);
  made_i32(kv2[0], 0), made_str(kv2[1], "x"), made_row(entries, true);
  made_close(m, true), made_close(m, true);
  column_prints(m, TEXTS("[{\"key\":\"1970-01-01\",\"value\":\"x\"}]", "[]"), NULL);
}

static made *variant(void) {
  made *kids[] = {made_new("z", "metadata", 0, NULL), made_new("z", "value", 0, NULL)};
  return made_meta(made_new("+s", "v", 2, kids), "ARROW:extension:name", "arrow.parquet.variant");
}
static void put_variant(made *m, const char *metadata, size_t n, const char *value, size_t k) {
  made_bytes_value(m->kids[0], metadata, n);
  made_bytes_value(m->kids[1], value, k);
  made_row(m, true);
}

static void test_print_value__variants_are_the_json_that_they_encode(void **state) {
  (void)state;
  made *m = variant();
  put_variant(m, "\x01\x00\x00", 3, "\x0c\x22", 2);
  put_variant(m, "\x01\x00\x00", 3, "\x00", 1);
  put_variant(m, "\x01\x00\x00", 3, "\x0dn/a", 4);
  made_str(m->kids[0], ""), made_str(m->kids[1], ""), made_row(m, false);
  column_prints(m, TEXTS("34", "null", "\"n/a\"", "null"), NULL);
}

static void test_print_value__a_variant_that_cannot_be_read_names_its_column(void **state) {
  (void)state;
  made *m = variant();
  put_variant(m, "\x01\x00\x00", 3, "", 0);
  made_null(m->kids[0]), made_str(m->kids[1], "\x00"), made_row(m, true);
  made_finish(m);
  bl_view *v;
  assert_int_equal(bl_view_new(ctx, &m->schema, &v, NULL), BL_OK);
  assert_int_equal(bl_view_set(v, &m->array, NULL), BL_OK);
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  for (int64_t i = 0; i < 2; i++) {
    bl_error err = BL_ERROR_INIT;
    assert_int_equal(bl_print_value(&b, v, i, &err), BL_DAMAGED);
    support_says(err.message, "column \"v\"");
  }
  bl_buf_free(&b);
  bl_view_free(v);
  made_free(m);
}

/* ---- random arrays ---- */

typedef struct text {
  char p[100000];
  size_t n;
} text;

static void say(text *t, const char *fmt, ...) BL_PRINTF(2, 3);
static void say(text *t, const char *fmt, ...) {
  if (!t) return;
  va_list ap;
  va_start(ap, fmt);
  t->n += (size_t)vsnprintf(t->p + t->n, sizeof t->p - t->n, fmt, ap);
  va_end(ap);
  assert_true(t->n < sizeof t->p);
}

static made *random_type(uint64_t *rnd, const char *name, int depth) {
  static const char *const scalars[] = {"b", "i", "l", "g", "d:12,3", "tdD", "tsu:UTC", "u", "z", "w:1", "n"};
  uint64_t pick = support_random(rnd) % 17;
  if (depth == 0 || pick < 11) return made_new(scalars[support_random(rnd) % BL_LEN(scalars)], name, 0, NULL);
  made *kids[3];
  if (pick < 13) {
    kids[0] = random_type(rnd, "element", depth - 1);
    return made_new("+l", name, 1, kids);
  }
  if (pick < 15) {
    made *kv[2] = {made_new(pick == 13 ? "u" : "i", "key", 0, NULL), random_type(rnd, "value", depth - 1)};
    kids[0] = made_new("+s", "entries", 2, kv);
    return made_new("+m", name, 1, kids);
  }
  static const char *const names[] = {"p", "q", "r"};
  int n = (int)(support_random(rnd) % 4);
  for (int i = 0; i < n; i++) kids[i] = random_type(rnd, names[i], depth - 1);
  return made_new("+s", name, n, kids);
}

static void random_value(made *m, uint64_t *rnd, bool may_null, text *t);

static void random_struct(made *m, uint64_t *rnd, bool null, text *t) {
  say(t, null ? "null" : "{");
  for (int i = 0; i < m->n_kids; i++) {
    text *kid = null ? NULL : t;
    say(kid, "%s\"%s\":", i ? "," : "", m->kids[i]->name);
    random_value(m->kids[i], rnd, true, kid);
  }
  if (!null) say(t, "}");
  made_row(m, !null);
}

static void random_list(made *m, uint64_t *rnd, bool null, text *t) {
  bool map = m->format[1] == 'm', object = map && m->kids[0]->kids[0]->format[0] == 'u';
  int n = (int)(support_random(rnd) % 4);
  text *inner = null ? NULL : t;
  say(t, "%s", null ? "null" : object ? "{" : "[");
  for (int i = 0; i < n; i++) {
    made *e = m->kids[0];
    if (i) say(inner, ",");
    if (map) {
      if (!object) say(inner, "{\"key\":");
      random_value(e->kids[0], rnd, false, inner);
      say(inner, object ? ":" : ",\"value\":");
      random_value(e->kids[1], rnd, true, inner);
      if (!object) say(inner, "}");
      made_row(e, true);
    } else {
      random_value(e, rnd, true, inner);
    }
  }
  say(inner, object ? "}" : "]");
  made_close(m, !null);
}

static void random_scalar(made *m, uint64_t *rnd, text *t) {
  int r = (int)(support_random(rnd) % 1000) - 500;
  char s[8];
  switch (m->format[0]) {
  case 'b': made_bool(m, r > 0), say(t, r > 0 ? "true" : "false"); break;
  case 'i': made_i32(m, r), say(t, "%d", r); break;
  case 'l': made_i64(m, r * 10000000000), say(t, "%lld", r * 10000000000LL); break;
  case 'g': made_double(m, r + 0.25), say(t, "%.2f", r + 0.25); break;
  case 'd': made_decimal(m, r), say(t, "\"%s%d.%03d\"", r < 0 ? "-" : "", 0, abs(r)); break;
  case 't':
    if (m->format[1] == 'd')
      made_i32(m, r % 20),
          say(t, "\"19%s-%02d\"", r % 20 < 0 ? "69-12" : "70-01", r % 20 < 0 ? 32 + r % 20 : 1 + r % 20);
    else made_i64(m, abs(r)), say(t, "\"1970-01-01T00:00:00.%06d+00:00\"", abs(r));
    break;
  case 'u': snprintf(s, sizeof s, "%.*s", abs(r) % 5, "abcde"), made_str(m, s), say(t, "\"%s\"", s); break;
  case 'z':
    made_bytes_value(m, "\0\0\0", (size_t)abs(r) % 4),
        say(t, "\"%s\"", (const char *const[]){"", "AA==", "AAA=", "AAAA"}[abs(r) % 4]);
    break;
  case 'w': made_value(m, "\xff", 1), say(t, "\"/w==\""); break;
  default: made_null(m), say(t, "null"); break;
  }
}

static void random_value(made *m, uint64_t *rnd, bool may_null, text *t) {
  bool null = may_null && support_random(rnd) % 5 == 0;
  if (strcmp(m->format, "+s") == 0) {
    random_struct(m, rnd, null, t);
  } else if (m->format[0] == '+') {
    random_list(m, rnd, null, t);
  } else if (null) {
    made_null(m), say(t, "null");
  } else {
    random_scalar(m, rnd, t);
  }
}

/* Junk before the offset, children first. */
static void random_cut(made *m, uint64_t *rnd) {
  for (int i = 0; i < m->n_kids; i++) random_cut(m->kids[i], rnd);
  for (uint64_t n = support_random(rnd) % 12; n > 0; n--) random_value(m, rnd, false, NULL);
  made_cut(m);
}

static void test_print_value__random_nested_arrays_with_offsets_at_every_level_print_what_was_put_in(void **state) {
  (void)state;
  static text rows[30];
  for (uint64_t seed = 1; seed <= 300; seed++) {
    uint64_t rnd = seed;
    made *m = random_type(&rnd, "root", 4);
    random_cut(m, &rnd);
    for (int i = 0; i < 30; i++) {
      rows[i].n = 0;
      random_value(m, &rnd, true, &rows[i]);
      rows[i].p[rows[i].n] = 0;
    }
    made_finish(m);
    bl_view *v;
    bl_error err = BL_ERROR_INIT;
    if (bl_view_new(ctx, &m->schema, &v, &err) != BL_OK) fail_msg("%s", err.message);
    if (bl_view_set(v, &m->array, &err) != BL_OK) fail_msg("seed %d: %s", (int)seed, err.message);
    for (int i = 0; i < 30; i++) prints(v, i, bl_print_value, rows[i].p);
    bl_view_free(v);
    made_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_print_value__integers_and_booleans_are_bare),
      cmocka_unit_test(test_print_value__floats_are_shortest_and_their_specials_strings),
      cmocka_unit_test(test_print_value__decimals_are_strings_with_their_scale),
      cmocka_unit_test(test_print_value__times_are_iso_with_six_or_nine_digits),
      cmocka_unit_test(test_print_value__strings_are_escaped_only_within_quotes),
      cmocka_unit_test(test_print_value__bytes_are_base64_and_uuids_text),
      cmocka_unit_test(test_print_value__structs_lists_and_maps_are_json_everywhere),
      cmocka_unit_test(test_print_value__variants_are_the_json_that_they_encode),
      cmocka_unit_test(test_print_value__a_variant_that_cannot_be_read_names_its_column),
      cmocka_unit_test(test_print_value__random_nested_arrays_with_offsets_at_every_level_print_what_was_put_in),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
