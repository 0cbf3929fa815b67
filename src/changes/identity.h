/* identity.h: the rows that left and came between two snapshots, as runs with resolved lineage (docs/changelog.md C1,
 * C2, "Identity first"). Ids and sequence numbers are arithmetic where a file stores none; else only those two columns
 * are read, at the rows in question. */
#ifndef BL_CHANGES_IDENTITY_H
#define BL_CHANGES_IDENTITY_H

#include "changes/diff.h"
#include "changes/files.h"
#include "changes/idset.h"
#include "changes/kept_runs.h"
#include "changes/probe.h"

/* Removed and added rows. Those with ids sorted for the join, those without in spools of bl_run (id BL_NONE). */
typedef struct bl_row_sets {
  bl_sorter *removed, *added;
  bl_spool *removed_null, *added_null;
} bl_row_sets;

void bl_row_sets_dispose(bl_row_sets *s);

enum { BL_PART_ROWS = 1 << 20 };

typedef enum bl_sides { BL_BOTH_SIDES, BL_REMOVED_SIDE, BL_ADDED_SIDE } bl_sides;

typedef struct bl_identity {
  const bl_reading *env;
  bl_files *files;      /* versions are added here */
  size_t first_file;    /* versions from this number on may meet in a join: they are ranked together */
  const bl_idset *only; /* NULL = all ids; else only rows with these */
  bool nulls;           /* with `only`: rows without id too */
  bl_sides sides;
  bl_probe *probe;    /* where the runs of one side go instead of sorters; NULL */
  bl_kept_runs *kept; /* with a probe: removed rows that are kept there need not be read; NULL */
  bool keep;          /* added rows are kept there */
  bool ids_only;      /* sequence numbers are not wanted (and are 0) */
  int64_t part_rows;  /* files of more rows are worked on by several threads; 0: BL_PART_ROWS */
} bl_identity;

/* Ids and sequence numbers that a file stores, and those that its rows inherit, lie in [0, this]: whatever is added to
 * one within a run stays a number. */
#define BL_MOST_ROW_ID (INT64_MAX - UINT32_MAX)

/* Rows of all touched files of a diff, the sorters finished; runs on the ctx's threads. Files are ranked here.
 * BL_DAMAGED: a lineage column holds what no id or sequence number can be. */
bl_status bl_identity_collect(const bl_identity *x, const bl_diff *d, bl_row_sets *out, bl_error *err) BL_CHECKED;

/* C8, what is left of it to footers: do the added files store both lineage columns without nulls, within the bounds of
 * the removed files' rows? */
bl_status bl_identity_proves_replace(const bl_identity *x, const bl_diff *d, bool *proven, bl_error *err) BL_CHECKED;

/* May a file hold one of these ids, as far as its manifest entry tells? Only metrics say whether it stores ids: a file
 * that may store some stays until its footer is read. */
bool bl_may_hold_ids(const bl_idset *ids, const bl_manifest_entry *e);

#endif
