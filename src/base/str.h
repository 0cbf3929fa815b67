/* str.h: a counted string. Model strings are also NUL-terminated (p[n] == 0), so that they can be
 * printed, but they may hold NUL bytes inside: compare with bl_str_eq. */
#ifndef BL_BASE_STR_H
#define BL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct bl_str {
  const char *p; /* NULL = absent */
  size_t n;
} bl_str;

#define BL_STR(lit) ((bl_str){(lit), sizeof(lit) - 1})
#define BL_STR_NONE ((bl_str){NULL, 0})
/* For printf("%.*s", BL_STR_ARG(s)) */
#define BL_STR_ARG(s) (int)((s).n > 4000 ? 4000 : (s).n), ((s).p ? (s).p : "")

static inline bl_str bl_str_of(const char *s) {
  return (bl_str){s, s ? strlen(s) : 0};
}
static inline bool bl_str_eq(bl_str a, bl_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool bl_str_is(bl_str a, const char *b) {
  return bl_str_eq(a, bl_str_of(b));
}
/* Of ASCII letters, whatever the locale. */
static inline char bl_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}
/* Equal but for the case of ASCII letters. */
static inline bool bl_str_eq_nocase(bl_str a, bl_str b) {
  size_t i = 0;
  while (i < a.n && i < b.n && bl_lower(a.p[i]) == bl_lower(b.p[i])) i++;
  return i == a.n && i == b.n;
}
static inline bool bl_str_is_nocase(bl_str a, const char *b) {
  return bl_str_eq_nocase(a, bl_str_of(b));
}
static inline bool bl_str_starts(bl_str a, bl_str prefix) {
  return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}
static inline bool bl_str_ends(bl_str a, bl_str end) {
  return a.n >= end.n && (end.n == 0 || memcmp(a.p + a.n - end.n, end.p, end.n) == 0);
}
/* Bytewise order, shorter first. */
static inline int bl_str_cmp(bl_str a, bl_str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n ? memcmp(a.p, b.p, n) : 0;
  return c ? c : (a.n > b.n) - (a.n < b.n);
}

#endif
