/* metadata_note.h: who changed a table's metadata, why, and in which batch. A change of metadata alone has no snapshot
 * whose summary could say it; two properties of the table do:
 *
 *   bergline.metadata-batches  a JSON list of "VERB BATCH-ID", oldest first: the last BL_BATCHES_KEPT, and the table's
 *                              creation.
 *   bergline.metadata-summary  a JSON object of the last change that had something to say: "verb", "timestamp-ms",
 *                              "batch-id", "summary" (an object).
 *
 * A batch counts by verb and id: one id may stand for a run of several verbs. */
#ifndef BL_WRITE_METADATA_NOTE_H
#define BL_WRITE_METADATA_NOTE_H

#include "bergline/write.h"
#include "format/json.h"
#include "model/metadata.h"

enum { BL_BATCHES_KEPT = 100 };
#define BL_VERB_CREATE_BRANCH "create-branch"

/* *yes: the properties tell of the batch of o (which may be NULL, or have none). A list that is damaged tells of
 * nothing. */
bl_status bl_note_is_there(bl_ctx *ctx, const bl_pairs *properties, const char *verb, const bl_write_options *o,
                           bool *yes, bl_error *err) BL_CHECKED;
/* Put batch id and summary of o into an object of properties. Neither: nothing is put. */
bl_status bl_note_put(bl_arena *a, bl_json *properties, const char *verb, const bl_write_options *o, int64_t now_ms,
                      bl_error *err) BL_CHECKED;

#endif
