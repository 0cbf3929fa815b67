/* avro.h: Avro object container files (Avro 1.12 specification): codecs null, deflate, snappy (+CRC), zstandard;
 * reading is resolved by the writer's schema only, field ids ("field-id", "element-id", "key-id", "value-id") included.
 * Limits everywhere: no count or length is trusted beyond the bytes that are left. */
#ifndef BL_FORMAT_AVRO_H
#define BL_FORMAT_AVRO_H

#include "format/json.h"
#include "model/type.h"

typedef enum bl_avro_kind {
  BL_A_NULL,
  BL_A_BOOLEAN,
  BL_A_INT,
  BL_A_LONG,
  BL_A_FLOAT,
  BL_A_DOUBLE,
  BL_A_BYTES,
  BL_A_STRING,
  BL_A_FIXED,
  BL_A_ENUM,
  BL_A_RECORD,
  BL_A_ARRAY,
  BL_A_MAP,
  BL_A_UNION
} bl_avro_kind;

typedef struct bl_avro_schema bl_avro_schema;
struct bl_avro_schema {
  bl_avro_kind kind;
  bl_str name;       /* record, fixed, enum */
  int32_t field_id;  /* of this node as a record field / element / key / value: -1 */
  bl_str field_name; /* as a record field */
  bl_str logical;    /* logicalType or p NULL; "map" arrays are Iceberg maps of {key,value} records */
  bool adjust_to_utc, has_adjust_to_utc;
  int32_t precision, scale;
  int64_t size; /* fixed */
  bl_str *symbols;
  size_t n_symbols;
  bl_avro_schema **children;
  size_t n_children; /* record fields, array item, map value, union branches */
};

typedef struct bl_avro_file {
  const bl_avro_schema *schema;
  bl_str codec;
  bl_str *keys, *values;
  size_t n_meta; /* header metadata */
} bl_avro_file;

typedef struct bl_avro_reader bl_avro_reader;
/* p is borrowed for the reader's life. */
bl_status bl_avro_open(bl_ctx *ctx, const void *p, size_t n, bl_avro_reader **out, bl_error *err) BL_CHECKED;
const bl_avro_file *bl_avro_header(const bl_avro_reader *r);
bl_str bl_avro_meta(const bl_avro_reader *r, const char *key); /* p NULL */
/* Next block, uncompressed (valid until the next call); *records 0 at the end of the file. A truncated block, a wrong
 * sync marker or CRC: BL_DAMAGED with the byte position. */
bl_status bl_avro_next_block(bl_avro_reader *r, const uint8_t **p, size_t *n, int64_t *records,
                             bl_error *err) BL_CHECKED;
void bl_avro_close(bl_avro_reader *r);

/* Cursor over decoded bytes. */
typedef struct bl_avro_cursor {
  const uint8_t *p, *end;
  const uint8_t *base;
  int64_t base_position;
} bl_avro_cursor;
bl_status bl_avro_long(bl_avro_cursor *c, int64_t *out, bl_error *err) BL_CHECKED;
bl_status bl_avro_bytes(bl_avro_cursor *c, bl_str *out, bl_error *err) BL_CHECKED; /* borrowed */
bl_status bl_avro_skip(bl_avro_cursor *c, const bl_avro_schema *s, bl_error *err) BL_CHECKED;

/* Writing: blocks of at most 64 KiB of records, one codec. */
typedef struct bl_avro_writer bl_avro_writer;
bl_status bl_avro_writer_new(bl_ctx *ctx, bl_str schema_json, const char *codec, const bl_str *keys,
                             const bl_str *values, size_t n_meta, bl_avro_writer **out, bl_error *err) BL_CHECKED;
bl_buf *bl_avro_writer_record(bl_avro_writer *w); /* append one encoded record's bytes here, then end it */
bl_status bl_avro_writer_end_record(bl_avro_writer *w, bl_error *err) BL_CHECKED;
bl_status bl_avro_writer_finish(bl_avro_writer *w, bl_buf *out /* the file's bytes, moved */, bl_error *err) BL_CHECKED;
void bl_avro_writer_free(bl_avro_writer *w);
void bl_avro_put_long(bl_buf *b, int64_t v);
void bl_avro_put_bytes(bl_buf *b, bl_str s);

#endif
