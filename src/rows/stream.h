/* stream.h: ArrowArrayStream with bl_status errors. A stream's error code is an errno (Arrow's rule); each bl_status
 * has its own, so that a status survives the trip: bl_stream_errno and bl_stream_status. */
#ifndef BL_ROWS_STREAM_H
#define BL_ROWS_STREAM_H

#include "base/alloc.h"
#include "bergline/arrow_c.h"

int bl_stream_errno(bl_status st);
bl_status bl_stream_status(int code);
/* Its columns. BL_USAGE: it was released; what it fails with. */
bl_status bl_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out, bl_error *err) BL_CHECKED;
/* Next batch; out->release NULL at the end. */
bl_status bl_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out, bl_error *err) BL_CHECKED;
void bl_stream_release(struct ArrowArrayStream *s); /* released ones allowed */

/* A stream over a source: next gives a batch (release NULL at the end), dispose frees user. schema is taken over. */
typedef struct bl_stream_source {
  bl_status (*next)(void *user, struct ArrowArray *out, bl_error *err);
  void (*dispose)(void *user);
  void *user;
} bl_stream_source;
/* On failure src is disposed and the schema released. */
bl_status bl_stream_make(bl_ctx *ctx, const bl_stream_source *src, struct ArrowSchema *schema,
                         struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

/* The user of a stream made by bl_stream_make with this dispose; NULL for any other stream. */
void *bl_stream_user(const struct ArrowArrayStream *s, void (*dispose)(void *user));

#endif
