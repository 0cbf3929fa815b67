/* live_files.h: the live entries of opened manifests, and which of two snapshots' have the same place
 * (docs/changelog.md C1). */
#ifndef BL_CHANGES_LIVE_FILES_H
#define BL_CHANGES_LIVE_FILES_H

#include "model/manifest.h"

typedef struct bl_live {
  const bl_manifest_entry *entry;
  size_t manifest, at; /* index of the manifest in its list, of the entry in the manifest */
  size_t twin;         /* index + 1 of that with the same place on the other side, 0 = none */
} bl_live;

typedef struct bl_live_set {
  bl_ctx *ctx;
  bl_live *items; /* in list order, entry order */
  size_t n, cap;
} bl_live_set;

void bl_live_set_dispose(bl_live_set *s);
/* Those of `entries` that are not DELETED; they are borrowed. */
bl_status bl_live_set_add(bl_live_set *s, const bl_manifest_entry *entries, size_t n, size_t manifest,
                          bl_error *err) BL_CHECKED;
/* Finds twins, each entry being that of at most one; first_row_ids that agree go first. */
bl_status bl_live_set_match(bl_live_set *a, bl_live_set *b, bl_error *err) BL_CHECKED;

/* Path, data and file sequence number, and for a vector its place in the Puffin file. A file sequence number that was
 * not recorded agrees with any. */
bool bl_same_place(const bl_manifest_entry *a, const bl_manifest_entry *b);
/* Equal for the same place. */
int64_t bl_place_hash(const bl_manifest_entry *e);

#endif
