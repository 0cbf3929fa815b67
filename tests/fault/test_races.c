/* test_races.c: processes that append and update in one table at once, in both catalogs; some are killed at random
 * steps and begin again where they were, with the same batch id. Afterwards each change is there once: no row is lost
 * or there twice, no update is lost, each row has kept its id, ranges of row ids are disjoint, sequence numbers rise.
 *
 * BL_RACES=all: 8 processes with 50 changes each, else fewer. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bergline/catalog.h"
#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/write.h"
#include "support/chance.h"
#include "support/fault_sys.h"
#include "support/rows.h"
#include "support/text_input.h"
#include "table/table.h"

enum { MOST = 8, MOST_EACH = 50, PER_APPEND = 2 };

/* ---- what each does ---- */

typedef enum kind { APPEND, COUNT, COUNT_COPY, OWN, OWN_DELETE } kind;

typedef struct step {
  kind kind;
  int64_t key; /* the first that is appended; the one that is changed */
} step;

/* Process `me` appends the keys from (me + 1) * 10000 on; key 0 is the one that all count up. A step depends on nothing
 * but its number, so that who died can begin again. */
static step step_of(int me, int i, int64_t *next_key, int64_t *oldest) {
  rng r = {(uint64_t)me * 1000 + (uint64_t)i};
  uint64_t dice = rng_next(&r) % 10;
  int64_t first = (int64_t)(me + 1) * 10000;
  if (i == 0) *next_key = *oldest = first;
  step s = {dice < 4 || *oldest + 1 >= *next_key ? APPEND
            : dice < 6                           ? COUNT
            : dice == 6                          ? COUNT_COPY
            : dice < 9                           ? OWN
                                                 : OWN_DELETE,
            0};
  if (s.kind == APPEND) s.key = *next_key, *next_key += PER_APPEND;
  if (s.kind == OWN) s.key = *next_key - 1;
  if (s.kind == OWN_DELETE) s.key = (*oldest)++;
  return s;
}

typedef struct race {
  bool sqlite, kills;
  int racers, each;
  char *dir, uri[300];
  struct shared {
    int done[MOST];
    long conflicts, kills, again;
  } * shared;
} race;

static bl_status append(bl_table *t, int64_t key, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  char text[200] = "";
  for (int i = 0; i < PER_APPEND; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "{\"k\":%lld,\"v\":0}\n", (long long)key + i);
  text_input in = text_input_of(text, strlen(text));
  const bl_read_options format = {.format = BL_INPUT_NDJSON};
  struct ArrowArrayStream s;
  BL_TRY(bl_read_rows(t, &in.in, NULL, &format, &s, err));
  return bl_append(t, &s, o, r, err);
}

static bl_status make(bl_table *t, const step *s, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  static const char *const set[] = {"v = v + 1"};
  char where[40];
  snprintf(where, sizeof where, "k = %lld", (long long)s->key);
  if (s->kind == APPEND) return append(t, s->key, o, r, err);
  return s->kind == OWN_DELETE ? bl_delete_rows(t, where, o, r, err) : bl_update_rows(t, set, 1, where, o, r, err);
}

/* Until it is done: a conflict changes nothing, and the change is made anew from what is there now. */
static bl_status insist(race *x, bl_ctx *ctx, const bl_table_options *to, int me, int i, const step *s, bl_error *err) {
  char batch[40];
  snprintf(batch, sizeof batch, "%d-%d", me, i);
  const bl_write_options o = {.batch_id = batch, .mode = s->kind == COUNT_COPY ? BL_COPY_ON_WRITE : BL_MERGE_ON_READ};
  for (;;) {
    bl_table *t;
    bl_write_result r = {0};
    bl_error why = BL_ERROR_INIT;
    BL_TRY(bl_table_open(ctx, "db.t", to, &t, err));
    bl_status st = make(t, s, &o, &r, &why);
    bl_table_free(t);
    if (r.already_applied) __atomic_add_fetch(&x->shared->again, 1, __ATOMIC_SEQ_CST);
    if (st == BL_OK && !r.committed && !r.already_applied)
      return bl_fail(err, BL_DAMAGED, "a change of k = %lld found no row", (long long)s->key);
    if (st == BL_OK) return BL_OK;
    if (st != BL_CONFLICT) return bl_fail(err, st, "%s", why.message);
    __atomic_add_fetch(&x->shared->conflicts, 1, __ATOMIC_SEQ_CST);
  }
}

static int run_racer(race *x, int me, long death) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options o;
  bl_ctx *ctx;
  int64_t next_key, oldest;
  bl_status st = BL_OK;
  bl_ctx_options_init(&o);
  o.threads = 1;
  if (bl_ctx_new(&o, &ctx, &err) != BL_OK) return 2;
  const bl_table_options to = {.uri = x->sqlite ? x->uri : NULL, .warehouse = x->dir};
  if (death) fault_sys_begin(&(fault_plan){.at = death, .changes = true});
  for (int i = 0; i < x->each && st == BL_OK; i++) {
    step s = step_of(me, i, &next_key, &oldest);
    if (i < x->shared->done[me]) continue;
    st = insist(x, ctx, &to, me, i, &s, &err);
    if (st == BL_OK) x->shared->done[me] = i + 1;
  }
  fault_sys_end();
  bl_ctx_free(ctx);
  if (st != BL_OK) fprintf(stderr, "racer %d, change %d: %s\n", me, x->shared->done[me], err.message);
  return st == BL_OK ? 0 : 1;
}

/* ---- the race ---- */

static void begin(race *x, bl_ctx *ctx) {
  static const char *const properties[] = {"commit.retry.num-retries=100000",
                                           "commit.retry.min-wait-ms=1",
                                           "commit.retry.max-wait-ms=50",
                                           "commit.manifest.min-count-to-merge=10",
                                           "write.metadata.previous-versions-max=5",
                                           "write.metadata.delete-after-commit.enabled=true"};
  bl_error err = BL_ERROR_INIT;
  bl_catalog *c;
  bl_table *t;
  bl_drivers d;
  x->dir = test_temp_dir();
  snprintf(x->uri, sizeof x->uri, "sqlite:///%s/c.db", x->dir);
  x->shared = mmap(NULL, sizeof *x->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(x->shared != MAP_FAILED);
  test_ok(bl_drivers_default(ctx, &d, &err), &err);
  const bl_table_options to = {.uri = x->sqlite ? x->uri : NULL, .warehouse = x->dir, .drivers = &d};
  test_ok(bl_catalog_open(ctx, &to, true, &c, &err), &err);
  test_ok(bl_catalog_create_namespace(c, "db", NULL, 0, &err), &err);
  bl_catalog_free(c);
  const bl_create_options o = {.schema = "k long not null, v long", .properties = properties, .n_properties = 6};
  test_ok(bl_table_create(ctx, "db.t", &to, &o, &err), &err);
  test_ok(bl_table_open(ctx, "db.t", &to, &t, &err), &err);
  test_ok(append(t, 0, NULL, NULL, &err), &err);
  bl_table_free(t);
  bl_drivers_dispose(&d);
}

static pid_t start(race *x, int me, rng *r) {
  long death = x->kills && rng_next(r) % 4 ? (long)(rng_next(r) % 400) + 1 : 0;
  pid_t p = fork();
  if (p == 0) _exit(run_racer(x, me, death));
  return p;
}

static void stop(const pid_t *racers, int n) {
  for (int i = 0; i < n; i++)
    if (racers[i] && kill(racers[i], SIGKILL) == 0) waitpid(racers[i], NULL, 0);
}

/* Whoever dies is started again. */
static void run(race *x) {
  pid_t racers[MOST];
  rng r = {x->sqlite + 1};
  for (int i = 0; i < x->racers; i++) racers[i] = start(x, i, &r);
  for (int left = x->racers; left > 0;) {
    int status, me = 0;
    pid_t p = wait(&status);
    while (me < x->racers && racers[me] != p) me++;
    if (me == x->racers) continue;
    if (WIFSIGNALED(status)) {
      assert_int_equal(WTERMSIG(status), SIGKILL);
      x->shared->kills++;
      racers[me] = start(x, me, &r);
      continue;
    }
    racers[me] = 0;
    if (WEXITSTATUS(status) != 0) {
      stop(racers, x->racers);
      fail_msg("racer %d failed", me);
    }
    left--;
  }
}

/* ---- what must be there ---- */

typedef struct wanted {
  int64_t key, v;
  bool gone;
  int updates;
  int64_t id; /* learnt from the log */
} wanted;

typedef struct ledger {
  wanted items[(MOST * MOST_EACH + 1) * PER_APPEND];
  size_t n;
} ledger;

static wanted *find(ledger *l, int64_t key) {
  for (size_t i = 0; i < l->n; i++)
    if (l->items[i].key == key) return &l->items[i];
  fail_msg("the key %lld was never written", (long long)key);
  return NULL;
}

static void expect_append(ledger *l, int64_t key) {
  for (int i = 0; i < PER_APPEND; i++) l->items[l->n++] = (wanted){.key = key + i, .id = -1};
}

static void expect(const race *x, ledger *l) {
  int64_t next_key, oldest;
  l->n = 0;
  expect_append(l, 0);
  for (int me = 0; me < x->racers; me++)
    for (int i = 0; i < x->each; i++) {
      step s = step_of(me, i, &next_key, &oldest);
      if (s.kind == APPEND) {
        expect_append(l, s.key);
        continue;
      }
      wanted *w = find(l, s.key);
      if (s.kind == OWN_DELETE) w->gone = true;
      else w->v++, w->updates++;
    }
}

/* The log tells of each row: inserted once, counted up one by one, deleted at most once, always with one id. */
static void check_log(bl_table *t, ledger *l) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows rows;
  const bl_changes_options o = {.after_images = false};
  test_ok(bl_changes(t, &o, &s, &err), &err);
  test_rows_stream(t->ctx, &s, &rows);
  ledger *seen = calloc(1, sizeof *seen);
  for (size_t i = 0; i < rows.n; i++) {
    int64_t key = test_rows_int(&rows, i, "k"), v = test_rows_int(&rows, i, "v"),
            id = test_rows_int(&rows, i, "_row_id");
    const char *line = rows.lines[i];
    wanted *w = find(l, key);
    if (strstr(line, "\"INSERT\"")) {
      if (w->id >= 0 || v != 0) fail_msg("inserted twice: %s", line);
      w->id = id;
      seen->items[seen->n++] = (wanted){.key = key};
    }
    wanted *now = find(seen, key);
    if (w->id != id || now->gone) fail_msg("its id was %lld: %s", (long long)w->id, line);
    if (strstr(line, "\"UPDATE_AFTER\"") && v != ++now->v)
      fail_msg("not counted up to %lld: %s", (long long)now->v, line);
    if (strstr(line, "\"DELETE\"")) now->gone = true;
  }
  assert_int_equal(seen->n, l->n);
  for (size_t i = 0; i < l->n; i++) {
    const wanted *w = &l->items[i], *now = find(seen, w->key);
    if (now->v != w->v || now->gone != w->gone)
      fail_msg("key %lld: %lld updates, not %lld", (long long)w->key, (long long)now->v, (long long)w->v);
  }
  free(seen);
  test_rows_free(&rows);
}

static void check_rows(bl_table *t, ledger *l) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows rows;
  size_t live = 0;
  const bl_scan_options o = {.lineage = true};
  bool *ids = calloc((size_t)t->metadata->next_row_id, sizeof *ids);
  test_ok(bl_scan(t, &o, &s, &err), &err);
  test_rows_stream(t->ctx, &s, &rows);
  for (size_t i = 0; i < l->n; i++) live += !l->items[i].gone;
  assert_int_equal(rows.n, live);
  for (size_t i = 0; i < rows.n; i++) {
    const wanted *w = find(l, test_rows_int(&rows, i, "k"));
    int64_t id = test_rows_int(&rows, i, "_row_id");
    assert_false(w->gone);
    assert_int_equal(test_rows_int(&rows, i, "v"), w->v);
    assert_int_equal(id, w->id);
    assert_true(id >= 0 && id < t->metadata->next_row_id && !ids[id]);
    ids[id] = true;
  }
  free(ids);
  test_rows_free(&rows);
}

/* From the head back: each number one less, each range of ids before the next. */
static void check_snapshots(const race *x, bl_table *t) {
  const bl_metadata *md = t->metadata;
  const bl_snapshot *s = bl_metadata_snapshot(md, md->current_snapshot_id);
  size_t n = 0;
  int64_t end = md->next_row_id, number = md->last_sequence_number;
  for (; s; s = s->has_parent ? bl_metadata_parent(md, s) : NULL, n++) {
    assert_int_equal(s->sequence_number, number--);
    assert_true(s->has_first_row_id && s->has_added_rows && s->added_rows >= 0);
    assert_int_equal(s->first_row_id + s->added_rows, end);
    end = s->first_row_id;
  }
  assert_int_equal(end, 0);
  assert_int_equal(n, x->racers * x->each + 1);
  assert_int_equal(md->n_snapshots, n);
}

static void test_races__every_change_lands_once(void **state) {
  race x = *(const race *)*state;
  const char *how = getenv("BL_RACES");
  bool all = how && strcmp(how, "all") == 0;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  bl_table *t;
  ledger *l = calloc(1, sizeof *l);
  x.racers = all ? MOST : 4, x.each = all ? MOST_EACH : 8;
  begin(&x, ctx);
  run(&x);
  const bl_table_options to = {.uri = x.sqlite ? x.uri : NULL, .warehouse = x.dir};
  test_ok(bl_table_open(ctx, "db.t", &to, &t, &err), &err);
  expect(&x, l);
  check_snapshots(&x, t);
  check_log(t, l);
  check_rows(t, l);
  print_message("%d changes, %ld conflicts, %ld deaths, %ld found done\n", x.racers * x.each, x.shared->conflicts,
                x.shared->kills, x.shared->again);
  bl_table_free(t);
  munmap(x.shared, sizeof *x.shared);
  test_remove_dir(x.dir);
  free(l);
  test_ctx_free(ctx);
}

int main(void) {
  static race races[] = {{false, false}, {true, false}, {false, true}, {true, true}};
#define RACE(i, what)                                                                                                  \
  { "test_races__every_change_lands_once (" what ")", test_races__every_change_lands_once, NULL, NULL, &races[i] }
  const struct CMUnitTest tests[] = {RACE(0, "folder"), RACE(1, "catalog"), RACE(2, "folder, deaths"),
                                     RACE(3, "catalog, deaths")};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
