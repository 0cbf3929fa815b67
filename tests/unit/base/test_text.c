/* Encodings of bytes as text. */
#include "base/text.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_buf b, out;
} fixture;

static int begin(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->ctx = test_ctx();
  bl_buf_init(&f->b, f->ctx, BL_BUF_MAX);
  bl_buf_init(&f->out, f->ctx, BL_BUF_MAX);
  *state = f;
  return 0;
}

static int end(void **state) {
  fixture *f = *state;
  bl_buf_free(&f->b);
  bl_buf_free(&f->out);
  test_ctx_free(f->ctx);
  free(f);
  return 0;
}

static const char *text_of(bl_buf *b) {
  bl_buf_byte(b, 0);
  b->n = 0;
  return (const char *)b->p;
}

static void test_text__uuids_are_printed_and_read_back(void **state) {
  fixture *f = *state;
  uint8_t v[16];
  assert_true(bl_parse_uuid(BL_STR("F79C3E09-677c-4bbd-A479-3f349cb785e7"), v));
  assert_memory_equal(v, "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16);
  bl_print_uuid(&f->b, v);
  assert_string_equal(text_of(&f->b), "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  static const char *const bad[] = {"",
                                    "f79c3e09-677c-4bbd-a479-3f349cb785e",
                                    "f79c3e09-677c-4bbd-a479-3f349cb785e77",
                                    "f79c3e09677c4bbda4793f349cb785e7",
                                    "f79c3e09-677c-4bbd-a479-3f349cb785eg",
                                    "f79c3e0-9677c-4bbd-a479-3f349cb785e7",
                                    "{79c3e09-677c-4bbd-a479-3f349cb785e}"};
  for (size_t i = 0; i < BL_LEN(bad); i++) assert_false(bl_parse_uuid(bl_str_of(bad[i]), v));
  assert_false(bl_parse_uuid(BL_STR_NONE, v));
}

static void test_text__base64_is_that_of_rfc_4648(void **state) {
  fixture *f = *state;
  static const char *const pairs[][2] = {{"", ""},
                                         {"f", "Zg=="},
                                         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},
                                         {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="},
                                         {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < BL_LEN(pairs); i++) {
    bl_buf_clear(&f->out);
    bl_print_base64(&f->b, pairs[i][0], strlen(pairs[i][0]));
    assert_string_equal(text_of(&f->b), pairs[i][1]);
    assert_true(bl_parse_base64(bl_str_of(pairs[i][1]), &f->out));
    assert_string_equal(text_of(&f->out), pairs[i][0]);
  }
  assert_true(bl_parse_base64(BL_STR("Zm8"), &f->out)); /* the padding may be missing */
  assert_string_equal(text_of(&f->out), "fo");
  assert_true(bl_parse_base64(BL_STR("+/+/"), &f->out));
}

static void test_text__base64_that_is_damaged_adds_nothing(void **state) {
  fixture *f = *state;
  static const char *const bad[] = {"Z",     "Zg=",  "Zg===", "Zh==",   "Zm9=", "Zm9v!",
                                    "Zm 9v", "=Zg=", "Zm9vZ", "Zm9v\n", "-_-_", "===="};
  bl_buf_cstr(&f->out, "kept");
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    if (bl_parse_base64(bl_str_of(bad[i]), &f->out)) fail_msg("%s was read", bad[i]);
    assert_int_equal(f->out.n, 4);
  }
  assert_false(bl_parse_base64(BL_STR_NONE, &f->out));
}

static void test_text__any_bytes_go_through_base64_and_hex(void **state) {
  fixture *f = *state;
  uint8_t bytes[256];
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)(i * 7);
  for (size_t n = 0; n <= sizeof bytes; n++) {
    bl_buf_clear(&f->b);
    bl_buf_clear(&f->out);
    bl_buf_cstr(&f->b, "");
    bl_print_base64(&f->b, bytes, n);
    assert_true(bl_parse_base64((bl_str){(char *)f->b.p, f->b.n}, &f->out));
    bl_buf_clear(&f->b);
    bl_print_hex(&f->b, bytes, n);
    assert_int_equal(f->b.n, 2 * n);
    assert_true(bl_parse_hex((bl_str){(char *)f->b.p, f->b.n}, &f->out));
    assert_int_equal(f->out.n, 2 * n);
    if (n) assert_memory_equal(f->out.p, bytes, n);
    if (n) assert_memory_equal(f->out.p + n, bytes, n);
  }
}

static void test_text__hex_is_lower_case_and_read_in_any_case(void **state) {
  fixture *f = *state;
  bl_print_hex(&f->b, "\x00\xab\xCD", 3);
  assert_string_equal(text_of(&f->b), "00abcd");
  assert_true(bl_parse_hex(BL_STR("00AbcD"), &f->out));
  assert_memory_equal(f->out.p, "\x00\xab\xcd", 3);
  bl_buf_clear(&f->out);
  assert_false(bl_parse_hex(BL_STR("0"), &f->out));
  assert_false(bl_parse_hex(BL_STR("0g"), &f->out));
  assert_false(bl_parse_hex(BL_STR("0x00"), &f->out));
  assert_false(bl_parse_hex(BL_STR_NONE, &f->out));
  assert_int_equal(f->out.n, 0);
}

static void test_text__a_full_buffer_is_not_a_reading(void **state) {
  fixture *f = *state;
  bl_buf small;
  bl_buf_init(&small, f->ctx, 2);
  assert_false(bl_parse_hex(BL_STR("aabbcc"), &small));
  bl_buf_clear(&small);
  assert_false(bl_parse_base64(BL_STR("Zm9v"), &small));
  bl_buf_clear(&small);
  bl_print_hex(&small, "ab", 2);
  assert_true(small.failed);
  bl_buf_free(&small);
}

static void test_text__utf8_is_checked_to_the_letter(void **state) {
  (void)state;
  static const struct {
    const char *p;
    size_t n;
  } good[] = {{"", 0},
              {"plain ascii of more than eight bytes", 36},
              {"a\0b", 3},
              {"\xc2\x80", 2},
              {"\xdf\xbf", 2},
              {"\xe0\xa0\x80", 3},
              {"\xed\x9f\xbf", 3},
              {"\xee\x80\x80", 3},
              {"\xef\xbf\xbf", 3},
              {"\xf0\x90\x80\x80", 4},
              {"\xf4\x8f\xbf\xbf", 4}},
    bad[] = {{"\x80", 1},
             {"\xc0\x80", 2}, /* overlong */
             {"\xc1\xbf", 2},
             {"\xe0\x9f\xbf", 3},     /* overlong */
             {"\xed\xa0\x80", 3},     /* surrogate */
             {"\xf0\x8f\xbf\xbf", 4}, /* overlong */
             {"\xf4\x90\x80\x80", 4}, /* beyond U+10FFFF */
             {"\xf5\x80\x80\x80", 4},
             {"\xff", 1},
             {"\xc2", 1}, /* cut off */
             {"\xe2\x82", 2},
             {"\xf0\x9f\x98", 3},
             {"\xe2\x28\xa1", 3},
             {"\xe2\x82\x28", 3},
             {"12345678\xf0\x9f\x98(", 12},
             {"1234567890\x80", 11}};
  for (size_t i = 0; i < BL_LEN(good); i++)
    if (!bl_utf8_valid(good[i].p, good[i].n)) fail_msg("good %zu", i);
  for (size_t i = 0; i < BL_LEN(bad); i++)
    if (bl_utf8_valid(bad[i].p, bad[i].n)) fail_msg("bad %zu", i);
}

static void test_text__json_strings_escape_what_they_must(void **state) {
  fixture *f = *state;
  bl_print_json_str(&f->b, (bl_str){"a\"b\\c/\b\f\n\r\t\0\x1f\x7f", 14});
  assert_string_equal(text_of(&f->b), "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"");
  bl_print_json_str(&f->b, BL_STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
  assert_string_equal(text_of(&f->b), "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
  bl_print_json_str(&f->b, BL_STR_NONE);
  assert_string_equal(text_of(&f->b), "\"\"");
}

/* Plain stretches are looked at eight bytes at a time: each byte at each place of one must be seen. */
static void test_text__json_strings_escape_every_byte_at_every_place(void **state) {
  fixture *f = *state;
  for (int c = 0; c < 256; c++)
    for (int at = 0; at < 24; at++) {
      char text[24], want[64];
      memset(text, 'x', sizeof text);
      text[at] = (char)c;
      bl_buf_clear(&f->b);
      bl_print_json_str(&f->b, (bl_str){&text[at], 1}); /* alone */
      size_t n = f->b.n - 2;
      memset(want, 'x', sizeof want);
      want[0] = '"';
      memcpy(want + 1 + at, f->b.p + 1, n);
      want[24 + n] = '"';
      bl_buf_clear(&f->b);
      bl_print_json_str(&f->b, (bl_str){text, sizeof text});
      assert_int_equal(f->b.n, n + 25);
      assert_memory_equal(f->b.p, want, n + 25);
    }
}

static void test_text__json_strings_are_utf8_whatever_goes_in(void **state) {
  fixture *f = *state;
  bl_print_json_str(&f->b, BL_STR("a\xff\xc3"));
  assert_string_equal(text_of(&f->b), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
  for (int hi = 0; hi < 256; hi++)
    for (int lo = 0; lo < 256; lo++) {
      char two[2] = {(char)hi, (char)lo};
      bl_buf_clear(&f->b);
      bl_print_json_str(&f->b, (bl_str){two, 2});
      assert_true(bl_utf8_valid((char *)f->b.p, f->b.n));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_text__uuids_are_printed_and_read_back, begin, end),
      cmocka_unit_test_setup_teardown(test_text__base64_is_that_of_rfc_4648, begin, end),
      cmocka_unit_test_setup_teardown(test_text__base64_that_is_damaged_adds_nothing, begin, end),
      cmocka_unit_test_setup_teardown(test_text__any_bytes_go_through_base64_and_hex, begin, end),
      cmocka_unit_test_setup_teardown(test_text__hex_is_lower_case_and_read_in_any_case, begin, end),
      cmocka_unit_test_setup_teardown(test_text__a_full_buffer_is_not_a_reading, begin, end),
      cmocka_unit_test_setup_teardown(test_text__utf8_is_checked_to_the_letter, begin, end),
      cmocka_unit_test_setup_teardown(test_text__json_strings_escape_what_they_must, begin, end),
      cmocka_unit_test_setup_teardown(test_text__json_strings_escape_every_byte_at_every_place, begin, end),
      cmocka_unit_test_setup_teardown(test_text__json_strings_are_utf8_whatever_goes_in, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
