/* test_fetch.c: rows picked by place, however many and however scattered; and the numbers of file versions. */
#include "changes/fetch.h"

#include "random.h"
#include "rows/arrow_view.h"
#include "scan/columns.h"
#include "support/table_maker.h"
#include "table/table.h"

enum { FILES = 3, ROWS = 400, GROUP = 90 };

static const char fields[] = "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"
                             "{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"}]";

typedef struct fixture {
  bl_ctx *ctx;
  maker *m;
  bl_table *t;
  bl_reading reading;
  bl_files files;
  bl_manifest_entry entries[FILES];
  bl_columns columns;
  struct ArrowSchema schema;
} fixture;

/* k = 1000 * file + position, s the same as text; ids from 5000 * file. */
static bl_data_file *file_of(maker *m, int number) {
  char name[20], *rows = malloc(ROWS * 30);
  size_t at = 0;
  assert_non_null(rows);
  for (int i = 0; i < ROWS; i++)
    at += (size_t)snprintf(rows + at, 30, "%c[%d,\"%d\"]", i ? ',' : '[', 1000 * number + i, 1000 * number + i);
  snprintf(rows + at, 30, "]");
  snprintf(name, sizeof name, "f%d.parquet", number);
  bl_data_file *f = maker_data(m, name, NULL, rows, GROUP);
  free(rows);
  return f;
}

static void open_fixture(fixture *f) {
  bl_error err = BL_ERROR_INIT;
  memset(f, 0, sizeof *f);
  f->ctx = test_ctx();
  f->m = maker_new(f->ctx, 3, fields);
  maker_page_rows(f->m, 7);
  for (int i = 0; i < FILES; i++) {
    f->entries[i] = (bl_manifest_entry){
        .status = BL_ADDED, .sequence_number = i + 1, .file_sequence_number = i + 1, .file = *file_of(f->m, i)};
    f->entries[i].file.first_row_id = 5000 * i;
  }
  f->t = maker_open(f->m);
  test_ok(bl_reading_init(&f->reading, f->t, &err), &err);
  bl_files_init(&f->files, f->ctx);
  for (int i = 0; i < FILES; i++) {
    uint32_t number;
    test_ok(bl_files_add(&f->files, &f->entries[i], BL_BASIS_ROW_ID, &number, &err), &err);
    assert_int_equal(number, i);
  }
  bl_columns_init(&f->columns, maker_arena(f->m), f->t->metadata, bl_metadata_current_schema(f->t->metadata));
  test_ok(bl_columns_add_all(&f->columns, &err), &err);
  test_ok(bl_columns_add_id(&f->columns, BL_ID_ROW_ID, &err), &err);
  test_ok(bl_columns_add_id(&f->columns, BL_ID_LAST_UPDATED, &err), &err);
  test_ok(bl_aschema_of_struct(f->ctx, &f->columns.wanted, &f->schema, &err), &err);
}

static bl_status fetch(fixture *f, const bl_place *places, size_t n, int64_t max_bytes, bl_fetched *out, bool *over,
                       bl_error *err) {
  return bl_fetch(&f->reading, &f->files, &f->columns.wanted, &f->schema, places, n, max_bytes, out, over, err);
}

static void close_fixture(fixture *f) {
  bl_aschema_release(&f->schema);
  bl_files_dispose(&f->files);
  bl_reading_dispose(&f->reading);
  bl_table_free(f->t);
  maker_free(f->m);
  test_ctx_free(f->ctx);
}

static void check_row(const bl_view *v, int64_t i, const bl_place *p) {
  char text[20];
  int64_t k = 1000 * (int64_t)p->file + p->pos;
  snprintf(text, sizeof text, "%lld", (long long)k);
  assert_int_equal(bl_view_i64(&v->children[0], i), k);
  assert_true(bl_str_is(bl_view_bytes(&v->children[1], i), text));
  assert_int_equal(bl_view_i64(&v->children[2], i), 5000 * (int64_t)p->file + p->pos);
  assert_int_equal(bl_view_i64(&v->children[3], i), (int64_t)p->file + 1);
}

static void check_fetch(fixture *f, const bl_place *places, size_t n) {
  bl_error err = BL_ERROR_INIT;
  bl_fetched got;
  bl_view *v;
  bool over;
  test_ok(fetch(f, places, n, INT64_MAX, &got, &over, &err), &err);
  assert_false(over);
  test_ok(bl_view_new(f->ctx, &f->schema, &v, &err), &err);
  size_t at = 0;
  for (size_t b = 0; b < got.n; b++) {
    assert_true(got.batches[b].length > 0);
    test_ok(bl_view_set(v, &got.batches[b], &err), &err);
    for (int64_t i = 0; i < got.batches[b].length; i++) check_row(v, i, &places[at++]);
  }
  assert_int_equal(at, n);
  bl_view_free(v);
  bl_fetched_dispose(&got);
}

static void test_fetch__gives_one_row_a_place_in_their_order(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  rng r = {17};
  bl_place *places = malloc(FILES * ROWS * sizeof *places);
  assert_non_null(places);
  for (int round = 0; round < 60; round++) {
    size_t n = 0;
    int64_t gap = rng_between(&r, 1, round % 2 ? 4 : 120), run = rng_between(&r, 1, round % 3 ? 3 : 60);
    for (uint32_t k = 0; k < FILES; k++) {
      if (rng_between(&r, 0, 3) == 0) continue;
      for (int64_t pos = rng_between(&r, 0, gap); pos < ROWS; pos += rng_between(&r, 1, gap))
        for (int64_t e = pos + rng_between(&r, 1, run); pos < e && pos < ROWS; pos++) places[n++] = (bl_place){k, pos};
    }
    check_fetch(&f, places, n);
  }
  size_t n = 0;
  for (uint32_t k = 0; k < FILES; k++)
    for (int64_t pos = 0; pos < ROWS; pos++) places[n++] = (bl_place){k, pos};
  check_fetch(&f, places, n);
  check_fetch(&f, places, 0);
  free(places);
  close_fixture(&f);
}

static void test_fetch__a_place_beyond_the_file_is_damage(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  const bl_place bad[][2] = {
      {{1, 5}, {1, ROWS}}, {{1, ROWS}, {2, 0}}, {{1, INT64_MAX - 1}, {1, INT64_MAX}}, {{1, -1}, {1, 5}}};
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    bl_error err = BL_ERROR_INIT;
    bl_fetched got;
    bool over;
    test_status(BL_DAMAGED, fetch(&f, bad[i], 2, INT64_MAX, &got, &over, &err), &err);
    test_says(&err, "f1.parquet");
    bl_fetched_dispose(&got);
  }
  close_fixture(&f);
}

static bl_status refuse(void *user, struct ArrowArray *batch, size_t first, bl_error *err) {
  (void)user, (void)first;
  batch->release(batch);
  return bl_fail(err, BL_CANCELLED, "enough");
}

static void test_fetch__passes_on_what_the_visitor_says(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  bl_error err = BL_ERROR_INIT;
  const bl_place places[] = {{0, 1}, {0, 2}, {2, 100}};
  test_status(BL_CANCELLED, bl_fetch_each(&f.reading, &f.files, &f.columns.wanted, places, 3, refuse, NULL, &err),
              &err);
  close_fixture(&f);
}

static void test_fetch__a_missing_file_is_not_found(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  bl_error err = BL_ERROR_INIT;
  bl_fetched got;
  bool over;
  const bl_place places[] = {{0, 1}, {2, 100}};
  test_ok(maker_io(f.m)->remove(maker_io(f.m), maker_path(f.m, "f2.parquet"), &err), &err);
  test_status(BL_NOT_FOUND, fetch(&f, places, 2, INT64_MAX, &got, &over, &err), &err);
  test_says(&err, "f2.parquet");
  bl_fetched_dispose(&got);
  close_fixture(&f);
}

/* Each row takes two longs and two more of lineage, an offset, and its digits. */
static void test_fetch__keeps_nothing_where_the_values_take_too_much(void **state) {
  (void)state;
  fixture f;
  bl_error err = BL_ERROR_INIT;
  bl_fetched got;
  bool over;
  const bl_place places[] = {{0, 1}, {1, 5}, {2, 100}};
  const int64_t bytes = 3 * (3 * 8 + 4) + 1 + 4 + 4;
  open_fixture(&f);
  test_ok(fetch(&f, places, 3, bytes - 1, &got, &over, &err), &err);
  assert_true(over);
  assert_int_equal(got.n, 0);
  bl_fetched_dispose(&got);
  test_ok(fetch(&f, places, 3, bytes, &got, &over, &err), &err);
  assert_false(over);
  assert_int_equal(got.n, 3);
  assert_int_equal(got.bytes, bytes);
  bl_fetched_dispose(&got);
  close_fixture(&f);
}

static bl_status fetch_some(bl_ctx *ctx, void *user, bl_error *err) {
  fixture *f = user;
  const bl_place places[] = {{0, 1}, {0, 380}, {2, 100}};
  bl_fetched got;
  bool over;
  bl_table table = *f->t; /* the same files, in a context that fails */
  bl_reading reading = f->reading;
  table.ctx = ctx;
  reading.t = &table;
  bl_status st = bl_fetch(&reading, &f->files, &f->columns.wanted, &f->schema, places, 3, INT64_MAX, &got, &over, err);
  if (st == BL_OK) {
    assert_int_equal(got.n, 3);
    bl_fetched_dispose(&got);
  }
  return st;
}

static void test_fetch__says_when_memory_runs_out(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  test_fail_each(fetch_some, &f);
  close_fixture(&f);
}

/* ---- files ---- */

static void test_files__are_ranked_by_path_equal_ones_alike(void **state) {
  (void)state;
  static const char *const paths[] = {"/t/c", "/t/a", "/t/c", "/t/b", "/t/a/x"};
  static const uint32_t want[] = {3, 0, 3, 2, 1};
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_files files;
  bl_manifest_entry e[BL_LEN(paths)] = {0};
  bl_files_init(&files, ctx);
  for (size_t i = 0; i < BL_LEN(paths); i++) {
    uint32_t number;
    e[i].file.path = bl_str_of(paths[i]);
    test_ok(bl_files_add(&files, &e[i], BL_BASIS_ROW_ID, &number, &err), &err);
    assert_int_equal(number, i);
    test_ok(bl_files_rank(&files, 0, &err), &err); /* again and again: the order stays */
    for (size_t k = 0; k < i; k++) assert_int_equal(files.rank[k] < files.rank[i], strcmp(paths[k], paths[i]) < 0);
  }
  for (size_t i = 0; i < BL_LEN(paths); i++) assert_int_equal(files.rank[i], want[i]);
  bl_files_dispose(&files);
  test_ctx_free(ctx);
}

static void test_files__rank_those_from_a_number_on_among_one_another(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_files files;
  bl_manifest_entry e[4] = {{.file = {.path = BL_STR("/z")}},
                            {.file = {.path = BL_STR("/b")}},
                            {.file = {.path = BL_STR("/a")}},
                            {.file = {.path = BL_STR("/a")}, .sequence_number = 7}};
  uint32_t number;
  bl_files_init(&files, ctx);
  for (size_t i = 0; i < 3; i++) test_ok(bl_files_add(&files, &e[i], BL_BASIS_ROW_ID, &number, &err), &err);
  test_ok(bl_files_rank(&files, 1, &err), &err);
  assert_true(files.rank[2] < files.rank[1]);
  assert_int_equal(files.rank[1], 1); /* "/z" has no say */
  assert_false(files.path_twice);
  test_ok(bl_files_add(&files, &e[2], BL_BASIS_EQUALITY_DELETE, &number, &err), &err);
  test_ok(bl_files_rank(&files, 1, &err), &err);
  assert_false(files.path_twice); /* one place, numbered twice */
  test_ok(bl_files_add(&files, &e[3], BL_BASIS_ROW_ID, &number, &err), &err);
  test_ok(bl_files_rank(&files, 1, &err), &err);
  assert_true(files.path_twice);
  test_ok(bl_files_rank(&files, files.n, &err), &err); /* none */
  bl_files_dispose(&files);
  test_ctx_free(ctx);
}

/* Steps that touch a file number it anew; its place tells that its rows can be read together. */
static void test_files__versions_of_one_file_have_one_place(void **state) {
  (void)state;
  static const size_t want[] = {0, 1, 0, 2, 1, 2}, first[] = {0, 1, 3};
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_files files;
  bl_manifest_entry e[] = {{.file = {.path = BL_STR("/a")}, .sequence_number = 1},
                           {.file = {.path = BL_STR("/b")}, .sequence_number = 1},
                           {.file = {.path = BL_STR("/a"), .first_row_id = 50}, .sequence_number = 1},
                           {.file = {.path = BL_STR("/a")}, .sequence_number = 2}, /* added again later */
                           {.file = {.path = BL_STR("/b")}, .sequence_number = 1},
                           {.file = {.path = BL_STR("/a")}, .sequence_number = 2}};
  bl_files_init(&files, ctx);
  for (size_t i = 0; i < BL_LEN(e); i++) {
    uint32_t number;
    test_ok(bl_files_add(&files, &e[i], BL_BASIS_ROW_ID, &number, &err), &err);
    assert_int_equal(files.items[number].place, want[i]);
  }
  assert_int_equal(files.n_places, BL_LEN(first));
  for (size_t i = 0; i < BL_LEN(first); i++) assert_int_equal(files.places[i].version, first[i]);
  bl_files_cut(&files, 3); /* those of the second "/a" are forgotten, its place too */
  assert_int_equal(files.n_places, 2);
  e[3] = e[5] = (bl_manifest_entry){.file = {.path = BL_STR("/gone")}};
  for (size_t i = 0; i < 3; i++) {
    static const size_t again[] = {1, 0, 1}, place[] = {1, 0, 1};
    uint32_t number;
    test_ok(bl_files_add(&files, &e[again[i]], BL_BASIS_ROW_ID, &number, &err), &err);
    assert_int_equal(files.items[number].place, place[i]);
  }
  bl_files_dispose(&files);
  test_ctx_free(ctx);
}

static bl_status rank_some(bl_ctx *ctx, void *user, bl_error *err) {
  bl_manifest_entry *e = user;
  bl_files files;
  uint32_t number;
  bl_status st = BL_OK;
  bl_files_init(&files, ctx);
  for (int i = 0; st == BL_OK && i < 20; i++) st = bl_files_add(&files, e, BL_BASIS_ROW_ID, &number, err);
  if (st == BL_OK) st = bl_files_rank(&files, 0, err);
  bl_files_dispose(&files);
  return st;
}

static void test_files__say_when_memory_runs_out(void **state) {
  (void)state;
  bl_manifest_entry e = {.file = {.path = BL_STR("/t/a")}};
  test_fail_each(rank_some, &e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fetch__gives_one_row_a_place_in_their_order),
      cmocka_unit_test(test_fetch__a_place_beyond_the_file_is_damage),
      cmocka_unit_test(test_fetch__passes_on_what_the_visitor_says),
      cmocka_unit_test(test_fetch__a_missing_file_is_not_found),
      cmocka_unit_test(test_files__are_ranked_by_path_equal_ones_alike),
      cmocka_unit_test(test_fetch__keeps_nothing_where_the_values_take_too_much),
      cmocka_unit_test(test_fetch__says_when_memory_runs_out),
      cmocka_unit_test(test_files__rank_those_from_a_number_on_among_one_another),
      cmocka_unit_test(test_files__versions_of_one_file_have_one_place),
      cmocka_unit_test(test_files__say_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("fetch", tests, NULL, NULL);
}
