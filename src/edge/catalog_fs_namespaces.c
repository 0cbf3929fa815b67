/* catalog_fs_namespaces.c: the namespaces of a warehouse folder: folders, with their properties in a hidden file.
 *
 * 1. .namespace.json is one JSON object of texts. Without the file a namespace has no properties.
 * 2. A namespace appears with its properties, and goes with them: in one step. The file is changed as a whole, by one
 *    at a time (a lock on the folder itself, which a process that dies lets go).
 * 3. What a process leaves that dies on the way has a hidden name, and goes with the namespace above. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "edge/catalog_fs_private.h"
#include "format/json.h"
#include "table/io.h"

#define PROPERTIES ".namespace.json"

/* ---- the file of properties ---- */

static bl_status file_of(bl_arena *a, const char *folder, const char **out, bl_error *err) {
  *out = bl_arena_printf(a, "%s/" PROPERTIES, folder).p;
  return *out ? BL_OK : bl_nomem(err);
}

static bl_status check_texts(const bl_json *obj, bl_error *err) {
  if (obj->kind != BL_J_OBJECT) return bl_json_fail(err, BL_DAMAGED, obj, "an object is expected");
  for (const bl_json *v = obj->first; v; v = v->next) {
    bl_str text;
    BL_TRY(bl_json_string(v, &text, err));
    if (memchr(text.p, 0, text.n) || memchr(v->key.p, 0, v->key.n))
      return bl_json_fail(err, BL_DAMAGED, v, "a text with a NUL in it");
  }
  return BL_OK;
}

static bl_status parse(bl_arena *a, const char *path, const bl_buf *text, bl_json **out, bl_error *err) {
  bl_status st = bl_json_parse(a, text->p, text->n, out, err);
  if (st == BL_OK) st = check_texts(*out, err);
  return st == BL_OK ? st : bl_fail_in(err, st, "%s", path);
}

/* In the arena; an object in any case. */
static bl_status read_properties(const fs_catalog *c, const char *folder, bl_arena *a, bl_json **out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  const char *path;
  bl_buf text;
  BL_TRY(file_of(a, folder, &path, err));
  bl_buf_init(&text, c->c.ctx, BL_BUF_MAX);
  bl_status st = bl_io_read_all(c->io, path, c->c.ctx->o.max_metadata_bytes, &text, &why);
  if (st == BL_OK) st = parse(a, path, &text, out, err);
  else if (st == BL_NOT_FOUND) st = (*out = bl_json_new(a, BL_J_OBJECT)) ? BL_OK : bl_nomem(err);
  else bl_fail(err, st, "%s", why.message);
  bl_buf_free(&text);
  return st;
}

/* BL_UNKNOWN as bl_io_replace. */
static bl_status write_properties(const fs_catalog *c, const char *folder, bl_arena *a, const bl_json *obj,
                                  bl_error *err) {
  const char *path;
  bl_buf text;
  BL_TRY(file_of(a, folder, &path, err));
  bl_buf_init(&text, c->c.ctx, BL_BUF_MAX);
  bl_json_print(&text, obj, true);
  bl_status st = bl_buf_ok(&text, err);
  if (st == BL_OK) st = bl_io_replace(c->c.ctx, c->io, path, text.p, text.n, err);
  bl_buf_free(&text);
  return st;
}

static bl_status put_all(bl_arena *a, bl_json *obj, const bl_catalog_pair *p, size_t n, bl_error *err) {
  for (size_t i = 0; i < n; i++) {
    bl_str key = bl_arena_str(a, bl_str_of(p[i].key));
    if (!key.p) return bl_nomem(err);
    if (!p[i].value) bl_json_remove(obj, key.p);
    else if (!bl_json_set(a, obj, key.p, bl_json_new_str(a, bl_str_of(p[i].value)))) return bl_nomem(err);
  }
  return BL_OK;
}

/* ---- reading ---- */

static int by_key(const void *a, const void *b) {
  return strcmp(((const bl_catalog_pair *)a)->key, ((const bl_catalog_pair *)b)->key);
}

static bl_status visit_in_order(bl_arena *a, const bl_json *obj, bl_catalog_pair_visit visit, void *user,
                                bl_error *err) {
  size_t n = 0;
  bl_catalog_pair *pairs = bl_arena_alloc(a, obj->n, sizeof *pairs);
  if (!pairs) return bl_nomem(err);
  for (const bl_json *v = obj->first; v; v = v->next) {
    bl_str key = bl_arena_str(a, v->key);
    if (!key.p) return bl_nomem(err);
    pairs[n++] = (bl_catalog_pair){key.p, v->text.p};
  }
  bl_sort(pairs, n, sizeof *pairs, by_key);
  for (size_t i = 0; i < n; i++) BL_TRY(visit(user, &pairs[i], err));
  return BL_OK;
}

static bl_status fs_namespace_properties(bl_catalog *base, const char *const *levels, size_t n_levels,
                                         bl_catalog_pair_visit visit, void *user, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  bl_arena *a = NULL;
  bl_json *obj;
  char *folder = NULL;
  bl_status st;
  BL_GO(bl_fs_need_namespace(c, levels, n_levels, &folder, err));
  BL_GO(bl_arena_new(c->c.ctx, &a, err));
  BL_GO(read_properties(c, folder, a, &obj, err));
  st = visit_in_order(a, obj, visit, user, err);
done:
  bl_arena_free(a);
  bl_free(c->c.ctx, folder);
  return st;
}

/* ---- changing ---- */

/* Is it still the folder of that name? */
static bl_status check_still_there(const char *folder, int fd, bl_error *err) {
  struct stat mine, named;
  if (fstat(fd, &mine) != 0 || stat(folder, &named) != 0) return bl_fs_error(err, "cannot look at the folder", folder);
  if (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) return BL_OK;
  return bl_fail(err, BL_NOT_FOUND, "no such namespace: %s: it is gone", folder);
}

/* *fd: close it to let go. BL_NOT_FOUND: the namespace went while it was waited for. */
static bl_status lock_folder(const char *folder, int *fd, bl_error *err) {
  int failed;
  bl_status st;
  *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd < 0) return bl_fs_error(err, "cannot open the folder", folder);
  while ((failed = flock(*fd, LOCK_EX)) != 0 && errno == EINTR) continue;
  st = failed ? bl_fs_error(err, "cannot lock the folder", folder) : check_still_there(folder, *fd, err);
  if (st == BL_OK) return BL_OK;
  close(*fd);
  *fd = -1;
  return st;
}

static bl_status change_properties(const fs_catalog *c, const char *folder, const bl_catalog_pair *p, size_t n,
                                   bl_error *err) {
  bl_arena *a = NULL;
  bl_json *obj;
  int fd = -1;
  bl_status st;
  BL_GO(bl_arena_new(c->c.ctx, &a, err));
  BL_GO(lock_folder(folder, &fd, err));
  BL_GO(read_properties(c, folder, a, &obj, err));
  BL_GO(put_all(a, obj, p, n, err));
  st = write_properties(c, folder, a, obj, err);
done:
  if (fd >= 0) close(fd);
  bl_arena_free(a);
  return st;
}

static bl_status fs_change_namespace(bl_catalog *base, const char *const *levels, size_t n_levels,
                                     const bl_catalog_pair *p, size_t n, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder;
  BL_TRY(bl_fs_need_namespace(c, levels, n_levels, &folder, err));
  bl_status st = change_properties(c, folder, p, n, err);
  bl_free(c->c.ctx, folder);
  return st;
}

/* ---- making ---- */

/* Every folder on the way. */
static bl_status make_folders(char *folder, bl_error *err) {
  bl_status st = BL_OK;
  for (char *p = folder + 1; st == BL_OK; p++) {
    if (*p != '/' && *p) continue;
    char end = *p;
    *p = 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) st = bl_fs_error(err, "cannot create the folder", folder);
    *p = end;
    if (!end) break;
  }
  return st;
}

/* 2. */
static bl_status make_with_properties(const fs_catalog *c, const char *folder, char *above, const bl_catalog_pair *p,
                                      size_t n, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_arena *a = NULL;
  bl_json *obj;
  char *hidden = NULL;
  bl_status st;
  BL_GO(bl_arena_new(c->c.ctx, &a, err));
  obj = bl_json_new(a, BL_J_OBJECT);
  hidden = bl_fs_hidden(c, above, FS_NEW);
  if (!obj || !hidden) BL_GO(bl_nomem(err));
  BL_GO(put_all(a, obj, p, n, err));
  BL_GO(make_folders(above, err));
  st = write_properties(c, hidden, a, obj, &why); /* and its folder, that nobody sees yet */
  if (st != BL_OK) BL_GO(bl_fail(err, st == BL_UNKNOWN ? BL_IO : st, "%s", why.message));
  st = c->io->rename(c->io, hidden, folder, err);
done:
  if (st != BL_OK && hidden && access(hidden, F_OK) == 0 && bl_fs_remove_tree(c->c.ctx, hidden, NULL) != BL_OK)
    bl_warn(c->c.ctx, "a folder that is not needed stays: %s", hidden);
  bl_free(c->c.ctx, hidden);
  bl_arena_free(a);
  return st;
}

static bl_status make_namespace(const fs_catalog *c, char *folder, const bl_catalog_pair *p, size_t n, bl_error *err) {
  struct stat info;
  if (lstat(folder, &info) == 0) return bl_fail(err, BL_CONFLICT, "the namespace exists: %s", folder);
  if (errno != ENOENT && errno != ENOTDIR) return bl_fs_error(err, "cannot look for the folder", folder);
  char *above = bl_fs_above(c, folder);
  bl_status st = !above ? bl_nomem(err)
                 : n    ? make_with_properties(c, folder, above, p, n, err)
                        : make_folders(folder, err);
  if (st == BL_OK) st = bl_fs_sync_names(c, above, err);
  bl_free(c->c.ctx, above);
  return st;
}

static bl_status fs_create_namespace(bl_catalog *base, const char *const *levels, size_t n_levels,
                                     const bl_catalog_pair *p, size_t n, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder;
  BL_TRY(bl_fs_path(c, c->root, levels, n_levels, NULL, &folder, err));
  bl_status st = make_namespace(c, folder, p, n, err);
  bl_free(c->c.ctx, folder);
  return st;
}

/* ---- removing ---- */

static bl_status not_empty(const char *folder, bl_error *err) {
  return bl_fail(err, BL_CONFLICT, "the namespace is not empty: %s", folder);
}

/* What a namespace may hold that is to go: its properties, and what a change of them left that came to nothing. */
static bool goes_along(const char *name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, PROPERTIES) == 0 ||
         strncmp(name, ".tmp-", 5) == 0;
}

static bl_status look_for_others(const char *folder, bool *any, bl_error *err) {
  bool others = false;
  *any = false; /* anything at all */
  DIR *dir = opendir(folder);
  if (!dir) return bl_fs_error(err, "cannot list", folder);
  for (struct dirent *e; (e = readdir(dir));) {
    if (!goes_along(e->d_name)) others = true;
    else if (e->d_name[1] && e->d_name[1] != '.') *any = true;
  }
  closedir(dir);
  return others ? not_empty(folder, err) : BL_OK;
}

/* 2. Under a hidden name nobody makes a table in it; where one was faster, it gets its name back. */
static bl_status remove_with_properties(const fs_catalog *c, const char *folder, const char *above, bl_error *err) {
  bool any;
  bl_error why = BL_ERROR_INIT;
  char *hidden = bl_fs_hidden(c, above, FS_DROPPED);
  bl_status st = hidden ? c->io->rename(c->io, folder, hidden, err) : bl_nomem(err);
  if (st == BL_OK) {
    st = look_for_others(hidden, &any, &why);
    if (st == BL_CONFLICT && c->io->rename(c->io, hidden, folder, &why) == BL_OK) not_empty(folder, err);
    else if (st != BL_OK) bl_fail(err, st = BL_UNKNOWN, "%s", why.message);
    else if (bl_fs_remove_tree(c->c.ctx, hidden, &why) != BL_OK)
      bl_warn(c->c.ctx, "a folder of a dropped namespace stays: %s", why.message);
  }
  bl_free(c->c.ctx, hidden);
  return st;
}

static bl_status remove_namespace(const fs_catalog *c, const char *folder, const char *above, bool has_file,
                                  bl_error *err) {
  if (has_file) return remove_with_properties(c, folder, above, err);
  if (rmdir(folder) == 0) return BL_OK;
  return errno == ENOTEMPTY || errno == EEXIST ? not_empty(folder, err)
                                               : bl_fs_error(err, "cannot remove the folder", folder);
}

static bl_status fs_drop_namespace(bl_catalog *base, const char *const *levels, size_t n_levels, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder = NULL, *above = NULL;
  bool has_file;
  int fd = -1;
  bl_status st;
  BL_GO(bl_fs_need_namespace(c, levels, n_levels, &folder, err));
  if (!(above = bl_fs_above(c, folder))) BL_GO(bl_nomem(err));
  BL_GO(lock_folder(folder, &fd, err));
  BL_GO(bl_fs_remove_leftovers(c, folder, err));
  BL_GO(look_for_others(folder, &has_file, err));
  BL_GO(remove_namespace(c, folder, above, has_file, err));
  st = bl_fs_sync_names(c, above, err);
done:
  if (fd >= 0) close(fd);
  bl_free(c->c.ctx, above);
  bl_free(c->c.ctx, folder);
  return st;
}

/* Leftovers would go first. */
static bl_status look_inside(const fs_catalog *c, const char *folder, bl_error *err) {
  bl_status st = BL_OK;
  DIR *dir = opendir(folder);
  if (!dir) return bl_fs_error(err, "cannot list", folder);
  for (struct dirent *e; st == BL_OK && (e = readdir(dir));) {
    if (goes_along(e->d_name)) continue;
    char *path = bl_asprintf(c->c.ctx, "%s/%s", folder, e->d_name);
    if (!path) st = bl_nomem(err);
    else if (!bl_fs_is_leftover(c, path, e->d_name)) st = not_empty(folder, err);
    bl_free(c->c.ctx, path);
  }
  closedir(dir);
  return st;
}

static bl_status fs_check_empty(bl_catalog *base, const char *const *levels, size_t n_levels, bl_error *err) {
  fs_catalog *c = (fs_catalog *)base;
  char *folder;
  BL_TRY(bl_fs_need_namespace(c, levels, n_levels, &folder, err));
  bl_status st = look_inside(c, folder, err);
  bl_free(c->c.ctx, folder);
  return st;
}

void bl_fs_has_namespaces(bl_catalog *c) {
  c->check_empty = fs_check_empty;
  c->create_namespace = fs_create_namespace;
  c->drop_namespace = fs_drop_namespace;
  c->namespace_properties = fs_namespace_properties;
  c->change_namespace = fs_change_namespace;
}
