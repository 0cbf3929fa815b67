/* manifest_cache.h: manifest lists and opened manifests that the diffs of one table share.
 *
 * 1. A manifest is known by its path and first_row_id: after an upgrade one path may stand for two ranges of ids.
 * 2. What is busy (in use by the diff at hand) or pinned stays. Of the rest the least recently used goes where it is
 *    more than the limit.
 * 3. An opened manifest never moves and never changes, but for the marks that its user keeps on it. */
#ifndef BL_CHANGES_MANIFEST_CACHE_H
#define BL_CHANGES_MANIFEST_CACHE_H

#include "table/manifests.h"

typedef struct bl_opened bl_opened;
struct bl_opened {
  bl_str path;
  int64_t first_row_id; /* of the manifest */
  bool metrics;
  bl_manifest_entry *entries; /* DELETED ones included */
  size_t n;
  /* marks of the user */
  bool busy, pinned;
  size_t n_used;
  const bl_manifest_entry **given; /* one an entry; made by bl_manifest_cache_marks */
  /* private */
  bl_arena *arena;
  bl_opened *chain;         /* of the same bucket */
  bl_opened *newer, *older; /* by last use */
  bool stale;               /* one with metrics took its place */
  bool chosen;              /* to be read by the call at hand */
};

typedef struct bl_open_request {
  const bl_manifest_file *m;
  bl_opened *out;
} bl_open_request;

typedef struct bl_manifest_cache bl_manifest_cache;
/* limit: bytes of opened manifests that are neither busy nor pinned. */
bl_status bl_manifest_cache_new(bl_table *t, int64_t limit, bl_manifest_cache **out, bl_error *err) BL_CHECKED;
void bl_manifest_cache_free(bl_manifest_cache *c); /* NULL allowed */

/* The list of a snapshot (NULL: empty). It holds until three further ones were asked for. */
bl_status bl_manifest_cache_list(bl_manifest_cache *c, const bl_snapshot *s, const bl_manifest_file **out, size_t *n,
                                 bl_error *err) BL_CHECKED;
/* Opens what is not there yet, on the ctx's threads; all are busy then. metrics: with them. */
bl_status bl_manifest_cache_open(bl_manifest_cache *c, bl_open_request *requests, size_t n, bool metrics,
                                 bl_error *err) BL_CHECKED;
/* Drops what is idle and beyond the limit. */
void bl_manifest_cache_trim(bl_manifest_cache *c);
/* The end of a diff: nothing is busy any more. */
void bl_manifest_cache_rest(bl_manifest_cache *c);
/* Room for what stands for each entry in diffs, all NULL at first. */
bl_status bl_manifest_cache_marks(bl_manifest_cache *c, bl_opened *o, bl_error *err) BL_CHECKED;
int64_t bl_manifest_cache_bytes(const bl_manifest_cache *c); /* of all opened ones */

/* The busy ones, to be found by the address of an entry. */
typedef struct bl_opened_index {
  bl_opened **items; /* by address of their entries; bl_free */
  size_t n;
} bl_opened_index;
bl_status bl_manifest_cache_index(bl_manifest_cache *c, bl_opened_index *out, bl_error *err) BL_CHECKED;
bl_opened *bl_opened_of(const bl_opened_index *x, const bl_manifest_entry *e);

#endif
