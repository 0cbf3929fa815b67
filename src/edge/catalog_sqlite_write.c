/* catalog_sqlite_write.c: changes of a catalog in SQLite, as JdbcCatalog and SqlCatalog make them.
 *
 * 1. Every change is one transaction that begins with the right to write, so that no other writer comes between the
 *    look and the change.
 * 2. A transaction that fails before its commit has changed nothing, nor has one whose commit finds the file locked:
 *    SQLite waits for the others first (busy_ms), and takes it back then. One whose commit fails otherwise may have
 *    changed something: BL_UNKNOWN, but where SQLite says that it could not begin to write, or the table is found to be
 *    as it was.
 * 3. A table's pointer moves only from the file that the caller saw (metadata_location is compared in the statement).
 * 4. A namespace is there when a table or a property is in it or below it; one that has neither holds the property
 *    exists=true.
 * 5. A connection's second transaction and those behind it keep their journal: the file stays, with its head cleared,
 *    which is as good as gone to every other user of the catalog. Making and removing a file for each would cost the
 *    disk more than all that is in it. It goes when the connection ends; nothing of it is kept in the catalog's file.
 * 6. Files that a commit names may be on their way to the disk while SQLite's journal is. Nothing of the change is
 *    written to the catalog's file before they last (sqlite_vfs.h, 1): a process that is killed and a power cut before
 *    that leave a journal beside a file that was not touched, and taking that back changes nothing. */
#include <sys/stat.h>

#include "base/buf.h"
#include "edge/catalog_sqlite_private.h"
#include "table/catalog.h"
#include "table/pathmap.h"

/* ---- statements ---- */

static bl_status run(const sqlite_catalog *c, const char *sql, bl_error *err) {
  int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  if (rc == SQLITE_OK) return BL_OK;
  return rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? bl_sqlite_locked(c, BL_CONFLICT, err)
                                                  : bl_sqlite_db_fail(c, rc, err);
}

/* A statement with texts as parameters ?1 …; ?1 is the catalog's name. */
static bl_status query(const sqlite_catalog *c, const char *sql, const char *const *args, size_t n, sqlite3_stmt **out,
                       bl_error *err) {
  BL_TRY(bl_sqlite_prepare(c, sql, out, err));
  BL_TRY(bl_sqlite_bind_text(c, *out, 1, c->catalog, err));
  for (size_t i = 0; i < n; i++) BL_TRY(bl_sqlite_bind_text(c, *out, (int)i + 2, args[i], err));
  return BL_OK;
}

static bl_status change(const sqlite_catalog *c, const char *sql, const char *const *args, size_t n, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bool row;
  bl_status st = query(c, sql, args, n, &q, err);
  if (st == BL_OK) st = bl_sqlite_step(c, q, &row, err);
  sqlite3_finalize(q);
  return st;
}

static bl_status any(const sqlite_catalog *c, const char *sql, const char *const *args, size_t n, bool *yes,
                     bl_error *err) {
  sqlite3_stmt *q = NULL;
  bl_status st = query(c, sql, args, n, &q, err);
  if (st == BL_OK) st = bl_sqlite_step(c, q, yes, err);
  sqlite3_finalize(q);
  return st;
}

/* ---- the journal (5) ---- */

/* Does the pragma answer so? */
static bool journal_is(const sqlite_catalog *c, const char *pragma, const char *mode) {
  sqlite3_stmt *q = NULL;
  bool is = sqlite3_prepare_v2(c->db, pragma, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW &&
            sqlite3_stricmp(bl_sqlite_column(q, 0), mode) == 0;
  sqlite3_finalize(q);
  return is;
}

/* Whoever may write the catalog must be able to open a journal that lies there: SQLite gives it the file's mode, but
 * not always its owner and group. *known false: another has removed it. */
static bool journal_is_for_all(const sqlite_catalog *c, bool *known) {
  struct stat file, journal;
  char *path = bl_asprintf(c->c.ctx, "%s-journal", c->path);
  *known = path && stat(c->path, &file) == 0 && stat(path, &journal) == 0;
  bl_free(c->c.ctx, path);
  return *known && file.st_mode == journal.st_mode && file.st_uid == journal.st_uid && file.st_gid == journal.st_gid;
}

void bl_sqlite_drop_journal(sqlite_catalog *c) {
  bool kept = c->journal == JOURNAL_UNKNOWN || c->journal == JOURNAL_KEPT;
  if (kept) (void)journal_is(c, "PRAGMA journal_mode=DELETE", "delete");
  c->journal = JOURNAL_GOES;
}

/* Between transactions. A file that another has set to another mode stays in it. */
static void keep_journal(sqlite_catalog *c) {
  bool known, fine;
  switch (c->journal) {
  case JOURNAL_SECOND:
    fine = journal_is(c, "PRAGMA journal_mode", "delete") && journal_is(c, "PRAGMA journal_mode=PERSIST", "persist");
    c->journal = fine ? JOURNAL_UNKNOWN : JOURNAL_GOES;
    return;
  case JOURNAL_UNKNOWN:
    fine = journal_is_for_all(c, &known);
    if (fine) c->journal = JOURNAL_KEPT;
    else if (known) bl_sqlite_drop_journal(c);
    return;
  default: return;
  }
}

/* ---- transactions ---- */

static bl_status begin(sqlite_catalog *c, bl_error *err) {
  if (sqlite3_db_readonly(c->db, "main") == 1)
    return bl_fail(err, BL_IO, "cannot write the catalog: %s: the file is read-only", c->path);
  pthread_mutex_lock(&c->lock);
  c->to_change = true; /* what is read from now on is for the next attempt */
  keep_journal(c);
  c->vfs.keeps_journal = c->journal == JOURNAL_UNKNOWN || c->journal == JOURNAL_KEPT;
  bl_status st = run(c, "BEGIN IMMEDIATE", err);
  if (st != BL_OK) pthread_mutex_unlock(&c->lock);
  return st;
}

/* 2. */
static bl_status commit(const sqlite_catalog *c, bl_error *err) {
  int rc = sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL);
  if (rc == SQLITE_OK) return BL_OK;
  if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED) return bl_sqlite_locked(c, BL_CONFLICT, err);
  bool clear = rc == SQLITE_FULL || rc == SQLITE_NOMEM;
  return bl_fail(err, clear ? BL_IO : BL_UNKNOWN, "cannot commit to the catalog: %s: %s", c->path,
                 sqlite3_errmsg(c->db));
}

static bl_status end(sqlite_catalog *c, bl_status st, bl_error *err) {
  if (st == BL_OK) st = commit(c, err);
  if (!sqlite3_get_autocommit(c->db)) (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  bl_status ready = bl_sqlite_vfs_disarm(&c->vfs);
  if (ready != BL_OK) st = ready; /* 6 */
  if (st == BL_OK && c->journal == JOURNAL_FIRST) c->journal = JOURNAL_SECOND;
  pthread_mutex_unlock(&c->lock);
  return st;
}

/* ---- names ---- */

/* A table's name as the columns have it. */
typedef struct sqlite_name {
  char *ns;
  const char *name;
} sqlite_name;

static bl_status name_of(const sqlite_catalog *c, const bl_table_name *t, sqlite_name *out, bl_error *err) {
  out->name = t->name;
  return bl_namespace_join(c->c.ctx, t->levels, t->n_levels, &out->ns, err);
}

#define BELOW(column) "(" column " = ?2 OR substr(" column ", 1, length(?2) + 1) = ?2 || '.')"

/* 4. */
static bl_status namespace_exists(const sqlite_catalog *c, const char *ns, bool *yes, bl_error *err) {
  return any(c,
             "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND " BELOW(
                 "table_namespace") " UNION ALL SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1 "
                                    "AND " BELOW("namespace") " LIMIT 1",
             &ns, 1, yes, err);
}

static bl_status need_namespace(const sqlite_catalog *c, const char *ns, bl_error *err) {
  bool yes;
  BL_TRY(namespace_exists(c, ns, &yes, err));
  return yes ? BL_OK
             : bl_fail(err, BL_NOT_FOUND, "no such namespace: %s: not in catalog %s of %s", ns, c->catalog, c->path);
}

static bl_status need_table(sqlite_catalog *c, const sqlite_name *t, bl_error *err) {
  sqlite_entry e;
  bl_status st = bl_sqlite_entry(c, t->ns, t->name, &e, err);
  if (st == BL_OK) st = bl_sqlite_need_table(c, t->ns, t->name, &e, err);
  bl_sqlite_entry_dispose(c, &e);
  return st;
}

static bl_status need_free_name(sqlite_catalog *c, const sqlite_name *t, bl_error *err) {
  sqlite_entry e;
  bl_status st = bl_sqlite_entry(c, t->ns, t->name, &e, err);
  if (st == BL_OK && e.is_there)
    st = bl_fail(err, BL_CONFLICT, "the name is taken: %s.%s: there is a %s in catalog %s of %s", t->ns, t->name,
                 e.type ? "view" : "table", c->catalog, c->path);
  bl_sqlite_entry_dispose(c, &e);
  return st;
}

/* ---- tables ---- */

static bl_status insert_table(sqlite_catalog *c, const sqlite_name *t, const char *location, bl_error *err) {
  const char *args[] = {t->ns, t->name, location};
  BL_TRY(need_namespace(c, t->ns, err));
  BL_TRY(need_free_name(c, t, err));
  return change(c,
                c->has_type ? "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, "
                              "metadata_location, previous_metadata_location, iceberg_type) VALUES (?1, ?2, ?3, ?4, "
                              "NULL, 'TABLE')"
                            : "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, "
                              "metadata_location, previous_metadata_location) VALUES (?1, ?2, ?3, ?4, NULL)",
                args, 3, err);
}

/* 3. */
static bl_status swap_location(sqlite_catalog *c, const sqlite_name *t, const char *base, const char *location,
                               int *rows, bl_error *err) {
  const char *args[] = {c->catalog, t->ns, t->name, base, location};
  bool row;
  BL_TRY(bl_sqlite_keep(c,
                        "UPDATE iceberg_tables SET metadata_location = ?5, previous_metadata_location = ?4 WHERE "
                        "catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?4",
                        &c->move_table, err));
  bl_status st = BL_OK;
  for (int i = 0; i < (int)BL_LEN(args) && st == BL_OK; i++)
    st = bl_sqlite_bind_text(c, c->move_table, i + 1, args[i], err);
  if (st == BL_OK) st = bl_sqlite_step(c, c->move_table, &row, err);
  if (st == BL_OK) *rows = sqlite3_changes(c->db);
  bl_sqlite_reset(c->move_table);
  return st;
}

static bl_status update_table(sqlite_catalog *c, const sqlite_name *t, const char *base, const char *location,
                              bl_error *err) {
  int rows;
  BL_TRY(need_table(c, t, err));
  BL_TRY(swap_location(c, t, base, location, &rows, err));
  if (rows == 1) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "another has committed to %s.%s: it is no longer at %s", t->ns, t->name, base);
}

/* Is the table as it was before a commit from base? false where nobody knows. */
static bool is_unchanged(const sqlite_catalog *c, const sqlite_name *t, const char *base) {
  const char *args[] = {t->ns, t->name, base};
  bool found;
  bl_status st = any(c,
                     base ? "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND "
                            "table_name = ?3 AND metadata_location = ?4"
                          : "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND "
                            "table_name = ?3",
                     args, base ? 3 : 2, &found, NULL);
  return st == BL_OK && found == (base != NULL);
}

/* 2. */
static bl_status look_again(sqlite_catalog *c, const sqlite_name *t, const char *base, bl_status st, bl_error *err) {
  if (st != BL_UNKNOWN) return st;
  pthread_mutex_lock(&c->lock);
  bool unchanged = is_unchanged(c, t, base);
  pthread_mutex_unlock(&c->lock);
  if (!unchanged) return st;
  if (err) err->status = BL_IO;
  return BL_IO;
}

static bl_status change_table(sqlite_catalog *c, const sqlite_name *t, const char *base, const char *location,
                              bl_error *err) {
  return base ? update_table(c, t, base, location, err) : insert_table(c, t, location, err);
}

/* 6. */
static bl_status sqlite_commit_when(bl_catalog *base_catalog, const bl_table_name *name, const char *base,
                                    const char *location, bl_catalog_ready ready, void *user, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base_catalog;
  sqlite_name t;
  BL_TRY(name_of(c, name, &t, err));
  bl_status st = begin(c, err);
  if (st == BL_OK) {
    if (ready) st = bl_sqlite_vfs_arm(&c->vfs, ready, user, err);
    if (st == BL_OK) st = change_table(c, &t, base, location, err);
    st = end(c, st, err);
  }
  st = look_again(c, &t, base, st, err);
  bl_free(c->c.ctx, t.ns);
  return st;
}

static bl_status sqlite_commit(bl_catalog *c, const bl_table_name *name, const char *base, const char *location,
                               bl_error *err) {
  return sqlite_commit_when(c, name, base, location, NULL, NULL, err);
}

/* base NULL: whatever it means. */
static bl_status delete_table(sqlite_catalog *c, const sqlite_name *t, const char *base, bl_error *err) {
  const char *args[] = {t->ns, t->name, base ? base : ""};
  BL_TRY(need_table(c, t, err));
  BL_TRY(change(c,
                base
                    ? "DELETE FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 "
                      "AND metadata_location = ?4"
                    : "DELETE FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3",
                args, base ? 3 : 2, err));
  if (sqlite3_changes(c->db) == 1) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "another has committed to %s.%s: it is no longer at %s", t->ns, t->name, args[2]);
}

static bl_status sqlite_drop_at(bl_catalog *base_catalog, const bl_table_name *name, const char *base, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base_catalog;
  sqlite_name t;
  BL_TRY(name_of(c, name, &t, err));
  bl_status st = begin(c, err);
  if (st == BL_OK) st = end(c, delete_table(c, &t, base, err), err);
  bl_free(c->c.ctx, t.ns);
  return st;
}

static bl_status sqlite_drop(bl_catalog *c, const bl_table_name *name, bl_error *err) {
  return sqlite_drop_at(c, name, NULL, err);
}

static bl_status rename_table(sqlite_catalog *c, const sqlite_name *from, const sqlite_name *to, bl_error *err) {
  const char *args[] = {from->ns, from->name, to->ns, to->name};
  BL_TRY(need_table(c, from, err));
  BL_TRY(need_namespace(c, to->ns, err));
  BL_TRY(need_free_name(c, to, err));
  return change(c,
                "UPDATE iceberg_tables SET table_namespace = ?4, table_name = ?5 WHERE catalog_name = ?1 AND "
                "table_namespace = ?2 AND table_name = ?3",
                args, 4, err);
}

static bl_status sqlite_rename(bl_catalog *base, const bl_table_name *from, const bl_table_name *to, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_name f = {0}, t = {0};
  bl_status st = name_of(c, from, &f, err);
  if (st == BL_OK) st = name_of(c, to, &t, err);
  if (st == BL_OK) st = begin(c, err);
  if (st == BL_OK) st = end(c, rename_table(c, &f, &t, err), err);
  bl_free(c->c.ctx, f.ns);
  bl_free(c->c.ctx, t.ns);
  return st;
}

/* ---- namespaces ---- */

static bl_status put_property(const sqlite_catalog *c, const char *ns, const char *key, const char *value,
                              bl_error *err) {
  const char *args[] = {ns, key, value};
  BL_TRY(change(c,
                "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2 AND "
                "property_key = ?3",
                args, 2, err));
  if (!value) return BL_OK;
  return change(c,
                "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
                "VALUES (?1, ?2, ?3, ?4)",
                args, 3, err);
}

static bl_status insert_namespace(const sqlite_catalog *c, const char *ns, const bl_catalog_pair *p, size_t n,
                                  bl_error *err) {
  bool yes;
  BL_TRY(namespace_exists(c, ns, &yes, err));
  if (yes) return bl_fail(err, BL_CONFLICT, "the namespace exists: %s in catalog %s of %s", ns, c->catalog, c->path);
  for (size_t i = 0; i < n; i++) BL_TRY(put_property(c, ns, p[i].key, p[i].value, err));
  return put_property(c, ns, "exists", "true", err);
}

static bl_status update_namespace(const sqlite_catalog *c, const char *ns, const bl_catalog_pair *p, size_t n,
                                  bl_error *err) {
  BL_TRY(need_namespace(c, ns, err));
  for (size_t i = 0; i < n; i++) BL_TRY(put_property(c, ns, p[i].key, p[i].value, err));
  return put_property(c, ns, "exists", "true", err);
}

static bl_status need_empty(const sqlite_catalog *c, const char *ns, bl_error *err) {
  bool yes;
  BL_TRY(need_namespace(c, ns, err));
  BL_TRY(
      any(c, "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND " BELOW("table_namespace"), &ns, 1, &yes, err));
  if (!yes)
    BL_TRY(any(c,
               "SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace <> ?2 AND " BELOW(
                   "namespace"),
               &ns, 1, &yes, err));
  return yes ? bl_fail(err, BL_CONFLICT, "the namespace is not empty: %s", ns) : BL_OK;
}

static bl_status delete_namespace(const sqlite_catalog *c, const char *ns, const bl_catalog_pair *p, size_t n,
                                  bl_error *err) {
  (void)p, (void)n;
  BL_TRY(need_empty(c, ns, err));
  return change(c, "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2", &ns, 1, err);
}

typedef bl_status namespace_change(const sqlite_catalog *c, const char *ns, const bl_catalog_pair *p, size_t n,
                                   bl_error *err);

static bl_status in_namespace(bl_catalog *base, const char *const *levels, size_t n_levels, const bl_catalog_pair *p,
                              size_t n, namespace_change *what, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  char *ns;
  BL_TRY(bl_namespace_join(c->c.ctx, levels, n_levels, &ns, err));
  bl_status st = begin(c, err);
  if (st == BL_OK) st = end(c, what(c, ns, p, n, err), err);
  bl_free(c->c.ctx, ns);
  return st;
}

static bl_status sqlite_create_namespace(bl_catalog *c, const char *const *levels, size_t n_levels,
                                         const bl_catalog_pair *p, size_t n, bl_error *err) {
  return in_namespace(c, levels, n_levels, p, n, insert_namespace, err);
}

static bl_status sqlite_change_namespace(bl_catalog *c, const char *const *levels, size_t n_levels,
                                         const bl_catalog_pair *p, size_t n, bl_error *err) {
  return in_namespace(c, levels, n_levels, p, n, update_namespace, err);
}

static bl_status sqlite_drop_namespace(bl_catalog *c, const char *const *levels, size_t n_levels, bl_error *err) {
  return in_namespace(c, levels, n_levels, NULL, 0, delete_namespace, err);
}

static bl_status sqlite_check_empty(bl_catalog *base, const char *const *levels, size_t n_levels, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  char *ns;
  BL_TRY(bl_namespace_join(c->c.ctx, levels, n_levels, &ns, err));
  pthread_mutex_lock(&c->lock);
  bl_status st = need_empty(c, ns, err);
  pthread_mutex_unlock(&c->lock);
  bl_free(c->c.ctx, ns);
  return st;
}

/* Key and value by turns, of a namespace that must be there. */
static bl_status look_at_properties(sqlite_catalog *c, const char *ns, sqlite_rows *out, bl_error *err) {
  sqlite3_stmt *q = NULL;
  bl_status st;
  pthread_mutex_lock(&c->lock);
  BL_GO(need_namespace(c, ns, err));
  BL_GO(query(c,
              "SELECT property_key, property_value FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND "
              "namespace = ?2 AND property_key <> 'exists' AND property_value IS NOT NULL ORDER BY 1",
              &ns, 1, &q, err));
  st = bl_sqlite_rows(c, q, out, err);
done:
  sqlite3_finalize(q);
  pthread_mutex_unlock(&c->lock);
  return st;
}

static bl_status sqlite_namespace_properties(bl_catalog *base, const char *const *levels, size_t n_levels,
                                             bl_catalog_pair_visit visit, void *user, bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_rows r = {0};
  char *ns;
  BL_TRY(bl_namespace_join(c->c.ctx, levels, n_levels, &ns, err));
  bl_status st = look_at_properties(c, ns, &r, err);
  for (size_t i = 0; st == BL_OK && i < r.n; i += 2)
    st = visit(user, &(bl_catalog_pair){r.cells[i], r.cells[i + 1]}, err);
  bl_sqlite_rows_dispose(c, &r);
  bl_free(c->c.ctx, ns);
  return st;
}

/* ---- where tables go ---- */

/* The folder of a namespace: its property location, else below the warehouse. */
static bl_status namespace_folder(const sqlite_catalog *c, const sqlite_rows *properties, const bl_table_name *t,
                                  char **out, bl_error *err) {
  bl_status st;
  for (size_t i = 0; i < properties->n; i += 2) {
    if (strcmp(properties->cells[i], "location") != 0) continue;
    bl_str folder = bl_path_trim(bl_str_of(properties->cells[i + 1]));
    *out = bl_asprintf(c->c.ctx, "%.*s", (int)folder.n, folder.p);
    return *out ? BL_OK : bl_nomem(err);
  }
  if (!c->warehouse) return bl_fail(err, BL_USAGE, "no warehouse is given for catalog %s of %s", c->catalog, c->path);
  bl_buf b;
  bl_buf_init(&b, c->c.ctx, BL_BUF_MAX);
  bl_str warehouse = bl_path_trim(bl_str_of(c->warehouse));
  bl_buf_add(&b, warehouse.p, warehouse.n);
  for (size_t i = 0; i < t->n_levels; i++) bl_buf_printf(&b, "/%s", t->levels[i]);
  bl_buf_byte(&b, 0);
  st = bl_buf_ok(&b, err);
  if (st == BL_OK && !(*out = bl_strdup(c->c.ctx, (const char *)b.p))) st = bl_nomem(err);
  bl_buf_free(&b);
  return st;
}

static bl_status sqlite_location(bl_catalog *base, const bl_table_name *t, bl_catalog_pair_visit visit, void *user,
                                 bl_error *err) {
  sqlite_catalog *c = (sqlite_catalog *)base;
  sqlite_rows r = {0};
  char *ns = NULL, *folder = NULL, *path = NULL;
  bl_status st;
  BL_GO(bl_namespace_join(c->c.ctx, t->levels, t->n_levels, &ns, err));
  BL_GO(look_at_properties(c, ns, &r, err));
  BL_GO(namespace_folder(c, &r, t, &folder, err));
  path = bl_asprintf(c->c.ctx, "%s/%s", folder, t->name);
  if (!path) BL_GO(bl_nomem(err));
  st = visit(user, &(bl_catalog_pair){"location", path}, err);
done:
  bl_sqlite_rows_dispose(c, &r);
  bl_free(c->c.ctx, ns);
  bl_free(c->c.ctx, folder);
  bl_free(c->c.ctx, path);
  return st;
}

void bl_sqlite_can_write(bl_catalog *c) {
  c->commit = sqlite_commit;
  c->commit_when = sqlite_commit_when;
  c->location = sqlite_location;
  c->drop = sqlite_drop;
  c->drop_at = sqlite_drop_at;
  c->rename = sqlite_rename;
  c->create_namespace = sqlite_create_namespace;
  c->drop_namespace = sqlite_drop_namespace;
  c->check_empty = sqlite_check_empty;
  c->namespace_properties = sqlite_namespace_properties;
  c->change_namespace = sqlite_change_namespace;
}
