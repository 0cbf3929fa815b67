/* io.c: see io.h. */
#include "table/io.h"

#include "table/pathmap.h"

bl_status bl_io_read_all(bl_io *io, const char *path, int64_t max, bl_buf *out, bl_error *err) {
  bl_input *in = NULL;
  BL_TRY(io->open_input(io, path, &in, err));
  bl_status st = BL_OK;
  if (in->size < 0 || in->size > max) {
    st = bl_fail(err, BL_DAMAGED, "cannot read: %s: %lld bytes, the limit is %lld", path, (long long)in->size,
                 (long long)max);
  } else if (in->size > 0) {
    size_t n = (size_t)in->size;
    uint8_t *p = bl_buf_reserve(out, n);
    st = p ? in->read_at(in, 0, p, n, err) : bl_nomem(err);
    if (st == BL_OK) out->n += n;
  }
  in->close(in);
  return st;
}

bl_status bl_io_open_output(bl_io *io, const char *path, unsigned flags, bl_output **out, bl_error *err) {
  if (!io->open_output) return bl_fail(err, BL_UNSUPPORTED, "cannot write: %s: %s is read-only", path, io->name);
  if (io->open_output_with) return io->open_output_with(io, path, flags, out, err);
  return io->open_output(io, path, flags & BL_OUT_EXCLUSIVE, out, err);
}

bl_status bl_io_write_with(bl_io *io, const char *path, const void *p, size_t n, unsigned flags, bl_error *err) {
  bl_output *out = NULL;
  BL_TRY(bl_io_open_output(io, path, flags, &out, err));
  bl_status st = out->write(out, p, n, err);
  if (st != BL_OK) {
    out->abort(out);
    return st;
  }
  return out->finish(out, err);
}

bl_status bl_io_write_all(bl_io *io, const char *path, const void *p, size_t n, bool exclusive, bl_error *err) {
  return bl_io_write_with(io, path, p, n, exclusive ? BL_OUT_EXCLUSIVE : 0, err);
}

/* Does the file hold something else, for sure? */
static bool holds_other(bl_ctx *ctx, bl_io *io, const char *path, const void *p, size_t n) {
  bl_buf now;
  bl_buf_init(&now, ctx, BL_BUF_MAX);
  bl_status st = bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &now, NULL);
  bool same = now.n == n && memcmp(now.p, p, n) == 0;
  bl_buf_free(&now);
  return st == BL_NOT_FOUND || (st == BL_OK && !same);
}

bl_status bl_io_replace(bl_ctx *ctx, bl_io *io, const char *path, const void *p, size_t n, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_io_write_all(io, path, p, n, false, &why);
  if (st == BL_OK) return BL_OK;
  if (st != BL_NOMEM && !holds_other(ctx, io, path, p, n)) st = BL_UNKNOWN;
  return bl_fail(err, st, "%s", why.message);
}

/* ---- files that are synced together ---- */

struct bl_unsynced_path {
  bool is_folder, begun;
  bl_io *io; /* set when it is begun */
  bl_errand errand;
  bl_ctx *ctx;
  char *path, *why; /* why: it failed; NULL: it did not, or there was no memory to say it */
};

static bl_status sync_path(void *user) {
  bl_unsynced_path *p = user;
  bl_error err = BL_ERROR_INIT;
  const char *path = p->path;
  bl_status st = p->io->sync_all(p->io, &path, 1, &err);
  if (st != BL_OK) p->why = bl_strdup(p->ctx, err.message);
  return st;
}

static void free_path(bl_unsynced_path *p) {
  if (!p) return;
  bl_free(p->ctx, p->path);
  bl_free(p->ctx, p->why);
  bl_free(p->ctx, p);
}

static bl_status add_path(bl_unsynced *u, bl_str path, bool is_folder, bl_error *err) {
  BL_TRY(bl_grow(u->ctx, &u->paths, &u->cap, u->n, sizeof *u->paths, err));
  bl_unsynced_path *p = bl_calloc(u->ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  p->ctx = u->ctx, p->is_folder = is_folder;
  p->path = bl_asprintf(u->ctx, "%.*s", (int)path.n, path.p);
  if (!p->path) {
    free_path(p);
    return bl_nomem(err);
  }
  p->errand = (bl_errand){.run = sync_path, .user = p};
  u->paths[u->n++] = p;
  return BL_OK;
}

bl_status bl_unsynced_add(bl_unsynced *u, bl_str path, int64_t bytes, bl_error *err) {
  bl_str folder = bl_path_folder(path);
  BL_TRY(add_path(u, path, false, err));
  if (!bl_add64(u->bytes, bytes, &u->bytes)) u->bytes = INT64_MAX;
  if (!u->folders) BL_TRY(bl_map_new(u->ctx, &u->folders, err));
  if (bl_map_get(u->folders, folder)) return BL_OK;
  BL_TRY(add_path(u, folder, true, err));
  folder.p = u->paths[u->n - 1]->path; /* lives as long as the map */
  return bl_map_put(u->folders, folder, u->n - 1, NULL) ? BL_OK : bl_nomem(err);
}

static bool has_to_ask(const bl_io *io) {
  return io->open_output_with && io->sync_all;
}

/* No file before that place is still to be begun. */
static size_t new_files(const bl_unsynced *u) {
  size_t n = u->n;
  while (n && (u->paths[n - 1]->is_folder || !u->paths[n - 1]->begun)) n--;
  return n;
}

void bl_unsynced_begin(bl_unsynced *u, bl_io *io, bool folders) {
  if (!u->background || !has_to_ask(io)) return;
  for (size_t i = folders ? 0 : new_files(u); i < u->n; i++) {
    bl_unsynced_path *p = u->paths[i];
    if (p->begun || (p->is_folder && !folders)) continue;
    p->begun = true, p->io = io;
    bl_background_begin(u->background, &p->errand);
  }
  if (!folders) return;
  bl_map_free(u->folders); /* a name that is added to one later is not synced yet */
  u->folders = NULL;
}

void bl_unsynced_wait(bl_unsynced *u) {
  for (size_t i = 0; i < u->n; i++)
    if (u->paths[i]->begun) bl_background_wait(u->background, &u->paths[i]->errand);
}

/* The first failure is told, and no errand left. */
static bl_status sync_in_background(bl_unsynced *u, bl_io *io, bl_error *err) {
  bl_status st = BL_OK;
  bl_unsynced_begin(u, io, true);
  for (size_t i = 0; i < u->n; i++) {
    const bl_unsynced_path *p = u->paths[i];
    bl_status one = bl_background_end(u->background, &u->paths[i]->errand);
    if (one != BL_OK && st == BL_OK) st = bl_fail(err, one, "%s", p->why ? p->why : p->path);
  }
  return st;
}

static bl_status sync_at_once(const bl_unsynced *u, bl_io *io, bl_error *err) {
  const char **paths = bl_alloc(u->ctx, u->n, sizeof *paths);
  if (!paths) return bl_nomem(err);
  for (size_t i = 0; i < u->n; i++) paths[i] = u->paths[i]->path;
  bl_status st = io->sync_all(io, paths, u->n, err);
  bl_free(u->ctx, paths);
  return st;
}

bl_status bl_unsynced_sync(bl_unsynced *u, bl_io *io, bl_error *err) {
  bl_status st = BL_OK;
  if (u->n && has_to_ask(io)) st = u->background ? sync_in_background(u, io, err) : sync_at_once(u, io, err);
  if (st == BL_OK) bl_unsynced_dispose(u);
  return st;
}

void bl_unsynced_dispose(bl_unsynced *u) {
  bl_unsynced_wait(u);
  bl_map_free(u->folders);
  for (size_t i = 0; i < u->n; i++) free_path(u->paths[i]);
  bl_free(u->ctx, u->paths);
  *u = (bl_unsynced){.ctx = u->ctx, .background = u->background};
}
