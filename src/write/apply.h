/* apply.h: what the sources of change events share. Private to apply*.c.
 *
 * 1. An event deletes the key of its before image and puts its after image; of the events of one key the last one wins
 *    (source.h), within a commit of our own changelog what is put wins over what is deleted.
 * 2. Every event has a position in its source's log, where that tells one. The last position of a batch is kept in the
 *    snapshot's summary (bergline.source-position), and events before it are not applied again. */
#ifndef BL_WRITE_APPLY_H
#define BL_WRITE_APPLY_H

#include "base/map.h"
#include "format/json.h"
#include "write/commit.h"
#include "write/put_value.h"
#include "write/source.h"
#include "write/text_rows.h"

/* ---- positions ---- apply_position.c */
typedef struct bl_position {
  const char *const *names; /* which log; NULL: no position */
  bl_str parts[3];          /* in the order that they compare; p NULL behind the last */
} bl_position;
/* The position that members of an object tell: lsn (PostgreSQL); file, pos and row (MySQL); change_lsn or commit_lsn
 * and event_serial_no (SQL Server); scn (Oracle); commit_snapshot_id (our own). Strings are borrowed. */
void bl_position_of(const bl_json *source, bl_position *out);
bl_position bl_position_of_commit(bl_str snapshot_id);
/* -1, 0, 1; *known = false where they are of different logs. */
int bl_position_cmp(const bl_position *a, const bl_position *b, bool *known);
/* Is a later than b, or, of commits, which are in no order, another? */
bool bl_position_is_later(const bl_position *a, const bl_position *b, bool *known);
bl_status bl_position_copy(bl_arena *a, const bl_position *p, bl_position *out, bl_error *err) BL_CHECKED;
/* As JSON, which bl_position_of reads; in arena a. */
bl_status bl_position_print(bl_arena *a, const bl_position *p, bl_str *out, bl_error *err) BL_CHECKED;
/* What a summary has recorded (p NULL: nothing); strings are in arena a. */
bl_status bl_position_recorded(bl_arena *a, bl_str text, bl_position *out, bl_error *err) BL_CHECKED;

/* ---- rows ---- apply.c */
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
  int64_t line, at; /* number and first byte of the line in hand */
  bl_position last, stored;
  int64_t n_events, n_skipped;
  int64_t applied_lines, commit, n_commits; /* of a changelog */
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
/* Which events of a changelog were applied before: those up to the last commit that the branch has recorded. */
bl_status bl_apply_changes_begin(bl_applying *a, bl_input *events, const bl_snapshot *head, bl_error *err) BL_CHECKED;

#endif
