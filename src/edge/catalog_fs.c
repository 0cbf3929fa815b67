/* catalog_fs.c: see catalog_fs.h. */
#include "edge/catalog_fs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "edge/catalog_fs_private.h"
#include "edge/io_local.h"
#include "table/catalog.h"
#include "table/folder.h"
#include "table/metadata_file.h"
#include "table/pathmap.h"

enum { MOST_LEVELS = 64 };

/* ---- folders ---- */

bl_status bl_fs_error(bl_error *err, const char *what, const char *path) {
  return bl_fail(err, errno == ENOENT ? BL_NOT_FOUND : BL_IO, "%s: %s: %m", what, path);
}

bl_status bl_fs_path(const fs_catalog *c, const char *root, const char *const *levels, size_t n, const char *name,
                     char **out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, c->c.ctx, BL_BUF_MAX);
  *out = NULL;
  bl_buf_cstr(&b, root);
  for (size_t i = 0; i < n + (name ? 1 : 0); i++) {
    const char *part = i < n ? levels[i] : name;
    if (!*part || strchr(part, '/') || *part == '.' || *part == '_') {
      bl_buf_free(&b);
      return bl_fail(err, BL_USAGE, "wrong name: %s: a folder's name is expected", part);
    }
    bl_buf_printf(&b, "/%s", part);
  }
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK && !(*out = bl_strdup(c->c.ctx, (const char *)b.p))) st = bl_nomem(err);
  bl_buf_free(&b);
  return st;
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The same where it matters that nobody can tell. */
static bl_status look_for_folder(const char *path, bool *there, bl_error *err) {
  struct stat info;
  *there = false;
  if (stat(path, &info) == 0) *there = S_ISDIR(info.st_mode);
  else if (errno != ENOENT && errno != ENOTDIR) return bl_fs_error(err, "cannot look for the folder", path);
  return BL_OK;
}

/* What a folder is by its metadata. */
typedef enum fs_kind { FS_NO_TABLE, FS_TABLE, FS_WAS_TABLE /* dropped, its files left */, FS_VIEW } fs_kind;
typedef struct fs_found {
  fs_kind kind;
  char *metadata; /* bl_free: the newest file, of a table or view; of one that was dropped the last */
} fs_found;

static bl_status look_at_located(const fs_catalog *c, const char *folder, bl_located *at, fs_found *out,
                                 bl_error *err) {
  bl_dropped d;
  bool view;
  BL_TRY(bl_metadata_is_view(c->c.ctx, c->io, at->path, &view, err));
  BL_TRY(bl_folder_dropped(c->c.ctx, c->io, folder, at, &d, err));
  char **from = d.yes ? &d.last : &at->path;
  *out = (fs_found){view ? FS_VIEW : d.yes ? FS_WAS_TABLE : FS_TABLE, *from};
  *from = NULL;
  bl_dropped_dispose(c->c.ctx, &d);
  return BL_OK;
}

static bl_status look(const fs_catalog *c, const char *folder, fs_found *out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_located at;
  *out = (fs_found){FS_NO_TABLE, NULL};
  bl_status st = bl_locate_metadata(c->c.ctx, c->io, folder, &at, &why);
  if (st == BL_NOT_FOUND) return BL_OK;
  if (st != BL_OK) return bl_fail(err, st, "%s", why.message);
  st = look_at_located(c, folder, &at, out, err);
  bl_free(c->c.ctx, at.path);
  return st;
}

static bl_status no_table(const fs_catalog *c, const char *name, const fs_found *f, bl_error *err) {
  switch (f->kind) {
  case FS_VIEW: return bl_fail(err, BL_UNSUPPORTED, "not a table: %s: it is a view: %s", name, f->metadata);
  case FS_WAS_TABLE: return bl_dropped_fail(err, name, f->metadata);
  default: return bl_fail(err, BL_NOT_FOUND, "no such table: %s: not in the warehouse %s", name, c->warehouse);
  }
}

static bl_status need_table(const fs_catalog *c, const bl_table_name *t, const fs_found *f, bl_error *err) {
  char *ns = NULL;
  if (f->kind == FS_TABLE) return BL_OK;
  BL_TRY(bl_namespace_join(c->c.ctx, t->levels, t->n_levels, &ns, err));
  char *name = bl_asprintf(c->c.ctx, "%s.%s", ns, t->name);
  bl_status st = name ? no_table(c, name, f, err) : bl_nomem(err);
  bl_free(c->c.ctx, name);
  bl_free(c->c.ctx, ns);
  return st;
}

static bl_status no_namespace(const fs_catalog *c, const char *const *levels, size_t n, bl_error *err) {
  char *ns = NULL;
  BL_TRY(bl_namespace_join(c->c.ctx, levels, n, &ns, err));
  bl_status st = bl_fail(err, BL_NOT_FOUND, "no such namespace: %s: not in the warehouse %s", ns, c->warehouse);
  bl_free(c->c.ctx, ns);
  return st;
}

/* Does the folder hold anything but hidden files and, where `but` is not NULL, what has that name? */
static bool holds_more(const char *folder, const char *but) {
  DIR *dir = opendir(folder);
  bool more = !dir;
  for (struct dirent *e; dir && !more && (e = readdir(dir));)
    more = e->d_name[0] != '.' && (!but || strcmp(e->d_name, but) != 0);
  if (dir) closedir(dir);
  return more;
}

/* Files that are not hidden, at any depth? */
static bool holds_files(const fs_catalog *c, const char *folder, int depth) {
  DIR *dir = opendir(folder);
  bool any = !dir || depth > MOST_LEVELS;
  for (struct dirent *e; !any && (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    char *path = bl_asprintf(c->c.ctx, "%s/%s", folder, e->d_name);
    any = !path || !is_folder(path) || holds_files(c, path, depth + 1);
    bl_free(c->c.ctx, path);
  }
  if (dir) closedir(dir);
  return any;
}

/* Was there a table that was dropped, whose files were purged under another name? */
static bool is_emptied(const fs_catalog *c, const char *folder) {
  char *marker = bl_asprintf(c->c.ctx, "%s/metadata/.dropped", folder);
  bool yes = marker && access(marker, F_OK) == 0 && !holds_files(c, folder, 0);
  bl_free(c->c.ctx, marker);
  return yes;
}

/* A table whose creation came to nothing: a place for metadata, and nothing in it. Neither table nor namespace. */
static bool is_unfinished(const fs_catalog *c, const char *folder) {
  char *path = bl_asprintf(c->c.ctx, "%s/metadata", folder);
  bool yes = path && is_folder(path) && !holds_more(folder, "metadata") && !holds_more(path, NULL);
  bl_free(c->c.ctx, path);
  return yes || is_emptied(c, folder);
}

/* ---- walking ---- */

typedef struct walk {
  const fs_catalog *c;
  bool tables; /* gather them, else namespaces */
  bool deep;
  bl_arena *a;
  bl_catalog_entry *items;
  size_t n, cap;
} walk;

static bl_status gather(walk *w, const char *ns, const char *name, const char *metadata, bl_error *err) {
  BL_TRY(bl_grow(w->c->c.ctx, &w->items, &w->cap, w->n, sizeof *w->items, err));
  bl_catalog_entry *e = &w->items[w->n];
  *e = (bl_catalog_entry){bl_arena_str(w->a, bl_str_of(ns)).p, NULL, NULL};
  if (name) e->name = bl_arena_str(w->a, bl_str_of(name)).p;
  if (metadata) e->metadata_location = bl_arena_str(w->a, bl_str_of(metadata)).p;
  if (!e->name_space || (name && !e->name) || (metadata && !e->metadata_location)) return bl_nomem(err);
  w->n++;
  return BL_OK;
}

static bl_status walk_folder(walk *w, const char *folder, const char *ns, int depth, bl_error *err);

static bl_status walk_child(walk *w, const char *path, const char *ns, const char *name, int depth, bl_error *err) {
  bl_str inner = *ns ? bl_arena_printf(w->a, "%s.%s", ns, name) : bl_arena_str(w->a, bl_str_of(name));
  fs_found f;
  bl_status st = BL_OK;
  if (!inner.p) return bl_nomem(err);
  if (!is_folder(path)) return BL_OK;
  BL_TRY(look(w->c, path, &f, err));
  bool inside = f.kind == FS_NO_TABLE && !is_unfinished(w->c, path);
  if (f.kind == FS_TABLE && w->tables && *ns) st = gather(w, ns, name, f.metadata, err);
  if (inside && !w->tables) st = gather(w, inner.p, NULL, NULL, err);
  if (inside && w->deep && depth < MOST_LEVELS && st == BL_OK) st = walk_folder(w, path, inner.p, depth + 1, err);
  bl_free(w->c->c.ctx, f.metadata);
  return st;
}

static bl_status walk_folder(walk *w, const char *folder, const char *ns, int depth, bl_error *err) {
  DIR *dir = opendir(folder);
  bl_status st = BL_OK;
  if (!dir) return errno == ENOENT || errno == ENOTDIR ? BL_OK : bl_fs_error(err, "cannot list", folder);
  for (struct dirent *e; st == BL_OK && (e = readdir(dir));) {
    if (e->d_name[0] == '.' || e->d_name[0] == '_') continue;
    char *path = bl_asprintf(w->c->c.ctx, "%s/%s", folder, e->d_name);
    st = path ? walk_child(w, path, ns, e->d_name, depth, err) : bl_nomem(err);
    bl_free(w->c->c.ctx, path);
  }
  closedir(dir);
  return st;
}

static int bytewise(const void *a, const void *b) {
  const bl_catalog_entry *x = a, *y = b;
  int order = strcmp(x->name_space, y->name_space);
  return order || !x->name ? order : strcmp(x->name, y->name);
}

static bl_status walk_and_visit(walk *w, const char *folder, const char *ns, bl_catalog_visit visit, void *user,
                                bl_error *err) {
  BL_TRY(bl_arena_new(w->c->c.ctx, &w->a, err));
  bl_status st = walk_folder(w, folder, ns, 0, err);
  if (st == BL_OK) bl_sort(w->items, w->n, sizeof *w->items, bytewise);
  for (size_t i = 0; i < w->n && st == BL_OK; i++) st = visit(user, &w->items[i], err);
  bl_free(w->c->c.ctx, w->items);
  bl_arena_free(w->a);
  return st;
}

/* ---- reading ---- */

static bl_status fs_load(bl_catalog *base, const bl_table_name *t, bl_catalog_visit visit, void *user, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder = NULL, *ns = NULL;
  fs_found f = {FS_NO_TABLE, NULL};
  bl_status st;
  BL_GO(bl_fs_path(c, c->root, t->levels, t->n_levels, t->name, &folder, err));
  BL_GO(look(c, folder, &f, err));
  BL_GO(need_table(c, t, &f, err));
  BL_GO(bl_namespace_join(c->c.ctx, t->levels, t->n_levels, &ns, err));
  st = visit(user, &(bl_catalog_entry){ns, t->name, f.metadata}, err);
done:
  bl_free(c->c.ctx, folder);
  bl_free(c->c.ctx, ns);
  bl_free(c->c.ctx, f.metadata);
  return st;
}

static bl_status fs_list_tables(bl_catalog *base, const char *const *levels, size_t n_levels, bl_catalog_visit visit,
                                void *user, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  walk w = {.c = c, .tables = true, .deep = n_levels == 0};
  char *folder = NULL, *ns = NULL;
  bl_status st;
  BL_GO(bl_fs_path(c, c->root, levels, n_levels, NULL, &folder, err));
  BL_GO(bl_namespace_join(c->c.ctx, levels, n_levels, &ns, err));
  st = walk_and_visit(&w, folder, ns, visit, user, err);
done:
  bl_free(c->c.ctx, folder);
  bl_free(c->c.ctx, ns);
  return st;
}

static bl_status fs_list_namespaces(bl_catalog *base, bl_catalog_visit visit, void *user, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  walk w = {.c = c, .deep = true};
  return walk_and_visit(&w, c->root, "", visit, user, err);
}

/* ---- writing ---- */

bl_status bl_fs_need_namespace(const fs_catalog *c, const char *const *levels, size_t n, char **folder, bl_error *err) {
  bool there = false;
  fs_found f = {FS_NO_TABLE, NULL};
  BL_TRY(bl_fs_path(c, c->root, levels, n, NULL, folder, err));
  bl_status st = look_for_folder(*folder, &there, err);
  if (there) st = look(c, *folder, &f, err);
  bl_free(c->c.ctx, f.metadata);
  if (st == BL_OK && (f.kind != FS_NO_TABLE || !there)) st = no_namespace(c, levels, n, err);
  if (st == BL_OK) return BL_OK;
  bl_free(c->c.ctx, *folder);
  *folder = NULL;
  return st;
}

static bl_status fs_location(bl_catalog *base, const bl_table_name *t, bl_catalog_pair_visit visit, void *user,
                             bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder, *path = NULL;
  BL_TRY(bl_fs_need_namespace(c, t->levels, t->n_levels, &folder, err));
  bl_free(c->c.ctx, folder);
  bl_status st = bl_fs_path(c, c->warehouse, t->levels, t->n_levels, t->name, &path, err);
  if (st == BL_OK) st = visit(user, &(bl_catalog_pair){"location", path}, err);
  bl_free(c->c.ctx, path);
  return st;
}

char *bl_fs_above(const fs_catalog *c, const char *folder) {
  int n = (int)(strrchr(folder, '/') - folder); /* there is a slash: a name lies below the root */
  return bl_asprintf(c->c.ctx, "%.*s", n ? n : 1, folder);
}

char *bl_fs_hidden(const fs_catalog *c, const char *above, const char *prefix) {
  uint64_t r;
  bl_random(c->c.ctx, &r, sizeof r);
  return bl_asprintf(c->c.ctx, "%s/%s%016llx", above, prefix, (unsigned long long)r);
}

bl_status bl_fs_sync_names(const fs_catalog *c, const char *above, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  if (c->io->sync_all(c->io, &above, 1, &why) == BL_OK) return BL_OK;
  return bl_fail(err, BL_UNKNOWN, "done, but it is not known whether it lasts: %s", why.message);
}

bl_status bl_fs_remove_tree(bl_ctx *ctx, const char *folder, bl_error *err) {
  DIR *dir = opendir(folder);
  bl_status st = dir ? BL_OK : bl_fs_error(err, "cannot list", folder);
  for (struct dirent *e; st == BL_OK && (e = readdir(dir));) {
    struct stat info;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    char *path = bl_asprintf(ctx, "%s/%s", folder, e->d_name);
    if (!path) st = bl_nomem(err);
    else if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) st = bl_fs_remove_tree(ctx, path, err);
    else if (unlink(path) != 0 && errno != ENOENT) st = bl_fs_error(err, "cannot remove", path);
    bl_free(ctx, path);
  }
  if (dir) closedir(dir);
  if (st == BL_OK && rmdir(folder) != 0) st = bl_fs_error(err, "cannot remove the folder", folder);
  return st;
}

bool bl_fs_is_leftover(const fs_catalog *c, const char *path, const char *name) {
  return strncmp(name, FS_DROPPED, strlen(FS_DROPPED)) == 0 || strncmp(name, FS_NEW, strlen(FS_NEW)) == 0 ||
         (*name != '.' && is_unfinished(c, path));
}

bl_status bl_fs_remove_leftovers(const fs_catalog *c, const char *folder, bl_error *err) {
  DIR *dir = opendir(folder);
  bl_status st = BL_OK;
  if (!dir) return bl_fs_error(err, "cannot list", folder);
  for (struct dirent *e; st == BL_OK && (e = readdir(dir));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    char *path = bl_asprintf(c->c.ctx, "%s/%s", folder, e->d_name);
    if (!path) st = bl_nomem(err);
    else if (bl_fs_is_leftover(c, path, e->d_name)) st = bl_fs_remove_tree(c->c.ctx, path, err);
    bl_free(c->c.ctx, path);
  }
  closedir(dir);
  return st;
}

/* In one step the folder is a table no more; then its files go. Those that stay are found by drop_namespace. */
static bl_status drop_folder(const fs_catalog *c, const char *folder, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = BL_OK;
  char *above = bl_fs_above(c, folder);
  char *gone = above ? bl_fs_hidden(c, above, FS_DROPPED) : NULL;
  if (!gone) st = bl_nomem(err);
  else st = c->io->rename(c->io, folder, gone, err);
  if (st == BL_OK) st = bl_fs_sync_names(c, above, err);
  if (st == BL_OK && bl_fs_remove_tree(c->c.ctx, gone, &why) != BL_OK)
    bl_warn(c->c.ctx, "files of a dropped table stay: %s", why.message);
  bl_free(c->c.ctx, above);
  bl_free(c->c.ctx, gone);
  return st;
}

/* Nobody commits to it meanwhile: what a commit writes behind that would make a new folder of the name. */
static bl_status drop_locked(const fs_catalog *c, const bl_table_name *t, const char *folder, bl_error *err) {
  fs_found f;
  BL_TRY(look(c, folder, &f, err));
  bl_status st = need_table(c, t, &f, err);
  bl_free(c->c.ctx, f.metadata);
  return st == BL_OK ? drop_folder(c, folder, err) : st;
}

static bl_status fs_drop(bl_catalog *base, const bl_table_name *t, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  bl_io_lock *lock = NULL;
  char *folder = NULL;
  fs_found f = {FS_NO_TABLE, NULL};
  bl_status st;
  BL_GO(bl_fs_path(c, c->root, t->levels, t->n_levels, t->name, &folder, err));
  BL_GO(look(c, folder, &f, err));
  BL_GO(need_table(c, t, &f, err));
  BL_GO(bl_folder_lock(c->c.ctx, c->io, folder, false, &lock, err));
  st = drop_locked(c, t, folder, err);
done:
  if (lock) lock->unlock(lock);
  if (lock && st == BL_NOT_FOUND) bl_folder_sweep(c->c.ctx, c->io, folder);
  bl_free(c->c.ctx, f.metadata);
  bl_free(c->c.ctx, folder);
  return st;
}

/* ---- opening ---- */

static bool fs_takes(const bl_catalog_options *o) {
  if (!o->warehouse) return false;
  return o->type ? strcmp(o->type, "hadoop") == 0 : !o->uri;
}

static void fs_free(bl_catalog *base) {
  fs_catalog *c = (fs_catalog *)base;
  if (c->io) c->io->free(c->io);
  bl_free(c->c.ctx, c->warehouse);
  bl_free(c->c.ctx, c->root);
  bl_free(c->c.ctx, c);
}

static bl_status check_warehouse(const fs_catalog *c, bool create, bl_error *err) {
  if (is_folder(c->root)) return BL_OK;
  if (create && mkdir(c->root, 0777) == 0) return BL_OK;
  return bl_fs_error(err, "cannot open the warehouse", c->warehouse);
}

static bl_status fs_open(bl_ctx *ctx, const bl_catalog_options *o, bl_catalog **out, bl_error *err) {
  bl_status st;
  *out = NULL;
  fs_catalog *c = bl_calloc(ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  c->c = (bl_catalog){.version = BL_CATALOG_VERSION,
                      .ctx = ctx,
                      .load = fs_load,
                      .list_tables = fs_list_tables,
                      .list_namespaces = fs_list_namespaces,
                      .free = fs_free,
                      .location = fs_location,
                      .drop = fs_drop};
  bl_fs_has_namespaces(&c->c);
  bl_str warehouse = bl_path_trim(bl_str_of(o->warehouse));
  BL_GO(bl_io_local_new(ctx, &c->io, err));
  c->warehouse = bl_asprintf(ctx, "%.*s", (int)warehouse.n, warehouse.p);
  c->root = c->warehouse ? bl_strdup(ctx, bl_path_local(bl_str_of(c->warehouse)).p) : NULL;
  if (!c->root) BL_GO(bl_nomem(err));
  c->c.name = c->warehouse;
  BL_GO(check_warehouse(c, o->create, err));
  *out = &c->c;
  return BL_OK;
done:
  fs_free(&c->c);
  return st;
}

const bl_catalog_driver bl_catalog_driver_fs = {BL_CATALOG_VERSION, "hadoop", fs_takes, fs_open};
