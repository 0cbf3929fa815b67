/* purge.h: the files of a table that goes: written down while the table is there, removed when its name is gone. */
#ifndef BL_WRITE_PURGE_H
#define BL_WRITE_PURGE_H

#include "table/table.h"

typedef struct bl_purge bl_purge;
/* Write down what the table's metadata names. only_outside: but for what lies in its folder, which goes as a whole.
 * What cannot be read is a warning: its files stay. BL_IO: the temporary folder; BL_NOMEM. */
bl_status bl_purge_new(bl_table *t, bool only_outside, bl_purge **out, bl_error *err) BL_CHECKED;
void bl_purge_run(bl_purge *p);  /* what stays is a warning */
void bl_purge_free(bl_purge *p); /* NULL allowed */

#endif
