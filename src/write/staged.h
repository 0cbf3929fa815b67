/* staged.h: a change to a table before it is committed: files that were written, files and deletes that go, and what
 * the change rests on. It holds no absolute row id and no sequence number of its own (W1, W14): those belong to the
 * attempt. Everything lives in its arena. */
#ifndef BL_WRITE_STAGED_H
#define BL_WRITE_STAGED_H

#include "base/map.h"
#include "bergline/write.h"
#include "format/puffin.h"
#include "model/expr.h"
#include "scan/delete_index.h"
#include "table/table.h"

typedef enum bl_isolation { BL_SERIALIZABLE, BL_SNAPSHOT } bl_isolation;

/* A vector's new positions for one data file; the attempt unites them with whatever applies at its base. */
typedef struct bl_staged_vector {
  const bl_manifest_entry *data; /* as live at the staging base: place, partition, spec, record_count */
  bl_posset *added;              /* positions deleted by this change; owned by the staged change */
  bl_posset *moved; /* those of `added` whose row was rewritten (update): a concurrent delete or update of one of them
                       is a conflict (W14); NULL = none */
} bl_staged_vector;

/* Rows that the change found to be as it wants them, and so leaves: another that takes one of them is a conflict. */
typedef struct bl_staged_kept {
  const bl_manifest_entry *data; /* as live at the staging base */
  bl_posset *rows;               /* positions; owned by the staged change */
} bl_staged_kept;

/* What a verb did, for its report. */
typedef struct bl_staged_counts {
  int64_t rows_inserted, rows_updated, rows_deleted, rows_unchanged;
} bl_staged_counts;

typedef struct bl_staged {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_str operation;         /* "append", "overwrite", "delete", "replace" */
  int64_t base_snapshot_id; /* BL_NONE: the branch was empty */
  bl_data_file *data;
  size_t n_data, cap_data; /* added, first_row_id BL_NONE, spec_id set */
  int64_t *data_sequence;  /* NULL, or a data sequence number for each added file (compaction) */
  const bl_manifest_entry **removed;
  size_t n_removed, cap_removed; /* data files that go, by place */
  bl_staged_vector *vectors;
  size_t n_vectors, cap_vectors;
  bl_staged_kept *kept;
  size_t n_kept, cap_kept;
  bl_staged_counts counts;
  const bl_expr *conflict_filter;   /* rows that the change read: a concurrent commit that may touch one conflicts under
                                       serializable; NULL = all */
  const bl_schema *conflict_schema; /* what the filter is bound to */
  bool reads_rows;                  /* false: an append, conflicts with nothing */
  bool new_paths;                   /* no added file may be one that another has added meanwhile */
  bool replaces_partitions;         /* dynamic overwrite: partitions of the added files */
  bool keeps_rows;                  /* rows of removed files are among the added ones: another that removes one of them
                                       cannot be made together with it */
  bl_isolation isolation;
  bool even_if_empty;   /* commit a snapshot though nothing changes */
  const bl_ref *begins; /* the branch that the snapshot begins: it must not be there yet; NULL: it is there */
  const bl_write_options *begins_note; /* batch id and summary of its creation; NULL: none */
  bl_pairs summary;                    /* additional */
  bl_str *ids;                         /* of the documents that it comes from: each is committed once on a branch */
  size_t n_ids, cap_ids;
  bl_str branch, batch_id, wap_id; /* of a document: what its commit is told where it is not told otherwise */
  bl_str on_position;              /* of a source, that the branch had recorded last; p NULL: none */
  bool heeds_position;             /* it must still be that */
  int64_t picked;                  /* the snapshot whose change is made again (cherry-pick); BL_NONE: none */
  bl_str *files;
  size_t n_files, cap_files; /* paths written for it: removed when it is given up */
  bool synced;               /* they last already: another process saw to it */
  bl_map *vector_of;         /* path of a data file -> place in vectors; private */
  bl_map *kept_of;           /* the same in kept */
} bl_staged;

bl_status bl_staged_new(bl_ctx *ctx, bl_staged **out, bl_error *err) BL_CHECKED;
void bl_staged_free(bl_staged *s); /* NULL allowed; files stay */
bl_status bl_staged_add_data(bl_staged *s, const bl_data_file *f /* copied */, bl_error *err) BL_CHECKED;
bl_status bl_staged_remove(bl_staged *s, const bl_manifest_entry *e /* copied */, bl_error *err) BL_CHECKED;
/* added and moved are taken over, also on failure. What is added for one data file twice is united. */
bl_status bl_staged_vector_add(bl_staged *s, const bl_manifest_entry *e /* copied */, bl_posset *added,
                               bl_posset *moved, bl_error *err) BL_CHECKED;
/* rows are taken over, also on failure; those of one data file are united. */
bl_status bl_staged_keep(bl_staged *s, const bl_manifest_entry *e /* copied */, bl_posset *rows,
                         bl_error *err) BL_CHECKED;
/* Into the summary of the snapshot; both are copied. */
bl_status bl_staged_note(bl_staged *s, const char *key, bl_str value, bl_error *err) BL_CHECKED;
bl_status bl_staged_file_written(bl_staged *s, bl_str path, bl_error *err) BL_CHECKED;
/* Ids of documents, in one text with commas between them. */
#define BL_STAGED_IDS "bergline.staged-ids"
/* The first of them, which is taken off; n 0: there is none. */
bl_str bl_staged_next_id(bl_str *ids);
bl_status bl_staged_add_ids(bl_staged *s, bl_str ids, bl_error *err) BL_CHECKED;
/* The position in a source's log that the events came to which are in the table (apply.h). */
#define BL_SOURCE_POSITION "bergline.source-position"
/* Another commit that moves the position meanwhile is a conflict. text: copied. */
bl_status bl_staged_on_position(bl_staged *s, bl_str text, bl_error *err) BL_CHECKED;
/* Make what was written last, now. A commit does it for the files of its own staged change. */
bl_status bl_staged_sync(const bl_staged *s, bl_table *t, bl_error *err) BL_CHECKED;
/* The vector for the data file of a path; NULL: none. */
const bl_staged_vector *bl_staged_vector_find(const bl_staged *s, bl_str path);
/* Remove what was written (errors are warnings). */
void bl_staged_discard(bl_staged *s, bl_table *t);
/* The change as a document for another process, in *o->stage. Its files last then. */
bl_status bl_staged_give(bl_staged *s, bl_table *t, const bl_write_options *o, bl_error *err) BL_CHECKED;
/* Descriptor JSON, with an id of its own, and back (for commits in another process). Vectors are kept as positions in
 * base64 of the portable bitmap. */
bl_status bl_staged_to_json(const bl_staged *s, const bl_table *t, bl_buf *out, bl_error *err) BL_CHECKED;
bl_status bl_staged_from_json(bl_table *t, const char *json, size_t n, bl_staged **out, bl_error *err) BL_CHECKED;

#endif
