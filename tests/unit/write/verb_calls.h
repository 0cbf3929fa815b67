/* verb_calls.h: calls of every verb on rows as values, so that a test can make all of them in one way.
 *
 *   world w = begin();                                      a table with two data files
 *   for (size_t i = 0; i < BL_LEN(calls); i++) direct(&w, &calls[i]);
 */
#ifndef BL_TESTS_WRITE_VERB_CALLS_H
#define BL_TESTS_WRITE_VERB_CALLS_H

#include "verbs_world.h"

#define FIRST                                                                                                          \
  "{\"k\":1,\"p\":1,\"s\":\"a\"}\n{\"k\":2,\"p\":1,\"s\":\"b\"}\n{\"k\":3,\"p\":2,\"s\":\"c\"}\n"                      \
  "{\"k\":4,\"p\":2,\"s\":\"d\"}\n{\"k\":5,\"p\":2,\"s\":\"e\"}\n"
#define NEWS                                                                                                           \
  "{\"k\":1,\"p\":1,\"s\":\"a\"}\n{\"k\":3,\"p\":2,\"s\":\"C\"}\n{\"k\":4,\"p\":1,\"s\":\"D\"}\n"                      \
  "{\"k\":9,\"p\":1,\"s\":\"i\"}\n"

typedef struct call {
  bl_status (*run)(const struct call *c, bl_table *t, const bl_write_options *o, bl_write_result *r, bl_error *err);
  const char *name, *rows, *where, *set, *path;
  int kind;
  bl_write_mode mode;
  const char *branch, *batch, *summary;
} call;

static inline bl_status rows_for(const call *c, bl_table *t, text_input *in, struct ArrowArrayStream *out,
                                 bl_error *err) {
  bl_read_options o = {.extra_columns = true};
  *in = bytes_of(c->rows);
  return bl_read_rows(t, &in->in, NULL, &o, out, err);
}

static inline bl_status run_append(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                   bl_error *err) {
  struct ArrowArrayStream rows;
  text_input in;
  test_ok(rows_for(c, t, &in, &rows, err), err);
  return bl_append(t, &rows, o, r, err);
}

static inline bl_status run_delete(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                   bl_error *err) {
  return bl_delete_rows(t, c->where, o, r, err);
}

static inline bl_status run_update(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                   bl_error *err) {
  return bl_update_rows(t, &c->set, 1, c->where, o, r, err);
}

static inline bl_status run_upsert(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                   bl_error *err) {
  static const char *const key[] = {"k"};
  const bl_upsert_options u = {.key = key, .n_key = 1, .delete_missing = c->kind};
  struct ArrowArrayStream rows;
  text_input in;
  test_ok(rows_for(c, t, &in, &rows, err), err);
  return bl_upsert(t, &rows, &u, o, r, err);
}

static inline bl_status run_overwrite(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                      bl_error *err) {
  struct ArrowArrayStream rows;
  text_input in;
  test_ok(rows_for(c, t, &in, &rows, err), err);
  return bl_overwrite(t, &rows, (bl_overwrite_kind)c->kind, c->where, o, r, err);
}

static inline bl_status run_apply(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                  bl_error *err) {
  return test_apply(t, c->rows, BL_APPLY_DEBEZIUM, o, r, err);
}

static inline bl_status run_add(const call *c, bl_table *t, const bl_write_options *o, bl_write_result *r,
                                bl_error *err) {
  return bl_add_files(t, &c->path, 1, NULL, o, r, err);
}

#define DEBEZIUM                                                                                                       \
  "{\"op\":\"d\",\"before\":{\"k\":1},\"source\":{\"lsn\":7}}\n"                                                       \
  "{\"op\":\"u\",\"before\":{\"k\":3},\"after\":{\"k\":3,\"p\":2,\"s\":\"C\"},\"source\":{\"lsn\":9}}\n"               \
  "{\"op\":\"c\",\"after\":{\"k\":8,\"p\":2,\"s\":\"h\"},\"source\":{\"lsn\":11}}\n"

static const call calls[] = {
    {run_append, "append", .rows = NEWS},
    {run_delete, "delete", .where = "k in (2, 4)", .mode = BL_MERGE_ON_READ},
    {run_delete, "delete, files rewritten", .where = "k in (2, 4)", .mode = BL_COPY_ON_WRITE},
    {run_delete, "delete of whole files", .where = "p = 2", .mode = BL_MERGE_ON_READ},
    {run_delete, "delete of nothing", .where = "k = 77", .mode = BL_MERGE_ON_READ},
    {run_update, "update", .set = "s = s || '!'", .where = "k = 3 or s = 'e'", .mode = BL_MERGE_ON_READ},
    {run_update, "update, files rewritten", .set = "s = 'x'", .where = "k < 4", .mode = BL_COPY_ON_WRITE},
    {run_upsert, "upsert", .rows = NEWS, .mode = BL_MERGE_ON_READ},
    {run_upsert, "upsert, files rewritten", .rows = NEWS, .mode = BL_COPY_ON_WRITE},
    {run_upsert, "sync", .rows = NEWS, .kind = 1, .mode = BL_MERGE_ON_READ},
    {run_upsert, "sync, files rewritten", .rows = NEWS, .kind = 1, .mode = BL_COPY_ON_WRITE},
    {run_overwrite, "overwrite", .rows = NEWS, .kind = BL_OVERWRITE_ALL},
    {run_overwrite, "overwrite where", .rows = NEWS, .kind = BL_OVERWRITE_WHERE, .where = "k > 3"},
    {run_overwrite, "overwrite partitions", .rows = "{\"k\":9,\"p\":1,\"s\":\"i\"}\n", .kind = BL_OVERWRITE_PARTITIONS},
    {run_apply, "apply", .rows = DEBEZIUM, .mode = BL_MERGE_ON_READ},
};

static inline world begin(void) {
  world w = world_new(3, "k long not null, p int, s string", "p");
  world_append(&w, FIRST);
  world_append(&w, "{\"k\":6,\"p\":1,\"s\":\"f\"}\n");
  return w;
}

static inline bl_write_options options_of(const call *c) {
  return (bl_write_options){
      .mode = c->mode, .ref = c->branch, .batch_id = c->batch, .summary = &c->summary, .n_summary = c->summary != NULL};
}

static inline bl_status try_direct(world *w, const call *c, bl_error *err) {
  bl_write_options o = options_of(c);
  bl_status st = c->run(c, w->t, &o, &w->r, err);
  world_reopen(w);
  return st;
}

static inline void direct(world *w, const call *c) {
  bl_error err = BL_ERROR_INIT;
  test_ok(try_direct(w, c, &err), &err);
}

/* ---- staged ---- */

/* By a process of its own; NULL where there is nothing to commit. */
static inline char *stage(world *w, const call *c) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_table *t;
  char *text = NULL, *copy;
  bl_write_result r;
  bl_write_options o = options_of(c);
  o.stage = &text;
  test_ok(bl_table_open(ctx, w->table, NULL, &t, &err), &err);
  test_ok(c->run(c, t, &o, &r, &err), &err);
  assert_false(r.committed);
  copy = text ? strdup(text) : NULL;
  bl_text_free(ctx, text);
  bl_table_free(t);
  test_ctx_free(ctx);
  w->r = r;
  return copy;
}

static inline bl_status commit(world *w, char **texts, size_t n, const bl_write_options *o, bl_error *err) {
  bl_status st = bl_commit_staged(w->t, (const char *const *)texts, n, o, &w->r, err);
  world_reopen(w);
  return st;
}

static inline void commit_ok(world *w, char **texts, size_t n) {
  bl_error err = BL_ERROR_INIT;
  test_ok(commit(w, texts, n, NULL, &err), &err);
}

static inline void commit_fails(world *w, char **texts, size_t n, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  size_t before = w->t->metadata->n_snapshots;
  test_status(want, commit(w, texts, n, NULL, &err), &err);
  test_says(&err, says);
  assert_int_equal(w->t->metadata->n_snapshots, before);
}

static inline void free_all(char **texts, size_t n) {
  for (size_t i = 0; i < n; i++) free(texts[i]);
}

/* ---- files ---- */

/* Of the first data file of main; freed by the caller. */
static inline char *path_of_a_file(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *arena;
  bl_manifest_file *ms;
  bl_manifest_entry *es;
  size_t n, k;
  test_ok(bl_arena_new(w->ctx, &arena, &err), &err);
  test_ok(bl_table_manifests(w->t, world_head(w), arena, &ms, &n, &err), &err);
  test_ok(bl_table_manifest_entries(w->t, &ms[0], true, arena, &es, &k, &err), &err);
  char *path = strdup(es[0].file.path.p);
  bl_arena_free(arena);
  return path;
}

#endif
