/* fuzz_puffin.c: any bytes as the end of a Puffin file, read in growing tails as a reader does. */
#include <stdlib.h>

#include "format/puffin.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  bl_arena *a = NULL;
  bl_puffin f;
  size_t have = 0, need = 0;
  if (bl_arena_new(ctx, &a, NULL) == BL_OK) {
    do {
      have = need;
      if (bl_puffin_footer(ctx, a, p + (n - have), have, (int64_t)n, &need, &f, NULL) != BL_OK) break;
      if (need < have || need > n) abort();
    } while (need > have);
    for (size_t i = 0; i < f.n_blobs; i++)
      if (f.blobs[i].offset < 4 || f.blobs[i].length < 0 || f.blobs[i].offset + f.blobs[i].length > (int64_t)n) abort();
  }
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}
