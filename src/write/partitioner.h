/* partitioner.h: which partition each row belongs to (spec: "Partitioning"). Partitions are numbered as they are met.
 * Tuples are equal by bits with one canonical NaN; -0.0 differs from 0.0. */
#ifndef BL_WRITE_PARTITIONER_H
#define BL_WRITE_PARTITIONER_H

#include "model/partition.h"
#include "write/row_values.h"

typedef struct bl_partitioner bl_partitioner;
/* root: the view that batches are attached to. BL_UNSUPPORTED: a transform that is not known, or that does not take its
 * column's type; BL_USAGE: its column was dropped. */
bl_status bl_partitioner_new(bl_ctx *ctx, const bl_partition_spec *spec, const bl_schema *schema, const bl_view *root,
                             bl_partitioner **out, bl_error *err) BL_CHECKED;
void bl_partitioner_free(bl_partitioner *p); /* NULL allowed */
/* The number of the partition of each of the first n rows of what root is attached to. BL_USAGE: a value that has no
 * partition (a year beyond the range). */
bl_status bl_partitioner_rows(bl_partitioner *p, int64_t n, uint32_t *out, bl_error *err) BL_CHECKED;
size_t bl_partitioner_count(const bl_partitioner *p);
/* One value a field of the spec; they live as long as p. */
const bl_value *bl_partitioner_tuple(const bl_partitioner *p, uint32_t number);

#endif
