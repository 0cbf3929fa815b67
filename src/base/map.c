/* map.c: see map.h. Linear probing over a power of two of slots, at most three quarters full, nothing is ever
 * removed. The hash is salted with the map's address: a file cannot be made so that its names collide. */
#include "base/map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 16 };

/* A slot in use has a hash that is not 0. */
typedef struct slot {
  uint64_t hash;
  bl_str key;
  size_t value;
} slot;

struct bl_map {
  bl_ctx *ctx;
  slot *slots;
  size_t n, size;
};

uint64_t bl_hash(const void *p, size_t n) {
  return XXH3_64bits(p, n);
}

bl_status bl_map_new(bl_ctx *ctx, bl_map **out, bl_error *err) {
  bl_map *m = *out = bl_calloc(ctx, 1, sizeof *m);
  if (!m) return bl_nomem(err);
  m->ctx = ctx;
  return BL_OK;
}

void bl_map_free(bl_map *m) {
  if (!m) return;
  bl_free(m->ctx, m->slots);
  bl_free(m->ctx, m);
}

size_t bl_map_count(const bl_map *m) {
  return m->n;
}

static uint64_t key_hash(const bl_map *m, bl_str key) {
  return XXH3_64bits_withSeed(key.p, key.n, (uintptr_t)m) | 1;
}

/* The slot of the key, or the empty one where it would go. */
static slot *find(const bl_map *m, uint64_t hash, bl_str key) {
  for (size_t i = hash >> 1;; i++) {
    slot *s = &m->slots[i & (m->size - 1)];
    if (!s->hash || (s->hash == hash && bl_str_eq(s->key, key))) return s;
  }
}

static bool map_grow(bl_map *m) {
  bl_map bigger = {.ctx = m->ctx, .n = m->n, .size = m->size ? m->size * 2 : FIRST_SLOTS};
  bigger.slots = bl_calloc(m->ctx, bigger.size, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (size_t i = 0; i < m->size; i++)
    if (m->slots[i].hash) *find(&bigger, m->slots[i].hash, m->slots[i].key) = m->slots[i];
  bl_free(m->ctx, m->slots);
  *m = bigger;
  return true;
}

size_t *bl_map_get(const bl_map *m, bl_str key) {
  if (!m->n) return NULL;
  slot *s = find(m, key_hash(m, key), key);
  return s->hash ? &s->value : NULL;
}

size_t *bl_map_put(bl_map *m, bl_str key, size_t initial, bool *added) {
  uint64_t hash = key_hash(m, key);
  slot *s = m->size ? find(m, hash, key) : NULL;
  if (added) *added = false;
  if (s && s->hash) return &s->value;
  if (m->n >= m->size / 4 * 3) {
    if (!map_grow(m)) return NULL;
    s = find(m, hash, key);
  }
  *s = (slot){.hash = hash, .key = key, .value = initial};
  m->n++;
  if (added) *added = true;
  return &s->value;
}

/* ---- int64 keys ---- */

typedef struct islot {
  int64_t key;
  size_t value;
  bool used;
} islot;

struct bl_imap {
  bl_ctx *ctx;
  islot *slots;
  size_t n, size;
};

bl_status bl_imap_new(bl_ctx *ctx, bl_imap **out, bl_error *err) {
  bl_imap *m = *out = bl_calloc(ctx, 1, sizeof *m);
  if (!m) return bl_nomem(err);
  m->ctx = ctx;
  return BL_OK;
}

void bl_imap_free(bl_imap *m) {
  if (!m) return;
  bl_free(m->ctx, m->slots);
  bl_free(m->ctx, m);
}

size_t bl_imap_count(const bl_imap *m) {
  return m->n;
}

static islot *ifind(const bl_imap *m, uint64_t salt, int64_t key) {
  for (size_t i = XXH3_64bits_withSeed(&key, sizeof key, salt);; i++) {
    islot *s = &m->slots[i & (m->size - 1)];
    if (!s->used || s->key == key) return s;
  }
}

static bool imap_grow(bl_imap *m) {
  bl_imap bigger = {.ctx = m->ctx, .n = m->n, .size = m->size ? m->size * 2 : FIRST_SLOTS};
  bigger.slots = bl_calloc(m->ctx, bigger.size, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (size_t i = 0; i < m->size; i++)
    if (m->slots[i].used) *ifind(&bigger, (uintptr_t)m, m->slots[i].key) = m->slots[i];
  bl_free(m->ctx, m->slots);
  *m = bigger;
  return true;
}

size_t *bl_imap_get(const bl_imap *m, int64_t key) {
  if (!m->n) return NULL;
  islot *s = ifind(m, (uintptr_t)m, key);
  return s->used ? &s->value : NULL;
}

size_t *bl_imap_put(bl_imap *m, int64_t key, size_t initial, bool *added) {
  islot *s = m->size ? ifind(m, (uintptr_t)m, key) : NULL;
  if (added) *added = false;
  if (s && s->used) return &s->value;
  if (m->n >= m->size / 4 * 3) {
    if (!imap_grow(m)) return NULL;
    s = ifind(m, (uintptr_t)m, key);
  }
  *s = (islot){.key = key, .value = initial, .used = true};
  m->n++;
  if (added) *added = true;
  return &s->value;
}
