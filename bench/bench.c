/* bench.c: see bench.h. */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "edge/io_local.h"

static bl_ctx *ctx;
static bl_io *io;
static const char *name;

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_check(bl_status st, const bl_error *err) {
  if (st == BL_OK) return;
  fprintf(stderr, "%s: error: %s\n", name, err->message);
  exit((int)st);
}

bl_ctx *bench_ctx(const char *program) {
  bl_error err = BL_ERROR_INIT;
  name = program;
  bench_check(bl_ctx_new(NULL, &ctx, &err), &err);
  bench_check(bl_arrow_init(&err), &err);
  bench_check(bl_io_local_new(ctx, &io, &err), &err);
  return ctx;
}

bl_io *bench_io(void) {
  return io;
}

long bench_number(const char *text, const char *usage) {
  int64_t v;
  if (bl_parse_i64(bl_str_of(text), &v) && v >= 1 && v <= INT32_MAX) return (long)v;
  fprintf(stderr, "usage: %s\n", usage);
  exit(2);
}

void *bench_alloc(size_t n, size_t size) {
  void *p = bl_calloc(ctx, n + 1, size);
  if (p) return p;
  fprintf(stderr, "%s: error: out of memory\n", name);
  exit(4);
}

bl_data_reader *bench_open_parquet(const char *path) {
  bl_error err = BL_ERROR_INIT;
  bl_input *in;
  bl_data_reader *reader;
  bench_check(io->open_input(io, path, &in, &err), &err);
  bench_check(bl_format_parquet.open(ctx, in, path, NULL, &reader, &err), &err);
  return reader;
}

void bench_threads(long threads, void *(*work)(void *), void *arg) {
  pthread_t id[64];
  long n = 0;
  while (n < threads && n < 64 && pthread_create(&id[n], NULL, work, arg) == 0) n++;
  if (n == 0) work(arg);
  for (long i = 0; i < n; i++) pthread_join(id[i], NULL);
}
