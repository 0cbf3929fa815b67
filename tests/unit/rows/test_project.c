/* test_project.c: a file's columns -> the wanted ones: which leaves are read, what is made of them. (Whole files:
 * tests/unit/scan/test_schema_reading.c.) */
#include "../edge/table_fixture.h"
#include "rows/project.h"

/* ---- a file by hand ---- */

#define NODE(p, l, id, nm, k, ...)                                                                                     \
  { .parent = p, .leaf = l, .field_id = id, .name = nm, .kind = k, __VA_ARGS__ }
#define ROOT NODE(-1, -1, -1, "", BL_D_STRUCT, .hint = BL_H_NONE)

typedef struct world {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_error err;
  bl_data_file file;
  bl_file_facts facts;
  bl_data_meta meta;
} world;

static world new_world(const bl_data_node *nodes, size_t n, bool ids) {
  world w = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(w.ctx, &w.arena, &w.err), &w.err);
  w.file = (bl_data_file){.path = BL_STR("f.parquet"), .record_count = 100, .first_row_id = 1000};
  w.meta = (bl_data_meta){.nodes = nodes, .n_nodes = n, .has_field_ids = ids};
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

/* A struct type of metadata columns. */
static bl_type meta_type(world *w, const int32_t *ids, const bl_kind *kinds, size_t n) {
  bl_field *f = bl_arena_calloc(w->arena, n, sizeof *f);
  assert_non_null(f);
  for (size_t i = 0; i < n; i++) f[i] = (bl_field){.id = ids[i], .name = BL_STR("m"), .type = {.kind = kinds[i]}};
  return (bl_type){.kind = BL_STRUCT, .fields = f, .n_fields = n};
}

static bl_status try_project(world *w, const bl_type *wanted, const bl_name_mapping *mapping, bl_projection **out,
                             bl_error *err) {
  w->facts.file = &w->file;
  w->facts.data_sequence_number = 7;
  return bl_projection_new(w->ctx, wanted, &w->meta, mapping, true, &w->facts, out, err);
}

static bl_projection *project(world *w, const bl_type *wanted, const bl_name_mapping *mapping) {
  bl_projection *p;
  test_ok(try_project(w, wanted, mapping, &p, &w->err), &w->err);
  return p;
}

static void expect_leaves(const bl_projection *p, const int32_t *want, size_t n) {
  size_t k;
  const int32_t *got = bl_projection_leaves(p, &k);
  assert_int_equal(k, n);
  for (size_t i = 0; i < n; i++) assert_int_equal(got[i], want[i]);
}
#define expect_these_leaves(p, ...)                                                                                    \
  expect_leaves(p, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* ---- which leaves ---- */

/* 0 k · 1 t(a 2, u(x 3, y 4)) · 5 l(element(e, f)) · m(key, value(v, w)) */
static const bl_data_node tree[] = {
    ROOT,
    NODE(0, 0, 1, "k", BL_D_INT64, .required = true),
    NODE(0, -1, 2, "t", BL_D_STRUCT, .required = false),
    NODE(2, 1, 3, "a", BL_D_INT32, .required = false),
    NODE(2, -1, 4, "u", BL_D_STRUCT, .required = false),
    NODE(4, 2, 5, "x", BL_D_INT64, .required = false),
    NODE(4, 3, 6, "y", BL_D_INT64, .required = false),
    NODE(0, -1, 7, "l", BL_D_LIST, .required = false),
    NODE(7, -1, 8, "element", BL_D_STRUCT, .required = false),
    NODE(8, 4, 9, "e", BL_D_INT64, .required = false),
    NODE(8, 5, 10, "f", BL_D_INT64, .required = false),
    NODE(0, -1, 11, "m", BL_D_MAP, .required = false),
    NODE(11, 6, 12, "key", BL_D_STRING, .required = true),
    NODE(11, -1, 13, "value", BL_D_STRUCT, .required = false),
    NODE(13, 7, 14, "v", BL_D_INT64, .required = false),
    NODE(13, 8, 15, "w", BL_D_INT64, .required = false),
    NODE(0, 9, BL_ID_ROW_ID, "_row_id", BL_D_INT64, .required = false),
    NODE(0, 10, BL_ID_LAST_UPDATED, "_last_updated_sequence_number", BL_D_INT64, .required = false),
};

#define F(id, name, type) "{\"id\":" #id ",\"name\":\"" name "\",\"required\":false,\"type\":" type "}"
#define L "\"long\""
#define S(...) "{\"type\":\"struct\",\"fields\":[" __VA_ARGS__ "]}"

static void leaves_of(const char *fields, const int32_t *want, size_t n) {
  world w = new_world(tree, BL_LEN(tree), true);
  bl_projection *p = project(&w, &schema(&w, fields)->root, NULL);
  expect_leaves(p, want, n);
  bl_projection_free(p);
  close_world(&w);
}
#define expect_reads(fields, ...)                                                                                      \
  leaves_of(fields, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void test_project__reads_the_leaves_that_are_wanted(void **state) {
  (void)state;
  expect_reads("[" F(1, "k", L) "]", 0);
  expect_reads("[" F(2, "t", S(F(4, "u", S(F(6, "y", L))))) "," F(1, "k", L) "]", 0, 3);
  expect_reads("[" F(2, "t", S(F(3, "a", "\"int\""))) "]", 1);
  leaves_of("[]", NULL, 0);
}

static void test_project__a_struct_without_wanted_fields_reads_one_leaf_for_its_nulls(void **state) {
  (void)state;
  expect_reads("[" F(2, "t", S(F(99, "new", L))) "]", 1);
  expect_reads("[" F(2, "t", S(F(4, "u", S(F(99, "new", L))))) "]", 2);
  leaves_of("[" F(98, "t", S(F(99, "new", L))) "]", NULL, 0); /* not in the file at all */
}

static void test_project__maps_are_read_whole_and_lists_pruned(void **state) {
  (void)state;
  expect_reads("[{\"id\":7,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":8,\"element-"
               "required\":false,\"element\":" S(F(10, "f", L)) "}}]",
               5);
  expect_reads("[{\"id\":7,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":8,\"element-"
               "required\":false,\"element\":" S(F(99, "n", L)) "}}]",
               4);
  expect_reads("[{\"id\":11,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":12,\"key\":"
               "\"string\",\"value-id\":13,\"value-required\":false,\"value\":" S(F(15, "w", L)) "}}]",
               6, 7, 8);
}

static void test_project__lineage_is_read_only_where_rows_have_ids(void **state) {
  (void)state;
  const int32_t ids[] = {BL_ID_LAST_UPDATED, BL_ID_ROW_ID, BL_ID_POS};
  const bl_kind kinds[] = {BL_LONG, BL_LONG, BL_LONG};
  world w = new_world(tree, BL_LEN(tree), true);
  bl_type t = meta_type(&w, ids, kinds, 3);
  bl_projection *p = project(&w, &t, NULL);
  expect_these_leaves(p, 9, 10);
  bl_projection_free(p);
  w.file.first_row_id = BL_NONE;
  p = project(&w, &t, NULL);
  expect_leaves(p, NULL, 0);
  bl_projection_free(p);
  close_world(&w);
}

static void test_project__stored_lineage_is_a_top_level_long_with_the_reserved_id(void **state) {
  (void)state;
  static const bl_data_node odd[] = {ROOT, NODE(0, -1, 1, "t", BL_D_STRUCT, .required = false),
                                     NODE(1, 0, BL_ID_ROW_ID, "_row_id", BL_D_INT64, .required = false),
                                     NODE(0, 1, BL_ID_LAST_UPDATED, "x", BL_D_INT32, .required = false)};
  bl_data_meta m = {.nodes = odd, .n_nodes = BL_LEN(odd), .has_field_ids = true};
  assert_int_equal(bl_projection_stored_leaf(&m, BL_ID_ROW_ID), -1);
  assert_int_equal(bl_projection_stored_leaf(&m, BL_ID_LAST_UPDATED), -1);
  m = (bl_data_meta){.nodes = tree, .n_nodes = BL_LEN(tree), .has_field_ids = true};
  assert_int_equal(bl_projection_stored_leaf(&m, BL_ID_ROW_ID), 9);
  m.has_field_ids = false;
  assert_int_equal(bl_projection_stored_leaf(&m, BL_ID_ROW_ID), -1);
}

static void test_project__tells_the_leaf_of_a_field(void **state) {
  (void)state;
  world w = new_world(tree, BL_LEN(tree), true);
  bl_projection *p = project(
      &w,
      &schema(&w, "[" F(1, "k", L) "," F(2, "t", S(F(3, "a", L) "," F(4, "u", S(F(6, "y", L) "," F(99, "n", L))))) "]")
           ->root,
      NULL);
  assert_int_equal(bl_projection_leaf_of(p, 1), 0);
  assert_int_equal(bl_projection_leaf_of(p, 3), 1);
  assert_int_equal(bl_projection_leaf_of(p, 6), 3);
  assert_int_equal(bl_projection_leaf_of(p, 99), -1);
  assert_int_equal(bl_projection_leaf_of(p, 5), -1); /* not wanted */
  bl_projection_free(p);
  close_world(&w);
}

/* ---- names ---- */

/* Lists of several generations of writers: what a list's element is called differs. */
static void test_project__a_mapping_calls_elements_keys_and_values_so(void **state) {
  (void)state;
  static const bl_data_node bare[] = {ROOT,
                                      NODE(0, -1, -1, "l", BL_D_LIST, .required = false),
                                      NODE(1, -1, -1, "array", BL_D_STRUCT, .required = false),
                                      NODE(2, 0, -1, "p", BL_D_INT64, .required = false),
                                      NODE(2, 1, -1, "q", BL_D_INT64, .required = false),
                                      NODE(0, -1, -1, "m", BL_D_MAP, .required = false),
                                      NODE(5, 2, -1, "k0", BL_D_STRING, .required = true),
                                      NODE(5, -1, -1, "v0", BL_D_STRUCT, .required = false),
                                      NODE(7, 3, -1, "z", BL_D_INT64, .required = false)};
  world w = new_world(bare, BL_LEN(bare), false);
  bl_name_mapping mapping;
  bl_str json = BL_STR(
      "[{\"field-id\":1,\"names\":[\"l\"],\"fields\":[{\"field-id\":2,\"names\":[\"element\"],\"fields\":["
      "{\"field-id\":4,\"names\":[\"q\"]}]}]},{\"field-id\":5,\"names\":[\"m\"],\"fields\":[{\"field-id\":6,"
      "\"names\":[\"key\"]},{\"field-id\":7,\"names\":[\"value\"],\"fields\":[{\"field-id\":8,\"names\":[\"z\"]}]}]}]");
  test_ok(bl_name_mapping_parse(w.arena, json, &mapping, &w.err), &w.err);
  bl_projection *p = project(
      &w,
      &schema(&w, "[{\"id\":1,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":2,\"element-"
                  "required\":false,\"element\":" S(
                      F(4, "q", L)) "}},"
                                    "{\"id\":5,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":"
                                    "6,\"key\":\"string\",\"value-id\":7,\"value-required\":false,\"value\":" S(
                                        F(8, "z", L)) "}}]")
           ->root,
      &mapping);
  expect_these_leaves(p, 1, 2, 3);
  bl_projection_free(p);
  close_world(&w);
}

/* ---- refusals ---- */

static void refuses(const bl_data_node *nodes, size_t n, const char *fields, bl_status want, const char *says) {
  world w = new_world(nodes, n, true);
  bl_projection *p;
  test_status(want, try_project(&w, &schema(&w, fields)->root, NULL, &p, &w.err), &w.err);
  test_says(&w.err, says);
  test_says(&w.err, "f.parquet");
  close_world(&w);
}

static void test_project__refuses_what_cannot_be_read(void **state) {
  (void)state;
  static const bl_data_node other[] = {ROOT, NODE(0, 0, 1, "iv", BL_D_OTHER, .note = "interval")};
  refuses(tree, BL_LEN(tree), "[" F(1, "k", "\"string\"") "]", BL_DAMAGED, "cannot be read as string");
  refuses(tree, BL_LEN(tree), "[" F(2, "t", L) "]", BL_DAMAGED, "t");
  refuses(tree, BL_LEN(tree), "[" F(1, "k", S(F(50, "x", L))) "]", BL_DAMAGED, "k");
  refuses(tree, BL_LEN(tree), "[" F(1, "k", "\"variant\"") "]", BL_DAMAGED, "k");
  refuses(tree, BL_LEN(tree), "[{\"id\":99,\"name\":\"must\",\"required\":true,\"type\":\"int\"}]", BL_DAMAGED, "must");
  refuses(other, BL_LEN(other), "[" F(1, "iv", L) "]", BL_UNSUPPORTED, "interval");
  world w = new_world(other, BL_LEN(other), true); /* not asked for: no matter */
  bl_projection_free(project(&w, &schema(&w, "[" F(2, "x", L) "]")->root, NULL));
  close_world(&w);
}

/* ---- values ---- */

static const bl_data_node flat[] = {ROOT, NODE(0, 0, 1, "k", BL_D_INT32, .required = false),
                                    NODE(0, 1, BL_ID_ROW_ID, "_row_id", BL_D_INT64, .required = false)};
static const column flat_columns[] = {{.format = "i", .name = "k", .nullable = true, .id = 1},
                                      {.format = "l", .name = "_row_id", .nullable = true, .id = -1}};

/* Rows k = 0 … n - 1, every third null; stored ids 500 + k, null where k is even. */
static struct ArrowArray flat_batch(world *w, int64_t n) {
  struct ArrowSchema s;
  struct ArrowArray a;
  bl_builder *b;
  table_schema(w->ctx, flat_columns, 2, &s);
  test_ok(bl_builder_new(w->ctx, &s, &b, &w->err), &w->err);
  for (int64_t i = 0; i < n; i++) {
    bl_builder *k = bl_builder_child(b, 0), *id = bl_builder_child(b, 1);
    if (i % 3 == 0) test_ok(bl_builder_null(k, &w->err), &w->err);
    else test_ok(bl_builder_int(k, i, &w->err), &w->err);
    if (i % 2 == 0) test_ok(bl_builder_null(id, &w->err), &w->err);
    else test_ok(bl_builder_int(id, 500 + i, &w->err), &w->err);
    test_ok(bl_builder_close(b, &w->err), &w->err);
  }
  test_ok(bl_builder_finish(b, &a, &w->err), &w->err);
  bl_builder_free(b);
  bl_aschema_release(&s);
  return a;
}

/* k widened, the id of each row, its position. */
static bl_type flat_wanted(world *w) {
  bl_field *f = bl_arena_calloc(w->arena, 3, sizeof *f);
  assert_non_null(f);
  f[0] = (bl_field){.id = 1, .name = BL_STR("k"), .type = {.kind = BL_LONG}};
  f[1] = (bl_field){.id = BL_ID_ROW_ID, .name = BL_STR("_row_id"), .type = {.kind = BL_LONG}};
  f[2] = (bl_field){.id = BL_ID_POS, .name = BL_STR("_pos"), .type = {.kind = BL_LONG}};
  return (bl_type){.kind = BL_STRUCT, .fields = f, .n_fields = 3};
}

static void check_flat(world *w, const struct ArrowArray *out, const bl_type *type, const int64_t *ks,
                       const int64_t *positions, int64_t n) {
  struct ArrowSchema s;
  bl_view *v;
  test_ok(bl_aschema_of_struct(w->ctx, type, &s, &w->err), &w->err);
  test_ok(bl_view_new(w->ctx, &s, &v, &w->err), &w->err);
  test_ok(bl_view_set(v, out, &w->err), &w->err);
  assert_int_equal(out->length, n);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = ks[i];
    assert_int_equal(bl_view_null(&v->children[0], i), k % 3 == 0);
    if (k % 3) assert_int_equal(bl_view_i64(&v->children[0], i), k);
    assert_false(bl_view_null(&v->children[1], i));
    assert_int_equal(bl_view_i64(&v->children[1], i), k % 2 ? 500 + k : 1000 + positions[i]);
    assert_int_equal(bl_view_i64(&v->children[2], i), positions[i]);
  }
  bl_view_free(v);
  bl_aschema_release(&s);
}

static void test_project__fills_ids_by_position_where_none_is_stored(void **state) {
  (void)state;
  world w = new_world(flat, BL_LEN(flat), true);
  bl_type t = flat_wanted(&w);
  bl_projection *p = project(&w, &t, NULL);
  int64_t ks[20], first[20], given[20];
  for (int64_t i = 0; i < 20; i++) ks[i] = i, first[i] = 40 + i, given[i] = 3 * i + 1;
  struct ArrowArray in = flat_batch(&w, 20), out;
  test_ok(bl_projection_apply(p, &in, NULL, 40, &out, &w.err), &w.err);
  check_flat(&w, &out, &t, ks, first, 20);
  bl_array_release(&out);
  in = flat_batch(&w, 20);
  test_ok(bl_projection_apply(p, &in, given, 0, &out, &w.err), &w.err);
  check_flat(&w, &out, &t, ks, given, 20);
  bl_array_release(&out);
  bl_projection_free(p);
  close_world(&w);
}

static void test_project__takes_sliced_batches(void **state) {
  (void)state;
  world w = new_world(flat, BL_LEN(flat), true);
  bl_type t = flat_wanted(&w);
  bl_projection *p = project(&w, &t, NULL);
  for (int64_t skip = 0; skip < 12; skip++) {
    int64_t ks[8], positions[8];
    for (int64_t i = 0; i < 8; i++) ks[i] = skip + i, positions[i] = i;
    for (int deep = 0; deep < 2; deep++) { /* the struct is sliced, or each of its children */
      struct ArrowArray in = flat_batch(&w, 20), out;
      in.length = 8;
      if (!deep) in.offset = skip;
      for (int64_t c = 0; deep && c < in.n_children; c++) {
        in.children[c]->offset = skip;
        in.children[c]->length = 8;
        in.children[c]->null_count = -1;
      }
      test_ok(bl_projection_apply(p, &in, NULL, 0, &out, &w.err), &w.err);
      check_flat(&w, &out, &t, ks, positions, 8);
      bl_array_release(&out);
    }
  }
  bl_projection_free(p);
  close_world(&w);
}

static void test_project__an_empty_batch_stays_empty(void **state) {
  (void)state;
  world w = new_world(flat, BL_LEN(flat), true);
  bl_type t = flat_wanted(&w);
  bl_projection *p = project(&w, &t, NULL);
  struct ArrowArray in = flat_batch(&w, 0), out;
  test_ok(bl_projection_apply(p, &in, NULL, 0, &out, &w.err), &w.err);
  assert_int_equal(out.length, 0);
  bl_array_release(&out);
  bl_projection_free(p);
  close_world(&w);
}

static void test_project__a_stored_column_may_be_wanted_twice(void **state) {
  (void)state;
  world w = new_world(tree, BL_LEN(tree), true);
  const int32_t ids[] = {BL_ID_LAST_UPDATED, BL_ID_LAST_UPDATED_AT};
  const bl_kind kinds[] = {BL_LONG, BL_TIMESTAMPTZ};
  bl_type t = meta_type(&w, ids, kinds, 2);
  bl_projection *p = project(&w, &t, NULL);
  expect_these_leaves(p, 10);
  bl_projection_free(p);
  close_world(&w);
}

/* ---- partition values of another age than the column ---- */

static void constant_is(const char *type, bl_value v, const char *fields, int64_t want) {
  world w = new_world(flat, BL_LEN(flat), true);
  bl_partition_field pf = {
      .field_id = 1000, .source_ids = (int32_t[]){5}, .n_source_ids = 1, .transform = {.kind = BL_T_IDENTITY}};
  bl_partition_spec spec = {.fields = &pf, .n_fields = 1};
  w.file.partition = &v;
  w.file.n_partition = 1;
  w.facts.spec = &spec;
  bl_schema *s = schema(&w, fields);
  bl_projection *p = project(&w, &s->root, NULL);
  struct ArrowArray in = flat_batch(&w, 2), out;
  test_ok(bl_projection_apply(p, &in, NULL, 0, &out, &w.err), &w.err);
  const struct ArrowArray *c = out.children[0];
  int64_t got = strcmp(type, "int") == 0 ? ((const int32_t *)c->buffers[1])[1] : ((const int64_t *)c->buffers[1])[1];
  if (strcmp(type, "float") == 0) got = (int64_t)(((const float *)c->buffers[1])[1] * 100);
  if (strcmp(type, "double") == 0) got = (int64_t)(((const double *)c->buffers[1])[1] * 100);
  assert_int_equal(got, want);
  bl_array_release(&out);
  bl_projection_free(p);
  close_world(&w);
}

static void test_project__partition_values_are_widened_and_narrowed(void **state) {
  (void)state;
  constant_is("long", (bl_value){.kind = BL_INT, .u.i = -7}, "[" F(5, "p", L) "]", -7);
  constant_is("int", (bl_value){.kind = BL_LONG, .u.i = -7}, "[" F(5, "p", "\"int\"") "]", -7);
  constant_is("double", (bl_value){.kind = BL_FLOAT, .u.f = 1.25f}, "[" F(5, "p", "\"double\"") "]", 125);
  constant_is("float", (bl_value){.kind = BL_DOUBLE, .u.d = 1.25}, "[" F(5, "p", "\"float\"") "]", 125);
  constant_is("long", (bl_value){.kind = BL_DATE, .u.i = -1}, "[" F(5, "p", "\"timestamp\"") "]", -86400000000);
  constant_is("int", (bl_value){.kind = BL_TIMESTAMP, .u.i = -86400000000}, "[" F(5, "p", "\"date\"") "]", -1);
}

/* ---- memory ---- */

static bl_status project_once(bl_ctx *ctx, void *user, bl_error *err) {
  world *w = user;
  bl_projection *p;
  struct ArrowArray in, out;
  bl_type t = flat_wanted(w);
  BL_TRY(bl_projection_new(ctx, &t, &w->meta, NULL, true, &w->facts, &p, err));
  in = flat_batch(w, 20); /* on the world's own heap */
  bl_status st = bl_projection_apply(p, &in, NULL, 0, &out, err);
  if (st == BL_OK) bl_array_release(&out);
  bl_projection_free(p);
  return st;
}

static void test_project__says_when_memory_runs_out(void **state) {
  (void)state;
  world w = new_world(flat, BL_LEN(flat), true);
  w.facts.file = &w.file;
  test_fail_each(project_once, &w);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_project__reads_the_leaves_that_are_wanted),
      cmocka_unit_test(test_project__a_struct_without_wanted_fields_reads_one_leaf_for_its_nulls),
      cmocka_unit_test(test_project__maps_are_read_whole_and_lists_pruned),
      cmocka_unit_test(test_project__lineage_is_read_only_where_rows_have_ids),
      cmocka_unit_test(test_project__stored_lineage_is_a_top_level_long_with_the_reserved_id),
      cmocka_unit_test(test_project__tells_the_leaf_of_a_field),
      cmocka_unit_test(test_project__a_mapping_calls_elements_keys_and_values_so),
      cmocka_unit_test(test_project__refuses_what_cannot_be_read),
      cmocka_unit_test(test_project__fills_ids_by_position_where_none_is_stored),
      cmocka_unit_test(test_project__takes_sliced_batches),
      cmocka_unit_test(test_project__an_empty_batch_stays_empty),
      cmocka_unit_test(test_project__a_stored_column_may_be_wanted_twice),
      cmocka_unit_test(test_project__partition_values_are_widened_and_narrowed),
      cmocka_unit_test(test_project__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("project", tests, NULL, NULL);
}
