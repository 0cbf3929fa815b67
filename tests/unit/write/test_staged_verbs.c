/* test_staged_verbs.c: every verb on rows staged by one process (a ctx and a handle of its own) and committed by
 * another comes to what the verb itself comes to. */
#include "verb_calls.h"

static void same_tables(world *a, world *b, const char *what) {
  test_rows want = world_scan(a, NULL, true), got = world_scan(b, NULL, true);
  test_rows_same(&want, &got, what);
  test_rows_free(&want);
  test_rows_free(&got);
  assert_int_equal(a->t->metadata->next_row_id, b->t->metadata->next_row_id);
  assert_int_equal(a->t->metadata->n_snapshots, b->t->metadata->n_snapshots);
  assert_string_equal(world_summary(a, "operation"), world_summary(b, "operation"));
  assert_string_equal(world_summary(a, "bergline.source-position"), world_summary(b, "bergline.source-position"));
  assert_int_equal(world_count_live(a, BL_MANIFEST_DATA, NULL), world_count_live(b, BL_MANIFEST_DATA, NULL));
  assert_int_equal(world_count_live(a, BL_MANIFEST_DELETES, NULL), world_count_live(b, BL_MANIFEST_DELETES, NULL));
}

static void check_like_direct(const call *c, const char *between) {
  world a = begin(), b = begin();
  char *text = stage(&b, c);
  bl_write_result told = b.r;
  assert_non_null(text);
  assert_int_equal(b.t->metadata->n_snapshots, 2);
  assert_null(strstr(text, "first-row-id")); /* W1 */
  if (between) {
    world_append(&a, between);
    world_append(&b, between);
  }
  direct(&a, c);
  assert_int_equal(told.rows_inserted, a.r.rows_inserted);
  assert_int_equal(told.rows_updated, a.r.rows_updated);
  assert_int_equal(told.rows_deleted, a.r.rows_deleted);
  commit_ok(&b, &text, 1);
  assert_int_equal(b.r.committed, a.r.committed);
  counts_are(&b, a.r.rows_inserted, a.r.rows_updated, a.r.rows_deleted, a.r.rows_unchanged);
  assert_int_equal(b.r.data_files_added, a.r.data_files_added);
  assert_int_equal(b.r.data_files_removed, a.r.data_files_removed);
  assert_int_equal(b.r.rows_assigned, a.r.rows_assigned);
  same_tables(&a, &b, c->name);
  commit_ok(&b, &text, 1); /* once */
  assert_false(b.r.committed);
  same_tables(&a, &b, c->name);
  free(text);
  world_end(&a);
  world_end(&b);
}

static void test_staged_verbs__each_comes_to_what_the_verb_comes_to(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) check_like_direct(&calls[i], NULL);
}

static void test_staged_verbs__others_may_commit_meanwhile_what_was_not_read(void **state) {
  (void)state;
  static const char other[] = "{\"k\":70,\"p\":7,\"s\":\"z\"}\n";
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    const call *c = &calls[i];
    bool all = c->run == run_overwrite && c->kind != BL_OVERWRITE_PARTITIONS;
    bool sync = c->run == run_upsert && c->kind;
    if (all || sync || strchr(c->where ? c->where : "", '>') || strstr(c->name, "update")) continue;
    check_like_direct(c, other);
  }
}

static void test_staged_verbs__files_are_added_as_they_lie(void **state) {
  (void)state;
  world from = begin();
  char *path = path_of_a_file(&from);
  const call c = {run_add, "add-files", .path = path};
  check_like_direct(&c, NULL);
  check_like_direct(&c, "{\"k\":70,\"p\":7,\"s\":\"z\"}\n");

  world w = begin();
  char *texts[] = {stage(&w, &c), stage(&w, &c)};
  assert_non_null(strstr(texts[0], "\"files\":[]"));
  commit_fails(&w, texts, 2, BL_CONFLICT, "two of them add it");
  commit_ok(&w, texts, 1);
  commit_fails(&w, texts + 1, 1, BL_CONFLICT, "it was added, as the change would");
  bl_error no = BL_ERROR_INIT;
  test_ok(bl_abandon_staged(w.t, (const char *const *)texts + 1, 1, &no), &no); /* the file is not its own */
  world_holds(&from, FIRST "{\"k\":6,\"p\":1,\"s\":\"f\"}\n");
  free_all(texts, 2);
  world_end(&w);
  free(path);
  world_end(&from);
}

/* ---- meanwhile ---- */

static const call delete_2 = {run_delete, "delete", .where = "k = 2", .mode = BL_MERGE_ON_READ};
static const call delete_3 = {run_delete, "delete", .where = "k = 3", .mode = BL_MERGE_ON_READ};
static const call delete_34 = {run_delete, "delete", .where = "k = 3 or k = 4", .mode = BL_MERGE_ON_READ};
static const call update_3 = {run_update, "update", .set = "s = 'u'", .where = "k = 3", .mode = BL_MERGE_ON_READ};
static const call update_5 = {run_update, "update", .set = "s = 'v'", .where = "k = 5", .mode = BL_MERGE_ON_READ};

#define ROW(k, p, s, id, seq)                                                                                          \
  "{\"k\":" #k ",\"p\":" #p ",\"s\":\"" s "\",\"_row_id\":" #id ",\"_last_updated_sequence_number\":" #seq "}\n"
#define REST ROW(1, 1, "a", 0, 1) ROW(6, 1, "f", 5, 2)

static void test_staged_verbs__deletes_of_others_unite_with_deletes(void **state) {
  (void)state;
  world w = begin();
  char *text = stage(&w, &delete_34);
  direct(&w, &delete_3);
  commit_ok(&w, &text, 1);
  assert_true(w.r.committed);
  world_shows(&w, REST ROW(2, 1, "b", 1, 1) ROW(5, 2, "e", 4, 1));
  free(text);
  world_end(&w);
}

static void test_staged_verbs__an_update_and_a_delete_of_one_row_conflict(void **state) {
  (void)state;
  const call *first[] = {&update_3, &delete_3, &update_3}, *then[] = {&delete_34, &update_3, &update_3};
  for (size_t i = 0; i < BL_LEN(first); i++) {
    world w = begin();
    char *text = stage(&w, then[i]);
    direct(&w, first[i]);
    commit_fails(&w, &text, 1, BL_CONFLICT, "conflict");
    free(text);
    world_end(&w);
  }
}

/* Rows that are as the verb wants them, and that it therefore leaves, are part of what it says. */
static const call keep_3 = {run_upsert, "upsert",
                            .rows = "{\"k\":3,\"p\":2,\"s\":\"c\"}\n{\"k\":9,\"p\":3,\"s\":\"i\"}\n"};
static const call delete_4 = {run_delete, "delete", .where = "k = 4", .mode = BL_MERGE_ON_READ};

static void test_staged_verbs__rows_that_were_found_as_they_should_be_must_still_be_there(void **state) {
  (void)state;
  static const call cow_3 = {run_delete, "delete", .where = "k = 3", .mode = BL_COPY_ON_WRITE};
  static const call all_2 = {run_delete, "delete", .where = "p = 2", .mode = BL_MERGE_ON_READ};
  const call *others[] = {&delete_3, &delete_34, &update_3, &cow_3, &all_2};
  for (size_t i = 0; i < BL_LEN(others); i++) {
    world w = begin();
    char *text = stage(&w, &keep_3);
    direct(&w, others[i]);
    commit_fails(&w, &text, 1, BL_CONFLICT, "conflict: ");
    free(text);
    world_end(&w);
  }
  world w = begin();
  char *text = stage(&w, &keep_3);
  direct(&w, &delete_4);
  commit_ok(&w, &text, 1);
  counts_are(&w, 1, 0, 0, 1);
  free(text);
  world_end(&w);
}

static void test_staged_verbs__parts_leave_each_other_the_rows_that_they_found_as_they_should_be(void **state) {
  (void)state;
  static const call cow_5 = {run_delete, "delete", .where = "k = 5", .mode = BL_COPY_ON_WRITE};
  world w = begin();
  char *texts[] = {stage(&w, &keep_3), stage(&w, &update_3), stage(&w, &cow_5), stage(&w, &delete_4)};
  char *pairs[][2] = {{texts[0], texts[1]}, {texts[1], texts[0]}, {texts[2], texts[0]}};
  for (size_t i = 0; i < BL_LEN(pairs); i++) commit_fails(&w, pairs[i], 2, BL_CONFLICT, "as it wants them");
  char *good[] = {texts[3], texts[0]};
  commit_ok(&w, good, 2);
  counts_are(&w, 1, 0, 1, 1);
  free_all(texts, BL_LEN(texts));
  world_end(&w);
}

static void test_staged_verbs__counts_of_rows_may_be_absent_and_are_not_believed_to_fit(void **state) {
  (void)state;
  world w = begin();
  char *texts[] = {stage(&w, &delete_3), stage(&w, &delete_4)};
  for (size_t i = 0; i < 2; i++) {
    char *at = strstr(texts[i], "\"counts\":{"), *end = strchr(at, '}') + 1;
    char *other = malloc(strlen(texts[i]) + 100);
    sprintf(other, "%.*s\"counts\":{\"rows-deleted\":9223372036854775807}%s", (int)(at - texts[i]), texts[i], end);
    free(texts[i]);
    texts[i] = other;
  }
  commit_fails(&w, texts, 2, BL_USAGE, "counts of rows are too large");
  assert_int_equal(w.r.rows_deleted, 0);
  char *at = strstr(texts[0], "\"counts\"");
  at[1] = 'x';
  commit_ok(&w, texts, 1);
  assert_int_equal(w.r.rows_deleted, 0);
  free_all(texts, 2);
  world_end(&w);
}

static void test_staged_verbs__a_description_without_its_table_is_taken_by_none(void **state) {
  (void)state;
  world w = begin();
  char *text = stage(&w, &keep_3), *member = strstr(text, "table-uuid");
  member[0] = 'x';
  commit_fails(&w, &text, 1, BL_USAGE, "table-uuid is missing");
  free(text);
  world_end(&w);
}

static void test_staged_verbs__appended_rows_that_match_conflict_where_serializable(void **state) {
  (void)state;
  static const call over = {run_overwrite, "overwrite", .rows = "{\"k\":9,\"p\":2,\"s\":\"i\"}\n",
                            .kind = BL_OVERWRITE_WHERE, .where = "p = 2"};
  for (int snapshot = 0; snapshot < 2; snapshot++) {
    world w = begin();
    if (snapshot) world_set(&w, "write.delete.isolation-level=snapshot");
    char *texts[] = {stage(&w, &over), stage(&w, &over)};
    world_append(&w, "{\"k\":20,\"p\":1,\"s\":\"t\"}\n"); /* not in the way */
    bl_error err = BL_ERROR_INIT;
    if (!snapshot) {
      commit_ok(&w, texts, 1);
      free_all(texts, 2);
      texts[0] = stage(&w, &over);
      texts[1] = NULL;
    }
    world_append(&w, "{\"k\":21,\"p\":2,\"s\":\"t\"}\n");
    test_status(snapshot ? BL_OK : BL_CONFLICT, commit(&w, texts, 1, NULL, &err), snapshot ? NULL : &err);
    if (!snapshot) test_says(&err, "may hold rows that the change would have read");
    free_all(texts, 2);
    world_end(&w);
  }
}

static void test_staged_verbs__events_of_a_source_that_another_has_applied_conflict(void **state) {
  (void)state;
  static const call apply = {run_apply, "apply", .rows = DEBEZIUM, .mode = BL_MERGE_ON_READ};
  world w = begin();
  char *texts[] = {stage(&w, &apply), stage(&w, &apply)};
  commit_fails(&w, texts, 2, BL_UNSUPPORTED, "one by one");
  commit_ok(&w, texts, 1);
  commit_fails(&w, texts + 1, 1, BL_CONFLICT, "another has applied events");
  free_all(texts, 2);
  world_end(&w);
}

/* ---- several workers ---- */

static void test_staged_verbs__parts_become_one_snapshot(void **state) {
  (void)state;
  world w = begin();
  char *texts[] = {stage(&w, &delete_2), stage(&w, &update_3), NULL, stage(&w, &update_5)};
  commit_ok(&w, texts, 4);
  assert_int_equal(w.t->metadata->n_snapshots, 3);
  world_shows(&w, REST ROW(3, 2, "u", 2, 3) ROW(4, 2, "d", 3, 1) ROW(5, 2, "v", 4, 3));
  commit_ok(&w, texts, 4);
  assert_true(w.r.already_applied);
  free_all(texts, 4);
  world_end(&w);
}

static void test_staged_verbs__a_part_that_is_given_twice_is_no_conflict_with_itself(void **state) {
  (void)state;
  static const call cow_3 = {run_update, "update", .set = "s = 'u'", .where = "k = 3", .mode = BL_COPY_ON_WRITE};
  static const call apply = {run_apply, "apply", .rows = DEBEZIUM, .mode = BL_MERGE_ON_READ};
  world w = begin();
  char *texts[] = {stage(&w, &delete_2), stage(&w, &update_3), stage(&w, &cow_3), stage(&w, &apply)};
  for (size_t i = 0; i < BL_LEN(texts); i++)
    commit_fails(&w, (char *[]){texts[i], texts[i]}, 2, BL_USAGE, "one is given twice");
  free_all(texts, BL_LEN(texts));
  world_end(&w);
}

static void test_staged_verbs__parts_that_touch_one_row_go_by_the_same_rules(void **state) {
  (void)state;
  static const call cow_2 = {run_delete, "delete", .where = "k = 3", .mode = BL_COPY_ON_WRITE};
  static const call cow_3 = {run_delete, "delete", .where = "k = 4", .mode = BL_COPY_ON_WRITE};
  world w = begin();
  char *texts[] = {stage(&w, &delete_3), stage(&w, &delete_34), stage(&w, &update_3), stage(&w, &update_3),
                   stage(&w, &cow_2),    stage(&w, &cow_3),     stage(&w, &update_5)};
  char *pairs[][2] = {{texts[0], texts[2]}, {texts[2], texts[1]}, {texts[2], texts[3]},
                      {texts[4], texts[5]}, {texts[4], texts[6]}, {texts[6], texts[4]}};
  for (size_t i = 0; i < BL_LEN(pairs); i++) commit_fails(&w, pairs[i], 2, BL_CONFLICT, "staged changes: ");
  commit_ok(&w, texts, 2); /* the same row deleted twice */
  world_shows(&w, REST ROW(2, 1, "b", 1, 1) ROW(5, 2, "e", 4, 1));
  free_all(texts, BL_LEN(texts));
  world_end(&w);
}

/* Of a file of which every row is found nothing is read; its rows are written anew all the same. */
static void test_staged_verbs__whole_files_go_by_the_same_rules(void **state) {
  (void)state;
  static const char six[] = "{\"k\":6,\"p\":1,\"s\":\"F\"}\n";
  static const call some[] = {
      {run_update, "update", .set = "s = 'u'", .where = "k = 6", .mode = BL_MERGE_ON_READ},
      {run_update, "update", .set = "s = 'u'", .where = "k = 6", .mode = BL_COPY_ON_WRITE},
      {run_upsert, "upsert", .rows = six, .mode = BL_MERGE_ON_READ},
      {run_upsert, "upsert", .rows = six, .mode = BL_COPY_ON_WRITE},
      {run_delete, "delete", .where = "k = 6", .mode = BL_MERGE_ON_READ},
      {run_delete, "delete", .where = "k = 6", .mode = BL_COPY_ON_WRITE},
  };
  for (size_t i = 0; i < 16; i++) {
    world w = begin();
    const call *b = &some[i / 4 + (i / 4 > 1)]; /* an upsert and a delete among them */
    char *texts[] = {stage(&w, &some[i % 4]), stage(&w, b)};
    commit_fails(&w, texts, 2, BL_CONFLICT, "two of them remove it");
    char *turned[] = {texts[1], texts[0]};
    commit_fails(&w, turned, 2, BL_CONFLICT, "two of them remove it");
    free_all(texts, 2);
    world_end(&w);
  }
  world w = begin();
  char *texts[] = {stage(&w, &some[4]), stage(&w, &some[5])};
  commit_ok(&w, texts, 2);
  world_holds(&w, FIRST);
  free_all(texts, 2);
  world_end(&w);
}

static void test_staged_verbs__workers_that_replace_the_same_files_add_theirs(void **state) {
  (void)state;
  static const call one = {run_overwrite, "overwrite", .rows = "{\"k\":10,\"p\":1,\"s\":\"x\"}\n",
                           .kind = BL_OVERWRITE_ALL};
  static const call two = {run_overwrite, "overwrite", .rows = "{\"k\":11,\"p\":1,\"s\":\"y\"}\n",
                           .kind = BL_OVERWRITE_ALL};
  world w = begin();
  char *texts[] = {stage(&w, &one), stage(&w, &two)};
  commit_ok(&w, texts, 2);
  world_holds(&w, "{\"k\":10,\"p\":1,\"s\":\"x\"}\n{\"k\":11,\"p\":1,\"s\":\"y\"}\n");
  free_all(texts, 2);
  world_end(&w);
}

static void test_staged_verbs__filters_of_several_parts_are_looked_at_one_by_one(void **state) {
  (void)state;
  world w = begin();
  char *texts[] = {stage(&w, &delete_2), stage(&w, &delete_3), stage(&w, &update_5)};
  world_append(&w, "{\"k\":70,\"p\":1,\"s\":\"z\"}\n"); /* none of them has read it */
  commit_ok(&w, texts, 2);
  world_append(&w, "{\"k\":5,\"p\":1,\"s\":\"z\"}\n");
  commit_fails(&w, texts + 2, 1, BL_CONFLICT, "may hold rows");
  free_all(texts, 3);
  world_end(&w);
}

/* A predicate goes along as text. */
static void test_staged_verbs__every_predicate_comes_through(void **state) {
  (void)state;
  static const char *const where[] = {
      "true",
      "false",
      "k = null",
      "not (\"a.b\" = 'it''s' or \"In\" is null)",
      "_row_id in (0, 7) and _last_updated_sequence_number > 0",
      "meta._row_id = 1",
      "d < 0.5 or d is nan",
      "not (d > 1e300)",
      "i < 3000000000",
      "i in (1, null, -2)",
      "not i in (1, null)",
      "t >= timestamp '2024-02-29T12:00:00.000001'",
      "day <> date '1969-12-31'",
      "c between -12.50 and 99999999.99",
      "starts_with(\"a.b\", 'i') and k <> i",
      "in_.\"x y\" = 3",
      "u = uuid '6f3c5d0e-91d4-4f0c-8a2e-0d8b6a6f1c11'",
  };
  static const char rows[] =
      "{\"k\":1,\"a.b\":\"it's\",\"In\":1,\"d\":0.25,\"i\":1,\"t\":\"2024-03-01T00:00:00\",\"day\":\"2024-03-01\","
      "\"c\":\"-12.50\",\"in_\":{\"x y\":3},\"u\":\"6f3c5d0e-91d4-4f0c-8a2e-0d8b6a6f1c11\"}\n"
      "{\"k\":2,\"i\":-2}\n";
  world w =
      world_new(3,
                "k long, \"a.b\" string, \"In\" int, d double, i int, t timestamp, day date, c decimal(10,2), in_ "
                "struct<\"x y\": int>, u uuid",
                NULL);
  for (size_t i = 0; i < BL_LEN(where); i++) {
    const call c = {run_delete, "delete", .where = where[i], .mode = BL_MERGE_ON_READ};
    bl_error err = BL_ERROR_INIT;
    world_append(&w, rows);
    char *text = stage(&w, &c);
    test_ok(commit(&w, &text, 1, NULL, &err), &err);
    free(text);
  }
  world_end(&w);
}

/* ---- branch, batch, summary ---- */

static void test_staged_verbs__branch_batch_and_summary_go_along(void **state) {
  (void)state;
  world w = begin();
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_ref_create(w.t, "dev", true, NULL, NULL, &err), &err);
  world_reopen(&w);
  call c = delete_2, d = delete_3, e = delete_34;
  c.branch = d.branch = "dev";
  c.batch = d.batch = "night-1";
  c.summary = "job=seven";
  char *texts[] = {stage(&w, &c), stage(&w, &d), stage(&w, &e)};
  commit_fails(&w, texts + 1, 2, BL_USAGE, "branches differ");
  commit_ok(&w, texts, 2);
  const bl_ref *dev = bl_metadata_ref(w.t->metadata, BL_STR("dev"));
  const bl_snapshot *s = bl_metadata_snapshot(w.t->metadata, dev->snapshot_id);
  assert_true(s->id != world_head(&w)->id);
  assert_string_equal(bl_pairs_get(&s->summary, "bergline.batch-id").p, "night-1");
  assert_string_equal(bl_pairs_get(&s->summary, "job").p, "seven");
  assert_null(stage(&w, &c)); /* the batch is there */
  assert_true(w.r.already_applied);
  const char *job = "job=eight";
  const bl_write_options o = {.ref = "main", .batch_id = "night-2", .summary = &job, .n_summary = 1};
  test_ok(commit(&w, texts, 2, &o, &err), &err);
  assert_string_equal(world_summary(&w, "bergline.batch-id"), "night-2");
  assert_string_equal(world_summary(&w, "job"), "eight");
  free_all(texts, 3);
  world_end(&w);
}

static void test_staged_verbs__a_dry_run_and_changes_without_rows_are_not_staged(void **state) {
  (void)state;
  world w = begin();
  bl_error err = BL_ERROR_INIT;
  char *text = NULL, *texts[1];
  bl_write_options o = {.dry_run = true, .stage = &text};
  test_ok(bl_delete_rows(w.t, "k = 2", &o, &w.r, &err), &err);
  assert_int_equal(w.r.rows_deleted, 1);
  assert_null(text);
  o.dry_run = false;
  test_status(BL_USAGE, bl_rollback(w.t, "seq:1", &o, NULL, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, bl_cherry_pick(w.t, "seq:1", &o, NULL, &err), &err);
  texts[0] = stage(&w, &delete_2);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, commit(&w, texts, 1, &o, &err), &err);
  o.ref = "nowhere";
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_delete_rows(w.t, "k = 2", &o, NULL, &err), &err);
  assert_null(text);
  free(texts[0]);
  world_end(&w);
}

static void test_staged_verbs__files_in_plain_text_do_not_come_to_a_table_that_is_to_be_encrypted(void **state) {
  (void)state;
  world w = begin();
  bl_error err = BL_ERROR_INIT;
  static const char *const key[] = {"encryption.key-id=k1"};
  char *texts[] = {stage(&w, &calls[0])};
  test_ok(bl_set_properties(w.t, key, 1, NULL, 0, NULL, &err), &err);
  world_reopen(&w);
  commit_fails(&w, texts, 1, BL_UNSUPPORTED, "encryption.key-id");
  free_all(texts, 1);
  world_end(&w);
}

/* ---- given up ---- */

static void test_staged_verbs__files_of_what_is_given_up_go(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(calls); i++) {
    world w = begin();
    bl_error err = BL_ERROR_INIT;
    size_t before = world_count_files(&w);
    char *texts[] = {stage(&w, &calls[i]), NULL};
    test_ok(bl_abandon_staged(w.t, (const char *const *)texts, 2, &err), &err);
    assert_int_equal(world_count_files(&w), before);
    test_ok(bl_abandon_staged(w.t, (const char *const *)texts, 2, &err), &err);
    world_holds(&w, FIRST "{\"k\":6,\"p\":1,\"s\":\"f\"}\n");
    free_all(texts, 1);
    world_end(&w);
  }
}

static void test_staged_verbs__files_that_the_table_has_are_not_given_up(void **state) {
  (void)state;
  world w = begin();
  bl_error err = BL_ERROR_INIT;
  char *texts[] = {stage(&w, &calls[0]), stage(&w, &update_3)};
  bl_table *stale;
  test_ok(bl_table_open(w.ctx, w.table, NULL, &stale, &err), &err);
  commit_ok(&w, texts, 1);
  world_delete(&w, "true", BL_MERGE_ON_READ); /* but for older snapshots */
  size_t files = world_count_files(&w);
  test_status(BL_CONFLICT, bl_abandon_staged(stale, (const char *const *)texts, 2, &err), &err);
  assert_int_equal(world_count_files(&w), files);
  free_all(texts, 2);
  bl_table_free(stale);
  world_end(&w);
}

/* Only files that the document adds are its own. */
static void test_staged_verbs__a_damaged_list_of_files_removes_nothing_else(void **state) {
  (void)state;
  world w = begin();
  bl_error err = BL_ERROR_INIT;
  size_t files = world_count_files(&w);
  char *text = stage(&w, &delete_2), *at = strstr(text, "\"files\":[]");
  assert_non_null(at);
  char *changed = malloc(strlen(text) + strlen(w.t->metadata_path) + 10);
  assert_non_null(changed);
  sprintf(changed, "%.*s\"files\":[\"%s\"]%s", (int)(at - text), text, w.t->metadata_path, at + strlen("\"files\":[]"));
  test_ok(bl_abandon_staged(w.t, (const char *const *)&changed, 1, &err), &err);
  assert_int_equal(world_count_files(&w), files);
  free(changed);
  free(text);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_staged_verbs__each_comes_to_what_the_verb_comes_to),
      cmocka_unit_test(test_staged_verbs__others_may_commit_meanwhile_what_was_not_read),
      cmocka_unit_test(test_staged_verbs__files_are_added_as_they_lie),
      cmocka_unit_test(test_staged_verbs__deletes_of_others_unite_with_deletes),
      cmocka_unit_test(test_staged_verbs__an_update_and_a_delete_of_one_row_conflict),
      cmocka_unit_test(test_staged_verbs__rows_that_were_found_as_they_should_be_must_still_be_there),
      cmocka_unit_test(test_staged_verbs__parts_leave_each_other_the_rows_that_they_found_as_they_should_be),
      cmocka_unit_test(test_staged_verbs__counts_of_rows_may_be_absent_and_are_not_believed_to_fit),
      cmocka_unit_test(test_staged_verbs__a_description_without_its_table_is_taken_by_none),
      cmocka_unit_test(test_staged_verbs__appended_rows_that_match_conflict_where_serializable),
      cmocka_unit_test(test_staged_verbs__events_of_a_source_that_another_has_applied_conflict),
      cmocka_unit_test(test_staged_verbs__parts_become_one_snapshot),
      cmocka_unit_test(test_staged_verbs__a_part_that_is_given_twice_is_no_conflict_with_itself),
      cmocka_unit_test(test_staged_verbs__parts_that_touch_one_row_go_by_the_same_rules),
      cmocka_unit_test(test_staged_verbs__whole_files_go_by_the_same_rules),
      cmocka_unit_test(test_staged_verbs__workers_that_replace_the_same_files_add_theirs),
      cmocka_unit_test(test_staged_verbs__filters_of_several_parts_are_looked_at_one_by_one),
      cmocka_unit_test(test_staged_verbs__every_predicate_comes_through),
      cmocka_unit_test(test_staged_verbs__branch_batch_and_summary_go_along),
      cmocka_unit_test(test_staged_verbs__a_dry_run_and_changes_without_rows_are_not_staged),
      cmocka_unit_test(test_staged_verbs__files_in_plain_text_do_not_come_to_a_table_that_is_to_be_encrypted),
      cmocka_unit_test(test_staged_verbs__files_of_what_is_given_up_go),
      cmocka_unit_test(test_staged_verbs__files_that_the_table_has_are_not_given_up),
      cmocka_unit_test(test_staged_verbs__a_damaged_list_of_files_removes_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
