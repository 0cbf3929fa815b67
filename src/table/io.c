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

/* ---- files that are synced together ---- */

static bl_status add_path(bl_unsynced *u, bl_str path, bl_error *err) {
  BL_TRY(bl_grow(u->ctx, &u->paths, &u->cap, u->n, sizeof *u->paths, err));
  u->paths[u->n] = bl_asprintf(u->ctx, "%.*s", (int)path.n, path.p);
  if (!u->paths[u->n]) return bl_nomem(err);
  u->n++;
  return BL_OK;
}

bl_status bl_unsynced_add(bl_unsynced *u, bl_str path, bl_error *err) {
  bl_str folder = bl_path_folder(path);
  BL_TRY(add_path(u, path, err));
  if (!u->folders) BL_TRY(bl_map_new(u->ctx, &u->folders, err));
  if (bl_map_get(u->folders, folder)) return BL_OK;
  BL_TRY(add_path(u, folder, err));
  folder.p = u->paths[u->n - 1]; /* lives as long as the map */
  return bl_map_put(u->folders, folder, u->n - 1, NULL) ? BL_OK : bl_nomem(err);
}

bl_status bl_unsynced_sync(bl_unsynced *u, bl_io *io, bl_error *err) {
  bl_status st = BL_OK;
  if (u->n && io->open_output_with && io->sync_all) st = io->sync_all(io, (const char *const *)u->paths, u->n, err);
  if (st == BL_OK) bl_unsynced_dispose(u);
  return st;
}

void bl_unsynced_dispose(bl_unsynced *u) {
  bl_map_free(u->folders);
  for (size_t i = 0; i < u->n; i++) bl_free(u->ctx, u->paths[i]);
  bl_free(u->ctx, u->paths);
  *u = (bl_unsynced){.ctx = u->ctx};
}
