/* test_metadata_note.c: changes of metadata alone are done once a batch, and the table tells who made them and why. */
#include "commit_world.h"
#include "write/metadata_note.h"

static const char *const who[] = {"who=me", "why=a=b"};

static bl_status alter(world *w, const char *column, const bl_write_options *o, bl_error *err) {
  const char *words[] = {"add", column, "int"};
  bl_status st = bl_alter(w->t, words, 3, o, err);
  world_reopen(w);
  return st;
}

static void alter_ok(world *w, const char *column, const char *batch, bool again) {
  bool applied = !again;
  const bl_write_options o = {.batch_id = batch, .already_applied = &applied};
  bl_error err = BL_ERROR_INIT;
  test_ok(alter(w, column, &o, &err), &err);
  assert_int_equal(applied, again);
}

static bool has_column(const world *w, const char *name) {
  const bl_schema *s = bl_metadata_current_schema(w->t->metadata);
  for (size_t i = 0; i < s->root.n_fields; i++)
    if (bl_str_is(s->root.fields[i].name, name)) return true;
  return false;
}

static void property_is(const world *w, const char *key, const char *want) {
  const char *v = bl_table_property(w->t, key);
  if (!want) assert_null(v);
  else assert_string_equal(v ? v : "(none)", want);
}

/* What the table tells of its last change. */
static void tells(const world *w, const char *key, const char *want) {
  const char *text = bl_table_property(w->t, "bergline.metadata-summary");
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_json *v;
  assert_non_null(text);
  test_ok(bl_arena_new(w->ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, text, strlen(text), &v, &err), &err);
  const bl_json *summary = bl_json_get(v, "summary"), *m = bl_json_get(v, key);
  if (!m && summary) m = bl_json_get(summary, key);
  if (want) assert_string_equal(m ? m->text.p : "(none)", want);
  else assert_null(m);
  bl_arena_free(a);
}

static size_t count_batches(const world *w) {
  const char *text = bl_table_property(w->t, "bergline.metadata-batches");
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_json *v;
  test_ok(bl_arena_new(w->ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, text, strlen(text), &v, &err), &err);
  size_t n = v->n;
  bl_arena_free(a);
  return n;
}

/* ---- tests ---- */

static void test_metadata_note__a_batch_is_applied_once(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  alter_ok(&w, "a", "run-1", false);
  alter_ok(&w, "b", "run-1", true);
  assert_true(has_column(&w, "a"));
  assert_false(has_column(&w, "b"));
  alter_ok(&w, "b", "run-2", false);
  assert_true(has_column(&w, "b"));
  property_is(&w, "bergline.metadata-batches", "[\"alter run-1\",\"alter run-2\"]");
  world_end(&w);
}

static void test_metadata_note__one_id_may_stand_for_several_verbs(void **state) {
  (void)state;
  world w;
  const bl_write_options o = {.batch_id = "run-1"};
  const char *set = "k=v", *unset = "k";
  world_begin(&w, 3);
  world_append(&w, "a", 1);
  world_append(&w, "b", 1);
  alter_ok(&w, "c", "run-1", false);
  test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &o, &w.err), &w.err);
  world_reopen(&w);
  property_is(&w, "k", "v");
  test_ok(bl_ref_create(w.t, "x", true, &(bl_ref_options){.at = "seq:1"}, &o, &w.err), &w.err);
  test_ok(bl_ref_create(w.t, "y", false, NULL, &o, &w.err), &w.err);
  test_ok(bl_fast_forward(w.t, "x", "main", &o, &w.result, &w.err), &w.err);
  assert_true(w.result.committed);
  test_ok(bl_ref_drop(w.t, "y", false, &o, &w.err), &w.err);
  test_ok(bl_rollback(w.t, "seq:1", &o, &w.result, &w.err), &w.err);
  test_ok(bl_set_properties(w.t, NULL, 0, &unset, 1, &o, &w.err), &w.err);
  world_reopen(&w);
  property_is(&w, "k", NULL);
  assert_int_equal(count_batches(&w), 8);
  assert_int_equal(world_head(&w)->sequence_number, 1);
  assert_int_equal(world_head_of(&w, "x")->sequence_number, 2);
  world_end(&w);
}

static void test_metadata_note__moves_that_were_made_are_not_made_again(void **state) {
  (void)state;
  world w;
  const bl_write_options o = {.batch_id = "run-1"};
  world_begin(&w, 3);
  world_append(&w, "a", 1);
  world_append(&w, "b", 1);
  test_ok(bl_rollback(w.t, "seq:1", &o, &w.result, &w.err), &w.err);
  assert_true(w.result.committed);
  assert_false(w.result.already_applied);
  world_reopen(&w);
  world_append(&w, "c", 1);
  test_ok(bl_rollback(w.t, "seq:1", &o, &w.result, &w.err), &w.err);
  assert_false(w.result.committed);
  assert_true(w.result.already_applied);
  world_reopen(&w);
  assert_int_equal(world_head(&w)->sequence_number, 3);
  world_end(&w);
}

static void test_metadata_note__the_last_change_that_says_why_is_told(void **state) {
  (void)state;
  world w;
  const bl_write_options o = {.summary = who, .n_summary = 2}, both = {.summary = who, .n_summary = 1, .batch_id = "b"};
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  test_ok(alter(&w, "a", &o, &err), &err);
  tells(&w, "verb", "alter");
  tells(&w, "who", "me");
  tells(&w, "why", "a=b");
  tells(&w, "batch-id", NULL);
  property_is(&w, "bergline.metadata-batches", NULL);
  test_ok(alter(&w, "b", NULL, &err), &err); /* says nothing: the one before stands */
  tells(&w, "why", "a=b");
  world_append(&w, "f", 1);
  test_ok(bl_ref_create(w.t, "x", true, NULL, &both, &err), &err);
  world_reopen(&w);
  tells(&w, "verb", "create-branch");
  tells(&w, "who", "me");
  tells(&w, "why", NULL);
  tells(&w, "batch-id", "b");
  world_end(&w);
}

static void test_metadata_note__what_changes_nothing_is_noted_for_a_batch_alone(void **state) {
  (void)state;
  world w;
  const char *set = "commit.retry.num-retries=20";
  const bl_write_options says = {.summary = who, .n_summary = 1}, batch = {.batch_id = "b"};
  world_begin(&w, 3);
  test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &says, &w.err), &w.err);
  world_reopen(&w);
  assert_int_equal(w.t->metadata->n_metadata_log, 0);
  test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &batch, &w.err), &w.err);
  world_reopen(&w);
  assert_int_equal(w.t->metadata->n_metadata_log, 1);
  property_is(&w, "bergline.metadata-batches", "[\"set b\"]");
  world_end(&w);
}

static void test_metadata_note__a_branch_of_an_empty_table_is_made_once_a_batch(void **state) {
  (void)state;
  world w;
  bool applied = true;
  const bl_write_options o = {.batch_id = "run-1", .summary = who, .n_summary = 1, .already_applied = &applied};
  world_begin(&w, 3);
  test_ok(bl_ref_create(w.t, "b", true, NULL, &o, &w.err), &w.err);
  assert_false(applied);
  world_reopen(&w);
  tells(&w, "who", "me");
  test_ok(bl_ref_create(w.t, "b", true, NULL, &o, &w.err), &w.err);
  assert_true(applied);
  /* The id is that of the branch's creation: rows may come under it. */
  stage *s = world_stage_on(&w, "b");
  stage_add(s, "a", 10);
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try(&w, s, &(bl_write_options){.ref = "b", .batch_id = "run-1"}, &err), &err);
  assert_true(w.result.committed);
  world_end(&w);
}

static void test_metadata_note__a_branch_that_was_dropped_is_not_made_again_by_the_same_batch(void **state) {
  (void)state;
  world w;
  bool applied = true;
  const bl_write_options o = {.batch_id = "run-1", .already_applied = &applied};
  world_begin(&w, 3);
  test_ok(bl_ref_create(w.t, "b", true, NULL, &o, &w.err), &w.err);
  assert_false(applied);
  test_ok(bl_ref_drop(w.t, "b", true, NULL, &w.err), &w.err);
  world_reopen(&w);
  assert_false(w.t->metadata->has_current);
  test_ok(bl_ref_create(w.t, "b", true, NULL, &o, &w.err), &w.err);
  assert_true(applied);
  world_reopen(&w);
  assert_null(bl_metadata_ref(w.t->metadata, BL_STR("b")));
  world_end(&w);
}

static void test_metadata_note__dry_runs_look_and_write_nothing(void **state) {
  (void)state;
  world w;
  bool applied = true;
  const bl_write_options dry = {.batch_id = "b", .dry_run = true, .already_applied = &applied};
  world_begin(&w, 3);
  bl_error err = BL_ERROR_INIT;
  test_ok(alter(&w, "a", &dry, &err), &err);
  assert_false(applied);
  assert_int_equal(w.t->metadata->n_metadata_log, 0);
  alter_ok(&w, "a", "b", false);
  test_ok(alter(&w, "a", &dry, &err), &err);
  assert_true(applied);
  world_end(&w);
}

static void test_metadata_note__summaries_that_are_wrong_are_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {{"novalue", "a=b"}, {"total-records=1", "a=b"}, {"a=b", "a=c"}};
  static const char *const says[] = {"KEY=VALUE", "sets total-records itself", "a is given twice"};
  world w;
  world_begin(&w, 3);
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    const bl_write_options o = {.summary = wrong[i], .n_summary = 2};
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, alter(&w, "a", &o, &err), &err);
    test_says(&err, says[i]);
  }
  assert_false(has_column(&w, "a"));
  world_end(&w);
}

static void test_metadata_note__the_oldest_batches_are_forgotten(void **state) {
  (void)state;
  world w;
  char id[20], k[20];
  const char *set = k;
  world_begin(&w, 3);
  for (int i = 0; i < BL_BATCHES_KEPT + 2; i++) {
    snprintf(id, sizeof id, "%d", i);
    snprintf(k, sizeof k, "k=%d", i);
    test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &(bl_write_options){.batch_id = id}, &w.err), &w.err);
  }
  world_reopen(&w);
  assert_int_equal(count_batches(&w), BL_BATCHES_KEPT);
  bool applied = false;
  bl_write_options o = {.batch_id = "2", .already_applied = &applied};
  test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &o, &w.err), &w.err);
  assert_true(applied);
  o.batch_id = "1";
  test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &o, &w.err), &w.err);
  assert_false(applied);
  world_end(&w);
}

static void test_metadata_note__a_list_that_is_damaged_begins_anew(void **state) {
  (void)state;
  static const char *const damaged[] = {"bergline.metadata-batches=[", "bergline.metadata-batches={}",
                                        "bergline.metadata-batches=[1,{}]"};
  world w;
  char column[2] = "a", batch[] = "b0";
  world_begin(&w, 3);
  for (size_t i = 0; i < BL_LEN(damaged); i++, column[0]++, batch[1]++) {
    world_set(&w, damaged[i]);
    alter_ok(&w, column, batch, false);
    alter_ok(&w, column, batch, true);
  }
  world_end(&w);
}

/* ---- creation ---- */

static bl_status create(world *w, const char *table, const char *batch, bool *applied, bl_error *err) {
  const bl_create_options o = {
      .schema = "id long", .batch_id = batch, .summary = who, .n_summary = 1, .already_applied = applied};
  return bl_table_create(w->ctx, table, &w->options, &o, err);
}

static void test_metadata_note__a_table_is_created_once_a_batch(void **state) {
  (void)state;
  world w;
  bool applied = true;
  world_begin(&w, 3);
  char *table = test_join(w.dir, "u");
  bl_error err = BL_ERROR_INIT;
  test_ok(create(&w, table, "run-1", &applied, &err), &err);
  assert_false(applied);
  test_ok(create(&w, table, "run-1", &applied, &err), &err);
  assert_true(applied);
  test_status(BL_CONFLICT, create(&w, table, "run-2", &applied, &err), &err);
  assert_false(applied);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_CONFLICT, create(&w, table, NULL, &applied, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_CONFLICT, create(&w, w.table, "run-1", &applied, &err), &err); /* another's */
  free(w.table);
  w.table = table;
  world_reopen(&w);
  tells(&w, "verb", "create");
  tells(&w, "who", "me");
  alter_ok(&w, "c", "run-1", false);
  world_end(&w);
}

static void test_metadata_note__the_creation_is_not_forgotten(void **state) {
  (void)state;
  world w;
  bool applied;
  char id[20];
  world_begin(&w, 3);
  free(w.table);
  w.table = test_join(w.dir, "u");
  test_ok(create(&w, w.table, "run-1", &applied, &w.err), &w.err);
  world_reopen(&w);
  for (int i = 0; i < BL_BATCHES_KEPT + 2; i++) {
    const char *set = id;
    snprintf(id, sizeof id, "k=%d", i);
    test_ok(bl_set_properties(w.t, &set, 1, NULL, 0, &(bl_write_options){.batch_id = id}, &w.err), &w.err);
  }
  test_ok(create(&w, w.table, "run-1", &applied, &w.err), &w.err);
  assert_true(applied);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metadata_note__a_batch_is_applied_once),
      cmocka_unit_test(test_metadata_note__one_id_may_stand_for_several_verbs),
      cmocka_unit_test(test_metadata_note__moves_that_were_made_are_not_made_again),
      cmocka_unit_test(test_metadata_note__the_last_change_that_says_why_is_told),
      cmocka_unit_test(test_metadata_note__what_changes_nothing_is_noted_for_a_batch_alone),
      cmocka_unit_test(test_metadata_note__a_branch_of_an_empty_table_is_made_once_a_batch),
      cmocka_unit_test(test_metadata_note__a_branch_that_was_dropped_is_not_made_again_by_the_same_batch),
      cmocka_unit_test(test_metadata_note__dry_runs_look_and_write_nothing),
      cmocka_unit_test(test_metadata_note__summaries_that_are_wrong_are_refused),
      cmocka_unit_test(test_metadata_note__the_oldest_batches_are_forgotten),
      cmocka_unit_test(test_metadata_note__a_list_that_is_damaged_begins_anew),
      cmocka_unit_test(test_metadata_note__a_table_is_created_once_a_batch),
      cmocka_unit_test(test_metadata_note__the_creation_is_not_forgotten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
