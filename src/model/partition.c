/* partition.c: transforms and partition tuples (spec: "Partition Transforms", "Appendix B: 32-bit Hash Requirements").
 *  P1 Times are UTC and divided towards minus infinity: 1969-12-31T23:59:59.999999 is hour -1, day -1, month -1, year
 * -1. P2 int and long, and us and ns of one instant, hash alike; a decimal hashes by its unscaled value in the fewest
 *     big-endian bytes. */
#include "model/partition.h"

#include "base/map.h"

/* ---- parsing ---- */

static const struct {
  const char *name;
  bl_transform_kind kind;
  bool has_arg;
} transforms[] = {
    {"identity", BL_T_IDENTITY, false}, {"bucket", BL_T_BUCKET, true}, {"truncate", BL_T_TRUNCATE, true},
    {"year", BL_T_YEAR, false},         {"month", BL_T_MONTH, false},  {"day", BL_T_DAY, false},
    {"hour", BL_T_HOUR, false},         {"void", BL_T_VOID, false},
};

static bool all_digits(bl_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  return s.n > 0;
}

static bl_status parse_arg(bl_str text, bl_str digits, bl_transform *out, bl_error *err) {
  int64_t arg;
  if (!bl_parse_i64(digits, &arg) || arg < 1 || arg > INT32_MAX)
    return bl_fail(err, BL_DAMAGED, "transform: \"%.*s\": the number must be 1 to %d", BL_STR_ARG(text), INT32_MAX);
  out->arg = (int32_t)arg;
  return BL_OK;
}

bl_status bl_transform_parse(bl_arena *a, bl_str text, bl_transform *out, bl_error *err) {
  *out = (bl_transform){.kind = BL_T_OTHER, .text = bl_arena_str(a, text)};
  if (!out->text.p) return bl_nomem(err);
  size_t open = 0;
  while (open < text.n && text.p[open] != '[') open++;
  bl_str name = {text.p, open}, digits = {0};
  if (open < text.n) {
    digits = (bl_str){text.p + open + 1, text.n - open - 1};
    if (!digits.n || digits.p[digits.n - 1] != ']') return BL_OK;
    digits.n--;
    if (!all_digits(digits)) return BL_OK;
  }
  for (size_t i = 0; i < BL_LEN(transforms); i++) {
    if (!bl_str_is_nocase(name, transforms[i].name) || transforms[i].has_arg != (digits.p != NULL)) continue;
    out->kind = transforms[i].kind;
    return digits.p ? parse_arg(text, digits, out, err) : BL_OK;
  }
  return BL_OK;
}

/* ---- types ---- */

static bool is_timestamp(bl_kind k) {
  return k == BL_TIMESTAMP || k == BL_TIMESTAMPTZ || k == BL_TIMESTAMP_NS || k == BL_TIMESTAMPTZ_NS;
}

static bool can_bucket(bl_kind k) {
  return k == BL_INT || k == BL_LONG || k == BL_DECIMAL || k == BL_DATE || k == BL_TIME || is_timestamp(k) ||
         k == BL_STRING || k == BL_UUID || k == BL_FIXED || k == BL_BINARY;
}

static bool can_truncate(bl_kind k) {
  return k == BL_INT || k == BL_LONG || k == BL_DECIMAL || k == BL_STRING || k == BL_BINARY;
}

static bool can_identity(bl_kind k) {
  return !bl_kind_is_nested(k) && k != BL_GEOMETRY && k != BL_GEOGRAPHY && k != BL_VARIANT;
}

bool bl_transform_result(const bl_transform *t, const bl_type *source, bl_type *out) {
  bl_kind k = source->kind;
  switch (t->kind) {
  case BL_T_IDENTITY: *out = *source; return can_identity(k);
  case BL_T_TRUNCATE: *out = *source; return can_truncate(k);
  case BL_T_VOID: *out = *source; return true;
  case BL_T_BUCKET: *out = (bl_type){.kind = BL_INT}; return can_bucket(k);
  case BL_T_YEAR:
  case BL_T_MONTH: *out = (bl_type){.kind = BL_INT}; return k == BL_DATE || is_timestamp(k);
  case BL_T_DAY: *out = (bl_type){.kind = BL_DATE}; return k == BL_DATE || is_timestamp(k);
  case BL_T_HOUR: *out = (bl_type){.kind = BL_INT}; return is_timestamp(k);
  default: *out = (bl_type){.kind = BL_KIND_UNKNOWN}; return false;
  }
}

static const bl_field *find_source(int32_t id, const bl_schema *schema, const bl_schema *const *others,
                                   size_t n_others) {
  const bl_field *f = schema ? bl_schema_find(schema, id) : NULL;
  for (size_t i = 0; i < n_others && !f; i++) f = bl_schema_find(others[i], id);
  return f;
}

void bl_spec_types(const bl_partition_spec *s, const bl_schema *schema, const bl_schema *const *others, size_t n_others,
                   bl_type *out) {
  for (size_t i = 0; i < s->n_fields; i++) {
    const bl_partition_field *pf = &s->fields[i];
    out[i] = (bl_type){.kind = BL_KIND_UNKNOWN};
    if (pf->n_source_ids == 0) continue;
    const bl_field *f = find_source(pf->source_ids[0], schema, others, n_others);
    if (!f) continue;
    bool one = pf->n_source_ids == 1;
    if (!one && pf->transform.kind == BL_T_BUCKET) out[i] = (bl_type){.kind = BL_INT};
    if (one && !bl_transform_result(&pf->transform, &f->type, &out[i])) out[i] = (bl_type){.kind = BL_KIND_UNKNOWN};
  }
}

bool bl_spec_is_unpartitioned(const bl_partition_spec *s) {
  for (size_t i = 0; i < s->n_fields; i++)
    if (s->fields[i].transform.kind != BL_T_VOID) return false;
  return true;
}

/* ---- murmur3, x86, 32 bits ---- */

static uint32_t rotl(uint32_t x, int r) {
  return x << r | x >> (32 - r);
}

static uint32_t mix(uint32_t k) {
  return rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

int32_t bl_murmur3(const void *p, size_t n) {
  const uint8_t *b = p;
  uint32_t h = 0, k = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    k = (uint32_t)b[i] | (uint32_t)b[i + 1] << 8 | (uint32_t)b[i + 2] << 16 | (uint32_t)b[i + 3] << 24;
    h = rotl(h ^ mix(k), 13) * 5 + 0xe6546b64u;
  }
  k = 0;
  for (size_t j = n; j > i; j--) k = k << 8 | b[j - 1];
  h ^= mix(k) ^ (uint32_t)n;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return (int32_t)(h ^ h >> 16);
}

static int32_t hash_long(int64_t v) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)v >> (8 * i));
  return bl_murmur3(bytes, sizeof bytes);
}

static int32_t hash_decimal(bl_i128 v) {
  uint8_t bytes[16];
  return bl_murmur3(bytes, bl_decimal_bytes(v, bytes));
}

static bool hash_value(const bl_value *v, int32_t *out) {
  switch (v->kind) {
  case BL_INT:
  case BL_LONG:
  case BL_DATE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ: *out = hash_long(v->u.i); return true;
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: *out = hash_long(bl_floor_div(v->u.i, 1000)); return true;
  case BL_DECIMAL: *out = hash_decimal(v->u.dec); return true;
  case BL_STRING:
  case BL_UUID:
  case BL_FIXED:
  case BL_BINARY: *out = bl_murmur3(v->u.s.p, v->u.s.n); return true;
  default: return false;
  }
}

/* ---- applying ---- */

static bool apply_bucket(int32_t n, const bl_value *v, bl_value *out) {
  int32_t h;
  if (n < 1 || !hash_value(v, &h)) return false;
  *out = (bl_value){.kind = BL_INT, .u.i = (h & INT32_MAX) % n};
  return true;
}

/* The bytes of the first n code points of UTF-8. */
static size_t code_points(bl_str s, size_t n) {
  size_t i = 0;
  for (; i < s.n; i++)
    if (((uint8_t)s.p[i] & 0xc0) != 0x80 && n-- == 0) break;
  return i;
}

/* Near the least value the result wraps, as Java's does. */
static bool apply_truncate(int32_t width, const bl_value *v, bl_value *out) {
  if (width < 1) return false;
  *out = *v;
  switch (v->kind) {
  case BL_INT: out->u.i = (int32_t)(uint32_t)(uint64_t)(v->u.i - bl_floor_mod(v->u.i, width)); return true;
  case BL_LONG: out->u.i = (int64_t)((uint64_t)v->u.i - (uint64_t)bl_floor_mod(v->u.i, width)); return true;
  case BL_DECIMAL: {
    bl_i128 rest = v->u.dec % width;
    out->u.dec = v->u.dec - (rest < 0 ? rest + width : rest);
    return true;
  }
  case BL_STRING: out->u.s.n = code_points(v->u.s, (size_t)width); return true;
  case BL_BINARY:
    if (out->u.s.n > (size_t)width) out->u.s.n = (size_t)width;
    return true;
  default: return false;
  }
}

static int64_t parts_per_second(bl_kind k) {
  return k == BL_TIMESTAMP || k == BL_TIMESTAMPTZ ? INT64_C(1000000) : INT64_C(1000000000);
}

static int64_t year_or_month(int64_t days, bool month) {
  int64_t y;
  int m, d;
  bl_civil_from_days(days, &y, &m, &d);
  return month ? (y - 1970) * 12 + m - 1 : y - 1970;
}

static bool apply_time(bl_transform_kind kind, const bl_value *v, bl_value *out) {
  int64_t r, days = v->u.i;
  if (v->kind != BL_DATE && !is_timestamp(v->kind)) return false;
  if (v->kind != BL_DATE) days = bl_floor_div(v->u.i, 86400 * parts_per_second(v->kind));
  switch (kind) {
  case BL_T_YEAR: r = year_or_month(days, false); break;
  case BL_T_MONTH: r = year_or_month(days, true); break;
  case BL_T_DAY: r = days; break;
  default:
    if (v->kind == BL_DATE) return false;
    r = bl_floor_div(v->u.i, 3600 * parts_per_second(v->kind));
  }
  *out = (bl_value){.kind = kind == BL_T_DAY ? BL_DATE : BL_INT, .u.i = r};
  return r >= INT32_MIN && r <= INT32_MAX;
}

bool bl_transform_apply(const bl_transform *t, const bl_type *source, const bl_value *v, bl_value *out) {
  bl_type type;
  if (!bl_transform_result(t, source, &type)) return false;
  if (v->null || t->kind == BL_T_VOID) {
    *out = (bl_value){.kind = type.kind, .null = true};
    return true;
  }
  switch (t->kind) {
  case BL_T_IDENTITY: *out = *v; return true;
  case BL_T_BUCKET: return apply_bucket(t->arg, v, out);
  case BL_T_TRUNCATE: return apply_truncate(t->arg, v, out);
  default: return apply_time(t->kind, v, out);
  }
}

bool bl_partition_value_fits(const bl_type *source, const bl_value *v) {
  bl_i128 most = 1;
  if (v->null || v->kind != BL_DECIMAL) return true;
  for (int32_t i = 0; i < source->precision && i < 38; i++) most *= 10;
  return v->u.dec < most && v->u.dec > -most;
}

/* ---- tuples ---- */

bool bl_tuple_same(const bl_value *a, size_t na, const bl_value *b, size_t nb) {
  if (na != nb) return false;
  for (size_t i = 0; i < na; i++)
    if (!bl_value_same(&a[i], &b[i])) return false;
  return true;
}

uint64_t bl_tuple_hash(const bl_value *v, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++) {
    uint64_t pair[2] = {h, bl_value_hash(&v[i])};
    h = bl_hash(pair, sizeof pair);
  }
  return h;
}
