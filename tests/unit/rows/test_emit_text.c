/* test_emit_text.c: batches as NDJSON, CSV and tables; the sink; widths of text. */
#include "made.h"

#include "rows/emit_text.h"
#include "rows/width.h"

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

/* A sink that gathers; it refuses once it holds `most` bytes. */
typedef struct gather {
  bl_buf b;
  size_t most, calls;
} gather;

static bl_status gather_write(void *user, const void *p, size_t n, bl_error *err) {
  gather *g = user;
  g->calls++;
  if (g->most && g->b.n + n > g->most) return bl_fail(err, BL_CANCELLED, "nobody reads");
  bl_buf_add(&g->b, p, n);
  return bl_buf_ok(&g->b, err);
}

static bl_emit *open_emit(bl_emit_kind kind, gather *g, const made *m) {
  *g = (gather){0};
  bl_buf_init(&g->b, ctx, BL_BUF_MAX);
  bl_sink sink = {.write = gather_write, .user = g};
  bl_emit *e;
  bl_error err = BL_ERROR_INIT;
  if (bl_emit_open(ctx, kind, &sink, &m->schema, &e, &err) != BL_OK) fail_msg("%s", err.message);
  return e;
}

/* The finished batch, written `times` times, gives this text. */
static void emits(bl_emit_kind kind, const made *m, int times, const char *want) {
  gather g;
  bl_emit *e = open_emit(kind, &g, m);
  bl_error err = BL_ERROR_INIT;
  for (int i = 0; i < times; i++)
    if (bl_emit_batch(e, &m->array, &err) != BL_OK) fail_msg("%s", err.message);
  assert_int_equal(bl_emit_finish(e, &err), BL_OK);
  bl_buf_byte(&g.b, 0);
  assert_string_equal((const char *)g.b.p, want);
  bl_emit_free(e);
  bl_buf_free(&g.b);
}

static made *batch(int n, made **kids) {
  made *root = made_new("+s", "", n, kids);
  for (int64_t i = 0; i < kids[0]->rows; i++) made_row(root, true);
  return root;
}

/* Three rows: a number, a text with everything CSV trips over, a list. */
static made *sample(void) {
  made *element = made_new("i", "element", 0, NULL);
  made *kids[] = {made_new("l", "id", 0, NULL), made_new("u", "the \"text\"", 0, NULL),
                  made_new("+l", "list", 1, &element)};
  made_i64(kids[0], 1), made_i64(kids[0], -20), made_null(kids[0]);
  made_str(kids[1], "a,b\n\"c\""), made_str(kids[1], ""), made_null(kids[1]);
  made_i32(element, 1), made_i32(element, 2), made_close(kids[2], true);
  made_close(kids[2], true), made_close(kids[2], false);
  made *root = batch(3, kids);
  made_finish(root);
  return root;
}

static void test_emit_text__ndjson_is_an_object_a_line(void **state) {
  (void)state;
  made *m = sample();
  emits(BL_EMIT_NDJSON, m, 1,
        "{\"id\":1,\"the \\\"text\\\"\":\"a,b\\n\\\"c\\\"\",\"list\":[1,2]}\n"
        "{\"id\":-20,\"the \\\"text\\\"\":\"\",\"list\":[]}\n"
        "{\"id\":null,\"the \\\"text\\\"\":null,\"list\":null}\n");
  emits(BL_EMIT_NDJSON, m, 0, "");
  made_free(m);
}

static void test_emit_text__csv_keeps_null_and_the_empty_string_apart(void **state) {
  (void)state;
  made *m = sample();
  emits(BL_EMIT_CSV, m, 1,
        "id,\"the \"\"text\"\"\",list\n"
        "1,\"a,b\n\"\"c\"\"\",\"[1,2]\"\n"
        "-20,\"\",[]\n"
        ",,\n");
  emits(BL_EMIT_CSV, m, 0, "id,\"the \"\"text\"\"\",list\n");
  made_free(m);
}

static void test_emit_text__csv_values_are_bare_text(void **state) {
  (void)state;
  made *kids[] = {made_new("d:9,2", "d", 0, NULL), made_new("tdD", "t", 0, NULL), made_new("z", "b", 0, NULL),
                  made_new("g", "g", 0, NULL), made_new("b", "flag", 0, NULL)};
  made_decimal(kids[0], 150), made_i32(kids[1], 0), made_str(kids[2], ""), made_double(kids[3], 0.0 / 0.0),
      made_bool(kids[4], true);
  made_decimal(kids[0], -150), made_i32(kids[1], 1), made_str(kids[2], "\xff"), made_double(kids[3], 2),
      made_bool(kids[4], false);
  made *m = batch(5, kids);
  made_finish(m);
  emits(BL_EMIT_CSV, m, 1, "d,t,b,g,flag\n1.50,1970-01-01,\"\",NaN,true\n-1.50,1970-01-02,/w==,2.0,false\n");
  made_free(m);
}

static void test_emit_text__a_table_aligns_numbers_to_the_right(void **state) {
  (void)state;
  made *kids[] = {made_new("l", "id", 0, NULL), made_new("u", "name", 0, NULL), made_new("d:9,2", "price", 0, NULL),
                  made_new("u", "last", 0, NULL)};
  made_i64(kids[0], 1), made_str(kids[1], "gr\xc3\xbc\xc3\x9f"), made_decimal(kids[2], 12345), made_str(kids[3], "x");
  made_i64(kids[0], 1000), made_null(kids[1]), made_decimal(kids[2], -1), made_str(kids[3], "");
  made_null(kids[0]), made_str(kids[1], "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"), made_null(kids[2]),
      made_str(kids[3], "y");
  made *m = batch(4, kids);
  made_finish(m);
  emits(BL_EMIT_TEXT, m, 1,
        "  id  name     price  last\n"
        "----  ------  ------  ----\n"
        "   1  gr\xc3\xbc\xc3\x9f    123.45  x\n"
        "1000  null     -0.01  \n"
        "null  \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e    null  y\n");
  emits(BL_EMIT_TEXT, m, 0,
        "id  name  price  last\n"
        "--  ----  -----  ----\n");
  made_free(m);
}

static void test_emit_text__a_table_shows_control_characters_instead_of_obeying_them(void **state) {
  (void)state;
  made *kids[] = {made_new("u", "s", 0, NULL)};
  made_str(kids[0], "a\nb\t\x1b[31m\x7f\xc2\x9b\xc2\xa0");
  made *m = batch(1, kids);
  made_finish(m);
  emits(BL_EMIT_TEXT, m, 1, "s\n-----------------------------\na\\nb\\t\\u001b[31m\\u007f\\u009b\xc2\xa0\n");
  made_free(m);
}

static void test_emit_text__a_table_of_many_rows_takes_its_widths_from_the_first(void **state) {
  (void)state;
  made *kids[] = {made_new("u", "s", 0, NULL), made_new("l", "n", 0, NULL)};
  for (int i = 0; i < 1500; i++) made_str(kids[0], i < 1000 ? "abc" : "wider"), made_i64(kids[1], 7);
  made *m = batch(2, kids);
  made_finish(m);
  gather g;
  bl_emit *e = open_emit(BL_EMIT_TEXT, &g, m);
  assert_int_equal(bl_emit_batch(e, &m->array, NULL), BL_OK);
  assert_int_equal(bl_emit_finish(e, NULL), BL_OK);
  bl_buf_byte(&g.b, 0);
  const char *p = (const char *)g.b.p;
  assert_int_equal(strncmp(p, "s    n\n---  -\nabc  7\n", 21), 0);
  assert_string_equal(p + g.b.n - 1 - 9, "wider  7\n");
  assert_int_equal(g.b.n - 1, 14 + 1000 * 7 + 500 * 9);
  bl_emit_free(e);
  bl_buf_free(&g.b);
  made_free(m);
}

static void test_emit_text__one_very_long_value_does_not_spread_its_column(void **state) {
  (void)state;
  char value[301];
  memset(value, 'x', 300), value[300] = 0;
  made *kids[] = {made_new("u", "s", 0, NULL), made_new("i", "n", 0, NULL)};
  made_str(kids[0], value), made_i32(kids[1], 1), made_str(kids[0], "y"), made_i32(kids[1], 2);
  made *m = batch(2, kids);
  made_finish(m);
  gather g;
  bl_emit *e = open_emit(BL_EMIT_TEXT, &g, m);
  assert_int_equal(bl_emit_batch(e, &m->array, NULL), BL_OK);
  assert_int_equal(bl_emit_finish(e, NULL), BL_OK);
  assert_int_equal(g.b.n, 3 * (80 + 2 + 1 + 1) + 300 + 2 + 1 + 1);
  bl_emit_free(e);
  bl_buf_free(&g.b);
  made_free(m);
}

static void test_emit_text__sliced_batches_print_their_own_rows(void **state) {
  (void)state;
  made *kids[] = {made_new("i", "n", 0, NULL)};
  for (int i = 0; i < 10; i++) made_i32(kids[0], i);
  made *m = batch(1, kids);
  made_finish(m);
  m->array.offset = 7, m->array.length = 2;
  emits(BL_EMIT_NDJSON, m, 1, "{\"n\":7}\n{\"n\":8}\n");
  emits(BL_EMIT_CSV, m, 2, "n\n7\n8\n7\n8\n");
  made_free(m);
}

static void test_emit_text__bytes_go_to_the_sink_in_big_pieces(void **state) {
  (void)state;
  made *kids[] = {made_new("l", "n", 0, NULL)};
  for (int i = 0; i < 100000; i++) made_i64(kids[0], 1000000000 + i);
  made *m = batch(1, kids);
  made_finish(m);
  gather g;
  bl_emit *e = open_emit(BL_EMIT_NDJSON, &g, m);
  assert_int_equal(bl_emit_batch(e, &m->array, NULL), BL_OK);
  assert_int_equal(bl_emit_finish(e, NULL), BL_OK);
  assert_int_equal(g.b.n, 100000 * sizeof "{\"n\":1000000000}");
  assert_true(g.calls <= g.b.n / 65536 + 1);
  bl_emit_free(e);
  bl_buf_free(&g.b);
  made_free(m);
}

static void test_emit_text__a_refusing_sink_stops_the_work(void **state) {
  (void)state;
  made *kids[] = {made_new("l", "n", 0, NULL)};
  for (int i = 0; i < 100000; i++) made_i64(kids[0], i);
  made *m = batch(1, kids);
  made_finish(m);
  gather g;
  bl_emit *e = open_emit(BL_EMIT_NDJSON, &g, m);
  g.most = 1;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_emit_batch(e, &m->array, &err), BL_CANCELLED);
  assert_int_equal(g.calls, 1);
  bl_emit_free(e);
  bl_buf_free(&g.b);
  made_free(m);
}

static void test_emit_text__schemas_that_are_no_rows_are_refused(void **state) {
  (void)state;
  bl_sink sink = {.write = gather_write};
  struct ArrowSchema number = {.format = "l", .name = "n"}, odd = {.format = "vu", .name = "v"}, *kids[] = {&odd};
  struct ArrowSchema root = {.format = "+s", .name = "", .n_children = 1, .children = kids};
  bl_emit *e;
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(bl_emit_open(ctx, BL_EMIT_CSV, &sink, &number, &e, NULL), BL_USAGE);
  assert_null(e);
  assert_int_equal(bl_emit_open(ctx, BL_EMIT_CSV, &sink, &root, &e, &err), BL_UNSUPPORTED);
  support_says(err.message, "\"v\"");
  bl_emit_free(NULL);
}

typedef struct work {
  const made *m;
  bl_emit_kind kind;
} work;

static bl_status drop(void *user, const void *p, size_t n, bl_error *err) {
  (void)user, (void)p, (void)n, (void)err;
  return BL_OK;
}

static bl_status emit_all(bl_ctx *c, void *user, bl_error *err) {
  const work *w = user;
  bl_sink sink = {.write = drop};
  bl_emit *e = NULL;
  bl_status st;
  BL_GO(bl_emit_open(c, w->kind, &sink, &w->m->schema, &e, err));
  BL_GO(bl_emit_batch(e, &w->m->array, err));
  BL_GO(bl_emit_finish(e, err));
done:
  bl_emit_free(e);
  return st;
}

static void test_emit_text__reports_every_failed_allocation(void **state) {
  (void)state;
  made *m = sample();
  for (int kind = BL_EMIT_NDJSON; kind <= BL_EMIT_TEXT; kind++) {
    work w = {.m = m, .kind = (bl_emit_kind)kind};
    support_fail_each_allocation(emit_all, &w);
  }
  made_free(m);
}

static void test_width__counts_columns_not_bytes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t width;
  } cases[] = {
      {"", 0},
      {"abc", 3},
      {"gr\xc3\xbc\xc3\x9f", 4},
      {"e\xcc\x81", 1},                /* e and a combining acute */
      {"\xe6\x97\xa5\xe6\x9c\xac", 4}, /* two ideographs */
      {"\xef\xbd\xb1", 1},             /* halfwidth katakana */
      {"\xef\xbc\xa1", 2},             /* fullwidth A */
      {"\xed\x95\x9c", 2},             /* hangul */
      {"\xf0\x9f\x8e\x89", 2},         /* party popper */
      {"\xe2\x9c\x93", 1},             /* check mark */
      {"\xe2\x80\x8b", 0},             /* zero width space */
      {"\xff\xc3", 2},                 /* no UTF-8 */
      {"\xe6\x97", 2},                 /* cut off */
      {"\xf0\xa0\x80\x80", 2},         /* ideograph of plane 2 */
  };
  for (size_t i = 0; i < BL_LEN(cases); i++)
    assert_int_equal(bl_display_width(bl_str_of(cases[i].text)), cases[i].width);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_emit_text__ndjson_is_an_object_a_line),
      cmocka_unit_test(test_emit_text__csv_keeps_null_and_the_empty_string_apart),
      cmocka_unit_test(test_emit_text__csv_values_are_bare_text),
      cmocka_unit_test(test_emit_text__a_table_aligns_numbers_to_the_right),
      cmocka_unit_test(test_emit_text__a_table_shows_control_characters_instead_of_obeying_them),
      cmocka_unit_test(test_emit_text__a_table_of_many_rows_takes_its_widths_from_the_first),
      cmocka_unit_test(test_emit_text__one_very_long_value_does_not_spread_its_column),
      cmocka_unit_test(test_emit_text__sliced_batches_print_their_own_rows),
      cmocka_unit_test(test_emit_text__bytes_go_to_the_sink_in_big_pieces),
      cmocka_unit_test(test_emit_text__a_refusing_sink_stops_the_work),
      cmocka_unit_test(test_emit_text__schemas_that_are_no_rows_are_refused),
      cmocka_unit_test(test_emit_text__reports_every_failed_allocation),
      cmocka_unit_test(test_width__counts_columns_not_bytes),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
