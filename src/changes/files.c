/* files.c: see files.h. */
#include "changes/files.h"

#include "changes/live_files.h"

#include <stdlib.h>

void bl_files_init(bl_files *f, bl_ctx *ctx) {
  *f = (bl_files){.ctx = ctx};
}

void bl_files_dispose(bl_files *f) {
  bl_free(f->ctx, f->items);
  bl_free(f->ctx, f->places);
  bl_imap_free(f->by_hash);
  bl_free(f->ctx, f->rank);
  *f = (bl_files){.ctx = f->ctx};
}

/* The place of e, found or made. */
static bl_status place_of(bl_files *f, const bl_manifest_entry *e, uint32_t *out, bl_error *err) {
  int64_t hash = bl_place_hash(e);
  if (!f->by_hash) BL_TRY(bl_imap_new(f->ctx, &f->by_hash, err));
  BL_TRY(bl_grow(f->ctx, &f->places, &f->cap_places, f->n_places, sizeof *f->places, err));
  size_t *last = bl_imap_put(f->by_hash, hash, 0, NULL);
  if (!last) return bl_nomem(err);
  for (size_t i = *last; i; i = f->places[i - 1].next) {
    *out = (uint32_t)i - 1;
    if (bl_same_place(f->items[f->places[i - 1].version].entry, e)) return BL_OK;
  }
  *out = (uint32_t)f->n_places;
  f->places[f->n_places++] = (bl_file_place){(uint32_t)f->n, (uint32_t)*last, hash};
  *last = f->n_places;
  return BL_OK;
}

void bl_files_cut(bl_files *f, size_t n) {
  f->n = n;
  for (; f->n_places && f->places[f->n_places - 1].version >= n; f->n_places--)
    *bl_imap_get(f->by_hash, f->places[f->n_places - 1].hash) = f->places[f->n_places - 1].next;
}

bl_status bl_files_add(bl_files *f, const bl_manifest_entry *e, uint8_t basis, uint32_t *number, bl_error *err) {
  if (f->n >= BL_NO_FILE) return bl_fail(err, BL_UNSUPPORTED, "changes: more than 4 billion file versions");
  uint32_t place = 0;
  BL_TRY(bl_grow(f->ctx, &f->items, &f->cap, f->n, sizeof *f->items, err));
  BL_TRY(place_of(f, e, &place, err));
  *number = (uint32_t)f->n;
  f->items[f->n++] = (bl_version){e, place, basis};
  return BL_OK;
}

typedef struct named {
  const bl_manifest_entry *entry;
  uint32_t number;
} named;

static int by_path(const void *a, const void *b) {
  return bl_str_cmp(((const named *)a)->entry->file.path, ((const named *)b)->entry->file.path);
}

static bl_status grow_ranks(bl_files *f, bl_error *err) {
  if (f->n <= f->cap_rank && f->rank) return BL_OK;
  size_t cap = f->cap > f->n ? f->cap : f->n + 1;
  uint32_t *rank = bl_resize(f->ctx, f->rank, cap, sizeof *rank);
  if (!rank) return bl_nomem(err);
  f->rank = rank;
  f->cap_rank = cap;
  return BL_OK;
}

bl_status bl_files_rank(bl_files *f, size_t from, bl_error *err) {
  size_t n = f->n > from ? f->n - from : 0;
  BL_TRY(grow_ranks(f, err));
  named *names = bl_alloc(f->ctx, n, sizeof *names);
  if (!names) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) names[i] = (named){f->items[from + i].entry, (uint32_t)(from + i)};
  bl_sort(names, n, sizeof *names, by_path);
  uint32_t r = 0;
  f->path_twice = false;
  for (size_t i = 0; i < n; i++) {
    bool same = i > 0 && bl_str_eq(names[i].entry->file.path, names[i - 1].entry->file.path);
    if (i > 0 && !same) r++;
    if (same && !bl_same_place(names[i].entry, names[i - 1].entry)) f->path_twice = true;
    f->rank[names[i].number] = r;
  }
  bl_free(f->ctx, names);
  return BL_OK;
}
