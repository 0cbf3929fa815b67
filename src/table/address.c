/* address.c: TABLE and its options -> an opened table (bergline(1), ADDRESSES). */
#include "table/catalog.h"
#include "table/locate.h"
#include "table/pathmap.h"
#include "table/table.h"

typedef struct opening {
  bl_ctx *ctx;
  const char *address;
  const bl_table_options *o;
  const bl_drivers *drivers;
  bl_io *io; /* with the maps that were asked for */
  bl_table *table;
  char *location;    /* the metadata file that a catalog named last */
  bool named, moved; /* it named one; not the one before */
} opening;

/* A metadata file may be removed between being found and being read, where others commit and old versions go: then it
 * is looked for again, as long as there is another each time. */
enum { MOST_TRIES = 100 };

/* ---- by path ---- */

static bl_status load(opening *w, const bl_table_source *src, bl_error *err) {
  return bl_table_load(w->ctx, w->drivers, src, w->o, &w->table, err);
}

static bl_str last_part(bl_str path) {
  size_t n = path.n;
  while (n && path.p[n - 1] != '/') n--;
  return (bl_str){path.p + n, path.n - n};
}

static bool ends_with(bl_str s, const char *end) {
  size_t n = strlen(end);
  return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* The table folder of F/metadata/FILE: "F"; p NULL where the file lies in no folder "metadata". */
static bl_str folder_of_metadata(bl_str path) {
  bl_str file = last_part(path);
  bl_str metadata = {path.p, path.n - file.n};
  if (!ends_with(metadata, "metadata/")) return BL_STR_NONE;
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

static bl_status load_located(opening *w, const char *folder, const bl_located *at, bl_error *err) {
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
  bl_free(w->ctx, last);
  return st == BL_OK ? BL_OK : bl_fail_at(err, st, why.position, "%s", why.message);
}

static bl_status open_path(opening *w, bl_error *err) {
  bl_str s = bl_path_trim(bl_str_of(w->address));
  if (ends_with(s, ".json") || ends_with(s, ".json.gz")) return open_metadata_file(w, w->address, BL_FORM_HADOOP, err);
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

static bl_status open_named(opening *w, bl_catalog *catalog, const bl_table_name *name, bl_error *err) {
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
  return st == BL_OK ? BL_OK : bl_fail_at(err, st, why.position, "%s", why.message);
}

static bl_status open_through(opening *w, const bl_catalog_driver *driver, const bl_catalog_options *c,
                              const bl_table_name *name, bl_error *err) {
  bl_catalog *catalog = NULL;
  BL_TRY(driver->open(w->ctx, c, &catalog, err));
  bl_status st = open_named(w, catalog, name, err);
  if (st == BL_OK) {
    w->table->catalog = catalog;
    catalog = NULL;
    w->table->catalog_table = bl_strdup(w->ctx, w->address);
    if (!w->table->catalog_table) st = bl_nomem(err);
  }
  if (catalog) catalog->free(catalog);
  return st;
}

static bl_status open_in_catalog(opening *w, bl_arena *a, const bl_catalog_options *c, bl_error *err) {
  bl_table_name name;
  BL_TRY(bl_table_name_parse(a, w->address, &name, err));
  bool folders = c->type ? strcmp(c->type, "hadoop") == 0 : !c->uri;
  if (folders && c->warehouse) return open_in_warehouse(w, c->warehouse, &name, err);
  const bl_catalog_driver *driver = bl_catalog_driver_for(w->drivers, c);
  return driver ? open_through(w, driver, c, &name, err) : bl_catalog_refuse(c, err);
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
  BL_TRY(bl_io_with_maps(w->ctx, w->drivers->io, w->o, &w->io, err));
  if (!path) BL_TRY(w->io->exists(w->io, w->address, &path, err));
  return path ? open_path(w, err) : open_name(w, err);
}

bl_status bl_table_open(bl_ctx *ctx, const char *table, const bl_table_options *o, bl_table **out, bl_error *err) {
  static const bl_table_options defaults = {0};
  bl_drivers own = {0};
  opening w = {.ctx = ctx, .address = table, .o = o ? o : &defaults};
  bl_status st = BL_OK;
  *out = NULL;
  w.drivers = w.o->drivers;
  if (!w.drivers) {
    BL_GO(bl_drivers_default(ctx, &own, err));
    w.drivers = &own;
  }
  BL_GO(open_table(&w, err));
  if (w.drivers == &own) { /* the table keeps them */
    w.table->own_drivers = own;
    w.table->drivers = &w.table->own_drivers;
    own = (bl_drivers){0};
  }
  *out = w.table;
  w.table = NULL;
done:
  if (w.io) w.io->free(w.io);
  bl_table_free(w.table);
  bl_drivers_dispose(&own);
  return st;
}

/* ---- again ---- */

static bl_status refresh_in_catalog(opening *w, const bl_table *t, bl_error *err) {
  bl_arena *a = NULL;
  bl_table_name name;
  BL_TRY(bl_arena_new(w->ctx, &a, err));
  bl_status st = bl_table_name_parse(a, t->catalog_table, &name, err);
  if (st == BL_OK) st = open_named(w, t->catalog, &name, err);
  if (st == BL_OK) {
    w->table->catalog = t->catalog;
    w->table->catalog_table = bl_strdup(w->ctx, t->catalog_table);
    if (!w->table->catalog_table) st = bl_nomem(err);
  }
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

bl_status bl_table_refresh(const bl_table *t, bl_table **out, bl_error *err) {
  const bl_table_options o = {.path_maps = (const char *const *)t->path_maps, .n_path_maps = t->n_path_maps};
  opening w = {.ctx = t->ctx, .address = t->name, .o = &o, .drivers = t->drivers};
  bl_status st;
  *out = NULL;
  if (t->read_only)
    return bl_fail(err, BL_USAGE, "%s is one version of a table: name the table itself to work on the newest", t->name);
  BL_GO(bl_io_with_maps(w.ctx, w.drivers->io, w.o, &w.io, err));
  st = t->catalog ? refresh_in_catalog(&w, t, err) : open_folder(&w, t->folder, err);
  if (w.table) w.table->shares_catalog = true;
  if (st != BL_OK) goto done;
  *out = w.table;
  w.table = NULL;
done:
  if (w.io) w.io->free(w.io);
  bl_table_free(w.table);
  return st;
}
