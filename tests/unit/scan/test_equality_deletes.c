/* test_equality_deletes.c: which rows equality deletes take (Iceberg spec, "Equality Delete Files"). */
#include "world.h"

#define FIELD_A "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"long\"}"
#define FIELD_B "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"long\"}"
#define FIELD_V "{\"id\":9,\"name\":\"v\",\"required\":false,\"type\":\"string\"}"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";
static const char pair[] = "[" FIELD_A "," FIELD_B "," FIELD_V "]";

/* The deletes in a commit of their own, later than the data. */
static void then_delete(world *w, bl_data_file *const *data, size_t n_data, bl_data_file *const *deletes, size_t n) {
  maker_entry es[16], ds[16];
  maker_manifest ms[32];
  size_t m = 0;
  for (size_t i = 0; i < n_data; i++) {
    es[i] = maker_added(data[i]);
    ms[m] = maker_data_manifest(&es[i], 1);
    ms[m++].spec_id = data[i]->spec_id;
  }
  const bl_manifest_file *list = maker_commit(w->m, 1, "append", ms, m);
  for (size_t i = 0; i < m; i++) ms[i] = maker_kept(&list[i]);
  for (size_t i = 0; i < n; i++) {
    ds[i] = maker_added(deletes[i]);
    ms[m] = maker_delete_manifest(&ds[i], 1);
    ms[m++].spec_id = deletes[i]->spec_id;
  }
  commit(w, 2, ms, m);
}

static bl_data_file *delete_k(world *w, const char *name, const char *rows) {
  return maker_equality(w->m, name, (int32_t[]){1}, 1, "[" FIELD_K "]", rows);
}

/* B30: a delete under a spec without fields, or with only void fields, reaches all partitions. */
static void test_equality_deletes__of_an_unpartitioned_spec_reach_every_partition(void **state) {
  (void)state;
  static const char *const global[] = {"[]",
                                       "[{\"source-id\":1,\"field-id\":1005,\"name\":\"old\",\"transform\":\"void\"}]"};
  for (size_t i = 0; i < BL_LEN(global); i++) {
    world w = new_world(2, fields);
    maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
    maker_spec(w.m, 1, global[i]);
    bl_data_file *a = maker_data(w.m, "a", NULL, "[[7,\"x\"],[8,\"x\"]]", 0),
                 *b = maker_data(w.m, "b", NULL, "[[7,\"y\"],[9,\"y\"]]", 0), *d = delete_k(&w, "d", "[[7]]");
    maker_partition(w.m, a, 0, "[\"x\"]");
    maker_partition(w.m, b, 0, "[\"y\"]");
    maker_partition(w.m, d, 1, i ? "[null]" : "[]");
    then_delete(&w, (bl_data_file *[]){a, b}, 2, &d, 1);
    expect_k(&w, NULL, 8, 9);
    expect_k(&w, "s = 'x'", 8);
    close_world(&w);
  }
}

static void test_equality_deletes__of_a_partition_stay_in_it(void **state) {
  (void)state;
  world w = new_world(2, fields);
  maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
  bl_data_file *a = maker_data(w.m, "a", NULL, "[[7,\"x\"],[8,\"x\"]]", 0),
               *b = maker_data(w.m, "b", NULL, "[[7,\"y\"],[9,\"y\"]]", 0), *d = delete_k(&w, "d", "[[7],[9]]");
  maker_partition(w.m, a, 0, "[\"x\"]");
  maker_partition(w.m, b, 0, "[\"y\"]");
  maker_partition(w.m, d, 0, "[\"x\"]");
  then_delete(&w, (bl_data_file *[]){a, b}, 2, &d, 1);
  expect_k(&w, NULL, 8, 7, 9);
  close_world(&w);
}

/* B39: strictly lower numbers only, and the spec is part of the key. */
static void test_equality_deletes__leave_rows_of_their_own_commit(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *f = maker_data(w.m, "a", NULL, "[[1,\"\"]]", 0), *d = delete_k(&w, "d", "[[1]]");
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_k(&w, NULL, 1);
  close_world(&w);
}

static void test_equality_deletes__do_not_reach_equal_tuples_of_another_spec(void **state) {
  (void)state;
  world w = new_world(2, pair);
  maker_spec(w.m, 0, "[{\"source-id\":1,\"field-id\":1000,\"name\":\"a\",\"transform\":\"identity\"}]");
  maker_spec(w.m, 1, "[{\"source-id\":2,\"field-id\":1001,\"name\":\"b\",\"transform\":\"identity\"}]");
  bl_data_file *x = maker_data(w.m, "x", NULL, "[[5,1,\"x\"]]", 0), *y = maker_data(w.m, "y", NULL, "[[1,5,\"y\"]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){9}, 1, "[" FIELD_V "]", "[[\"x\"],[\"y\"]]");
  maker_partition(w.m, x, 0, "[5]");
  maker_partition(w.m, y, 1, "[5]");
  maker_partition(w.m, d, 1, "[5]");
  then_delete(&w, (bl_data_file *[]){x, y}, 2, &d, 1);
  expect_rows(&w, "v", NULL, "{\"v\":\"x\"}\n");
  close_world(&w);
}

/* B31: null is a value of its own. */
static void test_equality_deletes__null_takes_null_only(void **state) {
  (void)state;
  for (int null = 0; null < 2; null++) {
    world w = new_world(2, fields);
    bl_data_file *f = maker_data(w.m, "a", NULL, "[[1,\"\"],[null,\"\"],[2,\"\"]]", 0),
                 *d = delete_k(&w, "d", null ? "[[null]]" : "[[1]]");
    then_delete(&w, &f, 1, &d, 1);
    if (null) expect_k(&w, NULL, 1, 2);
    else expect_k(&w, NULL, NULL_K, 2);
    close_world(&w);
  }
}

static void test_equality_deletes__see_null_in_files_without_the_column(void **state) {
  (void)state;
  for (int null = 0; null < 2; null++) {
    world w = new_world(2, fields);
    bl_data_file *f = maker_data(w.m, "a", "[" FIELD_S "]", "[[\"x\"],[\"y\"]]", 0),
                 *d = delete_k(&w, "d", null ? "[[null]]" : "[[1]]");
    then_delete(&w, &f, 1, &d, 1);
    expect_rows(&w, "s", NULL, null ? "" : "{\"s\":\"x\"}\n{\"s\":\"y\"}\n");
    close_world(&w);
  }
}

/* B80: the initial default is what a file without the column holds. */
static void test_equality_deletes__see_the_initial_default(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K
                         ",{\"id\":2,\"name\":\"c\",\"required\":false,\"type\":\"string\",\"initial-default\":\"IN\","
                         "\"write-default\":\"IN\"}]");
  bl_data_file *old = maker_data(w.m, "a", "[" FIELD_K "]", "[[1],[2]]", 0),
               *fresh = maker_data(w.m, "b", NULL, "[[3,\"IN\"],[4,null],[5,\"DE\"]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){2}, 1, "[" FIELD_S "]", "[[\"IN\"]]");
  then_delete(&w, (bl_data_file *[]){old, fresh}, 2, NULL, 0);
  expect_k(&w, "c = 'IN'", 1, 2, 3);
  expect_k(&w, "c is null", 4);
  close_world(&w);
  w = new_world(3, "[" FIELD_K
                   ",{\"id\":2,\"name\":\"c\",\"required\":false,\"type\":\"string\",\"initial-default\":\"IN\","
                   "\"write-default\":\"IN\"}]");
  old = maker_data(w.m, "a", "[" FIELD_K "]", "[[1],[2]]", 0);
  fresh = maker_data(w.m, "b", NULL, "[[3,\"IN\"],[4,null],[5,\"DE\"]]", 0);
  d = maker_equality(w.m, "d", (int32_t[]){2}, 1, "[" FIELD_S "]", "[[\"IN\"]]");
  then_delete(&w, (bl_data_file *[]){old, fresh}, 2, &d, 1);
  expect_k(&w, NULL, 4, 5);
  close_world(&w);
}

/* B32: keys of several columns, null to null in each. */
static void test_equality_deletes__of_several_columns_take_null_for_null(void **state) {
  (void)state;
  world w = new_world(2, pair);
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,null,\"p\"],[1,2,\"q\"],[null,null,\"r\"],[null,2,\"s\"]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){1, 2}, 2, "[" FIELD_A "," FIELD_B "]",
                                   "[[1,null],[null,null]]");
  then_delete(&w, &f, 1, &d, 1);
  expect_rows(&w, "v", NULL, "{\"v\":\"q\"}\n{\"v\":\"s\"}\n");
  close_world(&w);
}

/* B63: what is selected has no say in what is deleted. */
static void test_equality_deletes__do_not_depend_on_the_columns_asked_for(void **state) {
  (void)state;
  world w = new_world(3, pair);
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,10,\"p\"],[2,20,\"q\"],[3,30,\"r\"],[3,31,\"s\"]]", 2),
               *d = maker_equality(w.m, "d", (int32_t[]){2, 1}, 2, "[" FIELD_B "," FIELD_A "]",
                                   "[[20,2],[30,3],[1,10]]");
  then_delete(&w, &f, 1, &d, 1);
  expect_rows(&w, "v", NULL, "{\"v\":\"p\"}\n{\"v\":\"s\"}\n");
  expect_rows(&w, "b,a", NULL, "{\"b\":10,\"a\":1}\n{\"b\":31,\"a\":3}\n");
  expect_rows(&w, "a", "v = 's'", "{\"a\":3}\n");
  expect_rows(&w, "a", "v = 'r'", "");
  expect_rows(&w, "_row_id", NULL, "{\"_row_id\":0}\n{\"_row_id\":3}\n");
  close_world(&w);
}

/* B62: a key column that was dropped since; its name may live on under another id. */
static void test_equality_deletes__of_dropped_columns_still_apply(void **state) {
  (void)state;
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 2, "[" FIELD_A "," FIELD_B "]");
  maker_schema(w.m, 1, "[" FIELD_A "]");
  maker_schema(w.m, 2, "[" FIELD_A ",{\"id\":3,\"name\":\"b\",\"required\":false,\"type\":\"string\"}]");
  bl_data_file *f = maker_data(w.m, "f", "[" FIELD_A "," FIELD_B "]", "[[1,10],[2,20],[3,null]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){1, 2}, 2, "[" FIELD_A "," FIELD_B "]", "[[2,20],[1,11]]");
  bl_data_file *late = maker_data(w.m, "l", NULL, "[[2,\"20\"]]", 0); /* has no column of id 2: null */
  then_delete(&w, (bl_data_file *[]){f, late}, 2, &d, 1);
  expect_rows(&w, NULL, NULL, "{\"a\":1,\"b\":null}\n{\"a\":3,\"b\":null}\n{\"a\":2,\"b\":\"20\"}\n");
  close_world(&w);
}

/* B64: what a delete file may and may not hold. */
static void test_equality_deletes__use_their_ids_only(void **state) {
  (void)state;
  world w = new_world(2, "[" FIELD_A ",{\"id\":2,\"name\":\"b\",\"required\":true,\"type\":\"long\"}]");
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,10],[2,20],[3,30]]", 0),
               *bare = maker_equality(w.m, "d", (int32_t[]){1}, 1, "[" FIELD_A "]", "[[2]]"),
               *more = maker_equality(w.m, "e", (int32_t[]){1}, 1, "[" FIELD_V "," FIELD_B "," FIELD_A "]",
                                      "[[\"x\",99,3]]");
  then_delete(&w, &f, 1, (bl_data_file *[]){bare, more}, 2);
  expect_rows(&w, NULL, NULL, "{\"a\":1,\"b\":10}\n");
  close_world(&w);
}

#define FIELD_STRUCT                                                                                                   \
  "{\"id\":1,\"name\":\"t\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[{\"id\":2,\"name\":\"a\","    \
  "\"required\":false,\"type\":\"long\"},{\"id\":3,\"name\":\"b\",\"required\":false,\"type\":\"long\"}]}}"

static void test_equality_deletes__reach_into_structs(void **state) {
  (void)state;
  world w = new_world(2, "[" FIELD_STRUCT "," FIELD_V "]");
  bl_data_file *f = maker_data(w.m, "f", NULL,
                               "[[[1,1],\"p\"],[[2,1],\"q\"],[null,\"r\"],[[null,5],\"s\"],[[3,3],\"t\"]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){2}, 1, "[" FIELD_STRUCT "]", "[[[2,77]],[null]]");
  then_delete(&w, &f, 1, &d, 1);
  expect_rows(&w, "v", NULL, "{\"v\":\"p\"}\n{\"v\":\"t\"}\n"); /* t.a of a null struct is null */
  close_world(&w);
}

static void test_equality_deletes__without_usable_ids_are_damage(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    world w = new_world(2, fields);
    bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,\"\"]]", 0),
                 *d = maker_equality(w.m, "d.parquet", (int32_t[]){i ? 4711 : 1}, (size_t)i, "[" FIELD_K "]", "[[1]]");
    maker_entry es[] = {maker_added(f)}, ds[] = {maker_added(d)};
    maker_manifest ms[] = {maker_data_manifest(es, 1), maker_delete_manifest(ds, 1)};
    commit(&w, 1, ms, 2);
    expect_status(&w, NULL, BL_DAMAGED, "d.parquet");
    if (i) expect_status(&w, NULL, BL_DAMAGED, "4711");
    close_world(&w);
  }
}

static void test_equality_deletes__inside_lists_are_not_supported(void **state) {
  (void)state;
  world w = new_world(2, "[" FIELD_K ",{\"id\":2,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\","
                         "\"element-id\":3,\"element\":\"long\",\"element-required\":false}}]");
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,[5]]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){3}, 1, "[" FIELD_K "]", "[[1]]");
  then_delete(&w, &f, 1, &d, 1);
  expect_status(&w, NULL, BL_UNSUPPORTED, "3");
  close_world(&w);
}

/* B74: bounds of some columns, or of none, never keep a delete away. */
static void test_equality_deletes__with_few_statistics_are_applied(void **state) {
  (void)state;
  for (int with = 0; with < 8; with++) {
    world w = new_world(2, pair);
    bl_data_file *f = maker_data(w.m, "f", NULL, "[[1,10,\"p\"],[2,null,\"q\"]]", 0),
                 *d = maker_equality(w.m, "d", (int32_t[]){1, 2}, 2, "[" FIELD_A "," FIELD_B "]", "[[2,null]]");
    if (with & 1) maker_metrics(w.m, f, 1, 2, 0, "1", "2");
    if (with & 2) maker_metrics(w.m, d, 1, 1, 0, "2", "2");
    if (with & 4) maker_metrics(w.m, d, 2, 1, BL_NONE, NULL, NULL);
    if (with == 7) maker_metrics(w.m, f, 2, 2, BL_NONE, "10", "10");
    then_delete(&w, &f, 1, &d, 1);
    expect_rows(&w, "v", NULL, "{\"v\":\"p\"}\n");
    close_world(&w);
  }
}

/* C4's equality: NaN is NaN, -0.0 is not 0.0; and a key that was promoted since. */
static void test_equality_deletes__compare_floats_by_bits(void **state) {
  (void)state;
  static const char doubles[] = "[{\"id\":1,\"name\":\"d\",\"required\":false,\"type\":\"double\"}," FIELD_V "]";
  world w = new_world(2, doubles);
  bl_data_file *f = maker_data(w.m, "f", NULL, "[[\"NaN\",\"p\"],[0.0,\"q\"],[\"-0.0\",\"r\"],[1.5,\"s\"]]", 0),
               *d = maker_equality(w.m, "d", (int32_t[]){1}, 1,
                                   "[{\"id\":1,\"name\":\"d\",\"required\":false,\"type\":\"double\"}]",
                                   "[[\"NaN\"],[\"-0.0\"]]");
  then_delete(&w, &f, 1, &d, 1);
  expect_rows(&w, "v", NULL, "{\"v\":\"q\"}\n{\"v\":\"s\"}\n");
  close_world(&w);
}

static void test_equality_deletes__follow_promotions(void **state) {
  (void)state;
  static const char ints[] = "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"int\"}]";
  for (int i = 0; i < 2; i++) { /* the file is older, or the delete */
    world w = new_world(2, "[" FIELD_K "]");
    bl_data_file *f = maker_data(w.m, "f", i ? NULL : ints, "[[1],[-2],[3]]", 0),
                 *d = maker_equality(w.m, "d", (int32_t[]){1}, 1, i ? ints : "[" FIELD_K "]", "[[-2]]");
    then_delete(&w, &f, 1, &d, 1);
    expect_k(&w, NULL, 1, 3);
    close_world(&w);
  }
}

static void test_equality_deletes__of_many_files_and_keys_apply_together(void **state) {
  (void)state;
  world w = new_world(2, pair);
  char rows[4000] = "[", one[40];
  for (int i = 0; i < 100; i++) {
    snprintf(one, sizeof one, "%s[%d,%d,\"%d\"]", i ? "," : "", i, i % 10, i);
    strcat(rows, one);
  }
  strcat(rows, "]");
  bl_data_file *f = maker_data(w.m, "f", NULL, rows, 7), *d[8];
  for (int i = 0; i < 8; i++) {
    char name[10];
    snprintf(name, sizeof name, "d%d", i);
    if (i < 4) snprintf(one, sizeof one, "[[%d],[%d],[%d]]", i, i + 50, i); /* by a */
    else snprintf(one, sizeof one, "[[%d]]", i + 2);                        /* by b: 6, 7, 8, 9 */
    d[i] = maker_equality(w.m, name, (int32_t[]){i < 4 ? 1 : 2}, 1, i < 4 ? "[" FIELD_A "]" : "[" FIELD_B "]", one);
  }
  then_delete(&w, &f, 1, d, 8);
  test_rows r = scan_rows(w.ctx, w.t, NULL, NULL, NULL);
  size_t want = 0;
  for (int i = 0; i < 100; i++) want += !(i < 4 || (i >= 50 && i < 54) || i % 10 >= 6);
  assert_int_equal(r.n, want);
  for (size_t i = 0; i < r.n; i++) {
    int64_t a = test_rows_int(&r, i, "a");
    assert_false(a < 4 || (a >= 50 && a < 54) || a % 10 >= 6);
  }
  test_rows_free(&r);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equality_deletes__of_an_unpartitioned_spec_reach_every_partition),
      cmocka_unit_test(test_equality_deletes__of_a_partition_stay_in_it),
      cmocka_unit_test(test_equality_deletes__leave_rows_of_their_own_commit),
      cmocka_unit_test(test_equality_deletes__do_not_reach_equal_tuples_of_another_spec),
      cmocka_unit_test(test_equality_deletes__null_takes_null_only),
      cmocka_unit_test(test_equality_deletes__see_null_in_files_without_the_column),
      cmocka_unit_test(test_equality_deletes__see_the_initial_default),
      cmocka_unit_test(test_equality_deletes__of_several_columns_take_null_for_null),
      cmocka_unit_test(test_equality_deletes__do_not_depend_on_the_columns_asked_for),
      cmocka_unit_test(test_equality_deletes__of_dropped_columns_still_apply),
      cmocka_unit_test(test_equality_deletes__use_their_ids_only),
      cmocka_unit_test(test_equality_deletes__reach_into_structs),
      cmocka_unit_test(test_equality_deletes__without_usable_ids_are_damage),
      cmocka_unit_test(test_equality_deletes__inside_lists_are_not_supported),
      cmocka_unit_test(test_equality_deletes__with_few_statistics_are_applied),
      cmocka_unit_test(test_equality_deletes__compare_floats_by_bits),
      cmocka_unit_test(test_equality_deletes__follow_promotions),
      cmocka_unit_test(test_equality_deletes__of_many_files_and_keys_apply_together),
  };
  return cmocka_run_group_tests_name("equality_deletes", tests, NULL, NULL);
}
