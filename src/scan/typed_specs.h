/* typed_specs.h: partition specs with the types of their fields, and what a manifest can hold by its list entry. */
#ifndef BL_SCAN_TYPED_SPECS_H
#define BL_SCAN_TYPED_SPECS_H

#include "model/manifest.h"

typedef struct bl_typed_spec {
  const bl_partition_spec *spec;
  bl_type *types; /* bl_spec_types; sources that were dropped are found in older schemas */
} bl_typed_spec;

typedef struct bl_typed_specs {
  bl_typed_spec *items; /* all of the metadata */
  size_t n;
} bl_typed_specs;

bl_status bl_typed_specs_make(bl_arena *a, const bl_metadata *md, bl_typed_specs *out, bl_error *err) BL_CHECKED;
const bl_typed_spec *bl_typed_specs_get(const bl_typed_specs *s, int32_t spec_id); /* NULL where there is none */

/* false: its counts say that it holds no live entry. */
bool bl_manifest_may_live(const bl_manifest_file *m);
/* false: by its partition summaries it holds no entry of this tuple. s: of the manifest's spec, NULL = unknown; the
 * tuple must be of the same spec. */
bool bl_manifest_may_hold(const bl_manifest_file *m, const bl_typed_spec *s, const bl_value *tuple, size_t n);

#endif
