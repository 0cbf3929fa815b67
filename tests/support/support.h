/* support.h: what unit tests share. Include it instead of cmocka.h.
 *
 *   bl_ctx *ctx = test_ctx();               a context on a heap that counts; two threads, temp_dir as in the
 * environment test_ctx_free(ctx);                     fails the test where a block was not freed
 *
 *   test_ok(bl_table_load(…, &err), &err);  fails the test with the error's message
 *   test_status(BL_DAMAGED, st, &err);      st must be this status, and err must hold it with a message
 *   test_says(&err, "row-id");              the message must contain this
 *
 *   test_fail_each(op, user);               runs op again and again: the first allocation fails, the second, … and then
 *                                           all from the first on, all from the second on, …, until none was left to
 * fail. Where one failed op must return BL_NOMEM with a message (or BL_OK, if the code can do without); never may it
 * leak or write beyond a block. op makes and frees everything it needs from the ctx that it gets, and checks its
 * results when it succeeds. test_heap + test_ctx_on                 the same by hand: options of one's own,
 * heap->fail_at, heap->failures
 *
 *   char *p = test_path("tests/fixtures/x"); a path in the source tree; free(p)
 *   void *d = test_read(path, &n);          a whole file, NUL-terminated behind its end; free(d)
 *   test_write(path, bytes, n);
 *   char *d = test_temp_dir();              a new empty folder below $TMPDIR
 *   test_remove_dir(d);                     removes it with all it holds, and frees d
 *   char *p = test_join(d, "name");         free(p)
 */
#ifndef BL_TEST_SUPPORT_H
#define BL_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bergline/ctx.h"

/* A heap that counts and fails on request. Thread-safe. */
typedef struct test_heap {
  long fail_at;      /* this allocation fails, counted from 1; 0: none */
  bool fail_onwards; /* and every one after it */
  long allocations;  /* asked for so far */
  long failures;     /* of them, those that were refused */
  long blocks;       /* that live */
  int64_t bytes, peak_bytes;
} test_heap;

bl_allocator test_heap_allocator(test_heap *h);
/* o NULL: defaults with two threads. Its allocator is replaced. The heap must be zero at first and outlive the ctx. */
bl_ctx *test_ctx_on(test_heap *h, const bl_ctx_options *o);
bl_ctx *test_ctx(void);
void test_ctx_free(bl_ctx *ctx); /* of test_ctx or test_ctx_on */

void test_ok_(bl_status st, const bl_error *err, const char *file, int line);
void test_status_(bl_status expected, bl_status st, const bl_error *err, const char *file, int line);
void test_says_(const bl_error *err, const char *part, const char *file, int line);
#define test_ok(st, err) test_ok_(st, err, __FILE__, __LINE__)
#define test_status(expected, st, err) test_status_(expected, st, err, __FILE__, __LINE__)
#define test_says(err, part) test_says_(err, part, __FILE__, __LINE__)

typedef bl_status test_op(bl_ctx *ctx, void *user, bl_error *err);
void test_fail_each(test_op *op, void *user);

char *test_path(const char *relative);
char *test_join(const char *folder, const char *name);
void *test_read(const char *path, size_t *n);
void test_write(const char *path, const void *p, size_t n);
char *test_temp_dir(void);
void test_remove_dir(char *folder);

#endif
