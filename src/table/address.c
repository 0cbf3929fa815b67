/* address.c: TABLE and its options -> an opened table (bergline(1), ADDRESSES). */
#include "table/catalog.h"
#include "table/folder.h"
#include "table/pathmap.h"
#include "table/table.h"

typedef struct opening {
  bl_ctx *ctx;
  const char *address;
  const bl_table_options *o;
  bl_table_common *common;
  bl_io *io; /* with the maps that were asked for */
  bl_table *table;
  char *location;    /* the metadata file that a catalog named last */
  bool named, moved; /* it named one; not the one before */
  bool by_name;      /* a table that was dropped is none */
} opening;

/* A metadata file may be removed between being found and being read, where others commit and old versions go: then it
 * is looked for again, as long as there is another each time. */
enum { MOST_TRIES = 100 };

/* ---- by path ---- */

static bl_status load(opening *w, const bl_table_source *src, bl_error *err) {
  return bl_table_load(w->ctx, w->common, src, w->o, &w->table, err);
}

static bl_str last_part(bl_str path) {
  size_t n = path.n;
  while (n && path.p[n - 1] != '/') n--;
  return (bl_str){path.p + n, path.n - n};
}

/* The table folder of F/metadata/FILE: "F"; p NULL where the file lies in no folder "metadata". */
static bl_str folder_of_metadata(bl_str path) {
  bl_str file = last_part(path);
  bl_str metadata = {path.p, path.n - file.n};
  if (!bl_str_ends(metadata, BL_STR("metadata/"))) return BL_STR_NONE;
  if (metadata.n == 9) return BL_STR(".");
  metadata.n -= 9; /* "F/" */
  return metadata.p[metadata.n - 1] == '/' ? bl_path_trim(metadata) : BL_STR_NONE;
}

static bl_status open_metadata_file(opening *w, const char *path, bl_table_form form, bl_error *err) {
  bl_metadata_name name;
  bool known = bl_metadata_name_parse(last_part(bl_str_of(path)), &name);
  bl_str f = folder_of_metadata(bl_str_of(path));
  char *folder = f.p ? bl_asprintf(w->ctx, "%.*s", (int)f.n, f.p) : NULL;
  if (f.p && !folder) return bl_nomem(err);
  bl_table_source src = {.name = w->address,
                         .metadata_path = path,
                         .folder = folder,
                         .form = form,
                         .version = known ? name.version : -1,
                         .read_only = true};
  if (known && !name.hadoop && form == BL_FORM_HADOOP) src.form = BL_FORM_NAMED;
  if (form == BL_FORM_CATALOG) src.read_only = false, src.folder = NULL; /* only --path-map moves these */
  bl_status st = load(w, &src, err);
  bl_free(w->ctx, folder);
  return st;
}

static bl_status refuse_dropped(opening *w, const char *folder, const bl_located *at, bl_error *err) {
  bl_dropped d;
  BL_TRY(bl_folder_dropped(w->ctx, w->io, folder, at, &d, err));
  if (!d.yes) return BL_OK;
  bl_status st = bl_dropped_fail(err, w->address, d.last);
  bl_dropped_dispose(w->ctx, &d);
  return st;
}

static bl_status load_located(opening *w, const char *folder, const bl_located *at, bl_error *err) {
  if (w->by_name) BL_TRY(refuse_dropped(w, folder, at, err));
  bl_table_source src = {.name = w->address,
                         .metadata_path = at->path,
                         .folder = folder,
                         .form = at->name.hadoop ? BL_FORM_HADOOP : BL_FORM_NAMED,
                         .version = at->name.version};
  return load(w, &src, err);
}

static bl_status open_folder(opening *w, const char *folder, bl_error *err) {
  char *last = NULL;
  bl_error why;
  bl_status st;
  bool again = true;
  for (int i = 0; again; i++) {
    bl_located at;
    why = (bl_error)BL_ERROR_INIT;
    st = bl_locate_metadata(w->ctx, w->io, folder, &at, &why);
    if (st == BL_OK) st = load_located(w, folder, &at, &why);
    again = st == BL_NOT_FOUND && at.path && i < MOST_TRIES && (!last || strcmp(last, at.path) != 0);
    bl_free(w->ctx, last);
    last = at.path;
  }
  bool none = st == BL_NOT_FOUND && !last;
  bl_free(w->ctx, last);
  if (none && w->by_name) return bl_fail(err, st, "no such table: %s: there is none in %s", w->address, folder);
  return st == BL_OK ? BL_OK : bl_fail_at(err, st, why.position, "%s", why.message);
}

static bl_status open_path(opening *w, bl_error *err) {
  bl_str s = bl_path_trim(bl_str_of(w->address));
  if (bl_str_ends(s, BL_STR(".json")) || bl_str_ends(s, BL_STR(".json.gz")))
    return open_metadata_file(w, w->address, BL_FORM_HADOOP, err);
  char *folder = bl_asprintf(w->ctx, "%.*s", (int)s.n, s.p);
  if (!folder) return bl_nomem(err);
  bl_status st = open_folder(w, folder, err);
  bl_free(w->ctx, folder);
  return st;
}

/* ---- by catalog ---- */

static bl_status open_in_warehouse(opening *w, const char *warehouse, const bl_table_name *name, bl_error *err) {
  bl_buf path;
  bl_status st;
  bl_buf_init(&path, w->ctx, BL_BUF_MAX);
  bl_buf_str(&path, bl_path_trim(bl_str_of(warehouse)));
  for (size_t i = 0; i < name->n_levels; i++) bl_buf_printf(&path, "/%s", name->levels[i]);
  bl_buf_printf(&path, "/%s", name->name);
  bl_buf_byte(&path, 0);
  BL_GO(bl_buf_ok(&path, err));
  w->by_name = true;
  st = open_folder(w, (const char *)path.p, err);
done:
  bl_buf_free(&path);
  return st;
}

static bl_status visit_table(void *user, const bl_catalog_entry *e, bl_error *err) {
  opening *w = user;
  w->named = true;
  w->moved = !w->location || strcmp(w->location, e->metadata_location) != 0;
  bl_free(w->ctx, w->location);
  w->location = bl_strdup(w->ctx, e->metadata_location);
  if (!w->location) return bl_nomem(err);
  return open_metadata_file(w, e->metadata_location, BL_FORM_CATALOG, err);
}

static bl_status open_named(opening *w, const bl_table_name *name, const char *text, bl_error *err) {
  bl_catalog *catalog = w->common->catalog;
  bl_error why;
  bl_status st;
  bool again = true;
  for (int i = 0; again; i++) {
    why = (bl_error)BL_ERROR_INIT;
    w->named = false;
    st = catalog->load(catalog, name, visit_table, w, &why);
    again = st == BL_NOT_FOUND && w->named && w->moved && i < MOST_TRIES;
  }
  bl_free(w->ctx, w->location);
  w->location = NULL;
  if (st != BL_OK) return bl_fail_at(err, st, why.position, "%s", why.message);
  w->table->catalog = catalog;
  w->table->catalog_table = bl_strdup(w->ctx, text);
  return w->table->catalog_table ? BL_OK : bl_nomem(err);
}

static bl_status open_in_catalog(opening *w, bl_arena *a, const bl_catalog_options *c, bl_error *err) {
  bl_table_name name;
  BL_TRY(bl_table_name_parse(a, w->address, &name, err));
  bool folders = c->type ? strcmp(c->type, "hadoop") == 0 : !c->uri;
  if (folders && c->warehouse) return open_in_warehouse(w, c->warehouse, &name, err);
  BL_TRY(bl_catalog_connect(w->ctx, w->common->drivers, c, &w->common->catalog, err));
  return open_named(w, &name, w->address, err);
}

static bl_status open_name(opening *w, bl_error *err) {
  bl_arena *a = NULL;
  bl_catalog_options c;
  bool found;
  bl_status st;
  BL_GO(bl_arena_new(w->ctx, &a, err));
  BL_GO(bl_catalog_choose(a, w->o, &c, &found, err));
  if (found) st = open_in_catalog(w, a, &c, err);
  else
    st = bl_fail(err, BL_NOT_FOUND,
                 "no such table: %s: no folder or metadata file of that name, and no catalog is given", w->address);
done:
  bl_arena_free(a);
  return st;
}

/* ---- both ---- */

static bl_status open_table(opening *w, bl_error *err) {
  bool path = strchr(w->address, '/') != NULL;
  if (!*w->address) return bl_fail(err, BL_USAGE, "no table is named: TABLE is empty");
  BL_TRY(bl_io_with_maps(w->ctx, w->common->drivers->io, w->o, &w->io, err));
  if (!path) BL_TRY(w->io->exists(w->io, w->address, &path, err));
  return path ? open_path(w, err) : open_name(w, err);
}

bl_status bl_table_open(bl_ctx *ctx, const char *table, const bl_table_options *o, bl_table **out, bl_error *err) {
  static const bl_table_options defaults = {0};
  opening w = {.ctx = ctx, .address = table, .o = o ? o : &defaults};
  bl_status st;
  *out = NULL;
  BL_GO(bl_table_common_new(ctx, w.o->drivers, &w.common, err));
  BL_GO(open_table(&w, err));
  *out = w.table;
  w.table = NULL;
done:
  if (w.io) w.io->free(w.io);
  bl_table_free(w.table);
  bl_table_common_unref(w.common);
  return st;
}

/* ---- again ---- */

static bl_status open_again(opening *w, const bl_table *t, bl_error *err) {
  bl_arena *a = NULL;
  bl_table_name name;
  w->by_name = t->form == BL_FORM_HADOOP;
  if (!t->catalog) return open_folder(w, t->folder, err);
  BL_TRY(bl_arena_new(w->ctx, &a, err));
  bl_status st = bl_table_name_parse(a, t->catalog_table, &name, err);
  if (st == BL_OK) st = open_named(w, &name, t->catalog_table, err);
  bl_arena_free(a);
  return st;
}

static bl_status compare_location(void *user, const bl_catalog_entry *e, bl_error *err) {
  const bl_table *t = user;
  return strcmp(t->metadata_path, e->metadata_location) == 0 ? BL_OK : bl_fail(err, BL_CONFLICT, "it has moved on");
}

bool bl_table_is_current(const bl_table *t) {
  bl_arena *a = NULL;
  bl_table_name name;
  bl_error ignored = BL_ERROR_INIT;
  if (t->form != BL_FORM_CATALOG || bl_arena_new(t->ctx, &a, &ignored) != BL_OK) return false;
  bl_status st = bl_table_name_parse(a, t->catalog_table, &name, &ignored);
  if (st == BL_OK) st = t->catalog->load(t->catalog, &name, compare_location, (void *)(uintptr_t)t, &ignored);
  bl_arena_free(a);
  return st == BL_OK;
}

bl_status bl_table_reopen(const bl_table *t, bl_table **out, bl_error *err) {
  const bl_table_options o = {.path_maps = (const char *const *)t->path_maps, .n_path_maps = t->n_path_maps};
  opening w = {.ctx = t->ctx, .address = t->name, .o = &o, .common = t->common};
  bl_status st;
  *out = NULL;
  if (t->read_only)
    return bl_fail(err, BL_USAGE, "%s is one version of a table: name the table itself to work on the newest", t->name);
  BL_GO(bl_io_with_maps(w.ctx, w.common->drivers->io, w.o, &w.io, err));
  BL_GO(open_again(&w, t, err));
  *out = w.table;
  w.table = NULL;
done:
  if (w.io) w.io->free(w.io);
  bl_table_free(w.table);
  return st;
}
