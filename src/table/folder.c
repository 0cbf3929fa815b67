/* folder.c: see folder.h. */
#include "table/folder.h"

#include <stdio.h>

#include "format/json.h"
#include "table/io.h"
#include "table/locate.h"
#include "table/metadata_file.h"

#define MARKER ".dropped"

enum { WAIT_MS = 30000 };

static char *join(bl_ctx *ctx, const char *folder, const char *name) {
  size_t n = strlen(folder);
  return bl_asprintf(ctx, "%s%smetadata/%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

/* The folder that they lie in. */
static char *metadata_of(bl_ctx *ctx, const char *folder) {
  char *path = join(ctx, folder, "");
  if (path) path[strlen(path) - 1] = 0; /* the slash */
  return path;
}

/* 3., 5. */
static bl_status check_located(bl_ctx *ctx, bl_io *io, const char *folder, const bl_located *at,
                               const bl_folder_next *next, bl_error *err) {
  bl_dropped d;
  bool same = true;
  BL_TRY(bl_folder_dropped(ctx, io, folder, at, &d, err));
  bool is_new = next->version == 1, follows = at->name.version == next->version - 1;
  bl_status st = BL_OK;
  if (d.yes && is_new && !next->revives)
    st = bl_fail(err, BL_CONFLICT, "the files of a dropped table are there: register it by %s, or remove the folder %s",
                 d.last, folder);
  else if (d.yes && !next->revives) st = bl_fail(err, BL_NOT_FOUND, "the table in %s was dropped", folder);
  else if (!next->revives && is_new) st = bl_fail(err, BL_CONFLICT, "there is a table already: %s", at->path);
  else if (!follows || (!next->revives && !at->name.hadoop))
    st = bl_fail(err, BL_CONFLICT, "another has committed: the newest version is %s", at->path);
  else if (next->uuid.p) st = bl_metadata_is_of(ctx, io, at->path, next->uuid, &same, err);
  if (!same) st = bl_fail(err, BL_CONFLICT, "the table was replaced: another one is in %s", folder);
  bl_dropped_dispose(ctx, &d);
  return st;
}

bl_status bl_folder_check(bl_ctx *ctx, bl_io *io, const char *folder, const bl_folder_next *next, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_located at;
  bl_status st = bl_locate_metadata(ctx, io, folder, &at, &why);
  if (st == BL_NOT_FOUND) {
    if (next->version == 1) return BL_OK;
    return bl_fail(err, BL_NOT_FOUND, "the table in %s has no metadata any more", folder);
  }
  if (st != BL_OK) return bl_fail(err, st, "%s", why.message);
  st = check_located(ctx, io, folder, &at, next, err);
  bl_free(ctx, at.path);
  return st;
}

/* 4. A hint that cannot be written is no failure of the commit, and one that a power cut spoils is passed over. */
bl_status bl_folder_hint(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, bool synced, bl_error *err) {
  char text[32];
  char *path = join(ctx, folder, "version-hint.text");
  if (!path) return bl_nomem(err);
  int n = snprintf(text, sizeof text, "%lld", (long long)version);
  bl_status st = bl_io_write_with(io, path, text, (size_t)n, synced ? 0 : BL_OUT_UNSYNCED, err);
  bl_free(ctx, path);
  return st;
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

static bl_status publish(bl_ctx *ctx, bl_io *io, const char *folder, const bl_folder_next *next, const char *path,
                         bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  BL_TRY(bl_folder_check(ctx, io, folder, next, err));
  bl_status st = bl_io_write_all(io, path, next->p, next->n, true, err);
  if (st == BL_CONFLICT || st == BL_UNKNOWN) st = settle(ctx, io, path, next->p, next->n, st, err);
  if (st == BL_OK && bl_folder_hint(ctx, io, folder, next->version, false, &why) != BL_OK)
    bl_warn(ctx, "version-hint.text was not rewritten: %s", why.message);
  return st;
}

bl_status bl_folder_lock(bl_ctx *ctx, bl_io *io, const char *folder, bool is_new, bl_io_lock **out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  *out = NULL;
  if (!io->lock) return BL_OK;
  char *metadata = metadata_of(ctx, folder), *path = join(ctx, folder, ".commit-lock");
  bool there = true;
  bl_status st = metadata && path ? BL_OK : bl_nomem(err);
  if (st == BL_OK && !is_new) st = io->exists(io, metadata, &there, err);
  if (st == BL_OK && there && (st = io->lock(io, path, WAIT_MS, out, &why)) != BL_OK) {
    bool known = !is_new && io->exists(io, metadata, &there, NULL) == BL_OK; /* while it was waited for */
    if (!known || there) bl_fail(err, st, "%s", why.message);
  }
  if (!there) st = bl_fail(err, BL_NOT_FOUND, "the table in %s is gone: it was dropped, or has another name", folder);
  bl_free(ctx, metadata);
  bl_free(ctx, path);
  return st;
}

void bl_folder_sweep(bl_ctx *ctx, bl_io *io, const char *folder) {
  char *metadata = metadata_of(ctx, folder);
  if (metadata && io->remove && io->remove(io, metadata, NULL) == BL_OK) (void)!io->remove(io, folder, NULL);
  bl_free(ctx, metadata);
}

bl_status bl_folder_commit(bl_ctx *ctx, bl_io *io, const char *folder, const bl_folder_next *next, bl_error *err) {
  char name[64];
  bl_io_lock *lock;
  bl_status st;
  snprintf(name, sizeof name, "v%lld%s.metadata.json", (long long)next->version, next->gzip ? ".gz" : "");
  char *path = join(ctx, folder, name);
  if (!path) return bl_nomem(err);
  st = bl_folder_lock(ctx, io, folder, next->version == 1, &lock, err);
  if (st == BL_OK) st = publish(ctx, io, folder, next, path, err);
  if (lock) lock->unlock(lock);
  if (st == BL_NOT_FOUND) bl_folder_sweep(ctx, io, folder);
  bl_free(ctx, path);
  return st;
}

/* ---- 5. ---- */

static bl_status copy_text(bl_ctx *ctx, bl_str s, char **out, bl_error *err) {
  *out = bl_asprintf(ctx, "%.*s", BL_STR_ARG(s));
  return *out ? BL_OK : bl_nomem(err);
}

static bl_status parse_marker(bl_ctx *ctx, const char *folder, const bl_buf *text, bl_dropped *out, bl_error *err) {
  bl_arena *a = NULL;
  bl_json *doc;
  bl_str last, uuid;
  bl_status st;
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_json_parse(a, text->p, text->n, &doc, err));
  if (doc->kind != BL_J_OBJECT) BL_GO(bl_json_fail(err, BL_DAMAGED, doc, "an object is expected"));
  BL_GO(bl_json_get_i64(doc, "version", &out->version, err));
  BL_GO(bl_json_get_str(doc, "metadata-file", &last, err));
  BL_GO(bl_json_get_str(doc, "table-uuid", &uuid, err));
  BL_GO(copy_text(ctx, uuid, &out->uuid, err));
  out->last = join(ctx, folder, last.p);
  if (!out->last) st = bl_nomem(err);
done:
  bl_arena_free(a);
  return st;
}

static bl_status read_marker(bl_ctx *ctx, bl_io *io, const char *folder, const char *path, bl_dropped *out,
                             bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_buf text;
  bool there;
  BL_TRY(io->exists(io, path, &there, err));
  if (!there) return BL_OK;
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  bl_status st = bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &text, &why);
  if (st == BL_OK) st = parse_marker(ctx, folder, &text, out, &why);
  bl_buf_free(&text);
  out->yes = st == BL_OK;
  if (st == BL_OK || st == BL_NOT_FOUND) return BL_OK;
  return bl_fail(err, st, st == BL_DAMAGED ? "%s: %s" : "%.0s%s", path, why.message);
}

/* Its files may have their old names still; others who know of no marker may have made a version, or a new table. */
static bl_status look_at_newest(bl_ctx *ctx, bl_io *io, const bl_located *newest, bl_dropped *d, bl_error *err) {
  if (!d->yes || !newest->name.hadoop) return BL_OK;
  if (newest->name.version <= d->version)
    return bl_metadata_is_of(ctx, io, newest->path, bl_str_of(d->uuid), &d->yes, err);
  d->yes = false;
  return BL_OK;
}

bl_status bl_folder_dropped(bl_ctx *ctx, bl_io *io, const char *folder, const bl_located *newest, bl_dropped *out,
                            bl_error *err) {
  *out = (bl_dropped){.version = -1};
  char *path = join(ctx, folder, MARKER);
  bl_status st = path ? read_marker(ctx, io, folder, path, out, err) : bl_nomem(err);
  bl_free(ctx, path);
  if (st == BL_OK) st = look_at_newest(ctx, io, newest, out, err);
  if (st != BL_OK || !out->yes) bl_dropped_dispose(ctx, out);
  return st;
}

bl_status bl_dropped_fail(bl_error *err, const char *table, const char *last) {
  return bl_fail(err, BL_NOT_FOUND,
                 "no such table: %s: it was dropped; its files are there: by %s it is registered again", table, last);
}

void bl_dropped_dispose(bl_ctx *ctx, bl_dropped *d) {
  bl_free(ctx, d->last);
  bl_free(ctx, d->uuid);
  *d = (bl_dropped){.version = -1};
}

static bl_status print_marker(bl_arena *a, const bl_dropped *d, bl_str *out, bl_error *err) {
  const char *slash = strrchr(d->last, '/');
  bl_json *doc = bl_json_new(a, BL_J_OBJECT);
  bool ok = doc && bl_json_set(a, doc, "version", bl_json_new_i64(a, d->version)) &&
            bl_json_set(a, doc, "metadata-file", bl_json_new_str(a, bl_str_of(slash ? slash + 1 : d->last))) &&
            bl_json_set(a, doc, "table-uuid", bl_json_new_str(a, bl_str_of(d->uuid)));
  *out = ok ? bl_json_text(a, doc) : BL_STR_NONE;
  return out->p ? BL_OK : bl_nomem(err);
}

bl_status bl_folder_mark(bl_ctx *ctx, bl_io *io, const char *folder, const bl_dropped *d, bl_error *err) {
  bl_arena *a = NULL;
  bl_str text;
  char *path = join(ctx, folder, MARKER);
  bl_status st;
  if (!path) return bl_nomem(err);
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(print_marker(a, d, &text, err));
  st = bl_io_replace(ctx, io, path, text.p, text.n, err);
done:
  bl_arena_free(a);
  bl_free(ctx, path);
  return st;
}

void bl_folder_unmark(bl_ctx *ctx, bl_io *io, const char *folder) {
  bl_error why = BL_ERROR_INIT;
  char *path = join(ctx, folder, MARKER);
  bl_status st = path ? io->remove(io, path, &why) : BL_NOMEM;
  if (st != BL_OK && st != BL_NOT_FOUND)
    bl_warn(ctx, "a file that is not needed stays: %s", path ? why.message : MARKER);
  bl_free(ctx, path);
}
