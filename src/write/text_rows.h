/* text_rows.h: bytes of text files as records, and records as batches: what the CSV and NDJSON readers share. */
#ifndef BL_WRITE_TEXT_ROWS_H
#define BL_WRITE_TEXT_ROWS_H

#include "rows/arrow_own.h"
#include "write/input.h"
#include "write/put_value.h"

/* A file read forward, piece by piece. */
typedef struct bl_text_file {
  bl_input *in;
  bl_buf held; /* bytes [at, n) of it are still to be read */
  size_t at;
  int64_t read; /* of the file */
} bl_text_file;
void bl_text_file_init(bl_text_file *f, bl_ctx *ctx, bl_input *in);
void bl_text_file_dispose(bl_text_file *f);
/* Reads on: what is held grows. *more false: at the end. */
bl_status bl_text_file_more(bl_text_file *f, bool *more, bl_error *err) BL_CHECKED;
/* Byte of the file at held.p[i]. */
static inline int64_t bl_text_file_byte(const bl_text_file *f, size_t i) {
  return f->read - (int64_t)(f->held.n - i);
}

/* The next line that is not blank, in what is held (until the next call), and the byte it begins at; *found false: at
 * the end. */
bl_status bl_text_file_line(bl_text_file *f, bl_str *line, int64_t *at, bool *found, bl_error *err) BL_CHECKED;

/* Batches end after that many rows, or bytes. */
enum { BL_TEXT_BATCH_ROWS = 65536, BL_TEXT_BATCH_BYTES = 64 << 20 };

/* The fields of a stream: those of the table that take part, then extra ones (made up, without ids). */
typedef struct bl_text_columns {
  bl_field *fields;
  size_t n;
  struct ArrowSchema schema;
  bl_builder *rows; /* of a struct of them */
} bl_text_columns;
bl_status bl_text_columns_build(bl_ctx *ctx, bl_text_columns *c, bl_error *err) BL_CHECKED;
void bl_text_columns_dispose(bl_text_columns *c);

#endif
