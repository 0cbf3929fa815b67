/* pointer.h: the moment of a commit: the table's current metadata file becomes another one. */
#ifndef BL_WRITE_POINTER_H
#define BL_WRITE_POINTER_H

#include "format/json.h"
#include "table/io.h"
#include "table/table.h"

/* May the table be written at all? BL_USAGE: opened by metadata file; a folder that belongs to a catalog.
 * BL_UNSUPPORTED: its catalog or its I/O is read-only. */
bl_status bl_pointer_check(const bl_table *t, bl_error *err) BL_CHECKED;
/* How the log of the new document calls the base's metadata file, in arena a. p NULL: no memory. */
bl_str bl_pointer_name(bl_arena *a, const bl_table *base, const bl_json *doc);

/* Make doc the metadata of the table that `base` shows, which must still be the current version. What is written is
 * read back as metadata first: a document that breaks the format never becomes current (BL_DAMAGED). In a catalog that
 * is kept for who opens the new version through base's connection. `before`: files that the document names; they are
 * synced first.
 * What a move that is reported as failed has done is looked for: where the table has the very file, it is done.
 * BL_CONFLICT: another was faster; BL_NOT_FOUND: the table was dropped; BL_UNKNOWN: nobody knows, and the new file is
 * still there. After every other failure nothing has changed, and it is gone. */
bl_status bl_pointer_move(const bl_table *base, const bl_json *doc, bl_unsynced *before, bl_error *err) BL_CHECKED;

/* Does a catalog's name mean this metadata file? false where that is not known. */
bool bl_pointer_is_at(bl_catalog *c, const bl_table_name *name, const char *path);

/* Bytes of a metadata document, gzip where write.metadata.compression-codec asks for it (*gzip), into `out`, which is
 * empty. *read: what they say; read may be NULL. */
bl_status bl_metadata_bytes(bl_ctx *ctx, const bl_json *doc, bl_buf *out, bool *gzip, bl_metadata **read,
                            bl_error *err) BL_CHECKED;
/* Write a new metadata file of a table in a catalog: <folder>/NNNNN-<uuid>.metadata.json. *path: bl_free. later: it is
 * not synced, but added there; NULL: synced at once. */
bl_status bl_metadata_write(bl_ctx *ctx, bl_io *io, const char *folder, int64_t version, const void *p, size_t n,
                            bool gzip, bl_unsynced *later, char **path, bl_error *err) BL_CHECKED;

#endif
