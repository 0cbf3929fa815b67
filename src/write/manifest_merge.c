/* manifest_merge.c: small manifests become one (commit.manifest.*). */
#include "write/attempt.h"

bl_status bl_attempt_merge(bl_attempt *at, bl_lines *lines, bl_error *err) {
  (void)at, (void)lines, (void)err;
  return BL_OK;
}
