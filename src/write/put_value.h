/* put_value.h: values given as text or JSON (the forms that NDJSON and CSV output have: cli.md "Output") into builders
 * of the table's columns. What a type cannot hold exactly is BL_USAGE, "column a.b: VALUE: why". */
#ifndef BL_WRITE_PUT_VALUE_H
#define BL_WRITE_PUT_VALUE_H

#include "format/json.h"
#include "model/type.h"
#include "rows/arrow_build.h"

typedef struct bl_putter {
  bl_ctx *ctx;
  bl_buf bytes, more;       /* decoded */
  const bl_field *path[16]; /* down to the field in hand: for messages */
  size_t depth;
  bool of_csv; /* texts have no types of their own there: booleans have more forms */
} bl_putter;
void bl_putter_init(bl_putter *p, bl_ctx *ctx);
void bl_putter_dispose(bl_putter *p);

/* b is a builder of the canonical form of f's type (bl_aschema_of_field). */
bl_status bl_put_null(bl_putter *p, bl_builder *b, const bl_field *f, bl_error *err) BL_CHECKED;
/* No value was given: the write default, else null. */
bl_status bl_put_missing(bl_putter *p, bl_builder *b, const bl_field *f, bl_error *err) BL_CHECKED;
/* Nested values and variants are JSON in the text. */
bl_status bl_put_text(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) BL_CHECKED;
/* Members of a struct that it has no field for: BL_USAGE. */
bl_status bl_put_json(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, bl_error *err) BL_CHECKED;

/* Something is said of values besides, by a schema of their own: how such a value is put (none is null), and what is
 * said of field i of f's type (of a list the elements, of a map keys and values), where `said` is said of f; NULL:
 * nothing. */
typedef struct bl_sayings {
  bl_status (*put)(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *said,
                   bl_error *err);
  const bl_json *(*part)(const bl_json *said, const bl_field *f, size_t i);
} bl_sayings;
/* bl_put_json, but the parts of a struct, list or map go by s->put. Maps may be pairs [key, value], too. */
bl_status bl_put_parts(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_sayings *s,
                       const bl_json *said, bl_error *err) BL_CHECKED;

/* A number by value: int, long, float, double and decimal columns. */
bl_status bl_put_number(bl_putter *p, bl_builder *b, const bl_field *f, bl_i128 unscaled, int scale,
                        bl_error *err) BL_CHECKED;
/* "column a.b: WHAT: WHY"; what p NULL: left out; why NULL: it does not fit the type. */
bl_status bl_put_misfit(const bl_putter *p, const bl_field *f, bl_str what, const char *why, bl_error *err);

#endif
