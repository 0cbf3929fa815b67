/* expr_literal.c: see expr_literal.h.
 *  T1 Numbers against int, long and decimal columns, times against date and timestamp columns and bytes against fixed
 *     columns are placed exactly; so are whole numbers against float and double columns.
 *  T2 Other numbers against float and double columns mean the column's nearest value (0.1 finds what prints as 0.1).
 *  T3 All times are UTC; a date stands for its midnight. */
#include "model/expr_literal.h"

#include <math.h>

#define NS_PER_DAY ((bl_i128)INT64_C(86400000000000))

static bl_status refuse(const bl_literal *l, const bl_type *t, const char *what, bl_error *err) {
  return bl_fail_at(err, BL_USAGE, (int64_t)l->at, "expression: \"%.*s\": it is not %s, as a column of type %s needs",
                    BL_STR_ARG(l->text), what, bl_kind_name(t->kind));
}

static bl_status no_compare(const bl_literal *l, const bl_type *t, bl_error *err) {
  static const char *const kinds[] = {[BL_L_NUMBER] = "a number",
                                      [BL_L_STRING] = "a string",
                                      [BL_L_BOOL] = "a truth value",
                                      [BL_L_NULL] = "null",
                                      [BL_L_DATE] = "a date",
                                      [BL_L_TIMESTAMP] = "a timestamp",
                                      [BL_L_TIMESTAMPTZ] = "a timestamp",
                                      [BL_L_UUID] = "a uuid",
                                      [BL_L_BYTES] = "bytes"};
  return bl_fail_at(err, BL_USAGE, (int64_t)l->at, "expression: \"%.*s\": %s does not compare with a column of type %s",
                    BL_STR_ARG(l->text), kinds[l->kind], bl_kind_name(t->kind));
}

/* ---- whole numbers ---- */

static bl_i128 power_of_ten(int n) {
  bl_i128 v = 1;
  while (n-- > 0) v *= 10;
  return v;
}

/* v, or a place between v and v + 1 where it is not exact, among the values from min to max. */
static bl_fit place(bl_i128 v, bool exact, bl_i128 min, bl_i128 max) {
  if (v > max) return BL_FIT_ALL_LESS;
  if (v < min) return BL_FIT_ALL_GREATER;
  return exact ? BL_FIT_EXACT : BL_FIT_BELOW;
}

typedef struct digits {
  bl_str whole, fraction;
  int64_t exponent; /* clipped */
  bool negative;
} digits;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bl_str take_digits(bl_str *s) {
  bl_str d = {s->p, 0};
  while (d.n < s->n && is_digit(s->p[d.n])) d.n++;
  s->p += d.n;
  s->n -= d.n;
  return d;
}

static bool take(bl_str *s, char c) {
  if (!s->n || s->p[0] != c) return false;
  s->p++;
  s->n--;
  return true;
}

/* -?digits[.digits][(e|E)[+-]digits]; false where the text is anything else. */
static bool scan_number(bl_str s, digits *out) {
  *out = (digits){.negative = take(&s, '-')};
  out->whole = take_digits(&s);
  if (take(&s, '.')) out->fraction = take_digits(&s);
  if (out->whole.n == 0) return false;
  if (take(&s, 'e') || take(&s, 'E')) {
    bool negative = take(&s, '-');
    if (!negative) take(&s, '+');
    bl_str e = take_digits(&s);
    if (!e.n) return false;
    for (size_t i = 0; i < e.n; i++)
      if (out->exponent < INT32_MAX) out->exponent = out->exponent * 10 + (e.p[i] - '0');
    if (negative) out->exponent = -out->exponent;
  }
  return s.n == 0;
}

static int digit(const digits *d, size_t i) {
  return (i < d->whole.n ? d->whole.p[i] : d->fraction.p[i - d->whole.n]) - '0';
}

static bool is_zero(const digits *d) {
  for (size_t i = 0; i < d->whole.n + d->fraction.n; i++)
    if (digit(d, i)) return false;
  return true;
}

/* floor(number * 10^scale); beyond 38 digits something that is beyond every type's range. */
static bl_i128 scaled_floor(const digits *d, int scale, bool *exact) {
  size_t n = d->whole.n + d->fraction.n, first = 0;
  while (first < n && digit(d, first) == 0) first++;
  int64_t kept = (int64_t)(d->whole.n - first) + d->exponent + scale; /* digits before the point */
  bl_i128 v = 0;
  *exact = true;
  if (first == n) return 0;
  if (kept > 38) return d->negative ? -power_of_ten(38) : power_of_ten(38);
  for (int64_t i = 0; i < kept; i++) v = v * 10 + ((size_t)i < n - first ? digit(d, first + (size_t)i) : 0);
  for (size_t i = first + (size_t)(kept > 0 ? kept : 0); i < n; i++)
    if (digit(d, i)) *exact = false;
  if (!d->negative) return v;
  return *exact ? -v : -v - 1;
}

static void fit_number(const digits *d, const bl_type *t, bl_value *value, bl_fit *fit) {
  bool exact;
  bl_i128 v = scaled_floor(d, t->kind == BL_DECIMAL ? t->scale : 0, &exact), max;
  if (t->kind == BL_DECIMAL) {
    max = power_of_ten(t->precision) - 1;
    *fit = place(v, exact, -max, max);
    value->u.dec = v;
  } else {
    max = t->kind == BL_INT ? INT32_MAX : INT64_MAX;
    *fit = place(v, exact, -max - 1, max);
    value->u.i = (int64_t)v;
  }
}

/* ---- floating point ---- */

static bl_fit order(double value, bool less) {
  return value != value ? BL_FIT_UNORDERED : less ? BL_FIT_BELOW : BL_FIT_ABOVE;
}

/* r is the literal rounded; a whole number of up to 38 digits is then compared exactly (T1). */
static bl_fit fit_rounded(const digits *d, double r) {
  bool exact;
  if (r == 0) return is_zero(d) ? BL_FIT_EXACT : order(r, !d->negative);
  if (d->fraction.n || d->exponent || isinf(r) || d->whole.n > 38) return BL_FIT_EXACT;
  bl_i128 v = scaled_floor(d, 0, &exact), rounded = (bl_i128)r;
  return rounded == v ? BL_FIT_EXACT : order(r, rounded < v);
}

static void fit_floating(bl_str text, const digits *d, const bl_type *t, bl_value *value, bl_fit *fit) {
  bool wide = t->kind == BL_DOUBLE, finite;
  double r;
  float f;
  if (wide) finite = bl_parse_double(text, &r);
  else {
    finite = bl_parse_float(text, &f);
    r = (double)f;
  }
  if (!finite) r = d->negative ? -INFINITY : INFINITY;
  *fit = finite ? fit_rounded(d, r) : order(r, d->negative);
  if (r == 0) r = 0; /* no -0.0 */
  if (wide) value->u.d = r;
  else value->u.f = (float)r;
}

static bl_status fit_special(const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit, bl_error *err) {
  double r;
  if ((t->kind != BL_FLOAT && t->kind != BL_DOUBLE) || !bl_parse_double(l->text, &r))
    return refuse(l, t, "a number", err);
  *fit = r != r ? BL_FIT_UNORDERED : BL_FIT_EXACT;
  if (t->kind == BL_DOUBLE) value->u.d = r;
  else value->u.f = (float)r;
  return BL_OK;
}

static bl_status fit_numeric(const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit, bl_error *err) {
  digits d;
  if (l->kind != BL_L_NUMBER && l->kind != BL_L_STRING) return no_compare(l, t, err);
  if (!scan_number(l->text, &d)) return fit_special(l, t, value, fit, err);
  if (t->kind == BL_FLOAT || t->kind == BL_DOUBLE) fit_floating(l->text, &d, t, value, fit);
  else fit_number(&d, t, value, fit);
  return BL_OK;
}

/* ---- times ---- */

static bool parse_instant(bl_str text, bl_i128 *ns) {
  int64_t v;
  bool zone;
  if (bl_parse_timestamp(text, 1000000, &v, &zone)) {
    *ns = (bl_i128)v * 1000;
    return true;
  }
  if (!bl_parse_timestamp(text, 1000000000, &v, &zone)) return false;
  *ns = v;
  return true;
}

static bool parse_midnight(bl_str text, bl_i128 *ns) {
  int32_t days;
  if (!bl_parse_date(text, &days)) return false;
  *ns = days * NS_PER_DAY;
  return true;
}

static bl_status fit_time_of_day(const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit, bl_error *err) {
  int64_t ns;
  *fit = BL_FIT_EXACT;
  if (l->kind != BL_L_STRING) return no_compare(l, t, err);
  if (bl_parse_time(l->text, 1000000, &value->u.i)) return BL_OK;
  if (!bl_parse_time(l->text, 1000000000, &ns)) return refuse(l, t, "a time", err);
  value->u.i = ns / 1000;
  *fit = ns % 1000 ? BL_FIT_BELOW : BL_FIT_EXACT;
  return BL_OK;
}

static bl_status fit_instant(const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit, bl_error *err) {
  bl_i128 ns, unit = NS_PER_DAY;
  if (l->kind != BL_L_DATE && l->kind != BL_L_TIMESTAMP && l->kind != BL_L_TIMESTAMPTZ && l->kind != BL_L_STRING)
    return no_compare(l, t, err);
  if (!(l->kind != BL_L_DATE && parse_instant(l->text, &ns)) && !parse_midnight(l->text, &ns))
    return refuse(l, t, l->kind == BL_L_DATE ? "a date" : "a date or timestamp", err);
  if (t->kind == BL_TIMESTAMP || t->kind == BL_TIMESTAMPTZ) unit = 1000;
  if (t->kind == BL_TIMESTAMP_NS || t->kind == BL_TIMESTAMPTZ_NS) unit = 1;
  bl_i128 v = ns / unit;
  if (ns % unit < 0) v--;
  bool day = t->kind == BL_DATE;
  *fit = place(v, v * unit == ns, day ? INT32_MIN : INT64_MIN, day ? INT32_MAX : INT64_MAX);
  value->u.i = (int64_t)v;
  return BL_OK;
}

/* ---- bytes ---- */

static bl_status fit_uuid(bl_arena *a, const bl_literal *l, const bl_type *t, bl_value *value, bl_error *err) {
  uint8_t bytes[16];
  bool text = l->kind == BL_L_UUID || l->kind == BL_L_STRING;
  if (!text && l->kind != BL_L_BYTES) return no_compare(l, t, err);
  if (text ? !bl_parse_uuid(l->text, bytes) : l->text.n != sizeof bytes) return refuse(l, t, "a uuid", err);
  if (!text) memcpy(bytes, l->text.p, sizeof bytes);
  value->u.s = bl_arena_str(a, (bl_str){(const char *)bytes, sizeof bytes});
  return value->u.s.p ? BL_OK : bl_nomem(err);
}

/* Cut to the length, or filled up with zeros: the neighbour among values of that length. */
static bl_status fit_fixed(bl_arena *a, const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit,
                           bl_error *err) {
  size_t n = (size_t)t->length, have = l->text.n < n ? l->text.n : n;
  if (l->text.n == n) value->u.s = l->text;
  else {
    char *p = bl_arena_calloc(a, n + 1, 1);
    if (!p) return bl_nomem(err);
    memcpy(p, l->text.p, have);
    value->u.s = (bl_str){p, n};
  }
  *fit = l->text.n == n ? BL_FIT_EXACT : l->text.n > n ? BL_FIT_BELOW : BL_FIT_ABOVE;
  return BL_OK;
}

static bl_status fit_bytes(bl_arena *a, const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit,
                           bl_error *err) {
  if (l->kind != BL_L_STRING && (l->kind != BL_L_BYTES || t->kind == BL_STRING)) return no_compare(l, t, err);
  if (t->kind == BL_FIXED) return fit_fixed(a, l, t, value, fit, err);
  value->u.s = l->text;
  return BL_OK;
}

static bl_status fit_bool(const bl_literal *l, const bl_type *t, bl_value *value, bl_error *err) {
  bool yes = bl_str_is_nocase(l->text, "true");
  if (l->kind != BL_L_BOOL && l->kind != BL_L_STRING) return no_compare(l, t, err);
  if (!yes && !bl_str_is_nocase(l->text, "false")) return refuse(l, t, "true or false", err);
  value->u.b = yes;
  return BL_OK;
}

bl_status bl_literal_fit(bl_arena *a, const bl_literal *l, const bl_type *t, bl_value *value, bl_fit *fit,
                         bl_error *err) {
  *value = (bl_value){.kind = t->kind};
  *fit = BL_FIT_EXACT;
  switch (t->kind) {
  case BL_BOOLEAN: return fit_bool(l, t, value, err);
  case BL_INT:
  case BL_LONG:
  case BL_FLOAT:
  case BL_DOUBLE:
  case BL_DECIMAL: return fit_numeric(l, t, value, fit, err);
  case BL_TIME: return fit_time_of_day(l, t, value, fit, err);
  case BL_DATE:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return fit_instant(l, t, value, fit, err);
  case BL_UUID: return fit_uuid(a, l, t, value, err);
  case BL_STRING:
  case BL_FIXED:
  case BL_BINARY: return fit_bytes(a, l, t, value, fit, err);
  default: return no_compare(l, t, err);
  }
}
