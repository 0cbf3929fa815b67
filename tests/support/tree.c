/* tree.c: see tree.h. */
#include "support/tree.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

static int is_folder(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

void test_copy_file(const char *from, const char *to) {
  size_t n;
  void *bytes = test_read(from, &n);
  test_write(to, bytes, n);
  free(bytes);
}

void test_copy_tree(const char *from, const char *to) {
  DIR *d = opendir(from);
  assert_non_null(d);
  assert_int_equal(mkdir(to, 0777), 0);
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    char *a = test_join(from, e->d_name), *b = test_join(to, e->d_name);
    if (is_folder(a)) test_copy_tree(a, b);
    else test_copy_file(a, b);
    free(a);
    free(b);
  }
  closedir(d);
}

void test_empty_tree(const char *folder) {
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    char *path = test_join(folder, e->d_name);
    if (is_folder(path)) {
      test_empty_tree(path);
      assert_int_equal(rmdir(path), 0);
    } else assert_int_equal(unlink(path), 0);
    free(path);
  }
  closedir(d);
}

size_t test_count_files(const char *folder) {
  DIR *d = opendir(folder);
  size_t n = 0;
  if (!d) return 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    char *path = test_join(folder, e->d_name);
    n += is_folder(path) ? test_count_files(path) : 1;
    free(path);
  }
  closedir(d);
  return n;
}
