/* config.h: catalogs by name from configuration files (YAML, PyIceberg's keys):
 *
 *     catalog:
 *       prod:
 *         type: sql
 *         uri: sqlite:////data/catalog.db
 *         warehouse: /data/wh
 *
 * Files, the first that names the catalog counts: $BERGLINE_CONFIG alone where it is set; else ./.bergline.yaml,
 * ~/.bergline.yaml, $PYICEBERG_HOME/.pyiceberg.yaml, ~/.pyiceberg.yaml, ./.pyiceberg.yaml. Values may be credentials:
 * no message ever holds one. */
#ifndef BL_TABLE_CONFIG_H
#define BL_TABLE_CONFIG_H

#include "base/alloc.h"
#include "bergline/sys/catalog.h"

/* name NULL: the default catalog ("default-catalog" of the file, else the one named "default"). *found false: no file
 * names it. Everything is in arena a; nested keys are joined with ".". BL_USAGE: a file that is no YAML or not of this
 * shape (file and line); BL_NOT_FOUND: $BERGLINE_CONFIG is not there; BL_IO. */
bl_status bl_config_catalog(bl_arena *a, const char *name, bl_catalog_options *out, bool *found,
                            bl_error *err) BL_CHECKED;
/* The same from one YAML text; `file` is for messages. */
bl_status bl_config_parse(bl_arena *a, const char *file, const void *p, size_t n, const char *name,
                          bl_catalog_options *out, bool *found, bl_error *err) BL_CHECKED;

#endif
