/* batch_file.h: batches put into a temporary file and read back in their order, as often as wanted. */
#ifndef BL_WRITE_BATCH_FILE_H
#define BL_WRITE_BATCH_FILE_H

#include "base/alloc.h"
#include "bergline/arrow_c.h"

typedef struct bl_batch_file bl_batch_file;
/* schema: canonical, of all batches; not needed afterwards. */
bl_status bl_batch_file_new(bl_ctx *ctx, const struct ArrowSchema *schema, bl_batch_file **out,
                            bl_error *err) BL_CHECKED;
void bl_batch_file_free(bl_batch_file *f); /* NULL allowed */
bl_status bl_batch_file_add(bl_batch_file *f, struct ArrowArray *batch /* consumed */, bl_error *err) BL_CHECKED;
/* All are there: from now on they are read. */
bl_status bl_batch_file_end(bl_batch_file *f, bl_error *err) BL_CHECKED;
/* The next batch is the first one again. */
bl_status bl_batch_file_rewind(bl_batch_file *f, bl_error *err) BL_CHECKED;
/* out->release NULL at the end. */
bl_status bl_batch_file_next(bl_batch_file *f, struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
