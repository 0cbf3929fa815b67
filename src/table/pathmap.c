/* pathmap.c: see pathmap.h. */
#include "table/pathmap.h"

typedef struct pathmap_io {
  bl_io io;
  bl_ctx *ctx;
  bl_io *below;
  bool owned;
  size_t n;
  bl_path_map maps[]; /* their strings follow in one block each */
} pathmap_io;

/* ---- matching ---- */

bl_str bl_path_local(bl_str path) {
  bl_str rest = path;
  if (!bl_str_starts(path, BL_STR("file:"))) return path;
  rest.p += 5, rest.n -= 5;
  if (bl_str_starts(rest, BL_STR("//"))) {
    rest.p += 2, rest.n -= 2;
    if (bl_str_starts(rest, BL_STR("localhost/"))) rest.p += 9, rest.n -= 9;
  }
  return bl_str_starts(rest, BL_STR("/")) ? rest : path;
}

bl_str bl_path_trim(bl_str folder) {
  while (folder.n > 1 && folder.p[folder.n - 1] == '/') folder.n--;
  return folder;
}

bl_str bl_path_folder(bl_str path) {
  size_t n = path.n;
  while (n && path.p[n - 1] != '/') n--;
  if (n == 0) return BL_STR(".");
  return (bl_str){path.p, n > 1 ? n - 1 : n};
}

/* A folder without its trailing slashes ("/" becomes ""). */
static bl_str trim(bl_str s) {
  while (s.n && s.p[s.n - 1] == '/') s.n--;
  return s;
}

bool bl_path_same(bl_str a, bl_str b) {
  return bl_str_eq(trim(bl_path_local(a)), trim(bl_path_local(b)));
}

/* Does from take path? The length of the part of (local) path that it takes. */
static bool takes(bl_str from, bl_str path, size_t *length) {
  bl_str f = trim(bl_path_local(from));
  if (!bl_str_starts(path, f) || (path.n > f.n && path.p[f.n] != '/')) return false;
  *length = f.n;
  return true;
}

static const bl_path_map *find_map(const bl_path_map *maps, size_t n, bl_str path, size_t *length) {
  const bl_path_map *best = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t l;
    if (!takes(maps[i].from, path, &l) || (best && l <= *length)) continue;
    best = &maps[i], *length = l;
  }
  return best;
}

char *bl_path_map_apply(bl_ctx *ctx, const bl_path_map *maps, size_t n, const char *path) {
  bl_str local = bl_path_local(bl_str_of(path));
  size_t length = 0;
  const bl_path_map *m = find_map(maps, n, local, &length);
  if (!m) return bl_strdup(ctx, path);
  bl_str to = trim(m->to);
  if (to.n == 0 && length == local.n) return bl_strdup(ctx, "/");
  return bl_asprintf(ctx, "%.*s%s", (int)to.n, to.p, local.p + length);
}

bl_status bl_path_map_parse(const char *text, bl_path_map *out, bl_error *err) {
  const char *eq = strchr(text, '=');
  if (!eq || eq == text || eq[1] == 0) return bl_fail(err, BL_USAGE, "wrong path map: %s: FROM=TO is expected", text);
  out->from = (bl_str){text, (size_t)(eq - text)};
  out->to = bl_str_of(eq + 1);
  return BL_OK;
}

/* ---- the wrapper ---- */

static bl_status mapped(pathmap_io *io, const char *path, char **out, bl_error *err) {
  *out = bl_path_map_apply(io->ctx, io->maps, io->n, path);
  return *out ? BL_OK : bl_nomem(err);
}

/* A failure tells both names of the file where they differ. */
static bl_status explain(bl_status st, const char *path, const char *real, bl_error *err) {
  if (st != BL_OK && strcmp(path, real) != 0) bl_fail_in(err, st, "%s (mapped)", path);
  return st;
}

static bl_status map_open_input(bl_io *base, const char *path, bl_input **out, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  *out = NULL;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->open_input(io->below, real, out, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_exists(bl_io *base, const char *path, bool *out, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  *out = false;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->exists(io->below, real, out, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

/* What was listed goes back under the folder's own name, so that it can be passed to open_input. */
typedef struct map_listing {
  bl_ctx *ctx;
  const char *folder, *real;
  bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err);
  void *user;
} map_listing;

static bl_status map_visit(void *user, const bl_file_info *f, bl_error *err) {
  map_listing *l = user;
  bl_str real = trim(bl_str_of(l->real)), folder = trim(bl_str_of(l->folder));
  if (!bl_str_starts(bl_str_of(f->path), real) || f->path[real.n] != '/') return l->visit(l->user, f, err);
  bl_file_info g = *f;
  char *path = bl_asprintf(l->ctx, "%.*s%s", (int)folder.n, folder.p, f->path + real.n);
  if (!path) return bl_nomem(err);
  g.path = path;
  bl_status st = l->visit(l->user, &g, err);
  bl_free(l->ctx, path);
  return st;
}

static bl_status map_list(bl_io *base, const char *folder,
                          bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err), void *user,
                          bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  BL_TRY(mapped(io, folder, &real, err));
  map_listing l = {io->ctx, folder, real, visit, user};
  bl_status st = io->below->list(io->below, real, map_visit, &l, err);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_open_output(bl_io *base, const char *path, bool exclusive, bl_output **out, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  *out = NULL;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->open_output(io->below, real, exclusive, out, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_open_output_with(bl_io *base, const char *path, unsigned flags, bl_output **out, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  *out = NULL;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->open_output_with(io->below, real, flags, out, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_sync_all(bl_io *base, const char *const *paths, size_t n, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  bl_status st = BL_OK;
  char **real = bl_calloc(io->ctx, n + 1, sizeof *real);
  if (!real) return bl_nomem(err);
  for (size_t i = 0; i < n && st == BL_OK; i++) st = mapped(io, paths[i], &real[i], err);
  if (st == BL_OK) st = io->below->sync_all(io->below, (const char *const *)real, n, err);
  for (size_t i = 0; i < n; i++) bl_free(io->ctx, real[i]);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_remove(bl_io *base, const char *path, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->remove(io->below, real, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

static bl_status map_rename(bl_io *base, const char *from, const char *to, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real = NULL, *other = NULL;
  bl_status st = mapped(io, from, &real, err);
  if (st == BL_OK) st = mapped(io, to, &other, err);
  if (st == BL_OK) st = explain(io->below->rename(io->below, real, other, err), from, real, err);
  bl_free(io->ctx, real);
  bl_free(io->ctx, other);
  return st;
}

static bl_status map_lock(bl_io *base, const char *path, int64_t wait_ms, bl_io_lock **out, bl_error *err) {
  pathmap_io *io = (pathmap_io *)base;
  char *real;
  *out = NULL;
  BL_TRY(mapped(io, path, &real, err));
  bl_status st = explain(io->below->lock(io->below, real, wait_ms, out, err), path, real, err);
  bl_free(io->ctx, real);
  return st;
}

static int64_t map_room(bl_io *base, int64_t most) {
  bl_io *below = ((pathmap_io *)base)->below;
  return below->room(below, most);
}

static void map_free(bl_io *base) {
  pathmap_io *io = (pathmap_io *)base;
  for (size_t i = 0; i < io->n; i++) {
    bl_free(io->ctx, (char *)io->maps[i].from.p);
    bl_free(io->ctx, (char *)io->maps[i].to.p);
  }
  if (io->owned) io->below->free(io->below);
  bl_free(io->ctx, io);
}

static bool copy_str(bl_ctx *ctx, bl_str s, bl_str *out) {
  char *p = bl_asprintf(ctx, "%.*s", (int)s.n, s.p);
  *out = (bl_str){p, p ? s.n : 0};
  return p != NULL;
}

static bl_status copy_map(pathmap_io *io, const bl_path_map *m, bl_error *err) {
  if (m->from.n == 0 || m->to.n == 0) return bl_fail(err, BL_USAGE, "wrong path map: an empty prefix");
  bl_path_map *c = &io->maps[io->n];
  if (!copy_str(io->ctx, m->from, &c->from)) return bl_nomem(err);
  if (!copy_str(io->ctx, m->to, &c->to)) {
    bl_free(io->ctx, (char *)c->from.p);
    return bl_nomem(err);
  }
  io->n++;
  return BL_OK;
}

bl_status bl_io_pathmap_new(bl_ctx *ctx, bl_io *below, bool owned, const bl_path_map *maps, size_t n, bl_io **out,
                            bl_error *err) {
  *out = NULL;
  if (n > SIZE_MAX / sizeof *maps - 1) return bl_nomem(err);
  pathmap_io *io = bl_calloc(ctx, 1, sizeof *io + n * sizeof *maps);
  if (!io) return bl_nomem(err);
  io->io = (bl_io){.version = BL_IO_VERSION,
                   .name = below->name,
                   .open_input = map_open_input,
                   .exists = map_exists,
                   .list = map_list,
                   .open_output = below->open_output ? map_open_output : NULL,
                   .remove = below->remove ? map_remove : NULL,
                   .lock = below->lock ? map_lock : NULL,
                   .open_output_with = below->open_output_with ? map_open_output_with : NULL,
                   .sync_all = below->sync_all ? map_sync_all : NULL,
                   .rename = below->rename ? map_rename : NULL,
                   .room = below->room ? map_room : NULL,
                   .free = map_free};
  io->ctx = ctx, io->below = below;
  bl_status st = BL_OK;
  for (size_t i = 0; i < n && st == BL_OK; i++) st = copy_map(io, &maps[i], err);
  if (st != BL_OK) {
    map_free(&io->io); /* owned is not set yet: the caller keeps below */
    return st;
  }
  io->owned = owned;
  *out = &io->io;
  return BL_OK;
}

size_t bl_io_pathmap_maps(const bl_io *io, const bl_path_map **out) {
  const pathmap_io *p = (const pathmap_io *)io;
  *out = p->maps;
  return p->n;
}
