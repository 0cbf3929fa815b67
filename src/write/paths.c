/* paths.c: see paths.h. */
#include "write/paths.h"

#include "base/text.h"
#include "table/pathmap.h"

bl_uuid_text bl_new_uuid(bl_ctx *ctx) {
  uint8_t v[16];
  bl_uuid_text out;
  static const char digits[] = "0123456789abcdef";
  bl_random(ctx, v, sizeof v);
  v[6] = (uint8_t)((v[6] & 0x0f) | 0x40);
  v[8] = (uint8_t)((v[8] & 0x3f) | 0x80);
  char *p = out.s;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
    *p++ = digits[v[i] >> 4];
    *p++ = digits[v[i] & 15];
  }
  *p = 0;
  return out;
}

int64_t bl_new_snapshot_id(bl_ctx *ctx, const bl_metadata *md) {
  for (;;) {
    uint64_t r;
    bl_random(ctx, &r, sizeof r);
    int64_t id = (int64_t)(r & INT64_MAX);
    if (id > 0 && !(md && bl_metadata_snapshot(md, id))) return id;
  }
}

bl_str bl_metadata_folder(bl_arena *a, const bl_metadata *md, bool in_folder) {
  bl_str own = in_folder ? BL_STR_NONE : bl_pairs_get(&md->properties, "write.metadata.path");
  bl_str path = bl_path_trim(own.n ? own : md->location);
  return bl_arena_printf(a, "%.*s%s", (int)path.n, path.p, own.n ? "" : "/metadata");
}
