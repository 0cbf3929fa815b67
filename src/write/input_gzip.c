/* input_gzip.c: files of rows that are packed with gzip (RFC 1952), by their first bytes: what they hold goes to a
 * temporary file, since readers read at any place. Members one after the other are one file, as gzip has it. */
#include <zlib.h>

#include "bergline/input.h"
#include "format/metadata_json.h"

typedef struct packed {
  z_stream z;
  bl_input *in;
  int64_t at; /* bytes that zlib was given */
  bool ended; /* the member in hand */
  uint8_t chunk[1 << 16];
} packed;

static voidpf z_alloc(voidpf ctx, uInt items, uInt size) {
  return bl_alloc(ctx, items, size);
}

static void z_free(voidpf ctx, voidpf p) {
  bl_free(ctx, p);
}

static bl_status damaged(const packed *u, const char *why, bl_error *err) {
  int64_t at = u->at - u->z.avail_in;
  return bl_fail_at(err, BL_DAMAGED, at, "gzip: byte %lld: %s", (long long)at, why);
}

static bl_status feed(packed *u, bl_error *err) {
  int64_t left = u->in->size - u->at;
  if (u->z.avail_in || !left) return BL_OK;
  size_t n = left < (int64_t)sizeof u->chunk ? (size_t)left : sizeof u->chunk;
  BL_TRY(u->in->read_at(u->in, u->at, u->chunk, n, err));
  u->at += (int64_t)n;
  u->z.next_in = u->chunk;
  u->z.avail_in = (uInt)n;
  return BL_OK;
}

static bl_status next_member(packed *u, bl_error *err) {
  if (inflateReset(&u->z) != Z_OK) return damaged(u, "the next member cannot be read", err);
  u->ended = false;
  return BL_OK;
}

static bl_status step(packed *u, bl_error *err) {
  switch (inflate(&u->z, Z_NO_FLUSH)) {
  case Z_OK: return BL_OK;
  case Z_STREAM_END: u->ended = true; return BL_OK;
  case Z_BUF_ERROR: return damaged(u, "truncated: the compressed data ends early", err);
  case Z_MEM_ERROR: return bl_nomem(err);
  default: return damaged(u, u->z.msg ? u->z.msg : "the compressed data is damaged", err);
  }
}

static bl_status unpack(void *user, void *p, size_t n, size_t *got, bl_error *err) {
  packed *u = user;
  u->z.next_out = p;
  u->z.avail_out = (uInt)n;
  while (u->z.avail_out == n) {
    BL_TRY(feed(u, err));
    if (u->ended && !u->z.avail_in) break;
    if (u->ended) BL_TRY(next_member(u, err));
    BL_TRY(step(u, err));
  }
  *got = n - u->z.avail_out;
  return BL_OK;
}

static bl_status spool(bl_ctx *ctx, bl_input *in, bl_input **out, bl_error *err) {
  enum { GZIP = 16 + MAX_WBITS };
  packed *u = bl_calloc(ctx, 1, sizeof *u);
  if (!u) return bl_nomem(err);
  u->z = (z_stream){.zalloc = z_alloc, .zfree = z_free, .opaque = ctx};
  u->in = in;
  bl_status st = inflateInit2(&u->z, GZIP) == Z_OK ? BL_OK : bl_nomem(err);
  if (st == BL_OK) {
    st = bl_input_spool(ctx, unpack, u, out, err);
    inflateEnd(&u->z);
  }
  bl_free(ctx, u);
  return st;
}

bl_status bl_input_unpack(bl_ctx *ctx, const char *name, bl_input **in, bl_error *err) {
  uint8_t first[2];
  bl_input *plain = NULL;
  bl_error e = BL_ERROR_INIT;
  if (!name) name = "input";
  if ((*in)->size < 2) return BL_OK;
  bl_status st = (*in)->read_at(*in, 0, first, sizeof first, err);
  if (st != BL_OK || !bl_is_gzip(first, sizeof first)) return st;
  st = spool(ctx, *in, &plain, &e);
  if (st != BL_OK)
    return st == BL_DAMAGED ? bl_fail_at(err, st, e.position, "%s: %s", name, e.message)
                            : bl_fail(err, st, "%s", e.message);
  (*in)->close(*in);
  *in = plain;
  return BL_OK;
}
