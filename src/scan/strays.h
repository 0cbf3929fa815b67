/* strays.h: deletes that name a data file of another partition than their own, in manifests that a filter ruled out.
 *
 * The specification applies a position delete or vector only to a file of its own partition, so a filtered plan opens
 * no delete manifest of other partitions. One whose partition was written wrong would then go unseen, and rows that
 * were deleted would come back without a word; an unfiltered plan refuses it. So the manifests that were left out are
 * looked through as well, as far as that is cheap. */
#ifndef BL_SCAN_STRAYS_H
#define BL_SCAN_STRAYS_H

#include "scan/plan.h"

/* Manifests that are looked through, at most: together so many bytes. What lies beyond is left to whoever checks the
 * whole table. */
enum { BL_STRAYS_MOST_BYTES = 4 << 20 };

/* p: complete but for the delete manifests in it that were skipped for their partitions; those looked through count as
 * opened afterwards. BL_DAMAGED: one of them holds a live delete that names a file of the plan. */
bl_status bl_find_strays(bl_table *t, bl_plan *p, bl_error *err) BL_CHECKED;

#endif
