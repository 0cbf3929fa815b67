/* test_refs.c: what a SNAP means, and the ancestry between snapshots. */
#include "support/support.h"
#include "table/refs.h"

/* ---- a table without files: snapshots, refs, log ---- */

enum { MAX = 16 };

typedef struct fixture {
  bl_ctx *ctx;
  bl_metadata m;
  bl_snapshot snapshots[MAX];
  bl_ref refs[MAX];
  bl_log_entry log[MAX];
  bl_schema schemas[2];
  bl_error err;
} fixture;

/* 2026-01-01T00:00:00Z */
#define T0 INT64_C(1767225600000)

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(f->ctx, &f->m.arena, &f->err), &f->err);
  f->schemas[0].id = 0, f->schemas[1].id = 1;
  f->m.snapshots = f->snapshots, f->m.refs = f->refs, f->m.snapshot_log = f->log;
  f->m.schemas = f->schemas, f->m.n_schemas = 2, f->m.current_schema_id = 1;
}

static void teardown(fixture *f) {
  bl_arena_free(f->m.arena);
  test_ctx_free(f->ctx);
}

/* parent 0: none. Sequence number = order of adding; seconds after T0; schema 0. */
static void add(fixture *f, int64_t id, int64_t parent, int64_t seconds) {
  f->snapshots[f->m.n_snapshots++] = (bl_snapshot){.id = id,
                                                   .has_parent = parent != 0,
                                                   .parent_id = parent,
                                                   .timestamp_ms = T0 + seconds * 1000,
                                                   .has_schema_id = true};
  f->snapshots[f->m.n_snapshots - 1].sequence_number = (int64_t)f->m.n_snapshots;
  test_ok(bl_metadata_index(&f->m, &f->err), &f->err);
}

static void ref(fixture *f, const char *name, int64_t id, bool branch) {
  f->refs[f->m.n_refs++] = (bl_ref){.name = bl_str_of(name), .snapshot_id = id, .is_branch = branch};
  if (strcmp(name, "main") == 0) f->m.has_current = true, f->m.current_snapshot_id = id;
}

static void log_at(fixture *f, int64_t seconds, int64_t id) {
  f->log[f->m.n_snapshot_log++] = (bl_log_entry){T0 + seconds * 1000, id};
}

static const bl_snapshot *snapshot(fixture *f, int64_t id) {
  const bl_snapshot *s = bl_metadata_snapshot(&f->m, id);
  assert_non_null(s);
  return s;
}

static bl_snap resolve(fixture *f, const char *text, const bl_snap_options *o) {
  bl_snap s;
  test_ok(bl_snap_resolve(&f->m, text ? bl_str_of(text) : BL_STR_NONE, o, &s, &f->err), &f->err);
  return s;
}

static void assert_at(fixture *f, const char *text, const bl_snap_options *o, int64_t id) {
  bl_snap s = resolve(f, text, o);
  if (!s.snapshot || s.snapshot->id != id)
    fail_msg("%s: %lld, not %lld", text, s.snapshot ? (long long)s.snapshot->id : -1, (long long)id);
}

static void refuse(fixture *f, const char *text, const bl_snap_options *o, bl_status want, const char *says) {
  bl_snap s;
  bl_error err = BL_ERROR_INIT;
  test_status(want, bl_snap_resolve(&f->m, bl_str_of(text), o, &s, &err), &err);
  test_says(&err, says);
}

/* 1 <- 2 <- 3 (main), 2 <- 4 (dev); tags. */
static void setup_branches(fixture *f) {
  setup(f);
  add(f, 1, 0, 10);
  add(f, 2, 1, 20);
  add(f, 3, 2, 30);
  add(f, 4, 2, 40);
  ref(f, "main", 3, true);
  ref(f, "dev", 4, true);
  ref(f, "v1.0", 1, false);
  ref(f, "1", 2, false);
  ref(f, "77", 2, false);
  ref(f, "2026-01-01", 2, false);
  log_at(f, 10, 1);
  log_at(f, 20, 2);
  log_at(f, 30, 3);
}

/* ---- ids, refs, sequence numbers ---- */

static void test_refs__digits_are_an_id_before_they_are_a_ref(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_at(&f, "1", NULL, 1);
  assert_at(&f, "77", NULL, 2);
  assert_at(&f, "ref:1", NULL, 2);
  assert_at(&f, "id:1", NULL, 1);
  refuse(&f, "id:77", NULL, BL_NOT_FOUND, "77");
  refuse(&f, "78", NULL, BL_NOT_FOUND, "78");
  teardown(&f);
}

static void test_refs__a_ref_goes_before_a_time(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_at(&f, "2026-01-01", NULL, 2);
  assert_at(&f, "2026-01-02", NULL, 3);
  refuse(&f, "ts:2026-01-01", NULL, BL_NOT_FOUND, "2026-01-01T00:00:00.000Z");
  teardown(&f);
}

static void test_refs__the_head_is_main_or_the_ref_asked_for(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_at(&f, NULL, NULL, 3);
  bl_snap_options o = {.ref = BL_STR("dev")};
  assert_at(&f, NULL, &o, 4);
  o.ref = BL_STR("nosuch");
  refuse(&f, "1", &o, BL_NOT_FOUND, "nosuch");
  teardown(&f);
}

static void test_refs__what_is_nothing_is_not_found(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  refuse(&f, "nosuch", NULL, BL_NOT_FOUND, "nosuch");
  refuse(&f, "", NULL, BL_NOT_FOUND, "neither");
  refuse(&f, "ref:nosuch", NULL, BL_NOT_FOUND, "nosuch");
  refuse(&f, "99999999999999999999", NULL, BL_NOT_FOUND, "99999999999999999999");
  teardown(&f);
}

static void test_refs__behind_a_prefix_only_its_kind_will_do(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  refuse(&f, "id:main", NULL, BL_USAGE, "id:main");
  refuse(&f, "seq:x", NULL, BL_USAGE, "seq:x");
  refuse(&f, "ts:yesterday", NULL, BL_USAGE, "ISO-8601");
  teardown(&f);
}

static void test_refs__a_sequence_number_must_be_unique(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_at(&f, "seq:4", NULL, 4);
  f.snapshots[2].sequence_number = 4;
  refuse(&f, "seq:4", NULL, BL_USAGE, "ambiguous");
  refuse(&f, "seq:4", NULL, BL_USAGE, "3 and 4");
  refuse(&f, "seq:3", NULL, BL_NOT_FOUND, "3");
  teardown(&f);
}

static void test_refs__a_logged_snapshot_that_is_gone_has_expired(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  log_at(&f, 35, 9);
  refuse(&f, "9", NULL, BL_NOT_FOUND, "expired");
  teardown(&f);
}

static void test_refs__a_table_without_snapshots_has_an_empty_head(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_snap_options o = {.ref = BL_STR("main")};
  assert_null(resolve(&f, NULL, NULL).snapshot);
  assert_null(resolve(&f, NULL, &o).snapshot);
  assert_int_equal(resolve(&f, "main", NULL).schema->id, 1);
  refuse(&f, "2026-01-01T00:00:00Z", NULL, BL_NOT_FOUND, "has none");
  o.ref = BL_STR("dev");
  refuse(&f, "main", &o, BL_NOT_FOUND, "dev");
  teardown(&f);
}

static void test_refs__a_wap_id_names_what_was_staged_with_it(void **state) {
  (void)state;
  bl_pair staged = {BL_STR("wap.id"), BL_STR("w1")}, published = {BL_STR("published-wap-id"), BL_STR("w1")};
  fixture f;
  setup_branches(&f);
  refuse(&f, "wap:w1", NULL, BL_NOT_FOUND, "w1");
  f.snapshots[2].summary = (bl_pairs){&staged, 1};
  f.snapshots[1].summary = (bl_pairs){&published, 1};
  assert_at(&f, "wap:w1", NULL, 3);
  assert_int_equal(resolve(&f, "wap:w1", NULL).schema->id, 0);
  refuse(&f, "wap:w", NULL, BL_NOT_FOUND, "WAP id w");
  f.snapshots[1].summary = f.snapshots[2].summary;
  refuse(&f, "wap:w1", NULL, BL_USAGE, "2 and 3");
  teardown(&f);
}

/* ---- schemas ---- */

static void test_refs__a_branch_has_the_current_schema_all_else_its_own(void **state) {
  (void)state;
  static const char *const own[] = {"id:3", "3", "v1.0", "seq:3", "ts:2026-01-01T00:00:30Z"};
  fixture f;
  setup_branches(&f);
  for (size_t i = 0; i < BL_LEN(own); i++) assert_int_equal(resolve(&f, own[i], NULL).schema->id, 0);
  assert_int_equal(resolve(&f, NULL, NULL).schema->id, 1);
  assert_int_equal(resolve(&f, "main", NULL).schema->id, 1);
  assert_int_equal(resolve(&f, "ref:dev", NULL).schema->id, 1);
  f.snapshots[0].has_schema_id = false;
  assert_int_equal(resolve(&f, "v1.0", NULL).schema->id, 1);
  f.snapshots[2].schema_id = 7;
  refuse(&f, "id:3", NULL, BL_DAMAGED, "schema-id 7");
  teardown(&f);
}

/* ---- times ---- */

static void test_refs__a_time_on_main_goes_by_the_log_however_it_is_ordered(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, 1, 0, 1);
  add(&f, 2, 1, 2);
  add(&f, 3, 2, 3);
  add(&f, 4, 3, 4);
  ref(&f, "main", 4, true);
  log_at(&f, 2, 2);
  log_at(&f, 1, 1);
  f.log[f.m.n_snapshot_log++] = (bl_log_entry){T0 + 2500, 99};
  log_at(&f, 4, 4);
  log_at(&f, 3, 3);
  assert_at(&f, "ts:2026-01-01T00:00:01.500Z", NULL, 1);
  assert_at(&f, "ts:2026-01-01T00:00:02Z", NULL, 2);
  assert_at(&f, "ts:2026-01-01T00:00:02.499999999Z", NULL, 2);
  assert_at(&f, "ts:2026-01-01T00:00:03.500Z", NULL, 3);
  assert_at(&f, "ts:2027-01-01T00:00:00Z", NULL, 4);
  refuse(&f, "ts:2026-01-01T00:00:02.600Z", NULL, BL_NOT_FOUND, "snapshot 99");
  refuse(&f, "ts:2026-01-01T00:00:02.600Z", NULL, BL_NOT_FOUND, "expired");
  refuse(&f, "ts:2025-12-31T00:00:00Z", NULL, BL_NOT_FOUND, "first one left is 1");
  teardown(&f);
}

static void test_refs__a_time_may_have_a_zone_or_be_a_date(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_at(&f, "2026-01-01T00:00:20", NULL, 2);
  assert_at(&f, "2026-01-01 00:00:20", NULL, 2);
  assert_at(&f, "2026-01-01T01:00:20+01:00", NULL, 2);
  assert_at(&f, "2025-12-31T19:00:29-05:00", NULL, 2);
  assert_at(&f, "ts:2026-01-02", NULL, 3);
  teardown(&f);
}

static void test_refs__after_a_rollback_log_and_ancestry_differ(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, 1, 0, 10);
  add(&f, 2, 1, 20);
  add(&f, 3, 2, 30);
  add(&f, 4, 1, 50);
  ref(&f, "main", 4, true);
  log_at(&f, 10, 1);
  log_at(&f, 20, 2);
  log_at(&f, 30, 3);
  log_at(&f, 40, 1);
  log_at(&f, 50, 4);
  bl_snap_options log = {.time = BL_TIME_BY_LOG}, ancestry = {.time = BL_TIME_BY_ANCESTRY};
  assert_at(&f, "2026-01-01T00:00:35Z", &log, 3);
  assert_at(&f, "2026-01-01T00:00:45Z", &log, 1);
  assert_at(&f, "2026-01-01T00:00:35Z", &ancestry, 1);
  assert_at(&f, "2026-01-01T00:00:55Z", &ancestry, 4);
  teardown(&f);
}

static void test_refs__a_time_on_a_branch_goes_by_ancestry(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_snap_options o = {.ref = BL_STR("dev"), .time = BL_TIME_BY_LOG};
  assert_at(&f, "2026-01-01T00:00:35Z", &o, 2);
  assert_at(&f, "2026-01-01T00:00:40Z", &o, 4);
  teardown(&f);
}

static void test_refs__without_a_log_a_time_goes_by_ancestry(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  f.m.n_snapshot_log = 0;
  assert_at(&f, "2026-01-01T00:00:25Z", NULL, 2);
  teardown(&f);
}

static void test_refs__a_time_before_the_first_snapshot_can_be_allowed(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  bl_snap_options o = {.time = BL_TIME_BY_ANCESTRY, .before_first_ok = true};
  for (int log = 0; log < 2; log++) {
    o.time = log ? BL_TIME_BY_LOG : BL_TIME_BY_ANCESTRY;
    bl_snap s = resolve(&f, "ts:2020-01-01T00:00:00Z", &o);
    assert_true(s.before_first);
    assert_null(s.snapshot);
    assert_int_equal(s.kind, BL_SNAP_TIME);
  }
  assert_false(resolve(&f, "1", &o).before_first);
  teardown(&f);
}

/* ---- ancestry ---- */

static void assert_chain(fixture *f, int64_t from, int64_t to, const int64_t *ids, size_t n, bool complete) {
  bl_chain c;
  test_ok(bl_chain_between(f->ctx, &f->m, from ? snapshot(f, from) : NULL, snapshot(f, to), &c, &f->err), &f->err);
  assert_int_equal(c.n, n);
  for (size_t i = 0; i < n; i++) assert_int_equal(c.items[i]->id, ids[i]);
  assert_int_equal(c.complete, complete);
  bl_chain_dispose(f->ctx, &c);
}

static void test_refs__a_chain_is_without_its_start_and_oldest_first(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  assert_chain(&f, 1, 4, (int64_t[]){2, 4}, 2, true);
  assert_chain(&f, 0, 3, (int64_t[]){1, 2, 3}, 3, true);
  assert_chain(&f, 3, 3, NULL, 0, true);
  assert_chain(&f, 3, 4, (int64_t[]){1, 2, 4}, 3, false);
  teardown(&f);
}

static void test_refs__a_chain_that_ends_at_an_expired_parent_says_so(void **state) {
  (void)state;
  fixture f;
  bl_chain c;
  setup(&f);
  add(&f, 5, 4, 50);
  add(&f, 6, 5, 60);
  test_ok(bl_chain_between(f.ctx, &f.m, NULL, snapshot(&f, 6), &c, &f.err), &f.err);
  assert_int_equal(c.n, 2);
  assert_false(c.complete);
  assert_true(c.expired);
  assert_int_equal(c.expired_parent, 4);
  bl_chain_dispose(f.ctx, &c);
  teardown(&f);
}

static void test_refs__a_cycle_of_parents_is_damage(void **state) {
  (void)state;
  fixture f;
  bl_chain c;
  const bl_snapshot *common;
  setup(&f);
  add(&f, 1, 2, 10);
  add(&f, 2, 1, 20);
  add(&f, 3, 3, 30);
  ref(&f, "main", 2, true);
  test_status(BL_DAMAGED, bl_chain_between(f.ctx, &f.m, NULL, snapshot(&f, 2), &c, &f.err), &f.err);
  test_says(&f.err, "cycle");
  f.err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_chain_between(f.ctx, &f.m, NULL, snapshot(&f, 3), &c, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_common_ancestor(&f.m, snapshot(&f, 1), snapshot(&f, 3), &common, &f.err), &f.err);
  refuse(&f, "ts:2020-01-01", &(bl_snap_options){.time = BL_TIME_BY_ANCESTRY}, BL_DAMAGED, "cycle");
  teardown(&f);
}

static void test_refs__the_common_ancestor_is_the_newest(void **state) {
  (void)state;
  fixture f;
  const bl_snapshot *c;
  setup_branches(&f);
  add(&f, 5, 0, 50);
  test_ok(bl_common_ancestor(&f.m, snapshot(&f, 3), snapshot(&f, 4), &c, &f.err), &f.err);
  assert_int_equal(c->id, 2);
  test_ok(bl_common_ancestor(&f.m, snapshot(&f, 1), snapshot(&f, 4), &c, &f.err), &f.err);
  assert_int_equal(c->id, 1);
  test_ok(bl_common_ancestor(&f.m, snapshot(&f, 4), snapshot(&f, 4), &c, &f.err), &f.err);
  assert_int_equal(c->id, 4);
  test_ok(bl_common_ancestor(&f.m, snapshot(&f, 5), snapshot(&f, 4), &c, &f.err), &f.err);
  assert_null(c);
  teardown(&f);
}

static bl_status chain_of(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  bl_chain c;
  bl_status st = bl_chain_between(ctx, &f->m, NULL, snapshot(f, 4), &c, err);
  bl_chain_dispose(ctx, &c);
  return st;
}

static void test_refs__survives_each_failing_allocation(void **state) {
  (void)state;
  fixture f;
  setup_branches(&f);
  test_fail_each(chain_of, &f);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refs__digits_are_an_id_before_they_are_a_ref),
      cmocka_unit_test(test_refs__a_ref_goes_before_a_time),
      cmocka_unit_test(test_refs__the_head_is_main_or_the_ref_asked_for),
      cmocka_unit_test(test_refs__what_is_nothing_is_not_found),
      cmocka_unit_test(test_refs__behind_a_prefix_only_its_kind_will_do),
      cmocka_unit_test(test_refs__a_sequence_number_must_be_unique),
      cmocka_unit_test(test_refs__a_wap_id_names_what_was_staged_with_it),
      cmocka_unit_test(test_refs__a_logged_snapshot_that_is_gone_has_expired),
      cmocka_unit_test(test_refs__a_table_without_snapshots_has_an_empty_head),
      cmocka_unit_test(test_refs__a_branch_has_the_current_schema_all_else_its_own),
      cmocka_unit_test(test_refs__a_time_on_main_goes_by_the_log_however_it_is_ordered),
      cmocka_unit_test(test_refs__a_time_may_have_a_zone_or_be_a_date),
      cmocka_unit_test(test_refs__after_a_rollback_log_and_ancestry_differ),
      cmocka_unit_test(test_refs__a_time_on_a_branch_goes_by_ancestry),
      cmocka_unit_test(test_refs__without_a_log_a_time_goes_by_ancestry),
      cmocka_unit_test(test_refs__a_time_before_the_first_snapshot_can_be_allowed),
      cmocka_unit_test(test_refs__a_chain_is_without_its_start_and_oldest_first),
      cmocka_unit_test(test_refs__a_chain_that_ends_at_an_expired_parent_says_so),
      cmocka_unit_test(test_refs__a_cycle_of_parents_is_damage),
      cmocka_unit_test(test_refs__the_common_ancestor_is_the_newest),
      cmocka_unit_test(test_refs__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
