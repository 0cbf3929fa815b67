/* emit_private.h: the emitter's state, and its parts in special.c. */
#ifndef BL_CHANGES_EMIT_PRIVATE_H
#define BL_CHANGES_EMIT_PRIVATE_H

#include "base/pool.h"
#include "changes/chunk.h"
#include "changes/emit.h"
#include "rows/key.h"

/* Where a slice begins: event and step in it, image. */
typedef struct bl_slice_start {
  size_t event;
  uint32_t step;
  int64_t image, n;
} bl_slice_start;

/* What the columns say of a snapshot; p NULL: null. */
typedef struct bl_commit {
  const bl_snapshot *snapshot;
  bl_str operation, engine;
} bl_commit;

struct bl_emitter {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_feed *feed;
  bl_emit_options o;
  bool compare;
  bl_columns fetch, filter;
  bl_predicate *predicate;
  struct ArrowSchema fetch_schema, schema;
  struct ArrowSchema special_schema[BL_N_SPECIALS];
  bl_commit *commits; /* the snapshots of the range, by ordinal, then its end */
  bl_chunk_wants wants;
  int64_t most_images; /* of a chunk, by what is known of its rows' width */
  int64_t slice_images;
  int64_t images_done;
  bl_chunk chunk;
  bl_backlog backlog;
  bl_slice_start *slices; /* of the chunk */
  size_t n_slices;
  bl_ordered *batches; /* made of them on the ctx's threads; NULL between chunks */
};

/* Images in hand: their events, values, and what was found out about them. */
typedef struct bl_slice {
  int64_t begin, n; /* begin: of the first image in the chunk, before any was dropped */
  bl_image *images;
  struct ArrowArray values;
  uint8_t *keep;
  uint8_t *differs; /* a byte for each image and column of the schema, set for pairs; NULL = nothing compared */
} bl_slice;

/* Which special column a field of bl_changes_meta_schema is; -1 for a table's. */
int bl_special_of_field(const bl_field *f);
/* Schemas and names that all slices share: made before any of them. */
bl_status bl_special_prepare(bl_emitter *e, bl_error *err) BL_CHECKED;
/* Borrowed from the emitter. */
bl_status bl_special_schema(bl_emitter *e, bl_special s, const struct ArrowSchema **out, bl_error *err) BL_CHECKED;
bl_status bl_special_column(bl_emitter *e, const bl_slice *s, bl_special what, struct ArrowArray *out,
                            bl_error *err) BL_CHECKED;
/* A column of type `from` as the pruned type `to` (the same where nothing was pruned). lend: in stays whole, out
 * borrows from it and must be released before; else in is taken over. */
bl_status bl_reshape(bl_ctx *ctx, const bl_type *from, const bl_type *to, struct ArrowArray *in, bool lend,
                     struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
