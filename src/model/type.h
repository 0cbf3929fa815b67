/* type.h: Iceberg types, fields, schemas and single values (spec: "Schemas and Data Types",
 * "Appendix D: Single-value serialization"). Everything lives in an arena and is never changed after
 * it was built. */
#ifndef BL_MODEL_TYPE_H
#define BL_MODEL_TYPE_H

#include "base/alloc.h"
#include "base/text.h"

typedef enum bl_kind {
  BL_BOOLEAN,
  BL_INT,
  BL_LONG,
  BL_FLOAT,
  BL_DOUBLE,
  BL_DECIMAL,
  BL_DATE,
  BL_TIME,
  BL_TIMESTAMP,
  BL_TIMESTAMPTZ,
  BL_TIMESTAMP_NS,
  BL_TIMESTAMPTZ_NS, /* long, us or ns since epoch */
  BL_STRING,
  BL_UUID,
  BL_FIXED,
  BL_BINARY,
  BL_KIND_UNKNOWN,
  BL_VARIANT,
  BL_GEOMETRY,
  BL_GEOGRAPHY,
  BL_STRUCT,
  BL_LIST,
  BL_MAP
} bl_kind;

typedef struct bl_field bl_field;
typedef struct bl_value bl_value;

typedef struct bl_type {
  bl_kind kind;
  int32_t precision, scale; /* decimal */
  int64_t length;           /* fixed */
  bl_str crs;               /* geometry, geography: "OGC:CRS84" by default */
  bl_str algorithm;         /* geography: "spherical" by default */
  /* struct: its fields; list: one, "element"; map: two, "key" and "value" */
  bl_field *fields;
  size_t n_fields;
} bl_type;

struct bl_field {
  int32_t id;
  bl_str name;
  bool required;
  bl_type type;
  bl_str doc;                      /* p NULL where absent */
  const bl_value *initial_default; /* NULL where absent */
  const bl_value *write_default;
};

/* A single value of a primitive type. For struct defaults (`{}`) kind is BL_STRUCT and nothing else is set. */
struct bl_value {
  bl_kind kind;
  bool null;
  union {
    bool b;
    int64_t i; /* INT LONG DATE (days) TIME (us) TIMESTAMP* (us/ns) */
    float f;
    double d;
    bl_i128 dec; /* unscaled; scale is the type's */
    bl_str s;    /* STRING (UTF-8), BINARY, FIXED, UUID (16 bytes), VARIANT, GEOMETRY, GEOGRAPHY */
  } u;
};

typedef struct bl_schema {
  int32_t id;
  bl_type root; /* BL_STRUCT */
  int32_t *identifier_ids;
  size_t n_identifier_ids;
  int32_t highest_id; /* highest field id in the tree */
} bl_schema;

/* Reserved field ids (spec: "Reserved Field IDs"). */
enum {
  BL_ID_FIRST_RESERVED = 2147483447, /* ids above this are reserved */
  BL_ID_ROW_ID = 2147483540,
  BL_ID_LAST_UPDATED = 2147483539,
  BL_ID_LAST_UPDATED_AT = 2147483538, /* ours, never stored: commit time of the last change */
  /* ours, never stored: columns of change feeds */
  BL_ID_COMMIT_TIMESTAMP = 2147483537,
  BL_ID_COMMIT_SEQUENCE = 2147483536,
  BL_ID_CHANGE_BASIS = 2147483535,
  BL_ID_COMMIT_OPERATION = 2147483534,
  BL_ID_COMMIT_ENGINE = 2147483533,
  BL_ID_FILE = 2147483646,
  BL_ID_POS = 2147483645,
  BL_ID_DELETED = 2147483644,
  BL_ID_SPEC_ID = 2147483643,
  BL_ID_PARTITION = 2147483642,
  BL_ID_DELETE_PATH = 2147483546,
  BL_ID_DELETE_POS = 2147483545,
  BL_ID_DELETE_ROW = 2147483544,
  BL_ID_CHANGE_TYPE = 2147483543,
  BL_ID_CHANGE_ORDINAL = 2147483542,
  BL_ID_COMMIT_SNAPSHOT = 2147483541
};

const char *bl_kind_name(bl_kind k); /* "long", "timestamptz_ns", "struct" … */
bool bl_kind_is_nested(bl_kind k);
/* "decimal(9, 2)", "fixed[4]", "geometry(srid:1)", "list<…>" as the spec prints types. */
void bl_type_print(bl_buf *b, const bl_type *t);
bool bl_type_equal(const bl_type *a, const bl_type *b); /* ids and names included */
/* Parse a primitive type name as metadata JSON and our schema strings have it ("decimal(9,2)",
 * "fixed[16]", "geometry(…)"). BL_UNSUPPORTED names an unknown type. */
bl_status bl_type_parse_primitive(bl_arena *a, bl_str text, bl_type *out, bl_error *err) BL_CHECKED;
/* May a column of type `from` be read as `to` (spec: "Schema Evolution", v3 rows included)? Equal types: yes. */
bool bl_type_can_promote(const bl_type *from, const bl_type *to);

/* Depth-first search by id at any depth; NULL where there is none. */
const bl_field *bl_schema_find(const bl_schema *s, int32_t id);
/* By dotted path of names ("a.b", list element and map parts as "element", "key", "value"). A top-level
 * column whose name is the whole path wins. *out NULL where there is none. */
const bl_field *bl_schema_find_name(const bl_schema *s, bl_str path);
/* Also by the short names that Java takes: without the "element" or "value" between a list or map and a field of the
 * structs in it. What is a full name is no short one. */
const bl_field *bl_schema_find_alias(const bl_schema *s, bl_str path);
/* The full dotted name of a field id into b; false where there is none. */
bool bl_schema_full_name(const bl_schema *s, int32_t id, bl_buf *b);
/* Chain of fields from a top-level column down to id, top first; length 0 where absent; at most max. */
size_t bl_schema_path(const bl_schema *s, int32_t id, const bl_field **out, size_t max);

/* Deep copies into another arena. */
bl_status bl_type_copy(bl_arena *a, const bl_type *t, bl_type *out, bl_error *err) BL_CHECKED;
bl_status bl_value_copy(bl_arena *a, const bl_value *v, bl_value *out, bl_error *err) BL_CHECKED;

/* Order within one kind, the spec's: -NaN < -Inf < … < -0.0 < 0.0 < … < NaN; strings bytewise; uuid, fixed and binary
 * unsigned bytewise; decimals by value. null below all. Kinds must agree (INT/LONG and FLOAT/DOUBLE may mix). */
int bl_value_cmp(const bl_value *a, const bl_value *b);
/* Bitwise equality of C4: null = null, one NaN, -0.0 differs from 0.0. */
bool bl_value_same(const bl_value *a, const bl_value *b);
uint64_t bl_value_hash(const bl_value *v); /* agrees with bl_value_same */
bool bl_value_is_nan(const bl_value *v);

/* Binary single-value form (bounds, spec Appendix D). `from` may be a type that was promoted since: decoding goes by
 * the length where the form tells (4-byte int or float for long or double; 4-byte date for timestamps), s.p stays
 * borrowed; a string must be UTF-8. false: the bytes fit no type that `t` can have been (then the bound is to be
 * ignored). */
bool bl_value_from_bytes(const bl_type *t, bl_str bytes, bl_value *out);
bl_status bl_value_to_bytes(const bl_type *t, const bl_value *v, bl_buf *out, bl_error *err) BL_CHECKED;
/* An unscaled decimal as two's complement, big-endian, in the fewest bytes; returns how many. */
size_t bl_decimal_bytes(bl_i128 v, uint8_t out[16]);
/* Convert a value of type `from` to promoted type `to`; false where not possible. */
bool bl_value_promote(const bl_type *from, const bl_value *v, const bl_type *to, bl_value *out);
/* Human text as NDJSON has it without quotes (dates ISO, decimals scaled, binary base64). null prints "null". */
void bl_value_print(bl_buf *b, const bl_type *t, const bl_value *v);

#endif
