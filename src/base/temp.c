/* temp.c: see temp.h. */
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bl_status bl_temp_open(bl_ctx *ctx, int *fd, bl_error *err) {
  char *path = bl_asprintf(ctx, "%s/bergline-XXXXXX", ctx->o.temp_dir);
  if (!path) return bl_nomem(err);
  *fd = mkostemp(path, O_CLOEXEC);
  bl_status st = BL_OK;
  if (*fd < 0) st = bl_fail(err, BL_IO, "temporary file: %s: %s", path, strerror(errno));
  else unlink(path);
  bl_free(ctx, path);
  return st;
}

bl_status bl_temp_write(bl_ctx *ctx, int fd, int64_t at, const void *p, size_t n, bl_error *err) {
  const char *from = p;
  while (n > 0) {
    ssize_t k = pwrite(fd, from, n, at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0)
      return bl_fail(err, BL_IO, "temporary file in %s: %s", ctx->o.temp_dir,
                     k < 0 ? strerror(errno) : "nothing was written");
    from += k;
    at += k;
    n -= (size_t)k;
  }
  return BL_OK;
}

bl_status bl_temp_read(bl_ctx *ctx, int fd, int64_t at, void *p, size_t n, bl_error *err) {
  char *to = p;
  while (n > 0) {
    ssize_t k = pread(fd, to, n, at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0)
      return bl_fail(err, BL_IO, "temporary file in %s: %s", ctx->o.temp_dir,
                     k < 0 ? strerror(errno) : "it is shorter than what was written");
    to += k;
    at += k;
    n -= (size_t)k;
  }
  return BL_OK;
}
