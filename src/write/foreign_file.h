/* foreign_file.h: a data file that somebody else wrote, looked at before the table takes it (bl_add_files). */
#ifndef BL_WRITE_FOREIGN_FILE_H
#define BL_WRITE_FOREIGN_FILE_H

#include "format/metadata_json.h"
#include "rows/project.h"
#include "table/table.h"
#include "write/metrics.h"

/* What all files of a call share. */
typedef struct bl_foreign_env {
  bl_table *t;
  const bl_schema *schema;
  const bl_partition_spec *spec;
  const bl_type *spec_types;
  bl_metrics_modes modes;
  bl_name_mapping mapping; /* the table's, or the one that it will get */
  bool copies_lineage;     /* a file that stores lineage is not taken itself: it may lie in any partitions */
} bl_foreign_env;

typedef struct bl_foreign_file {
  bl_arena *arena;
  bl_str path; /* as the metadata will have it */
  bl_input *input;
  bl_data_reader *reader;
  const int32_t *ids; /* effective field ids of its nodes */
  bl_data_file entry;
  bl_partition_spec told; /* partition fields of columns that its folders tell, in the place of the file; until
                           * bl_foreign_partition the entry's partition is of it */
  int32_t row_id_leaf, last_updated_leaf; /* where it stores lineage, -1 */
  bool by_name;                           /* it has no field ids */
} bl_foreign_file;

/* BL_USAGE: not a data file, a column that does not fit the table's or is missing, a partition value that cannot be
 * told (each names the file); BL_NOT_FOUND. */
bl_status bl_foreign_open(const bl_foreign_env *env, bl_str path, bl_foreign_file *out, bl_error *err) BL_CHECKED;
void bl_foreign_close(bl_foreign_file *f); /* a zeroed one allowed; keeps the arena */
void bl_foreign_dispose(bl_foreign_file *f);
/* Fills told and its values. BL_USAGE: a value that does not fit its column. */
bl_status bl_foreign_path(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) BL_CHECKED;
/* Fills entry.partition: what the folders told; else each field's value must be one for the whole file, by its
 * statistics. */
bl_status bl_foreign_partition(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) BL_CHECKED;

/* W13: ids that files store must lie below the table's next-row-id and be nobody else's, numbers be past ones. ref: the
 * branch that the files go to. BL_USAGE names file and id. */
bl_status bl_foreign_trust(bl_table *t, const char *ref, bl_foreign_file *files, size_t n, bl_error *err) BL_CHECKED;

/* A field of a name mapping, with those inside, by its own name; NULL = no memory. */
bl_json *bl_name_mapping_of(bl_arena *a, const bl_field *f);
/* The name mapping of a schema's own names, as JSON in arena a. */
bl_status bl_name_mapping_make(bl_arena *a, const bl_schema *s, bl_str *json, bl_error *err) BL_CHECKED;

#endif
