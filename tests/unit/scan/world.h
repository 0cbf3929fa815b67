/* world.h: a table made in memory and what a scan of it gives, for the tests of the scan floor. */
#ifndef BL_TESTS_SCAN_WORLD_H
#define BL_TESTS_SCAN_WORLD_H

#include "bergline/scan.h"
#include "support/rows.h"
#include "support/table_maker.h"

#define FIELD_K "{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"}"
#define FIELD_S "{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"}"
#define FIELD_ROW_ID "{\"id\":2147483540,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"}"
#define FIELD_SEQ "{\"id\":2147483539,\"name\":\"_last_updated_sequence_number\",\"required\":false,\"type\":\"long\"}"

/* Rows [[first], [first + 1], … ] with a text beside it: "r" and the number. */
static inline char *numbered_rows(int64_t first, int64_t n) {
  size_t cap = (size_t)n * 40 + 10, at = 0;
  char *p = malloc(cap);
  assert_non_null(p);
  at += (size_t)snprintf(p, cap, "[");
  for (int64_t i = 0; i < n; i++)
    at += (size_t)snprintf(p + at, cap - at, "%s[%lld,\"r%lld\"]", i ? "," : "", (long long)(first + i),
                           (long long)(first + i));
  snprintf(p + at, cap - at, "]");
  return p;
}

static inline bl_data_file *numbered_file(maker *m, const char *name, int64_t first, int64_t n, int64_t group_rows) {
  char *rows = numbered_rows(first, n);
  bl_data_file *f = maker_data(m, name, NULL, rows, group_rows);
  free(rows);
  return f;
}

/* The scan's rows, or its status in *st where st is not NULL. */
static inline test_rows scan_rows(bl_ctx *ctx, bl_table *t, const bl_scan_options *o, bl_status *st, bl_error *err) {
  test_rows r = {0};
  struct ArrowArrayStream s;
  bl_error own = BL_ERROR_INIT, *e = err ? err : &own;
  bl_status got = bl_scan(t, o, &s, e);
  if (got == BL_OK) got = test_rows_try_stream(ctx, &s, &r, e);
  if (st) *st = got;
  else test_ok(got, e);
  return r;
}

/* The numbers of one column of a scan must be these, in this order. */
static inline void expect_column(bl_ctx *ctx, bl_table *t, const char *where, const char *column, const int64_t *want,
                                 size_t n) {
  const char *columns[] = {"k", column};
  bl_scan_options o = {.where = where, .columns = columns, .n_columns = 2};
  test_rows r = scan_rows(ctx, t, &o, NULL, NULL);
  for (size_t i = 0; i < n && i < r.n; i++) {
    int64_t v = test_rows_int(&r, i, column);
    if (v != want[i])
      fail_msg("where %s: row %zu has %s %lld, not %lld", where ? where : "true", i, column, (long long)v,
               (long long)want[i]);
  }
  assert_int_equal(r.n, n);
  test_rows_free(&r);
}

#endif
