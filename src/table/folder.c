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

static bl_status publish(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                         const char *path, bl_error *err) {
  BL_TRY(check_newest(ctx, io, folder, version, err));
  BL_TRY(bl_io_write_all(io, path, p, n, true, err));
  write_hint(ctx, io, folder, version);
  return BL_OK;
}

bl_status bl_folder_publish(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                            bool gzip, char **path, bl_error *err) {
  char name[64];
  bl_io_lock *lock = NULL;
  bl_status st = BL_OK;
  snprintf(name, sizeof name, "v%lld%s.metadata.json", (long long)version, gzip ? ".gz" : "");
  *path = join(ctx, folder, name);
  char *lock_path = join(ctx, folder, ".commit-lock");
  if (!*path || !lock_path) st = bl_nomem(err);
  if (st == BL_OK && io->lock) st = io->lock(io, lock_path, WAIT_MS, &lock, err);
  if (st == BL_OK) st = publish(ctx, io, folder, version, p, n, *path, err);
  if (lock) lock->unlock(lock);
  bl_free(ctx, lock_path);
  if (st != BL_OK && st != BL_UNKNOWN) {
    bl_free(ctx, *path);
    *path = NULL;
  }
  return st;
}
