/* Configuration files: any bytes are a catalog, none, or refused as wrong usage; no message holds a value. */
#include <stdlib.h>

#include "table/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_arena *a = NULL;
  bl_catalog_options c;
  bool found;
  bl_error err = BL_ERROR_INIT;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) abort();
  if (bl_arena_new(ctx, &a, NULL) != BL_OK) abort();
  bl_status st = bl_config_parse(a, "x", p, n, NULL, &c, &found, &err);
  if (st != BL_OK && st != BL_USAGE) abort();
  if (st == BL_USAGE && !err.message[0]) abort();
  if (st == BL_OK && found && !c.name) abort();
  for (size_t i = 0; st == BL_OK && found && i < c.n_properties; i++)
    if (!c.keys[i] || !c.values[i]) abort();
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}
