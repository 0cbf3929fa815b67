/* manifest_cache.c: see manifest_cache.h. A hash table of fixed size with the manifests of a bucket chained, and one
 * list of all by last use. */
#include "changes/manifest_cache.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/pool.h"

enum { LISTS = 4, BUCKETS = 4096 };

typedef struct cached_list {
  const bl_snapshot *of;
  bl_arena *arena;
  bl_manifest_file *items;
  size_t n;
  uint64_t last_use; /* 0 = free */
} cached_list;

struct bl_manifest_cache {
  bl_table *t;
  bl_ctx *ctx;
  int64_t limit;
  cached_list lists[LISTS];
  uint64_t list_uses;
  bl_opened **buckets;
  bl_opened *newest, *oldest;
  size_t n;
};

/* ---- life ---- */

bl_status bl_manifest_cache_new(bl_table *t, int64_t limit, bl_manifest_cache **out, bl_error *err) {
  *out = NULL;
  bl_manifest_cache *c = bl_calloc(t->ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  *c = (bl_manifest_cache){.t = t, .ctx = t->ctx, .limit = limit};
  c->buckets = bl_calloc(t->ctx, BUCKETS, sizeof(bl_opened *));
  if (!c->buckets) {
    bl_manifest_cache_free(c);
    return bl_nomem(err);
  }
  *out = c;
  return BL_OK;
}

static void free_opened(bl_manifest_cache *c, bl_opened *o) {
  bl_arena_free(o->arena);
  bl_free(c->ctx, o->given);
  bl_free(c->ctx, o);
}

void bl_manifest_cache_free(bl_manifest_cache *c) {
  if (!c) return;
  for (bl_opened *o = c->oldest, *next; o; o = next) {
    next = o->newer;
    free_opened(c, o);
  }
  for (size_t i = 0; i < LISTS; i++) bl_arena_free(c->lists[i].arena);
  bl_free(c->ctx, c->buckets);
  bl_free(c->ctx, c);
}

/* ---- lists ---- */

static bl_status read_list(bl_manifest_cache *c, const bl_snapshot *s, cached_list *l, bl_error *err) {
  BL_TRY(bl_arena_new(c->ctx, &l->arena, err));
  bl_status st = bl_table_manifests(c->t, s, l->arena, &l->items, &l->n, err);
  if (st != BL_OK) {
    bl_arena_free(l->arena);
    *l = (cached_list){0};
    return st;
  }
  l->of = s;
  return BL_OK;
}

/* Where the list of s is, or the one that was not used for longest. */
static cached_list *list_of(bl_manifest_cache *c, const bl_snapshot *s) {
  cached_list *oldest = &c->lists[0];
  for (size_t i = 0; i < LISTS; i++) {
    if (c->lists[i].of == s) return &c->lists[i];
    if (c->lists[i].last_use < oldest->last_use) oldest = &c->lists[i];
  }
  return oldest;
}

bl_status bl_manifest_cache_list(bl_manifest_cache *c, const bl_snapshot *s, const bl_manifest_file **out, size_t *n,
                                 bl_error *err) {
  *out = NULL;
  *n = 0;
  if (!s) return BL_OK;
  cached_list *l = list_of(c, s);
  if (l->of != s) {
    bl_arena_free(l->arena);
    *l = (cached_list){0};
    BL_TRY(read_list(c, s, l, err));
  }
  l->last_use = ++c->list_uses;
  *out = l->items;
  *n = l->n;
  return BL_OK;
}

/* ---- links ---- */

static bl_opened **bucket_of(const bl_manifest_cache *c, bl_str path) {
  return &c->buckets[bl_hash(path.p, path.n) % BUCKETS];
}

static void unlink_use(bl_manifest_cache *c, bl_opened *o) {
  *(o->newer ? &o->newer->older : &c->newest) = o->older;
  *(o->older ? &o->older->newer : &c->oldest) = o->newer;
}

static void link_use(bl_manifest_cache *c, bl_opened *o) {
  o->newer = NULL;
  o->older = c->newest;
  *(c->newest ? &c->newest->newer : &c->oldest) = o;
  c->newest = o;
}

static bl_opened *find(const bl_manifest_cache *c, const bl_manifest_file *m) {
  for (bl_opened *o = *bucket_of(c, m->path); o; o = o->chain)
    if (!o->stale && o->first_row_id == m->first_row_id && bl_str_eq(o->path, m->path)) return o;
  return NULL;
}

static void forget(bl_manifest_cache *c, bl_opened *o) {
  bl_opened **at = bucket_of(c, o->path);
  while (*at != o) at = &(*at)->chain;
  *at = o->chain;
  unlink_use(c, o);
  free_opened(c, o);
  c->n--;
}

/* ---- opening ---- */

/* A new one, not read yet. */
static bl_status add(bl_manifest_cache *c, const bl_manifest_file *m, bool metrics, bl_opened **out, bl_error *err) {
  bl_opened *o = bl_calloc(c->ctx, 1, sizeof *o);
  if (!o) return bl_nomem(err);
  *o = (bl_opened){.first_row_id = m->first_row_id, .metrics = metrics};
  bl_status st = bl_arena_new(c->ctx, &o->arena, err);
  if (st == BL_OK && !(o->path = bl_arena_str(o->arena, m->path)).p) st = bl_nomem(err);
  if (st != BL_OK) {
    free_opened(c, o);
    return st;
  }
  bl_opened **bucket = bucket_of(c, o->path);
  o->chain = *bucket;
  *bucket = *out = o;
  link_use(c, o);
  c->n++;
  return BL_OK;
}

static bl_status want(bl_manifest_cache *c, bl_open_request *r, bool metrics, bl_error *err) {
  bl_opened *o = find(c, r->m);
  if (o && metrics && !o->metrics) {
    o->stale = true; /* whoever uses it goes on with it */
    o = NULL;
  }
  if (!o) BL_TRY(add(c, r->m, metrics, &o, err));
  unlink_use(c, o);
  link_use(c, o);
  o->busy = true;
  r->out = o;
  return BL_OK;
}

typedef struct opening {
  bl_manifest_cache *c;
  bl_open_request *unread; /* each manifest once */
} opening;

static bl_status read_one(void *user, size_t i, bl_error *err) {
  opening *w = user;
  bl_opened *o = w->unread[i].out;
  return bl_table_manifest_entries(w->c->t, w->unread[i].m, o->metrics, o->arena, &o->entries, &o->n, err);
}

/* The requests that have to be read; of one manifest that is asked for twice only the first. */
static size_t choose_unread(const bl_open_request *requests, size_t n, bl_open_request *unread) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    bl_opened *o = requests[i].out;
    if (o->entries || o->chosen) continue;
    o->chosen = true;
    unread[k++] = requests[i];
  }
  return k;
}

static void forget_unread(bl_manifest_cache *c) {
  for (bl_opened *o = c->oldest, *next; o; o = next) {
    next = o->newer;
    if (!o->entries) forget(c, o);
  }
}

bl_status bl_manifest_cache_open(bl_manifest_cache *c, bl_open_request *requests, size_t n, bool metrics,
                                 bl_error *err) {
  opening w = {.c = c};
  bl_status st = BL_OK;
  if (n == 0) return BL_OK;
  for (size_t i = 0; i < n; i++) BL_GO(want(c, &requests[i], metrics, err));
  w.unread = bl_alloc(c->ctx, n, sizeof *w.unread);
  if (!w.unread) BL_GO(bl_nomem(err));
  size_t k = choose_unread(requests, n, w.unread);
  BL_GO(bl_parallel(c->ctx, k, read_one, &w, err));
done:
  if (st != BL_OK) forget_unread(c);
  bl_free(c->ctx, w.unread);
  return st;
}

/* ---- giving up ---- */

static bool is_idle(const bl_opened *o) {
  return !o->busy && !o->pinned;
}

static int64_t bytes_of(const bl_opened *o) {
  return (int64_t)(sizeof *o + bl_arena_bytes(o->arena) + (o->given ? o->n * sizeof *o->given : 0));
}

void bl_manifest_cache_trim(bl_manifest_cache *c) {
  int64_t idle = 0;
  for (const bl_opened *o = c->oldest; o; o = o->newer)
    if (is_idle(o)) idle += bytes_of(o);
  for (bl_opened *o = c->oldest, *next; o; o = next) {
    next = o->newer;
    if (!is_idle(o) || (idle <= c->limit && !o->stale)) continue;
    idle -= bytes_of(o);
    forget(c, o);
  }
}

void bl_manifest_cache_rest(bl_manifest_cache *c) {
  for (bl_opened *o = c->oldest; o; o = o->newer) o->busy = false;
  bl_manifest_cache_trim(c);
}

int64_t bl_manifest_cache_bytes(const bl_manifest_cache *c) {
  int64_t sum = 0;
  for (const bl_opened *o = c->oldest; o; o = o->newer) sum += bytes_of(o);
  return sum;
}

/* ---- marks ---- */

bl_status bl_manifest_cache_marks(bl_manifest_cache *c, bl_opened *o, bl_error *err) {
  if (o->given) return BL_OK;
  o->given = bl_calloc(c->ctx, o->n, sizeof *o->given);
  return o->given ? BL_OK : bl_nomem(err);
}

static int by_address(const void *a, const void *b) {
  const bl_opened *x = *(bl_opened *const *)a, *y = *(bl_opened *const *)b;
  return ((uintptr_t)x->entries > (uintptr_t)y->entries) - ((uintptr_t)x->entries < (uintptr_t)y->entries);
}

bl_status bl_manifest_cache_index(bl_manifest_cache *c, bl_opened_index *out, bl_error *err) {
  *out = (bl_opened_index){.items = bl_alloc(c->ctx, c->n, sizeof(bl_opened *))};
  if (!out->items) return bl_nomem(err);
  for (bl_opened *o = c->oldest; o; o = o->newer)
    if (o->busy && o->n) out->items[out->n++] = o;
  bl_sort(out->items, out->n, sizeof *out->items, by_address);
  return BL_OK;
}

bl_opened *bl_opened_of(const bl_opened_index *x, const bl_manifest_entry *e) {
  size_t lo = 0, hi = x->n; /* the last one that begins at or before e */
  while (hi - lo > 1) {
    size_t mid = lo + (hi - lo) / 2;
    if ((uintptr_t)x->items[mid]->entries <= (uintptr_t)e) lo = mid;
    else hi = mid;
  }
  return x->n ? x->items[lo] : NULL;
}
