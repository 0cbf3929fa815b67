/* replace_proof.h: does metadata support the promise of a `replace` snapshot not to change rows (docs/changelog.md C8)?
 * Pure. */
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

#endif
