/* io_local.c: see io_local.h. */
#include "edge/io_local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "table/pathmap.h"

typedef struct local_io {
  bl_io io;
  bl_ctx *ctx;
  bool names_open_files; /* one without a name can get one, by what /proc calls it */
} local_io;

/* ---- paths ---- */

static bool is_scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/* Length of "scheme" in scheme://…, 0 where there is none. */
static size_t scheme_length(const char *path) {
  size_t n = 0;
  while (is_scheme_char(path[n])) n++;
  return n && strncmp(path + n, "://", 3) == 0 ? n : 0;
}

/* The path for the operating system: a part of `path`. */
static bl_status local_path(const char *path, const char **out, bl_error *err) {
  *out = path;
  if (path[0] == 0) return bl_fail(err, BL_USAGE, "cannot open a file: its path is empty");
  if (strncmp(path, "file:", 5) == 0) {
    const char *p = path + 5;
    if (p[0] == '/' && p[1] != '/') *out = p;
    if (strncmp(p, "//", 2) != 0) return BL_OK; /* file:name: a plain relative path */
    p += 2;
    if (strncmp(p, "localhost/", 10) == 0) p += 9;
    if (p[0] != '/') return bl_fail(err, BL_UNSUPPORTED, "cannot open: %s: a file: URI of another host", path);
    *out = p;
    return BL_OK;
  }
  size_t n = scheme_length(path);
  if (n)
    return bl_fail(err, BL_UNSUPPORTED, "cannot open: %s: no support for %.*s:// in this build", path, (int)n, path);
  return BL_OK;
}

static bl_status system_error(bl_error *err, bl_status st, const char *what, const char *path, int code) {
  char text[128] = "";
  return bl_fail(err, st, "%s: %s: %s", what, path, strerror_r(code, text, sizeof text));
}

/* Nothing is there; a name too long for the system names nothing. */
static bool is_missing(int code) {
  return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG;
}

/* For what must be there to be read. */
static bl_status read_error(bl_error *err, const char *what, const char *path, int code) {
  return system_error(err, is_missing(code) ? BL_NOT_FOUND : BL_IO, what, path, code);
}

static bl_status io_error(bl_error *err, const char *what, const char *path, int code) {
  return system_error(err, BL_IO, what, path, code);
}

/* ---- reading ---- */

typedef struct local_input {
  bl_input in;
  bl_ctx *ctx;
  int fd;
  char path[]; /* as given */
} local_input;

static bl_status input_read_at(bl_input *base, int64_t offset, void *out, size_t n, bl_error *err) {
  local_input *in = (local_input *)base;
  uint8_t *p = out;
  int64_t end;
  if (offset < 0 || n > INT64_MAX || !bl_add64(offset, (int64_t)n, &end))
    return bl_fail(err, BL_IO, "cannot read: %s: position out of range", in->path);
  while (n) {
    ssize_t got = pread(in->fd, p, n, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return io_error(err, "cannot read", in->path, errno);
    }
    if (got == 0)
      return bl_fail_at(err, BL_IO, offset, "cannot read: %s: file ends at byte %lld", in->path, (long long)offset);
    p += got, n -= (size_t)got, offset += got;
  }
  return BL_OK;
}

static void input_close(bl_input *base) {
  local_input *in = (local_input *)base;
  close(in->fd);
  bl_free(in->ctx, in);
}

static bl_status local_open_input(bl_io *base, const char *path, bl_input **out, bl_error *err) {
  local_io *io = (local_io *)base;
  const char *p;
  struct stat info;
  *out = NULL;
  BL_TRY(local_path(path, &p, err));
  int fd = open(p, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
  if (fd < 0) return read_error(err, "cannot open", path, errno);
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return bl_fail(err, BL_IO, "cannot open: %s: not a regular file", path);
  }
  size_t n = strlen(path);
  local_input *in = bl_alloc(io->ctx, sizeof *in + n + 1, 1);
  if (!in) {
    close(fd);
    return bl_nomem(err);
  }
  *in = (local_input){
      .in = {.size = info.st_size, .read_at = input_read_at, .close = input_close}, .ctx = io->ctx, .fd = fd};
  memcpy(in->path, path, n + 1);
  *out = &in->in;
  return BL_OK;
}

static bl_status local_exists(bl_io *base, const char *path, bool *out, bl_error *err) {
  (void)base;
  const char *p;
  struct stat info;
  *out = false;
  BL_TRY(local_path(path, &p, err));
  if (stat(p, &info) == 0) *out = true;
  else if (!is_missing(errno)) return io_error(err, "cannot look for", path, errno);
  return BL_OK;
}

/* ---- listing ---- */

static bl_status visit_child(local_io *io, const char *folder, DIR *dir, const char *name,
                             bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err), void *user,
                             bl_error *err) {
  struct stat info;
  if (fstatat(dirfd(dir), name, &info, 0) != 0) {
    if (errno == ENOENT) return BL_OK; /* removed since, or a dangling link */
    return io_error(err, "cannot list", folder, errno);
  }
  size_t n = strlen(folder);
  char *path = bl_asprintf(io->ctx, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
  if (!path) return bl_nomem(err);
  bl_file_info f = {.path = path,
                    .size = info.st_size,
                    .modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000,
                    .is_folder = S_ISDIR(info.st_mode)};
  bl_status st = visit(user, &f, err);
  bl_free(io->ctx, path);
  return st;
}

static bl_status local_list(bl_io *base, const char *folder,
                            bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err), void *user,
                            bl_error *err) {
  local_io *io = (local_io *)base;
  const char *p;
  BL_TRY(local_path(folder, &p, err));
  DIR *dir = opendir(p);
  if (!dir) return is_missing(errno) ? BL_OK : io_error(err, "cannot list", folder, errno);
  bl_status st = BL_OK;
  while (st == BL_OK) {
    errno = 0;
    struct dirent *e = readdir(dir);
    if (!e) {
      if (errno) st = io_error(err, "cannot list", folder, errno);
      break;
    }
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    st = visit_child(io, folder, dir, e->d_name, visit, user, err);
  }
  closedir(dir);
  return st;
}

/* ---- writing ---- */

#define WRITE_BUFFER ((size_t)1 << 16)
enum { AHEAD = 8 << 20 }; /* bytes after which the disk begins, so that syncing later finds little to do */

typedef struct local_output {
  bl_output out;
  const local_io *io;
  bl_ctx *ctx;
  int fd;
  unsigned flags;   /* BL_OUT_… */
  size_t n;         /* bytes in buffer */
  int64_t written;  /* bytes given to the file */
  const char *path; /* as given */
  const char *target;
  char *followed;  /* where target is, behind links; NULL: it is no link */
  char *folder;    /* target's */
  char *temporary; /* in folder; NULL once it is gone */
  bool unnamed;    /* has no name yet; temporary is one that it can get */
  dev_t device;    /* which file it is, before it is published */
  ino_t number;
  uint8_t buffer[WRITE_BUFFER];
  char text[]; /* path's bytes */
} local_output;

static void forget_temporary(local_output *o) {
  bl_free(o->ctx, o->temporary);
  o->temporary = NULL;
}

static void note_written(local_output *o, int64_t n) {
  int64_t begun = o->written / AHEAD * AHEAD;
  o->written += n;
#ifdef SYNC_FILE_RANGE_WRITE
  int64_t end = o->written / AHEAD * AHEAD;
  if (end > begun && !(o->flags & BL_OUT_UNSYNCED))
    (void)!sync_file_range(o->fd, begun, end - begun, SYNC_FILE_RANGE_WRITE);
#else
  (void)begun;
#endif
}

static bl_status write_fully(local_output *o, const uint8_t *p, size_t n, bl_error *err) {
  while (n) {
    ssize_t put = write(o->fd, p, n);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error(err, "cannot write", o->path, errno);
    p += put, n -= (size_t)put;
    note_written(o, put);
  }
  return BL_OK;
}

static bl_status flush_buffer(local_output *o, bl_error *err) {
  size_t n = o->n;
  o->n = 0;
  return write_fully(o, o->buffer, n, err);
}

static bl_status output_write(bl_output *base, const void *p, size_t n, bl_error *err) {
  local_output *o = (local_output *)base;
  if (n > WRITE_BUFFER - o->n) BL_TRY(flush_buffer(o, err));
  if (n > WRITE_BUFFER) return write_fully(o, p, n, err);
  memcpy(o->buffer + o->n, p, n);
  o->n += n;
  return BL_OK;
}

static void output_end(local_output *o) {
  if (o->fd >= 0) close(o->fd);
  if (o->temporary && !o->unnamed) unlink(o->temporary);
  bl_free(o->ctx, o->temporary);
  bl_free(o->ctx, o->followed);
  bl_free(o->ctx, o->folder);
  bl_free(o->ctx, o);
}

static void output_abort(bl_output *base) {
  output_end((local_output *)base);
}

/* Folder of a file: a fresh block; "." for a bare name. */
static char *folder_of(bl_ctx *ctx, const char *path) {
  bl_str folder = bl_path_folder(bl_str_of(path));
  return bl_asprintf(ctx, "%.*s", (int)folder.n, folder.p);
}

/* A file or folder; 0, or why not. */
static int sync_path(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int code = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno; /* these: no sync for folders here */
  close(fd);
  return code;
}

/* The file is published by now: where it was to be exclusive, a failure means that nobody knows whether it lasts. */
static bl_status sync_folder(local_output *o, bl_error *err) {
  int code = sync_path(o->folder);
  if (!code) return BL_OK;
  return system_error(err, o->flags & BL_OUT_EXCLUSIVE ? BL_UNKNOWN : BL_IO, "cannot sync the folder", o->folder, code);
}

/* Over a network a name may be given and reported as failed: the file of that name tells (link(2)). */
static bool is_published(const local_output *o) {
  struct stat named;
  return stat(o->target, &named) == 0 && named.st_ino == o->number && named.st_dev == o->device;
}

/* The name was not given, for this reason. */
static bl_status not_published(const local_output *o, int code, bl_error *err) {
  if (is_published(o)) return BL_OK;
  if (code == EEXIST) return bl_fail(err, BL_CONFLICT, "cannot create: %s: it exists already", o->path);
  return io_error(err, "cannot link the finished file", o->path, code);
}

/* By one call where the file system can, else by a link (NFS), which leaves the temporary name. */
static bl_status publish_exclusive(local_output *o, bl_error *err) {
  if (renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->target, RENAME_NOREPLACE) == 0) {
    forget_temporary(o);
    return BL_OK;
  }
  if (errno != EEXIST && link(o->temporary, o->target) == 0) return BL_OK;
  return not_published(o, errno, err);
}

#define FD_PATH "/proc/self/fd/%d"

/* A file without a name gets one: the target's where that is free, else, to replace it, the temporary one. */
static bl_status give_name(local_output *o, bl_error *err) {
  char name[sizeof FD_PATH + 20];
  snprintf(name, sizeof name, FD_PATH, o->fd);
  int failed = linkat(AT_FDCWD, name, AT_FDCWD, o->target, AT_SYMLINK_FOLLOW);
  if (!failed || o->flags & BL_OUT_EXCLUSIVE) {
    int code = errno;
    forget_temporary(o);
    return failed ? not_published(o, code, err) : BL_OK;
  }
  if (errno == EEXIST) failed = linkat(AT_FDCWD, name, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW);
  if (failed) return io_error(err, "cannot name the finished file", o->path, errno);
  o->unnamed = false;
  return BL_OK;
}

static bl_status publish(local_output *o, bl_error *err) {
  if (o->flags & BL_OUT_EXCLUSIVE) return publish_exclusive(o, err);
  if (rename(o->temporary, o->target) != 0) {
    return io_error(err, "cannot rename the finished file", o->path, errno);
  }
  forget_temporary(o);
  return BL_OK;
}

static bl_status note_identity(local_output *o, bl_error *err) {
  struct stat info;
  if (fstat(o->fd, &info) != 0) return io_error(err, "cannot look at", o->path, errno);
  o->device = info.st_dev, o->number = info.st_ino;
  return BL_OK;
}

/* What closing the file will tell, before it has a name. */
static bl_status close_copy(const local_output *o, bl_error *err) {
  int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && close(copy) != 0 ? io_error(err, "cannot close", o->path, errno) : BL_OK;
}

static bl_status output_finish(bl_output *base, bl_error *err) {
  local_output *o = (local_output *)base;
  bl_status st;
  BL_GO(flush_buffer(o, err));
  if (!(o->flags & (BL_OUT_UNSYNCED | BL_OUT_LATER)) && fsync(o->fd) != 0)
    BL_GO(io_error(err, "cannot sync", o->path, errno));
  BL_GO(note_identity(o, err));
  bool named = o->unnamed;
  if (o->unnamed) BL_GO(close_copy(o, err));
  if (o->unnamed) BL_GO(give_name(o, err));
  int closed = close(o->fd);
  o->fd = -1;
  if (closed != 0 && !named) BL_GO(io_error(err, "cannot close", o->path, errno));
  if (o->temporary) BL_GO(publish(o, err)); /* else it has its name, or is a device or pipe */
  st = o->flags & (BL_OUT_UNSYNCED | BL_OUT_LATER) ? BL_OK : sync_folder(o, err);
done:
  output_end(o);
  return st;
}

/* mkdir -p for every folder above the file. `path` is changed and restored. */
static bl_status make_folders(char *path, bl_error *err) {
  for (char *p = path + 1; *path && *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    int failed = mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
    if (failed == EACCES || failed == EROFS) { /* it may be there all the same */
      struct stat info;
      if (stat(path, &info) == 0) failed = 0;
    }
    bl_status st = failed ? io_error(err, "cannot create the folder", path, failed) : BL_OK;
    *p = '/';
    if (st != BL_OK) return st;
  }
  return BL_OK;
}

/* Can what is written here do without a name until it is complete? That a sync of a file without a name lasts, once it
 * has one and its folder is synced, holds where the journal takes both in their order; others may pass over such a file
 * (btrfs), which is well where it is synced by its name later. */
static bool may_be_unnamed(const local_output *o) {
  struct statfs fs;
  if (o->flags & BL_OUT_UNSYNCED) return true;
  if (fstatfs(o->fd, &fs) != 0) return false;
  switch ((uint32_t)fs.f_type) {
  case EXT4_SUPER_MAGIC:
  case XFS_SUPER_MAGIC:
  case TMPFS_MAGIC: return true;
  case BTRFS_SUPER_MAGIC:
  case F2FS_SUPER_MAGIC:
  case OVERLAYFS_SUPER_MAGIC: return o->flags & BL_OUT_LATER;
  default: return false;
  }
}

/* Without a name nothing is left when the program is ended. Not every file system has such files. */
static bool open_unnamed(local_output *o) {
#ifdef O_TMPFILE
  if (!o->io->names_open_files) return false;
  o->fd = open(o->folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  o->unnamed = o->fd >= 0 && may_be_unnamed(o);
  if (o->fd >= 0 && !o->unnamed) close(o->fd);
#endif
  return o->unnamed;
}

/* Without a name, else with a temporary one. */
static bool create_file(local_output *o) {
  if (open_unnamed(o)) return true;
  o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return o->fd >= 0;
}

/* Its folder and its temporary name. */
static bl_status name_temporary(local_output *o, bl_error *err) {
  const char *slash = strrchr(o->target, '/');
  const char *name = slash ? slash + 1 : o->target;
  if (*name == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    return bl_fail(err, BL_USAGE, "cannot create: %s: not the path of a file", o->path);
  uint64_t r[2];
  bl_random(o->ctx, r, sizeof r);
  o->folder = folder_of(o->ctx, o->target);
  o->temporary = bl_asprintf(o->ctx, "%.*s.tmp-%016llx%016llx", (int)(name - o->target), o->target,
                             (unsigned long long)r[0], (unsigned long long)r[1]);
  if (o->folder && o->temporary) return BL_OK;
  forget_temporary(o);
  return bl_nomem(err);
}

/* Its folders are there but for a table's first files, or a partition's. */
static bl_status open_temporary(local_output *o, bl_error *err) {
  BL_TRY(name_temporary(o, err));
  if (create_file(o)) return BL_OK;
  int code = errno;
  bl_status st = code == ENOENT ? make_folders(o->text + (o->target - o->path), err) : BL_OK;
  if (st == BL_OK && code == ENOENT) {
    if (create_file(o)) return BL_OK;
    code = errno;
  }
  forget_temporary(o); /* not ours to unlink */
  return st != BL_OK ? st : io_error(err, "cannot create", o->path, code);
}

/* ---- results: links are followed, what is no regular file is written straight ---- */

/* N of /dev/fd/N and /proc/self/fd/N, which is where /dev/stdout leads; -1: another path. */
static int open_file_number(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  enum { MAX_DIGITS = 9 };
  for (size_t i = 0; i < BL_LEN(folders); i++) {
    size_t n = strlen(folders[i]), digits = strncmp(path, folders[i], n) == 0 ? strspn(path + n, "0123456789") : 0;
    if (!digits || digits > MAX_DIGITS || path[n + digits]) continue;
    int number = 0;
    for (const char *p = path + n; *p; p++) number = number * 10 + (*p - '0');
    return number;
  }
  return -1;
}

/* Where the link at path leads, from where path is: a fresh block. */
static bl_status read_link(local_output *o, const char *path, char **out, bl_error *err) {
  char text[4096];
  ssize_t n = readlink(path, text, sizeof text);
  if (n < 0 || (size_t)n == sizeof text)
    return io_error(err, "cannot follow the link", o->path, n < 0 ? errno : ENAMETOOLONG);
  const char *slash = text[0] == '/' ? NULL : strrchr(path, '/');
  *out = bl_asprintf(o->ctx, "%.*s%.*s", slash ? (int)(slash + 1 - path) : 0, path, (int)n, text);
  return *out ? BL_OK : bl_nomem(err);
}

/* The target behind links, whether it is there or not. */
static bl_status follow_links(local_output *o, bl_error *err) {
  enum { MOST = 40 };
  struct stat info;
  for (int i = 0; open_file_number(o->target) < 0 && lstat(o->target, &info) == 0 && S_ISLNK(info.st_mode); i++) {
    if (i == MOST) return io_error(err, "cannot follow the link", o->path, ELOOP);
    char *next;
    BL_TRY(read_link(o, o->target, &next, err));
    bl_free(o->ctx, o->followed);
    o->target = o->followed = next;
  }
  return BL_OK;
}

/* An open file goes on where it is: opening it again would begin at its first byte. */
static bl_status open_straight(local_output *o, int number, bl_error *err) {
  o->fd = number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0) : open(o->target, O_WRONLY | O_CLOEXEC);
  return o->fd >= 0 ? BL_OK : io_error(err, "cannot open", o->path, errno);
}

static bl_status open_result(local_output *o, bl_error *err) {
  struct stat info;
  const char *given = o->target;
  BL_TRY(follow_links(o, err));
  int number = open_file_number(o->target);
  if (number >= 0) return open_straight(o, number, err);
  if (stat(given, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    o->target = given; /* names in /proc are not where their links say */
    return open_straight(o, -1, err);
  }
  BL_TRY(name_temporary(o, err));
  if (create_file(o)) return BL_OK;
  int code = errno;
  forget_temporary(o);
  return io_error(err, "cannot create", o->path, code);
}

static bl_status open_local(bl_io *base, const char *path, unsigned flags, bool result, bl_output **out,
                            bl_error *err) {
  local_io *io = (local_io *)base;
  const char *p;
  *out = NULL;
  BL_TRY(local_path(path, &p, err));
  size_t n = strlen(path);
  local_output *o = bl_alloc(io->ctx, sizeof *o + n + 1, 1);
  if (!o) return bl_nomem(err);
  o->out = (bl_output){.write = output_write, .finish = output_finish, .abort = output_abort};
  o->io = io, o->ctx = io->ctx, o->fd = -1, o->flags = flags, o->n = 0, o->written = 0;
  o->followed = o->folder = o->temporary = NULL, o->unnamed = false;
  memcpy(o->text, path, n + 1);
  o->path = o->text;
  o->target = o->text + (p - path);
  bl_status st = result ? open_result(o, err) : open_temporary(o, err);
  if (st != BL_OK) {
    output_end(o);
    return st;
  }
  *out = &o->out;
  return BL_OK;
}

static bl_status local_open_output_with(bl_io *base, const char *path, unsigned flags, bl_output **out, bl_error *err) {
  return open_local(base, path, flags, false, out, err);
}

static bl_status local_open_result(bl_io *base, const char *path, bl_output **out, bl_error *err) {
  return open_local(base, path, BL_OUT_UNSYNCED, true, out, err);
}

static bl_status local_open_output(bl_io *io, const char *path, bool exclusive, bl_output **out, bl_error *err) {
  return local_open_output_with(io, path, exclusive ? BL_OUT_EXCLUSIVE : 0, out, err);
}

static bl_status sync_one(void *user, size_t i, bl_error *err) {
  const char *path = ((const char *const *)user)[i], *p;
  BL_TRY(local_path(path, &p, err));
  int code = sync_path(p);
  return code ? io_error(err, "cannot sync", path, code) : BL_OK;
}

/* Many wait at once, so that the file system can serve them with one commit of its journal. */
static bl_status local_sync_all(bl_io *base, const char *const *paths, size_t n, bl_error *err) {
  enum { WAITING = 8 };
  bl_ctx *ctx = ((local_io *)base)->ctx;
  return bl_parallel_on(ctx, ctx->o.threads > 1 ? WAITING : 1, n, sync_one, (void *)(uintptr_t)paths, err);
}

static bl_status local_remove(bl_io *base, const char *path, bl_error *err) {
  (void)base;
  const char *p;
  BL_TRY(local_path(path, &p, err));
  if (unlink(p) == 0 || (errno == EISDIR && rmdir(p) == 0)) return BL_OK;
  return read_error(err, "cannot remove", path, errno);
}

/* Where the file system cannot be asked not to replace anything: a file by a link, which never does; a folder takes the
 * place of an empty one at most. 0, or why not. */
static int rename_without_flags(const char *from, const char *to) {
  struct stat info;
  if (lstat(to, &info) == 0) return EEXIST;
  if (lstat(from, &info) == 0 && S_ISDIR(info.st_mode)) return rename(from, to) == 0 ? 0 : errno;
  if (link(from, to) != 0) return errno;
  if (unlink(from) == 0) return 0;
  int code = errno;
  (void)unlink(to);
  return code;
}

static bl_status local_rename(bl_io *base, const char *from, const char *to, bl_error *err) {
  const char *p, *q;
  (void)base;
  BL_TRY(local_path(from, &p, err));
  BL_TRY(local_path(to, &q, err));
  int code = renameat2(AT_FDCWD, p, AT_FDCWD, q, RENAME_NOREPLACE) == 0 ? 0 : errno;
  if (code == EINVAL || code == ENOSYS) code = rename_without_flags(p, q);
  if (!code) return BL_OK;
  if (code == EEXIST || code == ENOTEMPTY)
    return bl_fail(err, BL_CONFLICT, "cannot rename: %s: %s exists already", from, to);
  return read_error(err, "cannot rename", from, code);
}

/* ---- locks ---- */

typedef struct local_lock {
  bl_io_lock lock;
  bl_ctx *ctx;
  int fd;
  char path[];
} local_lock;

static bool is_still_there(const char *path, int fd) {
  struct stat mine, named;
  return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

/* The file goes while it is locked: whoever opened it meanwhile sees that it is no longer the one of that name. Where
 * its folder has got another name meanwhile, another's may be there. */
static void local_unlock(bl_io_lock *base) {
  local_lock *l = (local_lock *)base;
  if (is_still_there(l->path, l->fd)) unlink(l->path);
  close(l->fd);
  bl_free(l->ctx, l);
}

/* One try; *fd -1: another holds it. */
static bl_status try_lock(const char *path, int *fd, bl_error *err) {
  *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*fd < 0) return io_error(err, "cannot create the lock file", path, errno);
  int failed = flock(*fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  if (!failed && is_still_there(path, *fd)) return BL_OK;
  close(*fd);
  *fd = -1;
  return failed && failed != EWOULDBLOCK && failed != EINTR ? io_error(err, "cannot lock", path, failed) : BL_OK;
}

static bl_status wait_for_lock(local_lock *l, int64_t wait_ms, bl_error *err) {
  enum { STEP_MS = 2 };
  for (int64_t waited = 0;; waited += STEP_MS) {
    BL_TRY(try_lock(l->path, &l->fd, err));
    if (l->fd >= 0) return BL_OK;
    if (waited >= wait_ms)
      return bl_fail(err, BL_CONFLICT, "cannot lock: %s: another has held it for %lld ms", l->path, (long long)wait_ms);
    bl_sleep_ms(l->ctx, STEP_MS);
  }
}

static bl_status local_lock_path(bl_io *base, const char *path, int64_t wait_ms, bl_io_lock **out, bl_error *err) {
  local_io *io = (local_io *)base;
  const char *p;
  *out = NULL;
  BL_TRY(local_path(path, &p, err));
  size_t n = strlen(p);
  local_lock *l = bl_alloc(io->ctx, sizeof *l + n + 1, 1);
  if (!l) return bl_nomem(err);
  *l = (local_lock){.lock = {local_unlock}, .ctx = io->ctx, .fd = -1};
  memcpy(l->path, p, n + 1);
  bl_status st = make_folders(l->path, err);
  if (st == BL_OK) st = wait_for_lock(l, wait_ms, err);
  if (st != BL_OK) {
    bl_free(io->ctx, l);
    return st;
  }
  *out = &l->lock;
  return BL_OK;
}

/* ---- descriptors ---- */

/* Numbers below the soft limit that stand for no open file. */
static int64_t local_room(bl_io *base, int64_t most) {
  struct rlimit limit;
  int64_t n = 0;
  (void)base;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  for (int fd = 0; n < most && fd < INT_MAX && (rlim_t)fd < limit.rlim_cur; fd++)
    if (fcntl(fd, F_GETFD) < 0) n++;
  return n;
}

static void local_free(bl_io *base) {
  local_io *io = (local_io *)base;
  bl_free(io->ctx, io);
}

bl_status bl_io_local_new(bl_ctx *ctx, bl_io **out, bl_error *err) {
  *out = NULL;
  local_io *io = bl_alloc(ctx, 1, sizeof *io);
  if (!io) return bl_nomem(err);
  *io = (local_io){.io = {.version = BL_IO_VERSION,
                          .name = "local files",
                          .open_input = local_open_input,
                          .exists = local_exists,
                          .list = local_list,
                          .open_output = local_open_output,
                          .open_result = local_open_result,
                          .remove = local_remove,
                          .lock = local_lock_path,
                          .open_output_with = local_open_output_with,
                          .sync_all = local_sync_all,
                          .rename = local_rename,
                          .room = local_room,
                          .free = local_free},
                   .ctx = ctx,
                   .names_open_files = access("/proc/self/fd", X_OK) == 0};
  *out = &io->io;
  return BL_OK;
}
