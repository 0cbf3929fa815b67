/* catalog_sqlite_private.h: what catalog_sqlite.c and catalog_sqlite_write.c share. */
#ifndef BL_EDGE_CATALOG_SQLITE_PRIVATE_H
#define BL_EDGE_CATALOG_SQLITE_PRIVATE_H

#include <pthread.h>

#include "base/alloc.h"
#include "edge/sqlite_vfs.h"

/* What becomes of the journal behind a transaction (catalog_sqlite_write.c, 5). */
typedef enum sqlite_journal {
  JOURNAL_FIRST,   /* nothing was committed yet: it goes */
  JOURNAL_SECOND,  /* from the next transaction on it is to be kept */
  JOURNAL_UNKNOWN, /* it is kept; whether all who may write the catalog can open it was not seen yet */
  JOURNAL_KEPT,
  JOURNAL_GOES
} sqlite_journal;

typedef struct sqlite_catalog {
  bl_catalog c;
  sqlite3 *db;
  bl_sqlite_vfs vfs;    /* of db */
  pthread_mutex_t lock; /* a connection has one transaction at a time, whose changes it shows to all, a kept statement
                           one user */
  bool has_type;        /* schema V1: the column iceberg_type */
  int busy_ms;          /* how long locks of others are waited for */
  bool to_change;       /* it is read for a change, of which nothing was done: told if another keeps it locked */
  sqlite3_stmt *row_of_table, *move_table; /* kept from their first use on */
  sqlite_journal journal;
  char *path;
  char *catalog;   /* the value of catalog_name */
  char *warehouse; /* NULL: none was given */
} sqlite_catalog;

/* Another keeps the file locked, for longer than is waited: nothing was changed. st: what that means for the caller. */
bl_status bl_sqlite_locked(const sqlite_catalog *c, bl_status st, bl_error *err);
bl_status bl_sqlite_db_fail(const sqlite_catalog *c, int rc, bl_error *err);
bl_status bl_sqlite_prepare(const sqlite_catalog *c, const char *sql, sqlite3_stmt **out, bl_error *err) BL_CHECKED;
bl_status bl_sqlite_bind_text(const sqlite_catalog *c, sqlite3_stmt *q, int i, const char *s, bl_error *err) BL_CHECKED;
/* *row: there is a next row. */
bl_status bl_sqlite_step(const sqlite_catalog *c, sqlite3_stmt *q, bool *row, bl_error *err) BL_CHECKED;
const char *bl_sqlite_column(sqlite3_stmt *q, int i);
/* Prepare *kept where it is not yet. What was bound goes with bl_sqlite_reset. */
bl_status bl_sqlite_keep(const sqlite_catalog *c, const char *sql, sqlite3_stmt **kept, bl_error *err) BL_CHECKED;
void bl_sqlite_reset(sqlite3_stmt *kept); /* NULL allowed */

/* The rows of a query, copied: what is made of them may take its time, and use the catalog. */
typedef struct sqlite_rows {
  bl_arena *a;
  const char **cells; /* row by row; NULL: no text */
  size_t n, cap;
} sqlite_rows;
/* *out: bl_sqlite_rows_dispose, after a failure too. */
bl_status bl_sqlite_rows(const sqlite_catalog *c, sqlite3_stmt *q, sqlite_rows *out, bl_error *err) BL_CHECKED;
void bl_sqlite_rows_dispose(const sqlite_catalog *c, sqlite_rows *r);

/* What has a table's name. */
typedef struct sqlite_entry {
  bool is_there;
  char *location; /* NULL: there is none */
  char *type;     /* NULL: a table */
} sqlite_entry;
/* By the kept statement: c->lock is the caller's. *out: bl_sqlite_entry_dispose, after a failure too. */
bl_status bl_sqlite_entry(sqlite_catalog *c, const char *ns, const char *name, sqlite_entry *out,
                          bl_error *err) BL_CHECKED;
void bl_sqlite_entry_dispose(const sqlite_catalog *c, sqlite_entry *e);
/* BL_NOT_FOUND: nothing has the name; BL_UNSUPPORTED: a view has it. */
bl_status bl_sqlite_need_table(const sqlite_catalog *c, const char *ns, const char *name, const sqlite_entry *e,
                               bl_error *err) BL_CHECKED;

/* Set the members of the vtable that change the catalog. */
void bl_sqlite_can_write(bl_catalog *c);
/* Remove the journal that was kept. */
void bl_sqlite_drop_journal(sqlite_catalog *c);

#endif
