/* fault_sys.c: see fault_sys.h. */
#undef _FILE_OFFSET_BITS /* else open is open64 here, and could not be told from it */
#include "support/fault_sys.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* What a call does: looks, changes what is there, takes room. */
enum { LOOKS = 0, CHANGES = 1, GROWS = 2 };

static fault_plan plan;
static bool armed;
static long calls;
static const char *first_failed;

void fault_sys_begin(const fault_plan *p) {
  plan = *p;
  calls = 0;
  first_failed = "";
  __atomic_store_n(&armed, true, __ATOMIC_SEQ_CST);
}

long fault_sys_end(void) {
  __atomic_store_n(&armed, false, __ATOMIC_SEQ_CST);
  return calls;
}

const char *fault_sys_what(void) {
  return first_failed ? first_failed : "";
}

static void (*watcher)(void *user, const char *call, int fd, const char *path);
static void *watcher_user;
static __thread bool watching; /* the watcher is at work */

void fault_sys_watch(void (*seen)(void *user, const char *call, int fd, const char *path), void *user) {
  watcher = seen;
  watcher_user = user;
}

static void tell(const char *call, int fd, const char *path) {
  int saved = errno;
  if (!watcher || watching) return;
  watching = true;
  watcher(watcher_user, call, fd, path);
  watching = false;
  errno = saved;
}

static void *next_of(const char *name) {
  void *f = dlsym(RTLD_NEXT, name);
  if (!f) abort();
  return f;
}

/* Must this call fail (errno is set)? Kills where that is the plan. */
static bool struck(const char *name, int what, bool *half) {
  *half = false;
  if (!__atomic_load_n(&armed, __ATOMIC_SEQ_CST) || (plan.changes && what == LOOKS)) return false;
  long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (!plan.at || n < plan.at || (n > plan.at && !plan.onwards && !plan.full)) return false;
  if (plan.full && what != GROWS) return false;
  *half = plan.torn && !*first_failed;
  if (!*first_failed) first_failed = name;
  if (!plan.code && !*half) raise(SIGKILL);
  errno = plan.code;
  return true;
}

static bool is_file(int fd) {
  struct stat info;
  int saved = errno;
  bool yes = fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
  errno = saved;
  return yes;
}

/* ---- calls on names ---- */

#define REAL(ret, name, ...)                                                                                           \
  static ret (*real)(__VA_ARGS__);                                                                                     \
  if (!real) real = (ret(*)(__VA_ARGS__))(uintptr_t)next_of(#name)

/* A device is not what this is about. */
static bool is_disk(const char *path) {
  return strncmp(path, "/dev/", 5) != 0 || strncmp(path, "/dev/shm/", 9) == 0;
}

#define ON_NAME(ret, bad, name, what, path, params, args, ...)                                                         \
  ret name params;                                                                                                     \
  ret name params {                                                                                                    \
    REAL(ret, name, __VA_ARGS__);                                                                                      \
    bool half;                                                                                                         \
    if (is_disk(path) && struck(#name, what, &half)) {                                                                 \
      if (!plan.code) raise(SIGKILL);                                                                                  \
      return bad;                                                                                                      \
    }                                                                                                                  \
    ret rc = real args;                                                                                                \
    if (what != LOOKS && rc != bad) tell(#name, -1, path);                                                             \
    return rc;                                                                                                         \
  }

ON_NAME(int, -1, unlink, CHANGES, p, (const char *p), (p), const char *)
ON_NAME(int, -1, rmdir, CHANGES, p, (const char *p), (p), const char *)
ON_NAME(int, -1, mkdir, GROWS, p, (const char *p, mode_t m), (p, m), const char *, mode_t)
ON_NAME(int, -1, link, GROWS, a, (const char *a, const char *b), (a, b), const char *, const char *)
ON_NAME(int, -1, linkat, GROWS, b, (int f, const char *a, int g, const char *b, int flags), (f, a, g, b, flags), int,
        const char *, int, const char *, int)
ON_NAME(int, -1, rename, CHANGES, a, (const char *a, const char *b), (a, b), const char *, const char *)
ON_NAME(int, -1, renameat2, CHANGES, a, (int f, const char *a, int g, const char *b, unsigned flags),
        (f, a, g, b, flags), int, const char *, int, const char *, unsigned)
ON_NAME(int, -1, stat, LOOKS, p, (const char *p, struct stat *s), (p, s), const char *, struct stat *)
ON_NAME(int, -1, stat64, LOOKS, p, (const char *p, struct stat64 *s), (p, s), const char *, struct stat64 *)
ON_NAME(int, -1, lstat, LOOKS, p, (const char *p, struct stat *s), (p, s), const char *, struct stat *)
ON_NAME(DIR *, NULL, opendir, LOOKS, p, (const char *p), (p), const char *)

static bool makes_file(int flags) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_kind(int flags) {
  return makes_file(flags) ? GROWS : (flags & O_ACCMODE) != O_RDONLY ? CHANGES : LOOKS;
}

#define OPENS(name)                                                                                                    \
  int name(const char *path, int flags, ...);                                                                          \
  int name(const char *path, int flags, ...) {                                                                         \
    REAL(int, name, const char *, int, ...);                                                                           \
    bool half;                                                                                                         \
    va_list ap;                                                                                                        \
    va_start(ap, flags);                                                                                               \
    mode_t mode = makes_file(flags) ? va_arg(ap, mode_t) : 0;                                                          \
    va_end(ap);                                                                                                        \
    if (is_disk(path) && struck("open", open_kind(flags), &half)) {                                                    \
      if (!plan.code) raise(SIGKILL);                                                                                  \
      return -1;                                                                                                       \
    }                                                                                                                  \
    return real(path, flags, mode);                                                                                    \
  }
OPENS(open)
OPENS(open64)

/* ---- calls on open files ---- */

#define WRITES(name, params, args, args_half, ...)                                                                     \
  ssize_t name params;                                                                                                 \
  ssize_t name params {                                                                                                \
    REAL(ssize_t, name, __VA_ARGS__);                                                                                  \
    bool half;                                                                                                         \
    if (!__atomic_load_n(&armed, __ATOMIC_SEQ_CST) || !is_file(fd) || !struck(#name, GROWS, &half)) return real args;  \
    int code = plan.code;                                                                                              \
    ssize_t done = half && n > 1 ? real args_half : -1;                                                                \
    if (!code) raise(SIGKILL);                                                                                         \
    errno = code;                                                                                                      \
    return done;                                                                                                       \
  }
WRITES(write, (int fd, const void *p, size_t n), (fd, p, n), (fd, p, n / 2), int, const void *, size_t)
WRITES(pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), (fd, p, n / 2, at), int, const void *,
       size_t, off_t)
WRITES(pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), (fd, p, n / 2, at), int, const void *,
       size_t, off64_t)

#define ON_FD(ret, name, what, params, args, ...)                                                                      \
  ret name params;                                                                                                     \
  ret name params {                                                                                                    \
    REAL(ret, name, __VA_ARGS__);                                                                                      \
    bool half;                                                                                                         \
    if (!__atomic_load_n(&armed, __ATOMIC_SEQ_CST) || !is_file(fd) || !struck(#name, what, &half)) {                   \
      ret rc = real args;                                                                                              \
      if (what != LOOKS && rc >= 0) tell(#name, fd, NULL);                                                             \
      return rc;                                                                                                       \
    }                                                                                                                  \
    if (!plan.code) raise(SIGKILL);                                                                                    \
    return -1;                                                                                                         \
  }
ON_FD(ssize_t, read, LOOKS, (int fd, void *p, size_t n), (fd, p, n), int, void *, size_t)
ON_FD(ssize_t, pread, LOOKS, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), int, void *, size_t, off_t)
ON_FD(ssize_t, pread64, LOOKS, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), int, void *, size_t, off64_t)
ON_FD(int, ftruncate, CHANGES, (int fd, off_t n), (fd, n), int, off_t)
ON_FD(int, ftruncate64, CHANGES, (int fd, off64_t n), (fd, n), int, off64_t)
ON_FD(int, fsync, CHANGES, (int fd), (fd), int)
ON_FD(int, fdatasync, CHANGES, (int fd), (fd), int)
ON_FD(int, flock, LOOKS, (int fd, int op), (fd, op), int, int)

static bool is_written(int fd) {
  int saved = errno, flags = fcntl(fd, F_GETFL);
  errno = saved;
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int close(int fd);
int close(int fd) {
  REAL(int, close, int);
  bool half;
  bool counts = __atomic_load_n(&armed, __ATOMIC_SEQ_CST) && is_written(fd) && is_file(fd);
  bool fails = counts && struck("close", CHANGES, &half);
  if (fails && !plan.code) raise(SIGKILL);
  int code = errno, rc = real(fd);
  if (!fails) return rc;
  errno = code;
  return -1;
}
