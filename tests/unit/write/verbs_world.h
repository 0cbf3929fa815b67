/* verbs_world.h: tables in temporary folders, and the verbs that change their rows, for tests.
 *
 *   world w = world_new(3, "k long, s string", NULL);
 *   world_append(&w, "{\"k\":1,\"s\":\"a\"}\n");           a data file
 *   world_delete(&w, "k = 1", BL_MERGE_ON_READ);           w.r: the outcome
 *   world_shows(&w, "{\"k\":2,\"s\":\"b\",\"_row_id\":1,\"_last_updated_sequence_number\":1}\n");
 *   world_end(&w);
 *
 * world_copy makes one of a table of tests/fixtures. Every verb opens the table again afterwards. */
#ifndef BL_TESTS_WRITE_VERBS_WORLD_H
#define BL_TESTS_WRITE_VERBS_WORLD_H

#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/write.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "support/apply.h"
#include "support/rows.h"
#include "support/text_input.h"
#include "support/tree.h"
#include "table/manifests.h"

typedef struct world {
  bl_ctx *ctx;
  char *dir, *table;
  bl_table *t;
  bl_write_result r;
  bl_table_options to;
} world;

static inline void world_reopen(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table_free(w->t);
  test_ok(bl_table_open(w->ctx, w->table, &w->to, &w->t, &err), &err);
}

static inline world world_new_with(bl_ctx *ctx, int version, const char *schema, const char *partition) {
  bl_error err = BL_ERROR_INIT;
  world w = {.ctx = ctx, .dir = test_temp_dir()};
  const char *properties[] = {"commit.retry.min-wait-ms=0"};
  bl_create_options o = {
      .schema = schema, .partition = partition, .format_version = version, .properties = properties, .n_properties = 1};
  w.table = test_join(w.dir, "t");
  test_ok(bl_table_create(w.ctx, w.table, NULL, &o, &err), &err);
  world_reopen(&w);
  return w;
}

static inline world world_new(int version, const char *schema, const char *partition) {
  return world_new_with(test_ctx(), version, schema, partition);
}

static inline world world_copy(const char *fixture) {
  world w = {.ctx = test_ctx(), .dir = test_temp_dir()};
  char *from = test_path(fixture), *table = test_join(from, "table");
  w.table = test_join(w.dir, "t");
  test_copy_tree(table, w.table);
  free(table);
  free(from);
  world_reopen(&w);
  return w;
}

static inline void world_end(world *w) {
  bl_table_free(w->t);
  test_remove_dir(w->dir);
  free(w->table);
  test_ctx_free(w->ctx);
}

static inline void world_set(world *w, const char *property) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_set_properties(w->t, &property, 1, NULL, 0, NULL, &err), &err);
  world_reopen(w);
}

/* ---- input ---- */

static inline text_input bytes_of(const char *text) {
  return text_input_of(text, strlen(text));
}

/* NDJSON, or CSV where it does not begin with '{'. */
static inline void rows_of(world *w, text_input *in, struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  bl_read_options o = {.extra_columns = true};
  test_ok(bl_read_rows(w->t, &in->in, NULL, &o, out, &err), &err);
}

/* ---- verbs ---- */

static inline void world_append(world *w, const char *lines) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  text_input in = bytes_of(lines);
  rows_of(w, &in, &s);
  test_ok(bl_append(w->t, &s, NULL, &w->r, &err), &err);
  world_reopen(w);
}

static inline void world_delete(world *w, const char *where, bl_write_mode mode) {
  bl_error err = BL_ERROR_INIT;
  bl_write_options o = {.mode = mode};
  test_ok(bl_delete_rows(w->t, where, &o, &w->r, &err), &err);
  world_reopen(w);
}

static inline void world_update(world *w, const char *set, const char *where, bl_write_mode mode) {
  bl_error err = BL_ERROR_INIT;
  bl_write_options o = {.mode = mode};
  test_ok(bl_update_rows(w->t, &set, 1, where, &o, &w->r, &err), &err);
  world_reopen(w);
}

static inline bl_status world_try_upsert(world *w, const char *lines, const bl_upsert_options *u, bl_write_mode mode,
                                         bl_error *err) {
  struct ArrowArrayStream s;
  bl_write_options o = {.mode = mode};
  text_input in = bytes_of(lines);
  rows_of(w, &in, &s);
  bl_status st = bl_upsert(w->t, &s, u, &o, &w->r, err);
  assert_null(s.release);
  world_reopen(w);
  return st;
}

static inline void world_upsert(world *w, const char *lines, const bl_upsert_options *u, bl_write_mode mode) {
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try_upsert(w, lines, u, mode, &err), &err);
}

static inline bl_status world_try_overwrite(world *w, const char *lines, bl_overwrite_kind kind, const char *where,
                                            bl_error *err) {
  struct ArrowArrayStream s;
  text_input in = bytes_of(lines);
  rows_of(w, &in, &s);
  bl_status st = bl_overwrite(w->t, &s, kind, where, NULL, &w->r, err);
  assert_null(s.release);
  world_reopen(w);
  return st;
}

static inline bl_status world_try_apply_with(world *w, const char *lines, bl_apply_source source,
                                             const bl_write_options *o, bl_error *err) {
  bl_status st = test_apply(w->t, lines, source, o, &w->r, err);
  world_reopen(w);
  return st;
}

static inline bl_status world_try_apply(world *w, const char *lines, bl_apply_source source, bl_error *err) {
  return world_try_apply_with(w, lines, source, NULL, err);
}

static inline void counts_are(const world *w, int64_t inserted, int64_t updated, int64_t deleted, int64_t unchanged) {
  assert_int_equal(w->r.rows_inserted, inserted);
  assert_int_equal(w->r.rows_updated, updated);
  assert_int_equal(w->r.rows_deleted, deleted);
  assert_int_equal(w->r.rows_unchanged, unchanged);
}

/* ---- what is there ---- */

static inline test_rows world_scan(world *w, const char *at, bool lineage) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows got;
  bl_scan_options o = {.at = at, .lineage = lineage};
  test_ok(bl_scan(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, &got);
  return got;
}

static inline void world_shows_at(world *w, const char *at, bool lineage, const char *want) {
  test_rows expected, got = world_scan(w, at, lineage);
  test_rows_parse(want, strlen(want), &expected);
  test_rows_same(&expected, &got, at ? at : "the table");
  test_rows_free(&expected);
  test_rows_free(&got);
}

static inline void world_shows(world *w, const char *want) {
  world_shows_at(w, NULL, true, want);
}

/* Without lineage. */
static inline void world_holds(world *w, const char *want) {
  world_shows_at(w, NULL, false, want);
}

/* Row `k` of the table: its id and number. */
static inline void row_is(world *w, int64_t k, int64_t id, int64_t seq) {
  test_rows got = world_scan(w, NULL, true);
  bool found = false;
  for (size_t i = 0; i < got.n; i++) {
    if (test_rows_int(&got, i, "k") != k) continue;
    found = true;
    assert_int_equal(test_rows_int(&got, i, "_row_id"), id);
    assert_int_equal(test_rows_int(&got, i, "_last_updated_sequence_number"), seq);
  }
  assert_true(found);
  test_rows_free(&got);
}

static inline const bl_snapshot *world_head(const world *w) {
  return bl_metadata_snapshot(w->t->metadata, w->t->metadata->current_snapshot_id);
}

static inline const char *world_summary(const world *w, const char *key) {
  bl_str v = bl_pairs_get(&world_head(w)->summary, key);
  return v.p ? v.p : "";
}

/* Live entries of one content at the head; *cardinality: the sum of their record counts. */
static inline size_t world_count_live(world *w, bl_manifest_content content, int64_t *cardinality) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n, live = 0;
  test_ok(bl_arena_new(w->ctx, &a, &err), &err);
  test_ok(bl_table_manifests(w->t, world_head(w), a, &ms, &n, &err), &err);
  if (cardinality) *cardinality = 0;
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    if (ms[i].content != content) continue;
    test_ok(bl_table_manifest_entries(w->t, &ms[i], true, a, &es, &k, &err), &err);
    for (size_t j = 0; j < k; j++) {
      if (es[j].status == BL_DELETED) continue;
      live++;
      if (cardinality) *cardinality += es[j].file.record_count;
    }
  }
  bl_arena_free(a);
  return live;
}

/* Files below the table's folder. */
static inline size_t world_count_files(const world *w) {
  return test_count_files(w->table);
}

#endif
