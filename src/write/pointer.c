/* pointer.c: see pointer.h. */
#include "write/pointer.h"

#include "format/metadata_json.h"
#include "table/catalog.h"
#include "table/folder.h"
#include "table/pathmap.h"
#include "write/paths.h"

bl_status bl_pointer_check(const bl_table *t, bl_error *err) {
  if (t->read_only)
    return bl_fail(err, BL_USAGE, "cannot write: %s is one version of a table: name the table itself", t->name);
  if (t->form == BL_FORM_NAMED)
    return bl_fail(err, BL_USAGE,
                   "cannot write: %s: its metadata files are a catalog's (NNNNN-<uuid>): name the table in its catalog "
                   "(--catalog NAME, or --uri URI, and NAMESPACE.TABLE)",
                   t->name);
  if (t->form == BL_FORM_CATALOG && !t->catalog->commit)
    return bl_fail(err, BL_UNSUPPORTED, "cannot write: %s: catalog %s is read-only", t->name, t->catalog->name);
  if (t->version == INT64_MAX)
    return bl_fail(err, BL_DAMAGED, "cannot write: %s: its version is as large as it can be", t->metadata_path);
  if (!t->io->open_output || !t->io->remove)
    return bl_fail(err, BL_UNSUPPORTED, "cannot write: %s: %s is read-only", t->name, t->io->name);
  return BL_OK;
}

static bl_str text_of(const bl_json *doc, const char *key) {
  const bl_json *v = doc ? bl_json_get(doc, key) : NULL;
  return v && v->kind == BL_J_STRING ? v->text : BL_STR_NONE;
}

/* A table that is relocated has its old files at the new place, too. */
static bl_str relocated(bl_arena *a, const bl_table *base, bl_str path, bl_str location) {
  if (!path.p || !location.p || bl_str_eq(location, base->metadata->location)) return path;
  const bl_path_map map = {base->metadata->location, location};
  char *p = bl_path_map_apply(base->ctx, &map, 1, path.p);
  bl_str out = p ? bl_arena_str(a, bl_str_of(p)) : BL_STR_NONE;
  bl_free(base->ctx, p);
  return out;
}

bl_str bl_pointer_name(bl_arena *a, const bl_table *base, const bl_json *doc) {
  const char *slash = strrchr(base->metadata_path, '/');
  bl_str path;
  if (base->form != BL_FORM_HADOOP || !slash) path = bl_arena_str(a, bl_str_of(base->metadata_path));
  else {
    bl_str folder = bl_metadata_folder(a, base->metadata, true);
    path = folder.p ? bl_arena_printf(a, "%s%s", folder.p, slash) : BL_STR_NONE;
  }
  return relocated(a, base, path, text_of(doc, "location"));
}

/* ---- bytes ---- */

static bool wants_gzip(const bl_json *doc) {
  const bl_json *properties = bl_json_get(doc, "properties");
  const bl_json *codec = properties ? bl_json_get(properties, "write.metadata.compression-codec") : NULL;
  return codec && codec->kind == BL_J_STRING && bl_str_is_nocase(codec->text, "gzip");
}

static bl_status read_back(bl_ctx *ctx, const bl_buf *text, bl_metadata **md, bl_error *err) {
  bl_status st = bl_metadata_parse(ctx, text->p, text->n, md, err);
  if (st != BL_OK) bl_fail_in(err, st, "the new metadata would be wrong");
  return st;
}

bl_status bl_metadata_bytes(bl_ctx *ctx, const bl_json *doc, bl_buf *out, bool *gzip, bl_metadata **read,
                            bl_error *err) {
  bl_buf text;
  bl_metadata *md = NULL;
  bl_status st;
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  *gzip = wants_gzip(doc);
  bl_json_print(&text, doc, false);
  BL_GO(bl_buf_ok(&text, err));
  BL_GO(read_back(ctx, &text, &md, err));
  if (*gzip) st = bl_gzip(ctx, text.p, text.n, out, err);
  else {
    bl_buf old = *out;
    *out = text;
    text = old;
  }
done:
  bl_buf_free(&text);
  if (read) *read = st == BL_OK ? md : NULL;
  if (st != BL_OK || !read) bl_metadata_free(md);
  return st;
}

/* ---- tables in catalogs ---- */

bl_status bl_metadata_write(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                            bool gzip, bl_unsynced *later, char **path, bl_error *err) {
  bl_uuid_text uuid = bl_new_uuid(ctx);
  *path = bl_asprintf(ctx, "%s/%05lld-%s%s.metadata.json", folder, (long long)version, uuid.s, gzip ? ".gz" : "");
  if (!*path) return bl_nomem(err);
  bl_status st = bl_io_write_with(io, *path, p, n, BL_OUT_EXCLUSIVE | (later ? BL_OUT_LATER : 0), err);
  if (st == BL_OK && later) {
    bl_error ignored = BL_ERROR_INIT;
    st = bl_unsynced_add(later, bl_str_of(*path), (int64_t)n, err);
    if (st != BL_OK && io->remove(io, *path, &ignored) != BL_OK) bl_warn(ctx, "%s", ignored.message);
  }
  if (st == BL_OK) return BL_OK;
  bl_free(ctx, *path);
  *path = NULL;
  return st == BL_UNKNOWN ? BL_IO : st; /* nothing refers to it yet */
}

/* Files that a move waits for. */
typedef struct awaited {
  bl_unsynced *files;
  bl_io *io;
} awaited;

static bl_status ready(void *user, bl_error *err) {
  const awaited *a = user;
  return bl_unsynced_sync(a->files, a->io, err);
}

/* The catalog waits for the disk while the files do: for few bytes, since others may be kept out meanwhile. */
static bl_status swap_when_ready(const bl_table *base, const bl_table_name *name, const char *path, bl_unsynced *before,
                                 bl_error *err) {
  bl_catalog *c = base->catalog;
  awaited a = {before, base->io};
  bl_unsynced_begin(before, base->io, true);
  bl_status st = c->commit_when(c, name, base->metadata_path, path, ready, &a, err);
  if (st == BL_OK) return BL_OK;
  (void)!bl_unsynced_sync(before, base->io, NULL); /* it may have been refused: then the files may go */
  return st;
}

static bl_status swap(const bl_table *base, const char *path, bl_unsynced *before, bl_error *err) {
  enum { FEW = 1 << 20 };
  bl_arena *a = NULL;
  bl_table_name name;
  bl_catalog *c = base->catalog;
  BL_TRY(bl_arena_new(base->ctx, &a, err));
  bl_status st = bl_table_name_parse(a, base->catalog_table, &name, err);
  if (st == BL_OK && c->commit_when && before->bytes <= FEW) {
    st = swap_when_ready(base, &name, path, before, err);
  } else {
    if (st == BL_OK) st = bl_unsynced_sync(before, base->io, err);
    if (st == BL_OK) st = c->commit(c, &name, base->metadata_path, path, err);
  }
  bl_arena_free(a);
  return st;
}

static bl_status compare_location(void *user, const bl_catalog_entry *e, bl_error *err) {
  const char **path = user;
  (void)err;
  if (e->metadata_location && strcmp(e->metadata_location, *path) == 0) *path = NULL;
  return BL_OK;
}

bool bl_pointer_is_at(bl_catalog *c, const bl_table_name *name, const char *path) {
  return c->load(c, name, compare_location, &path, NULL) == BL_OK && !path;
}

/* Has the file, whose name no other has, become the table's metadata, now or some versions ago? */
static bl_status is_in_place(const bl_table *base, const char *path, bool *yes, bl_error *err) {
  bl_table *now = NULL;
  const char *slash = strrchr(path, '/');
  bl_str file = bl_str_of(slash ? slash : path);
  BL_TRY(bl_table_reopen(base, &now, err));
  *yes = bl_str_ends(bl_str_of(now->metadata_path), file);
  for (size_t i = 0; i < now->metadata->n_metadata_log; i++)
    *yes = *yes || bl_str_ends(now->metadata->metadata_log[i].file, file);
  bl_table_free(now);
  return BL_OK;
}

static void remove_file(const bl_table *base, const char *path) {
  bl_error why = BL_ERROR_INIT;
  if (base->io->remove(base->io, path, &why) != BL_OK) bl_warn(base->ctx, "%s", why.message);
}

/* The outcome of a swap that failed, by what is there now. */
static bl_status settle(const bl_table *base, const char *path, bl_status st, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bool there = false;
  bl_status looked = is_in_place(base, path, &there, &why);
  if (there) {
    bl_warn(base->ctx, "the commit was reported as failed, but it is in place already: %s: %s", path,
            err ? err->message : "");
    if (err) *err = (bl_error)BL_ERROR_INIT;
    return BL_OK;
  }
  if (st == BL_UNKNOWN) {
    if (err) err->status = BL_UNKNOWN;
    return bl_fail_in(err, BL_UNKNOWN, "it is not known whether %s was committed: %s", base->name, path);
  }
  if (looked == BL_OK || looked == BL_NOT_FOUND) remove_file(base, path); /* else it stays, as nobody could look */
  return st;
}

/* *read, what the bytes say, is taken where the table has them now. */
static bl_status move_in_catalog(const bl_table *base, const bl_json *doc, const void *p, size_t n, bool gzip,
                                 bl_unsynced *before, bl_metadata **read, bl_error *err) {
  bl_arena *a = NULL;
  char *path = NULL;
  bl_status st;
  BL_GO(bl_arena_new(base->ctx, &a, err));
  bl_str folder = relocated(a, base, bl_metadata_folder(a, base->metadata, false), text_of(doc, "location"));
  if (!folder.p) BL_GO(bl_nomem(err));
  BL_GO(bl_metadata_write(base->ctx, base->io, folder.p, base->version + 1, p, n, gzip, before, &path, err));
  st = swap(base, path, before, err);
  if (st != BL_OK) BL_GO(settle(base, path, st, err));
  bl_table_common_keep(base->common, path, *read);
  *read = NULL;
done:
  bl_free(base->ctx, path);
  bl_arena_free(a);
  return st;
}

/* ---- tables in folders ---- */

static bl_status move_in_folder(const bl_table *base, const void *p, size_t n, bool gzip, bl_error *err) {
  bl_arena *a = NULL;
  BL_TRY(bl_arena_new(base->ctx, &a, err));
  bl_str location = bl_arena_printf(a, "%.*s", (int)base->metadata->location.n, base->metadata->location.p);
  const bl_folder_next next = {
      .version = base->version + 1, .p = p, .n = n, .gzip = gzip, .uuid = base->metadata->uuid};
  bl_status st = location.p ? bl_folder_commit(base->ctx, base->io, location.p, &next, err) : bl_nomem(err);
  bl_arena_free(a);
  return st;
}

bl_status bl_pointer_move(const bl_table *base, const bl_json *doc, bl_unsynced *before, bl_error *err) {
  bl_buf bytes;
  bl_metadata *read;
  bool gzip;
  BL_TRY(bl_pointer_check(base, err));
  bl_buf_init(&bytes, base->ctx, BL_BUF_MAX);
  bl_status st = bl_metadata_bytes(base->ctx, doc, &bytes, &gzip, &read, err);
  if (st == BL_OK && base->form != BL_FORM_CATALOG) st = bl_unsynced_sync(before, base->io, err);
  if (st == BL_OK)
    st = base->form == BL_FORM_CATALOG ? move_in_catalog(base, doc, bytes.p, bytes.n, gzip, before, &read, err)
                                       : move_in_folder(base, bytes.p, bytes.n, gzip, err);
  bl_metadata_free(read);
  bl_buf_free(&bytes);
  return st;
}
