/* deletes_private.h: what deletes.c and equality.c share. */
#ifndef BL_SCAN_DELETES_PRIVATE_H
#define BL_SCAN_DELETES_PRIVATE_H

#include "base/map.h"
#include "rows/key.h"
#include "scan/columns.h"
#include "scan/deletes.h"

#include <pthread.h>

typedef struct bl_position_file bl_position_file;
typedef struct bl_equality_ids bl_equality_ids;

/* One equality delete file that was asked for. */
typedef struct bl_equality_file {
  const bl_manifest_entry *entry;
  size_t ids;       /* index of its key set */
  bl_hash128 *keys; /* while loading */
  size_t n_keys, cap_keys;
} bl_equality_file;

struct bl_deletes {
  bl_ctx *ctx;
  const bl_reading *env;
  pthread_mutex_t lock;
  uint64_t seed;
  bl_map *position_by_path;
  bl_position_file **position_files;
  size_t n_position_files, cap_position_files;
  bl_map *equality_by_path;
  bl_equality_file *equality_files;
  size_t n_equality_files, cap_equality_files;
  bl_equality_ids *ids; /* one a distinct list of equality ids */
  size_t n_ids, cap_ids;
};

void bl_equality_dispose(bl_deletes *d);

#endif
