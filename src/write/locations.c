/* locations.c: see locations.h. */
#include "write/locations.h"

#include "model/partition.h"
#include "table/pathmap.h"
#include "write/properties.h"

/* ---- the table's ---- */

static bl_status refuse(const bl_pairs *p, const char *key, const char *why, bl_error *err) {
  return bl_fail(err, BL_UNSUPPORTED, "property %s: \"%.*s\": %s", key, BL_STR_ARG(bl_pairs_get(p, key)), why);
}

static bl_status refuse_others(const bl_pairs *p, bool hashed, bl_error *err) {
  static const char impl[] = "write.location-provider.impl";
  static const char *const old[] = {"write.folder-storage.path", "write.object-storage.path"};
  bl_str own = bl_pairs_get(p, "write.data.path");
  if (bl_pairs_get(p, impl).p) return refuse(p, impl, "classes cannot be loaded", err);
  for (size_t i = 0; !own.n && i < (hashed ? 2 : 1); i++)
    if (bl_pairs_get(p, old[i]).p)
      return refuse(p, old[i], "it is no longer gone by; write.data.path takes its place", err);
  return BL_OK;
}

static bl_status folder_of(bl_arena *a, const bl_metadata *md, bl_str *out, bl_error *err) {
  bl_str own = bl_pairs_get(&md->properties, "write.data.path"), path = bl_path_trim(own.n ? own : md->location);
  *out = bl_arena_printf(a, "%.*s%s", (int)path.n, path.p, own.n ? "" : "/data");
  return out->p ? BL_OK : bl_nomem(err);
}

/* What stands behind scheme and host. */
static bl_str below_host(bl_str location) {
  size_t at = 0;
  for (size_t i = 0; i < location.n && location.p[i] != '/'; i++)
    if (location.p[i] == ':') at = i + 1;
  bl_str rest = {location.p + at, location.n - at};
  if (!bl_str_starts(rest, BL_STR("//"))) return rest;
  for (at = 2; at < rest.n && rest.p[at] != '/'; at++) {
  }
  return (bl_str){rest.p + at, rest.n - at};
}

/* The last name of a path, which is cut off with its slashes; n 0: there is none. */
static bl_str last_name(bl_str *path) {
  while (path->n && path->p[path->n - 1] == '/') path->n--;
  size_t at = path->n;
  while (at && path->p[at - 1] != '/') at--;
  bl_str name = {path->p + at, path->n - at};
  path->n = at;
  return name;
}

static bl_status context_of(bl_arena *a, const bl_metadata *md, bl_locations *l, bl_error *err) {
  bl_str path = below_host(md->location), table, database;
  if (bl_str_starts(l->folder, bl_path_trim(md->location))) return BL_OK;
  table = last_name(&path);
  database = last_name(&path);
  l->context =
      bl_arena_printf(a, "%.*s%s%.*s", BL_STR_ARG(database), database.n && table.n ? "/" : "", BL_STR_ARG(table));
  return l->context.p ? BL_OK : bl_nomem(err);
}

bl_status bl_locations_of(bl_arena *a, const bl_metadata *md, bl_locations *out, bl_error *err) {
  const bl_pairs *p = &md->properties;
  *out = (bl_locations){.hashed = bl_property_bool(p, "write.object-storage.enabled", false),
                        .partitioned = bl_property_bool(p, "write.object-storage.partitioned-paths", true)};
  BL_TRY(refuse_others(p, out->hashed, err));
  BL_TRY(folder_of(a, md, &out->folder, err));
  return out->hashed ? context_of(a, md, out, err) : BL_OK;
}

/* ---- a file's ---- */

static void add_hash(bl_buf *out, const void *p, size_t n) {
  uint32_t h = (uint32_t)bl_murmur3(p, n);
  for (int bit = 19; bit >= 0; bit--) {
    bl_buf_byte(out, (uint8_t)('0' + (h >> bit & 1)));
    if (bit == 16 || bit == 12 || bit == 8) bl_buf_byte(out, '/');
  }
}

void bl_location_print(bl_buf *out, const bl_locations *l, bl_str partition, bl_str name) {
  bl_buf rest;
  bl_buf_init(&rest, out->ctx, BL_BUF_MAX);
  if (partition.n && (!l->hashed || l->partitioned)) {
    bl_buf_str(&rest, partition);
    bl_buf_byte(&rest, '/');
  }
  bl_buf_str(&rest, name);
  bl_buf_str(out, l->folder);
  bl_buf_byte(out, '/');
  if (l->hashed) {
    add_hash(out, rest.p, rest.n);
    bl_buf_byte(out, l->partitioned || l->context.n ? '/' : '-');
    bl_buf_str(out, l->context);
    if (l->context.n) bl_buf_byte(out, '/');
  }
  bl_buf_add(out, rest.p, rest.n);
  if (rest.failed) out->failed = true;
  bl_buf_free(&rest);
}
