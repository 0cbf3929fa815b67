/* partition_path.c: see partition_path.h. */
#include "write/partition_path.h"

#include "base/map.h"

enum { MOST_BYTES = 200 /* of a name in a folder: file systems take 255 */ };

/* application/x-www-form-urlencoded, as Java's URLEncoder has it. */
static void add_encoded(bl_buf *out, bl_str s) {
  static const char hex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < s.n; i++) {
    uint8_t c = (uint8_t)s.p[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                 c == '.' || c == '*';
    if (plain) bl_buf_byte(out, c);
    else if (c == ' ') bl_buf_byte(out, '+');
    else {
      bl_buf_byte(out, '%');
      bl_buf_byte(out, (uint8_t)hex[c >> 4]);
      bl_buf_byte(out, (uint8_t)hex[c & 15]);
    }
  }
}

static void add_time_part(bl_buf *out, bl_transform_kind k, int64_t v) {
  int64_t y;
  int m, d;
  switch (k) {
  case BL_T_YEAR: bl_buf_printf(out, "%04lld", (long long)(1970 + v)); break;
  case BL_T_MONTH:
    bl_buf_printf(out, "%04lld-%02d", (long long)(1970 + bl_floor_div(v, 12)), (int)bl_floor_mod(v, 12) + 1);
    break;
  default:
    bl_civil_from_days(bl_floor_div(v, 24), &y, &m, &d);
    bl_buf_printf(out, "%04lld-%02d-%02d-%02d", (long long)y, m, d, (int)bl_floor_mod(v, 24));
  }
}

static void add_value(bl_buf *out, const bl_transform *t, const bl_type *type, const bl_value *v) {
  bool time_part = t->kind == BL_T_YEAR || t->kind == BL_T_MONTH || t->kind == BL_T_HOUR;
  if (!v->null && time_part) add_time_part(out, t->kind, v->u.i);
  else bl_value_print(out, type, v);
}

/* What follows `from` in out, cut where it is too long. */
static void shorten(bl_buf *out, size_t from) {
  if (out->failed || out->n - from <= MOST_BYTES) return;
  uint64_t hash = bl_hash(out->p + from, out->n - from);
  out->n = from + MOST_BYTES - 17;
  while (out->n > from && (out->p[out->n - 1] == '%' || (out->n - from > 1 && out->p[out->n - 2] == '%'))) out->n--;
  bl_buf_printf(out, "-%016llx", (unsigned long long)hash);
}

void bl_partition_path(bl_buf *out, const bl_partition_spec *spec, const bl_type *types, const bl_value *tuple) {
  bl_buf text;
  bl_buf_init(&text, out->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < spec->n_fields; i++) {
    size_t from = out->n + (i > 0);
    if (i > 0) bl_buf_byte(out, '/');
    add_encoded(out, spec->fields[i].name);
    bl_buf_byte(out, '=');
    bl_buf_clear(&text);
    add_value(&text, &spec->fields[i].transform, &types[i], &tuple[i]);
    add_encoded(out, (bl_str){(const char *)text.p, text.n});
    shorten(out, from);
  }
  if (text.failed) out->failed = true;
  bl_buf_free(&text);
}
