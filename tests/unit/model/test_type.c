/* Types as text, equality, promotion, looking up fields. */
#include "model_fixture.h"

static const char *printed(fixture *f, const bl_type *t) {
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_type_print(&b, t);
  return fixture_text(f, &b);
}

static void test_type__names_of_the_spec_parse_and_print(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const struct {
    const char *text, *canonical;
    bl_kind kind;
  } cases[] = {
      {"boolean", "boolean", BL_BOOLEAN},
      {"int", "int", BL_INT},
      {"long", "long", BL_LONG},
      {"float", "float", BL_FLOAT},
      {"double", "double", BL_DOUBLE},
      {"decimal(9,2)", "decimal(9, 2)", BL_DECIMAL},
      {" decimal( 38 , 38 ) ", "decimal(38, 38)", BL_DECIMAL},
      {"date", "date", BL_DATE},
      {"time", "time", BL_TIME},
      {"timestamp", "timestamp", BL_TIMESTAMP},
      {"timestamptz", "timestamptz", BL_TIMESTAMPTZ},
      {"timestamp_ns", "timestamp_ns", BL_TIMESTAMP_NS},
      {"timestamptz_ns", "timestamptz_ns", BL_TIMESTAMPTZ_NS},
      {"string", "string", BL_STRING},
      {"uuid", "uuid", BL_UUID},
      {"fixed[16]", "fixed[16]", BL_FIXED},
      {"fixed[ 4 ]", "fixed[4]", BL_FIXED},
      {"binary", "binary", BL_BINARY},
      {"unknown", "unknown", BL_KIND_UNKNOWN},
      {"variant", "variant", BL_VARIANT},
      {"geometry", "geometry", BL_GEOMETRY},
      {"geometry(OGC:CRS84)", "geometry", BL_GEOMETRY},
      {"geometry(srid:1)", "geometry(srid:1)", BL_GEOMETRY},
      {"geography", "geography", BL_GEOGRAPHY},
      {"geography( srid:4326 )", "geography(srid:4326)", BL_GEOGRAPHY},
      {"geography(OGC:CRS84,karney)", "geography(OGC:CRS84, karney)", BL_GEOGRAPHY},
      {"Timestamp", "timestamp", BL_TIMESTAMP},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_type t = type_of(&f, cases[i].text);
    assert_int_equal(t.kind, cases[i].kind);
    assert_string_equal(printed(&f, &t), cases[i].canonical);
    bl_type again = type_of(&f, cases[i].canonical);
    assert_true(bl_type_equal(&t, &again));
  }
  fixture_free(&f);
}

static void test_type__parameters_are_kept(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_type t = type_of(&f, "decimal(9,2)");
  assert_int_equal(t.precision, 9);
  assert_int_equal(t.scale, 2);
  assert_int_equal(type_of(&f, "fixed[2147483647]").length, INT32_MAX);
  t = type_of(&f, "geography(EPSG:4326, thomas)");
  assert_true(bl_str_is(t.crs, "EPSG:4326"));
  assert_true(bl_str_is(t.algorithm, "thomas"));
  t = type_of(&f, "geometry");
  assert_true(bl_str_is(t.crs, "OGC:CRS84"));
  fixture_free(&f);
}

static void test_type__malformed_and_unknown_names_are_refused(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const struct {
    const char *text;
    bl_status status;
  } cases[] = {
      {"quaternion", BL_UNSUPPORTED},
      {"", BL_UNSUPPORTED},
      {"struct", BL_UNSUPPORTED},
      {"list<int>", BL_UNSUPPORTED},
      {"int(4)", BL_DAMAGED},
      {"decimal", BL_DAMAGED},
      {"decimal()", BL_DAMAGED},
      {"decimal(9)", BL_DAMAGED},
      {"decimal(0,0)", BL_DAMAGED},
      {"decimal(39,0)", BL_DAMAGED},
      {"decimal(9,-2)", BL_DAMAGED},
      {"decimal(9,39)", BL_DAMAGED},
      {"decimal(9,2", BL_DAMAGED},
      {"decimal[9,2]", BL_DAMAGED},
      {"decimal(9,2,1)", BL_DAMAGED},
      {"fixed", BL_DAMAGED},
      {"fixed[]", BL_DAMAGED},
      {"fixed[-1]", BL_DAMAGED},
      {"fixed[2147483648]", BL_DAMAGED},
      {"fixed(4)", BL_DAMAGED},
      {"geometry()", BL_DAMAGED},
      {"geometry[srid:1]", BL_DAMAGED},
      {"geography(srid:1, flat)", BL_UNSUPPORTED},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_type t;
    bl_error err = BL_ERROR_INIT;
    bl_status st = bl_type_parse_primitive(f.arena, bl_str_of(cases[i].text), &t, &err);
    if (st != cases[i].status) fail_msg("%s: %d", cases[i].text, st);
    test_says(&err, cases[i].text);
  }
  fixture_free(&f);
}

/* 1 a int, 2 s struct<3 x long, 4 "y.z" string>, 5 l list<6 struct<7 x float>>, 8 m map<9 string, 10 int>, 11 "s.x"
 * date */
typedef struct tree {
  bl_field s[2], in_list[1], element[1], kv[2], top[5];
  bl_schema schema;
} tree;

static void make_tree(fixture *f, tree *t) {
  t->s[0] = field_of(f, 3, "x", "long");
  t->s[1] = field_of(f, 4, "y.z", "string");
  t->in_list[0] = field_of(f, 7, "x", "float");
  t->element[0] = struct_field(6, "element", BL_STRUCT, t->in_list, 1);
  t->kv[0] = field_of(f, 9, "key", "string");
  t->kv[1] = field_of(f, 10, "value", "int");
  t->top[0] = field_of(f, 1, "a", "int");
  t->top[1] = struct_field(2, "s", BL_STRUCT, t->s, 2);
  t->top[2] = struct_field(5, "l", BL_LIST, t->element, 1);
  t->top[3] = struct_field(8, "m", BL_MAP, t->kv, 2);
  t->top[4] = field_of(f, 11, "s.x", "date");
  t->schema = schema_of(t->top, 5);
}

static int32_t id_of(const tree *t, const char *path) {
  const bl_field *f = bl_schema_find_name(&t->schema, bl_str_of(path));
  return f ? f->id : 0;
}

static void test_type__fields_are_found_by_id_at_any_depth(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree t;
  make_tree(&f, &t);
  for (int32_t id = 1; id <= 11; id++) assert_int_equal(bl_schema_find(&t.schema, id)->id, id);
  assert_null(bl_schema_find(&t.schema, 12));
  fixture_free(&f);
}

static void test_type__fields_are_found_by_dotted_name(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree t;
  make_tree(&f, &t);
  assert_int_equal(id_of(&t, "a"), 1);
  assert_int_equal(id_of(&t, "s"), 2);
  assert_int_equal(id_of(&t, "s.x"), 11); /* the column of that whole name wins */
  assert_int_equal(id_of(&t, "s.y.z"), 4);
  assert_int_equal(id_of(&t, "l.element.x"), 7);
  assert_int_equal(id_of(&t, "m.key"), 9);
  assert_int_equal(id_of(&t, "m.value"), 10);
  assert_int_equal(id_of(&t, "A"), 0);
  assert_int_equal(id_of(&t, "s."), 0);
  assert_int_equal(id_of(&t, ""), 0);
  assert_int_equal(id_of(&t, "a.b"), 0);
  t.schema.root.n_fields = 4;
  assert_int_equal(id_of(&t, "s.x"), 3);
  fixture_free(&f);
}

static int32_t alias_of(const tree *t, const char *path) {
  const bl_field *f = bl_schema_find_alias(&t->schema, bl_str_of(path));
  return f ? f->id : 0;
}

static void test_type__short_names_leave_out_the_element_around_structs(void **state) {
  (void)state;
  static const char *const full[] = {"a", "s", "s.x", "s.y.z", "l", "l.element", "l.element.x", "m", "m.key"};
  fixture f = fixture_new();
  tree t;
  make_tree(&f, &t);
  for (size_t i = 0; i < BL_LEN(full); i++) assert_int_equal(alias_of(&t, full[i]), id_of(&t, full[i]));
  assert_int_equal(alias_of(&t, "l.x"), 7);
  assert_int_equal(id_of(&t, "l.x"), 0);
  assert_int_equal(alias_of(&t, "l.y"), 0);
  assert_int_equal(alias_of(&t, "m.x"), 0); /* no struct in it */
  assert_int_equal(alias_of(&t, "x"), 0);
  assert_int_equal(alias_of(&t, ""), 0);
  fixture_free(&f);
}

static void test_type__full_names_and_paths_lead_down_to_a_field(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree t;
  make_tree(&f, &t);
  static const char *const names[] = {"a",         "s",           "s.x", "s.y.z", "l",
                                      "l.element", "l.element.x", "m",   "m.key", "m.value"};
  for (int32_t id = 1; id <= 10; id++) {
    bl_buf b;
    bl_buf_init(&b, f.ctx, BL_BUF_MAX);
    assert_true(bl_schema_full_name(&t.schema, id, &b));
    assert_string_equal(fixture_text(&f, &b), names[id - 1]);
  }
  bl_buf b;
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  assert_false(bl_schema_full_name(&t.schema, 99, &b));
  assert_int_equal(b.n, 0);
  bl_buf_free(&b);
  const bl_field *path[4];
  assert_int_equal(bl_schema_path(&t.schema, 7, path, 4), 3);
  assert_int_equal(path[0]->id, 5);
  assert_int_equal(path[1]->id, 6);
  assert_int_equal(path[2]->id, 7);
  assert_int_equal(bl_schema_path(&t.schema, 7, path, 1), 1);
  assert_int_equal(path[0]->id, 5);
  assert_int_equal(bl_schema_path(&t.schema, 99, path, 4), 0);
  fixture_free(&f);
}

static void test_type__nested_types_print_their_parts(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree t;
  make_tree(&f, &t);
  assert_string_equal(printed(&f, &t.top[1].type), "struct<3: x: optional long, 4: y.z: optional string>");
  assert_string_equal(printed(&f, &t.top[3].type), "map<string, int>");
  assert_string_equal(printed(&f, &t.top[2].type), "list<struct<7: x: optional float>>");
  fixture_free(&f);
}

static void test_type__only_the_promotions_of_the_spec_are_allowed(void **state) {
  (void)state;
  fixture f = fixture_new();
  static const char *const types[] = {"boolean",      "int",           "long",          "float",  "double",
                                      "decimal(9,2)", "decimal(10,2)", "decimal(10,3)", "date",   "time",
                                      "timestamp",    "timestamptz",   "timestamp_ns",  "string", "timestamptz_ns",
                                      "uuid",         "fixed[16]",     "fixed[4]",      "binary", "unknown"};
  static const char *const allowed[] = {"int>long", "float>double", "decimal(9,2)>decimal(10,2)", "date>timestamp",
                                        "date>timestamp_ns"};
  for (size_t i = 0; i < BL_LEN(types); i++)
    for (size_t k = 0; k < BL_LEN(types); k++) {
      bl_type from = type_of(&f, types[i]), to = type_of(&f, types[k]);
      bool expected = i == k || from.kind == BL_KIND_UNKNOWN;
      char pair[100];
      snprintf(pair, sizeof pair, "%s>%s", types[i], types[k]);
      for (size_t a = 0; a < BL_LEN(allowed); a++) expected = expected || strcmp(pair, allowed[a]) == 0;
      if (bl_type_can_promote(&from, &to) != expected) fail_msg("%s", pair);
    }
  fixture_free(&f);
}

static void test_type__structs_promote_field_by_field(void **state) {
  (void)state;
  fixture f = fixture_new();
  bl_field was[] = {field_of(&f, 1, "a", "int"), field_of(&f, 2, "gone", "string")};
  bl_field now[] = {field_of(&f, 3, "new", "date"), field_of(&f, 1, "renamed", "long")};
  bl_type from = {.kind = BL_STRUCT, .fields = was, .n_fields = 2};
  bl_type to = {.kind = BL_STRUCT, .fields = now, .n_fields = 2};
  assert_true(bl_type_can_promote(&from, &to));
  now[1] = field_of(&f, 1, "a", "string");
  assert_false(bl_type_can_promote(&from, &to));
  bl_type list = {.kind = BL_LIST, .fields = was, .n_fields = 1},
          other = {.kind = BL_LIST, .fields = now, .n_fields = 1};
  assert_false(bl_type_can_promote(&list, &other));
  assert_false(bl_type_can_promote(&list, &to));
  fixture_free(&f);
}

static void test_type__equality_looks_at_ids_names_and_need(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree a, b;
  make_tree(&f, &a);
  make_tree(&f, &b);
  assert_true(bl_type_equal(&a.schema.root, &b.schema.root));
  b.in_list[0].id = 70;
  assert_false(bl_type_equal(&a.schema.root, &b.schema.root));
  make_tree(&f, &b);
  b.s[0].name = BL_STR("xx");
  assert_false(bl_type_equal(&a.schema.root, &b.schema.root));
  make_tree(&f, &b);
  b.kv[1].required = true;
  assert_false(bl_type_equal(&a.schema.root, &b.schema.root));
  make_tree(&f, &b);
  b.top[4].type.kind = BL_TIME;
  assert_false(bl_type_equal(&a.schema.root, &b.schema.root));
  fixture_free(&f);
}

static bl_status copy_tree(bl_ctx *ctx, void *user, bl_error *err) {
  tree *t = user;
  bl_arena *arena;
  bl_type copy;
  BL_TRY(bl_arena_new(ctx, &arena, err));
  bl_status st = bl_type_copy(arena, &t->schema.root, &copy, err);
  if (st == BL_OK) {
    assert_true(bl_type_equal(&copy, &t->schema.root));
    assert_ptr_not_equal(copy.fields, t->schema.root.fields);
    assert_true(bl_str_is(copy.fields[0].doc, "about a"));
    assert_true(bl_value_same(copy.fields[0].initial_default, t->top[0].initial_default));
    assert_ptr_not_equal(copy.fields[0].initial_default, t->top[0].initial_default);
    assert_null(copy.fields[1].doc.p);
    assert_null(copy.fields[0].write_default);
  }
  bl_arena_free(arena);
  return st;
}

static void test_type__a_copy_is_deep_and_survives_failing_allocations(void **state) {
  (void)state;
  fixture f = fixture_new();
  tree t;
  bl_value seven = v_i(BL_INT, 7);
  make_tree(&f, &t);
  t.top[0].doc = BL_STR("about a");
  t.top[0].initial_default = &seven;
  test_fail_each(copy_tree, &t);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_type__names_of_the_spec_parse_and_print),
      cmocka_unit_test(test_type__parameters_are_kept),
      cmocka_unit_test(test_type__malformed_and_unknown_names_are_refused),
      cmocka_unit_test(test_type__fields_are_found_by_id_at_any_depth),
      cmocka_unit_test(test_type__fields_are_found_by_dotted_name),
      cmocka_unit_test(test_type__short_names_leave_out_the_element_around_structs),
      cmocka_unit_test(test_type__full_names_and_paths_lead_down_to_a_field),
      cmocka_unit_test(test_type__nested_types_print_their_parts),
      cmocka_unit_test(test_type__only_the_promotions_of_the_spec_are_allowed),
      cmocka_unit_test(test_type__structs_promote_field_by_field),
      cmocka_unit_test(test_type__equality_looks_at_ids_names_and_need),
      cmocka_unit_test(test_type__a_copy_is_deep_and_survives_failing_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
