/* rows.c: see rows.h. */
#include "support/rows.h"

#include "base/text.h"
#include "format/json.h"
#include "rows/emit_text.h"
#include "rows/stream.h"

/* ---- canonical JSON ---- */

static void print_canonical(bl_buf *b, const bl_json *v);

static void print_number(bl_buf *b, bl_str text) {
  double d;
  bool is_float = text.p && (memchr(text.p, '.', text.n) || memchr(text.p, 'e', text.n) || memchr(text.p, 'E', text.n));
  if (is_float && bl_parse_double(text, &d)) bl_print_double(b, d);
  else bl_buf_str(b, text);
}

static int by_key(const void *a, const void *b) {
  const bl_json *x = *(const bl_json *const *)a, *y = *(const bl_json *const *)b;
  return bl_str_cmp(x->key, y->key);
}

static void print_object(bl_buf *b, const bl_json *v) {
  const bl_json **members = malloc((v->n + 1) * sizeof *members);
  assert_non_null(members);
  size_t n = 0;
  for (const bl_json *m = v->first; m; m = m->next) members[n++] = m;
  qsort(members, n, sizeof *members, by_key);
  bl_buf_byte(b, '{');
  for (size_t i = 0; i < n; i++) {
    if (i) bl_buf_byte(b, ',');
    bl_print_json_str(b, members[i]->key);
    bl_buf_byte(b, ':');
    print_canonical(b, members[i]);
  }
  bl_buf_byte(b, '}');
  free(members);
}

static void print_canonical(bl_buf *b, const bl_json *v) {
  switch (v->kind) {
  case BL_J_NULL: bl_buf_cstr(b, "null"); return;
  case BL_J_BOOL: bl_buf_cstr(b, v->b ? "true" : "false"); return;
  case BL_J_NUMBER: print_number(b, v->text); return;
  case BL_J_STRING: bl_print_json_str(b, v->text); return;
  case BL_J_OBJECT: print_object(b, v); return;
  case BL_J_ARRAY: break;
  }
  bl_buf_byte(b, '[');
  for (const bl_json *m = v->first; m; m = m->next) {
    if (m != v->first) bl_buf_byte(b, ',');
    print_canonical(b, m);
  }
  bl_buf_byte(b, ']');
}

static char *taken(bl_buf *b) {
  bl_buf_byte(b, 0);
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_buf_ok(b, &err), &err);
  char *p = malloc(b->n);
  assert_non_null(p);
  memcpy(p, b->p, b->n);
  bl_buf_clear(b);
  return p;
}

static char *column_names(bl_buf *b, const bl_json *row) {
  for (const bl_json *m = row->first; m; m = m->next) {
    if (m != row->first) bl_buf_byte(b, ',');
    bl_buf_str(b, m->key);
  }
  return taken(b);
}

static void add_line(bl_ctx *ctx, const char *p, size_t n, bl_buf *b, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a = NULL;
  bl_json *row = NULL;
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, p, n, &row, &err), &err);
  assert_int_equal(row->kind, BL_J_OBJECT);
  if (!out->columns) out->columns = column_names(b, row);
  if (out->n == out->cap) {
    out->cap = out->cap ? out->cap * 2 : 16;
    out->lines = realloc(out->lines, out->cap * sizeof *out->lines);
    assert_non_null(out->lines);
  }
  print_canonical(b, row);
  out->lines[out->n++] = taken(b);
  bl_arena_free(a);
}

void test_rows_parse(const char *text, size_t n, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = NULL;
  bl_buf b;
  memset(out, 0, sizeof *out);
  test_ok(bl_ctx_new(NULL, &ctx, &err), &err);
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  for (size_t at = 0; at < n;) {
    const char *end = memchr(text + at, '\n', n - at);
    size_t len = end ? (size_t)(end - text) - at : n - at;
    if (len) add_line(ctx, text + at, len, &b, out);
    at += len + 1;
  }
  bl_buf_free(&b);
  bl_ctx_free(ctx);
}

void test_rows_read(const char *path, test_rows *out) {
  size_t n;
  char *p = test_read(path, &n);
  test_rows_parse(p, n, out);
  free(p);
}

/* ---- streams ---- */

static bl_status append(void *user, const void *p, size_t n, bl_error *err) {
  (void)err;
  bl_buf_add(user, p, n);
  return BL_OK;
}

static bl_status emit_all(bl_ctx *ctx, struct ArrowArrayStream *s, bl_emit *e, bl_error *err) {
  (void)ctx;
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(s, &batch, err));
    if (!batch.release) return bl_emit_finish(e, err);
    bl_status st = bl_emit_batch(e, &batch, err);
    batch.release(&batch);
    BL_TRY(st);
  }
}

bl_status test_rows_try_stream(bl_ctx *ctx, struct ArrowArrayStream *s, test_rows *out, bl_error *err) {
  struct ArrowSchema schema = {0};
  bl_emit *e = NULL;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  memset(out, 0, sizeof *out);
  bl_sink sink = {.write = append, .user = &b};
  bl_status st = bl_stream_status(s->get_schema(s, &schema));
  if (st != BL_OK) bl_fail(err, st, "%s", s->get_last_error(s) ? s->get_last_error(s) : "get_schema failed");
  if (st == BL_OK) st = bl_emit_open(ctx, BL_EMIT_NDJSON, &sink, &schema, &e, err);
  if (st == BL_OK) st = emit_all(ctx, s, e, err);
  if (st == BL_OK) test_rows_parse((const char *)b.p, b.n, out);
  bl_emit_free(e);
  if (schema.release) schema.release(&schema);
  bl_buf_free(&b);
  bl_stream_release(s);
  return st;
}

void test_rows_stream(bl_ctx *ctx, struct ArrowArrayStream *s, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  test_ok(test_rows_try_stream(ctx, s, out, &err), &err);
}

/* ---- comparison ---- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted(const test_rows *r) {
  char **p = malloc((r->n + 1) * sizeof *p);
  assert_non_null(p);
  if (r->n) memcpy(p, r->lines, r->n * sizeof *p);
  qsort(p, r->n, sizeof *p, by_text);
  return p;
}

enum { SHOWN = 5 };

void test_rows_same(const test_rows *want, const test_rows *got, const char *what) {
  char **a = sorted(want), **b = sorted(got);
  size_t missing = 0, extra = 0;
  for (size_t i = 0, j = 0; i < want->n || j < got->n;) {
    int c = i == want->n ? 1 : j == got->n ? -1 : strcmp(a[i], b[j]);
    if (c < 0 && missing++ < SHOWN) print_error("%s: missing: %s\n", what, a[i]);
    if (c > 0 && extra++ < SHOWN) print_error("%s: too many: %s\n", what, b[j]);
    i += c <= 0;
    j += c >= 0;
  }
  free(a);
  free(b);
  if (missing || extra)
    fail_msg("%s: %zu rows wanted, %zu there; %zu missing, %zu too many", what, want->n, got->n, missing, extra);
  if (want->columns && got->columns && strcmp(want->columns, got->columns) != 0)
    fail_msg("%s: columns are %s, not %s", what, got->columns, want->columns);
}

void test_rows_same_order(const test_rows *want, const test_rows *got, const char *what) {
  test_rows_same(want, got, what);
  for (size_t i = 0; i < want->n; i++)
    if (strcmp(want->lines[i], got->lines[i]) != 0)
      fail_msg("%s: row %zu is %s, not %s", what, i, got->lines[i], want->lines[i]);
}

int64_t test_rows_int(const test_rows *r, size_t i, const char *key) {
  char quoted[200];
  assert_true(i < r->n);
  int n = snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(r->lines[i], quoted); /* keys of nested values do not matter in tests */
  if (!at) fail_msg("%s: no member %s", r->lines[i], key);
  at += n;
  if (strncmp(at, "null", 4) == 0) return INT64_MIN;
  int64_t v = 0;
  size_t len = strspn(at, "-0123456789");
  if (!bl_parse_i64((bl_str){at, len}, &v)) fail_msg("%s: %s is no integer", r->lines[i], key);
  return v;
}

void test_rows_free(test_rows *r) {
  for (size_t i = 0; i < r->n; i++) free(r->lines[i]);
  free(r->lines);
  free(r->columns);
  memset(r, 0, sizeof *r);
}
