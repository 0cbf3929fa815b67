/* range.h: which snapshots a change feed runs over (docs/changelog.md C7, C9, C10). */
#ifndef BL_CHANGES_RANGE_H
#define BL_CHANGES_RANGE_H

#include "table/refs.h"
#include "table/table.h"

/* One step of the log: the rows live in `from` (NULL: the empty table) against those live in `to`. */
typedef struct bl_step {
  const bl_snapshot *from, *to;
  bool gap; /* snapshots between the two have expired (C10) */
} bl_step;

typedef struct bl_range {
  const bl_snapshot *from; /* NULL: the empty table */
  const bl_snapshot *to;   /* NULL: a table without snapshots; no steps then */
  const bl_schema *schema; /* that goes with `to`, with types as wide as those of `from` */
  bl_step *steps;          /* oldest first; a step's ordinal is its index. Empty where from = to, or the two share no
                              ancestry (net only) */
  size_t n_steps;
  bool related; /* from is an ancestor of to, or before a gap of its chain, or the empty table */
  bool cut;     /* from the beginning, but older history has expired: the first step gives all rows of the oldest
                   snapshot left */
} bl_range;

typedef struct bl_range_options {
  const char *from, *to, *ref; /* SNAP texts; NULL = absent */
  bool net;
  bool quiet; /* no warnings */
} bl_range_options;

/* Arrays live in arena a. Warnings of C10 go to the log here (once). BL_USAGE: not an ancestor (names the common
 * ancestor), from after to; BL_NOT_FOUND: an expired or unknown from or to (an expired from names the oldest snapshot
 * left in the ancestry of `to`, and any ref that lies before a gap). */
bl_status bl_range_resolve(const bl_table *t, const bl_range_options *o, bl_arena *a, bl_range *out,
                           bl_error *err) BL_CHECKED;

/* The schema alone, in which names are looked up; whether `from` can be resolved is left to the call above. */
bl_status bl_range_schema(const bl_table *t, const bl_range_options *o, bl_arena *a, const bl_schema **out,
                          bl_error *err) BL_CHECKED;

#endif
