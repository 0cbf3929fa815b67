/* locations.h: where the files of a table's rows and of their deletes go (Iceberg "Table properties": write.data.path,
 * write.object-storage.*, write.location-provider.impl), by the same rules as Iceberg's Java library has.
 *
 *   plain   FOLDER/[PARTITION/]NAME
 *   hashed  FOLDER/HASH/[DATABASE/TABLE/][PARTITION/]NAME, or FOLDER/HASH-NAME where partitions are not to be in paths
 *
 * FOLDER is write.data.path or LOCATION/data. HASH spreads the names over an object store: the last 20 bits of the
 * murmur3 hash of what follows FOLDER in the plain form, as folders of 4, 4, 4 and 8 binary digits. DATABASE/TABLE, the
 * end of the table's location, is there where FOLDER does not begin with the location: several tables may share it. */
#ifndef BL_WRITE_LOCATIONS_H
#define BL_WRITE_LOCATIONS_H

#include "model/metadata.h"

typedef struct bl_locations {
  bl_str folder;  /* without a slash at its end */
  bl_str context; /* DATABASE/TABLE; n 0: none */
  bool hashed, partitioned;
} bl_locations;

/* In arena a. BL_UNSUPPORTED: a class of another's that makes names, a folder by one of the properties that
 * write.data.path took the place of (Java refuses these, too). */
bl_status bl_locations_of(bl_arena *a, const bl_metadata *md, bl_locations *out, bl_error *err) BL_CHECKED;
/* The path of a new file, appended. partition: of bl_partition_path; n 0: the file belongs to none. */
void bl_location_print(bl_buf *out, const bl_locations *l, bl_str partition, bl_str name);

#endif
