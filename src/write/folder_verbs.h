/* folder_verbs.h: names of tables that are their folders (warehouses; table/folder.h): dropped with their files left,
 * registered, renamed. Private to catalog_verbs.c. */
#ifndef BL_WRITE_FOLDER_VERBS_H
#define BL_WRITE_FOLDER_VERBS_H

#include "bergline/table.h"
#include "table/folder.h"

/* The table in the folder is one no more; its files stay. *last (bl_free): by which it can be registered. dry: nothing
 * is done, and *last NULL. BL_NOT_FOUND: there is none; one that was dropped says by which file it is registered, and
 * what a drop left undone is done. BL_UNKNOWN. */
bl_status bl_folder_drop(bl_ctx *ctx, bl_io *io, const char *folder, bool dry, char **last, bl_error *err) BL_CHECKED;
/* What a drop that was cut short left undone. */
bl_status bl_folder_finish_drop(bl_ctx *ctx, bl_io *io, const char *folder, bl_error *err) BL_CHECKED;
/* The name that a metadata file gets, and what leads to it stays; in arena a, p NULL: no memory. */
bl_str bl_folder_new_name(bl_arena *a, bl_str path, bl_str uuid);

/* A metadata file, whose path is absolute, becomes the newest version of the table in the folder. BL_CONFLICT: there is
 * a table already, or one that was dropped, and the file is another's; BL_USAGE: the file's table was moved. */
bl_status bl_folder_register(bl_ctx *ctx, bl_io *io, const char *folder, const char *file, bool dry,
                             bl_error *err) BL_CHECKED;

/* The folder of a table gets another name; its metadata names the old place still (bl_relocate). dry: nothing is done.
 * BL_CONFLICT: something is there; BL_NOT_FOUND: the table, or the folder above the new name; BL_USAGE: its files are
 * in the form of a catalog; BL_UNKNOWN: renamed, but it may not last. */
bl_status bl_folder_rename(bl_ctx *ctx, bl_io *io, const char *from, const char *to, bool dry,
                           bl_error *err) BL_CHECKED;

#endif
