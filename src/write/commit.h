/* commit.h: the attempt loop (docs/commit-protocol.md). One attempt:
 *   load the newest metadata -> uuid and format checks -> conflict checks against what was committed since the staging
 * base -> manifests of the change (written once, reused by later attempts; deletion vectors again where the base's
 * changed) -> manifest list with row ids (W3) -> new metadata file -> the catalog swaps the pointer.
 * commit.retry.num-retries, .min-wait-ms, .max-wait-ms, .total-timeout-ms are honoured. After success the files of
 * failed attempts are removed; when the outcome of a swap is unknown, nothing is (BL_UNKNOWN), after a look whether it
 * did succeed. */
#ifndef BL_WRITE_COMMIT_H
#define BL_WRITE_COMMIT_H

#include "bergline/write.h"
#include "write/metadata_edit.h"
#include "write/staged.h"

/* Commit a staged change to a branch. o may be NULL; with dry_run nothing is written, with stage nothing is committed
 * (bl_staged_give). Nothing staged
 * and no batch id: nothing committed. Files of the commit's own are gone after a failure (but BL_UNKNOWN), those that
 * were staged are left for another try: bl_staged_discard. Where the branch holds the batch already they are removed,
 * but those of documents (r->already_applied). BL_CONFLICT: retries used up, or a conflict that no retry can mend
 * (names the snapshot and file); BL_USAGE: the ref is a tag, a folder that belongs to a catalog, a table opened by
 * metadata file; BL_NOT_FOUND: the table was dropped; BL_UNKNOWN. */
bl_status bl_commit_change(bl_table *t, bl_staged *s, const bl_write_options *o, bl_write_result *r,
                           bl_error *err) BL_CHECKED;

/* A change of metadata alone, of this verb: edit is called in each attempt with the newest metadata and a copy of its
 * document to edit, to which batch id and summary of o (may be NULL) are added (metadata_note.h). Nothing is written
 * where that says the same afterwards, for a dry run, or where the table has the batch (*o->already_applied): then edit
 * is not called. */
typedef bl_status (*bl_metadata_edit)(void *user, bl_edit *e, bl_error *err);
bl_status bl_commit_metadata(bl_table *t, const char *verb, bl_metadata_edit edit, void *user,
                             const bl_write_options *o, bl_error *err) BL_CHECKED;
/* BL_USAGE: the options (which may be NULL) ask for what the verb does not have: a change that is staged, a WAP id. */
bl_status bl_not_staged_check(const char *verb, const bl_write_options *o, bl_error *err) BL_CHECKED;

/* Pairs for a summary, as the caller gives them. BL_USAGE: malformed, one twice, a key that the table sets itself. */
bl_status bl_summary_check(const bl_write_options *o, bl_error *err) BL_CHECKED;

/* The version of the table that a verb begins on: t, or the newest where the branch of the options (which may be NULL)
 * is not in t, or their batch is. What can be told before any row is read, also of a dry run: may the table be written
 * (bl_pointer_check), is the summary allowed, is the branch there? BL_USAGE, BL_NOT_FOUND; BL_CONFLICT: another table
 * has the name by now. */
bl_status bl_branch_base(bl_table *t, const bl_write_options *o, bl_table **base, bl_error *err) BL_CHECKED;
/* The same for verbs on rows; *applied: the branch holds the batch already. BL_UNSUPPORTED: files would have to be
 * encrypted. */
bl_status bl_write_base(bl_table *t, const bl_write_options *o, bl_table **base, bool *applied,
                        bl_error *err) BL_CHECKED;
void bl_write_base_free(bl_table *base /* NULL allowed */, const bl_table *t);
/* The branch that the options (which may be NULL) mean: main where they name none. */
bl_str bl_branch_of(const bl_write_options *o);
/* What a commit to a branch rests on; *head NULL: main has no snapshot yet. BL_USAGE: a tag; BL_NOT_FOUND. */
bl_status bl_branch_head(const bl_table *t, bl_str name, const bl_snapshot **head, bl_error *err) BL_CHECKED;
/* The position of a source (BL_SOURCE_POSITION) that a snapshot has recorded, or the nearest of its ancestors that has
 * one; p NULL: none has. s may be NULL. */
bl_str bl_recorded_position(const bl_metadata *md, const bl_snapshot *s);
/* The snapshot of a branch, or of its ancestors, that holds this batch, or one that is staged under the WAP id (NULL:
 * none is asked for) and holds it; NULL: none does. */
const bl_snapshot *bl_batch_find(const bl_table *t, bl_str ref, const char *batch_id, const char *wap_id);
/* Does the branch of the options (which may be NULL) hold their batch already? */
bool bl_batch_is_applied(const bl_table *t, const bl_write_options *o);
/* Does the branch hold the change of a snapshot already: itself, picked, or by its WAP or batch id? */
bool bl_pick_is_applied(const bl_metadata *md, bl_str ref, const bl_snapshot *pick);

#endif
