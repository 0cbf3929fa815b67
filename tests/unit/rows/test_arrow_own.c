/* test_arrow_own.c: Arrow structs that own their memory: constants, nulls, what is kept, schemas of Iceberg types. */
#include "rows/arrow_own.h"

#include "format/metadata_json.h"
#include "rows/arrow_view.h"
#include "rows/print_value.h"
#include "support/support.h"

typedef struct world {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_error err;
} world;

static world new_world(void) {
  world w = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(w.ctx, &w.arena, &w.err), &w.err);
  return w;
}

static void close_world(world *w) {
  bl_arena_free(w->arena);
  test_ctx_free(w->ctx);
}

static bl_schema *schema(world *w, const char *fields) {
  bl_json *v;
  bl_schema *s = bl_arena_calloc(w->arena, 1, sizeof *s);
  bl_str text = bl_arena_printf(w->arena, "{\"type\":\"struct\",\"schema-id\":0,\"fields\":%s}", fields);
  assert_non_null(s);
  test_ok(bl_json_parse(w->arena, text.p, text.n, &v, &w->err), &w->err);
  test_ok(bl_schema_from_json(w->arena, v, s, &w->err), &w->err);
  return s;
}

#define F(id, name, type) "{\"id\":" #id ",\"name\":\"" name "\",\"required\":false,\"type\":" type "}"
static const char every_type[] =
    "[" F(1, "b", "\"boolean\"") "," F(2, "i", "\"int\"") "," F(
        3, "l", "\"long\"") "," F(4, "f", "\"float\"") "," F(5,
                                                             "g", "\"double\"") "," F(6, "d",
                                                                                      "\"decimal(20, 4)\"") "," F(7,
                                                                                                                  "dt", "\"date\"") "," F(8, "t", "\"time\"") "," F(9, "ts", "\"timestamp\"") "," F(10, "tz", "\"timestamptz\"") "," F(11, "tn", "\"timestamp_ns\"") "," F(12, "tzn", "\"timestamptz_ns\"") "," F(13, "s", "\"string\"") "," F(14, "u", "\"uuid\"") "," F(15,
                                                                                                                                                                                                                                                                                                                                                                          "fx", "\"fixed[3]\"") "," F(16,
                                                                                                                                                                                                                                                                                                                                                                                                      "bin",
                                                                                                                                                                                                                                                                                                                                                                                                      "\"binary\"") "," F(17,
                                                                                                                                                                                                                                                                                                                                                                                                                          "un", "\"unknown\"") "," F(18, "v", "\"variant\"") "," F(19, "gm", "\"geometry\"") "," F(20, "gg", "\"geography\"") "," F(21,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "st",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "{\"type\":\"struct\",\"fields\":[" F(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        22,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "x", "\"int\"") "," F(23, "y", "\"string\"") "]}") "," F(24,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "li",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "{\"type\":\"list\",\"element-id\":25,\"element-required\":false,\"element\":\"long\"}") "," F(26,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "m",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "{\"type\":\"map\",\"key-id\":27,\"key\":\"string\",\"value-id\":28,\"value-required\":false,\"value\":\"int\"}") "]";

/* ---- schemas ---- */

static void test_arrow_own__schemas_have_the_canonical_forms_and_field_ids(void **state) {
  (void)state;
  static const char *const formats[] = {"b",    "i",       "l",    "f",       "g",  "d:20,4", "tdD", "ttu",
                                        "tsu:", "tsu:UTC", "tsn:", "tsn:UTC", "u",  "w:16",   "w:3", "z",
                                        "n",    "+s",      "z",    "z",       "+s", "+l",     "+m"};
  world w = new_world();
  struct ArrowSchema s;
  test_ok(bl_aschema_of_struct(w.ctx, &schema(&w, every_type)->root, &s, &w.err), &w.err);
  assert_int_equal(s.n_children, BL_LEN(formats));
  for (size_t i = 0; i < BL_LEN(formats); i++) {
    assert_string_equal(s.children[i]->format, formats[i]);
    assert_true(s.children[i]->flags & ARROW_FLAG_NULLABLE);
  }
  assert_true(bl_str_is(bl_aschema_get(s.children[0], "PARQUET:field_id"), "1"));
  assert_true(bl_str_is(bl_aschema_get(s.children[21]->children[0], "PARQUET:field_id"), "25"));
  assert_true(bl_str_is(bl_aschema_get(s.children[22]->children[0]->children[1], "PARQUET:field_id"), "28"));
  assert_null(bl_aschema_get(&s, "PARQUET:field_id").p);
  assert_true(bl_str_is(bl_aschema_get(s.children[13], "ARROW:extension:name"), "arrow.uuid"));
  assert_true(bl_str_is(bl_aschema_get(s.children[17], "ARROW:extension:name"), "arrow.parquet.variant"));
  assert_true(bl_str_is(bl_aschema_get(s.children[18], "ARROW:extension:metadata"), "{\"crs\":\"OGC:CRS84\"}"));
  assert_false(s.children[22]->children[0]->children[0]->flags & ARROW_FLAG_NULLABLE);
  bl_aschema_release(&s);
  close_world(&w);
}

static void expect_same_schema(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  assert_string_equal(a->format, b->format);
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->flags, b->flags);
  assert_int_equal(a->n_children, b->n_children);
  bl_str x = bl_aschema_get(a, "PARQUET:field_id"), y = bl_aschema_get(b, "PARQUET:field_id");
  assert_true(bl_str_eq(x, y));
  for (int64_t i = 0; i < a->n_children; i++) expect_same_schema(a->children[i], b->children[i]);
}

static void test_arrow_own__schemas_are_copied_deeply(void **state) {
  (void)state;
  world w = new_world();
  struct ArrowSchema a, b, again;
  const bl_type *root = &schema(&w, every_type)->root;
  test_ok(bl_aschema_of_struct(w.ctx, root, &a, &w.err), &w.err);
  test_ok(bl_aschema_copy(w.ctx, &a, &b, &w.err), &w.err);
  bl_aschema_release(&a);
  test_ok(bl_aschema_of_struct(w.ctx, root, &again, &w.err), &w.err);
  expect_same_schema(&again, &b);
  bl_aschema_release(&again);
  bl_aschema_release(&b);
  close_world(&w);
}

static void test_arrow_own__metadata_is_replaced_and_found(void **state) {
  (void)state;
  world w = new_world();
  struct ArrowSchema s;
  const bl_str keys[] = {BL_STR("a"), BL_STR(""), BL_STR("c")},
               values[] = {BL_STR("1"), BL_STR("empty key"), BL_STR("")};
  test_ok(bl_aschema_new(w.ctx, "i", BL_STR("x"), true, 0, &s, &w.err), &w.err);
  assert_null(bl_aschema_get(&s, "a").p);
  test_ok(bl_aschema_metadata(w.ctx, &s, keys, values, 3, &w.err), &w.err);
  assert_true(bl_str_is(bl_aschema_get(&s, ""), "empty key"));
  assert_int_equal(bl_aschema_get(&s, "c").n, 0);
  assert_null(bl_aschema_get(&s, "d").p);
  test_ok(bl_aschema_metadata(w.ctx, &s, keys + 2, values, 1, &w.err), &w.err);
  assert_true(bl_str_is(bl_aschema_get(&s, "c"), "1"));
  assert_null(bl_aschema_get(&s, "a").p);
  bl_aschema_release(&s);
  close_world(&w);
}

/* ---- constants and nulls ---- */

static void expect_rows(world *w, const bl_field *f, struct ArrowArray *a, int64_t n, const char *json) {
  struct ArrowSchema s;
  bl_view *v;
  bl_buf b;
  test_ok(bl_aschema_of_field(w->ctx, f, &s, &w->err), &w->err);
  test_ok(bl_view_new(w->ctx, &s, &v, &w->err), &w->err);
  test_ok(bl_view_set(v, a, &w->err), &w->err);
  assert_int_equal(a->length, n);
  bl_buf_init(&b, w->ctx, BL_BUF_MAX);
  for (int64_t i = 0; i < n; i++) {
    bl_buf_clear(&b);
    test_ok(bl_print_value(&b, v, i, &w->err), &w->err);
    bl_buf_byte(&b, 0);
    assert_string_equal((const char *)b.p, json);
  }
  bl_buf_free(&b);
  bl_view_free(v);
  bl_aschema_release(&s);
}

static void test_arrow_own__nulls_of_every_type_are_null(void **state) {
  (void)state;
  world w = new_world();
  const bl_type *root = &schema(&w, every_type)->root;
  for (int64_t n = 0; n < 20; n += 9)
    for (size_t i = 0; i < root->n_fields; i++) {
      struct ArrowArray a;
      test_ok(bl_array_nulls(w.ctx, &root->fields[i].type, n, &a, &w.err), &w.err);
      assert_int_equal(a.null_count, n);
      expect_rows(&w, &root->fields[i], &a, n, "null");
      bl_array_release(&a);
    }
  close_world(&w);
}

static void test_arrow_own__constants_repeat_a_value(void **state) {
  (void)state;
  static const struct {
    size_t column;
    const char *value, *printed;
  } cases[] = {{0, "true", "true"},
               {0, "false", "false"},
               {1, "-7", "-7"},
               {2, "9223372036854775807", "9223372036854775807"},
               {3, "1.5", "1.5"},
               {4, "-0.25", "-0.25"},
               {5, "\"-12.3400\"", "\"-12.3400\""},
               {6, "\"1969-12-31\"", "\"1969-12-31\""},
               {7, "\"10:00:00.000001\"", "\"10:00:00.000001\""},
               {8, "\"2026-01-01T00:00:00.000001\"", "\"2026-01-01T00:00:00.000001\""},
               {9, "\"2026-01-01T00:00:00.000001+00:00\"", "\"2026-01-01T00:00:00.000001+00:00\""},
               {10, "\"2026-01-01T00:00:00.000000001\"", "\"2026-01-01T00:00:00.000000001\""},
               {12, "\"text\"", "\"text\""},
               {12, "\"\"", "\"\""},
               {13, "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""},
               {14, "\"0001ff\"", "\"AAH/\""},
               {15, "\"00\"", "\"AA==\""}};
  world w = new_world();
  const bl_type *root = &schema(&w, every_type)->root;
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    const bl_field *f = &root->fields[cases[i].column];
    bl_json *j;
    bl_value v;
    struct ArrowArray a;
    test_ok(bl_json_parse(w.arena, cases[i].value, strlen(cases[i].value), &j, &w.err), &w.err);
    test_ok(bl_value_from_json(w.arena, &f->type, j, &v, &w.err), &w.err);
    for (int64_t n = 0; n <= 17; n += 17) {
      test_ok(bl_array_constant(w.ctx, &f->type, &v, n, &a, &w.err), &w.err);
      assert_int_equal(a.null_count, 0);
      expect_rows(&w, f, &a, n, cases[i].printed);
      bl_array_release(&a);
    }
    v.null = true;
    test_ok(bl_array_constant(w.ctx, &f->type, &v, 3, &a, &w.err), &w.err);
    expect_rows(&w, f, &a, 3, "null");
    bl_array_release(&a);
    test_ok(bl_array_constant(w.ctx, &f->type, NULL, 3, &a, &w.err), &w.err);
    expect_rows(&w, f, &a, 3, "null");
    bl_array_release(&a);
  }
  close_world(&w);
}

static void test_arrow_own__a_struct_constant_holds_its_fields_defaults(void **state) {
  (void)state;
  world w = new_world();
  const bl_schema *s =
      schema(&w, "[{\"id\":1,\"name\":\"st\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
                 "{\"id\":2,\"name\":\"x\",\"required\":false,\"type\":\"int\",\"initial-default\":7},"
                 "{\"id\":3,\"name\":\"y\",\"required\":false,\"type\":\"string\"}]},\"initial-default\":{}}]");
  const bl_field *f = &s->root.fields[0];
  struct ArrowArray a;
  assert_non_null(f->initial_default);
  test_ok(bl_array_constant(w.ctx, &f->type, f->initial_default, 4, &a, &w.err), &w.err);
  expect_rows(&w, f, &a, 4, "{\"x\":7,\"y\":null}");
  bl_array_release(&a);
  close_world(&w);
}

/* struct<n: long, l: list<string>>, which begins in the midst of its columns: rows ["a", "bcd"], [], ["ef"]. */
static void test_arrow_own__bytes_of_a_part_are_those_of_its_rows(void **state) {
  (void)state;
  const int32_t ends[] = {0, 1, 3, 3, 4}, letters[] = {0, 5, 6, 9, 11};
  const int64_t longs[] = {0, 1, 2, 3};
  const void *text_buffers[] = {NULL, letters, "skip.abcdef"}, *list_buffers[] = {NULL, ends};
  const void *long_buffers[] = {NULL, longs}, *none[] = {NULL};
  struct ArrowArray text = {.length = 4, .n_buffers = 3, .buffers = text_buffers}, *in_list[] = {&text};
  struct ArrowArray list = {.length = 4, .n_buffers = 2, .buffers = list_buffers, .n_children = 1, .children = in_list};
  struct ArrowArray n = {.length = 4, .n_buffers = 2, .buffers = long_buffers}, *columns[] = {&n, &list};
  struct ArrowArray a = {
      .length = 3, .offset = 1, .n_buffers = 1, .buffers = none, .n_children = 2, .children = columns};
  struct ArrowSchema u = {.format = "u"}, *below[] = {&u};
  struct ArrowSchema l = {.format = "+l", .n_children = 1, .children = below}, g = {.format = "l"}, *both[] = {&g, &l};
  struct ArrowSchema s = {.format = "+s", .n_children = 2, .children = both};
  assert_int_equal(bl_array_part_bytes(&s, &a, 0, 1), 8 + 4 + 2 * 4 + 4);
  assert_int_equal(bl_array_part_bytes(&s, &a, 1, 1), 8 + 4);
  assert_int_equal(bl_array_part_bytes(&s, &a, 2, 1), 8 + 4 + 4 + 2);
  assert_int_equal(bl_array_bytes(&s, &a), 3 * 12 + 3 * 4 + 6);
  assert_int_equal(bl_array_part_bytes(&s, &a, 1, 0), 0);
}

static void test_arrow_own__a_constant_column_beyond_two_gibibytes_is_refused(void **state) {
  (void)state;
  world w = new_world();
  char text[1000];
  memset(text, 'x', sizeof text);
  bl_type t = {.kind = BL_STRING};
  bl_value v = {.kind = BL_STRING, .u.s = {text, sizeof text}};
  struct ArrowArray a;
  test_status(BL_UNSUPPORTED, bl_array_constant(w.ctx, &t, &v, INT32_MAX / 500, &a, &w.err), &w.err);
  assert_null(a.release);
  close_world(&w);
}

static void test_arrow_own__longs_have_a_validity_where_asked_for(void **state) {
  (void)state;
  world w = new_world();
  const int64_t v[] = {1, INT64_MIN, 3, 4, 5, 6, 7, 8, 9};
  const uint8_t valid[] = {1, 0, 1, 1, 1, 1, 1, 1, 0};
  struct ArrowArray a;
  test_ok(bl_array_longs(w.ctx, v, valid, 9, &a, &w.err), &w.err);
  assert_int_equal(a.null_count, 2);
  for (int64_t i = 0; i < 9; i++) assert_int_equal(bl_array_valid(&a, i), valid[i]);
  assert_int_equal(((const int64_t *)a.buffers[1])[7], 8);
  bl_array_release(&a);
  test_ok(bl_array_longs(w.ctx, v, NULL, 9, &a, &w.err), &w.err);
  assert_int_equal(a.null_count, 0);
  assert_null(a.buffers[0]);
  bl_array_release(&a);
  close_world(&w);
}

/* ---- owning ---- */

static void count_release(struct ArrowArray *a) {
  ++*(int *)a->private_data;
  a->release = NULL;
}

static void test_arrow_own__what_is_kept_is_released_once_with_its_keeper(void **state) {
  (void)state;
  world w = new_world();
  int released = 0;
  struct ArrowArray a, b = {.release = count_release, .private_data = &released}, c = b, moved;
  test_ok(bl_array_new(w.ctx, 3, 2, 2, &a, &w.err), &w.err);
  assert_non_null(bl_array_buffer(&a, 1, 24));
  bl_array_give(&a, 0, bl_alloc(w.ctx, 8, 1));
  test_ok(bl_array_keep(&a, &b, &w.err), &w.err);
  test_ok(bl_array_keep(&a, &c, &w.err), &w.err);
  assert_null(b.release);
  bl_array_move(&a, &moved);
  assert_null(a.release);
  bl_array_release(&a);
  assert_int_equal(released, 0);
  bl_array_release(&moved);
  assert_int_equal(released, 2);
  assert_null(moved.release);
  close_world(&w);
}

static bl_status make_all(bl_ctx *ctx, void *user, bl_error *err) {
  const bl_type *root = user;
  struct ArrowSchema s = {0}, copy = {0};
  struct ArrowArray a = {0}, kept = {0};
  bl_status st = bl_aschema_of_struct(ctx, root, &s, err);
  if (st == BL_OK) st = bl_aschema_copy(ctx, &s, &copy, err);
  for (size_t i = 0; st == BL_OK && i < root->n_fields; i++) {
    st = bl_array_nulls(ctx, &root->fields[i].type, 9, &a, err);
    if (st == BL_OK) bl_array_release(&a);
  }
  if (st == BL_OK) st = bl_array_new(ctx, 1, 1, 3, &a, err);
  if (st == BL_OK) {
    st = bl_array_new(ctx, 1, 1, 0, &kept, err);
    if (st == BL_OK) st = bl_array_keep(&a, &kept, err);
    bl_array_release(&kept);
    bl_array_release(&a);
  }
  bl_aschema_release(&s);
  bl_aschema_release(&copy);
  return st;
}

static void test_arrow_own__says_when_memory_runs_out(void **state) {
  (void)state;
  world w = new_world();
  test_fail_each(make_all, &schema(&w, every_type)->root);
  close_world(&w);
}

static void test_arrow_own__types_have_names_that_messages_can_use(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"b", "boolean"},
                                         {"g", "double"},
                                         {"l", "long"},
                                         {"C", "uint8"},
                                         {"e", "half float"},
                                         {"U", "string"},
                                         {"vz", "binary"},
                                         {"w:16", "fixed[16]"},
                                         {"d:9,2", "decimal(9,2)"},
                                         {"tdm", "date"},
                                         {"ttu", "time"},
                                         {"tsu:", "timestamp"},
                                         {"tss:UTC", "timestamptz"},
                                         {"tsn:", "timestamp_ns"},
                                         {"tsn:UTC", "timestamptz_ns"},
                                         {"+s", "struct"},
                                         {"+vL", "list"},
                                         {"+w:3", "list"},
                                         {"+m", "map"},
                                         {"+ud:0,1", "union"},
                                         {"tDs", "duration"},
                                         {"tin", "interval"},
                                         {"n", "null"},
                                         {"?", "Arrow format ?"},
                                         {"ts", "Arrow format ts"},
                                         {"", "Arrow format "}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    char name[BL_TYPE_NAME_BYTES];
    struct ArrowSchema s = {.format = cases[i][0]}, value = s;
    assert_string_equal(bl_aschema_type_name(&s, name), cases[i][1]);
    s = (struct ArrowSchema){.format = "i", .dictionary = &value};
    assert_string_equal(bl_aschema_type_name(&s, name), cases[i][1]);
    struct ArrowSchema ends = {.format = "i"}, *runs[] = {&ends, &value};
    s = (struct ArrowSchema){.format = "+r", .children = runs, .n_children = 2};
    assert_string_equal(bl_aschema_type_name(&s, name), cases[i][1]);
  }
  char name[BL_TYPE_NAME_BYTES], longest[200];
  memset(longest, '9', sizeof longest - 1);
  memcpy(longest, "d:", 2);
  longest[sizeof longest - 1] = 0;
  assert_string_equal(bl_aformat_name(longest, name), "decimal(99999999999999999999)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_own__schemas_have_the_canonical_forms_and_field_ids),
      cmocka_unit_test(test_arrow_own__schemas_are_copied_deeply),
      cmocka_unit_test(test_arrow_own__metadata_is_replaced_and_found),
      cmocka_unit_test(test_arrow_own__types_have_names_that_messages_can_use),
      cmocka_unit_test(test_arrow_own__nulls_of_every_type_are_null),
      cmocka_unit_test(test_arrow_own__constants_repeat_a_value),
      cmocka_unit_test(test_arrow_own__a_struct_constant_holds_its_fields_defaults),
      cmocka_unit_test(test_arrow_own__bytes_of_a_part_are_those_of_its_rows),
      cmocka_unit_test(test_arrow_own__a_constant_column_beyond_two_gibibytes_is_refused),
      cmocka_unit_test(test_arrow_own__longs_have_a_validity_where_asked_for),
      cmocka_unit_test(test_arrow_own__what_is_kept_is_released_once_with_its_keeper),
      cmocka_unit_test(test_arrow_own__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("arrow_own", tests, NULL, NULL);
}
