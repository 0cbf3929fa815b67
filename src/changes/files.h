/* files.h: the numbered file versions that runs and events point to.
 *
 * A version is a data file as one side of a comparison sees it (its first_row_id may differ between sides), with the
 * basis on which rows that left it are reported. Numbers are given once; ranks order versions by path; versions of one
 * file have one place, whatever comparison they are of. */
#ifndef BL_CHANGES_FILES_H
#define BL_CHANGES_FILES_H

#include "base/map.h"
#include "changes/events.h"
#include "scan/open_file.h"

typedef struct bl_version {
  const bl_manifest_entry *entry;
  uint32_t place; /* index into places */
  uint8_t
      basis; /* BL_BASIS_EQUALITY_DELETE: rows of this number were taken by an equality delete; else BL_BASIS_ROW_ID */
} bl_version;

/* Versions that bl_same_place holds the same. */
typedef struct bl_file_place {
  uint32_t version; /* the first of them */
  uint32_t next;    /* index + 1 of another with this hash, 0 = none */
  int64_t hash;     /* bl_place_hash */
} bl_file_place;

typedef struct bl_files {
  bl_ctx *ctx;
  bl_version *items;
  size_t n, cap;
  bl_file_place *places;
  size_t n_places, cap_places;
  bl_imap *by_hash; /* index + 1 of the last place with a hash, 0 = none */
  uint32_t *rank;   /* bl_files_rank; moves when it grows: keep the bl_files, not this */
  size_t cap_rank;
  bool path_twice;  /* among the ranked ones are two places of one path */
  bool warned_rows; /* of a file with another number of rows than its record_count */
} bl_files;

void bl_files_init(bl_files *f, bl_ctx *ctx);
void bl_files_dispose(bl_files *f);
bl_status bl_files_add(bl_files *f, const bl_manifest_entry *e, uint8_t basis, uint32_t *number,
                       bl_error *err) BL_CHECKED;
/* Versions from number n on, which nothing refers to any more, are gone. */
void bl_files_cut(bl_files *f, size_t n);
/* Ranks of the versions from number `from` on, which order them among one another (again after more were added: ranks
 * may change, their order does not). */
bl_status bl_files_rank(bl_files *f, size_t from, bl_error *err) BL_CHECKED;

#endif
