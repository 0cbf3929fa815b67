/* table.h: an opened table: one version of its metadata and the I/O that its paths go through.
 * 1. Paths in metadata are opaque: they are matched and written byte for byte, and only `io` maps them.
 * 2. A table is read-only after bl_table_open: any thread may use it; arenas are the caller's. */
#ifndef BL_TABLE_TABLE_H
#define BL_TABLE_TABLE_H

#include "base/alloc.h"
#include "bergline/table.h"
#include "format/metadata_json.h"
#include "model/manifest.h"
#include "table/common.h"

typedef enum bl_table_form {
  BL_FORM_HADOOP, /* a folder with vN.metadata.json: written by path */
  BL_FORM_NAMED,  /* a folder with NNNNN-<uuid>.metadata.json: belongs to some catalog */
  BL_FORM_CATALOG /* opened through `catalog` */
} bl_table_form;

struct bl_table {
  bl_ctx *ctx;
  bl_io *io; /* takes paths as the metadata has them */
  bl_metadata *metadata;
  bl_table_form form;
  bool read_only;            /* opened by a metadata file */
  char *name;                /* TABLE as given: for messages */
  char *metadata_path;       /* as the io below takes it (not mapped again) */
  char *root;                /* folder that `location` is mapped to, as the io below takes it; NULL: not mapped */
  int64_t version;           /* N of vN or NNNNN; -1 where the name has none */
  const bl_drivers *drivers; /* common's, as the catalog is */
  bl_catalog *catalog;       /* BL_FORM_CATALOG */
  bl_table_common *common;
  char *catalog_table; /* "ns.name" */
  char *folder;        /* the table's folder as the io below takes it; NULL: not known */
  char **path_maps;    /* "FROM=TO", as it was opened with */
  size_t n_path_maps;
  bl_io *mapped; /* == io where there are maps; private to table.c */
};

/* A table from what address.c found out; takes a part of common, nothing on failure. metadata_path is read through `io`
 * with no map but the options'. folder NULL: the recorded location is not mapped. */
typedef struct bl_table_source {
  const char *name;
  const char *metadata_path;
  const char *folder;
  bl_table_form form;
  int64_t version;
  bool read_only;
} bl_table_source;
bl_status bl_table_load(bl_ctx *ctx, bl_table_common *common, const bl_table_source *src,
                        const bl_table_options *o /* path_maps */, bl_table **out, bl_error *err) BL_CHECKED;

/* Does the catalog still name t's metadata file, whose name nobody uses again? false where that is not known: tables in
 * folders, errors. */
bool bl_table_is_current(const bl_table *t);

/* A read-only table over a metadata document in memory (tasks): paths go through the options' maps. o's drivers NULL:
 * the built-in ones. */
bl_status bl_table_from_metadata(bl_ctx *ctx, const void *json, size_t n, const bl_table_options *o, bl_table **out,
                                 bl_error *err) BL_CHECKED;

/* The path by which `io` reads a file, for messages: that of a table that was moved. A fresh block (bl_free); NULL: no
 * memory. */
char *bl_table_real_path(const bl_table *t, const char *path);
/* A file that was read is wrong: the error begins with that path. st again. */
bl_status bl_table_fail_in(const bl_table *t, bl_str path, bl_status st, bl_error *err);

/* The data format for a file of the table; BL_UNSUPPORTED names it where this build has none. */
bl_status bl_table_data_format(const bl_table *t, bl_file_format f, const bl_data_format **out,
                               bl_error *err) BL_CHECKED;

#endif
