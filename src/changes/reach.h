/* reach.h: which manifests deletes and files can meet in, by spec, partition summaries and sequence numbers (docs/
 * changelog.md "Cost"). */
#ifndef BL_CHANGES_REACH_H
#define BL_CHANGES_REACH_H

#include "scan/delete_index.h"
#include "scan/typed_specs.h"

/* ---- from deletes to data manifests ---- */

enum { BL_OLDER = 0, BL_NEWER = 1 };

/* Deletes that are live in one of two snapshots only. A delete that names one data file is done with when the file was
 * found; others reach whatever is of their (spec, partition), or everything. */
typedef struct bl_reach bl_reach;
/* md and specs are borrowed. */
bl_status bl_reach_new(bl_ctx *ctx, const bl_metadata *md, const bl_typed_specs *specs, bl_reach **out,
                       bl_error *err) BL_CHECKED;
void bl_reach_free(bl_reach *r); /* NULL allowed */
/* e: a delete, live in the snapshot `side` only; borrowed. */
bl_status bl_reach_add(bl_reach *r, const bl_manifest_entry *e, int side, bl_error *err) BL_CHECKED;
/* The data file of this path is live in the snapshot `side`. */
void bl_reach_found(bl_reach *r, bl_str path, int side);
bool bl_reach_missing(const bl_reach *r); /* is a named file still to be found? */
/* May a data manifest hold a file that a delete without name reaches? */
bool bl_reach_wide(const bl_reach *r, const bl_manifest_file *m);
bool bl_reach_has_equality(const bl_reach *r);
/* May it hold a named file that is still to be found? */
bool bl_reach_named(const bl_reach *r, const bl_manifest_file *m);
/* May it hold a file that a delete of the newer side names, in a partition that is not the delete's? That is damage,
 * and to be looked for only when the file is nowhere else. */
bool bl_reach_stray(const bl_reach *r, const bl_manifest_file *m);

/* ---- from data files to delete manifests ---- */

typedef struct bl_cover bl_cover;
bl_status bl_cover_new(bl_ctx *ctx, const bl_typed_specs *specs, bl_cover **out, bl_error *err) BL_CHECKED;
void bl_cover_free(bl_cover *c);                                                              /* NULL allowed */
bl_status bl_cover_add(bl_cover *c, const bl_manifest_entry *data, bl_error *err) BL_CHECKED; /* borrowed */
/* May a delete manifest hold a delete that reaches one of the files? */
bool bl_cover_may_meet(const bl_cover *c, const bl_manifest_file *m);

#endif
