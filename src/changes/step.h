/* step.h: one comparison of two snapshots, metadata to events: diff, identity, join, and C4 for rows without ids. */
#ifndef BL_CHANGES_STEP_H
#define BL_CHANGES_STEP_H

#include "changes/feed.h"
#include "changes/join.h"

typedef struct bl_step_sink {
  /* An event (ordinal not set). */
  bl_status (*event)(void *user, const bl_event *e, bl_error *err);
  /* Rows that only moved, by id or by value; NULL = not wanted. */
  bl_status (*moved)(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err);
  void *user;
  bool only_by_value; /* those by id are not wanted */
} bl_step_sink;

/* The same events come out whatever the number is. */
enum { BL_PROBE_ROWS = 1000000 };

typedef struct bl_stepper {
  bl_ctx *ctx;
  bl_table *t;
  const bl_reading *reading;
  bl_files *files;
  bl_differ *differ;
  const bl_schema *schema; /* of the range's end: C4 compares its columns */
  const bl_idset *only;
  bool nulls, check_replace;
  bool removals_only; /* steps that only add files are passed over */
  int64_t probe_rows; /* where so many rows are added, they are not sorted (probe.h) */
  int64_t part_rows;  /* of bl_identity, as are: */
  bl_kept_runs *kept;
  bool keep;
  bool saw_duplicate; /* an id was there twice in a step */
  bool warned_duplicate, warned_branches;
} bl_stepper;

/* *skipped: a proven replace, nothing was compared (C8). BL_BASIS_* are set but for gap and key. */
bl_status bl_step_run(bl_stepper *s, const bl_snapshot *from, const bl_snapshot *to, bool is_replace,
                      const bl_step_sink *sink, bool *skipped, bl_error *err) BL_CHECKED;

/* The comparison alone, of a diff that is there already. */
bl_status bl_step_compare(bl_stepper *s, const bl_diff *d, bool is_replace, const bl_step_sink *sink, bool *skipped,
                          bl_error *err) BL_CHECKED;

#endif
