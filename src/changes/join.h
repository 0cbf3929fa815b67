/* join.h: identity by row id (docs/changelog.md C2, C3): removed runs against added runs. Pure but for the callbacks.
 */
#ifndef BL_CHANGES_JOIN_H
#define BL_CHANGES_JOIN_H

#include "changes/events.h"
#include "rows/key.h"

/* Sorts runs by (id, seq, rank of file, pos, file); user: the ranks (const uint32_t *). Runs without id are not for it.
 */
int bl_run_cmp(const void *a, const void *b, void *user);

typedef struct bl_hashed_row {
  bl_hash128 hash;
  int64_t id, seq; /* BL_NONE: no id */
  int64_t pos;
  uint32_t file;
  uint32_t ordinal; /* C14: of its event; join: the caller's number of the row */
} bl_hashed_row;

typedef struct bl_join_sink {
  /* An event over e->len rows (ordinal and basis are not set: BL_BASIS_ROW_ID). In ascending id order; updates, deletes
   * and inserts of one id in the order of their after image's (else before image's) rank, pos. */
  bl_status (*event)(void *user, const bl_event *e, bl_error *err);
  /* Rows that only moved (same id, same number), len of them; NULL = not wanted. */
  bl_status (*moved)(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err);
  /* C2, ids that are there twice, where values decide: set the hash of every row (one seed for all; the order of rows
   * may change, their `ordinal` stays). Called with many rows at once, of many ids. NULL: values do not matter. */
  bl_status (*hash_values)(void *user, bl_hashed_row *rows, size_t n, bl_error *err);
  /* An id that is there twice on a side. */
  void (*duplicate)(void *user, int64_t id);
  void *user;
} bl_join_sink;

/* removed and added are finished sorters of bl_run in bl_run_cmp order. Long runs meet as runs: work is proportional to
 * the number of runs, not rows. Within one id that is there twice on either side: (id, seq) matched as a multiset,
 * equal values first, then by rank and position; the rest paired in ascending order of seq (then rank, pos); what is
 * left over is DELETE or INSERT. */
bl_status bl_join_runs(bl_ctx *ctx, bl_sorter *removed, bl_sorter *added, const uint32_t *rank,
                       const bl_join_sink *sink, bl_error *err) BL_CHECKED;

/* ---- rows matched by hash: C4 ---- */
/* Sorts rows by hash, then those without id by (rank, pos) before those with, by id, rank, pos; user: the ranks. */
int bl_hashed_cmp(const void *a, const void *b, void *user);
/* C4 over the rows left on both sides, finished sorters of bl_hashed_row in bl_hashed_cmp order: matches equal hashes
 * as a multiset, only where at least one side has no id: null with null first, then null with the lowest ids. matched
 * is called for each pair; rest for each row left over (side 0 removed, 1 added). */
bl_status bl_match_values(bl_sorter *removed, bl_sorter *added,
                          bl_status (*matched)(void *user, const bl_hashed_row *before, const bl_hashed_row *after,
                                               bl_error *err),
                          bl_status (*rest)(void *user, int side, const bl_hashed_row *row, bl_error *err), void *user,
                          bl_error *err) BL_CHECKED;

#endif
