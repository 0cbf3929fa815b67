/* sqlite_vfs.c: see sqlite_vfs.h. */
#include "edge/sqlite_vfs.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static bl_sqlite_vfs *of_vfs(sqlite3_vfs *v) {
  return v->pAppData;
}

/* ---- the database's file ---- */

static bl_sqlite_vfs *of_file(sqlite3_file *f) {
  return (bl_sqlite_vfs *)((char *)(uintptr_t)f->pMethods - offsetof(bl_sqlite_vfs, methods));
}

/* Its folder was synced by now, and the catalog is locked: the name means what was opened. */
static void hold_journal(bl_sqlite_vfs *v) {
  if (!v->creates || !v->keeps_journal) return;
  v->creates = false;
  if (v->journal >= 0) close(v->journal);
  v->journal = open(v->journal_path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

static bool may_write(bl_sqlite_vfs *v) {
  bl_catalog_ready ready = v->ready;
  v->ready = NULL;
  if (ready) v->outcome = ready(v->user, v->err);
  return !ready || v->outcome == BL_OK;
}

static int db_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
  bl_sqlite_vfs *v = of_file(f);
  if (!may_write(v)) return SQLITE_IOERR_WRITE;
  hold_journal(v);
  return v->real_methods.xWrite(f, p, n, at);
}

static int db_truncate(sqlite3_file *f, sqlite3_int64 size) {
  bl_sqlite_vfs *v = of_file(f);
  return may_write(v) ? v->real_methods.xTruncate(f, size) : SQLITE_IOERR_TRUNCATE;
}

/* The methods that a version has. */
static size_t size_of_methods(int version) {
  return version > 2   ? sizeof(sqlite3_io_methods)
         : version > 1 ? offsetof(sqlite3_io_methods, xFetch)
                       : offsetof(sqlite3_io_methods, xShmMap);
}

static void watch_writes(bl_sqlite_vfs *v, sqlite3_file *f) {
  int version = f->pMethods->iVersion;
  memcpy(&v->real_methods, f->pMethods, size_of_methods(version));
  v->methods = v->real_methods;
  v->methods.iVersion = version > 3 ? 3 : version;
  v->methods.xWrite = db_write;
  v->methods.xTruncate = db_truncate;
  f->pMethods = &v->methods;
}

/* ---- opening ---- */

static bool is_held(const bl_sqlite_vfs *v, const char *path) {
  struct stat named, held;
  return v->journal >= 0 && stat(path, &named) == 0 && fstat(v->journal, &held) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

static int open_journal(bl_sqlite_vfs *v, const char *path, sqlite3_file *f, int flags, int *given) {
  v->creates = !is_held(v, path);
  if (!v->creates && v->real->xOpen(v->real, path, f, flags & ~SQLITE_OPEN_CREATE, given) == SQLITE_OK)
    return SQLITE_OK;
  v->creates = true; /* it may have gone meanwhile */
  return v->real->xOpen(v->real, path, f, flags, given);
}

static int vfs_open(sqlite3_vfs *base, const char *path, sqlite3_file *f, int flags, int *given) {
  bl_sqlite_vfs *v = of_vfs(base);
  if (flags & SQLITE_OPEN_WAL) v->has_wal = true;
  if (flags & SQLITE_OPEN_MAIN_JOURNAL) v->creates = false;
  if (flags & SQLITE_OPEN_MAIN_JOURNAL && flags & SQLITE_OPEN_CREATE) return open_journal(v, path, f, flags, given);
  int rc = v->real->xOpen(v->real, path, f, flags, given);
  if (rc == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) watch_writes(v, f);
  return rc;
}

/* ---- what is passed on ---- */

static int vfs_delete(sqlite3_vfs *v, const char *path, int sync) {
  return of_vfs(v)->real->xDelete(of_vfs(v)->real, path, sync);
}

static int vfs_access(sqlite3_vfs *v, const char *path, int flags, int *out) {
  return of_vfs(v)->real->xAccess(of_vfs(v)->real, path, flags, out);
}

static int vfs_full_path(sqlite3_vfs *v, const char *path, int n, char *out) {
  return of_vfs(v)->real->xFullPathname(of_vfs(v)->real, path, n, out);
}

static int vfs_randomness(sqlite3_vfs *v, int n, char *out) {
  return of_vfs(v)->real->xRandomness(of_vfs(v)->real, n, out);
}

static int vfs_sleep(sqlite3_vfs *v, int microseconds) {
  return of_vfs(v)->real->xSleep(of_vfs(v)->real, microseconds);
}

static int vfs_time(sqlite3_vfs *v, double *out) {
  return of_vfs(v)->real->xCurrentTime(of_vfs(v)->real, out);
}

static int vfs_time64(sqlite3_vfs *v, sqlite3_int64 *out) {
  return of_vfs(v)->real->xCurrentTimeInt64(of_vfs(v)->real, out);
}

static int vfs_last_error(sqlite3_vfs *v, int n, char *out) {
  return of_vfs(v)->real->xGetLastError ? of_vfs(v)->real->xGetLastError(of_vfs(v)->real, n, out) : 0;
}

/* ---- a connection ---- */

static void fill(bl_sqlite_vfs *v) {
  snprintf(v->name, sizeof v->name, "bergline-%p", (void *)v);
  v->vfs = (sqlite3_vfs){.iVersion = v->real->iVersion > 1 ? 2 : 1,
                         .szOsFile = v->real->szOsFile,
                         .mxPathname = v->real->mxPathname,
                         .zName = v->name,
                         .pAppData = v,
                         .xOpen = vfs_open,
                         .xDelete = vfs_delete,
                         .xAccess = vfs_access,
                         .xFullPathname = vfs_full_path,
                         .xRandomness = vfs_randomness,
                         .xSleep = vfs_sleep,
                         .xCurrentTime = vfs_time,
                         .xGetLastError = vfs_last_error,
                         .xCurrentTimeInt64 = vfs_time64};
}

/* SQLite looks names up when it opens a connection, which goes on without: no other sees this one for longer. */
int bl_sqlite_vfs_open(bl_ctx *ctx, bl_sqlite_vfs *v, const char *path, int flags, sqlite3 **db) {
  *v = (bl_sqlite_vfs){.journal = -1, .real = sqlite3_vfs_find(NULL)};
  *db = NULL;
  v->journal_path = bl_asprintf(ctx, "%s-journal", path);
  if (!v->journal_path || !v->real) return v->real ? SQLITE_NOMEM : SQLITE_ERROR;
  fill(v);
  int rc = sqlite3_vfs_register(&v->vfs, 0);
  if (rc != SQLITE_OK) return rc;
  rc = sqlite3_open_v2(path, db, flags, v->name);
  sqlite3_vfs_unregister(&v->vfs);
  return rc;
}

bl_status bl_sqlite_vfs_arm(bl_sqlite_vfs *v, bl_catalog_ready ready, void *user, bl_error *err) {
  v->ready = ready, v->user = user, v->err = err;
  v->outcome = BL_OK;
  if (v->has_wal) (void)may_write(v);
  return v->outcome;
}

bl_status bl_sqlite_vfs_disarm(bl_sqlite_vfs *v) {
  bl_status st = v->outcome;
  v->ready = NULL, v->outcome = BL_OK;
  return st;
}

void bl_sqlite_vfs_dispose(bl_ctx *ctx, bl_sqlite_vfs *v) {
  if (v->journal_path && v->journal >= 0) close(v->journal);
  bl_free(ctx, v->journal_path);
}
