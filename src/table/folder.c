/* folder.c: see folder.h. */
#include "table/folder.h"

#include <stdio.h>

#include "table/io.h"
#include "table/locate.h"

enum { WAIT_MS = 30000 };

static char *join(bl_ctx *ctx, const char *folder, const char *name) {
  size_t n = strlen(folder);
  return bl_asprintf(ctx, "%s%smetadata/%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

/* 3. */
static bl_status check_newest(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_located at;
  bl_status st = bl_locate_metadata(ctx, io, folder, &at, &why);
  if (st == BL_NOT_FOUND) {
    if (version == 1) return BL_OK;
    return bl_fail(err, BL_CONFLICT, "the table in %s has no metadata any more", folder);
  }
  if (st != BL_OK) return bl_fail(err, st, "%s", why.message);
  bool next = at.name.hadoop && at.name.version == version - 1;
  if (!next && version == 1) st = bl_fail(err, BL_CONFLICT, "there is a table already: %s", at.path);
  else if (!next) st = bl_fail(err, BL_CONFLICT, "another has committed: the newest version is %s", at.path);
  bl_free(ctx, at.path);
  return st;
}

/* 4. A hint that cannot be written is no failure of the commit, and one that a power cut spoils is passed over. */
static void write_hint(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version) {
  bl_error why = BL_ERROR_INIT;
  char text[32];
  char *path = join(ctx, folder, "version-hint.text");
  int n = snprintf(text, sizeof text, "%lld", (long long)version);
  if (!path || bl_io_write_with(io, path, text, (size_t)n, BL_OUT_UNSYNCED, &why) != BL_OK)
    bl_warn(ctx, "version-hint.text was not rewritten: %s", path ? why.message : "out of memory");
  bl_free(ctx, path);
}

/* Does the file hold these bytes? */
static bl_status is_there(bl_ctx *ctx, bl_io *io, const char *path, const void *p, size_t n, bool *yes, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_status st = bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &b, err);
  *yes = st == BL_OK && b.n == n && memcmp(b.p, p, n) == 0;
  bl_buf_free(&b);
  return st;
}

/* The file is there: it is to outlast a power cut, too, which may be what failed. */
static bl_status keep(bl_ctx *ctx, bl_io *io, const char *path, bl_error *err) {
  bl_unsynced u = {.ctx = ctx};
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_unsynced_add(&u, bl_str_of(path), 0, &why);
  if (st == BL_OK) st = bl_unsynced_sync(&u, io, &why);
  bl_unsynced_dispose(&u);
  if (st == BL_OK) {
    bl_warn(ctx, "the commit was reported as failed, but it is in place already: %s", err ? err->message : path);
    if (err) *err = (bl_error)BL_ERROR_INIT;
    return BL_OK;
  }
  if (err) *err = (bl_error)BL_ERROR_INIT;
  return bl_fail(err, BL_UNKNOWN, "it is committed, but may not outlast a power cut: %s: %s", path, why.message);
}

/* The outcome of a write that may have been made though it is reported as failed. A file of another's in its place:
 * it was not, and never will be. */
static bl_status settle(bl_ctx *ctx, bl_io *io, const char *path, const void *p, size_t n, bl_status st,
                        bl_error *err) {
  bool there;
  bl_status looked = is_there(ctx, io, path, p, n, &there, NULL);
  if (there) return keep(ctx, io, path, err);
  bool lost = looked == BL_OK || (looked == BL_NOT_FOUND && st == BL_CONFLICT);
  if (err) err->status = lost ? BL_CONFLICT : BL_UNKNOWN;
  return lost ? BL_CONFLICT : bl_fail_in(err, BL_UNKNOWN, "it is not known whether it was committed: %s", path);
}

static bl_status publish(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                         const char *path, bl_error *err) {
  BL_TRY(check_newest(ctx, io, folder, version, err));
  bl_status st = bl_io_write_all(io, path, p, n, true, err);
  if (st == BL_CONFLICT || st == BL_UNKNOWN) st = settle(ctx, io, path, p, n, st, err);
  if (st == BL_OK) write_hint(ctx, io, folder, version);
  return st;
}

bl_status bl_folder_check(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, bl_error *err) {
  return check_newest(ctx, io, folder, version, err);
}

bl_status bl_folder_publish(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                            bool gzip, bl_error *err) {
  char name[64];
  bl_io_lock *lock = NULL;
  bl_status st = BL_OK;
  snprintf(name, sizeof name, "v%lld%s.metadata.json", (long long)version, gzip ? ".gz" : "");
  char *path = join(ctx, folder, name), *lock_path = join(ctx, folder, ".commit-lock");
  if (!path || !lock_path) st = bl_nomem(err);
  if (st == BL_OK && io->lock) st = io->lock(io, lock_path, WAIT_MS, &lock, err);
  if (st == BL_OK) st = publish(ctx, io, folder, version, p, n, path, err);
  if (lock) lock->unlock(lock);
  bl_free(ctx, lock_path);
  bl_free(ctx, path);
  return st;
}
