/* read_data_file.c: all rows of a Parquet, Avro or ORC file as a stream, row groups decoded in parallel, in order. */
#include "base/pool.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "rows/variant_rows.h"
#include "write/input.h"

enum { BATCH_ROWS = 65536 };

/* ---- a file's columns as types ---- */

static bl_status node_type(const bl_data_meta *m, size_t at, bl_arena *a, bl_type *out, bl_error *err);

/* A column that holds nothing but nulls, whatever their type: as if the file did not have it. */
static bool is_null_column(const bl_data_node *n) {
  size_t len = n->kind == BL_D_OTHER && n->note ? strlen(n->note) : 0;
  return len > 6 && strcmp(n->note + len - 6, "(Null)") == 0;
}

static bl_status child_fields(const bl_data_meta *m, size_t at, bl_arena *a, bl_type *out, bl_error *err) {
  size_t n = 0;
  for (size_t i = at + 1; i < m->n_nodes; i++) n += m->nodes[i].parent == (int32_t)at;
  out->fields = bl_arena_calloc(a, n, sizeof *out->fields);
  if (!out->fields) return bl_nomem(err);
  for (size_t i = at + 1; i < m->n_nodes; i++) {
    if (m->nodes[i].parent != (int32_t)at || is_null_column(&m->nodes[i])) continue;
    bl_field *f = &out->fields[out->n_fields++];
    *f = (bl_field){.id = m->nodes[i].field_id, .name = bl_str_of(m->nodes[i].name), .required = m->nodes[i].required};
    BL_TRY(node_type(m, i, a, &f->type, err));
  }
  return BL_OK;
}

static bl_kind kind_of(const bl_data_node *n) {
  switch (n->kind) {
  case BL_D_BOOL: return BL_BOOLEAN;
  case BL_D_INT32: return BL_INT;
  case BL_D_INT64: return BL_LONG;
  case BL_D_FLOAT: return BL_FLOAT;
  case BL_D_DOUBLE: return BL_DOUBLE;
  case BL_D_DECIMAL: return BL_DECIMAL;
  case BL_D_DATE32: return BL_DATE;
  case BL_D_TIME_US: return BL_TIME;
  case BL_D_TIMESTAMP_US: return n->utc ? BL_TIMESTAMPTZ : BL_TIMESTAMP;
  case BL_D_TIMESTAMP_NS: return n->utc ? BL_TIMESTAMPTZ_NS : BL_TIMESTAMP_NS;
  case BL_D_STRING: return BL_STRING;
  case BL_D_BINARY:
    return n->hint == BL_H_GEOMETRY ? BL_GEOMETRY : n->hint == BL_H_GEOGRAPHY ? BL_GEOGRAPHY : BL_BINARY;
  case BL_D_FIXED: return n->hint == BL_H_UUID && n->length == 16 ? BL_UUID : BL_FIXED;
  case BL_D_STRUCT: return n->hint == BL_H_VARIANT ? BL_VARIANT : BL_STRUCT;
  case BL_D_LIST: return BL_LIST;
  case BL_D_MAP: return BL_MAP;
  default: return BL_KIND_UNKNOWN;
  }
}

static bl_status node_type(const bl_data_meta *m, size_t at, bl_arena *a, bl_type *out, bl_error *err) {
  const bl_data_node *n = &m->nodes[at];
  *out = (bl_type){.kind = kind_of(n), .precision = n->precision, .scale = n->scale, .length = n->length};
  if (n->kind == BL_D_OTHER)
    return bl_fail(err, BL_UNSUPPORTED, "column %s: its type %s cannot be read", n->name, n->note ? n->note : "");
  return out->kind == BL_STRUCT || out->kind == BL_LIST || out->kind == BL_MAP ? child_fields(m, at, a, out, err)
                                                                               : BL_OK;
}

bl_status bl_data_file_type(const bl_data_meta *meta, bl_arena *a, bl_type *out, bl_error *err) {
  return node_type(meta, 0, a, out, err);
}

/* ---- rows ---- */

typedef struct source {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_data_reader *reader;
  bl_type type;
  int32_t *leaves;
  size_t n_leaves;
  int32_t *variants; /* the node of each top-level column that is a variant, -1 elsewhere */
  bool has_variants;
  bl_ordered *work;
} source;

static bl_status fix_variants(const source *s, struct ArrowArray *batch, bl_error *err) {
  for (size_t i = 0; s->has_variants && i < s->type.n_fields; i++) {
    struct ArrowArray out;
    if (s->variants[i] < 0) continue;
    BL_TRY(bl_variant_rows(s->ctx, s->reader->meta, s->variants[i], batch->children[i], &out, err));
    bl_array_move(&out, batch->children[i]);
  }
  return BL_OK;
}

static void drop_batch(void *user, void *result) {
  source *s = user;
  bl_array_release(result);
  bl_free(s->ctx, result);
}

static bl_status emit(source *s, bl_ordered_slot *slot, struct ArrowArray *batch, bl_error *err) {
  bl_status st = fix_variants(s, batch, err);
  struct ArrowArray *own = st == BL_OK ? bl_alloc(s->ctx, 1, sizeof *own) : NULL;
  if (st == BL_OK && !own) st = bl_nomem(err);
  if (st != BL_OK) {
    bl_array_release(batch);
    return st;
  }
  bl_array_move(batch, own);
  st = bl_ordered_emit(slot, own);
  if (st != BL_OK) drop_batch(s, own);
  return st;
}

static bl_status read_group(void *user, size_t group, bl_ordered_slot *slot, bl_error *err) {
  source *s = user;
  struct ArrowArrayStream in = {0};
  BL_TRY(s->reader->read(s->reader, group, s->leaves, s->n_leaves, NULL, 0, BATCH_ROWS, &in, err));
  bl_status st = BL_OK;
  while (st == BL_OK) {
    struct ArrowArray batch;
    st = bl_stream_next(&in, &batch, err);
    if (st != BL_OK || !batch.release) break;
    st = emit(s, slot, &batch, err);
  }
  bl_stream_release(&in);
  return st;
}

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  source *s = user;
  void *result = NULL;
  out->release = NULL;
  BL_TRY(bl_ordered_next(s->work, &result, err));
  if (!result) return BL_OK;
  bl_array_move(result, out);
  bl_free(s->ctx, result);
  return BL_OK;
}

static void source_free(void *user) {
  source *s = user;
  bl_ordered_free(s->work);
  if (s->reader) s->reader->free(s->reader);
  bl_arena_free(s->arena);
  bl_free(s->ctx, s);
}

static bl_status list_columns(source *s, bl_error *err) {
  const bl_data_meta *m = s->reader->meta;
  s->leaves = bl_arena_alloc(s->arena, m->n_nodes, sizeof *s->leaves);
  s->variants = bl_arena_alloc(s->arena, s->type.n_fields, sizeof *s->variants);
  if (!s->leaves || !s->variants) return bl_nomem(err);
  size_t column = 0;
  for (size_t i = 1; i < m->n_nodes; i++) {
    const bl_data_node *n = &m->nodes[i];
    if (is_null_column(n)) continue;
    if (n->leaf >= 0) s->leaves[s->n_leaves++] = n->leaf;
    if (n->hint == BL_H_VARIANT && n->parent != 0)
      return bl_fail(err, BL_UNSUPPORTED, "column %s: a variant inside of another column cannot be imported", n->name);
    if (n->parent != 0) continue;
    s->has_variants |= n->hint == BL_H_VARIANT;
    s->variants[column++] = n->hint == BL_H_VARIANT ? (int32_t)i : -1;
  }
  return BL_OK;
}

static bl_status open_source(source *s, const bl_data_format *format, bl_input *in, const char *name, bl_error *err) {
  const bl_data_open_options o = {.check_pages = true};
  BL_TRY(bl_arena_new(s->ctx, &s->arena, err));
  BL_TRY(format->open(s->ctx, in, name, &o, &s->reader, err));
  bl_status st = bl_data_file_type(s->reader->meta, s->arena, &s->type, err);
  if (st == BL_OK) st = list_columns(s, err);
  if (st != BL_OK) return bl_fail_in(err, st, "%s", name);
  return bl_ordered_new(s->ctx, s->reader->meta->n_groups, 0, (size_t)s->ctx->o.threads + 1, 4, false, read_group,
                        drop_batch, s, &s->work, err);
}

bl_status bl_read_data_file(bl_ctx *ctx, const bl_data_format *format, bl_input *in, const char *name,
                            struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema schema = {0};
  out->release = NULL;
  source *s = bl_calloc(ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  bl_status st = open_source(s, format, in, name, err);
  if (st == BL_OK) st = bl_aschema_of_struct(ctx, &s->type, &schema, err);
  if (st != BL_OK) {
    source_free(s);
    return st;
  }
  bl_stream_source src = {.next = next_batch, .dispose = source_free, .user = s};
  return bl_stream_make(ctx, &src, &schema, out, err);
}
