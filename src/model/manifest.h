/* manifest.h: manifest list entries, manifest entries and data files (spec: "Manifests", "Manifest Lists"). */
#ifndef BL_MODEL_MANIFEST_H
#define BL_MODEL_MANIFEST_H

#include "model/metadata.h"

#define BL_NONE INT64_MIN /* an optional long that is null */

typedef enum bl_manifest_content { BL_MANIFEST_DATA = 0, BL_MANIFEST_DELETES = 1 } bl_manifest_content;

typedef struct bl_field_summary {
  bool contains_null;
  bool has_nan, contains_nan;
  bl_str lower, upper; /* p NULL where absent */
} bl_field_summary;

typedef struct bl_manifest_file {
  bl_str path;
  int64_t length;
  int32_t spec_id;
  bl_manifest_content content;
  int64_t sequence_number, min_sequence_number;       /* 0 where absent (v1) */
  int64_t added_snapshot_id;                          /* BL_NONE where absent */
  int64_t added_files, existing_files, deleted_files; /* BL_NONE where absent */
  int64_t added_rows, existing_rows, deleted_rows;
  bl_field_summary *partitions;
  size_t n_partitions;
  bool has_partitions;
  bl_str key_metadata;
  int64_t first_row_id;    /* BL_NONE; also for delete manifests, whatever they store (R7) */
  bool stray_first_row_id; /* a delete manifest stored one */
} bl_manifest_file;

typedef enum bl_entry_status { BL_EXISTING = 0, BL_ADDED = 1, BL_DELETED = 2 } bl_entry_status;
typedef enum bl_file_content {
  BL_FILE_DATA = 0,
  BL_FILE_POSITION_DELETES = 1,
  BL_FILE_EQUALITY_DELETES = 2
} bl_file_content;
typedef enum bl_file_format { BL_FORMAT_PARQUET, BL_FORMAT_AVRO, BL_FORMAT_ORC, BL_FORMAT_PUFFIN } bl_file_format;

/* Per-column statistics, sorted by field id. Counts are BL_NONE, bounds p NULL where absent. */
typedef struct bl_column_metrics {
  int32_t id;
  int64_t size, values, nulls, nans;
  bl_str lower, upper;
} bl_column_metrics;

typedef struct bl_data_file {
  bl_file_content content;
  bl_file_format format;
  bl_str path; /* as written: matching goes by these bytes */
  int32_t spec_id;
  bl_value *partition;
  size_t n_partition;
  int64_t record_count, file_size;
  bl_column_metrics *metrics;
  size_t n_metrics;
  bl_str key_metadata;
  int64_t *split_offsets;
  size_t n_split_offsets;
  int32_t *equality_ids;
  size_t n_equality_ids;
  int32_t sort_order_id;                /* -1 where absent */
  int64_t first_row_id;                 /* resolved by R3; BL_NONE */
  bl_str referenced_data_file;          /* p NULL */
  int64_t content_offset, content_size; /* BL_NONE */
} bl_data_file;

typedef struct bl_manifest_entry {
  bl_entry_status status;
  int64_t snapshot_id;     /* inherited where null */
  int64_t sequence_number; /* data sequence number, inherited where null */
  int64_t file_sequence_number;
  int64_t stored_first_row_id; /* as in the file, BL_NONE where null (for verify and rewriting) */
  bl_data_file file;
} bl_manifest_entry;

const bl_column_metrics *bl_data_file_metrics(const bl_data_file *f, int32_t field_id); /* NULL */
const char *bl_file_format_name(bl_file_format f);                                      /* "PARQUET" … */

/* Deep copies into an arena; every field goes along. BL_NOMEM. */
bl_status bl_data_file_copy(bl_arena *a, const bl_data_file *f, bl_data_file *out, bl_error *err) BL_CHECKED;
bl_status bl_manifest_entry_copy(bl_arena *a, const bl_manifest_entry *e, bl_manifest_entry *out,
                                 bl_error *err) BL_CHECKED;
bl_status bl_manifest_file_copy(bl_arena *a, const bl_manifest_file *m, bl_manifest_file *out,
                                bl_error *err) BL_CHECKED;

#endif
