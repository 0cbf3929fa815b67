/* partition_write.c: partition tuples of manifests to Avro, see partition_avro.h (spec: Appendix A, "Avro").
 *
 * Every field is optional, whatever its source is. Names are made of ASCII letters, digits and underscores alone, which
 * every Avro parser takes, and are told apart where two become the same. */
#include <stdio.h>

#include "format/partition_avro.h"

/* ---- names ---- */

static void name_unit(bl_buf *b, uint32_t unit) {
  bl_buf_printf(b, "_x%X", (unsigned)unit);
}

/* The code point at p (of valid UTF-8, else the byte itself) and its length. */
static uint32_t code_point(const char *p, size_t n, size_t *len) {
  const uint8_t *u = (const uint8_t *)p;
  *len = u[0] < 0xc0 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
  if (*len > n || !bl_utf8_valid(p, *len)) *len = 1;
  if (*len == 1) return u[0];
  uint32_t v = u[0] & (0xffu >> (*len + 1));
  for (size_t i = 1; i < *len; i++) v = v << 6 | (u[i] & 0x3f);
  return v;
}

void bl_partition_avro_name(bl_buf *b, bl_str name) {
  if (!name.n) bl_buf_byte(b, '_');
  for (size_t i = 0, len; i < name.n; i += len) {
    uint32_t ch = code_point(name.p + i, name.n - i, &len);
    bool letter = (ch | 0x20) >= 'a' && (ch | 0x20) <= 'z' && ch < 0x80, digit = ch >= '0' && ch <= '9';
    if (letter || ch == '_' || (digit && i > 0)) {
      bl_buf_byte(b, (uint8_t)ch);
    } else if (digit) {
      bl_buf_byte(b, '_');
      bl_buf_byte(b, (uint8_t)ch);
    } else if (ch >= 0x10000) {
      name_unit(b, 0xd800 + ((ch - 0x10000) >> 10));
      name_unit(b, 0xdc00 + ((ch - 0x10000) & 0x3ff));
    } else {
      name_unit(b, ch);
    }
  }
}

/* ---- types ---- */

/* What a field is written as when its table type is not known: the kind of its values; text where all are null. */
static bl_status type_of_values(const bl_partition_field *f, size_t i, const bl_data_file *const *files, size_t n,
                                bl_type *out, bl_error *err) {
  *out = (bl_type){.kind = BL_STRING};
  for (size_t k = 0; k < n; k++) {
    if (i >= files[k]->n_partition || files[k]->partition[i].null) continue;
    const bl_value *v = &files[k]->partition[i];
    *out = (bl_type){.kind = v->kind, .length = v->kind == BL_FIXED ? (int64_t)v->u.s.n : 0};
    break;
  }
  if (out->kind != BL_DECIMAL && !bl_kind_is_nested(out->kind)) return BL_OK;
  return bl_fail(err, BL_UNSUPPORTED, "partition field %d %.*s: the type of its %s values is not known", f->field_id,
                 BL_STR_ARG(f->name), bl_kind_name(out->kind));
}

bl_status bl_partition_writer_make(bl_arena *a, const bl_partition_spec *spec, const bl_type *types,
                                   const bl_data_file *const *files, size_t n, bl_partition_writer *out,
                                   bl_error *err) {
  *out = (bl_partition_writer){.spec = spec, .types = bl_arena_calloc(a, spec->n_fields, sizeof *out->types)};
  if (!out->types) return bl_nomem(err);
  for (size_t i = 0; i < spec->n_fields; i++) {
    out->types[i] = types[i];
    if (types[i].kind == BL_KIND_UNKNOWN) BL_TRY(type_of_values(&spec->fields[i], i, files, n, &out->types[i], err));
  }
  return BL_OK;
}

/* Bytes of a decimal's fixed: the fewest that hold every value of its precision. */
static int decimal_size(int precision) {
  bl_i128 most = 1;
  for (int i = 0; i < precision; i++) most *= 10;
  int n = 1;
  while (n < 16 && most - 1 > ((bl_i128)1 << (8 * n - 1)) - 1) n++;
  return n;
}

/* A fixed type, which may be declared once only. */
static void print_fixed(bl_buf *b, bool again, const char *name, int64_t size, const char *more) {
  if (again) bl_buf_printf(b, "\"%s\"", name);
  else bl_buf_printf(b, "{\"type\":\"fixed\",\"name\":\"%s\",\"size\":%lld%s}", name, (long long)size, more);
}

static void print_decimal(bl_buf *b, bool again, const bl_type *t) {
  char name[40], more[80];
  snprintf(name, sizeof name, "decimal_%d_%d", t->precision, t->scale);
  snprintf(more, sizeof more, ",\"logicalType\":\"decimal\",\"precision\":%d,\"scale\":%d", t->precision, t->scale);
  print_fixed(b, again, name, decimal_size(t->precision), more);
}

static void print_timestamp(bl_buf *b, bl_kind k) {
  bool nanos = k == BL_TIMESTAMP_NS || k == BL_TIMESTAMPTZ_NS, zone = k == BL_TIMESTAMPTZ || k == BL_TIMESTAMPTZ_NS;
  bl_buf_printf(b, "{\"type\":\"long\",\"logicalType\":\"timestamp-%s\",\"adjust-to-utc\":%s}",
                nanos ? "nanos" : "micros", zone ? "true" : "false");
}

/* again: a type of the same name stands further left in the schema. */
static void print_type(bl_buf *b, bool again, const bl_type *t) {
  char name[40];
  switch (t->kind) {
  case BL_BOOLEAN:
  case BL_INT:
  case BL_LONG:
  case BL_FLOAT:
  case BL_DOUBLE:
  case BL_STRING: bl_buf_printf(b, "\"%s\"", bl_kind_name(t->kind)); break;
  case BL_DATE: bl_buf_cstr(b, "{\"type\":\"int\",\"logicalType\":\"date\"}"); break;
  case BL_TIME: bl_buf_cstr(b, "{\"type\":\"long\",\"logicalType\":\"time-micros\"}"); break;
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: print_timestamp(b, t->kind); break;
  case BL_DECIMAL: print_decimal(b, again, t); break;
  case BL_UUID: print_fixed(b, again, "uuid_fixed", 16, ",\"logicalType\":\"uuid\""); break;
  case BL_FIXED:
    snprintf(name, sizeof name, "fixed_%lld", (long long)t->length);
    print_fixed(b, again, name, t->length, "");
    break;
  default: bl_buf_cstr(b, "\"bytes\"");
  }
}

static bool same_name(const bl_type *a, const bl_type *b) {
  return a->kind == b->kind && (a->kind == BL_DECIMAL || a->kind == BL_UUID || a->kind == BL_FIXED) &&
         a->precision == b->precision && a->scale == b->scale && a->length == b->length;
}

static bool printed_before(const bl_partition_writer *w, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same_name(&w->types[k], &w->types[i])) return true;
  return false;
}

/* The Avro name of field i into b: with its id behind where another field's is the same. */
static void print_name(const bl_partition_writer *w, size_t i, bl_buf *b) {
  bl_buf mine, other;
  bool clash = false;
  bl_buf_init(&mine, b->ctx, BL_BUF_MAX);
  bl_buf_init(&other, b->ctx, BL_BUF_MAX);
  bl_partition_avro_name(&mine, w->spec->fields[i].name);
  for (size_t k = 0; k < w->spec->n_fields && !clash; k++) {
    if (k == i) continue;
    bl_buf_clear(&other);
    bl_partition_avro_name(&other, w->spec->fields[k].name);
    clash = mine.n == other.n && mine.n && memcmp(mine.p, other.p, mine.n) == 0;
  }
  if (mine.failed || other.failed) b->failed = true;
  bl_buf_add(b, mine.p, mine.n);
  if (clash) bl_buf_printf(b, "_%d", w->spec->fields[i].field_id);
  bl_buf_free(&mine);
  bl_buf_free(&other);
}

void bl_partition_schema_print(const bl_partition_writer *w, bl_buf *b) {
  bl_buf_cstr(b, "{\"type\":\"record\",\"name\":\"r102\",\"fields\":[");
  for (size_t i = 0; i < w->spec->n_fields; i++) {
    const bl_partition_field *f = &w->spec->fields[i];
    bl_buf_cstr(b, i ? ",{\"name\":\"" : "{\"name\":\"");
    size_t from = b->n;
    print_name(w, i, b);
    bool changed = b->failed || b->n - from != f->name.n || memcmp(b->p + from, f->name.p, f->name.n) != 0;
    bl_buf_cstr(b, "\",\"type\":[\"null\",");
    print_type(b, printed_before(w, i), &w->types[i]);
    bl_buf_cstr(b, "],\"default\":null,");
    if (changed) {
      bl_buf_cstr(b, "\"iceberg-field-name\":");
      bl_print_json_str(b, f->name);
      bl_buf_byte(b, ',');
    }
    bl_buf_printf(b, "\"field-id\":%d}", f->field_id);
  }
  bl_buf_cstr(b, "]}");
}

/* ---- values ---- */

static void put_le(bl_buf *b, uint64_t v, int n) {
  for (int i = 0; i < n; i++) bl_buf_byte(b, (uint8_t)(v >> (8 * i)));
}

static bool put_decimal(bl_buf *b, bl_i128 v, int precision) {
  int n = decimal_size(precision);
  for (int i = n - 1; i >= 0; i--) bl_buf_byte(b, (uint8_t)((bl_u128)v >> (8 * i)));
  bl_i128 rest = v >> (8 * n - 1);
  return rest == 0 || rest == -1;
}

static bool put_fixed(bl_buf *b, bl_str s, int64_t size) {
  bl_buf_str(b, s);
  return (int64_t)s.n == size;
}

static bool put_integer(bl_buf *b, const bl_value *v, bool narrow) {
  bl_avro_put_long(b, v->u.i);
  return !narrow || v->u.i == (int32_t)v->u.i;
}

/* v is of the kind of t. */
static bool put_value(bl_buf *b, const bl_type *t, const bl_value *v) {
  uint32_t f;
  uint64_t d;
  switch (t->kind) {
  case BL_BOOLEAN: bl_buf_byte(b, v->u.b); return true;
  case BL_FLOAT:
    memcpy(&f, &v->u.f, sizeof f);
    put_le(b, f, 4);
    return true;
  case BL_DOUBLE:
    memcpy(&d, &v->u.d, sizeof d);
    put_le(b, d, 8);
    return true;
  case BL_DECIMAL: return put_decimal(b, v->u.dec, t->precision);
  case BL_UUID: return put_fixed(b, v->u.s, 16);
  case BL_FIXED: return put_fixed(b, v->u.s, t->length);
  case BL_STRING:
  case BL_BINARY: bl_avro_put_bytes(b, v->u.s); return true;
  default: return put_integer(b, v, t->kind == BL_INT || t->kind == BL_DATE);
  }
}

static bl_status put_field(const bl_partition_writer *w, size_t i, const bl_value *v, bl_buf *b, bl_error *err) {
  const bl_type *t = &w->types[i], from = {.kind = v->kind};
  bl_value promoted;
  if (v->null) {
    bl_avro_put_long(b, 0);
    return BL_OK;
  }
  bl_avro_put_long(b, 1);
  if (v->kind == t->kind && put_value(b, t, v)) return BL_OK;
  if (v->kind != t->kind && bl_value_promote(&from, v, t, &promoted) && put_value(b, t, &promoted)) return BL_OK;
  return bl_fail(err, BL_USAGE, "partition field %d %.*s: a value of %s does not fit %s", w->spec->fields[i].field_id,
                 BL_STR_ARG(w->spec->fields[i].name), bl_kind_name(v->kind), bl_kind_name(t->kind));
}

bl_status bl_partition_put(const bl_partition_writer *w, const bl_data_file *f, bl_buf *b, bl_error *err) {
  if (f->n_partition != w->spec->n_fields)
    return bl_fail(err, BL_USAGE, "%.*s: %zu partition values for a spec of %zu fields", BL_STR_ARG(f->path),
                   f->n_partition, w->spec->n_fields);
  for (size_t i = 0; i < f->n_partition; i++) BL_TRY(put_field(w, i, &f->partition[i], b, err));
  return BL_OK;
}
