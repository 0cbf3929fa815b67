/* test_parquet_read.c: opening Parquet files, the column tree, rows by group, leaf and range; damaged files. */
#include "base/pool.h"
#include "table_fixture.h"

typedef struct fixture {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  bl_buf file;
  memory_input in;
  bl_data_reader *r;
  bl_error err;
} fixture;

static void setup(fixture *f, const column *cols, size_t n, const bl_parquet_options *o, int batches, int64_t rows) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  test_ok(bl_arrow_init(&f->err), &f->err);
  table_schema(f->ctx, cols, n, &f->schema);
  write_random(f->ctx, &f->schema, o, batches, rows, 1, &f->file);
  f->in = memory_open(f->file.p, f->file.n);
  test_ok(bl_format_parquet.open(f->ctx, &f->in.in, "mem/file.parquet", NULL, &f->r, &f->err), &f->err);
}

static void setup_every_type(fixture *f, int batches, int64_t rows) {
  bl_parquet_options o = {.page_rows = 37};
  setup(f, every_type, BL_LEN(every_type), &o, batches, rows);
}

static void teardown(fixture *f) {
  f->r->free(f->r);
  bl_buf_free(&f->file);
  f->schema.release(&f->schema);
  test_ctx_free(f->ctx);
}

static size_t all_leaves(const bl_data_meta *m, int32_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].kind != BL_D_OTHER) out[n++] = m->nodes[i].leaf;
  return n;
}

static const bl_data_node *node_named(const bl_data_meta *m, const char *name) {
  for (size_t i = 0; i < m->n_nodes; i++)
    if (strcmp(m->nodes[i].name, name) == 0) return &m->nodes[i];
  fail_msg("no node %s", name);
  return NULL;
}

static rows_read read_rows(fixture *f, size_t group, const int32_t *leaves, size_t n, const bl_row_range *ranges,
                           size_t n_ranges, int64_t batch_rows) {
  struct ArrowArrayStream s;
  rows_read out;
  test_ok(f->r->read(f->r, group, leaves, n, ranges, n_ranges, batch_rows, &s, &f->err), &f->err);
  test_ok(rows_collect(f->ctx, &s, &out, &f->err), &f->err);
  return out;
}

static rows_read read_group(fixture *f, size_t group) {
  int32_t leaves[100];
  size_t n = all_leaves(f->r->meta, leaves);
  return read_rows(f, group, leaves, n, NULL, 0, 1 << 16);
}

/* ---- the tree ---- */

static void test_parquet_read__the_tree_has_ids_kinds_and_hints_at_every_level(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 10);
  const bl_data_meta *m = f.r->meta;
  assert_true(m->has_field_ids);
  assert_non_null(strstr(m->created_by, "bergline"));
  assert_int_equal(m->rows, 10);
  assert_int_equal(m->nodes[0].kind, BL_D_STRUCT);
  assert_int_equal(m->nodes[0].parent, -1);
  assert_true(node_named(m, "id")->required);
  assert_int_equal(node_named(m, "d7")->precision, 7);
  assert_int_equal(node_named(m, "d7")->scale, 2);
  assert_int_equal(node_named(m, "fx")->length, 7);
  assert_int_equal(node_named(m, "uu")->hint, BL_H_UUID);
  assert_int_equal(node_named(m, "v")->hint, BL_H_VARIANT);
  assert_int_equal(node_named(m, "geom")->hint, BL_H_GEOMETRY);
  assert_int_equal(node_named(m, "geog")->hint, BL_H_GEOGRAPHY);
  assert_true(node_named(m, "tsz")->utc);
  assert_false(node_named(m, "ts")->utc);
  assert_int_equal(node_named(m, "tn")->kind, BL_D_TIMESTAMP_NS);
  const bl_data_node *lls = node_named(m, "lls");
  assert_int_equal(lls->kind, BL_D_LIST);
  assert_int_equal(lls[1].kind, BL_D_LIST);
  assert_int_equal(lls[1].field_id, 111);
  assert_int_equal(lls[2].field_id, 112);
  assert_string_equal(lls[2].name, "element");
  const bl_data_node *mst = node_named(m, "mst");
  assert_int_equal(mst->kind, BL_D_MAP);
  assert_int_equal(mst[1].field_id, 140);
  assert_true(mst[1].required);
  assert_int_equal(mst[2].kind, BL_D_STRUCT);
  assert_int_equal(mst[2].field_id, 141);
  teardown(&f);
}

static void test_parquet_read__a_reserved_field_id_is_a_column_like_any_other(void **state) {
  (void)state;
  fixture f;
  const column cols[] = {C("l", "a", true, 1), C("l", "_row_id", true, 2147483540), C("l", "x", true, 2147483500)};
  setup(&f, cols, BL_LEN(cols), NULL, 1, 5);
  assert_int_equal(f.r->meta->nodes[2].field_id, 2147483540);
  assert_int_equal(f.r->meta->nodes[3].field_id, 2147483500);
  rows_read one = read_rows(&f, 0, (int32_t[]){0}, 1, NULL, 0, 100);
  assert_int_equal(one.all.length, 5);
  rows_free(&one);
  teardown(&f);
}

/* ---- rows ---- */

static void test_parquet_read__what_was_written_comes_back(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 3, 100);
  assert_int_equal(f.r->meta->n_groups, 3);
  for (size_t g = 0; g < 3; g++) {
    rows_read got = read_group(&f, g), made = {0};
    column_schema(f.ctx, &(column){"+s", "", false, -1, NULL, NULL, every_type, BL_LEN(every_type)}, &made.schema);
    random_batch(f.ctx, &f.schema, 100, 1 + g, &made.all);
    bl_view *a = view_rows(f.ctx, &got), *b = view_rows(f.ctx, &made);
    assert_int_equal(a->n_children, b->n_children);
    for (int64_t i = 0; i < 100; i++) assert_same(a, i, b, i);
    bl_view_free(a);
    bl_view_free(b);
    rows_free(&got);
    rows_free(&made);
  }
  teardown(&f);
}

static void test_parquet_read__the_stream_has_only_canonical_layouts_with_ids(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 10);
  rows_read got = read_group(&f, 0);
  assert_int_equal(got.schema.n_children, BL_LEN(every_type));
  for (size_t i = 0; i < BL_LEN(every_type); i++) {
    struct ArrowSchema *s = got.schema.children[i];
    assert_string_equal(s->format, every_type[i].format);
    assert_string_equal(s->name, every_type[i].name);
    assert_int_equal(!!(s->flags & ARROW_FLAG_NULLABLE), every_type[i].nullable);
    assert_true(bl_aschema_get(s, "PARQUET:field_id").p);
    assert_null(s->dictionary);
  }
  rows_free(&got);
  teardown(&f);
}

static void test_parquet_read__each_leaf_alone_gives_what_it_gives_among_all(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 150);
  rows_read whole = read_group(&f, 0);
  bl_view *w = view_rows(f.ctx, &whole);
  int32_t leaves[100];
  size_t n = all_leaves(f.r->meta, leaves);
  for (size_t k = 0; k < n; k++) {
    rows_read part = read_rows(&f, 0, &leaves[k], 1, NULL, 0, 41);
    bl_view *p = view_rows(f.ctx, &part);
    assert_int_equal(part.all.length, 150);
    assert_int_equal(p->n_children, 1);
    for (int64_t i = 0; i < 150; i++) assert_same(p, i, w, i);
    bl_view_free(p);
    rows_free(&part);
  }
  bl_view_free(w);
  rows_free(&whole);
  teardown(&f);
}

static void test_parquet_read__one_side_of_a_map_gives_both(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 20);
  int32_t key = node_named(f.r->meta, "mst")[1].leaf, p = node_named(f.r->meta, "p")->leaf;
  for (int k = 0; k < 2; k++) {
    rows_read part = read_rows(&f, 0, k ? &p : &key, 1, NULL, 0, 100);
    struct ArrowSchema *entries = part.schema.children[0]->children[0];
    assert_string_equal(part.schema.children[0]->format, "+m");
    assert_int_equal(entries->n_children, 2);
    assert_string_equal(entries->children[0]->name, "key");
    assert_int_equal(entries->children[1]->n_children, 2);
    rows_free(&part);
  }
  teardown(&f);
}

/* Ascending, disjoint; runs and gaps of all sizes. */
static size_t random_ranges(rng *r, int64_t rows, bl_row_range *out) {
  size_t n = 0;
  int64_t longest = 1 + rng_below(r, 60);
  for (int64_t at = rng_below(r, longest); at < rows;) {
    int64_t end = at + 1 + rng_below(r, longest);
    if (end > rows) end = rows;
    out[n++] = (bl_row_range){at, end};
    at = end + rng_below(r, longest);
  }
  return n;
}

static void assert_ranges_agree(fixture *f, bl_view *w, rng *r, int64_t rows) {
  int32_t leaves[100], chosen[100];
  bl_row_range ranges[1000];
  size_t n = all_leaves(f->r->meta, leaves), n_chosen = 0, n_ranges = random_ranges(r, rows, ranges);
  for (size_t i = 0; i < n; i++)
    if (rng_below(r, 3) == 0) chosen[n_chosen++] = leaves[i];
  rows_read part = read_rows(f, 0, chosen, n_chosen, ranges, n_ranges, 1 + rng_below(r, 100));
  bl_view *p = view_rows(f->ctx, &part);
  int64_t at = 0;
  for (size_t k = 0; k < n_ranges; k++)
    for (int64_t row = ranges[k].begin; row < ranges[k].end; row++) assert_same(p, at++, w, row);
  assert_int_equal(at, part.all.length);
  bl_view_free(p);
  rows_free(&part);
}

static void test_parquet_read__ranges_agree_with_the_whole(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 700);
  rows_read whole = read_group(&f, 0);
  bl_view *w = view_rows(f.ctx, &whole);
  rng r = {77};
  for (int i = 0; i < 40; i++) assert_ranges_agree(&f, w, &r, 700);
  bl_view_free(w);
  rows_free(&whole);
  teardown(&f);
}

/* Pages without index, second page version, delta and byte-stream encodings, dictionaries that overflow into plain or
 * delta pages, large and dictionary layouts in ARROW:schema. */
static void test_parquet_read__ranges_agree_with_the_whole_in_files_of_others(void **state) {
  (void)state;
  static const char *const names[] = {"no_index", "v2_delta", "fallback", "int96", "v2_fallback"};
  for (size_t k = 0; k < BL_LEN(names); k++) {
    fixture f = {.ctx = test_ctx(), .err = BL_ERROR_INIT};
    char name[100];
    size_t n;
    snprintf(name, sizeof name, "tests/fixtures/parquet/%s.parquet", names[k]);
    char *path = test_path(name);
    void *bytes = test_read(path, &n);
    f.in = memory_open(bytes, n);
    test_ok(bl_format_parquet.open(f.ctx, &f.in.in, path, NULL, &f.r, &f.err), &f.err);
    rows_read whole = read_group(&f, 0);
    bl_view *w = view_rows(f.ctx, &whole);
    rng r = {k + 5};
    for (int i = 0; i < 15; i++) assert_ranges_agree(&f, w, &r, f.r->meta->groups[0].rows);
    bl_view_free(w);
    rows_free(&whole);
    f.r->free(f.r);
    free(bytes);
    free(path);
    test_ctx_free(f.ctx);
  }
}

static void test_parquet_read__batches_have_at_most_the_rows_asked_for(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 100);
  rows_read r = read_rows(&f, 0, (int32_t[]){0}, 1, NULL, 0, 30);
  assert_int_equal(r.batches, 4);
  rows_free(&r);
  r = read_rows(&f, 0, (int32_t[]){0}, 1, (bl_row_range[]){{0, 7}, {50, 60}}, 2, 5);
  assert_int_equal(r.all.length, 17);
  assert_int_equal(r.batches, 4);
  rows_free(&r);
  r = read_rows(&f, 0, (int32_t[]){0}, 1, (bl_row_range[]){{0, 0}}, 0, 5);
  assert_int_equal(r.all.length, 0);
  rows_free(&r);
  teardown(&f);
}

static void test_parquet_read__wrong_requests_are_usage_errors(void **state) {
  (void)state;
  fixture f;
  struct ArrowArrayStream s;
  setup_every_type(&f, 1, 10);
  bl_error e = BL_ERROR_INIT;
  test_status(BL_USAGE, f.r->read(f.r, 1, NULL, 0, NULL, 0, 10, &s, &e), &e);
  e = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, f.r->read(f.r, 0, (int32_t[]){99}, 1, NULL, 0, 10, &s, &e), &e);
  e = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, f.r->read(f.r, 0, NULL, 0, (bl_row_range[]){{5, 11}}, 1, 10, &s, &e), &e);
  e = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, f.r->read(f.r, 0, NULL, 0, (bl_row_range[]){{5, 8}, {7, 9}}, 2, 10, &s, &e), &e);
  teardown(&f);
}

typedef struct crowd {
  fixture *f;
  int64_t rows[64];
} crowd;

static bl_status read_in_crowd(void *user, size_t i, bl_error *err) {
  crowd *c = user;
  bl_data_reader *r = c->f->r;
  struct ArrowArrayStream s;
  int32_t leaves[100];
  size_t n = all_leaves(r->meta, leaves);
  bl_row_range some[] = {{3, 20}, {60, 61}};
  bl_data_stats stats;
  BL_TRY(r->read(r, i % r->meta->n_groups, leaves, n, i % 2 ? some : NULL, 2, 16, &s, err));
  bl_status st = BL_OK;
  for (struct ArrowArray a; st == BL_OK;) {
    st = bl_stream_next(&s, &a, err);
    if (st != BL_OK || !a.release) break;
    c->rows[i] += a.length;
    r->stats(r, i % r->meta->n_groups, leaves[i % n], &stats);
    a.release(&a);
  }
  s.release(&s);
  return st;
}

static void test_parquet_read__several_threads_read_one_file(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 5, 80);
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = 8;
  bl_ctx *many;
  test_ok(bl_ctx_new(&o, &many, &f.err), &f.err);
  crowd c = {.f = &f};
  test_ok(bl_parallel(many, 64, read_in_crowd, &c, &f.err), &f.err);
  for (int i = 0; i < 64; i++) assert_int_equal(c.rows[i], i % 2 ? 18 : 80);
  bl_ctx_free(many);
  teardown(&f);
}

/* ---- positions ---- */

static void setup_groups(fixture *f, int groups, int64_t rows, bl_parquet_options o) {
  static const column cols[] = {C("l", "pos", false, 1)};
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  table_schema(f->ctx, cols, 1, &f->schema);
  bl_buf_init(&f->file, f->ctx, BL_BUF_MAX);
  bl_sink sink = {buf_write, &f->file};
  bl_arrow_writer *w;
  test_ok(bl_arrow_parquet_writer_with(f->ctx, &sink, &f->schema, &o, &w, &f->err), &f->err);
  for (int g = 0; g < groups; g++) {
    struct ArrowArray batch, *col;
    test_ok(bl_array_new(f->ctx, rows, 1, 1, &batch, &f->err), &f->err);
    col = batch.children[0];
    int64_t *v = calloc((size_t)rows, sizeof *v);
    for (int64_t i = 0; i < rows; i++) v[i] = g * rows + i;
    test_ok(bl_array_longs(f->ctx, v, NULL, rows, col, &f->err), &f->err);
    free(v);
    test_ok(bl_arrow_writer_write(w, &batch, &f->err), &f->err);
    test_ok(bl_arrow_writer_end_group(w, &f->err), &f->err);
  }
  test_ok(bl_arrow_writer_finish(w, &f->err), &f->err);
  f->in = memory_open(f->file.p, f->file.n);
  test_ok(bl_format_parquet.open(f->ctx, &f->in.in, "mem/file.parquet", NULL, &f->r, &f->err), &f->err);
}

/* B01, B20, B49: the position of a row is the first row of its group and its place in it, whichever groups are read. */
static void test_parquet_read__positions_stay_physical_when_groups_are_skipped(void **state) {
  (void)state;
  fixture f;
  setup_groups(&f, 15, 100, (bl_parquet_options){0});
  assert_int_equal(f.r->meta->n_groups, 15);
  assert_int_equal(f.r->meta->rows, 1500);
  for (size_t g = 14; g < 15; g -= 2) {
    assert_int_equal(f.r->meta->groups[g].first_row, g * 100);
    rows_read r = read_rows(&f, g, (int32_t[]){0}, 1, (bl_row_range[]){{1, 2}, {99, 100}}, 2, 1000);
    bl_view *v = view_rows(f.ctx, &r);
    assert_int_equal(bl_view_i64(&v->children[0], 0), g * 100 + 1);
    assert_int_equal(bl_view_i64(&v->children[0], 1), g * 100 + 99);
    bl_view_free(v);
    rows_free(&r);
  }
  teardown(&f);
}

/* B109 */
static void test_parquet_read__no_leaves_give_lengths_and_read_nothing(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 100);
  int64_t reads = f.in.reads;
  rows_read r = read_rows(&f, 0, NULL, 0, NULL, 0, 30);
  assert_int_equal(r.all.length, 100);
  assert_int_equal(r.all.n_children, 0);
  assert_int_equal(f.in.reads, reads);
  rows_free(&r);
  r = read_rows(&f, 0, NULL, 0, (bl_row_range[]){{3, 5}}, 1, 30);
  assert_int_equal(r.all.length, 2);
  rows_free(&r);
  teardown(&f);
}

static void test_parquet_read__few_rows_read_few_pages(void **state) {
  (void)state;
  fixture f;
  setup_groups(&f, 1, 500000, (bl_parquet_options){.codec = "none", .page_rows = 1000});
  int64_t before = f.in.bytes;
  rows_read r = read_rows(&f, 0, (int32_t[]){0}, 1, (bl_row_range[]){{250000, 250010}}, 1, 100);
  bl_view *v = view_rows(f.ctx, &r);
  assert_int_equal(bl_view_i64(&v->children[0], 9), 250009);
  assert_true(f.in.bytes - before < f.in.in.size / 2);
  bl_view_free(v);
  rows_free(&r);
  teardown(&f);
}

/* ---- files of others ---- */

static void open_fixture(fixture *f, const char *name, void **bytes) {
  char path[200];
  size_t n;
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  snprintf(path, sizeof path, "tests/fixtures/parquet/%s", name);
  char *full = test_path(path);
  *bytes = test_read(full, &n);
  free(full);
  f->in = memory_open(*bytes, n);
  test_ok(bl_format_parquet.open(f->ctx, &f->in.in, name, NULL, &f->r, &f->err), &f->err);
}

static void close_fixture(fixture *f, void *bytes) {
  f->r->free(f->r);
  free(bytes);
  test_ctx_free(f->ctx);
}

static void test_parquet_read__layouts_that_the_file_asks_for_are_not_listened_to(void **state) {
  (void)state;
  fixture f;
  void *bytes;
  open_fixture(&f, "layouts.parquet", &bytes);
  rows_read r = read_group(&f, 0);
  static const char *const formats[] = {"u", "u", "z", "u", "+l", "i", "i", "l", "d:20,0", "ttu", "tsu:", "tsn:"};
  assert_int_equal(r.schema.n_children, BL_LEN(formats));
  for (size_t i = 0; i < BL_LEN(formats); i++) assert_string_equal(r.schema.children[i]->format, formats[i]);
  bl_view *v = view_rows(f.ctx, &r);
  assert_true(bl_str_is(bl_view_bytes(&v->children[0], 0), "large"));
  assert_true(bl_str_is(bl_view_bytes(&v->children[1], 2), "word"));
  assert_true(bl_view_null(&v->children[1], 1));
  assert_true(bl_view_i64(&v->children[7], 0) == 4294967295);
  assert_true(bl_view_decimal(&v->children[8], 0) == (bl_i128)UINT64_MAX);
  assert_true(bl_view_i64(&v->children[9], 0) == 1000);
  assert_true(bl_view_i64(&v->children[10], 0) == -1000);
  bl_view_free(v);
  rows_free(&r);
  close_fixture(&f, bytes);
}

static void test_parquet_read__int96_times_are_micros_in_utc(void **state) {
  (void)state;
  fixture f;
  void *bytes;
  open_fixture(&f, "int96_days.parquet", &bytes);
  assert_int_equal(f.r->meta->nodes[1].hint, BL_H_INT96);
  assert_true(f.r->meta->nodes[1].utc);
  rows_read r = read_group(&f, 0);
  bl_view *v = view_rows(f.ctx, &r);
  assert_string_equal(r.schema.children[0]->format, "tsu:UTC");
  assert_true(bl_view_i64(&v->children[0], 0) == -62135596800000000); /* 0001-01-01 */
  assert_true(bl_view_i64(&v->children[0], 1) == -1);
  assert_true(bl_view_null(&v->children[0], 2));
  assert_true(bl_view_i64(&v->children[0], 3) == 253402300799999999); /* 9999-12-31T23:59:59.999999 */
  bl_view_free(v);
  rows_free(&r);
  close_fixture(&f, bytes);
}

static void test_parquet_read__old_lists_of_two_levels_are_lists(void **state) {
  (void)state;
  fixture f;
  void *bytes;
  open_fixture(&f, "old_lists.parquet", &bytes);
  const bl_data_meta *m = f.r->meta;
  const bl_data_node *two = node_named(m, "two_level");
  assert_int_equal(two->kind, BL_D_LIST);
  assert_int_equal(two[1].kind, BL_D_INT32);
  assert_true(two[1].required);
  const bl_data_node *array = node_named(m, "array_of_struct");
  assert_int_equal(array->kind, BL_D_LIST);
  assert_int_equal(array[1].kind, BL_D_STRUCT);
  const bl_data_node *tuple = node_named(m, "tuple");
  assert_int_equal(tuple[1].kind, BL_D_STRUCT);
  const bl_data_node *bare = node_named(m, "bare");
  assert_int_equal(bare->kind, BL_D_LIST);
  assert_true(bare->required);
  assert_int_equal(bare->field_id, 40);
  assert_int_equal(bare[1].field_id, -1);
  const bl_data_node *map = node_named(m, "old_map");
  assert_int_equal(map->kind, BL_D_MAP);
  assert_int_equal(node_named(m, "set")->kind, BL_D_OTHER);
  rows_read r = read_group(&f, 0);
  bl_view *v = view_rows(f.ctx, &r);
  int64_t begin, end;
  assert_int_equal(r.all.length, 3);
  assert_int_equal(v->n_children, 5); /* without the set */
  bl_view_range(&v->children[0], 0, &begin, &end);
  assert_int_equal(end - begin, 2);
  assert_int_equal(bl_view_i32(&v->children[0].children[0], begin + 1), 2);
  assert_true(bl_view_null(&v->children[0], 1));
  bl_view_range(&v->children[2], 0, &begin, &end);
  assert_true(bl_view_null(&v->children[2].children[0].children[0], begin));
  assert_int_equal(bl_view_i32(&v->children[2].children[0].children[0], begin + 1), 5);
  bl_view_range(&v->children[3], 2, &begin, &end);
  assert_int_equal(bl_view_i32(&v->children[3].children[0], begin), 8);
  bl_view_range(&v->children[4], 0, &begin, &end);
  assert_int_equal(end - begin, 2);
  assert_true(bl_str_is(bl_view_bytes(&v->children[4].children[0], 1), "b"));
  bl_view_free(v);
  rows_free(&r);
  struct ArrowArrayStream stream;
  bl_error err = BL_ERROR_INIT;
  int32_t set = 6;
  test_status(BL_USAGE, f.r->read(f.r, 0, &set, 1, NULL, 0, 10, &stream, &err), &err);
  close_fixture(&f, bytes);
}

/* ---- damage ---- */

static bl_status read_all(bl_ctx *ctx, const void *p, size_t n, bool check_pages, bl_error *err) {
  memory_input in = memory_open(p, n);
  bl_data_reader *r;
  bl_data_open_options o = {.check_pages = check_pages};
  bl_status st = bl_format_parquet.open(ctx, &in.in, "mem/file.parquet", &o, &r, err);
  if (st != BL_OK) return st;
  int32_t leaves[200];
  size_t n_leaves = r->meta->n_nodes < 200 ? all_leaves(r->meta, leaves) : 0;
  for (size_t g = 0; st == BL_OK && g < r->meta->n_groups && g < 4; g++) {
    struct ArrowArrayStream s;
    rows_read rows;
    bl_row_range few[] = {{1, 2}, {5, 9}};
    bool all = r->meta->groups[g].rows < 9;
    st = r->read(r, g, leaves, n_leaves, few, all ? 0 : 2, 100, &s, err);
    if (st == BL_OK) {
      st = rows_collect(ctx, &s, &rows, err);
      if (st == BL_OK) rows_free(&rows);
      else if (rows.schema.release) rows.schema.release(&rows.schema);
    }
    bl_data_stats stats;
    for (size_t i = 0; i < n_leaves; i++) {
      r->stats(r, g, leaves[i], &stats);
      r->bloom(r, g, leaves[i], "abcd", 4);
    }
  }
  r->free(r);
  return st;
}

static void test_parquet_read__a_file_cut_short_is_damaged(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 2, 40);
  for (size_t n = 0; n < f.file.n; n += n < 20 || n + 40 > f.file.n ? 1 : 97) {
    bl_error err = BL_ERROR_INIT;
    bl_status st = read_all(f.ctx, f.file.p, n, false, &err);
    test_status(BL_DAMAGED, st, &err);
    test_says(&err, "mem/file.parquet");
  }
  teardown(&f);
}

static void test_parquet_read__flipped_bytes_never_crash(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 2, 40);
  rng r = {4711};
  for (int i = 0; i < 1500; i++) {
    size_t at = (size_t)rng_below(&r, (int64_t)f.file.n);
    if (i % 2) at = f.file.n - 1 - (size_t)rng_below(&r, 6000); /* the footer */
    uint8_t old = f.file.p[at];
    f.file.p[at] = (uint8_t)rng_next(&r);
    bl_error err = BL_ERROR_INIT;
    bl_status st = read_all(f.ctx, f.file.p, f.file.n, false, &err);
    assert_true(st == BL_OK || st == BL_DAMAGED || st == BL_UNSUPPORTED || st == BL_NOMEM || st == BL_USAGE);
    if (st != BL_OK) assert_true(err.message[0]);
    f.file.p[at] = old;
  }
  teardown(&f);
}

/* Every 13th row of the first group. */
static bl_status pick_some(bl_ctx *ctx, const void *p, size_t n, bl_error *err) {
  memory_input in = memory_open(p, n);
  bl_data_reader *r;
  bl_row_range some[1000];
  size_t n_some = 0;
  int32_t leaves[200];
  struct ArrowArrayStream s;
  rows_read rows;
  BL_TRY(bl_format_parquet.open(ctx, &in.in, "mem/file.parquet", NULL, &r, err));
  for (int64_t row = 5; row < r->meta->groups[0].rows && n_some < BL_LEN(some); row += 13)
    some[n_some++] = (bl_row_range){row, row + 1};
  bl_status st = r->read(r, 0, leaves, all_leaves(r->meta, leaves), some, n_some, 20, &s, err);
  if (st == BL_OK) {
    st = rows_collect(ctx, &s, &rows, err);
    if (st == BL_OK) rows_free(&rows);
    else if (rows.schema.release) rows.schema.release(&rows.schema);
  }
  r->free(r);
  return st;
}

/* Nothing is packed: damage reaches levels, dictionaries, indices and lengths. */
static void test_parquet_read__picking_from_damaged_pages_never_crashes(void **state) {
  (void)state;
  fixture f;
  bl_parquet_options o = {.codec = "none", .page_rows = 150};
  setup(&f, every_type, BL_LEN(every_type), &o, 1, 600);
  bl_error err = BL_ERROR_INIT;
  test_ok(pick_some(f.ctx, f.file.p, f.file.n, &err), &err);
  rng r = {815};
  int found = 0;
  for (int i = 0; i < 1500; i++) {
    size_t at = (size_t)rng_below(&r, f.r->meta->groups[0].bytes);
    uint8_t old = f.file.p[at];
    f.file.p[at] = (uint8_t)(i % 3 ? rng_next(&r) : 0xff);
    err = (bl_error)BL_ERROR_INIT;
    bl_status st = pick_some(f.ctx, f.file.p, f.file.n, &err);
    assert_true(st == BL_OK || st == BL_DAMAGED || st == BL_UNSUPPORTED || st == BL_NOMEM);
    if (st != BL_OK) assert_true(err.message[0]);
    found += st != BL_OK;
    f.file.p[at] = old;
  }
  assert_true(found > 0);
  teardown(&f);
}

static void test_parquet_read__a_flipped_bit_in_a_page_is_found_by_its_checksum(void **state) {
  (void)state;
  fixture f;
  setup_groups(&f, 1, 1000, (bl_parquet_options){.codec = "none"});
  size_t at = 4 + 600; /* inside the first page, after its header */
  f.file.p[at] ^= 1;
  bl_error err = BL_ERROR_INIT;
  bl_status st = read_all(f.ctx, f.file.p, f.file.n, true, &err);
  test_status(BL_DAMAGED, st, &err);
  test_says(&err, "CRC");
  teardown(&f);
}

static void test_parquet_read__what_is_no_parquet_file_is_said(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, read_all(ctx, "PAR1", 4, false, &err), &err);
  test_says(&err, "too short");
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, read_all(ctx, "PAR1aaaaaaaaaaaaaaaaaaa", 23, false, &err), &err);
  test_says(&err, "not a Parquet file");
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, read_all(ctx, "PAR1aaaaaaaaaaa\xff\xff\xff\x7fPAR1", 23, false, &err), &err);
  test_says(&err, "footer claims");
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_UNSUPPORTED, read_all(ctx, "PAREaaaaaaaaaaa\x04\0\0\0PARE", 23, false, &err), &err);
  test_says(&err, "encrypted");
  test_ctx_free(ctx);
}

static void test_parquet_read__an_error_of_the_input_comes_out_as_it_is(void **state) {
  (void)state;
  fixture f;
  setup_every_type(&f, 1, 200);
  for (int64_t k = 1; k < 20; k++) {
    memory_input in = memory_open(f.file.p, f.file.n);
    bl_data_reader *r = NULL;
    bl_error err = BL_ERROR_INIT;
    in.fail_at = k;
    bl_status st = bl_format_parquet.open(f.ctx, &in.in, "mem/file.parquet", NULL, &r, &err);
    if (st == BL_OK) {
      struct ArrowArrayStream s;
      rows_read rows;
      int32_t leaves[100];
      size_t n = all_leaves(r->meta, leaves);
      st = r->read(r, 0, leaves, n, (bl_row_range[]){{3, 5}}, 1, 100, &s, &err);
      if (st == BL_OK) st = rows_collect(f.ctx, &s, &rows, &err);
      rows_free(&rows);
      r->free(r);
    }
    test_status(BL_IO, st, &err);
    assert_string_equal(err.message, "cannot read: mem/file: the disk is on fire");
  }
  teardown(&f);
}

static void test_parquet_read__an_encrypted_file_opens_with_its_key_only(void **state) {
  (void)state;
  fixture f;
  bl_parquet_options o = {.key = "0123456789abcdef", .n_key = 16, .aad_prefix = "table/file", .n_aad = 10};
  f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  static const column cols[] = {C("l", "a", true, 1), C("u", "b", true, 2)};
  table_schema(f.ctx, cols, 2, &f.schema);
  write_random(f.ctx, &f.schema, &o, 1, 50, 1, &f.file);
  f.in = memory_open(f.file.p, f.file.n);
  bl_error err = BL_ERROR_INIT;
  test_status(BL_UNSUPPORTED, bl_format_parquet.open(f.ctx, &f.in.in, "x", NULL, &f.r, &err), &err);
  bl_data_open_options wrong = {.key = "0123456789abcdeX", .n_key = 16, .aad_prefix = "table/file", .n_aad = 10};
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_format_parquet.open(f.ctx, &f.in.in, "x", &wrong, &f.r, &err), &err);
  bl_data_open_options right = {.key = "0123456789abcdef", .n_key = 16, .aad_prefix = "table/file", .n_aad = 10};
  test_ok(bl_format_parquet.open(f.ctx, &f.in.in, "x", &right, &f.r, &f.err), &f.err);
  rows_read r = read_rows(&f, 0, (int32_t[]){0, 1}, 2, (bl_row_range[]){{3, 9}}, 1, 100);
  assert_int_equal(r.all.length, 6);
  rows_free(&r);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parquet_read__the_tree_has_ids_kinds_and_hints_at_every_level),
      cmocka_unit_test(test_parquet_read__a_reserved_field_id_is_a_column_like_any_other),
      cmocka_unit_test(test_parquet_read__what_was_written_comes_back),
      cmocka_unit_test(test_parquet_read__the_stream_has_only_canonical_layouts_with_ids),
      cmocka_unit_test(test_parquet_read__each_leaf_alone_gives_what_it_gives_among_all),
      cmocka_unit_test(test_parquet_read__one_side_of_a_map_gives_both),
      cmocka_unit_test(test_parquet_read__ranges_agree_with_the_whole),
      cmocka_unit_test(test_parquet_read__ranges_agree_with_the_whole_in_files_of_others),
      cmocka_unit_test(test_parquet_read__batches_have_at_most_the_rows_asked_for),
      cmocka_unit_test(test_parquet_read__wrong_requests_are_usage_errors),
      cmocka_unit_test(test_parquet_read__several_threads_read_one_file),
      cmocka_unit_test(test_parquet_read__positions_stay_physical_when_groups_are_skipped),
      cmocka_unit_test(test_parquet_read__no_leaves_give_lengths_and_read_nothing),
      cmocka_unit_test(test_parquet_read__few_rows_read_few_pages),
      cmocka_unit_test(test_parquet_read__layouts_that_the_file_asks_for_are_not_listened_to),
      cmocka_unit_test(test_parquet_read__int96_times_are_micros_in_utc),
      cmocka_unit_test(test_parquet_read__old_lists_of_two_levels_are_lists),
      cmocka_unit_test(test_parquet_read__a_file_cut_short_is_damaged),
      cmocka_unit_test(test_parquet_read__flipped_bytes_never_crash),
      cmocka_unit_test(test_parquet_read__picking_from_damaged_pages_never_crashes),
      cmocka_unit_test(test_parquet_read__a_flipped_bit_in_a_page_is_found_by_its_checksum),
      cmocka_unit_test(test_parquet_read__what_is_no_parquet_file_is_said),
      cmocka_unit_test(test_parquet_read__an_error_of_the_input_comes_out_as_it_is),
      cmocka_unit_test(test_parquet_read__an_encrypted_file_opens_with_its_key_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
