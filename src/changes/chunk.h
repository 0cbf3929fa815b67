/* chunk.h: a stretch of the event stream with the values of all its images in memory. */
#ifndef BL_CHANGES_CHUNK_H
#define BL_CHANGES_CHUNK_H

#include "changes/feed.h"
#include "changes/fetch.h"

/* One image of one event: a row of the output before filtering. */
typedef struct bl_image {
  uint32_t event; /* index into the chunk's events */
  uint32_t step;  /* which of the event's len rows */
  bool after;
} bl_image;

typedef struct bl_chunk {
  bl_ctx *ctx;
  bl_event *events; /* whole runs, or parts of them */
  size_t n_events, cap_events;
  int64_t images;
  int64_t *row;      /* of each image in output order: its row in `values`, counted through the batches */
  bl_fetched values; /* of the wanted columns; one row a distinct place */
  bool skip_before;  /* no BEFORE images of updates */
  bool skip_deleted; /* images of DELETE have no values: their row is any */
} bl_chunk;

/* Events that were taken from the feed and are still to be given: the last one first. */
typedef struct bl_backlog {
  bl_event *items;
  size_t n, cap;
} bl_backlog;

/* What of the events is not needed, set once for all chunks. */
typedef struct bl_chunk_wants {
  bool skip_before, skip_deleted;
} bl_chunk_wants;

/* Takes events from the backlog, then from the feed, until there are max_images or their bookkeeping takes max_bytes;
 * of a run that was cut the rest goes back to the backlog. n_events 0 at the end. */
bl_status bl_chunk_take(bl_feed *f, bl_backlog *back, const bl_chunk_wants *w, int64_t max_images, int64_t max_bytes,
                        bl_chunk *out, bl_error *err) BL_CHECKED;
/* Puts all events back; the chunk is empty then. */
bl_status bl_chunk_untake(bl_chunk *c, bl_backlog *back, bl_error *err) BL_CHECKED;
/* Fetch the values of all images. wanted with its Arrow schema. *over: they take more than max_bytes; there are none
 * then. */
bl_status bl_chunk_fetch(bl_feed *f, bl_chunk *c, const bl_type *wanted, const struct ArrowSchema *schema,
                         int64_t max_bytes, bool *over, bl_error *err) BL_CHECKED;
void bl_chunk_dispose(bl_chunk *c);

#endif
