/* fuzz_json.c: any bytes as a JSON document: what is read prints to a text that reads back the same, compact, pretty
 * and copied. */
#include <stdlib.h>

#include "format/json.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static bool same_bytes(const bl_buf *a, const bl_buf *b) {
  return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* Every member is found by its name, every element by its position, and knows its path. */
static void look_up(const bl_json *v, bl_buf *path) {
  size_t i = 0;
  for (const bl_json *c = v->first; c; c = c->next, i++) {
    MUST(c->parent == v);
    if (v->kind == BL_J_ARRAY) MUST(bl_json_at(v, i) == c);
    if (v->kind == BL_J_OBJECT && strlen(c->key.p) == c->key.n) MUST(bl_json_get(v, c->key.p) == c);
    if (i < 20) look_up(c, path);
  }
  MUST(i == v->n);
  if (v->first) return;
  bl_buf_clear(path);
  bl_json_path(v, path);
  MUST(path->n && path->p[0] == '$');
}

static void print_again(bl_arena *a, const bl_json *v, bool pretty, const bl_buf *want, bl_buf *text, bl_buf *again) {
  bl_json *w;
  bl_buf_clear(text);
  bl_json_print(text, v, pretty);
  MUST(bl_json_parse(a, text->p, text->n, &w, NULL) == BL_OK);
  bl_buf_clear(again);
  bl_json_print(again, w, false);
  MUST(same_bytes(again, want));
}

static void round_trip(bl_ctx *ctx, bl_arena *a, const bl_json *v) {
  bl_buf want, text, again;
  bl_buf_init(&want, ctx, BL_BUF_MAX);
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  bl_buf_init(&again, ctx, BL_BUF_MAX);
  bl_json_print(&want, v, false);
  print_again(a, v, false, &want, &text, &again);
  print_again(a, v, true, &want, &text, &again);
  print_again(a, bl_json_copy(a, v), false, &want, &text, &again);
  look_up(v, &text);
  bl_buf_free(&want);
  bl_buf_free(&text);
  bl_buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_arena *a = NULL;
  bl_json *v;
  bl_error err = BL_ERROR_INIT;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  if (bl_arena_new(ctx, &a, NULL) == BL_OK) {
    if (bl_json_parse(a, p, n, &v, &err) == BL_OK) round_trip(ctx, a, v);
    else MUST(err.status == BL_DAMAGED && err.position >= 0 && err.position <= (int64_t)n && err.message[0]);
  }
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}
