/* fuzz_staged.c: any bytes as the description of a staged change: what is taken is printed to one that is taken again,
 * as the same text but for its id, and holds no position outside its file. */
#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "write/staged.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

static const char table[] =
    "{\"format-version\":3,\"table-uuid\":\"6f3c5d0e-91d4-4f0c-8a2e-0d8b6a6f1c11\",\"location\":\"/t\","
    "\"last-sequence-number\":2,\"last-updated-ms\":1700000000000,\"last-column-id\":3,\"next-row-id\":10,"
    "\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"p\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":3,\"name\":\"s\",\"required\":false,\"type\":\"string\"}]}],"
    "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":["
    "{\"name\":\"p\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000}]}],\"last-partition-id\":1000,"
    "\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"properties\":{},\"snapshots\":[]}";

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void check_vectors(const bl_staged *s) {
  for (size_t i = 0; i < s->n_vectors; i++) {
    const bl_staged_vector *v = &s->vectors[i];
    MUST(v->added);
    for (size_t k = 0; k < i; k++) MUST(!bl_str_eq(v->data->file.path, s->vectors[k].data->file.path));
  }
  for (size_t i = 0; i < s->n_data; i++) MUST(s->data[i].first_row_id == BL_NONE); /* W1 */
}

/* The text is freed by bl_buf_free. */
static void print(bl_table *t, bl_staged *s, bl_buf *out) {
  bl_buf_init(out, t->ctx, BL_BUF_MAX);
  MUST(s->n_ids == 1); /* then it keeps its id */
  MUST(bl_staged_to_json(s, t, out, NULL) == BL_OK);
}

static void take(bl_table *t, const uint8_t *p, size_t n) {
  bl_staged *s, *again;
  bl_error err = BL_ERROR_INIT;
  bl_buf one, two;
  bl_status st = bl_staged_from_json(t, (const char *)p, n, &s, &err);
  if (st != BL_OK) {
    MUST(!s && err.status == st && err.message[0]);
    MUST(st == BL_USAGE || st == BL_UNSUPPORTED);
    return;
  }
  check_vectors(s);
  print(t, s, &one);
  MUST(bl_staged_from_json(t, (const char *)one.p, one.n, &again, NULL) == BL_OK);
  print(t, again, &two);
  MUST(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
  bl_buf_free(&one);
  bl_buf_free(&two);
  bl_staged_free(again);
  bl_staged_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_table *t;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  MUST(bl_table_from_metadata(ctx, table, sizeof table - 1, NULL, &t, NULL) == BL_OK);
  take(t, p, n);
  bl_table_free(t);
  bl_ctx_free(ctx);
  return 0;
}
