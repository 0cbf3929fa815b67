/* test_name_mapping.c: name mappings. */
#include "arena_fixture.h"
#include "format/metadata_json.h"

static bl_name_mapping parse(fixture *f, const char *text) {
  bl_name_mapping m;
  test_ok(bl_name_mapping_parse(f->a, bl_str_of(text), &m, &f->err), &f->err);
  return m;
}

static void test_name_mapping__names_lead_to_fields_at_every_level(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_name_mapping m =
      parse(&f, "[{\"field-id\":1,\"names\":[\"id\",\"record_id\"]},{\"field-id\":2,\"names\":[\"a.b\"]},"
                "{\"field-id\":3,\"names\":[\"location\"],\"fields\":["
                "{\"field-id\":4,\"names\":[\"latitude\",\"id\"]},{\"field-id\":5,\"names\":[]}]}]");
  assert_int_equal(m.n_fields, 3);
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("record_id"))->id, 1);
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("a.b"))->id, 2);
  const bl_mapped_field *location = bl_name_mapping_find(m.fields, m.n_fields, BL_STR("location"));
  assert_int_equal(location->n_fields, 2);
  assert_int_equal(bl_name_mapping_find(location->fields, location->n_fields, BL_STR("id"))->id, 4);
  assert_int_equal(location->fields[1].n_names, 0);
  assert_null(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("latitude")));
  assert_null(bl_name_mapping_find(NULL, 0, BL_STR("id")));
  fixture_close(&f);
}

static void test_name_mapping__a_field_may_have_no_id_and_no_names(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_name_mapping m =
      parse(&f, "[{\"names\":[\"x\"]},{\"field-id\":7},{\"field-id\":null,\"names\":[\"y\"],\"fields\":null}]");
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("x"))->id, -1);
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("y"))->id, -1);
  assert_int_equal(m.fields[1].id, 7);
  assert_int_equal(parse(&f, "[]").n_fields, 0);
  fixture_close(&f);
}

static void test_name_mapping__broken_mappings_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } cases[] = {
      {"", "empty"},
      {"{}", "array"},
      {"[1]", "$[0]"},
      {"[{\"field-id\":-1,\"names\":[]}]", "negative"},
      {"[{\"field-id\":\"1\",\"names\":[]}]", "$[0].field-id"},
      {"[{\"field-id\":1,\"names\":\"a\"}]", "$[0].names"},
      {"[{\"field-id\":1,\"names\":[1]}]", "$[0].names[0]"},
      {"[{\"field-id\":1,\"names\":[\"a\"]},{\"field-id\":2,\"names\":[\"a\"]}]", "\"a\" is mapped twice"},
      {"[{\"field-id\":1,\"names\":[\"a\",\"a\"]}]", "\"a\" is mapped twice"},
      {"[{\"field-id\":1,\"names\":[\"a\"],\"fields\":{}}]", "$[0].fields"},
  };
  fixture f;
  bl_name_mapping m;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_status st = bl_name_mapping_parse(f.a, bl_str_of(cases[i].text), &m, &f.err);
    if (!strstr(f.err.message, "name mapping: ")) fail_msg("%s", f.err.message);
    assert_refused(&f.err, st, BL_DAMAGED, cases[i].words);
  }
  fixture_close(&f);
}

static bl_status parse_and_drop(bl_ctx *ctx, void *text, bl_error *err) {
  bl_arena *a;
  bl_name_mapping m;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_name_mapping_parse(a, bl_str_of(text), &m, err);
  bl_arena_free(a);
  return st;
}

static void test_name_mapping__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  static char text[] = "[{\"field-id\":1,\"names\":[\"a\"],\"fields\":[{\"field-id\":2,\"names\":[\"b\"]}]}]";
  test_fail_each(parse_and_drop, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_name_mapping__names_lead_to_fields_at_every_level),
      cmocka_unit_test(test_name_mapping__a_field_may_have_no_id_and_no_names),
      cmocka_unit_test(test_name_mapping__broken_mappings_are_refused),
      cmocka_unit_test(test_name_mapping__every_failing_allocation_gives_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
