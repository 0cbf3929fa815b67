/* given.h: manifest entries that diffs give out. They outlive the manifests that they were read from; one file version
 * (place and first_row_id) is one entry, however often it is given. */
#ifndef BL_CHANGES_GIVEN_H
#define BL_CHANGES_GIVEN_H

#include "model/manifest.h"

typedef struct bl_given bl_given;
bl_status bl_given_new(bl_ctx *ctx, bl_given **out, bl_error *err) BL_CHECKED;
void bl_given_free(bl_given *g); /* NULL allowed */
/* The entry that stands for e: one given before, else e itself where it stays, else a copy. One without metrics does
 * not stand for one that has them. */
bl_status bl_given_take(bl_given *g, const bl_manifest_entry *e, bool stays, const bl_manifest_entry **out,
                        bl_error *err) BL_CHECKED;
size_t bl_given_count(const bl_given *g);

#endif
