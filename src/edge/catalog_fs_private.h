/* catalog_fs_private.h: what catalog_fs.c and catalog_fs_namespaces.c share. */
#ifndef BL_EDGE_CATALOG_FS_PRIVATE_H
#define BL_EDGE_CATALOG_FS_PRIVATE_H

#include "base/alloc.h"
#include "bergline/sys/catalog.h"

typedef struct fs_catalog {
  bl_catalog c;
  bl_io *io;
  char *warehouse; /* as it was given, without a slash at the end */
  char *root;      /* the same for the operating system */
} fs_catalog;

/* The name of what is on its way out, and of what is not there yet: neither table nor namespace, and no loss. */
#define FS_DROPPED ".dropped-"
#define FS_NEW ".new-"

/* By errno. */
bl_status bl_fs_error(bl_error *err, const char *what, const char *path);
/* root/a/b[/name]; bl_free. BL_USAGE: a part that is no name of a folder. */
bl_status bl_fs_path(const fs_catalog *c, const char *root, const char *const *levels, size_t n, const char *name,
                     char **out, bl_error *err) BL_CHECKED;
/* The folder of a namespace that is there (bl_free); BL_NOT_FOUND. */
bl_status bl_fs_need_namespace(const fs_catalog *c, const char *const *levels, size_t n, char **folder,
                               bl_error *err) BL_CHECKED;
char *bl_fs_above(const fs_catalog *c, const char *folder); /* bl_free; NULL: no memory */
/* A name in `above` that nobody has; bl_free; NULL: no memory. */
char *bl_fs_hidden(const fs_catalog *c, const char *above, const char *prefix);
/* The names in a folder last from now on. What was done to them cannot be taken back: BL_UNKNOWN. */
bl_status bl_fs_sync_names(const fs_catalog *c, const char *above, bl_error *err) BL_CHECKED;
/* Everything below a folder, then the folder. Links are removed, not followed. */
bl_status bl_fs_remove_tree(bl_ctx *ctx, const char *folder, bl_error *err) BL_CHECKED;
/* What is no longer, or never was, a table or a namespace, goes from the folder. */
bl_status bl_fs_remove_leftovers(const fs_catalog *c, const char *folder, bl_error *err) BL_CHECKED;
/* Is it such? name: in the path. */
bool bl_fs_is_leftover(const fs_catalog *c, const char *path, const char *name);

void bl_fs_has_namespaces(bl_catalog *c);

#endif
