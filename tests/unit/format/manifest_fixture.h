/* manifest_fixture.h: what the tests of manifests share: table metadata from a few words, entries, reading what was
 * just written, and copies of other writers' files in tests/fixtures/manifest. */
#ifndef BL_TESTS_UNIT_MANIFEST_FIXTURE_H
#define BL_TESTS_UNIT_MANIFEST_FIXTURE_H

#include "arena_fixture.h"
#include "format/manifest_avro.h"
#include "format/metadata_json.h"

#define PLAIN_FIELDS                                                                                                   \
  "{\"id\":1,\"name\":\"id\",\"required\":false,\"type\":\"long\"},"                                                   \
  "{\"id\":2,\"name\":\"name\",\"required\":false,\"type\":\"string\"}"

/* A table of one schema with these fields and the spec 0 with these partition fields. */
static inline bl_metadata *table_of(fixture *f, int version, const char *fields, const char *partition) {
  bl_buf b;
  bl_metadata *md;
  bl_buf_init(&b, f->ctx, BL_BUF_MAX);
  bl_buf_printf(&b,
                "{\"format-version\":%d,\"table-uuid\":\"00000000-0000-4000-8000-000000000001\",\"location\":\"/t\","
                "\"last-updated-ms\":1,\"last-column-id\":100,\"last-sequence-number\":9,\"last-partition-id\":2000,"
                "\"schema\":{\"type\":\"struct\",\"schema-id\":0,\"fields\":[%s]},\"partition-spec\":[%s],"
                "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[%s]}],\"current-schema-id\":0,"
                "\"partition-specs\":[{\"spec-id\":0,\"fields\":[%s]}],\"default-spec-id\":0,"
                "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,\"next-row-id\":1000}",
                version, fields, partition, fields, partition);
  assert_false(b.failed);
  test_ok(bl_metadata_parse(f->ctx, b.p, b.n, &md, &f->err), &f->err);
  bl_buf_free(&b);
  return md;
}

static inline void *fixture_file(const char *name, size_t *n) {
  char relative[200];
  snprintf(relative, sizeof relative, "tests/fixtures/manifest/%s.avro", name);
  char *path = test_path(relative);
  void *p = test_read(path, n);
  free(path);
  return p;
}

static inline bl_manifest_file manifest_of(bl_manifest_content content, int64_t sequence_number, int64_t first_row_id) {
  return (bl_manifest_file){.path = BL_STR("/t/metadata/m0.avro"),
                            .content = content,
                            .sequence_number = sequence_number,
                            .added_snapshot_id = 77,
                            .first_row_id = first_row_id};
}

typedef struct entries {
  bl_manifest_entry *items;
  size_t n;
} entries;

static inline bl_status read_with(fixture *f, const bl_metadata *md, const void *p, size_t n, const bl_manifest_file *m,
                                  bool metrics, entries *out) {
  bl_manifest_read_options o = {.metadata = md, .metrics = metrics};
  return bl_manifest_read(f->ctx, f->a, p, n, m, &o, &out->items, &out->n, &f->err);
}

static inline bl_status read_fixture(fixture *f, const bl_metadata *md, const char *name, const bl_manifest_file *m,
                                     entries *out) {
  size_t n;
  void *p = fixture_file(name, &n);
  bl_status st = read_with(f, md, p, n, m, true, out);
  free(p);
  return st;
}

/* An entry of a data file without metrics and partition. */
static inline bl_manifest_entry entry_of(bl_entry_status status, const char *path, int64_t rows, int64_t first_row_id) {
  return (bl_manifest_entry){.status = status,
                             .snapshot_id = 5,
                             .sequence_number = status == BL_ADDED ? BL_NONE : 3,
                             .file_sequence_number = status == BL_ADDED ? BL_NONE : 3,
                             .stored_first_row_id = first_row_id,
                             .file = {.format = BL_FORMAT_PARQUET,
                                      .path = bl_str_of(path),
                                      .record_count = rows,
                                      .file_size = 1000,
                                      .sort_order_id = -1,
                                      .content_offset = BL_NONE,
                                      .content_size = BL_NONE,
                                      .first_row_id = BL_NONE}};
}

static inline bl_buf write_entries(fixture *f, const bl_metadata *md, bl_manifest_content content,
                                   const bl_manifest_entry *e, size_t n) {
  const bl_manifest_entry *list[64];
  bl_buf out;
  assert_true(n <= 64);
  for (size_t i = 0; i < n; i++) list[i] = &e[i];
  test_ok(bl_manifest_write(f->ctx, md, 0, 0, content, list, n, &out, &f->err), &f->err);
  return out;
}

static inline void assert_text(bl_str s, const char *want) {
  assert_non_null(s.p);
  assert_string_equal(s.p, want);
  assert_int_equal(s.n, strlen(want));
}

#endif
