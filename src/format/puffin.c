/* puffin.c: the frame of Puffin files (puffin-spec.md).
 *
 *     magic  blob…  magic  payload  payload size (4)  flags (4)  magic        integers little-endian, signed
 *
 * The footer's payload is JSON, bare or as one LZ4 frame (flag bit 0). Sizes and offsets are compared with the bytes
 * that are there before anything is read or allocated by them. */
#include "format/puffin.h"

#include <lz4frame.h>

#include "base/text.h"

enum { MAGIC_SIZE = 4, FOOTER_END = 12 /* size, flags, magic */, FOOTER_FRAME = MAGIC_SIZE + FOOTER_END };
enum { SMALLEST_FILE = MAGIC_SIZE + FOOTER_FRAME, FIRST_TAIL = 8192, UNPACK_STEP = 65536 };
enum { FLAG_LZ4 = 1 };
static const char magic[MAGIC_SIZE] = {'P', 'F', 'A', '1'};

#define DV_TYPE "deletion-vector-v1"
#define DV_FIELD 2147483645 /* _pos */

static uint32_t le32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bl_status check_magic(const uint8_t *p, int64_t at, const char *where, bl_error *err) {
  if (memcmp(p, magic, MAGIC_SIZE) == 0) return BL_OK;
  return bl_fail_at(err, BL_DAMAGED, at, "Puffin file: byte %lld: magic %s is %02x%02x%02x%02x, expected 50464131",
                    (long long)at, where, p[0], p[1], p[2], p[3]);
}

/* ---- compressed footer ---- */

static bl_status lz4_steps(LZ4F_dctx *d, bl_str packed, bl_buf *out, bl_error *err) {
  size_t at = 0, hint = 1;
  while (hint != 0) {
    uint8_t *to = bl_buf_reserve(out, UNPACK_STEP);
    if (!to) return bl_buf_ok(out, err);
    size_t room = UNPACK_STEP, used = packed.n - at;
    hint = LZ4F_decompress(d, to, &room, packed.p + at, &used, NULL);
    if (LZ4F_isError(hint))
      return bl_fail(err, BL_DAMAGED, "Puffin file: footer: LZ4 frame: %s", LZ4F_getErrorName(hint));
    if (room == 0 && used == 0 && hint != 0)
      return bl_fail(err, BL_DAMAGED, "Puffin file: footer: LZ4 frame: truncated after %zu bytes", packed.n);
    out->n += room;
    at += used;
    if (out->n > out->max - UNPACK_STEP)
      return bl_fail(err, BL_DAMAGED, "Puffin file: footer: unpacks to more than the limit of %zu bytes",
                     out->max - UNPACK_STEP);
  }
  if (at != packed.n)
    return bl_fail(err, BL_DAMAGED, "Puffin file: footer: LZ4 frame: %zu bytes left behind its end", packed.n - at);
  return BL_OK;
}

/* One LZ4 frame; memory grows only with what was really unpacked. */
static bl_status lz4_unpack(bl_ctx *ctx, bl_arena *a, bl_str packed, bl_str *out, bl_error *err) {
  LZ4F_dctx *d = NULL;
  bl_buf b;
  bl_buf_init(&b, ctx, (size_t)ctx->o.max_metadata_bytes + UNPACK_STEP); /* room for a step beyond the limit */
  bl_status st = BL_OK;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION))) BL_GO(bl_nomem(err));
  BL_GO(lz4_steps(d, packed, &b, err));
  *out = bl_arena_str(a, (bl_str){(const char *)b.p, b.n});
  if (!out->p) BL_GO(bl_nomem(err));
done:
  LZ4F_freeDecompressionContext(d);
  bl_buf_free(&b);
  return st;
}

/* ---- footer payload ---- */

static bl_status read_properties(bl_arena *a, const bl_json *obj, bl_pairs *out, bl_error *err) {
  *out = (bl_pairs){0};
  const bl_json *props;
  BL_TRY(bl_json_member_opt(obj, "properties", BL_J_OBJECT, &props, err));
  if (!props || props->n == 0) return BL_OK;
  out->items = bl_arena_calloc(a, props->n, sizeof *out->items);
  if (!out->items) return bl_nomem(err);
  for (const bl_json *v = props->first; v; v = v->next) {
    bl_pair *p = &out->items[out->n++];
    p->key = v->key;
    BL_TRY(bl_json_string(v, &p->value, err));
  }
  return BL_OK;
}

static bl_status read_fields(bl_arena *a, const bl_json *obj, bl_puffin_blob *b, bl_error *err) {
  const bl_json *fields;
  BL_TRY(bl_json_member(obj, "fields", BL_J_ARRAY, &fields, err));
  if (fields->n == 0) return BL_OK;
  b->fields = bl_arena_calloc(a, fields->n, sizeof *b->fields);
  if (!b->fields) return bl_nomem(err);
  for (const bl_json *v = fields->first; v; v = v->next) BL_TRY(bl_json_i32(v, &b->fields[b->n_fields++], err));
  return BL_OK;
}

static bl_status read_long(const bl_json *obj, const char *key, int64_t *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member(obj, key, BL_J_NUMBER, &v, err));
  return bl_json_i64(v, out, err);
}

/* footer_at: where the footer starts; blobs lie between the first magic and there. */
static bl_status read_blob(bl_arena *a, const bl_json *obj, int64_t footer_at, bl_puffin_blob *b, bl_error *err) {
  if (obj->kind != BL_J_OBJECT) return bl_json_fail(err, BL_DAMAGED, obj, "a blob must be an object");
  const bl_json *type, *codec;
  BL_TRY(bl_json_member(obj, "type", BL_J_STRING, &type, err));
  BL_TRY(bl_json_string(type, &b->type, err));
  BL_TRY(read_fields(a, obj, b, err));
  BL_TRY(read_long(obj, "snapshot-id", &b->snapshot_id, err));
  BL_TRY(read_long(obj, "sequence-number", &b->sequence_number, err));
  BL_TRY(read_long(obj, "offset", &b->offset, err));
  BL_TRY(read_long(obj, "length", &b->length, err));
  if (b->offset < MAGIC_SIZE || b->offset > footer_at || b->length < 0 || b->length > footer_at - b->offset)
    return bl_json_fail(err, BL_DAMAGED, obj,
                        "blob at offset %lld, length %lld: not between byte 4 and the footer at %lld",
                        (long long)b->offset, (long long)b->length, (long long)footer_at);
  BL_TRY(bl_json_member_opt(obj, "compression-codec", BL_J_STRING, &codec, err));
  if (codec) BL_TRY(bl_json_string(codec, &b->codec, err));
  return read_properties(a, obj, &b->properties, err);
}

static bl_status read_payload(bl_arena *a, bl_str payload, int64_t footer_at, bl_puffin *out, bl_error *err) {
  bl_json *doc;
  const bl_json *blobs;
  BL_TRY(bl_json_parse(a, payload.p, payload.n, &doc, err));
  if (doc->kind != BL_J_OBJECT) return bl_json_fail(err, BL_DAMAGED, doc, "must be an object");
  BL_TRY(bl_json_member(doc, "blobs", BL_J_ARRAY, &blobs, err));
  if (blobs->n > 0) {
    out->blobs = bl_arena_calloc(a, blobs->n, sizeof *out->blobs);
    if (!out->blobs) return bl_nomem(err);
  }
  for (const bl_json *v = blobs->first; v; v = v->next)
    BL_TRY(read_blob(a, v, footer_at, &out->blobs[out->n_blobs++], err));
  return read_properties(a, doc, &out->properties, err);
}

/* ---- footer frame ---- */

/* Payload size and flags from the last 12 bytes, which end the file. */
static bl_status read_end(bl_ctx *ctx, const uint8_t *end, int64_t file_size, int64_t *size, bool *lz4, bl_error *err) {
  BL_TRY(check_magic(end + 8, file_size - MAGIC_SIZE, "at the end", err));
  *size = (int32_t)le32(end);
  if (*size < 0 || *size > file_size - SMALLEST_FILE)
    return bl_fail_at(err, BL_DAMAGED, file_size - FOOTER_END,
                      "Puffin file: byte %lld: footer payload size %lld does not fit a file of %lld bytes",
                      (long long)(file_size - FOOTER_END), (long long)*size, (long long)file_size);
  if (*size > ctx->o.max_metadata_bytes)
    return bl_fail_at(err, BL_DAMAGED, file_size - FOOTER_END,
                      "Puffin file: byte %lld: footer payload size %lld: more than the limit of %lld",
                      (long long)(file_size - FOOTER_END), (long long)*size, (long long)ctx->o.max_metadata_bytes);
  uint32_t flags = le32(end + 4);
  if (flags & ~(uint32_t)FLAG_LZ4)
    return bl_fail_at(err, BL_UNSUPPORTED, file_size - 8, "Puffin file: byte %lld: unknown footer flags %08x",
                      (long long)(file_size - 8), flags);
  *lz4 = flags & FLAG_LZ4;
  return BL_OK;
}

/* The tail must grow to `want` bytes: true where it has them. */
static bool has_tail(size_t n, int64_t file_size, int64_t want, size_t *need) {
  if (want > file_size) want = file_size;
  *need = (size_t)want > n ? (size_t)want : n;
  return *need == n;
}

bl_status bl_puffin_footer(bl_ctx *ctx, bl_arena *a, const void *tail, size_t n, int64_t file_size, size_t *need,
                           bl_puffin *out, bl_error *err) {
  *out = (bl_puffin){0};
  *need = n;
  if (file_size < SMALLEST_FILE)
    return bl_fail_at(err, BL_DAMAGED, file_size < 0 ? 0 : file_size,
                      "Puffin file: truncated: %lld bytes, the smallest has %d", (long long)file_size, SMALLEST_FILE);
  if (n > (uint64_t)file_size) return bl_fail(err, BL_USAGE, "Puffin file: tail of %zu bytes is longer than it", n);
  if (n < FOOTER_FRAME) {
    (void)has_tail(n, file_size, FIRST_TAIL, need);
    return BL_OK;
  }
  const uint8_t *end = (const uint8_t *)tail + n;
  int64_t size;
  bool lz4 = false;
  BL_TRY(read_end(ctx, end - FOOTER_END, file_size, &size, &lz4, err));
  if (!has_tail(n, file_size, size + FOOTER_FRAME, need)) return BL_OK;
  int64_t footer_at = file_size - FOOTER_FRAME - size;
  const uint8_t *footer = end - FOOTER_FRAME - size;
  BL_TRY(check_magic(footer, footer_at, "of the footer", err));
  if (n == (uint64_t)file_size) BL_TRY(check_magic(tail, 0, "at the start", err));
  bl_str payload = {(const char *)footer + MAGIC_SIZE, (size_t)size};
  if (lz4) BL_TRY(lz4_unpack(ctx, a, payload, &payload, err));
  bl_status st = read_payload(a, payload, footer_at, out, err);
  if (st == BL_OK) return BL_OK;
  *out = (bl_puffin){0};
  return bl_fail_in(err, st, "Puffin file: footer at byte %lld", (long long)footer_at);
}

/* ---- writer ---- */

typedef struct written {
  int64_t offset, length, cardinality;
  char *referenced;
  size_t n_referenced;
} written;

struct bl_puffin_writer {
  bl_ctx *ctx;
  bl_buf body; /* the file up to the footer */
  written *blobs;
  size_t n, cap;
};

bl_status bl_puffin_writer_new(bl_ctx *ctx, bl_puffin_writer **out, bl_error *err) {
  bl_puffin_writer *w = bl_calloc(ctx, 1, sizeof *w);
  *out = w;
  if (!w) return bl_nomem(err);
  w->ctx = ctx;
  bl_buf_init(&w->body, ctx, BL_BUF_MAX);
  bl_buf_add(&w->body, magic, MAGIC_SIZE);
  return BL_OK;
}

void bl_puffin_writer_free(bl_puffin_writer *w) {
  if (!w) return;
  for (size_t i = 0; i < w->n; i++) bl_free(w->ctx, w->blobs[i].referenced);
  bl_free(w->ctx, w->blobs);
  bl_buf_free(&w->body);
  bl_free(w->ctx, w);
}

bl_status bl_puffin_writer_add_dv(bl_puffin_writer *w, const bl_posset *s, bl_str referenced, int64_t *offset,
                                  int64_t *length, bl_error *err) {
  BL_TRY(bl_buf_ok(&w->body, err));
  BL_TRY(bl_grow(w->ctx, &w->blobs, &w->cap, w->n, sizeof *w->blobs, err));
  char *name = bl_alloc(w->ctx, referenced.n, 1);
  if (!name) return bl_nomem(err);
  if (referenced.n) memcpy(name, referenced.p, referenced.n);
  size_t start = w->body.n;
  bl_status st = bl_dv_encode(s, &w->body, err);
  if (st != BL_OK) {
    w->body.n = start;
    bl_free(w->ctx, name);
    return st;
  }
  *offset = (int64_t)start;
  *length = (int64_t)(w->body.n - start);
  w->blobs[w->n++] = (written){.offset = *offset,
                               .length = *length,
                               .cardinality = bl_posset_count(s),
                               .referenced = name,
                               .n_referenced = referenced.n};
  return BL_OK;
}

static void print_blob(bl_buf *b, const written *v) {
  bl_buf_printf(b,
                "{\"type\":\"" DV_TYPE "\",\"fields\":[%d],\"snapshot-id\":-1,\"sequence-number\":-1,"
                "\"offset\":%lld,\"length\":%lld,\"properties\":{\"referenced-data-file\":",
                DV_FIELD, (long long)v->offset, (long long)v->length);
  bl_print_json_str(b, (bl_str){v->referenced, v->n_referenced});
  bl_buf_printf(b, ",\"cardinality\":\"%lld\"}}", (long long)v->cardinality);
}

bl_status bl_puffin_writer_finish(bl_puffin_writer *w, bl_buf *out, bl_error *err) {
  bl_buf *b = &w->body;
  bl_buf_add(b, magic, MAGIC_SIZE);
  size_t start = b->n;
  bl_buf_cstr(b, "{\"blobs\":[");
  for (size_t i = 0; i < w->n; i++) {
    if (i > 0) bl_buf_byte(b, ',');
    print_blob(b, &w->blobs[i]);
  }
  bl_buf_cstr(b, "],\"properties\":{\"created-by\":\"bergline " BL_VERSION "\"}}");
  size_t size = b->n - start;
  if (size > INT32_MAX) return bl_fail(err, BL_UNSUPPORTED, "Puffin file: footer of %zu bytes: too long", size);
  for (int i = 0; i < 4; i++) bl_buf_byte(b, (uint8_t)(size >> 8 * i));
  bl_buf_add(b, "\0\0\0\0", 4);
  bl_buf_add(b, magic, MAGIC_SIZE);
  BL_TRY(bl_buf_ok(b, err));
  bl_buf_add(out, b->p, b->n);
  return bl_buf_ok(out, err);
}
