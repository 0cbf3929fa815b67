/* schema_sample.h: the columns that lines of JSON have. */
#ifndef BL_WRITE_SCHEMA_SAMPLE_H
#define BL_WRITE_SCHEMA_SAMPLE_H

#include "bergline/sys/io.h"
#include "model/type.h"

/* By the first lines of the file (about 1 MiB): whole numbers are long, others double, texts date, timestamp or
 * timestamptz where all of a column's are, objects structs, arrays lists; what is only ever null, or of several kinds,
 * is string. Ids are given by position. BL_USAGE: a line that is no object. */
bl_status bl_schema_of_ndjson(bl_arena *a, bl_input *in, const char *name, bl_schema *out, bl_error *err) BL_CHECKED;

/* The narrowest of boolean, long, double, date, timestamp and timestamptz that a text can be read as, else string. */
bl_kind bl_kind_of_text(bl_str s);
/* A kind for values of both; BL_STRING where there is no other. */
bl_kind bl_kind_of_both(bl_kind a, bl_kind b);

#endif
