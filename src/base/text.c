/* text.c: encodings of bytes as text (see text.h; numbers are in number.c, dates in time.c). */
#include "base/text.h"

static const char hex_digits[] = "0123456789abcdef";

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static bool hex_byte(const char *p, uint8_t *out) {
  int hi = hex_value(p[0]), lo = hex_value(p[1]);
  if (hi < 0 || lo < 0) return false;
  *out = (uint8_t)(hi << 4 | lo);
  return true;
}

void bl_print_hex(bl_buf *b, const void *p, size_t n) {
  const uint8_t *in = p;
  uint8_t *out = n <= SIZE_MAX / 2 ? bl_buf_reserve(b, n * 2) : bl_buf_reserve(b, SIZE_MAX);
  if (!out) return;
  for (size_t i = 0; i < n; i++) {
    *out++ = (uint8_t)hex_digits[in[i] >> 4];
    *out++ = (uint8_t)hex_digits[in[i] & 15];
  }
  b->n += n * 2;
}

bool bl_parse_hex(bl_str s, bl_buf *out) {
  if (!s.p || s.n % 2) return false;
  uint8_t *to = bl_buf_reserve(out, s.n / 2);
  if (!to) return false;
  for (size_t i = 0; i < s.n / 2; i++)
    if (!hex_byte(s.p + 2 * i, to + i)) return false;
  out->n += s.n / 2;
  return true;
}

/* 8-4-4-4-12 */
static bool dash_before(int byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

bool bl_parse_uuid(bl_str s, uint8_t out[16]) {
  if (!s.p || s.n != 36) return false;
  const char *p = s.p;
  for (int i = 0; i < 16; i++, p += 2) {
    if (dash_before(i) && *p++ != '-') return false;
    if (!hex_byte(p, out + i)) return false;
  }
  return true;
}

void bl_print_uuid(bl_buf *b, const uint8_t v[16]) {
  for (int i = 0; i < 16; i++) {
    if (dash_before(i)) bl_buf_byte(b, '-');
    bl_print_hex(b, v + i, 1);
  }
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void bl_print_base64(bl_buf *b, const void *p, size_t n) {
  const uint8_t *in = p;
  for (size_t i = 0; i < n; i += 3) {
    size_t left = n - i < 3 ? n - i : 3;
    uint32_t v = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0);
    char four[4] = {base64_digits[v >> 18], base64_digits[v >> 12 & 63], base64_digits[v >> 6 & 63],
                    base64_digits[v & 63]};
    if (left < 3) four[3] = '=';
    if (left < 2) four[2] = '=';
    bl_buf_add(b, four, 4);
  }
}

static int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Up to four digits give up to three bytes; bits that no byte takes must be 0. */
static bool base64_group(const char *p, size_t digits, uint8_t out[3]) {
  uint32_t v = 0;
  if (digits < 2) return false;
  for (size_t i = 0; i < 4; i++) {
    int d = i < digits ? base64_value(p[i]) : 0;
    if (d < 0) return false;
    v = v << 6 | (uint32_t)d;
  }
  for (size_t i = 0; i < 3; i++) out[i] = (uint8_t)(v >> (16 - 8 * i));
  return (digits != 2 || !out[1]) && (digits == 4 || !out[2]);
}

bool bl_parse_base64(bl_str s, bl_buf *out) {
  if (!s.p) return false;
  if (s.n % 4 == 0) /* the padding may be left out, but not by half */
    for (int i = 0; i < 2 && s.n && s.p[s.n - 1] == '='; i++) s.n--;
  size_t before = out->n;
  for (size_t i = 0; i < s.n; i += 4) {
    size_t digits = s.n - i < 4 ? s.n - i : 4;
    uint8_t three[3];
    if (!base64_group(s.p + i, digits, three)) {
      out->n = before;
      return false;
    }
    bl_buf_add(out, three, digits - 1);
  }
  return !out->failed;
}

/* The length of the well-formed sequence at p (n > 0 bytes are left), or 0 (Unicode 15, table 3-7). */
static size_t utf8_length(const uint8_t *p, size_t n) {
  uint8_t c = p[0], low = 0x80, high = 0xbf;
  if (c < 0x80) return 1;
  size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || len > n) return 0;
  if (c == 0xe0) low = 0xa0;  /* overlong */
  if (c == 0xed) high = 0x9f; /* surrogates */
  if (c == 0xf0) low = 0x90;  /* overlong */
  if (c == 0xf4) high = 0x8f; /* beyond U+10FFFF */
  if (p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < len; i++)
    if (p[i] < 0x80 || p[i] > 0xbf) return 0;
  return len;
}

bool bl_utf8_valid(const char *text, size_t n) {
  const uint8_t *p = (const uint8_t *)text;
  while (n) {
    uint64_t eight;
    if (n >= 8 && (memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0)) {
      p += 8;
      n -= 8;
      continue;
    }
    size_t len = utf8_length(p, n);
    if (!len) return false;
    p += len;
    n -= len;
  }
  return true;
}

/* What stands for a byte that cannot stand for itself; NULL: it can. */
static const char *json_escape(uint8_t c, char room[8]) {
  switch (c) {
  case '"': return "\\\"";
  case '\\': return "\\\\";
  case '\b': return "\\b";
  case '\f': return "\\f";
  case '\n': return "\\n";
  case '\r': return "\\r";
  case '\t': return "\\t";
  default: break;
  }
  if (c >= 0x20) return NULL;
  memcpy(room, "\\u00", 4);
  room[4] = hex_digits[c >> 4];
  room[5] = hex_digits[c & 15];
  room[6] = 0;
  return room;
}

/* How many bytes at the beginning are ASCII that stands for itself. */
static size_t plain_length(bl_str s) {
  size_t i = 0;
  while (s.n - i >= 8 && bl_eight_plain(s.p + i)) i += 8;
  while (i < s.n && s.p[i] >= ' ' && s.p[i] < 0x7f && s.p[i] != '"' && s.p[i] != '\\') i++;
  return i;
}

/* The rest of s, without quotes. */
static void print_escaped(bl_buf *b, bl_str s, size_t begin) {
  const uint8_t *p = (const uint8_t *)s.p;
  size_t plain = begin; /* where the bytes begin that are not written yet */
  for (size_t i = begin; i < s.n;) {
    if (s.n - i >= 8 && bl_eight_plain(p + i)) {
      i += 8;
      continue;
    }
    size_t len = utf8_length(p + i, s.n - i);
    char room[8];
    const char *instead = !len ? "\xef\xbf\xbd" : len == 1 ? json_escape(p[i], room) : NULL;
    size_t next = i + (len ? len : 1);
    if (instead) {
      bl_buf_add(b, p + plain, i - plain);
      bl_buf_cstr(b, instead);
      plain = next;
    }
    i = next;
  }
  bl_buf_add(b, p + plain, s.n - plain);
}

void bl_print_json_str(bl_buf *b, bl_str s) {
  size_t n = plain_length(s);
  uint8_t *to = bl_buf_reserve(b, n + 2);
  if (!to) return;
  to[0] = '"';
  if (n) memcpy(to + 1, s.p, n);
  b->n += n + 1;
  if (n < s.n) print_escaped(b, s, n);
  bl_buf_byte(b, '"');
}
