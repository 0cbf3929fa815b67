/* bench.h: what the small programs of the benchmark share. They work on the library's inner interfaces; any failure
 * ends the program. */
#ifndef BENCH_H
#define BENCH_H

#include "base/alloc.h"
#include "base/text.h"
#include "bergline/sys/io.h"
#include "edge/arrow/arrow_edge.h"

double bench_now(void); /* seconds */
/* The context and the local files of the program; Arrow is initialised. */
bl_ctx *bench_ctx(const char *program);
bl_io *bench_io(void);
/* Ends the program with the error where st is one. */
void bench_check(bl_status st, const bl_error *err);
/* A number of at least 1, else the program ends with this usage. */
long bench_number(const char *text, const char *usage);
bl_data_reader *bench_open_parquet(const char *path);
void *bench_alloc(size_t n, size_t size);
/* Runs it on so many threads, and waits. */
void bench_threads(long threads, void *(*work)(void *), void *arg);

#endif
