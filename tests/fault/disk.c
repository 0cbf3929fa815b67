/* disk.c: see disk.h. */
#include "disk.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

/* ---- what lasts ---- */

static disk_file *file_of(const disk *d, ino_t ino) {
  for (size_t i = 0; i < d->n_files; i++)
    if (d->files[i].ino == ino) return &d->files[i];
  return NULL;
}

/* By number: a folder that gets another name keeps what is in it. */
static disk_folder *folder_of(const disk *d, ino_t ino) {
  for (size_t i = 0; i < d->n_folders; i++)
    if (d->folders[i].ino == ino) return &d->folders[i];
  return NULL;
}

static void keep_file(disk *d, const char *path, ino_t ino) {
  disk_file *f = file_of(d, ino);
  if (!f) {
    d->files = realloc(d->files, (d->n_files + 1) * sizeof *d->files);
    f = &d->files[d->n_files++];
    *f = (disk_file){.ino = ino};
  }
  free(f->bytes);
  f->bytes = test_read(path, &f->n);
}

static void add_name(disk_folder *f, const char *name, ino_t ino, bool is_folder) {
  for (size_t i = 0; i < f->n; i++)
    if (strcmp(f->names[i].name, name) == 0) {
      f->names[i].ino = ino;
      return;
    }
  f->names = realloc(f->names, (f->n + 1) * sizeof *f->names);
  f->names[f->n++] = (disk_name){strdup(name), ino, is_folder};
}

static void forget_names(disk_folder *f) {
  for (size_t i = 0; i < f->n; i++) free(f->names[i].name);
  free(f->names);
  f->names = NULL;
  f->n = 0;
}

static disk_folder *need_folder(disk *d, ino_t ino) {
  disk_folder *f = folder_of(d, ino);
  if (f) return f;
  d->folders = realloc(d->folders, (d->n_folders + 1) * sizeof *d->folders);
  f = &d->folders[d->n_folders++];
  *f = (disk_folder){.ino = ino};
  return f;
}

typedef void visit(void *user, const char *path, const char *name, const struct stat *info);

static void each_child(const char *folder, visit *v, void *user) {
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    struct stat info;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    char *path = test_join(folder, e->d_name);
    if (lstat(path, &info) == 0) v(user, path, e->d_name, &info);
    free(path);
  }
  if (dir) closedir(dir);
}

static void keep_name(void *user, const char *path, const char *name, const struct stat *info) {
  (void)path;
  add_name(user, name, info->st_ino, S_ISDIR(info->st_mode));
}

static ino_t number_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? info.st_ino : 0;
}

/* A folder's name in the one above, and so on. */
static void keep_own_names(disk *d, const char *path) {
  char above[1200];
  size_t root = strlen(d->root);
  snprintf(above, sizeof above, "%s", path);
  for (char *slash; strlen(above) > root && (slash = strrchr(above, '/'));) {
    ino_t ino = number_of(above);
    if (!ino) return;
    *slash = 0;
    add_name(need_folder(d, number_of(above)), slash + 1, ino, true);
  }
}

/* The names of a folder, and its own. */
static void keep_folder(disk *d, const char *path) {
  disk_folder *f = need_folder(d, number_of(path));
  forget_names(f);
  each_child(path, keep_name, f);
  keep_own_names(d, path);
}

static void keep_all(void *user, const char *path, const char *name, const struct stat *info) {
  disk *d = user;
  (void)name;
  if (!S_ISDIR(info->st_mode)) keep_file(d, path, info->st_ino);
  else {
    keep_folder(d, path);
    each_child(path, keep_all, d);
  }
}

void disk_begin(disk *d, const char *root) {
  *d = (disk){.root = root};
  keep_folder(d, root);
  each_child(root, keep_all, d);
}

/* ---- watching ---- */

static void sync_fd(disk *d, int fd) {
  char link[40], path[1200];
  struct stat info;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0 || fstat(fd, &info) != 0) return;
  path[n] = 0;
  if (strncmp(path, d->root, strlen(d->root)) != 0) return;
  if (S_ISDIR(info.st_mode)) keep_folder(d, path);
  else keep_file(d, link, info.st_ino);
}

void disk_seen(void *user, const char *call, int fd, const char *path) {
  static const char *const names[] = {"link", "linkat", "rename", "renameat2", "unlink", "mkdir", "rmdir"};
  disk *d = user;
  bool counts = strcmp(call, "fsync") == 0 || strcmp(call, "fdatasync") == 0;
  if (counts) sync_fd(d, fd);
  disk_folder *again = path && strcmp(call, "mkdir") == 0 ? folder_of(d, number_of(path)) : NULL;
  if (again) forget_names(again); /* the number of one that is gone */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    counts = counts || (path && strcmp(call, names[i]) == 0 && strncmp(path, d->root, strlen(d->root)) == 0);
  if (counts && d->on_change) d->on_change(d->user, call);
}

/* ---- what is left ---- */

static void leave_file(const disk *d, ino_t ino, const char *to) {
  const disk_file *f = file_of(d, ino);
  test_write(to, f ? f->bytes : "", f ? f->n : 0);
}

static void leave_folder(const disk *d, ino_t ino, const char *to) {
  const disk_folder *f = folder_of(d, ino);
  assert_int_equal(mkdir(to, 0777), 0);
  for (size_t i = 0; f && i < f->n; i++) {
    char *child = test_join(to, f->names[i].name);
    if (f->names[i].is_folder) leave_folder(d, f->names[i].ino, child);
    else leave_file(d, f->names[i].ino, child);
    free(child);
  }
}

typedef struct leaving {
  const disk *d;
  const char *to;
} leaving;

static void leave_now(void *user, const char *path, const char *name, const struct stat *info) {
  const leaving *l = user;
  char *to = test_join(l->to, name);
  if (!S_ISDIR(info->st_mode)) leave_file(l->d, info->st_ino, to);
  else {
    assert_int_equal(mkdir(to, 0777), 0);
    each_child(path, leave_now, &(leaving){l->d, to});
  }
  free(to);
}

void disk_leave(const disk *d, bool names_of_now, const char *to) {
  if (!names_of_now) {
    leave_folder(d, number_of(d->root), to);
    return;
  }
  assert_int_equal(mkdir(to, 0777), 0);
  each_child(d->root, leave_now, &(leaving){d, to});
}

void disk_end(disk *d) {
  for (size_t i = 0; i < d->n_files; i++) free(d->files[i].bytes);
  for (size_t i = 0; i < d->n_folders; i++) forget_names(&d->folders[i]);
  free(d->files);
  free(d->folders);
  *d = (disk){0};
}
