/* test_arrow_compute.c: filter, take, concat, cast and predicates on C arrays. */
#include <math.h>

#include "table_fixture.h"

typedef struct fixture {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bl_error err;
} fixture;

static void setup(fixture *f, int64_t rows) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f->err), &f->err);
  table_schema(f->ctx, every_type, BL_LEN(every_type), &f->schema);
  random_batch(f->ctx, &f->schema, rows, 3, &f->batch);
}

static void teardown(fixture *f) {
  if (f->batch.release) f->batch.release(&f->batch);
  f->schema.release(&f->schema);
  test_ctx_free(f->ctx);
}

static bl_view *view(fixture *f, const struct ArrowArray *a) {
  bl_view *v;
  test_ok(bl_view_new(f->ctx, &f->schema, &v, &f->err), &f->err);
  test_ok(bl_view_set(v, a, &f->err), &f->err);
  return v;
}

/* The batch once more (it is random but the same). */
static struct ArrowArray again(fixture *f, int64_t rows) {
  struct ArrowArray a;
  random_batch(f->ctx, &f->schema, rows, 3, &a);
  return a;
}

static void assert_filter(int64_t rows, bool (*wanted)(int64_t row)) {
  fixture f;
  setup(&f, rows);
  struct ArrowArray in = again(&f, rows), out;
  uint8_t keep[2000];
  for (int64_t i = 0; i < rows; i++) keep[i] = wanted(i);
  test_ok(bl_arrow_filter(&in, &f.schema, keep, &out, &f.err), &f.err);
  assert_null(in.release);
  bl_view *a = view(&f, &out), *b = view(&f, &f.batch);
  int64_t at = 0;
  for (int64_t i = 0; i < rows; i++)
    if (keep[i]) assert_same(a, at++, b, i);
  assert_int_equal(at, out.length);
  bl_view_free(a);
  bl_view_free(b);
  out.release(&out);
  teardown(&f);
}

static bool here_and_there(int64_t row) {
  return row % 7 == 2 || row > 50;
}

static bool all_but_some(int64_t row) {
  return row % 99 != 41 && row > 3 && row != 1999;
}

static bool all(int64_t row) {
  return row >= 0;
}

static bool none(int64_t row) {
  return row < 0;
}

static void test_arrow_compute__filter_keeps_the_marked_rows_of_every_type(void **state) {
  (void)state;
  assert_filter(60, here_and_there);
}

static void test_arrow_compute__filter_keeps_long_runs_of_rows_of_every_type(void **state) {
  (void)state;
  assert_filter(2000, all_but_some);
  assert_filter(150, all_but_some);
}

static void test_arrow_compute__filter_keeps_all_rows_or_none(void **state) {
  (void)state;
  assert_filter(70, all);
  assert_filter(70, none);
}

/* Rows that a slice leaves out are not there, below structs too. */
static void test_arrow_compute__filter_of_a_slice_counts_from_its_first_row(void **state) {
  (void)state;
  fixture f;
  setup(&f, 200);
  struct ArrowArray in = again(&f, 200), out;
  enum { FIRST = 13 };
  for (int64_t i = 0; i < in.n_children; i++) {
    in.children[i]->offset = FIRST;
    in.children[i]->length -= FIRST;
    if (in.children[i]->null_count > 0) in.children[i]->null_count = -1;
  }
  in.length -= FIRST;
  uint8_t keep[200];
  for (int64_t i = 0; i < in.length; i++) keep[i] = all_but_some(i);
  int64_t rows = in.length, at = 0;
  test_ok(bl_arrow_filter(&in, &f.schema, keep, &out, &f.err), &f.err);
  bl_view *a = view(&f, &out), *b = view(&f, &f.batch);
  for (int64_t i = 0; i < rows; i++)
    if (keep[i]) assert_same(a, at++, b, i + FIRST);
  assert_int_equal(at, out.length);
  bl_view_free(a);
  bl_view_free(b);
  out.release(&out);
  teardown(&f);
}

static void test_arrow_compute__take_gives_rows_in_any_order_and_again(void **state) {
  (void)state;
  fixture f;
  setup(&f, 30);
  struct ArrowArray in = again(&f, 30), out;
  int64_t rows[] = {29, 0, 0, 15, 3, 29};
  test_ok(bl_arrow_take(&in, &f.schema, rows, BL_LEN(rows), &out, &f.err), &f.err);
  assert_null(in.release);
  bl_view *a = view(&f, &out), *b = view(&f, &f.batch);
  assert_int_equal(out.length, BL_LEN(rows));
  for (size_t i = 0; i < BL_LEN(rows); i++) assert_same(a, (int64_t)i, b, rows[i]);
  bl_view_free(a);
  bl_view_free(b);
  out.release(&out);
  in = again(&f, 30);
  rows[2] = 30;
  test_status(BL_USAGE, bl_arrow_take(&in, &f.schema, rows, 3, &out, &f.err), &f.err);
  assert_null(in.release);
  assert_null(out.release);
  teardown(&f);
}

/* Parts 0 and 2 are slices. */
static void make_parts(fixture *f, struct ArrowArray *parts, const int64_t *firsts, const int64_t *lengths, size_t n) {
  for (size_t k = 0; k < n; k++) {
    random_batch(f->ctx, &f->schema, firsts[k] + lengths[k], k + 10, &parts[k]);
    for (int64_t i = 0; i < parts[k].n_children; i++) {
      parts[k].children[i]->offset = firsts[k];
      parts[k].children[i]->length = lengths[k];
      if (firsts[k] && parts[k].children[i]->null_count > 0) parts[k].children[i]->null_count = -1;
    }
    parts[k].length = lengths[k];
  }
}

static void test_arrow_compute__gather_picks_rows_of_every_type_out_of_several_batches(void **state) {
  (void)state;
  enum { PARTS = 4, PICKED = 500 };
  const int64_t firsts[PARTS] = {5, 0, 11, 0}, lengths[PARTS] = {40, 1, 70, 0};
  fixture f;
  setup(&f, 1);
  struct ArrowArray parts[PARTS], out;
  make_parts(&f, parts, firsts, lengths, PARTS);
  int64_t rows[PICKED];
  rng r = {77};
  for (int64_t i = 0; i < PICKED; i++) rows[i] = i % 9 ? rng_below(&r, 111) : 40;
  test_ok(bl_arrow_gather(parts, PARTS, &f.schema, rows, PICKED, &out, &f.err), &f.err);
  assert_int_equal(out.length, PICKED);
  bl_view *got = view(&f, &out), *of[PARTS];
  for (size_t k = 0; k < PARTS; k++) of[k] = view(&f, &parts[k]);
  for (int64_t i = 0; i < PICKED; i++) {
    size_t k = rows[i] < 40 ? 0 : rows[i] < 41 ? 1 : 2;
    assert_same(got, i, of[k], rows[i] - (k == 0 ? 0 : k == 1 ? 40 : 41));
  }
  bl_view_free(got);
  for (size_t k = 0; k < PARTS; k++) bl_view_free(of[k]);
  for (size_t k = 0; k < PARTS; k++) parts[k].release(&parts[k]); /* borrowed */
  out.release(&out);
  teardown(&f);
}

static void test_arrow_compute__gather_leaves_zeros_under_nulls_and_counts_them(void **state) {
  (void)state;
  fixture f;
  setup(&f, 100);
  struct ArrowArray out;
  int64_t rows[100], nulls = 0;
  for (int64_t i = 0; i < 100; i++) rows[i] = 99 - i;
  struct ArrowArray *l = f.batch.children[4];
  for (int64_t i = 0; i < 100; i++) ((int64_t *)(uintptr_t)l->buffers[1])[i] = i + 1;
  test_ok(bl_arrow_gather(&f.batch, 1, &f.schema, rows, 100, &out, &f.err), &f.err);
  const struct ArrowArray *got = out.children[4];
  for (int64_t i = 0; i < 100; i++) {
    bool null = !bl_array_valid(l, 99 - i);
    nulls += null;
    assert_int_equal(bl_array_valid(got, i), !null);
    assert_int_equal(((const int64_t *)got->buffers[1])[i], null ? 0 : 100 - i);
  }
  assert_true(nulls > 0);
  assert_int_equal(got->null_count, nulls);
  assert_int_equal(out.children[0]->null_count, 0); /* required */
  assert_null(out.children[0]->buffers[0]);
  out.release(&out);
  teardown(&f);
}

static void test_arrow_compute__gather_refuses_rows_that_are_not_there(void **state) {
  (void)state;
  fixture f;
  setup(&f, 10);
  struct ArrowArray out;
  const int64_t bad[] = {-1, 10, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_arrow_gather(&f.batch, 1, &f.schema, &bad[i], 1, &out, &err), &err);
    assert_null(out.release);
  }
  test_status(BL_USAGE, bl_arrow_gather(NULL, 0, &f.schema, (int64_t[]){0}, 1, &out, &f.err), &f.err);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arrow_gather(NULL, 0, &f.schema, NULL, 0, &out, &err), &err);
  assert_int_equal(out.length, 0);
  out.release(&out);
  teardown(&f);
}

static void test_arrow_compute__concat_puts_batches_behind_each_other(void **state) {
  (void)state;
  fixture f;
  setup(&f, 20);
  struct ArrowArray in[3] = {again(&f, 20), again(&f, 20), again(&f, 20)}, out;
  test_ok(bl_arrow_concat(in, 3, &f.schema, &out, &f.err), &f.err);
  bl_view *a = view(&f, &out), *b = view(&f, &f.batch);
  assert_int_equal(out.length, 60);
  for (int64_t i = 0; i < 60; i++) assert_same(a, i, b, i % 20);
  bl_view_free(a);
  bl_view_free(b);
  out.release(&out);
  for (int i = 0; i < 3; i++) assert_null(in[i].release);
  test_ok(bl_arrow_concat(NULL, 0, &f.schema, &out, &f.err), &f.err);
  assert_int_equal(out.length, 0);
  out.release(&out);
  teardown(&f);
}

static void test_arrow_compute__batches_without_columns_keep_their_lengths(void **state) {
  (void)state;
  fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f.err), &f.err);
  table_schema(f.ctx, NULL, 0, &f.schema);
  struct ArrowArray in[2], out;
  for (int i = 0; i < 2; i++) test_ok(bl_array_new(f.ctx, 5, 1, 0, &in[i], &f.err), &f.err);
  test_ok(bl_arrow_concat(in, 2, &f.schema, &out, &f.err), &f.err);
  assert_int_equal(out.length, 10);
  in[0] = out;
  test_ok(bl_arrow_filter(&in[0], &f.schema, (uint8_t[]){1, 0, 0, 1, 0, 0, 0, 0, 0, 1}, &out, &f.err), &f.err);
  assert_int_equal(out.length, 3);
  in[0] = out;
  test_ok(bl_arrow_take(&in[0], &f.schema, (int64_t[]){2, 0}, 2, &out, &f.err), &f.err);
  assert_int_equal(out.length, 2);
  out.release(&out);
  teardown(&f);
}

/* ---- cast ---- */

static struct ArrowArray ints(fixture *f, const char *format, const int64_t *v, size_t n, struct ArrowSchema *type) {
  bl_builder *b;
  struct ArrowArray out;
  test_ok(bl_aschema_new(f->ctx, format, BL_STR("x"), true, 0, type, &f->err), &f->err);
  test_ok(bl_builder_new(f->ctx, type, &b, &f->err), &f->err);
  for (size_t i = 0; i < n; i++) {
    if (v[i] == INT64_MIN) test_ok(bl_builder_null(b, &f->err), &f->err);
    else test_ok(bl_builder_int(b, v[i], &f->err), &f->err);
  }
  test_ok(bl_builder_finish(b, &out, &f->err), &f->err);
  bl_builder_free(b);
  return out;
}

static void test_arrow_compute__cast_widens_and_names_the_row_that_does_not_fit(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1);
  struct ArrowSchema from, to;
  int64_t v[200];
  for (int i = 0; i < 200; i++) v[i] = i;
  v[7] = INT64_MIN;
  struct ArrowArray a = ints(&f, "i", v, 200, &from), out;
  test_ok(bl_aschema_new(f.ctx, "l", BL_STR("x"), true, 0, &to, &f.err), &f.err);
  test_ok(bl_arrow_cast(&a, &from, &to, &out, &f.err), &f.err);
  assert_null(a.release);
  assert_int_equal(out.null_count, 1);
  assert_true(((const int64_t *)out.buffers[1])[199] == 199);
  out.release(&out);
  from.release(&from);
  v[137] = 5000000000;
  v[180] = -5000000000;
  a = ints(&f, "l", v, 200, &from);
  to.release(&to);
  test_ok(bl_aschema_new(f.ctx, "i", BL_STR("x"), true, 0, &to, &f.err), &f.err);
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_arrow_cast(&a, &from, &to, &out, &err), &err);
  assert_int_equal(err.position, 137);
  assert_null(a.release);
  assert_null(out.release);
  from.release(&from);
  to.release(&to);
  teardown(&f);
}

static void test_arrow_compute__cast_between_strangers_is_unsupported(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1);
  struct ArrowSchema from, to;
  struct ArrowArray a = ints(&f, "tdD", (int64_t[]){1}, 1, &from), out;
  test_ok(bl_aschema_new(f.ctx, "w:4", BL_STR("x"), true, 0, &to, &f.err), &f.err);
  test_status(BL_UNSUPPORTED, bl_arrow_cast(&a, &from, &to, &out, &f.err), &f.err);
  from.release(&from);
  to.release(&to);
  teardown(&f);
}

/* ---- predicates ---- */

static const column kids_p[] = {C("i", "x", true, -1)};
static const column predicate_columns[] = {
    C("i", "i", true, -1),           C("u", "s", true, -1),       C("g", "d", true, -1),
    N("+s", "st", true, -1, kids_p), C("d:9,2", "dec", true, -1), C("w:2", "w", true, -1),
};

typedef struct literal {
  struct ArrowSchema type;
  struct ArrowArray value;
} literal;

static literal text_literal(fixture *f, const char *format, const char *const *v, size_t n) {
  literal out;
  bl_builder *b;
  test_ok(bl_aschema_new(f->ctx, format, BL_STR("x"), true, 0, &out.type, &f->err), &f->err);
  test_ok(bl_builder_new(f->ctx, &out.type, &b, &f->err), &f->err);
  for (size_t i = 0; i < n; i++) test_ok(bl_builder_bytes(b, v[i], strlen(v[i]), &f->err), &f->err);
  test_ok(bl_builder_finish(b, &out.value, &f->err), &f->err);
  bl_builder_free(b);
  return out;
}

static literal double_literal(fixture *f, const double *v, size_t n) {
  literal out;
  bl_builder *b;
  test_ok(bl_aschema_new(f->ctx, "g", BL_STR("x"), true, 0, &out.type, &f->err), &f->err);
  test_ok(bl_builder_new(f->ctx, &out.type, &b, &f->err), &f->err);
  for (size_t i = 0; i < n; i++) test_ok(bl_builder_double(b, v[i], &f->err), &f->err);
  test_ok(bl_builder_finish(b, &out.value, &f->err), &f->err);
  bl_builder_free(b);
  return out;
}

static literal int_literal(fixture *f, const char *format, const int64_t *v, size_t n) {
  literal out;
  out.value = ints(f, format, v, n, &out.type);
  return out;
}

static void literal_free(literal *l) {
  l->value.release(&l->value);
  l->type.release(&l->type);
}

/* Rows: i 0 1 null 3 | s "ab" "b" "" null | d 1.5 nan -0.0 null | st {0} {null} null {3} | dec 0 1 2 3 | w */
static void setup_predicate(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f->err), &f->err);
  table_schema(f->ctx, predicate_columns, BL_LEN(predicate_columns), &f->schema);
  static const char *const texts[] = {"ab", "b", "", NULL};
  static const double reals[] = {1.5, NAN, -0.0, 0};
  bl_builder *b;
  bl_error *e = &f->err;
  test_ok(bl_builder_new(f->ctx, &f->schema, &b, e), e);
  for (int i = 0; i < 4; i++) {
    bl_builder *st = bl_builder_child(b, 3), *s = bl_builder_child(b, 1), *d = bl_builder_child(b, 2);
    test_ok(i == 2 ? bl_builder_null(bl_builder_child(b, 0), e) : bl_builder_int(bl_builder_child(b, 0), i, e), e);
    test_ok(texts[i] ? bl_builder_bytes(s, texts[i], strlen(texts[i]), e) : bl_builder_null(s, e), e);
    test_ok(i < 3 ? bl_builder_double(d, reals[i], e) : bl_builder_null(d, e), e);
    if (i == 2) {
      test_ok(bl_builder_null(st, e), e);
    } else {
      bl_builder *x = bl_builder_child(st, 0);
      test_ok(i == 1 ? bl_builder_null(x, e) : bl_builder_int(x, i, e), e);
      test_ok(bl_builder_close(st, e), e);
    }
    test_ok(bl_builder_decimal(bl_builder_child(b, 4), i * 100, e), e);
    test_ok(bl_builder_bytes(bl_builder_child(b, 5), i ? "zz" : "aa", 2, e), e);
    test_ok(bl_builder_close(b, e), e);
  }
  test_ok(bl_builder_finish(b, &f->batch, e), e);
  bl_builder_free(b);
}

static void assert_keeps(fixture *f, const bl_pred_step *steps, size_t n, const char *want) {
  uint8_t keep[4];
  test_ok(bl_arrow_predicate(&f->batch, &f->schema, steps, n, keep, &f->err), &f->err);
  for (int i = 0; i < 4; i++) assert_int_equal(keep[i], want[i] - '0');
}

#define COLUMN(...)                                                                                                    \
  { .op = BL_P_COLUMN, .path = (int32_t[]){__VA_ARGS__}, .n_path = sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t) }
#define LITERAL(l)                                                                                                     \
  { .op = BL_P_LITERAL, .literal_type = &(l).type, .literal = &(l).value }
#define KEEPS(want, ...)                                                                                               \
  assert_keeps(&f, (bl_pred_step[]){__VA_ARGS__}, sizeof((bl_pred_step[]){__VA_ARGS__}) / sizeof(bl_pred_step), want)

static void test_arrow_compute__comparisons_are_null_with_null(void **state) {
  (void)state;
  fixture f;
  setup_predicate(&f);
  literal one = int_literal(&f, "i", (int64_t[]){1}, 1), long_one = int_literal(&f, "l", (int64_t[]){1}, 1);
  literal b = text_literal(&f, "u", (const char *[]){"b"}, 1), zz = text_literal(&f, "w:2", (const char *[]){"zz"}, 1);
  literal dec = int_literal(&f, "d:9,2", (int64_t[]){200}, 1);
  KEEPS("0100", COLUMN(0), LITERAL(one), {.op = BL_P_EQ});
  KEEPS("0100", COLUMN(0), LITERAL(long_one), {.op = BL_P_EQ});
  KEEPS("1001", COLUMN(0), LITERAL(one), {.op = BL_P_NE});
  KEEPS("1000", COLUMN(0), LITERAL(one), {.op = BL_P_LT});
  KEEPS("1100", COLUMN(0), LITERAL(one), {.op = BL_P_LE});
  KEEPS("0001", COLUMN(0), LITERAL(one), {.op = BL_P_GT});
  KEEPS("0101", COLUMN(0), LITERAL(one), {.op = BL_P_GE});
  KEEPS("1010", COLUMN(1), LITERAL(b), {.op = BL_P_LT});
  KEEPS("0011", COLUMN(4), LITERAL(dec), {.op = BL_P_GE});
  KEEPS("0111", COLUMN(5), LITERAL(zz), {.op = BL_P_EQ});
  KEEPS("0000", COLUMN(0), {.op = BL_P_LITERAL}, {.op = BL_P_EQ});
  KEEPS("1101", COLUMN(0), COLUMN(0), {.op = BL_P_EQ});
  literal *all[] = {&one, &long_one, &b, &zz, &dec};
  for (size_t i = 0; i < BL_LEN(all); i++) literal_free(all[i]);
  teardown(&f);
}

static void test_arrow_compute__logic_is_three_valued(void **state) {
  (void)state;
  fixture f;
  setup_predicate(&f);
  literal one = int_literal(&f, "i", (int64_t[]){1}, 1);
  /* i = 1: f t n f */
  KEEPS("1001", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_NOT});
  KEEPS("1111", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_TRUE}, {.op = BL_P_OR});
  KEEPS("0000", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_FALSE}, {.op = BL_P_AND});
  KEEPS("1111", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_FALSE}, {.op = BL_P_AND}, {.op = BL_P_NOT});
  KEEPS("0100", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_NULL}, {.op = BL_P_OR});
  KEEPS("1001", COLUMN(0), LITERAL(one), {.op = BL_P_EQ}, {.op = BL_P_NULL}, {.op = BL_P_AND}, {.op = BL_P_NOT});
  KEEPS("1111", {.op = BL_P_TRUE});
  KEEPS("0000", {.op = BL_P_NULL});
  KEEPS("0010", COLUMN(0), {.op = BL_P_IS_NULL});
  literal_free(&one);
  teardown(&f);
}

static void test_arrow_compute__a_field_of_a_null_struct_is_null(void **state) {
  (void)state;
  fixture f;
  setup_predicate(&f);
  literal zero = int_literal(&f, "i", (int64_t[]){0}, 1);
  KEEPS("0110", COLUMN(3, 0), {.op = BL_P_IS_NULL});
  KEEPS("0010", COLUMN(3), {.op = BL_P_IS_NULL});
  KEEPS("1001", COLUMN(3, 0), LITERAL(zero), {.op = BL_P_GE});
  literal_free(&zero);
  teardown(&f);
}

static void test_arrow_compute__membership_prefixes_and_nan(void **state) {
  (void)state;
  fixture f;
  setup_predicate(&f);
  literal set = int_literal(&f, "i", (int64_t[]){3, 0, 77}, 3), empty = int_literal(&f, "i", NULL, 0);
  literal wide = int_literal(&f, "l", (int64_t[]){3, 0}, 2);
  literal texts = text_literal(&f, "u", (const char *[]){"", "ab"}, 2);
  literal reals = double_literal(&f, (double[]){0.0, NAN}, 2);
  KEEPS("1001", COLUMN(0), {.op = BL_P_IN, .literal_type = &set.type, .literal = &set.value});
  KEEPS("0100", COLUMN(0), {.op = BL_P_IN, .literal_type = &set.type, .literal = &set.value}, {.op = BL_P_NOT});
  KEEPS("1001", COLUMN(0), {.op = BL_P_IN, .literal_type = &wide.type, .literal = &wide.value});
  KEEPS("0000", COLUMN(0), {.op = BL_P_IN, .literal_type = &empty.type, .literal = &empty.value});
  KEEPS("1101", COLUMN(0), {.op = BL_P_IN, .literal_type = &empty.type, .literal = &empty.value}, {.op = BL_P_NOT});
  KEEPS("1010", COLUMN(1), {.op = BL_P_IN, .literal_type = &texts.type, .literal = &texts.value});
  KEEPS("0010", COLUMN(2), {.op = BL_P_IN, .literal_type = &reals.type, .literal = &reals.value}); /* -0.0 = 0.0 */
  KEEPS("1000", COLUMN(1), {.op = BL_P_STARTS_WITH, .prefix = "a", .n_prefix = 1});
  KEEPS("1110", COLUMN(1), {.op = BL_P_STARTS_WITH, .prefix = "", .n_prefix = 0});
  KEEPS("0100", COLUMN(2), {.op = BL_P_IS_NAN});
  KEEPS("1010", COLUMN(2), {.op = BL_P_IS_NAN}, {.op = BL_P_NOT});
  literal *all[] = {&set, &empty, &wide, &texts, &reals};
  for (size_t i = 0; i < BL_LEN(all); i++) literal_free(all[i]);
  teardown(&f);
}

static void test_arrow_compute__malformed_predicates_are_usage_errors(void **state) {
  (void)state;
  fixture f;
  setup_predicate(&f);
  static const bl_pred_step none[] = {{.op = BL_P_AND}}, two[] = {{.op = BL_P_TRUE}, {.op = BL_P_TRUE}};
  int32_t far = 17;
  bl_pred_step missing[] = {{.op = BL_P_COLUMN, .path = &far, .n_path = 1}};
  bl_pred_step number[] = {{.op = BL_P_COLUMN, .path = (int32_t[]){0}, .n_path = 1}};
  const bl_pred_step *bad[] = {none, two, missing, number};
  size_t n[] = {1, 2, 1, 1};
  uint8_t keep[4];
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    bl_error err = BL_ERROR_INIT;
    test_status(BL_USAGE, bl_arrow_predicate(&f.batch, &f.schema, bad[i], n[i], keep, &err), &err);
  }
  assert_non_null(f.batch.release); /* borrowed */
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_compute__filter_keeps_the_marked_rows_of_every_type),
      cmocka_unit_test(test_arrow_compute__filter_keeps_long_runs_of_rows_of_every_type),
      cmocka_unit_test(test_arrow_compute__filter_keeps_all_rows_or_none),
      cmocka_unit_test(test_arrow_compute__filter_of_a_slice_counts_from_its_first_row),
      cmocka_unit_test(test_arrow_compute__take_gives_rows_in_any_order_and_again),
      cmocka_unit_test(test_arrow_compute__gather_picks_rows_of_every_type_out_of_several_batches),
      cmocka_unit_test(test_arrow_compute__gather_leaves_zeros_under_nulls_and_counts_them),
      cmocka_unit_test(test_arrow_compute__gather_refuses_rows_that_are_not_there),
      cmocka_unit_test(test_arrow_compute__concat_puts_batches_behind_each_other),
      cmocka_unit_test(test_arrow_compute__batches_without_columns_keep_their_lengths),
      cmocka_unit_test(test_arrow_compute__cast_widens_and_names_the_row_that_does_not_fit),
      cmocka_unit_test(test_arrow_compute__cast_between_strangers_is_unsupported),
      cmocka_unit_test(test_arrow_compute__comparisons_are_null_with_null),
      cmocka_unit_test(test_arrow_compute__logic_is_three_valued),
      cmocka_unit_test(test_arrow_compute__a_field_of_a_null_struct_is_null),
      cmocka_unit_test(test_arrow_compute__membership_prefixes_and_nan),
      cmocka_unit_test(test_arrow_compute__malformed_predicates_are_usage_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
