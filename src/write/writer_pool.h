/* writer_pool.h: data writers for several threads. Each has a staged change of its own, which is added to the common
 * one at the end, so that threads share nothing but a lock. There are never more writers at work than the rows are
 * worth: few rows make one file. */
#ifndef BL_WRITE_WRITER_POOL_H
#define BL_WRITE_WRITER_POOL_H

#include "write/data_writer.h"

typedef struct bl_writer_pool bl_writer_pool;
/* `into` gets the files (also those of an aborted pool, as written: bl_staged_discard removes them). */
bl_status bl_writer_pool_new(bl_table *t, const bl_data_writer_options *o, bl_staged *into, bl_writer_pool **out,
                             bl_error *err) BL_CHECKED;
/* Rows by whatever writer is free. Thread-safe. batch is consumed. */
bl_status bl_writer_pool_write(bl_writer_pool *p, struct ArrowArray *batch, bl_error *err) BL_CHECKED;
/* A writer for the rows of one part of a file (rows of it stay together), until it is given back. `bytes`: what the
 * part takes in its file; a writer ends its files where they have had enough of them, so that big files are rewritten
 * one by one and only small ones together. NULL without memory. */
typedef struct bl_writer_lane bl_writer_lane;
/* plain: columns (field ids, n of them; copied) whose values were too many for a dictionary before: a new file has none
 * of them either. from: the file whose rows come. Where they keep their order the new files say its sort order, and one
 * that has such an order shares no file with others. */
bl_status bl_writer_pool_take(bl_writer_pool *p, const int32_t *plain, size_t n, const bl_data_file *from,
                              bl_writer_lane **out, bl_error *err) BL_CHECKED;
bl_status bl_writer_lane_write(bl_writer_lane *l, struct ArrowArray *batch /* consumed */, bl_error *err) BL_CHECKED;
bl_status bl_writer_pool_give(bl_writer_pool *p, bl_writer_lane *l, int64_t bytes, bl_error *err) BL_CHECKED;
/* Ends all files and frees p, also on failure. */
bl_status bl_writer_pool_finish(bl_writer_pool *p, bl_error *err) BL_CHECKED;
void bl_writer_pool_abort(bl_writer_pool *p); /* NULL allowed */

#endif
