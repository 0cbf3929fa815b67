/* partition_view.c: see partition_view.h. */
#include "inspect/partition_view.h"

#include "inspect/value_text.h"

/* ---- making it ---- */

static bool source_is_there(const bl_schema *schema, const bl_partition_field *f) {
  for (size_t i = 0; i < f->n_source_ids; i++)
    if (!schema || !bl_schema_find(schema, f->source_ids[i])) return false;
  return f->n_source_ids > 0;
}

static bl_view_field *find_field(const bl_partition_view *v, int32_t id) {
  for (size_t i = 0; i < v->n; i++)
    if (v->fields[i].id == id) return &v->fields[i];
  return NULL;
}

/* Keep the fields ordered by id. */
static void insert_field(bl_partition_view *v, bl_view_field f) {
  size_t i = v->n++;
  for (; i > 0 && v->fields[i - 1].id > f.id; i--) v->fields[i] = v->fields[i - 1];
  v->fields[i] = f;
}

static void add_spec(bl_partition_view *v, const bl_partition_spec *s, const bl_schema *schema) {
  for (size_t i = 0; i < s->n_fields; i++) {
    const bl_partition_field *f = &s->fields[i];
    const bl_view_field *known = find_field(v, f->field_id);
    if (!known && source_is_there(schema, f)) insert_field(v, (bl_view_field){f->field_id, f->name});
  }
}

/* Specs from the newest to the oldest: the newest name counts. */
static const bl_partition_spec *next_older(const bl_metadata *m, const bl_partition_spec *after) {
  const bl_partition_spec *best = NULL;
  for (size_t i = 0; i < m->n_specs; i++) {
    const bl_partition_spec *s = &m->specs[i];
    if ((!after || s->id < after->id) && (!best || s->id > best->id)) best = s;
  }
  return best;
}

static bl_status place_spec(bl_arena *a, const bl_partition_view *v, const bl_metadata *m, const bl_partition_spec *s,
                            const bl_schema *const *others, bl_view_spec *out, bl_error *err) {
  out->spec = s;
  out->types = bl_arena_calloc(a, s->n_fields + 1, sizeof *out->types);
  out->places = bl_arena_calloc(a, s->n_fields + 1, sizeof *out->places);
  if (!out->types || !out->places) return bl_nomem(err);
  bl_spec_types(s, bl_metadata_current_schema(m), others, m->n_schemas, out->types);
  for (size_t i = 0; i < s->n_fields; i++) {
    const bl_view_field *f = find_field(v, s->fields[i].field_id);
    out->places[i] = f ? (int32_t)(f - v->fields) : -1;
  }
  return BL_OK;
}

bl_status bl_partition_view_init(bl_arena *a, const bl_metadata *m, bl_partition_view *out, bl_error *err) {
  size_t fields = 0;
  *out = (bl_partition_view){.n_specs = m->n_specs};
  for (size_t i = 0; i < m->n_specs; i++) fields += m->specs[i].n_fields;
  out->fields = bl_arena_calloc(a, fields + 1, sizeof *out->fields);
  out->specs = bl_arena_calloc(a, m->n_specs + 1, sizeof *out->specs);
  const bl_schema **others = bl_arena_calloc(a, m->n_schemas + 1, sizeof *others);
  if (!out->fields || !out->specs || !others) return bl_nomem(err);
  for (size_t i = 0; i < m->n_schemas; i++) others[i] = &m->schemas[m->n_schemas - 1 - i];
  for (const bl_partition_spec *s = next_older(m, NULL); s; s = next_older(m, s))
    add_spec(out, s, bl_metadata_current_schema(m));
  for (size_t i = 0; i < m->n_specs; i++) BL_TRY(place_spec(a, out, m, &m->specs[i], others, &out->specs[i], err));
  return BL_OK;
}

const bl_view_spec *bl_partition_view_spec(const bl_partition_view *v, int32_t spec_id) {
  for (size_t i = 0; i < v->n_specs; i++)
    if (v->specs[i].spec->id == spec_id) return &v->specs[i];
  return NULL;
}

/* ---- tuples ---- */

void bl_partition_view_tuple(const bl_partition_view *v, const bl_data_file *f, bl_value *values,
                             const bl_type **types) {
  const bl_view_spec *s = bl_partition_view_spec(v, f->spec_id);
  for (size_t i = 0; i < v->n; i++) {
    values[i] = (bl_value){.kind = BL_KIND_UNKNOWN, .null = true};
    types[i] = NULL;
  }
  for (size_t i = 0; s && i < s->spec->n_fields && i < f->n_partition; i++) {
    if (s->places[i] < 0) continue;
    values[s->places[i]] = f->partition[i];
    types[s->places[i]] = &s->types[i];
  }
}

static void print_field(bl_buf *b, bool *first, bl_str name, const bl_type *t, const bl_value *v) {
  bl_text_key(b, first, name);
  if (t && v) bl_text_value(b, t, v);
  else bl_buf_cstr(b, "null");
}

void bl_partition_view_print(bl_buf *b, const bl_partition_view *v, const bl_value *values,
                             const bl_type *const *types) {
  bool first = true;
  bl_buf_byte(b, '{');
  for (size_t i = 0; i < v->n; i++) print_field(b, &first, v->fields[i].name, types[i], &values[i]);
  bl_buf_byte(b, '}');
}

void bl_partition_view_file(bl_buf *b, const bl_partition_view *v, const bl_data_file *f) {
  const bl_view_spec *s = bl_partition_view_spec(v, f->spec_id);
  bool first = true;
  bl_buf_byte(b, '{');
  for (size_t i = 0; i < v->n; i++) {
    size_t k = 0;
    while (s && k < s->spec->n_fields && s->places[k] != (int32_t)i) k++;
    bool there = s && k < s->spec->n_fields && k < f->n_partition;
    print_field(b, &first, v->fields[i].name, there ? &s->types[k] : NULL, there ? &f->partition[k] : NULL);
  }
  bl_buf_byte(b, '}');
}
