/* bergline/input.h: files of rows as Arrow streams, for bl_append and the other verbs. */
#ifndef BERGLINE_INPUT_H
#define BERGLINE_INPUT_H

#include "bergline/arrow_c.h"
#include "bergline/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bl_input_format {
  BL_INPUT_AUTO = 0, /* by the ending of the name, else by the first bytes */
  BL_INPUT_PARQUET,
  BL_INPUT_ARROW,  /* IPC, stream or file */
  BL_INPUT_CSV,    /* RFC 4180 with a header, UTF-8; an empty field is null, "" the empty string */
  BL_INPUT_NDJSON, /* a JSON object a line */
  BL_INPUT_AVRO,
  BL_INPUT_ORC
} bl_input_format;
/* false: no such name ("auto", "parquet", "arrow", "csv", "ndjson", "avro", "orc"). */
BL_API bool bl_input_format_of(const char *name, bl_input_format *out);

typedef struct bl_read_options { /* zeroed: the defaults */
  bl_input_format format;
  bool extra_columns; /* CSV and NDJSON: columns that the table does not have are given too: text from CSV; from NDJSON
                         by the kind of their first value (boolean, long, double, string, else JSON text), and without
                         the columns of the table that none of the first rows (1 MiB) names */
} bl_read_options;

/* Rows of one file. Text takes the types of t's current schema: decimals, dates and times from their text, binary from
 * base64, nested values as NDJSON output has them (CSV: as JSON); a variant column takes any JSON. The stream has the
 * columns that the file has (NDJSON: all columns of t, where a missing member is the write default). in is borrowed and
 * must outlive the stream, as must t; name is for messages and may be NULL. BL_USAGE: rows that do not fit (file, row,
 * column); BL_DAMAGED: not a file of this format; BL_UNSUPPORTED. Errors of later rows come from the stream. */
BL_API bl_status bl_read_rows(bl_table *t, bl_input *in, const char *name, const bl_read_options *o,
                              struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;
/* The same of files one after the other, opened through io (NULL: local files), each with the columns and types of t's
 * schema: what bl_append takes. Strings are copied. */
BL_API bl_status bl_read_files(bl_table *t, bl_io *io, const char *const *paths, size_t n, const bl_read_options *o,
                               struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

/* A local file as a bl_input. BL_NOT_FOUND; BL_IO; BL_NOMEM. */
BL_API bl_status bl_input_open(bl_ctx *ctx, const char *path, bl_input **out, bl_error *err) BL_CHECKED;
BL_API void bl_input_close(bl_input *in); /* any, also of another's making; NULL allowed */
/* Bytes that can be read only once (a pipe) as a bl_input: they are copied to a temporary file first. read gives at
 * most n bytes, 0 at the end. */
BL_API bl_status bl_input_spool(bl_ctx *ctx,
                                bl_status (*read)(void *user, void *p, size_t n, size_t *got, bl_error *err),
                                void *user, bl_input **out, bl_error *err) BL_CHECKED;

/* Where the bytes of *in are gzip: another input in its place, with what they hold, which is unpacked into a temporary
 * file; *in is closed then. Other inputs stay. name is for messages and may be NULL. BL_DAMAGED: not all of it
 * can be unpacked. */
BL_API bl_status bl_input_unpack(bl_ctx *ctx, const char *name, bl_input **in, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
