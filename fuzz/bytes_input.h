/* bytes_input.h: bytes as an input of the readers of rows, and a schema with columns of every kind. The first byte says
 * whether extra columns are wanted. */
#ifndef BL_FUZZ_BYTES_INPUT_H
#define BL_FUZZ_BYTES_INPUT_H

#include <stdlib.h>

#include "format/metadata_json.h"
#include "rows/stream.h"
#include "write/input.h"

typedef struct bytes_input {
  bl_input in;
  const uint8_t *p;
} bytes_input;

static bl_status bytes_read(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  const bytes_input *b = (const bytes_input *)in;
  if (offset < 0 || offset > in->size || (int64_t)n > in->size - offset) return bl_fail(err, BL_IO, "a short read");
  memcpy(out, b->p + offset, n);
  return BL_OK;
}

static void bytes_close(bl_input *in) {
  (void)in;
}

static const char fuzz_schema[] =
    "{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"b\",\"required\":false,\"type\":\"boolean\"},"
    "{\"id\":2,\"name\":\"i\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":3,\"name\":\"f\",\"required\":false,\"type\":\"float\"},"
    "{\"id\":4,\"name\":\"d\",\"required\":false,\"type\":\"decimal(9,2)\"},"
    "{\"id\":5,\"name\":\"t\",\"required\":false,\"type\":\"timestamptz_ns\"},"
    "{\"id\":6,\"name\":\"s\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":7,\"name\":\"u\",\"required\":false,\"type\":\"uuid\"},"
    "{\"id\":8,\"name\":\"y\",\"required\":false,\"type\":\"binary\"},"
    "{\"id\":9,\"name\":\"v\",\"required\":false,\"type\":\"variant\"},"
    "{\"id\":10,\"name\":\"st\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"id\":11,\"name\":\"a\",\"required\":true,\"type\":\"int\"}]}},"
    "{\"id\":12,\"name\":\"li\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":13,\"element-required\":"
    "false,"
    "\"element\":\"date\"}},"
    "{\"id\":14,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":15,\"key\":\"string\",\"value-"
    "id\":16,"
    "\"value-required\":false,\"value\":\"double\"}}]}";

typedef bl_status (*fuzz_reader)(bl_ctx *ctx, const bl_schema *schema, bl_input *in, const char *name, bool extra,
                                 struct ArrowArrayStream *out, bl_error *err);

static void drain(struct ArrowArrayStream *s) {
  for (;;) {
    struct ArrowArray batch;
    if (bl_stream_next(s, &batch, NULL) != BL_OK || !batch.release) break;
    batch.release(&batch);
  }
  bl_stream_release(s);
}

static int fuzz_rows(const uint8_t *p, size_t n, fuzz_reader read) {
  bl_ctx *ctx;
  bl_arena *a;
  bl_json *v;
  bl_schema schema;
  struct ArrowArrayStream s;
  if (n == 0) return 0;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK || bl_arena_new(ctx, &a, NULL) != BL_OK) abort();
  if (bl_json_parse(a, fuzz_schema, sizeof fuzz_schema - 1, &v, NULL) != BL_OK) abort();
  if (bl_schema_from_json(a, v, &schema, NULL) != BL_OK) abort();
  bytes_input in = {.in = {.size = (int64_t)n - 1, .read_at = bytes_read, .close = bytes_close}, .p = p + 1};
  if (read(ctx, &schema, &in.in, "bytes", p[0] & 1, &s, NULL) == BL_OK) drain(&s);
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}

#endif
