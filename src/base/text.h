/* text.h: numbers, times and encodings as text. Pure functions. */
#ifndef BL_BASE_TEXT_H
#define BL_BASE_TEXT_H

#include "base/buf.h"

__extension__ typedef __int128 bl_i128;
__extension__ typedef unsigned __int128 bl_u128;

/* Whole string must be one number; false where it is not or does not fit. */
bool bl_parse_i64(bl_str s, int64_t *out);
bool bl_parse_double(bl_str s, double *out); /* also NaN, Infinity, -Infinity, inf, nan */
bool bl_parse_float(bl_str s, float *out);   /* rounded once, from the text */
/* "-12.340" at the given scale: the unscaled value; false where digits would be lost or it
 * has more than 38 digits. */
bool bl_parse_decimal(bl_str s, int scale, bl_i128 *out);

/* Print shortest text that reads back the same value ("1.0", "1.5E10" in JSON form);
 * NaN, Infinity, -Infinity bare. */
void bl_print_double(bl_buf *b, double v);
void bl_print_float(bl_buf *b, float v);
void bl_print_i64(bl_buf *b, int64_t v);
void bl_print_decimal(bl_buf *b, bl_i128 unscaled, int scale);

/* Proleptic Gregorian calendar, UTC, floor division; years beyond 9999 as +NNNNN, before 0 as -NNNN. */
int64_t bl_days_from_civil(int64_t y, int m, int d);
void bl_civil_from_days(int64_t days, int64_t *y, int *m, int *d);
int64_t bl_floor_div(int64_t a, int64_t b); /* b > 0 */
int64_t bl_floor_mod(int64_t a, int64_t b);
void bl_print_date(bl_buf *b, int32_t days);
/* unit: parts per second: 1000, 1000000 or 1000000000; 3, 6 or 9 fraction digits. zone appends +00:00. */
void bl_print_time(bl_buf *b, int64_t v, int64_t unit);
void bl_print_timestamp(bl_buf *b, int64_t v, int64_t unit, bool zone);
/* ISO-8601: date; time HH:MM[:SS[.f…]]; timestamp date[T| ]time[Z|±HH:MM]. A zone is required
 * (*has_zone says), applied to the value. False where malformed, out of range or finer than unit. */
bool bl_parse_date(bl_str s, int32_t *out);
bool bl_parse_time(bl_str s, int64_t unit, int64_t *out);
bool bl_parse_timestamp(bl_str s, int64_t unit, int64_t *out, bool *has_zone);
/* As other programs write them, too: the zone as z, UTC, ±HHMM or ±HH, or behind a blank; t for T; a date alone, which
 * is its midnight (with Z or ±HH:MM: of that zone). */
bool bl_read_timestamp(bl_str s, int64_t unit, int64_t *out, bool *has_zone);

bool bl_parse_uuid(bl_str s, uint8_t out[16]);
void bl_print_uuid(bl_buf *b, const uint8_t v[16]); /* lower case */
void bl_print_base64(bl_buf *b, const void *p, size_t n);
bool bl_parse_base64(bl_str s, bl_buf *out);
void bl_print_hex(bl_buf *b, const void *p, size_t n); /* lower case */
bool bl_parse_hex(bl_str s, bl_buf *out);

bool bl_utf8_valid(const char *p, size_t n);
/* Eight bytes that all stand for themselves in a JSON string: ASCII, no control character, no " and no \. */
static inline bool bl_eight_plain(const void *p) {
  uint64_t x, ones = 0x0101010101010101u, quote, backslash;
  memcpy(&x, p, 8);
  quote = x ^ ones * '"';
  backslash = x ^ ones * '\\';
  uint64_t control = (x - ones * ' ') & ~x;
  uint64_t special = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);
  return ((x | control | special) & ones * 0x80) == 0;
}
/* A JSON string with quotes; control characters, " and \ escaped, everything else as it is.
 * Bytes that are not UTF-8 become U+FFFD. */
void bl_print_json_str(bl_buf *b, bl_str s);

#endif
