/* expr_random.h: random rows and random predicates over one schema of all comparable types, for tests that compare
 * pruning with brute force. Values come from small sets, so that predicates and rows meet. */
#ifndef BL_TEST_EXPR_RANDOM_H
#define BL_TEST_EXPR_RANDOM_H

#include <math.h>

#include "model_fixture.h"

enum { R_COLUMNS = 18 };

typedef struct world {
  fixture f;
  bl_field fields[R_COLUMNS];
  bl_schema schema;
  uint64_t seed;
} world;

typedef struct world_row {
  bl_value v[R_COLUMNS];
} world_row;

static inline void world_new(world *w, uint64_t seed) {
  static const char *const types[R_COLUMNS] = {
      "int",       "int",         "long",         "float",  "double", "double", "decimal(5,2)", "date",   "time",
      "timestamp", "timestamptz", "timestamp_ns", "string", "string", "uuid",   "fixed[2]",     "binary", "boolean"};
  static const char *const names[R_COLUMNS] = {"i",  "i2", "l",  "f", "d",  "d2", "dec", "dt",  "t",
                                               "ts", "tz", "ns", "s", "s2", "u",  "fx",  "bin", "b"};
  *w = (world){.f = fixture_new(), .seed = seed};
  for (int32_t i = 0; i < R_COLUMNS; i++) w->fields[i] = field_of(&w->f, i + 1, names[i], types[i]);
  w->schema = schema_of(w->fields, R_COLUMNS);
}

/* Everything made so far is gone; the schema stays usable. */
static inline void world_reset(world *w) {
  bl_error err = BL_ERROR_INIT;
  bl_arena_free(w->f.arena);
  test_ok(bl_arena_new(w->f.ctx, &w->f.arena, &err), &err);
}

static inline uint64_t rnd(world *w) {
  uint64_t z = (w->seed += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
static inline int64_t rnd_in(world *w, int64_t low, int64_t high) {
  return low + (int64_t)(rnd(w) % (uint64_t)(high - low + 1));
}
static inline bool chance(world *w, int percent) {
  return rnd_in(w, 1, 100) <= percent;
}

static inline bl_str rnd_bytes(world *w, const char *const *letters, size_t n_letters, size_t n) {
  char *p = bl_arena_alloc(w->f.arena, n * 4 + 1, 1);
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    const char *l = letters[rnd(w) % n_letters];
    memcpy(p + at, l, strlen(l));
    at += strlen(l);
  }
  p[at] = 0;
  return (bl_str){p, at};
}

static inline double rnd_floating(world *w) {
  static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
  return chance(w, 25) ? special[rnd(w) % BL_LEN(special)] : (double)rnd_in(w, -8, 8) / 4;
}

static inline int64_t rnd_instant(world *w, int64_t unit) {
  static const int64_t offsets[] = {0, 0, -1, 1, 3600, 7200};
  int64_t days = chance(w, 15) ? rnd_in(w, -800, 800) : rnd_in(w, -2, 2), o = offsets[rnd(w) % BL_LEN(offsets)];
  return days * 86400 * unit + (o > 1 ? o * unit : o);
}

/* A value that is not null. */
static inline bl_value rnd_value(world *w, bl_kind k) {
  static const char *const letters[] = {"a", "b", "\xc3\xa9", "\xf4\x8f\xbf\xbf"}, *const bytes[] = {"\x01", "\x7f",
                                                                                                     "\x80", "\xff"};
  bl_value v = {.kind = k};
  switch (k) {
  case BL_INT: v.u.i = chance(w, 8) ? (chance(w, 50) ? INT32_MIN : INT32_MAX) : rnd_in(w, -6, 6); break;
  case BL_LONG: v.u.i = chance(w, 8) ? (chance(w, 50) ? INT64_MIN : INT64_MAX) : rnd_in(w, -6, 6); break;
  case BL_FLOAT: v.u.f = (float)rnd_floating(w); break;
  case BL_DOUBLE: v.u.d = rnd_floating(w); break;
  case BL_DECIMAL: v.u.dec = chance(w, 8) ? (chance(w, 50) ? -99999 : 99999) : rnd_in(w, -20, 20) * 25; break;
  case BL_DATE: v.u.i = chance(w, 15) ? rnd_in(w, -800, 800) : rnd_in(w, -3, 3); break;
  case BL_TIME: v.u.i = rnd_in(w, 0, 3) * 1000000; break;
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ: v.u.i = rnd_instant(w, 1000000); break;
  case BL_TIMESTAMP_NS: v.u.i = rnd_instant(w, 1000000000); break;
  case BL_STRING: v.u.s = rnd_bytes(w, letters, 4, rnd(w) % 5); break;
  case BL_UUID: v.u.s = (bl_str){chance(w, 50) ? "0123456789abcdef" : "0123456789abcdeg", 16}; break;
  case BL_FIXED: v.u.s = rnd_bytes(w, bytes, 4, 2); break;
  case BL_BINARY: v.u.s = rnd_bytes(w, bytes, 4, rnd(w) % 4); break;
  default: v.u.b = chance(w, 50);
  }
  return v;
}

static inline void rnd_row(world *w, world_row *r, int null_percent) {
  for (size_t i = 0; i < R_COLUMNS; i++)
    r->v[i] = chance(w, null_percent) ? v_null(w->fields[i].type.kind) : rnd_value(w, w->fields[i].type.kind);
}

static inline void get_from_row(void *row, const bl_field *f, bl_value *out) {
  *out = ((world_row *)row)->v[f->id - 1];
}

/* ---- predicates as text ---- */

static inline void put_quoted(bl_buf *b, const bl_type *t, const bl_value *v, const char *word) {
  bl_buf_cstr(b, word);
  bl_buf_byte(b, '\'');
  bl_value_print(b, t, v);
  bl_buf_byte(b, '\'');
}

static inline void put_number(world *w, bl_buf *b, const bl_type *t) {
  static const char *const odd[] = {"0.5", "-0.5", "1e30", "-1e30", "3e9", "-3e9", "2.125", "-2.125", "1e39", "1e-50"};
  if (chance(w, 30)) {
    bl_buf_cstr(b, odd[rnd(w) % BL_LEN(odd)]);
    return;
  }
  bl_value v = rnd_value(w, t->kind);
  bool bare = t->kind != BL_FLOAT && t->kind != BL_DOUBLE;
  if (bare) bl_value_print(b, t, &v);
  else put_quoted(b, t, &v, "");
}

static inline void put_instant(world *w, bl_buf *b, const bl_type *t) {
  bl_value v = rnd_value(w, t->kind), day = rnd_value(w, BL_DATE), ns = rnd_value(w, BL_TIMESTAMP_NS);
  bl_type date = {.kind = BL_DATE}, nanos = {.kind = BL_TIMESTAMP_NS};
  switch (rnd(w) % 4) {
  case 0: put_quoted(b, &date, &day, "date "); break;
  case 1: put_quoted(b, &nanos, &ns, "timestamp "); break;
  default: put_quoted(b, t, &v, "");
  }
}

static inline void put_literal(world *w, bl_buf *b, const bl_type *t) {
  bl_value v = rnd_value(w, t->kind);
  if (chance(w, 2)) {
    bl_buf_cstr(b, "null");
    return;
  }
  switch (t->kind) {
  case BL_INT:
  case BL_LONG:
  case BL_FLOAT:
  case BL_DOUBLE:
  case BL_DECIMAL: put_number(w, b, t); break;
  case BL_DATE:
  case BL_TIMESTAMP:
  case BL_TIMESTAMPTZ:
  case BL_TIMESTAMP_NS: put_instant(w, b, t); break;
  case BL_FIXED:
  case BL_BINARY:
    if (chance(w, 50)) v = rnd_value(w, BL_BINARY);
    bl_buf_cstr(b, "x'");
    bl_print_hex(b, v.u.s.p, v.u.s.n);
    bl_buf_byte(b, '\'');
    break;
  case BL_BOOLEAN: bl_value_print(b, t, &v); break;
  default: put_quoted(b, t, &v, "");
  }
}

static inline const char *rnd_comparison(world *w) {
  static const char *const ops[] = {" = ", " != ", " < ", " <= ", " > ", " >= "};
  return ops[rnd(w) % BL_LEN(ops)];
}

static inline void put_pair(world *w, bl_buf *b) {
  static const char *const pairs[][2] = {{"i", "i2"}, {"i", "l"}, {"d", "d2"}, {"f", "d"}, {"s", "s2"}};
  const char *const *p = pairs[rnd(w) % BL_LEN(pairs)];
  bl_buf_printf(b, "%s%s%s", p[0], rnd_comparison(w), p[1]);
}

static inline void put_list(world *w, bl_buf *b, const bl_type *t) {
  size_t n = 1 + rnd(w) % 4;
  bl_buf_cstr(b, chance(w, 50) ? " in (" : " not in (");
  for (size_t i = 0; i < n; i++) {
    if (i) bl_buf_cstr(b, ", ");
    put_literal(w, b, t);
  }
  bl_buf_byte(b, ')');
}

/* column -1: any */
static inline void put_leaf(world *w, bl_buf *b, int column) {
  const bl_field *f = &w->fields[column >= 0 ? (uint64_t)column : rnd(w) % R_COLUMNS];
  bool floating = f->type.kind == BL_FLOAT || f->type.kind == BL_DOUBLE;
  int64_t dice = rnd_in(w, 1, 100);
  if (column < 0 && dice <= 8) {
    put_pair(w, b);
    return;
  }
  if (f->type.kind == BL_STRING && dice <= 30) {
    bl_value v = rnd_value(w, BL_STRING);
    bl_buf_printf(b, "starts_with(%s, '%s')", f->name.p, v.u.s.p);
    return;
  }
  bl_buf_str(b, f->name);
  if (floating && dice <= 20) bl_buf_cstr(b, chance(w, 50) ? " is nan" : " is not nan");
  else if (dice <= 30) bl_buf_cstr(b, chance(w, 50) ? " is null" : " is not null");
  else if (dice <= 45) put_list(w, b, &f->type);
  else if (dice <= 52) {
    bl_buf_cstr(b, chance(w, 50) ? " between " : " not between ");
    put_literal(w, b, &f->type);
    bl_buf_cstr(b, " and ");
    put_literal(w, b, &f->type);
  } else {
    bl_buf_cstr(b, rnd_comparison(w));
    put_literal(w, b, &f->type);
  }
}

static inline void put_expr(world *w, bl_buf *b, int column, int depth) {
  int64_t dice = rnd_in(w, 1, 100);
  if (chance(w, 20)) bl_buf_cstr(b, "not ");
  if (depth == 0 || dice <= 50) {
    put_leaf(w, b, column);
    return;
  }
  bl_buf_byte(b, '(');
  for (int i = 0, n = (int)rnd_in(w, 2, 3); i < n; i++) {
    if (i) bl_buf_cstr(b, dice <= 75 ? " and " : " or ");
    put_expr(w, b, column, depth - 1);
  }
  bl_buf_byte(b, ')');
}

static inline const char *rnd_text(world *w, int column, int depth) {
  bl_buf b;
  bl_buf_init(&b, w->f.ctx, BL_BUF_MAX);
  put_expr(w, &b, column, depth);
  return fixture_text(&w->f, &b);
}

static inline bl_expr *bound(world *w, const char *text) {
  bl_expr *e;
  bl_error err = BL_ERROR_INIT;
  if (bl_expr_parse(w->f.arena, bl_str_of(text), &e, &err) != BL_OK ||
      bl_expr_bind(w->f.arena, e, &w->schema, NULL, &e, &err) != BL_OK)
    fail_msg("%s: %s", text, err.message);
  return e;
}

/* How many of the rows the predicate is true for. */
static inline size_t matching(const bl_expr *e, world_row *rows, size_t n) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += bl_expr_eval(e, get_from_row, &rows[i]) == 1;
  return k;
}

/* ---- statistics of rows, made by hand ---- */

static inline bool is_number(const bl_value *v) {
  return !v->null && !bl_value_is_nan(v);
}

static inline const bl_value *extreme(const world_row *rows, size_t n, size_t column, int sign) {
  const bl_value *best = NULL;
  for (size_t i = 0; i < n; i++) {
    const bl_value *v = &rows[i].v[column];
    if (is_number(v) && (!best || sign * bl_value_cmp(v, best) > 0)) best = v;
  }
  return best;
}

static inline int64_t count_of(const world_row *rows, size_t n, size_t column, bool nans) {
  int64_t k = 0;
  for (size_t i = 0; i < n; i++) k += nans ? bl_value_is_nan(&rows[i].v[column]) : rows[i].v[column].null;
  return k;
}

/* A lower bound cut to one code point (byte), an upper one cut and increased, as writers do. */
static inline bl_value cut_bound(world *w, const bl_value *v, bool upper) {
  bl_value out = *v;
  bool text = v->kind == BL_STRING;
  size_t n = 1;
  while (text && n < v->u.s.n && ((uint8_t)v->u.s.p[n] & 0xc0) == 0x80) n++;
  if ((v->kind != BL_STRING && v->kind != BL_BINARY) || v->u.s.n <= n) return out;
  out.u.s = bl_arena_str(w->f.arena, (bl_str){v->u.s.p, n});
  if (upper && (uint8_t)out.u.s.p[n - 1] >= 0xbf) return *v; /* no increment without a carry */
  if (upper) ((char *)out.u.s.p)[n - 1]++;
  return out;
}

#endif
