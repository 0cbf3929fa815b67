/* keys.h: --key (docs/changelog.md C14): DELETE and INSERT of equal key become an update. */
#ifndef BL_CHANGES_KEYS_H
#define BL_CHANGES_KEYS_H

#include "changes/step.h"

/* Events of `in` (ordinals set) to `out`, paired by the key columns `wanted` within each ordinal, or (net) over all.
 * *pairs counts the pairs, *not_unique the keys that stood more than once on a side and on both. */
bl_status bl_pair_by_key(bl_ctx *ctx, const bl_reading *env, const bl_files *files, const bl_type *wanted, bool net,
                         bl_spool *in, bl_spool *out, int64_t *pairs, int64_t *not_unique, bl_error *err) BL_CHECKED;

#endif
