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

bl_status bl_io_write_all(bl_io *io, const char *path, const void *p, size_t n, bool exclusive, bl_error *err) {
  bl_output *out = NULL;
  if (!io->open_output) return bl_fail(err, BL_UNSUPPORTED, "cannot write: %s: %s is read-only", path, io->name);
  BL_TRY(io->open_output(io, path, exclusive, &out, err));
  bl_status st = out->write(out, p, n, err);
  if (st != BL_OK) {
    out->abort(out);
    return st;
  }
  return out->finish(out, err);
}
