/* test_metadata_file.c: what a metadata file is, told from its beginning, or from all of it where that says nothing. */
#include "table/metadata_file.h"

#include "support/memory_fixture.h"

#define UUID "11111111-2222-3333-4444-555555555555"
#define OTHER "99999999-2222-3333-4444-555555555555"
#define PATH "/t/metadata/v1.metadata.json"

static void put(fixture *f, const char *text, size_t n) {
  test_ok(bl_io_memory_put(f->io, PATH, text, n, &f->err), &f->err);
}

/* A document with `key`: UUID, behind `padding` bytes of another text. */
static void put_document(fixture *f, const char *key, int padding) {
  char text[10000];
  int n = snprintf(text, sizeof text, "{\"location\":\"%*s\",\"%s\":\"" UUID "\"}", padding, "", key);
  assert_true(n > 0 && (size_t)n < sizeof text);
  put(f, text, (size_t)n);
}

static bool is_view(fixture *f) {
  bool yes;
  test_ok(bl_metadata_is_view(f->ctx, f->io, PATH, &yes, &f->err), &f->err);
  return yes;
}

static bool is_of(fixture *f, const char *uuid) {
  bool yes;
  test_ok(bl_metadata_is_of(f->ctx, f->io, PATH, bl_str_of(uuid), &yes, &f->err), &f->err);
  return yes;
}

static void test_metadata_file__a_view_is_told_from_a_table_by_its_uuid(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put_document(&f, "view-uuid", 0);
  assert_true(is_view(&f));
  put_document(&f, "table-uuid", 0);
  assert_false(is_view(&f));
  put(&f, "{\"table-uuid\":\"view-uuid\"}", 26);
  assert_false(is_view(&f));
  teardown(&f);
}

static void test_metadata_file__a_uuid_is_found_behind_the_beginning_too(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put_document(&f, "view-uuid", 9000);
  assert_true(is_view(&f));
  put_document(&f, "table-uuid", 9000);
  assert_false(is_view(&f));
  assert_true(is_of(&f, UUID));
  assert_false(is_of(&f, OTHER));
  teardown(&f);
}

static void test_metadata_file__a_document_without_uuid_may_be_of_any_table(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put_document(&f, "table-uuid", 0);
  assert_true(is_of(&f, UUID));
  assert_false(is_of(&f, OTHER));
  put(&f, "{}", 2);
  assert_true(is_of(&f, UUID));
  assert_true(is_of(&f, ""));
  teardown(&f);
}

static void test_metadata_file__an_empty_file_is_no_view_and_has_no_uuid(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "", 0);
  assert_false(is_view(&f));
  assert_true(is_of(&f, UUID));
  teardown(&f);
}

static void test_metadata_file__a_file_that_is_gone_is_no_view(void **state) {
  (void)state;
  fixture f;
  bool yes;
  setup(&f);
  assert_false(is_view(&f));
  test_status(BL_NOT_FOUND, bl_metadata_is_of(f.ctx, f.io, PATH, BL_STR(UUID), &yes, &f.err), &f.err);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metadata_file__a_view_is_told_from_a_table_by_its_uuid),
      cmocka_unit_test(test_metadata_file__a_uuid_is_found_behind_the_beginning_too),
      cmocka_unit_test(test_metadata_file__a_document_without_uuid_may_be_of_any_table),
      cmocka_unit_test(test_metadata_file__an_empty_file_is_no_view_and_has_no_uuid),
      cmocka_unit_test(test_metadata_file__a_file_that_is_gone_is_no_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
