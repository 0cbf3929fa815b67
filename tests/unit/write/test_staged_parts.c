/* test_staged_parts.c: predicates of staged changes that name parts of _partition: each means the partition field that
 * it meant when the change was staged, whatever the field's name, or that name, stands for when it is committed. */
#include "verb_calls.h"
#include "write/commit.h"

#define ROWS                                                                                                           \
  "{\"k\":1,\"p\":1,\"s\":\"a\"}\n{\"k\":2,\"p\":1,\"s\":\"b\"}\n{\"k\":3,\"p\":2,\"s\":\"c\"}\n"                      \
  "{\"k\":4,\"p\":null,\"s\":\"d\"}\n"

static world begin_with(int version, const char *partition) {
  world w = world_new(version, "k long not null, p int, s string", partition);
  world_append(&w, ROWS);
  return w;
}

static void alter(world *w, const char *what, const char *field) {
  const char *words[] = {"partition", what, field};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_alter(w->t, words, 3, NULL, &err), &err);
  world_reopen(w);
}

/* As another implementation does it: the field keeps its id. */
static bl_status rename_first(void *user, bl_edit *e, bl_error *err) {
  const bl_partition_spec *now = bl_metadata_spec(e->base, e->base->default_spec_id);
  bl_partition_spec spec = {.fields = bl_arena_calloc(e->a, now->n_fields, sizeof *spec.fields),
                            .n_fields = now->n_fields};
  int32_t id;
  assert_non_null(spec.fields);
  memcpy(spec.fields, now->fields, now->n_fields * sizeof *spec.fields);
  spec.fields[0].name = bl_str_of(user);
  return bl_edit_default_spec(e, bl_spec_to_json(e->a, &spec), e->base->last_partition_id, &id, err);
}

static void rename_part(world *w, const char *to) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_commit_metadata(w->t, "test", rename_first, (void *)(uintptr_t)to, NULL, &err), &err);
  world_reopen(w);
}

static char *stage_delete(world *w, const char *where) {
  const call c = {run_delete, "delete", .where = where, .mode = BL_COPY_ON_WRITE};
  char *text = stage(w, &c);
  assert_non_null(text);
  return text;
}

/* It is committed, or (says) a conflict. */
static void check_commit(world *w, char *text, const char *says) {
  if (says) commit_fails(w, &text, 1, BL_CONFLICT, says);
  else commit_ok(w, &text, 1);
  assert_int_equal(w->r.committed, !says);
  free(text);
}

static const char conflict[] = "may hold rows that the change would have read";

/* ---- renamed ---- */

static void test_staged_parts__a_field_that_was_renamed_is_the_same(void **state) {
  (void)state;
  static const char *const where[] = {"_partition.p = 1", "meta._partition.p in (1, 7)",
                                      "not (_partition.p <> 1) and s <> 'q'", "_partition.p = p and p = 1"};
  for (int version = 1; version <= 3; version++)
    for (size_t i = 0; i < BL_LEN(where); i++) {
      world w = begin_with(version, "p");
      char *text = stage_delete(&w, where[i]);
      rename_part(&w, "q");
      check_commit(&w, text, NULL);
      world_holds(&w, "{\"k\":3,\"p\":2,\"s\":\"c\"}\n{\"k\":4,\"p\":null,\"s\":\"d\"}\n");
      world_end(&w);
    }
}

static void test_staged_parts__rows_that_came_under_the_new_name_count(void **state) {
  (void)state;
  for (int other = 0; other < 2; other++)
    for (int before = 0; before < 2; before++) {
      const char *row = other ? "{\"k\":9,\"p\":2,\"s\":\"z\"}\n" : "{\"k\":9,\"p\":1,\"s\":\"z\"}\n";
      world w = begin_with(3, "p");
      char *text = stage_delete(&w, "_partition.p = 1");
      if (before) world_append(&w, row);
      rename_part(&w, "q");
      if (!before) world_append(&w, row);
      check_commit(&w, text, other ? NULL : conflict);
      world_end(&w);
    }
}

static void test_staged_parts__two_fields_that_changed_names_are_told_apart(void **state) {
  (void)state;
  for (int matches = 0; matches < 2; matches++) {
    world w = begin_with(3, "p, truncate(1, s)");
    char *text = stage_delete(&w, "_partition.s_trunc = 'a'");
    rename_part(&w, "other");
    world_append(&w, matches ? "{\"k\":9,\"p\":2,\"s\":\"a\"}\n" : "{\"k\":9,\"p\":1,\"s\":\"z\"}\n");
    check_commit(&w, text, matches ? conflict : NULL);
    world_end(&w);
  }
}

/* ---- removed ---- */

static void test_staged_parts__a_field_that_was_removed_is_null_in_new_files(void **state) {
  (void)state;
  static const struct {
    const char *where, *row, *says;
  } cases[] = {{"_partition.p = 1", "{\"k\":9,\"p\":1,\"s\":\"z\"}\n", NULL},
               {"_partition.p is null", "{\"k\":9,\"p\":1,\"s\":\"z\"}\n", conflict},
               {"_partition.p is not null and p = 1", "{\"k\":9,\"p\":1,\"s\":\"z\"}\n", NULL}};
  for (int version = 1; version <= 3; version++)
    for (size_t i = 0; i < BL_LEN(cases); i++) {
      world w = begin_with(version, "p");
      char *text = stage_delete(&w, cases[i].where);
      alter(&w, "drop", "p");
      world_append(&w, cases[i].row);
      check_commit(&w, text, cases[i].says);
      world_end(&w);
    }
}

static void test_staged_parts__rows_that_came_before_the_field_was_removed_count(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++)
    for (int matches = 0; matches < 2; matches++) {
      world w = begin_with(version, "p");
      char *text = stage_delete(&w, "_partition.p = 1");
      world_append(&w, matches ? "{\"k\":9,\"p\":1,\"s\":\"z\"}\n" : "{\"k\":9,\"p\":2,\"s\":\"z\"}\n");
      alter(&w, "drop", "p");
      check_commit(&w, text, matches ? conflict : NULL);
      world_end(&w);
    }
}

/* ---- the name is another's ---- */

static void test_staged_parts__a_field_that_took_the_name_is_another(void **state) {
  (void)state;
  static const struct {
    const char *where, *says;
  } cases[] = {{"_partition.part = 0", NULL}, {"_partition.part is null or k = 1", conflict}};
  for (int version = 1; version <= 3; version++)
    for (size_t i = 0; i < BL_LEN(cases); i++) {
      world w = begin_with(version, "bucket(1, k) as part");
      char *text = stage_delete(&w, cases[i].where);
      alter(&w, "drop", "part");
      alter(&w, "add", "truncate(10, p) as part");
      world_append(&w, "{\"k\":9,\"p\":1,\"s\":\"z\"}\n"); /* 0 of the new one */
      check_commit(&w, text, cases[i].says);
      world_end(&w);
    }
}

static void test_staged_parts__files_of_the_field_that_lost_the_name_count(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    world w = begin_with(version, "bucket(1, k) as part");
    char *text = stage_delete(&w, "_partition.part = 0 and k < 3");
    world_append(&w, "{\"k\":0,\"p\":77,\"s\":\"z\"}\n"); /* 0 of the old one */
    alter(&w, "drop", "part");
    alter(&w, "add", "truncate(10, p) as part");
    check_commit(&w, text, conflict);
    world_end(&w);
  }
}

/* ---- several ---- */

static void test_staged_parts__workers_may_have_known_a_field_by_different_names(void **state) {
  (void)state;
  world w = begin_with(3, "p");
  char *texts[2];
  texts[0] = stage_delete(&w, "_partition.p = 1");
  rename_part(&w, "q");
  texts[1] = stage_delete(&w, "_partition.q = 2");
  rename_part(&w, "r");
  world_append(&w, "{\"k\":9,\"p\":5,\"s\":\"z\"}\n");
  commit_ok(&w, texts, 2);
  world_holds(&w, "{\"k\":9,\"p\":5,\"s\":\"z\"}\n{\"k\":4,\"p\":null,\"s\":\"d\"}\n");
  free_all(texts, 2);
  world_end(&w);
}

/* ---- documents ---- */

/* The text with what stands between `before` and the next `after` replaced. */
static char *changed(const char *text, const char *before, const char *after, const char *what) {
  const char *at = strstr(text, before);
  assert_non_null(at);
  at += strlen(before);
  const char *rest = strstr(at, after);
  assert_non_null(rest);
  char *out = malloc(strlen(text) + strlen(what) + 1);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, what, rest);
  return out;
}

static void test_staged_parts__documents_say_which_fields_are_meant(void **state) {
  (void)state;
  world w = begin_with(3, "p, bucket(2, k), truncate(1, s)");
  char *text = stage_delete(&w, "_partition.s_trunc = 'a' or _partition.p = 1 and _partition.s_trunc is null");
  assert_non_null(strstr(text, "\"partition-type\":{\"type\":\"struct\""));
  assert_non_null(strstr(text, "{\"id\":1000,\"name\":\"p\",\"required\":false,\"type\":\"int\"}"));
  assert_non_null(strstr(text, "{\"id\":1002,\"name\":\"s_trunc\",\"required\":false,\"type\":\"string\"}"));
  assert_null(strstr(text, "\"name\":\"k_bucket\"")); /* it is not named */
  free(text);
  text = stage_delete(&w, "p = 1 and _pos >= 0");
  assert_null(strstr(text, "partition-type"));
  free(text);
  world_end(&w);
}

/* Its spec may be gone with the last file that was written by it. */
static void test_staged_parts__a_field_that_the_table_does_not_know_is_null_everywhere(void **state) {
  (void)state;
  for (int null = 0; null < 2; null++) {
    world w = begin_with(3, "p");
    char *text = stage_delete(&w, null ? "_partition.p is null" : "_partition.p = 1");
    char *other =
        changed(text, "\"partition-type\":{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":", ",", "4711");
    free(text);
    world_append(&w, "{\"k\":9,\"p\":1,\"s\":\"z\"}\n");
    check_commit(&w, other, null ? conflict : NULL);
    world_end(&w);
  }
}

/* Those of older versions go by the names that the table has. */
static void test_staged_parts__documents_that_do_not_say_it_go_by_names(void **state) {
  (void)state;
  for (int renamed = 0; renamed < 2; renamed++) {
    world w = begin_with(3, "p");
    char *text = stage_delete(&w, "_partition.p = 1"), *older = changed(text, "\"partition-", "\"", "gone");
    free(text);
    if (renamed) {
      rename_part(&w, "q");
      commit_fails(&w, &older, 1, BL_USAGE, "$.where");
    } else {
      commit_ok(&w, &older, 1);
      assert_true(w.r.committed);
    }
    free(older);
    world_end(&w);
  }
}

static void test_staged_parts__damage_is_told_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *before, *after, *what, *says;
    bl_status st; /* 0: BL_USAGE */
  } wrong[] = {
      {"\"partition-type\":", ",\"data\"", "7", "$.partition-type"},
      {"\"partition-type\":", ",\"data\"", "{\"type\":\"struct\"}", "$.partition-type"},
      {"\"partition-type\":", ",\"data\"", "{\"type\":\"struct\",\"fields\":[]}", "$.where"},
      {"[{\"id\":", ",", "-1000", "$.partition-type.fields[0]"},
      {"[{\"id\":", ",", "0", "$.partition-type"},
      {"[{\"id\":", ",", "\"x\"", "$.partition-type.fields[0].id"},
      {"\"name\":\"p\",\"required\":false,\"type\":", "}", "\"long integer\"", "$.partition-type.fields[0].type",
       BL_UNSUPPORTED},
      {"\"name\":\"p\",\"required\":false,\"type\":", "}",
       "{\"type\":\"list\",\"element-id\":7,\"element-required\":false,\"element\":\"int\"}", "$.partition-type"},
      {"\"name\":\"p\",\"required\":false,\"type\":", "}", "\"uuid\"", "$.where"},
      {"\"name\":", ",", "\"z\"", "$.where"},
  };
  world w = begin_with(3, "p");
  char *text = stage_delete(&w, "_partition.p = 1");
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    char *other = changed(text, wrong[i].before, wrong[i].after, wrong[i].what);
    commit_fails(&w, &other, 1, wrong[i].st ? wrong[i].st : BL_USAGE, wrong[i].says);
    free(other);
  }
  free(text);
  world_end(&w);
}

static bl_status read_and_free(bl_ctx *ctx, void *user, bl_error *err) {
  void **x = user;
  bl_table *t = NULL;
  bl_staged *s = NULL;
  bl_status st;
  BL_GO(bl_table_open(ctx, x[0], NULL, &t, err));
  BL_GO(bl_staged_from_json(t, x[1], strlen(x[1]), &s, err));
  bl_staged_free(s);
done:
  bl_table_free(t);
  return st;
}

static void test_staged_parts__survives_each_failing_allocation(void **state) {
  (void)state;
  world w = begin_with(3, "p");
  void *x[] = {w.table, stage_delete(&w, "_partition.p = 1")};
  test_fail_each(read_and_free, x);
  free(x[1]);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_staged_parts__a_field_that_was_renamed_is_the_same),
      cmocka_unit_test(test_staged_parts__rows_that_came_under_the_new_name_count),
      cmocka_unit_test(test_staged_parts__two_fields_that_changed_names_are_told_apart),
      cmocka_unit_test(test_staged_parts__a_field_that_was_removed_is_null_in_new_files),
      cmocka_unit_test(test_staged_parts__rows_that_came_before_the_field_was_removed_count),
      cmocka_unit_test(test_staged_parts__a_field_that_took_the_name_is_another),
      cmocka_unit_test(test_staged_parts__files_of_the_field_that_lost_the_name_count),
      cmocka_unit_test(test_staged_parts__workers_may_have_known_a_field_by_different_names),
      cmocka_unit_test(test_staged_parts__documents_say_which_fields_are_meant),
      cmocka_unit_test(test_staged_parts__a_field_that_the_table_does_not_know_is_null_everywhere),
      cmocka_unit_test(test_staged_parts__documents_that_do_not_say_it_go_by_names),
      cmocka_unit_test(test_staged_parts__damage_is_told_with_its_place),
      cmocka_unit_test(test_staged_parts__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
