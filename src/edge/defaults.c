/* defaults.c: the drivers of this build, see bergline/sys/drivers.h. */
#include "base/alloc.h"
#include "bergline/sys/drivers.h"
#include "edge/arrow/arrow_edge.h"
#include "edge/catalog_fs.h"
#include "edge/catalog_sqlite.h"
#include "edge/data_avro.h"
#include "edge/io_local.h"

static const bl_data_format *const formats[] = {&bl_format_parquet, &bl_format_avro, &bl_format_orc};
static const bl_catalog_driver *const catalogs[] = {&bl_catalog_driver_sqlite, &bl_catalog_driver_fs};

bl_status bl_drivers_default(bl_ctx *ctx, bl_drivers *out, bl_error *err) {
  *out = (bl_drivers){0};
  *out = (bl_drivers){.version = BL_DRIVERS_VERSION,
                      .formats = formats,
                      .n_formats = BL_LEN(formats),
                      .catalogs = catalogs,
                      .n_catalogs = BL_LEN(catalogs)};
  return bl_io_local_new(ctx, &out->io, err);
}

void bl_drivers_dispose(bl_drivers *d) {
  if (d->io) d->io->free(d->io);
  *d = (bl_drivers){0};
}
