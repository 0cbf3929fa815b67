/* apply.h: what the sources of change events share. Private to apply*.c.
 *
 * A stream of events (apply_events.c) is one of
 *   texts: events as JSON, one a row: they become rows by apply_texts.c, of Debezium or of our own changelog;
 *   envelopes: of Debezium, as columns: they are made texts first;
 *   images: our own changelog, as columns: apply_images.c.
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
#include "write/input.h"
#include "write/put_value.h"
#include "write/source.h"
#include "write/text_rows.h"

/* ---- positions ---- apply_position.c */
#define BL_POSITION_PARTS 5
enum { BL_POSITION_EVENTS = 8 };
#define BL_CHANGES_SOURCE "changes"     /* the source of our own changelog */
typedef struct bl_log_kind bl_log_kind; /* a kind of log: what places in it are made of, and how they compare */
typedef struct bl_position {
  const bl_log_kind *log;          /* NULL: no position */
  bl_str source;                   /* whose: connector/name/db/schema/table; n 0: the events do not say */
  bl_str parts[BL_POSITION_PARTS]; /* p NULL: not told */
  bool first;                      /* it is known that no transaction was committed before it (a snapshot read) */
  /* Hashes of the last events that were applied there: in most logs a change has a place of its own, so one that comes
   * again is known. */
  uint64_t events[BL_POSITION_EVENTS];
  size_t n_events;
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
/* Does a change have a place of its own in the log? */
bool bl_position_is_unique(const bl_position *p);
bool bl_position_holds(const bl_position *p, uint64_t event); /* NULL allowed */
void bl_position_note(bl_position *p, uint64_t event);
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

/* ---- the verb ---- apply.c */
typedef struct bl_changelog bl_changelog; /* apply_changes.c */
typedef struct bl_images bl_images;       /* apply_images.c */
typedef struct bl_applying {
  bl_table *t;
  bl_ctx *ctx;
  bl_arena *arena, *scratch, *place; /* scratch: of the text in hand; place: of `last`, of Debezium */
  size_t place_bytes;                /* that `place` may grow to */
  const bl_schema *schema;
  bl_source *source;
  const bl_apply_options *o;
  const char *front;       /* of messages about its events */
  bl_map *places;          /* of columns by name */
  bl_text_columns columns; /* the schema's, all of which may be null; then what the row lacks (telling.h) */
  const bl_json **members;
  uint8_t *lacks;        /* of the row in hand, by column: bl_lack */
  bool left_out;         /* so was the value in hand */
  bool flat;             /* the row in hand has no envelope: members __… that are no columns are none of it */
  const bl_json *beside; /* the image before the one in hand; NULL: none */
  bool *named;           /* columns that an after image of a changelog has had */
  uint8_t *deletes;
  int64_t *ranks;
  int64_t n; /* rows not yet given to the source */
  bl_putter putter;
  bl_images *images;
  int64_t line;    /* number of the event in hand */
  int64_t at;      /* its byte in the file; -1: not known */
  bl_str recorded; /* the positions of the branch, as its summary has them */
  bl_positions stored, last;
  int64_t n_events, n_skipped, n_known /* of them: by their hashes */, n_unordered, n_placeless;
  bl_changelog *changelog;   /* NULL: of another source */
  int64_t commit, n_commits; /* of a changelog: that of the event before */
} bl_applying;
/* What is wrong with the event in hand. */
bl_status bl_applying_refuse(const bl_applying *a, bl_status st, const bl_error *e, bl_error *err);
/* Is the column of that name a key, or the struct that one is in? */
bool bl_applying_is_key(const bl_applying *a, bl_str name);

/* ---- the stream ---- apply_events.c */
typedef enum bl_events_form { BL_EVENTS_TEXTS, BL_EVENTS_ENVELOPES, BL_EVENTS_IMAGES } bl_events_form;
enum { BL_SAYS_TYPE, BL_SAYS_COMMIT, BL_SAYS_SEQUENCE, BL_SAYS_UPDATED, BL_SAYS };
typedef struct bl_events {
  bl_ctx *ctx;
  bl_events_form form;
  struct ArrowArrayStream rows; /* in canonical layout, at most BL_TEXT_BATCH_ROWS at a time */
  struct ArrowSchema schema;
  bl_view *view;                /* of the batch in hand */
  const bl_view *text;          /* of texts */
  const bl_view *byte;          /* of texts: where in its file each begins; NULL: not told */
  const bl_view *says[BL_SAYS]; /* of images: what they say of their commits; NULL: there is no such column */
  struct ArrowArray *held;      /* what was read ahead: some batches, … */
  size_t n_held, cap_held, next_held;
  int64_t bytes;
  struct bl_batch_file *kept; /* … and the rest; NULL: there is none */
  bool again;                 /* they are all there is to come */
} bl_events;
/* in is consumed and released. */
bl_status bl_events_open(bl_applying *a, struct ArrowArrayStream *in, bl_events *e, bl_error *err) BL_CHECKED;
void bl_events_dispose(bl_events *e); /* zeroed allowed */
/* out->release NULL at the end. */
bl_status bl_events_next(bl_events *e, struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* A batch that was looked at (taken over) comes again after bl_events_rewind; all batches must be kept. */
bl_status bl_events_keep(bl_events *e, struct ArrowArray *batch, bl_error *err) BL_CHECKED;
bl_status bl_events_rewind(bl_events *e, bl_error *err) BL_CHECKED;

/* ---- texts ---- apply_texts.c */
bl_status bl_apply_texts(bl_applying *a, const bl_events *e, const struct ArrowArray *batch, bl_error *err) BL_CHECKED;
bl_status bl_apply_envelopes(bl_applying *a, const bl_events *e, const struct ArrowArray *batch,
                             bl_error *err) BL_CHECKED;
/* Room in `scratch` for another text: what was there may go. */
bl_status bl_applying_renew(bl_applying *a, bl_error *err) BL_CHECKED;
/* What is left of the last batches to the source. */
bl_status bl_applying_flush(bl_applying *a, bl_error *err) BL_CHECKED;

/* The value of a column out of an image; types: what the event says of it, NULL = nothing. A value that was left out:
 * a null, and a->left_out is set. */
typedef bl_status (*bl_event_value)(bl_applying *a, bl_builder *b, const bl_field *f, const bl_json *v,
                                    const bl_json *types, bl_error *err);
/* A row of an image (an object). deletes: only the key is taken. What a changelog's image lacks is the default,
 * another's may be told elsewhere (telling.h). BL_USAGE: members that the table does not have, a key that is not there,
 * a required column without value. types: objects with "field", or NULL. */
bl_status bl_applying_put(bl_applying *a, const bl_json *image, const bl_json *types, bool deletes, int64_t rank,
                          bl_event_value value, bl_error *err) BL_CHECKED;

bl_status bl_apply_debezium(bl_applying *a, const bl_json *event, bl_error *err) BL_CHECKED; /* apply_debezium.c */
bl_status bl_apply_change(bl_applying *a, const bl_json *event, bl_error *err) BL_CHECKED;   /* apply_changes.c */

/* ---- our own changelog ---- */
bl_status bl_apply_images(bl_applying *a, const bl_events *e, struct ArrowArray *batch /* taken over */,
                          bl_error *err) BL_CHECKED; /* apply_images.c */
void bl_images_dispose(bl_applying *a);
/* Is it a column of a changelog that is no column of the table? */
bool bl_is_changelog_name(const bl_applying *a, bl_str name);

/* What an event says of the commit that it is of. */
typedef struct bl_told {
  bool any; /* which commit it is */
  int64_t commit;
  bl_str type;               /* p NULL: not told */
  bool puts;                 /* INSERT, UPDATE_AFTER */
  int64_t sequence, updated; /* 0: not told */
} bl_told;
void bl_told_by_image(const bl_events *e, int64_t row, bl_told *out);
/* Which events were applied before: those of commits that the branch has recorded, and those before them. anyway: what
 * cannot be ordered counts as new; else it is BL_USAGE. */
bl_status bl_apply_changes_begin(bl_applying *a, bl_events *events, const bl_snapshot *head, bool anyway,
                                 bl_error *err) BL_CHECKED; /* apply_changes.c */
/* The event in hand is counted; *rank: its place among all; *applied: before. */
bl_status bl_apply_changes_take(bl_applying *a, const bl_told *told, bool *applied, int64_t *rank,
                                bl_error *err) BL_CHECKED;
/* The position that the batch leads to. */
bl_status bl_apply_changes_finish(bl_applying *a, bl_error *err) BL_CHECKED;
void bl_apply_changes_dispose(bl_applying *a);

#endif
