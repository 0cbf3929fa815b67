/* keys.h: --key (docs/changelog.md C14): DELETE and INSERT of equal key become an update. */
#ifndef BL_CHANGES_KEYS_H
#define BL_CHANGES_KEYS_H

#include "changes/step.h"

typedef struct bl_pair_options {
  const bl_reading *env;
  const bl_files *files;
  const bl_type *wanted; /* struct of the key columns; a null at any level counts */
  bool net;              /* pairs over all ordinals, of the after image's; else within each */
  bool gap;              /* ordinal 0 crosses a gap: its events stay so marked (C15) */
} bl_pair_options;

/* Events of `in` (ordinals set) to `out`, paired by key. *pairs counts the pairs, *not_unique the keys that stood on
 * both sides, on one more than once. Memory is bounded by the budget. */
bl_status bl_pair_by_key(const bl_pair_options *o, bl_spool *in, bl_spool *out, int64_t *pairs, int64_t *not_unique,
                         bl_error *err) BL_CHECKED;

#endif
