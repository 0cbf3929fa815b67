/* conform.c: bl_conform of input.h.
 *
 * 1. A column first gets the canonical layout of its own type (Arrow's casts), then the table's type: moved where it
 *    has that already, else converted value by value; structs, lists and maps are put together again around their
 *    children.
 * 2. A conversion changes no value: what the type cannot hold exactly is refused, with its row.
 * 3. `bad` is the place of the refused value in the array in hand; each level turns it into a place of its own, so that
 *    in the end it is a row. */
#include "write/input.h"

#include <math.h>
#include <stdio.h>

#include "base/map.h"
#include "edge/arrow/arrow_edge.h"
#include "model/near.h"
#include "rows/arrow_share.h"
#include "rows/arrow_view.h"
#include "rows/stream.h"
#include "write/canonical.h"
#include "write/put_value.h"

enum { MOST_ROWS = 65536 };

typedef enum node_op { OP_MISSING, OP_MOVE, OP_CONVERT, OP_STRUCT, OP_LIST, OP_MAP } node_op;

/* How a field of the table is made of a column of the input. */
typedef struct node {
  node_op op;
  const bl_field *field;
  int64_t from;                      /* child of the input struct */
  const struct ArrowSchema *in_type; /* canonical; borrowed */
  bl_view *view;                     /* OP_CONVERT: of the input column */
  bl_builder *builder;               /* OP_CONVERT, OP_MISSING */
  struct node *kids;
  size_t n_kids;
} node;

struct bl_conformer {
  bl_ctx *ctx;
  bl_arena *arena;
  struct ArrowSchema in_schema;
  struct ArrowSchema *columns; /* canonical, one a column of the input */
  bool *same;                  /* the column has that form already */
  const bl_type *root;
  const char *name;
  node *nodes; /* of the table's columns */
  int64_t *extra;
  size_t n_extra; /* columns of the input that follow */
  bl_putter putter;
  int64_t bad;
};
typedef bl_conformer conform;

/* ---- plan ---- */

bool bl_is_metadata_name(bl_str name) {
  static const char *const names[] = {
      "_row_id",   "_last_updated_sequence_number", "_last_updated_at", "_file", "_pos", "_deleted", "_spec_id",
      "_partition"};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (bl_str_is(name, names[i])) return true;
  return false;
}

static bl_status plan(conform *c, node *n, const bl_field *f, const struct ArrowSchema *in, bl_error *err);

static bool leaf_moves(const bl_view *v, const bl_type *t) {
  switch (t->kind) {
  case BL_BOOLEAN: return v->kind == BL_D_BOOL;
  case BL_INT: return v->kind == BL_D_INT32;
  case BL_LONG: return v->kind == BL_D_INT64;
  case BL_FLOAT: return v->kind == BL_D_FLOAT;
  case BL_DOUBLE: return v->kind == BL_D_DOUBLE;
  case BL_DECIMAL: return v->kind == BL_D_DECIMAL && v->scale == t->scale && v->precision <= t->precision;
  case BL_DATE: return v->kind == BL_D_DATE32;
  case BL_TIME: return v->kind == BL_D_TIME_US;
  case BL_TIMESTAMP: return v->kind == BL_D_TIMESTAMP_US && !v->utc;
  case BL_TIMESTAMPTZ: return v->kind == BL_D_TIMESTAMP_US && v->utc;
  case BL_TIMESTAMP_NS: return v->kind == BL_D_TIMESTAMP_NS && !v->utc;
  case BL_TIMESTAMPTZ_NS: return v->kind == BL_D_TIMESTAMP_NS && v->utc;
  case BL_STRING: return v->kind == BL_D_STRING;
  case BL_UUID: return v->kind == BL_D_FIXED && v->length == 16;
  case BL_FIXED: return v->kind == BL_D_FIXED && v->length == t->length;
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return v->kind == BL_D_BINARY;
  case BL_VARIANT:
    return v->kind == BL_D_STRUCT && v->n_children == 2 && bl_str_is(v->children[0].name, "metadata") &&
           v->children[0].kind == BL_D_BINARY && bl_str_is(v->children[1].name, "value") &&
           v->children[1].kind == BL_D_BINARY;
  default: return false;
  }
}

static bool is_number(bl_data_kind k) {
  return k == BL_D_INT32 || k == BL_D_INT64 || k == BL_D_DECIMAL || k == BL_D_FLOAT || k == BL_D_DOUBLE;
}

static bool is_timestamp(bl_kind k) {
  return k >= BL_TIMESTAMP && k <= BL_TIMESTAMPTZ_NS;
}

static bool leaf_converts(const bl_view *v, const bl_type *t) {
  bl_kind k = t->kind;
  if (v->kind == BL_D_OTHER) return true; /* nothing but nulls */
  if (is_number(v->kind)) {
    bool real = v->kind == BL_D_FLOAT || v->kind == BL_D_DOUBLE;
    return k == BL_INT || k == BL_LONG || k == BL_FLOAT || k == BL_DOUBLE || (k == BL_DECIMAL && !real);
  }
  switch (v->kind) {
  case BL_D_STRING: return k == BL_VARIANT || (k <= BL_UUID && k != BL_BOOLEAN) || k == BL_BOOLEAN;
  case BL_D_DATE32: return k == BL_TIMESTAMP || k == BL_TIMESTAMP_NS;
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: return is_timestamp(k) && v->utc == (k == BL_TIMESTAMPTZ || k == BL_TIMESTAMPTZ_NS);
  case BL_D_BINARY: return k == BL_FIXED || k == BL_UUID;
  case BL_D_FIXED: return k == BL_BINARY;
  default: return false;
  }
}

static bl_status plan_leaf(conform *c, node *n, bl_error *err) {
  struct ArrowSchema out = {0};
  BL_TRY(bl_view_new(c->ctx, n->in_type, &n->view, err));
  n->op = leaf_moves(n->view, &n->field->type) ? OP_MOVE : OP_CONVERT;
  if (n->op == OP_MOVE) return BL_OK;
  if (!leaf_converts(n->view, &n->field->type)) {
    char what[60], name[BL_TYPE_NAME_BYTES];
    snprintf(what, sizeof what, "a column of type %s", bl_aschema_type_name(n->in_type, name));
    return bl_put_misfit(&c->putter, n->field, bl_str_of(what), NULL, err);
  }
  BL_TRY(bl_aschema_of_field(c->ctx, n->field, &out, err));
  bl_status st = bl_builder_new(c->ctx, &out, &n->builder, err);
  bl_aschema_release(&out);
  return st;
}

static bl_status plan_missing(conform *c, node *n, bl_error *err) {
  struct ArrowSchema out = {0};
  const bl_value *d = n->field->write_default;
  n->op = OP_MISSING;
  if (n->field->required && (!d || d->null))
    return bl_put_misfit(&c->putter, n->field, BL_STR_NONE, "a required column is missing in the input", err);
  BL_TRY(bl_aschema_of_field(c->ctx, n->field, &out, err));
  bl_status st = bl_builder_new(c->ctx, &out, &n->builder, err);
  bl_aschema_release(&out);
  return st;
}

static bl_status plan_kids(conform *c, node *n, size_t count, bl_error *err) {
  n->kids = bl_arena_calloc(c->arena, count, sizeof *n->kids);
  if (!n->kids) return bl_nomem(err);
  n->n_kids = count;
  return BL_OK;
}

static void enter(conform *c, const bl_field *f) {
  if (c->putter.depth < BL_LEN(c->putter.path)) c->putter.path[c->putter.depth] = f;
  c->putter.depth++;
}

static bl_status unknown_column(conform *c, const bl_type *t, const char *name, bl_error *err) {
  char why[200];
  bl_field nobody = {.name = bl_str_of(name)};
  snprintf(why, sizeof why, "the table has no such column%s", bl_near_field(t, NULL, nobody.name).hint);
  return bl_put_misfit(&c->putter, &nobody, BL_STR_NONE, why, err);
}

/* Fields of a struct by name; each column of the input is used once. */
static bl_status plan_fields(conform *c, const bl_type *t, const struct ArrowSchema *in, node *kids, bool *used,
                             bl_error *err) {
  bl_map *by_name;
  BL_TRY(bl_map_new(c->ctx, &by_name, err));
  bl_status st = BL_OK;
  for (int64_t i = 0; st == BL_OK && i < in->n_children; i++) {
    bool added;
    bl_field f = {.name = bl_str_of(in->children[i]->name ? in->children[i]->name : "")};
    if (!bl_map_put(by_name, f.name, (size_t)i, &added)) st = bl_nomem(err);
    else if (!added) st = bl_put_misfit(&c->putter, &f, BL_STR_NONE, "the input has it twice", err);
  }
  for (size_t i = 0; st == BL_OK && i < t->n_fields; i++) {
    const size_t *at = bl_map_get(by_name, t->fields[i].name);
    kids[i].field = &t->fields[i];
    kids[i].from = at ? (int64_t)*at : -1;
    if (at) used[*at] = true;
    st = at ? plan(c, &kids[i], &t->fields[i], in->children[*at], err) : plan_missing(c, &kids[i], err);
  }
  bl_map_free(by_name);
  return st;
}

static bl_status plan_struct(conform *c, node *n, bl_error *err) {
  const bl_type *t = &n->field->type;
  n->op = OP_STRUCT;
  BL_TRY(plan_kids(c, n, t->n_fields, err));
  bool *used = bl_arena_calloc(c->arena, (size_t)n->in_type->n_children, sizeof *used);
  if (!used) return bl_nomem(err);
  enter(c, n->field);
  BL_TRY(plan_fields(c, t, n->in_type, n->kids, used, err));
  for (int64_t i = 0; i < n->in_type->n_children; i++)
    if (!used[i]) return unknown_column(c, t, n->in_type->children[i]->name, err);
  c->putter.depth--;
  return BL_OK;
}

static bl_status plan_parts(conform *c, node *n, node_op op, const struct ArrowSchema *parts, bl_error *err) {
  const bl_type *t = &n->field->type;
  n->op = op;
  BL_TRY(plan_kids(c, n, t->n_fields, err));
  enter(c, n->field);
  for (size_t i = 0; i < t->n_fields; i++) {
    n->kids[i].from = (int64_t)i;
    BL_TRY(plan(c, &n->kids[i], &t->fields[i], parts->children[i], err));
  }
  c->putter.depth--;
  return BL_OK;
}

/* in: canonical. */
static bl_status plan(conform *c, node *n, const bl_field *f, const struct ArrowSchema *in, bl_error *err) {
  n->field = f;
  n->in_type = in;
  if (f->type.kind == BL_STRUCT && strcmp(in->format, "+s") == 0) return plan_struct(c, n, err);
  if (f->type.kind == BL_LIST && strcmp(in->format, "+l") == 0) return plan_parts(c, n, OP_LIST, in, err);
  if (f->type.kind == BL_MAP && strcmp(in->format, "+m") == 0) return plan_parts(c, n, OP_MAP, in->children[0], err);
  return plan_leaf(c, n, err);
}

/* ---- values of a column ---- */

static bl_status real_value(conform *c, node *n, double d, bl_error *err) {
  const bl_field *f = n->field;
  bl_kind k = f->type.kind;
  char text[40];
  snprintf(text, sizeof text, "%.17g", d);
  if (k == BL_DOUBLE) return bl_builder_double(n->builder, d, err);
  bool single = isnan(d) || (double)(float)d == d;
  if (k == BL_FLOAT && single) return bl_builder_double(n->builder, d, err);
  bool whole = (k == BL_INT || k == BL_LONG) && d >= -0x1p63 && d < 0x1p63 && d == (double)(int64_t)d;
  if (whole) return bl_put_number(&c->putter, n->builder, f, (int64_t)d, 0, err);
  return bl_put_misfit(&c->putter, f, bl_str_of(text), NULL, err);
}

static bl_status timestamp_value(conform *c, node *n, int64_t v, int64_t from, bl_error *err) {
  bl_kind k = n->field->type.kind;
  int64_t to = k == BL_TIMESTAMP || k == BL_TIMESTAMPTZ ? 1000000 : 1000000000;
  char text[40];
  snprintf(text, sizeof text, "%lld", (long long)v);
  bool fits = to >= from ? bl_mul64(v, to / from, &v) : bl_floor_mod(v, from / to) == 0;
  if (!fits) return bl_put_misfit(&c->putter, n->field, bl_str_of(text), NULL, err);
  return bl_builder_int(n->builder, to >= from ? v : bl_floor_div(v, from / to), err);
}

static bl_status date_value(conform *c, node *n, int64_t days, bl_error *err) {
  int64_t us;
  if (!bl_mul64(days, INT64_C(86400000000), &us))
    return bl_put_misfit(&c->putter, n->field, BL_STR_NONE, "the date is out of range", err);
  return timestamp_value(c, n, us, 1000000, err);
}

static bl_status bytes_value(conform *c, node *n, bl_str s, bl_error *err) {
  int64_t length = n->field->type.kind == BL_UUID ? 16 : n->field->type.length;
  if (n->field->type.kind != BL_BINARY && (int64_t)s.n != length)
    return bl_put_misfit(&c->putter, n->field, BL_STR_NONE, "a wrong number of bytes", err);
  return bl_builder_bytes(n->builder, s.p, s.n, err);
}

static bl_status convert_value(conform *c, node *n, int64_t i, bl_error *err) {
  const bl_view *v = n->view;
  if (bl_view_null(v, i)) return bl_put_null(&c->putter, n->builder, n->field, err);
  switch (v->kind) {
  case BL_D_INT32: return bl_put_number(&c->putter, n->builder, n->field, bl_view_i32(v, i), 0, err);
  case BL_D_INT64: return bl_put_number(&c->putter, n->builder, n->field, bl_view_i64(v, i), 0, err);
  case BL_D_DECIMAL: return bl_put_number(&c->putter, n->builder, n->field, bl_view_decimal(v, i), v->scale, err);
  case BL_D_FLOAT: return real_value(c, n, (double)bl_view_float(v, i), err);
  case BL_D_DOUBLE: return real_value(c, n, bl_view_double(v, i), err);
  case BL_D_STRING: return bl_put_text(&c->putter, n->builder, n->field, bl_view_bytes(v, i), err);
  case BL_D_DATE32: return date_value(c, n, bl_view_i32(v, i), err);
  case BL_D_TIMESTAMP_US: return timestamp_value(c, n, bl_view_i64(v, i), 1000000, err);
  case BL_D_TIMESTAMP_NS: return timestamp_value(c, n, bl_view_i64(v, i), 1000000000, err);
  default: return bytes_value(c, n, bl_view_bytes(v, i), err);
  }
}

/* in is consumed. parent: the struct around (children at the same rows), whose null rows may hold anything; NULL. */
static bl_status convert_leaf(conform *c, node *n, struct ArrowArray *in, const struct ArrowArray *parent,
                              struct ArrowArray *out, bl_error *err) {
  bl_status st = bl_view_set(n->view, in, err);
  for (int64_t i = 0; st == BL_OK && i < in->length; i++) {
    bool slot = parent && !bl_array_valid(parent, i);
    st = slot ? bl_builder_empty(n->builder, err) : convert_value(c, n, i, err);
    if (st != BL_OK) c->bad = i;
  }
  if (st == BL_OK) st = bl_builder_finish(n->builder, out, err);
  bl_array_release(in);
  return st;
}

static bool all_ascii(const uint8_t *p, size_t n) {
  uint64_t any = 0, w;
  for (; n >= 8; p += 8, n -= 8) {
    memcpy(&w, p, 8);
    any |= w;
  }
  while (n--) any |= *p++;
  return (any & UINT64_C(0x8080808080808080)) == 0;
}

static bl_status check_text(conform *c, node *n, const struct ArrowArray *a, bl_error *err) {
  BL_TRY(bl_view_set(n->view, a, err));
  if (a->length == 0) return BL_OK;
  const int32_t *off = n->view->offsets + n->view->base;
  if (all_ascii((const uint8_t *)n->view->data + off[0], (size_t)(off[a->length] - off[0]))) return BL_OK;
  for (int64_t i = 0; i < a->length; i++) {
    bl_str s = bl_view_bytes(n->view, i);
    if (bl_view_null(n->view, i) || bl_utf8_valid(s.p, s.n)) continue;
    c->bad = i;
    return bl_put_misfit(&c->putter, n->field, BL_STR_NONE, "not UTF-8", err);
  }
  return BL_OK;
}

/* Files may hold any number as a time. */
static bl_status check_times(conform *c, node *n, const struct ArrowArray *a, const struct ArrowArray *parent,
                             bl_error *err) {
  BL_TRY(bl_view_set(n->view, a, err));
  for (int64_t i = 0; i < a->length; i++) {
    if (bl_view_null(n->view, i) || (parent && !bl_array_valid(parent, i))) continue;
    char text[40];
    int64_t v = bl_view_i64(n->view, i);
    if (v >= 0 && v < INT64_C(86400000000)) continue;
    snprintf(text, sizeof text, "%lld us", (long long)v);
    c->bad = i;
    return bl_put_misfit(&c->putter, n->field, bl_str_of(text), "it is no time of a day", err);
  }
  return BL_OK;
}

static bl_status check_required(conform *c, const node *n, const struct ArrowArray *a, const struct ArrowArray *parent,
                                bl_error *err) {
  if (!n->field->required || a->null_count == 0) return BL_OK;
  for (int64_t i = 0; i < a->length; i++) {
    if (bl_array_valid(a, i) || (parent && !bl_array_valid(parent, i))) continue;
    c->bad = i;
    return bl_put_misfit(&c->putter, n->field, BL_STR_NONE, "null in a required column", err);
  }
  return BL_OK;
}

static bl_status convert(conform *c, node *n, struct ArrowArray *in, const struct ArrowArray *parent,
                         struct ArrowArray *out, bl_error *err);

static bl_status fill_missing(conform *c, node *n, int64_t rows, struct ArrowArray *out, bl_error *err) {
  const bl_value *d = n->field->write_default;
  if (n->field->type.kind != BL_STRUCT) return bl_array_constant(c->ctx, &n->field->type, d, rows, out, err);
  for (int64_t i = 0; i < rows; i++) BL_TRY(bl_put_missing(&c->putter, n->builder, n->field, err));
  return bl_builder_finish(n->builder, out, err);
}

/* A new array of `length` rows without offset, with the validity of rows [offset, offset + length) of in. */
static bl_status shell(conform *c, const struct ArrowArray *in, int64_t n_buffers, int64_t n_children,
                       struct ArrowArray *out, bl_error *err) {
  BL_TRY(bl_array_new(c->ctx, in->length, n_buffers, n_children, out, err));
  if (in->null_count == 0 || !in->buffers[0]) return BL_OK;
  size_t bytes = ((size_t)in->length + 7) / 8;
  uint8_t *bits = bl_array_buffer(out, 0, bytes);
  if (!bits) {
    bl_array_release(out);
    return bl_nomem(err);
  }
  memset(bits, 0, bytes);
  for (int64_t i = 0; i < in->length; i++) {
    if (bl_bit_get(in->buffers[0], in->offset + i)) bl_bit_set(bits, i);
    else out->null_count++;
  }
  return BL_OK;
}

static void cut(struct ArrowArray *a, int64_t begin, int64_t n) {
  if (a->null_count != 0 && a->length != n) a->null_count = -1;
  a->offset += begin;
  a->length = n;
}

/* in's children move out of it. */
static bl_status convert_struct(conform *c, node *n, struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  BL_TRY(shell(c, in, 1, (int64_t)n->n_kids, out, err));
  bl_status st = BL_OK;
  enter(c, n->field);
  for (size_t i = 0; st == BL_OK && i < n->n_kids; i++) {
    node *k = &n->kids[i];
    struct ArrowArray child;
    if (k->op == OP_MISSING) {
      st = fill_missing(c, k, in->length, out->children[i], err);
      continue;
    }
    bl_array_move(in->children[k->from], &child);
    cut(&child, in->offset, in->length);
    st = convert(c, k, &child, out, out->children[i], err);
  }
  c->putter.depth--;
  return st;
}

/* The row of a list that element i belongs to. */
static int64_t row_of_element(const int32_t *off, int64_t rows, int64_t i) {
  int64_t row = 0;
  while (row + 1 < rows && off[row + 1] - off[0] <= i) row++;
  return row;
}

static bl_status list_offsets(const struct ArrowArray *in, struct ArrowArray *out, const int32_t **from,
                              bl_error *err) {
  static const int32_t zero = 0;
  const int32_t *off = in->length > 0 ? (const int32_t *)in->buffers[1] + in->offset : &zero;
  int32_t *to = bl_array_buffer(out, 1, ((size_t)in->length + 1) * sizeof *to);
  if (!to) return bl_nomem(err);
  for (int64_t i = 0; i <= in->length; i++) to[i] = off[i] - off[0];
  *from = off;
  return BL_OK;
}

static bl_status convert_list(conform *c, node *n, struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  const int32_t *off = NULL;
  struct ArrowArray child;
  BL_TRY(shell(c, in, 2, 1, out, err));
  BL_TRY(list_offsets(in, out, &off, err));
  bl_array_move(in->children[0], &child);
  cut(&child, off[0], off[in->length] - off[0]);
  enter(c, n->field);
  bl_status st = convert(c, &n->kids[0], &child, NULL, out->children[0], err);
  c->putter.depth--;
  if (st != BL_OK) c->bad = row_of_element(off, in->length, c->bad);
  return st;
}

static bl_status convert_map(conform *c, node *n, struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  const int32_t *off = NULL;
  struct ArrowArray *from = in->children[0], *entries;
  BL_TRY(shell(c, in, 2, 1, out, err));
  BL_TRY(list_offsets(in, out, &off, err));
  int64_t rows = off[in->length] - off[0];
  entries = out->children[0];
  BL_TRY(bl_array_new(c->ctx, rows, 1, 2, entries, err));
  bl_status st = BL_OK;
  enter(c, n->field);
  for (int i = 0; st == BL_OK && i < 2; i++) {
    struct ArrowArray child;
    bl_array_move(from->children[i], &child);
    cut(&child, from->offset + off[0], rows);
    st = convert(c, &n->kids[i], &child, NULL, entries->children[i], err);
  }
  c->putter.depth--;
  if (st != BL_OK) c->bad = row_of_element(off, in->length, c->bad);
  return st;
}

/* in is consumed; on failure *out may be half made: the caller releases it. */
static bl_status convert(conform *c, node *n, struct ArrowArray *in, const struct ArrowArray *parent,
                         struct ArrowArray *out, bl_error *err) {
  bl_status st = check_required(c, n, in, parent, err);
  if (st == BL_OK && n->op == OP_MOVE && n->field->type.kind == BL_STRING) st = check_text(c, n, in, err);
  if (st == BL_OK && n->op == OP_MOVE && n->field->type.kind == BL_TIME) st = check_times(c, n, in, parent, err);
  if (st == BL_OK && n->op == OP_MOVE) {
    bl_array_move(in, out);
    return BL_OK;
  }
  if (st == BL_OK) {
    switch (n->op) {
    case OP_CONVERT: return convert_leaf(c, n, in, parent, out, err);
    case OP_STRUCT: st = convert_struct(c, n, in, out, err); break;
    case OP_LIST: st = convert_list(c, n, in, out, err); break;
    default: st = convert_map(c, n, in, out, err);
    }
  }
  bl_array_release(in);
  return st;
}

/* ---- batches ---- */

/* parent: rows that are null there are not looked at; NULL. */
static bl_status convert_column(conform *c, node *n, struct ArrowArray *in, const struct ArrowArray *parent,
                                struct ArrowArray *out, bl_error *err) {
  if (!c->same[n->from]) {
    struct ArrowArray cast;
    bl_error e = BL_ERROR_INIT;
    bl_status st = bl_arrow_cast(in, c->in_schema.children[n->from], &c->columns[n->from], &cast, &e);
    if (st != BL_OK) {
      c->bad = e.position > 0 ? e.position : 0;
      return bl_fail(err, st, "column %s: %s", c->in_schema.children[n->from]->name, e.message);
    }
    bl_array_move(&cast, in);
  }
  return convert(c, n, in, parent, out, err);
}

static bl_status take_extra(conform *c, int64_t from, struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  if (c->same[from]) {
    bl_array_move(in, out);
    return BL_OK;
  }
  return bl_arrow_cast(in, c->in_schema.children[from], &c->columns[from], out, err);
}

/* An array that is valid in the rows that are looked at: those marked with `least` or more. */
static bl_status heeded_rows(conform *c, const uint8_t *marks, uint8_t least, int64_t n, struct ArrowArray *out,
                             bl_error *err) {
  size_t bytes = ((size_t)n + 7) / 8;
  BL_TRY(bl_array_new(c->ctx, n, 1, 0, out, err));
  uint8_t *bits = bl_array_buffer(out, 0, bytes);
  if (!bits) {
    bl_array_release(out);
    return bl_nomem(err);
  }
  memset(bits, 0, bytes);
  for (int64_t i = 0; i < n; i++) {
    if (marks[i] >= least) bl_bit_set(bits, i);
    else out->null_count++;
  }
  return BL_OK;
}

static bl_status convert_columns(conform *c, struct ArrowArray *part, const bl_conform_heed *heed,
                                 const struct ArrowArray *some, const struct ArrowArray *all, struct ArrowArray *out,
                                 bl_error *err) {
  for (size_t i = 0; i < c->root->n_fields; i++) {
    node *k = &c->nodes[i];
    const struct ArrowArray *rows = !heed ? NULL : heed->always[i] ? some : all;
    if (k->op == OP_MISSING) BL_TRY(fill_missing(c, k, part->length, out->children[i], err));
    else BL_TRY(convert_column(c, k, part->children[k->from], rows, out->children[i], err));
  }
  for (size_t i = 0; i < c->n_extra; i++)
    BL_TRY(take_extra(c, c->extra[i], part->children[c->extra[i]], out->children[c->root->n_fields + i], err));
  return BL_OK;
}

static bl_status convert_part(conform *c, struct ArrowArray *part, const bl_conform_heed *heed, struct ArrowArray *out,
                              bl_error *err) {
  struct ArrowArray some = {0}, all = {0};
  bl_status st;
  BL_TRY(bl_array_new(c->ctx, part->length, 1, (int64_t)(c->root->n_fields + c->n_extra), out, err));
  if (heed) BL_GO(heeded_rows(c, heed->rows, BL_HEED_SOME, part->length, &some, err));
  if (heed) BL_GO(heeded_rows(c, heed->rows, BL_HEED_ALL, part->length, &all, err));
  st = convert_columns(c, part, heed, &some, &all, out, err);
done:
  if (st != BL_OK) bl_array_release(out);
  bl_array_release(&some);
  bl_array_release(&all);
  return st;
}

static bl_status refuse_row(conform *c, bl_status st, int64_t row, const bl_error *e, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  return bl_fail_at(err, st, row, "%s%srow %lld: %s", c->name ? c->name : "", c->name ? ": " : "", (long long)row + 1,
                    e->message);
}

bl_status bl_conformer_run(bl_conformer *c, struct ArrowArray *part, int64_t first_row, const bl_conform_heed *heed,
                           struct ArrowArray *out, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  out->release = NULL;
  c->bad = 0;
  c->putter.depth = 0;
  bl_status st = convert_part(c, part, heed, out, &e);
  bl_array_release(part);
  return st == BL_OK ? BL_OK : refuse_row(c, st, first_row + c->bad, &e, err);
}

static void free_node(node *n) {
  bl_view_free(n->view);
  bl_builder_free(n->builder);
  for (size_t i = 0; i < n->n_kids; i++) free_node(&n->kids[i]);
}

void bl_conformer_free(bl_conformer *c) {
  if (!c) return;
  for (size_t i = 0; c->nodes && i < c->root->n_fields; i++) free_node(&c->nodes[i]);
  for (int64_t i = 0; c->columns && i < c->in_schema.n_children; i++) bl_aschema_release(&c->columns[i]);
  bl_aschema_release(&c->in_schema);
  bl_putter_dispose(&c->putter);
  bl_arena_free(c->arena);
  bl_free(c->ctx, c);
}

/* ---- opening ---- */

static bl_status canonical_columns(conform *c, struct ArrowSchema *canonical, bl_error *err) {
  size_t n = (size_t)c->in_schema.n_children;
  if (!c->in_schema.format || strcmp(c->in_schema.format, "+s") != 0)
    return bl_fail(err, BL_USAGE, "input: its schema is no struct of columns");
  c->columns = bl_arena_calloc(c->arena, n, sizeof *c->columns);
  c->same = bl_arena_calloc(c->arena, n, sizeof *c->same);
  canonical->children = bl_arena_calloc(c->arena, n, sizeof *canonical->children);
  if (!c->columns || !c->same || !canonical->children) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    c->same[i] = true;
    BL_TRY(bl_canonical_schema(c->ctx, c->in_schema.children[i], &c->columns[i], &c->same[i], err));
    canonical->children[i] = &c->columns[i];
  }
  canonical->n_children = (int64_t)n;
  return BL_OK;
}

static bl_status unused_columns(conform *c, const bool *used, const bl_conform_options *o, bl_error *err) {
  c->extra = bl_arena_alloc(c->arena, (size_t)c->in_schema.n_children, sizeof *c->extra);
  if (!c->extra) return bl_nomem(err);
  for (int64_t i = 0; i < c->in_schema.n_children; i++) {
    const char *name = c->in_schema.children[i]->name;
    if (used[i] || o->drop_unknown) continue;
    if (o->keep_unknown) {
      c->extra[c->n_extra++] = i;
      continue;
    }
    if (bl_is_metadata_name(bl_str_of(name)))
      return bl_fail(err, BL_USAGE, "column %s: it is no input: lineage is the table's own to give", name);
    return unknown_column(c, c->root, name, err);
  }
  return BL_OK;
}

bl_status bl_conformer_schema(const bl_conformer *c, struct ArrowSchema *out, bl_error *err) {
  size_t n = c->root->n_fields;
  if (c->n_extra == 0) return bl_aschema_of_struct(c->ctx, c->root, out, err);
  BL_TRY(bl_aschema_new(c->ctx, "+s", BL_STR(""), false, (int64_t)(n + c->n_extra), out, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < n; i++)
    st = bl_aschema_of_field(c->ctx, &c->root->fields[i], out->children[i], err);
  for (size_t i = 0; st == BL_OK && i < c->n_extra; i++)
    st = bl_aschema_copy(c->ctx, &c->columns[c->extra[i]], out->children[n + i], err);
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

static bl_status make_plan(conform *c, const bl_conform_options *o, bl_error *err) {
  struct ArrowSchema canonical = {0};
  BL_TRY(canonical_columns(c, &canonical, err));
  bool *used = bl_arena_calloc(c->arena, (size_t)canonical.n_children, sizeof *used);
  c->nodes = bl_arena_calloc(c->arena, c->root->n_fields, sizeof *c->nodes);
  if (!used || !c->nodes) return bl_nomem(err);
  BL_TRY(plan_fields(c, c->root, &canonical, c->nodes, used, err));
  return unused_columns(c, used, o, err);
}

static bl_status open_conformer(conform *c, const bl_conform_options *o, struct ArrowSchema *in, bl_error *err) {
  c->in_schema = *in;
  in->release = NULL;
  BL_TRY(bl_arena_new(c->ctx, &c->arena, err));
  if (o->name && !(c->name = bl_arena_str(c->arena, bl_str_of(o->name)).p)) return bl_nomem(err);
  return make_plan(c, o, err);
}

/* What is wrong with the columns, of the rows of a name. */
static bl_status refuse_columns(bl_status st, const char *name, const bl_error *e, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  return bl_fail_at(err, st, e->position, "%s%s%s", name ? name : "", name ? ": " : "", e->message);
}

bl_status bl_conformer_new(bl_ctx *ctx, const bl_schema *schema, const bl_conform_options *o, struct ArrowSchema *in,
                           bl_conformer **out, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  conform *c = *out = bl_calloc(ctx, 1, sizeof *c);
  if (!c) {
    bl_aschema_release(in);
    return bl_nomem(err);
  }
  c->ctx = ctx;
  c->root = &schema->root;
  bl_putter_init(&c->putter, ctx);
  bl_status st = open_conformer(c, o, in, &e);
  if (st == BL_OK) return BL_OK;
  bl_conformer_free(c);
  *out = NULL;
  return refuse_columns(st, o->name, &e, err);
}

/* ---- as a stream ---- */

typedef struct rows {
  bl_ctx *ctx;
  bl_conformer *conformer;
  struct ArrowArrayStream in;
  int64_t n_columns;
  bl_shared *batch; /* in hand */
  int64_t next;     /* row of it */
  int64_t given;    /* so far */
} rows;

static bl_status next_part(rows *r, struct ArrowArray *out, bl_error *err) {
  struct ArrowArray part;
  int64_t length = bl_shared_array(r->batch)->length, n = length - r->next < MOST_ROWS ? length - r->next : MOST_ROWS;
  BL_TRY(bl_shared_part(r->batch, r->next, n, NULL, &part, err));
  BL_TRY(bl_conformer_run(r->conformer, &part, r->given, NULL, out, err));
  r->next += n;
  r->given += n;
  if (r->next < length) return BL_OK;
  bl_shared_unref(r->batch);
  r->batch = NULL;
  return BL_OK;
}

static bl_status rows_next(void *user, struct ArrowArray *out, bl_error *err) {
  rows *r = user;
  out->release = NULL;
  while (!r->batch) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(&r->in, &batch, err));
    if (!batch.release) return BL_OK;
    if (batch.n_children != r->n_columns) {
      bl_status st = bl_fail(err, BL_USAGE, "input: a batch has %lld columns, its schema %lld",
                             (long long)batch.n_children, (long long)r->n_columns);
      bl_array_release(&batch);
      return st;
    }
    if (batch.length == 0) bl_array_release(&batch);
    else BL_TRY(bl_shared_new(r->ctx, &batch, &r->batch, err));
    r->next = 0;
  }
  return next_part(r, out, err);
}

static void rows_free(void *user) {
  rows *r = user;
  bl_shared_unref(r->batch);
  bl_conformer_free(r->conformer);
  bl_stream_release(&r->in);
  bl_free(r->ctx, r);
}

static bl_status rows_open(rows *r, const bl_schema *schema, const bl_conform_options *o, struct ArrowSchema *out,
                           bl_error *err) {
  struct ArrowSchema in = {0};
  bl_error e = BL_ERROR_INIT;
  bl_status st = bl_stream_schema(&r->in, &in, &e);
  if (st != BL_OK) return refuse_columns(st, o->name, &e, err);
  r->n_columns = in.n_children;
  BL_TRY(bl_conformer_new(r->ctx, schema, o, &in, &r->conformer, err));
  return bl_conformer_schema(r->conformer, out, err);
}

bl_status bl_conform_with(bl_ctx *ctx, const bl_schema *schema, const bl_conform_options *o,
                          struct ArrowArrayStream *in, struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema s = {0};
  out->release = NULL;
  rows *r = bl_calloc(ctx, 1, sizeof *r);
  if (!r) {
    bl_stream_release(in);
    return bl_nomem(err);
  }
  r->ctx = ctx;
  r->in = *in;
  in->release = NULL;
  bl_status st = rows_open(r, schema, o, &s, err);
  if (st != BL_OK) {
    rows_free(r);
    return st;
  }
  bl_stream_source src = {.next = rows_next, .dispose = rows_free, .user = r};
  return bl_stream_make(ctx, &src, &s, out, err);
}

bl_status bl_conform(bl_ctx *ctx, const bl_schema *schema, struct ArrowArrayStream *in, struct ArrowArrayStream *out,
                     bl_error *err) {
  return bl_conform_with(ctx, schema, &(bl_conform_options){0}, in, out, err);
}
