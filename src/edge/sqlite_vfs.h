/* sqlite_vfs.h: what a connection of a catalog does otherwise than SQLite's own way to files. Every call goes on to
 * SQLite's; two things are added:
 *
 * 1. Between arm and disarm, nothing is written to the database before ready has said that it may: it is called once,
 *    by the first write, when SQLite has synced the journal already. So the files of a commit and the journal wait for
 *    the disk at the same time, and yet a power cut, or a reader, never finds a pointer to files that do not last.
 *    Where ready fails the write does, and SQLite takes the transaction back. A database in WAL mode has no such
 *    moment: ready is called by arm.
 * 2. SQLite syncs the folder of each journal that it may have had to create. The folder of one that is kept from
 *    transaction to transaction was synced when it was created, and is not synced again: as long as the name means that
 *    very file, which is held open, so that no other can have its number. */
#ifndef BL_EDGE_SQLITE_VFS_H
#define BL_EDGE_SQLITE_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "bergline/sys/catalog.h"

typedef struct bl_sqlite_vfs {
  bool keeps_journal; /* set by the catalog: the journal will not be removed behind the transaction */
  /* private */
  bl_catalog_ready ready; /* NULL: nothing is waited for */
  bl_status outcome;      /* of ready, where it was called */
  void *user;
  bl_error *err;
  bool has_wal; /* one was opened */
  sqlite3_vfs vfs, *real;
  sqlite3_io_methods methods, real_methods; /* of the database's file */
  bool creates;                             /* the journal in hand was opened to be created where it is not there */
  int journal;                              /* the kept one; -1: none */
  char *journal_path, name[40];
} bl_sqlite_vfs;

/* Opens path through v, which must live as long as the connection. *db: sqlite3_close, also after a failure; then
 * bl_sqlite_vfs_dispose. The result is SQLite's. */
int bl_sqlite_vfs_open(bl_ctx *ctx, bl_sqlite_vfs *v, const char *path, int flags, sqlite3 **db);
/* A transaction that may write has begun; err, which is ready's, must live until it ends. The result is ready's, where
 * it was called. */
bl_status bl_sqlite_vfs_arm(bl_sqlite_vfs *v, bl_catalog_ready ready, void *user, bl_error *err) BL_CHECKED;
/* It has ended. The result is ready's, where it was called, else BL_OK. */
bl_status bl_sqlite_vfs_disarm(bl_sqlite_vfs *v);
void bl_sqlite_vfs_dispose(bl_ctx *ctx, bl_sqlite_vfs *v);

#endif
