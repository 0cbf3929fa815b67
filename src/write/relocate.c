/* relocate.c: a table that lies elsewhere for good: its metadata is written with the paths of the new place.
 *
 * 1. No data file is written or moved. Every manifest and list of every snapshot is written anew, and so are position
 *    deletes and vectors, which name data files.
 * 2. Only paths below the old location change; row ids, sequence numbers and snapshots stay what they are.
 * 3. What is written lies where the old files are reached now: a table in a folder keeps its folder. One in a catalog
 *    is opened with --path-map, and its new files go to the new location itself.
 * 4. The old files stay: older metadata files name them. */
#include "write/relocate.h"
#include "table/io.h"

/* ---- paths ---- */

static bl_str relocated_in(const bl_relocating *r, bl_arena *a, bl_str path) {
  char *p = bl_path_map_apply(r->ctx, &r->map, 1, path.p);
  bl_str out = p ? bl_arena_str(a, bl_str_of(p)) : BL_STR_NONE;
  bl_free(r->ctx, p);
  return out;
}

bl_str bl_relocated(bl_relocating *r, bl_str path) {
  return relocated_in(r, r->arena, path);
}

bl_status bl_relocate_name(bl_relocating *r, bl_str beside, const char *ending, bl_str *now, bl_str *then,
                           bl_error *err) {
  bl_str folder = bl_path_folder(beside);
  bl_str old = bl_arena_printf(r->arena, "%.*s/%s-%d-%s", (int)folder.n, folder.p, r->uuid.s, r->n_names++, ending);
  *then = old.p ? bl_relocated(r, old) : BL_STR_NONE;
  *now = r->t->form == BL_FORM_CATALOG ? *then : old; /* 3. */
  return now->p && then->p ? BL_OK : bl_nomem(err);
}

bl_status bl_relocate_write(bl_relocating *r, bl_str path, const void *p, size_t n, bl_error *err) {
  BL_TRY(bl_grow(r->ctx, &r->written, &r->cap_written, r->n_written, sizeof *r->written, err));
  r->written[r->n_written++] = path;
  BL_TRY(bl_io_write_with(r->t->io, path.p, p, n, BL_OUT_EXCLUSIVE | BL_OUT_LATER, err));
  return bl_unsynced_add(r->unsynced, path, (int64_t)n, err);
}

bl_status bl_relocate_remember(bl_relocating *r, bl_str old, const bl_moved *m, bl_error *err) {
  bl_str key = bl_arena_str(r->arena, old);
  BL_TRY(bl_grow(r->ctx, &r->moved, &r->cap_moved, r->n_moved, sizeof *r->moved, err));
  r->moved[r->n_moved] = *m;
  if (!key.p || !bl_map_put(r->seen, key, r->n_moved, NULL)) return bl_nomem(err);
  r->n_moved++;
  return BL_OK;
}

static const bl_moved *moved_of(const bl_relocating *r, bl_str path) {
  const size_t *at = bl_map_get(r->seen, path);
  return at ? &r->moved[*at] : NULL;
}

/* ---- entries ---- What is made for them lives in the arena of their manifest. */

/* The file_path bounds of a position delete file. */
static bl_status set_bounds(bl_arena *a, bl_data_file *f, const bl_moved *m, bl_error *err) {
  bl_column_metrics *copy = bl_arena_alloc(a, f->n_metrics, sizeof *copy);
  if (!copy) return bl_nomem(err);
  if (f->n_metrics) memcpy(copy, f->metrics, f->n_metrics * sizeof *copy);
  for (size_t i = 0; i < f->n_metrics; i++)
    if (copy[i].id == BL_ID_DELETE_PATH) copy[i].lower = m->lower, copy[i].upper = m->upper;
  f->metrics = copy;
  return BL_OK;
}

static bl_status move_delete_file(bl_relocating *r, bl_arena *a, bl_manifest_entry *e, bl_error *err) {
  bl_data_file *f = &e->file;
  bool puffin = f->format == BL_FORMAT_PUFFIN;
  if (!moved_of(r, f->path)) BL_TRY(puffin ? bl_relocate_puffin(r, f->path, err) : bl_relocate_positions(r, e, err));
  const bl_moved *m = moved_of(r, f->path);
  f->path = m->path;
  f->file_size = m->size;
  f->n_split_offsets = 0;
  if (!puffin) {
    f->format = BL_FORMAT_PARQUET;
    return set_bounds(a, f, m, err);
  }
  for (size_t i = 0; i < m->n_blobs; i++) {
    if (m->blobs[i].offset != f->content_offset) continue;
    f->content_offset = m->blobs[i].new_offset;
    f->content_size = m->blobs[i].new_size;
    return BL_OK;
  }
  return bl_fail(err, BL_DAMAGED, "the vector of %.*s: no blob begins where its entry says",
                 BL_STR_ARG(f->referenced_data_file));
}

/* What a deleted entry names may be gone: only its path changes. */
static bl_status move_entry(bl_relocating *r, bl_arena *a, const bl_manifest_file *m, bl_manifest_entry *e,
                            bl_error *err) {
  bool names_files = e->file.content == BL_FILE_POSITION_DELETES;
  if (names_files && e->status != BL_DELETED) BL_TRY(move_delete_file(r, a, e, err));
  else e->file.path = relocated_in(r, a, e->file.path);
  if (e->file.referenced_data_file.p) {
    e->file.referenced_data_file = relocated_in(r, a, e->file.referenced_data_file);
    if (!e->file.referenced_data_file.p) return bl_nomem(err);
  }
  if (e->status == BL_ADDED) { /* as they were: inherited */
    if (e->sequence_number == m->sequence_number) e->sequence_number = BL_NONE;
    e->file_sequence_number = BL_NONE;
  }
  return e->file.path.p ? BL_OK : bl_nomem(err);
}

/* ---- manifests and lists ---- */

static bl_status write_manifest(bl_relocating *r, const bl_manifest_file *m, const bl_manifest_entry *const *es,
                                size_t n, bl_error *err) {
  const bl_metadata *md = r->t->metadata;
  bl_moved out = {0};
  bl_str now;
  bl_buf bytes;
  bl_status st;
  bl_buf_init(&bytes, r->ctx, BL_BUF_MAX);
  BL_GO(bl_manifest_write(r->ctx, md, m->spec_id, md->current_schema_id, m->content, es, n, &bytes, err));
  BL_GO(bl_relocate_name(r, m->path, "m.avro", &now, &out.path, err));
  BL_GO(bl_relocate_write(r, now, bytes.p, bytes.n, err));
  out.size = (int64_t)bytes.n;
  st = bl_relocate_remember(r, m->path, &out, err);
done:
  bl_buf_free(&bytes);
  return st;
}

static bl_status move_manifest(bl_relocating *r, const bl_manifest_file *m, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_entry *es;
  size_t n;
  bl_status st;
  BL_GO(bl_arena_new(r->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(r->t, m, true, a, &es, &n, err));
  const bl_manifest_entry **refs = bl_arena_alloc(a, n, sizeof *refs);
  if (!refs) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < n; i++) {
    BL_GO(move_entry(r, a, m, &es[i], err));
    refs[i] = &es[i];
  }
  st = write_manifest(r, m, refs, n, err);
done:
  bl_arena_free(a);
  return st;
}

static bl_status write_list(bl_relocating *r, const bl_snapshot *s, const bl_manifest_file *ms, size_t n, bl_str *then,
                            bl_error *err) {
  bl_str now;
  bl_buf bytes;
  bl_status st;
  bl_str beside = s->manifest_list.p ? s->manifest_list : bl_metadata_folder(r->arena, r->t->metadata, true);
  bl_buf_init(&bytes, r->ctx, BL_BUF_MAX);
  BL_GO(bl_manifest_list_write(r->ctx, r->t->metadata, s, ms, n, &bytes, err));
  BL_GO(bl_relocate_name(r, beside, "list.avro", &now, then, err));
  st = bl_relocate_write(r, now, bytes.p, bytes.n, err);
done:
  bl_buf_free(&bytes);
  return st;
}

static bl_status move_snapshot(bl_relocating *r, const bl_snapshot *s, bl_str *then, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_file *ms;
  size_t n;
  bl_status st;
  BL_GO(bl_arena_new(r->ctx, &a, err));
  BL_GO(bl_table_manifests(r->t, s, a, &ms, &n, err));
  for (size_t i = 0; i < n; i++) {
    if (!moved_of(r, ms[i].path)) BL_GO(move_manifest(r, &ms[i], err));
    const bl_moved *m = moved_of(r, ms[i].path);
    ms[i].path = m->path;
    ms[i].length = m->size;
  }
  st = write_list(r, s, ms, n, then, err);
done:
  bl_arena_free(a);
  return st;
}

/* ---- the document ---- */

static bl_status set_path(bl_relocating *r, bl_edit *e, bl_json *obj, const char *key, bl_error *err) {
  const bl_json *v = bl_json_get(obj, key);
  if (!v || v->kind != BL_J_STRING) return BL_OK;
  bl_str then = bl_relocated(r, v->text);
  return then.p && bl_json_set(e->a, obj, key, bl_json_new_str(e->a, then)) ? BL_OK : bl_nomem(err);
}

static bl_status set_paths(bl_relocating *r, bl_edit *e, const char *list_key, const char *key, bl_error *err) {
  bl_json *list = (bl_json *)bl_json_get(e->doc, list_key);
  for (bl_json *v = list && list->kind == BL_J_ARRAY ? list->first : NULL; v; v = v->next)
    BL_TRY(set_path(r, e, v, key, err));
  return BL_OK;
}

static bl_status set_lists(bl_relocating *r, bl_edit *e, bl_error *err) {
  bl_json *list = (bl_json *)bl_json_get(e->doc, "snapshots");
  size_t i = 0;
  for (bl_json *v = list ? list->first : NULL; v; v = v->next, i++) {
    bl_str then;
    BL_TRY(move_snapshot(r, &e->base->snapshots[i], &then, err));
    bl_json_remove(v, "manifests");
    if (!bl_json_set(e->a, v, "manifest-list", bl_json_new_str(e->a, then))) return bl_nomem(err);
    BL_TRY(bl_progress(r->ctx, "relocate", (int64_t)i + 1, (int64_t)e->base->n_snapshots, err));
  }
  return BL_OK;
}

static bl_status edit_document(bl_relocating *r, bl_edit *e, bl_error *err) {
  static const char *const folders[] = {"write.data.path", "write.metadata.path", "write.object-storage.path"};
  BL_TRY(set_lists(r, e, err));
  BL_TRY(set_paths(r, e, "statistics", "statistics-path", err));
  BL_TRY(set_paths(r, e, "partition-statistics", "statistics-path", err));
  BL_TRY(set_paths(r, e, "metadata-log", "metadata-file", err));
  bl_json *properties = (bl_json *)bl_json_get(e->doc, "properties");
  for (size_t i = 0; properties && i < BL_LEN(folders); i++) BL_TRY(set_path(r, e, properties, folders[i], err));
  return bl_edit_set(e, "location", bl_json_new_str(e->a, r->map.to), err);
}

/* ---- the verb ---- */

typedef struct relocation {
  bl_ctx *ctx;
  bl_str to;
  bool dry_run;
  char **written; /* by the attempt in hand */
  size_t n_written;
} relocation;

static void forget_written(relocation *x) {
  for (size_t i = 0; i < x->n_written; i++) bl_free(x->ctx, x->written[i]);
  bl_free(x->ctx, x->written);
  x->written = NULL;
  x->n_written = 0;
}

static void remove_written(relocation *x, bl_table *t) {
  for (size_t i = 0; i < x->n_written; i++) {
    bl_error why = BL_ERROR_INIT;
    bl_status st = x->written[i] ? t->io->remove(t->io, x->written[i], &why) : BL_OK;
    if (st != BL_OK && st != BL_NOT_FOUND) bl_warn(t->ctx, "a file that is not needed stays: %s", why.message);
  }
  forget_written(x);
}

/* The names outlive the attempt. */
static void keep_written(relocation *x, const bl_relocating *r) {
  x->written = bl_calloc(x->ctx, r->n_written + 1, sizeof *x->written);
  for (size_t i = 0; x->written && i < r->n_written; i++) x->written[i] = bl_strdup(x->ctx, r->written[i].p);
  x->n_written = x->written ? r->n_written : 0;
}

static bl_status run(bl_relocating *r, bl_edit *e, bl_error *err) {
  BL_TRY(bl_map_new(r->ctx, &r->seen, err));
  BL_TRY(bl_reading_init(&r->reading, r->t, err));
  bl_status st = edit_document(r, e, err);
  bl_reading_dispose(&r->reading);
  return st;
}

static bl_status edit(void *user, bl_edit *e, bl_error *err) {
  relocation *x = user;
  bl_relocating r = {
      .ctx = x->ctx, .arena = e->a, .t = e->table, .unsynced = e->written, .map = {e->base->location, x->to}};
  remove_written(x, e->table); /* of an attempt that lost its race */
  if (x->dry_run || bl_str_eq(e->base->location, x->to)) return BL_OK;
  r.uuid = bl_new_uuid(x->ctx);
  bl_status st = run(&r, e, err);
  keep_written(x, &r);
  bl_map_free(r.seen);
  bl_free(x->ctx, r.moved);
  bl_free(x->ctx, r.written);
  return st;
}

static bl_status check_location(const char *to, bl_error *err) {
  if (to[0] == '/' || strstr(to, ":/")) return BL_OK;
  return bl_fail(err, BL_USAGE, "wrong location: %s: an absolute path or a URI is expected", to);
}

bl_status bl_relocate(bl_table *t, const char *to, const bl_write_options *o, bl_error *err) {
  relocation x = {.ctx = t->ctx, .dry_run = o && o->dry_run};
  bl_str folder = bl_path_trim(bl_str_of(to));
  BL_TRY(check_location(to, err));
  char *trimmed = bl_asprintf(t->ctx, "%.*s", (int)folder.n, folder.p);
  if (!trimmed) return bl_nomem(err);
  x.to = bl_str_of(trimmed);
  bl_status st = bl_commit_metadata(t, "relocate", edit, &x, o, err);
  if (st == BL_OK || st == BL_UNKNOWN) forget_written(&x);
  else remove_written(&x, t);
  bl_free(t->ctx, trimmed);
  return st;
}
