/* table.c: see table.h and bergline/table.h. */
#include "table/table.h"

#include "table/metadata_file.h"
#include "table/pathmap.h"

/* ---- parts of loading ---- */

static bl_status parse_maps(bl_ctx *ctx, const bl_table_options *o, size_t spare, bl_path_map **out, size_t *n,
                            bl_error *err) {
  *n = o ? o->n_path_maps : 0;
  *out = bl_calloc(ctx, *n + spare, sizeof **out);
  if (!*out) return bl_nomem(err);
  for (size_t i = 0; i < *n; i++) BL_TRY(bl_path_map_parse(o->path_maps[i], &(*out)[i], err));
  return BL_OK;
}

/* The metadata file itself is found in the folder as given, where only the maps that were asked for count: its recorded
 * location may lie anywhere, even above the folder. */
static bl_status load_metadata(bl_table *t, const bl_path_map *maps, size_t n, bl_error *err) {
  bl_io *io = NULL;
  if (t->form == BL_FORM_CATALOG) t->metadata = bl_table_common_take(t->common, t->metadata_path);
  if (t->metadata) return BL_OK;
  BL_TRY(bl_io_pathmap_new(t->ctx, t->drivers->io, false, maps, n, &io, err));
  bl_status st = bl_metadata_read(t->ctx, io, t->metadata_path, &t->metadata, err);
  io->free(io);
  return st;
}

/* The I/O for everything that the metadata names. */
static bl_status make_io(bl_table *t, const char *folder, bl_path_map *maps, size_t n, bl_error *err) {
  bl_str location = t->metadata->location;
  if (folder && location.n && !bl_path_same(location, bl_str_of(folder))) {
    t->root = bl_path_map_apply(t->ctx, maps, n, folder);
    if (!t->root) return bl_nomem(err);
    maps[n++] = (bl_path_map){location, bl_str_of(t->root)};
  }
  BL_TRY(bl_io_pathmap_new(t->ctx, t->drivers->io, false, maps, n, &t->mapped, err));
  t->io = t->mapped;
  return BL_OK;
}

char *bl_table_real_path(const bl_table *t, const char *path) {
  const bl_path_map *maps = NULL;
  size_t n = t->mapped ? bl_io_pathmap_maps(t->mapped, &maps) : 0;
  return bl_path_map_apply(t->ctx, maps, n, path);
}

bl_status bl_table_fail_in(const bl_table *t, bl_str path, bl_status st, bl_error *err) {
  char *real = bl_table_real_path(t, path.p);
  bl_fail_in(err, st, "%s", real ? real : path.p);
  bl_free(t->ctx, real);
  return st;
}

static bl_status copy_maps(bl_table *t, const bl_table_options *o, bl_error *err) {
  if (!o || !o->n_path_maps) return BL_OK;
  t->path_maps = bl_calloc(t->ctx, o->n_path_maps, sizeof *t->path_maps);
  if (!t->path_maps) return bl_nomem(err);
  for (; t->n_path_maps < o->n_path_maps; t->n_path_maps++)
    if (!(t->path_maps[t->n_path_maps] = bl_strdup(t->ctx, o->path_maps[t->n_path_maps]))) return bl_nomem(err);
  return BL_OK;
}

static bl_status copy_text(bl_ctx *ctx, const char *s, char **out, bl_error *err) {
  *out = bl_strdup(ctx, s);
  return *out ? BL_OK : bl_nomem(err);
}

bl_status bl_table_load(bl_ctx *ctx, bl_table_common *common, const bl_table_source *src, const bl_table_options *o,
                        bl_table **out, bl_error *err) {
  bl_path_map *maps = NULL;
  size_t n;
  bl_status st;
  *out = NULL;
  bl_table *t = bl_calloc(ctx, 1, sizeof *t);
  if (!t) return bl_nomem(err);
  t->ctx = ctx, t->common = bl_table_common_ref(common), t->drivers = common->drivers;
  t->form = src->form, t->read_only = src->read_only, t->version = src->version;
  BL_GO(copy_text(ctx, src->name, &t->name, err));
  BL_GO(copy_text(ctx, src->metadata_path, &t->metadata_path, err));
  if (src->folder) BL_GO(copy_text(ctx, src->folder, &t->folder, err));
  BL_GO(copy_maps(t, o, err));
  BL_GO(parse_maps(ctx, o, 1, &maps, &n, err));
  BL_GO(load_metadata(t, maps, n, err));
  BL_GO(make_io(t, src->folder, maps, n, err));
  *out = t;
  t = NULL;
done:
  bl_free(ctx, maps);
  bl_table_free(t);
  return st;
}

bl_status bl_table_from_metadata(bl_ctx *ctx, const void *json, size_t len, const bl_table_options *o, bl_table **out,
                                 bl_error *err) {
  bl_path_map *maps = NULL;
  size_t n;
  bl_status st;
  *out = NULL;
  bl_table *t = bl_calloc(ctx, 1, sizeof *t);
  if (!t) return bl_nomem(err);
  t->ctx = ctx, t->form = BL_FORM_HADOOP, t->read_only = true, t->version = -1;
  BL_GO(bl_table_common_new(ctx, o ? o->drivers : NULL, &t->common, err));
  t->drivers = t->common->drivers;
  BL_GO(copy_text(ctx, "task", &t->name, err));
  BL_GO(copy_text(ctx, "task", &t->metadata_path, err));
  BL_GO(parse_maps(ctx, o, 1, &maps, &n, err));
  BL_GO(bl_metadata_parse(ctx, json, len, &t->metadata, err));
  BL_GO(make_io(t, NULL, maps, n, err));
  *out = t;
  t = NULL;
done:
  bl_free(ctx, maps);
  bl_table_free(t);
  return st;
}

void bl_table_free(bl_table *t) {
  if (!t) return;
  bl_ctx *ctx = t->ctx;
  if (t->mapped) t->mapped->free(t->mapped);
  bl_table_common_unref(t->common);
  bl_metadata_free(t->metadata);
  bl_free(ctx, t->name);
  bl_free(ctx, t->metadata_path);
  bl_free(ctx, t->root);
  bl_free(ctx, t->folder);
  for (size_t i = 0; i < t->n_path_maps; i++) bl_free(ctx, t->path_maps[i]);
  bl_free(ctx, t->path_maps);
  bl_free(ctx, t->catalog_table);
  bl_free(ctx, t);
}

/* ---- accessors ---- */

void bl_table_get_info(const bl_table *t, bl_table_info *out) {
  const bl_metadata *m = t->metadata;
  *out = (bl_table_info){.format_version = m->format_version,
                         .uuid = m->uuid.p,
                         .location = m->location.p,
                         .metadata_location = t->metadata_path,
                         .last_updated_ms = m->last_updated_ms,
                         .last_sequence_number = m->last_sequence_number,
                         .next_row_id = m->next_row_id,
                         .has_current_snapshot = m->has_current,
                         .current_snapshot_id = m->current_snapshot_id,
                         .current_schema_id = m->current_schema_id,
                         .default_spec_id = m->default_spec_id,
                         .default_sort_order_id = m->default_order_id,
                         .read_only = t->read_only};
}

bool bl_table_ref(const bl_table *t, size_t i, bl_ref_info *out) {
  if (i >= t->metadata->n_refs) return false;
  const bl_ref *r = &t->metadata->refs[i];
  *out = (bl_ref_info){.name = r->name.p,
                       .is_branch = r->is_branch,
                       .snapshot_id = r->snapshot_id,
                       .min_snapshots_to_keep = r->has_min_snapshots ? r->min_snapshots_to_keep : 0,
                       .max_snapshot_age_ms = r->has_max_snapshot_age ? r->max_snapshot_age_ms : 0,
                       .max_ref_age_ms = r->has_max_ref_age ? r->max_ref_age_ms : 0};
  return true;
}

const char *bl_table_property(const bl_table *t, const char *key) {
  return bl_pairs_get(&t->metadata->properties, key).p;
}

bl_status bl_table_data_format(const bl_table *t, bl_file_format f, const bl_data_format **out, bl_error *err) {
  static const char *const names[] = {"parquet", "avro", "orc", "puffin"};
  *out = NULL;
  for (size_t i = 0; i < t->drivers->n_formats; i++)
    if (t->drivers->formats[i]->version == BL_DATA_VERSION && strcmp(t->drivers->formats[i]->name, names[f]) == 0)
      *out = t->drivers->formats[i];
  if (*out) return BL_OK;
  return bl_fail(err, BL_UNSUPPORTED, "%s data files: not supported by this build", bl_file_format_name(f));
}
