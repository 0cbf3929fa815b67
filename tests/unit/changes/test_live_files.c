/* test_live_files.c: places, and files that are live on both sides (docs/changelog.md C1). */
#include "changes/live_files.h"
#include "support/support.h"

enum { MOST = 8 };

typedef struct fixture {
  bl_ctx *ctx;
  bl_live_set a, b;
  bl_manifest_entry left[MOST], right[MOST];
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  f->a.ctx = f->b.ctx = f->ctx;
}

static void teardown(fixture *f) {
  bl_live_set_dispose(&f->a);
  bl_live_set_dispose(&f->b);
  test_ctx_free(f->ctx);
}

static bl_manifest_entry file(const char *path, int64_t seq, int64_t file_seq, int64_t first_row_id) {
  return (bl_manifest_entry){
      .status = BL_EXISTING,
      .sequence_number = seq,
      .file_sequence_number = file_seq,
      .file = {.path = bl_str_of(path), .content_offset = BL_NONE, .first_row_id = first_row_id}};
}

/* Matches the first n of left with the first m of right. */
static void match(fixture *f, size_t n, size_t m) {
  test_ok(bl_live_set_add(&f->a, f->left, n, 0, &f->err), &f->err);
  test_ok(bl_live_set_add(&f->b, f->right, m, 0, &f->err), &f->err);
  test_ok(bl_live_set_match(&f->a, &f->b, &f->err), &f->err);
}

static void test_live_files__deleted_entries_are_left_out(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  f.left[0] = file("a", 1, 1, 0), f.left[1] = file("b", 1, 1, 0), f.left[2] = file("c", 1, 1, 0);
  f.left[1].status = BL_DELETED;
  test_ok(bl_live_set_add(&f.a, f.left, 3, 5, &f.err), &f.err);
  assert_int_equal(f.a.n, 2);
  assert_int_equal(f.a.items[1].at, 2);
  assert_int_equal(f.a.items[1].manifest, 5);
  teardown(&f);
}

static void test_live_files__a_place_is_path_and_both_numbers(void **state) {
  (void)state;
  bl_manifest_entry e = file("a", 1, 2, 0), path = file("b", 1, 2, 0), seq = file("a", 2, 2, 0),
                    file_seq = file("a", 1, 3, 0), id = file("a", 1, 2, 9), unknown = file("a", 1, BL_NONE, 0);
  assert_true(bl_same_place(&e, &e));
  assert_false(bl_same_place(&e, &path));
  assert_false(bl_same_place(&e, &seq));
  assert_false(bl_same_place(&e, &file_seq));
  assert_true(bl_same_place(&e, &id));
  assert_true(bl_same_place(&e, &unknown));
  assert_true(bl_same_place(&unknown, &e));
  assert_int_equal(bl_place_hash(&e), bl_place_hash(&unknown));
  assert_int_equal(bl_place_hash(&e), bl_place_hash(&id));
}

static void test_live_files__vectors_of_one_puffin_file_are_told_apart(void **state) {
  (void)state;
  bl_manifest_entry a = file("p", 1, 1, BL_NONE), b = a;
  a.file.content_offset = 4;
  b.file.content_offset = 50;
  assert_false(bl_same_place(&a, &b));
}

static void test_live_files__twins_are_found_both_ways(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  f.left[0] = file("gone", 1, 1, 0), f.left[1] = file("kept", 1, 1, 0);
  f.right[0] = file("kept", 1, 1, 0), f.right[1] = file("new", 2, 2, 0), f.right[2] = file("gone", 3, 3, 0);
  match(&f, 2, 3);
  assert_int_equal(f.a.items[0].twin, 0);
  assert_int_equal(f.a.items[1].twin, 1);
  assert_int_equal(f.b.items[0].twin, 2);
  assert_int_equal(f.b.items[1].twin, 0);
  assert_int_equal(f.b.items[2].twin, 0);
  teardown(&f);
}

static void test_live_files__a_place_that_is_there_twice_is_matched_once_each(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  f.left[0] = file("a", 1, 1, 0), f.left[1] = file("a", 1, 1, 10);
  f.right[0] = file("a", 1, 1, 10), f.right[1] = file("a", 1, 1, 20), f.right[2] = file("a", 1, 1, 0);
  match(&f, 2, 3);
  assert_int_equal(f.a.items[0].twin, 3); /* equal ids go first */
  assert_int_equal(f.a.items[1].twin, 1);
  assert_int_equal(f.b.items[1].twin, 0);
  teardown(&f);
}

static void test_live_files__an_empty_side_has_no_twins(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  f.right[0] = file("a", 1, 1, 0);
  match(&f, 0, 1);
  assert_int_equal(f.b.items[0].twin, 0);
  teardown(&f);
}

static bl_status match_some(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_manifest_entry e = file("a", 1, 1, 0);
  bl_live_set a = {.ctx = ctx}, b = {.ctx = ctx};
  bl_status st;
  BL_GO(bl_live_set_add(&a, &e, 1, 0, err));
  BL_GO(bl_live_set_add(&b, &e, 1, 0, err));
  BL_GO(bl_live_set_match(&a, &b, err));
  assert_int_equal(a.items[0].twin, 1);
done:
  bl_live_set_dispose(&a);
  bl_live_set_dispose(&b);
  return st;
}

static void test_live_files__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(match_some, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_live_files__deleted_entries_are_left_out),
      cmocka_unit_test(test_live_files__a_place_is_path_and_both_numbers),
      cmocka_unit_test(test_live_files__vectors_of_one_puffin_file_are_told_apart),
      cmocka_unit_test(test_live_files__twins_are_found_both_ways),
      cmocka_unit_test(test_live_files__a_place_that_is_there_twice_is_matched_once_each),
      cmocka_unit_test(test_live_files__an_empty_side_has_no_twins),
      cmocka_unit_test(test_live_files__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
