/* attribution.h: which snapshot of the range a --net DELETE belongs to (docs/changelog.md C7): the last one that
 * removed the row, followed by place, then by id, then by equal values through an upgrade. */
#ifndef BL_CHANGES_ATTRIBUTION_H
#define BL_CHANGES_ATTRIBUTION_H

#include "changes/step.h"

/* About so many rows in the touched files make the way back by ids alone cheaper. The same comes out either way. */
enum { BL_FULL_ROWS = 1000000 };

typedef struct bl_removals bl_removals;
bl_status bl_removals_new(bl_ctx *ctx, bl_files *files, bl_removals **out, bl_error *err) BL_CHECKED;
void bl_removals_free(bl_removals *r); /* NULL allowed */
/* Rows that the net comparison found deleted: a DELETE event of one or more rows. */
bl_status bl_removals_want(bl_removals *r, const bl_event *deleted, bl_error *err) BL_CHECKED;
int64_t bl_removals_bytes(const bl_removals *r); /* that following will take, about */
/* Walk the steps of the range; once. Versions that are added to the files on the way are not referred to afterwards. */
bl_status bl_removals_follow(bl_removals *r, bl_stepper *s, const bl_range *range, int64_t full_rows,
                             bl_error *err) BL_CHECKED;
/* The ordinal of row i of a DELETE event; the last step's where no step removed it. */
uint32_t bl_removals_ordinal(const bl_removals *r, const bl_event *deleted, uint32_t i);

#endif
