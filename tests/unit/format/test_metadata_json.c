/* test_metadata_json.c: table metadata: files of other writers that must load, files that must be refused, and one
 * document changed member by member. */
#include <time.h>
#include <zlib.h>

#include "arena_fixture.h"
#include "format/metadata_json.h"

static bl_status parse_file(fixture *f, const char *name, bl_metadata **m) {
  char relative[300];
  size_t n;
  snprintf(relative, sizeof relative, "tests/fixtures/%s", name);
  char *path = test_path(relative);
  void *p = test_read(path, &n);
  bl_status st = bl_metadata_parse(f->ctx, p, n, m, &f->err);
  free(p);
  free(path);
  return st;
}

static bl_metadata *load(fixture *f, const char *name) {
  bl_metadata *m = NULL;
  bl_status st = parse_file(f, name, &m);
  if (st != BL_OK) fail_msg("%s: %s", name, f->err.message);
  return m;
}

/* ---- files that must be refused ---- */

static void test_metadata_json__broken_files_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    const char *file, *words[2];
    bl_status st;
  } cases[] = {
      {"current_and_main_differ.json", {"current-snapshot-id", "main"}, BL_DAMAGED},
      {"current_schema_missing.json", {"schema", "9"}, BL_DAMAGED},
      {"default_spec_missing.json", {"spec", "9"}, BL_DAMAGED},
      {"duplicate_field_ids.json", {"field id 1", "$.schemas[0].fields[1]"}, BL_DAMAGED},
      {"duplicate_field_names.json", {"\"id\"", "$.schemas[0].fields[1]"}, BL_DAMAGED},
      {"duplicate_snapshot_id.json", {"snapshot", "7310000000000000001"}, BL_DAMAGED},
      {"format_version_0.json", {"format-version"}, BL_DAMAGED},
      {"format_version_4.json", {"format version 4"}, BL_UNSUPPORTED},
      {"format_version_string.json", {"format-version"}, BL_DAMAGED},
      {"gz_truncated.gz", {"gzip", "truncated"}, BL_DAMAGED},
      {"json_array.json", {"JSON", "object"}, BL_DAMAGED},
      {"json_bad_utf8.json", {"UTF", "$.properties.k"}, BL_DAMAGED},
      {"json_big_number.json", {"last-updated-ms", "1e309"}, BL_DAMAGED},
      {"json_control_char.json", {"JSON", "control character"}, BL_DAMAGED},
      {"json_depth_bomb.json", {"nested deeper"}, BL_DAMAGED},
      {"json_duplicate_key.json", {"duplicate", "next-row-id"}, BL_DAMAGED},
      {"json_empty.json", {"JSON", "empty"}, BL_DAMAGED},
      {"json_fraction.json", {"next-row-id", "6.5"}, BL_DAMAGED},
      {"json_long_overflow.json", {"$.snapshots[0].snapshot-id", "9223372036854775808"}, BL_DAMAGED},
      {"json_truncated.json", {"JSON", "ends"}, BL_DAMAGED},
      {"location_missing.json", {"location"}, BL_DAMAGED},
      {"main_ref_dangling.json", {"42"}, BL_DAMAGED},
      {"negative_next_row_id.json", {"next-row-id", "negative"}, BL_DAMAGED},
      {"no_next_row_id.json", {"next-row-id is missing", "must be set"}, BL_DAMAGED},
      {"parent_cycle.json", {"parent-snapshot-id", "cycle"}, BL_DAMAGED},
      {"parent_is_self.json", {"parent-snapshot-id", "cycle"}, BL_DAMAGED},
      {"reserved_field_id.json", {"2147483540", "\"name\""}, BL_DAMAGED},
      {"snapshot_without_id.json", {"$.snapshots[0]", "snapshot-id"}, BL_DAMAGED},
      {"snapshot_without_timestamp.json", {"$.snapshots[0]", "timestamp-ms"}, BL_DAMAGED},
      {"table_uuid_missing.json", {"table-uuid"}, BL_DAMAGED},
      {"unknown_type.json", {"quaternion", "$.schemas[0].fields[1].type"}, BL_UNSUPPORTED},
      {"view.json", {"view"}, BL_UNSUPPORTED},
  };
  fixture f;
  char name[300];
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_metadata *m = NULL;
    snprintf(name, sizeof name, "metadata_refuse/%s", cases[i].file);
    bl_status st = parse_file(&f, name, &m);
    if (st == BL_OK) fail_msg("%s was taken", name);
    assert_null(m);
    if (cases[i].words[1] && !strstr(f.err.message, cases[i].words[1])) fail_msg("%s: %s", name, f.err.message);
    assert_refused(&f.err, st, cases[i].st, cases[i].words[0]);
  }
  fixture_close(&f);
}

/* ---- files that must load ---- */

static void test_metadata_json__unusual_files_load(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int version;
    size_t schemas, snapshots, refs;
    int64_t next_row_id;
  } cases[] = {
      {"default_value.json", 3, 2, 4, 1, 7},
      {"empty_absent.json", 3, 1, 0, 0, 0},
      {"empty_minus_one.json", 3, 1, 0, 0, 0},
      {"empty_null.json", 3, 1, 0, 0, 0},
      {"encrypted.json", 3, 1, 2, 1, 6},
      {"gzip_new_name.gz.metadata.json", 3, 1, 2, 1, 6},
      {"gzip_old_name.metadata.json.gz", 3, 1, 1, 1, 4},
      {"gzip_under_plain_name.json", 3, 1, 2, 1, 6},
      {"json_forms.json", 3, 1, 2, 1, 6},
      {"next_row_id_too_small.json", 3, 1, 2, 1, 3},
      {"parent_minus_one.json", 3, 1, 2, 1, 6},
      {"partition_names.json", 3, 1, 2, 1, 3},
      {"refs_retention.json", 3, 1, 3, 5, 8},
      {"schema_evolved.json", 3, 18, 12, 1, 18},
      {"snapshot_first_row_id_beyond.json", 3, 1, 2, 1, 6},
      {"snapshot_log_unordered.json", 3, 1, 4, 1, 4},
      {"statistics.json", 3, 1, 3, 1, 10},
      {"types_java.json", 3, 1, 3, 1, 11},
      {"types_spark.json", 3, 2, 4, 1, 17},
      {"types_unknown.json", 3, 2, 3, 1, 4},
      {"unknown_fields.json", 3, 1, 2, 1, 6},
      {"v1_by_spark.json", 1, 1, 0, 0, 0},
      {"v1_embedded_manifests.json", 1, 1, 2, 1, 0},
      {"v1_two_snapshots.json", 1, 1, 2, 1, 0},
      {"v2_after_v1.json", 2, 1, 4, 1, 0},
      {"v3_after_upgrade.json", 3, 1, 4, 1, 0},
      {"v3_after_v1.json", 3, 1, 6, 1, 6},
  };
  fixture f;
  char name[300];
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    snprintf(name, sizeof name, "metadata_load/%s", cases[i].file);
    bl_metadata *m = load(&f, name);
    if (m->format_version != cases[i].version || m->n_schemas != cases[i].schemas ||
        m->n_snapshots != cases[i].snapshots || m->n_refs != cases[i].refs || m->next_row_id != cases[i].next_row_id)
      fail_msg("%s: version %d, %zu schemas, %zu snapshots, %zu refs, next-row-id %lld", name, m->format_version,
               m->n_schemas, m->n_snapshots, m->n_refs, (long long)m->next_row_id);
    assert_non_null(bl_metadata_current_schema(m));
    assert_non_null(bl_metadata_spec(m, m->default_spec_id));
    bl_metadata_free(m);
  }
  fixture_close(&f);
}

static void test_metadata_json__minus_one_null_and_absent_all_mean_no_snapshot(void **state) {
  (void)state;
  static const char *const files[] = {"metadata_load/empty_absent.json", "metadata_load/empty_null.json",
                                      "metadata_load/empty_minus_one.json", "metadata_load/v1_by_spark.json"};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(files); i++) {
    bl_metadata *m = load(&f, files[i]);
    assert_false(m->has_current);
    assert_null(bl_metadata_ref(m, BL_STR("main")));
    bl_metadata_free(m);
  }
  fixture_close(&f);
}

static void test_metadata_json__main_is_the_current_snapshot_where_refs_are_missing(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/parent_minus_one.json");
  const bl_ref *main = bl_metadata_ref(m, BL_STR("main"));
  assert_true(main->is_branch);
  assert_int_equal(main->snapshot_id, 7310000000000000002);
  assert_false(m->snapshots[0].has_parent);
  assert_false(m->snapshots[0].has_schema_id);
  assert_true(m->snapshots[1].has_parent);
  assert_int_equal(m->snapshots[1].parent_id, 7310000000000000001);
  assert_ptr_equal(bl_metadata_parent(m, &m->snapshots[1]), &m->snapshots[0]);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__oldest_form_of_version_1_is_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/v1_embedded_manifests.json");
  assert_int_equal(m->current_schema_id, 0);
  assert_int_equal(bl_metadata_current_schema(m)->root.n_fields, 2);
  assert_int_equal(m->n_specs, 1);
  assert_int_equal(m->specs[0].n_fields, 0);
  assert_int_equal(m->last_partition_id, 999);
  assert_int_equal(m->n_orders, 1);
  assert_int_equal(m->last_sequence_number, 0);
  const bl_snapshot *s = bl_metadata_snapshot(m, 7310000000000000002);
  assert_null(s->manifest_list.p);
  assert_int_equal(s->n_manifests, 2);
  assert_string_equal(s->manifests[1].p, "/warehouse/db/v1_embedded_manifests/metadata/m00003.avro");
  assert_int_equal(s->sequence_number, 0);
  assert_int_equal(m->snapshots[0].summary.n, 0);
  assert_string_equal(bl_snapshot_operation(&m->snapshots[0]).p, "");
  assert_string_equal(bl_snapshot_operation(s).p, "append");
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__snapshots_older_than_the_upgrade_have_no_row_ids(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/v3_after_v1.json");
  for (size_t i = 0; i < 4; i++) {
    assert_false(m->snapshots[i].has_first_row_id);
    assert_false(m->snapshots[i].has_added_rows);
  }
  assert_int_equal(m->snapshots[0].sequence_number, 0);
  assert_int_equal(m->snapshots[2].sequence_number, 1);
  assert_true(m->snapshots[4].has_first_row_id);
  assert_int_equal(m->snapshots[4].first_row_id, 0);
  assert_int_equal(m->snapshots[4].added_rows, 5);
  assert_int_equal(m->snapshots[5].first_row_id, 5);
  bl_metadata_free(m);
  m = load(&f, "metadata_load/v3_after_upgrade.json");
  assert_int_equal(m->next_row_id, 0);
  assert_true(m->has_current);
  for (size_t i = 0; i < m->n_snapshots; i++) assert_false(m->snapshots[i].has_first_row_id);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__refs_keep_their_retention_and_odd_names(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/refs_retention.json");
  const bl_ref *main = bl_metadata_ref(m, BL_STR("main")), *audit = bl_metadata_ref(m, BL_STR("audit"));
  assert_int_equal(main->min_snapshots_to_keep, 3);
  assert_int_equal(main->max_snapshot_age_ms, 432000000);
  assert_true(main->max_ref_age_ms == INT64_MAX);
  assert_true(audit->is_branch);
  assert_int_equal(audit->max_ref_age_ms, 86400000);
  const bl_ref *tag = bl_metadata_ref(m, BL_STR("v1.0"));
  assert_false(tag->is_branch);
  assert_false(tag->has_min_snapshots);
  assert_int_equal(tag->max_ref_age_ms, 604800000);
  assert_non_null(bl_metadata_ref(m, BL_STR("release/2026 \xC3\xA9t\xC3\xA9")));
  assert_int_equal(bl_metadata_ref(m, BL_STR("7310000000000000001"))->snapshot_id, 7310000000000000002);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__logs_are_kept_in_the_order_of_the_file(void **state) {
  (void)state;
  static const int64_t ids[] = {7310000000000000002, 7310000000000000001, 7310000000000000004, 7310000000000000003};
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/snapshot_log_unordered.json");
  assert_int_equal(m->n_snapshot_log, 5);
  size_t known = 0;
  for (size_t i = 0; i < m->n_snapshot_log; i++) {
    if (!bl_metadata_snapshot(m, m->snapshot_log[i].snapshot_id)) continue;
    assert_int_equal(m->snapshot_log[i].snapshot_id, ids[known]);
    known++;
  }
  assert_int_equal(known, 4);
  bl_metadata_free(m);
  m = load(&f, "metadata_load/statistics.json");
  assert_int_equal(m->n_metadata_log, 7);
  assert_string_equal(m->metadata_log[6].file.p, "/warehouse/db/statistics/metadata/v7.metadata.json");
  assert_int_equal(m->metadata_log[0].timestamp_ms, 1795980132785);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__statistics_and_keys_are_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/statistics.json");
  assert_int_equal(m->n_statistics, 2);
  assert_int_equal(m->statistics[0].snapshot_id, 3162888511182778595);
  assert_int_equal(m->statistics[0].file_size, 632);
  assert_int_equal(m->statistics[0].footer_size, 514);
  assert_int_equal(m->n_partition_statistics, 1);
  assert_int_equal(m->partition_statistics[0].file_size, 4326);
  bl_metadata_free(m);
  m = load(&f, "metadata_load/encrypted.json");
  assert_int_equal(m->n_keys, 1);
  assert_string_equal(m->keys[0].key_id.p, "k1");
  assert_string_equal(m->keys[0].encrypted_by.p, "kek");
  assert_null(m->snapshots[0].key_id.p);
  assert_string_equal(m->snapshots[1].key_id.p, "k1");
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__properties_and_escapes_are_decoded(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/json_forms.json");
  assert_string_equal(bl_pairs_get(&m->properties, "k\xC3\xA9y").p, "v\xE2\x82\xAC");
  assert_string_equal(bl_pairs_get(&m->properties, "emoji").p, "\xF0\x9F\xA7\x8A");
  assert_string_equal(bl_pairs_get(&m->properties, "esc").p, "tab\t nl\n quote\" back\\ slash/");
  assert_string_equal(bl_pairs_get(&m->properties, "empty").p, "");
  assert_null(bl_pairs_get(&m->properties, "absent").p);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__partition_field_names_are_kept(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/partition_names.json");
  const bl_partition_spec *s = bl_metadata_spec(m, 1);
  static const char *const names[] = {"a.b", "9x", "\xF0\x9F\x98\x80", "x y"};
  for (size_t i = 0; i < BL_LEN(names); i++) assert_string_equal(s->fields[i].name.p, names[i]);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__unknown_fields_stay_in_the_document(void **state) {
  (void)state;
  fixture f;
  bl_buf b;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/unknown_fields.json");
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_json_print(&b, m->json, false);
  const char *text = buf_text(f.a, &b);
  assert_non_null(strstr(text, "\"k\":9007199254740993"));
  assert_non_null(strstr(text, "\"y-top\":12345678901234567890"));
  assert_non_null(strstr(text, "\"x-snap\":[1,[2,[3]]]"));
  assert_non_null(strstr(text, "\"x-ref\":\"r\""));
  assert_non_null(strstr(text, "\"x-custom\":\"free text\""));
  assert_non_null(strstr(text, "\"x-spec\":7"));
  assert_string_equal(bl_schema_find(bl_metadata_current_schema(m), 2)->doc.p,
                      "a \"quoted\" doc with \\ and \xE2\x82\xAC");
  bl_buf_free(&b);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__defaults_of_columns_are_read(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_metadata *m = load(&f, "metadata_load/default_value.json");
  const bl_field *c = bl_schema_find_name(bl_metadata_current_schema(m), BL_STR("country"));
  assert_string_equal(c->initial_default->u.s.p, "IN");
  bl_metadata_free(m);
  m = load(&f, "metadata_load/schema_evolved.json");
  const bl_schema *s = bl_metadata_current_schema(m);
  assert_int_equal(bl_schema_find_name(s, BL_STR("c"))->initial_default->u.i, 7);
  assert_int_equal(bl_schema_find_name(s, BL_STR("c"))->write_default->u.i, 8);
  assert_true(bl_schema_find_name(s, BL_STR("dd"))->initial_default->u.dec == 150);
  assert_int_equal(bl_schema_find_name(s, BL_STR("dt"))->initial_default->u.i, 20484);
  bl_metadata_free(m);
  fixture_close(&f);
}

/* ---- one document, changed ---- */

static const char base_v3[] =
    "{\"format-version\":3,\"table-uuid\":\"f0000000-0000-4000-8000-000000000001\",\"location\":\"/t\","
    "\"last-sequence-number\":2,\"last-updated-ms\":10,\"last-column-id\":2,\"current-schema-id\":0,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"string\"}]}],"
    "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"last-partition-id\":999,"
    "\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],"
    "\"properties\":{\"k\":\"v\"},\"current-snapshot-id\":2,\"next-row-id\":6,"
    "\"refs\":{\"main\":{\"snapshot-id\":2,\"type\":\"branch\"},\"t\":{\"snapshot-id\":1,\"type\":\"tag\"}},"
    "\"snapshots\":[{\"sequence-number\":1,\"snapshot-id\":1,\"timestamp-ms\":5,\"summary\":{\"operation\":\"append\"},"
    "\"manifest-list\":\"/t/1.avro\",\"schema-id\":0,\"first-row-id\":0,\"added-rows\":4},"
    "{\"sequence-number\":2,\"snapshot-id\":2,\"parent-snapshot-id\":1,\"timestamp-ms\":6,"
    "\"summary\":{\"operation\":\"append\"},\"manifest-list\":\"/t/2.avro\",\"schema-id\":0,\"first-row-id\":4,"
    "\"added-rows\":2}],"
    "\"statistics\":[{\"snapshot-id\":1,\"statistics-path\":\"/t/s\",\"file-size-in-bytes\":9,"
    "\"file-footer-size-in-bytes\":4,\"blob-metadata\":[]}],"
    "\"partition-statistics\":[{\"snapshot-id\":1,\"statistics-path\":\"/t/p\",\"file-size-in-bytes\":9}],"
    "\"snapshot-log\":[{\"timestamp-ms\":5,\"snapshot-id\":1},{\"timestamp-ms\":6,\"snapshot-id\":2}],"
    "\"metadata-log\":[{\"timestamp-ms\":5,\"metadata-file\":\"/t/v1.metadata.json\"}],"
    "\"encryption-keys\":[{\"key-id\":\"k\",\"encrypted-key-metadata\":\"AAAA\"}]}";

static const char base_v1[] =
    "{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":10,\"last-column-id\":1,"
    "\"schema\":{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"long\"}]},"
    "\"partition-spec\":[{\"source-id\":1,\"name\":\"p\",\"transform\":\"identity\"}]}";

static bl_json *json_of(fixture *f, const char *text) {
  bl_json *v = NULL;
  test_ok(bl_json_parse(f->a, text, strlen(text), &v, &f->err), &f->err);
  return v;
}

/* The container at "snapshots.0" and the last step of the path. */
static bl_json *find_container(bl_json *v, const char *path, const char **last) {
  for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
    char step[64];
    snprintf(step, sizeof step, "%.*s", (int)(dot - path), path);
    v = (bl_json *)(v->kind == BL_J_ARRAY ? bl_json_at(v, (size_t)atoi(step)) : bl_json_get(v, step));
    assert_non_null(v);
  }
  *last = path;
  return v;
}

/* Set the member at the path to a JSON text; NULL takes it away. "+" as the last step adds an element. */
static void change(fixture *f, bl_json *doc, const char *path, const char *text) {
  const char *last;
  bl_json *in = find_container(doc, path, &last);
  if (!text) bl_json_remove(in, last);
  else if (in->kind == BL_J_ARRAY) assert_true(bl_json_push(in, json_of(f, text)));
  else assert_true(bl_json_set(f->a, in, last, json_of(f, text)));
}

static bl_status parse_changed(fixture *f, const char *base, const char *path, const char *text, bl_metadata **m) {
  bl_json *doc = json_of(f, base);
  bl_buf b;
  if (path) change(f, doc, path, text);
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_print(&b, doc, true);
  bl_status st = bl_metadata_parse(f->ctx, b.p, b.n, m, &f->err);
  bl_buf_free(&b);
  return st;
}

typedef struct changed_case {
  const char *path, *text, *words; /* text NULL: removed */
} changed_case;

static void refuse_all(const char *base, const changed_case *cases, size_t n) {
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < n; i++) {
    bl_metadata *m = NULL;
    bl_status st = parse_changed(&f, base, cases[i].path, cases[i].text, &m);
    if (st == BL_OK) fail_msg("%s = %s was taken", cases[i].path, cases[i].text ? cases[i].text : "(absent)");
    assert_refused(&f.err, st, BL_DAMAGED, cases[i].words);
  }
  fixture_close(&f);
}

static void take_all(const char *base, const changed_case *cases, size_t n) {
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < n; i++) {
    bl_metadata *m = NULL;
    bl_status st = parse_changed(&f, base, cases[i].path, cases[i].text, &m);
    if (st != BL_OK) fail_msg("%s: %s", cases[i].path ? cases[i].path : "unchanged", f.err.message);
    bl_metadata_free(m);
  }
  fixture_close(&f);
}

static void test_metadata_json__each_required_member_of_version_3_is_missed(void **state) {
  (void)state;
  static const changed_case cases[] = {
      {"format-version", NULL, "format-version is missing"},
      {"table-uuid", NULL, "table-uuid is missing"},
      {"location", NULL, "location is missing"},
      {"last-sequence-number", NULL, "last-sequence-number is missing"},
      {"last-updated-ms", NULL, "last-updated-ms is missing"},
      {"last-column-id", NULL, "last-column-id is missing"},
      {"schemas", NULL, "schemas is missing"},
      {"current-schema-id", NULL, "current-schema-id is missing"},
      {"schemas.0.schema-id", NULL, "$.schemas[0]"},
      {"partition-specs", NULL, "partition-specs is missing"},
      {"default-spec-id", NULL, "default-spec-id is missing"},
      {"partition-specs.0.spec-id", NULL, "spec-id is missing"},
      {"partition-specs.0.fields", NULL, "fields is missing"},
      {"last-partition-id", NULL, "last-partition-id is missing"},
      {"sort-orders", NULL, "sort-orders is missing"},
      {"default-sort-order-id", NULL, "default-sort-order-id is missing"},
      {"sort-orders.0.order-id", NULL, "order-id is missing"},
      {"next-row-id", NULL, "next-row-id is missing"},
      {"next-row-id", "null", "next-row-id is missing"},
      {"snapshots.1.snapshot-id", NULL, "$.snapshots[1]"},
      {"snapshots.1.timestamp-ms", NULL, "timestamp-ms is missing"},
      {"snapshots.1.manifest-list", NULL, "manifest-list is missing"},
      {"refs.t.snapshot-id", NULL, "$.refs.t"},
      {"refs.t.type", NULL, "type is missing"},
      {"snapshot-log.0.snapshot-id", NULL, "$.snapshot-log[0]"},
      {"metadata-log.0.metadata-file", NULL, "metadata-file is missing"},
      {"statistics.0.statistics-path", NULL, "statistics-path is missing"},
      {"statistics.0.file-footer-size-in-bytes", NULL, "file-footer-size-in-bytes is missing"},
      {"partition-statistics.0.file-size-in-bytes", NULL, "file-size-in-bytes is missing"},
      {"encryption-keys.0.key-id", NULL, "key-id is missing"},
  };
  refuse_all(base_v3, cases, BL_LEN(cases));
}

static void test_metadata_json__wrong_members_are_named(void **state) {
  (void)state;
  static const changed_case cases[] = {
      {"format-version", "3.0", "$.format-version"},
      {"format-version", "-1", "format version -1"},
      {"table-uuid", "7", "$.table-uuid"},
      {"location", "null", "$.location"},
      {"last-sequence-number", "-1", "negative"},
      {"last-sequence-number", "1e3", "$.last-sequence-number"},
      {"last-updated-ms", "\"5\"", "$.last-updated-ms"},
      {"last-column-id", "2147483648", "$.last-column-id"},
      {"properties", "[]", "$.properties"},
      {"properties.k", "5", "$.properties.k"},
      {"properties.k", "null", "$.properties.k"},
      {"schemas", "{}", "$.schemas"},
      {"schemas", "[]", "no schema has the current-schema-id 0"},
      {"current-schema-id", "7", "current-schema-id 7"},
      {"default-spec-id", "7", "default-spec-id 7"},
      {"default-sort-order-id", "7", "default-sort-order-id 7"},
      {"schemas.0.identifier-field-ids", "[9]", "identifier-field-ids names 9"},
      {"partition-specs.+", "{\"spec-id\":0,\"fields\":[]}", "spec-id 0 is there twice"},
      {"sort-orders.+", "{\"order-id\":0,\"fields\":[]}", "order-id 0 is there twice"},
      {"schemas.+", "{\"type\":\"struct\",\"schema-id\":0,\"fields\":[]}", "$.schemas[1]"},
      {"schemas.+",
       "{\"type\":\"struct\",\"schema-id\":1,\"fields\":[{\"id\":2147483448,\"name\":\"x\",\"required\":false,"
       "\"type\":\"int\"}]}",
       "2147483448"},
      {"snapshots.1.snapshot-id", "1", "snapshot-id 1 is there twice"},
      {"snapshots.1.snapshot-id", "9223372036854775808", "$.snapshots[1].snapshot-id"},
      {"snapshots.1.sequence-number", "-1", "negative"},
      {"snapshots.1.first-row-id", "-4", "first-row-id"},
      {"snapshots.1.added-rows", "-4", "added-rows"},
      {"snapshots.1.added-rows", "2.5", "added-rows"},
      {"snapshots.1.summary.x", "5", "$.snapshots[1].summary.x"},
      {"snapshots.1.manifest-list", "[]", "manifest-list"},
      {"snapshots.0.parent-snapshot-id", "2", "cycle"},
      {"snapshots.0.parent-snapshot-id", "1", "cycle"},
      {"current-snapshot-id", "3", "current-snapshot-id 3"},
      {"current-snapshot-id", "1", "current-snapshot-id is 1"},
      {"current-snapshot-id", "-1", "there is no current-snapshot-id"},
      {"current-snapshot-id", NULL, "there is no current-snapshot-id"},
      {"refs.main.type", "\"tag\"", "main must be a branch"},
      {"refs.t.type", "\"label\"", "\"label\""},
      {"refs.t.snapshot-id", "77", "77"},
      {"refs.t.max-ref-age-ms", "0", "max-ref-age-ms"},
      {"refs.main.min-snapshots-to-keep", "0", "min-snapshots-to-keep"},
      {"refs.main.max-snapshot-age-ms", "-5", "max-snapshot-age-ms"},
      {"refs.main.min-snapshots-to-keep", "2147483648", "min-snapshots-to-keep"},
      {"refs.t", "5", "$.refs.t"},
      {"statistics.0.file-size-in-bytes", "-1", "negative"},
  };
  refuse_all(base_v3, cases, BL_LEN(cases));
}

static void test_metadata_json__what_may_be_absent_or_different_is_taken(void **state) {
  (void)state;
  static const changed_case cases[] = {
      {NULL, NULL, NULL},
      {"properties", NULL, NULL},
      {"properties", "null", NULL},
      {"refs", NULL, NULL},
      {"refs", "null", NULL},
      {"refs", "{}", NULL},
      {"snapshot-log", NULL, NULL},
      {"metadata-log", "null", NULL},
      {"statistics", NULL, NULL},
      {"partition-statistics", NULL, NULL},
      {"encryption-keys", NULL, NULL},
      {"snapshots.1.sequence-number", NULL, NULL},
      {"snapshots.1.summary", NULL, NULL},
      {"snapshots.1.schema-id", NULL, NULL},
      {"snapshots.1.schema-id", "99", NULL},
      {"snapshots.1.first-row-id", NULL, NULL},
      {"snapshots.1.first-row-id", "1000", NULL},
      {"snapshots.1.added-rows", "0", NULL},
      {"snapshots.1.parent-snapshot-id", NULL, NULL},
      {"snapshots.1.parent-snapshot-id", "null", NULL},
      {"snapshots.1.parent-snapshot-id", "-1", NULL},
      {"snapshots.1.parent-snapshot-id", "12345", NULL},
      {"snapshots.1.x-foo", "{\"deep\":[1e400]}", NULL},
      {"snapshot-log.0.snapshot-id", "99", NULL},
      {"next-row-id", "0", NULL},
      {"next-row-id", "9223372036854775807", NULL},
      {"x-unknown", "99999999999999999999999999", NULL},
      {"schema", "\"not looked at\"", NULL},
      {"sort-orders", "[]", NULL},
      {"last-column-id", "0", NULL},
      {"schemas.+",
       "{\"type\":\"struct\",\"schema-id\":1,\"fields\":[{\"id\":2147483447,\"name\":\"x\",\"required\":false,"
       "\"type\":\"int\"}]}",
       NULL},
      {"partition-specs.+",
       "{\"spec-id\":1,\"fields\":[{\"source-ids\":[1,2],\"field-id\":1000,\"name\":\"z\",\"transform\":\"zorder\"}]}",
       NULL},
  };
  take_all(base_v3, cases, BL_LEN(cases));
}

static void test_metadata_json__a_user_column_may_be_named_like_a_metadata_column(void **state) {
  (void)state;
  fixture f;
  bl_metadata *m;
  fixture_open(&f);
  test_ok(parse_changed(&f, base_v3, "schemas.0.fields.1.name", "\"_row_id\"", &m), &f.err);
  assert_int_equal(bl_schema_find_name(bl_metadata_current_schema(m), BL_STR("_row_id"))->id, 2);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__a_missing_sequence_number_is_0(void **state) {
  (void)state;
  fixture f;
  bl_metadata *m;
  fixture_open(&f);
  test_ok(parse_changed(&f, base_v3, "snapshots.1.sequence-number", NULL, &m), &f.err);
  assert_int_equal(m->snapshots[1].sequence_number, 0);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__inline_manifests_survive_an_upgrade_but_a_list_wins(void **state) {
  (void)state;
  fixture f;
  bl_metadata *m;
  fixture_open(&f);
  test_ok(parse_changed(&f, base_v3, "snapshots.0.manifests", "[\"/t/m.avro\"]", &m), &f.err);
  assert_int_equal(m->snapshots[0].n_manifests, 0);
  assert_string_equal(m->snapshots[0].manifest_list.p, "/t/1.avro");
  bl_metadata_free(m);
  bl_json *doc = json_of(&f, base_v3);
  bl_buf b;
  change(&f, doc, "snapshots.0.manifest-list", NULL);
  change(&f, doc, "snapshots.0.manifests", "[\"/t/m.avro\"]");
  bl_buf_init(&b, f.ctx, BL_BUF_MAX);
  bl_json_print(&b, doc, false);
  test_ok(bl_metadata_parse(f.ctx, b.p, b.n, &m, &f.err), &f.err);
  assert_null(m->snapshots[0].manifest_list.p);
  assert_int_equal(m->snapshots[0].n_manifests, 1);
  bl_metadata_free(m);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_metadata_json__version_1_needs_little(void **state) {
  (void)state;
  static const changed_case taken[] = {
      {NULL, NULL, NULL},
      {"table-uuid", "\"x\"", NULL},
      {"current-snapshot-id", "-1", NULL},
      {"last-sequence-number", "7", NULL},
      {"refs", "{}", NULL},
      {"schemas", "[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[]}]", NULL},
      {"partition-specs", "[{\"spec-id\":0,\"fields\":[]}]", NULL},
      {"sort-orders", "[{\"order-id\":1,\"fields\":[]}]", NULL},
      {"next-row-id", "-7", NULL},
      {"current-schema-id", "3", NULL},
  };
  static const changed_case refused[] = {
      {"location", NULL, "location is missing"},
      {"schema", NULL, "schema is missing"},
      {"partition-spec", NULL, "partition-spec is missing"},
      {"last-updated-ms", NULL, "last-updated-ms is missing"},
      {"last-column-id", NULL, "last-column-id is missing"},
      {"schema.schema-id", "\"0\"", "$.schema.schema-id"},
      {"partition-spec", "{}", "$.partition-spec"},
      {"schemas", "[{\"type\":\"struct\",\"fields\":[]}]", "schema-id is missing"},
      {"schemas", "[{\"type\":\"struct\",\"schema-id\":5,\"fields\":[]}]", "current-schema-id 0"},
      {"partition-specs", "[{\"spec-id\":4,\"fields\":[]}]", "default-spec-id 0"},
  };
  take_all(base_v1, taken, BL_LEN(taken));
  refuse_all(base_v1, refused, BL_LEN(refused));
}

static void test_metadata_json__version_1_partition_fields_get_ids(void **state) {
  (void)state;
  fixture f;
  bl_metadata *m;
  fixture_open(&f);
  test_ok(parse_changed(&f, base_v1, NULL, NULL, &m), &f.err);
  assert_null(m->uuid.p);
  assert_int_equal(m->specs[0].fields[0].field_id, 1000);
  assert_int_equal(m->last_partition_id, 1000);
  assert_false(m->has_current);
  bl_metadata_free(m);
  fixture_close(&f);
}

static void test_metadata_json__fields_of_version_3_mean_nothing_before(void **state) {
  (void)state;
  static const changed_case cases[] = {{"next-row-id", NULL, NULL}, {"next-row-id", "-5", NULL}};
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    bl_json *doc = json_of(&f, base_v3);
    bl_metadata *m;
    bl_buf b;
    change(&f, doc, "format-version", "2");
    change(&f, doc, cases[i].path, cases[i].text);
    bl_buf_init(&b, f.ctx, BL_BUF_MAX);
    bl_json_print(&b, doc, false);
    test_ok(bl_metadata_parse(f.ctx, b.p, b.n, &m, &f.err), &f.err);
    assert_int_equal(m->next_row_id, 0);
    bl_metadata_free(m);
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

/* ---- parents ---- */

/* The snapshots of `parents`: parent i of snapshot i + 1, 0 = none. */
static bl_status parse_parents(fixture *f, const int *parents, size_t n) {
  bl_json *doc = json_of(f, base_v3), *list = bl_json_new(f->a, BL_J_ARRAY);
  bl_metadata *m = NULL;
  bl_buf b;
  for (size_t i = 0; i < n; i++) {
    bl_json *s = json_of(f, "{\"snapshot-id\":0,\"timestamp-ms\":1,\"manifest-list\":\"/t/x\"}");
    assert_true(bl_json_set(f->a, s, "snapshot-id", bl_json_new_i64(f->a, (int64_t)i + 1)));
    if (parents[i]) assert_true(bl_json_set(f->a, s, "parent-snapshot-id", bl_json_new_i64(f->a, parents[i])));
    assert_true(bl_json_push(list, s));
  }
  assert_true(bl_json_set(f->a, doc, "snapshots", list));
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_json_print(&b, doc, false);
  bl_status st = bl_metadata_parse(f->ctx, b.p, b.n, &m, &f->err);
  bl_buf_free(&b);
  bl_metadata_free(m);
  return st;
}

static void test_metadata_json__only_true_cycles_of_parents_are_refused(void **state) {
  (void)state;
  static const int chain[] = {0, 1, 2, 3}, backwards[] = {2, 3, 4, 0}, tree[] = {0, 1, 1, 2, 2, 3},
                   expired[] = {99, 1, 98}, late[] = {0, 1, 5, 3, 4}, two[] = {2, 1}, self[] = {0, 2, 2},
                   tail[] = {2, 3, 4, 2};
  fixture f;
  fixture_open(&f);
  test_ok(parse_parents(&f, chain, BL_LEN(chain)), &f.err);
  test_ok(parse_parents(&f, backwards, BL_LEN(backwards)), &f.err);
  test_ok(parse_parents(&f, tree, BL_LEN(tree)), &f.err);
  test_ok(parse_parents(&f, expired, BL_LEN(expired)), &f.err);
  assert_refused(&f.err, parse_parents(&f, late, BL_LEN(late)), BL_DAMAGED, "cycle");
  assert_refused(&f.err, parse_parents(&f, two, BL_LEN(two)), BL_DAMAGED, "cycle");
  assert_refused(&f.err, parse_parents(&f, self, BL_LEN(self)), BL_DAMAGED, "snapshot 2: a cycle");
  assert_refused(&f.err, parse_parents(&f, tail, BL_LEN(tail)), BL_DAMAGED, "cycle");
  fixture_close(&f);
}

/* ---- bytes ---- */

static void test_metadata_json__every_beginning_of_a_document_is_refused(void **state) {
  (void)state;
  fixture f;
  bl_metadata *m;
  fixture_open(&f);
  for (size_t n = 0; n < sizeof base_v3 - 1; n++)
    assert_refused(&f.err, bl_metadata_parse(f.ctx, base_v3, n, &m, &f.err), BL_DAMAGED, "JSON");
  fixture_close(&f);
}

static void test_metadata_json__sizes_are_bounded_by_the_context(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_error err = BL_ERROR_INIT;
  bl_metadata *m;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = sizeof base_v3 - 2;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  assert_refused(&err, bl_metadata_parse(ctx, base_v3, sizeof base_v3 - 1, &m, &err), BL_DAMAGED, "limit");
  uint8_t packed[2000] = {0};
  z_stream z = {.next_in = (Bytef *)(uintptr_t)base_v3,
                .avail_in = sizeof base_v3 - 1,
                .next_out = packed,
                .avail_out = sizeof packed};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  assert_refused(&err, bl_metadata_parse(ctx, packed, z.total_out, &m, &err), BL_DAMAGED, "limit");
  test_ctx_free(ctx);
}

static bl_status parse_and_drop(bl_ctx *ctx, void *text, bl_error *err) {
  bl_metadata *m = NULL;
  bl_status st = bl_metadata_parse(ctx, text, strlen(text), &m, err);
  if (st == BL_OK) assert_int_equal(m->n_snapshots, 2);
  bl_metadata_free(m);
  return st;
}

static void test_metadata_json__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  static char text[sizeof base_v3];
  memcpy(text, base_v3, sizeof text);
  test_fail_each(parse_and_drop, text);
}

/* ---- many snapshots ---- */

static void build_history(bl_buf *b, int n) {
  bl_buf_add(b, base_v3, (size_t)(strstr(base_v3, "\"current-snapshot-id\"") - base_v3));
  bl_buf_printf(b, "\"current-snapshot-id\":%d,\"next-row-id\":%d,\"snapshots\":[", n, n);
  for (int i = 1; i <= n; i++) {
    bl_buf_printf(b, "%s{\"sequence-number\":%d,\"snapshot-id\":%d,", i > 1 ? "," : "", i, i);
    if (i > 1) bl_buf_printf(b, "\"parent-snapshot-id\":%d,", i - 1);
    bl_buf_printf(b, "\"timestamp-ms\":%d,\"manifest-list\":\"/t/%d.avro\",\"summary\":{\"operation\":\"append\"", i,
                  i);
    for (int j = 0; j < 20; j++) bl_buf_printf(b, ",\"total-something-%d\":\"%d\"", j, i * j);
    bl_buf_printf(b, "},\"first-row-id\":%d,\"added-rows\":1}", i - 1);
  }
  bl_buf_cstr(b, "],\"snapshot-log\":[");
  for (int i = 1; i <= n; i++) bl_buf_printf(b, "%s{\"timestamp-ms\":%d,\"snapshot-id\":%d}", i > 1 ? "," : "", i, i);
  bl_buf_cstr(b, "]}");
}

/* Milliseconds of processor time. */
static double parse_time(fixture *f, int n) {
  bl_buf b;
  bl_metadata *m;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  build_history(&b, n);
  clock_t begin = clock();
  test_ok(bl_metadata_parse(f->ctx, b.p, b.n, &m, &f->err), &f->err);
  double ms = (double)(clock() - begin) * 1000 / CLOCKS_PER_SEC;
  for (int i = 1; i <= n; i++) assert_int_equal(bl_metadata_snapshot(m, i)->sequence_number, i);
  assert_true(bl_metadata_is_ancestor(m, 1, n));
  bl_metadata_free(m);
  bl_buf_free(&b);
  return ms;
}

static void test_metadata_json__time_grows_with_the_history_not_with_its_square(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  double small = parse_time(&f, 1001), big = parse_time(&f, 16 * 1001);
  if (big > 80 * (small + 1)) fail_msg("1,001 snapshots: %.1f ms; 16 times as many: %.1f ms", small, big);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metadata_json__broken_files_are_refused_by_name),
      cmocka_unit_test(test_metadata_json__unusual_files_load),
      cmocka_unit_test(test_metadata_json__minus_one_null_and_absent_all_mean_no_snapshot),
      cmocka_unit_test(test_metadata_json__main_is_the_current_snapshot_where_refs_are_missing),
      cmocka_unit_test(test_metadata_json__oldest_form_of_version_1_is_read),
      cmocka_unit_test(test_metadata_json__snapshots_older_than_the_upgrade_have_no_row_ids),
      cmocka_unit_test(test_metadata_json__refs_keep_their_retention_and_odd_names),
      cmocka_unit_test(test_metadata_json__logs_are_kept_in_the_order_of_the_file),
      cmocka_unit_test(test_metadata_json__statistics_and_keys_are_read),
      cmocka_unit_test(test_metadata_json__properties_and_escapes_are_decoded),
      cmocka_unit_test(test_metadata_json__partition_field_names_are_kept),
      cmocka_unit_test(test_metadata_json__a_user_column_may_be_named_like_a_metadata_column),
      cmocka_unit_test(test_metadata_json__unknown_fields_stay_in_the_document),
      cmocka_unit_test(test_metadata_json__defaults_of_columns_are_read),
      cmocka_unit_test(test_metadata_json__each_required_member_of_version_3_is_missed),
      cmocka_unit_test(test_metadata_json__wrong_members_are_named),
      cmocka_unit_test(test_metadata_json__what_may_be_absent_or_different_is_taken),
      cmocka_unit_test(test_metadata_json__a_missing_sequence_number_is_0),
      cmocka_unit_test(test_metadata_json__inline_manifests_survive_an_upgrade_but_a_list_wins),
      cmocka_unit_test(test_metadata_json__version_1_needs_little),
      cmocka_unit_test(test_metadata_json__version_1_partition_fields_get_ids),
      cmocka_unit_test(test_metadata_json__fields_of_version_3_mean_nothing_before),
      cmocka_unit_test(test_metadata_json__only_true_cycles_of_parents_are_refused),
      cmocka_unit_test(test_metadata_json__every_beginning_of_a_document_is_refused),
      cmocka_unit_test(test_metadata_json__sizes_are_bounded_by_the_context),
      cmocka_unit_test(test_metadata_json__every_failing_allocation_gives_no_memory),
      cmocka_unit_test(test_metadata_json__time_grows_with_the_history_not_with_its_square),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
