/* relocate.h: what the parts of a relocation share. Private to src/write/relocate*.c. */
#ifndef BL_WRITE_RELOCATE_H
#define BL_WRITE_RELOCATE_H

#include "base/map.h"
#include "scan/open_file.h"
#include "table/manifests.h"
#include "table/pathmap.h"
#include "write/commit.h"
#include "write/paths.h"

/* A file that was written anew; vectors by the offset of their blob. */
typedef struct bl_moved_blob {
  int64_t offset, new_offset, new_size;
} bl_moved_blob;
typedef struct bl_moved {
  bl_str path; /* as the metadata will have it */
  int64_t size;
  bl_moved_blob *blobs;
  size_t n_blobs;
  bl_str lower, upper; /* of a position delete file's file_path */
} bl_moved;

typedef struct bl_relocating {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_table *t;     /* the newest version */
  bl_path_map map; /* from the old location to the new one */
  bl_uuid_text uuid;
  int n_names;
  bl_map *seen; /* path of a manifest or delete file -> place in moved */
  bl_moved *moved;
  size_t n_moved, cap_moved;
  bl_str *written; /* to be removed when the commit fails */
  size_t n_written, cap_written;
  bl_unsynced *unsynced; /* the same, for the commit to sync */
  bl_reading reading;
} bl_relocating;

/* Where a path will be; one that does not lie below the old location stays. p NULL: no memory. */
bl_str bl_relocated(bl_relocating *r, bl_str path);
/* A name for a new file beside an old one: as it is reached now (*now) and as the metadata will have it (*then). */
bl_status bl_relocate_name(bl_relocating *r, bl_str beside, const char *ending, bl_str *now, bl_str *then,
                           bl_error *err) BL_CHECKED;
bl_status bl_relocate_write(bl_relocating *r, bl_str path, const void *p, size_t n, bl_error *err) BL_CHECKED;
bl_status bl_relocate_remember(bl_relocating *r, bl_str old, const bl_moved *m, bl_error *err) BL_CHECKED;

/* A live delete file that names data files, with the new names: relocate_deletes.c. */
bl_status bl_relocate_positions(bl_relocating *r, const bl_manifest_entry *e, bl_error *err) BL_CHECKED;
bl_status bl_relocate_puffin(bl_relocating *r, bl_str path, bl_error *err) BL_CHECKED;

#endif
