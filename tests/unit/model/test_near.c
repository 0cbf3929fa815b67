/* test_near.c: which name may have been meant. */
#include "model/near.h"

#include "support/support.h"

static void test_near__a_slip_is_case_or_one_letter(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    int slip;
  } cases[] = {{"id", "ID", 1},
               {"id", "id", 1},
               {"", "", 1},
               {"name", "nAmE", 1},
               {"name", "nme", 2},
               {"name", "names", 2},
               {"name", "Xname", 2},
               {"name", "nbme", 2},
               {"name", "nmae", 2},
               {"name", "NMAE", 2},
               {"name", "anme", 2},
               {"name", "naem", 2},
               {"name", "nm", 0},
               {"name", "emna", 0},
               {"name", "nxxe", 0},
               {"name", "namely", 0},
               {"id", "ids", 2},
               {"id", "ix", 0},
               {"id", "di", 0},
               {"a", "b", 0},
               {"a", "ab", 0},
               {"a", "", 0},
               {"total", "", 0},
               {"amount_1", "amount_2", 2},
               {"customer", "custommer", 2},
               {"\xc3\xa4xy", "\xc3\x84xy", 2}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_str a = bl_str_of(cases[i].a), b = bl_str_of(cases[i].b);
    if (bl_name_slip(a, b) != cases[i].slip || bl_name_slip(b, a) != cases[i].slip)
      fail_msg("%s, %s: %d", cases[i].a, cases[i].b, bl_name_slip(a, b));
  }
}

static void test_near__the_one_that_is_nearest_is_meant(void **state) {
  (void)state;
  bl_field parts[] = {{.name = BL_STR("street"), .type = {.kind = BL_STRING}}};
  bl_field inside[] = {{.name = BL_STR("element"), .type = {.kind = BL_STRING}}};
  bl_field fields[] = {{.name = BL_STR("id"), .type = {.kind = BL_LONG}},
                       {.name = BL_STR("amount"), .type = {.kind = BL_LONG}},
                       {.name = BL_STR("a1b"), .type = {.kind = BL_LONG}},
                       {.name = BL_STR("a2b"), .type = {.kind = BL_LONG}},
                       {.name = BL_STR("tags"), .type = {.kind = BL_LIST, .fields = inside, .n_fields = 1}},
                       {.name = BL_STR("Place"), .type = {.kind = BL_STRUCT, .fields = parts, .n_fields = 1}}};
  bl_field own[] = {{.name = BL_STR("_row_id"), .type = {.kind = BL_LONG}}};
  bl_type root = {.kind = BL_STRUCT, .fields = fields, .n_fields = BL_LEN(fields)};
  bl_type other = {.kind = BL_STRUCT, .fields = own, .n_fields = 1};
  static const char *const cases[][2] = {{"ID", ": did you mean id?"},
                                         {"Amount", ": did you mean amount?"},
                                         {"amonut", ": did you mean amount?"},
                                         {"place.street", ": did you mean Place.street?"},
                                         {"Place.sreet", ": did you mean Place.street?"},
                                         {"street", ""},
                                         {"tags.elemnt", ""}, /* not by structs alone */
                                         {"A1B", ": did you mean a1b?"},
                                         {"a3b", ""}, /* one as well as the other */
                                         {"rowid", ""},
                                         {"row_id", ": did you mean _row_id?"},
                                         {"", ""}};
  for (size_t i = 0; i < BL_LEN(cases); i++)
    assert_string_equal(bl_near_field(&root, &other, bl_str_of(cases[i][0])).hint, cases[i][1]);
  assert_string_equal(bl_near_field(&root, NULL, BL_STR("row_id")).hint, "");
  assert_string_equal(bl_near_field(NULL, NULL, BL_STR("id")).hint, "");
}

static void test_near__names_that_are_too_long_are_not_told(void **state) {
  (void)state;
  char name[300];
  memset(name, 'x', sizeof name);
  bl_field fields[] = {{.name = {name, 200}, .type = {.kind = BL_LONG}},
                       {.name = {name, 89}, .type = {.kind = BL_LONG}}};
  bl_type root = {.kind = BL_STRUCT, .fields = fields, .n_fields = BL_LEN(fields)};
  assert_string_equal(bl_near_field(&root, NULL, (bl_str){name, 199}).hint, "");
  assert_int_equal(strlen(bl_near_field(&root, NULL, (bl_str){name, 88}).hint), strlen(": did you mean ?") + 89);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_near__a_slip_is_case_or_one_letter),
      cmocka_unit_test(test_near__the_one_that_is_nearest_is_meant),
      cmocka_unit_test(test_near__names_that_are_too_long_are_not_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
