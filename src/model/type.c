/* type.c: types as text, equality, promotion, and looking up fields in a schema (spec: "Schemas and Data Types",
 * "Schema Evolution", "Appendix C"). The recursions are as deep as the type, which its parser bounds by the ctx. */
#include "model/type.h"

#define DEFAULT_CRS "OGC:CRS84"
#define DEFAULT_ALGORITHM "spherical"

static const char *const kind_names[] = {
    [BL_BOOLEAN] = "boolean",
    [BL_INT] = "int",
    [BL_LONG] = "long",
    [BL_FLOAT] = "float",
    [BL_DOUBLE] = "double",
    [BL_DECIMAL] = "decimal",
    [BL_DATE] = "date",
    [BL_TIME] = "time",
    [BL_TIMESTAMP] = "timestamp",
    [BL_TIMESTAMPTZ] = "timestamptz",
    [BL_TIMESTAMP_NS] = "timestamp_ns",
    [BL_TIMESTAMPTZ_NS] = "timestamptz_ns",
    [BL_STRING] = "string",
    [BL_UUID] = "uuid",
    [BL_FIXED] = "fixed",
    [BL_BINARY] = "binary",
    [BL_KIND_UNKNOWN] = "unknown",
    [BL_VARIANT] = "variant",
    [BL_GEOMETRY] = "geometry",
    [BL_GEOGRAPHY] = "geography",
    [BL_STRUCT] = "struct",
    [BL_LIST] = "list",
    [BL_MAP] = "map",
};

const char *bl_kind_name(bl_kind k) {
  return (size_t)k < BL_LEN(kind_names) ? kind_names[k] : "?";
}

bool bl_kind_is_nested(bl_kind k) {
  return k == BL_STRUCT || k == BL_LIST || k == BL_MAP;
}

/* ---- as text ---- */

static void print_geo(bl_buf *b, const bl_type *t) {
  bl_str crs = t->crs.p ? t->crs : BL_STR(DEFAULT_CRS);
  bl_str algorithm = t->kind == BL_GEOGRAPHY && t->algorithm.p ? t->algorithm : BL_STR(DEFAULT_ALGORITHM);
  bool plain_crs = bl_str_is(crs, DEFAULT_CRS), plain_algorithm = bl_str_is(algorithm, DEFAULT_ALGORITHM);
  bl_buf_cstr(b, bl_kind_name(t->kind));
  if (plain_crs && plain_algorithm) return;
  bl_buf_byte(b, '(');
  bl_buf_str(b, crs);
  if (!plain_algorithm) {
    bl_buf_cstr(b, ", ");
    bl_buf_str(b, algorithm);
  }
  bl_buf_byte(b, ')');
}

static void print_struct(bl_buf *b, const bl_type *t) {
  bl_buf_cstr(b, "struct<");
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    if (i) bl_buf_cstr(b, ", ");
    bl_buf_printf(b, "%d: ", (int)f->id);
    bl_buf_str(b, f->name);
    bl_buf_cstr(b, f->required ? ": required " : ": optional ");
    bl_type_print(b, &f->type);
  }
  bl_buf_byte(b, '>');
}

void bl_type_print(bl_buf *b, const bl_type *t) {
  switch (t->kind) {
  case BL_DECIMAL: bl_buf_printf(b, "decimal(%d, %d)", (int)t->precision, (int)t->scale); return;
  case BL_FIXED: bl_buf_printf(b, "fixed[%lld]", (long long)t->length); return;
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: print_geo(b, t); return;
  case BL_STRUCT: print_struct(b, t); return;
  case BL_LIST:
    bl_buf_cstr(b, "list<");
    if (t->n_fields == 1) bl_type_print(b, &t->fields[0].type);
    bl_buf_byte(b, '>');
    return;
  case BL_MAP:
    bl_buf_cstr(b, "map<");
    if (t->n_fields == 2) {
      bl_type_print(b, &t->fields[0].type);
      bl_buf_cstr(b, ", ");
      bl_type_print(b, &t->fields[1].type);
    }
    bl_buf_byte(b, '>');
    return;
  default: bl_buf_cstr(b, bl_kind_name(t->kind));
  }
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bl_str trimmed(bl_str s) {
  while (s.n && is_space(s.p[0])) s.p++, s.n--;
  while (s.n && is_space(s.p[s.n - 1])) s.n--;
  return s;
}

/* "name", "name(params)" or "name[params]" taken apart; params.p NULL where there are none. */
static bool split_type(bl_str text, bl_str *name, char *bracket, bl_str *params) {
  text = trimmed(text);
  size_t i = 0;
  while (i < text.n && text.p[i] != '(' && text.p[i] != '[') i++;
  *name = trimmed((bl_str){text.p, i});
  *bracket = 0;
  *params = BL_STR_NONE;
  if (i == text.n) return true;
  *bracket = text.p[i];
  if (text.p[text.n - 1] != (*bracket == '(' ? ')' : ']')) return false;
  *params = trimmed((bl_str){text.p + i + 1, text.n - i - 2});
  return true;
}

static bool small_number(bl_str s, int64_t min, int64_t max, int64_t *out) {
  s = trimmed(s);
  return s.n && s.p[0] >= '0' && s.p[0] <= '9' && bl_parse_i64(s, out) && *out >= min && *out <= max;
}

static bl_status bad_params(bl_str text, const char *why, bl_error *err) {
  return bl_fail(err, BL_DAMAGED, "type: \"%.*s\": %s", BL_STR_ARG(text), why);
}

static bl_status parse_decimal_type(bl_str text, bl_str params, bl_type *out, bl_error *err) {
  const char *comma = memchr(params.p, ',', params.n);
  if (!comma) return bad_params(text, "decimal needs a precision and a scale", err);
  size_t left = (size_t)(comma - params.p);
  int64_t precision, scale;
  if (!small_number((bl_str){params.p, left}, 1, 38, &precision))
    return bad_params(text, "the precision must be 1 to 38", err);
  if (!small_number((bl_str){comma + 1, params.n - left - 1}, 0, 38, &scale))
    return bad_params(text, "the scale must be 0 to 38", err);
  out->precision = (int32_t)precision;
  out->scale = (int32_t)scale;
  return BL_OK;
}

static bool known_algorithm(bl_str s) {
  static const char *const names[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (bl_str_is_nocase(s, names[i])) return true;
  return false;
}

static bl_status parse_geo_type(bl_arena *a, bl_str text, bl_str params, bl_type *out, bl_error *err) {
  bl_str crs = BL_STR(DEFAULT_CRS), algorithm = BL_STR(DEFAULT_ALGORITHM);
  if (params.p) {
    const char *comma = out->kind == BL_GEOGRAPHY ? memchr(params.p, ',', params.n) : NULL;
    crs = comma ? trimmed((bl_str){params.p, (size_t)(comma - params.p)}) : params;
    if (comma) algorithm = trimmed((bl_str){comma + 1, params.n - (size_t)(comma - params.p) - 1});
    if (!crs.n) return bad_params(text, "the coordinate reference system is empty", err);
    if (!known_algorithm(algorithm))
      return bl_fail(err, BL_UNSUPPORTED, "type: \"%.*s\": edge-interpolation algorithm \"%.*s\" is not known",
                     BL_STR_ARG(text), BL_STR_ARG(algorithm));
  }
  out->crs = bl_arena_str(a, crs);
  if (out->kind == BL_GEOGRAPHY) out->algorithm = bl_arena_str(a, algorithm);
  if (!out->crs.p || (out->kind == BL_GEOGRAPHY && !out->algorithm.p)) return bl_nomem(err);
  return BL_OK;
}

static bl_status parse_params(bl_arena *a, bl_str text, char bracket, bl_str params, bl_type *out, bl_error *err) {
  int64_t length;
  switch (out->kind) {
  case BL_DECIMAL:
    if (bracket != '(') return bad_params(text, "decimal needs (precision, scale)", err);
    return parse_decimal_type(text, params, out, err);
  case BL_FIXED:
    if (bracket != '[') return bad_params(text, "fixed needs [length]", err);
    if (!small_number(params, 0, INT32_MAX, &length)) return bad_params(text, "the length must be a number", err);
    out->length = length;
    return BL_OK;
  case BL_GEOMETRY:
  case BL_GEOGRAPHY:
    if (bracket == '[') return bad_params(text, "parameters belong in ( )", err);
    return parse_geo_type(a, text, params, out, err);
  default: return bracket ? bad_params(text, "this type takes no parameters", err) : BL_OK;
  }
}

bl_status bl_type_parse_primitive(bl_arena *a, bl_str text, bl_type *out, bl_error *err) {
  bl_str name, params;
  char bracket;
  *out = (bl_type){0};
  if (!split_type(text, &name, &bracket, &params)) return bad_params(text, "a bracket is not closed", err);
  for (size_t k = 0; k < BL_LEN(kind_names); k++) {
    if (bl_kind_is_nested((bl_kind)k) || !bl_str_is_nocase(name, kind_names[k])) continue;
    out->kind = (bl_kind)k;
    return parse_params(a, text, bracket, params, out, err);
  }
  return bl_fail(err, BL_UNSUPPORTED, "type: \"%.*s\" is not known", BL_STR_ARG(text));
}

/* ---- equality and promotion ---- */

static bool same_text(bl_str a, bl_str b, const char *otherwise) {
  return bl_str_eq(a.p ? a : bl_str_of(otherwise), b.p ? b : bl_str_of(otherwise));
}

static bool same_parameters(const bl_type *a, const bl_type *b) {
  switch (a->kind) {
  case BL_DECIMAL: return a->precision == b->precision && a->scale == b->scale;
  case BL_FIXED: return a->length == b->length;
  case BL_GEOMETRY: return same_text(a->crs, b->crs, DEFAULT_CRS);
  case BL_GEOGRAPHY:
    return same_text(a->crs, b->crs, DEFAULT_CRS) && same_text(a->algorithm, b->algorithm, DEFAULT_ALGORITHM);
  default: return true;
  }
}

bool bl_type_equal(const bl_type *a, const bl_type *b) {
  if (a->kind != b->kind || !same_parameters(a, b) || a->n_fields != b->n_fields) return false;
  for (size_t i = 0; i < a->n_fields; i++) {
    const bl_field *x = &a->fields[i], *y = &b->fields[i];
    if (x->id != y->id || x->required != y->required || !bl_str_eq(x->name, y->name) ||
        !bl_type_equal(&x->type, &y->type))
      return false;
  }
  return true;
}

static const bl_field *child_by_id(const bl_type *t, int32_t id) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->fields[i].id == id) return &t->fields[i];
  return NULL;
}

/* Nested types go by field id: each child that both have must be promotable; lists and maps keep their children. */
static bool nested_can_promote(const bl_type *from, const bl_type *to) {
  for (size_t i = 0; i < to->n_fields; i++) {
    const bl_field *was = child_by_id(from, to->fields[i].id);
    if (!was && to->kind != BL_STRUCT) return false;
    if (was && !bl_type_can_promote(&was->type, &to->fields[i].type)) return false;
  }
  return true;
}

bool bl_type_can_promote(const bl_type *from, const bl_type *to) {
  if (from->kind == to->kind) {
    if (bl_kind_is_nested(from->kind)) return nested_can_promote(from, to);
    if (from->kind == BL_DECIMAL) return from->scale == to->scale && from->precision <= to->precision;
    return same_parameters(from, to);
  }
  switch (from->kind) {
  case BL_KIND_UNKNOWN: return true;
  case BL_INT: return to->kind == BL_LONG;
  case BL_FLOAT: return to->kind == BL_DOUBLE;
  case BL_DATE: return to->kind == BL_TIMESTAMP || to->kind == BL_TIMESTAMP_NS;
  default: return false;
  }
}

/* ---- looking up ---- */

static const bl_field *find_id(const bl_type *t, int32_t id) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    if (f->id == id) return f;
    if (f->type.n_fields && (f = find_id(&f->type, id))) return f;
  }
  return NULL;
}

const bl_field *bl_schema_find(const bl_schema *s, int32_t id) {
  return find_id(&s->root, id);
}

/* Lists and maps name their parts by position, whatever their fields' names say. */
static bl_str part_name(const bl_type *t, size_t i) {
  if (t->kind == BL_LIST) return BL_STR("element");
  if (t->kind == BL_MAP) return i == 0 ? BL_STR("key") : BL_STR("value");
  return t->fields[i].name;
}

/* A name may hold dots itself, so every child whose name begins the path is tried. */
static const bl_field *find_name(const bl_type *t, bl_str path) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (bl_str_eq(part_name(t, i), path)) return &t->fields[i];
  for (size_t i = 0; i < t->n_fields; i++) {
    bl_str name = part_name(t, i);
    if (path.n <= name.n || path.p[name.n] != '.' || !bl_str_starts(path, name)) continue;
    const bl_field *f = find_name(&t->fields[i].type, (bl_str){path.p + name.n + 1, path.n - name.n - 1});
    if (f) return f;
  }
  return NULL;
}

const bl_field *bl_schema_find_name(const bl_schema *s, bl_str path) {
  return find_name(&s->root, path);
}

static const bl_field *find_alias(const bl_type *t, bl_str path) {
  const bl_type *last = t->n_fields ? &t->fields[t->n_fields - 1].type : NULL;
  const bl_field *f = find_name(t, path);
  if (!f && (t->kind == BL_LIST || t->kind == BL_MAP) && last->kind == BL_STRUCT) f = find_alias(last, path);
  for (size_t i = 0; !f && i < t->n_fields; i++) {
    bl_str name = part_name(t, i);
    if (path.n <= name.n || path.p[name.n] != '.' || !bl_str_starts(path, name)) continue;
    f = find_alias(&t->fields[i].type, (bl_str){path.p + name.n + 1, path.n - name.n - 1});
  }
  return f;
}

const bl_field *bl_schema_find_alias(const bl_schema *s, bl_str path) {
  return find_alias(&s->root, path);
}

static bool full_name(const bl_type *t, int32_t id, bl_buf *b) {
  size_t mark = b->n;
  for (size_t i = 0; i < t->n_fields; i++) {
    bl_buf_str(b, part_name(t, i));
    if (t->fields[i].id == id) return true;
    if (t->fields[i].type.n_fields) {
      bl_buf_byte(b, '.');
      if (full_name(&t->fields[i].type, id, b)) return true;
    }
    b->n = mark;
  }
  return false;
}

bool bl_schema_full_name(const bl_schema *s, int32_t id, bl_buf *b) {
  return full_name(&s->root, id, b);
}

/* Fills out[depth…]; returns the length of the whole chain, 0 where the id is not below t. */
static size_t path_to(const bl_type *t, int32_t id, const bl_field **out, size_t depth, size_t max) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    size_t n = f->id == id ? depth + 1 : f->type.n_fields ? path_to(&f->type, id, out, depth + 1, max) : 0;
    if (!n) continue;
    if (depth < max) out[depth] = f;
    return n;
  }
  return 0;
}

size_t bl_schema_path(const bl_schema *s, int32_t id, const bl_field **out, size_t max) {
  size_t n = path_to(&s->root, id, out, 0, max);
  return n < max ? n : max;
}

/* ---- copies ---- */

static bl_status copy_str(bl_arena *a, bl_str s, bl_str *out, bl_error *err) {
  *out = s.p ? bl_arena_str(a, s) : BL_STR_NONE;
  return s.p && !out->p ? bl_nomem(err) : BL_OK;
}

static bl_status copy_default(bl_arena *a, const bl_value *v, const bl_value **out, bl_error *err) {
  *out = NULL;
  if (!v) return BL_OK;
  bl_value *copy = bl_arena_alloc(a, 1, sizeof *copy);
  if (!copy) return bl_nomem(err);
  BL_TRY(bl_value_copy(a, v, copy, err));
  *out = copy;
  return BL_OK;
}

static bl_status copy_field(bl_arena *a, const bl_field *f, bl_field *out, bl_error *err) {
  *out = *f;
  BL_TRY(copy_str(a, f->name, &out->name, err));
  BL_TRY(copy_str(a, f->doc, &out->doc, err));
  BL_TRY(copy_default(a, f->initial_default, &out->initial_default, err));
  BL_TRY(copy_default(a, f->write_default, &out->write_default, err));
  return bl_type_copy(a, &f->type, &out->type, err);
}

bl_status bl_type_copy(bl_arena *a, const bl_type *t, bl_type *out, bl_error *err) {
  bl_type copy = *t;
  BL_TRY(copy_str(a, t->crs, &copy.crs, err));
  BL_TRY(copy_str(a, t->algorithm, &copy.algorithm, err));
  copy.fields = NULL;
  if (t->n_fields) {
    copy.fields = bl_arena_alloc(a, t->n_fields, sizeof *copy.fields);
    if (!copy.fields) return bl_nomem(err);
  }
  for (size_t i = 0; i < t->n_fields; i++) BL_TRY(copy_field(a, &t->fields[i], &copy.fields[i], err));
  *out = copy;
  return BL_OK;
}
