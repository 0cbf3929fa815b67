/* probe.h: the join by row id without sorting, for steps that rewrite many rows (copy-on-write, --net over it). The
 * removed rows are kept in memory, as a few runs where their ids are arithmetic, else in a table by id; the added rows
 * then pass by in any order, and only what differs is kept. */
#ifndef BL_CHANGES_PROBE_H
#define BL_CHANGES_PROBE_H

#include "changes/files.h"

typedef struct bl_probe bl_probe;
/* The versions of both sides are files->items[first …) (added before the first run comes); removed_rows: about how many
 * rows are removed. */
bl_status bl_probe_new(bl_ctx *ctx, const bl_files *files, size_t first, int64_t removed_rows, bl_probe **out,
                       bl_error *err) BL_CHECKED;
void bl_probe_free(bl_probe *p); /* NULL allowed */
/* Removed runs in any order, by several threads. No id may pass BL_MOST_ROW_ID. */
bl_status bl_probe_removed(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) BL_CHECKED;
bl_status bl_probe_removed_rows(bl_probe *p, const bl_id_rows *r, bl_error *err) BL_CHECKED; /* the same of rows */
/* All removed runs are there. */
bl_status bl_probe_turn(bl_probe *p, bl_error *err) BL_CHECKED;
/* Added runs in any order, by several threads: updates and inserts to the spool of events. */
bl_status bl_probe_added(bl_probe *p, const bl_run *runs, size_t n, bl_error *err) BL_CHECKED;
bl_status bl_probe_added_rows(bl_probe *p, const bl_id_rows *r, bl_error *err) BL_CHECKED; /* the same of rows */
/* Deletes of what was not met. Ask bl_probe_failed after it. */
bl_status bl_probe_finish(bl_probe *p, bl_error *err) BL_CHECKED;
/* It does not suit: an id is there twice on a side, a row has none, or the removed rows take too much memory. The
 * result is void, what else comes is ignored, and the ordinary join must run. */
bool bl_probe_failed(const bl_probe *p);
bl_spool *bl_probe_events(bl_probe *p); /* of bl_event, ordinal and basis not set; owned by p */

#endif
