/* test_parquet_footer.c: the walk over a footer before a decoder sees it. */
#include "edge/parquet_footer.h"
#include "support/support.h"

/* FileMetaData {1: version 2, 2: schema […], 3: rows 0, 4: groups []} with elements of the given child counts. */
static size_t make_footer(const uint8_t *children, size_t n, uint8_t *out) {
  size_t at = 0;
  out[at++] = 0x15; /* field 1, i32 */
  out[at++] = 4;
  out[at++] = 0x19; /* field 2, list */
  out[at++] = 0xfc; /* of structs, length as a number */
  out[at++] = (uint8_t)(n & 0x7f) | 0x80;
  out[at++] = (uint8_t)(n >> 7);
  for (size_t i = 0; i < n; i++) {
    out[at++] = 0x48; /* field 4, binary */
    out[at++] = 1;
    out[at++] = 'x';
    out[at++] = 0x15; /* field 5, i32 */
    out[at++] = (uint8_t)(children[i] << 1);
    out[at++] = 0;
  }
  out[at++] = 0x16; /* field 3, i64 */
  out[at++] = 0;
  out[at++] = 0x19; /* field 4, list */
  out[at++] = 0x0c; /* no structs */
  out[at++] = 0;
  return at;
}

static void test_parquet_footer__a_plain_schema_passes(void **state) {
  (void)state;
  uint8_t out[200];
  static const uint8_t children[] = {3, 0, 2, 0, 0, 0};
  size_t n = make_footer(children, sizeof children, out);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_parquet_footer_check(out, n, 10, &err), &err);
}

static void test_parquet_footer__any_prefix_is_damaged(void **state) {
  (void)state;
  uint8_t out[200];
  static const uint8_t children[] = {2, 0, 0};
  size_t n = make_footer(children, sizeof children, out);
  for (size_t i = 0; i < n; i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_parquet_footer_check(out, i, 10, &err), &err);
    assert_true(err.position >= 0 && err.position <= (int64_t)i);
  }
}

static void test_parquet_footer__a_schema_deeper_than_the_limit_is_refused(void **state) {
  (void)state;
  uint8_t out[4000], children[500];
  memset(children, 1, sizeof children);
  children[499] = 0;
  size_t n = make_footer(children, sizeof children, out);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_parquet_footer_check(out, n, 499, &err), &err);
  test_status(BL_UNSUPPORTED, bl_parquet_footer_check(out, n, 498, &err), &err);
}

static void test_parquet_footer__elements_outside_of_any_group_are_damaged(void **state) {
  (void)state;
  uint8_t out[200];
  static const uint8_t two_roots[] = {0, 0}, too_many[] = {60, 0};
  bl_error err = BL_ERROR_INIT;
  size_t n = make_footer(two_roots, 2, out);
  test_status(BL_DAMAGED, bl_parquet_footer_check(out, n, 10, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  n = make_footer(too_many, 2, out);
  test_status(BL_DAMAGED, bl_parquet_footer_check(out, n, 10, &err), &err);
}

static void test_parquet_footer__a_list_must_have_the_bytes_that_it_claims(void **state) {
  (void)state;
  static const uint8_t lists[][12] = {
      {0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0}, /* four billion structs */
      {0x48, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0},    /* a string of 4 GB */
      {0x4b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x88, 0, 0, 0, 0, 0}, /* a map */
      {0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
      {0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /* a type that is none */
  };
  for (size_t i = 0; i < 5; i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_parquet_footer_check(lists[i], sizeof lists[i], 10, &err), &err);
  }
}

static void test_parquet_footer__structs_in_structs_have_an_end(void **state) {
  (void)state;
  uint8_t deep[100000];
  memset(deep, 0x1c, sizeof deep); /* field 1, struct */
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_parquet_footer_check(deep, sizeof deep, 10, &err), &err);
  memset(deep, 0x19, sizeof deep); /* lists of lists */
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_parquet_footer_check(deep, sizeof deep, 10, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parquet_footer__a_plain_schema_passes),
      cmocka_unit_test(test_parquet_footer__any_prefix_is_damaged),
      cmocka_unit_test(test_parquet_footer__a_schema_deeper_than_the_limit_is_refused),
      cmocka_unit_test(test_parquet_footer__elements_outside_of_any_group_are_damaged),
      cmocka_unit_test(test_parquet_footer__a_list_must_have_the_bytes_that_it_claims),
      cmocka_unit_test(test_parquet_footer__structs_in_structs_have_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
