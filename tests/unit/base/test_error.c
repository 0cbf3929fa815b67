/* The caller-owned error. */
#include "base/text.h"
#include "support/support.h"

static void test_error__the_first_failure_is_kept(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_fail_at(&err, BL_DAMAGED, 17, "json: %s: bad", "$.a"), BL_DAMAGED);
  assert_int_equal(bl_fail(&err, BL_IO, "later"), BL_DAMAGED);
  assert_int_equal(bl_nomem(&err), BL_DAMAGED);
  assert_string_equal(err.message, "json: $.a: bad");
  assert_int_equal(err.position, 17);
}

static void test_error__no_error_may_be_given(void **state) {
  (void)state;
  assert_int_equal(bl_fail(NULL, BL_IO, "x"), BL_IO);
  assert_int_equal(bl_fail_at(NULL, BL_DAMAGED, 3, "x"), BL_DAMAGED);
  assert_int_equal(bl_fail_in(NULL, BL_CONFLICT, "x"), BL_CONFLICT);
  assert_int_equal(bl_nomem(NULL), BL_NOMEM);
}

static void test_error__a_place_goes_in_front_of_the_message(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_fail_in(&err, BL_IO, "nothing failed"), BL_IO);
  assert_int_equal(err.status, BL_OK);
  assert_string_equal(err.message, "");
  bl_fail_at(&err, BL_DAMAGED, 5, "avro: block: too short");
  assert_int_equal(bl_fail_in(&err, BL_IO, "%s", "m0.avro"), BL_DAMAGED);
  assert_string_equal(err.message, "m0.avro: avro: block: too short");
  assert_int_equal(err.position, 5);
}

static void test_error__a_message_is_one_line_and_cut_at_its_room(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_fail(&err, BL_IO, "a\nb\tc\x7f%02000d", 1);
  assert_memory_equal(err.message, "a b c 000", 9);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  bl_fail_in(&err, BL_IO, "file");
  assert_memory_equal(err.message, "file: a b c 0", 13);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  bl_fail_in(&err, BL_IO, "%02000d", 2);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void test_error__a_message_is_utf8_whatever_went_in(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bl_fail(&err, BL_IO, "%s", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \xff\xc3 \xe2\x82");
  assert_string_equal(err.message, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 ?? ??");
  for (int n = 990; n < 1000; n++) { /* the cut goes through a character */
    err = (bl_error)BL_ERROR_INIT;
    bl_fail(&err, BL_IO, "%0*d\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80", n, 1);
    assert_true(bl_utf8_valid(err.message, strlen(err.message)));
    bl_fail_in(&err, BL_IO, "a");
    assert_true(bl_utf8_valid(err.message, strlen(err.message)));
  }
}

static void test_error__every_status_has_a_word(void **state) {
  (void)state;
  for (int st = BL_OK; st <= BL_CANCELLED; st++) {
    assert_true(strlen(bl_status_name((bl_status)st)) > 2);
    for (int other = BL_OK; other < st; other++)
      assert_string_not_equal(bl_status_name((bl_status)st), bl_status_name((bl_status)other));
  }
  assert_string_equal(bl_status_name((bl_status)99), "?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_error__the_first_failure_is_kept),
      cmocka_unit_test(test_error__no_error_may_be_given),
      cmocka_unit_test(test_error__a_place_goes_in_front_of_the_message),
      cmocka_unit_test(test_error__a_message_is_one_line_and_cut_at_its_room),
      cmocka_unit_test(test_error__a_message_is_utf8_whatever_went_in),
      cmocka_unit_test(test_error__every_status_has_a_word),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
