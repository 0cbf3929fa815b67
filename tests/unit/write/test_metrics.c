/* test_metrics.c: what the manifest says about the columns of written files. */
#include "rows_world.h"

typedef struct metrics_case {
  rows_world w;
  bl_plan *files;
} metrics_case;

static void begin(metrics_case *c, const char *schema, const char *const *properties, size_t n, const char *rows) {
  rows_world_begin(&c->w, &(bl_create_options){.schema = schema, .properties = properties, .n_properties = n});
  rows_world_append(&c->w, rows);
  c->files = rows_world_files(&c->w);
  assert_int_equal(c->files->n_files, 1);
}

static void end(metrics_case *c) {
  bl_plan_free(c->files);
  rows_world_end(&c->w);
}

static const bl_column_metrics *of(const metrics_case *c, const char *column) {
  const bl_field *f = bl_schema_find_name(bl_metadata_current_schema(c->w.t->metadata), bl_str_of(column));
  assert_non_null(f);
  return bl_data_file_metrics(&c->files->files[0].data->file, f->id);
}

static void counts(const metrics_case *c, const char *column, int64_t values, int64_t nulls, int64_t nans) {
  const bl_column_metrics *m = of(c, column);
  assert_non_null(m);
  assert_int_equal(m->values, values);
  assert_int_equal(m->nulls, nulls);
  assert_int_equal(m->nans, nans);
  assert_true(m->size > 0);
}

/* Bounds as text; "-": none. */
static void bounds(const metrics_case *c, const char *column, const char *lower, const char *upper) {
  const bl_field *f = bl_schema_find_name(bl_metadata_current_schema(c->w.t->metadata), bl_str_of(column));
  const bl_column_metrics *m = of(c, column);
  const bl_str bytes[2] = {m->lower, m->upper};
  const char *want[2] = {lower, upper};
  for (int i = 0; i < 2; i++) {
    bl_value v;
    bl_buf b;
    bl_buf_init(&b, c->w.ctx, 4096);
    if (!bytes[i].p) bl_buf_cstr(&b, "-");
    else if (bl_value_from_bytes(&f->type, bytes[i], &v)) bl_value_print(&b, &f->type, &v);
    else bl_buf_cstr(&b, "broken");
    bl_buf_byte(&b, 0);
    assert_string_equal((const char *)b.p, want[i]);
    bl_buf_free(&b);
  }
}

static void test_metrics__every_primitive_has_counts_and_bounds(void **state) {
  (void)state;
  metrics_case c;
  begin(
      &c,
      "b boolean, i int, l long, f float, d double, de decimal(20,2), dt date, t time, ts timestamp, tz timestamptz, "
      "tn timestamp_ns, s string, u uuid, x fixed[2], y binary, g geometry, v variant",
      NULL, 0,
      "{\"b\":true,\"i\":-3,\"l\":5,\"f\":1.5,\"d\":-0.5,\"de\":\"1.50\",\"dt\":\"1969-12-31\",\"t\":\"01:02:03\","
      "\"ts\":\"1969-12-31T23:59:59.999999\",\"tz\":\"2026-01-01T00:00:00Z\",\"tn\":\"2026-01-01T00:00:00.000000001\","
      "\"s\":\"b\",\"u\":\"00000000-0000-0000-0000-000000000002\",\"x\":\"AAE=\",\"y\":\"AQ==\","
      "\"g\":\"AQEAAAAAAAAAAADwPwAAAAAAAABA\",\"v\":{\"a\":1}}\n"
      "{\"b\":false,\"i\":7,\"l\":-5,\"f\":-1.5,\"d\":2.5,\"de\":\"-123456789012345678.25\",\"dt\":\"2026-01-31\","
      "\"t\":\"00:00:00\",\"ts\":\"2026-01-01T00:00:00\",\"tz\":\"1960-01-01T00:00:00Z\","
      "\"tn\":\"1960-01-01T00:00:00\",\"s\":\"a\",\"u\":\"00000000-0000-0000-0000-000000000001\",\"x\":\"/wA=\","
      "\"y\":\"/w==\"}\n"
      "{}\n");
  static const char *const all[] = {"b", "i", "l", "f", "d", "de", "dt", "t", "ts", "tz", "tn", "s", "u", "x", "y"};
  for (size_t i = 0; i < BL_LEN(all); i++) {
    bool real = strcmp(all[i], "f") == 0 || strcmp(all[i], "d") == 0;
    counts(&c, all[i], 3, 1, real ? 0 : BL_NONE);
  }
  counts(&c, "g", 3, 2, BL_NONE);
  counts(&c, "v", 3, 2, BL_NONE);
  bounds(&c, "b", "false", "true");
  bounds(&c, "i", "-3", "7");
  bounds(&c, "l", "-5", "5");
  bounds(&c, "f", "-1.5", "1.5");
  bounds(&c, "d", "-0.5", "2.5");
  bounds(&c, "de", "-123456789012345678.25", "1.50");
  bounds(&c, "dt", "1969-12-31", "2026-01-31");
  bounds(&c, "t", "00:00:00.000000", "01:02:03.000000");
  bounds(&c, "ts", "1969-12-31T23:59:59.999999", "2026-01-01T00:00:00.000000");
  bounds(&c, "tz", "1960-01-01T00:00:00.000000+00:00", "2026-01-01T00:00:00.000000+00:00");
  bounds(&c, "tn", "1960-01-01T00:00:00.000000000", "2026-01-01T00:00:00.000000001");
  bounds(&c, "s", "a", "b");
  bounds(&c, "u", "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002");
  bounds(&c, "x", "AAE=", "/wA=");
  bounds(&c, "y", "AQ==", "/w==");
  bounds(&c, "g", "-", "-");
  bounds(&c, "v", "-", "-");
  end(&c);
}

static void test_metrics__nan_counts_but_bounds_nothing(void **state) {
  (void)state;
  metrics_case c;
  begin(&c, "d double, f float, n double, st struct<x: double>, li list<double>, m map<string, float>", NULL, 0,
        "{\"d\":\"NaN\",\"f\":\"NaN\",\"n\":\"NaN\",\"st\":{\"x\":\"NaN\"},\"li\":[\"NaN\",1,null],\"m\":{\"a\":"
        "\"NaN\"}}\n"
        "{\"d\":1,\"f\":-2,\"n\":\"NaN\",\"st\":null,\"li\":null,\"m\":null}\n"
        "{\"d\":-0.0,\"f\":\"Infinity\",\"n\":null,\"st\":{\"x\":3},\"li\":[\"NaN\",\"NaN\"],\"m\":{\"b\":2,\"c\":"
        "\"NaN\"}}\n");
  counts(&c, "d", 3, 0, 1);
  counts(&c, "f", 3, 0, 1);
  counts(&c, "n", 3, 1, 2);
  counts(&c, "st.x", 3, 1, 1);
  counts(&c, "li.element", 6, 2, 3);
  counts(&c, "m.value", 4, 1, 2);
  bounds(&c, "d", "-0.0", "1.0");
  bounds(&c, "f", "-2.0", "Infinity");
  bounds(&c, "n", "-", "-");
  bounds(&c, "st.x", "3.0", "3.0");
  bounds(&c, "li.element", "-", "-");
  bounds(&c, "m.value", "-", "-");
  end(&c);
}

static void test_metrics__strings_are_cut_on_code_points(void **state) {
  (void)state;
  metrics_case c;
  begin(
      &c, "s string, t string, y binary", NULL, 0,
      "{\"s\":"
      "\"\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc"
      "\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1\xef\xbc\xa1"
      "\xef\xbc\xa1\xef\xbc\xa1\",\"t\":\"\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf"
      "\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf"
      "\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf"
      "\xbf\xf4\x8f\xbf\xbf\",\"y\":\"/////////////////////////w==\"}\n");
  const bl_column_metrics *s = of(&c, "s"), *t = of(&c, "t"), *y = of(&c, "y");
  assert_int_equal(s->lower.n, 48);
  assert_int_equal(s->upper.n, 48);
  assert_memory_equal(s->upper.p + 45, "\xef\xbc\xa2", 3);
  assert_int_equal(t->lower.n, 64);
  assert_null(t->upper.p);
  assert_int_equal(y->lower.n, 16);
  assert_null(y->upper.p);
  end(&c);
}

static void test_metrics__modes_come_from_the_properties(void **state) {
  (void)state;
  static const char *const properties[] = {
      "write.metadata.metrics.default=counts", "write.metadata.metrics.column.a=none",
      "write.metadata.metrics.column.b=truncate(2)", "write.metadata.metrics.column.st.x=full",
      "write.metadata.metrics.column.li.y=none"};
  metrics_case c;
  begin(&c, "a string, b string, c string, d string, st struct<x: string>, li list<struct<y: int>>", properties,
        BL_LEN(properties),
        "{\"a\":\"abcdef\",\"b\":\"abcdef\",\"c\":\"abcdef\",\"d\":\"abcdef\",\"st\":{\"x\":\"a long text that is not "
        "cut\"},\"li\":[{\"y\":1}]}\n");
  assert_int_equal(of(&c, "a")->values, BL_NONE);
  assert_int_equal(of(&c, "a")->nulls, BL_NONE);
  assert_true(of(&c, "a")->size > 0);
  bounds(&c, "a", "-", "-");
  bounds(&c, "b", "ab", "ac");
  counts(&c, "c", 1, 0, BL_NONE);
  bounds(&c, "c", "-", "-");
  bounds(&c, "d", "-", "-");
  bounds(&c, "st.x", "a long text that is not cut", "a long text that is not cut");
  assert_int_equal(of(&c, "li.element.y")->values, BL_NONE); /* by the short name that Java takes */
  end(&c);
}

static void test_metrics__sorted_columns_have_bounds_whatever_the_default(void **state) {
  (void)state;
  static const char *const properties[] = {"write.metadata.metrics.default=none"};
  metrics_case c;
  rows_world_begin(&c.w, &(bl_create_options){.schema = "a int, b int, c int",
                                              .sort = "b desc, bucket(4, c)",
                                              .properties = properties,
                                              .n_properties = 1});
  rows_world_append(&c.w, "{\"a\":1,\"b\":2,\"c\":3}\n");
  c.files = rows_world_files(&c.w);
  bounds(&c, "a", "-", "-");
  bounds(&c, "b", "2", "2");
  bounds(&c, "c", "-", "-");
  end(&c);
}

static void test_metrics__only_the_first_hundred_columns_have_some_where_nothing_is_said(void **state) {
  (void)state;
  static const char *const few[] = {"write.metadata.metrics.max-inferred-column-defaults=3"};
  metrics_case c;
  begin(&c, "st struct<x: int, y: int>, a int, b int", few, 1, "{\"a\":1,\"b\":2,\"st\":{\"x\":3,\"y\":4}}\n");
  bounds(&c, "a", "1", "1"); /* those near the top come first */
  bounds(&c, "b", "2", "2");
  bounds(&c, "st.x", "3", "3");
  bounds(&c, "st.y", "-", "-");
  end(&c);
}

/* A footer leaves out bounds beyond 4096 bytes. */
static void test_metrics__values_too_long_for_a_footer_have_bounds(void **state) {
  (void)state;
  enum { LONG = 6000 };
  char *text = malloc(4 * LONG);
  assert_non_null(text);
  int n = snprintf(text, 4 * LONG, "{\"s\":\"m\",\"t\":\"m\"}\n{\"s\":\"a");
  memset(text + n, 'b', LONG);
  n += LONG;
  n += snprintf(text + n, 100, "\",\"t\":\"k\"}\n{\"s\":\"z");
  memset(text + n, 'y', LONG);
  n += LONG;
  snprintf(text + n, 100, "\",\"t\":null}\n");
  metrics_case c;
  begin(&c, "s string, t string", NULL, 0, text);
  bounds(&c, "s", "abbbbbbbbbbbbbbb", "zyyyyyyyyyyyyyyz");
  bounds(&c, "t", "k", "m");
  end(&c);
  free(text);
}

static void test_metrics__a_column_without_statistics_has_counts_alone(void **state) {
  (void)state;
  static const char *const properties[] = {
      "write.parquet.stats-enabled.column.s=false", "write.parquet.stats-enabled.column.st.x=false",
      "write.parquet.stats-enabled.column.k=true", "write.parquet.stats-enabled.column.gone=false"};
  metrics_case c;
  begin(&c, "k long, s string, st struct<x: int, y: int>", properties, BL_LEN(properties),
        "{\"k\":1,\"s\":\"a\",\"st\":{\"x\":1,\"y\":2}}\n{\"k\":2}\n");
  bounds(&c, "k", "1", "2");
  bounds(&c, "s", "-", "-");
  bounds(&c, "st.x", "-", "-");
  bounds(&c, "st.y", "2", "2");
  counts(&c, "k", 2, 0, BL_NONE);
  counts(&c, "s", 2, 1, BL_NONE); /* nulls are counted by levels */
  end(&c);
}

static void test_metrics__split_offsets_are_those_of_the_row_groups(void **state) {
  (void)state;
  static const char *const properties[] = {"write.parquet.row-group-size-bytes=1"};
  enum { ROWS = 140000 };
  char *text = malloc((size_t)ROWS * 24), *p = text;
  assert_non_null(text);
  for (int i = 0; i < ROWS; i++) p += sprintf(p, "{\"k\":%d}\n", i);
  metrics_case c;
  begin(&c, "k long", properties, 1, text);
  const bl_data_file *f = &c.files->files[0].data->file;
  assert_true(f->n_split_offsets > 10); /* no row group is cut smaller than 64 KiB */
  assert_int_equal(f->split_offsets[0], 4);
  assert_true(f->split_offsets[1] > 4 && f->split_offsets[2] > f->split_offsets[1]);
  bounds(&c, "k", "0", "139999");
  counts(&c, "k", ROWS, 0, BL_NONE);
  end(&c);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metrics__every_primitive_has_counts_and_bounds),
      cmocka_unit_test(test_metrics__nan_counts_but_bounds_nothing),
      cmocka_unit_test(test_metrics__strings_are_cut_on_code_points),
      cmocka_unit_test(test_metrics__modes_come_from_the_properties),
      cmocka_unit_test(test_metrics__sorted_columns_have_bounds_whatever_the_default),
      cmocka_unit_test(test_metrics__only_the_first_hundred_columns_have_some_where_nothing_is_said),
      cmocka_unit_test(test_metrics__values_too_long_for_a_footer_have_bounds),
      cmocka_unit_test(test_metrics__a_column_without_statistics_has_counts_alone),
      cmocka_unit_test(test_metrics__split_offsets_are_those_of_the_row_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
