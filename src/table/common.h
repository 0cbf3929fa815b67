/* common.h: what the handles of one table share, which are opened from each other: the drivers, the connection to its
 * catalog, and the newest metadata as long as nobody has opened it.
 *
 * 1. It lives until the last handle is freed; its members are set once, by who made it.
 * 2. Metadata is kept by the name of its file only where nobody uses a name again: in catalogs. */
#ifndef BL_TABLE_COMMON_H
#define BL_TABLE_COMMON_H

#include "base/alloc.h"
#include "base/background.h"
#include "bergline/sys/drivers.h"
#include "format/metadata_json.h"

typedef struct bl_table_common {
  bl_drivers own_drivers; /* zeroed: they are the caller's */
  const bl_drivers *drivers;
  bl_catalog *catalog;       /* NULL: a table in a folder, or one version of a table */
  bl_background *background; /* for files that are synced */
  /* private to common.c */
  bl_ctx *ctx;
  void *lock; /* pthread_mutex_t */
  size_t users;
  char *path; /* NULL: no metadata is kept */
  bl_metadata *metadata;
} bl_table_common;

/* For one handle. drivers NULL: the built-in ones. */
bl_status bl_table_common_new(bl_ctx *ctx, const bl_drivers *drivers, bl_table_common **out, bl_error *err) BL_CHECKED;
bl_table_common *bl_table_common_ref(bl_table_common *c);
void bl_table_common_unref(bl_table_common *c); /* NULL allowed */

/* Keep what this process has committed, in place of what was kept: it is then opened without being read. Takes md. */
void bl_table_common_keep(bl_table_common *c, const char *path, bl_metadata *md);
/* The metadata of this file, which is then the caller's; NULL: it is not kept. */
bl_metadata *bl_table_common_take(bl_table_common *c, const char *path);

#endif
