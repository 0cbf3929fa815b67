/* catalog_fs.h: a warehouse folder as a catalog (Iceberg's HadoopCatalog): WAREHOUSE/NS/…/TABLE, where a folder with
 * metadata files in metadata/ is a table, and every other one a namespace. Names that begin with '.' or '_' are
 * neither. Local file systems.
 *
 * Tables move by their own folder (table/folder.h), so commit is NULL. Namespaces have their properties in a hidden
 * file (catalog_fs_namespaces.c). A folder whose newest metadata file is a view's, or whose table was dropped
 * (table/folder.h, 5), is neither table nor namespace. drop removes the folder; what keeps the files is no matter of
 * the catalog's (write/folder_verbs.h). */
#ifndef BL_EDGE_CATALOG_FS_H
#define BL_EDGE_CATALOG_FS_H

#include "bergline/sys/catalog.h"

extern const bl_catalog_driver bl_catalog_driver_fs; /* type "hadoop" */

#endif
