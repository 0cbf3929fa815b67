/* debezium_value.h: values of Debezium's events into builders of the table's columns. What a number, a text or bytes
 * mean is said by the schema of Kafka Connect beside the event ("said": the object of the value's field, with "type",
 * "name" and "parameters"); where nothing is said, a number that goes into a date, time or timestamp is in the
 * column's unit (days, microseconds, nanoseconds). Meanings that do not go together are BL_USAGE, which names both. */
#ifndef BL_WRITE_DEBEZIUM_VALUE_H
#define BL_WRITE_DEBEZIUM_VALUE_H

#include "write/put_value.h"

/* said NULL: nothing. */
bl_status bl_put_debezium(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *said,
                          bl_error *err) BL_CHECKED;
/* Of "fields" of a schema the one of that name; fields NULL or no array allowed; NULL: there is none. */
const bl_json *bl_connect_field(const bl_json *fields, bl_str name);

#endif
