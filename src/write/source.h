/* source.h: rows that come in by key (upsert, sync, apply): kept until the rows of the table that they meet are read.
 *
 * 1. A row has a key: its key columns, none of them null. Keys are equal by docs/changelog.md C4 and are compared as
 *    128-bit hashes with a random seed.
 * 2. Of several rows with one key the one with the greatest value of `last_wins` stays, of equal ones the last; with
 *    in_order the last; otherwise a second one is BL_USAGE.
 * 3. What is larger than the memory budget is put in the order of the key's hash in temporary files and comes in
 * several passes, each with all rows of some hashes. In a pass only their keys are decided.
 * 4. Messages count rows from 1, as they came. */
#ifndef BL_WRITE_SOURCE_H
#define BL_WRITE_SOURCE_H

#include "bergline/arrow_c.h"
#include "model/expr.h"
#include "rows/key.h"
#include "table/table.h"
#include "write/row_values.h"

typedef struct bl_source_options {
  const char *verb;        /* for messages */
  const char *name;        /* of the rows, for messages; NULL: the verb */
  const bl_schema *schema; /* the table's; borrowed */
  const char *const *key;
  size_t n_key;
  const char *delete_when; /* predicate on the rows that come in */
  const char *last_wins;   /* column */
  bool in_order;
} bl_source_options;

typedef enum bl_source_state {
  BL_ROW_PUT,     /* its values are wanted in the table */
  BL_ROW_DELETE,  /* its key is to go */
  BL_ROW_DROPPED, /* another row of the same key stays */
  BL_ROW_MET      /* PUT, and the table has the key */
} bl_source_state;

typedef struct bl_source bl_source;

/* BL_USAGE: no key, an unknown, nested or repeated key column. */
bl_status bl_source_new(bl_table *t, const bl_source_options *o, bl_source **out, bl_error *err) BL_CHECKED;
void bl_source_free(bl_source *s); /* NULL allowed */
/* A foreign stream (consumed and released): columns by name, as bl_conform has it; columns that only delete_when or
 * last_wins name may be there besides. */
bl_status bl_source_read(bl_source *s, struct ArrowArrayStream *in, bl_error *err) BL_CHECKED;
/* The same by batches of the schema's columns (consumed); with in_order a binary column may follow: what each row lacks
 * (telling.h). deletes: a byte a row, 1 = DELETE; NULL: none. ranks, with
 * in_order: the order of the rows, where it is not that of their coming (equal ones: as they came); NULL: it is. */
bl_status bl_source_add(bl_source *s, struct ArrowArray *batch, const uint8_t *deletes, const int64_t *ranks,
                        bl_error *err) BL_CHECKED;
bl_status bl_source_seal(bl_source *s, bl_error *err) BL_CHECKED;
/* After it: which columns of the schema the batches that were added told of; all, where it is not said. */
void bl_source_tell_given(bl_source *s, const bool *given);

/* Before the first pass; again, also in the middle of the passes: all begins anew. */
bl_status bl_source_begin(bl_source *s, bl_error *err) BL_CHECKED;
/* The next pass; *any = false: there is none. */
bl_status bl_source_next(bl_source *s, bool *any, bl_error *err) BL_CHECKED;

/* With in_order, of the passes since: how many rows are put by an event of the same number and key as another's. */
int64_t bl_source_surplus(const bl_source *s);

/* ---- of the pass in hand; thread-safe ---- */
int64_t bl_source_rows(const bl_source *s);
bl_source_state bl_source_state_of(const bl_source *s, int64_t row);
bool bl_source_meet(bl_source *s, int64_t row); /* PUT -> MET; true: it was MET before */
/* "a = 1, b = x", for messages. */
bl_status bl_source_print_key(const bl_source *s, int64_t row, bl_buf *text) BL_CHECKED;
/* Rows of the part by number: a batch of the schema's columns. What they lack is as earlier rows of their keys tell, or
 * the default. */
bl_status bl_source_take(const bl_source *s, const int64_t *rows, int64_t n, struct ArrowArray *out,
                         bl_error *err) BL_CHECKED;
/* The row with a key; -1: none. *other: the key is of another pass. */
int64_t bl_source_find(const bl_source *s, bl_hash128 key, bool *other);

/* Does the row lack column i, and the table's row keeps its value? */
bool bl_source_keeps(const bl_source *s, int64_t row, size_t i);
/* Is all there that a row needs, be it new or MET? BL_USAGE: a required column did not come, or a value was left out.
 */
bl_status bl_source_check(const bl_source *s, int64_t row, bl_error *err) BL_CHECKED;

/* ---- of all rows ---- */
/* Was column i of the schema there at all? What was not keeps its value where a row exists. */
bool bl_source_gives(const bl_source *s, size_t column);
/* The key columns as a struct type, in the order given. */
const bl_type *bl_source_key_type(const bl_source *s);
/* A predicate that is true for every row with one of the keys, bound to the schema; *out NULL where nothing is known.
 * In arena a. */
bl_status bl_source_key_filter(const bl_source *s, bl_arena *a, bl_expr **out, bl_error *err) BL_CHECKED;

/* Key columns of a batch, by field id. type: the batch's struct type. */
typedef struct bl_key_reader {
  bl_row_source *columns;
  size_t n;
  uint64_t seed;
  bl_buf bytes;
} bl_key_reader;
bl_status bl_key_reader_init(bl_key_reader *k, const bl_source *s, const bl_view *root, const bl_type *type,
                             bl_error *err) BL_CHECKED;
void bl_key_reader_dispose(bl_key_reader *k);
/* false: no row of the pass in hand has the key. Much faster than the hash, where it can tell. */
bool bl_source_may_hold(const bl_source *s, const bl_key_reader *k, int64_t i);
/* *null: a part of the key is null (then there is no hash). */
bl_status bl_key_reader_hash(bl_key_reader *k, int64_t i, bl_hash128 *out, bool *null, bl_error *err) BL_CHECKED;

#endif
