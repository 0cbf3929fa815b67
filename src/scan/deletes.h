/* deletes.h: delete files read: positions as sets, equality deletes as one hash table over all files that were added.
 *
 * 1. Which deletes apply is decided by delete_index.h alone: equality look-ups take the list of files that apply to a
 * data file, so one table serves several snapshots at once.
 * 2. Equality is docs/changelog.md C4's: null equals null; a key inside a null struct is null.
 * 3. Key columns are read by id with the newest type any schema has for them; columns that the file lacks read as their
 * initial default or null. */
#ifndef BL_SCAN_DELETES_H
#define BL_SCAN_DELETES_H

#include "format/puffin.h"
#include "scan/delete_index.h"
#include "scan/open_file.h"

typedef struct bl_deletes bl_deletes;
/* env is borrowed. */
bl_status bl_deletes_new(const bl_reading *env, bl_deletes **out, bl_error *err) BL_CHECKED;
void bl_deletes_free(bl_deletes *d); /* NULL allowed */

/* Positions that a vector or position deletes take from a data file, as a set of the caller's; *out NULL where there
 * are none. Thread-safe; position delete files are read once. BL_DAMAGED: framing, CRC, cardinality, a blob outside its
 * file. */
bl_status bl_deletes_positions(bl_deletes *d, const bl_data_file *data, const bl_file_deletes *fd, bl_posset **out,
                               bl_error *err) BL_CHECKED;

/* The data files that a position delete file names, each once, as bl_path_key has them; path is the visitor's for the
 * call. */
bl_status bl_deletes_targets(bl_deletes *d, const bl_manifest_entry *e,
                             bl_status (*visit)(void *user, bl_str path, bl_error *err), void *user,
                             bl_error *err) BL_CHECKED;

/* Name the equality delete files that will be asked for, then load them all (on the ctx's threads) before any look-up.
 */
bl_status bl_deletes_need(bl_deletes *d, const bl_file_deletes *fd, bl_error *err) BL_CHECKED;
bl_status bl_deletes_load(bl_deletes *d, bl_error *err) BL_CHECKED;
/* keep[side][i] = 0 for rows of the group that an equality delete in fd[side] takes; sides are looked up in one reading
 * of the key columns. Thread-safe after loading. */
bl_status bl_deletes_equality(bl_deletes *d, const bl_open_file *f, const bl_file_deletes *const *fd,
                              uint8_t *const *keep, size_t n_sides, size_t group, bl_error *err) BL_CHECKED;

#endif
