/* test_commit.c: what a commit leaves in manifests, lists and metadata: row ids, sequence numbers, summaries. */
#include "commit_world.h"

static void test_commit__gives_ids_to_new_manifests_and_stores_none(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
  stage *s = world_stage(&w);
  stage_add(s, "b", 5);
  stage_add(s, "c", 7);
  world_commit(&w, s);
  world_shows(&w, "D@10 +b:5 id=10 raw=- seq=2 +c:7 id=15 raw=- seq=2\n"
                  "D@0 +a:10 id=0 raw=- seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 22);
  assert_int_equal(w.t->metadata->last_sequence_number, 2);
  const bl_snapshot *head = world_head(&w);
  assert_int_equal(head->first_row_id, 10);
  assert_int_equal(head->added_rows, 12);
  assert_int_equal(head->sequence_number, 2);
  assert_true(head->has_parent);
  assert_int_equal(w.result.first_row_id, 10);
  assert_int_equal(w.result.rows_assigned, 12);
  assert_int_equal(w.result.snapshot_id, head->id);
  assert_int_equal(w.result.attempts, 1);
  world_end(&w);
}

static void test_commit__rewrites_manifests_with_the_ids_that_files_have(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 25);
  stage_add(s, "b", 10);
  stage_add(s, "d", 3);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_remove(s, "b");
  stage_add(s, "c", 7);
  world_commit(&w, s);
  world_shows(&w, "D@38 +c:7 id=38 raw=- seq=2\n"
                  "D@45 =a:25 id=0 raw=0 seq=1 xb:10 id=25 raw=25 seq=1 =d:3 id=35 raw=35 seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 38 + 7 + 28);
  /* What was deleted is not carried on. */
  s = world_stage(&w);
  stage_remove(s, "d");
  world_commit(&w, s);
  world_shows(&w, "D@38 +c:7 id=38 raw=- seq=2\n"
                  "D@73 =a:25 id=0 raw=0 seq=1 xd:3 id=35 raw=35 seq=1");
  world_end(&w);
}

static bl_status to_version_3(void *user, bl_edit *e, bl_error *err) {
  (void)user;
  BL_TRY(bl_edit_set(e, "format-version", bl_json_new_i64(e->a, 3), err));
  return bl_edit_set(e, "next-row-id", bl_json_new_i64(e->a, 0), err);
}

/* A manifest with C (8 rows), and one with A (10 rows) that came before it and B that is gone; then an upgrade. */
static void begin_upgraded(world *w) {
  world_begin(w, 2);
  stage *s = world_stage(w);
  stage_add(s, "a", 10);
  stage_add(s, "b", 5);
  world_commit(w, s);
  s = world_stage(w);
  stage_add(s, "c", 8);
  stage_remove(s, "b");
  world_commit(w, s);
  assert_false(world_head(w)->has_first_row_id);
  test_ok(bl_commit_metadata(w->t, "test", to_version_3, NULL, NULL, &w->err), &w->err);
  world_reopen(w);
  world_shows(w, "D@- +c:8 id=- raw=- seq=2\nD@- =a:10 id=- raw=- seq=1 xb:5 id=- raw=- seq=1");
}

static void test_commit__the_first_one_after_an_upgrade_gives_ids_to_all(void **state) {
  (void)state;
  world w;
  begin_upgraded(&w);
  int64_t before = world_head(&w)->id;
  stage *s = world_stage(&w);
  stage_remove(s, "c");
  s->s->operation = BL_STR("delete");
  world_commit(&w, s);
  world_shows(&w, "D@0 xc:8 id=- raw=- seq=2\nD@0 =a:10 id=0 raw=- seq=1 xb:5 id=- raw=- seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 10);
  assert_int_equal(world_head(&w)->added_rows, 10);
  assert_false(bl_metadata_snapshot(w.t->metadata, before)->has_first_row_id);
  world_end(&w);

  begin_upgraded(&w);
  s = world_stage(&w);
  stage_delete(s, "a", 3);
  world_commit(&w, s);
  world_shows(&w, "D@0 +c:8 id=0 raw=- seq=2\nD@8 =a:10 id=8 raw=- seq=1 xb:5 id=- raw=- seq=1\nV +v(a):1 seq=3");
  assert_int_equal(w.t->metadata->next_row_id, 18);
  world_end(&w);

  begin_upgraded(&w);
  s = world_stage(&w);
  stage_add(s, "d", 3);
  stage_remove(s, "c");
  world_commit(&w, s);
  world_shows(&w, "D@0 +d:3 id=0 raw=- seq=3\nD@3 xc:8 id=- raw=- seq=2\n"
                  "D@3 =a:10 id=3 raw=- seq=1 xb:5 id=- raw=- seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 13);
  world_end(&w);

  begin_upgraded(&w);
  s = world_stage(&w);
  s->s->even_if_empty = true;
  world_commit(&w, s);
  assert_int_equal(w.t->metadata->next_row_id, 18);
  world_end(&w);
}

static void test_commit__deletes_are_one_vector_a_file(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 5);
  stage_add(s, "b", 5);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_delete(s, "a", 1);
  stage_delete(s, "b", 0);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\n"
                  "V +v(a):1 seq=2 +v(b):1 seq=2");
  assert_int_equal(world_count_files(&w, "data", ".puffin"), 1);
  s = world_stage(&w);
  stage_delete(s, "a", 3);
  stage_delete(s, "a", 4);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\n"
                  "V +v(a):3 seq=3\n"
                  "V xv(a):1 seq=2 =v(b):1 seq=2");
  assert_int_equal(world_head(&w)->added_rows, 0);
  assert_string_equal(world_summary(&w, "added-dvs"), "1");
  assert_string_equal(world_summary(&w, "removed-dvs"), "1");
  assert_string_equal(world_summary(&w, "added-position-deletes"), "3");
  assert_string_equal(world_summary(&w, "total-position-deletes"), "4");
  assert_string_equal(world_summary(&w, "total-delete-files"), "2");
  world_end(&w);
}

static void test_commit__a_vector_goes_with_its_file_alone(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 5);
  stage_add(s, "b", 5);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_delete(s, "a", 1);
  stage_delete(s, "b", 0);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_remove(s, "a");
  world_commit(&w, s);
  world_shows(&w, "D@10 xa:5 id=0 raw=0 seq=1 =b:5 id=5 raw=5 seq=1\n"
                  "V xv(a):1 seq=2 =v(b):1 seq=2");
  world_end(&w);
}

static void test_commit__versions_1_and_2_have_no_ids(void **state) {
  (void)state;
  for (int version = 1; version <= 2; version++) {
    world w;
    world_begin(&w, version);
    stage *s = world_stage(&w);
    stage_add(s, "a", 5);
    stage_add(s, "b", 5);
    world_commit(&w, s);
    s = world_stage(&w);
    stage_remove(s, "a");
    stage_add(s, "c", 4);
    world_commit(&w, s);
    world_shows(&w, version == 1 ? "D@- +c:4 id=- raw=- seq=0\nD@- xa:5 id=- raw=- seq=0 =b:5 id=- raw=- seq=0"
                                 : "D@- +c:4 id=- raw=- seq=2\nD@- xa:5 id=- raw=- seq=1 =b:5 id=- raw=- seq=1");
    s = world_stage(&w);
    stage_delete(s, "b", 1);
    world_refuses(&w, s, BL_UNSUPPORTED, "copy-on-write");
    world_end(&w);
  }
}

static void test_commit__summaries_tell_counts_and_totals(void **state) {
  (void)state;
  world w;
  world_begin_on(&w, test_ctx(), 3, "p");
  stage *s = world_stage(&w);
  stage_add_in(s, "a", 5, 1);
  stage_add_in(s, "b", 6, 2);
  stage_add_in(s, "c", 7, 2);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_remove(s, "b");
  stage_add_in(s, "d", 4, 3);
  bl_error err = BL_ERROR_INIT;
  const char *mine[] = {"who=me", "why=a=b"};
  test_ok(world_try(&w, s, &(bl_write_options){.summary = mine, .n_summary = 2, .batch_id = "b1"}, &err), &err);
  static const char *const want[][2] = {{"operation", "overwrite"},
                                        {"added-data-files", "1"},
                                        {"deleted-data-files", "1"},
                                        {"added-records", "4"},
                                        {"deleted-records", "6"},
                                        {"added-files-size", "104"},
                                        {"removed-files-size", "106"},
                                        {"total-records", "16"},
                                        {"total-files-size", "316"},
                                        {"total-data-files", "3"},
                                        {"total-delete-files", "0"},
                                        {"total-position-deletes", "0"},
                                        {"total-equality-deletes", "0"},
                                        {"changed-partition-count", "2"},
                                        {"manifests-created", "2"},
                                        {"manifests-kept", "0"},
                                        {"manifests-replaced", "1"},
                                        {"who", "me"},
                                        {"why", "a=b"},
                                        {"bergline.batch-id", "b1"},
                                        {"engine-name", "bergline"},
                                        {"removed-dvs", ""}};
  for (size_t i = 0; i < BL_LEN(want); i++)
    if (strcmp(world_summary(&w, want[i][0]), want[i][1]) != 0)
      fail_msg("%s is %s", want[i][0], world_summary(&w, want[i][0]));
  world_end(&w);
}

static void test_commit__keys_of_the_table_are_not_taken_from_the_caller(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  const char *wrong[] = {"total-records=5", "operation=append", "nothing", "=x", "bergline.source-position={}"};
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    bl_error err = BL_ERROR_INIT;
    stage *s = world_stage(&w);
    stage_add(s, "a", 5);
    test_status(BL_USAGE, world_try(&w, s, &(bl_write_options){.summary = &wrong[i], .n_summary = 1}, &err), &err);
  }
  assert_null(world_head(&w));
  world_end(&w);
}

static void test_commit__a_batch_is_written_once(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  for (int i = 0; i < 2; i++) {
    bl_error err = BL_ERROR_INIT;
    stage *s = world_stage(&w);
    stage_add(s, "a", 5);
    test_ok(world_try(&w, s, &(bl_write_options){.batch_id = "x"}, &err), &err);
    assert_int_equal(w.result.committed, i == 0);
    assert_int_equal(w.result.already_applied, i == 1);
    world_append(&w, i ? "c" : "b", 1);
  }
  assert_int_equal(w.t->metadata->n_snapshots, 3);
  world_end(&w);
}

static void test_commit__nothing_staged_is_nothing_committed(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try(&w, world_stage(&w), NULL, &err), &err);
  assert_false(w.result.committed);
  stage *s = world_stage(&w);
  s->s->even_if_empty = true;
  world_commit(&w, s);
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  assert_int_equal(world_head(&w)->added_rows, 0);
  world_end(&w);
}

static void test_commit__a_batch_that_changes_nothing_is_kept(void **state) {
  (void)state;
  const bl_write_options o = {.batch_id = "x"};
  for (int version = 1; version <= 3; version++) {
    world w;
    world_begin(&w, version);
    for (int i = 0; i < 2; i++) {
      bl_error err = BL_ERROR_INIT;
      test_ok(world_try(&w, world_stage(&w), &o, &err), &err);
      assert_int_equal(w.result.committed, i == 0);
      assert_int_equal(w.result.already_applied, i == 1);
      if (i == 0) {
        world_shows(&w, "");
        assert_string_equal(world_summary(&w, "operation"), "append");
        assert_string_equal(world_summary(&w, "bergline.batch-id"), "x");
      }
      world_append(&w, i ? "b" : "a", 5);
    }
    assert_int_equal(w.t->metadata->n_snapshots, 3);
    const bl_snapshot *s = &w.t->metadata->snapshots[0];
    assert_int_equal(s->has_first_row_id && s->has_added_rows, version == 3);
    if (version == 3) assert_int_equal(s->first_row_id + s->added_rows, 0);
    world_end(&w);
  }
}

static void test_commit__a_dry_run_writes_nothing(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  bl_error err = BL_ERROR_INIT;
  stage *s = world_stage(&w);
  stage_add(s, "a", 5);
  test_ok(world_try(&w, s, &(bl_write_options){.dry_run = true}, &err), &err);
  assert_false(w.result.committed);
  assert_int_equal(w.result.data_files_added, 1);
  assert_int_equal(w.t->version, 1);
  world_end(&w);
}

static void test_commit__goes_to_branches_and_not_to_tags(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  bl_error err = BL_ERROR_INIT;
  stage *s = world_stage(&w);
  stage_add(s, "a", 5);
  test_status(BL_NOT_FOUND, world_try(&w, s, &(bl_write_options){.ref = "b"}, &err), &err);
  test_says(&err, "no such branch");
  world_end(&w);
}

static void test_commit__a_clock_that_lags_a_little_is_no_trouble(void **state) {
  (void)state;
  world w;
  bl_ctx_options o;
  test_heap heap = {0};
  bl_ctx_options_init(&o);
  o.now_ms = world_clock;
  o.user = &w;
  o.threads = 2;
  w.now = 1000000000;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  world_begin_on(&w, ctx, 3, NULL);
  w.now = 1000000000;
  world_append(&w, "a", 1);
  w.now -= 30000;
  world_append(&w, "b", 1);
  assert_int_equal(world_head(&w)->timestamp_ms, 1000000000);
  w.now -= 90000;
  stage *s = world_stage(&w);
  stage_add(s, "c", 1);
  world_refuses(&w, s, BL_IO, "clock");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_commit__gives_ids_to_new_manifests_and_stores_none),
      cmocka_unit_test(test_commit__rewrites_manifests_with_the_ids_that_files_have),
      cmocka_unit_test(test_commit__the_first_one_after_an_upgrade_gives_ids_to_all),
      cmocka_unit_test(test_commit__deletes_are_one_vector_a_file),
      cmocka_unit_test(test_commit__a_vector_goes_with_its_file_alone),
      cmocka_unit_test(test_commit__versions_1_and_2_have_no_ids),
      cmocka_unit_test(test_commit__summaries_tell_counts_and_totals),
      cmocka_unit_test(test_commit__keys_of_the_table_are_not_taken_from_the_caller),
      cmocka_unit_test(test_commit__a_batch_is_written_once),
      cmocka_unit_test(test_commit__nothing_staged_is_nothing_committed),
      cmocka_unit_test(test_commit__a_batch_that_changes_nothing_is_kept),
      cmocka_unit_test(test_commit__a_dry_run_writes_nothing),
      cmocka_unit_test(test_commit__goes_to_branches_and_not_to_tags),
      cmocka_unit_test(test_commit__a_clock_that_lags_a_little_is_no_trouble),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
