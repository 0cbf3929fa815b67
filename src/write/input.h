/* input.h: foreign rows -> batches of the table's columns: by name, with safe casts, missing optional columns null or
 * write-default. */
#ifndef BL_WRITE_INPUT_H
#define BL_WRITE_INPUT_H

#include "bergline/arrow_c.h"
#include "bergline/input.h"
#include "table/table.h"

/* in is taken over. Duplicate, unknown or reserved columns: BL_USAGE. A value that does not fit: BL_USAGE naming row
 * and column. Output: canonical layout of `schema`, at most 65,536 rows a batch. */
bl_status bl_conform(bl_ctx *ctx, const bl_schema *schema, struct ArrowArrayStream *in, struct ArrowArrayStream *out,
                     bl_error *err) BL_CHECKED;

typedef struct bl_conform_options {
  bool keep_unknown; /* columns that the schema does not have follow its own, in canonical layout, as they came */
  bool drop_unknown; /* they are left out */
  const char *name;  /* of the source, in front of messages; NULL: none; copied */
} bl_conform_options;
bl_status bl_conform_with(bl_ctx *ctx, const bl_schema *schema, const bl_conform_options *o,
                          struct ArrowArrayStream *in, struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

/* The same batch by batch. in: taken over, also on failure; schema is borrowed. */
typedef struct bl_conformer bl_conformer;
bl_status bl_conformer_new(bl_ctx *ctx, const bl_schema *schema, const bl_conform_options *o, struct ArrowSchema *in,
                           bl_conformer **out, bl_error *err) BL_CHECKED;
void bl_conformer_free(bl_conformer *c); /* NULL allowed */
bl_status bl_conformer_schema(const bl_conformer *c, struct ArrowSchema *out, bl_error *err) BL_CHECKED;
/* What of the rows is looked at: a mark a row. Values of the rest may be anything in what comes out. */
enum { BL_HEED_NONE, BL_HEED_SOME, BL_HEED_ALL };
typedef struct bl_conform_heed {
  const uint8_t *rows;
  const bool *always; /* by column of the schema: it is looked at in rows that are marked SOME, too */
} bl_conform_heed;
/* batch: taken over; a struct without offset. first_row: its number in messages, less 1. heed NULL: all. */
bl_status bl_conformer_run(bl_conformer *c, struct ArrowArray *batch, int64_t first_row, const bl_conform_heed *heed,
                           struct ArrowArray *out, bl_error *err) BL_CHECKED;

/* Column names that mean lineage or places: they are never input (W13). */
bool bl_is_metadata_name(bl_str name);

/* BL_INPUT_AUTO: the ending, or that there is none (NULL allowed), tells nothing. */
bl_input_format bl_input_by_ending(const char *name); /* .gz behind it does not count */
bl_str bl_input_name_unpacked(const char *name);      /* without .gz */
/* By the first bytes; CSV is what nothing else is. */
bl_status bl_input_by_bytes(bl_input *in, bl_input_format *out, bl_error *err) BL_CHECKED;

/* Readers behind bergline/input.h. `in` is borrowed and must outlive the stream; name is copied. extra: columns that
 * the schema does not have are given too. */
bl_status bl_read_csv(bl_ctx *ctx, const bl_schema *schema, bl_input *in, const char *name, bool extra,
                      struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;
bl_status bl_read_ndjson(bl_ctx *ctx, const bl_schema *schema, bl_input *in, const char *name, bool extra,
                         struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;
/* A Parquet, Avro or ORC file; in is borrowed. */
bl_status bl_read_data_file(bl_ctx *ctx, const bl_data_format *format, bl_input *in, const char *name,
                            struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;
/* The columns of a file as types, by its own names and ids (-1: none), in arena a. */
bl_status bl_data_file_type(const bl_data_meta *meta, bl_arena *a, bl_type *out, bl_error *err) BL_CHECKED;

#endif
