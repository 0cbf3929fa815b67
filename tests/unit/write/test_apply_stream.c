/* test_apply_stream.c: change events that come as Arrow streams: what bl_changes gives is applied without text between,
 * envelopes of Debezium in a column or in several. */
#include "column_stream.h"
#include "rival.h"
#include "support/chance.h"

static const char *const by_k[] = {"k"};

static bl_apply_options with_key(bl_apply_source source) {
  return (bl_apply_options){.source = source, .key = by_k, .n_key = 1};
}

/* The stream is consumed, whatever comes of it. */
static bl_status try_apply(world *w, struct ArrowArrayStream *events, bl_apply_source source, const bl_write_options *o,
                           bl_error *err) {
  const bl_apply_options a = with_key(source);
  bl_status st = bl_apply(w->t, events, &a, o, &w->r, err);
  assert_null(events->release);
  world_reopen(w);
  return st;
}

static void apply(world *w, struct ArrowArrayStream *events, bl_apply_source source) {
  bl_error err = BL_ERROR_INIT;
  test_ok(try_apply(w, events, source, NULL, &err), &err);
}

static void fails(world *w, struct ArrowArrayStream *events, bl_apply_source source, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  size_t before = world_count_files(w);
  test_status(want, try_apply(w, events, source, NULL, &err), &err);
  test_says(&err, says);
  assert_int_equal(world_count_files(w), before);
}

static struct ArrowArrayStream changes_with(world *from, const bl_changes_options *o) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_ok(bl_changes(from->t, o, &s, &err), &err);
  return s;
}

static struct ArrowArrayStream changes(world *from, const char *since) {
  return changes_with(from, &(bl_changes_options){.from = since});
}

static struct ArrowArrayStream columns(world *w, const input_column *c, size_t n, size_t rows) {
  struct ArrowArrayStream s;
  make_stream(w->ctx, c, n, rows, &s);
  return s;
}

static void same_rows(world *a, world *b, const char *what) {
  test_rows x = world_scan(a, NULL, false), y = world_scan(b, NULL, false);
  free(y.columns); /* in any order */
  y.columns = x.columns ? strdup(x.columns) : NULL;
  test_rows_same(&x, &y, what);
  test_rows_free(&x);
  test_rows_free(&y);
}

/* ---- from one table to another ---- */

static void test_stream__of_changes_makes_a_copy_and_keeps_it_up(void **state) {
  (void)state;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n{\"k\":3,\"s\":null}\n");
  world_update(&from, "s = s || '!'", "k < 3", BL_MERGE_ON_READ);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  counts_are(&to, 3, 0, 0, 0);
  world_delete(&from, "k = 3", BL_MERGE_ON_READ);
  world_update(&from, "s = 'x'", "k = 2", BL_COPY_ON_WRITE);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES); /* the first commits are known */
  counts_are(&to, 0, 1, 1, 0);
  assert_int_equal(to.r.events_passed_over, 7);
  same_rows(&from, &to, "all again");
  apply(&to, (s = changes(&from, "seq:2"), &s), BL_APPLY_CHANGES);
  assert_true(to.r.already_applied);
  world_update(&from, "k = 3 - k", NULL, BL_MERGE_ON_READ); /* keys change places in one commit */
  apply(&to, (s = changes(&from, "seq:4"), &s), BL_APPLY_CHANGES);
  counts_are(&to, 0, 2, 0, 0);
  same_rows(&from, &to, "places changed");
  world_end(&from);
  world_end(&to);
}

/* One of many: rows of keys 0 … 59 appended, changed, deleted, put anew. */
static void change_source(world *w, rng *r, int step) {
  static const char *const key[] = {"k"};
  const bl_upsert_options u = {.key = key, .n_key = 1};
  bl_write_mode mode = rng_between(r, 0, 1) ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE;
  int64_t a = rng_between(r, 0, 59), n = rng_between(r, 1, 20);
  char where[100], set[100], rows[4000] = "";
  snprintf(where, sizeof where, "k between %d and %d", (int)a, (int)(a + n));
  snprintf(set, sizeof set, "s = coalesce(s, '') || '%d'", step % 10);
  switch (rng_between(r, 0, 3)) {
  case 0: world_delete(w, where, mode); break;
  case 1: world_update(w, set, where, mode); break;
  case 2: world_update(w, "v = v + 1", where, mode); break;
  default:
    for (int64_t k = a; k < a + n; k++)
      snprintf(rows + strlen(rows), 100, "{\"k\":%d,\"s\":%s,\"v\":%d,\"p\":%d}\n", (int)k,
               rng_between(r, 0, 3) ? "\"new\"" : "null", (int)rng_between(r, 0, 9), (int)(k % 3));
    world_upsert(w, rows, &u, mode);
  }
}

/* The ids of keys, -1: there is none. */
static void ids_of(world *w, int64_t ids[80]) {
  test_rows rows = world_scan(w, NULL, true);
  for (int i = 0; i < 80; i++) ids[i] = -1;
  for (size_t i = 0; i < rows.n; i++) ids[test_rows_int(&rows, i, "k")] = test_rows_int(&rows, i, "_row_id");
  test_rows_free(&rows);
}

static void follow(uint64_t seed, const bl_changes_options *o, const char *partition) {
  world from = world_new(3, "k long not null, s string, v int, p int", "p");
  world to = world_new(3, "p int, k long not null, v long, s string", partition);
  rng r = {seed};
  char last[40] = "";
  int64_t before[80], after[80];
  world_append(&from, "{\"k\":7,\"s\":\"first\",\"v\":1,\"p\":1}\n");
  for (int step = 0; step < 8; step++) {
    bl_changes_options now = *o;
    struct ArrowArrayStream s;
    for (int64_t i = rng_between(&r, 1, 3); i > 0; i--) change_source(&from, &r, step);
    now.from = last[0] && rng_between(&r, 0, 3) ? last : NULL; /* else all of it again */
    ids_of(&to, before);
    apply(&to, (s = changes_with(&from, &now), &s), BL_APPLY_CHANGES);
    ids_of(&to, after);
    same_rows(&from, &to, "after a step");
    for (int k = 0; k < 80; k++)
      if (before[k] >= 0 && after[k] >= 0) assert_int_equal(before[k], after[k]);
    snprintf(last, sizeof last, "%lld", (long long)world_head(&from)->id);
  }
  world_end(&from);
  world_end(&to);
}

static void test_stream__of_random_histories_keeps_two_tables_equal(void **state) {
  (void)state;
  static const char *const numbered[] = {"s", "k", "_commit_sequence_number", "v", "p"};
  const bl_changes_options plain = {0}, paired = {.key = by_k, .n_key = 1, .after_images = true},
                           exact = {.columns = numbered, .n_columns = 5};
  for (uint64_t seed = 1; seed <= 2; seed++) {
    follow(seed, &plain, NULL);
    follow(100 + seed, &paired, "p");
    follow(200 + seed, &exact, NULL);
  }
}

#define EVERY_TYPE                                                                                                     \
  "k long, b boolean, i int, f float, d double, de decimal(9,2), dt date, t time, ts timestamp, tz timestamptz, "      \
  "tn timestamp_ns, tzn timestamptz_ns, s string, u uuid, x fixed[2], y binary, v variant, g geometry, "               \
  "st struct<a: int, b: string>, li list<int>, m map<string, int>, ml map<int, struct<z: double>>"
#define EVERY_ROW                                                                                                      \
  "{\"k\":1,\"b\":true,\"i\":-1,\"f\":1.5,\"d\":\"-Infinity\",\"de\":\"1.50\",\"dt\":\"0001-01-01\","                  \
  "\"t\":\"23:59:59.999999\",\"ts\":\"1969-12-31T23:59:59.999999\",\"tz\":\"9999-12-31T23:59:59.999999+00:00\","       \
  "\"tn\":\"2026-01-31T00:00:00.000000001\",\"tzn\":\"2026-01-31T00:00:00.000000001+00:00\",\"s\":\"\\u0000\\\"\","    \
  "\"u\":\"b6a3cd6e-6d23-4f0b-8f5c-0a4e0e7a1f00\",\"x\":\"AAE=\",\"y\":\"\",\"v\":{\"a\":[1,1.25,\"x\",null]},"        \
  "\"g\":\"AQEAAAAAAAAAAADwPwAAAAAAAABA\",\"st\":{\"a\":null,\"b\":\"q\"},\"li\":[1,null],"                            \
  "\"m\":{\"b\":1,\"a\":null},\"ml\":[{\"key\":2,\"value\":{\"z\":\"NaN\"}},{\"key\":1,\"value\":null}]}\n"

static void test_stream__of_every_type_arrives_as_it_was(void **state) {
  (void)state;
  world from = world_new(3, EVERY_TYPE, NULL), to = world_new(3, EVERY_TYPE, NULL);
  struct ArrowArrayStream s;
  world_append(&from, EVERY_ROW "{\"k\":2}\n");
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  same_rows(&from, &to, "every type");
  world_update(&from, "i = 5", "k = 1", BL_MERGE_ON_READ);
  world_update(&from, "de = 7.25", "k = 2", BL_COPY_ON_WRITE);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  counts_are(&to, 0, 2, 0, 0);
  same_rows(&from, &to, "every type, changed");
  world_end(&from);
  world_end(&to);
}

static void test_stream__larger_than_the_memory_comes_in_order_all_the_same(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.memory_budget = 1 << 20;
  world from = world_new(3, "k long, s string", NULL);
  world to = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  char *rows = malloc(40000 * 60);
  size_t n = 0;
  for (int k = 0; k < 40000; k++) n += (size_t)sprintf(rows + n, "{\"k\":%d,\"s\":\"the row of the key %d\"}\n", k, k);
  world_append(&from, rows);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  world_update(&from, "s = s || '!'", "k < 20000", BL_MERGE_ON_READ);
  world_update(&from, "s = s || '?'", "k between 10000 and 25000", BL_COPY_ON_WRITE);
  world_delete(&from, "k in (3, 10003) or k > 39000", BL_MERGE_ON_READ);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES); /* looked at before it is applied */
  assert_int_equal(to.r.events_passed_over, 40000);
  same_rows(&from, &to, "much");
  free(rows);
  world_end(&from);
  world_end(&to);
}

/* A row of the copy changes, and one comes of which the log tells. */
static bl_status touch_copy(bl_table *t, int i, bl_error *err) {
  const char *set = "s = 'theirs'";
  if (i > 0) return rival_appends(t, "{\"k\":17000,\"s\":\"theirs\"}\n", err);
  return bl_update_rows(t, &set, 1, "k = 7000", NULL, NULL, err);
}

static void test_stream__larger_than_the_memory_begins_anew_when_another_was_faster(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.memory_budget = 1 << 20;
  world from = world_new(3, "k long, s string", NULL);
  world to = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  rival r;
  char *rows = malloc(40000 * 60);
  size_t n = 0;
  for (int k = 0; k < 20000; k++) n += (size_t)sprintf(rows + n, "{\"k\":%d,\"s\":\"the row of the key %d\"}\n", k, k);
  world_append(&to, "{\"k\":7000,\"s\":\"old\"}\n");
  world_append(&from, rows);
  world_update(&from, "s = s || '!'", "true", BL_MERGE_ON_READ);
  rival_begin(&r, &to, 2, touch_copy);
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  assert_int_equal(r.done, 2);
  counts_are(&to, 19998, 2, 0, 0);
  same_rows(&from, &to, "after two lost attempts");
  row_is(&to, 7000, 0, 4);
  rival_end(&r);
  free(rows);
  world_end(&from);
  world_end(&to);
}

static void test_stream__of_changes_can_be_staged_here_and_committed_there(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  char *text = NULL;
  const bl_write_options o = {.stage = &text};
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n{\"k\":2,\"s\":\"b\"}\n");
  s = changes(&from, NULL);
  test_ok(try_apply(&to, &s, BL_APPLY_CHANGES, &o, &err), &err);
  assert_false(to.r.committed);
  assert_non_null(text);
  test_ok(bl_commit_staged(to.t, (const char *const *)&text, 1, NULL, &to.r, &err), &err);
  assert_true(to.r.committed);
  world_reopen(&to);
  same_rows(&from, &to, "staged");
  apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  assert_true(to.r.already_applied); /* the position came along */
  bl_text_free(to.ctx, text);
  world_end(&from);
  world_end(&to);
}

/* ---- columns of a changelog ---- */

#define INSERTS                                                                                                        \
  {"_change_type", "u", {"INSERT", "INSERT", "INSERT"}}, {                                                             \
    "_commit_snapshot_id", "l", {                                                                                      \
      "11", "11", "11"                                                                                                 \
    }                                                                                                                  \
  }

static void test_columns__of_a_changelog_are_cast_where_nothing_is_lost(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, d decimal(9,2), t timestamp, s string default 'x', e date", NULL);
  struct ArrowArrayStream s;
  s = columns(&w,
              COLUMNS({"d", "i", {"5", "-"}}, {"k", "i", {"1", "2"}}, {"t", "tdD", {"1", "0"}},
                      {"_row_id", "l", {"7", "8"}}, {"e", "u", {"2026-01-31", "-"}},
                      {"_change_ordinal", "i", {"0", "0"}}, INSERTS),
              2);
  apply(&w, &s, BL_APPLY_CHANGES);
  world_holds(&w, "{\"k\":1,\"d\":\"5.00\",\"t\":\"1970-01-02T00:00:00.000000\",\"s\":\"x\",\"e\":\"2026-01-31\"}\n"
                  "{\"k\":2,\"d\":null,\"t\":\"1970-01-01T00:00:00.000000\",\"s\":\"x\",\"e\":null}\n");
  world_end(&w);
}

static void test_columns__that_do_not_go_with_the_table_are_named(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, v int, r int not null", NULL);
  struct ArrowArrayStream s;
#define REFUSED(says, rows, ...)                                                                                       \
  s = columns(&w, COLUMNS(__VA_ARGS__), rows);                                                                         \
  fails(&w, &s, BL_APPLY_CHANGES, BL_USAGE, says)
  REFUSED("apply: row 2: column v: 3000000000", 2, {"k", "l", {"1", "2"}}, {"v", "l", {"1", "3000000000"}},
          {"r", "i", {"1", "1"}}, INSERTS);
  REFUSED("row 1: column more: the table has no such column", 1, {"k", "l", {"1"}}, {"r", "i", {"1"}},
          {"more", "i", {"1"}}, INSERTS);
  REFUSED("row 1: column r: it is required, and has no value", 1, {"k", "l", {"1"}}, INSERTS);
  REFUSED("row 2: column r: it is required, and has no value", 2, {"k", "l", {"1", "2"}}, {"r", "i", {"1", "-"}},
          INSERTS);
  REFUSED("row 3: key column k: it has no value", 3, {"k", "l", {"1", "2", "-"}}, {"r", "i", {"1", "1", "1"}}, INSERTS);
  REFUSED("key column k: the changelog lacks it", 1, {"r", "i", {"1"}}, INSERTS);
  REFUSED("column v: a column of type boolean: does not fit", 1, {"k", "l", {"1"}}, {"v", "b", {"t"}}, INSERTS);
  REFUSED("row 2: _change_type \"MOVE\"", 2, {"k", "l", {"1", "2"}}, {"r", "i", {"1", "1"}},
          {"_change_type", "u", {"INSERT", "MOVE"}}, {"_commit_snapshot_id", "l", {"1", "1"}});
  REFUSED("row 1: it is no row of a changelog: _commit_snapshot_id", 1, {"k", "l", {"1"}}, {"r", "i", {"1"}},
          {"_change_type", "u", {"INSERT"}});
  REFUSED("there is no column _change_type", 1, {"k", "l", {"1"}}, {"r", "i", {"1"}});
  REFUSED("_change_type is no text", 1, {"k", "l", {"1"}}, {"_change_type", "l", {"1"}});
  world_end(&w);
}

/* Of what is not wanted only the key counts, or nothing. */
static void test_columns__are_not_looked_at_in_rows_that_delete_or_were_applied(void **state) {
  (void)state;
  world w = world_new(3, "k long not null, v int, r int not null", NULL);
  struct ArrowArrayStream s;
  s = columns(&w,
              COLUMNS({"k", "l", {"1", "2", "2"}}, {"r", "i", {"1", "1", "-"}}, {"v", "l", {"1", "2", "3000000000"}},
                      {"_change_type", "u", {"INSERT", "INSERT", "DELETE"}},
                      {"_commit_snapshot_id", "l", {"1", "1", "2"}}),
              3);
  apply(&w, &s, BL_APPLY_CHANGES);
  world_holds(&w, "{\"k\":1,\"v\":1,\"r\":1}\n");
  s = columns(&w,
              COLUMNS({"k", "l", {"-", "1"}}, {"more", "i", {"1", "1"}}, {"_change_type", "u", {"MOVE", "DELETE"}},
                      {"_commit_snapshot_id", "u", {"2", "3"}}),
              2);
  apply(&w, &s, BL_APPLY_CHANGES);
  assert_int_equal(w.r.events_passed_over, 1);
  world_holds(&w, "");
  world_end(&w);
}

/* ---- texts ---- */

static void test_texts__are_the_only_column_or_the_one_called_value(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  s = columns(&w,
              COLUMNS({"v",
                       "z",
                       {"{\"op\":\"c\",\"after\":{\"k\":1,\"s\":\"a\"}}", "-",
                        "{\"op\":\"c\",\"after\":{\"k\":2,\"s\":\"b\"}}"}}),
              3);
  apply(&w, &s, BL_APPLY_DEBEZIUM); /* null is a tombstone */
  counts_are(&w, 2, 0, 0, 0);
  s = columns(&w,
              COLUMNS({"key", "u", {"{\"k\":1}"}}, {"value", "u", {"{\"op\":\"d\",\"before\":{\"k\":1}}"}},
                      {"offset", "l", {"7"}}),
              1);
  apply(&w, &s, BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":2,\"s\":\"b\"}\n");
  s = columns(
      &w, COLUMNS({"value", "u", {"{\"k\":9,\"s\":\"z\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":1}"}}), 1);
  apply(&w, &s, BL_APPLY_CHANGES);
  world_holds(&w, "{\"k\":2,\"s\":\"b\"}\n{\"k\":9,\"s\":\"z\"}\n");
  world_end(&w);
}

static void test_texts__that_are_wrong_are_named_by_their_row(void **state) {
  (void)state;
  world w = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  s = columns(
      &w, COLUMNS({"value", "u", {"{\"op\":\"c\",\"after\":{\"k\":1}}", "{\"op\":\"c\",\"after\":{\"k\":\"x\"}}"}}), 2);
  fails(&w, &s, BL_APPLY_DEBEZIUM, BL_USAGE, "apply: row 2: column k");
  s = columns(&w, COLUMNS({"value", "u", {"{\"op\":"}}), 1);
  fails(&w, &s, BL_APPLY_DEBEZIUM, BL_DAMAGED, "apply: row 1: ");
  s = columns(&w, COLUMNS({"key", "u", {"a"}}, {"more", "u", {"b"}}), 1);
  fails(&w, &s, BL_APPLY_DEBEZIUM, BL_USAGE, "called value");
  s = columns(&w, COLUMNS({"value", "l", {"1"}}), 1);
  fails(&w, &s, BL_APPLY_DEBEZIUM, BL_USAGE, "no events of Debezium");
  world_end(&w);
}

static void test_texts__of_a_file_are_named_by_line_and_file(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  text_input in = bytes_of("{\"op\":\"c\",\"after\":{\"k\":1}}\n\n{\"op\":\"x\"}\n");
  test_ok(bl_read_events(w.t, &in.in, "f.ndjson", BL_APPLY_DEBEZIUM, &s, &err), &err);
  bl_apply_options a = with_key(BL_APPLY_DEBEZIUM);
  a.name = "f.ndjson";
  test_status(BL_USAGE, bl_apply(w.t, &s, &a, NULL, NULL, &err), &err);
  test_says(&err, "apply: f.ndjson: line 2 (byte 28): it is no change event");
  assert_int_equal(err.position, 28);
  err = (bl_error)BL_ERROR_INIT;
  in = bytes_of("key,value\n1,\"{\"\"op\"\":\"\"c\"\",\"\"after\"\":{\"\"k\"\":4}}\"\n1,\n");
  test_ok(bl_read_events(w.t, &in.in, "f.csv", BL_APPLY_DEBEZIUM, &s, &err), &err);
  apply(&w, &s, BL_APPLY_DEBEZIUM);
  world_holds(&w, "{\"k\":4,\"s\":null}\n");
  world_end(&w);
}

/* ---- envelopes ---- */

static void test_envelopes__may_be_columns(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, s string, t timestamp", NULL);
  world log = world_new(3,
                        "op string, before struct<k: long>, after struct<k: long, s: string, t: timestamp>, "
                        "source struct<change_lsn: long>, ts_ms long",
                        NULL);
  struct ArrowArrayStream s;
  world_append(
      &log,
      "{\"op\":\"c\",\"after\":{\"k\":1,\"s\":\"a\\nb\",\"t\":\"2026-01-31T00:00:00\"},\"source\":{\"change_lsn\":4}}\n"
      "{\"op\":\"c\",\"after\":{\"k\":2,\"s\":\"c\",\"t\":null},\"source\":{\"change_lsn\":5},\"ts_ms\":1}\n"
      "{\"op\":\"d\",\"before\":{\"k\":2},\"source\":{\"change_lsn\":6}}\n");
  for (int i = 0; i < 2; i++) {
    test_ok(bl_scan(log.t, NULL, &s, &err), &err);
    apply(&w, &s, BL_APPLY_DEBEZIUM);
  }
  assert_int_equal(strncmp(world_summary(&w, "bergline.source-position"), "{\"change_lsn\":6,", 16), 0);
  world_holds(&w, "{\"k\":1,\"s\":\"a\\nb\",\"t\":\"2026-01-31T00:00:00.000000\"}\n");
  /* what came last is read first */
  world_append(&log, "{\"op\":\"c\",\"after\":null,\"source\":{\"change_lsn\":7}}\n");
  test_ok(bl_scan(log.t, NULL, &s, &err), &err);
  fails(&w, &s, BL_APPLY_DEBEZIUM, BL_USAGE, "apply: row 1: an event \"c\" without \"after\"");
  world_end(&w);
  world_end(&log);
}

/* ---- streams that fail ---- */

/* Gives what another gives, then fails. */
typedef struct breaking {
  struct ArrowArrayStream rows;
  bool *released;
} breaking;

static bl_status breaking_next(void *user, struct ArrowArray *out, bl_error *err) {
  breaking *b = user;
  BL_TRY(bl_stream_next(&b->rows, out, err));
  return out->release ? BL_OK : bl_fail(err, BL_IO, "the broker has gone away");
}

static void breaking_free(void *user) {
  breaking *b = user;
  bl_stream_release(&b->rows);
  *b->released = true;
  free(b);
}

static struct ArrowArrayStream broken(world *w, struct ArrowArrayStream rows, bool *released) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArrayStream out;
  breaking *b = malloc(sizeof *b);
  *b = (breaking){rows, released};
  *released = false;
  assert_int_equal(rows.get_schema(&b->rows, &schema), 0);
  const bl_stream_source src = {breaking_next, breaking_free, b};
  test_ok(bl_stream_make(w->ctx, &src, &schema, &out, &err), &err);
  return out;
}

static void test_failures__of_the_stream_are_told_and_nothing_is_written(void **state) {
  (void)state;
  bool released;
  world from = world_new(3, "k long, s string", NULL), to = world_new(3, "k long, s string", NULL);
  struct ArrowArrayStream s;
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n");
  for (int again = 0; again < 2; again++) { /* the second time it is looked at before */
    s = broken(&from, changes(&from, NULL), &released);
    fails(&to, &s, BL_APPLY_CHANGES, BL_IO, "the broker has gone away");
    assert_true(released);
    apply(&to, (s = changes(&from, NULL), &s), BL_APPLY_CHANGES);
  }
  s = broken(&to, columns(&to, COLUMNS({"value", "u", {"{\"op\":\"c\",\"after\":{\"k\":1}}"}}), 1), &released);
  fails(&to, &s, BL_APPLY_DEBEZIUM, BL_IO, "the broker has gone away");
  assert_true(released);
  world_end(&from);
  world_end(&to);
}

static void test_failures__release_the_stream(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  bool released;
  world w = world_new(3, "k long, s string", NULL);
#define ROW(k) COLUMNS({"value", "u", {"{\"op\":\"c\",\"after\":{\"k\":" #k "}}"}}), 1
  struct ArrowArrayStream s = broken(&w, columns(&w, ROW(1)), &released);
  test_status(BL_NOT_FOUND, try_apply(&w, &s, BL_APPLY_DEBEZIUM, &(bl_write_options){.ref = "none"}, &err), &err);
  assert_true(released);
  err = (bl_error)BL_ERROR_INIT;
  s = broken(&w, columns(&w, ROW(1)), &released);
  const bl_apply_options none = {.source = BL_APPLY_DEBEZIUM};
  test_status(BL_USAGE, bl_apply(w.t, &s, &none, NULL, NULL, &err), &err);
  test_says(&err, "apply: no key column is named");
  assert_true(released);
  const bl_write_options batch = {.batch_id = "b"};
  err = (bl_error)BL_ERROR_INIT;
  s = columns(&w, ROW(1));
  test_ok(try_apply(&w, &s, BL_APPLY_DEBEZIUM, &batch, &err), &err);
  s = broken(&w, columns(&w, ROW(2)), &released); /* not even read */
  test_ok(try_apply(&w, &s, BL_APPLY_DEBEZIUM, &batch, &err), &err);
  assert_true(w.r.already_applied);
  assert_true(released);
  world_end(&w);
}

#define LOG "k,s,_change_type,_commit_snapshot_id\n"
static bl_status apply_some(bl_ctx *ctx, void *user, bl_error *err) {
  static const char *const logs[] = {LOG "2,b,INSERT,5\n1,,DELETE,6\n3,c,INSERT,7\n",
                                     "{\"k\":3,\"s\":\"c\",\"_change_type\":\"INSERT\",\"_commit_snapshot_id\":7}\n"};
  const world *w = user;
  bl_table *t = NULL;
  bl_write_result r;
  bl_status st = bl_table_open(ctx, w->table, NULL, &t, err);
  for (int i = 0; st == BL_OK && i < 2; i++) {
    st = test_apply(t, logs[i], BL_APPLY_CHANGES, &(bl_write_options){.dry_run = true}, &r, err);
    if (st == BL_OK) assert_int_equal(r.rows_inserted, 1);
  }
  bl_table_free(t);
  return st;
}

static void test_failures__of_memory_are_clean(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long not null, s string", NULL);
  test_ok(world_try_apply(&w, LOG "1,a,INSERT,5\n2,b,INSERT,5\n", BL_APPLY_CHANGES, &err), &err);
  test_fail_each(apply_some, &w);
  world_end(&w);
}

static int cancel(void *user, const char *what, int64_t done, int64_t total) {
  (void)user;
  (void)done;
  (void)total;
  return strcmp(what, "apply") == 0;
}

static void test_failures__a_caller_may_cancel(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  world from = world_new(3, "k long, s string", NULL);
  o.progress = cancel;
  world to = world_new_with(test_ctx_on(&heap, &o), 3, "k long, s string", NULL);
  world_append(&from, "{\"k\":1,\"s\":\"a\"}\n");
  world_append(&from, "{\"k\":2,\"s\":\"a\"}\n");
  struct ArrowArrayStream s = changes(&from, NULL);
  fails(&to, &s, BL_APPLY_CHANGES, BL_CANCELLED, "apply");
  world_end(&from);
  world_end(&to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream__of_changes_makes_a_copy_and_keeps_it_up),
      cmocka_unit_test(test_stream__of_random_histories_keeps_two_tables_equal),
      cmocka_unit_test(test_stream__of_every_type_arrives_as_it_was),
      cmocka_unit_test(test_stream__larger_than_the_memory_comes_in_order_all_the_same),
      cmocka_unit_test(test_stream__larger_than_the_memory_begins_anew_when_another_was_faster),
      cmocka_unit_test(test_stream__of_changes_can_be_staged_here_and_committed_there),
      cmocka_unit_test(test_columns__of_a_changelog_are_cast_where_nothing_is_lost),
      cmocka_unit_test(test_columns__that_do_not_go_with_the_table_are_named),
      cmocka_unit_test(test_columns__are_not_looked_at_in_rows_that_delete_or_were_applied),
      cmocka_unit_test(test_texts__are_the_only_column_or_the_one_called_value),
      cmocka_unit_test(test_texts__that_are_wrong_are_named_by_their_row),
      cmocka_unit_test(test_texts__of_a_file_are_named_by_line_and_file),
      cmocka_unit_test(test_envelopes__may_be_columns),
      cmocka_unit_test(test_failures__of_the_stream_are_told_and_nothing_is_written),
      cmocka_unit_test(test_failures__release_the_stream),
      cmocka_unit_test(test_failures__of_memory_are_clean),
      cmocka_unit_test(test_failures__a_caller_may_cancel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
