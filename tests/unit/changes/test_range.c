/* test_range.c: which steps a change feed runs over: chains, gaps, branches, what has expired. */
#include "changes/range.h"
#include "support/support.h"

enum { MAX = 16 };

typedef struct fixture {
  bl_ctx *ctx;
  test_heap heap;
  bl_arena *a;
  bl_metadata m;
  bl_table t;
  bl_snapshot snapshots[MAX];
  bl_ref refs[MAX];
  bl_schema schemas[2];
  char log[2000]; /* warnings, one a line */
  bl_error err;
} fixture;

/* 2026-01-01T00:00:00Z */
#define T0 INT64_C(1767225600000)

static void take_log(void *user, bl_log_level level, const char *text) {
  fixture *f = user;
  if (level == BL_LOG_WARNING && strlen(f->log) + strlen(text) + 2 < sizeof f->log) strcat(strcat(f->log, text), "\n");
}

static void setup(fixture *f) {
  bl_ctx_options o;
  memset(f, 0, sizeof *f);
  f->err = (bl_error)BL_ERROR_INIT;
  bl_ctx_options_init(&o);
  o.log = take_log;
  o.user = f;
  f->ctx = test_ctx_on(&f->heap, &o);
  test_ok(bl_arena_new(f->ctx, &f->a, &f->err), &f->err);
  test_ok(bl_arena_new(f->ctx, &f->m.arena, &f->err), &f->err);
  f->schemas[0].id = 0, f->schemas[1].id = 1;
  f->m.snapshots = f->snapshots, f->m.refs = f->refs;
  f->m.schemas = f->schemas, f->m.n_schemas = 2, f->m.current_schema_id = 1;
  f->t = (bl_table){.ctx = f->ctx, .metadata = &f->m};
}

static void teardown(fixture *f) {
  bl_arena_free(f->m.arena);
  bl_arena_free(f->a);
  test_ctx_free(f->ctx);
}

/* parent 0: none. Schema 0; seconds after T0 are ten times the sequence number. */
static void add(fixture *f, int64_t id, int64_t parent, int64_t sequence_number) {
  f->snapshots[f->m.n_snapshots++] = (bl_snapshot){.id = id,
                                                   .has_parent = parent != 0,
                                                   .parent_id = parent,
                                                   .sequence_number = sequence_number,
                                                   .timestamp_ms = T0 + sequence_number * 10000,
                                                   .has_schema_id = true};
  test_ok(bl_metadata_index(&f->m, &f->err), &f->err);
}

static void ref(fixture *f, const char *name, int64_t id, bool branch) {
  f->refs[f->m.n_refs++] = (bl_ref){.name = bl_str_of(name), .snapshot_id = id, .is_branch = branch};
  if (strcmp(name, "main") == 0) f->m.has_current = true, f->m.current_snapshot_id = id;
}

/* "11>12 12>13", a gap as "11=>12", "0" for the empty table. */
static const char *steps_of(const bl_range *r) {
  static char text[400];
  char *at = text;
  *at = 0;
  for (size_t i = 0; i < r->n_steps; i++) {
    const bl_step *s = &r->steps[i];
    at += sprintf(at, "%s%lld%s>%lld", i ? " " : "", s->from ? (long long)s->from->id : 0, s->gap ? "=" : "",
                  (long long)s->to->id);
  }
  return text;
}

static bl_range resolve(fixture *f, const char *from, const char *to, bool net) {
  bl_range_options o = {.from = from, .to = to, .net = net};
  bl_range r;
  f->log[0] = 0;
  test_ok(bl_range_resolve(&f->t, &o, f->a, &r, &f->err), &f->err);
  return r;
}

static bl_range expect(fixture *f, const char *from, const char *to, const char *steps) {
  bl_range r = resolve(f, from, to, false);
  if (strcmp(steps_of(&r), steps) != 0) fail_msg("%s to %s: %s, not %s", from, to, steps_of(&r), steps);
  assert_true(r.related);
  return r;
}

static void refuse(fixture *f, const bl_range_options *o, bl_status want, const char *const *says, size_t n) {
  bl_range r;
  bl_error err = BL_ERROR_INIT;
  test_status(want, bl_range_resolve(&f->t, o, f->a, &r, &err), &err);
  for (size_t i = 0; i < n; i++) test_says(&err, says[i]);
}

#define REFUSE(f, from_, to_, status, ...)                                                                             \
  refuse(f, &(bl_range_options){.from = from_, .to = to_}, status, (const char *const[]){__VA_ARGS__},                 \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* 11 <- 12 <- 13 (main), 12 <- 21 <- 22 (dev). */
static void setup_branches(fixture *f) {
  setup(f);
  add(f, 11, 0, 1);
  add(f, 12, 11, 2);
  add(f, 21, 12, 3);
  add(f, 13, 12, 4);
  add(f, 22, 21, 5);
  ref(f, "main", 13, true);
  ref(f, "dev", 22, true);
}

/* Tag start at 11; 12 to 14 have expired; 15 <- 16 <- 17 (main); tag late at 16. */
static void setup_gap(fixture *f) {
  setup(f);
  add(f, 11, 0, 1);
  add(f, 15, 14, 5);
  add(f, 16, 15, 6);
  add(f, 17, 16, 7);
  ref(f, "start", 11, false);
  ref(f, "late", 16, false);
  ref(f, "main", 17, true);
}

/* ---- chains ---- */

static void test_range__without_from_the_empty_table_is_the_start(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_range r = expect(&f, NULL, NULL, "0>11 11>12 12>13");
  assert_null(r.from);
  assert_int_equal(r.to->id, 13);
  assert_false(r.cut);
  assert_string_equal(f.log, "");
  expect(&f, NULL, "dev", "0>11 11>12 12>21 21>22");
  teardown(&f);
}

static void test_range__from_is_exclusive_and_to_inclusive(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_range r = expect(&f, "11", "13", "11>12 12>13");
  assert_int_equal(r.from->id, 11);
  expect(&f, "seq:2", "22", "12>21 21>22");
  expect(&f, "12", NULL, "12>13");
  teardown(&f);
}

static void test_range__from_equal_to_has_no_steps(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  expect(&f, "13", "main", "");
  bl_range r = resolve(&f, "13", "13", true);
  assert_int_equal(r.n_steps, 0);
  assert_true(r.related);
  teardown(&f);
}

static void test_range__the_schema_is_that_of_to(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_int_equal(resolve(&f, "11", "main", false).schema->id, 1); /* the head of a branch: the current one */
  assert_int_equal(resolve(&f, "11", "13", false).schema->id, 0);
  teardown(&f);
}

static void test_range__another_ref_is_the_branch_to_work_on(void **state) {
  (void)state;
  fixture f;
  bl_range r;
  setup_branches(&f);
  bl_range_options o = {.from = "2026-01-01T00:00:20Z", .ref = "dev"};
  test_ok(bl_range_resolve(&f.t, &o, f.a, &r, &f.err), &f.err);
  assert_string_equal(steps_of(&r), "12>21 21>22");
  o.ref = "nosuch";
  refuse(&f, &o, BL_NOT_FOUND, (const char *const[]){"nosuch"}, 1);
  teardown(&f);
}

static void test_range__a_table_without_snapshots_has_no_steps(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_range r = resolve(&f, NULL, NULL, false);
  assert_null(r.to);
  assert_true(r.related);
  assert_int_equal(r.n_steps, 0);
  assert_int_equal(r.schema->id, 1);
  r = resolve(&f, "2026-01-01", NULL, false);
  assert_int_equal(r.n_steps, 0);
  REFUSE(&f, "11", NULL, BL_NOT_FOUND, "11");
  teardown(&f);
}

/* ---- times ---- */

static void test_range__a_time_means_the_newest_ancestor_by_then(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  expect(&f, "2026-01-01T00:00:39Z", NULL, "12>13");
  expect(&f, "2026-01-01T00:00:40Z", NULL, "");
  teardown(&f);
}

static void test_range__a_time_before_the_first_snapshot_is_the_empty_table(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_range r = expect(&f, "2020-01-01", "13", "0>11 11>12 12>13");
  assert_false(r.cut);
  REFUSE(&f, NULL, "2020-01-01", BL_NOT_FOUND, "2020-01-01");
  teardown(&f);
}

static void test_range__a_time_before_what_is_left_has_expired(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  REFUSE(&f, "2026-01-01T00:00:30Z", NULL, BL_NOT_FOUND, "2026-01-01T00:00:30Z", "expired", "15", "start");
  teardown(&f);
}

/* ---- branches (C9) ---- */

static void test_range__a_from_beside_to_names_the_common_ancestor(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  REFUSE(&f, "13", "22", BL_USAGE, "13", "22", "common ancestor is 12");
  REFUSE(&f, "22", "13", BL_USAGE, "common ancestor is 12");
  teardown(&f);
}

static void test_range__a_from_after_to_is_refused(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  REFUSE(&f, "22", "11", BL_USAGE, "22", "comes after", "11");
  teardown(&f);
}

static void test_range__unrelated_snapshots_have_no_ancestor_to_name(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  REFUSE(&f, "17", "start", BL_USAGE, "no common ancestor");
  teardown(&f);
}

static void test_range__net_compares_any_two(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_range r = resolve(&f, "13", "22", true);
  assert_false(r.related);
  assert_int_equal(r.n_steps, 0);
  assert_int_equal(r.from->id, 13);
  assert_int_equal(r.to->id, 22);
  r = resolve(&f, "22", "11", true);
  assert_false(r.related);
  r = resolve(&f, "11", "22", true);
  assert_true(r.related);
  assert_int_equal(r.n_steps, 3);
  teardown(&f);
}

/* ---- gaps and expiry (C10) ---- */

static void test_range__a_gap_is_crossed_in_one_step_with_a_warning(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  expect(&f, "start", "17", "11=>15 15>16 16>17");
  assert_non_null(strstr(f.log, "between 11 and 15 have expired"));
  assert_null(strchr(strchr(f.log, '\n') + 1, '\n')); /* once */
  expect(&f, "11", "15", "11=>15");
  bl_range r = resolve(&f, "start", "17", true);
  assert_true(r.related);
  assert_int_equal(r.n_steps, 3);
  teardown(&f);
}

static void test_range__an_expired_from_names_what_is_left(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  REFUSE(&f, "13", NULL, BL_NOT_FOUND, "no such snapshot: 13", "oldest snapshot left", "is 15", "start", "11");
  REFUSE(&f, "id:13", "16", BL_NOT_FOUND, "ancestry of 16 is 15", "start");
  REFUSE(&f, "seq:3", NULL, BL_NOT_FOUND, "sequence number 3", "15", "start");
  bl_error err = BL_ERROR_INIT;
  bl_range r;
  bl_range_options o = {.from = "13", .net = true};
  test_status(BL_NOT_FOUND, bl_range_resolve(&f.t, &o, f.a, &r, &err), &err);
  assert_null(strstr(err.message, "late"));
  teardown(&f);
}

static void test_range__an_unknown_ref_says_only_that(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  bl_error err = BL_ERROR_INIT;
  bl_range r;
  bl_range_options o = {.from = "nosuch"};
  test_status(BL_NOT_FOUND, bl_range_resolve(&f.t, &o, f.a, &r, &err), &err);
  test_says(&err, "nosuch");
  assert_null(strstr(err.message, "oldest"));
  teardown(&f);
}

static void test_range__many_refs_before_a_gap_are_not_all_named(void **state) {
  (void)state;
  fixture f;
  static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"};
  setup_gap(&f);
  for (size_t i = 0; i < BL_LEN(names); i++) ref(&f, names[i], 11, false);
  REFUSE(&f, "13", NULL, BL_NOT_FOUND, "start", "t6", "and 3 more");
  teardown(&f);
}

static void test_range__expired_history_gives_a_cut_with_a_warning(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  bl_range r = expect(&f, NULL, NULL, "0>15 15>16 16>17");
  assert_true(r.cut);
  assert_non_null(strstr(f.log, "before snapshot 15 has expired"));
  r = expect(&f, NULL, "start", "0>11");
  assert_false(r.cut);
  assert_string_equal(f.log, "");
  teardown(&f);
}

static void test_range__only_an_older_snapshot_lies_before_a_gap(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  add(&f, 31, 15, 8); /* a branch of 15 */
  add(&f, 41, 0, 5);  /* as old as 15 */
  REFUSE(&f, "31", "17", BL_USAGE, "common ancestor is 15");
  REFUSE(&f, "41", "17", BL_USAGE, "no common ancestor");
  teardown(&f);
}

static void test_range__a_cycle_of_parents_is_damage(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, 11, 12, 1);
  add(&f, 12, 11, 2);
  ref(&f, "main", 12, true);
  REFUSE(&f, NULL, NULL, BL_DAMAGED, "cycle");
  teardown(&f);
}

static bl_status resolve_all(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  static const char *const from[] = {NULL, "start", "13"};
  bl_table t = {.ctx = ctx, .metadata = &f->m};
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < BL_LEN(from); i++) {
    bl_range_options o = {.from = from[i]};
    bl_range r;
    bl_arena *a;
    st = bl_arena_new(ctx, &a, err);
    if (st == BL_OK) st = bl_range_resolve(&t, &o, a, &r, err);
    bl_arena_free(a);
    if (st == BL_NOT_FOUND && i == 2) {
      st = BL_OK;
      *err = (bl_error)BL_ERROR_INIT;
    }
  }
  return st;
}

static void test_range__survives_each_failing_allocation(void **state) {
  (void)state;
  fixture f;
  setup_gap(&f);
  test_fail_each(resolve_all, &f);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_range__without_from_the_empty_table_is_the_start),
      cmocka_unit_test(test_range__from_is_exclusive_and_to_inclusive),
      cmocka_unit_test(test_range__from_equal_to_has_no_steps),
      cmocka_unit_test(test_range__the_schema_is_that_of_to),
      cmocka_unit_test(test_range__another_ref_is_the_branch_to_work_on),
      cmocka_unit_test(test_range__a_table_without_snapshots_has_no_steps),
      cmocka_unit_test(test_range__a_time_means_the_newest_ancestor_by_then),
      cmocka_unit_test(test_range__a_time_before_the_first_snapshot_is_the_empty_table),
      cmocka_unit_test(test_range__a_time_before_what_is_left_has_expired),
      cmocka_unit_test(test_range__a_from_beside_to_names_the_common_ancestor),
      cmocka_unit_test(test_range__a_from_after_to_is_refused),
      cmocka_unit_test(test_range__unrelated_snapshots_have_no_ancestor_to_name),
      cmocka_unit_test(test_range__net_compares_any_two),
      cmocka_unit_test(test_range__a_gap_is_crossed_in_one_step_with_a_warning),
      cmocka_unit_test(test_range__an_expired_from_names_what_is_left),
      cmocka_unit_test(test_range__an_unknown_ref_says_only_that),
      cmocka_unit_test(test_range__many_refs_before_a_gap_are_not_all_named),
      cmocka_unit_test(test_range__expired_history_gives_a_cut_with_a_warning),
      cmocka_unit_test(test_range__only_an_older_snapshot_lies_before_a_gap),
      cmocka_unit_test(test_range__a_cycle_of_parents_is_damage),
      cmocka_unit_test(test_range__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
