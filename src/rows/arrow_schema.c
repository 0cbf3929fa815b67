/* arrow_schema.c: schemas of arrow_own.h. */
#include "rows/arrow_own.h"

#include <stdio.h>

void bl_aschema_release(struct ArrowSchema *s) {
  if (s && s->release) s->release(s);
}

static void release_owned(struct ArrowSchema *s) {
  bl_ctx *ctx = s->private_data;
  for (int64_t i = 0; i < s->n_children; i++) {
    bl_aschema_release(s->children[i]);
    bl_free(ctx, s->children[i]);
  }
  bl_free(ctx, s->children);
  bl_free(ctx, (void *)(uintptr_t)s->format);
  bl_free(ctx, (void *)(uintptr_t)s->name);
  bl_free(ctx, (void *)(uintptr_t)s->metadata);
  s->release = NULL;
}

static char *copy_str(bl_ctx *ctx, bl_str s) {
  char *p = bl_alloc(ctx, s.n + 1, 1);
  if (!p) return NULL;
  if (s.n) memcpy(p, s.p, s.n);
  p[s.n] = 0;
  return p;
}

bl_status bl_aschema_new(bl_ctx *ctx, const char *format, bl_str name, bool nullable, int64_t n_children,
                         struct ArrowSchema *out, bl_error *err) {
  memset(out, 0, sizeof *out);
  out->format = bl_strdup(ctx, format);
  out->name = copy_str(ctx, name);
  out->children = bl_calloc(ctx, (size_t)n_children + 1, sizeof *out->children);
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->private_data = ctx;
  out->release = release_owned;
  bool ok = out->format && out->name && out->children;
  for (; ok && out->n_children < n_children; out->n_children++)
    ok = (out->children[out->n_children] = bl_calloc(ctx, 1, sizeof **out->children)) != NULL;
  if (ok) return BL_OK;
  if (out->children == NULL) out->n_children = 0;
  release_owned(out);
  return bl_nomem(err);
}

static size_t put_pair_part(char *p, bl_str s) {
  int32_t n = (int32_t)s.n;
  memcpy(p, &n, 4);
  if (s.n) memcpy(p + 4, s.p, s.n);
  return 4 + s.n;
}

bl_status bl_aschema_metadata(bl_ctx *ctx, struct ArrowSchema *s, const bl_str *keys, const bl_str *values, size_t n,
                              bl_error *err) {
  size_t bytes = 4;
  for (size_t i = 0; i < n; i++) bytes += 8 + keys[i].n + values[i].n;
  char *p = bl_alloc(ctx, bytes, 1);
  if (!p) return bl_nomem(err);
  int32_t count = (int32_t)n;
  memcpy(p, &count, 4);
  size_t at = 4;
  for (size_t i = 0; i < n; i++) {
    at += put_pair_part(p + at, keys[i]);
    at += put_pair_part(p + at, values[i]);
  }
  bl_free(ctx, (void *)(uintptr_t)s->metadata);
  s->metadata = p;
  return BL_OK;
}

static bl_str take_part(const char **p) {
  int32_t n;
  memcpy(&n, *p, 4);
  bl_str s = {*p + 4, n > 0 ? (size_t)n : 0};
  *p += 4 + s.n;
  return s;
}

/* Pairs of a metadata block: number, then take_part for each key and value. */
static int32_t pair_count(const char **p) {
  int32_t n = 0;
  if (!*p) return 0;
  memcpy(&n, *p, 4);
  *p += 4;
  return n;
}

bl_str bl_aschema_get(const struct ArrowSchema *s, const char *key) {
  const char *p = s->metadata;
  for (int32_t n = pair_count(&p); n > 0; n--) {
    bl_str k = take_part(&p), v = take_part(&p);
    if (bl_str_is(k, key)) return v;
  }
  return BL_STR_NONE;
}

static size_t metadata_bytes(const char *m) {
  const char *p = m;
  for (int32_t n = pair_count(&p); n > 0; n--) {
    take_part(&p);
    take_part(&p);
  }
  return (size_t)(p - m);
}

bl_status bl_aschema_copy(bl_ctx *ctx, const struct ArrowSchema *s, struct ArrowSchema *out, bl_error *err) {
  bl_str name = bl_str_of(s->name ? s->name : "");
  BL_TRY(bl_aschema_new(ctx, s->format, name, true, s->n_children, out, err));
  out->flags = s->flags;
  bl_status st = BL_OK;
  if (s->metadata) {
    size_t n = metadata_bytes(s->metadata);
    char *p = bl_alloc(ctx, n, 1);
    if (p) memcpy(p, s->metadata, n);
    else st = bl_nomem(err);
    out->metadata = p;
  }
  for (int64_t i = 0; st == BL_OK && i < s->n_children; i++)
    st = bl_aschema_copy(ctx, s->children[i], out->children[i], err);
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

/* Format string of a type into buf (at least 40 bytes). */
static const char *format_of(const bl_type *t, char *buf, size_t n) {
  switch (t->kind) {
  case BL_BOOLEAN: return "b";
  case BL_INT: return "i";
  case BL_LONG: return "l";
  case BL_FLOAT: return "f";
  case BL_DOUBLE: return "g";
  case BL_DECIMAL: snprintf(buf, n, "d:%d,%d", t->precision, t->scale); return buf;
  case BL_DATE: return "tdD";
  case BL_TIME: return "ttu";
  case BL_TIMESTAMP: return "tsu:";
  case BL_TIMESTAMPTZ: return "tsu:UTC";
  case BL_TIMESTAMP_NS: return "tsn:";
  case BL_TIMESTAMPTZ_NS: return "tsn:UTC";
  case BL_STRING: return "u";
  case BL_UUID: return "w:16";
  case BL_FIXED: snprintf(buf, n, "w:%lld", (long long)t->length); return buf;
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return "z";
  case BL_KIND_UNKNOWN: return "n";
  case BL_STRUCT:
  case BL_VARIANT: return "+s";
  case BL_LIST: return "+l";
  case BL_MAP: return "+m";
  }
  return "n";
}

/* Extension name and metadata of a type, p NULL where it has none. */
static bl_str extension_of(const bl_type *t, bl_buf *meta) {
  if (t->kind == BL_UUID) return BL_STR("arrow.uuid");
  if (t->kind == BL_VARIANT) return BL_STR("arrow.parquet.variant");
  if (t->kind != BL_GEOMETRY && t->kind != BL_GEOGRAPHY) return BL_STR_NONE;
  bl_buf_cstr(meta, "{\"crs\":");
  bl_print_json_str(meta, t->crs.p ? t->crs : BL_STR("OGC:CRS84"));
  if (t->kind == BL_GEOGRAPHY) {
    bl_buf_cstr(meta, ",\"edges\":");
    bl_print_json_str(meta, t->algorithm.p ? t->algorithm : BL_STR("spherical"));
  }
  bl_buf_byte(meta, '}');
  return BL_STR("geoarrow.wkb");
}

static bl_status annotate(bl_ctx *ctx, const bl_field *f, struct ArrowSchema *out, bl_error *err) {
  char id[16];
  bl_str keys[3], values[3];
  size_t n = 0;
  bl_buf meta;
  bl_buf_init(&meta, ctx, 1 << 20);
  if (f->id >= 0) {
    snprintf(id, sizeof id, "%d", f->id);
    keys[n] = BL_STR("PARQUET:field_id");
    values[n++] = bl_str_of(id);
  }
  bl_str ext = extension_of(&f->type, &meta);
  if (ext.p) {
    keys[n] = BL_STR("ARROW:extension:name");
    values[n++] = ext;
    keys[n] = BL_STR("ARROW:extension:metadata");
    values[n++] = (bl_str){(const char *)meta.p, meta.n};
  }
  bl_status st = bl_buf_ok(&meta, err);
  if (st == BL_OK && n) st = bl_aschema_metadata(ctx, out, keys, values, n, err);
  bl_buf_free(&meta);
  return st;
}

static bl_status fill_children(bl_ctx *ctx, const bl_type *t, struct ArrowSchema *out, bl_error *err) {
  if (t->kind == BL_VARIANT) {
    BL_TRY(bl_aschema_new(ctx, "z", BL_STR("metadata"), false, 0, out->children[0], err));
    return bl_aschema_new(ctx, "z", BL_STR("value"), false, 0, out->children[1], err);
  }
  if (t->kind == BL_MAP) {
    struct ArrowSchema *e = out->children[0];
    BL_TRY(bl_aschema_new(ctx, "+s", BL_STR("key_value"), false, 2, e, err));
    BL_TRY(bl_aschema_of_field(ctx, &t->fields[0], e->children[0], err));
    e->children[0]->flags &= ~ARROW_FLAG_NULLABLE;
    return bl_aschema_of_field(ctx, &t->fields[1], e->children[1], err);
  }
  for (size_t i = 0; i < t->n_fields; i++) BL_TRY(bl_aschema_of_field(ctx, &t->fields[i], out->children[i], err));
  return BL_OK;
}

bl_status bl_aschema_of_field(bl_ctx *ctx, const bl_field *f, struct ArrowSchema *out, bl_error *err) {
  char buf[40];
  const bl_type *t = &f->type;
  int64_t n = t->kind == BL_MAP ? 1 : t->kind == BL_VARIANT ? 2 : (int64_t)t->n_fields;
  BL_TRY(
      bl_aschema_new(ctx, format_of(t, buf, sizeof buf), f->name.p ? f->name : BL_STR(""), !f->required, n, out, err));
  bl_status st = fill_children(ctx, t, out, err);
  if (st == BL_OK) st = annotate(ctx, f, out, err);
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

bl_status bl_aschema_of_struct(bl_ctx *ctx, const bl_type *root, struct ArrowSchema *out, bl_error *err) {
  bl_field f = {.id = -1, .name = BL_STR(""), .required = true, .type = *root};
  return bl_aschema_of_field(ctx, &f, out, err);
}
