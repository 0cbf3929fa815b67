/* avro_rows.c: see avro_rows.h.
 *
 * The file's tree and the chosen columns are compiled into one tree of steps, each with the builder that its values go
 * to (NULL: they are skipped). Items that take no bytes are counted, since nothing else limits them. */
#include "edge/avro_rows.h"

#include <assert.h>
#include <stdio.h>

#include "rows/arrow_own.h"

typedef struct step step;
struct step {
  const bl_avro_wire *w;
  bl_builder *builder; /* NULL: skipped */
  step *children;      /* as w's */
};

struct bl_avro_rows {
  bl_ctx *ctx;
  bl_arena *arena; /* of the steps */
  const bl_avro_tree *tree;
  const uint8_t *chosen;
  struct ArrowSchema schema;
  bl_builder *root;
  step top;
  int64_t empty_items; /* of the batch: items that take no bytes */
};

/* ---- Arrow schema ---- */

static void format_of(const bl_data_node *n, char *out, size_t size) {
  static const char *const fixed[] = {"b", "i", "l", "f", "g", "",   "tdD", "ttu",
                                      "",  "",  "u", "z", "",  "+s", "+l",  "+m"};
  static_assert(BL_LEN(fixed) == BL_D_OTHER, "one format a kind");
  switch (n->kind) {
  case BL_D_DECIMAL: snprintf(out, size, "d:%d,%d", n->precision, n->scale); return;
  case BL_D_TIMESTAMP_US: snprintf(out, size, "tsu:%s", n->utc ? "UTC" : ""); return;
  case BL_D_TIMESTAMP_NS: snprintf(out, size, "tsn:%s", n->utc ? "UTC" : ""); return;
  case BL_D_FIXED: snprintf(out, size, "w:%d", n->length); return;
  default: snprintf(out, size, "%s", fixed[n->kind]);
  }
}

static bl_status add_field_id(bl_ctx *ctx, struct ArrowSchema *s, int32_t id, bl_error *err) {
  char text[16];
  int n = snprintf(text, sizeof text, "%d", id);
  bl_str key = BL_STR("PARQUET:field_id"), value = {text, (size_t)n};
  return id < 0 ? BL_OK : bl_aschema_metadata(ctx, s, &key, &value, 1, err);
}

static bool is_chosen(const bl_avro_rows *r, const bl_avro_wire *w) {
  return w->node >= 0 && r->chosen[w->node];
}

static bl_status schema_of(bl_avro_rows *r, const bl_avro_wire *w, struct ArrowSchema *out, bl_error *err);

static bl_status entries_of(bl_avro_rows *r, const bl_avro_wire *w, struct ArrowSchema *out, bl_error *err) {
  BL_TRY(bl_aschema_new(r->ctx, "+s", BL_STR("entries"), false, 2, out, err));
  for (int64_t i = 0; i < 2; i++) BL_TRY(schema_of(r, &w->children[i], out->children[i], err));
  out->children[0]->flags &= ~ARROW_FLAG_NULLABLE;
  return BL_OK;
}

/* On failure *out may be made in part: the root's release frees it. */
static bl_status schema_of(bl_avro_rows *r, const bl_avro_wire *w, struct ArrowSchema *out, bl_error *err) {
  const bl_data_node *n = &r->tree->nodes[w->node];
  bool map = n->kind == BL_D_MAP;
  int64_t kids = map, at = 0;
  char format[40];
  for (size_t i = 0; i < w->n_children && !map; i++) kids += is_chosen(r, &w->children[i]);
  format_of(n, format, sizeof format);
  BL_TRY(bl_aschema_new(r->ctx, format, bl_str_of(n->name), !n->required, kids, out, err));
  BL_TRY(add_field_id(r->ctx, out, n->field_id, err));
  if (map) return entries_of(r, w, out->children[0], err);
  for (size_t i = 0; i < w->n_children; i++)
    if (is_chosen(r, &w->children[i])) BL_TRY(schema_of(r, &w->children[i], out->children[at++], err));
  return BL_OK;
}

/* ---- steps ---- */

static bl_status make_step(bl_avro_rows *r, const bl_avro_wire *w, bl_builder *b, step *out, bl_error *err) {
  *out = (step){.w = w, .builder = b};
  if (!b || !w->n_children) return BL_OK;
  if (!(out->children = bl_arena_calloc(r->arena, w->n_children, sizeof *out->children))) return bl_nomem(err);
  bl_builder *parent = w->form == BL_AF_PAIRS || w->form == BL_AF_MAP ? bl_builder_child(b, 0) : b;
  int64_t at = 0;
  for (size_t i = 0; i < w->n_children; i++) {
    bl_builder *child = is_chosen(r, &w->children[i]) ? bl_builder_child(parent, at++) : NULL;
    BL_TRY(make_step(r, &w->children[i], child, &out->children[i], err));
  }
  return BL_OK;
}

bl_status bl_avro_rows_new(bl_ctx *ctx, const bl_avro_tree *tree, const uint8_t *chosen, bl_avro_rows **out,
                           bl_error *err) {
  bl_status st;
  bl_avro_rows *r = bl_calloc(ctx, 1, sizeof *r);
  *out = NULL;
  if (!r) return bl_nomem(err);
  r->ctx = ctx;
  r->tree = tree;
  r->chosen = chosen;
  BL_GO(bl_arena_new(ctx, &r->arena, err));
  BL_GO(schema_of(r, &tree->root, &r->schema, err));
  BL_GO(bl_builder_new(ctx, &r->schema, &r->root, err));
  BL_GO(make_step(r, &tree->root, r->root, &r->top, err));
  *out = r;
  r = NULL;
done:
  bl_avro_rows_free(r);
  return st;
}

void bl_avro_rows_free(bl_avro_rows *r) {
  if (!r) return;
  bl_builder_free(r->root);
  bl_aschema_release(&r->schema);
  bl_arena_free(r->arena);
  bl_free(r->ctx, r);
}

const struct ArrowSchema *bl_avro_rows_schema(const bl_avro_rows *r) {
  return &r->schema;
}

int64_t bl_avro_rows_count(const bl_avro_rows *r) {
  return bl_builder_length(r->root);
}

size_t bl_avro_rows_size(const bl_avro_rows *r) {
  return bl_builder_size(r->root);
}

bl_status bl_avro_rows_finish(bl_avro_rows *r, struct ArrowArray *out, bl_error *err) {
  r->empty_items = 0;
  return bl_builder_finish(r->root, out, err);
}

bl_status bl_avro_rows_append_bare(bl_avro_rows *r, bl_error *err) {
  return bl_builder_close(r->root, err);
}

/* ---- values ---- */

static bl_status append(bl_avro_rows *r, const step *p, bl_avro_cursor *c, bl_error *err);

static bl_status append_number(const step *p, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  int64_t v;
  int32_t narrow;
  const uint8_t *from = c->p;
  if (s->kind == BL_A_INT) {
    BL_TRY(bl_avro_int(c, &narrow, err));
    v = narrow;
  } else {
    BL_TRY(bl_avro_long(c, &v, err));
  }
  if (p->w->factor == 1 || bl_mul64(v, p->w->factor, &v)) return bl_builder_int(p->builder, v, err);
  c->p = from;
  return bl_avro_fail(c, err, "a time that does not fit microseconds");
}

static bl_status append_bytes(const step *p, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  bl_str v;
  uint8_t uuid[16];
  bl_i128 decimal;
  if (s && s->kind == BL_A_FIXED) BL_TRY(bl_avro_fixed(c, s->size, &v, err));
  else BL_TRY(bl_avro_bytes(c, &v, err));
  if (p->w->form == BL_AF_DECIMAL) {
    if (!bl_avro_decimal(v, &decimal)) return bl_avro_fail(c, err, "a decimal of more than 128 bits");
    return bl_builder_decimal(p->builder, decimal, err);
  }
  if (p->w->form == BL_AF_UUID_TEXT) {
    if (!bl_parse_uuid(v, uuid)) return bl_avro_fail(c, err, "no UUID: %.*s", BL_STR_ARG(v));
    v = (bl_str){(const char *)uuid, sizeof uuid};
  }
  return bl_builder_bytes(p->builder, v.p, v.n, err);
}

static bl_status append_enum(const step *p, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  int32_t i;
  BL_TRY(bl_avro_int(c, &i, err));
  if (i < 0 || (size_t)i >= s->n_symbols) return bl_avro_fail(c, err, "symbol %d of an enum of %zu", i, s->n_symbols);
  return bl_builder_bytes(p->builder, s->symbols[i].p, s->symbols[i].n, err);
}

static bl_status append_item(bl_avro_rows *r, const step *p, bl_avro_cursor *c, bl_error *err) {
  switch (p->w->form) {
  case BL_AF_LIST: return append(r, &p->children[0], c, err);
  case BL_AF_PAIRS: BL_TRY(append(r, &p->children[0], c, err)); break;
  default: BL_TRY(append_bytes(&p->children[0], NULL, c, err));
  }
  BL_TRY(append(r, &p->children[1], c, err));
  return bl_builder_close(bl_builder_child(p->builder, 0), err);
}

static bl_status append_items(bl_avro_rows *r, const step *p, const bl_avro_schema *s, bl_avro_cursor *c,
                              bl_error *err) {
  for (;;) {
    int64_t n;
    BL_TRY(bl_avro_items(c, s, &n, err));
    if (!n) return bl_builder_close(p->builder, err);
    if (!s->children[0]->min_bytes) r->empty_items += n;
    if (r->empty_items > 16 * (int64_t)BL_AVRO_MAX_EMPTY)
      return bl_avro_fail(c, err, "more than %d items without bytes", 16 * BL_AVRO_MAX_EMPTY);
    for (int64_t i = 0; i < n; i++) BL_TRY(append_item(r, p, c, err));
  }
}

static bl_status append_struct(bl_avro_rows *r, const step *p, bl_avro_cursor *c, bl_error *err) {
  for (size_t i = 0; i < p->w->n_children; i++) BL_TRY(append(r, &p->children[i], c, err));
  return bl_builder_close(p->builder, err);
}

static bl_status append_value(bl_avro_rows *r, const step *p, const bl_avro_schema *s, bl_avro_cursor *c,
                              bl_error *err) {
  bool b;
  float f;
  double d;
  switch (p->w->form) {
  case BL_AF_BOOLEAN: BL_TRY(bl_avro_boolean(c, &b, err)); return bl_builder_bool(p->builder, b, err);
  case BL_AF_INT:
  case BL_AF_LONG: return append_number(p, s, c, err);
  case BL_AF_FLOAT: BL_TRY(bl_avro_float(c, &f, err)); return bl_builder_float(p->builder, f, err);
  case BL_AF_DOUBLE: BL_TRY(bl_avro_double(c, &d, err)); return bl_builder_double(p->builder, d, err);
  case BL_AF_BYTES:
  case BL_AF_FIXED:
  case BL_AF_DECIMAL:
  case BL_AF_UUID_TEXT: return append_bytes(p, s, c, err);
  case BL_AF_ENUM: return append_enum(p, s, c, err);
  case BL_AF_STRUCT: return append_struct(r, p, c, err);
  case BL_AF_LIST:
  case BL_AF_PAIRS:
  case BL_AF_MAP: return append_items(r, p, s, c, err);
  default: return bl_builder_null(p->builder, err);
  }
}

static bl_status append(bl_avro_rows *r, const step *p, bl_avro_cursor *c, bl_error *err) {
  const bl_avro_schema *s = p->w->schema;
  if (!p->builder) return bl_avro_skip(c, s, err);
  if (s->kind == BL_A_UNION) BL_TRY(bl_avro_branch(c, s, &s, err));
  return s->kind == BL_A_NULL ? bl_builder_null(p->builder, err) : append_value(r, p, s, c, err);
}

bl_status bl_avro_rows_append(bl_avro_rows *r, bl_avro_cursor *c, bl_error *err) {
  return append_struct(r, &r->top, c, err);
}
