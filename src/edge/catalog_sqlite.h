/* catalog_sqlite.h: catalogs in a SQLite file as Iceberg's JdbcCatalog (schema V0, without iceberg_type, and V1) and
 * PyIceberg's SqlCatalog keep them: tables iceberg_tables and iceberg_namespace_properties.
 *
 * URIs: sqlite:////abs/catalog.db; sqlite:///path/catalog.db, which is /path/catalog.db or, where there is no such
 * file, path/catalog.db here; jdbc:sqlite:PATH, jdbc:sqlite:file:PATH?busy_timeout=MS. Locks of others are waited for,
 * busy_timeout or ten seconds; then the catalog is locked: BL_CONFLICT for a change, of which nothing was made, BL_IO
 * for a look. One file may hold several catalogs: the option `name` picks one, which
 * is only left out where there is just one (a store that is made anew: "default"). Written where the file allows it,
 * each change as one transaction; views are left alone. */
#ifndef BL_EDGE_CATALOG_SQLITE_H
#define BL_EDGE_CATALOG_SQLITE_H

#include "bergline/sys/catalog.h"

extern const bl_catalog_driver bl_catalog_driver_sqlite; /* type "sql" */

#endif
