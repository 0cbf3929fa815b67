/* decode.c: the plain adapter as a peer in the benchmark: data files decoded with some threads to nothing.
 *
 *   decode [-t THREADS] [-e N] FILE…
 *
 * -e N picks every Nth row by position. Prints seconds, rows and MB of decoded values. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/stream.h"

typedef struct file_input {
  bl_input in;
  int fd;
} file_input;

static bl_status file_read_at(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(((file_input *)in)->fd, (char *)out + done, n - done, offset + (int64_t)done);
    if (got <= 0) return bl_fail(err, BL_IO, "cannot read");
    done += (size_t)got;
  }
  return BL_OK;
}

typedef struct task {
  bl_data_reader *reader;
  size_t group;
} task;

typedef struct run {
  task *tasks;
  size_t n_tasks;
  int64_t every;
  atomic_size_t next;
  atomic_llong rows;
  atomic_int failed;
} run;

static bl_status each_batch(struct ArrowArrayStream *s, run *r, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(s, &batch, err));
    if (!batch.release) return BL_OK;
    atomic_fetch_add(&r->rows, batch.length);
    batch.release(&batch);
  }
}

static size_t pick(const bl_data_group *g, int64_t every, bl_row_range *out) {
  size_t n = 0;
  for (int64_t row = 0; row < g->rows; row += every) out[n++] = (bl_row_range){row, row + 1};
  return n;
}

static bl_status decode_group(task *t, run *r, bl_error *err) {
  const bl_data_meta *m = t->reader->meta;
  int32_t *leaves = calloc(m->n_nodes, sizeof *leaves);
  size_t n_leaves = 0, n_ranges = 0;
  bl_row_range *ranges = NULL;
  struct ArrowArrayStream s;
  if (!leaves) return bl_nomem(err);
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].kind != BL_D_OTHER) leaves[n_leaves++] = m->nodes[i].leaf;
  if (r->every > 0) {
    ranges = calloc((size_t)m->groups[t->group].rows + 1, sizeof *ranges);
    if (ranges) n_ranges = pick(&m->groups[t->group], r->every, ranges);
  }
  bl_status st = t->reader->read(t->reader, t->group, leaves, n_leaves, ranges, n_ranges, 1 << 16, &s, err);
  if (st == BL_OK) {
    st = each_batch(&s, r, err);
    s.release(&s);
  }
  free(leaves);
  free(ranges);
  return st;
}

static void *work(void *arg) {
  run *r = arg;
  for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->n_tasks;) {
    bl_error err = BL_ERROR_INIT;
    if (decode_group(&r->tasks[i], r, &err) == BL_OK) continue;
    fprintf(stderr, "decode: error: %s\n", err.message);
    atomic_store(&r->failed, 1);
  }
  return NULL;
}

static bl_data_reader *open_file(bl_ctx *ctx, const char *path) {
  file_input *f = calloc(1, sizeof *f);
  bl_error err = BL_ERROR_INIT;
  bl_data_reader *reader = NULL;
  struct stat sb;
  if (!f || (f->fd = open(path, O_RDONLY)) < 0 || fstat(f->fd, &sb) != 0) {
    fprintf(stderr, "decode: error: cannot open %s\n", path);
    exit(4);
  }
  f->in.size = sb.st_size;
  f->in.read_at = file_read_at;
  if (bl_format_parquet.open(ctx, &f->in, path, NULL, &reader, &err) != BL_OK) {
    fprintf(stderr, "decode: error: %s\n", err.message);
    exit((int)err.status);
  }
  return reader;
}

static void run_threads(run *r, long threads) {
  pthread_t id[64];
  long n = 0;
  while (n < threads && n < 64 && pthread_create(&id[n], NULL, work, r) == 0) n++;
  if (n == 0) work(r);
  for (long i = 0; i < n; i++) pthread_join(id[i], NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  run r = {0};
  long threads = 1;
  int opt;
  while ((opt = getopt(argc, argv, "t:e:")) != -1) {
    int64_t v = 0;
    if (opt == '?' || !bl_parse_i64(bl_str_of(optarg), &v) || v < 1) {
      fprintf(stderr, "usage: decode [-t THREADS] [-e N] FILE...\n");
      return 2;
    }
    if (opt == 't') threads = (long)v;
    if (opt == 'e') r.every = v;
  }
  bl_ctx *ctx = NULL;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK || bl_arrow_init(NULL) != BL_OK) return 4;
  double begin = now();
  for (int i = optind; i < argc; i++) {
    bl_data_reader *reader = open_file(ctx, argv[i]);
    for (size_t g = 0; g < reader->meta->n_groups; g++) {
      task *more = realloc(r.tasks, (r.n_tasks + 1) * sizeof *more);
      if (!more) return 4;
      r.tasks = more;
      r.tasks[r.n_tasks++] = (task){reader, g};
    }
  }
  run_threads(&r, threads);
  printf("%.3f s, %lld rows of %zu row groups, %ld threads\n", now() - begin, (long long)atomic_load(&r.rows),
         r.n_tasks, threads);
  return atomic_load(&r.failed) ? 3 : 0;
}
