/* fuzz_debezium.c: the first line is a type, the rest {"said": what a schema of Kafka Connect says, "v": a value} as
 * Debezium sends it: a value of the column or an error, and no time outside of a day. */
#include <stdlib.h>

#include "format/metadata_json.h"
#include "rows/arrow_own.h"
#include "rows/arrow_view.h"
#include "write/debezium_value.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void check(bl_ctx *ctx, const struct ArrowSchema *s, bl_builder *b, bl_kind k) {
  struct ArrowArray a;
  bl_view *v = NULL;
  if (bl_builder_finish(b, &a, NULL) != BL_OK) return;
  MUST(a.length == 1);
  if (k == BL_TIME && bl_view_new(ctx, s, &v, NULL) == BL_OK && bl_view_set(v, &a, NULL) == BL_OK)
    MUST(bl_view_null(v, 0) || (bl_view_i64(v, 0) >= 0 && bl_view_i64(v, 0) < INT64_C(86400000000)));
  bl_view_free(v);
  bl_array_release(&a);
}

static void put(bl_ctx *ctx, const bl_field *f, const bl_json *v, const bl_json *said) {
  struct ArrowSchema s;
  bl_builder *b;
  bl_putter p;
  bl_error err = BL_ERROR_INIT;
  if (bl_aschema_of_field(ctx, f, &s, NULL) != BL_OK) return;
  bl_putter_init(&p, ctx);
  if (bl_builder_new(ctx, &s, &b, NULL) == BL_OK) {
    if (bl_put_debezium(&p, b, f, v, said, &err) == BL_OK) check(ctx, &s, b, f->type.kind);
    else MUST(err.message[0]);
    bl_builder_free(b);
  }
  bl_putter_dispose(&p);
  bl_aschema_release(&s);
}

/* A primitive type, then a list, a struct and a map of it. */
static void take(bl_arena *a, bl_ctx *ctx, bl_str type, bl_str text) {
  bl_field one = {.id = 2, .name = BL_STR("e")}, two[2];
  bl_json *event;
  if (bl_type_parse_primitive(a, type, &one.type, NULL) != BL_OK) return;
  if (bl_json_parse(a, text.p, text.n, &event, NULL) != BL_OK || event->kind != BL_J_OBJECT) return;
  const bl_json *v = bl_json_get(event, "v"), *said = bl_json_get(event, "said");
  if (said && said->kind != BL_J_OBJECT) said = NULL;
  if (!v || v->kind == BL_J_NULL) return;
  put(ctx, &one, v, said);
  two[0] = two[1] = one;
  two[0].required = true;
  bl_field list = {.id = 1, .name = BL_STR("v"), .type = {.kind = BL_LIST, .fields = &one, .n_fields = 1}};
  bl_field group = {.id = 1, .name = BL_STR("v"), .type = {.kind = BL_STRUCT, .fields = &one, .n_fields = 1}};
  bl_field map = {.id = 1, .name = BL_STR("v"), .type = {.kind = BL_MAP, .fields = two, .n_fields = 2}};
  put(ctx, &list, v, said);
  put(ctx, &group, v, said);
  put(ctx, &map, v, said);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_arena *a = NULL;
  const uint8_t *end = n ? memchr(p, '\n', n) : NULL;
  if (!end || bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  size_t type = (size_t)(end - p);
  if (bl_arena_new(ctx, &a, NULL) == BL_OK)
    take(a, ctx, (bl_str){(const char *)p, type}, (bl_str){(const char *)end + 1, n - type - 1});
  bl_arena_free(a);
  bl_ctx_free(ctx);
  return 0;
}
