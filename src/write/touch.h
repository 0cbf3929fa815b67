/* touch.h: the live rows of a branch's head that a change touches: which they are, file by file, and their values.
 *
 * 1. find reads only the columns that the probe asks for, of the files and row groups that can match, and keeps
 *    positions (a bitmap a file). Rows that a vector, a position delete or an equality delete takes are never found.
 * 2. read gives the rows found, the live rows that were not found, or all live rows, in the order of positions within a
 *    part of a file, with resolved lineage (R1). Parts of files are read on the ctx's threads: callbacks run on several
 *    of them at once.
 * 3. A row is named by its data file's entry and its position; both are of the plan, which lives as long as the touch.
 */
#ifndef BL_WRITE_TOUCH_H
#define BL_WRITE_TOUCH_H

#include "bergline/arrow_c.h"
#include "scan/columns.h"
#include "scan/deletes.h"
#include "scan/plan.h"

typedef struct bl_touch_private bl_touch_private;

typedef struct bl_touched {
  const bl_scan_file *file;
  bool whole;        /* all live rows are found, known from metadata alone: `found` stays NULL */
  bool skip;         /* find and read leave it out (the caller's to set) */
  bl_posset *found;  /* NULL: none */
  bl_posset *moved;  /* those of `found` that are rewritten elsewhere (the caller's to set; freed with the touch) */
  int64_t n_found;   /* rows found, whole included */
  bl_posset *others; /* live rows that the probe marked with 2; NULL: none */
  int64_t live;      /* live rows; -1: not known (files in which something was found, with equality deletes) */
  bl_touch_private *p;
} bl_touched;

typedef struct bl_touch {
  bl_table *t;
  bl_arena *arena;
  const bl_snapshot *head;   /* NULL: the branch has none */
  const bl_schema *schema;   /* current */
  const bl_expr *filter;     /* NULL: all rows */
  bl_columns filter_columns; /* what the filter reads */
  bl_columns all;            /* the schema's columns, then, in v3, _row_id and _last_updated_sequence_number */
  bl_plan *plan;
  bl_reading reading;
  bl_deletes *deletes;
  bl_touched *files; /* those that the filter does not rule out, in plan order */
  size_t n_files;
} bl_touch;

/* filter: bound to the table's current schema and the metadata columns; borrowed; NULL: every file. */
bl_status bl_touch_new(bl_table *t, const bl_snapshot *head, const bl_expr *filter, bl_touch **out,
                       bl_error *err) BL_CHECKED;
void bl_touch_free(bl_touch *x); /* NULL allowed */
/* Set mark[i] for the rows of a batch of `columns` that are meant (live or not): 1, found, or 2, among the others; all
 * are 0 before. Borrows batch. */
typedef bl_status (*bl_touch_probe)(void *user, const struct ArrowArray *batch, uint8_t *mark, bl_error *err);
/* May be called again: what was found is added to what is there. */
bl_status bl_touch_find(bl_touch *x, const bl_type *columns, bl_touch_probe probe, void *user,
                        bl_error *err) BL_CHECKED;
/* The rows for which the filter is true; without filter all. by_metadata: files all of whose rows must match are found
 * whole, unopened (rules for that: no equality deletes apply). */
bl_status bl_touch_find_filter(bl_touch *x, bool by_metadata, bl_error *err) BL_CHECKED;

typedef enum bl_touch_which { BL_TOUCH_FOUND, BL_TOUCH_REST, BL_TOUCH_LIVE } bl_touch_which;
typedef struct bl_touch_rows {
  bl_touched *file;
  struct ArrowArray batch; /* of the wanted columns; the visitor may take it (and leaves it released) */
  const int64_t *positions;
  const uint8_t *found; /* LIVE: which of the rows are found; else NULL */
} bl_touch_rows;
typedef struct bl_touch_reader {
  bl_touch_which which;
  const bl_type *wanted;
  /* Around the rows of one part of a file; may be NULL. *lane is the caller's, for the visits between. end is called
   * for every begin that succeeded, with what the part came to. */
  bl_status (*begin)(void *user, bl_touched *file, void **lane, bl_error *err);
  bl_status (*visit)(void *user, void *lane, bl_touch_rows *rows, bl_error *err);
  bl_status (*end)(void *user, bl_touched *file, void *lane, bl_status st, bl_error *err);
  void *user;
} bl_touch_reader;
/* Between begin and end: field ids of columns of the file whose values were too many for a dictionary, at most so many
 * of them. */
size_t bl_touched_plain(const bl_touched *f, int32_t *out, size_t most);
/* Files with rows found that are not to be skipped (whole ones too: all their rows are FOUND). */
bl_status bl_touch_read(bl_touch *x, const bl_touch_reader *r, bl_error *err) BL_CHECKED;

#endif
