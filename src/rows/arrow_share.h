/* arrow_share.h: several holders of one Arrow array, and parts of it (rows, columns) as arrays of their own. No buffer
 * is copied.
 * 1. What a part points to lives until the last part and the last bl_shared_unref are gone, in any thread.
 * 2. A part is a whole array: its children may be moved out of it. A part of a struct has no offset itself, its
 *    children have. */
#ifndef BL_ROWS_ARROW_SHARE_H
#define BL_ROWS_ARROW_SHARE_H

#include "rows/arrow_own.h"

typedef struct bl_shared bl_shared;
/* in is taken over, also on failure. */
bl_status bl_shared_new(bl_ctx *ctx, struct ArrowArray *in, bl_shared **out, bl_error *err) BL_CHECKED;
bl_shared *bl_shared_ref(bl_shared *s); /* one more holder */
void bl_shared_unref(bl_shared *s);     /* NULL allowed */
const struct ArrowArray *bl_shared_array(const bl_shared *s);

/* Which children of a struct (at each level) a part has: those, in this order. */
typedef struct bl_pick bl_pick;
struct bl_pick {
  const int64_t *children;
  int64_t n;             /* -1: all of them */
  const bl_pick **below; /* for each child taken; NULL, or NULL inside: all */
};

/* Rows [begin, begin + n) of a struct array. pick NULL: every column. BL_NOMEM. */
bl_status bl_shared_part(bl_shared *s, int64_t begin, int64_t n, const bl_pick *pick, struct ArrowArray *out,
                         bl_error *err) BL_CHECKED;

#endif
