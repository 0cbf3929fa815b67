/* io.c: see io.h. */
#include "table/io.h"

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

static bl_status open_output(bl_io *io, const char *path, unsigned flags, bl_output **out, bl_error *err) {
  if (!io->open_output) return bl_fail(err, BL_UNSUPPORTED, "cannot write: %s: %s is read-only", path, io->name);
  if (io->open_output_with) return io->open_output_with(io, path, flags, out, err);
  return io->open_output(io, path, flags & BL_OUT_EXCLUSIVE, out, err);
}

bl_status bl_io_write_with(bl_io *io, const char *path, const void *p, size_t n, unsigned flags, bl_error *err) {
  bl_output *out = NULL;
  BL_TRY(open_output(io, path, flags, &out, err));
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

bl_status bl_io_sync_folder(bl_io *io, const char *folder, bl_error *err) {
  return io->open_output_with && io->sync_folder ? io->sync_folder(io, folder, err) : BL_OK;
}
