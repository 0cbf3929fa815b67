/* settings.h: what the properties of a table say about writing data files (Iceberg "Table properties": write.*). */
#ifndef BL_WRITE_SETTINGS_H
#define BL_WRITE_SETTINGS_H

#include "edge/arrow/arrow_edge.h"
#include "table/table.h"
#include "write/locations.h"

/* ---- column metrics: write.metadata.metrics.default, .column.NAME, .max-inferred-column-defaults ---- */
typedef enum bl_metrics_kind {
  BL_METRICS_NONE,
  BL_METRICS_COUNTS,
  BL_METRICS_TRUNCATE,
  BL_METRICS_FULL
} bl_metrics_kind;
typedef struct bl_metrics_mode {
  bl_metrics_kind kind;
  int32_t length; /* TRUNCATE: code points of a string, bytes of a binary */
} bl_metrics_mode;

typedef struct bl_metrics_modes {
  const int32_t *ids; /* leaf columns, ascending */
  const bl_metrics_mode *modes;
  size_t n;
} bl_metrics_modes;
/* A mode that is none of the above is a warning, and the default holds (as in Java). */
bl_status bl_metrics_modes_new(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_metrics_modes *out,
                               bl_error *err) BL_CHECKED;
/* Of a leaf; those of the lineage columns are always full; unknown ids none. */
bl_metrics_mode bl_metrics_mode_of(const bl_metrics_modes *m, int32_t id);

/* ---- files ---- */
typedef struct bl_write_settings {
  int64_t target_bytes;       /* write.target-file-size-bytes */
  bl_parquet_options parquet; /* write.parquet.* (pairs and threads are left out) */
  bl_locations locations;
  bl_metrics_modes metrics;
} bl_write_settings;
/* BL_USAGE: a property that is no number or out of range (named); BL_UNSUPPORTED: write.format.default other than
 * parquet, an unknown codec, and those of bl_locations_of. */
bl_status bl_write_settings_new(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_write_settings *out,
                                bl_error *err) BL_CHECKED;

/* ---- values of properties, alone ---- */
bool bl_metrics_mode_parse(bl_str text, bl_metrics_mode *out);
/* By its name in write.parquet.compression-codec; NULL: it cannot be written. */
const char *bl_parquet_codec(bl_str text);
bool bl_parquet_level(bl_str text, int64_t *out);
/* A share of false positives: above 0, below 1. */
bool bl_bloom_rate(bl_str text, double *out);

#endif
