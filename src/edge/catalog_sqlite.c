/* catalog_sqlite.c: see catalog_sqlite.h. */
#include "edge/catalog_sqlite.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/text.h"
#include "edge/catalog_sqlite_private.h"
#include "table/catalog.h"

#define BUSY_MS 10000

/* ---- statements ---- */

bl_status bl_sqlite_locked(const sqlite_catalog *c, bl_status st, bl_error *err) {
  return bl_fail(err, st, "the catalog is locked: %s: another process has kept it for more than %d ms", c->path,
                 c->busy_ms);
}

bl_status bl_sqlite_db_fail(const sqlite_catalog *c, int rc, bl_error *err) {
  bl_status st = rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT ? BL_DAMAGED : rc == SQLITE_NOMEM ? BL_NOMEM : BL_IO;
  if (st == BL_NOMEM) return bl_nomem(err);
  if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED) return bl_sqlite_locked(c, c->to_change ? BL_CONFLICT : BL_IO, err);
  return bl_fail(err, st, "cannot read the catalog: %s: %s", c->path,
                 c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
}

bl_status bl_sqlite_prepare(const sqlite_catalog *c, const char *sql, sqlite3_stmt **out, bl_error *err) {
  int rc = sqlite3_prepare_v2(c->db, sql, -1, out, NULL);
  return rc == SQLITE_OK ? BL_OK : bl_sqlite_db_fail(c, rc, err);
}

bl_status bl_sqlite_bind_text(const sqlite_catalog *c, sqlite3_stmt *q, int i, const char *s, bl_error *err) {
  int rc = sqlite3_bind_text(q, i, s, -1, SQLITE_TRANSIENT);
  return rc == SQLITE_OK ? BL_OK : bl_sqlite_db_fail(c, rc, err);
}

/* *row: there is a next row. */
bl_status bl_sqlite_step(const sqlite_catalog *c, sqlite3_stmt *q, bool *row, bl_error *err) {
  int rc = sqlite3_step(q);
  *row = rc == SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? BL_OK : bl_sqlite_db_fail(c, rc, err);
}

const char *bl_sqlite_column(sqlite3_stmt *q, int i) {
  return (const char *)sqlite3_column_text(q, i);
}

bl_status bl_sqlite_keep(const sqlite_catalog *c, const char *sql, sqlite3_stmt **kept, bl_error *err) {
  if (*kept) return BL_OK;
  int rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
  return rc == SQLITE_OK ? BL_OK : bl_sqlite_db_fail(c, rc, err);
}

void bl_sqlite_reset(sqlite3_stmt *kept) {
  if (!kept) return;
  sqlite3_reset(kept);
  sqlite3_clear_bindings(kept);
}

static bl_status copy_row(sqlite3_stmt *q, sqlite_rows *out, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(out->a);
  for (int i = 0; i < sqlite3_column_count(q); i++) {
    bool absent = sqlite3_column_type(q, i) == SQLITE_NULL;
    const char *s = bl_sqlite_column(q, i);
    BL_TRY(bl_grow(ctx, &out->cells, &out->cap, out->n, sizeof *out->cells, err));
    out->cells[out->n] = s ? bl_arena_str(out->a, bl_str_of(s)).p : NULL;
    if (!absent && !out->cells[out->n]) return bl_nomem(err);
    out->n++;
  }
  return BL_OK;
}

bl_status bl_sqlite_rows(const sqlite_catalog *c, sqlite3_stmt *q, sqlite_rows *out, bl_error *err) {
  bool row;
  *out = (sqlite_rows){0};
  BL_TRY(bl_arena_new(c->c.ctx, &out->a, err));
  for (;;) {
    BL_TRY(bl_sqlite_step(c, q, &row, err));
    if (!row) return BL_OK;
    BL_TRY(copy_row(q, out, err));
  }
}

void bl_sqlite_rows_dispose(const sqlite_catalog *c, sqlite_rows *r) {
  bl_free(c->c.ctx, r->cells);
  bl_arena_free(r->a);
}

/* ---- tables ---- */

static bl_status copy_column(const sqlite_catalog *c, sqlite3_stmt *q, int i, char **out, bl_error *err) {
  const char *s = bl_sqlite_column(q, i);
  if (!s) return BL_OK;
  *out = bl_strdup(c->c.ctx, s);
  return *out ? BL_OK : bl_nomem(err);
}

bl_status bl_sqlite_entry(sqlite_catalog *c, const char *ns, const char *name, sqlite_entry *out, bl_error *err) {
  bl_status st;
  *out = (sqlite_entry){0};
  BL_GO(bl_sqlite_keep(
      c,
      c->has_type ? "SELECT metadata_location, CASE WHEN iceberg_type <> 'TABLE' COLLATE NOCASE THEN iceberg_type END "
                    "FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3"
                  : "SELECT metadata_location, NULL FROM iceberg_tables WHERE catalog_name = ?1 AND "
                    "table_namespace = ?2 AND table_name = ?3",
      &c->row_of_table, err));
  BL_GO(bl_sqlite_bind_text(c, c->row_of_table, 1, c->catalog, err));
  BL_GO(bl_sqlite_bind_text(c, c->row_of_table, 2, ns, err));
  BL_GO(bl_sqlite_bind_text(c, c->row_of_table, 3, name, err));
  BL_GO(bl_sqlite_step(c, c->row_of_table, &out->is_there, err));
  if (!out->is_there) goto done;
  BL_GO(copy_column(c, c->row_of_table, 0, &out->location, err));
  st = copy_column(c, c->row_of_table, 1, &out->type, err);
done:
  bl_sqlite_reset(c->row_of_table);
  return st;
}

void bl_sqlite_entry_dispose(const sqlite_catalog *c, sqlite_entry *e) {
  bl_free(c->c.ctx, e->location);
  bl_free(c->c.ctx, e->type);
}

bl_status bl_sqlite_need_table(const sqlite_catalog *c, const char *ns, const char *name, const sqlite_entry *e,
                               bl_error *err) {
  if (!e->is_there)
    return bl_fail(err, BL_NOT_FOUND, "no such table: %s.%s: not in catalog %s of %s", ns, name, c->catalog, c->path);
  if (e->type)
    return bl_fail(err, BL_UNSUPPORTED, "not a table: %s.%s: it is a %s in catalog %s of %s", ns, name,
                   sqlite3_stricmp(e->type, "VIEW") == 0 ? "view" : e->type, c->catalog, c->path);
  return BL_OK;
}

/* What is made of the location may take its time, and use the catalog: nothing is held meanwhile. */
static bl_status sqlite_load(bl_catalog *base, const bl_table_name *t, bl_catalog_visit visit, void *user,
                             bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_entry e = {0};
  char *ns = NULL;
  bl_status st;
  BL_GO(bl_namespace_join(c->c.ctx, t->levels, t->n_levels, &ns, err));
  pthread_mutex_lock(&c->lock);
  st = bl_sqlite_entry(c, ns, t->name, &e, err);
  pthread_mutex_unlock(&c->lock);
  if (st == BL_OK) st = bl_sqlite_need_table(c, ns, t->name, &e, err);
  if (st != BL_OK) goto done;
  if (!e.location || !*e.location)
    BL_GO(bl_fail(err, BL_DAMAGED, "catalog %s: %s: %s.%s has no metadata_location", c->catalog, c->path, ns, t->name));
  st = visit(user, &(bl_catalog_entry){ns, t->name, e.location}, err);
done:
  bl_sqlite_entry_dispose(c, &e);
  bl_free(c->c.ctx, ns);
  return st;
}

/* ns "": of all. */
static bl_status rows_of_tables(const sqlite_catalog *c, const char *ns, sqlite_rows *out, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bl_status st;
  BL_GO(bl_sqlite_prepare(c,
                          c->has_type
                              ? "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE "
                                "catalog_name = ?1 AND (?2 = '' OR table_namespace = ?2) AND "
                                "(iceberg_type IS NULL OR iceberg_type = 'TABLE') ORDER BY 1, 2"
                              : "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE "
                                "catalog_name = ?1 AND (?2 = '' OR table_namespace = ?2) ORDER BY 1, 2",
                          &q, err));
  BL_GO(bl_sqlite_bind_text(c, q, 1, c->catalog, err));
  BL_GO(bl_sqlite_bind_text(c, q, 2, ns, err));
  st = bl_sqlite_rows(c, q, out, err);
done:
  sqlite3_finalize(q);
  return st;
}

static bl_status sqlite_list_tables(bl_catalog *base, const char *const *levels, size_t n_levels,
                                    bl_catalog_visit visit, void *user, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_rows r = {0};
  char *ns = NULL;
  BL_TRY(bl_namespace_join(c->c.ctx, levels, n_levels, &ns, err));
  pthread_mutex_lock(&c->lock);
  bl_status st = rows_of_tables(c, ns, &r, err);
  pthread_mutex_unlock(&c->lock);
  for (size_t i = 0; st == BL_OK && i < r.n; i += 3)
    st = visit(user, &(bl_catalog_entry){r.cells[i], r.cells[i + 1], r.cells[i + 2]}, err);
  bl_sqlite_rows_dispose(c, &r);
  bl_free(c->c.ctx, ns);
  return st;
}

static bl_status table_exists(const sqlite_catalog *c, const char *name, bool *out, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bl_status st;
  BL_GO(bl_sqlite_prepare(c, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?1", &q, err));
  BL_GO(bl_sqlite_bind_text(c, q, 1, name, err));
  st = bl_sqlite_step(c, q, out, err);
done:
  sqlite3_finalize(q);
  return st;
}

static bl_status rows_of_namespaces(const sqlite_catalog *c, sqlite_rows *out, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bool properties;
  bl_status st;
  BL_GO(table_exists(c, "iceberg_namespace_properties", &properties, err));
  BL_GO(bl_sqlite_prepare(
      c,
      properties ? "SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?1 UNION SELECT namespace "
                   "FROM iceberg_namespace_properties WHERE catalog_name = ?1 ORDER BY 1"
                 : "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = ?1 ORDER BY 1",
      &q, err));
  BL_GO(bl_sqlite_bind_text(c, q, 1, c->catalog, err));
  st = bl_sqlite_rows(c, q, out, err);
done:
  sqlite3_finalize(q);
  return st;
}

static bl_status sqlite_list_namespaces(bl_catalog *base, bl_catalog_visit visit, void *user, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_rows r = {0};
  pthread_mutex_lock(&c->lock);
  bl_status st = rows_of_namespaces(c, &r, err);
  pthread_mutex_unlock(&c->lock);
  for (size_t i = 0; st == BL_OK && i < r.n; i++) st = visit(user, &(bl_catalog_entry){r.cells[i], NULL, NULL}, err);
  bl_sqlite_rows_dispose(c, &r);
  return st;
}

/* ---- opening ---- */

/* Is the folder of this path there? path comes back as it was. */
static bool has_folder(char *path) {
  struct stat info;
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return true;
  *slash = 0;
  bool there = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  *slash = '/';
  return there;
}

/* sqlite:///path is relative, as SQLAlchemy has it, but three slashes are also written for paths from the root: where
 * that file is there, or none is and only the root has the folder, it is meant. full: "/path". */
static bool is_from_root(char *full) {
  struct stat info;
  if (stat(full, &info) == 0) return true;
  if (stat(full + 1, &info) == 0 || !strchr(full + 1, '/')) return false;
  return has_folder(full) || !has_folder(full + 1);
}

/* ?busy_timeout=MS, as Java's driver takes it. */
static int busy_of(const char *uri) {
  const char *p = strstr(uri, "?busy_timeout=");
  int64_t ms;
  if (!p) p = strstr(uri, "&busy_timeout=");
  if (!p || strncmp(uri, "jdbc:", 5) != 0) return BUSY_MS;
  p += strlen("?busy_timeout=");
  return bl_parse_i64((bl_str){p, strcspn(p, "&")}, &ms) && ms >= 0 && ms <= INT32_MAX ? (int)ms : BUSY_MS;
}

/* The file that a URI means; *out NULL: the URI is not SQLite's. */
static bl_status uri_path(bl_ctx *ctx, const char *uri, char **out, bl_error *err) {
  *out = NULL;
  if (strncmp(uri, "jdbc:sqlite:", 12) == 0) {
    uri += strncmp(uri + 12, "file:", 5) == 0 ? 17 : 12;
    *out = bl_asprintf(ctx, "%.*s", (int)strcspn(uri, "?"), uri);
    return *out ? BL_OK : bl_nomem(err);
  }
  const char *p = strstr(uri, "://");
  if (strncmp(uri, "sqlite", 6) != 0 || !p) return BL_OK;
  p += 3;
  if (*p != '/' || p[1] == 0) return bl_fail(err, BL_USAGE, "wrong catalog URI: sqlite:///PATH is expected");
  p++;
  if (*p != '/') {
    *out = bl_asprintf(ctx, "/%s", p);
    if (!*out) return bl_nomem(err);
    if (is_from_root(*out)) return BL_OK;
    bl_free(ctx, *out);
  }
  *out = bl_strdup(ctx, p);
  return *out ? BL_OK : bl_nomem(err);
}

static bool sqlite_takes(const bl_catalog_options *o) {
  if (!o->uri) return false;
  if (o->type && strcmp(o->type, "sql") != 0 && strcmp(o->type, "jdbc") != 0) return false;
  return strncmp(o->uri, "sqlite:", 7) == 0 || strncmp(o->uri, "sqlite+", 7) == 0 ||
         strncmp(o->uri, "jdbc:sqlite:", 12) == 0;
}

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT "
    "NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location "
    "VARCHAR(1000), iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace "
    "VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, "
    "namespace, property_key));";

/* Opened for writing where the file allows it. */
static bl_status open_file(sqlite_catalog *c, bool create, bl_error *err) {
  struct stat info;
  if (!create && stat(c->path, &info) != 0)
    return bl_fail(err, errno == ENOENT || errno == ENOTDIR ? BL_NOT_FOUND : BL_IO, "cannot open the catalog: %s: %m",
                   c->path);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
  int rc = bl_sqlite_vfs_open(c->c.ctx, &c->vfs, c->path, flags, &c->db);
  if (rc != SQLITE_OK) return bl_sqlite_db_fail(c, rc, err);
  sqlite3_busy_timeout(c->db, c->busy_ms);
  /* The folder is synced when a transaction's journal has gone: a power cut may not bring it back. */
  if ((rc = sqlite3_exec(c->db, "PRAGMA synchronous=EXTRA", NULL, NULL, NULL)) != SQLITE_OK)
    return bl_sqlite_db_fail(c, rc, err);
  if (create && (rc = sqlite3_exec(c->db, schema, NULL, NULL, NULL)) != SQLITE_OK) return bl_sqlite_db_fail(c, rc, err);
  return BL_OK;
}

static bl_status look_for_tables(const sqlite_catalog *c, bl_error *err) {
  bool there;
  BL_TRY(table_exists(c, "iceberg_tables", &there, err));
  if (!there) return bl_fail(err, BL_DAMAGED, "not an Iceberg catalog: %s: no table iceberg_tables", c->path);
  return BL_OK;
}

static bl_status look_for_type(sqlite_catalog *c, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bl_status st;
  BL_GO(bl_sqlite_prepare(c, "SELECT 1 FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'", &q, err));
  st = bl_sqlite_step(c, q, &c->has_type, err);
done:
  sqlite3_finalize(q);
  return st;
}

/* The names of the catalogs in the file, joined for messages; the last one, and whether `wanted` is among them. */
typedef struct catalog_names {
  size_t n;
  bl_buf text;
  char *last;
  bool has_wanted;
} catalog_names;

static bl_status add_name(sqlite_catalog *c, catalog_names *names, const char *s, const char *wanted, bl_error *err) {
  if (names->n++ < 100) bl_buf_printf(&names->text, "%s%s", names->text.n ? ", " : "", s);
  if (wanted && strcmp(s, wanted) == 0) names->has_wanted = true;
  bl_free(c->c.ctx, names->last);
  names->last = bl_strdup(c->c.ctx, s);
  return names->last ? BL_OK : bl_nomem(err);
}

static bl_status collect_names(sqlite_catalog *c, const char *wanted, catalog_names *names, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bool row, properties;
  bl_status st;
  BL_GO(table_exists(c, "iceberg_namespace_properties", &properties, err));
  BL_GO(bl_sqlite_prepare(c,
                          properties ? "SELECT catalog_name FROM iceberg_tables UNION SELECT catalog_name FROM "
                                       "iceberg_namespace_properties ORDER BY 1"
                                     : "SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY 1",
                          &q, err));
  for (;;) {
    BL_GO(bl_sqlite_step(c, q, &row, err));
    if (!row) break;
    if (bl_sqlite_column(q, 0)) BL_GO(add_name(c, names, bl_sqlite_column(q, 0), wanted, err));
  }
  bl_buf_byte(&names->text, 0);
  st = bl_buf_ok(&names->text, err);
done:
  sqlite3_finalize(q);
  return st;
}

/* Pick the catalog in the file: the one named, or the only one. */
static bl_status choose_name(sqlite_catalog *c, const char *wanted, bool create, bl_error *err) {
  catalog_names names = {0};
  bl_status st;
  bl_buf_init(&names.text, c->c.ctx, BL_BUF_MAX);
  BL_GO(collect_names(c, wanted, &names, err));
  const char *text = (const char *)names.text.p;
  if (!wanted && names.n == 0) wanted = "default"; /* nothing is in it, whatever its name */
  if (!wanted && names.n > 1)
    st = bl_fail(err, BL_USAGE, "several catalogs in %s: name one of them (--catalog): %.300s", c->path, text);
  else if (wanted && !names.has_wanted && !create && names.n > 0) /* a store without names is any catalog's */
    st = bl_fail(err, BL_NOT_FOUND, "no such catalog: %s: %s holds %.300s", wanted, c->path, *text ? text : "none");
  if (st != BL_OK) goto done;
  c->catalog = wanted ? bl_strdup(c->c.ctx, wanted) : names.last;
  if (!wanted) names.last = NULL;
  if (!c->catalog) st = bl_nomem(err);
done:
  bl_buf_free(&names.text);
  bl_free(c->c.ctx, names.last);
  return st;
}

/* What has to be known of the file, by one look at it: a transaction around them locks and checks it once. */
static bl_status look_around(sqlite_catalog *c, const bl_catalog_options *o, bl_error *err) {
  int rc = sqlite3_exec(c->db, "BEGIN", NULL, NULL, NULL);
  if (rc != SQLITE_OK) return bl_sqlite_db_fail(c, rc, err);
  bl_status st = look_for_tables(c, err);
  if (st == BL_OK) st = look_for_type(c, err);
  if (st == BL_OK) st = choose_name(c, o->name, o->create, err);
  rc = sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL);
  return st == BL_OK && rc != SQLITE_OK ? bl_sqlite_db_fail(c, rc, err) : st;
}

static void sqlite_free(bl_catalog *base) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite3_finalize(c->row_of_table);
  sqlite3_finalize(c->move_table);
  bl_sqlite_drop_journal(c);
  sqlite3_close(c->db);
  bl_sqlite_vfs_dispose(c->c.ctx, &c->vfs);
  pthread_mutex_destroy(&c->lock);
  bl_free(c->c.ctx, c->path);
  bl_free(c->c.ctx, c->warehouse);
  bl_free(c->c.ctx, c->catalog);
  bl_free(c->c.ctx, c);
}

static bl_status sqlite_open(bl_ctx *ctx, const bl_catalog_options *o, bl_catalog **out, bl_error *err) {
  bl_status st;
  *out = NULL;
  sqlite_catalog *c = bl_calloc(ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  pthread_mutex_init(&c->lock, NULL);
  c->c = (bl_catalog){.version = BL_CATALOG_VERSION,
                      .ctx = ctx,
                      .load = sqlite_load,
                      .list_tables = sqlite_list_tables,
                      .list_namespaces = sqlite_list_namespaces,
                      .free = sqlite_free};
  bl_sqlite_can_write(&c->c);
  c->busy_ms = busy_of(o->uri);
  c->to_change = o->to_change;
  BL_GO(uri_path(ctx, o->uri, &c->path, err));
  if (o->warehouse && !(c->warehouse = bl_strdup(ctx, o->warehouse))) BL_GO(bl_nomem(err));
  BL_GO(open_file(c, o->create, err));
  BL_GO(look_around(c, o, err));
  c->c.name = c->catalog;
  *out = &c->c;
  return BL_OK;
done:
  sqlite_free(&c->c);
  return st;
}

const bl_catalog_driver bl_catalog_driver_sqlite = {BL_CATALOG_VERSION, "sql", sqlite_takes, sqlite_open};
