/* test_schema_reading.c: files of older, newer and foreign schemas read by field id (Iceberg spec, "Column
 * Projection"). */
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

#define LIST(id, element_id, element)                                                                                  \
  "{\"id\":" #id ",\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":" #element_id          \
  ",\"element-required\":false,\"element\":" element "}}"
#define MAP(id, key_id, value_id, value)                                                                               \
  "{\"id\":" #id ",\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":" #key_id                   \
  ",\"key\":\"string\",\"value-id\":" #value_id ",\"value-required\":false,\"value\":" value "}}"
#define STRUCT(...) "{\"type\":\"struct\",\"fields\":[" __VA_ARGS__ "]}"
#define LEAF(id, name, type) "{\"id\":" #id ",\"name\":\"" name "\",\"required\":false,\"type\":\"" type "\"}"

static void one_file(world *w, const char *file_fields, const char *rows) {
  bl_data_file *f = maker_data(w->m, "a.parquet", file_fields, rows, 0);
  commit_files(w, 1, &f, 1, NULL, 0);
}

/* ---- missing columns ---- */

/* B80: the default in projection and filter, also when the column is not selected. */
static void test_schema__a_missing_column_gives_its_initial_default(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K
                         ",{\"id\":2,\"name\":\"c\",\"required\":true,\"type\":\"string\",\"initial-default\":\"IN\"},"
                         "{\"id\":3,\"name\":\"n\",\"required\":false,\"type\":\"int\",\"initial-default\":7}]");
  one_file(&w, "[" FIELD_K "]", "[[1],[2]]");
  expect_rows(&w, NULL, NULL, "{\"k\":1,\"c\":\"IN\",\"n\":7}\n{\"k\":2,\"c\":\"IN\",\"n\":7}\n");
  expect_k(&w, "c = 'IN' and n = 7", 1, 2);
  expect_rows(&w, "k", "c = 'DE' or n is null", "");
  close_world(&w);
}

/* B133: a required column without default. */
static void test_schema__a_missing_required_column_is_damage(void **state) {
  (void)state;
  world w = new_world(2, "[" FIELD_K ",{\"id\":2,\"name\":\"must\",\"required\":true,\"type\":\"string\"}]");
  one_file(&w, "[" FIELD_K "]", "[[1]]");
  expect_status(&w, NULL, BL_DAMAGED, "must");
  expect_status(&w, NULL, BL_DAMAGED, "a.parquet");
  expect_status(&w, &(bl_scan_options){.columns = (const char *[]){"k"}, .n_columns = 1}, BL_OK, NULL);
  close_world(&w);
}

/* The identity partition value comes before the default, and null is a value too. */
static void test_schema__a_missing_column_gives_its_partition_value(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K
                         ",{\"id\":2,\"name\":\"p\",\"required\":false,\"type\":\"double\",\"initial-default\":9.5},"
                         "{\"id\":3,\"name\":\"q\",\"required\":false,\"type\":\"long\",\"initial-default\":9}]");
  maker_spec(w.m, 0,
             "[{\"source-id\":2,\"field-id\":1000,\"name\":\"p\",\"transform\":\"identity\"},"
             "{\"source-id\":3,\"field-id\":1001,\"name\":\"q_bucket\",\"transform\":\"bucket[8]\"}]");
  bl_data_file *a = maker_data(w.m, "a", "[" FIELD_K "]", "[[1]]", 0),
               *b = maker_data(w.m, "b", "[" FIELD_K "]", "[[2]]", 0);
  maker_partition(w.m, a, 0, "[1.25,3]");
  maker_partition(w.m, b, 0, "[null,3]");
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, NULL, 0);
  expect_rows(&w, NULL, NULL, "{\"k\":1,\"p\":1.25,\"q\":9}\n{\"k\":2,\"p\":null,\"q\":9}\n");
  expect_k(&w, "p = 1.25", 1);
  expect_k(&w, "p is null", 2);
  expect_rows(&w, "k", "q = 3", "");
  close_world(&w);
}

/* ---- nested columns ---- */

/* B82: a field in the middle of a struct, a list's element, a map's value. */
static void test_schema__nested_fields_go_by_id(void **state) {
  (void)state;
#define OLD(a, c) STRUCT(LEAF(a, "a", "long") "," LEAF(c, "c", "long"))
#define NEW(a, b, c) STRUCT(LEAF(a, "a", "long") "," LEAF(b, "b", "long") "," LEAF(c, "c2", "long"))
#define T(type) "{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" type "}"
  world w = new_world(
      3, "[" FIELD_K "," T(NEW(11, 12, 13)) "," LIST(20, 21, NEW(22, 23, 24)) "," MAP(30, 31, 32, NEW(33, 34, 35)) "]");
  one_file(&w, "[" FIELD_K "," T(OLD(11, 13)) "," LIST(20, 21, OLD(22, 24)) "," MAP(30, 31, 32, OLD(33, 35)) "]",
           "[[1,[5,6],[[7,8],null],[[\"x\",[9,10]],[\"y\",null]]],[2,null,null,null],[3,[null,1],[],[]]]");
  expect_rows(&w, NULL, NULL,
              "{\"k\":1,\"t\":{\"a\":5,\"b\":null,\"c2\":6},\"l\":[{\"a\":7,\"b\":null,\"c2\":8},null],"
              "\"m\":{\"x\":{\"a\":9,\"b\":null,\"c2\":10},\"y\":null}}\n"
              "{\"k\":2,\"t\":null,\"l\":null,\"m\":null}\n"
              "{\"k\":3,\"t\":{\"a\":null,\"b\":null,\"c2\":1},\"l\":[],\"m\":{}}\n");
  expect_rows(&w, "t.c2", "t.a = 5", "{\"t\":{\"c2\":6}}\n");
  expect_k(&w, "t.b is null", 1, 2, 3);
  close_world(&w);
}

static void test_schema__a_struct_without_any_wanted_field_keeps_its_nulls(void **state) {
  (void)state;
  world w = new_world(
      3, "[" FIELD_K ",{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(LEAF(12, "b", "long")) "}," LIST(
             20, 21, STRUCT(LEAF(22, "b", "long"))) "," MAP(30, 31, 32, STRUCT(LEAF(33, "b", "long"))) "]");
  one_file(&w,
           "[" FIELD_K
           ",{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(LEAF(11, "a", "long")) "}," LIST(
               20, 21, STRUCT(LEAF(29, "a", "long"))) "," MAP(30, 31, 32, STRUCT(LEAF(39, "a", "long"))) "]",
           "[[1,[5],[[7],null],[[\"x\",[9]],[\"y\",null]]],[2,null,null,null]]");
  expect_rows(&w, NULL, NULL,
              "{\"k\":1,\"t\":{\"b\":null},\"l\":[{\"b\":null},null],\"m\":{\"x\":{\"b\":null},\"y\":null}}\n"
              "{\"k\":2,\"t\":null,\"l\":null,\"m\":null}\n");
  close_world(&w);
}

/* The default of a field is not the value of a struct that is null. */
static void test_schema__a_default_inside_a_null_struct_is_null(void **state) {
  (void)state;
  world w = new_world(3, "[" FIELD_K ",{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(
                             LEAF(11, "a", "long") ",{\"id\":12,\"name\":\"b\",\"required\":false,\"type\":\"long\","
                                                   "\"initial-default\":7}") "}]");
  one_file(&w, "[" FIELD_K ",{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(LEAF(11, "a", "long")) "}]",
           "[[1,[5]],[2,null],[3,[null]]]");
  expect_rows(&w, NULL, NULL,
              "{\"k\":1,\"t\":{\"a\":5,\"b\":7}}\n{\"k\":2,\"t\":null}\n{\"k\":3,\"t\":{\"a\":null,\"b\":7}}\n");
  expect_k(&w, "t.b = 7", 1, 3);
  expect_k(&w, "t.b is null", 2);
  expect_k(&w, "t.b != 8", 1, 3);
  close_world(&w);
}

static void test_schema__pruned_structs_come_merged(void **state) {
  (void)state;
  world w = new_world(
      3, "[" FIELD_K ",{\"id\":10,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(LEAF(11, "a", "long") "," LEAF(
             12, "b", "long") ",{\"id\":13,\"name\":\"u\",\"required\":false,"
                              "\"type\":" STRUCT(LEAF(14, "x", "long") "," LEAF(15, "y", "long")) "}") "}]");
  one_file(&w, NULL, "[[1,[2,3,[4,5]]],[2,[null,3,null]]]");
  expect_rows(&w, "t.u.y,k,t.a", NULL,
              "{\"t\":{\"u\":{\"y\":5},\"a\":2},\"k\":1}\n{\"t\":{\"u\":null,\"a\":null},\"k\":2}\n");
  expect_rows(&w, "t.a,t", NULL,
              "{\"t\":{\"a\":2,\"b\":3,\"u\":{\"x\":4,\"y\":5}}}\n{\"t\":{\"a\":null,\"b\":3,\"u\":null}}\n");
  expect_rows(&w, "t,t.u.x", "t.u.x is null", "{\"t\":{\"a\":null,\"b\":3,\"u\":null}}\n");
  close_world(&w);
}

/* ---- promotions ---- */

static void test_schema__promoted_types_are_widened(void **state) {
  (void)state;
  world w =
      new_world(3, "[" LEAF(1, "k", "long") "," LEAF(2, "d", "double") "," LEAF(3, "m", "decimal(20, 2)") "," LEAF(
                       4, "t", "timestamp") "," LEAF(5, "n", "timestamp_ns") "," LIST(6, 7, "\"long\"") "]");
  one_file(&w,
           "[" LEAF(1, "k", "int") "," LEAF(2, "d", "float") "," LEAF(3, "m", "decimal(9, 2)") "," LEAF(
               4, "t", "date") "," LEAF(5, "n", "date") "," LIST(6, 7, "\"int\"") "]",
           "[[-5,1.5,\"12.50\",\"1969-12-31\",\"2026-01-02\",[1,null,-3]],[null,null,null,null,null,null]]");
  expect_rows(&w, NULL, NULL,
              "{\"k\":-5,\"d\":1.5,\"m\":\"12.50\",\"t\":\"1969-12-31T00:00:00.000000\",\"n\":\"2026-01-02T00:00:00."
              "000000000\",\"l\":[1,null,-3]}\n"
              "{\"k\":null,\"d\":null,\"m\":null,\"t\":null,\"n\":null,\"l\":null}\n");
  expect_k(&w, "d > 1.25 and t < timestamp '1970-01-01'", -5);
  close_world(&w);
}

/* A file that is newer than the schema it is read with: what fits is read, anything else is named. */
static void test_schema__files_of_promoted_types_are_read_as_the_older_type_where_values_fit(void **state) {
  (void)state;
  world w = new_world(3, "[" LEAF(1, "k", "int") "," LEAF(2, "d", "float") "," LEAF(3, "m", "decimal(4, 2)") "," LEAF(
                             4, "t", "date") "," LEAF(5, "n", "date") "," LIST(6, 7, "\"int\"") "]");
  one_file(
      &w,
      "[" LEAF(1, "k", "long") "," LEAF(2, "d", "double") "," LEAF(3, "m", "decimal(20, 2)") "," LEAF(
          4, "t", "timestamp") "," LEAF(5, "n", "timestamp_ns") "," LIST(6, 7, "\"long\"") "]",
      "[[-2147483648,-0.5,\"-99.99\",\"1969-12-31T00:00:00.000000\",\"2026-01-02T00:00:00.000000000\",[1,null,-3]],"
      "[2147483647,1.5,\"99.99\",\"2026-01-02T00:00:00.000000\",\"1969-12-31T00:00:00.000000000\",[]],"
      "[null,null,null,null,null,null]]");
  expect_rows(&w, NULL, NULL,
              "{\"k\":-2147483648,\"d\":-0.5,\"m\":\"-99.99\",\"t\":\"1969-12-31\",\"n\":\"2026-01-02\",\"l\":[1,null,"
              "-3]}\n"
              "{\"k\":2147483647,\"d\":1.5,\"m\":\"99.99\",\"t\":\"2026-01-02\",\"n\":\"1969-12-31\",\"l\":[]}\n"
              "{\"k\":null,\"d\":null,\"m\":null,\"t\":null,\"n\":null,\"l\":null}\n");
  expect_k(&w, "k > 5", 2147483647);
  expect_k(&w, "t < date '1970-01-01' and d < 0.0", -2147483648);
  close_world(&w);
}

static void test_schema__a_value_beyond_the_older_type_is_named(void **state) {
  (void)state;
  static const struct {
    const char *type, *file, *value;
  } cases[] = {{"int", "long", "2147483648"},
               {"int", "long", "-2147483649"},
               {"float", "double", "0.1"},
               {"decimal(4, 2)", "decimal(6, 2)", "\"100.00\""},
               {"date", "timestamp", "\"2026-01-01T00:00:00.000001\""},
               {"date", "timestamp_ns", "\"1969-12-31T23:59:59.999999999\""}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    char own[200], file[200], rows[100];
    snprintf(own, sizeof own, "[" LEAF(1, "c", "%s") "," LEAF(2, "k", "long") "]", cases[i].type);
    snprintf(file, sizeof file, "[" LEAF(1, "c", "%s") "," LEAF(2, "k", "long") "]", cases[i].file);
    snprintf(rows, sizeof rows, "[[%s,7]]", cases[i].value);
    world w = new_world(3, own);
    one_file(&w, file, rows);
    expect_status(&w, NULL, BL_UNSUPPORTED, "column c: a value does not fit");
    expect_status(&w, NULL, BL_UNSUPPORTED, cases[i].type);
    expect_rows(&w, "k", NULL, "{\"k\":7}\n");
    close_world(&w);
  }
}

static void test_schema__a_type_that_cannot_be_promoted_is_damage(void **state) {
  (void)state;
  static const char *const types[] = {"string", "double", "boolean", "decimal(10, 3)", "timestamp", "uuid"};
  static const char *const values[] = {"\"x\"",
                                       "1.5",
                                       "true",
                                       "\"1.500\"",
                                       "\"2026-01-01T00:00:00.000000\"",
                                       "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""};
  for (size_t i = 0; i < BL_LEN(types); i++) {
    char file_fields[200], rows[100];
    world w = new_world(3, fields);
    snprintf(file_fields, sizeof file_fields, "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"%s\"}]",
             types[i]);
    snprintf(rows, sizeof rows, "[[%s]]", values[i]);
    one_file(&w, file_fields, rows);
    expect_status(&w, NULL, BL_DAMAGED, "cannot be read as long");
    close_world(&w);
  }
}

static void test_schema__a_date_beyond_all_timestamps_is_damage(void **state) {
  (void)state;
  world w = new_world(3, "[" LEAF(1, "t", "timestamp_ns") "]");
  one_file(&w, "[" LEAF(1, "t", "date") "]", "[[\"9999-12-31\"]]");
  expect_status(&w, NULL, BL_DAMAGED, "range");
  close_world(&w);
}

/* ---- files without ids (B81) ---- */

#define BARE(id, name, type) "{\"id\":9000" #id ",\"name\":\"" name "\",\"required\":false,\"type\":" type "}"
static const char bare[] = "[" BARE(10, "t", STRUCT(BARE(11, "x", "\"long\"") "," BARE(12, "y", "\"long\""))) "," LIST(
    900020, 900021, "\"long\"") "," BARE(13, "n", "\"int\"") "," BARE(14, "_row_id", "\"long\"") "]";
static const char imported[] = "[{\"id\":1,\"name\":\"t\",\"required\":false,\"type\":" STRUCT(
    LEAF(11, "x", "long") "," LEAF(12, "y", "long")) "}," LIST(2, 21, "\"long\"") "," LEAF(3, "n", "int") "]";
static const char bare_rows[] = "[[[1,2],[3],4,99],[null,null,5,98]]";

static void test_schema__a_name_mapping_gives_ids(void **state) {
  (void)state;
  world w = new_world(3, imported);
  maker_property(w.m, "schema.name-mapping.default",
                 "[{\"field-id\":1,\"names\":[\"t\"],\"fields\":[{\"field-id\":12,\"names\":[\"y\",\"old\"]},{\"field-"
                 "id\":11,\"names\":[\"x\"]}]},"
                 "{\"field-id\":2,\"names\":[\"l\"],\"fields\":[{\"field-id\":21,\"names\":[\"element\"]}]},{\"field-"
                 "id\":3,\"names\":[\"n\"]},"
                 "{\"field-id\":2147483540,\"names\":[\"_row_id\"]}]");
  one_file(&w, bare, bare_rows);
  expect_rows(&w, NULL, NULL, "{\"t\":{\"x\":1,\"y\":2},\"l\":[3],\"n\":4}\n{\"t\":null,\"l\":null,\"n\":5}\n");
  expect_rows(&w, "n,t.y", "n = 4", "{\"n\":4,\"t\":{\"y\":2}}\n");
  expect_rows(&w, "_row_id", NULL, "{\"_row_id\":0}\n{\"_row_id\":1}\n"); /* lineage is never matched by name */
  close_world(&w);
}

static void test_schema__without_a_mapping_top_level_columns_go_by_position(void **state) {
  (void)state;
  world w = new_world(3, imported);
  one_file(&w, bare, bare_rows);
  expect_rows(&w, "n,l,_row_id", NULL, "{\"n\":4,\"l\":[3],\"_row_id\":0}\n{\"n\":5,\"l\":null,\"_row_id\":1}\n");
  expect_rows(&w, "n", "n = 5", "{\"n\":5}\n");
  close_world(&w);
}

static void test_schema__a_mapping_that_says_nothing_means_missing(void **state) {
  (void)state;
  world w = new_world(3, imported);
  maker_property(w.m, "schema.name-mapping.default", "[{\"field-id\":3,\"names\":[\"other\"]}]");
  one_file(&w, bare, bare_rows);
  expect_rows(&w, "n", NULL, "{\"n\":null}\n{\"n\":null}\n");
  close_world(&w);
}

static void test_schema__a_mapping_is_not_for_files_with_ids(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_property(w.m, "schema.name-mapping.default",
                 "[{\"field-id\":1,\"names\":[\"z\"]},{\"field-id\":2,\"names\":[\"k\"]}]");
  one_file(&w, NULL, "[[1,\"x\"]]");
  expect_rows(&w, NULL, NULL, "{\"k\":1,\"s\":\"x\"}\n");
  close_world(&w);
}

static void test_schema__a_mapping_that_is_no_json_is_damage(void **state) {
  (void)state;
  world w = new_world(3, fields);
  maker_property(w.m, "schema.name-mapping.default", "[{");
  one_file(&w, NULL, "[[1,\"x\"]]");
  expect_status(&w, NULL, BL_DAMAGED, "schema.name-mapping.default");
  close_world(&w);
}

/* ---- names ---- */

static void test_schema__unknown_columns_are_named(void **state) {
  (void)state;
  world w = new_world(3, fields);
  one_file(&w, NULL, "[[1,\"x\"]]");
  expect_status(&w, &(bl_scan_options){.columns = (const char *[]){"nope"}, .n_columns = 1}, BL_USAGE, "nope");
  expect_status(&w, &(bl_scan_options){.columns = (const char *[]){"K"}, .n_columns = 1}, BL_USAGE, "K");
  expect_status(&w, &(bl_scan_options){.where = "nope = 1"}, BL_USAGE, "nope");
  expect_status(&w, &(bl_scan_options){.where = "k = = 1"}, BL_USAGE, NULL);
  close_world(&w);
}

static void test_schema__a_column_asked_for_twice_comes_once(void **state) {
  (void)state;
  world w = new_world(3, fields);
  one_file(&w, NULL, "[[1,\"x\"]]");
  expect_rows(&w, "s,k,s,_row_id,meta._row_id", NULL, "{\"s\":\"x\",\"k\":1,\"_row_id\":0}\n");
  close_world(&w);
}

static void test_schema__no_columns_at_all_still_count_rows(void **state) {
  (void)state;
  world w = new_world(3, fields);
  one_file(&w, NULL, "[[1,\"x\"],[2,\"y\"],[3,\"z\"]]");
  bl_scan_options o = {.columns = (const char *[]){""}, .n_columns = 0};
  test_rows r = scan_rows(w.ctx, w.t, &o, NULL, NULL);
  assert_int_equal(r.n, 3);
  test_rows_free(&r);
  o.where = "k > 1";
  r = scan_rows(w.ctx, w.t, &o, NULL, NULL);
  assert_int_equal(r.n, 2);
  test_rows_free(&r);
  close_world(&w);
}

/* An old snapshot is read with the schema of its time. */
static void test_schema__a_snapshot_has_its_own(void **state) {
  (void)state;
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 3, "[" FIELD_K "]");
  maker_schema(w.m, 1,
               "[{\"id\":1,\"name\":\"renamed\",\"required\":false,\"type\":\"long\"},{\"id\":3,\"name\":\"p\","
               "\"required\":false,"
               "\"type\":\"double\"}]");
  bl_data_file *f = maker_data(w.m, "a.parquet", "[" FIELD_K "]", "[[1]]", 0);
  commit_files(&w, 1, &f, 1, NULL, 0);
  expect_rows(&w, NULL, NULL, "{\"renamed\":1,\"p\":null}\n");
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schema__a_missing_column_gives_its_initial_default),
      cmocka_unit_test(test_schema__a_missing_required_column_is_damage),
      cmocka_unit_test(test_schema__a_missing_column_gives_its_partition_value),
      cmocka_unit_test(test_schema__nested_fields_go_by_id),
      cmocka_unit_test(test_schema__a_struct_without_any_wanted_field_keeps_its_nulls),
      cmocka_unit_test(test_schema__a_default_inside_a_null_struct_is_null),
      cmocka_unit_test(test_schema__pruned_structs_come_merged),
      cmocka_unit_test(test_schema__promoted_types_are_widened),
      cmocka_unit_test(test_schema__files_of_promoted_types_are_read_as_the_older_type_where_values_fit),
      cmocka_unit_test(test_schema__a_value_beyond_the_older_type_is_named),
      cmocka_unit_test(test_schema__a_type_that_cannot_be_promoted_is_damage),
      cmocka_unit_test(test_schema__a_date_beyond_all_timestamps_is_damage),
      cmocka_unit_test(test_schema__a_name_mapping_gives_ids),
      cmocka_unit_test(test_schema__without_a_mapping_top_level_columns_go_by_position),
      cmocka_unit_test(test_schema__a_mapping_that_says_nothing_means_missing),
      cmocka_unit_test(test_schema__a_mapping_is_not_for_files_with_ids),
      cmocka_unit_test(test_schema__a_mapping_that_is_no_json_is_damage),
      cmocka_unit_test(test_schema__unknown_columns_are_named),
      cmocka_unit_test(test_schema__a_column_asked_for_twice_comes_once),
      cmocka_unit_test(test_schema__no_columns_at_all_still_count_rows),
      cmocka_unit_test(test_schema__a_snapshot_has_its_own),
  };
  return cmocka_run_group_tests_name("schema_reading", tests, NULL, NULL);
}
