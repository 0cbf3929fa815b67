/* bergline/catalog.h: what a catalog holds, and changes of it. Tables themselves are opened by bl_table_open and made
 * by bl_table_create (NS.NAME and the same options). Namespaces are written with dots between their levels. */
#ifndef BERGLINE_CATALOG_H
#define BERGLINE_CATALOG_H

#include "bergline/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The catalog that the options name (o->drivers must outlive it; NULL: the built-in ones). create: its store is made
 * where it is missing. BL_USAGE: none is named, or one of several; BL_NOT_FOUND: no such catalog, no such file;
 * BL_UNSUPPORTED. End it by bl_catalog_free. */
BL_API bl_status bl_catalog_open(bl_ctx *ctx, const bl_table_options *o, bool create, bl_catalog **out,
                                 bl_error *err) BL_CHECKED;
BL_API void bl_catalog_free(bl_catalog *c); /* NULL allowed */

/* Ordered bytewise; what visit returns is passed on. ns NULL: the tables of all namespaces. Views are left out.
 * BL_NOT_FOUND: no such namespace. */
BL_API bl_status bl_catalog_namespaces(bl_catalog *c, bl_catalog_visit visit, void *user, bl_error *err) BL_CHECKED;
BL_API bl_status bl_catalog_tables(bl_catalog *c, const char *ns, bl_catalog_visit visit, void *user,
                                   bl_error *err) BL_CHECKED;

/* properties: "key=value" each. BL_CONFLICT: it exists; BL_USAGE: a malformed name. */
BL_API bl_status bl_catalog_create_namespace(bl_catalog *c, const char *ns, const char *const *properties, size_t n,
                                             bl_error *err) BL_CHECKED;
/* BL_CONFLICT: a table, a view or a namespace is in it, or the files of a table that was dropped. */
BL_API bl_status bl_catalog_drop_namespace(bl_catalog *c, const char *ns, bl_error *err) BL_CHECKED;
/* What that would refuse; nothing is changed. BL_UNSUPPORTED: the catalog cannot tell. */
BL_API bl_status bl_catalog_check_empty(bl_catalog *c, const char *ns, bl_error *err) BL_CHECKED;
BL_API bl_status bl_catalog_namespace_properties(bl_catalog *c, const char *ns, bl_catalog_pair_visit visit, void *user,
                                                 bl_error *err) BL_CHECKED;
BL_API bl_status bl_catalog_set_namespace(bl_catalog *c, const char *ns, const char *const *set, size_t n_set,
                                          const char *const *unset, size_t n_unset, bl_error *err) BL_CHECKED;

/* BL_NOT_FOUND: no such table or namespace; BL_CONFLICT: the name is taken; BL_UNSUPPORTED: a view. In a warehouse
 * folder the table's folder gets the name, in one step, and its metadata is then written for its new place as
 * bl_relocate does: where that fails, BL_UNKNOWN says that it has its new name, and what ends it. dry_run: no more than
 * what it would be refused for. */
BL_API bl_status bl_catalog_rename(bl_ctx *ctx, const bl_table_options *o, const char *from, const char *to,
                                   bool dry_run, bl_error *err) BL_CHECKED;
/* Give a metadata file a name. BL_CONFLICT: the name is taken, in a warehouse folder also by the files of another table
 * that was dropped; BL_NOT_FOUND: no such file or namespace; BL_UNSUPPORTED: a view's. The file is read first, so that
 * a catalog never names one that is no table's. In a warehouse folder the table is one of its own from then on, which
 * names the files that are there: BL_USAGE where they are not, as it was moved (bl_relocate). dry_run: no more than
 * what it would be refused for. */
BL_API bl_status bl_catalog_register(bl_ctx *ctx, const bl_table_options *o, const char *name,
                                     const char *metadata_file, bool dry_run, bl_error *err) BL_CHECKED;
/* The name goes. purge: then all files that the table's metadata names as well: data, manifests, lists, statistics, and
 * the metadata itself as the last; files that cannot be removed are warnings, and what names them stays. Cut short it
 * is done again on the metadata file, registered; until then the error of a second call (BL_NOT_FOUND) says which it
 * is. Without it they stay, and *left (bl_text_free; left may be NULL) is the metadata file by which the table can be
 * registered, here or in another catalog: the files of a table in a warehouse folder get the names of a catalog's for
 * that, and nothing else is made in their folder. BL_UNSUPPORTED: a view; BL_USAGE: purge where the table says
 * gc.enabled=false; BL_UNKNOWN. dry_run: no more than what it would be refused for. */
BL_API bl_status bl_catalog_drop(bl_ctx *ctx, const bl_table_options *o, const char *name, bool purge, bool dry_run,
                                 char **left, bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
