/* bergline/write.h: creating and changing tables so that every row keeps its identity (docs/commit-protocol.md; rules
 * W1-W14 of docs/lineage.md). Each verb stages files first (no absolute row id in them), then commits in an attempt
 * loop: load the newest metadata, check for conflicts, write the manifest list, swap the pointer. After a failure the
 * table is exactly before or after. */
#ifndef BERGLINE_WRITE_H
#define BERGLINE_WRITE_H

#include "bergline/arrow_c.h"
#include "bergline/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bl_write_mode {
  BL_MODE_DEFAULT = 0 /* the table's write.{delete,update,merge}.mode */,
  BL_COPY_ON_WRITE,
  BL_MERGE_ON_READ
} bl_write_mode;

/* Options of every verb; zeroed = defaults. Strings are borrowed for the call. */
typedef struct bl_write_options {
  const char *ref;            /* branch, also one that another made since the table was opened; NULL = main. A tag:
                                 BL_USAGE */
  bool dry_run;               /* nothing is written; the result says what would be */
  const char *const *summary; /* "key=value" each, into the snapshot summary */
  size_t n_summary;
  const char *batch_id; /* kept in the summary as bergline.batch-id: a batch whose id the branch already holds is not
                           written again (result.already_applied). One that changes nothing is a snapshot, too */
  bl_write_mode mode;
  const char *wap_id; /* write, audit, publish: the snapshot is added, but the branch stays where it is until the
                         snapshot is cherry-picked */
  char **stage;       /* not NULL: the verb writes its files and commits nothing; *stage (NULL before) is the descriptor
                         of the change for bl_commit_staged, freed by bl_text_free. It stays NULL for a dry run and where
                         already_applied. All verbs on rows have it */
  bool *already_applied; /* not NULL: verbs without a bl_write_result say here what it would say in that member */
} bl_write_options;

/* What a verb did. */
typedef struct bl_write_result {
  bool committed; /* false: dry run, nothing to do, or already applied */
  bool already_applied;
  int64_t snapshot_id, sequence_number; /* of the new snapshot; 0 where none was made */
  int64_t rows_inserted, rows_updated, rows_deleted, rows_unchanged;
  int64_t first_row_id, rows_assigned; /* the id range that the commit assigned */
  int64_t data_files_added, data_files_removed, delete_files_added, delete_files_removed;
  int attempts;
  int64_t events_passed_over; /* of apply: that were applied before */
} bl_write_result;

/* ---- tables ---- */
typedef struct bl_create_options {
  const char *schema;              /* Iceberg schema JSON, or "a long not null, b string"; NULL: `arrow` decides */
  const struct ArrowSchema *arrow; /* by name and type, ids given anew; borrowed */
  const char *partition;           /* "bucket(16,a), day(ts)"; NULL = unpartitioned */
  const char *sort;                /* "a desc nulls last, bucket(4,b)"; NULL = unsorted */
  const char *const *properties;   /* "key=value" each */
  size_t n_properties;
  int format_version;   /* 0 = 3 */
  const char *location; /* where the files of a table in a catalog go; NULL: where the catalog says */
  bool dry_run;         /* everything is checked, nothing written */
  const char *batch_id; /* kept in the table's properties: where the table that is there was created by this batch, it
                           is no conflict */
  const char *const *summary; /* "key=value" each, into the table's properties */
  size_t n_summary;
  bool *already_applied; /* not NULL: the table was there, created by this batch */
} bl_create_options;
/* table: a folder that holds no table yet (Hadoop form), or NS.NAME of a catalog. BL_CONFLICT: it exists; BL_NOT_FOUND:
 * no such namespace; BL_USAGE: schema, partition or sort text (position); names that v3 reserves. */
BL_API bl_status bl_table_create(bl_ctx *ctx, const char *table, const bl_table_options *to, const bl_create_options *o,
                                 bl_error *err) BL_CHECKED;

/* The schema of a sample file (Parquet, Arrow, Avro, ORC; NDJSON and CSV by their first rows) as Iceberg JSON, for
 * bl_create_options.schema; freed by bl_text_free. o may be NULL. */
BL_API bl_status bl_schema_like(bl_ctx *ctx, const char *path, const bl_table_options *o, char **schema,
                                bl_error *err) BL_CHECKED;

/* ---- rows ---- Input columns go by name (_row_id and the like are refused, W13); casts are safe: a value that does
 * not fit is BL_USAGE naming row and column. The stream is read by the thread that calls; it is consumed and
 * released by every verb that takes one, also where that fails or finds the batch applied. Its own errors are passed
 * on with their message. t stays the version it was: open it again to see the result. */
BL_API bl_status bl_append(bl_table *t, struct ArrowArrayStream *rows, const bl_write_options *o, bl_write_result *r,
                           bl_error *err) BL_CHECKED;

typedef enum bl_foreign_lineage { BL_LINEAGE_REFUSE = 0, BL_LINEAGE_IGNORE, BL_LINEAGE_TRUST } bl_foreign_lineage;
/* Parquet, Avro or ORC files as they lie. Columns of identity partition fields that a file lacks are told by the
 * folders NAME=VALUE of its path; null, with a warning, where none tells. duplicates_ok: files that the table already
 * holds are not refused (B127). */
typedef struct bl_add_files_options {
  bl_foreign_lineage lineage;
  bool duplicates_ok;
} bl_add_files_options;
BL_API bl_status bl_add_files(bl_table *t, const char *const *paths, size_t n, const bl_add_files_options *a,
                              const bl_write_options *o, bl_write_result *r, bl_error *err) BL_CHECKED;
BL_API bl_status bl_delete_rows(bl_table *t, const char *where, const bl_write_options *o, bl_write_result *r,
                                bl_error *err) BL_CHECKED;
/* set: "a = EXPR" each; expressions: literals, columns, + - * / %, ||, coalesce, case, cast. */
BL_API bl_status bl_update_rows(bl_table *t, const char *const *set, size_t n_set, const char *where,
                                const bl_write_options *o, bl_write_result *r, bl_error *err) BL_CHECKED;
typedef enum bl_overwrite_kind {
  BL_OVERWRITE_ALL,
  BL_OVERWRITE_WHERE,
  BL_OVERWRITE_PARTITIONS /* dynamic */
} bl_overwrite_kind;
BL_API bl_status bl_overwrite(bl_table *t, struct ArrowArrayStream *rows, bl_overwrite_kind kind, const char *where,
                              const bl_write_options *o, bl_write_result *r, bl_error *err) BL_CHECKED;

typedef struct bl_upsert_options {
  const char *const *key;
  size_t n_key;
  const char *delete_when; /* predicate on source rows: their key is deleted; NULL = never */
  const char *last_wins;   /* column: of source rows with one key the greatest wins; NULL: a repeated key is BL_USAGE */
  bool touch;              /* write matched rows even where no value differs */
  bool delete_missing;     /* sync: keys that the source lacks are deleted; one that the table has twice is BL_USAGE */
  const char *name;        /* of the rows, in messages: a file's; NULL: the verb */
} bl_upsert_options;
BL_API bl_status bl_upsert(bl_table *t, struct ArrowArrayStream *rows, const bl_upsert_options *u,
                           const bl_write_options *o, bl_write_result *r, bl_error *err) BL_CHECKED;

typedef enum bl_apply_source { BL_APPLY_DEBEZIUM, BL_APPLY_CHANGES } bl_apply_source;
typedef struct bl_apply_options {
  bl_apply_source source;
  const char *const *key; /* the columns that say which row is which */
  size_t n_key;
  const char *name; /* of the events, in messages: a file's; NULL: the verb alone */
} bl_apply_options;
/* Change events, in their order; the last event of a key wins. Events that the branch has applied before are passed
 * over (docs/commit-protocol.md), so a batch may be given again, or overlap another.
 *   BL_APPLY_CHANGES: rows as bl_changes gives them: columns of the table by name, as for bl_append (of rows that
 *     delete only the key is looked at), _change_type and _commit_snapshot_id; also of use are
 *     _commit_sequence_number and _last_updated_sequence_number; other columns that begin with "_" are passed over.
 *   BL_APPLY_DEBEZIUM: envelopes as JSON in a text or binary column: the only one, or that called "value"; null is a
 *     tombstone. Rows without envelopes where they have __op or __deleted. Or envelopes as columns: op, before, after,
 *     source.
 *   Both: what bl_read_events gives.
 * The stream is consumed and released. Memory is bounded by the ctx's budget. BL_USAGE: columns, keys and values that
 * do not go with the table or the source (line or row, column); commits of which it cannot be told whether they were
 * applied (without a batch_id); BL_CONFLICT: another applied events of the source meanwhile; what the stream fails
 * with. */
BL_API bl_status bl_apply(bl_table *t, struct ArrowArrayStream *events, const bl_apply_options *a,
                          const bl_write_options *o, bl_write_result *r, bl_error *err) BL_CHECKED;
/* The events of a file for bl_apply: NDJSON (each line a string in the column value, with the byte that it begins at in
 * _byte; blank lines are left out), else CSV, Arrow, Parquet, Avro or ORC, told by the bytes; of debezium CSV by the
 * ending of name. in is borrowed and must outlive the stream, as must t; name is for messages and may be NULL. Errors
 * as of bl_read_rows. */
BL_API bl_status bl_read_events(bl_table *t, bl_input *in, const char *name, bl_apply_source source,
                                struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

/* ---- staged work: built in one process, committed in another (docs/formats/staged-json.md) ----
 * Any verb on rows with bl_write_options.stage; bl_stage_append is bl_append with it. */
BL_API bl_status bl_stage_append(bl_table *t, struct ArrowArrayStream *rows, const bl_write_options *o,
                                 char **descriptor, bl_error *err) BL_CHECKED;
/* Descriptors, also of several workers that each did a part, become one snapshot; NULL among them is passed over.
 * Branch, batch id, WAP id and summary are those that they were staged with, where o does not say. What others
 * committed since is checked as for the verb itself: BL_CONFLICT. So are the descriptors against each other: two may
 * delete one row, but of one that updates it another is a conflict. A descriptor is committed to a branch once: again
 * it is already_applied; BL_CONFLICT: the branch holds some of them, and nothing was done; BL_USAGE: one is given
 * twice, a damaged one (JSON path), those that rest on different snapshots. Its files are left where they are in any
 * case. */
BL_API bl_status bl_commit_staged(bl_table *t, const char *const *descriptors, size_t n, const bl_write_options *o,
                                  bl_write_result *r, bl_error *err) BL_CHECKED;
/* Remove the files of descriptors that nobody will commit. BL_CONFLICT: a snapshot of the table names one of them; then
 * all stay. What cannot be removed is a warning. */
BL_API bl_status bl_abandon_staged(bl_table *t, const char *const *descriptors, size_t n, bl_error *err) BL_CHECKED;

/* ---- refs, properties, schema: metadata only ---- No snapshot is made. Of the options dry_run, batch_id and summary
 * count, of which the table's properties tell (docs/commit-protocol.md): a batch id that the table has of the same verb
 * is not applied again (*already_applied). NULL = defaults. Where the table says already what is asked for, no new
 * version is made, but for a batch id. wap_id and stage are BL_USAGE. bl_cherry_pick, which may make a snapshot, takes
 * the other options of verbs, bl_rollback ref, bl_ref_create ref: the branch on which `at` lies. */
BL_API bl_status bl_set_properties(bl_table *t, const char *const *set, size_t n_set, const char *const *unset,
                                   size_t n_unset, const bl_write_options *o, bl_error *err) BL_CHECKED;
typedef struct bl_ref_options {
  const char *at;
  bool replace;
  int64_t min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms; /* 0 = unset */
} bl_ref_options;
/* A branch without `at` of a table whose main has no snapshot begins with an empty snapshot; main stays without. */
BL_API bl_status bl_ref_create(bl_table *t, const char *name, bool branch, const bl_ref_options *r,
                               const bl_write_options *o, bl_error *err) BL_CHECKED;
BL_API bl_status bl_ref_drop(bl_table *t, const char *name, bool branch, const bl_write_options *o,
                             bl_error *err) BL_CHECKED;
/* A branch that is not there is made. BL_NOT_FOUND: `to` is not there; BL_USAGE: it does not descend from the branch.
 */
BL_API bl_status bl_fast_forward(bl_table *t, const char *branch, const char *to, const bl_write_options *o,
                                 bl_write_result *r, bl_error *err) BL_CHECKED;
BL_API bl_status bl_cherry_pick(bl_table *t, const char *snapshot, const bl_write_options *o, bl_write_result *r,
                                bl_error *err) BL_CHECKED;
BL_API bl_status bl_rollback(bl_table *t, const char *snapshot, const bl_write_options *o, bl_write_result *r,
                             bl_error *err) BL_CHECKED;
/* One change as words: {"add","c","string","default","'x'"}, {"drop","c"}, {"rename","c","d"},
 * {"move","c","first"|"after","d"|"before","d"},
 * {"type","c","long"}, {"optional","c"}, {"default","c","5"}, {"doc","c","text"},
 * {"partition","add|drop","bucket(4,c)"}, {"sort","…"},
 * {"identifier","a,b"}. */
BL_API bl_status bl_alter(bl_table *t, const char *const *words, size_t n, const bl_write_options *o,
                          bl_error *err) BL_CHECKED;

/* The metadata of a table that was moved for good is written with the paths of its new place: metadata, lists,
 * manifests, position deletes and vectors of every snapshot. No data file is. BL_USAGE: `to` is neither an absolute
 * path nor a URI. */
BL_API bl_status bl_relocate(bl_table *t, const char *to, const bl_write_options *o, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
