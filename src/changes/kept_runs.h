/* kept_runs.h: the rows that one step of a log brought, kept for the step that takes them away again: their ids need
 * not be read twice. By parts of files whose rows are all there, as runs with resolved lineage, where these are few. */
#ifndef BL_CHANGES_KEPT_RUNS_H
#define BL_CHANGES_KEPT_RUNS_H

#include "changes/files.h"

/* Part k of n equal parts of a version's rows. */
typedef struct bl_part_name {
  uint32_t place; /* of the version */
  uint32_t k, n;
  int64_t first_row_id, sequence_number; /* that its rows inherit */
} bl_part_name;

typedef struct bl_kept_runs bl_kept_runs;
bl_status bl_kept_runs_new(bl_ctx *ctx, int64_t budget, bl_kept_runs **out, bl_error *err) BL_CHECKED;
void bl_kept_runs_free(bl_kept_runs *k); /* NULL allowed */
/* The runs of a part, in the order of its rows; runs (bl_alloc) are taken over, and dropped where there is no room for
 * them. By several threads. */
bl_status bl_kept_runs_put(bl_kept_runs *k, const bl_part_name *part, bl_run *runs, size_t n, bl_error *err) BL_CHECKED;
/* Hands them over (bl_free); NULL: they are not there. Their file is the version that they were put for. */
bl_run *bl_kept_runs_take(bl_kept_runs *k, const bl_part_name *part, size_t *n);

/* Runs as rows come, until there are too many. */
typedef struct bl_run_recorder {
  bl_run *runs;
  size_t n, cap;
  int64_t rows;
  bool off;
} bl_run_recorder;
bl_status bl_run_recorder_add(bl_run_recorder *r, bl_ctx *ctx, const bl_id_rows *rows, bl_error *err) BL_CHECKED;

#endif
