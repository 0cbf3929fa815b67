/* test_pathmap.c: prefixes of paths, replaced before the I/O below sees them. */
#include "edge/io_memory.h"
#include "support/support.h"
#include "table/io.h"
#include "table/pathmap.h"

static void assert_maps(const bl_path_map *maps, size_t n, const char *path, const char *want) {
  bl_ctx *ctx = test_ctx();
  char *got = bl_path_map_apply(ctx, maps, n, path);
  assert_non_null(got);
  assert_string_equal(got, want);
  bl_free(ctx, got);
  test_ctx_free(ctx);
}

static bl_path_map map_of(const char *text) {
  bl_path_map m;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_path_map_parse(text, &m, &err), &err);
  return m;
}

static void test_pathmap__a_prefix_takes_whole_components(void **state) {
  (void)state;
  bl_path_map m = map_of("/wh/t=/new/place");
  assert_maps(&m, 1, "/wh/t/data/a", "/new/place/data/a");
  assert_maps(&m, 1, "/wh/t", "/new/place");
  assert_maps(&m, 1, "/wh/t/", "/new/place/");
  assert_maps(&m, 1, "/wh/tx/a", "/wh/tx/a");
  assert_maps(&m, 1, "/wh", "/wh");
  assert_maps(&m, 1, "x/wh/t/a", "x/wh/t/a");
}

static void test_pathmap__slashes_at_the_ends_do_not_count(void **state) {
  (void)state;
  bl_path_map m = map_of("/wh/t/=/new/");
  assert_maps(&m, 1, "/wh/t/a", "/new/a");
  m = map_of("/=/new");
  assert_maps(&m, 1, "/wh/t", "/new/wh/t");
  m = map_of("/wh=/");
  assert_maps(&m, 1, "/wh/t", "/t");
  assert_maps(&m, 1, "/wh", "/");
}

static void test_pathmap__all_file_forms_are_one(void **state) {
  (void)state;
  static const char *const from[] = {"/t=/n", "file:/t=/n", "file:///t=/n", "file://localhost/t=/n"};
  static const char *const paths[] = {"/t/a b%20", "file:/t/a b%20", "file:///t/a b%20", "file://localhost/t/a b%20"};
  for (size_t i = 0; i < BL_LEN(from); i++)
    for (size_t k = 0; k < BL_LEN(paths); k++) {
      bl_path_map m = map_of(from[i]);
      assert_maps(&m, 1, paths[k], "/n/a b%20");
    }
}

static void test_pathmap__nothing_is_decoded(void **state) {
  (void)state;
  bl_path_map m = map_of("/a b=/n");
  assert_maps(&m, 1, "/a%20b/x", "/a%20b/x");
  assert_maps(&m, 1, "file:///a%20b/x", "file:///a%20b/x");
}

static void test_pathmap__other_schemes_match_byte_for_byte(void **state) {
  (void)state;
  bl_path_map m = map_of("s3://b/wh=/local");
  assert_maps(&m, 1, "s3://b/wh/t/a", "/local/t/a");
  assert_maps(&m, 1, "s3a://b/wh/t/a", "s3a://b/wh/t/a");
  assert_maps(&m, 1, "file://host/t", "file://host/t");
}

static void test_pathmap__the_longest_prefix_wins_and_is_applied_once(void **state) {
  (void)state;
  bl_path_map m[] = {map_of("/a=/x"), map_of("/a/b=/a/c"), map_of("/a/b=/never"), map_of("/x=/y")};
  assert_maps(m, 4, "/a/b/f", "/a/c/f");
  assert_maps(m, 4, "/a/f", "/x/f");
}

static void test_pathmap__a_map_without_two_sides_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"", "=", "a", "a=", "=b"};
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    bl_path_map m;
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_path_map_parse(bad[i], &m, &err), &err);
    test_says(&err, "FROM=TO");
  }
  bl_path_map m = map_of("/a=/b=c");
  assert_true(bl_str_is(m.to, "/b=c"));
}

static void test_pathmap__same_paths(void **state) {
  (void)state;
  assert_true(bl_path_same(BL_STR("/a/"), BL_STR("file:///a")));
  assert_true(bl_path_same(BL_STR("file:/a"), BL_STR("file://localhost/a//")));
  assert_false(bl_path_same(BL_STR("/a"), BL_STR("/a/b")));
  assert_false(bl_path_same(BL_STR("file:a"), BL_STR("a")));
}

/* ---- through an I/O ---- */

static bl_status remember(void *user, const bl_file_info *f, bl_error *err) {
  (void)err;
  char *names = user;
  strcat(names, f->path);
  strcat(names, ";");
  return BL_OK;
}

static void test_pathmap__every_call_goes_through_the_map(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_io *memory, *io;
  bl_error err = BL_ERROR_INIT;
  bl_path_map m = map_of("/old=/new");
  char names[100] = "";
  bool there;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  test_ok(bl_io_memory_new(ctx, &memory, &err), &err);
  test_ok(bl_io_pathmap_new(ctx, memory, true, &m, 1, &io, &err), &err);
  test_ok(bl_io_write_all(io, "file:/old/d/a", "abc", 3, true, &err), &err);
  assert_non_null(bl_io_memory_get(memory, "/new/d/a").p);
  test_ok(bl_io_read_all(io, "file:///old/d/a", 10, &b, &err), &err);
  assert_int_equal(b.n, 3);
  test_ok(io->exists(io, "/old/d/a", &there, &err), &err);
  assert_true(there);
  test_ok(io->list(io, "file:/old/d", remember, names, &err), &err);
  assert_string_equal(names, "file:/old/d/a;");
  test_ok(io->remove(io, "/old/d/a", &err), &err);
  assert_int_equal(bl_io_memory_count(memory), 0);
  bl_input *in;
  test_status(BL_NOT_FOUND, io->open_input(io, "/old/d/a", &in, &err), &err);
  test_says(&err, "/old/d/a");
  test_says(&err, "/new/d/a");
  bl_buf_free(&b);
  io->free(io);
  test_ctx_free(ctx);
}

static int64_t seven(bl_io *io, int64_t most) {
  (void)io;
  return most < 7 ? most : 7;
}

static void test_pathmap__room_is_that_of_the_io_below(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_io *memory, *io;
  bl_error err = BL_ERROR_INIT;
  bl_path_map m = map_of("/old=/new");
  test_ok(bl_io_memory_new(ctx, &memory, &err), &err);
  test_ok(bl_io_pathmap_new(ctx, memory, false, &m, 1, &io, &err), &err);
  assert_null(io->room); /* it has no limit */
  io->free(io);
  memory->room = seven;
  test_ok(bl_io_pathmap_new(ctx, memory, true, &m, 1, &io, &err), &err);
  assert_int_equal(io->room(io, 100), 7);
  assert_int_equal(io->room(io, 3), 3);
  io->free(io);
  test_ctx_free(ctx);
}

static bl_status build_and_use(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_io *memory = NULL, *io = NULL;
  bl_path_map m[] = {map_of("/old=/new"), map_of("/older=/newer")};
  char names[100] = "";
  bl_status st;
  BL_GO(bl_io_memory_new(ctx, &memory, err));
  BL_GO(bl_io_pathmap_new(ctx, memory, false, m, 2, &io, err));
  BL_GO(bl_io_write_all(io, "/old/a", "abc", 3, false, err));
  BL_GO(io->list(io, "/old", remember, names, err));
done:
  if (io) io->free(io);
  if (memory) memory->free(memory);
  return st;
}

static void test_pathmap__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(build_and_use, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pathmap__a_prefix_takes_whole_components),
      cmocka_unit_test(test_pathmap__slashes_at_the_ends_do_not_count),
      cmocka_unit_test(test_pathmap__all_file_forms_are_one),
      cmocka_unit_test(test_pathmap__nothing_is_decoded),
      cmocka_unit_test(test_pathmap__other_schemes_match_byte_for_byte),
      cmocka_unit_test(test_pathmap__the_longest_prefix_wins_and_is_applied_once),
      cmocka_unit_test(test_pathmap__a_map_without_two_sides_is_refused),
      cmocka_unit_test(test_pathmap__same_paths),
      cmocka_unit_test(test_pathmap__every_call_goes_through_the_map),
      cmocka_unit_test(test_pathmap__room_is_that_of_the_io_below),
      cmocka_unit_test(test_pathmap__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
