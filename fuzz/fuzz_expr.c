/* Expressions: any text parses or is refused at a place inside it; what binds prints, parses and binds to the same. */
#include <stdlib.h>

#include "model/expr.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

enum { COLUMNS = 20 };

static void make_schema(bl_field fields[COLUMNS], bl_field child[2], bl_schema *schema) {
  static const bl_kind kinds[] = {BL_INT,          BL_LONG,    BL_FLOAT,         BL_DOUBLE,      BL_DECIMAL,
                                  BL_DATE,         BL_TIME,    BL_TIMESTAMP,     BL_TIMESTAMPTZ, BL_TIMESTAMP_NS,
                                  BL_STRING,       BL_UUID,    BL_FIXED,         BL_BINARY,      BL_BOOLEAN,
                                  BL_KIND_UNKNOWN, BL_VARIANT, BL_TIMESTAMPTZ_NS};
  static const char names[COLUMNS][2] = {"i", "l", "f", "d", "e", "t", "m", "p", "z", "n",
                                         "s", "u", "x", "b", "o", "k", "v", "g", "q", "a"};
  for (int32_t i = 0; i < COLUMNS; i++) fields[i] = (bl_field){.id = i + 1, .name = {names[i], 1}};
  for (size_t i = 0; i < BL_LEN(kinds); i++) fields[i].type.kind = kinds[i];
  fields[4].type.precision = 9;
  fields[4].type.scale = 2;
  fields[12].type.length = 3;
  child[0] = (bl_field){.id = 30, .name = BL_STR("in"), .type = {.kind = BL_INT}};
  child[1] = (bl_field){.id = 31, .name = BL_STR("a.b \"c"), .type = {.kind = BL_STRING}};
  fields[18].type = (bl_type){.kind = BL_STRUCT, .fields = child, .n_fields = 2};
  fields[19].type = (bl_type){.kind = BL_LIST, .fields = child, .n_fields = 1};
  *schema = (bl_schema){.root = {.kind = BL_STRUCT, .fields = fields, .n_fields = COLUMNS}};
}

static bool nothing_known(void *user, const bl_field *f, bl_stats *out) {
  (void)user;
  (void)f;
  (void)out;
  return false;
}

static void all_null(void *user, const bl_field *f, bl_value *out) {
  (void)user;
  *out = (bl_value){.kind = f->type.kind, .null = true};
}

/* false where there was no memory or the text is refused. */
static bool parse_and_bind(bl_arena *a, bl_str text, const bl_schema *s, bl_expr **out, bl_error *err) {
  bl_expr *e;
  if (bl_expr_parse(a, text, &e, err) != BL_OK) {
    MUST(err->status != BL_USAGE || (err->position >= 0 && (size_t)err->position <= text.n));
    return false;
  }
  return bl_expr_bind(a, e, s, bl_meta_schema(), out, err) == BL_OK;
}

static void check(bl_ctx *ctx, bl_arena *a, bl_str text) {
  bl_field fields[COLUMNS], child[2];
  bl_schema schema;
  bl_error err = BL_ERROR_INIT;
  bl_expr *e, *again;
  bl_buf once, twice;
  make_schema(fields, child, &schema);
  if (!parse_and_bind(a, text, &schema, &e, &err)) return;
  if (bl_expr_eval(e, all_null, NULL) == 1) MUST(bl_expr_may_match(e, nothing_known, NULL));
  bl_buf_init(&once, ctx, BL_BUF_MAX);
  bl_buf_init(&twice, ctx, BL_BUF_MAX);
  bl_expr_print(&once, e);
  bl_str printed = {once.p ? (const char *)once.p : "", once.n};
  if (parse_and_bind(a, printed, &schema, &again, &err)) {
    bl_expr_print(&twice, again);
    MUST(twice.n == once.n && memcmp(twice.p, once.p, once.n) == 0);
  } else {
    MUST(err.status == BL_USAGE && strstr(err.message, "nested")); /* brackets of its own may pass the depth */
  }
  bl_buf_free(&once);
  bl_buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_arena *a;
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  if (bl_arena_new(ctx, &a, NULL) == BL_OK) {
    check(ctx, a, (bl_str){(const char *)p, n});
    bl_arena_free(a);
  }
  bl_ctx_free(ctx);
  return 0;
}
