/* avro_codec.h: the block compressions of Avro files. */
#ifndef BL_FORMAT_AVRO_CODEC_H
#define BL_FORMAT_AVRO_CODEC_H

#include "base/buf.h"

typedef struct bl_avro_codec bl_avro_codec;
/* By the name in "avro.codec": null, deflate, snappy, zstandard; BL_UNSUPPORTED names any other. Not thread-safe: one
 * for each reader or writer. */
bl_status bl_avro_codec_new(bl_ctx *ctx, bl_str name, bl_avro_codec **out, bl_error *err) BL_CHECKED;
void bl_avro_codec_free(bl_avro_codec *c);
bool bl_avro_codec_is_null(const bl_avro_codec *c);
/* Unpack one block, replacing what `out` holds. Not more than out->max bytes: BL_DAMAGED. `position` is the block's in
 * the file, for messages. */
bl_status bl_avro_unpack(bl_avro_codec *c, const uint8_t *p, size_t n, int64_t position, bl_buf *out,
                         bl_error *err) BL_CHECKED;
/* Append the packed form of one block. */
bl_status bl_avro_pack(bl_avro_codec *c, const uint8_t *p, size_t n, bl_buf *out, bl_error *err) BL_CHECKED;

#endif
