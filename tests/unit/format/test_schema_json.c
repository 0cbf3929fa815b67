/* test_schema_json.c: schemas, partition specs and sort orders to and from JSON. */
#include "arena_fixture.h"
#include "format/metadata_json.h"

static bl_json *parse(fixture *f, const char *text) {
  bl_json *v = NULL;
  test_ok(bl_json_parse(f->a, text, strlen(text), &v, &f->err), &f->err);
  return v;
}

static const char *print(fixture *f, const bl_json *v) {
  assert_non_null(v);
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_print(&b, v, false);
  const char *text = buf_text(f->a, &b);
  bl_buf_free(&b);
  return text;
}

static bl_schema schema(fixture *f, const char *text) {
  bl_schema s;
  test_ok(bl_schema_from_json(f->a, parse(f, text), &s, &f->err), &f->err);
  return s;
}

static void refuse_schema(fixture *f, const char *text, bl_status want, const char *words) {
  bl_schema s;
  assert_refused(&f->err, bl_schema_from_json(f->a, parse(f, text), &s, &f->err), want, words);
}

#define NESTED                                                                                                         \
  "{\"type\":\"struct\",\"schema-id\":3,\"identifier-field-ids\":[1,12],\"fields\":["                                  \
  "{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\",\"doc\":\"the key\"},"                                \
  "{\"id\":2,\"name\":\"s\",\"required\":true,\"type\":{\"type\":\"struct\",\"fields\":["                              \
  "{\"id\":12,\"name\":\"id\",\"required\":true,\"type\":\"int\"}]}},"                                                 \
  "{\"id\":3,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":7,\"element\":"              \
  "{\"type\":\"list\",\"element-id\":8,\"element\":\"string\",\"element-required\":true},\"element-required\":false}}" \
  ","                                                                                                                  \
  "{\"id\":4,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":9,\"key\":\"date\","              \
  "\"value-id\":10,\"value\":\"double\",\"value-required\":true}}]}"

static void test_schema_json__nested_types_are_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_schema s = schema(&f, NESTED);
  assert_int_equal(s.id, 3);
  assert_int_equal(s.highest_id, 12);
  assert_int_equal(s.n_identifier_ids, 2);
  assert_int_equal(s.identifier_ids[1], 12);
  assert_int_equal(s.root.n_fields, 4);
  assert_string_equal(s.root.fields[0].doc.p, "the key");
  assert_null(s.root.fields[1].doc.p);
  assert_true(s.root.fields[0].required);
  const bl_type *list = &s.root.fields[2].type, *map = &s.root.fields[3].type;
  assert_int_equal(list->kind, BL_LIST);
  assert_string_equal(list->fields[0].name.p, "element");
  assert_false(list->fields[0].required);
  assert_true(list->fields[0].type.fields[0].required);
  assert_int_equal(list->fields[0].type.fields[0].type.kind, BL_STRING);
  assert_int_equal(map->kind, BL_MAP);
  assert_int_equal(map->fields[0].id, 9);
  assert_true(map->fields[0].required);
  assert_int_equal(map->fields[1].type.kind, BL_DOUBLE);
  fixture_close(&f);
}

static void test_schema_json__what_is_written_is_what_was_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_schema s = schema(&f, NESTED);
  assert_string_equal(print(&f, bl_schema_to_json(f.a, &s)), NESTED);
  fixture_close(&f);
}

static void test_schema_json__every_primitive_type_survives(void **state) {
  (void)state;
  static const char *const types[] = {"boolean",
                                      "int",
                                      "long",
                                      "float",
                                      "double",
                                      "decimal(9, 2)",
                                      "date",
                                      "time",
                                      "timestamp",
                                      "timestamptz",
                                      "timestamp_ns",
                                      "timestamptz_ns",
                                      "string",
                                      "uuid",
                                      "fixed[16]",
                                      "binary",
                                      "unknown",
                                      "variant",
                                      "geometry(srid:4326)",
                                      "geography(srid:4326, karney)"};
  fixture f;
  char text[300];
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(types); i++) {
    snprintf(text, sizeof text,
             "{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"c\",\"required\":false,\"type\":\"%"
             "s\"}]}",
             types[i]);
    bl_schema s = schema(&f, text);
    assert_string_equal(print(&f, bl_schema_to_json(f.a, &s)), text);
  }
  fixture_close(&f);
}

static void test_schema_json__type_names_may_hold_other_white_space(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_schema s = schema(&f, "{\"type\":\"struct\",\"fields\":["
                           "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"decimal(9,2)\"},"
                           "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"decimal( 9 , 2 )\"},"
                           "{\"id\":3,\"name\":\"c\",\"required\":false,\"type\":\"geometry\"}]}");
  assert_true(bl_type_equal(&s.root.fields[0].type, &s.root.fields[1].type));
  assert_string_equal(s.root.fields[2].type.crs.p, "OGC:CRS84");
  assert_int_equal(s.id, 0);
  fixture_close(&f);
}

static void test_schema_json__defaults_are_read_by_type(void **state) {
  (void)state;
  static const char text[] =
      "{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
      "{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"int\",\"initial-default\":7,\"write-default\":8},"
      "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"string\",\"write-default\":\"x\"},"
      "{\"id\":3,\"name\":\"c\",\"required\":false,\"type\":\"decimal(9, 2)\",\"initial-default\":\"1.50\"},"
      "{\"id\":4,\"name\":\"p\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
      "{\"id\":5,\"name\":\"x\",\"required\":false,\"type\":\"int\",\"initial-default\":0}]},\"initial-default\":{}}]}";
  fixture f;
  fixture_open(&f);
  bl_schema s = schema(&f, text);
  assert_int_equal(s.root.fields[0].initial_default->u.i, 7);
  assert_int_equal(s.root.fields[0].write_default->u.i, 8);
  assert_null(s.root.fields[1].initial_default);
  assert_string_equal(s.root.fields[1].write_default->u.s.p, "x");
  assert_true(s.root.fields[2].initial_default->u.dec == 150);
  assert_int_equal(s.root.fields[3].initial_default->kind, BL_STRUCT);
  assert_int_equal(s.root.fields[3].type.fields[0].initial_default->u.i, 0);
  assert_string_equal(print(&f, bl_schema_to_json(f.a, &s)), text);
  s = schema(&f, "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"v\",\"required\":false,\"type\":\"variant\","
                 "\"initial-default\":null}]}");
  assert_null(s.root.fields[0].initial_default);
  fixture_close(&f);
}

#define ONE(members) "{\"type\":\"struct\",\"fields\":[{" members "}]}"

static void test_schema_json__broken_schemas_are_refused_with_the_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
    bl_status st;
  } cases[] = {
      {"[]", "an object should be", BL_DAMAGED},
      {"{\"fields\":[]}", "type is missing", BL_DAMAGED},
      {"{\"type\":\"list\",\"fields\":[]}", "must be \"struct\"", BL_DAMAGED},
      {"{\"type\":\"struct\"}", "fields is missing", BL_DAMAGED},
      {"{\"type\":\"struct\",\"fields\":[5]}", "$.fields[0]", BL_DAMAGED},
      {"{\"type\":\"struct\",\"schema-id\":\"0\",\"fields\":[]}", "$.schema-id", BL_DAMAGED},
      {"{\"type\":\"struct\",\"fields\":[],\"identifier-field-ids\":[\"1\"]}", "$.identifier-field-ids[0]", BL_DAMAGED},
      {ONE("\"name\":\"a\",\"required\":true,\"type\":\"int\""), "id is missing", BL_DAMAGED},
      {ONE("\"id\":1,\"required\":true,\"type\":\"int\""), "name is missing", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"type\":\"int\""), "required is missing", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true"), "type is missing", BL_DAMAGED},
      {ONE("\"id\":-1,\"name\":\"a\",\"required\":true,\"type\":\"int\""), "negative", BL_DAMAGED},
      {ONE("\"id\":2147483648,\"name\":\"a\",\"required\":true,\"type\":\"int\""), "32 bits", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":7"), "$.fields[0].type", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"quaternion\""), "quaternion", BL_UNSUPPORTED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"decimal(39,2)\""), "$.fields[0].type", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":{\"type\":\"set\"}"), "\"set\"", BL_UNSUPPORTED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"unknown\""), "unknown", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":{\"type\":\"list\",\"element-id\":1,\"element\":\"int\","
           "\"element-required\":true}"),
       "field id 1 is used twice", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":{\"type\":\"map\",\"key-id\":2,\"key\":\"int\","
           "\"value-id\":2,\"value\":\"int\",\"value-required\":true}"),
       "field id 2 is used twice", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":{\"type\":\"list\",\"element-id\":2,\"element\":"
           "\"int\"}"),
       "element-required is missing", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"int\"},{\"id\":2,\"name\":\"a\",\"required\":true,"
           "\"type\":\"int\""),
       "\"a\" is used twice", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"int\",\"initial-default\":\"7\""),
       "$.fields[0].initial-default", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"variant\",\"write-default\":1"), "must be null",
       BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[]},"
           "\"write-default\":{\"1\":1}"),
       "null or {}", BL_DAMAGED},
      {ONE("\"id\":1,\"name\":\"a\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":2,\"element\":"
           "\"int\","
           "\"element-required\":true},\"write-default\":[1]"),
       "list", BL_UNSUPPORTED},
  };
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) refuse_schema(&f, cases[i].text, cases[i].st, cases[i].words);
  fixture_close(&f);
}

static void test_schema_json__the_same_name_may_stand_in_different_structs(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_schema s = schema(&f, NESTED);
  assert_string_equal(s.root.fields[1].type.fields[0].name.p, "id");
  fixture_close(&f);
}

static void test_schema_json__wide_schemas_are_checked_without_quadratic_work(void **state) {
  (void)state;
  enum { N = 50000 };
  fixture f;
  bl_buf b;
  bl_schema s;
  bl_json *v;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_buf_cstr(&b, "{\"type\":\"struct\",\"fields\":[");
  for (int i = 1; i <= N; i++)
    bl_buf_printf(&b, "%s{\"id\":%d,\"name\":\"c%d\",\"required\":false,\"type\":\"int\"}", i > 1 ? "," : "", i, i);
  bl_buf_cstr(&b, "]}");
  test_ok(bl_json_parse(f.a, b.p, b.n, &v, &f.err), &f.err);
  test_ok(bl_schema_from_json(f.a, v, &s, &f.err), &f.err);
  assert_int_equal(s.highest_id, N);
  bl_buf_free(&b);
  fixture_close(&f);
}

/* ---- partition specs and sort orders ---- */

static void test_schema_json__partition_fields_are_read_and_written(void **state) {
  (void)state;
  static const char text[] = "[{\"source-id\":4,\"field-id\":1000,\"name\":\"ts_day\",\"transform\":\"day\"},"
                             "{\"source-id\":1,\"field-id\":1001,\"name\":\"a.b\",\"transform\":\"bucket[16]\"},"
                             "{\"source-ids\":[1,2],\"field-id\":1002,\"name\":\"z\",\"transform\":\"zorder\"}]";
  fixture f;
  bl_partition_spec s = {.id = 5};
  fixture_open(&f);
  test_ok(bl_spec_fields_from_json(f.a, parse(&f, text), &s, &f.err), &f.err);
  assert_int_equal(s.n_fields, 3);
  assert_int_equal(s.fields[0].transform.kind, BL_T_DAY);
  assert_int_equal(s.fields[1].transform.arg, 16);
  assert_string_equal(s.fields[1].name.p, "a.b");
  assert_int_equal(s.fields[2].transform.kind, BL_T_OTHER);
  assert_int_equal(s.fields[2].n_source_ids, 2);
  assert_int_equal(s.fields[2].source_ids[1], 2);
  bl_json *v = bl_spec_to_json(f.a, &s);
  assert_string_equal(print(&f, bl_json_get(v, "fields")), text);
  assert_string_equal(print(&f, bl_json_get(v, "spec-id")), "5");
  fixture_close(&f);
}

static void test_schema_json__missing_partition_field_ids_count_from_1000(void **state) {
  (void)state;
  fixture f;
  bl_partition_spec s = {0};
  fixture_open(&f);
  test_ok(bl_spec_fields_from_json(f.a,
                                   parse(&f, "[{\"source-id\":4,\"name\":\"a\",\"transform\":\"void\"},"
                                             "{\"source-id\":1,\"name\":\"b\",\"transform\":\"identity\"}]"),
                                   &s, &f.err),
          &f.err);
  assert_int_equal(s.fields[0].field_id, 1000);
  assert_int_equal(s.fields[1].field_id, 1001);
  fixture_close(&f);
}

static void test_schema_json__a_single_argument_may_be_written_as_a_list(void **state) {
  (void)state;
  fixture f;
  bl_partition_spec s = {0};
  fixture_open(&f);
  test_ok(bl_spec_fields_from_json(f.a,
                                   parse(&f, "[{\"source-id\":4,\"source-ids\":[4],\"field-id\":1000,\"name\":\"a\","
                                             "\"transform\":\"identity\"}]"),
                                   &s, &f.err),
          &f.err);
  assert_int_equal(s.fields[0].n_source_ids, 1);
  assert_int_equal(s.fields[0].source_ids[0], 4);
  fixture_close(&f);
}

static void test_schema_json__broken_partition_fields_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"{}", "array"},
      {"[{\"field-id\":1000,\"name\":\"a\",\"transform\":\"day\"}]", "source-id is missing"},
      {"[{\"source-ids\":[],\"field-id\":1000,\"name\":\"a\",\"transform\":\"day\"}]", "source-id is missing"},
      {"[{\"source-id\":1,\"source-ids\":[2],\"name\":\"a\",\"transform\":\"day\"}]", "disagree"},
      {"[{\"source-id\":1,\"field-id\":1000,\"transform\":\"day\"}]", "name is missing"},
      {"[{\"source-id\":1,\"field-id\":1000,\"name\":\"a\"}]", "transform is missing"},
      {"[{\"source-id\":1,\"field-id\":1000,\"name\":\"a\",\"transform\":\"bucket[0]\"}]", "$[0].transform"},
      {"[{\"source-id\":1,\"field-id\":1000,\"name\":\"a\",\"transform\":\"day\"},"
       "{\"source-id\":1,\"field-id\":1000,\"name\":\"b\",\"transform\":\"day\"}]",
       "1000 is used twice"},
  };
  fixture f;
  bl_partition_spec s = {0};
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++)
    assert_refused(&f.err, bl_spec_fields_from_json(f.a, parse(&f, cases[i].text), &s, &f.err), BL_DAMAGED,
                   cases[i].words);
  fixture_close(&f);
}

static void test_schema_json__sort_orders_are_read_and_written(void **state) {
  (void)state;
  static const char text[] =
      "{\"order-id\":3,\"fields\":["
      "{\"transform\":\"identity\",\"source-id\":2,\"direction\":\"asc\",\"null-order\":\"nulls-first\"},"
      "{\"transform\":\"bucket[4]\",\"source-ids\":[3,4],\"direction\":\"desc\",\"null-order\":\"nulls-last\"}]}";
  fixture f;
  bl_sort_order o;
  fixture_open(&f);
  test_ok(bl_sort_order_from_json(f.a, parse(&f, text), &o, &f.err), &f.err);
  assert_int_equal(o.id, 3);
  assert_false(o.fields[0].descending);
  assert_false(o.fields[0].nulls_last);
  assert_true(o.fields[1].descending);
  assert_true(o.fields[1].nulls_last);
  assert_string_equal(print(&f, bl_sort_order_to_json(f.a, &o)), text);
  assert_refused(
      &f.err,
      bl_sort_order_from_json(f.a,
                              parse(&f, "{\"order-id\":3,\"fields\":[{\"transform\":\"identity\",\"source-id\":2,"
                                        "\"direction\":\"up\",\"null-order\":\"nulls-first\"}]}"),
                              &o, &f.err),
      BL_DAMAGED, "$.fields[0].direction");
  fixture_close(&f);
}

/* ---- memory ---- */

static bl_status round_trip(bl_ctx *ctx, void *user, bl_error *err) {
  bl_arena *a;
  bl_json *v;
  bl_schema s;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_json_parse(a, user, strlen(user), &v, err);
  if (st == BL_OK) st = bl_schema_from_json(a, v, &s, err);
  if (st == BL_OK && !bl_schema_to_json(a, &s)) st = bl_nomem(err);
  bl_arena_free(a);
  return st;
}

static void test_schema_json__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  static char text[] = NESTED;
  test_fail_each(round_trip, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schema_json__nested_types_are_read),
      cmocka_unit_test(test_schema_json__what_is_written_is_what_was_read),
      cmocka_unit_test(test_schema_json__every_primitive_type_survives),
      cmocka_unit_test(test_schema_json__type_names_may_hold_other_white_space),
      cmocka_unit_test(test_schema_json__defaults_are_read_by_type),
      cmocka_unit_test(test_schema_json__broken_schemas_are_refused_with_the_place),
      cmocka_unit_test(test_schema_json__the_same_name_may_stand_in_different_structs),
      cmocka_unit_test(test_schema_json__wide_schemas_are_checked_without_quadratic_work),
      cmocka_unit_test(test_schema_json__partition_fields_are_read_and_written),
      cmocka_unit_test(test_schema_json__missing_partition_field_ids_count_from_1000),
      cmocka_unit_test(test_schema_json__a_single_argument_may_be_written_as_a_list),
      cmocka_unit_test(test_schema_json__broken_partition_fields_are_refused),
      cmocka_unit_test(test_schema_json__sort_orders_are_read_and_written),
      cmocka_unit_test(test_schema_json__every_failing_allocation_gives_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
