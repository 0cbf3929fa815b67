/* test_data_avro.c: Avro data files: the column tree, values of every type as Arrow, projection, groups, ranges,
 * batches, damage. */
#include "support/support.h"

#include "edge/data_avro.h"
#include "format/avro.h"
#include "rows/arrow_own.h"
#include "rows/emit_text.h"
#include "rows/stream.h"

typedef struct input {
  bl_input base;
  const uint8_t *p;
} input;

static bl_status input_read(bl_input *in, int64_t at, void *out, size_t n, bl_error *err) {
  if (at < 0 || (int64_t)n > in->size - at) return bl_fail(err, BL_IO, "read beyond the end");
  memcpy(out, ((input *)in)->p + at, n);
  return BL_OK;
}

typedef struct fixture {
  bl_ctx *ctx;
  bl_error err;
  bl_buf file;
  input in;
  bl_data_reader *r;
} fixture;

static bl_status open_file(fixture *f) {
  f->in = (input){.base = {.size = (int64_t)f->file.n, .read_at = input_read}, .p = f->file.p};
  return bl_format_avro.open(f->ctx, &f->in.base, "mem/file.avro", NULL, &f->r, &f->err);
}

static void setup(fixture *f) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  bl_buf_init(&f->file, f->ctx, BL_BUF_MAX);
}

static void setup_fixture(fixture *f, const char *name) {
  char relative[200];
  size_t n;
  setup(f);
  snprintf(relative, sizeof relative, "tests/fixtures/avro_data/%s.avro", name);
  char *path = test_path(relative);
  void *p = test_read(path, &n);
  bl_buf_add(&f->file, p, n);
  free(p);
  free(path);
  test_ok(open_file(f), &f->err);
}

/* A file of one schema and records that are encoded already. */
static void write_file(fixture *f, const char *schema, const char *codec, const void *record, size_t n, int64_t times) {
  bl_avro_writer *w;
  test_ok(bl_avro_writer_new(f->ctx, bl_str_of(schema), codec, NULL, NULL, 0, &w, &f->err), &f->err);
  for (int64_t i = 0; i < times; i++) {
    bl_buf_add(bl_avro_writer_record(w), record, n);
    test_ok(bl_avro_writer_end_record(w, &f->err), &f->err);
  }
  bl_buf_free(&f->file);
  test_ok(bl_avro_writer_finish(w, &f->file, &f->err), &f->err);
  bl_avro_writer_free(w);
}

static void teardown(fixture *f) {
  if (f->r) f->r->free(f->r);
  bl_buf_free(&f->file);
  test_ctx_free(f->ctx);
}

static void refused(fixture *f, bl_status st, bl_status want, const char *words) {
  test_status(want, st, &f->err);
  test_says(&f->err, words);
  f->err = (bl_error)BL_ERROR_INIT;
}

static bl_status to_buf(void *user, const void *p, size_t n, bl_error *err) {
  bl_buf_add(user, p, n);
  return bl_buf_ok(user, err);
}

/* All batches of a stream as lines of JSON; *batches counts them. The stream is released. */
static bl_status lines_of(bl_ctx *ctx, struct ArrowArrayStream *s, bl_buf *out, int *batches, bl_error *err) {
  struct ArrowSchema schema = {0};
  struct ArrowArray a = {0};
  bl_emit *e = NULL;
  bl_sink sink = {to_buf, out};
  bl_status st = bl_stream_status(s->get_schema(s, &schema));
  if (st != BL_OK) bl_fail(err, st, "%s", s->get_last_error(s));
  if (st == BL_OK) st = bl_emit_open(ctx, BL_EMIT_NDJSON, &sink, &schema, &e, err);
  while (st == BL_OK) {
    st = bl_stream_next(s, &a, err);
    if (st != BL_OK || !a.release) break;
    if (batches) ++*batches;
    st = bl_emit_batch(e, &a, err);
    bl_array_release(&a);
  }
  if (st == BL_OK) st = bl_emit_finish(e, err);
  bl_emit_free(e);
  bl_aschema_release(&schema);
  s->release(s);
  return st;
}

static bl_status read_lines(fixture *f, size_t group, const int32_t *leaves, size_t n, const bl_row_range *ranges,
                            size_t n_ranges, int64_t batch_rows, bl_buf *out, int *batches) {
  struct ArrowArrayStream s;
  bl_status st = f->r->read(f->r, group, leaves, n, ranges, n_ranges, batch_rows, &s, &f->err);
  return st == BL_OK ? lines_of(f->ctx, &s, out, batches, &f->err) : st;
}

static size_t readable_leaves(const bl_data_meta *m, int32_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].kind != BL_D_OTHER) out[n++] = m->nodes[i].leaf;
  return n;
}

static void assert_lines(fixture *f, const int32_t *leaves, size_t n, const char *want) {
  bl_buf b;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  test_ok(read_lines(f, 0, leaves, n, NULL, 0, 100, &b, NULL), &f->err);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

static const bl_data_node *node_of(const bl_data_meta *m, int32_t field_id) {
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].field_id == field_id) return &m->nodes[i];
  return NULL;
}

/* ---- the tree ---- */

static void test_data_avro__the_tree_has_kinds_ids_and_what_may_be_null(void **state) {
  (void)state;
  static const struct {
    int32_t id;
    bl_data_kind kind;
    bl_data_hint hint;
    bool required, utc;
    int32_t parent_id;
  } want[] = {
      {1, BL_D_BOOL, 0, false, false, -1},
      {2, BL_D_INT32, 0, true, false, -1},
      {3, BL_D_INT64, 0, false, false, -1},
      {4, BL_D_FLOAT, 0, false, false, -1},
      {5, BL_D_DOUBLE, 0, false, false, -1},
      {6, BL_D_DECIMAL, 0, false, false, -1},
      {7, BL_D_DECIMAL, 0, false, false, -1},
      {8, BL_D_DATE32, 0, false, false, -1},
      {9, BL_D_TIME_US, 0, false, false, -1},
      {10, BL_D_TIME_US, 0, false, false, -1},
      {11, BL_D_TIMESTAMP_US, 0, false, false, -1},
      {12, BL_D_TIMESTAMP_US, 0, false, true, -1},
      {13, BL_D_TIMESTAMP_US, 0, false, false, -1},
      {14, BL_D_TIMESTAMP_NS, 0, false, true, -1},
      {15, BL_D_STRING, 0, false, false, -1},
      {16, BL_D_BINARY, 0, false, false, -1},
      {17, BL_D_FIXED, 0, false, false, -1},
      {18, BL_D_FIXED, BL_H_UUID, false, false, -1},
      {19, BL_D_FIXED, BL_H_UUID, false, false, -1},
      {20, BL_D_STRING, BL_H_ENUM, false, false, -1},
      {22, BL_D_STRUCT, 0, false, false, -1},
      {23, BL_D_INT32, 0, false, false, 22},
      {24, BL_D_STRING, 0, true, false, 22},
      {25, BL_D_LIST, 0, false, false, -1},
      {26, BL_D_INT32, 0, false, false, 25},
      {28, BL_D_LIST, 0, true, false, 27},
      {29, BL_D_STRING, 0, true, false, 28},
      {30, BL_D_MAP, 0, false, false, -1},
      {31, BL_D_STRING, 0, true, false, 30},
      {32, BL_D_INT64, 0, false, false, 30},
      {33, BL_D_MAP, 0, false, false, -1},
      {34, BL_D_INT32, 0, true, false, 33},
      {35, BL_D_LIST, 0, false, false, 33},
      {36, BL_D_DOUBLE, 0, true, false, 35},
      {39, BL_D_STRUCT, BL_H_VARIANT, false, false, -1},
      {40, BL_D_OTHER, 0, false, false, -1},
      {41, BL_D_INT64, 0, true, false, -1},
  };
  fixture f;
  setup_fixture(&f, "every_type");
  const bl_data_meta *m = f.r->meta;
  assert_true(m->has_field_ids);
  assert_string_equal(m->schema_text, "{\"type\":\"struct\"}");
  assert_int_equal(m->nodes[0].parent, -1);
  assert_int_equal(m->nodes[0].kind, BL_D_STRUCT);
  assert_null(node_of(m, 21)); /* always null */
  for (size_t i = 0; i < BL_LEN(want); i++) {
    const bl_data_node *n = node_of(m, want[i].id);
    assert_non_null(n);
    assert_int_equal(n->kind, want[i].kind);
    assert_int_equal(n->hint, want[i].hint);
    assert_int_equal(n->required, want[i].required);
    assert_int_equal(n->utc, want[i].utc);
    assert_int_equal(m->nodes[n->parent].field_id, want[i].parent_id);
    bool nested = n->kind == BL_D_STRUCT || n->kind == BL_D_LIST || n->kind == BL_D_MAP;
    assert_int_equal(n->leaf < 0, nested);
  }
  assert_int_equal(node_of(m, 6)->precision, 9);
  assert_int_equal(node_of(m, 6)->scale, 2);
  assert_int_equal(node_of(m, 17)->length, 3);
  assert_string_equal(node_of(m, 26)->name, "element");
  int32_t leaf = 0;
  for (size_t i = 0; i < m->n_nodes; i++) {
    if (i) assert_true(m->nodes[i].parent < (int32_t)i);
    if (m->nodes[i].leaf >= 0) assert_int_equal(m->nodes[i].leaf, leaf++);
  }
  teardown(&f);
}

static void test_data_avro__values_of_every_type_become_arrow(void **state) {
  (void)state;
  fixture f;
  int32_t leaves[100];
  setup_fixture(&f, "every_type");
  size_t n = readable_leaves(f.r->meta, leaves);
  assert_int_equal(f.r->meta->rows, 3);
  assert_lines(
      &f, leaves, n,
      "{\"b\":true,\"i\":-5,\"l\":1099511627776,\"f\":1.5,\"d\":-2.25,\"dec_fixed\":\"-123.45\",\"dec_bytes\":\"255\","
      "\"day\":\"1969-12-31\",\"t\":\"00:00:00.000001\",\"tm\":\"01:02:03.004000\",\"ts\":\"1969-12-31T23:59:59."
      "999999\","
      "\"tsz\":\"2023-11-14T22:13:20.000001+00:00\",\"tsm\":\"1970-01-01T00:00:01.500000\","
      "\"tsn\":\"2023-11-14T22:13:20.000000001+00:00\",\"s\":\"ä\\\"x\",\"bin\":\"AAE=\",\"fix\":\"YWJj\","
      "\"u\":\"MDEyMzQ1Njc4OWFiY2RlZg==\",\"ut\":\"MDEyMzQ1Njc4OWFiY2RlZg==\",\"e\":\"BLUE\","
      "\"st\":{\"x\":7,\"y\":\"why\"},\"li\":[1,null,3],\"ll\":[[\"a\",\"b\"],[]],\"m\":{\"k\":1,\"n\":null},"
      "\"mi\":[{\"key\":1,\"value\":[0.5]},{\"key\":2,\"value\":null}],\"ln\":[null,null],"
      "\"v\":{\"metadata\":\"AQAA\",\"value\":\"DCo=\"},\"last\":100}\n"
      "{\"b\":null,\"i\":0,\"l\":null,\"f\":null,\"d\":null,\"dec_fixed\":null,\"dec_bytes\":null,\"day\":null,\"t\":"
      "null,"
      "\"tm\":null,\"ts\":null,\"tsz\":null,\"tsm\":null,\"tsn\":null,\"s\":null,\"bin\":null,\"fix\":null,\"u\":null,"
      "\"ut\":null,\"e\":null,\"st\":null,\"li\":null,\"ll\":null,\"m\":null,\"mi\":null,\"ln\":null,\"v\":null,"
      "\"last\":101}\n"
      "{\"b\":true,\"i\":-5,\"l\":1099511627776,\"f\":1.5,\"d\":-2.25,\"dec_fixed\":\"-123.45\",\"dec_bytes\":\"255\","
      "\"day\":\"1969-12-31\",\"t\":\"00:00:00.000001\",\"tm\":\"01:02:03.004000\",\"ts\":\"1969-12-31T23:59:59."
      "999999\","
      "\"tsz\":\"2023-11-14T22:13:20.000001+00:00\",\"tsm\":\"1970-01-01T00:00:01.500000\","
      "\"tsn\":\"2023-11-14T22:13:20.000000001+00:00\",\"s\":\"\",\"bin\":\"\",\"fix\":\"YWJj\","
      "\"u\":\"MDEyMzQ1Njc4OWFiY2RlZg==\",\"ut\":\"MDEyMzQ1Njc4OWFiY2RlZg==\",\"e\":\"RED\","
      "\"st\":{\"x\":null,\"y\":\"\"},\"li\":[],\"ll\":[],\"m\":{},\"mi\":[],\"ln\":[],"
      "\"v\":{\"metadata\":\"AQAA\",\"value\":\"DCo=\"},\"last\":102}\n");
  teardown(&f);
}

static void test_data_avro__each_leaf_alone_reads_as_it_does_among_all(void **state) {
  (void)state;
  fixture f;
  setup_fixture(&f, "every_type");
  const bl_data_meta *m = f.r->meta;
  int32_t leaf = node_of(m, 24)->leaf;
  assert_lines(&f, &leaf, 1, "{\"st\":{\"y\":\"why\"}}\n{\"st\":null}\n{\"st\":{\"y\":\"\"}}\n");
  leaf = node_of(m, 41)->leaf;
  assert_lines(&f, &leaf, 1, "{\"last\":100}\n{\"last\":101}\n{\"last\":102}\n");
  leaf = node_of(m, 34)->leaf; /* the key of a map brings its value */
  assert_lines(&f, &leaf, 1,
               "{\"mi\":[{\"key\":1,\"value\":[0.5]},{\"key\":2,\"value\":null}]}\n{\"mi\":null}\n{\"mi\":[]}\n");
  leaf = node_of(m, 32)->leaf;
  assert_lines(&f, &leaf, 1, "{\"m\":{\"k\":1,\"n\":null}}\n{\"m\":null}\n{\"m\":{}}\n");
  int32_t two[] = {node_of(m, 2)->leaf, node_of(m, 29)->leaf};
  assert_lines(&f, two, 2, "{\"i\":-5,\"ll\":[[\"a\",\"b\"],[]]}\n{\"i\":0,\"ll\":null}\n{\"i\":-5,\"ll\":[]}\n");
  teardown(&f);
}

static void test_data_avro__files_of_other_writers_read(void **state) {
  (void)state;
  fixture f;
  int32_t leaves[40];
  setup_fixture(&f, "positions_with_row");
  size_t n = readable_leaves(f.r->meta, leaves);
  assert_lines(&f, leaves, n,
               "{\"file_path\":\"/warehouse/db/posdel_with_row_v2/data/00001-a.parquet\",\"pos\":3,\"row\":{\"id\":3,"
               "\"name\":\"n3\",\"tags\":[\"t3\",\"u\"],\"attrs\":null,\"s\":{\"a\":3,\"b\":\"b3\"}}}\n"
               "{\"file_path\":\"/warehouse/db/posdel_with_row_v2/data/00001-a.parquet\",\"pos\":4,\"row\":{\"id\":4,"
               "\"name\":\"n4\",\"tags\":null,\"attrs\":{\"k\":\"v4\"},\"s\":{\"a\":4,\"b\":null}}}\n"
               "{\"file_path\":\"/warehouse/db/posdel_with_row_v2/data/00003-c.avro\",\"pos\":0,\"row\":{\"id\":20,"
               "\"name\":\"n20\",\"tags\":null,\"attrs\":{\"k\":\"v20\"},\"s\":{\"a\":20,\"b\":null}}}\n");
  teardown(&f);
  setup_fixture(&f, "spark_compacted");
  int32_t lineage[] = {node_of(f.r->meta, 1)->leaf, node_of(f.r->meta, 2147483540)->leaf,
                       node_of(f.r->meta, 2147483539)->leaf};
  assert_lines(&f, lineage, 3,
               "{\"id\":10,\"_row_id\":9,\"_last_updated_sequence_number\":3}\n"
               "{\"id\":2,\"_row_id\":1,\"_last_updated_sequence_number\":3}\n"
               "{\"id\":7,\"_row_id\":6,\"_last_updated_sequence_number\":3}\n"
               "{\"id\":1,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
               "{\"id\":3,\"_row_id\":2,\"_last_updated_sequence_number\":1}\n"
               "{\"id\":5,\"_row_id\":4,\"_last_updated_sequence_number\":1}\n"
               "{\"id\":6,\"_row_id\":5,\"_last_updated_sequence_number\":1}\n"
               "{\"id\":8,\"_row_id\":7,\"_last_updated_sequence_number\":1}\n"
               "{\"id\":9,\"_row_id\":8,\"_last_updated_sequence_number\":2}\n");
  teardown(&f);
}

/* ---- asking for the impossible ---- */

static void test_data_avro__what_cannot_be_read_is_named_only_when_asked_for(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  setup_fixture(&f, "every_type");
  bl_buf_init(&b, f.ctx, 1000);
  int32_t odd = node_of(f.r->meta, 40)->leaf, none = 1000, negative = -1;
  refused(&f, read_lines(&f, 0, &odd, 1, NULL, 0, 10, &b, NULL), BL_UNSUPPORTED, "column odd");
  refused(&f, read_lines(&f, 0, &none, 1, NULL, 0, 10, &b, NULL), BL_USAGE, "leaf column 1000");
  refused(&f, read_lines(&f, 0, &negative, 1, NULL, 0, 10, &b, NULL), BL_USAGE, "leaf column -1");
  refused(&f, read_lines(&f, 1, NULL, 0, NULL, 0, 10, &b, NULL), BL_USAGE, "group 1 of 1");
  refused(&f, read_lines(&f, 0, NULL, 0, NULL, 0, 0, &b, NULL), BL_USAGE, "batches of 0");
  bl_row_range beyond = {2, 4}, overlapping[] = {{0, 2}, {1, 3}};
  refused(&f, read_lines(&f, 0, NULL, 0, &beyond, 1, 10, &b, NULL), BL_USAGE, "rows 2 to 4");
  refused(&f, read_lines(&f, 0, NULL, 0, overlapping, 2, 10, &b, NULL), BL_USAGE, "rows 1 to 3");
  bl_data_stats stats;
  assert_false(f.r->stats(f.r, 0, 0, &stats));
  bl_buf_free(&b);
  teardown(&f);
}

static void test_data_avro__encrypted_files_are_refused(void **state) {
  (void)state;
  fixture f;
  bl_data_reader *r;
  setup_fixture(&f, "every_type");
  bl_data_open_options o = {.key = "k", .n_key = 1};
  refused(&f, bl_format_avro.open(f.ctx, &f.in.base, "mem/file.avro", &o, &r, &f.err), BL_UNSUPPORTED, "encrypted");
  teardown(&f);
}

/* ---- groups, ranges, batches ---- */

#define NUMBERED                                                                                                       \
  "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"n\",\"type\":\"long\",\"field-id\":1},"                 \
  "{\"name\":\"pad\",\"type\":\"bytes\",\"field-id\":2}]}"

/* rows numbers with so many random bytes beside each. */
static void write_numbers(fixture *f, int64_t rows, size_t pad) {
  bl_avro_writer *w;
  uint8_t *bytes = calloc(1, pad + 1);
  uint32_t x = 1;
  test_ok(bl_avro_writer_new(f->ctx, BL_STR(NUMBERED), "snappy", NULL, NULL, 0, &w, &f->err), &f->err);
  for (int64_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < pad; k++) bytes[k] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    bl_avro_put_long(bl_avro_writer_record(w), i);
    bl_avro_put_bytes(bl_avro_writer_record(w), (bl_str){(const char *)bytes, pad});
    test_ok(bl_avro_writer_end_record(w, &f->err), &f->err);
  }
  bl_buf_free(&f->file);
  test_ok(bl_avro_writer_finish(w, &f->file, &f->err), &f->err);
  bl_avro_writer_free(w);
  free(bytes);
}

/* The numbers that the group's stream gives, in order, with their count. */
static int64_t check_numbers(fixture *f, size_t group, const bl_row_range *ranges, size_t n, int64_t batch_rows) {
  struct ArrowArrayStream s;
  struct ArrowArray a;
  int32_t leaf = 0;
  int64_t rows = 0, first = f->r->meta->groups[group].first_row;
  bl_row_range all = {0, f->r->meta->groups[group].rows};
  size_t at = 0;
  test_ok(f->r->read(f->r, group, &leaf, 1, ranges, n, batch_rows, &s, &f->err), &f->err);
  if (!ranges) ranges = &all;
  int64_t next = ranges[0].begin;
  for (;;) {
    test_ok(bl_stream_next(&s, &a, &f->err), &f->err);
    if (!a.release) break;
    assert_true(a.length > 0 && a.length <= batch_rows);
    const int64_t *v = a.children[0]->buffers[1];
    for (int64_t i = 0; i < a.length; i++, rows++) {
      assert_int_equal(v[i], first + next);
      if (++next == ranges[at].end && ++at < n) next = ranges[at].begin;
    }
    bl_array_release(&a);
  }
  s.release(&s);
  return rows;
}

static void test_data_avro__big_files_are_cut_into_groups_of_blocks(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  write_numbers(&f, 20000, 1000);
  test_ok(open_file(&f), &f.err);
  const bl_data_meta *m = f.r->meta;
  assert_int_equal(m->rows, 20000);
  assert_true(m->n_groups >= 2);
  int64_t rows = 0, bytes = 0;
  for (size_t g = 0; g < m->n_groups; g++) {
    assert_int_equal(m->groups[g].first_row, rows);
    if (g) assert_int_equal(m->groups[g].offset, m->groups[g - 1].offset + m->groups[g - 1].bytes);
    assert_int_equal(check_numbers(&f, g, NULL, 0, 777), m->groups[g].rows);
    rows += m->groups[g].rows;
    bytes += m->groups[g].bytes;
  }
  assert_int_equal(rows, 20000);
  assert_int_equal(bytes + m->groups[0].offset, f.file.n);
  teardown(&f);
}

static void test_data_avro__ranges_give_their_rows_alone(void **state) {
  (void)state;
  static const bl_row_range sets[][4] = {{{0, 1}, {5, 6}, {200, 1900}, {1999, 2000}},
                                         {{0, 0}, {1, 1}, {7, 8}, {8, 9}},
                                         {{1999, 2000}, {2000, 2000}, {2000, 2000}, {2000, 2000}}};
  static const int64_t counts[] = {1703, 2, 1};
  fixture f;
  setup(&f);
  write_numbers(&f, 2000, 300);
  test_ok(open_file(&f), &f.err);
  for (size_t i = 0; i < BL_LEN(sets); i++)
    for (int64_t batch = 1; batch < 3000; batch = batch * 7 + 1) {
      bl_row_range kept[4];
      size_t n = 0;
      for (size_t k = 0; k < 4; k++)
        if (sets[i][k].begin < sets[i][k].end) kept[n++] = sets[i][k];
      assert_int_equal(check_numbers(&f, 0, kept, n, batch), counts[i]);
    }
  bl_buf b;
  int batches = 0;
  int32_t leaf = 0;
  bl_buf_init(&b, f.ctx, 10000);
  test_ok(read_lines(&f, 0, &leaf, 1, sets[1], 4, 10, &b, &batches), &f.err);
  assert_int_equal(batches, 1);
  batches = 0;
  test_ok(read_lines(&f, 0, &leaf, 1, sets[1], 2, 10, &b, &batches), &f.err);
  assert_int_equal(batches, 0);
  bl_buf_free(&b);
  teardown(&f);
}

static void test_data_avro__no_leaves_give_batches_of_a_length_only(void **state) {
  (void)state;
  fixture f;
  struct ArrowArrayStream s;
  struct ArrowArray a;
  int64_t rows = 0;
  setup(&f);
  write_numbers(&f, 1000, 10);
  test_ok(open_file(&f), &f.err);
  test_ok(f.r->read(f.r, 0, NULL, 0, NULL, 0, 300, &s, &f.err), &f.err);
  for (;;) {
    test_ok(bl_stream_next(&s, &a, &f.err), &f.err);
    if (!a.release) break;
    assert_int_equal(a.n_children, 0);
    rows += a.length;
    bl_array_release(&a);
  }
  assert_int_equal(rows, 1000);
  s.release(&s);
  teardown(&f);
}

static void test_data_avro__wide_rows_end_a_batch_early(void **state) {
  (void)state;
  fixture f;
  struct ArrowArrayStream s;
  struct ArrowArray a;
  int32_t leaf = 1;
  int batches = 0;
  setup(&f);
  write_numbers(&f, 100, 1 << 20);
  test_ok(open_file(&f), &f.err);
  for (size_t g = 0; g < f.r->meta->n_groups; g++) {
    test_ok(f.r->read(f.r, g, &leaf, 1, NULL, 0, 1 << 16, &s, &f.err), &f.err);
    for (;;) {
      test_ok(bl_stream_next(&s, &a, &f.err), &f.err);
      if (!a.release) break;
      assert_true(a.length <= 48);
      batches++;
      bl_array_release(&a);
    }
    s.release(&s);
  }
  assert_true(batches > 2);
  teardown(&f);
}

static void test_data_avro__an_empty_file_has_no_groups(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  write_file(&f, NUMBERED, "null", NULL, 0, 0);
  test_ok(open_file(&f), &f.err);
  assert_int_equal(f.r->meta->rows, 0);
  assert_int_equal(f.r->meta->n_groups, 0);
  teardown(&f);
}

static void test_data_avro__columns_without_ids_have_none(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 'x', 14};
  fixture f;
  setup(&f);
  write_file(&f,
             "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"a_x2Eb\",\"iceberg-field-name\":\"a.b\","
             "\"type\":\"string\"},{\"name\":\"c\",\"type\":\"int\"}]}",
             "null", record, sizeof record, 1);
  test_ok(open_file(&f), &f.err);
  assert_false(f.r->meta->has_field_ids);
  assert_null(f.r->meta->schema_text);
  int32_t both[] = {0, 1};
  assert_lines(&f, both, 2, "{\"a.b\":\"x\",\"c\":7}\n");
  teardown(&f);
}

/* ---- damage ---- */

static void test_data_avro__damage_before_the_rows_is_found_when_opening(void **state) {
  (void)state;
  fixture f;
  setup(&f);
  write_numbers(&f, 2000, 300);
  f.file.n -= 40;
  refused(&f, open_file(&f), BL_DAMAGED, "mem/file.avro: byte");
  f.file.n += 40;
  f.file.p[f.file.n - 3] ^= 1;
  refused(&f, open_file(&f), BL_DAMAGED, "sync marker");
  f.file.p[0] = 'X';
  refused(&f, open_file(&f), BL_DAMAGED, "not an Avro file");
  write_file(&f, "\"int\"", "null", "\2", 1, 1);
  refused(&f, open_file(&f), BL_DAMAGED, "record");
  teardown(&f);
}

static void test_data_avro__damage_in_a_block_is_told_by_the_stream(void **state) {
  (void)state;
  static const struct {
    const char *type;
    uint8_t record[12];
    size_t n;
    bl_status want;
    const char *words;
  } cases[] = {
      {"\"string\"", {20, 'x'}, 2, BL_DAMAGED, "a length of 10"},
      {"\"int\"", {0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 6, BL_DAMAGED, "32 bits"},
      {"\"int\"", {2, 2}, 2, BL_DAMAGED, "after its last record"},
      {"\"boolean\"", {2}, 1, BL_DAMAGED, "boolean"},
      {"[\"null\",\"int\"]", {6}, 1, BL_DAMAGED, "branch"},
      {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", {2}, 1, BL_DAMAGED, "symbol 1"},
      {"{\"type\":\"string\",\"logicalType\":\"uuid\"}", {2, 'x'}, 2, BL_DAMAGED, "UUID"},
      {"{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}",
       {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
       10,
       BL_DAMAGED,
       "microseconds"},
      {"{\"type\":\"array\",\"items\":\"int\"}", {20, 2}, 2, BL_DAMAGED, "array block"},
      {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":50,\"scale\":1}",
       {2, 1},
       2,
       BL_UNSUPPORTED,
       "38 digits"},
  };
  fixture f;
  bl_buf b;
  setup(&f);
  bl_buf_init(&b, f.ctx, 1000);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    char schema[400];
    int32_t leaf = 0;
    snprintf(schema, sizeof schema, "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":%s}]}",
             cases[i].type);
    write_file(&f, schema, "null", cases[i].record, cases[i].n, 1);
    test_ok(open_file(&f), &f.err);
    bl_status st = read_lines(&f, 0, &leaf, 1, NULL, 0, 10, &b, NULL);
    test_says(&f.err, "mem/file.avro");
    refused(&f, st, cases[i].want, cases[i].words);
    f.r->free(f.r);
    f.r = NULL;
  }
  bl_buf_free(&b);
  teardown(&f);
}

/* 5 bytes that claim 2^20 nulls, again and again. */
static void test_data_avro__items_without_bytes_are_limited(void **state) {
  (void)state;
  fixture f;
  bl_buf b, record;
  int32_t leaf = 0;
  setup(&f);
  bl_buf_init(&b, f.ctx, 1000);
  bl_buf_init(&record, f.ctx, 10000);
  for (int i = 0; i < 1000; i++) bl_avro_put_long(&record, BL_AVRO_MAX_EMPTY);
  bl_avro_put_long(&record, 0);
  write_file(&f,
             "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":"
             "\"null\"}}]}",
             "null", record.p, record.n, 1);
  test_ok(open_file(&f), &f.err);
  refused(&f, read_lines(&f, 0, &leaf, 1, NULL, 0, 10, &b, NULL), BL_DAMAGED, "items without bytes");
  bl_buf_free(&record);
  bl_buf_free(&b);
  teardown(&f);
}

static bl_status read_everything(bl_ctx *ctx, void *user, bl_error *err) {
  const fixture *f = user;
  input in = f->in;
  bl_data_reader *r;
  struct ArrowArrayStream s;
  int32_t leaves[100];
  bl_buf b;
  BL_TRY(bl_format_avro.open(ctx, &in.base, "mem/file.avro", NULL, &r, err));
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_status st = r->read(r, 0, leaves, readable_leaves(r->meta, leaves), NULL, 0, 2, &s, err);
  if (st == BL_OK) st = lines_of(ctx, &s, &b, NULL, err);
  bl_buf_free(&b);
  r->free(r);
  return st;
}

static void test_data_avro__running_out_of_memory_is_reported(void **state) {
  (void)state;
  fixture f;
  setup_fixture(&f, "spark_compacted");
  test_fail_each(read_everything, &f);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_avro__the_tree_has_kinds_ids_and_what_may_be_null),
      cmocka_unit_test(test_data_avro__values_of_every_type_become_arrow),
      cmocka_unit_test(test_data_avro__each_leaf_alone_reads_as_it_does_among_all),
      cmocka_unit_test(test_data_avro__files_of_other_writers_read),
      cmocka_unit_test(test_data_avro__what_cannot_be_read_is_named_only_when_asked_for),
      cmocka_unit_test(test_data_avro__encrypted_files_are_refused),
      cmocka_unit_test(test_data_avro__big_files_are_cut_into_groups_of_blocks),
      cmocka_unit_test(test_data_avro__ranges_give_their_rows_alone),
      cmocka_unit_test(test_data_avro__no_leaves_give_batches_of_a_length_only),
      cmocka_unit_test(test_data_avro__wide_rows_end_a_batch_early),
      cmocka_unit_test(test_data_avro__an_empty_file_has_no_groups),
      cmocka_unit_test(test_data_avro__columns_without_ids_have_none),
      cmocka_unit_test(test_data_avro__damage_before_the_rows_is_found_when_opening),
      cmocka_unit_test(test_data_avro__damage_in_a_block_is_told_by_the_stream),
      cmocka_unit_test(test_data_avro__items_without_bytes_are_limited),
      cmocka_unit_test(test_data_avro__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
