/* data_writer.h: rows -> data files of the table: fan-out by partition (to so many open files as memory and the I/O
 * allow, else spilled and sorted), sort order of the table, target file size by real bytes, column metrics by
 * write.metadata.metrics.*, write.parquet.* properties. Input batches have the table's columns in schema order
 * (canonical layout), optionally followed by _row_id and _last_updated_sequence_number: these are stored where any row
 * of a file has a value (W4, W5).
 */
#ifndef BL_WRITE_DATA_WRITER_H
#define BL_WRITE_DATA_WRITER_H

#include "bergline/arrow_c.h"
#include "write/staged.h"

typedef struct bl_data_writer bl_data_writer;
typedef struct bl_data_writer_options {
  const bl_schema *schema; /* NULL = current */
  int32_t spec_id;         /* -1 = default */
  bool lineage;            /* batches carry the two lineage columns */
  bool keep_order;         /* no sorting (copies: position order) */
  int32_t kept_order;      /* with keep_order: the id of the sort order that the rows are in; 0: of none */
  size_t beside;           /* writers at work at once, whose sorting shares the memory budget; 0: this one */
  const int32_t *plain;    /* field ids: columns whose values are too many for a dictionary; borrowed */
  size_t n_plain;
  const struct bl_write_settings *settings; /* that several writers share; borrowed. NULL: the writer makes its own */
} bl_data_writer_options;
/* Files go into `into` (added data, files written). Thread-compatible. */
bl_status bl_data_writer_new(bl_table *t, const bl_data_writer_options *o, bl_staged *into, bl_data_writer **out,
                             bl_error *err) BL_CHECKED;
bl_status bl_data_writer_write(bl_data_writer *w, struct ArrowArray *batch /* consumed */, bl_error *err) BL_CHECKED;
bl_status bl_data_writer_finish(bl_data_writer *w, bl_error *err) BL_CHECKED; /* frees w, also on failure */
void bl_data_writer_abort(bl_data_writer *w);

/* Metrics of a finished Parquet (Avro, ORC) file by its footer, as the table's properties ask: for add-files and the
 * writer. */
bl_status bl_file_metrics(bl_table *t, const bl_schema *schema, bl_data_reader *r, bl_arena *a, bl_data_file *into,
                          bl_error *err) BL_CHECKED;

#endif
