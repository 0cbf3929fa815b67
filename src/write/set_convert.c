/* set_convert.c: a value of one type as a value of another (set_expr.h V3). */
#include <math.h>

#include "model/expr_literal.h"
#include "write/set_expr.h"

#define US_PER_DAY INT64_C(86400000000)

static bool is_integer(bl_kind k) {
  return k == BL_INT || k == BL_LONG;
}

static bool is_numeric(bl_kind k) {
  return is_integer(k) || k == BL_DECIMAL || k == BL_FLOAT || k == BL_DOUBLE;
}

static bool is_instant(bl_kind k) {
  return k >= BL_TIMESTAMP && k <= BL_TIMESTAMPTZ_NS;
}

static bool is_nanos(bl_kind k) {
  return k == BL_TIMESTAMP_NS || k == BL_TIMESTAMPTZ_NS;
}

static bool is_zoned(bl_kind k) {
  return k == BL_TIMESTAMPTZ || k == BL_TIMESTAMPTZ_NS;
}

static bool is_bytes(const bl_type *t) {
  return t->kind == BL_BINARY || t->kind == BL_FIXED || t->kind == BL_UUID;
}

static bool has_text(bl_kind k) {
  return k < BL_KIND_UNKNOWN && k != BL_FIXED && k != BL_BINARY;
}

static bool converts_unwritten(const bl_type *from, const bl_type *to) {
  if (is_numeric(from->kind) && is_numeric(to->kind)) return true;
  if (from->kind == BL_DATE && is_instant(to->kind)) return true;
  if (is_instant(from->kind) && is_instant(to->kind))
    return is_zoned(from->kind) == is_zoned(to->kind) && is_nanos(to->kind);
  return to->kind == BL_STRING && has_text(from->kind);
}

bool bl_set_converts(const bl_type *from, const bl_type *to, bool written) {
  if (from->kind == BL_KIND_UNKNOWN) return true;
  if (bl_kind_is_nested(from->kind) || bl_kind_is_nested(to->kind)) return false;
  if (from->kind == to->kind) return from->length == to->length;
  if (converts_unwritten(from, to)) return true;
  if (!written) return false;
  if (from->kind == BL_STRING) return to->kind < BL_KIND_UNKNOWN && to->kind != BL_FIXED;
  if (is_instant(from->kind)) return is_instant(to->kind) || to->kind == BL_DATE;
  if (from->kind == BL_BOOLEAN) return is_integer(to->kind);
  if (to->kind == BL_BOOLEAN) return is_integer(from->kind);
  return is_bytes(from) && (is_bytes(to) || to->kind == BL_STRING);
}

/* ---- what does not fit ---- */

static bl_status no_fit(const bl_type *from, const bl_value *v, const bl_type *to, bl_arena *scratch, bl_error *err) {
  bl_buf a, b;
  bl_buf_init(&a, bl_arena_ctx(scratch), BL_BUF_MAX);
  bl_buf_init(&b, bl_arena_ctx(scratch), BL_BUF_MAX);
  bl_value_print(&a, from, v);
  bl_type_print(&b, to);
  bl_status st = a.failed || b.failed
                     ? bl_nomem(err)
                     : bl_fail(err, BL_USAGE, "%.*s does not fit the type %.*s", (int)(a.n > 200 ? 200 : a.n),
                               (const char *)a.p, (int)b.n, (const char *)b.p);
  bl_buf_free(&a);
  bl_buf_free(&b);
  return st;
}

static bl_i128 power_of_ten(int n) {
  bl_i128 v = 1;
  while (n-- > 0) v *= 10;
  return v;
}

/* ---- numbers ---- */

/* unscaled at `scale` as one at to->scale, rounded half away from zero; false where it has too many digits. */
static bool rescale(bl_i128 v, int scale, const bl_type *to, bl_i128 *out) {
  bl_i128 bound = power_of_ten(to->precision);
  if (scale > to->scale) {
    int drop = scale - to->scale;
    if (drop > 38) v = 0;
    else {
      bl_i128 unit = power_of_ten(drop), rest = v % unit, half = unit / 2;
      v = v / unit + (rest >= half ? 1 : rest <= -half ? -1 : 0);
    }
  } else if (v != 0) {
    int add = to->scale - scale;
    if (add > 38 || __builtin_mul_overflow(v, power_of_ten(add), &v)) return false;
  }
  *out = v;
  return v < bound && v > -bound;
}

/* The shortest digits of a double, as a decimal. */
static bool decimal_of_double(bl_ctx *ctx, double d, const bl_type *to, bl_i128 *out) {
  bl_buf text;
  bl_i128 v = 0;
  int scale = 0, digits = 0;
  bool point = false, ok;
  if (d - d != 0) return false;
  bl_buf_init(&text, ctx, 100);
  bl_print_double(&text, d);
  size_t i = 0, n = text.failed ? 0 : text.n;
  const char *p = (const char *)text.p;
  for (; i < n && p[i] != 'E' && p[i] != 'e'; i++) {
    if (p[i] == '.') point = true;
    if (p[i] < '0' || p[i] > '9') continue;
    v = v * 10 + (p[i] - '0');
    scale += point;
    digits += v != 0;
  }
  int64_t exponent = 0;
  if (i + 1 < n) {
    bool plus = p[i + 1] == '+';
    bl_str e = {p + i + 1 + plus, n - i - 1 - plus};
    if (!bl_parse_i64(e, &exponent)) n = 0;
  }
  if (n > 0 && p[0] == '-') v = -v;
  ok = n > 0 && digits <= 38;
  if (ok && exponent > 0) {
    ok = exponent <= 38 && !__builtin_mul_overflow(v, power_of_ten((int)exponent), &v);
    exponent = 0;
  }
  bl_buf_free(&text);
  return ok && rescale(v, scale - (int)exponent, to, out);
}

static double double_of_decimal(bl_ctx *ctx, bl_i128 v, int scale) {
  bl_buf text;
  double d = 0;
  bl_buf_init(&text, ctx, 100);
  bl_print_decimal(&text, v, scale);
  if (!text.failed && !bl_parse_double((bl_str){(const char *)text.p, text.n}, &d)) d = 0;
  bl_buf_free(&text);
  return d;
}

static bool integer_of(const bl_type *from, const bl_value *v, bl_i128 *out) {
  double d;
  switch (from->kind) {
  case BL_INT:
  case BL_LONG: *out = v->u.i; return true;
  case BL_BOOLEAN: *out = v->u.b; return true;
  case BL_DECIMAL: *out = v->u.dec / power_of_ten(from->scale); return true;
  default: d = from->kind == BL_FLOAT ? (double)v->u.f : v->u.d; break;
  }
  if (!(d > -1e30 && d < 1e30)) return false;
  *out = (bl_i128)d;
  return true;
}

static double double_of(bl_ctx *ctx, const bl_type *from, const bl_value *v) {
  switch (from->kind) {
  case BL_FLOAT: return (double)v->u.f;
  case BL_DOUBLE: return v->u.d;
  case BL_DECIMAL: return double_of_decimal(ctx, v->u.dec, from->scale);
  default: return (double)v->u.i;
  }
}

static bool to_number(bl_ctx *ctx, const bl_type *from, const bl_value *v, const bl_type *to, bl_value *out) {
  bl_i128 i;
  double d;
  switch (to->kind) {
  case BL_INT:
  case BL_LONG: {
    bl_i128 max = to->kind == BL_INT ? INT32_MAX : INT64_MAX;
    if (!integer_of(from, v, &i) || i > max || i < -max - 1) return false;
    out->u.i = (int64_t)i;
    return true;
  }
  case BL_DECIMAL:
    if (from->kind == BL_DECIMAL) return rescale(v->u.dec, from->scale, to, &out->u.dec);
    if (is_integer(from->kind)) return rescale(v->u.i, 0, to, &out->u.dec);
    return decimal_of_double(ctx, double_of(ctx, from, v), to, &out->u.dec);
  default: break;
  }
  d = double_of(ctx, from, v);
  if (to->kind == BL_DOUBLE) out->u.d = d;
  else out->u.f = from->kind == BL_LONG || from->kind == BL_INT ? (float)v->u.i : (float)d;
  return to->kind == BL_DOUBLE || !isinf(out->u.f) || isinf(d);
}

/* ---- times ---- */

static bool to_time(const bl_type *from, const bl_value *v, const bl_type *to, bl_value *out) {
  int64_t unit_from = is_nanos(from->kind) ? 1000 : 1, unit_to = is_nanos(to->kind) ? 1000 : 1;
  if (from->kind == BL_DATE) return bl_mul64(v->u.i, US_PER_DAY, &out->u.i) && bl_mul64(out->u.i, unit_to, &out->u.i);
  if (to->kind == BL_DATE) {
    out->u.i = bl_floor_div(v->u.i, US_PER_DAY * unit_from);
    return out->u.i >= INT32_MIN && out->u.i <= INT32_MAX;
  }
  if (unit_to > unit_from) return bl_mul64(v->u.i, 1000, &out->u.i);
  out->u.i = bl_floor_div(v->u.i, unit_from / unit_to);
  return true;
}

/* ---- text and bytes ---- */

static bl_status to_text(const bl_type *from, const bl_value *v, bl_arena *scratch, bl_value *out, bl_error *err) {
  bl_buf text;
  bl_buf_init(&text, bl_arena_ctx(scratch), BL_BUF_MAX);
  bl_value_print(&text, from, v);
  bl_status st = bl_buf_ok(&text, err);
  if (st == BL_OK) {
    out->u.s = bl_arena_str(scratch, (bl_str){text.n ? (const char *)text.p : "", text.n});
    if (!out->u.s.p) st = bl_nomem(err);
  }
  bl_buf_free(&text);
  return st;
}

static bl_status of_text(const bl_type *from, const bl_value *v, const bl_type *to, bl_arena *scratch, bl_value *out,
                         bl_error *err) {
  bl_literal l = {.kind = BL_L_STRING, .text = v->u.s};
  bl_fit fit;
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_literal_fit(scratch, &l, to, out, &fit, &why);
  if (st == BL_NOMEM) return bl_nomem(err);
  bool floating = to->kind == BL_FLOAT || to->kind == BL_DOUBLE;
  if (st != BL_OK || (fit != BL_FIT_EXACT && !floating)) return no_fit(from, v, to, scratch, err);
  return BL_OK;
}

static bool to_bytes(const bl_value *v, const bl_type *to, bl_value *out) {
  out->u.s = v->u.s;
  if (to->kind == BL_FIXED) return v->u.s.n == (size_t)to->length;
  if (to->kind == BL_UUID) return v->u.s.n == 16;
  return to->kind != BL_STRING || bl_utf8_valid(v->u.s.p, v->u.s.n);
}

bl_status bl_set_convert(const bl_type *from, const bl_value *v, const bl_type *to, bl_arena *scratch, bl_value *out,
                         bl_error *err) {
  bl_value in = *v;
  bool ok;
  *out = (bl_value){.kind = to->kind, .null = in.null};
  if (in.null) return BL_OK;
  if (from->kind == BL_STRING && to->kind != BL_STRING && to->kind != BL_BINARY)
    return of_text(from, &in, to, scratch, out, err);
  if (to->kind == BL_STRING && has_text(from->kind) && from->kind != BL_STRING)
    return to_text(from, &in, scratch, out, err);
  if (to->kind == BL_BOOLEAN && is_integer(from->kind)) {
    out->u.b = in.u.i != 0;
    ok = true;
  } else if (is_numeric(to->kind)) ok = to_number(bl_arena_ctx(scratch), from, &in, to, out);
  else if (from->kind == BL_STRING || is_bytes(from)) ok = to_bytes(&in, to, out);
  else if (from->kind == BL_DATE || is_instant(from->kind)) ok = to_time(from, &in, to, out);
  else {
    out->u = in.u;
    ok = true;
  }
  return ok ? BL_OK : no_fit(from, &in, to, scratch, err);
}
