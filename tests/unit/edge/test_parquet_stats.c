/* test_parquet_stats.c: bounds, counts, page ranges and bloom filters in Iceberg's single-value form. */
#include <math.h>

#include "table_fixture.h"

typedef struct fixture {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  bl_builder *b;
  bl_buf file;
  memory_input in;
  bl_data_reader *r;
  bl_error err;
} fixture;

static void begin(fixture *f, const column *cols, size_t n) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  table_schema(f->ctx, cols, n, &f->schema);
  test_ok(bl_builder_new(f->ctx, &f->schema, &f->b, &f->err), &f->err);
}

static void open_written(fixture *f, const bl_parquet_options *o) {
  struct ArrowArray a;
  bl_sink sink = {buf_write, &f->file};
  bl_arrow_writer *w;
  bl_buf_init(&f->file, f->ctx, BL_BUF_MAX);
  test_ok(bl_builder_finish(f->b, &a, &f->err), &f->err);
  test_ok(bl_arrow_parquet_writer_with(f->ctx, &sink, &f->schema, o, &w, &f->err), &f->err);
  test_ok(bl_arrow_writer_write(w, &a, &f->err), &f->err);
  test_ok(bl_arrow_writer_finish(w, &f->err), &f->err);
  f->in = memory_open(f->file.p, f->file.n);
  test_ok(bl_format_parquet.open(f->ctx, &f->in.in, "mem/file", NULL, &f->r, &f->err), &f->err);
}

static void teardown(fixture *f) {
  if (f->r) f->r->free(f->r);
  bl_builder_free(f->b);
  bl_buf_free(&f->file);
  f->schema.release(&f->schema);
  test_ctx_free(f->ctx);
}

static void close_row(fixture *f) {
  test_ok(bl_builder_close(f->b, &f->err), &f->err);
}

static bl_builder *cell(fixture *f, int64_t i) {
  return bl_builder_child(f->b, i);
}

static bl_data_stats stats_of(fixture *f, int32_t leaf) {
  bl_data_stats s;
  assert_true(f->r->stats(f->r, 0, leaf, &s));
  return s;
}

static void assert_bounds(fixture *f, int32_t leaf, const void *lower, size_t n_lower, const void *upper,
                          size_t n_upper) {
  bl_data_stats s = stats_of(f, leaf);
  assert_non_null(s.lower);
  assert_non_null(s.upper);
  assert_int_equal(s.lower_size, n_lower);
  assert_int_equal(s.upper_size, n_upper);
  assert_memory_equal(s.lower, lower, n_lower);
  assert_memory_equal(s.upper, upper, n_upper);
}

static void assert_no_bounds(fixture *f, int32_t leaf) {
  bl_data_stats s = stats_of(f, leaf);
  assert_null(s.lower);
  assert_null(s.upper);
}

static void add_int(fixture *f, int64_t i, int64_t v) {
  test_ok(bl_builder_int(cell(f, i), v, &f->err), &f->err);
}

static void add_text(fixture *f, int64_t i, const char *v) {
  test_ok(bl_builder_bytes(cell(f, i), v, strlen(v), &f->err), &f->err);
}

static void test_parquet_stats__bounds_of_integers_dates_and_times_are_little_endian(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {C("i", "i", true, 1), C("l", "l", true, 2), C("tdD", "d", true, 3), C("tsu:", "t", true, 4),
                         C("b", "b", true, 5)};
  begin(&f, cols, BL_LEN(cols));
  for (int64_t v = -3; v <= 4; v++) {
    for (int64_t c = 0; c < 4; c++) add_int(&f, c, v * 1000);
    test_ok(bl_builder_bool(cell(&f, 4), v > 0, &f.err), &f.err);
    close_row(&f);
  }
  open_written(&f, NULL);
  assert_bounds(&f, 0, &(int32_t){-3000}, 4, &(int32_t){4000}, 4);
  assert_bounds(&f, 1, &(int64_t){-3000}, 8, &(int64_t){4000}, 8);
  assert_bounds(&f, 2, &(int32_t){-3000}, 4, &(int32_t){4000}, 4);
  assert_bounds(&f, 3, &(int64_t){-3000}, 8, &(int64_t){4000}, 8);
  assert_bounds(&f, 4, "\0", 1, "\1", 1);
  bl_data_stats s = stats_of(&f, 0);
  assert_int_equal(s.values, 8);
  assert_int_equal(s.nulls, 0);
  assert_true(s.compressed_bytes > 0);
  assert_true(s.lower_exact && s.upper_exact);
  teardown(&f);
}

static void test_parquet_stats__decimals_are_big_endian_and_as_short_as_can_be(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {C("d:5,2", "a", true, 1), C("d:18,2", "b", true, 2), C("d:30,2", "c", true, 3)};
  begin(&f, cols, BL_LEN(cols));
  static const int64_t values[] = {-129, 0, 128, 32767};
  for (size_t i = 0; i < BL_LEN(values); i++) {
    for (int64_t c = 0; c < 3; c++) test_ok(bl_builder_decimal(cell(&f, c), values[i], &f.err), &f.err);
    close_row(&f);
  }
  open_written(&f, NULL);
  for (int32_t c = 0; c < 3; c++) assert_bounds(&f, c, "\xff\x7f", 2, "\x7f\xff", 2);
  teardown(&f);
}

static void test_parquet_stats__strings_and_bytes_are_as_they_are(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {C("u", "s", true, 1), C("w:3", "x", true, 2)};
  begin(&f, cols, BL_LEN(cols));
  static const char *const values[] = {"abc", "\xc3\xa9y", "ABC"};
  for (size_t i = 0; i < BL_LEN(values); i++) {
    add_text(&f, 0, values[i]);
    add_text(&f, 1, values[i]);
    close_row(&f);
  }
  open_written(&f, NULL);
  assert_bounds(&f, 0, "ABC", 3, "\xc3\xa9y", 3);
  assert_bounds(&f, 1, "ABC", 3, "\xc3\xa9y", 3);
  teardown(&f);
}

static void test_parquet_stats__nan_is_left_out_and_zeros_are_widened(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {C("g", "d", true, 1), C("f", "nan", true, 2)};
  begin(&f, cols, BL_LEN(cols));
  static const double values[] = {0.0, NAN, -0.0};
  for (size_t i = 0; i < BL_LEN(values); i++) {
    test_ok(bl_builder_double(cell(&f, 0), values[i], &f.err), &f.err);
    test_ok(bl_builder_double(cell(&f, 1), NAN, &f.err), &f.err);
    close_row(&f);
  }
  open_written(&f, NULL);
  assert_bounds(&f, 0, &(double){-0.0}, 8, &(double){0.0}, 8);
  assert_no_bounds(&f, 1);
  teardown(&f);
}

static void test_parquet_stats__nulls_are_counted_also_where_only_nulls_are(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {
      C("l", "some", true, 1), C("u", "all", true, 2), {"z", "geo", true, 3, "geoarrow.wkb", NULL, NULL, 0}};
  begin(&f, cols, BL_LEN(cols));
  for (int i = 0; i < 10; i++) {
    if (i % 2) add_int(&f, 0, i);
    else test_ok(bl_builder_null(cell(&f, 0), &f.err), &f.err);
    test_ok(bl_builder_null(cell(&f, 1), &f.err), &f.err);
    if (i % 5) test_ok(bl_builder_null(cell(&f, 2), &f.err), &f.err);
    else add_text(&f, 2, "x");
    close_row(&f);
  }
  open_written(&f, NULL);
  assert_int_equal(stats_of(&f, 0).nulls, 5);
  assert_int_equal(stats_of(&f, 1).nulls, 10);
  assert_no_bounds(&f, 1);
  assert_int_equal(stats_of(&f, 2).nulls, 8); /* by the histogram of levels */
  assert_no_bounds(&f, 2);
  teardown(&f);
}

static void test_parquet_stats__no_bounds_for_int96_and_legacy_files_still_count(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  size_t n;
  char *path = test_path("tests/fixtures/parquet/int96_days.parquet");
  void *bytes = test_read(path, &n);
  f.in = memory_open(bytes, n);
  test_ok(bl_format_parquet.open(f.ctx, &f.in.in, path, NULL, &f.r, &f.err), &f.err);
  bl_data_stats s = stats_of(&f, 0);
  assert_int_equal(s.values, 4);
  assert_int_equal(s.nulls, 1);
  assert_null(s.lower);
  assert_false(f.r->stats(f.r, 0, 7, &s));
  assert_false(f.r->stats(f.r, 9, 0, &s));
  f.r->free(f.r);
  free(bytes);
  free(path);
  test_ctx_free(f.ctx);
}

static void test_parquet_stats__milliseconds_and_unsigned_become_the_node_kind(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  size_t n;
  char *path = test_path("tests/fixtures/parquet/layouts.parquet");
  void *bytes = test_read(path, &n);
  f.in = memory_open(bytes, n);
  test_ok(bl_format_parquet.open(f.ctx, &f.in.in, path, NULL, &f.r, &f.err), &f.err);
  assert_bounds(&f, 5, &(int32_t){-1}, 4, &(int32_t){2}, 4);
  assert_bounds(&f, 7, &(int64_t){2}, 8, &(int64_t){4294967295}, 8);
  assert_bounds(&f, 8, "\2", 1, "\0\xff\xff\xff\xff\xff\xff\xff\xff", 9);
  assert_bounds(&f, 9, &(int64_t){1000}, 8, &(int64_t){2000}, 8);
  assert_bounds(&f, 10, &(int64_t){-1000}, 8, &(int64_t){2000}, 8);
  f.r->free(f.r);
  free(bytes);
  free(path);
  test_ctx_free(f.ctx);
}

/* ---- pages ---- */

static void setup_pages(fixture *f) {
  const column cols[] = {C("l", "l", true, 1), C("u", "s", true, 2), C("d:9,2", "d", true, 3)};
  begin(f, cols, BL_LEN(cols));
  for (int64_t i = 0; i < 1000; i++) {
    char text[10];
    snprintf(text, sizeof text, "k%04d", (int)i);
    if (i >= 500 && i < 600) { /* a page of nulls */
      for (int64_t c = 0; c < 3; c++) test_ok(bl_builder_null(cell(f, c), &f->err), &f->err);
    } else {
      add_int(f, 0, i);
      add_text(f, 1, text);
      test_ok(bl_builder_decimal(cell(f, 2), i - 500, &f->err), &f->err);
    }
    close_row(f);
  }
  open_written(f, &(bl_parquet_options){.page_rows = 100});
}

static void assert_pages(fixture *f, int32_t leaf, const void *lo, size_t n_lo, const void *hi, size_t n_hi,
                         const bl_row_range *want, size_t n_want) {
  bl_row_range *got;
  size_t n;
  test_ok(f->r->page_ranges(f->r, 0, leaf, lo, n_lo, hi, n_hi, &got, &n, &f->err), &f->err);
  assert_int_equal(n, n_want);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(got[i].begin, want[i].begin);
    assert_int_equal(got[i].end, want[i].end);
  }
  f->r->free_ranges(f->r, got);
}

static void test_parquet_stats__page_ranges_hold_every_row_that_can_match(void **state) {
  (void)state;
  fixture f;
  setup_pages(&f);
  bl_row_range third = {300, 400}, ends = {800, 1000}, both[] = {{0, 500}, {600, 1000}};
  assert_pages(&f, 0, &(int64_t){310}, 8, &(int64_t){320}, 8, &third, 1);
  assert_pages(&f, 0, &(int64_t){850}, 8, NULL, 0, &ends, 1);
  assert_pages(&f, 0, NULL, 0, NULL, 0, both, 2);
  assert_pages(&f, 0, &(int64_t){5000}, 8, NULL, 0, NULL, 0);
  assert_pages(&f, 1, "k0301", 5, "k0302", 5, &third, 1);
  assert_pages(&f, 2, "\xff\x38", 2, "\xff\x39", 2, &third, 1); /* -200, -199 */
  assert_pages(&f, 0, "odd", 3, NULL, 0, both, 2);              /* a bound that is no long keeps all */
  teardown(&f);
}

static void test_parquet_stats__no_page_index_is_said_so(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  size_t n, n_ranges = 0;
  bl_row_range *ranges;
  char *path = test_path("tests/fixtures/parquet/no_index.parquet");
  void *bytes = test_read(path, &n);
  f.in = memory_open(bytes, n);
  test_ok(bl_format_parquet.open(f.ctx, &f.in.in, path, NULL, &f.r, &f.err), &f.err);
  test_ok(f.r->page_ranges(f.r, 0, 1, NULL, 0, NULL, 0, &ranges, &n_ranges, &f.err), &f.err);
  assert_true(n_ranges == SIZE_MAX);
  f.r->free_ranges(f.r, ranges);
  f.r->free(f.r);
  free(bytes);
  free(path);
  test_ctx_free(f.ctx);
}

static void test_parquet_stats__a_bloom_filter_rules_out_what_is_not_there(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  size_t n;
  char *path = test_path("tests/fixtures/parquet/bloom.parquet");
  void *bytes = test_read(path, &n);
  f.in = memory_open(bytes, n);
  test_ok(bl_format_parquet.open(f.ctx, &f.in.in, path, NULL, &f.r, &f.err), &f.err);
  bl_data_reader *r = f.r;
  int absent[6] = {0};
  for (int64_t i = 0; i < 200; i++) { /* the file holds the even ones below 200 */
    char text[10];
    int len = snprintf(text, sizeof text, "k%d", (int)i);
    int32_t i32 = (int32_t)i;
    double d = (double)i;
    uint8_t dec[2] = {(uint8_t)(i >> 8), (uint8_t)i};
    char fx[6];
    snprintf(fx, sizeof fx, "%04d", (int)i);
    bool may[] = {r->bloom(r, 0, 0, &i, 8), r->bloom(r, 0, 1, &i32, 4), r->bloom(r, 0, 2, text, (size_t)len),
                  r->bloom(r, 0, 3, &d, 8), r->bloom(r, 0, 4, dec, 2),  r->bloom(r, 0, 5, fx, 4)};
    for (size_t k = 0; k < BL_LEN(may); k++) {
      if (i % 2 == 0) assert_true(may[k]);
      absent[k] += !may[k];
    }
  }
  for (size_t k = 0; k < BL_LEN(absent); k++) assert_true(absent[k] > 60);
  assert_true(r->bloom(r, 0, 6, "x", 1)); /* no filter */
  r->free(r);
  free(bytes);
  free(path);
  test_ctx_free(f.ctx);
}

static void test_parquet_stats__a_column_of_too_many_values_for_its_dictionary_is_plain(void **state) {
  (void)state;
  static const column cols[] = {C("l", "unique", false, 1), C("l", "few", true, 2), C("l", "late", true, 3)};
  static const int32_t sizes[] = {8000, -1};
  for (size_t k = 0; k < BL_LEN(sizes); k++) {
    fixture f;
    begin(&f, cols, BL_LEN(cols));
    for (int64_t i = 0; i < 20000; i++) {
      add_int(&f, 0, i);
      add_int(&f, 1, i % 10);
      add_int(&f, 2, i < 10000 ? i % 10 : i);
      close_row(&f);
    }
    open_written(&f, &(bl_parquet_options){.dictionary_bytes = sizes[k], .page_rows = 500});
    bool any = sizes[k] > 0; /* else no column has a dictionary, and nothing is known */
    assert_int_equal(stats_of(&f, 0).plain, any);
    assert_false(stats_of(&f, 1).plain);
    assert_false(stats_of(&f, 2).plain);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parquet_stats__bounds_of_integers_dates_and_times_are_little_endian),
      cmocka_unit_test(test_parquet_stats__decimals_are_big_endian_and_as_short_as_can_be),
      cmocka_unit_test(test_parquet_stats__strings_and_bytes_are_as_they_are),
      cmocka_unit_test(test_parquet_stats__nan_is_left_out_and_zeros_are_widened),
      cmocka_unit_test(test_parquet_stats__nulls_are_counted_also_where_only_nulls_are),
      cmocka_unit_test(test_parquet_stats__no_bounds_for_int96_and_legacy_files_still_count),
      cmocka_unit_test(test_parquet_stats__milliseconds_and_unsigned_become_the_node_kind),
      cmocka_unit_test(test_parquet_stats__page_ranges_hold_every_row_that_can_match),
      cmocka_unit_test(test_parquet_stats__no_page_index_is_said_so),
      cmocka_unit_test(test_parquet_stats__a_bloom_filter_rules_out_what_is_not_there),
      cmocka_unit_test(test_parquet_stats__a_column_of_too_many_values_for_its_dictionary_is_plain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
