/* commit_world.h: a table in a temporary folder whose data files are only named, for tests of commits: what a commit
 * writes is shown as text.
 *
 *   world w;
 *   world_begin(&w, 3);
 *   stage *s = world_stage(&w);              an append, resting on the head of main as it is now
 *   stage_add(s, "a", 10);                   a data file of 10 rows
 *   world_commit(&w, s);                     it must succeed; the stage is freed
 *   world_shows(&w, "D@0 +a:10 id=0 raw=- seq=1");
 *   world_end(&w);
 *
 * A line of the text is a manifest: D or V (data or deletes), @first_row_id (@- for null), then its entries: + (added),
 * = (existing) or x (deleted), the file's name, its rows, the row id it has, the one that is stored, its data sequence
 * number. Vectors are v(NAME). */
#ifndef BL_TESTS_WRITE_COMMIT_WORLD_H
#define BL_TESTS_WRITE_COMMIT_WORLD_H

#include "edge/io_local.h"
#include "support/fault_io.h"
#include "support/support.h"
#include "table/manifests.h"
#include "write/commit.h"

typedef struct world {
  bl_ctx *ctx;
  char *dir, *table;
  fault_io io;
  bl_drivers drivers;
  bl_table_options options;
  bl_table *t; /* as it was opened last */
  bl_write_result result;
  bl_error err;
  int64_t now; /* of the clock; 0: the real one */
} world;

typedef struct stage {
  world *w;
  bl_table *t; /* what it rests on */
  bl_staged *s;
} stage;

static inline int64_t world_clock(void *user) {
  world *w = user;
  return w->now;
}

static inline void world_reopen(world *w) {
  bl_table_free(w->t);
  w->err = (bl_error)BL_ERROR_INIT;
  test_ok(bl_table_open(w->ctx, w->table, &w->options, &w->t, &w->err), &w->err);
}

static inline void world_begin_on(world *w, bl_ctx *ctx, int version, const char *partition) {
  *w = (world){.ctx = ctx, .dir = test_temp_dir(), .err = BL_ERROR_INIT};
  bl_io *local;
  w->table = test_join(w->dir, "t");
  test_ok(bl_drivers_default(ctx, &w->drivers, &w->err), &w->err);
  test_ok(bl_io_local_new(ctx, &local, &w->err), &w->err);
  w->drivers.io->free(w->drivers.io);
  w->drivers.io = fault_io_new(&w->io, local);
  w->options.drivers = &w->drivers;
  const char *properties[] = {"commit.retry.min-wait-ms=0", "commit.retry.num-retries=20"};
  bl_create_options o = {.schema = "id long, p int",
                         .partition = partition,
                         .properties = properties,
                         .n_properties = 2,
                         .format_version = version};
  test_ok(bl_table_create(w->ctx, w->table, &w->options, &o, &w->err), &w->err);
  world_reopen(w);
}

static inline void world_begin(world *w, int version) {
  world_begin_on(w, test_ctx(), version, NULL);
}

static inline void world_end(world *w) {
  bl_table_free(w->t);
  bl_drivers_dispose(&w->drivers);
  test_remove_dir(w->dir);
  free(w->table);
  test_ctx_free(w->ctx);
}

static inline void world_set(world *w, const char *property) {
  test_ok(bl_set_properties(w->t, &property, 1, NULL, 0, NULL, &w->err), &w->err);
  world_reopen(w);
}

/* ---- staging ---- */

static inline stage *world_stage_on(world *w, const char *ref) {
  stage *s = calloc(1, sizeof *s);
  s->w = w;
  test_ok(bl_table_open(w->ctx, w->table, &w->options, &s->t, &w->err), &w->err);
  test_ok(bl_staged_new(w->ctx, &s->s, &w->err), &w->err);
  const bl_ref *r = bl_metadata_ref(s->t->metadata, bl_str_of(ref));
  if (r) s->s->base_snapshot_id = r->snapshot_id;
  return s;
}

static inline stage *world_stage(world *w) {
  return world_stage_on(w, "main");
}

static inline void stage_free(stage *s) {
  bl_staged_free(s->s);
  bl_table_free(s->t);
  free(s);
}

static inline bl_data_file world_file(world *w, const char *name, int64_t rows) {
  char path[600];
  snprintf(path, sizeof path, "%s/data/%s.parquet", w->table, name);
  bl_data_file f = {.path = bl_arena_str(w->t->metadata->arena, bl_str_of(path)),
                    .record_count = rows,
                    .file_size = 100 + rows,
                    .sort_order_id = -1,
                    .first_row_id = BL_NONE,
                    .content_offset = BL_NONE,
                    .content_size = BL_NONE};
  return f;
}

static inline void stage_add_in(stage *s, const char *name, int64_t rows, int64_t partition) {
  bl_value tuple = {.kind = BL_INT, .u.i = partition};
  bl_data_file f = world_file(s->w, name, rows);
  if (s->t->metadata->specs[0].n_fields) f.partition = &tuple, f.n_partition = 1;
  test_ok(bl_staged_add_data(s->s, &f, &s->w->err), &s->w->err);
}

static inline void stage_add(stage *s, const char *name, int64_t rows) {
  stage_add_in(s, name, rows, 0);
}

static inline const char *world_name(bl_str path) {
  const char *slash = strrchr(path.p, '/');
  return slash ? slash + 1 : path.p;
}

/* The live data entry of a name at what the stage rests on; the entry lives as long as the arena. */
static inline const bl_manifest_entry *stage_find(stage *s, const char *name, bl_arena *a) {
  char file[100];
  bl_manifest_file *ms;
  size_t n;
  const bl_snapshot *snap = bl_metadata_snapshot(s->t->metadata, s->s->base_snapshot_id);
  snprintf(file, sizeof file, "%s.parquet", name);
  test_ok(bl_table_manifests(s->t, snap, a, &ms, &n, &s->w->err), &s->w->err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    if (ms[i].content != BL_MANIFEST_DATA) continue;
    test_ok(bl_table_manifest_entries(s->t, &ms[i], true, a, &es, &k, &s->w->err), &s->w->err);
    for (size_t j = 0; j < k; j++)
      if (es[j].status != BL_DELETED && strcmp(world_name(es[j].file.path), file) == 0) return &es[j];
  }
  fail_msg("no live file %s", name);
  return NULL;
}

static inline void stage_remove(stage *s, const char *name) {
  bl_arena *a;
  test_ok(bl_arena_new(s->w->ctx, &a, &s->w->err), &s->w->err);
  test_ok(bl_staged_remove(s->s, stage_find(s, name, a), &s->w->err), &s->w->err);
  bl_arena_free(a);
  s->s->operation = BL_STR("overwrite");
}

static inline bl_posset *world_positions(world *w, const int64_t *p, size_t n) {
  bl_posset *set = NULL;
  test_ok(bl_posset_new(w->ctx, &set, &w->err), &w->err);
  for (size_t i = 0; i < n; i++) test_ok(bl_posset_add(set, p[i], &w->err), &w->err);
  return set;
}

/* Positions that are deleted, or (moved) rewritten. */
static inline void stage_positions(stage *s, const char *name, const int64_t *p, size_t n, bool moved) {
  bl_arena *a;
  test_ok(bl_arena_new(s->w->ctx, &a, &s->w->err), &s->w->err);
  test_ok(bl_staged_vector_add(s->s, stage_find(s, name, a), world_positions(s->w, p, n),
                               moved ? world_positions(s->w, p, n) : NULL, &s->w->err),
          &s->w->err);
  bl_arena_free(a);
  s->s->operation = moved ? BL_STR("overwrite") : BL_STR("delete");
}

static inline void stage_delete(stage *s, const char *name, int64_t position) {
  stage_positions(s, name, &position, 1, false);
}

static inline void stage_move(stage *s, const char *name, int64_t position) {
  stage_positions(s, name, &position, 1, true);
}

/* ---- committing ---- */

static inline bl_status world_try(world *w, stage *s, const bl_write_options *o, bl_error *err) {
  w->result = (bl_write_result){0};
  bl_status st = bl_commit_change(s->t, s->s, o, &w->result, err);
  stage_free(s);
  world_reopen(w);
  return st;
}

static inline void world_commit(world *w, stage *s) {
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try(w, s, NULL, &err), &err);
  assert_true(w->result.committed);
}

static inline void world_commit_on(world *w, stage *s, const char *ref) {
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try(w, s, &(bl_write_options){.ref = ref}, &err), &err);
}

static inline void world_refuses(world *w, stage *s, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  test_status(want, world_try(w, s, NULL, &err), &err);
  test_says(&err, says);
  assert_false(w->result.committed);
}

static inline void world_append(world *w, const char *name, int64_t rows) {
  stage *s = world_stage(w);
  stage_add(s, name, rows);
  world_commit(w, s);
}

static inline const bl_snapshot *world_head_of(world *w, const char *ref) {
  const bl_ref *r = bl_metadata_ref(w->t->metadata, bl_str_of(ref));
  return r ? bl_metadata_snapshot(w->t->metadata, r->snapshot_id) : NULL;
}

static inline const bl_snapshot *world_head(world *w) {
  return world_head_of(w, "main");
}

/* ---- showing ---- */

typedef struct shown {
  char text[8000];
  size_t n;
} shown;

static inline void show(shown *t, const char *fmt, ...) BL_PRINTF(2, 3);
static inline void show(shown *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(t->text + t->n, sizeof t->text - t->n, fmt, ap);
  va_end(ap);
  t->n += (size_t)n;
  if (t->n >= sizeof t->text) t->n = sizeof t->text - 1;
}

static inline void show_number(shown *t, const char *before, int64_t v) {
  if (v == BL_NONE) show(t, "%s-", before);
  else show(t, "%s%lld", before, (long long)v);
}

static inline void show_entry(shown *t, const bl_manifest_entry *e) {
  static const char marks[] = {[BL_EXISTING] = '=', [BL_ADDED] = '+', [BL_DELETED] = 'x'};
  bool vector = e->file.content != BL_FILE_DATA;
  const char *name = world_name(vector && e->file.referenced_data_file.p ? e->file.referenced_data_file : e->file.path);
  int n = (int)strcspn(name, ".");
  show(t, " %c%s%.*s%s:%lld", marks[e->status], vector ? "v(" : "", n, name, vector ? ")" : "",
       (long long)e->file.record_count);
  if (!vector) show_number(t, " id=", e->file.first_row_id);
  if (!vector) show_number(t, " raw=", e->stored_first_row_id);
  show(t, " seq=%lld", (long long)e->sequence_number);
}

static inline void world_text(world *w, const char *ref, shown *t) {
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n, k;
  const bl_snapshot *s = world_head_of(w, ref);
  t->n = 0;
  t->text[0] = 0;
  if (!s) return;
  test_ok(bl_arena_new(w->ctx, &a, &w->err), &w->err);
  test_ok(bl_table_manifests(w->t, s, a, &ms, &n, &w->err), &w->err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    test_ok(bl_table_manifest_entries(w->t, &ms[i], true, a, &es, &k, &w->err), &w->err);
    show(t, "%s%c", i ? "\n" : "", ms[i].content == BL_MANIFEST_DATA ? 'D' : 'V');
    if (ms[i].content == BL_MANIFEST_DATA) show_number(t, "@", ms[i].first_row_id);
    for (size_t j = 0; j < k; j++) show_entry(t, &es[j]);
  }
  bl_arena_free(a);
}

static inline void world_shows_on(world *w, const char *ref, const char *want) {
  shown t;
  world_text(w, ref, &t);
  if (strcmp(t.text, want) != 0) fail_msg("the manifests are\n%s\nnot\n%s", t.text, want);
}

static inline void world_shows(world *w, const char *want) {
  world_shows_on(w, "main", want);
}

/* A key of the head's summary; "" where it is not there. */
static inline const char *world_summary(world *w, const char *key) {
  bl_str v = bl_pairs_get(&world_head(w)->summary, key);
  return v.p ? v.p : "";
}

/* Files of the table's folder whose name holds this. */
static inline size_t world_count_files(world *w, const char *folder, const char *part);

typedef struct counting_files {
  const char *part;
  size_t n;
} counting_files;

static inline bl_status count_file(void *user, const bl_file_info *f, bl_error *err) {
  counting_files *c = user;
  (void)err;
  if (!f->is_folder && strstr(world_name(bl_str_of(f->path)), c->part)) c->n++;
  return BL_OK;
}

static inline size_t world_count_files(world *w, const char *folder, const char *part) {
  counting_files c = {part, 0};
  char *path = test_join(w->table, folder);
  test_ok(w->t->io->list(w->t->io, path, count_file, &c, &w->err), &w->err);
  free(path);
  return c.n;
}

#endif
