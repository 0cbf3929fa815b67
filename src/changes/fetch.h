/* fetch.h: the values of rows picked by place. Each file is opened once and only the picked positions are decoded where
 * the format can. */
#ifndef BL_CHANGES_FETCH_H
#define BL_CHANGES_FETCH_H

#include "changes/files.h"

typedef struct bl_place {
  uint32_t file;
  int64_t pos;
} bl_place;

/* Batches of the wanted columns that together hold one row for each place, in the order of the places. */
typedef struct bl_fetched {
  bl_ctx *ctx;
  struct ArrowArray *batches;
  size_t n;
  int64_t bytes; /* of their buffers */
} bl_fetched;

/* places: ascending by (file, pos), each once. BL_DAMAGED: a position beyond a file's rows. Runs on the ctx's threads.
 * *over: the values take more than max_bytes: nothing was kept. schema: of wanted. */
bl_status bl_fetch(const bl_reading *env, const bl_files *files, const bl_type *wanted,
                   const struct ArrowSchema *schema, const bl_place *places, size_t n, int64_t max_bytes,
                   bl_fetched *out, bool *over, bl_error *err) BL_CHECKED;
void bl_fetched_dispose(bl_fetched *f);
/* The same with a visitor for each batch instead of keeping them: first = index of the batch's first place. Called from
 * several threads; the batch is taken over. */
typedef bl_status (*bl_fetch_visit)(void *user, struct ArrowArray *batch, size_t first, bl_error *err);
bl_status bl_fetch_each(const bl_reading *env, const bl_files *files, const bl_type *wanted, const bl_place *places,
                        size_t n, bl_fetch_visit visit, void *user, bl_error *err) BL_CHECKED;

#endif
