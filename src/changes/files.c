/* files.c: see files.h. */
#include "changes/files.h"

#include <stdlib.h>

void bl_files_init(bl_files *f, bl_ctx *ctx) {
  *f = (bl_files){.ctx = ctx};
}

void bl_files_dispose(bl_files *f) {
  bl_free(f->ctx, f->items);
  bl_free(f->ctx, f->rank);
  *f = (bl_files){.ctx = f->ctx};
}

bl_status bl_files_add(bl_files *f, const bl_manifest_entry *e, uint8_t basis, uint32_t *number, bl_error *err) {
  if (f->n >= BL_NO_FILE) return bl_fail(err, BL_UNSUPPORTED, "changes: more than 4 billion file versions");
  BL_TRY(bl_grow(f->ctx, &f->items, &f->cap, f->n, sizeof *f->items, err));
  *number = (uint32_t)f->n;
  f->items[f->n++] = (bl_version){e, basis};
  return BL_OK;
}

typedef struct named {
  bl_str path;
  uint32_t number;
} named;

static int by_path(const void *a, const void *b) {
  return bl_str_cmp(((const named *)a)->path, ((const named *)b)->path);
}

bl_status bl_files_rank(bl_files *f, bl_error *err) {
  named *names = bl_alloc(f->ctx, f->n + 1, sizeof *names);
  uint32_t *rank = bl_resize(f->ctx, f->rank, f->n + 1, sizeof *rank);
  if (rank) f->rank = rank;
  if (!names || !rank) {
    bl_free(f->ctx, names);
    return bl_nomem(err);
  }
  for (size_t i = 0; i < f->n; i++) names[i] = (named){f->items[i].entry->file.path, (uint32_t)i};
  qsort(names, f->n, sizeof *names, by_path);
  uint32_t r = 0;
  for (size_t i = 0; i < f->n; i++) {
    if (i > 0 && !bl_str_eq(names[i].path, names[i - 1].path)) r++;
    rank[names[i].number] = r;
  }
  bl_free(f->ctx, names);
  return BL_OK;
}
