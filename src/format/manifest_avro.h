/* manifest_avro.h: manifests and manifest lists, Avro <-> model (spec: "Manifests", "Manifest Lists"; v1, v2, v3).
 * Fields are found by field id in the embedded Avro schema, in any order; extra ones are skipped, missing optional ones
 * null. */
#ifndef BL_FORMAT_MANIFEST_AVRO_H
#define BL_FORMAT_MANIFEST_AVRO_H

#include "format/avro.h"
#include "model/lineage.h"

/* All entries of a manifest list, in order. table_version: the table's format version (lists need no header key). */
bl_status bl_manifest_list_read(bl_ctx *ctx, bl_arena *a, const void *p, size_t n, int table_version,
                                bl_manifest_file **out, size_t *n_out, bl_error *err) BL_CHECKED;

typedef struct bl_manifest_read_options {
  const bl_metadata *metadata; /* for partition types by spec id (all schemas are searched for dropped sources) */
  bool metrics;                /* false: metrics maps are skipped (n_metrics 0) */
  bool keep_first_row_id; /* a manifest written by the attempt in progress: explicit ids kept though the manifest has
                             none */
} bl_manifest_read_options;
/* All entries of a manifest in file order, DELETED ones included, sequence numbers and first_row_id inherited (R3,
 * before any filter). `m` is the list's entry (for v1 inline manifests one made from the manifest itself with
 * bl_manifest_describe). Checks: required fields, status and content values known, counts not negative, content fits
 * the manifest's kind (the list is trusted; a header that disagrees is a warning), file format known. */
bl_status bl_manifest_read(bl_ctx *ctx, bl_arena *a, const void *p, size_t n, const bl_manifest_file *m,
                           const bl_manifest_read_options *o, bl_manifest_entry **out, size_t *n_out,
                           bl_error *err) BL_CHECKED;
/* v1 inline manifests: what the list would have said (path, length, spec id from the header, counts BL_NONE). */
bl_status bl_manifest_describe(bl_ctx *ctx, bl_arena *a, bl_str path, const void *p, size_t n, const bl_snapshot *s,
                               bl_manifest_file *out, bl_error *err) BL_CHECKED;

/* Writers: exact field ids and names of the format version; partition field names sanitised as Iceberg does
 * (iceberg-field-name kept). Entries are written as they are (W1, W2: callers set stored_first_row_id, null sequence
 * numbers = BL_NONE). */
bl_status bl_manifest_write(bl_ctx *ctx, const bl_metadata *md, int32_t spec_id, int32_t schema_id,
                            bl_manifest_content content, const bl_manifest_entry *const *entries, size_t n, bl_buf *out,
                            bl_error *err) BL_CHECKED;
bl_status bl_manifest_list_write(bl_ctx *ctx, const bl_metadata *md, const bl_snapshot *s, const bl_manifest_file *list,
                                 size_t n, bl_buf *out, bl_error *err) BL_CHECKED;

#endif
