/* put_value.c: see put_value.h. */
#include "write/put_value.h"

#include <math.h>
#include <stdio.h>

#include "format/variant.h"
#include "model/near.h"

void bl_putter_init(bl_putter *p, bl_ctx *ctx) {
  *p = (bl_putter){.ctx = ctx};
  bl_buf_init(&p->bytes, ctx, BL_BUF_MAX);
  bl_buf_init(&p->more, ctx, BL_BUF_MAX);
}

void bl_putter_dispose(bl_putter *p) {
  bl_buf_free(&p->bytes);
  bl_buf_free(&p->more);
}

/* ---- messages ---- */

static void print_path(bl_buf *b, const bl_putter *p, const bl_field *f) {
  size_t n = p->depth < BL_LEN(p->path) ? p->depth : BL_LEN(p->path);
  for (size_t i = 0; i < n; i++) {
    bl_buf_str(b, p->path[i]->name);
    bl_buf_byte(b, '.');
  }
  bl_buf_str(b, f->name);
}

/* What a text of the type looks like; NULL: the type says enough. */
static const char *form_of(const bl_putter *p, bl_kind k) {
  switch (k) {
  case BL_BOOLEAN:
    return p->of_csv ? "true or false (t, f, yes, no, y, n, 1, 0) is expected" : "true or false is expected";
  case BL_INT: return "a whole number of 32 bits is expected";
  case BL_LONG: return "a whole number of 64 bits is expected";
  case BL_FLOAT:
  case BL_DOUBLE: return "a number, NaN, Infinity or -Infinity is expected";
  case BL_DATE: return "a form like 2026-01-31 is expected";
  case BL_TIME: return "a form like 12:00:00.000000 is expected";
  case BL_TIMESTAMP: return "a form like 2026-01-31T12:00:00.000000 is expected";
  case BL_TIMESTAMPTZ: return "a form like 2026-01-31T12:00:00.000000+01:00 is expected";
  case BL_TIMESTAMP_NS: return "a form like 2026-01-31T12:00:00.000000000 is expected";
  case BL_TIMESTAMPTZ_NS: return "a form like 2026-01-31T12:00:00.000000000+01:00 is expected";
  case BL_UUID: return "a form like f79c3e09-677c-4bbd-a479-3f349cb785e7 is expected";
  case BL_STRUCT: return "a JSON object is expected";
  case BL_LIST: return "a JSON array is expected";
  default: return NULL;
  }
}

/* why NULL: it does not fit the type; form: and what would, or NULL. */
static bl_status tell(const bl_putter *p, const bl_field *f, bl_str what, const char *why, const char *form,
                      bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, p->ctx, 4096);
  bl_buf_cstr(&b, "column ");
  print_path(&b, p, f);
  bl_buf_cstr(&b, ": ");
  if (what.p) {
    bl_buf_str(&b, what.n > 60 ? (bl_str){what.p, 60} : what);
    bl_buf_cstr(&b, what.n > 60 ? "…: " : ": ");
  }
  if (why) {
    bl_buf_cstr(&b, why);
  } else {
    bl_buf_cstr(&b, "does not fit ");
    bl_type_print(&b, &f->type);
  }
  if (form) bl_buf_cstr(&b, ": ");
  if (form) bl_buf_cstr(&b, form);
  bl_status st = bl_fail(err, BL_USAGE, "%.*s", (int)b.n, b.p ? (const char *)b.p : "");
  bl_buf_free(&b);
  return st;
}

static bl_status misfit(const bl_putter *p, const bl_field *f, bl_str what, const char *why, bl_error *err) {
  return tell(p, f, what, why, NULL, err);
}

/* It has not the form of the type. */
static bl_status unlike(const bl_putter *p, const bl_field *f, bl_str what, bl_error *err) {
  return tell(p, f, what, NULL, form_of(p, f->type.kind), err);
}

bl_status bl_put_misfit(const bl_putter *p, const bl_field *f, bl_str what, const char *why, bl_error *err) {
  return misfit(p, f, what, why, err);
}

static void enter(bl_putter *p, const bl_field *f) {
  if (p->depth < BL_LEN(p->path)) p->path[p->depth] = f;
  p->depth++;
}

/* ---- nothing ---- */

bl_status bl_put_null(bl_putter *p, bl_builder *b, const bl_field *f, bl_error *err) {
  if (f->required) return misfit(p, f, BL_STR_NONE, "null in a required column", err);
  return bl_builder_null(b, err);
}

bl_status bl_put_missing(bl_putter *p, bl_builder *b, const bl_field *f, bl_error *err) {
  const bl_value *d = f->write_default;
  if (!d || d->null) {
    if (f->required) return misfit(p, f, BL_STR_NONE, "a required column without value and without default", err);
    return bl_builder_null(b, err);
  }
  if (f->type.kind != BL_STRUCT) return bl_builder_value(b, d, 1, err);
  enter(p, f); /* {}: the defaults of the fields */
  for (size_t i = 0; i < f->type.n_fields; i++)
    BL_TRY(bl_put_missing(p, bl_builder_child(b, (int64_t)i), &f->type.fields[i], err));
  p->depth--;
  return bl_builder_close(b, err);
}

/* ---- numbers ---- */

static bl_i128 power_of_ten(int n) {
  bl_i128 v = 1;
  while (n-- > 0) v *= 10;
  return v;
}

static bool decimal_fits(bl_i128 v, int32_t precision) {
  bl_i128 most = power_of_ten(precision);
  return v < most && v > -most;
}

/* unscaled * 10^-from as a value of scale `to`, where no digit is lost. */
static bool rescale(bl_i128 v, int from, int to, bl_i128 *out) {
  *out = v;
  if (v == 0 || from == to) return true;
  if (to < from - 38) return false; /* no value has more digits */
  if (to < from) {
    bl_i128 by = power_of_ten(from - to);
    *out = v / by;
    return v % by == 0;
  }
  return to - from <= 38 && !__builtin_mul_overflow(v, power_of_ten(to - from), out);
}

static bool real_fits(bl_i128 v, bool single) {
  double d = (double)v;
  return fabs(d) < 0x1p126 && (bl_i128)d == v && (!single || (double)(float)d == d);
}

static bl_status number_misfit(bl_putter *p, const bl_field *f, bl_i128 unscaled, int scale, bl_error *err) {
  bl_buf text;
  bl_buf_init(&text, p->ctx, 256);
  bl_print_decimal(&text, unscaled, scale);
  bl_status st = misfit(p, f, (bl_str){(const char *)text.p, text.n}, NULL, err);
  bl_buf_free(&text);
  return st;
}

bl_status bl_put_number(bl_putter *p, bl_builder *b, const bl_field *f, bl_i128 unscaled, int scale, bl_error *err) {
  bl_i128 v;
  const bl_type *t = &f->type;
  bool fits = rescale(unscaled, scale, t->kind == BL_DECIMAL ? t->scale : 0, &v);
  switch (t->kind) {
  case BL_INT: fits = fits && v == (int32_t)v; break;
  case BL_LONG: fits = fits && v == (int64_t)v; break;
  case BL_DECIMAL: fits = fits && decimal_fits(v, t->precision); break;
  case BL_FLOAT: fits = fits && real_fits(v, true); break;
  case BL_DOUBLE: fits = fits && real_fits(v, false); break;
  default: fits = false;
  }
  if (!fits) return number_misfit(p, f, unscaled, scale, err);
  if (t->kind == BL_DECIMAL) return bl_builder_decimal(b, v, err);
  if (t->kind == BL_FLOAT || t->kind == BL_DOUBLE) return bl_builder_double(b, (double)v, err);
  return bl_builder_int(b, (int64_t)v, err);
}

/* ---- text ---- */

static bl_status put_int(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  int64_t v;
  bl_i128 whole;
  if (!bl_parse_i64(text, &v)) { /* 1.0 is whole too */
    if (!bl_parse_decimal(text, 0, &whole) || whole != (int64_t)whole) return unlike(p, f, text, err);
    v = (int64_t)whole;
  }
  if (f->type.kind == BL_INT && v != (int32_t)v) return unlike(p, f, text, err);
  return bl_builder_int(b, v, err);
}

static bl_status put_float(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  double d;
  float v;
  if (f->type.kind == BL_DOUBLE)
    return bl_parse_double(text, &d) ? bl_builder_double(b, d, err) : unlike(p, f, text, err);
  return bl_parse_float(text, &v) ? bl_builder_float(b, v, err) : unlike(p, f, text, err);
}

static bl_status put_decimal(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  bl_i128 v;
  if (!bl_parse_decimal(text, f->type.scale, &v) || !decimal_fits(v, f->type.precision)) return unlike(p, f, text, err);
  return bl_builder_decimal(b, v, err);
}

static bl_status put_time(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  bl_kind k = f->type.kind;
  int32_t days;
  int64_t v;
  bool zone = false, ok, wants_zone = k == BL_TIMESTAMPTZ || k == BL_TIMESTAMPTZ_NS;
  if (k == BL_DATE) return bl_parse_date(text, &days) ? bl_builder_int(b, days, err) : unlike(p, f, text, err);
  if (k == BL_TIME) ok = bl_parse_time(text, 1000000, &v);
  else ok = bl_read_timestamp(text, k == BL_TIMESTAMP || k == BL_TIMESTAMPTZ ? 1000000 : 1000000000, &v, &zone);
  if (!ok) return unlike(p, f, text, err);
  if (zone && !wants_zone) return misfit(p, f, text, "a zone, but the column has none", err);
  if (!zone && wants_zone) return misfit(p, f, text, "the zone is missing (as in 2026-01-31T12:00:00Z or +01:00)", err);
  return bl_builder_int(b, v, err);
}

static bl_status put_base64(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  bl_buf_clear(&p->bytes);
  bool ok = bl_parse_base64(text, &p->bytes);
  BL_TRY(bl_buf_ok(&p->bytes, err));
  if (!ok) return misfit(p, f, text, "not base64", err);
  if (f->type.kind == BL_FIXED && (int64_t)p->bytes.n != f->type.length) return unlike(p, f, text, err);
  return bl_builder_bytes(b, p->bytes.n ? (const void *)p->bytes.p : "", p->bytes.n, err);
}

static bl_status put_string(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  if (!bl_utf8_valid(text.p, text.n)) return misfit(p, f, BL_STR_NONE, "not UTF-8", err);
  return bl_builder_bytes(b, text.p, text.n, err);
}

static bl_status put_json_text(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  bl_arena *a;
  bl_json *v;
  bl_error why = BL_ERROR_INIT;
  BL_TRY(bl_arena_new(p->ctx, &a, err));
  bl_status st = bl_json_parse(a, text.p, text.n, &v, &why);
  if (st == BL_DAMAGED) st = misfit(p, f, text, why.message, err);
  else if (st != BL_OK) st = bl_fail(err, st, "%s", why.message);
  if (st == BL_OK) st = bl_put_json(p, b, f, v, err);
  bl_arena_free(a);
  return st;
}

/* loose: as PostgreSQL and Spark take it. */
static bool read_bool(bl_str text, bool loose, bool *out) {
  static const char *const words[][2] = {{"false", "true"}, {"f", "t"}, {"no", "yes"}, {"n", "y"}, {"0", "1"}};
  for (size_t i = 0; i < (loose ? BL_LEN(words) : 1); i++)
    for (int yes = 0; yes <= 1; yes++) {
      *out = yes;
      if (bl_str_is_nocase(text, words[i][yes])) return true;
    }
  return false;
}

bl_status bl_put_text(bl_putter *p, bl_builder *b, const bl_field *f, bl_str text, bl_error *err) {
  uint8_t uuid[16];
  bool yes;
  switch (f->type.kind) {
  case BL_BOOLEAN: return read_bool(text, p->of_csv, &yes) ? bl_builder_bool(b, yes, err) : unlike(p, f, text, err);
  case BL_INT:
  case BL_LONG: return put_int(p, b, f, text, err);
  case BL_FLOAT:
  case BL_DOUBLE: return put_float(p, b, f, text, err);
  case BL_DECIMAL: return put_decimal(p, b, f, text, err);
  case BL_DATE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return put_time(p, b, f, text, err);
  case BL_STRING: return put_string(p, b, f, text, err);
  case BL_UUID: return bl_parse_uuid(text, uuid) ? bl_builder_bytes(b, uuid, 16, err) : unlike(p, f, text, err);
  case BL_FIXED:
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return put_base64(p, b, f, text, err);
  case BL_KIND_UNKNOWN: return misfit(p, f, text, "a value in a column of type unknown", err);
  case BL_VARIANT:
  case BL_STRUCT:
  case BL_LIST:
  case BL_MAP: return put_json_text(p, b, f, text, err);
  }
  return unlike(p, f, text, err);
}

/* ---- JSON ---- */

static bl_status wrong_kind(bl_putter *p, const bl_field *f, const bl_json *v, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, p->ctx, BL_BUF_MAX);
  bl_json_print(&b, v, false);
  bl_status st = unlike(p, f, (bl_str){(const char *)b.p, b.n}, err);
  bl_buf_free(&b);
  return st;
}

static const bl_json *member(const bl_json *obj, bl_str name) {
  if (memchr(name.p, 0, name.n)) {
    for (const bl_json *m = obj->first; m; m = m->next)
      if (bl_str_eq(m->key, name)) return m;
    return NULL;
  }
  return bl_json_get(obj, name.p);
}

static bl_status unknown_member(bl_putter *p, const bl_field *f, const bl_json *v, bl_error *err) {
  for (const bl_json *m = v->first; m; m = m->next) {
    size_t i = 0;
    while (i < f->type.n_fields && !bl_str_eq(f->type.fields[i].name, m->key)) i++;
    if (i < f->type.n_fields) continue;
    enter(p, f);
    bl_field nobody = {.name = m->key};
    char why[200];
    snprintf(why, sizeof why, "the table has no such column%s", bl_near_field(&f->type, NULL, m->key).hint);
    return misfit(p, &nobody, BL_STR_NONE, why, err);
  }
  return BL_OK;
}

/* What is said of the value in hand; by NULL: nothing of any. */
typedef struct saying {
  const bl_sayings *by;
  const bl_json *said;
} saying;

/* Into field i of f's type. */
static bl_status put_part(bl_putter *p, bl_builder *b, const bl_field *f, size_t i, const bl_json *v, saying s,
                          bl_error *err) {
  const bl_field *part = &f->type.fields[i];
  if (!s.by || v->kind == BL_J_NULL) return bl_put_json(p, b, part, v, err);
  return s.by->put(p, b, part, v, s.by->part(s.said, f, i), err);
}

static bl_status put_object(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, saying s, bl_error *err) {
  size_t used = 0;
  if (v->kind != BL_J_OBJECT) return wrong_kind(p, f, v, err);
  enter(p, f);
  for (size_t i = 0; i < f->type.n_fields; i++) {
    const bl_field *kid = &f->type.fields[i];
    bl_builder *to = bl_builder_child(b, (int64_t)i);
    const bl_json *m = member(v, kid->name);
    used += m != NULL;
    BL_TRY(m ? put_part(p, to, f, i, m, s, err) : bl_put_missing(p, to, kid, err));
  }
  p->depth--;
  if (used != v->n) return unknown_member(p, f, v, err);
  return bl_builder_close(b, err);
}

static bl_status put_list(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, saying s, bl_error *err) {
  if (v->kind != BL_J_ARRAY) return wrong_kind(p, f, v, err);
  enter(p, f);
  for (const bl_json *m = v->first; m; m = m->next) BL_TRY(put_part(p, bl_builder_child(b, 0), f, 0, m, s, err));
  p->depth--;
  return bl_builder_close(b, err);
}

/* An element of an array that is a map. */
static bool read_entry(const bl_json *m, bool pairs, const bl_json **key, const bl_json **value) {
  if (pairs && m->kind == BL_J_ARRAY && m->n == 2) {
    *key = m->first;
    *value = m->last;
    return true;
  }
  if (m->kind != BL_J_OBJECT) return false;
  *key = bl_json_get(m, "key");
  *value = bl_json_get(m, "value");
  return *key && m->n == (size_t)1 + (*value != NULL);
}

static bl_status put_entry(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *m, bool object, saying s,
                           bl_error *err) {
  const bl_field *fields = f->type.fields;
  bl_builder *e = bl_builder_child(b, 0);
  const bl_json *k = m, *v = m;
  if (!object && !read_entry(m, s.by != NULL, &k, &v)) return wrong_kind(p, f, m, err);
  BL_TRY(object ? bl_put_text(p, bl_builder_child(e, 0), &fields[0], m->key, err)
                : put_part(p, bl_builder_child(e, 0), f, 0, k, s, err));
  BL_TRY(v ? put_part(p, bl_builder_child(e, 1), f, 1, v, s, err)
           : bl_put_null(p, bl_builder_child(e, 1), &fields[1], err));
  return bl_builder_close(e, err);
}

/* An object by string keys, or an array of {"key":…, "value":…} or [key, value]. */
static bl_status put_map(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, saying s, bl_error *err) {
  bool object = v->kind == BL_J_OBJECT && f->type.fields[0].type.kind == BL_STRING;
  if (!object && v->kind != BL_J_ARRAY) return wrong_kind(p, f, v, err);
  enter(p, f);
  for (const bl_json *m = v->first; m; m = m->next) BL_TRY(put_entry(p, b, f, m, object, s, err));
  p->depth--;
  return bl_builder_close(b, err);
}

static bl_status put_variant(bl_putter *p, bl_builder *b, const bl_json *v, bl_error *err) {
  bl_buf_clear(&p->bytes);
  bl_buf_clear(&p->more);
  BL_TRY(bl_variant_from_json(p->ctx, v, &p->bytes, &p->more, err));
  BL_TRY(bl_builder_bytes(bl_builder_child(b, 0), p->bytes.p, p->bytes.n, err));
  BL_TRY(bl_builder_bytes(bl_builder_child(b, 1), p->more.p, p->more.n, err));
  return bl_builder_close(b, err);
}

static bool takes_number(bl_kind k) {
  return k == BL_INT || k == BL_LONG || k == BL_FLOAT || k == BL_DOUBLE || k == BL_DECIMAL;
}

static bool takes_string(bl_kind k) {
  return k >= BL_DECIMAL && k <= BL_BINARY ? true : k == BL_GEOMETRY || k == BL_GEOGRAPHY;
}

static bool is_special(bl_str s) {
  return bl_str_is(s, "NaN") || bl_str_is(s, "Infinity") || bl_str_is(s, "-Infinity");
}

bl_status bl_put_json(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, bl_error *err) {
  return bl_put_parts(p, b, f, v, NULL, NULL, err);
}

bl_status bl_put_parts(bl_putter *p, bl_builder *b, const bl_field *f, const bl_json *v, const bl_sayings *by,
                       const bl_json *said, bl_error *err) {
  bl_kind k = f->type.kind;
  saying s = {by, said};
  if (k == BL_VARIANT && v->kind != BL_J_NULL) return put_variant(p, b, v, err);
  if (k == BL_STRUCT && v->kind != BL_J_NULL) return put_object(p, b, f, v, s, err);
  if (k == BL_LIST && v->kind != BL_J_NULL) return put_list(p, b, f, v, s, err);
  if (k == BL_MAP && v->kind != BL_J_NULL) return put_map(p, b, f, v, s, err);
  switch (v->kind) {
  case BL_J_NULL: return bl_put_null(p, b, f, err);
  case BL_J_BOOL:
    if (k == BL_BOOLEAN) return bl_builder_bool(b, v->b, err);
    break;
  case BL_J_NUMBER:
    if (takes_number(k)) return bl_put_text(p, b, f, v->text, err);
    break;
  case BL_J_STRING:
    if (takes_string(k) || ((k == BL_FLOAT || k == BL_DOUBLE) && is_special(v->text)))
      return bl_put_text(p, b, f, v->text, err);
    break;
  default: break;
  }
  return wrong_kind(p, f, v, err);
}
