/* test_delete_index.c: which deletes apply to which data file, against a twin that looks at every pair (Iceberg spec,
 * "Scan Planning"). */
#include "scan/delete_index.h"
#include "support/chance.h"
#include "support/table_maker.h"

#include <time.h>

static const char fields[] = "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"
                             "{\"id\":2,\"name\":\"p\",\"required\":false,\"type\":\"int\"},"
                             "{\"id\":3,\"name\":\"t\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
                             "{\"id\":4,\"name\":\"x\",\"required\":false,\"type\":\"long\"}]}}]";

typedef struct world {
  bl_ctx *ctx;
  maker *m;
  bl_arena *a;
  const bl_metadata *md;
  bl_delete_index *x;
} world;

/* Specs: 0 by p, 1 without fields, 2 void, 3 by p again. */
static world new_world(void) {
  bl_error err = BL_ERROR_INIT;
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 2, fields);
  maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"p\",\"transform\":\"identity\"}]");
  maker_spec(w.m, 1, "[]");
  maker_spec(w.m, 2, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"p\",\"transform\":\"void\"}]");
  maker_spec(w.m, 3, "[{\"source-id\":2,\"field-id\":1001,\"name\":\"p2\",\"transform\":\"identity\"}]");
  w.a = maker_arena(w.m);
  w.md = maker_metadata(w.m);
  test_ok(bl_delete_index_new(w.ctx, w.md, &w.x, &err), &err);
  return w;
}

static void close_world(world *w) {
  bl_delete_index_free(w->x);
  maker_free(w->m);
  test_ctx_free(w->ctx);
}

static void *zeroed(world *w, size_t n) {
  void *p = bl_arena_calloc(w->a, 1, n);
  assert_non_null(p);
  return p;
}

static bl_manifest_entry *new_entry(world *w, bl_file_content content, int64_t seq, int spec_id, int p) {
  static int number = 0;
  bl_manifest_entry *e = zeroed(w, sizeof *e);
  *e = (bl_manifest_entry){.status = BL_ADDED, .sequence_number = seq, .file_sequence_number = seq};
  e->file = (bl_data_file){.content = content,
                           .format = BL_FORMAT_PARQUET,
                           .path = bl_arena_printf(w->a, "/t/f%d", number++),
                           .spec_id = spec_id,
                           .record_count = 10,
                           .content_offset = BL_NONE,
                           .content_size = BL_NONE};
  e->file.n_partition = spec_id == 1 ? 0 : 1;
  e->file.partition = zeroed(w, sizeof *e->file.partition);
  e->file.partition[0] =
      (bl_value){.kind = BL_INT, .null = p < 0 || spec_id == 2, .u.i = p < 0 || spec_id == 2 ? 0 : p};
  return e;
}

static void by_ids(world *w, bl_manifest_entry *e, int32_t id) {
  e->file.equality_ids = zeroed(w, sizeof id);
  e->file.equality_ids[0] = id;
  e->file.n_equality_ids = 1;
}

static void add(world *w, const bl_manifest_entry *e) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_delete_index_add(w->x, e, &err), &err);
}

static bl_file_deletes look_up(world *w, const bl_manifest_entry *data, bool share) {
  bl_error err = BL_ERROR_INIT;
  bl_file_deletes d;
  if (share) test_ok(bl_delete_index_share(w->x, w->a, data, &d, &err), &err);
  else test_ok(bl_delete_index_for(w->x, w->a, data, &d, &err), &err);
  return d;
}

static bool has(const bl_manifest_entry **list, size_t n, const bl_manifest_entry *e) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == e) return true;
  return false;
}

/* ---- the twin ---- */

static bool same_partition(const bl_data_file *a, const bl_data_file *b) {
  return a->spec_id == b->spec_id && bl_tuple_same(a->partition, a->n_partition, b->partition, b->n_partition);
}

/* Should e be among what applies to data? hidden: the data file has a vector. */
static bool applies(const bl_manifest_entry *e, const bl_manifest_entry *data, bool hidden) {
  const bl_data_file *d = &e->file;
  if (d->content == BL_FILE_EQUALITY_DELETES) {
    bool global = d->spec_id == 1 || d->spec_id == 2;
    return data->sequence_number < e->sequence_number && (global || same_partition(d, &data->file));
  }
  if (data->sequence_number > e->sequence_number) return false;
  bool named = d->referenced_data_file.p && bl_str_eq(d->referenced_data_file, data->file.path);
  if (d->format == BL_FORMAT_PUFFIN) return named;
  return !hidden && (d->referenced_data_file.p ? named : same_partition(d, &data->file));
}

static void check(world *w, bl_manifest_entry **deletes, size_t n, const bl_manifest_entry *data) {
  bool hidden = false;
  for (size_t i = 0; i < n; i++)
    hidden = hidden || (deletes[i]->file.format == BL_FORMAT_PUFFIN && applies(deletes[i], data, false));
  for (int share = 0; share < 2; share++) {
    bl_file_deletes d = look_up(w, data, share);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
      bl_manifest_entry *e = deletes[i];
      bool want = applies(e, data, hidden),
           there = e == d.vector || has(d.position, d.n_position, e) || has(d.equality, d.n_equality, e);
      if (want != there)
        fail_msg("delete %s (number %lld) and data %s (number %lld): %s", e->file.path.p, (long long)e->sequence_number,
                 data->file.path.p, (long long)data->sequence_number, want ? "missing" : "too many");
      count += want;
    }
    assert_int_equal(count, (d.vector ? 1 : 0) + d.n_position + d.n_equality);
  }
}

static void test_delete_index__gives_what_a_look_at_every_pair_gives(void **state) {
  (void)state;
  rng r = {5};
  for (int round = 0; round < 200; round++) {
    world w = new_world();
    bl_error err = BL_ERROR_INIT;
    bl_manifest_entry *data[30], *deletes[40];
    size_t n_data = 1 + rng_next(&r) % 30, n = 0, wanted = rng_next(&r) % 40;
    for (size_t i = 0; i < n_data; i++)
      data[i] = new_entry(&w, BL_FILE_DATA, (int64_t)(rng_next(&r) % 6), (int)(rng_next(&r) % 4),
                          (int)(rng_next(&r) % 4) - 1);
    while (n < wanted) {
      int kind = (int)(rng_next(&r) % 4);
      int64_t seq = (int64_t)(rng_next(&r) % 7);
      const bl_manifest_entry *of = data[rng_next(&r) % n_data];
      bl_manifest_entry *e;
      if (kind == 0) {
        e = new_entry(&w, BL_FILE_EQUALITY_DELETES, seq, (int)(rng_next(&r) % 4), (int)(rng_next(&r) % 4) - 1);
        by_ids(&w, e, 1);
      } else {
        e = new_entry(&w, BL_FILE_POSITION_DELETES, seq, of->file.spec_id, 0);
        e->file.partition = of->file.partition;
        if (kind > 1) e->file.referenced_data_file = of->file.path;
        if (kind == 3) { /* at most one vector a file, never older than it */
          bool taken = false;
          for (size_t i = 0; i < n; i++)
            taken = taken || (deletes[i]->file.format == BL_FORMAT_PUFFIN &&
                              bl_str_eq(deletes[i]->file.referenced_data_file, of->file.path));
          if (taken) continue;
          e->file.format = BL_FORMAT_PUFFIN;
          if (e->sequence_number < of->sequence_number) e->sequence_number = of->sequence_number;
        }
      }
      add(&w, e);
      deletes[n++] = e;
    }
    test_ok(bl_delete_index_seal(w.x, &err), &err);
    assert_int_equal(bl_delete_index_count(w.x), n);
    for (size_t i = 0; i < n_data; i++) check(&w, deletes, n, data[i]);
    close_world(&w);
  }
}

/* ---- statistics ---- */

static void metrics(world *w, bl_manifest_entry *e, int32_t id, int64_t values, int64_t nulls, const char *lo,
                    const char *hi) {
  maker_metrics(w->m, &e->file, id, values, nulls, lo, hi);
}

static void test_delete_index__bounds_and_null_counts_rule_equality_deletes_out(void **state) {
  (void)state;
  static const struct {
    int64_t nulls, data_nulls; /* of 10 values each */
    const char *lo, *hi, *data_lo, *data_hi;
    bool may;
  } cases[] = {
      {0, 0, "1", "5", "6", "9", false},      {0, 0, "1", "6", "6", "9", true},
      {0, 0, "10", "20", "6", "9", false},    {0, 0, "9", "20", "6", "9", true},
      {1, 0, "1", "5", "6", "9", false},      {0, 1, "1", "5", "6", "9", false},
      {1, 1, "1", "5", "6", "9", true},       {BL_NONE, 1, "1", "5", "6", "9", true},
      {1, BL_NONE, "1", "5", "6", "9", true}, {BL_NONE, 0, "1", "5", "6", "9", false},
      {10, 0, NULL, NULL, "6", "9", false},   {0, 10, "1", "5", NULL, NULL, false},
      {10, 10, NULL, NULL, NULL, NULL, true}, {0, 0, "5", "1", "6", "9", true} /* inverted: not trusted */,
      {0, 0, "1", "5", "9", "6", true},       {0, 0, NULL, "5", "6", "9", true},
      {0, 0, "1", "5", NULL, "9", true},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    world w = new_world();
    bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 1, 0), *e = new_entry(&w, BL_FILE_EQUALITY_DELETES, 2, 1, 0);
    by_ids(&w, e, 1);
    metrics(&w, e, 1, 10, cases[i].nulls, cases[i].lo, cases[i].hi);
    metrics(&w, d, 1, 10, cases[i].data_nulls, cases[i].data_lo, cases[i].data_hi);
    if (bl_equality_may_match(w.md, &e->file, &d->file) != cases[i].may) fail_msg("case %zu", i);
    add(&w, e);
    assert_int_equal(look_up(&w, d, false).n_equality, cases[i].may);
    close_world(&w);
  }
}

static void test_delete_index__a_column_without_statistics_rules_nothing_out(void **state) {
  (void)state;
  world w = new_world();
  bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 1, 0), *e = new_entry(&w, BL_FILE_EQUALITY_DELETES, 2, 1, 0);
  by_ids(&w, e, 1);
  metrics(&w, e, 1, 10, 0, "1", "5");
  assert_true(bl_equality_may_match(w.md, &e->file, &d->file));
  metrics(&w, d, 2, 10, 0, "6", "9"); /* of another column */
  assert_true(bl_equality_may_match(w.md, &e->file, &d->file));
  close_world(&w);
}

/* A null struct has a null field, which some writers do not count. */
static void test_delete_index__statistics_inside_structs_rule_nothing_out(void **state) {
  (void)state;
  world w = new_world();
  bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 1, 0), *e = new_entry(&w, BL_FILE_EQUALITY_DELETES, 2, 1, 0);
  by_ids(&w, e, 4);
  metrics(&w, e, 4, 10, 0, "1", "5");
  metrics(&w, d, 4, 10, 0, "6", "9");
  assert_true(bl_equality_may_match(w.md, &e->file, &d->file));
  close_world(&w);
}

static void test_delete_index__bounds_of_file_path_rule_position_deletes_out(void **state) {
  (void)state;
  world w = new_world();
  bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 0, 5), *in = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 0, 5),
                    *out = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 0, 5);
  d->file.path = BL_STR("/t/m");
  metrics(&w, in, BL_ID_DELETE_PATH, 10, 0, "\"/t/a\"", "\"/t/z\"");
  metrics(&w, out, BL_ID_DELETE_PATH, 10, 0, "\"/t/n\"", "\"/t/z\"");
  add(&w, in);
  add(&w, out);
  bl_file_deletes f = look_up(&w, d, false);
  assert_int_equal(f.n_position, 1);
  assert_ptr_equal(f.position[0], in);
  close_world(&w);
}

static void test_delete_index__equal_bounds_of_file_path_name_the_file(void **state) {
  (void)state;
  world w = new_world();
  bl_manifest_entry *e = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 0, 5);
  assert_null(bl_delete_target(&e->file).p);
  metrics(&w, e, BL_ID_DELETE_PATH, 10, 0, "\"/t/a\"", "\"/t/a\"");
  assert_true(bl_str_is(bl_delete_target(&e->file), "/t/a"));
  e->file.referenced_data_file = BL_STR("/t/b");
  assert_true(bl_str_is(bl_delete_target(&e->file), "/t/b"));
  e->file.content = BL_FILE_EQUALITY_DELETES;
  assert_null(bl_delete_target(&e->file).p);
  close_world(&w);
}

static void test_delete_index__paths_of_one_file_have_one_key(void **state) {
  (void)state;
  static const char *const groups[][4] = {{"/a/b", "file:/a/b", "file:///a/b", "file://localhost/a/b"},
                                          {"s3://bucket/a", "s3a://bucket/a", "s3n://bucket/a", "s3://bucket/a"},
                                          {"gs://bucket/a", "gs://bucket/a", "gs://bucket/a", "gs://bucket/a"},
                                          {"rel/a", "rel/a", "rel/a", "rel/a"}};
  for (size_t g = 0; g < BL_LEN(groups); g++)
    for (size_t i = 0; i < 4; i++)
      for (size_t h = 0; h < BL_LEN(groups); h++)
        for (size_t k = 0; k < 4; k++)
          assert_int_equal(bl_str_eq(bl_path_key(bl_str_of(groups[g][i])), bl_path_key(bl_str_of(groups[h][k]))),
                           g == h);
}

/* ---- refusals ---- */

static void expect_refusal(world *w, const bl_manifest_entry *data, const char *says) {
  bl_error err = BL_ERROR_INIT;
  bl_file_deletes d;
  test_status(BL_DAMAGED, bl_delete_index_for(w->x, w->a, data, &d, &err), &err);
  test_says(&err, says);
}

static void test_delete_index__refuses_deletes_of_another_partition_than_their_file(void **state) {
  (void)state;
  for (int vector = 0; vector < 2; vector++)
    for (int spec = 0; spec <= 3; spec += 3) { /* another value, or another spec with the same value */
      world w = new_world();
      bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 0, 5),
                        *e = new_entry(&w, BL_FILE_POSITION_DELETES, 2, spec, spec ? 5 : 6);
      e->file.referenced_data_file = d->file.path;
      if (vector) e->file.format = BL_FORMAT_PUFFIN;
      add(&w, e);
      expect_refusal(&w, d, d->file.path.p);
      expect_refusal(&w, d, e->file.path.p);
      close_world(&w);
    }
}

static void test_delete_index__refuses_two_vectors_and_odd_entries(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  bl_manifest_entry *d = new_entry(&w, BL_FILE_DATA, 1, 0, 5), *e = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 0, 5),
                    *f = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 0, 5);
  e->file.format = f->file.format = BL_FORMAT_PUFFIN;
  test_status(BL_DAMAGED, bl_delete_index_add(w.x, e, &err), &err);
  test_says(&err, "referenced_data_file");
  e->file.referenced_data_file = f->file.referenced_data_file = d->file.path;
  add(&w, e);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_delete_index_add(w.x, f, &err), &err);
  test_says(&err, d->file.path.p);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_delete_index_add(w.x, d, &err), &err);
  bl_manifest_entry *q = new_entry(&w, BL_FILE_EQUALITY_DELETES, 2, 0, 5);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_delete_index_add(w.x, q, &err), &err);
  by_ids(&w, q, 99);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_delete_index_add(w.x, q, &err), &err);
  test_says(&err, "99");
  close_world(&w);
}

/* ---- size (B86) ---- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_delete_index__thousands_of_files_with_a_delete_each_stay_cheap(void **state) {
  (void)state;
  enum { N = 10000 };
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  bl_manifest_entry **data = zeroed(&w, N * sizeof *data);
  for (size_t i = 0; i < N; i++) {
    data[i] = new_entry(&w, BL_FILE_DATA, 1, 1, 0);
    bl_manifest_entry *e = new_entry(&w, BL_FILE_POSITION_DELETES, 2, 1, 0);
    e->file.referenced_data_file = data[i]->file.path;
    if (i % 2) e->file.format = BL_FORMAT_PUFFIN;
    add(&w, e);
  }
  test_ok(bl_delete_index_seal(w.x, &err), &err);
  double begin = seconds();
  size_t bytes = bl_arena_bytes(w.a);
  for (size_t i = 0; i < N; i++) {
    bl_file_deletes d = look_up(&w, data[i], true);
    assert_int_equal((d.vector != NULL) + d.n_position, 1);
  }
  assert_true(seconds() - begin < 2);
  assert_true(bl_arena_bytes(w.a) - bytes < N * 100);
  close_world(&w);
}

static void test_delete_index__equality_deletes_for_all_files_are_shared(void **state) {
  (void)state;
  enum { N = 2000 };
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  bl_manifest_entry **data = zeroed(&w, N * sizeof *data);
  for (size_t i = 0; i < N; i++) { /* an upsert stream: a file and a delete for all earlier ones in each commit */
    data[i] = new_entry(&w, BL_FILE_DATA, (int64_t)i, 1, 0);
    bl_manifest_entry *e = new_entry(&w, BL_FILE_EQUALITY_DELETES, (int64_t)i, 1, 0);
    by_ids(&w, e, 1);
    add(&w, e);
  }
  test_ok(bl_delete_index_seal(w.x, &err), &err);
  size_t bytes = bl_arena_bytes(w.a);
  for (size_t i = 0; i < N; i++) assert_int_equal(look_up(&w, data[i], true).n_equality, N - 1 - i);
  assert_int_equal(bl_arena_bytes(w.a), bytes);
  close_world(&w);
}

/* ---- memory ---- */

static bl_status fill(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  bl_delete_index *x;
  bl_arena *a = NULL;
  BL_TRY(bl_delete_index_new(ctx, w->md, &x, err));
  bl_status st = bl_arena_new(ctx, &a, err);
  bl_manifest_entry *d = new_entry(w, BL_FILE_DATA, 1, 0, 3);
  for (int i = 0; st == BL_OK && i < 20; i++) {
    bl_manifest_entry *e = new_entry(w, i % 3 ? BL_FILE_POSITION_DELETES : BL_FILE_EQUALITY_DELETES, 2, i % 2, 3);
    if (i % 3 == 0) by_ids(w, e, 1 + i % 2);
    if (i % 3 == 1) e->file.referenced_data_file = i < 4 ? d->file.path : e->file.path;
    if (i == 1) e->file.spec_id = 0, e->file.partition = d->file.partition, e->file.n_partition = 1;
    st = bl_delete_index_add(x, e, err);
  }
  if (st == BL_OK) st = bl_delete_index_seal(x, err);
  bl_file_deletes out;
  if (st == BL_OK) st = bl_delete_index_for(x, a, d, &out, err);
  bl_arena_free(a);
  bl_delete_index_free(x);
  return st;
}

static void test_delete_index__says_when_memory_runs_out(void **state) {
  (void)state;
  world w = new_world();
  test_fail_each(fill, &w);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_delete_index__gives_what_a_look_at_every_pair_gives),
      cmocka_unit_test(test_delete_index__bounds_and_null_counts_rule_equality_deletes_out),
      cmocka_unit_test(test_delete_index__a_column_without_statistics_rules_nothing_out),
      cmocka_unit_test(test_delete_index__statistics_inside_structs_rule_nothing_out),
      cmocka_unit_test(test_delete_index__bounds_of_file_path_rule_position_deletes_out),
      cmocka_unit_test(test_delete_index__equal_bounds_of_file_path_name_the_file),
      cmocka_unit_test(test_delete_index__paths_of_one_file_have_one_key),
      cmocka_unit_test(test_delete_index__refuses_deletes_of_another_partition_than_their_file),
      cmocka_unit_test(test_delete_index__refuses_two_vectors_and_odd_entries),
      cmocka_unit_test(test_delete_index__thousands_of_files_with_a_delete_each_stay_cheap),
      cmocka_unit_test(test_delete_index__equality_deletes_for_all_files_are_shared),
      cmocka_unit_test(test_delete_index__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("delete_index", tests, NULL, NULL);
}
