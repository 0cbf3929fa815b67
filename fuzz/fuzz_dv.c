/* fuzz_dv.c: any bytes as a deletion vector. What decodes must encode and decode to the same set. To get past the
 * checksum the frame around the input is also made right. */
#include <stdlib.h>
#include <zlib.h>

#include "format/puffin.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void decode(bl_ctx *ctx, const uint8_t *p, size_t n) {
  bl_posset *s, *again;
  if (bl_dv_decode(ctx, p, n, -1, &s, NULL) != BL_OK) return;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  if (bl_dv_encode(s, &b, NULL) != BL_OK) abort();
  if (bl_dv_decode(ctx, b.p, b.n, bl_posset_count(s), &again, NULL) != BL_OK) abort();
  if (!bl_posset_equal(s, again)) abort();
  int64_t first[64], max = bl_posset_max(s);
  size_t k = bl_posset_next(s, 0, first, 64);
  for (size_t i = 0; i < k; i++)
    if (!bl_posset_has(s, first[i]) || (i > 0 && first[i] <= first[i - 1]) || first[i] > max) abort();
  uint8_t keep[1000] = {0};
  bl_posset_clear_bytes(s, 500, 1500, keep);
  bl_buf_free(&b);
  bl_posset_free(s);
  bl_posset_free(again);
}

static void big(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  decode(ctx, p, n);
  uint8_t *framed = malloc(n + 12);
  if (framed && n < 1u << 24) {
    big(framed, (uint32_t)n + 4);
    memcpy(framed + 4, "\xd1\xd3\x39\x64", 4);
    if (n) memcpy(framed + 8, p, n);
    big(framed + 8 + n, (uint32_t)crc32(0, framed + 4, (uInt)n + 4));
    decode(ctx, framed, n + 12);
  }
  free(framed);
  bl_ctx_free(ctx);
  return 0;
}
