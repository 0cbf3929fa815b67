/* test_folder.c: versions of a table in a folder, one after the other. */
#include "table/folder.h"

#include "support/memory_fixture.h"

static bl_status publish(fixture *f, int64_t version, bool gzip, const char *want) {
  f->err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_folder_publish(f->ctx, f->io, "/t", version, "{}", 2, gzip, &f->err);
  if (st == BL_OK) assert_int_equal(bl_io_memory_get(f->io, want).n, 2);
  return st;
}

static void test_folder__versions_follow_each_other(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(publish(&f, 1, false, "/t/metadata/v1.metadata.json"), &f.err);
  test_ok(publish(&f, 2, true, "/t/metadata/v2.gz.metadata.json"), &f.err);
  test_ok(publish(&f, 3, false, "/t/metadata/v3.metadata.json"), &f.err);
  bl_str hint = bl_io_memory_get(f.io, "/t/metadata/version-hint.text");
  assert_int_equal(hint.n, 1);
  assert_int_equal(hint.p[0], '3');
  assert_int_equal(bl_io_memory_count(f.io), 4);
  teardown(&f);
}

static void test_folder__a_version_that_is_there_is_not_replaced(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(publish(&f, 1, false, "/t/metadata/v1.metadata.json"), &f.err);
  test_status(BL_CONFLICT, publish(&f, 1, false, NULL), &f.err);
  test_says(&f.err, "there is a table");
  test_status(BL_CONFLICT, publish(&f, 3, false, NULL), &f.err);
  test_says(&f.err, "another has committed");
  /* under the compressed name, behind the hint */
  test_ok(bl_io_memory_put(f.io, "/t/metadata/v2.gz.metadata.json", "{}", 2, &f.err), &f.err);
  test_status(BL_CONFLICT, publish(&f, 2, false, NULL), &f.err);
  test_ok(publish(&f, 3, false, "/t/metadata/v3.metadata.json"), &f.err);
  teardown(&f);
}

static void test_folder__a_stale_writer_is_refused_though_its_name_is_free(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  for (int v = 1; v <= 4; v++) {
    char path[60];
    snprintf(path, sizeof path, "/t/metadata/v%d.metadata.json", v);
    test_ok(publish(&f, v, false, path), &f.err);
  }
  /* old versions were removed meanwhile */
  test_ok(f.io->remove(f.io, "/t/metadata/v2.metadata.json", &f.err), &f.err);
  test_status(BL_CONFLICT, publish(&f, 2, false, NULL), &f.err);
  teardown(&f);
}

static void test_folder__a_table_that_is_gone_does_not_come_back(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_status(BL_NOT_FOUND, publish(&f, 2, false, NULL), &f.err);
  test_says(&f.err, "no metadata any more");
  assert_int_equal(bl_io_memory_count(f.io), 0);
  teardown(&f);
}

static bl_status no_hint(void *user, int64_t call, const char *operation, const char *path, bl_error *err) {
  (void)user, (void)call;
  if (strcmp(operation, "create") == 0 && strstr(path, "version-hint")) return bl_fail(err, BL_IO, "no");
  return BL_OK;
}

static void test_folder__a_hint_that_cannot_be_written_is_no_failure(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(publish(&f, 1, false, "/t/metadata/v1.metadata.json"), &f.err);
  bl_io_memory_set_hook(f.io, no_hint, NULL);
  test_ok(publish(&f, 2, false, "/t/metadata/v2.metadata.json"), &f.err);
  bl_io_memory_set_hook(f.io, NULL, NULL);
  test_ok(publish(&f, 3, false, "/t/metadata/v3.metadata.json"), &f.err);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folder__versions_follow_each_other),
      cmocka_unit_test(test_folder__a_version_that_is_there_is_not_replaced),
      cmocka_unit_test(test_folder__a_stale_writer_is_refused_though_its_name_is_free),
      cmocka_unit_test(test_folder__a_table_that_is_gone_does_not_come_back),
      cmocka_unit_test(test_folder__a_hint_that_cannot_be_written_is_no_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
