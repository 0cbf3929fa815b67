/* pool.h: run numbered work items on several threads.
 *
 * bl_parallel: run(user, i) for i in 0..n-1 on up to ctx->o.threads threads (the caller's thread is
 * one of them). The first failing status is returned with its error; remaining items are not begun.
 *
 * bl_ordered: items run on worker threads, each emitting any number of results, and the consumer takes
 * the results in the order of (item, emission) however the workers are scheduled. Memory is bounded:
 * at most `window` items are in flight and each holds at most `depth` results; the first item in line is
 * never starved. */
#ifndef BL_BASE_POOL_H
#define BL_BASE_POOL_H

#include <pthread.h>

#include "base/alloc.h"

/* A thread that takes no signals, those excepted that say "this thread is broken": they are for the program's own
 * threads. false: the system has no more. */
bool bl_thread_start(pthread_t *out, void *(*run)(void *), void *user);

bl_status bl_parallel(bl_ctx *ctx, size_t n, bl_status (*run)(void *user, size_t i, bl_error *err), void *user,
                      bl_error *err) BL_CHECKED;

/* The same on so many threads: for items that wait for something else than a processor. */
bl_status bl_parallel_on(bl_ctx *ctx, size_t threads, size_t n, bl_status (*run)(void *user, size_t i, bl_error *err),
                         void *user, bl_error *err) BL_CHECKED;

typedef struct bl_ordered bl_ordered;
typedef struct bl_ordered_slot bl_ordered_slot;
/* Hand a result over (the consumer owns it); blocks while the slot is full. BL_CANCELLED: the consumer
 * is gone, the result was not taken (the worker frees it and returns the status). */
bl_status bl_ordered_emit(bl_ordered_slot *slot, void *result);
/* run is called on a worker with item i. drop frees a result that nobody took. threads 0 = ctx's.
 * unordered: results come in any order (items may interleave). */
bl_status bl_ordered_new(bl_ctx *ctx, size_t n_items, int threads, size_t window, size_t depth, bool unordered,
                         bl_status (*run)(void *user, size_t i, bl_ordered_slot *slot, bl_error *err),
                         void (*drop)(void *user, void *result), void *user, bl_ordered **out,
                         bl_error *err) BL_CHECKED;
/* *result NULL at the end. After a failure every further call fails the same way. */
bl_status bl_ordered_next(bl_ordered *o, void **result, bl_error *err) BL_CHECKED;
void bl_ordered_free(bl_ordered *o); /* stops and joins the workers */

#endif
