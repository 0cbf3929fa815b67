/* test_columns.c: from column names and ids to the struct type that is read. */
#include "scan/columns.h"
#include "support/table_maker.h"

typedef struct world {
  bl_ctx *ctx;
  maker *m;
  const bl_metadata *md;
  bl_columns c;
} world;

static const char fields[] =
    "[{\"id\":1,\"name\":\"k\",\"required\":true,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"t\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"id\":3,\"name\":\"a\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":4,\"name\":\"u\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"id\":5,\"name\":\"x\",\"required\":false,\"type\":\"int\"},{\"id\":6,\"name\":\"y\",\"required\":false,"
    "\"type\":\"int\"}]}}]}},"
    "{\"id\":7,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":8,\"element-required\":"
    "false,"
    "\"element\":{\"type\":\"struct\",\"fields\":[{\"id\":9,\"name\":\"e\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":10,\"name\":\"f\",\"required\":false,\"type\":\"int\"}]}}},"
    "{\"id\":11,\"name\":\"t.a\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":12,\"name\":\"_pos\",\"required\":false,\"type\":\"string\"}]";

static world new_world(void) {
  world w = {.ctx = test_ctx()};
  w.m = maker_new(w.ctx, 3, fields);
  maker_spec(w.m, 0, "[{\"source-id\":1,\"field-id\":1000,\"name\":\"k\",\"transform\":\"identity\"}]");
  maker_spec(w.m, 1,
             "[{\"source-id\":1,\"field-id\":1001,\"name\":\"kb\",\"transform\":\"bucket[4]\"},"
             "{\"source-id\":1,\"field-id\":1000,\"name\":\"k\",\"transform\":\"void\"}]");
  w.md = maker_metadata(w.m);
  bl_columns_init(&w.c, maker_arena(w.m), w.md, bl_metadata_current_schema(w.md));
  return w;
}

static void close_world(world *w) {
  maker_free(w->m);
  test_ctx_free(w->ctx);
}

static void print_type(bl_buf *b, const bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++) {
    bl_buf_printf(b, "%s%d", i ? " " : "", t->fields[i].id);
    if (t->fields[i].type.kind != BL_STRUCT) continue;
    bl_buf_byte(b, '(');
    print_type(b, &t->fields[i].type);
    bl_buf_byte(b, ')');
  }
}

static void expect(world *w, const char *want) {
  bl_buf b;
  bl_buf_init(&b, w->ctx, 10000);
  print_type(&b, &w->c.wanted);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

/* Names separated by commas, then the ids of the struct, nested ones in parentheses. */
static void names_give(const char *names, const char *want) {
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  for (const char *p = names; *p;) {
    size_t n = strcspn(p, ",");
    test_ok(bl_columns_add_name(&w.c, (bl_str){bl_arena_str(maker_arena(w.m), (bl_str){p, n}).p, n}, &err), &err);
    p += n + (p[n] == ',');
  }
  expect(&w, want);
  close_world(&w);
}

static void test_columns__come_in_the_order_asked_for(void **state) {
  (void)state;
  names_give("k,l", "1 7");
  names_give("l,k", "7 1");
  names_give("k,k,l,k", "1 7");
}

static void test_columns__nested_names_prune_structs(void **state) {
  (void)state;
  names_give("t.u.x", "2(4(5))");
  names_give("t.u", "2(4(5 6))");
  names_give("t", "2(3 4(5 6))");
  names_give("t.u.y,t.u.x", "2(4(6 5))");
  names_give("t.u.x,k,t", "2(3 4(5 6)) 1");
  names_give("t,t.u.x", "2(3 4(5 6))");
  names_give("t.u,t.u.x", "2(4(5 6))");
  names_give("t.u.x,t.u", "2(4(5 6))");
}

static void test_columns__a_name_with_a_dot_wins_over_a_path(void **state) {
  (void)state;
  names_give("t.a", "11");
}

static void test_columns__lists_are_read_whole(void **state) {
  (void)state;
  names_give("l.element.e", "7");
}

static void test_columns__metadata_columns_have_reserved_ids(void **state) {
  (void)state;
  names_give("_row_id,_last_updated_sequence_number,_file", "2147483540 2147483539 2147483646");
  names_give("meta._row_id,_row_id", "2147483540");
  names_give("_pos,meta._pos", "12 2147483645"); /* a user column wins the name */
  names_give("_partition,_spec_id,_last_updated_at", "2147483642(1001 1000) 2147483643 2147483538");
}

static void test_columns__partition_fields_have_their_results_types(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_columns_add_name(&w.c, BL_STR("_partition"), &err), &err);
  const bl_type *p = &w.c.wanted.fields[0].type;
  assert_int_equal(p->fields[0].type.kind, BL_INT);
  assert_int_equal(p->fields[1].type.kind, BL_LONG);
  close_world(&w);
}

static void test_columns__a_metadata_column_beside_a_user_column_is_called_meta(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_columns_add_id(&w.c, BL_ID_POS, &err), &err);
  test_ok(bl_columns_add_id(&w.c, BL_ID_ROW_ID, &err), &err);
  assert_string_equal(w.c.wanted.fields[0].name.p, "meta._pos");
  assert_string_equal(w.c.wanted.fields[1].name.p, "_row_id");
  close_world(&w);
}

static void test_columns__parts_of_the_partition_are_pruned_and_merged(void **state) {
  (void)state;
  names_give("_partition", "2147483642(1001 1000)");
  names_give("_partition.k", "2147483642(1000)");
  names_give("k,meta._partition.kb", "1 2147483642(1001)");
  names_give("_partition.k,_partition.kb,_partition.k", "2147483642(1000 1001)");
  names_give("_partition.k,_partition", "2147483642(1001 1000)");
  names_give("_partition,_partition.k", "2147483642(1001 1000)");
}

static void test_columns__a_part_of_the_partition_has_the_type_its_values_had(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_columns_add_name(&w.c, BL_STR("_partition.k"), &err), &err);
  assert_int_equal(w.c.wanted.fields[0].type.fields[0].type.kind, BL_LONG); /* void now, identity before */
  close_world(&w);
}

/* A partition field's id may be that of a column: it is asked for by its negative. */
static void test_columns__paths_to_parts_of_the_partition_go_by_negated_ids(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  int32_t path[8];
  test_ok(bl_columns_add_id(&w.c, -1000, &err), &err);
  test_ok(bl_columns_add_id(&w.c, 1, &err), &err);
  expect(&w, "2147483642(1000) 1");
  assert_int_equal(bl_columns_path(&w.c.wanted, -1000, path, 8), 2);
  assert_int_equal(path[1], 0);
  assert_int_equal(bl_columns_path(&w.c.wanted, 1000, path, 8), 0);
  assert_int_equal(bl_columns_path(&w.c.wanted, -1, path, 8), 0);
  assert_int_equal(bl_columns_add_id(&w.c, -5, &err), BL_DAMAGED);
  close_world(&w);
}

static void test_columns__paths_lead_to_fields(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  int32_t path[8];
  test_ok(bl_columns_add_name(&w.c, BL_STR("l"), &err), &err);
  test_ok(bl_columns_add_name(&w.c, BL_STR("t.u.y"), &err), &err);
  assert_int_equal(bl_columns_path(&w.c.wanted, 6, path, 8), 3);
  assert_int_equal(path[0], 1);
  assert_int_equal(path[1], 0);
  assert_int_equal(path[2], 0);
  assert_int_equal(bl_columns_path(&w.c.wanted, 7, path, 8), 1);
  assert_int_equal(bl_columns_path(&w.c.wanted, 5, path, 8), 0);
  assert_int_equal(bl_columns_path(&w.c.wanted, 9, path, 8), 0); /* inside a list */
  assert_int_equal(bl_columns_path(&w.c.wanted, 6, path, 2), 0); /* no room */
  assert_true(bl_columns_has_id(&w.c, 6));
  assert_false(bl_columns_has_id(&w.c, 1));
  close_world(&w);
}

static void test_columns__all_are_those_of_the_schema(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_columns_add_all(&w.c, &err), &err);
  test_ok(bl_columns_add_id(&w.c, 5, &err), &err); /* is there */
  expect(&w, "1 2(3 4(5 6)) 7 11 12");
  close_world(&w);
}

static void test_columns__adding_to_a_struct_leaves_the_schema_as_it_is(void **state) {
  (void)state;
  world w = new_world();
  bl_error err = BL_ERROR_INIT;
  const bl_schema *s = bl_metadata_current_schema(w.md);
  size_t n = s->root.fields[1].type.n_fields;
  for (int32_t id = 3; id < 7; id++)
    if (id != 4) test_ok(bl_columns_add_id(&w.c, id, &err), &err);
  expect(&w, "2(3 4(5 6))");
  assert_int_equal(s->root.fields[1].type.n_fields, n);
  assert_ptr_not_equal(w.c.wanted.fields[0].type.fields, s->root.fields[1].type.fields);
  close_world(&w);
}

static void test_columns__unknown_ones_are_named(void **state) {
  (void)state;
  static const char *const names[] = {"nope", "t.nope",          "K",          "", "meta.k", "meta.nope", "_rowid",
                                      "t..a", "_partition.nope", "_partition."};
  for (size_t i = 0; i < BL_LEN(names); i++) {
    world w = new_world();
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_columns_add_name(&w.c, bl_str_of(names[i]), &err), &err);
    test_says(&err, names[i]);
    err = (bl_error)BL_ERROR_INIT;
    test_status(BL_DAMAGED, bl_columns_add_id(&w.c, 4711, &err), &err);
    test_says(&err, "4711");
    close_world(&w);
  }
}

static bl_status add_some(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  bl_arena *a;
  bl_columns c;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_columns_init(&c, a, w->md, bl_metadata_current_schema(w->md));
  static const char *const names[] = {"t.u.x", "t", "_partition.k", "_partition", "meta._pos", "l", "_row_id"};
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < BL_LEN(names); i++) st = bl_columns_add_name(&c, bl_str_of(names[i]), err);
  bl_arena_free(a);
  return st;
}

static void test_columns__say_when_memory_runs_out(void **state) {
  (void)state;
  world w = new_world();
  test_fail_each(add_some, &w);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns__come_in_the_order_asked_for),
      cmocka_unit_test(test_columns__nested_names_prune_structs),
      cmocka_unit_test(test_columns__a_name_with_a_dot_wins_over_a_path),
      cmocka_unit_test(test_columns__lists_are_read_whole),
      cmocka_unit_test(test_columns__metadata_columns_have_reserved_ids),
      cmocka_unit_test(test_columns__partition_fields_have_their_results_types),
      cmocka_unit_test(test_columns__a_metadata_column_beside_a_user_column_is_called_meta),
      cmocka_unit_test(test_columns__parts_of_the_partition_are_pruned_and_merged),
      cmocka_unit_test(test_columns__a_part_of_the_partition_has_the_type_its_values_had),
      cmocka_unit_test(test_columns__paths_to_parts_of_the_partition_go_by_negated_ids),
      cmocka_unit_test(test_columns__paths_lead_to_fields),
      cmocka_unit_test(test_columns__all_are_those_of_the_schema),
      cmocka_unit_test(test_columns__adding_to_a_struct_leaves_the_schema_as_it_is),
      cmocka_unit_test(test_columns__unknown_ones_are_named),
      cmocka_unit_test(test_columns__say_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
