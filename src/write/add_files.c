/* add_files.c: bl_add_files: data files that lie somewhere become the table's as they are.
 *
 *   paths as metadata has them -> none twice (B127) -> each file opened: columns, metrics, partition (in parallel) ->
 *   stored lineage refused, trusted or left behind (W13) -> one commit
 *
 * A file that stores lineage which is to be ignored cannot be taken as it is, since readers would believe it: its rows
 * are written again. */
#include "base/map.h"
#include "base/pool.h"
#include "rows/stream.h"
#include "scan/plan.h"
#include "table/pathmap.h"
#include "write/commit.h"
#include "write/data_writer.h"
#include "write/foreign_file.h"

enum { BATCH_ROWS = 65536 };

typedef struct adding {
  bl_table *t;
  const bl_add_files_options *a;
  const bl_write_options *o;
  bl_arena *arena;
  bl_foreign_env env;
  bl_str new_mapping; /* p NULL: the table has one, or none is needed */
  bl_str *paths;
  bl_foreign_file *files;
  size_t n;
  bl_staged *staged;
} adding;

/* ---- paths ---- */

static bool has_scheme(const char *path) {
  const char *colon = strchr(path, ':'), *slash = strchr(path, '/');
  return colon && colon > path && (!slash || colon < slash);
}

/* A moved table names its files by its recorded location. */
static bl_status path_of(adding *x, const char *path, bl_str *out, bl_error *err) {
  if (path[0] != '/' && !has_scheme(path))
    return bl_fail(err, BL_USAGE, "cannot add: %s: the path of a file must begin with / or a scheme", path);
  bl_str p = bl_str_of(path), location = bl_path_trim(x->t->metadata->location);
  bl_str root = x->t->root ? bl_path_trim(bl_path_local(bl_str_of(x->t->root))) : BL_STR_NONE, local = bl_path_local(p);
  bool below = root.p && bl_str_starts(local, root) && local.n > root.n && local.p[root.n] == '/';
  *out = below ? bl_arena_printf(x->arena, "%.*s%.*s", (int)location.n, location.p, (int)(local.n - root.n),
                                 local.p + root.n)
               : bl_arena_str(x->arena, p);
  return out->p ? BL_OK : bl_nomem(err);
}

static bl_status unique_paths(adding *x, const char *const *paths, bl_map *seen, bl_error *err) {
  for (size_t i = 0; i < x->n; i++) {
    bool added;
    BL_TRY(path_of(x, paths[i], &x->paths[i], err));
    if (!bl_map_put(seen, bl_path_local(x->paths[i]), i, &added)) return bl_nomem(err);
    if (!added) return bl_fail(err, BL_USAGE, "cannot add: %s: it is named twice", paths[i]);
  }
  return BL_OK;
}

/* None of the branch's data files may be among them. */
static bl_status not_there_yet(adding *x, bl_map *seen, bl_error *err) {
  const bl_metadata *m = x->t->metadata;
  const bl_ref *ref = bl_metadata_ref(m, bl_branch_of(x->o));
  const bl_snapshot *s = ref ? bl_metadata_snapshot(m, ref->snapshot_id) : NULL;
  const bl_plan_options o = {.schema = x->env.schema};
  bl_plan *plan;
  if (x->a->duplicates_ok || !s) return BL_OK;
  BL_TRY(bl_plan_new(x->t, s, &o, &plan, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < plan->n_files; i++) {
    bl_str path = plan->files[i].data->file.path;
    if (bl_map_get(seen, bl_path_local(path)))
      st = bl_fail(err, BL_USAGE, "cannot add: %s: the table has it already: its rows would be there twice", path.p);
  }
  bl_plan_free(plan);
  return st;
}

static bl_status check_paths(adding *x, const char *const *paths, bl_error *err) {
  bl_map *seen;
  BL_TRY(bl_map_new(x->t->ctx, &seen, err));
  bl_status st = unique_paths(x, paths, seen, err);
  if (st == BL_OK) st = not_there_yet(x, seen, err);
  bl_map_free(seen);
  return st;
}

/* ---- what all files share ---- */

static bl_status set_env(adding *x, bl_error *err) {
  const bl_metadata *m = x->t->metadata;
  bl_foreign_env *e = &x->env;
  e->t = x->t;
  e->copies_lineage = x->a->lineage == BL_LINEAGE_IGNORE;
  e->schema = bl_metadata_current_schema(m);
  e->spec = bl_metadata_spec(m, m->default_spec_id);
  if (!e->spec) return bl_fail(err, BL_DAMAGED, "the table has no partition spec %d", (int)m->default_spec_id);
  bl_type *types = bl_arena_calloc(x->arena, e->spec->n_fields, sizeof *types);
  const bl_schema **others = bl_arena_alloc(x->arena, m->n_schemas, sizeof *others);
  if (!types || !others) return bl_nomem(err);
  for (size_t i = 0; i < m->n_schemas; i++) others[i] = &m->schemas[m->n_schemas - 1 - i];
  bl_spec_types(e->spec, e->schema, others, m->n_schemas, types);
  e->spec_types = types;
  BL_TRY(bl_metrics_modes_new(x->t, e->schema, x->arena, &e->modes, err));
  bl_str json = bl_pairs_get(&m->properties, "schema.name-mapping.default");
  if (!json.p) {
    BL_TRY(bl_name_mapping_make(x->arena, e->schema, &x->new_mapping, err));
    json = x->new_mapping;
  }
  return bl_name_mapping_parse(x->arena, json, &e->mapping, err);
}

/* ---- files ---- */

static bool stores_lineage(const bl_foreign_file *f) {
  return f->row_id_leaf >= 0 || f->last_updated_leaf >= 0;
}

static bl_status look_at(void *user, size_t i, bl_error *err) {
  adding *x = user;
  bl_foreign_file *f = &x->files[i];
  BL_TRY(bl_foreign_open(&x->env, x->paths[i], f, err));
  if (!stores_lineage(f)) {
    bl_foreign_close(f);
    return BL_OK;
  }
  if (x->a->lineage != BL_LINEAGE_REFUSE) return BL_OK;
  return bl_fail(err, BL_USAGE,
                 "cannot add: %s: it stores row ids or sequence numbers: say whether to ignore them (its rows are "
                 "copied and get new ids) or to trust them (they are this table's own)",
                 f->path.p);
}

/* A mapping that some file needs becomes the table's: without it nobody could read the file. */
static bl_status keep_mapping(adding *x, bl_error *err) {
  bool needed = false;
  for (size_t i = 0; i < x->n; i++) {
    const bl_foreign_file *f = &x->files[i];
    needed |= f->by_name && !(x->a->lineage == BL_LINEAGE_IGNORE && stores_lineage(f));
  }
  if (!x->new_mapping.p || !needed || x->o->dry_run) return BL_OK;
  bl_str set = bl_arena_printf(x->arena, "schema.name-mapping.default=%s", x->new_mapping.p);
  if (!set.p) return bl_nomem(err);
  const char *words[] = {set.p};
  return bl_set_properties(x->t, words, 1, NULL, 0, NULL, err);
}

/* ---- rows of files whose lineage is ignored ---- */

static bl_status copy_batches(const bl_projection *p, struct ArrowArrayStream *in, bl_data_writer *w, bl_error *err) {
  for (;;) {
    struct ArrowArray batch, out;
    BL_TRY(bl_stream_next(in, &batch, err));
    if (!batch.release) return BL_OK;
    BL_TRY(bl_projection_apply(p, &batch, NULL, 0, &out, err));
    BL_TRY(bl_data_writer_write(w, &out, err));
  }
}

static bl_status copy_file(adding *x, const bl_foreign_file *f, bl_data_writer *w, bl_error *err) {
  bl_projection *p;
  bl_file_facts facts = {.file = &f->entry, .spec = &f->told, .metadata = x->t->metadata};
  bl_data_reader *r = f->reader;
  size_t n;
  BL_TRY(bl_projection_new(x->t->ctx, &x->env.schema->root, r->meta, &x->env.mapping, false, &facts, &p, err));
  const int32_t *leaves = bl_projection_leaves(p, &n);
  bl_status st = BL_OK;
  for (size_t g = 0; st == BL_OK && g < r->meta->n_groups; g++) {
    struct ArrowArrayStream in = {0};
    st = r->read(r, g, leaves, n, NULL, 0, BATCH_ROWS, &in, err);
    if (st == BL_OK) st = copy_batches(p, &in, w, err);
    bl_stream_release(&in);
  }
  bl_projection_free(p);
  return st;
}

static bl_status copy_files(adding *x, bl_error *err) {
  bl_data_writer *w;
  const bl_data_writer_options o = {.spec_id = -1};
  BL_TRY(bl_data_writer_new(x->t, &o, x->staged, &w, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < x->n; i++)
    if (stores_lineage(&x->files[i])) st = copy_file(x, &x->files[i], w, err);
  if (st == BL_OK) return bl_data_writer_finish(w, err);
  bl_data_writer_abort(w);
  return st;
}

/* ---- the change ---- */

static bl_status stage(adding *x, bool *copies, bl_error *err) {
  bl_staged *s = x->staged;
  const bl_ref *ref = bl_metadata_ref(x->t->metadata, bl_branch_of(x->o));
  bool trusts = false;
  s->operation = BL_STR("append");
  if (ref) s->base_snapshot_id = ref->snapshot_id;
  s->new_paths = !x->a->duplicates_ok;
  for (size_t i = 0; i < x->n; i++) {
    bool stores = stores_lineage(&x->files[i]);
    *copies |= stores && x->a->lineage == BL_LINEAGE_IGNORE;
    trusts |= stores && x->a->lineage == BL_LINEAGE_TRUST;
    if (!stores || x->a->lineage == BL_LINEAGE_TRUST) BL_TRY(bl_staged_add_data(s, &x->files[i].entry, err));
  }
  if (!trusts) return BL_OK;
  BL_TRY(bl_foreign_trust(x->t, x->o->ref, x->files, x->n, err));
  s->reads_rows = true; /* that no row of the branch has the ids holds of the staging base only */
  s->isolation = BL_SERIALIZABLE;
  return BL_OK;
}

static bl_status add(adding *x, bl_write_result *r, bl_error *err) {
  bool copies = false;
  BL_TRY(bl_parallel(x->t->ctx, x->n, look_at, x, err));
  BL_TRY(bl_staged_new(x->t->ctx, &x->staged, err));
  for (size_t i = 0; i < x->n; i++) x->staged->counts.rows_inserted += x->files[i].entry.record_count;
  BL_TRY(stage(x, &copies, err));
  BL_TRY(keep_mapping(x, err));
  if (copies && !x->o->dry_run) BL_TRY(copy_files(x, err));
  return bl_commit_change(x->t, x->staged, x->o, r, err);
}

static void adding_dispose(adding *x) {
  for (size_t i = 0; x->files && i < x->n; i++) bl_foreign_dispose(&x->files[i]);
  bl_staged_free(x->staged);
  bl_arena_free(x->arena);
}

bl_status bl_add_files(bl_table *t, const char *const *paths, size_t n, const bl_add_files_options *a,
                       const bl_write_options *o, bl_write_result *r, bl_error *err) {
  static const bl_write_options no_options = {0};
  static const bl_add_files_options no_choice = {0};
  bl_write_result unused;
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  adding x = {.a = a ? a : &no_choice, .o = o ? o : &no_options, .n = n};
  bl_status st;
  BL_GO(bl_write_base(t, x.o, &x.t, &r->already_applied, err));
  if (r->already_applied) goto done;
  BL_GO(bl_arena_new(t->ctx, &x.arena, err));
  x.paths = bl_arena_calloc(x.arena, n, sizeof *x.paths);
  x.files = bl_arena_calloc(x.arena, n, sizeof *x.files);
  if (!x.paths || !x.files) BL_GO(bl_nomem(err));
  BL_GO(set_env(&x, err));
  BL_GO(check_paths(&x, paths, err));
  BL_GO(add(&x, r, err));
done:
  if (x.staged && st != BL_OK && st != BL_UNKNOWN) bl_staged_discard(x.staged, x.t);
  adding_dispose(&x);
  bl_write_base_free(x.t, t);
  return st;
}
