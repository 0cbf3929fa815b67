/* open_file.h: an open data (or delete) file of the table: its reader, the facts that lineage is inherited from, and
 * batches of wanted columns with physical positions (docs/lineage.md R1, R4). Thread-safe after opening. */
#ifndef BL_SCAN_OPEN_FILE_H
#define BL_SCAN_OPEN_FILE_H

#include "model/expr.h"
#include "rows/project.h"
#include "table/table.h"

/* What all files of one read share. */
typedef struct bl_reading {
  bl_table *t;
  bl_arena *arena;         /* of the name mapping */
  bl_name_mapping mapping; /* n_fields 0: none */
  bool has_mapping;
  int64_t batch_rows;
} bl_reading;
/* BL_DAMAGED: the table's name mapping is no JSON. */
bl_status bl_reading_init(bl_reading *r, bl_table *t, bl_error *err) BL_CHECKED;
void bl_reading_dispose(bl_reading *r);

typedef struct bl_open_file {
  const bl_reading *env;
  const bl_manifest_entry *entry; /* borrowed */
  char *name;                     /* its path as it was read, for messages */
  bl_input *input;
  bl_data_reader *reader;
  const bl_data_meta *meta;
  bl_file_facts facts;
  bool no_lineage_columns; /* neither lineage column is stored */
} bl_open_file;

/* BL_NOT_FOUND: the file is missing; BL_DAMAGED; BL_UNSUPPORTED: format or encryption. */
bl_status bl_open_file_new(const bl_reading *env, const bl_manifest_entry *e, bl_open_file **out,
                           bl_error *err) BL_CHECKED;
void bl_open_file_free(bl_open_file *f); /* NULL allowed */
/* Warns once where the file has another number of rows than its entry says: ids that rows inherit may be those of
 * others. *warned: it was done. By several threads. */
void bl_open_file_check_rows(const bl_open_file *f, bool *warned);
bl_status bl_open_file_project(const bl_open_file *f, const bl_type *wanted, bl_projection **out,
                               bl_error *err) BL_CHECKED;

/* A batch of the wanted columns; taken over by the visitor. positions NULL: first, first + 1, … */
typedef bl_status (*bl_rows_visit)(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                                   bl_error *err);
/* Rows of one row group, all or those of ranges (counted from the group's first row), in order. */
bl_status bl_open_file_read(const bl_open_file *f, const bl_projection *p, size_t group, const bl_row_range *ranges,
                            size_t n_ranges, bl_rows_visit visit, void *user, bl_error *err) BL_CHECKED;
/* May any row of a group match, by its statistics, bloom filters, and the arithmetic of metadata columns? `p` must hold
 * the filter's columns. */
bool bl_open_file_may_match(const bl_open_file *f, const bl_projection *p, const bl_expr *filter, size_t group);

/* Rows of a group (ranges counted from its first row) outside of which no page holds a matching row, by the column
 * index; *n = SIZE_MAX: nothing is known, all rows. *out is allocated (bl_free). */
bl_status bl_open_file_pages(const bl_open_file *f, const bl_projection *p, const bl_expr *filter, size_t group,
                             bl_row_range **out, size_t *n, bl_error *err) BL_CHECKED;

/* Of a row group, are `kept` rows in `stretches` stretches better picked by ranges than decoded with all others and
 * filtered? Where the reader takes single values out of their pages, always; where it has to skip them, each stretch
 * costs about as much as decoding some rows more. */
bool bl_open_file_picks(const bl_open_file *f, const bl_projection *p, size_t group, int64_t kept, int64_t stretches);

/* Row ranges of the ones in keep[0..n). *out is allocated (bl_free); *n_out of them. */
bl_status bl_ranges_of(bl_ctx *ctx, const uint8_t *keep, int64_t n, bl_row_range **out, size_t *n_out,
                       bl_error *err) BL_CHECKED;

#endif
