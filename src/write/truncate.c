/* truncate.c: bounds of strings and binaries, cut to a length (metrics.h). The result is valid UTF-8 where the value
 * is. */
#include "write/metrics.h"

/* Bytes of the first n code points. */
static size_t prefix(bl_str s, int32_t n) {
  size_t i = 0;
  for (; i < s.n; i++)
    if (((uint8_t)s.p[i] & 0xc0) != 0x80 && n-- == 0) break;
  return i;
}

static size_t kept_bytes(bl_str v, bool text, int32_t length) {
  if (text) return prefix(v, length);
  return v.n < (size_t)length ? v.n : (size_t)length;
}

static bl_status give(bl_arena *a, bl_str v, bl_str *out, bl_error *err) {
  *out = bl_arena_str(a, v);
  return out->p ? BL_OK : bl_nomem(err);
}

bl_status bl_truncate_lower(bl_arena *a, bl_str v, bool text, int32_t length, bl_str *out, bl_error *err) {
  return give(a, (bl_str){v.p, kept_bytes(v, text, length)}, out, err);
}

static uint32_t decode(const uint8_t *p, size_t n) {
  if (n == 1) return p[0];
  uint32_t c = p[0] & (0xffu >> (n + 1));
  for (size_t i = 1; i < n; i++) c = c << 6 | (p[i] & 0x3f);
  return c;
}

static size_t encode(uint32_t c, uint8_t *p) {
  if (c < 0x80) {
    p[0] = (uint8_t)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; c >>= 6) p[i] = (uint8_t)(0x80 | (c & 0x3f));
  p[0] = (uint8_t)((0xf00 >> n & 0xff) | c);
  return n;
}

/* The last code point that can be raised is, and what follows it goes; 0: none can. p has room for 3 more bytes. */
static size_t raise_text(uint8_t *p, size_t n) {
  while (n > 0) {
    size_t at = n - 1;
    while (at > 0 && (p[at] & 0xc0) == 0x80) at--;
    uint32_t c = decode(p + at, n - at) + 1;
    if (c == 0xd800) c = 0xe000; /* surrogates are no characters */
    if (c <= 0x10ffff) return at + encode(c, p + at);
    n = at;
  }
  return 0;
}

static size_t raise_bytes(uint8_t *p, size_t n) {
  while (n > 0 && p[n - 1] == 0xff) n--;
  if (n > 0) p[n - 1]++;
  return n;
}

bl_status bl_truncate_upper(bl_arena *a, bl_str v, bool text, int32_t length, bl_str *out, bl_error *err) {
  size_t n = kept_bytes(v, text, length);
  *out = BL_STR_NONE;
  if (n == v.n) return give(a, v, out, err);
  uint8_t *p = bl_arena_alloc(a, n + 4, 1);
  if (!p) return bl_nomem(err);
  if (n) memcpy(p, v.p, n);
  n = text ? raise_text(p, n) : raise_bytes(p, n);
  if (n == 0) return BL_OK;
  p[n] = 0;
  *out = (bl_str){(const char *)p, n};
  return BL_OK;
}
