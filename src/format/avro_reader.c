/* avro_reader.c: Avro object container files, read block by block (Avro 1.12 specification, "Object Container Files",
 * "Binary Encoding").
 *
 *     "Obj" 1 | map of header metadata | 16 bytes of sync marker | blocks
 *     block: long records | long bytes | the bytes, compressed | the sync marker
 *
 * Invariants
 *  1. `at` is the position of the next block's head: everything before it was checked, sync markers included. A file
 *     ends exactly at the end of a block; anything else is damage, never the end of the data.
 *  2. Bytes are only looked at after bl_avro's fetch() has said that the file has them. */
#include <stdarg.h>
#include <stdio.h>

#include "format/avro.h"
#include "format/avro_codec.h"

enum { SYNC = 16, HEAD_MOST = 20 /* two longs */, WINDOW = 1 << 20, HEADER_FIRST = 64 * 1024 };

struct bl_avro_reader {
  bl_ctx *ctx;
  bl_arena *arena; /* of the header; NULL in a fork */
  const bl_avro_file *file;
  bl_avro_file own_file;
  uint8_t sync[SYNC];
  bl_avro_codec *codec;
  /* where bytes come from: all of them, or a window over an input */
  const uint8_t *bytes;
  bl_input *in;
  int64_t size;
  bl_buf window;
  int64_t window_at;
  int64_t first_block, at; /* invariant 1 */
  bool peeked;
  bl_avro_block head;
  int64_t body; /* bytes of head.bytes before the compressed bytes */
  /* the block in hand */
  bl_buf raw;
  bl_avro_cursor block;
  int64_t unpacked; /* in all */
};

/* ---- bytes ---- */

/* n bytes at a position of the file, where there are that many; `ahead`: read up to that many more into the window. */
static bl_status fetch(bl_avro_reader *r, int64_t at, int64_t n, int64_t ahead, const uint8_t **out, bl_error *err) {
  if (n > r->size - at) return bl_fail_at(err, BL_DAMAGED, at, "byte %lld: the file is truncated", (long long)at);
  if (r->bytes) {
    *out = r->bytes + at;
    return BL_OK;
  }
  int64_t from = at - r->window_at;
  if (r->window.n && from >= 0 && n <= (int64_t)r->window.n - from) {
    *out = r->window.p + from;
    return BL_OK;
  }
  int64_t want = n > ahead ? n : ahead;
  if (want > r->size - at) want = r->size - at;
  bl_buf_clear(&r->window);
  uint8_t *to = bl_buf_reserve(&r->window, (size_t)want);
  if (!to) return bl_nomem(err);
  BL_TRY(r->in->read_at(r->in, at, to, (size_t)want, err));
  r->window.n = (size_t)want;
  r->window_at = at;
  *out = r->window.p;
  return BL_OK;
}

/* ---- cursor ---- */

bl_status bl_avro_fail(const bl_avro_cursor *c, bl_error *err, const char *fmt, ...) {
  char why[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  long long in = c->p - c->base;
  if (c->packed)
    return bl_fail_at(err, BL_DAMAGED, c->base_position, "byte %lld, byte %lld of the unpacked block: %s",
                      (long long)c->base_position, in, why);
  return bl_fail_at(err, BL_DAMAGED, c->base_position + in, "byte %lld: %s", (long long)c->base_position + in, why);
}

static bl_status ends_early(const bl_avro_cursor *c, bl_error *err) {
  return bl_avro_fail(c, err, "the block ends within a value");
}

bl_status bl_avro_long_slow(bl_avro_cursor *c, int64_t *out, bl_error *err) {
  uint64_t v = 0;
  const uint8_t *p = c->p;
  for (unsigned shift = 0; p < c->end; shift += 7) {
    uint8_t b = *p++;
    if (shift == 63 && b > 1) return bl_avro_fail(c, err, "a number beyond 64 bits");
    v |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80) {
      c->p = p;
      *out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
      return BL_OK;
    }
  }
  return ends_early(c, err);
}

bl_status bl_avro_int(bl_avro_cursor *c, int32_t *out, bl_error *err) {
  const uint8_t *from = c->p;
  int64_t v;
  BL_TRY(bl_avro_long(c, &v, err));
  if (v < INT32_MIN || v > INT32_MAX) {
    c->p = from;
    return bl_avro_fail(c, err, "an int of more than 32 bits");
  }
  *out = (int32_t)v;
  return BL_OK;
}

bl_status bl_avro_fixed(bl_avro_cursor *c, int64_t n, bl_str *out, bl_error *err) {
  if (n > c->end - c->p) return ends_early(c, err);
  *out = (bl_str){(const char *)c->p, (size_t)n};
  c->p += n;
  return BL_OK;
}

bl_status bl_avro_bytes(bl_avro_cursor *c, bl_str *out, bl_error *err) {
  int64_t n;
  const uint8_t *from = c->p;
  BL_TRY(bl_avro_long(c, &n, err));
  if (n >= 0 && n <= c->end - c->p) return bl_avro_fixed(c, n, out, err);
  c->p = from;
  return bl_avro_fail(c, err, "a length of %lld where the block has %lld bytes left", (long long)n,
                      (long long)(c->end - c->p));
}

bl_status bl_avro_boolean(bl_avro_cursor *c, bool *out, bl_error *err) {
  if (c->p == c->end) return ends_early(c, err);
  if (*c->p > 1) return bl_avro_fail(c, err, "a boolean of %d", *c->p);
  *out = *c->p++;
  return BL_OK;
}

bl_status bl_avro_float(bl_avro_cursor *c, float *out, bl_error *err) {
  if (c->end - c->p < 4) return ends_early(c, err);
  uint32_t v = 0;
  for (int i = 3; i >= 0; i--) v = v << 8 | c->p[i];
  memcpy(out, &v, 4);
  c->p += 4;
  return BL_OK;
}

bl_status bl_avro_double(bl_avro_cursor *c, double *out, bl_error *err) {
  if (c->end - c->p < 8) return ends_early(c, err);
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = v << 8 | c->p[i];
  memcpy(out, &v, 8);
  c->p += 8;
  return BL_OK;
}

bool bl_avro_decimal(bl_str s, bl_i128 *out) {
  const uint8_t *p = (const uint8_t *)s.p;
  bl_u128 v = s.n && (p[0] & 0x80) ? ~(bl_u128)0 : 0;
  uint8_t sign = (uint8_t)v;
  for (size_t i = 0; i < s.n; i++) {
    if (s.n - i > 16 && p[i] != sign) return false;
    v = v << 8 | p[i];
  }
  *out = (bl_i128)v;
  return s.n <= 16 || (uint8_t)(v >> 127) == (sign & 1);
}

bl_status bl_avro_branch(bl_avro_cursor *c, const bl_avro_schema *s, const bl_avro_schema **out, bl_error *err) {
  int64_t i;
  const uint8_t *from = c->p;
  BL_TRY(bl_avro_long(c, &i, err));
  if (i < 0 || (uint64_t)i >= s->n_children) {
    c->p = from;
    return bl_avro_fail(c, err, "branch %lld of a union of %zu", (long long)i, s->n_children);
  }
  *out = s->children[i];
  return BL_OK;
}

/* Head of a block of items; *bytes -1 where it does not say how long the block is. */
static bl_status items_head(bl_avro_cursor *c, const bl_avro_schema *s, int64_t *n, int64_t *bytes, bl_error *err) {
  const uint8_t *from = c->p;
  int64_t each = s->children[0]->min_bytes + (s->kind == BL_A_MAP);
  BL_TRY(bl_avro_long(c, n, err));
  *bytes = -1;
  if (*n < 0) {
    if (*n == INT64_MIN) return bl_avro_fail(c, err, "a count out of range");
    *n = -*n;
    BL_TRY(bl_avro_long(c, bytes, err));
    if (*bytes < 0 || *bytes > c->end - c->p) {
      c->p = from;
      return bl_avro_fail(c, err, "an %s block of %lld bytes where %lld are left", bl_avro_kind_name(s->kind),
                          (long long)*bytes, (long long)(c->end - c->p));
    }
  }
  int64_t most = each ? (c->end - c->p) / each : BL_AVRO_MAX_EMPTY;
  if (*n <= most) return BL_OK;
  c->p = from;
  return bl_avro_fail(c, err, "an %s block of %lld items where the bytes left hold at most %lld",
                      bl_avro_kind_name(s->kind), (long long)*n, (long long)most);
}

bl_status bl_avro_items(bl_avro_cursor *c, const bl_avro_schema *container, int64_t *n, bl_error *err) {
  int64_t bytes;
  return items_head(c, container, n, &bytes, err);
}

static bl_status skip_bytes(bl_avro_cursor *c, bl_error *err) {
  bl_str ignored;
  return bl_avro_bytes(c, &ignored, err);
}

/* n numbers, however long each is. */
static bl_status skip_numbers(bl_avro_cursor *c, int64_t n, bl_error *err) {
  const uint8_t *p = c->p, *end = c->end;
  for (; n > 0 && p < end; p++) n -= *p < 0x80;
  c->p = p;
  return n ? ends_early(c, err) : BL_OK;
}

static bl_status skip_items(bl_avro_cursor *c, const bl_avro_schema *s, bl_error *err) {
  const bl_avro_schema *item = s->children[0];
  for (;;) {
    int64_t n, bytes;
    BL_TRY(items_head(c, s, &n, &bytes, err));
    if (!n) return BL_OK;
    if (bytes >= 0) {
      c->p += bytes;
      continue;
    }
    if (s->kind == BL_A_ARRAY && !item->min_bytes) continue; /* such items never take any */
    if (s->kind == BL_A_ARRAY && item->numbers) {
      BL_TRY(skip_numbers(c, n * item->numbers, err)); /* n is at most the bytes left by their number */
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      if (s->kind == BL_A_MAP) BL_TRY(skip_bytes(c, err));
      BL_TRY(bl_avro_skip(c, item, err));
    }
  }
}

bl_status bl_avro_skip(bl_avro_cursor *c, const bl_avro_schema *s, bl_error *err) {
  int64_t number;
  bl_str ignored;
  const bl_avro_schema *branch;
  switch (s->kind) {
  case BL_A_NULL: return BL_OK;
  case BL_A_BOOLEAN: return bl_avro_fixed(c, 1, &ignored, err);
  case BL_A_INT:
  case BL_A_LONG:
  case BL_A_ENUM: return bl_avro_long(c, &number, err);
  case BL_A_FLOAT: return bl_avro_fixed(c, 4, &ignored, err);
  case BL_A_DOUBLE: return bl_avro_fixed(c, 8, &ignored, err);
  case BL_A_BYTES:
  case BL_A_STRING: return skip_bytes(c, err);
  case BL_A_FIXED: return bl_avro_fixed(c, s->size, &ignored, err);
  case BL_A_UNION: BL_TRY(bl_avro_branch(c, s, &branch, err)); return bl_avro_skip(c, branch, err);
  case BL_A_ARRAY:
  case BL_A_MAP: return skip_items(c, s, err);
  case BL_A_RECORD:
    for (size_t i = 0; i < s->n_children; i++) BL_TRY(bl_avro_skip(c, s->children[i], err));
    return BL_OK;
  }
  return BL_OK;
}

/* ---- header ---- */

static const bl_avro_schema meta_value = {.kind = BL_A_BYTES, .field_id = -1, .key_id = -1, .min_bytes = 1, .depth = 1};
static const bl_avro_schema *const meta_children[] = {&meta_value};

/* Copy one key and value of the header. */
static bl_status read_meta(bl_avro_reader *r, bl_avro_cursor *c, size_t *cap, bl_error *err) {
  bl_avro_file *f = &r->own_file;
  bl_str key, value;
  BL_TRY(bl_avro_bytes(c, &key, err));
  BL_TRY(bl_avro_bytes(c, &value, err));
  if (f->n_meta == *cap) {
    size_t more = *cap ? *cap * 2 : 16;
    bl_str *keys = bl_arena_alloc(r->arena, more, sizeof *keys), *values = bl_arena_alloc(r->arena, more, sizeof *keys);
    if (!keys || !values) return bl_nomem(err);
    if (f->n_meta) memcpy(keys, f->keys, f->n_meta * sizeof *keys);
    if (f->n_meta) memcpy(values, f->values, f->n_meta * sizeof *values);
    f->keys = keys;
    f->values = values;
    *cap = more;
  }
  key = bl_arena_str(r->arena, key);
  value = bl_arena_str(r->arena, value);
  if (!key.p || !value.p) return bl_nomem(err);
  f->keys[f->n_meta] = key;
  f->values[f->n_meta++] = value;
  return BL_OK;
}

/* Everything before the first block, of which the first n bytes of the file are at hand. */
static bl_status read_header(bl_avro_reader *r, const uint8_t *p, size_t n, bl_error *err) {
  bl_avro_schema map = {.kind = BL_A_MAP, .children = (bl_avro_schema **)(uintptr_t)meta_children, .n_children = 1};
  bl_avro_cursor c = {p, p + n, p, 0, false};
  size_t cap = 0;
  int64_t items;
  bl_str sync = BL_STR_NONE;
  if (n < 4 || memcmp(p, "Obj\1", 4) != 0)
    return bl_fail_at(err, BL_DAMAGED, 0, "byte 0: not an Avro file: it does not begin with \"Obj\\x01\"");
  c.p += 4;
  r->own_file = (bl_avro_file){0};
  for (;;) {
    BL_TRY(bl_avro_items(&c, &map, &items, err));
    if (!items) break;
    for (int64_t i = 0; i < items; i++) BL_TRY(read_meta(r, &c, &cap, err));
  }
  BL_TRY(bl_avro_fixed(&c, SYNC, &sync, err));
  memcpy(r->sync, sync.p, SYNC);
  r->first_block = r->at = c.p - p;
  return BL_OK;
}

/* The header of an input is looked for in a growing window, since nothing says how long it is. */
static bl_status read_header_of_input(bl_avro_reader *r, bl_error *err) {
  for (int64_t n = HEADER_FIRST;; n *= 4) {
    const uint8_t *p;
    if (n > r->size) n = r->size;
    BL_TRY(fetch(r, 0, n, n, &p, err));
    bl_error local = BL_ERROR_INIT;
    bl_status st = read_header(r, p, (size_t)n, &local);
    if (st != BL_DAMAGED || n == r->size || n > r->ctx->o.max_metadata_bytes || local.position == 0) {
      if (st != BL_OK) return bl_fail_at(err, st, local.position, "%s", local.message);
      return BL_OK;
    }
  }
}

static bl_status use_header(bl_avro_reader *r, bl_error *err) {
  bl_str schema = bl_avro_meta(r, "avro.schema"), codec = bl_avro_meta(r, "avro.codec");
  if (!schema.p) return bl_fail_at(err, BL_DAMAGED, 4, "byte 4: Avro header: avro.schema is missing");
  r->own_file.codec = codec.p ? codec : BL_STR("null");
  BL_TRY(bl_avro_codec_new(r->ctx, r->own_file.codec, &r->codec, err));
  bl_error local = BL_ERROR_INIT;
  bl_status st = bl_avro_schema_parse(r->arena, schema, &r->own_file.schema, &local);
  if (st != BL_OK) return bl_fail_at(err, st, 4, "Avro header: avro.schema: %s", local.message);
  return BL_OK;
}

static bl_status new_reader(bl_ctx *ctx, bl_avro_reader **out, bl_error *err) {
  bl_avro_reader *r = *out = bl_calloc(ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  r->ctx = ctx;
  r->file = &r->own_file;
  bl_buf_init(&r->window, ctx, BL_BUF_MAX);
  bl_buf_init(&r->raw, ctx, (size_t)ctx->o.max_metadata_bytes);
  return BL_OK;
}

static bl_status open_any(bl_ctx *ctx, const void *p, size_t n, bl_input *in, bl_avro_reader **out, bl_error *err) {
  bl_avro_reader *r;
  bl_status st;
  *out = NULL;
  BL_TRY(new_reader(ctx, &r, err));
  r->bytes = p;
  r->in = in;
  r->size = in ? in->size : (int64_t)n;
  BL_GO(bl_arena_new(ctx, &r->arena, err));
  BL_GO(in ? read_header_of_input(r, err) : read_header(r, p, n, err));
  BL_GO(use_header(r, err));
  *out = r;
  r = NULL;
done:
  bl_avro_close(r);
  return st;
}

bl_status bl_avro_open(bl_ctx *ctx, const void *p, size_t n, bl_avro_reader **out, bl_error *err) {
  return open_any(ctx, n ? p : "", n, NULL, out, err);
}

bl_status bl_avro_open_input(bl_ctx *ctx, bl_input *in, bl_avro_reader **out, bl_error *err) {
  return open_any(ctx, NULL, 0, in, out, err);
}

bl_status bl_avro_fork(const bl_avro_reader *from, int64_t position, bl_avro_reader **out, bl_error *err) {
  bl_avro_reader *r;
  BL_TRY(new_reader(from->ctx, out, err));
  r = *out;
  r->file = from->file;
  r->bytes = from->bytes;
  r->in = from->in;
  r->size = from->size;
  r->first_block = from->first_block;
  r->at = position;
  memcpy(r->sync, from->sync, SYNC);
  bl_status st = bl_avro_codec_new(r->ctx, r->file->codec, &r->codec, err);
  if (st == BL_OK) return BL_OK;
  bl_avro_close(r);
  *out = NULL;
  return st;
}

const bl_avro_file *bl_avro_header(const bl_avro_reader *r) {
  return r->file;
}

bl_str bl_avro_meta(const bl_avro_reader *r, const char *key) {
  for (size_t i = r->file->n_meta; i > 0; i--)
    if (bl_str_is(r->file->keys[i - 1], key)) return r->file->values[i - 1];
  return BL_STR_NONE;
}

void bl_avro_close(bl_avro_reader *r) {
  if (!r) return;
  bl_avro_codec_free(r->codec);
  bl_buf_free(&r->window);
  bl_buf_free(&r->raw);
  bl_arena_free(r->arena);
  bl_free(r->ctx, r);
}

/* ---- blocks ---- */

static bl_status block_fail(const bl_avro_reader *r, bl_error *err, const char *why) {
  return bl_fail_at(err, BL_DAMAGED, r->at, "byte %lld: Avro block: %s", (long long)r->at, why);
}

/* Read the head at r->at; `ahead` as in fetch. */
static bl_status read_head(bl_avro_reader *r, int64_t ahead, bl_error *err) {
  int64_t left = r->size - r->at, packed;
  const uint8_t *p;
  r->head = (bl_avro_block){.position = r->at};
  if (!left) {
    r->peeked = true;
    return BL_OK;
  }
  int64_t n = left < HEAD_MOST ? left : HEAD_MOST;
  BL_TRY(fetch(r, r->at, n, ahead, &p, err));
  bl_avro_cursor c = {p, p + n, p, r->at, false};
  bl_error local = BL_ERROR_INIT;
  if (bl_avro_long(&c, &r->head.records, &local) || bl_avro_long(&c, &packed, &local))
    return block_fail(r, err, left < HEAD_MOST ? "truncated in its head" : "its head is no pair of numbers");
  if (r->head.records < 0) return block_fail(r, err, "a negative count of records");
  if (packed < 0) return block_fail(r, err, "a negative length");
  r->body = c.p - p;
  if (packed > left - r->body || left - r->body - packed < SYNC)
    return bl_fail_at(err, BL_DAMAGED, r->at,
                      "byte %lld: Avro block: truncated: it has %lld bytes, of which %lld are there", (long long)r->at,
                      (long long)packed, (long long)(left - r->body));
  r->head.bytes = r->body + packed + SYNC;
  r->peeked = true;
  return BL_OK;
}

/* Heads without records are gone over, so that 0 records always mean the end. */
static bl_status peek(bl_avro_reader *r, int64_t ahead, bl_error *err) {
  while (!r->peeked) {
    BL_TRY(read_head(r, ahead, err));
    if (r->at < r->size && !r->head.records) BL_TRY(bl_avro_pass_block(r, err));
  }
  return BL_OK;
}

bl_status bl_avro_peek_block(bl_avro_reader *r, bl_avro_block *out, bl_error *err) {
  BL_TRY(peek(r, 0, err));
  *out = r->head;
  return BL_OK;
}

static bl_status check_sync(bl_avro_reader *r, const uint8_t *p, bl_error *err) {
  int64_t at = r->at + r->head.bytes - SYNC;
  if (memcmp(p, r->sync, SYNC) == 0) return BL_OK;
  return bl_fail_at(err, BL_DAMAGED, at, "byte %lld: the sync marker behind the block at byte %lld is wrong",
                    (long long)at, (long long)r->at);
}

bl_status bl_avro_pass_block(bl_avro_reader *r, bl_error *err) {
  const uint8_t *p;
  if (!r->peeked) BL_TRY(peek(r, 0, err));
  if (r->at == r->size) return BL_OK;
  BL_TRY(fetch(r, r->at + r->head.bytes - SYNC, SYNC, SYNC + HEAD_MOST, &p, err));
  BL_TRY(check_sync(r, p, err));
  r->at += r->head.bytes;
  r->peeked = false;
  return BL_OK;
}

/* Can that many records be in that many bytes? */
static bl_status check_count(bl_avro_reader *r, size_t bytes, bl_error *err) {
  int64_t each = r->file->schema->min_bytes;
  if (!each || r->head.records <= (int64_t)bytes / each) return BL_OK;
  return bl_fail_at(err, BL_DAMAGED, r->at, "byte %lld: Avro block: a count of %lld records in %zu bytes",
                    (long long)r->at, (long long)r->head.records, bytes);
}

/* All blocks of a file in memory count together. */
static bl_status count_unpacked(bl_avro_reader *r, size_t n, bl_error *err) {
  int64_t most = r->ctx->o.max_metadata_bytes;
  if (r->in) r->unpacked = 0;
  if (!bl_add64(r->unpacked, (int64_t)n, &r->unpacked) || r->unpacked > most)
    return bl_fail_at(err, BL_DAMAGED, r->at, "byte %lld: Avro block: the blocks unpack to more than %lld bytes",
                      (long long)r->at, (long long)most);
  return BL_OK;
}

bl_status bl_avro_next_block(bl_avro_reader *r, const uint8_t **p, size_t *n, int64_t *records, bl_error *err) {
  const uint8_t *at;
  *records = 0;
  *p = NULL;
  *n = 0;
  BL_TRY(peek(r, WINDOW, err));
  if (r->at == r->size) return BL_OK;
  if (r->head.bytes > r->ctx->o.max_metadata_bytes && r->in)
    return block_fail(r, err, "longer than the limit of the context");
  BL_TRY(fetch(r, r->at, r->head.bytes, WINDOW, &at, err));
  BL_TRY(check_sync(r, at + r->head.bytes - SYNC, err));
  const uint8_t *packed = at + r->body;
  size_t n_packed = (size_t)(r->head.bytes - r->body - SYNC);
  bool plain = bl_avro_codec_is_null(r->codec);
  if (!plain) BL_TRY(bl_avro_unpack(r->codec, packed, n_packed, r->at, &r->raw, err));
  const uint8_t *raw = plain ? packed : r->raw.p;
  size_t n_raw = plain ? n_packed : r->raw.n;
  BL_TRY(check_count(r, n_raw, err));
  BL_TRY(count_unpacked(r, n_raw, err));
  r->block = (bl_avro_cursor){raw, raw + n_raw, raw, plain ? r->at + r->body : r->at, !plain};
  *p = raw;
  *n = n_raw;
  *records = r->head.records;
  r->at += r->head.bytes;
  r->peeked = false;
  return BL_OK;
}

void bl_avro_block_cursor(const bl_avro_reader *r, bl_avro_cursor *c) {
  *c = r->block;
}
