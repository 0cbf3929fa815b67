/* metrics.h: column metrics of a finished data file (spec: "Data File Fields", "Appendix D: single-value
 * serialization"), from its footer and, where we wrote it, from what was seen while writing. */
#ifndef BL_WRITE_METRICS_H
#define BL_WRITE_METRICS_H

#include "format/metadata_json.h"
#include "model/manifest.h"
#include "write/settings.h"
#include "write/watch.h"

typedef struct bl_metrics_input {
  bl_ctx *ctx;
  const bl_metrics_modes *modes;
  const bl_schema *schema;
  const bl_name_mapping *mapping; /* for files without ids; NULL = none */
  const bl_watch *watch;          /* NULL: a file of somebody else */
} bl_metrics_input;

/* Sets record_count, metrics and split_offsets, all in arena a. */
bl_status bl_metrics_of(const bl_metrics_input *in, bl_data_reader *r, bl_arena *a, bl_data_file *into,
                        bl_error *err) BL_CHECKED;

/* Field id of each node of a file: its own, else the name mapping's; the metadata leaf of a variant has the variant's.
 * -1: none. meta->n_nodes of them. */
bl_status bl_file_ids(const bl_data_meta *meta, const bl_name_mapping *mapping, bl_arena *a, int32_t **out,
                      bl_error *err) BL_CHECKED;

/* Bounds cut to a length: a lower bound is a prefix, an upper bound the prefix with its last code point (byte) raised.
 * *out in arena a; p NULL: there is none. text: UTF-8, length in code points. */
bl_status bl_truncate_lower(bl_arena *a, bl_str v, bool text, int32_t length, bl_str *out, bl_error *err) BL_CHECKED;
bl_status bl_truncate_upper(bl_arena *a, bl_str v, bool text, int32_t length, bl_str *out, bl_error *err) BL_CHECKED;

#endif
