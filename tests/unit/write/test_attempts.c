/* test_attempts.c: lost races, unclear outcomes, and what is left of attempts. */
#include "commit_world.h"
#include "support/tree.h"

/* Others who commit just before a commit takes the lock, `left` times. */
typedef struct rivals {
  world *w;
  int left, done;
  bool busy;
  void (*act)(world *w, int i);
} rivals;

static void append_rival(world *w, int i) {
  char name[20];
  snprintf(name, sizeof name, "rival%d", i);
  stage *s = world_stage(w);
  stage_add(s, name, 4);
  bl_error err = BL_ERROR_INIT;
  bl_write_result r = {0};
  test_ok(bl_commit_change(s->t, s->s, NULL, &r, &err), &err);
  stage_free(s);
}

static bl_status before_lock(void *user, long call, const char *operation, const char *path, bl_error *err) {
  rivals *r = user;
  (void)call, (void)path, (void)err;
  if (r->busy || r->left == 0 || strcmp(operation, "lock") != 0) return BL_OK;
  r->busy = true;
  r->left--;
  r->act(r->w, r->done++);
  r->busy = false;
  return BL_OK;
}

static void set_rivals(world *w, rivals *r, int n, void (*act)(world *, int)) {
  *r = (rivals){.w = w, .left = n, .act = act};
  w->io.hook = before_lock;
  w->io.user = r;
}

static void test_attempts__each_takes_ids_from_the_newest_metadata(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  set_rivals(&w, &r, 2, append_rival);
  world_commit(&w, s);
  assert_int_equal(w.result.attempts, 3);
  world_shows(&w, "D@8 +a:10 id=8 raw=- seq=3\nD@4 +rival1:4 id=4 raw=- seq=2\nD@0 +rival0:4 id=0 raw=- seq=1");
  assert_int_equal(w.t->metadata->next_row_id, 18);
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 3);    /* one manifest each, written once */
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 3); /* lists of lost attempts are gone */
  assert_int_equal(world_count_files(&w, "metadata", "tmp"), 0);
  world_end(&w);
}

static void test_attempts__end_when_the_retries_are_used_up(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  world_set(&w, "commit.retry.num-retries=2");
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  set_rivals(&w, &r, 100, append_rival);
  world_refuses(&w, s, BL_CONFLICT, "after 3 attempts");
  w.io.hook = NULL;
  assert_int_equal(w.t->metadata->n_snapshots, 3);
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 3);
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 3);
  world_end(&w);
}

static void delete_rival(world *w, int i) {
  stage *s = world_stage(w);
  stage_delete(s, "a", i);
  bl_error err = BL_ERROR_INIT;
  bl_write_result r = {0};
  test_ok(bl_commit_change(s->t, s->s, NULL, &r, &err), &err);
  stage_free(s);
}

static void test_attempts__make_vectors_anew_where_others_deleted_from_the_file(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 7);
  set_rivals(&w, &r, 2, delete_rival);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1\nV +v(a):3 seq=4\nV xv(a):2 seq=3");
  assert_int_equal(world_count_files(&w, "data", ".puffin"), 3); /* those of lost attempts are gone */
  world_end(&w);
}

static void test_attempts__use_their_vectors_again_where_nothing_changed_for_them(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 7);
  set_rivals(&w, &r, 2, append_rival);
  w.io.calls = 0;
  world_commit(&w, s);
  world_shows(&w, "D@14 +rival1:4 id=14 raw=- seq=3\nD@10 +rival0:4 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1\n"
                  "V +v(a):1 seq=4");
  assert_int_equal(world_count_files(&w, "data", ".puffin"), 1);
  world_end(&w);
}

static void test_attempts__rewritten_manifests_are_written_once(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  stage_add(s, "b", 10);
  world_commit(&w, s);
  s = world_stage(&w);
  stage_remove(s, "a");
  set_rivals(&w, &r, 1, append_rival);
  world_commit(&w, s);
  world_shows(&w, "D@20 +rival0:4 id=20 raw=- seq=2\nD@24 xa:10 id=0 raw=0 seq=1 =b:10 id=10 raw=10 seq=1");
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 3);
  world_end(&w);
}

/* ---- unclear outcomes ---- */

static void test_attempts__a_commit_that_is_reported_as_failed_but_done_is_done(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  w.io.lie = BL_UNKNOWN;
  w.io.lie_about = "v3.metadata.json";
  world_set(&w, "x=y");
  w.io.lie_about = "v4.metadata.json";
  world_commit(&w, s);
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

/* The folder of the new version cannot be synced, at once or later. */
static bl_status disk_goes_bad(void *user, long call, const char *operation, const char *path, bl_error *err) {
  (void)user, (void)call;
  if (strcmp(operation, "sync") != 0 || !strstr(path, "v3.metadata.json")) return BL_OK;
  return bl_fail(err, BL_IO, "%s: bad disk", path);
}

static void test_attempts__a_version_that_may_not_last_is_told(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_set(&w, "x=y");
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  w.io.lie = BL_UNKNOWN;
  w.io.lie_about = "v3.metadata.json";
  w.io.hook = disk_goes_bad;
  test_status(BL_UNKNOWN, world_try(&w, s, NULL, &err), &err);
  test_says(&err, "may not outlast a power cut");
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1"); /* nothing of it was removed */
  world_end(&w);
}

typedef struct dead_line {
  world *w;
  bool dead;
} dead_line;

/* From the moment that the new version was to be published on, nothing answers any more. */
static bl_status line_goes_dead(void *user, long call, const char *operation, const char *path, bl_error *err) {
  dead_line *d = user;
  (void)call;
  if (strcmp(operation, "finish") == 0 && strstr(path, ".metadata.json")) {
    d->dead = true;
    return bl_fail(err, BL_UNKNOWN, "%s: no answer", path);
  }
  return d->dead && strcmp(operation, "list") != 0 ? bl_fail(err, BL_IO, "%s: no answer", path) : BL_OK;
}

static void test_attempts__a_commit_that_is_reported_as_lost_but_done_is_done(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  w.io.lie = BL_CONFLICT;
  w.io.lie_about = "v2.metadata.json";
  world_commit(&w, s);
  w.io.lie = BL_OK;
  assert_int_equal(w.result.snapshot_id, world_head(&w)->id);
  assert_int_equal(w.result.rows_assigned, 10);
  assert_int_equal(w.result.data_files_added, 1);
  assert_int_equal(w.t->metadata->n_snapshots, 1);
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 1);
  world_append(&w, "b", 1);
  world_end(&w);
}

static void test_attempts__the_last_try_that_is_reported_as_lost_but_done_is_done(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_set(&w, "commit.retry.num-retries=0");
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  w.io.lie = BL_CONFLICT;
  w.io.lie_about = "v3.metadata.json";
  world_commit(&w, s);
  assert_int_equal(w.result.snapshot_id, world_head(&w)->id);
  w.io.lie_about = "v4.metadata.json";
  test_ok(bl_relocate(w.t, "/elsewhere/t", NULL, &err), &err);
  w.io.lie = BL_OK;
  world_reopen(&w);
  assert_string_equal(w.t->metadata->location.p, "/elsewhere/t");
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

static void test_attempts__a_relocation_that_is_reported_as_lost_keeps_its_files(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  w.io.lie = BL_CONFLICT;
  w.io.lie_about = "v3.metadata.json";
  test_ok(bl_relocate(w.t, "/elsewhere/t", NULL, &err), &err);
  w.io.lie = BL_OK;
  world_reopen(&w);
  assert_string_equal(w.t->metadata->location.p, "/elsewhere/t");
  world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

/* Each would fail where it is done twice, or has another answer then. */
static bl_status change_metadata(world *w, int i, bl_error *err) {
  static const char *const add[] = {"add", "c", "string"}, *const rename[] = {"rename", "c", "d"};
  static const char *const drop[] = {"drop", "d"}, *const set[] = {"x=y"};
  const bl_ref_options first = {.at = "seq:1"};
  bl_write_result r = {0};
  bl_status st;
  switch (i) {
  case 0: return bl_alter(w->t, add, 3, NULL, err);
  case 1: return bl_alter(w->t, rename, 3, NULL, err);
  case 2: return bl_alter(w->t, drop, 2, NULL, err);
  case 3: return bl_set_properties(w->t, set, 1, NULL, 0, NULL, err);
  case 4: return bl_ref_create(w->t, "tag", false, NULL, NULL, err);
  case 5: return bl_ref_drop(w->t, "tag", false, NULL, err);
  case 6: return bl_ref_create(w->t, "dev", true, &first, NULL, err);
  case 7: st = bl_fast_forward(w->t, "dev", "main", NULL, &r, err); break;
  default: st = bl_rollback(w->t, "seq:1", NULL, &r, err); break;
  }
  if (st == BL_OK) assert_true(r.committed);
  return st;
}

static void test_attempts__changes_of_metadata_that_are_reported_as_failed_but_done_are_done(void **state) {
  (void)state;
  static const bl_status lies[] = {BL_CONFLICT, BL_UNKNOWN};
  for (size_t k = 0; k < BL_LEN(lies); k++) {
    world w;
    char name[40];
    world_begin(&w, 3);
    world_append(&w, "a", 10);
    world_append(&w, "b", 10);
    w.io.lie = lies[k];
    for (int i = 0; i < 9; i++) {
      bl_error err = BL_ERROR_INIT;
      snprintf(name, sizeof name, "v%d.metadata.json", (int)w.t->version + 1);
      w.io.lie_about = name;
      test_ok(change_metadata(&w, i, &err), &err);
      w.io.lie_about = "nothing";
      world_reopen(&w);
      assert_int_equal(w.t->version, 4 + i);
      char *hint = test_join(w.table, "metadata/version-hint.text");
      size_t n;
      char *text = test_read(hint, &n);
      assert_int_equal(strtol(text, NULL, 10), w.t->version);
      free(text);
      free(hint);
    }
    world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
    world_end(&w);
  }
}

/* Another's version takes the name, and who wanted it hears nothing. */
static bl_status silence(void *user, long call, const char *operation, const char *path, bl_error *err) {
  rivals *r = user;
  (void)call;
  if (r->busy || r->left == 0 || strcmp(operation, "finish") != 0 || !strstr(path, "v3.metadata.json")) return BL_OK;
  char *from = test_join(r->w->table, "metadata/v2.metadata.json"),
       *to = test_join(r->w->table, strstr(path, "metadata/v3"));
  r->left--;
  test_copy_file(from, to);
  free(from);
  free(to);
  return bl_fail(err, BL_UNKNOWN, "%s: no answer", path);
}

static void test_attempts__do_not_take_the_version_of_another_for_their_own(void **state) {
  (void)state;
  world w;
  rivals r;
  world_begin(&w, 3);
  world_append(&w, "a", 10);
  set_rivals(&w, &r, 1, NULL);
  w.io.hook = silence;
  world_append(&w, "b", 5); /* the next version */
  assert_int_equal(w.t->version, 4);
  assert_int_equal(w.result.attempts, 2);
  world_shows(&w, "D@10 +b:5 id=10 raw=- seq=2\nD@0 +a:10 id=0 raw=- seq=1");
  world_end(&w);
}

static void test_attempts__nothing_is_removed_where_nobody_knows(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  dead_line d = {&w, false};
  w.io.hook = line_goes_dead;
  w.io.user = &d;
  w.result = (bl_write_result){0};
  bl_status st = bl_commit_change(s->t, s->s, NULL, &w.result, &err);
  test_status(BL_UNKNOWN, st, &err);
  test_says(&err, "not known");
  stage_free(s);
  w.io.hook = NULL;
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 1);
  assert_int_equal(world_count_files(&w, "metadata", "snap-"), 1);
  world_reopen(&w);
  assert_null(world_head(&w));
  world_end(&w);
}

static bl_status no_room(void *user, long call, const char *operation, const char *path, bl_error *err) {
  (void)user, (void)call;
  if (strcmp(operation, "finish") == 0 && strstr(path, ".metadata.json"))
    return bl_fail(err, BL_IO, "%s: no room", path);
  return BL_OK;
}

static void test_attempts__a_clear_failure_leaves_no_files(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  w.io.hook = no_room;
  bl_error err = BL_ERROR_INIT;
  w.result = (bl_write_result){0};
  test_status(BL_IO, bl_commit_change(s->t, s->s, NULL, &w.result, &err), &err);
  test_says(&err, "no room");
  w.io.hook = NULL;
  stage_free(s);
  assert_int_equal(world_count_files(&w, "metadata", ".avro"), 0);
  world_append(&w, "b", 1);
  world_end(&w);
}

/* ---- another table ---- */

static void recreate(world *w) {
  bl_create_options o = {.schema = "id long, p int"};
  char *metadata = test_join(w->table, "metadata");
  test_remove_dir(metadata);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_table_create(w->ctx, w->table, &w->options, &o, &err), &err);
}

static void test_attempts__do_not_write_to_a_table_that_took_the_name(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  recreate(&w);
  bl_error err = BL_ERROR_INIT;
  const char *x = "x=y";
  test_status(BL_CONFLICT, bl_set_properties(s->t, &x, 1, NULL, 0, NULL, &err), &err);
  test_says(&err, "replaced");
  world_refuses(&w, s, BL_CONFLICT, "replaced");
  world_end(&w);
}

static void test_attempts__do_not_bring_a_dropped_table_back(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  stage *s = world_stage(&w);
  stage_add(s, "a", 10);
  test_remove_dir(test_join(w.table, "metadata"));
  bl_error err = BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_commit_change(s->t, s->s, NULL, &w.result, &err), &err);
  stage_free(s);
  world_end(&w);
}

/* ---- row ids ---- */

static bl_status lower_next_row_id(void *user, bl_edit *e, bl_error *err) {
  (void)user;
  return bl_edit_set(e, "next-row-id", bl_json_new_i64(e->a, 3), err);
}

static void test_attempts__give_no_id_twice_where_next_row_id_is_wrong(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 4);
  test_ok(bl_commit_metadata(w.t, "test", lower_next_row_id, NULL, NULL, &w.err), &w.err);
  stage *s = world_stage(&w);
  stage_add(s, "b", 10);
  world_refuses(&w, s, BL_DAMAGED, "next-row-id is 3");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_attempts__each_takes_ids_from_the_newest_metadata),
      cmocka_unit_test(test_attempts__end_when_the_retries_are_used_up),
      cmocka_unit_test(test_attempts__make_vectors_anew_where_others_deleted_from_the_file),
      cmocka_unit_test(test_attempts__use_their_vectors_again_where_nothing_changed_for_them),
      cmocka_unit_test(test_attempts__rewritten_manifests_are_written_once),
      cmocka_unit_test(test_attempts__a_commit_that_is_reported_as_failed_but_done_is_done),
      cmocka_unit_test(test_attempts__a_version_that_may_not_last_is_told),
      cmocka_unit_test(test_attempts__a_commit_that_is_reported_as_lost_but_done_is_done),
      cmocka_unit_test(test_attempts__the_last_try_that_is_reported_as_lost_but_done_is_done),
      cmocka_unit_test(test_attempts__a_relocation_that_is_reported_as_lost_keeps_its_files),
      cmocka_unit_test(test_attempts__changes_of_metadata_that_are_reported_as_failed_but_done_are_done),
      cmocka_unit_test(test_attempts__do_not_take_the_version_of_another_for_their_own),
      cmocka_unit_test(test_attempts__nothing_is_removed_where_nobody_knows),
      cmocka_unit_test(test_attempts__a_clear_failure_leaves_no_files),
      cmocka_unit_test(test_attempts__do_not_write_to_a_table_that_took_the_name),
      cmocka_unit_test(test_attempts__do_not_bring_a_dropped_table_back),
      cmocka_unit_test(test_attempts__give_no_id_twice_where_next_row_id_is_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
