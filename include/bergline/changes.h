/* bergline/changes.h: what changed between snapshots of a table, row by row, and the history of rows
 * (docs/changelog.md).
 *
 * The change between two snapshots is the difference of their live rows. A removed and an added row with the same
 * `_row_id` are one row: it only moved where `_last_updated_sequence_number` is equal too, else it was updated. What is
 * left is DELETE and INSERT. */
#ifndef BERGLINE_CHANGES_H
#define BERGLINE_CHANGES_H

#include "bergline/scan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bl_on_broken_identity { BL_BROKEN_WARN = 0, BL_BROKEN_FAIL = 1 } bl_on_broken_identity;

/* Zeroed = the whole log of main, both images, in order. Strings are borrowed for the call. */
typedef struct bl_changes_options {
  const char *from;  /* SNAP, exclusive; NULL = from the beginning */
  const char *to;    /* SNAP, inclusive; NULL = the head of `ref` */
  const char *ref;   /* NULL = main */
  bool net;          /* the two ends only; any two snapshots may be compared */
  bool after_images; /* no UPDATE_BEFORE; of DELETE only lineage and key columns */
  const char *const
      *columns; /* NULL = all of the schema of `to`; also _commit_timestamp, _commit_sequence_number, _changed_columns,
                   _change_basis, _file, _pos. The five standing columns are always there, last */
  size_t n_columns;
  const char
      *where; /* predicate on the full images, lineage columns included; an update is kept when either image matches */
  const char *const *key; /* pair DELETE and INSERT of equal key into updates (all columns not null) */
  size_t n_key;
  const char *const *changed; /* drop updates in which none of these top-level columns differs */
  size_t n_changed;
  bool skip_unchanged; /* drop updates in which no column differs */
  bool check_replace;  /* compare every `replace` snapshot; bl_changes_found tells whether one changed rows */
  bl_on_broken_identity on_broken_identity;
  bool unordered; /* rows by file and position, as they are read; pairs adjacent */
} bl_changes_options;

/* Columns: table columns (or those asked for), then _row_id, _last_updated_sequence_number, _change_type ("INSERT",
 * "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER"), _change_ordinal (int, 0 = oldest snapshot of the range),
 * _commit_snapshot_id, with the further ones that were asked for where they were asked for among these. Ordered by
 * ordinal, _row_id (of the after image; nulls last), file path, position; a pair adjacent, BEFORE first. The table must
 * outlive the stream. Memory is bounded by the ctx's budget; larger work spills to its temporary folder. BL_USAGE: from
 * is no ancestor of to (the message names the common ancestor), bad columns or predicate; BL_NOT_FOUND: unknown or
 * expired snapshots; BL_DAMAGED, BL_UNSUPPORTED, BL_IO, BL_NOMEM. */
BL_API bl_status bl_changes(bl_table *t, const bl_changes_options *o, struct ArrowArrayStream *out,
                            bl_error *err) BL_CHECKED;
/* Of a stream of bl_changes that has been read to its end: BL_FOUND where check_replace found a replace that lost,
 * invented or altered a row or its id, or on_broken_identity is BL_BROKEN_FAIL and identity was broken; else BL_OK. */
BL_API bl_status bl_changes_found(const struct ArrowArrayStream *stream);

typedef struct bl_history_options {
  const int64_t *row_ids; /* rows with these ids, or … */
  size_t n_row_ids;
  const char *where;           /* … rows of which any version matches */
  const char *from, *to, *ref; /* as of bl_changes_options */
  const char *const *columns;
  size_t n_columns;
} bl_history_options;
/* One line per version of a row: INSERT, UPDATE_AFTER, DELETE, ordered by row id, then ordinal; columns as bl_changes,
 * then _commit_timestamp, _operation, _engine. An id that never was gives no rows. */
BL_API bl_status bl_history(bl_table *t, const bl_history_options *o, struct ArrowArrayStream *out,
                            bl_error *err) BL_CHECKED;

/* What would be read; see bl_scan_plan. "steps" has one element a snapshot of the range, "tasks" one a touched file of
 * a step. */
BL_API bl_status bl_changes_plan(bl_table *t, const bl_changes_options *o, const bl_plan_request *q,
                                 const bl_sink *sink, bl_error *err) BL_CHECKED;
BL_API bl_status bl_history_plan(bl_table *t, const bl_history_options *o, const bl_plan_request *q,
                                 const bl_sink *sink, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
