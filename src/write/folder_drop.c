/* folder_drop.c: a table in a folder is dropped, and its files stay: what is left is a table in the form of catalogs,
 * which can be registered in any.
 *
 * 1. Under the lock of commits. Who commits by another protocol (Java) may come between: then all is done again.
 * 2. The last metadata file is written first: the newest version with its log naming the files as they will be called.
 *    The hint is there by then, so that nobody takes it for the current one.
 * 3. Then the marker (table/folder.h, 5): from here on the table is dropped. Before, nothing has changed.
 * 4. Then vN.metadata.json becomes NNNNN-<table uuid>.metadata.json, the oldest first; before the newest goes the hint.
 *    What fails here is a warning: a second drop, or whoever registers the table, ends it.
 * 5. Numbers go on: the last file is one above the newest version, and a table that is registered again one above
 *    that. No name is used twice. */
#include "format/metadata_json.h"
#include "table/io.h"
#include "table/metadata_file.h"
#include "table/pathmap.h"
#include "write/folder_verbs.h"
#include "write/metadata_edit.h"
#include "write/pointer.h"

enum { MOST_TRIES = 10 };
#define NO_UUID "00000000-0000-0000-0000-000000000000" /* version 1 need not have one */

static bl_str last_part(bl_str path) {
  const char *slash = memrchr(path.p, '/', path.n);
  size_t n = slash ? (size_t)(slash + 1 - path.p) : 0;
  return (bl_str){path.p + n, path.n - n};
}

/* ---- 4. ---- */

bl_str bl_folder_new_name(bl_arena *a, bl_str path, bl_str uuid) {
  bl_metadata_name name;
  bl_str file = last_part(path);
  if (!bl_metadata_name_parse(file, &name) || !name.hadoop) return bl_arena_str(a, path);
  const char *ending = memchr(file.p, '.', file.n);
  return bl_arena_printf(a, "%.*s%05lld-%.*s%.*s", (int)(path.n - file.n), path.p, (long long)name.version,
                         BL_STR_ARG(uuid), (int)(file.p + file.n - ending), ending);
}

typedef struct old_file {
  const char *path;
  int64_t version;
} old_file;

typedef struct old_files {
  bl_arena *a;
  old_file *items;
  size_t n, cap;
} old_files;

static bl_status gather(void *user, const bl_file_info *f, bl_error *err) {
  old_files *o = user;
  bl_metadata_name name;
  if (f->is_folder || !bl_metadata_name_parse(last_part(bl_str_of(f->path)), &name) || !name.hadoop) return BL_OK;
  BL_TRY(bl_grow(bl_arena_ctx(o->a), &o->items, &o->cap, o->n, sizeof *o->items, err));
  o->items[o->n] = (old_file){bl_arena_str(o->a, bl_str_of(f->path)).p, name.version};
  return o->items[o->n++].path ? BL_OK : bl_nomem(err);
}

static int by_version(const void *a, const void *b) {
  const old_file *x = a, *y = b;
  return x->version != y->version ? (x->version > y->version) - (x->version < y->version) : strcmp(x->path, y->path);
}

static bl_status remove_hint(bl_io *io, bl_arena *a, const char *metadata, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_str path = bl_arena_printf(a, "%s/version-hint.text", metadata);
  if (!path.p) return bl_nomem(err);
  bl_status st = io->remove(io, path.p, &why);
  return st == BL_OK || st == BL_NOT_FOUND ? BL_OK : bl_fail(err, st, "%s", why.message);
}

/* *later: there is a version behind the last one. */
static bl_status rename_old(bl_io *io, const bl_dropped *d, const char *metadata, old_files *o, bool *later,
                            bl_error *err) {
  bool hint = true;
  bl_sort(o->items, o->n, sizeof *o->items, by_version);
  *later = o->n && o->items[o->n - 1].version > d->version;
  for (size_t i = 0; i < o->n && o->items[i].version <= d->version; i++) {
    if (hint && o->items[i].version == d->version && !*later) BL_TRY(remove_hint(io, o->a, metadata, err));
    hint = hint && o->items[i].version < d->version;
    bl_str to = bl_folder_new_name(o->a, bl_str_of(o->items[i].path), bl_str_of(d->uuid));
    if (!to.p) return bl_nomem(err);
    BL_TRY(io->rename(io, o->items[i].path, to.p, err));
  }
  return hint && !*later ? remove_hint(io, o->a, metadata, err) : BL_OK;
}

static bl_status list_and_rename(bl_ctx *ctx, bl_io *io, const char *folder, const bl_dropped *d, bool *later,
                                 bl_error *err) {
  old_files o = {0};
  bl_status st;
  BL_GO(bl_arena_new(ctx, &o.a, err));
  const char *metadata = bl_arena_printf(o.a, "%s/metadata", folder).p;
  if (!metadata) BL_GO(bl_nomem(err));
  BL_GO(io->list(io, metadata, gather, &o, err));
  BL_GO(rename_old(io, d, metadata, &o, later, err));
  if (io->sync_all) st = io->sync_all(io, &metadata, 1, err);
done:
  bl_free(ctx, o.items);
  bl_arena_free(o.a);
  return st;
}

/* ---- 2. ---- */

typedef struct dropping {
  bl_ctx *ctx;
  bl_io *io;
  const char *folder;
  bool dry;
} dropping;

static bl_status rename_in_log(bl_edit *e, bl_str uuid, bl_error *err) {
  bl_json *log = bl_edit_list(e, "metadata-log");
  if (!log) return bl_nomem(err);
  for (bl_json *v = log->first; v; v = v->next) {
    const bl_json *file = v->kind == BL_J_OBJECT ? bl_json_get(v, "metadata-file") : NULL;
    if (!file || file->kind != BL_J_STRING) continue;
    bl_str now = bl_folder_new_name(e->a, file->text, uuid);
    if (!now.p || !bl_json_set(e->a, v, "metadata-file", bl_json_new_str(e->a, now))) return bl_nomem(err);
  }
  return BL_OK;
}

/* The newest version as its log will have it. */
static bl_status last_document(bl_arena *a, const bl_metadata *md, const char *newest, bl_str uuid, bl_json **out,
                               bl_error *err) {
  bl_edit e;
  bl_str *trimmed;
  size_t n;
  BL_TRY(bl_edit_begin(a, md, &e, err));
  BL_TRY(rename_in_log(&e, uuid, err));
  bl_str recorded =
      bl_arena_printf(a, "%.*s/metadata/%s", BL_STR_ARG(bl_path_trim(md->location)), last_part(bl_str_of(newest)).p);
  bl_str name = recorded.p ? bl_folder_new_name(a, recorded, uuid) : BL_STR_NONE;
  if (!name.p) return bl_nomem(err);
  BL_TRY(bl_edit_finish(&e, name, &trimmed, &n, err));
  *out = e.doc;
  return BL_OK;
}

static bl_status write_last(const dropping *x, bl_arena *a, const bl_metadata *md, const bl_located *at, bl_str uuid,
                            char **last, bl_error *err) {
  bl_json *doc = NULL;
  bl_buf bytes;
  bool gzip;
  bl_status st;
  bl_buf_init(&bytes, x->ctx, BL_BUF_MAX);
  BL_GO(last_document(a, md, at->path, uuid, &doc, err));
  BL_GO(bl_metadata_bytes(x->ctx, doc, &bytes, &gzip, NULL, err));
  bl_str metadata = bl_arena_printf(a, "%s/metadata", x->folder);
  if (!metadata.p) BL_GO(bl_nomem(err));
  BL_GO(bl_folder_hint(x->ctx, x->io, x->folder, at->name.version, true, err));
  st = bl_metadata_write(x->ctx, x->io, metadata.p, at->name.version + 1, bytes.p, bytes.n, gzip, NULL, last, err);
done:
  bl_buf_free(&bytes);
  return st;
}

/* ---- all of it ---- */

/* 3., 4. d->last is there. */
static bl_status mark_and_rename(const dropping *x, const bl_dropped *d, bool *again, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  BL_TRY(bl_folder_mark(x->ctx, x->io, x->folder, d, err));
  if (list_and_rename(x->ctx, x->io, x->folder, d, again, &why) != BL_OK)
    bl_warn(x->ctx,
            "dropped, but not all of its files have the names that they should: %s: %s: drop it once more to end it",
            x->folder, why.message);
  return BL_OK;
}

/* What the marker will say; its last file is there then. */
static bl_status prepare(const dropping *x, bl_arena *a, const bl_metadata *md, const bl_located *at, bl_dropped *d,
                         bl_error *err) {
  *d = (bl_dropped){.yes = true, .version = at->name.hadoop ? at->name.version : -1};
  d->uuid = bl_strdup(x->ctx, md->uuid.p ? md->uuid.p : NO_UUID);
  if (!d->uuid) return bl_nomem(err);
  if (at->name.hadoop) return write_last(x, a, md, at, bl_str_of(d->uuid), &d->last, err);
  d->last = bl_strdup(x->ctx, at->path);
  return d->last ? BL_OK : bl_nomem(err);
}

static bl_status drop_located(const dropping *x, const bl_located *at, char **last, bool *again, bl_error *err) {
  bl_dropped d = {0};
  bl_arena *a = NULL;
  bl_metadata *md = NULL;
  bl_status st;
  BL_GO(bl_arena_new(x->ctx, &a, err));
  BL_GO(bl_metadata_read(x->ctx, x->io, at->path, &md, err));
  if (x->dry) goto done;
  BL_GO(prepare(x, a, md, at, &d, err));
  st = mark_and_rename(x, &d, again, err);
  bool needless = *again || (st != BL_OK && st != BL_UNKNOWN);
  if (needless && at->name.hadoop && x->io->remove(x->io, d.last, NULL) != BL_OK)
    bl_warn(x->ctx, "a file that is not needed stays: %s", d.last);
  if (st == BL_OK && !*again) {
    *last = d.last;
    d.last = NULL;
  }
done:
  bl_dropped_dispose(x->ctx, &d);
  bl_metadata_free(md);
  bl_arena_free(a);
  return st;
}

/* One that was dropped before. */
static bl_status finish(const dropping *x, const bl_dropped *d, bl_error *err) {
  bool later;
  if (!x->dry) BL_TRY(list_and_rename(x->ctx, x->io, x->folder, d, &later, err));
  return bl_dropped_fail(err, x->folder, d->last);
}

static bl_status drop_once(const dropping *x, char **last, bool *again, bl_error *err) {
  bl_located at;
  bl_dropped d;
  *again = false;
  BL_TRY(bl_locate_metadata(x->ctx, x->io, x->folder, &at, err));
  bl_status st = bl_folder_dropped(x->ctx, x->io, x->folder, &at, &d, err);
  if (st == BL_OK && at.name.version == INT64_MAX)
    st = bl_fail(err, BL_DAMAGED, "%s: its version is as large as it can be", at.path);
  if (st == BL_OK) st = d.yes ? finish(x, &d, err) : drop_located(x, &at, last, again, err);
  bl_dropped_dispose(x->ctx, &d);
  bl_free(x->ctx, at.path);
  return st;
}

static bl_status check_io(const bl_io *io, const char *folder, bl_error *err) {
  if (io->rename && io->remove && io->open_output) return BL_OK;
  return bl_fail(err, BL_UNSUPPORTED, "cannot change %s: %s gives no new names to files", folder, io->name);
}

bl_status bl_folder_drop(bl_ctx *ctx, bl_io *io, const char *folder, bool dry, char **last, bl_error *err) {
  const dropping x = {ctx, io, folder, dry};
  bl_io_lock *lock = NULL;
  bool again = true;
  bl_status st;
  *last = NULL;
  BL_TRY(check_io(io, folder, err));
  if (!dry) BL_TRY(bl_folder_lock(ctx, io, folder, false, &lock, err));
  st = BL_OK;
  for (int tries = 0; again && st == BL_OK && tries < MOST_TRIES; tries++) st = drop_once(&x, last, &again, err);
  if (st == BL_OK && again) st = bl_fail(err, BL_CONFLICT, "others commit to %s again and again", folder);
  if (lock) lock->unlock(lock);
  if (lock && st == BL_NOT_FOUND) bl_folder_sweep(ctx, io, folder);
  return st;
}

static bl_status finish_locked(bl_ctx *ctx, bl_io *io, const char *folder, bl_error *err) {
  bl_located at;
  bl_dropped d;
  bool later;
  BL_TRY(bl_locate_metadata(ctx, io, folder, &at, err));
  bl_status st = bl_folder_dropped(ctx, io, folder, &at, &d, err);
  if (st == BL_OK && d.yes) st = list_and_rename(ctx, io, folder, &d, &later, err);
  bl_dropped_dispose(ctx, &d);
  bl_free(ctx, at.path);
  return st;
}

bl_status bl_folder_finish_drop(bl_ctx *ctx, bl_io *io, const char *folder, bl_error *err) {
  bl_io_lock *lock;
  BL_TRY(check_io(io, folder, err));
  BL_TRY(bl_folder_lock(ctx, io, folder, false, &lock, err));
  bl_status st = finish_locked(ctx, io, folder, err);
  if (lock) lock->unlock(lock);
  return st;
}
