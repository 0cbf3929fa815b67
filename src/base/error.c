/* error.c: see bergline/error.h. */
#include "bergline/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The length of the UTF-8 sequence at s, 0 where there is none or it was cut. */
static size_t sequence(const char *s) {
  for (size_t n = 2, rest = strlen(s); n <= 4 && n <= rest; n++)
    if (bl_utf8_valid(s, n)) return n;
  return 0;
}

/* One line of UTF-8, whatever a file's name or a damaged value brought in, and wherever it was cut. */
static void one_line(char *s) {
  while (*s) {
    unsigned char c = (unsigned char)*s;
    size_t n = c < 0x80 ? 1 : sequence(s);
    if (c < 0x20 || c == 0x7f) *s = ' ';
    if (!n) *s = '?';
    s += n ? n : 1;
  }
}

static BL_PRINTF(4, 0) bl_status fail_va(bl_error *err, bl_status st, int64_t position, const char *fmt, va_list ap) {
  if (!err) return st;
  if (err->status != BL_OK) return err->status;
  err->status = st;
  err->position = position;
  vsnprintf(err->message, sizeof err->message, fmt, ap);
  one_line(err->message);
  return st;
}

bl_status bl_fail(bl_error *err, bl_status st, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  st = fail_va(err, st, -1, fmt, ap);
  va_end(ap);
  return st;
}

bl_status bl_fail_at(bl_error *err, bl_status st, int64_t position, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  st = fail_va(err, st, position, fmt, ap);
  va_end(ap);
  return st;
}

bl_status bl_fail_in(bl_error *err, bl_status st, const char *fmt, ...) {
  if (!err || err->status == BL_OK) return st;
  char rest[sizeof err->message];
  memcpy(rest, err->message, sizeof rest);
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(err->message, sizeof err->message, fmt, ap);
  va_end(ap);
  if (n >= 0 && (size_t)n + 2 < sizeof err->message)
    snprintf(err->message + n, sizeof err->message - (size_t)n, ": %.*s", (int)(sizeof rest - 3 - (size_t)n), rest);
  one_line(err->message);
  return err->status;
}

bl_status bl_nomem(bl_error *err) {
  return bl_fail(err, BL_NOMEM, "out of memory");
}

const char *bl_status_name(bl_status st) {
  static const char *const names[] = {"done",    "found",       "usage",     "damaged",       "i/o",      "conflict",
                                      "unknown", "unsupported", "not found", "out of memory", "cancelled"};
  return (size_t)st < sizeof names / sizeof *names ? names[st] : "?";
}
