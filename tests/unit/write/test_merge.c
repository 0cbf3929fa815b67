/* test_merge.c: small manifests become one, and no row id moves. */
#include "commit_world.h"

static void begin(world *w, int version, const char *min_count) {
  char property[80];
  snprintf(property, sizeof property, "commit.manifest.min-count-to-merge=%s", min_count);
  world_begin(w, version);
  world_set(w, property);
}

static void test_merge__waits_for_enough_manifests(void **state) {
  (void)state;
  world w;
  begin(&w, 3, "3");
  world_append(&w, "a", 10);
  world_append(&w, "b", 10);
  world_shows(&w, "D@10 +b:10 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  world_append(&w, "c", 10);
  world_shows(&w, "D@20 +c:10 id=20 raw=- seq=3 =b:10 id=10 raw=10 seq=2 =a:10 id=0 raw=0 seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 50);
  assert_string_equal(world_summary(&w, "manifests-created"), "1");
  assert_string_equal(world_summary(&w, "manifests-kept"), "0");
  assert_string_equal(world_summary(&w, "manifests-replaced"), "2");
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 3); /* the one of c alone is gone */
  world_append(&w, "d", 10);
  world_shows(&w, "D@50 +d:10 id=50 raw=- seq=4\n"
                  "D@20 +c:10 id=20 raw=- seq=3 =b:10 id=10 raw=10 seq=2 =a:10 id=0 raw=0 seq=1");
  world_end(&w);
}

/* A manifest that the commit itself rewrote is merged in the same commit. */
static void test_merge__keeps_ids_of_files_that_were_rewritten_in_the_same_commit(void **state) {
  (void)state;
  world w;
  begin(&w, 3, "1");
  stage *s = world_stage(&w);
  stage_add(s, "a", 25);
  stage_add(s, "b", 10);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_remove(s, "b");
  stage_add(s, "c", 7);
  world_commit(&w, s);
  world_shows(&w, "D@35 +c:7 id=35 raw=- seq=2 =a:25 id=0 raw=0 seq=1 xb:10 id=25 raw=25 seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 35 + 32);
  s = world_stage(&w);
  s->s->even_if_empty = true;
  world_commit(&w, s);
  world_shows(&w, "D@35 +c:7 id=35 raw=- seq=2 =a:25 id=0 raw=0 seq=1 xb:10 id=25 raw=25 seq=1");
  world_append(&w, "d", 1);
  world_shows(&w, "D@67 +d:1 id=67 raw=- seq=4 =c:7 id=35 raw=35 seq=2 =a:25 id=0 raw=0 seq=1");
  world_end(&w);
}

static void test_merge__entries_name_the_snapshot_that_deleted_them(void **state) {
  (void)state;
  world w;
  begin(&w, 2, "1");
  world_append(&w, "a", 3);
  stage *s = world_stage(&w);
  stage_remove(s, "a");
  stage_add(s, "b", 3);
  world_commit(&w, s);
  bl_arena *a;
  bl_manifest_file *ms;
  bl_manifest_entry *es;
  size_t n, k;
  test_ok(bl_arena_new(w.ctx, &a, &w.err), &w.err);
  test_ok(bl_table_manifests(w.t, world_head(&w), a, &ms, &n, &w.err), &w.err);
  assert_int_equal(n, 1);
  test_ok(bl_table_manifest_entries(w.t, &ms[0], true, a, &es, &k, &w.err), &w.err);
  assert_int_equal(k, 2);
  assert_int_equal(es[1].status, BL_DELETED);
  assert_int_equal(es[1].snapshot_id, world_head(&w)->id);
  assert_int_equal(es[1].file_sequence_number, 1);
  assert_int_equal(ms[0].min_sequence_number, 2);
  bl_arena_free(a);
  world_end(&w);
}

static void test_merge__counts_from_zero_the_numbers_of_old_files(void **state) {
  (void)state;
  world w;
  begin(&w, 1, "1");
  world_append(&w, "a", 3);
  world_append(&w, "b", 3);
  world_shows(&w, "D@- +b:3 id=- raw=- seq=0 =a:3 id=- raw=- seq=0");
  world_end(&w);
}

static bl_status to_version_2(void *user, bl_edit *e, bl_error *err) {
  (void)user;
  BL_TRY(bl_edit_set(e, "format-version", bl_json_new_i64(e->a, 2), err));
  return bl_edit_set(e, "last-sequence-number", bl_json_new_i64(e->a, 0), err);
}

static void test_merge__the_number_0_is_a_number(void **state) {
  (void)state;
  world w;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n;
  begin(&w, 1, "1");
  world_append(&w, "a", 3);
  test_ok(bl_commit_metadata(w.t, "test", to_version_2, NULL, NULL, &w.err), &w.err);
  world_append(&w, "b", 3);
  world_shows(&w, "D@- +b:3 id=- raw=- seq=1 =a:3 id=- raw=- seq=0");
  test_ok(bl_arena_new(w.ctx, &a, &w.err), &w.err);
  test_ok(bl_table_manifests(w.t, world_head(&w), a, &ms, &n, &w.err), &w.err);
  assert_int_equal(ms[0].sequence_number, 1);
  assert_int_equal(ms[0].min_sequence_number, 0);
  bl_arena_free(a);
  world_end(&w);
}

static void test_merge__deletes_are_merged_among_themselves(void **state) {
  (void)state;
  world w;
  begin(&w, 3, "2");
  stage *s = world_stage(&w);
  stage_add(s, "a", 3);
  stage_add(s, "b", 3);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_delete(s, "a", 0);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_delete(s, "b", 0);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:3 id=0 raw=- seq=1 +b:3 id=3 raw=- seq=1\nV +v(b):1 seq=3 =v(a):1 seq=2");
  world_end(&w);
}

static void test_merge__bins_are_as_large_as_the_table_says(void **state) {
  (void)state;
  world w;
  begin(&w, 3, "2");
  world_set(&w, "commit.manifest.target-size-bytes=10");
  for (int i = 0; i < 4; i++) world_append(&w, "f", 1);
  shown t;
  world_text(&w, "main", &t);
  size_t lines = 1;
  for (const char *p = t.text; *p; p++) lines += *p == '\n';
  assert_int_equal(lines, 4);
  world_set(&w, "commit.manifest.target-size-bytes=10000000");
  world_set(&w, "commit.manifest-merge.enabled=false");
  world_append(&w, "g", 1);
  world_text(&w, "main", &t);
  assert_non_null(strchr(t.text, '\n'));
  world_set(&w, "commit.manifest-merge.enabled=true");
  world_append(&w, "h", 1);
  world_text(&w, "main", &t);
  assert_null(strchr(t.text, '\n'));
  world_end(&w);
}

static void test_merge__many_appends_stay_few_manifests(void **state) {
  (void)state;
  world w;
  begin(&w, 3, "10");
  for (int i = 0; i < 45; i++) {
    char name[20];
    snprintf(name, sizeof name, "f%d", i);
    world_append(&w, name, 2);
  }
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n;
  test_ok(bl_arena_new(w.ctx, &a, &w.err), &w.err);
  test_ok(bl_table_manifests(w.t, world_head(&w), a, &ms, &n, &w.err), &w.err);
  assert_true(n <= 10);
  /* Every row has an id of its own. */
  bool seen[10000] = {false};
  size_t rows = 0;
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    test_ok(bl_table_manifest_entries(w.t, &ms[i], true, a, &es, &k, &w.err), &w.err);
    for (size_t j = 0; j < k; j++)
      for (int64_t r = 0; r < es[j].file.record_count; r++, rows++) {
        int64_t id = es[j].file.first_row_id + r;
        assert_true(id >= 0 && id < 10000 && !seen[id]);
        seen[id] = true;
      }
  }
  assert_int_equal(rows, 90);
  bl_arena_free(a);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_merge__waits_for_enough_manifests),
      cmocka_unit_test(test_merge__keeps_ids_of_files_that_were_rewritten_in_the_same_commit),
      cmocka_unit_test(test_merge__entries_name_the_snapshot_that_deleted_them),
      cmocka_unit_test(test_merge__counts_from_zero_the_numbers_of_old_files),
      cmocka_unit_test(test_merge__the_number_0_is_a_number),
      cmocka_unit_test(test_merge__deletes_are_merged_among_themselves),
      cmocka_unit_test(test_merge__bins_are_as_large_as_the_table_says),
      cmocka_unit_test(test_merge__many_appends_stay_few_manifests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
