/* test_variant_rows.c: shredded variants put together again (Parquet VariantShredding.md): random values are cut up by
 * a schema and must come back as the same JSON. */
#include "../edge/table_fixture.h"
#include "format/variant.h"
#include "rows/variant_rows.h"

/* v: metadata, value, typed_value {a: long, b: list of strings} */
static const bl_data_node nodes[] = {
    {.parent = -1, .leaf = -1, .field_id = -1, .name = "", .kind = BL_D_STRUCT},
    {.parent = 0, .leaf = -1, .field_id = 1, .name = "v", .kind = BL_D_STRUCT, .hint = BL_H_VARIANT},
    {.parent = 1, .leaf = 0, .field_id = -1, .name = "metadata", .kind = BL_D_BINARY, .required = true},
    {.parent = 1, .leaf = 1, .field_id = -1, .name = "value", .kind = BL_D_BINARY},
    {.parent = 1, .leaf = -1, .field_id = -1, .name = "typed_value", .kind = BL_D_STRUCT},
    {.parent = 4, .leaf = -1, .field_id = -1, .name = "a", .kind = BL_D_STRUCT, .required = true},
    {.parent = 5, .leaf = 2, .field_id = -1, .name = "value", .kind = BL_D_BINARY},
    {.parent = 5, .leaf = 3, .field_id = -1, .name = "typed_value", .kind = BL_D_INT64},
    {.parent = 4, .leaf = -1, .field_id = -1, .name = "b", .kind = BL_D_STRUCT, .required = true},
    {.parent = 8, .leaf = 4, .field_id = -1, .name = "value", .kind = BL_D_BINARY},
    {.parent = 8, .leaf = -1, .field_id = -1, .name = "typed_value", .kind = BL_D_LIST},
    {.parent = 10, .leaf = -1, .field_id = -1, .name = "element", .kind = BL_D_STRUCT, .required = true},
    {.parent = 11, .leaf = 5, .field_id = -1, .name = "value", .kind = BL_D_BINARY},
    {.parent = 11, .leaf = 6, .field_id = -1, .name = "typed_value", .kind = BL_D_STRING},
};
static const bl_data_meta file = {.nodes = nodes, .n_nodes = BL_LEN(nodes)};

#define OPTIONAL .nullable = true, .id = -1
static const column group_a[] = {{.format = "z", .name = "value", OPTIONAL},
                                 {.format = "l", .name = "typed_value", OPTIONAL}};
static const column group_e[] = {{.format = "z", .name = "value", OPTIONAL},
                                 {.format = "u", .name = "typed_value", OPTIONAL}};
static const column element[] = {{.format = "+s", .name = "element", .id = -1, .kids = group_e, .n = 2}};
static const column group_b[] = {{.format = "z", .name = "value", OPTIONAL},
                                 {.format = "+l", .name = "typed_value", OPTIONAL, .kids = element, .n = 1}};
static const column object[] = {{.format = "+s", .name = "a", .id = -1, .kids = group_a, .n = 2},
                                {.format = "+s", .name = "b", .id = -1, .kids = group_b, .n = 2}};
static const column variant[] = {{.format = "z", .name = "metadata", .id = -1},
                                 {.format = "z", .name = "value", OPTIONAL},
                                 {.format = "+s", .name = "typed_value", OPTIONAL, .kids = object, .n = 2}};
static const column root[] = {{.format = "+s", .name = "v", OPTIONAL, .kids = variant, .n = 3}};

/* ---- values, as trees ---- */

typedef enum kind { MISSING, NUL, TRUE, NUMBER, TEXT, ARRAY, OBJECT } kind;
enum { KEYS = 4, ITEMS = 3 };

typedef struct tree tree;
struct tree {
  kind k;
  int64_t number;
  char text[8];
  tree *kids[KEYS]; /* OBJECT: by key a … d, NULL missing; ARRAY: the first n */
  int n;
};

static tree *random_tree(rng *r, int depth) {
  tree *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->k = (kind)(NUL + rng_below(r, depth > 0 ? 6 : 4));
  t->number = rng_below(r, 1000) - 500;
  for (int64_t i = 0, n = rng_below(r, 6); i < n; i++) t->text[i] = (char)('p' + rng_below(r, 8));
  if (t->k == ARRAY) t->n = (int)rng_below(r, ITEMS + 1);
  for (int i = 0; i < t->n; i++) t->kids[i] = random_tree(r, depth - 1);
  if (t->k == OBJECT)
    for (int i = 0; i < KEYS; i++)
      if (rng_below(r, 2)) t->kids[i] = random_tree(r, depth - 1);
  return t;
}

static void free_tree(tree *t) {
  if (!t) return;
  for (int i = 0; i < KEYS; i++) free_tree(t->kids[i]);
  free(t);
}

static void print_tree(bl_buf *b, const tree *t) {
  bool first = true;
  switch (t->k) {
  case TRUE: bl_buf_cstr(b, "true"); return;
  case NUMBER: bl_print_i64(b, t->number); return;
  case TEXT: bl_print_json_str(b, bl_str_of(t->text)); return;
  case ARRAY:
    bl_buf_byte(b, '[');
    for (int i = 0; i < t->n; i++) {
      if (i) bl_buf_byte(b, ',');
      print_tree(b, t->kids[i]);
    }
    bl_buf_byte(b, ']');
    return;
  case OBJECT:
    bl_buf_byte(b, '{');
    for (int i = 0; i < KEYS; i++) {
      if (!t->kids[i]) continue;
      bl_buf_printf(b, "%s\"%c\":", first ? "" : ",", 'a' + i);
      first = false;
      print_tree(b, t->kids[i]);
    }
    bl_buf_byte(b, '}');
    return;
  default: bl_buf_cstr(b, "null");
  }
}

/* ---- encoding by hand, with the dictionary a, b, c, d ---- */

static const uint8_t dictionary[] = {0x11, 4, 0, 1, 2, 3, 4, 'a', 'b', 'c', 'd'};

static void put_u16(bl_buf *b, size_t v) {
  bl_buf_byte(b, (uint8_t)v);
  bl_buf_byte(b, (uint8_t)(v >> 8));
}

static void encode(bl_buf *b, const tree *t, unsigned keys);

/* The header and offsets (2 bytes) of kids whose bytes follow. */
static void encode_kids(bl_buf *b, const tree *t, unsigned keys, bool is_object) {
  bl_buf kids;
  size_t ends[KEYS + 1] = {0};
  int n = 0;
  bl_buf_init(&kids, b->ctx, BL_BUF_MAX);
  bl_buf_byte(b, is_object ? 2 | 1 << 2 : 3 | 1 << 2);
  for (int i = 0; i < (is_object ? KEYS : t->n); i++) {
    if (!t->kids[i] || !(keys >> i & 1)) continue;
    encode(&kids, t->kids[i], ~0u);
    ends[++n] = kids.n;
  }
  bl_buf_byte(b, (uint8_t)n);
  for (int i = 0; is_object && i < KEYS; i++)
    if (t->kids[i] && (keys >> i & 1)) bl_buf_byte(b, (uint8_t)i);
  for (int i = 0; i <= n; i++) put_u16(b, ends[i]);
  bl_buf_add(b, kids.p, kids.n);
  bl_buf_free(&kids);
}

static void encode(bl_buf *b, const tree *t, unsigned keys) {
  size_t n = strlen(t->text);
  switch (t->k) {
  case TRUE: bl_buf_byte(b, 1 << 2); return;
  case NUMBER:
    bl_buf_byte(b, 6 << 2);
    bl_buf_add(b, &t->number, 8);
    return;
  case TEXT:
    bl_buf_byte(b, (uint8_t)(n << 2 | 1));
    bl_buf_add(b, t->text, n);
    return;
  case ARRAY: encode_kids(b, t, ~0u, false); return;
  case OBJECT: encode_kids(b, t, keys, true); return;
  default: bl_buf_byte(b, 0);
  }
}

static void add_encoded(bl_ctx *ctx, bl_builder *to, const tree *t, unsigned keys) {
  bl_error err = BL_ERROR_INIT;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  encode(&b, t, keys);
  test_ok(bl_builder_bytes(to, b.p, b.n, &err), &err);
  bl_buf_free(&b);
}

/* ---- shredding ---- */

static void null(bl_builder *b) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_builder_null(b, &err), &err);
}

/* A group whose typed_value is a long or a string. t NULL: missing. */
static void shred_leaf(bl_ctx *ctx, bl_builder *group, const tree *t, kind typed) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *value = bl_builder_child(group, 0), *leaf = bl_builder_child(group, 1);
  if (t && t->k == typed) {
    null(value);
    if (typed == NUMBER) test_ok(bl_builder_int(leaf, t->number, &err), &err);
    else test_ok(bl_builder_bytes(leaf, t->text, strlen(t->text), &err), &err);
  } else {
    if (t) add_encoded(ctx, value, t, ~0u);
    else null(value);
    null(leaf);
  }
  test_ok(bl_builder_close(group, &err), &err);
}

static void shred_list(bl_ctx *ctx, bl_builder *group, const tree *t) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *value = bl_builder_child(group, 0), *list = bl_builder_child(group, 1);
  if (t && t->k == ARRAY) {
    null(value);
    for (int i = 0; i < t->n; i++) shred_leaf(ctx, bl_builder_child(list, 0), t->kids[i], TEXT);
    test_ok(bl_builder_close(list, &err), &err);
  } else {
    if (t) add_encoded(ctx, value, t, ~0u);
    else null(value);
    null(list);
  }
  test_ok(bl_builder_close(group, &err), &err);
}

static void shred(bl_ctx *ctx, bl_builder *v, const tree *t) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *value = bl_builder_child(v, 1), *typed = bl_builder_child(v, 2);
  if (!t) {
    null(v);
    return;
  }
  test_ok(bl_builder_bytes(bl_builder_child(v, 0), dictionary, sizeof dictionary, &err), &err);
  if (t->k == OBJECT) {
    if (t->kids[2] || t->kids[3]) add_encoded(ctx, value, t, 4 | 8); /* what has no column */
    else null(value);
    shred_leaf(ctx, bl_builder_child(typed, 0), t->kids[0], NUMBER);
    shred_list(ctx, bl_builder_child(typed, 1), t->kids[1]);
    test_ok(bl_builder_close(typed, &err), &err);
  } else {
    add_encoded(ctx, value, t, ~0u);
    null(typed);
  }
  test_ok(bl_builder_close(v, &err), &err);
}

/* ---- the tests ---- */

enum { ROWS = 40 };

static void shred_rows(bl_ctx *ctx, tree **trees, int64_t n, struct ArrowArray *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema s;
  struct ArrowArray batch;
  bl_builder *b;
  table_schema(ctx, root, 1, &s);
  test_ok(bl_builder_new(ctx, &s, &b, &err), &err);
  for (int64_t i = 0; i < n; i++) {
    shred(ctx, bl_builder_child(b, 0), trees[i]);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &batch, &err), &err);
  bl_array_move(batch.children[0], out);
  bl_array_release(&batch);
  bl_builder_free(b);
  bl_aschema_release(&s);
}

static bl_str bytes_of(const struct ArrowArray *a, int64_t i) {
  const int32_t *off = (const int32_t *)a->buffers[1] + a->offset + i;
  return (bl_str){(const char *)a->buffers[2] + off[0], (size_t)(off[1] - off[0])};
}

static void expect_rows(bl_ctx *ctx, const struct ArrowArray *out, tree *const *trees, int64_t n) {
  bl_error err = BL_ERROR_INIT;
  bl_buf got, want;
  bl_buf_init(&got, ctx, BL_BUF_MAX);
  bl_buf_init(&want, ctx, BL_BUF_MAX);
  assert_int_equal(out->length, n);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(bl_array_valid(out, i), trees[i] != NULL);
    if (!trees[i]) continue;
    bl_buf_clear(&got);
    bl_buf_clear(&want);
    test_ok(bl_variant_print(ctx, bytes_of(out->children[0], i), bytes_of(out->children[1], i), &got, &err), &err);
    print_tree(&want, trees[i]);
    bl_buf_byte(&got, 0);
    bl_buf_byte(&want, 0);
    assert_string_equal((const char *)got.p, (const char *)want.p);
  }
  bl_buf_free(&got);
  bl_buf_free(&want);
}

static void random_trees(rng *r, tree **trees) {
  for (int i = 0; i < ROWS; i++) trees[i] = rng_below(r, 8) ? random_tree(r, 3) : NULL;
}

static void free_trees(tree **trees) {
  for (int i = 0; i < ROWS; i++) free_tree(trees[i]);
}

static void test_variant_rows__put_shredded_values_together_again(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  rng r = {99};
  for (int round = 0; round < 60; round++) {
    bl_error err = BL_ERROR_INIT;
    tree *trees[ROWS];
    struct ArrowArray in, out;
    random_trees(&r, trees);
    shred_rows(ctx, trees, ROWS, &in);
    test_ok(bl_variant_rows(ctx, &file, 1, &in, &out, &err), &err);
    expect_rows(ctx, &out, trees, ROWS);
    assert_null(in.release);
    bl_array_release(&out);
    free_trees(trees);
  }
  test_ctx_free(ctx);
}

static void test_variant_rows__take_slices(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  rng r = {5};
  tree *trees[ROWS];
  random_trees(&r, trees);
  for (int64_t skip = 0; skip < 20; skip++) {
    bl_error err = BL_ERROR_INIT;
    struct ArrowArray in, out;
    shred_rows(ctx, trees, ROWS, &in);
    in.offset = skip;
    in.length = 10;
    in.null_count = -1;
    test_ok(bl_variant_rows(ctx, &file, 1, &in, &out, &err), &err);
    expect_rows(ctx, &out, trees + skip, 10);
    bl_array_release(&out);
  }
  free_trees(trees);
  test_ctx_free(ctx);
}

/* Bytes that are no variant, and a column that lacks a part. */
static void test_variant_rows__damage_is_told(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  tree *object_tree = calloc(1, sizeof *object_tree);
  assert_non_null(object_tree);
  object_tree->k = OBJECT;
  object_tree->kids[3] = calloc(1, sizeof *object_tree);
  assert_non_null(object_tree->kids[3]);
  object_tree->kids[3]->k = NUL;
  for (int part = 0; part < 2; part++) {
    bl_error err = BL_ERROR_INIT;
    struct ArrowArray in, out;
    shred_rows(ctx, &object_tree, 1, &in);
    uint8_t *bytes = (uint8_t *)(uintptr_t)in.children[part]->buffers[2];
    bytes[part ? 0 : 1] = 0xfe; /* the number of names, the type of the value */
    test_status(BL_DAMAGED, bl_variant_rows(ctx, &file, 1, &in, &out, &err), &err);
    assert_null(in.release);
    assert_null(out.release);
  }
  bl_error err = BL_ERROR_INIT;
  struct ArrowArray in, out;
  static const bl_data_node few[] = {{.parent = -1, .leaf = -1, .name = "", .kind = BL_D_STRUCT},
                                     {.parent = 0, .leaf = -1, .name = "v", .kind = BL_D_STRUCT},
                                     {.parent = 1, .leaf = 0, .name = "value", .kind = BL_D_BINARY}};
  shred_rows(ctx, &object_tree, 1, &in);
  test_status(BL_DAMAGED, bl_variant_rows(ctx, &(bl_data_meta){.nodes = few, .n_nodes = 3}, 1, &in, &out, &err), &err);
  free_tree(object_tree);
  test_ctx_free(ctx);
}

typedef struct memory_case {
  bl_ctx *own;
  tree *trees[ROWS];
} memory_case;

static bl_status assemble_once(bl_ctx *ctx, void *user, bl_error *err) {
  memory_case *m = user;
  struct ArrowArray in, out;
  shred_rows(m->own, m->trees, ROWS, &in);
  bl_status st = bl_variant_rows(ctx, &file, 1, &in, &out, err);
  if (st == BL_OK) bl_array_release(&out);
  return st;
}

static void test_variant_rows__say_when_memory_runs_out(void **state) {
  (void)state;
  memory_case m = {.own = test_ctx()};
  rng r = {31};
  random_trees(&r, m.trees);
  test_fail_each(assemble_once, &m);
  free_trees(m.trees);
  test_ctx_free(m.own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant_rows__put_shredded_values_together_again),
      cmocka_unit_test(test_variant_rows__take_slices),
      cmocka_unit_test(test_variant_rows__damage_is_told),
      cmocka_unit_test(test_variant_rows__say_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("variant_rows", tests, NULL, NULL);
}
