/* partition.h: transforms, partition specs and tuples, sort orders (spec: "Partitioning", "Sorting",
 * "Appendix B: 32-bit Hash Requirements"). Floor division, UTC, signed. */
#ifndef BL_MODEL_PARTITION_H
#define BL_MODEL_PARTITION_H

#include "model/type.h"

typedef enum bl_transform_kind {
  BL_T_IDENTITY,
  BL_T_BUCKET,
  BL_T_TRUNCATE,
  BL_T_YEAR,
  BL_T_MONTH,
  BL_T_DAY,
  BL_T_HOUR,
  BL_T_VOID,
  BL_T_OTHER /* not known here: kept by name, never prunes */
} bl_transform_kind;

typedef struct bl_transform {
  bl_transform_kind kind;
  int32_t arg; /* bucket count or truncate width */
  bl_str text; /* as written in the metadata */
} bl_transform;

typedef struct bl_partition_field {
  int32_t field_id;    /* 1000… */
  int32_t *source_ids; /* usually one; v3 source-ids may hold several (multi-argument transforms) */
  size_t n_source_ids;
  bl_transform transform;
  bl_str name;
} bl_partition_field;

typedef struct bl_partition_spec {
  int32_t id;
  bl_partition_field *fields;
  size_t n_fields;
} bl_partition_spec;

typedef struct bl_sort_field {
  int32_t *source_ids;
  size_t n_source_ids;
  bl_transform transform;
  bool descending, nulls_last;
} bl_sort_field;

typedef struct bl_sort_order {
  int32_t id;
  bl_sort_field *fields;
  size_t n_fields;
} bl_sort_order;

bl_status bl_transform_parse(bl_arena *a, bl_str text, bl_transform *out, bl_error *err) BL_CHECKED;
/* Result type of a transform on a source type (identity, truncate: the source's; bucket: int; year, month,
 * hour: int; day: date; void: the source's). false: the transform does not take that type. */
bool bl_transform_result(const bl_transform *t, const bl_type *source, bl_type *out);
/* Apply; bytes results (truncate) are borrowed from the input. null gives null. */
bool bl_transform_apply(const bl_transform *t, const bl_type *source, const bl_value *v, bl_value *out);
/* May it stand in a partition tuple? A truncated decimal may have a digit more than its type allows, which no other
 * implementation writes. */
bool bl_partition_value_fits(const bl_type *source, const bl_value *v);
/* Is every field void (or are there none)? */
bool bl_spec_is_unpartitioned(const bl_partition_spec *s);
/* Type of each partition field: source looked up by id in `schema`, then (a dropped column) through `other`
 * schemas, newest first; a source found nowhere gives BL_KIND_UNKNOWN. out has n_fields entries. */
void bl_spec_types(const bl_partition_spec *s, const bl_schema *schema, const bl_schema *const *others, size_t n_others,
                   bl_type *out);
/* Bitwise tuple equality with one canonical NaN; -0.0 differs from 0.0. */
bool bl_tuple_same(const bl_value *a, size_t na, const bl_value *b, size_t nb);
uint64_t bl_tuple_hash(const bl_value *v, size_t n);
int32_t bl_murmur3(const void *p, size_t n); /* seed 0, as the spec's bucket hash */

#endif
