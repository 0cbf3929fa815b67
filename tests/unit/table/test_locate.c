/* test_locate.c: which metadata file of a folder is the current one. */
#include "support/memory_fixture.h"
#include "table/locate.h"

static void put(fixture *f, const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "/t/metadata/%s", name);
  test_ok(bl_io_memory_put(f->io, path, text, strlen(text), &f->err), &f->err);
}

static void assert_found(fixture *f, const char *name) {
  bl_located at;
  char path[200];
  snprintf(path, sizeof path, "/t/metadata/%s", name);
  test_ok(bl_locate_metadata(f->ctx, f->io, "/t", &at, &f->err), &f->err);
  assert_string_equal(at.path, path);
  bl_free(f->ctx, at.path);
}

/* ---- names ---- */

static void assert_name(const char *name, int64_t version, bool hadoop, bool gzip) {
  bl_metadata_name n;
  assert_true(bl_metadata_name_parse(bl_str_of(name), &n));
  assert_int_equal(n.version, version);
  assert_int_equal(n.hadoop, hadoop);
  assert_int_equal(n.gzip_name, gzip);
}

static void test_locate__names_in_all_forms(void **state) {
  (void)state;
  assert_name("v1.metadata.json", 1, true, false);
  assert_name("v12.gz.metadata.json", 12, true, true);
  assert_name("v12.metadata.json.gz", 12, true, true);
  assert_name("v12.gzip.metadata.json", 12, true, true);
  assert_name("00003-0cfce43c-c5a3-4d8f.metadata.json", 3, false, false);
  assert_name("00003-0cfce43c-c5a3-4d8f.gz.metadata.json", 3, false, true);
  assert_name("00003-0cfce43c-c5a3-4d8f.metadata.json.gz", 3, false, true);
  assert_name("123456-x.metadata.json", 123456, false, false);
}

static void test_locate__other_names_are_not_metadata(void **state) {
  (void)state;
  static const char *const names[] = {"",
                                      "metadata.json",
                                      "v.metadata.json",
                                      "v1.json",
                                      "v1x.metadata.json",
                                      "v-1.metadata.json",
                                      "00001.metadata.json",
                                      "00001-.metadata.json",
                                      "x-1.metadata.json",
                                      "v99999999999999999999.metadata.json",
                                      "v1.metadata.json.tmp",
                                      "snap-1.avro"};
  for (size_t i = 0; i < BL_LEN(names); i++) {
    bl_metadata_name n;
    if (bl_metadata_name_parse(bl_str_of(names[i]), &n)) fail_msg("taken: %s", names[i]);
  }
}

/* ---- by the hint ---- */

static void test_locate__the_hint_is_followed(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v1.metadata.json", "{}");
  put(&f, "v2.metadata.json", "{}");
  put(&f, "version-hint.text", "2\n");
  assert_found(&f, "v2.metadata.json");
  teardown(&f);
}

static void test_locate__versions_that_follow_a_stale_hint_count_up_to_the_first_gap(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v2.metadata.json", "{}");
  put(&f, "v3.gz.metadata.json", "{}");
  put(&f, "v4.metadata.json.gz", "{}");
  put(&f, "v6.metadata.json", "{}");
  put(&f, "version-hint.text", "2");
  assert_found(&f, "v4.metadata.json.gz");
  teardown(&f);
}

static void test_locate__a_hint_to_a_version_that_is_gone_is_passed_over(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v8.metadata.json", "{}");
  put(&f, "v7.metadata.json", "{}");
  put(&f, "version-hint.text", "2");
  assert_found(&f, "v8.metadata.json");
  teardown(&f);
}

static void test_locate__a_junk_hint_is_passed_over(void **state) {
  (void)state;
  static const char *const hints[] = {"",     "\n",
                                      "v2",   "-1",
                                      "1.5",  "99999999999999999999",
                                      "junk", "1234567890123456789012345678901234567890123456789012345678901234567890"};
  fixture f;
  setup(&f);
  put(&f, "v1.metadata.json", "{}");
  put(&f, "v10.metadata.json", "{}");
  put(&f, "v9.metadata.json", "{}");
  for (size_t i = 0; i < BL_LEN(hints); i++) {
    put(&f, "version-hint.text", hints[i]);
    assert_found(&f, "v10.metadata.json");
  }
  teardown(&f);
}

static void test_locate__a_hint_with_the_largest_number_ends(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v9223372036854775807.metadata.json", "{}");
  put(&f, "version-hint.text", "9223372036854775807");
  assert_found(&f, "v9223372036854775807.metadata.json");
  teardown(&f);
}

/* ---- by listing ---- */

static void test_locate__without_hint_the_highest_number_counts_not_the_text(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v10.metadata.json", "{}");
  put(&f, "v9.metadata.json", "{}");
  put(&f, "v8.gz.metadata.json", "{}");
  put(&f, "snap-99.avro", "");
  assert_found(&f, "v10.metadata.json");
  teardown(&f);
}

static void test_locate__among_equal_numbers_the_latest_update_counts(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "00009-ffff.metadata.json", "{\"last-updated-ms\": 9000}");
  put(&f, "00010-eeee.metadata.json", "{\"last-updated-ms\": 1000}");
  put(&f, "00010-1111.metadata.json", "{\"last-updated-ms\": 2000}");
  put(&f, "00010-dddd.metadata.json", "{\"last-updated-ms\": ");
  put(&f, "00010-cccc.metadata.json", "[]");
  assert_found(&f, "00010-1111.metadata.json");
  teardown(&f);
}

static void test_locate__equal_in_everything_is_decided_by_name(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "00010-bbbb.metadata.json", "{\"last-updated-ms\": 5}");
  put(&f, "00010-cccc.metadata.json", "{\"last-updated-ms\": 5}");
  put(&f, "00010-aaaa.metadata.json", "{\"last-updated-ms\": 5}");
  assert_found(&f, "00010-cccc.metadata.json");
  teardown(&f);
}

static void test_locate__a_folder_without_metadata_is_not_a_table(void **state) {
  (void)state;
  fixture f;
  bl_located at;
  setup(&f);
  test_status(BL_NOT_FOUND, bl_locate_metadata(f.ctx, f.io, "/t", &at, &f.err), &f.err);
  test_says(&f.err, "/t");
  test_says(&f.err, "metadata");
  assert_null(at.path);
  teardown(&f);
}

static bl_status fail_call(void *user, int64_t call, const char *operation, const char *path, bl_error *err) {
  return call == *(int64_t *)user ? bl_fail(err, BL_IO, "%s: %s: broken", operation, path) : BL_OK;
}

static void test_locate__a_failing_store_is_an_error_or_changes_nothing(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  put(&f, "v2.metadata.json", "{}");
  put(&f, "v3.metadata.json", "{}");
  put(&f, "version-hint.text", "2");
  bool failed = false;
  for (int64_t n = 1; n < 20; n++) {
    bl_located at;
    bl_error err = BL_ERROR_INIT;
    bl_io_memory_set_hook(f.io, fail_call, &n);
    bl_status st = bl_locate_metadata(f.ctx, f.io, "/t", &at, &err);
    failed = failed || st != BL_OK;
    if (st == BL_OK) assert_string_equal(at.path, "/t/metadata/v3.metadata.json");
    if (st != BL_OK) test_says(&err, "broken");
    bl_free(f.ctx, at.path);
  }
  assert_true(failed);
  teardown(&f);
}

static bl_status locate_all(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  static const char one[] = "{\"last-updated-ms\": 1}";
  bl_io *io = NULL;
  bl_located at = {0};
  bl_status st;
  BL_GO(bl_io_memory_new(ctx, &io, err));
  BL_GO(bl_io_memory_put(io, "/t/metadata/00001-a.metadata.json", one, sizeof one - 1, err));
  BL_GO(bl_io_memory_put(io, "/t/metadata/00001-b.metadata.json", one, sizeof one - 1, err));
  BL_GO(bl_locate_metadata(ctx, io, "/t", &at, err));
  assert_string_equal(at.path, "/t/metadata/00001-b.metadata.json");
  bl_free(ctx, at.path);
  BL_GO(bl_io_memory_put(io, "/t/metadata/version-hint.text", "1", 1, err));
  BL_GO(bl_io_memory_put(io, "/t/metadata/v1.metadata.json", one, sizeof one - 1, err));
  BL_GO(bl_locate_metadata(ctx, io, "/t", &at, err));
  assert_string_equal(at.path, "/t/metadata/v1.metadata.json");
  bl_free(ctx, at.path);
done:
  if (io) io->free(io);
  return st;
}

static void test_locate__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(locate_all, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locate__names_in_all_forms),
      cmocka_unit_test(test_locate__other_names_are_not_metadata),
      cmocka_unit_test(test_locate__the_hint_is_followed),
      cmocka_unit_test(test_locate__versions_that_follow_a_stale_hint_count_up_to_the_first_gap),
      cmocka_unit_test(test_locate__a_hint_to_a_version_that_is_gone_is_passed_over),
      cmocka_unit_test(test_locate__a_junk_hint_is_passed_over),
      cmocka_unit_test(test_locate__a_hint_with_the_largest_number_ends),
      cmocka_unit_test(test_locate__without_hint_the_highest_number_counts_not_the_text),
      cmocka_unit_test(test_locate__among_equal_numbers_the_latest_update_counts),
      cmocka_unit_test(test_locate__equal_in_everything_is_decided_by_name),
      cmocka_unit_test(test_locate__a_folder_without_metadata_is_not_a_table),
      cmocka_unit_test(test_locate__a_failing_store_is_an_error_or_changes_nothing),
      cmocka_unit_test(test_locate__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
