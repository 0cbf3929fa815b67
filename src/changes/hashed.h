/* hashed.h: rows with the hash of their values, for what is matched by value (docs/changelog.md C2, C4) or key (C14).
 */
#ifndef BL_CHANGES_HASHED_H
#define BL_CHANGES_HASHED_H

#include "changes/fetch.h"
#include "changes/join.h"

/* What is hashed: columns `wanted` of rows of these files, all under one seed. C4's equality. */
typedef struct bl_hashing {
  const bl_reading *env;
  const bl_files *files;
  const bl_type *wanted;
  uint64_t seed;
} bl_hashing;

/* Sorts rows by place and sets the hash of each. nulls (NULL: not wanted): a byte a row, in the new order: 1 where a
 * column is null, at any level of its structs. */
bl_status bl_hash_rows(const bl_hashing *h, bl_hashed_row *rows, size_t n, uint8_t *nulls, bl_error *err) BL_CHECKED;

/* How many rows are hashed at once, so that memory stays within the budget and not each lot opens every file. */
size_t bl_hash_lot(const bl_ctx *ctx);

/* Rows of any number on their way into a sorter: hashed in lots, so that memory stays within the budget. */
typedef struct bl_hasher {
  bl_hashing what;
  bl_sorter *out; /* of bl_hashed_row; borrowed */
  /* Takes the rows with a null instead of the sorter; NULL: they are like others. */
  bl_status (*with_null)(void *user, const bl_hashed_row *row, bl_error *err);
  void *user;
  bl_hashed_row *rows;
  size_t n, cap;
} bl_hasher;

bl_status bl_hasher_add(bl_hasher *h, const bl_hashed_row *row, bl_error *err) BL_CHECKED;
/* Hands over what waits and finishes the sorter. */
bl_status bl_hasher_finish(bl_hasher *h, bl_error *err) BL_CHECKED;
void bl_hasher_dispose(bl_hasher *h);

/* Rows before and after a snapshot that should be equal (C8). */
typedef struct bl_twins {
  bl_hashing what;
  bl_hashed_row *rows; /* before and after, in turn */
  size_t n, cap;
  int64_t different; /* so many pairs are; the id of the first one that was found */
  int64_t first_id;
} bl_twins;

bl_status bl_twins_add(bl_twins *t, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) BL_CHECKED;
bl_status bl_twins_finish(bl_twins *t, bl_error *err) BL_CHECKED; /* compares what waits */
void bl_twins_dispose(bl_twins *t);

#endif
