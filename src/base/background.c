/* background.c: see background.h. All of a bl_background and the private members of its errands are under its lock. */
#include "base/background.h"

#include <unistd.h>

#include "base/pool.h"

struct bl_background {
  bl_ctx *ctx;
  pthread_mutex_t lock;
  pthread_cond_t work; /* for threads: an errand was queued, stop */
  pthread_cond_t done; /* for those who wait: an errand is done */
  bl_errand *first, *last;
  size_t queued, idle; /* errands in the queue; threads that wait for one */
  bool stop;
  size_t most, n;
  pid_t process; /* whose threads they are: a fork leaves them behind */
  pthread_t threads[];
};

bl_status bl_background_new(bl_ctx *ctx, size_t most, bl_background **out, bl_error *err) {
  if (ctx->o.threads < 2) most = 0;
  bl_background *b = *out = bl_calloc(ctx, 1, sizeof *b + most * sizeof *b->threads);
  if (!b) return bl_nomem(err);
  b->ctx = ctx, b->most = most, b->process = getpid();
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->work, NULL);
  pthread_cond_init(&b->done, NULL);
  return BL_OK;
}

/* After a fork its threads are another's, as is who waits at its conditions. */
static bool is_own(const bl_background *b) {
  return b->process == getpid();
}

static void stop(bl_background *b) {
  pthread_mutex_lock(&b->lock);
  b->stop = true;
  pthread_cond_broadcast(&b->work);
  pthread_mutex_unlock(&b->lock);
  for (size_t i = 0; i < b->n; i++) pthread_join(b->threads[i], NULL);
  pthread_cond_destroy(&b->done);
  pthread_cond_destroy(&b->work);
  pthread_mutex_destroy(&b->lock);
}

void bl_background_free(bl_background *b) {
  if (!b) return;
  if (is_own(b)) stop(b);
  bl_free(b->ctx, b);
}

/* ---- under the lock ---- */

static void take(bl_background *b, bl_errand *t) {
  bl_errand *before = NULL;
  for (bl_errand *x = b->first; x != t; x = x->next) before = x;
  if (before) before->next = t->next;
  else b->first = t->next;
  if (b->last == t) b->last = before;
  b->queued--;
}

static void run(bl_background *b, bl_errand *t) {
  t->state = BL_ERRAND_RUNS;
  pthread_mutex_unlock(&b->lock);
  bl_status st = t->run(t->user);
  pthread_mutex_lock(&b->lock);
  t->status = st;
  t->state = BL_ERRAND_DONE;
  pthread_cond_broadcast(&b->done);
}

static void *work(void *arg) {
  bl_background *b = arg;
  pthread_mutex_lock(&b->lock);
  while (!b->stop) {
    bl_errand *t = b->first;
    if (t) {
      take(b, t);
      run(b, t);
      continue;
    }
    b->idle++;
    pthread_cond_wait(&b->work, &b->lock);
    b->idle--;
  }
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

/* Threads that are idle may have been woken for errands that are queued already. */
static void call_thread(bl_background *b) {
  if (b->queued <= b->idle) pthread_cond_signal(&b->work);
  else if (b->n < b->most && bl_thread_start(&b->threads[b->n], work, b)) b->n++;
}

static void wait_for(bl_background *b, bl_errand *t) {
  if (t->state == BL_ERRAND_QUEUED) take(b, t);
  if (t->state < BL_ERRAND_RUNS) run(b, t);
  while (t->state != BL_ERRAND_DONE) pthread_cond_wait(&b->done, &b->lock);
}

/* ---- errands ---- */

void bl_background_begin(bl_background *b, bl_errand *t) {
  if (!b->most || !is_own(b)) return;
  pthread_mutex_lock(&b->lock);
  t->next = NULL;
  t->state = BL_ERRAND_QUEUED;
  if (b->last) b->last->next = t;
  else b->first = t;
  b->last = t;
  b->queued++;
  call_thread(b);
  pthread_mutex_unlock(&b->lock);
}

void bl_background_wait(bl_background *b, bl_errand *t) {
  pthread_mutex_lock(&b->lock);
  if (t->state != BL_ERRAND_NEW) wait_for(b, t);
  pthread_mutex_unlock(&b->lock);
}

bl_status bl_background_end(bl_background *b, bl_errand *t) {
  pthread_mutex_lock(&b->lock);
  wait_for(b, t);
  pthread_mutex_unlock(&b->lock);
  return t->status;
}
