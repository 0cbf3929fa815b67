/* avro_writer.c: writes Avro object container files into memory (Avro 1.12 specification, "Object Container Files").
 * Records are collected raw and packed into a block once BLOCK bytes are there. */
#include "format/avro.h"
#include "format/avro_codec.h"

enum { SYNC = 16, BLOCK = 64 * 1024 };

struct bl_avro_writer {
  bl_ctx *ctx;
  bl_avro_codec *codec;
  uint8_t sync[SYNC];
  bl_buf record_bytes; /* the block being filled, the open record at its end */
  bl_buf packed;
  bl_buf file;
  int64_t records;
};

void bl_avro_put_long(bl_buf *b, int64_t v) {
  uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
  uint8_t bytes[10];
  size_t n = 0;
  for (; z >= 0x80; z >>= 7) bytes[n++] = (uint8_t)(z | 0x80);
  bytes[n++] = (uint8_t)z;
  bl_buf_add(b, bytes, n);
}

void bl_avro_put_bytes(bl_buf *b, bl_str s) {
  bl_avro_put_long(b, (int64_t)s.n);
  bl_buf_str(b, s);
}

static void put_meta(bl_buf *b, bl_str key, bl_str value) {
  bl_avro_put_bytes(b, key);
  bl_avro_put_bytes(b, value);
}

bl_status bl_avro_writer_new(bl_ctx *ctx, bl_str schema_json, const char *codec, const bl_str *keys,
                             const bl_str *values, size_t n_meta, bl_avro_writer **out, bl_error *err) {
  bl_status st;
  bl_avro_writer *w = bl_calloc(ctx, 1, sizeof *w);
  *out = NULL;
  if (!w) return bl_nomem(err);
  w->ctx = ctx;
  bl_buf_init(&w->record_bytes, ctx, BL_BUF_MAX);
  bl_buf_init(&w->packed, ctx, BL_BUF_MAX);
  bl_buf_init(&w->file, ctx, BL_BUF_MAX);
  BL_GO(bl_avro_codec_new(ctx, bl_str_of(codec), &w->codec, err));
  bl_random(ctx, w->sync, SYNC);
  bl_buf_add(&w->file, "Obj\1", 4);
  bl_avro_put_long(&w->file, (int64_t)n_meta + 2);
  put_meta(&w->file, BL_STR("avro.schema"), schema_json);
  put_meta(&w->file, BL_STR("avro.codec"), bl_str_of(codec));
  for (size_t i = 0; i < n_meta; i++) put_meta(&w->file, keys[i], values[i]);
  bl_avro_put_long(&w->file, 0);
  bl_buf_add(&w->file, w->sync, SYNC);
  BL_GO(bl_buf_ok(&w->file, err));
  *out = w;
  w = NULL;
done:
  bl_avro_writer_free(w);
  return st;
}

bl_buf *bl_avro_writer_record(bl_avro_writer *w) {
  return &w->record_bytes;
}

static bl_status end_block(bl_avro_writer *w, bl_error *err) {
  if (!w->records) return BL_OK;
  bl_buf_clear(&w->packed);
  BL_TRY(bl_avro_pack(w->codec, w->record_bytes.p, w->record_bytes.n, &w->packed, err));
  bl_avro_put_long(&w->file, w->records);
  bl_avro_put_long(&w->file, (int64_t)w->packed.n);
  bl_buf_add(&w->file, w->packed.p, w->packed.n);
  bl_buf_add(&w->file, w->sync, SYNC);
  bl_buf_clear(&w->record_bytes);
  w->records = 0;
  return bl_buf_ok(&w->file, err);
}

bl_status bl_avro_writer_end_record(bl_avro_writer *w, bl_error *err) {
  BL_TRY(bl_buf_ok(&w->record_bytes, err));
  w->records++;
  return w->record_bytes.n >= BLOCK ? end_block(w, err) : BL_OK;
}

bl_status bl_avro_writer_finish(bl_avro_writer *w, bl_buf *out, bl_error *err) {
  BL_TRY(end_block(w, err));
  *out = w->file;
  bl_buf_init(&w->file, w->ctx, 0);
  return BL_OK;
}

void bl_avro_writer_free(bl_avro_writer *w) {
  if (!w) return;
  bl_avro_codec_free(w->codec);
  bl_buf_free(&w->record_bytes);
  bl_buf_free(&w->packed);
  bl_buf_free(&w->file);
  bl_free(w->ctx, w);
}
