/* plan.h: the live data files of a snapshot that can hold wanted rows, and the deletes that apply to each
 * (spec: "Scan Planning"). No data file is opened. */
#ifndef BL_SCAN_PLAN_H
#define BL_SCAN_PLAN_H

#include "model/expr.h"
#include "scan/delete_index.h"
#include "scan/typed_specs.h"
#include "table/manifests.h"

typedef struct bl_scan_file {
  const bl_manifest_entry *data;
  bl_file_deletes deletes;
} bl_scan_file;

typedef struct bl_plan_counts {
  size_t manifests_opened, manifests_skipped; /* data manifests */
  size_t delete_manifests_opened, delete_manifests_skipped;
  size_t files, files_skipped, delete_files;
  int64_t rows, bytes; /* at most */
} bl_plan_counts;

typedef struct bl_plan_manifest {
  const bl_manifest_file *manifest;
  const char *skipped; /* why it was not opened; NULL: it was */
} bl_plan_manifest;

typedef struct bl_plan {
  bl_ctx *ctx;
  bl_arena **arenas; /* everything below lives here: one an opened manifest, one for the rest */
  size_t n_arenas;
  bl_scan_file *files; /* in list order, entry order */
  size_t n_files;
  bl_plan_manifest *manifests; /* in list order */
  size_t n_manifests;
  bl_plan_counts counts;
  bl_delete_index *deletes;
} bl_plan;

typedef struct bl_plan_options {
  const bl_expr *filter;   /* bound to `schema` and the metadata columns; NULL = all rows */
  const bl_schema *schema; /* what the filter was bound to */
  bool metrics;            /* keep column metrics even without a filter */
  bool share_deletes;      /* bl_delete_index_share: less memory, lists may hold deletes that bounds rule out */
} bl_plan_options;

/* s NULL (a table without snapshot): an empty plan. Manifests are read on the ctx's threads. */
bl_status bl_plan_new(bl_table *t, const bl_snapshot *s, const bl_plan_options *o, bl_plan **out,
                      bl_error *err) BL_CHECKED;
void bl_plan_free(bl_plan *p); /* NULL allowed */

/* Statistics of the lineage columns and constants of one data file (user: the bl_manifest_entry): _row_id is
 * arithmetic where the file stores none, the last-updated number is bounded by rule R5; _file and _spec_id are
 * constant. */
bool bl_meta_stats(void *data_entry, const bl_field *f, bl_stats *out);
/* The same, and those of the parts of _partition (bl_filter_meta_schema); user: a bl_entry_told. */
typedef struct bl_entry_told {
  const bl_manifest_entry *entry;
  const bl_typed_specs *specs;
} bl_entry_told;
bool bl_entry_stats(void *user, const bl_field *f, bl_stats *out);

#endif
