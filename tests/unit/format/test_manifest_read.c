/* test_manifest_read.c: manifests of other writers and made ones: fields by id, inheritance, partition tuples, metrics,
 * and everything that must be refused. */
#include "manifest_fixture.h"

static void test_manifest_read__every_codec_gives_the_same_entry(void **state) {
  (void)state;
  static const char *const names[] = {"codec_null", "codec_deflate", "codec_snappy", "codec_zstandard"};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 4, 100);
  for (size_t i = 0; i < BL_LEN(names); i++) {
    char path[60];
    snprintf(path, sizeof path, "/warehouse/db/codecs/data/0000%zu-data.parquet", 2 * i + 1);
    test_ok(read_fixture(&f, md, names[i], &m, &e), &f.err);
    assert_int_equal(e.n, 1);
    assert_text(e.items[0].file.path, path);
    assert_int_equal(e.items[0].status, BL_ADDED);
    assert_int_equal(e.items[0].sequence_number, 4);
    assert_int_equal(e.items[0].file_sequence_number, 4);
    assert_int_equal(e.items[0].snapshot_id, 77);
    assert_int_equal(e.items[0].file.first_row_id, 100);
    assert_int_equal(e.items[0].stored_first_row_id, BL_NONE);
    assert_int_equal(e.items[0].file.sort_order_id, -1);
    assert_int_equal(e.items[0].file.content_offset, BL_NONE);
    assert_null(e.items[0].file.key_metadata.p);
  }
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__fields_come_in_any_order_and_number(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_fixture(&f, md, "reversed_fields", &m, &e), &f.err);
  assert_int_equal(e.n, 4); /* of four blocks */
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(e.items[i].file.first_row_id, i);
    assert_int_equal(e.items[i].file.record_count, 1);
    assert_int_equal(e.items[i].file.file_size, 456);
  }
  test_ok(read_fixture(&f, md, "few_fields", &m, &e), &f.err);
  assert_int_equal(e.n, 2);
  assert_int_equal(e.items[1].file_sequence_number, 1);
  assert_int_equal(e.items[1].file.n_metrics, 0);
  assert_null(e.items[1].file.referenced_data_file.p);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__version_1_has_sequence_number_0_and_no_ids(void **state) {
  (void)state;
  fixture f;
  entries e;
  size_t n;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 1, PLAIN_FIELDS, "");
  bl_snapshot s = {.id = 12};
  bl_manifest_file m;
  void *p = fixture_file("v1", &n);
  test_ok(bl_manifest_describe(f.ctx, f.a, BL_STR("/t/metadata/v1.avro"), p, n, &s, &m, &f.err), &f.err);
  assert_int_equal(m.spec_id, 0);
  assert_int_equal(m.length, n);
  assert_int_equal(m.added_snapshot_id, 12);
  assert_int_equal(m.added_rows, BL_NONE);
  test_ok(read_with(&f, md, p, n, &m, false, &e), &f.err);
  assert_int_equal(e.n, 1);
  assert_int_equal(e.items[0].sequence_number, 0);
  assert_int_equal(e.items[0].file_sequence_number, 0);
  assert_int_equal(e.items[0].snapshot_id, INT64_C(7310000000000000001));
  assert_int_equal(e.items[0].file.content, BL_FILE_DATA);
  assert_int_equal(e.items[0].file.first_row_id, BL_NONE);
  free(p);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__damaged_and_illegal_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name;
    bl_manifest_content content;
    int64_t first_row_id;
    bl_status want;
    const char *words;
  } cases[] = {
      {"refuse_array_bomb", BL_MANIFEST_DATA, 0, BL_DAMAGED, "array"},
      {"refuse_bad_sync", BL_MANIFEST_DATA, 0, BL_DAMAGED, "sync"},
      {"refuse_huge_count", BL_MANIFEST_DATA, 0, BL_DAMAGED, "count"},
      {"refuse_snappy_crc", BL_MANIFEST_DATA, 0, BL_DAMAGED, "crc"},
      {"refuse_truncated", BL_MANIFEST_DATA, 0, BL_DAMAGED, "truncated"},
      {"refuse_unknown_codec", BL_MANIFEST_DATA, 0, BL_UNSUPPORTED, "codec xz"},
      {"refuse_negative_record_count", BL_MANIFEST_DATA, 0, BL_DAMAGED, "record_count"},
      {"refuse_negative_offset", BL_MANIFEST_DELETES, BL_NONE, BL_DAMAGED, "content_offset"},
      {"refuse_status_unknown", BL_MANIFEST_DATA, 0, BL_DAMAGED, "status 7"},
      {"refuse_entry_content_mismatch", BL_MANIFEST_DATA, 0, BL_DAMAGED, "content"},
      {"refuse_eq_delete_without_ids", BL_MANIFEST_DELETES, BL_NONE, BL_DAMAGED, "equality_ids"},
      {"refuse_row_id_overflow", BL_MANIFEST_DATA, INT64_MAX - 2, BL_DAMAGED, "first_row_id"},
      {"refuse_row_id_overflow_second_file", BL_MANIFEST_DATA, 1, BL_DAMAGED, "first_row_id"},
      {"mislabelled", BL_MANIFEST_DATA, 0, BL_DAMAGED, "content 1"},
      {"codec_null", BL_MANIFEST_DELETES, BL_NONE, BL_DAMAGED, "content 0"},
  };
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_manifest_file m = manifest_of(cases[i].content, 1, cases[i].first_row_id);
    bl_status st = read_fixture(&f, md, cases[i].name, &m, &e);
    assert_non_null(strstr(f.err.message, "/t/metadata/m0.avro"));
    assert_refused(&f.err, st, cases[i].want, cases[i].words);
    assert_int_equal(e.n, 0);
  }
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__a_spec_that_is_not_there_is_named(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  m.spec_id = 4;
  assert_refused(&f.err, read_fixture(&f, md, "codec_null", &m, &e), BL_DAMAGED, "partition spec 4");
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- labels ---- */

static void count_warning(void *user, bl_log_level level, const char *text) {
  if (level == BL_LOG_WARNING && strstr(text, "content=data")) ++*(int *)user;
}

static void test_manifest_read__the_list_is_trusted_over_the_header(void **state) {
  (void)state;
  fixture f;
  entries e;
  size_t n;
  int warnings = 0;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.log = count_warning;
  o.user = &warnings;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  bl_arena *a;
  test_ok(bl_arena_new(ctx, &a, &f.err), &f.err);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DELETES, 2, BL_NONE);
  bl_manifest_read_options options = {.metadata = md};
  void *p = fixture_file("mislabelled", &n);
  test_ok(bl_manifest_read(ctx, a, p, n, &m, &options, &e.items, &e.n, &f.err), &f.err);
  free(p);
  assert_int_equal(e.n, 1);
  assert_int_equal(e.items[0].file.content, BL_FILE_POSITION_DELETES);
  assert_int_equal(e.items[0].file.format, BL_FORMAT_PUFFIN);
  assert_int_equal(warnings, 1);
  bl_arena_free(a);
  test_ctx_free(ctx);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- row ids ---- */

static void test_manifest_read__a_stray_first_row_id_of_deletes_is_ignored(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DELETES, 2, BL_NONE);
  test_ok(read_fixture(&f, md, "stray_first_row_id", &m, &e), &f.err);
  assert_int_equal(e.items[0].file.first_row_id, BL_NONE);
  assert_int_equal(e.items[0].stored_first_row_id, 77);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__deleted_entries_and_those_with_an_id_do_not_move_the_counter(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_entry made[] = {entry_of(BL_EXISTING, "a", 10, BL_NONE), entry_of(BL_DELETED, "b", 5, BL_NONE),
                              entry_of(BL_ADDED, "c", 25, 800), entry_of(BL_ADDED, "d", 7, BL_NONE)};
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, made, 4);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 9, 100);
  test_ok(read_with(&f, md, b.p, b.n, &m, false, &e), &f.err);
  static const int64_t want[] = {100, BL_NONE, 800, 110};
  for (size_t i = 0; i < 4; i++) assert_int_equal(e.items[i].file.first_row_id, want[i]);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__a_manifest_without_id_hides_ids_unless_it_is_this_attempts(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_entry made[] = {entry_of(BL_EXISTING, "a", 10, 40), entry_of(BL_ADDED, "b", 5, BL_NONE)};
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, made, 2);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 9, BL_NONE);
  test_ok(read_with(&f, md, b.p, b.n, &m, false, &e), &f.err);
  assert_int_equal(e.items[0].file.first_row_id, BL_NONE);
  assert_int_equal(e.items[0].stored_first_row_id, 40);
  bl_manifest_read_options o = {.metadata = md, .keep_first_row_id = true};
  test_ok(bl_manifest_read(f.ctx, f.a, b.p, b.n, &m, &o, &e.items, &e.n, &f.err), &f.err);
  assert_int_equal(e.items[0].file.first_row_id, 40);
  assert_int_equal(e.items[1].file.first_row_id, BL_NONE);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- sequence numbers ---- */

/* A version 1 writer's manifest holds no sequence numbers at all. */
static bl_buf without_numbers(fixture *f, bl_entry_status status) {
  bl_metadata *v1 = table_of(f, 1, PLAIN_FIELDS, "");
  bl_manifest_entry e = entry_of(status, "a", 10, BL_NONE);
  bl_buf b = write_entries(f, v1, BL_MANIFEST_DATA, &e, 1);
  bl_metadata_free(v1);
  return b;
}

static void test_manifest_read__only_added_entries_inherit_sequence_numbers(void **state) {
  (void)state;
  static const struct {
    bl_entry_status status;
    int64_t of_manifest;
    int64_t want; /* -1: refused */
  } cases[] = {{BL_ADDED, 7, 7}, {BL_EXISTING, 7, -1}, {BL_DELETED, 7, -1},
               {BL_ADDED, 0, 0}, {BL_EXISTING, 0, 0},  {BL_DELETED, 0, 0}};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 2, PLAIN_FIELDS, "");
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_buf b = without_numbers(&f, cases[i].status);
    bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, cases[i].of_manifest, BL_NONE);
    bl_status st = read_with(&f, md, b.p, b.n, &m, false, &e);
    if (cases[i].want < 0) {
      assert_refused(&f.err, st, BL_DAMAGED, "sequence_number is null");
    } else {
      test_ok(st, &f.err);
      assert_int_equal(e.items[0].sequence_number, cases[i].want);
      assert_int_equal(e.items[0].file_sequence_number, cases[i].want);
    }
    bl_buf_free(&b);
  }
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__an_explicit_data_sequence_number_stays_below_the_inherited_one(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 2, PLAIN_FIELDS, "");
  bl_manifest_entry made[] = {entry_of(BL_ADDED, "a", 10, BL_NONE), entry_of(BL_EXISTING, "b", 1, BL_NONE)};
  made[0].sequence_number = 2;
  made[1].file_sequence_number = BL_NONE; /* as early version 2 writers left it */
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, made, 2);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 6, BL_NONE);
  test_ok(read_with(&f, md, b.p, b.n, &m, false, &e), &f.err);
  assert_int_equal(e.items[0].sequence_number, 2);
  assert_int_equal(e.items[0].file_sequence_number, 6);
  assert_int_equal(e.items[1].sequence_number, 3);
  assert_int_equal(e.items[1].file_sequence_number, BL_NONE);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- partition tuples ---- */

static void test_manifest_read__a_null_partition_value_concerns_its_own_entry_only(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS ",{\"id\":3,\"name\":\"p\",\"required\":false,\"type\":\"int\"}",
                             "{\"name\":\"p\",\"transform\":\"identity\",\"source-id\":3,\"field-id\":1000}");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_fixture(&f, md, "null_partitions", &m, &e), &f.err);
  assert_int_equal(e.n, 4);
  static const int64_t want[] = {-1, 1, -1, 2};
  for (size_t i = 0; i < 4; i++) {
    const bl_value *v = &e.items[i].file.partition[0];
    assert_int_equal(e.items[i].file.n_partition, 1);
    assert_int_equal(v->null, want[i] < 0);
    assert_int_equal(v->kind, BL_INT);
    if (!v->null) assert_int_equal(v->u.i, want[i]);
  }
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__partition_fields_go_by_id_whatever_their_avro_names(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS,
                             "{\"name\":\"x y\",\"transform\":\"truncate[10]\",\"source-id\":1,\"field-id\":1003},"
                             "{\"name\":\"a.b\",\"transform\":\"bucket[2]\",\"source-id\":1,\"field-id\":1000},"
                             "{\"name\":\"later\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1009},"
                             "{\"name\":\"9x\",\"transform\":\"truncate[1]\",\"source-id\":2,\"field-id\":1001}");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_fixture(&f, md, "java_partition_names", &m, &e), &f.err);
  assert_int_equal(e.n, 2);
  const bl_value *v = e.items[0].file.partition;
  assert_int_equal(v[0].u.i, 0);
  assert_int_equal(v[0].kind, BL_LONG);
  assert_int_equal(v[1].u.i, 0);
  assert_int_equal(v[1].kind, BL_INT);
  assert_true(v[2].null);
  assert_text(v[3].u.s, "n");
  assert_int_equal(e.items[1].file.partition[0].u.i, 10);
  assert_int_equal(e.items[1].file.partition[1].u.i, 1);
  assert_true(e.items[1].file.partition[3].null);
  bl_metadata_free(md);
  fixture_close(&f);
}

#define TS_AMOUNT                                                                                                      \
  "{\"id\":2,\"name\":\"region\",\"required\":false,\"type\":\"string\"},"                                             \
  "{\"id\":3,\"name\":\"amount\",\"required\":false,\"type\":\"%s\"},"                                                 \
  "{\"id\":5,\"name\":\"ts\",\"required\":false,\"type\":\"timestamptz\"}"
#define MONTH_REGION_AMOUNT                                                                                            \
  "{\"name\":\"ts_month\",\"transform\":\"month\",\"source-id\":5,\"field-id\":1002},"                                 \
  "{\"name\":\"region\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1003},"                                \
  "{\"name\":\"amount\",\"transform\":\"%s\",\"source-id\":%d,\"field-id\":1004}"

static bl_metadata *spark_table(fixture *f, const char *amount, const char *transform, int source) {
  char fields[600], partition[600];
  snprintf(fields, sizeof fields, TS_AMOUNT, amount);
  snprintf(partition, sizeof partition, MONTH_REGION_AMOUNT, transform, source);
  return table_of(f, 3, fields, partition);
}

static void test_manifest_read__decimals_keep_their_value_when_the_column_grew(void **state) {
  (void)state;
  static const char *const types[] = {"decimal(9,2)", "decimal(38,2)"};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  for (size_t i = 0; i < BL_LEN(types); i++) {
    bl_metadata *md = spark_table(&f, types[i], "truncate[3]", 3);
    test_ok(read_fixture(&f, md, "spark_decimal_partition", &m, &e), &f.err);
    assert_int_equal(e.items[0].file.partition[0].u.i, -1);
    assert_text(e.items[0].file.partition[1].u.s, "north");
    assert_int_equal(e.items[0].file.partition[2].kind, BL_DECIMAL);
    assert_int_equal((int64_t)e.items[0].file.partition[2].u.dec, -3);
    assert_true(e.items[1].file.partition[0].null);
    assert_int_equal((int64_t)e.items[1].file.partition[2].u.dec, 999);
    bl_metadata_free(md);
  }
  bl_metadata *md = spark_table(&f, "decimal(9,3)", "truncate[3]", 3);
  assert_refused(&f.err, read_fixture(&f, md, "spark_decimal_partition", &m, &e), BL_DAMAGED, "partition field 1004");
  bl_metadata_free(md);
  md = spark_table(&f, "string", "truncate[3]", 3);
  assert_refused(&f.err, read_fixture(&f, md, "spark_decimal_partition", &m, &e), BL_DAMAGED, "Avro type fixed");
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__unknown_transforms_keep_the_files_own_type(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  bl_metadata *md = spark_table(&f, "decimal(9,2)", "zorder[7]", 3);
  test_ok(read_fixture(&f, md, "spark_decimal_partition", &m, &e), &f.err);
  assert_int_equal(e.items[0].file.partition[2].kind, BL_DECIMAL);
  assert_int_equal((int64_t)e.items[0].file.partition[2].u.dec, -3);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- metrics ---- */

static void test_manifest_read__metrics_are_there_when_asked_for(void **state) {
  (void)state;
  fixture f;
  entries e;
  size_t n;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  void *p = fixture_file("java_partition_names", &n);
  test_ok(read_with(&f, md, p, n, &m, false, &e), &f.err);
  assert_int_equal(e.items[0].file.n_metrics, 0);
  test_ok(read_with(&f, md, p, n, &m, true, &e), &f.err);
  assert_int_equal(e.items[1].file.n_metrics, 2);
  const bl_column_metrics *id = bl_data_file_metrics(&e.items[1].file, 1);
  const bl_column_metrics *name = bl_data_file_metrics(&e.items[1].file, 2);
  assert_int_equal(id->size, 55);
  assert_int_equal(id->values, 2);
  assert_int_equal(id->nulls, 0);
  assert_int_equal(id->nans, BL_NONE);
  assert_int_equal(id->lower.p[0], 12);
  assert_int_equal(id->upper.p[0], 13);
  assert_int_equal(name->nulls, 2);
  assert_null(name->lower.p);
  assert_int_equal(e.items[1].file.n_split_offsets, 1);
  assert_int_equal(e.items[1].file.split_offsets[0], 4);
  free(p);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* Column i has a size where it is even, values always, bounds where it is a third. */
static void test_manifest_read__metrics_of_many_columns_in_any_order_come_sorted(void **state) {
  (void)state;
  enum { COLUMNS = 500 };
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_column_metrics made[COLUMNS];
  char text[COLUMNS][8];
  for (int i = 0; i < COLUMNS; i++) {
    int id = (i * 317) % COLUMNS; /* 317 and 500 have no common divisor */
    int len = snprintf(text[i], sizeof text[i], "%d", id);
    bl_str bound = id % 3 ? BL_STR_NONE : (bl_str){text[i], (size_t)len};
    made[i] = (bl_column_metrics){id, id % 2 ? BL_NONE : id, 2 * id, BL_NONE, BL_NONE, bound, BL_STR_NONE};
  }
  bl_manifest_entry entry = entry_of(BL_ADDED, "a", 10, BL_NONE);
  entry.file.metrics = made;
  entry.file.n_metrics = COLUMNS;
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, &entry, 1);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_int_equal(e.items[0].file.n_metrics, COLUMNS);
  for (int i = 0; i < COLUMNS; i++) {
    const bl_column_metrics *c = &e.items[0].file.metrics[i];
    assert_int_equal(c->id, i);
    assert_int_equal(c->size, i % 2 ? BL_NONE : i);
    assert_int_equal(c->values, 2 * i);
    assert_int_equal(c->lower.p != NULL, i % 3 == 0);
    assert_null(c->upper.p);
  }
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- odd schemas ---- */

/* A manifest of one record from a schema's JSON and the record's bytes. */
static bl_buf odd_manifest(fixture *f, const char *schema, const void *record, size_t n) {
  bl_avro_writer *w;
  bl_buf out;
  test_ok(bl_avro_writer_new(f->ctx, bl_str_of(schema), "null", NULL, NULL, 0, &w, &f->err), &f->err);
  bl_buf_add(bl_avro_writer_record(w), record, n);
  test_ok(bl_avro_writer_end_record(w, &f->err), &f->err);
  test_ok(bl_avro_writer_finish(w, &out, &f->err), &f->err);
  bl_avro_writer_free(w);
  return out;
}

#define ENTRY(file)                                                                                                    \
  "{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"             \
  "{\"name\":\"data_file\",\"type\":" file ",\"field-id\":2}]}"
#define FILE_OF(path, format, count, more)                                                                             \
  ENTRY("{\"type\":\"record\",\"name\":\"r2\",\"fields\":[{\"name\":\"p\",\"type\":" path ",\"field-id\":100},"        \
        "{\"name\":\"f\",\"type\":" format ",\"field-id\":101},{\"name\":\"c\",\"type\":" count ",\"field-id\":103},"  \
        "{\"name\":\"s\",\"type\":\"long\",\"field-id\":104}" more "]}")

static void test_manifest_read__names_do_not_matter_and_integers_may_be_of_either_width(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 2, 'a', 6, 'o', 'R', 'c', 20, 30};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  bl_buf b = odd_manifest(&f, FILE_OF("\"bytes\"", "\"string\"", "\"int\"", ""), record, sizeof record);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_text(e.items[0].file.path, "a");
  assert_int_equal(e.items[0].file.format, BL_FORMAT_ORC);
  assert_int_equal(e.items[0].file.record_count, 10);
  assert_int_equal(e.items[0].file.file_size, 15);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__schemas_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 2, 'a', 8, 'l', 'a', 'n', 'c', 20, 30, 0, 0};
  static const struct {
    const char *schema;
    bl_status want;
    const char *words;
  } cases[] = {
      {"\"int\"", BL_DAMAGED, "record"},
      {"{\"type\":\"record\",\"name\":\"e\",\"fields\":[]}", BL_DAMAGED, "status is missing"},
      {ENTRY("\"int\""), BL_DAMAGED, "record"},
      {ENTRY("[\"null\",\"int\",\"long\"]"), BL_DAMAGED, "record"},
      {ENTRY("{\"type\":\"record\",\"name\":\"r2\",\"fields\":[]}"), BL_DAMAGED, "file_path is missing"},
      {FILE_OF("\"long\"", "\"string\"", "\"long\"", ""), BL_DAMAGED, "file_path: type long"},
      {FILE_OF("\"string\"", "\"string\"", "\"string\"", ""), BL_DAMAGED, "record_count: type string"},
      {FILE_OF("\"string\"", "\"string\"", "[\"null\",\"string\"]", ""), BL_DAMAGED, "record_count: type string"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"", ",{\"name\":\"d\",\"type\":\"string\",\"field-id\":100}"),
       BL_DAMAGED, "twice"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"", ",{\"name\":\"x\",\"type\":\"int\",\"field-id\":102}"),
       BL_DAMAGED, "partition"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"", ",{\"name\":\"x\",\"type\":\"int\",\"field-id\":132}"),
       BL_DAMAGED, "132"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"", ",{\"name\":\"x\",\"type\":\"int\",\"field-id\":108}"),
       BL_DAMAGED, "column_sizes"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"",
               ",{\"name\":\"x\",\"type\":{\"type\":\"map\",\"values\":\"long\"},\"field-id\":109}"),
       BL_DAMAGED, "value_counts"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"",
               ",{\"name\":\"x\",\"type\":[\"null\",{\"type\":\"array\",\"items\":\"int\"},\"int\"],\"field-id\":135}"),
       BL_DAMAGED, "135"},
      {FILE_OF("\"string\"", "\"string\"", "\"long\"", ",{\"name\":\"x\",\"type\":\"long\",\"field-id\":990}"),
       BL_UNSUPPORTED, "file_format lanc"},
      {FILE_OF("[\"null\",\"string\"]", "\"string\"", "\"long\"", ""), BL_DAMAGED, ""},
  };
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_buf b = odd_manifest(&f, cases[i].schema, record, sizeof record - 1);
    assert_refused(&f.err, read_with(&f, md, b.p, b.n, &m, true, &e), cases[i].want, cases[i].words);
    bl_buf_free(&b);
  }
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_read__bytes_behind_the_last_record_are_damage(void **state) {
  (void)state;
  static const uint8_t record[] = {2, 2, 'a', 6, 'o', 'r', 'c', 20, 30, 0};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  bl_buf b = odd_manifest(&f, FILE_OF("\"string\"", "\"string\"", "\"long\"", ""), record, sizeof record);
  assert_refused(&f.err, read_with(&f, md, b.p, b.n, &m, true, &e), BL_DAMAGED, "after its last record");
  bl_buf_free(&b);
  b = odd_manifest(&f, FILE_OF("\"string\"", "\"string\"", "\"long\"", ""), record, sizeof record - 2);
  assert_refused(&f.err, read_with(&f, md, b.p, b.n, &m, true, &e), BL_DAMAGED, "ends within");
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- partition values of every type ---- */

static void test_manifest_read__old_partition_types_are_promoted(void **state) {
  (void)state;
  static const struct {
    const char *avro; /* of the field, beside null */
    uint8_t bytes[20];
    size_t n;
    const char *type; /* of the table now */
    bl_kind kind;
    int64_t i;
    const char *s;
  } cases[] = {
      {"\"boolean\"", {1}, 1, "boolean", BL_BOOLEAN, 1, NULL},
      {"\"int\"", {0x0d}, 1, "int", BL_INT, -7, NULL},
      {"\"int\"", {0x0d}, 1, "long", BL_LONG, -7, NULL},
      {"\"long\"", {0x0d}, 1, "int", BL_INT, -7, NULL},
      {"\"int\"", {0x0d}, 1, "date", BL_DATE, -7, NULL},
      {"{\"type\":\"int\",\"logicalType\":\"date\"}", {0x04}, 1, "date", BL_DATE, 2, NULL},
      {"{\"type\":\"int\",\"logicalType\":\"date\"}",
       {0x01},
       1,
       "timestamp",
       BL_TIMESTAMP,
       -INT64_C(86400000000),
       NULL},
      {"{\"type\":\"int\",\"logicalType\":\"date\"}",
       {0x04},
       1,
       "timestamp_ns",
       BL_TIMESTAMP_NS,
       INT64_C(172800000000000),
       NULL},
      {"{\"type\":\"long\",\"logicalType\":\"timestamp-micros\",\"adjust-to-utc\":true}",
       {0x01},
       1,
       "timestamptz",
       BL_TIMESTAMPTZ,
       -1,
       NULL},
      {"{\"type\":\"long\",\"logicalType\":\"time-micros\"}", {0x02}, 1, "time", BL_TIME, 1, NULL},
      {"\"float\"", {0, 0, 0x80, 0x3f}, 4, "double", BL_DOUBLE, 1, NULL},
      {"\"double\"", {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8, "double", BL_DOUBLE, 1, NULL},
      {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":5,\"scale\":1}",
       {0x02, 0xfe},
       2,
       "decimal(9,1)",
       BL_DECIMAL,
       -2,
       NULL},
      {"\"bytes\"", {0x04, 0x01, 0x00}, 3, "decimal(9,1)", BL_DECIMAL, 256, NULL},
      {"\"string\"", {0x04, 'a', 'b'}, 3, "string", BL_STRING, 0, "ab"},
      {"\"bytes\"", {0x04, 'a', 'b'}, 3, "binary", BL_BINARY, 0, "ab"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":3}", {'a', 'b', 'c'}, 3, "fixed[3]", BL_FIXED, 0, "abc"},
      {"{\"type\":\"fixed\",\"name\":\"f\",\"size\":16,\"logicalType\":\"uuid\"}",
       {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'},
       16,
       "uuid",
       BL_UUID,
       0,
       "0123456789abcdef"},
  };
  fixture f;
  entries e;
  fixture_open(&f);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    char schema[1200], fields[200];
    uint8_t record[40] = {2, 2, 'a', 6, 'o', 'r', 'c', 20, 30, 2};
    snprintf(schema, sizeof schema,
             FILE_OF("\"string\"", "\"string\"", "\"long\"",
                     ",{\"name\":\"part\",\"type\":{\"type\":\"record\",\"name\":\"r102\",\"fields\":[{\"name\":\"q\","
                     "\"type\":[\"null\",%s],\"field-id\":1000}]},\"field-id\":102}"),
             cases[i].avro);
    memcpy(record + 10, cases[i].bytes, cases[i].n);
    snprintf(fields, sizeof fields, "{\"id\":1,\"name\":\"q\",\"required\":false,\"type\":\"%s\"}", cases[i].type);
    bl_metadata *md =
        table_of(&f, 3, fields, "{\"name\":\"q\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1000}");
    bl_buf b = odd_manifest(&f, schema, record, 10 + cases[i].n);
    test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
    const bl_value *v = &e.items[0].file.partition[0];
    assert_false(v->null);
    assert_int_equal(v->kind, cases[i].kind);
    if (cases[i].s) assert_text(v->u.s, cases[i].s);
    else if (v->kind == BL_BOOLEAN) assert_int_equal(v->u.b, cases[i].i);
    else if (v->kind == BL_DOUBLE) assert_true(v->u.d == (double)cases[i].i);
    else if (v->kind == BL_DECIMAL) assert_int_equal((int64_t)v->u.dec, cases[i].i);
    else assert_int_equal(v->u.i, cases[i].i);
    bl_buf_free(&b);
    bl_metadata_free(md);
  }
  fixture_close(&f);
}

static void test_manifest_read__uuids_as_text_and_fields_without_ids_are_understood(void **state) {
  (void)state;
  uint8_t record[60] = {2, 2, 'a', 6, 'o', 'r', 'c', 20, 30, 72};
  memcpy(record + 10, "30313233-3435-3637-3839-616263646566", 36);
  fixture f;
  entries e;
  fixture_open(&f);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  bl_metadata *md = table_of(&f, 3, "{\"id\":1,\"name\":\"q\",\"required\":false,\"type\":\"uuid\"}",
                             "{\"name\":\"a.b\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1000}");
  bl_buf b = odd_manifest(&f,
                          FILE_OF("\"string\"", "\"string\"", "\"long\"",
                                  ",{\"name\":\"part\",\"type\":{\"type\":\"record\",\"name\":\"r102\",\"fields\":[{"
                                  "\"name\":\"a_b\",\"iceberg-field-name\":\"a.b\",\"type\":{\"type\":\"string\","
                                  "\"logicalType\":\"uuid\"}}]},\"field-id\":102}"),
                          record, 46);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_text(e.items[0].file.partition[0].u.s, "0123456789abcdef");
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- memory ---- */

typedef struct job {
  const bl_metadata *md;
  const void *p;
  size_t n;
} job;

static bl_status read_one(bl_ctx *ctx, void *user, bl_error *err) {
  job *j = user;
  bl_arena *a;
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  bl_manifest_read_options o = {.metadata = j->md, .metrics = true};
  bl_manifest_entry *e;
  size_t n;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_manifest_read(ctx, a, j->p, j->n, &m, &o, &e, &n, err);
  bl_arena_free(a);
  return st;
}

static void test_manifest_read__running_out_of_memory_is_reported(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  job j = {.md = table_of(&f, 3, PLAIN_FIELDS, "")};
  void *p = fixture_file("java_partition_names", &j.n);
  j.p = p;
  test_fail_each(read_one, &j);
  free(p);
  bl_metadata_free((bl_metadata *)(uintptr_t)j.md);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_manifest_read__every_codec_gives_the_same_entry),
      cmocka_unit_test(test_manifest_read__fields_come_in_any_order_and_number),
      cmocka_unit_test(test_manifest_read__version_1_has_sequence_number_0_and_no_ids),
      cmocka_unit_test(test_manifest_read__damaged_and_illegal_files_are_refused),
      cmocka_unit_test(test_manifest_read__a_spec_that_is_not_there_is_named),
      cmocka_unit_test(test_manifest_read__the_list_is_trusted_over_the_header),
      cmocka_unit_test(test_manifest_read__a_stray_first_row_id_of_deletes_is_ignored),
      cmocka_unit_test(test_manifest_read__deleted_entries_and_those_with_an_id_do_not_move_the_counter),
      cmocka_unit_test(test_manifest_read__a_manifest_without_id_hides_ids_unless_it_is_this_attempts),
      cmocka_unit_test(test_manifest_read__only_added_entries_inherit_sequence_numbers),
      cmocka_unit_test(test_manifest_read__an_explicit_data_sequence_number_stays_below_the_inherited_one),
      cmocka_unit_test(test_manifest_read__a_null_partition_value_concerns_its_own_entry_only),
      cmocka_unit_test(test_manifest_read__partition_fields_go_by_id_whatever_their_avro_names),
      cmocka_unit_test(test_manifest_read__decimals_keep_their_value_when_the_column_grew),
      cmocka_unit_test(test_manifest_read__unknown_transforms_keep_the_files_own_type),
      cmocka_unit_test(test_manifest_read__metrics_are_there_when_asked_for),
      cmocka_unit_test(test_manifest_read__metrics_of_many_columns_in_any_order_come_sorted),
      cmocka_unit_test(test_manifest_read__names_do_not_matter_and_integers_may_be_of_either_width),
      cmocka_unit_test(test_manifest_read__schemas_that_do_not_fit_are_refused),
      cmocka_unit_test(test_manifest_read__bytes_behind_the_last_record_are_damage),
      cmocka_unit_test(test_manifest_read__old_partition_types_are_promoted),
      cmocka_unit_test(test_manifest_read__uuids_as_text_and_fields_without_ids_are_understood),
      cmocka_unit_test(test_manifest_read__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
