/* attribution.h: which snapshot of the range a --net DELETE belongs to (docs/changelog.md C7): the last one that
 * removed the row, followed by place, then by id, then by equal values through an upgrade. */
#ifndef BL_CHANGES_ATTRIBUTION_H
#define BL_CHANGES_ATTRIBUTION_H

#include "changes/step.h"

typedef struct bl_removals bl_removals;
bl_status bl_removals_new(bl_ctx *ctx, bl_files *files, bl_removals **out, bl_error *err) BL_CHECKED;
void bl_removals_free(bl_removals *r); /* NULL allowed */
/* Rows that the net comparison found deleted: a DELETE event of one or more rows. */
bl_status bl_removals_want(bl_removals *r, const bl_event *deleted, bl_error *err) BL_CHECKED;
/* Walk the steps of the range. */
bl_status bl_removals_follow(bl_removals *r, bl_stepper *s, const bl_range *range, bl_error *err) BL_CHECKED;
/* The ordinal of row i of a DELETE event; the last step's where no step removed it. */
uint32_t bl_removals_ordinal(const bl_removals *r, const bl_event *deleted, uint32_t i);

#endif
