/* text_table.h: rows as a table for people: aligned columns, numbers to the right. The widths come from the first rows,
 * which are held back; later rows are written at once, and a value that is wider than its column pushes the rest of its
 * line to the right. */
#ifndef BL_ROWS_TEXT_TABLE_H
#define BL_ROWS_TEXT_TABLE_H

#include "rows/arrow_view.h"

typedef struct bl_text_table bl_text_table;
/* root: the view of the batches, borrowed. */
bl_status bl_text_table_new(bl_ctx *ctx, const bl_view *root, bl_text_table **out, bl_error *err) BL_CHECKED;
void bl_text_table_free(bl_text_table *t);
/* Row i of what root is attached to; lines that are ready are appended to out. */
bl_status bl_text_table_row(bl_text_table *t, int64_t i, bl_buf *out, bl_error *err) BL_CHECKED;
/* What is still held back; the header where there was no row. */
bl_status bl_text_table_end(bl_text_table *t, bl_buf *out, bl_error *err) BL_CHECKED;

#endif
