/* test_staged.c: staged changes as documents. */
#include <unistd.h>

#include "commit_world.h"
#include "table/io.h"

static char *to_json(stage *s) {
  bl_buf b;
  bl_error err = BL_ERROR_INIT;
  bl_buf_init(&b, s->w->ctx, BL_BUF_MAX);
  test_ok(bl_staged_to_json(s->s, s->t, &b, &err), &err);
  char *text = malloc(b.n + 1);
  memcpy(text, b.p, b.n);
  text[b.n] = 0;
  bl_buf_free(&b);
  return text;
}

static void begin(world *w) {
  world_begin_on(w, test_ctx(), 3, "p");
  stage *s = world_stage(w);
  stage_add_in(s, "a", 5, 1);
  stage_add_in(s, "b", 5, 2);
  world_commit(w, s);
}

static stage *everything(world *w) {
  stage *s = world_stage(w);
  bl_column_metrics metrics[] = {{1, 10, 5, 1, BL_NONE, BL_STR("\1\0\0\0\0\0\0\0"), BL_STR("\2\0\0\0\0\0\0\0")},
                                 {2, BL_NONE, 5, 0, 0, BL_STR_NONE, BL_STR_NONE}};
  bl_data_file f = world_file(w, "c", 7);
  bl_value p = {.kind = BL_INT, .null = true};
  int64_t offsets[] = {4, 99};
  f.partition = &p, f.n_partition = 1;
  f.metrics = metrics, f.n_metrics = 2;
  f.split_offsets = offsets, f.n_split_offsets = 2;
  f.sort_order_id = 0;
  test_ok(bl_staged_add_data(s->s, &f, &w->err), &w->err);
  stage_remove(s, "a");
  stage_delete(s, "b", 4);
  stage_move(s, "b", 2);
  bl_expr *parsed, *bound;
  const bl_schema *schema = bl_metadata_current_schema(s->t->metadata);
  test_ok(bl_expr_parse(s->s->arena, BL_STR("id > 5 and p = 2"), &parsed, &w->err), &w->err);
  test_ok(bl_expr_bind(s->s->arena, parsed, schema, bl_meta_schema(), &bound, &w->err), &w->err);
  s->s->conflict_filter = bound;
  s->s->conflict_schema = schema;
  s->s->reads_rows = true;
  s->s->isolation = BL_SNAPSHOT;
  test_ok(bl_staged_note(s->s, "note", BL_STR("why \"so\""), &w->err), &w->err);
  test_ok(bl_staged_file_written(s->s, f.path, &w->err), &w->err);
  return s;
}

static void test_staged__documents_say_everything(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *s = everything(&w);
  char *text = to_json(s), *again;
  bl_staged *copy;
  test_ok(bl_staged_from_json(s->t, text, strlen(text), &copy, &w.err), &w.err);
  assert_int_equal(copy->n_data, 1);
  assert_int_equal(copy->data[0].n_metrics, 2);
  assert_int_equal(copy->data[0].metrics[0].upper.n, 8);
  assert_int_equal(copy->data[0].metrics[0].nans, BL_NONE);
  assert_true(copy->data[0].partition[0].null);
  assert_int_equal(copy->vectors[0].data->file.record_count, 5);
  assert_int_equal(bl_posset_count(copy->vectors[0].added), 2);
  assert_int_equal(bl_posset_count(copy->vectors[0].moved), 1);
  assert_int_equal(copy->base_snapshot_id, s->s->base_snapshot_id);
  bl_staged *mine = s->s;
  s->s = copy;
  again = to_json(s);
  assert_string_equal(text, again);
  bl_staged_free(mine);
  free(text);
  free(again);
  world_commit(&w, s);
  assert_string_equal(world_summary(&w, "note"), "why \"so\"");
  world_end(&w);
}

static void test_staged__several_are_committed_as_one(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *one = world_stage(&w), *two = world_stage(&w);
  stage_add_in(one, "c", 7, 1);
  stage_delete(one, "b", 1);
  stage_add_in(two, "d", 2, 2);
  stage_delete(two, "b", 3);
  char *texts[] = {to_json(one), to_json(two)};
  stage_free(one);
  stage_free(two);
  test_ok(bl_commit_staged(w.t, (const char *const *)texts, 2, NULL, &w.result, &w.err), &w.err);
  world_reopen(&w);
  world_shows(&w, "D@10 +c:7 id=10 raw=- seq=2 +d:2 id=17 raw=- seq=2\n"
                  "D@0 +a:5 id=0 raw=- seq=1 +b:5 id=5 raw=- seq=1\nV +v(b):2 seq=2");
  free(texts[0]);
  free(texts[1]);
  world_end(&w);
}

static void test_staged__changes_of_different_snapshots_do_not_mix(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *one = world_stage(&w);
  stage_delete(one, "b", 1);
  stage *between = world_stage(&w);
  stage_add_in(between, "x", 1, 1);
  world_commit(&w, between);
  stage *two = world_stage(&w);
  stage_delete(two, "b", 3);
  char *texts[] = {to_json(one), to_json(two)};
  stage_free(one);
  stage_free(two);
  bl_error err = BL_ERROR_INIT;
  bl_status st = bl_commit_staged(w.t, (const char *const *)texts, 2, NULL, &w.result, &err);
  test_status(BL_USAGE, st, &err);
  free(texts[0]);
  free(texts[1]);
  world_end(&w);
}

/* Text in place of what lies between two others. */
static void put_between(char **text, const char *before, const char *after, const char *what) {
  char *at = strstr(*text, before);
  assert_non_null(at);
  at += strlen(before);
  const char *end = strstr(at, after);
  char *changed = malloc(strlen(*text) + strlen(what) + 1);
  if (!end || !changed) fail();
  else sprintf(changed, "%.*s%s%s", (int)(at - *text), *text, what, end);
  free(*text);
  *text = changed;
}

static void test_staged__damage_is_told_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *before, *after, *what, *says;
  } wrong[] = {
      {"\"positions\":\"", "\"", "AAAA", "$.vectors[0].positions"},
      {"\"record-count\":", ",", "4", "row 4: the file has 4"},
      {"\"spec-id\":", ",", "7", "$.vectors[0].data.partition"},
      {"\"content\":\"", "\"", "equality-deletes", "$.vectors[0].data"},
      {"\"branch\":", ",", "1", "$.branch"},
      {"\"removed\":", ",", "{}", "$.removed"},
      {"\"isolation\":", ",", "\"none\"", "$.isolation"},
      {"\"base-snapshot-id\":", ",", "\"x\"", "$.base-snapshot-id"},
  };
  world w;
  begin(&w);
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    stage *s = world_stage(&w);
    stage_delete(s, "b", 4);
    s->s->branch = BL_STR("main");
    char *text = to_json(s);
    stage_free(s);
    put_between(&text, wrong[i].before, wrong[i].after, wrong[i].what);
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_commit_staged(w.t, (const char *const *)&text, 1, NULL, &w.result, &err), &err);
    test_says(&err, wrong[i].says);
    free(text);
  }
  world_end(&w);
}

static void test_staged__rows_of_a_file_that_is_not_there_are_a_conflict(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *s = world_stage(&w);
  stage_delete(s, "b", 4);
  char *text = to_json(s);
  stage_free(s);
  put_between(&text, "\"file-path\":\"", "\"", "/elsewhere/b.parquet");
  bl_error err = BL_ERROR_INIT;
  test_status(BL_CONFLICT, bl_commit_staged(w.t, (const char *const *)&text, 1, NULL, &w.result, &err), &err);
  test_says(&err, "/elsewhere/b.parquet");
  free(text);
  world_end(&w);
}

static void test_staged__wrong_documents_are_refused(void **state) {
  (void)state;
  world w;
  begin(&w);
  stage *s = world_stage(&w);
  stage_delete(s, "b", 1);
  char *text = to_json(s);
  stage_free(s);
  static const char *const wrong[][2] = {
      {"\"bergline-staged\":1", "\"bergline-staged\":2"},
      {"\"operation\":\"delete\"", "\"operation\":\"eat\""},
      {"\"positions\":\"", "\"positions\":\"!"},
      {"\"isolation\":", "\"isolatio\":"},
      {"\"table-uuid\":\"", "\"table-uuid\":\"x"},
      {"\"record-count\":5", "\"record-count\":-5"},
      {"\"content\":\"data\"", "\"content\":\"date\""},
      {"\"id\":\"", "\"idea\":\""},
      {"\"id\":\"", "\"id\":\"1,"},
      {"\"isolation\":\"", "\"isolation\":\"near"},
      {"\"reads-rows\":false", "\"reads-rows\":0"},
      {"\"keeps-rows\":", "\"keeps\":"},
      {"\"even-if-empty\":false", "\"even-if-empty\":false,\"after-position\":5"},
      {"\"even-if-empty\":false", "\"even-if-empty\":false,\"where\":\"x = 1\",\"schema-id\":0"},
      {"\"even-if-empty\":false", "\"even-if-empty\":false,\"where\":\"true\",\"schema-id\":9"},
      {"\"summary\":{", "\"summary\":{\"operation\":\"append\""}};
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    const char *at = strstr(text, wrong[i][0]);
    assert_non_null(at);
    char *changed = malloc(strlen(text) + 100);
    assert_non_null(changed);
    if (!changed) return;
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, wrong[i][1], at + strlen(wrong[i][0]));
    bl_staged *copy;
    bl_error err = BL_ERROR_INIT;
    bl_status st = bl_staged_from_json(w.t, changed, strlen(changed), &copy, &err);
    assert_true(st == BL_USAGE || st == BL_UNSUPPORTED);
    assert_int_equal(err.status, st);
    assert_null(copy);
    free(changed);
  }
  free(text);
  world_end(&w);
}

/* ---- committed again ---- */

/* A description of one new file, which is there. */
static char *described(world *w, const char *name) {
  stage *s = world_stage(w);
  stage_add_in(s, name, 7, 1);
  test_ok(bl_io_write_all(s->t->io, s->s->data[0].path.p, "rows", 4, true, &w->err), &w->err);
  test_ok(bl_staged_file_written(s->s, s->s->data[0].path, &w->err), &w->err);
  char *text = to_json(s);
  stage_free(s);
  return text;
}

static bl_status commit(world *w, char **texts, size_t n, const bl_write_options *o, bl_error *err) {
  w->result = (bl_write_result){0};
  bl_status st = bl_commit_staged(w->t, (const char *const *)texts, n, o, &w->result, err);
  world_reopen(w);
  return st;
}

static void commit_ok(world *w, char **texts, size_t n, const bl_write_options *o, bool already) {
  bl_error err = BL_ERROR_INIT;
  test_ok(commit(w, texts, n, o, &err), &err);
  assert_int_equal(w->result.already_applied, already);
  assert_int_equal(w->result.committed, !already);
}

static bool is_there(world *w, const char *name) {
  char path[700];
  snprintf(path, sizeof path, "%s/data/%s.parquet", w->table, name);
  return access(path, F_OK) == 0;
}

static void test_staged__files_are_committed_once(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  begin(&w);
  char *texts[] = {described(&w, "c"), described(&w, "d"), described(&w, "e")};
  commit_ok(&w, texts, 2, NULL, false);
  commit_ok(&w, texts, 2, NULL, true);
  world_append(&w, "x", 1);
  commit_ok(&w, texts, 2, NULL, true);
  commit_ok(&w, texts + 1, 1, NULL, true);
  test_status(BL_CONFLICT, commit(&w, texts + 1, 2, NULL, &err), &err);
  test_says(&err, "1 of 2");
  commit_ok(&w, texts + 2, 1, NULL, false);
  char *twice[] = {texts[2], texts[2]};
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, commit(&w, twice, 2, NULL, &err), &err);
  assert_int_equal(w.t->metadata->n_snapshots, 4);
  assert_true(is_there(&w, "c") && is_there(&w, "d") && is_there(&w, "e"));
  for (size_t i = 0; i < BL_LEN(texts); i++) free(texts[i]);
  world_end(&w);
}

static void test_staged__files_of_a_batch_that_is_there_stay(void **state) {
  (void)state;
  world w;
  const bl_write_options o = {.batch_id = "b"};
  begin(&w);
  char *texts[] = {described(&w, "c"), described(&w, "d")};
  commit_ok(&w, texts, 1, &o, false);
  commit_ok(&w, texts, 1, &o, true);
  commit_ok(&w, texts + 1, 1, &o, true); /* who staged it knows whether it is in use elsewhere */
  assert_true(is_there(&w, "c") && is_there(&w, "d"));
  for (size_t i = 0; i < BL_LEN(texts); i++) free(texts[i]);
  world_end(&w);
}

static void test_staged__files_come_once_to_each_branch(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  const bl_write_options dev = {.ref = "dev"}, wap = {.wap_id = "w"};
  begin(&w);
  int64_t first = world_head(&w)->id;
  char id[30];
  snprintf(id, sizeof id, "%lld", (long long)first);
  char *texts[] = {described(&w, "c"), described(&w, "d")};
  test_ok(bl_ref_create(w.t, "dev", true, NULL, NULL, &err), &err);
  world_reopen(&w);
  commit_ok(&w, texts, 1, &dev, false);
  commit_ok(&w, texts, 1, NULL, false);
  commit_ok(&w, texts, 1, &dev, true);
  test_ok(bl_rollback(w.t, id, NULL, NULL, &err), &err);
  world_reopen(&w);
  commit_ok(&w, texts, 1, NULL, false); /* it is no longer there */
  commit_ok(&w, texts + 1, 1, &wap, false);
  commit_ok(&w, texts + 1, 1, &wap, true);
  world_append(&w, "x", 1);
  test_ok(bl_cherry_pick(w.t, "wap:w", NULL, &w.result, &err), &err);
  assert_true(w.result.committed);
  world_reopen(&w);
  commit_ok(&w, texts + 1, 1, NULL, true);
  for (size_t i = 0; i < BL_LEN(texts); i++) free(texts[i]);
  world_end(&w);
}

static void test_staged__what_was_committed_before_it_was_published_is_not_picked(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  begin(&w);
  char *text = described(&w, "c");
  commit_ok(&w, &text, 1, &(bl_write_options){.wap_id = "w"}, false);
  commit_ok(&w, &text, 1, NULL, false);
  test_ok(bl_cherry_pick(w.t, "wap:w", NULL, &w.result, &err), &err);
  assert_true(w.result.already_applied);
  free(text);
  world_end(&w);
}

/* Who commits the same at the same time. */
typedef struct twin {
  world *w;
  char *text;
  bool done;
} twin;

static bl_status commit_first(void *user, long call, const char *operation, const char *path, bl_error *err) {
  twin *x = user;
  bl_error why = BL_ERROR_INIT;
  bl_table *t;
  (void)call, (void)path, (void)err;
  if (x->done || strcmp(operation, "lock") != 0) return BL_OK;
  x->done = true;
  test_ok(bl_table_open(x->w->ctx, x->w->table, &x->w->options, &t, &why), &why);
  test_ok(bl_commit_staged(t, (const char *const *)&x->text, 1, NULL, NULL, &why), &why);
  bl_table_free(t);
  return BL_OK;
}

static void test_staged__two_who_commit_one_description_commit_it_once(void **state) {
  (void)state;
  world w;
  begin(&w);
  twin x = {&w, described(&w, "c"), false};
  w.io.hook = commit_first;
  w.io.user = &x;
  commit_ok(&w, &x.text, 1, NULL, true);
  assert_true(x.done && is_there(&w, "c"));
  assert_int_equal(w.t->metadata->n_snapshots, 2);
  free(x.text);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_staged__documents_say_everything),
      cmocka_unit_test(test_staged__several_are_committed_as_one),
      cmocka_unit_test(test_staged__changes_of_different_snapshots_do_not_mix),
      cmocka_unit_test(test_staged__wrong_documents_are_refused),
      cmocka_unit_test(test_staged__damage_is_told_with_its_place),
      cmocka_unit_test(test_staged__rows_of_a_file_that_is_not_there_are_a_conflict),
      cmocka_unit_test(test_staged__files_are_committed_once),
      cmocka_unit_test(test_staged__files_of_a_batch_that_is_there_stay),
      cmocka_unit_test(test_staged__files_come_once_to_each_branch),
      cmocka_unit_test(test_staged__what_was_committed_before_it_was_published_is_not_picked),
      cmocka_unit_test(test_staged__two_who_commit_one_description_commit_it_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
