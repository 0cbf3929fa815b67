/* variant_decode.c: an encoded variant as JSON text. */
#include <math.h>

#include "base/text.h"
#include "format/variant.h"
#include "format/variant_bytes.h"

typedef struct printer {
  bl_ctx *ctx;
  bl_variant_dict dict;
  bl_buf *b;
  size_t most; /* bytes b may hold: one long key can stand in any number of small objects */
  bl_error *err;
} printer;

#define QUOTED(b, print)                                                                                               \
  do {                                                                                                                 \
    bl_buf_byte(b, '"');                                                                                               \
    print;                                                                                                             \
    bl_buf_byte(b, '"');                                                                                               \
  } while (0)

/* The number in the last `width` bytes of data, sign extended. */
static bl_i128 integer(bl_str data, int width) {
  const uint8_t *p = (const uint8_t *)data.p + data.n - width;
  bl_u128 v = p[width - 1] & 0x80 ? ~(bl_u128)0 : 0;
  for (int i = width - 1; i >= 0; i--) v = v << 8 | p[i];
  return (bl_i128)v;
}

static int64_t small(bl_str data) {
  return (int64_t)integer(data, (int)data.n);
}

static void print_double(bl_buf *b, bl_str data) {
  double d;
  memcpy(&d, data.p, sizeof d);
  if (isfinite(d)) bl_print_double(b, d);
  else QUOTED(b, bl_print_double(b, d));
}

static void print_float(bl_buf *b, bl_str data) {
  float f;
  memcpy(&f, data.p, sizeof f);
  if (isfinite(f)) bl_print_float(b, f);
  else QUOTED(b, bl_print_float(b, f));
}

static void print_decimal(bl_buf *b, bl_str data) {
  bl_print_decimal(b, integer(data, (int)data.n - 1), (uint8_t)data.p[0]);
}

static void print_primitive(bl_buf *b, const bl_variant_node *v) {
  bl_str data = v->data;
  switch (v->type) {
  case BL_VT_TRUE: bl_buf_cstr(b, "true"); break;
  case BL_VT_FALSE: bl_buf_cstr(b, "false"); break;
  case BL_VT_INT8:
  case BL_VT_INT16:
  case BL_VT_INT32:
  case BL_VT_INT64: bl_print_i64(b, small(data)); break;
  case BL_VT_DOUBLE: print_double(b, data); break;
  case BL_VT_FLOAT: print_float(b, data); break;
  case BL_VT_DECIMAL4:
  case BL_VT_DECIMAL8:
  case BL_VT_DECIMAL16: print_decimal(b, data); break;
  case BL_VT_DATE: QUOTED(b, bl_print_date(b, (int32_t)small(data))); break;
  case BL_VT_TIME: QUOTED(b, bl_print_time(b, small(data), 1000000)); break;
  case BL_VT_TIMESTAMPTZ: QUOTED(b, bl_print_timestamp(b, small(data), 1000000, true)); break;
  case BL_VT_TIMESTAMP: QUOTED(b, bl_print_timestamp(b, small(data), 1000000, false)); break;
  case BL_VT_TIMESTAMPTZ_NS: QUOTED(b, bl_print_timestamp(b, small(data), 1000000000, true)); break;
  case BL_VT_TIMESTAMP_NS: QUOTED(b, bl_print_timestamp(b, small(data), 1000000000, false)); break;
  case BL_VT_BINARY: QUOTED(b, bl_print_base64(b, data.p, data.n)); break;
  case BL_VT_STRING: bl_print_json_str(b, data); break;
  case BL_VT_UUID: QUOTED(b, bl_print_uuid(b, (const uint8_t *)data.p)); break;
  case BL_VT_NULL:
  case BL_VT_COUNT: bl_buf_cstr(b, "null"); break;
  }
}

static bl_status print_node(printer *p, bl_variant_node *v, int depth) {
  if (v->basic == BL_VB_PRIMITIVE || v->basic == BL_VB_SHORT_STRING) {
    print_primitive(p->b, v);
    return BL_OK;
  }
  bool object = v->basic == BL_VB_OBJECT;
  BL_TRY(bl_variant_check_depth(p->ctx, depth, p->err));
  if (object) BL_TRY(bl_variant_check_keys(p->ctx, &p->dict, v, p->err));
  bl_buf_byte(p->b, object ? '{' : '[');
  for (uint32_t i = 0; i < v->n; i++) {
    bl_variant_node child;
    bl_str key;
    if (i > 0) bl_buf_byte(p->b, ',');
    if (object) {
      BL_TRY(bl_variant_key(&p->dict, v, i, &key, p->err));
      bl_print_json_str(p->b, key);
      bl_buf_byte(p->b, ':');
    }
    BL_TRY(bl_variant_child(v, i, &child, p->err));
    BL_TRY(print_node(p, &child, depth + 1));
    if (p->b->n > p->most)
      return bl_fail(p->err, BL_DAMAGED, "variant: its JSON is longer than the limit of %lld bytes",
                     (long long)p->ctx->o.max_metadata_bytes);
  }
  bl_buf_byte(p->b, object ? '}' : ']');
  return BL_OK;
}

bl_status bl_variant_print(bl_ctx *ctx, bl_str metadata, bl_str value, bl_buf *b, bl_error *err) {
  printer p = {.ctx = ctx, .b = b, .most = b->n + (size_t)ctx->o.max_metadata_bytes, .err = err};
  bl_variant_node v;
  BL_TRY(bl_variant_dict_read(metadata, &p.dict, err));
  BL_TRY(bl_variant_read(value, &v, err));
  BL_TRY(print_node(&p, &v, 1));
  return bl_buf_ok(b, err);
}
