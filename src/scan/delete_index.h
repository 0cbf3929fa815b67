/* delete_index.h: which delete files apply to a data file (spec: "Scan Planning").
 *
 * Deletion vectors and position deletes that name one file are found by its path; other position deletes by
 * (spec, partition); equality deletes by (spec, partition), or everywhere where their spec is unpartitioned.
 * Sequence rules: vector and position deletes apply to data of the same or a lower number, equality deletes only
 * to strictly lower ones. A vector hides all position deletes of its file. Memory grows with the number of delete
 * files, never with (data files x delete files). */
#ifndef BL_SCAN_DELETE_INDEX_H
#define BL_SCAN_DELETE_INDEX_H

#include "model/manifest.h"

typedef struct bl_delete_index bl_delete_index;

typedef struct bl_file_deletes {
  const bl_manifest_entry *vector;    /* NULL = none */
  const bl_manifest_entry **position; /* v2 position deletes; none where there is a vector */
  size_t n_position;
  const bl_manifest_entry **equality;
  size_t n_equality;
} bl_file_deletes;

/* md is borrowed. */
bl_status bl_delete_index_new(bl_ctx *ctx, const bl_metadata *md, bl_delete_index **out, bl_error *err) BL_CHECKED;
void bl_delete_index_free(bl_delete_index *x); /* NULL allowed */
/* A live delete entry, borrowed. BL_DAMAGED: a second vector for one data file; an equality delete without ids. */
bl_status bl_delete_index_add(bl_delete_index *x, const bl_manifest_entry *e, bl_error *err) BL_CHECKED;
/* Before the first look-up; afterwards look-ups may run on several threads. */
bl_status bl_delete_index_seal(bl_delete_index *x, bl_error *err) BL_CHECKED;
/* What applies to a live data entry; arrays in arena a. Equality deletes that bounds and null counts rule out are left
 * away. BL_DAMAGED: a vector or a delete that names the file has another partition, or the vector is older than the
 * file. */
bl_status bl_delete_index_for(const bl_delete_index *x, bl_arena *a, const bl_manifest_entry *data,
                              bl_file_deletes *out, bl_error *err) BL_CHECKED;
/* The same, where the arrays may also lie in the index and then hold deletes that bounds rule out: to be read only, and
 * as long as the index lives. Memory does not grow with (data files x delete files). */
bl_status bl_delete_index_share(const bl_delete_index *x, bl_arena *a, const bl_manifest_entry *data,
                                bl_file_deletes *out, bl_error *err) BL_CHECKED;
size_t bl_delete_index_count(const bl_delete_index *x);

/* The data file that a position delete file names: referenced_data_file, or equal bounds of file_path; p NULL where
 * it may hold several. */
bl_str bl_delete_target(const bl_data_file *f);
/* Paths compare by these bytes: `file:/p`, `file:///p` and `/p` are one, and so are s3, s3a and s3n. Borrowed. */
bl_str bl_path_key(bl_str path);
/* May an equality delete match a row of a data file, as far as bounds and counts tell? */
bool bl_equality_may_match(const bl_metadata *md, const bl_data_file *del, const bl_data_file *data);
/* The newest field with that id in any schema of the table, the current one first; NULL where there is none. */
const bl_field *bl_metadata_any_field(const bl_metadata *md, int32_t id);

#endif
