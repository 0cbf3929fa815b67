/* columns.c: see columns.h. */
#include "scan/columns.h"

#include "scan/delete_index.h"

enum { MAX_DEPTH = 64 };

void bl_columns_init(bl_columns *c, bl_arena *a, const bl_metadata *md, const bl_schema *schema) {
  *c = (bl_columns){.a = a, .md = md, .schema = schema, .wanted = {.kind = BL_STRUCT}};
}

/* Room for one more field of a struct under construction (arrays live in the arena, doubled when full). */
static bl_field *grow_fields(bl_arena *a, bl_type *t) {
  size_t n = t->n_fields;
  if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, … */
    bl_field *f = bl_arena_calloc(a, n ? 2 * n : 1, sizeof *f);
    if (!f) return NULL;
    if (n) memcpy(f, t->fields, n * sizeof *f);
    t->fields = f;
  }
  return &t->fields[t->n_fields++];
}

static bl_field *find_in(const bl_type *t, int32_t id) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (t->fields[i].id == id) return &t->fields[i];
  return NULL;
}

bl_status bl_columns_add_all(bl_columns *c, bl_error *err) {
  for (size_t i = 0; i < c->schema->root.n_fields; i++) {
    bl_field *f = grow_fields(c->a, &c->wanted);
    if (!f) return bl_nomem(err);
    *f = c->schema->root.fields[i];
  }
  return BL_OK;
}

/* Add the chain path[0..n) of fields, top first, below struct t: structs on the way are pruned to it. */
static bl_status add_chain(bl_arena *a, bl_type *t, const bl_field *const *path, size_t n, bool fresh, bl_error *err) {
  bl_field *have = fresh ? NULL : find_in(t, path[0]->id);
  if (have && have->type.kind == BL_STRUCT && n > 1) {
    /* whole already? then the leaf is there: a pruned struct has fewer fields than the schema's */
    if (have->type.n_fields == path[0]->type.n_fields && have->type.fields == path[0]->type.fields) return BL_OK;
    return add_chain(a, &have->type, path + 1, n - 1, false, err);
  }
  if (have) {
    if (n == 1) *have = *path[0];
    return BL_OK;
  }
  bl_field *f = grow_fields(a, t);
  if (!f) return bl_nomem(err);
  *f = *path[0];
  if (n == 1 || path[0]->type.kind != BL_STRUCT) return BL_OK; /* lists and maps are read whole */
  f->type.fields = NULL;
  f->type.n_fields = 0;
  return add_chain(a, &f->type, path + 1, n - 1, true, err);
}

static bl_status partition_type(bl_columns *c, bl_type *out, bl_error *err) {
  const bl_metadata *md = c->md;
  *out = (bl_type){.kind = BL_STRUCT};
  for (size_t s = md->n_specs; s-- > 0;) {
    const bl_partition_spec *spec = &md->specs[s];
    for (size_t i = 0; i < spec->n_fields; i++) {
      const bl_partition_field *pf = &spec->fields[i];
      if (find_in(out, pf->field_id)) continue;
      const bl_field *source = pf->n_source_ids == 1 ? bl_metadata_any_field(md, pf->source_ids[0]) : NULL;
      bl_field *f = grow_fields(c->a, out);
      if (!f) return bl_nomem(err);
      *f = (bl_field){.id = pf->field_id, .name = pf->name, .type = {.kind = BL_KIND_UNKNOWN}};
      if (source && !bl_transform_result(&pf->transform, &source->type, &f->type)) f->type.kind = BL_KIND_UNKNOWN;
    }
  }
  return BL_OK;
}

const bl_field *bl_columns_meta(bl_columns *c, bl_str name, bl_error *err) {
  const bl_schema *meta = bl_meta_schema();
  for (size_t i = 0; i < meta->root.n_fields; i++)
    if (bl_str_eq(meta->root.fields[i].name, name)) return &meta->root.fields[i];
  if (!bl_str_is(name, "_partition")) return NULL;
  bl_field *f = bl_arena_calloc(c->a, 1, sizeof *f);
  if (!f || partition_type(c, &f->type, err) != BL_OK) return NULL;
  f->id = BL_ID_PARTITION;
  f->name = BL_STR("_partition");
  return f;
}

/* A user column of that name wins it: the metadata column is then called meta.NAME. */
static bl_status add_meta(bl_columns *c, const bl_field *m, bl_error *err) {
  if (find_in(&c->wanted, m->id)) return BL_OK;
  bl_field *f = grow_fields(c->a, &c->wanted);
  if (!f) return bl_nomem(err);
  *f = *m;
  if (c->schema && bl_schema_find_name(c->schema, m->name)) f->name = bl_arena_printf(c->a, "meta.%s", m->name.p);
  return f->name.p ? BL_OK : bl_nomem(err);
}

bl_status bl_columns_add_name(bl_columns *c, bl_str name, bl_error *err) {
  const bl_field *f = bl_schema_find_name(c->schema, name);
  if (f) return bl_columns_add_id(c, f->id, err);
  bl_str bare = name;
  if (bl_str_starts(name, BL_STR("meta."))) bare = (bl_str){name.p + 5, name.n - 5};
  bl_error bad = BL_ERROR_INIT;
  const bl_field *m = bl_columns_meta(c, bare, &bad);
  if (m) return add_meta(c, m, err);
  if (bad.status != BL_OK) return bl_fail(err, bad.status, "%s", bad.message);
  return bl_fail(err, BL_USAGE, "column: %.*s: the table has no such column", BL_STR_ARG(name));
}

bl_status bl_columns_add_field(bl_columns *c, const bl_field *f, bl_error *err) {
  if (find_in(&c->wanted, f->id)) return BL_OK;
  bl_field *own = grow_fields(c->a, &c->wanted);
  if (!own) return bl_nomem(err);
  *own = *f; /* a struct that may yet grow must not share its fields */
  return f->type.kind == BL_STRUCT ? bl_type_copy(c->a, &f->type, &own->type, err) : BL_OK;
}

bl_status bl_columns_add_id(bl_columns *c, int32_t id, bl_error *err) {
  const bl_field *path[MAX_DEPTH];
  size_t n = bl_schema_path(c->schema, id, path, MAX_DEPTH);
  if (n > 0) return add_chain(c->a, &c->wanted, path, n, false, err);
  const bl_schema *meta = bl_meta_schema();
  for (size_t i = 0; i < meta->root.n_fields; i++)
    if (meta->root.fields[i].id == id) return add_meta(c, &meta->root.fields[i], err);
  if (id == BL_ID_PARTITION) {
    const bl_field *m = bl_columns_meta(c, BL_STR("_partition"), err);
    return m ? add_meta(c, m, err) : bl_nomem(err);
  }
  return bl_fail(err, BL_DAMAGED, "schema: field id %d is not there", id);
}

bool bl_columns_has_id(const bl_columns *c, int32_t id) {
  int32_t path[MAX_DEPTH];
  return bl_columns_path(&c->wanted, id, path, MAX_DEPTH) > 0;
}

size_t bl_columns_path(const bl_type *t, int32_t id, int32_t *path, size_t max) {
  for (size_t i = 0; max > 0 && i < t->n_fields; i++) {
    path[0] = (int32_t)i;
    if (t->fields[i].id == id) return 1;
    if (t->fields[i].type.kind != BL_STRUCT) continue;
    size_t n = bl_columns_path(&t->fields[i].type, id, path + 1, max - 1);
    if (n > 0) return n + 1;
  }
  return 0;
}
