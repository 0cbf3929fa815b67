/* probe.h: the join by row id without sorting the added side, for steps in which few removed runs cover many rows (the
 * first rewrite of files without stored ids: copy-on-write, --net over it). A bit a row of the removed id range says
 * which rows were met again. */
#ifndef BL_CHANGES_PROBE_H
#define BL_CHANGES_PROBE_H

#include "changes/events.h"

typedef struct bl_probe bl_probe;
/* removed: a finished sorter, read here. *out NULL where it does not suit: many runs, ids there twice, a wide range. */
bl_status bl_probe_new(bl_ctx *ctx, bl_sorter *removed, bl_probe **out, bl_error *err) BL_CHECKED;
void bl_probe_free(bl_probe *p); /* NULL allowed */
/* Added runs in any order: updates and inserts to the spool of events. Thread-safe. No id may pass BL_MOST_ROW_ID. */
bl_status bl_probe_added(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) BL_CHECKED;
/* Deletes of what was not met. Ask bl_probe_failed after it. */
bl_status bl_probe_finish(bl_probe *p, bl_error *err) BL_CHECKED;
/* An id was added twice, or a row without id came: the result is void, the ordinary join must run. */
bool bl_probe_failed(const bl_probe *p);
bl_spool *bl_probe_events(bl_probe *p); /* of bl_event, ordinal and basis not set; owned by p */

#endif
