/* test_properties.c: what may be set by hand, and to what. */
#include "write/properties.h"

#include "support/support.h"

static void assert_allowed(const char *key, const char *value) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_property_allowed(bl_str_of(key), bl_str_of(value), &err), &err);
}

static void assert_refused(const char *key, const char *value, const char *says) {
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_property_allowed(bl_str_of(key), value ? bl_str_of(value) : BL_STR_NONE, &err), &err);
  test_says(&err, key);
  if (says) test_says(&err, says);
}

static void test_properties__values_that_make_sense_are_allowed(void **state) {
  (void)state;
  assert_allowed("commit.retry.num-retries", "0");
  assert_allowed("commit.retry.min-wait-ms", "0");
  assert_allowed("commit.manifest.target-size-bytes", "8388608");
  assert_allowed("commit.manifest-merge.enabled", "FALSE");
  assert_allowed("write.metadata.delete-after-commit.enabled", "true");
  assert_allowed("write.delete.mode", "Merge-On-Read");
  assert_allowed("write.merge.isolation-level", "snapshot");
  assert_allowed("write.update.isolation-level", "SERIALIZABLE");
  assert_allowed("write.metadata.compression-codec", "GZIP");
  assert_allowed("write.metadata.compression-codec", "none");
  assert_allowed("write.metadata.metrics.max-inferred-column-defaults", "0");
  assert_allowed("write.summary.partition-limit", "0");
  assert_allowed("write.parquet.compression-codec", "ZSTD");
  assert_allowed("write.parquet.compression-codec", "uncompressed");
  assert_allowed("write.parquet.compression-level", "null"); /* as Java has it where there is none */
  assert_allowed("write.parquet.compression-level", "-7");
  assert_allowed("write.metadata.metrics.default", "Truncate(7)");
  assert_allowed("write.metadata.metrics.column.a.b", "none");
  assert_allowed("write.parquet.bloom-filter-enabled.column.a", "false");
  assert_allowed("write.parquet.bloom-filter-fpp.column.a", "0.001");
}

static void test_properties__values_that_make_none_name_what_is_expected(void **state) {
  (void)state;
  assert_refused("commit.retry.num-retries", "zz", "a number");
  assert_refused("commit.retry.num-retries", "-1", "a number");
  assert_refused("commit.retry.min-wait-ms", "-5", "\"-5\"");
  assert_refused("commit.manifest.target-size-bytes", "abc", "above 0");
  assert_refused("write.metadata.previous-versions-max", "0", "above 0");
  assert_refused("write.target-file-size-bytes", "128MB", "above 0");
  assert_refused("write.target-file-size-bytes", "", "above 0");
  assert_refused("commit.manifest-merge.enabled", "yes", "true or false");
  assert_refused("write.update.mode", "mor", "merge-on-read or copy-on-write");
  assert_refused("write.delete.isolation-level", "foo", "serializable or snapshot");
  assert_refused("write.metadata.compression-codec", "zstd", "none or gzip"); /* Java opens no such table */
  assert_refused("write.summary.partition-limit", "all", "a number");
  assert_refused("write.parquet.compression-codec", "zst", "zstd, snappy");
  assert_refused("write.parquet.compression-level", "23", "from -7 to 22");
  assert_refused("write.parquet.compression-level", "fast", "from -7 to 22");
}

static void test_properties__values_for_a_column_make_sense_too(void **state) {
  (void)state;
  assert_refused("write.metadata.metrics.default", "truncate(0)", "truncate(N)");
  assert_refused("write.metadata.metrics.column.a.b", "all", "none, counts");
  assert_refused("write.parquet.bloom-filter-enabled.column.a", "yes", "true or false");
  assert_refused("write.parquet.bloom-filter-fpp.column.a", "1", "between 0 and 1");
  assert_refused("write.parquet.bloom-filter-fpp.column.a", "few", "between 0 and 1");
}

static void test_properties__of_others_any_value_is_allowed(void **state) {
  (void)state;
  assert_allowed("owner", "");
  assert_allowed("commit.retry.num-retries.of-mine", "zz");
  assert_allowed("read.split.target-size", "many");
}

static void test_properties__fields_of_the_metadata_are_neither_set_nor_unset(void **state) {
  (void)state;
  assert_refused("format-version", "3", "no command changes that of a table yet");
  assert_refused("uuid", "x", "not set as a property");
  assert_refused("current-schema", NULL, NULL);
}

static void test_properties__what_was_set_may_be_unset(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_property_allowed(BL_STR("write.delete.mode"), BL_STR_NONE, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_properties__values_that_make_sense_are_allowed),
      cmocka_unit_test(test_properties__values_that_make_none_name_what_is_expected),
      cmocka_unit_test(test_properties__values_for_a_column_make_sense_too),
      cmocka_unit_test(test_properties__of_others_any_value_is_allowed),
      cmocka_unit_test(test_properties__fields_of_the_metadata_are_neither_set_nor_unset),
      cmocka_unit_test(test_properties__what_was_set_may_be_unset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
