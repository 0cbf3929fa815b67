/* variant_build.c: variants put together from parts, and from JSON.
 *
 * A tree is kept as a list of its values in the order they are put: a container before its elements, with the index
 * behind its last one (`end`), so that a subtree is a range. Keys are kept once, in the order of their first use, and
 * found by a hash table.
 *
 * What is written depends on the values alone, not on the order of calls: the dictionary is sorted and holds the keys
 * that are used, members follow it, every width is the smallest possible. */
#include <stdlib.h>

#include "base/map.h"
#include "base/text.h"
#include "format/variant.h"
#include "format/variant_bytes.h"

enum { NO_KEY = -1, DICT_SORTED = 1 << 4, DICT_VERSION = 1 };

typedef struct part {
  bl_variant_basic basic;
  int32_t key;         /* index in keys, NO_KEY outside of objects */
  uint32_t end;        /* behind the last value of the subtree */
  uint32_t n;          /* children */
  size_t at, size;     /* primitives: their bytes in data; containers: size once known */
  size_t inside;       /* containers: bytes of all children */
  uint32_t largest_id; /* objects */
} part;

typedef struct key {
  size_t at, n; /* in key_bytes */
  uint64_t hash;
  uint32_t id;    /* in the written dictionary, once known */
  uint32_t owner; /* the last object that put_members found to have it: its index + 1 */
} key;

struct bl_variant_builder {
  bl_ctx *ctx;
  part *parts;
  size_t n, cap;
  uint32_t *open; /* containers that are not ended, outermost first */
  size_t n_open, cap_open;
  int32_t next_key; /* put_key was called and no value yet */
  bl_buf data;
  key *keys;
  size_t n_keys, cap_keys;
  bl_buf key_bytes;
  uint32_t *slots; /* index of a key + 1; 0 = free; a power of two of them */
  size_t n_slots;
  uint32_t *order; /* scratch: keys, then children, by name */
  size_t n_order, cap_order;
};

bl_status bl_variant_builder_new(bl_ctx *ctx, bl_variant_builder **out, bl_error *err) {
  bl_variant_builder *v = bl_calloc(ctx, 1, sizeof *v);
  *out = v;
  if (!v) return bl_nomem(err);
  v->ctx = ctx;
  v->next_key = NO_KEY;
  bl_buf_init(&v->data, ctx, UINT32_MAX);
  bl_buf_init(&v->key_bytes, ctx, UINT32_MAX);
  return BL_OK;
}

void bl_variant_builder_free(bl_variant_builder *v) {
  if (!v) return;
  bl_free(v->ctx, v->parts);
  bl_free(v->ctx, v->open);
  bl_free(v->ctx, v->keys);
  bl_free(v->ctx, v->slots);
  bl_free(v->ctx, v->order);
  bl_buf_free(&v->data);
  bl_buf_free(&v->key_bytes);
  bl_free(v->ctx, v);
}

void bl_variant_builder_reset(bl_variant_builder *v) {
  v->n = v->n_open = v->n_keys = v->n_order = 0;
  v->next_key = NO_KEY;
  bl_buf_clear(&v->data);
  bl_buf_clear(&v->key_bytes);
  if (v->n_slots) memset(v->slots, 0, v->n_slots * sizeof *v->slots);
}

/* ---- keys ---- */

static bl_str key_text(const bl_variant_builder *v, const key *k) {
  return (bl_str){(const char *)v->key_bytes.p + k->at, k->n};
}

/* The slot where a key is, or the free one where it belongs. */
static uint32_t *find_slot(const bl_variant_builder *v, bl_str text, uint64_t hash) {
  size_t i = (size_t)hash & (v->n_slots - 1);
  for (; v->slots[i]; i = (i + 1) & (v->n_slots - 1)) {
    const key *k = &v->keys[v->slots[i] - 1];
    if (k->hash == hash && bl_str_eq(key_text(v, k), text)) break;
  }
  return &v->slots[i];
}

static bl_status grow_slots(bl_variant_builder *v, bl_error *err) {
  if (v->n_keys * 2 < v->n_slots) return BL_OK;
  size_t n = v->n_slots ? v->n_slots * 2 : 32;
  uint32_t *slots = bl_calloc(v->ctx, n, sizeof *slots);
  if (!slots) return bl_nomem(err);
  bl_free(v->ctx, v->slots);
  v->slots = slots;
  v->n_slots = n;
  for (size_t i = 0; i < v->n_keys; i++) *find_slot(v, key_text(v, &v->keys[i]), v->keys[i].hash) = (uint32_t)i + 1;
  return BL_OK;
}

bl_status bl_variant_put_key(bl_variant_builder *v, bl_str text, bl_error *err) {
  BL_TRY(grow_slots(v, err));
  uint64_t hash = bl_hash(text.p, text.n);
  uint32_t *slot = find_slot(v, text, hash);
  if (!*slot) {
    BL_TRY(bl_grow(v->ctx, &v->keys, &v->cap_keys, v->n_keys, sizeof *v->keys, err));
    size_t at = v->key_bytes.n;
    bl_buf_str(&v->key_bytes, text);
    BL_TRY(bl_buf_ok(&v->key_bytes, err));
    v->keys[v->n_keys++] = (key){.at = at, .n = text.n, .hash = hash};
    *slot = (uint32_t)v->n_keys;
  }
  v->next_key = (int32_t)*slot - 1;
  return BL_OK;
}

/* ---- values ---- */

static bl_status add_part(bl_variant_builder *v, part p, bl_error *err) {
  if (v->n >= UINT32_MAX - 1) return bl_fail(err, BL_UNSUPPORTED, "variant: more than %zu values", v->n);
  BL_TRY(bl_grow(v->ctx, &v->parts, &v->cap, v->n, sizeof *v->parts, err));
  if (v->n_open > 0) v->parts[v->open[v->n_open - 1]].n++;
  p.key = v->next_key;
  p.end = (uint32_t)v->n + 1;
  v->next_key = NO_KEY;
  v->parts[v->n++] = p;
  return BL_OK;
}

/* A primitive whose bytes are head and n of p. */
static bl_status put_bytes(bl_variant_builder *v, const void *head, size_t n_head, const void *p, size_t n,
                           bl_error *err) {
  part x = {.basic = BL_VB_PRIMITIVE, .at = v->data.n, .size = n_head + n};
  bl_buf_add(&v->data, head, n_head);
  bl_buf_add(&v->data, p, n);
  BL_TRY(bl_buf_ok(&v->data, err));
  return add_part(v, x, err);
}

static bl_status put_primitive(bl_variant_builder *v, bl_variant_type t, const void *p, size_t n, bl_error *err) {
  uint8_t head = (uint8_t)(t << 2 | BL_VB_PRIMITIVE);
  return put_bytes(v, &head, 1, p, n, err);
}

static void store(uint8_t *p, uint64_t n, int width) {
  for (int i = 0; i < width; i++) p[i] = (uint8_t)(n >> 8 * i);
}

static bl_status put_number(bl_variant_builder *v, bl_variant_type t, int64_t n, int width, bl_error *err) {
  uint8_t bytes[8];
  store(bytes, (uint64_t)n, width);
  return put_primitive(v, t, bytes, (size_t)width, err);
}

bl_status bl_variant_put_null(bl_variant_builder *v, bl_error *err) {
  return put_primitive(v, BL_VT_NULL, NULL, 0, err);
}
bl_status bl_variant_put_bool(bl_variant_builder *v, bool b, bl_error *err) {
  return put_primitive(v, b ? BL_VT_TRUE : BL_VT_FALSE, NULL, 0, err);
}
bl_status bl_variant_put_int(bl_variant_builder *v, int64_t i, int bytes, bl_error *err) {
  bl_variant_type t = bytes == 1 ? BL_VT_INT8 : bytes == 2 ? BL_VT_INT16 : bytes == 4 ? BL_VT_INT32 : BL_VT_INT64;
  return put_number(v, t, i, bytes, err);
}
bl_status bl_variant_put_double(bl_variant_builder *v, double d, bl_error *err) {
  return put_primitive(v, BL_VT_DOUBLE, &d, sizeof d, err);
}
bl_status bl_variant_put_float(bl_variant_builder *v, float f, bl_error *err) {
  return put_primitive(v, BL_VT_FLOAT, &f, sizeof f, err);
}
bl_status bl_variant_put_decimal(bl_variant_builder *v, const uint8_t le[16], int scale, int bytes, bl_error *err) {
  uint8_t data[17] = {(uint8_t)scale};
  memcpy(data + 1, le, (size_t)bytes);
  bl_variant_type t = bytes == 4 ? BL_VT_DECIMAL4 : bytes == 8 ? BL_VT_DECIMAL8 : BL_VT_DECIMAL16;
  return put_primitive(v, t, data, (size_t)bytes + 1, err);
}
bl_status bl_variant_put_date(bl_variant_builder *v, int32_t days, bl_error *err) {
  return put_number(v, BL_VT_DATE, days, 4, err);
}
bl_status bl_variant_put_time(bl_variant_builder *v, int64_t us, bl_error *err) {
  return put_number(v, BL_VT_TIME, us, 8, err);
}
bl_status bl_variant_put_timestamp(bl_variant_builder *v, int64_t t, bool nanos, bool zone, bl_error *err) {
  bl_variant_type type =
      zone ? (nanos ? BL_VT_TIMESTAMPTZ_NS : BL_VT_TIMESTAMPTZ) : (nanos ? BL_VT_TIMESTAMP_NS : BL_VT_TIMESTAMP);
  return put_number(v, type, t, 8, err);
}
bl_status bl_variant_put_uuid(bl_variant_builder *v, const uint8_t u[16], bl_error *err) {
  return put_primitive(v, BL_VT_UUID, u, 16, err);
}

static bl_status put_long(bl_variant_builder *v, bl_variant_type t, bl_str s, bl_error *err) {
  uint8_t head[5] = {(uint8_t)(t << 2 | BL_VB_PRIMITIVE)};
  if (s.n > UINT32_MAX) return bl_fail(err, BL_UNSUPPORTED, "variant: string or binary of %zu bytes", s.n);
  store(head + 1, s.n, 4);
  return put_bytes(v, head, sizeof head, s.p, s.n, err);
}

bl_status bl_variant_put_string(bl_variant_builder *v, bl_str s, bl_error *err) {
  if (s.n > 63) return put_long(v, BL_VT_STRING, s, err);
  uint8_t head = (uint8_t)(s.n << 2 | BL_VB_SHORT_STRING);
  return put_bytes(v, &head, 1, s.p, s.n, err);
}
bl_status bl_variant_put_binary(bl_variant_builder *v, bl_str s, bl_error *err) {
  return put_long(v, BL_VT_BINARY, s, err);
}

/* ---- containers ---- */

static bl_status begin(bl_variant_builder *v, bl_variant_basic basic, bl_error *err) {
  BL_TRY(bl_variant_check_depth(v->ctx, (int)v->n_open + 1, err));
  BL_TRY(bl_grow(v->ctx, &v->open, &v->cap_open, v->n_open, sizeof *v->open, err));
  BL_TRY(add_part(v, (part){.basic = basic}, err));
  v->open[v->n_open++] = (uint32_t)v->n - 1;
  return BL_OK;
}

static bl_status end(bl_variant_builder *v, bl_variant_basic basic, bl_error *err) {
  if (v->n_open == 0 || v->parts[v->open[v->n_open - 1]].basic != basic)
    return bl_fail(err, BL_USAGE, "variant: end of a container that was not begun");
  v->parts[v->open[--v->n_open]].end = (uint32_t)v->n;
  return BL_OK;
}

bl_status bl_variant_begin_object(bl_variant_builder *v, bl_error *err) {
  return begin(v, BL_VB_OBJECT, err);
}
bl_status bl_variant_end_object(bl_variant_builder *v, bl_error *err) {
  return end(v, BL_VB_OBJECT, err);
}
bl_status bl_variant_begin_array(bl_variant_builder *v, bl_error *err) {
  return begin(v, BL_VB_ARRAY, err);
}
bl_status bl_variant_end_array(bl_variant_builder *v, bl_error *err) {
  return end(v, BL_VB_ARRAY, err);
}

/* ---- values that are encoded already ---- */

static bl_status put_node(bl_variant_builder *v, const bl_variant_dict *d, bl_variant_node *x, bl_error *err);

/* skip: leave out members whose key has this owner; 0: none. */
static bl_status put_children(bl_variant_builder *v, const bl_variant_dict *d, bl_variant_node *x, uint32_t skip,
                              bl_error *err) {
  for (uint32_t i = 0; i < x->n; i++) {
    bl_variant_node child;
    bl_str name;
    BL_TRY(bl_variant_child(x, i, &child, err));
    if (x->basic == BL_VB_OBJECT) {
      BL_TRY(bl_variant_key(d, x, i, &name, err));
      BL_TRY(bl_variant_put_key(v, name, err));
      if (skip && v->keys[v->next_key].owner == skip) continue;
    }
    BL_TRY(put_node(v, d, &child, err));
  }
  return BL_OK;
}

static bl_status put_node(bl_variant_builder *v, const bl_variant_dict *d, bl_variant_node *x, bl_error *err) {
  switch (x->basic) {
  case BL_VB_PRIMITIVE:
    if (x->type != BL_VT_STRING) return put_bytes(v, x->whole.p, x->whole.n, NULL, 0, err);
    return bl_variant_put_string(v, x->data, err);
  case BL_VB_SHORT_STRING: return bl_variant_put_string(v, x->data, err);
  case BL_VB_OBJECT:
  case BL_VB_ARRAY: break;
  }
  BL_TRY(begin(v, x->basic, err));
  BL_TRY(put_children(v, d, x, 0, err));
  return end(v, x->basic, err);
}

bl_status bl_variant_put_encoded(bl_variant_builder *v, bl_str metadata, bl_str value, bl_error *err) {
  bl_variant_dict d;
  bl_variant_node x;
  BL_TRY(bl_variant_dict_read(metadata, &d, err));
  BL_TRY(bl_variant_read(value, &x, err));
  return put_node(v, &d, &x, err);
}

/* A member that the object has already (a shredded field, which a writer should not have left here too) stays as it is:
 * the shredded value counts. */
bl_status bl_variant_put_members(bl_variant_builder *v, bl_str metadata, bl_str object, bl_error *err) {
  bl_variant_dict d;
  bl_variant_node x;
  BL_TRY(bl_variant_dict_read(metadata, &d, err));
  BL_TRY(bl_variant_read(object, &x, err));
  if (x.basic != BL_VB_OBJECT) return bl_fail(err, BL_DAMAGED, "variant: the rest of a shredded object is no object");
  if (v->n_open == 0) return bl_fail(err, BL_USAGE, "variant: members without an object");
  uint32_t object_at = v->open[v->n_open - 1];
  for (uint32_t c = object_at + 1; c < v->n; c = v->parts[c].end) v->keys[v->parts[c].key].owner = object_at + 1;
  BL_TRY(put_children(v, &d, &x, object_at + 1, err));
  v->next_key = NO_KEY;
  return BL_OK;
}

/* ---- writing ---- */

/* Bytes that hold n, 1 to 4. */
static int width_of(size_t n) {
  return n < 1u << 8 ? 1 : n < 1u << 16 ? 2 : n < 1u << 24 ? 3 : 4;
}

static int by_name(const void *a, const void *b, void *user) {
  const bl_variant_builder *v = user;
  return bl_str_cmp(key_text(v, &v->keys[*(const uint32_t *)a]), key_text(v, &v->keys[*(const uint32_t *)b]));
}
static int by_id(const void *a, const void *b, void *user) {
  const bl_variant_builder *v = user;
  uint32_t x = v->keys[v->parts[*(const uint32_t *)a].key].id, y = v->keys[v->parts[*(const uint32_t *)b].key].id;
  return (x > y) - (x < y);
}

static bl_status push_order(bl_variant_builder *v, uint32_t i, bl_error *err) {
  BL_TRY(bl_grow(v->ctx, &v->order, &v->cap_order, v->n_order, sizeof *v->order, err));
  v->order[v->n_order++] = i;
  return BL_OK;
}

static void put_le(bl_buf *b, uint64_t n, int width) {
  uint8_t bytes[8];
  store(bytes, n, width);
  bl_buf_add(b, bytes, (size_t)width);
}

/* Number the keys by name; the dictionary into metadata. */
static bl_status write_dictionary(bl_variant_builder *v, bl_buf *metadata, bl_error *err) {
  v->n_order = 0;
  for (size_t i = 0; i < v->n_keys; i++) BL_TRY(push_order(v, (uint32_t)i, err));
  bl_sort_r(v->order, v->n_order, sizeof *v->order, by_name, v);
  int width = width_of(v->key_bytes.n > v->n_keys ? v->key_bytes.n : v->n_keys);
  bl_buf_byte(metadata, (uint8_t)((width - 1) << 6 | DICT_SORTED | DICT_VERSION));
  put_le(metadata, v->n_keys, width);
  size_t at = 0;
  put_le(metadata, 0, width);
  for (size_t i = 0; i < v->n_keys; i++) {
    key *k = &v->keys[v->order[i]];
    k->id = (uint32_t)i;
    at += k->n;
    put_le(metadata, at, width);
  }
  for (size_t i = 0; i < v->n_keys; i++) bl_buf_str(metadata, key_text(v, &v->keys[v->order[i]]));
  v->n_order = 0;
  return bl_buf_ok(metadata, err);
}

/* Sizes of all containers, inner ones first: a container's children lie behind it. */
static bl_status measure(bl_variant_builder *v, bl_error *err) {
  for (size_t i = v->n; i-- > 0;) {
    part *p = &v->parts[i];
    if (p->basic == BL_VB_PRIMITIVE) continue;
    p->inside = p->largest_id = 0;
    for (uint32_t c = (uint32_t)i + 1; c < p->end; c = v->parts[c].end) {
      p->inside += v->parts[c].size;
      if (p->basic == BL_VB_OBJECT && v->keys[v->parts[c].key].id > p->largest_id)
        p->largest_id = v->keys[v->parts[c].key].id;
    }
    if (p->inside > UINT32_MAX) return bl_fail(err, BL_UNSUPPORTED, "variant: array or object of %zu bytes", p->inside);
    p->size = 1 + (p->n > 255 ? 4 : 1) + ((size_t)p->n + 1) * (size_t)width_of(p->inside) + p->inside;
    if (p->basic == BL_VB_OBJECT) p->size += (size_t)p->n * (size_t)width_of(p->largest_id);
  }
  return BL_OK;
}

/* Header, number, ids and offsets of a container whose children are order[first …]. */
static void write_head(const bl_variant_builder *v, const part *p, size_t first, bl_buf *out) {
  bool object = p->basic == BL_VB_OBJECT, large = p->n > 255;
  int id_width = width_of(p->largest_id), width = width_of(p->inside);
  int head = object ? large << 4 | (id_width - 1) << 2 | (width - 1) : large << 2 | (width - 1);
  bl_buf_byte(out, (uint8_t)(head << 2 | (int)p->basic));
  put_le(out, p->n, large ? 4 : 1);
  for (uint32_t i = 0; object && i < p->n; i++) put_le(out, v->keys[v->parts[v->order[first + i]].key].id, id_width);
  size_t at = 0;
  put_le(out, 0, width);
  for (uint32_t i = 0; i < p->n; i++) {
    at += v->parts[v->order[first + i]].size;
    put_le(out, at, width);
  }
}

static bl_status check_twice(const bl_variant_builder *v, size_t first, bl_error *err) {
  for (size_t i = first + 1; i < v->n_order; i++) {
    int32_t k = v->parts[v->order[i]].key;
    if (k == v->parts[v->order[i - 1]].key)
      return bl_fail(err, BL_DAMAGED, "variant: an object has the key \"%.*s\" twice",
                     BL_STR_ARG(key_text(v, &v->keys[k])));
  }
  return BL_OK;
}

/* Depth is that of the open containers, which begin has bounded. */
static bl_status write_part(bl_variant_builder *v, uint32_t i, bl_buf *out, bl_error *err) {
  const part *p = &v->parts[i];
  if (p->basic == BL_VB_PRIMITIVE) {
    bl_buf_add(out, v->data.p + p->at, p->size);
    return BL_OK;
  }
  size_t first = v->n_order;
  for (uint32_t c = i + 1; c < p->end; c = v->parts[c].end) BL_TRY(push_order(v, c, err));
  if (p->basic == BL_VB_OBJECT && p->n > 1) {
    bl_sort_r(v->order + first, p->n, sizeof *v->order, by_id, v);
    BL_TRY(check_twice(v, first, err));
  }
  write_head(v, p, first, out);
  for (uint32_t k = 0; k < p->n; k++) BL_TRY(write_part(v, v->order[first + k], out, err));
  v->n_order = first;
  return BL_OK;
}

bl_status bl_variant_finish(bl_variant_builder *v, bl_buf *metadata, bl_buf *value, bl_error *err) {
  if (v->n == 0 || v->n_open > 0 || v->parts[0].end != v->n)
    return bl_fail(err, BL_USAGE, "variant: not exactly one whole value was put");
  BL_TRY(write_dictionary(v, metadata, err));
  BL_TRY(measure(v, err));
  BL_TRY(write_part(v, 0, value, err));
  return bl_buf_ok(value, err);
}

/* ---- JSON ---- */

static bl_status put_whole(bl_variant_builder *v, int64_t i, bl_error *err) {
  int bytes = i == (int8_t)i ? 1 : i == (int16_t)i ? 2 : i == (int32_t)i ? 4 : 8;
  return bl_variant_put_int(v, i, bytes, err);
}

/* "12.50" without an exponent: a decimal of the smallest width by its digits. */
static bool put_json_decimal(bl_variant_builder *v, bl_str text, bl_status *st, bl_error *err) {
  const char *dot = memchr(text.p, '.', text.n);
  int64_t scale = dot ? (int64_t)(text.p + text.n - dot) - 1 : 0;
  bl_i128 unscaled;
  if (memchr(text.p, 'e', text.n) || memchr(text.p, 'E', text.n) || scale > 38) return false;
  if (!bl_parse_decimal(text, (int)scale, &unscaled)) return false;
  uint8_t le[16];
  memcpy(le, &unscaled, sizeof le);
  bl_i128 magnitude = unscaled < 0 ? -unscaled : unscaled;
  int bytes = magnitude < 1000000000 ? 4 : magnitude < 1000000000000000000 ? 8 : 16;
  *st = bl_variant_put_decimal(v, le, (int)scale, bytes, err);
  return true;
}

static bl_status put_json_number(bl_variant_builder *v, const bl_json *j, bl_error *err) {
  int64_t i;
  double d;
  bl_status st;
  bool negative_zero = bl_str_is(j->text, "-0");
  if (!negative_zero && bl_parse_i64(j->text, &i)) return put_whole(v, i, err);
  if (!negative_zero && put_json_decimal(v, j->text, &st, err)) return st;
  if (bl_parse_double(j->text, &d)) return bl_variant_put_double(v, d, err);
  return bl_json_fail(err, BL_UNSUPPORTED, j, "number %.*s does not fit a variant", BL_STR_ARG(j->text));
}

static bl_status put_json(bl_variant_builder *v, const bl_json *j, bl_error *err) {
  switch (j->kind) {
  case BL_J_NULL: return bl_variant_put_null(v, err);
  case BL_J_BOOL: return bl_variant_put_bool(v, j->b, err);
  case BL_J_NUMBER: return put_json_number(v, j, err);
  case BL_J_STRING: return bl_variant_put_string(v, j->text, err);
  case BL_J_ARRAY:
  case BL_J_OBJECT: break;
  }
  bl_variant_basic basic = j->kind == BL_J_OBJECT ? BL_VB_OBJECT : BL_VB_ARRAY;
  BL_TRY(begin(v, basic, err));
  for (const bl_json *c = j->first; c; c = c->next) {
    if (basic == BL_VB_OBJECT) BL_TRY(bl_variant_put_key(v, c->key, err));
    BL_TRY(put_json(v, c, err));
  }
  return end(v, basic, err);
}

bl_status bl_variant_from_json(bl_ctx *ctx, const bl_json *j, bl_buf *metadata, bl_buf *value, bl_error *err) {
  bl_variant_builder *v;
  BL_TRY(bl_variant_builder_new(ctx, &v, err));
  bl_status st = put_json(v, j, err);
  if (st == BL_OK) st = bl_variant_finish(v, metadata, value, err);
  bl_variant_builder_free(v);
  return st;
}
