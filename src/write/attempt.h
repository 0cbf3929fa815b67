/* attempt.h: what the parts of a commit share (docs/commit-protocol.md). Private to src/write.
 *
 * A commit lives over several attempts; what it writes in one is used again by a later one where it still holds:
 * manifests of added files always, rewritten manifests as long as the manifest that they stand for is the same, the
 * Puffin file as long as the deletes that its vectors absorb are the same. Nothing of it holds a row id or a sequence
 * number of the attempt. */
#ifndef BL_WRITE_ATTEMPT_H
#define BL_WRITE_ATTEMPT_H

#include "scan/typed_specs.h"
#include "table/io.h"
#include "table/manifests.h"
#include "write/commit.h"
#include "write/paths.h"

/* A manifest that this commit wrote. */
typedef struct bl_made {
  bl_manifest_file file;                   /* numbers and ids are the attempt's: not set here */
  bool has_added;                          /* entries that take the attempt's sequence number */
  int64_t min_sequence;                    /* of the others; INT64_MAX: there are none */
  const bl_manifest_entry *const *entries; /* as written */
  size_t n;
} bl_made;

/* A line of the manifest list that an attempt will write. */
typedef struct bl_line {
  bl_manifest_file file;
  const bl_made *made; /* NULL: a manifest of the base, as it was */
} bl_line;

typedef struct bl_lines {
  bl_line *items;
  size_t n, cap;
} bl_lines;

/* A committed manifest, and what stands for it after the change. */
typedef struct bl_rewrite {
  bl_str path;
  int64_t first_row_id; /* of the list: ids of old tables may be assigned between two attempts */
  uint64_t dropped;     /* which entries go: a hash of their places */
  const bl_made *made;
} bl_rewrite;

typedef struct bl_written_file {
  bl_str path;
  bool used; /* by the attempt in hand */
} bl_written_file;

typedef struct bl_merge bl_merge;
typedef struct bl_vectors bl_vectors;

typedef struct bl_committing {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_table *t;
  const bl_staged *s;
  bl_str ref;
  int64_t snapshot_id;
  bl_uuid_text uuid;
  int n_manifests; /* names given so far */
  int attempt;
  bl_written_file *files;
  size_t n_files, cap_files;
  bl_unsynced unsynced; /* files of the staged change and of the attempts */
  bl_made **added;      /* manifests of the added files */
  size_t n_added;
  bool has_added;
  bl_rewrite *rewrites;
  size_t n_rewrites, cap_rewrites;
  bl_merge *merges;
  size_t n_merges, cap_merges;
  bl_vectors *vectors; /* of the last attempt that made some */
} bl_committing;

/* What the snapshot's summary tells. */
typedef struct bl_counts {
  int64_t manifests_created, manifests_kept, manifests_replaced;
  int64_t added_data_files, removed_data_files, added_delete_files, removed_delete_files;
  int64_t added_vectors, removed_vectors, added_position_files, removed_position_files;
  int64_t added_equality_files, removed_equality_files;
  int64_t added_bytes, removed_bytes, added_records, removed_records;
  int64_t added_position_deletes, removed_position_deletes, added_equality_deletes, removed_equality_deletes;
} bl_counts;

/* The partitions that changed, by their paths; what changed in each where there are no more of them than
 * write.summary.partition-limit. */
typedef struct bl_partition_count {
  bl_str path;
  bl_counts counts;
} bl_partition_count;
typedef struct bl_partition_counts {
  bl_map *paths; /* path -> place in each */
  bl_typed_specs specs;
  bl_partition_count *each;
  size_t cap, limit;
} bl_partition_counts;

typedef struct bl_attempt {
  bl_committing *c;
  bl_arena *arena;
  bl_table *base;            /* the commit's own table where that is the newest version */
  const bl_snapshot *parent; /* NULL: the branch has none yet */
  bl_manifest_file *manifests;
  size_t n_manifests;
  bl_lines data, deletes;
  bl_counts counts;
  bl_partition_counts partitions;
  bl_snapshot snapshot; /* the new one */
  int64_t next_row_id;
} bl_attempt;

/* ---- files ---- attempt.c */
bl_status bl_attempt_new(bl_committing *c, bl_attempt **out, bl_error *err) BL_CHECKED; /* of the newest version */
/* BL_UNSUPPORTED: the table's files are to be encrypted. */
bl_status bl_encryption_check(const bl_table *t, bl_error *err) BL_CHECKED;
/* BL_CONFLICT: another table has that name now. */
bl_status bl_check_same_table(const bl_table *t, const bl_table *now, bl_error *err) BL_CHECKED;
void bl_attempt_free(bl_attempt *at); /* NULL allowed */
/* Write a file of the commit's own, to be removed where it is not needed. It lasts when the pointer moves. */
bl_status bl_committing_write(bl_attempt *at, bl_str path, const bl_buf *bytes, bl_error *err) BL_CHECKED;
void bl_committing_use(bl_committing *c, bl_str path);
void bl_committing_unuse(bl_committing *c, bl_str path);
void bl_committing_unuse_all(bl_committing *c);
/* Remove what was written and (all: or not) is not in use; failures are warnings. */
void bl_committing_clean(bl_committing *c, bl_table *t, bool all);
bl_status bl_lines_add(bl_attempt *at, bl_lines *l, const bl_manifest_file *f, const bl_made *made,
                       bl_error *err) BL_CHECKED;

/* ---- manifests ---- manifest_make.c */
/* Write a manifest of entries (they live as long as the commit) of one spec. */
bl_status bl_made_new(bl_attempt *at, int32_t spec_id, bl_manifest_content content,
                      const bl_manifest_entry *const *entries, size_t n, bl_made **out, bl_error *err) BL_CHECKED;
/* Manifests of new files, grouped by spec, at most MOST_ENTRIES a manifest. */
bl_status bl_made_added(bl_attempt *at, bl_manifest_content content, const bl_manifest_entry *const *entries, size_t n,
                        bl_made ***out, size_t *n_out, bl_error *err) BL_CHECKED;

/* ---- the change ---- manifests_of_change.c */
/* Fill at->data and at->deletes: the parent's manifests with the change. BL_CONFLICT: a file that goes is gone. */
bl_status bl_attempt_manifests(bl_attempt *at, bl_error *err) BL_CHECKED;
/* A live entry of the base as it is written again: EXISTING, everything resolved (W2). */
bl_manifest_entry *bl_entry_existing(bl_arena *a, const bl_manifest_entry *e);

/* Manifest m of the base without the live entries that go (of its n): into lines. */
bl_status bl_manifest_without(bl_attempt *at, bl_lines *lines, const bl_manifest_file *m, const bool *goes, size_t n,
                              bl_error *err) BL_CHECKED;

/* ---- deletes ---- vectors.c */
/* Which delete files go, and the vectors that come: into at->deletes. */
bl_status bl_attempt_deletes(bl_attempt *at, bl_error *err) BL_CHECKED;

/* ---- merging ---- manifest_merge.c */
bl_status bl_attempt_merge(bl_attempt *at, bl_lines *lines, bl_error *err) BL_CHECKED;

/* ---- conflicts ---- conflict.c */
/* May the change still be made, after what was committed since its staging base? BL_CONFLICT names snapshot and file.
 */
bl_status bl_attempt_validate(bl_attempt *at, bl_error *err) BL_CHECKED;

/* ---- staged elsewhere ---- staged_commit.c */
/* Does the branch, or what is staged under the WAP id (NULL: none), hold the documents that the change comes from
 * already? BL_CONFLICT: some of them. */
bl_status bl_staged_is_held(const bl_attempt *at, const char *wap_id, bool *yes, bl_error *err) BL_CHECKED;

/* ---- summary ---- summary.c */
bl_status bl_counts_new(bl_attempt *at, bl_error *err) BL_CHECKED;
bl_status bl_count_file(bl_attempt *at, const bl_data_file *f, bool added, bl_error *err) BL_CHECKED;
bl_status bl_attempt_summary(bl_attempt *at, const bl_write_options *o, bl_pairs *out, bl_error *err) BL_CHECKED;
bool bl_summary_is_own(bl_str key); /* a key that the table sets itself */

#endif
