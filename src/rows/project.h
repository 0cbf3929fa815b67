/* project.h: a file's own columns -> the wanted columns, by field id (spec: "Column Projection"; docs/lineage.md R1,
 * R2, R4, R6).
 *
 * Each wanted column, at any depth, is: the file's column of that id (moved, or cast where the type was promoted; where
 * the file's is the promoted one, as long as the values fit: BL_UNSUPPORTED else) · else the value of the identity
 * partition field on it · else its initial default · else null · else (required) an error that names column and file.
 * Files without field ids go by the name mapping, else (Parquet) by position of top-level columns; lineage columns
 * never. Wanted top-level fields with reserved ids are metadata columns; _row_id and _last_updated_sequence_number are
 * filled here. */
#ifndef BL_ROWS_PROJECT_H
#define BL_ROWS_PROJECT_H

#include "bergline/sys/data.h"
#include "format/metadata_json.h"
#include "model/manifest.h"
#include "rows/arrow_own.h"

/* What the metadata says of a data file. */
typedef struct bl_file_facts {
  const bl_data_file *file;
  int64_t data_sequence_number;
  const bl_partition_spec *spec; /* NULL: no constants */
  const bl_metadata *metadata;   /* for _last_updated_at */
  bool is_new;                   /* the file is to join the table: columns wider than wanted are refused */
} bl_file_facts;

typedef struct bl_projection bl_projection;
/* wanted: a struct type, borrowed. mapping NULL = none. by_position: top-level columns of files without ids and
 * mapping. BL_DAMAGED: required column missing, a type that cannot be read as the wanted one; BL_UNSUPPORTED. */
bl_status bl_projection_new(bl_ctx *ctx, const bl_type *wanted, const bl_data_meta *file,
                            const bl_name_mapping *mapping, bool by_position, const bl_file_facts *facts,
                            bl_projection **out, bl_error *err) BL_CHECKED;
void bl_projection_free(bl_projection *p);
/* The leaves to read, ascending. */
const int32_t *bl_projection_leaves(const bl_projection *p, size_t *n);
/* Does the file store the column of this (reserved) id, at top level and as a long? The leaf, or -1. */
int32_t bl_projection_stored_leaf(const bl_data_meta *file, int32_t field_id);
/* in (consumed): a batch of the reader with the projection's leaves. positions: physical position of each row (NULL:
 * first, first + 1, …). out: struct array of the wanted type. Thread-safe. */
bl_status bl_projection_apply(const bl_projection *p, struct ArrowArray *in, const int64_t *positions, int64_t first,
                              struct ArrowArray *out, bl_error *err) BL_CHECKED;

/* The leaf node that holds a wanted field id, found as above (top level and nested structs); -1 where the file has
 * none. For statistics: the node's own kind may be narrower than the field's type. */
int32_t bl_projection_leaf_of(const bl_projection *p, int32_t field_id);

#endif
