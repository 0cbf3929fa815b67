/* ctx.c: the context, its defaults, and the seams that hang on it: log, progress, clock, random.
 *
 * Invariants
 *  1. A context is never changed after bl_ctx_new, so that threads read it without a lock.
 *  2. The log and progress callbacks run under one lock. It is recursive: a callback may call the library,
 *     which may log again on the same thread. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MOST_DEFAULT_THREADS = 8, MOST_THREADS = 4096, LOG_LINE = 2000 };

/* The only raw allocation of the library: the allocator that a program gets which names none. */
static void *default_resize(void *user, void *p, size_t old_size, size_t n) {
  (void)user;
  (void)old_size;
  if (n == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, n);
}

static int64_t default_now_ms(void *user) {
  (void)user;
  struct timespec t = {0};
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Without a kernel source the bytes are only unlikely to repeat: enough for file names and ids. */
static void weak_random(uint8_t *out, size_t n) {
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  uint64_t x = (uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 30 ^ (uint64_t)getpid() << 48 ^ (uintptr_t)out;
  for (size_t i = 0; i < n; i++) {
    x += 0x9e3779b97f4a7c15u;
    uint64_t z = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    out[i] = (uint8_t)(z >> 40);
  }
}

static void default_random(void *user, void *out, size_t n) {
  (void)user;
  uint8_t *p = out;
  while (n) {
    ssize_t got = getrandom(p, n, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      weak_random(p, n);
      return;
    }
    p += got;
    n -= (size_t)got;
  }
}

static int default_threads(void) {
  cpu_set_t cores;
  int n = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  return n < 1 ? 1 : n > MOST_DEFAULT_THREADS ? MOST_DEFAULT_THREADS : n;
}

static const char *default_temp_dir(void) {
  const char *s = getenv("TMPDIR");
  return s && *s ? s : "/tmp";
}

void bl_ctx_options_init(bl_ctx_options *o) {
  *o = (bl_ctx_options){
      .allocator = {.resize = default_resize},
      .threads = default_threads(),
      .memory_budget = (int64_t)192 << 20,
      .temp_dir = default_temp_dir(),
      .max_metadata_bytes = (int64_t)1 << 30,
      .max_nesting = 200,
      .max_deletion_vector_bytes = (int64_t)256 << 20,
      .now_ms = default_now_ms,
      .random = default_random,
  };
}

/* A callback that the caller left out is the default; numbers are taken at their word. */
static bl_status check_options(bl_ctx_options *o, bl_error *err) {
  if (!o->allocator.resize) o->allocator.resize = default_resize;
  if (!o->now_ms) o->now_ms = default_now_ms;
  if (!o->random) o->random = default_random;
  if (!o->temp_dir || !*o->temp_dir) o->temp_dir = default_temp_dir();
  if (o->threads < 1 || o->threads > MOST_THREADS)
    return bl_fail(err, BL_USAGE, "context: threads: %d is not within 1 to %d", o->threads, MOST_THREADS);
  if (o->memory_budget < 1)
    return bl_fail(err, BL_USAGE, "context: memory_budget: %lld is not positive", (long long)o->memory_budget);
  if (o->max_metadata_bytes < 1)
    return bl_fail(err, BL_USAGE, "context: max_metadata_bytes: %lld is not positive",
                   (long long)o->max_metadata_bytes);
  if (o->max_nesting < 1) return bl_fail(err, BL_USAGE, "context: max_nesting: %d is not positive", o->max_nesting);
  if (o->max_deletion_vector_bytes < 1)
    return bl_fail(err, BL_USAGE, "context: max_deletion_vector_bytes: %lld is not positive",
                   (long long)o->max_deletion_vector_bytes);
  return BL_OK;
}

static void *raw_new(const bl_ctx_options *o, size_t n) {
  return o->allocator.resize(o->allocator.user, NULL, 0, n);
}

static void raw_free(const bl_ctx_options *o, void *p, size_t n) {
  if (p) o->allocator.resize(o->allocator.user, p, n, 0);
}

static bool lock_init(pthread_mutex_t *lock) {
  pthread_mutexattr_t a;
  if (pthread_mutexattr_init(&a) != 0) return false;
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  bool ok = pthread_mutex_init(lock, &a) == 0;
  pthread_mutexattr_destroy(&a);
  return ok;
}

bl_status bl_ctx_new(const bl_ctx_options *given, bl_ctx **out, bl_error *err) {
  bl_ctx_options o;
  *out = NULL;
  if (given) o = *given;
  else bl_ctx_options_init(&o);
  BL_TRY(check_options(&o, err));

  bl_ctx *ctx = raw_new(&o, sizeof *ctx);
  pthread_mutex_t *lock = raw_new(&o, sizeof *lock);
  size_t n = strlen(o.temp_dir) + 1;
  char *temp = raw_new(&o, n);
  if (!ctx || !lock || !temp || !lock_init(lock)) {
    raw_free(&o, temp, n);
    raw_free(&o, lock, sizeof *lock);
    raw_free(&o, ctx, sizeof *ctx);
    return bl_nomem(err);
  }
  memcpy(temp, o.temp_dir, n);
  o.temp_dir = temp;
  *ctx = (bl_ctx){.o = o, .log_lock = lock};
  *out = ctx;
  return BL_OK;
}

void bl_ctx_free(bl_ctx *ctx) {
  if (!ctx) return;
  bl_ctx_options o = ctx->o;
  pthread_mutex_destroy(ctx->log_lock);
  raw_free(&o, (char *)o.temp_dir, strlen(o.temp_dir) + 1);
  raw_free(&o, ctx->log_lock, sizeof(pthread_mutex_t));
  raw_free(&o, ctx, sizeof *ctx);
}

static BL_PRINTF(3, 0) void log_va(bl_ctx *ctx, bl_log_level level, const char *fmt, va_list ap) {
  if (!ctx->o.log) return;
  char line[LOG_LINE];
  if (vsnprintf(line, sizeof line, fmt, ap) < 0) return;
  for (char *s = line; *s; s++)
    if ((unsigned char)*s < 0x20 || *s == 0x7f) *s = ' ';
  pthread_mutex_lock(ctx->log_lock);
  ctx->o.log(ctx->o.user, level, line);
  pthread_mutex_unlock(ctx->log_lock);
}

void bl_warn(bl_ctx *ctx, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  log_va(ctx, BL_LOG_WARNING, fmt, ap);
  va_end(ap);
}

void bl_log(bl_ctx *ctx, bl_log_level level, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  log_va(ctx, level, fmt, ap);
  va_end(ap);
}

bl_status bl_progress(bl_ctx *ctx, const char *what, int64_t done, int64_t total, bl_error *err) {
  if (!ctx->o.progress) return BL_OK;
  pthread_mutex_lock(ctx->log_lock);
  int stop = ctx->o.progress(ctx->o.user, what, done, total);
  pthread_mutex_unlock(ctx->log_lock);
  return stop ? bl_fail(err, BL_CANCELLED, "%s: cancelled", what) : BL_OK;
}

int64_t bl_now_ms(bl_ctx *ctx) {
  return ctx->o.now_ms(ctx->o.user);
}

void bl_sleep_ms(bl_ctx *ctx, int64_t ms) {
  struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  (void)ctx;
  while (ms > 0 && nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

void bl_random(bl_ctx *ctx, void *out, size_t n) {
  if (n) ctx->o.random(ctx->o.user, out, n);
}
