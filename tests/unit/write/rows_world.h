/* rows_world.h: a table in a temporary folder that rows are written to and read from, for tests of verbs and readers.
 *
 *   rows_world w;
 *   rows_world_begin(&w, &(bl_create_options){.schema = "k long, s string"});
 *   rows_world_append(&w, "{\"k\":1}\n{\"k\":2,\"s\":\"b\"}\n");          NDJSON; it must succeed; w.result
 *   rows_world_shows(&w, "{\"k\":1,\"s\":null,\"_row_id\":0, …}\n …");   all rows, with lineage from v3 on
 *   rows_world_end(&w);
 */
#ifndef BL_TESTS_WRITE_ROWS_WORLD_H
#define BL_TESTS_WRITE_ROWS_WORLD_H

#include "bergline/input.h"
#include "bergline/scan.h"
#include "bergline/write.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "scan/plan.h"
#include "support/rows.h"
#include "support/support.h"
#include "support/text_input.h"

typedef struct rows_world {
  bl_ctx *ctx;
  char *dir, *table;
  bl_table *t; /* as it was opened last */
  bl_write_result result;
  bl_error err;
} rows_world;

static inline void rows_world_reopen(rows_world *w) {
  bl_table_free(w->t);
  w->err = (bl_error)BL_ERROR_INIT;
  test_ok(bl_table_open(w->ctx, w->table, NULL, &w->t, &w->err), &w->err);
}

static inline void rows_world_begin_on(rows_world *w, bl_ctx *ctx, const bl_create_options *o) {
  *w = (rows_world){.ctx = ctx, .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  w->table = test_join(w->dir, "t");
  test_ok(bl_table_create(ctx, w->table, NULL, o, &w->err), &w->err);
  rows_world_reopen(w);
}

static inline void rows_world_begin(rows_world *w, const bl_create_options *o) {
  rows_world_begin_on(w, test_ctx(), o);
}

static inline void rows_world_end(rows_world *w) {
  bl_table_free(w->t);
  test_remove_dir(w->dir);
  free(w->table);
  test_ctx_free(w->ctx);
}

/* w->err has the reason. */
static inline bl_status rows_world_try_text(rows_world *w, const char *text, bl_input_format format,
                                            const bl_write_options *o) {
  text_input in = text_input_of(text, strlen(text));
  bl_read_options ro = {.format = format};
  struct ArrowArrayStream rows;
  w->err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_read_rows(w->t, &in.in, "rows", &ro, &rows, &w->err);
  if (st == BL_OK) st = bl_append(w->t, &rows, o, &w->result, &w->err);
  return st;
}

static inline void rows_world_append(rows_world *w, const char *ndjson) {
  test_ok(rows_world_try_text(w, ndjson, BL_INPUT_NDJSON, NULL), &w->err);
  rows_world_reopen(w);
}

static inline void rows_world_read(rows_world *w, const char *where, test_rows *out) {
  struct ArrowArrayStream s;
  bl_scan_options o = {.lineage = w->t->metadata->format_version > 2, .where = where};
  test_ok(bl_scan(w->t, &o, &s, &w->err), &w->err);
  test_rows_stream(w->ctx, &s, out);
}

/* As a multiset: where a commit puts its manifests in the list is not what these tests are about. */
static inline void rows_world_shows_where(rows_world *w, const char *where, const char *ndjson) {
  test_rows got, want;
  rows_world_read(w, where, &got);
  test_rows_parse(ndjson, strlen(ndjson), &want);
  test_rows_same(&want, &got, where ? where : "all rows");
  test_rows_free(&want);
  test_rows_free(&got);
}

static inline void rows_world_shows(rows_world *w, const char *ndjson) {
  rows_world_shows_where(w, NULL, ndjson);
}

/* The data files of main; bl_plan_free. */
static inline bl_plan *rows_world_files(rows_world *w) {
  bl_plan *p;
  const bl_ref *ref = bl_metadata_ref(w->t->metadata, BL_STR("main"));
  bl_plan_options o = {.schema = bl_metadata_current_schema(w->t->metadata), .metrics = true};
  test_ok(bl_plan_new(w->t, ref ? bl_metadata_snapshot(w->t->metadata, ref->snapshot_id) : NULL, &o, &p, &w->err),
          &w->err);
  return p;
}

#endif
