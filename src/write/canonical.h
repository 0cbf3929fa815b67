/* canonical.h: Arrow's many layouts of one type brought into the canonical one (bergline/sys/data.h). */
#ifndef BL_WRITE_CANONICAL_H
#define BL_WRITE_CANONICAL_H

#include "rows/arrow_own.h"

/* The canonical form of a column's schema, names, flags and metadata kept. *same: it is the same. BL_UNSUPPORTED names
 * a type that has none. */
bl_status bl_canonical_schema(bl_ctx *ctx, const struct ArrowSchema *in, struct ArrowSchema *out, bool *same,
                              bl_error *err) BL_CHECKED;

#endif
