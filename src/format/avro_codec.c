/* avro_codec.c: null, deflate (raw, RFC 1951), snappy followed by the big-endian CRC-32 of the raw bytes, zstandard
 * (Avro 1.12 specification, "Required Codecs", "Optional Codecs").
 *
 * Invariants
 *  1. Nothing is allocated by a length that the data claims unless the packed bytes could give it: deflate and
 *     zstandard grow as bytes come out, snappy gives at most MOST_SNAPPY times its input.
 *  2. Nothing past the end of a compressed stream is ignored. */
#include "format/avro_codec.h"

#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

enum { MOST_SNAPPY = 64, MOST_ZSTD = 40000 /* 128 KiB for a repeated byte in a block of 4 */, STEP = 64 * 1024 };

typedef enum codec_kind { CODEC_NULL, CODEC_DEFLATE, CODEC_SNAPPY, CODEC_ZSTD } codec_kind;

struct bl_avro_codec {
  bl_ctx *ctx;
  codec_kind kind;
  z_stream inflate, deflate;
  bool can_inflate;
  int deflate_bits; /* of its window; 0: there is none yet */
  ZSTD_DCtx *zstd;
};

bl_status bl_avro_codec_new(bl_ctx *ctx, bl_str name, bl_avro_codec **out, bl_error *err) {
  static const char *const names[] = {"null", "deflate", "snappy", "zstandard"};
  size_t kind = 0;
  while (kind < BL_LEN(names) && !bl_str_is(name, names[kind])) kind++;
  if (kind == BL_LEN(names)) return bl_fail(err, BL_UNSUPPORTED, "Avro codec %.*s", BL_STR_ARG(name));
  bl_avro_codec *c = *out = bl_calloc(ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  c->ctx = ctx;
  c->kind = (codec_kind)kind;
  return BL_OK;
}

void bl_avro_codec_free(bl_avro_codec *c) {
  if (!c) return;
  if (c->can_inflate) inflateEnd(&c->inflate);
  if (c->deflate_bits) deflateEnd(&c->deflate);
  ZSTD_freeDCtx(c->zstd);
  bl_free(c->ctx, c);
}

bool bl_avro_codec_is_null(const bl_avro_codec *c) {
  return c->kind == CODEC_NULL;
}

/* ---- helpers ---- */

static void *z_alloc(void *ctx, uInt n, uInt size) {
  return bl_alloc(ctx, n, size);
}

static void z_free(void *ctx, void *p) {
  bl_free(ctx, p);
}

static bl_status broken(bl_error *err, int64_t position, const char *why) {
  return bl_fail_at(err, BL_DAMAGED, position, "byte %lld: compressed block: %s", (long long)position, why);
}

/* Room for more output; the limit is the buffer's. */
static bl_status room(bl_buf *out, size_t n, int64_t position, bl_error *err) {
  if (n > out->max - out->n && out->max - out->n > 0) n = out->max - out->n;
  if (out->n >= out->max)
    return bl_fail_at(err, BL_DAMAGED, position, "byte %lld: compressed block: unpacks to more than %zu bytes",
                      (long long)position, out->max);
  return bl_buf_reserve(out, n) ? BL_OK : bl_nomem(err);
}

/* ---- deflate ---- */

static bl_status ready_inflate(bl_avro_codec *c, bl_error *err) {
  if (c->can_inflate) {
    inflateReset(&c->inflate);
    return BL_OK;
  }
  c->inflate = (z_stream){.zalloc = z_alloc, .zfree = z_free, .opaque = c->ctx};
  if (inflateInit2(&c->inflate, -MAX_WBITS) != Z_OK) return bl_nomem(err);
  c->can_inflate = true;
  return BL_OK;
}

/* PyIceberg cuts its blocks out of a zlib stream and leaves a part of that stream's Adler-32 behind the deflate data.
 */
static bool is_checksum_rest(const uint8_t *p, size_t n, const uint8_t *data, size_t n_data) {
  if (n == 0) return true;
  if (n > 4) return false;
  uint32_t sum = (uint32_t)adler32_z(adler32_z(0, NULL, 0), data, n_data);
  for (size_t i = 0; i < n; i++)
    if (p[i] != (uint8_t)(sum >> (24 - 8 * i))) return false;
  return true;
}

static bl_status unpack_deflate(bl_avro_codec *c, const uint8_t *p, size_t n, int64_t position, bl_buf *out,
                                bl_error *err) {
  BL_TRY(ready_inflate(c, err));
  z_stream *z = &c->inflate;
  int rc = Z_OK;
  size_t step = n > STEP ? n : STEP, start = out->n;
  z->next_in = (Bytef *)(uintptr_t)p;
  z->avail_in = 0;
  while (rc != Z_STREAM_END) {
    if (!z->avail_in) {
      size_t left = n - (size_t)(z->next_in - p);
      z->avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
    }
    BL_TRY(room(out, step, position, err));
    size_t free_n = out->cap - out->n;
    z->next_out = out->p + out->n;
    z->avail_out = free_n > UINT32_MAX ? UINT32_MAX : (uInt)free_n;
    uInt before = z->avail_out;
    bool had_input = z->avail_in > 0;
    rc = inflate(z, Z_NO_FLUSH);
    out->n += before - z->avail_out;
    if (rc == Z_MEM_ERROR) return bl_nomem(err);
    if (rc == Z_BUF_ERROR && !had_input) return broken(err, position, "deflate data end too early");
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) return broken(err, position, "no deflate data");
  }
  size_t used = (size_t)(z->next_in - p);
  if (!is_checksum_rest(p + used, n - used, out->p + start, out->n - start))
    return broken(err, position, "bytes after the end of the deflate data");
  return BL_OK;
}

/* A window that holds the block is all that is of use for it: most manifests are small, and a quarter of a megabyte of
 * tables would have to be cleared for each. */
static bl_status ready_deflate(bl_avro_codec *c, size_t n, bl_error *err) {
  enum { LEAST_WBITS = 10 };
  z_stream *z = &c->deflate;
  int bits = LEAST_WBITS;
  while (bits < MAX_WBITS && (size_t)1 << bits < n) bits++;
  if (bits <= c->deflate_bits) {
    deflateReset(z);
    return BL_OK;
  }
  if (c->deflate_bits) deflateEnd(z);
  c->deflate_bits = 0;
  *z = (z_stream){.zalloc = z_alloc, .zfree = z_free, .opaque = c->ctx};
  int memory = bits - 6 < 8 ? bits - 6 : 8; /* all symbols of a small block in one */
  if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -bits, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    return bl_nomem(err);
  c->deflate_bits = bits;
  return BL_OK;
}

static bl_status pack_deflate(bl_avro_codec *c, const uint8_t *p, size_t n, bl_buf *out, bl_error *err) {
  z_stream *z = &c->deflate;
  if (n > UINT32_MAX / 2) return bl_fail(err, BL_USAGE, "Avro block of %zu bytes", n);
  BL_TRY(ready_deflate(c, n, err));
  uLong bound = deflateBound(z, (uLong)n);
  uint8_t *to = bl_buf_reserve(out, bound);
  if (!to) return bl_nomem(err);
  z->next_in = (Bytef *)(uintptr_t)p;
  z->avail_in = (uInt)n;
  z->next_out = to;
  z->avail_out = (uInt)bound;
  if (deflate(z, Z_FINISH) != Z_STREAM_END) return bl_fail(err, BL_USAGE, "Avro block: deflate did not finish");
  out->n += bound - z->avail_out;
  return BL_OK;
}

/* ---- snappy ---- */

static uint32_t be32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t crc_of(const uint8_t *p, size_t n) {
  return (uint32_t)crc32_z(0, p, n);
}

static bl_status unpack_snappy(const uint8_t *p, size_t n, int64_t position, bl_buf *out, bl_error *err) {
  size_t raw;
  if (n < 4) return broken(err, position, "too short for snappy data and their CRC");
  n -= 4;
  if (snappy_uncompressed_length((const char *)p, n, &raw) != SNAPPY_OK || raw / MOST_SNAPPY > n)
    return broken(err, position, "no snappy data");
  if (raw > out->max)
    return bl_fail_at(err, BL_DAMAGED, position, "byte %lld: compressed block: unpacks to more than %zu bytes",
                      (long long)position, out->max);
  if (!bl_buf_reserve(out, raw)) return bl_nomem(err);
  if (snappy_uncompress((const char *)p, n, (char *)out->p, &raw) != SNAPPY_OK)
    return broken(err, position, "no snappy data");
  out->n = raw;
  if (crc_of(out->p, raw) != be32(p + n)) return broken(err, position, "the CRC-32 of the unpacked bytes is wrong");
  return BL_OK;
}

static bl_status pack_snappy(const uint8_t *p, size_t n, bl_buf *out, bl_error *err) {
  size_t bound = snappy_max_compressed_length(n);
  uint8_t *to = bl_buf_reserve(out, bound + 4);
  if (!to) return bl_nomem(err);
  if (snappy_compress((const char *)p, n, (char *)to, &bound) != SNAPPY_OK)
    return bl_fail(err, BL_USAGE, "Avro block: snappy failed");
  uint32_t crc = crc_of(p, n);
  for (int i = 0; i < 4; i++) to[bound + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
  out->n += bound + 4;
  return BL_OK;
}

/* ---- zstandard ---- */

/* One frame whose size is stated and possible: no window has to be kept. */
static bool unpack_zstd_at_once(bl_avro_codec *c, const uint8_t *p, size_t n, bl_buf *out) {
  unsigned long long size = ZSTD_getFrameContentSize(p, n);
  if (size > out->max || size / MOST_ZSTD > n || ZSTD_findFrameCompressedSize(p, n) != n) return false;
  if (!bl_buf_reserve(out, (size_t)size)) return false;
  size_t got = ZSTD_decompressDCtx(c->zstd, out->p, (size_t)size, p, n);
  if (ZSTD_isError(got)) return false;
  out->n = got;
  return true;
}

static bl_status unpack_zstd(bl_avro_codec *c, const uint8_t *p, size_t n, int64_t position, bl_buf *out,
                             bl_error *err) {
  if (!c->zstd && !(c->zstd = ZSTD_createDCtx())) return bl_nomem(err);
  if (unpack_zstd_at_once(c, p, n, out)) return BL_OK;
  bl_buf_clear(out);
  ZSTD_DCtx_reset(c->zstd, ZSTD_reset_session_only);
  ZSTD_inBuffer in = {p, n, 0};
  size_t want = 1;
  while (in.pos < in.size || want) {
    BL_TRY(room(out, STEP, position, err));
    ZSTD_outBuffer to = {out->p, out->cap < out->max ? out->cap : out->max, out->n};
    size_t before = in.pos + to.pos;
    want = ZSTD_decompressStream(c->zstd, &to, &in);
    if (ZSTD_isError(want)) return broken(err, position, ZSTD_getErrorName(want));
    out->n = to.pos;
    if (want && in.pos + to.pos == before && to.pos < to.size)
      return broken(err, position, "zstandard data end too early");
  }
  return BL_OK;
}

static bl_status pack_zstd(const uint8_t *p, size_t n, bl_buf *out, bl_error *err) {
  size_t bound = ZSTD_compressBound(n);
  uint8_t *to = bl_buf_reserve(out, bound);
  if (!to) return bl_nomem(err);
  size_t got = ZSTD_compress(to, bound, p, n, ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(got)) return bl_fail(err, BL_NOMEM, "Avro block: %s", ZSTD_getErrorName(got));
  out->n += got;
  return BL_OK;
}

/* ---- by name ---- */

bl_status bl_avro_unpack(bl_avro_codec *c, const uint8_t *p, size_t n, int64_t position, bl_buf *out, bl_error *err) {
  bl_buf_clear(out);
  switch (c->kind) {
  case CODEC_DEFLATE: return unpack_deflate(c, p, n, position, out, err);
  case CODEC_SNAPPY: return unpack_snappy(p, n, position, out, err);
  case CODEC_ZSTD: return unpack_zstd(c, p, n, position, out, err);
  default: bl_buf_add(out, p, n); return bl_buf_ok(out, err);
  }
}

bl_status bl_avro_pack(bl_avro_codec *c, const uint8_t *p, size_t n, bl_buf *out, bl_error *err) {
  switch (c->kind) {
  case CODEC_DEFLATE: return pack_deflate(c, p, n, out, err);
  case CODEC_SNAPPY: return pack_snappy(p, n, out, err);
  case CODEC_ZSTD: return pack_zstd(p, n, out, err);
  default: bl_buf_add(out, p, n); return bl_buf_ok(out, err);
  }
}
