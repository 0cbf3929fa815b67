/* dv.c: the blob of a deletion vector (puffin-spec.md, "deletion-vector-v1"; RoaringFormatSpec, 64-bit extension).
 *
 *     offset  bytes
 *     0       4      length of magic and vector, big-endian
 *     4       4      magic D1 D3 39 64
 *     8       8      number of 32-bit bitmaps, little-endian
 *             ...    for each, by ascending key: key (4, little-endian), bitmap in the portable form
 *     n - 4   4      CRC-32 of magic and vector, big-endian
 *
 * A bitmap in the portable form, all little-endian:
 *
 *     4              cookie: 12346 (no runs; 4 bytes with the number of containers follow),
 *                    or 12347 | (containers - 1) << 16 (a bit for each container follows: is it runs?)
 *     4 each         key (2, ascending) and cardinality - 1 (2) of each container
 *     4 each         offset of each container; left out with cookie 12347 and fewer than 4 containers
 *     ...            containers: runs (2 bytes number, then start and length - 1, 2 each), else with at most 4096
 * values the values (2 each, ascending), else 8192 bytes of bits
 *
 * Every byte is checked before CRoaring sees it, for its own reader trusts counts, order and cardinalities. Nothing is
 * allocated by a count; only the bytes that are there are walked. Offsets are not looked at: containers are read in
 * order, as Java does. */
#include <zlib.h>

#include "format/posset.h"

enum {
  HEAD_SIZE = 8,     /* length, magic */
  CRC_SIZE = 4,      /* at the end */
  COUNT_SIZE = 8,    /* number of bitmaps */
  SMALLEST_PART = 12 /* key and a bitmap without containers */
};
enum { COOKIE_PLAIN = 12346, COOKIE_RUNS = 12347, RUNS_WITH_OFFSETS = 4 };
enum { MAX_CONTAINERS_OF_PART = 65536, MAX_ARRAY = 4096, BITSET_BYTES = 8192 };
static const uint8_t magic[4] = {0xd1, 0xd3, 0x39, 0x64};

/* Bytes being walked; at counts from the start of the blob. */
typedef struct walk {
  const uint8_t *p;
  size_t at, end;
  bl_error *err;
} walk;

static uint32_t le16(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static uint32_t le32(const uint8_t *p) {
  return le16(p) | le16(p + 2) << 16;
}
static uint64_t le64(const uint8_t *p) {
  return le32(p) | (uint64_t)le32(p + 4) << 32;
}
static uint32_t be32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static void put_be32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}
static void put_le(uint8_t *p, uint64_t v, int n) {
  for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
}

#define DAMAGED(w, at, ...) bl_fail_at((w)->err, BL_DAMAGED, (int64_t)(at), "deletion vector: " __VA_ARGS__)

/* The next n bytes; NULL where they are not there (the error is set). */
static const uint8_t *take(walk *w, size_t n, const char *what) {
  size_t at = w->at;
  if (w->end - at < n) {
    (void)DAMAGED(w, at, "byte %zu: bitmap truncated: %s wants %zu bytes, %zu are left", at, what, n, w->end - at);
    return NULL;
  }
  w->at += n;
  return w->p + at;
}

static bl_status check_runs(walk *w, uint32_t cardinality) {
  size_t start = w->at;
  const uint8_t *p = take(w, 2, "number of runs");
  if (!p) return BL_DAMAGED;
  uint32_t n = le16(p), values = 0, free_from = 0; /* the first value that a run may start with */
  if (!(p = take(w, (size_t)n * 4, "runs"))) return BL_DAMAGED;
  for (uint32_t i = 0; i < n; i++, p += 4) {
    uint32_t first = le16(p), last = first + le16(p + 2);
    if (first < free_from || last > 65535)
      return DAMAGED(w, start, "byte %zu: bitmap: run %u of a container (%u to %u) overlaps or passes 65535", start, i,
                     first, last);
    values += last - first + 1;
    free_from = last + 1;
  }
  if (values != cardinality)
    return DAMAGED(w, start, "byte %zu: bitmap: container of runs holds %u values, its header says %u", start, values,
                   cardinality);
  return BL_OK;
}

static bl_status check_array(walk *w, uint32_t cardinality) {
  size_t start = w->at;
  const uint8_t *p = take(w, (size_t)cardinality * 2, "array container");
  if (!p) return BL_DAMAGED;
  for (uint32_t i = 1; i < cardinality; i++)
    if (le16(p + 2 * (size_t)i - 2) >= le16(p + 2 * (size_t)i))
      return DAMAGED(w, start + 2 * (size_t)i, "byte %zu: bitmap: values of an array container are not ascending",
                     start + 2 * (size_t)i);
  return BL_OK;
}

static bl_status check_bitset(walk *w, uint32_t cardinality) {
  size_t start = w->at;
  const uint8_t *p = take(w, BITSET_BYTES, "bitset container");
  if (!p) return BL_DAMAGED;
  uint32_t values = 0;
  for (size_t i = 0; i < BITSET_BYTES; i += 8) values += (uint32_t)__builtin_popcountll(le64(p + i));
  if (values != cardinality)
    return DAMAGED(w, start, "byte %zu: bitmap: bitset container holds %u values, its header says %u", start, values,
                   cardinality);
  return BL_OK;
}

/* The head of one bitmap: how many containers, and where their bits "is it runs" are (NULL: none is). */
static bl_status read_cookie(walk *w, uint32_t *n, const uint8_t **runs) {
  size_t start = w->at;
  const uint8_t *p = take(w, 4, "cookie");
  if (!p) return BL_DAMAGED;
  uint32_t cookie = le32(p);
  *runs = NULL;
  if (cookie == COOKIE_PLAIN) {
    if (!(p = take(w, 4, "number of containers"))) return BL_DAMAGED;
    *n = le32(p);
    if (*n > MAX_CONTAINERS_OF_PART)
      return DAMAGED(w, start + 4, "byte %zu: bitmap: %u containers, at most 65536 are possible", start + 4, *n);
    return BL_OK;
  }
  if ((cookie & 0xffff) != COOKIE_RUNS) return DAMAGED(w, start, "byte %zu: bitmap: unknown cookie %u", start, cookie);
  *n = (cookie >> 16) + 1;
  *runs = take(w, (*n + 7) / 8, "run flags");
  return *runs ? BL_OK : BL_DAMAGED;
}

/* One bitmap in the portable form, up to its end. */
static bl_status check_bitmap(walk *w) {
  uint32_t n = 0;
  const uint8_t *runs;
  BL_TRY(read_cookie(w, &n, &runs));
  size_t at = w->at;
  const uint8_t *heads = take(w, (size_t)n * 4, "container headers");
  if (!heads) return BL_DAMAGED;
  if ((!runs || n >= RUNS_WITH_OFFSETS) && !take(w, (size_t)n * 4, "container offsets")) return BL_DAMAGED;
  for (uint32_t i = 0; i < n; i++) {
    const uint8_t *head = heads + (size_t)i * 4;
    if (i > 0 && le16(head - 4) >= le16(head))
      return DAMAGED(w, at + (size_t)i * 4, "byte %zu: bitmap: container keys are not ascending", at + (size_t)i * 4);
    uint32_t cardinality = le16(head + 2) + 1;
    if (runs && runs[i / 8] >> i % 8 & 1) BL_TRY(check_runs(w, cardinality));
    else if (cardinality <= MAX_ARRAY) BL_TRY(check_array(w, cardinality));
    else BL_TRY(check_bitset(w, cardinality));
  }
  return BL_OK;
}

static bl_status read_part(walk *w, int64_t previous_key, bl_posset *s) {
  size_t start = w->at;
  const uint8_t *p = take(w, 4, "bitmap key");
  if (!p) return BL_DAMAGED;
  uint32_t key = le32(p);
  if (key > INT32_MAX) return DAMAGED(w, start, "byte %zu: bitmap key %u: positions would be negative", start, key);
  if ((int64_t)key <= previous_key)
    return DAMAGED(w, start, "byte %zu: bitmap key %u: keys are not ascending", start, key);
  size_t begin = w->at;
  BL_TRY(check_bitmap(w));
  roaring_bitmap_t *bits = roaring_bitmap_portable_deserialize_safe((const char *)w->p + begin, w->at - begin);
  return bl_posset_push(s, key, bits, w->err);
}

static bl_status read_parts(walk *w, bl_posset *s) {
  size_t start = w->at;
  const uint8_t *p = take(w, COUNT_SIZE, "number of bitmaps");
  if (!p) return BL_DAMAGED;
  uint64_t n = le64(p);
  if (n > (w->end - w->at) / SMALLEST_PART)
    return DAMAGED(w, start, "byte %zu: %llu bitmaps cannot be in %zu bytes", start, (unsigned long long)n,
                   w->end - w->at);
  int64_t key = -1;
  for (uint64_t i = 0; i < n; i++) {
    size_t at = w->at;
    BL_TRY(read_part(w, key, s));
    key = le32(w->p + at);
  }
  if (w->at != w->end)
    return DAMAGED(w, w->at, "byte %zu: %zu bytes left after the last bitmap", w->at, w->end - w->at);
  return BL_OK;
}

/* Length, magic and checksum. */
static bl_status check_frame(bl_ctx *ctx, walk *w, size_t n) {
  if (n > (uint64_t)ctx->o.max_deletion_vector_bytes)
    return DAMAGED(w, 0, "size %zu bytes: more than the limit of %lld", n, (long long)ctx->o.max_deletion_vector_bytes);
  if (n < HEAD_SIZE + COUNT_SIZE + CRC_SIZE)
    return DAMAGED(w, n, "truncated: %zu bytes, the smallest has %d", n, HEAD_SIZE + COUNT_SIZE + CRC_SIZE);
  uint32_t length = be32(w->p);
  if (length != n - HEAD_SIZE)
    return DAMAGED(w, 0, "byte 0: length field says %u, the blob has %zu", length, n - HEAD_SIZE);
  if (memcmp(w->p + 4, magic, sizeof magic) != 0)
    return DAMAGED(w, 4, "byte 4: magic is %08x, expected %08x", be32(w->p + 4), be32(magic));
  uint32_t stored = be32(w->p + n - CRC_SIZE);
  uint32_t crc = (uint32_t)crc32_z(0, w->p + 4, n - HEAD_SIZE);
  if (stored != crc)
    return DAMAGED(w, n - CRC_SIZE, "byte %zu: CRC-32 is %08x, the bytes give %08x", n - CRC_SIZE, stored, crc);
  return BL_OK;
}

bl_status bl_dv_decode(bl_ctx *ctx, const void *p, size_t n, int64_t cardinality, bl_posset **out, bl_error *err) {
  *out = NULL;
  walk w = {.p = p, .at = HEAD_SIZE, .err = err};
  BL_TRY(check_frame(ctx, &w, n));
  w.end = n - CRC_SIZE;
  bl_posset *s;
  BL_TRY(bl_posset_new(ctx, &s, err));
  bl_status st = read_parts(&w, s);
  if (st == BL_OK && cardinality != -1 && bl_posset_count(s) != cardinality)
    st = DAMAGED(&w, -1, "cardinality: %lld positions, expected %lld", (long long)bl_posset_count(s),
                 (long long)cardinality);
  if (st != BL_OK) {
    bl_posset_free(s);
    return st;
  }
  *out = s;
  return BL_OK;
}

/* Key and bitmap of one part, runs where they are shorter. */
static bl_status write_part(const bl_posset_part *p, bl_buf *out, bl_error *err) {
  roaring_bitmap_t *bits = roaring_bitmap_copy(p->bits);
  if (!bits) return bl_nomem(err);
  roaring_bitmap_run_optimize(bits);
  size_t n = roaring_bitmap_portable_size_in_bytes(bits);
  uint8_t *to = bl_buf_reserve(out, 4 + n);
  if (to) {
    put_le(to, p->high, 4);
    roaring_bitmap_portable_serialize(bits, (char *)to + 4);
    out->n += 4 + n;
  }
  roaring_bitmap_free(bits);
  return bl_buf_ok(out, err);
}

bl_status bl_dv_encode(const bl_posset *s, bl_buf *out, bl_error *err) {
  size_t start = out->n;
  uint8_t head[HEAD_SIZE + COUNT_SIZE] = {0}, crc[CRC_SIZE];
  memcpy(head + 4, magic, sizeof magic);
  put_le(head + HEAD_SIZE, s->n, COUNT_SIZE);
  bl_buf_add(out, head, sizeof head);
  BL_TRY(bl_buf_ok(out, err));
  for (size_t i = 0; i < s->n; i++) BL_TRY(write_part(&s->parts[i], out, err));
  size_t length = out->n - start - 4;
  if (length > (uint64_t)s->ctx->o.max_deletion_vector_bytes || length > INT32_MAX)
    return bl_fail(err, BL_UNSUPPORTED, "deletion vector: size %zu bytes: more than the limit of %lld", length,
                   (long long)s->ctx->o.max_deletion_vector_bytes);
  put_be32(out->p + start, (uint32_t)length);
  put_be32(crc, (uint32_t)crc32_z(0, out->p + start + 4, length));
  bl_buf_add(out, crc, sizeof crc);
  return bl_buf_ok(out, err);
}
