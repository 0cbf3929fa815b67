/* arrow_build.c: see arrow_build.h.
 *
 * Invariants, for a builder of `length` rows
 *  1. Every buffer holds exactly `length` values, offsets one more once there is a row.
 *  2. bits is empty as long as no row is null; from the first null on it has a bit for every row.
 *  3. Between two rows the children of a struct have its length, and the last offset of a list is its child's. */
#include "rows/arrow_build.h"

#include <assert.h>

#include "base/buf.h"
#include "rows/arrow_own.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Arrow buffers are in the order of the machine");

typedef enum shape { SHAPE_NONE, SHAPE_BITS, SHAPE_WIDTH, SHAPE_BYTES, SHAPE_STRUCT, SHAPE_LIST, SHAPE_MAP } shape;

struct bl_builder {
  bl_ctx *ctx;
  char *format, *name;
  shape shape;
  char number; /* i integer, f float, d decimal, 0 none of them */
  size_t width;
  bool nullable;
  int64_t length, nulls;
  bl_buf bits, data, offsets;
  bl_builder **children;
  int64_t n_children;
};

/* ---- making ---- */

static bool is_one_of(const char *f, const char *const *all) {
  for (; *all; all++)
    if (strcmp(f, *all) == 0) return true;
  return false;
}

/* A number behind a prefix, to the end or to a comma. */
static bool number_at(const char *p, int64_t *out) {
  size_t n = 0;
  while (p[n] && p[n] != ',') n++;
  return bl_parse_i64((bl_str){p, n}, out);
}

static bool fixed_of(bl_builder *b, const char *f) {
  static const char *const one[] = {"c", "C", NULL}, *const two[] = {"s", "S", NULL};
  static const char *const four[] = {"i", "I", "tdD", "tts", "ttm", NULL};
  static const char *const eight[] = {"l", "L", "tdm", "ttu", "ttn", NULL};
  bool timestamp = f[0] == 't' && f[1] == 's' && f[2] && strchr("smun", f[2]) && f[3] == ':';
  b->number = 'i';
  b->width = is_one_of(f, one) ? 1 : is_one_of(f, two) ? 2 : is_one_of(f, four) ? 4 : 0;
  if (is_one_of(f, eight) || timestamp) b->width = 8;
  if (b->width) return true;
  b->number = 'f';
  b->width = strcmp(f, "f") == 0 ? 4 : strcmp(f, "g") == 0 ? 8 : 0;
  return b->width != 0;
}

static bool shape_of(bl_builder *b, const char *f) {
  int64_t n;
  if (strcmp(f, "n") == 0) b->shape = SHAPE_NONE;
  else if (strcmp(f, "b") == 0) b->shape = SHAPE_BITS;
  else if (strcmp(f, "u") == 0 || strcmp(f, "z") == 0) b->shape = SHAPE_BYTES;
  else if (strcmp(f, "+s") == 0) b->shape = SHAPE_STRUCT;
  else if (strcmp(f, "+l") == 0) b->shape = SHAPE_LIST;
  else if (strcmp(f, "+m") == 0) b->shape = SHAPE_MAP;
  else b->shape = SHAPE_WIDTH;
  if (b->shape != SHAPE_WIDTH || fixed_of(b, f)) return true;
  b->number = 0;
  if (f[0] == 'w' && f[1] == ':' && number_at(f + 2, &n) && n >= 0 && n <= INT32_MAX) {
    b->width = (size_t)n;
    return true;
  }
  b->number = 'd';
  b->width = 16;
  const char *comma = f[0] == 'd' && f[1] == ':' ? strchr(f, ',') : NULL, *bits = comma ? strchr(comma + 1, ',') : NULL;
  return comma && (!bits || strcmp(bits, ",128") == 0);
}

static bool child_count_fits(const bl_builder *b, const struct ArrowSchema *t) {
  if (b->shape == SHAPE_MAP) return t->n_children == 1 && t->children[0]->n_children == 2;
  if (b->shape == SHAPE_LIST) return t->n_children == 1;
  return b->shape == SHAPE_STRUCT || t->n_children == 0;
}

static bl_status init(bl_builder *b, const struct ArrowSchema *t, bl_error *err) {
  bl_buf_init(&b->bits, b->ctx, BL_BUF_MAX);
  bl_buf_init(&b->data, b->ctx, BL_BUF_MAX);
  bl_buf_init(&b->offsets, b->ctx, BL_BUF_MAX);
  b->format = bl_strdup(b->ctx, t->format);
  b->name = bl_strdup(b->ctx, t->name ? t->name : "");
  b->nullable = t->flags & ARROW_FLAG_NULLABLE;
  if (!b->format || !b->name) return bl_nomem(err);
  char name[BL_TYPE_NAME_BYTES];
  if (!shape_of(b, t->format) || t->dictionary || !child_count_fits(b, t))
    return bl_fail(err, BL_UNSUPPORTED, "column %s: no builder of the type %s%s", b->name,
                   bl_aformat_name(t->format, name), t->dictionary ? " in a dictionary" : "");
  b->children = bl_calloc(b->ctx, (size_t)t->n_children, sizeof *b->children);
  if (!b->children) return bl_nomem(err);
  for (; b->n_children < t->n_children; b->n_children++)
    BL_TRY(bl_builder_new(b->ctx, t->children[b->n_children], &b->children[b->n_children], err));
  return BL_OK;
}

bl_status bl_builder_new(bl_ctx *ctx, const struct ArrowSchema *type, bl_builder **out, bl_error *err) {
  bl_builder *b = bl_calloc(ctx, 1, sizeof *b);
  *out = NULL;
  if (!b) return bl_nomem(err);
  b->ctx = ctx;
  bl_status st = init(b, type, err);
  if (st != BL_OK) bl_builder_free(b);
  else *out = b;
  return st;
}

void bl_builder_free(bl_builder *b) {
  if (!b) return;
  for (int64_t i = 0; b->children && i < b->n_children; i++) bl_builder_free(b->children[i]);
  bl_free(b->ctx, b->children);
  bl_buf_free(&b->bits);
  bl_buf_free(&b->data);
  bl_buf_free(&b->offsets);
  bl_free(b->ctx, b->format);
  bl_free(b->ctx, b->name);
  bl_free(b->ctx, b);
}

void bl_builder_reset(bl_builder *b) {
  b->length = b->nulls = 0;
  bl_buf_clear(&b->bits);
  bl_buf_clear(&b->data);
  bl_buf_clear(&b->offsets);
  for (int64_t i = 0; i < b->n_children; i++) bl_builder_reset(b->children[i]);
}

bl_builder *bl_builder_child(bl_builder *b, int64_t i) {
  assert(i >= 0 && i < b->n_children);
  return b->children[i];
}

int64_t bl_builder_children(const bl_builder *b) {
  return b->n_children;
}

int64_t bl_builder_length(const bl_builder *b) {
  return b->length;
}

bool bl_builder_nullable(const bl_builder *b) {
  return b->nullable;
}

const char *bl_builder_format(const bl_builder *b) {
  return b->format;
}

size_t bl_builder_size(const bl_builder *b) {
  size_t n = b->bits.n + b->data.n + b->offsets.n;
  for (int64_t i = 0; i < b->n_children; i++) n += bl_builder_size(b->children[i]);
  return n;
}

/* ---- rows ---- */

static void put_bit(bl_buf *bits, int64_t i, bool on) {
  if (i % 8 == 0) bl_buf_byte(bits, 0);
  if (on && !bits->failed) bl_bit_set(bits->p, i);
}

/* The row whose value was just put is there (invariant 2). */
static bl_status end_row(bl_builder *b, bool valid, bl_error *err) {
  if (!valid && !b->nulls)
    for (int64_t i = 0; i < b->length; i++) put_bit(&b->bits, i, true);
  if (!valid) b->nulls++;
  if (b->nulls) put_bit(&b->bits, b->length, valid);
  if (b->bits.failed || b->data.failed || b->offsets.failed) return bl_nomem(err);
  b->length++;
  return BL_OK;
}

static bl_status too_large(const bl_builder *b, bl_error *err) {
  return bl_fail(err, BL_UNSUPPORTED, "column %s: more than 2 GiB or 2^31 items in one batch", b->name);
}

static bl_status misfit(const bl_builder *b, const char *what, bl_error *err) {
  char name[BL_TYPE_NAME_BYTES];
  return bl_fail(err, BL_USAGE, "column %s: %s for the type %s", b->name, what, bl_aformat_name(b->format, name));
}

static bl_status put_offset(bl_builder *b, int64_t end, bl_error *err) {
  int32_t v = (int32_t)end, zero = 0;
  if (end > INT32_MAX) return too_large(b, err);
  if (!b->offsets.n) bl_buf_add(&b->offsets, &zero, sizeof zero);
  bl_buf_add(&b->offsets, &v, sizeof v);
  return BL_OK;
}

static void put_zeros(bl_buf *b, size_t n) {
  uint8_t *p = bl_buf_reserve(b, n);
  if (!p) return;
  memset(p, 0, n);
  b->n += n;
}

/* A row without a value of its own, null or empty. */
static bl_status put_nothing(bl_builder *b, bool valid, bl_error *err) {
  switch (b->shape) {
  case SHAPE_NONE:
    b->nulls++;
    b->length++;
    return BL_OK;
  case SHAPE_BITS: put_bit(&b->data, b->length, false); break;
  case SHAPE_WIDTH: put_zeros(&b->data, b->width); break;
  case SHAPE_BYTES: BL_TRY(put_offset(b, (int64_t)b->data.n, err)); break;
  case SHAPE_LIST:
  case SHAPE_MAP: BL_TRY(put_offset(b, b->children[0]->length, err)); break;
  case SHAPE_STRUCT:
    for (int64_t i = 0; i < b->n_children; i++)
      BL_TRY(put_nothing(b->children[i], valid || !b->children[i]->nullable, err));
    break;
  }
  return end_row(b, valid, err);
}

bl_status bl_builder_null(bl_builder *b, bl_error *err) {
  if (!b->nullable && b->shape != SHAPE_NONE)
    return bl_fail(err, BL_USAGE, "column %s: null in a required column", b->name);
  return put_nothing(b, false, err);
}

bl_status bl_builder_empty(bl_builder *b, bl_error *err) {
  return put_nothing(b, true, err);
}

bl_status bl_builder_bool(bl_builder *b, bool v, bl_error *err) {
  if (b->shape != SHAPE_BITS) return misfit(b, "a truth value", err);
  put_bit(&b->data, b->length, v);
  return end_row(b, true, err);
}

static bool int_fits(size_t width, int64_t v) {
  switch (width) {
  case 1: return v == (int8_t)v || v == (uint8_t)v;
  case 2: return v == (int16_t)v || v == (uint16_t)v;
  case 4: return v == (int32_t)v || v == (uint32_t)v;
  default: return true;
  }
}

bl_status bl_builder_int(bl_builder *b, int64_t v, bl_error *err) {
  if (b->number == 'd') return bl_builder_decimal(b, v, err);
  if (b->number != 'i') return misfit(b, "a whole number", err);
  if (!int_fits(b->width, v)) return misfit(b, "a number that does not fit", err);
  bl_buf_add(&b->data, &v, b->width); /* little-endian: the low bytes come first */
  return end_row(b, true, err);
}

bl_status bl_builder_decimal(bl_builder *b, bl_i128 unscaled, bl_error *err) {
  if (b->number != 'd') return misfit(b, "a decimal", err);
  bl_buf_add(&b->data, &unscaled, sizeof unscaled);
  return end_row(b, true, err);
}

bl_status bl_builder_double(bl_builder *b, double v, bl_error *err) {
  float f = (float)v;
  if (b->number != 'f') return misfit(b, "a floating point number", err);
  bl_buf_add(&b->data, b->width == 4 ? (const void *)&f : &v, b->width);
  return end_row(b, true, err);
}

bl_status bl_builder_float(bl_builder *b, float v, bl_error *err) {
  if (b->number != 'f' || b->width != 4) return bl_builder_double(b, (double)v, err);
  bl_buf_add(&b->data, &v, sizeof v);
  return end_row(b, true, err);
}

bl_status bl_builder_bytes(bl_builder *b, const void *p, size_t n, bl_error *err) {
  bool fixed = b->shape == SHAPE_WIDTH && !b->number;
  if (!fixed && b->shape != SHAPE_BYTES) return misfit(b, "bytes", err);
  if (fixed && n != b->width) return misfit(b, "a wrong number of bytes", err);
  if (n > INT32_MAX - b->data.n && !fixed) return too_large(b, err);
  bl_buf_add(&b->data, p, n);
  if (!fixed) BL_TRY(put_offset(b, (int64_t)b->data.n, err));
  return end_row(b, true, err);
}

bl_status bl_builder_close(bl_builder *b, bl_error *err) {
  assert(b->shape >= SHAPE_STRUCT);
  if (b->shape == SHAPE_STRUCT) {
    for (int64_t i = 0; i < b->n_children; i++) assert(b->children[i]->length == b->length + 1);
  } else {
    BL_TRY(put_offset(b, b->children[0]->length, err));
  }
  return end_row(b, true, err);
}

static bl_status put_value(bl_builder *b, const bl_value *v, bl_error *err) {
  switch (v->kind) {
  case BL_BOOLEAN: return bl_builder_bool(b, v->u.b, err);
  case BL_FLOAT: return bl_builder_float(b, v->u.f, err);
  case BL_DOUBLE: return bl_builder_double(b, v->u.d, err);
  case BL_DECIMAL: return bl_builder_decimal(b, v->u.dec, err);
  case BL_STRING:
  case BL_UUID:
  case BL_FIXED:
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return bl_builder_bytes(b, v->u.s.p, v->u.s.n, err);
  case BL_INT:
  case BL_LONG:
  case BL_DATE:
  case BL_TIME:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS:
  case BL_TIMESTAMPTZ_NS: return bl_builder_int(b, v->u.i, err);
  default: return misfit(b, "a nested value", err);
  }
}

bl_status bl_builder_value(bl_builder *b, const bl_value *v, int64_t n, bl_error *err) {
  bool null = v->null || v->kind == BL_KIND_UNKNOWN;
  for (int64_t i = 0; i < n; i++) BL_TRY(null ? bl_builder_null(b, err) : put_value(b, v, err));
  return BL_OK;
}

bl_status bl_builder_sequence(bl_builder *b, int64_t start, int64_t n, bl_error *err) {
  if (b->number != 'i' || b->width != 8) return misfit(b, "a sequence of numbers", err);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = (int64_t)((uint64_t)start + (uint64_t)i);
    bl_buf_add(&b->data, &v, sizeof v);
    BL_TRY(end_row(b, true, err));
  }
  return BL_OK;
}

/* ---- handing out ---- */

/* Buffer i of the array takes the bytes of b over; there is always a block, with room for readers that go by 64. */
static bl_status give(struct ArrowArray *a, int64_t i, bl_buf *b, bl_error *err) {
  if (!bl_buf_reserve(b, 64)) return bl_nomem(err);
  bl_array_give(a, i, b->p);
  bl_buf_init(b, b->ctx, b->max);
  return BL_OK;
}

static bl_status give_buffers(bl_builder *b, struct ArrowArray *out, bl_error *err) {
  if (b->nulls && out->n_buffers > 0) BL_TRY(give(out, 0, &b->bits, err));
  if (out->n_buffers < 2) return BL_OK;
  if (b->shape == SHAPE_WIDTH || b->shape == SHAPE_BITS) return give(out, 1, &b->data, err);
  if (!b->offsets.n) put_zeros(&b->offsets, 4);
  BL_TRY(give(out, 1, &b->offsets, err));
  return out->n_buffers == 3 ? give(out, 2, &b->data, err) : BL_OK;
}

bl_status bl_builder_finish(bl_builder *b, struct ArrowArray *out, bl_error *err) {
  static const int64_t buffers[] = {0, 2, 2, 3, 1, 2, 2};
  static_assert(BL_LEN(buffers) == SHAPE_MAP + 1, "one number a shape");
  bl_status st = bl_array_new(b->ctx, b->length, buffers[b->shape], b->n_children, out, err);
  if (st != BL_OK) return st;
  out->null_count = b->nulls;
  st = give_buffers(b, out, err);
  for (int64_t i = 0; st == BL_OK && i < b->n_children; i++)
    st = bl_builder_finish(b->children[i], out->children[i], err);
  if (st != BL_OK) bl_array_release(out);
  bl_builder_reset(b);
  return st;
}
