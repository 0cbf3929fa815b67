/* feed.h: all events of a range, in output order, before any payload is read (docs/changelog.md C1-C10, C12-C15). */
#ifndef BL_CHANGES_FEED_H
#define BL_CHANGES_FEED_H

#include "changes/diff.h"
#include "changes/files.h"
#include "changes/identity.h"
#include "changes/order.h"
#include "changes/range.h"

typedef struct bl_feed_options {
  bl_range_options range;
  const int32_t *key_ids; /* C14: top-level or nested columns of the range's schema; n_key 0 = none */
  size_t n_key;
  bool check_replace, fail_on_broken;
  const bl_idset *only; /* history: rows with these ids */
  bool nulls;           /* with `only`: rows without id too */
  bool by_row;          /* history: events by id (rows without one by place), then ordinal */
  bool by_place;        /* unordered: events by file and position, as their rows are read */
  bool quiet;           /* no warnings: another feed of the same range gave them */
  /* 0: BL_PROBE_ROWS, BL_FULL_ROWS, BL_PART_ROWS; the events are the same whatever they are. */
  int64_t probe_rows, full_rows, part_rows;
} bl_feed_options;

/* A warning of C15 that was given: once a writer and kind. */
typedef struct bl_said {
  bl_str writer;
  const char *what;
} bl_said;

typedef struct bl_feed {
  bl_ctx *ctx;
  bl_table *t;
  bl_arena *arena;
  bl_reading reading;
  bl_files files;
  bl_differ *differ;
  bl_range range;
  bool net;
  bl_event_order *events;
  int64_t rows; /* images in all */
  bl_said *said;
  size_t n_said, cap_said;
  bool found; /* C8 with check_replace, C15 with fail_on_broken */
} bl_feed;

/* feed must be zeroed; bl_feed_dispose also after a failure. BL_USAGE, BL_NOT_FOUND of the range; BL_DAMAGED … of
 * reading. */
bl_status bl_feed_run(bl_feed *feed, bl_table *t, const bl_feed_options *o, bl_error *err) BL_CHECKED;
/* The feed of one diff that a task brought along: commit is the snapshot of all its events, ordinal their ordinal.
 * Removed and added rows are joined within the diff only. */
bl_status bl_feed_run_diff(bl_feed *feed, bl_table *t, const bl_feed_options *o, const bl_diff *d,
                           const bl_schema *schema, const bl_snapshot *commit, uint32_t ordinal,
                           bl_error *err) BL_CHECKED;
void bl_feed_dispose(bl_feed *feed);

/* The snapshot that an ordinal stands for. */
const bl_snapshot *bl_feed_commit(const bl_feed *feed, uint32_t ordinal);

#endif
