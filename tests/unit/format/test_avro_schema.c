/* test_avro_schema.c: Avro schemas from JSON, numbers and other values of a block, skipping. */
#include "arena_fixture.h"
#include "format/avro.h"

static const bl_avro_schema *parsed(fixture *f, const char *json) {
  const bl_avro_schema *s;
  test_ok(bl_avro_schema_parse(f->a, bl_str_of(json), &s, &f->err), &f->err);
  assert_non_null(s);
  return s;
}

static void refused(fixture *f, const char *json, bl_status want, const char *words) {
  const bl_avro_schema *s;
  assert_refused(&f->err, bl_avro_schema_parse(f->a, bl_str_of(json), &s, &f->err), want, words);
  assert_null(s);
}

static void test_avro_schema__primitives_have_their_fewest_bytes(void **state) {
  (void)state;
  static const struct {
    const char *json;
    bl_avro_kind kind;
    int64_t bytes;
  } cases[] = {{"\"null\"", BL_A_NULL, 0},
               {"\"boolean\"", BL_A_BOOLEAN, 1},
               {"\"int\"", BL_A_INT, 1},
               {"{\"type\":\"long\"}", BL_A_LONG, 1},
               {"\"float\"", BL_A_FLOAT, 4},
               {"\"double\"", BL_A_DOUBLE, 8},
               {"\"bytes\"", BL_A_BYTES, 1},
               {"{\"type\":\"string\"}", BL_A_STRING, 1},
               {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":12}", BL_A_FIXED, 12},
               {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", BL_A_ENUM, 1},
               {"{\"type\":\"array\",\"items\":\"double\"}", BL_A_ARRAY, 1},
               {"{\"type\":\"map\",\"values\":\"double\"}", BL_A_MAP, 1},
               {"[\"double\",\"float\"]", BL_A_UNION, 5},
               {"[\"null\",\"float\"]", BL_A_UNION, 1},
               {"{\"type\":{\"type\":\"long\"}}", BL_A_LONG, 1},
               {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}", BL_A_RECORD, 0},
               {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"double\"},"
                "{\"name\":\"b\",\"type\":[\"null\",\"int\"]}]}",
                BL_A_RECORD, 9}};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    const bl_avro_schema *s = parsed(&f, cases[i].json);
    assert_int_equal(s->kind, cases[i].kind);
    assert_int_equal(s->min_bytes, cases[i].bytes);
    assert_int_equal(s->field_id, -1);
  }
  fixture_close(&f);
}

static void test_avro_schema__ids_stand_on_fields_elements_keys_and_values(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  const bl_avro_schema *s =
      parsed(&f, "{\"type\":\"record\",\"name\":\"t\",\"fields\":["
                 "{\"name\":\"a_x2Eb\",\"iceberg-field-name\":\"a.b\",\"type\":[\"null\",\"int\"],\"field-id\":7},"
                 "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"long\",\"element-id\":9},\"field-id\":8},"
                 "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"long\",\"key-id\":11,\"value-id\":12},"
                 "\"field-id\":10},{\"name\":\"plain\",\"type\":\"int\"}]}");
  assert_int_equal(s->n_children, 4);
  assert_int_equal(s->children[0]->field_id, 7);
  assert_true(bl_str_is(s->children[0]->field_name, "a_x2Eb"));
  assert_true(bl_str_is(s->children[0]->original, "a.b"));
  assert_int_equal(s->children[1]->children[0]->field_id, 9);
  assert_int_equal(s->children[2]->key_id, 11);
  assert_int_equal(s->children[2]->children[0]->field_id, 12);
  assert_int_equal(s->children[3]->field_id, -1);
  assert_null(s->children[3]->original.p);
  fixture_close(&f);
}

static void test_avro_schema__logical_types_are_kept(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  const bl_avro_schema *s =
      parsed(&f, "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\",\"adjust-to-utc\":true}");
  assert_true(bl_str_is(s->logical, "timestamp-micros"));
  assert_true(s->has_adjust_to_utc && s->adjust_to_utc);
  s = parsed(&f,
             "{\"type\":\"fixed\",\"name\":\"d\",\"size\":4,\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}");
  assert_int_equal(s->precision, 9);
  assert_int_equal(s->scale, 2);
  s = parsed(&f, "{\"type\":\"int\",\"logicalType\":17}");
  assert_null(s->logical.p);
  fixture_close(&f);
}

static void test_avro_schema__names_are_resolved_within_their_name_space(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  const bl_avro_schema *s =
      parsed(&f, "{\"type\":\"record\",\"name\":\"x.y.r\",\"fields\":["
                 "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":3},\"field-id\":1},"
                 "{\"name\":\"b\",\"type\":\"f\",\"field-id\":2},"
                 "{\"name\":\"c\",\"type\":[\"null\",\"x.y.f\"],\"field-id\":3},"
                 "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"namespace\":\"z\",\"size\":5}},"
                 "{\"name\":\"e\",\"type\":{\"type\":\"z.f\"}}]}");
  assert_int_equal(s->children[1]->size, 3);
  assert_int_equal(s->children[1]->field_id, 2);
  assert_int_equal(s->children[0]->field_id, 1);
  assert_int_equal(s->children[2]->children[1]->size, 3);
  assert_int_equal(s->children[2]->children[1]->field_id, -1);
  assert_int_equal(s->children[4]->size, 5);
  fixture_close(&f);
}

static void test_avro_schema__what_breaks_the_rules_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *json, *words;
  } cases[] = {
      {"", "JSON"},
      {"17", "Avro type"},
      {"null", "Avro type"},
      {"\"integer\"", "integer"},
      {"[]", "union"},
      {"[\"null\",[\"int\"]]", "union"},
      {"{}", "type"},
      {"{\"type\":\"record\",\"fields\":[]}", "name"},
      {"{\"type\":\"record\",\"name\":\"\",\"fields\":[]}", "name"},
      {"{\"type\":\"record\",\"name\":\"r\"}", "fields"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[1]}", "field"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\"}]}", "type"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"type\":\"int\"}]}", "name"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"field-id\":-4}]}", "id"},
      {"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"field-id\":\"1\"}]}",
       "field-id"},
      {"{\"type\":\"fixed\",\"name\":\"f\"}", "size"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", "size"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":9999999999}", "size"},
      {"{\"type\":\"array\"}", "items"},
      {"{\"type\":\"map\"}", "values"},
      {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}", "symbols"},
      {"[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}]", "twice"},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) refused(&f, cases[i].json, BL_DAMAGED, cases[i].words);
  refused(&f, "{\"type\":\"record\",\"name\":\"n\",\"fields\":[{\"name\":\"next\",\"type\":[\"null\",\"n\"]}]}",
          BL_UNSUPPORTED, "holds itself");
  fixture_close(&f);
}

static void test_avro_schema__references_that_double_at_each_level_are_limited(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "[{\"type\":\"fixed\",\"name\":\"t0\",\"size\":0}");
  for (int i = 1; i < 40; i++)
    bl_buf_printf(&b,
                  ",{\"type\":\"record\",\"name\":\"t%d\",\"fields\":[{\"name\":\"a\",\"type\":\"t%d\"},"
                  "{\"name\":\"b\",\"type\":\"t%d\"}]}",
                  i, i - 1, i - 1);
  bl_buf_byte(&b, ']');
  const char *text = buf_text(f.a, &b);
  refused(&f, text, BL_DAMAGED, "types");
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_schema__nesting_by_references_is_limited(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "[{\"type\":\"fixed\",\"name\":\"t0\",\"size\":1}");
  for (int i = 1; i < 300; i++)
    bl_buf_printf(&b, ",{\"type\":\"record\",\"name\":\"t%d\",\"fields\":[{\"name\":\"a\",\"type\":\"t%d\"}]}", i,
                  i - 1);
  bl_buf_byte(&b, ']');
  refused(&f, buf_text(f.a, &b), BL_DAMAGED, "deeper");
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_schema__unwrapping_finds_the_one_type_beside_null(void **state) {
  (void)state;
  fixture f;
  bool optional;
  fixture_open(&f);
  assert_int_equal(bl_avro_unwrap(parsed(&f, "[\"null\",\"int\"]"), &optional)->kind, BL_A_INT);
  assert_true(optional);
  assert_int_equal(bl_avro_unwrap(parsed(&f, "[\"long\",\"null\"]"), &optional)->kind, BL_A_LONG);
  assert_true(optional);
  assert_int_equal(bl_avro_unwrap(parsed(&f, "[\"string\"]"), &optional)->kind, BL_A_STRING);
  assert_false(optional);
  assert_null(bl_avro_unwrap(parsed(&f, "[\"null\",\"int\",\"long\"]"), &optional));
  assert_null(bl_avro_unwrap(parsed(&f, "\"null\""), &optional));
  assert_true(bl_avro_only_null(parsed(&f, "[\"null\"]")));
  assert_false(bl_avro_only_null(parsed(&f, "[\"null\",\"int\"]")));
  fixture_close(&f);
}

/* ---- values ---- */

static bl_avro_cursor over(const void *p, size_t n) {
  return (bl_avro_cursor){.p = p, .end = (const uint8_t *)p + n, .base = p, .base_position = 100};
}

static void test_avro_cursor__longs_are_zigzag_and_of_variable_length(void **state) {
  (void)state;
  static const int64_t values[] = {0,    -1,      1,         63,        -64,       64,       -65,
                                   8191, 1 << 20, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(values); i++) {
    bl_buf b;
    int64_t got;
    bl_buf_init(&b, f.ctx, 100);
    bl_avro_put_long(&b, values[i]);
    bl_avro_cursor c = over(b.p, b.n);
    test_ok(bl_avro_long(&c, &got, &f.err), &f.err);
    assert_int_equal(got, values[i]);
    assert_ptr_equal(c.p, c.end);
    for (size_t n = 0; n < b.n; n++) {
      c = over(b.p, n);
      assert_refused(&f.err, bl_avro_long(&c, &got, &f.err), BL_DAMAGED, "ends within");
    }
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

static void test_avro_cursor__numbers_beyond_their_width_are_refused_with_their_place(void **state) {
  (void)state;
  static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
  static const uint8_t tenth[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  static const uint8_t wide[] = {0x00, 0x80, 0x80, 0x80, 0x80, 0x10}; /* 0, then 2^31 */
  fixture f;
  int64_t v;
  int32_t i;
  fixture_open(&f);
  bl_avro_cursor c = over(eleven, sizeof eleven);
  assert_refused(&f.err, bl_avro_long(&c, &v, &f.err), BL_DAMAGED, "64 bits");
  c = over(tenth, sizeof tenth);
  assert_refused(&f.err, bl_avro_long(&c, &v, &f.err), BL_DAMAGED, "64 bits");
  c = over(wide, sizeof wide);
  test_ok(bl_avro_int(&c, &i, &f.err), &f.err);
  assert_int_equal(bl_avro_int(&c, &i, &f.err), BL_DAMAGED);
  assert_int_equal(f.err.position, 101);
  assert_refused(&f.err, BL_DAMAGED, BL_DAMAGED, "byte 101");
  c = over(wide, sizeof wide);
  c.packed = true;
  c.p++;
  assert_int_equal(bl_avro_int(&c, &i, &f.err), BL_DAMAGED);
  assert_int_equal(f.err.position, 100);
  assert_refused(&f.err, BL_DAMAGED, BL_DAMAGED, "byte 1 of the unpacked block");
  fixture_close(&f);
}

static void test_avro_cursor__lengths_and_counts_never_pass_what_is_left(void **state) {
  (void)state;
  static const struct {
    const char *schema;
    uint8_t bytes[16];
    size_t n;
    const char *words;
  } cases[] = {
      {"\"bytes\"", {0x0a, 1, 2}, 3, "length"},
      {"\"string\"", {0x01}, 1, "length"},
      {"\"float\"", {1, 2, 3}, 3, "ends within"},
      {"\"double\"", {1, 2, 3, 4, 5, 6, 7}, 7, "ends within"},
      {"\"boolean\"", {0}, 0, "ends within"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":4}", {1, 2, 3}, 3, "ends within"},
      {"[\"null\",\"int\"]", {0x04}, 1, "branch 2"},
      {"[\"null\",\"int\"]", {0x01}, 1, "branch -1"},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x08, 1, 2}, 3, "array block of 4 items"},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x04, 2, 4}, 3, "ends within"},
      {"{\"type\":\"array\",\"items\":\"double\"}", {0x04, 0, 0, 0, 0, 0, 0, 0, 0}, 9, "at most 1"},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x01, 0x08, 2}, 3, "array block of 4 bytes"},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x01, 0x01, 2}, 3, "array block of -1 bytes"},
      {"{\"type\":\"array\",\"items\":\"int\"}",
       {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
       10,
       "out of range"},
      {"{\"type\":\"map\",\"values\":\"int\"}", {0x04, 0x02, 'k'}, 3, "map block of 2 items"},
      {"{\"type\":\"array\",\"items\":\"null\"}", {0x80, 0x80, 0x80, 0x80, 0x02}, 5, "array block"},
      {"{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}"
       ","
       "{\"name\":\"b\",\"type\":\"long\"}]}}",
       {0x02, 0x80, 0x80},
       3,
       "ends within"},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_avro_cursor c = over(cases[i].bytes, cases[i].n);
    assert_refused(&f.err, bl_avro_skip(&c, parsed(&f, cases[i].schema), &f.err), BL_DAMAGED, cases[i].words);
  }
  fixture_close(&f);
}

static void test_avro_cursor__skipping_ends_behind_the_value(void **state) {
  (void)state;
  static const struct {
    const char *schema;
    uint8_t bytes[16];
    size_t n;
  } cases[] = {
      {"\"null\"", {0}, 0},
      {"\"boolean\"", {1}, 1},
      {"\"long\"", {0x80, 0x01}, 2},
      {"\"float\"", {1, 2, 3, 4}, 4},
      {"\"double\"", {1, 2, 3, 4, 5, 6, 7, 8}, 8},
      {"\"string\"", {0x04, 'a', 'b'}, 3},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}", {1, 2}, 2},
      {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", {0}, 1},
      {"[\"null\",\"int\"]", {0x00}, 1},
      {"[\"null\",\"int\"]", {0x02, 0x06}, 2},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x04, 1, 2, 0x02, 3, 0}, 6},
      {"{\"type\":\"array\",\"items\":\"int\"}", {0x03, 0x04, 1, 2, 0}, 5}, /* -2 items in 2 bytes */
      {"{\"type\":\"array\",\"items\":\"null\"}", {0x80, 0x01, 0}, 3},
      {"{\"type\":\"map\",\"values\":\"string\"}", {0x02, 0x02, 'k', 0x02, 'v', 0}, 6},
      {"{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}"
       ","
       "{\"name\":\"b\",\"type\":\"long\"}]}}",
       {0x04, 0x80, 0x01, 2, 4, 0xff, 0xff, 0x01, 0},
       9},
      {"{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}"
       ","
       "{\"name\":\"b\",\"type\":\"bytes\"}]}}",
       {0x02, 0x02, 0x04, 7, 7, 0},
       6},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_avro_cursor c = over(cases[i].bytes, sizeof cases[i].bytes);
    test_ok(bl_avro_skip(&c, parsed(&f, cases[i].schema), &f.err), &f.err);
    assert_int_equal(c.p - c.base, cases[i].n);
  }
  fixture_close(&f);
}

static void test_avro_cursor__decimals_are_big_endian_of_any_length(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    int64_t value;
    bool fits;
  } cases[] = {{"", 0, 0, true},
               {"\x05", 1, 5, true},
               {"\xff", 1, -1, true},
               {"\x00\x80", 2, 128, true},
               {"\xff\x7f", 2, -129, true},
               {"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00", 20, 256, true},
               {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 17, -2, true},
               {"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 17, 0, false},
               {"\x00\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 17, 0, false}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_i128 v;
    assert_int_equal(bl_avro_decimal((bl_str){cases[i].bytes, cases[i].n}, &v), cases[i].fits);
    if (cases[i].fits) assert_int_equal((int64_t)v, cases[i].value);
  }
}

static bl_status parse_one(bl_ctx *ctx, void *user, bl_error *err) {
  bl_arena *a;
  const bl_avro_schema *s;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_avro_schema_parse(a, bl_str_of(user), &s, err);
  bl_arena_free(a);
  return st;
}

static void test_avro_schema__running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_fail_each(
      parse_one,
      "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":"
      "\"f\",\"size\":1}},{\"name\":\"b\",\"type\":[\"null\",\"f\"]},{\"name\":\"c\",\"type\":{\"type\":"
      "\"array\",\"items\":{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}}}]}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_avro_schema__primitives_have_their_fewest_bytes),
      cmocka_unit_test(test_avro_schema__ids_stand_on_fields_elements_keys_and_values),
      cmocka_unit_test(test_avro_schema__logical_types_are_kept),
      cmocka_unit_test(test_avro_schema__names_are_resolved_within_their_name_space),
      cmocka_unit_test(test_avro_schema__what_breaks_the_rules_is_refused),
      cmocka_unit_test(test_avro_schema__references_that_double_at_each_level_are_limited),
      cmocka_unit_test(test_avro_schema__nesting_by_references_is_limited),
      cmocka_unit_test(test_avro_schema__unwrapping_finds_the_one_type_beside_null),
      cmocka_unit_test(test_avro_cursor__longs_are_zigzag_and_of_variable_length),
      cmocka_unit_test(test_avro_cursor__numbers_beyond_their_width_are_refused_with_their_place),
      cmocka_unit_test(test_avro_cursor__lengths_and_counts_never_pass_what_is_left),
      cmocka_unit_test(test_avro_cursor__skipping_ends_behind_the_value),
      cmocka_unit_test(test_avro_cursor__decimals_are_big_endian_of_any_length),
      cmocka_unit_test(test_avro_schema__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
