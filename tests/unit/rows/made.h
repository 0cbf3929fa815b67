/* made.h: Arrow arrays made by hand in tests, a value at a time, with junk in front (the offset of a sliced array)
 * where a test wants it. A struct's children and a list's element are filled by the test itself. */
#ifndef BL_TESTS_UNIT_ROWS_MADE_H
#define BL_TESTS_UNIT_ROWS_MADE_H

#include "../support.h"

#include "bergline/arrow_c.h"

enum { MADE_KIDS = 12 };

typedef struct made_bytes {
  uint8_t *p;
  size_t n;
} made_bytes;

typedef struct made made;
struct made {
  const char *format, *name;
  made *kids[MADE_KIDS];
  int n_kids;
  int64_t rows, pad; /* all rows appended; how many of them lie before the offset */
  int64_t tail;      /* rows behind the end */
  made_bytes valid, data, offsets, metadata;
  struct ArrowSchema schema, *kid_schemas[MADE_KIDS];
  struct ArrowArray array, *kid_arrays[MADE_KIDS];
  const void *buffers[3];
};

static inline void made_add(made_bytes *b, const void *p, size_t n) {
  b->p = realloc(b->p, b->n + n + 1);
  if (n) memcpy(b->p + b->n, p, n);
  b->n += n;
}

static inline bool made_is(const made *m, const char *formats) { /* first character of the format */
  return strchr(formats, m->format[0]) != NULL;
}

/* Kids are taken over. */
static inline made *made_new(const char *format, const char *name, int n_kids, made **kids) {
  made *m = calloc(1, sizeof *m);
  m->format = format;
  m->name = name;
  m->n_kids = n_kids;
  for (int i = 0; i < n_kids; i++) m->kids[i] = kids[i];
  int32_t zero = 0;
  if (strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0 || made_is(m, "uz")) made_add(&m->offsets, &zero, 4);
  return m;
}

static inline void made_free(made *m) {
  for (int i = 0; i < m->n_kids; i++) made_free(m->kids[i]);
  free(m->valid.p), free(m->data.p), free(m->offsets.p), free(m->metadata.p);
  free(m);
}

/* One key and value of the schema's metadata (at most once). */
static inline made *made_meta(made *m, const char *key, const char *value) {
  int32_t one = 1, k = (int32_t)strlen(key), v = (int32_t)strlen(value);
  made_add(&m->metadata, &one, 4);
  made_add(&m->metadata, &k, 4), made_add(&m->metadata, key, (size_t)k);
  made_add(&m->metadata, &v, 4), made_add(&m->metadata, value, (size_t)v);
  return m;
}

static inline void made_bit(made_bytes *b, int64_t row, bool bit) {
  uint8_t zero = 0;
  if (row % 8 == 0) made_add(b, &zero, 1);
  if (bit) b->p[row / 8] |= (uint8_t)(1 << row % 8);
}

static inline void made_flag(made *m, bool valid) {
  made_bit(&m->valid, m->rows++, valid);
}
static inline void made_value(made *m, const void *p, size_t n) {
  made_add(&m->data, p, n);
  made_flag(m, true);
}
static inline void made_i32(made *m, int32_t v) {
  made_value(m, &v, 4);
}
static inline void made_i64(made *m, int64_t v) {
  made_value(m, &v, 8);
}
static inline void made_float(made *m, float v) {
  made_value(m, &v, 4);
}
static inline void made_double(made *m, double v) {
  made_value(m, &v, 8);
}
static inline void made_decimal(made *m, int64_t v) {
  int64_t both[2] = {v, v < 0 ? -1 : 0};
  made_value(m, both, 16);
}
static inline void made_bool(made *m, bool v) {
  made_bit(&m->data, m->rows, v);
  made_flag(m, true);
}
static inline void made_bytes_value(made *m, const void *p, size_t n) {
  made_add(&m->data, p, n);
  int32_t end = (int32_t)m->data.n;
  made_add(&m->offsets, &end, 4);
  made_flag(m, true);
}
static inline void made_str(made *m, const char *s) {
  made_bytes_value(m, s, strlen(s));
}
static inline void made_row(made *m, bool valid) { /* struct */
  made_flag(m, valid);
}
/* The elements appended to the kid (a list's element, a map's entries) since the last call are one value. */
static inline void made_close(made *m, bool valid) {
  int32_t end = (int32_t)(m->kids[0]->rows - m->kids[0]->pad);
  made_add(&m->offsets, &end, 4);
  made_flag(m, valid);
}

static inline size_t made_width(const made *m) {
  if (made_is(m, "if") || strcmp(m->format, "tdD") == 0) return 4;
  if (made_is(m, "lgt")) return 8;
  if (made_is(m, "d")) return 16;
  return made_is(m, "w") ? (size_t)atoi(m->format + 2) : 0;
}
static inline void made_null(made *m) { /* not for structs with kids: they need rows too */
  static const uint8_t zeros[64] = {0};
  if (made_is(m, "b")) made_bit(&m->data, m->rows, false);
  made_add(&m->data, zeros, made_width(m));
  if (m->offsets.n) {
    int32_t last;
    memcpy(&last, m->offsets.p + m->offsets.n - 4, 4);
    made_add(&m->offsets, &last, 4);
  }
  made_flag(m, false);
}

/* All rows so far lie before the array's offset. */
static inline void made_cut(made *m) {
  m->pad = m->rows;
}

static inline void made_finish(made *m) {
  for (int i = 0; i < m->n_kids; i++) {
    made_finish(m->kids[i]);
    m->kid_schemas[i] = &m->kids[i]->schema;
    m->kid_arrays[i] = &m->kids[i]->array;
  }
  bool nothing = m->format[0] == 'n', is_struct = strcmp(m->format, "+s") == 0;
  int n_buffers = nothing ? 0 : is_struct ? 1 : made_is(m, "uz") ? 3 : 2;
  m->buffers[0] = m->valid.p;
  m->buffers[1] = m->offsets.n ? m->offsets.p : m->data.p;
  m->buffers[2] = m->data.p;
  m->schema = (struct ArrowSchema){.format = m->format,
                                   .name = m->name,
                                   .metadata = (const char *)m->metadata.p,
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .n_children = m->n_kids,
                                   .children = m->kid_schemas};
  m->array = (struct ArrowArray){.length = m->rows - m->pad - m->tail,
                                 .null_count = -1,
                                 .offset = m->pad,
                                 .n_buffers = n_buffers,
                                 .n_children = m->n_kids,
                                 .buffers = m->buffers,
                                 .children = m->kid_arrays};
}

#endif
