/* test_groups.c: what statistics, bloom filters and the column index leave of a file for a filter. */
#include "scan/columns.h"
#include "scan/open_file.h"
#include "world.h"

/* An open file of a table, and a filter bound to its columns. */
typedef struct opened {
  world *w;
  bl_arena *arena;
  bl_reading reading;
  bl_open_file *file;
  bl_manifest_entry entry;
  int64_t first_row_id;
} opened;

static opened open_file(world *w, const bl_data_file *f, int64_t first_row_id) {
  return (opened){.w = w,
                  .arena = maker_arena(w->m),
                  .entry = {.status = BL_ADDED, .sequence_number = 5, .file_sequence_number = 5, .file = *f},
                  .first_row_id = first_row_id};
}

/* The file points into the struct: it may not move any more. */
static void open_now(opened *o) {
  bl_error err = BL_ERROR_INIT;
  o->entry.file.first_row_id = o->first_row_id;
  test_ok(bl_reading_init(&o->reading, o->w->t, &err), &err);
  test_ok(bl_open_file_new(&o->reading, &o->entry, &o->file, &err), &err);
}

static void close_file(opened *o) {
  bl_open_file_free(o->file);
  bl_reading_dispose(&o->reading);
}

typedef struct asked {
  bl_expr *filter;
  bl_columns *columns;
  bl_projection *projection;
} asked;

static asked ask(opened *o, const char *where) {
  bl_error err = BL_ERROR_INIT;
  const bl_metadata *md = o->w->t->metadata;
  const bl_schema *schema = bl_metadata_current_schema(md);
  asked a = {.columns = bl_arena_calloc(o->arena, 1, sizeof *a.columns)};
  int32_t ids[16];
  bl_str text = bl_arena_str(o->arena, bl_str_of(where));
  assert_non_null(a.columns);
  test_ok(bl_expr_parse(o->arena, text, &a.filter, &err), &err);
  test_ok(bl_expr_bind(o->arena, a.filter, schema, bl_meta_schema(), &a.filter, &err), &err);
  bl_columns_init(a.columns, o->arena, md, schema);
  size_t n = bl_expr_fields(a.filter, ids, 16);
  for (size_t i = 0; i < n; i++) test_ok(bl_columns_add_id(a.columns, ids[i], &err), &err);
  test_ok(bl_open_file_project(o->file, &a.columns->wanted, &a.projection, &err), &err);
  return a;
}

static bool may(opened *o, const char *where, size_t group) {
  asked a = ask(o, where);
  bool may = bl_open_file_may_match(o->file, a.projection, a.filter, group);
  bl_projection_free(a.projection);
  return may;
}

/* The ranges as text: "[0,5)[10,15)", "all". */
static const char *pages(opened *o, const char *where, size_t group) {
  bl_error err = BL_ERROR_INIT;
  asked a = ask(o, where);
  bl_row_range *r = NULL;
  size_t n;
  bl_buf b;
  bl_buf_init(&b, o->w->ctx, 10000);
  test_ok(bl_open_file_pages(o->file, a.projection, a.filter, group, &r, &n, &err), &err);
  if (n == SIZE_MAX) bl_buf_cstr(&b, "all");
  for (size_t i = 0; n != SIZE_MAX && i < n; i++)
    bl_buf_printf(&b, "[%lld,%lld)", (long long)r[i].begin, (long long)r[i].end);
  bl_str s = bl_arena_str(o->arena, (bl_str){b.p ? (const char *)b.p : "", b.n});
  bl_buf_free(&b);
  bl_free(o->w->ctx, r);
  bl_projection_free(a.projection);
  return s.p;
}

/* ---- bloom filters ---- */

#define COLUMN(id, name, type) "{\"id\":" #id ",\"name\":\"" name "\",\"required\":false,\"type\":\"" type "\"}"

/* Columns of the file by position, the second one promoted since. The file holds the even numbers below 200. */
static world bloom_world(bl_data_file **f) {
  size_t n;
  world w = new_world(
      3, "[" COLUMN(1, "l", "long") "," COLUMN(2, "i", "long") "," COLUMN(3, "s", "string") "," COLUMN(
             4, "d", "double") "," COLUMN(5, "dec", "decimal(9, 0)") "," COLUMN(6, "fx",
                                                                                "fixed[4]") "," COLUMN(7, "none",
                                                                                                       "string") "]");
  char *path = test_path("tests/fixtures/parquet/bloom.parquet");
  void *bytes = test_read(path, &n);
  *f = maker_foreign(w.m, "bloom.parquet", bytes, n, 100);
  commit_files(&w, 1, f, 1, NULL, 0);
  free(bytes);
  free(path);
  return w;
}

static void test_groups__bloom_filters_rule_values_out(void **state) {
  (void)state;
  bl_data_file *f;
  world w = bloom_world(&f);
  opened o = open_file(&w, f, 1000);
  open_now(&o);
  static const char *const forms[][2] = {{"l = ", ""},
                                         {"i = ", ""},
                                         {"s = 'k", "'"},
                                         {"dec = ", ""},
                                         {"fx = x'", "'"},
                                         {"l in (1001, ", ")"},
                                         {"s is not null and l = ", ""},
                                         {"i = 100001 or l = ", ""},
                                         {"none = 'x' and l = ", ""}};
  int absent[BL_LEN(forms)] = {0};
  for (int i = 0; i < 200; i++)
    for (size_t k = 0; k < BL_LEN(forms); k++) {
      char text[100], hex[9], digits[5];
      snprintf(digits, sizeof digits, "%04d", i);
      for (int c = 0; c < 4; c++) snprintf(hex + 2 * c, 3, "%02x", (unsigned char)digits[c]);
      if (k != 4) snprintf(hex, sizeof hex, "%d", i);
      snprintf(text, sizeof text, "%s%s%s", forms[k][0], hex, forms[k][1]);
      bool m = may(&o, text, 0);
      if (i % 2 == 0 && !m) fail_msg("%s: is there", text);
      absent[k] += !m;
    }
  for (size_t k = 0; k < BL_LEN(forms); k++)
    if (absent[k] < 60) fail_msg("%s: %d of 100 were ruled out", forms[k][0], absent[k]);
  close_file(&o);
  close_world(&w);
}

static void test_groups__bloom_filters_have_no_say_elsewhere(void **state) {
  (void)state;
  bl_data_file *f;
  world w = bloom_world(&f);
  opened o = open_file(&w, f, 1000);
  open_now(&o);
  static const char *const texts[] = {"l != 7",     "l > 6 and l < 8",          "l = 7 or s is not null",
                                      "d = 7",      "none = 'z' or none = 'x'", "not (l = 8)",
                                      "l in (7, 8)"};
  for (size_t i = 0; i < BL_LEN(texts); i++)
    if (!may(&o, texts[i], 0)) fail_msg("%s", texts[i]);
  assert_false(may(&o, "i = 3000000000", 0)); /* no int holds it */
  close_file(&o);
  expect_rows(&w, "l", "l in (7, 8)", "{\"l\":8}\n");
  expect_rows(&w, "l,_row_id", "i = 8 and s = 'k8'", "{\"l\":8,\"_row_id\":4}\n");
  expect_rows(&w, "l", "d = 0", "{\"l\":0}\n");
  close_world(&w);
}

/* ---- pages ---- */

static void test_groups__the_column_index_leaves_pages(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K "," FIELD_S "]");
  maker_page_rows(w.m, 5);
  bl_data_file *f = numbered_file(w.m, "a", 0, 40, 20); /* two groups of 4 pages */
  commit_files(&w, 1, &f, 1, NULL, 0);
  opened o = open_file(&w, f, 0);
  open_now(&o);
  assert_string_equal(pages(&o, "k = 7", 0), "[5,10)");
  assert_string_equal(pages(&o, "k >= 7", 0), "[5,20)");
  assert_string_equal(pages(&o, "k <= 4", 0), "[0,5)");
  assert_string_equal(pages(&o, "k in (3, 16)", 0), "[0,20)");
  assert_string_equal(pages(&o, "k in (3, 6)", 0), "[0,10)");
  assert_string_equal(pages(&o, "k > 7 and k < 12", 0), "[5,15)");
  assert_string_equal(pages(&o, "k > 7 and s = 'r8'", 1), "");
  assert_string_equal(pages(&o, "k = 27", 1), "[5,10)");
  assert_string_equal(pages(&o, "k = 7 or k = 8", 0), "all");
  assert_string_equal(pages(&o, "k != 7", 0), "all");
  assert_string_equal(pages(&o, "k = 7 or s is null", 0), "all");
  assert_string_equal(pages(&o, "_row_id = 7", 0), "all");
  close_file(&o);
  expect_k(&w, "k in (3, 16, 22, 39)", 3, 16, 22, 39);
  expect_k(&w, "k > 8 and s < 'r12'", 10, 11);
  expect_column(w.ctx, w.t, "k > 18 and k < 22", "_row_id", (int64_t[]){19, 20, 21}, 3);
  close_world(&w);
}

static void test_groups__deletes_and_pages_go_together(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K "," FIELD_S "]");
  maker_page_rows(w.m, 5);
  bl_data_file *f = numbered_file(w.m, "a", 0, 40, 20), *d = maker_vector(w.m, "d", "a", (int64_t[]){7, 23}, 2);
  bl_data_file *e = maker_equality(w.m, "e", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[8],[30]]");
  commit_files(&w, 1, &f, 1, &d, 1);
  maker_entry es[] = {maker_existing(f, 1, 0)}, ds[] = {maker_existing(d, 1, BL_NONE), maker_added(e)};
  maker_manifest ms[] = {maker_data_manifest(es, 1), maker_delete_manifest(ds, 2)};
  commit(&w, 2, ms, 2);
  expect_k(&w, "k between 6 and 10", 6, 9, 10);
  expect_k(&w, "k in (7, 8, 23, 30, 31)", 31);
  close_world(&w);
}

/* ---- lineage ---- */

static void test_groups__row_ids_are_ranges(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K "," FIELD_S "]");
  bl_data_file *f = numbered_file(w.m, "a", 0, 40, 20);
  commit_files(&w, 1, &f, 1, NULL, 0);
  opened o = open_file(&w, f, 1000);
  open_now(&o);
  for (size_t g = 0; g < 2; g++) {
    assert_int_equal(may(&o, "_row_id = 1019", g), g == 0);
    assert_int_equal(may(&o, "_row_id = 1020", g), g == 1);
    assert_int_equal(may(&o, "_row_id in (5, 1021)", g), g == 1);
    assert_int_equal(may(&o, "_pos < 20", g), g == 0);
    assert_false(may(&o, "_row_id > 1039 or _pos > 39", g));
    assert_true(may(&o, "_last_updated_sequence_number = 5", g));
    assert_false(may(&o, "_last_updated_sequence_number != 5", g));
    assert_false(may(&o, "_row_id is null", g));
    assert_false(may(&o, "_file = 'b'", g));
  }
  close_file(&o);
  o = open_file(&w, f, BL_NONE);
  open_now(&o);
  assert_false(may(&o, "_row_id is not null", 0));
  assert_false(may(&o, "_last_updated_sequence_number = 5", 0));
  assert_true(may(&o, "_row_id is null", 0));
  close_file(&o);
  close_world(&w);
}

static void test_groups__stored_row_ids_widen_the_ranges(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K "," FIELD_S "]");
  bl_data_file *f = maker_data(
      w.m, "a", "[" FIELD_K "," FIELD_S "," FIELD_ROW_ID "," FIELD_SEQ "]",
      "[[0,\"\",7,2],[1,\"\",8,3],[2,\"\",null,null],[3,\"\",500,4],[4,\"\",null,null],[5,\"\",null,null]]", 2);
  commit_files(&w, 1, &f, 1, NULL, 0);
  opened o = open_file(&w, f, 1000);
  open_now(&o);
  static const struct {
    const char *where;
    bool may[3];
  } cases[] = {{"_row_id = 7", {true, false, false}},
               {"_row_id < 500", {true, false, false}},
               {"_row_id = 1002", {false, true, false}}, /* stored values and inherited ones */
               {"_row_id = 600", {false, true, false}},
               {"_row_id > 1003", {false, false, true}},
               {"_last_updated_sequence_number = 5", {false, true, true}},
               {"_last_updated_sequence_number < 4", {true, false, false}}};
  for (size_t i = 0; i < BL_LEN(cases); i++)
    for (size_t g = 0; g < 3; g++)
      if (may(&o, cases[i].where, g) != cases[i].may[g]) fail_msg("%s: group %zu", cases[i].where, g);
  close_file(&o);
  close_world(&w);
}

/* ---- ranges ---- */

static void test_groups__ranges_of_kept_rows(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  uint64_t seed = 1;
  for (int round = 0; round < 500; round++) {
    uint8_t keep[70], back[70] = {0};
    int64_t n = round % 70;
    memset(keep, 0, sizeof keep);
    for (int64_t i = 0; i < n; i++) keep[i] = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60 > 6;
    bl_row_range *r;
    size_t k;
    test_ok(bl_ranges_of(ctx, keep, n, &r, &k, &err), &err);
    for (size_t i = 0; i < k; i++) {
      assert_true(r[i].begin < r[i].end && (i == 0 || r[i - 1].end < r[i].begin));
      memset(back + r[i].begin, 1, (size_t)(r[i].end - r[i].begin));
    }
    assert_memory_equal(keep, back, sizeof keep);
    bl_free(ctx, r);
  }
  test_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups__bloom_filters_rule_values_out),
      cmocka_unit_test(test_groups__bloom_filters_have_no_say_elsewhere),
      cmocka_unit_test(test_groups__the_column_index_leaves_pages),
      cmocka_unit_test(test_groups__deletes_and_pages_go_together),
      cmocka_unit_test(test_groups__row_ids_are_ranges),
      cmocka_unit_test(test_groups__stored_row_ids_widen_the_ranges),
      cmocka_unit_test(test_groups__ranges_of_kept_rows),
  };
  return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
