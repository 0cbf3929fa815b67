/* test_reach.c: which manifests deletes and files can meet in. */
#include "changes/reach.h"
#include "world.h"

typedef struct fixture {
  world w;
  bl_typed_specs specs;
  bl_reach *r;
  bl_cover *c;
} fixture;

static void setup(fixture *f) {
  world_open(&f->w);
  f->w.sequence_number = 7;
  test_ok(bl_typed_specs_make(f->w.a, f->w.md, &f->specs, &f->w.err), &f->w.err);
  test_ok(bl_reach_new(f->w.ctx, f->w.md, &f->specs, &f->r, &f->w.err), &f->w.err);
  test_ok(bl_cover_new(f->w.ctx, &f->specs, &f->c, &f->w.err), &f->w.err);
}

static void teardown(fixture *f) {
  bl_reach_free(f->r);
  bl_cover_free(f->c);
  world_close(&f->w);
}

/* A manifest with entries of the numbers low to high and days from..to (-1: null among them). */
static bl_manifest_file manifest(fixture *f, int spec, int64_t low, int64_t high, int from, int to) {
  bl_manifest_entry e[2] = {world_data(&f->w, 1, spec, from), world_data(&f->w, 2, spec, to)};
  bl_manifest_file m = {.spec_id = spec, .sequence_number = high, .min_sequence_number = low};
  world_summary(&f->w, &m, e, 2);
  return m;
}

static bool wide(fixture *f, bl_manifest_file m) {
  return bl_reach_wide(f->r, &m);
}

static bool named(fixture *f, bl_manifest_file m) {
  return bl_reach_named(f->r, &m);
}

static bool meets(fixture *f, bl_manifest_file m) {
  return bl_cover_may_meet(f->c, &m);
}

static void add(fixture *f, bl_manifest_entry e, int side) {
  bl_manifest_entry *kept = bl_arena_alloc(f->w.a, 1, sizeof *kept);
  *kept = e;
  test_ok(bl_reach_add(f->r, kept, side, &f->w.err), &f->w.err);
}

static void cover(fixture *f, bl_manifest_entry e) {
  test_ok(bl_cover_add(f->c, &e, &f->w.err), &f->w.err);
}

/* ---- deletes ---- */

static void test_reach__no_delete_reaches_nothing(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  assert_false(wide(&f, manifest(&f, 1, 0, 9, 0, 9)));
  assert_false(named(&f, manifest(&f, 1, 0, 9, 0, 9)));
  assert_false(bl_reach_missing(f.r));
  teardown(&f);
}

static void test_reach__positions_reach_their_partition_up_to_their_number(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, world_positions(&f.w, 1, 1, 3, NULL), BL_NEWER);
  assert_true(wide(&f, manifest(&f, 1, 7, 9, 2, 4)));
  assert_false(wide(&f, manifest(&f, 1, 8, 9, 2, 4)));
  assert_false(wide(&f, manifest(&f, 1, 1, 9, 4, 5)));
  assert_false(wide(&f, manifest(&f, 0, 1, 9, 0, 0)));
  assert_false(bl_reach_has_equality(f.r));
  teardown(&f);
}

static void test_reach__equality_deletes_reach_strictly_older_data(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, world_equality(&f.w, 1, 1, 3), BL_NEWER);
  assert_true(wide(&f, manifest(&f, 1, 6, 9, 3, 3)));
  assert_false(wide(&f, manifest(&f, 1, 7, 9, 3, 3)));
  assert_false(wide(&f, manifest(&f, 0, 1, 9, 0, 0)));
  assert_true(bl_reach_has_equality(f.r));
  teardown(&f);
}

static void test_reach__unpartitioned_equality_deletes_reach_every_spec(void **state) {
  (void)state;
  for (int spec = 0; spec <= 2; spec += 2) { /* no field, and void fields only */
    fixture f;
    setup(&f);
    add(&f, world_equality(&f.w, 1, spec, -1), BL_OLDER);
    assert_true(wide(&f, manifest(&f, 1, 6, 9, 3, 3)));
    assert_true(wide(&f, manifest(&f, 0, 6, 9, 0, 0)));
    assert_false(wide(&f, manifest(&f, 1, 7, 9, 3, 3)));
    teardown(&f);
  }
}

static void test_reach__null_partitions_are_found_where_a_null_is_said_to_be(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  add(&f, world_positions(&f.w, 1, 1, -1, NULL), BL_NEWER);
  assert_true(wide(&f, manifest(&f, 1, 1, 9, -1, 3)));
  assert_false(wide(&f, manifest(&f, 1, 1, 9, 1, 3)));
  teardown(&f);
}

static void test_reach__a_named_file_is_looked_for_until_it_is_found(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_manifest_entry data = world_data(&f.w, 1, 1, 3), other = world_data(&f.w, 2, 1, 3);
  add(&f, world_vector(&f.w, 1, 4, &data), BL_NEWER);
  assert_true(bl_reach_missing(f.r));
  assert_true(named(&f, manifest(&f, 1, 7, 9, 3, 3)));
  assert_false(named(&f, manifest(&f, 1, 8, 9, 3, 3)));
  assert_false(named(&f, manifest(&f, 1, 1, 9, 4, 4)));
  assert_false(wide(&f, manifest(&f, 1, 1, 9, 3, 3)));
  bl_reach_found(f.r, other.file.path, BL_NEWER);
  bl_reach_found(f.r, data.file.path, BL_OLDER); /* it may be another file there */
  assert_true(bl_reach_missing(f.r));
  bl_reach_found(f.r, data.file.path, BL_NEWER);
  bl_reach_found(f.r, data.file.path, BL_NEWER);
  assert_false(bl_reach_missing(f.r));
  assert_false(named(&f, manifest(&f, 1, 1, 9, 3, 3)));
  teardown(&f);
}

static void test_reach__a_file_named_on_both_sides_is_looked_for_on_both(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_manifest_entry data = world_data(&f.w, 1, 1, 3), there = world_data(&f.w, 1, 0, 0);
  add(&f, world_vector(&f.w, 1, 4, &data), BL_OLDER);
  add(&f, world_vector(&f.w, 2, 4, &data), BL_OLDER);
  add(&f, world_positions(&f.w, 3, 0, 0, &there), BL_NEWER);
  bl_reach_found(f.r, data.file.path, BL_OLDER);
  assert_true(bl_reach_missing(f.r));
  assert_false(named(&f, manifest(&f, 1, 1, 9, 3, 3)));
  assert_true(named(&f, manifest(&f, 0, 1, 9, 0, 0)));
  bl_reach_found(f.r, data.file.path, BL_NEWER);
  assert_false(bl_reach_missing(f.r));
  teardown(&f);
}

static void test_reach__paths_are_compared_without_their_scheme(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_manifest_entry data = world_data(&f.w, 1, 0, 0);
  data.file.path = BL_STR("file:///t/x");
  add(&f, world_vector(&f.w, 1, 4, &data), BL_NEWER);
  bl_reach_found(f.r, BL_STR("/t/x"), BL_NEWER);
  assert_false(bl_reach_missing(f.r));
  teardown(&f);
}

/* ---- files ---- */

static void test_cover__a_delete_manifest_older_than_every_file_is_not_met(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  assert_false(meets(&f, manifest(&f, 0, 1, 9, 0, 0)));
  cover(&f, world_data(&f.w, 1, 1, 3)); /* of number 7 */
  assert_false(meets(&f, manifest(&f, 1, 1, 6, 3, 3)));
  assert_true(meets(&f, manifest(&f, 1, 1, 7, 3, 3)));
  assert_false(meets(&f, manifest(&f, 1, 1, 7, 1, 2)));
  teardown(&f);
}

static void test_cover__unpartitioned_deletes_may_meet_every_older_file(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  cover(&f, world_data(&f.w, 1, 1, 3));
  assert_false(meets(&f, manifest(&f, 0, 1, 7, 0, 0)));
  assert_true(meets(&f, manifest(&f, 0, 1, 8, 0, 0)));
  assert_true(meets(&f, manifest(&f, 2, 1, 8, 0, 0)));
  teardown(&f);
}

static void test_cover__the_oldest_file_of_a_partition_counts(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  cover(&f, world_data(&f.w, 1, 1, 3));
  f.w.sequence_number = 4;
  cover(&f, world_data(&f.w, 2, 1, 3));
  f.w.sequence_number = 6;
  cover(&f, world_data(&f.w, 3, 1, 3));
  cover(&f, world_data(&f.w, 4, 1, 8));
  assert_true(meets(&f, manifest(&f, 1, 1, 4, 3, 3)));
  assert_false(meets(&f, manifest(&f, 1, 1, 5, 8, 8)));
  assert_true(meets(&f, manifest(&f, 1, 1, 6, 8, 8)));
  teardown(&f);
}

/* ---- memory ---- */

static bl_status use_all(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  bl_reach *r = NULL;
  bl_cover *c = NULL;
  bl_manifest_entry data = world_data(&f->w, 1, 1, 3),
                    e[3] = {world_vector(&f->w, 1, 4, &data), world_positions(&f->w, 1, 1, 4, NULL),
                            world_equality(&f->w, 1, 0, -1)};
  bl_status st;
  BL_GO(bl_reach_new(ctx, f->w.md, &f->specs, &r, err));
  BL_GO(bl_cover_new(ctx, &f->specs, &c, err));
  for (size_t i = 0; i < BL_LEN(e); i++) BL_GO(bl_reach_add(r, &e[i], (int)i % 2, err));
  BL_GO(bl_cover_add(c, &data, err));
done:
  bl_reach_free(r);
  bl_cover_free(c);
  return st;
}

static void test_reach__survives_each_failing_allocation(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_fail_each(use_all, &f);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reach__no_delete_reaches_nothing),
      cmocka_unit_test(test_reach__positions_reach_their_partition_up_to_their_number),
      cmocka_unit_test(test_reach__equality_deletes_reach_strictly_older_data),
      cmocka_unit_test(test_reach__unpartitioned_equality_deletes_reach_every_spec),
      cmocka_unit_test(test_reach__null_partitions_are_found_where_a_null_is_said_to_be),
      cmocka_unit_test(test_reach__a_named_file_is_looked_for_until_it_is_found),
      cmocka_unit_test(test_reach__a_file_named_on_both_sides_is_looked_for_on_both),
      cmocka_unit_test(test_reach__paths_are_compared_without_their_scheme),
      cmocka_unit_test(test_cover__a_delete_manifest_older_than_every_file_is_not_met),
      cmocka_unit_test(test_cover__unpartitioned_deletes_may_meet_every_older_file),
      cmocka_unit_test(test_cover__the_oldest_file_of_a_partition_counts),
      cmocka_unit_test(test_reach__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
