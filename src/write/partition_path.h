/* partition_path.h: the folder of a partition below the data folder, as Iceberg names it: "a=1/b_day=2026-01-31".
 * Readers take nothing from it. */
#ifndef BL_WRITE_PARTITION_PATH_H
#define BL_WRITE_PARTITION_PATH_H

#include "model/partition.h"

/* Appended without a slash at the end. Names and values are URL-encoded; one that is too long for a file system is cut
 * and made unique by a hash. types: of the spec's fields, by bl_spec_types. */
void bl_partition_path(bl_buf *out, const bl_partition_spec *spec, const bl_type *types, const bl_value *tuple);

#endif
