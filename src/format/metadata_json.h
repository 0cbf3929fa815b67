/* metadata_json.h: table metadata JSON <-> model (spec: "Appendix C: JSON serialization"; v1, v2, v3). */
#ifndef BL_FORMAT_METADATA_JSON_H
#define BL_FORMAT_METADATA_JSON_H

#include "format/json.h"
#include "model/metadata.h"

/* Bytes, plain or gzip (by content, unpacked size bounded by the ctx) -> model with its own arena. BL_DAMAGED:
 * position, JSON path and why; BL_UNSUPPORTED: format-version above 3, unknown type. Semantics checked here: references
 * between ids (current schema, default spec, refs, parents), duplicate snapshot and field ids, required fields per
 * version, main = current. */
bl_status bl_metadata_parse(bl_ctx *ctx, const void *p, size_t n, bl_metadata **out, bl_error *err) BL_CHECKED;
void bl_metadata_free(bl_metadata *m);

/* Parts, also used for Avro "schema" headers and by writers. */
bl_status bl_schema_from_json(bl_arena *a, const bl_json *v, bl_schema *out, bl_error *err) BL_CHECKED;
bl_json *bl_schema_to_json(bl_arena *a, const bl_schema *s); /* NULL = no memory */
/* Field ids are optional in format version 1: they then count from here, by position. */
enum { BL_FIRST_PARTITION_ID = 1000 };
bl_status bl_spec_fields_from_json(bl_arena *a, const bl_json *array, bl_partition_spec *out, bl_error *err) BL_CHECKED;
bl_json *bl_spec_to_json(bl_arena *a, const bl_partition_spec *s);
bl_status bl_sort_order_from_json(bl_arena *a, const bl_json *v, bl_sort_order *out, bl_error *err) BL_CHECKED;
bl_json *bl_sort_order_to_json(bl_arena *a, const bl_sort_order *o);
/* Single values (spec Appendix D, "JSON single-value serialization"). */
bl_status bl_value_from_json(bl_arena *a, const bl_type *t, const bl_json *v, bl_value *out, bl_error *err) BL_CHECKED;
bl_json *bl_value_to_json(bl_arena *a, const bl_type *t, const bl_value *v);

/* Name mapping (property schema.name-mapping.default). */
typedef struct bl_mapped_field bl_mapped_field;
struct bl_mapped_field {
  int32_t id; /* -1 = none */
  bl_str *names;
  size_t n_names;
  bl_mapped_field *fields;
  size_t n_fields;
};
typedef struct bl_name_mapping {
  bl_mapped_field *fields;
  size_t n_fields;
} bl_name_mapping;
bl_status bl_name_mapping_parse(bl_arena *a, bl_str json, bl_name_mapping *out, bl_error *err) BL_CHECKED;
const bl_mapped_field *bl_name_mapping_find(const bl_mapped_field *fields, size_t n, bl_str name);

bool bl_is_gzip(const void *p, size_t n); /* by the first bytes */
/* gunzip where the bytes begin with 1f 8b (any number of members), else a plain copy; bounded by max. */
bl_status bl_gunzip(bl_ctx *ctx, const void *p, size_t n, size_t max, bl_buf *out, bl_error *err) BL_CHECKED;
/* One member. */
bl_status bl_gzip(bl_ctx *ctx, const void *p, size_t n, bl_buf *out, bl_error *err) BL_CHECKED;

#endif
