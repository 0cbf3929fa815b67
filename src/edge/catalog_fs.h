/* catalog_fs.h: a warehouse folder as a catalog (Iceberg's HadoopCatalog): WAREHOUSE/NS/…/TABLE, where a folder with
 * metadata files in metadata/ is a table, and every other one a namespace. Names that begin with '.' or '_' are
 * neither. Local file systems.
 *
 * Tables move by their own folder (table/folder.h), so commit is NULL. Namespaces have their properties in a hidden
 * file (catalog_fs_namespaces.c). Tables are neither renamed nor registered: BL_UNSUPPORTED, as with Iceberg's own. */
#ifndef BL_EDGE_CATALOG_FS_H
#define BL_EDGE_CATALOG_FS_H

#include "bergline/sys/catalog.h"

extern const bl_catalog_driver bl_catalog_driver_fs; /* type "hadoop" */

#endif
