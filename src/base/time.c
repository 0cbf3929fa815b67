/* time.c: dates and times as text, in the proleptic Gregorian calendar and UTC. No time zone of the machine, no
 * C library calendar. */
#include "base/text.h"

enum {
  DAYS_OF_ERA = 146097,     /* 400 years */
  DAYS_TO_MARCH_0 = 719468, /* from 0000-03-01 to 1970-01-01: years that begin in March end with the leap day */
  SECONDS_OF_DAY = 86400,
  MOST_ZONE_HOURS = 18
};

int64_t bl_floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

int64_t bl_floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

int64_t bl_days_from_civil(int64_t y, int m, int d) {
  y -= m <= 2;
  int64_t era = bl_floor_div(y, 400), year_of_era = bl_floor_mod(y, 400);
  int month = m > 2 ? m - 3 : m + 9; /* March = 0 */
  int64_t day_of_year = (153 * month + 2) / 5 + d - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * DAYS_OF_ERA + day_of_era - DAYS_TO_MARCH_0;
}

void bl_civil_from_days(int64_t days, int64_t *y, int *m, int *d) {
  /* The shift comes after the division: no number of days is too big for it. */
  int64_t era = bl_floor_div(days, DAYS_OF_ERA), day_of_era = bl_floor_mod(days, DAYS_OF_ERA) + DAYS_TO_MARCH_0;
  era += day_of_era / DAYS_OF_ERA;
  day_of_era %= DAYS_OF_ERA;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int month = (int)((5 * day_of_year + 2) / 153);
  *d = (int)(day_of_year - (153 * month + 2) / 5 + 1);
  *m = month < 10 ? month + 3 : month - 9;
  *y = year_of_era + era * 400 + (*m <= 2);
}

/* The last n decimal digits of v. */
static char *put_digits(char *p, uint64_t v, int n) {
  for (int i = n; i-- > 0; v /= 10) p[i] = (char)('0' + v % 10);
  return p + n;
}

static void print_civil(bl_buf *b, int64_t days) {
  int64_t y;
  int m, d;
  bl_civil_from_days(days, &y, &m, &d);
  char text[32], *p = text;
  if (y < 0) *p++ = '-';
  if (y > 9999) *p++ = '+';
  uint64_t year = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
  int width = 4;
  for (uint64_t rest = year / 10000; rest; rest /= 10) width++;
  p = put_digits(p, year, width);
  *p++ = '-';
  p = put_digits(p, (uint64_t)m, 2);
  *p++ = '-';
  p = put_digits(p, (uint64_t)d, 2);
  bl_buf_add(b, text, (size_t)(p - text));
}

void bl_print_date(bl_buf *b, int32_t days) {
  print_civil(b, days);
}

static int fraction_digits(int64_t unit) {
  return unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
}

void bl_print_time(bl_buf *b, int64_t v, int64_t unit) {
  /* A time of day is never negative; a damaged one still prints as what it is. */
  if (v < 0) bl_buf_byte(b, '-');
  uint64_t a = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, s = a / (uint64_t)unit;
  char text[48], *p = text;
  int hours = 2;
  for (uint64_t rest = s / 3600 / 100; rest; rest /= 10) hours++;
  p = put_digits(p, s / 3600, hours);
  *p++ = ':';
  p = put_digits(p, s / 60 % 60, 2);
  *p++ = ':';
  p = put_digits(p, s % 60, 2);
  *p++ = '.';
  p = put_digits(p, a % (uint64_t)unit, fraction_digits(unit));
  bl_buf_add(b, text, (size_t)(p - text));
}

void bl_print_timestamp(bl_buf *b, int64_t v, int64_t unit, bool zone) {
  int64_t day = unit * SECONDS_OF_DAY;
  print_civil(b, bl_floor_div(v, day));
  bl_buf_byte(b, 'T');
  bl_print_time(b, bl_floor_mod(v, day), unit);
  if (zone) bl_buf_cstr(b, "+00:00");
}

/* ---- reading: each function takes its part off the front of s ---- */

static bool take(bl_str *s, char c) {
  if (!s->n || *s->p != c) return false;
  s->p++;
  s->n--;
  return true;
}

static size_t digits_in_front(bl_str s) {
  size_t n = 0;
  while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') n++;
  return n;
}

/* Exactly n digits (at most 9). */
static bool take_fixed(bl_str *s, size_t n, int *out) {
  if (n > 9 || digits_in_front(*s) < n) return false;
  int v = 0;
  for (size_t i = 0; i < n; i++) v = v * 10 + (s->p[i] - '0');
  s->p += n;
  s->n -= n;
  *out = v;
  return true;
}

static int days_of_month(int64_t y, int m) {
  if (m == 2) return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0 ? 29 : 28;
  return m == 4 || m == 6 || m == 9 || m == 11 ? 30 : 31;
}

/* YYYY-MM-DD; a year with a sign may have 4 to 9 digits. */
static bool take_date(bl_str *s, int64_t *days) {
  if (!s->p) return false;
  bool minus = take(s, '-'), sign = minus || take(s, '+');
  size_t n = digits_in_front(*s);
  int y, m, d;
  if (sign ? n < 4 : n != 4) return false;
  if (!take_fixed(s, n, &y) || !take(s, '-') || !take_fixed(s, 2, &m) || !take(s, '-') || !take_fixed(s, 2, &d))
    return false;
  if (minus) y = -y;
  if (m < 1 || m > 12 || d < 1 || d > days_of_month(y, m)) return false;
  *days = bl_days_from_civil(y, m, d);
  return true;
}

/* Digits after the point in parts of a second; zeros beyond the unit are allowed. */
static bool take_fraction(bl_str *s, int64_t unit, int64_t *out) {
  size_t n = digits_in_front(*s);
  int64_t v = 0, weight = unit;
  for (size_t i = 0; i < n; i++) {
    int d = s->p[i] - '0';
    weight /= 10;
    if (d && !weight) return false;
    v += d * weight;
  }
  s->p += n;
  s->n -= n;
  *out = v;
  return n > 0;
}

static bool take_time(bl_str *s, int64_t unit, int64_t *out) {
  int h, m, sec = 0;
  int64_t fraction = 0;
  if (!s->p || !take_fixed(s, 2, &h) || !take(s, ':') || !take_fixed(s, 2, &m)) return false;
  if (take(s, ':')) {
    if (!take_fixed(s, 2, &sec)) return false;
    if (take(s, '.') && !take_fraction(s, unit, &fraction)) return false;
  }
  if (h > 23 || m > 59 || sec > 59) return false;
  *out = (int64_t)(h * 3600 + m * 60 + sec) * unit + fraction;
  return true;
}

/* Hours and minutes of a zone: HH:MM; loose: also HHMM and HH. */
static bool take_zone_time(bl_str *s, bool loose, int *h, int *m) {
  *m = 0;
  if (!take_fixed(s, 2, h)) return false;
  if (loose && !s->n) return true;
  if (!take(s, ':') && !loose) return false;
  return take_fixed(s, 2, m) && *m <= 59;
}

/* Nothing, Z or ±HH:MM; loose: also z, UTC, ±HHMM and ±HH, a blank before each. */
static bool take_zone(bl_str *s, bool loose, bool *has_zone, int *seconds) {
  *seconds = 0;
  *has_zone = s->n > 0;
  if (!s->n || take(s, 'Z')) return true;
  if (loose && s->n > 1) (void)take(s, ' ');
  if (loose && (bl_str_is(*s, "Z") || bl_str_is(*s, "z") || bl_str_is(*s, "UTC"))) {
    s->n = 0;
    return true;
  }
  bool minus = take(s, '-');
  int h, m;
  if (!minus && !take(s, '+')) return false;
  if (!take_zone_time(s, loose, &h, &m)) return false;
  *seconds = (h * 60 + m) * 60 * (minus ? -1 : 1);
  return h < MOST_ZONE_HOURS || (h == MOST_ZONE_HOURS && m == 0);
}

bool bl_parse_date(bl_str s, int32_t *out) {
  int64_t days;
  if (!take_date(&s, &days) || s.n || days < INT32_MIN || days > INT32_MAX) return false;
  *out = (int32_t)days;
  return true;
}

bool bl_parse_time(bl_str s, int64_t unit, int64_t *out) {
  return take_time(&s, unit, out) && s.n == 0;
}

static bool timestamp_of(int64_t days, int64_t time, int zone, int64_t unit, int64_t *out) {
  bl_i128 v = ((bl_i128)days * SECONDS_OF_DAY - zone) * unit + time;
  *out = (int64_t)v;
  return v == *out;
}

static bool parse_timestamp(bl_str s, int64_t unit, bool loose, int64_t *out, bool *has_zone) {
  int64_t days, time = 0;
  int zone;
  if (!take_date(&s, &days)) return false;
  if (take(&s, 'T') || take(&s, ' ') || (loose && take(&s, 't'))) {
    if (!take_time(&s, unit, &time) || !take_zone(&s, loose, has_zone, &zone)) return false;
  } else if (!loose || !take_zone(&s, false, has_zone, &zone)) { /* -0500 behind a day could be anything */
    return false;
  }
  return s.n == 0 && timestamp_of(days, time, zone, unit, out);
}

bool bl_parse_timestamp(bl_str s, int64_t unit, int64_t *out, bool *has_zone) {
  return parse_timestamp(s, unit, false, out, has_zone);
}

bool bl_read_timestamp(bl_str s, int64_t unit, int64_t *out, bool *has_zone) {
  return parse_timestamp(s, unit, true, out, has_zone);
}
