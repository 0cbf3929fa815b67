/* value_text.h: model values as JSON cells (the NDJSON rules: bergline(1), OUTPUT). */
#ifndef BL_INSPECT_VALUE_TEXT_H
#define BL_INSPECT_VALUE_TEXT_H

#include "model/manifest.h"

/* A single value; null prints null. Floats that are not finite are strings. */
void bl_text_value(bl_buf *b, const bl_type *t, const bl_value *v);
/* A bound in single-value form; null where there is none or it does not decode. */
void bl_text_bound(bl_buf *b, const bl_type *t, bl_str bytes);
void bl_text_base64(bl_buf *b, bl_str bytes); /* "…", null where p is NULL */
void bl_text_i64(bl_buf *b, int64_t v);       /* null for BL_NONE */
/* Begin a member of an object: a comma where it is not the first, the name, a colon. */
void bl_text_key(bl_buf *b, bool *first, bl_str name);

#endif
