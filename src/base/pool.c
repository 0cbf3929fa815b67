/* pool.c: see pool.h. Threads live as long as the call or the handle that needs them.
 *
 * Invariants of bl_ordered (all under its lock)
 *  1. Items are begun in order. A slot holds one item from its beginning until its last result is taken.
 *  2. The lowest item that is not taken whole is always begun before any other, and it waits only for the consumer,
 *     who waits only for it: nobody waits in a circle.
 *  3. `failed_item` is the lowest item that failed (SIZE_MAX: none). Later items are not begun, and what they emit
 *     is refused; earlier ones go on, since their results come first. Unordered: every item is "later".
 *  4. A result belongs to its worker until emit returns BL_OK, then to the handle, then to the consumer. */
#include "base/pool.h"

#include <assert.h>
#include <signal.h>

bool bl_thread_start(pthread_t *out, void *(*run)(void *), void *user) {
  static const int broken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < BL_LEN(broken); i++) sigdelset(&all, broken[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = pthread_create(out, NULL, run, user) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

/* The failure of a worker, for the caller's err. */
static bl_status report(bl_error *err, bl_status st, const bl_error *failure) {
  if (failure->status == BL_OK) return bl_fail(err, st, "work failed: %s", bl_status_name(st));
  return bl_fail_at(err, st, failure->position, "%s", failure->message);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* ---- bl_parallel ---- */

typedef struct crew {
  pthread_mutex_t lock;
  bl_status (*run)(void *user, size_t i, bl_error *err);
  void *user;
  size_t n, next;
  size_t failed_item; /* the lowest; SIZE_MAX: none */
  bl_status status;
  bl_error failure;
} crew;

/* Items are handed out in order, so that every item before a failed one was begun: the failure that is reported is
 * the one that a single thread would have met. */
static bool crew_take(crew *c, size_t *item) {
  pthread_mutex_lock(&c->lock);
  bool more = c->next < c->n && c->failed_item == SIZE_MAX;
  if (more) *item = c->next++;
  pthread_mutex_unlock(&c->lock);
  return more;
}

static void crew_failed(crew *c, size_t item, bl_status st, const bl_error *e) {
  pthread_mutex_lock(&c->lock);
  if (item < c->failed_item) {
    c->failed_item = item;
    c->status = st;
    c->failure = *e;
  }
  pthread_mutex_unlock(&c->lock);
}

static void *crew_work(void *arg) {
  crew *c = arg;
  size_t item;
  while (crew_take(c, &item)) {
    bl_error e = BL_ERROR_INIT;
    bl_status st = c->run(c->user, item, &e);
    if (st != BL_OK) crew_failed(c, item, st, &e);
  }
  return NULL;
}

bl_status bl_parallel(bl_ctx *ctx, size_t n, bl_status (*run)(void *user, size_t i, bl_error *err), void *user,
                      bl_error *err) {
  return bl_parallel_on(ctx, (size_t)ctx->o.threads, n, run, user, err);
}

bl_status bl_parallel_on(bl_ctx *ctx, size_t most, size_t n, bl_status (*run)(void *user, size_t i, bl_error *err),
                         void *user, bl_error *err) {
  size_t helpers = n ? least(most, n) - 1 : 0, started = 0;
  pthread_t *threads = bl_alloc(ctx, helpers, sizeof *threads);
  if (!threads) return bl_nomem(err);
  crew c = {.run = run, .user = user, .n = n, .failed_item = SIZE_MAX, .failure = BL_ERROR_INIT};
  pthread_mutex_init(&c.lock, NULL);
  /* A thread that does not start is not missed: the others do its work. */
  while (started < helpers && bl_thread_start(&threads[started], crew_work, &c)) started++;
  crew_work(&c);
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&c.lock);
  bl_free(ctx, threads);
  return c.status == BL_OK ? BL_OK : report(err, c.status, &c.failure);
}

/* ---- bl_ordered ---- */

struct bl_ordered_slot {
  bl_ordered *owner;
  size_t item; /* SIZE_MAX: free */
  bool finished;
  void **results; /* a ring of depth */
  size_t first, n;
};

struct bl_ordered {
  bl_ctx *ctx;
  bl_status (*run)(void *user, size_t i, bl_ordered_slot *slot, bl_error *err);
  void (*drop)(void *user, void *result);
  void *user;
  bool unordered;
  size_t n_items, window, depth;

  pthread_mutex_t lock;
  pthread_cond_t ready; /* for the consumer: a result came, an item ended */
  pthread_cond_t room;  /* for workers: a result was taken, a slot is free, stop */
  size_t next;          /* the next item to begin */
  size_t head;          /* ordered: the item that the consumer takes from */
  size_t ended;         /* items that are taken whole */
  bool gone;            /* the consumer is */
  size_t failed_item;
  bl_status status;
  bl_error failure;

  bl_ordered_slot *slots;
  void **rings;
  pthread_t *threads;
  size_t n_threads;
};

/* Nobody will take results of this item any more. */
static bool refused(const bl_ordered *o, size_t item) {
  return o->gone || (o->unordered ? o->failed_item != SIZE_MAX : item > o->failed_item);
}

bl_status bl_ordered_emit(bl_ordered_slot *s, void *result) {
  assert(result);
  bl_ordered *o = s->owner;
  pthread_mutex_lock(&o->lock);
  while (s->n == o->depth && !refused(o, s->item)) pthread_cond_wait(&o->room, &o->lock);
  bool no = refused(o, s->item);
  if (!no) {
    s->results[(s->first + s->n++) % o->depth] = result;
    pthread_cond_signal(&o->ready);
  }
  pthread_mutex_unlock(&o->lock);
  return no ? BL_CANCELLED : BL_OK;
}

static bl_ordered_slot *free_slot(bl_ordered *o) {
  if (!o->unordered) {
    bl_ordered_slot *s = &o->slots[o->next % o->window];
    return s->item == SIZE_MAX ? s : NULL;
  }
  for (size_t i = 0; i < o->window; i++)
    if (o->slots[i].item == SIZE_MAX) return &o->slots[i];
  return NULL;
}

/* A slot that holds the next item, or NULL when there is none to begin. */
static bl_ordered_slot *begin_item(bl_ordered *o) {
  bl_ordered_slot *s = NULL;
  pthread_mutex_lock(&o->lock);
  for (;;) {
    if (o->next >= o->n_items || refused(o, o->next)) break;
    s = free_slot(o);
    if (s) {
      s->item = o->next++;
      break;
    }
    pthread_cond_wait(&o->room, &o->lock);
  }
  pthread_mutex_unlock(&o->lock);
  return s;
}

static void end_item(bl_ordered *o, bl_ordered_slot *s, bl_status st, const bl_error *e) {
  pthread_mutex_lock(&o->lock);
  s->finished = true;
  if (st != BL_OK && !refused(o, s->item) && s->item < o->failed_item) {
    o->failed_item = s->item;
    o->status = st;
    o->failure = *e;
    pthread_cond_broadcast(&o->room);
  }
  pthread_cond_signal(&o->ready);
  pthread_mutex_unlock(&o->lock);
}

static void *ordered_work(void *arg) {
  bl_ordered *o = arg;
  bl_ordered_slot *s;
  while ((s = begin_item(o))) {
    bl_error e = BL_ERROR_INIT;
    bl_status st = o->run(o->user, s->item, s, &e);
    end_item(o, s, st, &e);
  }
  return NULL;
}

static void *take_result(bl_ordered *o, bl_ordered_slot *s) {
  void *result = s->results[s->first];
  s->first = (s->first + 1) % o->depth;
  s->n--;
  pthread_cond_broadcast(&o->room);
  return result;
}

static void release_slot(bl_ordered *o, bl_ordered_slot *s) {
  s->item = SIZE_MAX;
  s->finished = false;
  s->first = s->n = 0;
  o->head++;
  o->ended++;
  pthread_cond_broadcast(&o->room);
}

/* A slot with something for the consumer: a result, or its end. */
static bl_ordered_slot *ready_slot(bl_ordered *o) {
  if (!o->unordered) {
    bl_ordered_slot *s = &o->slots[o->head % o->window];
    return s->item == o->head && (s->n || s->finished) ? s : NULL;
  }
  for (size_t i = 0; i < o->window; i++)
    if (o->slots[i].item != SIZE_MAX && (o->slots[i].n || o->slots[i].finished)) return &o->slots[i];
  return NULL;
}

/* One step of the consumer; true when it has an answer. */
static bool next_step(bl_ordered *o, void **result) {
  if (o->ended == o->n_items || (o->unordered && o->failed_item != SIZE_MAX)) return true;
  bl_ordered_slot *s = ready_slot(o);
  if (!s) {
    pthread_cond_wait(&o->ready, &o->lock);
    return false;
  }
  if (s->n) {
    *result = take_result(o, s);
    return true;
  }
  if (s->item == o->failed_item) return true;
  release_slot(o, s);
  return false;
}

bl_status bl_ordered_next(bl_ordered *o, void **result, bl_error *err) {
  *result = NULL;
  pthread_mutex_lock(&o->lock);
  while (!next_step(o, result)) {
  }
  bool failed = !*result && o->ended < o->n_items;
  pthread_mutex_unlock(&o->lock);
  return failed ? report(err, o->status, &o->failure) : BL_OK;
}

static void stop(bl_ordered *o) {
  pthread_mutex_lock(&o->lock);
  o->gone = true;
  pthread_cond_broadcast(&o->room);
  pthread_mutex_unlock(&o->lock);
  for (size_t i = 0; i < o->n_threads; i++) pthread_join(o->threads[i], NULL);
}

static void free_memory(bl_ordered *o) {
  bl_free(o->ctx, o->slots);
  bl_free(o->ctx, o->rings);
  bl_free(o->ctx, o->threads);
  bl_free(o->ctx, o);
}

void bl_ordered_free(bl_ordered *o) {
  if (!o) return;
  stop(o);
  for (size_t i = 0; i < o->window; i++)
    for (bl_ordered_slot *s = &o->slots[i]; s->n;) {
      void *result = take_result(o, s);
      if (o->drop) o->drop(o->user, result);
    }
  pthread_cond_destroy(&o->room);
  pthread_cond_destroy(&o->ready);
  pthread_mutex_destroy(&o->lock);
  free_memory(o);
}

static bl_status allocate(bl_ordered *o, size_t threads, bl_error *err) {
  o->slots = bl_calloc(o->ctx, o->window, sizeof *o->slots);
  o->threads = bl_alloc(o->ctx, threads, sizeof *o->threads);
  size_t all;
  if (!__builtin_mul_overflow(o->window, o->depth, &all)) o->rings = bl_alloc(o->ctx, all, sizeof *o->rings);
  if (!o->slots || !o->threads || !o->rings) return bl_nomem(err);
  for (size_t i = 0; i < o->window; i++)
    o->slots[i] = (bl_ordered_slot){.owner = o, .item = SIZE_MAX, .results = o->rings + i * o->depth};
  return BL_OK;
}

bl_status bl_ordered_new(bl_ctx *ctx, size_t n_items, int threads, size_t window, size_t depth, bool unordered,
                         bl_status (*run)(void *user, size_t i, bl_ordered_slot *slot, bl_error *err),
                         void (*drop)(void *user, void *result), void *user, bl_ordered **out, bl_error *err) {
  bl_ordered *o = bl_alloc(ctx, 1, sizeof *o);
  *out = NULL;
  if (!o) return bl_nomem(err);
  *o = (bl_ordered){.ctx = ctx,
                    .run = run,
                    .drop = drop,
                    .user = user,
                    .unordered = unordered,
                    .n_items = n_items,
                    .window = least(window ? window : 1, n_items ? n_items : 1),
                    .depth = depth ? depth : 1,
                    .failed_item = SIZE_MAX,
                    .failure = BL_ERROR_INIT};
  size_t workers = least((size_t)(threads > 0 ? threads : ctx->o.threads), least(o->window, n_items));
  bl_status st = allocate(o, workers, err);
  if (st != BL_OK) {
    free_memory(o);
    return st;
  }
  pthread_mutex_init(&o->lock, NULL);
  pthread_cond_init(&o->ready, NULL);
  pthread_cond_init(&o->room, NULL);
  while (o->n_threads < workers && bl_thread_start(&o->threads[o->n_threads], ordered_work, o)) o->n_threads++;
  if (workers && !o->n_threads) {
    bl_ordered_free(o);
    return bl_fail(err, BL_IO, "thread: cannot be started: the system has no more");
  }
  *out = o;
  return BL_OK;
}
