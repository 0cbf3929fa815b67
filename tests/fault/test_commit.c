/* test_commit.c: commits in which one thing fails: the Nth call of the I/O (once, or from then on), the Nth allocation,
 * or the process dies at the Nth call. Afterwards the table is exactly what it was before or what it is after the
 * commit; what was reported says which; and the next commit works. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bergline/catalog.h"
#include "edge/io_local.h"
#include "format/metadata_json.h"
#include "support/fault_io.h"
#include "support/support.h"
#include "support/tree.h"
#include "table/manifests.h"
#include "write/commit.h"

/* ---- the table, before ---- */

typedef struct ground {
  char *dir, *work, *saved, *table; /* work holds the table (and the catalog's file); saved is its copy */
  bool sqlite;
  char uri[300];
} ground;

/* What a command runs with. */
typedef struct place {
  const ground *g;
  bl_ctx *ctx;
  fault_io io;
  bl_drivers drivers;
  bl_table_options o;
  const char *name;
} place;

static bl_status place_open(place *p, const ground *g, bl_ctx *ctx, bl_error *err) {
  bl_io *local;
  *p = (place){.g = g, .ctx = ctx, .name = g->sqlite ? "db.t" : g->table};
  BL_TRY(bl_drivers_default(ctx, &p->drivers, err));
  BL_TRY(bl_io_local_new(ctx, &local, err));
  p->drivers.io->free(p->drivers.io);
  p->drivers.io = fault_io_new(&p->io, local);
  p->o = (bl_table_options){.drivers = &p->drivers};
  if (g->sqlite) p->o.uri = g->uri, p->o.warehouse = g->work;
  return BL_OK;
}

static void place_close(place *p) {
  bl_drivers_dispose(&p->drivers);
}

/* ---- commands ---- */

typedef bl_status command(place *p, bl_error *err);

static bl_status add_file(bl_staged *s, const bl_table *t, const char *name, int64_t rows, bl_error *err) {
  char path[600];
  snprintf(path, sizeof path, "%s/data/%s.parquet", t->metadata->location.p, name);
  bl_data_file f = {.path = bl_str_of(path),
                    .record_count = rows,
                    .file_size = 100,
                    .sort_order_id = -1,
                    .first_row_id = BL_NONE,
                    .content_offset = BL_NONE,
                    .content_size = BL_NONE};
  return bl_staged_add_data(s, &f, err);
}

/* A live file by its name; its entry lives as long as the arena. */
static bl_status find_file(bl_table *t, const char *name, bl_arena *a, const bl_manifest_entry **out, bl_error *err) {
  bl_manifest_file *ms;
  size_t n;
  const bl_snapshot *s = bl_metadata_snapshot(t->metadata, t->metadata->current_snapshot_id);
  *out = NULL;
  BL_TRY(bl_table_manifests(t, s, a, &ms, &n, err));
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    BL_TRY(bl_table_manifest_entries(t, &ms[i], true, a, &es, &k, err));
    for (size_t j = 0; j < k; j++)
      if (es[j].file.content == BL_FILE_DATA && es[j].status != BL_DELETED && strstr(es[j].file.path.p, name))
        *out = &es[j];
  }
  return *out ? BL_OK : bl_fail(err, BL_NOT_FOUND, "%s", name);
}

typedef bl_status stage_it(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err);

static bl_status commit(place *p, stage_it *stage, bl_error *err) {
  bl_table *t = NULL;
  bl_staged *s = NULL;
  bl_arena *a = NULL;
  bl_write_result r = {0};
  bl_status st;
  BL_GO(bl_table_open(p->ctx, p->name, &p->o, &t, err));
  BL_GO(bl_arena_new(p->ctx, &a, err));
  BL_GO(bl_staged_new(p->ctx, &s, err));
  if (t->metadata->has_current) s->base_snapshot_id = t->metadata->current_snapshot_id;
  BL_GO(stage(s, t, a, err));
  BL_GO(bl_commit_change(t, s, NULL, &r, err));
  assert_true(r.committed);
done:
  bl_staged_free(s);
  bl_arena_free(a);
  bl_table_free(t);
  return st;
}

static bl_status stage_append(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err) {
  (void)a;
  return add_file(s, t, "new", 7, err);
}
static bl_status run_append(place *p, bl_error *err) {
  return commit(p, stage_append, err);
}

static bl_status stage_update(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err) {
  const bl_manifest_entry *e;
  bl_posset *added = NULL, *moved = NULL;
  BL_TRY(find_file(t, "/a.", a, &e, err));
  BL_TRY(add_file(s, t, "new", 1, err));
  bl_status st = bl_posset_new(s->ctx, &added, err);
  if (st == BL_OK) st = bl_posset_new(s->ctx, &moved, err);
  if (st == BL_OK) st = bl_posset_add(added, 3, err);
  if (st == BL_OK) st = bl_posset_add(moved, 3, err);
  if (st == BL_OK) return bl_staged_vector_add(s, e, added, moved, err);
  bl_posset_free(added);
  bl_posset_free(moved);
  return st;
}
static bl_status run_update(place *p, bl_error *err) {
  return commit(p, stage_update, err);
}

static bl_status stage_overwrite(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err) {
  const bl_manifest_entry *e;
  BL_TRY(find_file(t, "/a.", a, &e, err));
  s->operation = BL_STR("overwrite");
  BL_TRY(add_file(s, t, "new", 2, err));
  return bl_staged_remove(s, e, err);
}
static bl_status run_overwrite(place *p, bl_error *err) {
  return commit(p, stage_overwrite, err);
}

static bl_status on_table(place *p, bl_status (*act)(bl_table *t, bl_error *err), bl_error *err) {
  bl_table *t;
  BL_TRY(bl_table_open(p->ctx, p->name, &p->o, &t, err));
  bl_status st = act(t, err);
  bl_table_free(t);
  return st;
}

static bl_status act_set(bl_table *t, bl_error *err) {
  return bl_set_properties(t, (const char *[]){"x=y"}, 1, NULL, 0, NULL, err);
}
static bl_status run_set(place *p, bl_error *err) {
  return on_table(p, act_set, err);
}
static bl_status act_branch(bl_table *t, bl_error *err) {
  return bl_ref_create(t, "b", true, NULL, NULL, err);
}
static bl_status run_branch(place *p, bl_error *err) {
  return on_table(p, act_branch, err);
}
static bl_status act_alter(bl_table *t, bl_error *err) {
  return bl_alter(t, (const char *[]){"add", "c", "int"}, 3, NULL, err);
}
static bl_status run_alter(place *p, bl_error *err) {
  return on_table(p, act_alter, err);
}

static const struct {
  const char *name;
  command *run;
} commands[] = {{"append", run_append}, {"update", run_update}, {"overwrite", run_overwrite},
                {"set", run_set},       {"branch", run_branch}, {"alter", run_alter}};

/* ---- what the table is ---- */

static void show_manifests(bl_table *t, const bl_snapshot *s, bl_buf *b) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n;
  test_ok(bl_arena_new(t->ctx, &a, &err), &err);
  test_ok(bl_table_manifests(t, s, a, &ms, &n, &err), &err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    bl_buf_printf(b, "\n%d@%lld", ms[i].content, (long long)ms[i].first_row_id);
    test_ok(bl_table_manifest_entries(t, &ms[i], true, a, &es, &k, &err), &err);
    for (size_t j = 0; j < k; j++) {
      const bl_data_file *f = &es[j].file;
      const char *path = f->referenced_data_file.p ? f->referenced_data_file.p : f->path.p;
      bl_buf_printf(b, " %d:%s:%lld:%lld", es[j].status, strrchr(path, '/'), (long long)f->record_count,
                    (long long)f->first_row_id);
    }
  }
  bl_arena_free(a);
}

/* Everything that readers see, but for times and random names. */
static char *show(const ground *g) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  bl_table *t;
  bl_buf b;
  test_ok(place_open(&p, g, ctx, &err), &err);
  test_ok(bl_table_open(ctx, p.name, &p.o, &t, &err), &err);
  const bl_metadata *md = t->metadata;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_buf_printf(&b, "snapshots %zu seq %lld next %lld columns %d refs %zu log %zu", md->n_snapshots,
                (long long)md->last_sequence_number, (long long)md->next_row_id, (int)md->last_column_id, md->n_refs,
                md->n_metadata_log);
  for (size_t i = 0; i < md->properties.n; i++)
    bl_buf_printf(&b, " %s=%s", md->properties.items[i].key.p, md->properties.items[i].value.p);
  if (md->has_current) show_manifests(t, bl_metadata_snapshot(md, md->current_snapshot_id), &b);
  bl_buf_byte(&b, 0);
  char *text = strdup((const char *)b.p);
  bl_buf_free(&b);
  bl_table_free(t);
  place_close(&p);
  test_ctx_free(ctx);
  return text;
}

static bl_status run_plainly(const ground *g, command *run, bl_error *err) {
  bl_ctx *ctx = test_ctx();
  place p;
  bl_status st = place_open(&p, g, ctx, err);
  if (st == BL_OK) st = run(&p, err);
  place_close(&p);
  test_ctx_free(ctx);
  return st;
}

/* ---- building and restoring ---- */

static bl_status stage_first(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err) {
  (void)a;
  BL_TRY(add_file(s, t, "a", 10, err));
  return add_file(s, t, "b", 10, err);
}

static bl_status stage_delete(bl_staged *s, bl_table *t, bl_arena *a, bl_error *err) {
  const bl_manifest_entry *e;
  bl_posset *added = NULL;
  BL_TRY(find_file(t, "/a.", a, &e, err));
  BL_TRY(bl_posset_new(s->ctx, &added, err));
  BL_TRY(bl_posset_add(added, 1, err));
  s->operation = BL_STR("delete");
  return bl_staged_vector_add(s, e, added, NULL, err);
}

/* Two files, and a vector of one of them. Manifests are merged from three on. */
static bl_status build(place *p, bl_error *err) {
  const char *properties[] = {"commit.manifest.min-count-to-merge=2", "commit.retry.min-wait-ms=0",
                              "write.metadata.previous-versions-max=2",
                              "write.metadata.delete-after-commit.enabled=true"};
  bl_create_options o = {.schema = "id long", .properties = properties, .n_properties = 4};
  if (p->g->sqlite) {
    bl_catalog *c;
    BL_TRY(bl_catalog_open(p->ctx, &p->o, true, &c, err));
    bl_status st = bl_catalog_create_namespace(c, "db", NULL, 0, err);
    bl_catalog_free(c);
    BL_TRY(st);
  }
  BL_TRY(bl_table_create(p->ctx, p->name, &p->o, &o, err));
  BL_TRY(commit(p, stage_first, err));
  return commit(p, stage_delete, err);
}

static void ground_make(ground *g, bool sqlite) {
  bl_error err = BL_ERROR_INIT;
  *g = (ground){.dir = test_temp_dir(), .sqlite = sqlite};
  g->work = test_join(g->dir, "work");
  g->saved = test_join(g->dir, "saved");
  g->table = test_join(g->work, "t");
  snprintf(g->uri, sizeof g->uri, "sqlite:///%s/c.db", g->work);
  assert_int_equal(mkdir(g->work, 0777), 0);
  test_ok(run_plainly(g, build, &err), &err);
  test_copy_tree(g->work, g->saved);
}

static void ground_restore(const ground *g) {
  test_empty_tree(g->work);
  assert_int_equal(rmdir(g->work), 0);
  test_copy_tree(g->saved, g->work);
}

static void ground_free(ground *g) {
  test_remove_dir(g->dir);
  free(g->work);
  free(g->saved);
  free(g->table);
}

/* ---- judging ---- */

typedef struct trial {
  const ground *g;
  const char *name;
  command *run;
  char *before, *after;
  size_t files; /* before */
} trial;

static void trial_begin(trial *x, const ground *g, size_t i) {
  bl_error err = BL_ERROR_INIT;
  *x = (trial){.g = g, .name = commands[i].name, .run = commands[i].run};
  ground_restore(g);
  x->before = show(g);
  x->files = test_count_files(g->work);
  test_ok(run_plainly(g, x->run, &err), &err);
  x->after = show(g);
  assert_string_not_equal(x->before, x->after);
}

static void trial_end(trial *x) {
  free(x->before);
  free(x->after);
}

/* st: what was reported; -1: nothing, the process died. */
static void judge(const trial *x, const char *what, long n, int st, const bl_error *err) {
  bl_error next = BL_ERROR_INIT;
  char *now = show(x->g);
  bool before = strcmp(now, x->before) == 0, after = strcmp(now, x->after) == 0;
  const char *said = err ? err->message : "";
  if (!before && !after) fail_msg("%s, %s %ld: the table is neither before nor after:\n%s", x->name, what, n, now);
  if (st == BL_OK && !after) fail_msg("%s, %s %ld: reported as done, but it is not", x->name, what, n);
  if (st > 0 && st != BL_UNKNOWN && !before)
    fail_msg("%s, %s %ld: failed (%s), but it is done", x->name, what, n, said);
  if (st > 0 && !*said) fail_msg("%s, %s %ld: no message", x->name, what, n);
  free(now);
  test_ok(run_plainly(x->g, run_append, &next), &next);
}

/* ---- I/O ---- */

typedef struct failing {
  long at;
  bool onwards;
  char operation[16];
} failing;

static bl_status fail_at(void *user, long call, const char *operation, const char *path, bl_error *err) {
  failing *f = user;
  if (f->onwards ? call < f->at : call != f->at) return BL_OK;
  if (call == f->at) snprintf(f->operation, sizeof f->operation, "%s", operation);
  return bl_fail(err, BL_IO, "%s %s: no more", operation, path);
}

/* false: the command made fewer calls. */
static bool try_io(const trial *x, long n, bool onwards) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  failing f = {n, onwards, ""};
  ground_restore(x->g);
  test_ok(place_open(&p, x->g, ctx, &err), &err);
  p.io.hook = fail_at;
  p.io.user = &f;
  bl_status st = x->run(&p, &err);
  bool reached = p.io.calls >= n;
  place_close(&p);
  test_ctx_free(ctx);
  size_t files = test_count_files(x->g->work);
  if (reached && !onwards && st != BL_OK && st != BL_UNKNOWN && strcmp(f.operation, "remove") != 0 && files != x->files)
    fail_msg("%s, I/O call %ld (%s): %zu files were left", x->name, n, f.operation, files - x->files);
  judge(x, onwards ? "I/O from call" : "I/O call", n, st, &err);
  return reached;
}

static void test_fault__every_call_of_the_io(void **state) {
  ground g;
  ground_make(&g, *(bool *)*state);
  for (size_t i = 0; i < BL_LEN(commands); i++) {
    trial x;
    trial_begin(&x, &g, i);
    for (int onwards = 0; onwards < 2; onwards++)
      for (long n = 1; try_io(&x, n, onwards); n++) {
      }
    trial_end(&x);
  }
  ground_free(&g);
}

/* ---- the process ---- */

static bl_status die_at(void *user, long call, const char *operation, const char *path, bl_error *err) {
  (void)operation, (void)path, (void)err;
  if (call == *(long *)user) raise(SIGKILL);
  return BL_OK;
}

static int run_to_death(const trial *x, long n) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options o;
  bl_ctx *ctx;
  place p;
  bl_ctx_options_init(&o);
  o.threads = 1;
  if (bl_ctx_new(&o, &ctx, &err) != BL_OK || place_open(&p, x->g, ctx, &err) != BL_OK) return 2;
  p.io.hook = die_at;
  p.io.user = &n;
  return x->run(&p, &err) == BL_OK ? 0 : 1;
}

/* false: it lived. */
static bool try_death(const trial *x, long n) {
  int status;
  ground_restore(x->g);
  pid_t child = fork();
  if (child == 0) _exit(run_to_death(x, n));
  assert_int_equal(waitpid(child, &status, 0), child);
  bool lived = WIFEXITED(status);
  if (lived) assert_int_equal(WEXITSTATUS(status), 0);
  else assert_int_equal(WTERMSIG(status), SIGKILL);
  judge(x, "death at call", n, lived ? BL_OK : -1, NULL);
  return !lived;
}

static void test_fault__death_at_every_step(void **state) {
  ground g;
  ground_make(&g, *(bool *)*state);
  for (size_t i = 0; i < BL_LEN(commands); i++) {
    trial x;
    trial_begin(&x, &g, i);
    for (long n = 1; try_death(&x, n); n++) {
    }
    trial_end(&x);
  }
  ground_free(&g);
}

/* ---- memory ---- */

/* false: the command asked for less. */
static bool try_memory(const trial *x, long n, bool onwards) {
  bl_error err = BL_ERROR_INIT;
  test_heap heap = {0};
  bl_ctx_options o;
  place p;
  bl_ctx_options_init(&o);
  o.threads = 1;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  test_ok(place_open(&p, x->g, ctx, &err), &err);
  heap.fail_at = heap.allocations + n;
  heap.fail_onwards = onwards;
  bl_status st = x->run(&p, &err);
  bool reached = heap.failures > 0;
  heap.fail_at = 0;
  heap.fail_onwards = false;
  place_close(&p);
  test_ctx_free(ctx);
  char *now = show(x->g);
  bool before = strcmp(now, x->before) == 0;
  free(now);
  if (before && st != BL_OK && st != BL_UNKNOWN) { /* the usual case, and quick */
    assert_true(reached);
    assert_true(*err.message);
    test_empty_tree(x->g->work);
    assert_int_equal(rmdir(x->g->work), 0);
    test_copy_tree(x->g->saved, x->g->work);
    return true;
  }
  judge(x, onwards ? "memory from" : "memory", n, st, &err);
  ground_restore(x->g);
  return reached;
}

static void test_fault__every_allocation(void **state) {
  ground g;
  ground_make(&g, *(bool *)*state);
  for (size_t i = 0; i < BL_LEN(commands); i++) {
    trial x;
    trial_begin(&x, &g, i);
    ground_restore(&g);
    for (int onwards = 0; onwards < 2; onwards++)
      for (long n = 1; try_memory(&x, n, onwards); n += n < 200 ? 1 : 7) {
      }
    trial_end(&x);
  }
  ground_free(&g);
}

int main(void) {
  static bool folder = false, sqlite = true;
  const struct CMUnitTest tests[] = {
      {"test_fault__every_call_of_the_io (folder)", test_fault__every_call_of_the_io, NULL, NULL, &folder},
      {"test_fault__every_call_of_the_io (catalog)", test_fault__every_call_of_the_io, NULL, NULL, &sqlite},
      {"test_fault__death_at_every_step (folder)", test_fault__death_at_every_step, NULL, NULL, &folder},
      {"test_fault__death_at_every_step (catalog)", test_fault__death_at_every_step, NULL, NULL, &sqlite},
      {"test_fault__every_allocation (folder)", test_fault__every_allocation, NULL, NULL, &folder},
      {"test_fault__every_allocation (catalog)", test_fault__every_allocation, NULL, NULL, &sqlite},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
