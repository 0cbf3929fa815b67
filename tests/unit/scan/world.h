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

typedef struct world {
  bl_ctx *ctx;
  maker *m;
  bl_table *t;
  const char *text; /* the test's own */
} world;

static inline world new_world(int format_version, const char *fields) {
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, format_version, fields);
  return w;
}

static inline void close_world(world *w) {
  bl_table_free(w->t);
  maker_free(w->m);
  test_ctx_free(w->ctx);
}

/* Commit and open again. */
static inline void commit(world *w, int64_t snapshot_id, const maker_manifest *ms, size_t n) {
  maker_commit(w->m, snapshot_id, "overwrite", ms, n);
  bl_table_free(w->t);
  w->t = maker_open(w->m);
}

/* One snapshot with data files and delete files, a manifest each. */
static inline void commit_files(world *w, int64_t snapshot_id, bl_data_file *const *data, size_t n_data,
                                bl_data_file *const *deletes, size_t n_deletes) {
  maker_entry d[16], x[16];
  maker_manifest ms[32];
  size_t n = 0;
  assert_true(n_data <= 16 && n_deletes <= 16);
  for (size_t i = 0; i < n_data; i++) {
    d[i] = maker_added(data[i]);
    ms[n] = maker_data_manifest(&d[i], 1);
    ms[n++].spec_id = data[i]->spec_id;
  }
  for (size_t i = 0; i < n_deletes; i++) {
    x[i] = maker_added(deletes[i]);
    ms[n] = maker_delete_manifest(&x[i], 1);
    ms[n++].spec_id = deletes[i]->spec_id;
  }
  commit(w, snapshot_id, ms, n);
}

/* The scan of these columns ("k,s"; NULL: all) must give these rows as NDJSON, in this order. */
static inline void expect_rows(world *w, const char *columns, const char *where, const char *want) {
  const char *names[16];
  size_t n = 0;
  char copy[300], *rest = copy, what[400];
  bl_scan_options o = {.where = where};
  if (columns) {
    snprintf(copy, sizeof copy, "%s", columns);
    for (char *c; (c = strsep(&rest, ",")) && n < 16;) names[n++] = c;
    o.columns = names;
    o.n_columns = n;
  }
  test_rows expected, got = scan_rows(w->ctx, w->t, &o, NULL, NULL);
  test_rows_parse(want, strlen(want), &expected);
  snprintf(what, sizeof what, "%s where %s", columns ? columns : "*", where ? where : "true");
  test_rows_same_order(&expected, &got, what);
  test_rows_free(&expected);
  test_rows_free(&got);
}

/* The values of k, an integer column, must be these in this order; INT64_MIN is null. */
#define expect_k(w, where, ...)                                                                                        \
  expect_column((w)->ctx, (w)->t, where, "k", (const int64_t[]){__VA_ARGS__},                                          \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define NULL_K INT64_MIN

/* The scan must end so. */
static inline void expect_status(world *w, const bl_scan_options *o, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  bl_status st;
  test_rows r = scan_rows(w->ctx, w->t, o, &st, &err);
  test_rows_free(&r);
  test_status(want, st, &err);
  if (says) test_says(&err, says);
}

#endif
