/* fuzz_value_json.c: the first line is a type, the rest a JSON value of it: what is taken is written to JSON that gives
 * the same value. */
#include <stdlib.h>

#include "format/metadata_json.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void round_trip(bl_arena *a, bl_str type, bl_str json) {
  bl_type t;
  bl_json *v;
  bl_value x, y;
  if (bl_type_parse_primitive(a, type, &t, NULL) != BL_OK) return;
  if (bl_json_parse(a, json.p, json.n, &v, NULL) != BL_OK) return;
  if (bl_value_from_json(a, &t, v, &x, NULL) != BL_OK) return;
  bl_json *w = bl_value_to_json(a, &t, &x);
  MUST(w && bl_value_from_json(a, &t, w, &y, NULL) == BL_OK);
  MUST(x.null == y.null && (x.null || bl_value_same(&x, &y)));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_arena *a = NULL;
  const uint8_t *end = n ? memchr(p, '\n', n) : NULL;
  if (!end || bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  size_t type = (size_t)(end - p);
  if (bl_arena_new(ctx, &a, NULL) == BL_OK)
    round_trip(a, (bl_str){(const char *)p, type}, (bl_str){(const char *)end + 1, n - type - 1});
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}
