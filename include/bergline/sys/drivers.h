/* bergline/sys/drivers.h: the implementations of the plug-in interfaces that a table is opened with. */
#ifndef BERGLINE_SYS_DRIVERS_H
#define BERGLINE_SYS_DRIVERS_H

#include "bergline/sys/catalog.h"
#include "bergline/sys/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BL_DRIVERS_VERSION 1

typedef struct bl_drivers {
  int version; /* BL_DRIVERS_VERSION */
  bl_io *io;
  const bl_data_format *const *formats;
  size_t n_formats;
  const bl_catalog_driver *const *catalogs;
  size_t n_catalogs;
} bl_drivers;

/* Those built in: local files, every data format and catalog of this build. BL_NOMEM. */
BL_API bl_status bl_drivers_default(bl_ctx *ctx, bl_drivers *out, bl_error *err) BL_CHECKED;
/* Frees what bl_drivers_default made; a zeroed struct is allowed. */
BL_API void bl_drivers_dispose(bl_drivers *d);

#ifdef __cplusplus
}
#endif
#endif
