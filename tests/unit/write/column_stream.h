/* column_stream.h: rows given column by column as an Arrow stream of one batch, for tests.
 *
 *   make_stream(ctx, COLUMNS({"k", "l", {"1", "2"}}, {"s", "u", {"a", "-"}}), 2, &stream); */
#ifndef BL_TESTS_WRITE_COLUMN_STREAM_H
#define BL_TESTS_WRITE_COLUMN_STREAM_H

#include "rows/arrow_build.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "support/support.h"

/* One batch as a stream. */
typedef struct one_batch {
  struct ArrowArray batch;
} one_batch;

static inline bl_status one_batch_give(void *user, struct ArrowArray *out, bl_error *err) {
  one_batch *b = user;
  (void)err;
  bl_array_move(&b->batch, out);
  return BL_OK;
}

static inline void one_batch_drop(void *user) {
  one_batch *b = user;
  bl_array_release(&b->batch);
  free(b);
}

static inline void stream_of(bl_ctx *ctx, struct ArrowSchema *schema, struct ArrowArray *batch,
                             struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  one_batch *b = malloc(sizeof *b);
  assert_non_null(b);
  bl_array_move(batch, &b->batch);
  bl_stream_source src = {.next = one_batch_give, .dispose = one_batch_drop, .user = b};
  test_ok(bl_stream_make(ctx, &src, schema, out, &err), &err);
}

/* A table's schema, and rows of input columns: name, Arrow format, and for each row a value as text ("-": null). */
typedef struct input_column {
  const char *name, *format;
  const char *values[4];
} input_column;

static inline void put_cell(bl_builder *b, const char *v) {
  bl_error err = BL_ERROR_INIT;
  const char *f = bl_builder_format(b);
  if (strcmp(v, "-") == 0) test_ok(bl_builder_null(b, &err), &err);
  else if (f[0] == 'g' || f[0] == 'f') test_ok(bl_builder_double(b, atof(v), &err), &err);
  else if (f[0] == 'u' || f[0] == 'z' || f[0] == 'w') test_ok(bl_builder_bytes(b, v, strlen(v), &err), &err);
  else if (f[0] == 'b') test_ok(bl_builder_bool(b, *v == 't', &err), &err);
  else test_ok(bl_builder_int(b, atoll(v), &err), &err);
}

static inline void make_stream(bl_ctx *ctx, const input_column *cols, size_t n, size_t rows,
                               struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bl_builder *b;
  test_ok(bl_aschema_new(ctx, "+s", BL_STR(""), false, (int64_t)n, &schema, &err), &err);
  for (size_t i = 0; i < n; i++)
    test_ok(bl_aschema_new(ctx, cols[i].format, bl_str_of(cols[i].name), true, 0, schema.children[i], &err), &err);
  test_ok(bl_builder_new(ctx, &schema, &b, &err), &err);
  for (size_t r = 0; r < rows; r++) {
    for (size_t i = 0; i < n; i++) put_cell(bl_builder_child(b, (int64_t)i), cols[i].values[r]);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &batch, &err), &err);
  bl_builder_free(b);
  stream_of(ctx, &schema, &batch, out);
}

#define COLUMNS(...)                                                                                                   \
  (const input_column[]){__VA_ARGS__}, sizeof((const input_column[]){__VA_ARGS__}) / sizeof(input_column)

#endif
