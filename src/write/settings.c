/* settings.c: see settings.h. */
#include "write/settings.h"

#include "write/paths.h"
#include "write/properties.h"

static bl_str property(const bl_table *t, const char *key) {
  return bl_pairs_get(&t->metadata->properties, key);
}

static bl_str trimmed(bl_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) s.p++, s.n--;
  while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) s.n--;
  return s;
}

/* A whole number from 1 on, `otherwise` where the property is not set. */
static bl_status number_property(const bl_table *t, const char *key, int64_t otherwise, int64_t *out, bl_error *err) {
  bl_str text = property(t, key);
  *out = otherwise;
  if (!text.p || (bl_parse_i64(trimmed(text), out) && *out > 0)) return BL_OK;
  return bl_fail(err, BL_USAGE, "property %s: \"%.*s\" is no number above 0", key, BL_STR_ARG(text));
}

/* ---- metrics ---- */

static const bl_metrics_mode standard = {BL_METRICS_TRUNCATE, 16};

bool bl_metrics_mode_parse(bl_str text, bl_metrics_mode *out) {
  int64_t n;
  text = trimmed(text);
  *out = (bl_metrics_mode){BL_METRICS_NONE, 0};
  if (bl_str_is_nocase(text, "none")) return true;
  out->kind = BL_METRICS_COUNTS;
  if (bl_str_is_nocase(text, "counts")) return true;
  out->kind = BL_METRICS_FULL;
  if (bl_str_is_nocase(text, "full")) return true;
  out->kind = BL_METRICS_TRUNCATE;
  if (text.n < 11 || text.p[text.n - 1] != ')' || !bl_str_is_nocase((bl_str){text.p, 9}, "truncate(")) return false;
  if (!bl_parse_i64(trimmed((bl_str){text.p + 9, text.n - 10}), &n) || n < 1 || n > INT32_MAX) return false;
  out->length = (int32_t)n;
  return true;
}

static bl_metrics_mode mode_of_text(bl_ctx *ctx, const char *key, bl_str text, bl_metrics_mode otherwise) {
  bl_metrics_mode m;
  if (bl_metrics_mode_parse(text, &m)) return m;
  bl_warn(ctx, "property %s: \"%.*s\" is no metrics mode: the default is used", key, BL_STR_ARG(text));
  return otherwise;
}

static bool is_leaf(const bl_type *t) {
  return t->kind != BL_STRUCT && t->kind != BL_LIST && t->kind != BL_MAP;
}

static size_t count_leaves(const bl_type *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->n_fields; i++) n += is_leaf(&t->fields[i].type) ? 1 : count_leaves(&t->fields[i].type);
  return n;
}

/* How many leaves of a struct lie `depth` levels below it: those near the top come first (Java: breadth first). */
typedef struct leaf_list {
  int32_t *ids;
  bl_metrics_mode *modes;
  size_t n;
  bl_metrics_mode inside, beyond; /* the first `limit` leaves, and the others */
  size_t limit;
} leaf_list;

static bool add_level(const bl_type *t, int depth, leaf_list *out) {
  bool deeper = false;
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    bool leaf = is_leaf(&f->type);
    if (depth > 0) {
      if (!leaf) deeper |= add_level(&f->type, depth - 1, out);
      continue;
    }
    deeper |= !leaf;
    if (!leaf) continue;
    out->modes[out->n] = out->n < out->limit ? out->inside : out->beyond;
    out->ids[out->n++] = f->id;
  }
  return deeper;
}

static void sort_leaves(leaf_list *l) {
  for (size_t i = 1; i < l->n; i++)
    for (size_t j = i; j > 0 && l->ids[j - 1] > l->ids[j]; j--) {
      int32_t id = l->ids[j];
      bl_metrics_mode m = l->modes[j];
      l->ids[j] = l->ids[j - 1], l->modes[j] = l->modes[j - 1];
      l->ids[j - 1] = id, l->modes[j - 1] = m;
    }
}

static size_t place_of(const int32_t *ids, size_t n, int32_t id) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (ids[mid] < id) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && ids[lo] == id ? lo : SIZE_MAX;
}

/* Columns that the table is sorted by have bounds, whatever the default. */
static void sorted_columns(const bl_table *t, leaf_list *l, bl_metrics_mode otherwise) {
  const bl_sort_order *o = bl_metadata_default_order(t->metadata);
  bl_metrics_mode mode =
      otherwise.kind == BL_METRICS_NONE || otherwise.kind == BL_METRICS_COUNTS ? standard : otherwise;
  for (size_t i = 0; o && i < o->n_fields; i++) {
    const bl_sort_field *f = &o->fields[i];
    if (f->n_source_ids != 1 || f->transform.kind == BL_T_BUCKET || f->transform.kind >= BL_T_VOID) continue;
    size_t at = place_of(l->ids, l->n, f->source_ids[0]);
    if (at != SIZE_MAX) l->modes[at] = mode;
  }
}

static void named_columns(const bl_table *t, const bl_schema *schema, leaf_list *l, bl_metrics_mode otherwise) {
  static const char prefix[] = "write.metadata.metrics.column.";
  const bl_pairs *p = &t->metadata->properties;
  for (size_t i = 0; i < p->n; i++) {
    bl_str key = p->items[i].key;
    if (!bl_str_starts(key, BL_STR(prefix))) continue;
    const bl_field *f = bl_schema_find_alias(schema, (bl_str){key.p + sizeof prefix - 1, key.n - sizeof prefix + 1});
    if (!f) bl_warn(t->ctx, "property %s: the table has no column of that name", key.p);
    size_t at = f ? place_of(l->ids, l->n, f->id) : SIZE_MAX;
    if (at != SIZE_MAX) l->modes[at] = mode_of_text(t->ctx, key.p, p->items[i].value, otherwise);
  }
}

static const bl_field *without_stats(const bl_pairs *p, size_t i, const bl_schema *schema, bl_str *named);

/* Nothing is known of their bounds. */
static void columns_without_stats(const bl_table *t, const bl_schema *schema, leaf_list *l) {
  const bl_pairs *p = &t->metadata->properties;
  for (size_t i = 0; i < p->n; i++) {
    bl_str column;
    const bl_field *f = without_stats(p, i, schema, &column);
    size_t at = f ? place_of(l->ids, l->n, f->id) : SIZE_MAX;
    if (at != SIZE_MAX && l->modes[at].kind > BL_METRICS_COUNTS) l->modes[at] = (bl_metrics_mode){BL_METRICS_COUNTS, 0};
  }
}

bl_status bl_metrics_modes_new(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_metrics_modes *out,
                               bl_error *err) {
  int64_t most = bl_property_i64(&t->metadata->properties, "write.metadata.metrics.max-inferred-column-defaults", 100);
  if (most < 0) most = 100; /* as Java has it */
  size_t n = count_leaves(&schema->root);
  leaf_list l = {.ids = bl_arena_alloc(a, n, sizeof *l.ids), .modes = bl_arena_alloc(a, n, sizeof *l.modes)};
  if (!l.ids || !l.modes) return bl_nomem(err);
  bl_str text = property(t, "write.metadata.metrics.default");
  l.inside = l.beyond = text.p ? mode_of_text(t->ctx, "write.metadata.metrics.default", text, standard) : standard;
  l.limit = text.p ? SIZE_MAX : (size_t)most;
  if (!text.p && n > l.limit) l.beyond = (bl_metrics_mode){BL_METRICS_NONE, 0};
  for (int depth = 0; add_level(&schema->root, depth, &l); depth++) {
  }
  sort_leaves(&l);
  bl_metrics_mode otherwise = text.p || n <= (size_t)most ? l.inside : l.beyond;
  sorted_columns(t, &l, otherwise);
  named_columns(t, schema, &l, otherwise);
  columns_without_stats(t, schema, &l);
  *out = (bl_metrics_modes){l.ids, l.modes, l.n};
  return BL_OK;
}

bl_metrics_mode bl_metrics_mode_of(const bl_metrics_modes *m, int32_t id) {
  if (id == BL_ID_ROW_ID || id == BL_ID_LAST_UPDATED) return (bl_metrics_mode){BL_METRICS_FULL, 0};
  size_t at = place_of(m->ids, m->n, id);
  return at == SIZE_MAX ? (bl_metrics_mode){BL_METRICS_NONE, 0} : m->modes[at];
}

/* ---- Parquet ---- */

const char *bl_parquet_codec(bl_str text) {
  static const char *const names[][2] = {{"zstd", "zstd"}, {"snappy", "snappy"},    {"gzip", "gzip"},
                                         {"lz4", "lz4"},   {"lz4_raw", "lz4"},      {"brotli", "brotli"},
                                         {"none", "none"}, {"uncompressed", "none"}};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (bl_str_is_nocase(trimmed(text), names[i][0])) return names[i][1];
  return NULL;
}

bool bl_parquet_level(bl_str text, int64_t *out) {
  *out = 0;
  return bl_str_is(text, "null") || (bl_parse_i64(trimmed(text), out) && *out >= -7 && *out <= 22);
}

bool bl_bloom_rate(bl_str text, double *out) {
  return bl_parse_double(trimmed(text), out) && *out > 0 && *out < 1;
}

static bl_status codec_of(const bl_table *t, bl_parquet_options *o, bl_error *err) {
  bl_str text = property(t, "write.parquet.compression-codec");
  o->codec = text.p ? bl_parquet_codec(text) : "zstd";
  if (!o->codec)
    return bl_fail(err, BL_UNSUPPORTED, "property write.parquet.compression-codec: \"%.*s\" cannot be written",
                   BL_STR_ARG(text));
  bl_str level = property(t, "write.parquet.compression-level");
  int64_t n = 0;
  if (level.p && !bl_parquet_level(level, &n))
    return bl_fail(err, BL_USAGE, "property write.parquet.compression-level: \"%.*s\" is no level", BL_STR_ARG(level));
  bool has_levels = strcmp(o->codec, "snappy") != 0 && strcmp(o->codec, "none") != 0;
  o->level = has_levels ? (int)n : 0;
  return BL_OK;
}

/* The column's own false-positive rate, 0.01 where it has none. */
static bl_status fpp_of(const bl_table *t, bl_str column, double *out, bl_error *err) {
  *out = 0.01;
  char *key = bl_asprintf(t->ctx, "write.parquet.bloom-filter-fpp.column.%.*s", BL_STR_ARG(column));
  if (!key) return bl_nomem(err);
  bl_str text = property(t, key);
  bl_free(t->ctx, key);
  if (!text.p || bl_bloom_rate(text, out)) return BL_OK;
  return bl_fail(err, BL_USAGE, "property write.parquet.bloom-filter-fpp.column.%.*s: \"%.*s\" is not between 0 and 1",
                 BL_STR_ARG(column), BL_STR_ARG(text));
}

static const char stats_prefix[] = "write.parquet.stats-enabled.column.";

/* The leaf that the i-th property takes the statistics from; *named: it is one of those properties. */
static const bl_field *without_stats(const bl_pairs *p, size_t i, const bl_schema *schema, bl_str *named) {
  bl_str key = p->items[i].key;
  *named = BL_STR_NONE;
  if (!bl_str_starts(key, BL_STR(stats_prefix))) return NULL;
  *named = (bl_str){key.p + sizeof stats_prefix - 1, key.n - sizeof stats_prefix + 1};
  if (bl_str_is_nocase(trimmed(p->items[i].value), "true")) return NULL;
  const bl_field *f = bl_schema_find_alias(schema, *named);
  return f && is_leaf(&f->type) ? f : NULL;
}

/* As in Java, whatever is not true is false, and a column that is not there is passed over. */
static bl_status stats_of(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_parquet_options *o,
                          bl_error *err) {
  const bl_pairs *p = &t->metadata->properties;
  int32_t *list = bl_arena_alloc(a, p->n, sizeof *list);
  if (!list) return bl_nomem(err);
  o->no_stats = list;
  for (size_t i = 0; i < p->n; i++) {
    bl_str column;
    const bl_field *f = without_stats(p, i, schema, &column);
    if (f) list[o->n_no_stats++] = f->id;
    else if (column.p && !bl_schema_find_alias(schema, column))
      bl_warn(t->ctx, "property %s: the table has no column of that name", p->items[i].key.p);
  }
  return BL_OK;
}

static bl_status blooms_of(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_parquet_options *o,
                           bl_error *err) {
  static const char prefix[] = "write.parquet.bloom-filter-enabled.column.";
  const bl_pairs *p = &t->metadata->properties;
  bl_parquet_bloom *list = bl_arena_alloc(a, p->n, sizeof *list);
  int64_t max;
  if (!list) return bl_nomem(err);
  BL_TRY(number_property(t, "write.parquet.bloom-filter-max-bytes", 1 << 20, &max, err));
  o->blooms = list;
  for (size_t i = 0; i < p->n; i++) {
    bl_str key = p->items[i].key;
    if (!bl_str_starts(key, BL_STR(prefix)) || !bl_str_is_nocase(p->items[i].value, "true")) continue;
    bl_str column = {key.p + sizeof prefix - 1, key.n - sizeof prefix + 1};
    const bl_field *f = bl_schema_find_alias(schema, column);
    if (!f || !is_leaf(&f->type) || f->type.kind == BL_VARIANT) continue;
    bl_parquet_bloom b = {.field_id = f->id, .max_bytes = max < (1 << 27) ? max : 1 << 27};
    BL_TRY(fpp_of(t, column, &b.fpp, err));
    list[o->n_blooms++] = b;
  }
  return BL_OK;
}

/* A row group is held in memory, about twice, until it ends: never more than the budget allows. */
static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static bl_status parquet_of(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_parquet_options *o,
                            bl_error *err) {
  BL_TRY(number_property(t, "write.parquet.row-group-size-bytes", 128 << 20, &o->group_bytes, err));
  BL_TRY(number_property(t, "write.parquet.page-size-bytes", 1 << 20, &o->page_bytes, err));
  BL_TRY(number_property(t, "write.parquet.page-row-limit", 20000, &o->page_rows, err));
  BL_TRY(number_property(t, "write.parquet.dict-size-bytes", 1 << 20, &o->dictionary_bytes, err));
  o->group_bytes = least(o->group_bytes, t->ctx->o.memory_budget / 3 + 1);
  o->page_bytes = least(o->page_bytes, 1 << 30);
  o->dictionary_bytes = least(o->dictionary_bytes, 1 << 30);
  BL_TRY(codec_of(t, o, err));
  BL_TRY(stats_of(t, schema, a, o, err));
  return blooms_of(t, schema, a, o, err);
}

/* ---- all ---- */

static bl_status refuse(const char *key, bl_str value, const char *why, bl_error *err) {
  return bl_fail(err, BL_UNSUPPORTED, "property %s: \"%.*s\": %s", key, BL_STR_ARG(value), why);
}

bl_status bl_write_settings_new(const bl_table *t, const bl_schema *schema, bl_arena *a, bl_write_settings *out,
                                bl_error *err) {
  *out = (bl_write_settings){0};
  bl_str format = property(t, "write.format.default");
  if (format.p && !bl_str_is_nocase(trimmed(format), "parquet"))
    return refuse("write.format.default", format, "only Parquet is written", err);
  BL_TRY(number_property(t, "write.target-file-size-bytes", INT64_C(512) << 20, &out->target_bytes, err));
  BL_TRY(parquet_of(t, schema, a, &out->parquet, err));
  /* What is in no page yet is of a size that nobody knows: never more than a small part of the file. */
  out->parquet.page_bytes = least(out->parquet.page_bytes, out->target_bytes / 16 + 1);
  out->parquet.dictionary_bytes = least(out->parquet.dictionary_bytes, out->target_bytes / 16 + 1);
  BL_TRY(bl_locations_of(a, t->metadata, &out->locations, err));
  return bl_metrics_modes_new(t, schema, a, &out->metrics, err);
}
