/* test_upsert.c: upsert and sync: keys, rows that differ, columns that are not given, passes over large sources. */
#include "rival.h"

static const bl_write_mode modes[] = {BL_MERGE_ON_READ, BL_COPY_ON_WRITE};
static const char *const key_k[] = {"k"};
static const char *const key_pk[] = {"p", "k"};

#define THREE "{\"k\":0,\"s\":\"a\"}\n{\"k\":1,\"s\":\"b\"}\n{\"k\":2,\"s\":null}\n"

/* ---- what is written ---- */

static void test_upsert__writes_only_rows_that_differ(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, THREE);
    world_upsert(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":1,\"s\":\"B\"}\n{\"k\":2,\"s\":null}\n{\"k\":3,\"s\":\"d\"}\n", &u,
                 modes[i]);
    counts_are(&w, 1, 1, 0, 2);
    row_is(&w, 0, 0, 1);
    row_is(&w, 1, 1, 2);
    row_is(&w, 2, 2, 1);
    test_rows got = world_scan(&w, NULL, true);
    assert_int_equal(got.n, 4);
    test_rows_free(&got);
    world_end(&w);
  }
}

static void test_upsert__of_what_is_there_makes_no_snapshot(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, THREE);
    size_t before = world_count_files(&w);
    world_upsert(&w, THREE, &u, modes[i]);
    counts_are(&w, 0, 0, 0, 3);
    assert_false(w.r.committed);
    world_upsert(&w, "{\"k\":7,\"s\":null}\n", &(bl_upsert_options){.key = key_k, .n_key = 1, .delete_when = "k = 7"},
                 modes[i]);
    assert_false(w.r.committed);
    assert_int_equal(world_count_files(&w), before);
    u.touch = true;
    world_upsert(&w, THREE, &u, modes[i]);
    counts_are(&w, 0, 3, 0, 0);
    row_is(&w, 2, 2, 2);
    world_end(&w);
  }
}

static void test_upsert__that_only_inserts_is_an_append(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_k, .n_key = 1};
  world w = world_new(3, "k long, s string", NULL);
  world_upsert(&w, THREE, &u, BL_MERGE_ON_READ);
  counts_are(&w, 3, 0, 0, 0);
  assert_string_equal(world_summary(&w, "operation"), "append");
  world_end(&w);
}

static void test_upsert__keeps_columns_that_do_not_come(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new(3, "k long, s string, v int", NULL);
    world_append(&w, "{\"k\":0,\"s\":\"a\",\"v\":1}\n{\"k\":1,\"s\":\"b\",\"v\":2}\n");
    world_upsert(&w, "k,v\n1,20\n0,1\n5,50\n", &u, modes[i]);
    counts_are(&w, 1, 1, 0, 1);
    world_holds(&w, "{\"k\":0,\"s\":\"a\",\"v\":1}\n{\"k\":1,\"s\":\"b\",\"v\":20}\n{\"k\":5,\"s\":null,\"v\":50}\n");
    world_upsert(&w, "{\"k\":0,\"s\":\"z\"}\n", &u, modes[i]);
    world_holds(&w, "{\"k\":0,\"s\":\"z\",\"v\":1}\n{\"k\":1,\"s\":\"b\",\"v\":20}\n{\"k\":5,\"s\":null,\"v\":50}\n");
    world_end(&w);
  }
}

static void test_upsert__deletes_when_a_column_of_the_input_says_so(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_when = "op = 'D' or s = 'gone'"};
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, THREE);
    world_upsert(&w, "k,s,op\n0,a,D\n1,gone,U\n2,c,U\n9,x,D\n", &u, modes[i]);
    counts_are(&w, 0, 1, 2, 0);
    world_holds(&w, "{\"k\":2,\"s\":\"c\"}\n");
    row_is(&w, 2, 2, 2);
    world_end(&w);
  }
}

/* ---- keys ---- */

static void test_upsert__goes_by_all_columns_of_the_key(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_pk, .n_key = 2};
    world w = world_new(3, "k string, p int, v int", "p");
    world_append(&w, "{\"k\":\"x\",\"p\":1,\"v\":1}\n{\"k\":\"x\",\"p\":2,\"v\":2}\n{\"k\":\"y\",\"p\":1,\"v\":3}\n");
    world_upsert(&w, "{\"k\":\"x\",\"p\":2,\"v\":20}\n{\"k\":\"y\",\"p\":2,\"v\":30}\n", &u, modes[i]);
    counts_are(&w, 1, 1, 0, 0);
    world_holds(&w, "{\"k\":\"x\",\"p\":1,\"v\":1}\n{\"k\":\"x\",\"p\":2,\"v\":20}\n{\"k\":\"y\",\"p\":1,\"v\":3}\n"
                    "{\"k\":\"y\",\"p\":2,\"v\":30}\n");
    world_end(&w);
  }
}

static void test_upsert__changes_every_row_of_a_key_that_the_table_has_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":0,\"s\":\"b\"}\n{\"k\":null,\"s\":\"n\"}\n");
    world_upsert(&w, "{\"k\":0,\"s\":\"b\"}\n", &u, modes[i]);
    counts_are(&w, 0, 1, 0, 1);
    world_shows(&w, "{\"k\":0,\"s\":\"b\",\"_row_id\":0,\"_last_updated_sequence_number\":2}\n"
                    "{\"k\":0,\"s\":\"b\",\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                    "{\"k\":null,\"s\":\"n\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n");
    world_end(&w);
  }
}

static void note_warning(void *user, bl_log_level level, const char *message) {
  if (level == BL_LOG_WARNING && strstr(message, "another row")) snprintf(user, 400, "%s", message);
}

static void test_upsert__warns_of_keys_that_the_table_has_more_than_once(void **state) {
  (void)state;
  char warning[400] = "";
  test_heap heap = {0};
  bl_ctx_options co;
  bl_ctx_options_init(&co);
  co.user = warning;
  co.log = note_warning;
  bl_upsert_options u = {.key = key_k, .n_key = 1};
  world w = world_new_with(test_ctx_on(&heap, &co), 3, "k long, s string", NULL);
  world_append(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":0,\"s\":\"b\"}\n{\"k\":0,\"s\":\"c\"}\n{\"k\":1,\"s\":\"a\"}\n");
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":2,\"s\":\"b\"}\n");
  world_upsert(&w, "k,s\n0,b\n1,a\n3,x\n", &u, BL_MERGE_ON_READ);
  counts_are(&w, 1, 2, 0, 3);
  assert_non_null(strstr(warning, "upsert: rows of the table whose key another row has, too: 3"));
  *warning = 0;
  world_upsert(&w, "k,s\n3,y\n", &u, BL_MERGE_ON_READ);
  assert_string_equal(warning, "");
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try_apply(&w, "{\"op\":\"u\",\"after\":{\"k\":2,\"s\":\"c\"}}\n", BL_APPLY_DEBEZIUM, &err), &err);
  assert_non_null(strstr(warning, "apply: rows of the table whose key another row has, too: 1"));
  world_end(&w);
}

static void upsert_fails(world *w, const char *lines, bl_upsert_options u, const char *says) {
  bl_error err = BL_ERROR_INIT;
  size_t before = world_count_files(w);
  test_status(BL_USAGE, world_try_upsert(w, lines, &u, BL_MODE_DEFAULT, &err), &err);
  test_says(&err, says);
  assert_int_equal(world_count_files(w), before);
}

/* A required column has its value where the row is: only a new row needs it. */
static void test_upsert__needs_required_columns_for_new_rows_alone(void **state) {
  (void)state;
  static const char *const verbs_say = "row 2 is new: column s: a required column is missing in the input";
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new(
        3, "k long, s string not null, q struct<x: int not null> not null, d int not null default 7, v int", NULL);
    world_append(&w, "{\"k\":0,\"s\":\"a\",\"q\":{\"x\":1},\"v\":1}\n{\"k\":1,\"s\":\"b\",\"q\":{\"x\":2},\"v\":2}\n");
    world_upsert(&w, "k,v\n1,20\n0,1\n", &u, modes[i]);
    counts_are(&w, 0, 1, 0, 1);
    const char *holds = "{\"k\":0,\"s\":\"a\",\"q\":{\"x\":1},\"d\":7,\"v\":1}\n"
                        "{\"k\":1,\"s\":\"b\",\"q\":{\"x\":2},\"d\":7,\"v\":20}\n";
    world_holds(&w, holds);
    upsert_fails(&w, "k,v\n1,21\n5,50\n", u, verbs_say);
    u.delete_missing = true;
    upsert_fails(&w, "k,v\n1,21\n5,50\n", u, verbs_say);
    world_holds(&w, holds);
    world_upsert(&w, "k,v\n1,21\n", &u, modes[i]);
    world_holds(&w, "{\"k\":1,\"s\":\"b\",\"q\":{\"x\":2},\"d\":7,\"v\":21}\n");
    world_end(&w);
  }
}

static void test_upsert__refuses_keys_that_are_none(void **state) {
  (void)state;
  static const char *const nope[] = {"nope"}, *const nested[] = {"st"}, *const twice[] = {"k", "k"},
                           *const inner[] = {"l.element"};
  world w = world_new(3, "k long, s string, st struct<a int>, l list<int>", NULL);
  const char *two = "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":1,\"s\":\"c\"}\n";
  upsert_fails(&w, two, (bl_upsert_options){.key = key_k, .n_key = 1}, "key k = 1: it is there twice, in rows 1 and 3");
  upsert_fails(&w, "{\"k\":1}\n{\"s\":\"b\"}\n", (bl_upsert_options){.key = key_k, .n_key = 1},
               "row 2: key column k is null");
  upsert_fails(&w, "s\nx\n", (bl_upsert_options){.key = key_k, .n_key = 1}, "key column k: the input lacks it");
  upsert_fails(&w, two, (bl_upsert_options){.key = nope, .n_key = 1}, "key column nope");
  upsert_fails(&w, two, (bl_upsert_options){.key = nested, .n_key = 1}, "a struct is no key");
  upsert_fails(&w, two, (bl_upsert_options){.key = twice, .n_key = 2}, "it is named twice");
  upsert_fails(&w, two, (bl_upsert_options){.key = inner, .n_key = 1}, "inside a list or map");
  upsert_fails(&w, two, (bl_upsert_options){.key = key_k}, "no key column is named");
  world_end(&w);
}

static void test_upsert__refuses_columns_that_no_one_asks_for(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, THREE);
  bl_upsert_options u = {.key = key_k, .n_key = 1};
  upsert_fails(&w, "k,s,more\n1,x,y\n", u, "more");
  upsert_fails(&w, "k,_row_id\n1,7\n", u, "_row_id");
  bl_error err = BL_ERROR_INIT;
  bl_read_options o = {.extra_columns = true};
  struct ArrowArrayStream s;
  text_input twice = bytes_of("k,_row_id,_row_id\n1,7,8\n");
  test_status(BL_USAGE, bl_read_rows(w.t, &twice.in, NULL, &o, &s, &err), &err);
  test_says(&err, "_row_id");
  u.delete_when = "absent = 1";
  upsert_fails(&w, "k,s\n1,x\n", u, "absent");
  u = (bl_upsert_options){.key = key_k, .n_key = 1, .last_wins = "absent"};
  upsert_fails(&w, "k,s\n1,x\n", u, "absent");
  world_end(&w);
}

static void test_upsert__takes_the_row_with_the_greatest_value(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_k, .n_key = 1, .last_wins = "at", .delete_when = "s = 'gone'"};
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, THREE);
  world_upsert(&w,
               "k,s,at\n1,late,2026-01-03\n1,early,2026-01-01\n1,gone,2026-01-02\n"
               "0,first,2026-01-01\n0,second,2026-01-01\n2,x,2026-01-01\n2,gone,2026-01-02\n",
               &u, BL_MERGE_ON_READ);
  counts_are(&w, 0, 2, 1, 0);
  world_holds(&w, "{\"k\":0,\"s\":\"second\"}\n{\"k\":1,\"s\":\"late\"}\n");
  world_end(&w);
}

/* ---- large sources ---- */

/* Rows [from, to) of k with a text that changes with `version`. */
static char *numbered(int64_t from, int64_t to, int version) {
  size_t cap = (size_t)(to - from) * 80 + 100, n = 0;
  char *p = malloc(cap);
  assert_non_null(p);
  n += (size_t)snprintf(p, cap, "k,s\n");
  for (int64_t k = from; k < to; k++)
    n += (size_t)snprintf(p + n, cap - n, "%lld,text of version %d for the key %lld\n", (long long)k,
                          k % 3 ? 0 : version, (long long)k);
  return p;
}

static void test_upsert__of_more_than_the_budget_comes_in_passes(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_ctx_options o;
    test_heap heap = {0};
    bl_ctx_options_init(&o);
    o.threads = 2;
    o.memory_budget = 200 * 1000;
    bl_ctx *ctx = test_ctx_on(&heap, &o);
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    world w = world_new_with(ctx, 3, "k long, s string", NULL);
    char *first = numbered(0, 6000, 1), *second = numbered(3000, 9000, 2);
    world_append(&w, first);
    world_upsert(&w, second, &u, modes[i]);
    counts_are(&w, 3000, 1000, 0, 2000);
    row_is(&w, 3000, 3000, 2);
    row_is(&w, 3001, 3001, 1);
    row_is(&w, 8, 8, 1);
    u.delete_missing = true;
    world_upsert(&w, second, &u, modes[i]);
    counts_are(&w, 0, 0, 3000, 6000);
    test_rows got = world_scan(&w, NULL, false);
    assert_int_equal(got.n, 6000);
    test_rows_free(&got);
    free(first);
    free(second);
    world_end(&w);
  }
}

/* A key of the source goes at first, and one that it would add comes each time. */
static bl_status change_keys(bl_table *t, int i, bl_error *err) {
  char line[60];
  snprintf(line, sizeof line, "{\"k\":%d,\"s\":\"theirs\"}\n", 8500 + i);
  if (i == 0) BL_TRY(bl_delete_rows(t, "k = 3000", NULL, NULL, err));
  return rival_appends(t, line, err);
}

static void test_upsert__in_passes_begins_anew_when_another_was_faster(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_ctx_options o;
    test_heap heap = {0};
    bl_upsert_options u = {.key = key_k, .n_key = 1};
    rival r;
    bl_ctx_options_init(&o);
    o.threads = 2;
    o.memory_budget = 200 * 1000;
    world w = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
    char *first = numbered(0, 6000, 1), *second = numbered(3000, 9000, 2);
    world_append(&w, first);
    rival_begin(&r, &w, 2, change_keys);
    world_upsert(&w, second, &u, modes[i]);
    assert_int_equal(r.done, 2);
    counts_are(&w, 2999, 1001, 0, 2000);
    row_is(&w, 8500, 6000, 5);
    row_is(&w, 8501, 6001, 5);
    row_is(&w, 3003, 3003, 5);
    row_is(&w, 3001, 3001, 1);
    test_rows got = world_scan(&w, NULL, false);
    assert_int_equal(got.n, 9000);
    test_rows_free(&got);
    rival_end(&r);
    free(first);
    free(second);
    world_end(&w);
  }
}

static bl_status append_key(bl_table *t, int i, bl_error *err) {
  char line[60];
  snprintf(line, sizeof line, "{\"k\":%d,\"s\":\"theirs\"}\n", 20000 + i);
  return rival_appends(t, line, err);
}

static void test_sync__in_passes_begins_anew_when_another_was_faster(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_ctx_options o;
    test_heap heap = {0};
    bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_missing = true};
    rival r;
    bl_ctx_options_init(&o);
    o.memory_budget = 200 * 1000;
    world w = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
    char *first = numbered(0, 6000, 1), *second = numbered(3000, 9000, 2);
    world_append(&w, first);
    rival_begin(&r, &w, 2, append_key);
    world_upsert(&w, second, &u, modes[i]);
    assert_int_equal(r.done, 2);
    counts_are(&w, 3000, 1000, 3002, 2000);
    world_upsert(&w, second, &u, modes[i]);
    counts_are(&w, 0, 0, 0, 6000);
    rival_end(&r);
    free(first);
    free(second);
    world_end(&w);
  }
}

static void test_sync__in_passes_finds_the_one_key_that_the_table_has_twice(void **state) {
  (void)state;
  bl_ctx_options o;
  test_heap heap = {0};
  bl_ctx_options_init(&o);
  o.threads = 2;
  o.memory_budget = 200 * 1000;
  world w = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
  char *rows = numbered(0, 6000, 1);
  world_append(&w, rows);
  world_append(&w, "k,s\n4711,again\n");
  upsert_fails(&w, rows, (bl_upsert_options){.key = key_k, .n_key = 1, .delete_missing = true},
               "sync: key k = 4711: the table has it in more than one row");
  free(rows);
  world_end(&w);
}

static void test_upsert__in_passes_still_finds_a_key_twice(void **state) {
  (void)state;
  bl_ctx_options o;
  test_heap heap = {0};
  bl_ctx_options_init(&o);
  o.memory_budget = 200 * 1000;
  world w = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
  char *rows = numbered(0, 6000, 1);
  size_t n = strlen(rows);
  char *more = malloc(n + 100);
  snprintf(more, n + 100, "%s17,again\n", rows);
  upsert_fails(&w, more, (bl_upsert_options){.key = key_k, .n_key = 1},
               "key k = 17: it is there twice, in rows 18 and 6001");
  free(rows);
  free(more);
  world_end(&w);
}

static void test_upsert__of_few_keys_skips_files_that_cannot_hold_them(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_k, .n_key = 1};
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":9,\"s\":\"b\"}\n");
  world_append(&w, "{\"k\":100,\"s\":\"a\"}\n{\"k\":109,\"s\":\"b\"}\n");
  world_append(&w, "{\"k\":200,\"s\":\"a\"}\n{\"k\":209,\"s\":\"b\"}\n");
  /* The middle file is not needed: without it nothing changes. */
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n;
  test_ok(bl_arena_new(w.ctx, &a, &err), &err);
  test_ok(bl_table_manifests(w.t, world_head(&w), a, &ms, &n, &err), &err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    test_ok(bl_table_manifest_entries(w.t, &ms[i], true, a, &es, &k, &err), &err);
    for (size_t j = 0; j < k; j++)
      if (es[j].sequence_number == 2) test_ok(w.t->io->remove(w.t->io, es[j].file.path.p, &err), &err);
  }
  bl_arena_free(a);
  world_upsert(&w, "{\"k\":5,\"s\":\"x\"}\n{\"k\":209,\"s\":\"y\"}\n", &u, BL_MERGE_ON_READ);
  counts_are(&w, 1, 1, 0, 0);
  test_status(BL_NOT_FOUND, world_try_upsert(&w, "{\"k\":105,\"s\":\"x\"}\n", &u, BL_MERGE_ON_READ, &err), &err);
  world_end(&w);
}

/* ---- sync ---- */

static void test_sync__makes_the_table_what_the_input_says(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_missing = true};
    world w = world_new(3, "k long, s string", NULL);
    world_append(&w, THREE);
    world_append(&w, "{\"k\":null,\"s\":\"no key\"}\n{\"k\":10,\"s\":\"j\"}\n");
    world_upsert(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":1,\"s\":\"B\"}\n{\"k\":4,\"s\":\"new\"}\n", &u, modes[i]);
    counts_are(&w, 1, 1, 3, 1);
    row_is(&w, 0, 0, 1);
    row_is(&w, 1, 1, 3);
    world_holds(&w, "{\"k\":0,\"s\":\"a\"}\n{\"k\":1,\"s\":\"B\"}\n{\"k\":4,\"s\":\"new\"}\n");
    world_upsert(&w, "k,s\n", &u, modes[i]);
    counts_are(&w, 0, 0, 3, 0);
    world_holds(&w, "");
    assert_int_equal(world_count_live(&w, BL_MANIFEST_DATA, NULL), 0);
    world_end(&w);
  }
}

/* Which of the rows is the surplus one is not told: none is touched until somebody says so. */
static void test_sync__refuses_a_key_that_the_table_has_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_missing = true};
    world w = world_new(3, "k long, s string", NULL);
    const char *rows = "{\"k\":1,\"s\":\"a\"}\n{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"c\"}\n";
    world_append(&w, rows);
    upsert_fails(&w, "k,s\n1,a\n2,C\n5,e\n", u,
                 "sync: key k = 1: the table has it in more than one row: delete the surplus ones first by their "
                 "_row_id (one is 1)");
    world_holds(&w, rows);
    world_delete(&w, "_row_id = 1", modes[i]);
    world_upsert(&w, "k,s\n1,a\n2,C\n5,e\n", &u, modes[i]);
    counts_are(&w, 1, 1, 0, 1);
    world_holds(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"C\"}\n{\"k\":5,\"s\":\"e\"}\n");
    row_is(&w, 1, 0, 1);
    world_end(&w);
  }
}

static void test_sync__refuses_a_key_of_two_files_without_row_ids(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_pk, .n_key = 2, .delete_missing = true};
  world w = world_new(2, "p int, k long", "p");
  world_append(&w, "{\"p\":1,\"k\":1}\n{\"p\":2,\"k\":1}\n");
  world_upsert(&w, "p,k\n1,1\n2,1\n", &u, BL_MODE_DEFAULT);
  assert_false(w.r.committed);
  world_append(&w, "{\"p\":2,\"k\":1}\n");
  upsert_fails(&w, "p,k\n1,1\n2,1\n", u,
               "sync: key p = 2, k = 1: the table has it in more than one row: delete the surplus ones first by _file "
               "and _pos (one is at 0 in ");
  world_end(&w);
}

static void test_sync__deletes_a_key_that_does_not_come_from_all_its_rows(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_missing = true};
  world w = world_new(3, "k long, s string", NULL);
  world_append(&w, "{\"k\":1,\"s\":\"a\"}\n{\"k\":1,\"s\":\"b\"}\n{\"k\":2,\"s\":\"c\"}\n");
  world_upsert(&w, "k,s\n2,c\n", &u, BL_MERGE_ON_READ);
  counts_are(&w, 0, 0, 2, 1);
  world_end(&w);
}

static void test_sync__without_vectors_in_format_version_2(void **state) {
  (void)state;
  bl_upsert_options u = {.key = key_k, .n_key = 1, .delete_missing = true};
  world w = world_new(2, "k long, s string", NULL);
  world_append(&w, THREE);
  world_upsert(&w, "{\"k\":0,\"s\":\"A\"}\n{\"k\":4,\"s\":\"new\"}\n", &u, BL_MODE_DEFAULT);
  counts_are(&w, 1, 1, 2, 0);
  world_holds(&w, "{\"k\":0,\"s\":\"A\"}\n{\"k\":4,\"s\":\"new\"}\n");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_upsert__writes_only_rows_that_differ),
      cmocka_unit_test(test_upsert__of_what_is_there_makes_no_snapshot),
      cmocka_unit_test(test_upsert__that_only_inserts_is_an_append),
      cmocka_unit_test(test_upsert__keeps_columns_that_do_not_come),
      cmocka_unit_test(test_upsert__deletes_when_a_column_of_the_input_says_so),
      cmocka_unit_test(test_upsert__goes_by_all_columns_of_the_key),
      cmocka_unit_test(test_upsert__changes_every_row_of_a_key_that_the_table_has_twice),
      cmocka_unit_test(test_upsert__warns_of_keys_that_the_table_has_more_than_once),
      cmocka_unit_test(test_upsert__needs_required_columns_for_new_rows_alone),
      cmocka_unit_test(test_upsert__refuses_keys_that_are_none),
      cmocka_unit_test(test_upsert__refuses_columns_that_no_one_asks_for),
      cmocka_unit_test(test_upsert__takes_the_row_with_the_greatest_value),
      cmocka_unit_test(test_upsert__of_more_than_the_budget_comes_in_passes),
      cmocka_unit_test(test_upsert__in_passes_begins_anew_when_another_was_faster),
      cmocka_unit_test(test_sync__in_passes_begins_anew_when_another_was_faster),
      cmocka_unit_test(test_upsert__in_passes_still_finds_a_key_twice),
      cmocka_unit_test(test_sync__in_passes_finds_the_one_key_that_the_table_has_twice),
      cmocka_unit_test(test_upsert__of_few_keys_skips_files_that_cannot_hold_them),
      cmocka_unit_test(test_sync__makes_the_table_what_the_input_says),
      cmocka_unit_test(test_sync__refuses_a_key_that_the_table_has_twice),
      cmocka_unit_test(test_sync__refuses_a_key_of_two_files_without_row_ids),
      cmocka_unit_test(test_sync__deletes_a_key_that_does_not_come_from_all_its_rows),
      cmocka_unit_test(test_sync__without_vectors_in_format_version_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
