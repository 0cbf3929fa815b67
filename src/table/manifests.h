/* manifests.h: the manifests of a snapshot and their entries, read through the table's I/O. Thread-safe as long as each
 * caller has its own arena. Errors name the file: BL_NOT_FOUND where it is missing, BL_UNSUPPORTED where it is
 * encrypted, BL_DAMAGED with a byte position. */
#ifndef BL_TABLE_MANIFESTS_H
#define BL_TABLE_MANIFESTS_H

#include "format/manifest_avro.h"
#include "table/table.h"

/* All manifests of a snapshot, in list order, in arena a; v1 snapshots with manifests inline included (each manifest is
 * then opened for its header). */
bl_status bl_table_manifests(const bl_table *t, const bl_snapshot *s, bl_arena *a, bl_manifest_file **out, size_t *n,
                             bl_error *err) BL_CHECKED;
/* All entries of one manifest in file order, DELETED ones included, everything inherited. metrics false: bounds and
 * counts are left out. */
bl_status bl_table_manifest_entries(const bl_table *t, const bl_manifest_file *m, bool metrics, bl_arena *a,
                                    bl_manifest_entry **out, size_t *n, bl_error *err) BL_CHECKED;

#endif
