/* lineage.h: row lineage as arithmetic (spec: "Row Lineage", "First Row ID Assignment"; rules R3, W3 of
 * docs/lineage.md). Pure functions. */
#ifndef BL_MODEL_LINEAGE_H
#define BL_MODEL_LINEAGE_H

#include "model/manifest.h"

/* R3: resolve file.first_row_id of all entries of one committed data manifest in file order, from the manifest's
 * first_row_id (BL_NONE: null for all). Entries hold the stored value in stored_first_row_id. BL_DAMAGED where an id
 * would pass int64, is negative, or a record count is negative. */
bl_status bl_lineage_inherit(const bl_manifest_file *m, bl_manifest_entry *entries, size_t n, bl_error *err) BL_CHECKED;

/* W3: give first_row_id to each data manifest of `list` (in order) that has none, counting from next_row_id;
 * *next_out is the new next-row-id. rows[i] = added + existing rows of manifest i. BL_DAMAGED on overflow. */
bl_status bl_lineage_assign(bl_manifest_file *list, const int64_t *rows, size_t n, int64_t next_row_id,
                            int64_t *next_out, bl_error *err) BL_CHECKED;

#endif
