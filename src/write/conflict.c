/* conflict.c: may a change still be made, after what others committed since it was staged? */
#include "write/attempt.h"

bl_status bl_attempt_validate(bl_attempt *at, bl_error *err) {
  const bl_staged *s = at->c->s;
  int64_t head = at->parent ? at->parent->id : BL_NONE;
  if (head == s->base_snapshot_id || (!s->reads_rows && !s->n_removed && !s->n_vectors)) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "another has committed since the rows were read: snapshot %lld", (long long)head);
}
