/* bergline/table.h: opening a table. A handle shows the version that was current when it was opened and never changes;
 * it may be read by several threads at once. */
#ifndef BERGLINE_TABLE_H
#define BERGLINE_TABLE_H

#include "bergline/sys/drivers.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bl_table bl_table;

/* Options of every call that takes a TABLE; zeroed = defaults. Strings are borrowed for the call. */
typedef struct bl_table_options {
  const char *catalog;          /* a catalog's name in the configuration, or which one of those in `uri` */
  const char *uri;              /* straight to a catalog: sqlite:///path/catalog.db */
  const char *warehouse;        /* its warehouse folder; without uri: a folder of Hadoop tables, NS/NAME */
  const char *const *path_maps; /* "FROM=TO" each */
  size_t n_path_maps;
  const bl_drivers *drivers; /* NULL: bl_drivers_default; else it must outlive the table */
  bool to_change;            /* for a change: a catalog that another process keeps locked is BL_CONFLICT, not BL_IO */
} bl_table_options;

/* Open TABLE: a folder or URI, a metadata file (that version, read-only), or NS.NAME of a catalog. A TABLE with a '/'
 * or an existing path is a path. o may be NULL. The newest metadata of a folder: metadata/version-hint.text and any
 * newer version that follows it, else the highest vN.metadata.json or NNNNN-<uuid>.metadata.json, then the latest
 * last-updated-ms. A moved folder opens: its recorded location is mapped to the folder given, in the I/O layer
 * (file:/p, file:///p and /p are one). BL_NOT_FOUND: no such folder, catalog or table, no metadata; BL_USAGE: bad
 * option, several catalogs; BL_DAMAGED, BL_UNSUPPORTED: the metadata (see docs/formats), a view, a store this build
 * cannot reach; BL_IO; BL_NOMEM. */
BL_API bl_status bl_table_open(bl_ctx *ctx, const char *table, const bl_table_options *o, bl_table **out,
                               bl_error *err) BL_CHECKED;
/* The same table at its newest version, with the connection to its catalog that t has: what commits again and again
 * takes less time so than by opening it anew. What this process committed last, it does not read again. t may be freed
 * before or after. BL_NOT_FOUND: it was dropped meanwhile; BL_USAGE: t is one version (opened by metadata file);
 * else as bl_table_open. */
BL_API bl_status bl_table_reopen(const bl_table *t, bl_table **out, bl_error *err) BL_CHECKED;
BL_API void bl_table_free(bl_table *t);

/* Facts of the opened version. Strings live as long as the table. */
typedef struct bl_table_info {
  int format_version;
  const char *uuid;              /* NULL: a v1 table without one */
  const char *location;          /* as recorded */
  const char *metadata_location; /* the file this version was read from, as opened */
  int64_t last_updated_ms;
  int64_t last_sequence_number;
  int64_t next_row_id; /* v3; 0 before */
  bool has_current_snapshot;
  int64_t current_snapshot_id;
  int32_t current_schema_id, default_spec_id, default_sort_order_id;
  bool read_only; /* opened by a metadata file */
} bl_table_info;
BL_API void bl_table_get_info(const bl_table *t, bl_table_info *out);
/* A branch or tag; numbers are 0 where they are not set. Strings live as long as the table. */
typedef struct bl_ref_info {
  const char *name;
  bool is_branch;
  int64_t snapshot_id;
  int64_t min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms;
} bl_ref_info;
/* In the order of the metadata. false: i is beyond the last one. */
BL_API bool bl_table_ref(const bl_table *t, size_t i, bl_ref_info *out);
/* A table property, NULL where it is not set. */
BL_API const char *bl_table_property(const bl_table *t, const char *key);

#ifdef __cplusplus
}
#endif
#endif
