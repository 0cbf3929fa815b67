/* test_manifest_list.c: manifest lists: read by field id whatever the header says, checked, written per version. */
#include "manifest_fixture.h"

typedef struct list {
  bl_manifest_file *items;
  size_t n;
} list;

static bl_status read_bytes(fixture *f, const void *p, size_t n, int version, list *out) {
  return bl_manifest_list_read(f->ctx, f->a, p, n, version, &out->items, &out->n, &f->err);
}

static bl_status read_list(fixture *f, const char *name, int version, list *out) {
  size_t n;
  void *p = fixture_file(name, &n);
  bl_status st = read_bytes(f, p, n, version, out);
  free(p);
  return st;
}

static void test_manifest_list__every_codec_reads_alike(void **state) {
  (void)state;
  static const char *const names[] = {"list_codec_null", "list_codec_deflate", "list_codec_snappy",
                                      "list_codec_zstandard"};
  fixture f;
  list l;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(names); i++) {
    test_ok(read_list(&f, names[i], 3, &l), &f.err);
    assert_int_equal(l.n, i + 1);
    assert_int_equal(l.items[0].sequence_number, i + 1);
    assert_int_equal(l.items[0].added_files, 1);
    assert_int_equal(l.items[0].content, BL_MANIFEST_DATA);
  }
  fixture_close(&f);
}

static void test_manifest_list__header_keys_are_not_needed(void **state) {
  (void)state;
  fixture f;
  list l;
  fixture_open(&f);
  test_ok(read_list(&f, "list_without_header_keys", 3, &l), &f.err);
  assert_int_equal(l.n, 2);
  assert_int_equal(l.items[0].content, BL_MANIFEST_DELETES);
  assert_int_equal(l.items[0].sequence_number, 2);
  assert_int_equal(l.items[0].min_sequence_number, 2);
  assert_int_equal(l.items[0].first_row_id, BL_NONE);
  assert_false(l.items[0].stray_first_row_id);
  assert_int_equal(l.items[1].content, BL_MANIFEST_DATA);
  assert_int_equal(l.items[1].sequence_number, 1);
  assert_int_equal(l.items[1].first_row_id, 0);
  assert_text(l.items[1].path, "/warehouse/db/list_without_header_keys/metadata/m00002.avro");
  fixture_close(&f);
}

static void test_manifest_list__order_extra_and_missing_fields_do_not_matter(void **state) {
  (void)state;
  fixture f;
  list l;
  fixture_open(&f);
  test_ok(read_list(&f, "list_reversed_fields", 3, &l), &f.err);
  assert_int_equal(l.n, 2);
  assert_int_equal(l.items[1].first_row_id, 4);
  assert_int_equal(l.items[1].length, 1163);
  assert_true(l.items[1].has_partitions);
  assert_int_equal(l.items[1].n_partitions, 0);
  test_ok(read_list(&f, "list_few_fields", 3, &l), &f.err);
  assert_int_equal(l.n, 3);
  assert_false(l.items[0].has_partitions);
  assert_null(l.items[0].key_metadata.p);
  assert_int_equal(l.items[2].added_rows, 2);
  fixture_close(&f);
}

static void test_manifest_list__a_first_row_id_of_a_delete_manifest_is_stray(void **state) {
  (void)state;
  fixture f;
  list l;
  fixture_open(&f);
  test_ok(read_list(&f, "list_stray_first_row_id", 3, &l), &f.err);
  assert_int_equal(l.n, 3);
  assert_int_equal(l.items[0].first_row_id, BL_NONE);
  assert_true(l.items[0].stray_first_row_id);
  assert_int_equal(l.items[1].first_row_id, 5);
  assert_int_equal(l.items[2].first_row_id, 0);
  test_ok(read_list(&f, "list_stray_first_row_id", 2, &l), &f.err);
  assert_int_equal(l.items[1].first_row_id, BL_NONE);
  fixture_close(&f);
}

static void count_warning(void *user, bl_log_level level, const char *text) {
  if (level == BL_LOG_WARNING && strstr(text, "negative")) ++*(int *)user;
}

static void test_manifest_list__a_negative_count_is_not_known(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  int warnings = 0;
  bl_ctx_options_init(&o);
  o.log = count_warning;
  o.user = &warnings;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  list l;
  size_t n;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  void *p = fixture_file("list_negative_count", &n);
  test_ok(bl_manifest_list_read(ctx, a, p, n, 3, &l.items, &l.n, &err), &err);
  free(p);
  assert_int_equal(l.items[0].added_rows, BL_NONE);
  assert_int_equal(l.items[0].added_files, 1);
  assert_int_equal(warnings, 1);
  bl_arena_free(a);
  test_ctx_free(ctx);
}

/* ---- written and read ---- */

static bl_manifest_file made(void) {
  return (bl_manifest_file){.path = BL_STR("/t/metadata/m1.avro"),
                            .length = 4000,
                            .spec_id = 3,
                            .sequence_number = 8,
                            .added_snapshot_id = 42,
                            .added_files = 1,
                            .existing_files = 2,
                            .deleted_files = 3,
                            .added_rows = 10,
                            .existing_rows = 20,
                            .deleted_rows = 30,
                            .first_row_id = BL_NONE};
}

static bl_status write_list(fixture *f, const bl_metadata *md, const bl_manifest_file *items, size_t n, bl_buf *out) {
  bl_snapshot s = {.id = 42,
                   .has_parent = true,
                   .parent_id = 41,
                   .sequence_number = 8,
                   .has_first_row_id = true,
                   .first_row_id = 600};
  return bl_manifest_list_write(f->ctx, md, &s, items, n, out, &f->err);
}

static void test_manifest_list__reads_back_what_was_written(void **state) {
  (void)state;
  fixture f;
  list l;
  bl_buf b;
  fixture_open(&f);
  for (int version = 1; version <= 3; version++) {
    bl_metadata *md = table_of(&f, version, PLAIN_FIELDS, "");
    bl_field_summary sums[] = {{.contains_null = true, .lower = BL_STR("a"), .upper = BL_STR("")},
                               {.has_nan = true, .contains_nan = true}};
    bl_manifest_file m[2] = {made(), made()};
    m[0].partitions = sums;
    m[0].n_partitions = 2;
    m[0].has_partitions = true;
    m[0].key_metadata = BL_STR("key\0more");
    m[0].first_row_id = 600;
    m[1].content = version > 1 ? BL_MANIFEST_DELETES : BL_MANIFEST_DATA;
    m[1].min_sequence_number = version > 1 ? 5 : 0;
    m[1].first_row_id = 123; /* must not be stored for deletes */
    test_ok(write_list(&f, md, m, 2, &b), &f.err);
    test_ok(read_bytes(&f, b.p, b.n, version, &l), &f.err);
    assert_int_equal(l.n, 2);
    assert_text(l.items[0].path, "/t/metadata/m1.avro");
    assert_int_equal(l.items[0].spec_id, 3);
    assert_int_equal(l.items[0].sequence_number, version > 1 ? 8 : 0);
    assert_int_equal(l.items[0].min_sequence_number, 0);
    assert_int_equal(l.items[0].deleted_rows, 30);
    assert_int_equal(l.items[0].key_metadata.n, 8);
    assert_int_equal(l.items[0].first_row_id, version == 3 ? 600 : BL_NONE);
    assert_int_equal(l.items[0].n_partitions, 2);
    assert_true(l.items[0].partitions[0].contains_null);
    assert_false(l.items[0].partitions[0].has_nan);
    assert_text(l.items[0].partitions[0].lower, "a");
    assert_text(l.items[0].partitions[0].upper, "");
    assert_true(l.items[0].partitions[1].contains_nan);
    assert_null(l.items[0].partitions[1].lower.p);
    assert_int_equal(l.items[1].content, m[1].content);
    assert_int_equal(l.items[1].min_sequence_number, m[1].min_sequence_number);
    if (version == 3) assert_int_equal(l.items[1].first_row_id, BL_NONE);
    assert_false(l.items[1].stray_first_row_id);
    assert_false(l.items[1].has_partitions);
    bl_buf_free(&b);
    bl_metadata_free(md);
  }
  fixture_close(&f);
}

static void test_manifest_list__headers_say_what_the_version_knows(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  bl_avro_reader *r;
  fixture_open(&f);
  for (int version = 1; version <= 3; version++) {
    bl_metadata *md = table_of(&f, version, PLAIN_FIELDS, "");
    bl_manifest_file m = made();
    test_ok(write_list(&f, md, &m, 1, &b), &f.err);
    test_ok(bl_avro_open(f.ctx, b.p, b.n, &r, &f.err), &f.err);
    char digit[2] = {(char)('0' + version), 0};
    assert_text(bl_avro_meta(r, "format-version"), digit);
    assert_text(bl_avro_meta(r, "snapshot-id"), "42");
    assert_text(bl_avro_meta(r, "parent-snapshot-id"), "41");
    if (version > 1) assert_text(bl_avro_meta(r, "sequence-number"), "8");
    else assert_null(bl_avro_meta(r, "sequence-number").p);
    if (version > 2) assert_text(bl_avro_meta(r, "first-row-id"), "600");
    else assert_null(bl_avro_meta(r, "first-row-id").p);
    bl_avro_close(r);
    bl_buf_free(&b);
    bl_metadata_free(md);
  }
  fixture_close(&f);
}

static void test_manifest_list__unknown_counts_fit_version_1_only(void **state) {
  (void)state;
  fixture f;
  list l;
  bl_buf b;
  fixture_open(&f);
  bl_manifest_file m = made();
  m.existing_rows = BL_NONE;
  bl_metadata *md = table_of(&f, 1, PLAIN_FIELDS, "");
  test_ok(write_list(&f, md, &m, 1, &b), &f.err);
  test_ok(read_bytes(&f, b.p, b.n, 1, &l), &f.err);
  assert_int_equal(l.items[0].existing_rows, BL_NONE);
  assert_int_equal(l.items[0].added_rows, 10);
  bl_buf_free(&b);
  bl_metadata_free(md);
  md = table_of(&f, 2, PLAIN_FIELDS, "");
  assert_refused(&f.err, write_list(&f, md, &m, 1, &b), BL_USAGE, "existing_rows_count");
  m.existing_rows = 1;
  m.added_files = INT64_C(1) << 32;
  assert_refused(&f.err, write_list(&f, md, &m, 1, &b), BL_USAGE, "added_files_count");
  bl_metadata_free(md);
  fixture_close(&f);
}

/* ---- refused ---- */

#define FIELD(name, id, type) "{\"name\":\"" name "\",\"type\":" type ",\"field-id\":" id "}"
#define LIST_WITH(more)                                                                                                \
  "{\"type\":\"record\",\"name\":\"m\",\"fields\":[" FIELD("p", "500", "\"string\"") "," FIELD(                        \
      "l", "501", "\"long\"") "," FIELD("s", "502", "\"long\"") more "]}"

static void test_manifest_list__values_and_schemas_that_break_the_rules_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *schema;
    uint8_t bytes[12];
    size_t n;
    const char *words;
  } cases[] = {
      {LIST_WITH(""), {2, 'a', 1, 0}, 4, "manifest_length is negative"},
      {LIST_WITH(""), {2, 'a', 2, 1}, 4, "partition_spec_id is negative"},
      {LIST_WITH(""), {2, 'a', 2, 0x80, 0x80, 0x80, 0x80, 0x20}, 8, "partition_spec_id"},
      {LIST_WITH("," FIELD("c", "517", "\"int\"")), {2, 'a', 2, 0, 4}, 5, "content 2"},
      {LIST_WITH("," FIELD("c", "515", "\"long\"")), {2, 'a', 2, 0, 1}, 5, "sequence_number is negative"},
      {LIST_WITH("," FIELD("c", "520", "[\"null\",\"long\"]")), {2, 'a', 2, 0, 2, 1}, 6, "first_row_id is negative"},
      {LIST_WITH("," FIELD("c", "507", "\"int\"")), {2, 'a', 2, 0, 0}, 5, "partitions"},
      {LIST_WITH("," FIELD("c", "507", "[\"null\",{\"type\":\"array\",\"items\":\"int\"},\"long\"]")),
       {2, 'a', 2, 0, 0},
       5,
       "partitions"},
      {LIST_WITH(
           "," FIELD("c", "507", "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}}")),
       {2, 'a', 2, 0, 0},
       5,
       "contains_null is missing"},
      {LIST_WITH("," FIELD("c", "504", "\"string\"")), {2, 'a', 2, 0, 0}, 5, "added_files_count"},
      {LIST_WITH(""), {2, 'a', 2, 0, 9}, 5, "after its last record"},
      {"{\"type\":\"record\",\"name\":\"m\",\"fields\":[" FIELD("p", "500", "\"string\"") "]}",
       {2, 'a'},
       2,
       "manifest_length is missing"},
  };
  fixture f;
  list l;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_avro_writer *w;
    bl_buf b;
    test_ok(bl_avro_writer_new(f.ctx, bl_str_of(cases[i].schema), "null", NULL, NULL, 0, &w, &f.err), &f.err);
    bl_buf_add(bl_avro_writer_record(w), cases[i].bytes, cases[i].n);
    test_ok(bl_avro_writer_end_record(w, &f.err), &f.err);
    test_ok(bl_avro_writer_finish(w, &b, &f.err), &f.err);
    bl_avro_writer_free(w);
    assert_refused(&f.err, read_bytes(&f, b.p, b.n, 3, &l), BL_DAMAGED, cases[i].words);
    bl_buf_free(&b);
  }
  assert_refused(&f.err, read_bytes(&f, "Obj\2", 4, 3, &l), BL_DAMAGED, "not an Avro file");
  fixture_close(&f);
}

typedef struct job {
  const void *p;
  size_t n;
} job;

static bl_status read_one(bl_ctx *ctx, void *user, bl_error *err) {
  job *j = user;
  bl_arena *a;
  list l;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = bl_manifest_list_read(ctx, a, j->p, j->n, 3, &l.items, &l.n, err);
  bl_arena_free(a);
  return st;
}

static bl_status write_one(bl_ctx *ctx, void *user, bl_error *err) {
  bl_snapshot s = {.id = 42};
  bl_manifest_file m = made();
  bl_buf b;
  BL_TRY(bl_manifest_list_write(ctx, user, &s, &m, 1, &b, err));
  bl_buf_free(&b);
  return BL_OK;
}

static void test_manifest_list__running_out_of_memory_is_reported(void **state) {
  (void)state;
  fixture f;
  job j;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  void *p = fixture_file("list_reversed_fields", &j.n);
  j.p = p;
  test_fail_each(read_one, &j);
  test_fail_each(write_one, md);
  free(p);
  bl_metadata_free(md);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_manifest_list__every_codec_reads_alike),
      cmocka_unit_test(test_manifest_list__header_keys_are_not_needed),
      cmocka_unit_test(test_manifest_list__order_extra_and_missing_fields_do_not_matter),
      cmocka_unit_test(test_manifest_list__a_first_row_id_of_a_delete_manifest_is_stray),
      cmocka_unit_test(test_manifest_list__a_negative_count_is_not_known),
      cmocka_unit_test(test_manifest_list__reads_back_what_was_written),
      cmocka_unit_test(test_manifest_list__headers_say_what_the_version_knows),
      cmocka_unit_test(test_manifest_list__unknown_counts_fit_version_1_only),
      cmocka_unit_test(test_manifest_list__values_and_schemas_that_break_the_rules_are_refused),
      cmocka_unit_test(test_manifest_list__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
