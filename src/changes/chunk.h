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
  int64_t *row;             /* of each image in output order: its row in `values` */
  struct ArrowArray values; /* struct of the wanted columns; one row a distinct place */
} bl_chunk;

/* Takes events of the feed until `max_images`; *pending holds the rest of a run that was cut (len 0 = none). n_events 0
 * at the end. */
bl_status bl_chunk_take(bl_feed *f, bl_event *pending, int64_t max_images, bl_chunk *out, bl_error *err) BL_CHECKED;
/* Fetch the values of all images. wanted with its Arrow schema. */
bl_status bl_chunk_fetch(bl_feed *f, bl_chunk *c, const bl_type *wanted, const struct ArrowSchema *schema,
                         bl_error *err) BL_CHECKED;
void bl_chunk_dispose(bl_chunk *c);

#endif
