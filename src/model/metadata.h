/* metadata.h: table metadata (spec: "Table Metadata and Snapshots"). All in one arena; times are ms since epoch. */
#ifndef BL_MODEL_METADATA_H
#define BL_MODEL_METADATA_H

#include "model/partition.h"

typedef struct bl_json bl_json; /* format/json.h */

typedef struct bl_pair {
  bl_str key, value;
} bl_pair;
typedef struct bl_pairs {
  bl_pair *items;
  size_t n;
} bl_pairs;
bl_str bl_pairs_get(const bl_pairs *p, const char *key);            /* p NULL where absent */
bool bl_pairs_is(const bl_pairs *p, const char *key, bl_str value); /* is the key there, with this value? */

typedef struct bl_snapshot {
  int64_t id;
  bool has_parent;
  int64_t parent_id;       /* parent-snapshot-id -1 reads as none */
  int64_t sequence_number; /* 0 where absent (v1) */
  int64_t timestamp_ms;
  bl_str manifest_list; /* p NULL: v1 with inline manifests */
  bl_str *manifests;
  size_t n_manifests; /* v1 inline */
  bl_pairs summary;   /* "operation" among them */
  bool has_schema_id;
  int32_t schema_id;
  bool has_first_row_id;
  int64_t first_row_id;
  bool has_added_rows;
  int64_t added_rows;
  bl_str key_id; /* encryption of the manifest list: p NULL where absent */
} bl_snapshot;

typedef struct bl_ref {
  bl_str name;
  int64_t snapshot_id;
  bool is_branch;
  bool has_min_snapshots;
  int32_t min_snapshots_to_keep;
  bool has_max_snapshot_age;
  int64_t max_snapshot_age_ms;
  bool has_max_ref_age;
  int64_t max_ref_age_ms;
} bl_ref;

typedef struct bl_log_entry {
  int64_t timestamp_ms, snapshot_id;
} bl_log_entry;
typedef struct bl_metadata_log_entry {
  int64_t timestamp_ms;
  bl_str file;
} bl_metadata_log_entry;
typedef struct bl_statistics {
  int64_t snapshot_id;
  bl_str path;
  int64_t file_size, footer_size;
} bl_statistics;
typedef struct bl_encryption_key {
  bl_str key_id, encrypted_by;
} bl_encryption_key;

typedef struct bl_metadata {
  bl_arena *arena;     /* owns everything below */
  const bl_json *json; /* the whole document, unknown fields included */
  int format_version;  /* 1, 2, 3 */
  bl_str uuid;         /* p NULL: v1 without */
  bl_str location;
  int64_t last_sequence_number, last_updated_ms;
  int32_t last_column_id, last_partition_id;
  bl_schema *schemas;
  size_t n_schemas;
  int32_t current_schema_id;
  bl_partition_spec *specs;
  size_t n_specs;
  int32_t default_spec_id;
  bl_sort_order *orders;
  size_t n_orders;
  int32_t default_order_id;
  bl_pairs properties;
  bool has_current;
  int64_t current_snapshot_id;
  bl_snapshot *snapshots;
  size_t n_snapshots;
  const uint32_t *snapshot_index; /* positions in snapshots, sorted by id (bl_metadata_index) */
  bl_log_entry *snapshot_log;
  size_t n_snapshot_log;
  bl_metadata_log_entry *metadata_log;
  size_t n_metadata_log;
  bl_ref *refs;
  size_t n_refs; /* "main" added where only current-snapshot-id is there */
  bl_statistics *statistics;
  size_t n_statistics;
  bl_statistics *partition_statistics;
  size_t n_partition_statistics;
  bl_encryption_key *keys;
  size_t n_keys;
  int64_t next_row_id; /* v3; 0 before */
} bl_metadata;

/* Build snapshot_index in m->arena. The parser calls it, and whoever changes `snapshots`. BL_NOMEM. */
bl_status bl_metadata_index(bl_metadata *m, bl_error *err) BL_CHECKED;

/* NULL where there is none. Snapshot look-up is a binary search in snapshot_index. */
const bl_snapshot *bl_metadata_snapshot(const bl_metadata *m, int64_t id);
/* The first one whose summary has this pair. */
const bl_snapshot *bl_metadata_snapshot_with(const bl_metadata *m, const char *key, bl_str value);
const bl_schema *bl_metadata_schema(const bl_metadata *m, int32_t id);
const bl_schema *bl_metadata_current_schema(const bl_metadata *m);
const bl_sort_order *bl_metadata_default_order(const bl_metadata *m); /* NULL: it is not listed */
const bl_partition_spec *bl_metadata_spec(const bl_metadata *m, int32_t id);
const bl_ref *bl_metadata_ref(const bl_metadata *m, bl_str name);
/* Name of the operation, "" where the summary has none. */
bl_str bl_snapshot_operation(const bl_snapshot *s);
/* The parent that is still in the metadata, or NULL. */
const bl_snapshot *bl_metadata_parent(const bl_metadata *m, const bl_snapshot *s);
/* Is `a` b or an ancestor of b (through snapshots still present)? */
bool bl_metadata_is_ancestor(const bl_metadata *m, int64_t a, int64_t b);

#endif
