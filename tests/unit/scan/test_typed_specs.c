/* test_typed_specs.c: what a manifest can hold by its list entry. */
#include "format/metadata_json.h"
#include "scan/typed_specs.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_arena *a;
  bl_metadata *md;
  bl_typed_specs specs;
  bl_error err;
} fixture;

/* Column 4 is dropped: only the older schema has it; column 2 was an int when partitions were written. */
static const char metadata[] =
    "{\"format-version\":2,\"table-uuid\":\"00000000-0000-4000-8000-000000000001\",\"location\":\"/t\","
    "\"last-updated-ms\":1,\"last-column-id\":4,\"last-sequence-number\":9,\"last-partition-id\":1003,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":2,\"name\":\"n\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":4,\"name\":\"old\",\"required\":false,\"type\":\"date\"}]},"
    "{\"type\":\"struct\",\"schema-id\":1,\"fields\":["
    "{\"id\":2,\"name\":\"n\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":3,\"name\":\"f\",\"required\":false,\"type\":\"double\"}]}],\"current-schema-id\":1,"
    "\"partition-specs\":[{\"spec-id\":7,\"fields\":["
    "{\"source-id\":2,\"field-id\":1000,\"transform\":\"identity\",\"name\":\"n\"},"
    "{\"source-id\":3,\"field-id\":1001,\"transform\":\"identity\",\"name\":\"f\"},"
    "{\"source-id\":4,\"field-id\":1002,\"transform\":\"identity\",\"name\":\"old\"},"
    "{\"source-id\":2,\"field-id\":1003,\"transform\":\"future[3]\",\"name\":\"x\"}]}],"
    "\"default-spec-id\":7,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0}";

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(f->ctx, &f->a, &f->err), &f->err);
  test_ok(bl_metadata_parse(f->ctx, metadata, sizeof metadata - 1, &f->md, &f->err), &f->err);
  test_ok(bl_typed_specs_make(f->a, f->md, &f->specs, &f->err), &f->err);
}

static void teardown(fixture *f) {
  bl_metadata_free(f->md);
  bl_arena_free(f->a);
  test_ctx_free(f->ctx);
}

static const int32_t low_int = 10, high_int = 20;
static const int64_t low_long = 10, high_long = 20;
static const double low_double = 1.5, high_double = 2.5, nan_double = 0.0 / 0.0;
#define BYTES(x) ((bl_str){(const char *)&(x), sizeof(x)})

enum { FIELDS = 4 };

/* A manifest and a tuple that agree in every field. */
typedef struct both {
  bl_field_summary s[FIELDS];
  bl_value v[FIELDS];
} both;

static both fitting(void) {
  return (both){.s = {{.lower = BYTES(low_long), .upper = BYTES(high_long)},
                      {.lower = BYTES(low_double), .upper = BYTES(high_double), .has_nan = true},
                      {.lower = BYTES(low_int), .upper = BYTES(high_int)},
                      {.lower = BYTES(low_int), .upper = BYTES(high_int)}},
                .v = {{.kind = BL_LONG, .u.i = 15},
                      {.kind = BL_DOUBLE, .u.d = 2.0},
                      {.kind = BL_DATE, .u.i = 15},
                      {.kind = BL_INT, .u.i = 99}}};
}

static bool may_hold(const fixture *f, both *b) {
  bl_manifest_file m = {.spec_id = 7, .has_partitions = true, .n_partitions = FIELDS, .partitions = b->s};
  return bl_manifest_may_hold(&m, bl_typed_specs_get(&f->specs, 7), b->v, FIELDS);
}

static void test_typed_specs__dropped_sources_keep_their_type(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  const bl_typed_spec *s = bl_typed_specs_get(&f.specs, 7);
  assert_int_equal(s->types[0].kind, BL_LONG);
  assert_int_equal(s->types[2].kind, BL_DATE);
  assert_int_equal(s->types[3].kind, BL_KIND_UNKNOWN);
  assert_null(bl_typed_specs_get(&f.specs, 0));
  teardown(&f);
}

static void test_typed_specs__bounds_are_inclusive(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  static const struct {
    int64_t v;
    bool may;
  } cases[] = {{9, false}, {10, true}, {20, true}, {21, false}};
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    both b = fitting();
    b.v[0].u.i = cases[i].v;
    assert_int_equal(may_hold(&f, &b), cases[i].may);
    b = fitting();
    b.v[2].u.i = cases[i].v;
    assert_int_equal(may_hold(&f, &b), cases[i].may);
  }
  teardown(&f);
}

static void test_typed_specs__promoted_values_compare_with_older_bounds(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  both b = fitting();
  b.s[0].lower = BYTES(low_int), b.s[0].upper = BYTES(high_int);
  assert_true(may_hold(&f, &b));
  b.v[0].u.i = 21;
  assert_false(may_hold(&f, &b));
  b.v[0].kind = BL_INT;
  assert_false(may_hold(&f, &b));
  teardown(&f);
}

static void test_typed_specs__nulls_and_nans_have_their_own_marks(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  both b = fitting();
  b.v[0].null = true;
  assert_false(may_hold(&f, &b));
  b.s[0].contains_null = true;
  assert_true(may_hold(&f, &b));
  b.v[1].u.d = nan_double;
  assert_false(may_hold(&f, &b));
  b.s[1].contains_nan = true;
  assert_true(may_hold(&f, &b));
  b.s[1].has_nan = false; /* not known */
  b.s[1].contains_nan = false;
  assert_true(may_hold(&f, &b));
  teardown(&f);
}

static void test_typed_specs__what_cannot_be_trusted_rules_out_nothing(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  both b = fitting();
  b.v[0].u.i = b.v[2].u.i = 99;
  b.s[0].lower = BL_STR_NONE;
  b.s[2].upper = BL_STR("odd");
  assert_true(may_hold(&f, &b));
  b = fitting();
  b.v[0].u.i = 99;
  b.s[0].lower = BYTES(high_long), b.s[0].upper = BYTES(low_long); /* inverted */
  assert_true(may_hold(&f, &b));
  b = fitting();
  b.v[1].u.d = 9;
  b.s[1].upper = BYTES(nan_double);
  assert_true(may_hold(&f, &b));
  b = fitting();
  b.v[2].kind = BL_TIMESTAMP; /* another kind than that of the bounds */
  b.v[2].u.i = 99;
  assert_true(may_hold(&f, &b));
  teardown(&f);
}

static void test_typed_specs__without_summaries_everything_is_possible(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  both b = fitting();
  b.v[0].u.i = 99;
  bl_manifest_file m = {.spec_id = 7, .has_partitions = true, .n_partitions = 3, .partitions = b.s};
  const bl_typed_spec *s = bl_typed_specs_get(&f.specs, 7);
  assert_true(bl_manifest_may_hold(&m, s, b.v, FIELDS));
  m.n_partitions = FIELDS;
  assert_false(bl_manifest_may_hold(&m, s, b.v, FIELDS));
  assert_true(bl_manifest_may_hold(&m, NULL, b.v, FIELDS));
  m.has_partitions = false;
  assert_true(bl_manifest_may_hold(&m, s, b.v, FIELDS));
  teardown(&f);
}

static void test_typed_specs__counts_tell_whether_anything_lives(void **state) {
  (void)state;
  bl_manifest_file m = {.deleted_files = 4};
  assert_false(bl_manifest_may_live(&m));
  m.existing_files = 1;
  assert_true(bl_manifest_may_live(&m));
  m = (bl_manifest_file){.added_files = BL_NONE, .existing_files = 0};
  assert_true(bl_manifest_may_live(&m));
}

static bl_status make(bl_ctx *ctx, void *user, bl_error *err) {
  bl_arena *a;
  bl_typed_specs s;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_typed_specs_make(a, user, &s, err);
  bl_arena_free(a);
  return st;
}

static void test_typed_specs__survives_each_failing_allocation(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  test_fail_each(make, f.md);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_typed_specs__dropped_sources_keep_their_type),
      cmocka_unit_test(test_typed_specs__bounds_are_inclusive),
      cmocka_unit_test(test_typed_specs__promoted_values_compare_with_older_bounds),
      cmocka_unit_test(test_typed_specs__nulls_and_nans_have_their_own_marks),
      cmocka_unit_test(test_typed_specs__what_cannot_be_trusted_rules_out_nothing),
      cmocka_unit_test(test_typed_specs__without_summaries_everything_is_possible),
      cmocka_unit_test(test_typed_specs__counts_tell_whether_anything_lives),
      cmocka_unit_test(test_typed_specs__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
