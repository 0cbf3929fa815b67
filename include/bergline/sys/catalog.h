/* bergline/sys/catalog.h: where the current metadata file of a named table is kept (plug-in interface; a weaker promise
 * than the rest of include/bergline: check `version`). All functions are thread-safe. Errors name catalog and table. */
#ifndef BERGLINE_SYS_CATALOG_H
#define BERGLINE_SYS_CATALOG_H

#include "bergline/sys/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BL_CATALOG_VERSION 1

/* A table's name: namespace levels, outermost first, and the last part. */
typedef struct bl_table_name {
  const char *const *levels;
  size_t n_levels;
  const char *name;
} bl_table_name;

/* One table as the catalog has it; strings live until the callback returns. */
typedef struct bl_catalog_entry {
  const char *name_space; /* levels joined with "." */
  const char *name;
  const char *metadata_location; /* NULL where the catalog does not say it in a listing */
} bl_catalog_entry;

typedef bl_status (*bl_catalog_visit)(void *user, const bl_catalog_entry *e, bl_error *err);

/* A property of a namespace; strings live until the callback returns. */
typedef struct bl_catalog_pair {
  const char *key, *value;
} bl_catalog_pair;
typedef bl_status (*bl_catalog_pair_visit)(void *user, const bl_catalog_pair *p, bl_error *err);

/* Waits until what a commit names lasts. */
typedef bl_status (*bl_catalog_ready)(void *user, bl_error *err);

typedef struct bl_catalog bl_catalog;
struct bl_catalog {
  int version; /* BL_CATALOG_VERSION */
  bl_ctx *ctx;
  const char *name; /* the catalog's name, for messages; lives as long as the catalog */
  /* must provide */
  /* Calls visit once with metadata_location set. BL_NOT_FOUND: no such table; BL_UNSUPPORTED: a view; BL_USAGE: the
   * store holds several catalogs and none was named; what visit returns is passed on. */
  bl_status (*load)(bl_catalog *c, const bl_table_name *t, bl_catalog_visit visit, void *user, bl_error *err);
  /* Tables of a namespace (n_levels 0: of all), views left out, ordered bytewise by namespace and name. */
  bl_status (*list_tables)(bl_catalog *c, const char *const *levels, size_t n_levels, bl_catalog_visit visit,
                           void *user, bl_error *err);
  /* Every namespace, ordered bytewise; entries have name and metadata_location NULL. */
  bl_status (*list_namespaces)(bl_catalog *c, bl_catalog_visit visit, void *user, bl_error *err);
  void (*free)(bl_catalog *c);
  /* may provide (NULL: not supported) */
  /* Let a table's name mean the metadata file `location` (written and synced by the caller) where it means `base` now;
   * base NULL: a new name. BL_CONFLICT: it means another file by now, or the name is taken; BL_NOT_FOUND: no such
   * table, no such namespace; BL_UNKNOWN: nobody knows whether it was done; after every other failure nothing has
   * changed. NULL while `location` is there: each table is a folder in the Hadoop form, and that is its pointer. */
  bl_status (*commit)(bl_catalog *c, const bl_table_name *t, const char *base, const char *location, bl_error *err);
  /* Where the files of a new table go: visit gets it as value of the key "location". BL_NOT_FOUND: no such namespace;
   * BL_USAGE: no warehouse is given. */
  bl_status (*location)(bl_catalog *c, const bl_table_name *t, bl_catalog_pair_visit visit, void *user, bl_error *err);
  /* The name goes; files stay. BL_NOT_FOUND; BL_UNSUPPORTED: a view. Where each table is a folder, all of the folder
   * goes; names whose files stay, new names, and names for metadata files are then no matter of the catalog's: they are
   * made in the folders (bergline/catalog.h). */
  bl_status (*drop)(bl_catalog *c, const bl_table_name *t, bl_error *err);
  /* BL_NOT_FOUND: no such table or namespace; BL_CONFLICT: the name is taken; BL_UNSUPPORTED: a view. */
  bl_status (*rename)(bl_catalog *c, const bl_table_name *from, const bl_table_name *to, bl_error *err);
  /* Namespaces. BL_CONFLICT: it exists, or is not empty; BL_NOT_FOUND. A property with value NULL is removed. */
  bl_status (*create_namespace)(bl_catalog *c, const char *const *levels, size_t n_levels, const bl_catalog_pair *p,
                                size_t n, bl_error *err);
  bl_status (*drop_namespace)(bl_catalog *c, const char *const *levels, size_t n_levels, bl_error *err);
  bl_status (*namespace_properties)(bl_catalog *c, const char *const *levels, size_t n_levels,
                                    bl_catalog_pair_visit visit, void *user, bl_error *err);
  bl_status (*change_namespace)(bl_catalog *c, const char *const *levels, size_t n_levels, const bl_catalog_pair *p,
                                size_t n, bl_error *err);
  /* As commit, for files that are still on their way to the disk: ready is called once before the store is given
   * anything that says `location`, and not at all where it is given nothing. Where it fails, that is the outcome, and
   * nothing has changed. */
  bl_status (*commit_when)(bl_catalog *c, const bl_table_name *t, const char *base, const char *location,
                           bl_catalog_ready ready, void *user, bl_error *err);
  /* As drop, where the name means the metadata file `base`; BL_CONFLICT: it means another by now. */
  bl_status (*drop_at)(bl_catalog *c, const bl_table_name *t, const char *base, bl_error *err);
  /* What drop_namespace would refuse; nothing is changed. */
  bl_status (*check_empty)(bl_catalog *c, const char *const *levels, size_t n_levels, bl_error *err);
};

/* What a catalog is opened with. Properties are the configuration's other keys (credentials among them: never print).
 */
typedef struct bl_catalog_options {
  const char *name;      /* NULL: not named */
  const char *type;      /* "sql", "rest", "hadoop", … or NULL: told by uri */
  const char *uri;       /* NULL */
  const char *warehouse; /* NULL */
  const char *const *keys, *const *values;
  size_t n_properties;
  bool create;    /* make the store where it is not there yet */
  bool to_change; /* one that another keeps locked is BL_CONFLICT, not BL_IO; so it is when it was changed once */
} bl_catalog_options;

typedef struct bl_catalog_driver {
  int version;      /* BL_CATALOG_VERSION */
  const char *type; /* "sql" */
  /* Does this driver take them (by type, else by uri)? */
  bool (*takes)(const bl_catalog_options *o);
  bl_status (*open)(bl_ctx *ctx, const bl_catalog_options *o, bl_catalog **out, bl_error *err);
} bl_catalog_driver;

#ifdef __cplusplus
}
#endif
#endif
