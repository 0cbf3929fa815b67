/* bergline/scan.h: the live rows of a table at a snapshot, with their lineage (spec: "Scan Planning", "Row Lineage").
 */
#ifndef BERGLINE_SCAN_H
#define BERGLINE_SCAN_H

#include "bergline/arrow_c.h"
#include "bergline/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed = all rows and columns of the head of main, in list order, entry order, position. Strings are borrowed for the
 * call. */
typedef struct bl_scan_options {
  const char *at;  /* SNAP: id, ref or ISO-8601 time (by the snapshot log on main); NULL = the head of `ref` */
  const char *ref; /* NULL = main */
  const char *const *columns; /* NULL = all of the schema. "b.c" gives a pruned struct; metadata columns: _row_id,
                                 _last_updated_sequence_number, _file, _pos, _spec_id, _partition, _last_updated_at,
                                 each also as meta.NAME */
  size_t n_columns;
  const char *where; /* predicate, SQL three-valued logic; NULL = all rows */
  bool lineage;      /* append _row_id and _last_updated_sequence_number */
  bool has_limit;
  int64_t limit;
  bool unordered;       /* rows as they are found */
  bool require_lineage; /* fail with BL_FOUND at the first row without an id */
} bl_scan_options;

/* A stream of record batches, at most 65,536 rows each, in the canonical Arrow layout (bergline/sys/data.h) with field
 * ids in PARQUET:field_id. The table must outlive the stream. The row at position p of a data file has _row_id = stored
 * value, else the file's first_row_id + p; both lineage columns are null where the file has no first_row_id. BL_USAGE:
 * unknown column, malformed predicate (position = byte in `where`), ambiguous SNAP; BL_NOT_FOUND: snapshot, ref, a
 * file; BL_DAMAGED; BL_UNSUPPORTED; BL_IO; BL_NOMEM. Errors after the first batch come from get_next: the errno stands
 * for the status (bl_status_of_errno) and get_last_error gives the message. */
BL_API bl_status bl_scan(bl_table *t, const bl_scan_options *o, struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

typedef enum bl_plan_format { BL_PLAN_JSON, BL_PLAN_TEXT } bl_plan_format;
typedef struct bl_plan_request {
  bl_plan_format format;
  bool footers; /* open the files' footers too, for row groups and stored lineage columns */
} bl_plan_request;
/* What the same scan would read, as a JSON document {"snapshot-id", "counts": {…}, "tasks": […]} or as a table, without
 * opening a data file. Each element of "tasks" can be given to bl_run_task; the document is written task by task, so
 * that its size does not matter. */
BL_API bl_status bl_scan_plan(bl_table *t, const bl_scan_options *o, const bl_plan_request *q, const bl_sink *sink,
                              bl_error *err) BL_CHECKED;

/* Run one task of a plan in any process that reaches the same files. drivers NULL = the built-in ones; path_maps as in
 * bl_table_options. BL_USAGE: no task of this version. */
BL_API bl_status bl_run_task(bl_ctx *ctx, const char *json, size_t n, const bl_table_options *o,
                             struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

BL_API void bl_text_free(bl_ctx *ctx, char *text);
/* The status behind an errno of a stream's get_next. */
BL_API bl_status bl_status_of_errno(int code);

#ifdef __cplusplus
}
#endif
#endif
