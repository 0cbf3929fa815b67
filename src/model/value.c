/* value.c: single values: order, equality, hash, the binary form of bounds (spec: "Appendix D: Single-value
 * serialization"), promotion and text. */
#include <assert.h>

#include "base/map.h"
#include "model/type.h"

#define US_PER_DAY INT64_C(86400000000)
#define NS_PER_DAY INT64_C(86400000000000)

/* How a value is held; kinds of one class compare with each other. */
typedef enum value_class { C_BOOL, C_INTEGER, C_FLOATING, C_DECIMAL, C_BYTES, C_NONE } value_class;

static value_class class_of(bl_kind k) {
  switch (k) {
  case BL_BOOLEAN: return C_BOOL;
  case BL_INT:
  case BL_LONG:
  case BL_DATE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return C_INTEGER;
  case BL_FLOAT:
  case BL_DOUBLE: return C_FLOATING;
  case BL_DECIMAL: return C_DECIMAL;
  case BL_STRING:
  case BL_UUID:
  case BL_FIXED:
  case BL_BINARY:
  case BL_VARIANT:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return C_BYTES;
  default: return C_NONE;
  }
}

static double floating(const bl_value *v) {
  return v->kind == BL_FLOAT ? (double)v->u.f : v->u.d;
}

/* ---- order and equality ---- */

/* Bits of a double as an integer whose order is the spec's: every -NaN first, every NaN last. */
static int64_t ordered_bits(double d) {
  int64_t bits;
  memcpy(&bits, &d, sizeof bits);
  if (d != d) return bits < 0 ? INT64_MIN : INT64_MAX;
  return bits < 0 ? (int64_t)(~(uint64_t)bits | (UINT64_C(1) << 63)) : bits;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int bl_value_cmp(const bl_value *a, const bl_value *b) {
  if (a->null || b->null) return (int)b->null - (int)a->null;
  value_class c = class_of(a->kind);
  assert(c == class_of(b->kind));
  switch (c) {
  case C_BOOL: return (int)a->u.b - (int)b->u.b;
  case C_INTEGER: return COMPARE(a->u.i, b->u.i);
  case C_FLOATING: {
    int64_t x = ordered_bits(floating(a)), y = ordered_bits(floating(b));
    return COMPARE(x, y);
  }
  case C_DECIMAL: return COMPARE(a->u.dec, b->u.dec);
  case C_BYTES: return bl_str_cmp(a->u.s, b->u.s);
  default: return 0;
  }
}

/* One bit pattern for every NaN. */
static uint64_t canonical_bits(double d) {
  uint64_t bits = UINT64_C(0x7ff8000000000000);
  if (d == d) memcpy(&bits, &d, sizeof bits);
  return bits;
}

bool bl_value_same(const bl_value *a, const bl_value *b) {
  if (a->null || b->null) return a->null && b->null;
  value_class c = class_of(a->kind);
  if (c != class_of(b->kind)) return false;
  if (c == C_FLOATING) return canonical_bits(floating(a)) == canonical_bits(floating(b));
  return c == C_NONE ? a->kind == b->kind : bl_value_cmp(a, b) == 0;
}

uint64_t bl_value_hash(const bl_value *v) {
  if (v->null) return UINT64_C(0x9e3779b97f4a7c15);
  switch (class_of(v->kind)) {
  case C_BOOL: return bl_hash(&(uint8_t){v->u.b ? 1 : 0}, 1);
  case C_INTEGER: return bl_hash(&v->u.i, sizeof v->u.i);
  case C_FLOATING: return bl_hash(&(uint64_t){canonical_bits(floating(v))}, sizeof(uint64_t));
  case C_DECIMAL: return bl_hash(&v->u.dec, sizeof v->u.dec);
  case C_BYTES: return bl_hash(v->u.s.p, v->u.s.n);
  default: return (uint64_t)v->kind;
  }
}

bool bl_value_is_nan(const bl_value *v) {
  return !v->null && class_of(v->kind) == C_FLOATING && floating(v) != floating(v);
}

bl_status bl_value_copy(bl_arena *a, const bl_value *v, bl_value *out, bl_error *err) {
  bl_value copy = *v;
  if (!v->null && class_of(v->kind) == C_BYTES) {
    copy.u.s = bl_arena_str(a, v->u.s);
    if (!copy.u.s.p) return bl_nomem(err);
  }
  *out = copy;
  return BL_OK;
}

/* ---- binary form ---- */

static uint64_t little_endian(bl_str bytes) {
  uint64_t v = 0;
  for (size_t i = bytes.n; i-- > 0;) v = v << 8 | (uint8_t)bytes.p[i];
  return v;
}

static bool read_integer(bl_str bytes, int64_t *out) {
  if (bytes.n == 4) *out = (int32_t)(uint32_t)little_endian(bytes);
  if (bytes.n == 8) *out = (int64_t)little_endian(bytes);
  return bytes.n == 4 || bytes.n == 8;
}

/* A long or a timestamp, from its own 8 bytes or the 4 of the int or date that it was; unit: parts per int. */
static bool read_long(bl_str bytes, int64_t parts_of_narrow, int64_t *out) {
  if (!read_integer(bytes, out)) return false;
  return bytes.n == 8 || (parts_of_narrow && bl_mul64(*out, parts_of_narrow, out));
}

static bool read_floating(bl_str bytes, bool wide, bl_value *out) {
  float f;
  uint64_t bits = little_endian(bytes);
  if (bytes.n == 4) {
    uint32_t bits32 = (uint32_t)bits;
    memcpy(&f, &bits32, sizeof f);
    if (wide) out->u.d = (double)f;
    if (!wide) out->u.f = f;
    return true;
  }
  if (bytes.n != 8 || !wide) return false;
  memcpy(&out->u.d, &bits, sizeof out->u.d);
  return true;
}

/* Two's complement, big-endian; longer than 16 bytes only as sign extension. */
static bool read_decimal(bl_str bytes, bl_i128 *out) {
  if (bytes.n == 0) return false;
  uint8_t fill = (uint8_t)bytes.p[0] & 0x80 ? 0xff : 0;
  while (bytes.n > 16) {
    if ((uint8_t)bytes.p[0] != fill) return false;
    bytes.p++, bytes.n--;
  }
  if (((uint8_t)bytes.p[0] & 0x80 ? 0xff : 0) != fill) return false;
  bl_u128 v = fill ? ~(bl_u128)0 : 0;
  for (size_t i = 0; i < bytes.n; i++) v = v << 8 | (uint8_t)bytes.p[i];
  *out = (bl_i128)v;
  return true;
}

bool bl_value_from_bytes(const bl_type *t, bl_str bytes, bl_value *out) {
  *out = (bl_value){.kind = t->kind};
  if (!bytes.p) return false;
  switch (t->kind) {
  case BL_BOOLEAN: out->u.b = bytes.n == 1 && bytes.p[0] != 0; return bytes.n == 1;
  case BL_INT:
  case BL_DATE: return bytes.n == 4 && read_integer(bytes, &out->u.i);
  case BL_LONG: return read_long(bytes, 1, &out->u.i);
  case BL_TIME:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMPTZ_NS: return read_long(bytes, 0, &out->u.i);
  case BL_TIMESTAMP: return read_long(bytes, US_PER_DAY, &out->u.i);
  case BL_TIMESTAMP_NS: return read_long(bytes, NS_PER_DAY, &out->u.i);
  case BL_FLOAT: return read_floating(bytes, false, out);
  case BL_DOUBLE: return read_floating(bytes, true, out);
  case BL_DECIMAL: return read_decimal(bytes, &out->u.dec);
  case BL_STRING: out->u.s = bytes; return bl_utf8_valid(bytes.p, bytes.n);
  case BL_UUID: out->u.s = bytes; return bytes.n == 16;
  case BL_FIXED: out->u.s = bytes; return (uint64_t)bytes.n <= (uint64_t)t->length; /* bounds may be cut short */
  case BL_BINARY:
  case BL_VARIANT:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: out->u.s = bytes; return true;
  default: return false;
  }
}

static void write_little_endian(bl_buf *out, uint64_t v, size_t n) {
  for (size_t i = 0; i < n; i++) bl_buf_byte(out, (uint8_t)(v >> (8 * i)));
}

size_t bl_decimal_bytes(bl_i128 v, uint8_t out[16]) {
  size_t n = 16;
  while (n > 1 && v >> (8 * (n - 1) - 1) == (v < 0 ? -1 : 0)) n--;
  for (size_t i = 0; i < n; i++) out[i] = (uint8_t)((bl_u128)v >> (8 * (n - 1 - i)));
  return n;
}

bl_status bl_value_to_bytes(const bl_type *t, const bl_value *v, bl_buf *out, bl_error *err) {
  if (v->null) return bl_fail(err, BL_UNSUPPORTED, "value: null has no binary form");
  uint32_t bits32;
  uint64_t bits;
  uint8_t decimal[16];
  switch (t->kind) {
  case BL_BOOLEAN: bl_buf_byte(out, v->u.b ? 1 : 0); break;
  case BL_INT:
  case BL_DATE: write_little_endian(out, (uint64_t)v->u.i, 4); break;
  case BL_LONG:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: write_little_endian(out, (uint64_t)v->u.i, 8); break;
  case BL_FLOAT:
    memcpy(&bits32, &v->u.f, sizeof bits32);
    write_little_endian(out, bits32, 4);
    break;
  case BL_DOUBLE:
    memcpy(&bits, &v->u.d, sizeof bits);
    write_little_endian(out, bits, 8);
    break;
  case BL_DECIMAL: bl_buf_add(out, decimal, bl_decimal_bytes(v->u.dec, decimal)); break;
  case BL_STRING:
  case BL_UUID:
  case BL_FIXED:
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: bl_buf_str(out, v->u.s); break;
  default: return bl_fail(err, BL_UNSUPPORTED, "value: %s has no binary form", bl_kind_name(t->kind));
  }
  return bl_buf_ok(out, err);
}

/* ---- promotion and text ---- */

bool bl_value_promote(const bl_type *from, const bl_value *v, const bl_type *to, bl_value *out) {
  if (!bl_type_can_promote(from, to)) return false;
  *out = *v;
  out->kind = to->kind;
  if (v->null || from->kind == to->kind) return true;
  switch (from->kind) {
  case BL_INT: return true;
  case BL_FLOAT: out->u.d = (double)v->u.f; return true;
  case BL_DATE: return bl_mul64(v->u.i, to->kind == BL_TIMESTAMP ? US_PER_DAY : NS_PER_DAY, &out->u.i);
  default: return false;
  }
}

void bl_value_print(bl_buf *b, const bl_type *t, const bl_value *v) {
  if (v->null) {
    bl_buf_cstr(b, "null");
    return;
  }
  switch (t->kind) {
  case BL_BOOLEAN: bl_buf_cstr(b, v->u.b ? "true" : "false"); break;
  case BL_INT:
  case BL_LONG: bl_print_i64(b, v->u.i); break;
  case BL_FLOAT: bl_print_float(b, v->u.f); break;
  case BL_DOUBLE: bl_print_double(b, v->u.d); break;
  case BL_DECIMAL: bl_print_decimal(b, v->u.dec, t->scale); break;
  case BL_DATE: bl_print_date(b, (int32_t)v->u.i); break;
  case BL_TIME: bl_print_time(b, v->u.i, 1000000); break;
  case BL_TIMESTAMP: bl_print_timestamp(b, v->u.i, 1000000, false); break;
  case BL_TIMESTAMPTZ: bl_print_timestamp(b, v->u.i, 1000000, true); break;
  case BL_TIMESTAMP_NS: bl_print_timestamp(b, v->u.i, 1000000000, false); break;
  case BL_TIMESTAMPTZ_NS: bl_print_timestamp(b, v->u.i, 1000000000, true); break;
  case BL_STRING: bl_buf_str(b, v->u.s); break;
  case BL_UUID:
    if (v->u.s.n == 16) bl_print_uuid(b, (const uint8_t *)v->u.s.p);
    break;
  case BL_FIXED:
  case BL_BINARY:
  case BL_VARIANT:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: bl_print_base64(b, v->u.s.p, v->u.s.n); break;
  case BL_STRUCT: bl_buf_cstr(b, "{}"); break;
  default: bl_buf_cstr(b, "null");
  }
}
