/* value_json.c: single values as JSON (spec: "Appendix D: Single-value serialization", JSON). See metadata_json.h. */
#include "format/metadata_json.h"

enum { MICROS = 1000000, NANOS = 1000000000 };

/* ---- reading ---- */

static bl_status mismatch(const bl_type *t, const bl_json *v, bl_error *err) {
  bool text = v->kind == BL_J_NUMBER || v->kind == BL_J_STRING;
  return bl_json_fail(err, BL_DAMAGED, v, "%s%.60s is no value of the type %s", text ? "" : "this",
                      text ? v->text.p : "", bl_kind_name(t->kind));
}

static bool is_word(bl_str s) {
  return bl_str_is(s, "NaN") || bl_str_is(s, "Infinity") || bl_str_is(s, "-Infinity");
}

/* JSON has no words for NaN and the infinities: writers put them into strings. */
static bool read_floating(const bl_type *t, const bl_json *v, bl_value *out) {
  if (v->kind != BL_J_NUMBER && !(v->kind == BL_J_STRING && is_word(v->text))) return false;
  return t->kind == BL_FLOAT ? bl_parse_float(v->text, &out->u.f) : bl_parse_double(v->text, &out->u.d);
}

static bool read_whole(const bl_type *t, const bl_json *v, bl_value *out) {
  if (v->kind != BL_J_NUMBER || !bl_parse_i64(v->text, &out->u.i)) return false;
  return t->kind == BL_LONG || (out->u.i >= INT32_MIN && out->u.i <= INT32_MAX);
}

static bool read_decimal(const bl_type *t, bl_str s, bl_value *out) {
  if (!bl_parse_decimal(s, t->scale, &out->u.dec)) return false;
  bl_i128 rest = out->u.dec;
  int digits = 0;
  for (; rest; rest /= 10) digits++;
  return digits <= t->precision;
}

static bool read_timestamp(const bl_type *t, bl_str s, bl_value *out) {
  bool nanos = t->kind == BL_TIMESTAMP_NS || t->kind == BL_TIMESTAMPTZ_NS;
  bool zoned = t->kind == BL_TIMESTAMPTZ || t->kind == BL_TIMESTAMPTZ_NS, has_zone;
  return bl_parse_timestamp(s, nanos ? NANOS : MICROS, &out->u.i, &has_zone) && has_zone == zoned;
}

static bool read_date(bl_str s, bl_value *out) {
  int32_t days;
  if (!bl_parse_date(s, &days)) return false;
  out->u.i = days;
  return true;
}

/* Everything that is written as a string but holds no bytes of its own. */
static bool read_text(const bl_type *t, const bl_json *v, bl_value *out) {
  if (v->kind != BL_J_STRING) return false;
  switch (t->kind) {
  case BL_DECIMAL: return read_decimal(t, v->text, out);
  case BL_DATE: return read_date(v->text, out);
  case BL_TIME: return bl_parse_time(v->text, MICROS, &out->u.i);
  default: return read_timestamp(t, v->text, out);
  }
}

static bl_status keep_bytes(bl_arena *a, bl_str s, bl_value *out, bl_error *err) {
  out->u.s = bl_arena_str(a, s);
  return out->u.s.p ? BL_OK : bl_nomem(err);
}

static bl_status read_uuid(bl_arena *a, const bl_type *t, const bl_json *v, bl_value *out, bl_error *err) {
  uint8_t bytes[16];
  if (v->kind != BL_J_STRING || !bl_parse_uuid(v->text, bytes)) return mismatch(t, v, err);
  return keep_bytes(a, (bl_str){(const char *)bytes, sizeof bytes}, out, err);
}

static bl_status read_hex(bl_arena *a, const bl_type *t, const bl_json *v, bl_value *out, bl_error *err) {
  if (v->kind != BL_J_STRING) return mismatch(t, v, err);
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bool ok = bl_parse_hex(v->text, &b);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK && (!ok || (t->kind == BL_FIXED && b.n != (size_t)t->length))) st = mismatch(t, v, err);
  if (st == BL_OK) st = keep_bytes(a, (bl_str){(const char *)b.p, b.n}, out, err);
  bl_buf_free(&b);
  return st;
}

/* A struct's value is stored by its fields: only {} may stand here. */
static bl_status read_struct(const bl_json *v, bl_error *err) {
  if (v->kind == BL_J_OBJECT && v->n == 0) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, v, "the value of a struct must be null or {}");
}

bl_status bl_value_from_json(bl_arena *a, const bl_type *t, const bl_json *v, bl_value *out, bl_error *err) {
  *out = (bl_value){.kind = t->kind, .null = v->kind == BL_J_NULL};
  if (out->null) return BL_OK;
  switch (t->kind) {
  case BL_BOOLEAN: out->u.b = v->b; return v->kind == BL_J_BOOL ? BL_OK : mismatch(t, v, err);
  case BL_INT:
  case BL_LONG: return read_whole(t, v, out) ? BL_OK : mismatch(t, v, err);
  case BL_FLOAT:
  case BL_DOUBLE: return read_floating(t, v, out) ? BL_OK : mismatch(t, v, err);
  case BL_DECIMAL:
  case BL_DATE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return read_text(t, v, out) ? BL_OK : mismatch(t, v, err);
  case BL_STRING: return v->kind == BL_J_STRING ? keep_bytes(a, v->text, out, err) : mismatch(t, v, err);
  case BL_UUID: return read_uuid(a, t, v, out, err);
  case BL_FIXED:
  case BL_BINARY: return read_hex(a, t, v, out, err);
  case BL_STRUCT: return read_struct(v, err);
  case BL_LIST:
  case BL_MAP:
    return bl_json_fail(err, BL_UNSUPPORTED, v, "a value of the type %s is not supported here", bl_kind_name(t->kind));
  case BL_KIND_UNKNOWN:
  case BL_VARIANT:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: break;
  }
  return bl_json_fail(err, BL_DAMAGED, v, "a value of the type %s must be null", bl_kind_name(t->kind));
}

/* ---- writing ---- */

static void print_timestamp(bl_buf *b, const bl_type *t, int64_t v) {
  bool nanos = t->kind == BL_TIMESTAMP_NS || t->kind == BL_TIMESTAMPTZ_NS;
  bl_print_timestamp(b, v, nanos ? NANOS : MICROS, t->kind == BL_TIMESTAMPTZ || t->kind == BL_TIMESTAMPTZ_NS);
}

/* The text of everything but boolean, null and struct; false for types that have none. */
static bool print_value(bl_buf *b, const bl_type *t, const bl_value *v) {
  switch (t->kind) {
  case BL_INT:
  case BL_LONG: bl_print_i64(b, v->u.i); return true;
  case BL_FLOAT: bl_print_float(b, v->u.f); return true;
  case BL_DOUBLE: bl_print_double(b, v->u.d); return true;
  case BL_DECIMAL: bl_print_decimal(b, v->u.dec, t->scale); return true;
  case BL_DATE: bl_print_date(b, (int32_t)v->u.i); return true;
  case BL_TIME: bl_print_time(b, v->u.i, MICROS); return true;
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: print_timestamp(b, t, v->u.i); return true;
  case BL_STRING: bl_buf_str(b, v->u.s); return true;
  case BL_UUID: bl_print_uuid(b, (const uint8_t *)v->u.s.p); return true;
  case BL_FIXED:
  case BL_BINARY: bl_print_hex(b, v->u.s.p, v->u.s.n); return true;
  default: return false;
  }
}

static bool is_number(bl_kind k) {
  return k == BL_INT || k == BL_LONG || k == BL_FLOAT || k == BL_DOUBLE;
}

bl_json *bl_value_to_json(bl_arena *a, const bl_type *t, const bl_value *v) {
  if (v->null) return bl_json_new(a, BL_J_NULL);
  if (t->kind == BL_BOOLEAN) return bl_json_new_bool(a, v->u.b);
  if (t->kind == BL_STRUCT) return bl_json_new(a, BL_J_OBJECT);
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_json *out = NULL;
  if (print_value(&b, t, v) && !b.failed) {
    bl_str s = {b.p ? (const char *)b.p : "", b.n};
    out = is_number(t->kind) && !is_word(s) ? bl_json_new_number(a, s) : bl_json_new_str(a, s);
  }
  bl_buf_free(&b);
  return out;
}
