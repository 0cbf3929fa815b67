/* rows.h: rows as text in tests: what a scan or a changelog gives, and what a fixture's expect/ folder wants.
 *
 *   test_rows want, got;
 *   test_rows_read(path, &want);            NDJSON of a file, each line in a canonical form
 *   test_rows_stream(ctx, &stream, &got);   all rows of a stream (released); fails the test on errors
 *   test_rows_same(&want, &got, "mor_basic at 1");   the same rows, in any order, or the test fails and names some
 *   test_rows_free(&want);
 *
 * Canonical: members of objects sorted by key, floats in one form. The order of the columns is kept in `columns`.
 */
#ifndef BL_TEST_ROWS_H
#define BL_TEST_ROWS_H

#include "bergline/arrow_c.h"
#include "support/support.h"

typedef struct test_rows {
  char **lines; /* canonical, in the order they came */
  size_t n, cap;
  char *columns; /* keys of the first row, joined by "," as they came; NULL without rows */
} test_rows;

void test_rows_parse(const char *text, size_t n, test_rows *out);
void test_rows_read(const char *path, test_rows *out);
void test_rows_stream(bl_ctx *ctx, struct ArrowArrayStream *s, test_rows *out);
/* The same without failing the test: the stream's first error. */
bl_status test_rows_try_stream(bl_ctx *ctx, struct ArrowArrayStream *s, test_rows *out, bl_error *err);
/* As a multiset; columns too where both have rows. */
void test_rows_same(const test_rows *want, const test_rows *got, const char *what);
/* In this order. */
void test_rows_same_order(const test_rows *want, const test_rows *got, const char *what);
/* The integer of a top-level member of row i; fails the test where it is not there; INT64_MIN for null. */
int64_t test_rows_int(const test_rows *r, size_t i, const char *key);
void test_rows_free(test_rows *r);

#endif
