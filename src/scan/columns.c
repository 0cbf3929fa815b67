/* columns.c: see columns.h. */
#include "scan/columns.h"

#include "model/near.h"
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

/* A dropped field of a v1 spec goes on as void, whose type is not the one that its values had. */
static bool is_void_elsewhere_not(const bl_metadata *md, const bl_partition_field *pf) {
  for (size_t s = 0; pf->transform.kind == BL_T_VOID && s < md->n_specs; s++)
    for (size_t i = 0; i < md->specs[s].n_fields; i++)
      if (md->specs[s].fields[i].field_id == pf->field_id && md->specs[s].fields[i].transform.kind != BL_T_VOID)
        return true;
  return false;
}

static void set_part_type(const bl_metadata *md, const bl_partition_field *pf, bl_field *f) {
  const bl_field *source = pf->n_source_ids == 1 ? bl_metadata_any_field(md, pf->source_ids[0]) : NULL;
  f->type = (bl_type){.kind = BL_KIND_UNKNOWN};
  if (source && !bl_transform_result(&pf->transform, &source->type, &f->type)) f->type.kind = BL_KIND_UNKNOWN;
}

/* All partition fields ever, those of the newest spec first. */
static bl_status partition_type(bl_arena *a, const bl_metadata *md, bl_type *out, bl_error *err) {
  *out = (bl_type){.kind = BL_STRUCT};
  for (size_t s = md->n_specs; s-- > 0;) {
    const bl_partition_spec *spec = &md->specs[s];
    for (size_t i = 0; i < spec->n_fields; i++) {
      const bl_partition_field *pf = &spec->fields[i];
      bl_field *f = find_in(out, pf->field_id);
      bool fresh = !f;
      if (fresh && !(f = grow_fields(a, out))) return bl_nomem(err);
      if (fresh) *f = (bl_field){.id = pf->field_id, .name = pf->name, .type = {.kind = BL_KIND_UNKNOWN}};
      if (f->type.kind == BL_KIND_UNKNOWN && !is_void_elsewhere_not(md, pf)) set_part_type(md, pf, f);
    }
  }
  return BL_OK;
}

bl_status bl_partition_column(bl_arena *a, const bl_metadata *md, bl_field *out, bl_error *err) {
  *out = (bl_field){.id = BL_ID_PARTITION, .name = BL_STR("_partition")};
  return partition_type(a, md, &out->type, err);
}

bl_status bl_filter_meta_schema(bl_arena *a, const bl_metadata *md, const bl_schema **out, bl_error *err) {
  bl_field partition;
  BL_TRY(bl_partition_column(a, md, &partition, err));
  return bl_filter_meta_of_parts(a, &partition.type, out, err);
}

bl_status bl_filter_meta_of_parts(bl_arena *a, const bl_type *parts, const bl_schema **out, bl_error *err) {
  const bl_schema *meta = bl_meta_schema();
  size_t n = meta->root.n_fields;
  bl_schema *s = bl_arena_calloc(a, 1, sizeof *s);
  bl_field *fields = bl_arena_calloc(a, n + 1, sizeof *fields);
  if (!s || !fields) return bl_nomem(err);
  memcpy(fields, meta->root.fields, n * sizeof *fields);
  fields[n] = (bl_field){.id = BL_ID_PARTITION, .name = BL_STR("_partition")};
  BL_TRY(bl_type_copy(a, parts, &fields[n].type, err));
  for (size_t i = 0; i < parts->n_fields; i++) fields[n].type.fields[i].id *= -1;
  *s = *meta;
  s->root = (bl_type){.kind = BL_STRUCT, .fields = fields, .n_fields = n + 1};
  *out = s;
  return BL_OK;
}

/* "meta._row_id" is "_row_id". */
static bl_str bare_name(bl_str name) {
  return bl_str_starts(name, BL_STR("meta.")) ? (bl_str){name.p + 5, name.n - 5} : name;
}

const bl_field *bl_filter_meta_find(const bl_schema *meta, bl_str name) {
  return bl_schema_find_name(meta, bare_name(name));
}

static const bl_field *meta_column(bl_str name, int32_t id) {
  const bl_schema *meta = bl_meta_schema();
  for (size_t i = 0; i < meta->root.n_fields; i++)
    if (meta->root.fields[i].id == id || (name.p && bl_str_eq(meta->root.fields[i].name, name)))
      return &meta->root.fields[i];
  return NULL;
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

/* Made once: two ways to it share its fields, by which add_chain knows that it is whole. */
static bl_status own_partition(bl_columns *c, bl_error *err) {
  if (c->partition.id) return BL_OK;
  bl_field f;
  BL_TRY(bl_partition_column(c->a, c->md, &f, err));
  if (c->schema && bl_schema_find_name(c->schema, f.name)) f.name = BL_STR("meta._partition");
  c->partition = f;
  return BL_OK;
}

/* part NULL: all of _partition. */
static bl_status add_partition(bl_columns *c, const bl_field *part, bl_error *err) {
  const bl_field *path[] = {&c->partition, part};
  return add_chain(c->a, &c->wanted, path, part ? 2 : 1, false, err);
}

/* _partition, or _partition.NAME; *found says whether it is one of them. */
static bl_status add_partition_name(bl_columns *c, bl_str name, bool *found, bl_error *err) {
  const bl_str whole = BL_STR("_partition"), dotted = BL_STR("_partition.");
  *found = bl_str_eq(name, whole);
  if (!*found && !bl_str_starts(name, dotted)) return BL_OK;
  BL_TRY(own_partition(c, err));
  if (*found) return add_partition(c, NULL, err);
  bl_str rest = {name.p + dotted.n, name.n - dotted.n};
  for (size_t i = 0; !*found && i < c->partition.type.n_fields; i++) {
    *found = bl_str_eq(c->partition.type.fields[i].name, rest);
    if (*found) BL_TRY(add_partition(c, &c->partition.type.fields[i], err));
  }
  return BL_OK;
}

bl_status bl_columns_add_name(bl_columns *c, bl_str name, bl_error *err) {
  const bl_field *f = bl_schema_find_name(c->schema, name);
  if (f) return bl_columns_add_id(c, f->id, err);
  bl_str bare = bare_name(name);
  bool found;
  const bl_field *m = meta_column(bare, 0);
  if (m) return add_meta(c, m, err);
  BL_TRY(add_partition_name(c, bare, &found, err));
  if (found) return BL_OK;
  return bl_fail(err, BL_USAGE, "column: %.*s: the table has no such column%s", BL_STR_ARG(name),
                 bl_near_field(&c->schema->root, &bl_meta_schema()->root, name).hint);
}

bl_status bl_columns_add_field(bl_columns *c, const bl_field *f, bl_error *err) {
  if (find_in(&c->wanted, f->id)) return BL_OK;
  bl_field *own = grow_fields(c->a, &c->wanted);
  if (!own) return bl_nomem(err);
  *own = *f; /* a struct that may yet grow must not share its fields */
  return f->type.kind == BL_STRUCT ? bl_type_copy(c->a, &f->type, &own->type, err) : BL_OK;
}

bl_status bl_columns_add_id(bl_columns *c, int32_t id, bl_error *err) {
  const bl_field *path[MAX_DEPTH], *part = NULL;
  size_t n = id < 0 ? 0 : bl_schema_path(c->schema, id, path, MAX_DEPTH);
  if (n > 0) return add_chain(c->a, &c->wanted, path, n, false, err);
  const bl_field *m = meta_column(BL_STR_NONE, id);
  if (m) return add_meta(c, m, err);
  if (id == BL_ID_PARTITION || id < 0) {
    BL_TRY(own_partition(c, err));
    if (id < 0) part = find_in(&c->partition.type, -id);
    if (id > 0 || part) return add_partition(c, part, err);
  }
  return bl_fail(err, BL_DAMAGED, "schema: field id %d is not there", id);
}

bool bl_columns_has_id(const bl_columns *c, int32_t id) {
  int32_t path[MAX_DEPTH];
  return bl_columns_path(&c->wanted, id, path, MAX_DEPTH) > 0;
}

size_t bl_columns_path(const bl_type *t, int32_t id, int32_t *path, size_t max) {
  for (size_t i = 0; max > 0 && i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    bool partition = f->id == BL_ID_PARTITION;
    path[0] = (int32_t)i;
    if (f->id == id) return 1;
    if (f->type.kind != BL_STRUCT || partition != (id < 0)) continue;
    size_t n = bl_columns_path(&f->type, partition ? -id : id, path + 1, max - 1);
    if (n > 0) return n + 1;
  }
  return 0;
}
