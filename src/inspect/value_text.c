/* value_text.c: see value_text.h. */
#include "inspect/value_text.h"

#include <math.h>

static bool is_bare(const bl_value *v) {
  switch (v->kind) {
  case BL_BOOLEAN:
  case BL_INT:
  case BL_LONG: return true;
  case BL_FLOAT: return isfinite(v->u.f);
  case BL_DOUBLE: return isfinite(v->u.d);
  default: return false;
  }
}

/* bl_value_print's text, quoted. Only strings need escapes. */
static void print_quoted(bl_buf *b, const bl_type *t, const bl_value *v) {
  if (v->kind == BL_STRING) {
    bl_print_json_str(b, v->u.s);
    return;
  }
  bl_buf_byte(b, '"');
  bl_value_print(b, t, v);
  bl_buf_byte(b, '"');
}

void bl_text_value(bl_buf *b, const bl_type *t, const bl_value *v) {
  if (v->null || t->kind == BL_KIND_UNKNOWN) bl_buf_cstr(b, "null");
  else if (is_bare(v)) bl_value_print(b, t, v);
  else print_quoted(b, t, v);
}

void bl_text_bound(bl_buf *b, const bl_type *t, bl_str bytes) {
  bl_value v;
  if (bytes.p && bl_value_from_bytes(t, bytes, &v)) bl_text_value(b, t, &v);
  else bl_buf_cstr(b, "null");
}

void bl_text_base64(bl_buf *b, bl_str bytes) {
  if (!bytes.p) {
    bl_buf_cstr(b, "null");
    return;
  }
  bl_buf_byte(b, '"');
  bl_print_base64(b, bytes.p, bytes.n);
  bl_buf_byte(b, '"');
}

void bl_text_i64(bl_buf *b, int64_t v) {
  if (v == BL_NONE) bl_buf_cstr(b, "null");
  else bl_print_i64(b, v);
}

void bl_text_key(bl_buf *b, bool *first, bl_str name) {
  if (!*first) bl_buf_byte(b, ',');
  *first = false;
  bl_print_json_str(b, name);
  bl_buf_byte(b, ':');
}
