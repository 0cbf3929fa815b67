/* id_table.h: removed rows addressed by their id, for steps that rewrite rows in another order: every added row then
 * finds its removed one without anything being sorted. Six bytes an id, in pages of 65,536 ids that are made when one
 * is touched. */
#ifndef BL_CHANGES_ID_TABLE_H
#define BL_CHANGES_ID_TABLE_H

#include "changes/files.h"

typedef struct bl_id_table bl_id_table;

/* For rows of the versions files->items[first …). *out NULL where their rows cannot fit in budget bytes. */
bl_status bl_id_table_new(bl_ctx *ctx, const bl_files *files, size_t first, int64_t budget, bl_id_table **out,
                          bl_error *err) BL_CHECKED;
void bl_id_table_free(bl_id_table *t); /* NULL allowed */

/* Rows of runs with ids, or rows one by one; by several threads. *fits false: the table can hold no more, or an id is
 * there twice; it is void then. */
bl_status bl_id_table_add(bl_id_table *t, const bl_run *runs, size_t n, bool *fits, bl_error *err) BL_CHECKED;
bl_status bl_id_table_add_rows(bl_id_table *t, const bl_id_rows *r, bool *fits, bl_error *err) BL_CHECKED;

typedef enum bl_meeting { BL_ID_UNKNOWN, BL_ID_MET, BL_ID_MET_AGAIN } bl_meeting;
/* The removed row of an id, as a run of one row in *row where BL_ID_MET. By several threads, after all adding. */
bl_meeting bl_id_table_meet(bl_id_table *t, int64_t id, bl_run *row);
/* Meets rows from r->ids[at] on as long as each finds a removed row with its sequence number, not met yet: how many. */
int64_t bl_id_table_pass(bl_id_table *t, const bl_id_rows *r, int64_t at);

/* Runs of the rows that were not met, by ascending id, after all meeting. *fits false: it turns out that an id was
 * there twice on a side; all is void. */
bl_status bl_id_table_rest(bl_id_table *t, bl_status (*take)(void *user, const bl_run *r, bl_error *err), void *user,
                           bool *fits, bl_error *err) BL_CHECKED;

#endif
