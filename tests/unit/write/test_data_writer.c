#include "write/data_writer.h"

#include <pthread.h>

#include "bergline/scan.h"
#include "rows/arrow_own.h"
#include "support/fault_io.h"
#include "support/rows.h"
#include "support/table_maker.h"

#define ID_AND_NAME                                                                                                    \
  "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"                                                   \
  "{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"}"

static const char plain_fields[] = ID_AND_NAME "]";
static const char lineage_fields[] =
    ID_AND_NAME ",{\"id\":2147483540,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"},"
                "{\"id\":2147483539,\"name\":\"_last_updated_sequence_number\",\"required\":false,\"type\":\"long\"}]";

/* Writes batches of JSON rows and gives the staged change. */
typedef struct writing {
  maker *m;
  bl_table *t;
  bl_staged *staged;
  bl_data_writer *w;
} writing;

static void begin(writing *x, maker *m, const bl_data_writer_options *o) {
  bl_error err = BL_ERROR_INIT;
  x->m = m;
  x->t = maker_open(m);
  test_ok(bl_staged_new(x->t->ctx, &x->staged, &err), &err);
  test_ok(bl_data_writer_new(x->t, o, x->staged, &x->w, &err), &err);
}

static void put(writing *x, const char *fields, const char *rows) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArray batch;
  maker_batch(x->m, fields, rows, &batch);
  test_ok(bl_data_writer_write(x->w, &batch, &err), &err);
}

static void end(writing *x) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_data_writer_finish(x->w, &err), &err);
}

/* Commits what was staged and reads the table. */
static void read_back(writing *x, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  maker_entry *e = calloc(x->staged->n_data + 1, sizeof *e);
  for (size_t i = 0; i < x->staged->n_data; i++) e[i] = maker_added(&x->staged->data[i]);
  maker_manifest ms[] = {maker_data_manifest(e, x->staged->n_data)};
  ms[0].spec_id = x->t->metadata->default_spec_id;
  maker_commit(x->m, 1, "append", ms, 1);
  free(e);
  bl_table *t = maker_open(x->m);
  struct ArrowArrayStream s;
  bl_scan_options o = {.lineage = x->t->metadata->format_version > 2};
  test_ok(bl_scan(t, &o, &s, &err), &err);
  test_rows_stream(t->ctx, &s, out);
  bl_table_free(t);
}

static void drop(writing *x) {
  bl_staged_free(x->staged);
  bl_table_free(x->t);
  maker_free(x->m);
}

static void test_data_writer__gives_a_file_whose_rows_come_back(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, plain_fields), &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[[1,\"a\"],[2,null]]");
  put(&x, NULL, "[[3,\"c\"]]");
  end(&x);
  assert_int_equal(x.staged->n_data, 1);
  const bl_data_file *f = &x.staged->data[0];
  assert_int_equal(f->record_count, 3);
  assert_true(f->file_size > 100);
  assert_int_equal(f->spec_id, 0);
  assert_int_equal(f->n_split_offsets, 1);
  assert_int_equal(f->split_offsets[0], 4);
  assert_int_equal(f->n_metrics, 2);
  assert_int_equal(f->metrics[1].values, 3);
  assert_int_equal(f->metrics[1].nulls, 1);
  assert_true(bl_str_is(f->metrics[1].lower, "a"));
  assert_true(bl_str_is(f->metrics[1].upper, "c"));
  assert_int_equal(x.staged->n_files, 1);
  assert_true(bl_str_eq(x.staged->files[0], f->path));
  assert_true(bl_str_starts(f->path, BL_STR("/t/data/00000-0-")));
  test_rows got, want;
  read_back(&x, &got);
  const char expected[] = "{\"k\":1,\"s\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":2,\"s\":null,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":3,\"s\":\"c\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n";
  test_rows_parse(expected, sizeof expected - 1, &want);
  test_rows_same_order(&want, &got, "rows");
  test_rows_free(&want);
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__writes_nothing_where_no_row_comes(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, plain_fields), &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[]");
  end(&x);
  assert_int_equal(x.staged->n_data, 0);
  assert_int_equal(x.staged->n_files, 0);
  drop(&x);
  test_ctx_free(ctx);
}

/* ---- lineage columns (W4, W5) ---- */

static bool stores(writing *x, const bl_data_file *f, int32_t id) {
  bl_error err = BL_ERROR_INIT;
  const bl_data_format *format;
  bl_input *in;
  bl_data_reader *r;
  test_ok(bl_table_data_format(x->t, BL_FORMAT_PARQUET, &format, &err), &err);
  test_ok(x->t->io->open_input(x->t->io, f->path.p, &in, &err), &err);
  test_ok(format->open(x->t->ctx, in, f->path.p, NULL, &r, &err), &err);
  bool found = false;
  for (size_t i = 0; i < r->meta->n_nodes; i++) {
    if (r->meta->nodes[i].field_id != id) continue;
    found = true;
    assert_false(r->meta->nodes[i].required);
    assert_int_equal(r->meta->nodes[i].parent, 0);
  }
  r->free(r);
  in->close(in);
  return found;
}

static void test_data_writer__stores_lineage_columns_where_a_row_has_a_value(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, plain_fields), &(bl_data_writer_options){.spec_id = -1, .lineage = true});
  put(&x, lineage_fields, "[[1,\"new\",null,null]]");
  put(&x, lineage_fields, "[[2,\"updated\",40,null]]");
  put(&x, lineage_fields, "[[3,\"new\",null,null]]");
  put(&x, lineage_fields, "[[4,\"carried\",41,7],[5,\"new\",null,null]]");
  end(&x);
  assert_int_equal(x.staged->n_data, 3); /* without, with ids, with both */
  const bl_data_file *f = x.staged->data;
  assert_false(stores(&x, &f[0], BL_ID_ROW_ID));
  assert_true(stores(&x, &f[1], BL_ID_ROW_ID));
  assert_false(stores(&x, &f[1], BL_ID_LAST_UPDATED));
  assert_true(stores(&x, &f[2], BL_ID_ROW_ID));
  assert_true(stores(&x, &f[2], BL_ID_LAST_UPDATED));
  const bl_column_metrics *ids = bl_data_file_metrics(&f[1], BL_ID_ROW_ID);
  assert_int_equal(ids->nulls, 1);
  assert_int_equal(ids->lower.n, 8);
  assert_int_equal(ids->lower.p[0], 40);
  assert_int_equal(ids->upper.p[0], 40);
  test_rows got, want;
  read_back(&x, &got);
  const char expected[] = "{\"k\":1,\"s\":\"new\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":2,\"s\":\"updated\",\"_row_id\":40,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":3,\"s\":\"new\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":4,\"s\":\"carried\",\"_row_id\":41,\"_last_updated_sequence_number\":7}\n"
                          "{\"k\":5,\"s\":\"new\",\"_row_id\":4,\"_last_updated_sequence_number\":1}\n";
  test_rows_parse(expected, sizeof expected - 1, &want);
  test_rows_same_order(&want, &got, "rows");
  test_rows_free(&want);
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__leaves_lineage_out_of_tables_before_v3(void **state) {
  (void)state;
  for (int version = 1; version <= 2; version++) {
    bl_ctx *ctx = test_ctx();
    writing x;
    begin(&x, maker_new(ctx, version, plain_fields), &(bl_data_writer_options){.spec_id = -1, .lineage = true});
    put(&x, lineage_fields, "[[4,\"carried\",41,7]]");
    end(&x);
    assert_int_equal(x.staged->n_data, 1);
    assert_false(stores(&x, &x.staged->data[0], BL_ID_ROW_ID));
    drop(&x);
    test_ctx_free(ctx);
  }
}

/* ---- partitions ---- */

static const char by_s[] = "[{\"field-id\":1000,\"source-id\":2,\"name\":\"s\",\"transform\":\"identity\"}]";

static bl_ctx *small_ctx(test_heap *h, int64_t budget) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = 2;
  o.memory_budget = budget;
  return test_ctx_on(h, &o);
}

/* Rows k = 0 … n-1 with s = k % partitions, as JSON. */
static char *many_rows(int from, int n, int partitions) {
  char *text = malloc((size_t)n * 40 + 10), *p = text;
  assert_non_null(text);
  *p++ = '[';
  for (int i = 0; i < n; i++) p += sprintf(p, "%s[%d,\"p%d\"]", i ? "," : "", from + i, ((from + i) * 7) % partitions);
  strcpy(p, "]");
  return text;
}

/* So many batches of n rows, one behind the other. */
static void put_many(writing *x, int batches, int n, int partitions) {
  for (int i = 0; i < batches; i++) {
    char *rows = many_rows(i * n, n, partitions);
    put(x, NULL, rows);
    free(rows);
  }
}

/* Each partition's rows come back, in the order they came. */
static void check_partitions(writing *x, int rows, int partitions, size_t files) {
  assert_int_equal(x->staged->n_data, files);
  for (size_t i = 0; i < x->staged->n_data; i++) {
    const bl_data_file *f = &x->staged->data[i];
    assert_int_equal(f->n_partition, 1);
    char folder[100];
    snprintf(folder, sizeof folder, "/t/data/s=%.*s/", (int)f->partition[0].u.s.n, f->partition[0].u.s.p);
    assert_true(bl_str_starts(f->path, bl_str_of(folder)));
  }
  test_rows got;
  read_back(x, &got);
  assert_int_equal(got.n, rows);
  int *last = calloc((size_t)partitions, sizeof *last);
  for (size_t i = 0; i < got.n; i++) {
    int64_t k = test_rows_int(&got, i, "k");
    int p = (int)(k * 7 % partitions);
    assert_true(last[p] == 0 || k > last[p]);
    last[p] = (int)k;
  }
  free(last);
  test_rows_free(&got);
}

static void test_data_writer__fans_out_by_partition(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_spec(m, 3, by_s);
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put_many(&x, 4, 500, 5);
  end(&x);
  check_partitions(&x, 2000, 5, 5);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__sorts_the_partitions_that_may_not_open_a_file(void **state) {
  (void)state;
  test_heap h = {0};
  bl_ctx *ctx = small_ctx(&h, 1 << 20); /* two open files, and runs that go to disk */
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_spec(m, 0, by_s);
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put_many(&x, 30, 2000, 40);
  end(&x);
  check_partitions(&x, 60000, 40, 40);
  drop(&x);
  test_ctx_free(ctx);
}

/* ---- few files may be open ---- */

/* Files being written. */
typedef struct counting {
  int64_t room; /* of a process that has none */
  int64_t open, most_open;
  pthread_mutex_t lock;
} counting;

static bl_status count_open(void *user, long call, const char *operation, const char *path, bl_error *err) {
  counting *c = user;
  (void)call, (void)path, (void)err;
  pthread_mutex_lock(&c->lock);
  c->open += strcmp(operation, "create") == 0;
  c->open -= strcmp(operation, "finish") == 0;
  if (c->open > c->most_open) c->most_open = c->open;
  pthread_mutex_unlock(&c->lock);
  return BL_OK;
}

static int64_t room_left(bl_io *io, int64_t most) {
  const counting *c = ((fault_io *)io)->user;
  return c->room - c->open < most ? c->room - c->open : most;
}

/* How many files are written at the same time where there is room for so many, and `beside` writers are at work. */
static int64_t most_open(int64_t room, size_t beside) {
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  counting c = {.room = room, .lock = PTHREAD_MUTEX_INITIALIZER};
  bl_error err = BL_ERROR_INIT;
  fault_io f;
  maker_spec(m, 0, by_s);
  writing x = {.m = m, .t = maker_open(m)};
  bl_io *own = x.t->io;
  x.t->io = fault_io_new(&f, own);
  f.hook = count_open;
  f.user = &c;
  if (room >= 0) f.io.room = room_left;
  test_ok(bl_staged_new(ctx, &x.staged, &err), &err);
  test_ok(bl_data_writer_new(x.t, &(bl_data_writer_options){.spec_id = -1, .beside = beside}, x.staged, &x.w, &err),
          &err);
  put_many(&x, 3, 1000, 130);
  end(&x);
  x.t->io = own;
  assert_int_equal(c.open, 0);
  check_partitions(&x, 3000, 130, 130);
  drop(&x);
  test_ctx_free(ctx);
  return c.most_open;
}

static void test_data_writer__opens_as_many_files_as_there_is_room_for(void **state) {
  (void)state;
  assert_int_equal(most_open(-1, 0), 100); /* no limit is known */
  assert_int_equal(most_open(1000, 0), 100);
  assert_int_equal(most_open(126, 0), 100);
  assert_int_equal(most_open(100, 0), 74); /* some are left for others */
  assert_int_equal(most_open(52, 0), 26);
  assert_int_equal(most_open(20, 0), 10);
  assert_int_equal(most_open(3, 0), 2); /* never fewer */
  assert_int_equal(most_open(0, 0), 2);
}

static void test_data_writer__shares_the_room_with_the_writers_beside_it(void **state) {
  (void)state;
  assert_int_equal(most_open(1000, 1), 100);
  assert_int_equal(most_open(1008, 8), 100);
  assert_int_equal(most_open(160, 8), 10);
  assert_int_equal(most_open(8, 8), 2);
}

/* B141: partitions are equal by bits with one NaN. */
static void test_data_writer__keeps_zeros_apart_and_nans_together(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, "[{\"id\":1,\"name\":\"d\",\"required\":false,\"type\":\"double\"}]");
  maker_spec(m, 0, "[{\"field-id\":1000,\"source-id\":1,\"name\":\"d\",\"transform\":\"identity\"}]");
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  struct ArrowArray batch;
  bl_error err = BL_ERROR_INIT;
  maker_batch(m, NULL, "[[\"NaN\"],[\"-0.0\"],[0],[\"NaN\"],[null],[0],[\"-0.0\"]]", &batch);
  uint64_t other_nan = UINT64_C(0xfff8000000000123);
  memcpy((double *)(uintptr_t)batch.children[0]->buffers[1] + 3, &other_nan, sizeof other_nan);
  test_ok(bl_data_writer_write(x.w, &batch, &err), &err);
  end(&x);
  assert_int_equal(x.staged->n_data, 4);
  const bl_data_file *f = x.staged->data;
  assert_true(bl_value_is_nan(&f[0].partition[0]));
  assert_int_equal(f[0].record_count, 2);
  assert_true(__builtin_signbit(f[1].partition[0].u.d));
  assert_int_equal(f[1].record_count, 2);
  assert_false(__builtin_signbit(f[2].partition[0].u.d));
  assert_int_equal(f[2].record_count, 2);
  assert_true(f[3].partition[0].null);
  drop(&x);
  test_ctx_free(ctx);
}

/* B136: floor division, UTC, signed. */
static void test_data_writer__puts_times_before_1970_into_the_right_partition(void **state) {
  (void)state;
  setenv("TZ", "Asia/Kolkata", 1);
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, "[{\"id\":1,\"name\":\"t\",\"required\":false,\"type\":\"timestamptz\"}]");
  maker_spec(m, 0,
             "[{\"field-id\":1000,\"source-id\":1,\"name\":\"y\",\"transform\":\"year\"},"
             "{\"field-id\":1001,\"source-id\":1,\"name\":\"m\",\"transform\":\"month\"},"
             "{\"field-id\":1002,\"source-id\":1,\"name\":\"d\",\"transform\":\"day\"},"
             "{\"field-id\":1003,\"source-id\":1,\"name\":\"h\",\"transform\":\"hour\"}]");
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[[\"1969-12-31T23:59:59.999999+00:00\"],[\"1970-01-01T00:00:00+00:00\"]]");
  end(&x);
  assert_int_equal(x.staged->n_data, 2);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(x.staged->data[0].partition[i].u.i, -1);
    assert_int_equal(x.staged->data[1].partition[i].u.i, 0);
  }
  const char before[] = "/t/data/y=1969/m=1969-12/d=1969-12-31/h=1969-12-31-23/";
  assert_true(bl_str_starts(x.staged->data[0].path, BL_STR(before)));
  drop(&x);
  unsetenv("TZ");
  test_ctx_free(ctx);
}

static void test_data_writer__refuses_a_transform_that_it_does_not_know(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_spec(m, 0, "[{\"field-id\":1000,\"source-id\":1,\"name\":\"z\",\"transform\":\"zorder\"}]");
  writing x = {.m = m, .t = maker_open(m)};
  test_ok(bl_staged_new(ctx, &x.staged, &err), &err);
  bl_status st = bl_data_writer_new(x.t, &(bl_data_writer_options){.spec_id = -1}, x.staged, &x.w, &err);
  test_status(BL_UNSUPPORTED, st, &err);
  test_says(&err, "zorder");
  drop(&x);
  test_ctx_free(ctx);
}

/* ---- order, sizes ---- */

static void test_data_writer__writes_in_the_order_of_the_table(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_order(m,
              "[{\"source-id\":2,\"transform\":\"truncate[1]\",\"direction\":\"desc\",\"null-order\":\"nulls-last\"},"
              "{\"source-id\":1,\"transform\":\"identity\",\"direction\":\"asc\",\"null-order\":\"nulls-first\"}]");
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[[5,\"a\"],[-1,\"b1\"],[null,\"b2\"]]");
  put(&x, NULL, "[[3,null],[4,\"b0\"],[4,\"a\"],[1,\"\"]]");
  end(&x);
  assert_int_equal(x.staged->n_data, 1);
  assert_int_equal(x.staged->data[0].sort_order_id, 1);
  test_rows got, want;
  read_back(&x, &got);
  const char expected[] = "{\"k\":null,\"s\":\"b2\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":-1,\"s\":\"b1\",\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":4,\"s\":\"b0\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":4,\"s\":\"a\",\"_row_id\":3,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":5,\"s\":\"a\",\"_row_id\":4,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":1,\"s\":\"\",\"_row_id\":5,\"_last_updated_sequence_number\":1}\n"
                          "{\"k\":3,\"s\":null,\"_row_id\":6,\"_last_updated_sequence_number\":1}\n";
  test_rows_parse(expected, sizeof expected - 1, &want);
  test_rows_same_order(&want, &got, "rows");
  test_rows_free(&want);
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__keeps_the_order_of_the_rows_where_asked_to(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_order(m, "[{\"source-id\":1,\"transform\":\"identity\",\"direction\":\"asc\",\"null-order\":\"nulls-first\"}]");
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1, .keep_order = true});
  put(&x, NULL, "[[5,\"a\"],[1,\"b\"]]");
  end(&x);
  assert_int_equal(x.staged->data[0].sort_order_id, -1);
  test_rows got;
  read_back(&x, &got);
  assert_int_equal(test_rows_int(&got, 0, "k"), 5);
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

static void test_data_writer__begins_a_new_file_at_the_target_size(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_property(m, "write.target-file-size-bytes", "20000");
  maker_property(m, "write.parquet.page-size-bytes", "1000");
  maker_property(m, "write.parquet.compression-codec", "uncompressed");
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put_many(&x, 20, 1000, 997);
  end(&x);
  assert_true(x.staged->n_data > 5);
  int64_t rows = 0;
  for (size_t i = 0; i < x.staged->n_data; i++) {
    const bl_data_file *f = &x.staged->data[i];
    rows += f->record_count;
    assert_true(f->file_size < 50000);
    assert_true(i + 1 == x.staged->n_data || f->file_size > 19000);
    char number[60];
    snprintf(number, sizeof number, "/t/data/%05zu-0-", i);
    assert_true(bl_str_starts(f->path, bl_str_of(number)));
  }
  assert_int_equal(rows, 20000);
  assert_int_equal(x.staged->n_files, x.staged->n_data);
  drop(&x);
  test_ctx_free(ctx);
}

/* n rows whose text is as long as `width`, and is compressed to a small part of it where `dull`. */
static char *wide_rows(int n, int width, bool dull) {
  char *text = malloc((size_t)n * ((size_t)width + 30) + 10), *p = text;
  uint32_t random = 1;
  assert_non_null(text);
  if (!text) return NULL;
  *p++ = '[';
  for (int i = 0; i < n; i++) {
    p += sprintf(p, "%s[%d,\"", i ? "," : "", i);
    for (int k = 0; k < width; k++) {
      if (!dull || k % 16 == 0) random = random * 1664525 + 1013904223;
      *p++ = (char)('a' + (random >> 28));
    }
    p += sprintf(p, "\"]");
  }
  strcpy(p, "]");
  return text;
}

static void test_data_writer__a_batch_of_wide_rows_is_several_files(void **state) {
  (void)state;
  static const struct {
    const char *codec;
    bool dull;
  } all[] = {{"uncompressed", false}, {"zstd", false}, {"zstd", true}};
  enum { ROWS = 20000, TARGET = 400000 };
  for (size_t i = 0; i < BL_LEN(all); i++) {
    bl_ctx *ctx = test_ctx();
    maker *m = maker_new(ctx, 3, plain_fields);
    maker_property(m, "write.target-file-size-bytes", "400000");
    maker_property(m, "write.parquet.compression-codec", all[i].codec);
    writing x;
    begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
    char *rows = wide_rows(ROWS, 200, all[i].dull);
    put(&x, NULL, rows);
    free(rows);
    end(&x);
    assert_true(x.staged->n_data > 1);
    int64_t n = 0;
    for (size_t k = 0; k < x.staged->n_data; k++) {
      const bl_data_file *f = &x.staged->data[k];
      n += f->record_count;
      if (f->file_size > TARGET * 5 / 4 || (k + 1 < x.staged->n_data && f->file_size < TARGET * 3 / 4))
        fail_msg("%s: file %zu of %zu has %lld bytes", all[i].codec, k, x.staged->n_data, (long long)f->file_size);
    }
    assert_int_equal(n, ROWS);
    test_rows got;
    read_back(&x, &got);
    for (size_t k = 0; k < got.n; k++) assert_int_equal(test_rows_int(&got, k, "k"), k);
    test_rows_free(&got);
    drop(&x);
    test_ctx_free(ctx);
  }
}

static void test_data_writer__refuses_properties_that_it_cannot_honour(void **state) {
  (void)state;
  static const struct {
    const char *key, *value;
    bl_status st;
  } wrong[] = {
      {"write.target-file-size-bytes", "many", BL_USAGE},
      {"write.target-file-size-bytes", "0", BL_USAGE},
      {"write.parquet.row-group-size-bytes", "-1", BL_USAGE},
      {"write.parquet.compression-codec", "lzo", BL_UNSUPPORTED},
      {"write.parquet.compression-level", "hard", BL_USAGE},
      {"write.format.default", "orc", BL_UNSUPPORTED},
      {"write.folder-storage.path", "/d", BL_UNSUPPORTED},
      {"write.location-provider.impl", "com.example.X", BL_UNSUPPORTED},
  };
  for (size_t i = 0; i < BL_LEN(wrong); i++) {
    bl_ctx *ctx = test_ctx();
    bl_error err = BL_ERROR_INIT;
    maker *m = maker_new(ctx, 3, plain_fields);
    maker_property(m, wrong[i].key, wrong[i].value);
    writing x = {.m = m, .t = maker_open(m)};
    test_ok(bl_staged_new(ctx, &x.staged, &err), &err);
    bl_status st = bl_data_writer_new(x.t, &(bl_data_writer_options){.spec_id = -1}, x.staged, &x.w, &err);
    test_status(wrong[i].st, st, &err);
    test_says(&err, wrong[i].key);
    drop(&x);
    test_ctx_free(ctx);
  }
}

static void test_data_writer__honours_the_codecs_and_the_data_path(void **state) {
  (void)state;
  static const char *const codecs[] = {"zstd", "SNAPPY", "gzip", "lz4", "brotli", "uncompressed"};
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    bl_ctx *ctx = test_ctx();
    maker *m = maker_new(ctx, 3, plain_fields);
    maker_property(m, "write.parquet.compression-codec", codecs[i]);
    maker_property(m, "write.parquet.compression-level", "1");
    maker_property(m, "write.data.path", "/elsewhere/");
    maker_property(m, "write.parquet.bloom-filter-enabled.column.s", "true");
    writing x;
    begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
    put(&x, NULL, "[[1,\"a\"]]");
    end(&x);
    assert_true(bl_str_starts(x.staged->data[0].path, BL_STR("/elsewhere/00000-0-")));
    test_rows got;
    read_back(&x, &got);
    assert_int_equal(got.n, 1);
    test_rows_free(&got);
    drop(&x);
    test_ctx_free(ctx);
  }
}

static void test_data_writer__takes_a_metrics_mode_that_is_none_for_the_default(void **state) {
  (void)state;
  static const char *const values[] = {"counts", "truncate(0)", "rubbish", "truncate(1)"};
  static const char *const lower[] = {NULL, "abc", "abc", "a"};
  for (size_t i = 0; i < BL_LEN(values); i++) {
    bl_ctx *ctx = test_ctx();
    maker *m = maker_new(ctx, 3, plain_fields);
    maker_property(m, "write.metadata.metrics.default", values[i]); /* as others may have set it */
    writing x;
    begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
    put(&x, NULL, "[[1,\"abc\"]]");
    end(&x);
    bl_str bound = x.staged->data[0].metrics[1].lower;
    assert_true(lower[i] ? bl_str_is(bound, lower[i]) : !bound.p);
    drop(&x);
    test_ctx_free(ctx);
  }
}

static int64_t size_with(const char *property, const char *value) {
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, plain_fields);
  maker_property(m, "write.parquet.bloom-filter-max-bytes", "3000");
  maker_property(m, property, value);
  writing x;
  begin(&x, m, &(bl_data_writer_options){.spec_id = -1});
  put_many(&x, 20, 1000, 997);
  end(&x);
  int64_t size = x.staged->data[0].file_size;
  assert_int_equal(x.staged->n_data, 1);
  drop(&x);
  test_ctx_free(ctx);
  return size;
}

static void test_data_writer__bloom_filters_are_no_larger_than_allowed(void **state) {
  (void)state;
  int64_t without = size_with("owner", "me");
  int64_t with = size_with("write.parquet.bloom-filter-enabled.column.k", "true");
  assert_true(with > without + 2000); /* the power of two below */
  assert_true(with < without + 3000);
}

/* ---- columns of type unknown ---- */

static void test_data_writer__leaves_columns_of_type_unknown_out(void **state) {
  (void)state;
  static const char fields[] =
      "[{\"id\":1,\"name\":\"u\",\"required\":false,\"type\":\"unknown\"},"
      "{\"id\":2,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"
      "{\"id\":3,\"name\":\"st\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
      "{\"id\":4,\"name\":\"u\",\"required\":false,\"type\":\"unknown\"},"
      "{\"id\":5,\"name\":\"x\",\"required\":false,\"type\":\"int\"}]}},"
      "{\"id\":6,\"name\":\"li\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":7,\"element-required\":"
      "false,"
      "\"element\":{\"type\":\"struct\",\"fields\":[{\"id\":8,\"name\":\"y\",\"required\":false,\"type\":\"int\"},"
      "{\"id\":9,\"name\":\"u\",\"required\":false,\"type\":\"unknown\"}]}}}]";
  bl_ctx *ctx = test_ctx();
  writing x;
  begin(&x, maker_new(ctx, 3, fields), &(bl_data_writer_options){.spec_id = -1});
  put(&x, NULL, "[[null,1,[null,7],[[3,null],null]],[null,2,null,null]]");
  end(&x);
  assert_false(stores(&x, &x.staged->data[0], 1));
  assert_true(stores(&x, &x.staged->data[0], 2));
  test_rows got;
  read_back(&x, &got);
  assert_string_equal(got.lines[0],
                      "{\"_last_updated_sequence_number\":1,\"_row_id\":0,\"k\":1,\"li\":[{\"u\":null,\"y\":3},"
                      "null],\"st\":{\"u\":null,\"x\":7},\"u\":null}");
  test_rows_free(&got);
  drop(&x);
  test_ctx_free(ctx);
}

/* ---- failures ---- */

static bl_status write_some(bl_ctx *ctx, void *user, bl_error *err) {
  const char *order = user;
  /* The fixture must not fail: it is made on a heap of its own, the writer's table is not. */
  test_heap own = {0};
  bl_ctx *quiet = test_ctx_on(&own, NULL);
  maker *m = maker_new(quiet, 3, plain_fields);
  maker_spec(m, 0, by_s);
  if (order) maker_order(m, order);
  bl_table *t = maker_open(m);
  bl_staged *s = NULL;
  bl_data_writer *w = NULL;
  struct ArrowArray batch;
  bl_ctx *before = t->ctx;
  t->ctx = ctx;
  bl_status st = bl_staged_new(ctx, &s, err);
  if (st == BL_OK) st = bl_data_writer_new(t, &(bl_data_writer_options){.spec_id = -1}, s, &w, err);
  for (int i = 0; st == BL_OK && i < 2; i++) {
    maker_batch(m, NULL, "[[3,\"a\"],[1,\"b\"],[2,\"a\"]]", &batch);
    st = bl_data_writer_write(w, &batch, err);
  }
  if (st == BL_OK) {
    st = bl_data_writer_finish(w, err);
    if (st == BL_OK) assert_int_equal(s->n_data, 2);
  } else {
    bl_data_writer_abort(w);
  }
  bl_staged_free(s);
  t->ctx = before;
  bl_table_free(t);
  maker_free(m);
  test_ctx_free(quiet);
  return st;
}

static void test_data_writer__fails_cleanly_without_memory(void **state) {
  (void)state;
  test_fail_each(write_some, NULL);
}

static void test_data_writer__fails_cleanly_without_memory_while_it_sorts(void **state) {
  (void)state;
  test_fail_each(write_some, "[{\"source-id\":1,\"transform\":\"identity\",\"direction\":\"asc\",\"null-order\":"
                             "\"nulls-first\"}]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_writer__gives_a_file_whose_rows_come_back),
      cmocka_unit_test(test_data_writer__writes_nothing_where_no_row_comes),
      cmocka_unit_test(test_data_writer__stores_lineage_columns_where_a_row_has_a_value),
      cmocka_unit_test(test_data_writer__leaves_lineage_out_of_tables_before_v3),
      cmocka_unit_test(test_data_writer__fans_out_by_partition),
      cmocka_unit_test(test_data_writer__sorts_the_partitions_that_may_not_open_a_file),
      cmocka_unit_test(test_data_writer__opens_as_many_files_as_there_is_room_for),
      cmocka_unit_test(test_data_writer__shares_the_room_with_the_writers_beside_it),
      cmocka_unit_test(test_data_writer__keeps_zeros_apart_and_nans_together),
      cmocka_unit_test(test_data_writer__puts_times_before_1970_into_the_right_partition),
      cmocka_unit_test(test_data_writer__refuses_a_transform_that_it_does_not_know),
      cmocka_unit_test(test_data_writer__writes_in_the_order_of_the_table),
      cmocka_unit_test(test_data_writer__keeps_the_order_of_the_rows_where_asked_to),
      cmocka_unit_test(test_data_writer__begins_a_new_file_at_the_target_size),
      cmocka_unit_test(test_data_writer__a_batch_of_wide_rows_is_several_files),
      cmocka_unit_test(test_data_writer__refuses_properties_that_it_cannot_honour),
      cmocka_unit_test(test_data_writer__honours_the_codecs_and_the_data_path),
      cmocka_unit_test(test_data_writer__takes_a_metrics_mode_that_is_none_for_the_default),
      cmocka_unit_test(test_data_writer__bloom_filters_are_no_larger_than_allowed),
      cmocka_unit_test(test_data_writer__leaves_columns_of_type_unknown_out),
      cmocka_unit_test(test_data_writer__fails_cleanly_without_memory),
      cmocka_unit_test(test_data_writer__fails_cleanly_without_memory_while_it_sorts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
