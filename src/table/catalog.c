/* catalog.c: see catalog.h and bergline/catalog.h. */
#include "table/catalog.h"

#include "base/buf.h"
#include "bergline/catalog.h"
#include "table/config.h"
#include "table/pathmap.h"

/* ---- names ---- */

/* The parts between the dots; none may be empty. */
static bl_status split(bl_arena *a, const char *text, const char *what, const char ***parts, size_t *n, bl_error *err) {
  bl_str copy = bl_arena_str(a, bl_str_of(text));
  *parts = bl_arena_alloc(a, copy.n + 1, sizeof **parts);
  *n = 0;
  if (!copy.p || !*parts) return bl_nomem(err);
  for (char *p = (char *)copy.p; p;) {
    char *dot = strchr(p, '.');
    if (dot) *dot = 0;
    if (!*p) return bl_fail(err, BL_USAGE, "wrong name: %s: %s is expected", text, what);
    (*parts)[(*n)++] = p;
    p = dot ? dot + 1 : NULL;
  }
  return BL_OK;
}

bl_status bl_table_name_parse(bl_arena *a, const char *text, bl_table_name *out, bl_error *err) {
  const char **parts;
  size_t n;
  BL_TRY(split(a, text, "NAMESPACE.TABLE", &parts, &n, err));
  if (n < 2) return bl_fail(err, BL_USAGE, "wrong table name: %s: NAMESPACE.TABLE is expected", text);
  *out = (bl_table_name){parts, n - 1, parts[n - 1]};
  return BL_OK;
}

bl_status bl_namespace_parse(bl_arena *a, const char *text, const char *const **levels, size_t *n, bl_error *err) {
  const char **parts;
  BL_TRY(split(a, text, "a namespace", &parts, n, err));
  *levels = parts;
  return BL_OK;
}

bl_status bl_namespace_join(bl_ctx *ctx, const char *const *levels, size_t n, char **out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  for (size_t i = 0; i < n; i++) bl_buf_printf(&b, "%s%s", i ? "." : "", levels[i]);
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  *out = st == BL_OK ? bl_strdup(ctx, (const char *)b.p) : NULL;
  bl_buf_free(&b);
  return st == BL_OK && !*out ? bl_nomem(err) : st;
}

/* ---- choosing ---- */

static bl_status choose(bl_arena *a, const bl_table_options *o, bl_catalog_options *out, bool *found, bl_error *err) {
  *found = true;
  if (o->uri || (o->warehouse && !o->catalog)) {
    *out = (bl_catalog_options){.name = o->catalog, .uri = o->uri, .warehouse = o->warehouse};
    return BL_OK;
  }
  BL_TRY(bl_config_catalog(a, o->catalog, out, found, err));
  if (o->warehouse) out->warehouse = o->warehouse;
  if (!*found && o->catalog)
    return bl_fail(err, BL_NOT_FOUND, "no such catalog: %s: no configuration file names it", o->catalog);
  return BL_OK;
}

bl_status bl_catalog_choose(bl_arena *a, const bl_table_options *o, bl_catalog_options *out, bool *found,
                            bl_error *err) {
  BL_TRY(choose(a, o, out, found, err));
  if (*found) out->to_change = o->to_change;
  return BL_OK;
}

const bl_catalog_driver *bl_catalog_driver_for(const bl_drivers *d, const bl_catalog_options *o) {
  for (size_t i = 0; i < d->n_catalogs; i++)
    if (d->catalogs[i]->version == BL_CATALOG_VERSION && d->catalogs[i]->takes(o)) return d->catalogs[i];
  return NULL;
}

bl_status bl_catalog_refuse(const bl_catalog_options *o, bl_error *err) {
  bool folders = o->type ? strcmp(o->type, "hadoop") == 0 : !o->uri;
  if (folders && !o->warehouse)
    return bl_fail(err, BL_USAGE, "catalog %s: neither a uri nor a warehouse is given",
                   o->name ? o->name : "(unnamed)");
  bool sql = o->type && (strcmp(o->type, "sql") == 0 || strcmp(o->type, "jdbc") == 0);
  if (sql && !o->uri)
    return bl_fail(err, BL_USAGE, "catalog %s: a catalog of type %s needs a uri", o->name ? o->name : "(unnamed)",
                   o->type);
  if (o->type && !sql) return bl_fail(err, BL_UNSUPPORTED, "catalogs of type %s: not supported by this build", o->type);
  if (!o->uri) return bl_fail(err, BL_UNSUPPORTED, "catalogs of folders: not supported by this build");
  /* A URI may carry a password: only its scheme is shown. */
  const char *uri = strncmp(o->uri, "jdbc:", 5) == 0 ? o->uri + 5 : o->uri;
  return bl_fail(err, BL_UNSUPPORTED, "catalog URIs with %.*s: not supported by this build", (int)strcspn(uri, ":/@"),
                 uri);
}

bl_status bl_catalog_connect(bl_ctx *ctx, const bl_drivers *d, const bl_catalog_options *o, bl_catalog **out,
                             bl_error *err) {
  const bl_catalog_driver *driver = bl_catalog_driver_for(d, o);
  *out = NULL;
  return driver ? driver->open(ctx, o, out, err) : bl_catalog_refuse(o, err);
}

bool bl_catalog_has_folders(const bl_catalog *c) {
  return !c->commit && c->location;
}

bl_status bl_io_with_maps(bl_ctx *ctx, bl_io *io, const bl_table_options *o, bl_io **out, bl_error *err) {
  bl_path_map *maps = bl_calloc(ctx, o->n_path_maps + 1, sizeof *maps);
  *out = NULL;
  if (!maps) return bl_nomem(err);
  bl_status st = BL_OK;
  for (size_t i = 0; i < o->n_path_maps && st == BL_OK; i++) st = bl_path_map_parse(o->path_maps[i], &maps[i], err);
  if (st == BL_OK) st = bl_io_pathmap_new(ctx, io, false, maps, o->n_path_maps, out, err);
  bl_free(ctx, maps);
  return st;
}

/* ---- the public calls ---- */

bl_status bl_catalog_open(bl_ctx *ctx, const bl_table_options *o, bool create, bl_catalog **out, bl_error *err) {
  bl_arena *a = NULL;
  bl_catalog_options c;
  bl_drivers own = {0};
  bool found;
  bl_status st;
  *out = NULL;
  BL_GO(bl_arena_new(ctx, &a, err));
  if (!o->drivers) BL_GO(bl_drivers_default(ctx, &own, err));
  BL_GO(bl_catalog_choose(a, o, &c, &found, err));
  if (!found) BL_GO(bl_fail(err, BL_USAGE, "no catalog is named: --catalog NAME, --uri URI or --warehouse DIR"));
  c.create = create;
  st = bl_catalog_connect(ctx, o->drivers ? o->drivers : &own, &c, out, err);
done:
  bl_drivers_dispose(&own); /* the catalog needs none once it is open */
  bl_arena_free(a);
  return st;
}

void bl_catalog_free(bl_catalog *c) {
  if (c) c->free(c);
}

bl_status bl_catalog_namespaces(bl_catalog *c, bl_catalog_visit visit, void *user, bl_error *err) {
  return c->list_namespaces(c, visit, user, err);
}

static bl_status unsupported(const bl_catalog *c, const char *what, bl_error *err) {
  return bl_fail(err, BL_UNSUPPORTED, "cannot %s: catalog %s does not support it", what, c->name);
}

/* What a call needs of a namespace's name; freed with the arena. */
typedef struct name_space {
  bl_arena *a;
  const char *const *levels;
  size_t n;
} name_space;

static bl_status parse_namespace(bl_ctx *ctx, const char *ns, name_space *out, bl_error *err) {
  *out = (name_space){0};
  BL_TRY(bl_arena_new(ctx, &out->a, err));
  return ns ? bl_namespace_parse(out->a, ns, &out->levels, &out->n, err) : BL_OK;
}

/* Was anything visited, and was it this namespace or one inside it? */
typedef struct watched {
  bl_catalog_visit visit; /* NULL: only look */
  void *user;
  bl_str ns;
  bool any, seen;
} watched;

static bl_status watch(void *user, const bl_catalog_entry *e, bl_error *err) {
  watched *w = user;
  bl_str ns = bl_str_of(e->name_space);
  w->any = true;
  if (bl_str_starts(ns, w->ns) && (ns.n == w->ns.n || ns.p[w->ns.n] == '.')) w->seen = true;
  return w->visit ? w->visit(w->user, e, err) : BL_OK;
}

static bl_status list_of(bl_catalog *c, const char *ns, const name_space *s, bl_catalog_visit visit, void *user,
                         bl_error *err) {
  watched w = {visit, user, bl_str_of(ns), false, false};
  BL_TRY(c->list_tables(c, s->levels, s->n, watch, &w, err));
  if (w.any) return BL_OK;
  w.visit = NULL;
  BL_TRY(c->list_namespaces(c, watch, &w, err));
  return w.seen ? BL_OK : bl_fail(err, BL_NOT_FOUND, "no such namespace: %s: not in catalog %s", ns, c->name);
}

bl_status bl_catalog_tables(bl_catalog *c, const char *ns, bl_catalog_visit visit, void *user, bl_error *err) {
  name_space s;
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = ns ? list_of(c, ns, &s, visit, user, err) : c->list_tables(c, s.levels, s.n, visit, user, err);
  bl_arena_free(s.a);
  return st;
}

/* "key=value" each; removed ones have no value. */
static bl_status pairs(bl_arena *a, const char *const *set, size_t n_set, const char *const *unset, size_t n_unset,
                       bl_catalog_pair **out, bl_error *err) {
  bl_catalog_pair *p = *out = bl_arena_alloc(a, n_set + n_unset, sizeof *p);
  if (!p) return bl_nomem(err);
  for (size_t i = 0; i < n_set; i++) {
    bl_str copy = bl_arena_str(a, bl_str_of(set[i]));
    if (!copy.p) return bl_nomem(err);
    char *eq = strchr((char *)copy.p, '=');
    if (!eq || eq == copy.p) return bl_fail(err, BL_USAGE, "wrong property: %s: KEY=VALUE is expected", set[i]);
    *eq = 0;
    p[i] = (bl_catalog_pair){copy.p, eq + 1};
  }
  for (size_t i = 0; i < n_unset; i++) p[n_set + i] = (bl_catalog_pair){unset[i], NULL};
  return BL_OK;
}

bl_status bl_catalog_create_namespace(bl_catalog *c, const char *ns, const char *const *properties, size_t n,
                                      bl_error *err) {
  name_space s;
  bl_catalog_pair *p;
  if (!c->create_namespace) return unsupported(c, "create a namespace", err);
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = pairs(s.a, properties, n, NULL, 0, &p, err);
  if (st == BL_OK) st = c->create_namespace(c, s.levels, s.n, p, n, err);
  bl_arena_free(s.a);
  return st;
}

bl_status bl_catalog_drop_namespace(bl_catalog *c, const char *ns, bl_error *err) {
  name_space s;
  if (!c->drop_namespace) return unsupported(c, "drop a namespace", err);
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = c->drop_namespace(c, s.levels, s.n, err);
  bl_arena_free(s.a);
  return st;
}

bl_status bl_catalog_check_empty(bl_catalog *c, const char *ns, bl_error *err) {
  name_space s;
  if (!c->check_empty) return unsupported(c, "tell whether a namespace is empty", err);
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = c->check_empty(c, s.levels, s.n, err);
  bl_arena_free(s.a);
  return st;
}

bl_status bl_catalog_namespace_properties(bl_catalog *c, const char *ns, bl_catalog_pair_visit visit, void *user,
                                          bl_error *err) {
  name_space s;
  if (!c->namespace_properties) return unsupported(c, "show properties of a namespace", err);
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = c->namespace_properties(c, s.levels, s.n, visit, user, err);
  bl_arena_free(s.a);
  return st;
}

bl_status bl_catalog_set_namespace(bl_catalog *c, const char *ns, const char *const *set, size_t n_set,
                                   const char *const *unset, size_t n_unset, bl_error *err) {
  name_space s;
  bl_catalog_pair *p;
  if (!c->change_namespace) return unsupported(c, "change a namespace", err);
  bl_status st = parse_namespace(c->ctx, ns, &s, err);
  if (st == BL_OK) st = pairs(s.a, set, n_set, unset, n_unset, &p, err);
  if (st == BL_OK) st = c->change_namespace(c, s.levels, s.n, p, n_set + n_unset, err);
  bl_arena_free(s.a);
  return st;
}
