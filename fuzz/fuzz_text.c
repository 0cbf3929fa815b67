/* Numbers, dates and encodings: what reads must print and read back the same. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

static bl_str text_of(const bl_buf *b) {
  return (bl_str){b->p ? (const char *)b->p : "", b->n};
}

static void numbers(bl_buf *b, bl_str s) {
  int64_t i, i2;
  double d, d2;
  float f, f2;
  bl_i128 dec, dec2;
  if (bl_parse_i64(s, &i)) {
    bl_buf_clear(b);
    bl_print_i64(b, i);
    MUST(bl_parse_i64(text_of(b), &i2) && i == i2);
  }
  if (bl_parse_double(s, &d)) {
    bl_buf_clear(b);
    bl_print_double(b, d);
    MUST(bl_parse_double(text_of(b), &d2) && (isnan(d) ? isnan(d2) : d == d2));
  }
  if (bl_parse_float(s, &f)) {
    bl_buf_clear(b);
    bl_print_float(b, f);
    MUST(bl_parse_float(text_of(b), &f2) && (isnan(f) ? isnan(f2) : f == f2));
  }
  for (int scale = -3; scale < 6; scale++)
    if (bl_parse_decimal(s, scale, &dec)) {
      bl_buf_clear(b);
      bl_print_decimal(b, dec, scale);
      MUST(bl_parse_decimal(text_of(b), scale, &dec2) && dec == dec2);
    }
}

static void times(bl_buf *b, bl_str s) {
  int32_t day, day2;
  int64_t t, t2;
  bool zone, zone2;
  if (bl_parse_date(s, &day)) {
    bl_buf_clear(b);
    bl_print_date(b, day);
    MUST(bl_parse_date(text_of(b), &day2) && day == day2);
  }
  for (int64_t unit = 1000; unit <= 1000000000; unit *= 1000) {
    if (bl_parse_time(s, unit, &t)) {
      bl_buf_clear(b);
      bl_print_time(b, t, unit);
      MUST(bl_parse_time(text_of(b), unit, &t2) && t == t2);
    }
    if (bl_parse_timestamp(s, unit, &t, &zone)) {
      bl_buf_clear(b);
      bl_print_timestamp(b, t, unit, zone);
      MUST(bl_parse_timestamp(text_of(b), unit, &t2, &zone2) && t == t2 && zone == zone2);
    }
  }
}

static void encodings(bl_ctx *ctx, bl_buf *b, bl_str s) {
  bl_buf out;
  uint8_t uuid[16], uuid2[16];
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_buf_clear(b);
  bl_print_base64(b, s.p, s.n);
  MUST(bl_parse_base64(text_of(b), &out) && bl_str_eq(text_of(&out), s));
  bl_buf_clear(b);
  bl_buf_clear(&out);
  bl_print_hex(b, s.p, s.n);
  MUST(bl_parse_hex(text_of(b), &out) && bl_str_eq(text_of(&out), s));
  bl_buf_clear(b);
  (void)bl_parse_base64(s, b);
  (void)bl_parse_hex(s, b);
  bl_buf_clear(b);
  bl_print_json_str(b, s);
  MUST(bl_utf8_valid((const char *)b->p, b->n));
  if (bl_parse_uuid(s, uuid)) {
    bl_buf_clear(b);
    bl_print_uuid(b, uuid);
    MUST(bl_parse_uuid(text_of(b), uuid2) && memcmp(uuid, uuid2, 16) == 0);
  }
  bl_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_buf b;
  bl_str s = {(const char *)p, n};
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  numbers(&b, s);
  times(&b, s);
  encodings(ctx, &b, s);
  bl_buf_free(&b);
  bl_ctx_free(ctx);
  return 0;
}
