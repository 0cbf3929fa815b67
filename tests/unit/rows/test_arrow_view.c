/* test_arrow_view.c: trees from schemas, typed access, offsets at every level, arrays that do not fit. */
#include "made.h"

#include "rows/arrow_view.h"

static bl_ctx *ctx;

static int setup(void **state) {
  (void)state;
  ctx = support_ctx(NULL, NULL);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  bl_ctx_free(ctx);
  return 0;
}

static bl_view *view_of(made *m) {
  made_finish(m);
  bl_view *v;
  bl_error err = BL_ERROR_INIT;
  if (bl_view_new(ctx, &m->schema, &v, &err) != BL_OK) fail_msg("%s", err.message);
  if (bl_view_set(v, &m->array, &err) != BL_OK) fail_msg("%s", err.message);
  return v;
}

static void test_arrow_view__knows_every_canonical_format(void **state) {
  (void)state;
  static const struct {
    const char *format;
    bl_data_kind kind;
    int32_t a, b;
    bool utc;
  } cases[] = {
      {"n", BL_D_OTHER, 0, 0, false},           {"b", BL_D_BOOL, 0, 0, false},
      {"i", BL_D_INT32, 0, 0, false},           {"l", BL_D_INT64, 0, 0, false},
      {"f", BL_D_FLOAT, 0, 0, false},           {"g", BL_D_DOUBLE, 0, 0, false},
      {"d:9,2", BL_D_DECIMAL, 9, 2, false},     {"d:38,38", BL_D_DECIMAL, 38, 38, false},
      {"tdD", BL_D_DATE32, 0, 0, false},        {"ttu", BL_D_TIME_US, 0, 0, false},
      {"tsu:", BL_D_TIMESTAMP_US, 0, 0, false}, {"tsu:UTC", BL_D_TIMESTAMP_US, 0, 0, true},
      {"tsn:", BL_D_TIMESTAMP_NS, 0, 0, false}, {"tsn:UTC", BL_D_TIMESTAMP_NS, 0, 0, true},
      {"u", BL_D_STRING, 0, 0, false},          {"z", BL_D_BINARY, 0, 0, false},
      {"w:16", BL_D_FIXED, 16, 0, false},       {"w:0", BL_D_FIXED, 0, 0, false},
      {"+s", BL_D_STRUCT, 0, 0, false},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    struct ArrowSchema s = {.format = cases[i].format, .name = "x"};
    bl_view *v;
    assert_int_equal(bl_view_new(ctx, &s, &v, NULL), BL_OK);
    assert_int_equal(v->kind, cases[i].kind);
    assert_int_equal(v->kind == BL_D_DECIMAL ? v->precision : v->length, cases[i].a);
    assert_int_equal(v->scale, cases[i].b);
    assert_int_equal(v->utc, cases[i].utc);
    bl_view_free(v);
  }
}

static void test_arrow_view__names_formats_that_are_not_canonical(void **state) {
  (void)state;
  static const char *const formats[] = {"",       "c",    "L",    "e",         "U",   "Z",
                                        "vu",     "vz",   "d:9",  "d:9,2,256", "d:,", "d:39,2",
                                        "d:9,-1", "w:",   "w:-1", "w:x",       "tdm", "ttn",
                                        "tss:",   "tsm:", "tsu",  "tsu",       "+L",  "+w:3",
                                        "+ud:0",  "+r",   "+l",   "+m",        "ll",  "w:99999999999"};
  for (size_t i = 0; i < BL_LEN(formats); i++) {
    struct ArrowSchema s = {.format = formats[i], .name = "amount"};
    bl_view *v;
    bl_error err = BL_ERROR_INIT;
    if (bl_view_new(ctx, &s, &v, &err) != BL_UNSUPPORTED) fail_msg("format %s", formats[i]);
    assert_null(v);
    support_says(err.message, "amount");
    support_says(err.message, formats[i]);
  }
  struct ArrowSchema index = {.format = "i", .name = "x", .dictionary = &index};
  bl_view *v;
  assert_int_equal(bl_view_new(ctx, &index, &v, NULL), BL_UNSUPPORTED);
}

static void test_arrow_view__takes_field_ids_and_extensions_from_metadata(void **state) {
  (void)state;
  made *kids[] = {
      made_meta(made_new("w:16", "u", 0, NULL), "ARROW:extension:name", "arrow.uuid"),
      made_meta(made_new("w:15", "not_u", 0, NULL), "ARROW:extension:name", "arrow.uuid"),
      made_meta(made_new("z", "g", 0, NULL), "ARROW:extension:name", "geoarrow.wkb"),
      made_meta(made_new("+s", "v", 0, NULL), "ARROW:extension:name", "arrow.parquet.variant"),
      made_meta(made_new("l", "id", 0, NULL), "PARQUET:field_id", "2147483540"),
      made_meta(made_new("l", "wrong", 0, NULL), "PARQUET:field_id", "-7"),
  };
  made *root = made_new("+s", "", 6, kids);
  bl_view *v = view_of(root);
  static const bl_data_hint hints[] = {BL_H_UUID, BL_H_NONE, BL_H_GEOMETRY, BL_H_VARIANT, BL_H_NONE, BL_H_NONE};
  for (size_t i = 0; i < 6; i++) assert_int_equal(v->children[i].hint, hints[i]);
  assert_int_equal(v->children[4].field_id, 2147483540);
  assert_int_equal(v->children[5].field_id, -1);
  assert_int_equal(v->field_id, -1);
  assert_ptr_equal(bl_view_child(v, "v"), &v->children[3]);
  assert_null(bl_view_child(v, "V"));
  bl_view_free(v);
  made_free(root);
}

static void test_arrow_view__schema_strings_are_not_needed_afterwards(void **state) {
  (void)state;
  char format[] = "l", name[] = "na\"me";
  struct ArrowSchema s = {.format = format, .name = name};
  bl_view *v;
  assert_int_equal(bl_view_new(ctx, &s, &v, NULL), BL_OK);
  memset(format, 'x', 1), memset(name, 'x', 5);
  assert_true(bl_str_is(v->name, "na\"me"));
  assert_true(bl_str_is(v->key, ",\"na\\\"me\":"));
  bl_view_free(v);
}

static void test_arrow_view__gives_typed_values_behind_an_offset(void **state) {
  (void)state;
  made *kids[] = {made_new("b", "b", 0, NULL), made_new("i", "i", 0, NULL),   made_new("d:20,2", "d", 0, NULL),
                  made_new("u", "s", 0, NULL), made_new("w:3", "w", 0, NULL), made_new("n", "n", 0, NULL)};
  made *root = made_new("+s", "", 6, kids);
  for (int i = 0; i < 20; i++) {
    made_bool(kids[0], i % 3 == 0);
    if (i % 4 == 1) made_null(kids[1]);
    else made_i32(kids[1], i * 10);
    made_decimal(kids[2], -i);
    made_str(kids[3], i % 2 ? "odd" : "");
    uint8_t w[3] = {(uint8_t)i, 1, 2};
    made_value(kids[4], w, 3);
    made_null(kids[5]);
    made_row(root, true);
    if (i == 4) made_cut(root);
  }
  bl_view *v = view_of(root);
  assert_int_equal(v->n, 15);
  for (int i = 0; i < 15; i++) {
    int k = i + 5;
    assert_int_equal(bl_view_bool(&v->children[0], i), k % 3 == 0);
    assert_int_equal(bl_view_null(&v->children[1], i), k % 4 == 1);
    if (k % 4 != 1) assert_int_equal(bl_view_i32(&v->children[1], i), k * 10);
    assert_true(bl_view_decimal(&v->children[2], i) == -k);
    assert_true(bl_str_is(bl_view_bytes(&v->children[3], i), k % 2 ? "odd" : ""));
    assert_int_equal(bl_view_bytes(&v->children[4], i).p[0], k);
    assert_true(bl_view_null(&v->children[5], i));
  }
  bl_view_free(v);
  made_free(root);
}

static void test_arrow_view__a_null_count_of_zero_makes_the_validity_moot(void **state) {
  (void)state;
  made *m = made_new("i", "i", 0, NULL);
  made_null(m);
  bl_view *v = view_of(m);
  assert_true(bl_view_null(v, 0));
  m->array.null_count = 0;
  assert_int_equal(bl_view_set(v, &m->array, NULL), BL_OK);
  assert_false(bl_view_null(v, 0));
  bl_view_free(v);
  made_free(m);
}

static void test_arrow_view__ranges_of_lists_and_maps_count_in_their_children(void **state) {
  (void)state;
  made *element = made_new("l", "element", 0, NULL), *list = made_new("+l", "l", 1, &element);
  made_i64(element, -1), made_i64(element, -2), made_cut(element); /* the element's own offset */
  made_i64(element, 10), made_close(list, true);
  made_close(list, false), made_cut(list);
  made_i64(element, 20), made_i64(element, 21), made_close(list, true);
  made_close(list, true);
  bl_view *v = view_of(list);
  int64_t begin, end;
  assert_int_equal(v->n, 2);
  bl_view_range(v, 0, &begin, &end);
  assert_int_equal(end - begin, 2);
  assert_int_equal(bl_view_i64(&v->children[0], begin), 20);
  assert_int_equal(bl_view_i64(&v->children[0], end - 1), 21);
  bl_view_range(v, 1, &begin, &end);
  assert_int_equal(begin, end);
  bl_view_free(v);
  made_free(list);

  made *kv[] = {made_new("u", "key", 0, NULL), made_new("i", "value", 0, NULL)};
  made *entries = made_new("+s", "key_value", 2, kv), *map = made_new("+m", "m", 1, &entries);
  made_str(kv[0], "junk"), made_i32(kv[1], 0), made_row(entries, true), made_cut(entries);
  made_str(kv[0], "a"), made_i32(kv[1], 1), made_row(entries, true);
  made_close(map, true);
  v = view_of(map);
  bl_view_range(v, 0, &begin, &end);
  assert_int_equal(end - begin, 1);
  assert_true(bl_str_is(bl_view_bytes(&v->children[0], begin), "a"));
  assert_int_equal(bl_view_i32(&v->children[1], begin), 1);
  bl_view_free(v);
  made_free(map);
}

static void test_arrow_view__refuses_arrays_that_do_not_fit_the_schema(void **state) {
  (void)state;
  made *kids[] = {made_new("i", "i", 0, NULL), made_new("u", "s", 0, NULL)};
  made *root = made_new("+s", "", 2, kids);
  for (int i = 0; i < 3; i++) made_i32(kids[0], i), made_str(kids[1], ""), made_row(root, true);
  bl_view *v = view_of(root);
  struct ArrowArray *i = &kids[0]->array, *s = &kids[1]->array, *r = &root->array, good_i = *i, good_s = *s,
                    good_r = *r;
#define REFUSED(change, says)                                                                                          \
  do {                                                                                                                 \
    bl_error err = BL_ERROR_INIT;                                                                                      \
    change;                                                                                                            \
    assert_int_equal(bl_view_set(v, r, &err), BL_USAGE);                                                               \
    support_says(err.message, says);                                                                                   \
    *i = good_i, *s = good_s, *r = good_r;                                                                             \
  } while (0)
  REFUSED(i->n_buffers = 3, "buffers 3");
  REFUSED(s->n_buffers = 2, "buffers 2");
  REFUSED(r->n_children = 1, "children 1");
  REFUSED(i->n_children = 1, "children 1");
  REFUSED(i->length = 2, "length 2");
  REFUSED(i->length = -1, "length -1");
  REFUSED(r->length = 4, "length 3");
  REFUSED(r->offset = 1, "length 3");
  REFUSED(r->offset = INT64_MAX, "length");
  REFUSED(r->offset = -1, "length");
  const void *none[3] = {0};
  REFUSED(i->buffers = none, "missing buffer");
  REFUSED(s->buffers = none, "missing buffer");
  assert_int_equal(bl_view_set(v, r, NULL), BL_OK);
  const void *no_bytes[3] = {NULL, s->buffers[1], NULL}; /* all strings are empty */
  s->buffers = no_bytes;
  assert_int_equal(bl_view_set(v, r, NULL), BL_OK);
  assert_int_equal(bl_view_bytes(&v->children[1], 2).n, 0);
  assert_non_null(bl_view_bytes(&v->children[1], 2).p);
  bl_view_free(v);
  made_free(root);
}

static void test_arrow_view__an_empty_array_may_have_no_buffers_at_all(void **state) {
  (void)state;
  const void *none[3] = {0};
  struct ArrowSchema s = {.format = "u", .name = "s"};
  struct ArrowArray a = {.n_buffers = 3, .buffers = none};
  bl_view *v;
  assert_int_equal(bl_view_new(ctx, &s, &v, NULL), BL_OK);
  assert_int_equal(bl_view_set(v, &a, NULL), BL_OK);
  assert_int_equal(v->n, 0);
  bl_view_free(v);
  bl_view_free(NULL);
}

static void shallow(bl_ctx_options *o) {
  o->max_nesting = 10;
}

static void test_arrow_view__depth_is_bounded_by_the_context(void **state) {
  (void)state;
  bl_ctx *small = support_ctx(NULL, shallow);
  struct ArrowSchema s[11], *kids[11];
  for (int i = 0; i < 11; i++) {
    kids[i] = &s[i];
    s[i] = (struct ArrowSchema){.format = "+l", .name = "l", .n_children = 1, .children = i < 10 ? &kids[i + 1] : NULL};
  }
  for (int i = 0; i < 10; i++) s[i].children = &kids[i + 1];
  s[10] = (struct ArrowSchema){.format = "l", .name = "x"};
  bl_view *v;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_view_new(small, &s[1], &v, &err), BL_OK);
  bl_view_free(v);
  assert_int_equal(bl_view_new(small, &s[0], &v, &err), BL_DAMAGED);
  support_says(err.message, "nested");
  bl_ctx_free(small);
}

static bl_status make_view(bl_ctx *c, void *user, bl_error *err) {
  bl_view *v;
  BL_TRY(bl_view_new(c, user, &v, err));
  bl_view_free(v);
  return BL_OK;
}

static void test_arrow_view__reports_every_failed_allocation(void **state) {
  (void)state;
  made *kids[] = {made_new("i", "i", 0, NULL), made_new("u", "s", 0, NULL)};
  made *root = made_new("+s", "", 2, kids);
  made_finish(root);
  support_fail_each_allocation(make_view, &root->schema);
  made_free(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_view__knows_every_canonical_format),
      cmocka_unit_test(test_arrow_view__names_formats_that_are_not_canonical),
      cmocka_unit_test(test_arrow_view__takes_field_ids_and_extensions_from_metadata),
      cmocka_unit_test(test_arrow_view__schema_strings_are_not_needed_afterwards),
      cmocka_unit_test(test_arrow_view__gives_typed_values_behind_an_offset),
      cmocka_unit_test(test_arrow_view__a_null_count_of_zero_makes_the_validity_moot),
      cmocka_unit_test(test_arrow_view__ranges_of_lists_and_maps_count_in_their_children),
      cmocka_unit_test(test_arrow_view__refuses_arrays_that_do_not_fit_the_schema),
      cmocka_unit_test(test_arrow_view__an_empty_array_may_have_no_buffers_at_all),
      cmocka_unit_test(test_arrow_view__depth_is_bounded_by_the_context),
      cmocka_unit_test(test_arrow_view__reports_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
