/* inputs.c: see inputs.h. */
#include "inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- standard input ---- */

static bl_status read_stdin(void *user, void *p, size_t n, size_t *got, bl_error *err) {
  (void)user;
  ssize_t k;
  do k = read(STDIN_FILENO, p, n);
  while (k < 0 && errno == EINTR);
  if (k < 0) return bl_fail(err, BL_IO, "cannot read: standard input: %s", strerror(errno));
  *got = (size_t)k;
  return BL_OK;
}

/* A file that stdin was redirected from: read where it lies. */
typedef struct stdin_file {
  bl_input in;
  off_t begin;
} stdin_file;

static bl_status stdin_read_at(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  const stdin_file *f = (const stdin_file *)in;
  for (char *p = out; n > 0;) {
    ssize_t k = pread(STDIN_FILENO, p, n, f->begin + offset);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0)
      return bl_fail(err, BL_IO, "cannot read: standard input: byte %lld: %s", (long long)offset,
                     k < 0 ? strerror(errno) : "it ends here");
    p += k, offset += k, n -= (size_t)k;
  }
  return BL_OK;
}

static void stdin_close(bl_input *in) {
  free(in);
}

static bl_status open_stdin(bl_ctx *ctx, bl_input **out, bl_error *err) {
  struct stat info;
  off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (begin < 0 || fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode))
    return bl_input_spool(ctx, read_stdin, NULL, out, err);
  stdin_file *f = malloc(sizeof *f);
  if (!f) return bl_fail(err, BL_NOMEM, "out of memory");
  *f = (stdin_file){
      .in = {.size = info.st_size > begin ? info.st_size - begin : 0, .read_at = stdin_read_at, .close = stdin_close},
      .begin = begin};
  *out = &f->in;
  return BL_OK;
}

/* ---- files ---- */

/* The command's files, and "-". */
typedef struct named_io {
  bl_io io;
  bl_ctx *ctx;
  bl_io *files;
} named_io;

static bl_status open_named(bl_io *io, const char *path, bl_input **out, bl_error *err) {
  named_io *n = (named_io *)io;
  bool piped = strcmp(path, "-") == 0;
  bl_status st = piped ? open_stdin(n->ctx, out, err) : n->files->open_input(n->files, path, out, err);
  if (st == BL_OK) st = bl_input_unpack(n->ctx, cli_input_name(path), out, err);
  if (st != BL_OK && *out) {
    (*out)->close(*out);
    *out = NULL;
  }
  return st;
}

static bl_status format_of(cli *c, const char *text, bl_input_format *out) {
  *out = BL_INPUT_AUTO;
  if (!text || bl_input_format_of(text, out)) return BL_OK;
  return bl_fail(&c->err, BL_USAGE,
                 "wrong usage: --input-format %s: auto, parquet, arrow, csv, ndjson, avro or orc is expected", text);
}

bl_status cli_open_input(cli *c, const char *path, bl_input **out) {
  bl_status st = cli_need_drivers(c);
  *out = NULL;
  if (st != BL_OK) return st;
  named_io io = {.ctx = c->ctx, .files = c->drivers.io};
  return open_named(&io.io, path, out, &c->err);
}

/* A stream that keeps the io that its files are opened through. */
typedef struct with_io {
  struct ArrowArrayStream rows;
  named_io io;
} with_io;

static int with_io_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  with_io *w = s->private_data;
  return w->rows.get_schema(&w->rows, out);
}

static int with_io_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  with_io *w = s->private_data;
  return w->rows.get_next(&w->rows, out);
}

static const char *with_io_error(struct ArrowArrayStream *s) {
  with_io *w = s->private_data;
  return w->rows.get_last_error(&w->rows);
}

static void with_io_release(struct ArrowArrayStream *s) {
  with_io *w = s->private_data;
  if (w->rows.release) w->rows.release(&w->rows);
  free(w);
  s->release = NULL;
}

bl_status cli_read_files(cli *c, bl_table *t, const char *const *paths, size_t n, const char *format,
                         struct ArrowArrayStream *out) {
  bl_read_options o = {0};
  out->release = NULL;
  bl_status st = format_of(c, format, &o.format);
  if (st == BL_OK) st = cli_need_drivers(c);
  if (st != BL_OK) return st;
  with_io *w = calloc(1, sizeof *w);
  if (!w) return bl_fail(&c->err, BL_NOMEM, "out of memory");
  w->io = (named_io){.io = {.version = BL_IO_VERSION, .name = "files of rows", .open_input = open_named},
                     .ctx = c->ctx,
                     .files = c->drivers.io};
  st = bl_read_files(t, &w->io.io, paths, n, &o, &w->rows, &c->err);
  if (st != BL_OK) {
    free(w);
    return st;
  }
  *out = (struct ArrowArrayStream){.get_schema = with_io_schema,
                                   .get_next = with_io_next,
                                   .get_last_error = with_io_error,
                                   .release = with_io_release,
                                   .private_data = w};
  return BL_OK;
}

const char *cli_input_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

bl_status cli_read_rows(cli *c, bl_table *t, const char *path, const char *format, cli_input *out) {
  bl_read_options o = {.extra_columns = true};
  *out = (cli_input){0};
  bl_status st = format_of(c, format, &o.format);
  if (st == BL_OK) st = cli_open_input(c, path, &out->in);
  if (st == BL_OK) st = bl_read_rows(t, out->in, cli_input_name(path), &o, &out->rows, &c->err);
  if (st != BL_OK) cli_input_close(out);
  return st;
}

void cli_input_close(cli_input *in) {
  if (in->rows.release) in->rows.release(&in->rows);
  if (in->in) in->in->close(in->in);
  *in = (cli_input){0};
}
