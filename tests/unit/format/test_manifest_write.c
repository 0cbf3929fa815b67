/* test_manifest_write.c: manifests written per version, read back; partition names that any Avro parser takes. */
#include "format/partition_avro.h"
#include "manifest_fixture.h"

static const bl_avro_schema *field_of(const bl_avro_schema *record, int32_t id) {
  for (size_t i = 0; i < record->n_children; i++)
    if (record->children[i]->field_id == id) return record->children[i];
  return NULL;
}

static const bl_avro_schema *under_null(const bl_avro_schema *s) {
  bool optional;
  return bl_avro_unwrap(s, &optional);
}

static bl_avro_reader *opened(fixture *f, const bl_buf *b) {
  bl_avro_reader *r;
  test_ok(bl_avro_open(f->ctx, b->p, b->n, &r, &f->err), &f->err);
  return r;
}

static void test_manifest_write__each_version_has_its_fields(void **state) {
  (void)state;
  static const struct {
    int32_t id;
    int first; /* version that has it; negative: the last one */
    const char *name;
  } fields[] = {{134, 2, "content"},
                {100, 1, "file_path"},
                {101, 1, "file_format"},
                {102, 1, "partition"},
                {103, 1, "record_count"},
                {104, 1, "file_size_in_bytes"},
                {105, -1, "block_size_in_bytes"},
                {108, 1, "column_sizes"},
                {109, 1, "value_counts"},
                {110, 1, "null_value_counts"},
                {137, 1, "nan_value_counts"},
                {125, 1, "lower_bounds"},
                {128, 1, "upper_bounds"},
                {131, 1, "key_metadata"},
                {132, 1, "split_offsets"},
                {135, 2, "equality_ids"},
                {140, 1, "sort_order_id"},
                {142, 3, "first_row_id"},
                {143, 2, "referenced_data_file"},
                {144, 3, "content_offset"},
                {145, 3, "content_size_in_bytes"}};
  fixture f;
  fixture_open(&f);
  for (int version = 1; version <= 3; version++) {
    bl_metadata *md = table_of(&f, version, PLAIN_FIELDS, "");
    bl_manifest_entry e = entry_of(BL_ADDED, "a", 1, BL_NONE);
    bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, &e, 1);
    bl_avro_reader *r = opened(&f, &b);
    const bl_avro_schema *entry = bl_avro_header(r)->schema, *file = field_of(entry, 2);
    assert_text(entry->name, "manifest_entry");
    assert_int_equal(entry->n_children, version > 1 ? 5 : 3);
    assert_int_equal(field_of(entry, 1)->kind, version > 1 ? BL_A_UNION : BL_A_LONG);
    size_t n = 0;
    for (size_t i = 0; i < BL_LEN(fields); i++) {
      bool due = fields[i].first < 0 ? version <= -fields[i].first : version >= fields[i].first;
      const bl_avro_schema *s = field_of(file, fields[i].id);
      assert_int_equal(s != NULL, due);
      if (!due) continue;
      assert_text(s->field_name, fields[i].name);
      n++;
    }
    assert_int_equal(file->n_children, n);
    char digit[2] = {(char)('0' + version), 0};
    assert_text(bl_avro_meta(r, "format-version"), digit);
    assert_text(bl_avro_meta(r, "schema-id"), "0");
    assert_text(bl_avro_meta(r, "partition-spec-id"), "0");
    assert_text(bl_avro_meta(r, "partition-spec"), "[]");
    assert_non_null(strstr(bl_avro_meta(r, "schema").p, "\"name\""));
    if (version > 1) assert_text(bl_avro_meta(r, "content"), "data");
    else assert_null(bl_avro_meta(r, "content").p);
    bl_avro_close(r);
    bl_buf_free(&b);
    bl_metadata_free(md);
  }
  fixture_close(&f);
}

static void test_manifest_write__everything_an_entry_holds_comes_back(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  bl_column_metrics metrics[] = {
      {1, 100, 10, 2, BL_NONE, BL_STR("\1\0\0\0"), BL_STR("\2\0\0\0")},
      {2, BL_NONE, 10, BL_NONE, 3, BL_STR(""), BL_STR_NONE},
  };
  int64_t splits[] = {4, 5000, INT64_C(1) << 40};
  bl_manifest_entry made[] = {entry_of(BL_EXISTING, "/t/data/ä.parquet", 10, 500),
                              entry_of(BL_DELETED, "b", 20, BL_NONE)};
  made[0].file.metrics = metrics;
  made[0].file.n_metrics = 2;
  made[0].file.split_offsets = splits;
  made[0].file.n_split_offsets = 3;
  made[0].file.key_metadata = BL_STR("k\0k");
  made[0].file.sort_order_id = 4;
  made[0].file.format = BL_FORMAT_AVRO;
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, made, 2);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 9, 0);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  const bl_data_file *file = &e.items[0].file;
  assert_int_equal(e.items[0].snapshot_id, 5);
  assert_int_equal(e.items[0].sequence_number, 3);
  assert_int_equal(e.items[0].stored_first_row_id, 500);
  assert_text(file->path, "/t/data/ä.parquet");
  assert_int_equal(file->format, BL_FORMAT_AVRO);
  assert_int_equal(file->n_metrics, 2);
  assert_int_equal(file->metrics[0].size, 100);
  assert_int_equal(file->metrics[0].nans, BL_NONE);
  assert_int_equal(file->metrics[0].lower.n, 4);
  assert_int_equal(file->metrics[1].nans, 3);
  assert_int_equal(file->metrics[1].nulls, BL_NONE);
  assert_text(file->metrics[1].lower, "");
  assert_null(file->metrics[1].upper.p);
  assert_int_equal(file->split_offsets[2], INT64_C(1) << 40);
  assert_int_equal(file->key_metadata.n, 3);
  assert_int_equal(file->sort_order_id, 4);
  assert_int_equal(e.items[1].status, BL_DELETED);
  assert_int_equal(e.items[1].file.sort_order_id, -1);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_write__deletes_are_labelled_and_have_no_row_ids(void **state) {
  (void)state;
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md = table_of(&f, 3, PLAIN_FIELDS, "");
  int32_t ids[] = {1, 2};
  bl_manifest_entry made[] = {entry_of(BL_ADDED, "dv", 3, 77), entry_of(BL_ADDED, "eq", 4, BL_NONE)};
  made[0].file.content = BL_FILE_POSITION_DELETES;
  made[0].file.format = BL_FORMAT_PUFFIN;
  made[0].file.referenced_data_file = BL_STR("a");
  made[0].file.content_offset = 0;
  made[0].file.content_size = 42;
  made[1].file.content = BL_FILE_EQUALITY_DELETES;
  made[1].file.equality_ids = ids;
  made[1].file.n_equality_ids = 2;
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DELETES, made, 2);
  bl_avro_reader *r = opened(&f, &b);
  assert_text(bl_avro_meta(r, "content"), "deletes");
  bl_avro_close(r);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DELETES, 9, BL_NONE);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_int_equal(e.items[0].file.content, BL_FILE_POSITION_DELETES);
  assert_int_equal(e.items[0].stored_first_row_id, BL_NONE);
  assert_int_equal(e.items[0].file.content_offset, 0);
  assert_int_equal(e.items[0].file.content_size, 42);
  assert_text(e.items[0].file.referenced_data_file, "a");
  assert_int_equal(e.items[1].file.n_equality_ids, 2);
  assert_int_equal(e.items[1].file.equality_ids[1], 2);
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

static void test_manifest_write__what_no_reader_would_take_is_refused(void **state) {
  (void)state;
  fixture f;
  bl_buf out;
  fixture_open(&f);
  bl_metadata *v1 = table_of(&f, 1, PLAIN_FIELDS, ""), *v2 = table_of(&f, 2, PLAIN_FIELDS, "");
  bl_manifest_entry e = entry_of(BL_ADDED, "a", 1, BL_NONE);
  const bl_manifest_entry *list = &e;
  assert_refused(&f.err, bl_manifest_write(f.ctx, v1, 0, 0, BL_MANIFEST_DELETES, &list, 1, &out, &f.err), BL_USAGE,
                 "version 1");
  assert_refused(&f.err, bl_manifest_write(f.ctx, v2, 9, 0, BL_MANIFEST_DATA, &list, 1, &out, &f.err), BL_USAGE,
                 "partition spec 9");
  assert_refused(&f.err, bl_manifest_write(f.ctx, v2, 0, 9, BL_MANIFEST_DATA, &list, 1, &out, &f.err), BL_USAGE,
                 "schema 9");
  assert_refused(&f.err, bl_manifest_write(f.ctx, v2, 0, 0, BL_MANIFEST_DELETES, &list, 1, &out, &f.err), BL_USAGE,
                 "content 0");
  e.snapshot_id = BL_NONE;
  assert_refused(&f.err, bl_manifest_write(f.ctx, v1, 0, 0, BL_MANIFEST_DATA, &list, 1, &out, &f.err), BL_USAGE,
                 "snapshot_id");
  e.status = BL_DELETED;
  assert_refused(&f.err, bl_manifest_write(f.ctx, v2, 0, 0, BL_MANIFEST_DATA, &list, 1, &out, &f.err), BL_USAGE,
                 "sequence_number");
  bl_value v = {.kind = BL_INT};
  e.status = BL_ADDED;
  e.file.partition = &v;
  e.file.n_partition = 1;
  assert_refused(&f.err, bl_manifest_write(f.ctx, v2, 0, 0, BL_MANIFEST_DATA, &list, 1, &out, &f.err), BL_USAGE,
                 "1 partition values");
  bl_metadata_free(v1);
  bl_metadata_free(v2);
  fixture_close(&f);
}

/* ---- partitions ---- */

static void test_manifest_write__names_become_letters_digits_and_underscores(void **state) {
  (void)state;
  static const struct {
    const char *name, *want;
  } cases[] = {{"plain_9", "plain_9"},
               {"_x", "_x"},
               {"a.b", "a_x2Eb"},
               {"9x", "_9x"},
               {"x y", "x_x20y"},
               {"\xf0\x9f\x98\x80", "_xD83D_xDE00"},
               {"\xc3\xbc", "_xFC"},
               {"\xe2\x82\xac", "_x20AC"},
               {"a-1", "a_x2D1"},
               {"\xff", "_xFF"},
               {"", "_"},
               {"\xc3", "_xC3"},
               {"99", "_99"}};
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_buf_init(&b, f.ctx, 1000);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_buf_clear(&b);
    bl_partition_avro_name(&b, bl_str_of(cases[i].name));
    assert_string_equal(buf_text(f.a, &b), cases[i].want);
  }
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_manifest_write__odd_names_are_written_fit_and_read_back_by_id(void **state) {
  (void)state;
  static const struct {
    const char *avro, *original;
  } want[] = {{"a_x2Eb_1000", "a.b"},    {"_9x", "9x"},  {"_xD83D_xDE00", "\xf0\x9f\x98\x80"}, {"x_x20y", "x y"},
              {"a_x2Eb_1004", "a_x2Eb"}, {"plain", NULL}};
  fixture f;
  entries e;
  fixture_open(&f);
  bl_metadata *md =
      table_of(&f, 3, PLAIN_FIELDS,
               "{\"name\":\"a.b\",\"transform\":\"bucket[2]\",\"source-id\":1,\"field-id\":1000},"
               "{\"name\":\"9x\",\"transform\":\"truncate[1]\",\"source-id\":2,\"field-id\":1001},"
               "{\"name\":\"\xf0\x9f\x98\x80\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1002},"
               "{\"name\":\"x y\",\"transform\":\"truncate[10]\",\"source-id\":1,\"field-id\":1003},"
               "{\"name\":\"a_x2Eb\",\"transform\":\"bucket[3]\",\"source-id\":1,\"field-id\":1004},"
               "{\"name\":\"plain\",\"transform\":\"void\",\"source-id\":1,\"field-id\":1005}");
  bl_value tuple[] = {{.kind = BL_INT, .u.i = 1},        {.kind = BL_STRING, .u.s = BL_STR("n")},
                      {.kind = BL_STRING, .null = true}, {.kind = BL_LONG, .u.i = -10},
                      {.kind = BL_INT, .u.i = 2},        {.kind = BL_LONG, .null = true}};
  bl_manifest_entry made = entry_of(BL_ADDED, "a", 1, BL_NONE);
  made.file.partition = tuple;
  made.file.n_partition = BL_LEN(tuple);
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, &made, 1);
  bl_avro_reader *r = opened(&f, &b);
  const bl_avro_schema *partition = field_of(field_of(bl_avro_header(r)->schema, 2), 102);
  assert_text(partition->name, "r102");
  for (size_t i = 0; i < BL_LEN(want); i++) {
    assert_text(partition->children[i]->field_name, want[i].avro);
    if (want[i].original) assert_text(partition->children[i]->original, want[i].original);
    else assert_null(partition->children[i]->original.p);
    assert_int_equal(partition->children[i]->field_id, 1000 + i);
  }
  bl_avro_close(r);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_true(bl_tuple_same(e.items[0].file.partition, e.items[0].file.n_partition, tuple, BL_LEN(tuple)));
  bl_buf_free(&b);
  bl_metadata_free(md);
  fixture_close(&f);
}

/* One column and identity partition field of each type, two of those that declare a named Avro type. */
static void test_manifest_write__partition_values_of_every_type_come_back(void **state) {
  (void)state;
  static const struct {
    const char *type;
    bl_value v;
    const char *logical;
    bl_avro_kind kind;
  } cols[] = {
      {"boolean", {.kind = BL_BOOLEAN, .u.b = true}, NULL, BL_A_BOOLEAN},
      {"int", {.kind = BL_INT, .u.i = INT32_MIN}, NULL, BL_A_INT},
      {"long", {.kind = BL_LONG, .u.i = INT64_MAX}, NULL, BL_A_LONG},
      {"float", {.kind = BL_FLOAT, .u.f = -0.0f}, NULL, BL_A_FLOAT},
      {"double", {.kind = BL_DOUBLE, .u.d = 1e300}, NULL, BL_A_DOUBLE},
      {"decimal(9, 2)", {.kind = BL_DECIMAL, .u.dec = -999999999}, "decimal", BL_A_FIXED},
      {"decimal(9, 2)", {.kind = BL_DECIMAL, .u.dec = 5}, "decimal", BL_A_FIXED},
      {"decimal(38, 0)", {.kind = BL_DECIMAL, .u.dec = -1}, "decimal", BL_A_FIXED},
      {"decimal(2, 1)", {.kind = BL_DECIMAL, .u.dec = 99}, "decimal", BL_A_FIXED},
      {"date", {.kind = BL_DATE, .u.i = -1}, "date", BL_A_INT},
      {"time", {.kind = BL_TIME, .u.i = 1}, "time-micros", BL_A_LONG},
      {"timestamp", {.kind = BL_TIMESTAMP, .u.i = -1}, "timestamp-micros", BL_A_LONG},
      {"timestamptz", {.kind = BL_TIMESTAMPTZ, .u.i = 2}, "timestamp-micros", BL_A_LONG},
      {"timestamp_ns", {.kind = BL_TIMESTAMP_NS, .u.i = 3}, "timestamp-nanos", BL_A_LONG},
      {"timestamptz_ns", {.kind = BL_TIMESTAMPTZ_NS, .u.i = 4}, "timestamp-nanos", BL_A_LONG},
      {"string", {.kind = BL_STRING, .u.s = {"", 0}}, NULL, BL_A_STRING},
      {"uuid", {.kind = BL_UUID, .u.s = {"0123456789abcdef", 16}}, "uuid", BL_A_FIXED},
      {"uuid", {.kind = BL_UUID, .u.s = {"fedcba9876543210", 16}}, "uuid", BL_A_FIXED},
      {"fixed[3]", {.kind = BL_FIXED, .u.s = {"a\0b", 3}}, NULL, BL_A_FIXED},
      {"fixed[3]", {.kind = BL_FIXED, .u.s = {"xyz", 3}}, NULL, BL_A_FIXED},
      {"binary", {.kind = BL_BINARY, .u.s = {"\0\1", 2}}, NULL, BL_A_BYTES},
  };
  fixture f;
  entries e;
  bl_buf fields, parts;
  bl_value tuple[BL_LEN(cols)];
  fixture_open(&f);
  bl_buf_init(&fields, f.ctx, BL_BUF_MAX);
  bl_buf_init(&parts, f.ctx, BL_BUF_MAX);
  for (size_t i = 0; i < BL_LEN(cols); i++) {
    bl_buf_printf(&fields, "%s{\"id\":%zu,\"name\":\"c%zu\",\"required\":false,\"type\":\"%s\"}", i ? "," : "", i + 1,
                  i, cols[i].type);
    bl_buf_printf(&parts, "%s{\"name\":\"c%zu\",\"transform\":\"identity\",\"source-id\":%zu,\"field-id\":%zu}",
                  i ? "," : "", i, i + 1, 1000 + i);
    tuple[i] = cols[i].v;
  }
  bl_metadata *md = table_of(&f, 3, buf_text(f.a, &fields), buf_text(f.a, &parts));
  bl_manifest_entry made[2] = {entry_of(BL_ADDED, "a", 1, BL_NONE), entry_of(BL_ADDED, "b", 1, BL_NONE)};
  bl_value nulls[BL_LEN(cols)];
  for (size_t i = 0; i < BL_LEN(cols); i++) nulls[i] = (bl_value){.kind = cols[i].v.kind, .null = true};
  made[0].file.partition = tuple;
  made[1].file.partition = nulls;
  made[0].file.n_partition = made[1].file.n_partition = BL_LEN(cols);
  bl_buf b = write_entries(&f, md, BL_MANIFEST_DATA, made, 2);
  bl_avro_reader *r = opened(&f, &b);
  const bl_avro_schema *partition = field_of(field_of(bl_avro_header(r)->schema, 2), 102);
  for (size_t i = 0; i < BL_LEN(cols); i++) {
    const bl_avro_schema *s = under_null(partition->children[i]);
    assert_int_equal(s->kind, cols[i].kind);
    if (cols[i].logical) assert_text(s->logical, cols[i].logical);
    else assert_null(s->logical.p);
    if (cols[i].v.kind == BL_TIMESTAMPTZ || cols[i].v.kind == BL_TIMESTAMPTZ_NS) assert_true(s->adjust_to_utc);
  }
  assert_int_equal(under_null(partition->children[5])->size, 4);
  assert_int_equal(under_null(partition->children[7])->size, 16);
  assert_int_equal(under_null(partition->children[8])->size, 1);
  bl_avro_close(r);
  bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
  test_ok(read_with(&f, md, b.p, b.n, &m, true, &e), &f.err);
  assert_true(bl_tuple_same(e.items[0].file.partition, BL_LEN(cols), tuple, BL_LEN(cols)));
  for (size_t i = 0; i < BL_LEN(cols); i++) {
    assert_true(e.items[1].file.partition[i].null);
    assert_int_equal(e.items[0].file.partition[i].kind, cols[i].v.kind);
  }
  bl_buf_free(&b);
  bl_buf_free(&fields);
  bl_buf_free(&parts);
  bl_metadata_free(md);
  fixture_close(&f);
}

static bl_status write_tuple(fixture *f, const char *type, const char *transform, const bl_value *v) {
  char field[200], part[200];
  snprintf(field, sizeof field, "{\"id\":1,\"name\":\"q\",\"required\":false,\"type\":\"%s\"}", type);
  snprintf(part, sizeof part, "{\"name\":\"q\",\"transform\":\"%s\",\"source-id\":1,\"field-id\":1000}", transform);
  bl_metadata *md = table_of(f, 3, field, part);
  bl_manifest_entry e = entry_of(BL_ADDED, "a", 1, BL_NONE);
  const bl_manifest_entry *list = &e;
  bl_value copy = *v;
  e.file.partition = &copy;
  e.file.n_partition = 1;
  bl_buf b;
  entries back;
  bl_status st = bl_manifest_write(f->ctx, md, 0, 0, BL_MANIFEST_DATA, &list, 1, &b, &f->err);
  if (st == BL_OK) {
    bl_manifest_file m = manifest_of(BL_MANIFEST_DATA, 1, 0);
    test_ok(read_with(f, md, b.p, b.n, &m, true, &back), &f->err);
    const bl_value *got = back.items[0].file.partition;
    if (v->kind == got->kind) assert_true(bl_value_same(got, v));
    else assert_int_equal(got->u.i, v->u.i);
    bl_buf_free(&b);
  }
  bl_metadata_free(md);
  return st;
}

static void test_manifest_write__values_are_promoted_kept_or_refused(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  test_ok(write_tuple(&f, "long", "identity", &(bl_value){.kind = BL_INT, .u.i = -3}), &f.err);
  test_ok(write_tuple(&f, "string", "zorder[2]", &(bl_value){.kind = BL_DOUBLE, .u.d = 2.5}), &f.err);
  test_ok(write_tuple(&f, "string", "zorder[2]", &(bl_value){.kind = BL_FIXED, .u.s = BL_STR("abcd")}), &f.err);
  test_ok(write_tuple(&f, "string", "zorder[2]", &(bl_value){.kind = BL_INT, .null = true}), &f.err);
  assert_refused(&f.err, write_tuple(&f, "int", "identity", &(bl_value){.kind = BL_LONG, .u.i = 3}), BL_USAGE,
                 "does not fit");
  assert_refused(&f.err, write_tuple(&f, "int", "identity", &(bl_value){.kind = BL_INT, .u.i = INT64_MAX}), BL_USAGE,
                 "does not fit");
  assert_refused(&f.err, write_tuple(&f, "decimal(2, 0)", "identity", &(bl_value){.kind = BL_DECIMAL, .u.dec = 1000}),
                 BL_USAGE, "does not fit");
  assert_refused(&f.err, write_tuple(&f, "fixed[2]", "identity", &(bl_value){.kind = BL_FIXED, .u.s = BL_STR("abc")}),
                 BL_USAGE, "does not fit");
  assert_refused(&f.err, write_tuple(&f, "string", "zorder[2]", &(bl_value){.kind = BL_DECIMAL, .u.dec = 1}),
                 BL_UNSUPPORTED, "not known");
  fixture_close(&f);
}

static bl_status write_one(bl_ctx *ctx, void *user, bl_error *err) {
  bl_value v = {.kind = BL_STRING, .u.s = BL_STR("north")};
  bl_manifest_entry e = entry_of(BL_ADDED, "a", 1, BL_NONE);
  const bl_manifest_entry *list = &e;
  bl_buf b;
  e.file.partition = &v;
  e.file.n_partition = 1;
  BL_TRY(bl_manifest_write(ctx, user, 0, 0, BL_MANIFEST_DATA, &list, 1, &b, err));
  bl_buf_free(&b);
  return BL_OK;
}

static void test_manifest_write__running_out_of_memory_is_reported(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *md =
      table_of(&f, 3, PLAIN_FIELDS, "{\"name\":\"n\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000}");
  test_fail_each(write_one, md);
  bl_metadata_free(md);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_manifest_write__each_version_has_its_fields),
      cmocka_unit_test(test_manifest_write__everything_an_entry_holds_comes_back),
      cmocka_unit_test(test_manifest_write__deletes_are_labelled_and_have_no_row_ids),
      cmocka_unit_test(test_manifest_write__what_no_reader_would_take_is_refused),
      cmocka_unit_test(test_manifest_write__names_become_letters_digits_and_underscores),
      cmocka_unit_test(test_manifest_write__odd_names_are_written_fit_and_read_back_by_id),
      cmocka_unit_test(test_manifest_write__partition_values_of_every_type_come_back),
      cmocka_unit_test(test_manifest_write__values_are_promoted_kept_or_refused),
      cmocka_unit_test(test_manifest_write__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
