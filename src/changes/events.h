/* events.h: rows that came or went as compact runs, and what the join makes of them.
 *
 * A run is `len` rows with consecutive ids (or none), one sequence number, at consecutive positions of one file. Files
 * are numbered by the caller; rank[file] orders them by path, bytewise (equal paths equal rank). */
#ifndef BL_CHANGES_EVENTS_H
#define BL_CHANGES_EVENTS_H

#include "base/alloc.h"

typedef struct bl_run {
  int64_t id;  /* of the first row; INT64_MIN (BL_NONE) = rows without id */
  int64_t seq; /* of every row; BL_NONE without id */
  int64_t pos; /* of the first row */
  uint32_t file;
  uint32_t len;
} bl_run;

enum { BL_NO_FILE = UINT32_MAX };

typedef enum bl_change_type { BL_INSERT = 0, BL_DELETE = 1, BL_UPDATE = 2 } bl_change_type;
typedef enum bl_change_basis {
  BL_BASIS_ROW_ID,
  BL_BASIS_VALUE,
  BL_BASIS_EQUALITY_DELETE,
  BL_BASIS_GAP,
  BL_BASIS_KEY
} bl_change_basis;

/* `len` events of one kind. An INSERT has no before image, a DELETE no after image. */
typedef struct bl_event {
  int64_t before_id, after_id; /* BL_NONE: no image, or a row without id. Equal in an update but for C14's pairs */
  int64_t before_seq, after_seq;
  int64_t before_pos, after_pos;
  uint32_t before_file, after_file; /* BL_NO_FILE: no such image */
  uint32_t len;
  uint32_t ordinal;
  uint8_t type, basis;
} bl_event;

/* Of the after image, else of the before image. */
static inline int64_t bl_event_id(const bl_event *e) {
  return e->after_file != BL_NO_FILE ? e->after_id : e->before_id;
}

/* An event over len rows, whose first rows are those of the runs: UPDATE of both, DELETE of before alone, INSERT of
 * after alone (NULL: no such image). Ordinal and basis are 0. */
static inline bl_event bl_event_of(const bl_run *before, const bl_run *after, uint32_t len) {
  bl_event e = {.before_id = INT64_MIN,
                .after_id = INT64_MIN,
                .before_seq = INT64_MIN,
                .after_seq = INT64_MIN,
                .before_file = BL_NO_FILE,
                .after_file = BL_NO_FILE,
                .len = len};
  if (before)
    e.before_id = before->id, e.before_seq = before->seq, e.before_pos = before->pos, e.before_file = before->file;
  if (after) e.after_id = after->id, e.after_seq = after->seq, e.after_pos = after->pos, e.after_file = after->file;
  e.type = before && after ? BL_UPDATE : before ? BL_DELETE : BL_INSERT;
  return e;
}

/* Is the row the one behind the last of r, so that r may take it in? */
static inline bool bl_run_continues(const bl_run *r, const bl_run *row) {
  return r->file == row->file && r->seq == row->seq && r->pos + r->len == row->pos && r->len < UINT32_MAX &&
         (r->id == INT64_MIN || row->id == INT64_MIN ? r->id == row->id : r->id + r->len == row->id);
}

/* Row i of an event, as an event of one row. */
static inline bl_event bl_event_row(const bl_event *e, int64_t i) {
  bl_event one = *e;
  one.len = 1;
  one.before_pos += i;
  one.after_pos += i;
  if (one.before_id != INT64_MIN) one.before_id += i;
  if (one.after_id != INT64_MIN) one.after_id += i;
  return one;
}

/* Rows of one version with their ids and sequence numbers, at positions pos, pos + 1, … */
typedef struct bl_id_rows {
  const int64_t *ids, *seqs;
  int64_t n, pos;
  uint32_t file;
} bl_id_rows;
/* The longest run that begins at row `at`, counted from r->pos. */
static inline bl_run bl_id_rows_run(const bl_id_rows *r, int64_t at) {
  int64_t i = at + 1;
  while (i < r->n && r->ids[i] == r->ids[i - 1] + 1 && r->seqs[i] == r->seqs[at] && i - at < UINT32_MAX) i++;
  return (bl_run){.id = r->ids[at], .seq = r->seqs[at], .pos = r->pos + at, .file = r->file, .len = (uint32_t)(i - at)};
}

/* ---- an append-only, then sequential store of fixed-size records; beyond `budget` bytes it goes to an unlinked
 * temporary file ---- */
typedef struct bl_spool bl_spool;
bl_status bl_spool_new(bl_ctx *ctx, size_t record, int64_t budget, bl_spool **out, bl_error *err) BL_CHECKED;
void bl_spool_free(bl_spool *s); /* NULL allowed */
bl_status bl_spool_add(bl_spool *s, const void *record, bl_error *err) BL_CHECKED;
int64_t bl_spool_count(const bl_spool *s);
/* Up to max records from index `from` on into out; how many in *n. Any number of readings, in any order. */
bl_status bl_spool_read(bl_spool *s, int64_t from, void *out, size_t max, size_t *n, bl_error *err) BL_CHECKED;
/* The same without a copy of what is in memory: *records (n of them, some at a time) is valid until the next view or
 * add. */
bl_status bl_spool_view(bl_spool *s, int64_t from, const void **records, size_t *n, bl_error *err) BL_CHECKED;
bool bl_spool_in_memory(const bl_spool *s); /* all of it */

/* ---- sorting records with a bounded memory: sorted chunks in temporary files, then a merge ---- */
typedef struct bl_sorter bl_sorter;
typedef int (*bl_record_cmp)(const void *a, const void *b, void *user);
bl_status bl_sorter_new(bl_ctx *ctx, size_t record, int64_t budget, bl_record_cmp cmp, void *user, bl_sorter **out,
                        bl_error *err) BL_CHECKED;
void bl_sorter_free(bl_sorter *s); /* NULL allowed */
bl_status bl_sorter_add(bl_sorter *s, const void *record, bl_error *err) BL_CHECKED;
int64_t bl_sorter_count(const bl_sorter *s);
/* Room for n records is made at once, as far as the budget goes. */
bl_status bl_sorter_reserve(bl_sorter *s, int64_t n, bl_error *err) BL_CHECKED;
/* Ends adding (already sorted input is not sorted again); then next gives the records in order, stable. *record NULL at
 * the end; valid until the next call. rewind starts again. */
bl_status bl_sorter_finish(bl_sorter *s, bl_error *err) BL_CHECKED;
bl_status bl_sorter_next(bl_sorter *s, const void **record, bl_error *err) BL_CHECKED;
bl_status bl_sorter_rewind(bl_sorter *s, bl_error *err) BL_CHECKED;

#endif
