/* test_conflict.c: changes that were staged before others committed: what unites, and what conflicts. */
#include "commit_world.h"

/* A table with the files a and b of 5 rows each. */
static void begin(world *w) {
  world_begin(w, 3);
  stage *s = world_stage(w);
  stage_add(s, "a", 5);
  stage_add(s, "b", 5);
  world_commit(w, s);
}

static void reads(stage *s, bl_isolation isolation) {
  s->s->reads_rows = true;
  s->s->isolation = isolation;
}

static void test_conflict__appends_never_conflict(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w);
  stage_add(mine, "c", 3);
  stage *theirs = world_stage(&w);
  stage_remove(theirs, "a");
  world_commit(&w, theirs);
  world_commit(&w, mine);
  world_shows(&w, "D@15 +c:3 id=15 raw=- seq=3\nD@10 xa:5 id=0 raw=0 seq=1 =b:5 id=5 raw=5 seq=1");
  world_end(&w);
}

static void test_conflict__two_deletes_in_one_file_unite(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *theirs = world_stage(&w);
  stage_delete(mine, "a", 1);
  stage_delete(mine, "a", 2);
  stage_delete(theirs, "a", 2);
  stage_delete(theirs, "a", 3);
  world_commit(&w, theirs);
  world_commit(&w, mine);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\nV +v(a):3 seq=3\nV xv(a):2 seq=2");
  world_end(&w);
}

static void test_conflict__deletes_of_the_same_rows_leave_nothing_to_do(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *theirs = world_stage(&w);
  stage_delete(mine, "a", 1);
  stage_delete(theirs, "a", 1);
  world_commit(&w, theirs);
  world_commit(&w, mine);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\nV +v(a):1 seq=2");
  world_end(&w);
}

static void test_conflict__updates_of_different_rows_unite(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *theirs = world_stage(&w);
  reads(mine, BL_SNAPSHOT);
  stage_move(mine, "a", 1);
  stage_add(mine, "m", 1);
  stage_move(theirs, "a", 2);
  stage_add(theirs, "t", 1);
  world_commit(&w, theirs);
  world_commit(&w, mine);
  world_shows(&w, "D@11 +m:1 id=11 raw=- seq=3\nD@10 +t:1 id=10 raw=- seq=2\n"
                  "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\nV +v(a):2 seq=3\nV xv(a):1 seq=2");
  world_end(&w);
}

static void test_conflict__an_update_meets_a_delete_of_its_row(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *theirs = world_stage(&w);
  stage_move(mine, "a", 1);
  stage_add(mine, "m", 1);
  stage_delete(theirs, "a", 1);
  world_commit(&w, theirs);
  world_refuses(&w, mine, BL_CONFLICT, "row 1 was deleted");
  assert_int_equal(w.t->metadata->n_snapshots, 2);
  assert_int_equal(world_count_files(&w, "metadata", "-m"), 2); /* nothing of the failed attempt */
  world_end(&w);
}

static void test_conflict__a_delete_meets_an_update_of_its_row(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *also = world_stage(&w), *theirs = world_stage(&w);
  stage_delete(mine, "a", 1);
  stage_delete(also, "a", 3);
  stage_move(theirs, "a", 1);
  stage_add(theirs, "t", 1);
  world_commit(&w, theirs);
  world_refuses(&w, mine, BL_CONFLICT, "row 1 may have been updated");
  world_commit(&w, also);
  world_end(&w);
}

static void test_conflict__each_snapshot_counts_for_its_own_rows(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w);
  stage_delete(mine, "a", 1);
  stage *first = world_stage(&w);
  stage_delete(first, "a", 1); /* a pure delete of the row ... */
  world_commit(&w, first);
  stage *second = world_stage(&w);
  stage_move(second, "a", 3); /* ... whose vector a later update of another row carries on */
  stage_add(second, "t", 1);
  world_commit(&w, second);
  world_commit(&w, mine);
  world_end(&w);
}

static void test_conflict__files_that_go_must_be_there(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *vector = world_stage(&w), *theirs = world_stage(&w);
  stage_remove(mine, "a");
  stage_add(mine, "m", 4);
  stage_delete(vector, "a", 0);
  stage_remove(theirs, "a");
  world_commit(&w, theirs);
  world_refuses(&w, mine, BL_CONFLICT, "a.parquet: it was removed");
  world_refuses(&w, vector, BL_CONFLICT, "a.parquet: it was removed");
  world_end(&w);
}

static void test_conflict__deletes_in_a_file_that_goes_are_not_lost(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *other = world_stage(&w), *theirs = world_stage(&w);
  stage_remove(mine, "a");
  stage_add(mine, "m", 5);
  stage_remove(other, "b");
  stage_delete(theirs, "a", 0);
  world_commit(&w, theirs);
  world_refuses(&w, mine, BL_CONFLICT, "deletes rows of");
  world_commit(&w, other);
  world_end(&w);
}

static void test_conflict__serializable_sees_rows_that_came_meanwhile(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *lax = world_stage(&w);
  reads(mine, BL_SERIALIZABLE);
  stage_delete(mine, "a", 0);
  reads(lax, BL_SNAPSHOT);
  stage_delete(lax, "a", 0);
  world_append(&w, "c", 1);
  world_refuses(&w, mine, BL_CONFLICT, "c.parquet: it was added");
  world_commit(&w, lax);
  world_end(&w);
}

/* The filter id = 7, bound to the table's schema. */
static void filter(stage *s, const char *text) {
  bl_expr *parsed, *bound;
  world *w = s->w;
  const bl_schema *schema = bl_metadata_current_schema(s->t->metadata);
  test_ok(bl_expr_parse(s->s->arena, bl_str_of(text), &parsed, &w->err), &w->err);
  test_ok(bl_expr_bind(s->s->arena, parsed, schema, bl_meta_schema(), &bound, &w->err), &w->err);
  s->s->conflict_filter = bound;
  s->s->conflict_schema = schema;
}

static void test_conflict__a_filter_tells_which_rows_would_have_been_read(void **state) {
  (void)state;
  world w;
  world_begin_on(&w, test_ctx(), 3, "p");
  stage *s = world_stage(&w);
  stage_add_in(s, "a", 5, 1);
  world_commit(&w, s);
  stage *other = world_stage(&w), *same = world_stage(&w);
  reads(other, BL_SERIALIZABLE);
  filter(other, "p = 1");
  stage_delete(other, "a", 0);
  reads(same, BL_SERIALIZABLE);
  filter(same, "p in (1, 2)");
  stage_delete(same, "a", 1);
  s = world_stage(&w);
  stage_add_in(s, "c", 5, 2);
  world_commit(&w, s);
  world_commit(&w, other);
  world_refuses(&w, same, BL_CONFLICT, "c.parquet");
  world_end(&w);
}

static void test_conflict__compaction_brings_no_new_rows(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *mine = world_stage(&w), *theirs = world_stage(&w);
  reads(mine, BL_SERIALIZABLE);
  stage_delete(mine, "b", 0);
  stage_remove(theirs, "a");
  stage_add(theirs, "a2", 5);
  theirs->s->operation = BL_STR("replace");
  world_commit(&w, theirs);
  world_commit(&w, mine);
  world_end(&w);
}

static void test_conflict__replaced_partitions_must_not_have_grown(void **state) {
  (void)state;
  world w;
  world_begin_on(&w, test_ctx(), 3, "p");
  stage *s = world_stage(&w);
  stage_add_in(s, "a", 5, 1);
  stage_add_in(s, "b", 5, 2);
  world_commit(&w, s);
  stage *mine = world_stage(&w), *theirs;
  reads(mine, BL_SERIALIZABLE);
  mine->s->replaces_partitions = true;
  stage_remove(mine, "a");
  stage_add_in(mine, "m", 1, 1);
  theirs = world_stage(&w);
  stage_add_in(theirs, "c", 5, 2);
  world_commit(&w, theirs);
  world_commit(&w, mine);
  mine = world_stage(&w);
  reads(mine, BL_SERIALIZABLE);
  mine->s->replaces_partitions = true;
  stage_remove(mine, "b");
  stage_add_in(mine, "n", 1, 2);
  theirs = world_stage(&w);
  stage_add_in(theirs, "d", 5, 2);
  world_commit(&w, theirs);
  world_refuses(&w, mine, BL_CONFLICT, "d.parquet");
  world_end(&w);
}

static bl_status to_first_snapshot(void *user, bl_edit *e, bl_error *err) {
  (void)user;
  bl_ref main = {.name = BL_STR("main"), .snapshot_id = e->base->snapshots[0].id, .is_branch = true};
  return bl_edit_set_ref(e, &main, err);
}

static void test_conflict__what_a_change_rests_on_must_be_in_the_history(void **state) {
  (void)state;
  world w;
  begin(&w);
  world_append(&w, "c", 2);
  stage *mine = world_stage(&w), *append = world_stage(&w);
  stage_delete(mine, "a", 0);
  stage_add(append, "d", 2);
  test_ok(bl_commit_metadata(w.t, "test", to_first_snapshot, NULL, NULL, &w.err), &w.err);
  world_refuses(&w, mine, BL_CONFLICT, "no longer in the history");
  world_commit(&w, append);
  world_shows(&w, "D@12 +d:2 id=12 raw=- seq=3\nD@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1");
  world_end(&w);
}

static stage *stage_events(world *w, const char *name, const char *before, const char *after) {
  stage *s = world_stage(w);
  stage_add(s, name, 1);
  test_ok(bl_staged_on_position(s->s, bl_str_of(before), &w->err), &w->err);
  test_ok(bl_staged_note(s->s, BL_SOURCE_POSITION, bl_str_of(after), &w->err), &w->err);
  return s;
}

static void test_conflict__the_position_of_a_source_moves_from_where_it_was(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *first = stage_events(&w, "c", NULL, "{\"lsn\":1}"), *late = stage_events(&w, "d", NULL, "{\"lsn\":2}");
  world_commit(&w, first);
  world_refuses(&w, late, BL_CONFLICT, "another has applied events");
  world_append(&w, "e", 1);
  world_commit(&w, stage_events(&w, "f", "{\"lsn\":1}", "{\"lsn\":2}"));
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conflict__appends_never_conflict),
      cmocka_unit_test(test_conflict__two_deletes_in_one_file_unite),
      cmocka_unit_test(test_conflict__deletes_of_the_same_rows_leave_nothing_to_do),
      cmocka_unit_test(test_conflict__updates_of_different_rows_unite),
      cmocka_unit_test(test_conflict__an_update_meets_a_delete_of_its_row),
      cmocka_unit_test(test_conflict__a_delete_meets_an_update_of_its_row),
      cmocka_unit_test(test_conflict__each_snapshot_counts_for_its_own_rows),
      cmocka_unit_test(test_conflict__files_that_go_must_be_there),
      cmocka_unit_test(test_conflict__deletes_in_a_file_that_goes_are_not_lost),
      cmocka_unit_test(test_conflict__serializable_sees_rows_that_came_meanwhile),
      cmocka_unit_test(test_conflict__a_filter_tells_which_rows_would_have_been_read),
      cmocka_unit_test(test_conflict__compaction_brings_no_new_rows),
      cmocka_unit_test(test_conflict__replaced_partitions_must_not_have_grown),
      cmocka_unit_test(test_conflict__what_a_change_rests_on_must_be_in_the_history),
      cmocka_unit_test(test_conflict__the_position_of_a_source_moves_from_where_it_was),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
