/* file_writer.h: one Parquet data file from its first batch to its entry. A file writer belongs to one thread at a
 * time; several run in parallel. */
#ifndef BL_WRITE_FILE_WRITER_H
#define BL_WRITE_FILE_WRITER_H

#include "rows/arrow_share.h"
#include "write/metrics.h"
#include "write/settings.h"

/* What all files of a data writer share; read-only once made. Batches have the schema's columns, then, where `lineage`,
 * _row_id and _last_updated_sequence_number. */
typedef struct bl_file_env {
  bl_table *t;
  bl_arena *arena;
  const bl_schema *schema;
  bl_write_settings settings;
  bl_str schema_json; /* for the footer: "iceberg.schema" */
  bool lineage;
  bl_type file_types[4];              /* columns of a file by which lineage columns it stores (bits 0 and 1) */
  struct ArrowSchema file_schemas[4]; /* without columns of type unknown, which no file has (spec: "Unknown") */
  bl_pick picks[4];                   /* those columns of a batch */
} bl_file_env;
/* settings: made before, and borrowed; NULL: made here. BL_UNSUPPORTED: a column that no file can hold; a schema
 * without columns. */
bl_status bl_file_env_init(bl_file_env *e, bl_table *t, const bl_schema *schema, bool lineage,
                           const bl_write_settings *settings, bl_error *err) BL_CHECKED;
void bl_file_env_dispose(bl_file_env *e); /* a zeroed one allowed */

/* Which lineage columns have a value in the batch: bits 0 and 1. */
unsigned bl_lineage_bits(const bl_file_env *e, const struct ArrowArray *batch);

typedef struct bl_file_writer bl_file_writer;
/* path is borrowed. columns: the lineage bits that the file stores. threads: for encoding. */
bl_status bl_file_writer_new(const bl_file_env *e, const char *path, unsigned columns, int threads,
                             bl_file_writer **out, bl_error *err) BL_CHECKED;
/* Rows [begin, begin + n) of a batch; spread: on the writer's threads. Lineage columns that the file does not store
 * must be null. */
bl_status bl_file_writer_write(bl_file_writer *w, bl_shared *batch, int64_t begin, int64_t n, bool spread,
                               bl_error *err) BL_CHECKED;
/* As large as the file would be now, and bytes of memory: exact enough where they are not below `enough`. */
int64_t bl_file_writer_bytes(bl_file_writer *w, int64_t enough);
int64_t bl_file_writer_held(bl_file_writer *w, int64_t enough);
bl_status bl_file_writer_end_group(bl_file_writer *w, bl_error *err) BL_CHECKED;
/* Publishes the file and fills path, format, sizes and metrics of *out, in arena a. Frees w, also on failure. */
bl_status bl_file_writer_finish(bl_file_writer *w, bl_arena *a, bl_data_file *out, bl_error *err) BL_CHECKED;
void bl_file_writer_abort(bl_file_writer *w); /* nothing remains; NULL allowed */

#endif
