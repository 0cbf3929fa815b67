/* json.c: the strict JSON reader. See json.h; RFC 8259.
 *
 * Invariants
 *  1. The text is copied once and strings are decoded inside that copy: a decoded string is never longer than its
 *     written form, and its NUL falls on the closing quote or before it.
 *  2. base[size] is NUL, which is no character of JSON: looking one character ahead needs no test for the end.
 *  3. Numbers stay in that copy, too: the NUL behind one takes the place of what follows it, once that has been read.
 *  4. Open containers are found through `parent`: depth costs no stack, and is bounded by the context all the same. */
#include <stdio.h>

#include "base/text.h"
#include "format/json_node.h"

typedef struct reader {
  bl_arena *a;
  char *base, *p, *end;
  bl_json *in; /* the open container; NULL at the top */
  bl_str key;  /* name of the member that comes next; p NULL elsewhere */
  char *cut;   /* 3: behind the number that was read last; NULL: it has its NUL */
  int depth, max_depth;
  bl_error *err;
} reader;

/* "JSON: WHERE (byte N): WHY" */
static bl_status fail(reader *r, const char *at, const char *fmt, ...) BL_PRINTF(3, 4);
static bl_status fail(reader *r, const char *at, const char *fmt, ...) {
  char why[256], path[200] = "$";
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  if (r->in) bl_json_path_text(r->in, r->key, true, path, sizeof path);
  size_t pos = (size_t)(at - r->base);
  return bl_fail_at(r->err, BL_DAMAGED, (int64_t)pos, "JSON: %s (byte %zu): %s", path, pos, why);
}

static void skip_space(reader *r) {
  while (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t') r->p++;
}

/* What stands at p, for messages. */
static const char *found(const reader *r, char out[16]) {
  if (r->p == r->end) return "the text ends";
  unsigned char c = (unsigned char)*r->p;
  snprintf(out, 16, c > 0x20 && c < 0x7f ? "found '%c'" : "found 0x%02X", c);
  return out;
}

static bl_status fail_expected(reader *r, const char *what) {
  char text[16];
  return fail(r, r->p, "%s, where %s should be", found(r, text), what);
}

/* ---- strings ---- */

static bool is_plain(char c) {
  unsigned char u = (unsigned char)c;
  return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* The four digits at s, -1 where they are not there. */
static int32_t hex4(const char *s) {
  int32_t v = 0;
  for (int i = 0; i < 4; i++) {
    int d = hex_digit(s[i]);
    if (d < 0) return -1;
    v = v << 4 | d;
  }
  return v;
}

static char *put_utf8(char *w, uint32_t c) {
  if (c < 0x80) {
    *w++ = (char)c;
  } else if (c < 0x800) {
    *w++ = (char)(0xC0 | c >> 6);
    *w++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *w++ = (char)(0xE0 | c >> 12);
    *w++ = (char)(0x80 | (c >> 6 & 0x3F));
    *w++ = (char)(0x80 | (c & 0x3F));
  } else {
    *w++ = (char)(0xF0 | c >> 18);
    *w++ = (char)(0x80 | (c >> 12 & 0x3F));
    *w++ = (char)(0x80 | (c >> 6 & 0x3F));
    *w++ = (char)(0x80 | (c & 0x3F));
  }
  return w;
}

/* A \u escape at *s (on the backslash), with the second half of a surrogate pair. */
static bl_status read_unicode_escape(reader *r, char **s, char **w) {
  int32_t c = hex4(*s + 2);
  if (c < 0) return fail(r, *s, "\\u without four hexadecimal digits");
  char *after = *s + 6;
  if (c >= 0xDC00 && c <= 0xDFFF) return fail(r, *s, "a lone surrogate \\u%04X", (unsigned)c);
  if (c >= 0xD800 && c <= 0xDBFF) {
    int32_t low = after[0] == '\\' && after[1] == 'u' ? hex4(after + 2) : -1;
    if (low < 0xDC00 || low > 0xDFFF) return fail(r, *s, "a lone surrogate \\u%04X", (unsigned)c);
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    after += 6;
  }
  *w = put_utf8(*w, (uint32_t)c);
  *s = after;
  return BL_OK;
}

static bl_status read_escape(reader *r, char **s, char **w) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  char c = (*s)[1];
  if (c == 'u') return read_unicode_escape(r, s, w);
  const char *known = c ? strchr(names, c) : NULL;
  if (!known) return fail(r, *s, "an escape that JSON does not have");
  *(*w)++ = values[known - names];
  *s += 2;
  return BL_OK;
}

/* One character of several bytes at *s. */
static bl_status read_wide(reader *r, char **s, char **w) {
  unsigned char lead = (unsigned char)**s;
  size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (n > (size_t)(r->end - *s) || !bl_utf8_valid(*s, n))
    return fail(r, *s, "the string is not UTF-8 (byte 0x%02X)", lead);
  memmove(*w, *s, n);
  *w += n;
  *s += n;
  return BL_OK;
}

/* From the opening quote at p to behind the closing one. */
static bl_status read_string(reader *r, bl_str *out) {
  char *start = r->p + 1, *s = start, *w = start;
  for (;;) {
    char *run = s;
    while (r->end - s >= 8 && bl_eight_plain(s)) s += 8;
    while (is_plain(*s)) s++;
    if (w != run) memmove(w, run, (size_t)(s - run)); /* behind an escape */
    w += s - run;
    if (*s == '"') break;
    if (s == r->end) return fail(r, s, "the text ends inside a string");
    if (*s == '\\') BL_TRY(read_escape(r, &s, &w));
    else if ((unsigned char)*s < 0x20) return fail(r, s, "the control character 0x%02X inside a string", (unsigned)*s);
    else BL_TRY(read_wide(r, &s, &w));
  }
  *w = 0;
  *out = (bl_str){start, (size_t)(w - start)};
  r->p = s + 1;
  return BL_OK;
}

/* ---- numbers and words ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bl_status read_digits(reader *r, const char *what) {
  if (!is_digit(*r->p)) return fail_expected(r, what);
  while (is_digit(*r->p)) r->p++;
  return BL_OK;
}

static bl_status read_number(reader *r, bl_json *v) {
  const char *start = r->p;
  if (*r->p == '-') r->p++;
  if (*r->p == '0') r->p++;
  else BL_TRY(read_digits(r, "a digit"));
  if (is_digit(*r->p)) return fail(r, start, "a number with a leading zero");
  if (*r->p == '.') {
    r->p++;
    BL_TRY(read_digits(r, "a digit of the fraction"));
  }
  if (*r->p == 'e' || *r->p == 'E') {
    r->p++;
    if (*r->p == '+' || *r->p == '-') r->p++;
    BL_TRY(read_digits(r, "a digit of the exponent"));
  }
  v->kind = BL_J_NUMBER;
  v->text = (bl_str){start, (size_t)(r->p - start)};
  r->cut = r->p;
  return BL_OK;
}

/* 3. */
static void end_number(reader *r) {
  if (r->cut) *r->cut = 0;
  r->cut = NULL;
}

static bl_status read_word(reader *r, bl_json *v) {
  static const struct {
    bl_str text;
    bl_json_kind kind;
    bool b;
  } words[] = {{{"null", 4}, BL_J_NULL, false}, {{"true", 4}, BL_J_BOOL, true}, {{"false", 5}, BL_J_BOOL, false}};
  bl_str rest = {r->p, (size_t)(r->end - r->p)};
  for (size_t i = 0; i < BL_LEN(words); i++) {
    if (!bl_str_starts(rest, words[i].text)) continue;
    v->kind = words[i].kind;
    v->b = words[i].b;
    r->p += words[i].text.n;
    return BL_OK;
  }
  return fail_expected(r, "a value");
}

/* ---- containers ---- */

static bl_status close_container(reader *r) {
  bl_json *v = r->in;
  const bl_json *twice;
  if (!bl_json_seal(r->a, v, &twice)) {
    if (!twice) return bl_nomem(r->err);
    r->key = twice->key;
    return fail(r, r->base + twice->at, "duplicate key: the name is there twice in one object");
  }
  r->p++;
  r->in = (bl_json *)v->parent; /* a node of this reader: its own to change */
  r->depth--;
  return BL_OK;
}

/* *complete false: a container with something in it was opened. */
static bl_status open_container(reader *r, bl_json *v, bool *complete) {
  char close = *r->p == '{' ? '}' : ']';
  v->kind = close == '}' ? BL_J_OBJECT : BL_J_ARRAY;
  if (r->in) bl_json_link(r->in, v);
  r->depth++;
  r->p++;
  r->in = v;
  r->key = BL_STR_NONE;
  skip_space(r);
  *complete = *r->p == close;
  return *complete ? close_container(r) : BL_OK;
}

/* "name": */
static bl_status read_key(reader *r) {
  if (*r->p != '"') return fail_expected(r, "the name of a member");
  BL_TRY(read_string(r, &r->key));
  skip_space(r);
  if (*r->p != ':') return fail_expected(r, "':'");
  r->p++;
  skip_space(r);
  return BL_OK;
}

static bl_status read_value(reader *r, bl_json **root, bool *complete) {
  skip_space(r);
  size_t at = (size_t)(r->p - r->base); /* a member is where its name is */
  if (r->in && r->in->kind == BL_J_OBJECT) BL_TRY(read_key(r));
  bl_json *v = bl_arena_alloc(r->a, 1, sizeof *v);
  if (!v) return bl_nomem(r->err);
  *v = (bl_json){.at = at, .key = r->key};
  *complete = true;
  char c = *r->p;
  bl_status st = BL_OK;
  if (!r->in) *root = v;
  if (c == '{' || c == '[') {
    if (r->depth >= r->max_depth) return fail(r, r->p, "nested deeper than %d levels", r->max_depth);
    return open_container(r, v, complete);
  }
  if (c == '"') {
    v->kind = BL_J_STRING;
    st = read_string(r, &v->text);
  } else if (c == '-' || is_digit(c)) {
    st = read_number(r, v);
  } else {
    st = read_word(r, v);
  }
  if (st != BL_OK) return st;
  if (r->in) bl_json_link(r->in, v);
  return BL_OK;
}

/* Behind a complete value: close what ends here, up to the next comma or the end of the text. */
static bl_status after_value(reader *r, bool *more) {
  for (;;) {
    r->key = BL_STR_NONE;
    skip_space(r);
    if (!r->in) {
      if (r->p != r->end) return fail_expected(r, "the end");
      end_number(r);
      *more = false;
      return BL_OK;
    }
    char close = r->in->kind == BL_J_OBJECT ? '}' : ']', c = *r->p;
    if (c != ',' && c != close) return fail_expected(r, close == '}' ? "',' or '}'" : "',' or ']'");
    end_number(r);
    if (c == ',') {
      r->p++;
      *more = true;
      return BL_OK;
    }
    BL_TRY(close_container(r));
  }
}

bl_status bl_json_parse(bl_arena *a, const void *p, size_t n, bl_json **out, bl_error *err) {
  *out = NULL;
  char *base = n < SIZE_MAX ? bl_arena_alloc(a, n + 1, 1) : NULL;
  if (!base) return bl_nomem(err);
  if (n) memcpy(base, p, n);
  base[n] = 0;
  reader r = {
      .a = a, .base = base, .p = base, .end = base + n, .max_depth = bl_arena_ctx(a)->o.max_nesting, .err = err};
  if (n >= 3 && memcmp(base, "\xEF\xBB\xBF", 3) == 0) r.p += 3; /* RFC 8259, 8.1: a byte order mark may be ignored */
  skip_space(&r);
  if (r.p == r.end) return fail(&r, r.p, "the text is empty");
  bl_json *root = NULL;
  for (bool more = true, complete; more;) {
    BL_TRY(read_value(&r, &root, &complete));
    if (complete) BL_TRY(after_value(&r, &more));
  }
  *out = root;
  return BL_OK;
}
