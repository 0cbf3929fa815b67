/* test_folder.c: versions of a table in a folder, one after the other. */
#include "table/folder.h"

#include "support/memory_fixture.h"

static bl_status publish(fixture *f, int64_t version, bool gzip, const char *want) {
  f->err = (bl_error)BL_ERROR_INIT;
  const bl_folder_next next = {.version = version, .p = "{}", .n = 2, .gzip = gzip};
  bl_status st = bl_folder_commit(f->ctx, f->io, "/t", &next, &f->err);
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

/* ---- which table it is ---- */

#define UUID "9c12d441-03fe-4693-9a96-a0705ddf69c1"
#define OTHER "00000000-0000-4000-8000-000000000002"

static bl_status commit(fixture *f, int64_t version, const char *uuid, bool revives, const char *text) {
  const bl_folder_next next = {.version = version,
                               .p = text,
                               .n = strlen(text),
                               .uuid = uuid ? bl_str_of(uuid) : BL_STR_NONE,
                               .revives = revives};
  f->err = (bl_error)BL_ERROR_INIT;
  return bl_folder_commit(f->ctx, f->io, "/t", &next, &f->err);
}

static const char mine[] = "{\"format-version\":3,\"table-uuid\":\"" UUID "\"}";

static void test_folder__a_version_of_another_table_is_none_to_go_on_from(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(commit(&f, 1, NULL, false, mine), &f.err);
  test_ok(commit(&f, 2, UUID, false, mine), &f.err);
  test_status(BL_CONFLICT, commit(&f, 3, OTHER, false, mine), &f.err);
  test_says(&f.err, "replaced");
  test_ok(commit(&f, 3, NULL, false, "{}"), &f.err); /* says nothing of itself */
  test_ok(commit(&f, 4, OTHER, false, mine), &f.err);
  teardown(&f);
}

static void test_folder__a_uuid_counts_wherever_it_stands(void **state) {
  static char text[20000];
  (void)state;
  fixture f;
  setup(&f);
  memset(text, ' ', sizeof text - 1);
  memcpy(text, "{\"doc\":\"" OTHER "x\",", 47);
  snprintf(text + 12000, sizeof text - 12000, "\"table-uuid\":\"" UUID "\"}");
  test_ok(commit(&f, 1, NULL, false, text), &f.err);
  test_status(BL_CONFLICT, commit(&f, 2, OTHER, false, text), &f.err);
  test_ok(commit(&f, 2, UUID, false, text), &f.err);
  teardown(&f);
}

/* ---- 5. ---- */

static void mark(fixture *f, int64_t version) {
  const bl_dropped d = {.version = version, .last = "/t/metadata/00003-x.metadata.json", .uuid = UUID};
  test_ok(bl_folder_mark(f->ctx, f->io, "/t", &d, &f->err), &f->err);
}

static void test_folder__a_dropped_table_takes_no_version(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(commit(&f, 1, NULL, false, mine), &f.err);
  test_ok(commit(&f, 2, UUID, false, mine), &f.err);
  mark(&f, 2);
  test_status(BL_NOT_FOUND, commit(&f, 3, UUID, false, mine), &f.err);
  test_says(&f.err, "dropped");
  test_status(BL_CONFLICT, commit(&f, 1, NULL, false, mine), &f.err);
  test_says(&f.err, "/t/metadata/00003-x.metadata.json");
  test_ok(commit(&f, 3, UUID, true, mine), &f.err);
  test_ok(commit(&f, 4, UUID, false, mine), &f.err); /* the marker is of no more weight */
  teardown(&f);
}

static void is_dropped(fixture *f, bool want) {
  bl_located at;
  bl_dropped d;
  test_ok(bl_locate_metadata(f->ctx, f->io, "/t", &at, &f->err), &f->err);
  test_ok(bl_folder_dropped(f->ctx, f->io, "/t", &at, &d, &f->err), &f->err);
  assert_int_equal(d.yes, want);
  if (want) assert_string_equal(d.last, "/t/metadata/00003-x.metadata.json");
  if (want) assert_int_equal(d.version, 2);
  bl_dropped_dispose(f->ctx, &d);
  bl_free(f->ctx, at.path);
}

static void test_folder__a_marker_counts_up_to_its_version_and_for_its_table(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_ok(commit(&f, 1, NULL, false, mine), &f.err);
  is_dropped(&f, false);
  mark(&f, 2);
  is_dropped(&f, true);
  test_ok(bl_io_memory_put(f.io, "/t/metadata/v2.metadata.json", mine, sizeof mine - 1, &f.err), &f.err);
  is_dropped(&f, true);
  test_ok(bl_io_memory_put(f.io, "/t/metadata/v3.metadata.json", mine, sizeof mine - 1, &f.err), &f.err);
  is_dropped(&f, false);
  mark(&f, 3);
  static const char theirs[] = "{\"table-uuid\":\"" OTHER "\"}";
  test_ok(bl_io_memory_put(f.io, "/t/metadata/v3.metadata.json", theirs, sizeof theirs - 1, &f.err), &f.err);
  is_dropped(&f, false);
  bl_folder_unmark(f.ctx, f.io, "/t");
  bl_folder_unmark(f.ctx, f.io, "/t"); /* none is there: nothing to do */
  is_dropped(&f, false);
  teardown(&f);
}

static void test_folder__a_marker_that_says_nothing_is_damage(void **state) {
  static const char *const texts[] = {"", "{}", "[]", "{\"version\":1}", "{\"version\":\"1\",\"metadata-file\":\"x\"}"};
  (void)state;
  fixture f;
  setup(&f);
  test_ok(commit(&f, 1, NULL, false, mine), &f.err);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    test_ok(bl_io_memory_put(f.io, "/t/metadata/.dropped", texts[i], strlen(texts[i]), &f.err), &f.err);
    test_status(BL_DAMAGED, commit(&f, 2, UUID, false, mine), &f.err);
    test_says(&f.err, "/t/metadata/.dropped");
    f.err = (bl_error)BL_ERROR_INIT;
  }
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folder__versions_follow_each_other),
      cmocka_unit_test(test_folder__a_version_that_is_there_is_not_replaced),
      cmocka_unit_test(test_folder__a_stale_writer_is_refused_though_its_name_is_free),
      cmocka_unit_test(test_folder__a_table_that_is_gone_does_not_come_back),
      cmocka_unit_test(test_folder__a_hint_that_cannot_be_written_is_no_failure),
      cmocka_unit_test(test_folder__a_version_of_another_table_is_none_to_go_on_from),
      cmocka_unit_test(test_folder__a_uuid_counts_wherever_it_stands),
      cmocka_unit_test(test_folder__a_dropped_table_takes_no_version),
      cmocka_unit_test(test_folder__a_marker_counts_up_to_its_version_and_for_its_table),
      cmocka_unit_test(test_folder__a_marker_that_says_nothing_is_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
