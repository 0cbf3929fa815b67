/* catalog_verbs.c: names given to metadata files, and tables that go, see bergline/catalog.h. */
#include "base/map.h"
#include "bergline/catalog.h"
#include "format/metadata_json.h"
#include "table/catalog.h"
#include "table/io.h"
#include "table/manifests.h"
#include "write/create.h"
#include "write/properties.h"

/* ---- register ---- */

static bl_status check_metadata(bl_ctx *ctx, const bl_table_options *o, const char *file, bl_error *err) {
  bl_io *io = NULL;
  bl_buf bytes;
  bl_metadata *md = NULL;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(bl_io_with_maps(ctx, o->drivers->io, o, &io, err));
  BL_GO(bl_io_read_all(io, file, ctx->o.max_metadata_bytes, &bytes, err));
  st = bl_metadata_parse(ctx, bytes.p, bytes.n, &md, err);
  if (st != BL_OK) bl_fail_in(err, st, "%s", file);
done:
  bl_metadata_free(md);
  bl_buf_free(&bytes);
  if (io) io->free(io);
  return st;
}

bl_status bl_catalog_register(bl_ctx *ctx, const bl_table_options *o, const char *name, const char *metadata_file,
                              bl_error *err) {
  bl_catalog *c = NULL;
  bl_arena *a = NULL;
  bl_table_name t;
  bl_str file;
  bl_status st;
  BL_GO(bl_catalog_open(ctx, o, false, &c, err));
  if (!c->commit)
    BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot register a table: catalog %s does not support it", c->name));
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_table_name_parse(a, name, &t, err));
  BL_GO(bl_absolute_path(a, metadata_file, &file, err)); /* others read it from other folders */
  BL_GO(check_metadata(ctx, o, file.p, err));
  st = c->commit(c, &t, NULL, file.p, err);
done:
  bl_catalog_free(c);
  bl_arena_free(a);
  return st;
}

/* ---- purge ---- */

/* The files of a table, each once. */
typedef struct file_set {
  bl_table *t;
  bl_arena *a;
  bl_map *seen;
  bl_str *items;
  size_t n, cap;
} file_set;

static bl_status add_file(file_set *f, bl_str path, bl_error *err) {
  bool added;
  bl_str copy = bl_arena_str(f->a, path);
  if (!path.p) return BL_OK;
  if (!copy.p || !bl_map_put(f->seen, copy, 0, &added)) return bl_nomem(err);
  if (!added) return BL_OK;
  BL_TRY(bl_grow(f->t->ctx, &f->items, &f->cap, f->n, sizeof *f->items, err));
  f->items[f->n++] = copy;
  return BL_OK;
}

static bl_status add_manifest(file_set *f, const bl_manifest_file *m, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_entry *es;
  size_t n;
  if (bl_map_get(f->seen, m->path)) return BL_OK;
  BL_TRY(bl_arena_new(f->t->ctx, &a, err));
  bl_status st = bl_table_manifest_entries(f->t, m, false, a, &es, &n, err);
  for (size_t i = 0; st == BL_OK && i < n; i++) st = add_file(f, es[i].file.path, err);
  bl_arena_free(a);
  return st == BL_OK ? add_file(f, m->path, err) : st;
}

static bl_status add_snapshot(file_set *f, const bl_snapshot *s, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_file *ms;
  size_t n;
  BL_TRY(bl_arena_new(f->t->ctx, &a, err));
  bl_status st = bl_table_manifests(f->t, s, a, &ms, &n, err);
  for (size_t i = 0; st == BL_OK && i < n; i++) st = add_manifest(f, &ms[i], err);
  bl_arena_free(a);
  return st == BL_OK ? add_file(f, s->manifest_list, err) : st;
}

/* What cannot be read is told, and its files stay. */
static bl_status collect(file_set *f, bl_error *err) {
  const bl_metadata *md = f->t->metadata;
  for (size_t i = 0; i < md->n_snapshots; i++) {
    bl_error why = BL_ERROR_INIT;
    bl_status st = add_snapshot(f, &md->snapshots[i], &why);
    if (st == BL_NOMEM) return bl_nomem(err);
    if (st != BL_OK) bl_warn(f->t->ctx, "files of snapshot %lld stay: %s", (long long)md->snapshots[i].id, why.message);
  }
  for (size_t i = 0; i < md->n_statistics; i++) BL_TRY(add_file(f, md->statistics[i].path, err));
  for (size_t i = 0; i < md->n_partition_statistics; i++) BL_TRY(add_file(f, md->partition_statistics[i].path, err));
  for (size_t i = 0; i < md->n_metadata_log; i++) BL_TRY(add_file(f, md->metadata_log[i].file, err));
  return add_file(f, bl_str_of(f->t->metadata_path), err);
}

static void remove_files(const file_set *f) {
  for (size_t i = 0; i < f->n; i++) {
    bl_error why = BL_ERROR_INIT;
    bl_status st = f->t->io->remove(f->t->io, f->items[i].p, &why);
    if (st != BL_OK && st != BL_NOT_FOUND) bl_warn(f->t->ctx, "a file stays: %s", why.message);
  }
}

/* Folders of the table that are empty now, from the files' upwards. */
static void remove_folders(const file_set *f) {
  bl_str top = f->t->metadata->location;
  for (size_t i = 0; i < f->n; i++) {
    bl_str path = f->items[i];
    if (!bl_str_starts(path, top)) continue;
    char *p = (char *)path.p; /* the set's own copy, of no use afterwards */
    for (char *slash; (slash = strrchr(p, '/')) && (size_t)(slash - p) >= top.n;) {
      *slash = 0;
      if (f->t->io->remove(f->t->io, p, NULL) != BL_OK) break;
    }
  }
}

/* ---- drop ---- */

static bl_status check_purge(const bl_table *t, bl_error *err) {
  if (!t->io->remove) return bl_fail(err, BL_UNSUPPORTED, "cannot purge %s: %s is read-only", t->name, t->io->name);
  if (bl_property_bool(&t->metadata->properties, "gc.enabled", true)) return BL_OK;
  return bl_fail(err, BL_USAGE, "cannot purge %s: its property gc.enabled is false", t->name);
}

/* The files are found while the table is there, and removed when its name is gone. */
static bl_status purge(bl_ctx *ctx, bl_catalog *c, const bl_table_name *t, const char *name, const bl_table_options *o,
                       bl_error *err) {
  file_set f = {0};
  bl_status st;
  BL_GO(bl_table_open(ctx, name, o, &f.t, err));
  BL_GO(check_purge(f.t, err));
  BL_GO(bl_arena_new(ctx, &f.a, err));
  BL_GO(bl_map_new(ctx, &f.seen, err));
  BL_GO(collect(&f, err));
  BL_GO(c->drop(c, t, err));
  remove_files(&f);
  remove_folders(&f);
done:
  bl_free(ctx, f.items);
  bl_map_free(f.seen);
  bl_arena_free(f.a);
  bl_table_free(f.t);
  return st;
}

bl_status bl_catalog_drop(bl_ctx *ctx, const bl_table_options *o, const char *name, bool purge_too, bl_error *err) {
  bl_catalog *c = NULL;
  bl_arena *a = NULL;
  bl_table_name t;
  bl_status st;
  BL_GO(bl_catalog_open(ctx, o, false, &c, err));
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_table_name_parse(a, name, &t, err));
  if (!c->drop) BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot drop %s: catalog %s is read-only", name, c->name));
  if (!purge_too && bl_catalog_has_folders(c))
    BL_GO(bl_fail(err, BL_UNSUPPORTED,
                  "cannot drop %s and keep its files: a table of the warehouse %s is its folder "
                  "(purge removes it)",
                  name, c->name));
  st = purge_too ? purge(ctx, c, &t, name, o, err) : c->drop(c, &t, err);
done:
  bl_catalog_free(c);
  bl_arena_free(a);
  return st;
}
