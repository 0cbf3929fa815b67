/* folder_register.c: a metadata file becomes the newest version of a table in a folder.
 *
 * 1. A file of the folder's own, of a table that was dropped or has the form of catalogs: its next version says what
 *    the file says. Numbers go on, so that it is above all that are there; the marker goes behind it.
 * 2. A file of another folder: version 1 of a new table, which lies here, but names the files that are there. New files
 *    go here. What it names has to be where it says: the table's location is where the file lies.
 * 3. The log names the file that was registered. */
#include <limits.h>
#include <stdlib.h>

#include "table/io.h"
#include "table/metadata_file.h"
#include "table/pathmap.h"
#include "write/folder_verbs.h"
#include "write/metadata_edit.h"
#include "write/pointer.h"

typedef struct registering {
  bl_ctx *ctx;
  bl_io *io;
  const char *folder, *file;
  bool dry;
  bl_arena *a;
  bl_metadata *md;
  bl_folder_next next;
  bl_str log_name, location; /* location p NULL: it stays */
} registering;

static bl_str copy(bl_arena *a, bl_str s) {
  return bl_arena_printf(a, "%.*s", BL_STR_ARG(s));
}

/* Are they one folder, links followed? */
static bool is_same_folder(bl_arena *a, bl_str x, bl_str y) {
  char one[PATH_MAX], other[PATH_MAX];
  if (bl_path_same(x, y)) return true;
  bl_str p = copy(a, bl_path_local(x)), q = copy(a, bl_path_local(y));
  return p.p && q.p && realpath(p.p, one) && realpath(q.p, other) && strcmp(one, other) == 0;
}

/* F of F/metadata/FILE; p NULL: it lies elsewhere. */
static bl_str table_folder(bl_str file) {
  bl_str above = bl_path_folder(file);
  return bl_str_ends(above, BL_STR("/metadata")) ? (bl_str){above.p, above.n - strlen("/metadata")} : BL_STR_NONE;
}

static bl_status check_not_moved(const registering *r, bl_error *err) {
  bl_str lies = table_folder(bl_str_of(r->file)), own = bl_pairs_get(&r->md->properties, "write.metadata.path");
  if (lies.p && is_same_folder(r->a, lies, r->md->location)) return BL_OK;
  if (own.p && is_same_folder(r->a, bl_path_folder(bl_str_of(r->file)), own)) return BL_OK;
  return bl_fail(err, BL_USAGE,
                 "cannot register %s: the files that it names lie in %s, not where it does: was the table moved? "
                 "bergline relocate writes its metadata for its new place",
                 r->file, r->md->location.p);
}

/* 1. A dropped table's file may have got its new name just now. */
static bl_status plan_own(registering *r, const bl_located *at, bl_error *err) {
  bl_dropped d;
  BL_TRY(bl_folder_dropped(r->ctx, r->io, r->folder, at, &d, err));
  bl_status st = BL_OK;
  if (!d.yes && at->name.hadoop) st = bl_fail(err, BL_CONFLICT, "the name is taken: there is a table: %s", at->path);
  if (st == BL_OK && at->name.version == INT64_MAX)
    st = bl_fail(err, BL_DAMAGED, "%s: its version is as large as it can be", at->path);
  bl_str file = bl_str_of(strrchr(r->file, '/') + 1);
  r->log_name = bl_arena_printf(r->a, "%.*s/metadata/%s", BL_STR_ARG(bl_path_trim(r->md->location)), file.p);
  if (d.yes && r->log_name.p) r->log_name = bl_folder_new_name(r->a, r->log_name, bl_str_of(d.uuid));
  r->next = (bl_folder_next){.version = at->name.version + (st == BL_OK), .revives = true};
  bl_dropped_dispose(r->ctx, &d);
  return st;
}

/* 2. Java commits to no table in a folder that names another place for its metadata. */
static bl_status plan_new(registering *r, bl_error *err) {
  BL_TRY(check_not_moved(r, err));
  r->next = (bl_folder_next){.version = 1};
  r->location = bl_str_of(r->folder);
  r->log_name = bl_str_of(r->file);
  return BL_OK;
}

static bl_status plan(registering *r, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_located at;
  bl_str lies = table_folder(bl_str_of(r->file));
  if (!lies.p || !is_same_folder(r->a, lies, bl_str_of(r->folder))) return plan_new(r, err);
  if (!r->dry) BL_TRY(bl_folder_finish_drop(r->ctx, r->io, r->folder, err));
  bl_status st = bl_locate_metadata(r->ctx, r->io, r->folder, &at, &why);
  if (st != BL_OK) return bl_fail(err, st, "%s", why.message);
  st = plan_own(r, &at, err);
  bl_free(r->ctx, at.path);
  return st;
}

static bl_status document(registering *r, bl_json **out, bl_error *err) {
  bl_edit e;
  bl_str *trimmed;
  size_t n;
  BL_TRY(bl_edit_begin(r->a, r->md, &e, err));
  if (!r->log_name.p) return bl_nomem(err);
  if (r->location.p) {
    BL_TRY(bl_edit_set(&e, "location", bl_json_new_str(r->a, r->location), err));
    bl_edit_unset_property(&e, "write.metadata.path");
  }
  BL_TRY(bl_edit_finish(&e, r->log_name, &trimmed, &n, err));
  *out = e.doc;
  return BL_OK;
}

static bl_status publish(registering *r, bl_error *err) {
  bl_json *doc = NULL;
  bl_buf bytes;
  bl_status st;
  bl_buf_init(&bytes, r->ctx, BL_BUF_MAX);
  BL_GO(document(r, &doc, err));
  BL_GO(bl_metadata_bytes(r->ctx, doc, &bytes, &r->next.gzip, NULL, err));
  r->next.p = bytes.p, r->next.n = bytes.n;
  st = bl_folder_commit(r->ctx, r->io, r->folder, &r->next, err);
  if (st == BL_OK && r->next.revives) bl_folder_unmark(r->ctx, r->io, r->folder);
done:
  bl_buf_free(&bytes);
  return st;
}

bl_status bl_folder_register(bl_ctx *ctx, bl_io *io, const char *folder, const char *file, bool dry, bl_error *err) {
  registering r = {.ctx = ctx, .io = io, .folder = folder, .file = file, .dry = dry};
  bl_status st;
  BL_GO(bl_arena_new(ctx, &r.a, err));
  BL_GO(bl_metadata_read(ctx, io, file, &r.md, err));
  BL_GO(plan(&r, err));
  st = dry ? bl_folder_check(ctx, io, folder, &r.next, err) : publish(&r, err);
done:
  bl_metadata_free(r.md);
  bl_arena_free(r.a);
  return st;
}
