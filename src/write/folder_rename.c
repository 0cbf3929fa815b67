/* folder_rename.c: a table in a folder gets another name: its folder does.
 *
 * 1. Under the lock of commits: one that is under way is done before, or finds no table.
 * 2. In one step, and never onto something that is there. From then on the table is whole for who maps its location to
 *    its folder; what it names is written anew behind that (relocate.c), for everybody else. */
#include "table/io.h"
#include "table/pathmap.h"
#include "write/folder_verbs.h"

/* A place for metadata, and nothing in it but hidden files. */
typedef struct remains {
  bl_io *io;
  bool other, clear;
} remains;

static bl_status visit_leftover(void *user, const bl_file_info *f, bl_error *err) {
  remains *l = user;
  const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
  if (*name != '.' || f->is_folder) l->other = true;
  else if (l->clear && strcmp(name, ".commit-lock") != 0) return l->io->remove(l->io, f->path, err);
  return BL_OK;
}

static bl_status visit_top(void *user, const bl_file_info *f, bl_error *err) {
  remains *l = user;
  const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
  (void)err;
  if (!f->is_folder || strcmp(name, "metadata") != 0) l->other = true;
  return BL_OK;
}

/* Of a table whose creation came to nothing: it may go. An empty folder is a namespace. */
static bl_status look_for_leftover(bl_ctx *ctx, bl_io *io, const char *folder, bool *yes, bl_error *err) {
  remains l = {.io = io};
  bool there = false;
  char *metadata = bl_asprintf(ctx, "%s/metadata", folder);
  bl_status st = metadata ? io->exists(io, metadata, &there, err) : bl_nomem(err);
  if (st == BL_OK) st = io->list(io, folder, visit_top, &l, err);
  if (st == BL_OK) st = io->list(io, metadata, visit_leftover, &l, err);
  *yes = there && !l.other;
  bl_free(ctx, metadata);
  return st;
}

static bl_status check_free(bl_ctx *ctx, bl_io *io, const char *folder, bool *leftover, bl_error *err) {
  const bl_folder_next first = {.version = 1};
  bool there;
  *leftover = false;
  BL_TRY(bl_folder_check(ctx, io, folder, &first, err));
  BL_TRY(io->exists(io, folder, &there, err));
  if (there) BL_TRY(look_for_leftover(ctx, io, folder, leftover, err));
  if (!there || *leftover) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "the name is taken: there is a folder: %s", folder);
}

/* Nobody makes a table of it meanwhile, as its lock is held. */
static bl_status clear_leftover(bl_ctx *ctx, bl_io *io, const char *folder, bl_error *err) {
  remains l = {.io = io, .clear = true};
  bl_io_lock *lock = NULL;
  bool yes;
  bl_status st;
  char *metadata = bl_asprintf(ctx, "%s/metadata", folder);
  if (!metadata) return bl_nomem(err);
  BL_GO(bl_folder_lock(ctx, io, folder, true, &lock, err));
  BL_GO(look_for_leftover(ctx, io, folder, &yes, err));
  if (yes) st = io->list(io, metadata, visit_leftover, &l, err);
done:
  if (lock) lock->unlock(lock);
  bl_free(ctx, metadata);
  if (st == BL_OK) bl_folder_sweep(ctx, io, folder);
  return st;
}

static bl_status check_source(bl_ctx *ctx, bl_io *io, const char *folder, bl_error *err) {
  bl_located at;
  bl_dropped d;
  BL_TRY(bl_locate_metadata(ctx, io, folder, &at, err));
  bl_status st = bl_folder_dropped(ctx, io, folder, &at, &d, err);
  if (st == BL_OK && d.yes) st = bl_fail(err, BL_NOT_FOUND, "no such table: %s: it was dropped", folder);
  if (st == BL_OK && !at.name.hadoop)
    st = bl_fail(
        err, BL_USAGE,
        "cannot rename the table in %s: its metadata files are a catalog's (NNNNN-<uuid>), which would not know",
        folder);
  bl_dropped_dispose(ctx, &d);
  bl_free(ctx, at.path);
  return st;
}

/* Both names last, the new one first: no power cut leaves none. The lock that went along is nobody's. */
static bl_status settle(bl_ctx *ctx, bl_io *io, const char *from, const char *to, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_str a = bl_path_folder(bl_str_of(from)), b = bl_path_folder(bl_str_of(to));
  char *lock = bl_asprintf(ctx, "%s/metadata/.commit-lock", to);
  char *above = bl_asprintf(ctx, "%.*s", BL_STR_ARG(a)), *other = bl_asprintf(ctx, "%.*s", BL_STR_ARG(b));
  bl_status st = lock && above && other ? BL_OK : bl_nomem(&why);
  if (lock) (void)!io->remove(io, lock, NULL);
  if (st == BL_OK && io->sync_all) st = io->sync_all(io, (const char *const *)&other, 1, &why);
  if (st == BL_OK && io->sync_all && !bl_str_eq(a, b)) st = io->sync_all(io, (const char *const *)&above, 1, &why);
  if (st != BL_OK) st = bl_fail(err, BL_UNKNOWN, "renamed, but it is not known whether it lasts: %s", why.message);
  bl_free(ctx, lock);
  bl_free(ctx, above);
  bl_free(ctx, other);
  return st;
}

static bl_status check_both(bl_ctx *ctx, bl_io *io, const char *from, const char *to, bool *leftover, bl_error *err) {
  BL_TRY(check_source(ctx, io, from, err));
  return check_free(ctx, io, to, leftover, err);
}

static bl_status rename_locked(bl_ctx *ctx, bl_io *io, const char *from, const char *to, bl_error *err) {
  bool leftover;
  BL_TRY(check_both(ctx, io, from, to, &leftover, err));
  if (leftover) BL_TRY(clear_leftover(ctx, io, to, err));
  BL_TRY(io->rename(io, from, to, err));
  return settle(ctx, io, from, to, err);
}

bl_status bl_folder_rename(bl_ctx *ctx, bl_io *io, const char *from, const char *to, bool dry, bl_error *err) {
  bl_io_lock *lock;
  bool leftover;
  if (!io->rename || !io->remove)
    return bl_fail(err, BL_UNSUPPORTED, "cannot rename %s: %s gives no new names to folders", from, io->name);
  if (dry) return check_both(ctx, io, from, to, &leftover, err);
  BL_TRY(bl_folder_lock(ctx, io, from, false, &lock, err));
  bl_status st = rename_locked(ctx, io, from, to, err);
  if (lock) lock->unlock(lock);
  if (st == BL_NOT_FOUND) bl_folder_sweep(ctx, io, from);
  return st;
}
