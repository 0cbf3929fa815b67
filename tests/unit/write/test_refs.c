/* test_refs.c: branches, tags, fast-forward, rollback, cherry-pick, write-audit-publish. */
#include "commit_world.h"

static bl_status make(world *w, const char *name, bool branch, const bl_ref_options *r, bl_error *err) {
  bl_status st = bl_ref_create(w->t, name, branch, r, NULL, err);
  world_reopen(w);
  return st;
}

static void make_branch(world *w, const char *name) {
  bl_error err = BL_ERROR_INIT;
  test_ok(make(w, name, true, NULL, &err), &err);
}

static void refuse(bl_status want, bl_status st, bl_error *err, const char *says) {
  test_status(want, st, err);
  test_says(err, says);
  *err = (bl_error)BL_ERROR_INIT;
}

static void append_on(world *w, const char *ref, const char *name, int64_t rows) {
  stage *s = world_stage_on(w, ref);
  stage_add(s, name, rows);
  world_commit_on(w, s, ref);
}

static void test_refs__branches_have_heads_of_their_own(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  make_branch(&w, "b");
  world_append(&w, "x", 5);
  int64_t main_head = world_head(&w)->id, old = world_head_of(&w, "b")->id;
  append_on(&w, "b", "c", 7);
  world_shows_on(&w, "b", "D@15 +c:7 id=15 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  world_shows(&w, "D@10 +x:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  assert_int_equal(world_head(&w)->id, main_head);
  assert_int_equal(world_head_of(&w, "b")->parent_id, old);
  assert_int_equal(w.t->metadata->current_snapshot_id, main_head);
  /* A file goes on the branch alone; one that only main has cannot. */
  stage *s = world_stage_on(&w, "b");
  stage_remove(s, "a");
  world_commit_on(&w, s, "b");
  world_shows(&w, "D@10 +x:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  s = world_stage_on(&w, "main");
  stage_remove(s, "x");
  bl_error err = BL_ERROR_INIT;
  bl_status st = world_try(&w, s, &(bl_write_options){.ref = "b"}, &err);
  refuse(BL_CONFLICT, st, &err, "no longer in the history of b");
  world_end(&w);
}

static void test_refs__tags_are_not_written_to(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  test_ok(make(&w, "t", false, &(bl_ref_options){.max_ref_age_ms = 1000}, &err), &err);
  stage *s = world_stage(&w);
  stage_add(s, "b", 1);
  refuse(BL_USAGE, world_try(&w, s, &(bl_write_options){.ref = "t"}, &err), &err, "tag");
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 1);
  world_end(&w);
}

static void test_refs__names_and_retention_are_checked(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  refuse(BL_NOT_FOUND, make(&w, "t", false, NULL, &err), &err, "the table has no snapshot");
  world_append(&w, "a", 10);
  refuse(BL_USAGE, make(&w, "", true, NULL, &err), &err, "empty");
  refuse(BL_USAGE, make(&w, "123", true, NULL, &err), &err, "snapshot id");
  refuse(BL_USAGE, make(&w, "id:5", true, NULL, &err), &err, "meaning");
  refuse(BL_USAGE, make(&w, "a\nb", true, NULL, &err), &err, "control");
  refuse(BL_USAGE, make(&w, "main", false, NULL, &err), &err, "main");
  refuse(BL_USAGE, make(&w, "t", false, &(bl_ref_options){.min_snapshots_to_keep = 1}, &err), &err, "branches");
  refuse(BL_USAGE, make(&w, "t", false, &(bl_ref_options){.max_ref_age_ms = -1}, &err), &err, "above 0");
  refuse(BL_NOT_FOUND, make(&w, "t", false, &(bl_ref_options){.at = "nowhere"}, &err), &err, "nowhere");
  world_end(&w);
}

static void test_refs__are_replaced_only_where_it_is_asked_for(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  bl_ref_options keep = {.min_snapshots_to_keep = 5, .max_snapshot_age_ms = 7};
  test_ok(make(&w, "b", true, &keep, &err), &err);
  world_append(&w, "c", 1);
  refuse(BL_CONFLICT, make(&w, "b", true, NULL, &err), &err, "exists");
  refuse(BL_USAGE, make(&w, "b", false, &(bl_ref_options){.replace = true}, &err), &err, "branch");
  /* its retention alone, then its place alone */
  test_ok(make(&w, "b", true, &(bl_ref_options){.replace = true, .max_ref_age_ms = 9}, &err), &err);
  const bl_ref *r = bl_metadata_ref(w.t->metadata, BL_STR("b"));
  assert_int_equal(r->snapshot_id, world_head(&w)->parent_id);
  assert_true(r->has_min_snapshots && r->min_snapshots_to_keep == 5 && r->max_ref_age_ms == 9);
  test_ok(make(&w, "b", true, &(bl_ref_options){.replace = true, .at = "main"}, &err), &err);
  r = bl_metadata_ref(w.t->metadata, BL_STR("b"));
  assert_int_equal(r->snapshot_id, world_head(&w)->id);
  assert_int_equal(r->max_snapshot_age_ms, 7);
  refuse(BL_USAGE, bl_ref_drop(w.t, "b", false, NULL, &err), &err, "branch");
  refuse(BL_NOT_FOUND, bl_ref_drop(w.t, "x", true, NULL, &err), &err, "x");
  refuse(BL_USAGE, bl_ref_drop(w.t, "main", true, NULL, &err), &err, "main");
  test_ok(bl_ref_drop(w.t, "b", true, NULL, &err), &err);
  world_reopen(&w);
  assert_null(bl_metadata_ref(w.t->metadata, BL_STR("b")));
  world_end(&w);
}

/* ---- moving ---- */

static void test_refs__fast_forward_keeps_ids(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  make_branch(&w, "b");
  append_on(&w, "b", "c", 5);
  test_ok(bl_fast_forward(w.t, "main", "b", NULL, &w.result, &err), &err);
  assert_true(w.result.committed);
  world_reopen(&w);
  world_shows(&w, "D@10 +c:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  assert_int_equal(w.t->metadata->n_snapshot_log, 2);
  test_ok(bl_fast_forward(w.t, "main", "b", NULL, &w.result, &err), &err);
  assert_false(w.result.committed);
  world_append(&w, "d", 1);
  append_on(&w, "b", "e", 1);
  refuse(BL_USAGE, bl_fast_forward(w.t, "main", "b", NULL, &w.result, &err), &err, "no ancestor");
  refuse(BL_NOT_FOUND, bl_fast_forward(w.t, "main", "x", NULL, &w.result, &err), &err, "x");
  world_end(&w);
}

static void test_refs__fast_forward_makes_a_branch_that_is_not_there(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  refuse(BL_NOT_FOUND, bl_fast_forward(w.t, "b", "main", NULL, &w.result, &err), &err, "no snapshot yet");
  world_append(&w, "a", 10);
  int64_t head = w.t->metadata->current_snapshot_id;
  test_ok(bl_fast_forward(w.t, "b", "main", &(bl_write_options){.dry_run = true}, &w.result, &err), &err);
  assert_false(w.result.committed);
  world_reopen(&w);
  assert_null(bl_metadata_ref(w.t->metadata, BL_STR("b")));
  test_ok(bl_fast_forward(w.t, "b", "main", NULL, &w.result, &err), &err);
  assert_true(w.result.committed);
  assert_int_equal(w.result.snapshot_id, head);
  world_reopen(&w);
  const bl_ref *b = bl_metadata_ref(w.t->metadata, BL_STR("b"));
  assert_non_null(b);
  assert_true(b->is_branch);
  assert_int_equal(b->snapshot_id, head);
  append_on(&w, "b", "c", 5);
  refuse(BL_NOT_FOUND, bl_fast_forward(w.t, "c", "nowhere", NULL, &w.result, &err), &err, "nowhere");
  refuse(BL_USAGE, bl_fast_forward(w.t, "17", "main", NULL, &w.result, &err), &err, "wrong name of a ref");
  test_ok(make(&w, "t", false, NULL, &err), &err);
  world_reopen(&w);
  refuse(BL_USAGE, bl_fast_forward(w.t, "t", "main", NULL, &w.result, &err), &err, "t is a tag");
  world_end(&w);
}

static void test_refs__rollback_gives_no_id_again(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  char first[32];
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  snprintf(first, sizeof first, "%lld", (long long)world_head(&w)->id);
  world_append(&w, "b", 10);
  test_ok(bl_rollback(w.t, first, NULL, &w.result, &err), &err);
  world_reopen(&w);
  assert_int_equal(w.t->metadata->next_row_id, 20);
  world_append(&w, "c", 2);
  world_shows(&w, "D@20 +c:2 id=20 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  char gone[32];
  snprintf(gone, sizeof gone, "%lld", (long long)w.t->metadata->snapshots[1].id);
  refuse(BL_USAGE, bl_rollback(w.t, gone, NULL, &w.result, &err), &err, "no ancestor");
  world_end(&w);
}

static void id_of_head(world *w, const char *ref, char out[32]) {
  snprintf(out, 32, "%lld", (long long)world_head_of(w, ref)->id);
}

static void pick(world *w, const char *snapshot) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_cherry_pick(w->t, snapshot, NULL, &w->result, &err), &err);
  world_reopen(w);
}

static void test_refs__picked_files_get_new_ids(void **state) {
  (void)state;
  world w;
  char id[32];
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  make_branch(&w, "b");
  append_on(&w, "b", "c", 5);
  world_append(&w, "d", 1);
  id_of_head(&w, "b", id);
  pick(&w, id);
  assert_true(w.result.committed);
  world_shows(&w, "D@16 +c:5 id=16 raw=- seq=4\nD@15 +d:1 id=15 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  world_shows_on(&w, "b", "D@10 +c:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  assert_string_equal(world_summary(&w, "source-snapshot-id"), id);
  pick(&w, id);
  assert_true(w.result.already_applied);
  assert_int_equal(w.t->metadata->n_snapshots, 4);
  world_end(&w);
}

static void test_refs__a_child_of_the_head_is_moved_to(void **state) {
  (void)state;
  world w;
  char id[32];
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  make_branch(&w, "b");
  append_on(&w, "b", "c", 5);
  id_of_head(&w, "b", id);
  pick(&w, id);
  assert_int_equal(world_head(&w)->id, world_head_of(&w, "b")->id);
  world_shows(&w, "D@10 +c:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

static void test_refs__deletes_and_updates_are_not_picked(void **state) {
  (void)state;
  world w;
  char id[32];
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  make_branch(&w, "b");
  world_append(&w, "d", 1);
  stage *s = world_stage_on(&w, "b");
  stage_delete(s, "a", 1);
  world_commit_on(&w, s, "b");
  id_of_head(&w, "b", id);
  refuse(BL_USAGE, bl_cherry_pick(w.t, id, NULL, &w.result, &err), &err, "neither an append");
  s = world_stage_on(&w, "b");
  stage_add(s, "c", 3);
  stage_remove(s, "a");
  world_commit_on(&w, s, "b");
  id_of_head(&w, "b", id);
  refuse(BL_USAGE, bl_cherry_pick(w.t, id, NULL, &w.result, &err), &err, "neither an append");
  world_end(&w);
}

static void test_refs__dynamic_overwrites_are_picked_while_their_partitions_are_the_same(void **state) {
  (void)state;
  world w;
  char id[32];
  bl_error err = BL_ERROR_INIT;
  world_begin_on(&w, test_ctx(), 3, "p");
  stage *s = world_stage(&w);
  stage_add_in(s, "a", 10, 1);
  world_commit(&w, s);
  make_branch(&w, "b");
  s = world_stage_on(&w, "b");
  s->s->replaces_partitions = true;
  stage_remove(s, "a");
  stage_add_in(s, "c", 3, 1);
  world_commit_on(&w, s, "b");
  id_of_head(&w, "b", id);
  s = world_stage(&w);
  stage_add_in(s, "d", 1, 2);
  world_commit(&w, s);
  make_branch(&w, "other");
  pick(&w, id);
  world_shows(&w, "D@14 +c:3 id=14 raw=- seq=4\nD@13 +d:1 id=13 raw=- seq=3\nD@17 xa:10 id=0 raw=0 seq=1");
  s = world_stage_on(&w, "other");
  stage_add_in(s, "e", 1, 1);
  world_commit_on(&w, s, "other");
  bl_status st = bl_cherry_pick(w.t, id, &(bl_write_options){.ref = "other"}, &w.result, &err);
  refuse(BL_CONFLICT, st, &err, "e.parquet");
  world_end(&w);
}

static void test_refs__staged_snapshots_are_published_once(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  int64_t head = world_head(&w)->id;
  stage *s = world_stage(&w);
  stage_add(s, "b", 5);
  test_ok(world_try(&w, s, &(bl_write_options){.wap_id = "w1"}, &err), &err);
  assert_true(w.result.committed);
  assert_int_equal(world_head(&w)->id, head);
  assert_int_equal(w.t->metadata->n_snapshots, 2);
  assert_int_equal(w.t->metadata->next_row_id, 15);
  world_append(&w, "c", 1);
  refuse(BL_NOT_FOUND, bl_cherry_pick(w.t, "wap:w2", NULL, &w.result, &err), &err, "w2");
  test_ok(bl_ref_create(w.t, "audit", false, &(bl_ref_options){.at = "wap:w1"}, NULL, &err), &err);
  pick(&w, "wap:w1");
  world_shows(&w, "D@16 +b:5 id=16 raw=- seq=4\nD@15 +c:1 id=15 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  assert_string_equal(world_summary(&w, "published-wap-id"), "w1");
  pick(&w, "wap:w1");
  assert_true(w.result.already_applied);
  world_end(&w);
}

static const char no_stage[] = "it cannot be staged, or keep a WAP id";

static void refuse_to_stage(world *w, const bl_write_options *o) {
  bl_error err = BL_ERROR_INIT;
  const char *const pair[] = {"a=b"}, *const words[] = {"add", "x", "int"};
  refuse(BL_USAGE, bl_rollback(w->t, "seq:1", o, &w->result, &err), &err, no_stage);
  refuse(BL_USAGE, bl_fast_forward(w->t, "main", "main", o, &w->result, &err), &err, no_stage);
  refuse(BL_USAGE, bl_cherry_pick(w->t, "seq:1", o, &w->result, &err), &err, no_stage);
  refuse(BL_USAGE, bl_ref_create(w->t, "b", true, NULL, o, &err), &err, no_stage);
  refuse(BL_USAGE, bl_ref_drop(w->t, "t", false, o, &err), &err, no_stage);
  refuse(BL_USAGE, bl_set_properties(w->t, pair, 1, NULL, 0, o, &err), &err, no_stage);
  refuse(BL_USAGE, bl_alter(w->t, words, 3, o, &err), &err, no_stage);
  refuse(BL_USAGE, bl_relocate(w->t, "/elsewhere", o, &err), &err, no_stage);
}

static void test_refs__what_makes_no_snapshot_cannot_be_staged(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  char *descriptor = NULL;
  const bl_write_options asked[] = {{.wap_id = "w"}, {.stage = &descriptor}};
  world_begin(&w, 3);
  for (size_t i = 0; i < BL_LEN(asked); i++)
    refuse(BL_USAGE, bl_ref_create(w.t, "b", true, NULL, &asked[i], &err), &err, no_stage);
  world_append(&w, "a", 1);
  world_append(&w, "b", 1);
  test_ok(make(&w, "t", false, NULL, &err), &err);
  int64_t head = world_head(&w)->id;
  for (size_t i = 0; i < BL_LEN(asked); i++) refuse_to_stage(&w, &asked[i]);
  world_reopen(&w);
  assert_int_equal(world_head(&w)->id, head);
  assert_int_equal(w.t->metadata->n_refs, 2);
  world_end(&w);
}

static void stage_wap(world *w, const char *name, int64_t rows, const char *wap, const char *batch) {
  bl_error err = BL_ERROR_INIT;
  stage *s = world_stage(w);
  stage_add(s, name, rows);
  test_ok(world_try(w, s, &(bl_write_options){.wap_id = wap, .batch_id = batch}, &err), &err);
}

static int64_t newest(const world *w) {
  return w->t->metadata->snapshots[w->t->metadata->n_snapshots - 1].id;
}

static bl_status pick_id(world *w, int64_t id, bl_error *err) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)id);
  w->result = (bl_write_result){0};
  return bl_cherry_pick(w->t, text, NULL, &w->result, err);
}

static void test_refs__a_wap_id_that_was_moved_to_is_published(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  stage_wap(&w, "b", 5, "w1", NULL);
  int64_t first = newest(&w);
  stage_wap(&w, "b2", 5, "w1", NULL);
  int64_t second = newest(&w);
  test_ok(pick_id(&w, first, &err), &err);
  world_reopen(&w);
  assert_int_equal(world_head(&w)->id, first);
  test_ok(pick_id(&w, second, &err), &err);
  assert_true(w.result.already_applied);
  world_reopen(&w);
  assert_int_equal(world_head(&w)->id, first);
  world_end(&w);
}

static void test_refs__a_batch_that_was_picked_is_not_written_again(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  stage_wap(&w, "b", 5, "w1", "day-7");
  world_append(&w, "c", 1);
  pick(&w, "wap:w1");
  assert_string_equal(world_summary(&w, "bergline.batch-id"), "day-7");
  stage *s = world_stage(&w);
  stage_add(s, "b2", 5);
  test_ok(world_try(&w, s, &(bl_write_options){.batch_id = "day-7"}, &err), &err);
  assert_true(w.result.already_applied);
  assert_int_equal(w.t->metadata->n_snapshots, 4);
  world_end(&w);
}

static void test_refs__a_batch_that_changes_nothing_is_picked(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  test_ok(world_try(&w, world_stage(&w), &(bl_write_options){.batch_id = "day-7", .wap_id = "w1"}, &err), &err);
  assert_true(w.result.committed);
  world_append(&w, "c", 1);
  pick(&w, "wap:w1");
  assert_true(w.result.committed);
  assert_string_equal(world_summary(&w, "bergline.batch-id"), "day-7");
  assert_string_equal(world_summary(&w, "published-wap-id"), "w1");
  world_shows(&w, "D@10 +c:1 id=10 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  pick(&w, "wap:w1");
  assert_true(w.result.already_applied);
  world_end(&w);
}

static void test_refs__main_without_a_snapshot_is_moved_to_any(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  stage_wap(&w, "b", 5, "w1", NULL);
  assert_null(world_head(&w));
  test_ok(make(&w, "audit", true, &(bl_ref_options){.at = "wap:w1"}, &err), &err);
  test_ok(bl_fast_forward(w.t, "main", "audit", NULL, &w.result, &err), &err);
  assert_true(w.result.committed);
  world_reopen(&w);
  world_shows(&w, "D@0 +b:5 id=0 raw=- seq=1");
  refuse(BL_NOT_FOUND, bl_fast_forward(w.t, "main", "other", NULL, &w.result, &err), &err, "other");
  world_end(&w);
}

/* ---- branches of tables whose main has no snapshot ---- */

static void main_is_empty(const world *w) {
  assert_false(w->t->metadata->has_current);
  assert_null(bl_metadata_ref(w->t->metadata, BL_STR("main")));
  assert_int_equal(w->t->metadata->n_snapshot_log, 0);
}

static void test_refs__a_branch_of_an_empty_table_begins_with_an_empty_append(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    world w;
    bl_error err = BL_ERROR_INIT;
    bl_ref_options keep = {.min_snapshots_to_keep = 5, .max_snapshot_age_ms = 7, .max_ref_age_ms = 9};
    world_begin(&w, version);
    test_ok(make(&w, "b", true, &keep, &err), &err);
    main_is_empty(&w);
    const bl_ref *r = bl_metadata_ref(w.t->metadata, BL_STR("b"));
    assert_true(r->is_branch && r->min_snapshots_to_keep == 5 && r->max_snapshot_age_ms == 7 && r->max_ref_age_ms == 9);
    const bl_snapshot *s = world_head_of(&w, "b");
    assert_false(s->has_parent);
    assert_true(bl_str_is(bl_snapshot_operation(s), "append"));
    assert_true(bl_pairs_is(&s->summary, "total-records", BL_STR("0")));
    assert_int_equal(s->sequence_number, version > 1);
    assert_int_equal(s->has_first_row_id && s->has_added_rows, version > 2);
    assert_int_equal(s->first_row_id + s->added_rows + w.t->metadata->next_row_id, 0);
    world_shows_on(&w, "b", "");
    assert_int_equal(world_count_files(&w, "metadata", "-m"), 0);
    assert_int_equal(world_count_files(&w, "metadata", "snap-"), 1);
    /* Another has one of its own; a third goes on from the first, where that is asked for. */
    make_branch(&w, "c");
    test_ok(make(&w, "d", true, &(bl_ref_options){.at = "b"}, &err), &err);
    assert_int_equal(w.t->metadata->n_snapshots, 2);
    assert_int_not_equal(world_head_of(&w, "c")->id, world_head_of(&w, "b")->id);
    assert_int_equal(world_head_of(&w, "d")->id, world_head_of(&w, "b")->id);
    main_is_empty(&w);
    world_end(&w);
  }
}

static void test_refs__where_main_is_empty_its_head_cannot_be_named(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  const bl_ref_options at = {.at = "main"};
  const bl_write_options dry = {.dry_run = true};
  world_begin(&w, 3);
  refuse(BL_NOT_FOUND, make(&w, "b", true, &at, &err), &err, "the table has no snapshot");
  refuse(BL_USAGE, make(&w, "5", true, NULL, &err), &err, "snapshot id");
  test_ok(bl_ref_create(w.t, "b", true, NULL, &dry, &err), &err);
  world_reopen(&w);
  assert_int_equal(w.t->metadata->n_refs, 0);
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 0);
  make_branch(&w, "b");
  refuse(BL_CONFLICT, make(&w, "b", true, NULL, &err), &err, "exists");
  refuse(BL_NOT_FOUND, make(&w, "t", false, NULL, &err), &err, "main has no snapshot");
  refuse(BL_NOT_FOUND, make(&w, "c", true, &at, &err), &err, "main has no snapshot");
  refuse(BL_NOT_FOUND, bl_fast_forward(w.t, "b", "main", NULL, &w.result, &err), &err, "main has no snapshot");
  refuse(BL_NOT_FOUND, bl_rollback(w.t, "b", NULL, &w.result, &err), &err, "main has no snapshot");
  world_end(&w);
}

static void test_refs__main_begins_like_any_branch(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  make_branch(&w, "main");
  assert_true(w.t->metadata->has_current);
  assert_int_equal(w.t->metadata->n_snapshot_log, 1);
  world_shows(&w, "");
  make_branch(&w, "b");
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  world_end(&w);
}

/* main is empty, the branch b has a file. */
static void begin_on_branch(world *w) {
  world_begin(w, 3);
  make_branch(w, "b");
  append_on(w, "b", "a", 10);
}

static void test_refs__an_empty_main_follows_a_branch_that_was_written_to(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  begin_on_branch(&w);
  stage *s = world_stage_on(&w, "b");
  stage_delete(s, "a", 3);
  world_commit_on(&w, s, "b");
  main_is_empty(&w);
  world_shows(&w, "");
  const char *rows = "D@0 +a:10 id=0 raw=- seq=2\nV +v(a):1 seq=3";
  world_shows_on(&w, "b", rows);
  test_ok(bl_fast_forward(w.t, "main", "b", NULL, &w.result, &err), &err);
  assert_true(w.result.committed);
  world_reopen(&w);
  world_shows(&w, rows);
  assert_int_equal(w.t->metadata->current_snapshot_id, world_head_of(&w, "b")->id);
  assert_int_equal(w.t->metadata->n_snapshot_log, 1); /* what main was, not what the branch was before */
  assert_int_equal(w.t->metadata->snapshot_log[0].snapshot_id, world_head(&w)->id);
  test_ok(bl_rollback(w.t, "seq:1", NULL, &w.result, &err), &err);
  world_reopen(&w);
  world_shows(&w, "");
  assert_int_equal(w.t->metadata->next_row_id, 10);
  world_end(&w);
}

static void test_refs__main_and_a_branch_that_began_apart_give_out_ids_of_one_count(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  char id[32];
  begin_on_branch(&w);
  world_append(&w, "m", 4);
  world_shows(&w, "D@10 +m:4 id=10 raw=- seq=3");
  assert_false(world_head(&w)->has_parent);
  refuse(BL_USAGE, bl_fast_forward(w.t, "main", "b", NULL, &w.result, &err), &err, "no ancestor");
  id_of_head(&w, "b", id);
  pick(&w, id);
  world_shows(&w, "D@14 +a:10 id=14 raw=- seq=4\nD@10 +m:4 id=10 raw=- seq=3");
  world_end(&w);
}

static void test_refs__what_a_branch_got_is_picked_to_an_empty_main(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  char id[32];
  begin_on_branch(&w);
  stage *s = world_stage_on(&w, "b");
  stage_add(s, "c", 5);
  test_ok(world_try(&w, s, &(bl_write_options){.ref = "b", .wap_id = "w1"}, &err), &err);
  world_shows_on(&w, "b", "D@0 +a:10 id=0 raw=- seq=2");
  main_is_empty(&w);
  pick(&w, "wap:w1"); /* it does not descend from main: its file is added again */
  world_shows(&w, "D@15 +c:5 id=15 raw=- seq=4");
  test_ok(bl_cherry_pick(w.t, "wap:w1", &(bl_write_options){.ref = "b"}, &w.result, &err), &err);
  world_reopen(&w);
  world_shows_on(&w, "b", "D@10 +c:5 id=10 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=2");
  id_of_head(&w, "b", id);
  pick(&w, id);
  assert_true(w.result.already_applied);
  world_end(&w);
}

static void test_refs__a_batch_is_staged_once(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  stage_wap(&w, "b", 5, "w1", "day-7");
  assert_true(w.result.committed);
  stage_wap(&w, "b2", 5, "w1", "day-7");
  assert_true(w.result.already_applied);
  stage_wap(&w, "c", 5, "w2", "day-7");
  assert_true(w.result.committed);
  assert_int_equal(w.t->metadata->n_snapshots, 3);
  world_end(&w);
}

/* Another who does something once, just before a commit takes the lock. */
typedef struct rival {
  world *w;
  int64_t id;
  bool done;
  void (*act)(struct rival *r);
} rival;

static bl_status before_lock(void *user, long call, const char *operation, const char *path, bl_error *err) {
  rival *r = user;
  (void)call, (void)path, (void)err;
  if (r->done || strcmp(operation, "lock") != 0) return BL_OK;
  r->done = true;
  r->act(r);
  return BL_OK;
}

static bl_table *open_anew(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_ok(bl_table_open(w->ctx, w->table, &w->options, &t, &err), &err);
  return t;
}

static void pick_too(rival *r) {
  bl_error err = BL_ERROR_INIT;
  bl_write_result result;
  bl_table *t = open_anew(r->w);
  test_ok(bl_cherry_pick(t, "wap:w1", NULL, &result, &err), &err);
  assert_true(result.committed);
  bl_table_free(t);
}

static bl_status forget(void *user, bl_edit *e, bl_error *err) {
  const rival *r = user;
  bl_json *list = bl_edit_list(e, "snapshots");
  for (bl_json *v = list->first; v; v = v->next) {
    int64_t id;
    if (bl_json_get_i64(v, "snapshot-id", &id, err) != BL_OK || id != r->id) continue;
    bl_json_remove_child(list, v);
    break;
  }
  return BL_OK;
}

static void expire(rival *r) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t = open_anew(r->w);
  test_ok(bl_commit_metadata(t, "test", forget, r, NULL, &err), &err);
  bl_table_free(t);
}

static bl_status race(world *w, void (*act)(rival *r), bl_error *err) {
  world_begin(w, 3);
  world_append(w, "a", 10);
  stage_wap(w, "b", 5, "w1", NULL);
  rival r = {.w = w, .id = newest(w), .act = act};
  world_append(w, "c", 1);
  w->io.hook = before_lock;
  w->io.user = &r;
  bl_status st = bl_cherry_pick(w->t, "wap:w1", NULL, &w->result, err);
  w->io.hook = NULL;
  world_reopen(w);
  return st;
}

static void test_refs__two_who_pick_one_snapshot_publish_it_once(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  test_ok(race(&w, pick_too, &err), &err);
  assert_true(w.result.already_applied);
  assert_false(w.result.committed);
  world_shows(&w, "D@16 +b:5 id=16 raw=- seq=4\nD@15 +c:1 id=15 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

static void test_refs__a_snapshot_that_expires_meanwhile_is_not_picked(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  refuse(BL_CONFLICT, race(&w, expire, &err), &err, "expired meanwhile");
  world_shows(&w, "D@15 +c:1 id=15 raw=- seq=3\nD@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

static void make_it_too(rival *r) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t = open_anew(r->w);
  test_ok(bl_ref_create(t, "b", true, NULL, NULL, &err), &err);
  bl_table_free(t);
}

static void append_to_main(rival *r) {
  bl_error err = BL_ERROR_INIT;
  stage *s = world_stage(r->w);
  stage_add(s, "a", 10);
  test_ok(bl_commit_change(s->t, s->s, NULL, &r->w->result, &err), &err);
  stage_free(s);
}

static bl_status begin_racing(world *w, void (*act)(rival *r), bl_error *err) {
  world_begin(w, 3);
  rival r = {.w = w, .act = act};
  w->io.hook = before_lock;
  w->io.user = &r;
  bl_status st = bl_ref_create(w->t, "b", true, NULL, NULL, err);
  w->io.hook = NULL;
  world_reopen(w);
  return st;
}

static void test_refs__of_two_who_begin_one_branch_the_second_is_told(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  refuse(BL_CONFLICT, begin_racing(&w, make_it_too, &err), &err, "the ref exists: b");
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 1);
  world_end(&w);
}

static void test_refs__a_branch_goes_on_from_a_main_that_began_meanwhile(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  test_ok(begin_racing(&w, append_to_main, &err), &err);
  world_shows_on(&w, "b", "D@0 +a:10 id=0 raw=- seq=1");
  assert_int_equal(world_head_of(&w, "b")->parent_id, world_head(&w)->id);
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 2);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refs__branches_have_heads_of_their_own),
      cmocka_unit_test(test_refs__tags_are_not_written_to),
      cmocka_unit_test(test_refs__names_and_retention_are_checked),
      cmocka_unit_test(test_refs__are_replaced_only_where_it_is_asked_for),
      cmocka_unit_test(test_refs__fast_forward_keeps_ids),
      cmocka_unit_test(test_refs__fast_forward_makes_a_branch_that_is_not_there),
      cmocka_unit_test(test_refs__rollback_gives_no_id_again),
      cmocka_unit_test(test_refs__picked_files_get_new_ids),
      cmocka_unit_test(test_refs__a_child_of_the_head_is_moved_to),
      cmocka_unit_test(test_refs__deletes_and_updates_are_not_picked),
      cmocka_unit_test(test_refs__dynamic_overwrites_are_picked_while_their_partitions_are_the_same),
      cmocka_unit_test(test_refs__staged_snapshots_are_published_once),
      cmocka_unit_test(test_refs__what_makes_no_snapshot_cannot_be_staged),
      cmocka_unit_test(test_refs__a_wap_id_that_was_moved_to_is_published),
      cmocka_unit_test(test_refs__a_batch_that_was_picked_is_not_written_again),
      cmocka_unit_test(test_refs__a_batch_that_changes_nothing_is_picked),
      cmocka_unit_test(test_refs__main_without_a_snapshot_is_moved_to_any),
      cmocka_unit_test(test_refs__a_branch_of_an_empty_table_begins_with_an_empty_append),
      cmocka_unit_test(test_refs__where_main_is_empty_its_head_cannot_be_named),
      cmocka_unit_test(test_refs__main_begins_like_any_branch),
      cmocka_unit_test(test_refs__an_empty_main_follows_a_branch_that_was_written_to),
      cmocka_unit_test(test_refs__main_and_a_branch_that_began_apart_give_out_ids_of_one_count),
      cmocka_unit_test(test_refs__what_a_branch_got_is_picked_to_an_empty_main),
      cmocka_unit_test(test_refs__of_two_who_begin_one_branch_the_second_is_told),
      cmocka_unit_test(test_refs__a_branch_goes_on_from_a_main_that_began_meanwhile),
      cmocka_unit_test(test_refs__a_batch_is_staged_once),
      cmocka_unit_test(test_refs__two_who_pick_one_snapshot_publish_it_once),
      cmocka_unit_test(test_refs__a_snapshot_that_expires_meanwhile_is_not_picked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
