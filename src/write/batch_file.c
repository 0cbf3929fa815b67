/* batch_file.c: see batch_file.h. The file is an IPC stream. */
#include "write/batch_file.h"

#include <unistd.h>

#include "base/temp.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"

struct bl_batch_file {
  bl_input in; /* first: the input of the reader */
  bl_ctx *ctx;
  int fd;
  bl_arrow_writer *writer; /* NULL: it is read */
  struct ArrowArrayStream rows;
};

static bl_status read_at(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  bl_batch_file *f = (bl_batch_file *)in;
  return bl_temp_read(f->ctx, f->fd, offset, out, n, err);
}

static void close_nothing(bl_input *in) {
  (void)in;
}

static bl_status append(void *user, const void *p, size_t n, bl_error *err) {
  bl_batch_file *f = user;
  BL_TRY(bl_temp_write(f->ctx, f->fd, f->in.size, p, n, err));
  f->in.size += (int64_t)n;
  return BL_OK;
}

bl_status bl_batch_file_new(bl_ctx *ctx, const struct ArrowSchema *schema, bl_batch_file **out, bl_error *err) {
  bl_batch_file *f = *out = bl_calloc(ctx, 1, sizeof *f);
  if (!f) return bl_nomem(err);
  *f = (bl_batch_file){.in = {.read_at = read_at, .close = close_nothing}, .ctx = ctx, .fd = -1};
  const bl_sink sink = {.write = append, .user = f};
  bl_status st = bl_temp_open(ctx, &f->fd, err);
  if (st == BL_OK) st = bl_arrow_ipc_writer(ctx, &sink, schema, &f->writer, err);
  if (st == BL_OK) return BL_OK;
  bl_batch_file_free(f);
  *out = NULL;
  return st;
}

void bl_batch_file_free(bl_batch_file *f) {
  if (!f) return;
  bl_stream_release(&f->rows);
  if (f->writer) bl_arrow_writer_abort(f->writer);
  if (f->fd >= 0) close(f->fd);
  bl_free(f->ctx, f);
}

bl_status bl_batch_file_add(bl_batch_file *f, struct ArrowArray *batch, bl_error *err) {
  return bl_arrow_writer_write(f->writer, batch, err);
}

bl_status bl_batch_file_end(bl_batch_file *f, bl_error *err) {
  bl_arrow_writer *w = f->writer;
  f->writer = NULL;
  BL_TRY(bl_arrow_writer_finish(w, err));
  return bl_batch_file_rewind(f, err);
}

bl_status bl_batch_file_rewind(bl_batch_file *f, bl_error *err) {
  bl_stream_release(&f->rows);
  return bl_arrow_ipc_reader(f->ctx, &f->in, &f->rows, err);
}

bl_status bl_batch_file_next(bl_batch_file *f, struct ArrowArray *out, bl_error *err) {
  return bl_stream_next(&f->rows, out, err);
}
