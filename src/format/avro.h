/* avro.h: Avro object container files (Avro 1.12 specification): codecs null, deflate, snappy (+CRC), zstandard;
 * reading is resolved by the writer's schema only, field ids ("field-id", "element-id", "key-id", "value-id") included.
 * Limits everywhere: no count or length is trusted beyond the bytes that are left. */
#ifndef BL_FORMAT_AVRO_H
#define BL_FORMAT_AVRO_H

#include "bergline/sys/io.h"
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
  int32_t key_id;    /* maps: "key-id", else -1 */
  bl_str field_name; /* as a record field */
  bl_str original;   /* "iceberg-field-name": the name before it was made fit for Avro; p NULL */
  bl_str logical;    /* logicalType or p NULL; "map" arrays are Iceberg maps of {key,value} records */
  bool adjust_to_utc, has_adjust_to_utc;
  int32_t precision, scale;
  int64_t size; /* fixed */
  bl_str *symbols;
  size_t n_symbols;
  bl_avro_schema **children;
  size_t n_children; /* record fields, array item, map value, union branches */
  int64_t min_bytes; /* the fewest bytes that a value takes; 0: no value takes any */
  int32_t numbers;   /* of a record of ints and longs alone: how many; else 0 */
  int32_t depth;     /* levels of nesting, 1 for a primitive */
  int32_t weight;    /* nodes of the tree when every reference is written out */
};

enum {
  BL_AVRO_MAX_NODES = 100000, /* of a schema, references written out */
  BL_AVRO_MAX_EMPTY = 1 << 20 /* items of an array or map whose items take no bytes */
};

/* A schema from its JSON text. BL_UNSUPPORTED: a type that holds itself. Names are resolved, references share nodes. */
bl_status bl_avro_schema_parse(bl_arena *a, bl_str json, const bl_avro_schema **out, bl_error *err) BL_CHECKED;
/* The node below a union of null and one type (the node itself where it is no union, NULL where it is another union or
 * null alone); *optional says whether null is among the branches. */
const bl_avro_schema *bl_avro_unwrap(const bl_avro_schema *s, bool *optional);
bool bl_avro_only_null(const bl_avro_schema *s);
const char *bl_avro_kind_name(bl_avro_kind k);

typedef struct bl_avro_file {
  const bl_avro_schema *schema;
  bl_str codec;
  bl_str *keys, *values;
  size_t n_meta; /* header metadata */
} bl_avro_file;

typedef struct bl_avro_reader bl_avro_reader;
/* p is borrowed for the reader's life. What is unpacked is limited to the ctx's max_metadata_bytes, all blocks
 * together. BL_DAMAGED; BL_UNSUPPORTED: another codec, named. */
bl_status bl_avro_open(bl_ctx *ctx, const void *p, size_t n, bl_avro_reader **out, bl_error *err) BL_CHECKED;
/* The same over a file that is read block by block; in is borrowed. The limit holds for each block. */
bl_status bl_avro_open_input(bl_ctx *ctx, bl_input *in, bl_avro_reader **out, bl_error *err) BL_CHECKED;
/* Another reader of the same file which stands at a block's position; it borrows r's header, so r must outlive it. */
bl_status bl_avro_fork(const bl_avro_reader *r, int64_t position, bl_avro_reader **out, bl_error *err) BL_CHECKED;
const bl_avro_file *bl_avro_header(const bl_avro_reader *r);
bl_str bl_avro_meta(const bl_avro_reader *r, const char *key); /* p NULL */
/* Next block, uncompressed (valid until the next call); *records 0 at the end of the file. A truncated block, a wrong
 * sync marker or CRC: BL_DAMAGED with the byte position. */
bl_status bl_avro_next_block(bl_avro_reader *r, const uint8_t **p, size_t *n, int64_t *records,
                             bl_error *err) BL_CHECKED;
/* The head of the block that comes next, which stays next: where it begins, its records (0: the end of the file) and
 * the bytes that it takes in the file. */
typedef struct bl_avro_block {
  int64_t position, records, bytes;
} bl_avro_block;
bl_status bl_avro_peek_block(bl_avro_reader *r, bl_avro_block *out, bl_error *err) BL_CHECKED;
/* Go over the next block without reading it; its sync marker is checked. */
bl_status bl_avro_pass_block(bl_avro_reader *r, bl_error *err) BL_CHECKED;
void bl_avro_close(bl_avro_reader *r);

/* Cursor over decoded bytes. */
typedef struct bl_avro_cursor {
  const uint8_t *p, *end;
  const uint8_t *base;
  int64_t base_position; /* of base in the file; of the block where the bytes were compressed */
  bool packed;           /* they were: positions stay at the block, messages name the byte in it */
} bl_avro_cursor;
/* Over the block that bl_avro_next_block gave last. */
void bl_avro_block_cursor(const bl_avro_reader *r, bl_avro_cursor *c);
/* BL_DAMAGED at the cursor's place: "byte …: why". */
bl_status bl_avro_fail(const bl_avro_cursor *c, bl_error *err, const char *fmt, ...) BL_PRINTF(3, 4);
bl_status bl_avro_long_slow(bl_avro_cursor *c, int64_t *out, bl_error *err) BL_CHECKED;
static inline bl_status bl_avro_long(bl_avro_cursor *c, int64_t *out, bl_error *err) {
  if (c->p == c->end || *c->p >= 0x80) return bl_avro_long_slow(c, out, err);
  uint8_t v = *c->p++;
  *out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
  return BL_OK;
}
bl_status bl_avro_int(bl_avro_cursor *c, int32_t *out, bl_error *err) BL_CHECKED;             /* must fit */
bl_status bl_avro_bytes(bl_avro_cursor *c, bl_str *out, bl_error *err) BL_CHECKED;            /* borrowed */
bl_status bl_avro_fixed(bl_avro_cursor *c, int64_t n, bl_str *out, bl_error *err) BL_CHECKED; /* borrowed */
bl_status bl_avro_boolean(bl_avro_cursor *c, bool *out, bl_error *err) BL_CHECKED;
bl_status bl_avro_float(bl_avro_cursor *c, float *out, bl_error *err) BL_CHECKED;
bl_status bl_avro_double(bl_avro_cursor *c, double *out, bl_error *err) BL_CHECKED;
/* Big-endian two's complement of any length; false where it does not fit 128 bits. */
bool bl_avro_decimal(bl_str s, bl_i128 *out);
/* The branch of a union. */
bl_status bl_avro_branch(bl_avro_cursor *c, const bl_avro_schema *s, const bl_avro_schema **out,
                         bl_error *err) BL_CHECKED;
/* Items of the next block of an array or map, whose items are `item` (maps: the string key counts as well); 0 at the
 * end. Never more than the bytes that are left can hold. */
bl_status bl_avro_items(bl_avro_cursor *c, const bl_avro_schema *container, int64_t *n, bl_error *err) BL_CHECKED;
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
