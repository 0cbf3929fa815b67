/* print_value.h: values of Arrow arrays as text: the NDJSON form of the command line, and the bare form that CSV and
 * tables take. A struct is an object by field name, a map with string keys an object in entry order, another map an
 * array of {"key":…,"value":…}; a variant is the JSON that it encodes. */
#ifndef BL_ROWS_PRINT_VALUE_H
#define BL_ROWS_PRINT_VALUE_H

#include "rows/arrow_view.h"

/* Row i as JSON, without spaces; null as `null`. BL_DAMAGED names the column of a variant that cannot be read. Lack of
 * memory shows in bl_buf_ok(b). */
bl_status bl_print_value(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) BL_CHECKED;
/* The same, but text that would be a JSON string (strings, times, decimals, uuid, bytes) comes without its quotes and
 * escapes. Values with children and variants stay JSON. */
bl_status bl_print_bare(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) BL_CHECKED;

#endif
