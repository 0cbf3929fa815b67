/* test_orc.c: ORC files: Iceberg's attributes, canonical layouts, stripes as groups, damage. */
#include "table_fixture.h"

typedef struct fixture {
  bl_ctx *ctx;
  void *bytes;
  memory_input in;
  bl_data_reader *r;
  bl_error err;
} fixture;

static void setup(fixture *f, const char *name) {
  char path[200];
  size_t n;
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f->err), &f->err);
  snprintf(path, sizeof path, "tests/fixtures/orc/%s", name);
  char *full = test_path(path);
  f->bytes = test_read(full, &n);
  free(full);
  f->in = memory_open(f->bytes, n);
  test_ok(bl_format_orc.open(f->ctx, &f->in.in, name, NULL, &f->r, &f->err), &f->err);
}

static void teardown(fixture *f) {
  if (f->r) f->r->free(f->r);
  free(f->bytes);
  test_ctx_free(f->ctx);
}

static rows_read read_rows(fixture *f, size_t group, const int32_t *leaves, size_t n, const bl_row_range *ranges,
                           size_t n_ranges, int64_t batch_rows) {
  struct ArrowArrayStream s;
  rows_read out;
  test_ok(f->r->read(f->r, group, leaves, n, ranges, n_ranges, batch_rows, &s, &f->err), &f->err);
  test_ok(rows_collect(f->ctx, &s, &out, &f->err), &f->err);
  return out;
}

static size_t all_leaves(const bl_data_meta *m, int32_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf >= 0) out[n++] = m->nodes[i].leaf;
  return n;
}

static void test_orc__attributes_give_ids_and_types(void **state) {
  (void)state;
  fixture f;
  setup(&f, "types.orc");
  static const struct {
    const char *name;
    int kind, hint, length, id;
  } want[] = {{"time", BL_D_TIME_US, 0, 0, 1},
              {"uuid", BL_D_FIXED, BL_H_UUID, 16, 2},
              {"fixed", BL_D_FIXED, 0, 3, 3},
              {"bin", BL_D_BINARY, 0, 0, 4},
              {"ts", BL_D_TIMESTAMP_US, 0, 0, 5},
              {"tsz", BL_D_TIMESTAMP_US, 0, 0, 6},
              {"tn", BL_D_TIMESTAMP_NS, 0, 0, 7},
              {"i8", BL_D_INT32, 0, 0, 8},
              {"b", BL_D_BOOL, 0, 0, 9},
              {"d", BL_D_DECIMAL, 0, 0, 10},
              {"dt", BL_D_DATE32, 0, 0, 11},
              {"m", BL_D_MAP, 0, 0, 12},
              {"key", BL_D_STRING, 0, 0, 13},
              {"value", BL_D_INT32, 0, 0, 14},
              {"v", BL_D_STRUCT, BL_H_VARIANT, 0, 15}};
  assert_true(f.r->meta->has_field_ids);
  for (size_t i = 0; i < BL_LEN(want); i++) {
    const bl_data_node *n = &f.r->meta->nodes[i + 1];
    assert_string_equal(n->name, want[i].name);
    assert_int_equal(n->kind, want[i].kind);
    assert_int_equal(n->hint, want[i].hint);
    assert_int_equal(n->length, want[i].length);
    assert_int_equal(n->field_id, want[i].id);
  }
  assert_true(f.r->meta->nodes[6].utc);
  assert_false(f.r->meta->nodes[5].utc);
  assert_int_equal(f.r->meta->nodes[16].field_id, -1); /* metadata of the variant */
  teardown(&f);
}

static void test_orc__values_come_in_canonical_layouts(void **state) {
  (void)state;
  fixture f;
  setup(&f, "types.orc");
  int32_t leaves[30];
  size_t n = all_leaves(f.r->meta, leaves);
  rows_read r = read_rows(&f, 0, leaves, n, NULL, 0, 100);
  static const char *const formats[] = {
      "ttu", "w:16", "w:3", "z", "tsu:", "tsu:UTC", "tsn:", "i", "b", "d:20,2", "tdD", "+m", "+s", "z"};
  for (size_t i = 0; i < BL_LEN(formats); i++) assert_string_equal(r.schema.children[i]->format, formats[i]);
  bl_view *v = view_rows(f.ctx, &r);
  for (size_t i = 0; i < v->n_children; i++) assert_true(bl_view_null(&v->children[i], 1));
  assert_int_equal(bl_view_i64(&v->children[0], 0), 1);
  assert_true(bl_str_is(bl_view_bytes(&v->children[1], 0), "0123456789abcdef"));
  assert_true(bl_str_is(bl_view_bytes(&v->children[2], 0), "abc"));
  assert_int_equal(bl_view_i64(&v->children[4], 0), -1);            /* -1 ns is cut down, not to zero */
  assert_true(bl_view_i64(&v->children[5], 0) == 1000000000000001); /* …1999 ns */
  assert_int_equal(bl_view_i64(&v->children[6], 0), -1);
  assert_int_equal(bl_view_i32(&v->children[7], 0), -5);
  assert_true(bl_view_decimal(&v->children[9], 0) == -1234500);
  int64_t begin, end;
  bl_view_range(&v->children[11], 0, &begin, &end);
  assert_int_equal(end - begin, 2);
  assert_true(bl_str_is(bl_view_bytes(&v->children[11].children[0], 1), "l"));
  bl_view_free(v);
  rows_free(&r);
  teardown(&f);
}

static void test_orc__stripes_are_groups_with_physical_positions(void **state) {
  (void)state;
  fixture f;
  setup(&f, "stripes.orc");
  assert_int_equal(f.r->meta->n_groups, 2);
  assert_int_equal(f.r->meta->rows, 30000);
  assert_true(f.r->meta->nodes[1].required);
  for (size_t g = 0; g < 2; g++) {
    const bl_data_group *group = &f.r->meta->groups[g];
    rows_read r = read_rows(&f, g, (int32_t[]){0}, 1, NULL, 0, 4096);
    assert_int_equal(r.all.length, group->rows);
    bl_view *v = view_rows(f.ctx, &r);
    for (int64_t i = 0; i < group->rows; i += 17)
      assert_int_equal(bl_view_i64(&v->children[0], i), group->first_row + i);
    bl_view_free(v);
    rows_free(&r);
  }
  teardown(&f);
}

static void test_orc__ranges_and_leaves_agree_with_the_whole(void **state) {
  (void)state;
  fixture f;
  setup(&f, "stripes.orc");
  int32_t leaves[10];
  size_t n = all_leaves(f.r->meta, leaves);
  rows_read whole = read_rows(&f, 1, leaves, n, NULL, 0, 1 << 16);
  bl_view *w = view_rows(f.ctx, &whole);
  rng r = {9};
  for (int k = 0; k < 12; k++) {
    bl_row_range ranges[50];
    int32_t chosen[10];
    size_t n_ranges = 0, n_chosen = 0;
    for (int64_t at = rng_below(&r, 3000); at < 9500 && n_ranges < 50; at += 1 + rng_below(&r, 900)) {
      int64_t end = at + 1 + rng_below(&r, 400);
      ranges[n_ranges++] = (bl_row_range){at, end};
      at = end;
    }
    for (size_t i = 0; i < n; i++)
      if (rng_below(&r, 2)) chosen[n_chosen++] = leaves[i];
    rows_read part = read_rows(&f, 1, chosen, n_chosen, ranges, n_ranges, 1 + rng_below(&r, 700));
    bl_view *p = view_rows(f.ctx, &part);
    int64_t at = 0;
    for (size_t i = 0; i < n_ranges; i++)
      for (int64_t row = ranges[i].begin; row < ranges[i].end; row++) assert_same(p, at++, w, row);
    assert_int_equal(at, part.all.length);
    bl_view_free(p);
    rows_free(&part);
  }
  bl_view_free(w);
  rows_free(&whole);
  teardown(&f);
}

static void test_orc__no_leaves_give_lengths(void **state) {
  (void)state;
  fixture f;
  setup(&f, "stripes.orc");
  int64_t reads = f.in.reads;
  rows_read r = read_rows(&f, 0, NULL, 0, NULL, 0, 7000);
  assert_int_equal(r.all.length, f.r->meta->groups[0].rows);
  assert_int_equal(f.in.reads, reads);
  rows_free(&r);
  teardown(&f);
}

static void test_orc__statistics_tell_only_the_number_of_values(void **state) {
  (void)state;
  fixture f;
  bl_data_stats s;
  setup(&f, "stripes.orc");
  assert_true(f.r->stats(f.r, 1, 0, &s));
  assert_int_equal(s.values, f.r->meta->groups[1].rows);
  assert_null(s.lower);
  assert_false(f.r->stats(f.r, 7, 0, &s));
  teardown(&f);
}

static bl_status read_first(fixture *f, const void *p, size_t n, int64_t fail_at, bl_error *err) {
  memory_input in = memory_open(p, n);
  bl_data_reader *r;
  in.fail_at = fail_at;
  bl_status st = bl_format_orc.open(f->ctx, &in.in, "mem/file.orc", NULL, &r, err);
  if (st != BL_OK) return st;
  struct ArrowArrayStream s;
  rows_read rows = {0};
  st = BL_OK;
  if (r->meta->n_groups) {
    st = r->read(r, 0, (int32_t[]){0}, 1, NULL, 0, 1000, &s, err);
    if (st == BL_OK) st = rows_collect(f->ctx, &s, &rows, err);
  }
  rows_free(&rows);
  r->free(r);
  return st;
}

static void test_orc__a_file_cut_short_is_damaged(void **state) {
  (void)state;
  fixture f;
  setup(&f, "types.orc");
  size_t n = (size_t)f.in.in.size;
  for (size_t i = 0; i < n; i += 1 + i / 10) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_DAMAGED, read_first(&f, f.bytes, i, 0, &err), &err);
    test_says(&err, "mem/file.orc");
  }
  teardown(&f);
}

static void test_orc__an_error_of_the_input_comes_out_as_it_is(void **state) {
  (void)state;
  fixture f;
  setup(&f, "stripes.orc");
  int64_t failed = 0;
  for (int64_t k = 1; k < 10; k++) {
    bl_error err = BL_ERROR_INIT;
    bl_status st = read_first(&f, f.bytes, (size_t)f.in.in.size, k, &err);
    if (st == BL_OK) break;
    failed++;
    test_status(BL_IO, st, &err);
    assert_string_equal(err.message, "cannot read: mem/file: the disk is on fire");
  }
  assert_true(failed >= 3);
  teardown(&f);
}

static void test_orc__a_fixed_value_of_another_length_is_damaged(void **state) {
  (void)state;
  fixture f;
  setup(&f, "bad_length.orc");
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, read_first(&f, f.bytes, (size_t)f.in.in.size, 0, &err), &err);
  test_says(&err, "4 bytes where 3 belong");
  teardown(&f);
}

static void test_orc__a_time_beyond_nanoseconds_is_unsupported(void **state) {
  (void)state;
  fixture f;
  setup(&f, "far_time.orc");
  bl_error err = BL_ERROR_INIT;
  test_status(BL_UNSUPPORTED, read_first(&f, f.bytes, (size_t)f.in.in.size, 0, &err), &err);
  teardown(&f);
}

/* Arrow ends the process at such a type. */
static void test_orc__a_decimal_of_too_many_digits_is_damaged(void **state) {
  (void)state;
  static const uint8_t precision_and_scale[] = {0x28, 20, 0x30, 2};
  fixture f;
  setup(&f, "types.orc");
  size_t n = (size_t)f.in.in.size;
  uint8_t *at = memmem(f.bytes, n, precision_and_scale, sizeof precision_and_scale);
  assert_non_null(at);
  for (int digits = 38; digits <= 84; digits += 46) {
    bl_error err = BL_ERROR_INIT;
    at[1] = (uint8_t)digits;
    test_status(digits > 38 ? BL_DAMAGED : BL_OK, read_first(&f, f.bytes, n, 0, &err), &err);
    if (digits > 38) test_says(&err, "mem/file.orc: a decimal of 84 digits");
  }
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orc__attributes_give_ids_and_types),
      cmocka_unit_test(test_orc__values_come_in_canonical_layouts),
      cmocka_unit_test(test_orc__stripes_are_groups_with_physical_positions),
      cmocka_unit_test(test_orc__ranges_and_leaves_agree_with_the_whole),
      cmocka_unit_test(test_orc__no_leaves_give_lengths),
      cmocka_unit_test(test_orc__statistics_tell_only_the_number_of_values),
      cmocka_unit_test(test_orc__a_file_cut_short_is_damaged),
      cmocka_unit_test(test_orc__an_error_of_the_input_comes_out_as_it_is),
      cmocka_unit_test(test_orc__a_fixed_value_of_another_length_is_damaged),
      cmocka_unit_test(test_orc__a_time_beyond_nanoseconds_is_unsupported),
      cmocka_unit_test(test_orc__a_decimal_of_too_many_digits_is_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
