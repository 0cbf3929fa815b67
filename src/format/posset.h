/* posset.h: the inside of bl_posset, shared by posset.c and dv.c only.
 *
 * Invariants:
 * 1. parts are in ascending order of `high`, which is at most INT32_MAX (positions are not negative);
 * 2. no part's bitmap is empty (two sets are equal where their parts are). */
#ifndef BL_FORMAT_POSSET_H
#define BL_FORMAT_POSSET_H

#include <roaring/roaring.h>

#include "format/puffin.h"

/* The positions high * 2^32 + x for each x of bits. */
typedef struct bl_posset_part {
  uint32_t high;
  roaring_bitmap_t *bits;
} bl_posset_part;

struct bl_posset {
  bl_ctx *ctx;
  bl_posset_part *parts;
  size_t n, cap;
};

/* Append a part behind all others; takes bits, also on failure. An empty bitmap is dropped. */
bl_status bl_posset_push(bl_posset *s, uint32_t high, roaring_bitmap_t *bits, bl_error *err) BL_CHECKED;

#endif
