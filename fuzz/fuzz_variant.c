/* fuzz_variant.c: any bytes as a variant: one byte with the length of the metadata, metadata, value. What prints must
 * also be built anew, and what was built must build to the same bytes again. */
#include <stdlib.h>

#include "format/variant.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

typedef struct encoded {
  bl_buf metadata, value;
} encoded;

static bl_str text(const bl_buf *b) {
  return (bl_str){(const char *)b->p, b->n};
}

static bl_status build(bl_ctx *ctx, bl_str metadata, bl_str value, encoded *out) {
  bl_variant_builder *v;
  bl_buf_init(&out->metadata, ctx, BL_BUF_MAX);
  bl_buf_init(&out->value, ctx, BL_BUF_MAX);
  bl_status st = bl_variant_builder_new(ctx, &v, NULL);
  if (st == BL_OK) st = bl_variant_put_encoded(v, metadata, value, NULL);
  if (st == BL_OK) st = bl_variant_finish(v, &out->metadata, &out->value, NULL);
  bl_variant_builder_free(v);
  return st;
}

static void both(bl_ctx *ctx, bl_str metadata, bl_str value) {
  bl_buf json;
  encoded one, two;
  bl_buf_init(&json, ctx, BL_BUF_MAX);
  bl_status printed = bl_variant_print(ctx, metadata, value, &json, NULL);
  if (build(ctx, metadata, value, &one) == BL_OK) {
    bl_buf again;
    bl_buf_init(&again, ctx, BL_BUF_MAX);
    if (printed != BL_OK || bl_variant_print(ctx, text(&one.metadata), text(&one.value), &again, NULL) != BL_OK)
      abort();
    if (build(ctx, text(&one.metadata), text(&one.value), &two) != BL_OK) abort();
    if (again.n != json.n || !bl_str_eq(text(&one.value), text(&two.value))) abort();
    bl_buf_free(&two.metadata);
    bl_buf_free(&two.value);
    bl_buf_free(&again);
  } else if (printed == BL_OK) {
    abort();
  }
  bl_buf_free(&one.metadata);
  bl_buf_free(&one.value);
  bl_buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  if (n == 0 || p[0] > n - 1) return 0;
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 1 << 20;
  bl_ctx *ctx;
  if (bl_ctx_new(&o, &ctx, NULL) != BL_OK) return 0;
  both(ctx, (bl_str){(const char *)p + 1, p[0]}, (bl_str){(const char *)p + 1 + p[0], n - 1 - p[0]});
  bl_ctx_free(ctx);
  return 0;
}
