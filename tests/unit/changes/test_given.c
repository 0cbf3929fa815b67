/* test_given.c: entries that outlive their manifests. */
#include "changes/given.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_given *g;
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_given_new(f->ctx, &f->g, &f->err), &f->err);
}

static void teardown(fixture *f) {
  bl_given_free(f->g);
  test_ctx_free(f->ctx);
}

/* Everything an entry can point to. */
typedef struct full {
  bl_manifest_entry e;
  bl_column_metrics metrics[1];
  bl_value tuple[2];
  int64_t splits[2];
  int32_t ids[2];
  char path[8], key[4], target[8], bound[4], text[4];
} full;

static void fill(full *x) {
  memset(x, 0, sizeof *x);
  strcpy(x->path, "/path");
  strcpy(x->key, "key");
  strcpy(x->target, "/target");
  strcpy(x->bound, "low");
  strcpy(x->text, "day");
  x->metrics[0] = (bl_column_metrics){.id = 1, .values = 3, .lower = {x->bound, 3}};
  x->tuple[0] = (bl_value){.kind = BL_STRING, .u.s = {x->text, 3}};
  x->tuple[1] = (bl_value){.kind = BL_STRING, .null = true};
  x->splits[0] = 4, x->splits[1] = 900;
  x->ids[0] = 1, x->ids[1] = 2;
  x->e = (bl_manifest_entry){.status = BL_EXISTING,
                             .sequence_number = 5,
                             .file_sequence_number = 6,
                             .file = {.path = {x->path, 5},
                                      .partition = x->tuple,
                                      .n_partition = 2,
                                      .record_count = 3,
                                      .metrics = x->metrics,
                                      .n_metrics = 1,
                                      .key_metadata = {x->key, 3},
                                      .split_offsets = x->splits,
                                      .n_split_offsets = 2,
                                      .equality_ids = x->ids,
                                      .n_equality_ids = 2,
                                      .first_row_id = 77,
                                      .referenced_data_file = {x->target, 7},
                                      .content_offset = BL_NONE}};
}

static const bl_manifest_entry *take(fixture *f, const bl_manifest_entry *e, bool stays) {
  const bl_manifest_entry *out;
  test_ok(bl_given_take(f->g, e, stays, &out, &f->err), &f->err);
  return out;
}

static void test_given__a_copy_has_everything_and_points_to_nothing_old(void **state) {
  (void)state;
  fixture f;
  full *x = malloc(sizeof *x);
  setup(&f);
  fill(x);
  const bl_manifest_entry *e = take(&f, &x->e, false);
  assert_ptr_not_equal(e, &x->e);
  memset(x, 0xee, sizeof *x);
  free(x);
  assert_string_equal(e->file.path.p, "/path");
  assert_string_equal(e->file.key_metadata.p, "key");
  assert_string_equal(e->file.referenced_data_file.p, "/target");
  assert_string_equal(e->file.partition[0].u.s.p, "day");
  assert_true(e->file.partition[1].null);
  assert_string_equal(e->file.metrics[0].lower.p, "low");
  assert_null(e->file.metrics[0].upper.p);
  assert_int_equal(e->file.metrics[0].values, 3);
  assert_int_equal(e->file.split_offsets[1], 900);
  assert_int_equal(e->file.equality_ids[1], 2);
  assert_int_equal(e->file.first_row_id, 77);
  assert_int_equal(e->file_sequence_number, 6);
  teardown(&f);
}

static void test_given__what_stays_is_given_itself(void **state) {
  (void)state;
  fixture f;
  full x;
  setup(&f);
  fill(&x);
  assert_ptr_equal(take(&f, &x.e, true), &x.e);
  teardown(&f);
}

static void test_given__one_version_of_a_file_is_one_entry(void **state) {
  (void)state;
  fixture f;
  full x, y;
  setup(&f);
  fill(&x);
  fill(&y);
  const bl_manifest_entry *first = take(&f, &x.e, false);
  y.e.status = BL_ADDED; /* says nothing about the file */
  assert_ptr_equal(take(&f, &y.e, false), first);
  assert_ptr_equal(take(&f, &y.e, true), first);
  assert_int_equal(bl_given_count(f.g), 1);
  y.e.file.first_row_id = 500;
  assert_ptr_not_equal(take(&f, &y.e, false), first);
  y.e.file.first_row_id = 77;
  y.e.sequence_number = 9;
  assert_ptr_not_equal(take(&f, &y.e, false), first);
  assert_int_equal(bl_given_count(f.g), 3);
  teardown(&f);
}

static void test_given__metrics_are_not_lost(void **state) {
  (void)state;
  fixture f;
  full x, bare;
  setup(&f);
  fill(&x);
  fill(&bare);
  bare.e.file.n_metrics = 0;
  const bl_manifest_entry *first = take(&f, &bare.e, false);
  const bl_manifest_entry *better = take(&f, &x.e, false);
  assert_ptr_not_equal(first, better);
  assert_int_equal(better->file.n_metrics, 1);
  assert_ptr_equal(take(&f, &bare.e, false), better);
  teardown(&f);
}

static bl_status take_some(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  full x;
  bl_given *g;
  const bl_manifest_entry *out;
  fill(&x);
  BL_TRY(bl_given_new(ctx, &g, err));
  bl_status st = bl_given_take(g, &x.e, false, &out, err);
  x.e.sequence_number++;
  if (st == BL_OK) st = bl_given_take(g, &x.e, true, &out, err);
  bl_given_free(g);
  return st;
}

static void test_given__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(take_some, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_given__a_copy_has_everything_and_points_to_nothing_old),
      cmocka_unit_test(test_given__what_stays_is_given_itself),
      cmocka_unit_test(test_given__one_version_of_a_file_is_one_entry),
      cmocka_unit_test(test_given__metrics_are_not_lost),
      cmocka_unit_test(test_given__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
