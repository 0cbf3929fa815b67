/* inspect.h: what the parts of bl_inspect share. */
#ifndef BL_INSPECT_INSPECT_H
#define BL_INSPECT_INSPECT_H

#include "bergline/inspect.h"
#include "inspect/report.h"
#include "table/refs.h"
#include "table/table.h"

typedef struct bl_inspection {
  bl_table *t;
  const bl_metadata *m;
  bl_snap at; /* kinds that take `at`; snapshot NULL: an empty table */
  const bl_sink *sink;
  bool text;
  bl_arena *arena; /* for the whole inspection */
} bl_inspection;

/* A report with these columns (borrowed) for rows, or for one object. */
bl_status bl_inspect_rows(const bl_inspection *w, const char *const *columns, size_t n, bl_report **out,
                          bl_error *err) BL_CHECKED;
bl_status bl_inspect_object(const bl_inspection *w, const char *const *columns, size_t n, bl_report **out,
                            bl_error *err) BL_CHECKED;
/* End a report: finished where st is BL_OK, else aborted. */
bl_status bl_inspect_end(bl_report *r, bl_status st, bl_error *err) BL_CHECKED;

/* inspect_metadata.c */
bl_status bl_inspect_info(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_schema(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_spec(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_properties(const bl_inspection *w, bl_error *err) BL_CHECKED;
/* inspect_snapshots.c */
bl_status bl_inspect_snapshots(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_history(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_refs(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_metadata_log(const bl_inspection *w, bl_error *err) BL_CHECKED;
/* inspect_manifests.c */
bl_status bl_inspect_manifests(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_all_manifests(const bl_inspection *w, bl_error *err) BL_CHECKED;
/* inspect_files.c: which manifests are read, which of their entries are shown */
bl_status bl_inspect_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_data_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_delete_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_all_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_all_data_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_all_delete_files(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_entries(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_all_entries(const bl_inspection *w, bl_error *err) BL_CHECKED;
/* inspect_partitions.c */
bl_status bl_inspect_partitions(const bl_inspection *w, bl_error *err) BL_CHECKED;
/* inspect_position_deletes.c, inspect_row_ids.c: these read delete files and footers */
bl_status bl_inspect_position_deletes(const bl_inspection *w, bl_error *err) BL_CHECKED;
bl_status bl_inspect_row_ids(const bl_inspection *w, bl_error *err) BL_CHECKED;

/* Visit the manifests of the snapshot w->at, or those of all snapshots, each path once; `reference` is the snapshot
 * that led to it. */
typedef bl_status bl_manifest_visit(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err);
bl_status bl_inspect_each_manifest(const bl_inspection *w, bool all, bool repeat, bl_manifest_visit *visit, void *user,
                                   bl_error *err) BL_CHECKED;

#endif
