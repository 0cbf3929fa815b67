/* gzip.c: unpacking gzip by content (RFC 1952). See metadata_json.h. The end is checked: a member that ends early, a
 * wrong checksum or length, and bytes behind the last member that are no member are all damage. */
#include <limits.h>
#include <zlib.h>

#include "format/metadata_json.h"

bool bl_is_gzip(const void *p, size_t n) {
  const uint8_t *b = p;
  return n >= 2 && b[0] == 0x1f && b[1] == 0x8b;
}

static voidpf z_alloc(voidpf ctx, uInt items, uInt size) {
  return bl_alloc(ctx, items, size);
}

static void z_free(voidpf ctx, voidpf p) {
  bl_free(ctx, p);
}

typedef struct unpacker {
  z_stream z;
  const uint8_t *p;
  size_t n, at; /* bytes of p that zlib was given */
  size_t max, unpacked;
  bl_buf *out;
  bl_error *err;
  uint8_t chunk[16384];
} unpacker;

static size_t position(const unpacker *u) {
  return u->at - u->z.avail_in;
}

static bl_status damaged(unpacker *u, const char *why) {
  return bl_fail_at(u->err, BL_DAMAGED, (int64_t)position(u), "gzip: byte %zu: %s", position(u), why);
}

static void feed(unpacker *u) {
  size_t left = u->n - u->at;
  if (u->z.avail_in || !left) return;
  u->z.next_in = (Bytef *)(uintptr_t)(u->p + u->at); /* zlib does not write there */
  u->z.avail_in = left > UINT_MAX ? UINT_MAX : (uInt)left;
  u->at += u->z.avail_in;
}

/* One call of inflate, its output taken over within the limit. */
static bl_status step(unpacker *u, int *rc) {
  feed(u);
  u->z.next_out = u->chunk;
  u->z.avail_out = sizeof u->chunk;
  *rc = inflate(&u->z, Z_NO_FLUSH);
  size_t got = sizeof u->chunk - u->z.avail_out;
  if (got > u->max - u->unpacked)
    return bl_fail_at(u->err, BL_DAMAGED, (int64_t)position(u),
                      "gzip: byte %zu: the unpacked size is beyond the limit of %zu bytes", position(u), u->max);
  u->unpacked += got;
  bl_buf_add(u->out, u->chunk, got);
  return bl_buf_ok(u->out, u->err);
}

/* There is always room for output: Z_BUF_ERROR says that the input is at its end. */
static bl_status unpack_member(unpacker *u) {
  for (;;) {
    int rc;
    BL_TRY(step(u, &rc));
    switch (rc) {
    case Z_OK: break;
    case Z_STREAM_END: return BL_OK;
    case Z_BUF_ERROR: return damaged(u, "truncated: the compressed data ends early");
    case Z_MEM_ERROR: return bl_nomem(u->err);
    default: return damaged(u, u->z.msg ? u->z.msg : "the compressed data is damaged");
    }
  }
}

static bl_status unpack_all(unpacker *u) {
  for (;;) {
    BL_TRY(unpack_member(u));
    size_t at = position(u);
    if (at == u->n) return BL_OK;
    if (!bl_is_gzip(u->p + at, u->n - at)) return damaged(u, "bytes behind the end of the compressed data");
    if (inflateReset(&u->z) != Z_OK) return damaged(u, "the next member cannot be read");
  }
}

bl_status bl_gunzip(bl_ctx *ctx, const void *p, size_t n, size_t max, bl_buf *out, bl_error *err) {
  if (!bl_is_gzip(p, n)) {
    if (n > max) return bl_fail(err, BL_DAMAGED, "the size of %zu bytes is beyond the limit of %zu bytes", n, max);
    bl_buf_add(out, p, n);
    return bl_buf_ok(out, err);
  }
  enum { GZIP = 16 };
  unpacker u = {
      .z = {.zalloc = z_alloc, .zfree = z_free, .opaque = ctx}, .p = p, .n = n, .max = max, .out = out, .err = err};
  if (inflateInit2(&u.z, GZIP + MAX_WBITS) != Z_OK) return bl_nomem(err);
  bl_status st = unpack_all(&u);
  inflateEnd(&u.z);
  return st;
}

/* ---- packing ---- */

static bl_status pack(z_stream *z, const uint8_t *p, size_t n, bl_buf *out, bl_error *err) {
  enum { STEP = 1 << 30 };
  uint8_t chunk[16384];
  int rc = Z_OK;
  while (rc != Z_STREAM_END) {
    if (z->avail_in == 0 && n) {
      size_t step = n < STEP ? n : STEP;
      z->next_in = (Bytef *)p;
      z->avail_in = (uInt)step;
      p += step, n -= step;
    }
    z->next_out = chunk;
    z->avail_out = sizeof chunk;
    rc = deflate(z, n ? Z_NO_FLUSH : Z_FINISH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) return bl_fail(err, BL_IO, "gzip: zlib failed (%d)", rc);
    bl_buf_add(out, chunk, sizeof chunk - z->avail_out);
    if (out->failed) break;
  }
  return bl_buf_ok(out, err);
}

bl_status bl_gzip(bl_ctx *ctx, const void *p, size_t n, bl_buf *out, bl_error *err) {
  enum { GZIP = 16 + MAX_WBITS, MEM_LEVEL = 8 };
  z_stream z = {.zalloc = z_alloc, .zfree = z_free, .opaque = ctx};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    return bl_nomem(err);
  bl_status st = pack(&z, p, n, out, err);
  deflateEnd(&z);
  return st;
}
