/* replay.c: the main of a fuzz target in an ordinary build: runs the target on every file of the folders (or files)
 * that are named, on each of their beginnings where they are short, and on nothing at all. Ends with status 0 unless
 * the target crashes or a file cannot be read. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

enum { SHORT = 600 };

/* The input in a block of exactly its size, so that a sanitizer sees a read beyond the end. */
static void run_copy(const uint8_t *p, size_t n) {
  uint8_t *copy = malloc(n ? n : 1);
  if (!copy) abort();
  if (n) memcpy(copy, p, n);
  LLVMFuzzerTestOneInput(copy, n);
  free(copy);
}

static int complain(const char *path) {
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return 1;
}

static int run_file(const char *path, size_t size) {
  FILE *f = fopen(path, "rb");
  if (!f) return complain(path);
  uint8_t *p = malloc(size ? size : 1);
  size_t n = p ? fread(p, 1, size, f) : 0;
  fclose(f);
  if (n == size) {
    run_copy(p, n);
    for (size_t cut = 1; n <= SHORT && cut < n; cut++) run_copy(p, cut);
  }
  free(p);
  return n == size ? 0 : complain(path);
}

static int run_path(const char *path);

static int run_folder(const char *path) {
  DIR *d = opendir(path);
  if (!d) return complain(path);
  int failed = 0;
  for (struct dirent *e; (e = readdir(d));) {
    char inner[4096];
    if (e->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
    failed |= run_path(inner);
  }
  closedir(d);
  return failed;
}

static int run_path(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return complain(path);
  return S_ISDIR(s.st_mode) ? run_folder(path) : run_file(path, (size_t)s.st_size);
}

int main(int argc, char **argv) {
  int failed = 0;
  run_copy(NULL, 0);
  for (int i = 1; i < argc; i++) failed |= run_path(argv[i]);
  return failed;
}
