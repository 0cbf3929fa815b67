/* change.h: what every verb that changes rows has in common: it stages a change on the head of a branch and commits it.
 *
 * 1. A verb is a function that stages. It runs on one version of the table; where what it read is found to have changed
 *    meanwhile (BL_CONFLICT), what it wrote is removed and it runs again on the newest version, as often as
 *    commit.retry.num-retries says.
 * 2. Nothing staged: no snapshot (B106), but where a batch id or the position of a source is to be kept. Whatever
 * fails, what was written is removed, but for BL_UNKNOWN.
 * 3. A batch that the branch holds already is not even staged. */
#ifndef BL_WRITE_CHANGE_H
#define BL_WRITE_CHANGE_H

#include "bergline/write.h"
#include "write/staged.h"
#include "write/touch.h"
#include "write/writer_pool.h"

typedef struct bl_change {
  bl_table *t; /* the version staged on */
  const bl_write_options *o;
  bl_arena *arena;
  const bl_snapshot *head; /* NULL: the branch has none */
  const bl_schema *schema; /* current */
  bl_staged *staged;
  bool merge_on_read;
  bl_staged_counts counts; /* of this staging */
} bl_change;

typedef bl_status (*bl_change_stage)(bl_change *c, void *user, bl_error *err);
/* kind: "delete", "update" or "merge", for the table's write.<kind>.mode and write.<kind>.isolation-level. */
bl_status bl_change_run(bl_table *t, const bl_write_options *o, const char *kind, bl_change_stage stage, void *user,
                        bl_write_result *r, bl_error *err) BL_CHECKED;

/* Text as a filter bound to the table's current schema and the metadata columns (NULL: all rows), in the change's
 * arena. */
bl_status bl_change_filter(bl_change *c, const char *where, bl_expr **out, bl_error *err) BL_CHECKED;

/* Writers of rows: the schema's columns, in v3 followed by the two lineage columns (bl_touch's `all`). */
bl_status bl_change_writers(bl_change *c, bool keep_order, bl_writer_pool **out, bl_error *err) BL_CHECKED;
/* One of them, for the rows of (a part of) a file that is rewritten: see bl_writer_pool_take. */
bl_status bl_change_lane(bl_writer_pool *pool, const bl_touched *f, void **lane, bl_error *err) BL_CHECKED;
/* Take the rows that were found out of their files: a file goes whole where nothing of it would be left; else by a
 * vector, or by rewriting the rest of it through `pool`. Those of f->moved have been written elsewhere. */
bl_status bl_change_remove_found(bl_change *c, bl_touch *x, bl_writer_pool *pool, bl_error *err) BL_CHECKED;

#endif
