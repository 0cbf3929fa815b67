/* bergline/sys/data.h: data file formats behind one interface (plug-in; check `version`).
 *
 * A reader hands out the file's own columns as Arrow arrays, positions by row group, statistics and pages; it
 * knows nothing of Iceberg schemas, defaults, deletes or lineage: the core resolves columns by field id.
 *
 * Canonical Arrow layout: what read() gives is always in these forms, whatever the file's writer had in mind:
 *   BOOL b · INT32 i · INT64 l · FLOAT f · DOUBLE g · DECIMAL d:P,S (128 bit) · DATE32 tdD · TIME ttu (us)
 *   TIMESTAMP ts{u,n}: with zone "UTC" or none · STRING u · BINARY z · FIXED w:N · STRUCT +s · LIST +l · MAP +m
 *   (entries struct with children "key" and "value"). No dictionaries, views, large_ layouts, run-end encoding. */
#ifndef BERGLINE_SYS_DATA_H
#define BERGLINE_SYS_DATA_H

#include "bergline/arrow_c.h"
#include "bergline/sys/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BL_DATA_VERSION 1

/* A stream tells its status by the errno that get_schema and get_next return (EINVAL BL_USAGE, EIO BL_IO, ENOTSUP
 * BL_UNSUPPORTED, ENOENT BL_NOT_FOUND, ENOMEM BL_NOMEM, ECANCELED BL_CANCELLED, EBADMSG BL_DAMAGED), and its message,
 * which names the file, by get_last_error. */

typedef enum bl_data_kind {
  BL_D_BOOL,
  BL_D_INT32,
  BL_D_INT64,
  BL_D_FLOAT,
  BL_D_DOUBLE,
  BL_D_DECIMAL,
  BL_D_DATE32,
  BL_D_TIME_US,
  BL_D_TIMESTAMP_US,
  BL_D_TIMESTAMP_NS,
  BL_D_STRING,
  BL_D_BINARY,
  BL_D_FIXED,
  BL_D_STRUCT,
  BL_D_LIST,
  BL_D_MAP,
  BL_D_OTHER /* cannot be read; named in `note`; BL_UNSUPPORTED only when it is asked for */
} bl_data_kind;

/* What a logical type says beyond the kind. */
typedef enum bl_data_hint {
  BL_H_NONE,
  BL_H_UUID,
  BL_H_VARIANT,
  BL_H_GEOMETRY,
  BL_H_GEOGRAPHY,
  BL_H_INT96,
  BL_H_JSON,
  BL_H_ENUM
} bl_data_hint;

/* The column tree, depth first (parents before children); index 0 is the root struct. Lists have one child,
 * maps two (key, value): the repeated groups of the file are not nodes. Leaves have leaf >= 0. */
typedef struct bl_data_node {
  int32_t parent;   /* index, -1 for the root */
  int32_t leaf;     /* number of the leaf column, -1 for nested nodes */
  int32_t field_id; /* -1 where the file has none */
  const char *name;
  bool required;
  bl_data_kind kind;
  bl_data_hint hint;
  int32_t precision, scale; /* decimal */
  int32_t length;           /* fixed */
  bool utc;                 /* timestamps: adjusted to UTC */
  const char *note;         /* for BL_D_OTHER: the file's own type name; else NULL */
} bl_data_node;

typedef struct bl_data_group {
  int64_t first_row, rows, bytes /* compressed, all columns */, offset;
} bl_data_group;

typedef struct bl_data_meta {
  const bl_data_node *nodes;
  size_t n_nodes;
  const bl_data_group *groups;
  size_t n_groups;
  int64_t rows;
  bool has_field_ids;      /* any node has one */
  const char *created_by;  /* NULL */
  const char *schema_text; /* the file's "iceberg.schema" JSON, or NULL */
} bl_data_meta;

/* Statistics of a leaf in a row group; bounds in the single-value form of the node's own kind (Iceberg spec
 * appendix D), owned by the reader until it is freed. Only bounds that hold for all non-null, non-NaN values are given.
 */
typedef struct bl_data_stats {
  int64_t values, nulls; /* -1 where unknown; values includes nulls */
  int64_t compressed_bytes, uncompressed_bytes;
  const void *lower, *upper; /* NULL where absent */
  size_t lower_size, upper_size;
  bool lower_exact, upper_exact;
  bool plain; /* most values are stored one by one though the file has dictionaries: too many differ */
} bl_data_stats;

/* Rows of one row group, counted from its first row: ascending, disjoint, [begin, end). */
typedef struct bl_row_range {
  int64_t begin, end;
} bl_row_range;

typedef struct bl_data_reader bl_data_reader;
struct bl_data_reader {
  const bl_data_meta *meta;
  /* Chosen leaves (ascending) of one row group as a stream of batches in row order: one top-level struct whose
   * children mirror the node tree pruned to the chosen leaves (a map is always whole: asking for one side gives both).
   * ranges NULL = all rows; else only those rows, and they alone are decoded where the format can. leaves may be empty:
   * batches then carry only a length. Each batch has at most batch_rows rows. May be called from several threads at
   * once. check_pages: verify page checksums where the file has them. */
  bl_status (*read)(bl_data_reader *r, size_t group, const int32_t *leaves, size_t n_leaves, const bl_row_range *ranges,
                    size_t n_ranges, int64_t batch_rows, struct ArrowArrayStream *out, bl_error *err);
  /* false: nothing is known. */
  bool (*stats)(bl_data_reader *r, size_t group, int32_t leaf, bl_data_stats *out);
  /* May a value be in the group by its bloom filter? `value` in single-value form. true where there is no filter. NULL
   * = none. */
  bool (*bloom)(bl_data_reader *r, size_t group, int32_t leaf, const void *value, size_t n);
  /* Ranges of rows in the group whose pages can hold a value of leaf within [lo, hi] (single-value forms, NULL = open)
   * by the column index; *n_out = SIZE_MAX where there is no index. Caller frees with free_ranges. NULL = none. */
  bl_status (*page_ranges)(bl_data_reader *r, size_t group, int32_t leaf, const void *lo, size_t n_lo, const void *hi,
                           size_t n_hi, bl_row_range **out, size_t *n_out, bl_error *err);
  void (*free_ranges)(bl_data_reader *r, bl_row_range *ranges);
  void (*free)(bl_data_reader *r);
};

typedef struct bl_data_open_options {
  const void *key;
  size_t n_key; /* encryption key or NULL */
  const void *aad_prefix;
  size_t n_aad;
  bool check_pages;
} bl_data_open_options;

/* A format. `in` is borrowed and must outlive the reader; `name` is for messages. */
typedef struct bl_data_format {
  int version;      /* BL_DATA_VERSION */
  const char *name; /* "parquet" */
  bl_status (*open)(bl_ctx *ctx, bl_input *in, const char *path, const bl_data_open_options *o, bl_data_reader **out,
                    bl_error *err);
} bl_data_format;

#ifdef __cplusplus
}
#endif
#endif
