/* test_old_handles.c: verbs by a handle that was opened before others changed the table's refs: each does what it would
 * do by a new one. */
#include "verb_calls.h"

static const call on_dev = {run_append, "append", .rows = "{\"k\":20,\"p\":2,\"s\":\"t\"}\n", .branch = "dev"};
static const call delete_2 = {run_delete, "delete", .where = "k = 2", .mode = BL_MERGE_ON_READ, .branch = "dev"};

static bl_table *open_now(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t;
  test_ok(bl_table_open(w->ctx, w->table, NULL, &t, &err), &err);
  return t;
}

static void make_ref(world *w, const char *name, bool branch, const char *at) {
  bl_error err = BL_ERROR_INIT;
  const bl_ref_options o = {.at = at, .replace = true};
  test_ok(bl_ref_create(w->t, name, branch, &o, NULL, &err), &err);
  world_reopen(w);
}

static void drop_ref(world *w, const char *name, bool branch) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ref_drop(w->t, name, branch, NULL, &err), &err);
  world_reopen(w);
}

static bl_status by_handle(world *w, bl_table *t, const call *c, bl_error *err) {
  bl_write_options o = options_of(c);
  bl_status st = c->run(c, t, &o, &w->r, err);
  world_reopen(w);
  return st;
}

static void by_handle_ok(world *w, bl_table *t, const call *c) {
  bl_error err = BL_ERROR_INIT;
  test_ok(by_handle(w, t, c, &err), &err);
}

static void by_handle_fails(world *w, bl_table *t, const call *c, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  size_t files = world_count_files(w);
  test_status(want, by_handle(w, t, c, &err), &err);
  test_says(&err, says);
  assert_int_equal(world_count_files(w), files);
}

/* Rows and lineage of the branch, and what the verb said that it did. */
static void same_branches(world *a, world *b, const char *what) {
  for (size_t i = 0; i < 2; i++) {
    const char *at = i ? "ref:dev" : "ref:main";
    test_rows want = world_scan(a, at, true), got = world_scan(b, at, true);
    test_rows_same(&want, &got, what);
    test_rows_free(&want);
    test_rows_free(&got);
  }
  assert_int_equal(a->t->metadata->n_snapshots, b->t->metadata->n_snapshots);
  counts_are(b, a->r.rows_inserted, a->r.rows_updated, a->r.rows_deleted, a->r.rows_unchanged);
  assert_int_equal(b->r.data_files_added, a->r.data_files_added);
  assert_int_equal(b->r.data_files_removed, a->r.data_files_removed);
  assert_int_equal(b->r.delete_files_added, a->r.delete_files_added);
}

/* Both tables get the branch. */
static void make_both(world *a, world *b, const char *at) {
  make_ref(a, "dev", true, at);
  make_ref(b, "dev", true, at);
}

static void direct_both(world *a, world *b, const call *c) {
  direct(a, c);
  direct(b, c);
}

/* The verb on the branch, by a new handle of a and an old one of b, which goes; both worlds end. */
static void check_same(world *a, world *b, bl_table *old, const call *verb) {
  call c = *verb;
  c.branch = "dev";
  direct(a, &c);
  by_handle_ok(b, old, &c);
  same_branches(a, b, c.name);
  bl_table_free(old);
  world_end(a);
  world_end(b);
}

/* ---- branches that another made ---- */

static void test_old_handles__every_verb_finds_a_branch_that_another_made(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    world a = begin(), b = begin();
    bl_table *old = open_now(&b);
    make_both(&a, &b, NULL);
    direct_both(&a, &b, &on_dev); /* rows that the branch alone has */
    check_same(&a, &b, old, &calls[i]);
  }
}

static void test_old_handles__files_are_added_to_a_branch_that_another_made(void **state) {
  (void)state;
  world from = begin(), w = begin();
  bl_table *old = open_now(&w);
  make_ref(&w, "dev", true, NULL);
  char *path = path_of_a_file(&from);
  const call c = {run_add, "add-files", .path = path, .branch = "dev"};
  by_handle_ok(&w, old, &c);
  assert_true(w.r.committed);
  by_handle_fails(&w, old, &c, BL_USAGE, "the table has it already");
  free(path);
  bl_table_free(old);
  world_end(&w);
  world_end(&from);
}

static void test_old_handles__a_snapshot_is_picked_to_a_branch_that_another_made(void **state) {
  (void)state;
  world w = begin();
  bl_table *old = open_now(&w);
  bl_error err = BL_ERROR_INIT;
  make_ref(&w, "dev", true, "seq:1");
  test_ok(bl_cherry_pick(old, "seq:2", &(bl_write_options){.ref = "dev"}, &w.r, &err), &err);
  assert_true(w.r.committed);
  world_reopen(&w);
  world_shows_at(&w, "ref:dev", false, FIRST "{\"k\":6,\"p\":1,\"s\":\"f\"}\n");
  bl_table_free(old);
  world_end(&w);
}

static void test_old_handles__what_is_staged_rests_on_the_branch_that_another_made(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    world w = begin();
    bl_table *old = open_now(&w);
    bl_error err = BL_ERROR_INIT;
    call c = calls[i];
    c.branch = "dev";
    make_ref(&w, "dev", true, NULL);
    direct(&w, &on_dev);
    size_t before = w.t->metadata->n_snapshots;
    int64_t head = bl_metadata_ref(w.t->metadata, BL_STR("dev"))->snapshot_id;
    char *text = NULL, number[64];
    bl_write_options o = options_of(&c);
    o.stage = &text;
    test_ok(c.run(&c, old, &o, &w.r, &err), &err);
    assert_non_null(text);
    snprintf(number, sizeof number, "\"base-snapshot-id\":%lld,", (long long)head);
    assert_non_null(strstr(text, number));
    test_ok(bl_commit_staged(old, (const char *const *)&text, 1, NULL, &w.r, &err), &err);
    world_reopen(&w);
    assert_int_equal(w.t->metadata->n_snapshots, before + w.r.committed);
    bl_text_free(w.ctx, text);
    bl_table_free(old);
    world_end(&w);
  }
}

static void test_old_handles__a_dry_run_tells_of_the_branch_that_another_made(void **state) {
  (void)state;
  world w = begin();
  bl_table *old = open_now(&w);
  bl_error err = BL_ERROR_INIT;
  make_ref(&w, "dev", true, NULL);
  direct(&w, &delete_2);
  bl_write_options o = {.ref = "dev", .dry_run = true};
  test_ok(bl_delete_rows(old, "k < 4", &o, &w.r, &err), &err);
  assert_int_equal(w.r.rows_deleted, 2);
  assert_false(w.r.committed);
  bl_table_free(old);
  world_end(&w);
}

/* The whole verb goes by the version in which the branch is. */
static void test_old_handles__columns_are_those_that_the_table_has_when_the_branch_is_found(void **state) {
  (void)state;
  static const char *const key[] = {"k"};
  const bl_upsert_options u = {.key = key, .n_key = 1};
  world w = begin();
  bl_table *old = open_now(&w);
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream rows;
  text_input in = bytes_of("{\"k\":1,\"p\":1,\"s\":\"A\",\"n\":7}\n");
  make_ref(&w, "dev", true, NULL);
  const char *add[] = {"add", "n", "int"};
  test_ok(bl_alter(w.t, add, 3, NULL, &err), &err);
  world_reopen(&w);
  rows_of(&w, &in, &rows);
  test_ok(bl_upsert(old, &rows, &u, &(bl_write_options){.ref = "dev"}, &w.r, &err), &err);
  counts_are(&w, 0, 1, 0, 0);
  world_reopen(&w);
  test_rows got = world_scan(&w, "ref:dev", false);
  assert_int_equal(got.n, 6);
  test_rows_free(&got);
  bl_table_free(old);
  world_end(&w);
}

/* ---- branches that went elsewhere ---- */

static void test_old_handles__every_verb_works_on_a_branch_where_another_moved_it(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    world a = begin(), b = begin();
    make_both(&a, &b, NULL);
    direct_both(&a, &b, &on_dev);
    bl_table *old = open_now(&b);
    make_both(&a, &b, "seq:1");     /* back */
    direct_both(&a, &b, &delete_2); /* and on */
    check_same(&a, &b, old, &calls[i]);
  }
}

static void test_old_handles__no_verb_makes_a_dropped_branch_again(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    call c = calls[i];
    c.branch = "dev";
    if (strstr(c.name, "nothing")) continue; /* nothing is committed, wherever the branch is */
    world w = begin();
    make_ref(&w, "dev", true, NULL);
    bl_table *old = open_now(&w);
    drop_ref(&w, "dev", true);
    by_handle_fails(&w, old, &c, BL_NOT_FOUND, "no such branch: dev of");
    assert_null(bl_metadata_ref(w.t->metadata, BL_STR("dev")));
    bl_table_free(old);
    world_end(&w);
  }
}

static void test_old_handles__a_branch_that_nobody_made_is_not_found(void **state) {
  (void)state;
  world w = begin();
  bl_table *old = open_now(&w);
  world_append(&w, "{\"k\":20,\"p\":2,\"s\":\"t\"}\n");
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    call c = calls[i];
    c.branch = "dev";
    by_handle_fails(&w, old, &c, BL_NOT_FOUND, "no such branch: dev of");
  }
  bl_table_free(old);
  world_end(&w);
}

/* What was found in a branch that is another by now, or none, was not found. */
static void test_old_handles__a_batch_that_a_branch_held_once_is_written_where_it_does_not_hold_it_now(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    call c = calls[i], first = on_dev;
    world w = begin();
    c.branch = "dev";
    c.batch = first.batch = "night-1";
    make_ref(&w, "dev", true, NULL);
    direct(&w, &first);
    bl_table *old = open_now(&w);
    by_handle_ok(&w, old, &c);
    assert_true(w.r.already_applied);
    make_ref(&w, "dev", true, "seq:2");
    by_handle_ok(&w, old, &c);
    assert_true(w.r.committed);
    drop_ref(&w, "dev", true);
    by_handle_fails(&w, old, &c, BL_NOT_FOUND, "no such branch: dev of");
    bl_table_free(old);
    world_end(&w);
  }
}

/* ---- tags ---- */

static void test_old_handles__a_tag_is_refused_whenever_it_was_made(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    call c = calls[i];
    c.branch = "dev";
    world w = begin();
    bl_table *before = open_now(&w);
    make_ref(&w, "dev", false, NULL);
    by_handle_fails(&w, before, &c, BL_USAGE, "it is a tag");
    bl_table *with = open_now(&w);
    by_handle_fails(&w, with, &c, BL_USAGE, "it is a tag");
    bl_table_free(before);
    bl_table_free(with);
    world_end(&w);
  }
}

static void test_old_handles__a_branch_and_a_tag_that_changed_places_are_what_they_are_now(void **state) {
  (void)state;
  world w = begin();
  make_ref(&w, "dev", false, NULL);
  bl_table *tag = open_now(&w);
  drop_ref(&w, "dev", false);
  make_ref(&w, "dev", true, NULL);
  bl_table *branch = open_now(&w);
  by_handle_ok(&w, tag, &delete_2);
  assert_true(w.r.committed);
  drop_ref(&w, "dev", true);
  make_ref(&w, "dev", false, NULL);
  by_handle_fails(&w, branch, &on_dev, BL_USAGE, "it is a tag");
  by_handle_fails(&w, branch, &delete_2, BL_USAGE, "it is a tag");
  bl_table_free(tag);
  bl_table_free(branch);
  world_end(&w);
}

/* ---- tables that took the name ---- */

static void test_old_handles__a_branch_of_another_table_of_that_name_is_not_written_to(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = begin();
  bl_table *old = open_now(&w);
  const bl_create_options o = {.schema = "k long not null, p int, s string", .partition = "p"};
  test_empty_tree(w.table);
  test_ok(bl_table_create(w.ctx, w.table, NULL, &o, &err), &err);
  world_reopen(&w);
  world_append(&w, FIRST);
  make_ref(&w, "dev", true, NULL);
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    call c = calls[i];
    c.branch = "dev";
    by_handle_fails(&w, old, &c, BL_CONFLICT, "the table was replaced");
  }
  bl_table_free(old);
  world_end(&w);
}

/* The row was as it should be when the handle was opened: others have deleted it since. */
static void test_old_handles__what_was_found_as_it_should_be_and_is_gone_comes_again(void **state) {
  (void)state;
  static const call del = {run_delete, "delete", .where = "k = 3", .mode = BL_MERGE_ON_READ};
  static const call all[] = {
      {run_upsert, "upsert", .rows = "{\"k\":3,\"p\":2,\"s\":\"c\"}\n{\"k\":4,\"p\":2,\"s\":\"d\"}\n"},
      {run_upsert, "upsert", .rows = "{\"k\":3,\"p\":2,\"s\":\"c\"}\n{\"k\":4,\"p\":2,\"s\":\"D\"}\n"},
      {run_apply, "apply", .rows = "{\"op\":\"r\",\"after\":{\"k\":3,\"p\":2,\"s\":\"c\"}}\n"},
      {run_upsert, "sync", .rows = FIRST "{\"k\":6,\"p\":1,\"s\":\"f\"}\n", .kind = 1}};
  for (size_t i = 0; i < BL_LEN(all); i++) {
    world w = begin();
    bl_table *old = open_now(&w);
    direct(&w, &del);
    by_handle_ok(&w, old, &all[i]);
    assert_true(w.r.committed);
    assert_int_equal(w.r.rows_inserted, 1);
    test_rows got = world_scan(&w, NULL, false);
    assert_int_equal(got.n, 6);
    test_rows_free(&got);
    bl_table_free(old);
    world_end(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_old_handles__every_verb_finds_a_branch_that_another_made),
      cmocka_unit_test(test_old_handles__files_are_added_to_a_branch_that_another_made),
      cmocka_unit_test(test_old_handles__a_snapshot_is_picked_to_a_branch_that_another_made),
      cmocka_unit_test(test_old_handles__what_is_staged_rests_on_the_branch_that_another_made),
      cmocka_unit_test(test_old_handles__a_dry_run_tells_of_the_branch_that_another_made),
      cmocka_unit_test(test_old_handles__columns_are_those_that_the_table_has_when_the_branch_is_found),
      cmocka_unit_test(test_old_handles__every_verb_works_on_a_branch_where_another_moved_it),
      cmocka_unit_test(test_old_handles__no_verb_makes_a_dropped_branch_again),
      cmocka_unit_test(test_old_handles__a_branch_that_nobody_made_is_not_found),
      cmocka_unit_test(test_old_handles__a_batch_that_a_branch_held_once_is_written_where_it_does_not_hold_it_now),
      cmocka_unit_test(test_old_handles__a_tag_is_refused_whenever_it_was_made),
      cmocka_unit_test(test_old_handles__a_branch_and_a_tag_that_changed_places_are_what_they_are_now),
      cmocka_unit_test(test_old_handles__a_branch_of_another_table_of_that_name_is_not_written_to),
      cmocka_unit_test(test_old_handles__what_was_found_as_it_should_be_and_is_gone_comes_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
