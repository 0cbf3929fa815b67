/* test_arrow_write.c: Parquet files and IPC streams written, and read back. */
#include <pthread.h>
#include <stdlib.h>

#include "table_fixture.h"

typedef struct fixture {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  bl_buf out;
  bl_sink sink;
  bl_arrow_writer *w;
  bl_error err;
} fixture;

static void setup(fixture *f, const column *cols, size_t n) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f->err), &f->err);
  table_schema(f->ctx, cols, n, &f->schema);
  bl_buf_init(&f->out, f->ctx, BL_BUF_MAX);
  f->sink = (bl_sink){buf_write, &f->out};
}

static void teardown(fixture *f) {
  bl_buf_free(&f->out);
  f->schema.release(&f->schema);
  test_ctx_free(f->ctx);
}

/* ---- IPC ---- */

static rows_read read_ipc(fixture *f) {
  memory_input in = memory_open(f->out.p, f->out.n);
  struct ArrowArrayStream s;
  rows_read rows;
  test_ok(bl_arrow_ipc_reader(f->ctx, &in.in, &s, &f->err), &f->err);
  test_ok(rows_collect(f->ctx, &s, &rows, &f->err), &f->err);
  return rows;
}

typedef bl_status (*ipc_writer)(bl_ctx *, const bl_sink *, const struct ArrowSchema *, bl_arrow_writer **, bl_error *);

static void ipc_comes_back(ipc_writer open) {
  fixture f;
  setup(&f, every_type, BL_LEN(every_type));
  test_ok(open(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
  for (uint64_t i = 0; i < 2; i++) {
    struct ArrowArray a;
    random_batch(f.ctx, &f.schema, 50, 1 + i, &a);
    test_ok(bl_arrow_writer_write(f.w, &a, &f.err), &f.err);
    assert_null(a.release);
  }
  assert_true(bl_arrow_writer_bytes(f.w, 0) > 0);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  rows_read rows = read_ipc(&f), made = {0};
  assert_int_equal(rows.all.length, 100);
  bl_str id = bl_aschema_get(rows.schema.children[18], "PARQUET:field_id");
  assert_true(bl_str_is(id, "19"));
  column_schema(f.ctx, &(column){"+s", "", false, -1, NULL, NULL, every_type, BL_LEN(every_type)}, &made.schema);
  random_batch(f.ctx, &f.schema, 50, 2, &made.all);
  bl_view *a = view_rows(f.ctx, &rows), *b = view_rows(f.ctx, &made);
  for (int64_t i = 0; i < 50; i++) assert_same(a, 50 + i, b, i);
  bl_view_free(a);
  bl_view_free(b);
  rows_free(&rows);
  rows_free(&made);
  teardown(&f);
}

static void test_arrow_write__an_ipc_stream_comes_back_with_field_ids(void **state) {
  (void)state;
  ipc_comes_back(bl_arrow_ipc_writer);
}

static void test_arrow_write__an_ipc_file_comes_back_with_field_ids(void **state) {
  (void)state;
  ipc_comes_back(bl_arrow_ipc_file_writer);
}

static void test_arrow_write__ipc_files_of_others_come_in_canonical_layouts(void **state) {
  (void)state;
  static const char *const names[] = {"tests/fixtures/parquet/layouts.arrow", "tests/fixtures/parquet/layouts.arrows"};
  static const char *const formats[] = {"u", "u", "z", "u", "+l", "i", "i", "l", "d:20,0", "ttu", "tsu:", "tsn:"};
  for (size_t k = 0; k < 2; k++) {
    fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
    char *path = test_path(names[k]);
    size_t n;
    void *bytes = test_read(path, &n);
    memory_input in = memory_open(bytes, n);
    struct ArrowArrayStream s;
    rows_read r;
    test_ok(bl_arrow_ipc_reader(f.ctx, &in.in, &s, &f.err), &f.err);
    test_ok(rows_collect(f.ctx, &s, &r, &f.err), &f.err);
    assert_int_equal(r.schema.n_children, BL_LEN(formats));
    for (size_t i = 0; i < BL_LEN(formats); i++) assert_string_equal(r.schema.children[i]->format, formats[i]);
    bl_view *v = view_rows(f.ctx, &r);
    assert_true(bl_str_is(bl_view_bytes(&v->children[1], 2), "word"));
    assert_true(bl_str_is(bl_view_bytes(&v->children[3], 1), "a string of more than twelve bytes"));
    assert_true(bl_view_decimal(&v->children[8], 0) == (bl_i128)UINT64_MAX);
    bl_view_free(v);
    rows_free(&r);
    free(bytes);
    free(path);
    test_ctx_free(f.ctx);
  }
}

static void test_arrow_write__damaged_ipc_never_crashes(void **state) {
  (void)state;
  fixture f;
  setup(&f, every_type, BL_LEN(every_type));
  struct ArrowArray a;
  test_ok(bl_arrow_ipc_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
  random_batch(f.ctx, &f.schema, 20, 1, &a);
  test_ok(bl_arrow_writer_write(f.w, &a, &f.err), &f.err);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  rng r = {99};
  for (int i = 0; i < 600; i++) {
    size_t at = (size_t)rng_below(&r, (int64_t)f.out.n), n = f.out.n;
    uint8_t old = f.out.p[at];
    f.out.p[at] = (uint8_t)rng_next(&r);
    if (i % 3 == 0) n = (size_t)rng_below(&r, (int64_t)n);
    memory_input in = memory_open(f.out.p, n);
    struct ArrowArrayStream s;
    rows_read rows = {0};
    bl_error err = BL_ERROR_INIT;
    bl_status st = bl_arrow_ipc_reader(f.ctx, &in.in, &s, &err);
    if (st == BL_OK) st = rows_collect(f.ctx, &s, &rows, &err);
    rows_free(&rows);
    if (st != BL_OK) assert_true(err.message[0]);
    f.out.p[at] = old;
  }
  teardown(&f);
}

static bl_status try_ipc(fixture *f, bl_error *err) {
  memory_input in = memory_open(f->out.p, f->out.n);
  struct ArrowArrayStream s;
  rows_read rows = {0};
  *err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_arrow_ipc_reader(f->ctx, &in.in, &s, err);
  if (st == BL_OK) st = rows_collect(f->ctx, &s, &rows, err);
  rows_free(&rows);
  return st;
}

/* Where the bytes lie in the file, once. */
static uint8_t *find_bytes(fixture *f, const void *what, size_t n) {
  uint8_t *p = memmem(f->out.p, f->out.n, what, n);
  assert_non_null(p);
  return p;
}

/* Three rows: a text and a decimal of 7 digits; the second text is empty, the second decimal null. */
static void write_texts(fixture *f, const char *last) {
  static const column cols[] = {C("u", "s", true, 1), C("d:7,2", "d", true, 2)};
  const char *const texts[] = {"needle", "", last};
  bl_builder *b;
  struct ArrowArray a;
  setup(f, cols, 2);
  test_ok(bl_builder_new(f->ctx, &f->schema, &b, &f->err), &f->err);
  for (int i = 0; i < 3; i++) {
    bl_builder *d = bl_builder_child(b, 1);
    test_ok(bl_builder_bytes(bl_builder_child(b, 0), texts[i], strlen(texts[i]), &f->err), &f->err);
    test_ok(i == 1 ? bl_builder_null(d, &f->err) : bl_builder_decimal(d, 1234567, &f->err), &f->err);
    test_ok(bl_builder_close(b, &f->err), &f->err);
  }
  test_ok(bl_builder_finish(b, &a, &f->err), &f->err);
  bl_builder_free(b);
  test_ok(bl_arrow_ipc_writer(f->ctx, &f->sink, &f->schema, &f->w, &f->err), &f->err);
  test_ok(bl_arrow_writer_write(f->w, &a, &f->err), &f->err);
  test_ok(bl_arrow_writer_finish(f->w, &f->err), &f->err);
}

static void refuse_bad_values(const char *last) {
  fixture f;
  bl_error err;
  write_texts(&f, last);
  const bl_i128 decimals[3] = {1234567, 0, 1234567};
  const int32_t offsets[] = {0, 6, 6, 12};
  uint8_t *text = find_bytes(&f, "needle", 6), *decimal = find_bytes(&f, decimals, sizeof decimals),
          *offset = find_bytes(&f, offsets, sizeof offsets);
  test_ok(try_ipc(&f, &err), &err);
  text[2] = 0xff; /* not UTF-8 */
  test_status(BL_DAMAGED, try_ipc(&f, &err), &err);
  text[2] = 'e';
  for (int bad = 13; bad > 4; bad -= 8) { /* beyond the bytes; before the one before */
    offset[8] = (uint8_t)bad;
    test_status(BL_DAMAGED, try_ipc(&f, &err), &err);
  }
  offset[8] = 6;
  for (int byte = 3; byte < 16; byte++) { /* more than 7 digits */
    decimal[byte] = 1;
    test_status(BL_DAMAGED, try_ipc(&f, &err), &err);
    decimal[byte] = 0;
    decimal[16 + byte] = 1; /* of a null nobody asks */
    test_ok(try_ipc(&f, &err), &err);
    decimal[16 + byte] = 0;
  }
  teardown(&f);
}

static void test_arrow_write__values_of_ipc_that_cannot_be_are_refused(void **state) {
  (void)state;
  refuse_bad_values("apfel!");
  refuse_bad_values("\xc3\xa4pfel");
}

/* ---- Parquet ---- */

static bl_data_reader *open_written(fixture *f, memory_input *in) {
  bl_data_reader *r;
  *in = memory_open(f->out.p, f->out.n);
  test_ok(bl_format_parquet.open(f->ctx, &in->in, "mem/file", NULL, &r, &f->err), &f->err);
  return r;
}

static void test_arrow_write__row_groups_end_by_bytes(void **state) {
  (void)state;
  fixture f;
  static const column cols[] = {C("u", "s", true, 1)};
  setup(&f, cols, 1);
  bl_parquet_options o = {.group_bytes = 60000, .page_rows = 500};
  test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
  for (uint64_t i = 0; i < 40; i++) {
    struct ArrowArray a;
    random_batch(f.ctx, &f.schema, 2000, i + 1, &a);
    test_ok(bl_arrow_writer_write(f.w, &a, &f.err), &f.err);
  }
  int64_t guess = bl_arrow_writer_bytes(f.w, 0);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  assert_true(guess > (int64_t)f.out.n / 4 && guess < (int64_t)f.out.n * 4);
  memory_input in;
  bl_data_reader *r = open_written(&f, &in);
  assert_true(r->meta->n_groups > 2 && r->meta->n_groups < 40);
  assert_int_equal(r->meta->rows, 80000);
  for (size_t g = 0; g < r->meta->n_groups; g++) assert_true(r->meta->groups[g].rows > 0);
  r->free(r);
  teardown(&f);
}

/* One batch of n rows: random text of so many bytes each. */
static void write_noise(fixture *f, int64_t n, size_t bytes, uint64_t seed) {
  struct ArrowArray a;
  bl_builder *b;
  char text[1024];
  test_ok(bl_builder_new(f->ctx, &f->schema, &b, &f->err), &f->err);
  for (int64_t i = 0; i < n; i++) {
    for (size_t k = 0; k < bytes; k++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      text[k] = (char)(' ' + (seed >> 33) % 90);
    }
    test_ok(bl_builder_bytes(bl_builder_child(b, 0), text, bytes, &f->err), &f->err);
    test_ok(bl_builder_close(b, &f->err), &f->err);
  }
  test_ok(bl_builder_finish(b, &a, &f->err), &f->err);
  bl_builder_free(b);
  test_ok(bl_arrow_writer_write(f->w, &a, &f->err), &f->err);
}

static void test_arrow_write__wide_rows_behind_narrow_ones_count_for_what_they_are(void **state) {
  (void)state;
  fixture f;
  static const column cols[] = {C("u", "s", true, 1)};
  setup(&f, cols, 1);
  bl_parquet_options o = {.dictionary_bytes = -1};
  test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
  for (uint64_t i = 0; i < 16; i++) write_noise(&f, 2000, 4, i + 1);
  for (uint64_t i = 0; i < 3; i++) write_noise(&f, 1000, 1000, i + 1);
  int64_t guess = bl_arrow_writer_bytes(f.w, 1 << 20);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  assert_true(guess > (int64_t)f.out.n / 2 && guess < (int64_t)f.out.n * 2);
  teardown(&f);
}

/* All groups but the last take about `bytes`; what the first ones shrink to is hardly known. */
static void expect_groups_of(fixture *f, int64_t bytes, size_t least) {
  memory_input in;
  bl_data_reader *r = open_written(f, &in);
  assert_true(r->meta->n_groups >= least);
  for (size_t g = 0; g + 1 < r->meta->n_groups; g++) {
    assert_true(r->meta->groups[g].bytes > bytes * (g > 1 ? 8 : 1) / 10);
    assert_true(r->meta->groups[g].bytes < bytes * 12 / 10);
  }
  r->free(r);
}

static void test_arrow_write__a_batch_of_wide_rows_is_cut_where_row_groups_end(void **state) {
  (void)state;
  static const column cols[] = {C("u", "s", true, 1)};
  static const char *const codecs[] = {"none", "zstd"};
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    fixture f;
    setup(&f, cols, 1);
    bl_parquet_options o = {.group_bytes = 200000, .codec = codecs[i]};
    test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
    write_noise(&f, 4000, 1000, 1);
    write_noise(&f, 10, 1000, 2);
    write_noise(&f, 1500, 1000, 3);
    test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
    expect_groups_of(&f, 200000, 18);
    teardown(&f);
  }
}

/* n rows: a long that grows, one that repeats, a word. */
static void write_narrow(fixture *f, int64_t n, int64_t batch_rows) {
  bl_builder *b;
  test_ok(bl_builder_new(f->ctx, &f->schema, &b, &f->err), &f->err);
  for (int64_t i = 0; i < n; i++) {
    char word[32];
    int len = snprintf(word, sizeof word, "word %d", (int)(i * 7919 % 1000));
    test_ok(bl_builder_int(bl_builder_child(b, 0), i * 31 + i % 17, &f->err), &f->err);
    test_ok(bl_builder_int(bl_builder_child(b, 1), i * 104729 % 5000, &f->err), &f->err);
    test_ok(bl_builder_bytes(bl_builder_child(b, 2), word, (size_t)len, &f->err), &f->err);
    test_ok(bl_builder_close(b, &f->err), &f->err);
    if ((i + 1) % batch_rows && i + 1 < n) continue;
    struct ArrowArray a;
    test_ok(bl_builder_finish(b, &a, &f->err), &f->err);
    test_ok(bl_arrow_writer_write(f->w, &a, &f->err), &f->err);
  }
  bl_builder_free(b);
  test_ok(bl_arrow_writer_finish(f->w, &f->err), &f->err);
}

static void test_arrow_write__a_batch_of_narrow_rows_is_cut_where_row_groups_end(void **state) {
  (void)state;
  static const column cols[] = {C("l", "id", true, 1), C("l", "n", true, 2), C("u", "s", true, 3)};
  for (int threads = 0; threads < 4; threads += 3) {
    fixture f;
    setup(&f, cols, BL_LEN(cols));
    bl_parquet_options o = {.group_bytes = 100000, .page_bytes = 1 << 20, .page_rows = 20000, .threads = threads};
    test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
    write_narrow(&f, 300000, 100000);
    expect_groups_of(&f, 100000, 8);
    teardown(&f);
  }
}

static void test_arrow_write__small_batches_are_not_cut(void **state) {
  (void)state;
  static const column cols[] = {C("l", "id", true, 1), C("l", "n", true, 2), C("u", "s", true, 3)};
  fixture f;
  memory_input in;
  setup(&f, cols, BL_LEN(cols));
  bl_parquet_options o = {.group_bytes = 400000};
  test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
  write_narrow(&f, 300000, 1000);
  bl_data_reader *r = open_written(&f, &in);
  for (size_t g = 0; g < r->meta->n_groups; g++) assert_int_equal(r->meta->groups[g].rows % 1000, 0);
  r->free(r);
  expect_groups_of(&f, 400000, 3);
  teardown(&f);
}

/* Rows 0 … n - 1 of one column of longs in batches of 1,000; repeats: so many different values. */
static void write_longs(fixture *f, int64_t n, int64_t repeats, bool plain) {
  static const column cols[] = {C("l", "a", false, 1)};
  setup(f, cols, 1);
  bl_parquet_options o = {.group_bytes = 40000, .page_rows = 500, .dictionary_bytes = 8 * 1000};
  static const int32_t ids[] = {7, 1};
  if (plain) o.plain = ids, o.n_plain = BL_LEN(ids);
  test_ok(bl_arrow_parquet_writer_with(f->ctx, &f->sink, &f->schema, &o, &f->w, &f->err), &f->err);
  bl_builder *b;
  test_ok(bl_builder_new(f->ctx, &f->schema, &b, &f->err), &f->err);
  for (int64_t i = 0; i < n; i++) {
    test_ok(bl_builder_int(bl_builder_child(b, 0), i % repeats, &f->err), &f->err);
    test_ok(bl_builder_close(b, &f->err), &f->err);
    if ((i + 1) % 1000) continue;
    struct ArrowArray a;
    test_ok(bl_builder_finish(b, &a, &f->err), &f->err);
    test_ok(bl_arrow_writer_write(f->w, &a, &f->err), &f->err);
  }
  bl_builder_free(b);
  test_ok(bl_arrow_writer_finish(f->w, &f->err), &f->err);
}

/* A page header begins with its type (Thrift, compact): a dictionary's is 2. */
static bool begins_with_dictionary(const fixture *f, const bl_data_reader *r, size_t group) {
  const uint8_t *page = f->out.p + r->meta->groups[group].offset;
  assert_int_equal(page[0], 0x15);
  return page[1] == 2 << 1;
}

static void test_arrow_write__a_dictionary_that_grew_too_large_early_is_not_tried_again(void **state) {
  (void)state;
  fixture f;
  memory_input in;
  write_longs(&f, 120000, INT64_MAX, false);
  bl_data_reader *r = open_written(&f, &in);
  assert_true(r->meta->n_groups > 2);
  assert_true(begins_with_dictionary(&f, r, 0));
  for (size_t g = 1; g < r->meta->n_groups; g++) assert_false(begins_with_dictionary(&f, r, g));
  struct ArrowArrayStream s;
  rows_read rows;
  int64_t at = 0;
  for (size_t g = 0; g < r->meta->n_groups; g++) {
    test_ok(r->read(r, g, (int32_t[]){0}, 1, NULL, 0, 1000, &s, &f.err), &f.err);
    test_ok(rows_collect(f.ctx, &s, &rows, &f.err), &f.err);
    const int64_t *v = rows.all.children[0]->buffers[1];
    for (int64_t i = 0; i < rows.all.length; i++) assert_int_equal(v[rows.all.children[0]->offset + i], at++);
    rows_free(&rows);
  }
  assert_int_equal(at, 120000);
  r->free(r);
  teardown(&f);
}

static void test_arrow_write__a_dictionary_that_fits_stays(void **state) {
  (void)state;
  fixture f;
  memory_input in;
  write_longs(&f, 120000, 800, false);
  bl_data_reader *r = open_written(&f, &in);
  assert_true(r->meta->n_groups > 2);
  for (size_t g = 0; g < r->meta->n_groups; g++) assert_true(begins_with_dictionary(&f, r, g));
  r->free(r);
  teardown(&f);
}

static void test_arrow_write__a_column_that_is_to_be_plain_has_no_dictionary(void **state) {
  (void)state;
  fixture f;
  memory_input in;
  write_longs(&f, 120000, 800, true);
  bl_data_reader *r = open_written(&f, &in);
  for (size_t g = 0; g < r->meta->n_groups; g++) assert_false(begins_with_dictionary(&f, r, g));
  r->free(r);
  teardown(&f);
}

static void test_arrow_write__key_values_are_kept(void **state) {
  (void)state;
  fixture f;
  static const column cols[] = {C("l", "a", true, 1)};
  setup(&f, cols, 1);
  const char *pairs[] = {"iceberg.schema", "{\"type\":\"struct\"}", "other", "x"};
  bl_parquet_options o = {.pairs = pairs, .n_pairs = 2};
  test_ok(bl_arrow_parquet_writer_with(f.ctx, &f.sink, &f.schema, &o, &f.w, &f.err), &f.err);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  memory_input in;
  bl_data_reader *r = open_written(&f, &in);
  assert_string_equal(r->meta->schema_text, "{\"type\":\"struct\"}");
  assert_int_equal(r->meta->rows, 0);
  assert_int_equal(r->meta->n_groups, 0);
  r->free(r);
  teardown(&f);
}

#define UUID(name, nullable, id)                                                                                       \
  { "w:16", name, nullable, id, "arrow.uuid", NULL, NULL, 0 }
#define POINT(name, id)                                                                                                \
  { "z", name, true, id, "geoarrow.wkb", "{\"crs\":\"EPSG:4326\"}", NULL, 0 }

static const column below_struct[] = {UUID("u", true, 10), POINT("g", 11)};
static const column below_list[] = {UUID("element", true, 20)};
static const column below_entry[] = {UUID("key", false, 30), N("+l", "value", true, 31, below_list)};
static const column below_map[] = {N("+s", "entries", false, -1, below_entry)};
static const column below_rows[] = {N("+s", "element", true, 40, below_struct)};
static const column nested_types[] = {N("+s", "s", true, 1, below_struct), N("+l", "l", true, 2, below_list),
                                      N("+m", "m", true, 3, below_map), N("+l", "r", true, 4, below_rows),
                                      UUID("u", true, 5)};

/* Of columns 10, 20, 30, … at whatever level. */
static void test_arrow_write__nested_values_have_the_logical_types_of_columns(void **state) {
  (void)state;
  fixture f;
  struct ArrowArray a;
  memory_input in;
  setup(&f, nested_types, BL_LEN(nested_types));
  random_batch(f.ctx, &f.schema, 50, 1, &a);
  test_ok(bl_arrow_parquet_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
  test_ok(bl_arrow_writer_write(f.w, &a, &f.err), &f.err);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  bl_data_reader *r = open_written(&f, &in);
  int uuids = 0, others = 0;
  for (size_t i = 0; i < r->meta->n_nodes; i++) {
    const bl_data_node *n = &r->meta->nodes[i];
    if (n->kind == BL_D_FIXED) assert_int_equal(n->hint, BL_H_UUID);
    uuids += n->kind == BL_D_FIXED;
    others += n->kind == BL_D_BINARY && n->hint == BL_H_GEOMETRY;
  }
  assert_int_equal(uuids, 6);
  assert_int_equal(others, 2);
  r->free(r);
  teardown(&f);
}

static void test_arrow_write__a_null_in_a_required_column_is_refused_with_its_row(void **state) {
  (void)state;
  fixture f;
  static const column loose[] = {C("l", "a", true, 1)}, strict[] = {C("l", "a", false, 1)};
  struct ArrowSchema as_written;
  setup(&f, strict, 1);
  table_schema(f.ctx, loose, 1, &as_written);
  bl_builder *b;
  struct ArrowArray a;
  test_ok(bl_builder_new(f.ctx, &as_written, &b, &f.err), &f.err);
  for (int i = 0; i < 10; i++) {
    bl_builder *c = bl_builder_child(b, 0);
    test_ok(i == 6 ? bl_builder_null(c, &f.err) : bl_builder_int(c, i, &f.err), &f.err);
    test_ok(bl_builder_close(b, &f.err), &f.err);
  }
  test_ok(bl_builder_finish(b, &a, &f.err), &f.err);
  bl_builder_free(b);
  test_ok(bl_arrow_parquet_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_arrow_writer_write(f.w, &a, &err), &err);
  assert_int_equal(err.position, 6);
  test_says(&err, "column a");
  assert_null(a.release);
  bl_arrow_writer_abort(f.w);
  as_written.release(&as_written);
  teardown(&f);
}

static void test_arrow_write__a_required_field_below_a_null_struct_is_a_slot(void **state) {
  (void)state;
  fixture f;
  static const column loose_kids[] = {C("l", "x", true, 2)}, strict_kids[] = {C("l", "x", false, 2)};
  static const column loose[] = {N("+s", "st", true, 1, loose_kids)}, strict[] = {N("+s", "st", true, 1, strict_kids)};
  struct ArrowSchema as_written;
  setup(&f, strict, 1);
  table_schema(f.ctx, loose, 1, &as_written);
  bl_builder *b;
  struct ArrowArray a;
  test_ok(bl_builder_new(f.ctx, &as_written, &b, &f.err), &f.err);
  for (int i = 0; i < 4; i++) {
    bl_builder *st = bl_builder_child(b, 0);
    if (i == 1) {
      test_ok(bl_builder_null(st, &f.err), &f.err);
    } else {
      test_ok(bl_builder_int(bl_builder_child(st, 0), i, &f.err), &f.err);
      test_ok(bl_builder_close(st, &f.err), &f.err);
    }
    test_ok(bl_builder_close(b, &f.err), &f.err);
  }
  test_ok(bl_builder_finish(b, &a, &f.err), &f.err);
  bl_builder_free(b);
  test_ok(bl_arrow_parquet_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
  test_ok(bl_arrow_writer_write(f.w, &a, &f.err), &f.err);
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  memory_input in;
  bl_data_reader *r = open_written(&f, &in);
  struct ArrowArrayStream s;
  rows_read rows;
  test_ok(r->read(r, 0, (int32_t[]){0}, 1, NULL, 0, 10, &s, &f.err), &f.err);
  test_ok(rows_collect(f.ctx, &s, &rows, &f.err), &f.err);
  bl_view *v = view_rows(f.ctx, &rows);
  assert_true(bl_view_null(&v->children[0], 1));
  assert_int_equal(bl_view_i64(&v->children[0].children[0], 3), 3);
  assert_int_equal(rows.all.children[0]->children[0]->null_count, 0);
  bl_view_free(v);
  rows_free(&rows);
  r->free(r);
  as_written.release(&as_written);
  teardown(&f);
}

static void test_arrow_write__what_parquet_has_no_form_for_is_refused(void **state) {
  (void)state;
  static const column empty[] = {{"+s", "e", true, 1, NULL, NULL, NULL, 0}}, month[] = {C("tiM", "m", true, 1)};
  static const column geo[] = {{"z", "g", true, 1, "geoarrow.wkb", "{\"edges\":\"flat\"}", NULL, 0}};
  const column *const bad[] = {empty, month, geo};
  for (size_t i = 0; i < BL_LEN(bad); i++) {
    fixture f;
    setup(&f, bad[i], 1);
    test_status(BL_UNSUPPORTED, bl_arrow_parquet_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err), &f.err);
    teardown(&f);
  }
}

static bl_status refuse_write(void *user, const void *p, size_t n, bl_error *err) {
  (void)user;
  (void)p;
  (void)n;
  return bl_fail(err, BL_CANCELLED, "nobody reads any more");
}

static void test_arrow_write__the_error_of_the_sink_comes_out_as_it_is(void **state) {
  (void)state;
  fixture f;
  static const column cols[] = {C("l", "a", true, 1)};
  setup(&f, cols, 1);
  f.sink.write = refuse_write;
  bl_status st = bl_arrow_parquet_writer(f.ctx, &f.sink, &f.schema, &f.w, &f.err);
  if (st == BL_OK) st = bl_arrow_writer_finish(f.w, &f.err);
  test_status(BL_CANCELLED, st, &f.err);
  assert_string_equal(f.err.message, "nobody reads any more");
  teardown(&f);
}

/* ---- threads (every column goes down a lane of its own) ---- */

enum { BATCHES = 24, BATCH_ROWS = 3000 };

/* Of all types, in several row groups of several pages; with stops, some batches are written on the caller's thread
 * alone and one group ends early. */
static void write_on(fixture *f, int threads, bool stops, int64_t *sizes) {
  setup(f, every_type, BL_LEN(every_type));
  bl_parquet_options o = {.threads = threads, .group_bytes = 2 << 20, .page_rows = 700, .dictionary_bytes = 10000};
  test_ok(bl_arrow_parquet_writer_with(f->ctx, &f->sink, &f->schema, &o, &f->w, &f->err), &f->err);
  for (int i = 0; i < BATCHES; i++) {
    struct ArrowArray a;
    random_batch(f->ctx, &f->schema, i % 5 ? BATCH_ROWS : 20, (uint64_t)i + 1, &a);
    bl_arrow_writer_spread(f->w, !stops || i % 6 < 3);
    test_ok(bl_arrow_writer_write(f->w, &a, &f->err), &f->err);
    if (sizes) sizes[i] = bl_arrow_writer_bytes(f->w, INT64_MAX) + bl_arrow_writer_held(f->w, INT64_MAX);
    if (i == 17) test_ok(bl_arrow_writer_end_group(f->w, &f->err), &f->err);
  }
  test_ok(bl_arrow_writer_finish(f->w, &f->err), &f->err);
}

static void test_arrow_write__any_number_of_threads_makes_the_same_file(void **state) {
  (void)state;
  fixture one, many;
  memory_input in;
  write_on(&one, 1, false, NULL);
  bl_data_reader *r = open_written(&one, &in);
  assert_true(r->meta->n_groups > 3);
  r->free(r);
  for (int threads = 0; threads < 10; threads += 2) {
    write_on(&many, threads, threads == 4, NULL);
    assert_int_equal(one.out.n, many.out.n);
    assert_memory_equal(one.out.p, many.out.p, one.out.n);
    teardown(&many);
  }
  teardown(&one);
}

static void test_arrow_write__sizes_on_the_way_do_not_depend_on_threads(void **state) {
  (void)state;
  fixture one, many;
  int64_t a[BATCHES], b[BATCHES];
  write_on(&one, 1, false, a);
  write_on(&many, 4, false, b);
  assert_memory_equal(a, b, sizeof a);
  for (int i = 1; i < BATCHES; i++) assert_true(a[i] > 0);
  teardown(&one);
  teardown(&many);
}

/* A batch that tells who let it go. */
typedef struct watched {
  pthread_t owner;
  int released, elsewhere;
  int64_t sunk;   /* bytes */
  int64_t refuse; /* the sink takes no more than so many; 0: all */
  bl_buf *out;
} watched;

typedef struct watched_batch {
  watched *by;
  struct ArrowArray inner;
} watched_batch;

static void release_watched(struct ArrowArray *a) {
  watched_batch *b = a->private_data;
  b->by->released++;
  b->by->elsewhere += !pthread_equal(b->by->owner, pthread_self());
  b->inner.release(&b->inner);
  a->release = NULL;
  free(b);
}

static void watch_batch(watched *by, struct ArrowArray *a) {
  watched_batch *b = malloc(sizeof *b);
  assert_non_null(b);
  *b = (watched_batch){.by = by, .inner = *a};
  a->private_data = b;
  a->release = release_watched;
}

static bl_status watch_write(void *user, const void *p, size_t n, bl_error *err) {
  watched *by = user;
  by->elsewhere += !pthread_equal(by->owner, pthread_self());
  by->sunk += (int64_t)n;
  if (by->refuse && by->sunk > by->refuse) return bl_fail(err, BL_IO, "cannot write: the disk is full");
  return by->out ? buf_write(by->out, p, n, err) : BL_OK;
}

static bl_status write_watched(fixture *f, watched *by, int batches) {
  f->sink = (bl_sink){watch_write, by};
  by->owner = pthread_self();
  bl_parquet_options o = {.threads = 3, .group_bytes = 1 << 20, .page_rows = 700};
  BL_TRY(bl_arrow_parquet_writer_with(f->ctx, &f->sink, &f->schema, &o, &f->w, &f->err));
  for (int i = 0; i < batches; i++) {
    struct ArrowArray a;
    random_batch(f->ctx, &f->schema, BATCH_ROWS, (uint64_t)i + 1, &a);
    watch_batch(by, &a);
    BL_TRY(bl_arrow_writer_write(f->w, &a, &f->err));
  }
  return BL_OK;
}

static void test_arrow_write__threads_leave_the_sink_and_the_batches_to_the_caller(void **state) {
  (void)state;
  fixture f;
  watched by = {0};
  setup(&f, every_type, BL_LEN(every_type));
  test_ok(write_watched(&f, &by, BATCHES), &f.err);
  assert_true(by.sunk > 2 << 20); /* groups are written while rows come in */
  test_ok(bl_arrow_writer_finish(f.w, &f.err), &f.err);
  assert_int_equal(by.released, BATCHES);
  assert_int_equal(by.elsewhere, 0);
  teardown(&f);
}

static void test_arrow_write__a_sink_that_fails_beside_threads_ends_the_writing(void **state) {
  (void)state;
  for (int64_t room = 3; room < 4 << 20; room = room * 7 + 1000) {
    fixture f;
    watched by = {.refuse = room};
    setup(&f, every_type, BL_LEN(every_type));
    bl_status st = write_watched(&f, &by, BATCHES);
    if (st == BL_OK) {
      st = bl_arrow_writer_finish(f.w, &f.err);
    } else {
      bl_error err = BL_ERROR_INIT;
      struct ArrowArray a;
      random_batch(f.ctx, &f.schema, 10, 1, &a);
      test_status(BL_IO, bl_arrow_writer_write(f.w, &a, &err), &err);
      int64_t before = by.sunk;
      bl_arrow_writer_abort(f.w);
      assert_int_equal(by.sunk, before);
    }
    test_status(BL_IO, st, &f.err);
    assert_string_equal(f.err.message, "cannot write: the disk is full");
    assert_int_equal(by.elsewhere, 0);
    teardown(&f);
  }
}

static void test_arrow_write__a_file_that_is_given_up_writes_nothing_more(void **state) {
  (void)state;
  for (int batches = 0; batches < 12; batches += 3) {
    fixture f;
    watched by = {0};
    setup(&f, every_type, BL_LEN(every_type));
    test_ok(write_watched(&f, &by, batches), &f.err);
    int64_t before = by.sunk;
    bl_arrow_writer_abort(f.w);
    assert_int_equal(by.sunk, before);
    assert_int_equal(by.released, batches);
    assert_int_equal(by.elsewhere, 0);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrow_write__an_ipc_stream_comes_back_with_field_ids),
      cmocka_unit_test(test_arrow_write__an_ipc_file_comes_back_with_field_ids),
      cmocka_unit_test(test_arrow_write__ipc_files_of_others_come_in_canonical_layouts),
      cmocka_unit_test(test_arrow_write__damaged_ipc_never_crashes),
      cmocka_unit_test(test_arrow_write__values_of_ipc_that_cannot_be_are_refused),
      cmocka_unit_test(test_arrow_write__row_groups_end_by_bytes),
      cmocka_unit_test(test_arrow_write__a_batch_of_wide_rows_is_cut_where_row_groups_end),
      cmocka_unit_test(test_arrow_write__a_batch_of_narrow_rows_is_cut_where_row_groups_end),
      cmocka_unit_test(test_arrow_write__small_batches_are_not_cut),
      cmocka_unit_test(test_arrow_write__wide_rows_behind_narrow_ones_count_for_what_they_are),
      cmocka_unit_test(test_arrow_write__a_dictionary_that_grew_too_large_early_is_not_tried_again),
      cmocka_unit_test(test_arrow_write__a_dictionary_that_fits_stays),
      cmocka_unit_test(test_arrow_write__a_column_that_is_to_be_plain_has_no_dictionary),
      cmocka_unit_test(test_arrow_write__key_values_are_kept),
      cmocka_unit_test(test_arrow_write__nested_values_have_the_logical_types_of_columns),
      cmocka_unit_test(test_arrow_write__a_null_in_a_required_column_is_refused_with_its_row),
      cmocka_unit_test(test_arrow_write__a_required_field_below_a_null_struct_is_a_slot),
      cmocka_unit_test(test_arrow_write__what_parquet_has_no_form_for_is_refused),
      cmocka_unit_test(test_arrow_write__the_error_of_the_sink_comes_out_as_it_is),
      cmocka_unit_test(test_arrow_write__any_number_of_threads_makes_the_same_file),
      cmocka_unit_test(test_arrow_write__sizes_on_the_way_do_not_depend_on_threads),
      cmocka_unit_test(test_arrow_write__threads_leave_the_sink_and_the_batches_to_the_caller),
      cmocka_unit_test(test_arrow_write__a_sink_that_fails_beside_threads_ends_the_writing),
      cmocka_unit_test(test_arrow_write__a_file_that_is_given_up_writes_nothing_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
