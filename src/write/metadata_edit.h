/* metadata_edit.h: edits of a table's metadata document: what is not known stays as it is. Every edit keeps the rules
 * that readers check (format/metadata_check.h) and that the spec asks of writers:
 * 1. main and current-snapshot-id are one; a change of it is a line in the snapshot log.
 * 2. last-sequence-number, next-row-id, last-column-id and last-partition-id never go back.
 * 3. Format version 1 keeps its old fields (schema, partition-spec) beside the lists, and they agree. */
#ifndef BL_WRITE_METADATA_EDIT_H
#define BL_WRITE_METADATA_EDIT_H

#include "format/json.h"
#include "model/metadata.h"

typedef struct bl_table bl_table;
typedef struct bl_unsynced bl_unsynced;

typedef struct bl_edit {
  bl_arena *a;
  bl_table *table;         /* at the base; NULL: there is none */
  bl_unsynced *written;    /* where files that the edit writes and names are put: synced before the pointer moves */
  const bl_metadata *base; /* as it was before */
  bl_json *doc;            /* a copy to be edited */
  int64_t now_ms;          /* the time of the change */
} bl_edit;

/* now_ms: the ctx's time, at least the base's last-updated-ms. BL_IO: the clock is more than a minute behind it. */
bl_status bl_edit_begin(bl_arena *a, const bl_metadata *base, bl_edit *out, bl_error *err) BL_CHECKED;
/* For an edit that adds a snapshot and moves a ref: snapshots and log lines that are there are not copied, nor may they
 * be changed; base must outlive the edit. Their number is then of little weight. */
bl_status bl_edit_begin_adding(bl_arena *a, const bl_metadata *base, bl_edit *out, bl_error *err) BL_CHECKED;

/* The member `key` of the document as a list or an object, made where it is absent or null. NULL = no memory. */
bl_json *bl_edit_list(bl_edit *e, const char *key);
bl_json *bl_edit_object(bl_edit *e, const char *key);
bl_status bl_edit_set(bl_edit *e, const char *key, bl_json *v /* NULL: no memory */, bl_error *err) BL_CHECKED;

bl_status bl_edit_property(bl_edit *e, bl_str key, bl_str value, bl_error *err) BL_CHECKED;
void bl_edit_unset_property(bl_edit *e, const char *key);

/* A snapshot is added; the highest sequence number and next-row-id go along. No ref is moved. */
bl_status bl_edit_add_snapshot(bl_edit *e, const bl_snapshot *s, int64_t next_row_id, bl_error *err) BL_CHECKED;
/* A ref is made, or moved: r->has_… false keeps what the ref had. */
bl_status bl_edit_set_ref(bl_edit *e, const bl_ref *r, bl_error *err) BL_CHECKED;
bl_status bl_edit_remove_ref(bl_edit *e, bl_str name, bl_error *err) BL_CHECKED;

/* Schemas, specs, orders, as JSON: each is added where one that says the same is not there yet, and becomes the current
 * one; *id is its id. */
bl_status bl_edit_current_schema(bl_edit *e, bl_json *schema, int32_t last_column_id, int32_t *id,
                                 bl_error *err) BL_CHECKED;
bl_status bl_edit_default_spec(bl_edit *e, bl_json *spec, int32_t last_partition_id, int32_t *id,
                               bl_error *err) BL_CHECKED;
bl_status bl_edit_default_order(bl_edit *e, bl_json *order, int32_t *id, bl_error *err) BL_CHECKED;

/* Does the document say something else than the base? */
bool bl_edit_changed(const bl_edit *e);
/* The last step: last-updated-ms, and the base's file in the metadata log, which is trimmed by
 * write.metadata.previous-versions-max. The files that fell out of the log: *dropped, n of them, in the arena. */
bl_status bl_edit_finish(bl_edit *e, bl_str base_file, bl_str **dropped, size_t *n, bl_error *err) BL_CHECKED;

#endif
