/* number.c: numbers as text. Nothing here looks at the locale: strtod only ever sees digits and an exponent
 * ("1234e-2"), and of what snprintf prints only the digits are taken. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

enum {
  MOST_DIGITS = 800, /* more than the longest text half-way between two doubles needs (768) */
  MOST_EXPONENT = 1000000000
};

/* -?digits[.digits][(e|E)[+-]digits], with a digit before or after the point. */
typedef struct number {
  bool negative;
  bl_str whole, fraction;
  int64_t exponent; /* clipped to ±MOST_EXPONENT */
} number;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Cuts the digits at the front off s. */
static bl_str take_digits(bl_str *s) {
  size_t n = 0;
  while (n < s->n && is_digit(s->p[n])) n++;
  bl_str digits = {s->p, n};
  s->p += n;
  s->n -= n;
  return digits;
}

static bool take(bl_str *s, char c) {
  if (!s->n || *s->p != c) return false;
  s->p++;
  s->n--;
  return true;
}

static bool take_exponent(bl_str *s, int64_t *out) {
  bool negative = take(s, '-');
  if (!negative) take(s, '+');
  bl_str digits = take_digits(s);
  int64_t e = 0;
  for (size_t i = 0; i < digits.n; i++)
    if (e < MOST_EXPONENT) e = e * 10 + (digits.p[i] - '0');
  if (e > MOST_EXPONENT) e = MOST_EXPONENT;
  *out = negative ? -e : e;
  return digits.n > 0;
}

static bool scan(bl_str s, number *out) {
  *out = (number){0};
  if (!s.p) return false;
  out->negative = take(&s, '-');
  out->whole = take_digits(&s);
  if (take(&s, '.')) out->fraction = take_digits(&s);
  if (out->whole.n + out->fraction.n == 0) return false;
  if ((take(&s, 'e') || take(&s, 'E')) && !take_exponent(&s, &out->exponent)) return false;
  return s.n == 0;
}

static size_t digit_count(const number *x) {
  return x->whole.n + x->fraction.n;
}

static int digit(const number *x, size_t i) {
  return (i < x->whole.n ? x->whole.p[i] : x->fraction.p[i - x->whole.n]) - '0';
}

bool bl_parse_i64(bl_str s, int64_t *out) {
  bool negative = s.p && take(&s, '-');
  if (!s.p || !s.n) return false;
  int64_t v = 0; /* counted downwards: the most negative number has no positive twin */
  for (size_t i = 0; i < s.n; i++) {
    if (!is_digit(s.p[i])) return false;
    if (!bl_mul64(v, 10, &v) || __builtin_sub_overflow(v, s.p[i] - '0', &v)) return false;
  }
  if (negative) {
    *out = v;
    return true;
  }
  return !__builtin_sub_overflow((int64_t)0, v, out);
}

/* "[-]digits" and "e<exponent>" of the same value, for strtod. */
static void canonical(const number *x, char out[MOST_DIGITS + 40]) {
  size_t all = digit_count(x), i = 0, n = 0;
  char *p = out;
  if (x->negative) *p++ = '-';
  while (i < all && digit(x, i) == 0) i++;
  for (; i < all && n < MOST_DIGITS; i++, n++) *p++ = (char)('0' + digit(x, i));
  int64_t exponent = x->exponent - (int64_t)x->fraction.n + (int64_t)(all - i);
  for (; i < all; i++)
    if (digit(x, i)) { /* what was cut off still breaks a tie */
      *p++ = '1';
      exponent--;
      break;
    }
  if (p == out || *(p - 1) == '-') *p++ = '0';
  snprintf(p, 32, "e%lld", (long long)exponent);
}

/* NaN and the infinities in the spellings that writers use. */
static bool parse_special(bl_str s, double *out) {
  bl_str t = s;
  bool negative = t.p && take(&t, '-');
  if (bl_str_is(t, "Infinity") || bl_str_is(t, "inf")) {
    *out = negative ? -INFINITY : INFINITY;
    return true;
  }
  *out = NAN;
  return bl_str_is(s, "NaN") || bl_str_is(s, "nan");
}

bool bl_parse_double(bl_str s, double *out) {
  number x;
  char text[MOST_DIGITS + 40];
  if (!scan(s, &x)) return parse_special(s, out);
  canonical(&x, text);
  *out = strtod(text, NULL);
  return isfinite(*out);
}

bool bl_parse_float(bl_str s, float *out) {
  number x;
  char text[MOST_DIGITS + 40];
  double special;
  if (!scan(s, &x)) {
    bool ok = parse_special(s, &special);
    *out = (float)special;
    return ok;
  }
  canonical(&x, text);
  *out = strtof(text, NULL);
  return isfinite(*out);
}

static bl_i128 most_decimal(void) {
  bl_i128 v = 1;
  for (int i = 0; i < 38; i++) v *= 10;
  return v - 1;
}

/* v * 10 + d within 38 digits. */
static bool push_digit(bl_i128 *v, int d, bl_i128 most) {
  if (*v > (most - d) / 10) return false;
  *v = *v * 10 + d;
  return true;
}

bool bl_parse_decimal(bl_str s, int scale, bl_i128 *out) {
  number x;
  if (!scan(s, &x)) return false;
  bl_i128 v = 0, most = most_decimal();
  size_t all = digit_count(&x);
  /* The digits that the unscaled value has; more are zeros, the others must be. */
  int64_t keep = (int64_t)x.whole.n + x.exponent + scale;
  for (size_t i = 0; i < all; i++) {
    int d = digit(&x, i);
    if ((int64_t)i < keep ? !push_digit(&v, d, most) : d != 0) return false;
  }
  for (int64_t i = (int64_t)all; v && i < keep; i++)
    if (!push_digit(&v, 0, most)) return false;
  *out = x.negative ? -v : v;
  return true;
}

/* Significant digits and the power of ten of the first one: d.ddd * 10^exponent. */
typedef struct shortest {
  char digits[24];
  int n, exponent;
} shortest;

static void round_to(double v, int precision, shortest *out) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", precision - 1, v);
  const char *p = text;
  out->n = 0;
  for (; *p && *p != 'e'; p++)
    if (is_digit(*p)) out->digits[out->n++] = *p;
  while (out->n > 1 && out->digits[out->n - 1] == '0') out->n--;
  out->digits[out->n] = 0;
  int64_t e = 0;
  bl_str rest = bl_str_of(*p ? p + 1 : "0");
  take_exponent(&rest, &e);
  out->exponent = (int)e;
}

static void exact_text(const shortest *s, char out[48]) {
  snprintf(out, 48, "%se%d", s->digits, s->exponent - s->n + 1);
}

static void print_shortest(bl_buf *b, const shortest *s) {
  int e = s->exponent;
  if (e < -4 || e >= 16) { /* 1.5e300, 1e-7 */
    bl_buf_add(b, s->digits, 1);
    if (s->n > 1) bl_buf_byte(b, '.');
    bl_buf_add(b, s->digits + 1, (size_t)s->n - 1);
    bl_buf_printf(b, "e%d", e);
    return;
  }
  if (e < 0) { /* 0.0015 */
    bl_buf_add(b, "0.000", (size_t)(1 - e));
    bl_buf_add(b, s->digits, (size_t)s->n);
    return;
  }
  for (int i = 0; i <= e || i < s->n; i++) { /* 1500.0, 1.5 */
    if (i == e + 1) bl_buf_byte(b, '.');
    bl_buf_byte(b, i < s->n ? (uint8_t)s->digits[i] : '0');
  }
  if (s->n <= e + 1) bl_buf_cstr(b, ".0");
}

/* True where v needs no digits: it was printed. */
static bool print_special(bl_buf *b, double v) {
  if (isnan(v)) {
    bl_buf_cstr(b, "NaN");
    return true;
  }
  if (signbit(v)) bl_buf_byte(b, '-');
  if (isinf(v)) bl_buf_cstr(b, "Infinity");
  if (v == 0) bl_buf_cstr(b, "0.0");
  return isinf(v) || v == 0;
}

/* Most numbers are a few digits with a point in them: a = m / 10^k with m below 10^15 (float: 10^6). Then m's digits
 * are the shortest, for texts of at most DBL_DIG (FLT_DIG) digits stand for different numbers; and as m and 10^k are
 * exact, the division gives the number nearest to that text. */
static bool few_digits(double a, bool is_float, shortest *out) {
  static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  const double most = is_float ? 1e6 : 1e15;
  if (a < 1e-3 || a >= most) return false;
  for (size_t k = 0; k < sizeof tens / sizeof *tens; k++) {
    double m = rint(a * tens[k]);
    if (m >= most) return false;
    if (is_float ? (float)m / (float)tens[k] != (float)a : m / tens[k] != a) continue;
    uint64_t whole = (uint64_t)m;
    int width = 0;
    for (uint64_t rest = whole; rest; rest /= 10) width++;
    for (int i = width; i-- > 0; whole /= 10) out->digits[i] = (char)('0' + whole % 10);
    for (out->n = width; out->n > 1 && out->digits[out->n - 1] == '0';) out->n--;
    out->digits[out->n] = 0;
    out->exponent = width - 1 - (int)k;
    return true;
  }
  return false;
}

void bl_print_double(bl_buf *b, double v) {
  if (print_special(b, v)) return;
  double a = fabs(v);
  shortest s;
  char text[48];
  if (few_digits(a, false, &s)) {
    print_shortest(b, &s);
    return;
  }
  for (int precision = a < DBL_MIN ? 1 : DBL_DIG; precision <= 17; precision++) {
    round_to(a, precision, &s);
    exact_text(&s, text);
    if (strtod(text, NULL) == a) break;
  }
  print_shortest(b, &s);
}

void bl_print_float(bl_buf *b, float v) {
  if (print_special(b, v)) return;
  float a = fabsf(v);
  shortest s;
  char text[48];
  if (few_digits((double)a, true, &s)) {
    print_shortest(b, &s);
    return;
  }
  for (int precision = a < FLT_MIN ? 1 : FLT_DIG; precision <= 9; precision++) {
    round_to(a, precision, &s);
    exact_text(&s, text);
    if (strtof(text, NULL) == a) break;
  }
  print_shortest(b, &s);
}

/* The digits of v, at the end of a field of 40 bytes; returns the first. */
static char *digits_of(bl_u128 v, char field[40]) {
  char *p = field + 40;
  do *--p = (char)('0' + (int)(v % 10));
  while (v /= 10);
  return p;
}

void bl_print_i64(bl_buf *b, int64_t v) {
  char field[21], *p = field + sizeof field;
  uint64_t a = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do *--p = (char)('0' + a % 10);
  while (a /= 10);
  if (v < 0) *--p = '-';
  bl_buf_add(b, p, (size_t)(field + sizeof field - p));
}

void bl_print_decimal(bl_buf *b, bl_i128 unscaled, int scale) {
  char field[40];
  const char *p = digits_of(unscaled < 0 ? 0 - (bl_u128)unscaled : (bl_u128)unscaled, field);
  size_t n = (size_t)(field + 40 - p);
  if (unscaled < 0) bl_buf_byte(b, '-');
  if (scale <= 0) {
    bl_buf_add(b, p, n);
    if (scale < 0) bl_buf_printf(b, "E+%lld", -(long long)scale);
    return;
  }
  size_t fraction = (size_t)scale;
  if (n > fraction) {
    bl_buf_add(b, p, n - fraction);
    bl_buf_byte(b, '.');
    bl_buf_add(b, p + (n - fraction), fraction);
    return;
  }
  bl_buf_cstr(b, "0.");
  for (size_t i = n; i < fraction; i++) bl_buf_byte(b, '0');
  bl_buf_add(b, p, n);
}
