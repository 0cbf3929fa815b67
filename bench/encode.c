/* encode.c: the plain adapter as a peer in the benchmark: rows written as Parquet, and nothing else.
 *
 *   encode [-t THREADS] -o FILE FILE.arrow         one file of an Arrow IPC stream, columns encoded on the threads
 *   encode [-t THREADS] -o FOLDER FILE.parquet…    a copy of each, the files spread over the threads
 *
 * Nothing waits for the disk. Prints seconds, rows and bytes written. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "rows/stream.h"

typedef struct run {
  bl_ctx *ctx;
  const char *out;
  char **files;
  size_t n_files;
  atomic_size_t next;
  atomic_llong rows, bytes;
} run;

typedef struct target {
  run *r;
  bl_output *file;
} target;

static bl_status take_bytes(void *user, const void *p, size_t n, bl_error *err) {
  target *t = user;
  atomic_fetch_add(&t->r->bytes, (long long)n);
  return t->file->write(t->file, p, n, err);
}

static bl_status write_batches(run *r, struct ArrowArrayStream *in, bl_arrow_writer **w, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(in, &batch, err));
    if (!batch.release) return BL_OK;
    atomic_fetch_add(&r->rows, batch.length);
    if (*w) BL_TRY(bl_arrow_writer_write(*w, &batch, err));
  }
}

/* The first stream makes the writer. */
static bl_status add_stream(target *t, struct ArrowArrayStream *in, int threads, bl_arrow_writer **w, bl_error *err) {
  bl_sink sink = {take_bytes, t};
  bl_parquet_options o = {.threads = threads};
  struct ArrowSchema schema;
  if (in->get_schema(in, &schema)) return bl_fail(err, BL_DAMAGED, "%s", in->get_last_error(in));
  bl_status st = *w ? BL_OK : bl_arrow_parquet_writer_with(t->r->ctx, &sink, &schema, &o, w, err);
  schema.release(&schema);
  if (st == BL_OK) st = write_batches(t->r, in, w, err);
  in->release(in);
  return st;
}

static bl_status encode_ipc(run *r, long threads, bl_error *err) {
  target t = {.r = r};
  bl_io *io = bench_io();
  bl_input *in;
  struct ArrowArrayStream rows;
  bl_arrow_writer *w = NULL;
  BL_TRY(io->open_input(io, r->files[0], &in, err));
  BL_TRY(bl_arrow_ipc_reader(r->ctx, in, &rows, err));
  BL_TRY(io->open_result(io, r->out, &t.file, err));
  BL_TRY(add_stream(&t, &rows, (int)threads, &w, err));
  BL_TRY(bl_arrow_writer_finish(w, err));
  return t.file->finish(t.file, err);
}

static bl_status copy_file(run *r, size_t i, bl_error *err) {
  target t = {.r = r};
  bl_data_reader *reader = bench_open_parquet(r->files[i]);
  const bl_data_meta *m = reader->meta;
  int32_t *leaves = bench_alloc(m->n_nodes, sizeof *leaves);
  size_t n = 0, room = strlen(r->out) + 32;
  char *path = bench_alloc(room, 1);
  bl_arrow_writer *w = NULL;
  for (size_t k = 0; k < m->n_nodes; k++)
    if (m->nodes[k].leaf >= 0 && m->nodes[k].kind != BL_D_OTHER) leaves[n++] = m->nodes[k].leaf;
  snprintf(path, room, "%s/%05zu.parquet", r->out, i);
  BL_TRY(bench_io()->open_result(bench_io(), path, &t.file, err));
  for (size_t g = 0; g < m->n_groups; g++) {
    struct ArrowArrayStream rows;
    BL_TRY(reader->read(reader, g, leaves, n, NULL, 0, 1 << 16, &rows, err));
    BL_TRY(add_stream(&t, &rows, 0, &w, err));
  }
  reader->free(reader);
  if (w) BL_TRY(bl_arrow_writer_finish(w, err));
  return t.file->finish(t.file, err);
}

static void *copy_files(void *arg) {
  run *r = arg;
  for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->n_files;) {
    bl_error err = BL_ERROR_INIT;
    bench_check(copy_file(r, i, &err), &err);
  }
  return NULL;
}

static bool ends_with(const char *s, const char *end) {
  return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

int main(int argc, char **argv) {
  static const char usage[] = "encode [-t THREADS] -o FILE FILE.arrow | encode [-t THREADS] -o FOLDER FILE.parquet...";
  run r = {0};
  bl_error err = BL_ERROR_INIT;
  long threads = 1;
  int opt;
  while ((opt = getopt(argc, argv, "t:o:")) != -1) {
    if (opt == 'o') r.out = optarg;
    else threads = bench_number(opt == '?' ? "" : optarg, usage);
  }
  if (!r.out || optind == argc) (void)bench_number("", usage);
  r.ctx = bench_ctx("encode");
  r.files = argv + optind;
  r.n_files = (size_t)(argc - optind);
  double begin = bench_now();
  if (ends_with(r.files[0], ".parquet")) bench_threads(threads, copy_files, &r);
  else bench_check(encode_ipc(&r, threads, &err), &err);
  printf("%.3f s, %lld rows, %lld bytes, %ld threads\n", bench_now() - begin, (long long)atomic_load(&r.rows),
         (long long)atomic_load(&r.bytes), threads);
  return 0;
}
