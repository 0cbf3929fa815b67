/* schema_sample.c: see schema_sample.h. */
#include "write/schema_sample.h"

#include "format/json.h"
#include "write/schema_text.h"

enum { SAMPLE_BYTES = 1 << 20 };

/* ---- single values ---- */

static bl_kind kind_of_time(bl_str s) {
  int32_t day;
  int64_t v;
  bool zone;
  if (bl_parse_date(s, &day)) return BL_DATE;
  if (bl_read_timestamp(s, 1000000, &v, &zone)) return zone ? BL_TIMESTAMPTZ : BL_TIMESTAMP;
  return BL_STRING;
}

bl_kind bl_kind_of_text(bl_str s) {
  int64_t v;
  double d;
  if (bl_str_is_nocase(s, "true") || bl_str_is_nocase(s, "false")) return BL_BOOLEAN;
  if (bl_parse_i64(s, &v)) return BL_LONG;
  if (bl_parse_double(s, &d)) return BL_DOUBLE;
  return kind_of_time(s);
}

bl_kind bl_kind_of_both(bl_kind a, bl_kind b) {
  if (a == b || b == BL_KIND_UNKNOWN) return a;
  if (a == BL_KIND_UNKNOWN) return b;
  bool numbers = (a == BL_LONG || a == BL_DOUBLE) && (b == BL_LONG || b == BL_DOUBLE);
  return numbers ? BL_DOUBLE : BL_STRING;
}

/* As NDJSON output writes what JSON has no number for. */
static bool is_no_number(bl_str s) {
  return bl_str_is(s, "NaN") || bl_str_is(s, "Infinity") || bl_str_is(s, "-Infinity");
}

static bl_kind kind_of_json(const bl_json *v) {
  int64_t whole;
  switch (v->kind) {
  case BL_J_NULL: return BL_KIND_UNKNOWN;
  case BL_J_BOOL: return BL_BOOLEAN;
  case BL_J_NUMBER: return bl_parse_i64(v->text, &whole) ? BL_LONG : BL_DOUBLE;
  case BL_J_STRING: return is_no_number(v->text) ? BL_DOUBLE : kind_of_time(v->text);
  case BL_J_ARRAY: return BL_LIST;
  default: return BL_STRUCT;
  }
}

/* ---- types that grow ---- */

static bl_status grow(bl_arena *a, bl_type *t, const bl_json *v, bl_error *err);

/* The field of that name, added where it is new. */
static bl_status field_of(bl_arena *a, bl_type *t, bl_str name, bl_field **out, bl_error *err) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (bl_str_eq(t->fields[i].name, name)) {
      *out = &t->fields[i];
      return BL_OK;
    }
  size_t n = t->n_fields;
  if ((n & (n - 1)) == 0) { /* the array is full at powers of two */
    bl_field *more = bl_arena_calloc(a, n ? 2 * n : 1, sizeof *more);
    if (!more) return bl_nomem(err);
    if (n) memcpy(more, t->fields, n * sizeof *more);
    t->fields = more;
  }
  *out = &t->fields[t->n_fields++];
  **out = (bl_field){.name = bl_arena_str(a, name), .type = {.kind = BL_KIND_UNKNOWN}};
  return (*out)->name.p ? BL_OK : bl_nomem(err);
}

static bl_status grow_list(bl_arena *a, bl_type *t, const bl_json *v, bl_error *err) {
  bl_field *element;
  BL_TRY(field_of(a, t, BL_STR("element"), &element, err));
  for (const bl_json *c = v->first; c; c = c->next) BL_TRY(grow(a, &element->type, c, err));
  return BL_OK;
}

static bl_status grow_struct(bl_arena *a, bl_type *t, const bl_json *v, bl_error *err) {
  for (const bl_json *c = v->first; c; c = c->next) {
    bl_field *f;
    BL_TRY(field_of(a, t, c->key, &f, err));
    BL_TRY(grow(a, &f->type, c, err));
  }
  return BL_OK;
}

static bl_status grow(bl_arena *a, bl_type *t, const bl_json *v, bl_error *err) {
  t->kind = bl_kind_of_both(t->kind, kind_of_json(v));
  if (t->kind == BL_LIST && v->kind == BL_J_ARRAY) return grow_list(a, t, v, err);
  if (t->kind == BL_STRUCT && v->kind == BL_J_OBJECT) return grow_struct(a, t, v, err);
  if (!bl_kind_is_nested(t->kind)) t->n_fields = 0;
  return BL_OK;
}

/* What nothing is known of is text; so is a struct without fields, which no file can hold. */
static void settle(bl_type *t) {
  if (t->kind == BL_KIND_UNKNOWN || (t->kind == BL_STRUCT && t->n_fields == 0)) t->kind = BL_STRING;
  for (size_t i = 0; i < t->n_fields; i++) settle(&t->fields[i].type);
}

/* ---- lines ---- */

static bl_status take_line(bl_arena *a, bl_type *root, bl_str line, const char *name, int64_t number, bl_error *err) {
  bl_json *v;
  while (line.n && strchr(" \t\r", line.p[line.n - 1])) line.n--;
  if (line.n == 0) return BL_OK;
  bl_status st = bl_json_parse(a, line.p, line.n, &v, err);
  if (st == BL_OK && v->kind != BL_J_OBJECT) st = bl_fail(err, BL_USAGE, "this is no JSON object");
  if (st != BL_OK) return bl_fail_in(err, st, "%s: line %lld", name, (long long)number);
  return grow_struct(a, root, v, err);
}

bl_status bl_schema_of_ndjson(bl_arena *a, bl_input *in, const char *name, bl_schema *out, bl_error *err) {
  size_t n = in->size < SAMPLE_BYTES ? (size_t)in->size : SAMPLE_BYTES;
  bool whole = (int64_t)n == in->size;
  char *p = bl_arena_alloc(a, n, 1);
  bl_type root = {.kind = BL_STRUCT};
  int64_t number = 1;
  *out = (bl_schema){0};
  if (!p) return bl_nomem(err);
  BL_TRY(in->read_at(in, 0, p, n, err));
  for (char *line = p; line < p + n; number++) {
    char *end = memchr(line, '\n', (size_t)(p + n - line));
    if (!end && !whole) break; /* a part of a line */
    if (!end) end = p + n;
    BL_TRY(take_line(a, &root, (bl_str){line, (size_t)(end - line)}, name, number, err));
    line = end + 1;
  }
  for (size_t i = 0; i < root.n_fields; i++) settle(&root.fields[i].type);
  return bl_type_fresh_ids(a, &root, &out->highest_id, &out->root, err);
}
