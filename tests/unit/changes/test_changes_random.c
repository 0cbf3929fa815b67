/* test_changes_random.c: bl_changes over random tables against a twin that knows nothing but the live rows of each
 * snapshot: logs and net changes of every range, on small and big budgets, one and many threads. */
#include "bergline/changes.h"

#include "changes/feed.h"
#include "model_twin.h"

/* ---- bl_changes as text ---- */

static test_rows changes_of(bl_ctx *ctx, bl_table *t, const model *x, const twin_options *o) {
  static const char *const columns[] = {"k", "v", "_changed_columns", "_change_basis", "_file", "_pos"};
  static const char *const key[] = {"k"};
  char from[40], to[40];
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  test_rows out;
  bl_changes_options c = {.to = to,
                          .net = o->net,
                          .after_images = o->after_images,
                          .columns = columns,
                          .n_columns = BL_LEN(columns),
                          .key = key,
                          .n_key = o->key,
                          .skip_unchanged = o->skip_unchanged,
                          .unordered = o->unordered};
  snprintf(to, sizeof to, "id:%lld", (long long)x->snapshots[o->to].id);
  if (o->from >= 0) snprintf(from, sizeof from, "id:%lld", (long long)x->snapshots[o->from].id), c.from = from;
  test_ok(bl_changes(t, &c, &s, &err), &err);
  test_rows_stream(ctx, &s, &out);
  return out;
}

/* The same table in another context. */
static bl_table *open_in(bl_ctx *ctx, const model *x) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t = NULL;
  bl_table_options o = {.drivers = maker_drivers(x->m)};
  bl_table_info info;
  bl_table_get_info(x->t, &info);
  test_ok(bl_table_open(ctx, info.metadata_location, &o, &t, &err), &err);
  return t;
}

typedef struct setting {
  test_heap heap;
  bl_ctx *ctx;
  bl_table *t;
} setting;

static void open_setting(setting *s, const model *x, int threads, int64_t budget) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = threads;
  o.memory_budget = budget;
  *s = (setting){0};
  s->ctx = test_ctx_on(&s->heap, &o);
  s->t = open_in(s->ctx, x);
}

static void close_setting(setting *s) {
  bl_table_free(s->t);
  test_ctx_free(s->ctx);
}

static void describe(char *out, size_t cap, uint64_t seed, const model *x, const twin_options *o) {
  snprintf(out, cap, "seed %llu: %lld to %lld%s%s%s%s", (unsigned long long)seed,
           o->from < 0 ? 0LL : (long long)x->snapshots[o->from].id, (long long)x->snapshots[o->to].id,
           o->net ? " net" : "", o->key ? " key" : "", o->skip_unchanged ? " skip" : "",
           o->after_images ? " after" : "");
}

static void check(bl_ctx *ctx, bl_table *t, uint64_t seed, const model *x, const twin_options *o) {
  char what[200];
  describe(what, sizeof what, seed, x, o);
  test_rows want = twin_rows(x, o), got = changes_of(ctx, t, x, o);
  test_rows_same_order(&want, &got, what);
  test_rows_free(&want);
  test_rows_free(&got);
}

/* ---- feeds, event by event ---- */

/* short_cuts: as in a table of many rows. */
static char *feed_text(bl_table *t, const model *x, const twin_options *o, bool short_cuts) {
  int64_t rows = short_cuts ? 1 : INT64_MAX;
  char from[40], to[40];
  bl_error err = BL_ERROR_INIT;
  bl_feed feed = {0};
  bl_buf b;
  bl_feed_options f = {.range = {.to = to, .net = o->net}, .probe_rows = rows, .full_rows = rows, .part_rows = rows};
  snprintf(to, sizeof to, "id:%lld", (long long)x->snapshots[o->to].id);
  if (o->from >= 0) snprintf(from, sizeof from, "id:%lld", (long long)x->snapshots[o->from].id), f.range.from = from;
  bl_buf_init(&b, x->ctx, BL_BUF_MAX);
  test_ok(bl_feed_run(&feed, t, &f, &err), &err);
  for (;;) {
    const bl_event *e;
    test_ok(bl_event_order_next(feed.events, &e, &err), &err);
    if (!e) break;
    for (uint32_t i = 0; i < e->len; i++) {
      bl_buf_printf(&b, "%d %u %d", e->type, e->ordinal, e->basis);
      if (e->before_file != BL_NO_FILE)
        bl_buf_printf(&b, " - %lld %lld %s %lld", e->before_id == BL_NONE ? -1LL : (long long)e->before_id + i,
                      (long long)e->before_seq, feed.files.items[e->before_file].entry->file.path.p,
                      (long long)e->before_pos + i);
      if (e->after_file != BL_NO_FILE)
        bl_buf_printf(&b, " + %lld %lld %s %lld", e->after_id == BL_NONE ? -1LL : (long long)e->after_id + i,
                      (long long)e->after_seq, feed.files.items[e->after_file].entry->file.path.p,
                      (long long)e->after_pos + i);
      bl_buf_byte(&b, '\n');
    }
  }
  bl_buf_byte(&b, 0);
  test_ok(bl_buf_ok(&b, &err), &err);
  char *text = strdup((const char *)b.p);
  bl_buf_free(&b);
  bl_feed_dispose(&feed);
  return text;
}

static void check_feed(bl_table *t, uint64_t seed, const model *x, const twin_options *o) {
  char what[200];
  describe(what, sizeof what, seed, x, o);
  char *want = feed_text(t, x, o, false), *got = feed_text(t, x, o, true);
  if (strcmp(want, got) != 0) fail_msg("%s: the short cuts give\n%s, not\n%s", what, got, want);
  free(want);
  free(got);
}

/* ---- tests ---- */

/* How many tables a test makes; BL_SEEDS=1000 for a long run. */
static uint64_t seeds(void) {
  const char *s = getenv("BL_SEEDS");
  return s ? strtoull(s, NULL, 10) : 30;
}

static void check_ranges(uint64_t seed, model_faults faults) {
  model *x = calloc(1, sizeof *x);
  setting small;
  assert_non_null(x);
  model_make(x, seed, faults);
  open_setting(&small, x, 1, 1);
  rng r = {seed ^ 77};
  for (int from = -1; from < x->n_snapshots; from++)
    for (int to = 0; to < x->n_snapshots; to++) {
      twin_options o = {.from = from, .to = to, .net = true, .key = rng_next(&r) % 4 == 0};
      check(x->ctx, x->t, seed, x, &o);
      if (to < from) continue;
      o = (twin_options){.from = from, .to = to};
      o.key = rng_next(&r) % 4 == 0;
      o.skip_unchanged = rng_next(&r) % 4 == 0;
      o.after_images = rng_next(&r) % 4 == 0;
      bool little = rng_next(&r) % 4 == 0;
      check(little ? small.ctx : x->ctx, little ? small.t : x->t, seed, x, &o);
    }
  close_setting(&small);
  model_free(x);
  free(x);
}

static void test_changes__are_those_of_the_live_rows(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= seeds(); seed++) check_ranges(seed, MODEL_SOUND);
}

static void test_changes__are_those_of_the_live_rows_where_rows_lost_their_ids(void **state) {
  (void)state;
  for (uint64_t seed = 1001; seed <= 1000 + seeds(); seed++) check_ranges(seed, MODEL_LOSES_IDS);
}

static void test_changes__are_those_of_the_live_rows_where_ids_are_there_twice(void **state) {
  (void)state;
  for (uint64_t seed = 4001; seed <= 4000 + seeds(); seed++) check_ranges(seed, MODEL_REPEATS_IDS);
}

/* Ids that are there twice in different snapshots are only noticed where every step is compared in full. */
static void test_feed__is_the_same_with_every_short_cut(void **state) {
  (void)state;
  for (uint64_t seed = 2001; seed <= 2000 + seeds(); seed++) {
    model *x = calloc(1, sizeof *x);
    assert_non_null(x);
    model_make(x, seed, seed % 2 ? MODEL_LOSES_IDS : MODEL_SOUND);
    for (int from = -1; from < x->n_snapshots; from++)
      for (int net = 0; net < 2; net++)
        for (int to = from + 1; to < x->n_snapshots; to++) {
          twin_options o = {.from = from, .to = to, .net = net};
          check_feed(x->t, seed, x, &o);
        }
    model_free(x);
    free(x);
  }
}

/* A pair is of one row in one commit. */
static void assert_pairs_are_adjacent(const test_rows *r, const char *what) {
  for (size_t i = 0; i < r->n; i++) {
    const char *after = strstr(r->lines[i], "UPDATE_AFTER");
    if (strstr(r->lines[i], "UPDATE_BEFORE")) {
      if (i + 1 == r->n || !strstr(r->lines[i + 1], "UPDATE_AFTER")) fail_msg("%s: row %zu lacks its image", what, i);
      assert_int_equal(test_rows_int(r, i, "_change_ordinal"), test_rows_int(r, i + 1, "_change_ordinal"));
    } else if (after && (i == 0 || !strstr(r->lines[i - 1], "UPDATE_BEFORE")))
      fail_msg("%s: row %zu stands alone", what, i);
  }
}

static void test_changes__unordered_are_the_same_with_pairs_together(void **state) {
  (void)state;
  for (uint64_t seed = 5001; seed <= 5000 + seeds(); seed++) {
    model *x = calloc(1, sizeof *x);
    setting small;
    assert_non_null(x);
    model_make(x, seed, (model_faults)(seed % 3));
    open_setting(&small, x, 1, 1);
    for (int net = 0; net < 2; net++)
      for (int key = 0; key < 2; key++) {
        twin_options o = {.from = -1, .to = x->n_snapshots - 1, .net = net, .key = key};
        test_rows want = changes_of(x->ctx, x->t, x, &o);
        o.unordered = true;
        test_rows got = changes_of(x->ctx, x->t, x, &o), little = changes_of(small.ctx, small.t, x, &o);
        char what[200];
        describe(what, sizeof what, seed, x, &o);
        test_rows_same(&want, &got, what);
        assert_pairs_are_adjacent(&got, what);
        test_rows_same_order(&got, &little, what);
        test_rows_free(&want);
        test_rows_free(&got);
        test_rows_free(&little);
      }
    close_setting(&small);
    model_free(x);
    free(x);
  }
}

/* C12: threads and budgets leave no trace. */
static void test_changes__are_the_same_with_any_budget_and_number_of_threads(void **state) {
  (void)state;
  static const struct {
    int threads;
    int64_t budget;
  } settings[] = {{1, 1}, {8, 1}, {1, 1 << 20}, {8, 192 << 20}};
  for (uint64_t seed = 3001; seed <= 3000 + seeds() / 3; seed++) {
    model *x = calloc(1, sizeof *x);
    assert_non_null(x);
    model_make(x, seed, (model_faults)(seed % 3));
    for (size_t k = 0; k < BL_LEN(settings); k++) {
      setting s;
      open_setting(&s, x, settings[k].threads, settings[k].budget);
      for (int net = 0; net < 2; net++)
        for (int key = 0; key < 2; key++) {
          twin_options o = {.from = -1, .to = x->n_snapshots - 1, .net = net, .key = key};
          check(s.ctx, s.t, seed, x, &o);
        }
      close_setting(&s);
    }
    model_free(x);
    free(x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_changes__are_those_of_the_live_rows),
      cmocka_unit_test(test_changes__are_those_of_the_live_rows_where_rows_lost_their_ids),
      cmocka_unit_test(test_changes__are_those_of_the_live_rows_where_ids_are_there_twice),
      cmocka_unit_test(test_feed__is_the_same_with_every_short_cut),
      cmocka_unit_test(test_changes__unordered_are_the_same_with_pairs_together),
      cmocka_unit_test(test_changes__are_the_same_with_any_budget_and_number_of_threads),
  };
  return cmocka_run_group_tests_name("changes_random", tests, NULL, NULL);
}
