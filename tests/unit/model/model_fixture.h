/* model_fixture.h: an arena for a test, and short ways to write types, fields and values. */
#ifndef BL_TEST_MODEL_FIXTURE_H
#define BL_TEST_MODEL_FIXTURE_H

#include "model/expr.h"
#include "support/support.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_arena *arena;
} fixture;

static inline fixture fixture_new(void) {
  fixture f = {.ctx = test_ctx()};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(f.ctx, &f.arena, &err), &err);
  return f;
}

static inline void fixture_free(fixture *f) {
  bl_arena_free(f->arena);
  test_ctx_free(f->ctx);
}

/* Printed into the arena, NUL-terminated. */
static inline const char *fixture_text(fixture *f, bl_buf *b) {
  bl_str s = bl_arena_str(f->arena, (bl_str){b->p ? (const char *)b->p : "", b->n});
  bl_buf_free(b);
  return s.p;
}

/* A type by its name; "int" … */
static inline bl_type type_of(fixture *f, const char *text) {
  bl_type t;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_type_parse_primitive(f->arena, bl_str_of(text), &t, &err), &err);
  return t;
}

static inline bl_field field_of(fixture *f, int32_t id, const char *name, const char *type) {
  return (bl_field){.id = id, .name = bl_str_of(name), .type = type_of(f, type)};
}

static inline bl_field struct_field(int32_t id, const char *name, bl_kind kind, bl_field *children, size_t n) {
  return (bl_field){.id = id, .name = bl_str_of(name), .type = {.kind = kind, .fields = children, .n_fields = n}};
}

static inline bl_schema schema_of(bl_field *fields, size_t n) {
  return (bl_schema){.root = {.kind = BL_STRUCT, .fields = fields, .n_fields = n}};
}

static inline bl_value v_null(bl_kind k) {
  return (bl_value){.kind = k, .null = true};
}
static inline bl_value v_bool(bool b) {
  return (bl_value){.kind = BL_BOOLEAN, .u.b = b};
}
static inline bl_value v_i(bl_kind k, int64_t i) {
  return (bl_value){.kind = k, .u.i = i};
}
static inline bl_value v_float(float x) {
  return (bl_value){.kind = BL_FLOAT, .u.f = x};
}
static inline bl_value v_double(double x) {
  return (bl_value){.kind = BL_DOUBLE, .u.d = x};
}
static inline bl_value v_decimal(bl_i128 x) {
  return (bl_value){.kind = BL_DECIMAL, .u.dec = x};
}
static inline bl_value v_bytes(bl_kind k, const char *p, size_t n) {
  return (bl_value){.kind = k, .u.s = {p, n}};
}
static inline bl_value v_str(const char *s) {
  return v_bytes(BL_STRING, s, strlen(s));
}

#endif
