/* watch.h: what a footer does not say about the rows of a file, kept while they are written: how many values of each
 * float column are NaN, and the bounds of strings so long that the footer leaves them out. */
#ifndef BL_WRITE_WATCH_H
#define BL_WRITE_WATCH_H

#include "rows/arrow_view.h"

typedef struct bl_watched {
  int32_t field_id;
  bl_view *view;
  bool repeated; /* below a list or map: no bounds */
  int64_t nans;
  /* Bounds over some of the values: over all of each batch in which one was long. */
  bool has_bounds;
  bl_buf lower, upper;
} bl_watched;

typedef struct bl_watch {
  bl_ctx *ctx;
  bl_view *root; /* of the batches */
  bl_watched *leaves;
  size_t n;
} bl_watch;

/* schema: of the batches, with field ids. */
bl_status bl_watch_init(bl_watch *w, bl_ctx *ctx, const struct ArrowSchema *schema, bl_error *err) BL_CHECKED;
void bl_watch_dispose(bl_watch *w); /* a zeroed one allowed */
bl_status bl_watch_batch(bl_watch *w, const struct ArrowArray *batch, bl_error *err) BL_CHECKED;
const bl_watched *bl_watch_of(const bl_watch *w, int32_t field_id); /* NULL: not a column of this kind */

#endif
