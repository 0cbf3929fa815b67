/* test_truncate.c: bounds cut to a length. */
#include "support/support.h"
#include "write/metrics.h"

static bl_arena *arena(bl_ctx *ctx) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  return a;
}

typedef struct cut {
  const char *value;
  size_t n;
  bool text;
  int32_t length;
  const char *lower, *upper; /* NULL: none */
} cut;

#define TOP "\xf4\x8f\xbf\xbf" /* U+10FFFF */

static const cut cuts[] = {
    {"abc", 3, true, 16, "abc", "abc"},
    {"abc", 3, true, 3, "abc", "abc"},
    {"abcd", 4, true, 3, "abc", "abd"},
    {"", 0, true, 16, "", ""},
    /* code points, not bytes */
    {"\xef\xbc\xa1\xef\xbc\xa2\xef\xbc\xa3", 9, true, 2, "\xef\xbc\xa1\xef\xbc\xa2", "\xef\xbc\xa1\xef\xbc\xa3"},
    {"\xc3\xa9\xc3\xa9", 4, true, 1, "\xc3\xa9", "\xc3\xaa"},
    /* the last code point grows by a byte, or has no successor */
    {"a\x7fz", 3, true, 2, "a\x7f", "a\xc2\x80"},
    {"a\xdf\xbfz", 4, true, 2, "a\xdf\xbf", "a\xe0\xa0\x80"},
    {"a\xef\xbf\xbfz", 5, true, 2, "a\xef\xbf\xbf", "a\xf0\x90\x80\x80"},
    {"a\xed\x9f\xbfz", 5, true, 2, "a\xed\x9f\xbf", "a\xee\x80\x80"}, /* U+D7FF: surrogates are passed over */
    {"a" TOP "z", 6, true, 2, "a" TOP, "b"},
    {TOP TOP TOP, 12, true, 2, TOP TOP, NULL},
    {TOP TOP, 8, true, 2, TOP TOP, TOP TOP},
    /* bytes */
    {"\x01\x02\x03", 3, false, 2, "\x01\x02", "\x01\x03"},
    {"\x01\xff\x03", 3, false, 2, "\x01\xff", "\x02"},
    {"\xff\xff\x03", 3, false, 2, "\xff\xff", NULL},
};

static void same(const char *want, bl_str got, const char *what) {
  if (!want) {
    assert_null(got.p);
    return;
  }
  if (!got.p || got.n != strlen(want) || memcmp(got.p, want, got.n) != 0) fail_msg("%s: wrong bound", what);
}

static void test_truncate__lower_is_a_prefix_and_upper_is_rounded_up_by_code_points(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_arena *a = arena(ctx);
  bl_error err = BL_ERROR_INIT;
  for (size_t i = 0; i < BL_LEN(cuts); i++) {
    const cut *c = &cuts[i];
    bl_str v = {c->value, c->n}, lower, upper;
    test_ok(bl_truncate_lower(a, v, c->text, c->length, &lower, &err), &err);
    test_ok(bl_truncate_upper(a, v, c->text, c->length, &upper, &err), &err);
    same(c->lower, lower, c->value);
    same(c->upper, upper, c->value);
    assert_true(bl_str_cmp(lower, v) <= 0);
    if (upper.p) assert_true(bl_str_cmp(upper, v) >= 0);
    if (upper.p && c->text) assert_true(bl_utf8_valid(upper.p, upper.n));
  }
  bl_arena_free(a);
  test_ctx_free(ctx);
}

/* Every code point as the last one that is kept: the bound is valid UTF-8 and above all strings with the prefix. */
static void test_truncate__every_code_point_has_a_valid_bound_above_it(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  for (uint32_t c = 1; c <= 0x10ffff; c += c < 0x3000 || c > 0x10fff0 || (c > 0xd700 && c < 0xe010) ? 1 : 37) {
    char text[32];
    size_t n = 0;
    if (c >= 0xd800 && c < 0xe000) continue;
    if (c < 0x80) text[n++] = (char)c;
    else if (c < 0x800) text[n++] = (char)(0xc0 | c >> 6), text[n++] = (char)(0x80 | (c & 63));
    else if (c < 0x10000) {
      text[n++] = (char)(0xe0 | c >> 12);
      text[n++] = (char)(0x80 | (c >> 6 & 63));
      text[n++] = (char)(0x80 | (c & 63));
    } else {
      text[n++] = (char)(0xf0 | c >> 18);
      text[n++] = (char)(0x80 | (c >> 12 & 63));
      text[n++] = (char)(0x80 | (c >> 6 & 63));
      text[n++] = (char)(0x80 | (c & 63));
    }
    memcpy(text + n, TOP TOP, 8);
    bl_arena *a = arena(ctx);
    bl_str upper;
    test_ok(bl_truncate_upper(a, (bl_str){text, n + 8}, true, 1, &upper, &err), &err);
    if (c == 0x10ffff) assert_null(upper.p);
    else {
      assert_non_null(upper.p);
      assert_true(bl_utf8_valid(upper.p, upper.n));
      assert_true(bl_str_cmp(upper, (bl_str){text, n + 8}) > 0);
    }
    bl_arena_free(a);
  }
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truncate__lower_is_a_prefix_and_upper_is_rounded_up_by_code_points),
      cmocka_unit_test(test_truncate__every_code_point_has_a_valid_bound_above_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
