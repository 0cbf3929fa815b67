/* sort_key.c: see sort_key.h. One column: a byte for null or not, then bytes that order as the values do, all inverted
 * where it descends. */
#include "write/sort_key.h"

bl_status bl_sort_columns_new(bl_arena *a, const bl_sort_order *o, const bl_schema *schema, const bl_view *root,
                              bl_sort_columns *out, bl_error *err) {
  bl_type result;
  out->items = bl_arena_alloc(a, o->n_fields, sizeof *out->items);
  out->n = 0;
  if (!out->items) return bl_nomem(err);
  for (size_t i = 0; i < o->n_fields; i++) {
    const bl_sort_field *f = &o->fields[i];
    bl_sort_column *c = &out->items[out->n];
    c->field = f;
    if (f->transform.kind == BL_T_VOID) continue;
    if (f->n_source_ids != 1 || !bl_row_source_find(root, schema, f->source_ids[0], &c->row))
      return bl_fail(err, BL_USAGE, "sort order %d: column %zu of it is not in the schema", (int)o->id, i + 1);
    if (!bl_transform_result(&f->transform, c->row.type, &result))
      return bl_fail(err, BL_UNSUPPORTED, "sort order %d: transform %.*s of a column of type %s cannot be written",
                     (int)o->id, BL_STR_ARG(f->transform.text), bl_kind_name(c->row.type->kind));
    out->n++;
  }
  return BL_OK;
}

static void big_endian(bl_buf *out, uint64_t v, int bytes) {
  for (int i = bytes - 1; i >= 0; i--) bl_buf_byte(out, (uint8_t)(v >> (8 * i)));
}

/* Zero bytes are escaped, so that no value's bytes begin another's and go on into the next column. */
static void add_bytes(bl_buf *out, bl_str s) {
  for (size_t i = 0; i < s.n; i++) {
    bl_buf_byte(out, (uint8_t)s.p[i]);
    if (s.p[i] == 0) bl_buf_byte(out, 0xff);
  }
  bl_buf_byte(out, 0);
  bl_buf_byte(out, 0);
}

static uint64_t ordered(uint64_t bits, uint64_t sign) {
  return bits & sign ? ~bits : bits | sign;
}

static void add_value(bl_buf *out, const bl_value *v) {
  switch (v->kind) {
  case BL_BOOLEAN: bl_buf_byte(out, v->u.b); break;
  case BL_FLOAT: {
    uint32_t bits;
    memcpy(&bits, &v->u.f, sizeof bits);
    big_endian(out, bits & 0x80000000u ? (uint32_t)~bits : bits | 0x80000000u, 4);
    break;
  }
  case BL_DOUBLE: {
    uint64_t bits;
    memcpy(&bits, &v->u.d, sizeof bits);
    big_endian(out, ordered(bits, UINT64_C(1) << 63), 8);
    break;
  }
  case BL_DECIMAL: {
    bl_u128 u = (bl_u128)v->u.dec;
    big_endian(out, (uint64_t)(u >> 64) ^ UINT64_C(1) << 63, 8);
    big_endian(out, (uint64_t)u, 8);
    break;
  }
  case BL_STRING:
  case BL_BINARY:
  case BL_FIXED:
  case BL_UUID: add_bytes(out, v->u.s); break;
  default: big_endian(out, (uint64_t)v->u.i ^ UINT64_C(1) << 63, 8);
  }
}

void bl_sort_key_add(const bl_sort_columns *c, int64_t i, bl_buf *out) {
  for (size_t k = 0; k < c->n; k++) {
    const bl_sort_field *f = c->items[k].field;
    bl_value v, t;
    bl_row_value(&c->items[k].row, i, &v);
    if (!bl_transform_apply(&f->transform, c->items[k].row.type, &v, &t)) t = (bl_value){.null = true};
    bl_buf_byte(out, t.null == f->nulls_last ? 1 : 0);
    if (t.null) continue;
    size_t from = out->n;
    add_value(out, &t);
    if (f->descending && !out->failed)
      for (size_t b = from; b < out->n; b++) out->p[b] = (uint8_t)~out->p[b];
  }
}
