/* width.h: how many columns of a terminal text takes (Unicode: East Asian Width, combining marks). */
#ifndef BL_ROWS_WIDTH_H
#define BL_ROWS_WIDTH_H

#include "base/str.h"

/* Columns of UTF-8 text; a byte that is not UTF-8 counts as one. */
size_t bl_display_width(bl_str s);

#endif
