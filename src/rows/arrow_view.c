/* arrow_view.c: see arrow_view.h. */
#include "rows/arrow_view.h"

#include "rows/arrow_own.h"

/* ---- schema to tree ---- */

/* The whole of "N" or "N,M" as numbers. */
static bool take_numbers(const char *text, int64_t *a, int64_t *b) {
  const char *comma = strchr(text, ',');
  if (!b) return !comma && bl_parse_i64(bl_str_of(text), a);
  return comma && bl_parse_i64((bl_str){text, (size_t)(comma - text)}, a) && bl_parse_i64(bl_str_of(comma + 1), b);
}

static bool parse_decimal(bl_view *v, const char *text) {
  int64_t p, s;
  if (!take_numbers(text, &p, &s) || p < 1 || p > 38 || s < 0 || s > 38) return false;
  v->kind = BL_D_DECIMAL;
  v->precision = (int32_t)p;
  v->scale = (int32_t)s;
  return true;
}

static bool parse_fixed(bl_view *v, const char *text) {
  int64_t n;
  if (!take_numbers(text, &n, NULL) || n < 0 || n > INT32_MAX) return false;
  v->kind = BL_D_FIXED;
  v->length = (int32_t)n;
  return true;
}

/* "tsu:ZONE", "tsn:ZONE": any zone means that values are in UTC. */
static bool parse_timestamp(bl_view *v, const char *f) {
  if ((f[2] != 'u' && f[2] != 'n') || f[3] != ':') return false;
  v->kind = f[2] == 'u' ? BL_D_TIMESTAMP_US : BL_D_TIMESTAMP_NS;
  v->utc = f[4] != 0;
  return true;
}

static bool parse_format(bl_view *v, const char *f) {
  static const struct {
    const char *format;
    bl_data_kind kind;
  } plain[] = {{"n", BL_D_OTHER},   {"b", BL_D_BOOL},     {"i", BL_D_INT32},     {"l", BL_D_INT64},  {"f", BL_D_FLOAT},
               {"g", BL_D_DOUBLE},  {"tdD", BL_D_DATE32}, {"ttu", BL_D_TIME_US}, {"u", BL_D_STRING}, {"z", BL_D_BINARY},
               {"+s", BL_D_STRUCT}, {"+l", BL_D_LIST},    {"+m", BL_D_MAP}};
  for (size_t i = 0; i < BL_LEN(plain); i++)
    if (strcmp(f, plain[i].format) == 0) {
      v->kind = plain[i].kind;
      return true;
    }
  if (strncmp(f, "d:", 2) == 0) return parse_decimal(v, f + 2);
  if (strncmp(f, "w:", 2) == 0) return parse_fixed(v, f + 2);
  if (strncmp(f, "ts", 2) == 0 && strlen(f) >= 4) return parse_timestamp(v, f);
  return false;
}

static void parse_metadata(bl_view *v, const struct ArrowSchema *s) {
  int64_t id;
  bl_str text = bl_aschema_get(s, "PARQUET:field_id");
  v->field_id = text.p && bl_parse_i64(text, &id) && id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
  bl_str ext = bl_aschema_get(s, "ARROW:extension:name");
  if (!ext.p) return;
  if (bl_str_is(ext, "arrow.uuid") && v->kind == BL_D_FIXED && v->length == 16) v->hint = BL_H_UUID;
  if (bl_str_is(ext, "arrow.parquet.variant") && v->kind == BL_D_STRUCT) v->hint = BL_H_VARIANT;
  if (bl_str_is(ext, "geoarrow.wkb") && v->kind == BL_D_BINARY) v->hint = BL_H_GEOMETRY;
}

static bl_status name_it(bl_arena *a, const struct ArrowSchema *s, bl_view *v, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  v->name = bl_arena_str(a, bl_str_of(s->name ? s->name : ""));
  bl_buf_byte(&b, ',');
  if (v->name.p) bl_print_json_str(&b, v->name);
  bl_buf_byte(&b, ':');
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) {
    v->key = bl_arena_str(a, (bl_str){(const char *)b.p, b.n});
    if (!v->name.p || !v->key.p) st = bl_nomem(err);
  }
  bl_buf_free(&b);
  return st;
}

static int64_t children_of(bl_data_kind k, int64_t n) {
  return k == BL_D_STRUCT ? n : k == BL_D_LIST || k == BL_D_MAP ? 1 : 0;
}

static bl_status refuse(const bl_view *v, const struct ArrowSchema *s, bl_error *err) {
  char name[BL_TYPE_NAME_BYTES];
  return bl_fail(err, BL_UNSUPPORTED,
                 "column \"%.*s\": the type %s (Arrow's \"%.100s\") in a place where it cannot be read",
                 BL_STR_ARG(v->name), bl_aschema_type_name(s, name), s->format ? s->format : "");
}

static bl_status parse(bl_arena *a, const struct ArrowSchema *s, int depth, bl_view *v, bl_error *err) {
  BL_TRY(name_it(a, s, v, err));
  if (depth > bl_arena_ctx(a)->o.max_nesting)
    return bl_fail(err, BL_DAMAGED, "column \"%.*s\": nested deeper than %d", BL_STR_ARG(v->name), depth - 1);
  if (s->dictionary || !s->format || !parse_format(v, s->format)) return refuse(v, s, err);
  v->nullable = s->flags & ARROW_FLAG_NULLABLE;
  parse_metadata(v, s);
  if (children_of(v->kind, s->n_children) != s->n_children) return refuse(v, s, err);
  if (v->kind == BL_D_MAP) {
    s = s->children[0];
    if (s->n_children != 2 || !s->format || strcmp(s->format, "+s") != 0) return refuse(v, s, err);
  }
  if (s->n_children == 0) return BL_OK;
  v->children = bl_arena_calloc(a, (size_t)s->n_children, sizeof *v->children);
  if (!v->children) return bl_nomem(err);
  v->n_children = (size_t)s->n_children;
  for (size_t i = 0; i < v->n_children; i++) BL_TRY(parse(a, s->children[i], depth + 1, &v->children[i], err));
  return BL_OK;
}

bl_status bl_view_new(bl_ctx *ctx, const struct ArrowSchema *schema, bl_view **out, bl_error *err) {
  *out = NULL;
  bl_arena *a;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_view *v = bl_arena_calloc(a, 1, sizeof *v);
  bl_status st = v ? parse(a, schema, 1, v, err) : bl_nomem(err);
  if (st != BL_OK) {
    bl_arena_free(a);
    return st;
  }
  v->arena = a;
  *out = v;
  return BL_OK;
}

void bl_view_free(bl_view *root) {
  if (root) bl_arena_free(root->arena);
}

const bl_view *bl_view_child(const bl_view *v, const char *name) {
  for (size_t i = 0; i < v->n_children; i++)
    if (bl_str_is(v->children[i].name, name)) return &v->children[i];
  return NULL;
}

/* ---- arrays ---- */

static bl_status misfit(const bl_view *v, const char *what, int64_t n, bl_error *err) {
  return bl_fail(err, BL_USAGE, "Arrow array of column \"%.*s\": %s %lld does not fit its schema", BL_STR_ARG(v->name),
                 what, (long long)n);
}

static int64_t buffers_of(bl_data_kind k) {
  switch (k) {
  case BL_D_OTHER: return 0;
  case BL_D_STRUCT: return 1;
  case BL_D_STRING:
  case BL_D_BINARY: return 3;
  default: return 2;
  }
}

static bl_status attach(bl_view *v, const struct ArrowArray *a, int64_t outer, int64_t rows, bl_error *err);

/* The entries struct of a map stands between: its offset and length are those of key and value together. */
static bl_status attach_children(bl_view *v, const struct ArrowArray *a, bl_error *err) {
  int64_t outer = v->kind == BL_D_STRUCT ? v->base : 0, rows = v->kind == BL_D_STRUCT ? v->n : 0;
  if (v->kind == BL_D_MAP) {
    if (a->n_children != 1) return misfit(v, "number of children", a->n_children, err);
    a = a->children[0];
    outer = a->offset;
  }
  if (a->n_children != (int64_t)v->n_children) return misfit(v, "number of children", a->n_children, err);
  for (size_t i = 0; i < v->n_children; i++) BL_TRY(attach(&v->children[i], a->children[i], outer, rows, err));
  return BL_OK;
}

/* outer: what a struct around adds to a row; rows: that many rows are asked for at most (lists: not known, 0). */
static bl_status attach(bl_view *v, const struct ArrowArray *a, int64_t outer, int64_t rows, bl_error *err) {
  if (a->n_buffers != buffers_of(v->kind)) return misfit(v, "number of buffers", a->n_buffers, err);
  int64_t need;
  if (a->length < 0 || a->offset < 0 || !bl_add64(outer, rows, &need) || need > a->length)
    return misfit(v, "length", a->length, err);
  v->n = a->length - outer;
  v->base = a->offset + outer;
  v->validity = a->n_buffers > 0 && a->null_count != 0 ? a->buffers[0] : NULL;
  v->offsets = NULL;
  v->data = NULL;
  bool has_offsets = v->kind == BL_D_LIST || v->kind == BL_D_MAP || a->n_buffers == 3;
  if (has_offsets) v->offsets = a->buffers[1];
  if (a->n_buffers == 3 || (a->n_buffers == 2 && !has_offsets)) v->data = a->buffers[a->n_buffers - 1];
  bool no_bytes = a->length == 0 || (v->kind == BL_D_FIXED && v->length == 0);
  if (a->n_buffers > 1 && !a->buffers[1] && !no_bytes) return misfit(v, "missing buffer", 1, err);
  if (!v->data) v->data = ""; /* no bytes at all: all strings are empty */
  return attach_children(v, a, err);
}

bl_status bl_view_set(bl_view *root, const struct ArrowArray *a, bl_error *err) {
  return attach(root, a, 0, 0, err);
}

/* ---- how large a batch is ---- */

static int64_t width_of(const bl_view *v) {
  switch (v->kind) {
  case BL_D_OTHER: return 0;
  case BL_D_BOOL: return 1;
  case BL_D_INT32:
  case BL_D_FLOAT:
  case BL_D_DATE32: return 4;
  case BL_D_DECIMAL: return 16;
  case BL_D_FIXED: return v->length;
  case BL_D_STRUCT: return 0;
  default: return 8;
  }
}

int64_t bl_view_volume(const bl_view *v, int64_t begin, int64_t end) {
  int64_t n = (end - begin) * (width_of(v) + 1);
  if (begin >= end) return 0;
  if (v->kind == BL_D_STRING || v->kind == BL_D_BINARY) n += v->offsets[v->base + end] - v->offsets[v->base + begin];
  if (v->kind == BL_D_LIST || v->kind == BL_D_MAP) {
    int64_t from = v->offsets[v->base + begin];
    end = v->offsets[v->base + end], begin = from;
  }
  for (size_t i = 0; i < v->n_children; i++) n += bl_view_volume(&v->children[i], begin, end);
  return n;
}
