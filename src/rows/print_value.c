/* print_value.c: see print_value.h. Depth is bounded by the schema's, which bl_view_new checked. */
#include "rows/print_value.h"

#include <math.h>

#include "format/variant.h"

/* Put quotes around text that `print` appends. */
#define QUOTED(b, quotes, print)                                                                                       \
  do {                                                                                                                 \
    if (quotes) bl_buf_byte(b, '"');                                                                                   \
    print;                                                                                                             \
    if (quotes) bl_buf_byte(b, '"');                                                                                   \
  } while (0)

static void print_bytes(bl_buf *b, const bl_view *v, int64_t i) {
  bl_str s = bl_view_bytes(v, i);
  if (v->hint == BL_H_UUID) bl_print_uuid(b, (const uint8_t *)s.p);
  else bl_print_base64(b, s.p, s.n);
}

static void print_string(bl_buf *b, bl_str s, bool quotes) {
  if (quotes) bl_print_json_str(b, s);
  else bl_buf_str(b, s);
}

/* A value without children that is not null. */
static void print_scalar(bl_buf *b, const bl_view *v, int64_t i, bool quotes) {
  switch (v->kind) {
  case BL_D_BOOL: bl_buf_cstr(b, bl_view_bool(v, i) ? "true" : "false"); break;
  case BL_D_INT32: bl_print_i64(b, bl_view_i32(v, i)); break;
  case BL_D_INT64: bl_print_i64(b, bl_view_i64(v, i)); break;
  case BL_D_FLOAT: QUOTED(b, quotes && !isfinite(bl_view_float(v, i)), bl_print_float(b, bl_view_float(v, i))); break;
  case BL_D_DOUBLE:
    QUOTED(b, quotes && !isfinite(bl_view_double(v, i)), bl_print_double(b, bl_view_double(v, i)));
    break;
  case BL_D_DECIMAL: QUOTED(b, quotes, bl_print_decimal(b, bl_view_decimal(v, i), v->scale)); break;
  case BL_D_DATE32: QUOTED(b, quotes, bl_print_date(b, bl_view_i32(v, i))); break;
  case BL_D_TIME_US: QUOTED(b, quotes, bl_print_time(b, bl_view_i64(v, i), 1000000)); break;
  case BL_D_TIMESTAMP_US: QUOTED(b, quotes, bl_print_timestamp(b, bl_view_i64(v, i), 1000000, v->utc)); break;
  case BL_D_TIMESTAMP_NS: QUOTED(b, quotes, bl_print_timestamp(b, bl_view_i64(v, i), 1000000000, v->utc)); break;
  case BL_D_STRING: print_string(b, bl_view_bytes(v, i), quotes); break;
  case BL_D_BINARY:
  case BL_D_FIXED: QUOTED(b, quotes, print_bytes(b, v, i)); break;
  default: bl_buf_cstr(b, "null"); break;
  }
}

static bl_status print_variant(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  const bl_view *metadata = bl_view_child(v, "metadata"), *value = bl_view_child(v, "value");
  if (!metadata || !value || metadata->kind != BL_D_BINARY || value->kind != BL_D_BINARY)
    return bl_fail(err, BL_USAGE, "column \"%.*s\": a variant needs binary fields metadata and value",
                   BL_STR_ARG(v->name));
  if (bl_view_null(metadata, i) || bl_view_null(value, i))
    return bl_fail(err, BL_DAMAGED, "column \"%.*s\": variant without metadata or value", BL_STR_ARG(v->name));
  bl_status st = bl_variant_print(b->ctx, bl_view_bytes(metadata, i), bl_view_bytes(value, i), b, err);
  return st == BL_OK ? BL_OK : bl_fail_in(err, st, "column \"%.*s\"", BL_STR_ARG(v->name));
}

static bl_status print_struct(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  if (v->hint == BL_H_VARIANT) return print_variant(b, v, i, err);
  bl_buf_byte(b, '{');
  for (size_t k = 0; k < v->n_children; k++) {
    bl_str key = v->children[k].key;
    size_t comma = k == 0;
    bl_buf_add(b, key.p + comma, key.n - comma);
    BL_TRY(bl_print_value(b, &v->children[k], i, err));
  }
  bl_buf_byte(b, '}');
  return BL_OK;
}

static bl_status print_list(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  int64_t at, end;
  bl_view_range(v, i, &at, &end);
  bl_buf_byte(b, '[');
  for (int64_t k = at; k < end; k++) {
    if (k > at) bl_buf_byte(b, ',');
    BL_TRY(bl_print_value(b, &v->children[0], k, err));
  }
  bl_buf_byte(b, ']');
  return BL_OK;
}

static bl_status print_map(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  int64_t at, end;
  bl_view_range(v, i, &at, &end);
  bool object = v->children[0].kind == BL_D_STRING;
  bl_buf_byte(b, object ? '{' : '[');
  for (int64_t k = at; k < end; k++) {
    if (k > at) bl_buf_byte(b, ',');
    if (!object) bl_buf_cstr(b, "{\"key\":");
    BL_TRY(bl_print_value(b, &v->children[0], k, err));
    bl_buf_cstr(b, object ? ":" : ",\"value\":");
    BL_TRY(bl_print_value(b, &v->children[1], k, err));
    if (!object) bl_buf_byte(b, '}');
  }
  bl_buf_byte(b, object ? '}' : ']');
  return BL_OK;
}

static bl_status print(bl_buf *b, const bl_view *v, int64_t i, bool quotes, bl_error *err) {
  if (bl_view_null(v, i)) {
    bl_buf_add(b, "null", 4);
    return BL_OK;
  }
  switch (v->kind) {
  case BL_D_STRUCT: return print_struct(b, v, i, err);
  case BL_D_LIST: return print_list(b, v, i, err);
  case BL_D_MAP: return print_map(b, v, i, err);
  default: print_scalar(b, v, i, quotes); return BL_OK;
  }
}

bl_status bl_print_value(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  return print(b, v, i, true, err);
}

bl_status bl_print_bare(bl_buf *b, const bl_view *v, int64_t i, bl_error *err) {
  return print(b, v, i, false, err);
}
