/* telling.h: the events of a key in a pass of a source (source.h), and which of them tells of a column.
 *
 * 1. An event need not tell of every column. What it lacks an earlier event of its key tells, but none before one that
 *    deletes the key; then the row of the table, where there is one; else it is the column's default. An update may
 * come as two rows of one number, one that deletes and one that puts: of one key they are no deletion.
 * 2. A value that was left out because it did not change has no default: an event that no other event and no row tells
 *    it for cannot be applied. */
#ifndef BL_WRITE_TELLING_H
#define BL_WRITE_TELLING_H

#include "rows/arrow_view.h"

typedef enum bl_lack { BL_LACK_NONE, BL_LACK_ABSENT, BL_LACK_LEFT_OUT } bl_lack;

typedef struct bl_telling {
  bl_ctx *ctx;
  const bl_view *lacks;             /* by row: a byte (bl_lack) a column; null: it tells of all */
  const bl_view *numbers, *deletes; /* by row: the event's, and whether it deletes */
  uint32_t *before; /* by row: number + 1 of the event before it of its key, 0 = none; NULL: no row lacks a thing */
} bl_telling;

/* Of n rows, none of them with one before it yet; the views are borrowed. */
bl_status bl_telling_open(bl_ctx *ctx, const bl_view *lacks, const bl_view *numbers, const bl_view *deletes, int64_t n,
                          bl_telling *out, bl_error *err) BL_CHECKED;
void bl_telling_dispose(bl_telling *c); /* zeroed allowed */

typedef enum bl_teller { BL_TOLD_BY_EVENT, BL_TOLD_BY_TABLE, BL_TOLD_BY_NONE } bl_teller;
typedef struct bl_told_column {
  bl_teller by;
  int64_t row;   /* the event that tells; else the earliest that is asked: its value is the column's default */
  bool left_out; /* an event asked before has left the value out */
} bl_told_column;
/* Who tells of a column of the row that an event puts. */
bl_told_column bl_telling_ask(const bl_telling *c, int64_t row, size_t column);

/* A column out of those of one or two batches: row `rows[i]` of them, counted through. out takes over. */
bl_status bl_telling_gather(struct ArrowArray *const *columns, size_t n_columns, struct ArrowSchema *type,
                            const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
