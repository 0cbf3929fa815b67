/* metrics.c: see metrics.h and data_writer.h.
 * 1. Counts of a column are there only where every row group tells them.
 * 2. A bound is there only where every row group with values that are no NaN has one. Which float columns are NaN all
 *    over a group is known of our own files alone.
 * 3. Columns below lists and maps have counts, no bounds. */
#include "write/metrics.h"

#include "write/data_writer.h"

/* ---- field ids of a file's nodes ---- */

typedef struct id_walk {
  const bl_data_meta *meta;
  int32_t *ids;
} id_walk;

static bl_str name_in_mapping(const bl_data_meta *m, int32_t parent, int nth, int32_t node) {
  bl_data_kind k = m->nodes[parent].kind;
  if (k == BL_D_LIST) return BL_STR("element");
  if (k == BL_D_MAP) return nth == 0 ? BL_STR("key") : BL_STR("value");
  return bl_str_of(m->nodes[node].name);
}

static void map_names(const id_walk *w, int32_t parent, const bl_mapped_field *fields, size_t n) {
  int nth = 0;
  for (size_t i = (size_t)parent + 1; i < w->meta->n_nodes; i++) {
    if (w->meta->nodes[i].parent != parent) continue;
    const bl_mapped_field *f = bl_name_mapping_find(fields, n, name_in_mapping(w->meta, parent, nth++, (int32_t)i));
    if (!f) continue;
    w->ids[i] = f->id;
    map_names(w, (int32_t)i, f->fields, f->n_fields);
  }
}

bl_status bl_file_ids(const bl_data_meta *meta, const bl_name_mapping *mapping, bl_arena *a, int32_t **out,
                      bl_error *err) {
  id_walk w = {.meta = meta, .ids = bl_arena_alloc(a, meta->n_nodes, sizeof *w.ids)};
  *out = w.ids;
  if (!w.ids) return bl_nomem(err);
  for (size_t i = 0; i < meta->n_nodes; i++) w.ids[i] = i > 0 ? meta->nodes[i].field_id : -1;
  if (!meta->has_field_ids && mapping) map_names(&w, 0, mapping->fields, mapping->n_fields);
  for (size_t i = 1; i < meta->n_nodes; i++) { /* the first leaf of a variant is its metadata: null where it is */
    const bl_data_node *n = &meta->nodes[i];
    if (meta->nodes[n->parent].hint == BL_H_VARIANT && strcmp(n->name, "metadata") == 0) w.ids[i] = w.ids[n->parent];
  }
  return BL_OK;
}

/* ---- one column ---- */

typedef struct column {
  const bl_metrics_input *in;
  bl_data_reader *r;
  bl_arena *a;
  const bl_type *type;
  int32_t leaf;
  bl_metrics_mode mode;
  const bl_watched *seen;
  bool bounded; /* bounds make sense */
  bl_column_metrics *out;
  bool has_lower, has_upper; /* what is known so far */
  bl_value lower, upper;
} column;

static bool sum(int64_t *total, int64_t more) {
  if (*total == BL_NONE || more < 0) *total = BL_NONE;
  else *total += more;
  return *total != BL_NONE;
}

static void widen(column *c, const bl_value *lower, const bl_value *upper) {
  if (lower && (!c->has_lower || bl_value_cmp(lower, &c->lower) < 0)) c->lower = *lower, c->has_lower = true;
  if (upper && (!c->has_upper || bl_value_cmp(upper, &c->upper) > 0)) c->upper = *upper, c->has_upper = true;
}

/* Is a missing bound of this group made up for by what was seen of the values (watch.h), or are there no values? */
static bool may_lack_bounds(const column *c, const bl_data_stats *s) {
  if (s->nulls >= 0 && s->nulls == s->values) return true;
  if (c->type->kind == BL_FLOAT || c->type->kind == BL_DOUBLE) return c->in->watch && c->seen && c->seen->nans > 0;
  return c->seen && c->seen->has_bounds;
}

static void bounds_of_group(column *c, const bl_data_stats *s, bool *lower_ok, bool *upper_ok) {
  bl_value lo, hi;
  bool has_lo = s->lower && bl_value_from_bytes(c->type, (bl_str){s->lower, s->lower_size}, &lo);
  bool has_hi = s->upper && bl_value_from_bytes(c->type, (bl_str){s->upper, s->upper_size}, &hi);
  widen(c, has_lo ? &lo : NULL, has_hi ? &hi : NULL);
  bool lack = may_lack_bounds(c, s);
  *lower_ok &= has_lo || lack;
  *upper_ok &= has_hi || lack;
}

static bl_value bytes_value(bl_kind kind, const bl_buf *b) {
  return (bl_value){.kind = kind, .u.s = {b->n ? (const char *)b->p : "", b->n}};
}

static void read_groups(column *c) {
  bl_column_metrics *m = c->out;
  bool lower_ok = true, upper_ok = true;
  for (size_t g = 0; g < c->r->meta->n_groups; g++) {
    bl_data_stats s;
    if (!c->r->stats || !c->r->stats(c->r, g, c->leaf, &s)) {
      m->size = m->values = m->nulls = BL_NONE;
      lower_ok = upper_ok = false;
      break;
    }
    sum(&m->size, s.compressed_bytes);
    sum(&m->values, s.values);
    sum(&m->nulls, s.nulls);
    if (s.values != 0) bounds_of_group(c, &s, &lower_ok, &upper_ok);
  }
  if (c->seen && c->seen->has_bounds) {
    bl_value lo = bytes_value(c->type->kind, &c->seen->lower), hi = bytes_value(c->type->kind, &c->seen->upper);
    widen(c, &lo, &hi);
  }
  c->has_lower &= lower_ok;
  c->has_upper &= upper_ok;
}

static bl_status encode(column *c, const bl_value *v, bl_str *out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, c->in->ctx, BL_BUF_MAX);
  bl_status st = bl_value_to_bytes(c->type, v, &b, err);
  if (st == BL_OK) st = bl_buf_ok(&b, err);
  if (st == BL_OK) {
    *out = bl_arena_str(c->a, (bl_str){b.n ? (const char *)b.p : "", b.n});
    if (!out->p) st = bl_nomem(err);
  }
  bl_buf_free(&b);
  return st;
}

static bl_status store_bounds(column *c, bl_error *err) {
  bl_kind k = c->type->kind;
  bool bytes = k == BL_STRING || k == BL_BINARY;
  if (bytes && c->mode.kind == BL_METRICS_TRUNCATE) {
    if (c->has_lower)
      BL_TRY(bl_truncate_lower(c->a, c->lower.u.s, k == BL_STRING, c->mode.length, &c->out->lower, err));
    if (c->has_upper)
      BL_TRY(bl_truncate_upper(c->a, c->upper.u.s, k == BL_STRING, c->mode.length, &c->out->upper, err));
    return BL_OK;
  }
  if (c->has_lower) BL_TRY(encode(c, &c->lower, &c->out->lower, err));
  return c->has_upper ? encode(c, &c->upper, &c->out->upper, err) : BL_OK;
}

static bl_status fill_column(column *c, bl_error *err) {
  read_groups(c);
  bool real = c->type->kind == BL_FLOAT || c->type->kind == BL_DOUBLE;
  if (real && c->seen) c->out->nans = c->seen->nans;
  if (c->mode.kind == BL_METRICS_NONE) c->out->values = c->out->nulls = c->out->nans = BL_NONE;
  if (!c->bounded || c->mode.kind < BL_METRICS_TRUNCATE) return BL_OK;
  return store_bounds(c, err);
}

/* ---- the file ---- */

static bool is_repeated(const bl_data_meta *m, int32_t node) {
  for (int32_t p = m->nodes[node].parent; p >= 0; p = m->nodes[p].parent)
    if (m->nodes[p].kind == BL_D_LIST || m->nodes[p].kind == BL_D_MAP) return true;
  return false;
}

static bool has_bounds(bl_kind k) {
  return k != BL_VARIANT && k != BL_GEOMETRY && k != BL_GEOGRAPHY && k != BL_KIND_UNKNOWN && !bl_kind_is_nested(k);
}

static const bl_type *type_of(const bl_metrics_input *in, int32_t id) {
  static const bl_type long_type = {.kind = BL_LONG};
  if (id == BL_ID_ROW_ID || id == BL_ID_LAST_UPDATED) return &long_type;
  const bl_field *f = bl_schema_find(in->schema, id);
  return f ? &f->type : NULL;
}

static int by_id(const bl_column_metrics *a, const bl_column_metrics *b) {
  return (a->id > b->id) - (a->id < b->id);
}

/* Sorted by id; nearly so to begin with. */
static void put_in_order(bl_column_metrics *m, size_t n) {
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && by_id(&m[j - 1], &m[j]) > 0; j--) {
      bl_column_metrics t = m[j];
      m[j] = m[j - 1];
      m[j - 1] = t;
    }
}

static bl_status columns_of(const bl_metrics_input *in, bl_data_reader *r, bl_arena *a, bl_data_file *into,
                            bl_error *err) {
  const bl_data_meta *m = r->meta;
  int32_t *ids;
  BL_TRY(bl_file_ids(m, in->mapping, a, &ids, err));
  into->metrics = bl_arena_calloc(a, m->n_nodes, sizeof *into->metrics);
  into->n_metrics = 0;
  if (!into->metrics) return bl_nomem(err);
  for (size_t i = 0; i < m->n_nodes; i++) {
    const bl_type *type = m->nodes[i].leaf >= 0 && ids[i] >= 0 ? type_of(in, ids[i]) : NULL;
    if (!type || m->nodes[i].kind == BL_D_OTHER) continue;
    bl_column_metrics *out = &into->metrics[into->n_metrics++];
    *out = (bl_column_metrics){.id = ids[i], .nans = BL_NONE};
    column c = {.in = in,
                .r = r,
                .a = a,
                .type = type,
                .leaf = m->nodes[i].leaf,
                .mode = bl_metrics_mode_of(in->modes, ids[i]),
                .seen = in->watch ? bl_watch_of(in->watch, ids[i]) : NULL,
                .bounded = has_bounds(type->kind) && !is_repeated(m, (int32_t)i),
                .out = out};
    BL_TRY(fill_column(&c, err));
    if (out->size == BL_NONE && out->values == BL_NONE && out->nulls == BL_NONE) into->n_metrics--;
  }
  put_in_order(into->metrics, into->n_metrics);
  return BL_OK;
}

bl_status bl_metrics_of(const bl_metrics_input *in, bl_data_reader *r, bl_arena *a, bl_data_file *into, bl_error *err) {
  const bl_data_meta *m = r->meta;
  into->record_count = m->rows;
  into->split_offsets = bl_arena_alloc(a, m->n_groups, sizeof *into->split_offsets);
  if (!into->split_offsets) return bl_nomem(err);
  into->n_split_offsets = m->n_groups;
  for (size_t g = 0; g < m->n_groups; g++) into->split_offsets[g] = m->groups[g].offset;
  return columns_of(in, r, a, into, err);
}

bl_status bl_file_metrics(bl_table *t, const bl_schema *schema, bl_data_reader *r, bl_arena *a, bl_data_file *into,
                          bl_error *err) {
  bl_metrics_modes modes;
  bl_name_mapping mapping;
  BL_TRY(bl_metrics_modes_new(t, schema, a, &modes, err));
  bl_str json = bl_pairs_get(&t->metadata->properties, "schema.name-mapping.default");
  if (json.p) BL_TRY(bl_name_mapping_parse(a, json, &mapping, err));
  bl_metrics_input in = {.ctx = t->ctx, .modes = &modes, .schema = schema, .mapping = json.p ? &mapping : NULL};
  return bl_metrics_of(&in, r, a, into, err);
}
