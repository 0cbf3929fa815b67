/* defaults.c: the drivers of this build, see bergline/sys/drivers.h. */
#include "base/alloc.h"
#include "bergline/sys/drivers.h"
#include "edge/io_local.h"

bl_status bl_drivers_default(bl_ctx *ctx, bl_drivers *out, bl_error *err) {
  *out = (bl_drivers){.version = BL_DRIVERS_VERSION};
  return bl_io_local_new(ctx, &out->io, err);
}

void bl_drivers_dispose(bl_drivers *d) {
  if (d->io) d->io->free(d->io);
  *d = (bl_drivers){0};
}
