/* test_avro_plan.c: records decoded by field id. */
#include "arena_fixture.h"
#include "format/avro_plan.h"

enum { A_LONG, A_BOOL, A_LONGS };
enum { A_TEXT, A_FIXED, A_BYTES };

static const bl_avro_rule rules[] = {
    {1, "number", BL_WANT_LONG, A_LONG, true}, {2, "truth", BL_WANT_BOOL, A_BOOL, false},
    {3, "text", BL_WANT_BYTES, A_TEXT, false}, {4, "fixed", BL_WANT_BYTES, A_FIXED, false},
    {5, "list", BL_WANT_SPECIAL, 7, false},
};

typedef struct result {
  int64_t longs[A_LONGS];
  bl_str bytes[A_BYTES];
  int specials;
} result;

static bl_status skip_special(void *user, const bl_avro_rule *rule, const bl_avro_schema *s, bl_avro_cursor *c,
                              bl_error *err) {
  assert_int_equal(rule->slot, 7);
  assert_int_equal(s->kind, BL_A_ARRAY);
  ++((result *)user)->specials;
  return bl_avro_skip(c, s, err);
}

static bl_status make(fixture *f, const char *fields, bl_avro_plan *plan) {
  const bl_avro_schema *s;
  bl_str json = bl_arena_printf(f->a, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[%s]}", fields);
  test_ok(bl_avro_schema_parse(f->a, json, &s, &f->err), &f->err);
  return bl_avro_plan_make(f->a, s, rules, BL_LEN(rules), plan, &f->err);
}

static bl_status run(fixture *f, const bl_avro_plan *plan, const uint8_t *p, size_t n, result *r) {
  *r = (result){.longs = {BL_NONE, BL_NONE}};
  bl_avro_row row = {.longs = r->longs, .bytes = r->bytes, .special = skip_special, .user = r};
  bl_avro_cursor c = {.p = p, .end = p + n, .base = p};
  bl_status st = bl_avro_plan_run(plan, &c, &row, &f->err);
  if (st == BL_OK) assert_ptr_equal(c.p, c.end);
  return st;
}

#define FIELD(name, type, id) "{\"name\":\"" name "\",\"type\":" type ",\"field-id\":" #id "}"

static void test_avro_plan__fields_are_found_by_id_in_the_writers_order(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 'v', 0x02, 0x06, 2, 1, 2, 'x', 'y', 'z', 0x02, 0x08, 0, 0, 9};
  fixture f;
  bl_avro_plan plan;
  result r;
  fixture_open(&f);
  static const char fields[] = FIELD("vendor", "\"string\"", 900) "," FIELD("n", "[\"null\",\"long\"]", 1) "," FIELD(
      "b", "[\"null\",\"boolean\"]",
      2) "," FIELD("t", "\"string\"", 3) "," FIELD("x", "{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}",
                                                   4) "," FIELD("l", "{\"type\":\"array\",\"items\":\"int\"}",
                                                                5) "," FIELD("u", "[\"int\",\"null\"]", 901);
  test_ok(make(&f, fields, &plan), &f.err);
  test_ok(run(&f, &plan, record, sizeof record, &r), &f.err);
  assert_int_equal(r.longs[A_LONG], 3);
  assert_int_equal(r.longs[A_BOOL], 1);
  assert_true(bl_str_is(r.bytes[A_TEXT], "x"));
  assert_true(bl_str_is(r.bytes[A_FIXED], "yz"));
  assert_int_equal(r.specials, 1);
  fixture_close(&f);
}

static void test_avro_plan__null_leaves_a_slot_as_it_was_unless_required(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 8, 0, 2}, null_number[] = {0, 0, 2};
  fixture f;
  bl_avro_plan plan;
  result r;
  fixture_open(&f);
  test_ok(make(&f,
               FIELD("n", "[\"null\",\"int\",\"long\"]", 1) "," FIELD("b", "[\"null\",\"boolean\"]",
                                                                      2) "," FIELD("t", "[\"string\",\"null\"]", 3),
               &plan),
          &f.err);
  test_ok(run(&f, &plan, record, sizeof record, &r), &f.err);
  assert_int_equal(r.longs[A_LONG], 4);
  assert_int_equal(r.longs[A_BOOL], BL_NONE);
  assert_null(r.bytes[A_TEXT].p);
  assert_refused(&f.err, run(&f, &plan, null_number, sizeof null_number, &r), BL_DAMAGED,
                 "field 1 number: byte 1: null");
  fixture_close(&f);
}

static void test_avro_plan__schemas_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *fields, *words;
  } cases[] = {{FIELD("b", "\"boolean\"", 2), "field 1 number is missing"},
               {FIELD("n", "\"string\"", 1), "field 1 number: type string"},
               {FIELD("n", "[\"null\",\"double\"]", 1), "field 1 number: type double"},
               {FIELD("n", "\"int\"", 1) "," FIELD("b", "\"int\"", 2), "field 2 truth: type int"},
               {FIELD("n", "\"int\"", 1) "," FIELD("t", "\"long\"", 3), "field 3 text: type long"},
               {FIELD("n", "\"int\"", 1) "," FIELD("m", "\"int\"", 1), "field id 1 occurs twice"}};
  fixture f;
  bl_avro_plan plan;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++)
    assert_refused(&f.err, make(&f, cases[i].fields, &plan), BL_DAMAGED, cases[i].words);
  fixture_close(&f);
}

static void test_avro_plan__values_out_of_range_are_refused_with_their_field(void **state) {
  (void)state;
  static const uint8_t wide[] = {0x80, 0x80, 0x80, 0x80, 0x10};
  static const uint8_t none[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}; /* what stands for null */
  fixture f;
  bl_avro_plan plan;
  result r;
  fixture_open(&f);
  test_ok(make(&f, FIELD("n", "\"int\"", 1), &plan), &f.err);
  assert_refused(&f.err, run(&f, &plan, wide, sizeof wide, &r), BL_DAMAGED, "field 1 number: byte 0");
  test_ok(make(&f, FIELD("n", "\"long\"", 1), &plan), &f.err);
  test_ok(run(&f, &plan, wide, sizeof wide, &r), &f.err);
  assert_int_equal(r.longs[A_LONG], INT64_C(1) << 31);
  assert_refused(&f.err, run(&f, &plan, none, sizeof none, &r), BL_DAMAGED, "out of range");
  assert_refused(&f.err, run(&f, &plan, wide, 2, &r), BL_DAMAGED, "ends within");
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_avro_plan__fields_are_found_by_id_in_the_writers_order),
      cmocka_unit_test(test_avro_plan__null_leaves_a_slot_as_it_was_unless_required),
      cmocka_unit_test(test_avro_plan__schemas_that_do_not_fit_are_refused),
      cmocka_unit_test(test_avro_plan__values_out_of_range_are_refused_with_their_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
