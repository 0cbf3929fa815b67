/* report.h: rows of named cells, written as they come: one JSON array, or an aligned text table.
 * 1. Cells come in column order, one call each, then bl_report_end_row. Cell calls never report: end_row does.
 * 2. Text is a grid (rows/text_grid.h); cells are not cut, but for nested values beyond 60 characters: the JSON has
 * them whole.
 * 3. An object report has one row and no array: "key: value" lines in text. */
#ifndef BL_INSPECT_REPORT_H
#define BL_INSPECT_REPORT_H

#include "base/text.h"
#include "bergline/sys/io.h"

typedef struct bl_report bl_report;

/* columns are borrowed. */
bl_status bl_report_new(bl_ctx *ctx, const bl_sink *sink, const char *const *columns, size_t n, bool text, bool object,
                        bl_report **out, bl_error *err) BL_CHECKED;
void bl_report_null(bl_report *r);
void bl_report_bool(bl_report *r, bool v);
void bl_report_i64(bl_report *r, int64_t v);
void bl_report_i64_if(bl_report *r, bool there, int64_t v); /* else null */
void bl_report_str(bl_report *r, bl_str s);                 /* p NULL: null */
void bl_report_ms(bl_report *r, int64_t ms);                /* a time, ISO-8601, UTC */
/* A cell that is JSON already (nested values): append it to the buffer before the next call. */
bl_buf *bl_report_json(bl_report *r);
bl_buf *bl_report_bulk(bl_report *r); /* the same for what is too much for a table: cut in text */
bl_status bl_report_end_row(bl_report *r, bl_error *err) BL_CHECKED;
bl_status bl_report_finish(bl_report *r, bl_error *err) BL_CHECKED; /* frees r, also on failure */
void bl_report_abort(bl_report *r);                                 /* NULL allowed */

#endif
