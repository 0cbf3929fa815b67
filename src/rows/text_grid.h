/* text_grid.h: texts in aligned columns for people. The widths come from the first rows, which are held back; later
 * rows are written at once, and a text that is wider than its column pushes the rest of its line to the right. Control
 * characters are made visible, so that no text can move the cursor. */
#ifndef BL_ROWS_TEXT_GRID_H
#define BL_ROWS_TEXT_GRID_H

#include "base/buf.h"

typedef struct bl_text_grid bl_text_grid;
/* n columns, left-aligned, at most `widest` wide (a name may be wider). */
bl_status bl_text_grid_new(bl_ctx *ctx, size_t n, size_t widest, bl_text_grid **out, bl_error *err) BL_CHECKED;
void bl_text_grid_free(bl_text_grid *g);                             /* NULL allowed */
void bl_text_grid_name(bl_text_grid *g, size_t column, bl_str name); /* borrowed */
void bl_text_grid_right(bl_text_grid *g, size_t column, bool right); /* until the first line is out */
/* The next cell of the row; with the last one the row ends and lines that are ready are appended to out. */
bl_status bl_text_grid_cell(bl_text_grid *g, bl_str text, bl_buf *out, bl_error *err) BL_CHECKED;
/* What is still held back; the header where there was no row. */
bl_status bl_text_grid_end(bl_text_grid *g, bl_buf *out, bl_error *err) BL_CHECKED;
/* The text with control characters as \n, \u001b …, as the cells have them. */
void bl_text_visible(bl_buf *to, bl_str from);

#endif
