/* table_maker.h: small tables made in memory, for tests: real Parquet, Puffin, Avro and JSON bytes, written file by
 * file with whatever a test wants in them, right or wrong.
 *
 *   maker *m = maker_new(ctx, 3, "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"}]");
 *   bl_data_file *a = maker_data(m, "a.parquet", NULL, "[[1],[2],[3]]", 2);      two row groups: 2 rows and 1
 *   bl_data_file *d = maker_vector(m, "d.puffin", "a.parquet", (int64_t[]){1}, 1);
 *   maker_entry data[] = {maker_added(a)}, deletes[] = {maker_added(d)};
 *   maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(deletes, 1)};
 *   maker_commit(m, 101, "append", ms, 2);       a child of the last snapshot, on main
 *   bl_table *t = maker_open(m);                 main at the last snapshot; more commits may follow, then open again
 *   …
 *   bl_table_free(t);
 *   maker_free(m);
 *
 * Everything a maker gives lives as long as it. File names are put below the table's location; any failure fails the
 * test. Rows are JSON: an array a row, one value a column (single values as the Iceberg spec writes defaults; structs
 * and lists as arrays, maps as arrays of [key, value]). */
#ifndef BL_TEST_TABLE_MAKER_H
#define BL_TEST_TABLE_MAKER_H

#include "bergline/arrow_c.h"
#include "bergline/table.h"
#include "model/manifest.h"
#include "support/support.h"

#define MAKER_LOCATION "/t"

typedef struct maker maker;

/* fields: of schema 0, as metadata JSON has them. */
maker *maker_new(bl_ctx *ctx, int format_version, const char *fields);
void maker_free(maker *m);

/* ---- before the first file ---- */
void maker_schema(maker *m, int id, const char *fields); /* another schema; the last one is current */
void maker_spec(maker *m, int id, const char *fields);   /* another spec; without one, spec 0 is unpartitioned */
void maker_order(maker *m, const char *fields);          /* the default sort order; without one, unsorted */
void maker_property(maker *m, const char *key, const char *value);

/* ---- files: written at once; the entry's fields may be changed before it is used ---- */
/* fields NULL: the current schema's. group_rows 0: one row group. Fields with ids from MAKER_NO_ID on are written
 * without one. */
enum { MAKER_NO_ID = 900000, MAKER_NO_ID_END = 1000000 };
bl_data_file *maker_data(maker *m, const char *name, const char *fields, const char *rows, int64_t group_rows);
/* A file of batches, a row group each, of the current schema's columns; the batches are consumed. */
bl_data_file *maker_batches(maker *m, const char *name, struct ArrowArray *batches, size_t n);
/* A Parquet file that was made elsewhere. */
bl_data_file *maker_foreign(maker *m, const char *name, const void *p, size_t n, int64_t rows);
/* Rows a page of what is written from here on; 0: the writer's own number. */
void maker_page_rows(maker *m, int64_t rows);
/* Rows as a batch in memory; columns as fields of maker_data. */
void maker_batch(maker *m, const char *fields, const char *rows, struct ArrowArray *out);
/* The partition tuple, as JSON values in an array. */
void maker_partition(maker *m, bl_data_file *f, int spec_id, const char *tuple);
/* Counts and bounds of a column; bounds are JSON values or NULL. */
void maker_metrics(maker *m, bl_data_file *f, int32_t field_id, int64_t values, int64_t nulls, const char *lower,
                   const char *upper);
/* A file of position deletes for one or several data files (names as given to maker_data). */
typedef struct maker_position {
  const char *name;
  int64_t pos;
} maker_position;
bl_data_file *maker_positions(maker *m, const char *name, const maker_position *p, size_t n);
bl_data_file *maker_equality(maker *m, const char *name, const int32_t *ids, size_t n_ids, const char *fields,
                             const char *rows);
bl_data_file *maker_vector(maker *m, const char *name, const char *of, const int64_t *positions, size_t n);
/* Several vectors in one Puffin file. */
void maker_vectors(maker *m, const char *name, const char *const *of, const int64_t *const *positions, const size_t *n,
                   size_t n_vectors, bl_data_file **out);

/* ---- commits ---- */
typedef struct maker_entry {
  bl_entry_status status;
  bl_data_file *file;
  int64_t sequence_number, file_sequence_number; /* BL_NONE: inherited */
  int64_t snapshot_id;                           /* BL_NONE: inherited */
  int64_t first_row_id;                          /* stored in the entry; BL_NONE: null */
} maker_entry;
maker_entry maker_added(bl_data_file *f);
maker_entry maker_existing(bl_data_file *f, int64_t sequence_number, int64_t first_row_id);
maker_entry maker_deleted(bl_data_file *f, int64_t sequence_number, int64_t first_row_id);

typedef struct maker_manifest {
  bl_manifest_content content;
  const maker_entry *entries;
  size_t n;
  int spec_id;
  bool has_first_row_id; /* else assigned from next-row-id (v3, data) */
  int64_t first_row_id;  /* BL_NONE: stays null */
  /* a manifest of an earlier commit, as it is */
  const bl_manifest_file *written;
} maker_manifest;
maker_manifest maker_data_manifest(const maker_entry *e, size_t n);
maker_manifest maker_delete_manifest(const maker_entry *e, size_t n);
maker_manifest maker_kept(const bl_manifest_file *m);

/* A snapshot whose parent is the last one. Returns the manifests as the list has them, n of them. */
const bl_manifest_file *maker_commit(maker *m, int64_t snapshot_id, const char *operation, const maker_manifest *ms,
                                     size_t n);
/* From here on the table has this format version (2 -> 3). */
void maker_upgrade(maker *m, int format_version);
/* The table as it is now. Fails the test where it does not open. */
bl_table *maker_open(maker *m);
/* The same with the status. */
bl_status maker_try_open(maker *m, bl_table **out, bl_error *err);

/* ---- around the files ---- */
bl_io *maker_io(maker *m);
bl_arena *maker_arena(maker *m);
const bl_drivers *maker_drivers(maker *m);
const bl_metadata *maker_metadata(maker *m); /* schemas and specs; no snapshots */
/* Full path of a name. */
const char *maker_path(maker *m, const char *name);
/* The bytes of a file, to be changed and put back. */
bl_str maker_get(maker *m, const char *name);
void maker_put(maker *m, const char *name, const void *p, size_t n);

#endif
