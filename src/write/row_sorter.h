/* row_sorter.h: rows of many batches in the order of keys, stable, in bounded memory: what is over the budget goes to
 * temporary files as sorted runs, which are merged.
 *
 * 1. A run is a sequence of sorted batches. A batch that comes in is sorted by itself and is a run.
 * 2. Runs are kept in the order in which their rows came in; equal keys come out in that order.
 * 3. When the runs in memory pass the budget they are merged into one in a file; when MOST runs of one level lie in
 *    files, those are merged into one of the next level.
 * 4. Runs that are kept are there until the sorter is freed: those in files and those in memory (within the budget). */
#ifndef BL_WRITE_ROW_SORTER_H
#define BL_WRITE_ROW_SORTER_H

#include "rows/arrow_share.h"

/* Writes the key of each row of a batch: keys one after the other into out, ends[i] = bytes in out after row i.
 * A key's first four bytes are its group, big-endian: output batches are of one group. */
typedef bl_status (*bl_row_keys)(void *user, const struct ArrowArray *batch, bl_buf *out, uint32_t *ends,
                                 bl_error *err);

typedef struct bl_row_sorter bl_row_sorter;
/* schema is borrowed. budget: bytes of batches held. */
bl_status bl_row_sorter_new(bl_ctx *ctx, const struct ArrowSchema *schema, int64_t budget, bl_row_keys keys, void *user,
                            bl_row_sorter **out, bl_error *err) BL_CHECKED;
void bl_row_sorter_free(bl_row_sorter *s); /* NULL allowed */
bl_status bl_row_sorter_add(bl_row_sorter *s, struct ArrowArray *batch /* consumed */, bl_error *err) BL_CHECKED;
/* Then next. keep: bl_row_sorter_rewind is possible; else what has come out is freed. */
bl_status bl_row_sorter_finish(bl_row_sorter *s, bool keep, bl_error *err) BL_CHECKED;
/* All rows come once more, wherever the last time ended: the runs are merged anew. */
bl_status bl_row_sorter_rewind(bl_row_sorter *s, bl_error *err) BL_CHECKED;
/* At most 65,536 rows of one group; out->release NULL at the end. */
bl_status bl_row_sorter_next(bl_row_sorter *s, struct ArrowArray *out, uint32_t *group, bl_error *err) BL_CHECKED;

#endif
