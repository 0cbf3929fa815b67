/* task_json.c: heads and footers of tasks; see task_json.h. */
#include "scan/task_json.h"

#include "table/pathmap.h"

#include <unistd.h>

enum { TASK_VERSION = 1 };

static bool push_text(bl_arena *a, bl_json *array, bl_str s) {
  bl_json *v = bl_json_new_str(a, s);
  return s.p && v && bl_json_push(array, v);
}

static bool is_one_of(bl_str key, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bl_str_is(key, names[i])) return true;
  return false;
}

/* The table's document without what grows with its history; name mapping is the one property that reading needs. */
static bl_json *table_document(bl_arena *a, const bl_metadata *md, bool snapshots) {
  static const char *const left_out[] = {"properties",          "snapshot-log",         "metadata-log",
                                         "statistics",          "partition-statistics", "refs",
                                         "current-snapshot-id", "encryption-keys"};
  bl_json *doc = bl_json_new(a, BL_J_OBJECT), *properties = bl_json_new(a, BL_J_OBJECT);
  bool ok = doc && properties;
  for (const bl_json *m = md->json->first; ok && m; m = m->next) {
    if (is_one_of(m->key, left_out, BL_LEN(left_out)) || (!snapshots && bl_str_is(m->key, "snapshots"))) continue;
    ok = bl_json_set(a, doc, m->key.p, bl_json_copy(a, m));
  }
  bl_str mapping = bl_pairs_get(&md->properties, "schema.name-mapping.default");
  if (ok && mapping.p) ok = bl_json_set(a, properties, "schema.name-mapping.default", bl_json_new_str(a, mapping));
  return ok && bl_json_set(a, doc, "properties", properties) ? doc : NULL;
}

/* Does a wanted field hold all that the schema's field holds? */
static bool is_whole(const bl_type *wanted, const bl_type *whole) {
  if (wanted->kind != BL_STRUCT) return true;
  if (wanted->n_fields != whole->n_fields) return false;
  for (size_t i = 0; i < wanted->n_fields; i++) {
    if (wanted->fields[i].id != whole->fields[i].id) return false;
    if (!is_whole(&wanted->fields[i].type, &whole->fields[i].type)) return false;
  }
  return true;
}

typedef struct column_lists {
  bl_arena *a;
  const bl_schema *schema;
  bl_json *names, *ids;
  bl_field partition; /* whole */
} column_lists;

static bool push_column(const column_lists *l, bl_str name, int32_t id) {
  bl_json *v = bl_json_new_i64(l->a, id);
  return push_text(l->a, l->names, name) && v && bl_json_push(l->ids, v);
}

static bool push_partition(const column_lists *l, const bl_field *f, bl_str name) {
  bool ok = true;
  if (is_whole(&f->type, &l->partition.type)) return push_column(l, name, f->id);
  for (size_t i = 0; ok && i < f->type.n_fields; i++) {
    bl_str part = bl_arena_printf(l->a, "%s.%s", name.p, f->type.fields[i].name.p);
    ok = part.p && push_column(l, part, -f->type.fields[i].id);
  }
  return ok;
}

/* A pruned struct by its parts, in their order: dotted names, and ids for names that hold dots. */
static bool push_columns(const column_lists *l, const bl_type *t, bl_str prefix) {
  bool ok = true;
  for (size_t i = 0; ok && i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i], *whole = bl_schema_find(l->schema, f->id);
    bl_str name = prefix.p ? bl_arena_printf(l->a, "%s.%s", prefix.p, f->name.p) : f->name;
    if (!whole && !prefix.p && !bl_str_starts(f->name, BL_STR("meta.")))
      name = bl_arena_printf(l->a, "meta.%s", f->name.p);
    bool pruned = whole && !is_whole(&f->type, &whole->type);
    if (!prefix.p && f->id == BL_ID_PARTITION) ok = name.p && push_partition(l, f, name);
    else ok = name.p && (pruned ? push_columns(l, &f->type, name) : push_column(l, name, f->id));
  }
  return ok;
}

/* Folders named from here are of no use to a process elsewhere. */
static bl_str absolute(bl_arena *a, bl_str path) {
  char here[4096];
  bool relative = path.n && path.p[0] != '/' && !strstr(path.p, ":/");
  return relative && getcwd(here, sizeof here) ? bl_arena_printf(a, "%s/%s", here, path.p) : path;
}

static bool push_maps(bl_arena *a, const bl_table *t, bl_json *array) {
  const bl_path_map *maps;
  size_t n = t->mapped ? bl_io_pathmap_maps(t->mapped, &maps) : 0;
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    bl_str to = absolute(a, maps[i].to);
    ok = to.p && push_text(a, array, bl_arena_printf(a, "%s=%s", maps[i].from.p, to.p));
  }
  return ok;
}

static bool set_where(bl_arena *a, bl_json *task, const bl_expr *where) {
  bl_buf b;
  if (!where) return bl_json_set(a, task, "where", bl_json_new(a, BL_J_NULL));
  bl_buf_init(&b, bl_arena_ctx(a), 1 << 24);
  bl_expr_print(&b, where);
  bl_str text = b.failed ? BL_STR_NONE : bl_arena_str(a, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  return text.p && bl_json_set(a, task, "where", bl_json_new_str(a, text));
}

bl_json *bl_task_new(bl_arena *a, const bl_table *t, const bl_task_head *h) {
  bl_json *task = bl_json_new(a, BL_J_OBJECT), *maps = bl_json_new(a, BL_J_ARRAY);
  column_lists l = {.a = a, .schema = h->schema};
  l.names = bl_json_new(a, BL_J_ARRAY);
  l.ids = bl_json_new(a, BL_J_ARRAY);
  if (bl_partition_column(a, t->metadata, &l.partition, NULL) != BL_OK) return NULL;
  bool ok = task && maps && l.names && l.ids;
  ok = ok && bl_json_set(a, task, "bergline-task", bl_json_new_i64(a, TASK_VERSION));
  ok = ok && bl_json_set(a, task, "kind", bl_json_new_str(a, bl_str_of(h->kind)));
  ok = ok && bl_json_set(a, task, "table", table_document(a, t->metadata, h->snapshots));
  ok = ok && push_maps(a, t, maps) && bl_json_set(a, task, "path-maps", maps);
  ok = ok && bl_json_set(a, task, "schema-id", bl_json_new_i64(a, h->schema->id));
  ok = ok && push_columns(&l, h->wanted, BL_STR_NONE);
  ok = ok && bl_json_set(a, task, "columns", l.names) && bl_json_set(a, task, "column-ids", l.ids);
  return ok && set_where(a, task, h->where) ? task : NULL;
}

/* ---- reading ---- */

static bl_status parse_table(bl_ctx *ctx, bl_task *t, const bl_table_options *o, bl_error *err) {
  const bl_json *doc, *maps;
  bl_buf b;
  BL_TRY(bl_json_member(t->json, "table", BL_J_OBJECT, &doc, err));
  BL_TRY(bl_json_member(t->json, "path-maps", BL_J_ARRAY, &maps, err));
  size_t given = o ? o->n_path_maps : 0, n = 0;
  const char **texts = bl_arena_calloc(t->arena, given + maps->n + 1, sizeof *texts);
  if (!texts) return bl_nomem(err);
  for (size_t i = 0; i < given; i++) texts[n++] = o->path_maps[i];
  for (const bl_json *v = maps->first; v; v = v->next) {
    bl_str s;
    BL_TRY(bl_json_string(v, &s, err));
    texts[n++] = s.p;
  }
  bl_table_options with = {.path_maps = texts, .n_path_maps = n, .drivers = o ? o->drivers : NULL};
  bl_buf_init(&b, ctx, (size_t)ctx->o.max_metadata_bytes);
  bl_json_print(&b, doc, false);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = bl_table_from_metadata(ctx, b.p, b.n, &with, &t->table, err);
  bl_buf_free(&b);
  return st;
}

static bl_status parse_ids(bl_task *t, bl_error *err) {
  const bl_json *ids;
  BL_TRY(bl_json_member_opt(t->json, "column-ids", BL_J_ARRAY, &ids, err));
  if (!ids) return BL_OK;
  if (ids->n != t->n_columns) return bl_json_fail(err, BL_USAGE, ids, "one id a column is expected");
  t->column_ids = bl_arena_calloc(t->arena, ids->n + 1, sizeof *t->column_ids);
  if (!t->column_ids) return bl_nomem(err);
  size_t i = 0;
  for (const bl_json *v = ids->first; v; v = v->next) BL_TRY(bl_json_i32(v, &t->column_ids[i++], err));
  return BL_OK;
}

bl_status bl_task_columns(const bl_task *t, bl_columns *c, bl_error *err) {
  bl_columns_init(c, t->arena, t->table->metadata, t->schema);
  for (size_t i = 0; i < t->n_columns; i++) {
    if (t->column_ids) BL_TRY(bl_columns_add_id(c, t->column_ids[i], err));
    else BL_TRY(bl_columns_add_name(c, bl_str_of(t->columns[i]), err));
  }
  return BL_OK;
}

static bl_status parse_columns(bl_task *t, bl_error *err) {
  const bl_json *columns;
  int32_t id;
  BL_TRY(bl_json_get_i32(t->json, "schema-id", &id, err));
  t->schema = bl_metadata_schema(t->table->metadata, id);
  if (!t->schema) return bl_json_fail(err, BL_USAGE, bl_json_get(t->json, "schema-id"), "the table has no such schema");
  BL_TRY(bl_json_member(t->json, "columns", BL_J_ARRAY, &columns, err));
  t->columns = bl_arena_calloc(t->arena, columns->n + 1, sizeof *t->columns);
  if (!t->columns) return bl_nomem(err);
  for (const bl_json *v = columns->first; v; v = v->next) {
    bl_str s;
    BL_TRY(bl_json_string(v, &s, err));
    t->columns[t->n_columns++] = s.p;
  }
  BL_TRY(parse_ids(t, err));
  bl_str where;
  BL_TRY(bl_json_opt_str(t->json, "where", &where, err));
  t->where = where.p;
  return BL_OK;
}

static bl_status parse_task(bl_ctx *ctx, const char *json, size_t n, const bl_table_options *o, bl_task *out,
                            bl_error *err) {
  bl_json *doc;
  int64_t version;
  BL_TRY(bl_json_parse(out->arena, json, n, &doc, err));
  out->json = doc;
  if (doc->kind != BL_J_OBJECT) return bl_json_fail(err, BL_USAGE, doc, "a task is an object");
  BL_TRY(bl_json_get_i64(doc, "bergline-task", &version, err));
  if (version != TASK_VERSION)
    return bl_json_fail(err, BL_USAGE, bl_json_get(doc, "bergline-task"), "this version is not known here");
  BL_TRY(bl_json_get_str(doc, "kind", &out->kind, err));
  BL_TRY(parse_table(ctx, out, o, err));
  return parse_columns(out, err);
}

bl_status bl_task_parse(bl_ctx *ctx, const char *json, size_t n, const bl_table_options *o, bl_task *out,
                        bl_error *err) {
  *out = (bl_task){0};
  BL_TRY(bl_arena_new(ctx, &out->arena, err));
  bl_status st = parse_task(ctx, json, n, o, out, err);
  if (st == BL_OK) return BL_OK;
  bl_task_dispose(out);
  return bl_fail_in(err, st, "task");
}

void bl_task_dispose(bl_task *t) {
  bl_table_free(t->table);
  bl_arena_free(t->arena);
  *t = (bl_task){0};
}

/* ---- parts of plans ---- */

bl_json *bl_counts_to_json(bl_arena *a, const bl_plan_counts *c) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  const struct {
    const char *key;
    int64_t v;
  } members[] = {
      {"manifests-opened", (int64_t)c->manifests_opened},
      {"manifests-skipped", (int64_t)c->manifests_skipped},
      {"delete-manifests-opened", (int64_t)c->delete_manifests_opened},
      {"delete-manifests-skipped", (int64_t)c->delete_manifests_skipped},
      {"files", (int64_t)c->files},
      {"files-skipped", (int64_t)c->files_skipped},
      {"delete-files", (int64_t)c->delete_files},
      {"rows", c->rows},
      {"bytes", c->bytes},
  };
  bool ok = o != NULL;
  for (size_t i = 0; ok && i < BL_LEN(members); i++)
    ok = bl_json_set(a, o, members[i].key, bl_json_new_i64(a, members[i].v));
  return ok ? o : NULL;
}

bl_json *bl_id_range_to_json(bl_arena *a, const bl_data_file *f) {
  if (f->first_row_id == BL_NONE || f->record_count == 0) return bl_json_new(a, BL_J_NULL);
  bl_json *r = bl_json_new(a, BL_J_ARRAY), *lo = bl_json_new_i64(a, f->first_row_id),
          *hi = bl_json_new_i64(a, f->first_row_id + f->record_count - 1);
  return r && lo && hi && bl_json_push(r, lo) && bl_json_push(r, hi) ? r : NULL;
}

bool bl_push_plan_manifest(bl_arena *a, bl_json *array, bl_str path, bl_manifest_content content, bool opened,
                           const char *why) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bl_str of = content == BL_MANIFEST_DATA ? BL_STR("data") : BL_STR("deletes");
  bool ok = o && bl_json_set(a, o, "path", bl_json_new_str(a, path));
  ok = ok && bl_json_set(a, o, "content", bl_json_new_str(a, of));
  ok = ok && bl_json_set(a, o, "opened", bl_json_new_bool(a, opened));
  ok = ok && bl_json_set(a, o, "why", bl_json_new_str(a, bl_str_of(why)));
  return ok && bl_json_push(array, o);
}

size_t bl_plan_splits(const bl_data_file *f, const bl_json *own) {
  const bl_json *groups = own ? bl_json_get(own, "row-groups") : NULL;
  if (groups) return groups->n;
  return f->n_split_offsets > 1 ? f->n_split_offsets : 1;
}

static bool push_group(bl_arena *a, bl_json *groups, const bl_data_group *g) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && bl_json_set(a, o, "first-row", bl_json_new_i64(a, g->first_row));
  ok = ok && bl_json_set(a, o, "rows", bl_json_new_i64(a, g->rows));
  ok = ok && bl_json_set(a, o, "bytes", bl_json_new_i64(a, g->bytes));
  return ok && bl_json_push(groups, o);
}

bl_status bl_footer_to_json(bl_arena *a, const bl_reading *env, const bl_manifest_entry *e, bl_json *task,
                            bl_error *err) {
  bl_open_file *f;
  BL_TRY(bl_open_file_new(env, e, &f, err));
  bl_json *groups = bl_json_new(a, BL_J_ARRAY);
  bool ok = groups != NULL;
  for (size_t i = 0; ok && i < f->meta->n_groups; i++) ok = push_group(a, groups, &f->meta->groups[i]);
  ok = ok && bl_json_set(a, task, "row-groups", groups);
  ok = ok && bl_json_set(a, task, "stores-row-id",
                         bl_json_new_bool(a, bl_projection_stored_leaf(f->meta, BL_ID_ROW_ID) >= 0));
  ok = ok && bl_json_set(a, task, "stores-last-updated-sequence-number",
                         bl_json_new_bool(a, bl_projection_stored_leaf(f->meta, BL_ID_LAST_UPDATED) >= 0));
  bl_open_file_free(f);
  return ok ? BL_OK : bl_nomem(err);
}

bl_status bl_footer_may_match(const bl_reading *env, const bl_manifest_entry *e, const bl_expr *filter,
                              const bl_type *wanted, bool *may, bl_error *err) {
  bl_open_file *f;
  bl_projection *p = NULL;
  *may = false;
  BL_TRY(bl_open_file_new(env, e, &f, err));
  bl_status st = bl_open_file_project(f, wanted, &p, err);
  for (size_t i = 0; st == BL_OK && !*may && i < f->meta->n_groups; i++) *may = bl_open_file_may_match(f, p, filter, i);
  bl_projection_free(p);
  bl_open_file_free(f);
  return st;
}
