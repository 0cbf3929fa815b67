/* test_manifest_cache.c: lists and opened manifests that diffs share. */
#include "changes/manifest_cache.h"
#include "world.h"

enum { MANIFESTS = 6 };

typedef struct fixture {
  world w;
  bl_manifest_cache *c;
  bl_manifest_file m[MANIFESTS];
} fixture;

/* Six manifests of three files each, and a snapshot for each with that manifest only. */
static void setup(fixture *f, int64_t limit) {
  world_open(&f->w);
  for (int i = 0; i < MANIFESTS; i++) {
    bl_manifest_entry e[3];
    for (int k = 0; k < 3; k++) {
      e[k] = world_data(&f->w, 10 * i + k, 0, 0);
      world_bounds(&f->w, &e[k], 1, 2);
    }
    f->m[i] = world_manifest(&f->w, BL_MANIFEST_DATA, e, 3);
    world_commit(&f->w, i, "append", &f->m[i], 1);
  }
  test_ok(bl_manifest_cache_new(&f->w.t, limit, &f->c, &f->w.err), &f->w.err);
}

static void teardown(fixture *f) {
  bl_manifest_cache_free(f->c);
  world_close(&f->w);
}

static bl_opened *open_one(fixture *f, const bl_manifest_file *m, bool metrics) {
  bl_open_request r = {.m = m};
  test_ok(bl_manifest_cache_open(f->c, &r, 1, metrics, &f->w.err), &f->w.err);
  return r.out;
}

static int64_t calls(fixture *f) {
  return bl_io_memory_calls(f->w.io);
}

static void test_manifest_cache__a_list_is_read_once(void **state) {
  (void)state;
  fixture f;
  const bl_manifest_file *list, *again;
  size_t n;
  setup(&f, 1 << 20);
  test_ok(bl_manifest_cache_list(f.c, NULL, &list, &n, &f.w.err), &f.w.err);
  assert_int_equal(n, 0);
  test_ok(bl_manifest_cache_list(f.c, &f.w.snapshots[0], &list, &n, &f.w.err), &f.w.err);
  assert_int_equal(n, 1);
  int64_t before = calls(&f);
  test_ok(bl_manifest_cache_list(f.c, &f.w.snapshots[0], &again, &n, &f.w.err), &f.w.err);
  assert_ptr_equal(list, again);
  assert_int_equal(calls(&f), before);
  teardown(&f);
}

static void test_manifest_cache__the_lists_used_last_stay(void **state) {
  (void)state;
  fixture f;
  const bl_manifest_file *first, *list;
  size_t n;
  setup(&f, 1 << 20);
  test_ok(bl_manifest_cache_list(f.c, &f.w.snapshots[0], &first, &n, &f.w.err), &f.w.err);
  for (int i = 1; i < MANIFESTS; i++) {
    test_ok(bl_manifest_cache_list(f.c, &f.w.snapshots[i], &list, &n, &f.w.err), &f.w.err);
    test_ok(bl_manifest_cache_list(f.c, &f.w.snapshots[0], &list, &n, &f.w.err), &f.w.err);
    assert_ptr_equal(list, first);
  }
  teardown(&f);
}

static void test_manifest_cache__a_manifest_is_opened_once(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1 << 20);
  bl_open_request r[3] = {{.m = &f.m[0]}, {.m = &f.m[1]}, {.m = &f.m[0]}};
  test_ok(bl_manifest_cache_open(f.c, r, 3, true, &f.w.err), &f.w.err);
  assert_ptr_equal(r[0].out, r[2].out);
  assert_int_equal(r[1].out->n, 3);
  assert_true(r[1].out->busy);
  int64_t before = calls(&f);
  bl_manifest_cache_rest(f.c);
  assert_ptr_equal(open_one(&f, &f.m[1], false), r[1].out); /* one with metrics will do */
  assert_int_equal(calls(&f), before);
  teardown(&f);
}

static void test_manifest_cache__another_first_row_id_is_another_manifest(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1 << 20);
  bl_manifest_file before = f.m[0];
  before.first_row_id = BL_NONE;
  bl_opened *a = open_one(&f, &before, true), *b = open_one(&f, &f.m[0], true);
  assert_ptr_not_equal(a, b);
  assert_int_equal(a->entries[1].file.first_row_id, BL_NONE);
  assert_int_equal(b->entries[1].file.first_row_id, f.m[0].first_row_id + 10);
  teardown(&f);
}

static void test_manifest_cache__metrics_are_read_when_they_are_asked_for(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1 << 20);
  bl_opened *bare = open_one(&f, &f.m[0], false);
  assert_int_equal(bare->entries[0].file.n_metrics, 0);
  bl_opened *full = open_one(&f, &f.m[0], true);
  assert_int_equal(full->entries[0].file.n_metrics, 1);
  assert_int_equal(bare->n, 3); /* still there for who has it */
  assert_ptr_equal(open_one(&f, &f.m[0], false), full);
  bl_manifest_cache_rest(f.c);
  teardown(&f);
}

static void test_manifest_cache__idle_ones_go_beyond_the_limit(void **state) {
  (void)state;
  fixture f;
  setup(&f, 0);
  bl_opened *pinned = open_one(&f, &f.m[0], true), *busy;
  pinned->pinned = true;
  for (int i = 1; i < MANIFESTS; i++) open_one(&f, &f.m[i], true);
  int64_t all = bl_manifest_cache_bytes(f.c);
  bl_manifest_cache_trim(f.c);
  assert_int_equal(bl_manifest_cache_bytes(f.c), all); /* nothing is idle */
  bl_manifest_cache_rest(f.c);
  busy = open_one(&f, &f.m[1], true);
  bl_manifest_cache_trim(f.c);
  assert_int_equal(busy->n, 3);
  assert_true(bl_manifest_cache_bytes(f.c) < all / 2);
  int64_t before = calls(&f);
  assert_ptr_equal(open_one(&f, &f.m[0], true), pinned);
  assert_int_equal(calls(&f), before);
  teardown(&f);
}

static void test_manifest_cache__the_least_recently_used_goes_first(void **state) {
  (void)state;
  fixture f;
  setup(&f, 0);
  open_one(&f, &f.m[0], true);
  int64_t one = bl_manifest_cache_bytes(f.c);
  bl_manifest_cache_free(f.c);
  test_ok(bl_manifest_cache_new(&f.w.t, 2 * one, &f.c, &f.w.err), &f.w.err);
  for (int i = 0; i < 3; i++) open_one(&f, &f.m[i], true);
  open_one(&f, &f.m[0], true);
  bl_manifest_cache_rest(f.c);
  int64_t before = calls(&f);
  open_one(&f, &f.m[0], true);
  open_one(&f, &f.m[2], true);
  assert_int_equal(calls(&f), before);
  open_one(&f, &f.m[1], true);
  assert_true(calls(&f) > before);
  teardown(&f);
}

static void test_manifest_cache__entries_lead_to_their_manifest(void **state) {
  (void)state;
  fixture f;
  bl_opened *o[MANIFESTS];
  bl_opened_index x;
  setup(&f, 1 << 20);
  for (int i = 0; i < MANIFESTS; i++) o[i] = open_one(&f, &f.m[i], true);
  test_ok(bl_manifest_cache_index(f.c, &x, &f.w.err), &f.w.err);
  assert_int_equal(x.n, MANIFESTS);
  for (int i = 0; i < MANIFESTS; i++)
    for (size_t k = 0; k < 3; k++) assert_ptr_equal(bl_opened_of(&x, &o[i]->entries[k]), o[i]);
  bl_free(f.w.ctx, x.items);
  test_ok(bl_manifest_cache_marks(f.c, o[0], &f.w.err), &f.w.err);
  assert_null(o[0]->given[2]);
  teardown(&f);
}

static void test_manifest_cache__a_failed_opening_leaves_nothing_half_read(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1 << 20);
  bl_manifest_file gone = f.m[1];
  gone.path = BL_STR("/t/metadata/gone.avro");
  bl_open_request r[2] = {{.m = &f.m[0]}, {.m = &gone}};
  bl_error err = BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_manifest_cache_open(f.c, r, 2, true, &err), &err);
  test_says(&err, "gone.avro");
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_manifest_cache_open(f.c, &r[1], 1, true, &err), &err);
  assert_int_equal(open_one(&f, &f.m[0], true)->n, 3);
  teardown(&f);
}

static bl_status open_some(bl_ctx *ctx, void *user, bl_error *err) {
  const fixture *f = user;
  bl_table t = f->w.t;
  bl_manifest_cache *c;
  const bl_manifest_file *list;
  size_t n;
  bl_opened_index x = {0};
  bl_open_request r[2] = {{.m = &f->m[0]}, {.m = &f->m[1]}};
  t.ctx = ctx;
  bl_status st;
  BL_TRY(bl_manifest_cache_new(&t, 0, &c, err));
  BL_GO(bl_manifest_cache_list(c, &f->w.snapshots[0], &list, &n, err));
  BL_GO(bl_manifest_cache_open(c, r, 1, false, err));
  BL_GO(bl_manifest_cache_open(c, r, 2, true, err));
  BL_GO(bl_manifest_cache_marks(c, r[0].out, err));
  BL_GO(bl_manifest_cache_index(c, &x, err));
done:
  bl_free(ctx, x.items);
  bl_manifest_cache_rest(c);
  bl_manifest_cache_free(c);
  return st;
}

static void test_manifest_cache__survives_each_failing_allocation(void **state) {
  (void)state;
  fixture f;
  setup(&f, 0);
  test_fail_each(open_some, &f);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_manifest_cache__a_list_is_read_once),
      cmocka_unit_test(test_manifest_cache__the_lists_used_last_stay),
      cmocka_unit_test(test_manifest_cache__a_manifest_is_opened_once),
      cmocka_unit_test(test_manifest_cache__another_first_row_id_is_another_manifest),
      cmocka_unit_test(test_manifest_cache__metrics_are_read_when_they_are_asked_for),
      cmocka_unit_test(test_manifest_cache__idle_ones_go_beyond_the_limit),
      cmocka_unit_test(test_manifest_cache__the_least_recently_used_goes_first),
      cmocka_unit_test(test_manifest_cache__entries_lead_to_their_manifest),
      cmocka_unit_test(test_manifest_cache__a_failed_opening_leaves_nothing_half_read),
      cmocka_unit_test(test_manifest_cache__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
