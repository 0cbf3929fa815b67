/* arrow_types.c: see arrow_types.h. */
#include "write/arrow_types.h"

#include "rows/arrow_own.h"
#include "write/canonical.h"
#include "write/schema_text.h"

enum { NULLABLE = 2 }; /* ARROW_FLAG_NULLABLE */

static bool starts(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bl_status field_of(bl_arena *a, const struct ArrowSchema *s, bl_field *out, bl_error *err);

static bl_status fields_of(bl_arena *a, const struct ArrowSchema *s, bl_type *out, bl_error *err) {
  out->n_fields = (size_t)s->n_children;
  out->fields = bl_arena_calloc(a, out->n_fields, sizeof *out->fields);
  if (!out->fields) return bl_nomem(err);
  for (size_t i = 0; i < out->n_fields; i++) BL_TRY(field_of(a, s->children[i], &out->fields[i], err));
  return BL_OK;
}

static bl_status list_of(bl_arena *a, const struct ArrowSchema *s, bl_type *out, bl_error *err) {
  out->kind = BL_LIST;
  BL_TRY(fields_of(a, s, out, err));
  out->fields[0].name = BL_STR("element");
  return BL_OK;
}

static bl_status map_of(bl_arena *a, const struct ArrowSchema *s, bl_type *out, bl_error *err) {
  out->kind = BL_MAP;
  BL_TRY(fields_of(a, s->children[0], out, err)); /* the entries */
  if (out->n_fields != 2) return bl_fail(err, BL_UNSUPPORTED, "column %s: a map without keys and values", s->name);
  out->fields[0].name = BL_STR("key");
  out->fields[0].required = true;
  out->fields[1].name = BL_STR("value");
  return BL_OK;
}

/* What the extension's name says beyond the layout. */
static bool by_extension(const struct ArrowSchema *s, bl_type *out) {
  bl_str name = bl_aschema_get(s, "ARROW:extension:name");
  if (!name.p) return false;
  if (bl_str_is(name, "arrow.uuid")) out->kind = BL_UUID;
  else if (bl_str_is(name, "arrow.parquet.variant") || bl_str_is(name, "parquet.variant")) out->kind = BL_VARIANT;
  else if (bl_str_is(name, "geoarrow.wkb")) {
    out->kind = BL_GEOMETRY;
    out->crs = BL_STR("OGC:CRS84");
  } else return false;
  return true;
}

static bl_status decimal_of(const char *f, bl_type *out) {
  int64_t precision = 0, scale = 0;
  const char *comma = strchr(f + 2, ',');
  bool ok = comma && bl_parse_i64((bl_str){f + 2, (size_t)(comma - f - 2)}, &precision) &&
            bl_parse_i64(bl_str_of(comma + 1), &scale);
  *out = (bl_type){.kind = BL_DECIMAL, .precision = (int32_t)precision, .scale = (int32_t)scale};
  return ok && scale >= 0 && scale <= precision ? BL_OK : BL_UNSUPPORTED;
}

static bl_status fixed_of(const char *f, bl_type *out) {
  *out = (bl_type){.kind = BL_FIXED};
  return bl_parse_i64(bl_str_of(f + 2), &out->length) ? BL_OK : BL_UNSUPPORTED;
}

static bl_status primitive_of(const char *f, bl_type *out) {
  static const struct {
    const char *format;
    bl_kind kind;
  } kinds[] = {{"n", BL_KIND_UNKNOWN}, {"b", BL_BOOLEAN}, {"i", BL_INT},    {"l", BL_LONG},   {"f", BL_FLOAT},
               {"g", BL_DOUBLE},       {"u", BL_STRING},  {"z", BL_BINARY}, {"tdD", BL_DATE}, {"ttu", BL_TIME}};
  for (size_t i = 0; i < BL_LEN(kinds); i++)
    if (strcmp(f, kinds[i].format) == 0) {
      *out = (bl_type){.kind = kinds[i].kind};
      return BL_OK;
    }
  if (starts(f, "d:")) return decimal_of(f, out);
  if (starts(f, "w:")) return fixed_of(f, out);
  if (starts(f, "tsu:")) *out = (bl_type){.kind = f[4] ? BL_TIMESTAMPTZ : BL_TIMESTAMP};
  else if (starts(f, "tsn:")) *out = (bl_type){.kind = f[4] ? BL_TIMESTAMPTZ_NS : BL_TIMESTAMP_NS};
  else return BL_UNSUPPORTED;
  return BL_OK;
}

/* s is canonical. */
static bl_status type_of(bl_arena *a, const struct ArrowSchema *s, bl_type *out, bl_error *err) {
  *out = (bl_type){.kind = BL_STRUCT};
  if (by_extension(s, out)) return BL_OK;
  if (strcmp(s->format, "+s") == 0) return fields_of(a, s, out, err);
  if (strcmp(s->format, "+l") == 0) return list_of(a, s, out, err);
  if (strcmp(s->format, "+m") == 0) return map_of(a, s, out, err);
  if (primitive_of(s->format, out) == BL_OK) return BL_OK;
  return bl_fail(err, BL_UNSUPPORTED, "column %s: there is no Iceberg type for Arrow's \"%s\"", s->name ? s->name : "",
                 s->format);
}

static bl_status field_of(bl_arena *a, const struct ArrowSchema *s, bl_field *out, bl_error *err) {
  out->name = bl_arena_str(a, bl_str_of(s->name ? s->name : ""));
  if (!out->name.p) return bl_nomem(err);
  BL_TRY(type_of(a, s, &out->type, err));
  out->required = !(s->flags & NULLABLE) && out->type.kind != BL_KIND_UNKNOWN;
  return BL_OK;
}

bl_status bl_schema_of_arrow(bl_arena *a, const struct ArrowSchema *s, bl_schema *out, bl_error *err) {
  struct ArrowSchema canonical;
  bl_type root = {0};
  bool same = true;
  *out = (bl_schema){0};
  if (strcmp(s->format, "+s") != 0) return bl_fail(err, BL_USAGE, "the schema of a table is a struct");
  BL_TRY(bl_canonical_schema(bl_arena_ctx(a), s, &canonical, &same, err));
  bl_status st = type_of(a, &canonical, &root, err);
  bl_aschema_release(&canonical);
  return st == BL_OK ? bl_type_fresh_ids(a, &root, &out->highest_id, &out->root, err) : st;
}
