/* apply.h: what the sources of change events share. Private to apply*.c.
 *
 * 1. An event deletes the key of its before image and puts its after image; of the events of one key the last one wins
 *    (source.h), within a commit of our own changelog what is put wins over what is deleted.
 * 2. Every event has a position in its source's log, where that tells one. The last position of each source is kept in
 *    the snapshot's summary (bergline.source-position), and events before it are not applied again. What cannot be
 *    ordered is applied, in the order in which it comes, with a warning: an event is passed over only where it is known
 *    to be in the table. */
#ifndef BL_WRITE_APPLY_H
#define BL_WRITE_APPLY_H

#include "base/map.h"
#include "format/json.h"
#include "write/commit.h"
#include "write/put_value.h"
#include "write/source.h"
#include "write/text_rows.h"

/* ---- positions ---- apply_position.c */
#define BL_POSITION_PARTS 5
#define BL_CHANGES_SOURCE "changes"     /* the source of our own changelog */
typedef struct bl_log_kind bl_log_kind; /* a kind of log: what places in it are made of, and how they compare */
typedef struct bl_position {
  const bl_log_kind *log;          /* NULL: no position */
  bl_str source;                   /* whose: connector/name/db/schema/table; n 0: the events do not say */
  bl_str parts[BL_POSITION_PARTS]; /* p NULL: not told */
  bool first;                      /* it is known that no transaction was committed before it (a snapshot read) */
} bl_position;
typedef enum bl_order { BL_BEFORE = -1, BL_SAME = 0, BL_AFTER = 1, BL_UNORDERED = 2 } bl_order;
/* The position that the "source" of an event tells: lsn and sequence (PostgreSQL); file, pos and row (MySQL), of one
 * server_id; change_lsn or commit_lsn and event_serial_no (SQL Server); commit_scn and scn, or lcr_position (Oracle).
 * Strings are borrowed, or in arena a. */
bl_status bl_position_of(bl_arena *a, const bl_json *source, bl_position *out, bl_error *err) BL_CHECKED;
/* Parts of positions in our own changelog. */
enum { BL_COMMIT_ID, BL_COMMIT_SEQUENCE, BL_COMMIT_LIST, BL_COMMIT_EARLIER };
bl_position bl_position_of_commit(bl_str snapshot_id);
bool bl_position_is_commit(const bl_position *p);
/* Where a lies beside b. Commits of our own are AFTER all others. */
bl_order bl_position_order(const bl_position *a, const bl_position *b);

/* One of each source. */
typedef struct bl_positions {
  bl_position *items;
  size_t n, cap;
} bl_positions;
/* That of the same source, else one of the same log that does not say whose it is; NULL. */
const bl_position *bl_positions_find(const bl_positions *ps, const bl_position *of);
/* Where p lies beside that of its source; AFTER where there is none. */
bl_order bl_positions_order(const bl_positions *ps, const bl_position *p);
/* Copied; in the place of what bl_positions_find finds. */
bl_status bl_positions_set(bl_arena *a, bl_positions *ps, const bl_position *p, bl_error *err) BL_CHECKED;
/* As a summary keeps them (text p NULL: none); in arena a. */
bl_status bl_positions_print(bl_arena *a, const bl_positions *ps, bl_str *out, bl_error *err) BL_CHECKED;
bl_status bl_positions_read(bl_arena *a, bl_str text, bl_positions *out, bl_error *err) BL_CHECKED;
/* A change that led from the positions `before` to `after` is made again where they are `now`. *branch: where `now` is
 * beside `before`, of the sources that moved; SAME: *out is where they are then. */
bl_status bl_positions_rebase(bl_arena *a, bl_str before, bl_str after, bl_str now, bl_order *branch, bl_str *out,
                              bl_error *err) BL_CHECKED;

/* ---- rows ---- apply.c */
typedef struct bl_changelog bl_changelog; /* apply_changes.c */
typedef struct bl_applying {
  bl_table *t;
  bl_ctx *ctx;
  bl_arena *arena, *scratch; /* scratch: of the line in hand */
  const bl_schema *schema;
  bl_source *source;
  const char *const *key;
  size_t n_key;
  bl_map *places;          /* of columns by name */
  bl_text_columns columns; /* the schema's, all of which may be null */
  const bl_json **members;
  uint8_t *deletes;
  int64_t *ranks;
  int64_t n; /* rows not yet given to the source */
  bl_putter putter;
  bl_text_file file;
  bool of_rows;     /* lines are rows of another format */
  int64_t line, at; /* number and first byte of the line in hand */
  bl_str recorded;  /* the positions of the branch, as its summary has them */
  bl_positions stored, last;
  int64_t n_events, n_skipped, n_unordered;
  bl_changelog *changelog;   /* NULL: of another source */
  int64_t commit, n_commits; /* of a changelog: that of the line before */
} bl_applying;

/* The value of a column out of an image; types: what the event says of it, NULL = nothing. */
typedef bl_status (*bl_event_value)(bl_applying *a, bl_builder *b, const bl_field *f, const bl_json *v,
                                    const bl_json *types, bl_error *err);
/* A row of an image (an object). deletes: only the key is taken. BL_USAGE: members that the table does not have, a key
 * that is not there, a required column without value. types: objects with "field", or NULL. */
bl_status bl_applying_put(bl_applying *a, const bl_json *image, const bl_json *types, bool deletes, int64_t rank,
                          bl_event_value value, bl_error *err) BL_CHECKED;

/* ---- sources ---- */
/* An event of a line. */
bl_status bl_apply_debezium(bl_applying *a, const bl_json *event, bl_error *err) BL_CHECKED; /* apply_debezium.c */
bl_status bl_apply_change(bl_applying *a, const bl_json *event, bl_error *err) BL_CHECKED;   /* apply_changes.c */
/* A changelog of another format as lines of JSON, which the caller closes; *out NULL: it is that already. */
bl_status bl_apply_lines(bl_table *t, bl_input *in, bl_input **out, bl_error *err) BL_CHECKED; /* apply_input.c */
/* Which events of a changelog were applied before: those of commits that the branch has recorded, and those before
 * them. anyway: what cannot be ordered counts as new; else it is BL_USAGE. */
bl_status bl_apply_changes_begin(bl_applying *a, bl_input *events, const bl_snapshot *head, bool anyway,
                                 bl_error *err) BL_CHECKED;
/* The position that the batch leads to. */
bl_status bl_apply_changes_finish(bl_applying *a, bl_error *err) BL_CHECKED;
void bl_apply_changes_dispose(bl_applying *a);

#endif
