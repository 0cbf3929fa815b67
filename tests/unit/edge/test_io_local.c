/* test_io_local.c: files of this machine. */
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "edge/io_local.h"
#include "support/support.h"
#include "table/io.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_io *io;
  char *dir;
  bl_error err;
} fixture;

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  test_ok(bl_io_local_new(f->ctx, &f->io, &f->err), &f->err);
}

static void teardown(fixture *f) {
  f->io->free(f->io);
  test_remove_dir(f->dir);
  test_ctx_free(f->ctx);
}

static void write_text(fixture *f, const char *path, const char *text) {
  test_ok(bl_io_write_all(f->io, path, text, strlen(text), false, &f->err), &f->err);
}

static void assert_holds(fixture *f, const char *path, const char *text) {
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  test_ok(bl_io_read_all(f->io, path, 1000000, &b, &f->err), &f->err);
  assert_int_equal(b.n, strlen(text));
  assert_memory_equal(b.p, text, b.n);
  bl_buf_free(&b);
}

static bl_status count_child(void *user, const bl_file_info *file, bl_error *err) {
  (void)file, (void)err;
  ++*(int *)user;
  return BL_OK;
}

static int count_children(fixture *f, const char *folder) {
  int n = 0;
  test_ok(f->io->list(f->io, folder, count_child, &n, &f->err), &f->err);
  return n;
}

static void test_io_local__names_are_opaque_in_every_form(void **state) {
  (void)state;
  static const char *const names[] = {"a b", "a%20b", "a+b", "k=11%2F12", "caf\xc3\xa9", "#x", "q?y", "%"};
  static const char *const forms[] = {"%s/%s/f", "file:%s/%s/f", "file://%s/%s/f", "file://localhost%s/%s/f"};
  fixture f;
  setup(&f);
  for (size_t i = 0; i < BL_LEN(names); i++)
    for (size_t w = 0; w < BL_LEN(forms); w++)
      for (size_t r = 0; r < BL_LEN(forms); r++) {
        char wrote[500], path[500];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(wrote, sizeof wrote, forms[w], f.dir, names[i]);
        snprintf(path, sizeof path, forms[r], f.dir, names[i]);
#pragma GCC diagnostic pop
        char text[20];
        snprintf(text, sizeof text, "%zu %zu %zu", i, w, r);
        write_text(&f, wrote, text);
        assert_holds(&f, path, text);
      }
  assert_int_equal(count_children(&f, f.dir), BL_LEN(names));
  teardown(&f);
}

static void test_io_local__a_file_appears_only_when_it_is_finished(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  bool there;
  setup(&f);
  char *path = test_join(f.dir, "sub/deep/file");
  test_ok(f.io->open_output(f.io, path, false, &out, &f.err), &f.err);
  test_ok(out->write(out, "abc", 3, &f.err), &f.err);
  test_ok(f.io->exists(f.io, path, &there, &f.err), &f.err);
  assert_false(there);
  test_ok(out->finish(out, &f.err), &f.err);
  assert_holds(&f, path, "abc");
  char *folder = test_join(f.dir, "sub/deep");
  assert_int_equal(count_children(&f, folder), 1);
  free(folder);
  free(path);
  teardown(&f);
}

static void test_io_local__abort_leaves_nothing(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  setup(&f);
  char *path = test_join(f.dir, "file");
  test_ok(f.io->open_output(f.io, path, true, &out, &f.err), &f.err);
  test_ok(out->write(out, "abc", 3, &f.err), &f.err);
  out->abort(out);
  assert_int_equal(count_children(&f, f.dir), 0);
  free(path);
  teardown(&f);
}

static void test_io_local__exclusive_refuses_a_file_that_exists(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "file");
  test_ok(bl_io_write_all(f.io, path, "1", 1, true, &f.err), &f.err);
  test_status(BL_CONFLICT, bl_io_write_all(f.io, path, "2", 1, true, &f.err), &f.err);
  test_says(&f.err, path);
  f.err = (bl_error)BL_ERROR_INIT;
  assert_holds(&f, path, "1");
  write_text(&f, path, "3");
  assert_holds(&f, path, "3");
  assert_int_equal(count_children(&f, f.dir), 1);
  free(path);
  teardown(&f);
}

static void test_io_local__two_exclusive_writers_have_one_winner(void **state) {
  (void)state;
  fixture f;
  bl_output *a, *b;
  setup(&f);
  char *path = test_join(f.dir, "v1.metadata.json");
  test_ok(f.io->open_output(f.io, path, true, &a, &f.err), &f.err);
  test_ok(f.io->open_output(f.io, path, true, &b, &f.err), &f.err);
  test_ok(a->write(a, "a", 1, &f.err), &f.err);
  test_ok(b->write(b, "b", 1, &f.err), &f.err);
  test_ok(b->finish(b, &f.err), &f.err);
  test_status(BL_CONFLICT, a->finish(a, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  assert_holds(&f, path, "b");
  assert_int_equal(count_children(&f, f.dir), 1);
  free(path);
  teardown(&f);
}

/* ---- files without a name ---- */

static const unsigned all_flags[] = {0, BL_OUT_EXCLUSIVE, BL_OUT_LATER, BL_OUT_EXCLUSIVE | BL_OUT_LATER,
                                     BL_OUT_UNSYNCED};

/* File systems on which every file is written without a name until it is complete. */
static void need_unnamed_files(fixture *f) {
  struct statfs fs;
  assert_int_equal(statfs(f->dir, &fs), 0);
  if ((uint32_t)fs.f_type == EXT4_SUPER_MAGIC || (uint32_t)fs.f_type == XFS_SUPER_MAGIC ||
      (uint32_t)fs.f_type == TMPFS_MAGIC)
    return;
  teardown(f);
  skip();
}

static bl_output *open_with(fixture *f, const char *path, unsigned flags) {
  bl_output *out;
  test_ok(f->io->open_output_with(f->io, path, flags, &out, &f->err), &f->err);
  test_ok(out->write(out, "new", 3, &f->err), &f->err);
  return out;
}

static void test_io_local__nothing_is_left_of_a_file_when_the_program_is_ended(void **state) {
  (void)state;
  fixture f;
  int status;
  setup(&f);
  need_unnamed_files(&f);
  char *path = test_join(f.dir, "file");
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
  for (size_t i = 0; i < BL_LEN(signals) * BL_LEN(all_flags); i++) {
    pid_t child = fork();
    if (child == 0) {
      signal(signals[i % BL_LEN(signals)], SIG_DFL);
      bl_output *out = open_with(&f, path, all_flags[i / BL_LEN(signals)]);
      uint8_t many[100000] = {0}; /* more than a buffer */
      if (out->write(out, many, sizeof many, NULL) == BL_OK) raise(signals[i % BL_LEN(signals)]);
      _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_children(&f, f.dir), 0);
  }
  free(path);
  teardown(&f);
}

/* Whatever way it gets it. */
static void test_io_local__a_file_gets_its_name_when_it_is_complete(void **state) {
  (void)state;
  fixture f;
  struct stat info;
  setup(&f);
  need_unnamed_files(&f);
  char *path = test_join(f.dir, "file");
  mode_t mask = umask(027);
  for (size_t i = 0; i < BL_LEN(all_flags); i++) {
    for (int again = 0; again < 2; again++) {
      bl_output *out = open_with(&f, path, all_flags[i]);
      assert_int_equal(count_children(&f, f.dir), again);
      if (again && all_flags[i] & BL_OUT_EXCLUSIVE) {
        bl_error err = BL_ERROR_INIT;
        test_status(BL_CONFLICT, out->finish(out, &err), &err);
        test_says(&err, path);
      } else {
        test_ok(out->finish(out, &f.err), &f.err);
      }
      assert_holds(&f, path, "new");
      assert_int_equal(count_children(&f, f.dir), 1);
      assert_int_equal(stat(path, &info), 0);
      assert_int_equal(info.st_mode & 0777, 0640);
      assert_int_equal(info.st_nlink, 1);
      if (!again) write_text(&f, path, "old");
      if (again || all_flags[i] & BL_OUT_EXCLUSIVE) write_text(&f, path, "new");
    }
    test_ok(f.io->remove(f.io, path, &f.err), &f.err);
  }
  umask(mask);
  free(path);
  teardown(&f);
}

static void test_io_local__abort_leaves_what_is_there(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "file");
  write_text(&f, path, "old");
  for (size_t i = 0; i < BL_LEN(all_flags); i++) {
    bl_output *out = open_with(&f, path, all_flags[i]);
    out->abort(out);
    assert_holds(&f, path, "old");
    assert_int_equal(count_children(&f, f.dir), 1);
  }
  free(path);
  teardown(&f);
}

static void test_io_local__big_and_small_writes_keep_their_order(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  bl_input *in;
  setup(&f);
  char *path = test_join(f.dir, "file");
  size_t n = 200001;
  uint8_t *want = malloc(n), *got = malloc(n);
  for (size_t i = 0; i < n; i++) want[i] = (uint8_t)(i * 31 >> 3);
  test_ok(f.io->open_output(f.io, path, false, &out, &f.err), &f.err);
  for (size_t i = 0, k = 1; i < n; i += k, k = k * 3 % 70001 + 1)
    test_ok(out->write(out, want + i, k < n - i ? k : n - i, &f.err), &f.err);
  test_ok(out->finish(out, &f.err), &f.err);
  test_ok(f.io->open_input(f.io, path, &in, &f.err), &f.err);
  assert_int_equal(in->size, n);
  test_ok(in->read_at(in, 100, got, n - 100, &f.err), &f.err);
  assert_memory_equal(got, want + 100, n - 100);
  in->close(in);
  free(want);
  free(got);
  free(path);
  teardown(&f);
}

static void test_io_local__a_short_read_names_path_and_byte(void **state) {
  (void)state;
  fixture f;
  bl_input *in;
  char buf[10];
  setup(&f);
  char *path = test_join(f.dir, "file");
  write_text(&f, path, "abc");
  test_ok(f.io->open_input(f.io, path, &in, &f.err), &f.err);
  test_status(BL_IO, in->read_at(in, 1, buf, 5, &f.err), &f.err);
  test_says(&f.err, path);
  assert_int_equal(f.err.position, 3);
  f.err = (bl_error)BL_ERROR_INIT;
  test_status(BL_IO, in->read_at(in, -1, buf, 1, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  test_status(BL_IO, in->read_at(in, INT64_MAX, buf, 2, &f.err), &f.err);
  in->close(in);
  free(path);
  teardown(&f);
}

static void refuse_open(fixture *f, const char *path, bl_status want, const char *says) {
  bl_input *in = NULL;
  bl_error err = BL_ERROR_INIT;
  test_status(want, f->io->open_input(f->io, path, &in, &err), &err);
  test_says(&err, says);
  assert_null(in);
}

static void test_io_local__what_cannot_be_opened_is_named(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *fifo = test_join(f.dir, "fifo"), *missing = test_join(f.dir, "no/such");
  assert_int_equal(mkfifo(fifo, 0600), 0);
  refuse_open(&f, missing, BL_NOT_FOUND, missing);
  char name[301];
  memset(name, 'n', 300);
  name[300] = 0;
  char *too_long = test_join(f.dir, name);
  refuse_open(&f, too_long, BL_NOT_FOUND, "cannot open");
  free(too_long);
  refuse_open(&f, f.dir, BL_IO, "not a regular file");
  refuse_open(&f, fifo, BL_IO, "not a regular file");
  refuse_open(&f, "", BL_USAGE, "empty");
  refuse_open(&f, "s3://bucket/key", BL_UNSUPPORTED, "s3://");
  refuse_open(&f, "file://otherhost/key", BL_UNSUPPORTED, "host");
  free(fifo);
  free(missing);
  teardown(&f);
}

static void test_io_local__a_folder_that_does_not_exist_has_no_children(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *missing = test_join(f.dir, "missing");
  assert_int_equal(count_children(&f, missing), 0);
  free(missing);
  teardown(&f);
}

static bl_status stop_at_once(void *user, const bl_file_info *file, bl_error *err) {
  (void)user, (void)file;
  return bl_fail(err, BL_CANCELLED, "enough");
}

static bl_status open_again(void *user, const bl_file_info *file, bl_error *err) {
  fixture *f = user;
  if (file->is_folder) return BL_OK;
  assert_int_equal(file->size, 3);
  assert_true(file->modified_ms > 0);
  bl_input *in;
  BL_TRY(f->io->open_input(f->io, file->path, &in, err));
  in->close(in);
  return BL_OK;
}

static void test_io_local__listed_paths_open_again_in_the_form_they_were_asked_in(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "file"), *deep = test_join(f.dir, "folder/file");
  write_text(&f, path, "abc");
  write_text(&f, deep, "abc");
  char uri[500];
  snprintf(uri, sizeof uri, "file://%s/", f.dir);
  test_ok(f.io->list(f.io, f.dir, open_again, &f, &f.err), &f.err);
  test_ok(f.io->list(f.io, uri, open_again, &f, &f.err), &f.err);
  test_status(BL_CANCELLED, f.io->list(f.io, uri, stop_at_once, &f, &f.err), &f.err);
  free(path);
  free(deep);
  teardown(&f);
}

static void test_io_local__remove_tells_what_was_not_there(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "file");
  write_text(&f, path, "abc");
  test_ok(f.io->remove(f.io, path, &f.err), &f.err);
  test_status(BL_NOT_FOUND, f.io->remove(f.io, path, &f.err), &f.err);
  free(path);
  teardown(&f);
}

static void test_io_local__a_file_in_the_way_of_a_folder_is_an_io_error(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  setup(&f);
  char *path = test_join(f.dir, "file"), *below = test_join(f.dir, "file/x");
  write_text(&f, path, "abc");
  test_status(BL_IO, f.io->open_output(f.io, below, false, &out, &f.err), &f.err);
  assert_null(out);
  f.err = (bl_error)BL_ERROR_INIT;
  char folder[500];
  snprintf(folder, sizeof folder, "%s/", f.dir);
  test_status(BL_USAGE, f.io->open_output(f.io, folder, false, &out, &f.err), &f.err);
  free(path);
  free(below);
  teardown(&f);
}

static bl_status write_and_read(bl_ctx *ctx, void *user, bl_error *err) {
  const char *path = user;
  bl_io *io = NULL;
  bl_buf b;
  bl_status st;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  int n = 0;
  BL_GO(bl_io_local_new(ctx, &io, err));
  BL_GO(bl_io_write_all(io, path, "abc", 3, false, err));
  BL_GO(bl_io_read_all(io, path, 10, &b, err));
  BL_GO(io->list(io, "/proc/self/task", count_child, &n, err));
  BL_GO(io->remove(io, path, err));
done:
  bl_buf_free(&b);
  if (io) io->free(io);
  return st;
}

static void test_io_local__survives_each_failing_allocation(void **state) {
  (void)state;
  char *dir = test_temp_dir();
  char *path = test_join(dir, "a/b");
  test_fail_each(write_and_read, path);
  free(path);
  test_remove_dir(dir);
}

static void test_io_local__a_file_above_the_limit_is_not_read(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  setup(&f);
  char *path = test_join(f.dir, "file");
  write_text(&f, path, "abcd");
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  test_status(BL_DAMAGED, bl_io_read_all(f.io, path, 3, &b, &f.err), &f.err);
  test_says(&f.err, "4 bytes, the limit is 3");
  bl_buf_free(&b);
  free(path);
  teardown(&f);
}

/* ---- locks ---- */

static void test_io_local__a_lock_keeps_others_off_and_leaves_no_file(void **state) {
  (void)state;
  fixture f;
  bl_io_lock *one, *two;
  setup(&f);
  char *path = test_join(f.dir, "sub/lock");
  test_ok(f.io->lock(f.io, path, 0, &one, &f.err), &f.err);
  test_status(BL_CONFLICT, f.io->lock(f.io, path, 4, &two, &f.err), &f.err);
  test_says(&f.err, "4 ms");
  assert_null(two);
  one->unlock(one);
  assert_int_not_equal(access(path, F_OK), 0);
  f.err = (bl_error)BL_ERROR_INIT;
  test_ok(f.io->lock(f.io, path, 0, &two, &f.err), &f.err);
  two->unlock(two);
  free(path);
  teardown(&f);
}

static void test_io_local__a_holder_that_dies_lets_go(void **state) {
  (void)state;
  fixture f;
  bl_io_lock *l;
  int status;
  setup(&f);
  char *path = test_join(f.dir, "lock");
  pid_t child = fork();
  if (child == 0) {
    bl_status st = f.io->lock(f.io, path, 0, &l, NULL);
    if (st == BL_OK) raise(SIGKILL);
    _exit(1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(access(path, F_OK), 0);
  test_ok(f.io->lock(f.io, path, 0, &l, &f.err), &f.err);
  l->unlock(l);
  free(path);
  teardown(&f);
}

/* ---- less syncing ---- */

static void test_io_local__files_and_folders_may_be_synced_later(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "a/file"), *folder = test_join(f.dir, "a"), *none = test_join(f.dir, "none");
  static const unsigned flags[] = {BL_OUT_LATER, BL_OUT_UNSYNCED, 0, BL_OUT_EXCLUSIVE | BL_OUT_LATER};
  for (size_t i = 0; i < BL_LEN(flags); i++) {
    char text[2] = {(char)('a' + i), 0};
    if (flags[i] & BL_OUT_EXCLUSIVE) test_ok(f.io->remove(f.io, path, &f.err), &f.err);
    test_ok(bl_io_write_with(f.io, path, text, 1, flags[i], &f.err), &f.err);
    assert_holds(&f, path, text);
  }
  const char *both[] = {path, folder, none};
  test_ok(f.io->sync_all(f.io, both, 2, &f.err), &f.err);
  test_status(BL_IO, f.io->sync_all(f.io, both, 3, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  bl_unsynced u = {.ctx = f.ctx};
  test_ok(bl_unsynced_add(&u, bl_str_of(path), 1, &f.err), &f.err);
  test_ok(bl_unsynced_add(&u, bl_str_of(path), 1, &f.err), &f.err);
  assert_int_equal(u.n, 3); /* their folder once */
  test_ok(bl_unsynced_sync(&u, f.io, &f.err), &f.err);
  assert_int_equal(u.n, 0);
  test_ok(bl_unsynced_add(&u, bl_str_of(none), 1, &f.err), &f.err);
  test_status(BL_IO, bl_unsynced_sync(&u, f.io, &f.err), &f.err);
  assert_int_equal(u.n, 2); /* still to be done */
  bl_unsynced_dispose(&u);
  assert_int_equal(count_children(&f, folder), 1);
  free(path);
  free(folder);
  free(none);
  teardown(&f);
}

static void test_io_local__files_are_synced_in_the_background(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  bl_background *b;
  test_ok(bl_background_new(f.ctx, 3, &b, &f.err), &f.err);
  char *none = test_join(f.dir, "none"), *folder = test_join(f.dir, "a");
  bl_unsynced u = {.ctx = f.ctx, .background = b};
  for (int i = 0; i < 20; i++) {
    char name[20];
    snprintf(name, sizeof name, "a/file-%d", i);
    char *path = test_join(f.dir, name);
    test_ok(bl_io_write_with(f.io, path, name, strlen(name), BL_OUT_LATER, &f.err), &f.err);
    test_ok(bl_unsynced_add(&u, bl_str_of(path), 7, &f.err), &f.err);
    bl_unsynced_begin(&u, f.io, i == 9);
    free(path);
  }
  assert_int_equal(u.n, 22); /* the folder again for names that came after it was synced */
  assert_int_equal(u.bytes, 140);
  bl_unsynced_wait(&u);
  test_ok(bl_unsynced_sync(&u, f.io, &f.err), &f.err);
  assert_int_equal(u.n, 0);
  assert_int_equal(u.bytes, 0);
  test_ok(bl_unsynced_add(&u, bl_str_of(none), 7, &f.err), &f.err);
  bl_unsynced_begin(&u, f.io, false);
  bl_unsynced_wait(&u);
  for (int i = 0; i < 2; i++) { /* what failed has failed */
    bl_error err = BL_ERROR_INIT;
    test_status(BL_IO, bl_unsynced_sync(&u, f.io, &err), &err);
    test_says(&err, none);
  }
  bl_unsynced_dispose(&u);
  bl_background_free(b);
  assert_int_equal(count_children(&f, folder), 20);
  free(none);
  free(folder);
  teardown(&f);
}

static void test_io_local__empty_folders_are_removed(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "a/file"), *folder = test_join(f.dir, "a");
  write_text(&f, path, "x");
  test_status(BL_IO, f.io->remove(f.io, folder, &f.err), &f.err);
  f.err = (bl_error)BL_ERROR_INIT;
  test_ok(f.io->remove(f.io, path, &f.err), &f.err);
  test_ok(f.io->remove(f.io, folder, &f.err), &f.err);
  assert_int_not_equal(access(folder, F_OK), 0);
  free(path);
  free(folder);
  teardown(&f);
}

/* ---- results ---- */

static bl_output *open_result(fixture *f, const char *path) {
  bl_output *out;
  test_ok(f->io->open_result(f->io, path, &out, &f->err), &f->err);
  test_ok(out->write(out, "new", 3, &f->err), &f->err);
  return out;
}

static void test_io_local__a_result_replaces_what_is_there_when_it_is_finished(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  char *path = test_join(f.dir, "file");
  for (int i = 0; i < 3; i++) {
    bl_output *out = open_result(&f, path);
    assert_int_equal(count_children(&f, f.dir), i != 0);
    if (i < 2) test_ok(out->finish(out, &f.err), &f.err);
    else out->abort(out);
    assert_holds(&f, path, "new");
    assert_int_equal(count_children(&f, f.dir), 1);
    if (i == 0) write_text(&f, path, "something longer");
  }
  free(path);
  teardown(&f);
}

static void test_io_local__nothing_is_left_of_a_result_when_the_program_is_ended(void **state) {
  (void)state;
  fixture f;
  int status;
  setup(&f);
  char *path = test_join(f.dir, "file");
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
  for (size_t i = 0; i < BL_LEN(signals); i++) {
    pid_t child = fork();
    if (child == 0) {
      signal(signals[i], SIG_DFL); /* nohup ignores SIGHUP, a job of a script SIGINT */
      open_result(&f, path);
      raise(signals[i]);
      _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_children(&f, f.dir), 0);
  }
  free(path);
  teardown(&f);
}

static void test_io_local__a_result_follows_links(void **state) {
  (void)state;
  fixture f;
  struct stat info;
  setup(&f);
  char *link_to = test_join(f.dir, "link"), *folder = test_join(f.dir, "deep"), *file = test_join(folder, "file");
  assert_int_equal(mkdir(folder, 0777), 0);
  assert_int_equal(symlink("deep/file", link_to), 0);
  for (int i = 0; i < 2; i++) {
    bl_output *out = open_result(&f, link_to);
    test_ok(out->finish(out, &f.err), &f.err);
    assert_holds(&f, file, "new");
    assert_int_equal(lstat(link_to, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(count_children(&f, folder), 1);
    write_text(&f, file, "old");
  }
  free(link_to);
  free(folder);
  free(file);
  teardown(&f);
}

static void test_io_local__a_result_makes_no_folder(void **state) {
  (void)state;
  fixture f;
  bl_output *out;
  setup(&f);
  char *path = test_join(f.dir, "no/file");
  test_status(BL_IO, f.io->open_result(f.io, path, &out, &f.err), &f.err);
  assert_null(out);
  assert_int_equal(count_children(&f, f.dir), 0);
  free(path);
  teardown(&f);
}

static void test_io_local__a_pipe_is_written_straight(void **state) {
  (void)state;
  fixture f;
  int ends[2];
  char path[40], text[4] = "";
  setup(&f);
  assert_int_equal(pipe(ends), 0);
  static const char *const folders[] = {"/dev/fd", "/proc/self/fd"};
  for (size_t i = 0; i < BL_LEN(folders); i++) {
    snprintf(path, sizeof path, "%s/%d", folders[i], ends[1]);
    bl_output *out = open_result(&f, path);
    test_ok(out->finish(out, &f.err), &f.err);
    assert_int_equal(read(ends[0], text, 3), 3);
    assert_string_equal(text, "new");
  }
  close(ends[0]);
  close(ends[1]);
  teardown(&f);
}

static bl_status write_result(bl_ctx *ctx, void *user, bl_error *err) {
  bl_io *io = NULL;
  bl_output *out = NULL;
  bl_status st;
  BL_GO(bl_io_local_new(ctx, &io, err));
  BL_GO(io->open_result(io, user, &out, err));
  st = out->finish(out, err);
done:
  if (io) io->free(io);
  return st;
}

static void test_io_local__a_result_survives_each_failing_allocation(void **state) {
  (void)state;
  char *dir = test_temp_dir();
  char *path = test_join(dir, "link");
  assert_int_equal(symlink("file", path), 0);
  test_fail_each(write_result, path);
  free(path);
  test_remove_dir(dir);
}

/* ---- how many files may be open ---- */

static void limit_files(rlim_t soft) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = soft;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_io_local__room_is_what_the_soft_limit_leaves(void **state) {
  (void)state;
  fixture f;
  struct rlimit before;
  int fds[100], n = 0;
  setup(&f);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  limit_files(60);
  int64_t room = f.io->room(f.io, 1000);
  assert_in_range(room, 1, 57); /* but for the standard streams, and what the test was begun with */
  assert_int_equal(f.io->room(f.io, 5), 5);
  while (n < 100 && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) n++;
  assert_int_equal(n, room);
  assert_int_equal(f.io->room(f.io, 1000), 0);
  close(fds[0]);
  close(fds[--n]);
  assert_int_equal(f.io->room(f.io, 1000), 2);
  limit_files(20); /* below numbers that are in use */
  assert_int_equal(f.io->room(f.io, 1000), 1);
  for (int i = 1; i < n; i++) close(fds[i]);
  limit_files(before.rlim_cur);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_io_local__names_are_opaque_in_every_form),
      cmocka_unit_test(test_io_local__a_file_appears_only_when_it_is_finished),
      cmocka_unit_test(test_io_local__abort_leaves_nothing),
      cmocka_unit_test(test_io_local__exclusive_refuses_a_file_that_exists),
      cmocka_unit_test(test_io_local__two_exclusive_writers_have_one_winner),
      cmocka_unit_test(test_io_local__nothing_is_left_of_a_file_when_the_program_is_ended),
      cmocka_unit_test(test_io_local__a_file_gets_its_name_when_it_is_complete),
      cmocka_unit_test(test_io_local__abort_leaves_what_is_there),
      cmocka_unit_test(test_io_local__big_and_small_writes_keep_their_order),
      cmocka_unit_test(test_io_local__a_short_read_names_path_and_byte),
      cmocka_unit_test(test_io_local__what_cannot_be_opened_is_named),
      cmocka_unit_test(test_io_local__a_folder_that_does_not_exist_has_no_children),
      cmocka_unit_test(test_io_local__listed_paths_open_again_in_the_form_they_were_asked_in),
      cmocka_unit_test(test_io_local__remove_tells_what_was_not_there),
      cmocka_unit_test(test_io_local__a_file_in_the_way_of_a_folder_is_an_io_error),
      cmocka_unit_test(test_io_local__survives_each_failing_allocation),
      cmocka_unit_test(test_io_local__a_file_above_the_limit_is_not_read),
      cmocka_unit_test(test_io_local__a_lock_keeps_others_off_and_leaves_no_file),
      cmocka_unit_test(test_io_local__a_holder_that_dies_lets_go),
      cmocka_unit_test(test_io_local__files_and_folders_may_be_synced_later),
      cmocka_unit_test(test_io_local__files_are_synced_in_the_background),
      cmocka_unit_test(test_io_local__empty_folders_are_removed),
      cmocka_unit_test(test_io_local__a_result_replaces_what_is_there_when_it_is_finished),
      cmocka_unit_test(test_io_local__nothing_is_left_of_a_result_when_the_program_is_ended),
      cmocka_unit_test(test_io_local__a_result_follows_links),
      cmocka_unit_test(test_io_local__a_result_makes_no_folder),
      cmocka_unit_test(test_io_local__a_pipe_is_written_straight),
      cmocka_unit_test(test_io_local__a_result_survives_each_failing_allocation),
      cmocka_unit_test(test_io_local__room_is_what_the_soft_limit_leaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
