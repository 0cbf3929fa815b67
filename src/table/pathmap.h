/* pathmap.h: a bl_io that replaces path prefixes before another bl_io sees them (--path-map, moved tables).
 * 1. A prefix matches whole path components: '/t' takes '/t' and '/t/x', never '/tx'.
 * 2. The longest prefix wins, among equals the first. One replacement, never repeated.
 * 3. 'file:/p', 'file:///p', 'file://localhost/p' and '/p' are one path for matching; nothing is decoded.
 * 4. A path that no prefix takes passes byte for byte. */
#ifndef BL_TABLE_PATHMAP_H
#define BL_TABLE_PATHMAP_H

#include "base/alloc.h"
#include "bergline/sys/io.h"

typedef struct bl_path_map {
  bl_str from, to;
} bl_path_map;

/* "FROM=TO" (split at the first '=' that leaves both sides); BL_USAGE. Borrowed. */
bl_status bl_path_map_parse(const char *text, bl_path_map *out, bl_error *err) BL_CHECKED;
/* `below` is borrowed (not freed with the wrapper) where owned is false; maps are copied. */
bl_status bl_io_pathmap_new(bl_ctx *ctx, bl_io *below, bool owned, const bl_path_map *maps, size_t n, bl_io **out,
                            bl_error *err) BL_CHECKED;
/* The maps of an io made by bl_io_pathmap_new, borrowed; returns how many. */
size_t bl_io_pathmap_maps(const bl_io *io, const bl_path_map **out);
/* The path that `below` gets; a fresh block (bl_free); NULL: no memory. */
char *bl_path_map_apply(bl_ctx *ctx, const bl_path_map *maps, size_t n, const char *path);
/* The part of a path behind "file:", "file://" or "file://localhost" where an absolute path follows; else all of it. */
bl_str bl_path_local(bl_str path);
/* A folder without slashes at its end; "/" stays. */
bl_str bl_path_trim(bl_str folder);
/* The folder of a file; "." for a bare name. */
bl_str bl_path_folder(bl_str path);
/* Are two paths one by 3., trailing slashes left out? */
bool bl_path_same(bl_str a, bl_str b);

#endif
