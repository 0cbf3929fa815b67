/* scan_private.h: a prepared scan, shared by scan.c and plan_json.c. */
#ifndef BL_SCAN_SCAN_PRIVATE_H
#define BL_SCAN_SCAN_PRIVATE_H

#include "bergline/scan.h"
#include "scan/columns.h"
#include "scan/plan.h"

typedef struct bl_scan_job {
  bl_arena *arena; /* holds the job itself */
  bl_table *t;
  const bl_snapshot *snapshot; /* NULL: an empty table */
  const bl_schema *schema;
  bl_columns columns, filter_columns;
  bl_expr *filter; /* NULL = all rows */
  bl_plan *plan;
} bl_scan_job;

bl_status bl_scan_job_new(bl_table *t, const bl_scan_options *o, bl_scan_job **out, bl_error *err) BL_CHECKED;
void bl_scan_job_free(void *job);
/* Add the columns that a bound filter reads. */
bl_status bl_filter_columns(bl_columns *c, const bl_expr *filter, bl_error *err) BL_CHECKED;

#endif
