/* test_arrow_build.c: Arrow arrays built value by value, seen through views; every buffer as the format has it. */
#include "support/support.h"

#include "rows/arrow_build.h"
#include "rows/arrow_own.h"
#include "rows/print_value.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_error err;
  struct ArrowSchema schema;
  bl_builder *b;
  struct ArrowArray array;
} fixture;

static void setup_schema(fixture *f) {
  test_ok(bl_builder_new(f->ctx, &f->schema, &f->b, &f->err), &f->err);
}

static void setup(fixture *f, const char *format) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_aschema_new(f->ctx, format, BL_STR("c"), true, 0, &f->schema, &f->err), &f->err);
  setup_schema(f);
}

static void teardown(fixture *f) {
  bl_array_release(&f->array);
  bl_builder_free(f->b);
  bl_aschema_release(&f->schema);
  test_ctx_free(f->ctx);
}

static void finish(fixture *f) {
  bl_array_release(&f->array);
  test_ok(bl_builder_finish(f->b, &f->array, &f->err), &f->err);
}

static void child_schema(fixture *f, struct ArrowSchema *parent, int64_t i, const char *format, const char *name,
                         bool nullable, int64_t kids) {
  test_ok(bl_aschema_new(f->ctx, format, bl_str_of(name), nullable, kids, parent->children[i], &f->err), &f->err);
}

/* Row i of the finished array is this JSON. */
static void assert_row(fixture *f, int64_t i, const char *want) {
  bl_view *v;
  bl_buf b;
  bl_buf_init(&b, f->ctx, 10000);
  test_ok(bl_view_new(f->ctx, &f->schema, &v, &f->err), &f->err);
  test_ok(bl_view_set(v, &f->array, &f->err), &f->err);
  test_ok(bl_print_value(&b, v, i, &f->err), &f->err);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_view_free(v);
  bl_buf_free(&b);
}

static void refused(fixture *f, bl_status st, bl_status want, const char *words) {
  test_status(want, st, &f->err);
  test_says(&f->err, words);
  f->err = (bl_error)BL_ERROR_INIT;
}

static void test_arrow_build__numbers_take_the_width_of_their_format(void **state) {
  (void)state;
  static const struct {
    const char *format;
    size_t width;
    int64_t value, too_large;
  } cases[] = {{"c", 1, -128, 256},
               {"S", 2, 65535, 65536},
               {"i", 4, INT32_MIN, INT64_C(1) << 32},
               {"tdD", 4, -1, INT64_MAX},
               {"ttm", 4, 86399999, -(INT64_C(1) << 40)},
               {"l", 8, INT64_MIN, 0},
               {"ttu", 8, 5, 0},
               {"tsn:UTC", 8, -5, 0},
               {"tsu:", 8, INT64_MAX, 0}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    fixture f;
    char name[BL_TYPE_NAME_BYTES];
    setup(&f, cases[i].format);
    test_ok(bl_builder_int(f.b, cases[i].value, &f.err), &f.err);
    test_ok(bl_builder_int(f.b, 1, &f.err), &f.err);
    assert_int_equal(bl_builder_size(f.b), 2 * cases[i].width);
    if (cases[i].too_large) refused(&f, bl_builder_int(f.b, cases[i].too_large, &f.err), BL_USAGE, "does not fit");
    refused(&f, bl_builder_double(f.b, 1, &f.err), BL_USAGE, bl_aformat_name(cases[i].format, name));
    finish(&f);
    assert_int_equal(f.array.length, 2);
    assert_int_equal(f.array.n_buffers, 2);
    assert_null(f.array.buffers[0]);
    int64_t got = 0;
    memcpy(&got, f.array.buffers[1], cases[i].width);
    assert_memory_equal(&got, &cases[i].value, cases[i].width);
    assert_int_equal(((const uint8_t *)f.array.buffers[1])[cases[i].width], 1);
    teardown(&f);
  }
}

static void test_arrow_build__nulls_get_bits_from_the_first_one_on(void **state) {
  (void)state;
  fixture f;
  setup(&f, "l");
  for (int64_t i = 0; i < 100; i++)
    test_ok(i % 10 == 9 ? bl_builder_null(f.b, &f.err) : bl_builder_int(f.b, i, &f.err), &f.err);
  finish(&f);
  assert_int_equal(f.array.null_count, 10);
  for (int64_t i = 0; i < 100; i++) {
    assert_int_equal(bl_array_valid(&f.array, i), i % 10 != 9);
    if (i % 10 != 9) assert_int_equal(((const int64_t *)f.array.buffers[1])[i], i);
  }
  test_ok(bl_builder_int(f.b, 7, &f.err), &f.err);
  finish(&f); /* the builder has begun anew */
  assert_int_equal(f.array.length, 1);
  assert_int_equal(f.array.null_count, 0);
  assert_row(&f, 0, "7");
  teardown(&f);
}

static void test_arrow_build__truth_values_are_bits(void **state) {
  (void)state;
  fixture f;
  setup(&f, "b");
  for (int i = 0; i < 20; i++) test_ok(bl_builder_bool(f.b, i % 3 == 0, &f.err), &f.err);
  test_ok(bl_builder_null(f.b, &f.err), &f.err);
  finish(&f);
  for (int i = 0; i < 20; i++) assert_row(&f, i, i % 3 == 0 ? "true" : "false");
  assert_row(&f, 20, "null");
  teardown(&f);
}

static void test_arrow_build__floats_keep_their_bits(void **state) {
  (void)state;
  fixture f;
  uint32_t nan = 0x7fc12345, got;
  float v;
  setup(&f, "f");
  memcpy(&v, &nan, 4);
  test_ok(bl_builder_float(f.b, v, &f.err), &f.err);
  test_ok(bl_builder_double(f.b, 0.5, &f.err), &f.err);
  finish(&f);
  memcpy(&got, f.array.buffers[1], 4);
  assert_int_equal(got, nan);
  assert_row(&f, 1, "0.5");
  teardown(&f);
  setup(&f, "g");
  test_ok(bl_builder_float(f.b, 0.25f, &f.err), &f.err);
  finish(&f);
  assert_row(&f, 0, "0.25");
  teardown(&f);
}

static void test_arrow_build__decimals_are_of_128_bits(void **state) {
  (void)state;
  fixture f;
  setup(&f, "d:38,2");
  test_ok(bl_builder_decimal(f.b, -(bl_i128)12345, &f.err), &f.err);
  test_ok(bl_builder_int(f.b, 7, &f.err), &f.err);
  finish(&f);
  assert_row(&f, 0, "\"-123.45\"");
  assert_row(&f, 1, "\"0.07\"");
  teardown(&f);
}

static void test_arrow_build__strings_have_offsets_also_when_there_are_none(void **state) {
  (void)state;
  fixture f;
  setup(&f, "u");
  finish(&f);
  assert_int_equal(f.array.length, 0);
  assert_int_equal(*(const int32_t *)f.array.buffers[1], 0);
  test_ok(bl_builder_bytes(f.b, "ab", 2, &f.err), &f.err);
  test_ok(bl_builder_null(f.b, &f.err), &f.err);
  test_ok(bl_builder_bytes(f.b, NULL, 0, &f.err), &f.err);
  test_ok(bl_builder_bytes(f.b, "c", 1, &f.err), &f.err);
  finish(&f);
  static const char *const want[] = {"\"ab\"", "null", "\"\"", "\"c\""};
  for (int i = 0; i < 4; i++) assert_row(&f, i, want[i]);
  teardown(&f);
}

static void test_arrow_build__fixed_bytes_must_be_of_their_length(void **state) {
  (void)state;
  fixture f;
  setup(&f, "w:3");
  test_ok(bl_builder_bytes(f.b, "abc", 3, &f.err), &f.err);
  refused(&f, bl_builder_bytes(f.b, "ab", 2, &f.err), BL_USAGE, "number of bytes");
  test_ok(bl_builder_null(f.b, &f.err), &f.err);
  finish(&f);
  assert_row(&f, 0, "\"YWJj\"");
  assert_row(&f, 1, "null");
  teardown(&f);
}

/* struct<a int, l list<string not null>, m map<string, long>> */
static void setup_nested(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_aschema_new(f->ctx, "+s", BL_STR(""), true, 3, &f->schema, &f->err), &f->err);
  child_schema(f, &f->schema, 0, "i", "a", false, 0);
  child_schema(f, &f->schema, 1, "+l", "l", true, 1);
  child_schema(f, f->schema.children[1], 0, "u", "element", false, 0);
  child_schema(f, &f->schema, 2, "+m", "m", true, 1);
  child_schema(f, f->schema.children[2], 0, "+s", "entries", false, 2);
  child_schema(f, f->schema.children[2]->children[0], 0, "u", "key", false, 0);
  child_schema(f, f->schema.children[2]->children[0], 1, "l", "value", true, 0);
  setup_schema(f);
}

static void add_nested_row(fixture *f, int32_t a, int items, int entries) {
  bl_builder *l = bl_builder_child(f->b, 1), *m = bl_builder_child(f->b, 2), *e = bl_builder_child(m, 0);
  test_ok(bl_builder_int(bl_builder_child(f->b, 0), a, &f->err), &f->err);
  for (int i = 0; i < items; i++) test_ok(bl_builder_bytes(bl_builder_child(l, 0), "x", 1, &f->err), &f->err);
  test_ok(items < 0 ? bl_builder_null(l, &f->err) : bl_builder_close(l, &f->err), &f->err);
  for (int i = 0; i < entries; i++) {
    test_ok(bl_builder_bytes(bl_builder_child(e, 0), "k", 1, &f->err), &f->err);
    test_ok(i ? bl_builder_int(bl_builder_child(e, 1), i, &f->err) : bl_builder_null(bl_builder_child(e, 1), &f->err),
            &f->err);
    test_ok(bl_builder_close(e, &f->err), &f->err);
  }
  test_ok(bl_builder_close(m, &f->err), &f->err);
  test_ok(bl_builder_close(f->b, &f->err), &f->err);
}

static void test_arrow_build__structs_lists_and_maps_nest(void **state) {
  (void)state;
  fixture f;
  setup_nested(&f);
  add_nested_row(&f, 1, 2, 1);
  add_nested_row(&f, 2, -1, 0);
  test_ok(bl_builder_null(f.b, &f.err), &f.err);
  add_nested_row(&f, 3, 0, 2);
  test_ok(bl_builder_empty(f.b, &f.err), &f.err);
  assert_int_equal(bl_builder_length(f.b), 5);
  finish(&f);
  static const char *const want[] = {"{\"a\":1,\"l\":[\"x\",\"x\"],\"m\":{\"k\":null}}",
                                     "{\"a\":2,\"l\":null,\"m\":{}}", "null",
                                     "{\"a\":3,\"l\":[],\"m\":{\"k\":null,\"k\":1}}", "{\"a\":0,\"l\":[],\"m\":{}}"};
  for (int i = 0; i < 5; i++) assert_row(&f, i, want[i]);
  /* below the null struct the required child has a value, the others are null */
  assert_int_equal(f.array.children[0]->null_count, 0);
  assert_false(bl_array_valid(f.array.children[1], 2));
  assert_false(bl_array_valid(f.array.children[2], 2));
  teardown(&f);
}

static void test_arrow_build__reset_forgets_all_rows(void **state) {
  (void)state;
  fixture f;
  setup_nested(&f);
  add_nested_row(&f, 1, 2, 1);
  test_ok(bl_builder_int(bl_builder_child(f.b, 0), 9, &f.err), &f.err); /* a row begun */
  bl_builder_reset(f.b);
  assert_int_equal(bl_builder_length(f.b), 0);
  assert_int_equal(bl_builder_size(f.b), 0);
  add_nested_row(&f, 4, 1, 0);
  finish(&f);
  assert_int_equal(f.array.length, 1);
  assert_row(&f, 0, "{\"a\":4,\"l\":[\"x\"],\"m\":{}}");
  teardown(&f);
}

static void test_arrow_build__required_columns_take_no_null(void **state) {
  (void)state;
  fixture f;
  setup_nested(&f);
  assert_false(bl_builder_nullable(bl_builder_child(f.b, 0)));
  refused(&f, bl_builder_null(bl_builder_child(f.b, 0), &f.err), BL_USAGE, "column a: null");
  teardown(&f);
}

static void test_arrow_build__the_null_type_has_only_a_length(void **state) {
  (void)state;
  fixture f;
  setup(&f, "n");
  for (int i = 0; i < 3; i++) test_ok(bl_builder_null(f.b, &f.err), &f.err);
  finish(&f);
  assert_int_equal(f.array.length, 3);
  assert_int_equal(f.array.null_count, 3);
  assert_int_equal(f.array.n_buffers, 0);
  teardown(&f);
}

static void test_arrow_build__single_values_of_the_model_are_appended_any_number_of_times(void **state) {
  (void)state;
  static const struct {
    const char *format;
    bl_value v;
    const char *want;
  } cases[] = {{"b", {.kind = BL_BOOLEAN, .u.b = true}, "true"},
               {"i", {.kind = BL_INT, .u.i = -3}, "-3"},
               {"l", {.kind = BL_LONG, .u.i = 4}, "4"},
               {"f", {.kind = BL_FLOAT, .u.f = 1.5f}, "1.5"},
               {"g", {.kind = BL_DOUBLE, .u.d = 2.5}, "2.5"},
               {"d:9,2", {.kind = BL_DECIMAL, .u.dec = 5}, "\"0.05\""},
               {"tdD", {.kind = BL_DATE, .u.i = 0}, "\"1970-01-01\""},
               {"ttu", {.kind = BL_TIME, .u.i = 0}, "\"00:00:00.000000\""},
               {"tsu:", {.kind = BL_TIMESTAMP, .u.i = 0}, "\"1970-01-01T00:00:00.000000\""},
               {"tsn:UTC", {.kind = BL_TIMESTAMPTZ_NS, .u.i = 0}, "\"1970-01-01T00:00:00.000000000+00:00\""},
               {"u", {.kind = BL_STRING, .u.s = {"x", 1}}, "\"x\""},
               {"z", {.kind = BL_BINARY, .u.s = {"abc", 3}}, "\"YWJj\""},
               {"w:3", {.kind = BL_FIXED, .u.s = {"abc", 3}}, "\"YWJj\""},
               {"w:16", {.kind = BL_UUID, .u.s = {"0123456789abcdef", 16}}, "\"MDEyMzQ1Njc4OWFiY2RlZg==\""},
               {"i", {.kind = BL_INT, .null = true}, "null"},
               {"u", {.kind = BL_KIND_UNKNOWN}, "null"}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    fixture f;
    setup(&f, cases[i].format);
    test_ok(bl_builder_value(f.b, &cases[i].v, 3, &f.err), &f.err);
    finish(&f);
    assert_int_equal(f.array.length, 3);
    for (int k = 0; k < 3; k++) assert_row(&f, k, cases[i].want);
    teardown(&f);
  }
  fixture f;
  setup(&f, "i");
  refused(&f, bl_builder_value(f.b, &(bl_value){.kind = BL_STRING, .u.s = BL_STR("x")}, 1, &f.err), BL_USAGE, "bytes");
  refused(&f, bl_builder_value(f.b, &(bl_value){.kind = BL_STRUCT}, 1, &f.err), BL_USAGE, "nested");
  teardown(&f);
}

static void test_arrow_build__sequences_count_up(void **state) {
  (void)state;
  fixture f;
  setup(&f, "l");
  test_ok(bl_builder_null(f.b, &f.err), &f.err);
  test_ok(bl_builder_sequence(f.b, INT64_MAX - 2, 3, &f.err), &f.err);
  finish(&f);
  assert_row(&f, 0, "null");
  assert_row(&f, 3, "9223372036854775807");
  teardown(&f);
  setup(&f, "i");
  refused(&f, bl_builder_sequence(f.b, 0, 1, &f.err), BL_USAGE, "sequence");
  teardown(&f);
}

static void test_arrow_build__other_formats_are_named(void **state) {
  (void)state;
  static const char *const formats[] = {"U",  "vu", "e",  "d:9,2,256", "d:9", "w:x", "w:-1",
                                        "+L", "+l", "+m", "tsq:",      "",    "ib"};
  bl_ctx *ctx = test_ctx();
  for (size_t i = 0; i < BL_LEN(formats); i++) {
    bl_error err = BL_ERROR_INIT;
    struct ArrowSchema s;
    bl_builder *b;
    test_ok(bl_aschema_new(ctx, formats[i], BL_STR("odd"), true, 0, &s, &err), &err);
    test_status(BL_UNSUPPORTED, bl_builder_new(ctx, &s, &b, &err), &err);
    test_says(&err, "column odd: no builder of the type");
    assert_null(b);
    bl_aschema_release(&s);
  }
  test_ctx_free(ctx);
}

static bl_status build(bl_ctx *ctx, void *user, bl_error *err) {
  const struct ArrowSchema *schema = user;
  bl_builder *b;
  struct ArrowArray out = {0};
  bl_status st;
  BL_TRY(bl_builder_new(ctx, schema, &b, err));
  for (int i = 0; i < 20; i++) {
    BL_GO(bl_builder_int(bl_builder_child(b, 0), i, err));
    BL_GO(bl_builder_bytes(bl_builder_child(bl_builder_child(b, 1), 0), "0123456789abcdef", 16, err));
    BL_GO(bl_builder_close(bl_builder_child(b, 1), err));
    BL_GO(bl_builder_null(bl_builder_child(b, 2), err));
    BL_GO(bl_builder_close(b, err));
  }
  BL_GO(bl_builder_finish(b, &out, err));
  assert_int_equal(out.length, 20);
done:
  bl_array_release(&out);
  bl_builder_free(b);
  return st;
}

static void test_arrow_build__running_out_of_memory_is_reported(void **state) {
  (void)state;
  fixture f;
  setup_nested(&f);
  test_fail_each(build, &f.schema);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_build__numbers_take_the_width_of_their_format),
      cmocka_unit_test(test_arrow_build__nulls_get_bits_from_the_first_one_on),
      cmocka_unit_test(test_arrow_build__truth_values_are_bits),
      cmocka_unit_test(test_arrow_build__floats_keep_their_bits),
      cmocka_unit_test(test_arrow_build__decimals_are_of_128_bits),
      cmocka_unit_test(test_arrow_build__strings_have_offsets_also_when_there_are_none),
      cmocka_unit_test(test_arrow_build__fixed_bytes_must_be_of_their_length),
      cmocka_unit_test(test_arrow_build__structs_lists_and_maps_nest),
      cmocka_unit_test(test_arrow_build__reset_forgets_all_rows),
      cmocka_unit_test(test_arrow_build__required_columns_take_no_null),
      cmocka_unit_test(test_arrow_build__the_null_type_has_only_a_length),
      cmocka_unit_test(test_arrow_build__single_values_of_the_model_are_appended_any_number_of_times),
      cmocka_unit_test(test_arrow_build__sequences_count_up),
      cmocka_unit_test(test_arrow_build__other_formats_are_named),
      cmocka_unit_test(test_arrow_build__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
