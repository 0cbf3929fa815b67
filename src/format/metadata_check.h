/* metadata_check.h: the second half of reading table metadata. Private to format/metadata_*.c. */
#ifndef BL_FORMAT_METADATA_CHECK_H
#define BL_FORMAT_METADATA_CHECK_H

#include "format/json.h"
#include "model/metadata.h"

/* What the parts of m promise about each other, where it can be decided from the metadata alone; m->json gives the
 * places. Afterwards every id that is looked up below is there, and every chain of parents ends. */
bl_status bl_metadata_check(const bl_metadata *m, bl_error *err) BL_CHECKED;

#endif
