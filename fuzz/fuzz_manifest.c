/* fuzz_manifest.c: any bytes as a manifest of data or of deletes. What is read must fit the manifest, and what was read
 * of data can be written and gives the same entries again. */
#include <stdlib.h>
#include <string.h>

#include "format/manifest_avro.h"
#include "format/metadata_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static const char table[] =
    "{\"format-version\":3,\"table-uuid\":\"00000000-0000-4000-8000-000000000001\",\"location\":\"/t\","
    "\"last-updated-ms\":1,\"last-column-id\":9,\"last-sequence-number\":9,\"last-partition-id\":1004,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"region\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":3,\"name\":\"amount\",\"required\":false,\"type\":\"decimal(9, 2)\"},"
    "{\"id\":5,\"name\":\"ts\",\"required\":false,\"type\":\"timestamptz\"}]}],\"current-schema-id\":0,"
    "\"partition-specs\":[{\"spec-id\":0,\"fields\":["
    "{\"name\":\"p\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1000},"
    "{\"name\":\"m\",\"transform\":\"month\",\"source-id\":5,\"field-id\":1002},"
    "{\"name\":\"r\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1003},"
    "{\"name\":\"a\",\"transform\":\"truncate[3]\",\"source-id\":3,\"field-id\":1004}]}],\"default-spec-id\":0,"
    "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,\"next-row-id\":1000}";

typedef struct job {
  bl_ctx *ctx;
  bl_arena *a;
  bl_metadata *md;
  bl_manifest_file m;
  bl_manifest_entry *entries;
  size_t n;
} job;

static bl_status read_bytes(job *j, const void *p, size_t n) {
  bl_manifest_read_options o = {.metadata = j->md, .metrics = true};
  return bl_manifest_read(j->ctx, j->a, p, n, &j->m, &o, &j->entries, &j->n, NULL);
}

static void check_entries(const job *j) {
  for (size_t i = 0; i < j->n; i++) {
    const bl_data_file *f = &j->entries[i].file;
    if (f->record_count < 0 || f->n_partition != 4 || strlen(f->path.p) > f->path.n) abort();
    if ((f->content == BL_FILE_DATA) != (j->m.content == BL_MANIFEST_DATA)) abort();
    for (size_t k = 1; k < f->n_metrics; k++)
      if (f->metrics[k - 1].id >= f->metrics[k].id) abort();
  }
}

static void write_again(job *j) {
  bl_buf out;
  bl_manifest_entry *before = j->entries;
  size_t n = j->n;
  const bl_manifest_entry **list = bl_arena_alloc(j->a, n, sizeof *list);
  if (!list) return;
  for (size_t i = 0; i < n; i++) list[i] = &before[i];
  if (bl_manifest_write(j->ctx, j->md, 0, 0, j->m.content, list, n, &out, NULL) != BL_OK) return;
  if (read_bytes(j, out.p, out.n) == BL_OK) {
    if (j->n != n) abort();
    for (size_t i = 0; i < n; i++) {
      const bl_data_file *x = &before[i].file, *y = &j->entries[i].file;
      if (!bl_str_eq(x->path, y->path) || x->record_count != y->record_count || x->n_metrics != y->n_metrics) abort();
      if (!bl_tuple_same(x->partition, x->n_partition, y->partition, y->n_partition)) abort();
    }
  }
  bl_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx_options o;
  job j = {0};
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 4 << 20;
  if (bl_ctx_new(&o, &j.ctx, NULL) != BL_OK) return 0;
  for (int content = 0; content < 2; content++) {
    j.m = (bl_manifest_file){.path = BL_STR("m"),
                             .content = content,
                             .sequence_number = 3,
                             .added_snapshot_id = 1,
                             .first_row_id = content ? BL_NONE : 100};
    if (bl_arena_new(j.ctx, &j.a, NULL) != BL_OK) break;
    if (bl_metadata_parse(j.ctx, table, sizeof table - 1, &j.md, NULL) != BL_OK) abort();
    if (read_bytes(&j, p, n) == BL_OK) {
      check_entries(&j);
      write_again(&j);
    }
    bl_metadata_free(j.md);
    bl_arena_free(j.a);
  }
  bl_ctx_free(j.ctx);
  return 0;
}
