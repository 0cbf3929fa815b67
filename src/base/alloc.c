/* alloc.c: blocks and arenas over the context's allocator.
 *
 * Invariants
 *  1. A block is preceded by a head of 16 bytes that holds its size, so that freeing needs only the pointer and
 *     the allocator is told the old size.
 *  2. No size reaches the allocator that was not multiplied and added with checks. */
#include "base/alloc.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>

typedef struct head {
  alignas(16) size_t size; /* of the block after the head */
} head;
static_assert(sizeof(head) == 16, "blocks stay aligned as by malloc");

/* n * size + extra within what a pointer difference holds. */
static bool block_size(size_t n, size_t size, size_t extra, size_t *out) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, extra, &bytes)) return false;
  *out = bytes;
  return bytes <= (size_t)PTRDIFF_MAX;
}

static void *resize(bl_ctx *ctx, head *old, size_t n, size_t size) {
  size_t total;
  if (!block_size(n, size, sizeof(head), &total)) return NULL;
  size_t before = old ? old->size + sizeof(head) : 0;
  head *h = ctx->o.allocator.resize(ctx->o.allocator.user, old, before, total);
  if (!h) return NULL;
  h->size = total - sizeof(head);
  return h + 1;
}

void *bl_alloc(bl_ctx *ctx, size_t n, size_t size) {
  return resize(ctx, NULL, n, size);
}

void *bl_calloc(bl_ctx *ctx, size_t n, size_t size) {
  void *p = resize(ctx, NULL, n, size);
  if (p) memset(p, 0, n * size);
  return p;
}

void *bl_resize(bl_ctx *ctx, void *p, size_t n, size_t size) {
  return resize(ctx, p ? (head *)p - 1 : NULL, n, size);
}

void bl_free(bl_ctx *ctx, void *p) {
  if (!p) return;
  head *h = (head *)p - 1;
  ctx->o.allocator.resize(ctx->o.allocator.user, h, h->size + sizeof(head), 0);
}

char *bl_strdup(bl_ctx *ctx, const char *s) {
  size_t n = strlen(s) + 1;
  char *p = bl_alloc(ctx, n, 1);
  if (p) memcpy(p, s, n);
  return p;
}

/* The length of the text, or false where it cannot be formatted. */
static BL_PRINTF(1, 0) bool printed_size(const char *fmt, va_list ap, size_t *n) {
  va_list copy;
  va_copy(copy, ap);
  int len = vsnprintf(NULL, 0, fmt, copy);
  va_end(copy);
  *n = len < 0 ? 0 : (size_t)len;
  return len >= 0;
}

char *bl_asprintf(bl_ctx *ctx, const char *fmt, ...) {
  va_list ap;
  size_t n;
  va_start(ap, fmt);
  char *p = printed_size(fmt, ap, &n) ? bl_alloc(ctx, n + 1, 1) : NULL;
  if (p) vsnprintf(p, n + 1, fmt, ap);
  va_end(ap);
  return p;
}

bl_status bl_grow_(bl_ctx *ctx, void **items, size_t *cap, size_t n, size_t size, bl_error *err) {
  if (n < *cap) return BL_OK;
  size_t more = *cap < 8 ? 8 : *cap + *cap / 2;
  if (more < *cap) return bl_nomem(err);
  void *p = bl_resize(ctx, *items, more, size);
  if (!p) return bl_nomem(err);
  *items = p;
  *cap = more;
  return BL_OK;
}

/* ---- arenas ---- */

enum { ARENA_FIRST = 4096, ARENA_MOST = 1 << 20 };

typedef struct chunk {
  alignas(16) struct chunk *next;
} chunk;

struct bl_arena {
  bl_ctx *ctx;
  chunk *chunks; /* all of them; the order means nothing */
  char *free_at; /* the room left in the current chunk */
  size_t free_n; /* a multiple of 16 */
  size_t next;   /* bytes of the next chunk */
  size_t all;    /* bytes taken from the context */
};

bl_status bl_arena_new(bl_ctx *ctx, bl_arena **out, bl_error *err) {
  bl_arena *a = *out = bl_alloc(ctx, 1, sizeof *a);
  if (!a) return bl_nomem(err);
  *a = (bl_arena){.ctx = ctx, .next = ARENA_FIRST};
  return BL_OK;
}

void bl_arena_free(bl_arena *a) {
  if (!a) return;
  for (chunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    bl_free(a->ctx, c);
  }
  bl_free(a->ctx, a);
}

bl_ctx *bl_arena_ctx(bl_arena *a) {
  return a->ctx;
}

size_t bl_arena_bytes(const bl_arena *a) {
  return a->all;
}

static char *new_chunk(bl_arena *a, size_t room) {
  chunk *c = bl_alloc(a->ctx, 1, sizeof *c + room);
  if (!c) return NULL;
  c->next = a->chunks;
  a->chunks = c;
  a->all += sizeof *c + room;
  return (char *)(c + 1);
}

void *bl_arena_alloc(bl_arena *a, size_t n, size_t size) {
  size_t bytes;
  if (!block_size(n, size, 15 + sizeof(chunk), &bytes)) return NULL;
  bytes = (bytes - sizeof(chunk)) & ~(size_t)15;
  if (bytes == 0) bytes = 16; /* distinct blocks have distinct addresses */
  if (bytes > a->free_n) {
    if (bytes > a->next / 4) return new_chunk(a, bytes); /* a big one has its own; the current one goes on */
    char *p = new_chunk(a, a->next);
    if (!p) return NULL;
    a->free_at = p;
    a->free_n = a->next;
    if (a->next < ARENA_MOST) a->next *= 2;
  }
  void *p = a->free_at;
  a->free_at += bytes;
  a->free_n -= bytes;
  return p;
}

void *bl_arena_calloc(bl_arena *a, size_t n, size_t size) {
  void *p = bl_arena_alloc(a, n, size);
  if (p) memset(p, 0, n * size);
  return p;
}

bl_str bl_arena_str(bl_arena *a, bl_str s) {
  if (s.n == SIZE_MAX) return BL_STR_NONE;
  char *p = bl_arena_alloc(a, s.n + 1, 1);
  if (!p) return BL_STR_NONE;
  if (s.n) memcpy(p, s.p, s.n);
  p[s.n] = 0;
  return (bl_str){p, s.n};
}

bl_str bl_arena_printf(bl_arena *a, const char *fmt, ...) {
  va_list ap;
  size_t n;
  va_start(ap, fmt);
  char *p = printed_size(fmt, ap, &n) ? bl_arena_alloc(a, n + 1, 1) : NULL;
  if (p) vsnprintf(p, n + 1, fmt, ap);
  va_end(ap);
  return p ? (bl_str){p, n} : BL_STR_NONE;
}
