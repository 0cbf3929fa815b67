/* test_io_memory.c: files in memory and the hook that lets calls fail. */
#include "base/alloc.h"
#include "support/memory_fixture.h"
#include "table/io.h"

static void put(fixture *f, const char *path, const char *text) {
  test_ok(bl_io_memory_put(f->io, path, text, strlen(text), &f->err), &f->err);
}

static void assert_holds(fixture *f, const char *path, const char *text) {
  bl_str s = bl_io_memory_get(f->io, path);
  assert_non_null(s.p);
  assert_int_equal(s.n, strlen(text));
  assert_memory_equal(s.p, text, s.n);
}

typedef struct listing {
  int files, folders;
  char names[200];
} listing;

static bl_status note_child(void *user, const bl_file_info *f, bl_error *err) {
  listing *l = user;
  (void)err;
  f->is_folder ? l->folders++ : l->files++;
  strncat(l->names, f->path, sizeof l->names - strlen(l->names) - 1);
  strncat(l->names, ";", sizeof l->names - strlen(l->names) - 1);
  return BL_OK;
}

static void test_io_memory__a_file_appears_when_it_is_finished(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  bool there;
  setup(&f);
  test_ok(f.io->open_output(f.io, "/t/a", false, &out, &f.err), &f.err);
  test_ok(out->write(out, "ab", 2, &f.err), &f.err);
  test_ok(out->write(out, "c", 1, &f.err), &f.err);
  test_ok(f.io->exists(f.io, "/t/a", &there, &f.err), &f.err);
  assert_false(there);
  test_ok(out->finish(out, &f.err), &f.err);
  assert_holds(&f, "/t/a", "abc");
  test_ok(f.io->exists(f.io, "/t", &there, &f.err), &f.err);
  assert_true(there);
  teardown(&f);
}

static void test_io_memory__exclusive_loses_to_a_file_that_came_meanwhile(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  setup(&f);
  test_ok(f.io->open_output(f.io, "a", true, &out, &f.err), &f.err);
  put(&f, "a", "other");
  test_status(BL_CONFLICT, out->finish(out, &f.err), &f.err);
  assert_holds(&f, "a", "other");
  teardown(&f);
}

static void test_io_memory__an_open_file_outlives_its_removal(void **state) {
  (void)state;
  fixture f;
  bl_input *in;
  char got[3];
  setup(&f);
  put(&f, "a", "abc");
  test_ok(f.io->open_input(f.io, "a", &in, &f.err), &f.err);
  test_ok(f.io->remove(f.io, "a", &f.err), &f.err);
  assert_null(bl_io_memory_get(f.io, "a").p);
  put(&f, "a", "xyz");
  test_ok(in->read_at(in, 0, got, 3, &f.err), &f.err);
  assert_memory_equal(got, "abc", 3);
  test_status(BL_IO, in->read_at(in, 2, got, 2, &f.err), &f.err);
  in->close(in);
  assert_int_equal(bl_io_memory_count(f.io), 1);
  teardown(&f);
}

static void test_io_memory__missing_files_are_not_found(void **state) {
  (void)state;
  fixture f;
  bl_input *in;
  setup(&f);
  test_status(BL_NOT_FOUND, f.io->open_input(f.io, "a", &in, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, f.io->remove(f.io, "a", &f.err), &f.err);
  teardown(&f);
}

static void test_io_memory__lists_direct_children_once(void **state) {
  (void)state;
  fixture f;
  listing l = {0};
  setup(&f);
  put(&f, "/t/a", "1");
  put(&f, "/t/m/x", "1");
  put(&f, "/t/m/y", "1");
  put(&f, "/tx/z", "1");
  test_ok(f.io->list(f.io, "/t", note_child, &l, &f.err), &f.err);
  assert_int_equal(l.files, 1);
  assert_int_equal(l.folders, 1);
  assert_string_equal(l.names, "/t/a;/t/m;");
  l = (listing){0};
  test_ok(f.io->list(f.io, "/none", note_child, &l, &f.err), &f.err);
  assert_int_equal(l.files + l.folders, 0);
  teardown(&f);
}

static bl_status fail_at(void *user, int64_t call, const char *operation, const char *path, bl_error *err) {
  if (call != *(int64_t *)user) return BL_OK;
  return bl_fail(err, BL_IO, "%s: %s: the disk is full", operation, path);
}

static void test_io_memory__the_hook_makes_each_call_of_a_write_fail(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  for (int64_t n = 1; n <= 3; n++) {
    bl_error err = BL_ERROR_INIT;
    bl_io_memory_set_hook(f.io, fail_at, &n);
    test_status(BL_IO, bl_io_write_all(f.io, "a", "abc", 3, true, &err), &err);
    assert_null(bl_io_memory_get(f.io, "a").p);
  }
  bl_io_memory_set_hook(f.io, NULL, NULL);
  test_ok(bl_io_write_all(f.io, "a", "abc", 3, true, &f.err), &f.err);
  assert_int_equal(bl_io_memory_calls(f.io), 3);
  teardown(&f);
}

static bl_status all_calls(bl_ctx *ctx, void *user, bl_error *err) {
  (void)user;
  bl_io *io = NULL;
  bl_buf b;
  listing l = {0};
  bl_status st;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  BL_GO(bl_io_memory_new(ctx, &io, err));
  BL_GO(bl_io_write_all(io, "t/a", "abc", 3, false, err));
  BL_GO(bl_io_write_all(io, "t/b/c", "abc", 3, true, err));
  BL_GO(bl_io_read_all(io, "t/a", 10, &b, err));
  BL_GO(io->list(io, "t", note_child, &l, err));
  BL_GO(io->remove(io, "t/a", err));
done:
  bl_buf_free(&b);
  if (io) io->free(io);
  return st;
}

static void test_io_memory__survives_each_failing_allocation(void **state) {
  (void)state;
  test_fail_each(all_calls, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_io_memory__a_file_appears_when_it_is_finished),
      cmocka_unit_test(test_io_memory__exclusive_loses_to_a_file_that_came_meanwhile),
      cmocka_unit_test(test_io_memory__an_open_file_outlives_its_removal),
      cmocka_unit_test(test_io_memory__missing_files_are_not_found),
      cmocka_unit_test(test_io_memory__lists_direct_children_once),
      cmocka_unit_test(test_io_memory__the_hook_makes_each_call_of_a_write_fail),
      cmocka_unit_test(test_io_memory__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
