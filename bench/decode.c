/* decode.c: the plain adapter as a peer in the benchmark: data files decoded with some threads to nothing.
 *
 *   decode [-t THREADS] [-e N] FILE…
 *
 * -e N picks every Nth row by position. Prints seconds, rows and row groups. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "rows/stream.h"

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

static bl_status decode_group(const task *t, run *r, bl_error *err) {
  const bl_data_meta *m = t->reader->meta;
  int32_t *leaves = bench_alloc(m->n_nodes, sizeof *leaves);
  size_t n_leaves = 0, n_ranges = 0;
  bl_row_range *ranges = NULL;
  struct ArrowArrayStream s;
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].kind != BL_D_OTHER) leaves[n_leaves++] = m->nodes[i].leaf;
  if (r->every > 0) {
    ranges = bench_alloc((size_t)m->groups[t->group].rows, sizeof *ranges);
    n_ranges = pick(&m->groups[t->group], r->every, ranges);
  }
  BL_TRY(t->reader->read(t->reader, t->group, leaves, n_leaves, ranges, n_ranges, 1 << 16, &s, err));
  bl_status st = each_batch(&s, r, err);
  s.release(&s);
  return st;
}

static void *work(void *arg) {
  run *r = arg;
  for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->n_tasks;) {
    bl_error err = BL_ERROR_INIT;
    bench_check(decode_group(&r->tasks[i], r, &err), &err);
  }
  return NULL;
}

/* All row groups of the files. */
static void list_tasks(run *r, char **files, int n) {
  bl_data_reader **readers = bench_alloc((size_t)n, sizeof *readers);
  size_t total = 0;
  for (int i = 0; i < n; i++) total += (readers[i] = bench_open_parquet(files[i]))->meta->n_groups;
  r->tasks = bench_alloc(total, sizeof *r->tasks);
  for (int i = 0; i < n; i++)
    for (size_t g = 0; g < readers[i]->meta->n_groups; g++) r->tasks[r->n_tasks++] = (task){readers[i], g};
}

int main(int argc, char **argv) {
  static const char usage[] = "decode [-t THREADS] [-e N] FILE...";
  run r = {0};
  long threads = 1;
  int opt;
  while ((opt = getopt(argc, argv, "t:e:")) != -1) {
    long v = bench_number(opt == '?' ? "" : optarg, usage);
    if (opt == 't') threads = v;
    if (opt == 'e') r.every = v;
  }
  bench_ctx("decode");
  double begin = bench_now();
  list_tasks(&r, argv + optind, argc - optind);
  bench_threads(threads, work, &r);
  printf("%.3f s, %lld rows of %zu row groups, %ld threads\n", bench_now() - begin, (long long)atomic_load(&r.rows),
         r.n_tasks, threads);
  return 0;
}
