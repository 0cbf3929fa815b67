/* catalog.h: which catalog options name, and opening it through the drivers. */
#ifndef BL_TABLE_CATALOG_H
#define BL_TABLE_CATALOG_H

#include "base/alloc.h"
#include "bergline/table.h"

/* *found false: the options name none, and no configuration does. Strings are the options', or in arena a. */
bl_status bl_catalog_choose(bl_arena *a, const bl_table_options *o, bl_catalog_options *out, bool *found,
                            bl_error *err) BL_CHECKED;
const bl_catalog_driver *bl_catalog_driver_for(const bl_drivers *d, const bl_catalog_options *o); /* NULL */
/* BL_UNSUPPORTED: no driver takes them. */
bl_status bl_catalog_connect(bl_ctx *ctx, const bl_drivers *d, const bl_catalog_options *o, bl_catalog **out,
                             bl_error *err) BL_CHECKED;
/* Is each of its tables a folder in the Hadoop form? */
bool bl_catalog_has_folders(const bl_catalog *c);
/* Why nobody takes these options. */
bl_status bl_catalog_refuse(const bl_catalog_options *o, bl_error *err);

/* "a.b.name" in pieces, in arena a; BL_USAGE. */
bl_status bl_table_name_parse(bl_arena *a, const char *text, bl_table_name *out, bl_error *err) BL_CHECKED;
/* "a.b" in pieces. */
bl_status bl_namespace_parse(bl_arena *a, const char *text, const char *const **levels, size_t *n,
                             bl_error *err) BL_CHECKED;

/* And back: "a.b"; bl_free. */
bl_status bl_namespace_join(bl_ctx *ctx, const char *const *levels, size_t n, char **out, bl_error *err) BL_CHECKED;

/* The drivers' I/O with the path maps of the options. */
bl_status bl_io_with_maps(bl_ctx *ctx, bl_io *io, const bl_table_options *o, bl_io **out, bl_error *err) BL_CHECKED;

#endif
