/* error.c: see bergline/error.h. */
#include "bergline/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line: control characters become spaces. */
static void one_line(char *s) {
  for (; *s; s++)
    if ((unsigned char)*s < 0x20 || *s == 0x7f) *s = ' ';
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
    snprintf(err->message + n, sizeof err->message - (size_t)n, ": %s", rest);
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
