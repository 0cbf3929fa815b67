/* set_rows.h: assignments (set_expr.h) applied to batches of rows: the rows that are meant get their new values, and
 * null as their last-updated number (W4); all others stay as they are. */
#ifndef BL_WRITE_SET_ROWS_H
#define BL_WRITE_SET_ROWS_H

#include "write/touch.h"

typedef struct bl_setter bl_setter;
/* set: "a = EXPR" each. columns: of the batches that come out, borrowed; those that go in are bl_setter_wanted, which
 * has the metadata columns that expressions name behind them. BL_USAGE with position: see bl_set_parse and bl_set_bind;
 * a column twice; no column at all. */
bl_status bl_setter_new(bl_ctx *ctx, const char *const *set, size_t n, const bl_columns *columns, bl_setter **out,
                        bl_error *err) BL_CHECKED;
const bl_type *bl_setter_wanted(const bl_setter *s);
/* May it change the values of a column? */
bool bl_setter_touches(const bl_setter *s, int32_t field_id);
void bl_setter_free(bl_setter *s); /* NULL allowed */
/* rows->batch is consumed. rows->found NULL: all rows are meant. Thread-safe. A field of a null struct is
 * set in a struct of nulls. BL_USAGE names column and row: overflow, division by zero, a value that does not fit, null
 * for a required column, also one beside the field in such a struct. */
bl_status bl_setter_apply(const bl_setter *s, bl_touch_rows *rows, struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
