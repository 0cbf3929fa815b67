/* diff.h: the data files of which rows may have come or gone between two snapshots, found from metadata alone
 * (docs/changelog.md C1, C6, C8 and "Cost").
 *
 * 1. Manifests in both lists (same path) are not opened, except data manifests that can hold a kept file which a
 * changed delete may reach, and delete manifests that can reach a touched file.
 * 2. A file's place is (path, data sequence number, file sequence number). Live entries are compared by place; their
 * status is not trusted.
 * 3. A kept file is touched where the set of deletes that can apply to it differs.
 * 4. What a touched file carries as deletes is everything that applies to it on that side, unchanged deletes included.
 */
#ifndef BL_CHANGES_DIFF_H
#define BL_CHANGES_DIFF_H

#include "scan/plan.h"

typedef struct bl_touched {
  const bl_manifest_entry *old_entry; /* as live in the older snapshot; NULL: added */
  const bl_manifest_entry
      *new_entry; /* as live in the newer; NULL: removed. Both: kept (first_row_id may differ: C5, C8) */
  bl_file_deletes old_deletes, new_deletes;
} bl_touched;

typedef struct bl_diff_memory bl_diff_memory;

typedef struct bl_diff {
  const bl_touched *items; /* removed, added and kept ones in the order (old list order, then new list order) */
  size_t n;
  bool ids_differ; /* a kept file of the opened manifests has two different first_row_ids: branches diverged over an
                      upgrade */
  bool metadata_proves_replace; /* C8, what metadata tells without a footer: see diff.c. The newer snapshot is a
                                   `replace` */
  bool may_prove_replace; /* not proven, not contradicted: the added files' footers decide (are both lineage columns
                             stored without nulls, with bounds inside those of the removed rows?) */
  bl_plan_counts counts;
  bl_diff_memory *memory; /* private */
} bl_diff;

/* Keeps manifest lists of the last snapshots, some opened manifests, and every entry that a diff gave out: they live as
 * long as it, and so do all diffs that are not released. */
typedef struct bl_differ bl_differ;
bl_status bl_differ_new(bl_table *t, bl_differ **out, bl_error *err) BL_CHECKED;
void bl_differ_free(bl_differ *d); /* NULL allowed */
/* Each run then tells of every manifest of the two lists, once, whether it was opened and why (a literal). */
typedef bl_status (*bl_manifest_note)(void *user, const bl_manifest_file *m, bool opened, const char *why,
                                      bl_error *err);
void bl_differ_note(bl_differ *d, bl_manifest_note note, void *user);
/* from NULL: the empty table. BL_NOT_FOUND, BL_DAMAGED, … as the plan of a scan. */
bl_status bl_differ_run(bl_differ *d, const bl_snapshot *from, const bl_snapshot *to, bl_diff *out,
                        bl_error *err) BL_CHECKED;
/* Frees the items and lists of deletes of one diff; the entries stay. */
void bl_diff_release(bl_differ *d, bl_diff *diff);

#endif
