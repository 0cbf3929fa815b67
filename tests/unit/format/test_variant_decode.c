/* test_variant_decode.c: encoded variants as JSON: Spark's, the specification's, and broken ones. */
#include "variant_case.h"

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

static const struct {
  const char *name, *json;
} spark[] = {
    {"array_empty", "[]"},
    {"array_nested", "[{\"id\":1,\"thing\":{\"names\":[\"Contrarian\",\"Spider\"]}},null,"
                     "{\"id\":2,\"names\":[\"Apple\",\"Ray\",null],\"type\":\"if\"}]"},
    {"array_primitive", "[2,1,5,9]"},
    {"long_string", NULL},
    {"object_empty", "{}"},
    {"object_nested", "{\"id\":1,\"observation\":{\"location\":\"In the Volcano\",\"time\":\"12:34:56\","
                      "\"value\":{\"humidity\":456,\"temperature\":123}},"
                      "\"species\":{\"name\":\"lava monster\",\"population\":6789}}"},
    {"object_primitive", "{\"boolean_false_field\":false,\"boolean_true_field\":true,\"double_field\":1.23456789,"
                         "\"int_field\":1,\"null_field\":null,\"string_field\":\"Apache Parquet\","
                         "\"timestamp_field\":\"2025-04-16T12:34:56.78\"}"},
    {"primitive_binary", "\"AxM33q2+78r+\""},
    {"primitive_boolean_false", "false"},
    {"primitive_boolean_true", "true"},
    {"primitive_date", "\"2025-04-16\""},
    {"primitive_decimal16", "12345678912345678.90"},
    {"primitive_decimal4", "12.34"},
    {"primitive_decimal8", "12345678.90"},
    {"primitive_double", "1234567890.1234"},
    {"primitive_float", "1234568000.0"},
    {"primitive_int16", "1234"},
    {"primitive_int32", "123456"},
    {"primitive_int64", "1234567890123456789"},
    {"primitive_int8", "42"},
    {"primitive_null", "null"},
    {"primitive_string", NULL},
    {"primitive_time", "\"12:33:54.123456\""},
    {"primitive_timestamp", "\"2025-04-16T16:34:56.780000+00:00\""},
    {"primitive_timestamp_nanos", "\"2024-11-07T12:33:54.123456789+00:00\""},
    {"primitive_timestampntz", "\"2025-04-16T12:34:56.780000\""},
    {"primitive_timestampntz_nanos", "\"2024-11-07T12:33:54.123456789\""},
    {"primitive_uuid", "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""},
    {"short_string", "\"Less than 64 bytes (\xe2\x9d\xa4\xef\xb8\x8f with utf8)\""},
};

static bl_buf part_of(const char *name, const char *part) {
  char path[100];
  snprintf(path, sizeof path, "variant/%s.%s", name, part);
  return support_fixture(ctx, path);
}

static void test_variant_decode__prints_what_spark_encoded(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(spark); i++) {
    bl_buf m = part_of(spark[i].name, "metadata"), v = part_of(spark[i].name, "value"), out;
    if (spark[i].json) {
      variant_prints(ctx, variant_bytes(&m), variant_bytes(&v), spark[i].json);
    } else { /* a long string: its bytes come after a head of five */
      bl_buf_init(&out, ctx, BL_BUF_MAX);
      assert_int_equal(variant_json(ctx, variant_bytes(&m), variant_bytes(&v), &out, NULL), BL_OK);
      assert_int_equal(out.n, v.n - 5 + 2);
      assert_memory_equal(out.p + 1, v.p + 5, v.n - 5);
      bl_buf_free(&out);
    }
    bl_buf_free(&m), bl_buf_free(&v);
  }
}

static void test_variant_decode__every_cut_of_what_spark_encoded_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(spark); i++) {
    bl_buf m = part_of(spark[i].name, "metadata"), v = part_of(spark[i].name, "value"), out;
    bl_buf_init(&out, ctx, BL_BUF_MAX);
    bl_str metadata = variant_bytes(&m), value = variant_bytes(&v);
    for (size_t n = 0; n < v.n; n++)
      assert_int_equal(variant_json(ctx, metadata, (bl_str){value.p, n}, &out, NULL), BL_DAMAGED);
    for (size_t n = 1; n < m.n; n++) {
      bl_status st = variant_json(ctx, (bl_str){metadata.p, n}, value, &out, NULL);
      assert_int_equal(st, m.n == 3 && n == 2 ? BL_OK : BL_DAMAGED); /* 01 00: no keys, without the one offset */
    }
    bl_buf_free(&m), bl_buf_free(&v), bl_buf_free(&out);
  }
}

/* ---- values by hand ---- */

static void test_variant_decode__integers_are_signed_at_every_width(void **state) {
  (void)state;
  variant_prints(ctx, NO_KEYS, BYTES("\x0c\xff"), "-1");
  variant_prints(ctx, NO_KEYS, BYTES("\x0c\x80"), "-128");
  variant_prints(ctx, NO_KEYS, BYTES("\x10\x00\x80"), "-32768");
  variant_prints(ctx, NO_KEYS, BYTES("\x14\x00\x00\x00\x80"), "-2147483648");
  variant_prints(ctx, NO_KEYS, BYTES("\x18\x00\x00\x00\x00\x00\x00\x00\x80"), "-9223372036854775808");
}

static void test_variant_decode__decimals_are_numbers_with_their_scale(void **state) {
  (void)state;
  variant_prints(ctx, NO_KEYS, BYTES("\x20\x00\xff\xff\xff\xff"), "-1");
  variant_prints(ctx, NO_KEYS, BYTES("\x20\x03\xff\xff\xff\xff"), "-0.001");
  variant_prints(ctx, NO_KEYS, BYTES("\x24\x02\x10\x27\x00\x00\x00\x00\x00\x00"), "100.00");
  variant_prints(ctx, NO_KEYS, BYTES("\x28\x26\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
                 "0.00000000000000000000000000000000000001");
  variant_refused(ctx, NO_KEYS, BYTES("\x20\x27\x01\x00\x00\x00"), BL_DAMAGED, "scale 39");
}

static void test_variant_decode__numbers_that_json_lacks_are_strings(void **state) {
  (void)state;
  variant_prints(ctx, NO_KEYS, BYTES("\x1c\x00\x00\x00\x00\x00\x00\xf8\x7f"), "\"NaN\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x1c\x00\x00\x00\x00\x00\x00\xf0\xff"), "\"-Infinity\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x38\x00\x00\x80\x7f"), "\"Infinity\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x38\x00\x00\x00\x80"), "-0.0");
}

static void test_variant_decode__strings_are_escaped_as_json(void **state) {
  (void)state;
  variant_prints(ctx, NO_KEYS, BYTES("\x0dn/a"), "\"n/a\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x01"), "\"\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x0d\"\\\n"), "\"\\\"\\\\\\n\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x40\x02\x00\x00\x00hi"), "\"hi\"");
  variant_prints(ctx, NO_KEYS, BYTES("\x3c\x00\x00\x00\x00"), "\"\"");
}

/* { "c": 3, "b": 2, "a": 1 } with the values in the order c, b, a, as the specification has it. */
static const char cba_keys[] = "\x01\x03\x00\x01\x02\x03"
                               "cba";
static void test_variant_decode__offsets_of_an_object_need_not_ascend(void **state) {
  (void)state;
  variant_prints(ctx, BYTES(cba_keys), BYTES("\x02\x03\x02\x01\x00\x04\x02\x00\x06\x0c\x03\x0c\x02\x0c\x01"),
                 "{\"a\":1,\"b\":2,\"c\":3}");
}

static void test_variant_decode__reserved_bits_are_ignored(void **state) {
  (void)state;
  /* Bit 5 of the metadata and of an object, bits 3 to 5 of an array. */
  variant_prints(ctx,
                 BYTES("\x21\x01\x00\x01"
                       "a"),
                 BYTES("\x82\x01\x00\x00\x02\x0c\x01"), "{\"a\":1}");
  variant_prints(ctx, NO_KEYS, BYTES("\xe3\x01\x00\x02\x0c\x01"), "[1]");
}

static void test_variant_decode__widths_may_be_larger_than_needed(void **state) {
  (void)state;
  variant_prints(ctx,
                 BYTES("\xc1\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"
                       "a"),
                 BYTES("\x7e\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x0c\x07"), "{\"a\":7}");
  variant_prints(ctx, NO_KEYS, BYTES("\x1b\x01\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"), "[null]");
}

static void test_variant_decode__a_null_may_have_no_metadata(void **state) {
  (void)state;
  variant_prints(ctx, BYTES(""), BYTES("\x00"), "null");
  variant_refused(ctx, BYTES(""), BYTES("\x02\x01\x00\x00\x01\x00"), BL_DAMAGED, "key 0 of 0");
}

static void test_variant_decode__keys_in_an_order_that_is_not_bytewise_are_read(void **state) {
  (void)state;
  variant_prints(ctx, BYTES(cba_keys), BYTES("\x02\x02\x00\x02\x00\x01\x02\x00\x00"), "{\"c\":null,\"a\":null}");
}

static void test_variant_decode__what_breaks_the_format_is_named(void **state) {
  (void)state;
  static const struct {
    bl_str metadata, value;
    bl_status status;
    const char *says;
  } cases[] = {
      {RAW("\x00\x00\x00"), RAW("\x00"), BL_DAMAGED, "version 0"},
      {RAW("\x02\x00\x00"), RAW("\x00"), BL_UNSUPPORTED, "version 2"},
      {RAW("\x01"), RAW("\x00"), BL_DAMAGED, "metadata: truncated"},
      {RAW("\x01\xff\x00"), RAW("\x00"), BL_DAMAGED, "255 keys"},
      {RAW("\xc1\xff\xff\xff\xff\x00"), RAW("\x00"), BL_DAMAGED, "4294967295 keys"},
      {RAW("\x01\x00\x00"), RAW(""), BL_DAMAGED, "empty"},
      {RAW("\x01\x00\x00"), RAW("\x54"), BL_UNSUPPORTED, "type 21"},
      {RAW("\x01\x00\x00"), RAW("\xfc"), BL_UNSUPPORTED, "type 63"},
      {RAW("\x01\x00\x00"),
       RAW("\x40\xff\xff\xff\xff"
           "a"),
       BL_DAMAGED, "truncated"},
      {RAW("\x01\x00\x00"),
       RAW("\x3c\x02\x00\x00\x00"
           "a"),
       BL_DAMAGED, "truncated"},
      {RAW("\x01\x00\x00"), RAW("\x05\xff"), BL_DAMAGED, "UTF-8"},
      {RAW("\x01\x00\x00"), RAW("\x40\x01\x00\x00\x00\xff"), BL_DAMAGED, "UTF-8"},
      {RAW("\x01\x00\x00"), RAW("\x13\xff\xff\xff\xff\x00"), BL_DAMAGED, "4294967295 elements"},
      {RAW("\x01\x00\x00"), RAW("\x03\x01\x00\x05\x00"), BL_DAMAGED, "truncated"},
      {RAW("\x01\x00\x00"), RAW("\x03\x01\x02\x01\x00"), BL_DAMAGED, "element 0 at byte 2"},
      {RAW("\x01\x00\x00"), RAW("\x03\x01\x01\x01\x00"), BL_DAMAGED, "empty"},
      {RAW("\x01\x00\x00"), RAW("\x03\x02\x00\x00\x01\x00"), BL_DAMAGED, "overlaps"},
      {RAW(cba_keys), RAW("\x02\x01\x03\x00\x01\x00"), BL_DAMAGED, "key 3 of 3"},
      {RAW(cba_keys), RAW("\x02\x02\x01\x01\x00\x01\x02\x00\x00"), BL_DAMAGED, "\"b\" twice"},
      {RAW("\x01\x02\x00\x01\x02"
           "aa"),
       RAW("\x02\x02\x00\x01\x00\x01\x02\x00\x00"), BL_DAMAGED, "\"a\" twice"},
      {RAW(cba_keys), RAW("\x02\x03\x02\x00\x02\x00\x01\x02\x03\x00\x00\x00"), BL_DAMAGED, "\"a\" twice"},
      {RAW("\x01\x01\x00\x09"
           "a"),
       RAW("\x02\x01\x00\x00\x01\x00"), BL_DAMAGED, "key 0 from byte 0 to 9"},
      {RAW("\x01\x01\x01\x00"
           "a"),
       RAW("\x02\x01\x00\x00\x01\x00"), BL_DAMAGED, "key 0 from byte 1 to 0"},
      {RAW("\x01\x01\x00\x01\xff"), RAW("\x02\x01\x00\x00\x01\x00"), BL_DAMAGED, "not UTF-8"},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++)
    variant_refused(ctx, cases[i].metadata, cases[i].value, cases[i].status, cases[i].says);
}

/* Arrays of 200 elements that all point to one array of 200 elements … would print 200^20 values. */
static void test_variant_decode__elements_that_share_bytes_do_not_multiply(void **state) {
  (void)state;
  enum { LEVELS = 20, N = 200, SIZE = 2 + N + 1 };
  static char bytes[LEVELS * SIZE + 1];
  for (int level = 0; level < LEVELS; level++) {
    char *p = bytes + level * SIZE;
    p[0] = 3, p[1] = (char)N;
    memset(p + 2, 0, N);
    p[2 + N] = 1;
  }
  bytes[LEVELS * SIZE] = 0;
  variant_refused(ctx, NO_KEYS, (bl_str){bytes, sizeof bytes}, BL_DAMAGED, "");
}

static void shallow(bl_ctx_options *o) {
  o->max_nesting = 5;
  o->max_metadata_bytes = 1000;
}

static void test_variant_decode__depth_and_length_are_bounded_by_the_context(void **state) {
  (void)state;
  bl_ctx *small = support_ctx(NULL, shallow);
  variant_prints(small, NO_KEYS,
                 BYTES("\x03\x01\x00\x11\x03\x01\x00\x0d\x03\x01\x00\x09\x03\x01\x00\x05\x03\x01\x00\x01\x00"),
                 "[[[[[null]]]]]");
  variant_refused(
      small, NO_KEYS,
      BYTES("\x03\x01\x00\x15\x03\x01\x00\x11\x03\x01\x00\x0d\x03\x01\x00\x09\x03\x01\x00\x05\x03\x01\x00\x01"
            "\x00"),
      BL_DAMAGED, "nested deeper than 5");
  /* One key of 200 bytes in twelve objects of six. */
  char metadata[4 + 200] = {1, 1, 0, (char)200}, value[2 + 13 + 12 * 6] = {3, 12};
  memset(metadata + 4, 'k', 200);
  for (int i = 0; i < 13; i++) value[2 + i] = (char)(6 * i);
  for (int i = 0; i < 12; i++) memcpy(value + 15 + 6 * i, "\x02\x01\x00\x00\x01\x00", 6);
  variant_refused(small, (bl_str){metadata, sizeof metadata}, (bl_str){value, sizeof value}, BL_DAMAGED,
                  "limit of 1000");
  bl_ctx_free(small);
}

static void test_variant_decode__flipped_bits_never_read_outside(void **state) {
  (void)state;
  static const char *const names[] = {"object_nested", "array_nested", "object_primitive"};
  bl_buf out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  for (size_t i = 0; i < BL_LEN(names); i++) {
    bl_buf m = part_of(names[i], "metadata"), v = part_of(names[i], "value");
    for (size_t bit = 0; bit < (m.n + v.n) * 8; bit++) {
      uint8_t *at = bit / 8 < m.n ? &m.p[bit / 8] : &v.p[bit / 8 - m.n];
      *at ^= (uint8_t)(1u << bit % 8);
      bl_error err = BL_ERROR_INIT;
      bl_status st = variant_json(ctx, variant_bytes(&m), variant_bytes(&v), &out, &err);
      assert_true(st == BL_OK || st == BL_DAMAGED || st == BL_UNSUPPORTED);
      *at ^= (uint8_t)(1u << bit % 8);
    }
    bl_buf_free(&m), bl_buf_free(&v);
  }
  bl_buf_free(&out);
}

static bl_status print_one(bl_ctx *c, void *user, bl_error *err) {
  (void)user;
  bl_buf out;
  bl_buf_init(&out, c, BL_BUF_MAX);
  bl_status st = variant_json(c, BYTES(cba_keys), BYTES("\x02\x02\x00\x02\x00\x01\x02\x00\x00"), &out, err);
  bl_buf_free(&out);
  return st;
}

static void test_variant_decode__reports_every_failed_allocation(void **state) {
  (void)state;
  support_fail_each_allocation(print_one, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant_decode__prints_what_spark_encoded),
      cmocka_unit_test(test_variant_decode__every_cut_of_what_spark_encoded_is_refused),
      cmocka_unit_test(test_variant_decode__integers_are_signed_at_every_width),
      cmocka_unit_test(test_variant_decode__decimals_are_numbers_with_their_scale),
      cmocka_unit_test(test_variant_decode__numbers_that_json_lacks_are_strings),
      cmocka_unit_test(test_variant_decode__strings_are_escaped_as_json),
      cmocka_unit_test(test_variant_decode__offsets_of_an_object_need_not_ascend),
      cmocka_unit_test(test_variant_decode__reserved_bits_are_ignored),
      cmocka_unit_test(test_variant_decode__widths_may_be_larger_than_needed),
      cmocka_unit_test(test_variant_decode__a_null_may_have_no_metadata),
      cmocka_unit_test(test_variant_decode__keys_in_an_order_that_is_not_bytewise_are_read),
      cmocka_unit_test(test_variant_decode__what_breaks_the_format_is_named),
      cmocka_unit_test(test_variant_decode__elements_that_share_bytes_do_not_multiply),
      cmocka_unit_test(test_variant_decode__depth_and_length_are_bounded_by_the_context),
      cmocka_unit_test(test_variant_decode__flipped_bits_never_read_outside),
      cmocka_unit_test(test_variant_decode__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
