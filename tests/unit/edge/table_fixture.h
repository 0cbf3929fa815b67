/* table_fixture.h: what the tests of the Arrow edge share: a schema from a few lines, a table of every type with nulls,
 * files and inputs in memory that count and fail, and the comparison of a part of a table with the whole. */
#ifndef BL_TESTS_EDGE_TABLE_FIXTURE_H
#define BL_TESTS_EDGE_TABLE_FIXTURE_H

#include "base/buf.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_build.h"
#include "rows/arrow_own.h"
#include "rows/arrow_view.h"
#include "rows/stream.h"
#include "support/support.h"

/* ---- schemas ---- */

typedef struct column column;
struct column {
  const char *format, *name;
  bool nullable;
  int id; /* -1: none */
  const char *ext, *ext_meta;
  const column *kids;
  size_t n;
};

static inline void column_schema(bl_ctx *ctx, const column *c, struct ArrowSchema *out) {
  bl_error err = BL_ERROR_INIT;
  char id[16];
  bl_str keys[3], values[3];
  size_t n = 0;
  test_ok(bl_aschema_new(ctx, c->format, bl_str_of(c->name), c->nullable, (int64_t)c->n, out, &err), &err);
  if (c->id >= 0) {
    snprintf(id, sizeof id, "%d", c->id);
    keys[n] = BL_STR("PARQUET:field_id");
    values[n++] = bl_str_of(id);
  }
  if (c->ext) {
    keys[n] = BL_STR("ARROW:extension:name");
    values[n++] = bl_str_of(c->ext);
    keys[n] = BL_STR("ARROW:extension:metadata");
    values[n++] = bl_str_of(c->ext_meta ? c->ext_meta : "");
  }
  if (n) test_ok(bl_aschema_metadata(ctx, out, keys, values, n, &err), &err);
  for (size_t i = 0; i < c->n; i++) column_schema(ctx, &c->kids[i], out->children[i]);
}

static inline void table_schema(bl_ctx *ctx, const column *cols, size_t n, struct ArrowSchema *out) {
  column root = {.format = "+s", .name = "", .id = -1, .kids = cols, .n = n};
  column_schema(ctx, &root, out);
}

/* ---- random values ---- */

typedef struct rng {
  uint64_t s;
} rng;

static inline uint64_t rng_next(rng *r) {
  r->s ^= r->s << 13;
  r->s ^= r->s >> 7;
  r->s ^= r->s << 17;
  return r->s;
}
static inline int64_t rng_below(rng *r, int64_t n) {
  return (int64_t)(rng_next(r) % (uint64_t)n);
}

static inline void random_value(bl_builder *b, rng *r, bool inside);

static inline void random_children(bl_builder *b, rng *r) {
  for (int64_t i = 0; i < bl_builder_children(b); i++) random_value(bl_builder_child(b, i), r, true);
}

static inline void random_number(bl_builder *b, rng *r) {
  bl_error err = BL_ERROR_INIT;
  const char *f = bl_builder_format(b);
  uint64_t v = rng_next(r);
  if (*f == 'b') test_ok(bl_builder_bool(b, v & 1, &err), &err);
  else if (*f == 'f' || *f == 'g') test_ok(bl_builder_double(b, (double)(int64_t)(v % 2000) / 8 - 100, &err), &err);
  else if (*f == 'd') test_ok(bl_builder_decimal(b, (int64_t)(v % 100000) - 50000, &err), &err);
  else if (*f == 'i' || strcmp(f, "tdD") == 0) test_ok(bl_builder_int(b, (int32_t)v, &err), &err);
  else if (strcmp(f, "ttu") == 0) test_ok(bl_builder_int(b, (int64_t)(v % 86400000000), &err), &err);
  else test_ok(bl_builder_int(b, (int64_t)v, &err), &err);
}

static inline void random_bytes(bl_builder *b, rng *r) {
  bl_error err = BL_ERROR_INIT;
  char text[40];
  int64_t n = rng_below(r, 12);
  const char *f = bl_builder_format(b);
  if (*f == 'w') assert_true(bl_parse_i64(bl_str_of(f + 2), &n));
  int64_t few = rng_below(r, 2) ? 3 : 26; /* some values come again and again */
  for (int64_t i = 0; i < n; i++) text[i] = (char)('a' + rng_below(r, few));
  test_ok(bl_builder_bytes(b, text, (size_t)n, &err), &err);
}

static inline void random_items(bl_builder *b, rng *r) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *items = bl_builder_child(b, 0);
  for (int64_t n = rng_below(r, 4); n > 0; n--) {
    if (bl_builder_format(b)[1] == 'm') {
      random_children(items, r);
      test_ok(bl_builder_close(items, &err), &err);
    } else {
      random_value(items, r, true);
    }
  }
  test_ok(bl_builder_close(b, &err), &err);
}

static inline void random_value(bl_builder *b, rng *r, bool inside) {
  bl_error err = BL_ERROR_INIT;
  const char *f = bl_builder_format(b);
  if (inside && bl_builder_nullable(b) && rng_below(r, 5) == 0) {
    test_ok(bl_builder_null(b, &err), &err);
  } else if (strcmp(f, "+s") == 0) {
    random_children(b, r);
    test_ok(bl_builder_close(b, &err), &err);
  } else if (*f == '+') {
    random_items(b, r);
  } else if (*f == 'u' || *f == 'z' || *f == 'w') {
    random_bytes(b, r);
  } else {
    random_number(b, r);
  }
}

static inline void random_batch(bl_ctx *ctx, const struct ArrowSchema *schema, int64_t rows, uint64_t seed,
                                struct ArrowArray *out) {
  bl_error err = BL_ERROR_INIT;
  bl_builder *b;
  rng r = {seed * 2654435761u + 1};
  test_ok(bl_builder_new(ctx, schema, &b, &err), &err);
  for (int64_t i = 0; i < rows; i++) random_value(b, &r, false);
  test_ok(bl_builder_finish(b, out, &err), &err);
  bl_builder_free(b);
}

/* ---- a table of every type ---- */

#define C(f, name, nullable, id)                                                                                       \
  { f, name, nullable, id, NULL, NULL, NULL, 0 }
#define N(f, name, nullable, id, kids)                                                                                 \
  { f, name, nullable, id, NULL, NULL, kids, sizeof kids / sizeof *kids }

static const column kids_z[] = {C("g", "z", true, 103)};
static const column kids_st[] = {C("i", "a", true, 100), C("u", "b", false, 101), N("+s", "c", true, 102, kids_z)};
static const column kids_li[] = {C("i", "element", true, 110)};
static const column kids_inner[] = {C("u", "element", true, 112)};
static const column kids_lls[] = {N("+l", "element", true, 111, kids_inner)};
static const column kids_ints[] = {C("i", "element", false, 123)};
static const column kids_el[] = {C("l", "a", true, 121), N("+l", "b", true, 122, kids_ints)};
static const column kids_lst[] = {N("+s", "element", true, 120, kids_el)};
static const column kids_entry[] = {C("u", "key", false, 130), C("i", "value", true, 131)};
static const column kids_m[] = {N("+s", "entries", false, -1, kids_entry)};
static const column kids_deep[] = {C("u", "p", true, 142), N("+l", "q", true, 143, kids_ints)};
static const column kids_entry2[] = {C("i", "key", false, 140), N("+s", "value", true, 141, kids_deep)};
static const column kids_mst[] = {N("+s", "entries", false, -1, kids_entry2)};
static const column kids_v[] = {C("z", "metadata", false, -1), C("z", "value", false, -1)};

static const column every_type[] = {
    C("l", "id", false, 1),
    C("b", "b", true, 2),
    C("b", "b_req", false, 3),
    C("i", "i", true, 4),
    C("l", "l", true, 5),
    C("f", "f", true, 6),
    C("g", "d", true, 7),
    C("d:7,2", "d7", true, 8),
    C("d:15,3", "d15", true, 9),
    C("d:38,4", "d38", true, 10),
    C("tdD", "dt", true, 11),
    C("ttu", "tm", true, 12),
    C("tsu:", "ts", true, 13),
    C("tsu:UTC", "tsz", true, 14),
    C("tsn:", "tn", true, 15),
    C("u", "s", true, 16),
    C("z", "bin", true, 17),
    C("w:7", "fx", true, 18),
    {"w:16", "uu", true, 19, "arrow.uuid", NULL, NULL, 0},
    N("+s", "st", true, 20, kids_st),
    N("+l", "li", true, 21, kids_li),
    N("+l", "lls", true, 22, kids_lls),
    N("+l", "lst", true, 23, kids_lst),
    N("+m", "m", true, 24, kids_m),
    N("+m", "mst", true, 25, kids_mst),
    {"+s", "v", true, 26, "arrow.parquet.variant", NULL, kids_v, 2},
    {"z", "geom", true, 27, "geoarrow.wkb", "{\"crs\":\"EPSG:4326\"}", NULL, 0},
    {"z", "geog", true, 28, "geoarrow.wkb", "{\"crs\":\"OGC:CRS84\",\"edges\":\"karney\"}", NULL, 0},
};

/* ---- files in memory ---- */

typedef struct memory_input {
  bl_input in;
  const uint8_t *p;
  int64_t reads, bytes;
  int64_t fail_at; /* this read fails, counted from 1; 0: none */
} memory_input;

static inline bl_status memory_read_at(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  memory_input *m = (memory_input *)in;
  int64_t call = __atomic_add_fetch(&m->reads, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&m->bytes, (int64_t)n, __ATOMIC_SEQ_CST);
  if (m->fail_at && call >= m->fail_at) return bl_fail(err, BL_IO, "cannot read: mem/file: the disk is on fire");
  if (offset < 0 || offset > in->size || (int64_t)n > in->size - offset)
    return bl_fail(err, BL_IO, "cannot read: mem/file: beyond the end");
  memcpy(out, m->p + offset, n);
  return BL_OK;
}

static inline memory_input memory_open(const void *p, size_t n) {
  return (memory_input){.in = {.size = (int64_t)n, .read_at = memory_read_at}, .p = p};
}

static inline bl_status buf_write(void *user, const void *p, size_t n, bl_error *err) {
  bl_buf_add(user, p, n);
  return bl_buf_ok(user, err);
}

/* Batches of `rows` random rows each, as one file, a row group each. Seeds are seed, seed + 1, … */
static inline void write_random(bl_ctx *ctx, const struct ArrowSchema *schema, const bl_parquet_options *o, int batches,
                                int64_t rows, uint64_t seed, bl_buf *file) {
  bl_error err = BL_ERROR_INIT;
  bl_sink sink = {buf_write, file};
  bl_arrow_writer *w;
  bl_buf_init(file, ctx, BL_BUF_MAX);
  test_ok(bl_arrow_parquet_writer_with(ctx, &sink, schema, o, &w, &err), &err);
  for (int i = 0; i < batches; i++) {
    struct ArrowArray a;
    random_batch(ctx, schema, rows, seed + (uint64_t)i, &a);
    test_ok(bl_arrow_writer_write(w, &a, &err), &err);
    test_ok(bl_arrow_writer_end_group(w, &err), &err);
  }
  test_ok(bl_arrow_writer_finish(w, &err), &err);
}

/* ---- reading ---- */

typedef struct rows_read {
  struct ArrowSchema schema;
  struct ArrowArray all; /* one batch */
  size_t batches;
} rows_read;

/* All batches of a stream as one; the stream is released. */
static inline bl_status rows_collect(bl_ctx *ctx, struct ArrowArrayStream *s, rows_read *out, bl_error *err) {
  struct ArrowArray *v = NULL;
  size_t n = 0, cap = 0;
  bl_status st = BL_OK;
  *out = (rows_read){0};
  int code = s->get_schema(s, &out->schema);
  if (code) st = bl_fail(err, bl_stream_status(code), "%s", s->get_last_error(s));
  while (st == BL_OK) {
    st = bl_grow(ctx, &v, &cap, n, sizeof *v, err);
    if (st == BL_OK) st = bl_stream_next(s, &v[n], err);
    if (st != BL_OK || !v[n].release) break;
    n++;
  }
  s->release(s);
  out->batches = n;
  if (st == BL_OK) st = bl_arrow_concat(v, n, &out->schema, &out->all, err);
  else
    for (size_t i = 0; i < n; i++) v[i].release(&v[i]);
  bl_free(ctx, v);
  return st;
}

static inline void rows_free(rows_read *r) {
  if (r->all.release) r->all.release(&r->all);
  if (r->schema.release) r->schema.release(&r->schema);
}

/* ---- comparison ---- */

static inline void assert_same(const bl_view *part, int64_t i, const bl_view *whole, int64_t j);

static inline void assert_same_struct(const bl_view *part, int64_t i, const bl_view *whole, int64_t j) {
  for (size_t k = 0; k < part->n_children; k++) {
    const bl_view *other = bl_view_child(whole, part->children[k].name.p);
    assert_non_null(other);
    assert_same(&part->children[k], i, other, j);
  }
}

static inline void assert_same_items(const bl_view *part, int64_t i, const bl_view *whole, int64_t j) {
  int64_t a, b, c, d;
  bl_view_range(part, i, &a, &b);
  bl_view_range(whole, j, &c, &d);
  assert_int_equal(b - a, d - c);
  for (; a < b; a++, c++)
    for (size_t k = 0; k < part->n_children; k++) assert_same(&part->children[k], a, &whole->children[k], c);
}

static inline size_t value_width(const bl_view *v) {
  switch (v->kind) {
  case BL_D_INT32:
  case BL_D_FLOAT:
  case BL_D_DATE32: return 4;
  case BL_D_DECIMAL: return 16;
  default: return 8;
  }
}

/* Row i of a table that may lack columns of the whole, and row j of the whole. */
static inline void assert_same(const bl_view *part, int64_t i, const bl_view *whole, int64_t j) {
  assert_int_equal(part->kind, whole->kind);
  assert_int_equal(bl_view_null(part, i), bl_view_null(whole, j));
  if (bl_view_null(part, i)) return;
  switch (part->kind) {
  case BL_D_STRUCT: assert_same_struct(part, i, whole, j); return;
  case BL_D_LIST:
  case BL_D_MAP: assert_same_items(part, i, whole, j); return;
  case BL_D_BOOL: assert_int_equal(bl_view_bool(part, i), bl_view_bool(whole, j)); return;
  case BL_D_STRING:
  case BL_D_BINARY:
  case BL_D_FIXED: assert_true(bl_str_eq(bl_view_bytes(part, i), bl_view_bytes(whole, j))); return;
  default: {
    size_t w = value_width(part);
    assert_memory_equal((const char *)part->data + (size_t)(part->base + i) * w,
                        (const char *)whole->data + (size_t)(whole->base + j) * w, w);
  }
  }
}

static inline bl_view *view_rows(bl_ctx *ctx, const rows_read *r) {
  bl_error err = BL_ERROR_INIT;
  bl_view *v;
  test_ok(bl_view_new(ctx, &r->schema, &v, &err), &err);
  test_ok(bl_view_set(v, &r->all, &err), &err);
  return v;
}

#endif
