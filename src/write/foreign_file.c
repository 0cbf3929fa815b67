/* foreign_file.c: see foreign_file.h. */
#include "write/foreign_file.h"

#include "write/file_format.h"

static bl_status open_reader(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) {
  const bl_data_format *format;
  BL_TRY(env->t->io->open_input(env->t->io, f->path.p, &f->input, err));
  BL_TRY(bl_file_format_by_bytes(f->input, f->path.p, &f->entry.format, err));
  BL_TRY(bl_table_data_format(env->t, f->entry.format, &format, err));
  return format->open(env->t->ctx, f->input, f->path.p, NULL, &f->reader, err);
}

static bl_status refuse(const bl_foreign_file *f, bl_str column, const char *why, bl_error *err) {
  return bl_fail(err, BL_USAGE, "cannot add: %s: column %.*s: %s", f->path.p, BL_STR_ARG(column), why);
}

/* ---- columns ---- */

static int32_t top_node(const bl_foreign_file *f, int32_t id) {
  const bl_data_meta *m = f->reader->meta;
  for (size_t i = 1; i < m->n_nodes; i++)
    if (m->nodes[i].parent == 0 && f->ids[i] == id) return (int32_t)i;
  return -1;
}

/* Times with and without zone are read alike, but they are not. */
static bool zone_fits(const bl_data_node *n, bl_kind k) {
  if (n->kind != BL_D_TIMESTAMP_US && n->kind != BL_D_TIMESTAMP_NS) return true;
  if (k == BL_TIMESTAMP || k == BL_TIMESTAMP_NS) return !n->utc || n->hint == BL_H_INT96;
  return n->utc || (k != BL_TIMESTAMPTZ && k != BL_TIMESTAMPTZ_NS);
}

static bl_status check_column(const bl_foreign_env *env, bl_foreign_file *f, const bl_field *c, bl_error *err) {
  int32_t node = top_node(f, c->id);
  if (node < 0) return BL_OK; /* the projection has looked whether that is allowed */
  const bl_data_node *n = &f->reader->meta->nodes[node];
  if (!zone_fits(n, c->type.kind)) return refuse(f, c->name, "times with and without zone do not go together", err);
  const bl_column_metrics *m = bl_data_file_metrics(&f->entry, c->id);
  if (c->required && m && m->nulls != BL_NONE && m->nulls > 0)
    return refuse(f, c->name, "it is required, but the file has nulls in it", err);
  if (f->reader->meta->has_field_ids && !bl_str_is(c->name, n->name))
    bl_warn(env->t->ctx, "%s: its column %s is added as %.*s: they have the field id %d", f->path.p, n->name,
            BL_STR_ARG(c->name), (int)c->id);
  return BL_OK;
}

/* Names that differ in case alone are looked at twice. */
static bl_str like_it(const bl_schema *s, bl_str name) {
  for (size_t i = 0; i < s->root.n_fields; i++)
    if (name.n == s->root.fields[i].name.n && bl_str_is_nocase(name, s->root.fields[i].name.p))
      return s->root.fields[i].name;
  return BL_STR("");
}

/* What is in the file and in no column of the table stays unread. */
static void warn_of_others(const bl_foreign_env *env, const bl_foreign_file *f) {
  const bl_data_meta *m = f->reader->meta;
  bl_buf names;
  bl_buf_init(&names, env->t->ctx, 400); /* no more of them are told */
  for (size_t i = 1; i < m->n_nodes; i++) {
    if (m->nodes[i].parent != 0 || f->ids[i] >= BL_ID_FIRST_RESERVED) continue;
    if (f->ids[i] >= 0 && bl_schema_find(env->schema, f->ids[i])) continue;
    bl_str alike = like_it(env->schema, bl_str_of(m->nodes[i].name));
    bl_buf_printf(&names, "%s%s", names.n ? ", " : "", m->nodes[i].name);
    if (alike.n) bl_buf_printf(&names, " (the table has %.*s)", BL_STR_ARG(alike));
  }
  if (names.n || names.failed)
    bl_warn(env->t->ctx, "%s: columns that are not in the table are not read: %.*s%s", f->path.p, (int)names.n,
            names.n ? (const char *)names.p : "", names.failed ? " …" : "");
  bl_buf_free(&names);
}

static bl_status check_columns(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) {
  bl_projection *p = NULL;
  bl_error e = BL_ERROR_INIT;
  bl_file_facts facts = {.file = &f->entry, .spec = &f->told, .metadata = env->t->metadata, .is_new = true};
  bl_status st =
      bl_projection_new(env->t->ctx, &env->schema->root, f->reader->meta, &env->mapping, false, &facts, &p, &e);
  bl_projection_free(p);
  if (st != BL_OK) return bl_fail(err, st == BL_DAMAGED ? BL_USAGE : st, "cannot add: %s", e.message);
  size_t known = 0;
  for (size_t i = 0; i < env->schema->root.n_fields; i++) known += top_node(f, env->schema->root.fields[i].id) >= 0;
  if (known == 0 && env->schema->root.n_fields > 0)
    return bl_fail(err, BL_USAGE, "cannot add: %s: it has none of the table's columns", f->path.p);
  for (size_t i = 0; i < env->schema->root.n_fields; i++)
    BL_TRY(check_column(env, f, &env->schema->root.fields[i], err));
  warn_of_others(env, f);
  return BL_OK;
}

static bl_status describe(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) {
  int32_t *ids;
  bl_metrics_input in = {.ctx = env->t->ctx, .modes = &env->modes, .schema = env->schema, .mapping = &env->mapping};
  BL_TRY(bl_file_ids(f->reader->meta, &env->mapping, f->arena, &ids, err));
  f->ids = ids;
  f->by_name = !f->reader->meta->has_field_ids;
  f->row_id_leaf = bl_projection_stored_leaf(f->reader->meta, BL_ID_ROW_ID);
  f->last_updated_leaf = bl_projection_stored_leaf(f->reader->meta, BL_ID_LAST_UPDATED);
  BL_TRY(bl_metrics_of(&in, f->reader, f->arena, &f->entry, err));
  BL_TRY(bl_foreign_path(env, f, err));
  BL_TRY(check_columns(env, f, err));
  bool copied = env->copies_lineage && (f->row_id_leaf >= 0 || f->last_updated_leaf >= 0);
  return copied ? BL_OK : bl_foreign_partition(env, f, err);
}

bl_status bl_foreign_open(const bl_foreign_env *env, bl_str path, bl_foreign_file *out, bl_error *err) {
  *out = (bl_foreign_file){.entry = {.content = BL_FILE_DATA,
                                     .spec_id = env->spec->id,
                                     .sort_order_id = -1,
                                     .first_row_id = BL_NONE,
                                     .content_offset = BL_NONE,
                                     .content_size = BL_NONE}};
  bl_status st = bl_arena_new(env->t->ctx, &out->arena, err);
  if (st == BL_OK) {
    out->path = out->entry.path = bl_arena_str(out->arena, path);
    if (!out->path.p) st = bl_nomem(err);
  }
  if (st == BL_OK) st = open_reader(env, out, err);
  if (st == BL_OK) {
    out->entry.file_size = out->input->size;
    st = describe(env, out, err);
  }
  if (st != BL_OK) bl_foreign_dispose(out);
  return st;
}

void bl_foreign_close(bl_foreign_file *f) {
  if (f->reader) f->reader->free(f->reader);
  if (f->input) f->input->close(f->input);
  f->reader = NULL;
  f->input = NULL;
}

void bl_foreign_dispose(bl_foreign_file *f) {
  bl_foreign_close(f);
  bl_arena_free(f->arena);
  *f = (bl_foreign_file){0};
}
