/* avro_rows.h: records of an Avro block appended to Arrow builders. Private to the Avro reader. */
#ifndef BL_EDGE_AVRO_ROWS_H
#define BL_EDGE_AVRO_ROWS_H

#include "edge/avro_tree.h"
#include "rows/arrow_build.h"

typedef struct bl_avro_rows bl_avro_rows;
/* For the chosen leaves (a byte a node of the tree: is it, or part of it, read?). tree is borrowed. */
bl_status bl_avro_rows_new(bl_ctx *ctx, const bl_avro_tree *tree, const uint8_t *chosen, bl_avro_rows **out,
                           bl_error *err) BL_CHECKED;
void bl_avro_rows_free(bl_avro_rows *r);
const struct ArrowSchema *bl_avro_rows_schema(const bl_avro_rows *r);
/* Decode one record and append it. */
bl_status bl_avro_rows_append(bl_avro_rows *r, bl_avro_cursor *c, bl_error *err) BL_CHECKED;
/* Append a record of which nothing was chosen, without decoding it. */
bl_status bl_avro_rows_append_bare(bl_avro_rows *r, bl_error *err) BL_CHECKED;
int64_t bl_avro_rows_count(const bl_avro_rows *r);
size_t bl_avro_rows_size(const bl_avro_rows *r); /* bytes */
bl_status bl_avro_rows_finish(bl_avro_rows *r, struct ArrowArray *out, bl_error *err) BL_CHECKED;

#endif
