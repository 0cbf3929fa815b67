/* replace_proof.h: does metadata support the promise of a `replace` snapshot not to change rows (docs/changelog.md C8),
 * or that any other snapshot took no row away (C7)? Pure. */
#ifndef BL_CHANGES_REPLACE_PROOF_H
#define BL_CHANGES_REPLACE_PROOF_H

#include "changes/diff.h"

typedef enum bl_proof {
  BL_PROOF_NO,      /* metadata disagrees, or cannot tell: the snapshot is compared like any other */
  BL_PROOF_FOOTERS, /* counts agree and nothing disagrees, but metrics of the lineage columns are missing */
  BL_PROOF_YES
} bl_proof;

/* items: of the diff of a `replace` snapshot with its parent. */
bl_proof bl_replace_proof(const bl_touched *items, size_t n);
/* How many ids of removed rows are not stored in the added files, as metadata counts them: 0 where rows were updated
 * and others inserted, and none went. BL_NONE: metadata cannot tell. items: of the diff of a snapshot with its parent.
 * An id that had gone and comes back in another's stead goes unseen. */
int64_t bl_ids_gone(const bl_touched *items, size_t n);

#endif
