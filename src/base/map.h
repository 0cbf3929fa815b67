/* map.h: open-addressing hash maps from bytes or int64 to a size_t value. Keys of bl_map are not
 * copied: they must outlive the map. Not thread-safe for writers. */
#ifndef BL_BASE_MAP_H
#define BL_BASE_MAP_H

#include "base/alloc.h"

typedef struct bl_map bl_map;
bl_status bl_map_new(bl_ctx *ctx, bl_map **out, bl_error *err) BL_CHECKED;
void bl_map_free(bl_map *m);
/* Pointer to the value or NULL. It holds until the next put. */
size_t *bl_map_get(const bl_map *m, bl_str key);
/* The value of key, made as `initial` where it is new (*added says; may be NULL). NULL: no memory. */
size_t *bl_map_put(bl_map *m, bl_str key, size_t initial, bool *added);
size_t bl_map_count(const bl_map *m);

typedef struct bl_imap bl_imap;
bl_status bl_imap_new(bl_ctx *ctx, bl_imap **out, bl_error *err) BL_CHECKED;
void bl_imap_free(bl_imap *m);
size_t *bl_imap_get(const bl_imap *m, int64_t key);
size_t *bl_imap_put(bl_imap *m, int64_t key, size_t initial, bool *added);
size_t bl_imap_count(const bl_imap *m);

/* XXH3 of bytes. */
uint64_t bl_hash(const void *p, size_t n);

#endif
